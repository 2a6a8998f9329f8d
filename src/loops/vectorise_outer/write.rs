//! Writes the loop whose iterations run in lanes.
//!
//! In: a loop, the parts of its body, and what varies in it. Out: the loop over as many iterations at once as there are lanes.
//! A scalar that only one run of lanes needs stays one; others, and arrays, get an element for each lane.
//!
//!     in lanes: s = x[i]; u = s * s; once: e = exp(q); in lanes: t[c] = u * e
//!       →   local u[32]; for l < 32: s = x[32 i + l]; u[l] = s * s;  e = exp(q);  for l < 32: t[32 c + l] = u[l] * e

use std::collections::{HashMap, HashSet};

use crate::ir::prim::Spelling;
use crate::ir::{Prim, Size};
use crate::loops::builder::counter;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::strips::Strips;
use crate::loops::values::{folded, result_elem};
use crate::loops::visit::{each_change, each_local};
use crate::source::Span;

use super::parts::{Kind, Part, added};
use super::varying::Varying;

/// See the module's head.
pub struct Writer<'a> {
    locals: &'a mut Vec<Local>,
    ranges: &'a mut Ranges,
    varying: &'a Varying<'a>,
    /// The index of an iteration.
    i: Id,
    /// So many run at once.
    width: i64,
    /// The first iteration of those in lanes.
    first: Id,
    /// The scalars with an element for each lane.
    spread: HashMap<Id, Id>,
}

/// A loop over lanes that is being written.
struct Run {
    /// Which lane it is.
    lane: Value,
    /// Its iteration.
    row: Value,
    /// What is before the loop, in it and after it.
    before: Block,
    body: Block,
    after: Block,
    /// What is added to, once for each addition.
    sums: Vec<Id>,
    /// Whether a branch is being written. Nothing moves from there out of the loop: what the branch declares is not in scope
    /// there, and what it reads may be out of range.
    in_branch: bool,
}

impl<'a> Writer<'a> {
    pub fn new(locals: &'a mut Vec<Local>, ranges: &'a mut Ranges, varying: &'a Varying<'a>, i: Id, width: i64) -> Writer<'a> {
        Writer { locals, ranges, varying, i, width, first: i, spread: HashMap::new() }
    }

    /// The loop with these parts, and one for the iterations that are left.
    pub fn write(mut self, stmt: &Stmt, parts: Vec<Part>) -> Option<Block> {
        let Stmt::For { count, size, apart, .. } = stmt else { return None };
        let width = Value::Index(self.width);
        let strips = Strips::of(count, self.width, "each in a lane", self.locals, self.ranges);
        let blocks = strips.blocks.clone();
        let mut out = Vec::from_iter(strips.declared.clone());
        let block = counter("block", &blocks, self.locals, self.ranges);
        let init = folded(Prim::Mul, Value::Local(block), width);
        self.first = self.scalar("first", Elem::Index, false);
        self.ranges.insert(self.first, self.ranges.of(&init));
        let mut shared = Shared::default();
        shared.parts(&parts);
        let mut body = vec![Stmt::Declare { id: self.first, init: Some(init) }];
        self.parts(parts, &shared, &mut body)?;
        let mut varies = false;
        each_use(&body[1..], &mut |id| varies |= id == self.first);
        varies.then_some(())?;
        align(&mut body, self.width, false);
        let (size, apart) = (size.clone(), *apart);
        out.push(Stmt::For { i: block, var: None, count: blocks, size, body, lanes: Lanes::One, apart });
        out.extend(strips.rest(stmt, self.locals, self.ranges));
        Some(out)
    }

    fn parts(&mut self, parts: Vec<Part>, shared: &Shared, out: &mut Block) -> Option<()> {
        for part in parts {
            match part {
                Part::Once(Stmt::Room(mut room)) if self.varying.has_array(room.id) => {
                    room.dims.push(Size::constant(self.width));
                    room.counts.push(Value::Index(self.width));
                    out.push(Stmt::Room(room));
                }
                Part::Once(Stmt::Point { id, to: PointerValue::To(Pointer { base, offset }) }) if self.varying.has_array(base) => {
                    let offset = offset.map(|offset| Value::in_row(offset, Value::Index(self.width), Value::Index(0)));
                    out.push(Stmt::Point { id, to: PointerValue::To(Pointer { base, offset }) });
                }
                Part::Once(stmt) => out.push(stmt),
                Part::Declare(id) => {
                    let room = self.spread_out(id);
                    out.push(room);
                }
                Part::Around(mut stmt, blocks) => {
                    for (block, parts) in stmt.blocks_mut().zip(blocks) {
                        block.clear();
                        self.parts(parts, shared, block)?;
                    }
                    out.push(stmt);
                }
                Part::Lanes(stmts, kind) => self.lanes(stmts, kind, shared, out)?,
            }
        }
        Some(())
    }

    /// A loop over the lanes, with its declarations before it and its reductions after it.
    fn lanes(&mut self, stmts: Vec<Stmt>, kind: Kind, shared: &Shared, out: &mut Block) -> Option<()> {
        let lane = counter("lane", &Value::Index(self.width), self.locals, self.ranges);
        let mut run = Run {
            lane: Value::Local(lane),
            row: Value::Local(self.i),
            before: Vec::new(),
            body: Vec::new(),
            after: Vec::new(),
            sums: Vec::new(),
            in_branch: false,
        };
        let mut reads_row = false;
        each_use(&stmts, &mut |id| reads_row |= id == self.i);
        if reads_row {
            self.row(&mut run);
        }
        for stmt in stmts {
            if let Stmt::Declare { id, .. } = stmt
                && shared.between.contains(&id)
            {
                let room = self.spread_out(id);
                run.before.push(room);
            }
            self.stmt(stmt, &mut run)?;
        }
        out.append(&mut run.before);
        let is_once = |sum: &Id| run.sums.iter().filter(|other| *other == sum).count() == 1;
        let lanes = match (kind, run.sums.is_empty()) {
            (Kind::Apart, true) => Lanes::Any,
            (Kind::Apart, false) if run.sums.iter().all(is_once) => Lanes::Sum(run.sums.clone()),
            _ => Lanes::One,
        };
        let (count, apart) = (Value::Index(self.width), kind == Kind::Apart && run.sums.is_empty());
        out.push(Stmt::For { i: lane, var: None, count, size: None, body: run.body, lanes, apart });
        out.append(&mut run.after);
        Some(())
    }

    /// Declares the iteration of a lane.
    fn row(&mut self, run: &mut Run) {
        let at = folded(Prim::Add, Value::Local(self.first), run.lane.clone());
        run.row = Value::Local(self.row_of(at, &mut run.body));
    }

    /// An index of an iteration, declared at the beginning of a block.
    fn row_of(&mut self, at: Value, body: &mut Block) -> Id {
        let (name, range) = (self.locals[self.i].name.clone(), self.ranges.get(self.i));
        let row = self.scalar(&name, Elem::Index, false);
        range.into_iter().for_each(|range| self.ranges.insert(row, range));
        body.insert(0, Stmt::Declare { id: row, init: Some(at) });
        row
    }

    fn stmt(&mut self, stmt: Stmt, run: &mut Run) -> Option<()> {
        match stmt {
            Stmt::Declare { id, init } => {
                let init = init.map(|init| self.value(&init, run));
                run.body.push(match (self.spread.get(&id), init) {
                    (Some(array), Some(value)) => store(*array, Some(run.lane.clone()), value),
                    (_, init) => Stmt::Declare { id, init },
                });
            }
            Stmt::Assign { place: Place::Local(id), value } if self.varying.declares(id) => {
                let value = self.value(&value, run);
                run.body.push(match self.spread.get(&id) {
                    Some(array) => store(*array, Some(run.lane.clone()), value),
                    None => Stmt::Assign { place: Place::Local(id), value },
                });
            }
            Stmt::Assign { place: Place::Local(id), value } => self.add(id, &added(&value, &Value::Local(id))?, run),
            Stmt::Assign { place: Place::Element { base, offset }, value } if self.varying.is_outside(base) => {
                self.outside(base, offset, &value, run, &|base, offset, value| store(base, offset, value));
            }
            Stmt::Update { base, offset, value } if self.varying.is_outside(base) => {
                self.outside(base, Some(offset), &value, run, &|base, offset, value| match offset {
                    Some(offset) => Stmt::Update { base, offset, value },
                    None => store(base, None, value),
                });
            }
            Stmt::Assign { place: Place::Element { base, offset }, value } => {
                let (offset, value) = (self.offset(base, offset.as_ref(), run), self.value(&value, run));
                run.body.push(store(base, offset, value));
            }
            Stmt::Update { base, offset, value } => {
                let (offset, value) = (self.offset(base, Some(&offset), run)?, self.value(&value, run));
                run.body.push(Stmt::Update { base, offset, value });
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.value(&cond, run);
                let before = std::mem::take(&mut run.body);
                let around = std::mem::replace(&mut run.in_branch, true);
                let mut branch = |stmts: Block| -> Option<Block> {
                    stmts.into_iter().try_for_each(|stmt| self.stmt(stmt, run))?;
                    Some(std::mem::take(&mut run.body))
                };
                let (then, otherwise) = (branch(then)?, branch(otherwise)?);
                run.in_branch = around;
                run.body = before;
                run.body.push(Stmt::If { cond, then, otherwise });
            }
            Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Point { .. }
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => return None,
        }
        Some(())
    }

    /// An element of an array outside: where all lanes add to one, a sum is added after the loop.
    fn outside(&mut self, base: Id, offset: Option<Value>, value: &Value, run: &mut Run, put: &dyn Fn(Id, Option<Value>, Value) -> Stmt) {
        let own = Value::Load { base, offset: offset.clone().map(Box::new) };
        let is_one = !offset.as_ref().is_some_and(|offset| self.varying.is_in(offset));
        if let (true, Some(more)) = (is_one && !run.in_branch, added(value, &own)) {
            let total = self.scalar("total", Elem::Double, true);
            run.before.push(Stmt::Declare { id: total, init: Some(Value::Double(0.0)) });
            self.add(total, &more, run);
            run.after.push(put(base, offset, sum_of(own, Value::Local(total))));
            return;
        }
        let offset = offset.map(|offset| self.value(&offset, run));
        let stored = put(base, offset, self.value(value, run));
        run.body.push(stored);
    }

    /// Adds what an iteration gives to a sum.
    fn add(&mut self, sum: Id, more: &Value, run: &mut Run) {
        let more = self.value(more, run);
        run.sums.push(sum);
        run.body.push(Stmt::Assign { place: Place::Local(sum), value: sum_of(Value::Local(sum), more) });
    }

    /// An expression with what a lane has in the place of what differs; a function of what does not is called once.
    fn value(&mut self, value: &Value, run: &mut Run) -> Value {
        match value {
            Value::Prim { prim, elem: Elem::Double, .. } if is_call(*prim) && !self.varying.is_in(value) && !run.in_branch => {
                let once = self.scalar(&format!("{}_once", prim.row().name), result_elem(*prim, Elem::Double), false);
                run.before.push(Stmt::Declare { id: once, init: Some(value.clone()) });
                return Value::Local(once);
            }
            Value::Local(id) if *id == self.i => return run.row.clone(),
            Value::Local(id) => {
                if let Some(array) = self.spread.get(id) {
                    return Value::Load { base: *array, offset: Some(Box::new(run.lane.clone())) };
                }
            }
            Value::Load { base, offset } => {
                let offset = self.offset(*base, offset.as_deref(), run);
                return Value::Load { base: *base, offset: offset.map(Box::new) };
            }
            _ => {}
        }
        let mut new = value.clone();
        new.parts_mut().iter_mut().for_each(|part| *part = self.value(part, run));
        new
    }

    /// Where an element is: those of all lanes lie side by side.
    fn offset(&mut self, base: Id, offset: Option<&Value>, run: &mut Run) -> Option<Value> {
        let offset = offset.map(|offset| self.value(offset, run));
        if !self.varying.has_array(base) {
            return offset;
        }
        let Some(offset) = offset else { return Some(run.lane.clone()) };
        Some(Value::in_row(offset, Value::Index(self.width), run.lane.clone()))
    }

    /// An array with an element of a scalar for each lane.
    fn spread_out(&mut self, id: Id) -> Stmt {
        let Local { name, elem, .. } = self.locals[id].clone();
        self.locals.push(Local { name, elem, form: Form::Target { mutable: false }, note: None });
        let array = self.locals.len() - 1;
        self.spread.insert(id, array);
        Stmt::Room(Room {
            id: array,
            elem,
            dims: vec![Size::constant(self.width)],
            counts: vec![Value::Index(self.width)],
            aligned: false,
            span: Span::NONE,
        })
    }

    fn scalar(&mut self, name: &str, elem: Elem, mutable: bool) -> Id {
        self.locals.push(Local { name: name.into(), elem, form: Form::Scalar { mutable }, note: None });
        self.locals.len() - 1
    }
}

/// Aligns each array of lanes that does not follow another one directly. `is_aligned`: what stands before ends where a cache line does.
fn align(block: &mut Block, width: i64, mut is_aligned: bool) {
    for stmt in block {
        if let Stmt::Room(room) = stmt
            && room.few().is_none()
        {
            let has_lanes = room.counts.last() == Some(&Value::Index(width)) && matches!(room.elem, Elem::Double | Elem::Index);
            room.aligned = has_lanes && !is_aligned;
            is_aligned = has_lanes;
        }
        stmt.blocks_mut().for_each(|block| align(block, width, is_aligned));
    }
}

/// Whether a primitive calls a function of `math.h`.
fn is_call(prim: Prim) -> bool {
    matches!(prim.row().c, Spelling::Call(_))
}

fn store(base: Id, offset: Option<Value>, value: Value) -> Stmt {
    Stmt::Assign { place: Place::Element { base, offset }, value }
}

fn sum_of(a: Value, b: Value) -> Value {
    Value::Prim { prim: Prim::Add, elem: Elem::Double, plain: true, args: vec![a, b] }
}

/// The scalars that more than one loop over lanes needs.
#[derive(Default)]
struct Shared {
    /// In which loop each was met first.
    first: HashMap<Id, usize>,
    between: HashSet<Id>,
    loops: usize,
}

impl Shared {
    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Around(_, blocks) => blocks.iter().for_each(|parts| self.parts(parts)),
                Part::Lanes(stmts, _) => {
                    self.loops += 1;
                    each_use(stmts, &mut |id| {
                        if *self.first.entry(id).or_insert(self.loops) != self.loops {
                            self.between.insert(id);
                        }
                    });
                }
                Part::Once(_) | Part::Declare(_) => {}
            }
        }
    }
}

/// Calls `f` on each local that statements read or change.
fn each_use(block: &[Stmt], f: &mut dyn FnMut(Id)) {
    each_change(block, f);
    for stmt in block {
        match stmt {
            Stmt::Declare { init: Some(value), .. } | Stmt::Assign { place: Place::Local(_), value } => each_local(value, f),
            Stmt::Assign { place: Place::Element { offset, .. }, value } => {
                offset.iter().for_each(|offset| each_local(offset, f));
                each_local(value, f);
            }
            Stmt::Update { offset, value, .. } => {
                each_local(offset, f);
                each_local(value, f);
            }
            Stmt::If { cond, .. } => each_local(cond, f),
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
        stmt.blocks().for_each(|block| each_use(block, f));
    }
}
