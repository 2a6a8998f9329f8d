//! Whether a loop program is well-formed: asked after lowering and after every pass over loops, in debug builds and tests.
//!
//! In: a function, and the functions that it may call. Out: nothing, or what is wrong with it and where:
//!
//!     for i < n { out[j] = 0.0 }   →   `j` is not in scope, in `out[j] = 0.0`
//!
//! Checked: a local is declared once and used in its block only (`scope`); expressions, stores, pointers and calls have the types
//! that they need (`types`, `call`); a scalar is read only where it has a value on every path, an array only where something may
//! have been written, and no pointer outlives the room that it leads to (`memory`); no access is outside of its array whatever the
//! arguments are (`inside`); tiles and shared loops name all that they use (`share`). One walk, whose time is about linear in the size of
//! the function.

mod call;
mod inside;
mod memory;
mod scope;
mod share;
mod types;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::print;
use super::program::*;
use super::visit::each_local;
use crate::ir::{Size, Status, ambient};

use memory::Memory;
use scope::Scopes;

/// What is wrong.
type Checked = std::result::Result<(), String>;

/// What a block of the program is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A function, which takes workspace and gives a status.
    Body,
    /// What measures workspace, and returns a number of bytes.
    Measure,
}

/// Whether a function is well-formed, with its measures where it has some; `done` are its callees.
pub fn function(function: &LoopFunction, done: &[LoopFunction]) -> Checked {
    let place = |problem: String| format!("in `{}`: {problem}", function.name);
    body(function, done).map_err(place)?;
    for measure in std::iter::once(&function.workspace).chain(function.slices.iter().map(|slice| &slice.measure)) {
        measured(function, measure, done).map_err(|problem| place(format!("in its measure: {problem}")))?;
    }
    Ok(())
}

fn body(function: &LoopFunction, done: &[LoopFunction]) -> Checked {
    let mut verifier = Verifier::new(function, &function.locals, done, Kind::Body, &function.body);
    for param in &function.params {
        let wanted = match param.role {
            Role::Size | Role::Scalar => "a constant",
            Role::Array(_) => "a pointer that is read",
            Role::OutScalar | Role::OutArray(_) => "a pointer that is written",
        };
        let form = verifier.local(param.id)?.form;
        let fits = match param.role {
            Role::Size | Role::Scalar => form == Form::Scalar { mutable: false },
            Role::Array(_) => matches!(form, Form::Source { .. }),
            Role::OutScalar | Role::OutArray(_) => matches!(form, Form::Target { .. }),
        };
        verifier.ensure(fits, || format!("the parameter `{}` is not {wanted}", verifier.name(param.id)))?;
        verifier.scopes.declare(param.id)?;
        if let Role::Array(dims) | Role::OutArray(dims) = &param.role {
            verifier.has_elements(param.id, literal_length(dims));
        }
        match param.role {
            Role::Size | Role::Scalar => verifier.memory.set(param.id),
            Role::Array(_) => verifier.memory.given(param.id),
            Role::OutScalar | Role::OutArray(_) => verifier.memory.made(param.id, 0),
        }
    }
    verifier.block(&function.body)
}

fn measured(function: &LoopFunction, measure: &Workspace, done: &[LoopFunction]) -> Checked {
    let mut verifier = Verifier::new(function, &measure.locals, done, Kind::Measure, &measure.body);
    for id in measure.all_params() {
        verifier.scalar(id)?;
        verifier.scopes.declare(id)?;
        verifier.memory.set(id);
    }
    verifier.block(&measure.body)
}

struct Verifier<'a> {
    function: &'a LoopFunction,
    locals: &'a [Local],
    done: &'a [LoopFunction],
    kind: Kind,
    scopes: Scopes<'a>,
    memory: Memory,
    /// How many loops around have no steps.
    idle: usize,
    /// Whether nothing is before but checks of the function's arguments.
    entering: bool,
    /// How many branches around, and checks before, may keep a statement from being reached.
    unsure: usize,
    /// The numbers of elements of arrays whose lengths are literals.
    lengths: HashMap<Id, i64>,
}

impl<'a> Verifier<'a> {
    fn new(function: &'a LoopFunction, locals: &'a [Local], done: &'a [LoopFunction], kind: Kind, body: &[Stmt]) -> Verifier<'a> {
        let (scopes, memory) = (Scopes::new(locals), Memory::new(locals.len(), body));
        Verifier { function, locals, done, kind, scopes, memory, idle: 0, entering: true, unsure: 0, lengths: HashMap::new() }
    }

    fn ensure(&self, holds: bool, problem: impl FnOnce() -> String) -> Checked {
        if holds { Ok(()) } else { Err(problem()) }
    }

    fn name(&self, id: Id) -> &str {
        self.locals.get(id).map_or("?", |local| &local.name)
    }

    fn local(&self, id: Id) -> Result<&'a Local, String> {
        self.locals.get(id).ok_or_else(|| format!("there is no local {id}"))
    }

    fn block(&mut self, block: &[Stmt]) -> Checked {
        self.scopes.open();
        for stmt in block {
            self.stmt(stmt).map_err(|problem| match problem.contains(", in `") {
                // the innermost statement says it best
                true => problem,
                false => format!("{problem}, in `{}`", print::first_line(stmt, self.locals)),
            })?;
        }
        self.scopes.close();
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Checked {
        self.entering &= matches!(stmt, Stmt::Fail { .. });
        match stmt {
            Stmt::Declare { id, init } => {
                let elem = self.scalar(*id)?;
                if let Some(init) = init {
                    self.value(init, elem)?;
                    self.memory.set(*id);
                }
                self.scopes.declare(*id)
            }
            Stmt::Point { id, to } => self.point(*id, to),
            Stmt::Assign { place: Place::Local(id), value } => {
                let elem = self.variable(*id)?;
                self.value(value, elem)?;
                self.memory.set(*id);
                Ok(())
            }
            Stmt::Assign { place: Place::Element { base, offset }, value } => self.store(*base, offset.as_ref(), value),
            Stmt::Update { base, offset, value } => self.store(*base, Some(offset), value),
            Stmt::For { i, count, body, lanes, .. } => {
                if !self.scopes.is_shared(*i) {
                    self.value(count, Elem::Index)?;
                }
                self.repeat(*i, count, body, lanes)
            }
            Stmt::While { cond, body } => {
                self.value(cond, Elem::Bool)?;
                self.memory.enter(false);
                self.unsure += 1;
                self.block(body)?;
                self.unsure -= 1;
                self.memory.leave().map_err(|id| format!("`{}` is read and nothing was written to it", self.name(id)))
            }
            Stmt::Share(share) => self.share(share),
            Stmt::If { cond, then, otherwise } => {
                self.value(cond, Elem::Bool)?;
                self.memory.branch();
                self.unsure += 1;
                self.block(then)?;
                self.memory.other_branch();
                self.block(otherwise)?;
                self.unsure -= 1;
                self.memory.join();
                Ok(())
            }
            Stmt::Fail { cond, status } => {
                self.ensure(self.kind == Kind::Body, || "a measure has no status".into())?;
                self.value(cond, Elem::Bool)?;
                let mut asks = false;
                each_local(cond, &mut |_| asks = true);
                self.unsure += usize::from(!self.entering || *status == Status::Bounds || !asks);
                self.memory.fail(*cond == Value::Bool(true));
                Ok(())
            }
            Stmt::NoRoom { cond } => {
                self.ensure(self.kind == Kind::Body && self.function.is_entry, || "only an entry is given a length of workspace".into())?;
                self.value(cond, Elem::Bytes)
            }
            Stmt::Room(room) => {
                self.ensure(self.kind == Kind::Body, || "a measure has no workspace".into())?;
                self.array(room)
            }
            Stmt::Invoke(call) => self.invoke(call),
            Stmt::Rotate(ids) => self.rotate(ids),
            Stmt::Scope(body) => self.block(body),
            Stmt::Return(value) => {
                self.ensure(self.kind == Kind::Measure, || "only a measure returns a value".into())?;
                self.value(value, Elem::Bytes)
            }
        }
    }

    /// A loop after its count.
    fn repeat(&mut self, i: Id, count: &Value, body: &[Stmt], lanes: &Lanes) -> Checked {
        let elem = self.scalar(i)?;
        self.ensure(elem == Elem::Index, || format!("the loop's `{}` is no index", self.name(i)))?;
        if let Lanes::Sum(ids) = lanes {
            ids.iter().try_for_each(|id| self.variable(*id).map(|_| ()))?;
        }
        self.scopes.open();
        self.scopes.declare(i)?;
        self.scopes.fix(i);
        let is_idle = matches!(count, Value::Index(..=0));
        self.idle += usize::from(is_idle);
        self.memory.enter(matches!(count, Value::Index(1..)));
        self.memory.set(i);
        if let Lanes::Tile(tiles) = lanes {
            self.tiles(tiles, body)?;
        }
        self.block(body)?;
        match self.memory.leave() {
            Err(id) if self.idle == 0 => return Err(format!("`{}` is read and nothing was written to it", self.name(id))),
            Ok(()) | Err(_) => self.idle -= usize::from(is_idle),
        }
        self.scopes.close();
        Ok(())
    }

    /// An array in the workspace.
    fn array(&mut self, room: &Room) -> Checked {
        let local = self.local(room.id)?;
        let fits = matches!(local.form, Form::Target { .. }) && local.elem == room.elem;
        self.ensure(fits, || format!("`{}` is not a pointer to what its room holds", local.name))?;
        self.ensure(room.dims.len() == room.counts.len(), || {
            format!("`{}` has {} lengths and {} counts", local.name, room.dims.len(), room.counts.len())
        })?;
        for (size, count) in room.dims.iter().zip(&room.counts) {
            self.value(count, Elem::Index)?;
            if let (Some(size), Value::Index(count)) = (size.as_constant(), count) {
                self.ensure(size == *count, || format!("`{}` has length {size} and count {count}", local.name))?;
            }
        }
        self.has_elements(room.id, literal_length(&room.dims));
        self.scopes.declare(room.id)?;
        self.memory.made(room.id, self.scopes.depth());
        // an array without elements has all of them; of stacks and nodes what is read was written, which only their counters say
        let is_stack = |size: &Size| size.mentions(&ambient::deeper());
        if room.dims.iter().any(|size| size.as_constant() == Some(0) || is_stack(size)) {
            self.memory.given(room.id);
        }
        Ok(())
    }

    fn point(&mut self, id: Id, to: &PointerValue) -> Checked {
        match to {
            PointerValue::To(pointer) => self.pointer(pointer, id)?,
            PointerValue::Select(cond, a, b) => {
                self.value(cond, Elem::Bool)?;
                self.pointer(a, id)?;
                self.pointer(b, id)?;
                self.memory.aims(id, b.base);
            }
        }
        let (PointerValue::To(first) | PointerValue::Select(_, first, _)) = to;
        self.memory.aims(id, first.base);
        self.scopes.declare(id)
    }

    /// What pointers change places with lives as long as each of them.
    fn rotate(&mut self, ids: &[Id]) -> Checked {
        self.ensure(ids.len() > 1, || "one pointer has nothing to change places with".into())?;
        let first = self.local(ids[0])?;
        for id in ids {
            self.scopes.used(*id)?;
            let local = self.local(*id)?;
            let moves = matches!(local.form, Form::Source { mutable: true } | Form::Target { mutable: true });
            self.ensure(moves, || format!("`{}` is no pointer that moves", local.name))?;
            self.ensure(local.elem == first.elem && local.form == first.form, || {
                format!("`{}` and `{}` are not of one type", first.name, local.name)
            })?;
        }
        let shortest = ids.iter().map(|id| self.memory.life(*id)).max().unwrap_or(0);
        for id in ids {
            self.ensure(self.scopes.depth_of(*id) >= shortest, || format!("`{}` would outlive the room that it is given", self.name(*id)))?;
        }
        ids.iter().for_each(|id| self.memory.aims(*id, ids[0]));
        Ok(())
    }
}
