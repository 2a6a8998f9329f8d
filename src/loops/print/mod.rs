//! Loop programs as text: what `--dump lower`, `--dump loops` and `--dump loops.PASS` show, and `parse` reads back.
//!
//! In: a loop program. Out: a statement a line, blocks indented in braces, functions with an empty line between them. A local
//! has its name, a second one of that name a number (`i`, `i.1`) in order of appearance, so that every name means one local. Index
//! arithmetic that may wrap, or is checked, is marked (`+~`). A loop says after its head what is known of it: `apart`, `lanes`,
//! `lanes sum(s)`, `tiles of lane`; a pointer says whether it only reads (`&f64`) or also writes (`&mut f64`).
//!
//!     function f(n: size, v: f64[n], k: index, out out: f64[n]) {
//!       fail NEGATIVE if n < 0
//!       for i < n apart {
//!         out[i] = v[i] * 2.0
//!       }
//!     }
//!
//! An element of a matrix has a subscript for each declared length: `out[i][j]`. If its rows have another length, that is written
//! after the row's subscript: `t[i : m][j]`.
//!
//! What follows from the rest is not said, what differs is: a range (`let k: index in 0..=9 = j % 10`), lengths that are not the
//! counts (`room t: f64[m] of [n + 1]`), a loop without a size for the measure (`unsized`), or whose index is part of lengths
//! (`as i`), a room that begins where a cache line does (`aligned`). Places in the source are not part of the text.

mod names;
mod statement;
mod value;

use std::collections::HashMap;
use std::fmt::Write;

use crate::real::Real;

use super::program::ranges::ANY;
use super::program::*;

use names::Names;
pub use names::{RESERVED, count_range, part, size_of};
use value::{CLOSED, OPEN};
pub use value::{spelled, status, tightness};

/// All functions, each with what measures its workspace once that is known.
pub fn program(program: &LoopProgram) -> String {
    let head = match program.real {
        Real::F64 => "",
        Real::F32 => "real f32\n\n",
    };
    head.to_string() + &program.functions.iter().map(|one| function(one, program.real)).collect::<Vec<_>>().join("\n")
}

/// One function.
pub fn function(function: &LoopFunction, real: Real) -> String {
    let mut printer = Printer::new(&function.locals, Some(function), real);
    for line in function.doc.iter().flat_map(|doc| doc.split('\n')) {
        printer.line(format!("/// {line}").trim_end());
    }
    let params: Vec<String> = function.params.iter().map(|param| printer.param(param)).collect();
    let kind = if function.is_entry { "entry" } else { "function" };
    printer.open(&format!("{kind} {}({})", function.name, params.join(", ")));
    printer.block(&function.body);
    printer.close();
    let mut text = printer.text;
    let named: Vec<String> = function.measured.iter().map(|(id, _)| printer.names.local(*id, &function.locals)).collect();
    for (number, slice) in function.slices.iter().enumerate() {
        let of: Vec<String> = slice.args.iter().filter_map(|at| named.get(*at)).cloned().collect();
        text += &measure(&format!("slice {}.{number} of ({})", function.name, of.join(", ")), &slice.measure, real);
    }
    if !function.workspace.body.is_empty() {
        text += &measure(&format!("workspace {}", function.name), &function.workspace, real);
    }
    text
}

/// What gives a number of bytes.
fn measure(head: &str, workspace: &Workspace, real: Real) -> String {
    let mut printer = Printer::new(&workspace.locals, None, real);
    let mut params: Vec<String> = workspace.params.iter().map(|(id, _)| format!("{}: {}", printer.name(*id), printer.elem(*id))).collect();
    params.extend(workspace.deeper.map(|id| format!("deeper {}: {}", printer.name(id), printer.elem(id))));
    params.extend(workspace.threads.map(|id| format!("threads {}: {}", printer.name(id), printer.elem(id))));
    printer.open(&format!("{head}({})", params.join(", ")));
    printer.block(&workspace.body);
    printer.close();
    printer.text
}

/// An expression, for messages.
pub fn expression(value: &Value, locals: &[Local]) -> String {
    Printer::new(locals, None, Real::F64).value(value, OPEN)
}

/// The first line of a statement, for messages.
pub fn first_line(stmt: &Stmt, locals: &[Local]) -> String {
    let mut printer = Printer::new(locals, None, Real::F64);
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

struct Printer<'a> {
    locals: &'a [Local],
    /// The function, for what is known of its indices; none in a measure.
    function: Option<&'a LoopFunction>,
    names: Names,
    /// The lengths of arrays, as they are written where these are declared.
    shapes: HashMap<Id, Vec<String>>,
    real: Real,
    depth: usize,
    text: String,
}

impl<'a> Printer<'a> {
    fn new(locals: &'a [Local], function: Option<&'a LoopFunction>, real: Real) -> Printer<'a> {
        let mut printer =
            Printer { locals, function, names: Names::of(function), shapes: HashMap::new(), real, depth: 0, text: String::new() };
        for param in function.into_iter().flat_map(|function| &function.params) {
            if let Role::Array(dims) | Role::OutArray(dims) = &param.role {
                let lengths = dims.iter().map(|size| printer.size(size)).collect();
                printer.shapes.insert(param.id, lengths);
            }
        }
        printer
    }

    fn name(&self, id: Id) -> String {
        self.names.local(id, self.locals)
    }

    fn list(&self, ids: &[Id]) -> String {
        ids.iter().map(|id| self.name(*id)).collect::<Vec<_>>().join(", ")
    }

    fn elem(&self, id: Id) -> &'static str {
        elem(self.locals[id].elem, self.real)
    }

    fn param(&self, param: &Param) -> String {
        let (name, elem) = (self.name(param.id), self.elem(param.id));
        let var =
            if matches!(self.locals[param.id].form, Form::Source { mutable: true } | Form::Target { mutable: true }) { "var " } else { "" };
        match &param.role {
            Role::Size => format!("{name}: size{}", self.known(param.id, (0, LONGEST as i128))),
            Role::Scalar => {
                let measured = self.function.into_iter().flat_map(|function| &function.measured);
                let opaque = if measured.into_iter().any(|(id, var)| *id == param.id && var.is_none()) { " opaque" } else { "" };
                format!("{name}: {elem}{}{opaque}", self.known(param.id, ANY))
            }
            Role::Array(dims) => format!("{var}{name}: {elem}{}", self.shape(dims)),
            Role::OutScalar => format!("out {var}{name}: {elem}"),
            Role::OutArray(dims) => format!("out {var}{name}: {elem}{}", self.shape(dims)),
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
}

/// How an element type is written.
fn elem(elem: Elem, real: Real) -> &'static str {
    match (elem, real) {
        (Elem::Double, Real::F64) => "f64",
        (Elem::Double, Real::F32) => "f32",
        (Elem::Index, _) => "index",
        (Elem::Bool, _) => "bool",
        (Elem::Bytes, _) => "bytes",
    }
}
