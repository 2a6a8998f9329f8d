//! Fusion of an array with the sums that read it: where only sums over its index read an array, one loop computes the elements and
//! sums them, and nothing is stored.
//!
//!     let x = build n (fun i -> exp v[i]) in     →   let s = ifold (fun s i -> let t = exp v[i] in (s.0 + t * t, s.1 + t * w[i])) (0, 0) n in
//!     [sum of x[i] * x[i], sum of x[i] * w[i]]       [s.0, s.1]
//!
//! So moments and the normal equations of a Jacobian take no memory for it. Several such arrays, also those computed from each
//! other, are fused at once, with all sums that read them. Limits: elements and sums are Doubles, elements
//! have no loop of their own; inside a loop no more sums than [`MOST`].

use crate::ir::free::{each_free_var, mentions};
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;

use super::gather::{MOST, as_one_loop, read, replace, strict_folds};
use super::rules;

rules! {
    "fold-consume" Fission Normalisation @ Let: "let x = build n (fun i -> e) in f (ifold (fun s i -> g s x[i]) y n) (ifold (fun s i -> h s x[i]) z n) -> let s = ifold (fun s i -> let t = e in (g s.0 t, h s.1 t)) (y, z) n in f s.0 s.1 where e has no loop, and inside another loop the sums are few"
        if ["x is not free in the rest of f", "f uses both, and binds none of their free variables"] => fold_consume;
}

/// An array that is fused away.
struct Producer {
    x: Var,
    i: Var,
    element: Expr,
}

impl Producer {
    fn of(x: &Var, value: &Expr, count: &Expr) -> Option<Producer> {
        match value.term() {
            Term::Build { n, i, body } if same(n, count) && body.ty() == &Type::Double && Work::of(body).loops == 0 => {
                Some(Producer { x: x.clone(), i: i.clone(), element: body.clone() })
            }
            _ => None,
        }
    }
}

fn fold_consume(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(_, value, _) = expr.term() else { return None };
    // the first sum or array is here; otherwise the rule applies at an inner let
    let mut first = Vec::new();
    strict_folds(value, facts, &mut Vec::new(), &mut first);
    let (Term::Build { n, .. } | Term::Fold { n, .. }) = first.first().unwrap_or(value).term() else { return None };
    let mut producers = candidates(expr, n);
    if producers.is_empty() {
        return None;
    }
    // arrays with another use stay, and so do the arrays that they are computed from
    let (rest, folds) = loop {
        let (rest, folds) = sums_without(expr, &producers, n, facts);
        let others = without_folds(&rest, &folds);
        let before = producers.len();
        producers.retain(|producer| facts.grants("x is not free in the rest of f", !mentions(&others, &producer.x)));
        facts.require("x is not free in the rest of f", !producers.is_empty(), value)?;
        if producers.len() == before {
            break (rest, folds);
        }
    };
    let all = producers.len();
    let producers = related(producers, &folds);
    let (rest, folds) = if producers.len() == all { (rest, folds) } else { sums_without(expr, &producers, n, facts) };
    let is_consumer = |fold: &Expr| producers.iter().any(|producer| mentions(fold, &producer.x));
    let group: Vec<Expr> = if facts.loops() > 0 {
        folds.into_iter().filter(is_consumer).collect()
    } else {
        let mut arrays: Vec<Var> = folds.iter().filter(|fold| is_consumer(fold)).flat_map(read).collect();
        for producer in &producers {
            each_free_var(&producer.element, &mut |var| arrays.push(var.clone()));
        }
        folds.into_iter().filter(|fold| is_consumer(fold) || read(fold).iter().any(|array| arrays.contains(array))).collect()
    };
    if facts.loops() > 0 && group.len() > MOST || group.len() < 2 || !group.iter().any(is_consumer) {
        return None;
    }
    let index = Var::fresh("i", producers[0].i.ty().clone());
    let at = Expr::var(&index);
    let (mut lets, mut reads) = (Vec::new(), Vec::new());
    for producer in &producers {
        let element = substitute(&producer.element, &[(producer.i.clone(), at.clone())]);
        let t = Var::fresh(producer.x.name(), Type::Double);
        lets.push((t.clone(), with_elements(&element, &reads, &at)));
        reads.push((producer.x.clone(), Expr::var(&t)));
    }
    let (both, together) = as_one_loop(n, &index, &group, |step| with_elements(step, &reads, &at), lets)?;
    if producers.iter().any(|producer| mentions(&together, &producer.x)) {
        return None;
    }
    facts.require("f uses both, and binds none of their free variables", !binds_what_it_needs(&rest, &together), value)?;
    Some(Expr::let_(both.clone(), together, replace(&rest, &group, &both)))
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
fn candidates(expr: &Expr, n: &Expr) -> Vec<Producer> {
    let (mut found, mut body) = (Vec::new(), expr);
    while let Term::Let(x, value, inner) = body.term() {
        found.extend(Producer::of(x, value, n));
        body = inner;
    }
    found
}

/// The term without the arrays, and the sums over n that it evaluates once and always.
fn sums_without(expr: &Expr, producers: &[Producer], n: &Expr, facts: &Facts) -> (Expr, Vec<Expr>) {
    let rest = without(expr, producers);
    let mut folds = Vec::new();
    strict_folds(&rest, facts, &mut Vec::new(), &mut folds);
    folds.retain(|fold| matches!(fold.term(), Term::Fold { n: count, .. } if same(count, n)));
    (rest, folds)
}

/// The first array with those that the same sums read, and those that they are computed from or that are computed from them.
fn related(producers: Vec<Producer>, folds: &[Expr]) -> Vec<Producer> {
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
    producers.into_iter().zip(is_related).filter_map(|(producer, is_related)| is_related.then_some(producer)).collect()
}

fn without_folds(expr: &Expr, folds: &[Expr]) -> Expr {
    if folds.iter().any(|fold| fold.is_same(expr)) {
        Expr::double(0.0)
    } else {
        map_children(expr, &mut |child| without_folds(child, folds))
    }
}

/// The term with names for the elements at an index.
fn with_elements(expr: &Expr, names: &[(Var, Expr)], at: &Expr) -> Expr {
    if let Term::Get(array, index) = expr.term()
        && same(index, at)
        && let Term::Var(x) = array.term()
        && let Some((_, name)) = names.iter().find(|(known, _)| known == x)
    {
        return name.clone();
    }
    map_children(expr, &mut |child| with_elements(child, names, at))
}

/// Whether a term mentions the variable of a let in front of it.
fn binds_what_it_needs(rest: &Expr, term: &Expr) -> bool {
    matches!(rest.term(), Term::Let(x, _, body) if mentions(term, x) || binds_what_it_needs(body, term))
}
