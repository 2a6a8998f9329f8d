//! Terms that rules written as functions may apply to.
//!
//! In: a source of random terms and a rule's name. Out: a term that has the shape of the rule's left side often enough;
//! `None` for a rule that has no line here. Those of arrays are in `arrays`, of loops in `loops`, of arrays
//! that are changed in `updates`.

use crate::ir::{Change, Expr, Prim, Size, Status, Type};
use crate::rewrite::generate::Generator;

use super::shapes::{double, loop_of, partial, prim, product, sum_of};

mod arrays;
mod loops;
mod updates;

/// A term that the function-defined rule may apply to.
pub fn instance(g: &mut Generator, rule: &str) -> Option<Expr> {
    Some(match rule {
        "pow-two" => prim(Prim::Pow, g.double(2), double(2.0)),
        "const-fold" => match g.below(3) {
            0 => prim([Prim::Add, Prim::Mul, Prim::Div, Prim::Lt][g.below(4)], double(1.5), double(g.below(3) as f64)),
            1 => prim([Prim::Add, Prim::Div, Prim::Rem, Prim::Eq][g.below(4)], Expr::index(7), Expr::index(g.below(3) as i64)),
            _ => Expr::prim([Prim::Neg, Prim::Sign, Prim::Floor, Prim::Cos][g.below(4)], vec![double(g.below(3) as f64 - 1.0)]),
        },
        "index-collect" => {
            let mut sum = g.index(0);
            for _ in 0..3 {
                let (op, part) = ([Prim::Add, Prim::Sub, Prim::Mul][g.below(3)], [g.index(0), Expr::index(2)][g.below(2)].clone());
                sum = prim(op, sum, part);
            }
            sum
        }
        "length-size" => match g.below(5) {
            0 => Expr::dim(g.param("M"), g.below(2)),
            1 => Expr::dim(Expr::get(g.param("M"), g.index(0)), 0),
            2 => Expr::dim(Expr::update(Change::Replace, g.vector(1), vec![g.index(1)], g.double(1)), 0),
            3 => {
                let n = g.count();
                Expr::dim(Expr::if_(g.boolean(1), g.build(n.clone(), |g| g.double(1)), g.build(n, |g| g.double(1))), 0)
            }
            _ => Expr::dim(g.param("u"), 0),
        },
        "let-inline" | "let-dead" | "let-float" | "let-flatten" => {
            let value = match (rule, g.below(3)) {
                ("let-flatten", 0) => Expr::check(g.boolean(1), Status::Shape, g.double(1)),
                ("let-flatten", _) => {
                    let inner = g.double(1);
                    let (y, body) = g.bound("y", Type::Double, |g, _| g.double(1));
                    Expr::let_(y, inner, body)
                }
                ("let-inline", 0) => g.vector(2),
                _ => g.double(1),
            };
            let (x, body) = g.bound("t", value.ty().clone(), |g, _| g.double(2));
            let whole = Expr::let_(x, value, body);
            if rule == "let-float" { prim(Prim::Mul, g.double(1), whole) } else { whole }
        }
        "let-split" | "tuple-eta" | "project" => {
            let tuple = if rule == "tuple-eta" {
                Expr::tuple(vec![Expr::proj(g.param("p"), 0), Expr::proj(g.param("p"), 1)])
            } else {
                Expr::tuple(vec![g.double(1), g.double(1)])
            };
            if rule != "let-split" {
                return Some(Expr::proj(tuple, g.below(2)));
            }
            let (x, body) = g.bound("t", tuple.ty().clone(), |g, _| g.double(2));
            Expr::let_(x, tuple, body)
        }
        "if-merge" => {
            let cond = g.boolean(1);
            let part = |g: &mut Generator| Expr::if_(cond.clone(), g.double(1), g.double(1));
            let first = part(g);
            let (x, rest) = g.bound("a", Type::Double, |g, _| {
                let between = g.double(1);
                let (m, rest) = g.bound("m", Type::Double, |g, _| {
                    let second = part(g);
                    let (y, body) = g.bound("b", Type::Double, |g, _| g.double(2));
                    Expr::let_(y, second, body)
                });
                Expr::let_(m, between, rest)
            });
            Expr::let_(x, first, rest)
        }
        "div-known" | "reciprocal" => {
            // a number, or a component
            let pair = g.below(2) == 0;
            let value = if pair { Expr::tuple(vec![g.double(1), g.double(1)]) } else { g.double(1) };
            let (z, body) = g.bound("z", value.ty().clone(), |g, z| {
                let z = if pair { Expr::proj(Expr::var(z), 1) } else { Expr::var(z) };
                let quotient = |g: &mut Generator, z: &Expr| prim(Prim::Div, g.double(1), z.clone());
                if rule == "reciprocal" {
                    let parts: Vec<Expr> = (0..5).map(|_| quotient(g, &z)).collect();
                    return parts.into_iter().reduce(|a, b| prim(Prim::Add, a, b)).unwrap_or(z);
                }
                Expr::bind("r", prim(Prim::Div, double(1.0), z.clone()), |r| prim(Prim::Add, quotient(g, &z), r))
            });
            Expr::let_(z, value, body)
        }
        "let-scale" => {
            let literal = double(if g.below(2) == 0 { 2.0 } else { -0.5 });
            let value = g.double(1);
            let (z, body) = g.bound("z", Type::Double, |g, z| {
                let z = Expr::var(z);
                let parts: Vec<Expr> = (0..2 + g.below(2))
                    .map(|_| match g.below(3) {
                        0 => prim(Prim::Mul, literal.clone(), z.clone()),
                        1 => prim(Prim::Mul, z.clone(), literal.clone()),
                        _ => {
                            let product = prim(Prim::Mul, g.param("x"), z.clone());
                            prim(Prim::Mul, literal.clone(), product)
                        }
                    })
                    .collect();
                parts.into_iter().reduce(|a, b| prim(Prim::Add, a, b)).unwrap_or(z)
            });
            Expr::let_(z, value, body)
        }
        "reciprocal-loop" => {
            let z = g.param("x");
            // sometimes an element that the step gives a name
            let element = (g.below(2) == 0).then(|| Expr::get(Expr::array(Type::Double, vec![z.clone(), g.double(1)]), Expr::index(0)));
            let n = g.count();
            g.build(n, |g| {
                let (x, more) = (g.double(1), g.double(1));
                let sum = |z: Expr| prim(Prim::Add, prim(Prim::Div, x, z), more);
                match element {
                    Some(element) => Expr::bind("z", element, sum),
                    None => sum(z),
                }
            })
        }
        "if-components" => {
            let (a, b) = (g.double(1), g.double(1));
            // sometimes the same literal in both branches
            let literal = g.below(2) == 0;
            let branch = |g: &mut Generator| {
                let other = if literal { double(2.0) } else { g.double(1) };
                Expr::bind("s", g.double(1), |s| Expr::tuple(vec![Expr::tuple(vec![s.clone(), other]), s]))
            };
            let value = Expr::if_(prim(Prim::Lt, a, b), branch(g), branch(g));
            let (ty, k) = (value.ty().clone(), g.below(2));
            let (x, body) = g.bound("t", ty, |g, x| {
                let pair = Expr::proj(Expr::var(x), 0);
                prim(Prim::Mul, prim(Prim::Add, Expr::proj(pair, k), Expr::proj(Expr::var(x), 1)), g.double(1))
            });
            Expr::let_(x, value, body)
        }
        "let-swap" => {
            let (first, second) = (g.double(1), g.double(1));
            let (x, (y, body)) = g.bound("a", Type::Double, |g, _| g.bound("b", Type::Double, |g, _| g.double(2)));
            Expr::let_(x, first, Expr::let_(y, second, body))
        }
        "let-merge" => {
            let value = g.double(1);
            let (x, (y, body)) = g.bound("a", Type::Double, |g, _| g.bound("b", Type::Double, |g, _| g.double(2)));
            let again = crate::ir::subst::freshen(&value);
            Expr::let_(x, value, Expr::let_(y, again, body))
        }
        "let-sink" => {
            let value = g.double(2);
            let (x, body) = g.bound("t", Type::Double, |g, _| g.double(2));
            let cond = g.boolean(1);
            let branch = if g.below(2) == 0 { Expr::if_(cond, body, g.double(1)) } else { Expr::if_(cond, g.double(1), body) };
            Expr::let_(x, value, branch)
        }
        "order" => {
            let element = |g: &mut Generator| match g.below(4) {
                0 => g.param("x"),
                1 => g.param("y"),
                _ => Expr::get(g.param("v"), g.index(0)),
            };
            let (a, b) = (element(g), element(g));
            let literal = g.below(4) == 0;
            prim([Prim::Mul, Prim::Add][g.below(2)], a, if literal { double(3.0) } else { b })
        }
        "if-collect" => {
            let cond = g.boolean(1);
            let choice = |g: &mut Generator| Expr::if_(crate::ir::subst::freshen(&cond), g.double(1), g.double(1));
            let (first, last) = (choice(g), choice(g));
            let op = |g: &mut Generator, a, b| prim([Prim::Add, Prim::Sub][g.below(2)], a, b);
            let between = g.double(1);
            let middle = op(g, first, between);
            op(g, middle, last)
        }
        "div-sum" => {
            let c = Expr::prim(Prim::Exp, vec![g.param("x")]);
            let product = if g.below(2) == 0 { prim(Prim::Mul, g.double(1), c.clone()) } else { prim(Prim::Mul, c.clone(), g.double(1)) };
            let product = if g.below(2) == 0 { product } else { Expr::prim(Prim::Neg, vec![product]) };
            let (sum, other) = ([Prim::Add, Prim::Sub][g.below(2)], g.double(1));
            let sum = if g.below(2) == 0 { prim(sum, product, other) } else { prim(sum, other, product) };
            prim(Prim::Div, sum, c)
        }
        "cancel" | "factor" | "if-factor" => {
            let pool = [g.double(1), g.param("x"), Expr::prim(Prim::Exp, vec![g.param("y")])];
            match rule {
                "cancel" => product(g, &pool, 4),
                "factor" => {
                    let (a, b) = (product(g, &pool, 2), product(g, &pool, 2));
                    prim([Prim::Add, Prim::Sub][g.below(2)], a, b)
                }
                _ => {
                    let then = product(g, &pool, 2);
                    let other = product(g, &pool, 2);
                    let then = if g.below(2) == 0 { Expr::prim(Prim::Neg, vec![then]) } else { then };
                    let (x, body) = g.bound("t", Type::Double, |g, _| prim(Prim::Mul, other, g.double(1)));
                    Expr::if_(g.boolean(1), then, Expr::let_(x, g.double(1), body))
                }
            }
        }
        "distribute" => {
            let n = g.count();
            let bound = Type::Index(Some(Size::of_expr(&n)));
            let (s, (i, body)) = g.bound("s", Type::Double, |g, s| {
                let s = Expr::var(s);
                g.bound("i", bound, |g, i| {
                    let cond = if g.below(2) == 0 { prim(Prim::Eq, Expr::var(i), g.index(0)) } else { g.boolean(0) };
                    let (rest, other) = (g.double(1), g.double(1));
                    let hot = if g.below(2) == 0 {
                        Expr::if_(cond.clone(), g.double(1), double(0.0))
                    } else {
                        Expr::if_(cond.clone(), double(0.0), g.double(1))
                    };
                    let sum = match g.below(3) {
                        0 => prim(Prim::Sub, rest, hot),
                        1 => prim(Prim::Add, hot, rest),
                        _ => Expr::if_(cond, prim(Prim::Add, g.double(1), rest.clone()), rest),
                    };
                    let term = match g.below(3) {
                        0 => prim(Prim::Mul, sum, other),
                        1 => prim(Prim::Mul, other, sum),
                        _ => prim(Prim::Div, sum, Expr::prim(Prim::Exp, vec![other])),
                    };
                    prim(Prim::Add, s, term)
                })
            });
            Expr::fold_with(n, s, i, body, double(0.0))
        }
        "beta" => g.call(),
        "if-assume" => Expr::if_(g.boolean(1), Expr::if_(g.boolean(0), g.double(1), g.double(1)), g.double(1)),
        "if-equal" => {
            let n = g.count();
            loop_of(g, n, |g| {
                let (i, e) = (g.innermost().clone(), g.double(2));
                let k = if g.below(2) == 0 { Expr::index(g.below(3) as i64) } else { g.index(0) };
                let at_k = crate::ir::subst::substitute(&e, &[(i.clone(), k.clone())]);
                let other = if g.below(4) == 0 { g.double(1) } else { e };
                Expr::if_(prim(Prim::Eq, Expr::var(&i), k), at_k, other)
            })
        }
        "if-float" => match g.below(3) {
            0 => prim(Prim::Mul, Expr::if_(g.boolean(1), double(0.0), g.double(1)), g.double(1)),
            1 => Expr::get(Expr::if_(g.boolean(1), g.vector(1), g.vector(1)), g.index(0)),
            _ => Expr::prim(Prim::Neg, vec![Expr::if_(g.boolean(1), double(0.0), g.double(1))]),
        },
        "if-join" => {
            let cond = g.boolean(1);
            let part = |g: &mut Generator| Expr::if_(cond.clone(), g.double(1), g.double(1));
            let (a, b) = (part(g), part(g));
            prim([Prim::Add, Prim::Mul, Prim::Lt][g.below(3)], a, b)
        }
        "anf" => prim(Prim::Mul, g.double(2), g.double(1)),
        "common" => {
            let (a, b) = (g.double(2), g.double(1));
            let again = crate::ir::subst::freshen(&a);
            match g.below(3) {
                0 => prim(Prim::Mul, a, prim(Prim::Sub, b, again)),
                1 => prim(Prim::Mul, a, Expr::if_(g.boolean(1), again, b)),
                _ => {
                    let n = g.count();
                    prim(Prim::Mul, a, loop_of(g, n, |g| prim(Prim::Add, g.double(1), again)))
                }
            }
        }
        "if-swap" => {
            let n = g.count();
            sum_of(g, n, |g, s, i| {
                let outer = prim(Prim::And, prim(Prim::Lt, i.clone(), g.index(0)), partial(g));
                let inner = Expr::if_(prim(Prim::Eq, i, g.index(1)), g.double(2), s.clone());
                if g.below(2) == 0 { Expr::if_(outer, inner, s.clone()) } else { Expr::if_(outer, s.clone(), inner) }
            })
        }
        "eq-solve" => {
            let n = g.count();
            loop_of(g, n, |g| {
                let shifted = prim([Prim::Add, Prim::Sub][g.below(2)], g.index(0), g.index(0));
                Expr::if_(prim(Prim::Eq, g.index(0), shifted), g.double(1), g.double(1))
            })
        }
        "if-divide" => {
            let n = g.count();
            loop_of(g, n, |g| {
                let factor = Expr::index([2, 3, -2, 4][g.below(4)]);
                let multiple = prim([Prim::Add, Prim::Sub][g.below(2)], prim(Prim::Mul, factor, g.index(0)), g.index(0));
                Expr::if_(prim(Prim::Eq, g.index(0), multiple), g.double(1), double(0.0))
            })
        }
        "eq-order" => Expr::if_(prim(Prim::Eq, g.index(0), g.index(0)), g.double(1), g.double(1)),
        "check-true" => {
            let n = g.count();
            g.build(n, |g| Expr::check(g.boolean(0), Status::Bounds, g.double(1)))
        }
        "if-let" if g.below(3) == 0 => {
            let value = Expr::if_(g.boolean(1), Expr::tuple(vec![g.double(1), g.double(1)]), Expr::tuple(vec![g.double(1), double(0.0)]));
            let (x, body) = g.bound("t", value.ty().clone(), |g, x| {
                let at = |k| Expr::proj(Expr::var(x), k);
                prim(Prim::Add, g.param("x"), prim(Prim::Mul, at(1), if g.below(2) == 0 { at(0) } else { g.double(1) }))
            });
            Expr::let_(x, value, body)
        }
        "if-let" => {
            let value = Expr::if_(g.boolean(1), g.double(1), double(0.0));
            let other = g.double(1);
            let (x, body) = g.bound("t", Type::Double, |g, x| {
                let x = Expr::var(x);
                let product = prim(Prim::Mul, x.clone(), g.double(1));
                prim(Prim::Add, product, prim(Prim::Div, x, g.double(1)))
            });
            let body = if g.below(2) == 0 && other.is_atom() { prim(Prim::Add, other, body) } else { body };
            Expr::let_(x, value, body)
        }
        _ => return arrays::instance(g, rule).or_else(|| loops::instance(g, rule)).or_else(|| updates::instance(g, rule)),
    })
}
