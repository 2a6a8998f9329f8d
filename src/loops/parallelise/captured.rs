//! What a loop that threads share uses of what is declared around it: the parameters of the function that runs a part of it.
//!
//! In: a function's body and the loop. Out: the locals from outside, in the order of their numbers, and of each array whether a
//! part writes it, and whether no other pointer leads to what it points to, which tells a compiler that nothing else changes it.
//!
//!     const double *row = A + i * n; for j < n: out[j] = row[j] * s   →   n, s, row (read, alone), out (written, alone)

use std::collections::{BTreeSet, HashSet};

use crate::loops::analysis::homes::Homes;
use crate::loops::program::*;
use crate::loops::visit::{each_in_argument, each_in_pointer, each_local};

/// The locals that what threads share has from outside, scalar totals apart; `body` is all of the function's.
pub fn captured(locals: &[Local], body: &[Stmt], share: &Share) -> Vec<Captured> {
    let mut uses = Uses { loops: &share.loops, ..Uses::default() };
    uses.block(locals, &share.body);
    let totals: HashSet<Id> = share.totals.iter().filter(|total| total.length.is_none()).map(|total| total.id).collect();
    let ids: Vec<Id> = uses.used.into_iter().filter(|id| !uses.declared.contains(id) && !totals.contains(id)).collect();
    let homes = Homes::of_block(body);
    let alone = |id: Id| {
        let shared = |other: &&Id| homes.of(**other) == homes.of(id);
        let same: Vec<&Id> = ids.iter().filter(shared).collect();
        same.len() == 1 || !same.iter().any(|other| uses.written.contains(other))
    };
    ids.iter().map(|id| Captured { id: *id, written: uses.written.contains(id), alone: alone(*id) }).collect()
}

/// Forgets what a part no longer uses.
pub fn forget_unused(locals: &[Local], share: &mut Share) {
    let mut uses = Uses { loops: &share.loops, ..Uses::default() };
    uses.block(locals, &share.body);
    let used = uses.used;
    share.captured.retain(|captured| used.contains(&captured.id));
}

#[derive(Default)]
struct Uses<'a> {
    /// The loops that are told where to begin and end.
    loops: &'a [Id],
    used: BTreeSet<Id>,
    declared: HashSet<Id>,
    written: HashSet<Id>,
}

impl Uses<'_> {
    fn block(&mut self, locals: &[Local], block: &[Stmt]) {
        block.iter().for_each(|stmt| self.stmt(locals, stmt));
    }

    fn value(&mut self, value: &Value) {
        each_local(value, &mut |id| {
            self.used.insert(id);
        });
    }

    fn pointer(&mut self, pointer: &Pointer) {
        each_in_pointer(pointer, &mut |id| {
            self.used.insert(id);
        });
    }

    fn stmt(&mut self, locals: &[Local], stmt: &Stmt) {
        let is_target = |id: Id| matches!(locals[id].form, Form::Target { .. });
        match stmt {
            Stmt::Declare { id, init } => {
                self.declared.insert(*id);
                init.iter().for_each(|init| self.value(init));
            }
            Stmt::Point { id, to } => {
                self.declared.insert(*id);
                let pointers = match to {
                    PointerValue::To(pointer) => vec![pointer],
                    PointerValue::Select(cond, a, b) => {
                        self.value(cond);
                        vec![a, b]
                    }
                };
                for pointer in pointers {
                    self.pointer(pointer);
                    if is_target(*id) {
                        self.written.insert(pointer.base);
                    }
                }
            }
            Stmt::Assign { place, value } => {
                self.value(value);
                match place {
                    Place::Local(id) => {
                        self.used.insert(*id);
                    }
                    Place::Element { base, offset } => {
                        self.used.insert(*base);
                        self.written.insert(*base);
                        offset.iter().for_each(|offset| self.value(offset));
                    }
                }
            }
            Stmt::Update { base, offset, value } => {
                self.value(value);
                self.value(offset);
                self.used.insert(*base);
                self.written.insert(*base);
            }
            Stmt::For { i, count, lanes, .. } => {
                self.declared.insert(*i);
                if !self.loops.contains(i) {
                    self.value(count);
                }
                if let Lanes::Tile(tiles) = lanes {
                    self.declared.insert(tiles.lane);
                    for panel in &tiles.panels {
                        self.declared.insert(panel.id);
                        self.pointer(&panel.from);
                    }
                    self.written.extend(tiles.tiles.iter().map(|tile| tile.base));
                }
            }
            Stmt::If { cond, .. } | Stmt::While { cond, .. } => self.value(cond),
            Stmt::Fail { cond, .. } | Stmt::NoRoom { cond } | Stmt::Return(cond) => self.value(cond),
            Stmt::Room(room) => {
                self.declared.insert(room.id);
                room.counts.iter().for_each(|count| self.value(count));
            }
            Stmt::Invoke(call) => {
                for arg in &call.args {
                    each_in_argument(arg, &mut |id| {
                        self.used.insert(id);
                    });
                    if let Argument::Pointer(pointer) = arg
                        && is_target(pointer.base)
                    {
                        self.written.insert(pointer.base);
                    }
                }
            }
            Stmt::Rotate(ids) => self.used.extend(ids.iter().copied()),
            Stmt::Share(_) | Stmt::Scope(_) => {}
        }
        stmt.blocks().for_each(|block| self.block(locals, block));
    }
}
