//! Counts bytes: writes the statements of a workspace function.
//!
//! In: [`Demand`]s. Out: a total where only one competes, else a walk that keeps the greatest; lengths that depend on a loop's
//! index are taken at its last iteration, or the loop is run.
//!
//!     Room n, Inner: Room m, Inner: Room n   →   used = 8n; need = most(need, used + 8m); need = most(need, used + 8n)

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ir::{Atom, Prim, Size, Var};
use crate::loops::analysis::sizes::depends_on_data;
use crate::loops::builder::Builder;
use crate::loops::program::*;
use crate::loops::simplify::is_live;
use crate::loops::values::{bytes, more_bytes};
use crate::loops::{Context, Result};
use crate::real::Real;
use crate::source::Span;

use super::demand::{Demand, counts, each_size, is_deepened, is_grown, mentions};

/// The function that counts, while it is being written.
pub struct Counter<'a> {
    pub builder: Builder,
    pub context: &'a Context<'a>,
    /// The local that holds the greatest total so far.
    pub need: Option<Id>,
    /// Variables that are never negative.
    pub natural: HashSet<Var>,
    /// The body's parameters in this function.
    pub old: HashMap<Id, Id>,
    /// The function that is measured.
    pub name: Rc<str>,
    pub arguments: Vec<Id>,
    /// How many calls deeper stacks are, which is 0 where it is no parameter.
    pub deeper: Option<Id>,
    /// The number of threads, which is 1 where it is no parameter.
    pub threads: Option<Id>,
}

impl Counter<'_> {
    /// The total of a single chain.
    pub fn chain(&mut self, needs: &[Demand]) -> Result<Value> {
        let mut total = None;
        for need in needs {
            let bytes = match need {
                Demand::Room { elem, dims, aligned, span } => self.bytes(*elem, dims, *aligned, *span)?,
                Demand::Call(callee, measures, params, span) => self.callee(callee, measures, params, *span)?,
                Demand::Inner(inner) => self.chain(inner)?,
                Demand::Loop { body, .. } => self.chain(body)?,
                Demand::Slices(slice) => self.slices(slice),
            };
            total = Some(plus(total, bytes));
        }
        Ok(total.unwrap_or(Value::Index(0)))
    }

    /// Raises the greatest total so far to each total that competes; `base`: what is taken before.
    pub fn walk(&mut self, needs: &[Demand], base: Option<Value>) -> Result<()> {
        let mut used = base;
        for (k, need) in needs.iter().enumerate() {
            match need {
                Demand::Room { elem, dims, aligned, span } => {
                    let bytes = self.bytes(*elem, dims, *aligned, *span)?;
                    let total = plus(used, bytes);
                    if k + 1 == needs.len() {
                        self.at_least(total);
                        return Ok(());
                    }
                    let followed_by_room = matches!(needs.get(k + 1), Some(Demand::Room { .. }));
                    used = Some(if followed_by_room { total } else { self.builder.constant("used", Elem::Bytes, total) });
                }
                Demand::Call(callee, measures, params, span) => {
                    let bytes = self.callee(callee, measures, params, *span)?;
                    self.at_least(plus(used.clone(), bytes));
                }
                Demand::Slices(slice) => {
                    let bytes = self.slices(slice);
                    self.at_least(plus(used.clone(), bytes));
                }
                Demand::Inner(inner) => self.walk(inner, used.clone())?,
                Demand::Loop { var, size, body } => self.repeat(var.as_ref(), size.as_ref(), body, used.clone())?,
            }
        }
        let has_room = needs.iter().any(|need| matches!(need, Demand::Room { .. }));
        if let (Some(used), true, false) = (used, has_room, needs.last().is_some_and(counts)) {
            self.at_least(used);
        }
        Ok(())
    }

    /// A loop: its body counts when it runs, at the iteration that needs most.
    fn repeat(&mut self, var: Option<&Var>, size: Option<&Size>, body: &[Demand], used: Option<Value>) -> Result<()> {
        let depends = var.is_some_and(|var| mentions(body, var));
        // where data ends the loop, nothing depends on which step it is but what has a greatest length all the same
        let Some(count) = size.and_then(|size| self.builder.size_value(size)) else { return self.walk(body, used) };
        let runs = Value::Prim { prim: Prim::Gt, elem: Elem::Index, plain: true, args: vec![count.clone(), Value::Index(0)] };
        let (Some(var), Some(size), true) = (var, size, depends) else {
            if matches!(count, Value::Index(count) if count > 0) {
                return self.walk(body, used);
            }
            let (then, ()) = self.nested(|this| this.walk(body, used))?;
            self.builder.emit(Stmt::If { cond: runs, then, otherwise: Vec::new() });
            return Ok(());
        };
        self.natural.insert(var.clone());
        // a loop that runs has a positive count
        if let Value::Local(id) = count {
            let range = self.builder.ranges.of(&count);
            self.builder.ranges.insert(id, (range.0.max(1), range.1));
        }
        if let Some(last) = self.last_iteration(body, var, size) {
            let (then, ()) = self.nested(|this| this.walk(&last, used))?;
            self.builder.emit(Stmt::If { cond: runs, then, otherwise: Vec::new() });
            return Ok(());
        }
        let i = self.builder.counter(var.name(), &count);
        self.builder.vars.insert(var.clone(), Value::Local(i));
        let known = self.builder.folds.len();
        let (inner, ()) = self.nested(|this| {
            each_size(body, &mut |size| this.builder.compute_folds(size));
            this.walk(body, used)
        })?;
        self.builder.folds.truncate(known);
        self.builder.emit(Stmt::For { i, var: None, count, size: None, body: inner, lanes: Lanes::One, apart: false });
        Ok(())
    }

    /// The body with the index at its last value, when every length grows with it.
    fn last_iteration(&self, body: &[Demand], var: &Var, size: &Size) -> Option<Vec<Demand>> {
        let last = size.sub(&Size::constant(1));
        let at_last = |length: &Size| -> Option<Size> {
            if !length.mentions(var) {
                return Some(length.clone());
            }
            let grows = length.terms().all(|(monomial, factor)| {
                factor >= 0
                    && monomial.iter().all(|atom| match atom {
                        Atom::Var(var) => self.natural.contains(var),
                        Atom::Term(_) | Atom::Unknown(_) => false,
                    })
            });
            // the last value must be exact: no part of it may wrap
            let at_last = length.replace(var, &last);
            let value = self.builder.size_value(&at_last)?;
            (grows && is_exact(&value)).then_some(at_last)
        };
        body.iter()
            .map(|need| match need {
                Demand::Room { elem, dims, aligned, span } => {
                    let dims = dims.iter().map(at_last).collect::<Option<_>>()?;
                    Some(Demand::Room { elem: *elem, dims, aligned: *aligned, span: *span })
                }
                Demand::Call(..) | Demand::Slices(..) => None,
                Demand::Inner(inner) => self.last_iteration(inner, var, size).map(Demand::Inner),
                Demand::Loop { .. } => None,
            })
            .collect()
    }

    fn nested(&mut self, f: impl FnOnce(&mut Self) -> Result<()>) -> Result<(Block, ())> {
        self.builder.blocks.push(Vec::new());
        let result = f(self);
        let block = self.builder.blocks.pop().unwrap_or_default();
        result.map(|()| (block, ()))
    }

    fn at_least(&mut self, total: Value) {
        if let Some(need) = self.need {
            let value = Value::Helper("smooth_most", vec![Value::Local(need), total]);
            self.builder.emit(Stmt::Assign { place: Place::Local(need), value });
        }
    }

    fn size_value(&self, size: &Size, span: Span) -> Result<Value> {
        self.builder.size_value(size).ok_or_else(|| depends_on_data(span))
    }

    fn bytes(&mut self, elem: Elem, dims: &[Size], aligned: bool, span: Span) -> Result<Value> {
        let most = |size| self.builder.most(size).ok_or_else(|| depends_on_data(span));
        let counts = dims.iter().map(most).collect::<Result<Vec<_>>>()?;
        let bytes = room_bytes(elem, &counts, self.context.options.real);
        Ok(if aligned { plus(Some(bytes), Value::Index(PADDING)) } else { bytes })
    }

    /// A slice for each thread.
    fn slices(&self, slice: &Slice) -> Value {
        let args = slice.args.iter().filter_map(|at| self.arguments.get(*at)).map(|id| Argument::Value(Value::Local(*id)));
        let one = Value::Call(Callee::Slice(self.name.clone(), slice.number), args.collect());
        match self.threads {
            Some(threads) => Value::Helper("smooth_slices", vec![one, Value::Local(threads)]),
            None => one,
        }
    }

    fn callee(&mut self, callee: &Callee, measures: &[Measure], params: &[(Id, Option<Var>)], span: Span) -> Result<Value> {
        let mut args = Vec::new();
        for (measure, (id, _)) in measures.iter().zip(params) {
            if !self.measures(callee, *id) {
                args.push(Argument::Value(Value::Index(0)));
                continue;
            }
            args.push(Argument::Value(match measure {
                Measure::Size(size) => self.size_value(size, span)?,
                Measure::Bool(value) => self.bool_here(value).ok_or_else(|| depends_on_data(span))?,
                Measure::Data => return Err(depends_on_data(span)),
            }));
        }
        if is_deepened(self.context.done, callee) {
            args.push(Argument::Value(self.deeper.map_or(Value::Index(0), Value::Local)));
        }
        if is_grown(self.context.done, callee) {
            args.push(Argument::Value(self.threads.map_or(Value::Index(1), Value::Local)));
        }
        Ok(Value::Call(callee.clone(), args))
    }

    /// Whether a callee's workspace function reads a parameter.
    fn measures(&self, callee: &Callee, id: Id) -> bool {
        let (Callee::Workspace(name) | Callee::Body(name) | Callee::Slice(name, _) | Callee::Deeper(name)) = callee;
        self.context.done.iter().filter(|other| &other.name == name).any(|other| is_live(&other.workspace.body, id))
    }

    /// A Bool of the body in terms of this function's parameters.
    fn bool_here(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Bool(value) => Some(Value::Bool(*value)),
            Value::Local(id) => self.old.get(id).map(|id| Value::Local(*id)),
            _ => None,
        }
    }
}

/// The bytes of one array, as the bump allocation takes them.
pub fn room_bytes(elem: Elem, counts: &[Value], real: Real) -> Value {
    let product = bytes(elem, counts);
    match elem {
        Elem::Bool => Value::Helper("smooth_round", vec![product]),
        Elem::Double if !real.keeps_alignment() => Value::Helper("smooth_roundf", vec![product]),
        Elem::Double | Elem::Index | Elem::Bytes => product,
    }
}

fn plus(total: Option<Value>, bytes: Value) -> Value {
    match total {
        None => bytes,
        Some(total) => more_bytes(total, bytes),
    }
}

/// Whether an Index expression cannot wrap.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Local(_) | Value::Index(_) => true,
        Value::Prim { plain: true, args, .. } => args.iter().all(is_exact),
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
