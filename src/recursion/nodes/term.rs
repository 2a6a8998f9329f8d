//! Terms over numbers of nodes, with the store passed from what makes nodes to what comes after it.
//!
//! In: a term, and the parts of the store as they are before it. Out: the term without recursive types, and the parts after it. What
//! makes no nodes keeps its form. What does is taken apart in its order: a [`Block`] has what comes before the value.
//!
//!     f (Cons (1.0, l)) (g l)   →   let list_tag = update list_tag list 1 in … check list + 1 < room in let next = list + 1 in
//!                                   let both = g l next list_tag … in f list both.0
//!
//! Branches and loops give the parts that they change beside their values; a `build` that makes nodes fills an array in a loop.

use super::block::{Block, Step};
use super::{Nodes, Result, Store, Use, flat, flat_var, room_of, unsupported};
use crate::ir::free::each_free_var;
use crate::ir::subst::try_map_children;
use crate::ir::zero::zero;
use crate::ir::{Change, Expr, Iso, Prim, Recursive, Size, Status, Term, Type, Var, ambient};
use crate::source::Span;

/// What becomes of the value of a body.
#[derive(Clone, Copy)]
enum Ending<'a> {
    /// These parts of the store go beside it, if there are some.
    Value(&'a [usize]),
    /// It is a pair, whether a loop goes on and its state: the parts go beside the state.
    Next(&'a [usize]),
}

impl Nodes {
    /// Which nodes of the scope around it a term uses.
    pub fn used(&self, expr: &Expr) -> Use {
        let mut used = Use::default();
        self.note(expr, &mut used);
        used
    }

    fn note(&self, expr: &Expr, used: &mut Use) {
        match expr.term() {
            Term::Iso(iso @ (Iso::Roll | Iso::Unroll), operands) => {
                let ty = if *iso == Iso::Roll { Some(expr.ty()) } else { operands.first().map(Expr::ty) };
                if let Some((kind, _)) = ty.and_then(|ty| if let Type::Rec(of) = ty { self.kind(of) } else { None }) {
                    used.touched.insert(kind);
                    used.made.extend((*iso == Iso::Roll).then_some(kind));
                }
            }
            Term::Call(name, _) => {
                if let Some(callee) = self.uses.get(name) {
                    used.touched.extend(&callee.touched);
                    used.made.extend(&callee.made);
                }
            }
            _ => {}
        }
        // a scope that neither takes nor gives such values has a store of its own
        let own = inner(expr.term()).filter(|body| is_closed(body));
        expr.term().children().filter(|child| !own.is_some_and(|body| body.is_same(child))).for_each(|child| self.note(child, used));
    }

    fn makes(&self, expr: &Expr) -> bool {
        !self.used(expr).made.is_empty()
    }

    /// The parts of the store that a term changes.
    fn changed(&self, expr: &Expr) -> Vec<usize> {
        self.parts_of(&self.used(expr).made)
    }

    /// A body that neither takes nor gives values of recursive types, with columns of its own where it needs some.
    pub fn scope(&self, body: &Expr) -> Result<Expr> {
        let parts = self.parts_for(&self.used(body));
        let mut block = Block::of(&Store::new());
        for (part, name) in parts.iter().zip(self.names(&parts, &room_of(&Store::new()))) {
            block.store.insert(*part, Expr::var(&name));
            // a node is written before it is read, but what copies a column reads all, and of Bools C has two
            let ty = name.ty().clone();
            let empty = if has_array_of_bools(&ty) || !ty.has_array() { zero(&ty) } else { ambient::unset(&ty) };
            block.steps.extend(empty.map(|empty| Step::Let(name, empty)));
        }
        let value = self.tail(body, &block.store, Ending::Value(&[]))?;
        Ok(block.close(value))
    }

    /// The body of a function that has these parts of the store, and gives some of them.
    pub fn body(&self, body: &Expr, store: &Store, given: &[usize]) -> Result<Expr> {
        self.tail(body, store, Ending::Value(given))
    }

    /// A term at the end of a body; its branches stay at the end.
    fn tail(&self, expr: &Expr, store: &Store, ending: Ending) -> Result<Expr> {
        let mut block = Block::of(store);
        let made = match expr.term() {
            Term::Let(var, value, body) => {
                let value = self.value(value, &mut block)?;
                block.steps.push(Step::Let(flat_var(var, &room_of(store)), value));
                self.tail(body, &block.store, ending)?
            }
            Term::Check { cond, status, body } => {
                let cond = self.value(cond, &mut block)?;
                block.steps.push(Step::Check(cond, *status, expr.span()));
                self.tail(body, &block.store, ending)?
            }
            Term::If(cond, a, b) => {
                let cond = self.value(cond, &mut block)?;
                Expr::if_(cond, self.tail(a, &block.store, ending)?, self.tail(b, &block.store, ending)?)
            }
            Term::Call(name, args) if matches!(ending, Ending::Value(given) if self.gives(name) == given) => {
                let args = self.values(args, &mut block)?;
                self.call(name, args, expr, &block.store)
            }
            _ => {
                let value = self.value(expr, &mut block)?;
                match ending {
                    Ending::Value(parts) => block.with(value, parts),
                    Ending::Next(parts) => {
                        let (goes_on, state) = if let Term::Tuple(pair) = value.term()
                            && pair.len() == 2
                        {
                            (pair[0].clone(), pair[1].clone())
                        } else {
                            let pair = block.name("step", value);
                            (Expr::proj(pair.clone(), 0), Expr::proj(pair, 1))
                        };
                        Expr::tuple(vec![goes_on, block.with(state, parts)])
                    }
                }
            }
        };
        Ok(block.close(made.at(expr.span())))
    }

    /// The value of a term; what comes before it goes into the block.
    fn value(&self, expr: &Expr, block: &mut Block) -> Result<Expr> {
        if !self.makes(expr) {
            return self.without_making(expr, &block.store);
        }
        let room = room_of(&block.store);
        let made = match expr.term() {
            Term::Iso(_, operands) => {
                let values = self.values(operands, block)?;
                let (Type::Rec(of), [value]) = (expr.ty(), values.as_slice()) else { return Ok(expr.clone()) };
                self.roll(of, value, expr.span(), block)?
            }
            Term::Call(name, args) => {
                let args = self.values(args, block)?;
                let call = self.call(name, args, expr, &block.store);
                block.take(self, call, &self.gives(name))
            }
            Term::Let(var, value, body) => {
                let value = self.value(value, block)?;
                block.steps.push(Step::Let(flat_var(var, &room), value));
                self.value(body, block)?
            }
            Term::Check { cond, status, body } => {
                let cond = self.value(cond, block)?;
                block.steps.push(Step::Check(cond, *status, expr.span()));
                self.value(body, block)?
            }
            Term::Prim(prim @ (Prim::And | Prim::Or), sides) if sides.len() == 2 && self.makes(&sides[1]) => {
                let (a, b) = (sides[0].clone(), sides[1].clone());
                let choice = if *prim == Prim::And { Expr::if_(a, b, Expr::bool(false)) } else { Expr::if_(a, Expr::bool(true), b) };
                self.value(&choice, block)?
            }
            Term::If(cond, a, b) => {
                let cond = self.value(cond, block)?;
                let changed = self.changed(&Expr::tuple(vec![a.clone(), b.clone()]));
                let (a, b) = (self.tail(a, &block.store, Ending::Value(&changed))?, self.tail(b, &block.store, Ending::Value(&changed))?);
                block.take(self, Expr::if_(cond, a, b).at(expr.span()), &changed)
            }
            Term::Build { n, i, body } => {
                let n = self.value(n, block)?;
                match self.changed_inside(body) {
                    changed if changed.is_empty() => Expr::build_with(n, i.clone(), self.inner(body, &block.store)?),
                    changed => {
                        let n = block.name("n", n);
                        self.fill(&n, (i, body), &changed, expr.span(), block)?
                    }
                }
            }
            Term::Fold { n, acc, i, body, init } => {
                let [init, n] = self.pair(init, n, block)?;
                let changed = self.changed_inside(body);
                let (state, step) = self.state(acc, body, &block.store, Ending::Value(&changed))?;
                let init = block.with(init, &changed);
                block.take(self, Expr::fold_with(n, state, i.clone(), step, init).at(expr.span()), &changed)
            }
            Term::While { state, init, body } => {
                let init = self.value(init, block)?;
                let changed = self.changed_inside(body);
                let (state, step) = self.state(state, body, &block.store, Ending::Next(&changed))?;
                let init = block.with(init, &changed);
                block.take(self, Expr::while_(state, init, step).at(expr.span()), &changed)
            }
            Term::Dual { x, at, tangent, body } => {
                let [at, tangent] = self.pair(at, tangent, block)?;
                Expr::dual(x.clone(), at, tangent, self.derived(x, body, &block.store)?)
            }
            Term::Vjp { x, at, cotangent, body } => {
                let [at, cotangent] = self.pair(at, cotangent, block)?;
                Expr::vjp(x.clone(), at, cotangent, self.derived(x, body, &block.store)?)
            }
            Term::Prim(..)
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Update(..)
            | Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_) => {
                let children: Vec<Expr> = expr.term().children().cloned().collect();
                let mut values = self.values(&children, block)?.into_iter();
                rebuilt(expr, &room, &mut |child| Ok(values.next().unwrap_or_else(|| child.clone())))?
            }
        };
        Ok(made.at(expr.span()))
    }

    fn pair(&self, a: &Expr, b: &Expr, block: &mut Block) -> Result<[Expr; 2]> {
        let values = self.values(&[a.clone(), b.clone()], block)?;
        Ok(<[Expr; 2]>::try_from(values).unwrap_or_else(|_| [a.clone(), b.clone()]))
    }

    /// Values in their order: what is read before nodes are made gets a name.
    fn values(&self, exprs: &[Expr], block: &mut Block) -> Result<Vec<Expr>> {
        let mut values = Vec::new();
        for (at, expr) in exprs.iter().enumerate() {
            let value = self.value(expr, block)?;
            let is_last = !exprs[at + 1..].iter().any(|other| self.makes(other));
            values.push(if is_last || is_settled(&value) { value } else { block.name("t", value) });
        }
        Ok(values)
    }

    /// A term that makes no nodes, over the store at hand.
    fn without_making(&self, expr: &Expr, store: &Store) -> Result<Expr> {
        let mut inside = |child: &Expr| self.without_making(child, store);
        let room = room_of(store);
        let made = match expr.term() {
            Term::Iso(Iso::Absent, _) => Expr::with_type(Term::Index(0), Type::Index(Some(room)), expr.span()),
            Term::Iso(_, operands) => {
                let ([value], Some(Type::Rec(of))) = (operands.as_slice(), operands.first().map(Expr::ty)) else { return Ok(expr.clone()) };
                let node = inside(value)?;
                let leaves = self.kind(of).into_iter().flat_map(|(_, kind)| &kind.leaves);
                read(&of.defined(), &node, &mut leaves.filter_map(|(part, _)| store.get(part)))
            }
            Term::Call(name, args) => {
                let args = args.iter().map(inside).collect::<Result<_>>()?;
                self.call(name, args, expr, store)
            }
            Term::Build { n, i, body } => Expr::build_with(inside(n)?, i.clone(), self.inner(body, store)?),
            Term::Fold { n, acc, i, body, init } => {
                Expr::fold_with(inside(n)?, flat_var(acc, &room), i.clone(), self.inner(body, store)?, inside(init)?)
            }
            Term::While { state, init, body } => Expr::while_(flat_var(state, &room), inside(init)?, self.inner(body, store)?),
            Term::Dual { x, at, tangent, body } => Expr::dual(x.clone(), inside(at)?, inside(tangent)?, self.derived(x, body, store)?),
            Term::Vjp { x, at, cotangent, body } => Expr::vjp(x.clone(), inside(at)?, inside(cotangent)?, self.derived(x, body, store)?),
            Term::Let(..)
            | Term::If(..)
            | Term::Check { .. }
            | Term::Prim(..)
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Update(..)
            | Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_) => rebuilt(expr, &room, &mut inside)?,
        };
        Ok(made.at(expr.span()))
    }

    /// The parts that the body of a scope changes in the store around it.
    fn changed_inside(&self, body: &Expr) -> Vec<usize> {
        if is_closed(body) { Vec::new() } else { self.changed(body) }
    }

    /// The body of a scope that makes no nodes around it.
    fn inner(&self, body: &Expr, store: &Store) -> Result<Expr> {
        if is_closed(body) { self.scope(body) } else { self.without_making(body, store) }
    }

    /// The body of a derivative, whose nodes nobody sees.
    fn derived(&self, x: &Var, body: &Expr, store: &Store) -> Result<Expr> {
        if let Some(of) = x.ty().recursive().or_else(|| body.ty().recursive()) {
            let what = format!("a derivative in or of a value of the recursive type `{}` is here", of.name());
            let help = "differentiate in the Doubles that values are made of; `smoothc eval` without `--schedule` has these derivatives";
            return Err(unsupported(body.span(), &what, help));
        }
        if is_closed(body) { self.scope(body) } else { self.tail(body, store, Ending::Value(&[])) }
    }

    /// The state of a loop with the parts that it changes, and its step.
    fn state(&self, old: &Var, body: &Expr, store: &Store, ending: Ending) -> Result<(Var, Expr)> {
        let (Ending::Value(parts) | Ending::Next(parts)) = ending;
        let own = flat_var(old, &room_of(store));
        if parts.is_empty() {
            return Ok((own, self.inner(body, store)?));
        }
        let types = parts.iter().filter_map(|part| Some(store.get(part)?.ty().clone()));
        let state = Var::fresh(old.name(), Type::tuple(std::iter::once(own.ty().clone()).chain(types).collect()));
        let mut block = Block::of(store);
        let value = block.take(self, Expr::var(&state), parts);
        block.steps.push(Step::Let(own, value));
        let step = self.tail(body, &block.store, ending)?;
        Ok((state, block.close(step)))
    }

    /// A `build` whose elements make nodes, as a loop that fills an array.
    fn fill(&self, n: &Expr, (i, body): (&Var, &Expr), changed: &[usize], span: Span, block: &mut Block) -> Result<Expr> {
        let Some(element) = zero(&flat(body.ty(), &room_of(&block.store))) else {
            let what = "an array of values of recursive types and of arrays with lengths of their own is here";
            return Err(unsupported(span, what, "give those arrays literal lengths"));
        };
        let start = Expr::build_with(n.clone(), i.renewed(i.ty().clone()), element);
        let filled = Var::fresh("a", start.ty().clone());
        let first = block.with(start, changed);
        let state = Var::fresh("a", first.ty().clone());
        let mut step = Block::of(&block.store);
        let value = step.take(self, Expr::var(&state), changed);
        step.steps.push(Step::Let(filled.clone(), value));
        let value = self.value(body, &mut step)?;
        let next = step.with(Expr::update(Change::Replace, Expr::var(&filled), vec![Expr::var(i)], value), changed);
        Ok(block.take(self, Expr::fold_with(n.clone(), state, i.clone(), step.close(next), first).at(span), changed))
    }

    /// The parts that a function gives back.
    fn gives(&self, name: &str) -> Vec<usize> {
        self.uses.get(name).map_or_else(Vec::new, |used| self.parts_of(&used.made))
    }

    fn call(&self, name: &std::rc::Rc<str>, mut args: Vec<Expr>, old: &Expr, store: &Store) -> Expr {
        let part = |part: &usize| store.get(part).cloned();
        let taken = self.uses.get(name).map_or_else(Vec::new, |used| self.parts_for(used));
        args.extend(taken.iter().filter_map(part));
        let mut ty = flat(old.ty(), &room_of(store));
        let given = self.gives(name);
        if !given.is_empty() {
            ty = Type::tuple(std::iter::once(ty).chain(given.iter().filter_map(part).map(|part| part.ty().clone())).collect());
        }
        Expr::with_type(Term::Call(name.clone(), args), ty, old.span())
    }

    /// Writes the next node: its tag, and the data of its case.
    fn roll(&self, of: &Recursive, value: &Expr, span: Span, block: &mut Block) -> Result<Expr> {
        let (Some((_, kind)), Some(room)) = (self.kind(of), room_of(&block.store).to_expr()) else { return Ok(value.clone()) };
        let Some(at) = block.store.get(&kind.counter).cloned() else { return Ok(value.clone()) };
        let value = if let Term::Tuple(_) = value.term() { value.clone() } else { block.name("node", value.clone()) };
        let tag = if let Term::Tuple(parts) = value.term() { parts.first().map(Expr::term) } else { None };
        let data = match tag {
            Some(Term::Index(tag)) => usize::try_from(*tag).ok().and_then(|tag| kind.cases.get(tag).copied()).flatten(),
            _ => None,
        };
        let is_written = |component: usize| data == Some(component) || !kind.cases.contains(&Some(component));
        let mut leaves = Vec::new();
        leaves_of(&of.defined(), &value, &mut leaves);
        let leaves = kind.leaves.iter().zip(leaves).filter(|((_, component), _)| is_written(*component));
        // all are read before one is written
        let leaves: Vec<(usize, Expr)> = leaves.map(|((part, _), leaf)| (*part, block.name("part", leaf))).collect();
        for (part, leaf) in leaves {
            let Some(column) = block.store.get(&part).cloned() else { continue };
            let column = block.name(&self.parts[part].0, Expr::update(Change::Replace, column, vec![at.clone()], leaf));
            block.store.insert(part, column);
        }
        let next = Expr::prim(Prim::Add, vec![at.clone(), Expr::index(1)]);
        block.steps.push(Step::Check(Expr::prim(Prim::Lt, vec![next.clone(), room]), Status::Workspace, span));
        let counter = Var::fresh(&self.parts[kind.counter].0, at.ty().clone());
        block.store.insert(kind.counter, Expr::var(&counter));
        block.steps.push(Step::Let(counter, next));
        Ok(at)
    }
}

fn has_array_of_bools(ty: &Type) -> bool {
    matches!(ty, Type::Array(element, _) if **element == Type::Bool || has_array_of_bools(element))
}

/// The unrolled form of a node, from the columns of its parts.
fn read(ty: &Type, node: &Expr, columns: &mut dyn Iterator<Item = &Expr>) -> Expr {
    match ty {
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(|ty| read(ty, node, columns)).collect()),
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => {
            Expr::get(columns.next().cloned().unwrap_or_else(|| Expr::index(0)), node.clone())
        }
    }
}

/// The parts of an unrolled form, in the order of its columns.
fn leaves_of(ty: &Type, value: &Expr, found: &mut Vec<Expr>) {
    match (ty, value.term()) {
        (Type::Tuple(types), Term::Tuple(parts)) => types.iter().zip(parts).for_each(|(ty, part)| leaves_of(ty, part, found)),
        (Type::Tuple(types), _) => {
            types.iter().enumerate().for_each(|(k, ty)| leaves_of(ty, &Expr::proj(value.clone(), k), found));
        }
        (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_), _) => found.push(value.clone()),
    }
}

/// The term with other subterms, and without recursive types in its own variables.
fn rebuilt(expr: &Expr, room: &Size, inside: &mut dyn FnMut(&Expr) -> Result<Expr>) -> Result<Expr> {
    match expr.term() {
        Term::Var(var) => Ok(Expr::var(&flat_var(var, room))),
        Term::Let(var, value, body) => {
            let value = inside(value)?;
            Ok(Expr::let_(flat_var(var, room), value, inside(body)?))
        }
        Term::Array(items) => {
            let items = items.iter().map(inside).collect::<Result<_>>()?;
            Ok(Expr::array(expr.ty().element().map_or(Type::Double, |ty| flat(ty, room)), items))
        }
        Term::Proj(value, k) => {
            let value = inside(value)?;
            // of a node's parts one is read
            if let Term::Tuple(parts) = value.term()
                && is_of_node(expr)
            {
                Ok(parts.get(*k).cloned().unwrap_or(value))
            } else {
                Ok(Expr::proj(value, *k))
            }
        }
        _ => try_map_children(expr, inside),
    }
}

fn is_of_node(expr: &Expr) -> bool {
    if let Term::Proj(value, _) = expr.term() { is_of_node(value) } else { matches!(expr.term(), Term::Iso(Iso::Unroll, _)) }
}

/// Whether a value is made of names and numbers.
fn is_settled(value: &Expr) -> bool {
    value.is_atom() || matches!(value.term(), Term::Tuple(parts) if parts.iter().all(is_settled))
}

/// The body that a term evaluates with variables of its own.
fn inner(term: &Term) -> Option<&Expr> {
    match term {
        Term::Build { body, .. }
        | Term::Fold { body, .. }
        | Term::While { body, .. }
        | Term::Dual { body, .. }
        | Term::Vjp { body, .. } => Some(body),
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Let(..)
        | Term::If(..)
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Proj(..)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Check { .. } => None,
    }
}

/// Whether a body takes and gives no values of recursive types.
fn is_closed(body: &Expr) -> bool {
    let mut closed = body.ty().recursive().is_none();
    each_free_var(body, &mut |var| closed &= var.ty().recursive().is_none());
    closed
}
