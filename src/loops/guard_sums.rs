//! A test before each loop of sums that has no iterations in the first iteration of the loop around it.
//!
//! In: a function's statements, with lanes marked. Out: such loops are inside of a branch.
//!
//!     for i < n: s = 0; for j < i: s += x[j]   →   for i < n: s = 0; if (i > 0) for j < i: s += x[j]
//!
//! Compilers copy the first iteration of a loop around another if they see that the inner one is empty in it. gcc (12 to 14) then
//! has the partial sums of `omp simd` in two places, and leaves the loop without vectors. With the test there is nothing to copy.

use crate::ir::Prim;

use super::program::*;
use super::{Context, Result};

/// Guards the sums of a function's loops.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    within(None, &mut function.body);
    Ok(())
}

/// Guards the sums of a block in the body of the loop over `around`.
fn within(around: Option<Id>, block: &mut Block) {
    for stmt in block {
        let inner = if let Stmt::For { i, .. } = stmt { Some(*i) } else { around };
        stmt.blocks_mut().for_each(|block| within(inner, block));
        let Stmt::For { count: count @ Value::Local(id), lanes: Lanes::Sum(_), .. } = &*stmt else { continue };
        if Some(*id) == around {
            let cond = Value::Prim { prim: Prim::Gt, elem: Elem::Index, plain: true, args: vec![count.clone(), Value::Index(0)] };
            *stmt = Stmt::If { cond, then: vec![stmt.clone()], otherwise: Vec::new() };
        }
    }
}
