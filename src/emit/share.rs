//! A loop that threads share, in C: a loop over parts, each of which runs its iterations in their order.
//!
//!     for i < n: s += v[i]   →   const int64_t parts = smooth_parts(n, 2.0);
//!                                SMOOTH_PARALLEL_IN_ORDER(parts)
//!                                for (int64_t part = 0; part < parts; ++part) {
//!                                    double part_s = 0.0;
//!                                    const int64_t end = smooth_part(n, part + 1, parts);
//!                                    for (int64_t i = smooth_part(n, part, parts); i < end; ++i) { part_s += v[i]; }
//!                                    SMOOTH_IN_ORDER
//!                                    { s += part_s; }
//!                                }
//!
//! No part leaves the loop over parts: what goes wrong ends the part, and the status of the first part where
//! something did is returned after the loop. Without OpenMP there is one part and the macros are empty.

use crate::lower::can_fail;
use crate::lower::program::*;

use super::stmt::{Printer, uses_room};

/// The workspace that the current function or part may use: a pointer to its first byte, and its length.
#[derive(Clone, Debug)]
pub struct Ground {
    pub start: String,
    pub bytes: String,
    /// A parameter, so a `void *`.
    pub is_void: bool,
}

impl Printer<'_> {
    pub fn share(&mut self, share: &Share) {
        let fails = can_fail(&share.body);
        let in_order = fails || !share.totals.is_empty();
        let count = self.expr(&share.count);
        self.line("/* threads share the iterations, a part for each */");
        // an estimate in doubles, whatever the program's numbers are
        let real = std::mem::take(&mut self.real);
        let mut parts_of = format!("smooth_parts({count}, {})", self.expr(&share.work));
        self.real = real;
        let slice = share.slice.as_ref().map(|slice| {
            let name = self.names.local("slice");
            let callee = self.callee(&Callee::Slice(self.function.clone(), slice.number));
            let args: Vec<String> = slice.args.iter().filter_map(|at| self.measured.get(*at)).cloned().collect();
            let bytes = format!("{callee}({})", args.join(", "));
            self.line(format!("const size_t {name} = smooth_slice({bytes});"));
            parts_of = format!("smooth_fit({parts_of}, {}, {name})", self.bytes_left());
            (name, bytes)
        });
        let parts = self.names.local("parts");
        self.line(format!("const int64_t {parts} = {parts_of};"));
        let status = fails.then(|| self.names.local("status"));
        if let Some(status) = &status {
            self.line(format!("smooth_status {status} = SMOOTH_OK;"));
        }
        self.line(format!("SMOOTH_PARALLEL{}({parts})", if in_order { "_IN_ORDER" } else { "" }));
        self.names.open();
        let part = self.names.local("part");
        self.line(format!("for (int64_t {part} = 0; {part} < {parts}; ++{part}) {{"));
        self.depth += 1;
        self.part(share, &part, &parts, slice.as_ref(), status.as_deref());
        self.depth -= 1;
        self.line("}");
        self.names.close();
        if let Some(status) = &status {
            self.stop_at(status);
        }
    }

    /// What one thread does.
    fn part(&mut self, share: &Share, part: &str, parts: &str, slice: Option<&(String, String)>, status: Option<&str>) {
        let outer = (self.room.clone(), self.ground.clone(), self.leaves.clone());
        if let (Some((slice, bytes)), true) = (slice, uses_room(&share.body)) {
            let name = self.names.local("ws");
            let from = self.room_as_bytes();
            self.line(format!("char *{name} = {from} + (size_t){part} * {slice};"));
            self.room = Some(name.clone());
            // a lone part may have no more than it needs
            self.ground = Some(Ground { start: name, bytes: bytes.clone(), is_void: false });
        }
        if status.is_some() {
            let name = self.names.local("part_status");
            self.line(format!("smooth_status {name} = SMOOTH_OK;"));
            self.leaves = Some(name);
        }
        for total in &share.totals {
            self.stmt(&Stmt::Declare { id: total.part, init: Some(total.neutral.clone()) }, &[]);
        }
        let count = self.expr(&share.count);
        let end = self.names.local("end");
        let place = match share.lanes {
            Lanes::One => "smooth_part".to_string(),
            Lanes::Any | Lanes::Sum(_) | Lanes::Tile(_) => self.real.function("smooth_part_in_lanes"),
        };
        self.line(format!("const int64_t {end} = {place}({count}, {part} + 1, {parts});"));
        self.repeat(share.i, &format!("{place}({count}, {part}, {parts})"), &end, &share.body, &share.lanes);
        if status.is_some() || !share.totals.is_empty() {
            self.line("SMOOTH_IN_ORDER");
            self.line("{");
            self.depth += 1;
            for total in &share.totals {
                self.stmt(&Stmt::Assign { place: Place::Local(total.id), value: total.joined.clone() }, &[]);
            }
            if let (Some(status), Some(own)) = (status, self.leaves.clone()) {
                self.line(format!("if ({status} == SMOOTH_OK) {{"));
                self.line(format!("    {status} = {own};"));
                self.line("}");
            }
            self.depth -= 1;
            self.line("}");
        }
        (self.room, self.ground, self.leaves) = outer;
    }

    /// Leaves the function, or the part of a loop, when a status says so.
    pub fn stop_at(&mut self, status: &str) {
        let head = format!("if ({status} != SMOOTH_OK) {{");
        match self.leaves.clone() {
            // a loop within the part ended; the part's own ends next
            Some(own) if own == status => {
                self.line(head);
                self.line("    break;");
                self.line("}");
            }
            _ => self.guard(&head, status),
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
