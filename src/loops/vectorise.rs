//! Which innermost loops may run several iterations at once.
//!
//! In: a function's statements. Out: the same, with each innermost loop marked: every iteration writes places
//! of its own, or only adds to sums.
//!
//!     for i < n: out[i] = v[i] * 2.0     any order
//!     for i < n: s = s + v[i] * w[i]     any order, s is a sum
//!     for i < n: s = s + v[i]; w[i] = 1  the same
//!     for i < n: s = s * v[i] + 1.0      one after the other
//!
//! A loop that can stop the function, takes room or calls a function that needs some stays as it is.

use std::collections::{HashMap, HashSet};

use crate::ir::Prim;

use super::analysis::affine::growth;
use super::analysis::bounds::Around;
use super::analysis::dependence::Iterations;
use super::analysis::homes::Homes;
use super::program::ranges::Ranges;
use super::program::*;
use super::visit::{each_change, each_local, each_value, is_total, reads};
use super::{Context, Result};

/// Loops of at most so many iterations are written out by compilers.
const FEW: i64 = 16;

/// Marks the loops of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    let homes = Homes::of_block(&function.body);
    let around = Around::default();
    Marker { locals: &function.locals, ranges: &function.ranges, homes: &homes, around }.block(&mut function.body);
    Ok(())
}

struct Marker<'m> {
    locals: &'m [Local],
    ranges: &'m Ranges,
    homes: &'m Homes,
    around: Around,
}

impl Marker<'_> {
    /// Marks the loops of a block.
    fn block(&mut self, block: &mut Block) {
        for stmt in block {
            self.around.note(stmt, self.locals);
            let entered = if let Stmt::For { i, count, .. } = stmt {
                self.around.enter(*i, count);
                true
            } else {
                false
            };
            stmt.blocks_mut().for_each(|inner| self.block(inner));
            if entered {
                self.around.leave();
            }
            if let Stmt::For { i, count, body, lanes: lanes @ Lanes::One, .. } = stmt {
                *lanes = self.of_loop(*i, count, body);
            }
        }
    }

    fn of_loop(&self, i: Id, count: &Value, block: &[Stmt]) -> Lanes {
        let (i, block) = from_later(i, block).unwrap_or((i, block));
        let Some(body) = Body::of(block) else { return Lanes::One };
        // compilers see by themselves what one plain assignment does, and make one of `memset` and `memcpy` of some; but of one that
        // adds to a few elements they make as many statements, and nothing of those
        let few = matches!(count, Value::Index(count) if *count <= FEW);
        let adds = || body.stores.iter().any(|store| body.loads.contains(store));
        let plain = block.len() == 1 && !body.calls && !(few && adds());
        let iterations = Iterations { i, count, own: &body.declared, around: &self.around, ranges: self.ranges };
        let lanes = body.lanes(&iterations, self.homes);
        if plain && matches!(lanes, Lanes::Any) { Lanes::One } else { lanes }
    }
}

/// Whether the iterations of a loop over `i` may run at once, or but for sums, wherever it stands.
pub fn may_run_in_lanes(i: Id, count: &Value, block: &[Stmt], ranges: &Ranges, homes: &Homes) -> bool {
    let (i, block) = from_later(i, block).unwrap_or((i, block));
    let Some(body) = Body::of(block) else { return false };
    let iterations = Iterations { i, count, own: &body.declared, around: &Around::default(), ranges };
    body.lanes(&iterations, homes) != Lanes::One
}

/// The index and the rest of a loop that begins at a later one: its body first adds that to the loop's variable.
pub fn from_later(i: Id, block: &[Stmt]) -> Option<(Id, &[Stmt])> {
    let (Stmt::Declare { id, init: Some(Value::Prim { prim: Prim::Add, plain: true, args, .. }) }, rest) = block.split_first()? else {
        return None;
    };
    let low = match args.as_slice() {
        [low, Value::Local(own)] if *own == i => low,
        _ => return None,
    };
    let mut is_alone = is_total(low) && !reads(low, i);
    each_value(rest, &mut |value| is_alone &= *value != Value::Local(i));
    each_change(rest, &mut |id| is_alone &= !reads(low, id));
    is_alone.then_some((*id, rest))
}

/// What the body of a loop does, as far as its iterations are concerned.
#[derive(Default)]
pub struct Body {
    pub declared: HashSet<Id>,
    sums: Vec<Id>,
    summed: HashSet<Id>,
    /// How often each local is read.
    reads: HashMap<Id, usize>,
    /// Elements that are written, and that are read, each once.
    pub stores: Vec<(Id, Option<Value>)>,
    pub loads: Vec<(Id, Option<Value>)>,
    /// The arrays with elements that are changed: another iteration may have written or may read any.
    updated: HashSet<Id>,
    /// Whether it calls functions of `math.h`.
    pub calls: bool,
}

impl Body {
    /// `None` where a statement must run in turn.
    pub fn of(block: &[Stmt]) -> Option<Body> {
        let mut body = Body::default();
        body.block(block)?;
        Some(body)
    }

    /// How the iterations may run.
    pub fn lanes(&self, iterations: &Iterations, homes: &Homes) -> Lanes {
        let i = iterations.i;
        let sums_alone = self.sums.iter().all(|sum| self.reads.get(sum) == Some(&1));
        // an iteration reads what it wrote itself, at a place that no other has
        let is_fixed = |offset: &Value| {
            let mut is_fixed = true;
            each_local(offset, &mut |id| is_fixed &= !self.declared.contains(&id));
            is_fixed
        };
        let grow = self.stores.iter().all(|(_, offset)| offset.as_ref().is_some_and(|offset| grows_with(offset, i) && is_fixed(offset)));
        let apart = grow && self.are_apart(iterations, homes);
        match (self.sums.is_empty(), self.stores.is_empty()) {
            (true, false) if apart => Lanes::Any,
            (false, empty) if sums_alone && (empty || apart) => Lanes::Sum(self.sums.clone()),
            _ => Lanes::One,
        }
    }

    /// Whether no iteration reads or writes an element that another writes: of an array that a `build` writes, all that is read
    /// and written belongs to the row that the index chooses; of others that is proved.
    fn are_apart(&self, iterations: &Iterations, homes: &Homes) -> bool {
        let mut arrays: HashMap<Id, Accesses> = HashMap::new();
        self.stores.iter().for_each(|(base, offset)| arrays.entry(*base).or_default().stores.push(offset));
        for (base, offset) in &self.loads {
            if let Some(accesses) = arrays.get_mut(base) {
                accesses.loads.push(offset);
            }
        }
        let used = || self.stores.iter().chain(&self.loads).map(|(base, _)| *base);
        arrays.iter().all(|(base, Accesses { stores, loads })| {
            let is_updated = self.updated.contains(base);
            let is_alone = || used().all(|other| other == *base || homes.of(other) != homes.of(*base));
            let proved = || {
                stores.iter().all(|a| {
                    stores.iter().chain(loads).all(|b| match (a, b) {
                        (a, b) if a == b => true,
                        (Some(a), Some(b)) => iterations.are_apart(a, b),
                        _ => false,
                    })
                })
            };
            if is_updated { is_alone() && proved() } else { in_rows(iterations.i, stores, loads) || is_alone() && proved() }
        })
    }

    /// Notes what statements do; `None` where one must run in turn.
    fn block(&mut self, block: &[Stmt]) -> Option<()> {
        for stmt in block {
            match stmt {
                Stmt::Declare { id, init } => {
                    self.declared.insert(*id);
                    init.iter().try_for_each(|init| self.value(init))?;
                }
                Stmt::Assign { place: Place::Local(id), value } => {
                    self.value(value)?;
                    if !self.declared.contains(id) {
                        adds_to(*id, value).then_some(())?;
                        // one addition to each sum
                        self.summed.insert(*id).then_some(())?;
                        self.sums.push(*id);
                    }
                }
                Stmt::Assign { place: Place::Element { base, offset }, value } => {
                    self.value(value)?;
                    offset.iter().try_for_each(|offset| self.value(offset))?;
                    note(&mut self.stores, (*base, offset.clone()));
                }
                Stmt::Update { base, offset, value } => {
                    self.value(value)?;
                    self.value(offset)?;
                    note(&mut self.stores, (*base, Some(offset.clone())));
                    self.updated.insert(*base);
                }
                Stmt::If { cond, then, otherwise } => {
                    self.value(cond)?;
                    let before = self.sums.len();
                    self.block(then)?;
                    self.block(otherwise)?;
                    (self.sums.len() == before).then_some(())?;
                }
                Stmt::Point { .. }
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
            }
        }
        Some(())
    }

    fn value(&mut self, value: &Value) -> Option<()> {
        let mut plain = true;
        self.loads_of(value, &mut plain);
        each_local(value, &mut |id| *self.reads.entry(id).or_default() += 1);
        plain.then_some(())
    }

    fn loads_of(&mut self, value: &Value, plain: &mut bool) {
        match value {
            Value::Load { base, offset } => {
                note(&mut self.loads, (*base, offset.as_deref().cloned()));
                offset.iter().for_each(|offset| self.loads_of(offset, plain));
            }
            Value::Prim { prim, elem: Elem::Double, args, .. } => {
                self.calls |= matches!(prim.row().c, crate::ir::prim::Spelling::Call(_));
                args.iter().for_each(|arg| self.loads_of(arg, plain));
            }
            Value::Prim { args, .. } | Value::Helper(_, args) => args.iter().for_each(|arg| self.loads_of(arg, plain)),
            Value::InRow(parts) | Value::Select(parts) => parts.iter().for_each(|part| self.loads_of(part, plain)),
            Value::Call(..) | Value::Moved { .. } => *plain = false,
            Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(..) => {}
        }
    }
}

/// Notes an element, once.
fn note(elements: &mut Vec<(Id, Option<Value>)>, element: (Id, Option<Value>)) {
    if !elements.contains(&element) {
        elements.push(element);
    }
}

/// The offsets at which an array is written, and read.
#[derive(Default)]
struct Accesses<'a> {
    stores: Vec<&'a Option<Value>>,
    loads: Vec<&'a Option<Value>>,
}

/// Whether all accesses to an array belong to the row that i chooses.
fn in_rows(i: Id, stores: &[&Option<Value>], loads: &[&Option<Value>]) -> bool {
    let accesses: Vec<Access> = stores.iter().chain(loads).map(|offset| Access::new(offset, i)).collect();
    let Some((first, written)) = accesses.first().zip(accesses.get(..stores.len())) else { return true };
    // many accesses are seldom compared one by one
    (first.stripped.is_some() && accesses.iter().all(|access| access.stripped == first.stripped))
        || accesses.iter().all(|access| access.row == first.row)
        || written.iter().all(|store| accesses.iter().all(|access| store.is_beside(access)))
}

/// `id + e` or `id - e`, or more terms after these.
fn adds_to(id: Id, value: &Value) -> bool {
    let Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Double, args, .. } = value else { return false };
    args.first().is_some_and(|first| *first == Value::Local(id) || adds_to(id, first))
}

/// Whether an offset is different for different i, which one of its subscripts grows with.
fn grows_with(offset: &Value, i: Id) -> bool {
    if let Value::InRow(parts) = offset {
        let [row, length, column] = &**parts;
        let (by_row, by_column) = (reads(row, i), reads(column, i));
        !reads(length, i) && by_row != by_column && grows_with(if by_row { row } else { column }, i)
    } else {
        growth(offset, i, &HashMap::new()).is_some_and(|step| step != 0)
    }
}

/// An offset into an array, and what two offsets have in common that belong to one iteration: they differ at most
/// by a literal column of the row that i chooses.
struct Access<'a> {
    offset: &'a Option<Value>,
    row: Option<&'a [Value]>,
    stripped: Option<Value>,
}

impl Access<'_> {
    fn new(offset: &Option<Value>, i: Id) -> Access<'_> {
        let row = offset.as_ref().map(|offset| {
            if let Value::InRow(parts) = offset
                && matches!(parts[2], Value::Index(_))
            {
                &parts[..2]
            } else {
                std::slice::from_ref(offset)
            }
        });
        Access { offset, row, stripped: offset.as_ref().map(|offset| stripped(offset, i).0) }
    }

    fn is_beside(&self, other: &Access) -> bool {
        self.offset == other.offset || self.row == other.row || self.stripped.is_some() && self.stripped == other.stripped
    }
}

/// The offset with literal summands dropped on the way to i, and whether it reads i.
fn stripped(value: &Value, i: Id) -> (Value, bool) {
    if let Value::InRow(parts) = value {
        let [row, length, column] = &**parts;
        let ((row, by_row), (column, by_column)) = (stripped(row, i), stripped(column, i));
        let column = if by_row && matches!(column, Value::Index(_)) { Value::Index(0) } else { column };
        return (Value::in_row(row, length.clone(), column), by_row || by_column);
    }
    let Value::Prim { prim: prim @ (Prim::Add | Prim::Mul), elem, plain, args } = value else { return (value.clone(), reads(value, i)) };
    let parts: Vec<(Value, bool)> = args.iter().map(|arg| stripped(arg, i)).collect();
    if !parts.iter().any(|(_, reads)| *reads) {
        return (value.clone(), false);
    }
    let mut args: Vec<Value> = parts.into_iter().map(|(part, _)| part).collect();
    if *prim == Prim::Add {
        args.retain(|arg| !matches!(arg, Value::Index(_)));
    }
    match args.len() {
        1 => (args.swap_remove(0), true),
        _ => (Value::Prim { prim: *prim, elem: *elem, plain: *plain, args }, true),
    }
}
