//! Statements in C: one a line, indented.
//!
//! An array of few elements is a local one. Otherwise, the workspace is a pointer that moves up. A block that takes room more than once,
//! or lends the rest to a callee, has a pointer of its own, so that leaving the block gives the room back; one that takes room once uses
//! its parent's.
//!
//!     Room t; Room u   →   double *t = (double *)ws;
//!                          ws += smooth_times(sizeof(double), n);
//!                          double *u = (double *)ws;

use crate::ir::{Prim, Status};
use crate::loops::measure::room_bytes;
use crate::loops::program::*;
use crate::loops::visit::uses_room;

use super::expr::c_type;
use super::printer::Printer;
use super::range::Range;

/// The C name of a status.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Bounds => "SMOOTH_BOUNDS",
        Status::Shape => "SMOOTH_SHAPE",
        Status::Negative => "SMOOTH_NEGATIVE",
        Status::DivZero => "SMOOTH_DIV_ZERO",
        Status::Range => "SMOOTH_RANGE",
        Status::Workspace => "SMOOTH_WORKSPACE",
    }
}

impl Printer<'_> {
    /// The statements of a block, between braces that the caller prints.
    pub fn block(&mut self, block: &[Stmt]) {
        self.names.open();
        let outer = self.room.clone();
        self.depth += 1;
        let moves = moves_room(block);
        if moves {
            let name = self.names.local("ws");
            let from = self.room_as_bytes();
            self.line(format!("char *{name} = {from};"));
            self.room = Some(name);
        }
        for (k, stmt) in block.iter().enumerate() {
            self.stmt(stmt, &block[k + 1..]);
        }
        self.depth -= 1;
        self.room = outer;
        self.names.close();
    }

    fn inner(&mut self, head: String, block: &[Stmt], tail: &str) {
        self.line(format!("{head}{{"));
        self.block(block);
        self.line(tail);
    }

    pub fn stmt(&mut self, stmt: &Stmt, rest: &[Stmt]) {
        match stmt {
            Stmt::Declare { id, init } => {
                let locals = self.locals;
                let local = &locals[*id];
                if let Some(note) = &local.note {
                    self.line(format!("/* {note} */"));
                }
                let constant = if local.form == (Form::Scalar { mutable: false }) { "const " } else { "" };
                let ty = c_type(local.elem, self.real);
                let init = init.as_ref().map(|init| format!(" = {}", self.expr(init))).unwrap_or_default();
                let name = self.declare(*id);
                self.line(format!("{constant}{ty} {name}{init};"));
            }
            Stmt::Point { id, to } => {
                let local = &self.locals[*id];
                let constant = if matches!(local.form, Form::Source { .. }) { "const " } else { "" };
                let ty = c_type(local.elem, self.real);
                let to = match to {
                    PointerValue::To(pointer) => self.pointer(pointer),
                    PointerValue::Select(cond, a, b) => format!("{} ? {} : {}", self.expr(cond), self.pointer(a), self.pointer(b)),
                };
                let name = self.declare(*id);
                self.line(format!("{constant}{ty} *{name} = {to};"));
            }
            Stmt::Assign { place, value } => {
                let text = self.assignment(place, value);
                self.line(text);
            }
            Stmt::Update { base, offset, value } => {
                let text = self.assignment(&Place::Element { base: *base, offset: Some(offset.clone()) }, value);
                self.line(text);
            }
            Stmt::For { i, count, body, lanes, .. } => match (self.part.clone(), Range::of(*i, count, body)) {
                (Some(part), _) if part.loops.contains(i) => self.repeat(*i, &part.from, &part.end, body, lanes),
                (_, Some(range)) => self.repeat(range.i, &self.expr(range.low), &self.bound(range.high), range.body, lanes),
                (_, None) => self.repeat(*i, "0", &self.bound(count.iterations()), body, lanes),
            },
            Stmt::While { cond, body } => {
                let head = format!("while ({}) ", self.expr(cond));
                self.inner(head, body, "}");
            }
            Stmt::Share(share) => self.share(share),
            Stmt::If { cond, then, otherwise } => {
                self.line(format!("if ({}) {{", self.expr(cond)));
                self.block(then);
                let mut rest = otherwise;
                while let [Stmt::If { cond, then, otherwise }] = rest.as_slice() {
                    self.line(format!("}} else if ({}) {{", self.expr(cond)));
                    self.block(then);
                    rest = otherwise;
                }
                if !rest.is_empty() {
                    self.line("} else {");
                    self.block(rest);
                }
                self.line("}");
            }
            Stmt::Fail { cond, status } => {
                let head = format!("if ({}) {{", self.expr(cond));
                self.guard(&head, status_name(*status));
            }
            Stmt::NoRoom { cond } => {
                let head = format!("if (smooth_is_too_small(workspace_bytes, {})) {{", self.expr(cond));
                self.guard(&head, "SMOOTH_WORKSPACE");
            }
            Stmt::Room(room) => {
                let ty = c_type(room.elem, self.real);
                if let Some(count) = room.few() {
                    let name = self.declare(room.id);
                    self.line(format!("{ty} {name}[{count}];"));
                    return;
                }
                let from = self.room.clone().unwrap_or_else(|| "NULL".to_string());
                if room.aligned {
                    self.line(format!("{from} = smooth_line({from});"));
                }
                let name = self.declare(room.id);
                self.line(format!("{ty} *{name} = ({ty} *){from};"));
                if uses_room(rest) {
                    let bytes = self.expr(&room_bytes(room.elem, &room.counts, self.real));
                    self.line(format!("{from} += {bytes};"));
                }
            }
            Stmt::Invoke(call) => self.invoke(call),
            Stmt::Rotate(ids) => self.rotate(ids),
            Stmt::Scope(body) => self.inner(String::new(), body, "}"),
            Stmt::Return(value) => {
                let text = format!("return {};", self.expr(value));
                self.line(text);
            }
        }
    }

    /// A loop from one index to before another.
    pub fn repeat(&mut self, i: Id, from: &str, end: &str, body: &[Stmt], lanes: &Lanes) {
        match lanes {
            Lanes::One | Lanes::InOrder => {}
            Lanes::Tile(tiles) => return self.tiles(i, from, end, body, tiles),
            Lanes::Any => self.line("SMOOTH_LANES"),
            Lanes::Sum(sums) => {
                let sums: Vec<String> = sums.iter().map(|id| self.name(*id)).collect();
                self.line(format!("SMOOTH_LANES_SUM({})", sums.join(", ")));
            }
        }
        let is_one = matches!(lanes, Lanes::One | Lanes::InOrder);
        let outer = std::mem::replace(&mut self.in_lanes, !is_one);
        self.names.open();
        let name = self.declare(i);
        self.line(format!("for (int64_t {name} = {from}; {name} < {end}; ++{name}) {{"));
        if *lanes == Lanes::InOrder {
            self.line("    SMOOTH_KEEP_ORDER;");
        }
        self.block(body);
        self.line("}");
        self.names.close();
        self.in_lanes = outer;
    }

    /// Leaves the function with a status.
    pub fn guard(&mut self, head: &str, status: &str) {
        self.line(head);
        self.line(format!("    return {status};"));
        self.line("}");
    }

    /// `x = e`, or `x += e` where that is the same.
    fn assignment(&self, place: &Place, value: &Value) -> String {
        let target = match place {
            Place::Local(id) => self.name(*id),
            Place::Element { base, offset: None } => format!("*{}", self.name(*base)),
            Place::Element { base, offset: Some(offset) } => format!("{}[{}]", self.name(*base), self.expr(offset)),
        };
        let own = match place {
            Place::Local(id) => Value::Local(*id),
            Place::Element { base, offset } => Value::Load { base: *base, offset: offset.clone().map(Box::new) },
        };
        if let Value::Prim { prim: prim @ (Prim::Add | Prim::Sub | Prim::Mul | Prim::Div), elem: Elem::Double, args, .. } = value
            && args[0] == own
        {
            format!("{target} {}= {};", prim.row().name, self.expr(&args[1]))
        } else {
            format!("{target} = {};", self.expr(value))
        }
    }

    fn invoke(&mut self, call: &Invocation) {
        let shape = (self.entries)(&call.callee);
        let lends = call.args.iter().any(|arg| matches!(arg, Argument::Workspace));
        let plain: Vec<Argument> = call.args.iter().filter(|arg| !matches!(arg, Argument::Workspace)).cloned().collect();
        let mut args = self.arguments(&plain);
        if lends {
            let room = if shape.needs_room { self.room.clone() } else { None };
            let room = match (room, shape.is_entry) {
                (Some(room), _) if shape.is_told => format!("{room}, {}", self.bytes_left()),
                (Some(room), true) => format!("{room}, SIZE_MAX"),
                (Some(room), false) => room,
                (None, true) => "NULL, 0".to_string(),
                (None, false) => "NULL".to_string(),
            };
            args = if args.is_empty() { room } else { format!("{args}, {room}") };
        }
        let name = self.callee(&Callee::Body(call.callee.clone()));
        if !shape.fallible {
            self.line(format!("{name}({args});"));
            return;
        }
        let status = self.names.local("status");
        self.line(format!("const smooth_status {status} = {name}({args});"));
        let head = format!("if ({status} != SMOOTH_OK) {{");
        self.guard(&head, &status);
    }

    fn rotate(&mut self, ids: &[Id]) {
        let Some((&first, others)) = ids.split_first() else { return };
        let ty = c_type(self.locals[first].elem, self.real);
        let kept = self.names.local("moved");
        let first_name = self.name(first);
        self.line(format!("{ty} *{kept} = {first_name};"));
        let mut to = first_name;
        for &id in others {
            let from = self.name(id);
            self.line(format!("{to} = {from};"));
            to = from;
        }
        self.line(format!("{to} = {kept};"));
    }
}

/// Whether a block must have a pointer to free workspace of its own.
fn moves_room(block: &[Stmt]) -> bool {
    let moves = |room: &Room, rest: &[Stmt]| room.few().is_none() && (room.aligned || uses_room(rest));
    block.iter().enumerate().any(|(k, stmt)| matches!(stmt, Stmt::Room(room) if moves(room, &block[k + 1..])))
}
