//! 001 Figure 8c: an element or the length of an array that was just built, without the array.
//!
//!     (build n f)[i]         →  f i     if 0 <= i < n, else behind that check
//!     length (build n f)     →  n       if 0 <= n, else the check stays

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, substitute};
use crate::ir::{Expr, Prim, Size, Status, Term, Type};
use crate::rewrite::atoms::copy;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "get-build" ["001 Fig. 8c"] Fusion Fusion @ Get: "(build n f)[i] -> f i" if ["0 <= i && i < n, else the check stays"] => get_build;
    "length-build" ["001 Fig. 8c"] Fusion Fusion @ Dim: "length (build n f) -> n" if ["0 <= n, else the check stays"] => length_build;
    "get-array" Fusion Fusion @ Get: "[e0, e1][1] -> e1" => get_array;
    "get-select" Fusion Fusion @ Get: "[a, b][i] -> if i = 0 then a else b" if ["0 <= i && i < 2"] => get_select;
    "length-array" Fusion Fusion @ Dim: "length [e0, e1] -> 2" => length_array;
    "length-size" Fusion Fusion @ Dim: "length a -> n where a : Array<T, n>" if ["0 <= n, else the check stays"] => length_size;
    "build-eta" Fusion Fusion @ Build: "build n (fun i -> a[i]) -> a" if ["a total", "n is the length of a"] => build_eta;
}

fn get_build(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Get(array, index) = expr.term() else { return None };
    let Term::Build { n, i, body } = array.term() else { return None };
    let dims = array.ty().dims();
    let known =
        |index: &Expr| facts.grants("0 <= i && i < n, else the check stays", dims.first().is_some_and(|n| facts.in_range(index, n)));
    if index.is_atom() && known(index) {
        return Some(substitute(body, &[(i.clone(), index.clone())]));
    }
    // the index is used where the variable was, and in the check
    let in_range = known(index);
    Some(Expr::bind(i.name(), index.clone(), |at| {
        let element = substitute(body, &[(i.clone(), at.clone())]);
        if in_range {
            return element;
        }
        let low = Expr::prim(Prim::Le, vec![Expr::index(0), at.clone()]);
        let high = Expr::prim(Prim::Lt, vec![at, n.clone()]);
        Expr::check(Expr::prim(Prim::And, vec![low, high]), Status::Bounds, element)
    }))
}

fn length_build(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Dim(array, axis) = expr.term() else { return None };
    let Term::Build { n, i, body } = array.term() else { return None };
    if *axis > 0 {
        // the size of an element is that of every element: it cannot depend on i
        let size = body.ty().dims().get(*axis - 1)?.clone();
        if size.has_unknown() || size.mentions(i) || !facts.non_negative(&size) {
            facts.refuse(|| ("the length of an element is not known".into(), Some(body.clone())));
            return None;
        }
        return size.to_expr();
    }
    if facts.grants("0 <= n, else the check stays", Size::try_of_expr(n).is_some_and(|n| facts.non_negative(&n))) {
        return Some(n.clone());
    }
    Some(behind_check(n.clone()))
}

fn get_array(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Get(array, index) = expr.term() else { return None };
    let (Term::Array(items), Term::Index(k)) = (array.term(), index.term()) else { return None };
    items.get(usize::try_from(*k).ok()?).cloned()
}

fn get_select(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Get(array, index) = expr.term() else { return None };
    let Term::Array(items) = array.term() else { return None };
    let [a, b] = items.as_slice() else { return None };
    if matches!(index.term(), Term::Index(_)) {
        return None;
    }
    facts.require("0 <= i && i < 2", facts.in_range(index, &Size::constant(2)), index)?;
    let first = Expr::prim(Prim::Eq, vec![copy(index), Expr::index(0)]);
    Some(Expr::if_(first, a.clone(), b.clone()))
}

fn length_array(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Dim(array, axis) = expr.term() else { return None };
    let Term::Array(items) = array.term() else { return None };
    match (axis, items.first()) {
        (0, _) => Some(Expr::index(items.len() as i64)),
        (_, Some(first)) => Some(Expr::dim(first.clone(), axis - 1)),
        (_, None) => None,
    }
}

/// The array is dropped with the errors of its elements; the check of its count stays.
fn length_size(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Dim(array, axis) = expr.term() else { return None };
    let mut head = array;
    while let Term::Proj(inner, _) | Term::Get(inner, _) = head.term() {
        head = inner;
    }
    let size = array.ty().dims().get(*axis)?.clone();
    let variable = if let Term::Var(var) = head.term() { Some(var) } else { None };
    if size.has_unknown() || variable.is_some_and(|var| size.mentions(var)) {
        return None;
    }
    let n = size.to_expr()?;
    if facts.grants("0 <= n, else the check stays", facts.non_negative(&size)) {
        return Some(n);
    }
    // reading an existing array is cheaper than the check, and the rows of an empty array may have any length
    if variable.is_some() || *axis > 0 {
        facts.refuse(|| ("`0 <= n` does not hold".into(), Some(array.clone())));
        return None;
    }
    Some(behind_check(n))
}

/// `check 0 <= n else NEGATIVE in n`.
fn behind_check(n: Expr) -> Expr {
    Expr::bind("n", n, |n| Expr::check(Expr::prim(Prim::Le, vec![Expr::index(0), n.clone()]), Status::Negative, n))
}

fn build_eta(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    let Term::Get(array, index) = body.term() else { return None };
    // an empty build evaluates nothing: its replacement must not fail
    if !matches!(index.term(), Term::Var(var) if var == i) || mentions(array, i) || !is_path(array) {
        return None;
    }
    facts.require("a total", facts.is_total(array), array)?;
    let (Type::Array(_, length), size) = (array.ty(), Size::try_of_expr(n)?) else { return None };
    facts.require("n is the length of a", facts.same_size(length, &size), n)?;
    Some(freshen(array))
}

/// A variable, a component or an element of one: nothing is computed.
fn is_path(expr: &Expr) -> bool {
    match expr.term() {
        Term::Var(_) => true,
        Term::Proj(inner, _) => is_path(inner),
        Term::Get(inner, index) => is_path(inner) && index.is_atom(),
        _ => false,
    }
}
