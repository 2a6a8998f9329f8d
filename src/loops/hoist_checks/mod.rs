//! Checks that a loop need not repeat.
//!
//! In: a function's statements. Out: the same, where what a loop checks in each iteration with one outcome is checked before
//! the loop, if this runs at all; so is an index that goes up or down by one with the loop's, by its first and last value.
//! What was checked before is not checked again.
//!
//!     for i < c: { if (k < 0 || k >= n) return BOUNDS; s += v[k] }
//!       →   if (c > 0 && (k < 0 || k >= n)) return BOUNDS; for i < c: s += v[k]
//!     for i < c: { if (k + i < 0 || k + i >= n) return BOUNDS; s += v[k + i] }
//!       →   if (c > 0 && (k < 0 || k > n - c)) return BOUNDS; for i < c: s += v[k + i]
//!
//! The status is that of the program as written: a check moves only across statements that cannot fail, or that fail with its status.

mod ends;
mod known;

use std::collections::{HashMap, HashSet};

use crate::ir::{Prim, Status};

use crate::loops::analysis::affine::Affine;
use crate::loops::analysis::failures::{Failures, can_fail};
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::simplify::simplify;
use crate::loops::values::negate;
use crate::loops::visit::{each_change, each_local, is_total, reads};
use crate::loops::{Context, Result};

use ends::checked;
use known::{alternatives, forget_known};

/// A longer condition stays where it is.
const NODES: u32 = 30;

/// Moves the checks of a function's body.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    let (mut found, mut pointers) = (false, HashSet::new());
    collect_pointers(&function.body, &mut pointers);
    let known = Known { locals: &function.locals, ranges: &function.ranges, pointers: &pointers };
    leave_loops(&known, &mut function.body, &mut found);
    forget_known(&function.locals, &mut function.body, Vec::new());
    if found {
        // names that only checks used
        simplify(function);
    }
    Ok(())
}

/// What is known of a function's locals.
struct Known<'a> {
    locals: &'a [Local],
    ranges: &'a Ranges,
    /// Pointers into other arrays, which a loop may write by their own names.
    pointers: &'a HashSet<Id>,
}

/// From the innermost loops outwards.
fn leave_loops(known: &Known, block: &mut Block, found: &mut bool) {
    for mut stmt in std::mem::take(block) {
        stmt.blocks_mut().for_each(|inner| leave_loops(known, inner, found));
        if let Stmt::For { i, count, body, .. } = &mut stmt
            && is_short(count)
            && can_fail(body)
        {
            *found = true;
            block.extend(Loop::new(known, *i, count, body).leave(body));
        }
        block.push(stmt);
    }
}

fn collect_pointers(block: &[Stmt], found: &mut HashSet<Id>) {
    for stmt in block {
        if let Stmt::Point { id, .. } = stmt {
            found.insert(*id);
        }
        stmt.blocks().for_each(|block| collect_pointers(block, found));
    }
}

/// A count of more numbers and names is not written several times.
const COUNT_PARTS: usize = 4;

/// Whether a count may be written several times.
fn is_short(count: &Value) -> bool {
    fn parts(value: &Value) -> Option<usize> {
        match value {
            Value::Index(_) | Value::Local(_) => Some(1),
            Value::Prim { args, .. } => args.iter().map(parts).sum(),
            Value::Double(_)
            | Value::Bool(_)
            | Value::InRow(_)
            | Value::Load { .. }
            | Value::Select(_)
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => None,
        }
    }
    parts(count).is_some_and(|parts| parts <= COUNT_PARTS)
}

/// A loop, and what is found in it.
struct Loop<'a> {
    known: &'a Known<'a>,
    i: Id,
    count: &'a Value,
    /// What its body changes.
    changed: HashSet<Id>,
    /// The constants that its body declares outside of loops.
    named: HashMap<Id, Value>,
    /// How often the body fails with each status.
    failures: Failures,
    /// Whether nothing can have failed before, in this iteration or in an earlier one.
    clear: bool,
    /// The conditions for before the loop, one for each run of checks of one status.
    before: Vec<(Value, Status)>,
    /// The names of indices that are in range in each iteration.
    within: Vec<Id>,
}

impl<'a> Loop<'a> {
    fn new(known: &'a Known<'a>, i: Id, count: &'a Value, body: &Block) -> Loop<'a> {
        let (mut changed, mut named, mut failures) = (HashSet::from([i]), HashMap::new(), Failures::default());
        each_change(body, &mut |id| {
            changed.insert(id);
        });
        collect_names(known.locals, body, &mut named);
        failures.add(body);
        Loop { known, i, count, changed, named, failures, clear: true, before: Vec::new(), within: Vec::new() }
    }

    /// Takes checks out of the body and gives what is to stand before the loop.
    fn leave(mut self, body: &mut Block) -> Block {
        self.take(body, &[]);
        self.note_within(body);
        let ranges = self.known.ranges;
        let guarded = |cond: Value| {
            // a count above a length is positive by itself
            let is_above = compared(&cond, Prim::Gt).is_some_and(|(a, b)| a == self.count && ranges.of(b).0 >= 0);
            if is_above || matches!(self.count, Value::Index(1..)) {
                cond
            } else {
                both(compare(Prim::Gt, self.count.clone(), Value::Index(0)), cond)
            }
        };
        self.before.into_iter().map(|(cond, status)| Stmt::Fail { cond: guarded(cond), status }).collect()
    }

    /// Takes checks out of a block that is reached where the conditions of `path` hold.
    fn take(&mut self, block: &mut Block, path: &[Value]) {
        block.retain_mut(|stmt| match stmt {
            Stmt::Fail { cond, status } => match self.earlier(cond, *status) {
                Some(first) => {
                    self.failures.remove(*status);
                    if path.is_empty() {
                        self.within.extend(alternatives(cond).iter().filter_map(checked));
                    }
                    let cond = path.iter().rev().fold(first, |cond, reached| both(reached.clone(), cond));
                    let is_known = self.before.iter().any(|(known, same)| *same == *status && *known == cond);
                    match self.before.last_mut() {
                        _ if is_known => {}
                        Some((last, same)) if *same == *status && path.is_empty() => *last = either(last.clone(), cond),
                        _ => self.before.push((cond, *status)),
                    }
                    false
                }
                None => {
                    self.clear = false;
                    true
                }
            },
            Stmt::If { cond, then, otherwise } => {
                if let Some(cond) = self.fixed(cond).filter(|cond| self.clear || is_total(cond)) {
                    self.take(then, &[path, std::slice::from_ref(&cond)].concat());
                    self.take(otherwise, &[path, &[negate(cond)]].concat());
                }
                self.clear &= !can_fail(then) && !can_fail(otherwise);
                true
            }
            other => {
                self.clear &= !can_fail(std::slice::from_ref(other));
                true
            }
        });
    }

    /// What is to be checked before the loop in place of a condition in it.
    fn earlier(&self, cond: &Value, status: Status) -> Option<Value> {
        let is_alone = self.failures.are_all(status);
        let first = self.fixed(cond).or_else(|| if is_alone { self.ends(cond) } else { None })?;
        (self.clear || is_alone && is_total(&first)).then_some(first)
    }

    /// A condition that is the same in each iteration, over what is known before the loop.
    fn fixed(&self, cond: &Value) -> Option<Value> {
        let cond = self.unfold(cond, &mut NODES.clone())?;
        let mut is_fixed = true;
        each_local(&cond, &mut |id| is_fixed &= !self.changed.contains(&id));
        is_fixed.then_some(cond)
    }

    /// The value with the names that the body gives replaced by what they stand for; `None` where it reads memory that the
    /// loop may write, calls, or has more than so many nodes.
    fn unfold(&self, value: &Value, nodes: &mut u32) -> Option<Value> {
        *nodes = nodes.checked_sub(1)?;
        match value {
            Value::Local(id) => match self.named.get(id) {
                Some(value) => self.unfold(value, nodes),
                None => Some(value.clone()),
            },
            Value::Load { base, .. }
                if self.known.pointers.contains(base) || self.known.locals[*base].form != (Form::Source { mutable: false }) =>
            {
                None
            }
            Value::Moved { .. } | Value::Call(..) => None,
            _ => {
                let mut value = value.clone();
                for part in value.parts_mut() {
                    *part = self.unfold(part, nodes)?;
                }
                Some(value)
            }
        }
    }
}

/// `a prim b` on Indices.
fn compared(value: &Value, wanted: Prim) -> Option<(&Value, &Value)> {
    let Value::Prim { prim, elem: Elem::Index, args, .. } = value else { return None };
    match args.as_slice() {
        [a, b] if *prim == wanted => Some((a, b)),
        _ => None,
    }
}

/// A comparison of two indices; what their distance says is known: compilers warn of `n - 1 < n - 1`.
fn compare(prim: Prim, a: Value, b: Value) -> Value {
    let distance = Affine::of(&a, &HashMap::new()).minus(&Affine::of(&b, &HashMap::new())).constant_value();
    match (prim, distance) {
        (Prim::Lt, Some(distance)) => return Value::Bool(distance < 0),
        (Prim::Ge, Some(distance)) => return Value::Bool(distance >= 0),
        (Prim::Gt, Some(distance)) => return Value::Bool(distance > 0),
        _ => {}
    }
    Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, b] }
}

fn both(a: Value, b: Value) -> Value {
    if let Value::Bool(holds) = b {
        return if holds { a } else { b };
    }
    Value::Prim { prim: Prim::And, elem: Elem::Bool, plain: true, args: vec![a, b] }
}

fn either(a: Value, b: Value) -> Value {
    match (&a, &b) {
        (Value::Bool(true), _) | (_, Value::Bool(false)) => return a,
        (Value::Bool(false), _) | (_, Value::Bool(true)) => return b,
        _ => {}
    }
    Value::Prim { prim: Prim::Or, elem: Elem::Bool, plain: true, args: vec![a, b] }
}

/// The constants of a block and its branches.
fn collect_names(locals: &[Local], block: &Block, named: &mut HashMap<Id, Value>) {
    for stmt in block {
        match stmt {
            Stmt::Declare { id, init: Some(init) } if locals[*id].form == (Form::Scalar { mutable: false }) => {
                named.insert(*id, init.clone());
            }
            Stmt::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|block| collect_names(locals, block, named)),
            _ => {}
        }
    }
}
