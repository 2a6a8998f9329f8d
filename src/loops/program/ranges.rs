//! Between which numbers the Indexes of a function are: a table, by local.
//!
//! In: ranges, from whoever makes a local. Out: a local's range; `analysis::ranges` has those of expressions, and arithmetic that counts
//! on them.
//!
//!     insert i (0, 9)   →   get i = (0, 9); get k = nothing: k is anything

use std::collections::BTreeMap;

use super::Id;

/// The least and the greatest value of an Index.
pub type Range = (i128, i128);

/// The whole range of Index.
pub const ANY: Range = (i64::MIN as i128, i64::MAX as i128);

/// The ranges of locals; one without is anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(BTreeMap<Id, Range>);

impl Ranges {
    /// Notes what a local is between.
    pub fn insert(&mut self, id: Id, range: Range) {
        self.0.insert(id, range);
    }

    /// What a local is between, where something is known.
    pub fn get(&self, id: Id) -> Option<Range> {
        self.0.get(&id).copied()
    }
}
