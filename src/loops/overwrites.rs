//! Loops whose later iterations overwrite what inner loops of earlier ones wrote.
//!
//! In: a loop. Out: whether an update in an inner loop writes an element, without reading it, that another iteration of the loop may
//! write too, by an offset that both loops' indices are added to.
//!
//!     for i < n: for j < n: a[i + j] = x[j]         yes: a[1] is written by 0 + 1, then by 1 + 0
//!     for i < n: for j < n: a[i * n + j] = x[j]     no: rows
//!     for i < n: for j < 3: a[i * 3 + j] = x[j]     no
//!
//! gcc (12.2 at -O3) interchanges such loops, and the wrong one of two writes is the last. Emitted C keeps it from that with a barrier
//! (`runtime/order.h`) in each iteration.

use std::collections::HashMap;

use super::affine::{Affine, steps};
use super::program::*;
use super::visit::{each_local, each_value};

/// Whether a loop over `i` with this body is one of these.
pub fn overwrites(i: Id, body: &[Stmt]) -> bool {
    within(i, body, &mut Vec::new(), &mut HashMap::new())
}

/// `inner`: the loops that were entered, with their counts; `named`: what Indices were declared as on the way.
fn within<'a>(outer: Id, block: &'a [Stmt], inner: &mut Vec<(Id, &'a Value)>, named: &mut HashMap<Id, Value>) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Declare { id, init: Some(init @ Value::Prim { elem: Elem::Index, .. }) } => {
            named.insert(*id, init.clone());
            false
        }
        Stmt::Update { base, offset, .. } if !reads_own(stmt, *base, offset) => {
            let at = Affine::of(offset, named);
            // a distance that is no number is unknown to gcc too
            let is_a_number = at.terms().all(|term| steps(term, outer).is_some() || !varies(term, outer, named));
            let step = if is_a_number { at.step(outer).unsigned_abs() } else { 0 };
            // what a row of an inner loop spans is less than a step
            let spans_less = |factor: u64, count: &Value| {
                matches!(count, Value::Index(count) if factor.checked_mul(count.unsigned_abs()).is_some_and(|span| span <= step))
            };
            let meets = |(j, count): &(Id, &Value)| {
                let factor = at.step(*j).unsigned_abs();
                factor != 0 && !spans_less(factor, count)
            };
            step != 0 && inner.iter().any(meets)
        }
        Stmt::For { i, count, body, .. } => {
            inner.push((*i, count));
            let found = within(outer, body, inner, named);
            inner.pop();
            found
        }
        _ => stmt.blocks().any(|block| within(outer, block, inner, named)),
    })
}

/// Whether a value depends on an index, by names too.
fn varies(value: &Value, i: Id, named: &HashMap<Id, Value>) -> bool {
    let mut found = false;
    each_local(value, &mut |id| found |= id == i || named.get(&id).is_some_and(|value| varies(value, i, named)));
    found
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

    fn index(prim: Prim, a: Value, b: Value) -> Value {
        Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, b] }
    }

    #[test]
    fn writes_of_other_iterations_are_found() {
        // for i < n: for j < count: a[offset] = value
        let [n, i, j, a] = [0, 1, 2, 3];
        let nest = |offset: &Value, count: Value, value: Value| {
            let body = vec![Stmt::Update { base: a, offset: offset.clone(), value }];
            overwrites(i, &[Stmt::For { i: j, var: None, count, size: None, body, lanes: Lanes::One, apart: false }])
        };
        let sum = index(Prim::Add, Value::Local(i), Value::Local(j));
        let rows = index(Prim::Add, index(Prim::Mul, Value::Local(i), Value::Local(n)), Value::Local(j));
        let threes = index(Prim::Add, index(Prim::Mul, Value::Local(i), Value::Index(3)), Value::Local(j));
        let own = Value::Load { base: a, offset: Some(Box::new(sum.clone())) };
        assert!(nest(&sum, Value::Local(n), Value::Double(1.0)) && nest(&threes, Value::Index(4), Value::Double(1.0)));
        assert!(!nest(&sum, Value::Local(n), own) && !nest(&rows, Value::Local(n), Value::Double(1.0)));
        let far = index(Prim::Add, index(Prim::Mul, Value::Local(i), Value::Local(n)), sum.clone());
        assert!(!nest(&far, Value::Local(n), Value::Double(1.0)));
        assert!(!nest(&threes, Value::Index(3), Value::Double(1.0)) && !nest(&Value::Local(j), Value::Local(n), Value::Double(1.0)));
    }
}
