//! Figure 8d: conditions that are known, branches that are equal, operations that move into branches.
//!
//!     if true then a else b     →  a
//!     f (if c then a else b)    →  if c then f a else f b     where f is small or one side then simplifies

use crate::ir::{Expr, Prim, Size, Term, Type};
use crate::rewrite::facts::{Facts, same};

use super::ring::{binary, is_number};
use super::rules;

rules! {
    "if-true" Conditional @ If: "if true then a else b -> a" => if_true;
    "if-false" Conditional @ If: "if false then a else b -> b" => if_false;
    "if-same" Conditional @ If: "if c then a else a -> a" => if_same;
    "if-not" Conditional @ If: "if not c then a else b -> if c then b else a" => if_not;
    "if-and" Conditional @ If: "if c && d then a else b -> if c then (if d then a else b) else b if b is atomic" => if_and;
    "if-assume" Conditional @ Prim: "if c then a else b -> if c then a[c := true] else b[c := false]" => if_assume;
    "if-float" Conditional @ Any: "f (if c then a else b) -> if c then f a else f b if f is small" => if_float;
    "and-true" Conditional @ Prim: "c && true = true && c -> c; c && false = false && c -> false; c || true -> true; c || false -> c" => and_true;
    "check-true" Conditional @ Check: "check true else s in e -> e" => check_true;
}

fn if_true(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::If(c, a, _) = expr.term() else { return None };
    matches!(c.term(), Term::Bool(true)).then(|| a.clone())
}

fn if_false(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::If(c, _, b) = expr.term() else { return None };
    matches!(c.term(), Term::Bool(false)).then(|| b.clone())
}

fn if_same(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::If(_, a, b) = expr.term() else { return None };
    same(a, b).then(|| a.clone())
}

fn if_not(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::If(c, a, b) = expr.term() else { return None };
    let Term::Prim(Prim::Not, args) = c.term() else { return None };
    Some(Expr::if_(args.first()?.clone(), b.clone(), a.clone()))
}

fn if_and(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::If(c, a, b) = expr.term() else { return None };
    let (c, d) = binary(c, Prim::And)?;
    b.is_atom().then(|| Expr::if_(c.clone(), Expr::if_(d.clone(), a.clone(), b.clone()), b.clone()))
}

/// In the branches of `if c`, and where loops, checks and sizes fix it, c itself is known. Only comparisons
/// of Index and Bool, and the very same condition again.
fn if_assume(expr: &Expr, facts: &Facts) -> Option<Expr> {
    if expr.ty() != &Type::Bool {
        return None;
    }
    Some(Expr::bool(facts.decide(expr)?))
}

fn and_true(expr: &Expr, _: &Facts) -> Option<Expr> {
    let (neutral, (a, b)) = match (binary(expr, Prim::And), binary(expr, Prim::Or)) {
        (Some(args), _) => (true, args),
        (None, Some(args)) => (false, args),
        (None, None) => return None,
    };
    match (a.term(), b.term()) {
        (Term::Bool(value), _) if *value == neutral => Some(b.clone()),
        (_, Term::Bool(value)) if *value == neutral => Some(a.clone()),
        (Term::Bool(_), _) => Some(a.clone()),
        (_, Term::Bool(_)) => Some(b.clone()),
        _ => None,
    }
}

fn check_true(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Check { cond, body, .. } = expr.term() else { return None };
    (facts.decide(cond) == Some(true)).then(|| body.clone())
}

/// An operation on a condition's value goes into its branches when it is copied for free (a projection, an
/// element, a length) or when a branch is a literal that then meets it.
fn if_float(expr: &Expr, _: &Facts) -> Option<Expr> {
    match expr.term() {
        Term::Proj(inner, k) => float(inner, &mut |e| Expr::proj(e, *k)),
        Term::Dim(inner, axis) => float(inner, &mut |e| Expr::dim(e, *axis)),
        Term::Get(inner, index) if index.is_atom() => float(inner, &mut |e| Expr::get(e, index.clone())),
        Term::Prim(prim, args) => {
            let [a, b] = args.as_slice() else {
                let [a] = args.as_slice() else { return None };
                return literal_branch(a).then(|| float(a, &mut |e| Expr::prim(*prim, vec![e])))?;
            };
            if Size::try_of_expr(expr).is_some() {
                return None;
            }
            if simplifies(*prim, a, b, true) {
                return float(a, &mut |e| Expr::prim(*prim, vec![e, b.clone()]));
            }
            simplifies(*prim, b, a, false).then(|| float(b, &mut |e| Expr::prim(*prim, vec![a.clone(), e])))?
        }
        _ => None,
    }
}

fn float(inner: &Expr, f: &mut dyn FnMut(Expr) -> Expr) -> Option<Expr> {
    let Term::If(c, a, b) = inner.term() else { return None };
    Some(Expr::if_(c.clone(), f(a.clone()), f(b.clone())))
}

fn literal_branch(expr: &Expr) -> bool {
    matches!(expr.term(), Term::If(_, a, b) if a.is_atom() && b.is_atom() && (is_literal(a) || is_literal(b)))
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Double(_) | Term::Index(_) | Term::Bool(_))
}

/// Whether `prim` meets a literal of the condition that makes it vanish. The other operand is copied: it
/// must not bind anything, and be small.
fn simplifies(prim: Prim, conditional: &Expr, other: &Expr, left: bool) -> bool {
    let Term::If(_, a, b) = conditional.term() else { return false };
    let vanishes = |e: &Expr| match prim {
        Prim::Add => is_number(e, 0.0),
        Prim::Sub => is_number(e, 0.0) && !left,
        Prim::Mul => is_number(e, 0.0) || is_number(e, 1.0),
        Prim::Div => is_number(e, 0.0) && left,
        _ => is_literal(e) && is_literal(other),
    };
    (vanishes(a) || vanishes(b)) && is_small(other)
}

/// Few enough nodes to be written twice, and no binder or loop among them.
fn is_small(expr: &Expr) -> bool {
    fn go(expr: &Expr, budget: &mut i32) -> bool {
        *budget -= 1;
        let mut ok = *budget >= 0 && expr.term().binders().is_empty();
        expr.term().each_child(&mut |child| ok = ok && go(child, budget));
        ok
    }
    go(expr, &mut 24)
}
