//! The free variables of a term, kept with its node.
//!
//! In: a term. Out: its free variables, each once, by their numbers; those in sizes of types are not among them.
//! A node's list is merged from its subterms' when somebody first asks for it, and then stays: rules ask the same of
//! large terms again and again.
//!
//!     build(n, i. a * v[i])   →   a, n, v
//!
//! Limits: a long list is not kept, so that a thousand lets that are all used at the end take no quadratic room; such a
//! term is searched.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::term::{Expr, Term, Var};

/// Longer lists than this are not kept.
const KEPT: usize = 256;

#[derive(Debug)]
pub(super) enum FreeVars {
    /// Sorted.
    Kept(Rc<[Var]>),
    TooMany,
}

/// Calls `f` on every free variable of a term, those in sizes of types not included. It may see one more than once.
pub fn each_free_var(expr: &Expr, f: &mut dyn FnMut(&Var)) {
    match expr.free_vars() {
        FreeVars::Kept(vars) => vars.iter().for_each(f),
        FreeVars::TooMany => search(expr, &mut FxHashSet::default(), f),
    }
}

/// Whether `var` is known not to occur free in the term, without a search: for who walks through the term in any case.
pub fn is_known_without(expr: &Expr, var: &Var) -> bool {
    matches!(expr.free_vars(), FreeVars::Kept(vars) if vars.binary_search(var).is_err())
}

/// Calls `f` on the free variables of a term if their list is kept, on each once.
pub(super) fn each_kept(expr: &Expr, f: &mut dyn FnMut(&Var)) {
    if let FreeVars::Kept(vars) = expr.free_vars() {
        vars.iter().for_each(f);
    }
}

/// Whether `var` occurs free in the term, sizes of types not included.
pub fn mentions(expr: &Expr, var: &Var) -> bool {
    match expr.free_vars() {
        FreeVars::Kept(vars) => vars.binary_search(var).is_ok(),
        FreeVars::TooMany => {
            let mut found = false;
            expr.term().each_child(&mut |child| found = found || mentions(child, var));
            found && expr.term().binders().all(|bound| bound != var)
        }
    }
}

fn search(expr: &Expr, bound: &mut FxHashSet<Var>, f: &mut dyn FnMut(&Var)) {
    match expr.free_vars() {
        FreeVars::Kept(vars) => vars.iter().filter(|var| !bound.contains(*var)).for_each(f),
        FreeVars::TooMany => {
            bound.extend(expr.term().binders().cloned());
            expr.term().each_child(&mut |child| search(child, bound, f));
        }
    }
}

impl FreeVars {
    pub(super) fn of(expr: &Expr) -> FreeVars {
        if let Term::Var(var) = expr.term() {
            return FreeVars::Kept([var.clone()].into());
        }
        let (mut all, mut too_many): (Rc<[Var]>, bool) = (Rc::default(), false);
        expr.term().each_child(&mut |child| match child.free_vars() {
            FreeVars::Kept(vars) => all = union(&all, vars),
            FreeVars::TooMany => too_many = true,
        });
        let bound = |var: &Var| expr.term().binders().any(|binder| binder == var);
        if all.iter().any(bound) {
            all = all.iter().filter(|var| !bound(var)).cloned().collect();
        }
        if too_many || all.len() > KEPT { FreeVars::TooMany } else { FreeVars::Kept(all) }
    }
}

fn union(a: &Rc<[Var]>, b: &Rc<[Var]>) -> Rc<[Var]> {
    if Rc::ptr_eq(a, b) || b.is_empty() {
        return a.clone();
    }
    let in_both = Merge { a, b }.filter(|(x, y)| x.is_some() && y.is_some()).count();
    if in_both == b.len() {
        return a.clone();
    }
    if in_both == a.len() {
        return b.clone();
    }
    let mut both = Vec::with_capacity(a.len() + b.len() - in_both);
    both.extend(Merge { a, b }.filter_map(|(x, y)| x.or(y).cloned()));
    both.into()
}

/// The items of two sorted lists, equal ones together.
struct Merge<'a> {
    a: &'a [Var],
    b: &'a [Var],
}

impl<'a> Iterator for Merge<'a> {
    type Item = (Option<&'a Var>, Option<&'a Var>);

    fn next(&mut self) -> Option<Self::Item> {
        let (x, y) = (self.a.first(), self.b.first());
        let order = match (x, y) {
            (None, None) => return None,
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
        };
        if order.is_le() {
            self.a = self.a.get(1..).unwrap_or_default();
        }
        if order.is_ge() {
            self.b = self.b.get(1..).unwrap_or_default();
        }
        Some((x.filter(|_| order.is_le()), y.filter(|_| order.is_ge())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Prim, Type};

    fn free(expr: &Expr) -> Vec<Var> {
        let mut found = Vec::new();
        each_free_var(expr, &mut |var| found.push(var.clone()));
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn a_binder_is_free_outside_its_scope_only() {
        let (x, y) = (Var::fresh("x", Type::Double), Var::fresh("y", Type::Double));
        let sum = Expr::prim(Prim::Add, vec![Expr::var(&x), Expr::var(&y)]);
        assert_eq!(free(&sum), [x.clone(), y.clone()]);
        let bound = Expr::let_(x.clone(), Expr::double(1.0), sum);
        assert_eq!(free(&bound), std::slice::from_ref(&y));
        assert!(mentions(&bound, &y) && !mentions(&bound, &x));
    }

    #[test]
    fn long_lists_say_the_same() {
        let vars: Vec<Var> = (0..3 * KEPT).map(|_| Var::fresh("x", Type::Double)).collect();
        let sum = vars.iter().fold(Expr::double(0.0), |sum, var| Expr::prim(Prim::Add, vec![sum, Expr::var(var)]));
        let expr = vars[1..].iter().fold(sum, |body, var| Expr::let_(var.clone(), Expr::var(&vars[0]), body));
        assert_eq!(free(&expr), vars[..1]);
        assert!(mentions(&expr, &vars[0]));
        assert!(vars[1..].iter().all(|var| !mentions(&expr, var)));
    }
}
