//! What the loops and names around a place say of an index: proofs that one is not below zero, or within an array.
//!
//! In: the loops that one enters, with their counts, and the constants that are declared on the way. Out: whether an
//! expression is never negative there, or an offset never outside of an array of given lengths; `false` where that is not seen.
//!
//!     for i < n: for t < i: const j = i - 1 - t     →   0 <= j, j < i, j < n
//!
//! Only arithmetic that cannot overflow is looked through (`affine`).

use std::collections::HashMap;

use crate::ir::Prim;

use super::affine::Affine;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;

/// The loops around a place, the outermost first, and the constants that are visible there.
#[derive(Debug, Default)]
pub struct Around {
    loops: Vec<(Id, Value)>,
    named: HashMap<Id, Value>,
}

impl Around {
    /// The body of a loop over `i` is entered.
    pub fn enter(&mut self, i: Id, count: &Value) {
        self.loops.push((i, count.iterations().clone()));
    }

    /// The innermost loop is left.
    pub fn leave(&mut self) {
        self.loops.pop();
    }

    /// Notes a declaration, if it is one of an index that never changes. Each local is declared once, so its name may stay.
    pub fn note(&mut self, stmt: &Stmt, locals: &[Local]) {
        if let Stmt::Declare { id, init: Some(init) } = stmt
            && locals[*id].elem == Elem::Index
            && locals[*id].form == (Form::Scalar { mutable: false })
        {
            self.named.insert(*id, init.clone());
        }
    }

    /// The constants that are visible, with what they are declared as.
    pub fn named(&self) -> &HashMap<Id, Value> {
        &self.named
    }

    /// Whether `a <= b` wherever the place is reached.
    pub fn at_most(&self, a: &Value, b: &Value, ranges: &Ranges) -> bool {
        self.is_natural(Affine::of(b, &self.named).minus(&Affine::of(a, &self.named)), &self.loops, ranges)
    }

    /// Whether an index is never negative inside of further loops, the outermost of them first.
    pub fn is_natural_in(&self, inner: &[(Id, Value)], sum: Affine, ranges: &Ranges) -> bool {
        self.is_natural(sum, &[&self.loops, inner].concat(), ranges)
    }

    /// Whether an index is never negative, with what is known of these loops: the innermost one's index is put at the end of its
    /// range where the sum is least.
    fn is_natural(&self, sum: Affine, loops: &[(Id, Value)], ranges: &Ranges) -> bool {
        let Some(((i, count), outer)) = loops.split_last() else { return sum.is_natural(ranges) };
        if sum.factor(*i) >= 0 {
            return self.is_natural(sum.at(*i, &Affine::default()), outer, ranges);
        }
        let count = if let Value::Local(id) = count { self.named.get(id).unwrap_or(count) } else { count };
        let counts: &[Value] =
            if let Value::Prim { prim: Prim::Min, elem: Elem::Index, args, .. } = count { args } else { std::slice::from_ref(count) };
        counts.iter().any(|count| self.is_natural(sum.at(*i, &Affine::of(count, &self.named).plus(-1)), outer, ranges))
    }

    /// Whether an offset leads into an array of these lengths: each subscript into its own.
    pub fn is_inside(&self, offset: &Value, lengths: &[Value], ranges: &Ranges) -> bool {
        let Some((last, outer)) = lengths.split_last() else { return false };
        let (row, column) = if outer.is_empty() {
            (None, offset)
        } else if let Value::InRow(parts) = offset
            && parts[1] == *last
        {
            (Some(&parts[0]), &parts[2])
        } else {
            return false;
        };
        let is_below = |index: &Value, length: &Value| {
            let more = Value::Prim { prim: Prim::Add, elem: Elem::Index, plain: true, args: vec![index.clone(), Value::Index(1)] };
            self.at_most(&Value::Index(0), index, ranges) && self.at_most(&more, length, ranges)
        };
        is_below(column, last) && row.is_none_or(|row| self.is_inside(row, outer, ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::values::index;

    /// Locals n, i, t, j in `for i < n: for t < i: const j = i - 1 - t`.
    fn around() -> (Around, Ranges, [Value; 4]) {
        let mut around = Around::default();
        let scalar = |mutable| Local { name: "x".into(), elem: Elem::Index, form: Form::Scalar { mutable }, note: None };
        let locals = [scalar(false), scalar(true), scalar(true), scalar(false)];
        let [n, i, t, j] = [0, 1, 2, 3].map(Value::Local);
        let mut ranges = Ranges::default();
        ranges.insert(0, (0, LONGEST as i128));
        around.enter(1, &n);
        around.enter(2, &i);
        let below = index(Prim::Sub, index(Prim::Sub, i.clone(), Value::Index(1)), t.clone());
        around.note(&Stmt::Declare { id: 3, init: Some(below) }, &locals);
        (around, ranges, [n, i, t, j])
    }

    #[test]
    fn what_is_below_an_index_is_below_its_end() {
        let (mut around, ranges, [n, i, t, j]) = around();
        let more = |value: &Value| index(Prim::Add, value.clone(), Value::Index(1));
        assert!(
            around.at_most(&Value::Index(0), &j, &ranges)
                && around.at_most(&more(&j), &i, &ranges)
                && around.at_most(&more(&j), &n, &ranges)
        );
        assert!(
            !around.at_most(&i, &j, &ranges) && !around.at_most(&more(&i), &t, &ranges) && !around.at_most(&Value::Index(1), &j, &ranges)
        );
        around.leave();
        assert!(!around.at_most(&Value::Index(0), &j, &ranges), "t is anything outside of its loop");
    }

    #[test]
    fn an_offset_is_inside_where_each_index_is() {
        let (around, ranges, [n, i, _, j]) = around();
        let at = |row: &Value, column: &Value, width: &Value| Value::in_row(row.clone(), width.clone(), column.clone());
        let three = Value::Index(3);
        assert!(around.is_inside(&i, std::slice::from_ref(&n), &ranges));
        assert!(around.is_inside(&at(&i, &j, &n), &[n.clone(), n.clone()], &ranges));
        assert!(around.is_inside(&at(&j, &Value::Index(2), &three), &[n.clone(), three.clone()], &ranges));
        assert!(!around.is_inside(&index(Prim::Mul, i.clone(), three.clone()), &[n.clone(), three.clone()], &ranges), "no subscripts");
        assert!(!around.is_inside(&at(&j, &three, &three), &[n.clone(), three.clone()], &ranges));
        assert!(!around.is_inside(&n, std::slice::from_ref(&n), &ranges));
        assert!(!around.is_inside(&i, &[], &ranges));
    }
}
