//! Places in a text, as editors count them: lines and UTF-16 units in a line, both from 0.
//!
//! In: a text. Out: byte offsets for positions, and positions for byte offsets. What lies beyond the end of a line or of the text
//! is that end; what lies inside a character is its start. Lines end with `\n`, `\r\n` or `\r`.
//!
//!     "é𝄞x": byte 6 is position 0:3, since 𝄞 takes two units

use lsp_types::{Position, Range};

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub fn new(text: &str) -> Lines {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Lines { starts }
    }

    /// The bytes of a line without what ends it.
    fn line<'t>(&self, text: &'t str, line: usize) -> Option<(usize, &'t str)> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        Some((start, text.get(start..end)?.trim_end_matches(['\n', '\r'])))
    }

    /// The byte offset of a position.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let Some((start, line)) = self.line(text, position.line as usize) else { return text.len() };
        let mut units = position.character as usize;
        for (at, c) in line.char_indices() {
            if units < c.len_utf16() {
                return start + at;
            }
            units -= c.len_utf16();
        }
        start + line.len()
    }

    /// The position of a byte offset.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let units = text.get(start..offset).map_or(0, |before| before.encode_utf16().count());
        Position::new(line as u32, units as u32)
    }

    pub fn range(&self, text: &str, start: usize, end: usize) -> Range {
        Range::new(self.position(text, start), self.position(text, end.max(start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_utf16() {
        let text = "é𝄞x\r\ny\rz\n";
        let lines = Lines::new(text);
        for (offset, line, character) in [(0, 0, 0), (2, 0, 1), (6, 0, 3), (7, 0, 4), (9, 1, 0), (11, 2, 0), (13, 3, 0)] {
            assert_eq!(lines.position(text, offset), Position::new(line, character), "{offset}");
            assert_eq!(lines.offset(text, Position::new(line, character)), offset);
        }
        // inside the surrogate pair, beyond a line, beyond the text, inside a character
        assert_eq!(lines.offset(text, Position::new(0, 2)), 2);
        assert_eq!(lines.offset(text, Position::new(0, 99)), 7);
        assert_eq!(lines.offset(text, Position::new(99, 0)), text.len());
        assert_eq!(lines.position(text, 4), Position::new(0, 1));
        assert_eq!(lines.position(text, 9999), Position::new(3, 0));
        let empty = Lines::new("");
        assert_eq!((empty.offset("", Position::new(0, 5)), empty.position("", 3)), (0, Position::new(0, 0)));
    }
}
