//! Arrays: builds cheap and dear, reads, literals, arrays of tuples, matrices, empty arrays, errors.

use super::*;
use crate::ir::Type;

fn vec_of(items: &[f64]) -> Value {
    Value::vector(items)
}

#[test]
fn gradient_of_a_sum_of_squares() {
    let (var, v) = v("v");
    let body = gradient(&v, |v| Expr::fold(Expr::dim(v.clone(), 0), "s", "k", num(0.0), |s, k| add(&s, &mul(&get(v, &k), &get(v, &k)))));
    let program = main(&[&var], body);
    is(&agrees(&program, &[vec_of(&[1.0, 2.0])]), &[5.0, 2.0, 5.0, 4.0]);
    agrees(&program, &[vec_of(&[])]);
}

#[test]
fn builds_read_by_element_and_whole() {
    for prim in [Prim::Neg, Prim::Exp] {
        let (var, w) = v("v");
        let body = gradient(&w, |v| {
            let squares = Expr::build(Expr::dim(v.clone(), 0), "i", |i| named("y", get(v, &i), |y| mul(y, &one(prim, y))));
            named("w", squares, |w| {
                let negative = two(Prim::Lt, &get(w, &int(0)), &num(0.0));
                let longer = two(Prim::Lt, &int(1), &Expr::dim(w.clone(), 0));
                let scaled = Expr::build(Expr::dim(w.clone(), 0), "i", |i| mul(&get(w, &i), &get(w, &int(0))));
                tuple(&[Expr::if_(negative, sum(w), named("scaled", scaled, sum)), w.clone(), longer])
            })
        });
        let program = main(&[&var], body);
        agrees(&program, &[vec_of(&[1.0, 2.0, -0.5])]);
        agrees(&program, &[vec_of(&[-3.0])]);
        agrees(&program, &[vec_of(&[])]);
    }
}

#[test]
fn matrices() {
    let (var, m) = m("m");
    let body = dual(&m, &Expr::build(Expr::dim(m.clone(), 0), "i", |_| Expr::build(Expr::dim(m.clone(), 1), "j", |_| num(0.5))), |m| {
        let transposed = Expr::build(Expr::dim(m.clone(), 1), "j", |j| {
            Expr::build(Expr::dim(m.clone(), 0), "i", |i| one(Prim::Tanh, &get(&get(m, &i), &j)))
        });
        named("t", transposed, |t| {
            let rows = Expr::build(Expr::dim(t.clone(), 0), "k", |k| named("row", get(t, &k), |row| mul(&sum(row), &get(row, &int(0)))));
            let product = Expr::build(Expr::dim(m.clone(), 0), "i", |i| {
                Expr::build(Expr::dim(t.clone(), 1), "j", |j| {
                    Expr::fold(Expr::dim(m.clone(), 1), "s", "k", num(0.0), |s, k| {
                        add(&s, &mul(&get(&get(m, &i), &k), &get(&get(t, &k), &j)))
                    })
                })
            });
            tuple(&[rows, product, t.clone(), get(m, &int(0))])
        })
    });
    let program = main(&[&var], body);
    agrees(&program, &[Value::matrix(2, 3, &[1., 2., 3., 4., 5., 6.])]);
    agrees(&program, &[Value::matrix(1, 1, &[0.3])]);
    agrees(&program, &[Value::matrix(1, 0, &[])]);
}

#[test]
fn arrays_of_tuples() {
    for prim in [Prim::Neg, Prim::Sin] {
        let (var, w) = v("v");
        let body = gradient(&w, |v| {
            let mixed = Expr::build(Expr::dim(v.clone(), 0), "i", |i| {
                let row = Expr::build(int(2), "j", |_| num(1.0));
                tuple(&[i.clone(), one(prim, &get(v, &i)), tuple(&[num(2.0), row]), two(Prim::Lt, &get(v, &i), &num(0.0))])
            });
            let single = Expr::build(Expr::dim(v.clone(), 0), "i", |i| tuple(&[one(prim, &get(v, &i)), i]));
            named("a", mixed, |a| {
                named("b", single, |b| {
                    let first = named("e", get(a, &int(0)), |e| mul(&Expr::proj(e.clone(), 1), &Expr::proj(Expr::proj(e.clone(), 2), 0)));
                    tuple(&[first, a.clone(), b.clone(), Expr::proj(get(b, &int(1)), 0), get(b, &int(0))])
                })
            })
        });
        agrees(&main(&[&var], body), &[vec_of(&[1.0, -2.0])]);
    }
}

#[test]
fn array_literals() {
    let (var, x) = x();
    let body = dual(&x, &num(1.0), |x| {
        let a = Expr::array(Type::Double, vec![mul(x, x), num(3.0), x.clone()]);
        let pairs =
            Expr::array(Type::tuple(vec![Type::Double, Type::INDEX]), vec![tuple(&[x.clone(), int(1)]), tuple(&[num(2.0), int(5)])]);
        let literal = get(&Expr::array(Type::Double, vec![num(2.0), mul(x, &num(4.0))]), &int(1));
        named("a", a, |a| named("p", pairs, |p| tuple(&[sum(a), a.clone(), Expr::proj(get(p, &int(0)), 0), p.clone(), literal])))
    });
    agrees_at(&main(&[&var], body), &[3.0]);
}

#[test]
fn branches_over_arrays_make_zeros() {
    let (var, w) = v("v");
    let body = gradient(&w, |v| {
        let ones = Expr::build(Expr::dim(v.clone(), 0), "i", |_| num(1.0));
        let doubled = Expr::build(Expr::dim(v.clone(), 0), "i", |i| mul(&get(v, &i), &num(2.0)));
        let cond = two(Prim::Lt, &get(v, &int(0)), &num(0.0));
        named("w", Expr::if_(cond.clone(), ones, doubled), |w| tuple(&[sum(w), Expr::if_(cond, w.clone(), v.clone())]))
    });
    let program = main(&[&var], body);
    agrees(&program, &[vec_of(&[1.0, 2.0])]);
    agrees(&program, &[vec_of(&[-1.0, 2.0])]);
    fails_alike(&program_reading_beyond(), &[vec_of(&[1.0])]);
}

fn program_reading_beyond() -> Program {
    let (var, v) = v("v");
    main(&[&var], gradient(&v, |v| get(v, &int(1)).at(Span::new(0, 1, 5))))
}

#[test]
fn second_derivatives_of_loops() {
    let (var, w) = v("v");
    let body = gradient(&w, |v| {
        gradient(v, |v| {
            let w = Expr::build(Expr::dim(v.clone(), 0), "i", |i| one(Prim::Exp, &mul(&get(v, &i), &get(v, &int(0)))));
            named("w", w, |w| Expr::fold(Expr::dim(w.clone(), 0), "s", "k", num(1.0), |s, k| add(&mul(&s, &get(w, &k)), &get(v, &k))))
        })
    });
    let program = main(&[&var], body);
    agrees(&program, &[vec_of(&[0.1, 0.2, -0.3])]);
    agrees(&program, &[vec_of(&[])]);
}

#[test]
fn sizes_that_depend_on_data() {
    let (var, x) = x();
    let body = dual(&x, &num(1.0), |x| {
        let n = one(Prim::ToIndex, x);
        named("w", Expr::build(n, "i", |i| mul(x, &one(Prim::ToDouble, &i))), |w| tuple(&[sum(w), w.clone()]))
    });
    let program = main(&[&var], body);
    agrees_at(&program, &[4.5]);
    agrees_at(&program, &[0.5]);
    fails_alike(&program, &[value(-2.0)]);
}
