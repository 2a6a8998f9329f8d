//! Sums whose terms have conditions: a term that a branch adds in one step only gets a sum of its own.
//!
//!     sum over i of (if i = 0 then a else (if i = k then b else 0) + c i)
//!       →   sum over i of (if i = 0 then a else c i), and sum over i of (if i = k then (if i = 0 then 0 else b) else 0)
//!
//! The second then becomes a single step (`sum-one-hot`). So the gradient of a sum over neighbours with a boundary or a kink costs as
//! much as one without. A step that adds in its branches, `if i = 0 then s else s + c i`, is such a sum too. Limits: terms of
//! nested branches, below their lets; a real-number law of group `algebra`.

use crate::ir::free::{any_free_var, mentions};
use crate::ir::subst::freshen;
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::added::{Added, Around, accumulated};
use crate::rewrite::atoms::is_number;
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;
use crate::rewrite::sum;

use super::rules;

rules! {
    "sum-branch" Ring Algebra @ Fold: "ifold (fun s i -> s + (if c then (if i = k then a else 0) + b else d)) z n -> ifold (fun s i -> s + (if c then b else d)) (ifold (fun s i -> s + (if i = k then (if c then a else 0) else 0)) z n) n"
        if ["s is not free in a, b, c, d", "i is not free in k", "k total", "c holds in more than one step, or d is not 0"] => sum_branch;
    "mul-if" Ring Algebra @ Product: "a * (if i = k then b else 0) -> if i = k then a * b else 0 where the innermost fold runs over i, and a is no loop that could leave it; and so for what is divided by a"
        if ["a total"] => mul_if;
}

/// The factors of a single step's term are computed in that step only.
fn mul_if(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Prim(prim @ (Prim::Mul | Prim::Div), args) = expr.term() else { return None };
    let ([a, b], Type::Double) = (args.as_slice(), expr.ty()) else { return None };
    let i = facts.innermost_fold()?;
    let parts = |hot: &Expr| match hot.term() {
        Term::If(cond, once, zero) if is_number(zero, 0.0) && other_side(cond, i).is_some() => Some((cond.clone(), once.clone())),
        _ => None,
    };
    let (cond, product, factor) = match (parts(a), parts(b)) {
        (Some((cond, once)), _) => (cond, Expr::prim(*prim, vec![once, b.clone()]), b),
        (None, Some((cond, once))) if *prim == Prim::Mul => (cond, Expr::prim(Prim::Mul, vec![a.clone(), once]), a),
        _ => return None,
    };
    // one element of an array that `hoist-array` makes, and may be needed elsewhere
    let is_of_step = |x: &Var| facts.value(x).is_some() && facts.level(&Expr::var(x)) == facts.loops();
    if Work::of(factor).loops > 0 && !any_free_var(factor, &mut |x| is_of_step(x)) {
        return None;
    }
    facts.require("a total", facts.is_total(factor), factor)?;
    Some(Expr::if_(cond, product, Expr::double(0.0)))
}

/// The term that a sum adds in one step only, and the sum without it.
struct Taken {
    /// `i = k`, and what is added there: added, or taken away.
    cond: Expr,
    once: Expr,
    positive: bool,
    rest: Expr,
}

fn sum_branch(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    if expr.ty() != &Type::Double {
        return None;
    }
    let added = Added::of(body, acc)?;
    let (at, taken) = added.terms.iter().enumerate().find_map(|(at, (term, _))| Some((at, of_choice(term, i, facts)?)))?;
    facts.require("s is not free in a, b, c, d", !added.mentions(acc), body)?;
    let Taken { cond, once, positive, rest } = taken;
    if added.has_let_in(&cond) {
        return None;
    }
    facts.require("k total", facts.is_total(&cond), &cond)?;
    let step = |init: Expr, terms: Vec<(Expr, bool)>| {
        let body = added.behind(accumulated(acc, terms)?);
        Some(Expr::fold_with(n.clone(), acc.clone(), i.clone(), body, init))
    };
    let once = Expr::if_(cond, once, Expr::double(0.0));
    let first = freshen(&step(init.clone(), vec![(once, added.terms[at].1 == positive)])?);
    let mut terms = added.terms.clone();
    terms[at].0 = rest;
    Some(freshen(&step(first, terms)?))
}

/// What a term that is a choice adds in one step only; none where the whole term is zero but in one step.
fn of_choice(term: &Expr, i: &Var, facts: &Facts) -> Option<Taken> {
    let Term::If(c, a, b) = term.term() else { return None };
    let is_once = is_number(b, 0.0) && one_step(c, i, facts);
    if !facts.grants("c holds in more than one step, or d is not 0", !is_once) {
        return None;
    }
    let zero = || Expr::double(0.0);
    if let Some(Taken { cond, once, positive, rest }) = of_branch(a, i, facts) {
        let once = Expr::if_(c.clone(), once, zero());
        return Some(Taken { cond, once, positive, rest: Expr::if_(c.clone(), rest, b.clone()) });
    }
    let Taken { cond, once, positive, rest } = of_branch(b, i, facts)?;
    let once = Expr::if_(c.clone(), zero(), once);
    Some(Taken { cond, once, positive, rest: Expr::if_(c.clone(), a.clone(), rest) })
}

/// The term that a branch adds in one step only, directly or in a nested branch.
fn of_branch(branch: &Expr, i: &Var, facts: &Facts) -> Option<Taken> {
    let mut branch = behind_lets(branch);
    let (at, taken) = branch.terms.iter().enumerate().find_map(|(at, (term, _))| {
        let taken = match term.term() {
            Term::If(cond, once, zero) if is_number(zero, 0.0) && one_step(cond, i, facts) => {
                Taken { cond: cond.clone(), once: once.clone(), positive: true, rest: Expr::double(0.0) }
            }
            _ => of_choice(term, i, facts)?,
        };
        (!branch.has_let_in(&taken.cond)).then_some((at, taken))
    })?;
    let positive = branch.terms[at].1 == taken.positive;
    if is_number(&taken.rest, 0.0) {
        branch.terms.remove(at);
    } else {
        branch.terms[at].0 = taken.rest;
    }
    let once = branch.behind(taken.once);
    Some(Taken { cond: taken.cond, once, positive, rest: branch.whole() })
}

/// Whether a condition is `i = k`, which holds in one step at most.
fn one_step(cond: &Expr, i: &Var, facts: &Facts) -> bool {
    other_side(cond, i).is_some_and(|k| facts.grants("i is not free in k", !mentions(k, i)))
}

/// k where a condition is `i = k`, or `k = i`.
fn other_side<'a>(cond: &'a Expr, i: &Var) -> Option<&'a Expr> {
    let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    let is_i = |e: &Expr| matches!(e.term(), Term::Var(var) if var == i);
    if is_i(a) { Some(b) } else { is_i(b).then_some(a) }
}

/// The terms of a branch, below its leading lets.
fn behind_lets(branch: &Expr) -> Added {
    let (mut around, mut sum) = (Vec::new(), branch);
    while let Term::Let(x, value, body) = sum.term() {
        around.push(Around::Let(x.clone(), value.clone()));
        sum = body;
    }
    let mut terms = Vec::new();
    sum::terms(sum, true, &mut terms);
    Added { around, terms }
}
