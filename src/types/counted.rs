//! Loops that count: tail calls that bring an Index nearer to a bound by a fixed step are as many as the way is long.
//!
//! In: a function that calls itself in tail position, and those calls. Out: its body with an `ifold` in their place, whose count is known
//! before it begins, so that derivatives, rules and targets see a loop like every other, or without a loop where only the counter changes;
//! `None` where something else ends the loop.
//!
//!     go i s = if i >= n then s else go (i + 1) (s + v[i])   →   go i s = ifold (fun s k -> s + v[i + k]) s (max i n - i)
//!
//! Of Indexes and Bools, [`on_the_way_back`] makes such a loop also where the call is not the last thing that the function does.
//!
//! The bound is an Index that no call changes and that cannot fail. A loop that ends where two Indexes are equal and that counts away from
//! there has a negative count, which fails, where the calls would go around all Indexes.

use super::self_calls::{Changed, calls, changed, named, self_call, without_calls};
use crate::ir::free::any_free_var;
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Expr, Function, Prim, Size, Term, Type, Var};

/// The body with a fold in the place of the tail calls.
pub(super) fn counted(function: &Function, calls: &[&[Expr]], changed: &[usize]) -> Option<Expr> {
    let (cond, goes_on) = end(&function.body, function)?;
    let bound = Bound::of(cond, goes_on, function, changed)?;
    let step = bound.step(calls)?;
    let state = Changed { function, changed: changed.iter().copied().filter(|at| *at != bound.at).collect() };
    let steps = Var::fresh("steps", Type::INDEX);
    if state.changed.is_empty() {
        // a step that is the call alone computes nothing: what is left is the last one
        self_call(&going_on(&function.body, function)?, function)?;
        let last = (bound.counter.clone(), bound.after(step, &Size::var(&steps))?);
        let value = named(&without_calls(&function.body, function)?, &[last]);
        return Some(Expr::let_(steps, bound.steps(step)?, value));
    }
    let i = bound.counter.renewed(Type::Index(Some(Size::var(&steps))));
    let after = |steps: &Var| Some((bound.counter.clone(), bound.after(step, &Size::var(steps))?));
    let (acc, last) = (state.var(), state.var());
    let next = going_on(&freshen(&function.body), function)?.map_tails(&|leaf| match self_call(leaf, function) {
        Some(args) => state.values(args),
        None => leaf.clone(),
    });
    let next = named(&next, &[state.parts(&acc), vec![after(&i)?]].concat());
    let value = without_calls(&function.body, function)?;
    let value = named(&value, &[state.parts(&last), vec![after(&steps)?]].concat());
    let fold = Expr::fold_with(Expr::var(&steps), acc, i, next, state.init()).at(function.span);
    Some(Expr::let_(steps, bound.steps(step)?, Expr::let_(last, fold, value)))
}

/// The Index of a function whose calls all bring the counter nearer to the bound by fixed numbers and pass on all else as it is, from the
/// bound back; the state has as many values as the farthest call is steps away. All is done in every step, needed or not, so nothing in it
/// may fail: a size is of total operations alone.
///
///     fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)   →   (ifold (fun (a, b) k -> (a + b, a)) (…) (n - min n 1)).0
pub(super) fn on_the_way_back(function: &Function) -> Option<Expr> {
    let body = without_lets(&function.body, function);
    let (Term::If(cond, a, b), Type::Index(_)) = (body.term(), body.ty()) else { return None };
    let (goes_on, again, last) = match (calls(a, &function.name), calls(b, &function.name)) {
        (true, false) => (true, a, b),
        (false, true) => (false, b, a),
        _ => return None,
    };
    let mut calls = Vec::new();
    each_self_call(again, function, &mut calls);
    let changed = changed(function, &calls);
    let bound = Bound::of(cond, goes_on, function, &changed).filter(|_| changed.len() == 1)?;
    let away = calls.iter().map(|args| bound.away(args)).collect::<Option<Vec<_>>>()?;
    let step = away.iter().copied().reduce(common_divisor)?;
    let depth = away.iter().map(|away| away.checked_div(step)).max().flatten().filter(|depth| (1..=DEPTH).contains(depth))?;
    let is_one_way = away.iter().all(|away| away.checked_div(step).is_some_and(|times| times > 0));
    // past an equality that a longer call leaps over, nothing ends
    if !is_one_way || depth > 1 && bound.prim == Prim::Ne {
        return None;
    }
    let steps = Var::fresh("steps", Type::INDEX);
    let k = Var::fresh("k", Type::Index(Some(Size::var(&steps))));
    let state = Var::fresh("r", Type::tuple(vec![Type::INDEX; usize::try_from(depth).ok()?]));
    let at = |expr: &Expr, steps: Size| Some(freshen(&substitute(expr, &[(bound.counter.clone(), bound.after(step, &steps)?)])));
    let value = |args: &[Expr]| {
        let before = bound.away(args)?.checked_div(step)?.checked_sub(1)?;
        Some(Expr::proj(Expr::var(&state), usize::try_from(before).ok()?))
    };
    let next = at(&with_values(again, function, &value)?, Size::var(&steps).sub(&Size::constant(1)).sub(&Size::var(&k)))?;
    let kept = (0..depth - 1).map(|before| Some(Expr::proj(Expr::var(&state), usize::try_from(before).ok()?)));
    let next = std::iter::once(Some(next)).chain(kept).collect::<Option<_>>()?;
    let first = (0..depth).map(|before| at(last, Size::var(&steps).add(&Size::constant(before)))).collect::<Option<_>>()?;
    let fold = Expr::fold_with(Expr::var(&steps), state, k, Expr::tuple(next), Expr::tuple(first));
    Some(Expr::let_(steps, bound.steps(step)?, Expr::proj(fold, 0)))
}

/// So many values at most are the state of such a loop.
const DEPTH: i64 = 16;

/// With the sign of the first, which is not 0.
fn common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common_divisor(b, a.checked_rem(b).unwrap_or(0)).wrapping_abs().wrapping_mul(a.signum()) }
}

/// More nodes than this are no size: each let may use the one before twice.
const NODES: usize = 1000;

/// The term with what it binds first written in the place of the names.
pub(super) fn without_lets(expr: &Expr, function: &Function) -> Expr {
    if let Term::Let(x, value, body) = expr.term()
        && !calls(value, &function.name)
        && expr.node_count() <= NODES
    {
        without_lets(&substitute(body, &[(x.clone(), value.clone())]), function)
    } else {
        expr.clone()
    }
}

/// The calls of itself, wherever they are.
fn each_self_call<'e>(expr: &'e Expr, function: &Function, found: &mut Vec<&'e [Expr]>) {
    found.extend(self_call(expr, function));
    expr.term().children().for_each(|child| each_self_call(child, function, found));
}

/// The term with what its calls of itself give.
fn with_values(expr: &Expr, function: &Function, value: &dyn Fn(&[Expr]) -> Option<Expr>) -> Option<Expr> {
    if let Some(args) = self_call(expr, function) {
        return value(args);
    }
    let mut is_known = true;
    let new = map_children(expr, &mut |child| {
        with_values(child, function, value).unwrap_or_else(|| {
            is_known = false;
            child.clone()
        })
    });
    is_known.then_some(new)
}

/// Where a loop that counts ends.
struct Bound {
    /// The counter's position among the parameters.
    at: usize,
    counter: Var,
    /// What the counter is to the bound in all steps before the last.
    prim: Prim,
    bound: Size,
}

impl Bound {
    /// The one that a condition is, with which a loop goes on or ends.
    fn of(cond: &Expr, goes_on: bool, function: &Function, changed: &[usize]) -> Option<Bound> {
        let Term::Prim(prim, operands) = cond.term() else { return None };
        let [a, b] = operands.as_slice() else { return None };
        let is_bound = |expr: &Expr| {
            let is_passed_on = |var: &Var| {
                function.sizes.contains(var) || (0..function.params.len()).any(|at| function.params[at] == *var && !changed.contains(&at))
            };
            !any_free_var(expr, &mut |var| !is_passed_on(var))
        };
        let counter = |expr: &Expr| {
            let Term::Var(var) = expr.term() else { return None };
            changed.iter().copied().find(|at| var.ty() == &Type::INDEX && function.params[*at] == *var)
        };
        let (at, bound, prim) = match (counter(a), counter(b)) {
            (Some(at), None) if is_bound(b) => (at, b, *prim),
            (None, Some(at)) if is_bound(a) => (at, a, prim.turned()?),
            _ => return None,
        };
        let prim = if goes_on { prim } else { prim.opposite()? };
        Some(Bound { at, counter: function.params[at].clone(), prim, bound: Size::try_of_expr(bound)? })
    }

    /// What all calls add to the counter.
    fn step(&self, calls: &[&[Expr]]) -> Option<i64> {
        let first = self.away(calls.first()?)?;
        calls.iter().all(|args| self.away(args) == Some(first)).then_some(first)
    }

    /// What one call adds to the counter.
    fn away(&self, args: &[Expr]) -> Option<i64> {
        Size::try_of_expr(&args[self.at])?.sub(&Size::var(&self.counter)).as_constant()
    }

    /// How many steps of this size there are.
    fn steps(&self, step: i64) -> Option<Expr> {
        let (counter, one) = (Size::var(&self.counter), Size::constant(1));
        // no steps where the bound is behind the counter, decided before the subtraction, which may wrap
        let way = |end: Size| {
            let prim = if step > 0 { Prim::Max } else { Prim::Min };
            let end = Size::of_expr(&Expr::prim(prim, vec![counter.to_expr()?, end.to_expr()?]));
            Some(if step > 0 { end.sub(&counter) } else { counter.sub(&end) })
        };
        let by = step.checked_abs()?;
        let way = match self.prim {
            Prim::Ne if by == 1 => return if step > 0 { self.bound.sub(&counter) } else { counter.sub(&self.bound) }.to_expr(),
            Prim::Lt if step > 0 => way(self.bound.clone())?,
            Prim::Gt if step < 0 => way(self.bound.clone())?,
            Prim::Le if step > 0 => way(self.bound.add(&one))?,
            Prim::Ge if step < 0 => way(self.bound.sub(&one))?,
            _ => return None,
        };
        match by {
            1 => way.to_expr(),
            _ => Some(Expr::prim(Prim::Div, vec![way.add(&Size::constant(by - 1)).to_expr()?, Expr::index(by)])),
        }
    }

    /// The counter after so many steps.
    fn after(&self, step: i64, steps: &Size) -> Option<Expr> {
        Size::var(&self.counter).plus(step, steps).to_expr()
    }
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
