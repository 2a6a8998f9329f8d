//! Tail calls: functions whose last calls are of themselves, or of each other, are loops.
//!
//! In: the elaborated program. Out: the same, where each call that a function makes of itself in tail position is a step of a
//! `while` over its parameters; those that every such call passes on stay outside. Of functions that call each other so, each has
//! the others written into it first, one after another, as a system of equations is solved.
//!
//!     f x y = if c x then g x y else f (h x) y   →   f x y = let x' = while(s = x. if c s then (false, s) else (true, h s)) in g x' y
//!     even n = if n = 0 then true else odd (n - 1)   →   even n = if n = 0 then true else if n - 1 = 0 then false else even (n - 2)
//!
//! What a condition ends with is chosen, `c || f x` as `if c then true else f x`.
//!
//! A call that changes a size stays a call: the state of a loop keeps its shape. What a declared result has checked is checked of the
//! values that are no such calls:
//!
//!     let r = if c x then f (h x) else g x in check 0 <= r.0 in r   →   if c x then f (h x) else let r = g x in check 0 <= r.0 in r

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::counted::counted;
use super::self_calls::{Changed, calls, calls_last, changed, named, self_call, tail_calls, without_calls};
use crate::ir::free::any_free_var;
use crate::ir::subst::{freshen, inlined, substitute};
use crate::ir::{Expr, Function, Prim, Program, Term, Type, Var};

/// Makes loops of the tail calls of every function.
pub fn make_loops(program: &mut Program) {
    // the first of a group then calls none of it, and the others may call it
    let recursive = program.recursive();
    let names: Vec<Rc<str>> = program.functions.keys().filter(|name| recursive.contains(*name)).cloned().collect();
    for name in names {
        let mut members = program.group(&name);
        if !members.is_empty() {
            members.rotate_left(1);
        }
        if let Some(body) = alone(members, &name)
            && let Some(function) = program.functions.get_mut(&name)
        {
            function.body = body;
        }
    }
    // a function has the callees of each function inlined into it, and these may come later in the list
    program.put_callees_first();
}

/// The body of the last of these functions without calls of any, where all of these are in tail position.
fn alone(mut members: Vec<Function>, name: &Rc<str>) -> Option<Expr> {
    let results: HashMap<Rc<str>, Type> = members.iter().map(|member| (member.name.clone(), member.result.clone())).collect();
    let group: HashSet<Rc<str>> = results.keys().cloned().collect();
    for member in &mut members {
        member.body = chosen(&check_others(&member.body, member, &results), &group);
    }
    if !members.iter().all(|member| calls_last(&member.body, &group)) {
        return None;
    }
    while !members.is_empty() {
        let mut first = members.remove(0);
        if calls(&first.body, &first.name) {
            first.body = looped(&first)?;
        }
        if first.name == *name {
            return Some(first.body);
        }
        for other in &mut members {
            other.body = other.body.map_tails(&|tail| match self_call(tail, &first) {
                Some(args) => without_aliases(&inlined(&first, args)),
                None => tail.clone(),
            });
            if other.body.node_count() > LARGEST {
                return None;
            }
        }
    }
    None
}

/// The body with a choice in the place of `a || f x` and `a && f x` at its end, where the call of one of these is the last thing done.
fn chosen(expr: &Expr, group: &HashSet<Rc<str>>) -> Expr {
    expr.map_tails(&|tail| {
        let Term::Prim(prim @ (Prim::And | Prim::Or), args) = tail.term() else { return tail.clone() };
        let [first, last] = args.as_slice() else { return tail.clone() };
        let mut is_called = false;
        last.each_call(&mut |callee| is_called |= group.contains(callee));
        if !is_called {
            return tail.clone();
        }
        let last = chosen(last, group);
        let choice = if *prim == Prim::Or {
            Expr::if_(first.clone(), Expr::bool(true), last)
        } else {
            Expr::if_(first.clone(), last, Expr::bool(false))
        };
        choice.at(tail.span())
    })
}

/// The body of a function with the checks of its result around what it does not get from a call that checks the same: of itself with
/// what is checked against passed on, or of another with such a result where nothing is.
fn check_others(expr: &Expr, function: &Function, results: &HashMap<Rc<str>, Type>) -> Expr {
    let Term::Let(x, value, rest) = expr.term() else { return expr.clone() };
    if !is_checked(x, rest) {
        return Expr::let_(x.clone(), value.clone(), check_others(rest, function, results)).at(expr.span());
    }
    let checks_the_same = |callee: &Rc<str>, args: &[Expr]| {
        let passed_on = |var: &Var| {
            let arg = function.params.iter().position(|param| param == var).and_then(|at| args.get(at));
            // the state of a loop keeps its sizes
            let is_kept = function.sizes.contains(var) || arg.is_some_and(|arg| matches!(arg.term(), Term::Var(arg) if arg == var));
            *callee == function.name && is_kept
        };
        results.get(callee) == Some(&function.result) && !any_free_var(rest, &mut |var| var != x && !passed_on(var))
    };
    value.map_tails(&|tail| {
        if matches!(tail.term(), Term::Call(callee, args) if checks_the_same(callee, args)) {
            return tail.clone();
        }
        let own = x.renewed(tail.ty().clone());
        let rest = freshen(&substitute(rest, &[(x.clone(), Expr::var(&own))]));
        Expr::let_(own, tail.clone(), rest)
    })
}

/// Whether a term is a variable after checks of it.
fn is_checked(var: &Var, expr: &Expr) -> bool {
    let Term::Check { body, .. } = expr.term() else { return false };
    matches!(body.term(), Term::Var(last) if last == var) || is_checked(var, body)
}

/// Functions that call each other are left as they are where one would have more nodes with the others written into it.
const LARGEST: usize = 10_000;

/// The term without bindings of a variable to another, on the way to its tails.
fn without_aliases(expr: &Expr) -> Expr {
    let Term::Let(x, value, body) = expr.term() else { return expr.clone() };
    if matches!(value.term(), Term::Var(_)) {
        return without_aliases(&substitute(body, &[(x.clone(), value.clone())]));
    }
    Expr::let_(x.clone(), value.clone(), without_aliases(body)).at(expr.span())
}

/// The body with a loop in the place of the tail calls, if there are any.
pub(super) fn looped(function: &Function) -> Option<Expr> {
    let mut calls = Vec::new();
    tail_calls(&function.body, function, &mut calls);
    if calls.is_empty() || !calls.iter().all(|args| keeps_shapes(function, args)) {
        return None;
    }
    let changed = changed(function, &calls);
    if let Some(body) = counted(function, &calls, &changed) {
        return Some(body);
    }
    let changed = Changed { function, changed };
    let (state, last) = (changed.var(), changed.var());
    let leaf = |leaf: &Expr| match self_call(leaf, function) {
        Some(args) => Expr::tuple(vec![Expr::bool(true), changed.values(args)]),
        None => Expr::tuple(vec![Expr::bool(false), changed.init()]),
    };
    let step = named(&freshen(&function.body).map_tails(&leaf), &changed.parts(&state));
    let value = named(&without_calls(&function.body, function)?, &changed.parts(&last));
    let steps = Expr::while_(state, changed.init(), step).at(function.span);
    Some(Expr::let_(last, steps, value))
}

/// Whether the arguments have the shapes of the parameters, size by size.
fn keeps_shapes(function: &Function, args: &[Expr]) -> bool {
    let mentions = |ty: &Type, param: &Var| {
        let mut found = false;
        ty.each_length(&mut |size| found |= size.mentions(param));
        found
    };
    let is_size = |param: &Var| function.params.iter().any(|other| mentions(other.ty(), param)) || mentions(&function.result, param);
    function.params.iter().zip(args).all(|(param, arg)| {
        let is_fixed = matches!(arg.term(), Term::Var(var) if var == param);
        is_fixed || arg.ty().lengths() == param.ty().lengths() && !is_size(param)
    })
}
