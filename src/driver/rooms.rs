//! How the driver calls each room: one function a stage, from what the session has to what it gets.
//!
//! In: the [`Session`] after the stages before. Out: the session with one thing more, or diagnostics. What a
//! room takes and gives is adapted here and nowhere else.

use std::rc::Rc;

use super::{Loader, Session, internal};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Program, Var};
use crate::source::Span;
use crate::{ad as differentiation, ir, rewrite as optimiser, syntax as parser};

/// Emitted C and what its callers must know.
#[derive(Clone, Debug)]
pub struct CFiles {
    pub source: String,
    pub header: String,
    pub entries: Vec<CEntry>,
}

/// One entry's names, and its size parameters in C's order.
#[derive(Clone, Debug)]
pub struct CEntry {
    pub name: Rc<str>,
    pub c_name: String,
    pub c_workspace: String,
    pub sizes: Vec<Var>,
}

pub fn syntax(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let Some(file) = session.sources.files.get(session.main as usize) else { return Ok(()) };
    session.module = Some(parser::parse(&file.text, session.main)?);
    Ok(())
}

pub fn types(_: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    Err(vec![internal("this build has no type checker".into())])
}

pub fn ad(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    session.program = differentiation::differentiate(&session.program).map_err(|problem| vec![problem])?;
    Ok(())
}

pub fn rewrite(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let one = |problem| vec![problem];
    let schedule = match &session.options.schedule {
        super::Schedule::Named(name) => optimiser::Schedule::builtin(name).ok_or_else(|| {
            let problem = Diagnostic::error("E0812", Span::NONE, format!("there is no schedule `{name}`"));
            vec![problem.help("the schedules are none, paper and default; a path names a strategy file")]
        })?,
        super::Schedule::Text { name, text } => {
            let file = session.sources.add(name, text);
            optimiser::Schedule::parse(name, text, file).map_err(one)?
        }
    };
    let options = optimiser::Options { disabled: session.options.disabled.clone(), ..optimiser::Options::default() };
    (session.program, _) = optimiser::optimise(&session.program, &schedule, &options).map_err(one)?;
    Ok(())
}

pub fn lower(_: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    Err(vec![internal("this build has no lowering".into())])
}

pub fn emit(_: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    Err(vec![internal("this build emits nothing".into())])
}

/// The program after a stage, as text.
pub fn print(session: &Session, stage: &str) -> String {
    match stage {
        "syntax" => format!("{:#?}\n", session.module),
        "emit" => session.files.as_ref().map(|files| files.source.clone()).unwrap_or_default(),
        _ => ir::print::program(&session.program),
    }
}

/// Whether a core program is well-formed.
pub fn check(_: &Program) -> Result<(), String> {
    Ok(())
}
