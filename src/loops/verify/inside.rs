//! Accesses that are outside of their arrays whatever the program's arguments are.
//!
//! In: an access that is evaluated wherever its statement is reached. Out: nothing, or which subscript is never within its length.
//!
//!     room v: f64[3]; v[3] = 0.0   →   `v` has at most 3 elements in a row, and none at 3
//!
//! What a branch or a check before it may keep from being reached says nothing: programs may be wrong for all arguments, and stop.

use crate::loops::print;
use crate::loops::program::ranges::Range;
use crate::loops::program::*;

use super::{Checked, Verifier};

impl Verifier<'_> {
    /// Notes how many elements an array has, where its lengths are literals.
    pub fn has_elements(&mut self, id: Id, count: Option<i64>) {
        // what has no elements is read in loops without steps
        self.lengths.extend(count.filter(|count| *count > 0).map(|count| (id, count)));
    }

    /// Whether some element may be meant.
    pub fn inside(&self, base: Id, offset: &Value) -> Checked {
        if self.unsure > 0 || self.idle > 0 {
            return Ok(());
        }
        self.in_rows(base, offset)?;
        match self.lengths.get(&base) {
            Some(count) => self.below(base, offset, (i128::from(*count), i128::from(*count))),
            None => Ok(()),
        }
    }

    fn in_rows(&self, base: Id, offset: &Value) -> Checked {
        let Value::InRow(parts) = offset else { return Ok(()) };
        let [row, length, column] = &**parts;
        let length = self.function.ranges.of(length);
        if length.1 > 0 {
            self.below(base, column, length)?;
        }
        self.in_rows(base, row)?;
        self.in_rows(base, column)
    }

    fn below(&self, base: Id, subscript: &Value, length: Range) -> Checked {
        let (low, high) = self.function.ranges.of(subscript);
        self.ensure(high >= 0 && low < length.1, || {
            let at = print::expression(subscript, self.locals);
            format!("`{}` has at most {} elements in a row, and none at {at}", self.name(base), length.1)
        })
    }
}
