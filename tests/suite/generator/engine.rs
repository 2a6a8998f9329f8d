//! One program, all engines: what disagrees.
//!
//! In: programs. Out: for each its failures, if any. The meaning is `ir::eval` of what `types` gives, where
//! `dual` has a meaning of its own; compared with it are `eval` after `ad`, `eval` after `rewrite`, and C after
//! the schedules `none` and `default`; and derivatives with differences of the meaning's own values.
//! Values agree to 1e-9 · max(1, S), S the largest magnitude that the interpreter met. Where a disagreement
//! stays within what a perturbation of the inputs in the last places does, the program is ill-conditioned there.

use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use smoothc::cli::args::{self, Arguments};
use smoothc::cli::values::{from_flat, to_flat};
use smoothc::diagnostic::{Diagnostic, Diagnostics};
use smoothc::driver::{Options, Session};
use smoothc::ir::eval::{self, ErrorKind, Outcome, RuntimeError, Value};
use smoothc::ir::{Expr, Program as Core, Term, check};
use smoothc::mode::Way;
use smoothc::toolchain::compiler::Arithmetic;
use smoothc::toolchain::flat::{Column, Flat};
use smoothc::toolchain::futhark;
use smoothc::toolchain::shim::Interface;

use super::native::{self, Answer, Call, PLAIN, SANITIZED, THREADS};
use super::program::Program;
use super::random::Random;

/// What went wrong: the kind is what shrinking keeps.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: String,
    pub detail: String,
}

impl Failure {
    pub(super) fn new(kind: &str, detail: impl Into<String>) -> Failure {
        Failure { kind: kind.into(), detail: detail.into() }
    }

    pub(super) fn of(stage: &str, problems: &[Diagnostic], source: &str) -> Failure {
        let kind = problems.first().map_or("", |problem| problem.code);
        let said: Vec<String> = problems
            .iter()
            .map(|problem| {
                let place = source.get(problem.span.start as usize..problem.span.end as usize).unwrap_or_default();
                format!("{} {} at `{place}`", problem.code, problem.message)
            })
            .collect();
        Failure::new(&format!("{stage} {kind}"), said.join("\n"))
    }
}

/// What runs a program beside the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    Interpreter,
    /// The interpreter, derivatives computed forward.
    Forward,
    C,
    /// C whose backward pass keeps three states of a loop.
    Checkpoints,
    /// C whose loops three threads share.
    Threads,
    /// C whose passes over loops apply wherever they may.
    Eager,
    /// Through this backend of the Futhark compiler.
    Futhark(&'static str),
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    pub values: usize,
    pub errors: usize,
    pub not_finite: usize,
    pub differences: usize,
    pub derived: usize,
    /// Points at which a derivative and its transpose were held against each other.
    #[serde(default)]
    pub transposed: usize,
    pub ill_conditioned: usize,
    /// Errors of optimised programs that Futhark's own optimiser drops with the values that carry them: `0 * (1 / 0)`.
    pub vanished: usize,
    /// Programs that lowering refuses with E0601.
    pub unsupported: usize,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.values += other.values;
        self.errors += other.errors;
        self.not_finite += other.not_finite;
        self.differences += other.differences;
        self.derived += other.derived;
        self.transposed += other.transposed;
        self.ill_conditioned += other.ill_conditioned;
        self.vanished += other.vanished;
        self.unsupported += other.unsupported;
    }
}

/// All stages of a source text.
struct Stages {
    typed: Core,
    differentiated: Core,
    optimised: Core,
    native: Vec<Native>,
}

/// Emitted C under one schedule.
struct Native {
    schedule: &'static str,
    source: String,
    interfaces: Vec<Interface>,
}

pub fn guarded<T>(stage: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|said| said.to_string()));
        Err(Failure::new(&format!("{stage} panic"), said.unwrap_or_default()))
    })
}

fn well_formed(stage: &str, program: &Core) -> Result<(), Failure> {
    check::check(program).map_err(|problem| Failure::new(&format!("{stage} check"), problem))
}

fn stages(source: &str, entries: &[String], derive: &[String], wild: bool, with: With) -> Result<Stages, Failure> {
    let derives = derive.iter().map(|text| smoothc::types::Derive::parse(text).expect("a derivative")).collect();
    let options = Options { entries: entries.to_vec(), derive: derives, ..Options::default() };
    let mut session = Session::new("program.smooth", source, options);
    let failed = |stage: &'static str| move |problems: Diagnostics| Failure::of(stage, &problems, source);
    let one = |stage: &'static str| move |problem: Diagnostic| Failure::of(stage, &[problem], source);
    guarded("types", || session.run_to("types", &mut |_, _| Err("no files".into())).map_err(failed("types")))?;
    let typed = session.program.clone();
    let way = if with == With::Forward { Way::Forward } else { Way::Reverse };
    let decided = guarded("mode", || Ok(smoothc::mode::decide(&typed, &mut |_, _, _| way.into())))?;
    well_formed("mode", &decided)?;
    let options =
        smoothc::ad::Options { checkpoint: if with == With::Checkpoints { NonZeroU32::new(3) } else { None }, ..Default::default() };
    let differentiated = guarded("ad", || smoothc::ad::differentiate(&decided, options).map_err(one("ad")))?;
    well_formed("ad", &differentiated)?;
    // laws of real numbers promise nothing outside the domains
    let disabled = if wild { vec!["algebra".to_string()] } else { Vec::new() };
    let options = smoothc::rewrite::Options { disabled, ..smoothc::rewrite::Options::default() };
    let mut native = Vec::new();
    let mut optimised = differentiated.clone();
    for schedule in ["none", "default"] {
        let parsed = smoothc::rewrite::Schedule::builtin(schedule).ok_or_else(|| Failure::new("rewrite", "no schedule"))?;
        let program =
            guarded("rewrite", || smoothc::rewrite::optimise(&differentiated, &parsed, &options).map_err(one("rewrite")))?.program;
        well_formed("rewrite", &program)?;
        native.push(emit(&program, schedule, with).map_err(|mut failure| {
            failure.detail = format!("{}: {}", schedule, failure.detail);
            failure
        })?);
        optimised = program;
    }
    Ok(Stages { typed, differentiated, optimised, native })
}

fn emit(program: &Core, schedule: &'static str, with: With) -> Result<Native, Failure> {
    let parallel = with == With::Threads;
    let names: Vec<Rc<str>> =
        program.functions.values().filter(|function| function.is_entry).map(|function| function.name.clone()).collect();
    let options = smoothc::plan::Options::default();
    let (program, _) =
        &guarded("plan", || smoothc::plan::plan(program, &options, "").map_err(|problems| Failure::of("plan", &problems, "")))?;
    let loops = guarded("lower", || {
        let options = smoothc::lower::LowerOptions { parallel, ..Default::default() };
        smoothc::lower::lower(program, &names, &options).map_err(|problems| Failure::of("lower", &problems, ""))
    })?;
    let loops = guarded("loops", || {
        let options = smoothc::loops::Options { parallel, eager: with == With::Eager, ..Default::default() };
        smoothc::loops::optimise(loops, &options).map_err(|problems| Failure::of("loops", &problems, ""))
    })?;
    let options = smoothc::emit::COptions::default();
    let files = guarded("emit", || smoothc::emit::c(&loops, &options).map_err(|problem| Failure::of("emit", &[problem], "")))?;
    let mut interfaces = Vec::new();
    for name in names {
        let entry = files.entries.iter().find(|entry| entry.source_name == *name).ok_or_else(|| Failure::new("emit entry", &*name))?;
        let sizes = entry.parameters.iter().filter_map(|parameter| match &parameter.kind {
            smoothc::emit::ParameterKind::Size(var) => Some(var.clone()),
            _ => None,
        });
        interfaces.push(Interface::new(&entry.name, &entry.workspace, sizes.collect(), &program.functions[&name]));
    }
    Ok(Native { schedule, source: files.source, interfaces })
}

/// What the interpreter says about one call.
pub(super) type Meaning = Result<Outcome, RuntimeError>;

pub struct Case {
    /// Of the program in the batch, and the name of the entry.
    pub program: usize,
    pub entry: String,
    pub words: Vec<String>,
    pub arguments: Arguments,
    pub meaning: Meaning,
}

/// Failures by program; `with` also compiles and runs.
pub fn check_all(programs: &[Program], with: With, counts: &mut Counts) -> Vec<(usize, Failure)> {
    let mut failures = Vec::new();
    match batch(programs, with, counts) {
        Ok(found) => failures = found,
        // a size that may depend on data
        Err(failure) if programs.len() == 1 && matches!(&*failure.kind, "lower E0601" | "loops E0601") => counts.unsupported += 1,
        Err(failure) if programs.len() == 1 => failures.push((0, failure)),
        // someone's stage failed: find out whose
        Err(failure) => {
            let unsupported = counts.unsupported;
            for (at, program) in programs.iter().enumerate() {
                let found = check_all(std::slice::from_ref(program), with, counts);
                failures.extend(found.into_iter().map(|(_, failure)| (at, failure)));
            }
            if failures.is_empty() && counts.unsupported == unsupported {
                failures.push((0, Failure::new("together", format!("only together: {} {}", failure.kind, failure.detail))));
            }
        }
    }
    failures
}

pub fn differentiable(program: &Program) -> Option<(usize, String)> {
    let entry = program.entry();
    let at = entry.params.iter().position(|(_, ty)| ty.is_of_doubles())?;
    entry.body.ty.is_of_doubles().then(|| (at, format!("jvp:{}:{}", entry.name, entry.params[at].0)))
}

fn batch(programs: &[Program], with: With, counts: &mut Counts) -> Result<Vec<(usize, Failure)>, Failure> {
    let source: String = programs.iter().map(|program| program.text() + "\n").collect();
    let entries: Vec<String> = programs.iter().map(|program| program.entry().name.to_string()).collect();
    let derived: Vec<Option<(usize, String)>> = programs.iter().map(differentiable).collect();
    let jvps = derived.iter().flatten().map(|(_, text)| text.clone());
    let derive: Vec<String> = jvps.clone().chain(jvps.map(|text| text.replacen("jvp:", "vjp:", 1))).collect();
    let wild = programs.iter().any(|program| program.wild);
    let stages = stages(&source, &entries, &derive, wild, with)?;
    let mut failures = Vec::new();
    let mut cases = Vec::new();
    for (at, program) in programs.iter().enumerate() {
        let entry = &entries[at];
        for words in &program.inputs {
            add_case(&stages, at, entry, words.clone(), &mut cases, &mut failures);
        }
        if let Some((param, _)) = &derived[at] {
            let name = derived_name(&stages.typed, entry, "jvp");
            let transposed = derived_name(&stages.typed, entry, "vjp");
            for words in &program.inputs {
                let mut words = words.clone();
                let tangent = direction(&words[*param]);
                words.push(tangent);
                let before = cases.len();
                add_case(&stages, at, &name, words, &mut cases, &mut failures);
                let Some(case) = cases.get(before) else { continue };
                difference(&stages.typed, entry, *param, case, counts, &mut failures);
                // a cotangent as the derivative is, whose values are others
                let Ok(Outcome { value, .. }) = &case.meaning else { continue };
                let mut words = case.words[..case.words.len() - 1].to_vec();
                words.push(direction(&json(value)));
                add_case(&stages, at, &transposed, words, &mut cases, &mut failures);
                if let [.., forward, back] = cases.as_slice() {
                    transposes(&stages.differentiated, forward, back, counts, &mut failures);
                }
            }
        }
    }
    compare(&stages, &cases, with, &entries, counts, &mut failures)?;
    Ok(failures)
}

/// Failures of entries of one file, each called with some words.
pub fn check_text(source: &str, calls: &[(String, Vec<String>)], with: With, counts: &mut Counts) -> Result<Vec<Failure>, Failure> {
    let stages = stages(source, &[], &[], false, with)?;
    let (mut cases, mut failures) = (Vec::new(), Vec::new());
    for (entry, words) in calls {
        add_case(&stages, 0, entry, words.clone(), &mut cases, &mut failures);
    }
    compare(&stages, &cases, with, &[], counts, &mut failures)?;
    Ok(failures.into_iter().map(|(_, failure)| failure).collect())
}

/// Every engine against the meaning of each case.
fn compare(
    stages: &Stages,
    cases: &[Case],
    with: With,
    entries: &[String],
    counts: &mut Counts,
    failures: &mut Vec<(usize, Failure)>,
) -> Result<(), Failure> {
    for case in cases {
        compare_interpreted(stages, case, counts, failures);
    }
    match with {
        With::Interpreter | With::Forward => return Ok(()),
        With::Futhark(backend) => {
            for schedule in ["none", "default"] {
                futhark(stages, backend, schedule, cases, counts, failures)?;
            }
            return Ok(());
        }
        With::C | With::Checkpoints | With::Threads | With::Eager => {}
    }
    let folder = tempfile::tempdir().map_err(|error| Failure::new("folder", error.to_string()))?;
    for native in &stages.native {
        let flavours: &[(&str, &[&str])] = match (with, native.schedule) {
            (With::Threads, _) => &[("threads", THREADS)],
            // one build of the program as written is enough, and of what differs in where states are kept
            (_, "none") | (With::Checkpoints, _) => &[("sanitized", SANITIZED)],
            _ => &[("sanitized", SANITIZED), ("plain", PLAIN)],
        };
        for (flavour, flags) in flavours {
            let name = format!("{}_{flavour}", native.schedule);
            let some = |said: &str| said.lines().take(8).collect::<Vec<_>>().join("\n");
            let said = native::compile(folder.path(), &name, &native.source, &native.interfaces, flags)
                .map_err(|said| Failure::new(&format!("cc {}", native.schedule), some(&said)))?;
            warnings(&said, native.schedule, entries, failures);
            let calls: Vec<Call> = cases
                .iter()
                .map(|case| Call { entry: entry_number(native, &stages.typed, &case.entry), arguments: &case.arguments })
                .collect();
            let answers = native::run(folder.path(), &name, &native.interfaces, &calls);
            for (case, answer) in cases.iter().zip(answers) {
                compare_native(stages, &format!("C {}", native.schedule), flavour, case, answer, failures);
            }
        }
    }
    Ok(())
}

/// The C compiler's warnings, each for the program whose function it names.
fn warnings(said: &str, schedule: &str, entries: &[String], failures: &mut Vec<(usize, Failure)>) {
    let mut at = 0;
    for line in said.lines() {
        if let Some((_, name)) = line.split_once("In function ‘").or_else(|| line.split_once("In function '")) {
            let name: String = name.chars().skip_while(|c| *c == '_').take_while(char::is_ascii_alphanumeric).collect();
            at = entries.iter().position(|entry| *entry == name).unwrap_or(0);
        } else if let Some((_, option)) = line.rsplit_once("[-W") {
            failures.push((at, Failure::new(&format!("cc {schedule} -W{}", option.trim_end_matches(']')), line)));
        }
    }
}

/// The name of the entry that `--derive` added.
pub fn derived_name(program: &Core, entry: &str, kind: &str) -> String {
    let start = format!("{entry}_{kind}");
    program
        .functions
        .keys()
        .find(|name| ***name == *start || name.starts_with(&format!("{start}_")))
        .map(|name| name.to_string())
        .unwrap_or(start)
}

fn entry_number(native: &Native, typed: &Core, entry: &str) -> usize {
    let names = typed.functions.values().filter(|function| function.is_entry).map(|function| &function.name);
    let at = names.enumerate().find(|(_, name)| ***name == *entry).map_or(0, |(at, _)| at);
    at.min(native.interfaces.len() - 1)
}

fn add_case(stages: &Stages, program: usize, entry: &str, words: Vec<String>, cases: &mut Vec<Case>, failures: &mut Vec<(usize, Failure)>) {
    let Some(function) = stages.typed.functions.get(entry) else {
        failures.push((program, Failure::new("types entry", format!("no entry {entry}"))));
        return;
    };
    let arguments = match args::read(function, &words) {
        Ok(arguments) => arguments,
        Err(problems) => {
            failures.push((program, Failure::of("arguments", &problems, "")));
            return;
        }
    };
    match interpret(&stages.typed, entry, &arguments) {
        Ok(meaning) => cases.push(Case { program, entry: entry.into(), words, arguments, meaning }),
        Err(failure) => failures.push((program, failure)),
    }
}

pub fn interpret(program: &Core, entry: &str, arguments: &Arguments) -> Result<Meaning, Failure> {
    let values: Vec<_> = arguments.values.iter().map(from_flat).collect();
    let result = guarded("eval", || Ok(eval::eval(program, entry, values)))?;
    match result {
        Err(error) if error.status().is_none() && error.kind != ErrorKind::TooLarge => {
            Err(Failure::new("eval internal", format!("{:?} {}", error.kind, error.message)))
        }
        meaning => Ok(meaning),
    }
}

fn compare_interpreted(stages: &Stages, case: &Case, counts: &mut Counts, failures: &mut Vec<(usize, Failure)>) {
    match &case.meaning {
        Err(_) => counts.errors += 1,
        Ok(outcome) if outcome.value.doubles().iter().all(|value| value.is_finite()) => counts.values += 1,
        Ok(_) => counts.not_finite += 1,
    }
    for (engine, program, exact) in [("ad", &stages.differentiated, true), ("rewrite", &stages.optimised, false)] {
        let mut report =
            |kind: &str, detail: String| failures.push((case.program, Failure::new(&format!("{engine} {kind}"), at(case, &detail))));
        match (&case.meaning, interpret(program, &case.entry, &case.arguments)) {
            (_, Err(failure)) => report("eval", failure.detail),
            (Ok(expected), Ok(Ok(found))) => {
                let (expected_columns, found) = (to_flat(&expected.value).columns, to_flat(&found.value).columns);
                if let Some(detail) = disagreement(&expected_columns, &found, tolerance(expected), exact) {
                    if explained(&stages.typed, case, &found) { counts.ill_conditioned += 1 } else { report("value", detail) }
                }
            }
            (Ok(_), Ok(Err(error))) => report("error", error.message),
            // an error may go with a value that nobody needs
            (Err(_), Ok(_)) => {}
        }
    }
}

/// One Futhark library of all programs, and every call of it.
fn futhark(
    stages: &Stages,
    backend: &str,
    schedule: &str,
    cases: &[Case],
    counts: &mut Counts,
    failures: &mut Vec<(usize, Failure)>,
) -> Result<(), Failure> {
    let program = if schedule == "none" { &stages.differentiated } else { &stages.optimised };
    let options = smoothc::emit::futhark::FutharkOptions::default();
    let file = guarded("emit futhark", || {
        smoothc::emit::futhark::futhark(program, &options).map_err(|problem| Failure::of("futhark", &[problem], ""))
    })?;
    let interfaces = file.entries.iter().map(|(source, name)| futhark::shim::Interface::new(name, &program.functions[source])).collect();
    let limits = futhark::compiler::Limits { seconds: 120, megabytes: 2048 };
    let engine = format!("futhark {schedule}");
    let loaded = futhark::call::load(&file.source, backend, Arithmetic::Fast, interfaces, limits)
        .map_err(|problem| Failure::new(&format!("{engine} {}", problem.code), format!("{}\n{}", problem.message, file.source)))?;
    for case in cases {
        // what does not fit in the interpreter's memory ends a Futhark program
        if matches!(&case.meaning, Err(error) if error.kind == ErrorKind::TooLarge) {
            continue;
        }
        let at = file.entries.iter().position(|(source, _)| **source == *case.entry).unwrap_or(0);
        let answer = match loaded.try_call(at, &case.arguments.values, &case.arguments.bindings) {
            Ok(flat) => Answer::Columns(flat.columns),
            Err(futhark::call::Failure::Status(status)) => Answer::Status(status as i64),
            Err(futhark::call::Failure::TooLarge) => Answer::Status(100),
            Err(futhark::call::Failure::Other(said)) => Answer::Crash(said),
        };
        if case.meaning.is_err() && matches!(answer, Answer::Columns(_)) {
            // without optimisation our own emitter drops lets that nobody reads
            let is_needed = schedule != "none" && matches!(interpret(program, &case.entry, &case.arguments), Ok(Err(_)));
            counts.vanished += usize::from(is_needed);
            continue;
        }
        compare_native(stages, &engine, backend, case, answer, failures);
    }
    Ok(())
}

/// Compares what compiled code gave; `engine` ends in the schedule.
fn compare_native(stages: &Stages, engine: &str, flavour: &str, case: &Case, answer: Answer, failures: &mut Vec<(usize, Failure)>) {
    let exact = engine.ends_with("none");
    let mut report = |kind: &str, detail: &str| {
        failures.push((case.program, Failure::new(&format!("{engine} {kind}"), at(case, &format!("{flavour}: {detail}")))))
    };
    match (&case.meaning, answer) {
        (_, Answer::Crash(said)) => report("crash", &said),
        (Ok(expected), Answer::Columns(found)) => {
            let columns = to_flat(&expected.value).columns;
            if let Some(detail) = disagreement(&columns, &found, tolerance(expected), exact)
                && !explained(&stages.typed, case, &found)
            {
                report("value", &detail);
            }
        }
        (Ok(_), Answer::Status(status)) => report("error", &format!("status {status}")),
        (Ok(_), Answer::Workspace(said)) => report("workspace", &said),
        (Err(error), Answer::Columns(_)) if error.status().is_some() => {
            // an error may go with a value that nobody needs; then the optimiser sees that nobody does
            if let Ok(Err(_)) = interpret(&stages.optimised, &case.entry, &case.arguments) {
                report("no error", &error.message);
            }
        }
        (Err(_), _) => {}
    }
}

pub fn at(case: &Case, detail: &str) -> String {
    format!("{} {}\n{detail}", case.entry, case.words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "))
}

pub fn tolerance(expected: &Outcome) -> f64 {
    1e-9 * expected.trace.largest.max(1.0)
}

/// Where two results differ. `exact` also compares infinities and NaN.
pub fn disagreement(expected: &[Column], found: &[Column], tolerance: f64, exact: bool) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!("{} columns, expected {}", found.len(), expected.len()));
    }
    for (k, (expected, found)) in expected.iter().zip(found).enumerate() {
        if expected.len() != found.len() {
            return Some(format!("column {k} has {} items, expected {}", found.len(), expected.len()));
        }
        let differs = match (expected, found) {
            (Column::Double(expected), Column::Double(found)) => expected.iter().zip(found).any(|(a, b)| {
                let same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance;
                !same && (a.is_finite() || exact)
            }),
            (expected, found) => expected != found && !(expected.is_empty() && found.is_empty()),
        };
        if differs {
            return Some(format!("column {k} is {found:?}\nexpected {expected:?} within {tolerance:e}"));
        }
    }
    None
}

pub fn explained(typed: &Core, case: &Case, found: &[Column]) -> bool {
    of_nothing(typed, case, found) || ill_conditioned(typed, case, found)
}

/// Whether the difference is a zero tangent that met an infinite slope, of a variable without elements, or in the backward pass
/// of a derivative: the interpreter sees that nothing reaches the place, `ad` that something may. All the rest agrees to rounding.
fn of_nothing(typed: &Core, case: &Case, found: &[Column]) -> bool {
    let Ok(expected) = &case.meaning else { return false };
    let tolerance = tolerance(expected);
    let may_be = typed.functions.values().any(|function| has_vjp(&function.body));
    (may_be || case.words.iter().any(|word| word.contains("[]")))
        && to_flat(&expected.value).columns.iter().zip(found).all(|pair| match pair {
            (Column::Double(expected), Column::Double(found)) => {
                expected.iter().zip(found).all(|(a, b)| a == b || b.is_nan() || (a - b).abs() <= tolerance)
            }
            (expected, found) => expected == found,
        })
}

fn has_vjp(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Vjp { .. }) || expr.term().children().any(has_vjp)
}

/// Whether changes of the inputs in the last places, or of the values met, explain the difference.
fn ill_conditioned(typed: &Core, case: &Case, found: &[Column]) -> bool {
    let Ok(expected) = &case.meaning else { return false };
    let expected = to_flat(&expected.value).columns;
    let mut random = Random::new(1);
    // how far apart the two are, and how far perturbed inputs move the value
    for _ in 0..12 {
        let mut arguments = case.arguments.clone();
        for value in &mut arguments.values {
            each_double(value, &mut |number| *number *= 1.0 + (random.unit() - 0.5) * 1e-14);
        }
        match interpret(typed, &case.entry, &arguments) {
            Ok(Ok(moved)) => {
                let moved = to_flat(&moved.value).columns;
                let explained = expected.iter().zip(&moved).zip(found).all(|((a, b), c)| match (a, b, c) {
                    (Column::Double(a), Column::Double(b), Column::Double(c)) => {
                        a.len() == b.len()
                            && a.iter().zip(b).zip(c).all(|((a, b), c)| {
                                a == c || (a - c).abs() <= 1e-9 || (a - c).abs() <= 100.0 * (a - b).abs() || (a - b).is_nan()
                            })
                    }
                    (a, b, c) => a == c || b != a,
                });
                if explained {
                    return true;
                }
            }
            Ok(Err(_)) => return true,
            Err(_) => return false,
        }
    }
    false
}

fn each_double(value: &mut Flat, change: &mut dyn FnMut(&mut f64)) {
    for column in &mut value.columns {
        if let Column::Double(items) = column {
            items.iter_mut().for_each(&mut *change);
        }
    }
}

/// A tangent of the shape of this JSON value: every number in it replaced.
pub fn direction(word: &str) -> String {
    let mut count = 0;
    let mut text = String::new();
    let mut in_number = false;
    for c in word.chars() {
        let part = !matches!(c, '[' | ']' | ',' | ' ');
        if !part {
            text.push(c);
        } else if !in_number {
            count += 1;
            text.push_str(["0.75", "-0.5", "1.25", "0.25"][count % 4]);
        }
        in_number = part;
    }
    text
}

/// A value as an argument.
pub fn json(value: &Value) -> String {
    let list = |items: &[Value]| format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(", "));
    match value {
        Value::Double(number) => format!("{number:?}"),
        Value::Index(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Array(array) => list(&array.items),
        Value::Tuple(parts) => list(parts),
        Value::Rolled(_) => panic!("no generated program has a recursive type"),
    }
}

/// The law of a derivative and its transpose, ⟨J v, w⟩ = ⟨v, Jᵀ w⟩, where all that was met is of moderate size.
fn transposes(program: &Core, forward: &Case, back: &Case, counts: &mut Counts, failures: &mut Vec<(usize, Failure)>) {
    let result = |case: &Case| interpret(program, &case.entry, &case.arguments).ok()?.ok();
    let last = |case: &Case| case.arguments.values.last().map(|value| from_flat(value).doubles());
    let (Some(jv), Some(jw), Some(v), Some(w)) = (result(forward), result(back), last(forward), last(back)) else { return };
    let largest = jv.trace.largest.max(jw.trace.largest);
    let (a, b) = (jv.value.doubles(), jw.value.doubles());
    if largest > 1e6 || a.iter().chain(&b).any(|number| !number.is_finite()) {
        return;
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    counts.transposed += 1;
    let (left, right) = (dot(&a, &w), dot(&v, &b));
    if a.len() != w.len() || b.len() != v.len() || (left - right).abs() > 1e-8 * largest.max(1.0) {
        let detail = at(back, &format!("⟨J v, w⟩ is {left}, ⟨v, Jᵀ w⟩ is {right}"));
        failures.push((back.program, Failure::new("transpose", detail)));
    }
}

/// The derivative against differences of the interpreter's own values, where these say that it is smooth.
fn difference(typed: &Core, entry: &str, param: usize, case: &Case, counts: &mut Counts, failures: &mut Vec<(usize, Failure)>) {
    let Ok(slope) = &case.meaning else { return };
    counts.derived += 1;
    let mut arguments = case.arguments.clone();
    let Some(tangent) = arguments.values.pop() else { return };
    let tangent = from_flat(&tangent).doubles();
    let value = |h: f64| -> Option<(Vec<f64>, f64)> {
        let mut arguments = arguments.clone();
        let mut steps = tangent.iter();
        each_double(&mut arguments.values[param], &mut |number| *number += h * steps.next().unwrap_or(&0.0));
        let outcome = interpret(typed, entry, &arguments).ok()?.ok()?;
        Some((outcome.value.doubles(), outcome.trace.largest))
    };
    let slope_at = |h: f64| -> Option<Vec<f64>> {
        let mut arguments = case.arguments.clone();
        let mut steps = tangent.iter();
        each_double(&mut arguments.values[param], &mut |number| *number += h * steps.next().unwrap_or(&0.0));
        Some(interpret(typed, &case.entry, &arguments).ok()?.ok()?.value.doubles())
    };
    let h = 1e-5;
    let points: Option<Vec<_>> = [-2.0 * h, -h, 0.0, h, 2.0 * h].into_iter().map(value).collect();
    let Some(points) = points else { return };
    let slope_values = slope.value.doubles();
    if points.iter().any(|(point, _)| point.len() != slope_values.len()) {
        return;
    }
    let scale = points.iter().map(|(_, largest)| *largest).fold(slope.trace.largest.max(1.0), f64::max);
    for (k, slope) in slope_values.iter().enumerate() {
        let f: Vec<f64> = points.iter().map(|(point, _)| point[k]).collect();
        let sides = [(f[1] - f[0]) / h, (f[2] - f[1]) / h, (f[3] - f[2]) / h, (f[4] - f[3]) / h];
        let central = (f[3] - f[1]) / (2.0 * h);
        let size = central.abs().max(1.0);
        // bends by more than a smooth function does here, or is lost in rounding
        let smooth = sides.iter().all(|side| (side - central).abs() <= 1e-2 * size) && scale < 1e4;
        if !smooth || !slope.is_finite() {
            continue;
        }
        // differences of the four slopes measure the curvature and what comes after it
        let bend = (sides[3] - 3.0 * sides[2] + 3.0 * sides[1] - sides[0]).abs();
        counts.differences += 1;
        if (slope - central).abs() > 1e-4 * size * scale.sqrt() + 10.0 * bend {
            let near = |slope: f64| (slope - central).abs() <= 1e-3 * size;
            if [-h, h].into_iter().all(|h| slope_at(h).is_some_and(|slopes| slopes.get(k).copied().is_some_and(near))) {
                // a branch that is taken at this point only has a slope of its own
                continue;
            }
            failures.push((
                case.program,
                Failure::new("difference", at(case, &format!("slope {slope}, by differences {central} (number {k})"))),
            ));
            return;
        }
    }
}
