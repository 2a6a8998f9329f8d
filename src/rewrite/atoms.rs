//! Terms that cost nothing: literal numbers, and what is free to copy.
//!
//! In: a term. Out: whether it is such a term; a copy, with binders of its own where it is none.
//!
//!     x, 2.0, p.1, (x, p.1)   are free to copy;   x + 1.0, v[i]   are not

use crate::ir::subst::freshen;
use crate::ir::{Expr, Term};

/// Whether the term is this number, as a Double or an Index.
pub fn is_number(expr: &Expr, value: f64) -> bool {
    match expr.term() {
        Term::Double(x) => *x == value,
        Term::Index(i) => *i as f64 == value,
        _ => false,
    }
}

/// Free to copy: atoms, components of variables, tuples of such.
pub fn is_free(expr: &Expr) -> bool {
    match expr.term() {
        Term::Tuple(parts) => parts.iter().all(is_free),
        Term::Proj(tuple, _) => is_free(tuple),
        _ => expr.is_atom(),
    }
}

/// For rules that write a term twice.
pub fn copy(expr: &Expr) -> Expr {
    if is_free(expr) { expr.clone() } else { freshen(expr) }
}
