//! The derivative of a term by its form: 001 Figure 7, with primal and tangent apart.
//!
//! In: a dual-free term with the activity of every node. Out: its [`Value`], with what is shared bound in the
//! surrounding block. Primals keep their variables, so that a term without a tangent stays as it is.
//!
//!     sin (x * y), x active   →   let u = x * y in  primal sin u,  tangent cos u * (dx * y)
//!
//! A branch and a loop body are scopes of their own: an `if` and an `ifold` give the tuple of primals, then
//! tangents. A `build` of cheap elements becomes two, one for the tangents; any other becomes one of pairs
//! (D-Build), so that no nest of loops computes a primal twice. No operation is made for a tangent that is
//! not there.

use std::collections::HashMap;
use std::rc::Rc;

use super::activity::{Activities, Activity};
use super::block::{Block, Spares, shared};
use super::cost::is_cheap;
use super::functions::Functions;
use super::pairs::{leaf_names, leaf_types, one_or_tuple};
use super::value::{Leaves, Value};
use super::{Result, internal, law};
use crate::ir::prim::{Derivative, Prim};
use crate::ir::subst::{freshen, map_children};
use crate::ir::{Change, Expr, Name, Term, Type, Updated, Var};

/// The differentiation of one body.
pub struct Rules<'a> {
    functions: &'a mut Functions,
    activities: Activities,
    /// The active variables in scope, by names.
    values: HashMap<Var, Value>,
    /// Whether one of them is an array of pairs.
    has_pairs: bool,
    /// What the source calls the value of the primitive or the call that comes next.
    value_name: Option<Rc<str>>,
}

impl<'a> Rules<'a> {
    /// For a body that was analysed, where `values` are its active free variables.
    pub fn new(functions: &'a mut Functions, activities: Activities, values: HashMap<Var, Value>) -> Rules<'a> {
        Rules { functions, activities, values, has_pairs: false, value_name: None }
    }

    /// The dual of a term as pairs, as the API's types have it.
    pub fn pairs(&mut self, expr: &Expr, out: &mut Block) -> Result<Expr> {
        if self.activities.of(expr).is_none() {
            return Ok(Value::Constant(self.constant(expr)).pairs(out));
        }
        let items =
            |this: &mut Self, items: &[Expr], out: &mut Block| items.iter().map(|item| this.pairs(item, out)).collect::<Result<_>>();
        match expr.term() {
            Term::Let(var, value, body) => {
                self.let_(var, value, out)?;
                self.pairs(body, out)
            }
            Term::Check { cond, status, body } => {
                out.check(self.constant(cond), *status, expr.span());
                self.pairs(body, out)
            }
            Term::If(cond, then, otherwise) => {
                let then = self.scope(out, |this, out| this.pairs(then, out))?;
                let otherwise = self.scope(out, |this, out| this.pairs(otherwise, out))?;
                Ok(Expr::if_(self.constant(cond), then, otherwise).at(expr.span()))
            }
            Term::Build { n, i, body } => {
                let body = self.scope(out, |this, out| this.pairs(body, out))?;
                Ok(Expr::build_with(self.constant(n), i.clone(), body).at(expr.span()))
            }
            Term::Tuple(parts) => Ok(Expr::tuple(items(self, parts, out)?)),
            Term::Array(elements) => {
                let element = expr.ty().element().map_or(Type::Double, Type::dual);
                Ok(Expr::array(element, items(self, elements, out)?).at(expr.span()))
            }
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Fold { .. }
            | Term::While { .. }
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Proj(..)
            | Term::Call(..)
            | Term::Iso(..)
            | Term::Update(..)
            | Term::Vjp { .. }
            | Term::Dual { .. } => Ok(self.value(expr, out)?.pairs(out)),
        }
    }

    /// The leaves of a term of this activity, as one tuple.
    pub fn leaves(&mut self, expr: &Expr, active: &Activity, out: &mut Block) -> Result<Expr> {
        let mut leaves = Leaves::default();
        self.value(expr, out)?.leaves(active, &mut leaves, out);
        Ok(leaves.into_tuple())
    }

    fn value(&mut self, expr: &Expr, out: &mut Block) -> Result<Value> {
        let active = self.activities.of(expr);
        if active.is_none() {
            return Ok(Value::Constant(self.constant(expr)));
        }
        match expr.term() {
            Term::Var(var) => Ok(self.values.get(var).cloned().unwrap_or_else(|| Value::Constant(expr.clone()))),
            Term::Prim(prim, args) => self.prim(expr, *prim, args, out),
            Term::Let(var, value, body) => {
                self.let_(var, value, out)?;
                self.value(body, out)
            }
            Term::Check { cond, status, body } => {
                out.check(self.constant(cond), *status, expr.span());
                self.value(body, out)
            }
            Term::If(cond, then, otherwise) => {
                let then = self.scope(out, |this, out| this.leaves(then, &active, out))?;
                let otherwise = self.scope(out, |this, out| this.leaves(otherwise, &active, out))?;
                let both = Expr::if_(self.constant(cond), then, otherwise).at(expr.span());
                take_apart(&"branch".into(), both, expr, &active, out)
            }
            Term::Build { n, i, body } => self.build(expr, n, i, body, out),
            Term::Fold { n, acc, i, body, init } => {
                let active = self.activities.of_var(acc);
                let init = self.leaves(init, &active, out)?;
                let mut types = (Vec::new(), Vec::new());
                leaf_types(acc.ty(), &active, &mut types.0, &mut types.1);
                types.0.append(&mut types.1);
                let state = Var::named(leaf_names(acc, &active), Type::tuple(types.0));
                let body = self.scope(out, |this, out| {
                    let value = parts_of(&Expr::var(&state), acc.ty(), &active, expr)?.bind(acc, out);
                    out.may_drop(acc);
                    this.values.insert(acc.clone(), value);
                    this.leaves(body, &active, out)
                })?;
                let fold = Expr::fold_with(self.constant(n), state, i.clone(), body, init).at(expr.span());
                take_apart(&leaf_names(acc, &active), fold, expr, &active, out)
            }
            Term::While { state, init, body } => {
                let active = self.activities.of_var(state);
                let init = self.leaves(init, &active, out)?;
                let mut types = (Vec::new(), Vec::new());
                leaf_types(state.ty(), &active, &mut types.0, &mut types.1);
                types.0.append(&mut types.1);
                let renewed = Var::named(leaf_names(state, &active), Type::tuple(types.0));
                let body = self.scope(out, |this, out| {
                    let value = parts_of(&Expr::var(&renewed), state.ty(), &active, expr)?.bind(state, out);
                    out.may_drop(state);
                    this.values.insert(state.clone(), value);
                    // whether it goes on, then the state's leaves
                    this.leaves(body, &Activity::Tuple([Activity::None, active.clone()].into()), out)
                })?;
                let Type::Tuple(leaves) = renewed.ty() else { return Err(internal(expr.span(), "a state without leaves")) };
                let body = behind_first(&body, leaves.len());
                let steps = Expr::while_(renewed, init, body).at(expr.span());
                take_apart(&leaf_names(state, &active), steps, expr, &active, out)
            }
            Term::Get(array, index) => self.get(expr, array, index, out),
            Term::Tuple(parts) => Ok(Value::Tuple(parts.iter().map(|part| self.value(part, out)).collect::<Result<_>>()?)),
            Term::Proj(tuple, index) => {
                // the other components of a long tuple are not copied
                if let Some(part) = self.known(expr) {
                    return Ok(part.clone());
                }
                match self.value(tuple, out)? {
                    Value::Tuple(mut parts) if *index < parts.len() => Ok(parts.swap_remove(*index)),
                    Value::Constant(tuple) => Ok(Value::Constant(Expr::proj(tuple, *index))),
                    Value::Tuple(_) | Value::Split { .. } | Value::Paired { .. } => Err(internal(expr.span(), "a component of no tuple")),
                }
            }
            Term::Array(elements) => {
                let (mut primals, mut tangents) = (Vec::new(), Vec::new());
                for element in elements {
                    let mut value = self.value(element, out)?;
                    if !matches!(value, Value::Split { .. }) {
                        value = value.named(&"element".into(), out);
                    }
                    primals.push(value.clone().primal(out));
                    tangents.push(value.tangent(out));
                }
                let primal = Expr::array(expr.ty().element().cloned().unwrap_or(Type::Double), primals).at(expr.span());
                let element = tangents.first().map_or(Type::Double, |tangent| tangent.ty().clone());
                Ok(Value::Split { primal, tangent: Expr::array(element, tangents).at(expr.span()) })
            }
            Term::Call(name, args) => self.call(expr, name, args, &active, out),
            Term::Update(change, parts) => self.update(expr, *change, parts, out),
            Term::Iso(..) => Err(internal(expr.span(), "a value of a recursive type is for the interpreter alone")),
            Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Dim(..) | Term::Dual { .. } | Term::Vjp { .. } => {
                Err(internal(expr.span(), "a term without a tangent was found to have one"))
            }
        }
    }

    /// The value of an active variable, or of a component of one.
    fn known(&self, expr: &Expr) -> Option<&Value> {
        match expr.term() {
            Term::Var(var) => self.values.get(var),
            Term::Proj(tuple, index) => match self.known(tuple)? {
                Value::Tuple(parts) => parts.get(*index),
                Value::Constant(_) | Value::Split { .. } | Value::Paired { .. } => None,
            },
            _ => None,
        }
    }

    /// Runs `f` in a scope of its own.
    fn scope(&mut self, out: &Block, f: impl FnOnce(&mut Self, &mut Block) -> Result<Expr>) -> Result<Expr> {
        let mut inner = out.inner();
        let result = f(self, &mut inner)?;
        inner.within_budget(result.span())?;
        Ok(inner.close(result))
    }

    fn let_(&mut self, var: &Var, value: &Expr, out: &mut Block) -> Result<()> {
        out.within_budget(value.span())?;
        self.value_name = matches!(value.term(), Term::Prim(..) | Term::Call(..)).then(|| var.name().clone());
        let value = self.value(value, out)?;
        self.value_name = None;
        match value.bind(var, out) {
            Value::Constant(_) => {}
            value @ (Value::Split { .. } | Value::Paired { .. } | Value::Tuple(_)) => {
                self.has_pairs |= matches!(value, Value::Paired { .. });
                self.values.insert(var.clone(), value);
            }
        }
        Ok(())
    }

    /// The law of the primitive's row, for the operands that have tangents.
    fn prim(&mut self, expr: &Expr, prim: Prim, args: &[Expr], out: &mut Block) -> Result<Value> {
        let name = self.value_name.take();
        let mut operands = Vec::new();
        for arg in args {
            operands.push(match self.value(arg, out)? {
                Value::Split { primal, tangent } => (primal, Some(tangent)),
                value @ (Value::Constant(_) | Value::Paired { .. } | Value::Tuple(_)) => (value.primal(out), None),
            });
        }
        let active: Vec<bool> = operands.iter().map(|(_, tangent)| tangent.is_some()).collect();
        let (law, names): (_, &[(&str, &str)]) = match (prim.row().derivative, active.as_slice()) {
            (Derivative::Unary(law), [true]) => (law, &[("x", "dx")]),
            (Derivative::Unary(law), [false, true]) => (law, &[("k", ""), ("x", "dx")]),
            (Derivative::Binary { x, .. }, [true, false]) => (x, &[("x", "dx"), ("y", "")]),
            (Derivative::Binary { y, .. }, [false, true]) => (y, &[("x", ""), ("y", "dy")]),
            (Derivative::Binary { both, .. }, [true, true]) => (both, &[("x", "dx"), ("y", "dy")]),
            _ => return Err(internal(expr.span(), "a primitive without a law for its tangents")),
        };
        let law = law::parse(law)?;
        let mut given: Vec<(&str, Expr)> = Vec::new();
        let mut primals = Vec::new();
        for ((primal, tangent), (x, dx)) in operands.into_iter().zip(names) {
            let primal = if law.count(x) > 0 { out.bind(Name::placeholder("u"), primal) } else { primal };
            given.push((x, primal.clone()));
            given.extend(tangent.map(|tangent| (*dx, tangent)));
            primals.push(primal);
        }
        let mut primal = Expr::prim(prim, primals).at(expr.span());
        if law.count("r") > 0 {
            primal = out.bind(name.as_deref().unwrap_or("r"), primal);
            given.push(("r", primal.clone()));
        }
        Ok(Value::Split { primal, tangent: law.apply(&given)? })
    }

    fn build(&mut self, expr: &Expr, n: &Expr, i: &Var, body: &Expr, out: &mut Block) -> Result<Value> {
        let n = self.constant(n);
        if !is_cheap(body) {
            let body = self.scope(out, |this, out| this.pairs(body, out))?;
            let pairs = Expr::build_with(n, i.clone(), body).at(expr.span());
            return Ok(Value::Paired { pairs, ty: expr.ty().clone(), views: None });
        }
        let n = shared("n", n, out);
        let primal = freshen(&Expr::build_with(n.clone(), i.clone(), self.constant(body)).at(expr.span()));
        // the primals that the tangents need are computed again: they may go where they do not
        drop_freely(body, out);
        let tangent = self.scope(out, |this, out| Ok(this.value(body, out)?.tangent(out)))?;
        Ok(Value::Split { primal, tangent: Expr::build_with(n, i.clone(), tangent).at(expr.span()) })
    }

    fn get(&mut self, expr: &Expr, array: &Expr, index: &Expr, out: &mut Block) -> Result<Value> {
        let array = self.value(array, out)?;
        let index = self.constant(index);
        let element = |array: Expr, index: &Expr| Expr::get(array, index.clone()).at(expr.span());
        match array {
            Value::Paired { pairs, views: None, .. } => {
                Ok(Value::of_pairs(expr.ty(), out.bind(Name::placeholder("e"), element(pairs, &index))))
            }
            Value::Paired { pairs, views: Some((primal, tangent)), .. } => {
                let index = shared(Name::placeholder("i"), index, out);
                let pairs = Value::of_pairs(expr.ty(), out.bind(Name::placeholder("e"), element(pairs, &index)));
                if *expr.ty() == Type::Double {
                    return Ok(pairs);
                }
                // rows of the views, for whoever wants a whole row: spare, as the views are
                let (primal, tangent) = (
                    out.bind(Name::placeholder("e"), element(primal, &index)),
                    out.bind(Name::placeholder("de"), element(tangent, &index)),
                );
                Ok(pairs.with_views(Value::of_split(primal, tangent)))
            }
            Value::Split { primal, tangent } => {
                let index = shared(Name::placeholder("i"), index, out);
                let (primal, tangent) = (element(primal, &index), element(tangent, &index));
                if !matches!(expr.ty(), Type::Tuple(_)) {
                    return Ok(Value::Split { primal, tangent });
                }
                Ok(Value::of_split(out.bind(Name::placeholder("e"), primal), out.bind(Name::placeholder("de"), tangent)))
            }
            Value::Constant(array) => Ok(Value::Constant(Expr::get(array, index).at(expr.span()))),
            Value::Tuple(_) => Err(internal(expr.span(), "an element of no array")),
        }
    }

    /// Primal and tangent are changed at the same place. What is put into an array without a tangent, and what has none
    /// that is put into one that has, takes a tangent of zeros.
    fn update(&mut self, expr: &Expr, change: Change, parts: &[Expr], out: &mut Block) -> Result<Value> {
        let Some(Updated { array, indices, value }) = Updated::of(parts) else {
            return Err(internal(expr.span(), "an update without its parts"));
        };
        let array = self.value(array, out)?.named(&"array".into(), out);
        let indices: Vec<Expr> = indices.iter().map(|index| shared(Name::placeholder("i"), self.constant(index), out)).collect();
        let value = self.value(value, out)?;
        let has_tangent = !matches!(value, Value::Constant(_));
        let value = value.named(&"x".into(), out);
        let primal = Expr::update(change, array.clone().primal(out), indices.clone(), value.clone().primal(out)).at(expr.span());
        let before = array.tangent(out);
        let tangent = match change {
            Change::Add if !has_tangent => before,
            Change::Replace | Change::Add => Expr::update(change, before, indices, value.tangent(out)).at(expr.span()),
        };
        Ok(Value::Split { primal, tangent })
    }

    fn call(&mut self, expr: &Expr, name: &Rc<str>, args: &[Expr], active: &Activity, out: &mut Block) -> Result<Value> {
        let value_name = self.value_name.take();
        let pattern: Vec<Activity> = args.iter().map(|arg| self.activities.of(arg)).collect();
        let derived = self.functions.derived(name, &pattern, expr.span())?;
        let (mut primals, mut tangents) = (Vec::new(), Vec::new());
        for (arg, active) in args.iter().zip(&pattern) {
            let arg = self.value(arg, out)?;
            if active.is_none() {
                primals.push(arg.primal(out));
                continue;
            }
            let arg = arg.named(&"arg".into(), out);
            primals.push(arg.clone().primal(out));
            let mut leaves = Leaves::default();
            arg.leaves(active, &mut leaves, out);
            tangents.append(&mut leaves.tangents);
        }
        primals.append(&mut tangents);
        let value_name = value_name.as_deref().unwrap_or(name);
        take_apart(&value_name.into(), Expr::call(&derived, primals).at(expr.span()), expr, active, out)
    }

    /// A term whose value has no tangent. It stays as it is, but that it reads elements and lengths of an
    /// array of pairs from the pairs.
    fn constant(&self, expr: &Expr) -> Expr {
        if self.has_pairs { self.read_pairs(expr) } else { expr.clone() }
    }

    fn read_pairs(&self, expr: &Expr) -> Expr {
        let read = match (expr.term(), expr.ty()) {
            (Term::Dim(array, axis), _) => self.pairs_of(array).map(|pairs| Expr::dim(pairs, *axis)),
            (Term::Get(..) | Term::Proj(..), Type::Double) => self.pairs_of(expr).map(|pair| Expr::proj(pair, 0)),
            (Term::Get(..) | Term::Proj(..), Type::Index(_) | Type::Bool) => self.pairs_of(expr),
            _ => None,
        };
        read.unwrap_or_else(|| map_children(expr, &mut |child| self.read_pairs(child)))
    }

    /// The pairs of an array, or of an element of one, that a variable holds as pairs.
    fn pairs_of(&self, expr: &Expr) -> Option<Expr> {
        match expr.term() {
            Term::Var(var) => match self.values.get(var)? {
                Value::Paired { pairs, .. } => Some(pairs.clone()),
                Value::Constant(_) | Value::Split { .. } | Value::Tuple(_) => None,
            },
            Term::Get(array, index) => Some(Expr::get(self.pairs_of(array)?, self.read_pairs(index)).at(expr.span())),
            Term::Proj(tuple, index) => Some(Expr::proj(self.pairs_of(tuple)?, *index)),
            _ => None,
        }
    }
}

/// Names a term that has all leaves of `like`'s value, and takes it apart.
fn take_apart(name: &Name, all: Expr, like: &Expr, active: &Activity, out: &mut Block) -> Result<Value> {
    parts_of(&out.bind(name, all), like.ty(), active, like)
}

fn parts_of(all: &Expr, ty: &Type, active: &Activity, like: &Expr) -> Result<Value> {
    let mut types = (Vec::new(), Vec::new());
    leaf_types(ty, active, &mut types.0, &mut types.1);
    let primal_count = types.0.len();
    let mut primals = (0..primal_count).map(|k| Expr::proj(all.clone(), k));
    let mut tangents = (primal_count..).map(|k| Expr::proj(all.clone(), k));
    Value::of_leaves(ty, active, &mut primals, &mut tangents).ok_or_else(|| internal(like.span(), "too few components"))
}

fn drop_freely(expr: &Expr, out: &Block) {
    expr.term().binders().for_each(|var| out.may_drop(var));
    expr.term().each_child(&mut |child| drop_freely(child, out));
}

/// The dual of `body` for one independent variable: what a `dual` term becomes.
pub fn dual(functions: &mut Functions, x: &Var, at: Expr, tangent: Expr, body: &Expr, spares: &Spares) -> Result<Expr> {
    let activities = functions.analyse(body, vec![(x.clone(), Activity::full(x.ty()))])?;
    let mut out = Block::new(spares);
    let value = if matches!(x.ty(), Type::Tuple(_)) {
        let (at, tangent) = (out.bind(x.name(), at), out.bind("tangent", tangent));
        point(&at, &tangent, x.ty())
    } else {
        Value::Split { primal: at, tangent: own_tangent(tangent, x.ty(), &mut out) }
    };
    let value = value.bind(x, &mut out);
    let mut rules = Rules::new(functions, activities, HashMap::from([(x.clone(), value)]));
    let pairs = rules.pairs(body, &mut out)?;
    Ok(out.close(pairs))
}

/// A point with a tangent of its own type, by component.
fn point(at: &Expr, tangent: &Expr, ty: &Type) -> Value {
    match ty {
        Type::Tuple(parts) => Value::Tuple(
            (parts.iter().enumerate()).map(|(k, part)| point(&Expr::proj(at.clone(), k), &Expr::proj(tangent.clone(), k), part)).collect(),
        ),
        _ if !ty.has_double() => Value::Constant(at.clone()),
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => {
            Value::Split { primal: at.clone(), tangent: without_constants(tangent, ty) }
        }
    }
}

fn own_tangent(tangent: Expr, ty: &Type, out: &mut Block) -> Expr {
    if ty.is_made_of_doubles() { tangent } else { without_constants(&out.bind("tangent", tangent), ty) }
}

/// The tangent without what has none: an Index or Bool that stands in an element.
fn without_constants(tangent: &Expr, ty: &Type) -> Expr {
    if ty.is_made_of_doubles() {
        return tangent.clone();
    }
    match ty {
        Type::Array(element, _) => {
            Expr::build(Expr::dim(tangent.clone(), 0), "i", |i| without_constants(&Expr::get(tangent.clone(), i), element))
        }
        Type::Tuple(parts) => {
            let parts = parts.iter().enumerate().filter(|(_, part)| part.has_double());
            one_or_tuple(parts.map(|(k, part)| without_constants(&Expr::proj(tangent.clone(), k), part)).collect())
        }
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => tangent.clone(),
    }
}

/// A term of 1 + n components as one of two: the first, and a tuple of the others.
fn behind_first(step: &Expr, n: usize) -> Expr {
    let new = match step.term() {
        // a name of the whole, taken apart
        Term::Let(all, value, body) if is_each_part_of(body, all) => return behind_first(value, n),
        Term::Let(x, value, body) => Expr::let_(x.clone(), value.clone(), behind_first(body, n)),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, behind_first(body, n)),
        Term::If(cond, a, b) => Expr::if_(cond.clone(), behind_first(a, n), behind_first(b, n)),
        Term::Tuple(parts) if parts.len() == n + 1 => Expr::tuple(vec![parts[0].clone(), Expr::tuple(parts[1..].to_vec())]),
        _ => {
            let all = Var::fresh("step", step.ty().clone());
            let part = |k: usize| Expr::proj(Expr::var(&all), k);
            let next = Expr::tuple((1..=n).map(part).collect());
            Expr::let_(all.clone(), step.clone(), Expr::tuple(vec![part(0), next]))
        }
    };
    new.at(step.span())
}

/// Whether a term is the tuple of a variable's components, each once and in order.
fn is_each_part_of(expr: &Expr, var: &Var) -> bool {
    let is_whole = |whole: &Expr| matches!(whole.term(), Term::Var(other) if other == var);
    let is_part = |(k, part): (usize, &Expr)| matches!(part.term(), Term::Proj(whole, at) if *at == k && is_whole(whole));
    match (expr.term(), var.ty()) {
        (Term::Tuple(parts), Type::Tuple(types)) => parts.len() == types.len() && parts.iter().enumerate().all(is_part),
        _ => false,
    }
}
