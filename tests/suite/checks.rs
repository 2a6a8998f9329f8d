//! Checks that leave loops: what emitted C refuses is what the interpreter refuses, with the same status.
//!
//! Each entry takes vectors of n and m numbers, three Indices, and runs with each of them at and beside the ends of the vectors and at
//! the ends of Index, under sanitizers. The table says which loops are left without a check.

use crate::support::{agree, engine, native, tools};

/// A name, whether all checks leave its loops, and the text.
const LOOPS: &[(&str, bool, &str)] = &[
    ("fixed", true, "ifold (fun s i -> s + v[k] * double i) 0.0 c"),
    ("plain", true, "ifold (fun s i -> s + v[i]) 0.0 c"),
    ("up", true, "ifold (fun s i -> s + v[k + i]) 0.0 c"),
    ("upFrom", true, "ifold (fun s i -> s + v[i + k]) 0.0 c"),
    ("less", true, "ifold (fun s i -> s + v[i - k]) 0.0 c"),
    ("down", true, "ifold (fun s i -> s + v[k - i]) 0.0 c"),
    ("downFrom", true, "ifold (fun s i -> s + v[k - 1 - i]) 0.0 c"),
    ("twoSteps", true, "ifold (fun s i -> s + v[k + i + l]) 0.0 c"),
    ("bothSteps", true, "ifold (fun s i -> let at = i + k in s + v[at - l]) 0.0 c"),
    ("named", true, "ifold (fun s i -> let at = k + i in s + v[at] * w[at]) 0.0 c"),
    ("literal", true, "ifold (fun s i -> s + v[i + 1]) 0.0 2"),
    ("never", true, "ifold (fun s i -> s + v[i + 5]) 0.0 0"),
    ("parts", true, "ifold (fun s i -> ifold (fun t j -> t + v[k + j]) s l * 0.5) 0.0 c"),
    ("windows", false, "ifold (fun s i -> ifold (fun t j -> t + v[i * k + j]) s l * 0.5) 0.0 c"),
    ("twoOf", true, "ifold (fun s i -> s + v[k + i] * w[l]) 0.0 c"),
    ("strided", false, "ifold (fun s i -> s + v[i * k]) 0.0 c"),
    ("divided", true, "ifold (fun s i -> s + v[10 / k]) 0.0 c"),
    ("mixed", false, "ifold (fun s i -> s + v[k + i] + w[10 / (l - i)]) 0.0 c"),
    ("after", false, "ifold (fun s i -> s + double (10 / (l - i)) + v[k]) 0.0 c"),
    ("atLeast", true, "ifold (fun s i -> s + v[k + i]) 0.0 (max 0 (min c 3))"),
    ("twice", false, "ifold (fun s i -> s + v[i * k] + w[l]) 0.0 c"),
    ("sometimes", true, "ifold (fun s i -> if k > 0 then s + v[l] else s - v[l + i]) 0.0 c"),
    ("now", false, "ifold (fun s i -> if i > k then s + v[l] else s) 0.0 c"),
    ("data", true, "ifold (fun s i -> if v[0] > 0.0 then s + w[k + i] else s) 0.0 c"),
    ("known", true, "let t = (if c > 0 then v[k] else 0.0) in ifold (fun s i -> s + v[k] * t + w[k]) 0.0 c"),
    ("again", true, "v[k] + ifold (fun s i -> s + v[k] * double i) 0.0 c"),
    ("state", false, "ifold (fun (s, at) i -> (s + v[at], at + 1)) (0.0, k) c"),
];

fn entry((name, _, body): &(&str, bool, &str)) -> String {
    format!("let {name} (v: Vector<n>) (w: Vector<m>) (k: Index) (l: Index) (c: Index) =\n  {body}\n\n")
}

/// With a count that ends, also where no check does.
fn calls(session: &smoothc::driver::Session, names: &[&'static str]) -> Vec<(&'static str, smoothc::cli::args::Arguments)> {
    let vector = |length: usize| format!("{:?}", (0..length).map(|i| 0.5 * i as f64 - 0.75).collect::<Vec<f64>>());
    let ends = ["-1", "0", "1", "3", "-9223372036854775808", "9223372036854775807", "9223372036854775805"];
    let mut calls = Vec::new();
    for (n, m) in [(0, 2), (4, 3)] {
        for (at, k) in ends.iter().enumerate() {
            for l in [ends[(at + 2) % ends.len()], "1"] {
                for c in ["-1", "0", "2", "4"] {
                    let words = [vector(n), vector(m), k.to_string(), l.to_string(), c.to_string()];
                    // an inner loop of l iterations may have 2^63
                    for name in names.iter().filter(|name| l.len() < 9 || !["parts", "windows"].contains(name)) {
                        calls.push((*name, engine::arguments(session, name, &words).unwrap_or_else(|problem| panic!("{name}: {problem}"))));
                    }
                }
            }
        }
    }
    calls
}

#[test]
fn checks_before_loops_refuse_what_the_interpreter_refuses() {
    let text: String = LOOPS.iter().map(entry).collect();
    let names: Vec<&str> = LOOPS.iter().map(|(name, ..)| *name).collect();
    tools::each(&["none", "default"], |schedule| {
        let run: agree::Run = if tools::has_sanitizers() { &native::sanitized } else { &native::optimised };
        let known = engine::compile("checks.smooth", &text, "none", "types")?;
        let session = engine::compile("checks.smooth", &text, schedule, "emit")?;
        agree::agree(run, &known, &session, &calls(&session, &names)).map_err(|problem| format!("schedule {schedule}: {problem}"))
    });
}

#[test]
fn loops_are_left_without_checks() {
    let mut wrong = Vec::new();
    for row @ (name, leaves, _) in LOOPS {
        let session = engine::compile("checks.smooth", &entry(row), "none", "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let source = &session.files.as_ref().expect("C").source;
        let (_, loops) = source.split_once("for (int64_t").unwrap_or_default();
        if loops.contains("return SMOOTH_BOUNDS") == *leaves {
            wrong.push(format!("{name}: {loops}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What stands in front of a loop and can have one outcome only is not there: compilers warn of it.
#[test]
fn no_check_compares_an_index_with_itself() {
    let text = "let backwards (v: Vector<n>) (c: Array<Index<m>, n>) (w: Vector<m>) : Vector<n> =\n  build (length v) (fun i -> let j = length v - 1 - i in v[j] + w[c[j]])\n";
    for schedule in ["none", "default"] {
        let session = engine::compile("checks.smooth", text, schedule, "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let source = &session.files.as_ref().expect("C").source;
        assert!(!source.contains("return SMOOTH_BOUNDS"), "{schedule}: {source}");
    }
    let before = "let before (v: Vector<n>) = build (length v) (fun i -> v[i - 2])\n";
    let session = engine::compile("checks.smooth", before, "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let source = &session.files.as_ref().expect("C").source;
    assert!(source.contains("    if (n > 0) {\n        return SMOOTH_BOUNDS;"), "{source}");
}
