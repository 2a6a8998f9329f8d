//! Passes over loops: each may be left out, seen alone and timed, and results stay as the interpreter has them.

use std::process::Output;

use smoothc::driver::Options;
use smoothc::loops::{LOOP_PASSES, Need};
use smoothc::plan::PLANNERS;

use crate::support::{agree, command, engine, native};

/// Ends, checks, branches, windows, functions of sums, rows and sine: what the passes look for.
const PROGRAM: &str = "
let ends (v: Vector<n>) (k: Index) : Vector =
  let n = length v
  build n (fun i -> (if i = 0 then v[i] else v[i - 1]) + v[k] * (if i < n - 1 then v[i + 1] else 2.0))

let layer (a: Matrix<m, n>) (v: Vector<n>) : Vector = build m (fun i -> tanh (vectorDot a[i] v))

let window (v: Vector<n>) (w: Vector<m>) : Vector =
  build (length v - length w + 1) (fun i -> vectorSum (build (length w) (fun j -> v[i + j] * w[j])))

let turns (c: Vector<m>) (x: Vector<n>) : Double =
  vectorSum (build n (fun i -> ifold (fun s j -> sin s * x[i] + 0.5 * s * c[j] - exp c[j]) x[i] m))

let sinc (v: Vector<n>) : Vector = build (length v) (fun i -> if v[i] = 0.0 then 1.0 else sin v[i] / v[i])

let pairs (x: Matrix<n, 2>) : Matrix<n, 2> =
  gradient (fun x -> ifold (fun s i -> s + ifold (fun s j -> s + sqrt (vectorSqNorm (vectorSub x[i] x[j]) + 1.0)) 0.0 i) 0.0 n) x

let collected (k: Vector<n>) (v: Vector<n>) (i: Index) : Vector<n> = ifold (fun a j -> accumulate a i (k[j] * v[j])) v (length k)
";

const CALLS: &[(&str, &[&str])] = &[
    ("ends", &["[1, 2, 3, 5, 8]", "2"]),
    ("ends", &["[4]", "0"]),
    ("ends", &["[]", "0"]),
    ("ends", &["[1, 2]", "7"]),
    ("layer", &["[[1, 2], [3, -4], [0.5, 0.25]]", "[0.5, 0.125]"]),
    ("window", &["[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]", "[1, -2, 4]"]),
    ("turns", &["[0.5, -1, 2]", "[0.25]"]),
    ("turns", &["[0.5, -1, 2]", "[]"]),
    ("turns", &["[]", "[1, 2, 3]"]),
    ("turns", &["[0.5, -1]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]"]),
    ("turns", &["[0.5, -1]", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]"]),
    ("sinc", &["[0, -0.0, 1, -2, NaN]"]),
    ("pairs", &["[[1, 2], [3, 5], [-1, 0.5], [2, 2], [0, 0], [4, 1], [7, -3], [1, 1], [2, 9], [0.25, 3]]"]),
    ("pairs", &["[[1, 2]]"]),
    ("collected", &["[1, 2]", "[0.5, 3]", "1"]),
    ("collected", &["[1, 2]", "[0.5, 3]", "2"]),
];

fn smoothc(args: &[&str], source: &str) -> Output {
    command::with_input(args, source.as_bytes())
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Holds a text against `tests/snapshots/loop_passes__NAME.snap`.
fn holds(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("loop_passes__{name}"), text));
}

/// The numbers of a result, which may differ in their last digits.
fn numbers(text: &str) -> Vec<f64> {
    text.split(['[', ']', ',', ' ', '\n', '"']).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn results_stay_where_a_pass_is_left_out() {
    let compiled = |disabled: &str, stage: &str| {
        let options = Options { disabled: vec![disabled.to_string()], header: "program.h".into(), ..Options::default() };
        engine::compile_with("passes.smooth", PROGRAM, options, stage).unwrap_or_else(|problem| panic!("without {disabled}: {problem}"))
    };
    let typed = compiled("algebra", "types");
    for pass in LOOP_PASSES.iter().filter(|pass| pass.need == Need::Optional) {
        let session = compiled(pass.name, "emit");
        let given = |(entry, words): &(&'static str, &[&str])| {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            (*entry, engine::arguments(&session, entry, &words).unwrap_or_else(|problem| panic!("{entry}: {problem}")))
        };
        let calls: Vec<_> = CALLS.iter().map(given).collect();
        agree::agree(&native::optimised, &typed, &session, &calls).unwrap_or_else(|problem| panic!("without {}: {problem}", pass.name));
    }
}

#[test]
fn a_pass_is_left_out_seen_alone_and_timed() {
    let whole = text(&smoothc(&["emit", "-", "-o", "-"], PROGRAM));
    assert_ne!(whole, text(&smoothc(&["emit", "--disable", "peel", "-", "-o", "-"], PROGRAM)));
    assert_ne!(
        text(&smoothc(&["emit", "--dump", "loops.unswitch", "-"], PROGRAM)),
        text(&smoothc(&["emit", "--dump", "loops.peel", "-"], PROGRAM))
    );
    let timed = smoothc(&["emit", "--time-passes", "-", "-o", "-"], PROGRAM);
    let times = String::from_utf8_lossy(&timed.stderr).into_owned();
    assert!(LOOP_PASSES.iter().all(|pass| times.contains(pass.stage)), "{times}");
    assert!(PLANNERS.iter().all(|planner| times.contains(planner.stage)), "{times}");
}

#[test]
fn each_name_that_can_be_left_out_is_one_thing() {
    let rules = smoothc::rewrite::rules::all().map(|rule| rule.name);
    let names = rules.chain(PLANNERS.iter().map(|planner| planner.name)).chain(LOOP_PASSES.iter().map(|pass| pass.name));
    let mut seen = std::collections::BTreeSet::from(["fusion", "normalisation", "motion", "algebra"]);
    for name in names {
        assert!(seen.insert(name), "`--disable {name}` would mean two things");
    }
}

#[test]
fn a_loop_program_is_printed_as_text() {
    let circle = include_str!("../../examples/circle.smooth");
    holds("lower", &text(&smoothc(&["emit", "--dump", "lower", "-"], circle)));
    holds("loops", &text(&smoothc(&["emit", "--dump", "loops", "-"], circle)));
    let shared = "let f (A: Matrix<n, m>) (x: Vector<m>) : Vector<n> = matrixVectorMul A x\nlet g (v: Vector<n>) : Double = vectorSum v";
    holds("parallelise", &text(&smoothc(&["emit", "--parallel", "--dump", "loops", "-"], shared)));
}

/// What lanes share is computed once for all of them; lanes after the last row add nothing.
#[test]
fn rows_whose_steps_must_run_in_turn_run_in_lanes() {
    holds("vectorise_outer", &text(&smoothc(&["emit", "--dump", "loops.vectorise_outer", "--entry", "turns", "-"], PROGRAM)));
    let strict = text(&smoothc(&["emit", "--strict-fp", "--entry", "turns", "-", "-o", "-"], PROGRAM));
    assert!(!strict.contains("lane < 32"), "a sum in another order:\n{strict}");
}

/// What a body takes from the others is collected in a local, what they take from it is stored side by side, in one loop in lanes.
/// Where an index may be out of range, the element is touched only if the loop runs.
#[test]
fn sums_to_one_element_are_collected_in_a_local() {
    holds("promote", &text(&smoothc(&["emit", "--dump", "loops", "--entry", "pairs", "-"], PROGRAM)));
    holds("promote_guarded", &text(&smoothc(&["emit", "--dump", "loops.promote", "--entry", "collected", "-"], PROGRAM)));
    let strict = text(&smoothc(&["emit", "--strict-fp", "--entry", "pairs", "-", "-o", "-"], PROGRAM));
    assert!(!strict.contains("sum"), "a sum in another order:\n{strict}");
}

#[test]
fn a_wrong_name_has_a_near_one() {
    for (name, says) in [("peal", "`peel`"), ("measure", "cannot be left out")] {
        let output = smoothc(&["emit", "--disable", name, "-", "-o", "-"], PROGRAM);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(says), "{message}");
    }
}

/// The layers of a perceptron run one after the other for sixteen samples at a time, in each of which no product waits for the layer
/// before; blocks that are not full have the same results.
#[test]
fn a_perceptron_goes_through_blocks_of_samples() {
    let perceptron = include_str!("../../benches/mlp.smooth");
    let emitted = text(&smoothc(&["emit", "-", "-o", "-"], perceptron));
    assert!(emitted.contains("/* 16 iterations at a time"), "{emitted}");
    // each of five products with a matrix, and each of three sums of outer products, is a loop over the samples of a block alone; two of
    // the three biases are summed where a sample's adjoints are computed
    let loops = emitted.matches("for (int64_t row = 0; row < rows; ++row) {").count();
    let sums = emitted.matches("for (int64_t row = 0; row < rows % 4; ++row) {").count();
    assert!(loops >= 5 && sums == 4, "{loops} loops over samples, {sums} ends of sums over them:\n{emitted}");
    for samples in [1, 16, 33] {
        let mut args: Vec<String> =
            [&[4, 3][..], &[4], &[4, 4], &[4], &[2, 4], &[2], &[samples, 3]].iter().map(|dims| array(dims)).collect();
        args.push(format!("{:?}", (0..samples).map(|sample| sample % 2).collect::<Vec<_>>()));
        assert_eq!(as_interpreted(perceptron, "mlpGradient", &args), 42 + 4, "{samples} samples");
    }
}

/// What a row sums up goes into `exp` for sixteen rows at a time, in lanes; blocks that are not full, and none, have the same results.
#[test]
fn functions_between_loops_run_in_lanes() {
    let logistic = include_str!("../../benches/logistic.smooth");
    let emitted = text(&smoothc(&["emit", "-", "-o", "-"], logistic));
    let stage = "        SMOOTH_LANES\n        for (int64_t row = 0; row < rows; ++row) {\n            const int64_t i = first + row;\n            \
                 const double s = s_rows[row];\n            const double t = exp(s);\n";
    assert!(emitted.contains("double s_rows[16];") && emitted.contains(stage), "{emitted}");
    let strict = text(&smoothc(&["emit", "--strict-fp", "-", "-o", "-"], logistic));
    assert!(!strict.contains("s_rows"), "a sum in another order:\n{strict}");
    for samples in [0, 1, 15, 16, 17, 33] {
        let args = [array(&[3]), array(&[samples, 3]), array(&[samples])];
        assert_eq!(as_interpreted(logistic, "logisticGradient", &args), 3, "{samples} samples");
    }
}

/// How many numbers the entry gives, compiled as in the interpreter.
fn as_interpreted(program: &str, entry: &str, args: &[String]) -> usize {
    let call = |command: &str| {
        let all: Vec<&str> = [command, "-", entry].into_iter().chain(args.iter().map(String::as_str)).collect();
        numbers(&text(&smoothc(&all, program)))
    };
    let (found, wanted) = (call("run"), call("eval"));
    let is_same = |(a, b): (&f64, &f64)| a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    let agree = found.len() == wanted.len() && found.iter().zip(&wanted).all(is_same);
    assert!(agree, "{entry} {args:?}: {found:?}, {wanted:?}");
    wanted.len()
}

fn array(dims: &[usize]) -> String {
    let mut text = String::new();
    rows(dims, &mut 0, &mut text);
    text
}

/// An array of these lengths as text, of numbers that differ.
fn rows(dims: &[usize], number: &mut usize, out: &mut String) {
    let Some((length, inner)) = dims.split_first() else {
        *number += 1;
        return out.push_str(&format!("{:.3}", (*number as f64 * 0.7).sin()));
    };
    out.push('[');
    for at in 0..*length {
        out.push_str(if at > 0 { ", " } else { "" });
        rows(inner, number, out);
    }
    out.push(']');
}
