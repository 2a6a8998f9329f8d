//! Diagonal matrices: cleared, then set. Most of what is written is zero, and clearing memory is as fast as writing
//! can be.
//!
//! In: a `build` of rows that have a number where both indices are one, and zeros. Out: a loop over the whole block,
//! which compilers make a `memset` of, and one over the diagonal.
//!
//!     build(n, k. build(n, i. if k = i then e else 0.0))   →   for i < n * n: out[i] = 0.0
//!                                                              for k < n: out[k * n + k] = e
//!
//! Only square matrices whose length is known not to be negative, and no other zero than 0.0.

use crate::ir::{Expr, Prim, Size, Term, Type, Var};

use super::context::{Lowerer, Result, mismatch};
use super::view::{ArrayView, View};
use crate::loops::program::*;
use crate::loops::values::index;

/// The diagonal element of a diagonal matrix.
pub struct Diagonal {
    inner: Var,
    cond: Expr,
    element: Expr,
}

impl Diagonal {
    /// Finds one in the rows of `build(n, outer. row)`.
    pub fn find(n: &Expr, outer: &Var, row: &Expr) -> Option<Diagonal> {
        let Term::Build { n: length, i: inner, body } = row.term() else { return None };
        let Term::If(cond, element, zero) = body.term() else { return None };
        let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        let is = |expr: &Expr, var: &Var| matches!(expr.term(), Term::Var(other) if other == var);
        let both = is(a, outer) && is(b, inner) || is(b, outer) && is(a, inner);
        let square = Size::try_of_expr(n).is_some_and(|size| Size::try_of_expr(length) == Some(size));
        let clear = matches!(zero.term(), Term::Double(zero) if zero.to_bits() == 0) && element.ty() == &Type::Double;
        (both && square && clear).then(|| Diagonal { inner: inner.clone(), cond: cond.clone(), element: element.clone() })
    }
}

impl Lowerer<'_> {
    /// Writes `build(n, outer. …)`, whose rows are a diagonal matrix's; says whether it did.
    pub fn diagonal(&mut self, n: &Expr, outer: &Var, count: &Value, diagonal: &Diagonal, dest: &ArrayView) -> Result<bool> {
        let span = diagonal.element.span();
        let length = dest.length();
        let known = Size::try_of_expr(n).is_some_and(|size| self.canonical(&size) == length) && self.facts.nonnegative(&length);
        let [leaf] = dest.leaves.as_slice() else { return Ok(false) };
        let square = leaf.dims.get(leaf.taken.len()..).is_some_and(|dims| dims.len() == 2 && dims[1] == length);
        if !known || !square || matches!(count, Value::Index(_)) {
            return Ok(false);
        }
        let area = index(Prim::Mul, count.clone(), count.clone());
        let i = self.counter("i", &area);
        let place = Place::Element { base: leaf.base, offset: Some(self.offset_behind(leaf, Value::Local(i))) };
        let clear = Stmt::Assign { place, value: Value::Double(0.0) };
        self.emit(Stmt::For { i, var: None, count: area, size: None, body: vec![clear], lanes: Lanes::One, apart: false });
        self.enter(outer, n, count, Some(length.clone()), |this, at| {
            this.env.insert(diagonal.inner.clone(), View::Scalar(at.clone()));
            this.bounds.insert(diagonal.inner.clone(), length);
            this.facts.enter_loop(&diagonal.inner, n);
            this.facts.assume(&diagonal.cond, true);
            let super::view::Dest::Array(row) = this.element_dest(dest, at, span)? else { return Err(mismatch(span)) };
            let place = this.element_dest(&row, at, span)?;
            this.write(&diagonal.element, &place)
        })?;
        Ok(true)
    }
}
