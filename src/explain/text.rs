//! A derivation as text.
//!
//! In: an [`Explanation`]. Out: the program before, then for each phase the rules, the program with a `+` before
//! each line that is new, and the cost before and after; with `all`, every step as well.
//!
//!     inline: beta 2, let-inline 3
//!     + let f (v: Vector<n>) : Double = …
//!     cost: 8 n: operations on Doubles 4 n, reads 4 n    (it was 20 n)

use super::{AlmostView, Explanation, Stage, diff};

/// Rules that almost fired are named up to this number, unless all is asked for.
const ALMOST: usize = 12;

/// Where no rule almost fired.
pub const NOTHING: &str = "No rule almost fired: no left side matches what is left.";

/// The whole derivation.
pub fn text(explanation: &Explanation, all: bool) -> String {
    let Explanation { entry, file, schedule, declaration: _, derived: _, called: _, choices, start, phases, own: _, idle } = explanation;
    let mut text = format!("{entry} of {file}, by the schedule {schedule}\n\n");
    if !choices.is_empty() {
        text += &rule("derivatives", "");
        text.extend(choices.iter().map(|choice| format!("  {choice}\n")));
        text.push('\n');
    }
    text += &rule("before", "");
    text += &indented(&start.program);
    text += &format!("\n  cost: {}\n", start.cost.text());
    let mut before = start;
    for (at, phase) in phases.iter().enumerate() {
        text += &stage(phase, before, at + 1 == phases.len(), all);
        before = &phase.end;
    }
    if !idle.is_empty() {
        text += "\n  Rules of the strategy file that never fired:\n";
        text.extend(idle.iter().map(|(rule, law)| format!("  {rule} : {law}\n")));
    }
    text
}

/// A line across the page with a name in it.
fn rule(name: &str, note: &str) -> String {
    let head = format!("── {name} ");
    let tail = if note.is_empty() { String::new() } else { format!(" {note}") };
    let width = 100usize.saturating_sub(head.chars().count() + tail.chars().count());
    format!("{head}{}{tail}\n\n", "─".repeat(width.max(3)))
}

fn indented(program: &str) -> String {
    program.lines().map(|line| if line.is_empty() { "\n".to_string() } else { format!("  {line}\n") }).collect()
}

fn stage(phase: &Stage, before: &super::State, last: bool, all: bool) -> String {
    let count: usize = phase.steps.len() + phase.more;
    let mut text = format!("\n{}", rule(&phase.name, &format!("{count} {}", if count == 1 { "rewrite" } else { "rewrites" })));
    if count > 0 {
        let rules: Vec<String> =
            phase.rules.iter().map(|(rule, count)| if *count == 1 { rule.to_string() } else { format!("{rule} ×{count}") }).collect();
        text += &wrapped(&rules.join(", "));
        text.push('\n');
    }
    if all {
        for (at, step) in phase.steps.iter().enumerate() {
            text += &format!("  {}. {} in {}\n       {}\n     → {}\n", at + 1, step.rule, step.place, step.before, step.after);
        }
        if phase.more > 0 {
            text += &format!("  … and {} more\n", phase.more);
        }
        if count > 0 {
            text.push('\n');
        }
    }
    let (_, kept) = diff::lines(&before.program, &phase.end.program);
    if before.program == phase.end.program {
        text += "  The program stays as it is.\n";
    } else {
        for (line, kept) in phase.end.program.lines().zip(kept) {
            text += &match (line.is_empty(), kept) {
                (true, _) => "\n".to_string(),
                (false, true) => format!("  {line}\n"),
                (false, false) => format!("+ {line}\n"),
            };
        }
        text += &format!("\n  cost: {}\n", phase.end.cost.text());
        if phase.end.cost != before.cost {
            text += &format!("  it was {}\n", before.cost.short());
        }
    }
    if last || all {
        text += &almost(&phase.almost, all);
        if last && phase.almost.is_empty() {
            text += &format!("\n  {NOTHING}\n");
        }
    }
    text
}

fn almost(almost: &[AlmostView], all: bool) -> String {
    let mut text = String::new();
    let shown = if all { almost.len() } else { ALMOST };
    for (at, view) in almost.iter().take(shown).enumerate() {
        if at == 0 {
            text += "\n  These almost fired:\n";
        }
        text += &format!("  {} did not fire on {}\n      in {}: {}\n", view.rule, view.term, view.place, view.why);
    }
    if almost.len() > shown {
        text += &format!("  … and {} more, which --all names\n", almost.len() - shown);
    }
    text
}

/// Words in lines of a page's width, indented.
fn wrapped(words: &str) -> String {
    let (mut text, mut column) = (String::from(" "), 1);
    for word in words.split(", ") {
        let length = word.chars().count() + 2;
        if column > 2 && column + length > 100 {
            text += "\n ";
            column = 1;
        }
        text += &format!(" {word},");
        column += length;
    }
    text.pop();
    text.push('\n');
    text
}
