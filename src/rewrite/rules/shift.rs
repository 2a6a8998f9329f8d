//! Scatter to gather: accumulation at shifted indices becomes a `build` whose elements gather their terms, as in the backward pass of a
//! stencil.
//!
//!     ifold (fun a i -> accumulate a (i + c) e) z n
//!       →  build (length z) (fun j -> if c <= j && j - c < n then (let i = j - c in z[j] + e) else z[j])
//!
//!     ifold (fun a i -> accumulate (accumulate a i x[i]) (i + 1) (r * x[i])) z n
//!       →  build (length z) (fun j -> z[j] + (r * x[j - 1] unless j = 0) + (x[j] unless j = n))
//!
//! The iterations of the `build` are independent, so it can be vectorised and run in parallel, and needs no initialised array.
//! An element gathers the larger shifts first: these are the earlier iterations, so that sums keep their order.
//! Limits: arrays of Doubles; shifts that are literals, `SEVERAL` of them at most.

use std::collections::BTreeSet;

use crate::ir::free::mentions;
use crate::ir::subst::freshen;
use crate::ir::{Change, Expr, Prim, Size, Term, Type, Updated, Var};
use crate::rewrite::atoms::copy;
use crate::rewrite::cost::is_costly;
use crate::rewrite::facts::Facts;

use super::loops::at_index;
use super::rules;
use super::unroll::SEVERAL;

rules! {
    "collect-shifted" Loop Normalisation @ Fold: "ifold (fun a i -> accumulate a (i + c) e) z n -> build (length z) (fun j -> if c <= j && j - c < n then z[j] + e else z[j])"
        if ["a is not free in e", "e total", "0 <= i + c && i + c < length z", "0 <= n", "several shifts share no loop, quotient, root or function"] => collect_shifted;
}

fn collect_shifted(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    let Type::Array(element, length) = acc.ty() else { return None };
    if !body.has_updates() || element.as_ref() != &Type::Double {
        return None;
    }
    let mut shifts = BTreeSet::new();
    each_shift(body, acc, i, &mut shifts)?;
    if shifts.iter().all(|shift| *shift == 0) || i64::try_from(shifts.len()).ok()? > SEVERAL {
        return None;
    }
    let count = Size::try_of_expr(n)?;
    facts.require("several shifts share no loop, quotient, root or function", shifts.len() == 1 || is_cheap(body), body)?;
    facts.require("0 <= n", facts.non_negative(&count), n)?;
    let mut inside = facts.clone();
    inside.enter_accumulator(acc);
    inside.enter_loop(i, n);
    is_collected(body, acc, &mut inside, facts)?;
    let length_of_z = length.to_expr()?;
    let gathered = |z: Expr| {
        Expr::build(length_of_z, "j", |j| {
            let first = Expr::get(z, j.clone());
            shifts.iter().rev().fold(first, |sum, shift| {
                let (prim, by) = if *shift < 0 { (Prim::Add, shift.saturating_neg()) } else { (Prim::Sub, *shift) };
                let from = Expr::prim(prim, vec![j.clone(), Expr::index(by)]);
                let low = (*shift > 0).then(|| Expr::prim(Prim::Le, vec![Expr::index(*shift), j.clone()]));
                let all_below = *shift >= 0 && facts.at_most(length, &count);
                let high = (!all_below).then(|| Expr::prim(Prim::Lt, vec![from.clone(), n.clone()]));
                Expr::bind("sum", sum, |sum| {
                    let from = if *shift == 0 { j.clone() } else { from };
                    let step = freshen(&at_index(i, from, &gather(body, i, *shift, &sum)));
                    match low.into_iter().chain(high).reduce(|a, b| Expr::prim(Prim::And, vec![a, b])) {
                        Some(is_there) => Expr::if_(is_there, step, sum),
                        None => step,
                    }
                })
            })
        })
    };
    if matches!(init.term(), Term::Build { .. }) {
        return Some(gathered(copy(init)));
    }
    Some(Expr::bind("z", init.clone(), gathered))
}

/// Whether all that a step computes may be computed once for each of several shifts.
fn is_cheap(expr: &Expr) -> bool {
    match expr.term() {
        Term::Build { .. } | Term::Fold { .. } | Term::Call(..) => false,
        Term::Prim(prim, _) if is_costly(*prim) => false,
        _ => expr.term().children().all(is_cheap),
    }
}

/// By how much the index of an update is more than the loop's.
fn shift(updated: &Updated, i: &Var) -> Option<i64> {
    let [index] = updated.indices else { return None };
    Size::try_of_expr(index)?.sub(&Size::var(i)).as_constant()
}

/// The shifts of a step that does nothing with its array but add to elements at shifted indices; `None` for another step.
fn each_shift(expr: &Expr, array: &Var, i: &Var, shifts: &mut BTreeSet<i64>) -> Option<()> {
    match expr.term() {
        Term::Var(var) => (var == array).then_some(()),
        Term::Let(_, _, body) => each_shift(body, array, i, shifts),
        Term::If(_, a, b) => {
            each_shift(a, array, i, shifts)?;
            each_shift(b, array, i, shifts)
        }
        Term::Update(Change::Add, parts) => {
            let updated = Updated::of(parts)?;
            shifts.insert(shift(&updated, i)?);
            each_shift(updated.array, array, i, shifts)
        }
        _ => None,
    }
}

/// Whether what a step adds needs nothing of the array, cannot fail, and goes to elements that are there.
fn is_collected(expr: &Expr, array: &Var, inside: &mut Facts, facts: &Facts) -> Option<()> {
    let stands_alone = |part: &Expr, inside: &Facts| {
        facts.require("a is not free in e", !mentions(part, array), part)?;
        facts.require("e total", inside.is_total(part), part)
    };
    match expr.term() {
        Term::Let(var, value, body) => {
            stands_alone(value, inside)?;
            inside.enter_let(var, value);
            is_collected(body, array, inside, facts)
        }
        Term::If(cond, a, b) => {
            stands_alone(cond, inside)?;
            [(a, true), (b, false)].into_iter().try_for_each(|(branch, holds)| {
                let mark = inside.mark();
                inside.assume(cond, holds);
                let collected = is_collected(branch, array, inside, facts);
                inside.back_to(mark);
                collected
            })
        }
        Term::Update(_, parts) => {
            let updated = Updated::of(parts)?;
            stands_alone(updated.value, inside)?;
            let is_there = updated.indices.iter().zip(array.ty().dims()).all(|(index, length)| inside.in_range(index, &length));
            facts.require("0 <= i + c && i + c < length z", is_there, expr)?;
            is_collected(updated.array, array, inside, facts)
        }
        _ => Some(()),
    }
}

/// What a step makes of the element at its own index and the shift, which is `before` before.
fn gather(expr: &Expr, i: &Var, by: i64, before: &Expr) -> Expr {
    match expr.term() {
        Term::Let(var, value, body) => Expr::let_(var.clone(), value.clone(), gather(body, i, by, before)),
        Term::If(cond, a, b) => Expr::if_(cond.clone(), gather(a, i, by, before), gather(b, i, by, before)),
        Term::Update(_, parts) => match Updated::of(parts) {
            Some(updated) => {
                let rest = gather(updated.array, i, by, before);
                if shift(&updated, i) == Some(by) { Expr::prim(Prim::Add, vec![rest, updated.value.clone()]) } else { rest }
            }
            None => before.clone(),
        },
        _ => before.clone(),
    }
}
