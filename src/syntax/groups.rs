//! Groups: which `and` begins a declaration, the next of a `let rec` or of a `type`.
//!
//! In: the tokens of a file. Out: the same, with each such `and` as if it were first in column 0, where declarations begin. It is told
//! from an `and` that is meant as `&&` by what follows: the head of a function whose types are written, or of a type. The groups of local
//! functions are `layout`'s.
//!
//!     let rec even (n: Index) : Bool = odd n and odd (n: Index) : Bool = true   →   two declarations
//!     let rec f (a: Bool) (b: Bool) : Bool = a and b                            →   one, which is wrong

use super::tokens::{Token, TokenKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

const NO_FUNCTION: &str = "no `let rec` stands before this `and`";
const FUNCTIONS: &str = "functions that call each other: `let rec f … = …`, then `and g … = …` in its column; others begin with `let`";

/// What is declared together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Functions,
    Types,
}

impl Group {
    /// The group that a declaration begins, or by its head goes on with.
    pub fn of(piece: &[Token]) -> Option<Group> {
        match piece {
            [first, rest @ ..] if first.text == "and" => Some(if heads_type(rest) { Group::Types } else { Group::Functions }),
            [first, second, ..] if first.text == "let" && second.text == "rec" => Some(Group::Functions),
            [first, ..] if first.text == "type" => Some(Group::Types),
            _ => None,
        }
    }
}

/// Whether a declaration begins with the token.
pub fn is_start(token: &Token) -> bool {
    token.first && token.column == 0 && matches!(token.text, "let" | "and" | "open" | "type")
}

/// Puts each `and` that begins a declaration where declarations begin.
pub fn part(tokens: &mut [Token]) {
    let (mut group, mut depth, mut is_inside) = (None, 0usize, false);
    for at in 0..tokens.len() {
        let (before, rest) = tokens.split_at(at);
        let [token, after @ ..] = rest else { return };
        if is_start(token) {
            group = if token.text == "and" { group } else { Group::of(rest) };
            (depth, is_inside) = (0, false);
        }
        match token.text {
            "(" | "[" | ".[" | "[|" | "{" => depth += 1,
            ")" | "]" | "|]" | "}" => depth = depth.saturating_sub(1),
            // what follows a `let rec` inside may be meant as one of its group
            "rec" => is_inside |= before.last().is_some_and(|before| !is_start(before)),
            "and" if depth == 0 && !is_inside => {
                let goes_on = match group {
                    Some(Group::Functions) => heads_function(after),
                    Some(Group::Types) => heads_type(after),
                    None => false,
                };
                if goes_on {
                    tokens[at] = Token { first: true, column: 0, ..*token };
                }
            }
            _ => {}
        }
    }
}

/// Whether these tokens begin as a function whose types are written: `g (x: T) : R = `.
pub fn heads_function(tokens: &[Token]) -> bool {
    let [name, rest @ ..] = tokens else { return false };
    let (mut depth, mut is_typed) = (0usize, false);
    for token in rest.iter().take_while(|token| token.kind != TokenKind::Keyword) {
        match token.text {
            "(" | "{" => depth += 1,
            ")" | "}" => depth = depth.saturating_sub(1),
            ":" => is_typed = true,
            // `: Vector<n>= e`
            "=" | ">=" if depth == 0 => return name.kind == TokenKind::Name && is_typed,
            _ => {}
        }
    }
    false
}

/// Whether they begin as a type: `Tree = `, `Data<n> = `.
fn heads_type(tokens: &[Token]) -> bool {
    matches!(tokens, [name, next, ..] if name.kind == TokenKind::Name && matches!(next.text, "=" | "<"))
}

/// An `and` that goes on with no declaration.
pub fn alone(and: &Token, name: Option<&Token>, file: u32) -> Diagnostic {
    let (message, help) = match name.is_some_and(|name| name.text.starts_with(|c: char| c.is_ascii_uppercase())) {
        true => ("no `type` stands before this `and`", "types that contain each other: `type A = …`, then `and B = …`"),
        false => (NO_FUNCTION, FUNCTIONS),
    };
    Diagnostic::error("E0108", Span::new(file, and.start, and.end()), message).help(help)
}
