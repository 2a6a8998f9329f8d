//! What has no linear map, and what is said of it: recursion, values of recursive types, and maps that are too large.
//!
//! In: the place of such a thing, and what was asked for. Out: the error, E0606, E0607 or E0604.
//!
//!     let rec f (n: Index) : Double = … f (n - 1) …   →   E0606 unsupported: recursion has no linear map

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// A map of more parts, or with terms of more nodes, is refused: maps are written out where they are used.
pub const LARGEST: usize = 100_000;

/// Recursion, and the loops that it becomes, have no form in the papers whose notations these are.
pub fn recursion(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0606", span, format!("unsupported: recursion has no {what}"))
        .help("`--dump ad` shows the derivative that is compiled; a loop with a count is an `ifold`")
}

/// A value that may be of any depth has none either.
pub fn recursive_type(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0607", span, format!("unsupported: a value of a recursive type has no {what}"))
        .help("`smoothc eval` gives its values and derivatives")
}

/// The error of a map that is too large.
pub fn too_large(span: Span) -> Diagnostic {
    let message = format!("unsupported: the linear map has more than {LARGEST} parts, for each is written where it is used");
    Diagnostic::error("E0604", span, message).help("linear maps are for functions of a page; `--dump ad` shows derivatives of any size")
}
