//! Numbers with tangents, or with places on a tape.
//!
//! A [`Number`] is a plain double, or a primal and a tangent under the tag of the `dual` term that gives it
//! one; both may be tagged again by enclosing ones. A number without a tag has no tangent for it at all: no
//! `0 * inf` from what the independent variable does not reach. Tags are nesting depths: because no value
//! outlives the evaluation of the `dual` whose tag it carries, a depth in use belongs to one evaluation, and
//! perturbations are never confused. What operations do with tangents is in [`arithmetic`](super::arithmetic).
//!
//! A number may also stand on a tape instead: the [`tape`](super::tape) of a `vjp` that is evaluated by backpropagators, or the
//! [`record`](super::record) of all operations. Then it has its place there in the place of a tangent.
//!
//!     x = 3 + ε   →   Dual of the primal 3 and the tangent 1

use std::rc::Rc;

use super::value::Value;

/// A value of the running program.
pub type V = Value<Number>;

#[derive(Clone, Debug)]
pub enum Number {
    Plain(f64),
    Dual(Rc<Dual>),
    Taped(Rc<Taped>),
}

/// A primal and a tangent; the tags inside both are smaller.
#[derive(Debug)]
pub struct Dual {
    tag: u32,
    primal: Number,
    tangent: Number,
}

/// A primal with its place on the tape of a tag; the tags inside are smaller.
#[derive(Debug)]
pub struct Taped {
    tag: u32,
    place: u32,
    primal: Number,
}

use Number::Plain;

impl Number {
    pub fn dual(tag: u32, primal: Number, tangent: Number) -> Number {
        Number::Dual(Rc::new(Dual { tag, primal, tangent }))
    }

    pub fn taped(tag: u32, place: u32, primal: Number) -> Number {
        Number::Taped(Rc::new(Taped { tag, place, primal }))
    }

    /// The double without any tangents.
    pub fn value(&self) -> f64 {
        match self {
            Plain(value) => *value,
            Number::Dual(dual) => dual.primal.value(),
            Number::Taped(taped) => taped.primal.value(),
        }
    }

    /// The primal and the place on the tape of a tag that no tag inside exceeds.
    pub fn place(&self, tag: u32) -> (&Number, Option<u32>) {
        match self {
            Number::Taped(taped) if taped.tag == tag => (&taped.primal, Some(taped.place)),
            Plain(_) | Number::Dual(_) | Number::Taped(_) => (self, None),
        }
    }

    /// Primal and tangent for a tag that no tag inside exceeds.
    pub fn split(&self, tag: u32) -> (&Number, Option<&Number>) {
        match self {
            Number::Dual(dual) if dual.tag == tag => (&dual.primal, Some(&dual.tangent)),
            Number::Taped(taped) if taped.tag == tag => (&taped.primal, None),
            Plain(_) | Number::Dual(_) | Number::Taped(_) => (self, None),
        }
    }

    /// The number without what derivative forms gave it: plain, or with its place in the record or its identity.
    pub fn innermost(&self) -> &Number {
        match self {
            Number::Dual(dual) => dual.primal.innermost(),
            Number::Taped(taped) if taped.tag > 0 => taped.primal.innermost(),
            Plain(_) | Number::Taped(_) => self,
        }
    }

    /// The number with another in the place of its innermost one.
    pub fn with_primal(&self, f: &mut dyn FnMut(&Number) -> Number) -> Number {
        match self {
            Number::Dual(dual) => Number::dual(dual.tag, dual.primal.with_primal(f), dual.tangent.clone()),
            Number::Taped(taped) if taped.tag > 0 => Number::taped(taped.tag, taped.place, taped.primal.with_primal(f)),
            Plain(_) | Number::Taped(_) => f(self),
        }
    }

    /// The outermost tag.
    pub fn tag(&self) -> Option<u32> {
        match self {
            Plain(_) => None,
            Number::Dual(dual) => Some(dual.tag),
            Number::Taped(taped) => Some(taped.tag),
        }
    }

    /// Gives a zero tangent for each tag in the set that has none yet.
    pub fn lift(&self, tags: u64) -> Number {
        let Some(top) = tags.checked_ilog2() else { return self.clone() };
        match self {
            Number::Dual(dual) if dual.tag >= top => {
                let rest = if dual.tag == top { tags & !(1 << top) } else { tags };
                Number::dual(dual.tag, dual.primal.lift(rest), dual.tangent.lift(rest))
            }
            Number::Taped(taped) if taped.tag >= top => {
                let rest = if taped.tag == top { tags & !(1 << top) } else { tags };
                Number::taped(taped.tag, taped.place, taped.primal.lift(rest))
            }
            Plain(_) | Number::Dual(_) | Number::Taped(_) => Number::dual(top, self.lift(tags & !(1 << top)), Plain(0.0)),
        }
    }
}
