//! Normal form for in-place updates: no shared nodes, and every read of an array before the update that overwrites it.
//!
//! In: a term, in which equal subterms may share a node. Out: the same without shared nodes, so that
//! [`LastUses`](super::last_use::LastUses) can tell occurrences apart. The new element of an update is bound before an earlier
//! update of the same array if it reads that array's old contents:
//!
//!     update (update v i v[j]) j v[i]   →   let x = v[i] in update (update v i v[j]) j x
//!
//! So is a component that reads an array which an earlier component updates, `x` in `(update v i e, f v)` and in
//! `let u = update v i e in (u, f v)`, and an update in the initial state of a fold.

use super::free::{mentions, occurrences};
use super::last_use::{Live, component, held, uses};
use super::term::{Expr, Name, Term, Updated, Var};

/// The same term, of the same value, with a node of its own at every place and the names that updates need.
pub fn distinct(expr: &Expr) -> Expr {
    let copy = |expr: &Expr| distinct(expr);
    let all = |parts: &[Expr]| parts.iter().map(copy).collect::<Vec<_>>();
    let term = match expr.term() {
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => expr.term().clone(),
        Term::Prim(prim, args) => Term::Prim(*prim, all(args)),
        Term::Let(var, value, body) => match in_its_place(var, value, body) {
            Some(tuple) => return distinct(&tuple),
            None => Term::Let(var.clone(), copy(value), copy(body)),
        },
        Term::If(cond, a, b) => Term::If(copy(cond), copy(a), copy(b)),
        Term::Build { n, i, body } => Term::Build { n: copy(n), i: i.clone(), body: copy(body) },
        Term::Fold { n, acc, i, body, init } => {
            let (named, init) = first_states(init, acc);
            let fold = Term::Fold { n: copy(n), acc: acc.clone(), i: i.clone(), body: copy(body), init: copy(&init) };
            let whole = Expr::with_type(fold, expr.ty().clone(), expr.span());
            return named.into_iter().rev().fold(whole, |whole, (var, value)| Expr::let_(var, copy(&value), whole));
        }
        Term::While { state, init, body } => {
            let (named, init) = first_states(init, state);
            let steps = Term::While { state: state.clone(), init: copy(&init), body: copy(body) };
            let whole = Expr::with_type(steps, expr.ty().clone(), expr.span());
            return named.into_iter().rev().fold(whole, |whole, (var, value)| Expr::let_(var, copy(&value), whole));
        }
        Term::Get(array, index) => Term::Get(copy(array), copy(index)),
        Term::Dim(array, axis) => Term::Dim(copy(array), *axis),
        Term::Tuple(parts) => {
            let (named, parts) = readers_first(parts);
            let whole = Expr::with_type(Term::Tuple(all(&parts)), expr.ty().clone(), expr.span());
            return named.into_iter().rev().fold(whole, |whole, (var, value)| Expr::let_(var, copy(&value), whole));
        }
        Term::Proj(tuple, k) => {
            let (named, tuple) = without_lets(copy(tuple));
            let whole = Expr::with_type(Term::Proj(tuple, *k), expr.ty().clone(), expr.span());
            return named.into_iter().rev().fold(whole, |whole, (var, value)| Expr::let_(var, value, whole));
        }
        Term::Array(items) => Term::Array(all(items)),
        Term::Call(name, args) => Term::Call(name.clone(), all(args)),
        Term::Iso(iso, operands) => Term::Iso(*iso, all(operands)),
        Term::Update(change, parts) => match Updated::of(parts) {
            Some(Updated { array, indices, value }) if reads_changed(array, value) => {
                let x = Var::named(Name::placeholder("x"), value.ty().clone());
                let update = Expr::update(*change, copy(array), all(indices), Expr::var(&x)).at(expr.span());
                Term::Let(x, copy(value), update)
            }
            Some(_) | None => Term::Update(*change, all(parts)),
        },
        Term::Check { cond, status, body } => Term::Check { cond: copy(cond), status: *status, body: copy(body) },
        Term::Dual { x, at, tangent, body } => Term::Dual { x: x.clone(), at: copy(at), tangent: copy(tangent), body: copy(body) },
        Term::Vjp { x, at, cotangent, body } => Term::Vjp { x: x.clone(), at: copy(at), cotangent: copy(cotangent), body: copy(body) },
    };
    Expr::with_type(term, expr.ty().clone(), expr.span())
}

/// The tuple with a changed array where its name stands, so that the components that read it as it was come first.
fn in_its_place(var: &Var, value: &Expr, body: &Expr) -> Option<Expr> {
    let Term::Tuple(parts) = body.term() else { return None };
    let is_it = |part: &Expr| matches!(part.term(), Term::Var(own) if own == var);
    if !matches!(value.term(), Term::Update(..)) || !parts.iter().any(is_it) || occurrences(body, var) != 1 {
        return None;
    }
    let parts = parts.iter().map(|part| if is_it(part) { value.clone() } else { part.clone() });
    Some(Expr::with_type(Term::Tuple(parts.collect()), body.ty().clone(), body.span()))
}

/// What a term binds around its value, and the value.
fn without_lets(mut expr: Expr) -> (Vec<(Var, Expr)>, Expr) {
    let mut named = Vec::new();
    while let Term::Let(var, value, body) = expr.term() {
        named.push((var.clone(), value.clone()));
        expr = body.clone();
    }
    (named, expr)
}

/// Names for the updates that a fold's state begins with, and for what comes before them: so they are made where the state is.
fn first_states(init: &Expr, acc: &Var) -> (Vec<(Var, Expr)>, Expr) {
    let is_update = |expr: &Expr| expr.ty().has_array() && expr.has_updates();
    let mut named = Vec::new();
    let mut name = |value: &Expr, part: Option<usize>| {
        let name = acc.full_name();
        let var = Var::named(part.filter(|_| name.has_parts()).map_or(name.clone(), |at| name.part(at)), value.ty().clone());
        named.push((var.clone(), value.clone()));
        Expr::var(&var)
    };
    let first = match init.term() {
        Term::Update(..) | Term::Fold { .. } if is_update(init) => name(init, None),
        Term::Tuple(parts) if parts.iter().any(is_update) => {
            let last = parts.iter().rposition(is_update).unwrap_or(0);
            let is_named = |at: usize, part: &Expr| at <= last && !part.is_atom() && component(part).is_none();
            let parts = parts.iter().enumerate().map(|(at, part)| if is_named(at, part) { name(part, Some(at)) } else { part.clone() });
            Expr::with_type(Term::Tuple(parts.collect()), init.ty().clone(), init.span())
        }
        _ => init.clone(),
    };
    (named, first)
}

/// Names for the components that read what one before them changes, and the components; those of a tuple in a tuple too.
fn readers_first(parts: &[Expr]) -> (Vec<(Var, Expr)>, Vec<Expr>) {
    fn leaves<'a>(parts: &'a [Expr], out: &mut Vec<&'a Expr>) {
        for part in parts {
            if let Term::Tuple(inner) = part.term() { leaves(inner, out) } else { out.push(part) }
        }
    }
    fn put_back(parts: &[Expr], leaves: &mut impl Iterator<Item = Expr>) -> Vec<Expr> {
        let leaf = |part: &Expr| {
            if let Term::Tuple(inner) = part.term() {
                Expr::with_type(Term::Tuple(put_back(inner, leaves)), part.ty().clone(), part.span())
            } else {
                leaves.next().unwrap_or_else(|| part.clone())
            }
        };
        parts.iter().map(leaf).collect()
    }
    let mut flat = Vec::new();
    leaves(parts, &mut flat);
    let mut named = Vec::new();
    let mut rest: Vec<Expr> = flat.iter().map(|part| (*part).clone()).collect();
    // from the last, so that a read is bound before the updates that overwrite the array it reads
    for (at, part) in flat.iter().enumerate().rev().filter(|(_, part)| part.has_updates()) {
        let changed = changed(part);
        for later in rest.iter_mut().skip(at + 1).filter(|later| !later.is_atom()) {
            let mut read = Live::default();
            uses(later, &mut read);
            if changed.iter().any(|(var, path)| read.has(var, path)) {
                let var = Var::named(Name::placeholder("x"), later.ty().clone());
                let value = std::mem::replace(later, Expr::var(&var));
                named.push((var, value));
            }
        }
    }
    (named, put_back(parts, &mut rest.into_iter()))
}

/// The variables, and components, that a term updates or folds over with updates.
fn changed(expr: &Expr) -> Vec<(Var, Vec<usize>)> {
    fn go(expr: &Expr, found: &mut Live) {
        if !expr.has_updates() {
            return;
        }
        let array = match expr.term() {
            Term::Update(_, parts) => parts.first(),
            Term::Fold { init, body, .. } if body.has_updates() => Some(init),
            _ => None,
        };
        array.map(held).unwrap_or_default().into_iter().for_each(|(var, path)| found.add(&var, path));
        expr.term().each_child(&mut |child| go(child, found));
        expr.term().binders().for_each(|var| found.remove(var));
    }
    let mut found = Live::default();
    go(expr, &mut found);
    found.arrays()
}

/// Whether a value reads an array that is changed within `array`.
fn reads_changed(array: &Expr, value: &Expr) -> bool {
    let Term::Update(_, parts) = array.term() else { return false };
    let Some(Updated { array, .. }) = Updated::of(parts) else { return false };
    match component(array) {
        Some((var, _)) => !matches!(value.term(), Term::Var(_)) && mentions(value, var),
        None => reads_changed(array, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::last_use::LastUses;
    use crate::ir::{Change, Size, Type};

    fn vector(name: &str) -> Var {
        Var::fresh(name, Type::array(Type::Double, Size::constant(3)))
    }

    fn operand(update: &Expr) -> Expr {
        let Term::Update(_, parts) = update.term() else { panic!("no update") };
        parts[0].clone()
    }

    #[test]
    fn what_an_update_changes_is_read_before() {
        let (v, pair) = (vector("v"), Var::fresh("p", Type::tuple(vec![vector("a").ty().clone(), vector("b").ty().clone()])));
        let read = |k| Expr::get(Expr::var(&v), Expr::index(k));
        let change = |array: Expr, at, value: Expr| Expr::update(Change::Replace, array, vec![Expr::index(at)], value);
        let swap = distinct(&change(change(Expr::var(&v), 0, read(1)), 1, read(0)));
        let Term::Let(_, value, update) = swap.term() else { panic!("no let: {swap:?}") };
        assert!(matches!(value.term(), Term::Get(..)));
        let found = LastUses::of(&swap);
        assert!(found.is_last(&operand(&operand(update))));
        // (update p.0 0 1.0, p.0[1])
        let part = || Expr::proj(Expr::var(&pair), 0);
        let both = distinct(&Expr::tuple(vec![change(part(), 0, Expr::double(1.0)), Expr::get(part(), Expr::index(1))]));
        let Term::Let(_, _, tuple) = both.term() else { panic!("no let: {both:?}") };
        let Term::Tuple(parts) = tuple.term() else { panic!("no tuple: {tuple:?}") };
        assert!(LastUses::of(&both).is_last(&operand(&parts[0])));
    }

    #[test]
    fn what_is_read_comes_before_every_change_of_it() {
        let (u, v, w) = (vector("u"), vector("v"), vector("w"));
        let changed = |var: &Var, value: Expr| Expr::update(Change::Replace, Expr::var(var), vec![Expr::index(0)], value);
        let read = |var: &Var| Expr::get(Expr::var(var), Expr::index(1));
        // let a = update u 0 1.0 in (a, update v 0 u[1], update w 0 v[1])
        let a = vector("a");
        let tuple = Expr::tuple(vec![Expr::var(&a), changed(&v, read(&u)), changed(&w, read(&v))]);
        let ordered = distinct(&Expr::let_(a, changed(&u, Expr::double(1.0)), tuple));
        let uses = LastUses::of(&ordered);
        let mut expr = &ordered;
        while let Term::Let(_, value, body) = expr.term() {
            assert!(uses.is_last(&operand(value)), "{value:?}");
            expr = body;
        }
        let Term::Tuple(parts) = expr.term() else { panic!("no tuple: {expr:?}") };
        assert!(uses.is_last(&operand(&parts[0])));
    }
}
