//! Names that others chose, inside messages: no control characters, no more than a line.
//!
//! In: a message, whose names stand between backquotes. Out: the same on one line, with the middle of what is long left
//! out. What a compiler said (E0901, E0902) keeps its lines.
//!
//!     there is no `a⏎b`   →   there is no `a\nb`

use std::ffi::OsString;

use crate::diagnostic::Diagnostic;

/// Longer names, in characters, are shortened; so are longer lines.
const NAME: usize = 120;
const LINE: usize = 400;

/// The diagnostic as it may be shown.
pub fn diagnostic(problem: &Diagnostic) -> Diagnostic {
    let text = |text: &str| if matches!(problem.code, "E0901" | "E0902") { lines(text) } else { line(text) };
    Diagnostic {
        message: text(&problem.message),
        labels: problem.labels.iter().map(|(span, note)| (*span, text(note))).collect(),
        help: problem.help.as_deref().map(text),
        ..*problem
    }
}

/// One line, however many there are.
pub fn line(text: &str) -> String {
    let mut shown = String::new();
    // every second piece is between backquotes
    for (at, piece) in text.split('`').enumerate() {
        if at > 0 {
            shown.push('`');
        }
        shown += &if at % 2 == 1 { shortened(piece, NAME) } else { escaped(piece.chars()) };
    }
    shortened(&shown, LINE)
}

fn lines(text: &str) -> String {
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A word of the command line as it may be shown: the parser's complaints echo words, or parts of them.
pub fn word(word: &OsString) -> OsString {
    shortened(&word.to_string_lossy(), NAME).into()
}

/// The beginning and the end.
fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return escaped(text.chars());
    }
    let tail = most / 3;
    escaped(text.chars().take(most - tail - 1)) + "…" + &escaped(text.chars().skip(count - tail))
}

fn escaped(text: impl Iterator<Item = char>) -> String {
    let mut shown = String::new();
    for c in text {
        if is_escaped(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// Control characters, and those that end a line or turn the direction of writing.
fn is_escaped(c: char) -> bool {
    c.is_control() || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn names_are_no_longer_than_a_line() {
        assert_eq!(line("no `a\nb\u{1b}[31m` \u{202e}here"), "no `a\\nb\\u{1b}[31m` \\u{202e}here");
        assert_eq!(line("expected `Vector<n>`, found `é`"), "expected `Vector<n>`, found `é`");
        let long = line(&format!("no `{}/end.json` here", "folder/".repeat(1_000_000)));
        assert!(long.starts_with("no `folder/") && long.contains('…') && long.ends_with("/end.json` here"), "{long}");
        assert!(long.chars().count() < 140, "{long}");
        assert!(line(&"`a\n".repeat(100_000)).chars().count() <= LINE);
    }

    #[test]
    fn what_a_compiler_said_keeps_its_lines() {
        let said = |code| diagnostic(&Diagnostic::error(code, Span::NONE, "`cc` failed:\nx.c:1: \u{7}no").help("a\nb")).message;
        assert_eq!(said("E0902"), "`cc` failed:\nx.c:1: \\u{7}no");
        assert_eq!(said("E0804"), "`cc` failed:\\nx.c:1: \\u{7}no");
    }
}
