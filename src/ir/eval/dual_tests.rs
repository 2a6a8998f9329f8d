//! `dual`: nesting, perturbations, activity, and every primitive's derivative against differences.

use super::real::polygamma;
use super::{Value, eval};
use crate::ir::prim::{Derivative, Kind, Prim, ROWS};
use crate::ir::program::{Function, Program};
use crate::ir::term::{Expr, Type, Var};

fn function(name: &str, params: Vec<Var>, body: Expr) -> Function {
    Function::entry(name, Vec::new(), params, body)
}

fn program(functions: Vec<Function>) -> Program {
    Program { functions: functions.into_iter().map(|f| (f.name.clone(), f)).collect() }
}

/// The value of `body(x)` at a Double.
fn at(x: f64, body: impl FnOnce(Expr) -> Expr) -> Vec<f64> {
    let param = Var::fresh("x", Type::Double);
    let body = body(Expr::var(&param));
    eval(&program(vec![function("f", vec![param], body)]), "f", vec![Value::Double(x)]).unwrap().value.doubles()
}

/// `dual(y = at, dy = 1). body(y)`
fn dual(at: Expr, body: impl FnOnce(Expr) -> Expr) -> Expr {
    let y = Var::fresh("y", at.ty().clone());
    let body = body(Expr::var(&y));
    Expr::dual(y, at, Expr::double(1.0), body)
}

fn derivative(at: Expr, body: impl FnOnce(Expr) -> Expr) -> Expr {
    Expr::proj(dual(at, body), 1)
}

fn mul(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Mul, vec![a, b])
}

fn add(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Add, vec![a, b])
}

fn lt(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Lt, vec![a, b])
}

#[test]
fn third_derivative_of_a_cube() {
    let cube = |x: Expr| mul(x.clone(), mul(x.clone(), x));
    assert_eq!(at(5.0, |x| derivative(x, |x| derivative(x, |x| derivative(x, cube)))), [6.0]);
    assert_eq!(at(5.0, |x| dual(x, |x| dual(x, cube))), [125.0, 75.0, 75.0, 30.0]);
}

#[test]
fn perturbations_are_not_confused() {
    // d/dx (x * d/dy (x + y)) = 1
    assert_eq!(at(1.0, |x| derivative(x, |x| mul(x.clone(), derivative(Expr::double(1.0), |y| add(x, y))))), [1.0]);
    // d/dx (x * d/dy (x * y)) = 2x
    assert_eq!(at(7.0, |x| derivative(x, |x| mul(x.clone(), derivative(Expr::double(3.0), |y| mul(x, y))))), [14.0]);
}

#[test]
fn a_variable_computed_from_the_point_is_constant() {
    assert_eq!(at(3.0, |x| Expr::bind("y", mul(x.clone(), x.clone()), |y| derivative(x, |x| mul(y, x)))), [9.0]);
}

#[test]
fn hessian_of_a_product_of_components() {
    // f v = v0 * v0 * v1 at (2, 5): [[2 v1, 2 v0], [2 v0, 0]]
    let v = Var::fresh("v", Type::array(Type::Double, crate::ir::Size::constant(2)));
    let hot =
        |k: Expr| Expr::build(Expr::index(2), "j", |j| Expr::if_(Expr::prim(Prim::Eq, vec![j, k]), Expr::double(1.0), Expr::double(0.0)));
    let along = |at: Expr, k: Expr, body: &dyn Fn(Expr) -> Expr| {
        let w = Var::fresh("w", at.ty().clone());
        let inner = body(Expr::var(&w));
        Expr::proj(Expr::dual(w, at, hot(k), inner), 1)
    };
    let f = |v: Expr| {
        let (a, b) = (Expr::get(v.clone(), Expr::index(0)), Expr::get(v, Expr::index(1)));
        mul(mul(a.clone(), a), b)
    };
    let body =
        Expr::build(Expr::index(2), "r", |r| Expr::build(Expr::index(2), "c", |c| along(Expr::var(&v), r, &|v| along(v, c.clone(), &f))));
    let value = eval(&program(vec![function("h", vec![v], body)]), "h", vec![Value::vector(&[2.0, 5.0])]).unwrap().value;
    assert_eq!(value, Value::matrix(2, 2, &[10.0, 4.0, 4.0, 0.0]));
}

#[test]
fn through_a_fold_over_a_tuple_and_an_array() {
    // (x, 1) → (a * b, a) three times, from (x, x): exponents 1,1 → 2,1 → 3,2 → 5,3
    let body = |x: Expr| {
        Expr::fold(Expr::index(3), "s", "i", Expr::tuple(vec![x.clone(), x]), |s, _| {
            Expr::tuple(vec![mul(Expr::proj(s.clone(), 0), Expr::proj(s.clone(), 1)), Expr::proj(s, 0)])
        })
    };
    assert_eq!(at(2.0, |x| dual(x, body)), [32.0, 80.0, 8.0, 12.0]);
    // an accumulator that starts without a tangent: [1, 1] doubled by x in every step
    let body = |x: Expr| {
        let ones = Expr::array(Type::Double, vec![Expr::double(1.0), Expr::double(1.0)]);
        Expr::fold(Expr::index(3), "s", "i", ones, |s, _| Expr::build(Expr::index(2), "j", |j| mul(x.clone(), Expr::get(s.clone(), j))))
    };
    assert_eq!(at(2.0, |x| dual(x, body)), [8.0, 12.0, 8.0, 12.0]);
}

#[test]
fn through_calls() {
    let p = Var::fresh("p", Type::Double);
    let square = function("square", vec![p.clone()], mul(Expr::var(&p), Expr::var(&p)));
    let x = Var::fresh("x", Type::Double);
    let body = derivative(Expr::var(&x), |y| derivative(y, |z| Expr::call(&square, vec![Expr::call(&square, vec![z])])));
    let program = program(vec![square.clone(), function("f", vec![x], body)]);
    assert_eq!(eval(&program, "f", vec![Value::Double(2.0)]).unwrap().value, Value::Double(48.0));
}

#[test]
fn the_text_decides_what_has_a_tangent() {
    let sqrt = |x: Expr| Expr::prim(Prim::Sqrt, vec![x]);
    // not reached: no 0 * inf
    assert_eq!(at(1.0, |x| dual(x, |y| add(y, sqrt(Expr::double(0.0))))), [1.0, 1.0]);
    // reached through the branch not taken: a zero tangent meets an infinite slope
    let joined = |y: Expr| Expr::if_(lt(y.clone(), Expr::double(2.0)), Expr::double(0.0), y);
    assert!(at(1.0, |x| derivative(x, |y| sqrt(joined(y))))[0].is_nan());
    // the same through an accumulator whose one step is never made
    let folded = |y: Expr| Expr::fold(Expr::index(0), "s", "i", Expr::double(0.0), |s, _| add(s, y));
    assert!(at(1.0, |x| derivative(x, |y| sqrt(folded(y))))[0].is_nan());
    // but not through another component
    let pair = |y: Expr| Expr::fold(Expr::index(2), "s", "i", Expr::tuple(vec![Expr::double(0.0), y]), |s, _| s);
    assert_eq!(at(1.0, |x| derivative(x, |y| sqrt(Expr::proj(pair(y), 0)))), [0.0]);
    // an untaken branch never contributes
    let guarded = |y: Expr| Expr::if_(lt(Expr::double(0.0), y.clone()), sqrt(y), Expr::double(0.0));
    assert_eq!(at(0.0, |x| dual(x, guarded)), [0.0, 0.0]);
}

#[test]
fn ties_and_singular_points() {
    let prim = |prim: Prim, args: Vec<Expr>| Expr::prim(prim, args);
    let of_y = |p: Prim| move |y: Expr| prim(p, vec![y]);
    assert_eq!(at(0.0, |x| dual(x, of_y(Prim::Abs))), [0.0, 0.0]);
    assert_eq!(at(-2.0, |x| dual(x, of_y(Prim::Abs))), [2.0, -1.0]);
    assert_eq!(at(0.5, |x| dual(x, of_y(Prim::Sign))), [1.0, 0.0]);
    assert_eq!(at(0.0, |x| dual(x, of_y(Prim::Sqrt))), [0.0, f64::INFINITY]);
    assert_eq!(at(1.0, |x| dual(x, |y| prim(Prim::Min, vec![y.clone(), mul(y.clone(), y)]))), [1.0, 1.0]);
    assert_eq!(at(1.0, |x| dual(x, |y| prim(Prim::Max, vec![Expr::double(1.0), y]))), [1.0, 0.0]);
    assert_eq!(at(0.0, |x| dual(x, |y| prim(Prim::Pow, vec![y, Expr::double(0.0)]))), [1.0, 0.0]);
    assert_eq!(at(0.0, |x| dual(x, |y| prim(Prim::Pow, vec![y, Expr::double(2.0)]))), [0.0, 0.0]);
    assert_eq!(at(2.0, |x| dual(x, |y| prim(Prim::Pow, vec![Expr::double(0.0), y]))), [0.0, 0.0]);
}

/// Operands at which the primitive is smooth.
fn smooth_points(prim: Prim) -> &'static [[f64; 2]] {
    match prim {
        Prim::Log | Prim::Sqrt | Prim::Pow | Prim::Log1p | Prim::Log2 | Prim::Log10 => &[[0.7, 1.3], [2.5, -0.6], [1.5, 2.0]],
        Prim::Acosh => &[[1.3, 0.0], [7.5, 0.0]],
        Prim::Asin | Prim::Acos | Prim::Atanh => &[[0.3, 0.0], [-0.8, 0.0]],
        Prim::Lgamma | Prim::Polygamma => &[[0.4, 0.4], [3.7, 3.7], [-1.6, -1.6], [30.0, 30.0]],
        _ => &[[0.6, 1.7], [-1.2, 0.4], [2.3, -3.1]],
    }
}

/// Value and tangent of `prim` where the operands marked are `y`-dependent: operand k is `point[k] + y`.
fn value_and_tangent(prim: Prim, point: [f64; 2], active: [bool; 2], y: f64) -> Vec<f64> {
    let row = prim.row();
    at(y, |x| {
        dual(x, |y| {
            let operand = |k: usize| if active[k] { add(Expr::double(point[k]), y.clone()) } else { Expr::double(point[k]) };
            if row.kind == Kind::IndexDoubleToDouble {
                return Expr::prim(prim, vec![Expr::index(1), operand(1)]);
            }
            Expr::prim(prim, (0..row.arity).map(operand).collect())
        })
    })
}

#[test]
fn every_primitives_derivative_agrees_with_differences() {
    let mut checked = 0;
    for row in ROWS {
        let gives_double = matches!(row.kind, Kind::Number | Kind::Double | Kind::IndexDoubleToDouble);
        if !gives_double {
            assert_eq!(row.derivative, Derivative::Zero, "{}", row.name);
            continue;
        }
        for point in smooth_points(row.prim) {
            let patterns: &[[bool; 2]] = match row.arity {
                1 => &[[true, false]],
                _ if row.kind == Kind::IndexDoubleToDouble => &[[false, true]],
                _ => &[[true, false], [false, true], [true, true]],
            };
            for active in patterns {
                if row.prim == Prim::Pow && active[1] && point[0] <= 0.0 {
                    continue;
                }
                let h = 1e-5;
                let tangent = value_and_tangent(row.prim, *point, *active, 0.0)[1];
                let (up, down) = (value_and_tangent(row.prim, *point, *active, h), value_and_tangent(row.prim, *point, *active, -h));
                let difference = (up[0] - down[0]) / (2.0 * h);
                let close = (tangent - difference).abs() <= 1e-6 * tangent.abs().max(1.0);
                assert!(close, "{} at {point:?}, active {active:?}: {tangent}, by differences {difference}", row.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 80);
}

#[test]
fn polygamma_values() {
    let close = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 1e-13, "{found}, wanted {wanted}");
    close(polygamma(0, 1.0), -0.577_215_664_901_532_9);
    close(polygamma(0, 0.5), -1.963_510_026_021_423_5);
    close(polygamma(0, -0.5), 0.036_489_973_978_576_52);
    close(polygamma(0, 100.0), 4.600_161_852_738_087);
    close(polygamma(1, 1.0), std::f64::consts::PI.powi(2) / 6.0);
    close(polygamma(1, 0.25), std::f64::consts::PI.powi(2) + 8.0 * 0.915_965_594_177_219);
    close(polygamma(1, -0.5), std::f64::consts::PI.powi(2) / 2.0 + 4.0);
    close(polygamma(2, 1.0), -2.0 * 1.202_056_903_159_594_2);
    close(polygamma(3, 1.0), std::f64::consts::PI.powi(4) / 15.0);
    close(polygamma(2, -0.5), -0.828_796_644_234_319_5);
    assert!(polygamma(0, -3.0).is_nan());
}

#[test]
fn a_large_jacobian() {
    // residual r of 3000, along each of 24 directions: (p[r % 24] * r - 1)²
    let p = Var::fresh("p", Type::array(Type::Double, crate::ir::Size::constant(24)));
    let body = Expr::build(Expr::index(24), "k", |k| {
        let hot = Expr::build(Expr::index(24), "j", |j| Expr::if_(Expr::prim(Prim::Eq, vec![j, k]), Expr::double(1.0), Expr::double(0.0)));
        let q = Var::fresh("q", p.ty().clone());
        let residuals = Expr::build(Expr::index(3000), "r", |r| {
            let read = Expr::get(Expr::var(&q), Expr::prim(Prim::Rem, vec![r.clone(), Expr::index(24)]));
            let term = Expr::prim(Prim::Sub, vec![mul(read, Expr::prim(Prim::ToDouble, vec![r])), Expr::double(1.0)]);
            Expr::bind("t", term, |t| mul(t.clone(), t))
        });
        Expr::dual(q, Expr::var(&p), hot, residuals)
    });
    let value = eval(&program(vec![function("j", vec![p], body)]), "j", vec![Value::vector(&[1.0; 24])]).unwrap().value;
    assert_eq!(value.dims(), [24, 3000]);
    // row 2, residual 26: 2 * (26 - 1) * 26
    assert_eq!(value.items()[2].items()[26], Value::tuple(vec![Value::Double(625.0), Value::Double(1300.0)]));
}

#[test]
fn functions_do_not_overflow_on_the_way() {
    let unary = |prim: Prim, x: f64| at(x, |x| dual(x, |y| Expr::prim(prim, vec![y])));
    assert_eq!(unary(Prim::Sigmoid, 1e308), [1.0, 0.0]);
    assert_eq!(unary(Prim::Sigmoid, -1e308), [0.0, 0.0]);
    assert_eq!(unary(Prim::Softplus, 1e308), [1e308, 1.0]);
    assert_eq!(unary(Prim::Softplus, -1e308), [0.0, 0.0]);
    let far = |x: f64| at(x, |x| dual(x, |y| Expr::prim(Prim::Hypot, vec![y, Expr::double(4e200)])));
    let [length, slope] = far(3e200)[..] else { panic!("a number and its tangent") };
    assert!((length / 5e200 - 1.0).abs() < 1e-15 && (slope - 0.6).abs() < 1e-15);
    // where both are 0 there is no direction
    assert_eq!(at(0.0, |x| dual(x, |y| Expr::prim(Prim::Hypot, vec![y, Expr::double(0.0)]))), [0.0, 0.0]);
    // half to even
    for (x, wanted) in [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-1.5, -2.0)] {
        assert_eq!(unary(Prim::Round, x), [wanted, 0.0]);
    }
}
