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
use crate::ir::{Status, Var};

use super::builder::Builder;
use super::program::*;
use super::simplify::{is_live, live_part};
use super::{Context, Result};
use counter::Counter;
use demand::{Demand, count_candidates, deepens, each_size, grows, mentions, needs};

mod counter;
mod demand;

pub use counter::room_bytes;

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
        if let Stmt::Declare { id, init } = stmt
            && Some(*id) == own
        {
            *init = Some(Value::Index(0));
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
    each_size(needs, &mut |size| counter.builder.compute_folds(size));
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
    // a size that a callee's measure does not read may have been a loop
    let body = live_part(counter.builder.blocks.pop().unwrap_or_default(), HashSet::new());
    Ok(Workspace { needed, locals: counter.builder.locals, params: ids, deeper, threads, body })
}
