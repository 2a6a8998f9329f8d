//! What is bound around a term inside a block, and terms taken out of there.
//!
//! In: binders, from the outside in, and an Index term. Out: the term with the lets that it needs, and the loops that it is in.
//!
//!     loop j of m, let k = 2 * j:   k + i   →   i + 2 * j, in the loop j
//!
//! `None` where it depends on the point, on what a loop carries, or on a loop whose length depends on another loop.

use std::collections::BTreeSet;

use crate::ir::free::each_free_var;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};

use super::flat::tidy;
use super::normal::{Active, within};

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

/// An Index term that is the same where it has a value, and never fails; `None` where this form of term has none.
pub fn total(expr: &Expr) -> Option<Expr> {
    match expr.term() {
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Dim(..) => Some(expr.clone()),
        Term::Get(..) => {
            let mut indices = Vec::new();
            let mut array = expr;
            while let Term::Get(inner, index) = array.term() {
                indices.push(total(index)?);
                array = inner;
            }
            let is_there = matches!(array.term(), Term::Var(_) | Term::Proj(..)) && total(array).is_some();
            let default = default(expr.ty()).filter(|_| is_there)?;
            indices.reverse();
            let mut inside: Option<Expr> = None;
            for (axis, index) in indices.iter().enumerate() {
                let own = within(index, &Expr::dim(array.clone(), axis));
                inside = Some(inside.map_or(own.clone(), |outer| Expr::prim(Prim::And, vec![outer, own])));
            }
            let read = indices.into_iter().fold(array.clone(), Expr::get);
            inside.map(|inside| Expr::if_(inside, read, default))
        }
        Term::Prim(Prim::Div | Prim::Rem, args) if matches!(expr.ty(), Type::Index(_)) => match args.as_slice() {
            [a, b] => {
                let (a, b) = (total(a)?, total(b)?);
                let Term::Prim(prim, _) = expr.term() else { return None };
                let quotient = Expr::prim(*prim, vec![a, b.clone()]);
                match b.term() {
                    Term::Index(by) if *by != 0 => Some(quotient),
                    _ => Some(Expr::if_(Expr::prim(Prim::Eq, vec![b, Expr::index(0)]), Expr::index(0), quotient)),
                }
            }
            _ => None,
        },
        Term::Prim(Prim::ToIndex, _) => None,
        Term::Prim(prim, args) => Some(Expr::prim(*prim, args.iter().map(total).collect::<Option<_>>()?)),
        Term::Let(var, value, body) => Some(Expr::let_(var.clone(), total(value)?, total(body)?)),
        Term::If(cond, a, b) => Some(Expr::if_(total(cond)?, total(a)?, total(b)?)),
        Term::Proj(tuple, k) => Some(Expr::proj(total(tuple)?, *k)),
        Term::Tuple(parts) => Some(Expr::tuple(parts.iter().map(total).collect::<Option<_>>()?)),
        Term::Build { .. }
        | Term::Fold { .. }
        | Term::While { .. }
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Check { .. }
        | Term::Dual { .. }
        | Term::Vjp { .. } => None,
    }
}

fn default(ty: &Type) -> Option<Expr> {
    match ty {
        Type::Double => Some(Expr::double(0.0)),
        Type::Bool => Some(Expr::bool(false)),
        Type::Index(_) => Some(Expr::index(0)),
        Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => None,
    }
}
