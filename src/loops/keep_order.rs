//! Loops whose later iterations overwrite what inner loops of earlier ones wrote are marked: compilers must keep them in order.
//!
//! In: a function's statements, after all passes that change loops. Out: the same, with each loop marked of which an update in an inner
//! loop writes an element, without reading it, that another iteration may write too, by a subscript that both indices are added to.
//!
//!     for i < n: for j < n: a[i + j] = x[j]         marked: a[1] is written by 0 + 1, then by 1 + 0
//!     for i < n: for j < n: a[i][j] = x[j]          not: rows
//!     for i < n: for j < 3: a[i * 3 + j] = x[j]     not
//!
//! gcc (12.2 at -O3) interchanges such loops, and the wrong one of two writes is the last. Emitted C keeps it from that with a barrier
//! (`runtime/order.h`) in each iteration.

use std::collections::HashMap;

use super::analysis::affine::{Affine, growth};
use super::program::*;
use super::visit::each_value;
use super::{Context, Result};

/// Marks the loops of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    mark(&mut function.body);
    Ok(())
}

fn mark(block: &mut Block) {
    for stmt in block {
        stmt.blocks_mut().for_each(mark);
        if let Stmt::For { i, body, lanes: lanes @ Lanes::One, .. } = stmt
            && overwrites(*i, body, &mut Vec::new(), &mut HashMap::new())
        {
            *lanes = Lanes::InOrder;
        }
    }
}

/// `inner`: the loops that were entered, with their counts; `named`: what Indices were declared as on the way.
fn overwrites<'a>(outer: Id, block: &'a [Stmt], inner: &mut Vec<(Id, &'a Value)>, named: &mut HashMap<Id, Value>) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Declare { id, init: Some(init @ Value::Prim { elem: Elem::Index, .. }) } => {
            named.insert(*id, init.clone());
            false
        }
        Stmt::Update { base, offset, .. } => !reads_own(stmt, *base, offset) && meets(offset, outer, inner, named),
        Stmt::For { i, count, body, .. } => {
            inner.push((*i, count));
            let found = overwrites(outer, body, inner, named);
            inner.pop();
            found
        }
        _ => stmt.blocks().any(|block| overwrites(outer, block, inner, named)),
    })
}

/// Whether the subscripts that grow with the outer index all grow with that of an inner loop too, which spans a step of the outer one.
fn meets(offset: &Value, outer: Id, inner: &[(Id, &Value)], named: &HashMap<Id, Value>) -> bool {
    let (mut rest, mut found) = (offset, false);
    loop {
        let (row, subscript) = if let Value::InRow(parts) = rest { (Some(&parts[0]), &parts[2]) } else { (None, rest) };
        match growth(subscript, outer, named) {
            Some(0) => {}
            Some(step) if spans(subscript, step, inner, named) => found = true,
            // other elements; a distance that is no number is unknown to gcc too
            Some(_) | None => return false,
        }
        match row {
            Some(row) => rest = row,
            None => return found,
        }
    }
}

/// Whether a subscript goes through as much as this step in an inner loop.
fn spans(subscript: &Value, step: i64, inner: &[(Id, &Value)], named: &HashMap<Id, Value>) -> bool {
    let at = Affine::of(subscript, named);
    let spans_less = |factor: u64, count: &Value| matches!(count, Value::Index(count) if factor.checked_mul(count.unsigned_abs()).is_some_and(|span| span <= step.unsigned_abs()));
    inner.iter().any(|(j, count)| {
        let factor = at.step(*j).unsigned_abs();
        factor != 0 && !spans_less(factor, count)
    })
}

fn reads_own(stmt: &Stmt, own: Id, at: &Value) -> bool {
    let mut found = false;
    each_value(std::slice::from_ref(stmt), &mut |value| {
        found |= matches!(value, Value::Load { base, offset: Some(offset) } if *base == own && **offset == *at);
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Prim;
    use crate::loops::values::index;

    #[test]
    fn writes_of_other_iterations_are_found() {
        // for i < n: for j < count: a[offset] = value
        let [n, i, j, a] = [0, 1, 2, 3];
        let nest = |offset: &Value, count: Value, value: Value| {
            let body = vec![Stmt::Update { base: a, offset: offset.clone(), value }];
            let nest = [Stmt::For { i: j, var: None, count, size: None, body, lanes: Lanes::One, apart: false }];
            overwrites(i, &nest, &mut Vec::new(), &mut HashMap::new())
        };
        let sum = index(Prim::Add, Value::Local(i), Value::Local(j));
        let rows = Value::in_row(Value::Local(i), Value::Local(n), Value::Local(j));
        let threes = index(Prim::Add, index(Prim::Mul, Value::Local(i), Value::Index(3)), Value::Local(j));
        let own = Value::Load { base: a, offset: Some(Box::new(sum.clone())) };
        assert!(nest(&sum, Value::Local(n), Value::Double(1.0)) && nest(&threes, Value::Index(4), Value::Double(1.0)));
        assert!(!nest(&sum, Value::Local(n), own) && !nest(&rows, Value::Local(n), Value::Double(1.0)));
        let far = Value::in_row(Value::Local(i), Value::Local(n), sum.clone());
        assert!(!nest(&far, Value::Local(n), Value::Double(1.0)));
        // one row, or rows that meet
        assert!(nest(&Value::in_row(Value::Index(2), Value::Local(n), sum.clone()), Value::Local(n), Value::Double(1.0)));
        assert!(nest(&Value::in_row(sum.clone(), Value::Index(3), Value::Local(j)), Value::Local(n), Value::Double(1.0)));
        // the column below the diagonal
        assert!(!nest(&Value::in_row(sum.clone(), Value::Local(n), Value::Local(i)), Value::Local(n), Value::Double(1.0)));
        assert!(!nest(&threes, Value::Index(3), Value::Double(1.0)) && !nest(&Value::Local(j), Value::Local(n), Value::Double(1.0)));
    }
}
