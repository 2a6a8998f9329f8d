//! Arrays of arrays that are stored as one array: the same numbers in the same order, so that nothing is copied.
//!
//! In: `let a = e in … build(d0 d1, t. a[t / d1][t % d1])` where the `build` is stored. Out: the place of the `build` as an array of
//! arrays, for e to be written to; and that such a `build` is there already.
//!
//!     let a = build(n, i. [x[i], 1.0]) in build(2 n, t. a[t / 2][t % 2])   →   for i < n: out[2 i] = x[i]; out[2 i + 1] = 1.0
//!
//! The elements are scalars, the lengths those that the types say, and the indices written as above.

use crate::ir::{Expr, Prim, Size, Term, Type, Var};

use super::context::Lowerer;
use super::view::{ArrayView, Dest, View};

impl Lowerer<'_> {
    /// The place in which a term stores `var`, an array of arrays, as one array.
    pub fn flat_place(&self, expr: &Expr, var: &Var, value: &Expr, dest: &Dest) -> Option<Dest> {
        match (expr.term(), dest) {
            (Term::Let(_, _, body) | Term::Check { body, .. }, _) => self.flat_place(body, var, value, dest),
            (Term::Tuple(parts), Dest::Tuple(places)) => {
                parts.iter().zip(places).find_map(|(part, place)| self.flat_place(part, var, value, place))
            }
            (Term::Build { i, body, .. }, Dest::Array(array)) => {
                let (root, indices) = indices_of(body);
                if !matches!(root.term(), Term::Var(own) if own == var) {
                    return None;
                }
                let ty = self.type_of(value).ok()?;
                self.as_nested(&ty, i, &indices, array).map(Dest::Array)
            }
            _ => None,
        }
    }

    /// Whether the `build` stores an array of arrays as one array where it already is.
    pub fn is_flat_in_place(&self, i: &Var, body: &Expr, array: &ArrayView) -> bool {
        let (root, indices) = indices_of(body);
        let Term::Var(var) = root.term() else { return false };
        let Some(View::Array(view)) = self.env.get(var) else { return false };
        self.as_nested(&view.ty, i, &indices, array).is_some_and(|nested| nested.leaves == view.leaves)
    }

    /// The array as an array of arrays of this type, of which a term has the element that `i` is the place of.
    fn as_nested(&self, ty: &Type, i: &Var, indices: &[&Expr], array: &ArrayView) -> Option<ArrayView> {
        let dims = ty.dims();
        let [leaf] = array.leaves.as_slice() else { return None };
        let is_scalar = |ty: &Type| matches!(ty, Type::Double | Type::Bool | Type::Index(_));
        if dims.len() < 2
            || indices.len() != dims.len()
            || leaf.dims.len() != leaf.taken.len() + 1
            || !array.ty.element().is_some_and(is_scalar)
        {
            return None;
        }
        let mut stride = Size::constant(1);
        for (axis, (index, length)) in indices.iter().zip(&dims).enumerate().rev() {
            let length = self.canonical(length);
            let quotient = match index.term() {
                _ if axis == 0 => index,
                Term::Prim(Prim::Rem, args) if self.canonical(&Size::of_expr(args.get(1)?)) == length => args.first()?,
                _ => return None,
            };
            let is_own = |index: &Expr| matches!(index.term(), Term::Var(var) if var == i);
            let is_quotient = match quotient.term() {
                Term::Prim(Prim::Div, args) => match args.as_slice() {
                    [place, by] => is_own(place) && self.canonical(&Size::of_expr(by)) == stride,
                    _ => false,
                },
                _ => is_own(quotient) && stride.as_constant() == Some(1),
            };
            if !is_quotient {
                return None;
            }
            stride = stride.mul(&length);
        }
        if stride != array.length() || stride.has_unknown() {
            return None;
        }
        let mut leaf = leaf.clone();
        leaf.dims.pop();
        leaf.dims.extend(dims.iter().map(|length| self.canonical(length)));
        Some(ArrayView { ty: ty.clone(), leaves: vec![leaf] })
    }
}

/// The array that a term reads, and by what indices, outermost first.
fn indices_of(expr: &Expr) -> (&Expr, Vec<&Expr>) {
    let (mut array, mut indices) = (expr, Vec::new());
    while let Term::Get(inner, index) = array.term() {
        indices.push(index);
        array = inner;
    }
    indices.reverse();
    (array, indices)
}
