//! States that stay where they are: an array of a fold's state whose elements a step computes each from itself, and then changes
//! further, is changed in place.
//!
//! In: a function's body. Out: the same, with a loop of updates in the place of such a `build`.
//!
//!     ifold (fun s t -> let a = build n (fun j -> s[j] + x[j]) in update a k y) z m
//!     →   ifold (fun s t -> let a = ifold (fun b j -> update b j (b[j] + x[j])) s n in update a k y) z m
//!
//! Each step would write the new state to a second array otherwise. Only where all of the step's changes then are in place, and the
//! state is not used otherwise. A `build` that is the next state itself is written over the old one by `lower`.

use crate::ir::in_place::stays;
use crate::ir::own_element::Place;
use crate::ir::subst::map_children;
use crate::ir::{Change, Expr, Function, Term, Type, Var};

use super::Options;

/// The body with such states changed in place.
pub fn run(function: &Function, _: &Options) -> Expr {
    changed_inside(&function.body)
}

fn changed_inside(expr: &Expr) -> Expr {
    if !expr.has_updates() {
        return expr.clone();
    }
    let inside = map_children(expr, &mut changed_inside);
    let Term::Fold { n, acc, i, body, init } = inside.term() else { return inside };
    let mut arrays = Vec::new();
    each_array(acc.ty(), &mut Vec::new(), &mut arrays);
    let step = arrays.iter().fold(body.clone(), |step, path| changed(&step, &Place { var: acc, path }).unwrap_or(step));
    if step.is_same(body) {
        return inside;
    }
    let fold = Term::Fold { n: n.clone(), acc: acc.clone(), i: i.clone(), body: step, init: init.clone() };
    Expr::with_type(fold, inside.ty().clone(), inside.span())
}

fn each_array(ty: &Type, path: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
    match ty {
        Type::Tuple(types) => {
            for (k, ty) in types.iter().enumerate() {
                path.push(k);
                each_array(ty, path, out);
                path.pop();
            }
        }
        Type::Array(..) => out.push(path.clone()),
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {}
    }
}

/// The step of a fold in which a component of the state is changed in place and was not.
fn changed(step: &Expr, state: &Place) -> Option<Expr> {
    if !step.has_updates() || stays(step, state.var, state.path) {
        return None;
    }
    let uses = state.uses(step);
    let mut found = false;
    let changed = with_updates(step, state, uses, &mut found);
    (found && stays(&changed, state.var, state.path)).then_some(changed)
}

/// What is computed in each step, with updates in the place of the one `build` that has all uses of the state.
fn with_updates(expr: &Expr, state: &Place, uses: usize, found: &mut bool) -> Expr {
    let with = |term: Term| Expr::with_type(term, expr.ty().clone(), expr.span());
    let mut inside = |expr: &Expr| if *found { expr.clone() } else { with_updates(expr, state, uses, found) };
    match expr.term() {
        Term::Build { .. } => {
            let updates = if state.own_reads(expr) == Some(uses) { updates(expr, state) } else { None };
            *found = updates.is_some();
            updates.unwrap_or_else(|| expr.clone())
        }
        Term::Let(x, value, rest) => {
            let value = inside(value);
            with(Term::Let(x.clone(), value, inside(rest)))
        }
        Term::Fold { n, acc, i, body, init } => {
            with(Term::Fold { n: n.clone(), acc: acc.clone(), i: i.clone(), body: body.clone(), init: inside(init) })
        }
        Term::Tuple(parts) => with(Term::Tuple(parts.iter().map(inside).collect())),
        Term::Proj(tuple, k) => with(Term::Proj(inside(tuple), *k)),
        Term::Update(change, parts) => {
            let mut parts = parts.clone();
            parts.iter_mut().take(1).for_each(|array| *array = inside(array));
            with(Term::Update(*change, parts))
        }
        Term::Check { cond, status, body } => with(Term::Check { cond: cond.clone(), status: *status, body: inside(body) }),
        _ => expr.clone(),
    }
}

/// The loop of updates that a `build` is which computes each element from the state's.
fn updates(build: &Expr, state: &Place) -> Option<Expr> {
    let whole = Expr::component(Expr::var(state.var), state.path);
    (whole.ty() == build.ty()).then(|| nest(build, whole, &mut Vec::new(), state))
}

/// The loops of a `build` that are left, over an array `before`; the indices of the loops around are known.
fn nest(element: &Expr, before: Expr, indices: &mut Vec<Expr>, state: &Place) -> Expr {
    match element.term() {
        Term::Build { n, i, body } => {
            let array = Var::fresh(state.var.name(), before.ty().clone());
            indices.push(Expr::var(i));
            let body = nest(body, Expr::var(&array), indices, state);
            indices.pop();
            Expr::fold_with(n.clone(), array, i.clone(), body, before)
        }
        Term::Let(x, value, rest) => {
            let at: Vec<&Expr> = indices.iter().collect();
            Expr::let_(x.clone(), state.replaced(value, &at, &before), nest(rest, before.clone(), indices, state))
        }
        _ => {
            let at: Vec<&Expr> = indices.iter().collect();
            let value = state.replaced(element, &at, &before);
            Expr::update(Change::Replace, before, indices.clone(), value)
        }
    }
}
