//! A loop that threads share, in C: a function that runs one chunk of its iterations in order, and a loop over chunks.
//!
//!     for i < n: s += v[i]   →   SMOOTH_PART static void f_part(int64_t from, int64_t end, const double *SMOOTH_RESTRICT v, double *SMOOTH_RESTRICT part_s)
//!                                {
//!                                    double s = *part_s;
//!                                    for (int64_t i = from; i < end; ++i) { s += v[i]; }
//!                                    *part_s = s;
//!                                }
//!
//!                                const int64_t parts = smooth_parts(n, 2.0);
//!                                if (parts == 1) {
//!                                    f_part(0, n, v, &s);
//!                                } else {
//!                                    SMOOTH_PARALLEL_IN_ORDER(parts)
//!                                    for (int64_t part = 0; part < parts; ++part) {
//!                                        double part_s = 0.0;
//!                                        f_part(smooth_part(n, part, parts), smooth_part(n, part + 1, parts), v, &part_s);
//!                                        SMOOTH_IN_ORDER
//!                                        { s += part_s; }
//!                                    }
//!                                }
//!
//! A function, because compilers ignore `restrict` in the body of a parallel region, and because a single chunk needs no region; it is
//! compiled once, so that rounding does not depend on the number of chunks. It returns a status; that of the first chunk that
//! failed is returned after the loop. Without OpenMP there is one chunk and the macros are empty.

use crate::loops::analysis::failures::can_fail;
use crate::loops::measure::room_bytes;
use crate::loops::program::*;
use crate::real::Real;

use super::FunctionView;
use super::expr::c_type;
use super::narrow::writes_narrow_rows;
use super::printer::{Ground, Part, Printer, Shape};
use crate::loops::visit::uses_room;

/// How many loops of a block threads share.
pub fn count(block: &[Stmt]) -> usize {
    block.iter().map(|stmt| usize::from(matches!(stmt, Stmt::Share(_))) + stmt.blocks().map(|block| count(block)).sum::<usize>()).sum()
}

/// What the calls of a part's function have in common.
struct Call {
    name: String,
    captured: Vec<(Id, String)>,
    fails: bool,
    /// Whether the function asks how many iterations all parts have.
    asks_all: bool,
    /// The distance of two slices of the workspace.
    slice: Option<String>,
    /// The bytes of one, where the part asks for them.
    bytes: Option<String>,
    with_room: bool,
}

impl Printer<'_> {
    pub fn share(&mut self, share: &Share) {
        let count = self.expr(&share.count);
        // an estimate in doubles, whatever the program's numbers are
        let real = std::mem::take(&mut self.real);
        let lengths: Vec<String> = share.totals.iter().filter_map(|total| Some(self.expr(total.length.as_ref()?))).collect();
        let work = self.expr(&share.work);
        let mut parts_of = match lengths.is_empty() {
            true => format!("smooth_parts({count}, {work})"),
            false => format!("smooth_parts_with({count}, {work}, {})", lengths.join(" + ")),
        };
        self.real = real;
        self.line("/* threads share the iterations, a part for each */");
        let mut call = self.call_of(share);
        if let Some(slice) = &share.slice {
            let name = self.names.local("slice");
            let callee = self.callee(&Callee::Slice(self.function.clone(), slice.number));
            let own = |at: &usize| self.measured.get(*at).cloned().or_else(|| Some(self.name(self.deeper?)));
            let args: Vec<String> = slice.args.iter().filter_map(own).collect();
            let bytes = format!("{callee}({})", args.join(", "));
            self.line(format!("const size_t {name} = smooth_slice({bytes});"));
            parts_of = format!("smooth_fit({parts_of}, {}, {name})", self.bytes_left());
            // a lone part may have no more than it needs
            call.bytes = needs_bytes(&share.body, self.entries).then_some(bytes);
            call.slice = Some(name);
        }
        let parts = self.names.local("parts");
        self.line(format!("const int64_t {parts} = {parts_of};"));
        let status = call.fails.then(|| self.names.local("status"));
        if let Some(status) = &status {
            self.line(format!("smooth_status {status} = SMOOTH_OK;"));
        }
        self.line(format!("if ({parts} == 1) {{"));
        self.depth += 1;
        let totals: Vec<(&Total, String)> = share.totals.iter().map(|total| (total, self.name(total.id))).collect();
        let room = self.room.clone().unwrap_or_else(|| "NULL".to_string());
        let text = call.text("0", &count, &count, &totals, &room);
        self.line(match &status {
            Some(status) => format!("{status} = {text};"),
            None => format!("{text};"),
        });
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        self.parallel(share, &call, &count, &parts, status.as_deref());
        self.depth -= 1;
        self.line("}");
        if let Some(status) = &status {
            self.guard(&format!("if ({status} != SMOOTH_OK) {{"), status);
        }
    }

    /// The loop over parts.
    fn parallel(&mut self, share: &Share, call: &Call, count: &str, parts: &str, status: Option<&str>) {
        let in_order = if status.is_some() || !share.totals.is_empty() { "_IN_ORDER" } else { "" };
        self.line(format!("SMOOTH_PARALLEL{in_order}({parts})"));
        self.names.open();
        let part = self.names.local("part");
        self.line(format!("for (int64_t {part} = 0; {part} < {parts}; ++{part}) {{"));
        self.depth += 1;
        let mut room = match &call.slice {
            Some(slice) => format!("{} + (size_t){part} * {slice}", self.room_as_bytes()),
            None => "NULL".to_string(),
        };
        let mut next = format!("({} *)({room})", self.real.c());
        for total in &share.totals {
            if let Some(count) = total.few() {
                let name = self.declare(total.part);
                self.line(format!("{} {name}[{count}];", self.real.c()));
            } else if let Some(length) = &total.length {
                let name = self.declare(total.part);
                self.line(format!("{} *{name} = {next};", self.real.c()));
                let bytes = self.expr(&room_bytes(self.locals[total.part].elem, std::slice::from_ref(length), self.real));
                room = format!("(char *){name} + {bytes}");
                // behind an odd number of floats is a gap: what follows may be Indexes
                next = if self.real.keeps_alignment() {
                    format!("{name} + {}", self.addend(length))
                } else {
                    format!("({} *)({room})", self.real.c())
                };
            }
            self.stmt(&total.start, &[]);
        }
        let totals: Vec<(&Total, String)> = share.totals.iter().map(|total| (total, self.name(total.part))).collect();
        let place = if share.in_lanes { self.real.function("smooth_part_in_lanes") } else { "smooth_part".to_string() };
        let at = |part: &str| format!("{place}({count}, {part}, {parts})");
        let text = call.text(&at(&part), &at(&format!("{part} + 1")), count, &totals, &room);
        match status {
            None => self.line(format!("{text};")),
            Some(status) => {
                let own = self.names.local("part_status");
                self.line(format!("const smooth_status {own} = {text};"));
                self.in_order(share, Some(format!("{status} = {status} == SMOOTH_OK ? {own} : {status};")));
            }
        }
        if status.is_none() && !share.totals.is_empty() {
            self.in_order(share, None);
        }
        self.depth -= 1;
        self.line("}");
        self.names.close();
    }

    /// What parts do one after the other.
    fn in_order(&mut self, share: &Share, status: Option<String>) {
        self.line("SMOOTH_IN_ORDER");
        self.line("{");
        self.depth += 1;
        for total in &share.totals {
            self.stmt(&total.join, &[]);
        }
        status.iter().for_each(|status| self.line(status));
        self.depth -= 1;
        self.line("}");
    }

    /// Prints the function that runs a part.
    fn call_of(&mut self, share: &Share) -> Call {
        let number = self.parts.len();
        let name = self.file.parts.get(&self.function).and_then(|parts| parts.get(number)).cloned().unwrap_or_default();
        let captured: Vec<String> = share.captured.iter().map(|captured| self.name(captured.id)).collect();
        let fails = can_fail(&share.body);
        let mut names = self.names.of_file();
        names.open();
        captured.iter().for_each(|name| names.take(name));
        let scalars: Vec<&Total> = share.totals.iter().filter(|total| total.length.is_none()).collect();
        let (from, end) = (names.local("from"), names.local("end"));
        let totals: Vec<String> = scalars.iter().map(|total| names.local(&self.locals[total.part].name)).collect();
        let (workspace, workspace_bytes) = (names.local("workspace"), names.local("workspace_bytes"));
        let all = has_tiles(&share.body, &share.loops).then(|| names.local("all"));
        let mut params = vec![format!("int64_t {from}"), format!("int64_t {end}")];
        params.extend(all.iter().map(|all| format!("int64_t {all}")));
        params.extend(share.captured.iter().zip(&captured).map(|(captured, name)| self.parameter(*captured, name)));
        for (total, name) in scalars.iter().zip(&totals) {
            params.push(format!("{} *SMOOTH_RESTRICT {name}", c_type(self.locals[total.id].elem, self.real)));
        }
        let with_room = share.slice.is_some() && uses_room(&share.body);
        if with_room {
            params.push(format!("void *{workspace}"));
        }
        if with_room && needs_bytes(&share.body, self.entries) {
            params.push(format!("size_t {workspace_bytes}"));
        }
        let mut named = vec![None; self.locals.len()];
        share.captured.iter().zip(&captured).for_each(|(captured, name)| named[captured.id] = Some(name.clone()));
        let mut printer = Printer {
            file: self.file,
            real: self.real,
            locals: self.locals,
            entries: self.entries,
            named,
            names: &mut names,
            function: self.function.clone(),
            measured: self.measured,
            deeper: self.deeper,
            room: with_room.then(|| workspace.clone()),
            ground: with_room.then_some(Ground { start: workspace, bytes: workspace_bytes, is_void: true }),
            part: Some(Part { loops: share.loops.clone(), from, end, all: all.clone() }),
            parts: Vec::new(),
            in_lanes: false,
            lines: Vec::new(),
            depth: 1,
        };
        for (total, name) in scalars.iter().zip(&totals) {
            let ty = c_type(printer.locals[total.id].elem, printer.real);
            let own = printer.declare(total.id);
            printer.line(format!("{ty} {own} = *{name};"));
        }
        printer.depth = 0;
        printer.block(&share.body);
        printer.depth = 1;
        for (total, name) in scalars.iter().zip(&totals) {
            printer.line(format!("*{name} = {};", printer.name(total.id)));
        }
        if fails {
            printer.line("return SMOOTH_OK;");
        }
        let lines = printer.lines;
        let result = if fails { "smooth_status" } else { "void" };
        let doc = vec![format!("a part of a loop in {} that threads share", self.callee(&Callee::Body(self.function.clone())))];
        let is_narrow = self.real == Real::F64 && writes_narrow_rows(&share.body);
        let narrow = if is_narrow { "SMOOTH_NARROW\n" } else { "" };
        self.parts.push(FunctionView {
            doc,
            signature: format!("{narrow}SMOOTH_PART static {result} {name}({})", params.join(", ")),
            lines,
        });
        let captured = share.captured.iter().map(|captured| captured.id).zip(captured).collect();
        Call { name, captured, fails, asks_all: all.is_some(), slice: None, bytes: None, with_room }
    }

    fn parameter(&self, captured: Captured, name: &str) -> String {
        let local = &self.locals[captured.id];
        let ty = c_type(local.elem, self.real);
        let constant = if captured.written { "" } else { "const " };
        let restrict = if captured.alone { "SMOOTH_RESTRICT " } else { "" };
        match local.form {
            Form::Scalar { .. } => format!("{ty} {name}"),
            Form::Source { .. } | Form::Target { .. } => format!("{constant}{ty} *{restrict}{name}"),
        }
    }

    /// The free workspace as a pointer to bytes.
    pub fn room_as_bytes(&self) -> String {
        match (&self.room, &self.ground) {
            (None, _) => "NULL".to_string(),
            (Some(room), Some(ground)) if ground.is_void && ground.start == *room => format!("(char *){room}"),
            (Some(room), _) => room.clone(),
        }
    }

    /// How many bytes of workspace are left.
    pub fn bytes_left(&self) -> String {
        match (&self.ground, &self.room) {
            (Some(ground), Some(room)) if ground.start == *room => ground.bytes.clone(),
            (Some(ground), Some(room)) => {
                let cast = if ground.is_void { "(char *)" } else { "" };
                format!("{} - (size_t)({room} - {cast}{})", ground.bytes, ground.start)
            }
            (None, _) | (_, None) => "0".to_string(),
        }
    }
}

impl Call {
    /// A call for some iterations of all; `totals` are named as what these collect into.
    fn text(&self, from: &str, end: &str, all: &str, totals: &[(&Total, String)], room: &str) -> String {
        let mut args = vec![from.to_string(), end.to_string()];
        args.extend(self.asks_all.then(|| all.to_string()));
        let own = |id: Id| totals.iter().find(|(total, _)| total.id == id).map(|(_, name)| name.clone());
        args.extend(self.captured.iter().map(|(id, name)| own(*id).unwrap_or_else(|| name.clone())));
        args.extend(totals.iter().filter(|(total, _)| total.length.is_none()).map(|(_, name)| format!("&{name}")));
        if self.with_room {
            args.push(room.to_string());
            args.extend(self.bytes.clone());
        }
        format!("{}({})", self.name, args.join(", "))
    }
}

/// Whether one of these loops writes rows by way of tiles: how, depends on how many rows there are in all.
fn has_tiles(block: &[Stmt], loops: &[Id]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::For { i, lanes: Lanes::Tile(_), .. } => loops.contains(i),
        _ => stmt.blocks().any(|block| has_tiles(block, loops)),
    })
}

/// Whether a callee of a block asks for the length of its workspace.
fn needs_bytes(block: &[Stmt], shape: &dyn Fn(&str) -> Shape) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt, Stmt::Invoke(call) if shape(&call.callee).is_told) || stmt.blocks().any(|block| needs_bytes(block, shape))
    })
}
