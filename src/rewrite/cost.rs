//! What a term costs to evaluate, as far as rules ask.
//!
//! In: a term. Out: whether an element of a `build` is as cheap to compute as to read back.

use crate::ir::{Expr, Term};

/// Whether computing any element (through directly nested builds) costs at most what reading it from
/// memory does: one read, one operation or one comparison, and no loop.
pub fn element_is_cheap(build: &Expr) -> bool {
    let mut levels = 0;
    let mut element = build;
    while let Term::Build { body, .. } = element.term() {
        levels += 1;
        element = body;
    }
    levels > 0 && work(element).is_some_and(|work| work <= levels)
}

/// Operations and reads of a term without loops, calls and new arrays; `None` for others.
fn work(expr: &Expr) -> Option<u32> {
    let own = match expr.term() {
        Term::Build { .. } | Term::Fold { .. } | Term::Call(..) | Term::Dual { .. } | Term::Array(_) | Term::Let(..) => return None,
        Term::Prim(..) | Term::Get(..) | Term::Check { .. } => 1,
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => 0,
        Term::If(..) | Term::Dim(..) | Term::Tuple(_) | Term::Proj(..) => 0,
    };
    let mut total = Some(own);
    expr.term().each_child(&mut |child| total = total.and_then(|total| Some(total + work(child)?)));
    total
}
