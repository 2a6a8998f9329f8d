//! Figure 8e: projections of tuples, also where a let, a check or an `if` stands between.
//!
//!     (a, b).0                       →  a
//!     (let x = a in (b, c)).1        →  let x = a in c     by let-float, then project

use crate::ir::{Expr, Term};
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "project" Tuple @ Proj: "(e0, e1).k -> ek" => project;
    "tuple-eta" Tuple @ Any: "(e.0, e.1) -> e if e is a variable" => tuple_eta;
}

fn project(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Proj(tuple, k) = expr.term() else { return None };
    let Term::Tuple(parts) = tuple.term() else { return None };
    parts.get(*k).cloned()
}

fn tuple_eta(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Tuple(parts) = expr.term() else { return None };
    let part = |at: usize| match parts.get(at)?.term() {
        Term::Proj(tuple, k) if *k == at => match tuple.term() {
            Term::Var(var) => Some((var, tuple)),
            _ => None,
        },
        _ => None,
    };
    let (var, tuple) = part(0)?;
    let all = (0..parts.len()).all(|at| part(at).is_some_and(|(other, _)| other == var));
    (all && tuple.ty() == expr.ty()).then(|| tuple.clone())
}
