//! `--parallel`: which loops threads share.
//!
//! In: a function's statements. Out: the same, where the outermost loops whose iterations do not depend on each
//! other are shared: each thread runs a part of the iterations in their order. Iterations are independent in a
//! `build`, where each writes elements of its own, and in a reduction, which changes nothing but locals by an
//! associative operation; each part then has locals of its own, which are joined in order.
//!
//!     for i < n: out[i] = f(v[i])     shared
//!     for i < n: s = s + v[i]         shared: a part adds to a local of its own
//!     for i < n: s = s * 0.5 + v[i]   one after the other
//!
//! A part that needs room has a slice of the workspace for itself. Left alone are loops of few iterations of
//! literal number, loops whose slices differ from turn to turn of a loop around them, sums over the rows of a
//! matrix into an array, and, where rounding is as written, sums and products of Doubles.

use std::collections::HashSet;
use std::rc::Rc;

use crate::ir::{Prim, Size, Var};
use crate::source::Span;

use super::LowerOptions;
use super::call::can_fail;
use super::clean::{each_in_pointer, each_local};
use super::context::{Lowerer, Result};
use super::program::*;
use super::workspace::{Part, measure_part};

/// A literal number of iterations below this is not worth sharing, whatever each costs.
const FEW: i64 = 64;

/// The work of a whole loop of literal size that is worth a second thread; as SMOOTH_WORTH in `runtime/parallel.h`.
const WORTH: f64 = 2.0 * 50_000.0;

/// Shares the loops of a function's body; gives the measures of their slices. `lengths` are the sizes of arrays.
pub fn share(
    lowerer: &mut Lowerer,
    name: &Rc<str>,
    body: &mut Block,
    params: &[(Id, Option<Var>)],
    lengths: Vec<Var>,
    options: &LowerOptions,
) -> Result<Vec<PartMeasure>> {
    let mut sharer = Sharer { lowerer, name, params, lengths, keeps_sums: options.strict_fp, around: Vec::new(), slices: Vec::new() };
    sharer.block(body)?;
    Ok(sharer.slices)
}

impl Lowerer<'_> {
    /// Says of the loop just written that each iteration writes elements of its own and nothing else.
    pub fn set_apart(&mut self) {
        if let Some(Stmt::For { apart, .. }) = self.blocks.last_mut().and_then(|block| block.last_mut()) {
            *apart = true;
        }
    }
}

struct Sharer<'s, 'l> {
    lowerer: &'s mut Lowerer<'l>,
    name: &'s Rc<str>,
    params: &'s [(Id, Option<Var>)],
    lengths: Vec<Var>,
    keeps_sums: bool,
    /// The indices of the loops around.
    around: Vec<Var>,
    slices: Vec<PartMeasure>,
}

impl Sharer<'_, '_> {
    fn block(&mut self, block: &mut Block) -> Result<()> {
        for stmt in block {
            if let Some(share) = self.shared(stmt)? {
                *stmt = Stmt::Share(share);
                continue;
            }
            match stmt {
                Stmt::For { var, body, .. } => {
                    let depth = self.around.len();
                    self.around.extend(var.clone());
                    self.block(body)?;
                    self.around.truncate(depth);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.block(then)?;
                    self.block(otherwise)?;
                }
                Stmt::Scope(body) => self.block(body)?,
                Stmt::Share(_)
                | Stmt::Declare { .. }
                | Stmt::Point { .. }
                | Stmt::Assign { .. }
                | Stmt::Fail { .. }
                | Stmt::NoRoom { .. }
                | Stmt::Room(_)
                | Stmt::Invoke(_)
                | Stmt::Rotate(_)
                | Stmt::Return(_) => {}
            }
        }
        Ok(())
    }

    /// The loop as one that threads share, where they may and it can be worth it.
    fn shared(&mut self, stmt: &Stmt) -> Result<Option<Share>> {
        let Stmt::For { i, count, size, body, lanes, apart, .. } = stmt else { return Ok(None) };
        if matches!(count, Value::Index(count) if *count < FEW) {
            return Ok(None);
        }
        let mut effects =
            Effects { locals: &self.lowerer.locals, apart: *apart, inside: inside(body), changed: Vec::new(), reads: Vec::new() };
        effects.inside.insert(*i);
        if effects.block(body).is_none() {
            return Ok(None);
        }
        let Some(collected) = effects.collected() else { return Ok(None) };
        let sums_doubles = |(id, op): &(Id, Prim)| matches!(op, Prim::Add | Prim::Mul) && self.lowerer.locals[*id].elem == Elem::Double;
        if *apart && !collected.is_empty() || self.keeps_sums && collected.iter().any(sums_doubles) {
            return Ok(None);
        }
        // where a part fails the others go on to their ends, which must not be far
        if can_fail(body) && !*apart && !self.is_bounded(size.as_ref()) {
            return Ok(None);
        }
        let work = super::work::of_block(body, self.lowerer.done, &|id| !effects.inside.contains(&id));
        if let (Value::Index(count), Value::Double(work)) = (count, &work)
            && *count as f64 * work < WORTH
        {
            return Ok(None);
        }
        let slice = match measure_part(self.lowerer, self.name, stmt, self.params, &self.around)? {
            Part::Varies => return Ok(None),
            Part::Nothing => None,
            Part::Needs(measure, args) => {
                self.slices.push(PartMeasure { args: args.clone(), measure });
                Some(Slice { number: self.slices.len() - 1, args })
            }
        };
        let mut share = Share {
            i: *i,
            count: count.clone(),
            body: body.clone(),
            lanes: lanes.clone(),
            work,
            slice,
            totals: Vec::new(),
            span: Span::NONE,
        };
        for (id, op) in collected {
            let total = self.total(id, op);
            rename(&mut share.body, id, total.part);
            rename_lanes(&mut share.lanes, id, total.part);
            share.totals.push(total);
        }
        Ok(Some(share))
    }

    /// Whether a count is the length of an array, or a literal.
    fn is_bounded(&self, size: Option<&Size>) -> bool {
        size.is_some_and(|size| size.as_constant().is_some() || size.as_var().is_some_and(|var| self.lengths.contains(var)))
    }

    fn total(&mut self, id: Id, op: Prim) -> Total {
        let Local { name, elem, .. } = self.lowerer.locals[id].clone();
        let part = self.lowerer.local(&format!("part_{name}"), elem, Form::Scalar { mutable: true });
        let neutral = match (op, elem) {
            (Prim::Mul, Elem::Double) => Value::Double(1.0),
            (Prim::Min, Elem::Double) => Value::Double(f64::INFINITY),
            (Prim::Max, Elem::Double) => Value::Double(f64::NEG_INFINITY),
            (_, Elem::Double) => Value::Double(0.0),
            (Prim::Mul, _) => Value::Index(1),
            (Prim::Min, _) => Value::Index(i64::MAX),
            (Prim::Max, _) => Value::Index(i64::MIN),
            (_, _) => Value::Index(0),
        };
        let joined = Value::Prim { prim: op, elem, plain: elem == Elem::Double, args: vec![Value::Local(id), Value::Local(part)] };
        Total { id, part, neutral, joined }
    }
}

/// What is declared in a block.
fn inside(block: &[Stmt]) -> HashSet<Id> {
    let mut found = HashSet::new();
    for stmt in block {
        match stmt {
            Stmt::Declare { id, .. } | Stmt::Point { id, .. } | Stmt::Room(Room { id, .. }) => {
                found.insert(*id);
            }
            Stmt::For { i: id, .. } | Stmt::Share(Share { i: id, .. }) => {
                found.insert(*id);
            }
            _ => {}
        }
        found.extend(stmt.blocks().flat_map(|block| inside(block)));
    }
    found
}

/// What a loop's body does to what is outside.
struct Effects<'a> {
    locals: &'a [Local],
    apart: bool,
    inside: HashSet<Id>,
    /// The locals outside that it changes, and by which operation.
    changed: Vec<(Id, Prim)>,
    /// Each reading of a local, as often as it is read.
    reads: Vec<Id>,
}

impl Effects<'_> {
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
                self.reads(value);
                offset.iter().for_each(|offset| self.reads(offset));
                self.may_write(*base)?;
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

    /// An array of this iteration's own, or the elements of a `build`.
    fn may_write(&self, base: Id) -> Option<()> {
        (self.apart || self.inside.contains(&base)).then_some(())
    }

    /// Each local that iterations collect, with its operation; `None` where one is changed in two ways, or read.
    fn collected(&self) -> Option<Vec<(Id, Prim)>> {
        let mut collected: Vec<(Id, Prim)> = Vec::new();
        for (id, op) in &self.changed {
            match collected.iter().find(|(other, _)| other == id) {
                None => collected.push((*id, *op)),
                Some((_, other)) => (other == op).then_some(())?,
            }
        }
        let count = |ids: &mut dyn Iterator<Item = Id>, id: Id| ids.filter(|other| *other == id).count();
        let alone = |id: Id| count(&mut self.reads.iter().copied(), id) == count(&mut self.changed.iter().map(|(id, _)| *id), id);
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

/// Puts a part's local in the place of the total that statements collect.
fn rename(block: &mut Block, from: Id, to: Id) {
    for stmt in block {
        match stmt {
            Stmt::Assign { place: Place::Local(id), value: Value::Prim { args, .. } } if *id == from => {
                *id = to;
                args.iter_mut().filter(|arg| **arg == Value::Local(from)).for_each(|arg| *arg = Value::Local(to));
            }
            Stmt::For { lanes, .. } => rename_lanes(lanes, from, to),
            _ => {}
        }
        stmt.blocks_mut().for_each(|block| rename(block, from, to));
    }
}

fn rename_lanes(lanes: &mut Lanes, from: Id, to: Id) {
    match lanes {
        Lanes::Sum(ids) => ids.iter_mut().filter(|id| **id == from).for_each(|id| *id = to),
        Lanes::One | Lanes::Any | Lanes::Tile(_) => {}
    }
}
