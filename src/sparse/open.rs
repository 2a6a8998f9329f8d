//! Elements of arrays that have names and depend on the point, each computed where it is read.
//!
//! In: a term in normal form, and what is bound around it. Out: a term of the same value, in which fewer such arrays are used whole.
//!
//!     let y = build n (fun i -> sin x[i]) in y[k] * y[k + 1]   →   sin x[k] * sin x[k + 1]
//!
//! Only where the index does not change inside the term: in a loop over all elements the array stays, and is computed once.

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, map_children};
use crate::ir::{Expr, Size, Term};

use super::normal::{element, is_by_elements};
use super::scope::{Binder, Scope};

/// A term that grew beyond this is left as it is from there on.
const LARGEST: usize = 20_000;

/// A walk over a term.
pub struct Opening<'a> {
    scope: Scope<'a>,
    left: usize,
}

impl<'a> Opening<'a> {
    pub fn new(scope: Scope<'a>) -> Self {
        Opening { scope, left: LARGEST }
    }

    pub fn term(&mut self, expr: &Expr) -> Expr {
        if !self.scope.active.reaches(expr) {
            return expr.clone();
        }
        if let Term::Get(array, index) = expr.term() {
            return self.element(array, index).at(expr.span());
        }
        let depth = self.scope.binders.len();
        if let Term::Let(var, value, body) = expr.term() {
            self.scope.binders.push(Binder::Let(var.clone(), value.clone()));
            let body = self.term(body);
            self.scope.binders.truncate(depth);
            if self.scope.active.has(var) && !mentions(&body, var) {
                return body;
            }
            return Expr::let_(var.clone(), self.term(value), body).at(expr.span());
        }
        let count = expr.term().children().len();
        let mut at = 0;
        map_children(expr, &mut |child| {
            at += 1;
            // the binders of a term are those of its last child
            if at == count {
                self.scope.enter(expr);
            }
            let child = self.term(child);
            self.scope.binders.truncate(depth);
            child
        })
    }

    fn element(&mut self, array: &Expr, index: &Expr) -> Expr {
        let index = self.term(index);
        let fixed = self.scope.closed(&index).is_some_and(|closed| closed.loops.is_empty());
        if let Term::Var(var) = array.term()
            && let Some(value) = self.scope.active.values.get(var)
            && fixed
            && (is_by_elements(value) || matches!(value.term(), Term::Array(_)) && Size::of_expr(&index).as_constant().is_some())
            && self.left > value.node_count()
        {
            self.left -= value.node_count();
            let found = element(freshen(value), index);
            return self.term(&found);
        }
        let array = self.term(array);
        let is_read = matches!(array.term(), Term::Var(_) | Term::Get(..) | Term::Proj(..));
        let is_free = !self.scope.active.reaches(&index);
        if is_read || !is_by_elements(&array) || !is_free || self.left <= array.node_count() {
            return Expr::get(array, index);
        }
        self.left -= array.node_count();
        let found = element(array, index);
        self.term(&found)
    }
}
