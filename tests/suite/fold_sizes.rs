//! Lengths that a loop over Indexes computes: C gives what the interpreter gives, with the workspace that it asks for.
//!
//! C runs under sanitizers where there are some, with exactly that workspace and with a byte less, which is refused.

use smoothc::driver::{Options, Schedule};
use smoothc::loops::{parse, print};
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;

use crate::support::command::with_input;
use crate::support::{agree, engine, silent};

const PROGRAMS: &str = "\
let named (n: Index) (x: Double) =
  let m = ifold (fun s i -> 2 * s) 1 n
  let v = build m (fun i -> sin (x + double i))
  let w = build m (fun i -> v[m - 1 - i] * v[i])
  vectorSum w

let inline (n: Index) (x: Double) =
  let v = build (ifold (fun s i -> 2 * s) 1 n) (fun i -> sin (x + double i))
  let w = vectorMap v (fun y -> y * v[length v - 1])
  vectorDot w v

let inner (n: Index) (x: Double) = build (ifold (fun s i -> 2 * s + i) 1 n) (fun i -> x + double i)
let equal (n: Index) (x: Double) = vectorDot (inner n x) (build (ifold (fun t j -> j + t * 2) 1 n) (fun i -> x * double i))

/// The length may be negative.
let down (n: Index) (x: Double) =
  let m = ifold (fun s i -> s - 1) 3 n
  let v = build m (fun i -> sin x * double i)
  vectorSum (build m (fun i -> v[m - 1 - i] + v[i]))

/// Sizes, conditions and lengths of the arguments.
let mixed (n: Index) (c: Bool) (v: Vector<k>) =
  let m = ifold (fun s i -> if c then s + k else max s (2 * i)) 0 n
  let A = build m (fun i -> build (m + k) (fun j -> sin (double (i + j) + v[j % k])))
  vectorSum (build m (fun i -> vectorSum A[i] + A[m - 1 - i][i]))

/// A length for each step of a loop.
let rows (n: Index) (x: Double) =
  let row i =
    let m = ifold (fun s j -> s * 2 - j) 1 i
    let w = build m (fun j -> sin (x * double j))
    vectorSum (build m (fun j -> w[m - 1 - j] * w[j]))
  vectorSum (build n row)

let states (n: Index) (v: Vector<k>) =
  let start = build (ifold (fun s i -> 2 * s + 1) 1 n) (fun i -> v[i % k])
  vectorSum (ifold (fun s i -> build (length s) (fun j -> s[length s - 1 - j] * 0.5 + double i)) start 4)

/// The parameter's length is the one that the body says.
let given (n: Index) v = vectorDot v (build (ifold (fun s i -> 2 * s) 1 n) (fun i -> double i))

/// Without optimisation the callee's measure does not read the length.
let unread (v: Vector<k>) (n: Index) = double (vectorSum (vectorRange (length v)) + n)
let ignored (n: Index) (v: Vector<k>) = unread v (ifold (fun s j -> n) n n)

/// Results of such lengths, and lengths by recursion: with its last call and on the way back, to a bound from either side, over two steps
/// at once, in a local function that captures what it counts to.
let powers (n: Index) (x: Double) = build (ifold (fun s i -> 2 * s + i) 1 n) (fun i -> x * double i)
let rec _double (n: Index) (m: Index) : Index = if n <= 0 then m else _double (n - 1) (2 * m)
let rec _triple (n: Index) : Index decreases n = let ends = n = 0 in if ends then 1 else 3 * _triple (n - 1)
let rec _apart (n: Index) (b: Bool) : Index = if n < 2 then (if b then n else 1 - n) else 1 + n * _apart (n - 2) b
let table (n: Index) (m: Index) (x: Double) = (build (_double n 1) (fun i -> build (_triple m) (fun j -> x + double (i * j))), _triple m)
let apart (n: Index) (b: Bool) (x: Double) =
  let v = build (_apart n b) (fun i -> sin (x + double i))
  build (_apart n b) (fun i -> v[i] * v[length v - 1 - i])
let captured (n: Index) (m: Index) (x: Double) =
  let rec up (i: Index) : Index = if i >= n then m else i + up (i + 1)
  let v = build (up 0) (fun i -> sin (x + double i))
  vectorSum (build (length v) (fun i -> v[i] * v[length v - 1 - i]))
let tableSlope (n: Index) (m: Index) (x: Double) = jacobian (fun x -> table n m x) x

/// States of several Indexes and Bools, with others beside them; lengths from tuples, of branches, calls, records and recursion too.
let sums (n: Index) (x: Double) =
  let (a, b) = ifold (fun (a, b) i -> (b, a + b)) (0, 1) n
  let v = build (a + b) (fun i -> sin (x + double i))
  vectorSum (build b (fun i -> v[i] * v[a + b - 1 - i]))
let turns (n: Index) (c: Bool) (x: Double) =
  let p = ifold (fun (a, c) i -> (if c then 2 * a else a + i, not c)) (1, c) n
  build (fst p) (fun i -> if snd p then x + double i else x * double i)
let beside (n: Index) (x: Double) =
  let (m, y) = ifold (fun (m, y) i -> (2 * m, sin y)) (1, x) n
  build m (fun i -> y + double i)
let inside (n: Index) (x: Double) =
  let grow (k: Index) = ifold (fun (a, b) i -> (b + 1, a + fst (ifold (fun (c, d) j -> (d, c + b)) (k, i) a))) (1, k) 3
  vectorSum (build n (fun k -> vectorSum (build (snd (grow k)) (fun i -> sin (x * double i)))))
let literal (n: Index) (c: Bool) (x: Double) =
  let p = if c then (n + 1, x) else (n, 2.0 * x)
  build (fst p) (fun i -> snd p + double i)
type Grid = { rows: Index; step: Double }
let grid (n: Index) (x: Double) : Grid = { rows = 2 * n + 1; step = x / 2.0 }
let fromCall (n: Index) (x: Double) =
  let g = grid n x
  let v = build g.rows (fun i -> sin (g.step * double i))
  build g.rows (fun i -> v[i] * v[g.rows - 1 - i])
let rec _fib (n: Index) : Index = if n < 2 then n else _fib (n - 1) + _fib (n - 2)
let rec _far (n: Index) (c: Index) : Index = if n > 2 then _far (n - 2) c + c * _far (n - 6) c else if n > 1 then 1 else 2
let rec _pell (n: Index) (a: Index) (b: Index) : Index * Index = if n <= 0 then (a, b) else _pell (n - 1) b (2 * b + a)
let fibs (n: Index) (x: Double) = build (_fib n) (fun i -> x + double i)
let far (n: Index) (x: Double) = build (_far n 2) (fun i -> x + double i)
let pell (n: Index) (x: Double) =
  let (a, b) = _pell n 0 1
  let v = build (a + b) (fun i -> sin (x + double i))
  build b (fun i -> v[i] + v[a + b - 1 - i])
let pellSlope (n: Index) (x: Double) = jacobian (fun x -> pell n x) x

/// Total recursion: what searches and halves is over after a few of the steps that its measure allows. Sums and products with the call's
/// value, several ways to go on, Bools, a local function, a measure that does not become smaller.
let rec _gcd (a: Index) (b: Index) decreases b : Index = if b = 0 then a else _gcd b (a % b)
let rec _levels (n: Index) decreases n : Index = if n <= 1 then 0 else 1 + _levels (n / 2)
let rec _digits (n: Index) decreases n : Index = if n < 10 then 1 else let rest = _digits (n / 10) in rest + 1
let rec _turned (n: Index) (r: Index) decreases n : Index = if n > 0 then _turned (n / 10) (10 * r + n % 10) else r
let rec _mixed (n: Index) decreases n : Index =
  if n <= 0 then 1 else if n % 3 = 0 then 2 * _mixed (n / 3) else if n % 3 = 1 then 3 - _mixed (n - 1) else _mixed (n / 2) * n - n
let rec _isPower (n: Index) decreases n : Bool = if n <= 1 then n = 1 else if n % 2 = 1 then false else _isPower (n / 2)
let rec _lies (n: Index) decreases n : Index = if n > 7 then n - 7 else if n % 2 = 0 then _lies (n + 1) else _lies (n + 3)
let common (a: Index) (b: Index) (x: Double) = build (_gcd a b) (fun i -> x + double i)
let multiple (a: Index) (b: Index) = a / _gcd a b * b
let meshes (n: Index) (x: Double) =
  let w = build (_levels n + 1) (fun i -> sin (x + double i))
  let v = build (_digits n + _gcd n 12) (fun i -> w[i % length w] * double (_gcd i 6))
  vectorSum (build (length w) (fun i -> w[length w - 1 - i] * v[0]))
let meshesSlope (n: Index) (x: Double) = derivative (fun x -> meshes n x) x
let turned (n: Index) (x: Double) = build (max 0 (_turned n 0)) (fun i -> x)
let ways (n: Index) = (_mixed n, build (max 0 (_mixed n % 50)) (fun i -> i))
let power (n: Index) (x: Double) = build (if _isPower n then n + 1 else 2) (fun i -> x * double i)
let lies (n: Index) (x: Double) = vectorSum (build (_lies n) (fun i -> x))
let rec _exits (n: Index) (k: Index) decreases n : Index =
  if n > 0 then (if k > 0 then 1 + _exits (n / 3) (k - 1) else 2) else if k > 3 then 5 else 4
let rec _flips (n: Index) (b: Bool) decreases n : Index = if n <= 1 then (if b then 1 else 2) else _flips (n / 2) (not b)
let exits (n: Index) (k: Index) (x: Double) =
  let v = build (_exits n k) (fun i -> sin (x * double i))
  let w = build (_flips n (k > 2) + 1) (fun i -> v[0] + double i)
  build (length v) (fun i -> v[length v - 1 - i] + w[i % length w])
let parts (n: Index) (m: Index) (x: Double) =
  let g = _gcd n m
  let v = build (if g = 0 then 1 else n / g) (fun i -> x * double i)
  vectorSum (build (length v) (fun i -> v[length v - 1 - i] * v[i]))
let meshesJacobian (n: Index) (v: Vector<m>) = jacobian (fun v -> build (_levels n + 1) (fun i -> sin (v[0] * double i))) v
let locally (n: Index) (k: Index) (x: Double) =
  let rec steps (m: Index) decreases m : Index = if m < k then 1 else k + steps (m / 2)
  vectorSum (build (steps n) (fun i -> x * double i))

/// Through a function that is a size itself, and divided by the index of a loop and more.
let rec _levelSum (n: Index) decreases n : Index = if n <= 0 then 0 else _levels n + _levelSum (n - 1)
let rec _fibSum (n: Index) : Index = if n <= 0 then 1 else _fib n * _levels n + _fibSum (n - 1)
let levels (n: Index) (x: Double) =
  let v = build (_levelSum n) (fun i -> sin (x * double i))
  vectorSum (build (length v) (fun i -> v[length v - 1 - i] * v[i])) + vectorSum (build (_fibSum n) (fun i -> x))
let binomial (n: Index) (k: Index) (x: Double) =
  let v = build (ifold (fun c i -> c * (n - i) / (i + 1)) 1 k) (fun i -> sin (x * double i))
  vectorSum (build (length v) (fun i -> v[length v - 1 - i] * v[i]))
let binomials (n: Index) (k: Index) (x: Double) = build (ifold (fun c i -> c + ifold (fun d j -> d + n % (i + 2 * j + 1)) 0 i) 1 k) (fun i -> x)

/// By a counter alone.
let rec _up (i: Index) (n: Index) : Index = if i >= n then 2 * i else _up (i + 3) n
let rec _low (n: Index) : Index = if n <= 0 then n else _low (n - 2)
let alone (n: Index) (x: Double) = build (_up 1 n + 1 + _low n) (fun i -> x * double i)

/// By parts of parameters.
let paired (p: Index * (Bool * Index)) (x: Double) =
  let (n, (b, m)) = p
  let k = max (if b then n else m) 0 + 1
  let v = build k (fun i -> sin (x * double i))
  vectorSum (build k (fun i -> v[k - 1 - i] * v[i]))
let pairedSlope (p: Index * (Bool * Index)) (x: Double) = derivative (fun x -> paired p x) x

/// By parts of several parameters, among Doubles and an Index that is no part.
let _among (x: Double) (p: Index * Double) (k: Index) (q: (Bool * Double) * Index) : Double =
  let (n, y) = p
  let ((b, z), m) = q
  let c = max (if b then n else m + k) 0
  let v = build c (fun i -> sin (x + y * double i) + z)
  vectorSum (build c (fun i -> v[c - 1 - i] * v[i]))
let among (p: Index * Double) (q: (Bool * Double) * Index) (x: Double) =
  _among x p 1 q + _among (2.0 * x) p 2 q

/// A count that is a loop, which a check and the loop have both.
let counted (v: Vector<n>) (k: Index) = hessian (fun v -> ifold (fun s _i -> s + v[0] * v[0]) 0.0 (ifold (fun s _i -> s * 2) 1 k)) v

/// Lengths that a Bool of the caller's decides, which is another one in the function called.
let _tagged (n: Index) (b: Bool) (x: Double) : Vector = build (ifold (fun s i -> if b then s + i else s + 1) 1 n) (fun i -> x * x)
let tagged (n: Index) (c: Bool) (x: Double) = vectorSum (_tagged n (not c) x)
let taggedSlope (n: Index) (m: Index) (x: Double) = derivative (fun x -> vectorSum (_tagged n (n < m) x)) x
let ownTag (n: Index) (b: Bool) (x: Double) =
  let own (x: Double) : Vector = build (ifold (fun s i -> if b then s + i else s + 1) 1 n) (fun i -> x * x)
  derivative (fun x -> vectorSum (own x)) x

let slope (n: Index) (x: Double) = gradient (fun x -> named n x) x
let slopes (n: Index) (v: Vector<k>) = gradient (fun v -> states n v) v
let curve (n: Index) (c: Bool) (v: Vector<2>) = hessian (fun v -> mixed n c v) v
";

const CALLS: &[(&str, &[&str])] = &[
    ("named", &["0", "0.5"]),
    ("named", &["5", "0.5"]),
    ("named", &["-1", "0.5"]),
    // a length that wraps is the wrapped one
    ("named", &["63", "0.5"]),
    ("named", &["64", "0.5"]),
    ("inline", &["0", "0.5"]),
    ("inline", &["4", "0.5"]),
    ("inline", &["-1", "0.5"]),
    ("equal", &["0", "0.5"]),
    ("equal", &["3", "0.5"]),
    ("equal", &["-2", "0.5"]),
    ("down", &["0", "0.5"]),
    ("down", &["2", "0.5"]),
    ("down", &["3", "0.5"]),
    ("down", &["4", "0.5"]),
    ("down", &["-4", "0.5"]),
    ("mixed", &["0", "true", "[1, 2]"]),
    ("mixed", &["2", "true", "[1, 2]"]),
    ("mixed", &["4", "false", "[1, 2, 3]"]),
    ("mixed", &["4", "true", "[]"]),
    ("rows", &["0", "0.5"]),
    ("rows", &["5", "0.5"]),
    ("states", &["0", "[1, 2, 3]"]),
    ("states", &["3", "[1, 2, 3]"]),
    ("states", &["-1", "[1, 2, 3]"]),
    ("given", &["2", "[1, 2, 3, 4]"]),
    ("given", &["2", "[1, 2, 3]"]),
    ("ignored", &["3", "[1, 2, 3]"]),
    ("powers", &["0", "0.5"]),
    ("powers", &["3", "0.5"]),
    ("powers", &["-1", "0.5"]),
    ("table", &["3", "2", "0.5"]),
    ("table", &["-1", "0", "0.5"]),
    ("table", &["1", "-1", "0.5"]),
    ("apart", &["0", "true", "0.5"]),
    ("apart", &["1", "true", "0.5"]),
    ("apart", &["4", "false", "0.5"]),
    ("apart", &["5", "true", "0.5"]),
    ("apart", &["-3", "true", "0.5"]),
    ("captured", &["4", "2", "0.5"]),
    ("captured", &["-4", "2", "0.5"]),
    ("captured", &["-4", "-2", "0.5"]),
    ("tableSlope", &["2", "1", "0.5"]),
    ("tagged", &["3", "true", "0.5"]),
    ("tagged", &["3", "false", "0.5"]),
    ("taggedSlope", &["3", "5", "0.5"]),
    ("taggedSlope", &["3", "2", "0.5"]),
    ("ownTag", &["3", "true", "0.5"]),
    ("sums", &["0", "0.5"]),
    ("sums", &["6", "0.5"]),
    ("sums", &["-1", "0.5"]),
    ("turns", &["0", "true", "0.5"]),
    ("turns", &["5", "true", "0.5"]),
    ("turns", &["4", "false", "0.5"]),
    ("beside", &["0", "0.5"]),
    ("beside", &["3", "0.5"]),
    ("beside", &["-1", "0.5"]),
    ("inside", &["0", "0.5"]),
    ("inside", &["3", "0.5"]),
    ("literal", &["0", "false", "0.5"]),
    ("literal", &["2", "true", "0.5"]),
    ("fromCall", &["2", "0.5"]),
    ("fromCall", &["-1", "0.5"]),
    ("levels", &["0", "0.5"]),
    ("levels", &["6", "0.5"]),
    ("levels", &["-1", "0.5"]),
    ("binomial", &["5", "0", "0.5"]),
    ("binomial", &["5", "2", "0.5"]),
    ("binomial", &["5", "5", "0.5"]),
    ("binomial", &["5", "-1", "0.5"]),
    ("binomials", &["7", "4", "0.5"]),
    ("binomials", &["0", "4", "0.5"]),
    ("fibs", &["-2", "0.5"]),
    ("fibs", &["0", "0.5"]),
    ("fibs", &["2", "0.5"]),
    ("fibs", &["7", "0.5"]),
    ("far", &["-2", "0.5"]),
    ("far", &["3", "0.5"]),
    ("far", &["9", "0.5"]),
    ("pell", &["0", "0.5"]),
    ("pell", &["4", "0.5"]),
    ("pellSlope", &["3", "0.5"]),
    ("alone", &["0", "0.5"]),
    ("alone", &["5", "0.5"]),
    ("alone", &["-3", "0.5"]),
    ("paired", &["[3, [true, 1]]", "0.5"]),
    ("paired", &["[3, [false, 1]]", "0.5"]),
    ("paired", &["[-2, [true, 1]]", "0.5"]),
    ("pairedSlope", &["[3, [true, 1]]", "0.5"]),
    ("among", &["[3, 0.5]", "[[true, 0.25], 2]", "0.5"]),
    ("among", &["[3, 0.5]", "[[false, 0.25], 7]", "0.5"]),
    ("among", &["[-3, 0.5]", "[[true, 0.25], 0]", "0.5"]),
    ("counted", &["[1, 2]", "1"]),
    ("counted", &["[]", "1"]),
    ("common", &["12", "18", "0.5"]),
    ("common", &["5", "0", "0.5"]),
    ("common", &["-5", "0", "0.5"]),
    ("common", &["7", "1000000007", "0.5"]),
    ("common", &["3", "-2", "0.5"]),
    ("multiple", &["12", "18"]),
    ("multiple", &["0", "0"]),
    ("meshes", &["0", "0.5"]),
    ("meshes", &["1", "0.5"]),
    ("meshes", &["37", "0.5"]),
    ("meshes", &["-4", "0.5"]),
    ("turned", &["12", "0.5"]),
    ("turned", &["-1", "0.5"]),
    ("ways", &["0"]),
    ("ways", &["23"]),
    ("ways", &["40"]),
    ("power", &["8", "0.5"]),
    ("power", &["12", "0.5"]),
    ("power", &["1000000000001", "0.5"]),
    ("power", &["0", "0.5"]),
    ("lies", &["3", "0.5"]),
    ("lies", &["1", "0.5"]),
    ("lies", &["9", "0.5"]),
    ("exits", &["1000000000000", "7", "0.5"]),
    ("exits", &["1000000000001", "40", "0.5"]),
    ("exits", &["0", "1", "0.5"]),
    ("parts", &["12", "18", "0.5"]),
    ("parts", &["0", "0", "0.5"]),
    ("locally", &["9", "2", "0.5"]),
    ("locally", &["9", "0", "0.5"]),
    ("meshesSlope", &["37", "0.5"]),
    ("meshesJacobian", &["37", "[0.5]"]),
    ("meshesJacobian", &["1", "[0.5, 1.0]"]),
    ("slope", &["4", "0.5"]),
    ("slope", &["-1", "0.5"]),
    ("slopes", &["2", "[1, 2, 3]"]),
    ("curve", &["2", "true", "[1, 2]"]),
];

/// C against the interpreter; the options that it was compiled with.
fn agrees(schedule: &str, mode: Mode, is_wanted: fn(&str) -> bool) -> Options {
    let options = Options { schedule: Schedule::Named(schedule.into()), mode, ..Options::default() };
    if let Err(difference) = agree::hold("folds.smooth", PROGRAMS, &options, CALLS, is_wanted) {
        panic!("{schedule}, {mode:?}: {difference}");
    }
    options
}

fn hold(schedule: &str, mode: Mode, is_wanted: fn(&str) -> bool) {
    let options = agrees(schedule, mode, is_wanted);
    let mut entries: Vec<String> = CALLS.iter().map(|(entry, _)| entry.to_string()).filter(|entry| is_wanted(entry)).collect();
    entries.dedup();
    let options = Options { entries, ..options };
    let header = "program.h".into();
    let session = engine::compile_with("folds.smooth", PROGRAMS, Options { header, ..options.clone() }, "emit").expect("a program");
    silent::files(session.emitted().expect("files")).expect("C that compiles without a word");
    for stage in ["lower", "loops"] {
        let session = engine::compile_with("folds.smooth", PROGRAMS, options.clone(), stage).expect("a program");
        let text = print::program(&session.loops);
        let again = parse::program(&text).unwrap_or_else(|problem| panic!("{stage}: {problem}\n{text}"));
        assert_eq!(print::program(&again), text, "{stage}");
    }
}

fn is_derivative(entry: &str) -> bool {
    entry.starts_with("slope")
        || entry == "curve"
        || entry == "tableSlope"
        || entry == "pellSlope"
        || entry == "meshesSlope"
        || entry == "meshesJacobian"
        || entry == "counted"
}

#[test]
fn lengths_that_loops_compute_agree_with_the_interpreter() {
    with_large_stack(|| hold("default", Mode::Auto, |_| true));
}

#[test]
fn so_they_do_as_they_are_written() {
    with_large_stack(|| hold("none", Mode::Forward, |entry| !is_derivative(entry)));
}

#[test]
fn so_they_do_in_reverse() {
    with_large_stack(|| hold("default", Mode::Reverse, is_derivative));
}

#[test]
fn and_forward() {
    with_large_stack(|| drop(agrees("default", Mode::Forward, is_derivative)));
}

/// The code of what is said of a program.
fn refused(program: &str) -> String {
    let options = Options { schedule: Schedule::Named("default".into()), ..Options::default() };
    engine::compile_with("folds.smooth", program, options, "emit").err().unwrap_or_default()
}

#[test]
fn what_a_caller_cannot_know_is_refused() {
    let data = "let f (v: Vector<n>) = vectorSum (ifold (fun s i -> build (length s) (fun j -> s[length s - 1 - j])) \
                (build (ifold (fun s i -> if v[i] > 0.0 then s + 1 else s) 1 n) (fun i -> 1.0)) 3)\n";
    assert!(refused(data).contains("E0601"), "{}", refused(data));
}

#[test]
fn equal_loops_are_one_length_and_others_are_told_apart() {
    let of = |other: &str| {
        format!(
            "let f (n: Index) (x: Double) = vectorDot (build (ifold (fun s i -> 2 * s) 1 n) (fun i -> x)) \
             (build ({other}) (fun i -> x))\n"
        )
    };
    assert_eq!(refused(&of("ifold (fun t j -> t + t) 1 n")), "");
    assert!(refused(&of("1 + ifold (fun t j -> t + t) 1 n")).contains("E0401"));
}

#[test]
fn a_length_that_is_too_much_is_a_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("folds.smooth");
    std::fs::write(&path, PROGRAMS).expect("a file");
    let path = path.to_string_lossy();
    let output = with_input(&["run", "-q", "--entry", "named", &path, "named", "62", "0.5"], b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("E0706"), "{said}");
}

#[test]
fn tuples_in_states_are_no_lengths() {
    let nested =
        "let f (n: Index) (x: Double) = build (fst (fst (ifold (fun ((a, b), c) i -> ((c, a), b + 1)) ((1, 2), 3) n))) (fun i -> x)\n";
    assert!(refused(nested).contains("E0601"), "{}", refused(nested));
}

#[test]
fn a_recursive_function_of_an_index_that_gives_a_number_is_no_length() {
    let program = "let rec fib (k: Index) : Double = if k < 2 then double k else fib (k - 1) + fib (k - 2)\nlet c (i: Index) = fib i\n";
    assert_eq!(refused(program), "");
    let output = with_input(&["eval", "-q", "-", "c", "7"], program.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "13.0\n");
}
