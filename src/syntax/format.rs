//! The same program in the house's form: blanks, indentation and empty lines.
//!
//! In: the text of a file that parses. Out: its text with one blank around operators and behind commas, two blanks of
//! indentation for each level, at most one empty line in a row; words, lines and comments are as they were. What a column means
//! is never changed: each declaration is read again, and where two blanks a level would make another program of it (a block
//! that begins in the middle of a line), its lines keep the distances that they had.
//!
//!     let f  x=        let f x =
//!         x*x     →      x * x

use super::groups::Group;
use super::laid_out::Layout;
use super::layout::Goal;
use super::parse::{parse, pieces};
use super::scanner::tokenize;
use super::tokens::ends_operand;
use super::tokens::{Token, TokenKind, Tokens};
use crate::diagnostic::Diagnostic;
use crate::source::with_line_feeds;

/// A file's text in the house's form; what is wrong with a file that does not parse.
pub fn format(text: &str, file: u32) -> Result<String, Vec<Diagnostic>> {
    let text = &*with_line_feeds(text);
    parse(text, file)?;
    let found = tokenize(text, file);
    let lines = Line::all(text, &heads_apart(&found.tokens));
    let mut out = String::with_capacity(text.len());
    for lines in lines.chunk_by(|_, next| !next.starts_declaration()) {
        let meaning = meaning(&Indent::AsItWas.write(lines));
        let forms = [Indent::Levels, Indent::Moved, Indent::Kept];
        let form = forms.iter().map(|indent| indent.write(lines)).find(|form| self::meaning(form) == meaning);
        out.push_str(&form.unwrap_or_else(|| Indent::AsItWas.write(lines)));
    }
    let ended = format!("{}\n", out.trim_matches('\n'));
    let same = if out.trim_matches('\n').is_empty() { String::new() } else { ended };
    Ok(if self::meaning(&same) == self::meaning(text) { same } else { text.to_string() })
}

/// What a text says, wherever it stands: its words and their layout, and the lines of documentation.
fn meaning(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let Tokens { tokens, docs, errors, .. } = tokenize(text, 0);
    let tokens = heads_apart(&tokens);
    let layouts = pieces(&tokens).map(|piece| {
        let declares_values = match piece.first().map(|token| token.text) {
            Some("let") => true,
            Some("and") => Group::of(piece) == Some(Group::Functions),
            Some(_) | None => false,
        };
        Layout::new(piece, 0, if declares_values { Goal::Declaration } else { Goal::Words }).map(|layout| layout.text)
    });
    let layouts = layouts.collect::<Result<_, _>>().ok()?;
    errors.is_empty().then(|| (layouts, docs.into_iter().map(|(_, line)| line.to_string()).collect()))
}

/// The tokens, with each `>=` that ends a type and begins what is declared as two: `let v : Vector<n>= e`.
fn heads_apart<'t>(tokens: &[Token<'t>]) -> Vec<Token<'t>> {
    let mut apart = Vec::with_capacity(tokens.len());
    // the brackets around each head that goes on
    let (mut depth, mut heads) = (0usize, Vec::new());
    for token in tokens {
        match token.text {
            "(" | "[" | ".[" | "[|" | "{" => depth += 1,
            ")" | "]" | "|]" | "}" => {
                depth = depth.saturating_sub(1);
                heads.retain(|head| *head <= depth);
            }
            "let" | "and" | "type" => heads.push(depth),
            "=" | ">=" if heads.last() == Some(&depth) => {
                heads.pop();
                if let (">=", (end, start)) = (token.text, token.text.split_at(1)) {
                    apart.push(Token { text: end, ..*token });
                    apart.push(Token { text: start, start: token.start + 1, column: token.column + 1, first: false, ..*token });
                    continue;
                }
            }
            _ => {}
        }
        apart.push(*token);
    }
    apart
}

/// What stands on a line.
enum Item<'t> {
    Token(Token<'t>),
    /// A comment to the end of the line, or one that ends before.
    Line(&'t str),
    Block(&'t str),
}

impl Item<'_> {
    fn text(&self) -> &str {
        match self {
            Item::Token(token) => token.text,
            Item::Line(text) | Item::Block(text) => text,
        }
    }
}

/// A line of the text, or several where a comment goes on.
#[derive(Default)]
struct Line<'t> {
    /// Each with the number of blanks before it.
    items: Vec<(usize, Item<'t>)>,
}

impl<'t> Line<'t> {
    /// The lines of a text, whose comments stand between its tokens.
    fn all(text: &'t str, tokens: &[Token<'t>]) -> Vec<Line<'t>> {
        let mut lines = vec![Line::default()];
        let mut at = 0;
        for token in tokens {
            Line::gap(text.get(at..token.start).unwrap_or(""), Some(*token), &mut lines);
            at = token.end();
        }
        Line::gap(text.get(at..).unwrap_or(""), None, &mut lines);
        lines
    }

    /// What stands between two tokens, and the second of them.
    fn gap(gap: &'t str, next: Option<Token<'t>>, lines: &mut Vec<Line<'t>>) {
        let mut rest = gap;
        let mut blanks = 0;
        while let Some(c) = rest.chars().next() {
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("(*") {
                block_length(rest)
            } else {
                c.len_utf8()
            };
            let (part, after) = rest.split_at(length);
            rest = after;
            match c {
                '\n' => {
                    lines.push(Line::default());
                    blanks = 0;
                }
                '/' => Line::put(Item::Line(part.trim_end()), blanks, lines),
                '(' => {
                    Line::put(Item::Block(part), blanks, lines);
                    blanks = 0;
                }
                '\r' | '\u{feff}' => {}
                _ => blanks += 1,
            }
        }
        next.into_iter().for_each(|token| Line::put(Item::Token(token), blanks, lines));
    }

    fn put(item: Item<'t>, blanks: usize, lines: &mut [Line<'t>]) {
        if let Some(line) = lines.last_mut() {
            line.items.push((blanks, item));
        }
    }

    fn column(&self) -> usize {
        self.items.first().map_or(0, |(blanks, _)| *blanks)
    }

    fn starts_declaration(&self) -> bool {
        matches!(self.items.first(), Some((0, Item::Token(token))) if matches!(token.text, "let" | "and" | "open" | "type"))
    }

    /// The line without its indentation, and for each item its column before and now.
    fn write(&self, spaced: bool, indent: usize, out: &mut String, columns: &mut Vec<(usize, usize)>) {
        let start = out.len();
        out.extend(std::iter::repeat_n(' ', indent));
        let (mut old, mut prefix) = (0, false);
        for (at, (blanks, item)) in self.items.iter().enumerate() {
            old += blanks;
            if let Some((_, before)) = at.checked_sub(1).and_then(|at| self.items.get(at)) {
                let next_blanks = self.items.get(at + 1).map(|(blanks, _)| *blanks);
                let count = match (spaced, before, item) {
                    (true, Item::Token(before), Item::Token(token)) => {
                        let closes = matches!(self.items.get(at + 1), Some((_, Item::Token(token))) if token.text == ")");
                        let sign = is_sign(token) && !closes && is_prefix(before, *blanks, next_blanks);
                        let count = gap(before, prefix, token, sign, *blanks);
                        prefix = sign;
                        count
                    }
                    (true, _, Item::Line(_)) => (*blanks).max(1),
                    (true, _, _) => 1.min(*blanks),
                    (false, _, _) => *blanks,
                };
                out.extend(std::iter::repeat_n(' ', count));
            } else if let Item::Token(token) = item {
                // in front of a line it may be an operator
                prefix = is_sign(token) && self.items.get(1).is_some_and(|(blanks, _)| *blanks == 0);
            }
            columns.push((old, out.get(start..).unwrap_or("").chars().count()));
            out.push_str(item.text());
            old += item.text().chars().count();
        }
        out.push('\n');
    }
}

fn block_length(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("(*)") {
            at += 3;
        } else if rest.starts_with("(*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*)") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// How lines are indented.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Indent {
    /// Two blanks for each level.
    Levels,
    /// A line that began below something goes along with it.
    Moved,
    /// As before, words as everywhere.
    Kept,
    AsItWas,
}

impl Indent {
    /// The lines of a declaration, and what stands before the next one.
    fn write(self, lines: &[Line]) -> String {
        let mut out = String::new();
        // the columns of the lines that this one is inside of, before and now
        let mut levels: Vec<(usize, usize)> = Vec::new();
        let mut brackets = 0usize;
        // the columns of what was written so far, before and now
        let mut columns: Vec<(usize, usize)> = Vec::new();
        let mut empty = false;
        for line in lines {
            if line.items.is_empty() {
                empty = true;
                continue;
            }
            if std::mem::take(&mut empty) {
                out.push('\n');
            }
            let column = line.column();
            let is_comment = !line.items.iter().any(|(_, item)| matches!(item, Item::Token(_)));
            let below = columns.iter().rev().find(|(old, _)| *old == column).map(|(_, new)| *new);
            let indent = match self {
                Indent::Kept | Indent::AsItWas => column,
                Indent::Moved => below.unwrap_or(column),
                Indent::Levels => {
                    let inside = levels.iter().rposition(|(level, _)| *level < column).map_or(0, |at| at + 1);
                    let level = inside.checked_sub(1).and_then(|at| levels.get(at)).map_or(0, |(_, new)| new + 2);
                    // what stands in brackets may stand below what is first in them
                    let indent = below.filter(|_| brackets > 0).unwrap_or(level);
                    if !is_comment {
                        levels.truncate(inside);
                        levels.push((column, indent));
                    }
                    indent
                }
            };
            line.write(self != Indent::AsItWas, indent, &mut out, &mut columns);
            for (_, item) in &line.items {
                match item {
                    Item::Token(token) if matches!(token.text, "(" | "[" | ".[" | "[|" | "{") => brackets += 1,
                    Item::Token(token) if matches!(token.text, ")" | "]" | "|]" | "}") => brackets = brackets.saturating_sub(1),
                    Item::Token(_) | Item::Line(_) | Item::Block(_) => {}
                }
            }
        }
        if empty {
            out.push('\n');
        }
        out
    }
}

fn is_sign(token: &Token) -> bool {
    token.kind == TokenKind::Operator && matches!(token.text, "-" | "+")
}

/// Whether a sign belongs to what follows it: `f -x`, `(-x`, `= -x`.
fn is_prefix(before: &Token, blanks: usize, after: Option<usize>) -> bool {
    !ends_operand(before) || blanks > 0 && after == Some(0)
}

/// The blanks between two words. `prefix`: the first is a sign of what follows; `sign`: the second is.
fn gap(a: &Token, prefix: bool, b: &Token, sign: bool, blanks: usize) -> usize {
    let kept = blanks.min(1);
    let is_operator = |token: &Token| token.kind == TokenKind::Operator;
    match (a.text, b.text) {
        // the operator of a section, `(+)`: `(*` would begin a comment
        ("(", _) if is_operator(b) && !sign => kept,
        (_, ")") if is_operator(a) => kept,
        _ if prefix => {
            if is_operator(b) {
                kept
            } else {
                0
            }
        }
        ("(" | "[" | ".[", _) | (_, ")" | "]" | "," | ";") => 0,
        ("[|", "|]") => kept,
        ("{" | "[|", _) | (_, "|]") | (_, "}") | ("," | ";", _) => 1,
        (".." | ".", _) | (_, ".." | ".") => kept,
        (">", "=") => 1,
        ("<" | ">", _) | (_, "<" | ">") => kept,
        ("|", _) | (_, "|") => 1,
        (":", _) => 1,
        (_, ":") => kept,
        ("->" | "=>", _) | (_, "->" | "=>") => 1,
        _ if is_operator(a) || is_operator(b) && !sign => 1,
        _ if sign => {
            if ends_operand(a) {
                1
            } else {
                kept.max(usize::from(a.kind == TokenKind::Keyword))
            }
        }
        _ if is_word(a) || is_word(b) => 1,
        _ => kept,
    }
}

/// `if`, `then` and their like: `true` and `false` are values.
fn is_word(token: &Token) -> bool {
    token.kind == TokenKind::Keyword && !matches!(token.text, "true" | "false")
}
