//! The direct subterms of a term.
//!
//! In: a term. Out: its subterms in evaluation order, from either end. Every pass asks every node for them, so this
//! allocates nothing.
//!
//!     ifold f z n   →   z, n, the body of f

use std::rc::Rc;

use super::term::{Expr, Term};

/// The subterms that are left.
#[derive(Clone)]
pub enum Children<'a> {
    Listed(std::slice::Iter<'a, Expr>),
    /// Those from `at` to `end`; what is behind the last is any of them.
    Single {
        items: [&'a Expr; 3],
        at: usize,
        end: usize,
    },
}

impl Term {
    /// The direct subterms, in evaluation order.
    pub fn children(&self) -> Children<'_> {
        let single = |items, end| Children::Single { items, at: 0, end };
        match self {
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => Children::Listed([].iter()),
            Term::Prim(_, items) | Term::Tuple(items) | Term::Array(items) | Term::Call(_, items) | Term::Update(_, items) => {
                Children::Listed(items.iter())
            }
            Term::Iso(_, items) => Children::Listed(items.iter()),
            Term::Dim(a, _) | Term::Proj(a, _) => single([a, a, a], 1),
            Term::Let(_, a, b) | Term::Get(a, b) | Term::Build { n: a, body: b, .. } | Term::While { init: a, body: b, .. } => {
                single([a, b, b], 2)
            }
            Term::Check { cond: a, body: b, .. } => single([a, b, b], 2),
            Term::If(a, b, c)
            | Term::Fold { init: a, n: b, body: c, .. }
            | Term::Dual { at: a, tangent: b, body: c, .. }
            | Term::Vjp { at: a, cotangent: b, body: c, .. } => single([a, b, c], 3),
        }
    }

    pub fn each_child(&self, f: &mut dyn FnMut(&Expr)) {
        self.children().for_each(f);
    }
}

impl Expr {
    /// Every function that the term calls, once for each call.
    pub fn each_call(&self, f: &mut dyn FnMut(&Rc<str>)) {
        if let Term::Call(name, _) = self.term() {
            f(name);
        }
        self.term().each_child(&mut |child| child.each_call(f));
    }
}

impl Expr {
    /// The term with another in the place of each of its tails: what a binding, a check or a branch ends in.
    pub fn map_tails(&self, tail: &dyn Fn(&Expr) -> Expr) -> Expr {
        let new = match self.term() {
            Term::Let(x, value, body) => Expr::let_(x.clone(), value.clone(), body.map_tails(tail)),
            Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, body.map_tails(tail)),
            Term::If(cond, a, b) => Expr::if_(cond.clone(), a.map_tails(tail), b.map_tails(tail)),
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Build { .. }
            | Term::Fold { .. }
            | Term::While { .. }
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Dual { .. }
            | Term::Vjp { .. } => return tail(self),
        };
        new.at(self.span())
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = &'a Expr;

    fn next(&mut self) -> Option<&'a Expr> {
        match self {
            Children::Listed(items) => items.next(),
            Children::Single { items, at, end } => {
                let next = (*at < *end).then(|| items[*at])?;
                *at += 1;
                Some(next)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match self {
            Children::Listed(items) => items.len(),
            Children::Single { at, end, .. } => end - at,
        };
        (left, Some(left))
    }
}

impl DoubleEndedIterator for Children<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Children::Listed(items) => items.next_back(),
            Children::Single { items, at, end } => {
                *end = (*at < *end).then(|| *end - 1)?;
                Some(items[*end])
            }
        }
    }
}

impl ExactSizeIterator for Children<'_> {}
