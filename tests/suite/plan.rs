//! The law of the passes of `plan`: a function's value, or the status that it fails with, is what it was.
//!
//! Held by the interpreter, without a C compiler: examples with the arguments of their head comments, and generated programs with their
//! derivatives, after `rewrite`; then after each pass alone and after all of them. `SMOOTHC_CASES=n` for another number of generated
//! programs, `SMOOTHC_SEED=n` for others.

use std::sync::Mutex;

use smoothc::cli::args;
use smoothc::cli::values::{from_flat, to_flat};
use smoothc::driver::{Options, Session};
use smoothc::ir::Program;
use smoothc::ir::eval::{self, Outcome};
use smoothc::plan::{self, PLANNERS};
use smoothc::stack::with_large_stack;
use smoothc::toolchain::flat::Column;
use smoothc::types::Derive;

use crate::generator::engine::{derived_name, differentiable, direction};
use crate::generator::{asked, grow};
use crate::support::{cases, sources, tools};

/// How much was compared.
#[derive(Debug, Default)]
struct Counts {
    values: usize,
    statuses: usize,
    /// Programs that some pass changed.
    changed: usize,
}

/// The program after each pass alone, and after all.
fn planned(program: &Program) -> Vec<(&'static str, Program)> {
    let options = plan::Options { algebra: true, ..plan::Options::default() };
    let mut after: Vec<_> = PLANNERS.iter().map(|planner| (planner.name, planner.run_alone(program, &options))).collect();
    after.push(("all", plan::plan(program, &options, "").expect("well-formed").0));
    after
}

fn close(a: &Column, b: &Column, scale: f64) -> bool {
    match (a, b) {
        (Column::Double(a), Column::Double(b)) => {
            // what laws of real numbers make of numbers that are not finite is theirs
            let is_close = |(a, b): (&f64, &f64)| a == b || !a.is_finite() || (a - b).abs() <= 1e-9 * scale.max(1.0);
            a.len() == b.len() && a.iter().zip(b).all(is_close)
        }
        _ => a == b,
    }
}

/// Whether two outcomes of a call are one; says what differs.
fn same(wanted: &Result<Outcome, eval::RuntimeError>, found: &Result<Outcome, eval::RuntimeError>) -> Result<(), String> {
    match (wanted, found) {
        (Ok(wanted), Ok(found)) => {
            let (a, b) = (to_flat(&wanted.value), to_flat(&found.value));
            let is_same =
                a.columns.len() == b.columns.len() && a.columns.iter().zip(&b.columns).all(|(a, b)| close(a, b, wanted.trace.largest));
            if is_same { Ok(()) } else { Err(format!("{:?}, not {:?}", found.value, wanted.value)) }
        }
        (Err(wanted), Err(found)) if wanted.status() == found.status() => Ok(()),
        _ => Err(format!("{found:?}, not {wanted:?}")),
    }
}

/// Holds calls of a program after `rewrite` against the same after the passes.
fn held(program: &Program, calls: &[(String, Vec<String>)], counts: &Mutex<Counts>) -> Result<(), String> {
    let after = planned(program);
    let body = |program: &Program| program.functions.values().map(|function| function.body.clone()).collect::<Vec<_>>();
    let is_changed = after.iter().any(|(_, planned)| !body(planned).iter().zip(body(program)).all(|(a, b)| a.is_same(&b)));
    counts.lock().expect("no panic").changed += usize::from(is_changed);
    for (entry, words) in calls {
        let Some(function) = program.functions.get(entry.as_str()) else { continue };
        // arguments that do not fit
        let Ok(arguments) = args::read(function, words) else { continue };
        let values = || arguments.values.iter().map(from_flat).collect();
        let wanted = eval::eval(program, entry, values());
        for (name, planned) in &after {
            let found = eval::eval(planned, entry, values());
            same(&wanted, &found).map_err(|difference| format!("{entry} {} after {name}: {difference}", words.join(" ")))?;
        }
        let mut counts = counts.lock().expect("no panic");
        if wanted.is_ok() { counts.values += 1 } else { counts.statuses += 1 }
    }
    Ok(())
}

#[test]
fn passes_keep_values_of_examples() {
    let counts = Mutex::new(Counts::default());
    let examples = cases::all();
    tools::each(&examples, |example| {
        let mut session = Session::new(&example.path, &example.text, Options::default());
        session.run_to("rewrite", &mut sources::open).map_err(|problems| sources::drawn(&problems, &session))?;
        let calls: Vec<_> = example.cases.iter().map(|case| (case.entry.clone(), case.words.clone())).collect();
        held(&session.program, &calls, &counts)
    });
    let counts = counts.into_inner().expect("no panic");
    assert!(counts.values > 100 && counts.statuses > 5 && counts.changed > 0, "little was compared: {counts:?}");
}

/// Generated programs and their derivatives in both modes.
fn generated(seed: u64, counts: &Mutex<Counts>) -> Result<(), String> {
    let program = grow::program(seed, &format!("f{seed}"), false);
    let derivative = differentiable(&program);
    let derive: Vec<_> = derivative.iter().map(|(_, text)| Derive::parse(text).expect("a derivative")).collect();
    let mut typed = Session::new("program.smooth", &program.text(), Options { derive, ..Options::default() });
    // a literal index that is out of bounds is an error before anything runs
    if typed.run_to("types", &mut |_, _| Err(String::new())).is_err() {
        return Ok(());
    }
    let entry = program.entry().name.to_string();
    let mut calls = Vec::new();
    for words in &program.inputs {
        calls.push((entry.clone(), words.clone()));
        if let Some((at, _)) = &derivative {
            let mut words = words.clone();
            words.push(direction(&words[*at]));
            calls.push((derived_name(&typed.program, &entry, "jvp"), words));
        }
    }
    typed.go_on_to("rewrite").map_err(|problems| problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; "))?;
    held(&typed.program, &calls, counts).map_err(|problem| format!("seed {seed}: {problem}\n{}", program.text()))
}

#[test]
fn passes_keep_values_of_generated_programs() {
    let (count, first) = (asked::number("SMOOTHC_CASES").unwrap_or(60), asked::number("SMOOTHC_SEED").unwrap_or(0));
    let counts = Mutex::new(Counts::default());
    let problem = with_large_stack(|| (first..first + count).find_map(|seed| generated(seed, &counts).err()));
    assert!(problem.is_none(), "{}", problem.unwrap_or_default());
    let counts = counts.into_inner().expect("no panic");
    assert!(counts.values as u64 > count, "little was compared: {counts:?}");
}

/// What the passes look for, and the pass that changes each function.
const PROGRAM: &str = "
let logSums (A: Matrix<m, n>) : Vector<n> =
  build n (fun j ->
    let top = ifold (fun s i -> max s A[i][j]) (-infinity) m
    top + log (ifold (fun s i -> s + exp (A[i][j] - top)) 0.0 m))

let ranges (A: Matrix<m, n>) (w: Vector<n>) : Array<Double * Double, n> =
  build n (fun j ->
    let low = ifold (fun s i -> min s A[i][j]) w[j] m
    let high = ifold (fun s i -> max s A[i][j]) w[j] m
    (low, high - low))

let maybe (A: Matrix<m, n>) (c: Bool) : Vector<n> =
  build n (fun j -> if c then ifold (fun s i -> s * 0.5 + A[i][j]) 1.0 m else 7.0)

let quotients (A: Matrix<m, n>) (v: Vector<n>) : Vector<m> = build m (fun i -> ifold (fun s j -> s + A[i][j] / (v[j] + 1.0)) 0.0 n)

let sums (A: Matrix<m, n>) (v: Vector<n>) : Double =
  ifold (fun s i -> s + sqrt (ifold (fun s j -> let z = v[j] * 2.0 in s + A[i][j] / z) 0.0 n)) 0.0 m

let powers (A: Matrix<n, n>) (v: Vector<n>) : Vector<n> = ifold (fun x t -> vectorAdd (matrixVectorMul A x) v) v n

let layers (A: Matrix<m, n>) (v: Vector<n>) : Vector<m> =
  ifold (fun x t -> build m (fun i -> x[i] * 0.5 + ifold (fun s j -> s + A[i][j] * sin (v[j] + double t)) 0.0 n)) (vectorZeros m) n

let biased (A: Matrix<m, n>) (v: Vector<n>) : Vector<n> = build n (fun j -> exp (ifold (fun s i -> s + A[i][j] * double i) 0.0 m + v[j]))

/// One sum after the other, and what has a loop of its own or a name at the end.
let several (A: Matrix<m, n>) (v: Vector<n>) : Vector<n> =
  build n (fun j ->
    let t = vectorSum (build (j + m) (fun k -> v[j]))
    let u = exp (v[j] + ifold (fun s i -> s - A[i][j]) v[j] m) + exp (ifold (fun s i -> s + A[i][j] * v[j]) 1.0 m - v[j])
    u + (v[j] + ifold (fun s i -> s + cos A[i][j]) v[j] m) + (t + ifold (fun s i -> if A[i][j] > 0.5 then s + 1.0 else s) 0.0 m
      + ifold (fun s i -> s + A[m - 1 - i][j] * t) 2.0 m))

let marked (A: Matrix<m, n>) (v: Vector<n>) : Vector<n> =
  ifold (fun s i ->
    let a = build n (fun j -> let t = sin A[i][j] in s[j] * t + t)
    accumulate a 0 v[0]) v m

/// A matrix whose rows have a name.
let tables (A: Matrix<m, n>) (v: Vector<n>) : Matrix<m, n> =
  let (_, t) = ifold (fun (x, s) k ->
    let a = build m (fun i -> let w = v[k] * double i in build n (fun j -> s[i][j] + w * A[i][j]))
    (x + 1.0, update a 0 v)) (0.0, A) n
  t

/// The state is read elsewhere too, or at another index: it stays as it is.
let read (A: Matrix<m, n>) (v: Vector<n>) : Vector<n> =
  ifold (fun s i -> let a = build n (fun j -> s[j] + A[i][j]) in accumulate a 0 s[0]) v m

let shifted (A: Matrix<m, n>) (v: Vector<n>) : Vector<n> =
  ifold (fun s i -> let a = build n (fun j -> s[n - 1 - j] + A[i][j]) in accumulate a 0 v[0]) v m

type Root = | Real of Double | None

let rec _scaled (s: Double) (A: Matrix<m, n>) (j: Index) : Double =
  let t = ifold (fun a i -> a + exp (A[i][j] * s)) 0.0 m
  if not (t >= 4.0) || s < 0.01 then s - t else _scaled (s * 0.5 - t * 0.001) A j

/// A fold down a column that reads the state of a loop that data ends.
let scaled (A: Matrix<m, n>) : Vector<n> = build n (fun j -> _scaled 2.0 A j)

let rec _stepped (s: Double) (v: Vector<n>) (x: Vector<n>) : Double =
  let t = ifold (fun a j -> a + x[j] / (v[j] + s)) 0.0 n
  if not (t < 1.0) || s > 8.0 then s + t else _stepped (s + max t 1.0) v x

/// A divisor that does.
let stepped (A: Matrix<m, n>) (v: Vector<n>) : Vector<m> = build m (fun i -> _stepped 0.5 v A[i])

let root (x: Double) : Root = if x < 0.0 then None else Real (sqrt x)

let rec _halved (x: Double) (k: Index) : Double * Index = if not (x >= 1.0) then (x, k) else _halved (x / 2.0) (k + 1)

let capped (x: Double) : Double =
  let t = _halved x 0
  let a = build (min (snd t) 40) (fun i -> sin (double i + fst t))
  ifold (fun s i -> s + a[i] * ifold (fun u j -> u * a[j]) (double i) (length a)) 0.0 (length a)
";

const CHANGED: [(&str, &str); 12] = [
    ("capped", "name_lengths"),
    ("logSums", "expand_scalars"),
    ("ranges", "expand_scalars"),
    ("maybe", "expand_scalars"),
    ("quotients", "store_reciprocals"),
    ("sums", "store_reciprocals"),
    ("powers", "store_transposes"),
    ("layers", "store_transposes"),
    ("biased", "begin_sums"),
    ("marked", "change_states"),
    ("tables", "change_states"),
    ("root", "leave_unset"),
];

/// No row, no column, one of each, and numbers that are none.
const MATRICES: [(&str, &str); 6] = [
    ("[]", "[]"),
    ("[]", "[1, 2]"),
    ("[[], []]", "[]"),
    ("[[0.5]]", "[-1]"),
    ("[[1, 2, 3, 4, 5, 6], [0.5, -3, NaN, -0.0, 8, 1]]", "[0, 1, 2, 3, -1, 0.25]"),
    ("[[1, Infinity], [2, -Infinity], [3, 4]]", "[0, NaN]"),
];

#[test]
fn each_pass_changes_what_it_looks_for() {
    let mut session = Session::new("program.smooth", PROGRAM, Options::default());
    session.run_to("rewrite", &mut sources::open).unwrap_or_else(|problems| panic!("{}", sources::drawn(&problems, &session)));
    let program = &session.program;
    for (entry, pass) in CHANGED {
        let found: Vec<&str> = planned(program)
            .into_iter()
            .filter(|(name, after)| *name != "all" && !after.functions[entry].body.is_same(&program.functions[entry].body))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(found, [pass], "{entry}");
    }
    for entry in ["read", "shifted"] {
        let as_it_was = |(_, after): &(_, Program)| after.functions[entry].body.is_same(&program.functions[entry].body);
        assert!(planned(program).iter().all(as_it_was), "{entry}");
    }
    // sums in another order are a law of the real numbers
    let begun = plan::named("begin_sums").expect("a pass").run_alone(program, &plan::Options::default());
    assert!(["biased", "several"].iter().all(|entry| begun.functions[*entry].body.is_same(&program.functions[*entry].body)));
    let disabled = PLANNERS.iter().map(|planner| planner.name.to_string()).collect();
    let (same, times) = plan::plan(program, &plan::Options { algebra: true, disabled }, "").expect("well-formed");
    assert_eq!(times.len(), PLANNERS.len());
    assert!(same.functions.values().zip(program.functions.values()).all(|(a, b)| a.body.is_same(&b.body)));
    let counts = Mutex::new(Counts::default());
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    for (matrix, vector) in MATRICES {
        let with_vector = ["ranges", "quotients", "sums", "layers", "biased", "several", "stepped", "marked", "tables", "read", "shifted"]
            .map(|entry| (entry.to_string(), words(&[matrix, vector])));
        let alone = ["logSums", "scaled"].map(|entry| (entry.to_string(), words(&[matrix])));
        let calls = [with_vector.as_slice(), &alone, &[("maybe".into(), words(&[matrix, "true"]))]].concat();
        held(program, &calls, &counts).unwrap_or_else(|difference| panic!("{difference}"));
    }
    let squares = [("[]", "[]"), ("[[2]]", "[3]"), ("[[0.5, -1, 2], [1, NaN, -0.0], [3, 1, 0.25]]", "[1, -2, 0.5]")];
    let calls = squares.map(|(matrix, vector)| ("powers".to_string(), words(&[matrix, vector])));
    held(program, &calls, &counts).unwrap_or_else(|difference| panic!("{difference}"));
    let roots = ["-1", "4", "NaN"].map(|x| ("root".to_string(), words(&[x])));
    held(program, &roots, &counts).unwrap_or_else(|difference| panic!("{difference}"));
    let capped = ["0.5", "100", "1e30", "NaN"].map(|x| ("capped".to_string(), words(&[x])));
    held(program, &capped, &counts).unwrap_or_else(|difference| panic!("{difference}"));
    assert!(counts.into_inner().expect("no panic").values >= 36);
}
