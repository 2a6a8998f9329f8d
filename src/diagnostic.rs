//! What the compiler tells a user: a stable code, one sentence, the place, and the next step.
//!
//! Every room reports through [`Diagnostic`]; only `cli/` draws one. Messages are lower case and short
//! (`expected X, found Y`); `help` names the next step. The pages that `smoothc explain CODE` prints
//! are kept with the codes.

use strsim::osa_distance;

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

/// The name that was probably meant: the first of the nearest ones, when two edits at most make the one of the other, and no more than
/// about one for three letters. Two letters in the wrong order are one edit.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // names that differ much in length are far, and the time grows with the square of it
    let is_far = |other: &str| name.len() > 64 || name.len().abs_diff(other.len()) > 2;
    let edits = |other: &&str| if is_far(other) { usize::MAX } else { osa_distance(name, other) };
    let is_near = |other: &&str| edits(other) <= 2.min((name.len().max(other.len()) + 1) / 3);
    known.filter(is_near).min_by_key(edits)
}
