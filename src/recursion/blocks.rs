//! Bodies cut after their calls: what a function does from one call of the group to the next is a block.
//!
//! In: routines, whose bodies call each other anywhere. Out: blocks, each a term of lets, checks and branches whose tails are a
//! [`Leaf`]: return a value, go to a routine in place of this one, or call one and go on at another block, which needs the values
//! that are live there again. Branches, loops and `build`s around calls become routines of their own, so that only tails branch.
//!
//!     f (n - 1) + f (n - 2)   →   call f (n - 1), then block 1 with n;   1: call f (n - 2), then block 2 with r;   2: return r + r'
//!
//! Terms without calls stay whole, and are evaluated in the order in which they were.

use std::collections::HashSet;
use std::rc::Rc;

use super::{Result, unsupported};
use crate::ir::free::{any_var_in_types, each_free_var};
use crate::ir::subst::map_children;
use crate::ir::zero::zero;
use crate::ir::{Change, Expr, Function, Prim, Size, Status, Term, Type, Var, ambient};

/// A function of the group, or a part of one that has its own frame on the stack.
#[derive(Debug)]
pub struct Routine {
    pub name: Rc<str>,
    /// What differs from call to call.
    pub params: Vec<Var>,
    pub result: Type,
    pub body: Expr,
    /// Whether its calls are counted: it is the first, or says what decreases.
    pub is_counted: bool,
}

/// What a caller does after a call.
#[derive(Debug)]
pub struct Continuation {
    /// The routine that called, and the one that was called.
    pub of: usize,
    pub callee: usize,
    pub result: Var,
    /// The values that it needs from before the call.
    pub live: Vec<Var>,
    pub code: Expr,
}

/// How a block ends. In a block's code it is a call of no function, with the numbers in front.
#[derive(Debug)]
pub enum Leaf<'a> {
    Return(&'a Expr),
    /// The arguments of the routine.
    Goto(usize, &'a [Expr]),
    /// The arguments of the routine, then the values that the continuation needs.
    Push(usize, usize, &'a [Expr]),
}

impl<'a> Leaf<'a> {
    pub fn of(expr: &'a Expr) -> Option<Leaf<'a>> {
        let Term::Call(_, parts) = expr.term() else { return None };
        let number = |expr: &Expr| if let Term::Index(number) = expr.term() { usize::try_from(*number).ok() } else { None };
        match parts.as_slice() {
            [value] => Some(Leaf::Return(value)),
            [routine, after, rest @ ..] => match number(after)?.checked_sub(1) {
                None => Some(Leaf::Goto(number(routine)?, rest)),
                Some(after) => Some(Leaf::Push(number(routine)?, after, rest)),
            },
            [] => None,
        }
    }

    fn expr(parts: Vec<Expr>) -> Expr {
        Expr::with_type(Term::Call("leaf".into(), parts), Type::tuple(Vec::new()), crate::source::Span::NONE)
    }
}

/// A branch or loop that became a routine.
struct Part {
    routine: usize,
    /// The first arguments: where a loop starts.
    first: Vec<Expr>,
    /// The arguments after them.
    captured: Vec<Expr>,
    count: Count,
}

/// How often a loop runs, which must not be negative.
enum Count {
    /// It is no loop of a count.
    None,
    Fixed(Expr),
    /// By its last first argument.
    Passed,
}

/// What becomes of a value, or of other things that a term gives.
type Rest<'k, T = Expr> = Box<dyn FnOnce(&mut Blocks<'_>, T) -> Result<Expr> + 'k>;

/// The cut bodies.
#[derive(Debug)]
pub struct Blocks<'a> {
    root: &'a Function,
    /// The variables of the function around, which are in scope everywhere.
    outer: HashSet<Var>,
    pub routines: Vec<Routine>,
    /// The first block of each routine.
    pub entries: Vec<Expr>,
    pub continuations: Vec<Continuation>,
    /// The routine that is being cut.
    at: usize,
}

/// Cuts the routines, and those that are made of them.
pub fn blocks(root: &Function, routines: Vec<Routine>) -> Result<Blocks<'_>> {
    let ambient = ambient::unset_scalars().chain([ambient::deeper()]);
    let outer = root.sizes.iter().chain(&root.params).cloned().chain(ambient).collect();
    let mut blocks = Blocks { root, outer, routines, entries: Vec::new(), continuations: Vec::new(), at: 0 };
    while blocks.entries.len() < blocks.routines.len() {
        blocks.at = blocks.entries.len();
        let body = blocks.routines[blocks.at].body.clone();
        let entry = blocks.tail(&body)?;
        blocks.entries.push(entry);
    }
    Ok(blocks)
}

impl Blocks<'_> {
    fn routine(&self, name: &str) -> Option<usize> {
        self.routines.iter().position(|routine| *routine.name == *name)
    }

    fn calls(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.each_call(&mut |callee| found |= self.routine(callee).is_some());
        found
    }

    /// A term whose value is the routine's.
    fn tail(&mut self, expr: &Expr) -> Result<Expr> {
        if !self.calls(expr) {
            return Ok(Leaf::expr(vec![expr.clone()]));
        }
        match expr.term() {
            Term::Let(x, value, body) => self.seq(value, Box::new(|this, value| Ok(Expr::let_(x.clone(), value, this.tail(body)?)))),
            Term::Check { cond, status, body } => self.seq(cond, Box::new(|this, cond| Ok(Expr::check(cond, *status, this.tail(body)?)))),
            Term::If(cond, a, b) => self.seq(cond, Box::new(|this, cond| Ok(Expr::if_(cond, this.tail(a)?, this.tail(b)?)))),
            Term::Call(name, args) => match self.routine(name) {
                Some(routine) => self.all(args, Box::new(move |_, args| Ok(goto(routine, args)))),
                None => self.seq(expr, Box::new(|_, value| Ok(Leaf::expr(vec![value])))),
            },
            Term::Fold { .. } | Term::While { .. } if self.calls_again(expr) => {
                let part = self.part(expr)?;
                self.enter(part, Box::new(|_, (routine, args)| Ok(goto(routine, args))))
            }
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Build { .. }
            | Term::Fold { .. }
            | Term::While { .. }
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Dual { .. }
            | Term::Vjp { .. } => self.seq(expr, Box::new(|_, value| Ok(Leaf::expr(vec![value])))),
        }
    }

    /// Whether a branch or loop calls in what it does not evaluate first.
    fn calls_again(&self, expr: &Expr) -> bool {
        expr.term().children().skip(strict(expr.term())).any(|child| self.calls(child))
    }

    /// The term with the values of what it evaluates first.
    fn children(&mut self, expr: &Expr, rest: Rest<'_>) -> Result<Expr> {
        let first: Vec<Expr> = expr.term().children().take(strict(expr.term())).cloned().collect();
        let rebuilt = move |this: &mut Blocks<'_>, values: Vec<Expr>| {
            let mut values = values.into_iter();
            let value = map_children(expr, &mut |child| values.next().unwrap_or_else(|| child.clone()));
            rest(this, value)
        };
        self.all(&first, Box::new(rebuilt))
    }

    /// A term whose value goes to `rest`.
    fn seq(&mut self, expr: &Expr, rest: Rest<'_>) -> Result<Expr> {
        if !self.calls(expr) {
            return rest(self, expr.clone());
        }
        match expr.term() {
            Term::Let(x, value, body) => self.seq(value, Box::new(|this, value| Ok(Expr::let_(x.clone(), value, this.seq(body, rest)?)))),
            Term::Check { cond, status, body } => {
                self.seq(cond, Box::new(|this, cond| Ok(Expr::check(cond, *status, this.seq(body, rest)?))))
            }
            Term::Prim(Prim::And, sides) if sides.len() == 2 => {
                self.seq(&Expr::if_(sides[0].clone(), sides[1].clone(), Expr::bool(false)).at(expr.span()), rest)
            }
            Term::Prim(Prim::Or, sides) if sides.len() == 2 => {
                self.seq(&Expr::if_(sides[0].clone(), Expr::bool(true), sides[1].clone()).at(expr.span()), rest)
            }
            Term::Call(name, args) if self.routine(name).is_some() => {
                let routine = self.routine(name).unwrap_or_default();
                self.all(args, Box::new(move |this, args| this.push(routine, args, rest)))
            }
            Term::If(..) | Term::Fold { .. } | Term::While { .. } | Term::Build { .. } if !self.calls_again(expr) => {
                self.children(expr, rest)
            }
            Term::Build { .. } => {
                let filled = self.filled(expr)?;
                self.seq(&filled, rest)
            }
            Term::If(..) | Term::Fold { .. } | Term::While { .. } => {
                let part = self.part(expr)?;
                self.enter(part, Box::new(move |this, (routine, args)| this.push(routine, args, rest)))
            }
            Term::Dual { .. } | Term::Vjp { .. } => {
                let what = "is inside of a derivative of its own";
                Err(unsupported(self.root, expr.span(), what, "differentiate the function from outside"))
            }
            Term::Prim(..)
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Iso(..)
            | Term::Update(..) => self.children(expr, rest),
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => rest(self, expr.clone()),
        }
    }

    /// Terms in their order; what is before a call gets a name, so that it is evaluated there.
    fn all<'k>(&mut self, exprs: &'k [Expr], rest: Rest<'k, Vec<Expr>>) -> Result<Expr> {
        self.from(exprs, Vec::new(), rest)
    }

    fn from<'k>(&mut self, exprs: &'k [Expr], mut done: Vec<Expr>, rest: Rest<'k, Vec<Expr>>) -> Result<Expr> {
        let Some((first, others)) = exprs.split_first() else { return rest(self, done) };
        let goes_on = others.iter().any(|other| self.calls(other));
        self.seq(
            first,
            Box::new(move |this, value| {
                if !goes_on || value.is_atom() {
                    done.push(value);
                    return this.from(others, done, rest);
                }
                let var = Var::fresh("t", value.ty().clone());
                done.push(Expr::var(&var));
                Ok(Expr::let_(var, value, this.from(others, done, rest)?))
            }),
        )
    }

    /// Evaluates the first arguments of a part, and has its count checked.
    fn enter(&mut self, part: Part, rest: Rest<'_, (usize, Vec<Expr>)>) -> Result<Expr> {
        let Part { routine, first, captured, count } = part;
        let checked = move |this: &mut Blocks<'_>, mut values: Vec<Expr>| {
            let is_count = |count: &Expr| Expr::prim(Prim::Le, vec![Expr::index(0), count.clone()]);
            let with = |values: Vec<Expr>| [values, captured].concat();
            match (count, values.pop()) {
                (Count::None, last) => {
                    values.extend(last);
                    rest(this, (routine, with(values)))
                }
                (Count::Fixed(count), last) => {
                    values.extend(last);
                    Ok(Expr::check(is_count(&count), Status::Negative, rest(this, (routine, with(values)))?))
                }
                (Count::Passed, Some(last)) => {
                    let count = Var::fresh("count", Type::INDEX);
                    values.push(Expr::var(&count));
                    let after = Expr::check(is_count(&Expr::var(&count)), Status::Negative, rest(this, (routine, with(values)))?);
                    Ok(Expr::let_(count, last, after))
                }
                (Count::Passed, None) => rest(this, (routine, with(values))),
            }
        };
        self.all(&first, Box::new(checked))
    }

    /// A call that is not the last: the rest is a block of its own.
    fn push(&mut self, routine: usize, args: Vec<Expr>, rest: Rest<'_>) -> Result<Expr> {
        let result = Var::fresh("r", self.routines[routine].result.clone());
        let at = self.at;
        let code = rest(self, Expr::var(&result))?;
        let live = self.live(&code, &result)?;
        let mut parts = vec![Expr::index(routine as i64), Expr::index(self.continuations.len() as i64 + 1)];
        parts.extend(args);
        parts.extend(live.iter().map(Expr::var));
        self.continuations.push(Continuation { of: at, callee: routine, result, live, code });
        Ok(Leaf::expr(parts))
    }

    /// What a term needs from outside, but for the function's own variables.
    fn live(&self, code: &Expr, result: &Var) -> Result<Vec<Var>> {
        let mut live = Vec::new();
        let mut bound = HashSet::from([result.clone()]);
        binders(code, &mut bound);
        let mut add = |var: &Var| {
            if !self.outer.contains(var) && !bound.contains(var) && !live.contains(var) {
                live.push(var.clone());
            }
        };
        each_free_var(code, &mut add);
        any_var_in_types(code, &mut |var| {
            add(var);
            false
        });
        let mut at = 0;
        while let Some(var) = live.get(at).cloned() {
            if var.ty().lengths().iter().any(|size| self.varies(size)) {
                return Err(self.length_varies(var.name(), code));
            }
            var.ty().each_size(&mut |size| {
                size.each_var(&mut |var| {
                    if !self.outer.contains(var) && !live.contains(var) {
                        live.push(var.clone());
                    }
                });
            });
            at += 1;
        }
        live.sort();
        Ok(live)
    }

    fn varies(&self, size: &Size) -> bool {
        let mut varies = size.has_unknown();
        size.each_var(&mut |var| varies |= !self.outer.contains(var));
        varies
    }

    fn length_varies(&self, name: &str, place: &Expr) -> Box<crate::diagnostic::Diagnostic> {
        let what = format!("keeps `{name}`, whose length changes from call to call");
        unsupported(self.root, place.span(), &what, "give it the length of a parameter that every call passes on, or a fixed one")
    }

    /// A branch or a loop as a routine.
    fn part(&mut self, expr: &Expr) -> Result<Part> {
        let routine = self.routines.len();
        let name: Rc<str> = format!("{} {routine}", self.root.name).into();
        let call = |args: Vec<Expr>| Expr::with_type(Term::Call(name.clone(), args), expr.ty().clone(), expr.span());
        let mut passed = Count::None;
        let (first, mut params, body) = match expr.term() {
            Term::Fold { n, acc, i, body, init } => {
                // before the test the index may be the count
                let next = i.renewed(Type::INDEX);
                let mut first = vec![init.clone(), Expr::index(0)];
                let mut params = vec![acc.clone(), next.clone()];
                let mut step = vec![body.clone(), Expr::prim(Prim::Add, vec![Expr::var(i), Expr::index(1)])];
                let count = if self.is_fixed(n) {
                    passed = Count::Fixed(n.clone());
                    n.clone()
                } else {
                    passed = Count::Passed;
                    let count = Var::fresh("count", Type::INDEX);
                    first.push(n.clone());
                    params.push(count.clone());
                    step.push(Expr::var(&count));
                    Expr::var(&count)
                };
                let step = Expr::let_(i.clone(), Expr::var(&next), call(step));
                (first, params, Expr::if_(Expr::prim(Prim::Lt, vec![Expr::var(&next), count]), step, Expr::var(acc)))
            }
            Term::While { state, init, body } => {
                let step = Var::fresh("step", body.ty().clone());
                let part = |k| Expr::proj(Expr::var(&step), k);
                let next = Expr::if_(part(0), call(vec![part(1)]), part(1));
                (vec![init.clone()], vec![state.clone()], Expr::let_(step.clone(), body.clone(), next))
            }
            _ => (Vec::new(), Vec::new(), expr.clone()),
        };
        // what the routine captures, its calls of itself pass on
        let captured = self.captured(&body, &params)?;
        params.extend(captured.iter().cloned());
        let captured: Vec<Expr> = captured.iter().map(Expr::var).collect();
        let body = passing_on(&body, &name, &captured);
        self.routines.push(Routine { name, params, result: expr.ty().without_bounds(), body, is_counted: false });
        Ok(Part { routine, first, captured, count: passed })
    }

    /// Whether a count is the same everywhere, and as good as a name.
    fn is_fixed(&self, count: &Expr) -> bool {
        let is_short = count.is_atom() || matches!(count.term(), Term::Dim(array, _) if array.is_atom());
        let mut fixed = is_short;
        each_free_var(count, &mut |var| fixed &= self.outer.contains(var));
        fixed
    }

    fn captured(&self, body: &Expr, params: &[Var]) -> Result<Vec<Var>> {
        let none = Var::fresh("none", Type::Bool);
        Ok(self.live(body, &none)?.into_iter().filter(|var| !params.contains(var)).collect())
    }

    /// A `build` as a fold that fills an array.
    fn filled(&self, expr: &Expr) -> Result<Expr> {
        let Term::Build { n, i, body } = expr.term() else { return Ok(expr.clone()) };
        let element = body.ty().without_bounds();
        let Some(zero) = zero(&element).filter(|_| {
            let mut varies = false;
            element.each_length(&mut |size| varies |= self.varies(size));
            !varies
        }) else {
            return Err(self.length_varies("an element of an array", expr));
        };
        Ok(Expr::bind("n", n.clone(), |n| {
            let start = Expr::build_with(n.clone(), i.renewed(i.ty().clone()), zero);
            let acc = Var::fresh("a", start.ty().clone());
            let step = Expr::update(Change::Replace, Expr::var(&acc), vec![Expr::var(i)], body.clone());
            Expr::fold_with(n, acc, i.clone(), step, start).at(expr.span())
        }))
    }
}

/// How many of its subterms, which are the first, a term evaluates once in any case.
fn strict(term: &Term) -> usize {
    match term {
        Term::If(..) | Term::While { .. } | Term::Build { .. } | Term::Let(..) | Term::Check { .. } => 1,
        Term::Fold { .. } => 2,
        Term::Dual { .. } | Term::Vjp { .. } => 0,
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Proj(..)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Iso(..)
        | Term::Update(..) => usize::MAX,
    }
}

fn goto(routine: usize, args: Vec<Expr>) -> Expr {
    Leaf::expr([vec![Expr::index(routine as i64), Expr::index(0)], args].concat())
}

/// The term in which the calls of a routine of itself have more arguments.
fn passing_on(expr: &Expr, name: &Rc<str>, more: &[Expr]) -> Expr {
    let inside = map_children(expr, &mut |child| passing_on(child, name, more));
    if let Term::Call(callee, args) = inside.term()
        && callee == name
    {
        Expr::with_type(Term::Call(name.clone(), [args.as_slice(), more].concat()), inside.ty().clone(), inside.span())
    } else {
        inside
    }
}

fn binders(expr: &Expr, found: &mut HashSet<Var>) {
    found.extend(expr.term().binders().cloned());
    expr.term().each_child(&mut |child| binders(child, found));
}
