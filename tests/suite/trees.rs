//! Types that contain themselves, by the command: values, patterns, derivatives, depth, and that nothing but the interpreter takes and
//! gives them. What C has of them is in tests/suite/recursion.rs.
//!
//! `examples/evaluated/expressions.smooth` has what a user would write; here is what may go wrong.

use crate::support::command::with_input;

const TREES: &str = "\
type Tree = | Leaf of Double | Node of Tree * Tree
let rec total (t: Tree) : Double = match t with Leaf x -> x | Node (a, b) -> total a + total b
let rec product (t: Tree) : Double = match t with Leaf x -> x | Node (a, b) -> product a * product b
let rec mirror (t: Tree) : Tree = match t with Leaf x -> Leaf (x * x) | Node (a, b) -> Node (mirror b, mirror a)
let rec full (d: Index) (x: Double) : Tree = if d = 0 then Leaf x else Node (full (d - 1) (2.0 * x), full (d - 1) (x + 1.0))
let nested (t: Tree) =
  match t with
  | Node (Leaf a, Node (Leaf b, _)) -> a + b
  | Node (Leaf a, Leaf b) -> a * b
  | Leaf _ -> 0.0
  | Node (_, Node (Node _, _)) -> 6.0
  | Node (Node _, _) -> 7.0
let two (t: Tree) (c: Bool) = (if c then t else Leaf 1.0, [t, Leaf 2.0])
let slopes (t: Tree) = gradient product t
let both (t: Tree) = valueAndGradient product t
let back (t: Tree) (w: Tree) = vjp mirror t w
let back2 (t: Tree) (w: Tree) = rd mirror t w
let along (t: Tree) (d: Tree) = jvp product t d
let moved (t: Tree) (d: Tree) = jvp mirror t d
let movedBoth (d: Index) (x: Double) = jvp (fun y -> (y, (full d y, d - 1), [Leaf y, Leaf x])) x 1.0
let movedTwice (x: Double) = jvp (fun y -> jvp (fun z -> mirror (Leaf z)) y 1.0) x 1.0
let captured (t: Tree) (x: Double) = gradient (fun y -> y * y * product t) x
let made (d: Index) (x: Double) = gradient (fun y -> product (full d y)) x
let mixed (t: Tree) (x: Double) = gradient (fun (y, t) -> y * product t) (x, t)
let rec scaled (k: Double) (t: Tree) : Tree = match t with Leaf x -> Leaf (k * x) | Node (a, b) -> Node (scaled k a, scaled k b)
let second (t: Tree) = derivative (fun k -> total (gradient product (scaled k t))) 1.0
let constant (t: Tree) (x: Double) = gradient (fun y -> y * product (mirror t)) x
let rec inside (n: Index) (t: Tree) : Double =
  if n = 0 then product t else total (gradient (fun t -> inside (n - 1) t) t)
";

/// What an entry gives, with options before the file.
fn gives(command: &str, options: &[&str], program: &str, entry: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trees.smooth");
    std::fs::write(&path, program).expect("a file");
    let path = path.to_string_lossy().into_owned();
    let quiet = (command != "check").then_some("-q");
    let words: Vec<&str> =
        [command].into_iter().chain(quiet).chain(options.iter().copied()).chain([path.as_str()]).chain(entry.iter().copied()).collect();
    let output = with_input(&words, b"");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)).trim_end().to_string()
}

fn evaluates(program: &str, entry: &[&str]) -> String {
    gives("eval", &[], program, entry)
}

/// The first error of a program, or the first warning.
fn says(program: &str) -> String {
    let found = gives("check", &[], program, &[]);
    let first = |start: &str| found.lines().find(|line| line.starts_with(start)).map(str::to_string);
    first("error[").or_else(|| first("warning[")).unwrap_or("nothing".into())
}

const PAIR: &str = r#"{"Node": [{"Leaf": 3}, {"Leaf": 5}]}"#;

#[test]
fn trees_are_values_like_others() {
    for (entry, wanted) in [
        (&["total", PAIR][..], "8.0"),
        (&["total", r#"{"Leaf": 2.5}"#], "2.5"),
        (&["mirror", PAIR], r#"{"Node": [{"Leaf": 25.0}, {"Leaf": 9.0}]}"#),
        (&["full", "0", "3"], r#"{"Leaf": 3.0}"#),
        (&["full", "2", "1"], r#"{"Node": [{"Node": [{"Leaf": 4.0}, {"Leaf": 3.0}]}, {"Node": [{"Leaf": 4.0}, {"Leaf": 3.0}]}]}"#),
        (&["nested", PAIR], "15.0"),
        (&["nested", r#"{"Node": [{"Leaf": 3}, {"Node": [{"Leaf": 5}, {"Leaf": 7}]}]}"#], "8.0"),
        (&["nested", r#"{"Node": [{"Node": [{"Leaf": 5}, {"Leaf": 7}]}, {"Leaf": 3}]}"#], "7.0"),
        (&["nested", r#"{"Leaf": 3}"#], "0.0"),
        (&["two", PAIR, "false"], r#"[{"Leaf": 1.0}, [{"Node": [{"Leaf": 3.0}, {"Leaf": 5.0}]}, {"Leaf": 2.0}]]"#),
    ] {
        assert_eq!(evaluates(TREES, entry), wanted, "{entry:?}");
    }
}

#[test]
fn what_is_no_tree_is_refused_at_its_place() {
    for (word, wanted) in [
        ("null", "expected a case of `Tree`"),
        (r#"{"Nod": 3}"#, "`Nod` is no case of `Tree`"),
        (r#"{"Node": [{"Leaf": 3}]}"#, "expected an array of the 2 components, found an array of 1 at .node"),
        (r#"{"Node": [{"Leaf": 3}, null]}"#, "expected a case of `Tree` at .node[1]"),
        (r#"{"Node": [{"Leaf": 3}, {"Leaf": true}]}"#, "expected a number, found true at .node[1].leaf"),
        (r#"{"Node": [{"Leaf": 3}, []]}"#, "expected a case of `Tree` at .node[1]"),
        (r#"{"Leaf": NaN}"#, "NaN"),
    ] {
        let found = evaluates(TREES, &["total", word]);
        assert!(found.contains(wanted), "{word}: {found}");
    }
}

#[test]
fn derivatives_go_through_trees_in_every_way() {
    let calls = [
        (&["slopes", PAIR][..], r#"{"Node": [{"Leaf": 5.0}, {"Leaf": 3.0}]}"#),
        (&["slopes", r#"{"Leaf": 2}"#], r#"{"Leaf": 1.0}"#),
        (&["both", PAIR], r#"[15.0, {"Node": [{"Leaf": 5.0}, {"Leaf": 3.0}]}]"#),
        (&["back", PAIR, r#"{"Node": [{"Leaf": 1}, {"Leaf": 10}]}"#], r#"{"Node": [{"Leaf": 60.0}, {"Leaf": 10.0}]}"#),
        (&["back2", PAIR, r#"{"Node": [{"Leaf": 1}, {"Leaf": 10}]}"#], r#"{"Node": [{"Leaf": 60.0}, {"Leaf": 10.0}]}"#),
        (&["along", PAIR, r#"{"Node": [{"Leaf": 1}, {"Leaf": 0}]}"#], "5.0"),
        (&["moved", PAIR, r#"{"Node": [{"Leaf": 1}, {"Leaf": 10}]}"#], r#"{"Node": [{"Leaf": 100.0}, {"Leaf": 6.0}]}"#),
        (&["movedBoth", "1", "3"], r#"[1.0, [{"Node": [{"Leaf": 2.0}, {"Leaf": 1.0}]}, 0], [{"Leaf": 1.0}, {"Leaf": 0.0}]]"#),
        (&["movedTwice", "3"], r#"{"Leaf": 2.0}"#),
        (&["captured", PAIR, "2"], "60.0"),
        (&["made", "1", "3"], "14.0"),
        (&["mixed", PAIR, "2"], r#"[15.0, {"Node": [{"Leaf": 10.0}, {"Leaf": 6.0}]}]"#),
        (&["second", PAIR], "8.0"),
        (&["constant", PAIR, "2"], "225.0"),
        (&["inside", "1", PAIR], "8.0"),
        (&["inside", "2", PAIR], "2.0"),
    ];
    for (entry, wanted) in calls {
        assert_eq!(evaluates(TREES, entry), wanted, "{entry:?}");
        assert_eq!(gives("eval", &["--reverse", "dual-numbers"], TREES, entry), wanted, "{entry:?} on a tape");
        assert_eq!(gives("eval", &["--partial"], TREES, entry), wanted, "{entry:?} in the partial meaning");
    }
    let trace = gives("eval", &["--trace"], TREES, &["slopes", PAIR]);
    // the first Double is that of the leaf which the value is not
    let lines = ["t[0] = 0.0", "t[1] = 3.0", "t[2] = 5.0", "t1 = t[1] * t[2] = 15.0", "result t1", "adjoint"];
    assert!(trace.contains(&lines.join("\n")) && trace.ends_with("t[1]' = t1' * t[2] = 5.0\nt[2]' = t[1] * t1' = 3.0"), "{trace}");
    for entry in [&["back", PAIR, r#"{"Leaf": 1}"#][..], &["along", PAIR, r#"{"Leaf": 1}"#]] {
        let found = evaluates(TREES, entry);
        assert!(found.contains("E0702") && found.contains("has other cases"), "{found}");
    }
}

const OTHERS: &str = "\
type Option = | None | Some of Double
type Expr = | X | Many of Array<Expr> | Named of Binding | Given of Option * Index<3> | Pair of Array<Expr, 2> | At of Vector
type Binding = { value: Expr; rest: Rest }
type Rest = | End | More of Binding
let rec size (e: Expr) : Double =
  match e with
  | X -> 1.0
  | Many es -> ifold (fun s i -> s + size es[i]) 0.0 (length es)
  | Named b -> sizeOf b
  | Given (Some x, _) -> x
  | Given (None, i) -> double i
  | Pair es -> size es[0] + 10.0 * size es[1]
  | At v -> vectorSum v
and sizeOf (b: Binding) : Double = size b.value + (match b.rest with End -> 0.0 | More c -> sizeOf c)
let slopes (e: Expr) = gradient size e
let same (e: Expr) : Expr = e
let wrapped (b: Binding) = { b with rest = More b }
let rec dropped (e: Expr) : Expr = match e with Many es -> Many (build (length es) (fun i -> dropped es[i])) | At v -> At v[1..] | e -> e
";

#[test]
fn types_contain_each_other_through_arrays_records_and_sums() {
    let deep = r#"{"Many": ["X", {"Named": {"value": {"Given": [{"Some": 2}, 1]}, "rest": {"More": {"value": {"At": [1, 2, 3]}, "rest": "End"}}}}, {"Many": []}]}"#;
    let calls = [
        (&["size", deep][..], "9.0"),
        (&["size", r#"{"Pair": ["X", {"Given": ["None", 2]}]}"#], "21.0"),
        (&["same", r#"{"Many": []}"#], r#"{"Many": []}"#),
        (&["same", r#"{"At": []}"#], r#"{"At": []}"#),
        (&["same", r#"{"Given": ["None", 2]}"#], r#"{"Given": ["None", 2]}"#),
        (&["slopes", r#"{"Many": [{"At": [1, 2]}, {"At": []}, "X"]}"#], r#"{"Many": [{"At": [1.0, 1.0]}, {"At": []}, "X"]}"#),
        (&["dropped", r#"{"Many": [{"At": [1, 2]}, {"At": [3]}]}"#], r#"{"Many": [{"At": [2.0]}, {"At": []}]}"#),
        (&["wrapped", r#"{"value": "X", "rest": "End"}"#], r#"{"value": "X", "rest": {"More": {"value": "X", "rest": "End"}}}"#),
    ];
    for (entry, wanted) in calls {
        assert_eq!(evaluates(OTHERS, entry), wanted, "{entry:?}");
        assert_eq!(gives("eval", &["--reverse", "dual-numbers"], OTHERS, entry), wanted, "{entry:?} on a tape");
    }
    for (word, wanted) in [(r#"{"Pair": ["X"]}"#, "E0806"), (r#"{"Named": {"value": "X"}}"#, "E0805")] {
        let found = evaluates(OTHERS, &["same", word]);
        assert!(found.contains(wanted), "{word}: {found}");
    }
}

#[test]
fn rows_of_nested_patterns_are_looked_at() {
    let tree = "type Tree = | Leaf of Double | Node of Tree * Tree\n";
    for (rows, wanted) in [
        ("Leaf x -> x", "error[E0313]: no row takes `Node _`"),
        ("Leaf x -> x | Node (Leaf a, _) -> a", "error[E0313]: no row takes `Node (Node _, _)`"),
        (
            "Leaf x -> x | Node (Node (Leaf a, _), _) -> a | Node (Leaf a, _) -> a",
            "error[E0313]: no row takes `Node (Node (Node _, _), _)`",
        ),
        ("Leaf x -> x | Node (_, _) -> 1.0 | Node (Leaf a, _) -> a", "warning[W0314]: this row is never reached"),
        ("Leaf x -> x | Node (Leaf a, _) -> a | Node (Node _, _) -> 1.0", "nothing"),
        ("Leaf x -> x | Node (a, _) -> a", "error[E0301]: expected Double, found Tree"),
    ] {
        let found = says(&format!("{tree}let f (t: Tree) : Double = match t with {rows}\n"));
        assert_eq!(found, wanted, "{rows}");
    }
}

#[test]
fn a_case_without_its_data_is_one_error() {
    let shape = "type Shape = | Circle of Double | Box of Double * Double | Empty\n";
    for (rest, wanted) in [
        ("let f (x: Double) = Circle\n", "error[E0312]: `Circle` has data"),
        ("let f (x: Double): Shape = Circle\n", "error[E0312]: `Circle` has data"),
        ("let f (x: Double) = (Box, x)\n", "error[E0312]: `Box` has data"),
        ("let f (x: Double) = [Circle]\n", "error[E0312]: `Circle` has data"),
        ("let f (n: Index) = build n (fun i -> Circle)\n", "error[E0312]: `Circle` has data"),
        ("let area (_: Shape) = 1.0\nlet f (x: Double) = area Box\n", "error[E0312]: `Box` has data"),
        ("let f (x: Double) = if x > 0.0 then Circle else Box\n", "error[E0312]: `Circle` has data"),
        ("let f (x: Double) = x |> Circle\n", "nothing"),
        ("let make = Circle\nlet f (x: Double) = make x\n", "nothing"),
        ("let f (v: Vector<n>) = let each g = build (length v) (fun i -> g v[i]) in each Circle\n", "nothing"),
    ] {
        let found = says(&format!("{shape}{rest}"));
        assert_eq!(found, wanted, "{rest}");
    }
}

#[test]
fn a_case_that_is_named_as_a_type_is_a_warning() {
    for (program, wanted) in [
        ("type S = Double\n", "warning[W0315]: `Double` is a case of `S` here, not the type of that name"),
        ("type Side = { length: Double }\ntype S = | Side\n", "warning[W0315]: `Side` is a case of `S` here, not the type of that name"),
        ("type S = Later\ntype Later = { length: Double }\n", "warning[W0315]: `Later` is a case of `S` here, not the type of that name"),
        ("type S = | S of Double\n", "nothing"),
        ("type S = S\n", "nothing"),
        ("type S = Alone\n", "nothing"),
        ("type S = | Double of Double\n", "nothing"),
        ("type S = Index | Double\n", "nothing"),
    ] {
        assert_eq!(says(&format!("{program}let f (x: Double) = x\n")), wanted, "{program}");
    }
}

#[test]
fn what_is_wrong_has_a_sentence() {
    for (program, wanted) in [
        ("type Node = { next: Node }\nlet f (x: Double) = x\n", "E0113]: the record `Node` contains itself"),
        ("type A = { b: B }\ntype B = { a: A }\nlet f (x: Double) = x\n", "contains itself"),
        (
            "type T<n> = | Leaf of Vector<n> | Node of T * T\nlet f (x: Double) = x\n",
            "E0113]: unsupported: the recursive type `T` has sizes of its own",
        ),
        (
            "type A = | First of B\ntype B = | Second of Double\nlet f (x: Double) = x\n",
            "E0113]: the type `B` is used before it is declared",
        ),
        ("type T = | Leaf of Double | Node of T\nlet g (t: T) = 1.0\nlet f (t: T) = jacobian g t\n", "E050"),
        ("type T = | Leaf of Double | Node of T\nlet f (t: T) (u: T) = t = u\n", "E0301]"),
        ("type T = | Leaf | Node of T\nlet g (t: T) = 1.0\nlet f (t: T) = gradient g t\n", "E0503]"),
        ("type T = | Leaf of (Double => Double) | Node of T\nlet f (x: Double) = x\n", "E0310]"),
        (
            "type S<n> = | First of Vector<n> | None\nlet f (s: S<n>) (v: Vector<n>) = vectorSum v\n",
            "E0113]: expected 0 sizes of `S`, found 1",
        ),
        ("type T = | Node of T * U\nlet f (x: Double) = x\n", "E0113]: unknown type `U`"),
    ] {
        let found = says(program);
        assert!(found.contains(wanted), "{program}: {found}");
    }
}

const LISTS: &str = "\
type List = | Nil | Cons of Double * List
let rec built (n: Index) (l: List) : List = if n = 0 then l else built (n - 1) (Cons (1.0 / double n, l))
let rec sum (l: List) (s: Double) : Double = match l with Nil -> s | Cons (x, rest) -> sum rest (s + x * x)
let rec called (n: Index) : List = if n = 0 then Nil else Cons (1.0, called (n - 1))
let rec slow (l: List) : Double = match l with Nil -> 0.0 | Cons (x, rest) -> x + slow rest
let long (n: Index) = sum (built n Nil) 0.0
let slopes (n: Index) = sum (gradient (fun l -> sum l 0.0) (built n Nil)) 0.0
let halves (n: Index) = slow (called n)
let slopeOf (n: Index) (x: Double) = gradient (fun x -> sum (built n (Cons (x, Nil))) 0.0) x
";

#[test]
fn lists_are_as_deep_as_they_are_long() {
    assert_eq!(evaluates(LISTS, &["long", "200000"]), "1.6449290668607415");
    let printed = evaluates(LISTS, &["built", "100000", "\"Nil\""]);
    assert_eq!(printed.matches("Cons").count(), 100_000);
    assert!(printed.ends_with(&format!("[1e-5, \"Nil\"]}}{}", "]}".repeat(99_999))), "{}", &printed[printed.len() - 100..]);
    assert_eq!(gives("eval", &["--reverse", "dual-numbers"], LISTS, &["slopes", "100000"]), "6.579696267592969");
    assert_eq!(evaluates(LISTS, &["slopeOf", "100000", "3"]), "6.0");
    assert_eq!(evaluates(LISTS, &["halves", "50000"]), "50000.0");
    let called = evaluates(LISTS, &["called", "200000"]);
    assert!(called.contains("E0706") && called.contains("calls of functions that have not ended"), "{called}");
    let nested = format!("{}\"Nil\"{}", "{\"Cons\": [1, ".repeat(100_000), "]}".repeat(100_000));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("list.json");
    std::fs::write(&path, nested).expect("a file");
    let found = evaluates(LISTS, &["slow", &format!("@{}", path.display())]);
    assert!(found.contains("E0802") && found.contains("nested more than 512 deep"), "{found}");
}

#[test]
fn only_the_interpreter_takes_and_gives_them() {
    let refused = |command: &str, options: &[&str], entry: &[&str]| {
        let found = gives(command, options, TREES, entry);
        assert!(found.contains("E0607"), "{command} {options:?} {entry:?}: {found}");
    };
    refused("emit", &["-o", "-"], &[]);
    refused("emit", &["--target", "futhark", "-o", "-"], &[]);
    refused("run", &[], &["total", PAIR]);
    refused("run", &[], &["captured", PAIR, "2"]);
    refused("eval", &["--schedule", "default"], &["total", PAIR]);
    refused("check", &["--dump", "linear"], &[]);
    refused("check", &["--dump", "cl"], &[]);
    refused("check", &["--derive", "revf:mirror"], &[]);
    refused("explain", &[], &["total"]);
    refused("gradcheck", &[], &["mixed", PAIR, "3"]);
    refused("run", &["--entry", "constant"], &["constant", PAIR, "2"]);
    refused("emit", &["--target", "futhark", "--entry", "made", "-o", "-"], &[]);
    // inside of an entry they are nodes in arrays: tests/suite/recursion.rs
    assert_eq!(gives("run", &["--entry", "made"], TREES, &["made", "1", "3"]), evaluates(TREES, &["made", "1", "3"]));
    let checked = gives("gradcheck", &[], TREES, &["made", "1", "3"]);
    assert!(checked.contains("forward, compiled C"), "{checked}");
    let second = format!("{TREES}\nlet whole (x: Double) = total (gradient product (full 2 x))\n");
    let found = gives("run", &["--entry", "whole"], &second, &["whole", "3"]);
    assert!(found.contains("E0607") && found.contains("a derivative in or of a value of the recursive type `Tree`"), "{found}");
    let own = "type Bag = | Empty | Full of Vector * Bag\nlet f (x: Double) = match Full ([x, x], Empty) with Full (v, _) -> v[1] | Empty -> 0.0\n";
    let found = gives("run", &[], own, &["f", "3"]);
    assert!(found.contains("E0607") && found.contains("which has arrays with lengths of their own"), "{found}");
    let derived = gives("eval", &["--derive", "gradient:product"], TREES, &["product_gradient", PAIR]);
    assert_eq!(derived, r#"{"Node": [{"Leaf": 5.0}, {"Leaf": 3.0}]}"#);
    let derived = gives("eval", &["--derive", "vjp:mirror"], TREES, &["mirror_vjp", PAIR, PAIR]);
    assert_eq!(derived, r#"{"Node": [{"Leaf": 30.0}, {"Leaf": 30.0}]}"#);
    let core = gives("check", &["--dump", "types"], TREES, &[]);
    assert!(core.contains("unroll t") && core.contains("roll (") && core.contains("absent"), "{core}");
}
