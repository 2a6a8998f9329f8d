//! Source files and places in them.
//!
//! In: the text of each file a compilation reads. Out: [`Span`]s, byte ranges that every stage carries
//! along, and the line a diagnostic underlines.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// A byte range in one file of a [`SourceMap`]; `Span::NONE` for terms that the compiler made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: u32,
    pub start: u32,
    pub end: u32,
    /// Of a term: it is a whole derivative form, or what differentiation made of one.
    pub is_derivative: bool,
}

impl Span {
    pub const NONE: Span = Span { file: u32::MAX, start: 0, end: 0, is_derivative: false };

    pub fn new(file: u32, start: usize, end: usize) -> Span {
        Span { file, start: start as u32, end: end as u32, is_derivative: false }
    }

    /// The place of a derivative form.
    pub fn of_derivative(self) -> Span {
        Span { is_derivative: true, ..self }
    }

    pub fn is_none(self) -> bool {
        self.file == u32::MAX
    }

    /// Whether the other one is a part of it.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        if self.is_none() || self.file != other.file {
            return if self.is_none() { other } else { self };
        }
        Span { start: self.start.min(other.start), end: self.end.max(other.end), ..self }
    }
}

/// One source file: the name that diagnostics show, and its text, [`with_line_feeds`].
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
        self.files.push(SourceFile { name: name.into(), text: (&*with_line_feeds(text)).into() });
        (self.files.len() - 1) as u32
    }

    /// The number of a file that the first one opens: the one that it has, where it was opened before.
    pub fn open(&mut self, name: &str, text: &str) -> u32 {
        let text = &*with_line_feeds(text);
        let known = self.files.iter().skip(1).position(|file| *file.name == *name && *file.text == *text);
        known.map_or_else(|| self.add(name, text), |at| (at + 1) as u32)
    }

    pub fn file(&self, span: Span) -> Option<&SourceFile> {
        self.files.get(span.file as usize)
    }

    /// The first place inside of a span where a name stands as a word.
    pub fn word(&self, span: Span, name: &str) -> Option<Span> {
        let text = self.file(span)?.text.get(span.start as usize..span.end as usize)?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
        let is_whole = |at: &usize| {
            let (before, after) = (text.get(..*at), text.get(at + name.len()..));
            !before.is_some_and(|before| before.ends_with(is_part)) && !after.is_some_and(|after| after.starts_with(is_part))
        };
        let at = text.match_indices(name).map(|(at, _)| at).find(is_whole)?;
        Some(Span::new(span.file, span.start as usize + at, span.start as usize + at + name.len()))
    }

    /// Line and column of a span's start, both from 1, the column in characters.
    pub fn line_column(&self, span: Span) -> Option<(usize, usize)> {
        let before = self.file(span)?.text.get(..span.start as usize)?;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Some((before.matches('\n').count() + 1, before[line_start..].chars().count() + 1))
    }
}

/// A text whose lines all end with `\n`, some of them with `\r\n`: a `\r` alone, which ends a line too, is a `\n` here. Bytes keep
/// their places.
pub fn with_line_feeds(text: &str) -> Cow<'_, str> {
    let is_alone = |at: usize| text.as_bytes().get(at + 1) != Some(&b'\n');
    if !text.match_indices('\r').any(|(at, _)| is_alone(at)) {
        return Cow::Borrowed(text);
    }
    let ends = text.char_indices().map(|(at, c)| if c == '\r' && is_alone(at) { '\n' } else { c });
    Cow::Owned(ends.collect())
}

/// One spelling for each path, without looking at the disk: `a/./b/../c` is `a/c`.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(normal.components().next_back(), Some(Component::Normal(_))) => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::ParentDir | Component::Normal(_) => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name() {
        for (path, name) in [("./a.smooth", "a.smooth"), ("a/../b", "b"), ("../a", "../a"), ("a/./b/../../c", "c"), ("/a/../../b", "/../b")]
        {
            assert_eq!(normal(Path::new(path)), Path::new(name), "{path}");
        }
    }
}
