//! What the compiler tells a user: a stable code, one sentence, the place, and the next step.
//!
//! Every room reports through [`Diagnostic`]; only `cli/` draws one. Messages are lower case and short
//! (`expected X, found Y`); `help` names the next step. The pages that `smoothc explain CODE` prints
//! are kept with the codes.

use crate::source::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

/// One message to the user.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Stable code such as `E0201`: 00 files, 01 syntax, 02 names, 03 types, 04 sizes, 05 differentiation,
    /// 06 unsupported, 07 run time, 08 arguments, 09 tools and internal errors.
    pub code: &'static str,
    pub severity: Severity,
    pub span: Span,
    pub message: String,
    /// Further places, each with its own note.
    pub labels: Vec<(Span, String)>,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, severity: Severity::Error, span, message: message.into(), labels: Vec::new(), help: None }
    }

    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    pub fn label(mut self, span: Span, note: impl Into<String>) -> Diagnostic {
        self.labels.push((span, note.into()));
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// Several independent diagnostics, at least one of them an error.
pub type Diagnostics = Vec<Diagnostic>;

/// The name that was probably meant: the first of the nearest ones, when it differs in two letters at most.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known.filter(|other| distance(name, other) <= 2).min_by_key(|other| distance(name, other))
}

/// Edit distance; names that differ much in length are far.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 2 || a.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
