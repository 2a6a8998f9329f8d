//! Loop programs as text: what `--dump lower`, `--dump loops` and `--dump loops.PASS` show.
//!
//! In: a loop program. Out: a statement a line, blocks indented in braces, functions with an empty line between them. A local
//! has its name, a second one of that name a number (`i`, `i_1`) in order of appearance, so that every name means one local. Index
//! arithmetic that may wrap, or is checked, is marked (`+~`); a loop says after its head what is known of it: `apart`, `lanes`,
//! `lanes sum(s)`, `tiles of …`.
//!
//!     function f(n: size, v: f64[n], k: index, out: f64[n]) {
//!       fail NEGATIVE if n < 0
//!       for i < n apart {
//!         out[i] = v[i] * 2.0
//!       }
//!     }

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::ir::print::status_name;
use crate::ir::{Prim, Size};
use crate::real::Real;

use super::program::*;
use super::values::may_wrap;

/// All functions, each with what measures its workspace where it needs some.
pub fn program(program: &LoopProgram) -> String {
    program.functions.iter().map(|one| function(one, program.real)).collect::<Vec<_>>().join("\n")
}

/// One function.
pub fn function(function: &LoopFunction, real: Real) -> String {
    let mut printer = Printer::new(&function.locals, real);
    let params: Vec<String> = function.params.iter().map(|param| printer.param(param)).collect();
    let kind = if function.is_entry { "entry" } else { "function" };
    printer.open(&format!("{kind} {}({})", function.name, params.join(", ")));
    printer.block(&function.body);
    printer.close();
    let mut text = printer.text;
    if function.workspace.needed {
        text += &measure(&format!("workspace {}", function.name), &function.workspace, real);
    }
    for (number, slice) in function.slices.iter().enumerate() {
        text += &measure(&format!("slice {}.{number}", function.name), &slice.measure, real);
    }
    text
}

/// The first line of a statement, for messages.
pub fn first_line(stmt: &Stmt, locals: &[Local]) -> String {
    let mut printer = Printer::new(locals, Real::F64);
    match stmt {
        // what is inside takes long to print
        Stmt::For { i, count, .. } => format!("for {} < {}", printer.name(*i), printer.value(count, CLOSED)),
        Stmt::If { cond, .. } => format!("if {}", printer.value(cond, OPEN)),
        Stmt::Scope(_) => "scope".to_string(),
        Stmt::Share(share) => format!("share {} < {}", printer.list(&share.loops), printer.value(&share.count, CLOSED)),
        other => {
            printer.stmt(other);
            printer.text.lines().next().unwrap_or_default().to_string()
        }
    }
}

/// What gives a number of bytes.
fn measure(head: &str, workspace: &Workspace, real: Real) -> String {
    let mut printer = Printer::new(&workspace.locals, real);
    let params = workspace.params.iter().map(|(id, _)| *id).chain(workspace.threads);
    let params: Vec<String> = params.map(|id| format!("{}: {}", printer.name(id), printer.elem(id))).collect();
    printer.open(&format!("{head}({})", params.join(", ")));
    printer.block(&workspace.body);
    printer.close();
    printer.text
}

/// The names that locals have got so far.
#[derive(Default)]
struct Names {
    given: HashMap<Id, String>,
    taken: HashSet<String>,
}

struct Printer<'a> {
    locals: &'a [Local],
    names: RefCell<Names>,
    real: Real,
    depth: usize,
    text: String,
}

/// How tight operators hold: a part that holds less than its place asks is in parentheses.
const OPEN: u8 = 0;
const CLOSED: u8 = 9;

impl<'a> Printer<'a> {
    fn new(locals: &'a [Local], real: Real) -> Printer<'a> {
        Printer { locals, names: RefCell::default(), real, depth: 0, text: String::new() }
    }

    fn name(&self, id: Id) -> String {
        let Names { given, taken } = &mut *self.names.borrow_mut();
        let name = given.entry(id).or_insert_with(|| {
            let own = &self.locals[id].name;
            let numbered = (1..).map(|number| format!("{own}_{number}"));
            std::iter::once(own.to_string()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default()
        });
        taken.insert(name.clone());
        name.clone()
    }

    fn list(&self, ids: &[Id]) -> String {
        ids.iter().map(|id| self.name(*id)).collect::<Vec<_>>().join(", ")
    }

    fn elem(&self, id: Id) -> &'static str {
        elem(self.locals[id].elem, self.real)
    }

    fn param(&self, param: &Param) -> String {
        let (name, elem) = (self.name(param.id), self.elem(param.id));
        match &param.role {
            Role::Size => format!("{name}: size"),
            Role::Scalar => format!("{name}: {elem}"),
            Role::Array(dims) => format!("{name}: {elem}{}", shape(dims)),
            Role::OutScalar => format!("out {name}: {elem}"),
            Role::OutArray(dims) => format!("out {name}: {elem}{}", shape(dims)),
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:indent$}{text}", "", indent = 2 * self.depth);
    }

    fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn nested(&mut self, head: &str, block: &[Stmt]) {
        self.open(head);
        self.block(block);
        self.close();
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Declare { id, init } => {
                let mutable = matches!(self.locals[*id].form, Form::Scalar { mutable: true });
                let head = format!("{} {}: {}", if mutable { "var" } else { "let" }, self.name(*id), self.elem(*id));
                let init = init.as_ref().map_or(String::new(), |init| format!(" = {}", self.value(init, OPEN)));
                self.line(&(head + &init));
            }
            Stmt::Point { id, to } => {
                let to = match to {
                    PointerValue::To(pointer) => self.pointer(pointer),
                    PointerValue::Select(cond, a, b) => {
                        format!("{} ? {} : {}", self.value(cond, CLOSED), self.pointer(a), self.pointer(b))
                    }
                };
                self.line(&format!("point {} = {to}", self.name(*id)));
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
            Stmt::For { i, var: _, count, size: _, body, lanes, apart } => {
                let apart = if *apart { " apart" } else { "" };
                let head = format!("for {} < {}{apart}{}", self.name(*i), self.value(count, CLOSED), self.lanes(lanes));
                self.nested(&head, body);
            }
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
            Stmt::Fail { cond, status } => self.line(&format!("fail {} if {}", status_name(*status), self.value(cond, OPEN))),
            Stmt::NoRoom { cond } => self.line(&format!("fail WORKSPACE unless room for {}", self.value(cond, OPEN))),
            Stmt::Room(room) => {
                let counts: Vec<String> = room.counts.iter().map(|count| self.value(count, OPEN)).collect();
                let place = if room.few().is_some() { "local" } else { "room" };
                self.line(&format!("{place} {}: {}[{}]", self.name(room.id), elem(room.elem, self.real), counts.join(", ")));
            }
            Stmt::Invoke(call) => {
                let fails = if call.fallible { "" } else { " never fails" };
                self.line(&format!("call {}({}){fails}", call.callee, self.arguments(&call.args)));
            }
            Stmt::Rotate(ids) => {
                let names = self.list(ids);
                self.line(&format!("rotate {names}"));
            }
            Stmt::Scope(body) => self.nested("scope", body),
            Stmt::Return(value) => self.line(&format!("return {}", self.value(value, OPEN))),
        }
    }

    fn lanes(&self, lanes: &Lanes) -> String {
        match lanes {
            Lanes::One => String::new(),
            Lanes::Any => " lanes".to_string(),
            Lanes::Sum(ids) => format!(" lanes sum({})", self.list(ids)),
            Lanes::Tile(tiles) => {
                let panels = tiles.panels.iter().map(|panel| {
                    let by = match panel.layout {
                        Layout::Rows => "rows",
                        Layout::Columns => "columns",
                    };
                    format!("{} {by} of {} apart {} wide {}", self.name(panel.id), self.pointer(&panel.from), panel.stride, panel.width)
                });
                let written = tiles.tiles.iter().map(|tile| {
                    let columns: Vec<String> = tile.columns.iter().map(|column| self.value(column, OPEN)).collect();
                    format!("{}[{}; {}]", self.name(tile.base), self.value(&tile.row, OPEN), columns.join(", "))
                });
                let all: Vec<String> = panels.chain(written).collect();
                format!(" tiles of {} ({})", self.name(tiles.lane), all.join("; "))
            }
        }
    }

    fn share(&mut self, share: &Share) {
        let names = self.list(&share.loops);
        let slice = share.slice.as_ref().map_or(String::new(), |slice| format!(" slice {}", slice.number));
        let vectors = if share.in_lanes { " by vectors" } else { "" };
        let (count, work) = (self.value(&share.count, CLOSED), self.value(&share.work, CLOSED));
        let head = format!("share {names} < {count} work {work}{vectors}{slice}");
        self.open(&head);
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

    fn arguments(&self, args: &[Argument]) -> String {
        let args = args.iter().map(|arg| match arg {
            Argument::Value(value) => self.value(value, OPEN),
            Argument::Pointer(pointer) => self.pointer(pointer),
            Argument::Address(id) => format!("&{}", self.name(*id)),
            Argument::Workspace => "workspace".to_string(),
        });
        args.collect::<Vec<_>>().join(", ")
    }

    fn pointer(&self, pointer: &Pointer) -> String {
        match &pointer.offset {
            None => format!("&{}", self.name(pointer.base)),
            Some(offset) => format!("&{}[{}]", self.name(pointer.base), self.value(offset, OPEN)),
        }
    }

    fn element(&self, base: Id, offset: Option<&Value>) -> String {
        match offset {
            None => format!("*{}", self.name(base)),
            Some(offset) => format!("{}[{}]", self.name(base), self.value(offset, OPEN)),
        }
    }

    fn value(&self, value: &Value, around: u8) -> String {
        match value {
            Value::Local(id) => self.name(*id),
            Value::Double(x) => format!("{x:?}"),
            Value::Index(k) => k.to_string(),
            Value::Bool(b) => b.to_string(),
            Value::Prim { prim, elem, plain, args } => self.prim(*prim, *elem, *plain, args, around),
            Value::Load { base, offset } => self.element(*base, offset.as_deref()),
            Value::Select(parts) => {
                let [cond, a, b] = &**parts;
                let text = format!("{} ? {} : {}", self.value(cond, 1), self.value(a, 1), self.value(b, 1));
                if around > OPEN { format!("({text})") } else { text }
            }
            Value::Helper(name, args) => format!("{name}({})", self.values(args)),
            Value::SizeOf(of) => format!("sizeof({})", elem(*of, self.real)),
            Value::Moved { now, home } => format!("moved({}, {})", self.name(*now), self.pointer(home)),
            Value::Call(callee, args) => {
                let name = match callee {
                    Callee::Body(name) => name.to_string(),
                    Callee::Workspace(name) => format!("workspace {name}"),
                    Callee::Slice(name, number) => format!("slice {name}.{number}"),
                };
                format!("{name}({})", self.arguments(args))
            }
        }
    }

    fn values(&self, values: &[Value]) -> String {
        values.iter().map(|value| self.value(value, OPEN)).collect::<Vec<_>>().join(", ")
    }

    fn prim(&self, prim: Prim, elem: Elem, plain: bool, args: &[Value], around: u8) -> String {
        let mark = if elem == Elem::Index && !plain && may_wrap(prim) { "~" } else { "" };
        let (name, holds) = (prim.row().name, tightness(prim));
        let text = match (args, holds) {
            ([a, b], Some(holds)) => format!("{} {name}{mark} {}", self.value(a, holds), self.value(b, holds + 1)),
            ([a], Some(holds)) => format!("{name}{mark}{}", self.value(a, holds)),
            _ => return format!("{name}{mark}({})", self.values(args)),
        };
        if holds.is_some_and(|holds| holds < around) { format!("({text})") } else { text }
    }
}

/// How tight an operator holds its operands; `None` for a function.
fn tightness(prim: Prim) -> Option<u8> {
    match prim.row().name {
        "||" => Some(2),
        "&&" => Some(3),
        "=" | "<>" | "<" | "<=" | ">" | ">=" => Some(4),
        "+" | "-" if prim != Prim::Neg => Some(5),
        "*" | "/" | "%" => Some(6),
        _ if prim == Prim::Neg => Some(7),
        _ => None,
    }
}

fn elem(elem: Elem, real: Real) -> &'static str {
    match (elem, real) {
        (Elem::Double, Real::F64) => "f64",
        (Elem::Double, Real::F32) => "f32",
        (Elem::Index, _) => "index",
        (Elem::Bool, _) => "bool",
        (Elem::Bytes, _) => "bytes",
    }
}

fn shape(dims: &[Size]) -> String {
    let lengths: Vec<String> = dims.iter().map(|size| size.to_string()).collect();
    format!("[{}]", lengths.join(", "))
}
