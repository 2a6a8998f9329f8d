//! Arithmetic on numbers with tangents: what gives `dual` its meaning, independent of `ad/`.
//!
//! In: a primitive and its operands. Out: its value, with a tangent under each tag under which an operand has one. The derivative of
//! every primitive is here, by docs/language.md, Derivatives (001 Figure 7). Operations on what stands on a tape are
//! in [`backpropagators`](super::backpropagators).
//!
//!     x = 3 + ε:   x * x   →   9 + 6ε

use super::number::Number;
use super::tape::Tapes;
use super::{Trace, real};
use crate::ir::prim::Prim;

/// The arithmetic on numbers: what it did, and the tapes that it writes.
#[derive(Debug, Default)]
pub struct Arithmetic {
    pub trace: Trace,
    pub tapes: Tapes,
}

use Number::Plain;

impl Trace {
    /// Takes note of a double that was met.
    pub fn meet(&mut self, x: f64) -> f64 {
        let size = x.abs();
        if size > self.largest && size.is_finite() {
            self.largest = size;
        }
        x
    }
}

/// The arithmetic, which counts what it does.
impl Arithmetic {
    /// The number that an operation on plain ones gives.
    pub fn result(&mut self, x: f64) -> Number {
        self.trace.counts.arithmetic += 1;
        Plain(self.trace.meet(x))
    }

    /// A primitive of one Double; `None` for any other primitive.
    pub fn unary(&mut self, prim: Prim, x: &Number) -> Option<Number> {
        let Some(tag) = self.tapes.top(x.tag()) else { return real::unary(prim, x.value()).map(|value| self.result(value)) };
        if self.tapes.has(tag) {
            return self.taped_unary(tag, prim, x);
        }
        let (x, Some(dx)) = x.split(tag) else { return None };
        let r = self.unary(prim, x)?;
        Some(match self.unary_tangent(prim, x, &r, dx)? {
            Some(tangent) => Number::dual(tag, r, tangent),
            None => r,
        })
    }

    /// A primitive of two Doubles that gives one; `None` for any other primitive.
    pub fn binary(&mut self, prim: Prim, x: &Number, y: &Number) -> Option<Number> {
        let Some(tag) = self.tapes.top(x.tag().max(y.tag())) else {
            return real::binary(prim, x.value(), y.value()).map(|value| self.result(value));
        };
        if self.tapes.has(tag) {
            return self.taped_binary(tag, prim, x, y);
        }
        let ((x, dx), (y, dy)) = (x.split(tag), y.split(tag));
        let r = self.binary(prim, x, y)?;
        let tangent = self.binary_tangent(prim, (x, dx), (y, dy), &r)?;
        Some(Number::dual(tag, r, tangent))
    }

    pub fn polygamma(&mut self, k: i64, x: &Number) -> Number {
        let Some(tag) = self.tapes.top(x.tag()) else { return self.result(real::polygamma(k, x.value())) };
        if self.tapes.has(tag) {
            return self.taped_polygamma(tag, k, x);
        }
        let (primal, tangent) = x.split(tag);
        let r = self.polygamma(k, primal);
        let slope = self.polygamma(k.saturating_add(1), primal);
        let Some(tangent) = tangent else { return r };
        let tangent = self.mul(&slope, tangent);
        Number::dual(tag, r, tangent)
    }

    /// The tangent of a primitive of one Double: the outer `None` for any other, the inner one for the
    /// piecewise constant ones.
    pub(super) fn unary_tangent(&mut self, prim: Prim, x: &Number, r: &Number, dx: &Number) -> Option<Option<Number>> {
        Some(Some(match prim {
            Prim::Neg => self.neg(dx),
            Prim::Abs => self.scale(Prim::Sign, x, dx)?,
            Prim::Sin => self.scale(Prim::Cos, x, dx)?,
            Prim::Cos => {
                let slope = self.unary(Prim::Sin, x)?;
                let slope = self.neg(&slope);
                self.mul(&slope, dx)
            }
            Prim::Tan => {
                let square = self.mul(r, r);
                let slope = self.add(&Plain(1.0), &square);
                self.mul(&slope, dx)
            }
            Prim::Asin | Prim::Acos => {
                let square = self.mul(x, x);
                let rest = self.sub(&Plain(1.0), &square);
                let root = self.unary(Prim::Sqrt, &rest)?;
                let dx = if prim == Prim::Asin { dx.clone() } else { self.neg(dx) };
                self.div(&dx, &root)
            }
            Prim::Atan => {
                let square = self.mul(x, x);
                let divisor = self.add(&Plain(1.0), &square);
                self.div(dx, &divisor)
            }
            Prim::Sinh => self.scale(Prim::Cosh, x, dx)?,
            Prim::Cosh => self.scale(Prim::Sinh, x, dx)?,
            Prim::Tanh => {
                let square = self.mul(r, r);
                let slope = self.sub(&Plain(1.0), &square);
                self.mul(&slope, dx)
            }
            Prim::Log => self.div(dx, x),
            Prim::Exp => self.mul(r, dx),
            Prim::Sqrt => {
                let twice = self.mul(&Plain(2.0), r);
                self.div(dx, &twice)
            }
            Prim::Erf => {
                let square = self.mul(x, x);
                let exponent = self.neg(&square);
                let bell = self.unary(Prim::Exp, &exponent)?;
                let slope = self.mul(&Plain(std::f64::consts::FRAC_2_SQRT_PI), &bell);
                self.mul(&slope, dx)
            }
            Prim::Lgamma => {
                let slope = self.polygamma(0, x);
                self.mul(&slope, dx)
            }
            Prim::Log1p => {
                let divisor = self.add(&Plain(1.0), x);
                self.div(dx, &divisor)
            }
            Prim::Expm1 => {
                let slope = self.add(&Plain(1.0), r);
                self.mul(&slope, dx)
            }
            Prim::Erfc => {
                let slope = self.unary_tangent(Prim::Erf, x, r, &Plain(1.0))??;
                let slope = self.neg(&slope);
                self.mul(&slope, dx)
            }
            Prim::Asinh | Prim::Acosh => {
                let square = self.mul(x, x);
                let inside = if prim == Prim::Asinh { self.add(&square, &Plain(1.0)) } else { self.sub(&square, &Plain(1.0)) };
                let root = self.unary(Prim::Sqrt, &inside)?;
                self.div(dx, &root)
            }
            Prim::Atanh => {
                let square = self.mul(x, x);
                let divisor = self.sub(&Plain(1.0), &square);
                self.div(dx, &divisor)
            }
            Prim::Cbrt => {
                let square = self.mul(r, r);
                let thrice = self.mul(&Plain(3.0), &square);
                self.div(dx, &thrice)
            }
            Prim::Exp2 => {
                let slope = self.mul(&Plain(std::f64::consts::LN_2), r);
                self.mul(&slope, dx)
            }
            Prim::Log2 | Prim::Log10 => {
                let base = if prim == Prim::Log2 { std::f64::consts::LN_2 } else { std::f64::consts::LN_10 };
                let divisor = self.mul(&Plain(base), x);
                self.div(dx, &divisor)
            }
            Prim::Sigmoid => {
                let rest = self.sub(&Plain(1.0), r);
                let slope = self.mul(r, &rest);
                self.mul(&slope, dx)
            }
            Prim::Softplus => self.scale(Prim::Sigmoid, x, dx)?,
            Prim::Sign | Prim::Floor | Prim::Ceil | Prim::Round | Prim::Trunc => return Some(None),
            Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Rem | Prim::Pow | Prim::Min | Prim::Max | Prim::Atan2 | Prim::Hypot => {
                return None;
            }
            Prim::Polygamma | Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => return None,
            Prim::And | Prim::Or | Prim::Not | Prim::ToDouble | Prim::ToIndex => return None,
        }))
    }

    /// The slope of `x ** y` in x, where y is no constant 0.
    pub(super) fn power_slope(&mut self, x: &Number, y: &Number) -> Option<Number> {
        let less = self.sub(y, &Plain(1.0));
        let power = self.binary(Prim::Pow, x, &less)?;
        Some(self.mul(y, &power))
    }

    /// The tangent of a primitive of two Doubles of which at least one has a tangent; `r` is its value.
    pub(super) fn binary_tangent(
        &mut self,
        prim: Prim,
        (x, dx): (&Number, Option<&Number>),
        (y, dy): (&Number, Option<&Number>),
        r: &Number,
    ) -> Option<Number> {
        match prim {
            Prim::Add => Some(match (dx, dy) {
                (Some(dx), Some(dy)) => self.add(dx, dy),
                _ => dx.or(dy)?.clone(),
            }),
            Prim::Sub => Some(match (dx, dy) {
                (Some(dx), Some(dy)) => self.sub(dx, dy),
                (Some(dx), None) => dx.clone(),
                (None, dy) => self.neg(dy?),
            }),
            Prim::Mul => {
                let left = dx.map(|dx| self.mul(dx, y));
                let right = dy.map(|dy| self.mul(x, dy));
                self.sum(left, right)
            }
            Prim::Div => {
                let pull = dy.map(|dy| self.mul(r, dy));
                let rise = match (dx, pull) {
                    (Some(dx), Some(pull)) => self.sub(dx, &pull),
                    (Some(dx), None) => dx.clone(),
                    (None, pull) => self.neg(&pull?),
                };
                Some(self.div(&rise, y))
            }
            Prim::Pow => {
                let left = match dx {
                    Some(_) if dy.is_none() && y.value() == 0.0 => Some(Plain(0.0)),
                    Some(dx) => {
                        let slope = self.power_slope(x, y)?;
                        Some(self.mul(&slope, dx))
                    }
                    None => None,
                };
                let right = match dy {
                    Some(_) if x.value() == 0.0 && y.value() > 0.0 => Some(Plain(0.0)),
                    Some(dy) => {
                        let log = self.unary(Prim::Log, x)?;
                        let slope = self.mul(&log, r);
                        Some(self.mul(&slope, dy))
                    }
                    None => None,
                };
                self.sum(left, right)
            }
            Prim::Min | Prim::Max => {
                let (a, b) = (x.value(), y.value());
                let first = a.is_nan() || if prim == Prim::Min { a <= b } else { a >= b };
                Some(if first { dx } else { dy }.cloned().unwrap_or(Plain(0.0)))
            }
            Prim::Atan2 => {
                let left = dx.map(|dx| self.mul(y, dx));
                let right = dy.map(|dy| self.mul(x, dy));
                let rise = match (left, right) {
                    (Some(left), Some(right)) => self.sub(&left, &right),
                    (Some(left), None) => left,
                    (None, right) => self.neg(&right?),
                };
                let (xx, yy) = (self.mul(x, x), self.mul(y, y));
                let norm = self.add(&xx, &yy);
                Some(self.div(&rise, &norm))
            }
            Prim::Hypot if r.value() == 0.0 => Some(Plain(0.0)),
            Prim::Hypot => {
                let mut share = |of: &Number, tangent: &Number| {
                    let slope = self.div(of, r);
                    self.mul(&slope, tangent)
                };
                let (left, right) = (dx.map(|dx| share(x, dx)), dy.map(|dy| share(y, dy)));
                self.sum(left, right)
            }
            Prim::Rem | Prim::Neg | Prim::Abs | Prim::Sin | Prim::Cos | Prim::Tan | Prim::Asin | Prim::Acos | Prim::Atan => None,
            Prim::Sinh | Prim::Cosh | Prim::Tanh | Prim::Log | Prim::Exp | Prim::Sqrt | Prim::Erf | Prim::Lgamma => None,
            Prim::Polygamma | Prim::Sign | Prim::Floor | Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => None,
            Prim::Log1p | Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Acosh | Prim::Atanh | Prim::Cbrt | Prim::Exp2 => None,
            Prim::Log2 | Prim::Log10 | Prim::Ceil | Prim::Round | Prim::Trunc | Prim::Sigmoid | Prim::Softplus => None,
            Prim::And | Prim::Or | Prim::Not | Prim::ToDouble | Prim::ToIndex => None,
        }
    }

    /// `prim x * dx`.
    fn scale(&mut self, prim: Prim, x: &Number, dx: &Number) -> Option<Number> {
        let slope = self.unary(prim, x)?;
        Some(self.mul(&slope, dx))
    }

    fn sum(&mut self, left: Option<Number>, right: Option<Number>) -> Option<Number> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.add(&left, &right)),
            (left, right) => left.or(right),
        }
    }

    pub(super) fn add(&mut self, x: &Number, y: &Number) -> Number {
        self.binary(Prim::Add, x, y).unwrap_or(Plain(f64::NAN))
    }

    fn sub(&mut self, x: &Number, y: &Number) -> Number {
        self.binary(Prim::Sub, x, y).unwrap_or(Plain(f64::NAN))
    }

    pub(super) fn mul(&mut self, x: &Number, y: &Number) -> Number {
        self.binary(Prim::Mul, x, y).unwrap_or(Plain(f64::NAN))
    }

    fn div(&mut self, x: &Number, y: &Number) -> Number {
        self.binary(Prim::Div, x, y).unwrap_or(Plain(f64::NAN))
    }

    fn neg(&mut self, x: &Number) -> Number {
        self.unary(Prim::Neg, x).unwrap_or(Plain(f64::NAN))
    }
}
