//! Dual numbers with backpropagators: the tape of a `vjp`, and the backward pass over it.
//!
//! In: operations on numbers of which some stand on the tape of a tag. Out: numbers on that tape; at the end, for each Double
//! of the point its adjoint. A number's backpropagator is a place on the tape; there are the places of the operands with the
//! primitive's slope in each, so that the backward pass takes each step once (004 Section 8.3, where the tape is the result of calling each
//! backpropagator once). The slopes are numbers of enclosing tags: a tape inside a tape, or inside or
//! around a `dual`, is differentiated like everything else. A number that the point does not reach has no place, and an operand that
//! `min` or `max` leaves has no part: what nobody takes meets no infinite slope.
//!
//!     x * x + y   at   x = 3, y = 1   →   [x; y; (x, 3), (x, 3); (2, 1), (y, 1)]   →   x: 6, y: 1

use super::number::{Arithmetic, Number, V};
use super::partial::Identities;
use super::real;
use super::record::Record;
use super::value::{Value, deep};
use crate::ir::prim::Prim;

/// A tape has no more places than this.
pub const MOST: usize = 1 << 24;

/// The tapes that are being written: one for each `vjp` whose body is running, by its tag, and the record of all operations,
/// which has the tag 0.
#[derive(Debug, Default)]
pub struct Tapes {
    open: Vec<Option<Tape>>,
    pub record: Option<Record>,
    /// Of the partial meaning, whose numbers have the tag 0 too.
    pub identities: Option<Identities>,
}

/// Its first places are the Doubles of the point.
#[derive(Debug, Default)]
pub struct Tape {
    places: Vec<Parts>,
    inputs: usize,
    is_full: bool,
}

/// The operands of an operation that are on the tape, with its slopes in them.
type Parts = [Option<(u32, Number)>; 2];

impl Tapes {
    /// The tag that an operation belongs to whose operands' largest tag is this; `None` for one that is only computed.
    pub fn top(&self, operands: Option<u32>) -> Option<u32> {
        operands.or((self.record.is_some() || self.identities.is_some()).then_some(0))
    }

    /// Whether numbers of the tag stand on a tape.
    pub fn has(&self, tag: u32) -> bool {
        self.records(tag) || self.identifies(tag) || self.open.get(tag as usize).is_some_and(Option::is_some)
    }

    fn records(&self, tag: u32) -> bool {
        tag == 0 && self.record.is_some()
    }

    fn identifies(&self, tag: u32) -> bool {
        tag == 0 && self.identities.is_some()
    }

    /// Begins a tape, with the Doubles of the point.
    pub fn open(&mut self, tag: u32, at: &V) -> V {
        let mut tape = Tape::default();
        let x = at.map(&mut |number| tape.push(tag, number.clone(), [None, None]));
        tape.inputs = tape.places.len();
        let at = tag as usize;
        if self.open.len() <= at {
            self.open.resize_with(at + 1, || None);
        }
        if let Some(place) = self.open.get_mut(at) {
            *place = Some(tape);
        }
        x
    }

    /// Takes the tape away; `None` if it has become too long.
    pub fn close(&mut self, tag: u32) -> Option<Tape> {
        self.open.get_mut(tag as usize)?.take().filter(|tape| !tape.is_full)
    }

    fn push(&mut self, tag: u32, primal: Number, parts: Parts) -> Number {
        match self.open.get_mut(tag as usize) {
            Some(Some(tape)) if parts.iter().any(Option::is_some) => tape.push(tag, primal, parts),
            _ => primal,
        }
    }
}

impl Tape {
    fn push(&mut self, tag: u32, primal: Number, parts: Parts) -> Number {
        self.is_full |= self.places.len() >= MOST;
        if self.is_full {
            return primal;
        }
        self.places.push(parts);
        Number::taped(tag, (self.places.len() - 1) as u32, primal)
    }

    /// The backward pass: the adjoints of the point's Doubles in their order, `None` for those that nothing depends on.
    pub fn sweep(&self, tag: u32, result: &V, cotangent: &V, arithmetic: &mut Arithmetic) -> Vec<Option<Number>> {
        let mut adjoints: Vec<Option<Number>> = vec![None; self.places.len()];
        begin(tag, result, cotangent, &mut adjoints, arithmetic);
        for (at, parts) in self.places.iter().enumerate().skip(self.inputs).rev() {
            let Some(adjoint) = adjoints.get_mut(at).and_then(Option::take) else { continue };
            for (operand, slope) in parts.iter().flatten() {
                let share = arithmetic.mul(slope, &adjoint);
                add(&mut adjoints, *operand, share, arithmetic);
            }
        }
        adjoints.truncate(self.inputs);
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
