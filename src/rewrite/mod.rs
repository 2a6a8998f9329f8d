//! The optimiser: named rules, and a schedule that says where and in which order they apply.
//!
//! In: a core program without `dual`. Out: an equivalent one with less work, and on request its derivation. Nothing here knows
//! of differentiation: that forward mode often becomes as cheap as reverse mode follows from the rules (001 Figure 8; its
//! Figure 9 is the schedule `paper`).
//!
//!     build(n, i. fold(n, s. j. s + (if j = i then 1 else 0) * b[j], 0))   →   b
//!
//! `rule` says what a rule is, `rules/` holds them, `strategy` parses schedules, `interpret` applies them,
//! `engine` is the fast normaliser, `facts` the context of a term.

use std::cell::RefCell;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, nearest};
use crate::ir::check::check;
use crate::ir::scope::with_sizes_in_scope;
use crate::ir::{Expr, Function, Program};
use crate::source::Span;

pub mod added;
pub mod alike;
pub mod atoms;
pub mod cost;
pub mod derivation;
pub mod engine;
pub mod facts;
pub mod form;
pub mod interpret;
pub mod law;
pub mod needs;
pub mod poles;
pub mod product;
pub mod refusals;
pub mod rule;
pub mod rules;
pub mod strategy;
pub mod sum;
pub mod uses;
pub mod vanish;

#[cfg(test)]
mod examples_tests;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod mutation;
#[cfg(test)]
mod programs_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod textbook_tests;

pub use derivation::Derivation;
use derivation::Log;
use engine::{Budget, RuleSets};
use facts::{Facts, Settled};
use interpret::Interpreter;
use refusals::Refusals;
use rule::{Group, Rule};
use strategy::Strategy;

/// A parsed schedule.
#[derive(Clone)]
pub struct Schedule {
    pub name: Rc<str>,
    strategy: Strategy,
}

/// What the command line says about optimisation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Leave everything that may change rounding or the sign of a zero.
    pub strict_fp: bool,
    /// Rules and groups of `--disable`.
    pub disabled: Vec<String>,
    /// Keep every step.
    pub record: bool,
    /// Stop after the phase of this name.
    pub last_phase: Option<&'static str>,
}

/// What becomes of a program.
pub struct Optimised {
    pub program: Program,
    /// Where the options ask for it.
    pub derivation: Option<Derivation>,
    /// Warnings about a strategy file.
    pub warnings: Vec<Diagnostic>,
}

/// Applies a schedule to a program.
pub fn optimise(program: &Program, schedule: &Schedule, options: &Options) -> Result<Optimised, Diagnostic> {
    for name in &options.disabled {
        check_name(name)?;
    }
    let enabled = enabled(options);
    let mut program = program.clone();
    let mut log = Log::new(options.record);
    let mut derivation = Derivation::default();
    let (mut warnings, mut memory) = (Vec::new(), Memory::default());
    for (name, strategy) in phases(&schedule.strategy) {
        let mut budget = Budget::for_program(&program);
        let phase = run(&program, strategy, &enabled, options, &mut log, &mut budget, &mut memory)?;
        program = phase.program;
        if phase.applied == 0 && phase.failed > 0 {
            warnings.push(fails(&name, &schedule.name));
        }
        let is_last = options.last_phase.is_some_and(|last| *name == *last);
        if options.record {
            derivation.phases.push(log.phase(name, &program));
        }
        if is_last {
            break;
        }
    }
    // rules that drop a length put its value into sizes that later rules read; here are the binders that none of them reads again
    for function in program.functions.values_mut() {
        function.body = with_sizes_in_scope(function).unwrap_or_else(|| function.body.clone());
    }
    derivation.own = schedule.strategy.own_rules().into_iter().map(|rule| (rule.name, rule.law)).collect();
    // smoothc's own rules are held to this by tests; a user's may be none
    if !derivation.own.is_empty() {
        check(&program).map_err(|problem| {
            Diagnostic::error(
                "E0119",
                Span::NONE,
                format!("the rules of `{}` make a program that has no meaning: {problem}", schedule.name),
            )
            .help("a law whose sides are not equal may change the lengths of arrays, which the program around them relies on")
        })?;
    }
    Ok(Optimised { program, derivation: options.record.then_some(derivation), warnings })
}

/// A warning for a phase that fails on every function.
fn fails(phase: &str, schedule: &str) -> Diagnostic {
    let message = format!("the strategy `{phase}` of `{schedule}` applies to no function, and changes nothing");
    Diagnostic::warning("W0605", Span::NONE, message)
        .help("a rule by itself is tried at the whole body only: `topdown s` looks for a place inside, `innermost s` for all of them")
}

/// Applies a schedule to the body of one function as it stands; `None` where it does not apply.
pub fn apply(schedule: &Schedule, program: &Program, function: &Function, options: &Options) -> Result<Option<Expr>, Diagnostic> {
    options.disabled.iter().try_for_each(|name| check_name(name))?;
    let mut facts = Facts::new(program.clone(), options.strict_fp);
    facts.enter_function(function);
    facts.nodes = function.body.node_count();
    let mut budget = Budget::for_nodes(facts.nodes);
    let (mut log, enabled, mut rule_sets) = (Log::new(false), enabled(options), RuleSets::default());
    let mut interpreter =
        Interpreter { facts: &mut facts, budget: &mut budget, log: &mut log, rule_sets: &mut rule_sets, enabled: &enabled };
    interpreter.apply(&schedule.strategy, &function.body).map_err(|_| endless("the expression", function.body.span()))
}

/// How many nodes the rewriter looks at on the way through a schedule: what tests bound instead of time.
#[cfg(test)]
fn visited(program: &Program, schedule: &Schedule) -> Result<usize, Diagnostic> {
    let (options, mut program, mut visited) = (Options::default(), program.clone(), 0);
    for (_, strategy) in phases(&schedule.strategy) {
        let mut budget = Budget::for_program(&program);
        program = run(&program, strategy, &enabled(&options), &options, &mut Log::new(false), &mut budget, &mut Memory::default())?.program;
        visited += budget.visited;
    }
    Ok(visited)
}

/// Which rules `--disable` and `--strict-fp` leave.
fn enabled(options: &Options) -> impl Fn(&Rule) -> bool {
    |rule: &Rule| {
        let disabled = |name: &str| options.disabled.iter().any(|other| other == name);
        !disabled(rule.name) && !rule.group.is_some_and(|group| disabled(group.name()) || options.strict_fp && group == Group::Algebra)
    }
}

/// An error for a name of `--disable` that means nothing.
pub fn check_name(name: &str) -> Result<(), Diagnostic> {
    if rules::named(name).is_some() || Group::named(name).is_some() {
        return Ok(());
    }
    let groups = Group::ALL.iter().map(|group| group.name());
    let help = match nearest(name, groups.chain(rules::all().map(|rule| rule.name))) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "the groups are fusion, normalisation, motion and algebra; `smoothc explain rules` lists the rules".into(),
    };
    Err(Diagnostic::error("E0813", Span::NONE, format!("no rule or group of rules is called `{name}`")).help(help))
}

thread_local! {
    /// The built-in schedules that were asked for: several stages ask for one, and a process that compiles more than one program does.
    static BUILT: RefCell<Vec<Schedule>> = const { RefCell::new(Vec::new()) };
}

impl Schedule {
    /// `none`, `paper` or `default`.
    pub fn builtin(name: &str) -> Option<Schedule> {
        BUILT.with_borrow_mut(|built| {
            if let Some(known) = built.iter().find(|schedule| &*schedule.name == name) {
                return Some(known.clone());
            }
            let (_, text) = strategy::BUILTIN.iter().find(|(known, _)| *known == name)?;
            let schedule = Schedule::parse(name, text, Span::NONE.file).ok()?;
            built.push(schedule.clone());
            Some(schedule)
        })
    }

    /// The built-in schedule that this one is, whatever it is called: its phases are the same.
    pub fn built_in_name(&self) -> Option<&'static str> {
        let is_same = |name: &&str| Schedule::builtin(name).is_some_and(|other| phases(&self.strategy) == phases(&other.strategy));
        ["default", "paper", "none"].into_iter().find(is_same)
    }

    /// A schedule from the text of a strategy file, or of a single strategy; `file` is its number for diagnostics.
    pub fn parse(name: &str, text: &str, file: u32) -> Result<Schedule, Diagnostic> {
        Ok(Schedule { name: name.into(), strategy: strategy::parse(text, file)? })
    }
}

/// The top-level sequence of a schedule, each part under its name, and so that of a built-in schedule which it names.
fn phases(strategy: &Strategy) -> Vec<(Rc<str>, &Strategy)> {
    match strategy {
        Strategy::Seq(a, b) => phases(a).into_iter().chain(phases(b)).collect(),
        Strategy::Id => Vec::new(),
        Strategy::Named(name, inner) if strategy::BUILTIN.iter().any(|(known, _)| *known == &**name) => phases(inner),
        Strategy::Named(name, _) => vec![(name.clone(), strategy)],
        Strategy::Call(recursive, _) => vec![(recursive.name.clone(), strategy)],
        Strategy::Again(_) | Strategy::Parameter(_) => vec![("main".into(), strategy)],
        Strategy::Fail | Strategy::Rule(_) | Strategy::Choice(..) | Strategy::With(..) | Strategy::In(..) => {
            vec![("main".into(), strategy)]
        }
    }
}

/// State that a phase hands to the next beside the program.
#[derive(Default)]
struct Memory {
    settled: Settled,
    rule_sets: RuleSets,
}

/// A program after a phase, and on how many functions the phase succeeded and failed.
struct Phased {
    program: Program,
    applied: usize,
    failed: usize,
}

/// One phase over all functions, callees first, so that what is inlined is optimised already.
fn run(
    program: &Program,
    strategy: &Strategy,
    enabled: &dyn Fn(&Rule) -> bool,
    options: &Options,
    log: &mut Log,
    budget: &mut Budget,
    memory: &mut Memory,
) -> Result<Phased, Diagnostic> {
    let (mut applied, mut failed) = (0, 0);
    let mut facts = Facts::new(program.clone(), options.strict_fp);
    facts.settled = std::mem::take(&mut memory.settled).into();
    if log.is_recording() {
        facts.refusals = Refusals::kept();
    }
    for (name, function) in &program.functions {
        log.enter(name);
        let mark = facts.mark();
        facts.enter_function(function);
        let mut interpreter = Interpreter { facts: &mut facts, budget, log, rule_sets: &mut memory.rule_sets, enabled };
        let body = interpreter.apply(strategy, &function.body).map_err(|_| endless(&format!("`{name}`"), function.span))?;
        facts.back_to(mark);
        log.refused(facts.refusals.take());
        match body {
            Some(body) => {
                applied += 1;
                facts.program.functions.insert(name.clone(), Function { body, ..function.clone() });
            }
            None => failed += 1,
        }
    }
    memory.settled = facts.settled.into_inner();
    Ok(Phased { program: reachable(facts.program), applied, failed })
}

fn endless(place: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0602", span, format!("the schedule does not come to an end in {place}"))
        .help("two of its rules may undo each other, one may make the term larger each time, or a `let rec` may never fail; `--schedule default` ends")
}

/// The program without functions that no entry calls; all of it when it has no entry.
fn reachable(program: Program) -> Program {
    if program.functions.values().any(|function| function.is_entry) { program.without_unreachable() } else { program }
}
