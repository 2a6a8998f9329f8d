//! How large things may get: one budget that every room asks while it works.
//!
//! In: how much a room has made, or is about to make, and the place in the source. Out: nothing, or the
//! diagnostic that says what is too large and what to do. Terms know their nodes as written out, so that one
//! that shares its parts is asked about without a walk; types are walked no further than the limit.
//!
//!     let a = (x, x) in let b = (a, a) in let c = (b, b) in …     asked at each tuple
//!     derivative (fun t -> derivative (fun t -> …) t) x            asked at each binding that `ad` makes
//!
//! What is below these limits is compiled in seconds at most.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Nodes of a core program, each counted as often as it is written out.
pub const NODES: usize = 200_000;

/// Nodes of a part that is being made, of which some will be dropped again.
const UNFINISHED_NODES: usize = 2 * NODES;

/// Numbers in one value, the elements of an array counted once.
pub const COMPONENTS: usize = 10_000;

/// Numbers under one `deriv`, each of which becomes two.
pub const DUAL_COMPONENTS: usize = 1 << 10;

/// Bytes of one source or strategy file.
pub const SOURCE_BYTES: usize = 1 << 24;

/// Rows of `match`es in one declaration; one of several patterns counts for each of them, with all that is inside.
pub const ROWS: usize = 10_000;

/// Words and signs of one declaration.
pub const TOKENS: usize = 1_000_000;

/// Whether a finished program of so many nodes is within the limit.
pub fn program(nodes: usize, span: Span) -> Result<(), Diagnostic> {
    if nodes <= NODES {
        return Ok(());
    }
    let message = format!("unsupported: the program has {nodes} nodes, more than {NODES}");
    Err(Diagnostic::error("E0604", span, message).help("split it, or loop over an array instead of writing each element out"))
}

/// Whether the derivatives of a program, of which some parts will be dropped again, may grow to so many nodes.
pub fn unfinished(nodes: usize, span: Span) -> Result<(), Diagnostic> {
    if nodes <= UNFINISHED_NODES {
        return Ok(());
    }
    let message = format!("unsupported: with this derivative the program has more than {NODES} nodes");
    Err(Diagnostic::error("E0604", span, message)
        .help("each `derivative` around another makes it some times as large: nest fewer, or loop over an array"))
}

/// The diagnostic for a value of more than [`COMPONENTS`].
pub fn too_many_components(span: Span) -> Diagnostic {
    Diagnostic::error("E0604", span, format!("unsupported: the value has more than {COMPONENTS} components"))
        .help("a tuple of tuples of … doubles with each step: keep equal parts in an array")
}

/// The diagnostic for a function that computes more than [`COMPONENTS`] values and derivatives at once.
pub fn too_many_derivatives(span: Span) -> Diagnostic {
    Diagnostic::error("E0604", span, format!("unsupported: the derivative of this has more than {COMPONENTS} components"))
        .help("each `derivative` around another doubles them: nest fewer")
}

/// What is said of a source file of more than [`SOURCE_BYTES`].
pub fn file_too_large() -> String {
    format!("the file is larger than {} MiB", SOURCE_BYTES >> 20)
}
