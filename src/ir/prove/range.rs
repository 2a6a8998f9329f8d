//! Ranges of atoms, products and sums, and exactness: where a polynomial's machine value is its integer one.
//!
//! In: what is noted of atoms and products, the types of variables, the operation of an opaque atom. Out: an
//! interval of integers that the value lies in. Computed in 128 bits; what leaves them has no range.
//!
//!     i: Index<n>, n ≤ 2^60 - 1:   i + 1 in 1 … 2^60 - 1, exact;   k bare:   k + 1 not exact

use super::{COEFFICIENT, Facts};
use crate::ir::prim::Prim;
use crate::ir::term::{Atom, Expr, Monomial, Size, Term, Type};

/// Both ends included.
pub type Range = (i128, i128);
const ANY: Range = (i64::MIN as i128, i64::MAX as i128);
/// What exact polynomials stay inside.
const EXACT: i128 = 1 << 62;
/// How far types are followed: an index bounded by a size over indices bounded by …
pub const TYPES: u32 = 4;

impl Facts {
    /// Narrows the range of an atom or product.
    pub(super) fn restrict(&mut self, monomial: Monomial, (low, high): Range) {
        let (old_low, old_high) = self.stored(&monomial).unwrap_or((i128::MIN, i128::MAX));
        let range = (old_low.max(low), old_high.min(high));
        self.ranges.insert_mut(monomial, range);
    }

    fn stored(&self, monomial: &[Atom]) -> Option<Range> {
        self.ranges.get(monomial).copied()
    }

    /// The range of an atom's value: what was noted, and what its type or its operation says.
    pub(super) fn atom_range(&self, atom: &Atom, follow: u32) -> Range {
        let own = match atom {
            Atom::Var(var) => match var.ty() {
                Type::Index(Some(bound)) if follow > 0 => {
                    let top = self.value_range(bound, follow - 1).1 - 1;
                    (0, top)
                }
                Type::Index(Some(_)) => (0, ANY.1),
                Type::Index(None) | Type::Double | Type::Bool | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => ANY,
            },
            Atom::Term(term) if follow > 0 => self.operation_range(&term.expr, follow - 1),
            Atom::Term(_) | Atom::Unknown(_) => ANY,
        };
        meet(own, meet(ANY, self.stored(std::slice::from_ref(atom)).unwrap_or(ANY)))
    }

    /// The range of an opaque Index operation.
    fn operation_range(&self, expr: &Expr, follow: u32) -> Range {
        let Term::Prim(prim, args) = expr.term() else { return ANY };
        let [a, b] = args.as_slice() else { return ANY };
        let range = |expr: &Expr| Size::try_of_expr(expr).map_or(ANY, |size| self.value_range(&size, follow));
        let ((low, high), (low_b, high_b)) = (range(a), range(b));
        match prim {
            Prim::Min => (low.min(low_b), high.min(high_b)),
            Prim::Max => (low.max(low_b), high.max(high_b)),
            // truncating division by a positive literal keeps order; a remainder has its left operand's sign
            Prim::Div if low_b == high_b && low_b > 0 => (low / low_b, high / low_b),
            Prim::Rem if low_b > 0 => (if low >= 0 { 0 } else { 1 - high_b }, if high <= 0 { 0 } else { high_b - 1 }),
            _ => ANY,
        }
    }

    /// How the result x of an opaque operation stands to its operands: polynomials that are ≥ 0.
    ///
    ///     x = min a b:   a - x, b - x        x = a / 2, 0 ≤ a:   a - x, a - 2 x, 2 x + 1 - a        x = a % n, 0 < n:   n - 1 - x
    pub(super) fn operation_facts(&self, expr: &Expr, x: &Size) -> Vec<Size> {
        let Term::Prim(prim, args) = expr.term() else { return Vec::new() };
        let operands: Vec<Size> = args.iter().filter_map(Size::try_of_expr).filter(|size| self.is_exact(size)).collect();
        let [a, b] = operands.as_slice() else { return Vec::new() };
        let up = self.value_range(a, TYPES).0 >= 0;
        let divisor = b.as_constant().filter(|b| (1..=COEFFICIENT).contains(b) && up);
        match (prim, divisor) {
            (Prim::Min, _) => vec![a.sub(x), b.sub(x)],
            (Prim::Max, _) => vec![x.sub(a), x.sub(b)],
            (Prim::Div, Some(divisor)) => {
                let whole = x.mul(&Size::constant(divisor));
                vec![a.sub(x), a.sub(&whole), whole.add(&Size::constant(divisor - 1)).sub(a)]
            }
            (Prim::Rem, Some(_)) => vec![a.sub(x)],
            (Prim::Rem, None) if self.value_range(b, TYPES).0 > 0 => {
                let below = b.sub(x).sub(&Size::constant(1));
                if up { vec![a.sub(x), below] } else { vec![below] }
            }
            _ => Vec::new(),
        }
    }

    /// The range of a size's machine value.
    fn value_range(&self, size: &Size, follow: u32) -> Range {
        if let Some(atom) = size.as_atom() {
            return self.atom_range(atom, follow);
        }
        if !self.is_exact_following(size, follow) {
            return ANY;
        }
        self.sum_range_following(size, None, follow).map_or(ANY, |range| meet(range, ANY))
    }

    /// The integer range of a product, `None` where it leaves what is computed with.
    pub(super) fn product_range(&self, monomial: &[Atom], follow: u32) -> Option<Range> {
        let mut range: Range = (1, 1);
        let mut fits = true;
        for atom in monomial {
            let (low, high) = self.atom_range(atom, follow);
            match [(range.0, low), (range.0, high), (range.1, low), (range.1, high)].map(|(a, b)| a.checked_mul(b)) {
                [Some(a), Some(b), Some(c), Some(d)] => range = (a.min(b).min(c).min(d), a.max(b).max(c).max(d)),
                _ => fits = false,
            }
        }
        match (fits, self.stored(monomial)) {
            (true, stored) => Some(meet(range, stored.unwrap_or((i128::MIN, i128::MAX)))),
            (false, stored) => stored,
        }
    }

    /// See [`Facts::sum_range_following`].
    pub(super) fn sum_range(&self, size: &Size, without: Option<&Monomial>) -> Option<Range> {
        self.sum_range_following(size, without, TYPES)
    }

    /// The integer range of a polynomial, without one of its monomials.
    fn sum_range_following(&self, size: &Size, without: Option<&Monomial>, follow: u32) -> Option<Range> {
        sum_of_ranges(size.terms().filter(|(monomial, _)| Some(*monomial) != without), |monomial| self.product_range(monomial, follow))
    }

    /// See [`Facts::is_exact_following`].
    pub(super) fn is_exact(&self, size: &Size) -> bool {
        self.is_exact_following(size, TYPES)
    }

    /// Whether the machine's value is the integer polynomial's: a lone atom or literal, or one whose
    /// monomials and partial sums, in any order, stay inside ±2^62.
    fn is_exact_following(&self, size: &Size, follow: u32) -> bool {
        self.stays_within(size, EXACT, follow)
    }

    /// Whether the machine's value is the integer polynomial's, though perhaps not that of its difference from another.
    pub fn never_wraps(&self, size: &Size) -> bool {
        self.stays_within(size, i128::from(i64::MAX), TYPES)
    }

    fn stays_within(&self, size: &Size, limit: i128, follow: u32) -> bool {
        if size.as_atom().is_some() || size.as_constant().is_some() {
            return true;
        }
        let magnitude = size.terms().try_fold(0i128, |sum, (monomial, coefficient)| {
            let (low, high) = self.product_range(monomial, follow)?;
            let most = low.checked_abs()?.max(high.checked_abs()?);
            sum.checked_add(most.checked_mul(i128::from(coefficient).abs())?)
        });
        magnitude.is_some_and(|magnitude| magnitude <= limit)
    }
}

/// The range of a sum, by those of its products.
pub(super) fn sum_of_ranges<'a>(
    terms: impl Iterator<Item = (&'a Monomial, i64)>,
    mut range: impl FnMut(&Monomial) -> Option<Range>,
) -> Option<Range> {
    let mut sum: Range = (0, 0);
    for (monomial, coefficient) in terms {
        let (low, high) = range(monomial)?;
        let (a, b) = (low.checked_mul(coefficient.into())?, high.checked_mul(coefficient.into())?);
        sum = (sum.0.checked_add(a.min(b))?, sum.1.checked_add(a.max(b))?);
    }
    Some(sum)
}

fn meet(a: Range, b: Range) -> Range {
    (a.0.max(b.0), a.1.min(b.1))
}
