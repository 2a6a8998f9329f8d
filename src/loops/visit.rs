//! Walks over loop programs: what expressions read, and what statements change, evaluate and call.
//!
//! In: an expression or statements. Out: calls of a function on each local or expression, or whether there is one.
//!
//!     a[i] + s   reads a, i, s        for i < n: s = s + 1   changes i, s

use std::rc::Rc;

use crate::ir::Prim;

use super::program::*;

/// Calls `f` on every local that an expression reads.
pub fn each_local(value: &Value, f: &mut dyn FnMut(Id)) {
    match value {
        Value::Local(id) => f(*id),
        Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(..) => {}
        Value::Prim { args, .. } | Value::Helper(_, args) => args.iter().for_each(|arg| each_local(arg, f)),
        Value::Load { base, offset } => {
            f(*base);
            offset.iter().for_each(|offset| each_local(offset, f));
        }
        Value::InRow(parts) | Value::Select(parts) => parts.iter().for_each(|part| each_local(part, f)),
        Value::Call(_, args) => args.iter().for_each(|arg| each_in_argument(arg, f)),
        Value::Moved { now, home } => {
            f(*now);
            each_in_pointer(home, f);
        }
    }
}

/// Whether an expression reads a local.
pub fn reads(value: &Value, id: Id) -> bool {
    let mut found = false;
    each_local(value, &mut |other| found |= other == id);
    found
}

/// Puts an expression for a local.
pub fn replace_local(of: &mut Value, id: Id, by: &Value) {
    if *of == Value::Local(id) {
        *of = by.clone();
        return;
    }
    match of {
        Value::Call(_, args) => args.iter_mut().for_each(|arg| match arg {
            Argument::Value(value) => replace_local(value, id, by),
            Argument::Pointer(pointer) => pointer.offset.iter_mut().for_each(|offset| replace_local(offset, id, by)),
            Argument::Address(_) | Argument::Workspace => {}
        }),
        Value::Moved { home, .. } => home.offset.iter_mut().for_each(|offset| replace_local(offset, id, by)),
        of => of.parts_mut().iter_mut().for_each(|part| replace_local(part, id, by)),
    }
}

/// Puts an expression for another one, wherever that is part of it.
pub fn replace_value(of: &mut Value, what: &Value, by: &Value) {
    if of == what {
        *of = by.clone();
    } else {
        of.parts_mut().iter_mut().for_each(|part| replace_value(part, what, by));
    }
}

/// Calls `f` on every local that a pointer expression reads.
pub fn each_in_pointer(pointer: &Pointer, f: &mut dyn FnMut(Id)) {
    f(pointer.base);
    pointer.offset.iter().for_each(|offset| each_local(offset, f));
}

/// Calls `f` on every local that an argument mentions.
pub fn each_in_argument(arg: &Argument, f: &mut dyn FnMut(Id)) {
    match arg {
        Argument::Value(value) => each_local(value, f),
        Argument::Pointer(pointer) => each_in_pointer(pointer, f),
        Argument::Address(id) => f(*id),
        Argument::Workspace => {}
    }
}

/// Calls `f` on an expression and on each inside of it.
pub fn each_part(value: &Value, f: &mut dyn FnMut(&Value)) {
    f(value);
    match value {
        Value::Prim { args, .. } | Value::Helper(_, args) => args.iter().for_each(|arg| each_part(arg, f)),
        Value::InRow(parts) | Value::Select(parts) => parts.iter().for_each(|part| each_part(part, f)),
        Value::Load { offset, .. } => offset.iter().for_each(|offset| each_part(offset, f)),
        Value::Local(_)
        | Value::Double(_)
        | Value::Index(_)
        | Value::Bool(_)
        | Value::SizeOf(..)
        | Value::Moved { .. }
        | Value::Call(..) => {}
    }
}

/// Calls `f` on every expression of declarations, assignments, updates and branches.
pub fn each_value(block: &[Stmt], f: &mut dyn FnMut(&Value)) {
    for stmt in block {
        match stmt {
            Stmt::Declare { init: Some(value), .. } | Stmt::Assign { value, .. } | Stmt::Update { value, .. } => each_part(value, f),
            Stmt::If { cond, then, otherwise } => {
                each_part(cond, f);
                each_value(then, f);
                each_value(otherwise, f);
            }
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => {}
        }
    }
}

/// Calls `f` on the array and the offset of each access and of each pointer, those in an offset before it.
pub fn each_access(block: &mut [Stmt], f: &mut dyn FnMut(Id, &mut Option<Value>)) {
    for stmt in block {
        each_access_of(stmt, f);
        stmt.blocks_mut().for_each(|block| each_access(block, f));
    }
}

/// As [`each_access`], without the blocks inside.
fn each_access_of(stmt: &mut Stmt, f: &mut dyn FnMut(Id, &mut Option<Value>)) {
    match stmt {
        Stmt::Declare { init, .. } => init.iter_mut().for_each(|init| accesses_in(init, f)),
        Stmt::Point { to: PointerValue::To(pointer), .. } => access(pointer.base, &mut pointer.offset, f),
        Stmt::Point { to: PointerValue::Select(cond, a, b), .. } => {
            accesses_in(cond, f);
            access(a.base, &mut a.offset, f);
            access(b.base, &mut b.offset, f);
        }
        Stmt::Assign { place, value } => {
            if let Place::Element { base, offset } = place {
                access(*base, offset, f);
            }
            accesses_in(value, f);
        }
        Stmt::Update { base, offset, value } => {
            access_at(*base, offset, f);
            accesses_in(value, f);
        }
        Stmt::For { count, lanes, .. } => {
            accesses_in(count, f);
            if let Lanes::Tile(tiles) = lanes {
                tiles.panels.iter_mut().for_each(|panel| access(panel.from.base, &mut panel.from.offset, f));
                for tile in &mut tiles.tiles {
                    tile.columns.iter_mut().for_each(|column| access_at(tile.base, column, f));
                }
            }
        }
        Stmt::Share(share) => {
            accesses_in(&mut share.count, f);
            accesses_in(&mut share.work, f);
            for total in &mut share.totals {
                total.length.iter_mut().for_each(|length| accesses_in(length, f));
                each_access(std::slice::from_mut(&mut total.start), f);
                each_access(std::slice::from_mut(&mut total.join), f);
            }
        }
        Stmt::If { cond, .. } | Stmt::While { cond, .. } => accesses_in(cond, f),
        Stmt::Fail { cond, .. } | Stmt::NoRoom { cond } | Stmt::Return(cond) => accesses_in(cond, f),
        Stmt::Room(room) => room.counts.iter_mut().for_each(|count| accesses_in(count, f)),
        Stmt::Invoke(call) => {
            call.args.iter_mut().for_each(|arg| access_in_argument(arg, f));
            for measure in &mut call.measures {
                match measure {
                    Measure::Bool(value) => accesses_in(value, f),
                    Measure::Size(_) | Measure::Data => {}
                }
            }
        }
        Stmt::Rotate(_) | Stmt::Scope(_) => {}
    }
}

fn access(base: Id, offset: &mut Option<Value>, f: &mut dyn FnMut(Id, &mut Option<Value>)) {
    offset.iter_mut().for_each(|offset| accesses_in(offset, f));
    f(base, offset);
}

/// An access whose offset is not left out.
fn access_at(base: Id, offset: &mut Value, f: &mut dyn FnMut(Id, &mut Option<Value>)) {
    let mut at = Some(std::mem::replace(offset, Value::Index(0)));
    access(base, &mut at, f);
    at.into_iter().for_each(|at| *offset = at);
}

fn access_in_argument(arg: &mut Argument, f: &mut dyn FnMut(Id, &mut Option<Value>)) {
    match arg {
        Argument::Value(value) => accesses_in(value, f),
        Argument::Pointer(pointer) => access(pointer.base, &mut pointer.offset, f),
        Argument::Address(_) | Argument::Workspace => {}
    }
}

fn accesses_in(value: &mut Value, f: &mut dyn FnMut(Id, &mut Option<Value>)) {
    match value {
        Value::Load { base, offset } => {
            let mut at = offset.take().map(|offset| *offset);
            access(*base, &mut at, f);
            *offset = at.map(Box::new);
        }
        Value::Moved { home, .. } => access(home.base, &mut home.offset, f),
        Value::Call(_, args) => args.iter_mut().for_each(|arg| access_in_argument(arg, f)),
        other => other.parts_mut().iter_mut().for_each(|part| accesses_in(part, f)),
    }
}

/// Calls `f` on each local that a block declares, assigns, points or counts with.
pub fn each_change(block: &[Stmt], f: &mut dyn FnMut(Id)) {
    for stmt in block {
        match stmt {
            Stmt::Declare { id, .. } | Stmt::Point { id, .. } | Stmt::Assign { place: Place::Local(id), .. } => f(*id),
            Stmt::For { i, .. } => f(*i),
            Stmt::Room(room) => f(room.id),
            Stmt::Rotate(ids) => ids.iter().for_each(|id| f(*id)),
            Stmt::Invoke(call) => call.args.iter().for_each(|arg| {
                if let Argument::Address(id) = arg {
                    f(*id);
                }
            }),
            Stmt::Assign { place: Place::Element { .. }, .. }
            | Stmt::Update { .. }
            | Stmt::While { .. }
            | Stmt::If { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Scope(_)
            | Stmt::Share(_)
            | Stmt::Return(_) => {}
        }
        stmt.blocks().for_each(|block| each_change(block, f));
    }
}

/// Calls `f` on each array to which a statement writes elements.
pub fn each_written(stmt: &Stmt, f: &mut dyn FnMut(Id)) {
    if let Stmt::Assign { place: Place::Element { base, .. }, .. } | Stmt::Update { base, .. } = stmt {
        f(*base);
    }
    stmt.blocks().flatten().for_each(|stmt| each_written(stmt, f));
}

/// Whether a statement mentions a local: declares it, reads it, writes it, or writes through it.
pub fn mentions(stmt: &Stmt, id: Id) -> bool {
    let mut found = matches!(stmt, Stmt::Share(_) | Stmt::For { lanes: Lanes::Tile(_), .. });
    each_mention(stmt, &mut |other| found |= other == id);
    found || stmt.blocks().flatten().any(|stmt| mentions(stmt, id))
}

/// Calls `f` on every local that a statement has outside of its blocks; not on those of tiles and shared parts.
pub fn each_mention(stmt: &Stmt, f: &mut dyn FnMut(Id)) {
    match stmt {
        Stmt::Declare { id, init } => {
            f(*id);
            init.iter().for_each(|init| each_local(init, f));
        }
        Stmt::Point { id, to } => {
            f(*id);
            match to {
                PointerValue::To(pointer) => each_in_pointer(pointer, f),
                PointerValue::Select(cond, a, b) => {
                    each_local(cond, f);
                    each_in_pointer(a, f);
                    each_in_pointer(b, f);
                }
            }
        }
        Stmt::Assign { place, value } => {
            match place {
                Place::Local(id) => f(*id),
                Place::Element { base, offset } => {
                    f(*base);
                    offset.iter().for_each(|offset| each_local(offset, f));
                }
            }
            each_local(value, f);
        }
        Stmt::Update { base, offset, value } => {
            f(*base);
            each_local(offset, f);
            each_local(value, f);
        }
        Stmt::For { i, count, lanes, .. } => {
            f(*i);
            each_local(count, f);
            match lanes {
                Lanes::One | Lanes::InOrder | Lanes::Any | Lanes::Tile(_) => {}
                Lanes::Sum(ids) => ids.iter().for_each(|id| f(*id)),
            }
        }
        Stmt::If { cond, .. } | Stmt::While { cond, .. } => each_local(cond, f),
        Stmt::Fail { cond, .. } | Stmt::NoRoom { cond } | Stmt::Return(cond) => each_local(cond, f),
        Stmt::Room(room) => {
            f(room.id);
            room.counts.iter().for_each(|count| each_local(count, f));
        }
        Stmt::Invoke(call) => {
            call.args.iter().for_each(|arg| each_in_argument(arg, f));
            for measure in &call.measures {
                match measure {
                    Measure::Bool(value) => each_local(value, f),
                    Measure::Size(_) | Measure::Data => {}
                }
            }
        }
        Stmt::Rotate(ids) => ids.iter().for_each(|id| f(*id)),
        Stmt::Share(_) | Stmt::Scope(_) => {}
    }
}

/// As [`each_mention`], with the statements in its blocks.
pub fn each_use(stmt: &Stmt, f: &mut dyn FnMut(Id)) {
    each_mention(stmt, f);
    stmt.blocks().flatten().for_each(|stmt| each_use(stmt, f));
}

/// Every function that a body calls.
pub fn each_invocation(block: &[Stmt], f: &mut dyn FnMut(&Rc<str>)) {
    for stmt in block {
        if let Stmt::Invoke(call) = stmt {
            f(&call.callee);
        }
        stmt.blocks().for_each(|block| each_invocation(block, f));
    }
}

/// Whether statements take workspace: local arrays are none.
pub fn uses_room(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Room(room) => room.few().is_none(),
        Stmt::Invoke(call) => call.args.iter().any(|arg| matches!(arg, Argument::Workspace)),
        Stmt::Share(share) if share.slice.is_some() => true,
        _ => stmt.blocks().any(|block| uses_room(block)),
    })
}

/// Whether an expression may be evaluated anywhere: it reads no memory and divides by nothing.
pub fn is_total(value: &Value) -> bool {
    match value {
        Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_) => true,
        Value::Prim { prim: Prim::Div | Prim::Rem, elem: Elem::Index, .. } => false,
        Value::Prim { args, .. } => args.iter().all(is_total),
        Value::InRow(parts) => parts.iter().all(is_total),
        Value::Load { .. } | Value::Select(_) | Value::Helper(..) | Value::SizeOf(..) | Value::Moved { .. } | Value::Call(..) => false,
    }
}
