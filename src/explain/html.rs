//! A derivation as one page of HTML that needs nothing but itself.
//!
//! In: an [`Explanation`]. Out: the page, from `templates/explain.tera`: the declaration and what it calls, contents, the program after
//! differentiation, a chart of the cost, the rules that fired with their laws, each phase that changed something (its
//! rules, the lines that are new and, hidden until a box is ticked, those that went, every step to unfold), the
//! optimised program, and the rules that almost fired. Everything that is put into the template is escaped here.
//! Unless all is asked for, lines and words that stay are left out where they are many; the page says so.
//!
//!     slope of dot.smooth   →   <!DOCTYPE html> … <h2 id="source">Source</h2> …

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::IndexMap;
use serde::Serialize;

use super::chart::{ChartView, SIZE, chart};
use super::markup::{self, coloured, escaped};
use super::polynomial::value;
use super::{AlmostView, Explanation, Stage, State, rule_page, text};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

#[derive(Serialize)]
struct PageView {
    title: String,
    file: String,
    schedule: String,
    rewrites: usize,
    declaration: String,
    derived: String,
    called: Vec<CalledView>,
    choices: Vec<String>,
    start: StateView,
    rules: Vec<RuleView>,
    /// Those that changed something.
    phases: Vec<PhaseView>,
    /// How many there are in all, and those that changed nothing.
    phase_count: usize,
    unchanged: Vec<String>,
    /// Whether something is left out that `--all` shows.
    is_short: bool,
    /// How many steps of a phase are shown at most, where there are more.
    most_steps: usize,
    end: StateView,
    chart: ChartView,
    almost: Vec<RefusalView>,
    /// What is said where the last phase left nothing that a rule almost fired on.
    nothing: &'static str,
    idle: Vec<IdleView>,
}

/// What the entry calls of one file.
#[derive(Serialize)]
struct CalledView {
    file: String,
    declarations: String,
}

/// A rule that never fired.
#[derive(Serialize)]
struct IdleView {
    rule: String,
    law: String,
}

#[derive(Serialize)]
struct StateView {
    program: String,
    cost: String,
}

#[derive(Serialize)]
struct PhaseView {
    name: String,
    number: usize,
    rewrites: usize,
    rules: Vec<CountView>,
    same: bool,
    /// Whether lines went.
    shorter: bool,
    changes: String,
    cost: String,
    cost_before: String,
    cheaper: bool,
    steps: Vec<StepView>,
    more: usize,
}

/// A rule with how often it fired in a phase.
#[derive(Serialize)]
struct CountView {
    name: String,
    count: usize,
}

/// A rule that fired.
#[derive(Serialize)]
struct RuleView {
    name: String,
    law: String,
    source: String,
    count: usize,
}

#[derive(Serialize)]
struct StepView {
    number: usize,
    rule: String,
    place: String,
    before: String,
    after: String,
}

#[derive(Serialize)]
struct RefusalView {
    rule: String,
    place: String,
    term: String,
    why: String,
    /// The numbers of the phases.
    phases: String,
}

/// The page; with `all` nothing is left out.
pub fn html(explanation: &Explanation, all: bool) -> Result<String, Diagnostic> {
    let Explanation { entry, file, schedule, declaration, derived, called, choices, start, phases, own: _, idle } = explanation;
    let (mut before, mut is_short) = (start, false);
    let (mut views, mut charted, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
    for (stage, number) in phases.iter().zip(1..) {
        if stage.steps.is_empty() && stage.more == 0 && stage.end.program == before.program {
            unchanged.push(format!("{number}. {}", escaped(&stage.name)));
        } else {
            views.push(phase(stage, before, number, all, &mut is_short));
            charted.push((stage, number));
        }
        before = &stage.end;
    }
    let nothing = if phases.last().is_some_and(|last| last.almost.is_empty()) { text::NOTHING } else { "" };
    let page = PageView {
        title: escaped(entry),
        file: escaped(file),
        schedule: escaped(schedule),
        rewrites: views.iter().map(|view| view.rewrites).sum(),
        declaration: markup::source(declaration),
        derived: escaped(derived.as_deref().unwrap_or_default()),
        called: called
            .iter()
            .map(|part| CalledView { file: escaped(&part.file), declarations: markup::source(&part.declarations) })
            .collect(),
        choices: choices.iter().map(|choice| escaped(choice)).collect(),
        start: state(start),
        rules: rules(explanation),
        is_short: is_short || views.iter().any(|view| view.more > 0),
        most_steps: views.iter().filter(|view| view.more > 0).map(|view| view.steps.len()).max().unwrap_or(0),
        phases: views,
        phase_count: phases.len(),
        unchanged,
        end: state(before),
        chart: chart(explanation, &charted),
        almost: almost(explanation),
        nothing,
        idle: idle.iter().map(|(rule, law)| IdleView { rule: escaped(rule), law: coloured(law) }).collect(),
    };
    render(&page).map_err(|error| Diagnostic::error("E0901", Span::NONE, format!("internal error: the page's template: {error}")))
}

fn render(page: &PageView) -> tera::TeraResult<String> {
    let mut tera = tera::Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_template("explain.tera", include_str!("../../templates/explain.tera"))?;
    tera.render("explain.tera", &tera::Context::from_serialize(page)?)
}

fn phase(stage: &Stage, before: &State, number: usize, all: bool, is_short: &mut bool) -> PhaseView {
    let (changes, shorter) = markup::changes(&before.program, &stage.end.program, all);
    let steps: Vec<StepView> = stage
        .steps
        .iter()
        .zip(1..)
        .map(|(step, number)| {
            let (old, new) = markup::step(&step.before, &step.after, all);
            *is_short |= old.is_short || new.is_short;
            StepView { number, rule: escaped(&step.rule), place: escaped(&step.place), before: old.html, after: new.html }
        })
        .collect();
    *is_short |= changes.is_short;
    PhaseView {
        name: escaped(&stage.name),
        number,
        rewrites: stage.steps.len() + stage.more,
        rules: stage.rules.iter().map(|(name, count)| CountView { name: escaped(name), count: *count }).collect(),
        same: before.program == stage.end.program,
        shorter,
        changes: changes.html,
        cost: escaped(&stage.end.cost.text()),
        cost_before: escaped(&before.cost.short()),
        cheaper: value(&stage.end.cost.total(), SIZE) < value(&before.cost.total(), SIZE),
        steps,
        more: stage.more,
    }
}

/// The rules that fired, in the order in which they first did, with their laws.
fn rules(explanation: &Explanation) -> Vec<RuleView> {
    let mut counts: IndexMap<Rc<str>, usize> = IndexMap::new();
    for (name, count) in explanation.phases.iter().flat_map(|phase| &phase.rules) {
        *counts.entry(name.clone()).or_default() += count;
    }
    let own: HashMap<&str, &str> = explanation.own.iter().copied().collect();
    let view = |(name, count): (Rc<str>, usize)| {
        let (source, law) = match own.get(&*name) {
            Some(law) => (explanation.schedule.as_str(), *law),
            None => rule_page(&name).unwrap_or_default(),
        };
        RuleView { name: escaped(&name), law: coloured(law), source: escaped(source), count }
    };
    counts.into_iter().map(view).collect()
}

/// Each rule that almost fired once, with the phases that it was tried in; those of the strategy file first.
fn almost(explanation: &Explanation) -> Vec<RefusalView> {
    let mut numbers: IndexMap<&AlmostView, Vec<String>> = IndexMap::new();
    for (stage, number) in explanation.phases.iter().zip(1..) {
        for view in &stage.almost {
            numbers.entry(view).or_default().push(format!("{number}"));
        }
    }
    numbers.sort_by_cached_key(|view, _| rule_page(&view.rule).is_some());
    let view = |(view, numbers): (&AlmostView, Vec<String>)| RefusalView {
        rule: escaped(&view.rule),
        place: escaped(&view.place),
        term: coloured(&view.term),
        why: escaped(&view.why),
        phases: format!("{} {}", if numbers.len() == 1 { "phase" } else { "phases" }, numbers.join(", ")),
    };
    numbers.into_iter().map(view).collect()
}

fn state(state: &State) -> StateView {
    StateView { program: coloured(&state.program), cost: escaped(&state.cost.text()) }
}
