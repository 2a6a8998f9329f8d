//! Calls that functions make of themselves: where they are, what they change, and the state of the loop that is in their place.
//!
//! In: a function of the core, its body or a part of it. Out: the calls, or the body without them; the parameters that they change, as the
//! state of a loop ([`Changed`]). `tail`, `counted` and `bounded` make loops of it.
//!
//!     f x y = if c x then g x y else f (h x) y   →   the call passes on y and changes x; without it the body is g x y

use std::collections::HashSet;
use std::rc::Rc;

use crate::ir::subst::substitute;
use crate::ir::{Expr, Function, Term, Type, Var};

/// Whether a term calls the function of this name.
pub(super) fn calls(body: &Expr, name: &Rc<str>) -> bool {
    let mut found = false;
    body.each_call(&mut |callee| found |= callee == name);
    found
}

/// Whether a term calls these functions in tail position only.
pub(super) fn calls_last(expr: &Expr, group: &HashSet<Rc<str>>) -> bool {
    let calls_none = |expr: &Expr| {
        let mut found = false;
        expr.each_call(&mut |callee| found |= group.contains(callee));
        !found
    };
    match expr.term() {
        Term::Let(_, value, body) => calls_none(value) && calls_last(body, group),
        Term::Check { cond, body, .. } => calls_none(cond) && calls_last(body, group),
        Term::If(cond, a, b) => calls_none(cond) && calls_last(a, group) && calls_last(b, group),
        Term::Call(_, args) => args.iter().all(calls_none),
        term => term.children().all(calls_none),
    }
}

/// The parameters that some call does not pass on as they are.
pub(super) fn changed(function: &Function, calls: &[&[Expr]]) -> Vec<usize> {
    let is_passed_on = |at: usize, param: &Var| calls.iter().all(|args| matches!(args[at].term(), Term::Var(var) if var == param));
    (0..function.params.len()).filter(|at| !is_passed_on(*at, &function.params[*at])).collect()
}

/// Parameters that calls change, which are the state of a loop: one is itself, several are a tuple.
pub(super) struct Changed<'f> {
    pub function: &'f Function,
    pub changed: Vec<usize>,
}

impl Changed<'_> {
    /// A state.
    pub fn var(&self) -> Var {
        match self.params().as_slice() {
            [one] => one.renewed(one.ty().clone()),
            params => Var::fresh("s", Type::tuple(params.iter().map(|param| param.ty().clone()).collect())),
        }
    }

    /// The state before the first step.
    pub fn init(&self) -> Expr {
        together(self.params().into_iter().map(Expr::var).collect())
    }

    /// The state that a call passes on.
    pub fn values(&self, args: &[Expr]) -> Expr {
        together(self.changed.iter().map(|at| args[*at].clone()).collect())
    }

    /// What each of these parameters is in a state.
    pub fn parts(&self, state: &Var) -> Vec<(Var, Expr)> {
        let of = |k| if self.changed.len() == 1 { Expr::var(state) } else { Expr::proj(Expr::var(state), k) };
        self.params().into_iter().enumerate().map(|(k, param)| (param.clone(), of(k))).collect()
    }

    fn params(&self) -> Vec<&Var> {
        self.changed.iter().map(|at| &self.function.params[*at]).collect()
    }
}

fn together(values: Vec<Expr>) -> Expr {
    if let [one] = values.as_slice() { one.clone() } else { Expr::tuple(values) }
}

/// The term with its parameters read off the state, by name where they are used as sizes too.
pub(super) fn named(body: &Expr, parts: &[(Var, Expr)]) -> Expr {
    let renewed: Vec<(Var, Expr)> = parts.iter().map(|(param, value)| (param.renewed(param.ty().clone()), value.clone())).collect();
    let substitution: Vec<(Var, Expr)> = parts.iter().zip(&renewed).map(|((param, _), (new, _))| (param.clone(), Expr::var(new))).collect();
    let body = substitute(body, &substitution);
    renewed.into_iter().rev().fold(body, |body, (new, value)| Expr::let_(new, value, body))
}

/// The arguments of a function's call of itself.
pub(super) fn self_call<'e>(expr: &'e Expr, function: &Function) -> Option<&'e [Expr]> {
    let Term::Call(name, args) = expr.term() else { return None };
    (*name == function.name).then_some(args.as_slice())
}

/// The calls in tail position.
pub(super) fn tail_calls<'e>(expr: &'e Expr, function: &Function, calls: &mut Vec<&'e [Expr]>) {
    match expr.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => tail_calls(body, function, calls),
        Term::If(_, a, b) => {
            tail_calls(a, function, calls);
            tail_calls(b, function, calls);
        }
        _ => calls.extend(self_call(expr, function)),
    }
}

/// The term where no tail call is taken: the branches that end in one are gone. `None` where each does.
pub(super) fn without_calls(expr: &Expr, function: &Function) -> Option<Expr> {
    let new = match expr.term() {
        Term::Let(x, value, body) => Expr::let_(x.clone(), value.clone(), without_calls(body, function)?),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, without_calls(body, function)?),
        Term::If(cond, a, b) => match (without_calls(a, function), without_calls(b, function)) {
            (Some(a), Some(b)) => Expr::if_(cond.clone(), a, b),
            (Some(one), None) | (None, Some(one)) => return Some(one),
            (None, None) => return None,
        },
        Term::Call(name, _) if *name == function.name => return None,
        _ => return Some(expr.clone()),
    };
    Some(new.at(expr.span()))
}
