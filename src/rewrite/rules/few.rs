//! Sums of which all but a few terms are 0: no loop is left.
//!
//!     sum over i of (let d = (if i = k then a else 0) in v[i] * d - (if i = k then b else 0) * d * d)
//!       →   at i = k alone: v[k] * a - b * a * a
//!
//! `sum-one-hot` is this for one product with a condition in front; here the condition may be anywhere in the term
//! (`rewrite::vanish` finds it), also in the steps of inner loops, and there may be several. So gradients through column
//! statistics and stencils have the cost of scalar code.
//! Limits: a real-number law of group `algebra`; few indices, and a short term for each.

use crate::ir::subst::{freshen, map_children};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::added::{Added, Around, accumulated};
use crate::rewrite::atoms::is_number;
use crate::rewrite::facts::Facts;
use crate::rewrite::vanish::Vanishing;

use super::loops::{Fold, fold};
use super::rules;
use super::solve::solution;

rules! {
    "sum-few" Ring Algebra @ Fold: "ifold (fun s i -> s + e) z n -> ifold (fun s i -> if i = k then s + e else s) z n where e is 0 unless i = k, and so for several k"
        if ["s is not free in e", "e is short"] => sum_few;
}

/// The terms of all steps that stay have at most so many nodes, or twice as many as there were.
const NODES: usize = 300;

fn sum_few(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let fold = fold(expr)?;
    if expr.ty() != &Type::Double || is_done(&fold) {
        return None;
    }
    let added = Added::of(fold.body, fold.acc)?;
    let mut vanishing = Vanishing::new(facts, fold.i);
    for around in &added.around {
        if let Around::Let(x, value) = around {
            vanishing.bind(x, value);
        }
    }
    let (mut few, mut rest, mut ks) = (Vec::new(), Vec::new(), Vec::<Expr>::new());
    for (term, positive) in &added.terms {
        match vanishing.few(term) {
            Some(found) => {
                few.push((term.clone(), *positive));
                for k in found {
                    if !ks.iter().any(|known| same_index(known, &k, facts)) {
                        ks.push(k);
                    }
                }
            }
            None => rest.push((term.clone(), *positive)),
        }
    }
    if few.is_empty() {
        return None;
    }
    facts.require("s is not free in e", !added.mentions(fold.acc), fold.body)?;
    let step = added.behind(accumulated(fold.acc, few)?);
    let steps: Vec<Expr> = ks.iter().map(|k| without_others(&step, fold.i, k)).collect();
    let nodes: usize = steps.iter().map(Expr::node_count).sum();
    facts.require("e is short", nodes <= NODES.max(2 * fold.body.node_count()), fold.body)?;
    let around = |init: Expr, body: Expr| freshen(&Expr::fold_with(fold.n.clone(), fold.acc.clone(), fold.i.clone(), body, init));
    let mut sum = fold.init.clone();
    if !rest.is_empty() || ks.is_empty() {
        let body = if rest.is_empty() { Expr::var(fold.acc) } else { added.behind(accumulated(fold.acc, rest)?) };
        sum = around(sum, body);
    }
    let is_k = |k: &Expr, other: Expr| Expr::prim(Prim::Eq, vec![other, k.clone()]);
    for (at, (k, step)) in ks.iter().zip(steps).enumerate() {
        // an index that is an earlier one has been counted
        let unless = |step: Expr, other: &Expr| match differ(k, other) {
            Some(_) => step,
            None => Expr::if_(is_k(k, other.clone()), Expr::var(fold.acc), step),
        };
        let step = ks[..at].iter().fold(step, unless);
        sum = around(sum, Expr::if_(is_k(k, Expr::var(fold.i)), step, Expr::var(fold.acc)));
    }
    Some(sum)
}

/// The step where i = k, without what it adds for indices that differ from k by a number.
fn without_others(step: &Expr, i: &Var, k: &Expr) -> Expr {
    if let Term::If(cond, a, b) = step.term() {
        match solution(cond, i).and_then(|other| differ(k, &other)) {
            Some(0) => return without_others(a, i, k),
            Some(_) => return without_others(b, i, k),
            None => {}
        }
    }
    map_children(step, &mut |part| without_others(part, i, k))
}

/// The difference of two indices, if it is a literal.
fn differ(a: &Expr, b: &Expr) -> Option<i64> {
    Size::try_of_expr(a)?.sub(&Size::try_of_expr(b)?).as_constant()
}

/// Whether the step acts for one i alone already, as `fold-one-hot` and `sum-one-hot` take it.
fn is_done(fold: &Fold) -> bool {
    let is_i = |e: &Expr| matches!(e.term(), Term::Var(x) if x == fold.i);
    let is_acc = |e: &Expr| matches!(e.term(), Term::Var(x) if x == fold.acc);
    let chooses = |e: &Expr, otherwise: &dyn Fn(&Expr) -> bool| {
        let Term::If(cond, _, b) = e.term() else { return false };
        otherwise(b) && matches!(cond.term(), Term::Prim(Prim::Eq, args) if args.iter().any(is_i))
    };
    let one_hot = |e: &Expr| chooses(e, &|b| is_number(b, 0.0));
    match fold.body.term() {
        Term::If(..) => chooses(fold.body, &is_acc),
        Term::Prim(Prim::Add, args) => matches!(args.as_slice(), [a, b] if is_acc(a) && one_hot(b) || is_acc(b) && one_hot(a)),
        _ => false,
    }
}

fn same_index(a: &Expr, b: &Expr, facts: &Facts) -> bool {
    let (Some(a), Some(b)) = (Size::try_of_expr(a), Size::try_of_expr(b)) else { return false };
    facts.same_size(&a, &b)
}
