//! Operations on numbers that stand on a tape, and the backward pass over it: dual numbers with backpropagators.
//!
//! In: operations on numbers of which some stand on the [`tape`](super::tape) of a tag. Out: numbers on that tape; at the end, for each
//! Double of the point its adjoint. A number's backpropagator is a place on the tape; there are the places of the operands with the
//! primitive's slope in each, so that the backward pass takes each step once (004 Section 8.3, where the tape is the result of calling each
//! backpropagator once). The slopes are numbers of enclosing tags: a tape inside a tape, or inside or
//! around a `dual`, is differentiated like everything else. A number that the point does not reach has no place, and an operand that
//! `min` or `max` leaves has no part: what nobody takes meets no infinite slope. Numbers of tag 0 have their places in the
//! [`record`](super::record), or an identity of the [partial meaning](super::partial).
//!
//!     [x; y; (x, 3), (x, 3); (2, 1), (y, 1)]   with the cotangent 1   →   x: 6, y: 1

use super::arithmetic::Arithmetic;
use super::number::{Number, V};
use super::record::Operand;
use super::tape::Tape;
use super::value::{Value, deep};
use super::{partial, real};
use crate::ir::prim::Prim;

const ONE: Number = Number::Plain(1.0);

/// Operations of which an operand is on a tape.
impl Arithmetic {
    pub fn taped_unary(&mut self, tag: u32, prim: Prim, x: &Number) -> Option<Number> {
        if self.tapes.records(tag) {
            return self.recorded_unary(prim, x);
        }
        if self.tapes.identifies(tag) {
            return self.identified(prim, &[x], real::unary(prim, x.value()));
        }
        let (primal, place) = x.place(tag);
        let r = self.unary(prim, primal)?;
        let Some(slope) = self.unary_tangent(prim, primal, &r, &ONE)? else { return Some(r) };
        Some(self.tapes.push(tag, r, [place.map(|place| (place, slope)), None]))
    }

    pub fn taped_binary(&mut self, tag: u32, prim: Prim, x: &Number, y: &Number) -> Option<Number> {
        if self.tapes.records(tag) {
            return self.recorded_binary(prim, x, y);
        }
        if self.tapes.identifies(tag) {
            return self.identified(prim, &[x, y], real::binary(prim, x.value(), y.value()));
        }
        let ((x, mut first), (y, mut second)) = (x.place(tag), y.place(tag));
        let r = self.binary(prim, x, y)?;
        if matches!(prim, Prim::Min | Prim::Max) {
            let (a, b) = (x.value(), y.value());
            let is_first = a.is_nan() || if prim == Prim::Min { a <= b } else { a >= b };
            *(if is_first { &mut second } else { &mut first }) = None;
        }
        let mut parts = [None, None];
        if let Some(place) = first {
            let slope = match (prim, second) {
                (Prim::Pow, Some(_)) => self.power_slope(x, y)?,
                _ => self.binary_tangent(prim, (x, Some(&ONE)), (y, None), &r)?,
            };
            parts[0] = Some((place, slope));
        }
        if let Some(place) = second {
            parts[1] = Some((place, self.binary_tangent(prim, (x, None), (y, Some(&ONE)), &r)?));
        }
        Some(self.tapes.push(tag, r, parts))
    }

    pub fn taped_polygamma(&mut self, tag: u32, k: i64, x: &Number) -> Number {
        if self.tapes.records(tag) {
            return self.recorded_polygamma(k, x);
        }
        if self.tapes.identifies(tag) {
            let value = real::polygamma(k, x.value());
            return self.identified(Prim::Polygamma, &[&Number::Plain(k as f64), x], Some(value)).unwrap_or(Number::Plain(value));
        }
        let (primal, place) = x.place(tag);
        let r = self.polygamma(k, primal);
        let slope = self.polygamma(k.saturating_add(1), primal);
        self.tapes.push(tag, r, [place.map(|place| (place, slope)), None])
    }
}

/// Operations that are recorded.
impl Arithmetic {
    fn recorded_unary(&mut self, prim: Prim, x: &Number) -> Option<Number> {
        let value = self.result(real::unary(prim, x.value())?).value();
        if prim == Prim::Neg && self.tapes.record.as_ref()?.operand(x) == Operand::Constant(x.value()) {
            // a constant with its sign is one
            return Some(Number::Plain(value));
        }
        Some(self.tapes.record.as_mut()?.operation(prim, None, &[x], value))
    }

    fn recorded_binary(&mut self, prim: Prim, x: &Number, y: &Number) -> Option<Number> {
        let value = self.result(real::binary(prim, x.value(), y.value())?).value();
        Some(self.tapes.record.as_mut()?.operation(prim, None, &[x, y], value))
    }

    fn recorded_polygamma(&mut self, k: i64, x: &Number) -> Number {
        let r = self.result(real::polygamma(k, x.value()));
        match &mut self.tapes.record {
            Some(record) => record.operation(Prim::Polygamma, Some(k), &[x], r.value()),
            None => r,
        }
    }
}

/// Operations on numbers with identities.
impl Arithmetic {
    /// The plain result with its identity.
    fn identified(&mut self, prim: Prim, operands: &[&Number], value: Option<f64>) -> Option<Number> {
        let value = value?;
        self.result(value);
        Some(partial::result(prim, operands, value))
    }
}

impl Tape {
    /// The backward pass: the adjoints of the point's Doubles in their order, `None` for those that nothing depends on.
    pub fn sweep(&self, tag: u32, result: &V, cotangent: &V, arithmetic: &mut Arithmetic) -> Vec<Option<Number>> {
        let mut adjoints: Vec<Option<Number>> = vec![None; self.places()];
        begin(tag, result, cotangent, &mut adjoints, arithmetic);
        for (at, parts) in self.operations().rev() {
            let Some(adjoint) = adjoints.get_mut(at).and_then(Option::take) else { continue };
            for (operand, slope) in parts.iter().flatten() {
                let share = arithmetic.mul(slope, &adjoint);
                add(&mut adjoints, *operand, share, arithmetic);
            }
        }
        adjoints.truncate(self.inputs());
        adjoints
    }
}

/// The Doubles of the result that are on the tape have the cotangent's for a beginning.
fn begin(tag: u32, result: &V, cotangent: &V, adjoints: &mut [Option<Number>], arithmetic: &mut Arithmetic) {
    match (result, cotangent) {
        (Value::Double(number), Value::Double(weight)) => {
            if let (_, Some(place)) = number.place(tag) {
                add(adjoints, place, weight.clone(), arithmetic);
            }
        }
        (Value::Rolled(_), Value::Rolled(_)) => {
            for (result, cotangent) in result.items().iter().zip(cotangent.items()) {
                deep(|| begin(tag, result, cotangent, adjoints, arithmetic));
            }
        }
        (result, cotangent) => {
            for (result, cotangent) in result.items().iter().zip(cotangent.items()) {
                begin(tag, result, cotangent, adjoints, arithmetic);
            }
        }
    }
}

fn add(adjoints: &mut [Option<Number>], place: u32, share: Number, arithmetic: &mut Arithmetic) {
    let Some(adjoint) = adjoints.get_mut(place as usize) else { return };
    *adjoint = Some(match adjoint.take() {
        Some(before) => arithmetic.add(&before, &share),
        None => share,
    });
}
