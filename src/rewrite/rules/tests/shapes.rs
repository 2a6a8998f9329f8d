//! Parts of the terms of `instances`: conditions, products, and folds with random bodies.

use crate::ir::{Expr, Prim, Size, Type, Var};
use crate::rewrite::generate::Generator;

pub fn double(value: f64) -> Expr {
    Expr::double(value)
}

pub fn prim(prim: Prim, a: Expr, b: Expr) -> Expr {
    Expr::prim(prim, vec![a, b])
}

/// A condition that may fail.
pub fn partial(g: &mut Generator) -> Expr {
    if g.below(2) == 0 {
        return g.boolean(1);
    }
    prim(Prim::Lt, Expr::get(g.param("v"), g.index(1)), double(0.5))
}

/// A random product or quotient of terms of a pool.
pub fn product(g: &mut Generator, pool: &[Expr], factors: usize) -> Expr {
    let mut whole = crate::ir::subst::freshen(&pool[g.below(pool.len())]);
    for _ in 0..factors {
        let factor = crate::ir::subst::freshen(&pool[g.below(pool.len())]);
        // what is divided by and cancelled is not zero
        whole = if g.below(3) == 0 { prim(Prim::Div, whole, Expr::prim(Prim::Exp, vec![factor])) } else { prim(Prim::Mul, whole, factor) };
    }
    whole
}

pub fn loop_of(g: &mut Generator, n: Expr, f: impl FnOnce(&mut Generator) -> Expr) -> Expr {
    sum_of(g, n, |g, _, _| f(g))
}

/// A fold with a scalar accumulator, whose step is made of it and of the loop's variable.
pub fn sum_of(g: &mut Generator, n: Expr, f: impl FnOnce(&mut Generator, Expr, Expr) -> Expr) -> Expr {
    let init = g.double(1);
    let bound = Type::Index(Some(Size::of_expr(&n)));
    let step = |g: &mut Generator, s: &Var| g.bound("i", bound, |g, i| f(g, Expr::var(s), Expr::var(i)));
    let (s, (i, body)) = g.bound("s", Type::Double, step);
    Expr::fold_with(n, s, i, body, init)
}

/// A fold over a pair whose components may or may not depend on each other.
pub fn pair_fold(g: &mut Generator) -> Expr {
    let (n, init) = (g.count(), Expr::tuple(vec![g.double(1), g.double(1)]));
    let bound = Type::Index(Some(Size::of_expr(&n)));
    let (s, (i, body)) = g.bound("s", init.ty().clone(), |g, s| {
        let s = Expr::var(s);
        g.bound("i", bound, |g, _| {
            let step = |g: &mut Generator| {
                let (j, other) = (g.below(2), g.double(1));
                prim([Prim::Add, Prim::Mul][g.below(2)], Expr::proj(s.clone(), j), other)
            };
            let (a, b) = (step(g), step(g));
            if g.below(3) == 0 { Expr::if_(g.boolean(0), Expr::tuple(vec![a, b]), s.clone()) } else { Expr::tuple(vec![a, b]) }
        })
    });
    Expr::fold_with(n, s, i, body, init)
}
