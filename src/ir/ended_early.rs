//! Loops over Indexes that are over before their last step.
//!
//! In: an `ifold` over Indexes and Bools. Out: a `while` that ends where a condition holds under which a step leaves the state as it is;
//! `None` where no such condition is to be seen. Total recursion (`types::bounded`) has as many steps as its measure allows, and ends
//! much sooner: `gcd 1000000007 1000000005` takes three.
//!
//!     ifold (fun s k -> if c s then s else f s) x n
//!       →   (while((k, s) = (0, x). if k < n && !(c s) then (true, (k + 1, f s)) else (false, (k, s)))).1

use super::free::mentions;
use super::prim::Prim;
use super::print::key;
use super::size_term::{is_length, is_part, without_guards};
use super::subst::substitute;
use super::term::{Expr, Name, Status, Term, Type, Var};

/// See the module's head.
pub fn ended_early(expr: &Expr) -> Option<Expr> {
    let (stops, next) = end(expr)?;
    let Term::Fold { n, acc, init, .. } = expr.term() else { return None };
    let name = Name::of_parts(acc.name(), ["count".into(), acc.full_name().clone()]);
    let state = Var::named(name, Type::tuple(vec![Type::INDEX, acc.ty().clone()]));
    let (count, own) = (Expr::proj(Expr::var(&state), 0), Expr::proj(Expr::var(&state), 1));
    let at = |expr: &Expr| substitute(expr, &[(acc.clone(), own.clone())]);
    let steps = Var::fresh("steps", Type::INDEX);
    let goes_on = Expr::prim(Prim::Lt, vec![count.clone(), Expr::var(&steps)]);
    let goes_on = Expr::prim(Prim::And, vec![goes_on, negated(at(&stops))]);
    let after = Expr::tuple(vec![Expr::prim(Prim::Add, vec![count, Expr::index(1)]), at(&without_guards(&next, &stops))]);
    let step = Expr::if_(goes_on, Expr::tuple(vec![Expr::bool(true), after]), Expr::tuple(vec![Expr::bool(false), Expr::var(&state)]));
    let first = Expr::tuple(vec![Expr::index(0), init.clone()]);
    let value = Expr::proj(Expr::while_(state, first, step).at(expr.span()), 1);
    let is_count = Expr::prim(Prim::Le, vec![Expr::index(0), Expr::var(&steps)]);
    Some(Expr::let_(steps, n.clone(), if is_length(n) { value } else { Expr::check(is_count, Status::Negative, value) }))
}

/// The condition under which a step of a fold leaves its state as it is, and the next state where it does not hold.
pub fn end(expr: &Expr) -> Option<(Expr, Expr)> {
    let Term::Fold { acc, i, body, .. } = expr.term() else { return None };
    let is_scalar = |ty: &Type| matches!(ty, Type::Index(_) | Type::Bool);
    let is_small = if let Type::Tuple(types) = acc.ty() { types.iter().all(is_scalar) } else { is_scalar(acc.ty()) };
    if !is_small || mentions(body, i) {
        return None;
    }
    settled(&without_names(body), acc)
}

/// As [`end`], of a step.
fn settled(body: &Expr, acc: &Var) -> Option<(Expr, Expr)> {
    let (stops, next) = if let Term::Tuple(parts) = body.term() {
        let ends: Vec<(Expr, Expr)> = parts.iter().enumerate().map(|(k, part)| of_part(part, &|part| is_kept(part, acc, k))).collect();
        let mut stops: Vec<&Expr> = Vec::new();
        for (stop, _) in &ends {
            if !matches!(stop.term(), Term::Bool(true)) && !stops.iter().any(|known| key(known) == key(stop)) {
                stops.push(stop);
            }
        }
        if stops.iter().any(|stop| matches!(stop.term(), Term::Bool(false))) {
            return None;
        }
        // what a part is where it changes holds only where all change at once
        let is_one = stops.len() == 1;
        let next = if is_one { ends.iter().map(|(_, next)| next.clone()).collect() } else { parts.clone() };
        let all = stops.into_iter().cloned().reduce(|a, b| Expr::prim(Prim::And, vec![a, b]))?;
        (all, Expr::tuple(next))
    } else {
        of_part(body, &|part| is_whole(part, acc))
    };
    (!matches!(stops.term(), Term::Bool(_))).then_some((stops, next))
}

/// When a part of the state is kept, and what it is where it is not.
fn of_part(part: &Expr, is_kept: &dyn Fn(&Expr) -> bool) -> (Expr, Expr) {
    if is_kept(part) {
        return (Expr::bool(true), part.clone());
    }
    let Term::If(cond, a, b) = part.term() else { return (Expr::bool(false), part.clone()) };
    let ((in_a, next_a), (in_b, next_b)) = (of_part(a, is_kept), of_part(b, is_kept));
    let both = |prim, x: Expr, y: &Expr| Expr::prim(prim, vec![x, y.clone()]);
    let choice = || Expr::if_(cond.clone(), next_a.clone(), next_b.clone());
    match (in_a.term(), in_b.term()) {
        (Term::Bool(true), Term::Bool(true)) => (in_a, part.clone()),
        (Term::Bool(false), Term::Bool(false)) => (in_a, part.clone()),
        (Term::Bool(true), Term::Bool(false)) => (cond.clone(), next_b),
        (Term::Bool(false), Term::Bool(true)) => (negated(cond.clone()), next_a),
        (Term::Bool(true), _) => (both(Prim::Or, cond.clone(), &in_b), next_b),
        (_, Term::Bool(true)) => (both(Prim::Or, negated(cond.clone()), &in_a), next_a),
        (Term::Bool(false), _) => (both(Prim::And, negated(cond.clone()), &in_b), choice()),
        (_, Term::Bool(false)) => (both(Prim::And, cond.clone(), &in_a), choice()),
        _ => (Expr::if_(cond.clone(), in_a, in_b), choice()),
    }
}

/// Whether a term is a variable, or the tuple of its parts.
pub fn is_whole(expr: &Expr, var: &Var) -> bool {
    match expr.term() {
        Term::Var(own) => own == var,
        Term::Tuple(parts) => parts.iter().enumerate().all(|(k, part)| is_kept(part, var, k)),
        _ => false,
    }
}

/// Whether a term is part k of the state.
fn is_kept(part: &Expr, acc: &Var, k: usize) -> bool {
    matches!(part.term(), Term::Proj(state, at) if *at == k && matches!(state.term(), Term::Var(var) if var == acc))
}

/// The condition that holds where this one does not.
fn negated(cond: Expr) -> Expr {
    match cond.term() {
        Term::Prim(Prim::Not, args) => args.first().cloned().unwrap_or(cond),
        Term::Prim(prim, args) if args.iter().all(|arg| matches!(arg.ty(), Type::Index(_))) => {
            prim.opposite().map_or_else(|| Expr::prim(Prim::Not, vec![cond.clone()]), |opposite| Expr::prim(opposite, args.clone()))
        }
        _ => Expr::prim(Prim::Not, vec![cond]),
    }
}

/// The term without names of variables and their parts.
fn without_names(expr: &Expr) -> Expr {
    if let Term::Let(x, value, body) = expr.term()
        && (value.is_atom() || is_part(value))
    {
        without_names(&substitute(body, &[(x.clone(), value.clone())]))
    } else {
        expr.clone()
    }
}
