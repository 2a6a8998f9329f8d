//! The compiler's stages in order: the only place that sees all rooms.
//!
//! In: the text of a program and [`Options`]. Out: a [`Session`] after any stage of [`PASSES`], with what each
//! stage made so far; diagnostics when one fails. A pass is `{ name, what, run }`; its name, that of the module
//! that does it, is what `--dump` takes. The core program is checked after every pass in debug builds, and a
//! failure names the pass. Nothing is printed here, and no file is read but through the loader given.
//!
//!     let mut session = Session::new("f.smooth", text, Options::default());
//!     session.run_to("emit", &mut |path, from| …)?;

mod choice;
mod expression;
mod halves;
mod limits;
mod provenance;
mod rooms;
mod schedule;
mod shared_lengths;
mod sparse;
#[cfg(test)]
mod tests;
mod typed;

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

pub use expression::{Rewritten, rewrite_expression};

use crate::ad;
use crate::budget;
use crate::diagnostic::{Diagnostic, Diagnostics, nearest};
use crate::emit::futhark::FutharkFile;
use crate::emit::{CFiles, ParameterKind, Provenance, manifest};
use crate::explain::Candidates;
use crate::ir::{Function, Program, Var};
use crate::loops::{self, program::LoopProgram};
use crate::mode::Mode;
use crate::plan::{self, PLANNERS};
use crate::real::Real;
use crate::rewrite::Derivation;
use crate::source::{SourceMap, Span};
use crate::syntax::ast::Module;
use crate::toolchain::futhark;
use crate::toolchain::shim::Interface;
use crate::types::{Derive, FixedSize, Signature};

/// What a compilation may be told.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--entry`: only these declarations, and entries that `--derive` makes, are entries; none means all that can be.
    pub entries: Vec<String>,
    /// `--derive KIND:FUNCTION[:PARAMETER]`.
    pub derive: Vec<Derive>,
    /// `--size NAME=INT`: sizes that are literals.
    pub sizes: Vec<FixedSize>,
    pub schedule: Schedule,
    /// `--disable`: rules and groups of rules that do not apply, and passes of `plan` and over loops that are left out.
    pub disabled: Vec<String>,
    /// Keep the derivation: every rewrite, for `explain`.
    pub record: bool,
    /// `eval --trace` and `--reverse`: gradients in a Double are reverse derivatives too.
    pub keep_gradients: bool,
    /// `--mode`: how derivatives are computed.
    pub mode: Mode,
    /// `--checkpoint`: of a loop's states reverse mode keeps so many, and those of one part.
    pub checkpoint: Option<NonZeroU32>,
    /// `--strict-fp`: rounding as in the program as written.
    pub strict_fp: bool,
    /// `--unchecked`: emitted code has no run-time checks but those at entry, and of the room that recursion has.
    pub unchecked: bool,
    /// `--parallel`: emitted C shares loops among threads.
    pub parallel: bool,
    /// `--real`: what a Double is in emitted code.
    pub real: Real,
    /// Keep this entry and what it calls.
    pub only: Option<String>,
    /// Put before public C names.
    pub prefix: String,
    /// The name of the header that goes with emitted C, if any.
    pub header: String,
    /// C is one header with all functions in it.
    pub header_only: bool,
    pub target: Target,
}

impl Options {
    pub fn differentiation(&self) -> ad::Options {
        ad::Options { checkpoint: self.checkpoint, ..ad::Options::default() }
    }
}

/// The language that is emitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    #[default]
    C,
    Futhark,
}

/// What says how a program is optimised.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// One that is built in.
    Named(String),
    /// The text of a strategy file.
    Text { name: String, text: String },
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule::Named("default".into())
    }
}

/// Reads a file that `open` names: (path as written, name of the opening file) to (name, text), or why not.
pub type Loader<'a> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'a;

/// One stage.
#[derive(Debug)]
pub struct Pass {
    /// The name of the module that does it.
    pub name: &'static str,
    pub what: &'static str,
    run: fn(&mut Session, &mut Loader) -> Result<(), Diagnostics>,
}

/// All stages, in order.
pub const PASSES: &[Pass] = &[
    Pass { name: "syntax", what: "parses the main file; `types` parses what it opens", run: rooms::syntax },
    Pass { name: "types", what: "infers types and sizes, specialises, and gives core functions", run: rooms::types },
    Pass { name: "recursion", what: "gives recursion that is no loop a stack", run: rooms::recursion },
    Pass { name: "mode", what: "chooses forward or reverse for each derivative", run: rooms::mode },
    Pass { name: "ad", what: "removes `dual` and `vjp`: derivatives become ordinary code", run: rooms::ad },
    Pass { name: "rewrite", what: "optimises by the rules of the schedule", run: rooms::rewrite },
    Pass { name: "plan", what: "decides which loops there will be", run: rooms::plan },
    Pass { name: "lower", what: "gives loops in destination-passing style", run: rooms::lower },
    Pass { name: "loops", what: "makes loops fast, and measures the workspace", run: rooms::loops },
    Pass { name: "emit", what: "prints C, or Futhark from the core", run: rooms::emit },
];

/// What `--dump` shows beside the stages: the program after `types` in another form, of which nothing is compiled.
#[derive(Debug)]
pub struct View {
    pub name: &'static str,
    pub what: &'static str,
    print: fn(&Program) -> Result<String, Diagnostic>,
}

/// All views.
pub const VIEWS: &[View] = &[
    View { name: "linear", what: "the derivatives of functions as linear maps", print: crate::linear::print },
    View { name: "cl", what: "functions as arrows without variables", print: crate::cl::print },
];

/// The names that `--dump` takes.
pub fn stage_names() -> Vec<&'static str> {
    let views = VIEWS.iter().map(|view| view.name);
    let planners = PLANNERS.iter().map(|planner| planner.stage);
    PASSES.iter().map(|pass| pass.name).chain(views).chain(planners).chain(loops::LOOP_PASSES.iter().map(|pass| pass.stage)).collect()
}

/// An error for a name of `--disable` that is neither a rule, nor a group of rules, nor a pass that may be left out.
pub fn check_disabled(name: &str) -> Result<(), Diagnostic> {
    let over_loops = || loops::LOOP_PASSES.iter().filter(|pass| pass.need == loops::Need::Optional).map(|pass| pass.name);
    let passes = || PLANNERS.iter().map(|planner| planner.name).chain(over_loops());
    if plan::named(name).is_some() {
        return Ok(());
    }
    match loops::named(name) {
        Some(pass) if pass.need == loops::Need::Optional => Ok(()),
        Some(_) => Err(Diagnostic::error("E0813", Span::NONE, format!("the pass `{name}` cannot be left out"))
            .help(format!("emitted code counts on it; passes that may be left out: {}", passes().collect::<Vec<_>>().join(", ")))),
        None => crate::rewrite::check_name(name).map_err(|problem| match nearest(name, passes()) {
            Some(near) => problem.help(format!("did you mean the pass `{near}`?")),
            None => problem,
        }),
    }
}

/// A compilation: what the stages made so far.
#[derive(Debug)]
pub struct Session {
    pub sources: SourceMap,
    pub options: Options,
    /// The number of the file given on the command line.
    pub main: u32,
    pub module: Option<Module>,
    pub program: Program,
    /// One for each declaration of the main file, and for each derived entry.
    pub signatures: Vec<Signature>,
    pub warnings: Diagnostics,
    /// What only data says of the lengths in sums.
    of_data: crate::types::LengthsOfData,
    /// The parameters that `decreases` names.
    measures: Vec<Var>,
    /// How each derivative is computed, where there was a choice.
    pub choices: Vec<Candidates>,
    /// The program before `rewrite` and what was done to it, when the options ask for it.
    pub derivation: Option<(Program, Derivation)>,
    pub loops: LoopProgram,
    /// The pass of `plan` or `loops` that the program is wanted after, as `--dump` names it.
    wanted_pass: String,
    /// The loop program after that pass.
    wanted_loops: LoopProgram,
    /// The program as a view that was asked for shows it.
    pub view: String,
    pub files: Option<CFiles>,
    pub futhark: Option<FutharkFile>,
    /// How long each stage took, and each pass of a stage after it.
    pub times: Vec<(&'static str, Duration)>,
    own_times: Vec<(&'static str, Duration)>,
}

impl Session {
    pub fn new(name: &str, text: &str, options: Options) -> Session {
        let mut sources = SourceMap::default();
        let main = sources.add(name, text);
        Session {
            sources,
            options,
            main,
            module: None,
            program: Program::default(),
            signatures: Vec::new(),
            warnings: Vec::new(),
            of_data: crate::types::LengthsOfData::default(),
            measures: Vec::new(),
            choices: Vec::new(),
            derivation: None,
            loops: LoopProgram::default(),
            wanted_pass: String::new(),
            wanted_loops: LoopProgram::default(),
            view: String::new(),
            files: None,
            futhark: None,
            times: Vec::new(),
            own_times: Vec::new(),
        }
    }

    /// Runs the stages up to the one of this name.
    pub fn run_to(&mut self, stage: &str, load: &mut Loader) -> Result<(), Diagnostics> {
        if let Some(view) = VIEWS.iter().find(|view| view.name == stage) {
            self.run_to("types", load)?;
            self.view = (view.print)(&self.program).map_err(|problem| vec![problem])?;
            return Ok(());
        }
        // `types` parses the main file too, and goes on after its errors to report those of the rest
        self.run_passes(PASSES.iter().filter(|pass| pass.name != "syntax" || stage == "syntax"), stage, load)
    }

    /// Runs the stages after `types` on the program that is there, up to the one of this name.
    pub fn go_on_to(&mut self, stage: &str) -> Result<(), Diagnostics> {
        let passes = PASSES.iter().skip_while(|pass| pass.name != "types").skip(1);
        self.run_passes(passes, stage, &mut |path, _| Err(format!("{path} is not opened after types")))
    }

    fn run_passes(&mut self, passes: impl Iterator<Item = &'static Pass>, stage: &str, load: &mut Loader) -> Result<(), Diagnostics> {
        let stage = match stage.split_once('.') {
            Some((room, _)) => {
                self.wanted_pass = stage.to_string();
                room
            }
            None => stage,
        };
        let is_for_c = |name: &str| matches!(name, "plan" | "lower" | "loops");
        for pass in passes {
            // Futhark is emitted from the core
            if is_for_c(pass.name) && !is_for_c(stage) && self.options.target == Target::Futhark {
                continue;
            }
            let start = Instant::now();
            let done = (pass.run)(self, load);
            let own = std::mem::take(&mut self.own_times);
            self.times.push((pass.name, start.elapsed()));
            self.times.extend(own);
            done?;
            self.check_program(pass.name)?;
            self.check_size()?;
            if pass.name == "types" {
                self.keep_only(stage)?;
            }
            if pass.name == stage {
                return Ok(());
            }
        }
        Err(vec![internal(format!("there is no stage `{stage}`"))])
    }

    /// A program that would take minutes and give C that nobody reads is refused, at its largest function.
    fn check_size(&self) -> Result<(), Diagnostics> {
        let largest = self.program.functions.values().max_by_key(|function| function.body.node_count());
        let place = largest.map_or(Span::NONE, |function| function.span);
        budget::program(self.program.node_count(), place).map_err(|problem| vec![problem])
    }

    /// The program after a stage that has run, as text.
    pub fn print(&self, stage: &str) -> String {
        rooms::print(self, stage)
    }

    /// The entry of this source name.
    pub fn entry(&self, name: &str) -> Result<&Function, Diagnostics> {
        match self.program.functions.get(name) {
            Some(function) if function.is_entry => Ok(function),
            Some(_) | None => Err(vec![self.no_entry(name)]),
        }
    }

    /// The emitted C, once that stage has run.
    pub fn emitted(&self) -> Result<&CFiles, Diagnostics> {
        self.files.as_ref().ok_or_else(|| vec![internal("nothing was emitted".into())])
    }

    /// The manifest of what was emitted.
    pub fn manifest(&self) -> Result<String, Diagnostics> {
        let signatures: Vec<(&str, &str)> = self.signatures.iter().map(|known| (known.name.as_str(), known.text.as_str())).collect();
        let text = match self.options.target {
            Target::C => manifest::manifest(self.emitted()?, &self.program, &signatures),
            Target::Futhark => manifest::of_futhark(self.emitted_futhark()?, &self.provenance()?),
        };
        text.map_err(|problem| vec![problem])
    }

    /// What emitted text says of where it comes from.
    pub fn provenance(&self) -> Result<Provenance, Diagnostics> {
        provenance::of(self)
    }

    /// The emitted Futhark, once that stage has run.
    pub fn emitted_futhark(&self) -> Result<&FutharkFile, Diagnostics> {
        self.futhark.as_ref().ok_or_else(|| vec![internal("nothing was emitted".into())])
    }

    /// How C calls an entry.
    pub fn interface(&self, name: &str) -> Result<Interface, Diagnostics> {
        let function = self.entry(name)?;
        let entry = self.emitted()?.entries.iter().find(|entry| entry.source_name == name);
        let entry = entry.ok_or_else(|| vec![internal(format!("`{name}` was not emitted"))])?;
        let sizes = entry.parameters.iter().filter_map(|parameter| match &parameter.kind {
            ParameterKind::Size(var) => Some(var.clone()),
            ParameterKind::Scalar(_) | ParameterKind::Array(_) | ParameterKind::OutScalar | ParameterKind::OutArray(_) => None,
        });
        Ok(Interface { real: self.options.real, ..Interface::new(&entry.name, &entry.workspace, sizes.collect(), function) })
    }

    /// How Futhark calls an entry.
    pub fn futhark_interface(&self, name: &str) -> Result<futhark::shim::Interface, Diagnostics> {
        let function = self.entry(name)?;
        let entry = self.emitted_futhark()?.entries.iter().find(|(source, _)| **source == *name);
        let (_, emitted) = entry.ok_or_else(|| vec![internal(format!("`{name}` was not emitted"))])?;
        Ok(futhark::shim::Interface { real: self.options.real, ..futhark::shim::Interface::new(emitted, function) })
    }

    fn entry_names(&self) -> Vec<&str> {
        self.program.functions.values().filter(|function| function.is_entry).map(|function| &*function.name).collect()
    }

    fn no_entry(&self, name: &str) -> Diagnostic {
        let names = self.entry_names();
        let problem = Diagnostic::error("E0810", Span::NONE, format!("there is no entry `{name}`"));
        problem.help(match names.as_slice() {
            [] => "an entry is a declaration without functions among its parameters whose name does not start with `_`".into(),
            names => format!("the entries are: {}", names.join(", ")),
        })
    }

    /// Drops what the wanted entry does not need; a stage after `types` needs an entry at all.
    fn keep_only(&mut self, stage: &str) -> Result<(), Diagnostics> {
        let Some(only) = self.options.only.clone() else {
            if stage != "types" && self.entry_names().is_empty() {
                let problem = Diagnostic::error("E0811", Span::new(self.main, 0, 0), "the file has no entry");
                return Err(vec![problem.help(
                    "an entry is a declaration without functions among its parameters whose name does not start with `_`; \
                     `smoothc check` prints all types",
                )]);
            }
            return Ok(());
        };
        self.entry(&only)?;
        let needed = self.program.reachable([only.as_str().into()]);
        self.program.functions.retain(|name, _| needed.contains(name));
        for (name, function) in &mut self.program.functions {
            function.is_entry = **name == *only;
        }
        Ok(())
    }

    /// In debug builds, whether the pass gave a well-formed program.
    fn check_program(&self, pass: &'static str) -> Result<(), Diagnostics> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        rooms::check(&self.program, pass).map_err(|problem| vec![internal(format!("`{pass}` gave a wrong program: {problem}"))])
    }
}

/// An error of the compiler itself.
fn internal(message: String) -> Diagnostic {
    Diagnostic::error("E0901", Span::NONE, format!("internal error: {message}"))
        .help("this is a bug in smoothc: please report it with the program")
}
