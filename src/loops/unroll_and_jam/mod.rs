//! Several rows of sums at once: what the rows share is loaded once for all of them, and no sum waits for the one before.
//!
//! In: a function's statements, with lanes marked. Out: loops whose iterations do not depend on each other and add to sums
//! in one loop take four iterations at a time, or eight, with their inner loops as one.
//!
//!     for i < m: s = 0                        →   for i < m / 4: s0 = 0; s1 = 0; s2 = 0; s3 = 0
//!                for j < n: s += A[i][j] * v[j]         for j < n: s0 += A[4 i][j] * v[j]; …; s3 += A[4 i + 3][j] * v[j]
//!                out[i] = s                             out[4 i] = s0; …; out[4 i + 3] = s3
//!                                                 for i < m % 4: as before
//!
//! Each sum adds the same numbers in the same order. Windows, which lie side by side, are a lane each (`window`); other rows go
//! together only where the inner loop reads something that is the same in each of them. Little else is done in an iteration.

use std::collections::HashMap;

use crate::ir::Prim;
use crate::real::Real;

use crate::loops::program::*;
use crate::loops::ranges::Ranges;
use crate::loops::rename::rename;
use crate::loops::visit::each_local;
use crate::loops::visit::each_value;
use crate::loops::{Context, Result};

mod window;

/// So many iterations are taken at a time where each is short: memory then has eight rows to fetch at once.
const MANY_ROWS: i64 = 8;

/// So many where an iteration is longer, since the text grows with them.
const ROWS: i64 = 4;

/// The statements of an iteration that is short.
const SHORT: usize = 4;

/// What an iteration has at most of statements before, in and after its inner loop; the text would grow.
const FEW_STATEMENTS: usize = 5;

/// Unrolls and jams the loops of a function.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    let options = context.options;
    find(&mut function.locals, &mut function.ranges, options.real, &mut function.body, options.parallel);
    Ok(())
}

/// Takes several iterations at a time in the loops of a block. Where threads share loops, at most four in the outermost, and of
/// many, so that enough are left to share.
fn find(locals: &mut Vec<Local>, ranges: &mut Ranges, real: Real, block: &mut Block, parallel: bool) {
    let mut out = Vec::new();
    for mut stmt in std::mem::take(block) {
        let shared = parallel && !matches!(stmt, Stmt::For { .. });
        stmt.blocks_mut().for_each(|block| find(locals, ranges, real, block, shared));
        let by_offsets = window::without_names(locals, &stmt);
        let windows = by_offsets.as_ref().and_then(|stmt| Rows::of(locals, real, stmt, parallel)).filter(|rows| rows.lanes);
        match windows.or_else(|| Rows::of(locals, real, &stmt, parallel)) {
            Some(rows) => rows.grouped(locals, ranges, &mut out),
            None => out.push(stmt),
        }
    }
    *block = out;
}

/// A loop over rows with one loop of sums in it.
struct Rows<'a> {
    i: Id,
    /// How many of them are taken at a time.
    group: i64,
    count: &'a Value,
    before: &'a [Stmt],
    inner: &'a Stmt,
    after: &'a [Stmt],
    /// Each of a group in a lane, in the place of side by side.
    lanes: bool,
}

impl Rows<'_> {
    fn of<'a>(locals: &[Local], real: Real, stmt: &'a Stmt, parallel: bool) -> Option<Rows<'a>> {
        let Stmt::For { i, count, body, lanes: Lanes::One, apart: true, .. } = stmt else { return None };
        let at = body.iter().position(|stmt| matches!(stmt, Stmt::For { .. }))?;
        let (before, after) = (&body[..at], &body[at + 1..]);
        let Stmt::For { i: j, count: columns, body: sums, lanes: Lanes::Sum(_), .. } = &body[at] else { return None };
        let is_plain = |stmt: &Stmt| matches!(stmt, Stmt::Declare { init: Some(_), .. } | Stmt::Assign { .. });
        let few = [before, sums, after].iter().all(|part| part.len() <= FEW_STATEMENTS && part.iter().all(is_plain));
        let mut own = vec![*i];
        own.extend(before.iter().filter_map(|stmt| if let Stmt::Declare { id, .. } = stmt { Some(*id) } else { None }));
        let is_own = |value: &Value| {
            let mut found = false;
            each_local(value, &mut |id| found |= own.contains(&id));
            found
        };
        // an inner loop whose length depends on the row is not one loop for several of them
        let least = if parallel { MANY_ROWS * MANY_ROWS } else { ROWS };
        let fits = few && !is_own(columns) && !matches!(count, Value::Index(count) if *count < least);
        let is_short = before.len() + sums.len() + after.len() <= SHORT;
        let group = if is_short && !parallel { MANY_ROWS } else { ROWS };
        let rows = Rows { i: *i, group, count, before, inner: &body[at], after, lanes: false };
        if !fits {
            return None;
        }
        let lanes = real.lanes() as i64;
        let is_long = !matches!(count, Value::Index(count) if *count < 2 * lanes);
        if is_long && rows.is_window(locals) {
            return Some(Rows { group: lanes, lanes: true, ..rows });
        }
        shares(sums, *j, &is_own).then_some(rows)
    }

    fn grouped(&self, locals: &mut Vec<Local>, ranges: &mut Ranges, out: &mut Block) {
        let index = |prim, a: Value, b: Value| Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, b] };
        if let Value::Index(count) = *self.count
            && count <= self.group
        {
            let rows = (0..count).map(Value::Index).collect();
            return out.extend(self.side_by_side(rows, locals, ranges));
        }
        let repeat = |i, count, body, apart| Stmt::For { i, var: None, count, size: None, body, lanes: Lanes::One, apart };
        let group = Value::Index(self.group);
        let (groups, rest) = match self.count {
            Value::Index(count) => (Value::Index(count / self.group), Value::Index(count % self.group)),
            count => {
                let (name, note) = match self.group {
                    MANY_ROWS if self.lanes => ("eights", "eight sums at a time, each in a lane"),
                    _ if self.lanes => ("sixteens", "sixteen sums at a time, each in a lane"),
                    ROWS => ("fours", "four rows at a time: what they share is read once"),
                    _ => ("eights", "eight rows at a time: what they share is read once"),
                };
                locals.push(Local { name: name.into(), elem: Elem::Index, form: Form::Scalar { mutable: false }, note: Some(note.into()) });
                let groups = locals.len() - 1;
                out.push(Stmt::Declare { id: groups, init: Some(index(Prim::Div, count.clone(), group.clone())) });
                (Value::Local(groups), index(Prim::Rem, count.clone(), group.clone()))
            }
        };
        let first = index(Prim::Mul, Value::Local(self.i), group.clone());
        let group_body = if self.lanes {
            self.in_lanes(&first, locals)
        } else {
            self.side_by_side((0..self.group).map(|k| plus(first.clone(), Value::Index(k))).collect(), locals, ranges)
        };
        out.push(repeat(self.i, groups.clone(), group_body, true));
        if rest == Value::Index(0) {
            return;
        }
        locals.push(locals[self.i].clone());
        let left = locals.len() - 1;
        let done = match groups {
            Value::Index(groups) => Value::Index(groups * self.group),
            groups => index(Prim::Mul, groups, group),
        };
        let row = plus(done, Value::Local(left));
        // a few iterations are nothing to share among threads
        out.push(repeat(left, rest, self.side_by_side(vec![row], locals, ranges), false));
    }

    /// The iterations of some rows with one inner loop.
    fn side_by_side(&self, rows: Vec<Value>, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Block {
        let mut copies: Vec<Copy> = rows.into_iter().map(|row| Copy { of: HashMap::from([(self.i, row)]) }).collect();
        let mut copied = |block: &[Stmt], locals: &mut Vec<Local>| -> Block {
            let mut out = Vec::new();
            for stmt in block {
                out.extend(copies.iter_mut().filter_map(|copy| copy.stmt(stmt, locals)));
            }
            out
        };
        let mut body = copied(self.before, locals);
        if let Stmt::For { i, var, count, size, body: sums, lanes: Lanes::Sum(ids), apart } = self.inner {
            locals.push(locals[*i].clone());
            let own = locals.len() - 1;
            let mut sums = copied(sums, locals);
            rename(&mut sums, *i, own);
            ranges.insert(own, ranges.of(&Value::Local(*i)));
            body.push(Stmt::For {
                i: own,
                var: var.clone(),
                count: count.clone(),
                size: size.clone(),
                body: sums,
                lanes: Lanes::Sum(ids.clone()),
                apart: *apart,
            });
        }
        let at = body.len() - 1;
        body.extend(copied(self.after, locals));
        if let Some(Stmt::For { lanes: Lanes::Sum(ids), .. }) = body.get_mut(at) {
            *ids = ids.iter().flat_map(|id| copies.iter().map(|copy| copy.id(*id))).collect();
        }
        body
    }
}

/// Whether sums over j read something that is the same for each row beside something of the row.
fn shares(sums: &Block, j: Id, is_own: &dyn Fn(&Value) -> bool) -> bool {
    let (mut shared, mut own) = (false, false);
    each_value(sums, &mut |value| {
        if let Value::Load { offset: Some(offset), .. } = value {
            let mut by_column = false;
            each_local(offset, &mut |id| by_column |= id == j);
            own |= by_column && is_own(offset);
            shared |= by_column && !is_own(offset);
        }
    });
    shared && own
}

/// The sum of two Indices, one of which may be 0.
fn plus(a: Value, b: Value) -> Value {
    match (a, b) {
        (a, Value::Index(0)) => a,
        (Value::Index(0), b) => b,
        (Value::Index(a), Value::Index(b)) => Value::Index(a + b),
        (a, Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, mut args }) if args.len() == 2 => {
            let last = args.swap_remove(1);
            plus(plus(a, args.swap_remove(0)), last)
        }
        (a, b) => Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args: vec![a, b] },
    }
}

/// One iteration: what its locals are in it.
struct Copy {
    of: HashMap<Id, Value>,
}

impl Copy {
    fn id(&self, id: Id) -> Id {
        match self.of.get(&id) {
            Some(Value::Local(id)) => *id,
            _ => id,
        }
    }

    fn stmt(&mut self, stmt: &Stmt, locals: &mut Vec<Local>) -> Option<Stmt> {
        Some(match stmt {
            Stmt::Declare { id, init } => {
                let init = init.as_ref().map(|init| self.value(init));
                locals.push(locals[*id].clone());
                self.of.insert(*id, Value::Local(locals.len() - 1));
                Stmt::Declare { id: locals.len() - 1, init }
            }
            Stmt::Assign { place, value } => {
                let place = match place {
                    Place::Local(id) => Place::Local(self.id(*id)),
                    Place::Element { base, offset } => {
                        Place::Element { base: *base, offset: offset.as_ref().map(|offset| self.value(offset)) }
                    }
                };
                Stmt::Assign { place, value: self.value(value) }
            }
            _ => return None,
        })
    }

    fn value(&self, value: &Value) -> Value {
        let all = |args: &[Value]| args.iter().map(|arg| self.value(arg)).collect::<Vec<_>>();
        match value {
            Value::Local(id) => self.of.get(id).cloned().unwrap_or_else(|| value.clone()),
            Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args } if args.len() == 2 => {
                plus(self.value(&args[0]), self.value(&args[1]))
            }
            Value::Prim { prim, elem, plain, args } => Value::Prim { prim: *prim, elem: *elem, plain: *plain, args: all(args) },
            Value::Load { base, offset } => Value::Load { base: *base, offset: offset.as_ref().map(|offset| Box::new(self.value(offset))) },
            Value::Select(parts) => Value::Select(Box::new([self.value(&parts[0]), self.value(&parts[1]), self.value(&parts[2])])),
            Value::Helper(name, args) => Value::Helper(name, all(args)),
            Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(_) | Value::Moved { .. } | Value::Call(..) => value.clone(),
        }
    }
}
