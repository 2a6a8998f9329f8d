//! Diagnostics as the protocol has them.
//!
//! In: an analysis. Out: one diagnostic of the protocol for each of the text's own, whose help is the last line of the message and whose
//! labels are related places. Errors of a file that it opens are one diagnostic at the `open`, with their places.
//!
//!     E0202 unknown name `w`   →   { range, severity: 1, code: "E0202", message: "unknown name `w`\nhelp: did you mean `v`?" }

use lsp_types::{
    CodeDescription, Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString, Url,
};

use super::analysis::{Analysis, MAIN};
use super::{documents, position::Lines};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Span;
use crate::syntax::ast::OpenWhat;

/// At most so many are shown.
const MOST: usize = 1000;

/// The diagnostics of a text.
pub fn diagnostics(analysis: &Analysis, uri: &Url) -> Vec<Shown> {
    let problems = &analysis.surveyed.diagnostics;
    let (own, others): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
        problems.iter().partition(|problem| problem.span.is_none() || problem.span.file == MAIN);
    let mut shown: Vec<Shown> = own.into_iter().take(MOST).map(|problem| shown(analysis, uri, problem)).collect();
    let errors: Vec<&Diagnostic> = others.into_iter().filter(|problem| problem.severity == Severity::Error).collect();
    shown.extend(elsewhere(analysis, &errors));
    shown
}

fn shown(analysis: &Analysis, uri: &Url, problem: &Diagnostic) -> Shown {
    let mut message = problem.message.clone();
    if let Some(help) = &problem.help {
        message += &format!("\nhelp: {help}");
    }
    let related: Vec<DiagnosticRelatedInformation> = problem
        .labels
        .iter()
        .filter_map(|(span, note)| {
            Some(DiagnosticRelatedInformation { location: location(analysis, *span, Some(uri))?, message: note.clone() })
        })
        .collect();
    let is_unused = problem.code == "W0209";
    Shown {
        range: analysis.range(if problem.span.is_none() { Span::new(MAIN, 0, 0) } else { problem.span }),
        severity: Some(severity(problem.severity)),
        code: Some(NumberOrString::String(problem.code.to_string())),
        code_description: None::<CodeDescription>,
        source: Some("smoothc".to_string()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: is_unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    }
}

/// Where a place is; `None` in the library, which is in no file.
pub fn location(analysis: &Analysis, span: Span, main: Option<&Url>) -> Option<Location> {
    let file = analysis.sources.file(span)?;
    let uri = match main {
        Some(main) if span.file == MAIN => main.clone(),
        Some(_) | None => documents::uri(&file.name)?,
    };
    let range = if span.file == MAIN {
        analysis.range(span)
    } else {
        Lines::new(&file.text).range(&file.text, span.start as usize, span.end as usize)
    };
    Some(Location { uri, range })
}

/// One diagnostic for the errors of other files, at the `open` that leads to them where there is one only, else at the first.
fn elsewhere(analysis: &Analysis, errors: &[&Diagnostic]) -> Option<Shown> {
    let first = errors.first()?;
    let (module, _) = crate::syntax::parse_recovering(analysis.text(), MAIN);
    let opened = analysis.sources.file(first.span).map(|file| file.name.to_string()).unwrap_or_default();
    let short = opened.rsplit(['/', '\\']).next().unwrap_or_default();
    let names_it = |what: &OpenWhat| matches!(what, OpenWhat::File(path) if path.ends_with(short));
    let open = module.opens.iter().find(|open| names_it(&open.what)).or(module.opens.first())?;
    let count = if errors.len() == 1 { "an error".to_string() } else { format!("{} errors", errors.len()) };
    let related = errors.iter().take(20).filter_map(|problem| {
        Some(DiagnosticRelatedInformation { location: location(analysis, problem.span, None)?, message: problem.message.clone() })
    });
    Some(Shown {
        range: analysis.range(open.span),
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String(first.code.to_string())),
        source: Some("smoothc".to_string()),
        message: format!("{count} in what this opens, first in `{short}`: {}", first.message),
        related_information: Some(related.collect()),
        ..Shown::default()
    })
}
