//! Strip mining: where an iteration is a chain of loops over rows of matrices, or has [`functions`] between its loops, each step of
//! the chain is done for sixteen iterations before the next one, so that none waits for what it has just computed, a matrix is read
//! once for all of them, and functions run in lanes.
//!
//! In: a function's statements. Out: a loop without loop-carried dependences but reductions, and with such [`stages`], goes through
//! blocks of sixteen iterations; each stage has a loop over those of a block. An array that two stages access gets a row for each
//! iteration of a block, and a number an element. A stage that adds to a matrix outside the loop adds to it row by row.
//!
//!     for i < n:                                          →   for block: rows = min(n - 16 block, 16)
//!       for j < h: for k < d: z[j] += W[j][k] * x[i][k]         for r < rows: for j < h: for k < d: z[r][j] += W[j][k] * x[16 block + r][k]
//!       for j < h: for k < d: out[j][k] += z[j] * x[i][k]       for j < h: for r < rows: for k < d: out[j][k] += z[r][j] * x[16 block + r][k]
//!
//! Limits: no iteration may stop the function on its own, nor need room that depends on which it is; sums change their order, which strict
//! arithmetic forbids.

use std::collections::HashMap;

use crate::ir::{Prim, Size, Var};

use super::analysis::effects::{Effects, inside};
use super::analysis::homes::Homes;
use super::builder::counter;
use super::program::ranges::Ranges;
use super::program::*;
use super::strips::{iteration, replace_outermost};
use super::values::{folded, index};
use super::visit::{each_local, replace_local};
use super::{Context, Options, Result};
use stages::{Body, Stage};

mod functions;
mod rows;
mod stages;

/// So many iterations are a block: enough that a matrix is seldom read, and few enough that what they keep stays in the cache.
const WIDTH: i64 = 16;

/// The same where loops of few iterations are to be tried too.
const EAGER_WIDTH: i64 = 2;

/// Strip-mines the loops of a function.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    let homes = Homes::of_block(&function.body);
    let (locals, ranges) = (&mut function.locals, &mut function.ranges);
    let mut pass = Pass { locals, ranges, homes: &homes, options: context.options };
    replace_outermost(&mut function.body, &mut |stmt| pass.in_blocks(stmt));
    Ok(())
}

/// See the module's head.
struct Pass<'a> {
    locals: &'a mut Vec<Local>,
    ranges: &'a mut Ranges,
    homes: &'a Homes,
    options: &'a Options,
}

impl Pass<'_> {
    /// A loop with its iterations in blocks, where that pays and may be.
    fn in_blocks(&mut self, stmt: &Stmt) -> Option<Block> {
        let Stmt::For { i, var, count, size, body, lanes: Lanes::One, apart } = stmt else { return None };
        // what measures the workspace knows the index of an iteration by its loop
        if var.as_ref().is_some_and(|var| measures(body, var)) {
            return None;
        }
        let width = if self.options.eager { EAGER_WIDTH } else { WIDTH };
        if matches!(count, Value::Index(count) if *count <= width) {
            return None;
        }
        let effects = Effects::of(self.locals, self.homes, *apart, *i, body)?;
        let summed: Vec<Id> = effects.collected()?.into_iter().map(|(id, _)| id).collect();
        let Effects { added, inside, .. } = effects;
        (!self.options.strict_fp || summed.is_empty() && added.is_empty()).then_some(())?;
        let known = Body { added: &added, summed: &summed, inside: &inside, homes: self.homes, eager: self.options.eager };
        let stages = known.stages(body, self.locals, self.ranges)?;
        let mut out = Vec::new();
        let whole = folded(Prim::Div, count.clone(), Value::Index(width));
        let blocks = if let Value::Index(whole) = whole {
            Value::Index(whole + i64::from(!matches!(count, Value::Index(count) if count % width == 0)))
        } else {
            let left = Value::Prim {
                prim: Prim::Gt,
                elem: Elem::Index,
                plain: true,
                args: vec![folded(Prim::Rem, count.clone(), Value::Index(width)), Value::Index(0)],
            };
            let more = Value::Select(Box::new([left, Value::Index(1), Value::Index(0)]));
            let note = format!("{width} iterations at a time: each loop runs for all of them before the next one");
            let (id, declared) = constant("blocks", folded(Prim::Add, whole, more), Some(note), self.locals, self.ranges);
            out.push(declared);
            Value::Local(id)
        };
        let block = counter("block", &blocks, self.locals, self.ranges);
        let (locals, ranges) = (&mut *self.locals, &mut *self.ranges);
        let (first, rows) = (Value::Index(0), Value::Index(width));
        let mut strip = Strip { locals, ranges, known: &known, i: *i, apart: *apart, width, first, rows, spread: HashMap::new() };
        let mut inner = strip.begin(block, count);
        stages.into_iter().for_each(|stage| strip.stage(stage, &mut inner));
        out.push(Stmt::For { i: block, var: None, count: blocks, size: size.clone(), body: inner, lanes: Lanes::One, apart: *apart });
        Some(out)
    }
}

/// Whether the room that statements need depends on a variable.
fn measures(block: &[Stmt], var: &Var) -> bool {
    block.iter().any(|stmt| {
        let here = match stmt {
            Stmt::Room(room) => room.dims.iter().any(|size| size.mentions(var)),
            Stmt::For { size, .. } => size.as_ref().is_some_and(|size| size.mentions(var)),
            Stmt::Invoke(call) => call.measures.iter().any(|measure| matches!(measure, Measure::Size(size) if size.mentions(var))),
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::If { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => false,
        };
        here || stmt.blocks().any(|block| measures(block, var))
    })
}

/// A constant, and its declaration.
fn constant(name: &str, init: Value, note: Option<String>, locals: &mut Vec<Local>, ranges: &mut Ranges) -> (Id, Stmt) {
    locals.push(Local { name: name.into(), elem: Elem::Index, form: Form::Scalar { mutable: false }, note: note.map(Into::into) });
    let id = locals.len() - 1;
    ranges.insert(id, ranges.of(&init));
    (id, Stmt::Declare { id, init: Some(init) })
}

/// A block of iterations that is being written.
struct Strip<'a> {
    locals: &'a mut Vec<Local>,
    ranges: &'a mut Ranges,
    known: &'a Body<'a>,
    /// The index of an iteration.
    i: Id,
    /// Whether each iteration writes elements of its own.
    apart: bool,
    width: i64,
    /// The first iteration of the block, and how many it has.
    first: Value,
    rows: Value,
    /// The arrays with a row for each iteration, and how long a row is.
    spread: HashMap<Id, Value>,
}

impl Strip<'_> {
    /// What stands before the stages.
    fn begin(&mut self, block: Id, count: &Value) -> Block {
        let first = folded(Prim::Mul, Value::Local(block), Value::Index(self.width));
        let (first_id, begins) = constant("first", first, None, self.locals, self.ranges);
        self.first = Value::Local(first_id);
        let mut out = vec![begins];
        if !matches!(count, Value::Index(count) if count % self.width == 0) {
            let left = index(Prim::Sub, count.clone(), self.first.clone());
            let (rows, declared) = constant("rows", index(Prim::Min, left, Value::Index(self.width)), None, self.locals, self.ranges);
            self.ranges.insert(rows, (1, self.width as i128));
            self.rows = Value::Local(rows);
            out.push(declared);
        }
        out
    }

    /// Writes the loop of a stage.
    fn stage(&mut self, stage: Stage, out: &mut Block) {
        for mut room in stage.spread {
            let [length] = room.counts.as_slice() else { continue };
            self.spread.insert(room.id, length.clone());
            // an array of one element gets one for each iteration
            if *length == Value::Index(1) {
                (room.dims, room.counts) = (Vec::new(), Vec::new());
            }
            room.dims.insert(0, Size::constant(self.width));
            room.counts.insert(0, Value::Index(self.width));
            out.push(Stmt::Room(room));
        }
        let apart = self.apart || stage.is_own;
        let mut stmts = stage.stmts;
        match self.rows_added_to(&mut stmts) {
            Some(of_row) => {
                let each = self.each_iteration(of_row, apart);
                *of_row = vec![each];
                out.append(&mut stmts);
            }
            None => out.push(self.each_iteration(&stmts, apart)),
        }
    }

    /// The loop over the iterations of a block.
    fn each_iteration(&mut self, stmts: &[Stmt], apart: bool) -> Stmt {
        let row = counter("row", &self.rows, self.locals, self.ranges);
        let at = folded(Prim::Add, self.first.clone(), Value::Local(row));
        let mut body = iteration(self.i, at, stmts, self.locals, self.ranges);
        rows::spread(&mut body, &self.spread, &Value::Local(row));
        let size = Some(Size::constant(self.width));
        Stmt::For { i: row, var: None, count: self.rows.clone(), size, body, lanes: Lanes::One, apart }
    }

    /// What is done for each row of a matrix outside: the body of a loop that does nothing but to add to such rows, to the same ones
    /// in each iteration.
    fn rows_added_to<'s>(&self, stmts: &'s mut [Stmt]) -> Option<&'s mut Block> {
        let own = inside(stmts);
        let [Stmt::For { i: j, count, body, .. }] = stmts else { return None };
        let is_same = |value: &Value| {
            let mut is_same = true;
            each_local(value, &mut |id| is_same &= id == *j || !own.contains(&id) && !self.known.inside.contains(&id));
            is_same
        };
        let (last, before) = body.split_last()?;
        let Stmt::For { i: k, count: columns, body: sums, .. } = last else { return None };
        let are_names = before.iter().all(|stmt| matches!(stmt, Stmt::Declare { init: Some(_), .. }));
        let adds = |stmt: &Stmt| match stmt {
            Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, .. } | Stmt::Update { base, offset, .. } => {
                let mut in_row = offset.clone();
                replace_local(&mut in_row, *k, &Value::Index(0));
                self.known.added.contains(base) && is_same(&in_row)
            }
            Stmt::Declare { .. } => true,
            _ => false,
        };
        (are_names && is_same(count) && is_same(columns) && sums.iter().all(adds)).then_some(body)
    }
}
