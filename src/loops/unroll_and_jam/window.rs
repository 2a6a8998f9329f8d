//! Sums over windows: as many rows at a time as a vector has lanes, one in each.
//!
//! In: a loop whose iterations each add up what they read from one place further on than the iteration before. Out: the body of
//! a loop over groups of such iterations, in which the lanes are the innermost loop.
//!
//!     s = 0; for j < p: s += x[i + j] * k[j];       →   for lane < 8: s[lane] = 0
//!     t[i] = s                                          for j < p: for lane < 8: s[lane] += x[i * 8 + lane + j] * k[j]
//!                                                       for lane < 8: t[i * 8 + lane] = s[lane]
//!
//! The lanes then read and write what lies side by side, however short the window is, and each sum keeps its order. A window of
//! several indices, as that of a picture, has as many loops around the lanes.

use std::collections::HashMap;

use crate::ir::Size;
use crate::source::Span;

use super::{Copy, Part, Rows, is_any, plus};
use crate::loops::analysis::affine::{Affine, growth};
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::visit::each_value;
use crate::loops::visit::{each_local, reads};

/// A loop over rows in which no index has a name: offsets are sums of the loops' indices. `None` where none had, or something
/// else than an offset asks for one.
///
///     for i: const k = first + i; for j < p: const l = k + 1 - p + j; s += a[k - l] * t[l]
///       →   for i: for j < p: s += a[p - 1 - j] * t[first + i + 1 - p + j]
pub(super) fn without_names(locals: &[Local], stmt: &Stmt) -> Option<Stmt> {
    let mut stmt = stmt.clone();
    let Stmt::For { body, .. } = &mut stmt else { return None };
    let mut named = HashMap::new();
    is_nameless(locals, body, &mut named).then_some(())?;
    (!named.is_empty()).then_some(stmt)
}

/// Takes the names of indices out of a block and its loops; whether nothing is left that reads one.
fn is_nameless(locals: &[Local], block: &mut Block, named: &mut HashMap<Id, Value>) -> bool {
    block.retain(|stmt| {
        if let Stmt::Declare { id, init: Some(init @ Value::Prim { elem: Elem::Index, .. }) } = stmt
            && locals[*id].form == (Form::Scalar { mutable: false })
        {
            named.insert(*id, init.clone());
            false
        } else {
            true
        }
    });
    let mut fits = true;
    for stmt in block.iter_mut() {
        match stmt {
            Stmt::For { count, body, .. } => {
                fits &= is_nameless(locals, body, named);
                each_local(count, &mut |id| fits &= !named.contains_key(&id));
            }
            Stmt::Declare { init: Some(value), .. } | Stmt::Assign { place: Place::Local(_), value } => fits &= by_offsets(value, named),
            Stmt::Assign { place: Place::Element { offset: Some(at), .. }, value } => {
                fits &= normalise(at, named) && by_offsets(value, named);
            }
            _ => fits = false,
        }
    }
    fits
}

fn by_offsets(value: &mut Value, named: &HashMap<Id, Value>) -> bool {
    match value {
        Value::Load { offset: Some(at), .. } => normalise(at, named),
        Value::Local(id) => !named.contains_key(id),
        Value::Call(..) | Value::Moved { .. } => false,
        value => value.parts_mut().iter_mut().all(|part| by_offsets(part, named)),
    }
}

/// Puts sums for the names in an offset; whether that leaves none.
fn normalise(offset: &mut Value, named: &HashMap<Id, Value>) -> bool {
    if let Value::InRow(parts) = offset {
        return parts.iter_mut().all(|part| normalise(part, named));
    }
    let has_names = |value: &Value| named.keys().any(|id| reads(value, *id));
    if has_names(offset) {
        match Affine::of(offset, named).value() {
            Some(sum) => *offset = sum,
            None => return false,
        }
    }
    !has_names(offset)
}

impl Rows<'_> {
    /// Whether each row's sums go over a window that lies one element after that of the row before, and all other accesses of a row
    /// are invariant or one element after those of the row before.
    pub(super) fn are_windows(&self, locals: &[Local]) -> bool {
        let (mut steps, mut fits, mut is_read) = (Vec::new(), true, true);
        for part in &self.parts {
            if let Part::Sums(nest) = part {
                let indices: Vec<Id> = nest.indices().map(|(j, _)| j).collect();
                let mut by_column = false;
                each_value(nest.sums, &mut |value| {
                    by_column |=
                        matches!(value, Value::Load { offset: Some(at), .. } if step(at, self.i) == Some(1) && is_any(at, &indices));
                });
                is_read &= by_column;
            }
            each_value(part.statements(), &mut |value| {
                if let Value::Load { offset: Some(at), .. } = value {
                    steps.push(step(at, self.i));
                }
            });
            for stmt in part.statements() {
                match stmt {
                    Stmt::Assign { place: Place::Element { offset: Some(at), .. }, .. } => steps.push(step(at, self.i)),
                    Stmt::Declare { id, .. } => fits &= locals[*id].elem == Elem::Double,
                    Stmt::Assign { place: Place::Local(_), .. } => {}
                    _ => fits = false,
                }
            }
        }
        fits && is_read && steps.iter().all(|step| matches!(step, Some(0 | 1)))
    }

    /// The iterations from `first` on, one in each lane.
    pub(super) fn in_lanes(&self, first: &Value, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Block {
        let width = Value::Index(self.group);
        let mut body = Vec::new();
        let mut totals = HashMap::new();
        // what is declared last is read in its part alone
        let before = self.parts.iter().take(self.parts.len() - 1).filter_map(|part| match part {
            Part::Plain(statements) => Some(*statements),
            Part::Sums(_) | Part::Adds(_) => None,
        });
        for stmt in before.flatten() {
            let Stmt::Declare { id, .. } = stmt else { continue };
            locals.push(Local { form: Form::Target { mutable: false }, ..locals[*id].clone() });
            let total = locals.len() - 1;
            totals.insert(*id, total);
            let (dims, counts) = (vec![Size::constant(self.group)], vec![width.clone()]);
            body.push(Stmt::Room(Room { id: total, elem: locals[total].elem, dims, counts, aligned: false, span: Span::NONE }));
        }
        let in_each = |block: &[Stmt], locals: &mut Vec<Local>| {
            locals.push(Local { name: "lane".into(), elem: Elem::Index, form: Form::Scalar { mutable: false }, note: None });
            let lane = locals.len() - 1;
            let place = |id: &Id| totals.get(id).map(|total| Place::Element { base: *total, offset: Some(Value::Local(lane)) });
            let read = |total: &Id| Value::Load { base: *total, offset: Some(Box::new(Value::Local(lane))) };
            let mut of: HashMap<Id, Value> = totals.iter().map(|(id, total)| (*id, read(total))).collect();
            of.insert(self.i, plus(first.clone(), Value::Local(lane)));
            let mut copy = Copy { of };
            let statement = |stmt: &Stmt| {
                let set = if let Stmt::Declare { id, init: Some(value) } | Stmt::Assign { place: Place::Local(id), value } = stmt {
                    place(id).map(|place| Stmt::Assign { place, value: value.clone() })
                } else {
                    None
                };
                copy.stmt(&set.unwrap_or_else(|| stmt.clone()), locals)
            };
            let body = block.iter().filter_map(statement).collect();
            Stmt::For { i: lane, var: None, count: width.clone(), size: None, body, lanes: Lanes::Any, apart: true }
        };
        for part in &self.parts {
            let lanes = in_each(part.statements(), locals);
            match part {
                Part::Plain(_) | Part::Adds(_) => body.push(lanes),
                Part::Sums(nest) => body.extend(nest.around(vec![lanes], |_| Lanes::One, locals, ranges)),
            }
        }
        body
    }
}

/// By how much an offset grows with i, where that is a number.
fn step(offset: &Value, i: Id) -> Option<i64> {
    if let Value::InRow(parts) = offset {
        let [row, length, column] = &**parts;
        return if reads(row, i) || reads(length, i) { None } else { step(column, i) };
    }
    growth(offset, i, &HashMap::new())
}
