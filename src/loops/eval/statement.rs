//! Statements, in their order.
//!
//!     room t: f64[n]   →   an array of n cells that are not set, until its block ends; 8 n bytes of workspace

use super::memory::Place as Address;
use super::value::{times, width};
use super::{Cell, Evaluated, Flow, Frame, Machine, Slot, TOO_LONG, WORKSPACE, find};
use crate::loops::analysis::failures::can_fail;
use crate::loops::program::*;

/// A call that makes an array of more elements is given up.
const LARGEST: usize = 1 << 22;

impl<'p> Machine<'p> {
    /// A block; what it takes of the workspace is given back at its end.
    pub fn block(&mut self, frame: &mut Frame<'p>, block: &'p [Stmt]) -> Evaluated<Flow> {
        let taken = frame.taken;
        let mut rooms = Vec::new();
        let mut end = Flow::Next;
        for stmt in block {
            self.step()?;
            if let Stmt::Room(room) = stmt {
                rooms.push(self.room(frame, room)?);
                continue;
            }
            end = self.stmt(frame, stmt)?;
            if !matches!(end, Flow::Next) {
                break;
            }
        }
        rooms.into_iter().for_each(|place| self.memory.end(place));
        frame.taken = taken;
        Ok(end)
    }

    fn stmt(&mut self, frame: &mut Frame<'p>, stmt: &'p Stmt) -> Evaluated<Flow> {
        match stmt {
            Stmt::Declare { id, init } => {
                frame.slots[*id] = None;
                if let Some(init) = init {
                    let cell = self.value(frame, init)?;
                    frame.set(*id, cell)?;
                }
            }
            Stmt::Point { id, to } => {
                let place = match to {
                    PointerValue::To(pointer) => self.pointer(frame, pointer)?,
                    PointerValue::Select(cond, a, b) => {
                        let chosen = if self.bool(frame, cond)? { a } else { b };
                        self.pointer(frame, chosen)?
                    }
                };
                frame.slots[*id] = Some(Slot::Place(place));
            }
            Stmt::Assign { place: Place::Local(id), value } => {
                let cell = self.value(frame, value)?;
                frame.set(*id, cell)?;
            }
            Stmt::Assign { place: Place::Element { base, offset }, value } => self.store(frame, *base, offset.as_ref(), value)?,
            Stmt::Update { base, offset, value } => self.store(frame, *base, Some(offset), value)?,
            Stmt::For { i, count, body, lanes, .. } => return self.repeat(frame, *i, count, body, lanes),
            Stmt::While { cond, body } => {
                while self.bool(frame, cond)? {
                    self.step()?;
                    let flow = self.block(frame, body)?;
                    if !matches!(flow, Flow::Next) {
                        return Ok(flow);
                    }
                }
            }
            Stmt::Share(share) => return self.share(frame, share),
            Stmt::If { cond, then, otherwise } => {
                let chosen = if self.bool(frame, cond)? { then } else { otherwise };
                return self.block(frame, chosen);
            }
            Stmt::Fail { cond, status } => {
                if self.bool(frame, cond)? {
                    return Ok(Flow::Status(*status as i32));
                }
            }
            Stmt::NoRoom { cond } => {
                let need = self.value(frame, cond)?.bytes()?;
                if frame.told < need || need == u64::MAX {
                    return Ok(Flow::Status(WORKSPACE));
                }
            }
            Stmt::Room(_) => return Err("a room is made by its block".into()),
            Stmt::Invoke(call) => return self.invoke(frame, call),
            Stmt::Rotate(ids) => {
                let slots: Vec<Option<Slot>> = ids.iter().map(|id| frame.slots[*id]).collect();
                for (at, id) in ids.iter().enumerate() {
                    frame.slots[*id] = slots[(at + 1) % slots.len()];
                }
            }
            Stmt::Scope(body) => return self.block(frame, body),
            Stmt::Return(value) => return Ok(Flow::Return(self.value(frame, value)?)),
        }
        Ok(Flow::Next)
    }

    fn store(&mut self, frame: &mut Frame<'p>, base: Id, offset: Option<&'p Value>, value: &'p Value) -> Evaluated<()> {
        let cell = self.value(frame, value)?.of(frame.locals[base].elem)?;
        let place = self.element(frame, base, offset)?;
        self.memory.write(place, cell).map_err(|problem| format!("`{}`: {problem} is written", frame.name(base)))
    }

    /// A loop, from the first or from the last iteration on.
    fn repeat(&mut self, frame: &mut Frame<'p>, i: Id, count: &'p Value, body: &'p [Stmt], lanes: &'p Lanes) -> Evaluated<Flow> {
        let (from, end) = match frame.part {
            Some((loops, from, end)) if loops.contains(&i) => (from, end),
            Some(_) | None => (0, self.index(frame, count)?),
        };
        let backwards = match lanes {
            Lanes::One | Lanes::InOrder => false,
            Lanes::Any | Lanes::Sum(_) => true,
            Lanes::Tile(tiles) => return self.tiles(frame, i, (from, end), body, tiles),
        };
        for at in from..end {
            self.step()?;
            let at = if backwards { end - 1 - (at - from) } else { at };
            frame.slots[i] = Some(Slot::Cell(Cell::Index(at)));
            let flow = self.block(frame, body)?;
            if !matches!(flow, Flow::Next) {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// An array; one of few elements takes no workspace.
    pub fn room(&mut self, frame: &mut Frame<'p>, room: &'p Room) -> Evaluated<Address> {
        let mut counts = Vec::new();
        for count in &room.counts {
            counts.push(self.index(frame, count)?);
        }
        let bytes = counts.iter().fold(width(room.elem, self.real()), |bytes, count| times(bytes, *count));
        let length = usize::try_from(bytes / width(room.elem, self.real())).map_err(|_| "a room is too large")?;
        if room.few().is_none() {
            let padding = if room.aligned { PADDING as u64 } else { 0 };
            frame.take(bytes.div_ceil(8).saturating_mul(8).saturating_add(padding))?;
        }
        if length > LARGEST {
            return Err(TOO_LONG.into());
        }
        let place = self.memory.array(vec![None; length]);
        frame.slots[room.id] = Some(Slot::Place(place));
        Ok(place)
    }

    fn invoke(&mut self, frame: &mut Frame<'p>, call: &'p Invocation) -> Evaluated<Flow> {
        let callee = find(self.program, &call.callee)?;
        let mut args = Vec::new();
        let mut lent = 0;
        // scalars that are written come back through an array of one element
        let mut written = Vec::new();
        for arg in &call.args {
            match arg {
                Argument::Value(value) => args.push(Slot::Cell(self.value(frame, value)?)),
                Argument::Pointer(pointer) => args.push(Slot::Place(self.pointer(frame, pointer)?)),
                Argument::Address(id) => {
                    let place = self.memory.array(vec![None]);
                    written.push((*id, place));
                    args.push(Slot::Place(place));
                }
                Argument::Workspace => lent = frame.bytes - frame.taken,
            }
        }
        let told = if callee.workspace.is_told() { lent } else { u64::MAX };
        let (status, used) = self.body(callee, args, lent, told)?;
        frame.most = frame.most.max(frame.taken + used);
        if status != 0 {
            return match call.fallible && (callee.is_entry || can_fail(&callee.body)) {
                true => Ok(Flow::Status(status)),
                false => Err(format!("`{}` fails, and never does", call.callee)),
            };
        }
        for (id, place) in written {
            let cell = self.memory.read(place)?;
            frame.set(id, cell)?;
            self.memory.end(place);
        }
        Ok(Flow::Next)
    }
}

impl Frame<'_> {
    pub fn set(&mut self, id: Id, cell: Cell) -> Evaluated<()> {
        let cell = cell.of(self.locals[id].elem).map_err(|problem| format!("`{}`: {problem}", self.name(id)))?;
        self.slots[id] = Some(Slot::Cell(cell));
        Ok(())
    }

    /// Takes workspace.
    pub fn take(&mut self, bytes: u64) -> Evaluated<()> {
        self.taken = self.taken.saturating_add(bytes);
        self.most = self.most.max(self.taken);
        if self.taken > self.bytes {
            return Err(format!("{} bytes of workspace are taken of {}", self.taken, self.bytes));
        }
        Ok(())
    }
}
