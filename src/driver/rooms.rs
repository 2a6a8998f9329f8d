//! How the driver calls each room: one function a stage, from what the session has to what it gets.
//!
//! In: the [`Session`] after the stages before. Out: the session with one thing more, or diagnostics. What a
//! room takes and gives is adapted here and nowhere else.

use super::schedule::{built_in_schedule, disabled_rules, schedule};
use super::{Loader, Options, Session, Target, limits, typed};
use crate::diagnostic::Diagnostics;
use crate::ir::Program;
use crate::mode::{self as choice, Mode, Way};
use crate::{
    ad as differentiation, emit as emission, ir, loops as loop_passes, lower as lowering, plan as planning,
    recursion as recursion_to_loops, rewrite as optimiser, syntax as parser,
};

pub fn syntax(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let Some(file) = session.sources.files.get(session.main as usize) else { return Ok(()) };
    session.module = Some(parser::parse(&file.text, session.main)?);
    Ok(())
}

pub fn types(session: &mut Session, load: &mut Loader) -> Result<(), Diagnostics> {
    let elaborated = typed::elaborated(session, load, false)?;
    typed::take(session, elaborated)
}

pub fn recursion(session: &mut Session, load: &mut Loader) -> Result<(), Diagnostics> {
    super::shared_lengths::share(session, load)?;
    if session.options.target == Target::Futhark {
        limits::no_recursive_types(&session.program)?;
        limits::no_recursion(session)?;
    }
    session.program = recursion_to_loops::give_stacks(&session.program, &session.measures)?;
    Ok(())
}

pub fn mode(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let way = match session.options.mode {
        // the schedules of the papers are for forward mode
        Mode::Auto if matches!(built_in_schedule(session)?.as_deref(), Some("none" | "paper")) => Way::Forward,
        // reverse mode keeps the states of a loop in an array, whose elements have one length
        Mode::Auto if session.of_data.values().any(|of_data| !of_data.choices.is_empty()) => Way::Forward,
        Mode::Auto => return chosen(session),
        Mode::Forward => Way::Forward,
        Mode::Reverse => Way::Reverse,
    };
    session.program = choice::decide(&session.program, &mut |_, _, _| way.into());
    Ok(())
}

/// Each derivative in the way that costs less.
fn chosen(session: &mut Session) -> Result<(), Diagnostics> {
    let mut choices = Vec::new();
    let schedule = schedule(&session.options.schedule, &mut session.sources)?;
    session.program = super::choice::cheapest(&session.program, &session.options, &schedule, &mut |candidates| choices.push(candidates));
    session.choices = choices;
    Ok(())
}

pub fn ad(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    session.program =
        differentiation::differentiate(&session.program, session.options.differentiation()).map_err(|problem| vec![problem])?;
    Ok(())
}

pub fn rewrite(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let schedule = schedule(&session.options.schedule, &mut session.sources)?;
    let given = &session.options;
    let options =
        optimiser::Options { strict_fp: given.strict_fp, disabled: disabled_rules(given), record: given.record, last_phase: None };
    let optimised = optimiser::optimise(&session.program, &schedule, &options).map_err(|problem| vec![problem])?;
    let before = std::mem::replace(&mut session.program, optimised.program);
    session.derivation = optimised.derivation.map(|derivation| (before, derivation));
    session.warnings.extend(optimised.warnings);
    Ok(())
}

pub fn plan(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let options = planning::Options { algebra: allows_algebra(&session.options), disabled: session.options.disabled.clone() };
    (session.program, session.own_times) = planning::plan(&session.program, &options, &session.wanted_pass)?;
    Ok(())
}

pub fn lower(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    limits::no_lengths_of_data(session)?;
    let entries: Vec<_> =
        session.program.functions.values().filter(|function| function.is_entry).map(|function| function.name.clone()).collect();
    let options = &session.options;
    let reciprocals = allows_algebra(options);
    let options = lowering::LowerOptions { reciprocals, unchecked: options.unchecked, parallel: options.parallel, real: options.real };
    session.loops = lowering::lower(&session.program, &entries, &options)?;
    Ok(())
}

pub fn loops(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let algebra = allows_algebra(&session.options);
    let Options { parallel, strict_fp, real, ref disabled, .. } = session.options;
    let options = loop_passes::Options { algebra, parallel, strict_fp, real, disabled: disabled.clone(), eager: false };
    let mut record = loop_passes::Record::default();
    let program = std::mem::take(&mut session.loops);
    session.loops = loop_passes::optimise_recorded(program, &options, &session.wanted_pass, &mut record)?;
    session.wanted_loops = record.snapshot;
    session.own_times = record.times;
    Ok(())
}

/// Whether `plan`, lowering and the passes over loops may use real-number laws, which change rounding; whatever the schedule is.
fn allows_algebra(options: &Options) -> bool {
    !options.strict_fp && !options.disabled.iter().any(|name| name == "algebra")
}

pub fn emit(session: &mut Session, _: &mut Loader) -> Result<(), Diagnostics> {
    let provenance = super::provenance::of(session)?;
    let prefix = session.options.prefix.clone();
    let one = |problem| vec![problem];
    match session.options.target {
        Target::C => {
            let Options { header_only, ref header, .. } = session.options;
            let options = emission::COptions { prefix, header_name: header.clone(), header_only, provenance };
            session.files = Some(emission::c(&session.loops, &options).map_err(one)?);
        }
        Target::Futhark => {
            limits::no_lengths_of_data(session)?;
            let (real, strict_fp) = (session.options.real, session.options.strict_fp);
            let options = emission::futhark::FutharkOptions { prefix, source_name: provenance.source, real, strict_fp };
            session.futhark = Some(emission::futhark::futhark(&session.program, &options).map_err(one)?);
        }
    }
    Ok(())
}

/// The program after a stage, as text.
pub fn print(session: &Session, stage: &str) -> String {
    match stage {
        "syntax" => format!("{:#?}\n", session.module),
        "lower" | "loops" => crate::loops::print::program(&session.loops),
        _ if super::VIEWS.iter().any(|view| view.name == stage) => session.view.clone(),
        _ if stage.starts_with("loops.") => crate::loops::print::program(&session.wanted_loops),
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
    if matches!(stage, "types" | "recursion" | "mode") { Ok(()) } else { ir::check::check_no_dual(program) }
}
