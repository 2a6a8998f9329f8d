//! Scalar promotion of sums: what a loop adds to one element is collected in a local, and added once after the loop.
//!
//! In: a function's statements. Out: where all that a loop does to an array is to add to its elements, each addition to an element
//! that is the same in every iteration is one to a local.
//!
//!     for j < i: out[i] += x[j]; out[j] += y[i]   →   s = 0; for j < i: s += x[j]; out[j] += y[i]
//!                                                     out[i] += s
//!
//! Whether the elements differ does not matter, since sums may be added in any order; so not under `--strict-fp`. Where the
//! element cannot be proved to be inside of its array, it is touched only if the loop runs. Not in short loops, nor for many sums,
//! which compilers do better with as they are.

use std::collections::{HashMap, HashSet};

use crate::ir::{Prim, Size};

use super::analysis::bounds::Around;
use super::analysis::homes::Homes;
use super::builder::Builder;
use super::program::*;
use super::visit::{each_change, each_local, each_mention, is_total};
use super::{Context, Result};

/// Promotes the sums of a function's loops.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    if !context.options.algebra {
        return Ok(());
    }
    let homes = Homes::of_block(&function.body);
    let mut lengths = HashMap::new();
    for param in &function.params {
        if let Role::OutArray(dims) = &param.role {
            lengths.insert(param.id, dims.clone());
        }
    }
    let mut builder = Builder::of(function);
    let mut promoter = Promoter { homes: &homes, builder: &mut builder, lengths, around: Around::default() };
    promoter.block(&mut function.body);
    builder.give_back(function);
    Ok(())
}

/// Loops of at most so many iterations are written out by compilers, which then keep elements in registers themselves.
const FEW: i64 = 16;

/// More sums than this have no registers.
const MANY_SUMS: usize = 8;

struct Promoter<'p> {
    homes: &'p Homes,
    builder: &'p mut Builder,
    lengths: HashMap<Id, Vec<Size>>,
    around: Around,
}

impl Promoter<'_> {
    /// Promotes the sums of a block's loops, the innermost first.
    fn block(&mut self, block: &mut Block) {
        let mut out = Vec::new();
        for mut stmt in std::mem::take(block) {
            self.around.note(&stmt, &self.builder.locals);
            if let Stmt::Room(room) = &stmt {
                self.lengths.insert(room.id, room.dims.clone());
            }
            if let Stmt::For { i, count, body, .. } = &mut stmt {
                self.around.enter(*i, count);
                self.block(body);
                self.around.leave();
                let few = matches!(count, Value::Index(count) if *count <= FEW);
                let sums = if few { Vec::new() } else { self.sums(*i, body) };
                let touched = self.touched(count, &sums);
                out.extend(sums.iter().map(|sum| Stmt::Declare { id: sum.local, init: Some(Value::Double(0.0)) }));
                out.push(stmt);
                out.extend(touched);
            } else {
                stmt.blocks_mut().for_each(|inner| self.block(inner));
                out.push(stmt);
            }
        }
        *block = out;
    }

    /// Takes the additions to elements that are the same in every iteration out of a loop's body.
    fn sums(&mut self, i: Id, body: &mut Block) -> Vec<Sum> {
        let candidates: Vec<Id> = body.iter().filter_map(|stmt| Addition::of(stmt).map(|addition| self.homes.of(addition.base))).collect();
        if candidates.is_empty() {
            return Vec::new();
        }
        let mut changed = HashSet::from([i]);
        each_change(body, &mut |id| {
            changed.insert(id);
        });
        let mut otherwise = HashSet::new();
        otherwise_used(self.homes, body, &mut otherwise);
        let is_sum = |locals: &[Local], stmt: &Stmt| {
            let Some(Addition { base, offset, .. }) = Addition::of(stmt) else { return false };
            let mut is_fixed = offset.as_ref().is_none_or(is_total) && !changed.contains(&base);
            offset.iter().for_each(|offset| each_local(offset, &mut |id| is_fixed &= !changed.contains(&id)));
            is_fixed && !otherwise.contains(&self.homes.of(base)) && locals[base].elem == Elem::Double
        };
        let found: Vec<&mut Stmt> = body.iter_mut().filter(|stmt| is_sum(&self.builder.locals, stmt)).collect();
        if found.len() > MANY_SUMS {
            return Vec::new();
        }
        let mut sums = Vec::new();
        for stmt in found {
            let Some(Addition { base, offset, .. }) = Addition::of(stmt) else { continue };
            let local = self.builder.local("sum", Elem::Double, Form::Scalar { mutable: true });
            let after = stmt.clone();
            let (Stmt::Assign { value, .. } | Stmt::Update { value, .. }) = stmt else { continue };
            let mut value = std::mem::replace(value, Value::Double(0.0));
            start_from(&mut value, local);
            *stmt = Stmt::Assign { place: Place::Local(local), value };
            sums.push(Sum { local, base, offset, after });
        }
        sums
    }

    /// Adds sums to their elements, which are there if the loop runs.
    fn touched(&self, count: &Value, sums: &[Sum]) -> Block {
        let runs = matches!(count, Value::Index(count) if *count > 0);
        let mut after = Vec::new();
        for sum in sums {
            let own = Value::Load { base: sum.base, offset: sum.offset.clone().map(Box::new) };
            let total = Value::Prim { prim: Prim::Add, elem: Elem::Double, plain: true, args: vec![own, Value::Local(sum.local)] };
            let mut stmt = sum.after.clone();
            if let Stmt::Assign { value, .. } | Stmt::Update { value, .. } = &mut stmt {
                *value = total;
            }
            let lengths = self
                .lengths
                .get(&sum.base)
                .and_then(|dims| dims.iter().map(|dim| self.builder.size_value(dim)).collect::<Option<Vec<_>>>());
            let is_inside = |offset| lengths.is_some_and(|lengths| self.around.is_inside(offset, &lengths, &self.builder.ranges));
            match &sum.offset {
                Some(offset) if !runs && !is_inside(offset) => {
                    let cond = Value::Prim { prim: Prim::Gt, elem: Elem::Index, plain: true, args: vec![count.clone(), Value::Index(0)] };
                    match after.last_mut() {
                        Some(Stmt::If { cond: known, then, .. }) if *known == cond => then.push(stmt),
                        _ => after.push(Stmt::If { cond, then: vec![stmt], otherwise: Vec::new() }),
                    }
                }
                _ => after.push(stmt),
            }
        }
        after
    }
}

/// A sum that is collected in a local.
struct Sum {
    local: Id,
    base: Id,
    offset: Option<Value>,
    /// What added to the element.
    after: Stmt,
}

/// An addition to an element: `a[o] = a[o] + x - y`.
struct Addition<'a> {
    base: Id,
    offset: Option<Value>,
    added: Vec<&'a Value>,
}

impl Addition<'_> {
    fn of(stmt: &Stmt) -> Option<Addition<'_>> {
        let (base, offset, value) = match stmt {
            Stmt::Assign { place: Place::Element { base, offset }, value } => (*base, offset.clone(), value),
            Stmt::Update { base, offset, value } => (*base, Some(offset.clone()), value),
            _ => return None,
        };
        let own = Value::Load { base, offset: offset.clone().map(Box::new) };
        let mut added = Vec::new();
        let mut sum = value;
        while *sum != own {
            let Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Double, args, .. } = sum else { return None };
            let [first, second] = args.as_slice() else { return None };
            added.push(second);
            sum = first;
        }
        (!added.is_empty()).then_some(Addition { base, offset, added })
    }
}

/// Puts a local for what a sum begins with.
fn start_from(sum: &mut Value, local: Id) {
    if let Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Double, args, .. } = sum {
        args.iter_mut().take(1).for_each(|first| start_from(first, local));
    } else {
        *sum = Value::Local(local);
    }
}

/// The homes of arrays that a block uses otherwise than by adding to an element.
fn otherwise_used(homes: &Homes, block: &[Stmt], used: &mut HashSet<Id>) {
    for stmt in block {
        let mut note = |id: Id| {
            used.insert(homes.of(id));
        };
        match Addition::of(stmt) {
            Some(addition) => addition.offset.iter().chain(addition.added).for_each(|value| each_local(value, &mut note)),
            None => each_mention(stmt, &mut note),
        }
        stmt.blocks().for_each(|inner| otherwise_used(homes, inner, used));
    }
}
