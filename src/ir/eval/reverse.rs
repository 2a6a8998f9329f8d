//! What a `vjp` evaluates to, in one of two ways that know nothing of each other.
//!
//! In: the point, the cotangent and the body's code. Out: the body's value and wᵀ times its Jacobian, or all its rows. By columns: a
//! directional derivative for each Double of the point. By dual numbers with backpropagators: one pass forward, which writes
//! a [`tape`](super::tape), and one back over it. Both nest in one another and in `dual`, in any order.
//!
//!     vjp(x = (3.0, 4.0), w = 1.0). x.0 * x.1   →   (12.0, (4.0, 3.0))

use super::activity::{Activity, tag_bit};
use super::code::Code;
use super::duals::{count_doubles, misfit, pair, primal, rows, seed, tangents, unit_of, wants_rows};
use super::machine::{Machine, Run, fail};
use super::number::{Number, V};
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
        let mut columns = Vec::with_capacity(count_doubles(at));
        let mut gradient = Vec::with_capacity(columns.capacity());
        let mut value = None;
        for unit in 0..columns.capacity().max(1) {
            let x = seed(tag, at, &unit_of(at, unit));
            self.set(slot, x);
            let result = self.run(body)?;
            let dual = pair(tag, &result);
            if wants_rows(cotangent) {
                let mut column = Vec::new();
                tangents(&dual, &result, &mut column);
                columns.push(column);
            } else {
                fits(&result, cotangent, span)?;
                let mut sum = None;
                self.arithmetic.dot(&dual, cotangent, &result, &mut sum);
                gradient.push(sum);
            }
            value.get_or_insert(primal(tag, &result));
        }
        let value = value.unwrap_or(Value::Index(0));
        if !wants_rows(cotangent) {
            return Ok((value, filled(at, gradient)));
        }
        let row = |row: usize| filled(at, columns.iter().map(|column| column.get(row).cloned()).collect());
        let jacobian = rows(&value, &at.shape(), &mut (0..).map(row));
        Ok((value, jacobian))
    }

    fn backpropagate(&mut self, tag: u32, slot: usize, (at, cotangent): (&V, &V), body: &Code, span: Span) -> Run<(V, V)> {
        let x = self.arithmetic.tapes.open(tag, at);
        self.set(slot, x);
        let result = self.run_on_tape(tag, body);
        // also after an error: the tag is free again
        let tape = self.arithmetic.tapes.close(tag);
        let result = result?;
        let Some(tape) = tape else { return too_long(tape::MOST, span) };
        let value = primal(tag, &result);
        if !wants_rows(cotangent) {
            fits(&result, cotangent, span)?;
            return Ok((value, filled(at, tape.sweep(tag, &result, cotangent, &mut self.arithmetic))));
        }
        let row = |row: usize| filled(at, tape.sweep(tag, &result, &unit_of(&value, row), &mut self.arithmetic));
        let jacobian = rows(&value, &at.shape(), &mut (0..).map(row));
        Ok((value, jacobian))
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

/// A value of the shape of the point with these Doubles, 0 for those that are not there.
fn filled(at: &V, doubles: Vec<Option<Number>>) -> V {
    let mut doubles = doubles.into_iter();
    at.map(&mut |_| doubles.next().flatten().unwrap_or(Number::Plain(0.0)))
}

/// A cotangent has the shape of the result.
pub fn fits(result: &V, cotangent: &V, span: Span) -> Run<()> {
    if result.is_shaped_as(cotangent) {
        return Ok(());
    }
    fail(Status::Shape, span, misfit(("cotangent", cotangent), ("result", result)))
}

pub fn too_long<T>(most: usize, span: Span) -> Run<T> {
    let message = format!("more than {most} operations on Doubles have no place on the tape");
    Err(RuntimeError::new(ErrorKind::TooLarge, span, message))
}
