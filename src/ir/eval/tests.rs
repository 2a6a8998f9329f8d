//! Values, shapes, entry checks, counts and each run-time error.

use super::{Counts, ErrorKind, RuntimeError, Shape, Value, eval};
use crate::ir::prim::Prim;
use crate::ir::program::{Function, Program};
use crate::ir::term::{Expr, Size, Status, Type, Var};
use crate::source::Span;

fn size(name: &str) -> Var {
    Var::fresh(name, Type::INDEX)
}

fn vector(n: &Var) -> Type {
    Type::array(Type::Double, Size::var(n))
}

fn matrix(n: &Var, m: &Var) -> Type {
    Type::array(vector(m), Size::var(n))
}

fn program(sizes: Vec<Var>, params: Vec<Var>, body: Expr) -> Program {
    let f = Function::entry("f", sizes, params, body);
    Program { functions: [(f.name.clone(), f)].into_iter().collect() }
}

fn run(sizes: Vec<Var>, params: Vec<Var>, body: Expr, args: Vec<Value>) -> Result<Value, RuntimeError> {
    eval(&program(sizes, params, body), "f", args).map(|outcome| outcome.value)
}

fn closed(body: Expr) -> Result<Value, RuntimeError> {
    run(vec![], vec![], body, vec![])
}

#[track_caller]
fn fails(result: Result<Value, RuntimeError>, status: Status, message: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.status(), error.message.as_str()), (Some(status), message));
}

#[test]
fn each_run_time_error() {
    let list = || Expr::array(Type::Double, vec![Expr::double(1.0), Expr::double(2.0)]);
    fails(closed(Expr::get(list(), Expr::index(2))), Status::Bounds, "index 2 is out of bounds of an array of length 2");
    fails(closed(Expr::get(list(), Expr::index(-1))), Status::Bounds, "index -1 is out of bounds of an array of length 2");
    fails(closed(Expr::build(Expr::index(-1), "i", |i| i)), Status::Negative, "`build` with the negative count -1");
    fails(closed(Expr::fold(Expr::index(-3), "s", "i", Expr::index(0), |s, _| s)), Status::Negative, "`ifold` with the negative count -3");
    let divide = |prim| Expr::prim(prim, vec![Expr::index(1), Expr::index(0)]);
    fails(closed(divide(Prim::Div)), Status::DivZero, "`/` of an Index by zero");
    fails(closed(divide(Prim::Rem)), Status::DivZero, "`%` of an Index by zero");
    let index = |x: f64| Expr::prim(Prim::ToIndex, vec![Expr::double(x)]);
    fails(closed(index(1e19)), Status::Range, "`index` of 10000000000000000000, which no Index can hold");
    fails(closed(index(f64::NAN)), Status::Range, "`index` of NaN, which no Index can hold");
    assert_eq!(closed(index(-2.9)).unwrap(), Value::Index(-2));
    let triangle = Expr::build(Expr::index(3), "i", |i| Expr::build(i, "j", |j| j));
    fails(closed(triangle), Status::Shape, "element 1 of the array has shape Array<Index, 1>, element 0 has Array<Index, 0>");
    let grows = Expr::fold(Expr::index(2), "s", "i", list(), |s, _| {
        Expr::build(Expr::prim(Prim::Add, vec![Expr::dim(s, 0), Expr::index(1)]), "j", |_| Expr::double(0.0))
    });
    let message = "the accumulator has shape Array<Double, 3> after step 0, Array<Double, 2> before";
    fails(closed(grows), Status::Shape, message);
    let ragged = Expr::array(list().ty().clone(), vec![list(), Expr::array(Type::Double, vec![])]);
    fails(closed(ragged), Status::Shape, "element 1 of the array has shape Array<Double, 0>, element 0 has Array<Double, 2>");
    let check = Expr::check(Expr::prim(Prim::Eq, vec![Expr::index(1), Expr::index(2)]), Status::Shape, Expr::double(0.0));
    fails(closed(check), Status::Shape, "`1 = 2` does not hold");
    assert_eq!(closed(Expr::build(Expr::index(i64::MAX), "i", |i| i)).unwrap_err().kind, ErrorKind::TooLarge);
}

#[test]
fn index_arithmetic_wraps() {
    let of = |prim, a, b| closed(Expr::prim(prim, vec![Expr::index(a), Expr::index(b)])).unwrap();
    assert_eq!(of(Prim::Add, i64::MAX, 1), Value::Index(i64::MIN));
    assert_eq!(of(Prim::Div, i64::MIN, -1), Value::Index(i64::MIN));
    assert_eq!(of(Prim::Rem, i64::MIN, -1), Value::Index(0));
    assert_eq!(of(Prim::Div, -7, 2), Value::Index(-3));
    assert_eq!(of(Prim::Rem, -7, 2), Value::Index(-1));
}

#[test]
fn and_or_are_short_circuit() {
    let wrong = || Expr::prim(Prim::Eq, vec![Expr::prim(Prim::Div, vec![Expr::index(1), Expr::index(0)]), Expr::index(0)]);
    assert_eq!(closed(Expr::prim(Prim::And, vec![Expr::bool(false), wrong()])).unwrap(), Value::Bool(false));
    assert_eq!(closed(Expr::prim(Prim::Or, vec![Expr::bool(true), wrong()])).unwrap(), Value::Bool(true));
    assert!(closed(Expr::prim(Prim::And, vec![Expr::bool(true), wrong()])).is_err());
}

#[test]
fn min_and_max_keep_nan_and_the_first_at_a_tie() {
    let of = |prim, a, b| closed(Expr::prim(prim, vec![Expr::double(a), Expr::double(b)])).unwrap().as_double().unwrap();
    assert!(of(Prim::Min, f64::NAN, 1.0).is_nan() && of(Prim::Min, 1.0, f64::NAN).is_nan());
    assert!(of(Prim::Max, f64::NAN, 1.0).is_nan() && of(Prim::Max, 1.0, f64::NAN).is_nan());
    assert!(of(Prim::Min, 0.0, -0.0).is_sign_positive() && of(Prim::Max, -0.0, 0.0).is_sign_negative());
}

#[test]
fn sizes_are_bound_and_checked_at_the_entry() {
    let (n, m) = (size("n"), size("m"));
    let (a, b) = (Var::fresh("a", matrix(&n, &m)), Var::fresh("b", vector(&m)));
    let body = || Expr::tuple(vec![Expr::var(&n), Expr::var(&m), Expr::dim(Expr::var(&a), 1)]);
    let run = |args| run(vec![n.clone(), m.clone()], vec![a.clone(), b.clone()], body(), args);
    let sizes = |x, y| Value::tuple(vec![Value::Index(x), Value::Index(y), Value::Index(y)]);
    assert_eq!(run(vec![Value::matrix(2, 3, &[0.0; 6]), Value::vector(&[0.0; 3])]).unwrap(), sizes(2, 3));
    assert_eq!(run(vec![Value::empty(Shape::Unknown), Value::vector(&[0.0; 3])]).unwrap(), sizes(0, 3));
    let wrong = run(vec![Value::matrix(2, 3, &[0.0; 6]), Value::vector(&[0.0; 4])]);
    fails(wrong, Status::Shape, "argument `b`: expected length m = 3, found 4");
    assert_eq!(run(vec![Value::Double(1.0), Value::vector(&[])]).unwrap_err().kind, ErrorKind::Argument);
    assert_eq!(run(vec![]).unwrap_err().kind, ErrorKind::Argument);
}

#[test]
fn an_empty_matrix_keeps_its_columns() {
    let (n, m) = (size("n"), size("m"));
    let a = Var::fresh("a", matrix(&n, &m));
    let run = |arg| run(vec![n.clone(), m.clone()], vec![a.clone()], Expr::dim(Expr::var(&a), 1), vec![arg]).unwrap();
    assert_eq!(run(Value::matrix(0, 3, &[])), Value::Index(3));
    assert_eq!(run(Value::empty(Shape::Unknown)), Value::Index(0));
}

#[test]
fn an_empty_build_has_the_inner_shape_of_its_type() {
    let (n, k) = (size("n"), Var::fresh("k", Type::INDEX));
    let v = Var::fresh("v", vector(&n));
    let body = Expr::build(Expr::var(&k), "i", |_| {
        Expr::build(Expr::prim(Prim::Mul, vec![Expr::index(2), Expr::var(&n)]), "j", |_| Expr::double(1.0))
    });
    let value = run(vec![n], vec![v, k], body, vec![Value::vector(&[0.0; 3]), Value::Index(0)]).unwrap();
    assert_eq!(value.dims(), [0, 6]);
}

#[test]
fn declared_polynomial_sizes_and_bounds_are_checked() {
    let n = Var::fresh("n", Type::INDEX);
    let twice = Size::constant(2).mul(&Size::var(&n));
    let v = Var::fresh("v", Type::array(Type::Double, twice));
    let at = Var::fresh("at", Type::array(Type::Index(Some(Size::var(&n))), Size::constant(2)));
    let run = |n_value, v_length, indices: &[i64]| {
        let args = vec![Value::Index(n_value), Value::vector(&vec![0.0; v_length]), Value::indices(indices)];
        run(vec![], vec![n.clone(), v.clone(), at.clone()], Expr::index(1), args)
    };
    assert!(run(3, 6, &[0, 2]).is_ok());
    fails(run(3, 5, &[0, 2]), Status::Shape, "argument `v`: expected length 2 * n = 6, found 5");
    fails(run(3, 6, &[0, 3]), Status::Range, "argument `at[1]`: expected an index below n = 3, found 3");
    fails(run(3, 6, &[-1, 0]), Status::Range, "argument `at[0]`: expected an index below n = 3, found -1");
    fails(run(3, 6, &[1]), Status::Shape, "argument `at`: expected length 2, found 1");
}

#[test]
fn calls_read_sizes_off_their_arguments() {
    let n = size("n");
    let v = Var::fresh("v", vector(&n));
    let body = Expr::build(Expr::var(&n), "i", |i| Expr::prim(Prim::Add, vec![Expr::get(Expr::var(&v), i), Expr::double(1.0)]));
    let g = Function {
        name: "g".into(),
        doc: None,
        sizes: vec![n],
        params: vec![v],
        result: body.ty().clone(),
        body,
        is_entry: false,
        span: Span::NONE,
        labels: Vec::new(),
    };
    let list = Expr::array(Type::Double, vec![Expr::double(1.0), Expr::double(2.0)]);
    let mut program = program(vec![], vec![], Expr::call(&g, vec![Expr::call(&g, vec![list])]));
    program.functions.insert("g".into(), g);
    assert_eq!(eval(&program, "f", vec![]).unwrap().value, Value::vector(&[3.0, 4.0]));
}

#[test]
fn what_is_counted() {
    // sum of v[i] * v[i] while i < 2, and a vector of the same
    let n = size("n");
    let v = Var::fresh("v", vector(&n));
    let square = |i: Expr| Expr::prim(Prim::Mul, vec![Expr::get(Expr::var(&v), i.clone()), Expr::get(Expr::var(&v), i)]);
    let sum = Expr::fold(Expr::var(&n), "s", "i", Expr::double(0.0), |s, i| {
        let small = Expr::prim(Prim::Lt, vec![i.clone(), Expr::index(2)]);
        Expr::if_(small, Expr::prim(Prim::Add, vec![s.clone(), square(i)]), s)
    });
    let body = Expr::tuple(vec![sum, Expr::build(Expr::var(&n), "i", square)]);
    let outcome = eval(&program(vec![n.clone()], vec![v.clone()], body), "f", vec![Value::vector(&[1.0, 2.0, -30.0])]).unwrap();
    assert_eq!(outcome.trace.counts, Counts { arithmetic: 7, comparisons: 3, reads: 10, writes: 3 });
    assert_eq!(outcome.trace.largest, 900.0);
}

#[test]
fn values_of_differing_shapes_make_no_array() {
    assert!(Value::array(vec![Value::vector(&[1.0]), Value::vector(&[])]).is_none());
    assert_eq!(Value::array(vec![Value::vector(&[]), Value::vector(&[])]).map(|value| value.dims()), Some(vec![2, 0]));
}
