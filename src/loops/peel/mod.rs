//! Loops without the conditions that only their ends need.
//!
//! In: a function's statements. Out: an innermost loop that asks whether it is at its first or last index, or next to one, does
//! the ends by themselves; the iterations between ask nothing, so that they run in vector lanes:
//!
//!     for (i = 0; i < n; ++i) out[i] = i == 0 ? a : i < n - 1 ? v[i - 1] + v[i + 1] : b;
//!       →   if (n > 0) out[0] = a;
//!           for (i = 1; i < n - 1; ++i) out[i] = v[i - 1] + v[i + 1];
//!           if (n > 1) { const int64_t i = n - 1; out[i] = b; }
//!
//! The iterations run in their order. An end of two iterations is a loop of its own. A loop around such loops, as that over the
//! rows of a picture, is treated so where the inner loops, which have ends too, ask for its index; its ends keep those on theirs.
//! Loops that change at an index that sizes or arguments give are split there (`cuts`).
//! Limits: conditions that compare an index with a small number, with the count less one, or with one or two such indices, and
//! the larger or smaller of two; bodies of a few statements, of which each part has a copy.

mod copy;
mod cuts;
mod ends;

use crate::ir::Prim;

use crate::loops::analysis::affine::Affine;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::simplify::simplify;
use crate::loops::{Context, Result};

use copy::{Copy, Known};
use cuts::Cuts;
use ends::{Ends, Region, has_loop};

/// An end of more iterations is not taken off.
const LONGEST_END: i64 = 2;

/// A body of more nodes is copied only where nothing is asked between the ends,
const NODES: usize = 220;

/// and one of more is not.
const MOST_NODES: usize = 1000;

/// Takes the ends off the loops of a function, and splits those that change elsewhere.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    let mut scope = Scope { locals: &mut function.locals, ranges: &function.ranges };
    if peel(&mut scope, &mut function.body) {
        // names that only conditions used
        simplify(function);
    }
    Ok(())
}

/// A function's locals, which get more, and what is known of those that were there.
struct Scope<'a> {
    locals: &'a mut Vec<Local>,
    ranges: &'a Ranges,
}

/// Takes the ends off the loops of a block; whether there were any.
fn peel(scope: &mut Scope, block: &mut Block) -> bool {
    let mut found = false;
    for mut stmt in std::mem::take(block) {
        if let Some(peeled) = Peeled::of(scope.locals, &stmt) {
            found = true;
            peeled.parts(scope, block);
        } else if let Some(parts) = split(scope, &stmt) {
            found = true;
            block.extend(parts);
        } else {
            stmt.blocks_mut().for_each(|inner| found |= peel(scope, inner));
            block.push(stmt);
        }
    }
    found
}

/// The parts of a loop that changes at an index that sizes or arguments give.
fn split(scope: &mut Scope, stmt: &Stmt) -> Option<Block> {
    Cuts::of(scope, stmt)?.parts(scope)
}

/// A loop and how many iterations its ends have.
struct Peeled<'a> {
    i: Id,
    count: &'a Value,
    body: &'a Block,
    apart: bool,
    ends: Ends,
}

impl<'a> Peeled<'a> {
    fn of(locals: &[Local], stmt: &'a Stmt) -> Option<Peeled<'a>> {
        let Stmt::For { i, count, body, lanes: Lanes::One, apart, .. } = stmt else { return None };
        if matches!(count, Value::Index(_)) || !is_plain(body) || nodes(body) > MOST_NODES {
            return None;
        }
        // around a loop without ends of its own compilers choose by themselves
        if body.iter().any(has_loop) && !has_ends(locals, body) {
            return None;
        }
        let ends = Ends::of(locals, *i, count, body);
        if nodes(body) > NODES && !asks_nothing(locals, body, &[&|cond: &Value| ends.decide_between(cond)]) {
            return None;
        }
        (ends.first + ends.last > 0).then_some(Peeled { i: *i, count, body, apart: *apart, ends })
    }

    fn parts(&self, scope: &mut Scope, out: &mut Block) {
        let Ends { first, last, .. } = self.ends;
        let locals = &mut *scope.locals;
        match first {
            0 => {}
            1 => {
                let block = self.copy(locals, Region::First, Value::Index(0));
                out.push(self.if_more_than(0, block));
            }
            _ => {
                let some = index(Prim::Min, Value::Index(first), self.count.clone());
                let i = fresh(locals, self.i);
                let body = self.copy(locals, Region::Between { first: 0, last: 0 }, Value::Local(i));
                out.push(repeat(i, some, body, false));
            }
        }
        let end = minus(self.count.clone(), last);
        let (i, count, mut body) = self.range(locals, Value::Index(first), end.clone(), Region::Between { first, last });
        // loops inside have ends of their own: where it matters
        peel(scope, &mut body);
        let between = repeat(i, count, body, self.apart);
        out.extend(split(scope, &between).unwrap_or_else(|| vec![between]));
        let locals = &mut *scope.locals;
        match last {
            0 => {}
            1 => {
                let i = fresh(locals, self.i);
                let mut block = vec![Stmt::Declare { id: i, init: Some(end.clone()) }];
                let known = |cond: &Value| self.ends.decide(cond, Region::Last { first });
                block.extend(Copy::of_one(locals, &known, self.i, i, end).body(self.body));
                out.push(self.if_more_than(first, block));
            }
            _ => {
                let from = index(Prim::Max, Value::Index(first), end);
                let (i, count, body) = self.range(locals, from, self.count.clone(), Region::Between { first, last: 0 });
                out.push(repeat(i, count, body, false));
            }
        }
    }

    fn range(&self, locals: &mut Vec<Local>, low: Value, high: Value, region: Region) -> (Id, Value, Block) {
        let (i, count, body) = range(locals, self.i, low, high, |locals, i| self.copy(locals, region, i));
        (i, index(Prim::Max, Value::Index(0), count), body)
    }

    fn copy(&self, locals: &mut Vec<Local>, region: Region, i: Value) -> Block {
        Copy::new(locals, &|cond| self.ends.decide(cond, region), self.i, i).body(self.body)
    }

    fn if_more_than(&self, least: i64, then: Block) -> Stmt {
        let cond = index(Prim::Gt, self.count.clone(), Value::Index(least));
        Stmt::If { cond, then, otherwise: Vec::new() }
    }
}

/// The index, count and body of the iterations of a range, whose end is not before it, as `emit` knows it.
fn range(
    locals: &mut Vec<Local>,
    like: Id,
    low: Value,
    high: Value,
    copy: impl FnOnce(&mut Vec<Local>, Value) -> Block,
) -> (Id, Value, Block) {
    let step = fresh(locals, like);
    if low == Value::Index(0) {
        let body = copy(locals, Value::Local(step));
        return (step, high, body);
    }
    let i = fresh(locals, like);
    let mut body = vec![Stmt::Declare { id: i, init: Some(index(Prim::Add, low.clone(), Value::Local(step))) }];
    body.extend(copy(locals, Value::Local(i)));
    (step, index(Prim::Sub, high, low), body)
}

fn index(prim: Prim, a: Value, b: Value) -> Value {
    Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, b] }
}

/// Whether some loop in a block has ends.
fn has_ends(locals: &[Local], block: &Block) -> bool {
    block.iter().any(|stmt| {
        if let Stmt::For { i, count, body, .. } = stmt
            && !matches!(count, Value::Index(_))
        {
            let ends = Ends::of(locals, *i, count, body);
            if ends.first + ends.last > 0 {
                return true;
            }
        }
        stmt.blocks().any(|inner| has_ends(locals, inner))
    })
}

/// Whether all conditions in the innermost loops of a body, or in it, are known, where so much is of the loops around.
fn asks_nothing(locals: &[Local], block: &Block, around: &[Known]) -> bool {
    fn is_known(cond: &Value, around: &[Known]) -> bool {
        if let Value::Prim { prim: Prim::And | Prim::Or | Prim::Not, args, .. } = cond {
            args.iter().all(|arg| is_known(arg, around))
        } else {
            around.iter().any(|known| known(cond).is_some())
        }
    }
    fn has_choice(value: &Value) -> bool {
        matches!(value, Value::Select(_)) || matches!(value, Value::Prim { args, .. } if args.iter().any(has_choice))
    }
    block.iter().all(|stmt| match stmt {
        Stmt::Declare { init: Some(value), .. } | Stmt::Assign { value, .. } => !has_choice(value),
        Stmt::If { cond, then, otherwise } => {
            is_known(cond, around) && asks_nothing(locals, then, around) && asks_nothing(locals, otherwise, around)
        }
        Stmt::For { i, count, body, .. } => {
            let own = Ends::of(locals, *i, count, body);
            asks_nothing(locals, body, &[around, &[&|cond: &Value| own.decide_between(cond)]].concat())
        }
        Stmt::Declare { .. }
        | Stmt::Point { .. }
        | Stmt::Update { .. }
        | Stmt::While { .. }
        | Stmt::Share(_)
        | Stmt::Fail { .. }
        | Stmt::NoRoom { .. }
        | Stmt::Room(_)
        | Stmt::Invoke(_)
        | Stmt::Rotate(_)
        | Stmt::Scope(_)
        | Stmt::Return(_) => true,
    })
}

fn repeat(i: Id, count: Value, body: Block, apart: bool) -> Stmt {
    Stmt::For { i, var: None, count, size: None, body, lanes: Lanes::One, apart }
}

/// A constant of its own for an index.
fn fresh(locals: &mut Vec<Local>, like: Id) -> Id {
    locals.push(Local { form: Form::Scalar { mutable: false }, ..locals[like].clone() });
    locals.len() - 1
}

/// A count less a number: `n + 1 - p` less one is `n - p`.
fn minus(count: Value, less: i64) -> Value {
    Affine::of(&count, &Default::default()).plus(-less).value().unwrap_or_else(|| index(Prim::Sub, count, Value::Index(less)))
}

/// Only declarations, assignments, branches and loops, of values that neither call nor ask for pointers.
fn is_plain(block: &[Stmt]) -> bool {
    block.iter().all(|stmt| match stmt {
        Stmt::Declare { init, .. } => init.as_ref().is_none_or(is_plain_value),
        Stmt::Assign { place, value } => {
            let offset = if let Place::Element { offset, .. } = place { offset.as_ref() } else { None };
            is_plain_value(value) && offset.is_none_or(is_plain_value)
        }
        Stmt::If { cond, then, otherwise } => is_plain_value(cond) && is_plain(then) && is_plain(otherwise),
        Stmt::For { count, body, lanes: Lanes::One, .. } => is_plain_value(count) && is_plain(body),
        Stmt::For { .. }
        | Stmt::While { .. }
        | Stmt::Update { .. }
        | Stmt::Point { .. }
        | Stmt::Share(_)
        | Stmt::Fail { .. }
        | Stmt::NoRoom { .. }
        | Stmt::Room(_)
        | Stmt::Invoke(_)
        | Stmt::Rotate(_)
        | Stmt::Scope(_)
        | Stmt::Return(_) => false,
    })
}

fn is_plain_value(value: &Value) -> bool {
    match value {
        Value::Call(..) | Value::Moved { .. } => false,
        Value::Prim { args, .. } | Value::Helper(_, args) => args.iter().all(is_plain_value),
        Value::InRow(parts) | Value::Select(parts) => parts.iter().all(is_plain_value),
        Value::Load { offset, .. } => offset.as_deref().is_none_or(is_plain_value),
        Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(..) => true,
    }
}

fn nodes(block: &[Stmt]) -> usize {
    block
        .iter()
        .map(|stmt| {
            let own = if let Stmt::Declare { init: Some(value), .. } | Stmt::Assign { value, .. } | Stmt::If { cond: value, .. } = stmt {
                value_nodes(value)
            } else {
                0
            };
            1 + own + stmt.blocks().map(|block| nodes(block)).sum::<usize>()
        })
        .sum()
}

fn value_nodes(value: &Value) -> usize {
    1 + match value {
        Value::Prim { args, .. } | Value::Helper(_, args) => args.iter().map(value_nodes).sum(),
        Value::Select(parts) => parts.iter().map(value_nodes).sum(),
        // where an element is takes no time
        Value::Local(_)
        | Value::Double(_)
        | Value::Index(_)
        | Value::Bool(_)
        | Value::InRow(_)
        | Value::Load { .. }
        | Value::SizeOf(..)
        | Value::Moved { .. }
        | Value::Call(..) => 0,
    }
}
