//! `smoothc explain FILE ENTRY`: the derivation of an entry, as text or with `--html` as a page;
//! `smoothc explain CODE`: the page of a diagnostic code; `smoothc explain rules` and `explain RULE`: the rules;
//! `smoothc explain library` and `explain FUNCTION`: the library.

use std::path::Path;

use super::files::Reads;
use super::options::{Display, ExplainCommand};
use super::output::{self, Output};
use super::wanted::Wanted;
use super::{dual_numbers, effects, pages, session};
use crate::diagnostic::{Diagnostic, Diagnostics, nearest};
use crate::explain::{self, Source, html, text};
use crate::rewrite::rule::Rule;
use crate::rewrite::rules;
use crate::source::{SourceMap, Span};
use crate::types::{self, Described};

/// Steps of each phase that a page holds.
const PAGE_STEPS: usize = 200;

/// Columns of the widest source of a rule, `001 Fig. 8c`.
const SOURCE: usize = 11;

pub fn run(command: &ExplainCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    match &command.entry_name {
        Some(entry) if command.dual_numbers => dual_numbers::run(command, entry, sources, display),
        Some(entry) => derivation(command, entry, sources, display),
        None => {
            for (option, given) in [("--all", command.all), ("--html", command.html.is_some()), ("--dual-numbers", command.dual_numbers)] {
                if given {
                    return Err(vec![effects::problem(option, "without an entry", "name one: `smoothc explain FILE ENTRY`")]);
                }
            }
            page(&command.source.file.to_string_lossy())
        }
    }
}

/// The page of a code or a rule.
fn page(subject: &str) -> Result<(), Diagnostics> {
    let code = subject.to_ascii_uppercase();
    if let Some(page) = pages::find(&code) {
        return output::text(&page.print());
    }
    if subject == "rules" {
        let width = rules::all().map(|rule| rule.name.len()).max().unwrap_or_default();
        let line = |rule: &Rule| format!("{:width$}  {:SOURCE$}  {}\n", rule.name, rule.source, rule.law);
        return output::text(&rules::all().map(line).collect::<String>());
    }
    if let Some(rule) = rules::named(subject) {
        let group = rule.group.map(|group| format!(", group {}", group.name())).unwrap_or_default();
        return output::text(&format!("{}: {}{group}\n\n    {}\n", rule.name, rule.source, rule.law));
    }
    let library = types::library()?;
    if subject == "library" {
        return output::text(&library.iter().map(described).collect::<Vec<_>>().join("\n"));
    }
    if let Some(function) = library.iter().find(|function| function.name == subject) {
        return output::text(&described(function));
    }
    let message = format!("there is no diagnostic, no rule and no function of the library `{subject}`");
    let problem = Diagnostic::error("E0013", Span::NONE, message);
    let names = rules::all().map(|rule| rule.name).chain(library.iter().map(|function| &*function.name));
    let help = match nearest(subject, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if Path::new(subject).exists() => format!("name an entry of the file too: `smoothc explain {subject} ENTRY`"),
        None => {
            "codes look like E0101; every diagnostic begins with its own; `smoothc explain rules` and `explain library` list the others"
                .into()
        }
    };
    Err(vec![problem.help(help)])
}

/// A function of the library: its type, then its doc comment.
fn described(function: &Described) -> String {
    let doc: String = function.doc.lines().map(|line| format!("    {line}\n")).collect();
    format!("{} {}\n{doc}", function.name, function.signature)
}

fn derivation(command: &ExplainCommand, entry: &str, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let saved = command.html.as_deref().map(|path| Output::new(path, &["html", "htm"])).transpose().map_err(|problem| vec![problem])?;
    let mut reads = Reads::default();
    let wanted = Wanted { stage: "rewrite", only: Some(entry), record: true, ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let Some((before, derivation)) = &session.derivation else {
        return Err(vec![Diagnostic::error("E0901", Span::NONE, "internal error: no derivation was recorded")]);
    };
    let explanation = explain::explain(&Source {
        entry,
        schedule: command.source.schedule.as_deref().unwrap_or("default"),
        choices: &session.choices,
        before,
        derivation,
        sources: &session.sources,
        main: session.main,
        steps: match (command.all, &command.html) {
            (true, _) => usize::MAX,
            (false, Some(_)) => PAGE_STEPS,
            (false, None) => 0,
        },
    });
    if let Some(saved) = &saved {
        let page = html::html(&explanation, command.all).map_err(|problem| vec![problem])?;
        return output::write(&[(saved, page.as_bytes())], &reads);
    }
    output::text(&text::text(&explanation, command.all))
}
