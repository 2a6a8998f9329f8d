//! One fact: a polynomial that is ≥ 0, and the bound of a product that it may be.
//!
//! In: a polynomial. Out: its bound, and which of two facts bounds the product more nearly.
//!
//!     n - 1 - i ≥ 0 has no bound, since two products are in it;   7 - i ≥ 0 bounds i from above, more nearly than 9 - i ≥ 0

use std::rc::Rc;

use crate::ir::term::{Monomial, Size};

/// A polynomial that is ≥ 0.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) size: Size,
    /// The numbers of the variables that its range depends on.
    pub(super) about: Rc<[u32]>,
    pub(super) bound: Option<Bound>,
}

/// `m + limit ≥ 0`, or `limit - m ≥ 0`.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    product: Monomial,
    is_upper: bool,
    limit: i64,
}

impl Fact {
    pub(super) fn is_as_near_as(&self, other: &Option<Bound>) -> bool {
        let (Some(bound), Some(other)) = (&self.bound, other) else { return false };
        bound.is_upper == other.is_upper && bound.limit <= other.limit && bound.product == other.product
    }
}

impl Bound {
    pub(super) fn of(size: &Size) -> Option<Bound> {
        let (mut limit, mut product) = (0, None);
        for (monomial, coefficient) in size.terms() {
            match coefficient {
                _ if monomial.is_empty() => limit = coefficient,
                1 | -1 if product.is_none() => product = Some((monomial, coefficient)),
                _ => return None,
            }
        }
        let (product, sign) = product?;
        Some(Bound { product: product.clone(), is_upper: sign < 0, limit })
    }
}
