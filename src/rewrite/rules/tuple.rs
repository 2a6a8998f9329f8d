//! 001 Figure 8e: projections of tuples, also where a let, a check or an `if` stands between.
//!
//!     (a, b).0                       →  a
//!     (let x = a in (b, c)).1        →  let x = a in c     by let-float, then project

use crate::ir::{Expr, Term};
use crate::rewrite::alike::same;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "project" ["001 Fig. 8e"] Tuple @ Proj: "(e0, e1).k -> ek" => project;
    "tuple-eta" Tuple @ Tuple: "(e.0, e.1) -> e" => tuple_eta;
}

fn project(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Proj(tuple, k) = expr.term() else { return None };
    let Term::Tuple(parts) = tuple.term() else { return None };
    parts.get(*k).cloned()
}

fn tuple_eta(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Tuple(parts) = expr.term() else { return None };
    let mut tuples = parts.iter().enumerate().map(|(at, part)| match part.term() {
        Term::Proj(tuple, k) if *k == at => Some(tuple),
        _ => None,
    });
    let tuple = tuples.next()??;
    let all = tuples.all(|other| other.is_some_and(|other| same(other, tuple)));
    (all && tuple.ty() == expr.ty()).then(|| tuple.clone())
}
