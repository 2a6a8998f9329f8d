//! The reference interpreter: the meaning of every core program.
//!
//! In: a program, the name of one of its functions, and arguments. Out: its value with a [`Trace`] of what
//! was done, or the run-time error by name and place. `dual` has a meaning of its own here, tagged dual
//! numbers ([`number`], with their [`arithmetic`]), which knows nothing of `ad/`: rules, differentiation and both targets are
//! tested against it. A `vjp` has two: by columns of these, and by a [`tape`] with [`backpropagators`]. [`record`] keeps what a run does,
//! [`traced`] runs that are recorded. [`compile`] turns functions into trees with numbered slots ([`code`]), [`machine`] runs them, with
//! [`arrays`], [`entry`] checks the arguments. Recursion follows the program's nesting, so deep programs need a large stack.
//!
//!     eval(f (x: Double) = dual(y = x, dy = 1.0). y * y, [3.0])   →   (9.0, 6.0)

mod activity;
mod arithmetic;
mod arrays;
mod backpropagators;
mod code;
mod compile;
mod duals;
mod entry;
mod machine;
mod number;
mod partial;
pub mod real;
mod record;
mod reverse;
mod shape;
mod sizes;
mod tape;
mod traced;
mod value;

#[cfg(test)]
mod dual_tests;
#[cfg(test)]
mod tests;

pub use record::{Entry, Operand, Point, Record};
pub use shape::Shape;
pub use value::{Array, Rolled, Value, deep};

use super::distinct::distinct;
use super::program::{Function, Program};
use super::term::Status;
use crate::source::Span;

/// What a program gave, and what it took.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub value: Value,
    pub trace: Trace,
}

/// What happened on the way to a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trace {
    /// The largest finite magnitude of any Double that was met, tangents included.
    pub largest: f64,
    pub counts: Counts,
}

/// `eval --count`: operations on Doubles (a `sin` is one), comparisons of Doubles and Indexes, array
/// elements read and written (those of a nested array count where it is made; again where it is copied).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub arithmetic: u64,
    pub comparisons: u64,
    pub reads: u64,
    pub writes: u64,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeError {
    pub kind: ErrorKind,
    pub span: Span,
    /// The call of the function in whose file that is, from another file; `Span::NONE` without one.
    pub called: Span,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// One of the run-time errors of docs/language.md, Meaning.
    Status(Status),
    /// No such entry, or arguments whose number or types are not the entry's.
    Argument,
    /// No value in the partial meaning.
    Undefined,
    /// An array of more elements than memory can hold.
    TooLarge,
    /// The program is not well-formed: a defect of the compiler.
    Internal,
}

impl RuntimeError {
    fn new(kind: ErrorKind, span: Span, message: impl Into<String>) -> Box<RuntimeError> {
        Box::new(RuntimeError { kind, span, called: Span::NONE, message: message.into() })
    }

    /// The error with the place of a call that it came out of.
    fn called_at(mut self: Box<RuntimeError>, call: Span) -> Box<RuntimeError> {
        if self.called.is_none() && !self.span.is_none() && self.span.file != call.file {
            self.called = call;
        }
        self
    }

    /// The status that emitted code returns for it, if it is one of the language's errors.
    pub fn status(&self) -> Option<Status> {
        match self.kind {
            ErrorKind::Status(status) => Some(status),
            ErrorKind::Undefined | ErrorKind::Argument | ErrorKind::TooLarge | ErrorKind::Internal => None,
        }
    }
}

/// How a `vjp` is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reverse {
    /// A directional derivative for each Double of the point.
    #[default]
    Columns,
    /// Dual numbers with backpropagators, on a tape.
    DualNumbers,
}

/// Evaluates a function of the program for these arguments, after checking them against its signature.
pub fn eval(program: &Program, entry: &str, args: Vec<Value>) -> Result<Outcome, RuntimeError> {
    eval_by(program, entry, args, Reverse::Columns)
}

/// The same, its `vjp`s in this way.
pub fn eval_by(program: &Program, entry: &str, args: Vec<Value>, reverse: Reverse) -> Result<Outcome, RuntimeError> {
    as_run(program, entry, |program| entry::run(program, entry, &args, reverse))
}

/// The same in the partial meaning of 005: an error where the program is not smooth ([`partial`]).
pub fn eval_partial(program: &Program, entry: &str, args: Vec<Value>, reverse: Reverse) -> Result<Outcome, RuntimeError> {
    as_run(program, entry, |program| entry::run_partial(program, entry, &args, reverse))
}

/// The record of the same run: what is done with Doubles.
pub fn record(program: &Program, entry: &str, args: Vec<Value>) -> Result<Record, RuntimeError> {
    as_run(program, entry, |program| entry::record(program, entry, &args))
}

/// Does something with what an entry needs of the program, as it is run: updates read what they need before they write.
fn as_run<T>(program: &Program, entry: &str, run: impl FnOnce(&Program) -> machine::Run<T>) -> Result<T, RuntimeError> {
    let needed = program.reachable([entry.into()]);
    let functions = program.functions.iter().filter(|(name, _)| needed.contains(*name)).map(|(name, function)| {
        let body = if function.body.has_updates() { distinct(&function.body) } else { function.body.clone() };
        (name.clone(), Function { body, ..function.clone() })
    });
    run(&Program { functions: functions.collect() }).map_err(|error| *error)
}
