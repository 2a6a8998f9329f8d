//! A derivation as one page of HTML that needs nothing but itself.
//!
//! In: an [`Explanation`]. Out: the page, from `templates/explain.tera`: a chart of the cost phase by phase, then
//! for each phase its rules, the program with what is new marked and what went (hidden until a box is ticked), every
//! step to unfold, and the rules that almost fired. Everything that is put into the template is escaped here.
//! Colours are elements of one letter, and words of one colour one element: they would be most of the page.

use serde::Serialize;

use super::highlight::{Class, words};
use super::polynomial::{leading, value};
use super::{Explanation, Stage, State, diff, rule_page, text};
use crate::diagnostic::Diagnostic;
use crate::rewrite::rule::OWN;
use crate::source::Span;

#[derive(Serialize)]
struct PageView {
    title: String,
    file: String,
    schedule: String,
    rewrites: usize,
    choices: Vec<String>,
    start: StateView,
    phases: Vec<PhaseView>,
    chart: ChartView,
    idle: Vec<IdleView>,
    nothing: &'static str,
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
    short: String,
}

#[derive(Serialize)]
struct PhaseView {
    name: String,
    number: usize,
    rewrites: usize,
    rules: Vec<RuleView>,
    same: bool,
    /// Whether lines went.
    shorter: bool,
    state: StateView,
    cost_before: String,
    cheaper: bool,
    steps: Vec<StepView>,
    more: usize,
    almost: Vec<AlmostView>,
}

#[derive(Serialize)]
struct RuleView {
    name: String,
    count: usize,
    source: String,
    law: String,
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
struct AlmostView {
    rule: String,
    place: String,
    term: String,
    why: String,
}

/// The cost phase by phase, on a logarithmic scale.
#[derive(Serialize)]
struct ChartView {
    width: usize,
    height: usize,
    /// The corners of the falling line, and of the area below it.
    line: String,
    area: String,
    points: Vec<PointView>,
    /// What every size is here.
    size: usize,
}

#[derive(Serialize)]
struct PointView {
    x: String,
    y: String,
    /// Where the label stands above the point.
    label_y: String,
    label: String,
    cost: String,
    /// The cost's first term, where it is another than before.
    leading: String,
}

/// The page.
pub fn html(explanation: &Explanation) -> Result<String, Diagnostic> {
    let Explanation { entry, file, schedule, choices, start, phases, idle } = explanation;
    let mut before = start;
    let mut views = Vec::new();
    for (at, stage) in phases.iter().enumerate() {
        views.push(phase(stage, before, at + 1));
        before = &stage.end;
    }
    let page = PageView {
        title: escaped(entry),
        file: escaped(file),
        schedule: escaped(schedule),
        rewrites: views.iter().map(|view| view.rewrites).sum(),
        choices: choices.iter().map(|choice| escaped(choice)).collect(),
        start: state(start, start.program.lines().map(|line| (Line::Kept, line)).collect()),
        phases: views,
        chart: chart(explanation),
        idle: idle.iter().map(|(rule, law)| IdleView { rule: escaped(rule), law: coloured(law) }).collect(),
        nothing: text::NOTHING,
    };
    render(&page).map_err(|error| Diagnostic::error("E0901", Span::NONE, format!("internal error: the page's template: {error}")))
}

fn render(page: &PageView) -> tera::TeraResult<String> {
    let mut tera = tera::Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_template("explain.tera", include_str!("../../templates/explain.tera"))?;
    tera.render("explain.tera", &tera::Context::from_serialize(page)?)
}

fn phase(stage: &Stage, before: &State, number: usize) -> PhaseView {
    let lines = lines(&before.program, &stage.end.program);
    let steps = stage.steps.iter().enumerate().map(|(at, step)| {
        let (old, new) = (words(&step.before), words(&step.after));
        let text = |words: &[(Class, &str)]| words.iter().map(|(_, word)| word.to_string()).collect::<Vec<_>>();
        let (kept_old, kept_new) = diff::common(&text(&old), &text(&new));
        StepView {
            number: at + 1,
            rule: escaped(&step.rule),
            place: escaped(&step.place),
            before: marked(&old, &kept_old, "del"),
            after: marked(&new, &kept_new, "ins"),
        }
    });
    let almost = stage.almost.iter().map(|view| AlmostView {
        rule: escaped(&view.rule),
        place: escaped(&view.place),
        term: coloured(&view.term),
        why: escaped(&view.why),
    });
    PhaseView {
        name: escaped(&stage.name),
        number,
        rewrites: stage.steps.len() + stage.more,
        rules: stage.rules.iter().map(|(name, count)| rule(name, *count)).collect(),
        same: before.program == stage.end.program,
        shorter: lines.iter().any(|(kind, _)| *kind == Line::Gone),
        state: state(&stage.end, lines),
        cost_before: escaped(&before.cost.short()),
        cheaper: value(&stage.end.cost.total(), SIZE) < value(&before.cost.total(), SIZE),
        steps: steps.collect(),
        more: stage.more,
        almost: almost.collect(),
    }
}

fn rule(name: &str, count: usize) -> RuleView {
    let (source, law) = rule_page(name).unwrap_or((OWN, ""));
    RuleView { name: escaped(name), count, source: source.to_string(), law: escaped(law) }
}

fn state(state: &State, lines: Vec<(Line, &str)>) -> StateView {
    StateView { program: program(&lines), cost: escaped(&state.cost.text()), short: escaped(&state.cost.short()) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Kept,
    New,
    Gone,
}

/// The lines of both programs, those that went before those that came in their place.
fn lines<'a>(old: &'a str, new: &'a str) -> Vec<(Line, &'a str)> {
    let (kept_old, kept_new) = diff::lines(old, new);
    let (mut lines, mut went) = (Vec::new(), old.lines().zip(kept_old).peekable());
    for (line, kept) in new.lines().zip(kept_new) {
        while let Some((line, _)) = went.next_if(|(_, kept)| !kept) {
            lines.push((Line::Gone, line));
        }
        if kept {
            went.next();
        }
        lines.push((if kept { Line::Kept } else { Line::New }, line));
    }
    lines.extend(went.map(|(line, _)| (Line::Gone, line)));
    lines
}

/// A program; neighbouring lines that are new or gone are one element.
fn program(lines: &[(Line, &str)]) -> String {
    let mut out = String::new();
    for part in lines.chunk_by(|a, b| a.0 == b.0) {
        let text = part.iter().map(|(_, line)| coloured(line)).collect::<Vec<_>>().join("\n");
        out += &match part.first() {
            Some((Line::New, _)) => format!("<ins>{text}\n</ins>"),
            Some((Line::Gone, _)) => format!("<del>{text}\n</del>"),
            Some((Line::Kept, _)) | None => text + "\n",
        };
    }
    out
}

fn coloured(text: &str) -> String {
    marked(&words(text), &[], "")
}

/// Words in their colours; those that are not kept are in this element.
fn marked(words: &[(Class, &str)], kept: &[bool], element: &str) -> String {
    let mut out = String::new();
    let is_marked = |at: usize| kept.get(at) == Some(&false);
    let all: Vec<(bool, Class, &str)> = words.iter().enumerate().map(|(at, (class, word))| (is_marked(at), *class, *word)).collect();
    for part in all.chunk_by(|a, b| a.0 == b.0) {
        let is_marked = part.first().is_some_and(|word| word.0);
        if is_marked {
            out += &format!("<{element}>");
        }
        for run in part.chunk_by(|a, b| a.1.style() == b.1.style()) {
            let text: String = run.iter().map(|(_, _, word)| escaped(word)).collect();
            out += &match run.first().and_then(|word| word.1.style()) {
                Some(style) => format!("<{style}>{text}</{style}>"),
                None => text,
            };
        }
        if is_marked {
            out += &format!("</{element}>");
        }
    }
    out
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            _ => out.push(c),
        }
        out
    })
}

/// What every size is where costs are compared as numbers.
const SIZE: f64 = 100.0;
const WIDTH: usize = 960;
const HEIGHT: usize = 220;
/// Room for labels around the line.
const MARGIN: f64 = 60.0;

fn chart(explanation: &Explanation) -> ChartView {
    let states: Vec<(String, &State)> = [("before".to_string(), &explanation.start)]
        .into_iter()
        .chain(explanation.phases.iter().map(|phase| (phase.name.to_string(), &phase.end)))
        .collect();
    let heights: Vec<f64> = states.iter().map(|(_, state)| value(&state.cost.total(), SIZE).max(1.0).log10()).collect();
    let (low, high) = heights.iter().fold((f64::INFINITY, 0.0f64), |(low, high), y| (low.min(*y), high.max(*y)));
    let span = if high - low < 0.1 { 0.1 } else { high - low };
    let gap = (WIDTH as f64 - 2.0 * MARGIN) / (states.len().max(2) - 1) as f64;
    let places: Vec<(f64, f64)> = heights
        .iter()
        .enumerate()
        .map(|(at, y)| (MARGIN + gap * at as f64, MARGIN + (HEIGHT as f64 - 2.0 * MARGIN) * (high - y) / span))
        .collect();
    let number = |x: f64| format!("{x:.1}");
    let line = places.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ");
    let floor = number(HEIGHT as f64 - MARGIN / 2.0);
    let (first, last) = (places.first().map_or(0.0, |place| place.0), places.last().map_or(0.0, |place| place.0));
    let area = format!("{},{floor} {line} {},{floor}", number(first), number(last));
    // only what is new is said, and neighbours not on one line
    let (mut said, mut raised) = (String::new(), true);
    let points = states.iter().zip(&places).map(|((name, state), (x, y))| {
        let leading = leading(&state.cost.total());
        let is_new = leading != said;
        raised = is_new && !raised;
        let shown = if is_new { escaped(&leading) } else { String::new() };
        said = leading;
        PointView {
            x: number(*x),
            y: number(*y),
            label_y: number(y - if raised { 30.0 } else { 14.0 }),
            label: escaped(name),
            cost: escaped(&state.cost.short()),
            leading: shown,
        }
    });
    ChartView { width: WIDTH, height: HEIGHT, line, area, points: points.collect(), size: SIZE as usize }
}
