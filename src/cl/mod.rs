//! CL, the categorical language of 003 Section 6: terms without variables, from a context of values to a value. `--dump cl`.
//!
//! In: a core function without derivatives. Out: the same as a composition of arrows ([`convert`]), pruned to what each part reads; and
//! back. [`derivative`] differentiates arrow by arrow, a third way to the derivatives that `ad` gives, and tested against them.
//!
//!     f (x: Double) (y: Double) = let z = x * y in z + x
//!     def f : Double * Double => Double = L(z, (P[1/2], P[2/2]); F(*), P[1,3/3]; (P[2/2], P[1/2]); F(+))
//!
//! A context of one value is that value. Figure 9 has no folds, reads of arrays, updates and checks: these are arrows of their own here.

mod convert;
mod derivative;
mod text;

pub use convert::{from_cl, to_cl};
pub use derivative::derivative;

use crate::diagnostic::Diagnostic;
use crate::ir::check::find_derivative;
use crate::ir::{Change, Expr, Function, Prim, Program, Status, Type, Var};
use crate::source::Span;
use std::rc::Rc;

/// An arrow.
#[derive(Clone, Debug)]
pub enum Arrow {
    /// I
    Identity,
    /// 𝒦(k)
    Constant(Expr),
    /// 𝒫[i₁, …, iₘ/n]: values of the context, counted from 0 here and from 1 in text.
    Prune(Vec<usize>, usize),
    /// ℱ(f)
    Function(Op),
    /// c₁; c₂
    Then(Rc<Arrow>, Rc<Arrow>),
    /// (c₁, …, cₙ)
    Tuple(Vec<Arrow>),
    /// ℐℱ(c₁, c₂, c₃)
    If(Rc<[Arrow; 3]>),
    /// ℒ(x, c, c′): c′ has the value of c at the end of its context.
    Let(Var, Rc<Arrow>, Rc<Arrow>),
    /// ℬ(n, i, c)
    Build(Rc<Arrow>, Var, Rc<Arrow>),
    /// `ifold (fun acc i -> c) init n`; c has both at the end of its context.
    Fold {
        init: Rc<Arrow>,
        n: Rc<Arrow>,
        acc: Var,
        i: Var,
        body: Rc<Arrow>,
    },
    Check {
        cond: Rc<Arrow>,
        status: Status,
        span: Span,
        body: Rc<Arrow>,
    },
}

/// What is applied to a tuple of arguments.
#[derive(Clone, Debug)]
pub enum Op {
    Prim(Prim),
    Call(Rc<str>),
    /// Of an array and an index.
    Get,
    Dim(usize),
    /// The component of a tuple, which is one value.
    Part(usize),
    /// The tuple of all.
    Tuple,
    /// An array of elements of this type.
    Array(Type),
    /// Of an array, so many indices and a value.
    Update(Change, usize),
}

/// All functions without derivatives as arrows.
pub fn print(program: &Program) -> Result<String, Diagnostic> {
    let text = |function: &Function| match find_derivative(&function.body) {
        Some(_) => {
            Ok(format!("// {}: a derivative, which CL has no arrow for; the functions that it differentiates have\n", function.name))
        }
        None => Ok(text::definition(function, &to_cl(function, true)?)),
    };
    Ok(crate::linear::sections(program.functions.values(), program, "arrow", text)?.concat())
}
