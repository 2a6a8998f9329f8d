//! Runs that are recorded: of an entry, to its end or to the first derivative form.
//!
//! In: an entry's arguments, which become inputs of the record. Out: the [`Record`]. Where the form is a `vjp`, the function under it is
//! recorded and the run ends.

use std::rc::Rc;

use indexmap::IndexSet;

use super::code::Code;
use super::machine::{Machine, Run};
use super::number::{Number, V};
use super::record::{Entry, MOST, Operand, Point, Record, named};
use super::reverse::{fits, too_long};
use super::{ErrorKind, RuntimeError};
use crate::ir::{Function, Labels};
use crate::source::Span;

/// The tag of the outermost derivative form; 0 is that of the record.
const OUTERMOST: u32 = 1;

impl Machine<'_> {
    /// Calls an instance and keeps what it does.
    pub fn record(&mut self, instance: usize, function: &Function, args: &[V]) -> Run<Record> {
        let span = function.span;
        let mut record = Record::new(function.params.iter().map(|param| param.name().clone()).collect());
        let inputs = args.iter().zip(&function.params).enumerate().map(|(at, (arg, param))| {
            let mut input = |name: &str, number: &Number| record.push(Entry::Input { name: name.into(), value: number.value() });
            named((arg, function.parameter_labels(at)), &mut param.name().to_string(), &mut input)
        });
        let inputs = inputs.collect();
        record.arguments = record.entries.len();
        self.arithmetic.tapes.record = Some(record);
        self.unlifted = 1;
        self.awaits_form = true;
        let outcome = self.call(instance, inputs);
        let Some(mut record) = self.arithmetic.tapes.record.take() else { return outcome.and_then(|_| stopped(span)) };
        if record.is_full {
            return too_long(MOST, span);
        }
        // a function that was differentiated ends the run
        if record.derivative.is_none() {
            record.result = outcome?.map(&mut |number| record.operand(number));
        }
        Ok(record)
    }

    /// Whether a form with this tag is the outermost one, met for the first time.
    pub fn is_awaited(&mut self, tag: u32) -> bool {
        let is_first = self.awaits_form && tag == OUTERMOST;
        self.awaits_form &= !is_first;
        is_first
    }

    /// Records the function under a `vjp`, which ends the run.
    pub fn trace_function(
        &mut self,
        (tag, slot, name): (u32, usize, &Rc<str>),
        (at, cotangent): (&V, &V),
        body: &Code,
        span: Span,
    ) -> Run<V> {
        let Some(record) = &mut self.arithmetic.tapes.record else { return stopped(span) };
        let cotangent_of = cotangent.map(&mut |number| match record.operand(number) {
            Operand::Place(place) if place >= record.arguments => Operand::Constant(number.value()),
            operand @ (Operand::Constant(_) | Operand::Place(_)) => operand,
        });
        record.forget();
        let mut places = IndexSet::new();
        let mut name = name.to_string();
        while record.names.iter().any(|other| **other == *name) {
            name.push('_');
        }
        let x = named((at, &Labels::None), &mut name, &mut |path, number| record.independent(path, number, &mut places));
        record.bound = places.iter().copied().filter(|place| *place < record.arguments).collect();
        self.set(slot, x);
        let result = self.run_on_tape(tag, body)?;
        fits(&result, cotangent, span)?;
        if let Some(record) = &mut self.arithmetic.tapes.record {
            record.result = result.map(&mut |number| record.operand(number));
            record.derivative = Some(Point { places: places.into_iter().collect(), cotangent: cotangent_of });
        }
        stopped(span)
    }
}

/// The end of a run whose value nobody needs.
fn stopped<T>(span: Span) -> Run<T> {
    Err(RuntimeError::new(ErrorKind::Internal, span, "the run has ended with its record"))
}
