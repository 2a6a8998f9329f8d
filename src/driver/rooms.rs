//! How the driver calls each room: one function a stage, from what the session has to what it gets.
//!
//! In: the [`Session`] after the stages before. Out: the session with one thing more, or diagnostics. What a
//! room takes and gives is adapted here and nowhere else.

use std::rc::Rc;

use super::{Loader, Session, internal};
use crate::diagnostic::Diagnostics;
use crate::ir::{Program, Var};
use crate::{ad as differentiation, ir, syntax as parser};

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

pub fn rewrite(_: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
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
        _ => session.program.functions.values().map(|f| format!("let {} = {}\n", f.name, ir::print::expr(&f.body))).collect(),
    }
}

/// Whether a core program is well-formed.
pub fn check(_: &Program) -> Result<(), String> {
    Ok(())
}
