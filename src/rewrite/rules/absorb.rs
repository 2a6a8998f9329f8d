//! Fusion into the producer: where every use of an array's elements is the same operation, the array stores its results.
//!
//!     let p = build n (fun i -> f i) in                    let p = build n (fun i -> f i - y[i]) in
//!     (sum of (p[i] - y[i]) ** 2, … (p[j] - y[j]) * a …)   →   (sum of p[i] ** 2, … p[j] * a …)
//!
//! So residuals are computed once for a value and its gradient. One operation at a time; the next one is found after that. No work
//! is added: some loop over the whole array performs the operation on every element anyway.
//! Limits: arrays of Doubles that are let-bound builds.

use rustc_hash::FxHashSet;

use crate::ir::free::{any_free_var, mentions};
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::facts::Facts;

use super::rules;
use super::share::{collect_binders, operands_on_spine};

rules! {
    "array-absorb" Lambda Motion @ Let: "let x = build n (fun i -> e) in f (g x[j] j) -> let x = build n (fun i -> g e i) in f x[j] where f has x nowhere else"
        if ["g uses no variable that f binds", "g is evaluated for all j"] => array_absorb;
}

fn array_absorb(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::Build { n, i, body: element } = value.term() else { return None };
    let is_rare = facts.uses.knows(x) && (facts.uses.get(x).indexed < 2 || !facts.uses.get(x).is_virtual());
    if element.ty() != &Type::Double || is_rare {
        return None;
    }
    let mut questions = Vec::new();
    if !asked(body, x, &mut questions) {
        return None;
    }
    if questions.len() < 2 {
        return None;
    }
    // the law's g, in a loop over all elements
    let everywhere = in_loop(body, x, n);
    let (whole, j) = everywhere.clone().or_else(|| questions.first().cloned())?;
    let at = |index: &Expr| match j.term() {
        Term::Var(j) => substitute(&whole, &[(j.clone(), index.clone())]),
        _ => whole.clone(),
    };
    if !questions.iter().all(|(other, index)| same(other, &at(index))) {
        return None;
    }
    if !facts.grants("g uses no variable that f binds", is_closed(&whole, &j, body)) {
        return None;
    }
    facts.require("g is evaluated for all j", everywhere.is_some(), value)?;
    let absorbed = replace(&at(&Expr::var(i)), &|e| is_element(e, x).then(|| element.clone()));
    let array = Expr::build_with(n.clone(), i.clone(), absorbed);
    let named = x.renewed(array.ty().clone());
    let body = replace(body, &|e| match question(e, x) {
        Some(index) => Some(Expr::get(Expr::var(&named), index.clone())),
        None => matches!(e.term(), Term::Var(var) if var == x).then(|| Expr::var(&named)),
    });
    Some(Expr::let_(named, array, body))
}

fn is_element(expr: &Expr, x: &Var) -> bool {
    matches!(expr.term(), Term::Get(array, _) if matches!(array.term(), Term::Var(var) if var == x))
}

/// The index of an operation that uses one element of x, and nothing else of x.
fn question<'a>(expr: &'a Expr, x: &Var) -> Option<&'a Expr> {
    let Term::Prim(prim, args) = expr.term() else { return None };
    if expr.ty() != &Type::Double || matches!(prim, Prim::ToDouble) {
        return None;
    }
    let (elements, others): (Vec<&Expr>, Vec<&Expr>) = args.iter().partition(|arg| is_element(arg, x));
    let [element] = elements.as_slice() else { return None };
    let Term::Get(_, index) = element.term() else { return None };
    (index.is_atom() && !others.iter().any(|other| mentions(other, x))).then_some(index)
}

/// Collects the operations on elements of x, with their indices; `false` where x is used in another way.
fn asked(expr: &Expr, x: &Var, found: &mut Vec<(Expr, Expr)>) -> bool {
    if !mentions(expr, x) {
        return true;
    }
    if let Some(index) = question(expr, x) {
        found.push((expr.clone(), index.clone()));
        return true;
    }
    match expr.term() {
        Term::Var(var) => var != x,
        Term::Dim(array, _) if matches!(array.term(), Term::Var(var) if var == x) => true,
        term => {
            let mut all = true;
            term.each_child(&mut |child| all = all && asked(child, x, found));
            all
        }
    }
}

/// An operation on the elements of x in an unconditional loop over all of them.
fn in_loop(expr: &Expr, x: &Var, n: &Expr) -> Option<(Expr, Expr)> {
    let inner = match expr.term() {
        Term::Build { n: count, i, body } | Term::Fold { n: count, i, body, .. } if same(count, n) => strictly(body, x, i),
        _ => None,
    };
    inner.or_else(|| each_strict(expr, &mut |child| in_loop(child, x, n)))
}

/// An operation on `x[i]` that is always evaluated.
fn strictly(expr: &Expr, x: &Var, i: &Var) -> Option<(Expr, Expr)> {
    match question(expr, x) {
        Some(index) if matches!(index.term(), Term::Var(var) if var == i) => Some((expr.clone(), index.clone())),
        Some(_) | None => each_strict(expr, &mut |child| strictly(child, x, i)),
    }
}

fn each_strict<T>(expr: &Expr, f: &mut dyn FnMut(&Expr) -> Option<T>) -> Option<T> {
    let is_strict = operands_on_spine(expr);
    let (mut at, mut found) = (0, None);
    expr.term().each_child(&mut |child| {
        if found.is_none() && is_strict(at) {
            found = f(child);
        }
        at += 1;
    });
    found
}

/// Whether the term can be moved out of the body, the index aside.
fn is_closed(term: &Expr, index: &Expr, body: &Expr) -> bool {
    let mut bound = FxHashSet::default();
    collect_binders(body, &mut bound);
    let is_index = |var: &Var| matches!(index.term(), Term::Var(index) if index == var);
    !any_free_var(term, &mut |var| bound.contains(var) && !is_index(var))
}

fn replace(expr: &Expr, by: &dyn Fn(&Expr) -> Option<Expr>) -> Expr {
    by(expr).unwrap_or_else(|| map_children(expr, &mut |child| replace(child, by)))
}
