//! What a loop's iterations do to what is outside of the loop: whether they depend on each other.
//!
//! In: a loop's body. Out: [`Effects`], where iterations may run apart: the locals outside that they change by one associative
//! operation each and do not read otherwise, and the arrays outside to whose elements they add; `None` where one iteration may
//! need what another one did.
//!
//!     for i < n: s = s + v[i]                   s is changed, by +
//!     for i < n: out[k[i]] = out[k[i]] + v[i]   out is added to
//!     for i < n: s = s * 0.5 + v[i]             None

use std::collections::HashSet;

use crate::ir::Prim;

use super::homes::Homes;
use crate::loops::program::*;
use crate::loops::visit::{each_in_pointer, each_local};

/// What is declared in a block.
pub fn inside(block: &[Stmt]) -> HashSet<Id> {
    let mut found = HashSet::new();
    for stmt in block {
        match stmt {
            Stmt::Declare { id, .. } | Stmt::Point { id, .. } | Stmt::Room(Room { id, .. }) => {
                found.insert(*id);
            }
            Stmt::For { i: id, .. } => {
                found.insert(*id);
            }
            Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::If { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => {}
        }
        found.extend(stmt.blocks().flat_map(|block| inside(block)));
    }
    found
}

/// What a loop's body does to what is outside.
pub struct Effects<'a> {
    locals: &'a [Local],
    homes: &'a Homes,
    apart: bool,
    /// The loop's counter, and what its body declares.
    pub inside: HashSet<Id>,
    /// The locals outside that it changes, and by which operation.
    changed: Vec<(Id, Prim)>,
    /// The arrays outside to whose elements it adds.
    pub added: Vec<Id>,
    /// Each reading of a local, as often as it is read.
    reads: Vec<Id>,
}

impl<'a> Effects<'a> {
    /// The effects of the loop over `i` with this body; `None` where iterations may depend on each other. `apart`: each is known
    /// to write elements of its own.
    pub fn of(locals: &'a [Local], homes: &'a Homes, apart: bool, i: Id, body: &[Stmt]) -> Option<Effects<'a>> {
        let mut inside = inside(body);
        inside.insert(i);
        let mut effects = Effects { locals, homes, apart, inside, changed: Vec::new(), added: Vec::new(), reads: Vec::new() };
        effects.block(body)?;
        Some(effects)
    }

    /// Notes what statements do; `None` where iterations may depend on each other.
    fn block(&mut self, block: &[Stmt]) -> Option<()> {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Declare { init, .. } => init.iter().for_each(|init| self.reads(init)),
            Stmt::Assign { place: Place::Local(id), value } => {
                self.reads(value);
                if !self.inside.contains(id) {
                    self.changed.push((*id, operation(*id, value)?));
                }
            }
            Stmt::Assign { place: Place::Element { base, offset }, value } => {
                offset.iter().for_each(|offset| self.reads(offset));
                if self.may_write(*base).is_none() {
                    (self.locals[*base].elem == Elem::Double).then_some(())?;
                    let own = Value::Load { base: *base, offset: offset.clone().map(Box::new) };
                    self.added.push(*base);
                    return self.adds(value, &own);
                }
                self.reads(value);
            }
            Stmt::Update { base, offset, value } => {
                self.reads(offset);
                if self.may_write(*base).is_none() {
                    (self.locals[*base].elem == Elem::Double).then_some(())?;
                    let own = Value::Load { base: *base, offset: Some(Box::new(offset.clone())) };
                    self.added.push(*base);
                    return self.adds(value, &own);
                }
                self.reads(value);
            }
            Stmt::Point { id, to } => {
                let pointers: Vec<&Pointer> = match to {
                    PointerValue::To(pointer) => vec![pointer],
                    PointerValue::Select(cond, a, b) => {
                        self.reads(cond);
                        vec![a, b]
                    }
                };
                for pointer in pointers {
                    each_in_pointer(pointer, &mut |id| self.reads.push(id));
                    if matches!(self.locals[*id].form, Form::Target { .. }) {
                        self.may_write(pointer.base)?;
                    }
                }
            }
            Stmt::For { count, body, .. } => {
                self.reads(count);
                self.block(body)?;
            }
            Stmt::While { cond, body } => {
                self.reads(cond);
                self.block(body)?;
            }
            Stmt::If { cond, then, otherwise } => {
                self.reads(cond);
                self.block(then)?;
                self.block(otherwise)?;
            }
            Stmt::Scope(body) => self.block(body)?,
            Stmt::Fail { cond, .. } => self.reads(cond),
            Stmt::Room(room) => room.counts.iter().for_each(|count| self.reads(count)),
            Stmt::Rotate(ids) => ids.iter().all(|id| self.inside.contains(id)).then_some(())?,
            Stmt::Invoke(call) => {
                for arg in &call.args {
                    match arg {
                        Argument::Value(value) => self.reads(value),
                        Argument::Pointer(pointer) => {
                            each_in_pointer(pointer, &mut |id| self.reads.push(id));
                            if matches!(self.locals[pointer.base].form, Form::Target { .. }) {
                                self.may_write(pointer.base)?;
                            }
                        }
                        Argument::Address(id) => self.inside.contains(id).then_some(())?,
                        Argument::Workspace => {}
                    }
                }
            }
            Stmt::NoRoom { .. } | Stmt::Return(_) | Stmt::Share(_) => return None,
        }
        Some(())
    }

    fn reads(&mut self, value: &Value) {
        each_local(value, &mut |id| self.reads.push(id));
    }

    /// Notes what is added to an element: `own + a - b + …`.
    fn adds(&mut self, value: &Value, own: &Value) -> Option<()> {
        if value == own {
            return Some(());
        }
        let Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Double, args, .. } = value else { return None };
        self.reads(&args[1]);
        self.adds(&args[0], own)
    }

    /// An array of this iteration's own, or the elements of a `build`.
    fn may_write(&self, base: Id) -> Option<()> {
        (self.apart || self.inside.contains(&base)).then_some(())
    }

    /// Each local that iterations collect, with its operation; `None` where one is changed in two ways, or read.
    pub fn collected(&self) -> Option<Vec<(Id, Prim)>> {
        let mut collected: Vec<(Id, Prim)> = Vec::new();
        for (id, op) in &self.changed {
            match collected.iter().find(|(other, _)| other == id) {
                None => collected.push((*id, *op)),
                Some((_, other)) => (other == op).then_some(())?,
            }
        }
        let count = |ids: &mut dyn Iterator<Item = Id>, id: Id| ids.filter(|other| *other == id).count();
        let alone = |id: Id| count(&mut self.reads.iter().copied(), id) == count(&mut self.changed.iter().map(|(id, _)| *id), id);
        // sums of elements are known at the end, and no other pointer leads to them
        let leads = |other: &Id, id: Id| *other != id && self.homes.of(*other) == self.homes.of(id);
        let is_read = |id: Id| self.reads.contains(&id) || self.reads.iter().chain(&self.added).any(|other| leads(other, id));
        (!self.added.iter().any(|id| is_read(*id))).then_some(())?;
        collected.iter().all(|(id, _)| alone(*id)).then_some(collected)
    }
}

/// The associative operation of `id = id op e`.
fn operation(id: Id, value: &Value) -> Option<Prim> {
    let Value::Prim { prim, elem, plain, args } = value else { return None };
    let first = args.first() == Some(&Value::Local(id));
    let either = first || args.last() == Some(&Value::Local(id));
    let op = match prim {
        Prim::Add | Prim::Mul if either => *prim,
        Prim::Sub if first => Prim::Add,
        Prim::Min | Prim::Max if first => *prim,
        _ => return None,
    };
    // a part of a sum that stays in range need not
    (*elem == Elem::Double || *elem == Elem::Index && (!plain || matches!(op, Prim::Min | Prim::Max))).then_some(op)
}
