//! What layout writes: a text for the grammar, and the way back to the source.
//!
//! In: the tokens and marks that `layout` puts down one after the other. Out: [`Layout`], whose `span` turns
//! a range of the laid-out text into a byte range of the original; marks have no place of their own.
//! Example: in `let f = { x }` (marks as braces) the block's span is that of `x`.

use crate::source::Span;

/// Control characters of the laid-out text; `grammar.pest` names them too.
pub mod mark {
    pub const BEGIN: char = '\u{1}';
    pub const END: char = '\u{2}';
    /// `in`, written or omitted.
    pub const IN: char = '\u{3}';
    /// A line in its block's own column that starts something new; no rule accepts it.
    pub const LINE: char = '\u{4}';
    /// Before a `[` that indexes.
    pub const INDEX: char = '\u{5}';
    /// Before a `-` that starts an argument.
    pub const NEGATIVE: char = '\u{6}';
    /// Before the `(` of `f(x)`.
    pub const CALL: char = '\u{7}';
}

/// A laid-out text and where its tokens came from.
#[derive(Debug, Default)]
pub struct Layout {
    pub text: String,
    pub file: u32,
    /// The rows of `match`es that trees were built of, each as often as it has patterns.
    pub rows: std::cell::Cell<usize>,
    /// Offset in `text`, source start, source end of each token.
    pub(super) places: Vec<(usize, usize, usize)>,
}

impl Layout {
    /// The source range of a piece of the laid-out text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let first = self.places.partition_point(|place| place.0 < start);
        let last = self.places.partition_point(|place| place.0 < end);
        match (self.places.get(first), last.checked_sub(1).and_then(|last| self.places.get(last))) {
            (Some(first), Some(last)) => Span::new(self.file, first.1, last.2.max(first.1)),
            (None, Some(last)) => Span::new(self.file, last.2, last.2),
            (Some(first), None) => Span::new(self.file, first.1, first.1),
            (None, None) => Span::new(self.file, 0, 0),
        }
    }

    /// The first token at or after an offset of the laid-out text: where it is in the source.
    pub fn token_at(&self, at: usize) -> Option<Span> {
        let place = self.places.get(self.places.partition_point(|place| place.0 < at))?;
        Some(Span::new(self.file, place.1, place.2))
    }

    /// The last token.
    pub fn end(&self) -> Span {
        self.places.last().map_or(Span::new(self.file, 0, 0), |place| Span::new(self.file, place.1, place.2))
    }
}
