//! Source files and places in them.
//!
//! In: the text of each file a compilation reads. Out: [`Span`]s, byte ranges that every stage carries
//! along, and the line a diagnostic underlines.

use std::rc::Rc;

/// A byte range in one file of a [`SourceMap`]; `Span::NONE` for terms that the compiler made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: u32,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const NONE: Span = Span { file: u32::MAX, start: 0, end: 0 };

    pub fn new(file: u32, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32 }
    }

    pub fn is_none(self) -> bool {
        self.file == u32::MAX
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        if self.is_none() || self.file != other.file {
            return if self.is_none() { other } else { self };
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One source file: the name that diagnostics show, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: Rc<str>,
    pub text: Rc<str>,
}

/// All files of one compilation; a file's number is its index.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    pub files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file and gives its number.
    pub fn add(&mut self, name: &str, text: &str) -> u32 {
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        (self.files.len() - 1) as u32
    }

    pub fn file(&self, span: Span) -> Option<&SourceFile> {
        self.files.get(span.file as usize)
    }

    /// Line and column of a span's start, both from 1, the column in characters.
    pub fn line_column(&self, span: Span) -> Option<(usize, usize)> {
        let before = self.file(span)?.text.get(..span.start as usize)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }
}
