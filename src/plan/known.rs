//! A walk over a term with what is known at each place: the loops, lets, conditions and checks around it.
//!
//! In: a term, the facts that hold where it stands, and what to make of each child. Out: the term with the results in the
//! children's places.
//!
//!     build(n, i. e)   →   build(n, i. f(e)), where f knows that 0 <= i < n

use crate::ir::prove::Facts;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Term, Type};

/// The term with `f` of each child, which is told the facts that hold there.
pub fn map_known(expr: &Expr, facts: &Facts, f: &mut dyn FnMut(&Expr, &Facts) -> Expr) -> Expr {
    let inside = |learn: &dyn Fn(&mut Facts)| {
        let mut inner = facts.clone();
        learn(&mut inner);
        inner
    };
    // what the children know, in the order of their evaluation; the last of the list goes for those that follow
    let known = match expr.term() {
        Term::Let(x, value, _) => vec![facts.clone(), inside(&|facts| facts.define(x, value))],
        Term::If(cond, ..) => {
            vec![facts.clone(), inside(&|facts| facts.assume(cond, true)), inside(&|facts| facts.assume(cond, false))]
        }
        Term::Check { cond, .. } => vec![facts.clone(), inside(&|facts| facts.assume(cond, true))],
        Term::Build { n, i, .. } => vec![facts.clone(), inside(&|facts| facts.enter_loop(i, n))],
        Term::Fold { n, i, .. } => vec![facts.clone(), facts.clone(), inside(&|facts| facts.enter_loop(i, n))],
        Term::Prim(prim @ (Prim::And | Prim::Or), args) => match args.first() {
            Some(first) => vec![facts.clone(), inside(&|facts| facts.assume(first, *prim == Prim::And))],
            None => Vec::new(),
        },
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::While { .. }
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Proj(..)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Dual { .. }
        | Term::Vjp { .. } => Vec::new(),
    };
    let mut at = 0;
    map_children(expr, &mut |child| {
        let here = known.get(at).or(known.last()).unwrap_or(facts);
        at += 1;
        f(child, here)
    })
}

/// Whether a term cannot fail: functions and comparisons of numbers, variables, and elements in bounds.
pub fn cannot_fail(expr: &Expr, facts: &Facts) -> bool {
    match expr.term() {
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => true,
        Term::Get(array, index) => cannot_fail(array, facts) && index.is_atom() && facts.get_is_safe(array, index),
        Term::Prim(_, args) if expr.ty() == &Type::Double => args.iter().all(|arg| arg.ty() == &Type::Double && cannot_fail(arg, facts)),
        Term::Prim(Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Not, args) => {
            args.iter().all(|arg| cannot_fail(arg, facts))
        }
        Term::Prim(..)
        | Term::Let(..)
        | Term::If(..)
        | Term::Check { .. }
        | Term::Build { .. }
        | Term::Fold { .. }
        | Term::While { .. }
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Proj(..)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Dual { .. }
        | Term::Vjp { .. } => false,
    }
}
