//! Terms that rules of arrays may apply to: as [`super::instance`].
//!
//! In: a source of random terms and a rule's name. Out: an array that is written out, built or read; `None` for a rule that has no
//! line here.
//!
//!     get-build   →   (build n (fun i -> x * v[i]))[k]

use crate::ir::{Expr, Prim, Size, Type};
use crate::rewrite::generate::Generator;

use super::super::shapes::{block_step, double, in_blocks, loop_of, prim};

pub fn instance(g: &mut Generator, rule: &str) -> Option<Expr> {
    Some(match rule {
        "get-build" => {
            let n = g.count();
            let array = g.build(n, |g| g.double(2));
            Expr::get(array, g.index(1))
        }
        "length-build" => {
            let n = g.count();
            let m = g.count();
            if g.below(2) == 0 {
                return Some(Expr::dim(g.build(n, |g| g.double(1)), 0));
            }
            Expr::dim(g.build(n, |g| g.build(m, |g| g.double(1))), 1)
        }
        "get-array" => Expr::get(Expr::array(Type::Double, vec![g.double(1), g.double(1)]), Expr::index(g.below(3) as i64)),
        "length-array" => Expr::dim(Expr::array(Type::Double, vec![g.double(1), g.double(1)]), 0),
        "build-eta" => {
            let array = if g.below(2) == 0 { g.vector(0) } else { Expr::get(g.param("M"), g.index(0)) };
            let n = if g.below(4) == 0 { g.count() } else { Expr::dim(array.clone(), 0) };
            Expr::build(n, "i", |i| Expr::get(array, i))
        }
        "build-unroll" => {
            let count = Expr::index(1 + g.below(6) as i64);
            let array = g.build(count, |g| {
                if g.below(3) > 0 { g.double(2) } else { Expr::if_(prim(Prim::Lt, g.index(0), g.index(0)), g.double(1), g.double(1)) }
            });
            Expr::get(array, g.index(0))
        }
        "build-blocks" => {
            let (n, k) = in_blocks(g);
            g.build(n, |g| {
                let (i, other) = (g.innermost().clone(), g.double(1));
                let step = block_step(g, &i, k, other);
                if g.below(4) == 0 { Expr::tuple(vec![step, g.double(0)]) } else { step }
            })
        }
        "array-to-tuple" => {
            let items = |g: &mut Generator| Expr::array(Type::Double, vec![g.double(1), g.double(1), g.double(1)]);
            let value = match g.below(3) {
                0 => items(g),
                1 => Expr::if_(g.boolean(1), items(g), items(g)),
                _ => {
                    let init = items(g);
                    let n = g.count();
                    let at = |state: &Expr, k| Expr::get(state.clone(), Expr::index(k));
                    Expr::fold(n, "s", "i", init, |s, _| {
                        Expr::array(Type::Double, vec![at(&s, 1), at(&s, 2), prim(Prim::Add, at(&s, 0), g.double(1))])
                    })
                }
            };
            let ty = value.ty().clone();
            let k = g.below(3) as i64;
            let (x, body) = g.bound("t", ty, |g, x| prim(Prim::Mul, Expr::get(Expr::var(x), Expr::index(k)), g.double(1)));
            Expr::let_(x, value, body)
        }
        "array-split" => {
            let (n, m) = (g.count(), g.count());
            let pairs = |g: &mut Generator| {
                let value = g.double(1);
                let (r, pair) =
                    g.bound("r", Type::Double, |g, r| Expr::tuple(vec![Expr::var(r), prim(Prim::Mul, Expr::var(r), g.double(1))]));
                let named = Expr::let_(r, value, pair);
                match g.below(3) {
                    0 => named,
                    1 => Expr::tuple(vec![g.double(1), g.double(1)]),
                    _ => Expr::if_(g.boolean(0), Expr::tuple(vec![g.double(1), g.double(1)]), named),
                }
            };
            let deep = g.below(3) == 0;
            let array = if deep { g.build(n.clone(), |g| g.build(m, pairs)) } else { g.build(n.clone(), pairs) };
            let (x, body) = g.bound("r", array.ty().clone(), |g, r| {
                let r = Expr::var(r);
                loop_of(g, n, |g| {
                    let row = Expr::get(r.clone(), g.index(0));
                    let element = if deep { Expr::get(row, g.index(0)) } else { row };
                    match g.below(3) {
                        0 => prim(Prim::Mul, Expr::proj(element, 1), Expr::prim(Prim::ToDouble, vec![Expr::dim(r.clone(), 0)])),
                        1 => prim(Prim::Add, Expr::proj(element.clone(), 0), Expr::proj(element, 1)),
                        _ => {
                            let (t, body) = g.bound("t", element.ty().clone(), |g, t| {
                                prim(Prim::Mul, Expr::proj(Expr::var(t), g.below(2)), g.double(1))
                            });
                            Expr::let_(t, element, body)
                        }
                    }
                })
            });
            Expr::let_(x, array, body)
        }
        "build-one-hot" => {
            let n = g.count();
            let steps = n.clone();
            g.build(n.clone(), |g| {
                let k = g.index(0);
                let bound = Type::Index(Some(Size::of_expr(&n)));
                let (i, element) = g.bound("j", bound, |g, j| Expr::if_(prim(Prim::Eq, Expr::var(j), k), g.double(2), double(0.0)));
                let array = Expr::build_with(n, i, element);
                let (x, body) = g.bound("r", array.ty().clone(), |g, r| {
                    let r = Expr::var(r);
                    loop_of(g, steps, |g| Expr::get(r, g.index(0)))
                });
                Expr::let_(x, array, body)
            })
        }
        "get-select" => {
            let (a, b) = (g.double(0), g.double(0));
            g.build(Expr::index(2), |g| Expr::get(Expr::array(Type::Double, vec![a, b]), g.index(0)))
        }
        "array-absorb" => {
            let n = g.size(0);
            let array = g.build(n.clone(), |g| g.double(2));
            let other = g.double(1);
            let (x, body) = g.bound("a", array.ty().clone(), |g, a| {
                let ask = |g: &Generator, i: &Expr| {
                    let own = prim(Prim::Mul, Expr::get(g.param("v"), i.clone()), crate::ir::subst::freshen(&other));
                    prim(Prim::Sub, Expr::get(Expr::var(a), i.clone()), own)
                };
                let sum = |g: &mut Generator, n: Expr| {
                    let init = g.double(0);
                    Expr::fold(n, "s", "i", init, |s, i| prim(Prim::Add, s, ask(g, &i)))
                };
                let (first, second) = (sum(g, n.clone()), if g.below(2) == 0 { g.count() } else { n.clone() });
                let second = if g.below(2) == 0 { sum(g, second) } else { ask(g, &g.size(1)) };
                let second = if g.below(2) == 0 { second } else { Expr::if_(g.boolean(0), second, g.double(1)) };
                if g.below(4) == 0 { second } else { prim(Prim::Mul, first, second) }
            });
            Expr::let_(x, array, body)
        }
        "array-reuse" => {
            let n = g.count();
            let bound = Type::Index(Some(Size::of_expr(&n)));
            let (i, element) = g.bound("i", bound, |g, i| {
                let (count, init) = (g.count(), g.double(0));
                let factor = g.double(1);
                Expr::fold(count, "t", "l", init, |t, _| {
                    let own = prim(Prim::Mul, Expr::prim(Prim::ToDouble, vec![Expr::var(i)]), crate::ir::subst::freshen(&factor));
                    prim(Prim::Add, t, own)
                })
            });
            let array = Expr::build_with(n.clone(), i.clone(), element.clone());
            let sum = |g: &mut Generator| {
                let (count, init) = (if g.below(4) == 0 { g.count() } else { n.clone() }, g.double(0));
                Expr::fold(count, "s", "j", init, |s, j| {
                    let again = crate::ir::subst::substitute(&crate::ir::subst::freshen(&element), &[(i.clone(), j)]);
                    prim(Prim::Add, s, again)
                })
            };
            if g.below(2) == 0 {
                let value = sum(g);
                let (y, (x, body)) = g.bound("b", Type::Double, |g, _| g.bound("a", array.ty().clone(), |g, _| g.double(1)));
                return Some(Expr::let_(y, value, Expr::let_(x, array, body)));
            }
            let (x, body) = g.bound("a", array.ty().clone(), |g, _| sum(g));
            Expr::let_(x, array, body)
        }
        _ => return None,
    })
}
