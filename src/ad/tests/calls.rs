//! Calls: one derived function for each activity pattern, tuples and arrays as arguments and results.

use super::*;
use crate::ir::Type;

/// `f a b = (a * b, sin b, n)`.
fn f() -> Function {
    let (a, b) = (Var::fresh("a", Type::Double), Var::fresh("b", Type::Double));
    let body = tuple(&[mul(&Expr::var(&a), &Expr::var(&b)), one(Prim::Sin, &Expr::var(&b)), int(4)]);
    function("f", &[&a, &b], body)
}

#[test]
fn activity_patterns() {
    let f = f();
    let ((vx, x), (vc, c)) = (x(), super::x());
    let call = |a: &Expr, b: &Expr| Expr::call(&f, vec![a.clone(), b.clone()]);
    let body = dual(&x, &num(1.0), |x| {
        named("p", call(x, &c), |p| {
            let second = named("q", call(&c, x), |q| tuple(&[q.clone(), call(x, x), call(&c, &c), call(x, &num(2.0))]));
            tuple(&[p.clone(), mul(&Expr::proj(p.clone(), 0), &num(3.0)), second, call(&one(Prim::Floor, x), &c)])
        })
    });
    let program = program(vec![f.clone(), function("main", &[&vx, &vc], body)]);
    agrees_at(&program, &[1.5, 2.5]);
    agrees_at(&program, &[1.5, f64::INFINITY]);
    let names: Vec<String> = derived(&program).functions.keys().map(|name| name.to_string()).collect();
    assert_eq!(names, ["f_d_a", "f_d_b", "f_d", "f", "main"]);
}

#[test]
fn third_derivatives_through_calls() {
    let (a, y) = (Var::fresh("a", Type::Double), Var::fresh("y", Type::Double));
    let cube = function("cube", &[&a], mul(&Expr::var(&a), &mul(&Expr::var(&a), &Expr::var(&a))));
    let slope = derivative(&Expr::var(&y), |x| one(Prim::Exp, &Expr::call(&cube, vec![x.clone()])));
    let slope = function("slope", &[&y], slope);
    let (vx, x) = x();
    let body = derivative(&x, |x| derivative(x, |x| Expr::call(&slope, vec![mul(x, x)])));
    let program = program(vec![cube, slope, function("main", &[&vx], body)]);
    agrees_at(&program, &[0.8]);
}

#[test]
fn arrays_and_tuples_through_calls() {
    let n = Var::fresh("n", Type::INDEX);
    let (a, t) = (Var::fresh("a", vector(&n)), Var::fresh("t", Type::tuple(vec![Type::INDEX, Type::Double, vector(&n)])));
    let part = |k| Expr::proj(Expr::var(&t), k);
    let scaled = Expr::build(Expr::dim(Expr::var(&a), 0), "i", |i| mul(&get(&Expr::var(&a), &i), &mul(&part(1), &get(&part(2), &i))));
    let g = function("g", &[&a, &t], tuple(&[scaled, mul(&part(1), &part(1)), part(0)]));
    let (vv, w) = v("v");
    let body = gradient(&w, |v| {
        let exps = Expr::build(Expr::dim(v.clone(), 0), "i", |i| one(Prim::Exp, &get(v, &i)));
        let call = |a: &Expr, t: &[Expr]| Expr::call(&g, vec![a.clone(), tuple(t)]);
        named("e", exps, |e| {
            named("r", call(e, &[int(1), num(2.0), v.clone()]), |r| {
                let again = call(&w, &[int(1), Expr::proj(r.clone(), 1), Expr::proj(r.clone(), 0)]);
                tuple(&[r.clone(), sum(&Expr::proj(r.clone(), 0)), again, call(&w, &[int(2), num(3.0), w.clone()])])
            })
        })
    });
    let program = program(vec![g.clone(), function("main", &[&vv], body)]);
    agrees(&program, &[Value::vector(&[0.5, 1.5, -1.0])]);
    agrees(&program, &[Value::vector(&[])]);
}

#[test]
fn only_what_is_reached_is_kept() {
    let ((va, a), (vx, x)) = (x(), super::x());
    let unused = function("unused", &[&va], a);
    let program = program(vec![unused, function("main", &[&vx], derivative(&x, |x| mul(x, x)))]);
    assert_eq!(derived(&program).functions.keys().map(|name| &**name).collect::<Vec<_>>(), ["main"]);
}

#[test]
fn derived_names_are_free() {
    let taken = Var::fresh("a", Type::Double);
    let taken = function("f_d", &[&taken], Expr::var(&taken));
    let f = f();
    let (vx, x) = x();
    let body = dual(&x, &num(1.0), |x| Expr::call(&f, vec![x.clone(), Expr::call(&taken, vec![x.clone()])]));
    let program = program(vec![taken, f.clone(), function("main", &[&vx], body)]);
    agrees_at(&program, &[1.5]);
    let names: Vec<String> = derived(&program).functions.keys().map(|name| name.to_string()).collect();
    assert_eq!(names, ["f_d_d", "f_d_2", "main"]);
}
