//! Updates: reads of updated elements are forwarded, and a fold whose step i updates element i becomes a `build`.
//!
//!     (update a i x)[i]                                        →  x
//!     update [a, b] 0 x                                        →  [x, b]
//!     update [a, b] [0, j] x                                   →  [update a j x, b]
//!     accumulate (update a i x) i y                            →  update a i (x + y)
//!     accumulate (accumulate a i x) i y                        →  accumulate a i (x + y)
//!     update a i a[i]                                          →  a
//!     ifold (fun a i -> accumulate a i e) z n                  →  build n (fun i -> z[i] + e)
//!     ifold (fun a i -> ifold (fun b j -> accumulate b [j, i] e) a m) z n
//!       →  ifold (fun a j -> ifold (fun b i -> accumulate b [j, i] e) a n) z m
//!     ifold (fun a i -> ifold (fun b j -> accumulate b [i, j] e) a m) z n
//!       →  build n (fun i -> ifold (fun r j -> accumulate r j e) z[i] m)
//!
//! So the backward pass of a `build` becomes a `build` again, which can be vectorised and needs no initialised array. Every update of the
//! array in the step is at the step's own index, and the array is not read otherwise. Limits: updates on the step's spine, in
//! its branches and in folds over the same array.

use crate::ir::free::{mentions, occurrences};
use crate::ir::subst::substitute;
use crate::ir::{Change, Expr, Prim, Size, Term, Type, Updated, Var};
use crate::rewrite::alike::same;
use crate::rewrite::atoms::{copy, is_free};
use crate::rewrite::facts::Facts;

use super::rules;
use super::unroll::SEVERAL;

rules! {
    "collect-build" Loop Normalisation @ Fold: "ifold (fun a i -> accumulate a i e) z n -> build n (fun i -> z[i] + e)"
        if ["a is not free in e", "n is the length of z", "no row is copied"] => collect_build;
    "collect-swap" Loop Normalisation @ Fold: "ifold (fun a i -> ifold (fun b j -> accumulate b [j, i] e) a m) z n -> ifold (fun a j -> ifold (fun b i -> accumulate b [j, i] e) a n) z m"
        if ["a is not free in e", "e total", "m is the length of z, and n of its rows"] => collect_swap;
    "update-array" Fusion Fusion @ Any: "update [a, b] 0 x -> [x, b]" if ["no work is duplicated"] => update_array;
    "get-update" Fusion Fusion @ Get: "(update a i x)[i] -> x" if ["0 <= i && i < length a"] => get_update;
    "update-update" Fusion Fusion @ Any: "accumulate (update a i x) i y -> update a i (x + y)" if ["x total, or kept"] => update_update;
    "accumulate-merge" Ring Algebra @ Any: "accumulate (accumulate a i x) i y -> accumulate a i (x + y)" => accumulate_merge;
    "update-same" Fusion Fusion @ Any: "update a i a[i] -> a" if ["0 <= i && i < length a"] => update_same;
}

/// An update of a short array at a literal index: the array is written out. One of rows only where it is written out already.
fn update_array(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Update(change, parts) = expr.term() else { return None };
    let Updated { array, indices, value } = Updated::of(parts)?;
    let (index, rest) = indices.split_first()?;
    let Term::Index(at) = index.term() else { return None };
    let Type::Array(element, length) = array.ty() else { return None };
    let length = length.as_constant()?;
    if !(0..length).contains(at) || length > SEVERAL || rest.is_empty() && *change == Change::Add && value.ty() != &Type::Double {
        return None;
    }
    let mut items = match array.term() {
        Term::Array(items) => items.clone(),
        _ if element.has_array() => return None,
        _ => {
            facts.require("no work is duplicated", is_free(array), array)?;
            (0..length).map(|k| Expr::get(array.clone(), Expr::index(k))).collect()
        }
    };
    let item = items.get_mut(usize::try_from(*at).ok()?)?;
    *item = match change {
        _ if !rest.is_empty() => Expr::update(*change, item.clone(), rest.to_vec(), value.clone()),
        Change::Replace if !facts.is_total(item) => return None,
        Change::Replace => value.clone(),
        Change::Add => Expr::prim(Prim::Add, vec![item.clone(), value.clone()]),
    };
    Some(Expr::array(element.as_ref().clone(), items))
}

fn get_update(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Get(changed, at) = expr.term() else { return None };
    let Term::Update(change, parts) = changed.term() else { return None };
    let Updated { array, indices, value } = Updated::of(parts)?;
    let (index, rest) = indices.split_first()?;
    let is_same = same(index, at);
    let is_other = matches!((index.term(), at.term()), (Term::Index(a), Term::Index(b)) if a != b);
    if !is_same && !is_other || !is_free(index) {
        return None;
    }
    let length = array.ty().dims().first()?.clone();
    facts.require("0 <= i && i < length a", facts.in_range(index, &length), index)?;
    let before = Expr::get(array.clone(), at.clone());
    match (rest, change) {
        _ if is_other => Some(before),
        ([], Change::Replace) => Some(value.clone()),
        ([], Change::Add) if value.ty() == &Type::Double => Some(Expr::prim(Prim::Add, vec![before, value.clone()])),
        ([], Change::Add) => None,
        (rest, change) => Some(Expr::update(*change, before, rest.to_vec(), value.clone())),
    }
}

fn update_update(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (outer, value, Change::Replace, before) = twice(expr)? else { return None };
    let value = match outer {
        Change::Replace => {
            facts.require("x total, or kept", facts.is_total(before.value), before.value)?;
            value.clone()
        }
        Change::Add if value.ty() == &Type::Double => Expr::prim(Prim::Add, vec![before.value.clone(), value.clone()]),
        Change::Add => return None,
    };
    Some(Expr::update(Change::Replace, before.array.clone(), before.indices.to_vec(), value))
}

fn accumulate_merge(expr: &Expr, _: &Facts) -> Option<Expr> {
    let (Change::Add, value, Change::Add, before) = twice(expr)? else { return None };
    if value.ty() != &Type::Double {
        return None;
    }
    let sum = Expr::prim(Prim::Add, vec![before.value.clone(), value.clone()]);
    Some(Expr::update(Change::Add, before.array.clone(), before.indices.to_vec(), sum))
}

/// A second change of one element: how, by what, and the first change.
fn twice(expr: &Expr) -> Option<(Change, &Expr, Change, Updated<'_>)> {
    let Term::Update(outer, parts) = expr.term() else { return None };
    let Updated { array, indices, value } = Updated::of(parts)?;
    let Term::Update(inner, parts) = array.term() else { return None };
    let before = Updated::of(parts)?;
    let is_same = indices.len() == before.indices.len() && indices.iter().zip(before.indices).all(|(a, b)| is_free(a) && same(a, b));
    is_same.then_some((*outer, value, *inner, before))
}

fn update_same(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Update(Change::Replace, parts) = expr.term() else { return None };
    let Updated { array, indices, value } = Updated::of(parts)?;
    let element = indices.iter().fold(array.clone(), |array, index| Expr::get(array, index.clone()));
    let is_own = match value.term() {
        Term::Get(..) => same(value, &element),
        Term::Var(var) => facts.bound_to(&element).is_some_and(|bound| bound == *var),
        _ => false,
    };
    if !is_own {
        return None;
    }
    let is_there = indices.iter().zip(array.ty().dims()).all(|(index, length)| facts.in_range(index, &length));
    facts.require("0 <= i && i < length a", is_there, value)?;
    Some(array.clone())
}

fn collect_build(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    let Type::Array(element, length) = acc.ty() else { return None };
    if !body.has_updates() || !matches!(element.as_ref(), Type::Double | Type::Array(..)) {
        return None;
    }
    let row = acc.renewed(element.as_ref().clone());
    let step = element_of(body, acc, i, &row, &|holds, value| facts.require("a is not free in e", holds, value))?;
    let is_whole = Size::try_of_expr(n).is_some_and(|count| count == *length);
    facts.require("n is the length of z", is_whole, n)?;
    let copies = element.has_array() && !matches!(init.term(), Term::Build { .. }) && keeps_part(&step, &row);
    facts.require("no row is copied", !copies, init)?;
    // what the elements begin with is computed once, before the loop
    let rows = |z: Expr| {
        let first = Expr::get(z, Expr::var(i));
        let step = match occurrences(&step, &row) {
            0 => step,
            1 => substitute(&step, &[(row, first)]),
            _ => Expr::let_(row, first, step),
        };
        Expr::build_with(n.clone(), i.clone(), step)
    };
    Some(if matches!(init.term(), Term::Build { .. }) { rows(copy(init)) } else { Expr::bind("z", init.clone(), rows) })
}

/// A matrix whose elements each get one change, column by column: row by row, as `collect-build` takes them.
fn collect_swap(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    let Term::Fold { n: m, acc: inner, i: j, body: step, init: before } = body.term() else { return None };
    let dims = acc.ty().dims();
    let is = |expr: &Expr, var: &Var| matches!(expr.term(), Term::Var(own) if own == var);
    if !is(before, acc) || dims.len() != 2 || mentions(m, i) || mentions(m, acc) {
        return None;
    }
    // one change of the element (j, i), in each iteration
    let (mut lets, mut rest) = (Vec::new(), step);
    while let Term::Let(x, value, body) = rest.term() {
        lets.push((x, value));
        rest = body;
    }
    let Term::Update(_, parts) = rest.term() else { return None };
    let Updated { array, indices: [row, column], value } = Updated::of(parts)? else { return None };
    if !is(array, inner) || !is(row, j) || !is(column, i) {
        return None;
    }
    let is_whole = [(m, &dims[0]), (n, &dims[1])].iter().all(|(count, length)| Size::try_of_expr(count).as_ref() == Some(*length));
    facts.require("m is the length of z, and n of its rows", is_whole, n)?;
    let mut inside = facts.clone();
    inside.enter_accumulator(acc);
    inside.enter_loop(i, n);
    inside.enter_accumulator(inner);
    inside.enter_loop(j, m);
    for (x, computed) in lets.iter().map(|(x, value)| (Some(*x), *value)).chain([(None, value)]) {
        facts.require("a is not free in e", !mentions(computed, inner) && !mentions(computed, acc), computed)?;
        facts.require("e total", inside.is_total(computed), computed)?;
        if let Some(x) = x {
            inside.enter_let(x, computed);
        }
    }
    let rows = Expr::fold_with(n.clone(), inner.clone(), i.clone(), step.clone(), Expr::var(acc));
    Some(Expr::fold_with(m.clone(), acc.clone(), j.clone(), rows, init.clone()))
}

/// Whether elements of a row stay as they are: what was a write to some of them would become a copy of the row.
fn keeps_part(expr: &Expr, row: &Var) -> bool {
    match expr.term() {
        Term::Var(var) => var == row,
        Term::Let(_, _, body) | Term::Check { body, .. } => keeps_part(body, row),
        Term::If(_, a, b) => keeps_part(a, row) || keeps_part(b, row),
        Term::Update(_, parts) => parts.first().is_some_and(|array| keeps_part(array, row)),
        Term::Fold { n, acc, init, .. } => {
            let is_whole = matches!((Size::try_of_expr(n), acc.ty()), (Some(count), Type::Array(_, length)) if count == *length);
            !is_whole && keeps_part(init, row)
        }
        _ => false,
    }
}

/// Whether each step of a fold over an array changes its own element alone.
pub fn changes_own_element(fold: &Expr) -> bool {
    let Term::Fold { acc, i, body, .. } = fold.term() else { return false };
    let Type::Array(element, _) = acc.ty() else { return false };
    let row = acc.renewed(element.as_ref().clone());
    element_of(body, acc, i, &row, &|holds, _| holds.then_some(())).is_some()
}

/// Whether what a step computes may be used, which is free of the array or not.
type Granted<'a> = &'a dyn Fn(bool, &Expr) -> Option<()>;

/// What a step makes of its own element of the array, which is `row` before; `None` where it does anything else with it.
fn element_of(expr: &Expr, array: &Var, i: &Var, row: &Var, free: Granted) -> Option<Expr> {
    match expr.term() {
        Term::Var(var) if var == array => Some(Expr::var(row)),
        Term::Let(var, value, body) => {
            free(!mentions(value, array), value)?;
            Some(Expr::let_(var.clone(), value.clone(), element_of(body, array, i, row, free)?))
        }
        Term::If(cond, a, b) if !mentions(cond, array) => {
            Some(Expr::if_(cond.clone(), element_of(a, array, i, row, free)?, element_of(b, array, i, row, free)?))
        }
        Term::Check { cond, status, body } if !mentions(cond, array) => {
            Some(Expr::check(cond.clone(), *status, element_of(body, array, i, row, free)?))
        }
        Term::Update(change, parts) => {
            let Updated { array: before, indices, value } = Updated::of(parts)?;
            let (first, rest) = indices.split_first()?;
            if !matches!(first.term(), Term::Var(var) if var == i) {
                return None;
            }
            free(!mentions(value, array) && rest.iter().all(|index| !mentions(index, array)), value)?;
            let before = element_of(before, array, i, row, free)?;
            match (rest, change) {
                ([], Change::Replace) => Some(value.clone()),
                ([], Change::Add) if value.ty() == &Type::Double => Some(Expr::prim(Prim::Add, vec![before, value.clone()])),
                ([], Change::Add) => {
                    let share = Var::fresh("share", value.ty().clone());
                    let sum = Expr::fold(Expr::dim(Expr::var(&share), 0), array.name(), "j", before, |sum, j| {
                        Expr::update(Change::Add, sum, vec![j.clone()], Expr::get(Expr::var(&share), j))
                    });
                    Some(Expr::let_(share, value.clone(), sum))
                }
                (rest, change) => Some(Expr::update(*change, before, rest.to_vec(), value.clone())),
            }
        }
        Term::Fold { n, acc, i: j, body, init } if !mentions(n, array) && !mentions(body, array) => {
            let first = element_of(init, array, i, row, free)?;
            let inner = acc.renewed(row.ty().clone());
            let step = element_of(body, acc, i, &inner, free)?;
            Some(Expr::fold_with(n.clone(), inner, j.clone(), step, first))
        }
        _ => None,
    }
}
