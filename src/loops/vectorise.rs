//! Which innermost loops may run several iterations at once.
//!
//! In: a function's statements. Out: the same, with each innermost loop marked: every iteration writes places
//! of its own, or only adds to sums.
//!
//!     for i < n: out[i] = v[i] * 2.0     any order
//!     for i < n: s = s + v[i] * w[i]     any order, s is a sum
//!     for i < n: s = s * v[i] + 1.0      one after the other
//!
//! A loop that can stop the function, takes room or calls a function that needs some stays as it is.

use std::collections::{HashMap, HashSet};

use crate::ir::Prim;

use super::program::*;
use super::visit::{each_change, each_local, each_value, is_total, reads};
use super::{Context, Result};

/// Loops of at most so many iterations are written out by compilers.
const FEW: i64 = 16;

/// Marks the loops of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    find(&mut function.body);
    Ok(())
}

/// Marks the loops of a block.
fn find(block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(find);
        if let Stmt::For { i, count, body, lanes: lanes @ Lanes::One, .. } = stmt {
            *lanes = of_loop(*i, count, body);
        }
    }
}

/// What the body of a loop does, as far as its iterations are concerned.
#[derive(Default)]
struct Body {
    declared: HashSet<Id>,
    sums: Vec<Id>,
    summed: HashSet<Id>,
    /// How often each local is read.
    reads: HashMap<Id, usize>,
    /// Elements that are written, and that are read.
    stores: Vec<(Id, Option<Value>)>,
    loads: Vec<(Id, Option<Value>)>,
    /// Elements that are changed: another iteration may have written or may read any but the very same.
    updated: Vec<(Id, Value)>,
    /// Whether it calls functions of `math.h`.
    calls: bool,
}

/// Whether the iterations of a loop over `i` may run at once, or but for sums.
pub fn may_run_in_lanes(i: Id, block: &[Stmt]) -> bool {
    let (i, block) = from_later(i, block).unwrap_or((i, block));
    let mut body = Body::default();
    body.block(block).is_some() && body.lanes(i) != Lanes::One
}

fn of_loop(i: Id, count: &Value, block: &[Stmt]) -> Lanes {
    let (i, block) = from_later(i, block).unwrap_or((i, block));
    let mut body = Body::default();
    if body.block(block).is_none() {
        return Lanes::One;
    }
    // compilers see by themselves what one plain assignment does, and make one of `memset` and `memcpy` of some; but of one that
    // adds to a few elements they make as many statements, and nothing of those
    let few = matches!(count, Value::Index(count) if *count <= FEW);
    let adds = || body.stores.iter().any(|store| body.loads.contains(store));
    let plain = block.len() == 1 && !body.calls && !(few && adds());
    match body.lanes(i) {
        Lanes::Any if plain => Lanes::One,
        lanes => lanes,
    }
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

impl Body {
    /// How iterations over i may run.
    fn lanes(&self, i: Id) -> Lanes {
        let sums_alone = self.sums.iter().all(|sum| self.reads.get(sum) == Some(&1));
        // an iteration reads what it wrote itself, at a place that no other has
        let apart = self.stores.iter().all(|(_, offset)| offset.as_ref().is_some_and(|offset| grows_with(offset, i))) && self.in_rows(i);
        let apart = apart
            && self.updated.iter().all(|(base, offset)| {
                self.stores.iter().chain(&self.loads).all(|(other, at)| other != base || at.as_ref() == Some(offset))
            });
        match (self.sums.is_empty(), self.stores.is_empty()) {
            (true, false) if apart => Lanes::Any,
            (false, true) if sums_alone => Lanes::Sum(self.sums.clone()),
            _ => Lanes::One,
        }
    }

    /// Whether all that is read and written of an array that is written belongs to the row that i chooses.
    fn in_rows(&self, i: Id) -> bool {
        let mut arrays: HashMap<Id, (Vec<Access>, Vec<Access>)> = HashMap::new();
        self.stores.iter().for_each(|(base, offset)| arrays.entry(*base).or_default().0.push(Access::new(offset, i)));
        for (base, offset) in &self.loads {
            if let Some((_, loads)) = arrays.get_mut(base) {
                loads.push(Access::new(offset, i));
            }
        }
        arrays.values().all(|(stores, loads)| {
            let all = || stores.iter().chain(loads);
            let Some(first) = stores.first() else { return true };
            // many accesses are seldom compared one by one
            (first.stripped.is_some() && all().all(|access| access.stripped == first.stripped))
                || all().all(|access| access.row == first.row)
                || stores.iter().all(|store| all().all(|access| store.is_beside(access)))
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
                    self.stores.push((*base, offset.clone()));
                }
                Stmt::Update { base, offset, value } => {
                    self.value(value)?;
                    self.value(offset)?;
                    self.stores.push((*base, Some(offset.clone())));
                    self.updated.push((*base, offset.clone()));
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
                self.loads.push((*base, offset.as_deref().cloned()));
                offset.iter().for_each(|offset| self.loads_of(offset, plain));
            }
            Value::Prim { prim, elem: Elem::Double, args, .. } => {
                self.calls |= matches!(prim.row().c, crate::ir::prim::Spelling::Call(_));
                args.iter().for_each(|arg| self.loads_of(arg, plain));
            }
            Value::Prim { args, .. } | Value::Helper(_, args) => args.iter().for_each(|arg| self.loads_of(arg, plain)),
            Value::Select(parts) => parts.iter().for_each(|part| self.loads_of(part, plain)),
            Value::Call(..) | Value::Moved { .. } => *plain = false,
            Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(_) => {}
        }
    }
}

/// `id + e` or `id - e`.
fn adds_to(id: Id, value: &Value) -> bool {
    matches!(value, Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Double, args, .. } if args.first() == Some(&Value::Local(id)))
}

/// Whether an offset is different for different i: `i`, `i + k`, `k + i`, `i * n`, `k * n + i`, `i * n + k`
/// with 0 <= k < n, which is how lowering writes elements.
fn grows_with(offset: &Value, i: Id) -> bool {
    match offset {
        Value::Local(id) => *id == i,
        Value::Prim { prim: Prim::Add | Prim::Mul, elem: Elem::Index, plain: true, args } => {
            let mut mentioning = args.iter().filter(|arg| reads(arg, i));
            mentioning.next().is_some_and(|arg| grows_with(arg, i)) && mentioning.next().is_none()
        }
        _ => false,
    }
}

/// An offset into an array, and what two offsets have in common that belong to one iteration: they differ at most
/// by a literal column of the row that i chooses.
struct Access<'a> {
    offset: &'a Option<Value>,
    row: Option<&'a Value>,
    stripped: Option<Value>,
}

impl Access<'_> {
    fn new(offset: &Option<Value>, i: Id) -> Access<'_> {
        let row = match offset {
            Some(Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args })
                if matches!(args.as_slice(), [Value::Prim { prim: Prim::Mul, .. }, Value::Index(_)]) =>
            {
                args.first()
            }
            other => other.as_ref(),
        };
        Access { offset, row, stripped: offset.as_ref().map(|offset| stripped(offset, i).0) }
    }

    fn is_beside(&self, other: &Access) -> bool {
        self.offset == other.offset || self.row == other.row || self.stripped.is_some() && self.stripped == other.stripped
    }
}

/// The offset with literal summands dropped on the way to i, and whether it reads i.
fn stripped(value: &Value, i: Id) -> (Value, bool) {
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
