//! Sums down columns begin with what is added to them: one pass over the elements less, and several sums are added up in one place.
//!
//! In: a function's body. Out: the same, where the elements of a `build` that are sums of terms, some of which are sums down the
//! element's column, are one sum after the other, the first of which begins with the other terms:
//!
//!     build(n, j. exp(fold(m, s, i. s + A[i][j], 0)   →   build(n, j. exp(fold(k, s, i. s + B[i][j],
//!                   + fold(k, s, i. s + B[i][j], 0)                       fold(m, s, i. s + A[i][j], b[j]))))
//!                   + b[j]))
//!
//! A law of the real numbers: only where [`Options`] allows these. Terms with loops of their own are added at the end, as before; names of
//! elements are written out where a sum then begins with them.

use crate::ir::free::mentions;
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Function, Prim, Term, Type, Var};

use super::Options;
use super::columns::{has_few, has_loop, is_plain, is_sum_down};

/// The body with such sums one after the other.
pub fn run(function: &Function, options: &Options) -> Expr {
    if options.algebra { begun_inside(&function.body) } else { function.body.clone() }
}

fn begun_inside(expr: &Expr) -> Expr {
    let inside = map_children(expr, &mut begun_inside);
    let Term::Build { n, i, body } = inside.term() else { return inside };
    if has_few(n) || body.ty().has_array() || !has_loop(body) {
        return inside;
    }
    let element = begun(i, body, &mut Vec::new());
    if element.is_same(body) {
        return inside;
    }
    Expr::with_type(Term::Build { n: n.clone(), i: i.clone(), body: element }, inside.ty().clone(), inside.span())
}

/// An element, or a part of it; `named` are the lets around.
fn begun(column: &Var, expr: &Expr, named: &mut Vec<Var>) -> Expr {
    match expr.term() {
        Term::Prim(Prim::Add, _) => {
            let expr = begun_summands(column, expr, named);
            one_after_the_other(column, &expr, named).unwrap_or(expr)
        }
        // a name of an element stands between a sum and what it may begin with
        Term::Let(var, value, body) if is_plain(value) => {
            let inside = substitute(body, &[(var.clone(), value.clone())]);
            let begun = begun(column, &inside, named);
            if begun.is_same(&inside) { expr.clone() } else { begun }
        }
        Term::Let(var, ..) => {
            let mut parts = 0;
            map_children(expr, &mut |part| {
                named.extend((parts == 1).then(|| var.clone()));
                parts += 1;
                begun(column, part, named)
            })
        }
        Term::Prim(..) | Term::If(..) | Term::Tuple(_) => map_children(expr, &mut |child| begun(column, child, named)),
        _ => expr.clone(),
    }
}

/// A sum with what is in its terms begun.
fn begun_summands(column: &Var, expr: &Expr, named: &mut Vec<Var>) -> Expr {
    match expr.term() {
        Term::Prim(Prim::Add, _) => map_children(expr, &mut |child| begun_summands(column, child, named)),
        _ => begun(column, expr, named),
    }
}

/// A sum of terms, some of which are sums down the column: if there are several of these, or terms that they may begin with.
fn one_after_the_other(column: &Var, expr: &Expr, named: &[Var]) -> Option<Expr> {
    let mut terms = Vec::new();
    summands(expr, &mut terms);
    let is_early = |term: &Expr| !named.iter().any(|var| mentions(term, var));
    let (sums, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|term| is_sum_down(column, term) && is_early(term));
    if sums.is_empty() {
        return None;
    }
    let (first, last): (Vec<_>, Vec<_>) = others.into_iter().partition(|term| !has_loop(term) && is_early(term));
    if sums.len() + first.len() < 2 {
        return None;
    }
    let total = sums.into_iter().fold(total(first), |before, sum| Some(begins_with(&sum, before)));
    total.map(|sum| last.into_iter().fold(sum, plus))
}

/// The terms of a sum, in their order.
fn summands(expr: &Expr, terms: &mut Vec<Expr>) {
    match expr.term() {
        Term::Prim(Prim::Add, args) if expr.ty() == &Type::Double => args.iter().for_each(|arg| summands(arg, terms)),
        _ => terms.push(expr.clone()),
    }
}

fn total(terms: Vec<Expr>) -> Option<Expr> {
    terms.into_iter().reduce(plus)
}

/// The sum with `before` added before its terms.
fn begins_with(sum: &Expr, before: Option<Expr>) -> Expr {
    let (Some(before), Term::Fold { n, acc, i, body, init }) = (before, sum.term()) else { return sum.clone() };
    let init = if matches!(init.term(), Term::Double(zero) if *zero == 0.0) { before } else { plus(before, init.clone()) };
    let begun = Term::Fold { n: n.clone(), acc: acc.clone(), i: i.clone(), body: body.clone(), init };
    Expr::with_type(begun, sum.ty().clone(), sum.span())
}

fn plus(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Add, vec![a, b])
}
