//! What inference puts off until more types are known.
//!
//! Each is noted with types that have holes, and kept in a list of [`Infer`](super::infer::Infer). At the end of a function, or of the
//! declaration, it is looked at again where it is made: `deriv` in `infer`, products in `operator`, fields in `fields`, rows in `matching`.
//!
//!     fun a b -> a * b   →   a product of two open types: of numbers, if nothing says that a or b is an array

use super::ty::Ty;
use crate::source::Span;
use crate::syntax::ast::{BinOp, Name, Pattern};

/// `deriv e x` whose type waits for those of e and x.
#[derive(Clone, Debug)]
pub(super) struct Deriv {
    pub span: Span,
    pub point: Ty,
    pub subject: Ty,
    pub result: Ty,
}

/// A product or a quotient.
pub(super) struct Product {
    pub op: BinOp,
    pub span: Span,
    pub left: Operand,
    pub right: Operand,
}

/// Where an operand stands, and its type.
pub(super) type Operand = (Span, Ty);

/// One whose operands are not known yet, and the type of what it gives.
pub(super) struct WaitingProduct {
    pub product: Product,
    pub result: Ty,
}

/// What is done with a record.
#[derive(Clone)]
pub(super) enum Access {
    /// `c.f` or a pattern: the record's type.
    Read(Ty),
    /// A literal: the type of the result.
    Make(Ty),
    /// `{ c with f = x }`: the type of c, the type of the result.
    Copy(Ty, Ty),
}

/// What is done with some fields, whose record is not known yet; each with its name, the place and the type of what is in it.
pub(super) struct Fields {
    pub span: Span,
    pub what: Access,
    pub fields: Vec<(Name, Span, Ty)>,
}

/// A `match` whose rows are looked at when all types are known.
pub(super) struct Rows {
    pub span: Span,
    pub patterns: Vec<Pattern>,
}
