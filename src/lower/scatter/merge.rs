//! Common subexpressions of the sums that share a loop.
//!
//! In: the body of a loop in which several sums take their steps. Out: the same, where constants that are equal are one, and
//! arithmetic that stands in several statements is named before the first.
//!
//!     t = k[i]; out[t] += a * (c[t] - y[i]); u = k[i]; out[u + 1] += b * (c[u] - y[i])
//!       →   t = k[i]; r = c[t] - y[i]; out[t] += a * r; out[t + 1] += b * r
//!
//! Limits: a body that takes room, calls functions or has a state of Indices stays as it is.

use std::collections::HashMap;

use crate::ir::Prim;
use crate::loops::program::*;

/// At most so many common subexpressions are named.
const NAMES: usize = 64;

/// Common subexpression elimination in a loop's body.
pub fn merge(locals: &mut Vec<Local>, body: &mut Block) {
    if !is_plain(locals, body) {
        return;
    }
    Constants::merge(locals, body);
    name_sooner(locals, body);
    for _ in 0..NAMES {
        let Some((at, value)) = repeated(locals, body) else { break };
        locals.push(Local { name: "t".into(), elem: Elem::Double, form: Form::Scalar { mutable: false }, note: None });
        let id = locals.len() - 1;
        body[at..].iter_mut().for_each(|stmt| each_value_mut(stmt, &mut |other| replace(other, &value, id)));
        body.insert(at, Stmt::Declare { id, init: Some(value) });
    }
    Constants::merge(locals, body);
}

/// An element that is named, and was read before, is named at its first read.
fn name_sooner(locals: &[Local], body: &mut Block) {
    for at in 0..body.len() {
        let Stmt::Declare { id, init: Some(load @ Value::Load { .. }) } = &body[at] else { continue };
        let (id, load) = (*id, load.clone());
        if locals[id].form != (Form::Scalar { mutable: false }) || !is_steady(locals, &load) {
            continue;
        }
        let first = (0..at).find(|before| {
            let mut found = false;
            each_value_mut(&mut body[*before], &mut |value| found |= has(value, &load));
            found
        });
        if let Some(first) = first {
            let named = body.remove(at);
            body[first..at].iter_mut().for_each(|stmt| each_value_mut(stmt, &mut |value| replace(value, &load, id)));
            body.insert(first, named);
        }
    }
}

/// Whether an expression always evaluates another.
fn has(value: &mut Value, wanted: &Value) -> bool {
    let is_strict = !matches!(value, Value::Select(_) | Value::Prim { elem: Elem::Bool, .. });
    value == wanted || is_strict && value.parts_mut().iter_mut().any(|part| has(part, wanted))
}

/// Whether statements are of the kinds above, and no Index but those that loops count changes.
fn is_plain(locals: &[Local], block: &Block) -> bool {
    block.iter().all(|stmt| match stmt {
        Stmt::Assign { place: Place::Local(id), .. } => locals[*id].elem != Elem::Index,
        Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::Fail { .. } => true,
        Stmt::For { body, .. } => is_plain(locals, body),
        Stmt::If { then, otherwise, .. } => is_plain(locals, then) && is_plain(locals, otherwise),
        _ => false,
    })
}

/// Calls `f` on the expressions of a statement, but not on those of the statements inside.
fn each_value_mut(stmt: &mut Stmt, f: &mut dyn FnMut(&mut Value)) {
    match stmt {
        Stmt::Declare { init: Some(value), .. } | Stmt::Fail { cond: value, .. } => f(value),
        Stmt::For { count, .. } => f(count),
        Stmt::If { cond, .. } => f(cond),
        Stmt::Assign { place, value } => {
            f(value);
            if let Place::Element { offset: Some(offset), .. } = place {
                f(offset);
            }
        }
        _ => {}
    }
}

fn replace(value: &mut Value, from: &Value, to: Id) {
    if value == from {
        *value = Value::Local(to);
        return;
    }
    value.parts_mut().iter_mut().for_each(|part| replace(part, from, to));
}

/// Whether an expression has the same value wherever it is evaluated in an iteration. A zero has a sign that comparing does
/// not see.
fn is_steady(locals: &[Local], value: &Value) -> bool {
    match value {
        Value::Local(id) => matches!(locals[*id].form, Form::Scalar { mutable: false }) || locals[*id].elem == Elem::Index,
        Value::Double(number) => *number != 0.0,
        Value::Index(_) | Value::Bool(_) => true,
        Value::Prim { args, .. } => args.iter().all(|arg| is_steady(locals, arg)),
        Value::Load { base, offset } => {
            locals[*base].form == (Form::Source { mutable: false }) && offset.iter().all(|offset| is_steady(locals, offset))
        }
        Value::Select(_) | Value::Helper(..) | Value::SizeOf(_) | Value::Moved { .. } | Value::Call(..) => false,
    }
}

/// The constants of a body.
struct Constants<'a> {
    locals: &'a [Local],
    /// The representative of each constant that is dropped.
    same: HashMap<Id, Id>,
}

impl Constants<'_> {
    fn merge(locals: &[Local], body: &mut Block) {
        (Constants { locals, same: HashMap::new() }).block(body, &mut Vec::new());
    }

    fn block(&mut self, block: &mut Block, known: &mut Vec<(Value, Id)>) {
        block.retain_mut(|stmt| {
            each_value_mut(stmt, &mut |value| self.renamed(value, known));
            if let Stmt::Declare { id, init: Some(init) } = stmt
                && self.locals[*id].form == (Form::Scalar { mutable: false })
                && is_steady(self.locals, init)
            {
                if let Value::Local(other) = init
                    && self.locals[*other].form == (Form::Scalar { mutable: false })
                {
                    self.same.insert(*id, *other);
                    return false;
                }
                known.push((init.clone(), *id));
            }
            stmt.blocks_mut().for_each(|inner| self.block(inner, &mut known.clone()));
            true
        });
    }

    fn renamed(&self, value: &mut Value, known: &[(Value, Id)]) {
        value.parts_mut().iter_mut().for_each(|part| self.renamed(part, known));
        match value {
            Value::Local(id) => *id = *self.same.get(id).unwrap_or(id),
            Value::Prim { .. } | Value::Load { .. } => {
                if let Some((_, id)) = known.iter().find(|(other, _)| other == value) {
                    *value = Value::Local(*id);
                }
            }
            _ => {}
        }
    }
}

/// The largest arithmetic on Doubles that stands in the body twice, and the first statement that has it.
fn repeated(locals: &[Local], body: &mut Block) -> Option<(usize, Value)> {
    let mut found: Vec<(Value, usize, usize)> = Vec::new();
    for (at, stmt) in body.iter_mut().enumerate() {
        each_value_mut(stmt, &mut |value| collect(locals, value, at, &mut found));
    }
    let twice = found.into_iter().filter(|(_, _, count)| *count > 1);
    twice.max_by_key(|(value, at, _)| (nodes(value), std::cmp::Reverse(*at))).map(|(value, at, _)| (at, value))
}

fn collect(locals: &[Local], value: &mut Value, at: usize, found: &mut Vec<(Value, usize, usize)>) {
    if let Value::Prim { prim, elem: Elem::Double, .. } = value
        && !matches!(prim, Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::ToIndex)
        && is_steady(locals, value)
    {
        match found.iter_mut().find(|(other, ..)| other == value) {
            Some((_, _, count)) => *count += 1,
            None => found.push((value.clone(), at, 1)),
        }
    }
    // conditionally evaluated expressions stay where they are
    if !matches!(value, Value::Select(_) | Value::Prim { elem: Elem::Bool, .. }) {
        value.parts_mut().iter_mut().for_each(|part| collect(locals, part, at, found));
    }
}

fn nodes(value: &Value) -> usize {
    1 + value.clone().parts_mut().iter().map(nodes).sum::<usize>()
}
