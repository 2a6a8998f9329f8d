//! Activity: which parts of a value the independent variables of the enclosing `dual` terms reach.
//!
//! Whether an expression has a tangent is decided by the program's text, not by the branch that a run takes:
//! `if c then x else 0.0` has one, which is zero where `c` is false. So where control flow joins (branches,
//! accumulators, array literals) [`code`](super::code) lifts each side to the activity of all.
//!
//!     x active:   (x * 2.0, 1.0)   has activity   Parts [Leaf {0}, Leaf {}]
//!
//! A set of tags is a bit mask; tags above 63 are not lifted.

use std::rc::Rc;

use super::number::Number;
use super::value::Value;
use crate::ir::term::Type;

/// The activity of a value of some type; that of an array is the union of its elements'.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// The tags of the `dual` terms that give a Double a tangent; empty for Index and Bool.
    Leaf(u64),
    Parts(Rc<[Activity]>),
}

/// The mask of one tag.
pub fn tag_bit(tag: u32) -> u64 {
    1u64.checked_shl(tag).unwrap_or(0)
}

impl Activity {
    pub const NONE: Activity = Activity::Leaf(0);

    /// Every Double of the type active for the tags.
    pub fn of(ty: &Type, tags: u64) -> Activity {
        match ty {
            // all Doubles of a value of a recursive type alike
            Type::Double | Type::Rec(_) => Activity::Leaf(tags),
            Type::Index(_) | Type::Bool => Activity::NONE,
            Type::Array(element, _) => Activity::of(element, tags),
            Type::Tuple(parts) => Activity::Parts(parts.iter().map(|part| Activity::of(part, tags)).collect()),
        }
    }

    /// The tags of all leaves together.
    pub fn tags(&self) -> u64 {
        match self {
            Activity::Leaf(tags) => *tags,
            Activity::Parts(parts) => parts.iter().fold(0, |tags, part| tags | part.tags()),
        }
    }

    pub fn join(&self, other: &Activity) -> Activity {
        match (self, other) {
            (Activity::Leaf(a), Activity::Leaf(b)) => Activity::Leaf(a | b),
            (Activity::Parts(a), Activity::Parts(b)) => Activity::Parts(a.iter().zip(b.iter()).map(|(a, b)| a.join(b)).collect()),
            (Activity::Parts(_), Activity::Leaf(_)) => self.clone(),
            (Activity::Leaf(_), Activity::Parts(_)) => other.clone(),
        }
    }

    pub fn part(&self, index: usize) -> Activity {
        match self {
            Activity::Parts(parts) => parts.get(index).cloned().unwrap_or(Activity::NONE),
            Activity::Leaf(_) => Activity::NONE,
        }
    }

    /// Of the dual of a value of type `ty`: the primal loses the tag, the tangent has what it or `x`'s
    /// tangent has where there is one, and is the literal 0 elsewhere.
    pub fn dual(&self, ty: &Type, tag: u64, tangent: u64) -> Activity {
        match ty {
            Type::Double | Type::Rec(_) => {
                let own = self.tags();
                let rest = own & !tag;
                Activity::Parts([Activity::Leaf(rest), Activity::Leaf(if own == rest { 0 } else { rest | tangent })].into())
            }
            Type::Index(_) | Type::Bool => Activity::NONE,
            Type::Array(element, _) => self.dual(element, tag, tangent),
            Type::Tuple(parts) => {
                Activity::Parts(parts.iter().enumerate().map(|(k, part)| self.part(k).dual(part, tag, tangent)).collect())
            }
        }
    }

    /// The same without a tag.
    pub fn without(&self, tag: u64) -> Activity {
        match self {
            Activity::Leaf(tags) => Activity::Leaf(tags & !tag),
            Activity::Parts(parts) => Activity::Parts(parts.iter().map(|part| part.without(tag)).collect()),
        }
    }

    /// The value with a zero tangent where it lacks one that its activity says it has.
    pub fn lift(&self, value: Value<Number>) -> Value<Number> {
        if self.tags() == 0 {
            return value;
        }
        match (value, self) {
            (Value::Double(number), Activity::Leaf(tags)) => Value::Double(number.lift(*tags)),
            (value @ Value::Rolled(_), Activity::Leaf(tags)) => value.map(&mut |number| number.lift(*tags)),
            (Value::Tuple(parts), Activity::Parts(activities)) => {
                Value::tuple(parts.iter().zip(activities.iter()).map(|(part, activity)| activity.lift(part.clone())).collect())
            }
            (Value::Array(array), _) => {
                Value::from_items(array.element.clone(), array.items.iter().map(|item| self.lift(item.clone())).collect())
            }
            (value, _) => value,
        }
    }
}
