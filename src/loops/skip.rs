//! Skipping: blocks of iterations that change nothing are found by a test in lanes.
//!
//! In: a function's statements. Out: a loop that changes its state only where it finds something larger, or smaller, first asks of
//! thirty-two iterations at a time whether one of them would; only then do these run as before, one after the other. A largest
//! element is found as fast as elements are compared, not as fast as one comparison after another.
//!
//!     for i < n: if (v[i] > m) { m = v[i]; at = i; }
//!       →   for b < n / 32: changes = 0; for l < 32, in lanes: changes += v[32 b + l] > m
//!                           if (changes > 0) for l < 32: if (v[32 b + l] > m) { m = v[32 b + l]; at = 32 b + l; }
//!           for r < n % 32: …
//!
//! The state stays what it was while nothing changes it, so that the test, which knows only the state before the block, is exact up
//! to the first change.
//!
//! Limits: all that an iteration does stands under conditions, each of which compares elements of an array with what the loop changes;
//! what these read may be read whatever the state is.

use std::collections::HashSet;

use crate::ir::Prim;

use super::analysis::effects::inside;
use super::analysis::failures::can_fail;
use super::builder::{Builder, counter};
use super::program::*;
use super::strips::{Strips, iteration};
use super::values::{index, negate};
use super::visit::{each_change, each_invocation, each_local, each_part, reads, uses_room};
use super::{Context, Result};

/// So many iterations are tested at once.
const WIDTH: i64 = 32;

/// The same where loops of few iterations are to be tried too.
const EAGER_WIDTH: i64 = 2;

/// Skips what changes nothing in the loops of a function.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    let mut body = std::mem::take(&mut function.body);
    let mut builder = Builder::of(function);
    let width = if context.options.eager { EAGER_WIDTH } else { WIDTH };
    Pass { builder: &mut builder, width }.block(&mut body);
    builder.give_back(function);
    function.body = body;
    Ok(())
}

struct Pass<'a> {
    builder: &'a mut Builder,
    width: i64,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::new();
        for mut stmt in std::mem::take(block) {
            stmt.blocks_mut().for_each(|block| self.block(block));
            let test = if let Stmt::For { count, body, lanes: Lanes::One, .. } = &stmt
                && !matches!(count, Value::Index(count) if *count < 2 * self.width)
            {
                Test::of(body)
            } else {
                None
            };
            match test {
                Some(test) => out.extend(self.in_blocks(stmt, test)),
                None => out.push(stmt),
            }
        }
        *block = out;
    }

    /// The loop with a test before each block of iterations, and one for the iterations that are left.
    fn in_blocks(&mut self, stmt: Stmt, test: Test) -> Block {
        let Stmt::For { i, count, size, body, apart, .. } = &stmt else { return vec![stmt] };
        let (Builder { locals, ranges, .. }, width) = (&mut *self.builder, Value::Index(self.width));
        let strips = Strips::of(count, self.width, "and a block that changes nothing is skipped", locals, ranges);
        let block = counter("block", &strips.blocks, locals, ranges);
        let in_block = |of: Id| index(Prim::Add, index(Prim::Mul, Value::Local(block), width.clone()), Value::Local(of));
        let for_each =
            |of: Id, body: Block, lanes: Lanes| Stmt::For { i: of, var: None, count: width.clone(), size: None, body, lanes, apart: false };

        let changes = locals.len();
        locals.push(Local { name: "changes".into(), elem: Elem::Index, form: Form::Scalar { mutable: true }, note: None });
        ranges.insert(changes, (0, i128::from(self.width)));
        let changed = Value::Select(Box::new([test.changes, Value::Index(1), Value::Index(0)]));
        let mut tested = test.declared;
        let value = index(Prim::Add, Value::Local(changes), changed);
        tested.push(Stmt::Assign { place: Place::Local(changes), value });
        let lane = counter("lane", &width, locals, ranges);
        let tested = for_each(lane, iteration(*i, in_block(lane), &tested, locals, ranges), Lanes::Sum(vec![changes]));

        let turn = counter("turn", &width, locals, ranges);
        let in_turn = for_each(turn, iteration(*i, in_block(turn), body, locals, ranges), Lanes::One);
        let any = Value::Prim { prim: Prim::Gt, elem: Elem::Index, plain: true, args: vec![Value::Local(changes), Value::Index(0)] };
        let found = Stmt::If { cond: any, then: vec![in_turn], otherwise: Vec::new() };

        let around = vec![Stmt::Declare { id: changes, init: Some(Value::Index(0)) }, tested, found];
        let (count, size) = (strips.blocks.clone(), size.clone());
        let rest = strips.rest(&stmt, locals, ranges);
        let blocks = Stmt::For { i: block, var: None, count, size, body: around, lanes: Lanes::One, apart: *apart };
        strips.declared.into_iter().chain([blocks]).chain(rest).collect()
    }
}

/// When an iteration changes something.
struct Test {
    /// What the condition needs of an iteration.
    declared: Block,
    changes: Value,
}

impl Test {
    /// The test of a loop's body; none where something is done in any case.
    fn of(body: &[Stmt]) -> Option<Test> {
        let own = inside(body);
        let (mut met, mut state) = (HashSet::new(), HashSet::new());
        each_change(body, &mut |id| {
            // what is declared here and changed afterwards is no value of the iteration
            if !own.contains(&id) || !met.insert(id) {
                state.insert(id);
            }
        });
        let mut found = Found { state, ..Found::default() };
        body.iter().try_for_each(|stmt| found.stmt(stmt))?;
        // another condition may well be true again and again
        let compares = found.conditions.iter().all(|cond| found.depends(cond) && found.reads_elements(cond));
        let is_safe = found.lets.iter().map(|(_, value)| value).chain(&found.conditions).all(|value| found.may_be_early(value, false));
        (compares && is_safe && !is_bound_to_turn(body)).then_some(())?;
        let changes = found.conditions.iter().cloned().reduce(|a, b| logic(Prim::Or, a, b))?;
        let mut used = vec![changes.clone()];
        let mut declared: Block = Vec::new();
        for (id, value) in found.lets.into_iter().rev() {
            if used.iter().any(|used| reads(used, id)) {
                used.push(value.clone());
                declared.insert(0, Stmt::Declare { id, init: Some(value) });
            }
        }
        Some(Test { declared, changes })
    }
}

/// What the statements of an iteration do.
#[derive(Default)]
struct Found {
    /// What the loop changes.
    state: HashSet<Id>,
    /// Values of the iteration, in the order in which they are declared.
    lets: Vec<(Id, Value)>,
    /// Those that depend on the state, and those for which elements of arrays are read.
    dependent: HashSet<Id>,
    read: HashSet<Id>,
    /// When something is changed.
    conditions: Vec<Value>,
}

impl Found {
    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        let cond = match stmt {
            Stmt::Declare { id, init: Some(init) } => {
                if self.depends(init) {
                    self.dependent.insert(*id);
                }
                if self.reads_elements(init) {
                    self.read.insert(*id);
                }
                self.lets.push((*id, init.clone()));
                return (!self.state.contains(id)).then_some(());
            }
            Stmt::Assign { place: Place::Local(id), value } => self.change(*id, value)?,
            Stmt::If { cond, otherwise, .. } if otherwise.is_empty() => cond.clone(),
            Stmt::If { cond, then, .. } if then.is_empty() => negate(cond.clone()),
            Stmt::Declare { init: None, .. }
            | Stmt::If { .. }
            | Stmt::Assign { place: Place::Element { .. }, .. }
            | Stmt::Update { .. }
            | Stmt::Point { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => return None,
        };
        if !self.conditions.contains(&cond) {
            self.conditions.push(cond);
        }
        Some(())
    }

    /// When an assignment changes a local.
    fn change(&self, id: Id, value: &Value) -> Option<Value> {
        let own = Value::Local(id);
        match value {
            Value::Select(parts) if parts[1] == own => Some(negate(parts[0].clone())),
            Value::Select(parts) if parts[2] == own => Some(parts[0].clone()),
            Value::Prim { prim: prim @ (Prim::Max | Prim::Min), elem: Elem::Double, args, .. } => match args.as_slice() {
                // as the interpreter and C decide: the first, where both are equal or it is NaN
                [first, other] if *first == own => {
                    let keeps = if *prim == Prim::Max { Prim::Ge } else { Prim::Le };
                    let compare =
                        |prim, other: &Value| Value::Prim { prim, elem: Elem::Double, plain: true, args: vec![own.clone(), other.clone()] };
                    Some(negate(logic(Prim::Or, compare(keeps, other), compare(Prim::Ne, &own))))
                }
                _ => None,
            },
            Value::Local(next) => self.lets.iter().rev().find(|(known, _)| known == next).and_then(|(_, value)| self.change(id, value)),
            _ => None,
        }
    }

    /// Whether a value depends on what the loop changes.
    fn depends(&self, value: &Value) -> bool {
        let mut depends = false;
        each_local(value, &mut |id| depends |= self.state.contains(&id) || self.dependent.contains(&id));
        depends
    }

    /// Whether elements of arrays are read for a value.
    fn reads_elements(&self, value: &Value) -> bool {
        let mut found = false;
        each_part(value, &mut |part| found |= matches!(part, Value::Load { .. }));
        each_local(value, &mut |id| found |= self.read.contains(&id));
        found
    }

    /// Whether a value may be computed in iterations before which the state will change. `decided`: the state decides whether it is
    /// computed at all.
    fn may_be_early(&self, value: &Value, decided: bool) -> bool {
        match value {
            Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(..) => true,
            Value::Load { base, offset } => {
                !decided
                    && !self.state.contains(base)
                    && offset.iter().all(|offset| !self.depends(offset) && self.may_be_early(offset, decided))
            }
            Value::Prim { prim: Prim::Div | Prim::Rem, elem: Elem::Index, .. } => false,
            Value::Prim { prim: Prim::And | Prim::Or, args, .. } => {
                let mut decided = decided;
                args.iter().all(|arg| {
                    let may = self.may_be_early(arg, decided);
                    decided |= self.depends(arg);
                    may
                })
            }
            Value::Select(parts) => {
                let decides = decided || self.depends(&parts[0]);
                self.may_be_early(&parts[0], decided) && parts[1..].iter().all(|part| self.may_be_early(part, decides))
            }
            Value::InRow(parts) => parts.iter().all(|part| self.may_be_early(part, decided)),
            Value::Prim { args, .. } | Value::Helper(_, args) => args.iter().all(|arg| self.may_be_early(arg, decided)),
            Value::Moved { .. } | Value::Call(..) => false,
        }
    }
}

/// Whether statements may stop the function, call one, or take workspace, whose size may depend on the iteration.
fn is_bound_to_turn(body: &[Stmt]) -> bool {
    let mut calls = false;
    each_invocation(body, &mut |_| calls = true);
    calls || can_fail(body) || uses_room(body)
}

fn logic(prim: Prim, a: Value, b: Value) -> Value {
    Value::Prim { prim, elem: Elem::Bool, plain: true, args: vec![a, b] }
}
