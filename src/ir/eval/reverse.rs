//! What a `vjp` evaluates to, in one of two ways that know nothing of each other.
//!
//! In: the point, the cotangent and the body's code. Out: the body's value and wᵀ times its Jacobian. By columns: a
//! directional derivative for each Double of the point. By dual numbers with backpropagators: one pass forward, which writes
//! a [`tape`](super::tape), and one back over it. Both nest in one another and in `dual`, in any order.
//!
//!     vjp(x = (3.0, 4.0), w = 1.0). x.0 * x.1   →   (12.0, (4.0, 3.0))

use super::activity::{Activity, tag_bit};
use super::code::Code;
use super::duals::{count_doubles, pair, primal, seed, unit_of};
use super::machine::{Machine, Run, V, fail};
use super::number::Number;
use super::value::Value;
use super::{ErrorKind, Reverse, RuntimeError, tape};
use crate::ir::term::Status;
use crate::source::Span;

impl Machine<'_> {
    /// The value at a point and wᵀ times the Jacobian there.
    pub fn vjp(&mut self, tag: u32, slot: usize, (at, cotangent): (&V, &V), body: &Code, span: Span) -> Run<(V, V)> {
        match self.reverse {
            Reverse::Columns => self.columns(tag, slot, (at, cotangent), body, span),
            Reverse::DualNumbers => self.backpropagate(tag, slot, (at, cotangent), body, span),
        }
    }

    fn columns(&mut self, tag: u32, slot: usize, (at, cotangent): (&V, &V), body: &Code, span: Span) -> Run<(V, V)> {
        let count = count_doubles(at);
        let mut gradient = Vec::with_capacity(count);
        let mut value = None;
        for unit in 0..count.max(1) {
            let x = seed(tag, at, &unit_of(at, unit));
            self.set(slot, x);
            let result = self.run(body)?;
            fits(&result, cotangent, span)?;
            let dual = pair(tag, &result);
            let mut sum = None;
            self.arithmetic.dot(&dual, cotangent, &result, &mut sum);
            gradient.push(sum.unwrap_or(Number::Plain(0.0)));
            value.get_or_insert(primal(tag, &result));
        }
        let mut components = gradient.into_iter();
        let gradient = at.map(&mut |_| components.next().unwrap_or(Number::Plain(0.0)));
        Ok((value.unwrap_or(Value::Index(0)), gradient))
    }

    fn backpropagate(&mut self, tag: u32, slot: usize, (at, cotangent): (&V, &V), body: &Code, span: Span) -> Run<(V, V)> {
        let x = self.arithmetic.tapes.open(tag, at);
        self.set(slot, x);
        let result = self.run_on_tape(tag, body);
        // also after an error: the tag is free again
        let tape = self.arithmetic.tapes.close(tag);
        let result = result?;
        fits(&result, cotangent, span)?;
        let Some(tape) = tape else { return too_long(tape::MOST, span) };
        let mut adjoints = tape.sweep(tag, &result, cotangent, &mut self.arithmetic).into_iter();
        let gradient = at.map(&mut |_| adjoints.next().flatten().unwrap_or(Number::Plain(0.0)));
        Ok((primal(tag, &result), gradient))
    }

    /// Runs code in which numbers of this tag stand on a tape.
    pub fn run_on_tape(&mut self, tag: u32, body: &Code) -> Run<V> {
        let outer = self.unlifted;
        self.unlifted |= tag_bit(tag);
        let result = self.run(body);
        self.unlifted = outer;
        result
    }

    /// The value with the zero tangents that it lacks; on a tape a number without a place says the same.
    pub fn lift(&self, activity: &Activity, value: V) -> V {
        if self.unlifted == 0 { activity.lift(value) } else { activity.without(self.unlifted).lift(value) }
    }
}

/// A cotangent has the shape of the result.
pub fn fits(result: &V, cotangent: &V, span: Span) -> Run<()> {
    if result.has_shape(&cotangent.shape()) {
        return Ok(());
    }
    fail(Status::Shape, span, format!("the cotangent has shape {}, the result {}", cotangent.shape(), result.shape()))
}

pub fn too_long<T>(most: usize, span: Span) -> Run<T> {
    let message = format!("more than {most} operations on Doubles have no place on the tape");
    Err(RuntimeError::new(ErrorKind::TooLarge, span, message))
}
