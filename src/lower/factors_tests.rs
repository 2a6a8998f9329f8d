//! What a row of sums has in common: which factors of a product are taken before it, and which stay.

use super::{LowerOptions, lower};
use crate::ir::*;
use crate::loops;
use crate::loops::program::{Block, Stmt, Value};
use crate::loops::visit::each_value;
use crate::source::Span;

fn op(prim: Prim, a: Expr, b: Expr) -> Expr {
    Expr::prim(prim, vec![a, b])
}

fn at(array: &Var, index: &Expr) -> Expr {
    Expr::get(Expr::var(array), index.clone())
}

/// `f(t, X, y) = build(n, j. sum(m, i. term))`, where the term is of `t`, `X[i][j]` and `y[i]`: the multiplications and divisions of
/// the innermost loop, and those of the loop around it.
fn operations(options: &LowerOptions, term: impl Fn(Expr, Expr, Expr) -> Expr) -> [usize; 2] {
    let [m, n] = ["m", "n"].map(|name| Var::fresh(name, Type::INDEX));
    let t = Var::fresh("t", Type::Double);
    let row = Type::array(Type::Double, Size::var(&n));
    let x = Var::fresh("X", Type::array(row, Size::var(&m)));
    let y = Var::fresh("y", Type::array(Type::Double, Size::var(&m)));
    let body = Expr::build(Expr::var(&n), "j", |j| {
        Expr::fold(Expr::var(&m), "s", "i", Expr::double(0.0), |s, i| {
            op(Prim::Add, s, term(Expr::var(&t), Expr::get(at(&x, &i), j.clone()), at(&y, &i)))
        })
    });
    let result = body.ty().clone();
    let (sizes, params) = (vec![m, n], vec![t, x, y]);
    let function =
        Function { name: "f".into(), doc: None, sizes, params, result, body, is_entry: true, span: Span::NONE, labels: Vec::new() };
    let mut program = Program::default();
    program.functions.insert("f".into(), function);
    let lowered = lower(&program, &["f".into()], options).expect("lowers");
    let passes = loops::Options { algebra: options.reciprocals, ..loops::Options::default() };
    let lowered = loops::optimise(lowered, &passes).expect("optimises");
    let mut found = [0, 0];
    count(&lowered.functions[0].body, &mut found);
    found
}

/// Adds up the products and quotients of numbers in innermost loops, and in loops around them, each written once.
fn count(block: &Block, found: &mut [usize; 2]) {
    for stmt in block {
        if let Stmt::For { body, .. } = stmt {
            let inner = body.iter().any(|stmt| matches!(stmt, Stmt::For { .. }));
            let own: Block = body.iter().filter(|stmt| !matches!(stmt, Stmt::For { .. })).cloned().collect();
            each_value(&own, &mut |value| {
                let counts = matches!(value, Value::Prim { prim: Prim::Mul | Prim::Div, elem: crate::loops::program::Elem::Double, .. });
                found[usize::from(inner)] += usize::from(counts);
            });
        }
        stmt.blocks().for_each(|block| count(block, found));
    }
}

#[test]
fn a_row_computes_its_factors_once() {
    let fast = LowerOptions { reciprocals: true, ..LowerOptions::default() };
    // t * (x * y) / (1 + t)
    let term = |t: Expr, x: Expr, y: Expr| {
        let product = op(Prim::Mul, t.clone(), op(Prim::Mul, x, y));
        op(Prim::Div, product, op(Prim::Add, Expr::double(1.0), t))
    };
    assert_eq!(operations(&LowerOptions::default(), term), [3, 0]);
    // four rows at a time and then one: a multiplication for each of the five, and before it another with a division
    assert_eq!(operations(&fast, term), [5, 10]);
    // one factor takes no operation, and what a sum has in common is no factor
    assert_eq!(operations(&fast, |_, x, y| op(Prim::Mul, x, y)), [5, 0]);
    assert_eq!(operations(&fast, |t, x, y| op(Prim::Mul, x, op(Prim::Add, t, y))), [5, 0]);
    assert_eq!(operations(&fast, |t, x, y| op(Prim::Div, x, op(Prim::Mul, op(Prim::Add, t, y.clone()), y))), [5, 10]);
}
