//! An array of blocks, laid out as one array of their elements: another view of the same memory.
//!
//!     let b = build n (fun q -> [x, y]) in build (2 * n) (fun i -> b[i / 2][i % 2])
//!       →   for q < n: out[q * 2] = x, out[q * 2 + 1] = y
//!
//! Arrays are row-major, so that nothing is copied. Not in functions that update arrays: there a name must be known for a part of
//! what it is a name for (`ir::last_use`).

use crate::ir::free::mentions;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};

use super::array::is_view;
use super::context::{Lowerer, Result};
use super::view::{ArrayView, Dest, View};

/// The array whose blocks `build (n * k) (fun i -> b[i / k][i % k])` lays out one after the other.
pub fn blocks_of(expr: &Expr) -> Option<&Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    let Term::Get(block, place) = body.term() else { return None };
    let Term::Get(blocks, number) = block.term() else { return None };
    let Type::Array(element, count) = blocks.ty() else { return None };
    let Type::Array(_, k) = &**element else { return None };
    let k = k.as_constant().filter(|k| *k > 0)?;
    let is_part = |expr: &Expr, wanted: Prim| match expr.term() {
        Term::Prim(prim, args) => match args.as_slice() {
            [a, b] => *prim == wanted && matches!(a.term(), Term::Var(var) if var == i) && matches!(b.term(), Term::Index(c) if *c == k),
            _ => false,
        },
        _ => false,
    };
    let is_whole = Size::try_of_expr(n).is_some_and(|n| n == count.mul(&Size::constant(k)));
    (is_whole && is_part(number, Prim::Div) && is_part(place, Prim::Rem) && !mentions(blocks, i)).then_some(blocks)
}

impl Lowerer<'_> {
    /// The destination of blocks that a term lays out in this one.
    pub fn place_of_blocks(&self, blocks: &Var, dest: &Dest) -> Option<Dest> {
        let (Type::Array(block, count), Dest::Array(array)) = (blocks.ty(), dest) else { return None };
        let Type::Array(_, k) = &**block else { return None };
        Some(Dest::Array(array.in_blocks(&self.canonical(count), k)?)).filter(|_| !self.has_updates)
    }

    /// The view of an array of blocks as one array; `None` where that is none.
    pub fn joined_blocks(&mut self, expr: &Expr, name: &str) -> Result<Option<ArrayView>> {
        let Some(blocks) = blocks_of(expr).filter(|blocks| is_view(blocks) && !self.has_updates) else {
            return Ok(None);
        };
        Ok(match self.value(blocks, name)? {
            View::Array(blocks) => blocks.joined(),
            View::Scalar(_) | View::Tuple(_) => None,
        })
    }
}
