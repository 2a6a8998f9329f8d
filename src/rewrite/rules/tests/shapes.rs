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

/// The length of a loop in blocks of k steps, and one step: some of it depends on the block, some on the place in it.
pub fn in_blocks(g: &mut Generator) -> (Expr, i64) {
    let k = 2 + g.below(3) as i64;
    let count = if g.below(4) == 0 { Expr::index(1 + g.below(2) as i64) } else { g.size(0) };
    (prim(Prim::Mul, Expr::index(k), count), k)
}

/// A step of such a loop, made of what is given.
pub fn block_step(g: &mut Generator, i: &Var, k: i64, other: Expr) -> Expr {
    let part = |op| prim(op, Expr::var(i), Expr::index(k));
    let element = Expr::get(g.param("v"), part(Prim::Div));
    let work = Expr::prim(Prim::Exp, vec![prim(Prim::Mul, element.clone(), g.double(0))]);
    let place = part(Prim::Rem);
    Expr::bind("e", work, |e| {
        let first = prim(Prim::Eq, place.clone(), Expr::index(g.below(3) as i64));
        let (a, b) = (prim(Prim::Add, e.clone(), other), prim(Prim::Mul, e, Expr::prim(Prim::ToDouble, vec![Expr::var(i)])));
        match g.below(3) {
            0 => Expr::if_(first, a, b),
            1 => prim(Prim::Add, Expr::get(Expr::array(Type::Double, vec![a, element]), place), b),
            _ => prim(Prim::Sub, a, prim(Prim::Mul, b, g.double(1))),
        }
    })
}
