//! Loops whose iterations threads share.
//!
//! In: nothing, these are data. Out: a [`Share`], which `parallelise` puts in a loop's place: what a part of the iterations does, which
//! locals from around it has, what the parts collect, and the workspace of each.
//!
//!     for i < n: s += x[i]   →   share i < n: total s of part; part += x[i], with parts in order: s += part

use super::{Block, Id, Stmt, Value, Workspace, is_few};
use crate::source::Span;

/// Loops whose iterations threads share: each part of them runs in turn, in a slice of the workspace of its own.
#[derive(Clone, Debug)]
pub struct Share {
    pub count: Value,
    /// What a part does. The loops over `loops` run over its iterations alone.
    pub body: Block,
    pub loops: Vec<Id>,
    /// Parts begin at whole vectors.
    pub in_lanes: bool,
    /// What an iteration costs, a Double: about as many operations on Doubles.
    pub work: Value,
    pub slice: Option<Slice>,
    pub totals: Vec<Total>,
    pub captured: Vec<Captured>,
    pub span: Span,
}

/// A local from around a loop that threads share, totals apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Captured {
    pub id: Id,
    /// An array that a part writes.
    pub written: bool,
    /// An array that no other captured pointer leads to, unless all of them only read it.
    pub alone: bool,
}

/// The workspace of one part of a loop: which of the function's measures says its bytes.
#[derive(Clone, Debug)]
pub struct Slice {
    pub number: usize,
    /// The measure's arguments, as positions among the parameters of the function's own measure.
    pub args: Vec<usize>,
}

/// How many bytes a part of a loop needs.
#[derive(Clone, Debug)]
pub struct PartMeasure {
    /// As in [`Slice`].
    pub args: Vec<usize>,
    pub measure: Workspace,
}

/// What the iterations of a loop collect by an associative operation: each part on its own, then all in order.
#[derive(Clone, Debug)]
pub struct Total {
    pub id: Id,
    /// What a part collects: a scalar, or an array, a local one or in its slice of the workspace.
    pub part: Id,
    /// The number of elements of an array.
    pub length: Option<Value>,
    /// Gives the part's its first value.
    pub start: Stmt,
    /// Adds the part's to the total.
    pub join: Stmt,
}

impl Total {
    /// As [`Room::few`], of an array.
    pub fn few(&self) -> Option<i64> {
        match self.length {
            Some(Value::Index(count)) if is_few(count) => Some(count),
            Some(_) | None => None,
        }
    }
}
