//! The operations of a scope that are linear in tangents, as the forward pass notes them and the backward pass takes them from the end.
//!
//! In: nothing, these are data. Out: for each, the names of its values and where their adjoints are. [`super::sweep`] says what becomes of
//! primitives and arrays, [`super::updates`] of updates, [`super::loops`] of loops, [`super::branches`] of branches.
//!
//!     let u = x * y in let b = update a i u in …   →   Prim (*) on x and y; Update of a at i by u

use super::adjoint::{Adjoint, Wire};
use super::changed::Changed;
use super::levels::{Level, Open};
use crate::ad::activity::Activity;
use crate::ir::{Change, Expr, Prim, Var};

/// An operation that is linear in tangents.
pub enum Operation {
    Prim { prim: Prim, args: Vec<(Expr, Adjoint)>, r: Expr, out: Wire },
    Array { items: Vec<Adjoint>, out: Adjoint },
    Update(Updating),
    Elements(Elements),
    Steps(Steps),
    Branches(Branches),
}

/// An update: its array and what that becomes, by their names, and the element before and after.
pub struct Updating {
    pub change: Change,
    pub before: Expr,
    pub after: Expr,
    pub indices: Vec<Expr>,
    pub old: Expr,
    pub new: Expr,
    pub array: Adjoint,
    pub value: Adjoint,
    pub out: Adjoint,
}

/// A `build`, by element.
pub struct Elements {
    pub n: Expr,
    pub i: Var,
    pub body: Expr,
    /// The name of what was built.
    pub array: Expr,
    pub out: Adjoint,
}

/// An `ifold`, step by step.
#[derive(Clone)]
pub struct Steps {
    pub n: Expr,
    pub acc: Var,
    pub i: Var,
    pub body: Expr,
    /// A name.
    pub init: Expr,
    pub init_adjoint: Adjoint,
    pub active: Activity,
    /// Whether it is a part of one in parts, or its steps are such parts.
    pub is_part: bool,
    pub is_in_parts: bool,
    /// Where data ends the loop.
    pub open: Option<Open>,
    /// The variable that has the fold's value in the block.
    pub result: Var,
    pub out: Adjoint,
}

/// What the next fold is a part of; where data ends that, how the part is in parts.
#[derive(Clone)]
pub struct Part {
    pub level: Option<Level>,
}

/// An `if`.
pub struct Branches {
    pub cond: Expr,
    pub then: Expr,
    pub otherwise: Expr,
    pub out: Adjoint,
    pub changed: Vec<Changed>,
}
