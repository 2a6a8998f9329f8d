//! What the room says about texts that are wrong: code, place and message; help is always there.

use super::sexp::{file, lines, one};
use crate::syntax::{MAX_ERRORS, parse, parse_expr};

#[track_caller]
fn says(text: &str, report: &str) {
    assert_eq!(file(text), report, "{text}");
    for error in parse(text, 0).err().into_iter().flatten() {
        assert!(error.help.is_some(), "no help: {}", lines(&[error], text));
    }
}

#[test]
fn expected_and_found() {
    says("let f x = (x + )", "E0101 [)]: expected an expression, found `)`");
    says("let f x =", "");
    says("let f x = )", "");
    says("let f x x + 1", "");
    says("let f = f 1 fun x -> x", "");
    says("let f (x: ) = x", "");
    says("let f (x y) = x", "");
    says("let = 3", "");
    says("let f = if a b else c", "");
    says("let f = fun x x", "");
    says("let f = fun -> x", "");
    says("let f = a b: c", "");
    says("let f = ()", "");
    says("let f = a,", "");
    says("let f = a = = b", "");
    says("let a, b = c", "");
    says("let f = v[]", "");
    says("let f = [a b, ]", "");
    says("let f = _ + 1", "");
    says("let f = x open y", "");
    says("let f = let (a, b) c = 1 in c", "");
    says("let f = a => b", "");
    says("open", "");
    says("open linalg foo", "");
    says("let f = \"text\"", "");
}

#[test]
fn brackets() {
    says("let f = (a + b\nlet g = 1", "");
    says("let f = a + b)", "");
    says("let f = [a + b)", "");
    says("let f = [| a ]", "");
    says("let f = (if a then b", "");
    says("let f (x: Double = 1", "");
    says("let f = if (a then b else c", "");
}

#[test]
fn lines_and_columns() {
    says("let f =\n  g a\n  b", "");
    says("let f =\n  let x = 1\n  x\n  y", "");
    says("let f =\n  let x = 1\nlet g = 2", "");
    says("let f =\n  let x = 1\n    x", "");
    says("let f =\n  let x = 1\n x", "");
    says("let f =\nx + 1", "");
    says("let f =\n  let x =\n  1\n  x", "");
    says("let f = 1\n+ 2", "");
    says("x + 1\nlet f = 2", "");
    says(" let f = 2", "");
    says("let f = 2 in f", "");
    says("let f =\n  if a then b\n  c", "");
    says("let f = fun x ->\nx", "");
    says("let f =\n\tx", "");
}

#[test]
fn words() {
    says("let in = 3", "");
    says("let f (of: Double) = 1", "");
    says("let f = match x", "");
    says("let rec f x = f x", "");
    says("let f = else", "");
    says("let f = a @@ b", "");
    says("let f = .5 + 1", "");
    says("let f = 2x + 1e", "");
    says("let f = 1e999", "");
    says("let f = a | b", "");
    says("let f = é", "");
    says("open \"abc\nlet f = 1", "");
    says("let f = 1 (* a (* b *)", "");
    says("let f = { a }", "");
}

#[test]
fn constructs() {
    says("let f = if a then b", "");
    says("let f = (if a then b elif c then d)", "");
    says("let f = a < b < c", "");
    says("let f = a = b <> c", "");
    says("let f = deriv e", "");
    says("let f = deriv e 1", "");
    says("let f = deriv e x y", "");
    says("let f = deriv", "");
    says("let f (x: Float) = x", "");
    says("let f (x: Vector<n, m>) = x", "");
    says("let f (x: Matrix<n>) = x", "");
    says("let f (x: Array) = x", "");
    says("let f (x: Vector<1.5>) = x", "");
    says("let f (x: Vector<Array<n>>) = x", "");
    says("let f (x: n + m) = x", "");
    says("let f (x: 3) = x", "");
    says("let f (x: Vector<a => b>) = x", "");
}

#[test]
fn several_errors_are_reported_together() {
    says("let f = (\nlet g = 1 +\nlet ok = 1\nlet h = @\n", "");
    let many = "let f = )\n".repeat(1000);
    assert_eq!(parse(&many, 0).err().map(|errors| errors.len()), Some(MAX_ERRORS));
    let many = "let f = 1 @ 2 # 3\n".repeat(1000);
    assert_eq!(parse(&many, 0).err().map(|errors| errors.len()), Some(MAX_ERRORS));
}

#[test]
fn one_expression() {
    for text in ["", "a b )", "1 +", "let x = 1", "a\nb", "é"] {
        let errors = parse_expr(text, 0).expect_err("not an expression");
        assert!(errors.iter().all(|error| error.help.is_some()), "{text}: {}", one(text));
    }
}
