//! Arrays of arrays that are read as one array: the same numbers in the same order, so that nothing is copied.
//!
//! In: `build(d0 · d1, t. a[t / d1][t % d1])`, of any depth. Out: where `a` exists, a view of its memory as one array; where the `build`
//! is stored, its place as an array of arrays, in which `a` is then written.
//!
//!     let a = build(n, i. [x[i], 1.0]) in build(2 n, t. a[t / 2][t % 2])   →   for i < n: out[2 i] = x[i]; out[2 i + 1] = 1.0
//!
//! The lengths are those of the type of `a`, and the indices written as above. In a function that updates arrays such a `build` is no
//! name for `a`: there a name must be known for a part of what it is a name for (`ir::last_use`).

use crate::ir::free::mentions;
use crate::ir::{Expr, Name, Prim, Size, Term, Var};

use super::context::{Lowerer, Result};
use super::view::{ArrayView, Dest, View};

/// An array of arrays that a term reads as one array.
pub struct Flat<'e> {
    array: &'e Expr,
    dims: Vec<Size>,
}

impl<'e> Flat<'e> {
    /// What `build(d0 · … · dk, t. a[t / …]…[t % dk])` reads; lengths are compared as `canonical` writes them.
    fn of(expr: &'e Expr, canonical: &dyn Fn(&Size) -> Size) -> Option<Flat<'e>> {
        let Term::Build { n, i, body } = expr.term() else { return None };
        let (mut array, mut indices) = (body, Vec::new());
        while let Term::Get(inner, index) = array.term()
            && mentions(index, i)
        {
            indices.push(index);
            array = inner;
        }
        let dims: Vec<Size> = array.ty().dims().iter().take(indices.len()).map(canonical).collect();
        if indices.len() < 2 || dims.len() < indices.len() || mentions(array, i) {
            return None;
        }
        let size = |expr: &Expr| Some(canonical(&Size::try_of_expr(expr)?));
        let is_own = |index: &Expr| matches!(index.term(), Term::Var(var) if var == i);
        // from the innermost index outwards; `stride` elements are in one of those so far
        let mut stride = Size::constant(1);
        for (outer, (index, length)) in indices.into_iter().zip(dims.iter().rev()).enumerate() {
            let quotient = if outer + 1 == dims.len() {
                index
            } else {
                let Term::Prim(Prim::Rem, args) = index.term() else { return None };
                let [place, count] = args.as_slice() else { return None };
                (size(count).as_ref() == Some(length)).then_some(place)?
            };
            let is_place = if let Term::Prim(Prim::Div, args) = quotient.term() {
                is_own(args.first()?) && size(args.get(1)?).as_ref() == Some(&stride)
            } else {
                is_own(quotient) && stride.as_constant() == Some(1)
            };
            if !is_place {
                return None;
            }
            stride = stride.mul(length);
        }
        (!stride.has_unknown() && size(n).as_ref() == Some(&stride)).then_some(Flat { array, dims })
    }

    /// A destination of this one array, as that of the arrays.
    pub fn place(&self, dest: &Dest) -> Option<Dest> {
        match dest {
            Dest::Array(array) => array.nested(&self.dims).map(Dest::Array),
            Dest::Scalar(_) | Dest::Tuple(_) => None,
        }
    }
}

impl Lowerer<'_> {
    /// How a term reads this variable as one array.
    pub fn flat_of<'e>(&self, expr: &'e Expr, var: &Var) -> Option<Flat<'e>> {
        self.flat(expr).filter(|flat| matches!(flat.array.term(), Term::Var(own) if own == var))
    }

    /// The arrays that a term reads as one array, where they exist: a view of them.
    pub fn flat_view(&mut self, expr: &Expr, name: &Name) -> Result<Option<ArrayView>> {
        let Some(flat) = self.flat(expr).filter(|flat| self.is_there(flat.array)) else { return Ok(None) };
        Ok(match self.value(flat.array, name)? {
            View::Array(arrays) => arrays.flattened(flat.dims.len()),
            View::Scalar(_) | View::Tuple(_) => None,
        })
    }

    /// Whether a term is a name for arrays that exist, read as one array.
    pub fn is_flat_view(&self, expr: &Expr) -> bool {
        !self.has_updates && self.flat(expr).is_some_and(|flat| self.is_there(flat.array))
    }

    fn flat<'e>(&self, expr: &'e Expr) -> Option<Flat<'e>> {
        Flat::of(expr, &|size| self.canonical(size))
    }

    /// Whether an array exists and naming it cannot fail: one of no elements is read nowhere.
    fn is_there(&self, array: &Expr) -> bool {
        match array.term() {
            Term::Var(_) => true,
            Term::Proj(tuple, _) => self.is_there(tuple),
            Term::Get(outer, index) => self.is_there(outer) && self.facts.get_is_safe(outer, index),
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Let(..)
            | Term::If(..)
            | Term::Build { .. }
            | Term::Fold { .. }
            | Term::While { .. }
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Check { .. }
            | Term::Iso(..)
            | Term::Update(..)
            | Term::Vjp { .. }
            | Term::Dual { .. } => false,
        }
    }
}
