//! Scalars: every primitive at regular, tied and singular points; branches, lets, tuples, nesting.

use super::*;
use crate::ir::prim::{Derivative, Kind, ROWS};
use crate::ir::{Status, Type};

const POINTS: &[f64] = &[-2.5, -1.0, -0.3, -0.0, 0.0, 0.4, 0.9, 1.0, 1.7, 2.0, 3.0];

#[test]
fn laws_mention_a_tangent_once() {
    for row in ROWS {
        let laws = match row.derivative {
            Derivative::Zero => vec![],
            Derivative::Unary(law) => vec![law],
            Derivative::Binary { x, y, both } => vec![x, y, both],
        };
        for law in laws {
            let parsed = crate::ad::law::parse(law).unwrap();
            assert!(parsed.count("dx") <= 1 && parsed.count("dy") <= 1, "{law}");
        }
    }
}

#[test]
fn the_laws_in_each_of_both_add_up_to_the_law_of_both() {
    let law = |text: &'static str, names: &[(&str, f64)]| {
        let given: Vec<(&str, Expr)> = names.iter().map(|(name, value)| (*name, num(*value))).collect();
        double_of(&crate::ad::law::parse(text).unwrap().apply(&given).unwrap())
    };
    for row in ROWS {
        let Derivative::Binary { both, .. } = row.derivative else { continue };
        for (x, y) in POINTS.iter().flat_map(|x| POINTS.iter().map(move |y| (*x, *y))) {
            let r = double_of(&two(row.prim, &num(x), &num(y)));
            let shares = [("dx", 0), ("dy", 1)].map(|(tangent, operand)| {
                let share = row.prim.law_in(operand, true).unwrap();
                law(share, &[("x", x), ("y", y), ("r", r), (tangent, [0.7, -1.3][operand])])
            });
            let (sum, whole) = (shares[0] + shares[1], law(both, &[("x", x), ("y", y), ("r", r), ("dx", 0.7), ("dy", -1.3)]));
            let is_same = sum == whole || sum.is_nan() || whole.is_nan() || (sum - whole).abs() <= 1e-12 * (1.0 + whole.abs());
            assert!(is_same, "{} at {x}, {y}: {sum} and {whole}", row.name);
        }
    }
}

/// The Double that a term without variables is.
fn double_of(expr: &Expr) -> f64 {
    match eval(&main(&[], expr.clone()), "main", Vec::new()).unwrap().value {
        Value::Double(value) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn primitives_of_doubles() {
    for row in ROWS.iter().filter(|row| matches!(row.kind, Kind::Number | Kind::Double)) {
        if row.arity == 1 {
            let (var, x) = x();
            let first = main(&[&var], dual(&x, &num(1.5), |x| one(row.prim, x)));
            let (var, x) = super::x();
            let second = main(&[&var], derivative(&x, |x| derivative(&mul(x, &num(0.7)), |y| one(row.prim, &mul(x, y)))));
            for point in POINTS {
                agrees_at(&first, &[*point]);
                agrees_at(&second, &[*point]);
            }
            continue;
        }
        for active in [(true, false), (false, true), (true, true)] {
            let ((vx, x), (vy, y)) = (super::x(), super::x());
            let body = dual(&num(0.0), &num(1.5), |e| {
                let x = if active.0 { add(&x, e) } else { x.clone() };
                let y = if active.1 { add(&mul(e, &num(3.0)), &y) } else { y.clone() };
                two(row.prim, &x, &y)
            });
            let program = main(&[&vx, &vy], body);
            for x in POINTS {
                for y in POINTS {
                    agrees_at(&program, &[*x, *y]);
                }
            }
        }
    }
}

#[test]
fn polygamma_and_conversions() {
    let (var, x) = x();
    let body = dual(&x, &num(2.0), |x| {
        let truncated = one(Prim::ToDouble, &one(Prim::ToIndex, x));
        tuple(&[two(Prim::Polygamma, &int(1), x), mul(&truncated, x), one(Prim::Floor, x), two(Prim::Lt, x, &num(1.0))])
    });
    let program = main(&[&var], body);
    for point in [0.5, 1.5, 3.0] {
        agrees_at(&program, &[point]);
    }
}

#[test]
fn pairs_of_value_and_derivative() {
    let (var, x) = x();
    let program = main(&[&var], dual(&x, &num(1.0), |x| mul(x, &one(Prim::Sin, x))));
    is(&agrees_at(&program, &[2.0]), &[2.0 * 2f64.sin(), 2f64.sin() + 2.0 * 2f64.cos()]);
}

#[test]
fn perturbations_are_not_confused() {
    // d/dx (x * d/dy (x + y)) = 1
    let (var, x) = x();
    let body = derivative(&x, |x| mul(x, &derivative(&num(1.0), |y| add(x, y))));
    is(&agrees_at(&main(&[&var], body), &[3.0]), &[1.0]);
    // the inner point depends on x: d/dx (d/dy (x * y * y) at x * x) = d/dx (2 x^3) = 6 x^2
    let (var, x) = super::x();
    let body = derivative(&x, |x| derivative(&mul(x, x), |y| mul(x, &mul(y, y))));
    is(&agrees_at(&main(&[&var], body), &[3.0]), &[54.0]);
}

#[test]
fn third_derivatives() {
    let (var, x) = x();
    let f = |x: &Expr| two(Prim::Pow, x, &num(5.0));
    let body = dual(&x, &num(1.0), |x| dual(x, &num(1.0), |x| dual(x, &num(1.0), f)));
    is(&agrees_at(&main(&[&var], body), &[1.0]), &[1., 5., 5., 20., 5., 20., 20., 60.]);
    let (var, x) = super::x();
    let f = |x: &Expr| one(Prim::Exp, &two(Prim::Div, &one(Prim::Sin, x), &add(x, &num(2.0))));
    let body = derivative(&x, |x| derivative(x, |x| derivative(x, f)));
    agrees_at(&main(&[&var], body), &[0.7]);
}

#[test]
fn lets_made_outside_are_constants() {
    let (var, x) = x();
    let body = named("y", mul(&x, &x), |y| derivative(&x, |x| mul(y, x)));
    is(&agrees_at(&main(&[&var], body), &[3.0]), &[9.0]);
}

#[test]
fn branches() {
    let (var, x) = x();
    let body = dual(&x, &num(1.0), |x| {
        let then = named("y", mul(x, x), |y| tuple(&[y.clone(), num(7.0), int(1)]));
        let otherwise = tuple(&[one(Prim::Sqrt, x), num(8.0), int(2)]);
        Expr::if_(two(Prim::Lt, x, &num(0.0)), then, otherwise)
    });
    let program = main(&[&var], body);
    for point in [-2.0, 0.0, 4.0] {
        agrees_at(&program, &[point]);
    }
    let (var, x) = super::x();
    // only one branch has a tangent, and what is not taken does not contribute
    let body = dual(&x, &num(1.0), |x| {
        let safe = Expr::if_(two(Prim::Eq, x, &num(0.0)), num(1.0), two(Prim::Div, &one(Prim::Sin, x), x));
        named("s", safe, |s| mul(s, x))
    });
    let program = main(&[&var], body);
    is(&agrees_at(&program, &[0.0]), &[0.0, 1.0]);
    agrees_at(&program, &[0.5]);
}

#[test]
fn what_is_not_reached_has_no_tangent() {
    let ((vx, x), (vc, c)) = (x(), super::x());
    let body = dual(&x, &num(1.0), |x| {
        named("t", tuple(&[mul(&c, &c), mul(x, &c), one(Prim::Log, &c)]), |t| {
            add(&mul(&Expr::proj(t.clone(), 0), &num(2.0)), &two(Prim::Max, &Expr::proj(t.clone(), 2), x))
        })
    });
    let program = main(&[&vx, &vc], body);
    for c in [f64::INFINITY, f64::NAN, 0.0, 2.0] {
        agrees_at(&program, &[1.0, c]);
    }
    // an expression without x: derivative zero; a derivative times an infinity that x does not reach
    let ((vx, x), (vc, c)) = (super::x(), super::x());
    let body = tuple(&[dual(&x, &num(1.0), |_| one(Prim::Exp, &c)), dual(&x, &num(0.0), |x| add(x, &mul(&c, &c)))]);
    is(&agrees_at(&main(&[&vx, &vc], body), &[1.0, f64::INFINITY]), &[f64::INFINITY, 0.0, f64::INFINITY, 0.0]);
}

#[test]
fn checks_stay_with_their_places() {
    let (var, x) = x();
    let place = Span::new(0, 3, 7);
    let body =
        dual(&x, &num(1.0), |x| named("y", mul(x, x), |y| Expr::check(two(Prim::Gt, y, &num(1.0)), Status::Shape, mul(y, x)).at(place)));
    let program = main(&[&var], body);
    is(&agrees_at(&program, &[2.0]), &[8.0, 12.0]);
    fails_alike(&program, &[value(0.5)]);
}

#[test]
fn a_body_of_index_or_bool_stays() {
    let (var, x) = x();
    let program = main(&[&var], dual(&x, &num(1.0), |x| tuple(&[int(3), two(Prim::Lt, x, &num(0.0)), x.clone()])));
    assert_eq!(derived(&program).functions["main"].body.ty(), &Type::tuple(vec![Type::INDEX, Type::Bool, Type::Double.dual()]));
    agrees_at(&program, &[2.0]);
}
