//! The function and its derivatives, by the interpreter and as compiled C, as functions of lists of Doubles.
//!
//! In: a session of the entry as written. Out: [`Subject`], which evaluates the entry, its `jvp` in all parameters with Doubles
//! and, where its result is made of Doubles, its `vjp`. Indexes and Bools stay as the arguments have them.

use super::super::args::Arguments;
use super::super::files::Reads;
use super::super::{session, values};
use super::points::{doubles, with_doubles};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::driver::{Options, Session};
use crate::ir::eval::{self, Operand, Reverse, Value};
use crate::ir::prim::Prim;
use crate::ir::{Function, Var};
use crate::source::Span;
use crate::toolchain::call::{self, Loaded};
use crate::toolchain::compiler::Mode;
use crate::toolchain::flat::Flat;
use crate::toolchain::sizes::Bindings;
use crate::types::{Derive, Kind, Parameters};

/// Who computes a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Interpreter,
    Compiled,
}

/// The entry, its arguments and its derivatives.
pub struct Subject {
    pub function: Function,
    arguments: Vec<Flat>,
    /// Which parameters have Doubles.
    active: Vec<usize>,
    plain: Session,
    derived: Session,
    names: [String; 2],
    pub has_vjp: bool,
    compiled: Vec<Loaded>,
    /// Why there is no C of it.
    pub not_emitted: Option<Diagnostic>,
    bindings: Bindings,
}

/// What was done with Doubles, and what of it is the result.
type Path = (Vec<(Prim, Vec<Operand>)>, Value<Operand>);

/// What a run gave: its Doubles, and the largest magnitude on the way.
pub struct Ran {
    pub values: Vec<f64>,
    pub largest: f64,
}

impl Subject {
    pub fn new(plain: Session, entry: &str, arguments: Arguments, mode: Mode, reads: &mut Reads) -> Result<Subject, Diagnostics> {
        let function = plain.entry(entry)?.clone();
        let active: Vec<usize> = (0..function.params.len()).filter(|at| function.params[*at].ty().has_double()).collect();
        if active.is_empty() {
            let problem = Diagnostic::error("E0819", function.span, format!("`{entry}` has no parameter with a Double"));
            return Err(vec![problem.help("there is nothing to differentiate in; name another entry")]);
        }
        let has_vjp = function.result.is_made_of_doubles();
        let all = active.iter().all(|at| function.params[*at].ty().is_made_of_doubles());
        let named = || active.iter().map(|at| function.params[*at].name().to_string()).collect();
        let parameters = if all { Parameters::All } else { Parameters::Named(named()) };
        let derive = |kind| Derive { kind, function: entry.to_string(), parameters: parameters.clone() };
        let derives: Vec<Derive> = [Kind::Jvp, Kind::Vjp].into_iter().take(if has_vjp { 2 } else { 1 }).map(derive).collect();
        let names = [Kind::Jvp, Kind::Vjp].map(|kind| derive(kind).entry());
        let change = |options: &mut Options| {
            options.entries = std::iter::once(entry.to_string()).chain(derives.iter().map(Derive::entry)).collect();
            options.derive.clone_from(&derives);
            options.only = None;
            options.keep_gradients = false;
        };
        let derived = session::again(&plain, |options| (change(options), options.keep_gradients = true).0, "types", reads)?;
        let (compiled, not_emitted) = match session::again(&plain, change, "emit", reads) {
            Ok(emitted) => (compile(&emitted, &derives, mode, function.span)?, None),
            // what no target can do is no reason not to check what the interpreter does
            Err(problems) if errors(&problems).all(|problem| problem.code == "E0601") => (Vec::new(), errors(&problems).next().cloned()),
            Err(problems) => return Err(problems),
        };
        let Arguments { bindings, values } = arguments;
        Ok(Subject { function, arguments: values, active, plain, derived, names, has_vjp, compiled, not_emitted, bindings })
    }

    pub fn engines(&self) -> Vec<Engine> {
        if self.compiled.is_empty() { vec![Engine::Interpreter] } else { vec![Engine::Interpreter, Engine::Compiled] }
    }

    /// The arguments with Doubles, under their parameters.
    pub fn active(&self) -> Vec<(&Var, &Flat)> {
        self.active.iter().map(|at| (&self.function.params[*at], &self.arguments[*at])).collect()
    }

    fn point(&self) -> Vec<Flat> {
        self.active.iter().map(|at| self.arguments[*at].clone()).collect()
    }

    fn moved(&self, point: &[f64]) -> Vec<Flat> {
        let mut arguments = self.arguments.clone();
        for (at, value) in self.active.iter().zip(with_doubles(&self.point(), point)) {
            arguments[*at] = value;
        }
        arguments
    }

    /// The entry itself at a point, as the interpreter has it.
    pub fn value(&self, point: &[f64]) -> Result<(Flat, eval::Trace), eval::RuntimeError> {
        let inputs = self.moved(point).iter().map(values::from_flat).collect();
        let outcome = eval::eval(&self.plain.program, &self.function.name, inputs)?;
        Ok((values::to_flat(&outcome.value), outcome.trace))
    }

    /// What is done with Doubles at a point, without the numbers: which way its branches go. `None` where derivatives inside
    /// make numbers of what was done.
    pub fn path(&self, point: &[f64]) -> Option<Path> {
        let inputs = self.moved(point).iter().map(values::from_flat).collect();
        let record = eval::record(&self.plain.program, &self.function.name, inputs).ok()?;
        let done = record.entries.iter().filter_map(|entry| match entry {
            eval::Entry::Operation { prim, operands, .. } => Some((*prim, operands.clone())),
            eval::Entry::Input { .. } => None,
        });
        record.derivative.is_none().then(|| (done.collect(), record.result.clone()))
    }

    /// The derivative along a direction of the point.
    pub fn jvp(&self, engine: Engine, point: &[f64], direction: &[f64]) -> Result<Ran, Diagnostics> {
        let arguments = self.moved(point).into_iter().chain(with_doubles(&self.point(), direction)).collect();
        self.derivative(engine, 0, arguments)
    }

    /// The transposed derivative of a weight for each Double of the result, whose shape this is.
    pub fn vjp(&self, engine: Engine, point: &[f64], result: &Flat, weights: &[f64]) -> Result<Ran, Diagnostics> {
        let arguments = self.moved(point).into_iter().chain(with_doubles(std::slice::from_ref(result), weights)).collect();
        self.derivative(engine, 1, arguments)
    }

    fn derivative(&self, engine: Engine, which: usize, arguments: Vec<Flat>) -> Result<Ran, Diagnostics> {
        let name = &self.names[which];
        if let (Engine::Compiled, Some(loaded)) = (engine, self.compiled.get(which)) {
            let mut bindings = self.bindings.clone();
            loaded.params().iter().zip(&arguments).for_each(|(param, argument)| bindings.observe(param, argument));
            let value = loaded.call(&arguments, &bindings).map_err(|problem| vec![problem])?;
            return Ok(Ran { values: doubles(&[value]), largest: 0.0 });
        }
        let inputs = arguments.iter().map(values::from_flat).collect();
        let outcome = eval::eval_by(&self.derived.program, name, inputs, Reverse::DualNumbers);
        let outcome = outcome.map_err(super::eval::problem)?;
        Ok(Ran { values: doubles(&[values::to_flat(&outcome.value)]), largest: outcome.trace.largest })
    }
}

fn compile(session: &Session, derives: &[Derive], mode: Mode, span: Span) -> Result<Vec<Loaded>, Diagnostics> {
    let source = &session.emitted()?.source;
    let load = |derive: &Derive| call::load(source, mode, session.interface(&derive.entry())?, span).map_err(|problem| vec![problem]);
    derives.iter().map(load).collect()
}

fn errors(problems: &Diagnostics) -> impl Iterator<Item = &Diagnostic> {
    problems.iter().filter(|problem| problem.severity == Severity::Error)
}
