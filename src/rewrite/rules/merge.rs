//! Conditionals on one condition in straight-line code become one conditional with a tuple, whose branches can share
//! subexpressions.
//!
//!     let x = (if c then a else b) in            let t = if c then (a, d) else (b, e) in
//!     let y = (if c then d else e) in f     →    f[t.0/x, t.1/y]
//!
//! Unrolled loops have much such code. The resulting tuple is flat, without duplicate or unused components.

use crate::ir::free::mentions;
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Name, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "if-merge" Conditional @ Let: "let x = (if c then a else b) in let y = (if c then d else e) in f -> let (x, y) = if c then (a, d) else (b, e) in f" if ["d and e use no variable bound in between"] => if_merge;
    "if-components" Conditional @ Let: "let x = (if c then ((a, b), b) else ((d, e), e)) in f -> let (y, z) = (if c then (a, b) else (d, e)) in f[y/x.0.0, z/x.0.1, z/x.1]" => if_components;
}

/// How many lets `if-merge` looks across.
const MERGE_DISTANCE: usize = 64;

fn if_merge(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::If(c, a, b) = value.term() else { return None };
    if value.ty().has_array() || holds_index(value.ty()) {
        return None;
    }
    // the lets in between, which the second conditional must not use
    let mut between: Vec<(Var, Expr)> = Vec::new();
    let mut rest = body;
    while let Term::Let(y, other, body) = rest.term() {
        if let Term::If(again, d, e) = other.term()
            && same(c, again)
            && !other.ty().has_array()
            && !holds_index(other.ty())
            && facts
                .grants("d and e use no variable bound in between", !between.iter().any(|(var, _)| mentions(d, var) || mentions(e, var)))
        {
            let second = x.renewed(x.ty().clone());
            let then = Expr::let_(x.clone(), a.clone(), Expr::tuple(vec![Expr::var(x), d.clone()]));
            let e = substitute(e, &[(x.clone(), Expr::var(&second))]);
            let otherwise = Expr::let_(second.clone(), b.clone(), Expr::tuple(vec![Expr::var(&second), e]));
            let both = Expr::if_(c.clone(), then, otherwise);
            let name = Name::of_parts(x.name(), [x.full_name().clone(), y.full_name().clone()]);
            let pair = Var::named(name, both.ty().clone());
            let parts = [(x.clone(), Expr::proj(Expr::var(&pair), 0)), (y.clone(), Expr::proj(Expr::var(&pair), 1))];
            let body = between.into_iter().rev().fold(body.clone(), |body, (var, value)| Expr::let_(var, value, body));
            return Some(Expr::let_(pair, both, substitute(&body, &parts)));
        }
        if between.len() == MERGE_DISTANCE {
            return None;
        }
        between.push((y.clone(), other.clone()));
        rest = body;
    }
    None
}

/// Sizes are over Index variables: one that becomes a component is none.
fn holds_index(ty: &Type) -> bool {
    match ty {
        Type::Index(_) => true,
        Type::Tuple(parts) => parts.iter().any(|part| matches!(part, Type::Index(_))),
        Type::Double | Type::Bool | Type::Array(..) | Type::Rec(_) => false,
    }
}

/// Drops components of a conditional tuple that nobody asks for, that another component is or that are one literal,
/// and flattens it.
fn if_components(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    if !matches!(value.term(), Term::If(..)) || !matches!(value.ty(), Type::Tuple(_)) {
        return None;
    }
    let mut used: Vec<Vec<usize>> = Vec::new();
    if !used_paths(body, x, &mut used) || used.is_empty() {
        return None;
    }
    let mut rows: Vec<Vec<Expr>> = Vec::new();
    // one that is all of it may be one of a loop
    let component = |tail: &Expr, path: &[usize]| match (path, used.len()) {
        ([k], 1) if matches!(tail.term(), Term::Fold { .. }) => super::fission::component(tail, *k),
        _ => component(tail, path),
    };
    each_tail(value, &mut |tail| rows.push(used.iter().filter_map(|path| component(tail, path)).collect()));
    if rows.iter().any(|row| row.len() != used.len()) {
        return None;
    }
    // the first component that is the same in every branch stands for the others, a literal for itself
    let alike = |j: usize, k: usize| rows.iter().all(|row| same(&row[j], &row[k]));
    let first: Vec<usize> = (0..used.len()).map(|k| (0..k).find(|j| alike(*j, k)).unwrap_or(k)).collect();
    let is_literal = |k: usize| matches!(rows[0][k].term(), Term::Double(_)) && rows.iter().all(|row| same(&row[k], &rows[0][k]));
    let kept: Vec<usize> = (0..used.len()).filter(|k| first[*k] == *k && !is_literal(*k)).collect();
    let flat = used.iter().all(|path| path.len() == 1);
    if kept.is_empty() || flat && kept.len() == leaves(value.ty()) {
        return None;
    }
    let mut row = 0;
    let value = with_tails(value, &mut |_| {
        row += 1;
        let mut parts: Vec<Expr> = kept.iter().map(|k| rows[row - 1][*k].clone()).collect();
        if parts.len() == 1 { parts.swap_remove(0) } else { Expr::tuple(parts) }
    });
    let var = x.renewed(value.ty().clone());
    let read = |path: &[usize]| {
        let at = used.iter().position(|other| other == path)?;
        if is_literal(at) {
            return Some(rows[0][at].clone());
        }
        let at = kept.iter().position(|k| *k == first[at])?;
        Some(if kept.len() == 1 { Expr::var(&var) } else { Expr::proj(Expr::var(&var), at) })
    };
    let body = with_paths(body, x, &read);
    Some(Expr::let_(var, value, body))
}

/// How many scalars a nested tuple holds.
fn leaves(ty: &Type) -> usize {
    match ty {
        Type::Tuple(parts) => parts.iter().map(leaves).sum(),
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => 1,
    }
}

/// The component at the end of the path, where the tuples on the way are written out.
fn component(expr: &Expr, path: &[usize]) -> Option<Expr> {
    match (path.split_first(), expr.term()) {
        (None, _) => Some(expr.clone()),
        (Some((k, rest)), Term::Tuple(parts)) => component(parts.get(*k)?, rest),
        (Some(_), _) => None,
    }
}

/// The projections that lead from x.
fn path_from(expr: &Expr, x: &Var) -> Option<Vec<usize>> {
    match expr.term() {
        Term::Var(var) if var == x => Some(Vec::new()),
        Term::Proj(inner, k) => {
            let mut path = path_from(inner, x)?;
            path.push(*k);
            Some(path)
        }
        _ => None,
    }
}

/// Records which components of x are used; returns whether x is used in no other way.
fn used_paths(expr: &Expr, x: &Var, used: &mut Vec<Vec<usize>>) -> bool {
    if let Some(path) = path_from(expr, x) {
        if matches!(expr.ty(), Type::Tuple(_)) {
            return false;
        }
        if !used.contains(&path) {
            used.push(path);
        }
        return true;
    }
    !mentions(expr, x) || expr.term().children().all(|child| used_paths(child, x, used))
}

fn with_paths(expr: &Expr, x: &Var, read: &dyn Fn(&[usize]) -> Option<Expr>) -> Expr {
    match path_from(expr, x).and_then(|path| read(&path)) {
        Some(component) => component,
        None if !mentions(expr, x) => expr.clone(),
        None => map_children(expr, &mut |child| with_paths(child, x, read)),
    }
}

/// The results of a conditional, branch by branch.
fn each_tail(expr: &Expr, f: &mut dyn FnMut(&Expr)) {
    match expr.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => each_tail(body, f),
        Term::If(_, a, b) => {
            each_tail(a, f);
            each_tail(b, f);
        }
        _ => f(expr),
    }
}

fn with_tails(expr: &Expr, f: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    match expr.term() {
        Term::Let(x, a, b) => Expr::let_(x.clone(), a.clone(), with_tails(b, f)),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, with_tails(body, f)),
        Term::If(c, a, b) => {
            let (a, b) = (with_tails(a, f), with_tails(b, f));
            Expr::if_(c.clone(), a, b)
        }
        _ => f(expr),
    }
}
