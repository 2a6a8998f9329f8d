//! Sums over windows, one in each vector lane: emitted C gives what the interpreter does for windows of any length and any number of
//! them, and has a loop over lanes where what neighbours read lies side by side.

use crate::support::{agree, engine, native, tools};

/// A name, whether windows go in lanes, and the text.
const WINDOWS: &[(&str, bool, &str)] = &[
    ("filter", true, "build (n + 1 - p) (fun i -> vectorSum (build p (fun j -> v[i + j] * k[j])))"),
    ("moving", true, "build (n + 1 - p) (fun i -> vectorSum (build p (fun j -> v[i + j])) / double p)"),
    ("backwards", true, "build (n + 1 - p) (fun i -> vectorSum (build p (fun j -> v[i + p - 1 - j] * k[j])))"),
    ("shifted", true, "build (n - 1 - p) (fun i -> v[i] + vectorSum (build p (fun j -> k[j] * v[i + 2 + j] * v[i])))"),
    ("nested", true, "build (n + 1 - p) (fun i -> ifold (fun s a -> ifold (fun s b -> s + sin k[a] * v[i + b] * k[b]) s p) v[i] p)"),
    ("apart", false, "build n (fun i -> vectorSum (build p (fun j -> k[j] * double (i + j))))"),
    (
        // backwards: each window adds to the elements that it reads
        "gradient",
        false,
        "gradient (fun x -> vectorSqNorm (build (length x + 1 - p) (fun i -> vectorSum (build p (fun j -> x[i + j] * k[j])) - v[i]))) v",
    ),
];

fn program() -> String {
    let entry = |(name, _, body): &(&str, bool, &str)| {
        format!("let {name} (v: Vector<n>) (k: Vector<p>) : Vector =\n  let n = length v\n  let p = length k\n  {body}\n\n")
    };
    WINDOWS.iter().map(entry).collect()
}

#[test]
fn windows_agree_with_the_interpreter() {
    let text = program();
    let known = engine::compile("window.smooth", &text, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    let run: agree::Run = if tools::has_sanitizers() { &native::sanitized } else { &native::optimised };
    let session = engine::compile("window.smooth", &text, "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let mut calls = Vec::new();
    for (n, p) in [(0, 0), (1, 1), (7, 3), (8, 1), (9, 2), (10, 0), (17, 4), (33, 9), (40, 40), (5, 6), (4, 9)] {
        let numbers = |count: usize, scale: f64| (0..count).map(|i| scale * (i * i % 11) as f64 - 0.75).collect::<Vec<f64>>();
        let words = [format!("{:?}", numbers(n, 0.375)), format!("{:?}", numbers(p, 0.5))];
        for (name, ..) in WINDOWS {
            calls.push((*name, engine::arguments(&session, name, &words).unwrap_or_else(|problem| panic!("{name}: {problem}"))));
        }
    }
    if let Err(difference) = agree::agree(run, &known, &session, &calls) {
        panic!("{difference}");
    }
}

#[test]
fn neighbouring_windows_are_lanes() {
    let session = engine::compile("window.smooth", &program(), "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let c = session.emitted().expect("C").source.clone();
    for (name, in_lanes, _) in WINDOWS {
        let function = c.split(&format!("smooth_status {name}(")).last().unwrap_or_default();
        let function = function.split("\n}\n").next().unwrap_or_default();
        assert_eq!(function.contains("lane < 8"), *in_lanes, "{name}:\n{function}");
    }
}
