//! Dependence between iterations of one loop: whether two accesses to an array can be to the same element.
//!
//! In: a loop, and the offsets of two accesses that each iteration makes. Out: whether those of different iterations are always
//! different elements; `false` where that is not seen.
//!
//!     for j < n: out[j * 3], out[j * 3 + 1]       apart: less than a step of j
//!     for k < j: a[i][k], a[j][k]                 apart: columns of rows, where j is at most their length
//!     for k < n: a[k], a[k + 1]                   not
//!     for k < n: l = k / 2: a[k - l], a[k - l]    not seen: l differs from one iteration to another

use std::collections::HashSet;

use super::affine::{Affine, growth};
use super::bounds::Around;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::visit::{each_local, reads};

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
        let Some(distance) = a.rest.minus(&b.rest).constant_value().filter(|_| a.step == b.step) else { return false };
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
        let mut is_seen = true;
        each_local(value, &mut |id| is_seen &= !self.own.contains(&id));
        is_seen.then_some(())?;
        let mut offset = Offset { step: 0, rows: Vec::new(), rest: Affine::default() };
        self.add(value, 1, &mut offset)?;
        Some(offset)
    }

    /// Adds so many times a part of an offset; none where it changes with the index by more than a multiple.
    fn add<'v>(&self, part: &'v Value, times: i64, to: &mut Offset<'v>) -> Option<()> {
        let named = self.around.named();
        if let Value::InRow(parts) = part {
            let [row, length, column] = &**parts;
            if let Value::Index(length) = length
                && reads(row, self.i)
            {
                self.add(row, times.checked_mul(*length)?, to)?;
            } else {
                (times == 1 && !reads(row, self.i) && !reads(length, self.i)).then_some(())?;
                to.rows.push((row, length));
            }
            return self.add(column, times, to);
        }
        to.step = growth(part, self.i, named)?.checked_mul(times).and_then(|step| to.step.checked_add(step))?;
        to.rest = to.rest.plus_multiple(&Affine::of(part, named), times);
        Some(())
    }
}

/// How an offset grows with the index, the rows that it is in with their lengths, and all else that is added.
struct Offset<'v> {
    step: i64,
    rows: Vec<(&'v Value, &'v Value)>,
    rest: Affine,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Prim;
    use crate::loops::values::index;

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
            let column = if more == 0 { k.clone() } else { index(Prim::Add, k.clone(), Value::Index(more)) };
            Value::in_row(row.clone(), n.clone(), column)
        };
        let inner = iterations(&j);
        assert!(inner.are_apart(&k, &k) && inner.are_apart(&by(3, 1), &by(3, 0)) && inner.are_apart(&by(3, 0), &by(3, 2)));
        assert!(inner.are_apart(&in_row(&i, 0), &in_row(&j, 0)) && inner.are_apart(&in_row(&i, 1), &in_row(&i, 1)));
        assert!(!inner.are_apart(&by(3, 0), &by(3, 3)) && !inner.are_apart(&by(2, 0), &by(3, 0)) && !inner.are_apart(&i, &i));
        assert!(!inner.are_apart(&in_row(&i, 0), &in_row(&j, 1)) && !inner.are_apart(&in_row(&i, 0), &in_row(&i, 1)));
        // literal columns of rows that the index chooses, one of them of the next row
        let column = |row: Value, column: i64| Value::in_row(row, Value::Index(3), Value::Index(column));
        let next = index(Prim::Add, k.clone(), Value::Index(1));
        assert!(
            inner.are_apart(&column(k.clone(), 0), &column(k.clone(), 2))
                && inner.are_apart(&column(next.clone(), 0), &column(k.clone(), 1))
        );
        assert!(
            !inner.are_apart(&column(next, 0), &column(k.clone(), 0)) && !inner.are_apart(&column(k.clone(), 0), &column(i.clone(), 0))
        );
        // what the iteration declares
        let further = index(Prim::Add, k.clone(), Value::Local(4));
        assert!(!inner.are_apart(&further, &further));
        // a loop over more than a row
        let longer = index(Prim::Add, n.clone(), Value::Index(1));
        assert!(!iterations(&longer).are_apart(&in_row(&i, 0), &in_row(&j, 0)));
    }
}
