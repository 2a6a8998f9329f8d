//! 001 Figure 8d: conditions that are known, branches that are equal, operations that move into branches.
//!
//!     if true then a else b     →  a
//!     f (if c then a else b)    →  if c then f a else f b     where f is small or one side then simplifies

use crate::ir::free::{any_free_var, mentions};
use crate::ir::subst::substitute;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::{replace, same};
use crate::rewrite::atoms::is_number;
use crate::rewrite::facts::Facts;

use super::algebra::decides_steps;
use super::rules;

rules! {
    "if-true" ["001 Fig. 8d"]    Conditional @ If: "if true then a else b -> a";
    "if-false" ["001 Fig. 8d"]   Conditional @ If: "if false then a else b -> b";
    "if-same" ["001 Fig. 8d"]    Conditional @ If: "if c then a else a -> a";
    "if-equal"   Conditional @ If: "if i = k then a[k/i] else a -> a" if ["what is substituted for its equal is an Index"] => if_equal;
    "if-not"     Conditional @ If: "if not c then a else b -> if c then b else a";
    "if-ne"      Conditional @ If: "if a <> b then c else d -> if a = b then d else c";
    "if-and"     Conditional @ If: "if c && d then a else b -> if c then (if d then a else b) else b if atomic b";
    "if-bool"    Conditional @ If: "if c then true else false -> c; if c then false else true -> not c";
    "if-assume" ["001 Fig. 8d"]  Conditional @ Condition: "if c then a else b -> if c then a[c := true] else b[c := false]"
        if ["what is substituted for its equal is an Index"] => if_assume;
    "if-swap"    Conditional @ If: "if c then (if d then a else b) else b -> if d then (if c then a else b) else b where d is i = k for the i of the innermost fold, or the same in all its steps, as c is not"
        if ["d total"] => if_swap;
    "if-float" ["001 Fig. 8d"]   Conditional @ OverIf: "f (if c then a else b) -> if c then f a else f b"
        if ["f a or f b then simplifies", "f is small"] => if_float;
    "if-let"     Conditional Algebra @ Let: "let x = (if c then a else 0) in b -> if c then (let x = a in b) else e where b[0/x, false/c] = e is zero or atomic, and so for a tuple with zeros" => if_let;
    "if-join"    Conditional @ OverIf: "f (if c then a else b) (if c then d else e) -> if c then f a d else f b e" => if_join;
    "and-true"   Conditional @ Prim: "c && true -> c; true && c -> c; c && false -> false; false && c -> false";
    "or-false"   Conditional @ Prim: "c || false -> c; false || c -> c; c || true -> true; true || c -> true";
    "check-true" Conditional @ Check: "check c else s in e -> e" if ["c is provable"] => check_true;
}

/// In the branches of `if c`, and where loops, checks and sizes fix it, c itself is known. Only comparisons
/// of Index and Bool, and the very same condition again.
/// Where two Indexes are equal, one is substituted for the other.
fn if_assume(expr: &Expr, facts: &Facts) -> Option<Expr> {
    if let Term::If(c, a, b) = expr.term() {
        if let Some((i, k)) = facts.equality(c) {
            facts.require("what is substituted for its equal is an Index", matches!(i.ty(), Type::Index(_)), c)?;
            if mentions(a, &i) {
                return Some(Expr::if_(c.clone(), substitute(a, &[(i, k)]), b.clone()));
            }
        }
        if matches!(c.term(), Term::Bool(_)) || facts.has_decided_in(expr) && !c.is_atom() {
            return None;
        }
        let known = |branch: &Expr, truth| if mentions_all(branch, c) { replace(branch, c, &Expr::bool(truth)) } else { branch.clone() };
        let (holds, fails) = (known(a, true), known(b, false));
        return (!holds.is_same(a) || !fails.is_same(b)).then(|| Expr::if_(c.clone(), holds, fails));
    }
    if expr.ty() != &Type::Bool || expr.is_atom() {
        return None;
    }
    Some(Expr::bool(facts.decide(expr)?))
}

/// Branches that are the same where two Indexes are.
fn if_equal(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::If(c, a, b) = expr.term() else { return None };
    let (i, k) = facts.equality(c)?;
    let is_like = |i: Var, k: Expr| {
        let equal = [(i, k)];
        same(&substitute(a, &equal), &substitute(b, &equal))
    };
    if a.node_count() != b.node_count() || !is_like(i.clone(), k) {
        return None;
    }
    facts.require("what is substituted for its equal is an Index", matches!(i.ty(), Type::Index(_)), c)?;
    Some(b.clone())
}

/// Whether every variable of a term occurs in another one, as it must where the term does.
fn mentions_all(expr: &Expr, term: &Expr) -> bool {
    !any_free_var(term, &mut |var| !mentions(expr, var))
}

/// A condition that selects a single step of a fold comes first: all other steps then do nothing, and the loop becomes that step.
fn if_swap(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::If(c, then, otherwise) = expr.term() else { return None };
    let i = facts.innermost_fold()?;
    let decides = |cond: &Expr| mentions(cond, i) && decides_steps(cond, i);
    let is_fixed = |cond: &Expr| facts.level(cond) < facts.loops();
    let goes_out = |cond: &Expr| decides(cond) || is_fixed(cond) && !is_fixed(c);
    let inside = |branch: &Expr| match branch.term() {
        Term::If(d, hot, cold) if goes_out(d) && cold.is_atom() => Some((d.clone(), hot.clone(), cold.clone())),
        _ => None,
    };
    // a condition that excludes a single step may come second
    if decides(c) && !inside(otherwise).is_some_and(|(_, _, idle)| same(&idle, then)) {
        return None;
    }
    let (d, swapped, idle) = match (inside(then), inside(otherwise)) {
        (Some((d, a, idle)), Some((e, b, other))) if same(&d, &e) && same(&idle, &other) => (d, Expr::if_(c.clone(), a, b), idle),
        (Some((d, hot, idle)), _) if same(&idle, otherwise) => (d, Expr::if_(c.clone(), hot, idle.clone()), idle),
        (_, Some((d, hot, idle))) if same(&idle, then) => (d, Expr::if_(c.clone(), idle.clone(), hot), idle),
        _ => return None,
    };
    facts.require("d total", facts.is_total(&d), &d)?;
    Some(Expr::if_(d, swapped, idle))
}

fn check_true(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Check { cond, body, .. } = expr.term() else { return None };
    facts.require("c is provable", facts.decide(cond) == Some(true), cond)?;
    Some(body.clone())
}

/// An operation on a conditional moves into its branches where copying it is free (a projection, an element, a length) or where
/// it simplifies with a literal branch.
fn if_float(expr: &Expr, facts: &Facts) -> Option<Expr> {
    match expr.term() {
        Term::Proj(inner, k) => float(inner, &mut |e| Expr::proj(e, *k)),
        Term::Dim(inner, axis) => float(inner, &mut |e| Expr::dim(e, *axis)),
        Term::Get(inner, index) if index.is_atom() => float(inner, &mut |e| Expr::get(e, index.clone())),
        Term::Prim(prim, args) => {
            let [a, b] = args.as_slice() else {
                let [a] = args.as_slice() else { return None };
                let floated = float(a, &mut |e| Expr::prim(*prim, vec![e]))?;
                facts.require("f a or f b then simplifies", *prim == Prim::Neg && zero_branch(a) || literal_branch(a), a)?;
                return Some(floated);
            };
            if Size::try_of_expr(expr).is_some() {
                return None;
            }
            if simplifies(*prim, a, b, true, facts) {
                return float(a, &mut |e| Expr::prim(*prim, vec![e, b.clone()]));
            }
            simplifies(*prim, b, a, false, facts).then(|| float(b, &mut |e| Expr::prim(*prim, vec![a.clone(), e])))?
        }
        _ => None,
    }
}

/// A term that depends on a value which is zero unless c is evaluated only where c holds, if otherwise it is zero or the
/// accumulator.
fn if_let(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::If(c, a, b) = value.term() else { return None };
    let (zero_a, zero_b) = (zeros(a), zeros(b));
    let (when, kept, zero) = match (zero_a.contains(&true), zero_b.contains(&true)) {
        (false, true) => (true, a, zero_b),
        (true, false) => (false, b, zero_a),
        (true, true) | (false, false) => return None,
    };
    let known = (c, !when);
    let mut local = match x.ty() {
        Type::Double => Locals { zeros: vec![x.clone()], others: Vec::new(), parts: None, known },
        Type::Tuple(_) => Locals { zeros: Vec::new(), others: vec![x.clone()], parts: Some((x.clone(), zero)), known },
        Type::Index(_) | Type::Bool | Type::Array(..) | Type::Rec(_) => return None,
    };
    let rest = at_zero(body, &mut local)?;
    let acted = Expr::let_(x.clone(), kept.clone(), body.clone());
    Some(if when { Expr::if_(c.clone(), acted, rest) } else { Expr::if_(c.clone(), rest, acted) })
}

/// Whether a term is zero, a Double, or which components of a tuple are.
fn zeros(expr: &Expr) -> Vec<bool> {
    let is_zero = |part: &Expr| matches!(part.term(), Term::Double(value) if *value == 0.0);
    match expr.term() {
        Term::Tuple(parts) => parts.iter().map(is_zero).collect(),
        _ => vec![is_zero(expr)],
    }
}

/// The variables that are zero, those bound inside the term, and a condition with its value.
struct Locals<'a> {
    zeros: Vec<Var>,
    others: Vec<Var>,
    /// A tuple, and which of its components are zero.
    parts: Option<(Var, Vec<bool>)>,
    known: (&'a Expr, bool),
}

/// The value of a term where some variables are zero: zero, or an atom or component from outside.
fn at_zero(expr: &Expr, local: &mut Locals) -> Option<Expr> {
    if vanishes(expr, local) {
        return Some(Expr::double(0.0));
    }
    match expr.term() {
        Term::Let(y, value, body) => {
            if vanishes(value, local) {
                local.zeros.push(y.clone())
            } else {
                local.others.push(y.clone())
            }
            at_zero(body, local)
        }
        Term::Prim(Prim::Add, args) => match args.as_slice() {
            [a, b] if vanishes(b, local) => at_zero(a, local),
            [a, b] if vanishes(a, local) => at_zero(b, local),
            _ => None,
        },
        Term::Prim(Prim::Sub, args) => match args.as_slice() {
            [a, b] if vanishes(b, local) => at_zero(a, local),
            _ => None,
        },
        Term::Var(var) => (!local.others.contains(var)).then(|| expr.clone()),
        Term::Proj(tuple, _) => matches!(tuple.term(), Term::Var(var) if !local.others.contains(var)).then(|| expr.clone()),
        _ => None,
    }
}

fn vanishes(expr: &Expr, local: &Locals) -> bool {
    match expr.term() {
        Term::Double(value) => *value == 0.0,
        Term::Var(var) => local.zeros.contains(var),
        Term::Proj(tuple, k) => match (tuple.term(), &local.parts) {
            (Term::Var(var), Some((x, zero))) => var == x && zero.get(*k) == Some(&true),
            _ => false,
        },
        Term::Prim(prim, args) => match (prim, args.as_slice()) {
            (Prim::Mul, [a, b]) => vanishes(a, local) || vanishes(b, local),
            (Prim::Div, [a, _]) => vanishes(a, local),
            (Prim::Neg, [a]) => vanishes(a, local),
            (Prim::Add | Prim::Sub, [a, b]) => vanishes(a, local) && vanishes(b, local),
            _ => false,
        },
        Term::If(c, a, b) if same(c, local.known.0) => vanishes(if local.known.1 { a } else { b }, local),
        Term::If(_, a, b) => vanishes(a, local) && vanishes(b, local),
        _ => false,
    }
}

/// Two conditionals on one condition become one.
fn if_join(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Prim(prim, args) = expr.term() else { return None };
    let [x, y] = args.as_slice() else { return None };
    let (Term::If(c, a, b), Term::If(other, d, e)) = (x.term(), y.term()) else { return None };
    if !same(c, other) {
        return None;
    }
    let join = |x: &Expr, y: &Expr| Expr::prim(*prim, vec![x.clone(), y.clone()]);
    Some(Expr::if_(c.clone(), join(a, d), join(b, e)))
}

fn float(inner: &Expr, f: &mut dyn FnMut(Expr) -> Expr) -> Option<Expr> {
    let Term::If(c, a, b) = inner.term() else { return None };
    Some(Expr::if_(c.clone(), f(a.clone()), f(b.clone())))
}

fn zero_branch(expr: &Expr) -> bool {
    matches!(expr.term(), Term::If(_, a, b) if is_number(a, 0.0) || is_number(b, 0.0))
}

fn literal_branch(expr: &Expr) -> bool {
    matches!(expr.term(), Term::If(_, a, b) if a.is_atom() && b.is_atom() && (is_literal(a) || is_literal(b)))
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Double(_) | Term::Index(_) | Term::Bool(_))
}

/// Whether `prim` simplifies with a literal branch. The other operand is copied: it must be small and bind nothing. A sum moves
/// into the branches only for an accumulator, which makes a loop one that acts in a single step.
fn simplifies(prim: Prim, conditional: &Expr, other: &Expr, left: bool, facts: &Facts) -> bool {
    let Term::If(_, a, b) = conditional.term() else { return false };
    let accumulates = || match other.term() {
        Term::Var(var) => facts.is_accumulator(var),
        Term::Proj(tuple, _) => matches!(tuple.term(), Term::Var(var) if facts.is_accumulator(var)),
        _ => false,
    };
    let vanishes = |e: &Expr| match prim {
        Prim::Add => is_number(e, 0.0) && accumulates(),
        Prim::Sub => is_number(e, 0.0) && !left && accumulates(),
        Prim::Mul => is_number(e, 0.0) || is_number(e, 1.0) && other.is_atom(),
        Prim::Div => is_number(e, 0.0) && left,
        _ => is_literal(e) && is_literal(other),
    };
    facts.require("f a or f b then simplifies", vanishes(a) || vanishes(b), conditional).is_some()
        && facts.require("f is small", is_small(other), other).is_some()
}

/// Small enough to be copied, without binders or loops.
fn is_small(expr: &Expr) -> bool {
    fn go(expr: &Expr, budget: &mut i32) -> bool {
        *budget -= 1;
        let mut ok = *budget >= 0 && expr.term().binders().next().is_none();
        expr.term().each_child(&mut |child| ok = ok && go(child, budget));
        ok
    }
    go(expr, &mut 24)
}
