//! Every rule by itself: on random terms that it applies to, the result has the same value and fails only
//! where the original did.
//!
//! A law makes its own instances; a rule that is a function needs a line in [`instance`], and the walk over
//! the table fails without one.

use crate::ir::eval::{Value, eval};
use crate::ir::{Expr, Prim, Program, Size, Status, Type};
use crate::rewrite::derivation::Log;
use crate::rewrite::engine::Budget;
use crate::rewrite::facts::Facts;
use crate::rewrite::generate::Generator;
use crate::rewrite::interpret::Interpreter;
use crate::rewrite::rule::{Apply, Rule};
use crate::rewrite::strategy::{Combinator, Strategy};
use crate::stack::with_large_stack;

/// How many terms each rule must rewrite, and at most how many are tried for that.
const FIRED: usize = 60;
const TRIED: u64 = 5000;

#[test]
fn every_law_parses() {
    for rule in super::all() {
        if let Apply::Law(law) = &rule.apply {
            assert!(!law.is_empty(), "{}: {}", rule.name, law_error(rule));
        }
    }
}

fn law_error(rule: &Rule) -> String {
    crate::rewrite::law::Law::parse(rule.law, 0).err().map(|error| error.message).unwrap_or_default()
}

#[test]
fn rule_names_are_unique() {
    let mut names: Vec<_> = super::all().map(|rule| rule.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn every_rule_keeps_values_and_adds_no_error() {
    with_large_stack(|| {
        let mut failures = Vec::new();
        for rule in super::all() {
            failures.extend(check_rule(rule));
        }
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    });
}

/// What is wrong with the rule, if anything.
fn check_rule(rule: &'static Rule) -> Option<String> {
    let mut fired = 0;
    for seed in 0..TRIED {
        let mut generator = Generator::new(seed + 1);
        let Some(body) = in_context(&mut generator, rule) else { return Some(format!("{} has no instances to be tested on", rule.name)) };
        let before = generator.program(body.clone());
        // a law over both number types may have been given both
        if crate::ir::check::check(&before).is_err() {
            continue;
        }
        let Some(after) = apply_once(rule, &before, &body) else { continue };
        let after = generator.program(after);
        if let Err(problem) = crate::ir::check::check(&after) {
            return Some(format!("{} at seed {seed}: {problem}\nbefore {}after  {}", rule.name, print(&before), print(&after)));
        }
        for _ in 0..6 {
            let arguments = generator.arguments();
            if let Some(difference) = compare(&before, &after, &arguments) {
                return Some(format!(
                    "{} at seed {seed}: {difference}\nbefore {}after  {}for {arguments:?}",
                    rule.name,
                    print(&before),
                    print(&after)
                ));
            }
        }
        fired += 1;
        if fired == FIRED {
            return None;
        }
    }
    Some(format!("{} fired only {fired} times in {TRIED} terms", rule.name))
}

fn print(program: &Program) -> String {
    program.functions.get("f").map(crate::ir::print::function).unwrap_or_default()
}

fn apply_once(rule: &'static Rule, program: &Program, body: &Expr) -> Option<Expr> {
    let mut facts = Facts::new(program.clone(), false);
    let function = program.functions.get("f")?;
    facts.enter_function(function);
    let mut budget = Budget { steps: 0, step_limit: 1000, visited: 0 };
    let mut log = Log::new(false);
    let strategy = Strategy::With(Combinator::Topdown, Strategy::Rule(rule).into());
    Interpreter { facts: &mut facts, budget: &mut budget, log: &mut log, enabled: &|_| true }.apply(&strategy, body).ok()?
}

fn compare(before: &Program, after: &Program, arguments: &[Value]) -> Option<String> {
    let Ok(expected) = eval(before, "f", arguments.to_vec()) else { return None };
    match eval(after, "f", arguments.to_vec()) {
        Ok(found) if close(&expected.value, &found.value, expected.trace.largest.max(1.0)) => None,
        Ok(found) => Some(format!("{:?} became {:?}", expected.value, found.value)),
        Err(error) => Some(format!("a new error: {}", error.message)),
    }
}

pub fn close(a: &Value, b: &Value, scale: f64) -> bool {
    match (a, b) {
        (Value::Double(x), Value::Double(y)) => !x.is_finite() || x == y || (x - y).abs() <= 1e-9 * scale,
        (Value::Tuple(xs), Value::Tuple(ys)) => xs.iter().zip(ys.iter()).all(|(x, y)| close(x, y, scale)),
        (Value::Array(xs), Value::Array(ys)) => {
            xs.items.len() == ys.items.len() && xs.items.iter().zip(&ys.items).all(|(x, y)| close(x, y, scale))
        }
        (Value::Index(x), Value::Index(y)) => x == y,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        _ => false,
    }
}

/// An instance of the rule's left side, by itself or below a loop, a condition or a let.
fn in_context(g: &mut Generator, rule: &Rule) -> Option<Expr> {
    let make = |g: &mut Generator| match &rule.apply {
        Apply::Law(law) => law.instance(g),
        Apply::Function(_) => instance(g, rule.name),
    };
    match g.below(6) {
        0 => {
            let n = g.count();
            let mut made = None;
            let build = g.build(n, |g| {
                made = make(g);
                made.clone().unwrap_or(Expr::double(0.0))
            });
            made.map(|_| build)
        }
        1 => Some(Expr::if_(g.boolean(1), make(g)?, make(g)?)),
        2 => {
            let value = g.index(1);
            let (x, body) = g.bound("q", Type::INDEX, |g, _| make(g));
            Some(Expr::let_(x, value, body?))
        }
        _ => make(g),
    }
}

fn double(value: f64) -> Expr {
    Expr::double(value)
}

fn prim(prim: Prim, a: Expr, b: Expr) -> Expr {
    Expr::prim(prim, vec![a, b])
}

/// A term that the function-defined rule may apply to.
fn instance(g: &mut Generator, rule: &str) -> Option<Expr> {
    Some(match rule {
        "pow-two" => prim(Prim::Pow, g.double(2), double(2.0)),
        "const-fold" => match g.below(3) {
            0 => prim([Prim::Add, Prim::Mul, Prim::Div, Prim::Lt][g.below(4)], double(1.5), double(g.below(3) as f64)),
            1 => prim([Prim::Add, Prim::Div, Prim::Rem, Prim::Eq][g.below(4)], Expr::index(7), Expr::index(g.below(3) as i64)),
            _ => Expr::prim([Prim::Neg, Prim::Sign, Prim::Floor, Prim::Cos][g.below(4)], vec![double(g.below(3) as f64 - 1.0)]),
        },
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
        "length-size" => match g.below(3) {
            0 => Expr::dim(g.param("M"), g.below(2)),
            1 => Expr::dim(Expr::get(g.param("M"), g.index(0)), 0),
            _ => Expr::dim(g.param("u"), 0),
        },
        "build-eta" => {
            let array = if g.below(2) == 0 { g.vector(0) } else { Expr::get(g.param("M"), g.index(0)) };
            let n = if g.below(4) == 0 { g.count() } else { Expr::dim(array.clone(), 0) };
            Expr::build(n, "i", |i| Expr::get(array, i))
        }
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
            let value = g.double(1);
            let (z, body) = g.bound("z", Type::Double, |g, z| {
                let z = Expr::var(z);
                let quotient = |g: &mut Generator, z: &Expr| prim(Prim::Div, g.double(1), z.clone());
                if rule == "reciprocal" {
                    let parts: Vec<Expr> = (0..5).map(|_| quotient(g, &z)).collect();
                    return parts.into_iter().reduce(|a, b| prim(Prim::Add, a, b)).unwrap_or(z);
                }
                Expr::bind("r", prim(Prim::Div, double(1.0), z.clone()), |r| prim(Prim::Add, quotient(g, &z), r))
            });
            Expr::let_(z, value, body)
        }
        "if-components" => {
            let (a, b) = (g.double(1), g.double(1));
            let branch =
                |g: &mut Generator| Expr::bind("s", g.double(1), |s| Expr::tuple(vec![Expr::tuple(vec![s.clone(), g.double(1)]), s]));
            let value = Expr::if_(prim(Prim::Lt, a, b), branch(g), branch(g));
            let (ty, k) = (value.ty().clone(), g.below(2));
            let (x, body) = g.bound("t", ty, |g, x| {
                let pair = Expr::proj(Expr::var(x), 0);
                prim(Prim::Mul, prim(Prim::Add, Expr::proj(pair, k), Expr::proj(Expr::var(x), 1)), g.double(1))
            });
            Expr::let_(x, value, body)
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
                    let hot =
                        if g.below(2) == 0 { Expr::if_(cond, g.double(1), double(0.0)) } else { Expr::if_(cond, double(0.0), g.double(1)) };
                    let (rest, other) = (g.double(1), g.double(1));
                    let sum = if g.below(2) == 0 { prim(Prim::Sub, rest, hot) } else { prim(Prim::Add, hot, rest) };
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
                            let term = prim(Prim::Mul, element(g, &i, &j), prim(Prim::Mul, around, Expr::get(g.param("u"), j)));
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
                        0 => Expr::proj(element, 1),
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
        "beta" => g.call(),
        "if-assume" => Expr::if_(g.boolean(1), Expr::if_(g.boolean(0), g.double(1), g.double(1)), g.double(1)),
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
        "eq-order" => Expr::if_(prim(Prim::Eq, g.index(0), g.index(0)), g.double(1), g.double(1)),
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
        "hoist-check" => {
            let n = g.count();
            g.build(n, |g| Expr::check(g.boolean(1), Status::Bounds, g.double(1)))
        }
        "check-true" => {
            let n = g.count();
            g.build(n, |g| Expr::check(g.boolean(0), Status::Bounds, g.double(1)))
        }
        "fold-zero" => loop_of(g, Expr::index(0), |g| g.double(2)),
        "fold-unroll" => {
            let n = Expr::index(g.below(5) as i64);
            loop_of(g, n, |g| g.double(2))
        }
        "fold-id" | "fold-one-hot" | "fold-unswitch" => {
            let (n, init) = (g.count(), g.double(1));
            let bound = Type::Index(Some(Size::of_expr(&n)));
            let (s, (i, body)) = g.bound("s", Type::Double, |g, s| {
                let s = Expr::var(s);
                g.bound("i", bound, |g, i| match rule {
                    "fold-id" => s.clone(),
                    "fold-one-hot" => {
                        let (i, k) = (Expr::var(i), g.index(1));
                        let cond = if g.below(2) == 0 { prim(Prim::Eq, i, k) } else { prim(Prim::Eq, k, i) };
                        Expr::if_(cond, g.double(2), s.clone())
                    }
                    _ if g.below(2) == 0 => Expr::if_(g.boolean(1), g.double(2), s.clone()),
                    _ => Expr::if_(g.boolean(1), s.clone(), g.double(2)),
                })
            });
            Expr::fold_with(n, s, i, body, init)
        }
        "sum-split" => {
            let n = g.count();
            let init = g.double(1);
            let bound = Type::Index(Some(Size::of_expr(&n)));
            let (s, (i, body)) = g.bound("s", Type::Double, |g, s| {
                let s = Expr::var(s);
                g.bound("i", bound, |g, i| {
                    let cond = if g.below(2) == 0 { prim(Prim::Eq, Expr::var(i), g.index(1)) } else { g.boolean(1) };
                    let hot = Expr::if_(cond, g.double(1), double(0.0));
                    let rest = g.double(1);
                    if g.below(2) == 0 {
                        prim(Prim::Add, s, prim(Prim::Sub, rest, hot))
                    } else {
                        prim(Prim::Add, prim(Prim::Add, s, hot), rest)
                    }
                })
            });
            Expr::fold_with(n, s, i, body, init)
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
        "fold-project" | "fold-fission" => {
            let fold = pair_fold(g);
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

/// A random product or quotient of terms of a pool.
fn product(g: &mut Generator, pool: &[Expr], factors: usize) -> Expr {
    let mut whole = crate::ir::subst::freshen(&pool[g.below(pool.len())]);
    for _ in 0..factors {
        let factor = crate::ir::subst::freshen(&pool[g.below(pool.len())]);
        // what is divided by and cancelled is not zero
        whole = if g.below(3) == 0 { prim(Prim::Div, whole, Expr::prim(Prim::Exp, vec![factor])) } else { prim(Prim::Mul, whole, factor) };
    }
    whole
}

fn loop_of(g: &mut Generator, n: Expr, f: impl FnOnce(&mut Generator) -> Expr) -> Expr {
    let init = g.double(1);
    let bound = Type::Index(Some(Size::of_expr(&n)));
    let (s, (i, body)) = g.bound("s", Type::Double, |g, _| g.bound("i", bound, |g, _| f(g)));
    Expr::fold_with(n, s, i, body, init)
}

/// A fold over a pair whose components may or may not depend on each other.
fn pair_fold(g: &mut Generator) -> Expr {
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
