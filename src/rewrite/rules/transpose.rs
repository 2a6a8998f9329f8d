//! A loop that is affine in its state, turned round: what is read of the last state is a sum of products of the first one.
//!
//!     build n (fun i -> let s = ifold (fun s j -> x[j + i] * s) z[i] (n - i) in e s)
//!       →   build n (fun i -> let s = z[i] * ifold (fun w t -> x[n - 1 - t] * w) 1.0 (n - i) in e s)
//!
//! With s' = A[j] s at each step, row r of the product of all A is what is read as s.r; the loop over w computes it from the last
//! step on, by the transposed matrices. It is worth that where the steps from the end are the same for each i of the loop around,
//! which differs only in where it begins and in how many steps it takes: then `build-scan` computes all the w in one loop. So a
//! chain's tangents, each from its own joint to the end, become one walk from the end: reverse mode, where forward mode was. What a
//! step adds is a coefficient of 1, a number of the state that stays: sums of what comes after i are running sums from the end.
//!
//! By the laws of real numbers (group `algebra`). Limits: a step that is a sum of products, each with at most one number of the
//! state; conditions only in coefficients; no step can fail.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::free::{any_free_var, any_var_in_types, mentions};
use crate::ir::subst::{freshen, instance, map_children};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::replace;
use crate::rewrite::atoms::is_number;
use crate::rewrite::facts::Facts;
use crate::rewrite::poles::Poles;

use super::rules;
use super::scan::{NUMBERS, is_total, leaves, numbers};

rules! {
    "fold-transpose" Loop Algebra @ Build: "build n (fun i -> let s = ifold (fun s j -> x[j + i] * s) z (n - i) in e s) -> build n (fun i -> let s = z * ifold (fun w t -> x[n - 1 - t] * w) 1.0 (n - i) in e s)"
        if ["steps from the end are the same for all i", "z has no pole where n - i is 0"] => fold_transpose;
}

/// At most so many numbers of the last state are read.
const READ: usize = 8;
/// Stands for the number that is always 1 while it is not known which it is.
const ONE: usize = usize::MAX;

fn fold_transpose(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    let body = turned(body, i, n, &mut Vec::new(), facts)?;
    Some(Expr::build_with(n.clone(), i.clone(), body))
}

/// The term with the first loop that can be turned round.
fn turned(expr: &Expr, i: &Var, n: &Expr, bound: &mut Vec<(Var, Option<Expr>)>, facts: &Facts) -> Option<Expr> {
    if let Term::Let(s, value, rest) = expr.term()
        && let Term::Fold { .. } = value.term()
        && let Some(turned) = turn(s, value, rest, i, n, bound, facts)
    {
        return Some(turned);
    }
    let mut fold = expr;
    while let Term::Proj(inner, _) = fold.term() {
        fold = inner;
    }
    if matches!(fold.term(), Term::Fold { .. }) && expr.ty() == &Type::Double {
        let s = Var::fresh("s", fold.ty().clone());
        let rest = replace(expr, fold, &Expr::var(&s));
        return turn(&s, fold, &rest, i, n, bound, facts);
    }
    // a loop around would have been the one to ask
    if matches!(expr.term(), Term::Build { .. } | Term::Fold { .. } | Term::While { .. }) || !mentions(expr, i) {
        return None;
    }
    let before = bound.len();
    match expr.term() {
        Term::Let(x, value, _) => bound.push((x.clone(), Some(value.clone()))),
        term => bound.extend(term.binders().map(|var| (var.clone(), None))),
    }
    let mut done = false;
    let new = map_children(expr, &mut |child| {
        let changed = if done { None } else { turned(child, i, n, bound, facts) };
        done |= changed.is_some();
        changed.unwrap_or_else(|| child.clone())
    });
    bound.truncate(before);
    done.then_some(new)
}

/// `let s = value in rest` with `value` turned round.
fn turn(s: &Var, value: &Expr, rest: &Expr, i: &Var, n: &Expr, bound: &[(Var, Option<Expr>)], facts: &Facts) -> Option<Expr> {
    let Term::Fold { n: m, acc, i: j, body, init } = value.term() else { return None };
    if !mentions(m, i) || numbers(acc.ty()).is_none_or(|count| count > NUMBERS) || !mentions(body, j) {
        return None;
    }
    let read = read(rest, s)?;
    let step = Step::of(body, acc)?;
    let mut first = Vec::new();
    leaves(init, acc.ty(), &mut first);
    // after no step a number that is not read counts 0 times
    if first.len() > 1 {
        let may_be_infinite = first.iter().any(|leaf| has_pole(leaf, &Poles::of(m, facts), bound));
        facts.require("z has no pole where n - i is 0", !may_be_infinite, init)?;
    }
    let (mut folds, mut sums) = (Vec::new(), FxHashMap::default());
    let first = together(first);
    let begin = acc.renewed(first.ty().clone());
    for leaf in read {
        let (weights, fold) = step.backward(leaf, m, j, i)?;
        let fixed = |term: &Expr| {
            let is_bound = |var: &Var| bound.iter().any(|(other, _)| other == var);
            any_free_var(term, &mut |var| var == i || is_bound(var)) || any_var_in_types(term, &mut |var| is_bound(var))
        };
        let Term::Fold { body, .. } = fold.term() else { return None };
        let is_same = !fixed(body) && facts.in_range(m, &Size::try_of_expr(n)?);
        facts.require("steps from the end are the same for all i", is_same, value)?;
        // else the last step would fail first, and there is no loop for all i
        all_states(&fold, n, facts).then_some(())?;
        let row = Var::fresh("w", fold.ty().clone());
        let mut place = 0;
        let products = weights.iter().map(|(from, constant)| {
            let weight = constant.map_or_else(
                || {
                    place += 1;
                    part(&Expr::var(&row), place - 1)
                },
                Expr::double,
            );
            if *from == step.one() { weight } else { product(part(&Expr::var(&begin), *from), weight) }
        });
        sums.insert(leaf, products.reduce(|a, b| Expr::prim(Prim::Add, vec![a, b]))?);
        folds.push((row, fold));
    }
    let rest = with_sums(rest, s, &sums);
    let rest = folds.into_iter().rev().fold(rest, |rest, (row, fold)| Expr::let_(row, fold, rest));
    Some(Expr::let_(begin, first, rest))
}

/// Whether a term, with the lets around it, may be infinite because a count is 0.
fn has_pole(expr: &Expr, poles: &Poles, bound: &[(Var, Option<Expr>)]) -> bool {
    let mut seen = FxHashSet::default();
    let mut pending = vec![expr];
    while let Some(term) = pending.pop() {
        if poles.has(&(term.clone(), 1)) {
            return true;
        }
        let lets = bound.iter().filter(|(var, _)| mentions(term, var));
        pending.extend(lets.filter(|(var, _)| seen.insert(var)).filter_map(|(_, value)| value.as_ref()));
    }
    false
}

/// A tuple, or the one number that would be in it.
fn together(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 { parts.swap_remove(0) } else { Expr::tuple(parts) }
}

/// Number k of what [`together`] gave.
fn part(tuple: &Expr, k: usize) -> Expr {
    if matches!(tuple.ty(), Type::Tuple(_)) { Expr::proj(tuple.clone(), k) } else { tuple.clone() }
}

/// The numbers of a tuple that a term reads, in order; `None` where it uses the tuple in another way.
fn read(expr: &Expr, s: &Var) -> Option<Vec<usize>> {
    fn look(expr: &Expr, s: &Var, found: &mut Vec<usize>) -> bool {
        if !mentions(expr, s) {
            return true;
        }
        if let Some(leaf) = leaf(expr, s) {
            if !found.contains(&leaf) {
                found.push(leaf);
            }
            return true;
        }
        !matches!(expr.term(), Term::Var(_)) && expr.term().children().all(|child| look(child, s, found))
    }
    let mut found = Vec::new();
    (look(expr, s, &mut found) && !found.is_empty() && found.len() <= READ).then_some(found)
}

fn with_sums(expr: &Expr, s: &Var, sums: &FxHashMap<usize, Expr>) -> Expr {
    match leaf(expr, s).and_then(|leaf| sums.get(&leaf)) {
        Some(sum) => freshen(sum),
        None => map_children(expr, &mut |child| with_sums(child, s, sums)),
    }
}

/// Which number of a state a term is.
fn leaf(expr: &Expr, state: &Var) -> Option<usize> {
    fn offset<'a>(expr: &'a Expr, state: &Var) -> Option<(usize, &'a Type)> {
        match expr.term() {
            Term::Var(var) => (var == state).then(|| (0, expr.ty())),
            Term::Proj(tuple, k) => {
                let (before, ty) = offset(tuple, state)?;
                let Type::Tuple(parts) = ty else { return None };
                let width: Option<usize> = parts.get(..*k)?.iter().map(numbers).sum();
                Some((before + width?, parts.get(*k)?))
            }
            _ => None,
        }
    }
    let (at, ty) = offset(expr, state)?;
    (ty == &Type::Double).then_some(at)
}

/// Whether a loop can go on for as many steps as any i asks for.
fn all_states(fold: &Expr, n: &Expr, facts: &Facts) -> bool {
    let Term::Fold { acc, i: t, body, init, .. } = fold.term() else { return false };
    let steps = if let Term::Index(count @ 1..) = n.term() { Expr::index(count - 1) } else { n.clone() };
    let all = Expr::fold(steps, acc.full_name(), t.name(), init.clone(), |w, at| instance(body, &[(acc.clone(), w), (t.clone(), at)]));
    is_total(&all, facts)
}

/// A sum of products: numbers of the state and their coefficients.
type Row = Vec<(usize, Expr)>;

/// Numbers of the first state, each with its weight where that is the same after every step.
type Weights = Vec<(usize, Option<f64>)>;

/// An affine step: the lets of its coefficients, and a row for each number of the next state, the last of which is always 1.
struct Step {
    lets: Vec<(Var, Expr)>,
    rows: Vec<Row>,
}

impl Step {
    fn of(body: &Expr, acc: &Var) -> Option<Step> {
        let (mut lets, mut linear, mut rest) = (Vec::new(), FxHashMap::default(), body);
        while let Term::Let(x, value, inner) = rest.term() {
            let is_coefficient = !mentions(value, acc) && !linear.keys().any(|name| mentions(value, name));
            if is_coefficient {
                lets.push((x.clone(), value.clone()));
            } else {
                linear.insert(x.clone(), row(value, acc, &linear)?);
            }
            rest = inner;
        }
        let mut next = Vec::new();
        leaves(rest, acc.ty(), &mut next);
        let mut rows = next.iter().map(|next| row(next, acc, &linear)).collect::<Option<Vec<_>>>()?;
        let one = rows.len();
        rows.iter_mut().flatten().filter(|(leaf, _)| *leaf == ONE).for_each(|(leaf, _)| *leaf = one);
        rows.push(vec![(one, Expr::double(1.0))]);
        Some(Step { lets, rows })
    }

    /// The number that is 1 in every state.
    fn one(&self) -> usize {
        self.rows.len() - 1
    }

    /// The numbers of the first state that count for this number of the last one, with the weights that are the same after every
    /// step, and the loop over m steps, the last one first, that gives the other weights.
    fn backward(&self, leaf: usize, m: &Expr, j: &Var, i: &Var) -> Option<(Weights, Expr)> {
        let mut count = vec![leaf];
        let mut at = 0;
        while let Some(from) = count.get(at) {
            for (other, _) in &self.rows[*from] {
                if !count.contains(other) {
                    count.push(*other);
                }
            }
            at += 1;
        }
        count.sort_unstable();
        let column = |from: usize| -> Vec<(usize, &Expr)> {
            let rows = count.iter().map(|to| (*to, &self.rows[*to]));
            rows.flat_map(|(to, row)| row.iter().filter(move |(leaf, _)| *leaf == from).map(move |(_, by)| (to, by))).collect()
        };
        let first = |from: usize| if from == leaf { 1.0 } else { 0.0 };
        let stays = |from: usize| matches!(column(from).as_slice(), [(to, by)] if *to == from && is_number(by, 1.0));
        let weights: Weights = count.iter().map(|from| (*from, stays(*from).then(|| first(*from)))).collect();
        let moving: Vec<usize> = weights.iter().filter(|(_, constant)| constant.is_none()).map(|(from, _)| *from).collect();
        if moving.is_empty() {
            return None;
        }
        let begin = together(moving.iter().map(|from| Expr::double(first(*from))).collect());
        let fold = Expr::fold(m.clone(), "w", j.name(), begin, |w, t| {
            let weight = |of: usize| match moving.iter().position(|from| *from == of) {
                None => Expr::double(first(of)),
                Some(place) => part(&w, place),
            };
            let next = |from: usize| {
                let terms = column(from).into_iter().map(|(to, by)| product(by.clone(), weight(to)));
                terms.reduce(|a, b| Expr::prim(Prim::Add, vec![a, b])).unwrap_or_else(|| Expr::double(0.0))
            };
            let step = together(moving.iter().map(|from| next(*from)).collect());
            let step = self.lets.iter().rev().fold(step, |step, (x, value)| Expr::let_(x.clone(), value.clone(), step));
            let last = Expr::prim(Prim::Sub, vec![m.clone(), Expr::index(1)]);
            without(&instance(&step, &[(j.clone(), Expr::prim(Prim::Sub, vec![last, t]))]), i)
        });
        Some((weights, fold))
    }
}

/// The term with Indexes as polynomials, in which i may cancel.
fn without(expr: &Expr, i: &Var) -> Expr {
    if !mentions(expr, i) {
        return expr.clone();
    }
    if matches!(expr.ty(), Type::Index(_))
        && let Some(short) = Size::try_of_expr(expr).and_then(|size| size.to_expr())
    {
        return short;
    }
    map_children(expr, &mut |child| without(child, i))
}

/// A term as a sum of products with one number of the state each.
fn row(expr: &Expr, acc: &Var, linear: &FxHashMap<Var, Row>) -> Option<Row> {
    if let Some(leaf) = leaf(expr, acc) {
        return Some(vec![(leaf, Expr::double(1.0))]);
    }
    let is_fixed = |expr: &Expr| !mentions(expr, acc) && !linear.keys().any(|name| mentions(expr, name));
    match expr.term() {
        Term::Var(var) if linear.contains_key(var) => linear.get(var).cloned(),
        _ if is_number(expr, 0.0) => Some(Vec::new()),
        _ if is_fixed(expr) => Some(vec![(ONE, expr.clone())]),
        Term::Prim(prim, args) => match (prim, args.as_slice()) {
            (Prim::Add, [a, b]) => Some(sum(row(a, acc, linear)?, row(b, acc, linear)?)),
            (Prim::Sub, [a, b]) => Some(sum(row(a, acc, linear)?, scaled(row(b, acc, linear)?, |c| Expr::prim(Prim::Neg, vec![c])))),
            (Prim::Neg, [a]) => Some(scaled(row(a, acc, linear)?, |c| Expr::prim(Prim::Neg, vec![c]))),
            (Prim::Mul, [a, b]) if is_fixed(b) => Some(scaled(row(a, acc, linear)?, |c| product(c, b.clone()))),
            (Prim::Mul, [a, b]) if is_fixed(a) => Some(scaled(row(b, acc, linear)?, |c| product(c, a.clone()))),
            (Prim::Div, [a, b]) if is_fixed(b) => Some(scaled(row(a, acc, linear)?, |c| Expr::prim(Prim::Div, vec![c, b.clone()]))),
            _ => None,
        },
        _ => None,
    }
}

fn product(a: Expr, b: Expr) -> Expr {
    match (is_number(&a, 1.0), is_number(&b, 1.0)) {
        (true, _) => b,
        (_, true) => a,
        (false, false) => Expr::prim(Prim::Mul, vec![a, b]),
    }
}

fn scaled(row: Row, by: impl Fn(Expr) -> Expr) -> Row {
    row.into_iter().map(|(leaf, coefficient)| (leaf, by(coefficient))).collect()
}

fn sum(mut row: Row, other: Row) -> Row {
    for (leaf, coefficient) in other {
        match row.iter_mut().find(|(known, _)| *known == leaf) {
            Some((_, known)) => *known = Expr::prim(Prim::Add, vec![known.clone(), coefficient]),
            None => row.push((leaf, coefficient)),
        }
    }
    row
}
