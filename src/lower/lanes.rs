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

use std::collections::HashSet;

use crate::ir::Prim;

use super::clean::{each_local, reads};
use super::program::*;
use super::select::each_value;

/// Loops of at most so many iterations are written out by compilers.
const FEW: i64 = 16;

/// Marks the loops of a block.
pub fn find(block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(find);
        if let Stmt::For { i, count, body, lanes, .. } = stmt {
            *lanes = of_loop(*i, count, body);
        }
    }
}

/// Takes back that loops collect sums in any order.
pub fn keep_sums(block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(keep_sums);
        if let Stmt::For { lanes: lanes @ Lanes::Sum(_), .. } = stmt {
            *lanes = Lanes::One;
        }
    }
}

/// What the body of a loop does, as far as its iterations are concerned.
#[derive(Default)]
struct Body {
    declared: HashSet<Id>,
    sums: Vec<Id>,
    /// How often each local is read.
    reads: Vec<Id>,
    /// Elements that are written, and that are read.
    stores: Vec<(Id, Option<Value>)>,
    loads: Vec<(Id, Option<Value>)>,
    /// Whether it calls functions of `math.h`.
    calls: bool,
}

fn of_loop(i: Id, count: &Value, block: &[Stmt]) -> Lanes {
    let (i, block) = from_later(i, block).unwrap_or((i, block));
    let mut body = Body::default();
    if body.block(block).is_none() {
        return Lanes::One;
    }
    let sums_alone = body.sums.iter().all(|sum| body.reads.iter().filter(|id| *id == sum).count() == 1);
    // an iteration reads what it wrote itself, at a place that no other has
    let apart = body.stores.iter().all(|(base, offset)| {
        let others = body.stores.iter().chain(&body.loads).filter(|(other, _)| other == base);
        offset.as_ref().is_some_and(|offset| grows_with(offset, i)) && others.into_iter().all(|(_, other)| same_row(offset, other, i))
    });
    // compilers see by themselves what one plain assignment does, and make one of `memset` and `memcpy` of some; but of one that
    // adds to a few elements they make as many statements, and nothing of those
    let few = matches!(count, Value::Index(count) if *count <= FEW);
    let adds = body.stores.iter().any(|store| body.loads.contains(store));
    let plain = block.len() == 1 && !body.calls && !(few && adds);
    match (body.sums.is_empty(), body.stores.is_empty()) {
        (true, false) if apart && !plain => Lanes::Any,
        (false, true) if sums_alone => Lanes::Sum(body.sums),
        _ => Lanes::One,
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
    let mut is_alone = super::checks::is_total(low) && !reads(low, i);
    each_value(rest, &mut |value| is_alone &= *value != Value::Local(i));
    super::checks::each_change(rest, &mut |id| is_alone &= !reads(low, id));
    is_alone.then_some((*id, rest))
}

impl Body {
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
                        (!self.sums.contains(id)).then_some(())?;
                        self.sums.push(*id);
                    }
                }
                Stmt::Assign { place: Place::Element { base, offset }, value } => {
                    self.value(value)?;
                    offset.iter().try_for_each(|offset| self.value(offset))?;
                    self.stores.push((*base, offset.clone()));
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
        each_local(value, &mut |id| self.reads.push(id));
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

/// Whether two offsets into one array belong to one iteration: they differ at most by a literal column of
/// the row that i chooses.
fn same_row(a: &Option<Value>, b: &Option<Value>, i: Id) -> bool {
    let row = |offset: &Option<Value>| match offset {
        Some(Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args })
            if matches!(args.as_slice(), [Value::Prim { prim: Prim::Mul, .. }, Value::Index(_)]) =>
        {
            args.first().cloned()
        }
        other => other.clone(),
    };
    let without_rows = |value: &Option<Value>| value.as_ref().map(|value| stripped(value, i));
    a == b || row(a) == row(b) || without_rows(a).is_some() && without_rows(a) == without_rows(b)
}

/// The offset with literal summands dropped on the way to i.
fn stripped(value: &Value, i: Id) -> Value {
    match value {
        Value::Prim { prim, elem, plain, args } if matches!(prim, Prim::Add | Prim::Mul) && reads(value, i) => {
            let mut args: Vec<Value> = args.iter().map(|arg| stripped(arg, i)).collect();
            if *prim == Prim::Add {
                args.retain(|arg| !matches!(arg, Value::Index(_)));
            }
            match args.len() {
                1 => args.swap_remove(0),
                _ => Value::Prim { prim: *prim, elem: *elem, plain: *plain, args },
            }
        }
        value => value.clone(),
    }
}
