//! The words of a text, and what every part of the parser asks of them.
//!
//!     i.1 < n {   →   the name i.1, `<`, the name n, `{`, the end of the line

use super::{Parsed, Parser};

/// One word, with what decides whether it belongs to the one before.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Ident {
        text: String,
        glued: bool,
    },
    Number {
        text: String,
        glued: bool,
    },
    Punct(&'static str),
    /// What follows `//` to the end of the line.
    Note(String),
    /// What follows `///`.
    Doc(String),
    End,
}

const PUNCTUATION: &[&str] = &[
    "..=", "&&", "||", "<>", "<=", ">=", "+~", "-~", "*~", "/~", "%~", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{",
    "}", ",", ":", "?", "&",
];

/// All tokens of a text.
pub fn tokens(text: &str) -> Parsed<Vec<Token>> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        words(line, &mut tokens).map_err(|problem| format!("line {}: {problem}", number + 1))?;
        tokens.push(Token::End);
    }
    Ok(tokens)
}

fn words(line: &str, tokens: &mut Vec<Token>) -> Parsed<()> {
    let mut rest = line;
    let mut glued = false;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
            glued = false;
            continue;
        }
        if let Some(doc) = rest.strip_prefix("///") {
            tokens.push(Token::Doc(doc.strip_prefix(' ').unwrap_or(doc).to_string()));
            return Ok(());
        }
        if let Some(note) = rest.strip_prefix("//") {
            tokens.push(Token::Note(note.trim().to_string()));
            return Ok(());
        }
        let second = rest[first.len_utf8()..].chars().next();
        let length = if first.is_ascii_digit() {
            let length = number_length(rest);
            tokens.push(Token::Number { text: rest[..length].to_string(), glued });
            length
        } else if first.is_alphabetic() || first == '_' || first == '?' && second.is_some_and(char::is_alphanumeric) {
            let length = ident_length(rest);
            tokens.push(Token::Ident { text: rest[..length].to_string(), glued });
            length
        } else {
            let sign = PUNCTUATION.iter().find(|sign| rest.starts_with(**sign)).ok_or_else(|| format!("`{first}` is no sign"))?;
            tokens.push(Token::Punct(sign));
            sign.len()
        };
        rest = &rest[length..];
        glued = true;
    }
    Ok(())
}

fn digits(text: &str) -> usize {
    text.chars().take_while(char::is_ascii_digit).count()
}

/// `12`, `1.5`, `1e-7`; `0..=9` begins with `0`.
fn number_length(text: &str) -> usize {
    let mut length = digits(text);
    if let Some(fraction) = text[length..].strip_prefix('.')
        && digits(fraction) > 0
    {
        length += 1 + digits(fraction);
    }
    if let Some(exponent) = text[length..].strip_prefix('e') {
        let sign = usize::from(exponent.starts_with('-'));
        if digits(&exponent[sign..]) > 0 {
            length += 1 + sign + digits(&exponent[sign..]);
        }
    }
    length
}

/// `x`, `x'`, `x.2`, `?x.2`, `?0`.
fn ident_length(text: &str) -> usize {
    let is_part = |(at, c): &(usize, char)| c.is_alphanumeric() || matches!(c, '_' | '\'') || *at == 0;
    let length: usize = text.char_indices().take_while(is_part).map(|(_, c)| c.len_utf8()).sum();
    match text[length..].strip_prefix('.') {
        Some(number) if digits(number) > 0 => length + 1 + digits(number),
        Some(_) | None => length,
    }
}

impl Parser<'_> {
    /// The number of the line that is read.
    pub fn line(&self) -> usize {
        1 + self.tokens[..self.at.min(self.tokens.len())].iter().filter(|token| **token == Token::End).count()
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub fn peek_token(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    pub fn peek_word(&self) -> Option<&str> {
        match self.peek_token() {
            Some(Token::Ident { text, .. }) => Some(text),
            Some(_) | None => None,
        }
    }

    /// Whether a sign comes next.
    pub fn peek_is(&self, sign: &str) -> bool {
        matches!(self.peek_token(), Some(Token::Punct(other)) if *other == sign)
    }

    /// Whether a sign comes after the next token.
    pub fn then_is(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + 1), Some(Token::Punct(other)) if *other == sign)
    }

    /// Takes a word if it comes next.
    pub fn takes(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        self.at += usize::from(found);
        found
    }

    /// Takes a sign if it comes next.
    pub fn takes_sign(&mut self, sign: &str) -> bool {
        let found = self.peek_is(sign);
        self.at += usize::from(found);
        found
    }

    pub fn word(&mut self, word: &str) -> Parsed<()> {
        if self.takes(word) { Ok(()) } else { Err(format!("expected `{word}`, found {}", self.found())) }
    }

    pub fn punct(&mut self, sign: &str) -> Parsed<()> {
        if self.takes_sign(sign) { Ok(()) } else { Err(format!("expected `{sign}`, found {}", self.found())) }
    }

    pub fn ident(&mut self) -> Parsed<String> {
        match self.peek_word().map(str::to_string) {
            Some(text) => {
                self.at += 1;
                Ok(text)
            }
            None => Err(format!("expected a name, found {}", self.found())),
        }
    }

    /// A whole number with its sign.
    pub fn integer(&mut self) -> Parsed<i128> {
        let negative = self.takes_sign("-");
        match self.peek_token() {
            Some(Token::Number { text, .. }) => {
                let value: i128 = text.parse().map_err(|_| format!("`{text}` is no whole number"))?;
                self.at += 1;
                Ok(if negative { -value } else { value })
            }
            Some(_) | None => Err(format!("expected a number, found {}", self.found())),
        }
    }

    /// Items between two signs, with commas.
    pub fn listed<T>(&mut self, open: &str, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.punct(open)?;
        let mut items = Vec::new();
        if self.takes_sign(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.takes_sign(",") {
                break;
            }
        }
        self.punct(close)?;
        Ok(items)
    }

    pub fn found(&self) -> String {
        match self.peek_token() {
            Some(Token::Ident { text, .. } | Token::Number { text, .. }) => format!("`{text}`"),
            Some(Token::Punct(sign)) => format!("`{sign}`"),
            Some(Token::Note(_) | Token::Doc(_)) => "a comment".to_string(),
            Some(Token::End) => "the end of the line".to_string(),
            None => "the end of the text".to_string(),
        }
    }

    /// Ends a line.
    pub fn end(&mut self) -> Parsed<()> {
        if let Some(Token::Note(_)) = self.peek_token() {
            self.at += 1;
        }
        match self.peek_token() {
            Some(Token::End) => {
                self.at += 1;
                Ok(())
            }
            None => Ok(()),
            Some(_) => Err(format!("expected the end of the line, found {}", self.found())),
        }
    }

    /// Skips empty lines and comments.
    pub fn skip_lines(&mut self) {
        while let Some(Token::End | Token::Note(_)) = self.peek_token() {
            self.at += 1;
        }
    }

    pub fn skip_newlines(&mut self) {
        while let Some(Token::End) = self.peek_token() {
            self.at += 1;
        }
    }
}
