//! Affine expressions of indices, as loops, their conditions and offsets have them.
//!
//! In: an expression of indices. Out: the multiples of what it adds up, and a number, where no arithmetic overflows:
//!
//!     (n + 1) - (p + 2)   →   n - p - 1

use std::collections::HashMap;

use crate::ir::Prim;

use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::values::index;
use crate::loops::visit::reads;

/// A sum of multiples of indices, and a number; of the arithmetic that cannot overflow.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    constant: i64,
    terms: Vec<(Value, i64)>,
}

impl Affine {
    pub fn of(value: &Value, named: &HashMap<Id, Value>) -> Affine {
        Affine::within(value, named).unwrap_or_else(|| Affine { constant: 0, terms: vec![(value.clone(), 1)] })
    }

    fn within(value: &Value, named: &HashMap<Id, Value>) -> Option<Affine> {
        match value {
            Value::Index(constant) => Some(Affine { constant: *constant, terms: Vec::new() }),
            Value::Local(id) => named.get(id).and_then(|value| Affine::within(value, named)),
            Value::Prim { prim, elem: Elem::Index, plain: true, args } => match (prim, args.as_slice()) {
                (Prim::Add, [a, b]) => Affine::of(a, named).combined(&Affine::of(b, named), 1),
                (Prim::Sub, [a, b]) => Affine::of(a, named).combined(&Affine::of(b, named), -1),
                _ => None,
            },
            Value::Double(_)
            | Value::Bool(_)
            | Value::Prim { .. }
            | Value::InRow(_)
            | Value::Load { .. }
            | Value::Select(_)
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => None,
        }
    }

    /// This and so many times the other; `None` where a number is too large.
    fn combined(&self, other: &Affine, times: i64) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (term, factor) in &other.terms {
            let factor = factor.checked_mul(times)?;
            match sum.terms.iter_mut().find(|(known, _)| known == term) {
                Some((_, known)) => *known = known.checked_add(factor)?,
                None => sum.terms.push((term.clone(), factor)),
            }
        }
        sum.terms.retain(|(_, factor)| *factor != 0);
        Some(sum)
    }

    /// Stands for a sum whose numbers overflow: it equals nothing, and nothing is known of it.
    fn unknown() -> Affine {
        Affine { constant: 0, terms: vec![(Value::Bool(false), 1)] }
    }

    /// By how much this grows with an index that is a term, or a term's factor beside a number.
    pub fn step(&self, id: Id) -> i64 {
        let step = |(term, factor): &(Value, i64)| steps(term, id).unwrap_or(0).saturating_mul(*factor);
        self.terms.iter().map(step).fold(0, i64::saturating_add)
    }

    /// This and so many times the other; on overflow, an opaque term.
    pub fn plus_multiple(&self, other: &Affine, times: i64) -> Affine {
        self.combined(other, times).unwrap_or_else(Affine::unknown)
    }

    /// The difference; on overflow, an opaque term.
    pub fn minus(&self, other: &Affine) -> Affine {
        self.plus_multiple(other, -1)
    }

    pub fn plus(mut self, more: i64) -> Affine {
        match self.constant.checked_add(more) {
            Some(constant) => self.constant = constant,
            None => self.terms.push((Value::Bool(false), 1)),
        }
        self
    }

    fn without(mut self, id: Id) -> Affine {
        self.terms.retain(|(term, _)| *term != Value::Local(id));
        self
    }

    /// It with an expression in the place of an index; on overflow, an opaque term.
    pub fn at(&self, id: Id, by: &Affine) -> Affine {
        let factor = self.factor(id);
        let rest = self.clone().without(id);
        rest.plus_multiple(by, factor)
    }

    /// Whether it is never negative, whatever its parts are within their ranges.
    pub fn is_natural(&self, ranges: &Ranges) -> bool {
        let least = |(term, factor): &(Value, i64)| {
            let (low, high) = ranges.of(term);
            (if *factor > 0 { low } else { high }).checked_mul(*factor as i128)
        };
        self.terms.iter().try_fold(self.constant as i128, |sum, term| sum.checked_add(least(term)?)).is_some_and(|least| least >= 0)
    }

    /// What it is besides numbers.
    pub fn terms(&self) -> impl Iterator<Item = &Value> {
        self.terms.iter().map(|(term, _)| term)
    }

    /// How often it has an index.
    pub fn factor(&self, id: Id) -> i64 {
        self.terms.iter().find(|(term, _)| *term == Value::Local(id)).map_or(0, |(_, factor)| *factor)
    }

    /// The number that it is.
    pub fn constant_value(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// One index, and a number.
    pub fn beside(&self) -> Option<Value> {
        matches!(self.terms.as_slice(), [(Value::Local(_), 1)]).then(|| self.value()).flatten()
    }

    /// `n`, `n - 1`, `n - p`: what is added first, then what is taken away; `None` for multiples.
    pub fn value(&self) -> Option<Value> {
        let part = |wanted: i64| self.terms.iter().filter(move |(_, factor)| *factor == wanted).map(|(term, _)| term.clone());
        if self.terms.iter().any(|(term, factor)| !matches!(factor, 1 | -1) || matches!(term, Value::Bool(_))) {
            return None;
        }
        let mut sum = part(1).reduce(|a, b| index(Prim::Add, a, b))?;
        if self.constant > 0 {
            sum = index(Prim::Add, sum, Value::Index(self.constant));
        }
        sum = part(-1).fold(sum, |sum, term| index(Prim::Sub, sum, term));
        Some(if self.constant < 0 { index(Prim::Sub, sum, Value::Index(self.constant.checked_neg()?)) } else { sum })
    }
}

/// What a condition says of an index.
pub enum Says {
    /// It is this or higher; or else, if `false`, lower.
    From(Affine, bool),
    /// It is this; or else not.
    At(Affine, bool),
}

impl Says {
    /// `None` where a condition is no comparison, or one of anything but the index once and others.
    pub fn of(cond: &Value, i: Id, named: &HashMap<Id, Value>) -> Option<Says> {
        let Value::Prim { prim, elem: Elem::Index, args, .. } = cond else { return None };
        let [a, b] = args.as_slice() else { return None };
        if !matches!(prim, Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Eq | Prim::Ne) {
            return None;
        }
        let distance = Affine::of(b, named).minus(&Affine::of(a, named));
        let sign = distance.factor(i);
        // b - a is sign * (i - zero)
        let rest = distance.without(i);
        let zero = match sign {
            1 => Affine::default().minus(&rest),
            -1 => rest,
            _ => return None,
        };
        let up = sign == 1;
        Some(match prim {
            Prim::Lt | Prim::Ge => {
                let yes = (*prim == Prim::Lt) == up;
                // a < b: i > zero, or i < zero
                Says::From(if up { zero.plus(1) } else { zero }, yes)
            }
            Prim::Le | Prim::Gt => {
                let yes = (*prim == Prim::Le) == up;
                // a <= b: i >= zero, or i <= zero
                Says::From(if up { zero } else { zero.plus(1) }, yes)
            }
            prim => Says::At(zero, *prim == Prim::Eq),
        })
    }
}

/// For the larger or smaller of two indices, one of which changes with i: whether it is that one.
pub fn is_the_moving(value: &Value, i: Id, named: &HashMap<Id, Value>) -> Option<Value> {
    let Value::Prim { prim: prim @ (Prim::Max | Prim::Min), elem: Elem::Index, args, .. } = value else { return None };
    let [a, b] = args.as_slice() else { return None };
    let moves = |value: &Value| Affine::of(value, named).factor(i) != 0;
    let (fixed, moving) = match (moves(a), moves(b)) {
        (false, true) => (a, b),
        (true, false) => (b, a),
        _ => return None,
    };
    let args = if *prim == Prim::Max { vec![fixed.clone(), moving.clone()] } else { vec![moving.clone(), fixed.clone()] };
    Some(Value::Prim { prim: Prim::Le, elem: Elem::Index, plain: true, args })
}

/// By how much a subscript grows with an index, where that is a number.
pub fn growth(subscript: &Value, i: Id, named: &HashMap<Id, Value>) -> Option<i64> {
    let sum = Affine::of(subscript, named);
    sum.terms().all(|term| steps(term, i).is_some() || !reads(term, i)).then(|| sum.step(i))
}

/// The coefficient of an index in a term: of `i` and `3 * i`.
pub fn steps(term: &Value, id: Id) -> Option<i64> {
    match term {
        Value::Local(own) => (*own == id).then_some(1),
        Value::Prim { prim: Prim::Mul, elem: Elem::Index, plain: true, args } => match args.as_slice() {
            [Value::Local(own), Value::Index(times)] | [Value::Index(times), Value::Local(own)] => (*own == id).then_some(*times),
            _ => None,
        },
        _ => None,
    }
}
