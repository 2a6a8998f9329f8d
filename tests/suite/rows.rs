//! Loops over rows: what is computed once a row and summed over the rows is not stored, and is what the interpreter says.
//!
//! So are sums of several rows that are added at once, and arrays of arrays that are read as one.
//!
//! Programs are put together from elements, each with every use of them, and run under sanitizers with buffers of exact
//! size: no rows, fewer than four, and such as leave some; no columns; numbers whose products overflow.

use std::path::Path;
use std::process::Command;

use smoothc::driver::{Options, Schedule, Session};

use crate::support::agree::{self, Run};
use crate::support::native::Call;
use crate::support::{engine, native, tools};

/// Elements of `r`, with whether they have loops, and whether they can fail.
const ELEMENTS: &[(&str, bool, bool)] = &[
    ("ifold (fun s j -> s + X[i][j] * w[j]) 0.0 n - y[i]", true, false),
    ("let s = ifold (fun s j -> s + X[i][j] * w[j]) 0.0 n in if s > 0.0 then exp (-s) else s * y[i]", true, false),
    ("exp y[i]", false, false),
    ("X[i][0] + ifold (fun s j -> s + X[i][j] * w[j]) 0.0 n", true, true),
];

/// What is made of `r`, `m` numbers: a name, whether it is stored where elements have loops, and the text.
const USES: &[(&str, bool, &str)] = &[
    ("columns", false, "build n (fun j -> ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m)"),
    ("finished", false, "build n (fun j -> ifold (fun s i -> s + X[i][j] * r[i]) 0.0 m / 3.0 + w[j])"),
    ("begun", false, "build n (fun j -> ifold (fun s i -> s - X[i][j] * r[i]) w[j] m)"),
    ("named", false, "build n (fun j -> ifold (fun s i -> let t = r[i] in s + sinh t * X[i][j] / cosh t) 0.0 m)"),
    ("added", false, "build n (fun j -> ifold (fun s i -> let t = abs r[i] in s + (X[i][j] - t) * (w[j] + t)) 0.0 m)"),
    ("chosen", false, "build n (fun j -> ifold (fun s i -> let t = abs r[i] in s + X[i][j] * (if t <= w[j] then t else w[j])) 0.0 m)"),
    ("heavy", false, "build n (fun j -> ifold (fun s i -> let p = r[i] * X[i][j] in s + sqrt (p * p)) 0.0 m)"),
    (
        "pairs",
        false,
        "let t = ifold (fun s i -> s + r[i] * r[i]) 0.0 m in build n (fun j -> (t, 2.0 * ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m))",
    ),
    ("totals", false, "(ifold (fun s i -> s + r[i]) 1.0 m, ifold (fun s i -> max s (r[i] * r[i])) 0.0 m)"),
    ("state", false, "ifold (fun (s, t) i -> (s + r[i], 0.5 * t - s * r[i])) (0.0, 1.0) m"),
    (
        "all",
        false,
        "(build n (fun j -> w[j] - ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m), ifold (fun s i -> s + r[i]) 0.0 m, build m (fun i -> build n (fun j -> r[i] * w[j])))",
    ),
    (
        "twice",
        false,
        "let q = build m (fun i -> r[i] * r[i] - y[i]) in let t = 1.0 + ifold (fun s i -> s + r[i] * r[i]) 0.0 m in build n (fun j -> ifold (fun s i -> s + q[i] * X[i][j]) 0.0 m / t)",
    ),
    (
        "after",
        false,
        "let t = 1.0 + ifold (fun s i -> s + r[i] * r[i]) 0.0 m in build n (fun j -> w[j] / t - ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m)",
    ),
    ("result", false, "(build n (fun j -> ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m), r)"),
    ("mean", true, "let t = ifold (fun s i -> s + r[i]) 0.0 m in build n (fun j -> ifold (fun s i -> s + (r[i] - t) * X[i][j]) 0.0 m)"),
    (
        "backwards",
        true,
        "(build n (fun j -> ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m), ifold (fun s i -> s + r[i] * r[m - 1 - i]) 0.0 m)",
    ),
    (
        "sometimes",
        true,
        "let t = (if y[0] > 0.0 then ifold (fun s i -> s + r[i]) 0.0 m else 0.0) in build n (fun j -> t + ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m)",
    ),
    ("again", true, "build n (fun k -> build n (fun j -> ifold (fun s i -> s + r[i] * X[i][j] * X[i][k]) 0.0 m))"),
];

const SIZES: &[(usize, usize)] = &[(0, 0), (1, 0), (1, 1), (3, 2), (4, 3), (9, 5)];

fn name(element: usize, usage: &str) -> String {
    format!("{usage}{element}")
}

fn program() -> String {
    let mut text = String::new();
    for (k, (element, ..)) in ELEMENTS.iter().enumerate() {
        for (usage, _, body) in USES {
            let name = name(k, usage);
            text += &format!(
                "let {name} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  let m = length y\n  let n = length w\n  \
                 let r = build m (fun i -> {element})\n  {body}\n\n"
            );
        }
    }
    text
}

/// A matrix and two vectors; where `huge`, some of their products are infinite.
fn arguments(rows: usize, columns: usize, huge: bool) -> Vec<String> {
    let mut state = 7 * rows + columns;
    let mut number = || {
        state = (state * 37 + 11) % 1009;
        match state % 8 {
            0 if huge => 1e200,
            1 => -0.0,
            _ => state as f64 / 300.0 - 1.5,
        }
    };
    let mut vector = |length: usize| -> Vec<f64> { (0..length).map(|_| number()).collect() };
    let matrix: Vec<Vec<f64>> = (0..rows).map(|_| vector(columns)).collect();
    vec![format!("{matrix:?}"), format!("{:?}", vector(rows)), format!("{:?}", vector(columns))]
}

/// As [`arguments`], and for each row the index of one.
fn chosen_arguments(rows: usize, columns: usize, huge: bool) -> Vec<String> {
    let chosen: Vec<usize> = (0..rows).map(|i| i * 7 % rows).collect();
    [arguments(rows, columns, huge), vec![format!("{chosen:?}")]].concat()
}

/// Calls all entries with all sizes, as C against the interpreter.
fn agree(text: &str, entries: &[String], sizes: &[(usize, usize)]) {
    agree_on(text, entries, sizes, &arguments);
}

/// As [`agree`], with arguments for a number of rows and columns, huge ones or not.
fn agree_on(text: &str, entries: &[String], sizes: &[(usize, usize)], arguments: &dyn Fn(usize, usize, bool) -> Vec<String>) {
    agree_by(if tools::has_sanitizers() { &native::sanitized } else { &native::optimised }, text, entries, sizes, arguments);
}

fn agree_by(run: Run, text: &str, entries: &[String], sizes: &[(usize, usize)], arguments: &dyn Fn(usize, usize, bool) -> Vec<String>) {
    let known = engine::compile("rows.smooth", text, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    // where infinities meet, rewritten sums may differ
    for (schedule, huge) in [("none", true), ("default", false)] {
        let disabled = if huge { vec!["algebra".to_string()] } else { Vec::new() };
        let options = Options { schedule: Schedule::Named(schedule.into()), header: "program.h".into(), disabled, ..Options::default() };
        let session = engine::compile_with("rows.smooth", text, options, "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let mut calls = Vec::new();
        for entry in entries {
            for (rows, columns) in sizes {
                let words = arguments(*rows, *columns, huge);
                // no word says how many columns no rows have
                if let Ok(read) = engine::arguments(&session, entry, &words) {
                    calls.push((entry.as_str(), read));
                }
            }
        }
        assert!(calls.len() > 4 * entries.len(), "{} calls", calls.len());
        agree::agree(run, &known, &session, &calls).unwrap_or_else(|problem| panic!("schedule {schedule}: {problem}"));
    }
}

#[test]
fn loops_over_rows_agree_with_the_interpreter() {
    let entries: Vec<String> = (0..ELEMENTS.len()).flat_map(|k| USES.iter().map(move |(usage, ..)| name(k, usage))).collect();
    agree(&program(), &entries, SIZES);
}

/// A state of a few elements and the next one, from the old state `z` and the step's number `v`: written over the old one where each
/// element reads itself alone, as pairs that change places do.
const WRITTEN_OUT: &[(&str, &str)] = &[
    ("[0.5, 2.0]", "[z[0] + v, z[1] * 0.5]"),
    ("[0.5, 2.0]", "[z[1] + v, z[0] * 0.5]"),
    ("[0.5, 2.0]", "[z[0] + v, z[0] * z[1]]"),
    ("[(0.5, 1.0), (2.0, v)]", "[(snd z[0] + v, fst z[0]), (snd z[1], fst z[1] - v)]"),
    ("[(0.5, 1.0), (2.0, v)]", "[(snd z[1] + v, fst z[0]), (snd z[0], fst z[1] - v)]"),
    ("[[0.5, 1.0], [2.0, v]]", "[[z[0][0] + v, z[0][1]], [z[1][1], z[1][0]]]"),
];

#[test]
fn states_that_are_written_out_agree_with_the_interpreter() {
    let mut text = String::new();
    let mut entries = Vec::new();
    for (k, (first, next)) in WRITTEN_OUT.iter().enumerate() {
        let first = first.replace('v', "0.25");
        text += &format!(
            "let alone{k} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  ifold (fun z i -> let v = y[i] in {next}) {first} m\n"
        );
        text += &format!(
            "let beside{k} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  \
             ifold (fun (z, s) i -> let v = y[i] in ({next}, update s i (v * 2.0))) ({first}, y) m\n"
        );
        entries.extend([format!("alone{k}"), format!("beside{k}")]);
    }
    agree(&text, &entries, SIZES);
}

/// Sums in the new elements of a fold's state, which sweeps and scatters accumulate in their results elsewhere.
const STEP_SUMS: &[&str] = &[
    "ifold (fun s i -> s + X[i][j] * y[i]) 0.0 m",
    "ifold (fun s i -> max s X[i][j]) (-10.0) m",
    "ifold (fun s i -> s + (if i % 3 = j then y[i] else 0.0)) 0.0 m",
    "ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m",
];

/// The first state, how the step makes the next, and an element of that from the old state `z`, its index `j` and a sum `t`.
const CHANGES: &[(&str, &str, &str)] = &[
    ("w", "build n (fun j -> {})", "z[j] + t * t"),
    ("w", "build n (fun j -> {})", "if t > 0.0 then t - z[j] else t * t"),
    ("build n (fun j -> (w[j], 0.5))", "build n (fun j -> {})", "let (a, b) = z[j] in (b + t * t, a - t)"),
    ("build n (fun j -> (w[j], 0.5))", "build n (fun j -> {})", "if t > 0.0 then (snd z[j] - t, fst z[j]) else (t, snd z[j])"),
    (
        "build n (fun j -> (w, w[j]))",
        "build n (fun j -> {})",
        "let v = build n (fun i -> w[i] * t) in (v, t * snd z[j] + (fst z[j])[n - 1])",
    ),
    ("X", "build m (fun k -> let r = build m (fun i -> y[i] - y[k]) in build n (fun j -> {}))", "z[k][j] + t * t"),
    ("vectorOutProd w w", "build n (fun k -> build n (fun j -> {}))", "if k = j then z[k][j] * t + t else 0.0"),
];

#[test]
fn states_that_are_changed_by_sums_agree_with_the_interpreter() {
    let mut text = String::new();
    let mut entries = Vec::new();
    for (k, sum) in STEP_SUMS.iter().enumerate() {
        for (at, (first, array, element)) in CHANGES.iter().enumerate() {
            let name = format!("changed{at}by{k}");
            let array = array.replace("{}", &format!("let t = {sum} in {element}"));
            text += &format!(
                "let {name} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  \
                 let r = build m (fun i -> y[i] * 0.5) in ifold (fun z step -> {array}) ({first}) 3\n\n"
            );
            entries.push(name);
        }
    }
    agree(&text, &entries, SIZES);
}

/// Folds down columns: a name, what is written row by row of a matrix, and the text.
const COLUMNS: &[(&str, &[&str], &str)] = &[
    ("largest", &["out[j] = smooth_fmax(out[j], X[i * n + j])"], "build n (fun j -> ifold (fun s i -> max s X[i][j]) (-1e300) m)"),
    ("fromFirst", &["out[j] = smooth_fmin(out[j], X[i * n + j])"], "build n (fun j -> ifold (fun s i -> min s X[i][j]) X[0][j] m)"),
    ("library", &["out[i_2] = smooth_fmax(out[i_2], X[i * n + i_2])"], "matrixMap (matrixTranspose X) vectorMax"),
    (
        "where",
        &["int64_t s_0 = out[j]", "double s_1 = s[j]"],
        "build n (fun j -> fst (ifold (fun s i -> if X[i][j] > snd s then (i, X[i][j]) else s) (0, w[j]) m))",
    ),
    (
        "range",
        &["double lo = out_0[j]", "double hi = out_1[j]"],
        "build n (fun j -> ifold (fun (lo, hi) i -> (min lo X[i][j], max hi X[i][j])) (w[j], X[0][j]) m)",
    ),
    (
        "second",
        &["double b = out[j]"],
        "build n (fun j -> let (a, b) = ifold (fun (a, b) i -> (X[i][j], b - a * X[i][j])) (1.0, w[j]) m in b)",
    ),
    ("shorter", &["0 < n && m - 1 < 0"], "build n (fun j -> ifold (fun s i -> s + X[i + 1][j]) 0.0 (m - 1))"),
    ("polynomial", &["* w[0] + X[(i * 4 + 3) * n + j]"], "build n (fun j -> ifold (fun s i -> s * w[0] + X[i][j]) 0.0 m / y[0])"),
    ("positive", &["out[j] = out[j] && "], "build n (fun j -> ifold (fun s i -> s && X[i][j] > -1.0) true m)"),
    ("chosen", &["if (y[i] > 0.0)"], "build n (fun j -> ifold (fun s i -> if y[i] > 0.0 then max s X[i][j] else s) w[j] m)"),
    ("twice", &["const double s = out[j]"], "build n (fun j -> ifold (fun s i -> s * s - X[i][j]) 0.5 m)"),
    (
        "moments",
        &["out_0[j] +=", "out_1[j] +="],
        "build n (fun j -> let t = ifold (fun s i -> s + X[i][j]) 0.0 m / double m in (t, ifold (fun s i -> s + (X[i][j] - t) * (X[i][j] - t)) 0.0 m))",
    ),
    (
        "logSums",
        &["top[j] = smooth_fmax(top[j], X[i * n + j])", "out[j] += exp(X[i * n + j] - top[j])"],
        "build n (fun j -> let top = ifold (fun s i -> max s X[i][j]) (-1e300) m in top + log (1.0 + ifold (fun s i -> s + exp (X[i][j] - top)) 0.0 m))",
    ),
    (
        "logSumsByName",
        &["m_2[i_2] = smooth_fmax(m_2[i_2], X[i * n + i_2])", "out[i_2] += exp(X[i * n + i_2] - m_2[i_2])"],
        "matrixMap (matrixTranspose X) logSumExp",
    ),
    (
        "width",
        &["s[j] = smooth_fmax(s[j], X[i * n + j])", "out[j] = smooth_fmin(out[j], X[i * n + j])"],
        "build n (fun j -> ifold (fun s i -> max s X[i][j]) w[j] m - ifold (fun s i -> min s X[i][j]) w[j] m)",
    ),
    (
        "scaled",
        &["out[j] = smooth_fmax(out[j], X[i * n + j] * k[j])"],
        "build n (fun j -> let k = exp (w[j] * w[j]) in k * ifold (fun s i -> max s (X[i][j] * k)) 0.0 m)",
    ),
    (
        "sometimes",
        &["out[j] = smooth_fmax(out[j], X[i * n + j])"],
        "build n (fun j -> if m > 1 then ifold (fun s i -> max s X[i][j]) X[0][j] m else w[j])",
    ),
    (
        "softmax",
        &["tops[j] = smooth_fmax(tops[j], X[i * n + j])", "sums[j] += exp("],
        "let tops = build n (fun j -> ifold (fun s i -> max s X[i][j]) w[j] m) in let sums = build n (fun j -> ifold (fun s i -> s + exp (X[i][j] - tops[j])) 0.0 m) in build m (fun i -> build n (fun j -> exp (X[i][j] - tops[j]) / sums[j]))",
    ),
];

/// As [`arguments`], with a few numbers that are none.
fn arguments_with_nan(rows: usize, columns: usize, huge: bool) -> Vec<String> {
    let words = arguments(rows, columns, huge);
    // the first that is -0.0
    if huge { words.iter().map(|word| word.replacen("-0.0", "NaN", 1)).collect() } else { words }
}

#[test]
fn folds_down_columns_agree_with_the_interpreter() {
    let entry = |(name, _, body): &(&str, &[&str], &str)| {
        format!("let {name} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  let m = length y\n  let n = length w\n  {body}\n\n")
    };
    let text: String = COLUMNS.iter().map(entry).collect();
    let entries: Vec<String> = COLUMNS.iter().map(|(name, ..)| name.to_string()).collect();
    agree_on(&text, &entries, &[SIZES, &[(0, 3), (17, 6), (5, 40)]].concat(), &arguments_with_nan);
    for column in COLUMNS {
        let session = engine::compile("rows.smooth", &entry(column), "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let source = &session.files.as_ref().expect("C").source;
        for row in column.1 {
            assert!(source.contains(row), "{} has no {row}:\n{source}", column.0);
        }
    }
}

/// Sums beside each other inside a loop, and how many exponentials are written of them.
const PAIRS: &[(&str, usize, &str)] = &[
    (
        "moments",
        1,
        "build m (fun i -> (ifold (fun s j -> s + exp (y[i] * w[j])) 0.0 n, ifold (fun s j -> s - w[j] * exp (y[i] * w[j])) 1.0 n))",
    ),
    (
        "average",
        1,
        "build m (fun i -> ifold (fun s j -> let d = w[j] - y[i] in s + w[j] * exp (-(d * d))) 0.0 n / ifold (fun s k -> s + exp (-((w[k] - y[i]) * (w[k] - y[i])))) 1.0 n)",
    ),
    (
        "near",
        // in lanes, and for the rows that are left
        2,
        "build m (fun i -> let f k = ifold (fun s j -> let d = y[i] - w[j] in if d < 0.5 then s + k * exp d else s) k n in (f w[0], f y[i]))",
    ),
    (
        "nearAndFar",
        // the same
        4,
        "build m (fun i -> (ifold (fun s j -> let d = y[i] - w[j] in if d < 0.5 then s + exp d else s) 0.0 n, ifold (fun s j -> let d = y[i] - w[j] in if d < 0.5 then s else s - d * exp d) 0.0 n))",
    ),
    (
        "oneAfterTheOther",
        2,
        "build m (fun i -> let s = ifold (fun s j -> s + exp (y[i] * w[j])) 0.0 n in (s, ifold (fun t j -> t + exp (y[i] * w[j]) / (s + w[j])) 0.0 n))",
    ),
    ("columns", 1, "build n (fun j -> (ifold (fun s i -> s + exp X[i][j]) w[j] m, ifold (fun s i -> s + y[i] * exp X[i][j]) 0.0 m))"),
];

#[test]
fn sums_that_share_a_function_agree_with_the_interpreter() {
    let entry = |(name, _, body): &(&str, usize, &str)| {
        format!("let {name} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  let m = length y\n  let n = length w\n  {body}\n\n")
    };
    let text: String = PAIRS.iter().map(entry).collect();
    let entries: Vec<String> = PAIRS.iter().map(|(name, ..)| name.to_string()).collect();
    agree(&text, &entries, &[SIZES, &[(0, 3), (5, 40)]].concat());
    for pair in PAIRS {
        let session = engine::compile("rows.smooth", &entry(pair), "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let source = &session.files.as_ref().expect("C").source;
        let body = source.rsplit("workspace_bytes)\n{").next().unwrap_or_default();
        assert_eq!(body.matches(" exp(").count() + body.matches("-exp(").count(), pair.1, "{}: {body}", pair.0);
    }
}

/// What a sum over row i begins with, a function of the sum `s`, and what becomes of the function's value, VALUE.
const STARTS: &[&str] = &["0.0", "y[i]", "0.5 * y[i]"];
const FUNCTIONS: &[&str] = &["exp (0.1 * s)", "tanh s + y[i]", "(let t = sigmoid s in t * (1.0 - t) * s)"];
const RESULTS: &[&str] = &[
    "build m (fun i -> VALUE)",
    "ifold (fun t i -> t + VALUE) 0.0 m",
    "gradient (fun w -> ifold (fun t i -> t + VALUE) 0.0 m) w",
    "build m (fun i -> let e = VALUE in e * ifold (fun q j -> q + e * X[i][j]) y[i] n)",
];

/// Sixteen rows at a time: no block, one that is not full, and two with what is left.
#[test]
fn functions_of_rows_agree_with_the_interpreter() {
    let (mut text, mut entries) = (String::new(), Vec::new());
    for (r, result) in RESULTS.iter().enumerate() {
        for (f, function) in FUNCTIONS.iter().enumerate() {
            for (b, start) in STARTS.iter().enumerate() {
                let value = format!("(let s = ifold (fun s j -> s + X[i][j] * w[j]) ({start}) n in {function})");
                let (name, body) = (format!("f{r}{f}{b}"), result.replace("VALUE", &value));
                text += &format!("let {name} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  {body}\n\n");
                entries.push(name);
            }
        }
    }
    let session = engine::compile("rows.smooth", &text, "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let blocks = session.files.as_ref().expect("C").source.matches("_rows[16];").count();
    assert!(blocks >= entries.len() / 2, "{blocks} arrays of sixteen rows for {} entries", entries.len());
    agree(&text, &entries, &[(0, 3), (1, 2), (15, 3), (17, 1), (33, 3)]);
}

/// Rows of sums, and how many of them are added at once.
const SUMS: &[(&str, Option<&str>, &str)] = &[
    ("products", Some("eights"), "build m (fun i -> ifold (fun s j -> s + X[i][j] * w[j]) 0.0 n)"),
    ("begun", Some("eights"), "build m (fun i -> ifold (fun s j -> s - X[i][j] * w[j] * w[j]) y[i] n / 2.0)"),
    (
        "quotients",
        Some("fours"),
        "build m (fun i -> let a = y[i] in let b = a * a + 1.0 in (ifold (fun s j -> s + X[i][j] * w[j] / b) a n + a) / b)",
    ),
    (
        "pairs",
        Some("fours"),
        "build m (fun i -> let (s, t) = ifold (fun (s, t) j -> (s + X[i][j] * w[j], t + w[j] * X[i][j] * X[i][j])) (0.0, 1.0) n in (s, s * t))",
    ),
    ("alone", None, "build m (fun i -> ifold (fun s j -> s + X[i][j]) 0.0 n)"),
    ("triangle", None, "build m (fun i -> ifold (fun s j -> s + y[j] * y[i]) 0.0 i)"),
    (
        "branches",
        None,
        "build m (fun i -> let s = ifold (fun s j -> s + X[i][j] * w[j]) 0.0 n in if s > 0.0 then let r = exp (-s) in r * (1.0 - r) else s * s)",
    ),
    (
        "columns",
        Some("fours"),
        "let r = build m (fun i -> ifold (fun s j -> s + X[i][j] * w[j]) 0.0 n - y[i]) in build n (fun j -> ifold (fun s i -> s + r[i] * X[i][j]) 0.0 m)",
    ),
    (
        "twoLoops",
        Some("fours"),
        "build m (fun i -> ifold (fun s j -> s + X[i][j] * w[j]) 0.0 n + ifold (fun s j -> s + X[i][j] * w[j] * w[j]) y[i] n)",
    ),
    (
        // the rows of a matrix are added up, and changed, in one loop
        "accumulated",
        Some("fours"),
        "ifold (fun (s, A) i -> (ifold (fun s j -> accumulate s j (X[i][j] * y[i])) s n, ifold (fun A j -> update A i (accumulate A[i] j (y[i] * w[j]))) A n)) (w, X) m",
    ),
    (
        // the rows are added to one of them
        "ownRow",
        Some("fours"),
        "ifold (fun A i -> ifold (fun A j -> update A 0 (accumulate A[0] j (y[i] * w[j]))) A n) X m",
    ),
    ("losses", Some("eights"), "ifold (fun sum i -> let t = ifold (fun s j -> s + X[i][j] * w[j]) y[i] n in sum + t * t) 0.0 m"),
    (
        // the rows below j change their column j and read those before
        "below",
        Some("eights"),
        "ifold (fun A j -> ifold (fun A r -> let i = j + 1 + r in update A i (update A[i] j (ifold (fun s k -> s - A[i][k] * A[j][k]) A[i][j] j))) A (m - j - 1)) X (min m n)",
    ),
    // what a row reads another one of its group writes
    ("substituted", None, "ifold (fun t i -> update t i (ifold (fun s k -> s - X[i][k] * t[k]) t[i] (min m n))) y m"),
    ("ownElement", None, "ifold (fun w i -> ifold (fun w j -> accumulate w j (X[i][j] * w[j])) w n) w m"),
    (
        "longer",
        None,
        "fst (ifold (fun (t, c) i -> (update t i (ifold (fun s j -> s + X[i][j] * w[j]) 0.0 (min n (c % 5))), c + 1)) (y, 0) m)",
    ),
];

#[test]
fn several_rows_of_sums_agree_with_the_interpreter() {
    let entry = |(name, _, body): &(&str, Option<&str>, &str)| {
        format!("let {name} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  let m = length y\n  let n = length w\n  {body}\n\n")
    };
    for sum in SUMS {
        let session = engine::compile("rows.smooth", &entry(sum), "none", "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let source = &session.files.as_ref().expect("C").source;
        let found = ["eights", "fours"].into_iter().find(|word| source.contains(&format!("int64_t {word} =")));
        assert_eq!(found, sum.1, "{}: {source}", sum.0);
    }
    let text: String = SUMS.iter().map(entry).collect();
    let entries: Vec<String> = SUMS.iter().map(|(name, ..)| name.to_string()).collect();
    agree(&text, &entries, &[(0, 0), (1, 1), (3, 2), (4, 0), (7, 3), (8, 5), (13, 4), (16, 1), (21, 9)]);
}

#[test]
fn rows_that_need_not_be_are_not_stored() {
    let session = engine::compile("rows.smooth", &program(), "none", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let source = &session.files.as_ref().expect("C").source;
    let mut wrong = Vec::new();
    for (k, (_, has_loop, can_fail)) in ELEMENTS.iter().enumerate() {
        for (usage, stored, body) in USES {
            // alone, numbers without a loop are quicker in lanes
            let in_lanes = !has_loop && !body.contains("X[i][j]");
            let stored = *stored || *can_fail || in_lanes;
            let entry = name(k, usage);
            let wants = source.contains(&format!("smooth_is_too_small(workspace_bytes, {entry}_workspace("));
            // what is a result is stored there
            wrong.extend((wants != (stored && *usage != "result")).then_some(entry));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The columns of pairs are arrays first; these lie where the pairs do, also in a function that updates arrays.
#[test]
fn pairs_of_columns_are_written_where_they_belong() {
    let text = "
let ranges (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =
  let pairs = build n (fun j ->
    let low = ifold (fun s i -> min s X[i][j]) w[j] m
    let high = ifold (fun s i -> max s (X[i][j] + low)) w[j] m
    (low, high - low))
  (pairs, if n > 0 then update w 0 3.0 else w)
";
    let session = engine::compile("rows.smooth", text, "none", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let source = &session.files.as_ref().expect("C").source;
    assert!(!source.contains("part = ("), "{source}");
    agree(text, &["ranges".to_string()], &[(0, 0), (0, 3), (2, 0), (1, 1), (3, 7)]);
}

/// Arrays of arrays that are read as one array: a name, whether that takes a workspace, and the text.
const FLAT: &[(&str, bool, &str)] = &[
    ("matrix", false, "build (m * n) (fun t -> X[t / n][t % n])"),
    ("written", false, "let a = build m (fun i -> [y[i], 2.0, -y[i]]) in build (m * 3) (fun t -> a[t / 3][t % 3])"),
    (
        "deep",
        false,
        "let a = build m (fun i -> build n (fun j -> [X[i][j], w[j]])) in build (m * n * 2) (fun t -> a[t / (n * 2)][t / 2 % n][t % 2])",
    ),
    ("components", false, "let a = build m (fun i -> [(y[i], i), (0.5, m)]) in build (2 * m) (fun t -> a[t / 2][t % 2])"),
    ("summed", false, "let b = build (m * n) (fun t -> X[t / n][t % n]) in ifold (fun s t -> s + b[t] * double t) 0.0 (m * n)"),
    ("read", false, "let a = build m (fun i -> [y[i], 2.0]) in let b = build (m * 2) (fun t -> a[t / 2][t % 2]) in (b, a)"),
    // the copy that is updated is the result
    ("updated", false, "let a = build m (fun i -> [y[i], 2.0]) in let b = build (m * 2) (fun t -> a[t / 2][t % 2]) in (update b n 1.0, a)"),
    (
        "elsewhere",
        true,
        "let a = build m (fun i -> [y[i], 2.0]) in let b = build (m * 2) (fun t -> a[t / 2][t % 2]) in (b, update a n [3.0, 4.0])",
    ),
    // nothing is read of no elements, so that the index may be any
    (
        "beyond",
        true,
        "let a = build 2 (fun k -> build m (fun i -> build n (fun j -> X[i][j] * double k))) in build (m * n) (fun t -> a[m][t / n][t % n])",
    ),
    ("otherOrder", false, "build (m * n) (fun t -> X[t % m][t / m])"),
    ("fewer", false, "build (m * n - n) (fun t -> X[t / n][t % n])"),
    ("otherLength", false, "build (m * n) (fun t -> X[t / m][t % m])"),
];

#[test]
fn arrays_of_arrays_read_as_one_agree_with_the_interpreter() {
    let entry = |(name, _, body): &(&str, bool, &str)| {
        format!("let {name} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  let m = length y\n  let n = length w\n  {body}\n\n")
    };
    let text: String = FLAT.iter().map(entry).collect();
    let entries: Vec<String> = FLAT.iter().map(|(name, ..)| name.to_string()).collect();
    agree(&text, &entries, &[SIZES, &[(3, 0), (0, 3)]].concat());
    let session = engine::compile("rows.smooth", &text, "none", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let source = &session.files.as_ref().expect("C").source;
    for (name, stored, _) in FLAT {
        let wants = source.contains(&format!("smooth_is_too_small(workspace_bytes, {name}_workspace("));
        assert_eq!(wants, *stored, "{name}: {source}");
    }
}

/// Functions that write rows of eighteen numbers: sums and products of values of which some do not change with the row, linear
/// in several pairs of them, as derivatives are.
fn long_rows(count: usize) -> String {
    let mut state = 1usize;
    let mut below = |bound: usize| {
        state = (state * 1103515245 + 12345) % (1 << 31);
        (state >> 12) % bound
    };
    let mut text = String::new();
    for k in 0..count {
        text += &format!(
            "let long{k} (X: Matrix<m, n>) (y: Vector<m>) (w: Vector<n>) =\n  let c0 = vectorSum w\n  let c1 = sin c0\n  \
             let c2 = cos c0\n  build (length y) (fun i ->\n    let b0 = y[i] - c0\n    let b1 = cos y[i]\n    let b2 = y[i] * 0.25\n"
        );
        let mut columns = Vec::new();
        for j in 0..6 {
            let mut term = || format!("b{} * c{}", below(3), below(3));
            let (p, q, r, s) = (term(), term(), term(), term());
            let (sign, other) = (["+", "-"][below(2)], ["+", "-"][below(2)]);
            text += &format!("    let u{j} = ({p} {sign} {q}) * c{} {other} {r}\n", below(3));
            text += &format!("    let v{j} = u{j} * c{} {sign} ({s} {other} {p}) * c{}\n", below(3), below(3));
            if j == 0 {
                text += "    let a = 1.0 / (u0 * u0 + 2.0)\n    let h = a * v0\n    let g = h * h + a\n";
            }
            text += &format!("    let e{j} = a * u{j} {sign} h * v{j} * a\n");
            text += &format!("    let k{j} = (2.0 * (h * e{j}) {other} 2.0 * (a * v{j})) * g\n");
            columns.push(format!("g * (h * e{j} {other} a * k{j})"));
            columns.push(format!("h * (g * e{j}) {sign} a * k{j}"));
            columns.push(match below(6) {
                0 => format!("e{j} * k{j}"),
                1 => format!("if u{j} > c1 then -v{j} else -e{j}"),
                2 => "-0.0".to_string(),
                3 => format!("-(e{j} * -0.0)"),
                4 => format!("k{j} - k{j} * c2"),
                _ => format!("sqrt (u{j} * u{j}) - {p}"),
            });
        }
        text += &format!("    [{}])\n\n", columns.join(", "));
    }
    text
}

#[test]
fn long_rows_agree_with_the_interpreter() {
    let count = 24;
    let entries: Vec<String> = (0..count).map(|k| format!("long{k}")).collect();
    agree(&long_rows(count), &entries, &[(0, 0), (1, 1), (3, 2), (8, 5), (21, 3)]);
}

/// Rows of nine numbers, made of the two in braces, and the arrays of which a tile's rows are read by way of panels.
const TILES: &[(&str, &[&str], &str)] = &[
    ("whole", &["X"], "build m (fun i -> {X[i][0] + X[i][1]; X[i][2] * X[i][3] - X[i][4]})"),
    ("part", &["X"], "build m (fun i -> {X[i][1]; X[i][3]})"),
    ("guarded", &["X", "y"], "build m (fun i -> {X[i][2]; if y[i] > 0.0 then X[i][4] else 1.0})"),
    ("after", &["y", "y"], "build m (fun i -> {y[i]; if i + 1 < m then y[i + 1] else 2.0})"),
    ("before", &["X", "X"], "build m (fun i -> {X[i][0]; if i > 0 then X[i - 1][1] else 2.0})"),
    ("both", &["y", "y"], "build (m - 1) (fun i -> {y[i]; y[i + 1]})"),
    ("backwards", &["y"], "build m (fun i -> {y[i]; y[m - 1 - i]})"),
    ("numbers", &["y"], "build m (fun i -> {double i; y[i] + double (i * i)})"),
    ("chosen", &["k", "X"], "build m (fun i -> {y[k[i]]; w[0] * X[i][0]})"),
    ("chosen2", &["k"], "build m (fun i -> {X[k[i]][2]; X[k[i]][4] - w[1]})"),
    ("twice", &["X", "y"], "build m (fun i -> ({X[i][0]; y[i]}, y[i] * w[0], {y[i]; w[1]}))"),
    ("batch", &["y"], "build 3 (fun b -> build m (fun i -> {w[b]; y[i]}))"),
];

#[test]
fn tiles_of_rows_agree_with_the_interpreter() {
    let entry = |(name, _, body): &(&str, &[&str], &str)| {
        let body = body.replace('{', "(let a = ").replace(';', " in let b =");
        let body = body.replace('}', " in [a, b, a * b, a + b, a - b, a * a, b * b, a * a * b, sin a * b])");
        format!("let {name} (X: Matrix<m, 5>) (y: Vector<m>) (w: Vector<5>) (k: Array<Index<m>, m>) =\n  let m = length y\n  {body}\n\n")
    };
    for tile in TILES {
        let session = engine::compile("rows.smooth", &entry(tile), "none", "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let source = &session.files.as_ref().expect("C").source;
        let mut found: Vec<&str> = ["k", "X", "y", "w"]
            .into_iter()
            .flat_map(|name| source.matches(&format!(" *{name}_rows")).map(move |_| name).collect::<Vec<_>>())
            .collect();
        let mut wanted = tile.1.to_vec();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{}: {source}", tile.0);
    }
    let text: String = TILES.iter().map(entry).collect();
    let entries: Vec<String> = TILES.iter().map(|(name, ..)| name.to_string()).collect();
    let sizes = [(0, 5), (1, 5), (2, 5), (7, 5), (8, 5), (9, 5), (19, 5), (24, 5)];
    agree_on(&text, &entries, &sizes, &chosen_arguments);
    // as if no cache held a number: lines of memory that begin and end in a tile, or before and after it
    let past = |c: &str, session: &Session, calls: &[Call], folder: &Path| {
        native::optimised(&format!("#define SMOOTH_CACHED_BYTES 0\n{c}"), session, calls, folder)
    };
    agree_by(&past, &text, &entries, &sizes, &chosen_arguments);
}

/// Writes tiles of each size to exact room and reads them back; element (row, k) is 100 row + k.
const TRANSPOSES: &str = "
int main(void)
{
    for (int64_t columns = 1; columns < 35; ++columns) {
        for (int64_t rows = 1; rows <= 8; ++rows) {
            double tile[34][8];
            for (int64_t k = 0; k < columns; ++k) {
                for (int64_t row = 0; row < 8; ++row) {
                    tile[k][row] = k % 5 == 3 ? -1.0 : (double)(100 * row + k);
                }
            }
            double *out = malloc((size_t)(rows * columns) * sizeof *out);
            smooth_write_rows(tile, columns, rows, out, false);
            for (int64_t i = 0; i < rows * columns; ++i) {
                const int64_t row = i / columns, k = i % columns;
                if (out[i] != (k % 5 == 3 ? -1.0 : (double)(100 * row + k))) {
                    return 1;
                }
            }
            free(out);
        }
    }
    return 0;
}
";

#[test]
fn tiles_are_written_alike_on_every_processor() {
    #[cfg(target_arch = "x86_64")]
    let vectors = [("-mavx", is_x86_feature_detected!("avx")), ("-mavx512f", is_x86_feature_detected!("avx512f"))];
    #[cfg(not(target_arch = "x86_64"))]
    let vectors: [(&str, bool); 0] = [];
    let here = vectors.into_iter().filter(|(_, is_here)| *is_here).map(|(flag, _)| Some(flag));
    let text = "let f (x: Vector<n>) = build n (fun i -> let a = x[i] in let b = a * a in [a, b, a * b, a + b, a - b, b * b, sin a, sin a * b, -b])";
    let session = engine::compile("tiles.smooth", text, "none", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let source = &session.files.as_ref().expect("C").source;
    assert!(source.contains("smooth_write_rows(tile"), "{source}");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tiles.c"), format!("#include <stdlib.h>\n{source}{TRANSPOSES}")).expect("a file");
    if !tools::has_sanitizers() {
        tools::skipped(&format!("{} has no sanitizers here", tools::c_compiler()));
    }
    for processor in std::iter::once(None).chain(here) {
        let sanitized = tools::has_sanitizers().then_some(Some("-fsanitize=address,undefined"));
        for sanitizers in std::iter::once(None).chain(sanitized) {
            let mut compile = Command::new(tools::c_compiler());
            compile
                .args(["-std=c99", "-O3"])
                .args(processor)
                .args(sanitizers)
                .args(["tiles.c", "-o", "tiles", "-lm"])
                .current_dir(folder.path());
            let run = &mut Command::new(folder.path().join("tiles"));
            let done = tools::succeeds(&mut compile).and_then(|_| tools::succeeds(run));
            done.unwrap_or_else(|problem| panic!("{processor:?}: {problem}"));
        }
    }
}

/// Functions in which each step goes through rows of X, and which arrays the C copies column by column.
const PACKED: &[(&str, &[&str], &str)] = &[
    ("before", &["X"], "ifold (fun s i -> s + ifold (fun s j -> s + sqrt (abs X[j][1] + X[i][0] * X[i][0])) 0.0 i) 0.0 m"),
    ("all", &["X"], "build m (fun i -> ifold (fun s j -> s + exp (X[j][3] - X[i][2]) / (1.0 + y[j] * y[j])) 0.0 m)"),
    (
        "forces",
        &["X", "out"],
        "gradient (fun X -> ifold (fun s i -> s + ifold (fun s j -> let (a, b) = (X[i][0] - X[j][0], X[i][4] - X[j][4]) in s + sqrt (1.0 + a * a + b * b)) 0.0 i) 0.0 m) X",
    ),
    ("row", &[], "build m (fun i -> ifold (fun s j -> s + exp (vectorDot X[j] w)) 0.0 i)"),
];

#[test]
fn columns_side_by_side_agree_with_the_interpreter() {
    let entry = |(name, _, body): &(&str, &[&str], &str)| {
        format!("let {name} (X: Matrix<m, 5>) (y: Vector<m>) (w: Vector<5>) (k: Array<Index<m>, m>) =\n  let m = length y\n  {body}\n\n")
    };
    for packed in PACKED {
        let session = engine::compile("rows.smooth", &entry(packed), "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let source = &session.files.as_ref().expect("C").source;
        for name in ["X", "y", "out"] {
            assert_eq!(source.contains(&format!(" *{name}_columns")), packed.1.contains(&name), "{} {name}: {source}", packed.0);
        }
    }
    let text: String = PACKED.iter().map(entry).collect();
    let entries: Vec<String> = PACKED.iter().map(|(name, ..)| name.to_string()).collect();
    agree_on(&text, &entries, &[(0, 5), (1, 5), (2, 5), (7, 5), (64, 5), (65, 5)], &chosen_arguments);
}

/// Functions that write rows of nine numbers, made of what is read by the index, by indices in memory and behind conditions.
fn mixed_rows(count: usize) -> String {
    let mut state = 5usize;
    let mut below = |bound: usize| {
        state = (state * 1103515245 + 12345) % (1 << 31);
        (state >> 12) % bound
    };
    let mut text = String::new();
    for case in 0..count {
        text += &format!(
            "let mixed{case} (X: Matrix<m, 5>) (y: Vector<m>) (w: Vector<5>) (k: Array<Index<m>, m>) =\n  let m = length y\n  build m (fun i ->\n"
        );
        let mut names: Vec<String> = vec!["w[1]".to_string()];
        for value in 0..4 {
            let mut read = || match below(9) {
                0 => format!("X[i][{}]", below(5)),
                1 => format!("X[k[i]][{}]", below(5)),
                2 => format!("X[k[k[i]]][{}]", below(5)),
                3 => "y[i]".to_string(),
                4 => "y[k[i]]".to_string(),
                5 => "y[m - 1 - i]".to_string(),
                6 => "(double (k[i] + i))".to_string(),
                7 => format!("(if i + {0} < m then y[i + {0}] else 1.0)", below(4)),
                _ => format!("(if y[i] > 0.0 then X[k[i]][{}] else w[{}])", below(5), below(5)),
            };
            let (one, other) = (read(), read());
            let name = names[below(names.len())].clone();
            let body = match below(5) {
                0 => format!("{one} * {other} - {name}"),
                1 => format!("if {name} > {one} then {other} else {one}"),
                2 => format!("sin {one} + {name} * {other}"),
                3 => format!("sqrt ({one} * {one}) * {name}"),
                _ => format!("{one} + {other}"),
            };
            text += &format!("    let v{value} = {body}\n");
            names.push(format!("v{value}"));
        }
        let columns: Vec<String> = (0..9).map(|_| format!("{} * {}", names[below(names.len())], names[below(names.len())])).collect();
        text += &format!("    [{}])\n\n", columns.join(", "));
    }
    text
}

#[test]
fn mixed_rows_agree_with_the_interpreter() {
    let count = 24;
    let entries: Vec<String> = (0..count).map(|k| format!("mixed{k}")).collect();
    agree_on(&mixed_rows(count), &entries, &[(0, 5), (1, 5), (5, 5), (8, 5), (19, 5)], &chosen_arguments);
}
