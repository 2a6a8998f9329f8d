//! Arrays of a few elements that are only read become variables.
//!
//!     let x = build 2 (fun i -> f i) in … x[0] … x[k] …   →  let x0 = f 0 in let x1 = f 1 in … x0 … if k = 0 then x0 else x1 …
//!
//! Camera models are made of such arrays. An array that is passed on or returned stays one, and so does one of three or
//! more elements that is read at an index which is not literal: a read is then cheaper than the choice.

use crate::ir::subst::{freshen, substitute};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::has_array;
use crate::rewrite::facts::Facts;
use crate::rewrite::uses::{Use, Uses};

use super::lambda::{copy, is_free};
use super::rules;

rules! {
    "build-unroll" Loop Normalisation @ Let: "let x = build n f in b -> let x = [f 0, …] in b if n is a small literal and x is only read, at literal indices or of two elements" => build_unroll;
    "build-cases" Loop Normalisation @ Build: "build n f -> [f 0, …] if n is a small literal and f tests its argument against literals" => build_cases;
    "array-names" Lambda @ Let: "let x = [a, b] in c -> let y = a in let z = b in let x = [y, z] in c if x is only read, at literal indices or of two elements" => array_names;
    "get-select" Fusion Fusion @ Get: "[a, b][i] -> if i = 0 then a else b if 0 <= i && i < 2" => get_select;
}

/// More elements than this stay a loop,
const UNROLLED_ELEMENTS: i64 = 4;
/// and so do those whose element has more nodes.
const UNROLLED_NODES: usize = 80;

/// Whether every occurrence is an element that can be named, of so many.
pub fn is_named_away(uses: Use, elements: usize) -> bool {
    uses.count > 0 && (uses.count == uses.literal.saturating_add(uses.measured) || elements <= 2 && uses.is_virtual())
}

fn uses_of(x: &Var, whole: &Expr, facts: &Facts) -> Use {
    if facts.uses.knows(x) { facts.uses.get(x) } else { Uses::of(whole).get(x) }
}

fn build_unroll(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::Build { n, i, body: element } = value.term() else { return None };
    let Term::Index(count) = n.term() else { return None };
    if !(1..=UNROLLED_ELEMENTS).contains(count) || element.node_count() > UNROLLED_NODES || matches!(element.ty(), Type::Array(..)) {
        return None;
    }
    if !is_named_away(uses_of(x, expr, facts), *count as usize) {
        return None;
    }
    let items = (0..*count).map(|k| freshen(&substitute(element, &[(i.clone(), Expr::index(k))])));
    let array = Expr::array(element.ty().clone(), items.collect());
    let ty = x.ty().clone();
    let array = Expr::with_type(array.term().clone(), ty, value.span());
    Some(Expr::let_(x.clone(), array, body.clone()))
}

/// More elements than this stay a loop even when each is a case of its own,
const CASES: i64 = 12;
/// and so do those that together have more nodes.
const CASES_NODES: usize = 12_000;

fn build_cases(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    let Term::Index(count) = n.term() else { return None };
    if !(2..=CASES).contains(count) || has_array(body.ty()) || body.node_count() * *count as usize > CASES_NODES {
        return None;
    }
    let mut tests = 0;
    count_tests(body, i, &mut tests);
    if tests * 3 < *count {
        return None;
    }
    let items = (0..*count).map(|k| freshen(&substitute(body, &[(i.clone(), Expr::index(k))])));
    let array = Expr::array(body.ty().clone(), items.collect());
    Some(Expr::with_type(array.term().clone(), expr.ty().clone(), expr.span()))
}

/// Conditions that compare the variable with a literal.
fn count_tests(expr: &Expr, i: &Var, tests: &mut i64) {
    let is_i = |e: &Expr| matches!(e.term(), Term::Var(var) if var == i);
    if let Term::If(cond, ..) = expr.term()
        && let Term::Prim(Prim::Eq | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge, args) = cond.term()
        && args.iter().any(is_i)
        && args.iter().any(|arg| matches!(arg.term(), Term::Index(_)))
    {
        *tests += 1;
    }
    expr.term().each_child(&mut |child| count_tests(child, i, tests));
}

fn array_names(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::Array(items) = value.term() else { return None };
    if items.iter().all(is_free) || !is_named_away(uses_of(x, expr, facts), items.len()) {
        return None;
    }
    let mut lets = Vec::new();
    let names = items.iter().enumerate().map(|(at, item)| {
        if is_free(item) {
            return item.clone();
        }
        let name = Var::fresh(&format!("{}_{at}", x.name()), item.ty().clone());
        lets.push((name.clone(), item.clone()));
        Expr::var(&name)
    });
    let array = Expr::with_type(Term::Array(names.collect()), value.ty().clone(), value.span());
    let inner = Expr::let_(x.clone(), array, body.clone());
    Some(lets.into_iter().rev().fold(inner, |inner, (name, item)| Expr::let_(name, item, inner)))
}

fn get_select(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Get(array, index) = expr.term() else { return None };
    let Term::Array(items) = array.term() else { return None };
    let [a, b] = items.as_slice() else { return None };
    if matches!(index.term(), Term::Index(_)) || !is_free(a) || !is_free(b) || !facts.in_range(index, &Size::constant(2)) {
        return None;
    }
    let first = Expr::prim(Prim::Eq, vec![copy(index), Expr::index(0)]);
    Some(Expr::if_(first, a.clone(), b.clone()))
}
