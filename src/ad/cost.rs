//! What may be computed twice.
//!
//! In: a term. Out: whether a copy of it costs so little that two plain loops, one for primals and one for
//! tangents, are better than one loop of pairs.
//!
//!     build(n, i. v[i] * v[i])   two builds        build(n, i. exp v[i])   one build of pairs
//!
//! Loops and calls are never cheap, so that copies do not multiply where loops are nested.

use crate::ir::{Expr, Prim, Term};

/// Whether a term is free of loops, calls and functions that take long: as well computed twice.
pub fn is_cheap(expr: &Expr) -> bool {
    let mut cheap = match expr.term() {
        Term::Build { .. }
        | Term::Fold { .. }
        | Term::While { .. }
        | Term::Call(..)
        | Term::Iso(..)
        | Term::Dual { .. }
        | Term::Vjp { .. }
        | Term::Update(..) => false,
        Term::Prim(prim, _) => !takes_long(*prim),
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Let(..) | Term::If(..) | Term::Get(..) => true,
        Term::Dim(..) | Term::Tuple(_) | Term::Proj(..) | Term::Array(_) | Term::Check { .. } => true,
    };
    expr.term().each_child(&mut |child| cheap = cheap && is_cheap(child));
    cheap
}

/// Whether a primitive is a function as `exp` is, and no operator.
pub fn takes_long(prim: Prim) -> bool {
    (prim.row().name.starts_with(|c: char| c.is_ascii_alphabetic()) || prim == Prim::Pow) && !is_quick(prim)
}

/// The named primitives that are as cheap as an operator.
fn is_quick(prim: Prim) -> bool {
    matches!(prim, Prim::Min | Prim::Max | Prim::Abs | Prim::Sign | Prim::Floor | Prim::Ceil | Prim::Round | Prim::Trunc)
        || matches!(prim, Prim::Not | Prim::ToDouble | Prim::ToIndex)
}
