//! 001 Figure 8f: loops that run a known number of times, do nothing, or act in one step only.
//!
//!     ifold (fun a i -> if i = k then a + v[i] else a) z n   →   let a = z in let i = k in a + v[i]
//!
//! The check of a negative count stays; a term that the loop would not have evaluated (k, for n = 0) is evaluated only where it
//! cannot fail.

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::added::{Added, accumulated};
use crate::rewrite::atoms::is_number;
use crate::rewrite::facts::Facts;

use super::rules;
use super::unroll::has_few;

rules! {
    "fold-zero" ["001 Fig. 8f"]    Loop Normalisation @ Fold: "ifold f z 0 -> z" => fold_zero;
    "fold-unroll" ["001 Fig. 8f"]  Loop Normalisation @ Fold: "ifold f z 2 -> f (ifold f z 1) 1; ifold f z (n + 1) -> f (ifold f z n) n where n is the same in all enclosing loops"
        if ["few steps and a small f", "0 <= n"] => fold_unroll;
    "fold-id" ["001 Fig. 8f"]      Loop Normalisation @ Fold: "ifold (fun a i -> a) z n -> z" if ["0 <= n, else the check stays"] => fold_id;
    "fold-final"   Loop Normalisation @ Fold: "ifold (fun a i -> e) z n -> if 0 < n then (let i = n - 1 in e) else z"
        if ["a is not free in e", "0 <= n, else the check stays"] => fold_final;
    "fold-one-hot" ["001 Fig. 8f"] Loop Normalisation @ Fold: "ifold (fun a i -> if i = k then e else a) z n -> let a = z in let i = k in e"
        if ["a and i are not free in k", "k total, or 0 < n", "0 <= k && k < n, else guarded by that test", "0 <= n, else the check stays"] => fold_one_hot;
    "sum-one-hot" ["003 Sec. 4"] Loop Normalisation @ Fold: "ifold (fun a i -> a + (if i = k then e else 0)) z n -> let a = z in let i = k in a + e"
        if ["loose e", "a and i are not free in k", "k total, or 0 < n", "0 <= k && k < n, else guarded by that test", "0 <= n, else the check stays"] => sum_one_hot;
    "fold-unswitch" Loop Normalisation @ Fold: "ifold (fun a i -> if c then e else a) z n -> if c then ifold (fun a i -> e) z n else z"
        if ["a and i are not free in c", "c total, or 0 < n", "0 <= n, else the check stays"] => fold_unswitch;
    "sum-split"    Ring Algebra @ Fold: "ifold (fun s i -> s + (a + (if c then b else 0))) z n -> ifold (fun s i -> s + (if c then b else 0)) (ifold (fun s i -> s + a) z n) n"
        if ["s is not free in a", "c holds for one i, or is invariant in i"] => sum_split;
    "let-sink"     Loop Normalisation @ Let: "let x = a in if c then b else d -> if c then (let x = a in b) else d" if ["x is not free in c"] => let_sink;
}

/// A loop of at most this many steps is unrolled,
const UNROLLED_STEPS: i64 = 4;
/// unless its body has more nodes than this.
const UNROLLED_NODES: usize = 80;
/// or this many, where it accumulates in an array of a few numbers, as reverse mode does: written out, the places are literals.
const ACCUMULATED_NODES: usize = 1_000;

pub(super) struct Fold<'a> {
    pub n: &'a Expr,
    pub acc: &'a Var,
    pub i: &'a Var,
    pub body: &'a Expr,
    pub init: &'a Expr,
}

pub(super) fn fold(expr: &Expr) -> Option<Fold<'_>> {
    match expr.term() {
        Term::Fold { n, acc, i, body, init } => Some(Fold { n, acc, i, body, init }),
        _ => None,
    }
}

impl Fold<'_> {
    fn invariant(&self, expr: &Expr) -> bool {
        !mentions(expr, self.acc) && !mentions(expr, self.i)
    }

    /// Whether the count is known to be at least 0 (or 1).
    fn runs(&self, facts: &Facts, at_least_once: bool) -> bool {
        let Some(n) = Size::try_of_expr(self.n) else { return false };
        if at_least_once { facts.positive(&n) } else { facts.non_negative(&n) }
    }

    /// `result` without the loop: behind the loop's own check of its count.
    fn without_loop(&self, facts: &Facts, result: Expr) -> Expr {
        if facts.grants("0 <= n, else the check stays", self.runs(facts, false)) {
            return result;
        }
        Expr::check(Expr::prim(Prim::Le, vec![Expr::index(0), freshen(self.n)]), Status::Negative, result)
    }
}

fn fold_zero(expr: &Expr, _: &Facts) -> Option<Expr> {
    let fold = fold(expr)?;
    matches!(fold.n.term(), Term::Index(0)).then(|| fold.init.clone())
}

fn fold_unroll(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let fold = fold(expr)?;
    let (steps, last) = last_step(fold.n)?;
    // a triangle of steps stays one loop nest
    if facts.level(fold.n) > 0 {
        return None;
    }
    let most = if fold.body.has_updates() && has_few(fold.acc.ty()) { ACCUMULATED_NODES } else { UNROLLED_NODES };
    facts.require("few steps and a small f", steps <= UNROLLED_STEPS && fold.body.node_count() <= most, fold.n)?;
    let is_there = Size::try_of_expr(&last).is_some_and(|last| facts.non_negative(&last));
    facts.require("0 <= n", is_there, fold.n)?;
    let i = fold.i.retyped(Type::Index(Some(Size::of_expr(&last))));
    let body = substitute(fold.body, &[(fold.i.clone(), Expr::var(&i))]);
    let before = freshen(&Expr::fold_with(last.clone(), fold.acc.clone(), i, body, fold.init.clone()));
    let step = substitute(fold.body, &[(fold.i.clone(), last)]);
    Some(Expr::let_(fold.acc.clone(), before, step))
}

/// How many steps a count says in digits, alone or beside a term, and one less than the count.
fn last_step(n: &Expr) -> Option<(i64, Expr)> {
    match n.term() {
        Term::Index(n) if *n >= 1 => Some((*n, Expr::index(n - 1))),
        Term::Prim(Prim::Add, args) => {
            let [a, b] = args.as_slice() else { return None };
            let (rest, steps) = match (a.term(), b.term()) {
                (_, Term::Index(steps)) => (a, *steps),
                (Term::Index(steps), _) => (b, *steps),
                _ => return None,
            };
            let last = if steps == 1 { freshen(rest) } else { Expr::prim(Prim::Add, vec![freshen(rest), Expr::index(steps - 1)]) };
            (steps >= 1).then_some((steps, last))
        }
        _ => None,
    }
}

fn fold_id(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let fold = fold(expr)?;
    matches!(fold.body.term(), Term::Var(var) if var == fold.acc).then(|| fold.without_loop(facts, fold.init.clone()))
}

fn fold_final(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let fold = fold(expr)?;
    if !facts.grants("a is not free in e", !mentions(fold.body, fold.acc)) || fold.body.ty() != expr.ty() || fold.init.ty() != expr.ty() {
        return None;
    }
    let is_there = facts.grants("0 <= n, else the check stays", fold.runs(facts, false));
    let always = fold.runs(facts, true);
    Some(Expr::bind("n", fold.n.clone(), |n| {
        let last = Expr::prim(Prim::Sub, vec![n.clone(), Expr::index(1)]);
        let body = freshen(&at_index(fold.i, last, fold.body));
        if always {
            return body;
        }
        let runs = Expr::prim(Prim::Lt, vec![Expr::index(0), n.clone()]);
        let chosen = Expr::if_(runs, body, fold.init.clone());
        if is_there { chosen } else { Expr::check(Expr::prim(Prim::Le, vec![Expr::index(0), freshen(&n)]), Status::Negative, chosen) }
    }))
}

/// The step for one index. Its let-bound Indexes are in the range of their types where the step exists; where it may not, only
/// their values count.
pub fn at_index(i: &Var, index: Expr, step: &Expr) -> Expr {
    fn bind(name: &Var, value: Expr, body: &Expr) -> Expr {
        if !matches!(name.ty(), Type::Index(Some(_))) {
            return Expr::let_(name.clone(), value, by_values(body));
        }
        let plain = name.renewed(Type::INDEX);
        Expr::let_(plain.clone(), value, by_values(&substitute(body, &[(name.clone(), Expr::var(&plain))])))
    }
    fn by_values(expr: &Expr) -> Expr {
        match expr.term() {
            Term::Let(name, value, body) => bind(name, by_values(value), body).at(expr.span()),
            _ => map_children(expr, &mut by_values),
        }
    }
    bind(i, index, step)
}

fn fold_one_hot(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let fold = fold(expr)?;
    let Term::If(cond, hot, cold) = fold.body.term() else { return None };
    if !matches!(cold.term(), Term::Var(var) if var == fold.acc) {
        return None;
    }
    let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    let is_i = |e: &Expr| matches!(e.term(), Term::Var(var) if var == fold.i);
    let k = if is_i(a) { b } else { is_i(b).then_some(a)? };
    if !facts.grants("a and i are not free in k", fold.invariant(k)) || !matches!(k.ty(), Type::Index(_)) {
        return None;
    }
    facts.require("k total, or 0 < n", facts.is_total(k) || fold.runs(facts, true), k)?;
    let in_range = Size::try_of_expr(fold.n).is_some_and(|n| facts.in_range(k, &n));
    let at_k = |k: Expr| at_index(fold.i, k, hot);
    if facts.grants("0 <= k && k < n, else guarded by that test", in_range) {
        return Some(Expr::let_(fold.acc.clone(), fold.init.clone(), at_k(k.clone())));
    }
    // the initial value is shared by both branches
    let shared = fold.acc.renewed(fold.acc.ty().clone());
    let guarded = Expr::bind("k", k.clone(), |k| {
        let low = Expr::prim(Prim::Le, vec![Expr::index(0), k.clone()]);
        let high = Expr::prim(Prim::Lt, vec![k.clone(), fold.n.clone()]);
        let step = substitute(&at_k(k), &[(fold.acc.clone(), Expr::var(&shared))]);
        Expr::if_(Expr::prim(Prim::And, vec![low, high]), step, Expr::var(&shared))
    });
    Some(fold.without_loop(facts, Expr::let_(shared, fold.init.clone(), guarded)))
}

fn sum_one_hot(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Fold { n, acc, i, body, init } = fold(expr)?;
    let Term::Prim(Prim::Add, args) = body.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    let is_acc = |e: &Expr| matches!(e.term(), Term::Var(var) if var == acc);
    let Term::If(cond, hot, zero) = (if is_acc(a) { b } else { is_acc(b).then_some(a)? }).term() else { return None };
    let is_exact = expr.ty() != &Type::Double || matches!(zero.term(), Term::Double(zero) if zero.is_sign_negative());
    if !is_number(zero, 0.0) {
        return None;
    }
    facts.require("loose e", !facts.strict_fp || is_exact, zero)?;
    let sum = if is_acc(a) { vec![a.clone(), hot.clone()] } else { vec![hot.clone(), b.clone()] };
    let step = Expr::if_(cond.clone(), Expr::prim(Prim::Add, sum), Expr::var(acc));
    fold_one_hot(&Expr::fold_with(n.clone(), acc.clone(), i.clone(), step, init.clone()), facts)
}

fn fold_unswitch(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let fold = fold(expr)?;
    let Term::If(cond, taken, kept) = fold.body.term() else { return None };
    let is_acc = |e: &Expr| matches!(e.term(), Term::Var(var) if var == fold.acc);
    let (step, when) = match (is_acc(taken), is_acc(kept)) {
        (false, true) => (taken, true),
        (true, false) => (kept, false),
        (true, true) | (false, false) => return None,
    };
    if !facts.grants("a and i are not free in c", fold.invariant(cond)) {
        return None;
    }
    facts.require("c total, or 0 < n", facts.is_total(cond) || fold.runs(facts, true), cond)?;
    let acted = Expr::fold_with(fold.n.clone(), fold.acc.clone(), fold.i.clone(), step.clone(), Expr::var(fold.acc));
    let idle = Expr::var(fold.acc);
    // the initial value is shared by both branches
    let shared = fold.acc.renewed(fold.acc.ty().clone());
    let rename = |e: Expr| match e.term() {
        Term::Fold { n, acc, i, body, .. } => Expr::fold_with(n.clone(), acc.clone(), i.clone(), body.clone(), Expr::var(&shared)),
        _ => Expr::var(&shared),
    };
    let (acted, idle) = (rename(acted), rename(idle));
    let chosen = if when { Expr::if_(cond.clone(), acted, idle) } else { Expr::if_(cond.clone(), idle, acted) };
    Some(fold.without_loop(facts, Expr::let_(shared, fold.init.clone(), chosen)))
}

/// A sum with a term that is zero except in one step, or unless a loop-invariant condition holds: separated, its loop becomes a
/// single step or a conditional.
fn sum_split(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let fold = fold(expr)?;
    if expr.ty() != &Type::Double {
        return None;
    }
    let mut added = Added::of(fold.body, fold.acc)?;
    let is_hot = |term: &Expr| matches!(term.term(), Term::If(_, a, b) if is_number(a, 0.0) || is_number(b, 0.0));
    let (almost, _) = added.terms.iter().find(|(term, _)| is_hot(term))?.clone();
    if added.terms.len() < 2 {
        return None;
    }
    facts.require("s is not free in a", !added.mentions(fold.acc), fold.body)?;
    let at = added.terms.iter().position(|(term, _)| {
        let Term::If(cond, _, b) = term.term() else { return false };
        let one = |cond: &Expr| matches!(cond.term(), Term::Prim(Prim::Eq, args) if args.iter().any(|arg| matches!(arg.term(), Term::Var(var) if var == fold.i)));
        let collapses = !added.has_let_in(cond) && (one(cond) && is_number(b, 0.0) || fold.invariant(cond));
        is_hot(term) && facts.grants("c holds for one i, or is invariant in i", collapses)
    });
    facts.require("c holds for one i, or is invariant in i", at.is_some(), &almost)?;
    let hot = added.terms.remove(at?);
    let step = |init: Expr, terms: Vec<(Expr, bool)>| {
        let body = added.behind(accumulated(fold.acc, terms)?);
        Some(Expr::fold_with(fold.n.clone(), fold.acc.clone(), fold.i.clone(), body, init))
    };
    let rest = freshen(&step(fold.init.clone(), added.terms.clone())?);
    step(rest, vec![hot])
}

/// A value that only one branch uses is computed there.
fn let_sink(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::If(c, a, b) = body.term() else { return None };
    if !facts.grants("x is not free in c", !mentions(c, x)) {
        return None;
    }
    let inside = |branch: &Expr| Expr::let_(x.clone(), value.clone(), branch.clone());
    match (mentions(a, x), mentions(b, x)) {
        _ if !super::lambda::may_wait(value, c) => None,
        (true, false) => Some(Expr::if_(c.clone(), inside(a), b.clone())),
        (false, true) => Some(Expr::if_(c.clone(), a.clone(), inside(b))),
        (true, true) | (false, false) => None,
    }
}
