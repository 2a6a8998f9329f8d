//! Folds that keep the value of the last step that meets a condition: the step is found first, and its value computed once.
//!
//!     ifold (fun s i -> (max s.0 v[i], if s.0 >= v[i] then s.1 else e)) (y, z) n
//!       →   let t = ifold (fun s i -> (max s.0 v[i], if s.0 >= v[i] then s.1 else i)) (y, -1) n in
//!           (t.0, if t.1 < 0 then z else e at t.1)
//!
//! The derivative of a maximum has this form: e is a one-hot tangent that depends on the enclosing loop, and the search does not,
//! so that it can be hoisted out of that loop. Only then does the rule pay.

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, substitute};
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::facts::Facts;

use super::fission::{leaves, project, projections_of};
use super::rules;

rules! {
    "fold-last" Loop Normalisation @ Fold: "ifold (fun s i -> (f s.0 i, if c s.0 i then s.1 else e i)) (y, z) n -> let t = ifold (fun s i -> (f s.0 i, if c s.0 i then s.1 else i)) (y, -1) n in (t.0, if t.1 < 0 then z else e t.1)"
        if ["e depends on the enclosing loop, and f and c are invariant in it", "nothing else reads s.1"] => fold_last;
}

fn fold_last(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    let Term::Tuple(starts) = init.term() else { return None };
    let (mut lets, mut step) = (Vec::new(), body);
    while let Term::Let(x, value, inner) = step.term() {
        lets.push((x, value));
        step = inner;
    }
    let Term::Tuple(parts) = step.term() else { return None };
    let with_lets = |e: &Expr| {
        lets.iter().rev().fold(e.clone(), |e, (x, value)| if mentions(&e, x) { Expr::let_((*x).clone(), (*value).clone(), e) } else { e })
    };
    (0..parts.len()).find_map(|j| {
        let Term::If(cond, a, b) = parts.get(j)?.term() else { return None };
        let is_kept =
            |e: &Expr| matches!(e.term(), Term::Proj(tuple, k) if *k == j && matches!(tuple.term(), Term::Var(var) if var == acc));
        let (kept_first, chosen) = match (is_kept(a), is_kept(b)) {
            (true, false) => (true, with_lets(b)),
            (false, true) => (false, with_lets(a)),
            (true, true) | (false, false) => return None,
        };
        // nothing else may ask for the component, and what is chosen for none
        let others = parts
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != j)
            .map(|(_, part)| part)
            .chain([cond])
            .chain(lets.iter().map(|(_, value)| *value));
        let asked = others.into_iter().any(|e| projections_of(e, acc).is_none_or(|used| used.contains(&j)));
        let is_lone = facts.grants("nothing else reads s.1", !asked && !mentions(&chosen, acc));
        if !is_lone || !matches!(chosen.ty(), Type::Double) {
            return None;
        }
        let mut starts = starts.clone();
        let start = std::mem::replace(starts.get_mut(j)?, Expr::index(-1));
        let init = Expr::tuple(starts);
        let state = acc.renewed(init.ty().clone());
        let read: Vec<Expr> = (0..parts.len()).map(|k| Expr::proj(Expr::var(&state), k)).collect();
        let (here, before) = (Expr::var(i), Expr::proj(Expr::var(acc), j));
        let found = Expr::with_type(
            Term::If(cond.clone(), if kept_first { before.clone() } else { here.clone() }, if kept_first { here } else { before }),
            Type::INDEX,
            expr.span(),
        );
        let mut parts = parts.clone();
        *parts.get_mut(j)? = found;
        let step = lets.iter().rev().fold(Expr::tuple(parts), |step, (x, value)| Expr::let_((*x).clone(), (*value).clone(), step));
        let search = freshen(&Expr::fold_with(n.clone(), state, i.clone(), project(&step, acc, &read), init));
        // without the loop around nothing is gained
        facts.require(
            "e depends on the enclosing loop, and f and c are invariant in it",
            !leaves(expr, facts) && leaves(&search, facts),
            expr,
        )?;
        let t = Var::fresh("last", search.ty().clone());
        let at = Expr::proj(Expr::var(&t), j);
        let none = Expr::prim(Prim::Lt, vec![at.clone(), Expr::index(0)]);
        let parts: Vec<Expr> = (0..read.len())
            .map(|k| {
                if k != j {
                    return Expr::proj(Expr::var(&t), k);
                }
                let value = freshen(&Expr::bind(i.name(), at.clone(), |k| substitute(&chosen, &[(i.clone(), k)])));
                Expr::if_(none.clone(), start.clone(), value)
            })
            .collect();
        Some(Expr::let_(t, search, Expr::tuple(parts)))
    })
}
