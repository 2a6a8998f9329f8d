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

/// Rows of two, the same elements one after the other, and sums over the one and over the other.
pub fn rows_and_sums(g: &mut Generator) -> Expr {
    let n = g.size(0);
    let twice = Expr::prim(Prim::Mul, vec![Expr::index(2), n.clone()]);
    let part = |prim, k: &Expr| Expr::prim(prim, vec![k.clone(), Expr::index(2)]);
    let rows = g.build(n.clone(), |g| {
        let row = |g: &mut Generator| Expr::array(Type::Double, vec![prim(Prim::Mul, g.double(1), g.double(0)), g.double(0)]);
        match g.below(3) {
            0 => Expr::if_(g.boolean(1), row(g), row(g)),
            _ => row(g),
        }
    });
    let by_one = g.below(3);
    let (x, body) = g.bound("x", rows.ty().clone(), |g, x| {
        let at = |k: &Expr| Expr::get(Expr::get(Expr::var(x), part(Prim::Div, k)), part(Prim::Rem, k));
        let flat = Expr::build(twice.clone(), "k", |k| prim(Prim::Mul, at(&k), double(0.5)));
        let (y, sums) = g.bound("y", flat.ty().clone(), |g, y| {
            let (init, other) = (g.double(0), g.double(1));
            let of_rows = Expr::fold(n.clone(), "s", "i", Expr::tuple(vec![init.clone(), init.clone()]), |s, i| {
                let of = |k| Expr::get(Expr::get(Expr::var(x), i.clone()), Expr::index(k));
                let first = prim(Prim::Add, Expr::proj(s.clone(), 0), prim(Prim::Mul, of(0), of(1)));
                Expr::tuple(vec![first, prim(Prim::Add, Expr::proj(s, 1), of(1))])
            });
            let of_elements = Expr::fold(twice.clone(), "s", "k", init, |s, k| {
                let element = if by_one == 0 { at(&k) } else { Expr::get(Expr::var(y), k) };
                prim(Prim::Add, prim(Prim::Mul, s, double(0.5)), prim(Prim::Mul, element, other))
            });
            let (both, sum) = g.bound("b", of_rows.ty().clone(), |_, both| {
                let both = Expr::var(both);
                prim(Prim::Add, prim(Prim::Mul, Expr::proj(both.clone(), 0), Expr::proj(both, 1)), of_elements)
            });
            Expr::let_(both, of_rows, sum)
        });
        Expr::let_(y, flat, sums)
    });
    Expr::let_(x, rows, body)
}
