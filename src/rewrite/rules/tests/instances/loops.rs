//! Terms that rules of loops may apply to: as [`super::instance`].
//!
//! In: a source of random terms and a rule's name. Out: a fold, or a loop with something to move out of it; `None` for a rule that has
//! no line here.
//!
//!     fold-zero   →   ifold (fun s i -> s + v[i]) x 0

use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::generate::Generator;

use super::super::shapes::{block_step, double, in_blocks, loop_of, pair_fold, partial, prim, rows_and_sums, sum_of};

pub fn instance(g: &mut Generator, rule: &str) -> Option<Expr> {
    Some(match rule {
        "fold-to-tuple" => {
            let items = |g: &mut Generator| Expr::array(Type::Double, vec![g.double(1), g.double(1), g.double(1)]);
            let init = match g.below(3) {
                0 => items(g),
                1 => Expr::if_(g.boolean(1), items(g), items(g)),
                _ => Expr::build(Expr::index(3), "k", |_| g.double(1)),
            };
            let n = g.count();
            let form = g.below(4);
            Expr::fold(n, "s", "i", init, |s, i| {
                let at = |k| Expr::get(s.clone(), Expr::index(k));
                let new = Expr::array(Type::Double, vec![at(1), at(2), prim(Prim::Add, at(0), g.double(1))]);
                match form {
                    0 => new,
                    1 => Expr::if_(g.boolean(1), s.clone(), new),
                    2 => Expr::build(Expr::index(3), "k", |k| prim(Prim::Mul, Expr::get(s.clone(), k), g.double(1))),
                    _ => Expr::build(Expr::index(3), "k", |_| Expr::get(s.clone(), Expr::prim(Prim::Rem, vec![i, Expr::index(3)]))),
                }
            })
        }
        "fold-blocks" => {
            let (n, k) = in_blocks(g);
            sum_of(g, n, |g, s, _| {
                let i = g.innermost().clone();
                block_step(g, &i, k, s)
            })
        }
        "fold-start" => {
            let n = Expr::index(2 + g.below(4) as i64);
            g.build(n.clone(), |g| {
                let k = Expr::var(g.innermost());
                let (factor, other, init) = (g.double(0), g.double(1), Expr::tuple(vec![g.double(0), double(0.0)]));
                Expr::fold(n, "s", "i", init, |s, i| {
                    let (a, b) = (Expr::proj(s.clone(), 0), Expr::proj(s, 1));
                    let hot = prim(Prim::Mul, a.clone(), double(3.0));
                    let hot = Expr::if_(prim(Prim::Eq, i.clone(), k), hot, double(0.0));
                    let next = prim(Prim::Add, prim(Prim::Mul, a, factor), Expr::prim(Prim::ToDouble, vec![i]));
                    Expr::tuple(vec![next, prim(Prim::Add, prim(Prim::Mul, b, other), hot)])
                })
            })
        }
        "build-scan" => {
            let n = if g.below(3) == 0 { Expr::index(1 + g.below(5) as i64) } else { g.size(0) };
            let from_end = g.below(2) == 0;
            let outside = (g.double(1), g.double(0));
            g.build(n.clone(), |g| {
                let i = Expr::var(g.innermost());
                let last = prim(Prim::Sub, n, Expr::index(1));
                let count = if from_end { prim(Prim::Sub, last, i) } else { i };
                let state = running(count, g.below(2) == 0, outside);
                prim(Prim::Mul, state, g.double(1))
            })
        }
        "fold-scan" => {
            let (n, init) = (g.size(0), g.double(1));
            let (pairs, outside) = (g.below(2) == 0, (g.double(1), g.double(0)));
            let other = g.double(1);
            Expr::fold(n, "a", "i", init, |a, i| {
                let state = running(i, pairs, outside);
                prim(Prim::Add, prim(Prim::Mul, a, other), state)
            })
        }
        "fold-transpose" => {
            let n = if g.below(3) == 0 { Expr::index(1 + g.below(5) as i64) } else { g.size(0) };
            let (x, y) = (g.double(1), g.double(0));
            let (pairs, named) = (g.below(2) == 0, g.below(2) == 0);
            g.build(n.clone(), |g| {
                let i = Expr::var(g.innermost());
                let last = prim(Prim::Sub, n, Expr::index(1));
                let count = prim(Prim::Sub, last, i.clone());
                let (first, other) = (g.double(1), g.double(0));
                // the steps from the end are the same: they look at i + j
                let at = |j: Expr| prim(Prim::Mul, x.clone(), Expr::prim(Prim::ToDouble, vec![prim(Prim::Add, i.clone(), j)]));
                if !pairs {
                    let fold = Expr::fold(count, "s", "j", first, |s, j| {
                        let kept = prim(Prim::Mul, s.clone(), at(j.clone()));
                        if named { prim(Prim::Sub, kept, s) } else { prim(Prim::Add, kept, at(j)) }
                    });
                    return prim(Prim::Add, fold, g.double(1));
                }
                let fold = Expr::fold(count, "s", "j", Expr::tuple(vec![first, other]), |s, j| {
                    let (a, b) = (Expr::proj(s.clone(), 0), Expr::proj(s, 1));
                    let sum = prim(Prim::Add, prim(Prim::Mul, a.clone(), at(j)), prim(Prim::Mul, y.clone(), b.clone()));
                    if named {
                        Expr::bind("t", sum, |t| Expr::tuple(vec![prim(Prim::Sub, t, b.clone()), a]))
                    } else {
                        Expr::tuple(vec![sum, b])
                    }
                });
                let ty = fold.ty().clone();
                let (s, body) = g.bound("s", ty, |g, s| {
                    let s = Expr::var(s);
                    prim(Prim::Mul, prim(Prim::Add, Expr::proj(s.clone(), 1), Expr::proj(s, 0)), g.double(0))
                });
                Expr::let_(s, fold, body)
            })
        }
        "fold-consume" if g.below(2) == 0 => rows_and_sums(g),
        "fold-consume" => {
            let n = g.size(0);
            let element = |g: &mut Generator| prim(Prim::Mul, g.double(1), g.double(0));
            let array = g.build(n.clone(), element);
            let (x, body) = g.bound("x", array.ty().clone(), |g, x| {
                let second = g.build(n.clone(), |g| prim(Prim::Add, Expr::get(Expr::var(x), Expr::var(g.innermost())), g.double(1)));
                let nothing = g.below(4) == 0;
                let (y, sums) = g.bound("y", second.ty().clone(), |g, y| {
                    let sum = |g: &mut Generator, array: &Var| {
                        let (init, other) = (g.double(0), g.double(1));
                        Expr::fold(n.clone(), "s", "i", init, |s, i| {
                            prim(Prim::Add, s, prim(Prim::Mul, Expr::get(Expr::var(array), i), other))
                        })
                    };
                    let (a, b, c) = (sum(g, x), sum(g, y), sum(g, x));
                    let both = prim(Prim::Mul, prim(Prim::Add, a, c), b);
                    if nothing { prim(Prim::Add, both, Expr::get(Expr::var(y), Expr::index(0))) } else { both }
                });
                Expr::let_(y, second, sums)
            });
            Expr::let_(x, array, body)
        }
        "fold-merge" => {
            let n = g.size(0);
            let form = g.below(3);
            let sum = |g: &mut Generator| {
                let (other, init) = (g.double(1), g.double(0));
                Expr::fold(n.clone(), "s", "i", init, |s, i| {
                    let element = Expr::get(g.param("v"), i);
                    let value = if form == 0 { element.clone() } else { Expr::prim(Prim::Exp, vec![element.clone()]) };
                    let x = Var::fresh("x", Type::Double);
                    let next = Expr::let_(x.clone(), value, prim(Prim::Add, s.clone(), prim(Prim::Mul, Expr::var(&x), other)));
                    if form == 2 { Expr::if_(prim(Prim::Lt, element, double(0.5)), next, s) } else { next }
                })
            };
            let both = |g: &mut Generator| {
                let (a, b, c) = (sum(g), sum(g), g.double(1));
                prim(Prim::Mul, prim(Prim::Add, a, c), b)
            };
            if form == 0 { both(g) } else { g.build(Expr::index(2), both) }
        }
        "sum-swap" | "fold-last" => {
            let (n, m) = (g.size(0), g.size(1));
            let element = |g: &Generator, i: &Expr, j: &Expr| Expr::get(Expr::get(g.param("M"), i.clone()), j.clone());
            g.build(Expr::index(2), |g| {
                let k = Expr::var(g.innermost());
                let around = Expr::prim(Prim::ToDouble, vec![k.clone()]);
                if rule == "sum-swap" {
                    let other = g.double(0);
                    return Expr::fold(n, "s", "i", g.double(0), |s, i| {
                        let inner = Expr::fold(m, "t", "j", double(0.0), |t, j| {
                            let term = prim(
                                Prim::Mul,
                                element(g, &i, &j),
                                prim(Prim::Mul, around, Expr::get(g.param("u"), if g.below(3) == 0 { g.index(0) } else { j })),
                            );
                            prim(Prim::Add, t, term)
                        });
                        prim(Prim::Add, s, prim(Prim::Mul, prim(Prim::Mul, other, Expr::get(g.param("w"), i)), inner))
                    });
                }
                let init = Expr::tuple(vec![g.double(0), g.double(1)]);
                let fold = Expr::fold(n, "s", "i", init, |s, i| {
                    let (first, second, x) = (Expr::proj(s.clone(), 0), Expr::proj(s, 1), Expr::get(g.param("v"), i.clone()));
                    let cond = prim([Prim::Lt, Prim::Ge][g.below(2)], first.clone(), x.clone());
                    let chosen = prim(Prim::Mul, around, if g.below(2) == 0 { x.clone() } else { Expr::prim(Prim::ToDouble, vec![i]) });
                    let kept = if g.below(2) == 0 { Expr::if_(cond, second, chosen) } else { Expr::if_(cond, chosen, second) };
                    Expr::tuple(vec![prim(Prim::Max, first, x), kept])
                });
                Expr::proj(fold, 1)
            })
        }
        "sum-linear" => {
            let n = g.count();
            let (init, fixed) = (g.double(0), g.double(1));
            let bound = Type::Index(Some(Size::of_expr(&n)));
            let (s, (i, body)) = g.bound("s", Type::Double, |g, s| {
                let s = Expr::var(s);
                g.bound("i", bound, |g, i| {
                    let step = if g.below(2) == 0 { g.double(1) } else { Expr::prim(Prim::ToDouble, vec![Expr::var(i)]) };
                    let term = match g.below(4) {
                        0 => fixed.clone(),
                        1 => prim(Prim::Mul, step, fixed.clone()),
                        2 => prim(Prim::Add, prim(Prim::Mul, step, fixed.clone()), g.param("x")),
                        _ => Expr::prim(
                            Prim::Neg,
                            vec![prim(Prim::Sub, prim(Prim::Mul, fixed.clone(), g.param("y")), prim(Prim::Mul, step, g.param("x")))],
                        ),
                    };
                    prim(Prim::Add, s, term)
                })
            });
            Expr::fold_with(n, s, i, body, init)
        }
        "build-fission" => {
            let (n, m) = (g.count(), g.count());
            let rows = g.build(n.clone(), |g| {
                let first = g.double(1);
                let (t, row) = g.bound("t", Type::Double, |g, t| {
                    let second = if g.below(2) == 0 { prim(Prim::Mul, Expr::var(t), g.double(1)) } else { g.double(1) };
                    let both = g.below(2) == 0;
                    let (u, row) = g.bound("u", Type::Double, |g, u| {
                        g.build(m, |g| {
                            let own = if both { prim(Prim::Add, Expr::var(u), Expr::var(t)) } else { Expr::var(u) };
                            prim(Prim::Mul, own, g.double(1))
                        })
                    });
                    Expr::let_(u, second, row)
                });
                Expr::let_(t, first, row)
            });
            let (x, body) = g.bound("x", rows.ty().clone(), |g, x| {
                let (i, k) = (g.index(0), g.index(0));
                prim(Prim::Add, Expr::get(Expr::get(Expr::var(x), i), k), g.double(1))
            });
            Expr::let_(x, rows, body)
        }
        "hoist" => {
            let n = g.count();
            if g.below(2) == 0 { g.build(n, |g| g.double(3)) } else { loop_of(g, n, |g| g.double(3)) }
        }
        "hoist-array" => {
            let (n, m) = (g.count(), g.count());
            g.build(n, |g| {
                loop_of(g, m, |g| {
                    let work = Expr::prim(Prim::Exp, vec![prim(Prim::Mul, g.double(2), g.double(1))]);
                    prim(Prim::Add, Expr::prim(Prim::Sin, vec![work]), g.double(0))
                })
            })
        }
        "hoist-window" => {
            let (n, m, other) = (g.count(), g.count(), g.count());
            let shape = g.below(3);
            g.build(n, |g| {
                let i = Expr::var(g.innermost());
                match shape {
                    0 => sum_of(g, m, |g, s, j| window(g, &i, s, &j, &j)),
                    1 => sum_of(g, other, |g, s, k| {
                        let inner = sum_of(g, m, |g, s, j| window(g, &i, s, &j, &prim(Prim::Sub, j.clone(), k)));
                        prim(Prim::Add, s, inner)
                    }),
                    _ => {
                        let high = prim(Prim::Lt, i, g.index(1));
                        let sum = sum_of(g, m, |g, s, j| prim(Prim::Add, s, work(g, &j)));
                        Expr::if_(high, sum, g.double(1))
                    }
                }
            })
        }
        "hoist-check" => {
            let n = g.count();
            g.build(n, |g| {
                let check = |g: &mut Generator| Expr::check(g.boolean(1), Status::Bounds, g.double(1));
                if g.below(2) == 0 {
                    return check(g);
                }
                let value = g.double(1);
                let (x, body) = g.bound("t", Type::Double, |g, _| check(g));
                Expr::let_(x, value, body)
            })
        }
        "fold-zero" => loop_of(g, Expr::index(0), |g| g.double(2)),
        "fold-unroll" => {
            let literal = Expr::index(g.below(5) as i64);
            let n = if g.below(2) == 0 { literal } else { prim(Prim::Add, g.count(), literal) };
            loop_of(g, n, |g| g.double(2))
        }
        "fold-id" | "fold-final" | "fold-one-hot" | "sum-one-hot" | "fold-unswitch" => {
            let (n, init) = (g.count(), g.double(1));
            let bound = Type::Index(Some(Size::of_expr(&n)));
            let (s, (i, body)) = g.bound("s", Type::Double, |g, s| {
                let s = Expr::var(s);
                g.bound("i", bound, |g, i| match rule {
                    "fold-id" => s.clone(),
                    "fold-final" => g.double(2),
                    "fold-one-hot" | "sum-one-hot" => {
                        let (i, k) = (Expr::var(i), g.index(1));
                        let cond = if g.below(2) == 0 { prim(Prim::Eq, i, k) } else { prim(Prim::Eq, k, i) };
                        if rule == "fold-one-hot" {
                            return Expr::if_(cond, g.double(2), s.clone());
                        }
                        let hot = Expr::if_(cond, g.double(2), double(0.0));
                        if g.below(2) == 0 { prim(Prim::Add, s.clone(), hot) } else { prim(Prim::Add, hot, s.clone()) }
                    }
                    _ if g.below(2) == 0 => Expr::if_(partial(g), g.double(2), s.clone()),
                    _ => Expr::if_(partial(g), s.clone(), g.double(2)),
                })
            });
            Expr::fold_with(n, s, i, body, init)
        }
        "sum-split" => {
            let n = g.count();
            sum_of(g, n, |g, s, i| {
                let cond = if g.below(2) == 0 { prim(Prim::Eq, i, g.index(1)) } else { g.boolean(1) };
                let hot = Expr::if_(cond, g.double(1), double(0.0));
                let rest = g.double(1);
                if g.below(2) == 0 {
                    prim(Prim::Add, s, prim(Prim::Sub, rest, hot))
                } else {
                    prim(Prim::Add, prim(Prim::Add, s, hot), rest)
                }
            })
        }
        "sum-branch" => {
            let n = g.count();
            sum_of(g, n, |g, s, i| {
                let once = prim(Prim::Eq, i.clone(), g.index(1));
                let hot = Expr::if_(once, g.double(1), double(0.0));
                let branch = match g.below(3) {
                    0 => hot,
                    1 => prim(Prim::Sub, g.double(1), hot),
                    _ => Expr::bind("t", g.double(1), |t| prim(Prim::Add, hot, prim(Prim::Mul, t.clone(), t))),
                };
                let cond = if g.below(2) == 0 { prim(Prim::Eq, i, g.index(0)) } else { g.boolean(1) };
                let other = g.double(1);
                let (a, b) = if g.below(2) == 0 { (branch, other) } else { (other, branch) };
                match g.below(3) {
                    0 => prim(Prim::Add, s, Expr::if_(cond, a, b)),
                    1 => prim(Prim::Sub, s, Expr::if_(cond, a, b)),
                    _ => Expr::if_(cond, prim(Prim::Sub, s.clone(), a), prim(Prim::Add, b, s)),
                }
            })
        }
        "sum-few" => {
            let n = g.count();
            sum_of(g, n, |g, s, i| {
                let next = prim(Prim::Add, i.clone(), Expr::index(1));
                let hot = Expr::if_(prim(Prim::Eq, i, g.index(1)), g.double(1), double(0.0));
                let other = Expr::if_(prim(Prim::Eq, g.index(1), next), g.double(1), double(0.0));
                let term = match g.below(4) {
                    0 => prim(Prim::Mul, hot, g.double(1)),
                    1 => Expr::bind("t", hot, |t| prim(Prim::Sub, prim(Prim::Mul, t.clone(), t), prim(Prim::Mul, other, g.double(1)))),
                    2 => Expr::if_(g.boolean(1), prim(Prim::Div, hot, Expr::prim(Prim::Exp, vec![g.double(1)])), other),
                    _ => {
                        let count = g.count();
                        let sum = sum_of(g, count, |g, t, _| prim(Prim::Add, t, prim(Prim::Mul, g.double(1), hot)));
                        match sum.term() {
                            Term::Fold { n, acc, i, body, .. } => {
                                Expr::fold_with(n.clone(), acc.clone(), i.clone(), body.clone(), double(0.0))
                            }
                            _ => sum,
                        }
                    }
                };
                let rest = g.double(1);
                match g.below(3) {
                    0 => prim(Prim::Add, s, term),
                    1 => prim(Prim::Sub, s, term),
                    _ => prim(Prim::Add, prim(Prim::Add, rest, s), term),
                }
            })
        }
        "mul-if" => {
            let n = g.count();
            sum_of(g, n, |g, s, i| {
                let hot = Expr::if_(prim(Prim::Eq, i, g.index(1)), g.double(1), double(0.0));
                let product = match g.below(3) {
                    0 => prim(Prim::Mul, g.double(2), hot),
                    1 => prim(Prim::Mul, hot, g.double(2)),
                    _ => prim(Prim::Div, hot, Expr::prim(Prim::Exp, vec![g.double(2)])),
                };
                prim(Prim::Add, s, product)
            })
        }
        "fold-range" if g.below(3) == 0 => {
            let (n, init) = (g.count(), Expr::tuple(vec![g.double(0), g.double(0)]));
            Expr::fold(n, "s", "i", init, |s, i| {
                let compare = [Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge][g.below(4)];
                let cond = prim(compare, i, Expr::index(g.below(4) as i64));
                let mut part = |k| {
                    let old = Expr::proj(s.clone(), k);
                    Expr::if_(cond.clone(), prim(Prim::Add, old.clone(), g.double(1)), old)
                };
                let (a, b) = (part(0), part(1));
                if g.below(2) == 0 { Expr::tuple(vec![a, b]) } else { Expr::bind("t", a, |t| Expr::tuple(vec![t, b])) }
            })
        }
        "fold-range" => {
            let n = g.count();
            sum_of(g, n, |g, s, i| {
                let bound = |g: &mut Generator| {
                    let shift = Expr::index(g.below(3) as i64);
                    let side = match g.below(3) {
                        0 => i.clone(),
                        1 => prim(Prim::Add, i.clone(), shift),
                        _ => prim(Prim::Sub, shift, i.clone()),
                    };
                    let compare = [Prim::Lt, Prim::Le, Prim::Gt, Prim::Ge][g.below(4)];
                    prim(compare, side, if g.below(3) == 0 { Expr::index(g.below(4) as i64) } else { g.index(1) })
                };
                let mut step = prim(Prim::Add, s.clone(), g.double(2));
                for _ in 0..1 + g.below(2) {
                    let cond = bound(g);
                    step = if g.below(2) == 0 { Expr::if_(cond, step, s.clone()) } else { Expr::if_(cond, s.clone(), step) };
                }
                step
            })
        }
        "fold-project" | "fold-fission" | "fold-apart" => {
            let fold = pair_fold(g);
            if rule == "fold-apart" {
                let n = g.count();
                return Some(Expr::proj(Expr::get(g.build(n, pair_fold), g.index(0)), g.below(2)));
            }
            if rule == "fold-project" {
                return Some(Expr::proj(fold, g.below(2)));
            }
            let (x, body) = g.bound("r", fold.ty().clone(), |g, r| {
                let other = g.double(0);
                prim(Prim::Add, other, Expr::proj(Expr::var(r), g.below(2)))
            });
            Expr::let_(x, fold, body)
        }
        _ => return None,
    })
}

/// A random number times what takes long and needs an index alone.
fn work(g: &mut Generator, j: &Expr) -> Expr {
    let element = prim(Prim::Mul, Expr::get(g.param("v"), j.clone()), double(0.5));
    let long = Expr::prim(Prim::Exp, vec![Expr::prim(Prim::Sin, vec![element])]);
    prim(Prim::Mul, g.double(1), long)
}

/// A step that adds such a product where the difference of i and j is in a range.
fn window(g: &mut Generator, i: &Expr, s: Expr, j: &Expr, at: &Expr) -> Expr {
    let shift = Expr::index(g.below(3) as i64);
    let from = prim(Prim::Sub, i.clone(), j.clone());
    let step = prim(Prim::Add, s.clone(), work(g, at));
    let low = match g.below(3) {
        0 => prim(Prim::Le, Expr::index(0), from.clone()),
        1 => prim(Prim::Lt, shift.clone(), from.clone()),
        _ => prim(Prim::Le, prim(Prim::Mul, i.clone(), i.clone()), shift.clone()),
    };
    let high = prim(Prim::Lt, from, prim(Prim::Add, g.index(1), shift));
    let inner = if g.below(2) == 0 { Expr::if_(high, step, s.clone()) } else { step };
    Expr::if_(low, inner, s)
}

/// A loop of so many steps of which nothing else depends on what is around it.
fn running(count: Expr, pairs: bool, (x, y): (Expr, Expr)) -> Expr {
    if !pairs {
        return Expr::fold(count, "s", "j", y, |s, j| prim(Prim::Add, prim(Prim::Mul, s, x), Expr::prim(Prim::ToDouble, vec![j])));
    }
    let fold = Expr::fold(count, "s", "j", Expr::tuple(vec![y.clone(), x.clone()]), |s, j| {
        let (a, b) = (Expr::proj(s.clone(), 0), Expr::proj(s, 1));
        Expr::tuple(vec![
            prim(Prim::Sub, prim(Prim::Mul, b.clone(), y), a.clone()),
            prim(Prim::Add, prim(Prim::Mul, a, x), Expr::prim(Prim::ToDouble, vec![j])),
        ])
    });
    Expr::proj(fold, 1)
}
