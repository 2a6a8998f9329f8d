//! Layout, precedence, application and types: text to tree.

use super::sexp::{file, one};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{ExprKind, OpenWhat};
use crate::syntax::{format, parse, parse_expr};

#[track_caller]
fn same(cases: &[(&str, &str)]) {
    for (text, tree) in cases {
        assert_eq!(&one(text), tree, "{text}");
    }
}

#[track_caller]
fn body(lines: &str, tree: &str) {
    let text = format!("let f =\n{lines}\n");
    assert_eq!(file(&text), format!("f = {tree}"), "{text}");
}

#[test]
fn precedence() {
    same(&[
        ("a || b && c || d", "(|| (|| a (&& b c)) d)"),
        ("a = b && c <> d", "(&& (= a b) (<> c d))"),
        ("a == b || c != d", "(|| (= a b) (<> c d))"),
        ("a + b < c * d", "(< (+ a b) (* c d))"),
        ("a - b - c + d", "(+ (- (- a b) c) d)"),
        ("a * b / c % d", "(% (/ (* a b) c) d)"),
        ("a ** b ** c", "(** a (** b c))"),
        ("a .* b * c ./ d", "(./ (* (.* a b) c) d)"),
        ("a + b .* -c", "(+ a (.* b (neg c)))"),
        ("a.*b./c", "(./ (.* a b) c)"),
        ("a[0].*2.", "(.* a[0] 2.0)"),
        ("f (.*) (./)", "(f (.*) (./))"),
        ("-x ** 2", "(neg (** x 2))"),
        ("x ** -1.0", "(** x (neg 1.0))"),
        ("x ** -y ** z * w", "(* (** x (neg (** y z))) w)"),
        ("-a * b", "(* (neg a) b)"),
        ("a * -b + c", "(+ (* a (neg b)) c)"),
        ("not a && b", "(&& (not a) b)"),
        ("not a = b", "(= (not a) b)"),
        ("not f x", "(not (f x))"),
        ("- - x", "(neg (neg x))"),
        ("f x ** 2", "(** (f x) 2)"),
        ("a <= b", "(<= a b)"),
        ("(a < b) = (c >= d)", "(= (< a b) (>= c d))"),
    ]);
}

#[test]
fn fields_on_lines_of_their_own() {
    body("  { a = 1\n    b =\n      if c then x\n      else y\n    d = f\n      2 }", "{a = 1; b = (if c x y); d = (f 2)}");
    body("  { c with\n      a = 1\n      b = 2\n  }", "{c with a = 1; b = 2}");
    body("  let { a = x } = c\n  x", "(let {a = x} = c in x)");
}

#[test]
fn application_indexing_and_minus() {
    same(&[
        ("f v[i]", "(f v[i])"),
        ("f v.[i]", "(f v[i])"),
        ("f [i]", "(f [i])"),
        ("a[i][j]", "a[i][j]"),
        ("a[i..j]", "a[i..j]"),
        ("f c.focal v[i].x", "(f c.focal v[i].x)"),
        ("(f c).x.y + 1", "(+ (f c).x.y 1)"),
        ("{ a = 1; b = x = y; }", "{a = 1; b = (= x y)}"),
        ("{ f c with a = let y = 1 in y; b = 2 }", "{(f c) with a = (let y = 1 in y); b = 2}"),
        ("g { a = 1 } {b=2}.b", "(g {a = 1} {b = 2}.b)"),
        ("fun { a = x; b = (y, _) } -> x", "(fun {a = x; b = (y, _)} -> x)"),
        ("a[2..4]", "a[2..4]"),
        ("a[..4]", "a[..4]"),
        ("a.[2 ..]", "a[2..]"),
        ("f a[i][0..n - 1]", "(f a[i][0..(- n 1)])"),
        ("a[..-1]", "a[..(neg 1)]"),
        ("a[if c then 1 else 0..let y = 1 in y + 1]", "a[(if c 1 0)..(let y = 1 in (+ y 1))]"),
        ("a[f x..g y]", "a[(f x)..(g y)]"),
        ("a[1..][..b][i]", "a[1..][..b][i]"),
        ("[2.*x, 3./x]", "[(* 2.0 x), (/ 3.0 x)]"),
        ("a[2...5]", "a[2..0.5]"),
        ("a.[i].[j]", "a[i][j]"),
        ("(f x)[0]", "(f x)[0]"),
        ("f(x)[0]", "(f x)[0]"),
        ("f (x)[0]", "(f x[0])"),
        ("g f(x)", "(g (f x))"),
        ("f(x) y", "(f x y)"),
        ("f(x)(y)", "(f x y)"),
        ("(f x) y", "((f x) y)"),
        ("f(a, b)", "(f (a, b))"),
        ("a-x", "(- a x)"),
        ("a - x", "(- a x)"),
        ("a- x", "(- a x)"),
        ("f -x", "(f (neg x))"),
        ("f -1.0 -y", "(f (neg 1.0) (neg y))"),
        ("f -x[0] ** 2", "(** (f (neg x[0])) 2)"),
        ("f (-x)", "(f (neg x))"),
        ("(a) -b", "(a (neg b))"),
        ("a + -b", "(+ a (neg b))"),
        ("[1,2][0]", "[1, 2][0]"),
        ("v[i -1]", "v[(i (neg 1))]"),
        ("v[i-1]", "v[(- i 1)]"),
        ("f true (+) ( * ) (*) (-) (not) (**)", "(f true (+) (*) (*) (-) (fun x -> (not x)) (**))"),
        ("f true (+) ( * ) (*) ( ** ) (&&)", "(f true (+) (*) (*) (**) (&&))"),
        ("f (not)", "(f (fun x -> (not x)))"),
        ("deriv (y * x) x", "(deriv (* y x) x)"),
        ("deriv (deriv e x) x", "(deriv (deriv e x) x)"),
        ("fst (deriv f(x) x)", "(fst (deriv (f x) x))"),
        ("1 + fun x -> x + 1", "(+ 1 (fun x -> (+ x 1)))"),
        ("fun x -> fun y -> x", "(fun x -> (fun y -> x))"),
        ("fun (x: Double) ((a, b): DoubleD) _ (c, d) -> x", "(fun (x: D) ((a, b): (D * D)) _ (c, d) -> x)"),
        ("(fun i -> i, 1.0)", "(fun i -> (i, 1.0))"),
        ("(if a then b else c, d)", "((if a b c), d)"),
        ("if a then b elif c then d else e + 1", "(if a b (if c d (+ e 1)))"),
        ("1 + if a then b else c", "(+ 1 (if a b c))"),
        ("let x = 1 in let y = 2 in x + y", "(let x = 1 in (let y = 2 in (+ x y)))"),
        ("let x = let y = 1 in y in x", "(let x = (let y = 1 in y) in x)"),
        ("let f x (y: Index) : Double = x in f 1 2", "(let f x (y: I) : D = x in (f 1 2))"),
        ("let (a, b): DoubleD = p in a", "(let ((a, b): (D * D)) = p in a)"),
        ("[let x = 1 in x, 2]", "[(let x = 1 in x), 2]"),
    ]);
}

#[test]
fn literals() {
    same(&[
        ("[1., 1.5e3, 1e5, 2E-3]", "[1.0, 1500.0, 100000.0, 0.002]"),
        ("[| a; b |]", "[a, b]"),
        ("[| a, b; c, d |]", "[(a, b), (c, d)]"),
        ("[a; b;]", "[a, b]"),
        ("[ [] , [||] ]", "[[], []]"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "big9.223372036854776e18"),
        ("x' + _y1", "(+ x' _y1)"),
        ("a (* (* nested *) *) + b // end", "(+ a b)"),
        ("a (* (*) *) + b", "(+ a b)"),
        ("a × b", "(* a b)"),
    ]);
}

#[test]
fn lets_by_layout() {
    body("  let x = 1\n  let y = 2\n  x + y", "(let x = 1 in (let y = 2 in (+ x y)))");
    body("  let x =\n    let y = 1\n    y\n  x", "(let x = (let y = 1 in y) in x)");
    body("  let x = 1 in\n  x + 1", "(let x = 1 in (+ x 1))");
    body("  let x = 1\n  in x + 1", "(let x = 1 in (+ x 1))");
    body("  let x = 1 in let y = 2 in\n  x + y", "(let x = 1 in (let y = 2 in (+ x y)))");
    body("  let x = 1 in\n    f x\n      y", "(let x = 1 in (f x y))");
    body("  let x = let y = 1\n          y\n  x", "(let x = (let y = 1 in y) in x)");
    body("  let g (a: Vector<n>) : Vector<n>= a\n  g v", "(let g (a: [D; n]) : [D; n] = a in (g v))");
    body("  let g x =\n    let h y =\n      y + x\n    h x\n  g 1", "(let g x = (let h y = (+ y x) in (h x)) in (g 1))");
    assert_eq!(file("let f x = let y = x\n          y"), "f x = (let y = x in y)");
}

#[test]
fn lines_that_continue() {
    body("  f a\n    b\n    c", "(f a b c)");
    body("  a\n  + b\n  - c", "(- (+ a b) c)");
    body("  a\n  -b", "(- a b)");
    body("  f\n    -b", "(f (neg b))");
    body("  let y = a\n  y\n  * 2", "(let y = a in (* y 2))");
    body("  let y =\n      a\n    + b\n  y", "(let y = (+ a b) in y)");
    body("  let y = g a\n    b\n  y", "(let y = (g a b) in y)");
    body("  let y = a\n  -y", "(let y = a in (neg y))");
    body("  a +\n  b", "(+ a b)");
    body("  [ a,\n    b ]", "[a, b]");
    body("  ( a\n  , b\n  )", "(a, b)");
    body("  1 +\n    let y = 2\n    y\n  * 3", "(+ 1 (* (let y = 2 in y) 3))");
    body("  if c then\n    a\n  else\n    b\n  + 1", "(+ (if c a b) 1)");
}

#[test]
fn a_line_in_the_column_of_the_block_belongs_to_the_block() {
    body("  if c then a else b\n  + 1", "(+ (if c a b) 1)");
    body("  (if c then a else b\n   * 2)", "(* (if c a b) 2)");
    body("  fun x -> x\n  + 1", "(fun x -> (+ x 1))");
    body("  if c then a else f b\n    d", "(if c a (f b d))");
    assert!(file("let f =\n  if c then a else b\n  d").starts_with("E0103 [d]"));
    assert!(file("let f =\n  g fun x -> x\n  d").starts_with("E0101 [fun]"));
    assert!(file("let f =\n  (fun x -> x\n   d)").starts_with("E0103 [d]"));
}

#[test]
fn keywords_and_brackets_in_the_opening_column() {
    body("  if c\n  then a\n  else b", "(if c a b)");
    body(
        "  if c then\n    let x = 1\n    x\n  elif d then b\n  else\n    let y = 2\n    y",
        "(if c (let x = 1 in x) (if d b (let y = 2 in y)))",
    );
    body("  let y = if c then 1\n  else 2\n  y", "(let y = (if c 1 2) in y)");
    body("  let y = if c then 1\n          else 2\n  y", "(let y = (if c 1 2) in y)");
    body("  build n (fun i ->\n    let x = g y in\n    x * vec[i]\n  )", "(build n (fun i -> (let x = (g y) in (* x vec[i]))))");
    body("  build n (fun i -> let x = g i\n                    x\n  )", "(build n (fun i -> (let x = (g i) in x)))");
    body("  let v = [\n    1,\n    2\n  ]\n  v", "(let v = [1, 2] in v)");
    body("  f (\n    a\n  ) (\n    b\n  )", "(f a b)");
    body("  (let x = 1\n   let y = 2\n   x, y)", "(let x = 1 in (let y = 2 in (x, y)))");
    assert_eq!(
        file("let g = build n (fun i ->\n  let x = g y in\n  x * vec[i]\n)\n"),
        "g = (build n (fun i -> (let x = (g y) in (* x vec[i]))))"
    );
    assert_eq!(file("let g =\n  fun x ->\n    let y = x\n    y\nlet h = g"), "g = (fun x -> (let y = x in y))\nh = g");
}

#[test]
fn types() {
    let cases = [
        ("Index<n>", "I<n>"),
        ("Vector<n + 2 * m - 1>", "[D; ((n+(2*m))-1)]"),
        ("Vector<n - (m - 1)>", "[D; (n-(m-1))]"),
        ("Matrix", "[[D]]"),
        ("Matrix<n, m>", "[[D; m]; n]"),
        ("MatrixD<n,m>", "[[(D * D); m]; n]"),
        ("VectorD", "[(D * D)]"),
        ("Array<Array<Double, n>, m>", "[[D; n]; m]"),
        ("Array<Array<Double>>", "[[D]]"),
        ("Array<Double * Bool>", "[(D * B)]"),
        ("Double * Index * Bool", "(D * I * B)"),
        ("Double => Index * Bool -> Bool", "(D => (I * B) => B)"),
        ("(Double => Double) => Bool", "((D => D) => B)"),
        ("Vector<n>=> Double", "([D; n] => D)"),
    ];
    for (written, tree) in cases {
        assert_eq!(file(&format!("let f (x: {written}) = x")), format!("f (x: {tree}) = x"));
        assert_eq!(file(&format!("let f x : {written} = x")), format!("f x : {tree} = x"));
    }
}

#[test]
fn files() {
    for empty in ["", "\n\n", "// only\n(* comments *)", "\u{feff}", "/// doc"] {
        assert_eq!(file(empty), "", "{empty:?}");
    }
    let text = "\u{feff}open linalg\r\nopen \"a b.smooth\" // x\r\n\r\n/// One\r\n/// Two\r\nlet a = 1 /// no\r\n// no\r\nlet b = a\r\n";
    let module = parse(text, 3).expect("parses");
    let opens: Vec<_> = module.opens.iter().map(|open| open.what.clone()).collect();
    assert_eq!(opens, [OpenWhat::Library("linalg".into()), OpenWhat::File("a b.smooth".into())]);
    assert_eq!(file(text), "///One\nTwo/// a = 1\nb = a");
}

#[test]
fn lines_end_with_a_carriage_return_too() {
    let text = "let f x = x\n// c\rlet g x = (* d\r *) x\r/// h\r\nlet h x =\r  let y = x\r  y\ropen \"a\rlet i x = x";
    assert_eq!(file(text), "E0104 [\"a]: expected `\"`, found the end of the line");
    assert_eq!(file(&text.replace("open \"a\r", "\r")), "f x = x\ng x = x\n///h/// h x = (let y = x in y)\ni x = x");
    let mut sources = SourceMap::default();
    let main = sources.add("lines.smooth", text);
    let places = ["f x", "g x", "h x", "i x"].map(|name| text.find(name).and_then(|at| sources.line_column(Span::new(main, at, at))));
    assert_eq!(places, [Some((1, 5)), Some((3, 5)), Some((6, 5)), Some((10, 5))]);
    assert_eq!(format("let f x=x// c\rlet g x =\r    x", 0).expect("parses"), "let f x = x // c\nlet g x =\n  x\n");
}

#[test]
fn groups_on_one_line_and_on_several() {
    for text in [
        "let rec f (n: Index) : Bool = g n and g (n: Index) : Bool = f n",
        "let rec f (n: Index) : Bool = g n\nand g (n: Index) : Bool = f n",
        "let rec f (n: Index) : Bool =\n  g n\n  and g (n: Index) : Bool =\n  f n",
        "let rec f (n: Index) : Bool = g n and g (n: Index) decreases n : Bool =\n  f n",
    ] {
        assert_eq!(file(text), "f (n: I) : B = (g n)\ng (n: I) : B = (f n)", "{text}");
        let module = parse(text, 0).expect("parses");
        let continues = module.decls.iter().map(|decl| decl.recursion.as_ref().map(|recursion| recursion.continues));
        assert_eq!(continues.collect::<Vec<_>>(), [Some(false), Some(true)], "{text}");
    }
    let inside = "let rec f (n: Index) : Bool =\n  let rec h (k: Index) : Bool = h k\n  h n\n";
    for groups in
        ["and g (n: Index) : Bool = f n and i (n: Index) : Bool = g n", "and g (n: Index) : Bool = f n\nand i (n: Index) : Bool = g n"]
    {
        assert_eq!(parse(&format!("{inside}{groups}"), 0).expect(groups).decls.len(), 3);
    }
    assert_eq!(parse("type a = | X of b\nand b = { a: a }", 0).expect("parses").types.len(), 2);
    for text in ["type A = | X of B | Y and B<n> = { a: A; v: Vector<n> }", "type A = | X of B | Y\nand B<n> =\n  { a: A; v: Vector<n> }"] {
        let names: Vec<String> = parse(text, 0).expect(text).types.iter().map(|decl| decl.name.text.to_string()).collect();
        assert_eq!(names, ["A", "B"], "{text}");
    }
}

#[test]
fn groups_inside_a_function() {
    let (g, h) = ("g (y: T) : T =", "h (y: T) : T =");
    let tree = "f = (let g (y: T<>) : T<> = (h y) and h (y: T<>) : T<> = (let z = y in (g z)) in (g x))";
    for text in [
        format!("let f =\n  let rec {g} h y\n  and {h}\n    let z = y\n    g z\n  g x"),
        format!("let f =\n  let rec {g}\n    h y\n   and {h} let z = y in g z\n  g x"),
        format!("let f =\n  let rec {g} h y and {h} let z = y in g z\n  in g x"),
        format!("let f = let rec {g} h y and {h} let z = y in g z in g x"),
        format!("let f =\n  (let rec {g} h y and {h}\n     let z = y\n     g z\n   g x)"),
    ] {
        assert_eq!(file(&text), tree, "{text}");
        let formatted = format(&text, 0).expect("parses");
        assert_eq!(file(&formatted), tree, "{formatted}");
    }
    // the `and` of a group belongs to the `let rec` in whose column it stands
    let text =
        format!("let rec f (x: T) : T =\n  let rec {g}\n    let rec {h} y\n    h y\n  and k (y: T) : T = y\n  g x\nand l (x: T) : T = x");
    let tree = "(let g (y: T<>) : T<> = (let h (y: T<>) : T<> = y in (h y)) and k (y: T<>) : T<> = y in (g x))";
    assert_eq!(file(&text), format!("f (x: T<>) : T<> = {tree}\nl (x: T<>) : T<> = x"));
}

#[test]
fn spans_are_places_in_the_original_text() {
    let text = "(* é *)\r\nlet f (v: Vector) =\r\n  let y = v.[0] × 2 in\r\n  g (y + 1) -y\r\n";
    let module = parse(text, 7).expect("parses");
    let decl = &module.decls[0];
    let at = |span: crate::source::Span| {
        assert_eq!(span.file, 7);
        &text[span.start as usize..span.end as usize]
    };
    assert_eq!(at(decl.span), text[10..].trim_end());
    assert_eq!(at(decl.name.span), "f");
    assert_eq!(at(decl.params[0].span), "(v: Vector)");
    assert_eq!(at(decl.body.span), "let y = v.[0] × 2 in\r\n  g (y + 1) -y");
    let ExprKind::Let(y, value, body) = &decl.body.kind else { panic!("no let") };
    assert_eq!((at(y.span), at(value.span), at(body.span)), ("y", "v.[0] × 2", "g (y + 1) -y"));
    let ExprKind::App(g, args) = &body.kind else { panic!("no application") };
    assert_eq!((at(g.span), at(args[0].span), at(args[1].span)), ("g", "(y + 1)", "-y"));
    let tree = parse_expr(" (a + b) * c ", 0).expect("parses");
    assert_eq!((tree.span.start, tree.span.end), (1, 12));
}
