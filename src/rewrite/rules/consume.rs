//! Fusion of an array with the sums that read it: where only sums over its index read an array, one loop computes the elements and
//! sums them, and nothing is stored.
//!
//!     let x = build n (fun i -> exp v[i]) in     →   let s = ifold (fun s i -> let t = exp v[i] in (s.0 + t * t, s.1 + t * w[i])) (0, 0) n in
//!     [sum of x[i] * x[i], sum of x[i] * w[i]]       [s.0, s.1]
//!
//! So moments and the normal equations of a Jacobian take no memory for it. An element may be a small array, as the rows of a
//! Jacobian are where an observation has several residuals: its parts are named in the loop. The array may also lie flat, k
//! elements for each step, and so may the sums that read it:
//!
//!     let r = build (2 * n) (fun k -> x[k / 2][k % 2]) in     →   ifold (fun s q -> s + x[q][0] * x[q][0] + x[q][1] * x[q][1]) 0 n,
//!     sum of r[k] * r[k]                                          with the elements of x[q] named
//!
//! Several such arrays, also those computed from each other, are fused at once, with all sums that read them; numbers that are computed
//! between them go in front. Limits: elements are
//! made of at most [`PARTS`] Doubles and have no loop of their own; sums are Doubles or tuples of them; inside a loop no more sums
//! than [`MOST`], unless elements are arrays or lie flat.

use crate::ir::free::{any_var_in_types, each_free_var, mentions};
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Size, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;

use super::blocks::{at, by_blocks};
use super::gather::{MOST, as_one_loop, is_sums, read, replace, strict_folds, sums_in};
use super::linear::has_loop;
use super::rules;
use super::unroll::SEVERAL;

rules! {
    "fold-consume" Fission Normalisation @ Let: "let x = build n (fun i -> e) in f (ifold (fun s i -> g s x[i]) y n) (ifold (fun s i -> h s x[i]) z n) -> let s = ifold (fun s i -> let t = e in (g s.0 t, h s.1 t)) (y, z) n in f s.0 s.1 where e is small and has no loop, and inside another loop the sums are few or e is an array"
        if ["x is not free in the rest of f", "f uses both, and binds none of their free variables"] => fold_consume;
}

/// An element has at most so many Doubles,
const PARTS: i64 = 64;
/// and a step of the loop so many nodes.
const STEP_NODES: usize = 12_000;

/// An array that is fused away: `places` elements for each step of the loop.
#[derive(Clone)]
struct Producer {
    x: Var,
    i: Var,
    element: Expr,
    places: i64,
}

impl Producer {
    fn of(x: &Var, value: &Expr, steps: &Steps) -> Option<Producer> {
        let Term::Build { n, i, body } = value.term() else { return None };
        let fits = (1..=PARTS).contains(&parts_in(body.ty())) && Work::of(body).loops == 0 && !any_var_in_types(body, &mut |var| var == i);
        let places = if fits { steps.places(n)? } else { return None };
        Some(Producer { x: x.clone(), i: i.clone(), element: body.clone(), places })
    }
}

/// How many Doubles an element is made of; 0 for one that is not small, or not of Doubles alone.
fn parts_in(ty: &Type) -> i64 {
    match ty {
        Type::Double => 1,
        Type::Array(element, length) => {
            length.as_constant().filter(|length| (1..=PARTS).contains(length)).map_or(0, |length| parts_in(element).saturating_mul(length))
        }
        Type::Tuple(parts) if parts.iter().all(|part| parts_in(part) > 0) => parts.iter().map(parts_in).sum(),
        Type::Tuple(_) | Type::Index(_) | Type::Bool | Type::Rec(_) => 0,
    }
}

/// The steps of the loop that is made.
struct Steps<'a> {
    n: Expr,
    size: Option<Size>,
    facts: &'a Facts,
}

impl Steps<'_> {
    /// How many elements or steps out of so many are in one of these.
    fn places(&self, count: &Expr) -> Option<i64> {
        if same(count, &self.n) {
            return Some(1);
        }
        let (size, count) = (self.size.as_ref()?, Size::try_of_expr(count)?);
        (2..=SEVERAL).find(|k| count.divided(*k).as_ref() == Some(size)).filter(|_| self.facts.never_wraps(&count))
    }
}

fn fold_consume(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (numbers, expr) = numbers_first(expr, facts);
    let done = consumed(&expr, facts)?;
    Some(numbers.into_iter().rev().fold(done, |body, (x, value)| Expr::let_(x, value, body)))
}

/// The numbers among the lets in front of a body that need none of the others, and the term without them: sums may read them.
fn numbers_first(expr: &Expr, facts: &Facts) -> (Vec<(Var, Expr)>, Expr) {
    fn go(expr: &Expr, facts: &Facts, stay: &mut Vec<Var>, numbers: &mut Vec<(Var, Expr)>) -> Expr {
        let Term::Let(x, value, body) = expr.term() else { return expr.clone() };
        let is_number = matches!(x.ty(), Type::Double | Type::Index(_) | Type::Bool) && !has_loop(value) && facts.is_total(value);
        if is_number && !stay.is_empty() && !stay.iter().any(|var| mentions(value, var)) {
            numbers.push((x.clone(), value.clone()));
            return go(body, facts, stay, numbers);
        }
        stay.push(x.clone());
        let rest = go(body, facts, stay, numbers);
        if rest.is_same(body) { expr.clone() } else { Expr::let_(x.clone(), value.clone(), rest) }
    }
    let mut numbers = Vec::new();
    let rest = go(expr, facts, &mut Vec::new(), &mut numbers);
    (numbers, rest)
}

/// The term with the loop in the place of its first array or sum, once the numbers are in front.
fn consumed(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(_, value, body) = expr.term() else { return None };
    // the first sum or array is here; otherwise the rule applies at an inner let
    let mut first = Vec::new();
    strict_folds(value, &is_sums, facts, &mut Vec::new(), &mut first);
    let (Term::Build { n, .. } | Term::Fold { n, .. }) = first.first().unwrap_or(value).term() else { return None };
    let steps = |n: &Expr| Steps { n: n.clone(), size: Size::try_of_expr(n), facts };
    // what is computed later may have fewer, longer elements
    let mut rest = body;
    while let Term::Let(_, value, inner) = rest.term() {
        if let Term::Build { n: fewer, .. } = value.term()
            && !same(fewer, n)
            && steps(fewer).places(n).is_some()
            && let Some(done) = in_one_loop(expr, &steps(fewer), facts)
        {
            return Some(done);
        }
        rest = inner;
    }
    in_one_loop(expr, &steps(n), facts)
}

/// The term with the arrays fused away that are read in these steps alone.
fn in_one_loop(expr: &Expr, steps: &Steps, facts: &Facts) -> Option<Expr> {
    let Term::Let(_, value, _) = expr.term() else { return None };
    let mut producers = candidates(expr, steps);
    loop {
        if producers.is_empty() {
            return None;
        }
        // arrays with another use stay, and so do the arrays that they are computed from
        let (rest, folds) = sums_without(expr, &producers, steps, facts);
        if folds.is_empty() {
            return None;
        }
        let others = without_folds(&rest, &folds);
        let is_read = |producer: &Producer| !facts.grants("x is not free in the rest of f", !mentions(&others, &producer.x));
        let (mut read, left): (Vec<Producer>, Vec<Producer>) = producers.into_iter().partition(is_read);
        producers = left;
        facts.require("x is not free in the rest of f", !producers.is_empty(), value)?;
        if !read.is_empty() {
            // at once what these read, of which sums are to be looked at again
            while let Some(stays) = read.pop() {
                if !has_loop(&stays.element) {
                    let reads = |producer: &Producer| mentions(&stays.element, &producer.x);
                    let (more, left): (Vec<Producer>, Vec<Producer>) = producers.into_iter().partition(reads);
                    read.extend(more);
                    producers = left;
                }
            }
            continue;
        }
        let together = related(&producers, &folds);
        let is_all = together.len() == producers.len();
        let (rest, folds) = if is_all { (rest, folds) } else { sums_without(expr, &together, steps, facts) };
        let group = consumers(&together, folds, steps, facts)?;
        let (both, fused) = fused(&together, &group, steps)?;
        let stay: Vec<Var> = together.iter().filter(|producer| mentions(&fused, &producer.x)).map(|producer| producer.x.clone()).collect();
        if stay.is_empty() {
            facts.require("f uses both, and binds none of their free variables", !binds_what_it_needs(&rest, &fused), value)?;
            return Some(Expr::let_(both.clone(), fused, replace(&rest, &group, &both)));
        }
        // read elsewhere than in its own step
        producers.retain(|producer| !stay.contains(&producer.x));
    }
}

/// The sums that read the arrays, with those outside of loops that read what these read.
fn consumers(producers: &[Producer], folds: Vec<Expr>, steps: &Steps, facts: &Facts) -> Option<Vec<Expr>> {
    let is_consumer = |fold: &Expr| producers.iter().any(|producer| mentions(fold, &producer.x));
    let group: Vec<Expr> = if facts.loops() > 0 {
        folds.into_iter().filter(is_consumer).collect()
    } else {
        let mut arrays: Vec<Var> = folds.iter().filter(|fold| is_consumer(fold)).flat_map(read).collect();
        for producer in producers {
            each_free_var(&producer.element, &mut |var| arrays.push(var.clone()));
        }
        let reads_them =
            |fold: &Expr| count_of(fold).is_some_and(|n| same(n, &steps.n)) && read(fold).iter().any(|array| arrays.contains(array));
        folds.into_iter().filter(|fold| is_consumer(fold) || reads_them(fold)).collect()
    };
    let has_rows = producers.iter().any(|producer| producer.places > 1 || producer.element.ty() != &Type::Double);
    let sums: usize = group.iter().map(|fold| sums_in(fold.ty())).sum();
    let is_few = facts.loops() == 0 || has_rows || sums <= MOST;
    (is_few && (group.len() > 1 || has_rows) && group.iter().any(is_consumer)).then_some(group)
}

/// The loop, and a name for it.
fn fused(producers: &[Producer], group: &[Expr], steps: &Steps) -> Option<(Var, Expr)> {
    let index = Var::fresh("i", Type::Index(steps.size.clone()));
    let mut names = Names { index: index.clone(), read: Vec::new() };
    let mut lets = Vec::new();
    for producer in producers {
        for place in 0..producer.places {
            let element = names.in_term(&at_place(&producer.element, &producer.i, &index, producer.places, place));
            let parts = Parts::of(&element, &producer.x, &mut lets);
            names.read.push((producer.x.clone(), producer.places, place, parts));
        }
    }
    let in_steps = |fold: &Expr| {
        let places = steps.places(count_of(fold)?)?;
        if places == 1 { Some(fold.clone()) } else { by_blocks(fold, steps.n.clone(), Var::fresh("q", index.ty().clone()), places) }
    };
    let sums: Vec<Expr> = group.iter().map(in_steps).collect::<Option<_>>()?;
    let nodes = sums.iter().chain(lets.iter().map(|(_, value)| value)).map(Expr::node_count).fold(0, usize::saturating_add);
    if nodes > STEP_NODES {
        return None;
    }
    as_one_loop(&steps.n, &index, &sums, |step| names.in_term(step), lets)
}

fn count_of(fold: &Expr) -> Option<&Expr> {
    if let Term::Fold { n, .. } = fold.term() { Some(n) } else { None }
}

fn at_place(element: &Expr, i: &Var, index: &Var, places: i64, place: i64) -> Expr {
    if places == 1 { substitute(element, &[(i.clone(), Expr::var(index))]) } else { at(element, i, index, places, place, &[]) }
}

/// An element, or a part of one, with names for what it is made of.
enum Parts {
    Whole(Expr),
    /// An array or a tuple that is written out, and the name of all of it.
    Each(Vec<Parts>, Expr),
}

impl Parts {
    /// Names what is computed, in order.
    fn of(element: &Expr, x: &Var, lets: &mut Vec<(Var, Expr)>) -> Parts {
        let of_each = |parts: &[Expr], lets: &mut Vec<(Var, Expr)>| {
            let parts: Vec<Parts> = parts.iter().map(|part| Parts::of(part, x, lets)).collect();
            let all: Vec<Expr> = parts.iter().map(|part| part.whole().clone()).collect();
            (parts, all)
        };
        match element.term() {
            Term::Let(name, value, body) => {
                lets.push((name.clone(), value.clone()));
                Parts::of(body, x, lets)
            }
            Term::Array(items) => {
                let (parts, all) = of_each(items, lets);
                let part = if let Type::Array(part, _) = element.ty() { part.as_ref().clone() } else { Type::Double };
                Parts::Each(parts, Expr::array(part, all))
            }
            Term::Tuple(items) => {
                let (parts, all) = of_each(items, lets);
                Parts::Each(parts, Expr::tuple(all))
            }
            _ if element.is_atom() => Parts::Whole(element.clone()),
            _ => {
                let name = x.renewed(element.ty().clone());
                lets.push((name.clone(), element.clone()));
                Parts::Whole(Expr::var(&name))
            }
        }
    }

    fn part(&self, k: usize) -> Option<&Parts> {
        if let Parts::Each(parts, _) = self { parts.get(k) } else { None }
    }

    fn whole(&self) -> &Expr {
        match self {
            Parts::Whole(whole) | Parts::Each(_, whole) => whole,
        }
    }
}

/// What stands for the elements in a step.
struct Names {
    index: Var,
    /// The array, how many places it has in a step, which of them, and the element there.
    read: Vec<(Var, i64, i64, Parts)>,
}

impl Names {
    /// A term with names for what it reads.
    fn in_term(&self, expr: &Expr) -> Expr {
        match self.parts(expr) {
            Some(parts) => parts.whole().clone(),
            None => map_children(expr, &mut |child| self.in_term(child)),
        }
    }

    fn parts(&self, expr: &Expr) -> Option<&Parts> {
        match expr.term() {
            Term::Get(array, index) => match array.term() {
                Term::Var(x) => {
                    let is_here = |places, place| self.is_at(index, places, place);
                    self.read.iter().find(|(known, places, place, _)| known == x && is_here(*places, *place)).map(|(_, _, _, parts)| parts)
                }
                _ => self.parts(array)?.part(if let Term::Index(k) = index.term() { usize::try_from(*k).ok()? } else { return None }),
            },
            Term::Proj(tuple, k) => self.parts(tuple)?.part(*k),
            _ => None,
        }
    }

    /// Whether an index is that of a place in this step.
    fn is_at(&self, index: &Expr, places: i64, place: i64) -> bool {
        if places == 1 {
            return matches!(index.term(), Term::Var(var) if *var == self.index);
        }
        let at = Size::var(&self.index).mul(&Size::constant(places)).add(&Size::constant(place));
        Size::try_of_expr(index) == Some(at)
    }
}

/// The term without the fused arrays: lets in front of a body, the first of which is one.
fn without(expr: &Expr, producers: &[Producer]) -> Expr {
    match expr.term() {
        Term::Let(x, _, body) if producers.iter().any(|producer| producer.x == *x) => without(body, producers),
        Term::Let(x, value, body) => Expr::let_(x.clone(), value.clone(), without(body, producers)),
        _ => expr.clone(),
    }
}

/// The arrays among the lets in front of a body.
fn candidates(expr: &Expr, steps: &Steps) -> Vec<Producer> {
    let (mut found, mut body) = (Vec::new(), expr);
    while let Term::Let(x, value, inner) = body.term() {
        found.extend(Producer::of(x, value, steps));
        body = inner;
    }
    found
}

/// The term without the arrays, and the sums in these steps that it evaluates once and always.
fn sums_without(expr: &Expr, producers: &[Producer], steps: &Steps, facts: &Facts) -> (Expr, Vec<Expr>) {
    let rest = without(expr, producers);
    let mut folds = Vec::new();
    strict_folds(&rest, &is_sums, facts, &mut Vec::new(), &mut folds);
    folds.retain(|fold| count_of(fold).is_some_and(|count| steps.places(count).is_some()));
    (rest, folds)
}

/// The connected group of the first array: arrays are connected if one sum reads both, or one is computed from the other.
fn related(producers: &[Producer], folds: &[Expr]) -> Vec<Producer> {
    let mut is_related: Vec<bool> = (0..producers.len()).map(|k| k == 0).collect();
    loop {
        let found = (0..producers.len()).find(|new| {
            let meets = |known: usize| {
                let (x, y) = (&producers[known].x, &producers[*new].x);
                folds.iter().any(|fold| mentions(fold, x) && mentions(fold, y))
                    || mentions(&producers[known].element, y)
                    || mentions(&producers[*new].element, x)
            };
            !is_related[*new] && (0..producers.len()).any(|known| is_related[known] && meets(known))
        });
        match found {
            Some(new) => is_related[new] = true,
            None => break,
        }
    }
    producers.iter().zip(is_related).filter(|(_, is_related)| *is_related).map(|(producer, _)| producer.clone()).collect()
}

fn without_folds(expr: &Expr, folds: &[Expr]) -> Expr {
    if folds.iter().any(|fold| fold.is_same(expr)) {
        Expr::double(0.0)
    } else {
        map_children(expr, &mut |child| without_folds(child, folds))
    }
}

/// Whether a term mentions the variable of a let in front of it.
fn binds_what_it_needs(rest: &Expr, term: &Expr) -> bool {
    matches!(rest.term(), Term::Let(x, _, body) if mentions(term, x) || binds_what_it_needs(body, term))
}
