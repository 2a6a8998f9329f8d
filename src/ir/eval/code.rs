//! What the interpreter runs: trees with numbered slots.
//!
//! `compile` makes them, `machine` runs them. An [`Instance`] is a function with the slots that a call of it needs.
//!
//!     Let(1, (Prim(*, [Slot(0), Slot(0)]), Prim(+, [Slot(1), Constant(1.0)])))   is   let y = x * x in y + 1.0

use std::rc::Rc;

use super::activity::Activity;
use super::number::Number;
use super::sizes::SizeSource;
use super::value::Value;
use crate::ir::prim::Prim;
use crate::ir::term::{Change, Expr, Status};
use crate::source::Span;

/// One function, ready to run.
pub struct Instance {
    pub code: Code,
    /// Where each size name's value is found; they follow the parameters.
    pub sizes: Vec<SizeSource>,
    /// Slots of a call: parameters, sizes, then local variables.
    pub slots: usize,
    /// The function's place.
    pub span: Span,
}

pub enum Code {
    Slot(usize),
    /// A variable or a component of one, which nothing reads afterwards: its value is moved out.
    Take(usize, Vec<usize>),
    Constant(Value<Number>),
    Prim(Prim, Vec<Code>, Span),
    Let(usize, Box<(Code, Code)>),
    If(Box<(Code, Code, Code)>),
    Build(Box<Build>),
    Fold(Box<Fold>),
    While(Box<While>),
    /// A call in the place of the running one: its value is that one's.
    TailCall(usize, Vec<Code>, Span),
    /// The body of a function that differentiates itself too deep.
    TooDeep(Rc<str>, Span),
    Get(Box<(Code, Code)>, Span),
    Dim(Box<Code>, usize),
    Tuple(Vec<Code>),
    Proj(Box<Code>, usize),
    Array(Vec<Code>, Box<ShapeCode>, Span),
    Call(usize, Vec<Code>, Span),
    Check {
        cond: Box<Code>,
        status: Status,
        body: Box<Code>,
        source: Expr,
    },
    Dual {
        tag: u32,
        slot: usize,
        parts: Box<(Code, Code, Code)>,
        span: Span,
    },
    /// Point, cotangent, body, the activity of the derivative, and the name of the point in the body.
    Vjp {
        tag: u32,
        slot: usize,
        parts: Box<(Code, Code, Code)>,
        activity: Activity,
        name: Rc<str>,
        span: Span,
    },
    Update(Change, Box<UpdateCode>),
    Roll(Box<Code>),
    Unroll(Box<Code>, Span),
    Lift(Box<Code>, Activity),
}

pub struct Build {
    pub n: Code,
    pub i: usize,
    pub body: Code,
    pub element: ShapeCode,
    /// Whether an element that is an array is copied from one that exists.
    pub copies: bool,
    /// What the program calls it: "`build`", or a slice.
    pub what: &'static str,
    pub span: Span,
}

pub struct UpdateCode {
    pub array: Code,
    pub indices: Vec<Code>,
    pub value: Code,
    /// Whether a value that is an array is copied from one that exists.
    pub copies: bool,
    pub span: Span,
}

pub struct Fold {
    pub n: Code,
    pub acc: usize,
    pub i: usize,
    pub init: Code,
    pub body: Code,
    /// Whether the accumulator holds arrays, whose shapes must stay.
    pub shaped: bool,
    pub span: Span,
}

/// Steps until one says that it is the last.
pub struct While {
    pub state: usize,
    pub init: Code,
    pub body: Code,
    pub shaped: bool,
    pub span: Span,
}

/// A type whose lengths and index bounds can be computed.
pub enum ShapeCode {
    Double,
    Index(Option<Code>),
    Bool,
    Tuple(Vec<ShapeCode>),
    Array(Box<ShapeCode>, Code),
    Rolled,
}
