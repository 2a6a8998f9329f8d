//! Laws in text: precedence, negative constants, branches.

use super::law::{Laws, Operation, Term, operation};
use crate::ir::prim::Prim;

fn name(text: &str, value: f64) -> Term {
    Term::name(text.into(), value)
}

fn done(prim: Prim, operands: &[Term]) -> String {
    operation(prim, None, operands.to_vec()).map_or("nothing".into(), |term| term.text)
}

#[test]
fn constants_are_as_they_are() {
    let (x, c) = (name("x", 1.0), Term::constant(-2.0));
    assert_eq!(done(Prim::Mul, &[x.clone(), c.clone()]), "x * -2.0");
    assert_eq!(done(Prim::Sub, &[c.clone(), x.clone()]), "-2.0 - x");
    assert_eq!(done(Prim::Pow, &[x.clone(), c.clone()]), "x ** -2.0");
    assert_eq!(done(Prim::Pow, &[c.clone(), x.clone()]), "(-2.0) ** x");
    assert_eq!(done(Prim::Max, &[x, c.clone()]), "max x -2.0");
    assert_eq!(done(Prim::Neg, &[c]), "-(-2.0)");
    assert_eq!(done(Prim::Sin, &[Term::constant(f64::NEG_INFINITY)]), "sin -Infinity");
}

/// What `prim x y` (or `prim x`) gives back to an operand, with the adjoint 2.0.
fn share(prim: Prim, x: f64, y: f64, operand: usize, of_both: bool) -> Option<(String, f64)> {
    let mut operands = vec![name("x", x), name("y", y)];
    operands.truncate(prim.row().arity);
    let result = operation(prim, None, operands.clone()).expect("an operation");
    let result = name("r", result.value);
    let operation = Operation { prim, order: None, operands, result, adjoint: name("r'", 2.0), of_both };
    Laws::default().share(&operation, operand).expect("a law").map(|term| (term.text, term.value))
}

#[test]
fn shares_are_laws_with_the_adjoint_for_the_tangent() {
    let text = |prim, x, y, operand| share(prim, x, y, operand, false).map_or("nothing".to_string(), |(text, _)| text);
    assert_eq!(text(Prim::Div, 1.0, 2.0, 1), "-(r * r') / y");
    assert_eq!(text(Prim::Cos, 1.0, 0.0, 0), "-sin x * r'");
    assert_eq!(text(Prim::Asin, 0.5, 0.0, 0), "r' / sqrt (1.0 - x * x)");
    assert_eq!(text(Prim::Erf, 0.5, 0.0, 0), "1.1283791670955126 * exp (-(x * x)) * r'");
    assert_eq!(text(Prim::Lgamma, 0.5, 0.0, 0), "polygamma 0 x * r'");
    assert_eq!(text(Prim::Atan2, 0.5, 1.0, 0), "y * r' / (x * x + y * y)");
    // the branch that holds
    assert_eq!(text(Prim::Pow, 3.0, 2.0, 0), "y * x ** (y - 1.0) * r'");
    assert_eq!(share(Prim::Pow, 3.0, 0.0, 0, false), None);
    assert_eq!(share(Prim::Pow, 0.0, 2.0, 1, false), None);
    // the other operand has a derivative too
    assert_eq!(share(Prim::Pow, 3.0, 0.0, 0, true), Some(("y * x ** (y - 1.0) * r'".into(), 0.0)));
    assert_eq!(share(Prim::Div, 1.0, 2.0, 1, true), Some(("-(r * (r' / y))".into(), -0.5)));
    assert_eq!(share(Prim::Max, 1.0, 1.0, 0, false), Some(("r'".into(), 2.0)));
    assert_eq!(share(Prim::Max, 1.0, 1.0, 1, false), None);
    assert_eq!(share(Prim::Min, f64::NAN, 1.0, 1, false), None);
    assert_eq!(share(Prim::Floor, 1.5, 0.0, 0, false), None);
}
