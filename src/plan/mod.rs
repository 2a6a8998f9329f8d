//! Which loops there will be: core → core, so that `lower` only has to say where each value goes.
//!
//! In: a program as `rewrite` leaves it. Out: the same program after the passes of [`PLANNERS`], in whose terms the loops of the
//! emitted C are decided. Each pass has a law, that a function's value stays what it was, which the interpreter can test; `--dump
//! plan.NAME` shows the program after one, `--disable NAME` leaves one out. Nothing here knows of storage, nor of loop programs. Futhark
//! is emitted from what `rewrite` gives.
//!
//!     let b = if c then (x, y) else (z, w) in (b.1, b.0)   →   if c then (y, x) else (w, z)
//!
//! Limits: what only the statements that are emitted can decide, such as whether one of them fails, is still decided in `lower`.

mod begin_sums;
mod change_states;
pub mod columns;
mod duplicate_tails;
mod expand_scalars;
pub mod known;
mod leave_unset;
mod name_lengths;
mod store_reciprocals;
mod store_transposes;

use std::time::{Duration, Instant};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{self, Expr, Function, Program};
use crate::source::Span;

/// What passes may be told.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Laws of the real numbers that change rounding may be used, as by group `algebra` of the rules.
    pub algebra: bool,
    /// The names of passes that are left out.
    pub disabled: Vec<String>,
}

/// One pass over a function.
#[derive(Debug)]
pub struct Planner {
    /// The name of the module that does it.
    pub name: &'static str,
    /// The name with its room's before it, as `--dump` takes it.
    pub stage: &'static str,
    pub what: &'static str,
    run: fn(&Function, &Options) -> Expr,
}

macro_rules! planner {
    ($name:literal, $what:literal, $run:expr) => {
        Planner { name: $name, stage: concat!("plan.", $name), what: $what, run: $run }
    };
}

/// All passes, in order. A program is right without any of them.
pub const PLANNERS: &[Planner] = &[
    planner!("name_lengths", "names lengths that data gives, where they have a greatest value", name_lengths::run),
    planner!("duplicate_tails", "has each branch of a step give the next state, where arrays are changed", duplicate_tails::run),
    planner!("store_reciprocals", "multiplies by stored reciprocals in loops that divide by the same row", store_reciprocals::run),
    planner!("store_transposes", "reads a matrix that a loop multiplies by again and again by columns", store_transposes::run),
    planner!("begin_sums", "begins sums down columns with what is added to them", begin_sums::run),
    planner!("expand_scalars", "stores what columns need before a second fold", expand_scalars::run),
    planner!("change_states", "changes a state in place that a step computes element by element and then changes", change_states::run),
    planner!("leave_unset", "writes of a result of a sum type only the data of its case", leave_unset::run),
];

/// The pass of this name.
pub fn named(name: &str) -> Option<&'static Planner> {
    PLANNERS.iter().find(|planner| planner.name == name)
}

impl Planner {
    /// The program after this pass alone.
    pub fn run_alone(&self, program: &Program, options: &Options) -> Program {
        let mut program = program.clone();
        for function in program.functions.values_mut() {
            function.body = (self.run)(function, options);
        }
        program
    }
}

/// How long each pass took.
pub type Times = Vec<(&'static str, Duration)>;

/// The program after all passes, or up to the one whose stage is `last`.
pub fn plan(program: &Program, options: &Options, last: &str) -> Result<(Program, Times), Diagnostics> {
    let mut program = program.clone();
    let mut times = Vec::new();
    for planner in PLANNERS {
        let start = Instant::now();
        if !options.disabled.iter().any(|name| name == planner.name) {
            program = planner.run_alone(&program, options);
            check(&program, planner.stage).map_err(|problem| vec![problem])?;
        }
        times.push((planner.stage, start.elapsed()));
        if planner.stage == last {
            break;
        }
    }
    Ok((program, times))
}

/// In debug builds, whether a pass gave a well-formed program.
fn check(program: &Program, stage: &str) -> Result<(), Diagnostic> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    ir::check::check(program).map_err(|problem| {
        Diagnostic::error("E0901", Span::NONE, format!("internal error: `{stage}` gave a wrong program: {problem}"))
            .help("this is a bug in smoothc: please report it with the program")
    })
}
