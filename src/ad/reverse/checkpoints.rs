//! Checkpoints: a long loop in parts, so that the backward pass keeps the states between parts and those of one part.
//!
//! In: a fold of n steps. Out: a fold of K steps, each of which is a fold over one part of the n. Reverse mode keeps the
//! state before each step of the outer fold, and enters a part, computed again, with its own states: K and ⌈n / K⌉ states in
//! the place of n (Griewank and Walther's checkpoints, in two levels). Every step is computed once more.
//!
//!     ifold f z n   →   ifold (fun s k -> ifold (fun s r -> f s (k * n / K + r)) s ((k + 1) * n / K - k * n / K)) z K
//!
//! A loop that data ends is run once to count its steps. That fold, and each whose count data gives, has parts that are in parts
//! again, as [`super::levels`] says. Each level computes every step once more.
//!
//!     while(s = z. (c s, f s))   →   let n = (while((k, s) = (0, z). (c s, (k + 1, f s)))).0 in ifold (fun s i -> f s) z n

use super::levels::{LEVELS, Open, PARTS, least};
use super::operations::Steps;
use crate::ad::block::Block;
use crate::ir::subst::instance;
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};

/// The fold in so many parts; `None` where it has few steps as it is.
pub fn in_parts(steps: &Steps, parts: i64, out: &mut Block) -> Option<Steps> {
    if matches!(Size::of_expr(&steps.n).as_constant(), Some(n) if n <= parts) {
        return None;
    }
    let count = Expr::index(parts);
    check_count(steps, out);
    let begin = |k: Expr| Expr::prim(Prim::Div, vec![Expr::prim(Prim::Mul, vec![k, steps.n.clone()]), count.clone()]);
    let part = |k: &Var| {
        let next = begin(Expr::prim(Prim::Add, vec![Expr::var(k), Expr::index(1)]));
        (begin(Expr::var(k)), Expr::prim(Prim::Sub, vec![next, begin(Expr::var(k))]))
    };
    Some(split(steps, count.clone(), Size::constant(parts), part))
}

/// A `while` as a fold over as many steps as it has; the count is one that [`is_counted`] knows.
pub fn counted(state: &Var, init: &Expr, body: &Expr) -> Expr {
    let (own, first) = (state.renewed(state.ty().clone()), state.renewed(init.ty().clone()));
    let (counting, step) = (Var::fresh("c", Type::tuple(vec![Type::INDEX, state.ty().clone()])), Var::fresh("step", body.ty().clone()));
    let count = Expr::prim(Prim::Add, vec![Expr::proj(Expr::var(&counting), 0), Expr::index(1)]);
    let of_step = |k: usize| Expr::proj(Expr::var(&step), k);
    let next = Expr::tuple(vec![of_step(0), Expr::tuple(vec![count, of_step(1)])]);
    let next = Expr::let_(step.clone(), instance(body, &[(state.clone(), Expr::var(&own))]), next);
    let next = Expr::let_(own, Expr::proj(Expr::var(&counting), 1), next);
    let n = Expr::proj(Expr::while_(counting, Expr::tuple(vec![Expr::index(0), Expr::var(&first)]), next), 0);
    let i = Var::fresh("i", Type::INDEX);
    let last = Expr::fold_with(n, state.clone(), i, Expr::proj(body.clone(), 1), Expr::var(&first));
    Expr::let_(first, init.clone(), last)
}

/// Whether it is how many steps a loop has that data ends.
pub fn is_counted(n: &Expr) -> bool {
    matches!(n.term(), Term::Proj(steps, 0) if matches!(steps.term(), Term::While { .. }))
}

impl Open {
    /// The fold in its parts; `None` where there are none on the last level.
    pub fn in_parts(&self, steps: &Steps, out: &mut Block) -> Option<Steps> {
        let n = &steps.n;
        let below = self.level.below()?;
        if self.level.above == LEVELS {
            if !self.is_counted {
                check_count(steps, out);
            }
            out.check(Expr::prim(Prim::Le, vec![n.clone(), self.level.room()]), Status::Range, n.span());
        }
        let unit = self.level.unit();
        let begin = |k: &Var| Expr::prim(Prim::Mul, vec![unit.clone(), Expr::var(k)]);
        // as many parts as there may be
        let has_most = matches!(self.parts.term(), Term::Index(_));
        let part = |k: &Var| {
            let steps = least(Expr::prim(Prim::Sub, vec![n.clone(), begin(k)]), unit.clone());
            (begin(k), if has_most { Expr::prim(Prim::Max, vec![Expr::index(0), steps]) } else { steps })
        };
        let open = Some(Open { level: below, ..self.clone() });
        Some(Steps { open, ..split(steps, self.parts.clone(), Size::constant(PARTS), part) })
    }
}

/// The folds over parts have steps also where the count is negative.
fn check_count(steps: &Steps, out: &mut Block) {
    out.check_before(&steps.result, Expr::prim(Prim::Le, vec![Expr::index(0), steps.n.clone()]), Status::Negative, steps.n.span());
}

/// The fold over so many parts, each of which is a fold over its steps: `part` gives the first of them and how many they are.
fn split(steps: &Steps, count: Expr, bound: Size, part: impl Fn(&Var) -> (Expr, Expr)) -> Steps {
    let k = Var::fresh("k", Type::Index(Some(bound)));
    // not by a name: the count is a length of what is kept, also where it is kept outside
    let (first, in_part) = part(&k);
    let (outer, inner) = (steps.acc.renewed(steps.acc.ty().clone()), steps.acc.renewed(steps.acc.ty().clone()));
    let (r, i) = (Var::fresh("r", Type::Index(Some(Size::of_expr(&in_part)))), steps.i.renewed(steps.i.ty().clone()));
    let step = instance(&steps.body, &[(steps.acc.clone(), Expr::var(&inner)), (steps.i.clone(), Expr::var(&i))]);
    let step = Expr::let_(i, Expr::prim(Prim::Add, vec![first, Expr::var(&r)]), step);
    let body = Expr::fold_with(in_part, inner, r, step, Expr::var(&outer));
    Steps { n: count, acc: outer, i: k, body, is_in_parts: true, ..steps.clone() }
}
