//! Differentiated programs against the interpreter's own meaning of `dual`.
//!
//! In: programs built by constructors. Checked: the differentiated program has no `dual`, binds every
//! variable once, and has the value that `ir::eval` gives the program as written.

mod arrays;
mod calls;
mod folds;
mod random;
mod scalars;
mod size;

use std::collections::HashSet;
use std::rc::Rc;

use super::differentiate;
use crate::ir::check::{check, check_no_dual};
use crate::ir::eval::{Value, eval};
use crate::ir::{Expr, Function, Prim, Program, Size, Term, Type, Var};
use crate::source::Span;

pub fn num(value: f64) -> Expr {
    Expr::double(value)
}

pub fn int(value: i64) -> Expr {
    Expr::index(value)
}

pub fn add(a: &Expr, b: &Expr) -> Expr {
    two(Prim::Add, a, b)
}

pub fn mul(a: &Expr, b: &Expr) -> Expr {
    two(Prim::Mul, a, b)
}

pub fn two(prim: Prim, a: &Expr, b: &Expr) -> Expr {
    Expr::prim(prim, vec![a.clone(), b.clone()])
}

pub fn one(prim: Prim, a: &Expr) -> Expr {
    Expr::prim(prim, vec![a.clone()])
}

pub fn get(array: &Expr, index: &Expr) -> Expr {
    Expr::get(array.clone(), index.clone())
}

/// `let name = value in body(name)`.
pub fn named(name: &str, value: Expr, body: impl FnOnce(&Expr) -> Expr) -> Expr {
    let var = Var::fresh(name, value.ty().clone());
    let body = body(&Expr::var(&var));
    Expr::let_(var, value, body)
}

/// `dual(x = at, dx = tangent). body(x)`.
pub fn dual(at: &Expr, tangent: &Expr, body: impl FnOnce(&Expr) -> Expr) -> Expr {
    let x = Var::fresh("x", at.ty().clone());
    let body = body(&Expr::var(&x));
    Expr::dual(x, at.clone(), tangent.clone(), body)
}

/// The tangent of a Double body for a Double variable.
pub fn derivative(at: &Expr, body: impl FnOnce(&Expr) -> Expr) -> Expr {
    Expr::proj(dual(at, &num(1.0), body), 1)
}

/// `hot i` of the length of `v`.
pub fn hot(v: &Expr, i: &Expr) -> Expr {
    Expr::build(Expr::dim(v.clone(), 0), "j", |j| Expr::if_(two(Prim::Eq, i, &j), num(1.0), num(0.0)))
}

/// The pairs of all partial derivatives of a body at a vector.
pub fn gradient(v: &Expr, body: impl FnOnce(&Expr) -> Expr) -> Expr {
    Expr::build(Expr::dim(v.clone(), 0), "i", |i| dual(v, &hot(v, &i), body))
}

pub fn sum(v: &Expr) -> Expr {
    Expr::fold(Expr::dim(v.clone(), 0), "s", "k", num(0.0), |s, k| add(&s, &get(v, &k)))
}

pub fn vector(size: &Var) -> Type {
    Type::array(Type::Double, Size::var(size))
}

pub fn matrix(rows: &Var, columns: &Var) -> Type {
    Type::array(vector(columns), Size::var(rows))
}

/// A function whose sizes are the lone size variables of its parameters.
pub fn function(name: &str, params: &[&Var], body: Expr) -> Function {
    let params: Vec<Var> = params.iter().map(|param| (*param).clone()).collect();
    let mut sizes: Vec<Var> = Vec::new();
    for param in &params {
        param.ty().each_size(&mut |size| {
            if let Some(var) = size.as_var()
                && !sizes.contains(var)
                && !params.contains(var)
            {
                sizes.push(var.clone());
            }
        });
    }
    Function { is_entry: false, ..Function::entry(name, sizes, params, body) }
}

/// A program whose last function is its entry.
pub fn program(functions: Vec<Function>) -> Program {
    let last = functions.len().saturating_sub(1);
    let functions = functions.into_iter().enumerate();
    Program { functions: functions.map(|(at, f)| (f.name.clone(), Function { is_entry: at == last, ..f })).collect() }
}

/// One entry `main`.
pub fn main(params: &[&Var], body: Expr) -> Program {
    program(vec![function("main", params, body)])
}

pub fn x() -> (Var, Expr) {
    let var = Var::fresh("x", Type::Double);
    let term = Expr::var(&var);
    (var, term)
}

/// A vector parameter with a length of its own.
pub fn v(name: &str) -> (Var, Expr) {
    let size = Var::fresh(&format!("{name}_n"), Type::INDEX);
    let var = Var::fresh(name, vector(&size));
    let term = Expr::var(&var);
    (var, term)
}

/// A matrix parameter with lengths of its own.
pub fn m(name: &str) -> (Var, Expr) {
    let (rows, columns) = (Var::fresh("rows", Type::INDEX), Var::fresh("columns", Type::INDEX));
    let var = Var::fresh(name, matrix(&rows, &columns));
    let term = Expr::var(&var);
    (var, term)
}

pub fn tuple(parts: &[Expr]) -> Expr {
    Expr::tuple(parts.to_vec())
}

pub fn value(x: f64) -> Value {
    Value::Double(x)
}

/// Differentiates, checks the form, and gives the result.
pub fn derived(program: &Program) -> Program {
    let result = differentiate(program, crate::ad::Options::default()).unwrap();
    check(program).unwrap();
    check_no_dual(&result).unwrap();
    check(&result).unwrap();
    let mut bound = HashSet::new();
    for function in result.functions.values() {
        function.params.iter().chain(&function.sizes).for_each(|var| assert!(bound.insert(var.clone()), "{var:?} is bound twice"));
        well_formed(&function.body, &mut bound);
    }
    result
}

fn well_formed(expr: &Expr, bound: &mut HashSet<Var>) {
    assert!(!matches!(expr.term(), Term::Dual { .. }), "a dual is left");
    expr.term().binders().for_each(|var| assert!(bound.insert(var.clone()), "{var:?} is bound twice"));
    expr.term().each_child(&mut |child| well_formed(child, bound));
}

/// The differentiated program has the value of the program as written, which is returned.
#[track_caller]
pub fn agrees(program: &Program, args: &[Value]) -> Value {
    let entry: Rc<str> = program.functions.keys().last().unwrap().clone();
    let expected = eval(program, &entry, args.to_vec()).unwrap().value;
    let found = eval(&derived(program), &entry, args.to_vec()).unwrap().value;
    assert!(close(&expected, &found), "at {args:?}\nexpected {expected:?}\nfound {found:?}");
    expected
}

/// As [`agrees`], for arguments that are Doubles.
#[track_caller]
pub fn agrees_at(program: &Program, args: &[f64]) -> Value {
    agrees(program, &args.iter().map(|x| value(*x)).collect::<Vec<_>>())
}

/// Both fail with one kind of error.
#[track_caller]
pub fn fails_alike(program: &Program, args: &[Value]) {
    let entry: Rc<str> = program.functions.keys().last().unwrap().clone();
    let expected = eval(program, &entry, args.to_vec()).unwrap_err();
    let found = eval(&derived(program), &entry, args.to_vec()).unwrap_err();
    assert_eq!((expected.kind, expected.span), (found.kind, found.span));
}

#[track_caller]
pub fn is(found: &Value, expected: &[f64]) {
    let mut doubles = Vec::new();
    flatten(found, &mut doubles);
    let expected: Vec<f64> = expected.to_vec();
    assert!(doubles.len() == expected.len() && doubles.iter().zip(&expected).all(|(a, b)| near(*a, *b)), "{doubles:?} for {expected:?}");
}

fn flatten(value: &Value, doubles: &mut Vec<f64>) {
    match value {
        Value::Double(x) => doubles.push(*x),
        Value::Index(_) | Value::Bool(_) => {}
        Value::Tuple(parts) => parts.iter().for_each(|part| flatten(part, doubles)),
        Value::Array(array) => array.items.iter().for_each(|item| flatten(item, doubles)),
        Value::Rolled(_) => panic!("`ad` has no recursive types"),
    }
}

fn near(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-11 * a.abs().max(b.abs()).max(1.0)
}

fn close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => near(*a, *b),
        (Value::Tuple(a), Value::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| close(a, b)),
        (Value::Array(a), Value::Array(b)) => {
            a.items.len() == b.items.len() && a.element.agrees(&b.element) && a.items.iter().zip(&b.items).all(|(a, b)| close(a, b))
        }
        _ => a == b,
    }
}
