//! Tail duplication: what ends the step of a loop goes into the branches that come before it, where these change arrays.
//!
//! In: a function's body. Out: the same, where no step of a loop takes apart what a branch has put together: each branch gives the
//! next state itself, so that an array that it changes, or leaves as it is, stays where it is. Else each branch would have the array
//! copied to a place that all branches share.
//!
//!     let b = if c then (x, update s.0 i y) else (z, s.0) in (b.1, b.0)   →   if c then (update s.0 i y, x) else (s.0, z)
//!
//! Only where each component of the branches is used once, and nothing else is computed after them but an operation or two.

use crate::ir::free::mentions;
use crate::ir::last_use::component;
use crate::ir::subst::{freshen, map_children};
use crate::ir::{Expr, Function, Term, Type, Var};

use super::Options;

/// What is computed after branches may have so many nodes, a component.
const FEW: usize = 3;

/// The body with the steps of all its loops so.
pub fn run(function: &Function, _: &Options) -> Expr {
    steps_by_branch(&function.body)
}

fn steps_by_branch(expr: &Expr) -> Expr {
    if !expr.has_updates() {
        return expr.clone();
    }
    let inside = map_children(expr, &mut steps_by_branch);
    let step = match inside.term() {
        Term::Fold { body, .. } | Term::While { body, .. } => by_branch(body),
        _ => return inside,
    };
    map_children(&inside, &mut |child| match inside.term() {
        Term::Fold { body, .. } | Term::While { body, .. } if child.is_same(body) => step.clone(),
        _ => child.clone(),
    })
}

/// A step with its end in the branches.
fn by_branch(step: &Expr) -> Expr {
    match step.term() {
        Term::Let(x, value, end) if x.ty().has_array() && value.has_updates() && takes_tail(value, x, end) => {
            ended(&by_branch(value), x, end)
        }
        Term::Let(_, _, rest) | Term::Check { body: rest, .. } => {
            map_children(step, &mut |child| if child.is_same(rest) { by_branch(rest) } else { child.clone() })
        }
        Term::If(cond, ..) => map_children(step, &mut |child| if child.is_same(cond) { child.clone() } else { by_branch(child) }),
        _ => step.clone(),
    }
}

/// Whether the end of `let x = value in end` may go into the branches of the value: it only selects.
pub(super) fn takes_tail(value: &Expr, x: &Var, end: &Expr) -> bool {
    is_choice(value) && only_selects(end, x)
}

/// Whether a term ends in branches.
fn is_choice(expr: &Expr) -> bool {
    match expr.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => is_choice(body),
        Term::If(..) => true,
        _ => false,
    }
}

/// Whether a term takes each component of x once, and does little else.
fn only_selects(end: &Expr, x: &Var) -> bool {
    fn each(expr: &Expr, x: &Var, taken: &mut Vec<usize>) -> bool {
        match expr.term() {
            Term::Proj(tuple, k) if matches!(tuple.term(), Term::Var(var) if var == x) => {
                taken.push(*k);
                true
            }
            Term::Tuple(parts) => parts.iter().all(|part| each(part, x, taken)),
            Term::Var(var) => var != x,
            Term::Proj(..) => !mentions(expr, x),
            Term::Prim(..) => expr.node_count() <= FEW && !mentions(expr, x),
            Term::Double(_) | Term::Index(_) | Term::Bool(_) => true,
            _ => false,
        }
    }
    let Type::Tuple(types) = x.ty() else { return false };
    let mut taken = Vec::new();
    let all = matches!(end.term(), Term::Tuple(_)) && each(end, x, &mut taken);
    taken.sort_unstable();
    all && taken.into_iter().eq(0..types.len())
}

/// The end of a step in each of the branches that give x.
pub(super) fn ended(value: &Expr, x: &Var, end: &Expr) -> Expr {
    let with = |term: Term| Expr::with_type(term, end.ty().clone(), value.span());
    match value.term() {
        Term::Let(y, first, rest) => with(Term::Let(y.clone(), first.clone(), ended(rest, x, end))),
        Term::Check { cond, status, body } => with(Term::Check { cond: cond.clone(), status: *status, body: ended(body, x, end) }),
        Term::If(cond, a, b) => with(Term::If(cond.clone(), ended(a, x, end), ended(b, x, end))),
        Term::Tuple(parts) => {
            // scalars are computed in their order
            let mut named: Vec<(Var, Expr)> = Vec::new();
            let parts: Vec<Expr> = parts
                .iter()
                .map(|part| {
                    if part.is_atom() || component(part).is_some() || part.ty().has_array() {
                        return part.clone();
                    }
                    let var = Var::fresh("next", part.ty().clone());
                    named.push((var.clone(), part.clone()));
                    Expr::var(&var)
                })
                .collect();
            named.into_iter().rev().fold(selected(end, x, &parts), |end, (var, part)| Expr::let_(var, part, end))
        }
        _ => {
            let var = x.renewed(x.ty().clone());
            let count = if let Type::Tuple(types) = x.ty() { types.len() } else { 0 };
            let parts: Vec<Expr> = (0..count).map(|k| Expr::proj(Expr::var(&var), k)).collect();
            Expr::let_(var, value.clone(), selected(end, x, &parts))
        }
    }
}

/// A copy of the end with the components of x in their places: what the end binds is bound once in each branch.
fn selected(end: &Expr, x: &Var, parts: &[Expr]) -> Expr {
    fn go(end: &Expr, x: &Var, parts: &[Expr]) -> Expr {
        match end.term() {
            Term::Proj(tuple, k) if matches!(tuple.term(), Term::Var(var) if var == x) => parts.get(*k).unwrap_or(end).clone(),
            _ => map_children(end, &mut |child| go(child, x, parts)),
        }
    }
    go(&freshen(end), x, parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Change, Prim, Size, print};

    /// `ifold (fun s _ -> let b = if 0.0 < s.1 then (2.0 * s.1, updated) else (s.1, s.0) in end) (v, 1.0) 3` for an end of b.
    fn step(end: impl Fn(&Expr) -> Vec<Expr>) -> String {
        let array = Type::array(Type::Double, Size::constant(3));
        let s = Var::fresh("s", Type::tuple(vec![array.clone(), Type::Double]));
        let part = |var: &Var, k| Expr::proj(Expr::var(var), k);
        let updated = Expr::update(Change::Replace, part(&s, 0), vec![Expr::index(0)], Expr::double(1.0));
        let twice = Expr::prim(Prim::Mul, vec![Expr::double(2.0), part(&s, 1)]);
        let is_positive = Expr::prim(Prim::Lt, vec![Expr::double(0.0), part(&s, 1)]);
        let value = Expr::if_(is_positive, Expr::tuple(vec![twice, updated]), Expr::tuple(vec![part(&s, 1), part(&s, 0)]));
        let b = Var::fresh("b", value.ty().clone());
        let body = Expr::let_(b.clone(), value, Expr::tuple(end(&Expr::var(&b))));
        let init = Expr::tuple(vec![Expr::build(Expr::index(3), "i", |_| Expr::double(0.0)), Expr::double(1.0)]);
        let fold = Expr::fold_with(Expr::index(3), s, Var::fresh("j", Type::INDEX), body, init);
        print::expr(&steps_by_branch(&fold)).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_branch_gives_the_next_state() {
        let text = step(|b| vec![Expr::proj(b.clone(), 1), Expr::proj(b.clone(), 0)]);
        assert!(text.contains("if 0.0 < s.1 then let next = 2.0 * s.1 in (update s.0 0 1.0, next) else (s.0, s.1)"), "{text}");
    }

    #[test]
    fn what_is_used_twice_or_computed_with_stays() {
        let double = |of: &Expr| Expr::prim(Prim::Add, vec![of.clone(), of.clone()]);
        let text = step(|b| vec![Expr::proj(b.clone(), 1), double(&Expr::proj(b.clone(), 0))]);
        assert!(text.contains("let b = if"), "{text}");
        let text = step(|b| vec![Expr::proj(b.clone(), 1), Expr::double(0.0)]);
        assert!(text.contains("let b = if"), "{text}");
    }
}
