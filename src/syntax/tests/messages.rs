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
    says("let f x =", "E0101 []: expected an expression, found the end of the declaration");
    says("let f x = )", "E0102 [)]: expected no `)`: nothing is open");
    says("let f x x + 1", "E0101 [+]: expected `:`, `=` or a parameter, found `+`");
    says("let f = f 1 fun x -> x", "E0101 [fun]: expected an operator or the end of the expression, found `fun`");
    says("let f (x: ) = x", "E0101 [)]: expected a type, found `)`");
    says("let f (x y) = x", "E0101 [y]: expected the end of the pattern, found another one behind it");
    says("let = 3", "E0101 [=]: expected a name, found `=`");
    says("let f = if a b else c", "E0101 [else]: expected `if … then` before `else`");
    says("let f = fun x x", "E0101 []: expected `->` or a parameter, found the end of the declaration");
    says("let f = fun -> x", "E0101 [->]: expected a parameter, found `->`");
    says("let f = a b: c", "E0101 [:]: expected an operator or the end of the expression, found `:`");
    says("let f = a,", "E0101 []: expected an expression, found the end of the declaration");
    says("let f = a = = b", "E0101 [=]: expected an expression, found `=`");
    says("let a, b = c", "E0101 [,]: expected `:`, `=` or a parameter, found `,`");
    says("let f = v[]", "E0101 []]: expected an expression, found `]`");
    says("let f = [a b, ]", "E0101 []]: expected an expression, found `]`");
    says("let f = _ + 1", "E0101 [_]: expected an expression, found `_`");
    says("let f = x open y", "E0101 [open]: expected an operator or the end of the expression, found `open`");
    says("let f = let (a, b) c = 1 in c", "E0101 [(a, b)]: expected the name of a function, found a pattern");
    says("let f = a => b", "E0101 [=>]: expected an operator or the end of the expression, found `=>`");
    says("open", "E0101 []: expected a library or file name, found the end of the declaration");
    says("open linalg foo", "E0101 [foo]: expected the end of the declaration, found `foo`");
    says("let f = \"text\"", "E0115 [\"text\"]: there are no texts");
}

#[test]
fn brackets() {
    says("let f = (a + b\nlet g = 1", "E0102 [(]: expected `)` to close this `(`");
    says("let f = a + b)", "E0102 [)]: expected no `)`: nothing is open");
    says("let f = [a + b)", "E0102 [)]: expected `]`, found `)`");
    says("let f = [| a ]", "E0102 []]: expected `|]`, found `]`");
    says("let f = (if a then b", "E0102 [(]: expected `)` to close this `(`");
    says("let f (x: Double = 1", "E0102 [(]: expected `)` to close this `(`");
    says("let f = if (a then b else c", "E0102 [then]: expected `)`, found `then`");
}

#[test]
fn lines_and_columns() {
    says("let f =\n  g a\n  b", "E0103 [b]: expected the end of the block, found `b`");
    says("let f =\n  let x = 1\n  x\n  y", "E0103 [y]: expected the end of the block, found `y`");
    says("let f =\n  let x = 1\nlet g = 2", "E0103 []: expected the body of this `let`, found the end of the declaration");
    says("let f =\n  let x = 1\n    x", "E0103 [x]: expected the body of a `let`, found a line of its value");
    says("let f =\n  let x = 1\n    let y = 2\n  x", "E0103 [let]: expected a line of the block, found a `let` that stands deeper");
    says("let f =\n  let x = 1\n x", "E0103 [x]: expected the body of this `let`, found `x`");
    says("let f =\nx + 1", "E0103 [x]: expected the body of `f`, found a line in column 0");
    says(
        "let f =\nlet y = 1\nlet z = 2\ny + z\nlet g = )",
        "E0103 [let]: expected the body of `f`, found a line in column 0\nE0102 [)]: expected no `)`: nothing is open",
    );
    says("let f =\nlet g = 1", "E0101 []: expected an expression, found the end of the declaration");
    says("let f =\n  let x =\n  1\n  x", "E0101 [1]: expected an expression, found `1`");
    says("let f = 1\n+ 2", "E0114 [+]: expected a declaration, found `+`");
    says("x + 1\nlet f = 2", "E0114 [x]: expected a declaration, found `x`");
    says(" let f = 2", "E0114 [let]: expected `let` in column 0");
    says("let f = 2 in f", "E0101 [in]: expected `let` before `in`");
    says("let f =\n  if a then b\n  c", "E0110 [c]: expected `else`, found `c`");
    says("let f = fun x ->\nx", "E0101 [x]: expected an expression, found `x`");
    says("let f =\n\tx", "E0105 [\t]: expected spaces, found a tab");
}

#[test]
fn a_declaration_does_not_begin_behind_a_comment() {
    for (before, word) in [
        ("type A = { x: Double }\n(* note *) ", "let"),
        ("type A = | B of Double\n(* note *) ", "let"),
        ("type A = | B\n(* a\nb *) ", "type"),
        ("let f x = x\n(* é *)(* note *) ", "let"),
        ("let a = 1.0\n(* note *) ", "open"),
        ("open linalg\n(* note *) ", "let"),
        ("(* note *) ", "let"),
        ("(* note *) ", "open"),
    ] {
        let text = format!("{before}{word} k = 2.0\n");
        let errors = parse(&text, 0).expect_err("it is refused");
        assert_eq!(lines(&errors, &text), format!("E0114 [{word}]: expected `{word}` in column 0"), "{text}");
        assert_eq!(errors[0].help.as_deref(), Some("put the comment before it on a line of its own"), "{text}");
    }
    // inside of a declaration it is a line of a block
    assert!(parse("let f x =\n  (* note *) let y = x\n             y", 0).is_ok());
    says("let f x = g\n  (* note *) let y = x", "E0101 [let]: expected an operator or the end of the expression, found `let`");
}

#[test]
fn words() {
    says("let in = 3", "E0107 [in]: `in` is a reserved word");
    says("let f (of: Double) = 1", "E0107 [of]: `of` is a reserved word");
    says("let f = match x", "E0101 []: expected `with`, found the end of the declaration");
    says("let f = type x", "E0107 [type]: `type` is a reserved word");
    says("let rec f x = f x", "E0108 [x]: a parameter of a recursive function has no type");
    says("let rec f (x: Double) decreases x : Double = x", "E0108 [x]: `x` is no parameter of type Index");
    says("let f x =\n  let rec g (y: Double) decreases y : Double = y\n  g x", "E0108 [y]: `y` is no parameter of type Index");
    says("let f x = x\nand g x = x", "E0108 [and]: no `let rec` stands before this `and`");
    says("let f x = x\nand B = { x: Double }", "E0108 [and]: no `type` stands before this `and`");
    says("let rec f (x: T) : T = f x\nand c = 1\nand g (x: T) : T = x", "E0108 [c]: only functions are recursive");
    says("type A = | X\nand g (x: Double) : Double = x", "E0108 [and]: no `let rec` stands before this `and`");
    says("let f x = x and g (x: Double) : Double = x", "E0108 [and]: no `let rec` stands before this `and`");
    says("let f x =\n  let g y = y\n  and h (y: Bool) : Bool = y\n  g x", "E0108 [and]: no `let rec` stands before this `and`");
    says("let f x =\n  let rec g (y: T) : T = h y and h (y: T) : T = (y\n  g x", "E0102 [(]: expected `)` to close this `(`");
    says("let f x =\n  let rec g (y: T) : T = y\n  and h y : T = y\n  g x", "E0108 [y]: a parameter of a recursive function has no type");
    says(
        "let f x =\n  let rec g (y: T) : T = y and h (y: T) z : T = y\n  g x",
        "E0108 [z]: a parameter of a recursive function has no type",
    );
    says("let f x =\n  let rec g (y: T) : T = y\n  and c = 3.0\n  g x", "E0108 [c = 3.0]: only functions are recursive");
    says(
        "let f x =\n  let rec g (y: T) : T = y\n  and\n  g x",
        "E0101 []: expected `:`, `=` or a parameter, found the end of the declaration",
    );
    says("let f x = (let rec g (y: T) : T = y in g x and h (y: T) : T = y)", "E0108 [and]: no `let rec` stands before this `and`");
    for and in ["a and b", "if a and b = c then a else b", "(a and b) = c", "a and f (fun (x: Double) -> x) = c"] {
        says(&format!("let rec f (a: Bool) (b: Bool) : Bool = {and}"), "E0115 [and]: `and` is written `&&`");
    }
    for (head, found) in
        [("(n: Index) : T decreases n - 1", "-"), ("(n: Index) decreases (n) : T", "("), ("(n: Index) decreases n m : T", "m")]
    {
        let said = format!("E0108 [{found}]: `decreases` takes the name of one parameter, found `{found}`");
        says(&format!("let rec f {head} = n"), &said);
        says(&format!("let f x =\n  let rec g {head} = n\n  g x"), &said);
    }
    says("let f = else", "E0101 [else]: expected `if … then` before `else`");
    says("let f = a @@ b", "E0105 [@@]: expected a name, a number or an operator, found `@@`");
    says("let f = x.5 + 1", "E0106 [.5]: expected a blank before `.5`");
    says("let f = 2x + 1e", "E0106 [2x]: expected a number, found `2x`\nE0106 [1e]: expected a number, found `1e`");
    says("let f = 1e999", "E0106 [1e999]: `1e999` does not fit a Double");
    says("let f = a | b", "E0101 [|]: expected `match … with` before `|`");
    says("let f = é", "E0105 [é]: expected a name, a number or an operator, found `é`");
    says("open \"abc\nlet f = 1", "E0104 [\"abc]: expected `\"`, found the end of the line");
    says("let f = 1 (* a (* b *)", "E0104 [(*]: expected `*)`, found the end of the file");
    says("let f = { a }", "E0101 [}]: expected `=` or `with`, found `}`");
    says("type T = { a: Double", "E0102 [{]: expected `}` to close this `{`");
    says("type T = { }", "E0101 [}]: expected a name, found `}`");
}

#[test]
fn constructs() {
    says("let f = if a then b", "E0110 []: expected `else`, found the end of the declaration");
    says("let f = (if a then b elif c then d)", "E0110 [)]: expected `else`, found `)`");
    says("let f = a < b < c", "E0111 [<]: comparisons do not chain");
    says("let f = a = b <> c", "E0111 [<>]: comparisons do not chain");
    says("let f = deriv e", "E0112 [deriv e]: expected two arguments of `deriv`, found 1");
    says("let f = deriv e 1", "E0112 [1]: expected a variable after the expression of `deriv`");
    says("let f = deriv e x y", "E0112 [deriv e x y]: expected two arguments of `deriv`, found 3");
    says("let f = deriv", "E0112 [deriv]: expected two arguments of `deriv`, found 0");
    says("let f (x: Vector<n, m>) = x", "E0113 [Vector]: expected at most one size for `Vector`, found 2");
    says("let f (x: Matrix<n>) = x", "E0113 [Matrix]: expected two sizes or none for `Matrix`, found 1");
    says("let f (x: Array) = x", "E0113 [Array]: expected an element type and at most one size for `Array`, found 0");
    says("let f (x: Vector<1.5>) = x", "E0113 [1.5]: expected a size, found `1.5`");
    says("let f (x: Vector<Array<n>>) = x", "E0113 [Array<n>]: expected a size, found `Array<…>`");
    says("let f (x: n + m) = x", "E0113 [+]: expected a type, found `+`");
    says("let f (x: 3) = x", "E0113 [3]: expected a type, found `3`");
    says("let f (x: Vector<a => b>) = x", "E0113 [=>]: expected a size, found `=>`");
}

#[test]
fn several_errors_are_reported_together() {
    says(
        "let f = (\nlet g = 1 +\nlet ok = 1\nlet h = @\n",
        "E0102 [(]: expected `)` to close this `(`\nE0101 []: expected an expression, found the end of the declaration\nE0115 [@]: there is no `@`",
    );
    let many = "let f = )\n".repeat(MAX_ERRORS + 1);
    assert_eq!(parse(&many, 0).err().map(|errors| errors.len()), Some(MAX_ERRORS));
    let many = "let f = 1 é 2 é 3\n".repeat(MAX_ERRORS);
    assert_eq!(parse(&many, 0).err().map(|errors| errors.len()), Some(MAX_ERRORS));
}

#[test]
fn one_expression() {
    for text in ["", "a b )", "1 +", "let x = 1", "a\nb", "é"] {
        let errors = parse_expr(text, 0).expect_err("not an expression");
        assert!(errors.iter().all(|error| error.help.is_some()), "{text}: {}", one(text));
    }
}

#[test]
fn a_second_name_for_a_type_is_said_to_be_none() {
    let errors = parse("type S = Vector<3>", 0).err().unwrap_or_default();
    let help = errors[0].help.as_deref().unwrap_or_default();
    assert!(help.contains("no second name"), "{help}");
}
