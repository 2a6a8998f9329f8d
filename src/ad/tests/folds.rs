//! Folds: scalar, tuple and array states; activity that spreads from step to step; no steps at all.

use super::*;
use crate::ir::Type;

#[test]
fn powers() {
    let ((vx, x), n) = (x(), Var::fresh("n", Type::INDEX));
    let body = dual(&x, &num(1.0), |x| Expr::fold(Expr::var(&n), "p", "i", num(1.0), |p, _| mul(&p, x)));
    let program = main(&[&vx, &n], body);
    is(&agrees(&program, &[value(2.0), Value::Index(3)]), &[8.0, 12.0]);
    is(&agrees(&program, &[value(2.0), Value::Index(0)]), &[1.0, 0.0]);
    fails_alike(&program, &[value(2.0), Value::Index(-1)]);
}

#[test]
fn tuple_states_spread_activity() {
    let ((vx, x), (vc, c)) = (x(), super::x());
    let body = dual(&x, &num(1.0), |x| {
        let init = tuple(&[num(0.0), num(1.0), x.clone(), c.clone(), int(0)]);
        let part = |s: &Expr, k| Expr::proj(s.clone(), k);
        let state = Expr::fold(int(5), "s", "i", init, |s, i| {
            let step = tuple(&[part(&s, 1), part(&s, 2), mul(&part(&s, 2), &num(1.5)), mul(&part(&s, 3), &c), i]);
            Expr::if_(two(Prim::Lt, &part(&s, 0), &num(100.0)), step, s.clone())
        });
        named("s", state, |s| tuple(&[s.clone(), mul(&part(s, 3), &num(2.0)), mul(&part(s, 0), &part(s, 1))]))
    });
    let program = main(&[&vx, &vc], body);
    agrees_at(&program, &[2.0, 3.0]);
    agrees_at(&program, &[2.0, f64::INFINITY]);
    agrees_at(&program, &[2.0, f64::NAN]);
}

#[test]
fn array_states() {
    for prim in [Prim::Neg, Prim::Sin] {
        let ((vv, w), n) = (v("v"), Var::fresh("n", Type::INDEX));
        let body = gradient(&w, |v| {
            let zeros = Expr::build(Expr::dim(v.clone(), 0), "i", |_| num(0.0));
            let state = Expr::fold(Expr::var(&n), "a", "t", zeros, |a, t| {
                Expr::build(Expr::dim(a.clone(), 0), "i", |i| add(&one(prim, &get(&a, &i)), &mul(&get(v, &i), &one(Prim::ToDouble, &t))))
            });
            let pair = Expr::fold(Expr::var(&n), "p", "t", tuple(&[v.clone(), num(0.0)]), |p, _| {
                let a = Expr::proj(p.clone(), 0);
                let next = Expr::build(Expr::dim(a.clone(), 0), "i", |i| mul(&get(&a, &i), &get(&a, &int(0))));
                tuple(&[next, add(&Expr::proj(p.clone(), 1), &sum(&a))])
            });
            named("a", state, |a| tuple(&[sum(a), a.clone(), pair]))
        });
        let program = main(&[&vv, &n], body);
        for n in [0, 1, 3] {
            agrees(&program, &[Value::vector(&[0.5, -2.0]), Value::Index(n)]);
            agrees(&program, &[Value::vector(&[]), Value::Index(if n == 1 { 0 } else { n.min(0) })]);
        }
    }
}

#[test]
fn nested_folds() {
    let (var, w) = v("v");
    let body = gradient(&w, |v| {
        Expr::fold(int(3), "s", "i", num(0.0), |s, _| {
            Expr::fold(Expr::dim(v.clone(), 0), "t", "j", one(Prim::Cos, &s), |t, j| {
                let inner = Expr::fold(int(2), "u", "k", num(1.0), |u, _| mul(&u, &get(v, &j)));
                add(&t, &mul(&inner, &s))
            })
        })
    });
    agrees(&main(&[&var], body), &[Value::vector(&[0.3, 1.2])]);
}

#[test]
fn states_that_x_does_not_reach_stay() {
    let ((vx, x), (vc, c)) = (x(), super::x());
    let body = dual(&x, &num(1.0), |x| {
        let grown = Expr::fold(int(4), "s", "i", c.clone(), |s, _| mul(&s, &s));
        add(&mul(x, &num(2.0)), &grown)
    });
    let program = main(&[&vx, &vc], body);
    is(&agrees_at(&program, &[1.0, 1e200]), &[f64::INFINITY, 2.0]);
    let text = format!("{:?}", derived(&program).functions["main"].body);
    assert_eq!(text.matches("Fold").count(), 1);
}
