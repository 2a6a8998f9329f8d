//! Arrays of tuples that are put together of arrays: the same blocks of memory, so that nothing is copied.
//!
//! In: `build(n, j. (a[j], b[j], …))`. Out: the component of a destination in which an array can be written at once; and, where all are
//! there, that nothing is left to write.
//!
//!     let a = build(n, j. x[j] * 2) in build(n, j. (a[j], x[j]))   →   for j < n: out_0[j] = x[j] * 2
//!                                                                      for j < n: out_1[j] = x[j]
//!
//! The tuples use each array like any other term, so that no update takes its memory before (`ir::last_use`).

use crate::ir::{Expr, Term, Type, Var};

use super::context::Lowerer;
use super::view::{ArrayView, Dest, View};

/// The array whose element is a component of the tuple, where that is all it is.
fn whole<'e>(part: &'e Expr, index: &Var) -> Option<&'e Var> {
    let Term::Get(array, at) = part.term() else { return None };
    match (array.term(), at.term()) {
        (Term::Var(array), Term::Var(at)) if at == index => Some(array),
        _ => None,
    }
}

impl Lowerer<'_> {
    /// The component of the destination that is this array.
    pub fn component_place(&self, expr: &Expr, var: &Var, dest: &Dest) -> Option<Dest> {
        let (Term::Build { i, body, .. }, Dest::Array(array)) = (expr.term(), dest) else { return None };
        let Term::Tuple(parts) = body.term() else { return None };
        let Type::Array(_, length) = var.ty() else { return None };
        if self.canonical(length) != array.length() {
            return None;
        }
        let at = parts.iter().position(|part| whole(part, i) == Some(var))?;
        array.components().into_iter().nth(at).map(Dest::Array)
    }

    /// Whether the components of an array lie where they belong already.
    pub fn lies_in_components(&self, expr: &Expr, array: &ArrayView) -> bool {
        let Term::Build { i, body, .. } = expr.term() else { return false };
        let Term::Tuple(parts) = body.term() else { return false };
        let places = array.components();
        let lies = |(part, place): (&Expr, &ArrayView)| match whole(part, i).and_then(|var| self.env.get(var)) {
            Some(View::Array(view)) => view.leaves == place.leaves,
            Some(View::Scalar(_) | View::Tuple(_)) | None => false,
        };
        !parts.is_empty() && parts.len() == places.len() && parts.iter().zip(&places).all(lies)
    }
}
