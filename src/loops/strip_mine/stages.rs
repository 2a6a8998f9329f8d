//! The stages of an iteration: groups of statements that give each other nothing but arrays.
//!
//! In: the body of a loop. Out: its [`Stage`]s in order, where two of them or more are loops over rows of matrices, or one is
//! [`functions`] between loops, and what they give each other is an array with a row for each iteration; `None` where that is not so.
//! A loop that adds to arrays outside and does something else too is two: the sums are a stage of their own.
//!
//!     z = W x[i]; m = max z; e = exp (z - m); out += e ⊗ x[i]   →   z = W x[i] | m = max z; e = exp (z - m) | out += e ⊗ x[i]

use std::collections::{HashMap, HashSet};

use super::functions;
use super::rows::FEW;
use crate::loops::analysis::homes::Homes;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::rename::copied;
use crate::loops::visit::{each_local, each_use, each_written, mentions};

/// See the module's head.
pub struct Stage {
    /// The arrays that it is the first to have and that a later stage has too.
    pub spread: Vec<Room>,
    pub stmts: Block,
    /// Whether it writes nothing outside.
    pub is_own: bool,
}

impl Stage {
    /// Whether it has a loop over rows of a matrix.
    fn is_heavy(&self) -> bool {
        depth(&self.stmts) > 1
    }

    fn has(&self, array: Id) -> bool {
        self.stmts.iter().any(|stmt| mentions(stmt, array))
    }
}

/// What is known of a loop.
pub struct Body<'a> {
    /// The arrays outside that its iterations add to.
    pub added: &'a [Id],
    /// The scalars outside that they add to.
    pub summed: &'a [Id],
    /// What an iteration declares, and its index.
    pub inside: &'a HashSet<Id>,
    pub homes: &'a Homes,
    /// Whether stages count that are no loops over rows of matrices.
    pub eager: bool,
}

impl Body<'_> {
    /// The stages of the statements of an iteration.
    pub fn stages(&self, body: &[Stmt], locals: &mut Vec<Local>, ranges: &mut Ranges) -> Option<Vec<Stage>> {
        body.iter().all(|stmt| self.may_be_in_a_block(stmt)).then_some(())?;
        let stmts: Block = body.iter().flat_map(|stmt| self.split(stmt, locals, ranges)).collect();
        let with_functions = functions::apart(&stmts, self.homes, self.eager, locals, ranges);
        let has_functions = with_functions.is_some();
        let stmts = with_functions.unwrap_or(stmts);
        let (mut rooms, mut rest) = (Vec::new(), Vec::new());
        for stmt in stmts {
            match stmt {
                Stmt::Room(room) if self.may_be_spread(&room) => rooms.push(room),
                stmt => rest.push(stmt),
            }
        }
        let mut stages = self.grouped(rest);
        let is_chain = stages.iter().filter(|stage| self.eager || stage.is_heavy()).count() > 1
            || has_functions && stages.iter().any(|stage| functions::are_alone(&stage.stmts));
        is_chain.then_some(())?;
        for room in rooms {
            let Some(first) = stages.iter().position(|stage| stage.has(room.id)) else { continue };
            if stages[first + 1..].iter().any(|stage| stage.has(room.id)) {
                stages[first].spread.push(room);
            } else {
                stages[first].stmts.insert(0, Stmt::Room(room));
            }
        }
        Some(stages)
    }

    /// Whether a statement neither stops the function nor moves pointers.
    fn may_be_in_a_block(&self, stmt: &Stmt) -> bool {
        let here = match stmt {
            Stmt::Fail { .. } | Stmt::NoRoom { .. } | Stmt::Return(_) | Stmt::Share(_) | Stmt::Rotate(_) | Stmt::While { .. } => false,
            Stmt::Invoke(call) => !call.fallible,
            Stmt::For { lanes, .. } => *lanes == Lanes::One,
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::If { .. }
            | Stmt::Room(_)
            | Stmt::Scope(_) => true,
        };
        here && stmt.blocks().flatten().all(|stmt| self.may_be_in_a_block(stmt))
    }

    /// A vector whose length all iterations have.
    fn may_be_spread(&self, room: &Room) -> bool {
        let mut is_same = room.counts.len() == 1 && room.elem != Elem::Bytes;
        room.counts.iter().for_each(|count| each_local(count, &mut |id| is_same &= !self.inside.contains(&id)));
        is_same
    }

    /// The statements in as many groups as can be, in order, so that what one declares no other has.
    fn grouped(&self, stmts: Block) -> Vec<Stage> {
        let mut last = HashMap::new();
        for (at, stmt) in stmts.iter().enumerate() {
            each_use(stmt, &mut |id| _ = last.insert(id, at));
        }
        let mut stages: Vec<Stage> = Vec::new();
        let mut end = 0;
        for (at, stmt) in stmts.into_iter().enumerate() {
            if at >= end {
                stages.push(Stage { spread: Vec::new(), stmts: Vec::new(), is_own: true });
                end = at + 1;
            }
            if let Stmt::Declare { id, .. } | Stmt::Point { id, .. } | Stmt::Room(Room { id, .. }) = &stmt {
                end = end.max(last[id] + 1);
            }
            if let Some(stage) = stages.last_mut() {
                each_use(&stmt, &mut |id| stage.is_own &= !self.added.contains(&id) && !self.summed.contains(&id));
                stage.stmts.push(stmt);
            }
        }
        stages
    }

    /// A loop that adds to arrays outside and writes arrays inside as two loops; other statements as they are.
    fn split(&self, stmt: &Stmt, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Block {
        let parts = matches!(stmt, Stmt::For { .. }).then(|| (self.part(stmt, false), self.part(stmt, true)));
        match parts {
            Some((Some(Some(own)), Some(Some(sums)))) if self.are_apart(&own, &sums) => {
                let mut block = vec![own];
                block.extend(copied(&[sums], locals, ranges));
                block
            }
            _ => vec![stmt.clone()],
        }
    }

    /// The loop nest with statements of one kind alone: additions to arrays outside, or the others. `Some(None)`: it has none of that
    /// kind. `None`: it has statements other than writes of elements.
    fn part(&self, stmt: &Stmt, sums: bool) -> Option<Option<Stmt>> {
        match stmt {
            Stmt::For { i, var, count, size, body, lanes, apart } => {
                let mut kept: Block = Vec::new();
                for stmt in body {
                    kept.extend(self.part(stmt, sums)?);
                }
                // what nothing is left to read
                for at in (0..kept.len()).rev() {
                    if let Stmt::Declare { id, .. } = kept[at]
                        && !kept[at + 1..].iter().any(|stmt| mentions(stmt, id))
                    {
                        kept.remove(at);
                    }
                }
                if kept.is_empty() {
                    return Some(None);
                }
                let (i, var, count, size) = (*i, var.clone(), count.clone(), size.clone());
                Some(Some(Stmt::For { i, var, count, size, body: kept, lanes: lanes.clone(), apart: *apart }))
            }
            Stmt::Declare { init: Some(_), .. } => Some(Some(stmt.clone())),
            Stmt::Assign { place: Place::Element { base, .. }, .. } | Stmt::Update { base, .. } => {
                Some((self.added.contains(base) == sums).then(|| stmt.clone()))
            }
            _ => None,
        }
    }

    /// Whether the sums can be done after the rest: they read nothing that it writes.
    fn are_apart(&self, own: &Stmt, sums: &Stmt) -> bool {
        let mut written = Vec::new();
        each_written(own, &mut |base| written.push(base));
        let mut apart = true;
        each_use(sums, &mut |id| apart &= !written.iter().any(|base| self.homes.may_meet(*base, id)));
        apart
    }
}

/// How many loops stand in each other, but for those of a few iterations.
fn depth(block: &[Stmt]) -> usize {
    let few = |count: &Value| matches!(count, Value::Index(count) if *count < FEW);
    let own = |stmt: &Stmt| {
        let is_loop = matches!(stmt, Stmt::For { count, .. } if !few(count));
        usize::from(is_loop) + stmt.blocks().map(|block| depth(block)).max().unwrap_or(0)
    };
    block.iter().map(own).max().unwrap_or(0)
}
