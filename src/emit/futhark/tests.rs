//! What is written, for programs of a line; `tests/suite/futhark.rs` has it compiled and run.

use crate::driver::{Options, Schedule, Session, Target};

fn emitted(source: &str, schedule: &str) -> Result<String, &'static str> {
    emitted_with(source, Options { schedule: Schedule::Named(schedule.into()), ..none() })
}

/// Futhark without optimisation.
fn none() -> Options {
    Options { schedule: Schedule::Named("none".into()), target: Target::Futhark, ..Options::default() }
}

fn emitted_with(source: &str, options: Options) -> Result<String, &'static str> {
    let mut session = Session::new("f.smooth", source, options);
    match session.run_to("emit", &mut |_, _| Err("no files".into())) {
        Ok(()) => Ok(session.emitted_futhark().expect("it was emitted").source.clone()),
        Err(problems) => Err(problems.first().map_or("no code", |problem| problem.code)),
    }
}

/// The lines of one entry's definition.
fn entry(source: &str, name: &str) -> String {
    let text = emitted(source, "default").expect("is emitted");
    let found = text.split("\n\n").find(|part| part.contains(&format!("entry {name} ")));
    let found = found.unwrap_or_else(|| panic!("no {name} in\n{text}")).trim_end();
    found.lines().filter(|line| !line.starts_with("-- |")).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn is(source: &str, wanted: &str) {
    assert_eq!(entry(source, "f"), wanted, "\n{source}");
}

#[test]
fn builds_are_maps_where_the_index_only_reads() {
    is("let f (v: Vector<n>) (s: Double) = vectorSMul v s", "entry f [n] (v: [n]f64) (s: f64) : [n]f64 =\n  map (* s) v");
    is("let f (v: Vector<n>) = vectorMap v (fun x -> sin x)", "entry f [n] (v: [n]f64) : [n]f64 =\n  map f64.sin v");
    is("let f (v: Vector<n>) (w: Vector<n>) = vectorAdd v w", "entry f [n] (v: [n]f64) (w: [n]f64) : [n]f64 =\n  map2 (+) v w");
    is(
        "let f (v: Vector<n>) = build (length v) (fun i -> v[length v - 1 - i])",
        "entry f [n] (v: [n]f64) : [n]f64 =\n  tabulate n (\\i -> v[n - 1 - i])",
    );
    is(
        "let f (v: Vector<n>) (w: Vector<m>) = build (length v) (fun i -> build (length w) (fun j -> v[i] + double j))",
        "entry f [n] [m] (v: [n]f64) (w: [m]f64) : [n][m]f64 =\n  let _ = w\n  in map (\\x -> tabulate m (\\j -> x + f64.i64 j)) v",
    );
}

#[test]
fn an_empty_array_evaluates_no_element() {
    is(
        "let f (v: Vector<n>) = build (length v) (fun i -> v[length v - 1])",
        "entry f [n] (v: [n]f64) : [n]f64 =\n  if 0 < n then replicate n v[n - 1] else replicate n 0.0",
    );
}

#[test]
fn what_fails_stays_in_a_loop_that_has_a_step() {
    is(
        "let f (v: Vector<m>) (w: Vector<n>) = vectorMap w (fun x -> x * v[0])",
        "entry f [m] [n] (v: [m]f64) (w: [n]f64) : [n]f64 =\n  if 0 < n then map (\\x -> v[0] * x) w else replicate n 0.0",
    );
    is(
        "let f (v: Vector<m>) (w: Vector<n>) = 1.0 + vectorSum (vectorMap w (fun x -> sin (x * v[0])))",
        "entry f [m] [n] (v: [m]f64) (w: [n]f64) : f64 =\n  1.0 + (if 0 < n then f64.sum (map (\\x -> f64.sin (v[0] * x)) w) else 0.0)",
    );
    // in range whatever n is
    is(
        "let f (v: Vector<3>) (w: Vector<n>) = vectorMap w (fun x -> x * v[2])",
        "entry f [n] (v: [3]f64) (w: [n]f64) : [n]f64 =\n  map (\\x -> v[2] * x) w",
    );
    is(
        "let f (M: Matrix<n, m>) = build (length M) (fun i -> build (matrixCols M) (fun j -> sin M[i][j]))",
        "entry f [n] [m] (M: [n][m]f64) : [n][m]f64 =\n  map (map f64.sin) M",
    );
}

#[test]
fn remainders_and_powers_are_not_those_that_the_compiler_folds() {
    is("let f (j: Index) (k: Index) = j % k", "entry f (j: i64) (k: i64) : i64 =\n  rem j k");
    is("let f (j: Index) = j % 4", "entry f (j: i64) : i64 =\n  j %% 4");
    is("let f (x: Double) (y: Double) = x ** y", "entry f (x: f64) (y: f64) : f64 =\n  power x y");
    is("let f (x: Double) = x ** 1.5 + 2.0 ** x", "entry f (x: f64) : f64 =\n  x ** 1.5 + 2.0 ** x");
}

#[test]
fn associative_folds_are_reductions() {
    is("let f (v: Vector<n>) (w: Vector<n>) = vectorDot v w", "entry f [n] (v: [n]f64) (w: [n]f64) : f64 =\n  f64.sum (map2 (*) v w)");
    is("let f (v: Vector<n>) = vectorMax v", "entry f [n] (v: [n]f64) : f64 =\n  fmax v[0] (reduce fmax (-f64.inf) v)");
    is(
        "let f (v: Array<Index, n>) (k: Index) = ifold (fun s i -> s * v[i]) k (length v)",
        "entry f [n] (v: [n]i64) (k: i64) : i64 =\n  k * i64.product v",
    );
    let powers = "let f (v: Vector<3>) (n: Index) = ifold (fun w i -> build 3 (fun j -> w[j] * w[0])) v n";
    let text = emitted(powers, "none").expect("is emitted");
    assert!(text.contains("  loop (w: [3]f64) = v\n  for _i < count n do\n    map "), "{text}");
    is(
        "let f (v: Vector<n>) (x: Double) = ifold (fun s i -> s * x + v[i]) 0.0 (length v)",
        "entry f [n] (v: [n]f64) (x: f64) : f64 =\n  loop s = 0.0\n  for i < n do\n    s * x + v[i]",
    );
}

#[test]
fn folds_of_truths_are_reductions() {
    let fold = |step: &str, start: &str| format!("let f (v: Vector<n>) (b: Bool) = ifold (fun c i -> {step}) {start} (length v)");
    let head = "entry f [n] (v: [n]f64) (b: bool) : bool =\n  ";
    for (step, start, wanted) in [
        ("c && v[i] > b2", "true", "all (> b2) v"),
        ("v[i] > b2 || c", "b", "b || any (> b2) v"),
        ("c <> (v[i] > b2)", "b", "b != reduce (!=) false (map (> b2) v)"),
        ("c = (v[i] > b2)", "true", "reduce (==) true (map (> b2) v)"),
        ("if v[i] > b2 then c && v[i] < 3.0 else c", "true", "all (\\x -> if x > b2 then x < 3.0 else true) v"),
        // evaluated only while c holds, so no more than that
        ("c && v[i + 1] > b2", "b", "loop c = b\n  for i < n do\n    c && v[i + 1] > b2"),
        // fails whatever c is
        ("v[i + 1] > b2 && c", "b", "and (tabulate n (\\i -> v[i + 1] > b2)) && b"),
    ] {
        let (step, wanted) = (step.replace("b2", "1.5"), wanted.replace("b2", "1.5"));
        let found = entry(&fold(&step, start), "f").replace("\n  let _ = b\n  in ", "\n  ");
        assert_eq!(found, format!("{head}{wanted}"), "{step}");
    }
    let rows = "let f (M: Matrix<n, m>) = ifold (fun c i -> c && vectorSum M[i] > 0.0) true (length M)";
    assert!(entry(rows, "f").contains("loop c = true"), "a sum that may be left out");
}

#[test]
fn folds_of_tuples_are_reductions_of_tuples() {
    is(
        "let f (v: Vector<n>) (c: Bool) = ifold (fun (s, p, m, b) i -> (s - v[i], p * i, max v[i] m, b && v[i] > 0.0)) (1.0, 2, v[0], c) (length v)",
        "entry f [n] (v: [n]f64) (c: bool) : (f64, i64, f64, bool) =\n  let (s, p, m, b) =\n    \
         reduce (\\(a, b, c_2, d) (e, f_2, g, h) -> (a + e, b * f_2, fmax c_2 g, d && h))\n           \
         (0.0, 1i64, -f64.inf, true)\n           (tabulate n (\\i ->\n                          let v_i = v[i]\n                          \
         in (v_i, i, v_i, v_i > 0.0)))\n  in (1.0 - s, 2 * p, fmax v[0] m, c && b)",
    );
    let sometimes =
        "let f (v: Vector<n>) = ifold (fun (s, k) i -> if v[i] > 0.0 then (s + v[i], k || i > 3) else (s, k)) (0.0, false) (length v)";
    assert!(
        entry(sometimes, "f").contains("reduce (\\(a, b) (c, d) -> (a + c, b || d)) (0.0, false) (tabulate"),
        "{}",
        entry(sometimes, "f")
    );
    let product = "let f (v: Vector<n>) = ifold (fun (p, q) i -> (p * v[i], q * v[i] + p)) (1.0, 0.0) (length v)";
    assert!(entry(product, "f").contains("loop "), "what depends on another component");
    let mixed = "let f (v: Vector<n>) = ifold (fun s i -> if v[i] > 0.0 then s + v[i] else s * v[i]) 1.0 (length v)";
    assert!(entry(mixed, "f").contains("loop "), "two operations");
}

#[test]
fn rounding_as_written_keeps_the_order_of_sums() {
    let source = "let f (v: Vector<n>) = vectorSum v
let product (v: Vector<n>) = ifold (fun s i -> s * v[i]) 1.0 (length v)
let sums (v: Vector<n>) = ifold (fun (a, b) i -> (a + v[i], b + i)) (0.0, 0) (length v)
let positive (v: Vector<n>) = ifold (fun s i -> if v[i] > 0.0 then s + v[i] else s) 0.0 (length v)
let free (v: Array<Index, n>) (w: Vector<n>) = (vectorMax w, ifold (fun s i -> s + v[i]) 0 (length v))\n";
    let text = emitted_with(source, Options { strict_fp: true, ..none() }).expect("is emitted");
    assert_eq!(text.matches("loop ").count(), 4, "{text}");
    assert!(text.contains("for i < v_n do\n    s + v[i]\n"), "{text}");
    assert!(!["f64.sum", "f64.product", "reduce ("].iter().any(|reduction| text.contains(reduction)), "{text}");
    assert!(text.contains("reduce fmax") && text.contains("i64.sum v"), "{text}");
    let text = emitted_with(source, none()).expect("is emitted");
    assert!(!text.contains("loop "), "{text}");
}

#[test]
fn what_futhark_does_not_check_is_asserted() {
    let counted = "let f (n: Index) (x: Double) = build n (fun i -> x * double i)";
    is(counted, "entry f (n: i64) (x: f64) : [n]f64 =\n  tabulate (count n) (\\i -> x * f64.i64 i) :> [n]f64");
    let text = emitted(counted, "default").expect("is emitted");
    assert!(text.contains("\ndef count (n: i64) : i64 = assert (negative (0 <= n)) n\n") && text.contains("\ndef negative "), "{text}");
    is("let f (x: Double) = index x", "entry f (x: f64) : i64 =\n  to_index x");
    is(
        "let f (v: Vector<n>) (k: Index<n>) = v[k]",
        "entry f [n] (v: [n]f64) (k: i64) : f64 =\n  let k_2 = assert (range (0 <= k && k < n)) k\n  in v[k_2]",
    );
    is("let f (a: Index) (b: Index) = a / b + a % 3", "entry f (a: i64) (b: i64) : i64 =\n  quot a b + a %% 3");
    let bounded =
        "let rec gcd (a: Index) (b: Index) decreases b : Index = if b = 0 then a else gcd b (a % b)\nlet f (a: Index) (b: Index) = gcd a b";
    let text = emitted(bounded, "default").expect("is emitted");
    assert!(text.contains("while go do") && text.contains("assert (workspace (") && text.contains("\ndef workspace "), "{text}");
}

#[test]
fn an_index_times_minus_one_is_a_negation() {
    is(
        "let f (k: Index) (x: Double) = (build (-k) (fun i -> x), 2 * -k)",
        "entry f (k: i64) (x: f64) : ([-k]f64, i64) =\n  (replicate (count (-k)) x :> [-k]f64, (-2) * k)",
    );
}

#[test]
fn a_nan_is_not_equal_to_itself() {
    is("let f (x: Double) = x = x", "entry f (x: f64) : bool =\n  !(f64.isnan x)");
    is("let f (x: Double) (y: Double) = x <= y", "entry f (x: f64) (y: f64) : bool =\n  x <= y");
    is("let f (v: Vector<9>) = v[1] >= v[2]", "entry f (v: [9]f64) : bool =\n  ge v[1] v[2]");
}

#[test]
fn entry_points_have_no_tuples_inside() {
    is(
        "let f (p: Array<Double * Index, n>) (q: Double * Bool) = (build (length p) (fun i -> (fst p[i], fst q)), snd q)",
        "entry f [n] (p_0: [n]f64) (p_1: [n]i64) (q_0: f64) (q_1: bool) : ([n]f64, [n]f64, bool) =\n  \
         let p = zip p_0 p_1\n  let result = map (\\(x_0, _x_1) -> (x_0, q_0)) p\n  in (map (.0) result, map (.1) result, q_1)",
    );
    let called = "let f (x: Double) = ((x, x), x)\nlet g (x: Double) = (f x, 1.0)";
    let text = emitted(called, "none").expect("is emitted");
    assert!(text.contains("def f_ (x: f64) : ((f64, f64), f64) =\n"), "{text}");
    assert!(text.contains("entry f (x: f64) : (f64, f64, f64) =\n"), "{text}");
}

#[test]
fn names_are_readable_and_free() {
    let source = "let _twice (x': Double) : Double = x' * 2.0\nlet reduce (map: Double) = _twice map\nlet f (entry: Double) = reduce entry";
    let text = emitted(source, "none").expect("is emitted");
    for line in ["def twice (x_prime: f64) : f64 =", "entry reduce_ (map_: f64) : f64 =", "entry f (entry_: f64) : f64 ="] {
        assert!(text.contains(line), "{text}");
    }
    // a prime is written out, and what it is written as must not hide the name either
    is("let f (_': Double) = _' * 2.0", "entry f (prime: f64) : f64 =\n  2.0 * prime");
    let called = emitted("let _' (x: Double) : Double = x * 2.0\nlet f (x: Double) = _' x", "none").expect("is emitted");
    assert!(called.contains("def prime (x: f64) : f64 =") && called.contains("  prime x\n"), "{called}");
    let options = Options { prefix: "_my_".to_string(), ..none() };
    let prefixed = emitted_with("let f (x: Double) : Double = x * 2.0\nlet g (x: Double) = f x", options).expect("is emitted");
    for line in ["def my_f (x: f64) : f64 =", "entry _my_f (x: f64) : f64 =\n  my_f x\n", "entry _my_g (x: f64) : f64 =\n  my_f x\n"] {
        assert!(prefixed.contains(line), "{prefixed}");
    }
}

#[test]
fn no_function_has_more_lets_than_futhark_can_take() {
    let mut source = String::from("let f (v: Vector<n>) =\n  let y0 = v\n");
    for k in 1..90 {
        source.push_str(&format!("  let y{k} = build (length v) (fun i -> y{}[i] * y{}[0])\n", k - 1, k - 1));
    }
    source.push_str("  y89\n");
    let text = emitted(&source, "none").expect("is emitted");
    let definitions: Vec<&str> = text.split("\n\n").collect();
    assert!(definitions.len() >= 4, "{text}");
    assert!(definitions.iter().all(|definition| definition.matches(" let ").count() <= 25), "{text}");
    // all are read at the end
    let (mut source, mut sum) = (String::from("let f (x: Double) =\n  let y0 = sin x\n"), String::from("y0"));
    for k in 1..200 {
        source.push_str(&format!("  let y{k} = sin (x * {k}.5)\n"));
        sum.push_str(&format!(" + y{k} * y{k}"));
    }
    let text = emitted(&format!("{source}  {sum}\n"), "none").expect("is emitted");
    let definitions: Vec<&str> = text.split("\n\n").collect();
    assert!(definitions.iter().all(|definition| definition.matches(" let ").count() <= 150), "{text}");
    assert!(text.contains("f_part_1"), "{text}");
}

#[test]
fn what_the_compiler_knows_to_be_zero_is_divided_by_a_helper() {
    let source = "let _over (x: Double) (y: Double) = x / y + y
let f (x: Double) (v: Vector<n>) (b: Bool) =
  let z = sin 0.0 in build (length v) (fun i -> z / x + 0.0 / v[i] + 2.0 / x + v[i] / x + (vectorZeros (length v))[i] / x + _over z x + (x + 0.0))";
    let text = emitted(source, "none").expect("is emitted");
    assert_eq!(text.matches("ratio ").count(), 4, "{text}");
    assert!(text.contains("  x / y + y\n") && text.contains("2.0 / x") && !text.contains("plus "), "{text}");
    let text = emitted_with(source, Options { strict_fp: true, ..none() }).expect("is emitted");
    assert_eq!(text.matches("ratio ").count(), 5, "{text}");
    assert!(text.contains("  ratio x y + y\n") && text.contains("plus x 0.0") && text.contains("2.0 / x"), "{text}");
}

#[test]
fn a_size_that_depends_on_data_is_refused() {
    assert_eq!(emitted("let f (x: Double) = build (index x) (fun i -> 1.0)", "default"), Err("E0601"));
}

#[test]
fn what_is_not_read_again_is_updated_in_place() {
    is("let f (v: Vector<n>) (x: Double) = update v 0 x", "entry f [n] (v: [n]f64) (x: f64) : [n]f64 =\n  copy v with [0] = x");
    is(
        "let f (v: Vector<n>) (x: Double) = let w = vectorMap v exp in update (update w 0 x) 1 (2.0 * x)",
        "entry f [n] (v: [n]f64) (x: f64) : [n]f64 =
  let a = map f64.exp v
  let a_2 = a with [0] = x
  in a_2 with [1] = 2.0 * x",
    );
    is(
        "let f (v: Vector<n>) (x: Double) = let w = vectorMap v exp in (update w 0 x, w)",
        "entry f [n] (v: [n]f64) (x: f64) : ([n]f64, [n]f64) =
  let w = map f64.exp v
  in (copy w with [0] = x, w)",
    );
}

#[test]
fn a_loop_uses_its_state_up() {
    is(
        "let f (v: Vector<n>) (k: Index) = ifold (fun (s, t) i -> (update s (i % 2) 1.0, update t i s[0])) (v, v) k",
        "entry f [n] (v: [n]f64) (k: i64) : ([n]f64, [n]f64) =
  loop (s: *[n]f64, t: *[n]f64) = (copy v, copy v)
  for i < count k do
    let x = t with [i] = s[0]
    in (s with [i %% 2] = 1.0, x)",
    );
}

#[test]
fn a_fold_that_adds_to_places_is_a_reduction_by_index() {
    is(
        "let f (z: Vector<m>) (k: Array<Index, n>) (v: Vector<n>) = ifold (fun s i -> accumulate s k[i] v[i]) z n",
        "entry f [m] [n] (z: [m]f64) (k: [n]i64) (v: [n]f64) : [m]f64 =
  let sums = reduce_by_index (copy z) (+) 0.0 k v
  in assert (bounds (all (\\i -> 0 <= i && i < m) k)) sums",
    );
    let strict = emitted_with(
        "let f (z: Vector<m>) (k: Array<Index, n>) (v: Vector<n>) = ifold (fun s i -> accumulate s k[i] v[i]) z n",
        Options { strict_fp: true, ..none() },
    );
    assert!(strict.expect("is emitted").contains("loop (s: *[m]f64) = copy z"));
}

#[test]
fn sums_over_steps_go_in_chunks() {
    is(
        "let f (M: Matrix<n, m>) (z: Vector<m>) =
  ifold (fun (s, t) i -> (build m (fun j -> s[j] + sin M[i][j]), t - M[i][0])) (z, 1.0) n",
        "entry f [n] [m] (M: [n][m]f64) (z: [m]f64) : ([m]f64, f64) =
  let chunks = i64.max 1 (i64.min 4096 (n // 32))
  let sums = tabulate chunks (\\q -> f_sums_1 n m chunks q M)
  in ( tabulate m (\\j -> z[j] + f64.sum (map (\\(x_0, _x_1) -> x_0[j]) sums))
     , 1.0 + f64.sum (map (\\(_x_0, x_1) -> x_1) sums)
     )",
    );
}

#[test]
fn types_have_the_names_of_lengths_of_many_operations() {
    let source = "let f (v: Vector<n>) (k: Index) =
  let p = (min k 100 + 9) / 10
  vectorSum (ifold (fun (a: Vector<m>) i -> build m (fun j -> a[j] * v[i])) (build p (fun j -> v[0])) n)";
    let text = emitted(source, "none").expect("is emitted");
    assert!(text.contains("let p = (i64.min k 100 + 9) // 10") && text.contains("loop (a_2: [p]f64)"), "{text}");
}

#[test]
fn long_patterns_have_a_line_for_each_component() {
    let source = "let f (before_the_last: Vector<n>) (of_the_last_step: Vector<n>) (now: Vector<n>) =
  ifold (fun (before_the_last, of_the_last_step, now) i -> (of_the_last_step, now, before_the_last))
    (before_the_last, of_the_last_step, now) (n + length now)";
    let wanted = "  loop ( before_the_last_2: [n]f64\n       , of_the_last_step_2: [n]f64\n       , now_2: [n]f64\n       ) =";
    let text = entry(&source.replace("now", "in_this_step_of_the_program"), "f");
    assert!(text.contains(&wanted.replace("now", "in_this_step_of_the_program")), "{text}");
}
