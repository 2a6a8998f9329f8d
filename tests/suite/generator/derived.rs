//! Programs with derivatives as entries, through the driver and the interpreter.

use smoothc::cli::args;
use smoothc::cli::values::from_flat;
use smoothc::driver::{Options, Session};
use smoothc::ir::eval::{self, Outcome, Value};
use smoothc::ir::{Function, Program};
use smoothc::types::Derive;

use super::engine::guarded;

/// The program after a stage, with these derivatives; without `algebra` its laws are left out.
pub fn compiled(source: &str, entries: &[String], derives: &[String], stage: &str, algebra: bool) -> Result<Program, String> {
    let derive = derives.iter().map(|text| Derive::parse(text).expect("a derivative")).collect();
    let disabled = if algebra { Vec::new() } else { vec!["algebra".to_string()] };
    let mut session = Session::new("derived.smooth", source, Options { entries: entries.to_vec(), derive, disabled, ..Options::default() });
    let done = guarded(stage, || Ok(session.run_to(stage, &mut |_, _| Err("no files".into())))).map_err(|failure| failure.detail)?;
    done.map_err(|problems| format!("{problems:?}"))?;
    Ok(session.program)
}

/// What the interpreter gives.
pub fn run(program: &Program, entry: &str, inputs: Vec<Value>) -> Result<Outcome, String> {
    eval::eval(program, entry, inputs).map_err(|error| format!("{entry}: {}", error.message))
}

/// Values from the words of the command line.
pub fn values(function: &Function, words: &[String]) -> Vec<Value> {
    args::read(function, words).expect("arguments").values.iter().map(from_flat).collect()
}
