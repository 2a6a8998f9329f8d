//! `smoothc eval FILE ENTRY [ARG…]`: the reference interpreter, on the program as written or after
//! `--schedule`; `--count` prints a second line with what was done.

use super::files::Reads;
use super::options::{Display, EvalCommand};
use super::session::Wanted;
use super::{output, session, values};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::eval::{self, ErrorKind};
use crate::real::Real;
use crate::source::SourceMap;
use crate::toolchain::status;

pub fn run(command: &EvalCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let call = &command.call;
    let output = output::of_result(call.output.as_deref())?;
    let mut reads = Reads::default();
    let stage = if command.source.schedule.is_some() { "rewrite" } else { "types" };
    let wanted = Wanted { stage, only: Some(&call.entry_name), ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let arguments = session::arguments(&session, call, &mut reads)?;
    let inputs = arguments.values.iter().map(values::from_flat).collect();
    let outcome = eval::eval(&session.program, &call.entry_name, inputs).map_err(|error| {
        let problem = match error.kind {
            ErrorKind::Status(kind) => Diagnostic::error(status::error(kind).0, error.span, error.message).help(status::help(kind)),
            ErrorKind::Argument => Diagnostic::error("E0805", error.span, error.message),
            ErrorKind::TooLarge => Diagnostic::error("E0706", error.span, error.message).help("call it with smaller sizes"),
            ErrorKind::Internal => Diagnostic::error("E0901", error.span, format!("internal error: {}", error.message))
                .help("this is a bug in smoothc: please report it"),
        };
        vec![problem]
    })?;
    output::value(&values::to_flat(&outcome.value), Real::F64, &output, &reads)?;
    if command.count {
        let counts = outcome.trace.counts;
        output::text(&format!(
            "{{\"arithmetic\": {}, \"comparisons\": {}, \"reads\": {}, \"writes\": {}}}\n",
            counts.arithmetic, counts.comparisons, counts.reads, counts.writes
        ))?;
    }
    Ok(())
}
