//! The words of the language as data.
//!
//! In: what `scanner` finds in a text. Out: [`Token`]s with their columns and line starts, which layout needs; the keywords; and whether an
//! operand begins or ends with a token.
//!
//!     f v.[0]   →   the names f (first of its line) and v, the mark `.[`, the number 0, the mark `]`

use crate::diagnostic::Diagnostic;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Name,
    Keyword,
    Number,
    Text,
    /// An infix operator, `-` included.
    Operator,
    /// Brackets, separators, arrows.
    Mark,
    /// Characters that start no token: there is an error for them.
    Stray,
}

#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub start: usize,
    /// In characters, from 0; of an `and` that begins a declaration 0.
    pub column: usize,
    /// Nothing but blanks and comments stands before it on its line, or it is such an `and`.
    pub first: bool,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

#[derive(Debug, Default)]
pub struct Tokens<'a> {
    pub tokens: Vec<Token<'a>>,
    /// `///` lines that stand alone on their line: offset, text without the slashes.
    pub docs: Vec<(usize, &'a str)>,
    pub errors: Vec<Diagnostic>,
    /// The text ends inside a comment or a file name: what comes next belongs to it.
    pub is_open: bool,
}

pub const RESERVED: [&str; 20] = [
    "let", "in", "fun", "if", "then", "elif", "else", "true", "false", "open", "deriv", "not", "rec", "type", "match", "with", "of", "and",
    "module", "val",
];

/// At most 20 characters of a text, for a message.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(20) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
        None => text.to_string(),
    }
}

/// Whether an operand may end with the token.
pub(super) fn ends_operand(token: &Token) -> bool {
    match token.kind {
        TokenKind::Name | TokenKind::Number | TokenKind::Text => true,
        TokenKind::Keyword => matches!(token.text, "true" | "false"),
        TokenKind::Mark => matches!(token.text, ")" | "]" | "|]" | "}"),
        TokenKind::Operator | TokenKind::Stray => false,
    }
}

/// Whether an operand may begin with it.
pub(super) fn starts_operand(token: &Token) -> bool {
    match token.kind {
        TokenKind::Name | TokenKind::Number | TokenKind::Text => true,
        TokenKind::Keyword => matches!(token.text, "true" | "false" | "deriv" | "not" | "fun" | "if" | "let" | "match"),
        TokenKind::Mark => matches!(token.text, "(" | "[" | "[|" | ".[" | "{"),
        TokenKind::Operator | TokenKind::Stray => false,
    }
}
