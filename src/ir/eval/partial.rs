//! The partial meaning of a program: only where it is smooth (005 Section 2, Section 5).
//!
//! In: a primitive of Doubles and its operands. Out: why it has no value there, or nothing. A function of 005 is smooth on an open set and
//! has no value elsewhere; a predicate is true and false on open sets. So comparisons, `min` and `max` are undefined where their operands
//! are equal, `abs` at 0, `sqrt` at 0 and below, `floor` at integers, a quotient at a divisor of 0. Where the program has a value in this
//! meaning, it is differentiable there, and it has the same value in the total meaning.
//!
//!     max 1.0 2.0   →   2.0;     max 1.0 1.0   →   undefined
//!
//! A number that is compared with itself is no tie: `max v[0] v[0]` is v[0]. To see that, each Double that is read, written down or
//! bound by a derivative form has an identity, and an operation's result has one that its primitive and its operands give.
//! Identities are places of tag 0, as those of a [`record`](super::record).

use super::number::{Number, V};
use crate::ir::prim::Prim;

/// A constant's identities are even, a variable's odd.
const VARIABLE: u32 = 1;

/// Gives identities.
#[derive(Debug, Default)]
pub struct Identities {
    next: u32,
}

impl Identities {
    fn fresh(&mut self) -> u32 {
        self.next = self.next.wrapping_add(2);
        mixed(self.next, 0)
    }

    /// A number that depends on no input.
    pub fn constant(&mut self, value: f64) -> Number {
        Number::taped(0, self.fresh() & !VARIABLE, Number::Plain(value))
    }

    /// The value with an identity of its own for each Double: a variable that is bound to it.
    pub fn variable(&mut self, value: &V) -> V {
        value.map(&mut |number| number.with_primal(&mut |plain| Number::taped(0, self.fresh() | VARIABLE, Number::Plain(plain.value()))))
    }
}

/// A hash of two words.
fn mixed(a: u32, b: u32) -> u32 {
    let mut x = (u64::from(a) << 32 | u64::from(b)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) as u32
}

/// What an operation's identity has of an operand: a constant is its value.
fn key(number: &Number) -> u32 {
    match number.place(0).1 {
        Some(place) if place & VARIABLE == VARIABLE => place,
        Some(_) | None => {
            let bits = number.value().to_bits();
            mixed((bits >> 32) as u32, bits as u32)
        }
    }
}

/// The result of an operation on numbers with identities, or without.
pub fn result(prim: Prim, operands: &[&Number], value: f64) -> Number {
    if let (Prim::Min | Prim::Max, [x, y]) = (prim, operands) {
        return if value.to_bits() == x.value().to_bits() { (*x).clone() } else { (*y).clone() };
    }
    let varies = operands.iter().any(|number| is_variable(number));
    let place = operands.iter().fold(mixed(prim as u32, 0), |hash, operand| mixed(hash, key(operand)));
    Number::taped(0, if varies { place | VARIABLE } else { place & !VARIABLE }, Number::Plain(value))
}

fn is_variable(number: &Number) -> bool {
    number.innermost().place(0).1.is_some_and(|place| place & VARIABLE == VARIABLE)
}

fn is_same(x: &Number, y: &Number) -> bool {
    let (x, y) = (x.innermost().place(0).1, y.innermost().place(0).1);
    x.is_some() && x == y
}

/// Why a primitive of one Double is undefined at x: the end of a sentence that begins with its name.
pub fn unary(prim: Prim, x: &Number) -> Option<String> {
    let x = x.value();
    if x.is_nan() {
        return Some("has no value where its operand is NaN".into());
    }
    let outside = |is_outside: bool, domain: &str| is_outside.then(|| format!("is smooth {domain}, and its operand is {x:?}"));
    match prim {
        Prim::Sqrt | Prim::Log | Prim::Log2 | Prim::Log10 => outside(x <= 0.0, "above 0 only"),
        Prim::Abs | Prim::Sign | Prim::Cbrt => outside(x == 0.0, "everywhere but at 0"),
        Prim::Asin | Prim::Acos | Prim::Atanh => outside(x.abs() >= 1.0, "between -1 and 1 only"),
        Prim::Acosh => outside(x <= 1.0, "above 1 only"),
        Prim::Log1p => outside(x <= -1.0, "above -1 only"),
        Prim::Lgamma | Prim::Polygamma => outside(x <= 0.0 && x == x.floor(), "everywhere but at 0, -1, -2, …"),
        Prim::Floor | Prim::Ceil => outside(x == x.floor(), "between integers only"),
        Prim::Trunc | Prim::ToIndex => outside(x == x.floor() && x != 0.0, "at 0 and between integers only"),
        Prim::Round => outside(x - x.floor() == 0.5, "everywhere but halfway between integers"),
        Prim::Neg | Prim::Sin | Prim::Cos | Prim::Tan | Prim::Atan | Prim::Sinh | Prim::Cosh | Prim::Tanh | Prim::Exp | Prim::Erf => None,
        Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Exp2 | Prim::Sigmoid | Prim::Softplus => None,
        // of two operands, or of none that is a Double
        Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Rem | Prim::Pow | Prim::Min | Prim::Max | Prim::Atan2 | Prim::Hypot => None,
        Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => None,
        Prim::And | Prim::Or | Prim::Not | Prim::ToDouble => None,
    }
}

/// Why a primitive of two Doubles is undefined at x and y.
pub fn binary(prim: Prim, x: &Number, y: &Number) -> Option<String> {
    let (a, b) = (x.value(), y.value());
    if a.is_nan() || b.is_nan() {
        return Some("has no value where an operand is NaN".into());
    }
    match prim {
        Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Min | Prim::Max => {
            (a == b && !is_same(x, y)).then(|| format!("has no value where its operands are equal, and both are {a:?}"))
        }
        Prim::Div => (b == 0.0).then(|| "has no value where the divisor is 0".into()),
        Prim::Hypot => (a == 0.0 && b == 0.0).then(|| "is smooth everywhere but where both operands are 0".into()),
        Prim::Atan2 => (a == 0.0 && b <= 0.0)
            .then(|| format!("jumps where its first operand is 0 and its second is at most 0, and they are {a:?} and {b:?}")),
        Prim::Pow if a > 0.0 => None,
        // x ** 2.0 is a polynomial
        Prim::Pow if b == b.floor() && !is_variable(y) => {
            (a == 0.0 && b < 0.0).then(|| format!("has no value at 0 with the exponent {b:?}"))
        }
        Prim::Pow => Some(format!("is smooth for a base above 0, or a constant integer exponent, and its operands are {a:?} and {b:?}")),
        Prim::Add | Prim::Sub | Prim::Mul | Prim::Rem | Prim::Polygamma => None,
        Prim::Neg | Prim::Abs | Prim::Sin | Prim::Cos | Prim::Tan | Prim::Asin | Prim::Acos | Prim::Atan | Prim::Sinh | Prim::Cosh => None,
        Prim::Tanh | Prim::Log | Prim::Exp | Prim::Sqrt | Prim::Erf | Prim::Lgamma | Prim::Sign | Prim::Floor | Prim::Log1p => None,
        Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Acosh | Prim::Atanh | Prim::Cbrt | Prim::Exp2 | Prim::Log2 | Prim::Log10 => None,
        Prim::Ceil | Prim::Round | Prim::Trunc | Prim::Sigmoid | Prim::Softplus => None,
        Prim::And | Prim::Or | Prim::Not | Prim::ToDouble | Prim::ToIndex => None,
    }
}
