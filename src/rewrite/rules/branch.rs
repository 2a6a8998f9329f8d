//! Sums whose terms differ by a condition: what a branch adds in one step only is added once.
//!
//!     sum over i of (if i = 0 then a else (if i = k then b else 0) + c i)
//!       →   sum over i of (if i = 0 then a else c i), and sum over i of (if i = k then (if i = 0 then 0 else b) else 0)
//!
//! The second is no loop (`sum-one-hot`). So is the gradient of a sum over neighbours with a boundary, or with a kink, as
//! cheap as that without. Limits: the terms of a branch, behind its lets; a real-number law of group `algebra`.

use crate::ir::free::mentions;
use crate::ir::subst::freshen;
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::facts::Facts;

use super::loops::summands;
use super::ring::is_number;
use super::rules;

rules! {
    "sum-branch" Ring Algebra @ Fold: "ifold (fun s i -> s + (if c then (if i = k then a else 0) + b else d)) z n -> ifold (fun s i -> s + (if c then b else d)) (ifold (fun s i -> s + (if i = k then (if c then a else 0) else 0)) z n) n"
        if ["s is not in a, b, c, d", "i is not in k", "k total", "c holds in more than one step, or d is not 0"] => sum_branch;
}

/// A branch, and what it adds in one step only.
struct Hot<'a> {
    /// Whether the branch is where the condition holds.
    when: bool,
    lets: Vec<(&'a Var, &'a Expr)>,
    /// `i = k`, what is added there, and whether it is added.
    cond: Expr,
    term: Expr,
    positive: bool,
    /// What else the branch adds.
    rest: Vec<(Expr, bool)>,
}

fn sum_branch(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    if expr.ty() != &Type::Double {
        return None;
    }
    let (lets, sum) = behind_lets(body);
    let mut terms = Vec::new();
    summands(sum, true, &mut terms);
    let is_acc = |e: &Expr| matches!(e.term(), Term::Var(var) if var == acc);
    let at = terms.iter().position(|(term, positive)| *positive && is_acc(term))?;
    terms.remove(at);
    let (at, hot) = terms.iter().enumerate().find_map(|(at, (term, _))| Some((at, hot(term, i, &lets, facts)?)))?;
    let Term::If(c, a, b) = terms[at].0.term() else { return None };
    let recurs = terms.iter().any(|(term, _)| mentions(term, acc)) || lets.iter().any(|(_, value)| mentions(value, acc));
    facts.require("s is not in a, b, c, d", !recurs, sum)?;
    facts.require("k total", facts.is_total(&hot.cond), &hot.cond)?;
    let choose =
        |branch: Expr, other: Expr| if hot.when { Expr::if_(c.clone(), branch, other) } else { Expr::if_(c.clone(), other, branch) };
    let inside = |e: Expr| with_lets(&hot.lets, e);
    let once = Expr::if_(hot.cond.clone(), choose(inside(hot.term.clone()), Expr::double(0.0)), Expr::double(0.0));
    let rest = match hot.rest.split_first() {
        None => Expr::double(0.0),
        Some(((first, positive), rest)) => {
            let first = if *positive { first.clone() } else { Expr::prim(Prim::Neg, vec![first.clone()]) };
            inside(rest.iter().fold(first, |sum, (term, positive)| plus(sum, term, *positive)))
        }
    };
    let other = if hot.when { b } else { a };
    let positive = terms[at].1;
    let rest = choose(rest, other.clone());
    let step = |init: Expr, terms: &[(Expr, bool)]| {
        let sum = terms.iter().fold(Expr::var(acc), |sum, (term, positive)| plus(sum, term, *positive));
        Expr::fold_with(n.clone(), acc.clone(), i.clone(), with_lets(&lets, sum), init)
    };
    let first = freshen(&step(init.clone(), &[(once, positive == hot.positive)]));
    let others: Vec<_> =
        terms.iter().enumerate().map(|(other, term)| if other == at { (rest.clone(), positive) } else { term.clone() }).collect();
    Some(freshen(&step(first, &others)))
}

/// A term of a branch that is zero but in one step; none where the whole condition is zero but in one step.
fn hot<'a>(term: &'a Expr, i: &Var, outer: &[(&Var, &Expr)], facts: &Facts) -> Option<Hot<'a>> {
    let Term::If(c, a, b) = term.term() else { return None };
    let is_once = is_number(b, 0.0) && one_step(c, i, outer, facts);
    if !facts.grants("c holds in more than one step, or d is not 0", !is_once) {
        return None;
    }
    [(a, true), (b, false)].into_iter().find_map(|(branch, when)| {
        let (lets, sum) = behind_lets(branch);
        let mut rest = Vec::new();
        summands(sum, true, &mut rest);
        let at = rest.iter().position(|(term, _)| match term.term() {
            Term::If(cond, _, zero) => {
                is_number(zero, 0.0) && one_step(cond, i, outer, facts) && !lets.iter().any(|(x, _)| mentions(cond, x))
            }
            _ => false,
        })?;
        let (hot, positive) = rest.remove(at);
        let Term::If(cond, term, _) = hot.term() else { return None };
        Some(Hot { when, lets, cond: cond.clone(), term: term.clone(), positive, rest })
    })
}

/// Whether a condition is `i = k`, which holds in one step at most.
fn one_step(cond: &Expr, i: &Var, lets: &[(&Var, &Expr)], facts: &Facts) -> bool {
    let Term::Prim(Prim::Eq, args) = cond.term() else { return false };
    let [a, b] = args.as_slice() else { return false };
    let is_i = |e: &Expr| matches!(e.term(), Term::Var(var) if var == i);
    let k = if is_i(a) { b } else { a };
    let is_fixed = !mentions(k, i) && !lets.iter().any(|(x, _)| mentions(k, x));
    (is_i(a) || is_i(b)) && facts.grants("i is not in k", is_fixed)
}

fn plus(sum: Expr, term: &Expr, positive: bool) -> Expr {
    Expr::prim(if positive { Prim::Add } else { Prim::Sub }, vec![sum, term.clone()])
}

/// The lets that an expression begins with, and what stands behind them.
fn behind_lets(expr: &Expr) -> (Vec<(&Var, &Expr)>, &Expr) {
    let (mut lets, mut inner) = (Vec::new(), expr);
    while let Term::Let(x, value, body) = inner.term() {
        lets.push((x, value));
        inner = body;
    }
    (lets, inner)
}

fn with_lets(lets: &[(&Var, &Expr)], body: Expr) -> Expr {
    lets.iter().rev().fold(body, |body, (x, value)| Expr::let_((*x).clone(), (*value).clone(), body))
}
