//! Loop fusion of sums: loops over the same range that read the same arrays become one, so that shared loads and
//! subexpressions are done once.
//!
//!     [sum of f v[i], sum of g v[i]]   →   let s = (sum of f v[i], sum of g v[i]) in one loop in [s.0, s.1]
//!
//! The opposite of `fold-fission`, for the end of a schedule. Loops inside another loop are left alone, because `lower` chooses
//! their order of access, unless they share work that costs more than loads:
//!
//!     build(n, i. [sum of exp(x[i] - x[j]), sum of x[j] * exp(x[i] - x[j])])   →   one loop over j, with one exp

use crate::ir::free::{each_free_var, mentions};
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Change, Expr, Prim, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::cost::{Work, is_costly};
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "fold-merge" Fission Normalisation @ Any: "f (ifold g y n) (ifold h z n) -> let s = ifold (fun s i -> (g s.0 i, h s.1 i)) (y, z) n in f s.0 s.1"
        if ["f uses both, and binds none of their free variables", "they read one array", "they share a quotient, a root, a function or a long sum of i, or are in no loop"] => fold_merge;
}

/// At most so many sums are fused inside another loop: each takes a register.
pub const MOST: usize = 12;

/// A sum of so many operations takes longer than reading.
const LONG: u32 = 8;

/// A sum whose names written out have more nodes than this is not looked at.
const LARGEST: usize = 4096;

fn fold_merge(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let names_things = matches!(expr.term(), Term::Let(..) | Term::Array(_) | Term::Tuple(_) | Term::Prim(..));
    if !names_things {
        return None;
    }
    let mut folds = Vec::new();
    if let Term::Let(_, value, _) = expr.term() {
        // the first of them is here; otherwise the rule applies at an inner let
        strict_folds(value, &may_merge, facts, &mut Vec::new(), &mut folds);
        if folds.is_empty() {
            return None;
        }
        folds.clear();
    }
    strict_folds(expr, &may_merge, facts, &mut Vec::new(), &mut folds);
    if folds.len() < 2 {
        return None;
    }
    let inner = facts.loops() > 0;
    let sums: Vec<Sum> = folds.iter().filter_map(|fold| Sum::of(fold, &folds[0], inner)).collect();
    let group = sums.iter().enumerate().find_map(|(at, first)| group(first, &sums[at + 1..], inner, facts))?;
    let Term::Fold { n, i, .. } = group.first()?.term() else { return None };
    let (both, together) = as_one_loop(n, i, &group, Expr::clone, Vec::new())?;
    let rest = replace(expr, &group, &both);
    Some(Expr::let_(both, together, rest))
}

/// Whether a fold is a sum, or adds to the elements of an array.
fn may_merge(fold: &Expr) -> bool {
    fold.ty() == &Type::Double || is_scatter(fold)
}

/// One loop over i for the sums, whose steps may be given another form, with these lets in front of its step; and a name for it.
pub fn as_one_loop(n: &Expr, i: &Var, sums: &[Expr], form: impl Fn(&Expr) -> Expr, lets: Vec<(Var, Expr)>) -> Option<(Var, Expr)> {
    let (mut inits, mut types) = (Vec::new(), Vec::new());
    for fold in sums {
        let Term::Fold { init, .. } = fold.term() else { return None };
        inits.push(init.clone());
        types.push(init.ty().clone());
    }
    let is_one = sums.len() == 1;
    let state = Var::fresh("s", if is_one { types.pop()? } else { Type::tuple(types) });
    let mut steps = Vec::new();
    for (k, fold) in sums.iter().enumerate() {
        let Term::Fold { acc, i: own, body, .. } = fold.term() else { return None };
        let component = if is_one { Expr::var(&state) } else { Expr::proj(Expr::var(&state), k) };
        steps.push(form(&substitute(body, &[(acc.clone(), component), (own.clone(), Expr::var(i))])));
    }
    let step = if is_one { steps.pop()? } else { as_one(alike(steps, &state), &state) };
    let step = lets.into_iter().rev().fold(step, |step, (var, value)| Expr::let_(var, value, step));
    let init = if is_one { inits.pop()? } else { Expr::tuple(inits) };
    let together = Expr::fold_with(n.clone(), state, i.clone(), step, init);
    Some((Var::fresh("s", together.ty().clone()), together))
}

/// A fold and the work that others may share with it.
struct Sum<'a> {
    fold: &'a Expr,
    count: &'a Expr,
    arrays: Vec<Var>,
    /// Over the index of one of the folds.
    costly: Vec<Expr>,
}

impl Sum<'_> {
    fn of<'a>(fold: &'a Expr, other: &Expr, inner: bool) -> Option<Sum<'a>> {
        let Term::Fold { n, .. } = fold.term() else { return None };
        let costly = if inner { costly(fold, other) } else { Vec::new() };
        Some(Sum { fold, count: n, arrays: read(fold), costly })
    }
}

/// The sum with those that share work with it or with each other.
fn group(first: &Sum, others: &[Sum], inner: bool, facts: &Facts) -> Option<Vec<Expr>> {
    let mut group = vec![first];
    for sum in others.iter().filter(|sum| same(first.count, sum.count)) {
        let most = if inner { MOST } else { usize::MAX };
        let reads_one = group.iter().any(|other| sum.arrays.iter().any(|array| other.arrays.contains(array)));
        let shares = !inner || group.iter().any(|other| sum.costly.iter().any(|term| other.costly.iter().any(|known| same(known, term))));
        if group.len() < most
            && facts.require("they read one array", reads_one, sum.fold).is_some()
            && facts.require("they share a quotient, a root, a function or a long sum of i, or are in no loop", shares, sum.fold).is_some()
        {
            group.push(sum);
        }
    }
    (group.len() > 1).then(|| group.into_iter().map(|sum| sum.fold.clone()).collect())
}

/// The folds of this kind that the term evaluates once and always, and that need nothing it binds (`bound`).
pub fn strict_folds(expr: &Expr, is_wanted: &dyn Fn(&Expr) -> bool, facts: &Facts, bound: &mut Vec<Var>, found: &mut Vec<Expr>) {
    match expr.term() {
        Term::Fold { .. } => {
            let is_free =
                || facts.grants("f uses both, and binds none of their free variables", !bound.iter().any(|var| mentions(expr, var)));
            if is_wanted(expr) && is_free() {
                found.push(expr.clone());
            }
        }
        Term::Let(var, value, body) => {
            strict_folds(value, is_wanted, facts, bound, found);
            bound.push(var.clone());
            strict_folds(body, is_wanted, facts, bound, found);
            bound.pop();
        }
        // what may not be evaluated, or in a loop
        Term::If(..) | Term::Build { .. } | Term::Check { .. } | Term::Dual { .. } | Term::Prim(Prim::And | Prim::Or, _) => {}
        term => term.each_child(&mut |child| strict_folds(child, is_wanted, facts, bound, found)),
    }
}

/// Whether a fold does nothing but add to elements of an array.
fn is_scatter(fold: &Expr) -> bool {
    fn adds(expr: &Expr, acc: &Var) -> bool {
        match expr.term() {
            Term::Var(var) => var == acc,
            Term::Let(x, value, rest) if mentions(value, acc) => adds(value, acc) && !mentions(rest, acc) && adds(rest, x),
            Term::Let(_, _, rest) => adds(rest, acc),
            Term::If(cond, a, b) => !mentions(cond, acc) && adds(a, acc) && adds(b, acc),
            Term::Update(Change::Add, parts) => {
                parts.split_first().is_some_and(|(array, rest)| adds(array, acc) && !rest.iter().any(|part| mentions(part, acc)))
            }
            _ => false,
        }
    }
    matches!(fold.term(), Term::Fold { acc, body, .. } if body.has_updates() && matches!(acc.ty(), Type::Array(..)) && adds(body, acc))
}

/// Whether a fold is a sum, or several in a tuple.
pub fn is_sums(fold: &Expr) -> bool {
    sums_in(fold.ty()) > 0
}

/// How many Doubles a state has that is made of nothing else.
pub fn sums_in(ty: &Type) -> usize {
    match ty {
        Type::Double => 1,
        Type::Tuple(parts) if parts.iter().all(|part| sums_in(part) > 0) => parts.iter().map(sums_in).sum(),
        Type::Tuple(_) | Type::Array(..) | Type::Index(_) | Type::Bool | Type::Rec(_) => 0,
    }
}

/// The arrays from outside whose elements a fold reads by its index.
pub fn read(fold: &Expr) -> Vec<Var> {
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

/// The quotients, roots, functions and long sums in which a sum's steps need its index, with the names of the step written out and behind
/// the conditions of the step, over the index of another sum.
fn costly(fold: &Expr, other: &Expr) -> Vec<Expr> {
    let (Term::Fold { acc, i: own, body, .. }, Term::Fold { i, .. }) = (fold.term(), other.term()) else { return Vec::new() };
    let mut found = Vec::new();
    costly_in(&substitute(body, &[(own.clone(), Expr::var(i))]), i, acc, &mut found);
    found
}

/// The tuple of steps: what they name before they need the state is named once, and a condition that is the same in all is asked
/// once.
fn as_one(steps: Vec<Expr>, state: &Var) -> Expr {
    let mut lets = Vec::new();
    let steps: Vec<Expr> = steps.into_iter().map(|step| with_names(step, state, &mut lets)).collect();
    let cond = match steps.first().map(Expr::term) {
        Some(Term::If(cond, ..)) => Some(cond.clone()),
        _ => None,
    };
    let (mut then, mut otherwise) = (Vec::new(), Vec::new());
    for step in &steps {
        if let (Term::If(own, a, b), Some(cond)) = (step.term(), &cond)
            && same(own, cond)
        {
            then.push(a.clone());
            otherwise.push(b.clone());
        }
    }
    let step = match cond {
        Some(cond) if then.len() == steps.len() => Expr::if_(cond, as_one(then, state), as_one(otherwise, state)),
        _ => Expr::tuple(steps),
    };
    lets.into_iter().rev().fold(step, |step, (var, value)| Expr::let_(var, value, step))
}

fn is_long_sum(expr: &Expr) -> bool {
    let is_sum = expr.ty() == &Type::Double && matches!(expr.term(), Term::Prim(Prim::Add | Prim::Sub, _));
    is_sum && {
        let work = Work::of(expr);
        work.loops == 0 && work.operations >= LONG
    }
}

/// A term with the factors of each product in canonical order, for comparison only.
fn sorted(expr: &Expr) -> Expr {
    let new = map_children(expr, &mut |child| sorted(child));
    match new.term() {
        Term::Prim(Prim::Mul, args) => match args.as_slice() {
            [a, b] if (b.shape(), b.fingerprint()) < (a.shape(), a.fingerprint()) => Expr::prim(Prim::Mul, vec![b.clone(), a.clone()]),
            _ => new,
        },
        _ => new,
    }
}

/// Steps with one form for the long sums that differ only in how the factors of products are ordered, and with the elements that
/// these read written out.
fn alike(steps: Vec<Expr>, state: &Var) -> Vec<Expr> {
    fn go(expr: &Expr, state: &Var, known: &mut Vec<(Expr, Expr)>) -> Expr {
        if expr.is_atom() {
            return expr.clone();
        }
        if !is_long_sum(expr) || mentions(expr, state) {
            return map_children(expr, &mut |child| go(child, state, known));
        }
        let key = sorted(expr);
        match known.iter().find(|(other, _)| same(other, &key)) {
            Some((_, form)) => form.clone(),
            None => {
                known.push((key, expr.clone()));
                expr.clone()
            }
        }
    }
    let mut known = Vec::new();
    steps.iter().map(|step| go(&with_elements(step), state, &mut known)).collect()
}

/// A step whose first names stand for elements, with these written out.
fn with_elements(step: &Expr) -> Expr {
    match step.term() {
        Term::Let(var, value, rest) if matches!(value.term(), Term::Get(..)) => {
            with_elements(&substitute(rest, &[(var.clone(), value.clone())]))
        }
        Term::Let(var, value, rest) => Expr::let_(var.clone(), value.clone(), with_elements(rest)),
        _ => step.clone(),
    }
}

/// A step without what it names before it needs the state: that is named once for all steps, and elements are written out, so
/// that what steps compute of them is alike.
fn with_names(mut step: Expr, state: &Var, lets: &mut Vec<(Var, Expr)>) -> Expr {
    while let Term::Let(var, value, rest) = step.term() {
        if mentions(value, state) {
            break;
        }
        let by = match lets.iter().find(|(_, known)| same(known, value)) {
            Some((known, _)) => Expr::var(known),
            None if matches!(value.term(), Term::Get(..)) => value.clone(),
            None => {
                lets.push((var.clone(), value.clone()));
                step = rest.clone();
                continue;
            }
        };
        step = substitute(rest, &[(var.clone(), by)]);
    }
    step
}

fn costly_in(expr: &Expr, i: &Var, acc: &Var, found: &mut Vec<Expr>) {
    if let Term::Prim(prim, _) = expr.term()
        && expr.ty() == &Type::Double
        && (is_costly(*prim) || is_long_sum(expr))
        && mentions(expr, i)
        && !mentions(expr, acc)
    {
        found.push(if is_costly(*prim) { expr.clone() } else { sorted(expr) });
    }
    match expr.term() {
        Term::Let(var, value, rest) => {
            let rest = substitute(rest, &[(var.clone(), value.clone())]);
            if rest.node_count() <= LARGEST {
                costly_in(&rest, i, acc, found);
            }
        }
        // what is computed under the same condition only
        Term::If(cond, a, b) => {
            costly_in(cond, i, acc, found);
            for (arm, is_then) in [(a, true), (b, false)] {
                let mut inside = Vec::new();
                costly_in(arm, i, acc, &mut inside);
                let nothing = || Expr::double(0.0);
                found.extend(inside.into_iter().map(|term| {
                    let (then, otherwise) = if is_then { (term, nothing()) } else { (nothing(), term) };
                    Expr::if_(cond.clone(), then, otherwise)
                }));
            }
        }
        // what may not be evaluated, or in a loop
        Term::Fold { .. } | Term::Build { .. } | Term::Check { .. } | Term::Dual { .. } | Term::Prim(Prim::And | Prim::Or, _) => {}
        term => term.each_child(&mut |child| costly_in(child, i, acc, found)),
    }
}

/// A term with the parts of the loop that [`as_one_loop`] gives in the place of the sums.
pub fn replace(expr: &Expr, group: &[Expr], sums: &Var) -> Expr {
    match group.iter().position(|fold| fold.is_same(expr)) {
        Some(_) if group.len() == 1 => Expr::var(sums),
        Some(k) => Expr::proj(Expr::var(sums), k),
        None => map_children(expr, &mut |child| replace(child, group, sums)),
    }
}
