//! Branches as they are written by hand: one condition for nested ones, and a change in place of a copy.
//!
//! In: a function's statements, after all that looks at branches as choices. Out: the same with fewer names and branches.
//!
//!     double t; if (a) { double u; if (b) { u = s + e; } else { u = s; } t = u; } else { t = s; }
//!       →   if (a && b) { s += e; }
//!
//! A local is changed in place only where nothing reads it afterwards. Limits: Doubles that are assigned at the end of a branch.

use crate::ir::Prim;

use super::program::*;
use super::values::negate;
use super::visit::{reads, replace_local};
use super::{Context, Result};

/// Joins the branches of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    join_in(&mut function.locals, &mut function.body);
    Ok(())
}

/// Joins the branches of a block.
fn join_in(locals: &mut [Local], block: &mut Block) {
    for stmt in block.iter_mut() {
        stmt.blocks_mut().for_each(|inner| join_in(locals, inner));
        if let Stmt::If { then, otherwise, .. } = stmt {
            drop_last_copy(locals, then);
            drop_last_copy(locals, otherwise);
        }
    }
    *block = std::mem::take(block).into_iter().map(joined).collect();
    change_in_place(locals, block);
    drop_names(locals, block);
}

/// Drops names for other locals: of what stays as it is from there on, or is read by no other name.
fn drop_names(locals: &mut [Local], block: &mut Block) {
    let mut at = 0;
    while at < block.len() {
        match other_name(locals, block, at) {
            Some((x, y)) => {
                block.remove(at);
                if locals[x].form != (Form::Scalar { mutable: false }) {
                    locals[y].form = Form::Scalar { mutable: true };
                }
                rename(&mut block[at..], x, y);
            }
            None => at += 1,
        }
    }
}

fn other_name(locals: &[Local], block: &[Stmt], at: usize) -> Option<(Id, Id)> {
    let Stmt::Declare { id: x, init: Some(Value::Local(y)) } = block[at] else { return None };
    let rest = &block[at + 1..];
    let is_double = [x, y].iter().all(|id| locals[*id].elem == Elem::Double && matches!(locals[*id].form, Form::Scalar { .. }));
    let is_fixed = locals[x].form == (Form::Scalar { mutable: false });
    let is_here = block[..at].iter().any(|stmt| matches!(stmt, Stmt::Declare { id, .. } if *id == y));
    let is_last = is_here && !reads_in(rest, y);
    (is_double && is_here && rest.iter().all(is_plain) && !assigns(rest, y) && (is_fixed || is_last)).then_some((x, y))
}

/// Whether a statement is of the kinds that are looked into here.
pub(super) fn is_plain(stmt: &Stmt) -> bool {
    let here = match stmt {
        Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::If { .. } | Stmt::Fail { .. } | Stmt::Scope(_) => true,
        Stmt::For { lanes, .. } => !matches!(lanes, Lanes::Tile(_)),
        Stmt::Point { .. } | Stmt::Share(_) | Stmt::NoRoom { .. } | Stmt::Room(_) | Stmt::Invoke(_) | Stmt::Rotate(_) => false,
        Stmt::Return(_) | Stmt::Update { .. } | Stmt::While { .. } => false,
    };
    here && stmt.blocks().flatten().all(is_plain)
}

/// `double y; …; x = y;`, where `y` is only assigned: assigns `x` at once.
fn drop_last_copy(locals: &[Local], block: &mut Block) {
    let Some(Stmt::Assign { place: Place::Local(x), value: Value::Local(y) }) = block.last() else { return };
    let (x, y) = (*x, *y);
    let declared = block.iter().position(|stmt| matches!(stmt, Stmt::Declare { id, init: None } if *id == y));
    let Some(declared) = declared else { return };
    let inner = &block[..block.len() - 1];
    if x == y || locals[x].elem != locals[y].elem || reads_in(inner, x) || reads_in(inner, y) || assigns(inner, x) {
        return;
    }
    block.pop();
    block.remove(declared);
    rename(block, y, x);
}

/// `if (a) { if (b) X else Y } else Y` as `if (a && b) X else Y`.
fn joined(stmt: Stmt) -> Stmt {
    let Stmt::If { cond, mut then, otherwise } = stmt else { return stmt };
    let is_name = |stmt: &Stmt| matches!(stmt, Stmt::Declare { init: Some(value), .. } if is_index_sum(value));
    let is_one = match then.split_last() {
        Some((Stmt::If { otherwise: inner, .. }, names)) => names.iter().all(is_name) && is_same(inner, &otherwise),
        _ => false,
    };
    if !is_one {
        return Stmt::If { cond, then, otherwise };
    }
    let Some(Stmt::If { cond: mut second, then: mut both, .. }) = then.pop() else { return Stmt::If { cond, then, otherwise } };
    // names of indices between are written out in the condition
    for stmt in then.into_iter().rev() {
        if let Stmt::Declare { id, init: Some(value) } = &stmt {
            replace_local(&mut second, *id, value);
            if reads_in(&both, *id) {
                both.insert(0, stmt);
            }
        }
    }
    let cond = Value::Prim { prim: Prim::And, elem: Elem::Bool, plain: true, args: vec![cond, second] };
    Stmt::If { cond, then: both, otherwise }
}

/// Whether two blocks do nothing, or assign one local the same simple value.
fn is_same(a: &[Stmt], b: &[Stmt]) -> bool {
    match (a, b) {
        ([], []) => true,
        ([Stmt::Assign { place, value }], [Stmt::Assign { place: other, value: same }]) => {
            place == other && value == same && matches!(value, Value::Local(_) | Value::Double(_))
        }
        _ => false,
    }
}

/// Arithmetic that cannot overflow.
fn is_index_sum(value: &Value) -> bool {
    match value {
        Value::Local(_) | Value::Index(_) => true,
        Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Index, plain: true, args } => args.iter().all(is_index_sum),
        Value::Double(_)
        | Value::Bool(_)
        | Value::Prim { .. }
        | Value::InRow(_)
        | Value::Load { .. }
        | Value::Select(_)
        | Value::Helper(..)
        | Value::SizeOf(..)
        | Value::Moved { .. }
        | Value::Call(..) => false,
    }
}

/// `double t; if (c) { …; t = s + e; } else { t = s; }` as `if (c) { …; s = s + e; }`, where `s` is declared here and not read later.
fn change_in_place(locals: &mut [Local], block: &mut Block) {
    let mut at = 0;
    while at < block.len() {
        match in_place(locals, block, at) {
            Some((declared, t, s, stmt)) => {
                locals[s].form = Form::Scalar { mutable: true };
                block[at] = stmt;
                rename(&mut block[at..], t, s);
                block.remove(declared);
            }
            None => at += 1,
        }
    }
}

/// Where the local that a branch assigns is declared, that local, the one that it changes, and the branch that does.
fn in_place(locals: &[Local], block: &[Stmt], at: usize) -> Option<(usize, Id, Id, Stmt)> {
    let Stmt::If { cond, then, otherwise } = &block[at] else { return None };
    let copy = |block: &Block| match block.as_slice() {
        [Stmt::Assign { place: Place::Local(t), value: Value::Local(s) }] => Some((*t, *s)),
        _ => None,
    };
    let (t, s, cond, changing) = match (copy(then), copy(otherwise)) {
        (_, Some((t, s))) => (t, s, cond.clone(), then),
        (Some((t, s)), None) => (t, s, negate(cond.clone()), otherwise),
        (None, None) => return None,
    };
    let declares = |wanted: Id, stmt: &Stmt| matches!(stmt, Stmt::Declare { id, .. } if *id == wanted);
    let declared = block[..at].iter().position(|stmt| matches!(stmt, Stmt::Declare { id, init: None } if *id == t))?;
    let is_here = block[..at].iter().any(|stmt| declares(s, stmt));
    let is_alike = t != s && locals[s].elem == Elem::Double && locals[t].elem == Elem::Double;
    // the branch gives a value of its own, at last
    let (last, before) = changing.split_last()?;
    let gives = matches!(last, Stmt::Assign { place: Place::Local(id), .. } if *id == t) && !assigns(before, t) && !assigns(before, s);
    let is_free = !reads_in(changing, t) && !reads_in(&block[declared..at], t) && !assigns(&block[declared..at], t);
    (is_here && is_alike && gives && is_free && !reads_in(&block[at + 1..], s) && !assigns(&block[at + 1..], s))
        .then(|| (declared, t, s, Stmt::If { cond, then: changing.clone(), otherwise: Vec::new() }))
}

/// Whether statements read a local, as far as they are plain; others may.
fn reads_in(block: &[Stmt], id: Id) -> bool {
    block.iter().any(|stmt| {
        let here = match stmt {
            Stmt::Declare { init, .. } => init.as_ref().is_some_and(|init| reads(init, id)),
            Stmt::Assign { place, value } => {
                reads(value, id) || matches!(place, Place::Element { offset: Some(offset), .. } if reads(offset, id))
            }
            Stmt::If { cond: value, .. } | Stmt::Fail { cond: value, .. } => reads(value, id),
            Stmt::For { count, lanes, .. } => reads(count, id) || matches!(lanes, Lanes::Sum(sums) if sums.contains(&id)),
            other => !is_plain(other),
        };
        here || !is_plain(stmt) || stmt.blocks().any(|block| reads_in(block, id))
    })
}

fn assigns(block: &[Stmt], id: Id) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt, Stmt::Assign { place: Place::Local(other), .. } if *other == id) || stmt.blocks().any(|block| assigns(block, id))
    })
}

/// Puts one local for another in plain statements.
pub(super) fn rename(block: &mut [Stmt], from: Id, to: Id) {
    let by = Value::Local(to);
    for stmt in block {
        match stmt {
            Stmt::Declare { init: Some(of), .. } | Stmt::If { cond: of, .. } | Stmt::Fail { cond: of, .. } => replace_local(of, from, &by),
            Stmt::For { count, lanes, .. } => {
                replace_local(count, from, &by);
                if let Lanes::Sum(sums) = lanes {
                    sums.iter_mut().filter(|sum| **sum == from).for_each(|sum| *sum = to);
                }
            }
            Stmt::Assign { place, value } => {
                replace_local(value, from, &by);
                match place {
                    Place::Local(id) if *id == from => *id = to,
                    Place::Element { offset: Some(offset), .. } => replace_local(offset, from, &by),
                    Place::Local(_) | Place::Element { .. } => {}
                }
            }
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Update { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => {}
        }
        stmt.blocks_mut().for_each(|inner| rename(inner, from, to));
    }
}
