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

/// Whether a primitive takes longer than an operator: a function, or a root.
pub fn takes_long(prim: Prim) -> bool {
    prim == Prim::Sqrt || prim.is_function()
}
