//! Loops that do one thing or another, whichever it is in all iterations.
//!
//! In: a function's statements. Out: a loop whose body is one branch on what no iteration changes is a branch between loops,
//! where a branch holds a loop: what looks at loops then sees its body.
//!
//!     for i < m: if (0 < p) { s = 0; for j < p: s += x[i + j] * k[j]; t[i] = s } else t[i] = 0
//!       →   if (0 < p) { for i < m: … } else { for i < m: t[i] = 0 }

use std::collections::HashSet;

use super::program::ranges::Ranges;
use super::program::*;
use super::rename::rename;
use super::visit::each_local;
use super::{Context, Result};

/// Unswitches the loops of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    unswitch(&mut function.locals, &mut function.ranges, &mut function.body);
    Ok(())
}

/// Turns the loops of a block inside out.
fn unswitch(locals: &mut Vec<Local>, ranges: &mut Ranges, block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(|inner| unswitch(locals, ranges, inner));
        if let Some(turned) = turned(locals, ranges, stmt) {
            *stmt = turned;
        }
    }
}

fn turned(locals: &mut Vec<Local>, ranges: &mut Ranges, stmt: &Stmt) -> Option<Stmt> {
    let Stmt::For { i, var, count, size, body, lanes: Lanes::One, apart } = stmt else { return None };
    let [Stmt::If { cond, then, otherwise }] = body.as_slice() else { return None };
    let has_loop = |block: &Block| block.iter().any(|stmt| matches!(stmt, Stmt::For { .. }));
    if otherwise.is_empty() || !(has_loop(then) || has_loop(otherwise)) || !is_fixed(locals, *i, cond, body) {
        return None;
    }
    let repeat = |i: Id, body: Block| Stmt::For {
        i,
        var: var.clone(),
        count: count.clone(),
        size: size.clone(),
        body,
        lanes: Lanes::One,
        apart: *apart,
    };
    // each loop has an index of its own
    locals.push(locals[*i].clone());
    let other = locals.len() - 1;
    ranges.insert(other, ranges.of(&Value::Local(*i)));
    let mut otherwise = otherwise.clone();
    rename(&mut otherwise, *i, other);
    Some(Stmt::If { cond: cond.clone(), then: vec![repeat(*i, then.clone())], otherwise: vec![repeat(other, otherwise)] })
}

/// Whether a condition is the same in all iterations: it compares what none changes, and reads no memory.
fn is_fixed(locals: &[Local], i: Id, cond: &Value, body: &Block) -> bool {
    let mut changed = HashSet::from([i]);
    crate::loops::visit::each_change(body, &mut |id| {
        changed.insert(id);
    });
    let mut fixed = true;
    each_local(cond, &mut |id| fixed &= !changed.contains(&id) && matches!(locals[id].form, Form::Scalar { .. }));
    fixed && crate::loops::visit::is_total(cond)
}
