//! Loops over tiles, and loops that threads share, as emitted C runs them.
//!
//!     share i < 10 …, two threads   →   iterations 0 to 4, then 5 to 9, each with the locals that a part takes along

use super::memory::Place as Address;
use super::value::slice;
use super::{Cell, Evaluated, Flow, Frame, Machine, Slot};
use crate::loops::program::*;

impl<'p> Machine<'p> {
    /// As many rows at a time as there are lanes; those without a row compute the last one again.
    pub fn tiles(&mut self, frame: &mut Frame<'p>, i: Id, (from, end): (i64, i64), body: &'p [Stmt], tiles: &'p Tiles) -> Evaluated<Flow> {
        let lanes = self.real().lanes() as i64;
        for first in (from..end).step_by(lanes as usize) {
            let rows = lanes.min(end - first);
            frame.slots[i] = Some(Slot::Cell(Cell::Index(first)));
            for panel in &tiles.panels {
                let place = match panel.layout {
                    Layout::Rows => self.rows(frame, panel, lanes, rows)?,
                    Layout::Columns => self.columns(frame, panel, tiles.lane, lanes)?,
                };
                frame.slots[panel.id] = Some(Slot::Place(place));
            }
            let mut starts = Vec::new();
            for tile in &tiles.tiles {
                let row = self.index(frame, &tile.row)?;
                let Address { array, offset } = frame.place(tile.base)?;
                starts.push(Address { array, offset: offset + row * tile.columns.len() as i64 });
            }
            for lane in 0..lanes {
                frame.slots[tiles.lane] = Some(Slot::Cell(Cell::Index(lane)));
                frame.slots[i] = Some(Slot::Cell(Cell::Index(first + lane.min(rows - 1))));
                for stmt in body {
                    self.step()?;
                    match column(stmt, &tiles.tiles) {
                        Some((at, column, value)) => {
                            let cell = self.value(frame, value)?.of(Elem::Double)?;
                            let Address { array, offset } = starts[at];
                            let width = tiles.tiles[at].columns.len() as i64;
                            if lane < rows {
                                self.memory.write(Address { array, offset: offset + lane * width + column as i64 }, cell)?;
                            }
                        }
                        None => {
                            let flow = self.block(frame, std::slice::from_ref(stmt))?;
                            if !matches!(flow, Flow::Next) {
                                return Ok(flow);
                            }
                        }
                    }
                }
            }
            tiles.panels.iter().try_for_each(|panel| frame.place(panel.id).map(|place| self.memory.end(place)))?;
        }
        Ok(Flow::Next)
    }

    /// The rows that a tile reads, as they lie in the matrix.
    fn rows(&mut self, frame: &mut Frame<'p>, panel: &'p Panel, lanes: i64, rows: i64) -> Evaluated<Address> {
        let Address { array, offset } = self.pointer(frame, &panel.from)?;
        let length = usize::try_from(panel.stride * lanes).map_err(|_| "a panel is too large")?;
        let copy = self.memory.array(vec![None; length.max(panel.width.max(0) as usize)]);
        for lane in 0..lanes {
            for k in 0..panel.width {
                let cell = self.memory.read(Address { array, offset: offset + lane.min(rows - 1) * panel.stride + k })?;
                self.memory.write(Address { array: copy.array, offset: lane * panel.stride + k }, cell)?;
            }
        }
        Ok(copy)
    }

    /// Copies of the rows that the lanes choose, column by column.
    fn columns(&mut self, frame: &mut Frame<'p>, panel: &'p Panel, lane: Id, lanes: i64) -> Evaluated<Address> {
        let length = usize::try_from(panel.width * lanes).map_err(|_| "a panel is too large")?;
        let copy = self.memory.array(vec![None; length]);
        for at in 0..lanes {
            frame.slots[lane] = Some(Slot::Cell(Cell::Index(at)));
            let Address { array, offset } = self.pointer(frame, &panel.from)?;
            for k in 0..panel.width {
                let cell = self.memory.read(Address { array, offset: offset + k })?;
                self.memory.write(Address { array: copy.array, offset: k * lanes + at }, cell)?;
            }
        }
        Ok(copy)
    }

    /// One part, or one for each thread that has room.
    pub fn share(&mut self, frame: &mut Frame<'p>, share: &'p Share) -> Evaluated<Flow> {
        let count = self.index(frame, &share.count)?;
        self.value(frame, &share.work)?.double()?;
        let mut parts = self.threads.min(count).max(1);
        let mut bytes = 0;
        if let Some(slice_of) = &share.slice {
            let mut args = Vec::new();
            for at in &slice_of.args {
                let (id, _) = frame.function.measured.get(*at).ok_or("a slice has no such argument")?;
                args.push(match frame.slot(*id)? {
                    Slot::Cell(cell) => cell,
                    Slot::Place(_) => return Err("a slice is measured by numbers".into()),
                });
            }
            let measure = frame.function.slices.get(slice_of.number).ok_or("there is no such slice")?;
            bytes = self.measure(&measure.measure, &args)?;
            let most = (frame.bytes - frame.taken).checked_div(slice(bytes)).unwrap_or(u64::MAX);
            parts = parts.min(i64::try_from(most).unwrap_or(i64::MAX)).max(1);
        }
        if parts == 1 {
            let totals: Vec<(&Total, Id)> = share.totals.iter().map(|total| (total, total.id)).collect();
            return self.part(frame, share, (0, count), &totals, bytes);
        }
        let mut first = 0;
        for part in 0..parts {
            let mut starts = Vec::new();
            for total in &share.totals {
                if let Some(length) = &total.length {
                    let length = usize::try_from(self.index(frame, length)?.max(0)).map_err(|_| "a total is too large")?;
                    let place = self.memory.array(vec![None; length]);
                    frame.slots[total.part] = Some(Slot::Place(place));
                }
                self.block(frame, std::slice::from_ref(&total.start))?;
                starts.push((total, total.part));
            }
            let taken = frame.taken;
            frame.take(slice(bytes))?;
            let flow = self.part(
                frame,
                share,
                (self.place(share, count, part, parts), self.place(share, count, part + 1, parts)),
                &starts,
                bytes,
            )?;
            frame.taken = taken;
            if let (0, Flow::Status(status)) = (first, &flow) {
                first = *status;
            }
            for total in &share.totals {
                self.block(frame, std::slice::from_ref(&total.join))?;
            }
        }
        Ok(if first == 0 { Flow::Next } else { Flow::Status(first) })
    }

    /// `smooth_part`, or at a multiple of the lanes.
    fn place(&self, share: &Share, count: i64, part: i64, parts: i64) -> i64 {
        if part == parts {
            return count;
        }
        let place = count / parts * part + part.min(count % parts);
        let lanes = self.real().lanes() as i64;
        if share.in_lanes { place / lanes * lanes } else { place }
    }

    /// Some iterations, with the locals that a part takes along; totals are collected in these locals.
    fn part(
        &mut self,
        frame: &mut Frame<'p>,
        share: &'p Share,
        (from, end): (i64, i64),
        totals: &[(&'p Total, Id)],
        bytes: u64,
    ) -> Evaluated<Flow> {
        let mut slots = vec![None; frame.slots.len()];
        for captured in &share.captured {
            slots[captured.id] = Some(frame.slot(captured.id)?);
        }
        for (total, own) in totals {
            slots[total.id] = frame.slots[*own];
        }
        let (function, locals) = (frame.function, frame.locals);
        let mut inner = Frame { function, locals, slots, taken: 0, most: 0, bytes, told: bytes, part: Some((&share.loops, from, end)) };
        let flow = self.block(&mut inner, &share.body)?;
        for (total, own) in totals.iter().filter(|(total, _)| total.length.is_none()) {
            frame.slots[*own] = inner.slots[total.id];
        }
        frame.most = frame.most.max(frame.taken + inner.most);
        Ok(flow)
    }
}

/// The tile and the column that a statement writes, and what.
fn column<'s>(stmt: &'s Stmt, tiles: &[Tile]) -> Option<(usize, usize, &'s Value)> {
    let Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, value } = stmt else { return None };
    let at = tiles.iter().position(|tile| tile.base == *base)?;
    let column = tiles[at].columns.iter().position(|column| column == offset)?;
    Some((at, column, value))
}
