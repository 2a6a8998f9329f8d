//! Flattens accesses: one offset in the place of subscripts.
//!
//! In: a function's statements, after all passes that ask where an access leads. Out: the same, with each element of a row as
//! arithmetic, which `emit` prints; parts of shared loops no longer capture lengths that this leaves out.
//!
//!     a[i][j + 1], rows of n   →   a[i * n + j + 1]

use crate::ir::Prim;

use super::parallelise::forget_unused;
use super::program::*;
use super::values::{index, product};
use super::visit::each_access;
use super::{Context, Result};

/// Flattens the accesses of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    each_access(&mut function.body, &mut |_, offset| {
        if let Some(at) = offset {
            *at = flat(at);
        }
    });
    forget_lengths(&function.locals, &mut function.body);
    Ok(())
}

/// The length of a row that is the only one, or the first, is in no offset: a part of a shared loop may do without it.
fn forget_lengths(locals: &[Local], block: &mut Block) {
    for stmt in block {
        if let Stmt::Share(share) = stmt {
            forget_unused(locals, share);
        } else {
            stmt.blocks_mut().for_each(|block| forget_lengths(locals, block));
        }
    }
}

fn flat(offset: &Value) -> Value {
    added(Value::Index(0), offset)
}

/// What comes before, and an offset in the row that begins there.
fn added(before: Value, offset: &Value) -> Value {
    match offset {
        Value::InRow(parts) => {
            let [row, length, column] = &**parts;
            let [row, length] = [row, length].map(flat);
            added(sum(before, product(row, length)), column)
        }
        Value::Prim { prim: prim @ (Prim::Add | Prim::Sub), elem: Elem::Index, plain: true, args } if args.len() == 2 => {
            let first = added(before, &args[0]);
            if *prim == Prim::Add { added(first, &args[1]) } else { index(Prim::Sub, first, flat(&args[1])) }
        }
        other => {
            let mut other = other.clone();
            other.parts_mut().iter_mut().for_each(|part| *part = flat(part));
            sum(before, other)
        }
    }
}

fn sum(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Index(0), x) | (x, Value::Index(0)) => x,
        (Value::Index(a), Value::Index(b)) => Value::Index(a.wrapping_add(b)),
        (a, b) => index(Prim::Add, a, b),
    }
}
