//! `--parallel`: which loops threads share.
//!
//! In: a function's statements. Out: the same, where the outermost loops whose iterations do not depend on each
//! other are shared: each thread runs a part of the iterations in their order. Iterations are independent in a
//! `build`, where each writes elements of its own, and in a reduction, which changes nothing but locals by an
//! associative operation; each part then has locals of its own, which are joined in order.
//!
//!     for i < n: out[i] = f(v[i])     shared
//!     for i < n: s = s + v[i]         shared: a part adds to a local of its own
//!     for i < n: for j < m: out[j] = out[j] + f(A[i], j)   shared: a part adds to an array of its own
//!     for i < n: s = s * 0.5 + v[i]   one after the other
//!
//! Sums over the rows of a matrix into an array are shared by columns (`by_columns`). A part that needs room has a slice of the
//! workspace for itself: its own sums, and behind them what an iteration needs. Left alone are loops of few iterations, sums of one
//! row within a loop over rows, loops whose slices differ from turn to turn of a loop around them, what clears or copies, and, where
//! rounding is as written, sums and products of Doubles.

mod by_columns;
mod captured;
mod work;

use std::collections::HashMap;
use std::rc::Rc;

use crate::ir::{Prim, Size, Var};
use crate::loops::analysis::effects::{Effects, inside};
use crate::loops::analysis::failures::can_fail;
use crate::loops::analysis::homes::Homes;
use crate::loops::builder::Builder;
use crate::loops::measure::{Part, measure_part};
use crate::loops::program::*;
use crate::loops::values::{index, may_wrap};
use crate::loops::{Context, FEW_TO_SHARE, Result};
use crate::source::Span;

use by_columns::Columns;
use captured::captured;
pub use captured::forget_unused;

/// The work of a whole loop of literal size that is worth a second thread; as SMOOTH_WORTH in `runtime/parallel.h`.
const WORTH: f64 = 2.0 * 50_000.0;

/// The work of an iteration that copies an element.
const COPY: f64 = 2.0;

/// Shares the loops of a function among threads, where that is asked for.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    if !context.options.parallel {
        return Ok(());
    }
    // OpenMP makes the marks for lanes count, also where rounding is as written
    if context.options.strict_fp {
        keep_sums(&mut function.body);
    }
    let mut builder = Builder::of(function);
    let shared = share(function, &mut builder, context);
    builder.give_back(function);
    function.slices = shared?;
    let whole = function.body.clone();
    capture(&function.locals, &whole, &mut function.body);
    Ok(())
}

/// Shares the loops of a function's body; gives the measures of their slices.
fn share(function: &mut LoopFunction, builder: &mut Builder, context: &Context) -> Result<Vec<PartMeasure>> {
    let homes = Homes::of_block(&function.body);
    let mut arrays = HashMap::new();
    for param in &function.params {
        if let Role::OutArray(dims) = &param.role {
            arrays.insert(param.id, dims.clone());
        }
    }
    rooms(&function.body, &mut arrays);
    // a length is at most what memory has, any other size anything
    let is_length = |id: &Id| builder.ranges.get(*id).is_some_and(|range| range.1 <= LONGEST as i128);
    let lengths = function.size_names.iter().filter(|(_, id)| is_length(id)).map(|(var, _)| var.clone()).collect();
    let mut sharer = Sharer {
        arrays,
        homes: &homes,
        builder,
        context,
        name: &function.name,
        params: &function.measured,
        lengths,
        around: Vec::new(),
        depth: 0,
        slices: Vec::new(),
    };
    sharer.block(&mut function.body)?;
    Ok(sharer.slices)
}

/// Takes back that loops collect sums in any order.
fn keep_sums(block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(keep_sums);
        if let Stmt::For { lanes: lanes @ Lanes::Sum(_), .. } = stmt {
            *lanes = Lanes::One;
        }
    }
}

fn rooms(block: &[Stmt], arrays: &mut HashMap<Id, Vec<Size>>) {
    for stmt in block {
        if let Stmt::Room(room) = stmt {
            arrays.insert(room.id, room.dims.clone());
        }
        stmt.blocks().for_each(|block| rooms(block, arrays));
    }
}

/// Finds what shared loops use of what is around them.
fn capture(locals: &[Local], whole: &[Stmt], block: &mut Block) {
    for stmt in block {
        if let Stmt::Share(share) = stmt {
            share.captured = captured(locals, whole, share);
        } else {
            stmt.blocks_mut().for_each(|block| capture(locals, whole, block));
        }
    }
}

struct Sharer<'s> {
    homes: &'s Homes,
    /// The lengths of arrays that are written.
    arrays: HashMap<Id, Vec<Size>>,
    builder: &'s mut Builder,
    context: &'s Context<'s>,
    name: &'s Rc<str>,
    params: &'s [(Id, Option<Var>)],
    lengths: Vec<Var>,
    /// The indices of the loops around, as far as terms can name them, and how many loops there are.
    around: Vec<Var>,
    depth: usize,
    slices: Vec<PartMeasure>,
}

impl Sharer<'_> {
    fn block(&mut self, block: &mut Block) -> Result<()> {
        let mut rest = std::mem::take(block);
        while !rest.is_empty() {
            if let Some((share, names, length)) = self.by_columns(&rest) {
                rest.drain(..length);
                block.extend(names);
                block.push(Stmt::Share(share));
                continue;
            }
            let mut stmt = rest.remove(0);
            match self.shared(&stmt)? {
                Some(share) => stmt = Stmt::Share(share),
                None => self.inner(&mut stmt)?,
            }
            block.push(stmt);
        }
        Ok(())
    }

    /// Shares the loops inside a statement.
    fn inner(&mut self, stmt: &mut Stmt) -> Result<()> {
        if let Stmt::For { var, count, body, .. } = stmt {
            // the few rows that are left after several at a time
            if matches!(count, Value::Prim { prim: Prim::Rem, args, .. } if matches!(args[1], Value::Index(most) if most < FEW_TO_SHARE)) {
                return Ok(());
            }
            let named = self.around.len();
            self.around.extend(var.clone());
            self.depth += 1;
            self.block(body)?;
            self.depth -= 1;
            self.around.truncate(named);
            return Ok(());
        }
        stmt.blocks_mut().try_for_each(|block| self.block(block))
    }

    /// Statements that threads share by columns, the names that go before them, and how many statements they are.
    fn by_columns(&mut self, block: &[Stmt]) -> Option<(Share, Block, usize)> {
        let columns = Columns::find(block, &self.builder.locals, self.homes)?;
        let is_name = |stmt: &&Stmt| matches!(stmt, Stmt::Declare { .. });
        let (names, body): (Block, Block) = block[..columns.length].iter().cloned().partition(|stmt| is_name(&stmt));
        let inside = inside(&body);
        let work = work::of_columns(&body, self.context.done, &columns.loops, &|id| !inside.contains(&id));
        if is_small(&columns.count, &work) || self.builder.ranges.of(&columns.count).1 < i128::from(FEW_TO_SHARE) {
            return None;
        }
        let mut in_lanes = false;
        each_loop(&body, &mut |i, lanes| in_lanes |= columns.loops.contains(&i) && *lanes != Lanes::One);
        let Columns { length, count, loops } = columns;
        let (slice, totals, captured) = (None, Vec::new(), Vec::new());
        Some((Share { count, body, loops, in_lanes, work, slice, totals, captured, span: Span::NONE }, names, length))
    }

    /// The loop as one that threads share, where they may and it can be worth it.
    fn shared(&mut self, stmt: &Stmt) -> Result<Option<Share>> {
        let Stmt::For { i, count, size, body, lanes, apart, .. } = stmt else { return Ok(None) };
        if self.builder.ranges.of(count).1 < i128::from(FEW_TO_SHARE) {
            return Ok(None);
        }
        // threads would be started for each sum of a row
        let innermost = || body.iter().all(|stmt| !matches!(stmt, Stmt::For { .. } | Stmt::Invoke(_)) && stmt.blocks().next().is_none());
        if self.depth > 0 && !*apart && innermost() {
            return Ok(None);
        }
        let Some(effects) = Effects::of(&self.builder.locals, self.homes, *apart, *i, body) else { return Ok(None) };
        let Some(collected) = effects.collected() else { return Ok(None) };
        let Some(arrays) = self.own_arrays(&effects) else { return Ok(None) };
        let sums_doubles = |(id, op): &(Id, Prim)| matches!(op, Prim::Add | Prim::Mul) && self.builder.locals[*id].elem == Elem::Double;
        let adds = !arrays.is_empty() || collected.iter().any(sums_doubles);
        if *apart && !collected.is_empty() || self.context.options.strict_fp && adds {
            return Ok(None);
        }
        // where a part fails the others go on to their ends, which must not be far
        if can_fail(body) && !*apart && !self.is_bounded(size.as_ref()) {
            return Ok(None);
        }
        let work = work::of_block(body, self.context.done, &|id| !effects.inside.contains(&id));
        // to clear or to copy, threads wait for memory
        if is_small(count, &work) || matches!(work, Value::Double(work) if *apart && work <= COPY) {
            return Ok(None);
        }
        // a callee may ask how much workspace it has, and is told the whole slice
        if !arrays.is_empty() && calls_with_room(body) {
            return Ok(None);
        }
        let mut totals: Vec<Total> = collected.into_iter().map(|(id, op)| self.total(id, op)).collect();
        for (id, dims) in &arrays {
            let Some(total) = self.array_total(*id, dims) else { return Ok(None) };
            totals.push(total);
        }
        let room = |(id, dims): &(Id, Vec<Size>)| {
            Stmt::Room(Room { id: *id, elem: Elem::Double, dims: dims.clone(), counts: Vec::new(), aligned: false, span: Span::NONE })
        };
        let room: Block = arrays.iter().map(room).chain([stmt.clone()]).collect();
        let slice = match measure_part(self.builder, self.context, self.name, &room, self.params, &self.around)? {
            Part::Varies => return Ok(None),
            Part::Nothing => None,
            Part::Needs(measure, args) => {
                self.slices.push(PartMeasure { args: args.clone(), measure });
                Some(Slice { number: self.slices.len() - 1, args })
            }
        };
        Ok(Some(Share {
            count: count.clone(),
            body: vec![stmt.clone()],
            loops: vec![*i],
            in_lanes: *lanes != Lanes::One,
            work,
            slice,
            totals,
            captured: Vec::new(),
            span: Span::NONE,
        }))
    }

    /// Whether a count is the length of an array, or a literal.
    fn is_bounded(&self, size: Option<&Size>) -> bool {
        size.is_some_and(|size| size.as_constant().is_some() || size.as_var().is_some_and(|var| self.lengths.contains(var)))
    }

    fn total(&mut self, id: Id, op: Prim) -> Total {
        let Local { name, elem, .. } = self.builder.locals[id].clone();
        let part = self.builder.local(&format!("part_{name}"), elem, Form::Scalar { mutable: true });
        let neutral = match (op, elem) {
            (Prim::Mul, Elem::Double) => Value::Double(1.0),
            (Prim::Min, Elem::Double) => Value::Double(f64::INFINITY),
            (Prim::Max, Elem::Double) => Value::Double(f64::NEG_INFINITY),
            (_, Elem::Double) => Value::Double(0.0),
            (Prim::Mul, _) => Value::Index(1),
            (Prim::Min, _) => Value::Index(i64::MAX),
            (Prim::Max, _) => Value::Index(i64::MIN),
            (_, _) => Value::Index(0),
        };
        let joined =
            Value::Prim { prim: op, elem, plain: elem != Elem::Index || !may_wrap(op), args: vec![Value::Local(id), Value::Local(part)] };
        let start = Stmt::Declare { id: part, init: Some(neutral) };
        Total { id, part, length: None, start, join: Stmt::Assign { place: Place::Local(id), value: joined } }
    }

    /// The arrays that a loop adds to, with their lengths; `None` where these are not known.
    fn own_arrays(&self, effects: &Effects) -> Option<Vec<(Id, Vec<Size>)>> {
        let mut ids = effects.added.clone();
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter().map(|id| Some((id, self.arrays.get(&id)?.clone()))).collect()
    }

    /// A part's own sums of the elements of an array.
    fn array_total(&mut self, id: Id, dims: &[Size]) -> Option<Total> {
        let length = match literal_length(dims) {
            Some(count) => Value::Index(count),
            None => {
                let counts: Vec<Value> = dims.iter().map(|size| self.builder.size_value(size)).collect::<Option<_>>()?;
                counts.into_iter().reduce(|a, b| index(Prim::Mul, a, b))?
            }
        };
        let name = self.builder.locals[id].name.clone();
        let part = self.builder.local(&format!("part_{name}"), Elem::Double, Form::Target { mutable: false });
        let mut repeat = |value: &dyn Fn(Value) -> (Id, Value)| {
            let i = self.builder.counter("i", &length);
            let (base, value) = value(Value::Local(i));
            let body = vec![Stmt::Assign { place: Place::Element { base, offset: Some(Value::Local(i)) }, value }];
            Stmt::For { i, var: None, count: length.clone(), size: None, body, lanes: Lanes::One, apart: true }
        };
        let load = |base, at: &Value| Value::Load { base, offset: Some(Box::new(at.clone())) };
        let start = repeat(&|_| (part, Value::Double(0.0)));
        let sum = |at| (id, Value::Prim { prim: Prim::Add, elem: Elem::Double, plain: true, args: vec![load(id, &at), load(part, &at)] });
        let join = repeat(&sum);
        Some(Total { id, part, length: Some(length), start, join })
    }
}

/// Whether a loop is not worth a second thread, as far as is known here.
fn is_small(count: &Value, work: &Value) -> bool {
    matches!((count, work), (Value::Index(count), Value::Double(work)) if *count as f64 * work < WORTH)
}

/// Whether a callee is given workspace.
fn calls_with_room(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt, Stmt::Invoke(call) if call.args.iter().any(|arg| matches!(arg, Argument::Workspace)))
            || stmt.blocks().any(|block| calls_with_room(block))
    })
}

fn each_loop(block: &[Stmt], f: &mut dyn FnMut(Id, &Lanes)) {
    for stmt in block {
        if let Stmt::For { i, lanes, .. } = stmt {
            f(*i, lanes);
        }
        stmt.blocks().for_each(|block| each_loop(block, f));
    }
}
