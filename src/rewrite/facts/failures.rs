//! In which ways terms may fail.
//!
//! In: terms that are not total, one after the other. Out: whether they all end with one status, so that it does not matter which of
//! them fails first.
//!
//!     v[k], k / n     two ways: out of bounds, and a division by zero
//!
//! Limits: facts are asked for counts alone.

use std::collections::BTreeSet;

use crate::ir::free::mentions;
use crate::ir::{Expr, Prim, Size, Status, Term, Type};

use super::Facts;

/// In which ways terms may fail.
#[derive(Debug, Default)]
pub struct Failures {
    statuses: BTreeSet<Status>,
    /// In any way.
    any: bool,
}

impl Failures {
    /// Whether no term may fail.
    pub fn is_empty(&self) -> bool {
        self.statuses.is_empty() && !self.any
    }

    /// Whether it does not matter which of the terms fails first.
    pub fn are_alike(&self) -> bool {
        self.statuses.len() <= 1 && !self.any
    }

    /// Notes a status.
    pub fn insert(&mut self, status: Status) {
        self.statuses.insert(status);
    }

    /// Notes the statuses that a term which is not total may end with.
    pub fn add(&mut self, expr: &Expr, facts: &Facts) {
        let is_count = |n: &Expr| Size::try_of_expr(n).is_some_and(|n| facts.non_negative(&n));
        match expr.term() {
            Term::Get(..) | Term::Update(..) => self.insert(Status::Bounds),
            Term::Prim(Prim::Div | Prim::Rem, _) if matches!(expr.ty(), Type::Index(_)) => self.insert(Status::DivZero),
            Term::Prim(Prim::ToIndex, _) => self.insert(Status::Range),
            Term::Check { status, .. } => self.insert(*status),
            // rows are as long as one another where their length asks for nothing of the row
            Term::Build { n, i, body } => {
                self.any |= body.ty().dims().iter().any(|length| length.to_expr().is_none_or(|length| mentions(&length, i)));
                if !is_count(n) {
                    self.insert(Status::Negative);
                }
            }
            Term::Array(items) => {
                self.any |= items.iter().any(|item| item.ty().has_array() && Some(item.ty()) != items.first().map(Expr::ty))
            }
            Term::Fold { n, .. } if is_count(n) => {}
            Term::Fold { .. } => self.insert(Status::Negative),
            Term::While { .. } | Term::Iso(..) | Term::Call(..) | Term::Dual { .. } | Term::Vjp { .. } => self.any = true,
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => {}
            Term::Prim(..) | Term::Let(..) | Term::If(..) | Term::Dim(..) | Term::Tuple(_) | Term::Proj(..) => {}
        }
        expr.term().each_child(&mut |child| self.add(child, facts));
    }
}
