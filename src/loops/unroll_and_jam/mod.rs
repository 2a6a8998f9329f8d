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
//! Each sum adds the same numbers in the same order. Rows that are added to an array go together too (`accumulate`). Windows, which
//! lie side by side, are a lane each (`window`); other rows go together only where the inner loop reads something that is the same in
//! each of them. Little else is done in an iteration.

use std::collections::HashMap;

use crate::ir::Prim;
use crate::real::Real;

use crate::loops::absorb_zeros;
use crate::loops::analysis::bounds::Around;
use crate::loops::analysis::homes::Homes;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::rename::rename;
use crate::loops::simplify::drop_unused_names;
use crate::loops::values::index;
use crate::loops::visit::{each_local, each_value, reads};
use crate::loops::{Context, Options, Result};
use accumulate::Adds;
use order::{Row, Site};

mod accumulate;
mod order;
mod window;

/// So many iterations are taken at a time where each is short: memory then has eight rows to fetch at once.
const MANY_ROWS: i64 = 8;

/// So many where an iteration is longer, since the text grows with them.
const ROWS: i64 = 4;

/// The statements of an iteration that is short.
const SHORT: usize = 4;

/// What an iteration has at most of statements before, in and after an inner loop; the text would grow.
const FEW_STATEMENTS: usize = 5;

/// So many inner loops at most, for the same reason.
const MANY_LOOPS: usize = 3;

/// Unrolls and jams the loops of a function.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    let homes = Homes::of_block(&function.body);
    let (locals, ranges) = (&mut function.locals, &mut function.ranges);
    let Options { real, algebra, .. } = *context.options;
    let mut jammer = Jammer { locals, ranges, homes: &homes, around: Around::default(), real, algebra };
    jammer.block(&mut function.body, context.options.parallel);
    Ok(())
}

struct Jammer<'j> {
    locals: &'j mut Vec<Local>,
    ranges: &'j mut Ranges,
    homes: &'j Homes,
    around: Around,
    real: Real,
    algebra: bool,
}

impl Jammer<'_> {
    /// Takes several iterations at a time in the loops of a block. Where threads share loops, at most four in the outermost, and of
    /// many, so that enough are left to share.
    fn block(&mut self, block: &mut Block, parallel: bool) {
        let mut out = Vec::new();
        let mut is_whole = false;
        for mut stmt in std::mem::take(block) {
            self.around.note(&stmt, self.locals);
            let shared = parallel && !matches!(stmt, Stmt::For { .. });
            if let Stmt::For { i, count, .. } = &stmt {
                self.around.enter(*i, count);
            }
            stmt.blocks_mut().for_each(|block| self.block(block, shared));
            if matches!(stmt, Stmt::For { .. }) {
                self.around.leave();
            }
            let by_offsets = window::without_names(self.locals, &stmt);
            let (settled, rest) = order::without_settled(self.locals, &stmt).unzip();
            let rest = rest.as_ref().unwrap_or(&stmt);
            let site = Site { locals: self.locals, homes: self.homes, around: &self.around, ranges: self.ranges };
            let windows = by_offsets.as_ref().and_then(|stmt| Rows::of(&site, self.real, stmt, parallel)).filter(|rows| rows.lanes);
            let rows = windows.or_else(|| Rows::of(&site, self.real, rest, parallel)).or_else(|| Rows::added(&site, rest, parallel));
            match rows.filter(|rows| self.ranges.of(rows.count).1 >= i128::from(rows.group)) {
                Some(rows) => {
                    out.extend(settled.into_iter().flatten());
                    is_whole |= matches!(rows.count, Value::Index(count) if *count <= rows.group);
                    let mut grouped = Vec::new();
                    Rows { algebra: self.algebra, ..rows }.grouped(self.locals, self.ranges, &mut grouped);
                    drop_unused_names(&mut grouped);
                    out.extend(grouped);
                }
                None => out.push(stmt),
            }
        }
        *block = out;
        // each element now gets one sum
        if is_whole && self.algebra {
            absorb_zeros::in_block(self.homes, self.locals, block);
        }
    }
}

/// A loop over rows with loops of sums in it.
struct Rows<'a> {
    i: Id,
    /// How many of them are taken at a time.
    group: i64,
    count: &'a Value,
    parts: Vec<Part<'a>>,
    /// Each of a group in a lane, in the place of side by side.
    lanes: bool,
    /// Whether no row depends on another one, of its group or not.
    apart: bool,
    /// Whether what several rows add may be added up first.
    algebra: bool,
}

/// What an iteration does.
enum Part<'a> {
    /// Declarations and assignments.
    Plain(&'a [Stmt]),
    Sums(Nest<'a>),
    /// A loop that adds the row to an array.
    Adds(Adds<'a>),
}

/// A loop of sums, or several that stand in each other and nothing beside them.
struct Nest<'a> {
    /// The outermost first.
    loops: Vec<&'a Stmt>,
    sums: &'a [Stmt],
}

impl Rows<'_> {
    fn of<'a>(site: &Site, real: Real, stmt: &'a Stmt, parallel: bool) -> Option<Rows<'a>> {
        let Stmt::For { i, count, body, lanes: Lanes::One, apart, .. } = stmt else { return None };
        let is_plain = |stmt: &Stmt| matches!(stmt, Stmt::Declare { init: Some(_), .. } | Stmt::Assign { .. } | Stmt::Update { .. });
        let parts = parts(body, &|_| None)?;
        let few = parts.iter().map(Part::statements).all(|part| part.len() <= FEW_STATEMENTS && part.iter().all(is_plain));
        // an inner loop whose length depends on the row is not one loop for several of them
        let mut own = vec![*i];
        let (mut shares, mut is_rectangular, mut loops) = (false, true, 0);
        for part in &parts {
            match part {
                Part::Plain(stmts) => {
                    own.extend(stmts.iter().filter_map(|stmt| if let Stmt::Declare { id, .. } = stmt { Some(*id) } else { None }));
                }
                Part::Adds(_) => return None,
                Part::Sums(nest) => {
                    loops += 1;
                    is_rectangular &= !nest.indices().any(|(_, count)| is_any(count, &own));
                    shares |= nest.shares(&own);
                }
            }
        }
        let least = if parallel { MANY_ROWS * MANY_ROWS } else { ROWS };
        if !few || !is_rectangular || !(1..=MANY_LOOPS).contains(&loops) || matches!(count, Value::Index(count) if *count < least) {
            return None;
        }
        let is_short = parts.iter().map(|part| part.statements().len()).sum::<usize>() <= SHORT;
        let group = if is_short && !parallel { MANY_ROWS } else { ROWS };
        let rows = Rows { i: *i, group, count, parts, lanes: false, apart: *apart, algebra: false };
        let is_apart = *apart && !body.iter().any(|stmt| matches!(stmt, Stmt::Update { .. }));
        let lanes = real.lanes() as i64;
        let is_long = !matches!(count, Value::Index(count) if *count < 2 * lanes);
        if is_apart && is_long && rows.are_windows(site.locals) {
            return Some(Rows { group: lanes, lanes: true, ..rows });
        }
        let fits = shares && (is_apart || Row::of(site, *i, count, body).goes_beside(&rows.parts, group));
        fits.then_some(rows)
    }

    fn grouped(&self, locals: &mut Vec<Local>, ranges: &mut Ranges, out: &mut Block) {
        if let Value::Index(count) = *self.count
            && count <= self.group
        {
            let rows = (0..count).map(Value::Index).collect();
            return out.extend(self.side_by_side(rows, locals, ranges));
        }
        let repeat = |i, count, body, apart| Stmt::For { i, var: None, count, size: None, body, lanes: Lanes::One, apart };
        let group = Value::Index(self.group);
        let (groups, rest) = if let Value::Index(count) = self.count {
            (Value::Index(count / self.group), Value::Index(count % self.group))
        } else {
            let (name, note) = match self.group {
                MANY_ROWS if self.lanes => ("eights", "eight sums at a time, each in a lane"),
                _ if self.lanes => ("sixteens", "sixteen sums at a time, each in a lane"),
                ROWS => ("fours", "four rows at a time: what they share is read once"),
                _ => ("eights", "eight rows at a time: what they share is read once"),
            };
            locals.push(Local { name: name.into(), elem: Elem::Index, form: Form::Scalar { mutable: false }, note: Some(note.into()) });
            let groups = locals.len() - 1;
            out.push(Stmt::Declare { id: groups, init: Some(index(Prim::Div, self.count.clone(), group.clone())) });
            (Value::Local(groups), index(Prim::Rem, self.count.clone(), group.clone()))
        };
        let is_one = groups == Value::Index(1);
        let first = if is_one { Value::Index(0) } else { index(Prim::Mul, Value::Local(self.i), group.clone()) };
        let group_body = if self.lanes {
            self.in_lanes(&first, locals, ranges)
        } else {
            self.side_by_side((0..self.group).map(|k| plus(first.clone(), Value::Index(k))).collect(), locals, ranges)
        };
        if is_one {
            out.extend(group_body);
        } else {
            out.push(repeat(self.i, groups.clone(), group_body, self.apart));
        }
        if rest == Value::Index(0) {
            return;
        }
        if let (Value::Index(rest), Value::Index(groups)) = (&rest, &groups) {
            let rows = (0..*rest).map(|k| Value::Index(groups * self.group + k)).collect();
            return out.extend(self.side_by_side(rows, locals, ranges));
        }
        locals.push(locals[self.i].clone());
        let left = locals.len() - 1;
        let row = plus(index(Prim::Mul, groups, group), Value::Local(left));
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
        let (mut body, mut loops) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Plain(statements) => body.extend(copied(statements, locals)),
                Part::Sums(nest) => {
                    loops.push(body.len());
                    let sums = copied(nest.sums, locals);
                    body.extend(nest.around(sums, Lanes::clone, locals, ranges));
                }
                Part::Adds(adds) => {
                    let own = adds.together(self.algebra, &mut |stmt| copied(std::slice::from_ref(stmt), locals));
                    body.extend(with_own_index(adds.stmt, own, None, locals, ranges));
                }
            }
        }
        let all = |ids: &mut Vec<Id>| *ids = ids.iter().flat_map(|id| copies.iter().map(|copy| copy.id(*id))).collect();
        loops.into_iter().for_each(|at| each_sum(&mut body[at], &mut |ids| all(ids)));
        body
    }
}

impl<'a> Part<'a> {
    /// The statements of an iteration, of the row or of its innermost loop.
    fn statements(&self) -> &'a [Stmt] {
        match self {
            Part::Plain(statements) => statements,
            Part::Sums(nest) => nest.sums,
            Part::Adds(adds) => adds.body,
        }
    }

    /// The loops that these are in, the outermost first, with their counts.
    fn loops(&self) -> Vec<(Id, &'a Value)> {
        match self {
            Part::Plain(_) => Vec::new(),
            Part::Sums(nest) => nest.indices().collect(),
            Part::Adds(Adds { stmt, .. }) => indices(std::slice::from_ref(stmt)).collect(),
        }
    }
}

/// The indices of loops with their counts.
fn indices<'a>(loops: &[&'a Stmt]) -> impl Iterator<Item = (Id, &'a Value)> {
    loops.iter().filter_map(|stmt| if let Stmt::For { i, count, .. } = stmt { Some((*i, count)) } else { None })
}

impl<'a> Nest<'a> {
    fn of(stmt: &'a Stmt) -> Option<Nest<'a>> {
        let Stmt::For { body, lanes, .. } = stmt else { return None };
        match (lanes, body.as_slice()) {
            (Lanes::Sum(_), sums) => Some(Nest { loops: vec![stmt], sums }),
            (Lanes::One, [inner]) => {
                let Nest { mut loops, sums } = Nest::of(inner)?;
                loops.insert(0, stmt);
                Some(Nest { loops, sums })
            }
            _ => None,
        }
    }

    /// The loops' indices with their counts.
    fn indices(&self) -> impl Iterator<Item = (Id, &'a Value)> {
        indices(&self.loops)
    }

    /// Whether one loop of sums reads something that is the same for each row beside something of the row.
    fn shares(&self, own: &[Id]) -> bool {
        let mut indices = self.indices().map(|(j, _)| j);
        let (Some(j), None) = (indices.next(), indices.next()) else { return false };
        let (mut is_shared, mut is_own) = (false, false);
        each_value(self.sums, &mut |value| {
            if let Value::Load { offset: Some(offset), .. } = value {
                let by_column = reads(offset, j);
                is_own |= by_column && is_any(offset, own);
                is_shared |= by_column && !is_any(offset, own);
            }
        });
        is_shared && is_own
    }

    /// The loops around another body, with indices of their own; `lanes` says how each then runs.
    fn around(&self, body: Block, lanes: impl Fn(&Lanes) -> Lanes, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Option<Stmt> {
        let mut body = body;
        for stmt in self.loops.iter().rev() {
            let Stmt::For { lanes: own, .. } = stmt else { return None };
            body = vec![with_own_index(stmt, body, Some(lanes(own)), locals, ranges)?];
        }
        body.pop()
    }
}

/// A loop like another over another body, with an index of its own.
fn with_own_index(stmt: &Stmt, mut body: Block, lanes: Option<Lanes>, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Option<Stmt> {
    let Stmt::For { i, var, count, size, lanes: own, apart, .. } = stmt else { return None };
    locals.push(locals[*i].clone());
    let index = locals.len() - 1;
    rename(&mut body, *i, index);
    ranges.insert(index, ranges.of(&Value::Local(*i)));
    let lanes = lanes.unwrap_or_else(|| own.clone());
    Some(Stmt::For { i: index, var: var.clone(), count: count.clone(), size: size.clone(), body, lanes, apart: *apart })
}

/// The loops of sums of a body, those that add rows, as `adds` says, and what is between them; `None` where there are other loops.
fn parts<'a>(body: &'a [Stmt], adds: &dyn Fn(&'a Stmt) -> Option<Adds<'a>>) -> Option<Vec<Part<'a>>> {
    let is_loop = |stmt: &Stmt| matches!(stmt, Stmt::For { .. });
    let mut parts = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.iter().position(is_loop) {
        parts.extend((at > 0).then_some(Part::Plain(&rest[..at])));
        parts.push(Nest::of(&rest[at]).map(Part::Sums).or_else(|| adds(&rest[at]).map(Part::Adds))?);
        rest = &rest[at + 1..];
    }
    parts.extend((!rest.is_empty()).then_some(Part::Plain(rest)));
    Some(parts)
}

/// Calls `f` on what a loop, or the one in it, sums up.
fn each_sum(stmt: &mut Stmt, f: &mut dyn FnMut(&mut Vec<Id>)) {
    if let Stmt::For { lanes: Lanes::Sum(ids), .. } = stmt {
        f(ids);
    }
    stmt.blocks_mut().flatten().for_each(|stmt| each_sum(stmt, f));
}

/// Whether an expression reads one of these locals.
fn is_any(value: &Value, ids: &[Id]) -> bool {
    let mut found = false;
    each_local(value, &mut |id| found |= ids.contains(&id));
    found
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
        (a, b) => index(Prim::Add, a, b),
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
            Stmt::Update { base, offset, value } => Stmt::Update { base: *base, offset: self.value(offset), value: self.value(value) },
            Stmt::Assign { place, value } => {
                let place = match place {
                    Place::Local(id) => Place::Local(self.id(*id)),
                    Place::Element { base, offset } => {
                        Place::Element { base: *base, offset: offset.as_ref().map(|offset| self.value(offset)) }
                    }
                };
                Stmt::Assign { place, value: self.value(value) }
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.value(cond);
                let mut branch = |block: &[Stmt]| block.iter().map(|stmt| self.stmt(stmt, locals)).collect::<Option<Block>>();
                Stmt::If { cond, then: branch(then)?, otherwise: branch(otherwise)? }
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
            Value::InRow(parts) => Value::in_row(self.value(&parts[0]), self.value(&parts[1]), self.value(&parts[2])),
            Value::Helper(name, args) => Value::Helper(name, all(args)),
            Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(..) | Value::Moved { .. } | Value::Call(..) => {
                value.clone()
            }
        }
    }
}
