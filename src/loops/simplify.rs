//! No dead code: drops locals that nothing reads, stores to arrays that nothing reads, and what is then empty.
//!
//! What a guard, a return or a store to a parameter needs is live; an assignment makes its operands live
//! only when its target is.
//!
//!     double t = x * x; return OK;   →   return OK;

use std::collections::HashSet;

use super::program::*;
use super::values::negate;
use super::visit::{each_in_argument, each_in_pointer, each_local, each_mention};
use super::{Context, Result};

/// Drops what has no effect from a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    simplify(function);
    Ok(())
}

/// As [`run`], which does not fail: for passes that leave names without use.
pub fn simplify(function: &mut LoopFunction) {
    let kept = function.params.iter().map(|param| param.id).collect();
    function.body = live_part(std::mem::take(&mut function.body), kept);
}

/// What has an effect where `live` are the parameters.
pub fn live_part(block: Block, mut live: HashSet<Id>) -> Block {
    loop {
        let before = live.len();
        mark(&block, &mut live);
        if live.len() == before {
            return sweep(block, &live);
        }
    }
}

fn mark_value(value: &Value, live: &mut HashSet<Id>) {
    each_local(value, &mut |id| {
        live.insert(id);
    });
}

fn mark(block: &[Stmt], live: &mut HashSet<Id>) {
    for stmt in block.iter().rev() {
        match stmt {
            Stmt::Declare { id, init } => {
                if let Some(init) = init
                    && live.contains(id)
                {
                    mark_value(init, live);
                }
            }
            Stmt::Point { id, to } => {
                // what is written through another name of a live array is live
                if let PointerValue::To(pointer) = to
                    && live.contains(&pointer.base)
                {
                    live.insert(*id);
                }
                if live.contains(id) {
                    let mut insert = |id| {
                        live.insert(id);
                    };
                    match to {
                        PointerValue::To(pointer) => each_in_pointer(pointer, &mut insert),
                        PointerValue::Select(cond, a, b) => {
                            each_local(cond, &mut insert);
                            each_in_pointer(a, &mut insert);
                            each_in_pointer(b, &mut insert);
                        }
                    }
                }
            }
            Stmt::Assign { place, value } => {
                let (target, offset) = match place {
                    Place::Local(id) => (id, None),
                    Place::Element { base, offset } => (base, offset.as_ref()),
                };
                if live.contains(target) {
                    mark_value(value, live);
                    offset.iter().for_each(|offset| mark_value(offset, live));
                }
            }
            Stmt::Update { base, offset, value } => {
                if live.contains(base) {
                    mark_value(value, live);
                    mark_value(offset, live);
                }
            }
            Stmt::For { count, body, .. } => {
                mark(body, live);
                if body.iter().any(|stmt| stays(stmt, live)) {
                    mark_value(count, live);
                }
            }
            Stmt::While { cond, body } => {
                mark(body, live);
                if body.iter().any(|stmt| stays(stmt, live)) {
                    mark_value(cond, live);
                }
            }
            Stmt::Share(share) => {
                mark(&share.body, live);
                mark_value(&share.count, live);
            }
            Stmt::If { cond, then, otherwise } => {
                mark(then, live);
                mark(otherwise, live);
                if then.iter().chain(otherwise).any(|stmt| stays(stmt, live)) {
                    mark_value(cond, live);
                }
            }
            Stmt::Fail { cond, .. } | Stmt::NoRoom { cond } | Stmt::Return(cond) => mark_value(cond, live),
            Stmt::Room(room) => {
                if live.contains(&room.id) {
                    room.counts.iter().for_each(|count| mark_value(count, live));
                }
            }
            Stmt::Invoke(call) => call.args.iter().for_each(|arg| {
                each_in_argument(arg, &mut |id| {
                    live.insert(id);
                });
            }),
            Stmt::Rotate(ids) => {
                if ids.iter().any(|id| live.contains(id)) {
                    live.extend(ids.iter().copied());
                }
            }
            Stmt::Scope(body) => mark(body, live),
        }
    }
}

/// Drops names that nothing after them mentions, from a block without tiles and shared parts: what a pass leaves that takes copies of a
/// statement together. Nothing else goes.
///
///     let a = i % n; let b = i % n; out[b] = x   →   let b = i % n; out[b] = x
pub fn drop_unused_names(block: &mut Block) {
    drop_unused(block, &mut HashSet::new());
}

/// `used` are the locals that what follows mentions, and then also those of the block.
fn drop_unused(block: &mut Block, used: &mut HashSet<Id>) {
    for mut stmt in std::mem::take(block).into_iter().rev() {
        if matches!(&stmt, Stmt::Declare { id, init: Some(_) } if !used.contains(id)) {
            continue;
        }
        stmt.blocks_mut().for_each(|block| drop_unused(block, used));
        each_mention(&stmt, &mut |id| {
            used.insert(id);
        });
        block.push(stmt);
    }
    block.reverse();
}

/// Whether what a function returns or branches on depends on a local.
pub fn is_live(block: &Block, id: Id) -> bool {
    let mut live = HashSet::new();
    loop {
        let before = live.len();
        mark(block, &mut live);
        if live.len() == before {
            return live.contains(&id);
        }
    }
}

/// Whether a statement has an effect that someone sees.
fn stays(stmt: &Stmt, live: &HashSet<Id>) -> bool {
    match stmt {
        Stmt::Declare { id, .. } | Stmt::Point { id, .. } => live.contains(id),
        Stmt::Assign { place: Place::Local(id) | Place::Element { base: id, .. }, .. } => live.contains(id),
        Stmt::Update { base, .. } => live.contains(base),
        Stmt::For { .. } | Stmt::While { .. } | Stmt::Share(_) | Stmt::Scope(_) | Stmt::If { .. } => {
            stmt.blocks().flatten().any(|stmt| stays(stmt, live))
        }
        Stmt::Fail { .. } | Stmt::NoRoom { .. } | Stmt::Return(_) | Stmt::Invoke(_) => true,
        Stmt::Room(room) => live.contains(&room.id),
        Stmt::Rotate(ids) => ids.iter().any(|id| live.contains(id)),
    }
}

fn sweep(block: Block, live: &HashSet<Id>) -> Block {
    let mut out = Vec::new();
    let mut rest: Vec<Stmt> = block.into_iter().filter(|stmt| stays(stmt, live)).collect();
    // a scope that ends with its block is no scope
    while let Some(Stmt::Scope(_)) = rest.last() {
        if let Some(Stmt::Scope(body)) = rest.pop() {
            rest.extend(body.into_iter().filter(|stmt| stays(stmt, live)));
        }
    }
    for stmt in rest {
        match stmt {
            Stmt::For { i, var, count, size, body, lanes, apart } => {
                out.push(Stmt::For { i, var, count, size, body: sweep(body, live), lanes, apart });
            }
            Stmt::While { cond, body } => out.push(Stmt::While { cond, body: sweep(body, live) }),
            Stmt::If { cond, then, otherwise } => {
                let (then, otherwise) = (sweep(then, live), sweep(otherwise, live));
                if then.is_empty() {
                    out.push(Stmt::If { cond: negate(cond), then: otherwise, otherwise: Vec::new() });
                } else {
                    out.push(Stmt::If { cond, then, otherwise });
                }
            }
            Stmt::Scope(body) => {
                let body = sweep(body, live);
                // without arrays of its own it is no scope
                if body.iter().any(|stmt| matches!(stmt, Stmt::Room(_))) {
                    out.push(Stmt::Scope(body));
                } else {
                    out.extend(body);
                }
            }
            other @ (Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::Share(_)
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Return(_)) => out.push(other),
        }
    }
    out
}
