//! Whether rows may go side by side: each statement of a group is done for all of its rows before the next statement is.
//!
//! In: an iteration of a loop over rows, in parts. Out: whether no statement writes what another one has in another row of the
//! group; `false` where that is not seen.
//!
//!     for r < m: i = j + 1 + r;  s = a[i][j];  for k < j: s -= a[i][k] * a[j][k];  a[i][j] = s     may: column j is behind all k
//!     for i < n: s = x[i];       for k < i: s -= a[i][k] * x[k];  x[i] = s                         may not: x[k] is of a row before
//!
//! A statement that changes what it reads, as `s += …`, does so in the order of rows.

use std::collections::HashSet;

use super::Part;
use crate::ir::Prim;
use crate::loops::analysis::bounds::Around;
use crate::loops::analysis::dependence::{Access, Iterations, is_settled};
use crate::loops::analysis::effects::inside;
use crate::loops::analysis::homes::Homes;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::visit::{each_change, each_part, each_value};

/// What is known where a loop stands.
pub(super) struct Site<'a> {
    pub locals: &'a [Local],
    pub homes: &'a Homes,
    pub around: &'a Around,
    pub ranges: &'a Ranges,
}

/// An iteration of a loop over rows.
pub(super) struct Row<'a> {
    pub site: &'a Site<'a>,
    pub i: Id,
    pub count: &'a Value,
    pub body: &'a [Stmt],
    /// What differs from row to row: the index and what the body declares.
    pub own: HashSet<Id>,
    /// These, and what of outside the body assigns ([`changed`]).
    pub changed: HashSet<Id>,
}

/// An element that a statement reads or writes.
struct Element<'a> {
    /// The number of the statement.
    of: usize,
    base: Id,
    /// `None` where it is the only one of its array.
    offset: Option<Value>,
    loops: Vec<(Id, &'a Value)>,
    is_written: bool,
}

impl Element<'_> {
    fn access(&self) -> Option<Access<'_>> {
        self.offset.as_ref().map(|offset| Access { offset, loops: self.loops.clone() })
    }
}

impl<'a> Row<'a> {
    pub fn of(site: &'a Site<'a>, i: Id, count: &'a Value, body: &'a [Stmt]) -> Row<'a> {
        let mut own = inside(body);
        own.insert(i);
        Row { site, i, count, body, own, changed: changed(i, body) }
    }

    /// Whether so many rows may go side by side.
    pub fn goes_beside(&self, parts: &[Part], group: i64) -> bool {
        let statements: Vec<&Stmt> = parts.iter().flat_map(Part::statements).collect();
        let are_plain = parts.iter().all(|part| match part {
            Part::Plain(statements) => statements.iter().all(|stmt| self.is_plain(stmt)),
            // partial sums of each row
            Part::Sums(nest) => nest.sums.iter().all(|stmt| self.is_plain(stmt) && self.is_own(stmt)),
            Part::Adds(_) => true,
        });
        let is_rectangular = parts.iter().flat_map(Part::loops).all(|(_, count)| is_settled(count, &self.changed));
        are_plain && is_rectangular && self.scalars_are_alone(&statements) && self.elements_are_apart(parts, group)
    }

    /// A declaration of a scalar, an assignment to an element or to the row's own, or one that changes a scalar from outside. A
    /// branch is plain where it assigns the row's own.
    fn is_plain(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Declare { .. } | Stmt::Update { .. } | Stmt::Assign { place: Place::Element { .. }, .. } => true,
            Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).all(|stmt| self.is_own(stmt)),
            Stmt::Assign { place: Place::Local(id), value } => self.own.contains(id) || has(value, &Value::Local(*id)),
            _ => false,
        }
    }

    fn is_own(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Declare { .. } => true,
            Stmt::Assign { place: Place::Local(id), .. } => self.own.contains(id),
            _ => false,
        }
    }

    /// Whether each scalar from outside that is changed is had by one statement alone, which reads it once. No function is called.
    fn scalars_are_alone(&self, statements: &[&Stmt]) -> bool {
        let changed: Vec<Id> = statements.iter().filter_map(|stmt| self.changed_scalar(stmt)).collect();
        let mut uses: Vec<Id> = Vec::new();
        let mut is_plain = true;
        statements.iter().for_each(|stmt| {
            each_expression(stmt, &mut |value| match value {
                Value::Local(id) => uses.push(*id),
                Value::Call(..) | Value::Moved { .. } => is_plain = false,
                Value::Double(_)
                | Value::Index(_)
                | Value::Bool(_)
                | Value::Prim { .. }
                | Value::Load { .. }
                | Value::InRow(_)
                | Value::Select(_)
                | Value::Helper(..)
                | Value::SizeOf(..) => {}
            })
        });
        let times = |ids: &[Id], id: &Id| ids.iter().filter(|other| *other == id).count();
        is_plain && changed.iter().all(|id| times(&changed, id) == 1 && times(&uses, id) == 1)
    }

    fn changed_scalar(&self, stmt: &Stmt) -> Option<Id> {
        if let Stmt::Assign { place: Place::Local(id), .. } = stmt { Some(*id).filter(|id| !self.own.contains(id)) } else { None }
    }

    /// Whether no element that a statement writes is one that another statement, or another part of it, has in another row.
    fn elements_are_apart(&self, parts: &[Part], group: i64) -> bool {
        let mut elements: Vec<Element> = Vec::new();
        let in_loops = parts.iter().flat_map(|part| part.statements().iter().map(|stmt| (stmt, part.loops())));
        for (of, (stmt, loops)) in in_loops.enumerate() {
            let mut note = |base: Id, offset: Option<&Value>, is_written: bool| {
                elements.push(Element { of, base, offset: offset.cloned(), loops: loops.clone(), is_written });
            };
            if let Stmt::Assign { place: Place::Element { base, offset }, .. } = stmt {
                note(*base, offset.as_ref(), true);
            }
            if let Stmt::Update { base, offset, .. } = stmt {
                note(*base, Some(offset), true);
            }
            each_expression(stmt, &mut |value| {
                if let Value::Load { base, offset } = value {
                    note(*base, offset.as_deref(), false);
                }
            });
        }
        let iterations =
            Iterations { i: self.i, count: self.count, own: &self.changed, around: self.site.around, ranges: self.site.ranges };
        let are_apart = |a: &Element, b: &Element| {
            let meets = |(x, y): (Access, Access)| !iterations.never_meet(&x, &y, group);
            a.base == b.base && (a.of == b.of && a.offset == b.offset || !a.access().zip(b.access()).is_none_or(meets))
        };
        let mut written = elements.iter().filter(|element| element.is_written);
        written.all(|a| elements.iter().all(|b| !self.site.homes.may_meet(a.base, b.base) || are_apart(a, b)))
    }
}

/// What differs between iterations of a loop over `i`: the index, and what the body declares or assigns.
fn changed(i: Id, body: &[Stmt]) -> HashSet<Id> {
    let mut changed = HashSet::from([i]);
    each_change(body, &mut |id| {
        changed.insert(id);
    });
    changed
}

/// The constants of a loop's body that are the same in each iteration, sums of indices, and the loop without them.
pub(super) fn without_settled(locals: &[Local], stmt: &Stmt) -> Option<(Block, Stmt)> {
    let Stmt::For { i, body, .. } = stmt else { return None };
    let mut own = changed(*i, body);
    let mut settled = Block::new();
    let is_sum = |value: &Value| match value {
        Value::Prim { prim, elem: Elem::Index, plain: true, .. } => matches!(prim, Prim::Add | Prim::Sub),
        value => matches!(value, Value::Local(_) | Value::Index(_)),
    };
    for stmt in body {
        if let Stmt::Declare { id, init: Some(init) } = stmt
            && locals[*id].elem == Elem::Index
            && locals[*id].form == (Form::Scalar { mutable: false })
        {
            let mut is_plain = true;
            each_part(init, &mut |part| is_plain &= is_sum(part));
            if is_plain && is_settled(init, &own) {
                own.remove(id);
                settled.push(stmt.clone());
            }
        }
    }
    if settled.is_empty() {
        return None;
    }
    let mut rest = stmt.clone();
    rest.blocks_mut().for_each(|body| body.retain(|stmt| !matches!(stmt, Stmt::Declare { id, .. } if !own.contains(id))));
    Some((settled, rest))
}

/// Calls `f` on each expression of a statement, those of offsets and branches included.
fn each_expression(stmt: &Stmt, f: &mut dyn FnMut(&Value)) {
    if let Stmt::Assign { place: Place::Element { offset: Some(offset), .. }, .. } | Stmt::Update { offset, .. } = stmt {
        each_part(offset, f);
    }
    each_value(std::slice::from_ref(stmt), f);
}

/// Whether an expression has another in it.
pub(super) fn has(value: &Value, part: &Value) -> bool {
    value == part || matches!(value, Value::Prim { args, .. } if args.iter().any(|arg| has(arg, part)))
}
