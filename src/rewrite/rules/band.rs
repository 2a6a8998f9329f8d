//! Sparse rows: an array whose elements are zero but at a few indices is cleared, and these are set.
//!
//!     build m (fun j -> (if j = k then a else 0) + (if j - 1 = k then b else 0))
//!       →  accumulate (update (build m (fun j -> 0)) k a) (k + 1) b
//!
//! As the rows of a Hessian or of JᵀJ that is a band: clearing memory is as fast as writing can be. One condition alone stays:
//! it is asked while the row is written.

use crate::ir::subst::map_children;
use crate::ir::{Change, Expr, Prim, Term, Type, Var};
use crate::rewrite::facts::Facts;

use super::rules;
use super::scatter::{LARGEST, row_of};
use super::terms::plus;

rules! {
    "build-band" Ring Algebra @ Build: "build m (fun j -> (if j = k then a else 0) + (if j = l then b else 0)) -> accumulate (update (build m (fun j -> 0)) k a) l b"
        if ["a, b, k and l total"] => build_band;
}

fn build_band(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    if body.ty() != &Type::Double || !body.has_conditions() || body.node_count() > LARGEST || is_one_hot(body) {
        return None;
    }
    let zeros = Expr::build_with(n.clone(), i.renewed(i.ty().clone()), Expr::double(0.0));
    let (acc, sums) = (Var::fresh("s", Type::Double), Var::fresh("row", zeros.ty().clone()));
    let step = plus(Expr::var(&acc), body, false);
    let row = row_of(facts, (n, i), &acc, &step, Expr::var(&sums), "a, b, k and l total")?;
    Some(Expr::let_(sums.clone(), zeros, with_first(&row, &sums)))
}

/// The first element that is set in a row of zeros replaces one.
fn with_first(expr: &Expr, row: &Var) -> Expr {
    let new = map_children(expr, &mut |child| with_first(child, row));
    match new.term() {
        Term::Update(Change::Add, parts) if matches!(parts.first().map(Expr::term), Some(Term::Var(var)) if var == row) => {
            Expr::with_type(Term::Update(Change::Replace, parts.clone()), new.ty().clone(), new.span())
        }
        _ => new,
    }
}

/// Whether an element is a number where two indices are equal, and another elsewhere.
fn is_one_hot(element: &Expr) -> bool {
    let Term::If(cond, part, zero) = element.term() else { return false };
    matches!(cond.term(), Term::Prim(Prim::Eq, _)) && !part.has_conditions() && matches!(zero.term(), Term::Double(_))
}
