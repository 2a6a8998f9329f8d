//! What is bound around a term inside a block, and terms taken out of there.
//!
//! In: binders, from the outside in, and an Index term. Out: the term with the lets that it needs, and the loops that it is in.
//!
//!     loop j of m, let k = 2 * j:   k + i   →   i + 2 * j, in the loop j
//!
//! `None` where it depends on the point, on what a loop carries, or on a loop whose length depends on another loop.

use std::collections::BTreeSet;

use crate::ir::free::each_free_var;
use crate::ir::{Expr, Size, Term, Var};

use super::flat::tidy;
use super::normal::Active;

/// What a variable is.
pub enum Binder {
    Let(Var, Expr),
    Loop(Var, Expr),
    /// What a loop carries, or the point of a derivative.
    Other(Var),
}

pub struct Scope<'a> {
    pub active: &'a Active,
    /// What changes from block to block: no length may.
    pub varying: &'a [Var],
    pub binders: Vec<Binder>,
}

/// An Index term that holds outside, but for the loops that it names.
#[derive(Clone)]
pub struct Closed {
    pub expr: Expr,
    /// Loops and their lengths, from the outside in.
    pub loops: Vec<(Var, Expr)>,
}

impl Scope<'_> {
    /// Notes what a term binds in its last child.
    pub fn enter(&mut self, expr: &Expr) {
        match expr.term() {
            Term::Let(var, value, _) => self.binders.push(Binder::Let(var.clone(), value.clone())),
            Term::Build { n, i, .. } => self.binders.push(Binder::Loop(i.clone(), n.clone())),
            Term::Fold { n, acc, i, .. } => {
                self.binders.push(Binder::Loop(i.clone(), n.clone()));
                self.binders.push(Binder::Other(acc.clone()));
            }
            Term::While { state: x, .. } | Term::Dual { x, .. } | Term::Vjp { x, .. } => self.binders.push(Binder::Other(x.clone())),
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::If(..)
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. } => {}
        }
    }

    fn place(&self, var: &Var) -> Option<usize> {
        self.binders.iter().rposition(|binder| match binder {
            Binder::Let(own, _) | Binder::Loop(own, _) | Binder::Other(own) => own == var,
        })
    }

    /// Whether a size is known outside, and is the same for all blocks.
    pub fn is_outside(&self, size: &Size) -> bool {
        let mut inside = size.has_unknown();
        size.each_var(&mut |var| inside |= self.active.has(var) || self.varying.contains(var) || self.place(var).is_some());
        !inside
    }

    pub fn closed(&self, index: &Expr) -> Option<Closed> {
        let (mut lets, mut loops) = (BTreeSet::new(), BTreeSet::new());
        let mut left = vec![index.clone()];
        while let Some(term) = left.pop() {
            let mut closes = true;
            each_free_var(&term, &mut |var| match self.place(var).map(|at| (at, &self.binders[at])) {
                _ if self.active.has(var) => closes = false,
                None => {}
                Some((at, Binder::Let(_, value))) => {
                    left.extend(lets.insert(at).then(|| value.clone()));
                }
                Some((at, Binder::Loop(..))) => {
                    loops.insert(at);
                }
                Some((_, Binder::Other(_))) => closes = false,
            });
            if !closes {
                return None;
            }
        }
        let needed = lets.iter().rev().map(|at| &self.binders[*at]);
        let expr = needed.fold(index.clone(), |inner, binder| match binder {
            Binder::Let(var, value) => Expr::let_(var.clone(), value.clone(), inner),
            Binder::Loop(..) | Binder::Other(_) => inner,
        });
        let mut around = Vec::new();
        for at in loops {
            let Binder::Loop(var, n) = &self.binders[at] else { return None };
            let length = self.closed(n).filter(|n| n.loops.is_empty())?.expr;
            if !self.is_outside(&Size::try_of_expr(&length)?) {
                return None;
            }
            around.push((var.clone(), length));
        }
        Some(Closed { expr: tidy(expr), loops: around })
    }
}
