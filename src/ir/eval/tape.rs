//! The tapes that are being written, one for each `vjp` that is evaluated by backpropagators.
//!
//! In: numbers, each with the places of its operands and the primitive's slope in them. Out: a number's place on the tape of a tag; at the
//! end the tape, for the backward pass of [`backpropagators`](super::backpropagators). The first places are the point's Doubles.
//!
//!     x * x + y   at   x = 3, y = 1   →   [x; y; (x, 3), (x, 3); (2, 1), (y, 1)]

use super::number::{Number, V};
use super::partial::Identities;
use super::record::Record;

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
pub type Parts = [Option<(u32, Number)>; 2];

impl Tapes {
    /// The tag that an operation belongs to whose operands' largest tag is this; `None` for one that is only computed.
    pub fn top(&self, operands: Option<u32>) -> Option<u32> {
        operands.or((self.record.is_some() || self.identities.is_some()).then_some(0))
    }

    /// Whether numbers of the tag stand on a tape.
    pub fn has(&self, tag: u32) -> bool {
        self.records(tag) || self.identifies(tag) || self.open.get(tag as usize).is_some_and(Option::is_some)
    }

    /// Whether its numbers are those of the record.
    pub fn records(&self, tag: u32) -> bool {
        tag == 0 && self.record.is_some()
    }

    /// Whether its numbers have identities.
    pub fn identifies(&self, tag: u32) -> bool {
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

    /// A number with its place on the tape of the tag; without one where no operand is there.
    pub fn push(&mut self, tag: u32, primal: Number, parts: Parts) -> Number {
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

    /// How many places the Doubles of the point have, which are the first.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The operations after them by their places, in the order in which they were done.
    pub fn operations(&self) -> impl DoubleEndedIterator<Item = (usize, &Parts)> {
        self.places.iter().enumerate().skip(self.inputs)
    }

    /// How many places it has, theirs included.
    pub fn places(&self) -> usize {
        self.places.len()
    }
}
