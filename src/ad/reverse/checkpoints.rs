//! Checkpoints: a long loop in parts, so that the backward pass keeps the states between parts and those of one part.
//!
//! In: a fold of n steps. Out: a fold of K steps, each of which is a fold over one part of the n. Reverse mode keeps the
//! state before each step of the outer fold, and enters a part, computed again, with its own states: K and ⌈n / K⌉ states in
//! the place of n (Griewank and Walther's checkpoints, in two levels). Every step is computed once more.
//!
//!     ifold f z n   →   ifold (fun s k -> ifold (fun s r -> f s (k * n / K + r)) s ((k + 1) * n / K - k * n / K)) z K

use super::loops::Steps;
use crate::ad::block::Block;
use crate::ir::subst::instance;
use crate::ir::{Expr, Prim, Size, Status, Type, Var};

/// The fold in so many parts; `None` where it has few steps as it is.
pub fn in_parts(steps: &Steps, parts: i64, out: &mut Block) -> Option<Steps> {
    if matches!(Size::of_expr(&steps.n).as_constant(), Some(n) if n <= parts) {
        return None;
    }
    let n = &steps.n;
    let count = Expr::index(parts);
    // the outer fold has steps also where the count is negative
    out.check(Expr::prim(Prim::Le, vec![Expr::index(0), n.clone()]), Status::Negative, n.span());
    let k = Var::fresh("k", Type::Index(Some(Size::constant(parts))));
    let begin = |k: Expr| Expr::prim(Prim::Div, vec![Expr::prim(Prim::Mul, vec![k, n.clone()]), count.clone()]);
    let (first, next) = (begin(Expr::var(&k)), begin(Expr::prim(Prim::Add, vec![Expr::var(&k), Expr::index(1)])));
    // not by a name: the count is a length of what is kept, also where it is kept outside
    let in_part = Expr::prim(Prim::Sub, vec![next, first.clone()]);
    let (outer, inner) = (steps.acc.renewed(steps.acc.ty().clone()), steps.acc.renewed(steps.acc.ty().clone()));
    let (r, i) = (Var::fresh("r", Type::Index(Some(Size::of_expr(&in_part)))), steps.i.renewed(steps.i.ty().clone()));
    let step = instance(&steps.body, &[(steps.acc.clone(), Expr::var(&inner)), (steps.i.clone(), Expr::var(&i))]);
    let step = Expr::let_(i, Expr::prim(Prim::Add, vec![first, Expr::var(&r)]), step);
    let body = Expr::fold_with(in_part, inner, r, step, Expr::var(&outer));
    Some(Steps { n: count, acc: outer, i: k, body, is_in_parts: true, ..steps.clone() })
}
