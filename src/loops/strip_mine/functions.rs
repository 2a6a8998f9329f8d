//! Functions between loops: what an iteration sums up goes into functions of `math.h`, and what these give into further loops.
//!
//! In: the statements of an iteration. Out: the same, where each number that goes from loops to functions, or from functions to
//! loops, is stored in an array of one element, so that the functions can be a stage of their own, which runs in lanes; `None` where
//! there are no such functions.
//!
//!     s = 0; for k: s += w[k] * x[i][k]; t = exp(s) - y[i]; for k: out[k] += t * x[i][k]
//!       →   s = 0; for k: s += w[k] * x[i][k]; s_rows[0] = s | s = s_rows[0]; t_rows[0] = exp(s) - y[i] | t = t_rows[0]; for k: …
//!
//! What is read outside of the iteration is read again. Limits: the functions have a form for vectors; the loops are no nests and have
//! no functions in them.

use std::collections::HashSet;

use crate::ir::{Prim, Size};
use crate::source::Span;

use super::rows::FEW;
use crate::loops::analysis::effects::inside;
use crate::loops::analysis::homes::Homes;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::rename::rename;
use crate::loops::values::has_vector_form;
use crate::loops::visit::{each_change, each_local, each_value, each_written, mentions};

/// See the module's head. `eager`: whether loops of few iterations count.
pub fn apart(stmts: &[Stmt], homes: &Homes, eager: bool, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Option<Block> {
    let mut written = Vec::new();
    stmts.iter().for_each(|stmt| each_written(stmt, &mut |base| written.push(base)));
    let (parts, inside) = (parts(stmts, eager)?, inside(stmts));
    let mut handing = Handing { parts, rooms: Block::new(), inside, written, homes, locals, ranges };
    for own in 0..handing.parts.len() {
        for id in declared(&handing.parts[own]) {
            handing.hand_on(own, id)?;
        }
    }
    let Handing { mut rooms, parts, .. } = handing;
    (!rooms.is_empty()).then_some(())?;
    rooms.extend(parts.into_iter().flatten());
    Some(rooms)
}

/// The statements in their order: loops, functions of what they gave, further loops, and so on.
fn parts(stmts: &[Stmt], eager: bool) -> Option<Vec<Block>> {
    let mut parts = vec![Block::new()];
    let mut has_loop = false;
    let mut rest = stmts;
    while let Some(first) = rest.first() {
        let is_loop = |stmt: &Stmt| matches!(stmt, Stmt::For { .. });
        let end = rest.iter().position(|stmt| is_loop(stmt) != is_loop(first)).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        rest = behind;
        if is_loop(first) {
            run.iter().all(is_flat).then_some(())?;
            has_loop |= run.iter().any(|stmt| eager || !matches!(stmt, Stmt::For { count: Value::Index(..FEW), .. }));
            parts.last_mut()?.extend_from_slice(run);
            continue;
        }
        let is_plain = |stmt: &Stmt| matches!(stmt, Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::Update { .. } | Stmt::Room(_));
        run.iter().all(is_plain).then_some(())?;
        if !has_functions(run, &|_| true) {
            parts.last_mut()?.extend_from_slice(run);
            continue;
        }
        (!has_functions(run, &|prim| !has_vector_form(prim))).then_some(())?;
        // what the next loops change belongs to them
        let mut changed = Vec::new();
        each_change(behind, &mut |id| changed.push(id));
        let is_later = |stmt: &Stmt| matches!(stmt, Stmt::Declare { id, .. } if changed.contains(id));
        let (later, own): (Block, Block) = run.iter().cloned().partition(is_later);
        parts.extend([own, later]);
    }
    (has_loop && parts.len() > 1).then_some(parts)
}

/// Whether it is a loop without loops, branches or functions in it.
fn is_flat(stmt: &Stmt) -> bool {
    let is_plain = |stmt: &Stmt| matches!(stmt, Stmt::Declare { .. } | Stmt::Assign { .. } | Stmt::Update { .. });
    matches!(stmt, Stmt::For { body, .. } if body.iter().all(is_plain) && !has_functions(body, &|_| true))
}

/// Whether it is nothing but functions and what comes of them.
pub fn are_alone(stmts: &[Stmt]) -> bool {
    has_functions(stmts, &|_| true) && !stmts.iter().any(|stmt| matches!(stmt, Stmt::For { .. }))
}

/// Whether the statements evaluate such functions, loops in them left aside.
fn has_functions(stmts: &[Stmt], wanted: &dyn Fn(Prim) -> bool) -> bool {
    let mut found = false;
    each_value(stmts, &mut |value| found |= matches!(value, Value::Prim { prim, .. } if prim.is_function() && wanted(*prim)));
    found
}

/// The scalars that the statements of a part declare.
fn declared(part: &[Stmt]) -> Vec<Id> {
    part.iter().filter_map(|stmt| if let Stmt::Declare { id, .. } = stmt { Some(*id) } else { None }).collect()
}

/// Parts that hand scalars on.
struct Handing<'a> {
    parts: Vec<Block>,
    /// The arrays of one element.
    rooms: Block,
    /// What the iteration declares.
    inside: HashSet<Id>,
    /// The arrays that it writes.
    written: Vec<Id>,
    homes: &'a Homes,
    locals: &'a mut Vec<Local>,
    ranges: &'a mut Ranges,
}

impl Handing<'_> {
    /// Stores a scalar of a part for the later ones that read it, or reads it again there. `None` where others change it.
    fn hand_on(&mut self, own: usize, id: Id) -> Option<()> {
        let has = |part: &Block| part.iter().any(|stmt| mentions(stmt, id));
        let readers: Vec<usize> = (0..self.parts.len()).filter(|at| *at != own && has(&self.parts[*at])).collect();
        if readers.is_empty() {
            return Some(());
        }
        let mut is_changed = false;
        readers.iter().for_each(|at| each_change(&self.parts[*at], &mut |other| is_changed |= other == id));
        (!is_changed && readers.iter().all(|at| *at > own)).then_some(())?;
        let at = self.parts[own].iter().position(|stmt| matches!(stmt, Stmt::Declare { id: other, .. } if *other == id))?;
        let is_alone = self.parts[own].iter().filter(|stmt| mentions(stmt, id)).count() == 1;
        let init = match &self.parts[own][at] {
            Stmt::Declare { init: Some(init), .. } if self.is_constant(id) && self.is_outside(init) => {
                let init = init.clone();
                if is_alone {
                    self.parts[own].remove(at);
                }
                init
            }
            Stmt::Declare { init, .. } => {
                let Local { name, elem, .. } = &self.locals[id];
                let (rows, elem, init) = (format!("{name}_rows"), *elem, init.clone());
                self.locals.push(Local { name: rows.into(), elem, form: Form::Target { mutable: false }, note: None });
                let array = self.locals.len() - 1;
                let store = |value| Stmt::Assign { place: Place::Element { base: array, offset: Some(Value::Index(0)) }, value };
                match init {
                    Some(init) if is_alone => self.parts[own][at] = store(init),
                    _ => self.parts[own].push(store(Value::Local(id))),
                }
                let (dims, counts) = (vec![Size::constant(1)], vec![Value::Index(1)]);
                self.rooms.push(Stmt::Room(Room { id: array, elem, dims, counts, aligned: false, span: Span::NONE }));
                Value::Load { base: array, offset: Some(Box::new(Value::Index(0))) }
            }
            _ => return None,
        };
        for at in readers {
            self.locals.push(Local { form: Form::Scalar { mutable: false }, ..self.locals[id].clone() });
            let copy = self.locals.len() - 1;
            self.ranges.get(id).into_iter().for_each(|range| self.ranges.insert(copy, range));
            rename(&mut self.parts[at], id, copy);
            self.parts[at].insert(0, Stmt::Declare { id: copy, init: Some(init.clone()) });
        }
        Some(())
    }

    /// Whether a scalar stays what it is declared as: a sum may begin with an element.
    fn is_constant(&self, id: Id) -> bool {
        self.locals[id].form == Form::Scalar { mutable: false }
    }

    /// Whether a value is an element that no part writes, at a place that the index of the iteration says.
    fn is_outside(&self, value: &Value) -> bool {
        let Value::Load { base, .. } = value else { return false };
        let mut is_outside = !self.written.iter().any(|other| self.homes.may_meet(*base, *other));
        each_local(value, &mut |id| is_outside &= !self.inside.contains(&id));
        is_outside
    }
}
