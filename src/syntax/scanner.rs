//! Text to tokens, with the column and the line start that layout needs.
//!
//! In: the text of a file. Out: [`Tokens`]: the tokens in order (comments gone), the `///` lines with
//! their offsets, and a diagnostic for everything that is no token (at most [`MAX_ERRORS`]). Lines end with `\n`, `\r\n` or `\r`.
//! Example: `f v.[0] // first` gives the name `f`, the name `v`, `.[`, the number `0` and `]`.
//! Tokens that only types tell apart (`>>`, `>=>`) are cut so that a `>` stands alone.

use super::tokens::{RESERVED, Token, TokenKind, Tokens, ends_operand, shortened};
use super::{MAX_ERRORS, groups};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// What ends a line; `\r\n` is one end.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Longest first.
const OPERATORS: [&str; 20] =
    [".*", "./", "|>", "||", "&&", "==", "!=", "<>", "<=", ">=", "**", "=", "<", ">", "+", "-", "*", "×", "/", "%"];
const MARKS: [&str; 16] = ["{", "}", "..", "->", "=>", "[|", "|]", ".[", "(", ")", "[", "]", ",", ";", ":", "."];

/// Splits `text` into tokens.
pub fn tokenize(text: &str, file: u32) -> Tokens<'_> {
    let mut scanner = Scanner { text, file, at: 0, line: 0, first: true, tab: false, found: Tokens::default() };
    if text.starts_with('\u{feff}') {
        scanner.at = '\u{feff}'.len_utf8();
        scanner.line = scanner.at;
    }
    while scanner.at < text.len() && scanner.found.errors.len() < MAX_ERRORS {
        scanner.step();
    }
    groups::part(&mut scanner.found.tokens);
    scanner.found
}

/// A text without its comments and file names that do not end, blanks in their place; and whether it ends inside one.
pub fn without_comments(text: &str) -> (String, bool) {
    let Tokens { tokens, is_open, .. } = tokenize(text, 0);
    let mut bare = String::with_capacity(text.len());
    let blank = |gap: &str| gap.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect::<String>();
    for token in &tokens {
        bare += &blank(text.get(bare.len()..token.start).unwrap_or_default());
        bare += token.text;
    }
    bare += &blank(text.get(bare.len()..).unwrap_or_default());
    (bare, is_open)
}

pub fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '\''
}

struct Scanner<'a> {
    text: &'a str,
    file: u32,
    at: usize,
    /// Where the current line begins, less what is wider in bytes than in characters so far.
    line: usize,
    first: bool,
    /// A tab was reported already; one report a file is enough.
    tab: bool,
    found: Tokens<'a>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&mut self, code: &'static str, start: usize, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::error(code, Span::new(self.file, start, self.at), message);
        self.found.errors.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
    }

    /// Moves past `c`, keeping count of lines and of characters wider than a byte.
    fn pass(&mut self, c: char) {
        self.at += c.len_utf8();
        if c == '\n' || c == '\r' && !self.rest().starts_with('\n') {
            self.line = self.at;
            self.first = true;
        } else {
            self.line += c.len_utf8() - 1;
        }
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let text = self.rest().get(..length).unwrap_or("");
        let column = self.at - self.line;
        self.found.tokens.push(Token { kind, text, start: self.at, column, first: self.first });
        self.first = false;
        for c in text.chars() {
            self.pass(c);
        }
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return };
        if c == '\t' {
            self.pass(c);
            if !self.tab {
                self.tab = true;
                self.error("E0105", self.at - 1, "expected spaces, found a tab", "columns matter: indent with spaces");
            }
        } else if matches!(c, ' ' | '\n' | '\r') {
            self.pass(c);
        } else if rest.starts_with("//") {
            self.line_comment();
        } else if rest.starts_with("(*)") || rest.starts_with("(**)") {
            // Functions, not comments: as F# has it for the first, and as one would expect of the second.
            let operator = if rest.starts_with("(*)") { 1 } else { 2 };
            self.push(TokenKind::Mark, 1);
            self.push(TokenKind::Operator, operator);
            self.push(TokenKind::Mark, 1);
        } else if rest.starts_with("(*") {
            self.block_comment();
        } else if is_name_start(c) {
            let length = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
            let reserved = rest.get(..length).is_some_and(|word| RESERVED.contains(&word));
            self.push(if reserved { TokenKind::Keyword } else { TokenKind::Name }, length);
        } else if c.is_ascii_digit() {
            self.number();
        } else if c == '"' {
            self.string();
        } else if rest.starts_with("<- ") && self.text.get(..self.at).is_some_and(|before| before.ends_with(' ')) {
            let start = self.at;
            self.push(TokenKind::Stray, 2);
            self.error("E0105", start, "expected an operator, found `<-`", "less than minus b is `a < -b`");
        } else if rest.starts_with(">=>") {
            // `Vector<n>=> T`: no operator is written so.
            self.push(TokenKind::Operator, 1);
        } else if rest.starts_with('.') && rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) {
            if !self.follows_operand() {
                return self.number();
            }
            let start = self.at;
            let digits = rest.get(1..).unwrap_or("");
            let length = 1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let text = rest.get(..length).unwrap_or("");
            self.push(TokenKind::Number, length);
            self.error(
                "E0106",
                start,
                format!("expected a blank before `{text}`"),
                "a field has a name; a number stands apart from what is before it",
            );
        } else if rest.starts_with('.') && rest.get(1..).is_some_and(|rest| rest.starts_with(is_name_start)) && self.follows_operand() {
            self.push(TokenKind::Mark, 1);
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark) && **mark != ".") {
            self.push(TokenKind::Mark, mark.len());
        } else if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            self.push(TokenKind::Operator, operator.len());
        } else if c == '|' {
            // after `||`, `|>` and `|]`
            self.push(TokenKind::Mark, 1);
        } else {
            self.stray(c);
        }
    }

    /// Whether what comes stands right behind an operand.
    fn follows_operand(&self) -> bool {
        self.found.tokens.last().is_some_and(|before| before.end() == self.at && ends_operand(before))
    }

    fn line_comment(&mut self) {
        let rest = self.rest();
        let length = rest.find(LINE_ENDS).unwrap_or(rest.len());
        let comment = rest.get(..length).unwrap_or("");
        if let Some(doc) = comment.strip_prefix("///")
            && !doc.starts_with('/')
            && self.first
        {
            self.found.docs.push((self.at, doc.strip_prefix(' ').unwrap_or(doc).trim_end()));
        }
        // The newline ends the line; widths inside the comment do not matter.
        self.at += length;
        self.found.is_open = self.at == self.text.len();
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut depth = 0usize;
        while let Some(c) = self.rest().chars().next() {
            let rest = self.rest();
            if rest.starts_with("(*)") {
                self.at += 3;
            } else if rest.starts_with("(*") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*)") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                // A token after a comment is still the first of its line only if nothing stood before the comment.
                self.pass(c);
            }
        }
        self.found.is_open = true;
        let span = Span::new(self.file, start, start + 2);
        self.found.errors.push(
            Diagnostic::error("E0104", span, "expected `*)`, found the end of the file").help("close the comment with `*)`; comments nest"),
        );
    }

    fn number(&mut self) {
        let rest = self.rest();
        let digits = |from: usize| {
            let tail = rest.get(from..).unwrap_or("");
            from + tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len())
        };
        let follows = |at: usize, c: char| rest.get(at..).is_some_and(|tail| tail.starts_with(c));
        let mut end = digits(0);
        // `v[2..4]`: two dots end a number
        if follows(end, '.') && !follows(end + 1, '[') && !follows(end + 1, '.') {
            end = digits(end + 1);
        }
        if follows(end, 'e') || follows(end, 'E') {
            let sign = if follows(end + 1, '+') || follows(end + 1, '-') { 1 } else { 0 };
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        let tail = rest.get(end..).unwrap_or("");
        let junk = tail.find(|c| !is_name_part(c)).unwrap_or(tail.len());
        let start = self.at;
        self.push(TokenKind::Number, end + junk);
        if junk > 0 {
            let text = rest.get(..end + junk).unwrap_or("");
            self.error(
                "E0106",
                start,
                format!("expected a number, found `{}`", shortened(text)),
                if text.get(end..).is_some_and(|tail| ["f", "F", "L", "l", "u", "U", "d", "m"].contains(&tail)) {
                    "numbers carry no letter for their type: `2.0` is a Double, `2` what its use needs"
                } else {
                    "numbers are written `2`, `1.5`, `1.` or `1.5e-3`; a name starts with a letter"
                },
            );
        }
    }

    fn string(&mut self) {
        let rest = self.rest();
        let start = self.at;
        let body = rest.get(1..).unwrap_or("");
        let end = body.find(|c| c == '"' || LINE_ENDS.contains(&c)).unwrap_or(body.len());
        if body.get(end..).is_some_and(|tail| tail.starts_with('"')) {
            self.push(TokenKind::Text, end + 2);
        } else {
            self.at += end + 1;
            self.found.is_open = end == body.len();
            self.error("E0104", start, "expected `\"`, found the end of the line", "close the file name with `\"`");
        }
    }

    /// One report for a run of characters that start no token. `phrase` says more of those that other languages have.
    fn stray(&mut self, c: char) {
        let start = self.at;
        let help = match c {
            '.' => "index with `a[i]`; a field of a record is `c.focal`, without blanks",
            _ if c.is_ascii() => "remove it; operators are + - * / % ** = <> < <= > >= && ||",
            _ => "names and operators are ASCII; comments may hold anything",
        };
        let (column, first) = (self.at - self.line, self.first);
        while let Some(c) = self.rest().chars().next() {
            let known = c.is_whitespace() && c.is_ascii()
                || is_name_part(c) && c != '\''
                || matches!(c, '"' | '×' | '.' | '|')
                || OPERATORS.iter().chain(&MARKS).any(|known| self.rest().starts_with(*known));
            if known && self.at > start {
                break;
            }
            self.pass(c);
        }
        let text = self.text.get(start..self.at).unwrap_or("");
        let shown = shortened(text).escape_debug().to_string();
        self.found.tokens.push(Token { kind: TokenKind::Stray, text, start, column, first });
        self.first = false;
        self.error("E0105", start, format!("expected a name, a number or an operator, found `{shown}`"), help);
    }
}
