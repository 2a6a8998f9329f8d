//! What the optimised program costs without one rule or one phase of the schedule `default`: the rows of `docs/passes.md`.
//!
//! In: a program of [`files`], a mode, and what is left out. Out: for each entry what the interpreter counts, and how many nodes the
//! program has. `benches/passes` measures all and writes the page; `tests/suite/docs.rs` measures some again.
//!
//!     tests/derivatives/dot, forward, without `fold-one-hot`   →   dot: 2450 operations, 41 nodes

use std::collections::{BTreeMap, BTreeSet};

use smoothc::driver::{Options, Schedule, Session};
use smoothc::ir::eval::eval;
use smoothc::ir::{Function, Program};
use smoothc::mode::Mode;
use smoothc::rewrite::rule::Rule;
use smoothc::rewrite::{rules, strategy};

use super::counting::{self, names, root};
use super::sources;

/// The modes, as `--mode` calls them. `auto` takes what is cheaper of the two.
pub const MODES: [(&str, Mode); 2] = [("forward", Mode::Forward), ("reverse", Mode::Reverse)];

/// What each size of an example is.
const EXAMPLE_LENGTH: u64 = 7;

/// The folders whose programs are measured.
const FOLDERS: [&str; 4] = ["tests/derivatives", "examples", "examples/papers", "benches"];

/// Without this rule, programs of more nodes than this take minutes to optimise; it is measured in smaller ones.
const SLOW: (&str, usize) = ("let-inline", 150);

/// What a measurement does without.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    Nothing,
    Rule(String),
    /// A phase by its number in the sequence.
    Phase(usize),
}

/// A program after `types`.
pub struct Typed {
    pub path: String,
    text: String,
    program: Program,
}

/// What is counted in an optimised program: operations of each entry that runs, by its label, and nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    pub entries: BTreeMap<String, u64>,
    pub nodes: u64,
}

/// The paths of all programs that are measured.
pub fn files() -> Vec<String> {
    FOLDERS.iter().flat_map(|folder| names(folder).into_iter().map(move |name| format!("{folder}/{name}"))).collect()
}

/// The text of `default` before its last line, and the phases that this line names.
fn default_schedule() -> (String, Vec<String>) {
    let (_, text) = strategy::BUILTIN.iter().find(|(name, _)| *name == "default").expect("a schedule of that name");
    let (definitions, main) = text.trim_end().rsplit_once("let main = ").expect("a sequence of phases");
    (definitions.to_string(), main.split(" ; ").map(str::to_string).collect())
}

/// The phases of `default` in order; one that is there several times has its number after its name.
pub fn phases() -> Vec<String> {
    let (_, phases) = default_schedule();
    let count = |upto: &[String], name: &String| upto.iter().filter(|other| *other == name).count();
    let label = |(at, name): (usize, &String)| match count(&phases, name) {
        1 => name.clone(),
        _ => format!("{name} {}", count(&phases[..=at], name)),
    };
    phases.iter().enumerate().map(label).collect()
}

/// The rules that `default` uses.
pub fn default_rules() -> Vec<&'static Rule> {
    let (definitions, main) = default_schedule();
    let text = definitions + &main.join(" ");
    let words: BTreeSet<&str> = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).collect();
    rules::all().filter(|rule| words.contains(rule.name)).collect()
}

/// The options that leave something out of `default`.
pub fn options(left_out: &LeftOut, mode: Mode) -> Options {
    let plain = Options { mode, ..Options::default() };
    match left_out {
        LeftOut::Nothing => plain,
        LeftOut::Rule(name) => Options { disabled: vec![name.clone()], ..plain },
        LeftOut::Phase(number) => {
            let (definitions, mut phases) = default_schedule();
            phases.remove(*number);
            let text = format!("{definitions}let main = {}\n", phases.join(" ; "));
            Options { schedule: Schedule::Text { name: "without.strategy".into(), text }, ..plain }
        }
    }
}

impl Typed {
    pub fn read(path: &str) -> Typed {
        let text = std::fs::read_to_string(root().join(path)).expect("readable");
        let only = is_derivative(path).then(|| "automatic".to_string());
        let mut session = Session::new(path, &text, Options { only, ..Options::default() });
        let done = session.run_to("types", &mut sources::open);
        done.unwrap_or_else(|problems| panic!("{}", sources::drawn(&problems, &session)));
        Typed { path: path.into(), text, program: session.program }
    }

    /// The program after a stage that follows `types`, or what is said of it.
    pub fn compiled(&self, options: Options, stage: &str) -> Result<Session, String> {
        let mut session = Session::new(&self.path, &self.text, options);
        session.program = self.program.clone();
        match session.go_on_to(stage) {
            Ok(()) => Ok(session),
            Err(problems) => Err(sources::drawn(&problems, &session)),
        }
    }

    /// The same with everything that `default` has.
    fn whole(&self, options: Options, stage: &str) -> Session {
        self.compiled(options, stage).unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// Whether forward and reverse mode give the same program before it is optimised.
    pub fn has_one_mode(&self) -> bool {
        let [forward, reverse] = [Mode::Forward, Mode::Reverse].map(|mode| {
            let session = self.whole(options(&LeftOut::Nothing, mode), "ad");
            session.print("ad")
        });
        forward == reverse
    }

    /// The rules that apply anywhere, and the numbers of the phases in which one does: what is worth measuring.
    pub fn applied(&self, mode: Mode) -> BTreeSet<LeftOut> {
        let session = self.whole(Options { record: true, ..options(&LeftOut::Nothing, mode) }, "rewrite");
        let (_, derivation) = session.derivation.as_ref().expect("a derivation was asked for");
        let mut applied = BTreeSet::new();
        for (number, phase) in derivation.phases.iter().enumerate().filter(|(_, phase)| !phase.steps.is_empty()) {
            applied.insert(LeftOut::Phase(number));
            applied.extend(phase.steps.iter().map(|step| LeftOut::Rule(step.rule.to_string())));
        }
        if self.program.node_count() > SLOW.1 {
            applied.remove(&LeftOut::Rule(SLOW.0.into()));
        }
        applied
    }

    /// What is counted, or why there is no program: without a rule or a phase it may become too large.
    pub fn measured(&self, left_out: &LeftOut, mode: Mode) -> Result<Measured, String> {
        let session = self.compiled(options(left_out, mode), "rewrite")?;
        let entries = session.program.functions.values().filter(|function| function.is_entry);
        let entries = entries.filter_map(|function| Some((self.label(&function.name), self.count(&session.program, function)?)));
        Ok(Measured { entries: entries.collect(), nodes: session.program.node_count() as u64 })
    }

    /// What the interpreter counts at the largest size; none for an entry that these arguments do not fit.
    fn count(&self, program: &Program, function: &Function) -> Option<u64> {
        let arguments = match is_derivative(&self.path) {
            true => counting::arguments(function, counting::sizes_of(&self.text).last().expect("a size")),
            false => counting::example_arguments(function, EXAMPLE_LENGTH)?,
        };
        let outcome = eval(program, &function.name, arguments).ok()?;
        Some(counting::total(outcome.trace.counts))
    }

    /// What the page calls an entry: `dot` for that of `tests/derivatives/dot.smooth`, otherwise `examples/nnmf: gradientU`.
    pub fn label(&self, entry: &str) -> String {
        if is_derivative(&self.path) { self.short() } else { format!("{}: {entry}", self.short()) }
    }

    /// What the page calls the program.
    pub fn short(&self) -> String {
        self.path.trim_end_matches(".smooth").trim_start_matches("tests/derivatives/").to_string()
    }
}

fn is_derivative(path: &str) -> bool {
    path.starts_with("tests/derivatives/")
}
