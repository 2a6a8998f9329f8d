//! Statements, a line each but for their blocks.
//!
//!     Room t of n doubles; for i < n …   →   room t: f64[n]
//!                                            for i < n apart {

use super::value::{CLOSED, OPEN};
use super::{Printer, count_range, elem, size_of, status};
use crate::loops::program::ranges::ANY;
use crate::loops::program::*;

impl Printer<'_> {
    pub fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn nested(&mut self, head: &str, block: &[Stmt]) {
        self.open(head);
        self.block(block);
        self.close();
    }

    pub fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Declare { id, init } => self.declare(*id, init.as_ref()),
            Stmt::Point { id, to } => {
                let var = if matches!(self.locals[*id].form, Form::Source { mutable: true } | Form::Target { mutable: true }) {
                    "var "
                } else {
                    ""
                };
                let head = format!("point {var}{}: {}", self.name(*id), self.pointer_type(*id));
                let to = match to {
                    PointerValue::To(pointer) => self.pointer(pointer),
                    PointerValue::Select(cond, a, b) => {
                        format!("{} ? {} : {}", self.value(cond, CLOSED), self.pointer(a), self.pointer(b))
                    }
                };
                self.line(&format!("{head} = {to}"));
            }
            Stmt::Assign { place, value } => {
                let place = match place {
                    Place::Local(id) => self.name(*id),
                    Place::Element { base, offset } => self.element(*base, offset.as_ref()),
                };
                self.line(&format!("{place} = {}", self.value(value, OPEN)));
            }
            Stmt::Update { base, offset, value } => {
                self.line(&format!("update {} = {}", self.element(*base, Some(offset)), self.value(value, OPEN)));
            }
            Stmt::For { .. } => self.repeat(stmt),
            Stmt::While { cond, body } => self.nested(&format!("while {}", self.value(cond, OPEN)), body),
            Stmt::Share(share) => self.share(share),
            Stmt::If { cond, then, otherwise } => {
                self.open(&format!("if {}", self.value(cond, OPEN)));
                self.block(then);
                if !otherwise.is_empty() {
                    self.depth -= 1;
                    self.open("} else");
                    self.block(otherwise);
                }
                self.close();
            }
            Stmt::Fail { cond, status: with } => self.line(&format!("fail {} if {}", status(*with), self.value(cond, OPEN))),
            Stmt::NoRoom { cond } => self.line(&format!("fail WORKSPACE unless room for {}", self.value(cond, OPEN))),
            Stmt::Room(room) => self.room(room),
            Stmt::Invoke(call) => self.invoke(call),
            Stmt::Rotate(ids) => {
                let names = self.list(ids);
                self.line(&format!("rotate {names}"));
            }
            Stmt::Scope(body) => self.nested("scope", body),
            Stmt::Return(value) => self.line(&format!("return {}", self.value(value, OPEN))),
        }
    }

    fn declare(&mut self, id: Id, init: Option<&Value>) {
        let local = &self.locals[id];
        let word = if local.form == (Form::Scalar { mutable: true }) { "var" } else { "let" };
        let by_itself = match (word, init, self.function) {
            ("let", Some(init), Some(function)) => function.ranges.of(init),
            _ => ANY,
        };
        let text = init.map_or(String::new(), |init| format!(" = {}", self.value(init, OPEN)));
        let note = local.note.as_ref().map_or(String::new(), |note| format!(" // {note}"));
        let known = self.known(id, by_itself);
        self.line(&format!("{word} {}: {}{known}{text}{note}", self.name(id), self.elem(id)));
    }

    fn repeat(&mut self, stmt: &Stmt) {
        let Stmt::For { i, var, count, size, body, lanes, apart } = stmt else { return };
        let name = self.name(*i);
        let fixed = if self.locals[*i].form == (Form::Scalar { mutable: true }) { "" } else { "const " };
        let by_itself = self.function.map_or(ANY, |function| count_range(&function.ranges, count));
        let size = match size {
            None => " unsized".to_string(),
            Some(size) if size_of(count, &|id| self.var_of(id)).as_ref() == Some(size) => String::new(),
            Some(size) => format!(" of size [{}]", self.size(size)),
        };
        let var = var.as_ref().and_then(|var| self.names.loop_var(var, &name)).map_or(String::new(), |name| format!(" as {name}"));
        let apart = if *apart { " apart" } else { "" };
        let marks = match lanes {
            Lanes::One => String::new(),
            Lanes::InOrder => " in order".to_string(),
            Lanes::Any => " lanes".to_string(),
            Lanes::Sum(ids) => format!(" lanes sum({})", self.list(ids)),
            Lanes::Tile(tiles) => format!(" tiles of {}{}", self.name(tiles.lane), self.known(tiles.lane, ANY)),
        };
        let known = self.known(*i, by_itself);
        self.open(&format!("for {fixed}{name}{known} < {}{size}{var}{apart}{marks}", self.value(count, CLOSED)));
        if let Lanes::Tile(tiles) = lanes {
            self.tiles(tiles);
        }
        self.block(body);
        self.close();
    }

    fn tiles(&mut self, tiles: &Tiles) {
        for panel in &tiles.panels {
            let by = match panel.layout {
                Layout::Rows => "rows",
                Layout::Columns => "columns",
            };
            let (name, from) = (self.name(panel.id), self.pointer(&panel.from));
            self.line(&format!("panel {name} {by} of {from} apart {} wide {}", panel.stride, panel.width));
        }
        for tile in &tiles.tiles {
            let columns: Vec<String> = tile.columns.iter().map(|column| self.subscripts(tile.base, column)).collect();
            let columns = columns.join(", ");
            self.line(&format!("tile {}[{}] columns {columns}", self.name(tile.base), self.value(&tile.row, OPEN)));
        }
    }

    fn room(&mut self, room: &Room) {
        let same = |(size, count): (&_, _)| size_of(count, &|id| self.var_of(id)).as_ref() == Some(size);
        let alike = room.dims.len() == room.counts.len() && room.dims.iter().zip(&room.counts).all(same);
        let lengths = if alike { String::new() } else { format!(" of {}", self.shape(&room.dims)) };
        let word = if room.few().is_some() { "local" } else { "room" };
        let var = if self.locals[room.id].form == (Form::Target { mutable: true }) { "var " } else { "" };
        let lengths_here: Vec<String> = room.counts.iter().map(|count| self.value(count, OPEN)).collect();
        let counts = lengths_here.join(", ");
        self.shapes.insert(room.id, lengths_here);
        let aligned = if room.aligned { " aligned" } else { "" };
        self.line(&format!("{word} {var}{}: {}[{counts}]{lengths}{aligned}", self.name(room.id), elem(room.elem, self.real)));
    }

    fn invoke(&mut self, call: &Invocation) {
        let measures: Vec<String> = call
            .measures
            .iter()
            .map(|measure| match measure {
                Measure::Size(size) => self.size(size),
                Measure::Bool(value) => format!("bool {}", self.value(value, OPEN)),
                Measure::Data => "data".to_string(),
            })
            .collect();
        let measures = if measures.is_empty() { String::new() } else { format!(" measured by ({})", measures.join(", ")) };
        let fails = if call.fallible { "" } else { " never fails" };
        self.line(&format!("call {}({}){measures}{fails}", call.callee, self.arguments(&call.args)));
    }

    fn share(&mut self, share: &Share) {
        let names = self.list(&share.loops);
        let slice = share.slice.as_ref().map_or(String::new(), |slice| {
            let measured: Vec<Id> = self.function.iter().flat_map(|function| &function.measured).map(|(id, _)| *id).collect();
            let args: Vec<Id> = slice.args.iter().filter_map(|at| measured.get(*at)).copied().collect();
            format!(" slice {}({})", slice.number, self.list(&args))
        });
        let vectors = if share.in_lanes { " by vectors" } else { "" };
        let (count, work) = (self.value(&share.count, CLOSED), self.value(&share.work, CLOSED));
        self.open(&format!("share {names} < {count} work {work}{vectors}{slice}"));
        if !share.captured.is_empty() {
            let captured = share.captured.iter().map(|captured| {
                let written = if captured.written { " written" } else { "" };
                let alone = if captured.alone { " alone" } else { "" };
                format!("{}{written}{alone}", self.name(captured.id))
            });
            let captured = captured.collect::<Vec<_>>().join(", ");
            self.line(&format!("captures {captured}"));
        }
        for total in &share.totals {
            let length = total.length.as_ref().map_or(String::new(), |length| format!("[{}]", self.value(length, OPEN)));
            let head = format!("total {}{length} of {}", self.name(total.id), self.name(total.part));
            self.open(&head);
            self.stmt(&total.start);
            self.stmt(&total.join);
            self.close();
        }
        self.block(&share.body);
        self.close();
    }
}
