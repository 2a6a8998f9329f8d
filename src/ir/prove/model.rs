//! Models: integers for atoms, under which everything that is known holds. What is false in one has no proof, and need
//! not be searched for.
//!
//! In: the facts of a place, a polynomial. Out: whether some model makes it negative.
//!
//!     0 ≤ i < n:   is i - 1 ≥ 0?   No: n = 7, i = 0.
//!
//! A few models are tried: sizes small or large; indices first, last or anywhere; what has no bound of its own as near
//! to a size as the facts about it allow. One that breaks a fact is dropped, so that a wrong guess only costs the search. Limits: this
//! must know all that a proof may use: ranges, facts, and the types of the atoms in both.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::range::TYPES;
use super::{Facts, LENGTH};
use crate::ir::prim::Prim;
use crate::ir::term::{Atom, Expr, Size, Term, Type};

/// Where the indices of a model stand.
#[derive(Clone, Copy, Debug)]
enum Place {
    First,
    Last,
    /// Anywhere, by their numbers: two indices seldom in the same place.
    Spread(u32),
}

/// A size, a number that nothing bounds, and where indices stand.
#[derive(Clone, Copy, Debug)]
struct Guess(i128, i128, Place);

const GUESSES: [Guess; 9] = [
    Guess(7, 7, Place::First),
    Guess(7, 7, Place::Last),
    Guess(1, 1, Place::First),
    Guess(1000, 1000, Place::Last),
    Guess(1000, 1000, Place::Spread(0x9e37_79b1)),
    Guess(1000, 1000, Place::Spread(0x85eb_ca6b)),
    Guess(7, 1, Place::First),
    Guess(1000, 3, Place::Last),
    Guess(1000, 2, Place::Spread(0x9e37_79b1)),
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
    guess: Guess,
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
                let Some(values) = GUESSES.get(guess) else { return false };
                let model = Rc::new(Model { guess: *values, values: RefCell::default() });
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
        let ranges = self.ranges.iter().all(|(monomial, (low, high))| {
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
                    Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => true,
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
        let Guess(size, number, place) = self.guess;
        let near = if high > LENGTH { number } else { size };
        let computed = if let Atom::Term(term) = atom { self.operation(&term.expr, facts) } else { None };
        let value = match atom {
            Atom::Var(var) => match var.ty() {
                Type::Index(Some(bound)) => self.equal(atom, facts).filter(|value| (low..=high).contains(value)).or_else(|| {
                    // a size may wait for its index
                    let bound = self.polynomial(bound, facts).unwrap_or(size);
                    Some(match place {
                        Place::First => low,
                        Place::Last => bound - 1,
                        Place::Spread(step) => i128::from(var.id().wrapping_mul(step) >> 8) % bound.max(1),
                    })
                }),
                Type::Index(None) => self.equal(atom, facts).or_else(|| self.allowed(atom, near, facts)),
                Type::Double | Type::Bool | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => Some(size),
            },
            // of other operations nothing is known
            Atom::Term(term) if matches!(term.expr.term(), Term::Prim(Prim::Min | Prim::Max | Prim::Div | Prim::Rem, _)) => computed,
            Atom::Term(_) => computed.or(Some(size)),
            Atom::Unknown(_) => Some(size),
        };
        // what an operation gives is not for this to choose
        let allowed = |value: &i128| if computed.is_some() { (low..=high).contains(value) } else { low <= high };
        let value = value.filter(allowed).map(|value| value.clamp(low, high));
        self.values.borrow_mut().insert(atom.clone(), value);
        value
    }

    /// The value of what the atom is known to equal; not of a name that is free to follow it.
    fn equal(&self, atom: &Atom, facts: &Facts) -> Option<i128> {
        let (_, value) = facts.equal.iter().find(|(known, _)| known == atom)?;
        let is_free = value.as_var().is_some_and(|var| matches!(var.ty(), Type::Index(None)));
        if is_free { None } else { self.polynomial(value, facts) }
    }

    /// The value nearest to this one that no fact forbids whose other atoms have values already.
    fn allowed(&self, atom: &Atom, near: i128, facts: &Facts) -> Option<i128> {
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
        (low <= high).then(|| near.clamp(low, high))
    }

    /// What an opaque operation makes of its operands.
    fn operation(&self, expr: &Expr, facts: &Facts) -> Option<i128> {
        match expr.term() {
            Term::If(cond, a, b) => self.index(if self.condition(cond, facts)? { a } else { b }, facts),
            Term::Prim(prim, args) => {
                let [a, b] = args.as_slice() else { return None };
                let (a, b) = (self.index(a, facts)?, self.index(b, facts)?);
                match prim {
                    Prim::Div => a.checked_div(b),
                    Prim::Rem => a.checked_rem(b),
                    Prim::Min => Some(a.min(b)),
                    Prim::Max => Some(a.max(b)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn condition(&self, cond: &Expr, facts: &Facts) -> Option<bool> {
        let Term::Prim(prim, args) = cond.term() else { return None };
        match (prim, args.as_slice()) {
            (Prim::Not, [a]) => self.condition(a, facts).map(|value| !value),
            (Prim::And, [a, b]) => Some(self.condition(a, facts)? && self.condition(b, facts)?),
            (Prim::Or, [a, b]) => Some(self.condition(a, facts)? || self.condition(b, facts)?),
            (_, [a, b]) => {
                let (a, b) = (self.index(a, facts)?, self.index(b, facts)?);
                match prim {
                    Prim::Eq => Some(a == b),
                    Prim::Ne => Some(a != b),
                    Prim::Lt => Some(a < b),
                    Prim::Le => Some(a <= b),
                    Prim::Gt => Some(a > b),
                    Prim::Ge => Some(a >= b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn index(&self, expr: &Expr, facts: &Facts) -> Option<i128> {
        self.polynomial(&Size::try_of_expr(expr)?, facts)
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
