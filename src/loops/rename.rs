//! Statements that stand beside others of which they are a copy: a local is declared once in a function.
//!
//! In: statements, a local and the one that stands for it. Out: the statements over that one.
//!
//!     out[i] = v[i], i becomes i.1   →   out[i.1] = v[i.1]

use std::collections::HashMap;

use super::analysis::effects::inside;
use super::program::ranges::Ranges;
use super::program::*;

/// Puts a local in the place of another one.
pub fn rename(block: &mut [Stmt], from: Id, to: Id) {
    each_id(block, &mut |id| {
        if *id == from {
            *id = to;
        }
    });
}

/// The statements with locals of their own in the place of those that they declare, which are as these are.
pub fn copied(block: &[Stmt], locals: &mut Vec<Local>, ranges: &mut Ranges) -> Block {
    let mut copy = block.to_vec();
    let mut own = HashMap::new();
    let mut declared: Vec<Id> = inside(block).into_iter().collect();
    declared.sort_unstable();
    for id in declared {
        own.insert(id, locals.len());
        ranges.get(id).into_iter().for_each(|range| ranges.insert(locals.len(), range));
        locals.push(locals[id].clone());
    }
    each_id(&mut copy, &mut |id| *id = own.get(id).copied().unwrap_or(*id));
    copy
}

/// Calls `f` on each number of a local, wherever it stands.
fn each_id(block: &mut [Stmt], f: &mut dyn FnMut(&mut Id)) {
    for stmt in block {
        in_stmt(stmt, f);
        stmt.blocks_mut().for_each(|block| each_id(block, f));
    }
}

/// As [`each_id`], without the blocks inside.
fn in_stmt(stmt: &mut Stmt, f: &mut dyn FnMut(&mut Id)) {
    match stmt {
        Stmt::Declare { id, init } => {
            f(id);
            init.iter_mut().for_each(|init| in_value(init, f));
        }
        Stmt::Point { id, to } => {
            f(id);
            match to {
                PointerValue::To(pointer) => in_pointer(pointer, f),
                PointerValue::Select(cond, a, b) => {
                    in_value(cond, f);
                    in_pointer(a, f);
                    in_pointer(b, f);
                }
            }
        }
        Stmt::Assign { place, value } => {
            match place {
                Place::Local(id) => f(id),
                Place::Element { base, offset } => {
                    f(base);
                    offset.iter_mut().for_each(|offset| in_value(offset, f));
                }
            }
            in_value(value, f);
        }
        Stmt::Update { base, offset, value } => {
            f(base);
            in_value(offset, f);
            in_value(value, f);
        }
        Stmt::For { i, count, lanes, .. } => {
            f(i);
            in_value(count, f);
            match lanes {
                Lanes::One | Lanes::InOrder | Lanes::Any => {}
                Lanes::Sum(ids) => ids.iter_mut().for_each(f),
                Lanes::Tile(tiles) => in_tiles(tiles, f),
            }
        }
        Stmt::Share(share) => in_share(share, f),
        Stmt::If { cond, .. } | Stmt::While { cond, .. } => in_value(cond, f),
        Stmt::Fail { cond, .. } | Stmt::NoRoom { cond } | Stmt::Return(cond) => in_value(cond, f),
        Stmt::Room(room) => {
            f(&mut room.id);
            room.counts.iter_mut().for_each(|count| in_value(count, f));
        }
        Stmt::Invoke(call) => {
            call.args.iter_mut().for_each(|arg| in_argument(arg, f));
            for measure in &mut call.measures {
                match measure {
                    Measure::Bool(value) => in_value(value, f),
                    Measure::Size(_) | Measure::Data => {}
                }
            }
        }
        Stmt::Rotate(ids) => ids.iter_mut().for_each(f),
        Stmt::Scope(_) => {}
    }
}

fn in_tiles(tiles: &mut Tiles, f: &mut dyn FnMut(&mut Id)) {
    f(&mut tiles.lane);
    for panel in &mut tiles.panels {
        f(&mut panel.id);
        in_pointer(&mut panel.from, f);
    }
    for tile in &mut tiles.tiles {
        f(&mut tile.base);
        in_value(&mut tile.row, f);
        tile.columns.iter_mut().for_each(|column| in_value(column, f));
    }
}

fn in_share(share: &mut Share, f: &mut dyn FnMut(&mut Id)) {
    in_value(&mut share.count, f);
    in_value(&mut share.work, f);
    share.loops.iter_mut().for_each(&mut *f);
    for total in &mut share.totals {
        f(&mut total.id);
        f(&mut total.part);
        total.length.iter_mut().for_each(|length| in_value(length, f));
        each_id(std::slice::from_mut(&mut total.start), f);
        each_id(std::slice::from_mut(&mut total.join), f);
    }
    share.captured.iter_mut().for_each(|captured| f(&mut captured.id));
}

fn in_value(value: &mut Value, f: &mut dyn FnMut(&mut Id)) {
    match value {
        Value::Local(id) => f(id),
        Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::SizeOf(..) => {}
        Value::Prim { args, .. } | Value::Helper(_, args) => args.iter_mut().for_each(|arg| in_value(arg, f)),
        Value::Load { base, offset } => {
            f(base);
            offset.iter_mut().for_each(|offset| in_value(offset, f));
        }
        Value::InRow(parts) | Value::Select(parts) => parts.iter_mut().for_each(|part| in_value(part, f)),
        Value::Moved { now, home } => {
            f(now);
            in_pointer(home, f);
        }
        Value::Call(_, args) => args.iter_mut().for_each(|arg| in_argument(arg, f)),
    }
}

fn in_pointer(pointer: &mut Pointer, f: &mut dyn FnMut(&mut Id)) {
    f(&mut pointer.base);
    pointer.offset.iter_mut().for_each(|offset| in_value(offset, f));
}

fn in_argument(arg: &mut Argument, f: &mut dyn FnMut(&mut Id)) {
    match arg {
        Argument::Value(value) => in_value(value, f),
        Argument::Pointer(pointer) => in_pointer(pointer, f),
        Argument::Address(id) => f(id),
        Argument::Workspace => {}
    }
}
