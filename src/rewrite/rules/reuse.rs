//! A value that is already an element of an array is loaded, not recomputed.
//!
//!     let r = build m (fun i -> sum of X[i][j] * w[j] - y[i]) in
//!     (sum over k of (sum of X[k][j] * w[j] - y[k]) ** 2, …)      →   let r = … in (sum over k of r[k] ** 2, …)
//!
//! So a value and its derivative share work. The array exists anyway; only loads are added. Limits: elements with a loop or a function, at
//! the variable of a loop that runs over the array's length.

use crate::ir::free::mentions;
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Size, Term, Type, Var};
use crate::rewrite::alike::{instance, same_head};
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "array-reuse" Lambda Motion @ Let: "let x = build n (fun i -> e) in f e[j/i] -> let x = build n (fun i -> e) in f x[j]; let y = f e[j/i] in let x = build n (fun i -> e) in g -> let x = build n (fun i -> e) in let y = f x[j] in g"
        if ["e has a loop or a function", "0 <= j && j < n"] => array_reuse;
}

fn array_reuse(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    if let Some(new) = Reuse::of(x, value, facts).and_then(|reuse| reuse.within(body)) {
        return Some(Expr::let_(x.clone(), value.clone(), new));
    }
    before(x, value, body, facts)
}

/// How many lets after one an array is looked for.
const LETS: usize = 12;

/// A value that is computed before the array whose elements it has: the array comes first.
fn before(y: &Var, value: &Expr, body: &Expr, facts: &Facts) -> Option<Expr> {
    let (mut between, mut rest) = (Vec::new(), body);
    while let Term::Let(x, array, inner) = rest.term() {
        let is_later = std::iter::once(y).chain(between.iter().map(|(z, _): &(&Var, &Expr)| *z)).any(|z| mentions(array, z));
        if let Some(new) = Reuse::of(x, array, facts).filter(|_| !is_later).and_then(|reuse| reuse.within(value)) {
            let others = between.iter().rev().fold(inner.clone(), |inner, (z, value)| Expr::let_((*z).clone(), (*value).clone(), inner));
            return Some(Expr::let_(x.clone(), array.clone(), Expr::let_(y.clone(), new, others)));
        }
        between.push((x, array));
        if between.len() == LETS {
            return None;
        }
        rest = inner;
    }
    None
}

struct Reuse<'a> {
    x: &'a Var,
    i: &'a Var,
    element: &'a Expr,
    n: Size,
    facts: &'a Facts,
    /// Whether an element is a function of what is read, whose name may stand for it: `let a = v[i] in sin a`.
    of_reads: bool,
}

impl<'a> Reuse<'a> {
    /// Of a let that binds an array whose elements are worth it.
    fn of(x: &'a Var, value: &'a Expr, facts: &'a Facts) -> Option<Reuse<'a>> {
        let Term::Build { n, i, body: element } = value.term() else { return None };
        if matches!(element.ty(), Type::Array(..)) || !mentions(element, i) {
            return None;
        }
        let work = Work::of(element);
        if !facts.grants("e has a loop or a function", work.loops > 0 || work.functions > 0) {
            return None;
        }
        Some(Reuse { x, i, element, n: Size::try_of_expr(n)?, facts, of_reads: work.loops == 0 })
    }

    /// The term with elements read; none where it computes none.
    fn within(&self, expr: &Expr) -> Option<Expr> {
        let new = self.everywhere(expr, &mut Vec::new());
        (!new.is_same(expr)).then_some(new)
    }

    /// `reads` are the names of elements of arrays around.
    fn everywhere(&self, expr: &Expr, reads: &mut Vec<(Var, Expr)>) -> Expr {
        if !self.of_reads && expr.node_count() < self.element.node_count() {
            return expr.clone();
        }
        if let Some(j) = self.index(expr) {
            return Expr::get(Expr::var(self.x), j);
        }
        if self.of_reads
            && same_head(expr, self.element)
            && reads.iter().any(|(name, _)| mentions(expr, name))
            && let Some(j) = self.index(&substitute(expr, reads))
        {
            return Expr::get(Expr::var(self.x), j);
        }
        let known = reads.len();
        if let Term::Let(name, value, _) = expr.term()
            && matches!(value.term(), Term::Get(..))
            && !value.ty().has_array()
        {
            reads.push((name.clone(), value.clone()));
        }
        let new = map_children(expr, &mut |child| self.everywhere(child, reads));
        reads.truncate(known);
        new
    }

    /// Of which element the term is the value.
    fn index(&self, expr: &Expr) -> Option<Expr> {
        if expr.node_count() != self.element.node_count() || expr.ty() != self.element.ty() {
            return None;
        }
        let j = instance(self.element, self.i, expr)?;
        let is_in_range = match j.ty() {
            Type::Index(Some(bound)) => self.facts.same_size(bound, &self.n),
            _ => false,
        };
        self.facts.require("0 <= j && j < n", is_in_range, &j)?;
        Some(j)
    }
}
