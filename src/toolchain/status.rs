//! What a status means: the run-time errors of docs/language.md as diagnostics.
//!
//! In: a `smooth_status` that emitted code returned. Out: the diagnostic of the same code that the
//! interpreter reports for the same error; only the interpreter knows the place inside the entry.

use crate::diagnostic::Diagnostic;
use crate::ir::Status;
use crate::source::Span;

/// The diagnostic for a status of the entry `name` at `span`.
pub fn diagnostic(status: i32, name: &str, span: Span) -> Diagnostic {
    let known = [Status::Bounds, Status::Shape, Status::Negative, Status::DivZero, Status::Range, Status::Workspace];
    match known.into_iter().find(|known| *known as i32 == status) {
        Some(known) => {
            let (code, what) = error(known);
            let help = match known {
                // the interpreter has no stack of its own to be too small
                Status::Workspace => help(known),
                Status::Bounds | Status::Shape | Status::Negative | Status::DivZero | Status::Range => {
                    "`smoothc eval` with the same arguments shows the place"
                }
            };
            Diagnostic::error(code, span, format!("`{name}` stopped: {what}")).help(help)
        }
        None => Diagnostic::error("E0901", span, format!("internal error: `{name}` returned status {status}")).help("please report it"),
    }
}

/// The code and the sentence of a run-time error.
pub fn error(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Bounds => ("E0701", "an array was read out of bounds"),
        Status::Shape => ("E0702", "lengths contradict each other"),
        Status::Negative => ("E0703", "a build, a fold, a slice or a size has a negative count"),
        Status::DivZero => ("E0704", "an Index was divided by zero"),
        Status::Range => ("E0705", "a number does not fit in an Index or its range"),
        Status::Workspace => ("E0708", "recursion is deeper, or makes more nodes of a recursive type, than there is room for"),
    }
}

/// The next step after a run-time error.
pub fn help(status: Status) -> &'static str {
    match status {
        Status::Bounds => "an index is at least 0 and less than the length",
        Status::Shape => "arrays that meet here must have one length: check the arguments, or declare one size for both",
        Status::Negative => "a count is 0 or more; a slice `v[a..b]` has b - a + 1 elements",
        Status::DivZero => "test the divisor first: only the branch of an `if` that is taken is computed",
        Status::Range => "an Index<n> is at least 0 and less than n; `index x` takes what fits in 64 bits",
        Status::Workspace => {
            "there is room for 10,000 calls, one in another, with `decreases n` for n + 1, where n has to be smaller in each call; and for 10,000 nodes"
        }
    }
}
