//! How many bytes of workspace a function needs, as a function of its sizes.
//!
//! In: the function's body. Out: a function in the same loop language that walks the same structure and
//! counts bytes only: arrays of one block add up, blocks that follow one another and branches compete, a
//! loop counts when it runs. Where a length depends on a loop index, the greatest is at the last iteration
//! (when only non-negative sizes are added and multiplied) or is found by running the loop.
//!
//!     { double t[n]; { double u[m]; } { double w[n]; } }   →   8n + max(8m, 8n)
//!
//! A loop that threads share has a slice for each of them; a measure of its own says how large one is.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ir::ambient::{self, DEEPEST};
use crate::ir::{Atom, Prim, Size, Status, Var};
use crate::real::Real;
use crate::source::Span;

use super::builder::Builder;
use super::program::*;
use super::simplify::is_live;
use super::sizes::depends_on_data;
use super::{Context, Result};

/// What takes room, in order.
enum Demand {
    Room(Elem, Vec<Size>, Span),
    Call(Callee, Vec<Measure>, Vec<(Id, Option<Var>)>, Span),
    Inner(Vec<Demand>),
    Loop { var: Option<Var>, size: Option<Size>, body: Vec<Demand> },
    Slices(Slice),
}

/// Measures the workspace of a function; an entry fails where it is given less.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    let builder = Builder::of(function);
    let measured = measure(&builder, context, &function.name, &function.body, &function.measured);
    builder.give_back(function);
    function.workspace = measured?;
    if !function.is_entry && function.workspace.deeper.is_none() {
        not_deeper(function);
    }
    if function.is_entry && function.workspace.needed {
        let sizes = function.measured_by_callers().map(|(id, _)| Argument::Value(Value::Local(*id)));
        // stacks as deep as is said and one thread do, where there is no room for more
        let least = |id: Option<Id>, least: i64| id.map(|_| Argument::Value(Value::Index(least)));
        let args = sizes.chain(least(function.workspace.deeper, 0)).chain(least(function.workspace.threads, 1)).collect();
        let cond = Value::Call(Callee::Workspace(function.name.clone()), args);
        let at = entry_guards(&function.body);
        function.body.insert(at, Stmt::NoRoom { cond });
    }
    Ok(())
}

/// Where stacks take no workspace, an internal function is not told how much there is.
fn not_deeper(function: &mut LoopFunction) {
    let own = function.deeper();
    for stmt in &mut function.body {
        match stmt {
            Stmt::Declare { id, init } if Some(*id) == own => *init = Some(Value::Index(0)),
            _ => {}
        }
    }
}

/// How many guards at the head of a body come from the signature: the workspace is measured after them.
fn entry_guards(body: &[Stmt]) -> usize {
    body.iter().take_while(|stmt| matches!(stmt, Stmt::Fail { status: Status::Negative | Status::Shape, .. })).count()
}

/// The workspace function of a body. `params`: sizes, then Index and Bool parameters, as named in `builder`.
fn measure(builder: &Builder, context: &Context, name: &Rc<str>, body: &[Stmt], params: &[(Id, Option<Var>)]) -> Result<Workspace> {
    let needs = needs(context.done, body);
    let by_callers: Vec<(Id, Option<Var>)> = params.iter().filter(|(_, var)| !var.as_ref().is_some_and(Var::is_ambient)).cloned().collect();
    let more = More { deeper: deepens(context.done, &needs, by_callers.len()), threads: grows(context.done, &needs) };
    count(builder, context, name, &needs, &by_callers, more)
}

/// What more bytes are for, where they are of use.
#[derive(Clone, Copy, Default)]
struct More {
    deeper: bool,
    threads: bool,
}

/// The measure of a part of a loop, which threads do not share once more, with the parameters that it reads; `None`
/// where it needs no room, or not the same in each turn of the loops around it, over `around`.
pub fn measure_part(
    builder: &Builder,
    context: &Context,
    name: &Rc<str>,
    part: &[Stmt],
    params: &[(Id, Option<Var>)],
    around: &[Var],
) -> Result<Part> {
    let needs = needs(context.done, part);
    if needs.is_empty() {
        return Ok(Part::Nothing);
    }
    if around.iter().any(|var| mentions(&needs, var)) {
        return Ok(Part::Varies);
    }
    let mut workspace = count(builder, context, name, &needs, params, More::default())?;
    let read = |(id, _): &(Id, Option<Var>)| is_live(&workspace.body, *id);
    let args: Vec<usize> = (0..params.len()).filter(|at| read(&workspace.params[*at])).collect();
    workspace.params = args.iter().map(|at| workspace.params[*at].clone()).collect();
    Ok(Part::Needs(workspace, args))
}

/// What a part of a loop needs.
pub enum Part {
    Nothing,
    /// With the positions of the arguments among the function's.
    Needs(Workspace, Vec<usize>),
    /// It depends on the turn of a loop around it.
    Varies,
}

/// Whether the number of threads matters.
fn grows(done: &[LoopFunction], needs: &[Demand]) -> bool {
    needs.iter().any(|need| match need {
        Demand::Room(..) => false,
        Demand::Call(callee, ..) => is_grown(done, callee),
        Demand::Inner(inner) | Demand::Loop { body: inner, .. } => grows(done, inner),
        Demand::Slices(..) => true,
    })
}

fn is_grown(done: &[LoopFunction], callee: &Callee) -> bool {
    workspace_of(done, callee).is_some_and(|workspace| workspace.threads.is_some())
}

/// Whether stacks may be deeper. `at`: where the measure of a slice has how much.
fn deepens(done: &[LoopFunction], needs: &[Demand], at: usize) -> bool {
    needs.iter().any(|need| match need {
        Demand::Room(_, dims, _) => dims.iter().any(|size| size.mentions(&ambient::deeper())),
        Demand::Call(callee, ..) => is_deepened(done, callee),
        Demand::Inner(inner) | Demand::Loop { body: inner, .. } => deepens(done, inner, at),
        Demand::Slices(slice) => slice.args.contains(&at),
    })
}

fn is_deepened(done: &[LoopFunction], callee: &Callee) -> bool {
    workspace_of(done, callee).is_some_and(|workspace| workspace.deeper.is_some())
}

fn workspace_of<'d>(done: &'d [LoopFunction], callee: &Callee) -> Option<&'d Workspace> {
    let (Callee::Workspace(name) | Callee::Body(name) | Callee::Slice(name, _) | Callee::Deeper(name)) = callee;
    done.iter().find(|other| &other.name == name).map(|other| &other.workspace)
}

fn count(
    builder: &Builder,
    context: &Context,
    name: &Rc<str>,
    needs: &[Demand],
    params: &[(Id, Option<Var>)],
    more: More,
) -> Result<Workspace> {
    let mut counting = Builder::new();
    let mut ids = Vec::new();
    for (id, var) in params {
        let local = &builder.locals[*id];
        let new = counting.local(&local.name, local.elem, Form::Scalar { mutable: false });
        if let Some(range) = builder.ranges.get(*id) {
            counting.ranges.insert(new, range);
        }
        if let Some(var) = var {
            counting.vars.insert(var.clone(), Value::Local(new));
        }
        ids.push((new, var.clone()));
    }
    let deeper = more.deeper.then(|| counting.local("deeper", Elem::Index, Form::Scalar { mutable: false }));
    if let Some(id) = deeper {
        counting.ranges.insert(id, (0, DEEPEST as i128 - 1));
        counting.vars.insert(ambient::deeper(), Value::Local(id));
    }
    let threads = more.threads.then(|| counting.local("threads", Elem::Index, Form::Scalar { mutable: false }));
    let arguments = ids.iter().map(|(id, _)| *id).chain(deeper).collect();
    let mut counter = Counter {
        builder: counting,
        context,
        need: None,
        natural: HashSet::new(),
        old: HashMap::new(),
        name: name.clone(),
        arguments,
        deeper,
        threads,
    };
    for ((old, _), (new, var)) in params.iter().zip(&ids) {
        counter.old.insert(*old, *new);
        let low = builder.ranges.get(*old).is_some_and(|range| range.0 >= 0);
        if let (Some(var), true) = (var, low) {
            counter.natural.insert(var.clone());
        }
    }
    let needed = !needs.is_empty();
    let candidates = count_candidates(needs);
    if !needed {
        counter.builder.emit(Stmt::Return(Value::Index(0)));
    } else if candidates == 1 {
        let total = counter.chain(needs)?;
        counter.builder.emit(Stmt::Return(total));
    } else {
        let need = counter.builder.local("need", Elem::Bytes, Form::Scalar { mutable: true });
        counter.builder.emit(Stmt::Declare { id: need, init: Some(Value::Index(0)) });
        counter.need = Some(need);
        counter.walk(needs, None)?;
        counter.builder.emit(Stmt::Return(Value::Local(need)));
    }
    let body = counter.builder.blocks.pop().unwrap_or_default();
    Ok(Workspace { needed, locals: counter.builder.locals, params: ids, deeper, threads, body })
}

fn needs(done: &[LoopFunction], block: &[Stmt]) -> Vec<Demand> {
    let mut out = Vec::new();
    for stmt in block {
        match stmt {
            Stmt::Room(room) if room.few().is_some() => {}
            Stmt::Room(room) => out.push(Demand::Room(room.elem, room.dims.clone(), room.span)),
            Stmt::Invoke(call) => {
                if let Some(callee) = done.iter().find(|other| other.name == call.callee)
                    && callee.workspace.needed
                {
                    let params = callee.workspace.params.clone();
                    out.push(Demand::Call(Callee::Workspace(call.callee.clone()), call.measures.clone(), params, call.span));
                }
            }
            Stmt::Scope(body) | Stmt::While { body, .. } => push_inner(&mut out, needs(done, body)),
            Stmt::If { then, otherwise, .. } => {
                push_inner(&mut out, needs(done, then));
                push_inner(&mut out, needs(done, otherwise));
            }
            Stmt::For { var, size, body, .. } => {
                let body = needs(done, body);
                if !body.is_empty() {
                    out.push(Demand::Loop { var: var.clone(), size: size.clone(), body });
                }
            }
            Stmt::Share(share) => out.extend(share.slice.iter().map(|slice| Demand::Slices(slice.clone()))),
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Rotate(_)
            | Stmt::Return(_) => {}
        }
    }
    out
}

fn push_inner(out: &mut Vec<Demand>, inner: Vec<Demand>) {
    if !inner.is_empty() {
        out.push(Demand::Inner(inner));
    }
}

/// Whether a need is there in any case: a loop may not run.
fn counts(need: &Demand) -> bool {
    match need {
        Demand::Room(..) | Demand::Call(..) | Demand::Slices(..) => true,
        Demand::Inner(inner) => inner.iter().any(counts),
        Demand::Loop { .. } => false,
    }
}

/// How many totals compete; a loop always asks for a comparison.
fn count_candidates(needs: &[Demand]) -> usize {
    let mut count = 0;
    for (k, need) in needs.iter().enumerate() {
        count += match need {
            Demand::Room(..) => usize::from(k + 1 == needs.len()),
            Demand::Call(..) | Demand::Slices(..) => 1,
            Demand::Inner(inner) => count_candidates(inner),
            Demand::Loop { .. } => 2,
        };
    }
    if needs.len() > 1 && count == 1 && !needs[..needs.len() - 1].iter().all(|need| matches!(need, Demand::Room(..))) {
        return 2;
    }
    count
}

struct Counter<'a> {
    builder: Builder,
    context: &'a Context<'a>,
    /// The local that holds the greatest total so far.
    need: Option<Id>,
    /// Variables that are never negative.
    natural: HashSet<Var>,
    /// The body's parameters in this function.
    old: HashMap<Id, Id>,
    /// The function that is measured.
    name: Rc<str>,
    arguments: Vec<Id>,
    /// How many calls deeper stacks are, which is 0 where it is no parameter.
    deeper: Option<Id>,
    /// The number of threads, which is 1 where it is no parameter.
    threads: Option<Id>,
}

impl Counter<'_> {
    /// The total of a single chain.
    fn chain(&mut self, needs: &[Demand]) -> Result<Value> {
        let mut total = None;
        for need in needs {
            let bytes = match need {
                Demand::Room(elem, dims, span) => self.bytes(*elem, dims, *span)?,
                Demand::Call(callee, measures, params, span) => self.callee(callee, measures, params, *span)?,
                Demand::Inner(inner) => self.chain(inner)?,
                Demand::Loop { body, .. } => self.chain(body)?,
                Demand::Slices(slice) => self.slices(slice),
            };
            total = Some(plus(total, bytes));
        }
        Ok(total.unwrap_or(Value::Index(0)))
    }

    fn walk(&mut self, needs: &[Demand], base: Option<Value>) -> Result<()> {
        let mut used = base;
        for (k, need) in needs.iter().enumerate() {
            match need {
                Demand::Room(elem, dims, span) => {
                    let bytes = self.bytes(*elem, dims, *span)?;
                    let total = plus(used, bytes);
                    if k + 1 == needs.len() {
                        self.at_least(total);
                        return Ok(());
                    }
                    let followed_by_room = matches!(needs.get(k + 1), Some(Demand::Room(..)));
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
        let has_room = needs.iter().any(|need| matches!(need, Demand::Room(..)));
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
        let (inner, ()) = self.nested(|this| this.walk(body, used))?;
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
                Demand::Room(elem, dims, span) => Some(Demand::Room(*elem, dims.iter().map(at_last).collect::<Option<_>>()?, *span)),
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

    fn bytes(&mut self, elem: Elem, dims: &[Size], span: Span) -> Result<Value> {
        let most = |size| self.builder.most(size).ok_or_else(|| depends_on_data(span));
        let counts = dims.iter().map(most).collect::<Result<Vec<_>>>()?;
        Ok(room_bytes(elem, &counts, self.context.options.real))
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
    let product = counts.iter().fold(Value::SizeOf(elem), |product, count| Value::Helper("smooth_times", vec![product, count.clone()]));
    match elem {
        Elem::Bool => Value::Helper("smooth_round", vec![product]),
        Elem::Double if !real.keeps_alignment() => Value::Helper("smooth_roundf", vec![product]),
        Elem::Double | Elem::Index | Elem::Bytes => product,
    }
}

fn plus(total: Option<Value>, bytes: Value) -> Value {
    match total {
        None => bytes,
        Some(total) => Value::Helper("smooth_plus", vec![total, bytes]),
    }
}

/// Whether an Index expression cannot wrap.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Local(_) | Value::Index(_) => true,
        Value::Prim { plain: true, args, .. } => args.iter().all(is_exact),
        _ => false,
    }
}

fn mentions(needs: &[Demand], var: &Var) -> bool {
    needs.iter().any(|need| match need {
        Demand::Room(_, dims, _) => dims.iter().any(|size| size.mentions(var)),
        Demand::Call(_, measures, ..) => measures.iter().any(|measure| match measure {
            Measure::Size(size) => size.mentions(var),
            Measure::Bool(_) | Measure::Data => false,
        }),
        Demand::Slices(..) => false,
        Demand::Inner(inner) => mentions(inner, var),
        Demand::Loop { size, body, .. } => size.as_ref().is_some_and(|size| size.mentions(var)) || mentions(body, var),
    })
}
