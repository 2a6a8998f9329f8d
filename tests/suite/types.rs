//! Types and sizes: what `check` prints, which programs are refused and why, and which sizes are checked at
//! run time.

use smoothc::ir::eval::{Value, eval};
use smoothc::source::SourceMap;
use smoothc::stack::with_large_stack;
use smoothc::types::{Elaborated, Options, elaborate};

fn typed(text: &str) -> Result<Elaborated, Vec<(&'static str, String)>> {
    let mut sources = SourceMap::default();
    let main = sources.add("test.smooth", text);
    let mut load = |path: &str, _: &str| match path {
        "other.smooth" => Ok(("other.smooth".to_string(), "let twice x = x + x\n".to_string())),
        "loop.smooth" => Ok(("loop.smooth".to_string(), "open \"loop.smooth\"\nlet a = 1.0\n".to_string())),
        _ => Err("no such file".to_string()),
    };
    elaborate(&mut sources, main, None, &mut load, &Options::default()).map_err(|errors| {
        let place = |span| sources.line_column(span).map_or("-".to_string(), |(line, column)| format!("{line}:{column}"));
        errors.into_iter().map(|error| (error.code, place(error.span))).collect()
    })
}

fn signature(text: &str) -> String {
    with_large_stack(|| {
        typed(text).map_or_else(|errors| format!("{errors:?}"), |typed| typed.signatures.last().map(|s| s.text.clone()).unwrap_or_default())
    })
}

fn errors(text: &str) -> Vec<(&'static str, String)> {
    with_large_stack(|| typed(text).err().unwrap_or_default())
}

/// The status of the run-time error, or `None` when the entry has a value.
fn status(text: &str, entry: &str, args: &[&[f64]]) -> Option<String> {
    with_large_stack(|| {
        let program = typed(text).map_err(|errors| format!("{errors:?}")).map(|typed| typed.program);
        let args = args.iter().map(|arg| Value::vector(arg)).collect();
        match program {
            Ok(program) => eval(&program, entry, args).err().map(|error| format!("{:?}", error.kind)),
            Err(errors) => Some(errors),
        }
    })
}

/// The codes of the warnings.
fn warnings(text: &str) -> Vec<&'static str> {
    with_large_stack(|| typed(text).map(|typed| typed.warnings.iter().map(|warning| warning.code).collect()).unwrap_or_default())
}

#[test]
fn warnings_are_of_names_that_nothing_uses_and_sizes_made_equal() {
    for (text, wanted) in [
        ("let f (x: Double) (y: Double) = x", &["W0209"][..]),
        ("let f (x: Double) = let y = x in x", &["W0209"]),
        ("let f (x: Double) = let (y, z) = (x, x) in y", &["W0209"]),
        ("let f x = let x = 1.0 in x", &["W0209"]),
        ("let f (v: Vector) = let g x = x in v", &["W0209"]),
        ("let f ((x, y): Double * Double) = x", &["W0209"]),
        ("let f (x: Double) (_y: Double) = let _z = x in let (_, a) = (x, x) in a", &[]),
        ("let f (v: Vector<n>) = build n (fun i -> 1.0)", &[]),
        ("let f (n: Index) (v: Vector<n>) = vectorSum v", &[]),
        ("let f (v: Vector<n>) (w: Vector<2 * n>) = vectorSum w", &[]),
        ("let f (x: Double) = deriv 1.0 x", &[]),
        ("let f (x: Double) = let g y z = y in g x 1.0", &[]),
        ("let f (v: Vector<n>) (w: Vector<m>) = vectorDot v w", &["W0407"]),
        ("let f (v: Vector<n>) (w: Vector<m>) : Vector<n> = w + v", &["W0407", "W0407"]),
        ("let f (c: Bool) (v: Vector<n>) (w: Vector<m>) = if c then vectorDot v w else 0", &[]),
        ("let f (v: Vector) (w: Vector) = vectorDot v w", &[]),
        ("let f (v: Vector<n>) (w: Vector<m>) = vectorSum v + vectorSum w", &[]),
    ] {
        assert_eq!(warnings(text), wanted, "{text}");
    }
    let root = "let f (v: Vector<n>) = gradient (fun x -> ";
    for (body, wanted) in [
        ("sqrt (vectorDot x x)", &["W0507"][..]),
        ("vectorNorm x", &["W0507"]),
        ("(vectorNorm (x - v)) * 2", &["W0507"]),
        ("let d = vectorSqNorm x in d ** 0.5", &["W0507"]),
        ("sqrt (x[0] * x[0] + x[1] ** 2.0)", &["W0507"]),
        ("sqrt (vectorSum (vectorMap x (fun a -> 2.0 * a * (2.0 * a))))", &["W0507"]),
        ("sqrt (vectorDot x x + 1e-12)", &[]),
        ("sqrt (vectorSum x)", &[]),
        ("vectorSum x * vectorNorm v", &[]),
        ("vectorDot x x ** 1.5", &[]),
        ("let r = vectorNorm x in x[0] / r", &[]),
        ("let d = x[0] - v[1] in sqrt (d * d + (x[1] - v[1]) ** 2.0)", &[]),
        ("hypot x[0] x[1]", &[]),
        ("let s = vectorSqNorm x in if s > 0.0 then sqrt s else 0.0", &[]),
        ("let s = vectorSqNorm x in if s < 1.0 then s else 2.0 * sqrt s - 1.0", &[]),
        ("let s = vectorSqNorm x in if s = 0.0 || x[0] > 2.0 then 0.0 else sqrt (2.0 * s)", &[]),
        ("let s = vectorSqNorm x in if not (0.0 < s) then 0.0 else let t = s in sqrt t", &[]),
        ("let s = vectorSqNorm x in if s >= 0.0 then sqrt s else 0.0", &["W0507"]),
        ("let s = vectorSqNorm x in if s > 0.0 || x[0] > 2.0 then sqrt s else 0.0", &["W0507"]),
        ("let s = vectorSqNorm x in if s > 0.0 then 0.0 else sqrt s", &["W0507"]),
    ] {
        assert_eq!(warnings(&format!("{root}{body}) v")), wanted, "{body}");
    }
    assert_eq!(warnings("let f (v: Vector) = vectorNorm v"), Vec::<&str>::new());
    for text in ["let f (v: Vector<3>) = v[3]", "let f (v: Vector<3>) = v[-1]", "let f (v: Vector<3>) = v[1..3]", "let f = get [1] 1"] {
        assert_eq!(errors(text).first().map(|error| error.0), Some("E0406"), "{text}");
    }
    assert_eq!(errors("let f (v: Vector<3>) = (v[2], v[4..3], v[1..2])"), []);
}

#[test]
fn records_are_tuples_with_names() {
    let camera = "type Camera = { focal: Double; centre: Vector<2> }\ntype Data<n> = { x: Vector<n>; y: Vector<2 * n> }\n\
                  type Pick<n> = { at: Index<n>; weight: Double }\n";
    for (text, wanted) in [
        ("let f (c: Camera) = c.focal", "let f (c: Camera) : Double"),
        ("let f c = { c with focal = 2.0 }", "let f (c: Camera) : Camera"),
        ("let f (cs: Array<Camera>) = vectorMap cs (fun c -> c.centre)", "let f (cs: Array<Camera, cs_n>) : Matrix<cs_n, 2>"),
        ("let f (d: Data<n>) = vectorDot d.x d.y[n..]", "let f (d: Data<n>) : Double"),
        ("let f (d: Data) = d", "let f (d: Data<d_n>) : Data<d_n>"),
        ("let f (v: Vector<n>) = { x = v; y = vectorZeros (2 * n) }", "let f (v: Vector<n>) : Data<n>"),
        ("let f (d: Data<3>) = gradient (fun d -> vectorSum d.x) d", "let f (d: Data<3>) : Data<3>"),
        ("let f ({ focal = f; centre = c }: Camera) = f * c", "let f (arg1: Camera) : Vector<2>"),
        // a size that is no length of the record
        ("let f (v: Vector<3>) : Double = let p: Pick<3> = { at = 2; weight = 1.0 } in v[p.at]", "let f (v: Vector<3>) : Double"),
        ("let f (p: Pick<n>) (v: Vector<n>) : Pick<n> = { p with weight = v[0] }", "let f (p: Pick<n>) (v: Vector<n>) : Pick<n>"),
    ] {
        assert_eq!(signature(&format!("{camera}{text}")), wanted, "{text}");
    }
    for (text, code) in [
        ("let f (c: Camera) = c.x", "E0309"),
        ("let f = { focal = 1.0 }", "E0309"),
        ("let f = { focal = 1.0; focal = 2.0; centre = [0, 0] }", "E0207"),
        ("let f = { focal = true; centre = [0, 0] }", "E0301"),
        ("let f = { focal = 1.0; centre = [0, 0, 0] }", "E0401"),
        ("let f (c: Camera<2>) = c.focal", "E0113"),
        ("let f (d: Data<2, 3>) = d.x", "E0113"),
        ("type Camera = { x: Double }", "E0201"),
        ("type Vector = { x: Double }", "E0201"),
        ("type T = { f: Double => Double }", "E0310"),
    ] {
        assert_eq!(errors(&format!("{camera}{text}")).first().map(|error| error.0), Some(code), "{text}");
    }
    let two = "type A = { x: Double; y: Double }\ntype B = { x: Double; y: Double }\n";
    for (text, wanted) in [("let f a = a.x", &["W0308"][..]), ("let f (a: A) = a.x", &[]), ("let f : A = { x = 1; y = 2 }", &[])] {
        assert_eq!(warnings(&format!("{two}{text}")), wanted, "{text}");
    }
}

#[test]
fn operators_are_resolved_when_the_declaration_has_spoken() {
    let cases = [
        ("let f (M: Matrix) = vectorMap M (fun row -> let y = 2 * row in y[0])", "let f (M: Matrix<M_n0, M_n1>) : Vector<M_n0>"),
        ("let f (M: Matrix<n, n>) v = vectorAdd (M * v) v", "let f (M: Matrix<n, n>) (v: Vector<n>) : Vector<n>"),
        ("let f (M: Matrix<n, n>) (v: Vector<n>) = ifold (fun x i -> M * x + v) v 3", "let f (M: Matrix<n, n>) (v: Vector<n>) : Vector<n>"),
        ("let f (M: Matrix<n, m>) (v: Vector<m>) = jacobian (fun x -> M * x) v", "let f (M: Matrix<n, m>) (v: Vector<m>) : Matrix<n, m>"),
        ("let f (A: Matrix<n, m>) (v: Vector<n>) = vectorMap2 A v (*)", "let f (A: Matrix<n, m>) (v: Vector<n>) : Matrix<n, m>"),
        ("let f a b = a * b + a / b", "let f (a: Double) (b: Double) : Double"),
        ("let f (M: Matrix) x = M * x", "let f (M: Matrix<M_n0, M_n1>) (x: Double) : Matrix<M_n0, M_n1>"),
        ("let f a = (a + a)[0]", "let f (a: Vector<a_n>) : Double"),
        ("let f (v: Vector) = let g (x: Vector) = x + x in g v", "let f (v: Vector<v_n>) : Vector<v_n>"),
        ("let f (i: Index) (j: Index) = i .* j ./ 2", "let f (i: Index) (j: Index) : Index"),
        // what hides the library's function is not meant
        ("let vectorAdd a b = 7.0\nlet f (v: Vector) = v + v", "let f (v: Vector<v_n>) : Vector<v_n>"),
    ];
    for (text, wanted) in cases {
        assert_eq!(signature(text), wanted, "{text}");
    }
    let refused = [
        ("let f (v: Vector<n>) (w: Vector<n>) = v * w", "E0301"),
        ("let f (v: Vector) = let g x = x + x in g v", "E0301"),
        ("let g x = x * 2.0\nlet f (v: Vector) = g v", "E0301"),
        ("let f (v: Array<Index>) = 2 * v", "E0301"),
        ("let f (v: Array<Index>) (i: Index) = v * i", "E0301"),
        ("let f (v: Vector) = 1.0 / v", "E0301"),
        ("let f (v: Vector) = v + 1.0", "E0301"),
        ("let f (v: Vector<3>) (w: Vector<2>) = v + w", "E0401"),
        ("let f (M: Matrix<2, 3>) (N: Matrix<2, 3>) = M * N", "E0401"),
    ];
    for (text, code) in refused {
        assert_eq!(errors(text).first().map(|error| error.0), Some(code), "{text}");
    }
}

#[test]
fn signatures_show_inferred_types_and_sizes() {
    let cases = [
        ("let f (v: Vector) : Double = vectorDot v v", "let f (v: Vector<v_n>) : Double"),
        ("let f (m: Matrix) = matrixTranspose m", "let f (m: Matrix<m_n0, m_n1>) : Matrix<m_n1, m_n0>"),
        ("let f a b = vectorAdd a b", "let f (a: Vector<a_n>) (b: Vector<a_n>) : Vector<a_n>"),
        ("let f (a: Matrix<n, k>) (b: Matrix<k, m>) = matrixMul a b", "let f (a: Matrix<n, k>) (b: Matrix<k, m>) : Matrix<n, m>"),
        ("let f (i: Index) = min i -9223372036854775808", "let f (i: Index) : Index"),
        ("let f (n: Index) = build (2 * n + 1) (fun i -> double i)", "let f (n: Index) : Vector<2 * n + 1>"),
        ("let f (n: Index) (v: Vector<n>) = length v", "let f (n: Index) (v: Vector<n>) : Index"),
        ("let f (n: Index) = vectorZeros (n / 2)", "let f (n: Index) : Vector<n / 2>"),
        ("let f (v: Vector) = vectorSlice v 1 3", "let f (v: Vector<v_n>) : Vector<3>"),
        ("let f (v: Vector<n>) (i: Index<n>) = v[i]", "let f (v: Vector<n>) (i: Index<n>) : Double"),
        ("let f x = x + 1", "let f (x: Double) : Double"),
        ("let f (i: Index) = i + 1", "let f (i: Index) : Index"),
        ("let f (x: Double) = deriv (x * x) x", "let f (x: Double) : Double * Double"),
        ("let f (v: Vector<n>) = jacobian (fun x -> vectorSlice x 0 1) v", "let f (v: Vector<n>) : Matrix<2, n>"),
        ("let f (v: Vector<n>) = jacob (fun x -> vectorSlice x 0 1) v", "let f (v: Vector<n>) : Array<Array<Double * Double, 2>, n>"),
        ("let f (m: Matrix<r, c>) = gradient matrixSum m", "let f (m: Matrix<r, c>) : Matrix<r, c>"),
        ("let f = vectorDot", "let f (arg1: Vector<arg1_n>) (arg2: Vector<arg1_n>) : Double"),
        ("let first a = a[0]", "let first (a: Array<'a, a_n>) : 'a    // no entry: its type is open"),
        ("let twice f x = f (f x)", "let twice (f: 'a => 'a) (x: 'a) : 'a    // no entry: it takes a function"),
        ("let f (v: Vector<n>) = let k = length v in vectorAdd v (build k (fun i -> 1.0))", "let f (v: Vector<n>) : Vector<n>"),
        ("open \"other.smooth\"\nlet f (i: Index) = twice i", "let f (i: Index) : Index"),
        ("let g (y: Vector<x_n>) (x: Vector) = (y, x)", "let g (y: Vector<x_n>) (x: Vector<x_n>) : Vector<x_n> * Vector<x_n>"),
        ("let f (x: Matrix) (y: Vector<2 * x_n1>) = y", "let f (x: Matrix<x_n0, x_n1>) (y: Vector<2 * x_n1>) : Vector<2 * x_n1>"),
        ("let f x (y: Vector<x_n>) = (vectorSum x, y)", "let f (x: Vector<x_n>) (y: Vector<x_n>) : Double * Vector<x_n>"),
        // a size name is an Index value
        ("let f (v: Vector<n>) = build n (fun i -> v[i])", "let f (v: Vector<n>) : Vector<n>"),
        ("let f (m: Matrix<r, c>) = matrixZeros c (2 * r)", "let f (m: Matrix<r, c>) : Matrix<c, 2 * r>"),
        ("let f (t: Vector<n> * Vector<m>) = n + m", "let f (t: Vector<n> * Vector<m>) : Index"),
        ("let f (v: Vector<n>) = let g (x: Double) = build n (fun i -> x) in vectorAdd v (g 1.0)", "let f (v: Vector<n>) : Vector<n>"),
        ("let f (v: Vector) = let g (w: Vector<m>) = vectorZeros m in g (vectorSlice v 0 2)", "let f (v: Vector<v_n>) : Vector<3>"),
        ("let f (v: Vector) (w: Vector<v_n>) = vectorZeros v_n", "let f (v: Vector<v_n>) (w: Vector<v_n>) : Vector<v_n>"),
        // any value of the name hides it
        ("let f (v: Vector<n>) (n: Double) = n", "let f (v: Vector<n>) (n: Double) : Double"),
        ("let f (v: Vector<n>) = let n = true in n", "let f (v: Vector<n>) : Bool"),
        ("let n = 1.5\nlet f (v: Vector<n>) = n", "let f (v: Vector<n>) : Double"),
        ("let f (v: Vector<pair>) = pair 1.0 v", "let f (v: Vector<pair>) : Double * Vector<pair>"),
    ];
    for (text, wanted) in cases {
        assert_eq!(signature(text), wanted, "{text}");
    }
}

#[test]
fn each_error_has_its_code_and_place() {
    let cases = [
        ("let f x = g x", ("E0202", "1:11")),
        ("let f (v: Vector) = v_n", ("E0202", "1:21")),
        ("let f (v: Vector<n>) = let g (w: Vector<m>) = w[0] in g v + double m", ("E0202", "1:68")),
        ("let f (v: Vector<n>) = n + 1.5", ("E0301", "1:24")),
        ("let f (v: Vector<n>) = n 1", ("E0305", "1:24")),
        ("let f (v: Vector<n>) = deriv (double n) n", ("E0503", "1:41")),
        ("let f (x: Double) = f x", ("E0204", "1:21")),
        ("let f x = g x\nlet g x = x", ("E0203", "1:11")),
        ("let f (x: Double) = 1.0\nlet f (x: Double) = 2.0", ("E0201", "2:5")),
        ("open \"none.smooth\"\nlet f (x: Double) = x", ("E0004", "1:1")),
        ("open \"loop.smooth\"\nlet f (x: Double) = x", ("E0005", "1:1")),
        ("let f (x: Double) = x + true", ("E0301", "1:25")),
        ("let f x = x x", ("E0302", "1:13")),
        ("let f (x: Double) = x[0]", ("E0303", "1:21")),
        ("let f (x: Double) = sin x x", ("E0304", "1:21")),
        ("let f (v: Vector) = vectorMap v", ("E0304", "1:21")),
        ("let f (x: Double) = x 1", ("E0305", "1:21")),
        ("let f (x: Double) = let (a, b) = x in a", ("E0306", "1:25")),
        ("let f = []", ("E0307", "1:9")),
        ("let f x = fun y -> x", ("E0310", "1:11")),
        ("let f (c: Bool) = (if c then sin else cos) 1.0", ("E0310", "1:30")),
        ("let f (x: Double) = let t = (sin, x) in x", ("E0310", "1:30")),
        ("let f (x: Double) = let t = [sin] in x", ("E0310", "1:30")),
        ("let f (v: Vector<3>) (w: Vector<4>) = vectorAdd v w", ("E0401", "1:51")),
        ("let f (c: Bool) = if c then [1.0] else [1.0, 2.0]", ("E0401", "1:40")),
        ("let f (v: Vector<n>) = ifold (fun a i -> build (length a + 1) (fun j -> 1.0)) v 3", ("E0401", "1:30")),
        ("let f (x: Double) : Vector<n> = [x]", ("E0403", "1:28")),
        ("let f (n: Index) = build n (fun i -> build i (fun j -> 1.0))", ("E0405", "1:20")),
        ("let f (v: Vector) = gradient (fun x -> vectorSMul x 2.0) v", ("E0501", "1:30")),
        ("let f (x: Double) = deriv (x > 1.0) x", ("E0502", "1:27")),
        ("let f (i: Index) = deriv (i + 1) i", ("E0503", "1:34")),
    ];
    for (text, (code, place)) in cases {
        let found = errors(text);
        assert!(found.contains(&(code, place.to_string())), "{text}: wanted {code} at {place}, found {found:?}");
    }
}

#[test]
fn independent_errors_are_reported_together() {
    let found = errors("let f (x: Double) = x + true\nlet g (x: Double) = deriv x\nlet h (v: Vector<2>) : Vector<3> = v\nlet k = unknown");
    let codes: Vec<&str> = found.iter().map(|error| error.0).collect();
    assert_eq!(codes, ["E0301", "E0112", "E0401", "E0202"], "{found:?}");
    let found = errors("let f (x: Double) = deriv x\nlet g (x: Double) = f x");
    let codes: Vec<&str> = found.iter().map(|error| error.0).collect();
    assert_eq!(codes, ["E0112"], "a name whose declaration did not parse is not unknown: {found:?}");
    let found = errors("let f (x: Double) = deriv x\nlet f (x: Double) = x\nlet f (x: Double) = deriv x");
    let codes: Vec<&str> = found.iter().map(|error| error.0).collect();
    assert_eq!(codes, ["E0112", "E0201", "E0201", "E0112"], "a declaration that did not parse has a name: {found:?}");
}

#[test]
fn sizes_that_cannot_be_proved_equal_are_checked() {
    let add = "let f (v: Vector<n>) (w: Vector<m>) = vectorAdd v w";
    assert_eq!(status(add, "f", &[&[1.0], &[2.0]]), None);
    assert_eq!(status(add, "f", &[&[1.0], &[2.0, 3.0]]).as_deref(), Some("Status(Shape)"));
    let branch = "let f (v: Vector<n>) (w: Vector<m>) = if length w > 1 then v else w";
    assert_eq!(status(branch, "f", &[&[1.0], &[1.0, 2.0]]), None, "the branch that is not taken is not checked");
    assert_eq!(status(branch, "f", &[&[1.0, 2.0], &[1.0]]).as_deref(), Some("Status(Shape)"));
    let literal = "let f (v: Vector<n>) (w: Vector<m>) = [v, w]";
    assert_eq!(status(literal, "f", &[&[1.0], &[1.0, 2.0]]).as_deref(), Some("Status(Shape)"));
    let fold = "let f (v: Vector<n>) (w: Vector<m>) = ifold (fun a i -> w) v 2";
    assert_eq!(status(fold, "f", &[&[1.0], &[1.0, 2.0]]).as_deref(), Some("Status(Shape)"));
    let declared = "let f (v: Vector<n>) (w: Vector<m>) : Vector<n> = w";
    assert_eq!(status(declared, "f", &[&[1.0], &[1.0, 2.0]]).as_deref(), Some("Status(Shape)"));
    let data = "let k (v: Vector<n>) = vectorOnes (index v[0])\nlet f (v: Vector<n>) = vectorAdd (k v) v";
    assert_eq!(status(data, "f", &[&[1.0]]), None);
    assert_eq!(status(data, "f", &[&[2.0]]).as_deref(), Some("Status(Shape)"));
    let range = "let g (v: Vector<n>) (i: Index<n>) = v[i]\nlet f (v: Vector<n>) = g v 1";
    assert_eq!(status(range, "f", &[&[1.0]]).as_deref(), Some("Status(Range)"));
    assert_eq!(status(range, "f", &[&[1.0, 2.0]]), None);
}

/// A size that data decides is read off a variable that is in scope: in a loop its state, behind the loop what it gave.
#[test]
fn sizes_of_states_are_checked_behind_the_loop() {
    let text = "let last (v: Vector<n>) (w: Vector<m>) = \
                vectorSub (ifold (fun a i -> a .* a) (build (index w[0]) (fun i -> w[i])) 1) v";
    assert_eq!(status(text, "last", &[&[1.0, 2.0], &[2.0, 3.0]]), None);
    assert_eq!(status(text, "last", &[&[1.0], &[2.0, 3.0]]).as_deref(), Some("Status(Shape)"));
}

#[test]
fn size_names_are_values_where_data_decides_the_size() {
    let text = "let each (w: Vector<k>) f =\n  let g (x: Double) = build k (fun i -> x * double k)\n  vectorAdd (g 1.0) (vectorMap w f)\n\
                let f (v: Vector<n>) =\n  let some = build (index v[0]) (fun i -> 1.0)\n  \
                vectorSum (each some (fun x -> x + double n)) + double n";
    let value = with_large_stack(|| match typed(text) {
        Ok(typed) => eval(&typed.program, "f", vec![Value::vector(&[3.0, 0.0])])
            .map(|found| format!("{:?}", found.value))
            .map_err(|error| format!("{error:?}")),
        Err(errors) => Err(format!("{errors:?}")),
    });
    // three elements, each 3 from `k` and 1 + 2 from the function, and `n`
    assert_eq!(value, Ok("Double(20.0)".to_string()));
}

#[test]
fn functions_are_shared_between_equal_uses() {
    let mut text = "let f0 (x: Double) = x * 0.5\n".to_string();
    for i in 1..=30 {
        text += &format!("let f{i} (x: Double) = f{} x + f{} (x * 0.5)\n", i - 1, i - 1);
    }
    let functions = with_large_stack(|| typed(&text).map(|typed| typed.program.functions.len()));
    assert_eq!(functions.ok(), Some(31));
    let library = "let f (a: Vector<n>) (b: Vector<n>) (c: Vector<m>) = vectorDot a b + vectorDot b a + vectorDot c c";
    let functions =
        with_large_stack(|| typed(library).map(|typed| typed.program.functions.keys().map(|name| name.to_string()).collect::<Vec<_>>()));
    assert_eq!(functions.ok(), Some(vec!["vectorMap2".into(), "vectorEMul".into(), "vectorSum".into(), "vectorDot".into(), "f".into()]));
}

#[test]
fn index_bounds_may_mention_parameters_that_come_later() {
    let text = "let f (n: Index) (x: Double) (y: Double) = derivative (fun d -> derivative (fun b ->
    vectorSum (build n (fun j -> ifold (fun r k -> r) b (j % 4)))) x) y";
    assert_eq!(signature(text), "let f (n: Index) (x: Double) (y: Double) : Double");
    let text = "let f (n: Index) (y: Double) = build 3 (fun i -> build n (fun j ->
    derivative (fun a -> ifold (fun r k -> r) a (j % 3)) y))";
    assert_eq!(signature(text), "let f (n: Index) (y: Double) : Matrix<3, n>");
}

#[test]
fn built_in_names_are_functions() {
    for function in ["not", "(not)", "(fun b -> not b)"] {
        let text = format!("let f (v: Array<Bool, n>) = vectorMap v {function}");
        assert_eq!(signature(&text), "let f (v: Array<Bool, n>) : Array<Bool, n>");
    }
}

#[test]
fn a_form_that_does_not_fit_names_the_one_that_does() {
    for (text, place, form) in [
        ("let f (v: Vector) = derivative vectorSum v", "1:32", "gradient"),
        ("let f (v: Matrix) = mgrad vectorSum v[0]", "1:27", "grad"),
        ("let f (v: Vector) = gradient (fun v -> v) v", "1:30", "jacobian"),
        ("let f (m: Matrix) = hessian (fun m -> m[0]) m", "1:29", "jacobian"),
    ] {
        let help = with_large_stack(|| {
            let mut sources = SourceMap::default();
            let main = sources.add("test.smooth", text);
            let errors = elaborate(&mut sources, main, None, &mut |_, _| Err(String::new()), &Options::default()).expect_err(text);
            (errors[0].code, sources.line_column(errors[0].span).map(|(line, column)| format!("{line}:{column}")), errors[0].help.clone())
        });
        assert_eq!(help, ("E0501", Some(place.to_string()), Some(format!("`{form}` is the form for such a function"))), "{text}");
    }
}

#[test]
fn names_of_the_mathematics_may_be_taken() {
    for (text, wanted) in [
        ("let sigmoid (i: Index) = i", "let sigmoid (i: Index) : Index"),
        ("let f (pi: Index) = pi + 1", "let f (pi: Index) : Index"),
        ("let f (v: Vector<pi>) = pi", "let f (v: Vector<pi>) : Index"),
        ("let pi = 3\nlet f (i: Index) = i + index pi", "let f (i: Index) : Index"),
        ("let f (x: Double) = let infinity = true in infinity", "let f (x: Double) : Bool"),
        ("let f (x: Double) = max .5 (-.5e1 * +5 * x) + +x", "let f (x: Double) : Double"),
        ("let f (x: Double) = pi * x", "let f (x: Double) : Double"),
    ] {
        assert_eq!(signature(text), wanted, "{text}");
    }
}

#[test]
fn only_near_names_are_suggested() {
    let help = |text: &str| {
        with_large_stack(|| {
            let mut sources = SourceMap::default();
            let main = sources.add("test.smooth", text);
            let mut load = |path: &str, _: &str| match path {
                "a.smooth" => Ok((path.to_string(), "open \"b.smooth\"\n".to_string())),
                _ => Ok((path.to_string(), "let q (x: Double) = x\n".to_string())),
            };
            let errors = elaborate(&mut sources, main, None, &mut load, &Options::default()).expect_err(text);
            errors[0].help.clone().unwrap_or_default()
        })
    };
    assert_eq!(help("let g (x: Double) = x\nlet f (x: Double) = zz x"), "declare it above, or open the file that does");
    assert_eq!(help("open \"a.smooth\"\nlet f (x: Double) = q x"), "declare it above, or open the file that does");
    assert_eq!(help("let f (v: Vector) = vectorSm v"), "did you mean `vectorSum`?");
    // of two that are as near, the one that takes these arguments
    assert_eq!(help("let f (v: Vector) = vectorSun v"), "did you mean `vectorSum`?");
    assert_eq!(help("let f (v: Vector<n>) (w: Vector<n>) = vectorSun v w"), "did you mean `vectorSub`?");
    assert_eq!(help("let f (x: Double) = sqrrt x"), "did you mean `sqrt`?");
    // another function of the mathematics is never meant
    for name in ["erfcx", "erfinv", "sinc", "j0", "log3", "exp1m", "tanpi"] {
        assert_eq!(help(&format!("let f (x: Double) = {name} x")), "declare it above, or open the file that does", "{name}");
    }
    // what other languages call so
    assert_eq!(help("let f (x: Double) = ln x"), "the natural logarithm is `log x`");
    assert_eq!(help("let f (n: Index) = float n"), "an Index becomes a Double by `double i`; the type is `Double`");
    assert_eq!(help("let f (v: Vector) = norm v"), "the length of a vector is `vectorNorm v`");
    assert_eq!(help("let f (x: Double) = x * M_PI"), "the constant is `pi`");
}

#[test]
fn a_pipe_gives_the_first_argument() {
    for (text, wanted) in [
        ("let f (v: Vector<n>) = v |> vectorMap (fun x -> x * x) |> vectorSum", "let f (v: Vector<n>) : Double"),
        ("let f (v: Vector<n>) =\n  v\n  |> vectorSMul 2\n  |> length", "let f (v: Vector<n>) : Index"),
        ("let f (x: Double) = x + 1 |> fun y -> y > 2 || y < 0", "let f (x: Double) : Bool"),
        ("let f (x: Double) = [x] |> (fun v -> v)", "let f (x: Double) : Vector<1>"),
        ("let f (x: Double) = x |> max 1 |> min(2)", "let f (x: Double) : Double"),
        ("let f (x: Double) = x > 1 |> not |> not", "let f (x: Double) : Bool"),
    ] {
        assert_eq!(signature(text), wanted, "{text}");
    }
    assert_eq!(errors("let f (x: Double) = x |> sin + 1"), [("E0101", "1:26".to_string())]);
    assert_eq!(errors("let f (x: Double) = x |> (sin x)"), [("E0305", "1:26".to_string())]);
    assert_eq!(errors("let f (x: Double) = x |> 2"), [("E0101", "1:26".to_string())]);
    assert_eq!(errors("let f (x: Bool) = x |> not x"), [("E0101", "1:24".to_string())]);
}

/// The value of an entry at a depth and 0.5.
fn value_at(text: &str, depth: i64) -> String {
    let value = || {
        let program = typed(text).map_err(|errors| format!("{errors:?}"))?.program;
        let value = eval(&program, "h", vec![Value::Index(depth), Value::Double(0.5)]).map_err(|error| format!("{:?}", error.kind))?;
        value.value.as_double().map(|x| x.to_string()).ok_or("no Double".to_string())
    };
    with_large_stack(value).unwrap_or_else(|why| why)
}

#[test]
fn functions_are_passed_on_in_recursion() {
    let of = |body: &str| {
        format!("let rec f (k: Index) (x: Double) (g: Double => Double) (e: Double => Double) : Double = if k <= 0 then g x else {body}\n")
    };
    let twice = "let twice (y: Double) = 2.0 * y\n";
    let h = "let h (k: Index) (x: Double) = f k x (fun y -> y + 1.0) (fun y -> 10.0 * y)\n";
    for (body, wanted) in [
        ("f (k - 1) x g e", ["1.5", "1.5", "1.5"]),
        ("f (k - 1) x (fun y -> g y) (fun z -> e z)", ["1.5", "1.5", "1.5"]),
        ("f (k - 1) x e g", ["1.5", "5", "1.5"]),
        ("f (k - 1) x e twice", ["1.5", "5", "1"]),
        ("f (k - 1) (g x) g (fun y -> e y)", ["1.5", "2.5", "3.5"]),
    ] {
        let global = format!("{twice}{}{h}", of(body));
        let local = format!("{twice}let h (k: Index) (x: Double) =\n  {}  f k x (fun y -> y + 1.0) (fun y -> 10.0 * y)\n", of(body));
        for text in [global, local] {
            assert_eq!([0, 1, 2].map(|depth| value_at(&text, depth)), wanted, "{text}");
        }
    }
    // a recursive function inside a function that is passed to it
    let iterate = "let rec f (k: Index) (x: Double) (g: Double => Double) : Double = if k <= 0 then x else f (k - 1) (g x) g\n";
    let nested = "f k x (fun y -> f 5 y (fun z -> z * 2.0 + y))\n";
    assert_eq!(value_at(&format!("{iterate}let h (k: Index) (x: Double) = {nested}"), 2), "1984.5");
    assert_eq!(value_at(&format!("let h (k: Index) (x: Double) =\n  {iterate}  {nested}"), 2), "1984.5");
}

#[test]
fn lengths_that_grow_in_recursion_are_of_one_function() {
    let grow = "(build (length x + 1) (fun i -> if i = 0 then x[0] else double i))";
    let one = format!("let rec f (k: Index) (x: Vector) : Double = if k <= 0 then vectorSum x else f (k - 1) {grow}\n");
    assert_eq!(value_at(&format!("{one}let h (k: Index) (x: Double) = f k [x, 1.0]"), 3), "10.5");
    let given = "let rec f (k: Index) (x: Vector) (g: Double => Double) : Double = if k <= 0 then g (vectorSum x) else ";
    for point in ["[x, 1.0]", "(build (k + 2 - k) (fun i -> if i = 0 then x else 1.0))"] {
        assert_eq!(value_at(&format!("{given}f (k - 1) {grow} g\nlet h (k: Index) (x: Double) = f k {point} (fun y -> y + x)"), 3), "11");
    }
    let fixed =
        "let rec f (k: Index) (x: Vector) (w: Vector<3>) : Double = if k <= 0 then vectorSum (vectorCross w w) + double (length x) else ";
    assert_eq!(value_at(&format!("{fixed}f (k - 1) {grow} w\nlet h (k: Index) (x: Double) = f k [x, x, x] [x, x, x]"), 4), "7");
    let group = "and e (k: Index) (x: Vector) : Double = if k <= 0 then vectorSum x else f (k - 1) (vectorAdd x x)\n";
    let both = one.replace("f (k - 1)", "e (k - 1)");
    assert_eq!(value_at(&format!("{both}{group}let h (k: Index) (x: Double) = f k [x, 1.0]"), 4), "14");
}

#[test]
fn recursion_that_makes_functions_without_end_is_an_error() {
    let head = "let rec f (k: Index) (x: Double) (g: Double => Double) (e: Double => Double) : Double = if k <= 0 then g x else ";
    let h = "\nlet h (k: Index) (x: Double) = f k x sin cos";
    // the errors without the warnings
    let found = |problems: &[(&'static str, String)]| {
        problems.iter().map(|(code, _)| *code).filter(|code| code.starts_with('E')).collect::<Vec<_>>()
    };
    for body in [
        "f (k - 1) x (fun y -> g (g y)) e",
        "f (k - 1) x e (fun y -> g (e y))",
        "f (k - 1) x (fun y -> y * x) e",
        "f (k - 1) x (fun y -> 2.0 * y) e",
        "let twice y = g (g y) in f (k - 1) x twice e",
        "f (k - 1) x g e + f (k - 1) x (fun y -> g (g y)) e + f (k - 1) x (fun y -> g (g y)) e",
        "q (k - 1) x (fun y -> g (g y))\nand q (k: Index) (x: Double) (g: Double => Double) : Double = f k x g g",
        "q (k - 1) x g\nand q (k: Index) (x: Double) (g: Double => Double) : Double = f k x (fun y -> 2.0 * g y) g",
        "gradient (fun y -> f (k - 1) y (fun z -> g (y * z)) e) x",
    ] {
        let global = errors(&format!("{head}{body}{h}"));
        assert_eq!(found(&global), ["E0316"], "{body}: {global:?}");
        if !body.contains("and q") {
            let local = errors(&format!("let h (k: Index) (x: Double) =\n  {head}{body}\n  f k x sin cos"));
            assert_eq!(found(&local), ["E0316"], "{body}: {local:?}");
        }
    }
    let pairs = "let rec f (k: Index) (p: Double * Double) (g: Double * Double => Double) : Double = if k <= 0 then g p else ";
    assert_eq!(
        errors(&format!("{pairs}f (k - 1) p (fun (a, b) -> g (b, a))\nlet h (x: Double) = f 3 (x, x) (fun (a, b) -> a - b)"))[0].0,
        "E0316"
    );
}
