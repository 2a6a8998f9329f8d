//! The derivative of a program is linear in its size.

use super::*;
use crate::ir::Type;
use crate::ir::eval::eval;

#[test]
fn two_hundred_shared_lets() {
    let (var, x) = x();
    let program = main(&[&var], dual(&x, &num(1.0), |x| chain(x.clone(), x, 200)));
    let size = derived(&program).node_count();
    assert!(size < 20_000, "{size} nodes");
    agrees_at(&program, &[1.001]);
}

#[test]
fn two_thousand_lets_take_no_time() {
    let run = || {
        let (var, x) = x();
        let program = main(&[&var], dual(&x, &num(1.0), |x| chain(x.clone(), x, 2_000)));
        let start = std::time::Instant::now();
        let size = differentiate(&program, crate::ad::Options::default()).unwrap().node_count();
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
        assert!(size < 100_000, "{size} nodes");
    };
    crate::stack::with_large_stack(run);
}

fn chain(y: Expr, x: &Expr, left: usize) -> Expr {
    if left == 0 {
        return y;
    }
    named("y", mul(&y, &one(Prim::Sin, x)), |y| chain(y.clone(), x, left - 1))
}

#[test]
fn a_product_of_two_hundred_factors() {
    let (var, x) = x();
    let product = |x: &Expr| (0..200).fold(num(1.0), |product, k| mul(&product, &add(x, &num(f64::from(k) / 1e3))));
    let program = main(&[&var], dual(&x, &num(1.0), product));
    let size = derived(&program).node_count();
    assert!(size < 20_000, "{size} nodes");
    agrees_at(&program, &[1.0]);
}

#[test]
fn thirty_functions_that_each_call_the_one_before_twice() {
    let mut functions: Vec<Function> = Vec::new();
    for k in 0..30 {
        let var = Var::fresh("a", Type::Double);
        let a = Expr::var(&var);
        let body = match functions.last() {
            None => one(Prim::Sin, &a),
            Some(before) => {
                let call = |a: Expr| Expr::call(before, vec![a]);
                mul(&call(mul(&a, &num(0.5))), &call(add(&a, &num(1.0))))
            }
        };
        functions.push(function(&format!("f{k}"), &[&var], body));
    }
    let (vx, x) = x();
    let last = functions.last().unwrap().clone();
    let body = derivative(&x, |x| derivative(x, |x| Expr::call(&last, vec![x.clone()])));
    functions.push(function("main", &[&vx], body));
    let result = derived(&program(functions));
    assert!(result.node_count() < 6_000, "{} nodes", result.node_count());
}

/// Loops in loops: the work of a derivative is a multiple of the work that does not grow with their depth.
#[test]
fn nested_builds_are_not_computed_again() {
    fn nest(v: &Expr, depth: usize) -> Expr {
        if depth == 0 {
            return one(Prim::Sin, &get(v, &int(0)));
        }
        named("w", Expr::build(int(4), "i", |i| add(&nest(v, depth - 1), &get(v, &i))), sum)
    }
    for depth in 1..5 {
        let (var, w) = v("v");
        let plain = main(&[&var], nest(&w, depth));
        let (var, w) = v("v");
        let ones = Expr::build(int(4), "i", |_| num(1.0));
        let program = main(&[&var], dual(&w, &ones, |v| nest(v, depth)));
        let input = vec![Value::vector(&[1.0, 2.0, 3.0, 4.0])];
        agrees(&program, &input);
        let before = eval(&plain, "main", input.clone()).unwrap().trace.counts.arithmetic;
        let after = eval(&derived(&program), "main", input).unwrap().trace.counts.arithmetic;
        assert!(after <= 4 * before, "depth {depth}: {after} operations for {before}");
    }
}

/// A row of a matrix of pairs is passed on without copying it.
#[test]
fn rows_are_read_in_constant_time() {
    let n = Var::fresh("n", Type::INDEX);
    let row = Var::fresh("row", vector(&n));
    let first = function("first", &[&row], get(&Expr::var(&row), &int(0)));
    let (var, w) = v("v");
    let length = || Expr::dim(w.clone(), 0);
    let ones = Expr::build(length(), "i", |_| num(1.0));
    let body = dual(&w, &ones, |v| {
        let table = Expr::build(length(), "i", |i| Expr::build(length(), "j", |j| mul(&get(v, &i), &one(Prim::Sin, &get(v, &j)))));
        named("table", table, |table| {
            Expr::fold(length(), "s", "i", num(0.0), |s, i| {
                Expr::fold(length(), "t", "j", s, |t, _| add(&t, &Expr::call(&first, vec![get(table, &i)])))
            })
        })
    });
    let program = program(vec![first.clone(), function("main", &[&var], body)]);
    let input = Value::vector(&(0..40).map(f64::from).collect::<Vec<_>>());
    agrees(&program, std::slice::from_ref(&input));
    let counts = eval(&derived(&program), "main", vec![input]).unwrap().trace.counts;
    assert!(counts.reads + counts.writes < 20 * 40 * 40, "{counts:?}");
}
