//! Equations of Indexes are solved for the variable of the fold, so that a condition selects a single step syntactically.
//!
//!     j = i + 1                       →  j - 1 = i
//!     if j = 2 * i then a else 0      →  if j % 2 = 0 then (if j / 2 = i then a else 0) else 0
//!
//! In the derivative of a loop that reads `x[i + 1]` or `x[2 * i]` the loop over i then is at most one step. Limits: literal
//! factors; with a factor the sides must not wrap.

use crate::ir::free::mentions;
use crate::ir::{Atom, Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::atoms::copy;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "eq-order"   Conditional @ Equation: "j = i -> i = j" if ["i is bound in an outer scope"] => eq_order;
    "eq-solve"   Conditional @ Equation: "j = i + k -> j - k = i where the innermost fold runs over i" => eq_solve;
    "if-divide"  Conditional @ If: "if j = 2 * i then a else b -> if j % 2 = 0 then (if j / 2 = i then a else b) else b where the innermost fold runs over i"
        if ["b is atomic", "j is loop-invariant", "2 * i and j do not wrap"] => if_divide;
}

/// A canonical form for the equality of two variables.
fn eq_order(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Prim(Prim::Eq, args) = expr.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    let (Term::Var(x), Term::Var(y)) = (a.term(), b.term()) else { return None };
    facts.grants("i is bound in an outer scope", facts.is_outside(y, x)).then(|| Expr::prim(Prim::Eq, vec![b.clone(), a.clone()]))
}

/// An equation that selects a step is solved for the fold's variable: `x[i + 1]` too is then read in one step only.
fn eq_solve(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Prim(Prim::Eq, args) = expr.term() else { return None };
    let i = facts.innermost_fold()?;
    let is_solved = args.iter().any(|arg| matches!(arg.term(), Term::Var(var) if var == i));
    let k = if is_solved { None } else { solution(expr, i) }?;
    Some(Expr::prim(Prim::Eq, vec![k, Expr::var(i)]))
}

/// The k for which an equation of Indices is `i = k`.
pub fn solution(cond: &Expr, i: &Var) -> Option<Expr> {
    let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    if !matches!(a.ty(), Type::Index(_)) {
        return None;
    }
    let (difference, alone) = (Size::try_of_expr(a)?.sub(&Size::try_of_expr(b)?), Size::var(i));
    let (_, factor) = difference.terms().find(|(monomial, _)| monomial.as_ref() == [Atom::Var(i.clone())])?;
    let k = match factor {
        1 => alone.sub(&difference),
        -1 => alone.add(&difference),
        _ => return None,
    };
    if k.mentions(i) { None } else { k.to_expr() }
}

/// An equation with a multiple of the fold's variable: `x[2 * i]` too is read in at most one step.
fn if_divide(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::If(cond, hot, cold) = expr.term() else { return None };
    let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    let i = facts.innermost_fold()?;
    if !matches!(a.ty(), Type::Index(_)) || !mentions(cond, i) {
        return None;
    }
    let difference = Size::try_of_expr(a)?.sub(&Size::try_of_expr(b)?);
    let (_, factor) = difference.terms().find(|(monomial, _)| monomial.as_ref() == [Atom::Var(i.clone())])?;
    let multiple = Size::var(i).mul(&Size::constant(factor));
    // factor * i = j
    let (multiple, j) =
        if factor > 0 { (multiple.clone(), multiple.sub(&difference)) } else { (multiple.neg(), difference.sub(&multiple)) };
    let factor = factor.checked_abs().filter(|factor| *factor > 1)?;
    if j.mentions(i) {
        return None;
    }
    let at = j.to_expr()?;
    facts.require("b is atomic", cold.is_atom(), cold)?;
    facts.require("j is loop-invariant", facts.level(&at) < facts.loops(), &at)?;
    facts.require("2 * i and j do not wrap", facts.never_wraps(&multiple) && facts.never_wraps(&j), cond)?;
    let by = |prim| Expr::prim(prim, vec![copy(&at), Expr::index(factor)]);
    let is_it = Expr::prim(Prim::Eq, vec![by(Prim::Div), Expr::var(i)]);
    let divides = Expr::prim(Prim::Eq, vec![by(Prim::Rem), Expr::index(0)]);
    Some(Expr::if_(divides, Expr::if_(is_it, hot.clone(), cold.clone()), cold.clone()))
}
