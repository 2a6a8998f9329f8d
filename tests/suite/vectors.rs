//! Loops in vector lanes: they compute what the interpreter does, and the compiler's own report says that the hot
//! loops of the benchmarks are among them.
//!
//! Programs of `benches/` are emitted and compiled as `smoothc run` does, with gcc's report of vectorised
//! loops. Every loop that the text marks with `SMOOTH_LANES` must be in it.

use std::path::Path;
use std::process::Command;

use smoothc::toolchain::compiler::Arithmetic;

use crate::support::tools;

/// The first and last line of each marked loop, counted from 1.
fn marked(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_mark = |line: &str| indent(line) > 0 && line.trim().starts_with("SMOOTH_LANES");
    let end = |at: usize| (at + 1..lines.len()).find(|k| lines[*k].trim() == "}" && indent(lines[*k]) == indent(lines[at]));
    (1..lines.len()).filter(|at| is_mark(lines[at - 1])).filter_map(|at| Some((at + 1, end(at)? + 1))).collect()
}

#[test]
fn marked_loops_are_vectorised() {
    let about = Command::new("gcc").arg("-v").output().map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    if !about.is_ok_and(|about| about.contains("x86_64-linux")) {
        tools::skipped("the report is read from gcc for x86-64 Linux");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut count = 0;
    for program in ["nnmf", "camera", "quaternion", "bundle"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/{program}.smooth"));
        let c = folder.path().join(format!("{program}.c"));
        let emitted = Command::new(env!("CARGO_BIN_EXE_smoothc")).args(["emit", "--target", "c"]).arg(source).arg("-o").arg(&c).status();
        assert!(emitted.is_ok_and(|status| status.success()), "{program}");
        let compiled = Command::new("gcc")
            .args(Arithmetic::Fast.flags())
            .args(["-fopt-info-vec-optimized", "-c"])
            .arg(&c)
            .arg("-o")
            .arg(folder.path().join("x.o"))
            .output()
            .expect("gcc");
        let report = String::from_utf8_lossy(&compiled.stderr).into_owned();
        assert!(compiled.status.success(), "{program}: {report}");
        let text = std::fs::read_to_string(&c).expect("C");
        let vectorised = |line: usize| report.lines().any(|said| said.contains(&format!(".c:{line}:")) && said.contains("loop vectorized"));
        for (first, last) in marked(&text) {
            count += 1;
            assert!(
                (first..=last).any(vectorised),
                "{program}, line {first}: {}\n{report}",
                text.lines().nth(first - 1).unwrap_or_default()
            );
        }
    }
    assert!(count >= 3, "only {count} marked loops");
}

/// Entries over a vector, with whether one of their loops may run in lanes.
const LOOPS: &[(&str, bool, &str)] = &[
    ("total", true, "vectorSum (vectorMap v (fun x -> x * x))"),
    ("scaled", true, "vectorMap v (fun x -> exp x * sin x)"),
    ("pairs", true, "build (length v) (fun i -> [v[i] * 2.0, sqrt (v[i] * v[i] + 1.0)])"),
    ("two", true, "[vectorSum v, vectorSum (vectorMap v (fun x -> x * x))]"),
    ("columns", true, "let m = vectorOutProd v v in build (length v) (fun j -> log (ifold (fun s i -> s + exp m[i][j]) 0.0 (length v)))"),
    ("quotients", true, "build (length v) (fun i -> ifold (fun s j -> s + sin (v[i] * v[j]) / (v[j] + 2.0)) 0.0 (length v))"),
    ("nested", true, "ifold (fun t i -> t * 0.5 + ifold (fun s j -> s + sin (v[i] * v[j]) / (v[j] + 2.0)) 0.0 (length v)) 1.0 (length v)"),
    ("rows", true, "build (length v) (fun i -> let x = v[i] in [[x, x * x, sin x], [cos x, 1.0, exp x], [x + 2.0, 0.0, x / (x + 2.0)]])"),
    (
        "branches",
        true,
        "build (length v) (fun i -> let x = v[i] in let (a, b) = (if x * x < 0.04 then (1.0 - x * x / 6.0, x) else (sin x / x, cos x)) in [a * b, a + b])",
    ),
    // the loop that looks whether one of a block is larger
    ("largest", true, "vectorMax v"),
    ("product", false, "ifold (fun p i -> p * v[i]) 1.0 (length v)"),
    ("recurrence", false, "ifold (fun s i -> s * 0.5 + v[i]) 0.0 (length v)"),
    ("doubled", false, "ifold (fun s i -> s + s * v[i]) 1.0 (length v)"),
    ("sumAndLast", false, "ifold (fun (s, t) i -> (s + v[i], s - t)) (0.0, 0.0) (length v)"),
    ("positive", false, "ifold (fun s i -> if v[i] > 0.0 then s + v[i] else s * 0.5) 0.0 (length v)"),
    // places at a distance that differs from one iteration to another: two iterations may have the same
    (
        "uneven",
        false,
        "ifold (fun a i -> let l = 3 * i % 4 in accumulate a (i + l) (v[i] * double l)) (vectorZeros (length v + 4)) (length v)",
    ),
    (
        "halves",
        false,
        "ifold (fun a i -> let l = min i (length v - 1 - i) in update a (i + l) (a[i + l] * 0.5 + v[l])) (vectorZeros (2 * length v)) (length v)",
    ),
    // gcc 12.2 would exchange the loops
    (
        "overwritten",
        false,
        "ifold (fun a i -> ifold (fun b j -> update b (j + j + i) (v[j] * double j)) a (length v)) (vectorZeros (3 * length v)) (length v)",
    ),
    ("shifted", false, "ifold (fun s k -> build (length v) (fun i -> if i = 0 then v[k] else s[i - 1] + v[i])) v (length v)"),
];

#[test]
fn lanes_change_nothing() {
    let smoothc = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_smoothc")).args(args).output().expect("runs");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let folder = tempfile::tempdir().expect("a folder");
    // neither a multiple of a vector's length nor less than one
    let numbers: Vec<f64> = (0..37).map(|k| f64::from(k * k % 23) / 23.0 - 0.3).collect();
    let argument = format!("{numbers:?}");
    for (name, in_lanes, body) in LOOPS {
        let path = folder.path().join(format!("{name}.smooth"));
        std::fs::write(&path, format!("let {name} (v: Vector<n>) = {body}")).expect("writes");
        let path = path.to_str().expect("a path");
        let c = smoothc(&["emit", "--target", "c", path]);
        assert_eq!(!marked(&c).is_empty(), *in_lanes, "{name}: {c}");
        let values = |text: String| -> Vec<f64> {
            let numbers = text.split(['[', ']', ',']).map(str::trim).filter(|part| !part.is_empty());
            numbers.map(|number| number.parse().expect("a number")).collect()
        };
        let wanted = values(smoothc(&["eval", path, name, &argument]));
        let found = values(smoothc(&["run", path, name, &argument]));
        assert_eq!(wanted.len(), found.len(), "{name}");
        let largest = wanted.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        let differ = wanted.iter().zip(&found).find(|(a, b)| (*a - *b).abs() > 1e-9 * largest);
        assert_eq!(differ, None, "{name}: {c}");
    }
}

#[test]
fn long_iterations_repeat_no_algebra() {
    // what is the same for all rows, and the factors of one linear map of several vectors, are multiplied out once; in one mode,
    // which the options may decide otherwise
    let operations = |program: &str, options: &[&str]| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/{program}.smooth"));
        let output = Command::new(env!("CARGO_BIN_EXE_smoothc"))
            .args(["emit", "--target", "c", "--mode", "forward"])
            .arg(source)
            .args(options)
            .output();
        let text = String::from_utf8_lossy(&output.expect("runs").stdout).into_owned();
        let (first, last) = *marked(&text).last().expect("a marked loop");
        let lines = text.lines().skip(first).take(last - first);
        // what has no `=` goes on with the line before
        let code = lines.map(|line| line.split_once('=').map_or(line, |(_, value)| value));
        code.map(|value| [" * ", " + ", " - "].iter().map(|sign| value.matches(sign).count()).sum::<usize>()).sum::<usize>()
    };
    for (program, most) in [("camera", 0.3), ("bundle", 0.3)] {
        let (written, collected) = (operations(program, &["--strict-fp"]), operations(program, &[]));
        assert!((collected as f64) < most * written as f64, "{program}: {collected} of {written}");
    }
}
