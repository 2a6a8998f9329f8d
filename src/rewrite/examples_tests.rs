//! The papers' worked examples, from plain definitions through differentiation: the printed best form.

use super::{Options, Schedule, optimise};
use crate::ad::differentiate;
use crate::ir::eval::{Array, Counts, Shape, Value, eval};

use crate::ir::{Expr, Function, Prim, Program, Size, Type, Var, print};
use crate::stack::with_large_stack;
use std::rc::Rc;

fn add(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Add, vec![a, b])
}

fn mul(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Mul, vec![a, b])
}

fn size(name: &str) -> Var {
    Var::fresh(name, Type::INDEX)
}

fn vector(name: &str, n: &Var) -> Var {
    Var::fresh(name, Type::array(Type::Double, Size::var(n)))
}

fn matrix(name: &str, n: &Var, m: &Var) -> Var {
    Var::fresh(name, Type::array(Type::array(Type::Double, Size::var(m)), Size::var(n)))
}

fn var(v: &Var) -> Expr {
    Expr::var(v)
}

fn function(name: &str, sizes: &[&Var], params: &[&Var], body: Expr) -> Function {
    let all = |vars: &[&Var]| vars.iter().map(|var| (*var).clone()).collect();
    Function { is_entry: !name.starts_with('_'), ..Function::entry(name, all(sizes), all(params), body) }
}

fn sum(n: Expr, f: impl FnOnce(Expr) -> Expr) -> Expr {
    Expr::fold(n, "s", "k", Expr::double(0.0), |s, k| add(s, f(k)))
}

fn hot(i: &Expr, j: Expr) -> Expr {
    Expr::if_(Expr::prim(Prim::Eq, vec![i.clone(), j]), Expr::double(1.0), Expr::double(0.0))
}

fn at(a: &Expr, i: &Expr) -> Expr {
    Expr::get(a.clone(), i.clone())
}

/// `gradient f v`: the tangents of f in each direction.
fn gradient(v: &Var, f: impl FnOnce(Expr) -> Expr) -> Expr {
    let n = Expr::dim(var(v), 0);
    let x = v.renewed(v.ty().clone());
    let body = f(var(&x));
    Expr::build(n.clone(), "i", |i| {
        let tangent = Expr::build(n, "j", |j| hot(&i, j));
        Expr::proj(Expr::dual(x, var(v), tangent, body), 1)
    })
}

/// `gradient f M` for a matrix.
fn matrix_gradient(m: &Var, f: impl FnOnce(Expr) -> Expr) -> Expr {
    let (rows, cols) = (Expr::dim(var(m), 0), Expr::dim(var(m), 1));
    let x = m.renewed(m.ty().clone());
    let body = f(var(&x));
    Expr::build(rows.clone(), "i", |i| {
        Expr::build(cols.clone(), "j", |j| {
            let tangent = Expr::build(rows, "r", |r| {
                Expr::build(cols, "c", |c| {
                    let both =
                        Expr::prim(Prim::And, vec![Expr::prim(Prim::Eq, vec![i.clone(), r]), Expr::prim(Prim::Eq, vec![j.clone(), c])]);
                    Expr::if_(both, Expr::double(1.0), Expr::double(0.0))
                })
            });
            Expr::proj(Expr::dual(x, var(m), tangent, body), 1)
        })
    })
}

fn derivative(x: &Expr, f: impl FnOnce(Expr) -> Expr) -> Expr {
    let y = Var::fresh("y", Type::Double);
    let body = f(var(&y));
    Expr::proj(Expr::dual(y, x.clone(), Expr::double(1.0), body), 1)
}

/// `_dot a b` through its intermediate array, as the library has it.
fn dot() -> Function {
    let n = size("n");
    let (a, b) = (vector("a", &n), vector("b", &n));
    let product = Expr::build(var(&n), "k", |k| mul(at(&var(&a), &k), at(&var(&b), &k)));
    let body = Expr::bind("p", product, |p| sum(Expr::dim(p.clone(), 0), |k| at(&p, &k)));
    function("_dot", &[&n], &[&a, &b], body)
}

fn transpose() -> Function {
    let (n, m) = (size("n"), size("m"));
    let a = matrix("a", &n, &m);
    let body = Expr::build(Expr::dim(var(&a), 1), "i", |i| Expr::build(Expr::dim(var(&a), 0), "j", |j| at(&at(&var(&a), &j), &i)));
    function("_transpose", &[&n, &m], &[&a], body)
}

/// `_product a b`, row by row through `_dot` with the transposed second matrix.
fn product(dot: &Function, transpose: &Function) -> Function {
    let (n, k, m) = (size("n"), size("k"), size("m"));
    let (a, b) = (matrix("a", &n, &k), matrix("b", &k, &m));
    let columns = Expr::call(transpose, vec![var(&b)]);
    let body = Expr::bind("t", columns, |t| {
        Expr::build(var(&n), "i", |i| Expr::build(var(&m), "j", |j| Expr::call(dot, vec![at(&var(&a), &i), at(&t, &j)])))
    });
    function("_product", &[&n, &k, &m], &[&a, &b], body)
}

/// The program as differentiated, and optimised.
fn compiled(functions: Vec<Function>) -> (Program, Program) {
    let program = Program { functions: functions.into_iter().map(|f| (f.name.clone(), f)).collect() };
    let plain = differentiate(&program, crate::ad::Options::default()).expect("differentiates");
    let schedule = Schedule::builtin("default").expect("a built-in schedule");
    let best = optimise(&plain, &schedule, &Options::default()).expect("optimises").program;
    crate::ir::check::check(&best).expect("well-formed");
    (plain, best)
}

fn best(functions: Vec<Function>) -> String {
    let (_, best) = compiled(functions);
    best.functions.values().map(|f| print::expr(&f.body)).collect::<Vec<_>>().join("\n")
}

fn assert_best(expected: &'static str, functions: fn() -> Vec<Function>) {
    with_large_stack(move || assert_eq!(best(functions()), expected));
}

#[test]
fn gradient_of_a_dot_product() {
    assert_best("w", || {
        let (dot, n) = (dot(), size("n"));
        let (v, w) = (vector("v", &n), vector("w", &n));
        let body = gradient(&v, |v| Expr::call(&dot, vec![v, var(&w)]));
        vec![dot, function("f", &[&n], &[&v, &w], body)]
    });
}

#[test]
fn gradient_of_a_sum() {
    assert_best("build n (fun i -> 1.0)", || {
        let n = size("n");
        let v = vector("v", &n);
        let body = gradient(&v, |v| sum(Expr::dim(v.clone(), 0), |k| at(&v, &k)));
        vec![function("f", &[&n], &[&v], body)]
    });
}

#[test]
fn vector_times_identity() {
    assert_best("v", || {
        let n = size("n");
        let v = vector("v", &n);
        let eye = Expr::build(var(&n), "i", |i| Expr::build(var(&n), "j", |j| hot(&i, j)));
        let body = Expr::bind("e", eye, |e| Expr::build(var(&n), "i", |i| sum(var(&n), |k| mul(at(&var(&v), &k), at(&at(&e, &k), &i)))));
        vec![function("f", &[&n], &[&v], body)]
    });
}

#[test]
fn gradient_of_a_bilinear_form() {
    assert_best("build n (fun i -> build m (fun j -> u[i] * v[j]))", || {
        let (dot, transpose) = (dot(), transpose());
        let product = product(&dot, &transpose);
        let (n, m) = (size("n"), size("m"));
        let (u, v, a) = (vector("u", &n), vector("v", &m), matrix("M", &n, &m));
        let row = |x: &Var| Expr::build(Expr::index(1), "o", |_| var(x));
        let body = matrix_gradient(&a, |a| {
            let column = Expr::call(&transpose, vec![row(&v)]);
            let inner = Expr::call(&product, vec![a, column]);
            Expr::bind("m", Expr::call(&product, vec![row(&u), inner]), |m| at(&at(&m, &Expr::index(0)), &Expr::index(0)))
        });
        vec![dot, transpose, product, function("f", &[&n, &m], &[&u, &a, &v], body)]
    });
}

#[test]
fn gradient_of_a_trace() {
    assert_best("build n (fun i -> build n (fun j -> if i = j then 1.0 else 0.0))", || {
        let n = size("n");
        let a = matrix("M", &n, &n);
        let body = matrix_gradient(&a, |a| sum(Expr::dim(a.clone(), 0), |k| at(&at(&a, &k), &k)));
        vec![function("f", &[&n], &[&a], body)]
    });
}

#[test]
fn gradient_of_the_trace_of_a_product() {
    assert_best("build n (fun i -> build m (fun j -> A[j][i]))", || {
        let (n, m) = (size("n"), size("m"));
        let (x, a) = (matrix("M", &n, &m), matrix("A", &m, &n));
        let (dot, transpose) = (dot(), transpose());
        let product = product(&dot, &transpose);
        let body = matrix_gradient(&x, |x| {
            Expr::bind("p", Expr::call(&product, vec![x, var(&a)]), |p| sum(Expr::dim(p.clone(), 0), |k| at(&at(&p, &k), &k)))
        });
        vec![dot, transpose, product, function("f", &[&n, &m], &[&x, &a], body)]
    });
}

#[test]
fn perturbation_confusion() {
    assert_best("1.0", || {
        let x = Var::fresh("x", Type::Double);
        let body = derivative(&var(&x), |x| mul(x.clone(), derivative(&x.clone(), |y| add(x, y))));
        vec![function("f", &[], &[&x], body)]
    });
}

#[test]
fn derivatives_of_scalars() {
    assert_best("-sin a", || {
        let a = Var::fresh("a", Type::Double);
        vec![function("f", &[], &[&a], derivative(&var(&a), |a| Expr::prim(Prim::Cos, vec![a])))]
    });
    assert_best("b", || {
        let (a, b) = (Var::fresh("a", Type::Double), Var::fresh("b", Type::Double));
        vec![function("f", &[], &[&a, &b], derivative(&var(&a), |a| mul(a, var(&b))))]
    });
}

fn unary(prim: Prim, a: Expr) -> Expr {
    Expr::prim(prim, vec![a])
}

fn sub(a: Expr, b: Expr) -> Expr {
    Expr::prim(Prim::Sub, vec![a, b])
}

fn square(a: Expr) -> Expr {
    Expr::bind("e", a, |e| mul(e.clone(), e))
}

/// A gradient or Jacobian, with bounds on its work as multiples of a number of elements.
struct Example {
    name: &'static str,
    function: Function,
    /// Work per element, where there are `elements(n, m)` of them.
    bound: u64,
    elements: fn(u64, u64) -> u64,
}

fn examples() -> Vec<Example> {
    let (n, m) = (size("n"), size("m"));
    let (v, u, y) = (vector("v", &n), vector("u", &m), vector("y", &n));
    let (a, q, x) = (matrix("M", &n, &m), matrix("A", &n, &n), matrix("X", &n, &m));
    let norm = |v: &Expr| unary(Prim::Sqrt, sum(Expr::dim(v.clone(), 0), |k| mul(at(v, &k), at(v, &k))));
    let quadratic = |x: &Expr| {
        let row = Expr::build(var(&n), "i", |i| sum(var(&n), |k| mul(at(&at(&var(&q), &i), &k), at(x, &k))));
        Expr::bind("y", row, |y| sum(var(&n), |i| mul(at(x, &i), at(&y, &i))))
    };
    let nnmf = |x: &Expr, y: &Expr| {
        let outer = Expr::build(var(&n), "i", |i| Expr::build(var(&m), "j", |j| mul(at(x, &i), at(y, &j))));
        let rest = Expr::bind("p", outer, |p| {
            Expr::build(var(&n), "i", |i| Expr::build(var(&m), "j", |j| sub(at(&at(&var(&a), &i), &j), at(&at(&p, &i), &j))))
        });
        Expr::bind("d", rest, |d| sum(var(&n), |i| sum(var(&m), |j| square(at(&at(&d, &i), &j)))))
    };
    let predicted = |w: &Expr, r: &Expr| sum(var(&m), |c| mul(at(&at(&var(&x), r), &c), at(w, &c)));
    let linear = |w: &Expr| sum(var(&n), |r| square(sub(predicted(w, &r), at(&var(&y), &r))));
    let logistic = |w: &Expr| {
        sum(var(&n), |r| {
            let negative = unary(Prim::Neg, mul(at(&var(&y), &r), predicted(w, &r)));
            unary(Prim::Log, add(Expr::double(1.0), unary(Prim::Exp, negative)))
        })
    };
    let log_sum_exp = |x: &Expr| {
        let e = Expr::build(var(&n), "k", |k| unary(Prim::Exp, at(x, &k)));
        Expr::bind("e", e, |e| unary(Prim::Log, sum(var(&n), |k| at(&e, &k))))
    };
    let (s, z) = (Var::fresh("s", Type::Double), Var::fresh("z", Type::Double));
    let scaled = Expr::dual(z.clone(), var(&s), Expr::double(1.0), Expr::build(var(&n), "i", |i| mul(at(&var(&v), &i), var(&z))));
    let scaled = Expr::bind("d", scaled, |d| Expr::build(var(&n), "i", |i| Expr::proj(at(&d, &i), 1)));
    let example = |name, sizes: &[&Var], params: &[&Var], body, bound, elements| Example {
        name,
        function: function("f", sizes, params, body),
        bound,
        elements,
    };
    vec![
        example("norm", &[&n], &[&v], gradient(&v, |v| norm(&v)), 18, |n, _| n),
        example("sum", &[&n], &[&v], gradient(&v, |v| sum(Expr::dim(v.clone(), 0), |k| at(&v, &k))), 3, |n, _| n),
        example("quadratic", &[&n], &[&v, &q], gradient(&v, |v| quadratic(&v)), 10, |n, _| n * n),
        example("nnmf in u", &[&n, &m], &[&v, &u, &a], gradient(&v, |v| nnmf(&v, &var(&u))), 15, |n, m| n * m),
        example("nnmf in v", &[&n, &m], &[&v, &u, &a], gradient(&u, |u| nnmf(&var(&v), &u)), 15, |n, m| n * m),
        example("linear regression", &[&n, &m], &[&x, &y, &u], gradient(&u, |w| linear(&w)), 15, |n, m| n * m),
        example("logistic regression", &[&n, &m], &[&x, &y, &u], gradient(&u, |w| logistic(&w)), 18, |n, m| n * m),
        example("logSumExp", &[&n], &[&v], gradient(&v, |v| log_sum_exp(&v)), 9, |n, _| n),
        example("v * s", &[&n], &[&v, &s], scaled, 6, |n, _| n),
    ]
}

fn arguments(function: &Function, n: usize, m: usize) -> Vec<Value> {
    let mut next = 0.0;
    let mut value = |ty: &Type| {
        fn of(ty: &Type, lengths: &[usize], next: &mut f64) -> Value {
            match (ty, lengths) {
                (Type::Array(element, _), [length, rest @ ..]) => {
                    let items: Vec<Value> = (0..*length).map(|_| of(element, rest, next)).collect();
                    let shape = if rest.is_empty() { Shape::Double } else { Shape::array(Shape::Double, rest[0]) };
                    Value::Array(Rc::new(Array { element: shape, items }))
                }
                _ => {
                    *next += 0.37;
                    Value::Double(next.sin() + 0.2)
                }
            }
        }
        let lengths: Vec<usize> = ty.dims().iter().map(|dim| if dim.to_string() == "n" { n } else { m }).collect();
        of(ty, &lengths, &mut next)
    };
    function.params.iter().map(|param| value(param.ty())).collect()
}

#[test]
fn gradients_cost_as_much_as_by_hand() {
    with_large_stack(|| {
        for example in examples() {
            let function = example.function.clone();
            let (plain, best) = compiled(vec![function.clone()]);
            for (n, m) in [(2, 2), (2, 5), (6, 3), (12, 12)] {
                let arguments = arguments(&function, n, m);
                let expected = eval(&plain, "f", arguments.clone()).expect("a value");
                let found = eval(&best, "f", arguments).expect("a value");
                assert!(super::rules::close(&expected.value, &found.value, expected.trace.largest), "{}", example.name);
                let total = |counts: Counts| counts.arithmetic + counts.comparisons + counts.reads + counts.writes;
                let (before, after) = (total(expected.trace.counts), total(found.trace.counts));
                let allowed = example.bound * (example.elements)(n as u64, m as u64);
                assert!(
                    after <= before && after <= allowed.max(before.min(40)),
                    "{}: {after} of {allowed} at {n}, {m}; before {before}",
                    example.name
                );
            }
        }
    });
}

#[test]
fn compiling_visits_few_nodes_and_takes_no_time() {
    with_large_stack(|| {
        for example in examples() {
            let program = Program { functions: [("f".into(), example.function)].into_iter().collect() };
            let plain = differentiate(&program, crate::ad::Options::default()).expect("differentiates");
            let nodes: usize = plain.functions.values().map(|f| f.body.node_count()).sum();
            let schedule = Schedule::builtin("default").expect("a built-in schedule");
            let visited = super::visited(&plain, &schedule).expect("optimises");
            assert!(visited <= 200 * nodes, "{}: {visited} visits for {nodes} nodes", example.name);
        }
    });
}

#[test]
fn common_parts_of_a_polynomial() {
    assert_best("let y = x * x in\nlet dy = 2.0 * x in\n(1.0 + dy) * y + (x + y) * dy", || {
        let w = Var::fresh("x", Type::Double);
        let body = derivative(&var(&w), |x| Expr::bind("y", mul(x.clone(), x.clone()), |y| mul(add(x, y.clone()), y)));
        vec![function("f", &[], &[&w], body)]
    });
}

#[test]
fn the_gradient_of_nnmf_is_one_pass() {
    assert_best("build n (fun i ->\n  -2.0 * ifold (fun ds k -> let u_1 = u[k] in ds + (M[i][k] - v[i] * u_1) * u_1) 0.0 m)", || {
        examples().into_iter().filter(|example| example.name == "nnmf in u").map(|example| example.function).collect()
    });
}
