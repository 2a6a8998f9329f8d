//! Sums over windows: as many rows at a time as a vector has lanes, one in each.
//!
//! In: a loop whose iterations each add up what they read from one place further on than the iteration before. Out: the body of
//! a loop over groups of such iterations, in which the lanes are the innermost loop.
//!
//!     s = 0; for j < p: s += x[i + j] * k[j];       →   for lane < 8: s[lane] = 0
//!     t[i] = s                                          for j < p: for lane < 8: s[lane] += x[i * 8 + lane + j] * k[j]
//!                                                       for lane < 8: t[i * 8 + lane] = s[lane]
//!
//! The lanes then read and write what lies side by side, however short the window is, and each sum keeps its order.

use std::collections::HashMap;

use crate::ir::Size;
use crate::source::Span;

use super::{Copy, Rows, plus};
use crate::loops::affine::Affine;
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
    block.retain(|stmt| match stmt {
        Stmt::Declare { id, init: Some(init @ Value::Prim { elem: Elem::Index, .. }) }
            if locals[*id].form == (Form::Scalar { mutable: false }) =>
        {
            named.insert(*id, init.clone());
            false
        }
        _ => true,
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
    /// Whether each row sums what lies one place further on than what the row before does, and reads and writes so elsewhere too.
    pub(super) fn is_window(&self, locals: &[Local]) -> bool {
        let Stmt::For { i: j, body: sums, .. } = self.inner else { return false };
        let (mut steps, mut fits, mut is_read) = (Vec::new(), true, false);
        each_value(sums, &mut |value| {
            is_read |= matches!(value, Value::Load { offset: Some(at), .. } if step(at, self.i) == Some(1) && reads(at, *j));
        });
        for block in [self.before, sums, self.after] {
            each_value(block, &mut |value| {
                if let Value::Load { offset: Some(at), .. } = value {
                    steps.push(step(at, self.i));
                }
            });
            for stmt in block {
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
}

impl Rows<'_> {
    /// The iterations from `first` on, one in each lane.
    pub(super) fn in_lanes(&self, first: &Value, locals: &mut Vec<Local>) -> Block {
        let Stmt::For { i: j, var, count, size, body: sums, apart, .. } = self.inner else { return Vec::new() };
        let width = Value::Index(self.group);
        let mut body = Vec::new();
        let mut totals = HashMap::new();
        for stmt in self.before {
            let Stmt::Declare { id, .. } = stmt else { continue };
            locals.push(Local { form: Form::Target { mutable: false }, ..locals[*id].clone() });
            let total = locals.len() - 1;
            totals.insert(*id, total);
            let (dims, counts) = (vec![Size::constant(self.group)], vec![width.clone()]);
            body.push(Stmt::Room(Room { id: total, elem: locals[total].elem, dims, counts, span: Span::NONE }));
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
                let set = match stmt {
                    Stmt::Declare { id, init: Some(value) } | Stmt::Assign { place: Place::Local(id), value } => {
                        place(id).map(|place| Stmt::Assign { place, value: value.clone() })
                    }
                    _ => None,
                };
                copy.stmt(&set.unwrap_or_else(|| stmt.clone()), locals)
            };
            let body = block.iter().filter_map(statement).collect();
            Stmt::For { i: lane, var: None, count: width.clone(), size: None, body, lanes: Lanes::Any, apart: true }
        };
        body.push(in_each(self.before, locals));
        let (i, var, count, size, apart) = (*j, var.clone(), count.clone(), size.clone(), *apart);
        body.push(Stmt::For { i, var, count, size, body: vec![in_each(sums, locals)], lanes: Lanes::One, apart });
        body.push(in_each(self.after, locals));
        body
    }
}

/// By how much an offset grows with i, where that is a number.
fn step(offset: &Value, i: Id) -> Option<i64> {
    let sum = Affine::of(offset, &HashMap::new());
    sum.terms().all(|term| *term == Value::Local(i) || !reads(term, i)).then(|| sum.factor(i))
}
