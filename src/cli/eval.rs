//! `smoothc eval FILE ENTRY [ARG…]`: the reference interpreter, on the program as written or after
//! `--schedule`; `--count` prints a second line with what was done, `--trace` the operations and the adjoints of a derivative.

use super::files::Reads;
use super::options::{Display, EvalCommand, ReverseName};
use super::session::Wanted;
use super::{output, session, values};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::eval::{self, ErrorKind, Reverse, RuntimeError, Value};
use crate::real::Real;
use crate::source::SourceMap;
use crate::toolchain::status;
use crate::trace::Trace;

pub fn run(command: &EvalCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let call = &command.call;
    let output = output::of_result(call.output.as_deref())?;
    let mut reads = Reads::default();
    let stage = if command.source.schedule.is_some() { "rewrite" } else { "types" };
    // what is to be seen going back must not be a direction
    let keep_gradients = command.source.schedule.is_none() && (command.trace || command.reverse.is_some());
    let wanted = Wanted { stage, only: Some(&call.entry_name), keep_gradients, ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let arguments = session::arguments(&session, call, &mut reads)?;
    let inputs: Vec<Value> = arguments.values.iter().map(values::from_flat).collect();
    let reverse = command.reverse.map_or(Reverse::Columns, Reverse::from);
    let outcome = eval::eval_by(&session.program, &call.entry_name, inputs.clone(), reverse).map_err(problem)?;
    let trace = match command.trace {
        true => {
            let record = eval::record(&session.program, &call.entry_name, inputs).map_err(problem)?;
            Some(Trace::of(&record).map_err(|problem| vec![problem])?.text())
        }
        false => None,
    };
    output::value(&values::to_flat(&outcome.value), session.entry(&call.entry_name)?.result_labels(), Real::F64, &output, &reads)?;
    if let Some(trace) = trace {
        output::text(&trace)?;
    }
    if command.count {
        let counts = outcome.trace.counts;
        output::text(&format!(
            "{{\"arithmetic\": {}, \"comparisons\": {}, \"reads\": {}, \"writes\": {}}}\n",
            counts.arithmetic, counts.comparisons, counts.reads, counts.writes
        ))?;
    }
    Ok(())
}

impl From<ReverseName> for Reverse {
    fn from(name: ReverseName) -> Reverse {
        match name {
            ReverseName::DualNumbers => Reverse::DualNumbers,
        }
    }
}

fn problem(error: RuntimeError) -> Diagnostics {
    vec![match error.kind {
        ErrorKind::Status(kind) => Diagnostic::error(status::error(kind).0, error.span, error.message).help(status::help(kind)),
        ErrorKind::Argument => Diagnostic::error("E0805", error.span, error.message),
        ErrorKind::TooLarge => Diagnostic::error("E0706", error.span, error.message).help("call it with smaller sizes"),
        ErrorKind::Internal => Diagnostic::error("E0901", error.span, format!("internal error: {}", error.message))
            .help("this is a bug in smoothc: please report it"),
    }]
}
