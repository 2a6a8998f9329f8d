//! The outermost form of a term, as a number: what says which rules and laws are worth a try.
//!
//! In: a term. Out: a [`Form`], equal for terms whose outermost forms and those of their first subterms are the same.
//!
//!     x * 2.0 and y * 3.0   →   one form; x * y another

use crate::ir::{Expr, Term};

/// The outermost form of a term and of its first subterms: what says which rules are worth a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form(u64);

impl Form {
    /// So many subterms count, as many as a law's primitive or conditional has.
    pub const CHILDREN: usize = 3;

    pub fn of(expr: &Expr) -> Form {
        Form(expr.term().children().take(Form::CHILDREN).fold(own_form(expr), |form, child| form << 16 | own_form(child)))
    }
}

/// A number of sixteen bits for the outermost form alone, with its primitive, its axis or how many components it has.
fn own_form(expr: &Expr) -> u64 {
    match expr.term() {
        Term::Var(_) => 1,
        Term::Double(_) => 2,
        Term::Index(_) => 3,
        Term::Bool(_) => 4,
        Term::Let(..) => 5,
        Term::If(..) => 6,
        Term::Build { .. } => 7,
        Term::Fold { .. } => 8,
        Term::Get(..) => 9,
        Term::Proj(..) => 10,
        Term::Array(_) => 11,
        Term::Call(..) => 12,
        Term::Check { .. } => 13,
        Term::Dual { .. } => 14,
        Term::Update(change, _) => 17 + *change as u64,
        Term::Vjp { .. } => 19,
        Term::While { .. } => 20,
        Term::Iso(..) => 21,
        Term::Dim(_, axis) => 15 + u64::from(*axis > 0),
        Term::Prim(prim, _) => 0x100 + *prim as u64,
        Term::Tuple(parts) => 0x200 + (parts.len() as u64).min(0xff),
    }
}
