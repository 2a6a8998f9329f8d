//! One loop for many sums: loops over the same range that read the same arrays run together, so that what
//! they read and compute alike is read and computed once.
//!
//!     [sum of f v[i], sum of g v[i]]   →   let s = (sum of f v[i], sum of g v[i]) in one loop in [s.0, s.1]
//!
//! The opposite of `fold-fission`, for the end of a schedule. Loops inside another loop are left alone: which
//! way they walk through memory is `lower`'s to choose.

use crate::ir::free::{each_free_var, mentions};
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "fold-merge" Fission Normalisation @ Any: "f (ifold g y n) (ifold h z n) -> let s = ifold (fun s i -> (g s.0 i, h s.1 i)) (y, z) n in f s.0 s.1 where neither is in a loop"
        if ["f needs both, and binds nothing that they need", "they read one array"] => fold_merge;
}

fn fold_merge(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let names_things = matches!(expr.term(), Term::Let(..) | Term::Array(_) | Term::Tuple(_) | Term::Prim(..));
    if facts.loops() > 0 || !names_things {
        return None;
    }
    let mut folds = Vec::new();
    if let Term::Let(_, value, _) = expr.term() {
        // the first of them is here, or this is found at a let further in
        strict_folds(value, facts, &mut Vec::new(), &mut folds);
        if folds.is_empty() {
            return None;
        }
        folds.clear();
    }
    strict_folds(expr, facts, &mut Vec::new(), &mut folds);
    let group = folds.iter().enumerate().find_map(|(at, first)| {
        let mut group = vec![first.clone()];
        let mut arrays = read(first);
        for other in &folds[at + 1..] {
            let more = read(other);
            let is_shared = more.iter().any(|array| arrays.contains(array));
            if same(count(first)?, count(other)?) && facts.require("they read one array", is_shared, other).is_some() {
                arrays.extend(more);
                group.push(other.clone());
            }
        }
        (group.len() > 1).then_some(group)
    })?;
    let Term::Fold { n, i, .. } = group.first()?.term() else { return None };
    let (mut inits, mut types) = (Vec::new(), Vec::new());
    for fold in &group {
        let Term::Fold { init, .. } = fold.term() else { return None };
        inits.push(init.clone());
        types.push(Type::Double);
    }
    let state = Var::fresh("s", Type::tuple(types));
    let mut steps = Vec::new();
    for (k, fold) in group.iter().enumerate() {
        let Term::Fold { acc, i: own, body, .. } = fold.term() else { return None };
        let component = Expr::proj(Expr::var(&state), k);
        steps.push(substitute(body, &[(acc.clone(), component), (own.clone(), Expr::var(i))]));
    }
    let together = Expr::fold_with(n.clone(), state, i.clone(), Expr::tuple(steps), Expr::tuple(inits));
    let sums = Var::fresh("s", together.ty().clone());
    let rest = replace(expr, &group, &sums);
    Some(Expr::let_(sums, together, rest))
}

fn count(fold: &Expr) -> Option<&Expr> {
    match fold.term() {
        Term::Fold { n, .. } => Some(n),
        _ => None,
    }
}

/// The sums that the term evaluates once and always, and that need nothing it binds (`bound`).
fn strict_folds(expr: &Expr, facts: &Facts, bound: &mut Vec<Var>, found: &mut Vec<Expr>) {
    match expr.term() {
        Term::Fold { .. } => {
            let is_free = || facts.grants("f needs both, and binds nothing that they need", !bound.iter().any(|var| mentions(expr, var)));
            if expr.ty() == &Type::Double && is_free() {
                found.push(expr.clone());
            }
        }
        Term::Let(var, value, body) => {
            strict_folds(value, facts, bound, found);
            bound.push(var.clone());
            strict_folds(body, facts, bound, found);
            bound.pop();
        }
        // what may not be evaluated, or in a loop
        Term::If(..) | Term::Build { .. } | Term::Check { .. } | Term::Dual { .. } | Term::Prim(Prim::And | Prim::Or, _) => {}
        term => term.each_child(&mut |child| strict_folds(child, facts, bound, found)),
    }
}

/// The arrays from outside whose elements a fold reads by its index.
fn read(fold: &Expr) -> Vec<Var> {
    fn gets(expr: &Expr, i: &Var, arrays: &mut Vec<Var>) {
        if let Term::Get(array, index) = expr.term()
            && (mentions(index, i) || mentions(array, i))
        {
            each_free_var(array, &mut |var| {
                if matches!(var.ty(), Type::Array(..)) {
                    arrays.push(var.clone());
                }
            });
        }
        expr.term().each_child(&mut |child| gets(child, i, arrays));
    }
    let mut arrays = Vec::new();
    if let Term::Fold { i, body, .. } = fold.term() {
        gets(body, i, &mut arrays);
    }
    arrays
}

fn replace(expr: &Expr, group: &[Expr], sums: &Var) -> Expr {
    match group.iter().position(|fold| fold.is_same(expr)) {
        Some(k) => Expr::proj(Expr::var(sums), k),
        None => map_children(expr, &mut |child| replace(child, group, sums)),
    }
}
