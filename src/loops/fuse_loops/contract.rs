//! Array contraction: an array of which each iteration of one loop has an element of its own is a local of that loop.
//!
//! In: a function's statements. Out: where a room in the workspace is only read and written in one innermost loop, at one offset, and
//! each iteration writes first, a local in its place; the room is gone.
//!
//!     for i < n: t[i] = exp(v[i]); out[i] = t[i] * w[i]   →   for i < n: t = exp(v[i]); out[i] = t * w[i]

use std::collections::{HashMap, HashSet};

use crate::loops::program::*;
use crate::loops::visit::{each_access, each_change, each_local, each_mention, each_part, replace_local, replace_value};

/// Contracts the arrays of a function; whether there were any.
pub fn run(function: &mut LoopFunction) -> bool {
    let mut rooms = HashSet::new();
    let mut mentions = HashMap::new();
    collect(&function.body, &mut rooms, &mut mentions);
    let mut gone = HashSet::new();
    let mut contraction = Contraction { locals: &mut function.locals, rooms: &rooms, mentions: &mentions, gone: &mut gone };
    contraction.block(&mut function.body);
    drop_rooms(&mut function.body, &gone);
    !gone.is_empty()
}

/// The rooms of a block, and how often each local stands in it.
fn collect(block: &[Stmt], rooms: &mut HashSet<Id>, mentions: &mut HashMap<Id, usize>) {
    for stmt in block {
        if let Stmt::Room(room) = stmt {
            rooms.insert(room.id);
        }
        each_mention(stmt, &mut |id| *mentions.entry(id).or_default() += 1);
        stmt.blocks().for_each(|inner| collect(inner, rooms, mentions));
    }
}

fn drop_rooms(block: &mut Block, gone: &HashSet<Id>) {
    block.retain(|stmt| !matches!(stmt, Stmt::Room(room) if gone.contains(&room.id)));
    block.iter_mut().for_each(|stmt| stmt.blocks_mut().for_each(|inner| drop_rooms(inner, gone)));
}

struct Contraction<'c> {
    locals: &'c mut Vec<Local>,
    rooms: &'c HashSet<Id>,
    mentions: &'c HashMap<Id, usize>,
    gone: &'c mut HashSet<Id>,
}

impl Contraction<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in block {
            if let Stmt::For { body, .. } = stmt
                && !body.iter().any(|stmt| stmt.blocks().next().is_some())
            {
                self.contract(body);
            }
            stmt.blocks_mut().for_each(|inner| self.block(inner));
        }
    }

    /// Contracts the arrays that only this body has.
    fn contract(&mut self, body: &mut Block) {
        let mut accesses: Vec<(Id, Vec<Option<Value>>)> = Vec::new();
        each_access(body, &mut |base, offset| match accesses.iter_mut().find(|(id, _)| *id == base) {
            Some((_, offsets)) => offsets.push(offset.clone()),
            None => accesses.push((base, vec![offset.clone()])),
        });
        let mut changed = HashSet::new();
        each_change(body, &mut |id| {
            changed.insert(id);
        });
        for (base, offsets) in accesses {
            let is_alone = self.rooms.contains(&base) && self.mentions.get(&base) == Some(&(offsets.len() + 1));
            let [Some(offset), rest @ ..] = offsets.as_slice() else { continue };
            let mut is_fixed = rest.iter().all(|other| other.as_ref() == Some(offset));
            each_local(offset, &mut |id| {
                is_fixed &= !changed.contains(&id) || matches!(self.locals[id].form, Form::Scalar { mutable: false });
            });
            // what memory says may change in an iteration
            each_part(offset, &mut |part| is_fixed &= !matches!(part, Value::Load { .. }));
            if is_alone && is_fixed && is_written_first(body, base) {
                self.replace(body, base, &Value::Load { base, offset: Some(Box::new(offset.clone())) });
                self.gone.insert(base);
            }
        }
        self.drop_copies(body);
    }

    /// Puts a constant or a literal in the place of the constants that are declared as it.
    fn drop_copies(&self, body: &mut Block) {
        let is_constant = |id: Id| matches!(self.locals[id].form, Form::Scalar { mutable: false });
        let copy = |stmt: &Stmt| match stmt {
            Stmt::Declare { id, init: Some(of @ (Value::Double(_) | Value::Index(_) | Value::Bool(_))) } if is_constant(*id) => {
                Some((*id, of.clone()))
            }
            Stmt::Declare { id, init: Some(of @ Value::Local(other)) } if is_constant(*id) && is_constant(*other) => {
                Some((*id, of.clone()))
            }
            _ => None,
        };
        while let Some((at, (id, of))) = body.iter().enumerate().find_map(|(at, stmt)| Some((at, copy(stmt)?))) {
            body.remove(at);
            body.iter_mut().flat_map(values_of).for_each(|value| replace_local(value, id, &of));
        }
    }

    /// Puts a local in the place of the elements: the one that is stored, where that is all, under the array's name.
    fn replace(&mut self, body: &mut Block, base: Id, element: &Value) {
        let put = |stmt: &mut Stmt, local: Id| {
            values_of(stmt).into_iter().for_each(|value| replace_value(value, element, &Value::Local(local)));
        };
        if let Some((at, own)) = self.stored_local(body, base) {
            self.locals[own].name = self.locals[base].name.clone();
            body.remove(at);
            body.iter_mut().for_each(|stmt| put(stmt, own));
            return;
        }
        let count = body.iter().filter(|stmt| writes(stmt, base)).count();
        let Local { name, elem, .. } = self.locals[base].clone();
        self.locals.push(Local { name, elem, form: Form::Scalar { mutable: count > 1 }, note: None });
        let local = self.locals.len() - 1;
        let mut is_declared = false;
        for stmt in body {
            let is_write = writes(stmt, base);
            put(stmt, local);
            let (Stmt::Assign { value, .. } | Stmt::Update { value, .. }) = stmt else { continue };
            if is_write {
                let value = std::mem::replace(value, Value::Index(0));
                *stmt = if is_declared {
                    Stmt::Assign { place: Place::Local(local), value }
                } else {
                    Stmt::Declare { id: local, init: Some(value) }
                };
                is_declared = true;
            }
        }
    }

    /// The constant that this body declares and stores as the elements of an array, and the statement that does, where no other writes.
    fn stored_local(&self, body: &[Stmt], array: Id) -> Option<(usize, Id)> {
        let mut stores = body.iter().enumerate().filter(|(_, stmt)| writes(stmt, array));
        let (Some((at, Stmt::Assign { value: Value::Local(own), .. })), None) = (stores.next(), stores.next()) else { return None };
        let is_constant = matches!(self.locals[*own].form, Form::Scalar { mutable: false });
        let is_declared = body[..at].iter().any(|stmt| matches!(stmt, Stmt::Declare { id, .. } if id == own));
        (is_constant && is_declared).then_some((at, *own))
    }
}

fn writes(stmt: &Stmt, array: Id) -> bool {
    matches!(stmt, Stmt::Assign { place: Place::Element { base, .. }, .. } | Stmt::Update { base, .. } if *base == array)
}

/// Whether the first statement that has the array stores an element, of which it reads none.
fn is_written_first(body: &[Stmt], array: Id) -> bool {
    let has = |stmt: &&Stmt| {
        let mut found = 0;
        each_mention(stmt, &mut |id| found += usize::from(id == array));
        found > 0
    };
    let Some(first) = body.iter().find(has) else { return false };
    let mut count = 0;
    each_mention(first, &mut |id| count += usize::from(id == array));
    count == 1 && matches!(first, Stmt::Assign { place: Place::Element { base, .. }, .. } if *base == array)
}

/// The expressions of a declaration, an assignment or an update.
fn values_of(stmt: &mut Stmt) -> Vec<&mut Value> {
    match stmt {
        Stmt::Declare { init: Some(value), .. } | Stmt::Assign { place: Place::Local(_), value } => vec![value],
        Stmt::Assign { place: Place::Element { offset, .. }, value } => offset.iter_mut().chain([value]).collect(),
        Stmt::Update { offset, value, .. } => vec![offset, value],
        _ => Vec::new(),
    }
}
