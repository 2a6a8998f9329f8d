//! Text to syntax tree: `scanner` (with `groups`; the words are `tokens`) → `layout` (with `context`) → `grammar.pest` → `parse`,
//! `expression`, `types`. And text to formatted text: `format`.
//!
//! In: the text of one file, or one expression. Out: the [`ast`] tree, every span a byte range of the text,
//! or diagnostics: all the errors of the words, and the first error of each declaration, at most
//! [`MAX_ERRORS`]. Both entries recurse as deep as the text nests: call them in
//! [`with_large_stack`](crate::stack::with_large_stack).
//! Example: `let f x = x * x` gives one `Decl` whose body is `Binary(Mul, Var x, Var x)`.
//!
//! | code | |
//! | --- | --- |
//! | E0101 | something else was expected here |
//! | E0102 | a bracket that is not closed, not open or of another kind |
//! | E0103 | a line in a column that does not fit: it continues nothing, or a `let` has no body |
//! | E0104 | a comment or file name that does not end |
//! | E0105 | a character that starts no token; a tab |
//! | E0106 | a number that is malformed or too large |
//! | E0107 | a reserved word used as a name |
//! | E0108 | a recursive function whose types are not written |
//! | E0109 | nesting beyond the limits, a file or declaration that is too large |
//! | E0110 | `if` without `else` |
//! | E0111 | a chain of comparisons |
//! | E0112 | `deriv` with something other than an expression and a name |
//! | E0113 | an unknown type, or a type with the wrong arguments |
//! | E0114 | a line in column 0 that is no declaration |
//! | E0115 | a phrase of another language |

pub mod ast;
mod context;
mod errors;
mod expression;
mod format;
mod grammar;
mod groups;
mod laid_out;
mod layout;
mod offside;
mod operators;
mod parse;
mod phrase;
mod scanner;
#[cfg(test)]
mod tests;
mod tokens;
mod types;

pub use format::format;
pub use operators::infix;
pub use parse::{parse, parse_expr, parse_recovering};
pub use phrase::explain as explain_phrase;
pub use scanner::without_comments;
pub use tokens::RESERVED;
pub use types::{BUILT_IN as BUILT_IN_TYPES, TYPES, is_built_in as is_built_in_type};

/// Errors beyond this number are not looked for; the command line prints the first hundred and counts the rest.
pub const MAX_ERRORS: usize = 10_000;
