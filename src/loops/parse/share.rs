//! Loops over tiles, and loops that threads share.
//!
//!     share i < n work 2.0 by vectors { captures v, out written alone … }

use super::statement::PAST_COMPARISON;
use super::{Parsed, Parser};
use crate::loops::program::ranges::ANY;
use crate::loops::program::*;
use crate::source::Span;

impl Parser<'_> {
    /// The rest of a loop over tiles, from the name of its lane on.
    pub fn tiles(&mut self, stmt: impl FnOnce(Block, Lanes) -> Stmt) -> Parsed<Stmt> {
        let text = self.ident()?;
        let lane = self.names.declare(&text, Elem::Index, Form::Scalar { mutable: false })?;
        self.known(lane, ANY)?;
        self.punct("{")?;
        self.end()?;
        let (mut panels, mut tiles) = (Vec::new(), Vec::new());
        loop {
            self.skip_lines();
            if self.takes("panel") {
                panels.push(self.panel()?);
            } else if self.takes("tile") {
                let base = self.local()?;
                let mut rows = self.listed("[", "]", Parser::value)?;
                let (row, _) = rows.pop().ok_or("expected a row")?;
                self.word("columns")?;
                let mut columns = vec![self.subscripts(base)?];
                while self.takes_sign(",") {
                    columns.push(self.subscripts(base)?);
                }
                tiles.push(Tile { base, row, columns });
            } else {
                break;
            }
            self.end()?;
        }
        let body = self.block()?;
        self.punct("}")?;
        self.end()?;
        Ok(stmt(body, Lanes::Tile(Box::new(Tiles { lane, panels, tiles }))))
    }

    fn panel(&mut self) -> Parsed<Panel> {
        let text = self.ident()?;
        let layout = if self.takes("rows") { Layout::Rows } else { Layout::Columns };
        if layout == Layout::Columns {
            self.word("columns")?;
        }
        self.word("of")?;
        let from = self.pointer()?;
        self.word("apart")?;
        let stride = self.small()?;
        self.word("wide")?;
        let width = self.small()?;
        let elem = self.names.locals[from.base].elem;
        let id = self.names.declare(&text, elem, Form::Source { mutable: false })?;
        Ok(Panel { id, from, stride, width, layout })
    }

    fn small(&mut self) -> Parsed<i64> {
        i64::try_from(self.integer()?).map_err(|_| "the number is too large".into())
    }

    /// The rest of a shared loop, after its first word.
    pub fn share(&mut self) -> Parsed<Stmt> {
        let mut loops = Vec::new();
        loop {
            let text = self.ident()?;
            loops.push(self.names.later(&text));
            if !self.takes_sign(",") {
                break;
            }
        }
        self.punct("<")?;
        let (count, _) = self.infix(PAST_COMPARISON)?;
        self.word("work")?;
        let (work, _) = self.infix(PAST_COMPARISON)?;
        let in_lanes = self.takes("by");
        if in_lanes {
            self.word("vectors")?;
        }
        let slice = if self.takes("slice") { Some(self.slice()?) } else { None };
        self.punct("{")?;
        self.end()?;
        self.skip_lines();
        let mut captured = Vec::new();
        if self.takes("captures") {
            loop {
                let id = self.local()?;
                captured.push(Captured { id, written: self.takes("written"), alone: self.takes("alone") });
                if !self.takes_sign(",") {
                    break;
                }
            }
            self.end()?;
        }
        let mut totals = Vec::new();
        self.skip_lines();
        while self.takes("total") {
            totals.push(self.total()?);
            self.skip_lines();
        }
        let body = self.block()?;
        self.punct("}")?;
        self.end()?;
        Ok(Stmt::Share(Share { count, body, loops, in_lanes, work, slice, totals, captured, span: Span::NONE }))
    }

    fn slice(&mut self) -> Parsed<Slice> {
        let number = usize::try_from(self.integer()?).map_err(|_| "the number of a slice is negative")?;
        let args = self.listed("(", ")", Parser::local)?;
        let place = |id: &Id| self.names.measured.iter().position(|other| other == id).ok_or("a slice is measured by parameters");
        let args = args.iter().map(place).collect::<std::result::Result<_, _>>()?;
        Ok(Slice { number, args })
    }

    fn total(&mut self) -> Parsed<Total> {
        let id = self.local()?;
        let length = if self.peek_is("[") {
            let mut lengths = self.listed("[", "]", Parser::value)?;
            Some(lengths.pop().ok_or("expected a length")?.0)
        } else {
            None
        };
        self.word("of")?;
        let text = self.ident()?;
        let part = match length {
            None => self.names.later(&text),
            Some(_) => {
                let elem = self.names.locals[id].elem;
                self.names.declare(&text, elem, Form::Target { mutable: false })?
            }
        };
        self.punct("{")?;
        self.end()?;
        self.skip_lines();
        let start = self.stmt()?;
        self.skip_lines();
        let join = self.stmt()?;
        self.skip_lines();
        self.punct("}")?;
        self.end()?;
        Ok(Total { id, part, length, start, join })
    }
}
