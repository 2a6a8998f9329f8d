//! Models: integers for atoms, under which everything that is known holds. What is false in one has no proof, and need
//! not be searched for.
//!
//! In: the facts of a place, a polynomial. Out: whether some model makes it negative.
//!
//!     0 ≤ i < n:   is i - 1 ≥ 0?   No: n = 7, i = 0.
//!
//! A few models are tried, sizes small or large and indices first or last. One that breaks a fact is dropped, so that a
//! wrong guess only costs the search. Limits: this must know all that a proof may use: ranges, facts, and the types of
//! the atoms in both.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::Facts;
use super::range::TYPES;
use crate::ir::prim::Prim;
use crate::ir::size::{Atom, Size};
use crate::ir::term::{Expr, Term};
use crate::ir::types::Type;

/// The size of what has no other, and whether indices are last.
const GUESSES: [(i128, bool); 4] = [(7, false), (7, true), (1, false), (1000, true)];

/// What is tried against the goals of one place.
#[derive(Clone, Debug)]
pub(super) struct Model {
    size: i128,
    last: bool,
    values: RefCell<FxHashMap<Atom, Option<i128>>>,
}

impl Facts {
    /// Whether the polynomial is negative in one of the models: then it cannot be proved to be ≥ 0.
    pub(super) fn is_refuted(&self, goal: &Size) -> bool {
        let models = self.models.get_or_init(|| {
            let guesses = GUESSES.iter().map(|(size, last)| Model { size: *size, last: *last, values: RefCell::default() });
            guesses.filter(|model| self.hold_in(model)).collect()
        });
        models.iter().any(|model| model.polynomial(goal, self).is_some_and(|value| value < 0) && self.types_hold_in(goal, model, TYPES))
    }

    fn hold_in(&self, model: &Model) -> bool {
        let ranges = self.ranges.iter().all(|(monomial, (low, high))| {
            let size = monomial.iter().fold(Size::constant(1), |product, atom| product.mul(&Size::atom(atom.clone())));
            model.polynomial(&size, self).is_some_and(|value| (*low..=*high).contains(&value)) && self.types_hold_in(&size, model, TYPES)
        });
        let facts = || self.nonnegative.iter();
        ranges && facts().all(|fact| model.polynomial(fact, self).is_some_and(|value| value >= 0) && self.types_hold_in(fact, model, TYPES))
    }

    /// Whether the atoms of a polynomial have values of their types.
    fn types_hold_in(&self, size: &Size, model: &Model, follow: u32) -> bool {
        size.terms().flat_map(|(monomial, _)| monomial).all(|atom| {
            let Some(value) = model.atom(atom, self) else { return false };
            let (low, high) = self.atom_range(atom, TYPES);
            let bounded = match atom {
                Atom::Var(var) => match var.ty() {
                    Type::Index(Some(bound)) if follow > 0 => {
                        model.polynomial(bound, self).is_some_and(|bound| value < bound) && self.types_hold_in(bound, model, follow - 1)
                    }
                    _ => true,
                },
                Atom::Term(_) | Atom::Unknown(_) => true,
            };
            (low..=high).contains(&value) && bounded
        })
    }
}

impl Model {
    fn atom(&self, atom: &Atom, facts: &Facts) -> Option<i128> {
        if let Some(value) = self.values.borrow().get(atom) {
            return *value;
        }
        // a type that goes round in a circle has no value
        self.values.borrow_mut().insert(atom.clone(), None);
        let (low, high) = facts.atom_range(atom, TYPES);
        let value = match atom {
            Atom::Var(var) => match var.ty() {
                Type::Index(Some(bound)) if self.last => self.polynomial(bound, facts).map(|bound| bound - 1),
                Type::Index(Some(_)) => Some(low),
                Type::Index(None) | Type::Double | Type::Bool | Type::Array(..) | Type::Tuple(_) => Some(self.size),
            },
            Atom::Term(term) => self.operation(&term.expr, facts).or(Some(self.size)),
            Atom::Unknown(_) => Some(self.size),
        };
        let value = value.filter(|_| low <= high).map(|value| value.clamp(low, high));
        self.values.borrow_mut().insert(atom.clone(), value);
        value
    }

    /// What an opaque operation makes of its operands.
    fn operation(&self, expr: &Expr, facts: &Facts) -> Option<i128> {
        let Term::Prim(prim, args) = expr.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        let value = |expr: &Expr| self.polynomial(&Size::try_of_expr(expr)?, facts);
        let (a, b) = (value(a)?, value(b)?);
        match prim {
            Prim::Div => a.checked_div(b),
            Prim::Rem => a.checked_rem(b),
            Prim::Min => Some(a.min(b)),
            Prim::Max => Some(a.max(b)),
            _ => None,
        }
    }

    fn polynomial(&self, size: &Size, facts: &Facts) -> Option<i128> {
        size.terms().try_fold(0i128, |sum, (monomial, coefficient)| {
            let product =
                monomial.iter().try_fold(i128::from(coefficient), |product, atom| product.checked_mul(self.atom(atom, facts)?))?;
            sum.checked_add(product)
        })
    }
}
