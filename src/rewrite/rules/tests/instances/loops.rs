//! Terms that rules of arrays and loops may apply to: as [`super::instance`].

use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::generate::Generator;

use super::super::shapes::{double, loop_of, pair_fold, partial, prim, sum_of};

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
        "fold-zero" => loop_of(g, Expr::index(0), |g| g.double(2)),
        "fold-unroll" => {
            let n = Expr::index(g.below(5) as i64);
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
