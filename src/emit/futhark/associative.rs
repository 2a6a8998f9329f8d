//! Folds whose steps combine the state with something free of it, by an operation that is associative.
//!
//! In: a fold's body. Out: the operation of each component of the state, and what a step combines it with; nothing for
//! other folds. Where a step leaves a component alone, that is the operation's neutral element. What stands behind `&&` or
//! `||` is computed for every step then, so it must be cheap and may not fail.
//!
//!     fun (s, c) i -> if v[i] > 0.0 then (s + v[i], c && b[i]) else (s, c)
//!       →   by + and &&   if v[i] > 0.0 then (v[i], b[i]) else (0.0, true)

use std::collections::HashMap;
use std::rc::Rc;

use super::hoist;
use super::signature::Signature;
use crate::ir::free::mentions;
use crate::ir::prove::Facts;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Prim, Term, Type, Var};

/// What each step takes: a scalar, or a tuple with a scalar for each operation.
pub struct Step {
    /// `Sub` adds up what is taken from the start.
    pub prims: Vec<Prim>,
    pub element: Expr,
}

/// The step of a fold with this state, where it is associative; `facts` are those inside the loop.
pub fn step(body: &Expr, acc: &Var, facts: Facts, signatures: &HashMap<Rc<str>, Signature>) -> Option<Step> {
    let types = components(acc.ty());
    if !types.iter().all(|ty| matches!(ty, Type::Double | Type::Index(_) | Type::Bool)) {
        return None;
    }
    let mut finder = Finder { acc, facts, signatures };
    let prims: Vec<Prim> = finder.prims(body, types.len())?.into_iter().collect::<Option<_>>()?;
    let element = Elements { acc, prims: &prims }.all(body);
    Some(Step { prims, element })
}

/// The scalars that a state has; the type itself where it is no tuple.
pub fn components(ty: &Type) -> Vec<Type> {
    if let Type::Tuple(parts) = ty { parts.to_vec() } else { vec![ty.clone()] }
}

/// What changes nothing.
pub fn neutral(prim: Prim, ty: &Type) -> Expr {
    let number = |double: f64, index: i64| if *ty == Type::Double { Expr::double(double) } else { Expr::index(index) };
    match prim {
        Prim::Mul => number(1.0, 1),
        Prim::Min => number(f64::INFINITY, i64::MAX),
        Prim::Max => number(f64::NEG_INFINITY, i64::MIN),
        Prim::And | Prim::Eq => Expr::bool(true),
        Prim::Or | Prim::Ne => Expr::bool(false),
        _ => number(0.0, 0),
    }
}

/// Whether a start is the operation's neutral element, whatever the sign of a zero.
pub fn is_neutral(prim: Prim, start: &Expr) -> bool {
    match (start.term(), neutral(prim, start.ty()).term()) {
        (Term::Double(a), Term::Double(b)) => a == b,
        (Term::Index(a), Term::Index(b)) => a == b,
        (Term::Bool(a), Term::Bool(b)) => a == b,
        _ => false,
    }
}

/// `let a = acc.0 in e` as e with the component in it.
pub fn without_aliases(body: &Expr, acc: &Var) -> Expr {
    let Term::Let(x, value, inner) = body.term() else { return body.clone() };
    if let Term::Proj(tuple, _) = value.term()
        && matches!(tuple.term(), Term::Var(var) if var == acc)
    {
        without_aliases(&substitute(inner, &[(x.clone(), value.clone())]), acc)
    } else {
        Expr::let_(x.clone(), value.clone(), without_aliases(inner, acc))
    }
}

/// Whether the term is the state, or the component of it at this place.
fn is_state(expr: &Expr, acc: &Var, at: Option<usize>) -> bool {
    match (expr.term(), at) {
        (Term::Var(var), None) => var == acc,
        (Term::Proj(tuple, part), Some(at)) => *part == at && is_state(tuple, acc, None),
        _ => false,
    }
}

/// Whether a primitive on scalars of this type is associative, up to rounding; so is taking away from the start.
fn is_associative(prim: Prim, ty: &Type) -> bool {
    match prim {
        Prim::Add | Prim::Sub | Prim::Mul | Prim::Min | Prim::Max => *ty != Type::Bool,
        Prim::And | Prim::Or | Prim::Eq | Prim::Ne => *ty == Type::Bool,
        _ => false,
    }
}

/// The operand that goes on with the state, the other, which is free of it, and whether the former comes first.
fn operands<'a>(prim: Prim, args: &'a [Expr], acc: &Var) -> Option<(&'a Expr, &'a Expr, bool)> {
    match args {
        [a, b] if !mentions(b, acc) => Some((a, b, true)),
        [a, b] if prim != Prim::Sub && !mentions(a, acc) => Some((b, a, false)),
        _ => None,
    }
}

/// Looks for operations.
struct Finder<'a> {
    acc: &'a Var,
    facts: Facts,
    signatures: &'a HashMap<Rc<str>, Signature>,
}

impl Finder<'_> {
    /// The operation for each component, `None` for those that stay as they are.
    fn prims(&mut self, body: &Expr, count: usize) -> Option<Vec<Option<Prim>>> {
        match body.term() {
            _ if is_state(body, self.acc, None) => Some(vec![None; count]),
            Term::Tuple(parts) => parts.iter().enumerate().map(|(at, part)| self.prim(part, Some(at))).collect(),
            Term::Let(x, value, inner) if !mentions(value, self.acc) => {
                self.facts.define(x, value);
                self.prims(inner, count)
            }
            Term::If(cond, then, otherwise) if !mentions(cond, self.acc) => {
                let then = self.given(cond, true, |this| this.prims(then, count))?;
                let otherwise = self.given(cond, false, |this| this.prims(otherwise, count))?;
                then.into_iter().zip(otherwise).map(|(a, b)| both(a, b)).collect()
            }
            Term::Prim(..) if count == 1 => Some(vec![self.prim(body, None)?]),
            _ => None,
        }
    }

    fn prim(&mut self, expr: &Expr, at: Option<usize>) -> Option<Option<Prim>> {
        match expr.term() {
            _ if is_state(expr, self.acc, at) => Some(None),
            Term::Prim(prim, args) if is_associative(*prim, expr.ty()) && args.iter().all(|arg| is_scalar_like(arg, expr)) => {
                let (state, other, is_first) = operands(*prim, args, self.acc)?;
                if matches!(prim, Prim::And | Prim::Or) && is_first && !self.is_harmless(other) {
                    return None;
                }
                let inner = self.prim(state, at)?;
                both(inner, Some(*prim))
            }
            Term::Let(x, value, inner) if !mentions(value, self.acc) => {
                self.facts.define(x, value);
                self.prim(inner, at)
            }
            Term::If(cond, then, otherwise) if !mentions(cond, self.acc) => {
                let then = self.given(cond, true, |this| this.prim(then, at))?;
                let otherwise = self.given(cond, false, |this| this.prim(otherwise, at))?;
                both(then, otherwise)
            }
            _ => None,
        }
    }

    fn given<T>(&mut self, cond: &Expr, truth: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.facts.clone();
        self.facts.assume(cond, truth);
        let done = work(self);
        self.facts = before;
        done
    }

    /// Whether what a connective would leave out may be computed all the same.
    fn is_harmless(&self, expr: &Expr) -> bool {
        is_cheap(expr) && !hoist::can_fail(expr, self.facts.clone(), self.signatures)
    }
}

/// Whether an operand has the type of the result: `=` on Doubles gives a Bool.
fn is_scalar_like(arg: &Expr, result: &Expr) -> bool {
    (*arg.ty() == Type::Bool) == (*result.ty() == Type::Bool)
}

fn is_cheap(expr: &Expr) -> bool {
    !matches!(expr.term(), Term::Build { .. } | Term::Fold { .. } | Term::Call(..)) && expr.term().children().all(is_cheap)
}

/// One operation for both, where there is one.
fn both(a: Option<Prim>, b: Option<Prim>) -> Option<Option<Prim>> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => None,
        (a, b) => Some(a.or(b)),
    }
}

/// Takes the state out of a body whose operations are known.
struct Elements<'a> {
    acc: &'a Var,
    prims: &'a [Prim],
}

impl Elements<'_> {
    fn all(&self, body: &Expr) -> Expr {
        match body.term() {
            _ if is_state(body, self.acc, None) => {
                let neutrals = self.prims.iter().zip(components(self.acc.ty())).map(|(prim, ty)| neutral(*prim, &ty));
                let mut neutrals: Vec<Expr> = neutrals.collect();
                if matches!(self.acc.ty(), Type::Tuple(_)) { Expr::tuple(neutrals) } else { neutrals.swap_remove(0) }
            }
            Term::Tuple(parts) => Expr::tuple(parts.iter().enumerate().map(|(at, part)| self.one(part, Some(at))).collect()),
            Term::Let(x, value, inner) => Expr::let_(x.clone(), value.clone(), self.all(inner)),
            Term::If(cond, then, otherwise) => Expr::if_(cond.clone(), self.all(then), self.all(otherwise)),
            _ => self.one(body, None),
        }
    }

    fn one(&self, expr: &Expr, at: Option<usize>) -> Expr {
        match expr.term() {
            _ if is_state(expr, self.acc, at) => neutral(self.prims[at.unwrap_or(0)], expr.ty()),
            Term::Prim(prim, args) => {
                let Some((state, other, is_first)) = operands(*prim, args, self.acc) else { return expr.clone() };
                if is_state(state, self.acc, at) {
                    return other.clone();
                }
                let inner = self.one(state, at);
                let prim = if *prim == Prim::Sub { Prim::Add } else { *prim };
                // in the order of the program: one may guard the other
                let in_order = if is_first { vec![inner, other.clone()] } else { vec![other.clone(), inner] };
                Expr::prim(prim, in_order)
            }
            Term::Let(x, value, inner) => Expr::let_(x.clone(), value.clone(), self.one(inner, at)),
            Term::If(cond, then, otherwise) => Expr::if_(cond.clone(), self.one(then, at), self.one(otherwise, at)),
            _ => expr.clone(),
        }
    }
}
