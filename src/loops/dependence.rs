//! Dependence between iterations of one loop: whether two accesses to an array can be to the same element.
//!
//! In: a loop, and the offsets of two accesses that each iteration makes. Out: whether those of different iterations are always
//! different elements; `false` where that is not seen.
//!
//!     for j < n: out[j * 3], out[j * 3 + 1]       apart: less than a step of j
//!     for k < j: a[i * n + k], a[j * n + k]       apart: columns of rows, where j <= n
//!     for k < n: a[k], a[k + 1]                   not
//!     for k < n: l = k / 2: a[k - l], a[k - l]    not seen: l differs from one iteration to another

use std::collections::HashSet;

use crate::ir::Prim;

use super::affine::Affine;
use super::bounds::{Around, summands};
use super::program::*;
use super::ranges::Ranges;
use super::visit::{each_local, reads};

/// A loop whose iterations are compared.
pub struct Iterations<'a> {
    /// The index, or one that is it and something that never changes.
    pub i: Id,
    pub count: &'a Value,
    /// What an iteration declares, which differs from one to another.
    pub own: &'a HashSet<Id>,
    pub around: &'a Around,
    pub ranges: &'a Ranges,
}

impl Iterations<'_> {
    /// Whether the element at `a` in one iteration is never the one at `b` in another.
    pub fn are_apart(&self, a: &Value, b: &Value) -> bool {
        let (Some(a), Some(b)) = (self.offset(a), self.offset(b)) else { return false };
        let Some(distance) = self.around.difference(&a.rest, &b.rest) else { return false };
        if a.step != b.step {
            return false;
        }
        let is_less_than_a_step = distance.unsigned_abs() < a.step.unsigned_abs();
        if is_less_than_a_step && a.rows == b.rows {
            return true;
        }
        // k and k' in rows of the same length, which both are less than
        let mut widths = a.rows.iter().chain(&b.rows).map(|(_, width)| width);
        let width = widths.next();
        let is_column = a.step == 1 && distance == 0;
        is_column && width.is_some_and(|width| widths.all(|other| other == width) && self.around.at_most(self.count, width, self.ranges))
    }

    fn offset<'v>(&self, value: &'v Value) -> Option<Offset<'v>> {
        let mut offset = Offset { step: 0, rows: Vec::new(), rest: Vec::new() };
        let mut is_seen = true;
        each_local(value, &mut |id| is_seen &= !self.own.contains(&id));
        summands(value, &mut |part| match part {
            Value::Local(id) if *id == self.i => offset.step += 1,
            Value::Prim { prim: Prim::Mul, elem: Elem::Index, plain: true, args } => match args.as_slice() {
                [Value::Local(id), Value::Index(step)] if *id == self.i => match offset.step.checked_add(*step) {
                    Some(step) => offset.step = step,
                    None => is_seen = false,
                },
                [row, width] if !reads(part, self.i) => offset.rows.push((row, width)),
                _ => is_seen = false,
            },
            part => {
                is_seen &= !reads(part, self.i);
                offset.rest.push(part);
            }
        });
        is_seen.then_some(offset)
    }
}

/// `step * i`, the starts of rows, as numbers of rows and their lengths, and what else is added.
struct Offset<'v> {
    step: i64,
    rows: Vec<(&'v Value, &'v Value)>,
    rest: Vec<&'v Value>,
}

impl Around {
    /// The difference of two sums, where it is a number.
    fn difference(&self, a: &[&Value], b: &[&Value]) -> Option<i64> {
        let sum = |parts: &[&Value]| {
            let all = parts.iter().map(|part| (*part).clone());
            let add = |a, b| Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args: vec![a, b] };
            self.affine(&all.reduce(add).unwrap_or(Value::Index(0)))
        };
        sum(a).minus(&sum(b)).constant_value()
    }

    fn affine(&self, value: &Value) -> Affine {
        Affine::of(value, self.named())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(prim: Prim, a: Value, b: Value) -> Value {
        Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, b] }
    }

    #[test]
    fn elements_of_different_iterations_are_apart_or_not() {
        // for i < n: for j < i: for k < j
        let [n, i, j, k] = [0, 1, 2, 3].map(Value::Local);
        let mut ranges = Ranges::default();
        ranges.insert(0, (0, LONGEST as i128));
        let mut around = Around::default();
        around.enter(1, &n);
        around.enter(2, &i);
        let own = HashSet::from([4]);
        let iterations = |count| Iterations { i: 3, count, own: &own, around: &around, ranges: &ranges };
        let by = |step, more| index(Prim::Add, index(Prim::Mul, k.clone(), Value::Index(step)), Value::Index(more));
        let in_row = |row: &Value, more: i64| {
            let start = index(Prim::Add, index(Prim::Mul, row.clone(), n.clone()), k.clone());
            if more == 0 { start } else { index(Prim::Add, start, Value::Index(more)) }
        };
        let inner = iterations(&j);
        assert!(inner.are_apart(&k, &k) && inner.are_apart(&by(3, 1), &by(3, 0)) && inner.are_apart(&by(3, 0), &by(3, 2)));
        assert!(inner.are_apart(&in_row(&i, 0), &in_row(&j, 0)) && inner.are_apart(&in_row(&i, 1), &in_row(&i, 1)));
        assert!(!inner.are_apart(&by(3, 0), &by(3, 3)) && !inner.are_apart(&by(2, 0), &by(3, 0)) && !inner.are_apart(&i, &i));
        assert!(!inner.are_apart(&in_row(&i, 0), &in_row(&j, 1)) && !inner.are_apart(&in_row(&i, 0), &in_row(&i, 1)));
        // what the iteration declares
        let further = index(Prim::Add, k.clone(), Value::Local(4));
        assert!(!inner.are_apart(&further, &further));
        // a loop over more than a row
        let longer = index(Prim::Add, n.clone(), Value::Index(1));
        assert!(!iterations(&longer).are_apart(&in_row(&i, 0), &in_row(&j, 0)));
    }
}
