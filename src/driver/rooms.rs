//! How the driver calls each room: one function a stage, from what the session has to what it gets.
//!
//! In: the [`Session`] after the stages before. Out: the session with one thing more, or diagnostics. What a
//! room takes and gives is adapted here and nowhere else.

use super::{Loader, Session, Target};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Program;
use crate::source::Span;
use crate::{ad as differentiation, emit as emission, ir, lower as lowering, rewrite as optimiser, syntax as parser, types as typing};

pub fn syntax(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let Some(file) = session.sources.files.get(session.main as usize) else { return Ok(()) };
    session.module = Some(parser::parse(&file.text, session.main)?);
    Ok(())
}

pub fn types(session: &mut Session, load: &mut Loader) -> Result<(), Diagnostics> {
    let derives = session.options.derive.iter().map(|text| derive(text)).collect::<Result<_, _>>().map_err(|problem| vec![problem])?;
    let options = typing::Options { entries: session.options.entries.clone(), derives };
    let elaborated = typing::elaborate(&mut session.sources, session.main, load, &options)?;
    session.program = elaborated.program;
    session.warnings = elaborated.warnings;
    session.signatures = elaborated.signatures.into_iter().map(|signature| signature.text).collect();
    Ok(())
}

/// `KIND:FUNCTION[:PARAMETER]`.
fn derive(text: &str) -> Result<typing::Derive, Diagnostic> {
    let parts: Vec<&str> = text.split(':').collect();
    let kind = |name: &str| typing::Kind::ALL.iter().find(|row| row.0 == name).map(|row| row.1);
    match parts.as_slice() {
        [name, function, parameter @ ..] if parameter.len() <= 1 => match kind(name) {
            Some(kind) => {
                Ok(typing::Derive { kind, function: function.to_string(), parameter: parameter.first().map(|name| name.to_string()) })
            }
            None => Err(Diagnostic::error("E0814", Span::NONE, format!("`--derive` knows no kind `{name}`"))
                .help("the kinds are jvp, vjp, gradient, jacobian and hessian")),
        },
        _ => Err(Diagnostic::error("E0814", Span::NONE, format!("`--derive {text}` is not KIND:FUNCTION or KIND:FUNCTION:PARAMETER"))
            .help("for example `--derive gradient:loss:weights`")),
    }
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

pub fn lower(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let entries: Vec<_> =
        session.program.functions.values().filter(|function| function.is_entry).map(|function| function.name.clone()).collect();
    // what the default schedule may do to quotients, lowering may
    let is_default = matches!(&session.options.schedule, super::Schedule::Named(name) if name == "default");
    let reciprocals = is_default && !session.options.disabled.iter().any(|name| name == "algebra");
    session.loops = lowering::lower(&session.program, &entries, &lowering::LowerOptions { reciprocals })?;
    Ok(())
}

pub fn emit(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let main = session.sources.files.get(session.main as usize).map(|file| file.name.to_string()).unwrap_or_default();
    // the folder is this machine's business
    let source_name = main.rsplit(['/', '\\']).next().unwrap_or_default().to_string();
    let prefix = session.options.prefix.clone();
    let one = |problem| vec![problem];
    match session.options.target {
        Target::C => {
            let options = emission::COptions { prefix, header_name: session.options.header.clone(), source_name };
            session.files = Some(emission::c(&session.loops, &options).map_err(one)?);
        }
        Target::Futhark => {
            let options = emission::futhark::FutharkOptions { prefix, source_name };
            session.futhark = Some(emission::futhark::futhark(&session.program, &options).map_err(one)?);
        }
    }
    Ok(())
}

/// The program after a stage, as text.
pub fn print(session: &Session, stage: &str) -> String {
    match stage {
        "syntax" => format!("{:#?}\n", session.module),
        "lower" => format!("{:#?}\n", session.loops),
        "emit" => match (&session.files, &session.futhark) {
            (Some(files), _) => files.source.clone(),
            (None, Some(file)) => file.source.clone(),
            (None, None) => String::new(),
        },
        _ => ir::print::program(&session.program),
    }
}

/// Whether a core program is well-formed.
pub fn check(program: &Program, stage: &str) -> Result<(), String> {
    ir::check::check(program)?;
    if stage == "types" { Ok(()) } else { ir::check::check_no_dual(program) }
}
