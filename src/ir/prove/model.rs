//! Models: integers for atoms, under which everything that is known holds. What is false in one has no proof, and need
//! not be searched for.
//!
//! In: the facts of a place, a polynomial. Out: whether some model makes it negative.
//!
//!     0 ≤ i < n:   is i - 1 ≥ 0?   No: n = 7, i = 0.
//!
//! A few models are tried: sizes small or large; indices first, last or anywhere; what has no bound of its own as near
//! to a size as the facts about it allow. One that breaks a fact is dropped, so that a wrong guess only costs the search. Limits: this must know all that a proof may use: ranges, facts, and the types of
//! the atoms in both.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Facts;
use super::range::TYPES;
use crate::ir::prim::Prim;
use crate::ir::size::{Atom, Size};
use crate::ir::term::{Expr, Term};
use crate::ir::types::Type;

/// Where the indices of a model stand.
#[derive(Clone, Copy, Debug)]
enum Place {
    First,
    Last,
    /// Anywhere, by their numbers: two indices seldom in the same place.
    Spread(u32),
}

/// The size of what has no other, and where indices stand.
const GUESSES: [(i128, Place); 6] = [
    (7, Place::First),
    (7, Place::Last),
    (1, Place::First),
    (1000, Place::Last),
    (1000, Place::Spread(0x9e37_79b1)),
    (1000, Place::Spread(0x85eb_ca6b)),
];

/// What is tried against the goals of one place; nothing before the first goal. Scopes share a model until a fact breaks
/// it in one of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Models(RefCell<Vec<Trial>>);

#[derive(Clone, Debug)]
enum Trial {
    /// To be made when it is needed: the guess.
    Open(usize),
    Holds(usize, Rc<Model>),
}

#[derive(Debug)]
struct Model {
    size: i128,
    place: Place,
    values: RefCell<FxHashMap<Atom, Option<i128>>>,
}

impl Facts {
    /// Whether the polynomial is negative in one of the models: then it cannot be proved to be ≥ 0.
    pub(super) fn is_refuted(&self, goal: &Size) -> bool {
        let mut trials = self.models.0.borrow_mut();
        if trials.is_empty() {
            trials.extend((0..GUESSES.len()).map(Trial::Open));
        }
        trials.iter_mut().any(|trial| {
            if let Trial::Open(guess) = *trial {
                let Some((size, place)) = GUESSES.get(guess) else { return false };
                let model = Rc::new(Model { size: *size, place: *place, values: RefCell::default() });
                if !self.hold_in(&model) {
                    *trial = Trial::Open(GUESSES.len());
                    return false;
                }
                *trial = Trial::Holds(guess, model);
            }
            let Trial::Holds(_, model) = trial else { return false };
            model.polynomial(goal, self).is_some_and(|value| value < 0) && self.types_hold_in(goal, model, TYPES)
        })
    }

    /// A model that a new fact breaks is made again from its guess.
    pub(super) fn recheck_models(&self, fact: &Size) {
        for trial in self.models.0.borrow_mut().iter_mut() {
            if let Trial::Holds(guess, model) = trial
                && !(model.polynomial(fact, self).is_some_and(|value| value >= 0) && self.types_hold_in(fact, model, TYPES))
            {
                *trial = Trial::Open(*guess);
            }
        }
    }

    fn hold_in(&self, model: &Model) -> bool {
        // what its type bounds and what an operation gives come first: the rest is chosen to go with them
        let first = |atom: &&Atom| match atom {
            Atom::Var(var) => matches!(var.ty(), Type::Index(Some(_))),
            Atom::Term(_) => true,
            Atom::Unknown(_) => false,
        };
        let known = self.nonnegative.in_order();
        for atom in known.iter().flat_map(|fact| fact.size.atoms()).filter(first) {
            model.atom(atom, self);
        }
        let ranges = self.ranges.in_order().into_iter().all(|(monomial, (low, high))| {
            let size = monomial.iter().fold(Size::constant(1), |product, atom| product.mul(&Size::atom(atom.clone())));
            model.polynomial(&size, self).is_some_and(|value| (*low..=*high).contains(&value)) && self.types_hold_in(&size, model, TYPES)
        });
        let holds = |fact: &Size| model.polynomial(fact, self).is_some_and(|value| value >= 0) && self.types_hold_in(fact, model, TYPES);
        ranges && known.iter().all(|fact| holds(&fact.size))
    }

    /// Whether the atoms of a polynomial have values of their types.
    fn types_hold_in(&self, size: &Size, model: &Model, follow: u32) -> bool {
        size.atoms().all(|atom| {
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
                Type::Index(Some(bound)) => self.polynomial(bound, facts).map(|bound| match self.place {
                    Place::First => low,
                    Place::Last => bound - 1,
                    Place::Spread(step) => i128::from(var.id().wrapping_mul(step) >> 8) % bound.max(1),
                }),
                Type::Index(None) => self.allowed(atom, facts),
                Type::Double | Type::Bool | Type::Array(..) | Type::Tuple(_) => Some(self.size),
            },
            Atom::Term(term) => self.operation(&term.expr, facts).or(Some(self.size)),
            Atom::Unknown(_) => Some(self.size),
        };
        // what an operation gives is not for this to choose
        let computed = matches!(atom, Atom::Term(term) if self.operation(&term.expr, facts).is_some());
        let allowed = |value: &i128| if computed { (low..=high).contains(value) } else { low <= high };
        let value = value.filter(allowed).map(|value| value.clamp(low, high));
        self.values.borrow_mut().insert(atom.clone(), value);
        value
    }

    /// The value nearest to this model's size that no fact forbids whose other atoms have values already.
    fn allowed(&self, atom: &Atom, facts: &Facts) -> Option<i128> {
        let (mut low, mut high) = (i128::MIN, i128::MAX);
        let alone = std::slice::from_ref(atom);
        for fact in facts.nonnegative.iter().map(|fact| &fact.size) {
            let Some((_, sign)) = fact.terms().find(|(monomial, sign)| monomial.as_ref() == alone && sign.unsigned_abs() == 1) else {
                continue;
            };
            let lone = Size::atom(atom.clone());
            // ±atom + rest ≥ 0
            match sum(&if sign == 1 { fact.sub(&lone) } else { fact.add(&lone) }, &mut |atom| *self.values.borrow().get(atom)?) {
                Some(rest) if sign == 1 => low = low.max(-rest),
                Some(rest) => high = high.min(rest),
                None => {}
            }
        }
        (low <= high).then(|| self.size.clamp(low, high))
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
        sum(size, &mut |atom| self.atom(atom, facts))
    }
}

/// The polynomial's value; `None` where an atom has none, or where it leaves what is computed with.
fn sum(size: &Size, value: &mut dyn FnMut(&Atom) -> Option<i128>) -> Option<i128> {
    size.terms().try_fold(0i128, |sum, (monomial, coefficient)| {
        let product = monomial.iter().try_fold(i128::from(coefficient), |product, atom| product.checked_mul(value(atom)?))?;
        sum.checked_add(product)
    })
}
