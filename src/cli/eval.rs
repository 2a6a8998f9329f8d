//! `smoothc eval FILE ENTRY [ARG…]`: the reference interpreter, on the program as written or after
//! `--schedule`, or an expression after `-e`; `--count` prints a second line with what was done, `--trace` the operations and the adjoints
//! of a derivative, `--partial` refuses points where the program is not smooth.

use super::files::Reads;
use super::options::{Display, EvalCommand, ReverseName};
use super::wanted::Wanted;
use super::{output, session, values};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::eval::{self, ErrorKind, Reverse, RuntimeError, Value};
use crate::real::Real;
use crate::source::{SourceMap, Span};
use crate::toolchain::status;
use crate::trace::Trace;

pub fn run(command: &EvalCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let call = &command.call.call;
    let output = output::of_result(command.call.output.as_deref())?;
    let mut reads = Reads::default();
    let stage = if command.source.schedule.is_some() { "rewrite" } else { "types" };
    // what is to be seen going back must not be a direction
    let keep_gradients = command.source.schedule.is_none() && (command.trace || command.reverse.is_some());
    let expression = command.expression.as_deref();
    let entry = if expression.is_some() { session::EXPRESSION } else { &call.entry_name };
    let wanted = Wanted { stage, expression, only: Some(entry), keep_gradients, ..Wanted::default() };
    let compiled = session::compile(&command.source, wanted, sources, &mut reads, display);
    let Some(session) = compiled.map_err(|problems| if expression.is_some() { of_expression(problems) } else { problems })? else {
        return Ok(());
    };
    if expression.is_some() && !session.entry(entry)?.params.is_empty() {
        return Err(vec![is_function()]);
    }
    let arguments = session::arguments(&session, entry, &call.args, &mut reads)?;
    let inputs: Vec<Value> = arguments.values.iter().map(values::from_flat).collect();
    let reverse = command.reverse.map_or(Reverse::Columns, Reverse::from);
    let evaluate = if command.partial { eval::eval_partial } else { eval::eval_by };
    let outcome = evaluate(&session.program, entry, inputs.clone(), reverse).map_err(problem)?;
    let trace = match command.trace {
        true => {
            let record = eval::record(&session.program, entry, inputs).map_err(problem)?;
            Some(Trace::of(&record).map_err(|problem| vec![problem])?.text())
        }
        false => None,
    };
    output::value(&values::to_flat(&outcome.value), session.entry(entry)?.result_labels(), Real::F64, &output, &reads)?;
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

/// What is said of the entry that an expression becomes, as it is of the expression.
fn of_expression(problems: Diagnostics) -> Diagnostics {
    let is_entrys = |problem: &Diagnostic| problem.code == "E0206";
    // an expression that does not parse declares nothing
    problems
        .into_iter()
        .filter(|problem| problem.code != "E0205")
        .map(|problem| if is_entrys(&problem) { is_function() } else { problem })
        .collect()
}

fn is_function() -> Diagnostic {
    let problem = Diagnostic::error("E0817", Span::NONE, "the expression is a function and has no value to print");
    problem.help("apply it to arguments, as in `sqrt 2.0`")
}

impl From<ReverseName> for Reverse {
    fn from(name: ReverseName) -> Reverse {
        match name {
            ReverseName::DualNumbers => Reverse::DualNumbers,
        }
    }
}

/// What is said of a run-time error.
pub fn problem(error: RuntimeError) -> Diagnostics {
    let called = error.called;
    let problem = match error.kind {
        ErrorKind::Status(kind) => Diagnostic::error(status::error(kind).0, error.span, error.message).help(status::help(kind)),
        ErrorKind::Undefined => Diagnostic::error("E0707", error.span, error.message)
            .help("leave out --partial for the value and the derivative by convention: docs/conventions.md"),
        ErrorKind::Argument => Diagnostic::error("E0805", error.span, error.message),
        ErrorKind::TooLarge => Diagnostic::error("E0706", error.span, error.message).help("call it with smaller sizes"),
        ErrorKind::Internal => Diagnostic::error("E0901", error.span, format!("internal error: {}", error.message))
            .help("this is a bug in smoothc: please report it"),
    };
    vec![if called.is_none() { problem } else { problem.label(called, "called here") }]
}
