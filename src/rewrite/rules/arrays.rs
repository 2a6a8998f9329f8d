//! Arrays of tuples become tuples of arrays, and the nonzero element of a one-hot array gets a name.
//!
//!     let p = build n (fun i -> (a, b)) in … p[k].1 …     →  let q = build n (fun i -> b) in … q[k] …
//!     let x = build n (fun i -> if i = k then e else 0)   →  let h = e at k in let x = build n (fun i -> if i = k then h else 0)
//!
//!     let x = build n (fun i -> let t = e in build m (fun k -> a)) in … x[k][i] …
//!       →   let t = build n (fun i -> e) in … a at t[i] …
//!
//! No work is duplicated: what two components share must itself be a component, or a component must be hoisted out of the
//! enclosing loop, after which code motion finds the rest. After the second rule the array is cheaper to compute than to read.
//! The third turns a Jacobian that derivatives give column by column into one that is computed row by row.

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::atoms::{is_free, is_number};
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;
use crate::rewrite::uses::Uses;

use super::fission::{component, leaves, project};
use super::lambda::inlines;
use super::rules;

rules! {
    "array-split" Tuple @ Let: "let p = build n (fun i -> (a, b)) in e -> let q = build n (fun i -> a) in let r = build n (fun i -> b) in e[(q[i], r[i])/p[i]]"
        if ["copying n costs nothing", "no work is duplicated"] => array_split;
    "build-one-hot" Fusion Fusion @ Let: "let x = build n (fun i -> if i = k then e else 0) in b -> let h = (let i = k in e) in let x = build n (fun i -> if i = k then h else 0) in b"
        if ["e is not atomic", "i is not free in k", "0 <= k && k < n"] => build_one_hot;
    "build-fission" Fission Fusion @ Let: "let x = build n (fun i -> let t = e in build m (fun k -> f t)) in b -> let t = build n (fun i -> e) in let x = build n (fun i -> build m (fun k -> f t[i])) in b where e is a number"
        if ["copying n costs nothing", "x is then fused away", "few variables are captured"] => build_fission;
}

fn array_split(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let (mut loops, mut element) = (Vec::new(), value);
    while let Term::Build { n, i, body } = element.term() {
        loops.push((n, i));
        element = body;
    }
    let Type::Tuple(parts) = element.ty() else { return None };
    if loops.is_empty() {
        return None;
    }
    let part = |k: usize| array_of(&Expr::proj(element.clone(), k), &loops).ty().clone();
    let arrays: Vec<Var> = (0..parts.len()).map(|k| Var::named(x.full_name().part(k), part(k))).collect();
    let mut used = vec![false; parts.len()];
    let body = elements(body, x, loops.len(), &arrays, &mut used)?;
    // a component that is a name of the element's own lets is read, not computed again
    let read = |k: usize| loops.iter().fold(Expr::var(&arrays[k]), |array, (_, i)| Expr::get(array, Expr::var(i)));
    let named: Vec<(Var, usize)> = component_names(element).into_iter().filter(|(_, k)| used[*k]).collect();
    let mut lets = Vec::new();
    for k in (0..parts.len()).filter(|k| used[*k]) {
        let shared =
            with_values(&component(element, k)?, &|y| named.iter().find(|(name, at)| name == y && *at < k).map(|(_, at)| read(*at)));
        lets.push((k, shared));
    }
    if let Some((n, _)) = loops.iter().find(|(n, _)| !is_free(n)) {
        facts.require("copying n costs nothing", lets.len() < 2, n)?;
    }
    facts.require("no work is duplicated", lets.len() < 2 || is_worthwhile(element, &lets, facts), value)?;
    let lets = lets.into_iter().map(|(k, component)| (arrays[k].clone(), freshen(&array_of(&component, &loops))));
    Some(lets.rev().fold(body, |body, (array, value)| Expr::let_(array, value, body)))
}

fn array_of(element: &Expr, loops: &[(&Expr, &Var)]) -> Expr {
    loops.iter().rev().fold(element.clone(), |element, (n, i)| Expr::build_with((*n).clone(), (*i).clone(), element))
}

/// No work is added in total, or some of the arrays can be hoisted out of the enclosing loop and others cannot.
fn is_worthwhile(element: &Expr, components: &[(usize, Expr)], facts: &Facts) -> bool {
    let whole = Work::of(element);
    let (mut loops, mut operations) = (0, 0);
    for (_, component) in components {
        let work = Work::of(component);
        loops += work.loops;
        operations += work.operations;
    }
    let outer = components.iter().filter(|(_, component)| leaves(component, facts)).count();
    loops <= whole.loops && operations <= whole.operations || 0 < outer && outer < components.len()
}

/// The element's lets that are whole components.
fn component_names(element: &Expr) -> Vec<(Var, usize)> {
    let mut bound = Vec::new();
    let mut body = element;
    while let Term::Let(y, _, inner) = body.term() {
        bound.push(y);
        body = inner;
    }
    let Term::Tuple(parts) = body.term() else { return Vec::new() };
    let named = parts.iter().enumerate().filter_map(|(k, part)| match part.term() {
        Term::Var(var) if bound.contains(&var) => Some((var.clone(), k)),
        _ => None,
    });
    named.collect()
}

/// The term with other values for some of the lets on its spine, without those that are then not used.
fn with_values(expr: &Expr, value_of: &dyn Fn(&Var) -> Option<Expr>) -> Expr {
    let Term::Let(y, value, body) = expr.term() else { return expr.clone() };
    let body = with_values(body, value_of);
    if !mentions(&body, y) {
        return body;
    }
    Expr::let_(y.clone(), value_of(y).unwrap_or_else(|| value.clone()), body)
}

/// The term with the tuple of the arrays' elements for each element of x; `None` where x occurs otherwise.
fn elements(expr: &Expr, x: &Var, depth: usize, arrays: &[Var], used: &mut [bool]) -> Option<Expr> {
    let is_x = |e: &Expr| matches!(e.term(), Term::Var(var) if var == x);
    match expr.term() {
        Term::Var(var) => (var != x).then(|| expr.clone()),
        Term::Dim(array, axis) if is_x(array) => {
            *used.first_mut()? = true;
            Some(Expr::dim(Expr::var(arrays.first()?), *axis))
        }
        Term::Proj(tuple, k) => {
            let Some(indices) = indices_of(tuple, x, depth) else { return in_children(expr, x, depth, arrays, used) };
            *used.get_mut(*k)? = true;
            let indices: Vec<Expr> = indices.iter().map(|index| elements(index, x, depth, arrays, used)).collect::<Option<_>>()?;
            Some(indices.into_iter().fold(Expr::var(&arrays[*k]), Expr::get))
        }
        Term::Get(..) => {
            let Some(indices) = indices_of(expr, x, depth) else { return in_children(expr, x, depth, arrays, used) };
            used.iter_mut().for_each(|used| *used = true);
            if !indices.iter().all(|index| is_free(index)) {
                return None;
            }
            let parts = arrays.iter().map(|array| indices.iter().fold(Expr::var(array), |array, index| Expr::get(array, (*index).clone())));
            Some(Expr::tuple(parts.collect()))
        }
        // the components that a name stands for are read where it is used
        Term::Let(y, value, body) if indices_of(value, x, depth).is_some_and(|indices| indices.iter().all(|index| is_free(index))) => {
            let indices = indices_of(value, x, depth)?;
            let mut parts = vec![false; used.len()];
            let whole = !projections_only(body, y, &mut parts);
            used.iter_mut().zip(&parts).for_each(|(used, part)| *used |= *part || whole);
            let reads: Vec<Expr> = arrays
                .iter()
                .map(|array| indices.iter().fold(Expr::var(array), |array, index| Expr::get(array, (*index).clone())))
                .collect();
            let mut lets = Vec::new();
            let named = reads.into_iter().enumerate().map(|(k, read)| {
                let name = Var::named(y.full_name().part(k), read.ty().clone());
                if parts[k] || whole {
                    lets.push((name.clone(), read));
                }
                Expr::var(&name)
            });
            let named: Vec<Expr> = named.collect();
            let body = project(&elements(body, x, depth, arrays, used)?, y, &named);
            let body = if whole { substitute(&body, &[(y.clone(), Expr::tuple(named))]) } else { body };
            Some(lets.into_iter().rev().fold(body, |body, (name, read)| Expr::let_(name, read, body)))
        }
        Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Let(..)
        | Term::If(..)
        | Term::Build { .. }
        | Term::Fold { .. }
        | Term::While { .. }
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Iso(..)
        | Term::Check { .. }
        | Term::Update(..)
        | Term::Vjp { .. }
        | Term::Dual { .. } => in_children(expr, x, depth, arrays, used),
    }
}

fn in_children(expr: &Expr, x: &Var, depth: usize, arrays: &[Var], used: &mut [bool]) -> Option<Expr> {
    let mut all = true;
    let new = map_children(expr, &mut |child| {
        let new = if all { elements(child, x, depth, arrays, used) } else { None };
        all &= new.is_some();
        new.unwrap_or_else(|| child.clone())
    });
    all.then_some(new)
}

/// The indices of `x[i][j]…`, outermost first, when there are as many as x has levels.
fn indices_of<'a>(expr: &'a Expr, x: &Var, depth: usize) -> Option<Vec<&'a Expr>> {
    let (mut indices, mut head) = (Vec::new(), expr);
    while let Term::Get(array, index) = head.term() {
        indices.push(index);
        head = array;
    }
    indices.reverse();
    (indices.len() == depth && matches!(head.term(), Term::Var(var) if var == x)).then_some(indices)
}

/// Records which components of y are used; `false` where y is used as a whole.
fn projections_only(expr: &Expr, y: &Var, used: &mut [bool]) -> bool {
    match expr.term() {
        _ if !mentions(expr, y) => true,
        Term::Var(_) => false,
        Term::Proj(tuple, k) if matches!(tuple.term(), Term::Var(_)) => used.get_mut(*k).map(|used| *used = true).is_some(),
        term => term.children().all(|child| projections_only(child, y, used)),
    }
}

fn build_one_hot(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::Build { n, i, body: element } = value.term() else { return None };
    let Term::If(cond, hot, cold) = element.term() else { return None };
    let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    let is_i = |e: &Expr| matches!(e.term(), Term::Var(var) if var == i);
    let k = if is_i(a) { b } else { is_i(b).then_some(a)? };
    // what is atomic stays; e is evaluated once as before, but in every case
    let is_work = || facts.grants("e is not atomic", !is_free(hot));
    if !is_number(cold, 0.0) || !k.is_atom() || !is_work() || !facts.grants("i is not free in k", !mentions(k, i)) {
        return None;
    }
    facts.require("0 <= k && k < n", Size::try_of_expr(n).is_some_and(|n| facts.in_range(k, &n)), k)?;
    let at_k = substitute(hot, &[(i.clone(), k.clone())]);
    let h = x.renewed(hot.ty().clone());
    let element = Expr::if_(cond.clone(), Expr::var(&h), cold.clone());
    let array = Expr::build_with(n.clone(), i.clone(), element);
    Some(Expr::let_(h, at_k, Expr::let_(x.clone(), array, body.clone())))
}

/// More captured variables than this take more memory than a row.
const FEW_NAMES: usize = 4;

/// The names of a row, each with the array of its values; those that only names of their own row use stay lets of the elements.
fn build_fission(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::Build { n, i, body: element } = value.term() else { return None };
    let (mut names, mut row) = (Vec::new(), element);
    while let Term::Let(t, e, inner) = row.term() {
        names.push((t.clone(), e.clone()));
        row = inner;
    }
    let are_numbers = names.iter().all(|(t, _)| t.ty() == &Type::Double);
    if names.is_empty() || !are_numbers || !matches!(row.term(), Term::Build { .. }) {
        return None;
    }
    facts.require("copying n costs nothing", is_free(n), n)?;
    join_steps(&mut names, row);
    facts.require("few variables are captured", names.len() <= FEW_NAMES, value)?;
    let at_i = |array: &Var| Expr::get(Expr::var(array), Expr::var(i));
    let (mut lets, mut elements) = (Vec::new(), Vec::new());
    for (t, e) in names {
        let array = freshen(&Expr::build_with(n.clone(), i.clone(), substitute(&e, &elements)));
        let t_array = t.renewed(array.ty().clone());
        elements.push((t, at_i(&t_array)));
        lets.push((t_array, array));
    }
    let rows = Expr::build_with(n.clone(), i.clone(), substitute(row, &elements));
    let uses = if facts.uses.knows(x) { facts.uses.get(x) } else { Uses::of(expr).get(x) };
    facts.require("x is then fused away", inlines(&rows, uses, true), value)?;
    let rest = Expr::let_(x.clone(), rows, body.clone());
    Some(lets.into_iter().rev().fold(rest, |rest, (t, array)| Expr::let_(t, array, rest)))
}

/// A name with a single use becomes a let of the value that uses it.
fn join_steps(names: &mut Vec<(Var, Expr)>, row: &Expr) {
    let mut at = 0;
    while at < names.len() {
        let (t, e) = names[at].clone();
        let mut users = names.iter_mut().filter(|(_, other)| mentions(other, &t));
        match (users.next(), users.next()) {
            (Some((_, only)), None) if !mentions(row, &t) => {
                *only = Expr::let_(t, e, only.clone());
                names.remove(at);
            }
            _ => at += 1,
        }
    }
}
