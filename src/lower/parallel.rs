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
//! workspace for itself. Left alone are loops of few iterations, sums of one row within a loop over rows, loops whose slices differ
//! from turn to turn of a loop around them, what clears or copies, and, where rounding is as written, sums and products of Doubles.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ir::{Expr, Prim, Size, Var};
use crate::source::Span;

use super::LowerOptions;
use super::by_columns::Columns;
use super::call::can_fail;
use super::captured::{Homes, captured};
use super::context::{Lowerer, Result};
use super::effects::{Effects, inside};
use super::program::*;
use super::workspace::{Part, measure_part};

/// A literal number of iterations below this is not worth sharing, whatever each costs.
const FEW: i64 = 64;

/// The work of a whole loop of literal size that is worth a second thread; as SMOOTH_WORTH in `runtime/parallel.h`.
const WORTH: f64 = 2.0 * 50_000.0;

/// The work of an iteration that copies an element.
const COPY: f64 = 2.0;

/// Shares the loops of a function's body; gives the measures of their slices. `lengths` are the sizes of arrays, `results` the
/// arrays that a caller gets.
pub fn share(
    lowerer: &mut Lowerer,
    name: &Rc<str>,
    body: &mut Block,
    params: &[(Id, Option<Var>)],
    lengths: Vec<Var>,
    results: Vec<(Id, Vec<Size>)>,
    options: &LowerOptions,
) -> Result<Vec<PartMeasure>> {
    let homes = Homes::of_block(body);
    let mut arrays: HashMap<Id, Vec<Size>> = results.into_iter().collect();
    rooms(body, &mut arrays);
    let mut sharer = Sharer {
        arrays,
        homes: &homes,
        lowerer,
        name,
        params,
        lengths,
        keeps_sums: options.strict_fp,
        around: Vec::new(),
        depth: 0,
        slices: Vec::new(),
    };
    sharer.block(body)?;
    let slices = sharer.slices;
    let whole = body.clone();
    capture(&lowerer.locals, &whole, body);
    Ok(slices)
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
        match stmt {
            Stmt::Share(share) => share.captured = captured(locals, whole, share),
            _ => stmt.blocks_mut().for_each(|block| capture(locals, whole, block)),
        }
    }
}

impl Lowerer<'_> {
    /// As `enter`, for a loop each of whose iterations writes elements of its own and nothing else. Threads do not share what is
    /// inside of a loop that they share.
    pub fn enter_apart(
        &mut self,
        var: &Var,
        n: &Expr,
        count: &Value,
        size: Option<Size>,
        f: impl FnOnce(&mut Self, &Value) -> Result<()>,
    ) -> Result<()> {
        let outer = self.parallel;
        self.parallel = outer && self.range(count).1 < i128::from(FEW);
        self.enter(var, n, count, size, f)?;
        self.parallel = outer;
        self.set_apart();
        Ok(())
    }

    /// Says of the loop just written that each iteration writes elements of its own and nothing else.
    fn set_apart(&mut self) {
        if let Some(Stmt::For { apart, .. }) = self.blocks.last_mut().and_then(|block| block.last_mut()) {
            *apart = true;
        }
    }
}

struct Sharer<'s, 'l> {
    homes: &'s Homes,
    /// The lengths of arrays that are written.
    arrays: HashMap<Id, Vec<Size>>,
    lowerer: &'s mut Lowerer<'l>,
    name: &'s Rc<str>,
    params: &'s [(Id, Option<Var>)],
    lengths: Vec<Var>,
    keeps_sums: bool,
    /// The indices of the loops around, as far as terms can name them, and how many loops there are.
    around: Vec<Var>,
    depth: usize,
    slices: Vec<PartMeasure>,
}

impl Sharer<'_, '_> {
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
            if matches!(count, Value::Prim { prim: Prim::Rem, args, .. } if matches!(args[1], Value::Index(most) if most < FEW)) {
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
        let columns = Columns::find(block, &self.lowerer.locals, self.homes)?;
        let is_name = |stmt: &&Stmt| matches!(stmt, Stmt::Declare { .. });
        let (names, body): (Block, Block) = block[..columns.length].iter().cloned().partition(|stmt| is_name(&stmt));
        let inside = inside(&body);
        let work = super::work::of_columns(&body, self.lowerer.done, &columns.loops, &|id| !inside.contains(&id));
        if is_small(&columns.count, &work) || self.lowerer.range(&columns.count).1 < i128::from(FEW) {
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
        if self.lowerer.range(count).1 < i128::from(FEW) {
            return Ok(None);
        }
        // threads would be started for each sum of a row
        let innermost = || body.iter().all(|stmt| !matches!(stmt, Stmt::For { .. } | Stmt::Invoke(_)) && stmt.blocks().next().is_none());
        if self.depth > 0 && !*apart && innermost() {
            return Ok(None);
        }
        let Some(effects) = Effects::of(&self.lowerer.locals, self.homes, *apart, *i, body) else { return Ok(None) };
        let Some(collected) = effects.collected() else { return Ok(None) };
        let Some(arrays) = self.own_arrays(&effects) else { return Ok(None) };
        let sums_doubles = |(id, op): &(Id, Prim)| matches!(op, Prim::Add | Prim::Mul) && self.lowerer.locals[*id].elem == Elem::Double;
        let adds = !arrays.is_empty() || collected.iter().any(sums_doubles);
        if *apart && !collected.is_empty() || self.keeps_sums && adds {
            return Ok(None);
        }
        // where a part fails the others go on to their ends, which must not be far
        if can_fail(body) && !*apart && !self.is_bounded(size.as_ref()) {
            return Ok(None);
        }
        let work = super::work::of_block(body, self.lowerer.done, &|id| !effects.inside.contains(&id));
        // to clear or to copy, threads wait for memory
        if is_small(count, &work) || matches!(work, Value::Double(work) if *apart && work <= COPY) {
            return Ok(None);
        }
        // a part has room for its own sums, or for what its iterations need
        if !arrays.is_empty() && uses_room(body) {
            return Ok(None);
        }
        let mut totals: Vec<Total> = collected.into_iter().map(|(id, op)| self.total(id, op)).collect();
        for (id, dims) in &arrays {
            let Some(total) = self.array_total(*id, dims) else { return Ok(None) };
            totals.push(total);
        }
        let room = |(id, dims): &(Id, Vec<Size>)| {
            Stmt::Room(Room { id: *id, elem: Elem::Double, dims: dims.clone(), counts: Vec::new(), span: Span::NONE })
        };
        let room: Block = arrays.iter().map(room).chain([stmt.clone()]).collect();
        let slice = match measure_part(self.lowerer, self.name, &room, self.params, &self.around)? {
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
        let Local { name, elem, .. } = self.lowerer.locals[id].clone();
        let part = self.lowerer.local(&format!("part_{name}"), elem, Form::Scalar { mutable: true });
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
        let joined = Value::Prim { prim: op, elem, plain: elem == Elem::Double, args: vec![Value::Local(id), Value::Local(part)] };
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
        let counts: Vec<Value> = dims.iter().map(|size| self.lowerer.size_value(size, Span::NONE).ok()).collect::<Option<_>>()?;
        let times = |a, b| Value::Prim { prim: Prim::Mul, elem: Elem::Index, plain: true, args: vec![a, b] };
        let length = counts.into_iter().reduce(times)?;
        let name = self.lowerer.locals[id].name.clone();
        let part = self.lowerer.local(&format!("part_{name}"), Elem::Double, Form::Target { mutable: false });
        let mut repeat = |value: &dyn Fn(Value) -> (Id, Value)| {
            let i = self.lowerer.counter("i", &length);
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

/// Whether iterations need more room than local arrays.
fn uses_room(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Room(room) => room.few().is_none(),
        Stmt::Invoke(call) => call.args.iter().any(|arg| matches!(arg, Argument::Workspace)),
        _ => stmt.blocks().any(|block| uses_room(block)),
    })
}

/// Whether a loop is not worth a second thread, as far as is known here.
fn is_small(count: &Value, work: &Value) -> bool {
    matches!((count, work), (Value::Index(count), Value::Double(work)) if *count as f64 * work < WORTH)
}

fn each_loop(block: &[Stmt], f: &mut dyn FnMut(Id, &Lanes)) {
    for stmt in block {
        if let Stmt::For { i, lanes, .. } = stmt {
            f(*i, lanes);
        }
        stmt.blocks().for_each(|block| each_loop(block, f));
    }
}
