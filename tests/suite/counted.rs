//! Tail calls that count: each is an `ifold`, and gives what the same calls give as a loop that data ends.
//!
//! A second end that is never reached keeps the twin of each program a `while`. C of both derivatives is held against the interpreter,
//! under sanitizers where there are some.

use smoothc::driver::{Options, Schedule, Session};
use smoothc::ir::{Expr, Term};
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;

use crate::support::{agree, engine};

/// Where the calls go on, or end, and what is added to the counter.
const FORMS: &[(&str, bool, i64)] = &[
    ("i < e", true, 1),
    ("i <= e", true, 1),
    ("e > i", true, 1),
    ("i + 0 < e", false, -1),
    ("i > e", true, -1),
    ("i >= e", true, -1),
    ("e < i", true, -2),
    ("i >= e", false, 1),
    ("i > e", false, 3),
    ("e <= i", false, 2),
    ("i <= e", false, -1),
    ("e > i", false, -3),
    ("i = e", false, 1),
    ("e = i", false, -1),
    ("i <> e", true, 1),
    ("e <> i", true, -1),
];

/// Calls of form `k`: a state of two numbers, of which one is for the end alone, a let before the end and a branch in each step.
fn form(k: usize, twin: bool) -> String {
    let (cond, goes_on, step) = FORMS[k];
    let name = if twin { "w" } else { "l" };
    let cond = match (twin, goes_on) {
        (false, _) => cond.to_string(),
        (true, true) => format!("{cond} && s < 1e300"),
        (true, false) => format!("{cond} || s > 1e300"),
    };
    let next = format!("if i % 2 = 0 then {name}{k} ({step} + i) e (0.5 * s + c) t else {name}{k} (i + {step}) e (s - c) (t + s)");
    let last = "s + c * t + double i";
    let (then, otherwise) = if goes_on { (next.as_str(), last) } else { (last, next.as_str()) };
    format!(
        "let rec {name}{k} (i: Index) (e: Index) (s: Double) (t: Double) : Double =\n  let c = cos (0.3 * s)\n  \
         if {cond} then ({then}) else {otherwise}\n"
    )
}

fn contains(expr: &Expr, is_it: fn(&Term) -> bool) -> bool {
    is_it(expr.term()) || expr.term().children().any(|child| contains(child, is_it))
}

fn typed(text: &str) -> Session {
    engine::compile("counted.smooth", text, "none", "types").expect("a program")
}

#[test]
fn calls_that_count_are_a_fold_and_give_the_same() {
    let forms = |twin: bool| -> String { (0..FORMS.len()).map(|k| form(k, twin)).collect() };
    with_large_stack(move || {
        let session = typed(&(forms(false) + &forms(true)));
        let (mut compared, mut failed) = (0, 0);
        for (k, (cond, _, step)) in FORMS.iter().enumerate() {
            let [own, twin] = ["l", "w"].map(|name| session.program.functions[&*format!("{name}{k}")].clone());
            // the bound of one form is not the counter alone
            let counts = !cond.contains("+");
            assert_eq!(contains(&own.body, |term| matches!(term, Term::Fold { .. })), counts, "{cond}");
            assert!(contains(&twin.body, |term| matches!(term, Term::While { .. })), "{cond}");
            for (i, e) in (-4..=4).flat_map(|i| (-4..=4).map(move |e| (i, e))) {
                let words = [i, e].map(|index: i64| index.to_string()).into_iter().chain(["0.7".into(), "0.2".into()]).collect::<Vec<_>>();
                let given = engine::arguments(&session, &own.name, &words).expect("arguments");
                let value = engine::interpret(&session, &own.name, &given.values);
                // around all Indexes is never
                let is_equality = cond.contains(" = ") || cond.contains("<>");
                if is_equality && (e - i) * step < 0 {
                    assert_eq!(value.err().as_deref(), Some("NEGATIVE"), "{cond}, {i}, {e}");
                    failed += 1;
                    continue;
                }
                let [value, wanted] = [value, engine::interpret(&session, &twin.name, &given.values)].map(|known| known.expect("a value"));
                assert_eq!(engine::difference(&wanted, &value.value), None, "{cond}, {i}, {e}");
                compared += 1;
            }
        }
        assert!(compared > 1000 && failed > 100, "{compared} and {failed}");
    });
}

const PROGRAMS: &str = "\
/// The usual loop over an array, in a local function that captures it.
let total (v: Vector<n>) : Double =
  let rec go (i: Index) (s: Double) : Double = if i >= n then s else go (i + 1) (s + v[i] * v[i])
  go 0 0.0

/// An array as the state, and a bound that is read.
let moved (v: Vector<n>) (k: Array<Index, m>) : Vector<n> =
  let rec go (left: Index) (x: Vector<n>) : Vector<n> =
    if left <= 0 then x else go (left - 1) (update x (left % n) (x[left % n] * x[0] + 0.5))
  go k[0] v

/// Rows in a loop, each a loop.
let triangle (A: Matrix<n, n>) : Double =
  let rec row (i: Index) (j: Index) (s: Double) : Double = if j > i then s else row i (j + 1) (s * 0.9 + A[i][j])
  let rec rows (i: Index) (s: Double) : Double = if i = n then s else rows (i + 1) (row i 0 (sin s))
  rows 0 1.0

/// What fails in a step, and in the last one.
let past (v: Vector<n>) (from: Index) (step: Double) : Double =
  let rec go (i: Index) (s: Double) : Double = if i < n + 1 then go (i + 1) (s * v[i]) else s + step
  go from 1.0

let last (v: Vector<n>) (k: Index) : Double =
  let rec go (i: Index) (s: Double) : Double = if i < k then go (i + 2) (s + 1.0) else s * v[i]
  go 0 1.0

/// Two tuples in the state, and none.
let pairs (k: Index) (x: Double) : Double * Double =
  let rec go (p: Double * Double) (i: Index) (q: Double) : Double * Double =
    let (a, b) = p
    if i >= k then (a, b + q) else go (b * q, a + x) (i + 1) (q * 0.5)
  go (x, 1.0) 0 x
let nothing (k: Index) (x: Double) : Double =
  let rec go (i: Index) (x: Double) : Double = if i >= k then x * double i else go (i + 1) x
  go 0 x

/// Not counted: the last step of what is run to count them changes nothing, and its index is out of range.
let ends (v: Vector<n>) (x: Double) : Double =
  let rec go (c: Index) (s: Vector<n>) (i: Index) : Double =
    if i <> -2 then go (c + 2) (update s i (sin (x + double i) * s[0] + x)) (i - 3) else vectorSqNorm s + double c
  go 7 v (n - 1)

/// From a start that is past the bound, as far as can be.
let far (from: Index) (to: Index) (x: Double) : Double =
  let rec up (i: Index) (s: Double) : Double = if i >= to then s else up (i + 1) (s * x)
  let rec upTo (i: Index) (s: Double) : Double = if i <= to then upTo (i + 3) (s * x) else s
  let rec down (i: Index) (s: Double) : Double = if i > from then down (i - 2) (s * x) else s
  up from 1.0 + upTo from 2.0 + down to 3.0

let endsSlope (v: Vector<n>) (x: Double) = gradient (fun (v, x) -> ends v x) (v, x)
let farSlope (from: Index) (to: Index) (x: Double) = gradient (fun x -> far from to x) x
let totalSlope (v: Vector<n>) = gradient total v
let movedSlope (v: Vector<n>) (k: Array<Index, m>) = vjp (fun v -> moved v k) v v
let triangleSlope (A: Matrix<n, n>) = gradient triangle A
let triangleCurve (A: Matrix<n, n>) = jacobian (fun A -> gradient triangle A) A
let pastSlope (v: Vector<n>) (from: Index) (step: Double) = gradient (fun v -> past v from step) v
let lastSlope (v: Vector<n>) (k: Index) = gradient (fun v -> last v k) v
let pairsSlope (k: Index) (x: Double) = jacobian (fun x -> pairs k x) x
";

const CALLS: &[(&str, &[&str])] = &[
    ("total", &["[]"]),
    ("total", &["[1, 2, 3]"]),
    ("moved", &["[0.5, 1.5]", "[5]"]),
    ("moved", &["[0.5, 1.5]", "[-5]"]),
    ("moved", &["[0.5, 1.5]", "[]"]),
    ("moved", &["[]", "[1]"]),
    ("triangle", &["[]"]),
    ("triangle", &["[[0.5, 1], [2, 3]]"]),
    ("past", &["[1, 2]", "0", "0.5"]),
    ("past", &["[1, 2]", "3", "0.5"]),
    ("past", &["[1, 2]", "-1", "0.5"]),
    ("last", &["[1, 2]", "-1"]),
    ("last", &["[1, 2]", "2"]),
    ("last", &["[1, 2, 3]", "2"]),
    ("pairs", &["-1", "0.5"]),
    ("pairs", &["4", "0.5"]),
    ("nothing", &["4", "0.5"]),
    ("nothing", &["-4", "0.5"]),
    ("ends", &["[0.5, 0.1, 0.5, 0.9, 1]", "0.6"]),
    ("far", &["9223372036854775807", "-9223372036854775808", "0.5"]),
    ("far", &["2", "7", "0.5"]),
    ("endsSlope", &["[0.5, 0.1, 0.5, 0.9, 1]", "0.6"]),
    ("endsSlope", &["[0.5, 0.1]", "0.6"]),
    ("farSlope", &["9223372036854775807", "-9223372036854775808", "0.5"]),
    ("farSlope", &["2", "7", "0.5"]),
    ("totalSlope", &["[]"]),
    ("totalSlope", &["[1, 2, 3]"]),
    ("movedSlope", &["[0.5, 1.5]", "[5]"]),
    ("movedSlope", &["[0.5, 1.5]", "[0]"]),
    ("movedSlope", &["[0.5, 1.5]", "[-5]"]),
    ("triangleSlope", &["[[0.5, 1], [2, 3]]"]),
    ("triangleSlope", &["[]"]),
    ("triangleCurve", &["[[0.5, 1], [2, 3]]"]),
    ("pastSlope", &["[1, 2]", "3", "0.5"]),
    ("pastSlope", &["[1, 2]", "1", "0.5"]),
    ("lastSlope", &["[1, 2, 3]", "2"]),
    ("lastSlope", &["[1, 2]", "2"]),
    ("pairsSlope", &["3", "0.5"]),
];

fn hold(schedule: &'static str, mode: Mode) {
    with_large_stack(move || {
        let options = Options { schedule: Schedule::Named(schedule.into()), mode, ..Options::default() };
        if let Err(difference) = agree::hold("counted.smooth", PROGRAMS, &options, CALLS, |_| true) {
            panic!("{schedule}, {mode:?}: {difference}");
        }
    });
}

#[test]
fn loops_that_count_agree_with_the_interpreter() {
    hold("default", Mode::Auto);
}

#[test]
fn so_they_do_as_they_are_written() {
    hold("none", Mode::Forward);
}

#[test]
fn so_they_do_in_reverse() {
    hold("default", Mode::Reverse);
}

/// A sum by calls is the loop over the array that `vectorSum` is.
#[test]
fn a_gradient_through_calls_that_count_is_one_loop() {
    with_large_stack(|| {
        let c = |body: &str| {
            let text = format!("let f (v: Vector<n>) : Double =\n{body}\nlet slope (v: Vector<n>) = gradient f v\n");
            let options = Options { schedule: Schedule::Named("default".into()), entries: vec!["slope".into()], ..Options::default() };
            let session = engine::compile_with("counted.smooth", &text, options, "emit").expect("a program");
            let files = session.emitted().expect("files");
            // the head of a file has the hash of its source
            files.source.lines().skip(1).map(str::to_string).collect::<Vec<_>>().join("\n")
        };
        let calls = "  let rec go (i: Index) (s: Double) : Double = if i >= n then s else go (i + 1) (s + v[i] * v[i])\n  go 0 0.0";
        assert_eq!(c(calls), c("  ifold (fun s i -> s + v[i] * v[i]) 0.0 n"));
    });
}
