//! The laws of linear maps (003 Figure 4), from left to right: simplification.
//!
//! In: a map. Out: an equal one, in which zeros and identities are gone, scalings are one scaling, and rows meet columns.
//!
//!     0 ∘ m = 0    m ∘ 0 = 0    1 ∘ m = m    m ∘ 1 = m    m ⊕ 0 = m    0 ⊕ m = m
//!     (m₁ ∘ m₂) ∘ m₃ = m₁ ∘ (m₂ ∘ m₃)                     (m₁ ⋈ m₂) ∘ (n₁ × n₂) = (m₁ ∘ n₁) ⊕ (m₂ ∘ n₂)
//!     S(k₁) ∘ S(k₂) = S(k₁ * k₂)                          S(k₁) ⊕ S(k₂) = S(k₁ + k₂)
//!     S(k) ∘ (m₁ ⊕ m₂) = (S(k) ∘ m₁) ⊕ (S(k) ∘ m₂)        at(i) ∘ 𝒱(build n f) = f i

use std::rc::Rc;

use super::limits::{LARGEST, too_large};
use super::map::{Folding, Form, Map};
use crate::diagnostic::Diagnostic;
use crate::ir::free::mentions;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::source::Span;

/// Maps of more parts keep names that nothing mentions.
const TIDY: usize = 2_000;

/// The map by the laws.
pub fn simplified(map: &Map) -> Result<Map, Diagnostic> {
    if map.size() > LARGEST {
        return Err(too_large(Span::NONE));
    }
    let simple = go(map);
    if simple.size() > LARGEST { Err(too_large(Span::NONE)) } else { Ok(simple) }
}

fn go(map: &Map) -> Map {
    let (from, to) = (map.from(), map.to());
    let all = |maps: &[Map]| maps.iter().map(go).collect::<Vec<Map>>();
    let none = |maps: &[Map]| maps.iter().all(Map::is_zero);
    match map.form() {
        Form::Zero | Form::One | Form::At(_) | Form::Hot(_) => map.clone(),
        Form::Scale(k) => match k.term() {
            Term::Double(1.0) => Map::one(from),
            Term::Double(0.0) => Map::zero(from, to),
            _ => map.clone(),
        },
        Form::Compose(after, before) => compose(&go(after), &go(before)),
        Form::Sum(maps) => sum(from, to, all(maps)),
        Form::VCat(maps) => Some(all(maps)).filter(|maps| !none(maps)).map_or_else(|| Map::zero(from, to), |maps| Map::vcat(from, maps)),
        Form::HCat(maps) => Some(all(maps)).filter(|maps| !none(maps)).map_or_else(|| Map::zero(from, to), |maps| Map::hcat(to, maps)),
        Form::VList(maps) => {
            Some(all(maps)).filter(|maps| !none(maps)).map_or_else(|| Map::zero(from, to), |maps| Map::vlist(from, to, maps))
        }
        Form::HList(maps) => {
            Some(all(maps)).filter(|maps| !none(maps)).map_or_else(|| Map::zero(from, to), |maps| Map::hlist(from, to, maps))
        }
        Form::VBuild(n, i, body) => unless_zero(map, go(body), |body| Map::vbuild(n.clone(), i.clone(), body, to)),
        Form::HBuild(n, i, body) => unless_zero(map, go(body), |body| Map::hbuild(n.clone(), i.clone(), body, from)),
        Form::SumBuild(n, i, body) => unless_zero(map, go(body), |body| Map::sum_build(n.clone(), i.clone(), body)),
        Form::If(cond, then, otherwise) => {
            let (then, otherwise) = (go(then), go(otherwise));
            if then.is_zero() && otherwise.is_zero() { Map::zero(from, to) } else { Map::if_(cond.clone(), then, otherwise) }
        }
        Form::Let(var, value, body) => {
            let body = go(body);
            if body.is_zero() {
                return Map::zero(from, to);
            }
            // in a large map an unused name is cheaper to keep than to find
            if body.size() > TIDY || mentioned(&body, var) { Map::let_(var.clone(), value.clone(), body) } else { body }
        }
        Form::Check(cond, status, span, body) => unless_zero(map, go(body), |body| Map::check(cond.clone(), *status, *span, body)),
        Form::Fold(fold) => Map::fold_of(folding(fold)),
        Form::FoldBack(fold) => Map::fold_back(folding(fold)),
    }
}

fn unless_zero(map: &Map, body: Map, f: impl FnOnce(Map) -> Map) -> Map {
    if body.is_zero() { Map::zero(map.from(), map.to()) } else { f(body) }
}

fn folding(fold: &Folding) -> Rc<Folding> {
    Rc::new(Folding { step: go(&fold.step), start: go(&fold.start), ..fold.clone() })
}

/// The first after the second, both simple.
fn compose(after: &Map, before: &Map) -> Map {
    match (after.form(), before.form()) {
        (Form::Zero, _) | (_, Form::Zero) => Map::zero(before.from(), after.to()),
        (Form::One, _) => before.clone(),
        (_, Form::One) => after.clone(),
        (Form::Scale(a), Form::Scale(b)) => Map::scale(product(a, b)),
        (Form::Compose(first, second), _) => compose(first, &compose(second, before)),
        (Form::Let(var, value, body), _) => Map::let_(var.clone(), value.clone(), compose(body, before)),
        (_, Form::Let(var, value, body)) => Map::let_(var.clone(), value.clone(), compose(after, body)),
        (Form::HCat(rows), Form::VCat(columns)) if rows.len() == columns.len() => {
            let products = rows.iter().zip(columns).map(|(row, column)| compose(row, column)).collect();
            sum(before.from(), after.to(), products)
        }
        (Form::Scale(_), Form::Sum(maps)) => sum(before.from(), after.to(), maps.iter().map(|map| compose(after, map)).collect()),
        (Form::Scale(_), Form::Compose(first, second)) if matches!(first.form(), Form::Scale(_)) => compose(&compose(after, first), second),
        (Form::At(index), Form::VBuild(_, i, body)) => go(&with(body, i, index)),
        _ => Map::compose(after.clone(), before.clone()),
    }
}

/// The sum of simple maps.
fn sum(from: &Type, to: &Type, maps: Vec<Map>) -> Map {
    let mut terms: Vec<Map> = Vec::new();
    let mut scale: Option<(usize, Expr)> = None;
    let mut all: Vec<Map> = maps.into_iter().rev().collect();
    while let Some(map) = all.pop() {
        let k = match map.form() {
            Form::Zero => continue,
            Form::Sum(maps) => {
                all.extend(maps.iter().rev().cloned());
                continue;
            }
            Form::One if map.from() == &Type::Double => Some(Expr::double(1.0)),
            Form::Scale(k) => Some(k.clone()),
            _ => None,
        };
        match (k, &mut scale) {
            (None, _) => terms.push(map),
            (Some(k), None) => {
                scale = Some((terms.len(), k));
                terms.push(map);
            }
            (Some(k), Some((at, total))) => {
                *total = Expr::prim(Prim::Add, vec![total.clone(), k]);
                if let Some(term) = terms.get_mut(*at) {
                    *term = Map::scale(total.clone());
                }
            }
        }
    }
    match terms.len() {
        0 => Map::zero(from, to),
        1 => terms.swap_remove(0),
        _ => Map::sum(from, to, terms),
    }
}

fn product(a: &Expr, b: &Expr) -> Expr {
    match (a.term(), b.term()) {
        (Term::Double(1.0), _) => b.clone(),
        (_, Term::Double(1.0)) => a.clone(),
        _ => Expr::prim(Prim::Mul, vec![a.clone(), b.clone()]),
    }
}

/// Whether a term of the map mentions a variable.
fn mentioned(map: &Map, var: &Var) -> bool {
    let mut found = false;
    let _ = each(map, &mut |term| {
        found |= mentions(term, var);
        term.clone()
    });
    found
}

/// The map with an index in the place of a variable.
fn with(map: &Map, var: &Var, index: &Expr) -> Map {
    each(map, &mut |term| substitute(term, &[(var.clone(), index.clone())]))
}

/// The map with `f` of each of its terms.
fn each(map: &Map, f: &mut dyn FnMut(&Expr) -> Expr) -> Map {
    let (from, to) = (map.from(), map.to());
    let all = |maps: &[Map], f: &mut dyn FnMut(&Expr) -> Expr| maps.iter().map(|map| each(map, f)).collect::<Vec<Map>>();
    match map.form() {
        Form::Zero | Form::One => map.clone(),
        Form::Scale(k) => Map::scale(f(k)),
        Form::Compose(after, before) => Map::compose(each(after, f), each(before, f)),
        Form::Sum(maps) => Map::sum(from, to, all(maps, f)),
        Form::VCat(maps) => Map::vcat(from, all(maps, f)),
        Form::HCat(maps) => Map::hcat(to, all(maps, f)),
        Form::VList(maps) => Map::vlist(from, to, all(maps, f)),
        Form::HList(maps) => Map::hlist(from, to, all(maps, f)),
        Form::VBuild(n, i, body) => Map::vbuild(f(n), i.clone(), each(body, f), to),
        Form::HBuild(n, i, body) => Map::hbuild(f(n), i.clone(), each(body, f), from),
        Form::SumBuild(n, i, body) => Map::sum_build(f(n), i.clone(), each(body, f)),
        Form::At(index) => Map::at(from, f(index)),
        Form::Hot(index) => Map::hot(to, f(index)),
        Form::If(cond, then, otherwise) => Map::if_(f(cond), each(then, f), each(otherwise, f)),
        Form::Let(var, value, body) => Map::let_(var.clone(), f(value), each(body, f)),
        Form::Check(cond, status, span, body) => Map::check(f(cond), *status, *span, each(body, f)),
        Form::Fold(fold) => Map::fold_of(each_of_fold(fold, f)),
        Form::FoldBack(fold) => Map::fold_back(each_of_fold(fold, f)),
    }
}

fn each_of_fold(fold: &Folding, f: &mut dyn FnMut(&Expr) -> Expr) -> Rc<Folding> {
    let (n, body, init) = (f(&fold.n), f(&fold.body), f(&fold.init));
    Rc::new(Folding { n, body, init, step: each(&fold.step, f), start: each(&fold.start, f), acc: fold.acc.clone(), i: fold.i.clone() })
}
