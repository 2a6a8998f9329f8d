//! Sums over rows that threads share by columns: each thread walks all rows in their order, over columns of its own.
//!
//! In: statements that follow one another. Out: how many of them, from the first on, may be run by several threads, each for
//! some of the columns, and the loops over columns:
//!
//!     for j < n: out[j] = 0                          yes: all that is written and read again is out[j]
//!     for i < m: for j < n: out[j] += A[i][j]
//!     for j < n: out[j] = sqrt(out[j])
//!
//!     for i < m: for j < n: out[j] += out[i] * 2     no
//!
//! Every column is computed as without threads. What a row does before its columns is done by each thread, so it must be short;
//! and nothing may fail, since the first row that did says how.

use std::collections::HashSet;

use super::work;
use crate::loops::analysis::effects::inside;
use crate::loops::analysis::failures::can_fail;
use crate::loops::analysis::homes::Homes;
use crate::loops::program::*;
use crate::loops::visit::{each_local, mentions, reads};

/// What a row may do before its columns: each thread does it.
const SHORT_ROW: f64 = 64.0;

/// Statements that threads share by columns.
pub struct Columns {
    /// How many statements it takes.
    pub length: usize,
    pub count: Value,
    /// The loops over columns.
    pub loops: Vec<Id>,
}

impl Columns {
    /// The longest run of statements from the first on that has a loop over rows.
    pub fn find(block: &[Stmt], locals: &[Local], homes: &Homes) -> Option<Columns> {
        let count = block.first().and_then(first_count)?;
        let mut found = None;
        let mut group = Group { count: &count, locals, homes, loops: Vec::new(), rows: 0, names: HashSet::new(), accesses: Vec::new() };
        for (at, stmt) in block.iter().enumerate() {
            // a name for a number of rows goes before the loops
            if let Stmt::Declare { id, init: Some(init) } = stmt
                && at > 0
                && is_fixed(locals, *id, init)
            {
                continue;
            }
            if can_fail(std::slice::from_ref(stmt)) || group.stmt(stmt).is_none() || !group.is_apart(&block[..=at]) {
                break;
            }
            if group.rows > 0 && !outlives(&block[..=at], &block[at + 1..], locals) {
                found = Some(Columns { length: at + 1, count: count.clone(), loops: group.loops.clone() });
            }
        }
        found
    }
}

/// Whether what a run of statements declares, but for names that go before it, is used after it.
fn outlives(run: &[Stmt], rest: &[Stmt], locals: &[Local]) -> bool {
    let mut declared = run.iter().filter_map(|stmt| match stmt {
        Stmt::Declare { id, init } if !init.as_ref().is_some_and(|init| is_fixed(locals, *id, init)) => Some(*id),
        Stmt::Room(room) => Some(room.id),
        Stmt::Declare { .. }
        | Stmt::Point { .. }
        | Stmt::Assign { .. }
        | Stmt::Update { .. }
        | Stmt::For { .. }
        | Stmt::While { .. }
        | Stmt::Share(_)
        | Stmt::If { .. }
        | Stmt::Fail { .. }
        | Stmt::NoRoom { .. }
        | Stmt::Invoke(_)
        | Stmt::Rotate(_)
        | Stmt::Scope(_)
        | Stmt::Return(_) => None,
    });
    declared.any(|id| rest.iter().any(|stmt| mentions(stmt, id)))
}

/// The number of columns, if a statement is a loop over columns or rows.
fn first_count(stmt: &Stmt) -> Option<Value> {
    match stmt {
        Stmt::For { count, apart: true, .. } => Some(count.clone()),
        Stmt::For { body, .. } | Stmt::Scope(body) => body.iter().find_map(first_count),
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).find_map(first_count),
        _ => None,
    }
}

/// Whether a name is a constant that nothing in memory decides.
pub fn is_fixed(locals: &[Local], id: Id, init: &Value) -> bool {
    fn is_plain(locals: &[Local], value: &Value) -> bool {
        match value {
            Value::Local(id) => locals[*id].form == Form::Scalar { mutable: false },
            Value::Index(_) => true,
            Value::Prim { args, .. } => args.iter().all(|arg| is_plain(locals, arg)),
            Value::Double(_)
            | Value::Bool(_)
            | Value::InRow(_)
            | Value::Load { .. }
            | Value::Select(_)
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => false,
        }
    }
    locals[id].form == Form::Scalar { mutable: false } && is_plain(locals, init)
}

/// An element that a loop over columns reads or writes, or a row before them.
struct Access {
    base: Id,
    /// The loop over columns and the place.
    place: Option<(Id, Value)>,
    written: bool,
}

struct Group<'a> {
    count: &'a Value,
    locals: &'a [Local],
    homes: &'a Homes,
    loops: Vec<Id>,
    rows: usize,
    /// What a row names.
    names: HashSet<Id>,
    accesses: Vec<Access>,
}

impl Group<'_> {
    /// Takes a statement in; `None` where it is no loop over columns or rows.
    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::For { i, count, body, apart: true, .. } if count == self.count => {
                self.loops.push(*i);
                let own = inside(body);
                self.block(body, Some(*i), &own)
            }
            Stmt::For { i, count, body, apart: false, .. } if body.iter().any(|stmt| self.has_columns(stmt)) => {
                self.rows += 1;
                self.names.insert(*i);
                self.names.extend(inside(body));
                self.value(count, None);
                body.iter().try_for_each(|stmt| self.stmt(stmt))
            }
            Stmt::If { cond, then, otherwise } if then.iter().chain(otherwise).any(|stmt| self.has_columns(stmt)) => {
                self.value(cond, None);
                then.iter().chain(otherwise).try_for_each(|stmt| self.stmt(stmt))
            }
            Stmt::Scope(body) => body.iter().try_for_each(|stmt| self.stmt(stmt)),
            _ => {
                let block = std::slice::from_ref(stmt);
                let is_short = matches!(work::of_block(block, &[], &|_| true), Value::Double(work) if work <= SHORT_ROW);
                let own = self.names.clone();
                (self.rows > 0 && is_short).then_some(())?;
                self.block(block, None, &own)
            }
        }
    }

    fn has_columns(&self, stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::For { count, apart: true, .. } if count == self.count)
            || stmt.blocks().flatten().any(|stmt| self.has_columns(stmt))
    }

    /// Statements of a column, or of a row; `own` is what they may change.
    fn block(&mut self, block: &[Stmt], column: Option<Id>, own: &HashSet<Id>) -> Option<()> {
        for stmt in block {
            match stmt {
                Stmt::Declare { init, .. } => init.iter().for_each(|init| self.value(init, column)),
                Stmt::Assign { place: Place::Local(id), value } => {
                    self.value(value, column);
                    own.contains(id).then_some(())?;
                }
                Stmt::Assign { place: Place::Element { base, offset }, value } => {
                    self.value(value, column);
                    offset.iter().for_each(|offset| self.value(offset, column));
                    if !own.contains(base) {
                        let place = column.zip(offset.clone());
                        self.accesses.push(Access { base: *base, place, written: true });
                    }
                }
                Stmt::Update { base, offset, value } => {
                    self.value(value, column);
                    self.value(offset, column);
                    own.contains(base).then_some(())?;
                }
                Stmt::Room(room) => room.few().map(|_| ())?,
                Stmt::For { count, body, lanes, .. } => {
                    (!matches!(lanes, Lanes::Tile(_))).then_some(())?;
                    self.value(count, column);
                    self.block(body, column, own)?;
                }
                Stmt::If { cond, then, otherwise } => {
                    self.value(cond, column);
                    self.block(then, column, own)?;
                    self.block(otherwise, column, own)?;
                }
                Stmt::Scope(body) => self.block(body, column, own)?,
                Stmt::Point { .. }
                | Stmt::While { .. }
                | Stmt::Share(_)
                | Stmt::Fail { .. }
                | Stmt::NoRoom { .. }
                | Stmt::Invoke(_)
                | Stmt::Rotate(_)
                | Stmt::Return(_) => return None,
            }
        }
        Some(())
    }

    fn value(&mut self, value: &Value, column: Option<Id>) {
        match value {
            Value::Load { base, offset } => {
                offset.iter().for_each(|offset| self.value(offset, column));
                let place = column.zip(offset.as_deref().cloned());
                self.accesses.push(Access { base: *base, place, written: false });
            }
            Value::Prim { args, .. } | Value::Helper(_, args) => {
                args.iter().for_each(|arg| self.value(arg, column));
            }
            Value::InRow(parts) | Value::Select(parts) => parts.iter().for_each(|part| self.value(part, column)),
            Value::Call(..) | Value::Moved { .. } => {
                each_local(value, &mut |base| self.accesses.push(Access { base, place: None, written: false }));
            }
            // a helper may read what a pointer leads to
            Value::Local(id) if !matches!(self.locals[*id].form, Form::Scalar { .. }) => {
                self.accesses.push(Access { base: *id, place: None, written: false });
            }
            Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(..) => {}
        }
    }

    /// Whether no column reads or writes what another one writes.
    fn is_apart(&self, block: &[Stmt]) -> bool {
        let declared = inside(block);
        let varies = |value: &Value, column: Id| {
            let mut found = false;
            each_local(value, &mut |id| found |= id != column && declared.contains(&id));
            found
        };
        self.accesses.iter().filter(|access| access.written).all(|access| {
            let Some((column, place)) = &access.place else { return false };
            let Some(start) = start_of_row(place, *column) else { return false };
            if start.iter().any(|start| varies(start, *column)) {
                return false;
            }
            let home = self.homes.of(access.base);
            self.accesses.iter().filter(|other| self.homes.of(other.base) == home).all(|other| {
                let same = other.place.as_ref().and_then(|(column, place)| start_of_row(place, *column)) == Some(start);
                other.base == access.base && same
            })
        })
    }
}

/// The row and the length of rows, if there are any: `None` where an offset is not of an element of that column.
fn start_of_row(place: &Value, column: Id) -> Option<&[Value]> {
    match place {
        Value::Local(id) if *id == column => Some(&[]),
        Value::InRow(parts) => match &**parts {
            [row, length, Value::Local(id)] if *id == column && !reads(row, column) && !reads(length, column) => Some(&parts[..2]),
            _ => None,
        },
        _ => None,
    }
}
