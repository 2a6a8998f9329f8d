//! Dependence between iterations of one loop: whether two accesses to an array can be to the same element.
//!
//! In: a loop, and the offsets of two accesses that each iteration makes, maybe in loops inside. Out: whether those of different
//! iterations are always different elements; `false` where that is not seen.
//!
//!     for j < n: out[j * 3], out[j * 3 + 1]       apart: less than a step of j
//!     for k < j: a[i][k], a[j][k]                 apart: columns of rows, where j is at most their length
//!     for k < n: a[k], a[k + 1]                   not
//!     for k < n: l = k / 2: a[k - l], a[k - l]    not seen: l differs from one iteration to another
//!     for i < n: a[j + 1 + i][j], for k < j: a[j][k]   never meet: i is of other rows

use std::collections::HashSet;

use super::affine::{Affine, growth};
use super::bounds::Around;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;
use crate::loops::visit::{each_local, each_part, reads};

/// A loop whose iterations are compared.
pub struct Iterations<'a> {
    /// The index, or one that is it and something that never changes.
    pub i: Id,
    pub count: &'a Value,
    /// What an iteration declares or changes, which differs from one to another.
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

    /// Whether the element at `a` in one iteration is never the one at `b` in one of the `group - 1` before or after it, whatever the
    /// indices of the loops inside are.
    pub fn never_meet(&self, a: &Access, b: &Access, group: i64) -> bool {
        let (Some(ours), Some(theirs)) = (self.subscripts(a), self.subscripts(b)) else { return false };
        // the other iteration has indices of its own
        let other = |id: Id| Id::MAX - id;
        let renamed = |sum: &Affine| {
            let ids = b.loops.iter().map(|(id, _)| *id).chain([self.i]);
            ids.fold(sum.clone(), |sum, id| sum.at(id, &Affine::of(&Value::Local(other(id)), self.around.named())))
        };
        let mut loops = vec![(self.i, self.count.iterations().clone())];
        loops.extend(a.loops.iter().map(|(id, count)| (*id, count.iterations().clone())));
        loops.push((other(self.i), self.count.iterations().clone()));
        loops.extend(b.loops.iter().map(|(id, count)| (other(*id), count.iterations().clone())));
        let is_natural = |sum: Affine| self.around.is_natural_in(&loops, sum, self.ranges);
        let is_below = |low: &Affine, high: &Affine| is_natural(high.minus(low).plus(-1));
        let same_widths = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| a.width == b.width);
        // equal offsets are equal subscripts where each is within its row
        let inside = |at: &Affine, width: &Value| is_natural(at.clone()) && is_below(at, &Affine::of(width, self.around.named()));
        let is_inside = |at: &Affine, width: Option<&Value>| width.is_none_or(|width| inside(at, width));
        same_widths
            && ours.iter().all(|level| is_inside(&level.at, level.width))
            && theirs.iter().all(|level| is_inside(&renamed(&level.at), level.width))
            && ours.iter().zip(&theirs).any(|(ours, theirs)| {
                let step = ours.at.factor(self.i);
                let is_of_inner = ours.is_of(a) || theirs.is_of(b);
                let distance = ours.at.minus(&theirs.at).constant_value().filter(|_| !is_of_inner);
                let is_far = |distance: i64| (1 - group..group).all(|rows| rows == 0 || step.checked_mul(rows) != Some(distance));
                let theirs = renamed(&theirs.at);
                distance.is_some_and(is_far) || is_below(&ours.at, &theirs) || is_below(&theirs, &ours.at)
            })
    }

    /// The subscripts of an access, the innermost first; `None` where one is not a sum of what is known in each iteration.
    fn subscripts<'v>(&self, access: &Access<'v>) -> Option<Vec<Subscript<'v>>> {
        let named = self.around.named();
        let mut all = Vec::new();
        let mut rest = access.offset;
        while let Value::InRow(parts) = rest {
            let [row, width, column] = &**parts;
            all.push(Subscript { at: Affine::of(column, named), width: Some(width) });
            rest = row;
        }
        all.push(Subscript { at: Affine::of(rest, named), width: None });
        let is_index = |term: &Value| *term == Value::Local(self.i) || access.loops.iter().any(|(id, _)| *term == Value::Local(*id));
        let is_known = |term: &Value| is_index(term) || is_settled(term, self.own);
        all.iter().all(|subscript| subscript.at.terms().all(is_known)).then_some(all)
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

/// An access to an array in a loop's body, and the loops of the body that it is in with their counts, the outermost first.
pub struct Access<'v> {
    pub offset: &'v Value,
    pub loops: Vec<(Id, &'v Value)>,
}

/// A subscript, and the length of the rows that it counts in; the first subscript of an array counts rows.
struct Subscript<'v> {
    at: Affine,
    width: Option<&'v Value>,
}

impl Subscript<'_> {
    /// Whether it changes with a loop inside that the access is in.
    fn is_of(&self, access: &Access) -> bool {
        access.loops.iter().any(|(id, _)| self.at.factor(*id) != 0)
    }
}

/// Whether a term is the same in all iterations: nothing of an iteration's own, and no element, which an iteration may change.
pub fn is_settled(term: &Value, own: &HashSet<Id>) -> bool {
    let mut is_settled = true;
    each_part(term, &mut |part| match part {
        Value::Local(id) => is_settled &= !own.contains(id),
        Value::Load { .. } | Value::Call(..) | Value::Moved { .. } => is_settled = false,
        Value::Double(_)
        | Value::Index(_)
        | Value::Bool(_)
        | Value::Prim { .. }
        | Value::InRow(_)
        | Value::Select(_)
        | Value::Helper(..)
        | Value::SizeOf(..) => {}
    });
    is_settled
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

    #[test]
    fn accesses_in_inner_loops_never_meet_or_may() {
        // for j < n: for r < n - j - 1: const i = j + 1 + r; const x = a[r]; for k < j
        let [n, j, r, i, k, x] = [0, 1, 2, 3, 4, 5].map(Value::Local);
        let scalar = || Local { name: "i".into(), elem: Elem::Index, form: Form::Scalar { mutable: false }, note: None };
        let locals: Vec<Local> = (0..6).map(|_| scalar()).collect();
        let mut ranges = Ranges::default();
        ranges.insert(0, (0, LONGEST as i128));
        let plus = |a: &Value, b: &Value| index(Prim::Add, a.clone(), b.clone());
        let minus = |a: &Value, b: &Value| index(Prim::Sub, a.clone(), b.clone());
        let one = Value::Index(1);
        let mut around = Around::default();
        around.enter(1, &n);
        around.note(&Stmt::Declare { id: 3, init: Some(plus(&plus(&j, &one), &r)) }, &locals);
        around.note(&Stmt::Declare { id: 5, init: Some(Value::Load { base: 6, offset: Some(Box::new(r.clone())) }) }, &locals);
        let count = minus(&minus(&n, &j), &one);
        let own = HashSet::from([2, 3, 4, 5]);
        let iterations = Iterations { i: 2, count: &count, own: &own, around: &around, ranges: &ranges };
        let at = |row: &Value, column: &Value| Value::in_row(row.clone(), n.clone(), column.clone());
        let meet = |a: &Value, b: &Value| {
            let access = |offset| Access { offset, loops: if reads(offset, 4) { vec![(4, &j)] } else { Vec::new() } };
            [(a, b), (b, a)].map(|(a, b)| !iterations.never_meet(&access(a), &access(b), 4))
        };
        // another row, a row below, a column behind
        for (a, b) in [(at(&i, &k), at(&i, &k)), (at(&i, &k), at(&j, &k)), (at(&j, &j), at(&j, &k)), (at(&i, &j), at(&i, &k))] {
            assert_eq!(meet(&a, &b), [false; 2], "{a:?} {b:?}");
        }
        let far = at(&plus(&i, &Value::Index(4)), &k);
        let near = at(&plus(&i, &Value::Index(3)), &k);
        let half = at(&index(Prim::Div, i.clone(), Value::Index(2)), &j);
        assert_eq!(meet(&at(&i, &k), &far), [false; 2], "not in a group of four");
        for (a, b) in [
            (at(&j, &k), at(&j, &k)),
            (at(&i, &k), near),
            (half.clone(), half),
            (at(&x, &k), at(&x, &k)),
            (at(&i, &n), at(&i, &n)),
            (i.clone(), at(&i, &k)),
            (at(&r, &k), at(&j, &k)),
        ] {
            assert_eq!(meet(&a, &b), [true; 2], "{a:?} {b:?}");
        }
    }
}
