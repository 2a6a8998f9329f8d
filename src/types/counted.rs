//! Loops that count: tail calls that bring an Index nearer to a bound by a fixed step are as many as the way is long.
//!
//! In: a function that calls itself in tail position, and those calls. Out: its body with an `ifold` in their place, whose count is known
//! before it begins, so that derivatives, rules and targets see a loop like every other; `None` where something else ends the loop.
//!
//!     go i s = if i >= n then s else go (i + 1) (s + v[i])   →   go i s = ifold (fun s k -> s + v[i + k]) s (max 0 (n - i))
//!
//! The bound is an Index that no call changes and that cannot fail. A loop that ends where two Indexes are equal and that counts away from
//! there has a negative count, which fails, where the calls would go around all Indexes.

use super::tail::{Changed, calls, named, self_call, without_calls};
use crate::ir::free::any_free_var;
use crate::ir::subst::freshen;
use crate::ir::{Expr, Function, Prim, Size, Term, Type, Var};

/// How a loop counts.
struct Count {
    /// The parameter's position.
    at: usize,
    /// Added to it in each step.
    step: i64,
    /// How many steps there are from the parameters.
    steps: Expr,
}

/// The body with a fold in the place of the tail calls.
pub(super) fn counted(function: &Function, calls: &[&[Expr]], changed: &[usize]) -> Option<Expr> {
    let count = count(function, calls, changed)?;
    let state = Changed { function, changed: changed.iter().copied().filter(|at| *at != count.at).collect() };
    if state.changed.is_empty() {
        return None;
    }
    let counter = &function.params[count.at];
    let after = |steps: &Var| {
        let value = Size::var(counter).plus(count.step, &Size::var(steps)).to_expr();
        value.map(|value| (counter.clone(), value))
    };
    let steps = Var::fresh("steps", Type::INDEX);
    let i = Var::fresh(counter.name(), Type::Index(Some(Size::var(&steps))));
    let (acc, last) = (state.var(), state.var());
    let next = going_on(&freshen(&function.body), function)?.map_tails(&|leaf| match self_call(leaf, function) {
        Some(args) => state.values(args),
        None => leaf.clone(),
    });
    let next = named(&next, &[state.parts(&acc), vec![after(&i)?]].concat());
    let value = without_calls(&function.body, function)?;
    let value = named(&value, &[state.parts(&last), vec![after(&steps)?]].concat());
    let fold = Expr::fold_with(Expr::var(&steps), acc, i, next, state.init()).at(function.span);
    Some(Expr::let_(steps, count.steps, Expr::let_(last, fold, value)))
}

/// How the tail calls count, where they do.
fn count(function: &Function, calls: &[&[Expr]], changed: &[usize]) -> Option<Count> {
    let (cond, goes_on) = end(&function.body, function)?;
    let Term::Prim(prim, operands) = cond.term() else { return None };
    let [a, b] = operands.as_slice() else { return None };
    let is_bound = |expr: &Expr| {
        let is_passed_on = |var: &Var| {
            function.sizes.contains(var) || (0..function.params.len()).any(|at| function.params[at] == *var && !changed.contains(&at))
        };
        !any_free_var(expr, &mut |var| !is_passed_on(var))
    };
    let counter = |expr: &Expr| match expr.term() {
        Term::Var(var) if var.ty() == &Type::INDEX => changed.iter().copied().find(|at| function.params[*at] == *var),
        _ => None,
    };
    let (at, bound, prim) = match (counter(a), counter(b)) {
        (Some(at), None) if is_bound(b) => (at, b, *prim),
        (None, Some(at)) if is_bound(a) => (at, a, turned(*prim)?),
        _ => return None,
    };
    let prim = if goes_on { prim } else { opposite(prim)? };
    let bound = Size::try_of_expr(bound)?;
    let counter = Size::var(&function.params[at]);
    let step = Size::try_of_expr(&calls.first()?[at])?.sub(&counter).as_constant()?;
    let is_same = |args: &&[Expr]| Size::try_of_expr(&args[at]).is_some_and(|next| next.sub(&counter).as_constant() == Some(step));
    if !calls.iter().all(is_same) {
        return None;
    }
    let way = if step > 0 { bound.sub(&counter) } else { counter.sub(&bound) };
    let (way, by) = match (prim, step.checked_abs()?) {
        (Prim::Ne, 1) => return Some(Count { at, step, steps: way.to_expr()? }),
        (Prim::Lt, by) if step > 0 => (way, by),
        (Prim::Gt, by) if step < 0 => (way, by),
        (Prim::Le, by) if step > 0 => (way.add(&Size::constant(1)), by),
        (Prim::Ge, by) if step < 0 => (way.add(&Size::constant(1)), by),
        _ => return None,
    };
    let way = Expr::prim(Prim::Max, vec![Expr::index(0), way.to_expr()?]);
    let steps = match by {
        1 => way,
        _ => Expr::prim(Prim::Div, vec![Expr::prim(Prim::Add, vec![way, Expr::index(by - 1)]), Expr::index(by)]),
    };
    Some(Count { at, step, steps })
}

/// The condition that parts the last step from the others, and whether the loop goes on where it is true.
fn end<'e>(expr: &'e Expr, function: &Function) -> Option<(&'e Expr, bool)> {
    match expr.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => end(body, function),
        Term::If(cond, a, b) => match (calls(a, &function.name), calls(b, &function.name)) {
            (true, false) if without_calls(a, function).is_none() => Some((cond, true)),
            (false, true) if without_calls(b, function).is_none() => Some((cond, false)),
            _ => None,
        },
        _ => None,
    }
}

/// The term in the steps before the last, which [`end`] parts.
fn going_on(expr: &Expr, function: &Function) -> Option<Expr> {
    let new = match expr.term() {
        Term::Let(x, value, body) => Expr::let_(x.clone(), value.clone(), going_on(body, function)?),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, going_on(body, function)?),
        Term::If(_, a, b) => return Some(if calls(a, &function.name) { a.clone() } else { b.clone() }),
        _ => return None,
    };
    Some(new.at(expr.span()))
}

/// The comparison with its operands exchanged.
fn turned(prim: Prim) -> Option<Prim> {
    Some(match prim {
        Prim::Lt => Prim::Gt,
        Prim::Le => Prim::Ge,
        Prim::Gt => Prim::Lt,
        Prim::Ge => Prim::Le,
        Prim::Eq | Prim::Ne => prim,
        _ => return None,
    })
}

/// The comparison of Indexes that holds where this one does not.
fn opposite(prim: Prim) -> Option<Prim> {
    Some(match prim {
        Prim::Lt => Prim::Ge,
        Prim::Le => Prim::Gt,
        Prim::Gt => Prim::Le,
        Prim::Ge => Prim::Lt,
        Prim::Eq => Prim::Ne,
        Prim::Ne => Prim::Eq,
        _ => return None,
    })
}
