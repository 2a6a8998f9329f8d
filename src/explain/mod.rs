//! Derivations to read: what `smoothc explain FILE ENTRY` shows.
//!
//! In: the program before `rewrite` and the recorded [`Derivation`]. Out: an [`Explanation`], the entry as its author
//! wrote it, the program after each phase with what changed, the rules that led there, its cost as a polynomial in the
//! sizes, each step, and the rules that almost fired; and that as text ([`text`]) or as one page of HTML ([`html`]).
//!
//!     inline: beta ×2, let-inline ×3        14 n² + 7 n   →   8 n² + 3 n

mod chart;
pub mod cost;
pub mod diff;
mod highlight;
pub mod html;
mod markup;
mod polynomial;
pub mod text;

use std::rc::Rc;

use crate::ir::{Program, Term, print};
use crate::rewrite::derivation::{Phase, Step};
use crate::rewrite::refusals::Refusal;
use crate::rewrite::{Derivation, rules};
use crate::source::{SourceFile, SourceMap, Span};
use crate::syntax;
use crate::types::LIBRARY;
use cost::Cost;

/// A derivation made ready to be shown.
#[derive(Debug)]
pub struct Explanation {
    pub entry: String,
    /// The file's name, without its folder.
    pub file: String,
    pub schedule: String,
    /// The declaration in the file, with its doc comment; of an entry that `--derive` makes that of the function.
    pub declaration: String,
    /// What `--derive` made of the declaration, where it made the entry.
    pub derived: Option<String>,
    /// The declarations that it calls, directly or not; functions of the library have pages of their own.
    pub called: Vec<Called>,
    /// How each derivative is computed, where there was a choice, a line each.
    pub choices: Vec<String>,
    /// The program before the first phase.
    pub start: State,
    pub phases: Vec<Stage>,
    /// The rules that the strategy file declares, each with its law.
    pub own: Vec<(&'static str, &'static str)>,
    /// Rules of the strategy file that never fired, each with its law.
    pub idle: Vec<(&'static str, &'static str)>,
}

/// Declarations of one file as their author wrote them, in their order.
#[derive(Debug)]
pub struct Called {
    /// The file's name, without its folder.
    pub file: String,
    pub declarations: String,
}

/// A program as text, with its cost.
#[derive(Debug)]
pub struct State {
    pub program: String,
    pub cost: Cost,
}

/// One phase.
#[derive(Debug)]
pub struct Stage {
    pub name: Rc<str>,
    /// Rules with how often they were applied, in the order in which they first were.
    pub rules: Vec<(Rc<str>, usize)>,
    pub steps: Vec<StepView>,
    /// How many more steps there were than are kept.
    pub more: usize,
    pub almost: Vec<AlmostView>,
    pub end: State,
}

/// One rewrite.
#[derive(Debug)]
pub struct StepView {
    pub rule: Rc<str>,
    /// The function, and the place of the term in the source where it has one.
    pub place: String,
    pub before: String,
    pub after: String,
}

/// A rule that did not fire, and why.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct AlmostView {
    pub rule: Rc<str>,
    pub place: String,
    pub term: String,
    pub why: String,
}

/// How long the line of a step may be before its inner parts become `…`.
const WIDTH: usize = 150;

/// The ways to compute one derivative, each with what it costs after the loops are optimised.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The function that has the derivative, and its place.
    pub function: Rc<str>,
    pub span: Span,
    /// `None`: there is no such candidate.
    pub forward: Option<Cost>,
    pub reverse: Option<Cost>,
    /// Reverse mode of the optimised function, where it is kept.
    pub collapsed: Option<Cost>,
    /// The way that is kept, and why.
    pub kept: &'static str,
    pub reason: &'static str,
}

/// What an explanation is made of.
pub struct Source<'a> {
    pub entry: &'a str,
    pub schedule: &'a str,
    /// The choices between forward and reverse.
    pub choices: &'a [Candidates],
    pub before: &'a Program,
    pub derivation: &'a Derivation,
    pub sources: &'a SourceMap,
    /// The number of the file of the entry.
    pub main: u32,
    /// Steps that are kept of each phase.
    pub steps: usize,
}

/// Prepares a derivation.
pub fn explain(source: &Source) -> Explanation {
    let file = source.sources.files.get(source.main as usize).map(|file| file.name.to_string()).unwrap_or_default();
    let (declaration, derived) = declaration(source).unwrap_or_default();
    Explanation {
        entry: source.entry.to_string(),
        file: base_name(&file).to_string(),
        schedule: base_name(source.schedule).to_string(),
        declaration,
        derived,
        called: called(source),
        choices: source.choices.iter().map(|choice| choice_line(source, choice)).collect(),
        start: state(source, source.before),
        phases: source.derivation.phases.iter().map(|phase| stage(source, phase)).collect(),
        own: source.derivation.own.clone(),
        idle: source.derivation.idle(),
    }
}

/// The text of the declaration that the entry is made of, and what `--derive` made of it.
fn declaration(source: &Source) -> Option<(String, Option<String>)> {
    let text = &*source.sources.files.get(source.main as usize)?.text;
    let entry = source.before.functions.get(source.entry)?;
    // `types` keeps no tree, and what it was given has parsed
    let (module, _) = syntax::parse_recovering(text, source.main);
    let decl = module.decls.into_iter().find(|decl| decl.span.contains(entry.span))?;
    let declaration = written(text, decl.span)?;
    let derived = (*decl.name.text != *source.entry).then(|| entry.doc.clone()).flatten();
    Some((declaration.to_string(), derived))
}

/// A declaration with its doc comment.
fn written(text: &str, decl: Span) -> Option<&str> {
    let above = text.get(..decl.start as usize)?;
    let doc: usize = above.split_inclusive('\n').rev().take_while(|line| line.starts_with("///")).map(str::len).sum();
    text.get(above.len() - doc..decl.end as usize)
}

/// What the program has of each file beside the entry; the main file is in front of those that it opens.
fn called(source: &Source) -> Vec<Called> {
    let functions = &source.before.functions;
    let Some(entry) = functions.get(source.entry) else { return Vec::new() };
    let in_file = |(file, number): (&SourceFile, u32)| {
        // what a derivative made of a function has that function's place
        let spans: Vec<Span> = functions.values().map(|function| function.span).filter(|span| span.file == number).collect();
        if spans.is_empty() || *file.name == *LIBRARY {
            return None;
        }
        let (module, _) = syntax::parse_recovering(&file.text, number);
        let declarations: Vec<&str> = module
            .decls
            .iter()
            .filter(|decl| !decl.span.contains(entry.span) && spans.iter().any(|span| decl.span.contains(*span)))
            .filter_map(|decl| written(&file.text, decl.span))
            .collect();
        (!declarations.is_empty()).then(|| Called { file: base_name(&file.name).to_string(), declarations: declarations.join("\n\n") })
    };
    source.sources.files.iter().zip(0..).filter_map(in_file).collect()
}

/// The folder is this machine's business.
fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

fn state(source: &Source, program: &Program) -> State {
    State { program: print::program(program), cost: cost::of_entry(program, source.entry) }
}

fn stage(source: &Source, phase: &Phase) -> Stage {
    // a rule of the user's own is what somebody wants to know of
    let (own, built_in): (Vec<_>, Vec<_>) = phase.refusals.iter().partition(|(_, refusal)| rule_page(&refusal.rule).is_none());
    Stage {
        name: phase.name.clone(),
        rules: phase.rules(),
        steps: phase.steps.iter().take(source.steps).map(|step| step_view(source, step)).collect(),
        more: phase.steps.len().saturating_sub(source.steps),
        almost: own.into_iter().chain(built_in).map(|(function, refusal)| almost_view(source, function, refusal)).collect(),
        end: state(source, &phase.program),
    }
}

fn choice_line(source: &Source, choice: &Candidates) -> String {
    let cost = |cost: &Option<Cost>| cost.as_ref().map_or_else(|| "too large".to_string(), Cost::short);
    let place = place(source, &choice.function, choice.span);
    let (forward, reverse) = (cost(&choice.forward), cost(&choice.reverse));
    let collapsed =
        choice.collapsed.as_ref().map_or_else(String::new, |cost| format!("; reverse of the optimised function {}", cost.short()));
    format!("{place}: forward {forward}; reverse {reverse}{collapsed}: {}, {}", choice.kept, choice.reason)
}

fn step_view(source: &Source, step: &Step) -> StepView {
    let mut lines = print::brief(&[&step.before, &step.after], WIDTH).into_iter();
    StepView {
        rule: step.rule.clone(),
        place: place(source, &step.function, step.before.span()),
        before: lines.next().unwrap_or_default(),
        after: lines.next().unwrap_or_default(),
    }
}

fn almost_view(source: &Source, function: &Rc<str>, refusal: &Refusal) -> AlmostView {
    // of a let its value says enough
    let (head, term, tail) = if let Term::Let(x, value, _) = refusal.term.term() {
        (format!("let {} = ", x.name()), value, " in …")
    } else {
        (String::new(), &refusal.term, "")
    };
    let terms: Vec<_> = [term].into_iter().chain(&refusal.looked_at).collect();
    let mut lines = print::brief(&terms, WIDTH).into_iter();
    let term = format!("{head}{}{tail}", lines.next().unwrap_or_default());
    let why = match lines.next() {
        Some(looked_at) => format!("{}: {looked_at}", refusal.why),
        None => refusal.why.clone(),
    };
    AlmostView { rule: refusal.rule.clone(), place: place(source, function, refusal.term.span()), term, why }
}

fn place(source: &Source, function: &str, span: Span) -> String {
    match (source.sources.file(span), source.sources.line_column(span)) {
        (Some(file), Some((line, column))) => format!("{function}, {}:{line}:{column}", base_name(&file.name)),
        _ => function.to_string(),
    }
}

/// Where a rule is printed (`001 Fig. 8c`, or `own`), and its law; of a rule of the user's own nothing is known here.
pub fn rule_page(name: &str) -> Option<(&'static str, &'static str)> {
    rules::named(name).map(|rule| (rule.source, rule.law))
}
