//! `smoothc explain FILE ENTRY --dual-numbers [ARG…]`: the stages of dual-numbers reverse mode (004) on an entry, and with arguments what
//! each costs.
//!
//! In: the command's words. Out: text. An entry that is a `gradient`, `vjp`, `rd` or `valueAndGradient` is explained as the function that
//! it differentiates; any other is that function itself, with a cotangent of 1 for each Double of its result.

use super::files::Reads;
use super::options::{Display, ExplainCommand};
use super::wanted::Wanted;
use super::{eval, output, session, values};
use crate::diagnostic::Diagnostics;
use crate::ir::eval::{self as interpreter, Value};
use crate::ir::term::Vjp;
use crate::ir::{Expr, Function, Term};
use crate::source::SourceMap;
use crate::trace::stages;

pub fn run(command: &ExplainCommand, entry: &str, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let mut reads = Reads::default();
    let wanted = Wanted { stage: "types", only: Some(entry), keep_gradients: true, ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let own = session.entry(entry)?;
    let function = match differentiated(&own.body) {
        Some(vjp) => Function { params: vec![vjp.x.clone()], body: vjp.body.clone(), ..own.clone() },
        None => own.clone(),
    };
    let mut callees = Vec::new();
    function.body.each_call(&mut |callee| callees.push(callee.clone()));
    let called = session.program.reachable(callees);
    let others = session.program.functions.values().filter(|other| called.contains(&other.name) && other.name != function.name);
    let functions: Vec<&Function> = others.chain([&function]).collect();
    let one = |problem| vec![problem];
    if command.args.is_empty() && !command.count {
        return output::text(&stages::explain(&functions, None).map_err(one)?);
    }
    let arguments = session::arguments(&session, entry, &command.args, &mut reads)?;
    let inputs: Vec<Value> = arguments.values.iter().map(values::from_flat).collect();
    let record = interpreter::record(&session.program, entry, inputs.clone()).map_err(eval::problem)?;
    let forward = match record.derivative {
        Some(_) => None,
        None => Some(interpreter::eval(&session.program, entry, inputs).map_err(eval::problem)?.trace.counts),
    };
    let run = stages::Run { record: &record, forward };
    output::text(&stages::explain(&functions, Some(&run)).map_err(one)?)
}

/// The reverse derivative that a body is.
fn differentiated(body: &Expr) -> Option<Vjp<'_>> {
    match body.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => differentiated(body),
        Term::Proj(vjp, _) => Vjp::of(vjp),
        _ => Vjp::of(body),
    }
    .filter(|vjp| !vjp.wants_rows())
}
