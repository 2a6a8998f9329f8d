//! Sizes as polynomials, and their equality.
//!
//! In: numbers, atoms and other polynomials. Out: a [`Size`], whose coefficients wrap at 64 bits, over atoms: Index variables, other total
//! Index terms (`n / 2`, `max n m`), and unknown sizes that depend on data. Equal polynomials are equal sizes modulo 2^64: `n + n` and
//! `2 * n` are one value of this type. What size a term has, and the term of a size, is in `size`; inequalities need bounds and live in
//! `prove`.
//!
//!     (n + 1) * (n - 1)   →   n * n - 1

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Atom, Expr, Monomial, Size, SizeTerm, Var, fresh_id};
use crate::ir::prim::Prim;

thread_local! { static ONE: Monomial = Rc::new([]); }

/// More monomials than this make a product a term of its own instead of being multiplied out.
const MONOMIALS: usize = 32;

/// A product of more atoms than this counts as unknown: along a chain of lets that each use the one before twice, what is written out
/// doubles with every let.
const DEGREE: usize = 32;

impl Size {
    pub fn constant(value: i64) -> Size {
        Size::monomial(ONE.with(Rc::clone), value)
    }

    pub fn var(var: &Var) -> Size {
        Size::atom(Atom::Var(var.clone()))
    }

    pub fn atom(atom: Atom) -> Size {
        Size::monomial(Rc::new([atom]), 1)
    }

    /// A size that nothing is known of, different from every other.
    pub fn unknown() -> Size {
        Size::atom(Atom::Unknown(fresh_id()))
    }

    fn monomial(monomial: Monomial, coefficient: i64) -> Size {
        if coefficient == 0 { Size::default() } else { Size { terms: Rc::new([(monomial, coefficient)]) } }
    }

    /// The monomials and their coefficients, in a fixed order.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i64)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.as_ref() {
            [] => Some(0),
            [(monomial, coefficient)] if monomial.is_empty() => Some(*coefficient),
            _ => None,
        }
    }

    /// The variable, when the size is just one.
    pub fn as_var(&self) -> Option<&Var> {
        match self.as_atom()? {
            Atom::Var(var) => Some(var),
            Atom::Term(_) | Atom::Unknown(_) => None,
        }
    }

    /// The atom, when the size is just one.
    pub fn as_atom(&self) -> Option<&Atom> {
        let [(monomial, 1)] = self.terms.as_ref() else { return None };
        match monomial.as_ref() {
            [atom] => Some(atom),
            _ => None,
        }
    }

    pub fn add(&self, other: &Size) -> Size {
        self.plus(1, other)
    }

    pub fn neg(&self) -> Size {
        self.scaled(-1)
    }

    pub fn sub(&self, other: &Size) -> Size {
        self.plus(-1, other)
    }

    /// With so many times another size added.
    pub fn plus(&self, factor: i64, other: &Size) -> Size {
        if other.terms.is_empty() {
            return self.clone();
        }
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        terms.extend(self.terms_plus(factor, other).map(|(monomial, coefficient)| (monomial.clone(), coefficient)));
        Size { terms: terms.into() }
    }

    /// The [terms](Size::terms) that it has with so many times another size added.
    pub fn terms_plus<'a>(&'a self, factor: i64, other: &'a Size) -> impl Iterator<Item = (&'a Monomial, i64)> {
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        let merged = std::iter::from_fn(move || {
            let order = match (left.peek(), right.peek()) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            let own = if order.is_le() { left.next() } else { None };
            let added = if order.is_ge() { right.next() } else { None };
            let (monomial, _) = own.or(added)?;
            let coefficient = |term: Option<&(Monomial, i64)>| term.map_or(0, |(_, coefficient)| *coefficient);
            Some((monomial, coefficient(own).wrapping_add(coefficient(added).wrapping_mul(factor))))
        });
        merged.filter(|(_, coefficient)| *coefficient != 0)
    }

    /// Times a number.
    fn scaled(&self, factor: i64) -> Size {
        if factor == 1 {
            return self.clone();
        }
        let scaled = |(monomial, coefficient): &(Monomial, i64)| (monomial.clone(), coefficient.wrapping_mul(factor));
        Size { terms: self.terms.iter().map(scaled).filter(|(_, coefficient)| *coefficient != 0).collect() }
    }

    /// The size that is this one when taken so many times, where all coefficients are multiples.
    pub fn divided(&self, factor: i64) -> Option<Size> {
        let quotient = |(monomial, coefficient): &(Monomial, i64)| {
            (coefficient.checked_rem(factor)? == 0).then_some((monomial.clone(), coefficient.checked_div(factor)?))
        };
        Some(Size { terms: self.terms.iter().map(quotient).collect::<Option<_>>()? })
    }

    pub fn mul(&self, other: &Size) -> Size {
        if self.degree() + other.degree() > DEGREE {
            return Size::unknown();
        }
        if self.terms.len() * other.terms.len() > MONOMIALS {
            let product = self.to_expr().zip(other.to_expr()).map(|(a, b)| Expr::prim(Prim::Mul, vec![a, b]));
            return product.and_then(Size::opaque).unwrap_or_else(Size::unknown);
        }
        match (self.as_constant(), other.as_constant()) {
            (_, Some(factor)) => return self.scaled(factor),
            (Some(factor), None) => return other.scaled(factor),
            (None, None) => {}
        }
        let products = self.terms.iter().flat_map(|(a, x)| {
            other.terms.iter().map(move |(b, y)| {
                let mut product: Vec<Atom> = a.iter().chain(b.iter()).cloned().collect();
                product.sort();
                (Monomial::from(product), x.wrapping_mul(*y))
            })
        });
        let mut products: Vec<(Monomial, i64)> = products.collect();
        products.sort_by(|(a, _), (b, _)| a.cmp(b));
        products.dedup_by(|(next, y), (monomial, x)| {
            let same = next == monomial;
            if same {
                *x = x.wrapping_add(*y);
            }
            same
        });
        products.retain(|(_, coefficient)| *coefficient != 0);
        Size { terms: products.into() }
    }

    fn degree(&self) -> usize {
        self.terms.iter().map(|(monomial, _)| monomial.len()).max().unwrap_or(0)
    }

    /// The atoms of its monomials, one after the other.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.terms.iter().flat_map(|(monomial, _)| monomial.iter())
    }

    /// The numbers of the unknown sizes that this is made of.
    pub fn unknowns(&self) -> impl Iterator<Item = u32> {
        self.atoms().filter_map(|atom| match atom {
            Atom::Unknown(id) => Some(*id),
            Atom::Var(_) | Atom::Term(_) => None,
        })
    }

    /// Whether it is a polynomial of names and numbers alone, which costs next to nothing.
    pub fn is_of_names(&self) -> bool {
        self.atoms().all(|atom| matches!(atom, Atom::Var(_)))
    }

    /// Whether some part depends on data.
    pub fn has_unknown(&self) -> bool {
        self.atoms().any(|atom| matches!(atom, Atom::Unknown(_)))
    }
}

impl SizeTerm {
    /// A term with the text that it is compared by, which has the numbers of its variables.
    pub fn new(key: String, expr: Expr) -> SizeTerm {
        SizeTerm { key, expr }
    }
}

impl PartialEq for SizeTerm {
    fn eq(&self, other: &SizeTerm) -> bool {
        std::ptr::eq(self, other) || self.key == other.key
    }
}
impl Eq for SizeTerm {}
impl PartialOrd for SizeTerm {
    fn partial_cmp(&self, other: &SizeTerm) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for SizeTerm {
    fn cmp(&self, other: &SizeTerm) -> Ordering {
        if std::ptr::eq(self, other) { Ordering::Equal } else { self.key.cmp(&other.key) }
    }
}
impl std::hash::Hash for SizeTerm {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}
