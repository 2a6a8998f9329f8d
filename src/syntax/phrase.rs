//! Phrases of other languages, where a declaration is wrong.
//!
//! In: the tokens of a declaration that does not parse or has no type. Out: one diagnostic in the place of what the grammar and the
//! types say, where a phrase of `src/elsewhere.rs` stands in it; the first one that does.
//! Example: `s <- s + 1.0` gives E0115 at the `<-`, "names keep their values".

use std::sync::LazyLock;

use super::MAX_ERRORS;
use super::groups::heads_function;
use super::scanner::{is_name_start, tokenize};
use super::tokens::ends_operand;
use super::tokens::{Token, TokenKind};
use crate::diagnostic::Diagnostic;
use crate::elsewhere::{PHRASES, Phrase, Place};
use crate::source::Span;

/// The phrases that a token may begin, by its first byte: long texts are looked through token by token.
static BY_FIRST: LazyLock<Vec<Vec<&'static Phrase>>> = LazyLock::new(|| {
    let begins = |phrase: &Phrase, byte: u8| match phrase.words.split(' ').next() {
        Some("NAME") => is_name_start(char::from(byte)),
        Some("TEXT") => byte == b'"',
        _ => phrase.words.as_bytes().first() == Some(&byte),
    };
    (0..128).map(|byte| PHRASES.iter().filter(|phrase| begins(phrase, byte)).collect()).collect()
});

/// The code of all of them.
pub(super) const PHRASE: &str = "E0115";

/// What is said of the first phrase among these tokens.
pub(super) fn first(tokens: &[Token], file: u32) -> Option<Diagnostic> {
    if tokens.first().is_some_and(|token| token.text == "open") {
        return None;
    }
    all(tokens).next().map(|(phrase, start, end)| diagnostic(phrase, Span::new(file, start, end)))
}

/// For a declaration that parses and has these errors of names and types: what is said of a phrase that one of them is about, and
/// whether other unknown names follow from it.
pub fn explain(declaration: &str, span: Span, errors: &[Span]) -> Option<(Diagnostic, bool)> {
    let found = tokenize(declaration, span.file);
    let start = span.start as usize;
    let found = all(&found.tokens).find_map(|(phrase, first, last)| {
        let place = Span::new(span.file, start + first, start + last);
        let about = errors.iter().any(|error| error.start < place.end && place.start < error.end);
        // a `let` that is read as one of a function breaks what comes after it
        (about || phrase.words.starts_with("let ")).then_some((phrase, place))
    });
    found.map(|(phrase, place)| (diagnostic(phrase, place), names_follow(phrase)))
}

/// Whether names that are unknown after a phrase come of it: what it declares, and the words that belong to it.
fn names_follow(phrase: &Phrase) -> bool {
    matches!(phrase.words.split(' ').next(), Some("let" | "where" | "for" | "while"))
}

fn diagnostic(phrase: &Phrase, span: Span) -> Diagnostic {
    Diagnostic::error(PHRASE, span, phrase.message).help(phrase.help)
}

/// All phrases in the order of the text, with their byte ranges.
fn all<'a>(tokens: &'a [Token]) -> impl Iterator<Item = (&'static Phrase, usize, usize)> + 'a {
    let mut brackets: Vec<Place> = Vec::new();
    tokens.iter().enumerate().take(MAX_ERRORS * 10).filter_map(move |(at, token)| {
        let inside = brackets.last().copied().unwrap_or(Place::Outside);
        match token.text {
            "[" | ".["
                if at
                    .checked_sub(1)
                    .and_then(|at| tokens.get(at))
                    .is_some_and(|before| ends_operand(before) && before.end() == token.start) =>
            {
                brackets.push(Place::Index);
            }
            "[" | "[|" => brackets.push(Place::Array),
            "(" | "{" => brackets.push(Place::Anywhere),
            ")" | "]" | "|]" | "}" => drop(brackets.pop()),
            _ => {}
        }
        // one more function of a `let rec`
        if token.text == "and" && tokens.get(at + 1..).is_some_and(heads_function) {
            return None;
        }
        let stands = |place: Place| match place {
            Place::Anywhere => true,
            Place::Margin => token.first && token.column == 0,
            Place::Line => token.first,
            Place::Operand => !token.first && at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(ends_operand),
            Place::Array | Place::Index | Place::Outside => inside == place,
        };
        let first = token.text.bytes().next().map_or(0, usize::from);
        BY_FIRST.get(first)?.iter().filter(|phrase| stands(phrase.place)).find_map(|phrase| {
            let rest = tokens.get(at..).unwrap_or_default();
            matched(phrase.words, rest).map(|last| (*phrase, token.start, last))
        })
    })
}

/// Where a phrase ends that begins with the first of these tokens.
fn matched(words: &str, tokens: &[Token]) -> Option<usize> {
    let mut tokens = tokens.iter();
    let mut end = 0;
    for word in words.split(' ') {
        let mut token = tokens.next()?;
        end = token.end();
        match word {
            "NAME" if token.kind == TokenKind::Name => continue,
            "TEXT" if token.kind == TokenKind::Text => continue,
            _ => {}
        }
        let mut rest = word.strip_prefix(token.text)?;
        while !rest.is_empty() {
            let next = tokens.next().filter(|next| next.start == token.end())?;
            rest = rest.strip_prefix(next.text)?;
            token = next;
            end = token.end();
        }
    }
    Some(end)
}
