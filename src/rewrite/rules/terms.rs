//! Sums in the elements of a `build`, term by term: a term that only some elements have is added where they have it.
//!
//!     build n (fun r -> ifold (fun s i -> s + ((if r = k[i] then a else 0) + b)) z m)
//!       →  build n (fun r -> ifold (fun s i -> (if r = k[i] then s + a else s) + b) z m)
//!
//! What `build-scatter` then scatters. A sum in a term becomes a loop of the same sum.

use crate::ir::free::mentions;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::facts::Facts;

use super::rules;
use super::scatter::LARGEST;

rules! {
    "sum-terms" Ring Algebra @ Build: "build n (fun r -> ifold (fun s i -> s + ((if r = k then a else 0) + b)) z m) -> build n (fun r -> ifold (fun s i -> (if r = k then s + a else s) + b) z m)" => sum_terms;
}

/// The sums in a `build` with each of their terms added by itself.
fn sum_terms(expr: &Expr, _: &Facts) -> Option<Expr> {
    if !expr.has_conditions() || expr.has_updates() || expr.node_count() > LARGEST {
        return None;
    }
    let after = each_sum(expr);
    (!same(&after, expr)).then_some(after)
}

fn each_sum(expr: &Expr) -> Expr {
    match expr.term() {
        _ if !expr.has_conditions() => expr.clone(),
        Term::Fold { n, acc, i, body, init } if is_sum(body, acc) => {
            Expr::fold_with(n.clone(), acc.clone(), i.clone(), by_terms(body, acc), each_sum(init)).at(expr.span())
        }
        _ => map_children(expr, &mut each_sum),
    }
}

/// Whether a step does nothing but add to its accumulator.
fn is_sum(step: &Expr, acc: &Var) -> bool {
    match step.term() {
        Term::Var(var) => var == acc,
        Term::Let(_, before, rest) | Term::Check { cond: before, body: rest, .. } => !mentions(before, acc) && is_sum(rest, acc),
        Term::If(cond, a, b) => !mentions(cond, acc) && is_sum(a, acc) && is_sum(b, acc),
        Term::Prim(Prim::Add, args) => match args.as_slice() {
            [a, b] => is_sum(a, acc) && !mentions(b, acc) || is_sum(b, acc) && !mentions(a, acc),
            _ => false,
        },
        Term::Prim(Prim::Sub, args) => matches!(args.as_slice(), [a, b] if is_sum(a, acc) && !mentions(b, acc)),
        _ => false,
    }
}

/// The step of a sum with each of its terms added by itself.
fn by_terms(step: &Expr, acc: &Var) -> Expr {
    match step.term() {
        Term::Let(x, value, rest) => Expr::let_(x.clone(), value.clone(), by_terms(rest, acc)),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, by_terms(body, acc)),
        Term::If(cond, a, b) => Expr::if_(cond.clone(), by_terms(a, acc), by_terms(b, acc)),
        Term::Prim(prim @ (Prim::Add | Prim::Sub), args) => match args.as_slice() {
            [term, sum] if *prim == Prim::Add && mentions(sum, acc) => plus(by_terms(sum, acc), term, false),
            [sum, term] => plus(by_terms(sum, acc), term, *prim == Prim::Sub),
            _ => step.clone(),
        },
        _ => step.clone(),
    }
}

/// The sum with a term's own terms added, or subtracted, one after the other.
pub(super) fn plus(sum: Expr, term: &Expr, minus: bool) -> Expr {
    match term.term() {
        Term::Double(0.0) => sum,
        Term::Prim(prim @ (Prim::Add | Prim::Sub | Prim::Neg), args) if term.has_conditions() => {
            args.iter().enumerate().fold(sum, |sum, (at, arg)| {
                let turned = *prim == Prim::Neg || *prim == Prim::Sub && at == 1;
                plus(sum, arg, minus ^ turned)
            })
        }
        Term::If(cond, a, b) => Expr::bind("s", sum, |sum| Expr::if_(cond.clone(), plus(sum.clone(), a, minus), plus(sum, b, minus))),
        Term::Let(x, value, rest) if value.ty() == &Type::Double && !minus && is_sum(rest, x) => {
            Expr::let_(x.clone(), plus(sum, value, minus), by_terms(rest, x))
        }
        Term::Let(x, value, rest) if term.has_conditions() => Expr::let_(x.clone(), value.clone(), plus(sum, rest, minus)),
        Term::Fold { n, acc, i, body, init } if !minus && is_sum(body, acc) && term.has_conditions() => {
            Expr::fold_with(n.clone(), acc.clone(), i.clone(), by_terms(body, acc), plus(sum, init, minus))
        }
        _ => Expr::prim(if minus { Prim::Sub } else { Prim::Add }, vec![sum, term.clone()]),
    }
}
