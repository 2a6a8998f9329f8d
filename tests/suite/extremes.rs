//! Loops that look for the largest or the smallest: the same bits as the interpreter gives, whatever block of iterations has it.
//!
//! Vectors of no element up to a few blocks, with ties, zeros of both signs, infinities and NaN in each place that matters, in C
//! under sanitizers.

use smoothc::cli::args::Arguments;
use smoothc::driver::{Options, Schedule};
use smoothc::toolchain::flat::{Column, Flat};

use crate::support::native::Call;
use crate::support::{engine, native, tools};

const PROGRAM: &str = "
let largest (v: Vector<n>) (w: Vector<n>) : Double = vectorMax v
let smallest (v: Vector<n>) (w: Vector<n>) : Double = vectorMin v
let place (v: Vector<n>) (w: Vector<n>) = ifold (fun (m, k) i -> if v[i] > m then (v[i], i) else (m, k)) (-1.0, 0) (length v)
let lastPlace (v: Vector<n>) (w: Vector<n>) = ifold (fun (m, k) i -> if v[i] < m then (m, k) else (v[i], i)) (0.5, 0) (length v)
let slope (v: Vector<n>) (w: Vector<n>) : Vector<n> = gradient vectorMax v
let pivot (v: Vector<n>) (w: Vector<n>) =
  ifold (fun (m, k) i -> let size = abs (v[i] * w[i]) in if size > m then (size, i) else (m, k)) (0.0, 0) (length v)
let range (v: Vector<n>) (w: Vector<n>) = ifold (fun (a, b) i -> (min a v[i], max b v[i])) (1.0, 1.0) (length v)
let kept (v: Vector<n>) (w: Vector<n>) =
  ifold (fun (m, kept) i -> if v[i] > m then (v[i], update kept i w[i]) else (m, kept)) (-1.0, w) (length v)
let atMost (v: Vector<n>) (w: Vector<n>) =
  ifold (fun (m, k) i -> if i >= k && v[length v - 1 - i] > m then (v[length v - 1 - i], i + 3) else (m, k)) (-1.0, 0) (length v)
";

const ENTRIES: &[&str] = &["largest", "smallest", "place", "lastPlace", "slope", "pivot", "range", "kept", "atMost"];

/// Vectors of one length.
fn vectors(length: usize) -> Vec<Vec<f64>> {
    let of = |element: &dyn Fn(usize) -> f64| (0..length).map(element).collect::<Vec<f64>>();
    let mixed = |i: usize| (i * 7919 % 101) as f64 / 50.0 - 1.0;
    let mut all = vec![
        of(&|i| i as f64),
        of(&|i| -(i as f64)),
        of(&|_| 2.0),
        of(&|i| if i % 2 == 0 { 0.0 } else { -0.0 }),
        of(&|i| if i % 2 == 0 { -0.0 } else { 0.0 }),
        of(&|_| f64::NAN),
        of(&mixed),
    ];
    for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 7.0] {
        for at in [0, 1, 31, 32, 40, length.saturating_sub(1)] {
            all.push(of(&|i| if i == at { special } else { mixed(i) }));
        }
    }
    all
}

/// The same bits; of NaN there is one.
fn is_same(a: &Flat, b: &Flat) -> bool {
    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    a.shape == b.shape
        && a.columns.iter().zip(&b.columns).all(|columns| match columns {
            (Column::Double(a), Column::Double(b)) => a.len() == b.len() && a.iter().zip(b).all(same),
            (a, b) => a == b,
        })
}

/// A vector as on a command line.
fn word(vector: &[f64]) -> String {
    format!("{vector:?}").replace("inf", "Infinity")
}

#[test]
fn largest_elements_agree_with_the_interpreter() {
    let known = engine::compile("extremes.smooth", PROGRAM, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    let options = Options { schedule: Schedule::Named("default".into()), header: "program.h".into(), ..Options::default() };
    let session = engine::compile_with("extremes.smooth", PROGRAM, options, "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let source = &session.files.as_ref().expect("C").source;
    // range's two conditions, and the last, whose condition begins with the state, are no exception
    assert_eq!(source.matches("int64_t changes = 0;").count(), ENTRIES.len() - 1, "{source}");
    let mut calls: Vec<(&str, Arguments)> = Vec::new();
    for entry in ENTRIES {
        for length in [0, 1, 31, 32, 33, 63, 64, 65, 100] {
            let other = (0..length).map(|i| (i * 31 % 17) as f64 / 8.0 - 1.0).collect::<Vec<f64>>();
            for vector in vectors(length) {
                let words = [word(&vector), word(&other)];
                calls.push((entry, engine::arguments(&session, entry, &words).unwrap_or_else(|problem| panic!("{problem}: {words:?}"))));
            }
        }
    }
    let given: Vec<Call> = calls.iter().map(|(entry, arguments)| Call { entry, arguments }).collect();
    let c = native::program(&session, &given).unwrap_or_else(|problem| panic!("{problem}"));
    let folder = tempfile::tempdir().expect("a folder");
    let run = if tools::has_sanitizers() { native::sanitized } else { native::optimised };
    let outcomes = run(&c, &session, &given, folder.path()).unwrap_or_else(|problem| panic!("{problem}"));
    for ((entry, arguments), outcome) in calls.iter().zip(outcomes) {
        match (engine::interpret(&known, entry, &arguments.values), outcome) {
            (Ok(wanted), Ok(found)) => {
                assert!(is_same(&wanted.value, &found), "{entry} {:?}: {found:?}, not {:?}", arguments.values, wanted.value)
            }
            (Err(wanted), Err(status)) => assert_eq!(wanted, engine::status_name(status), "{entry} {:?}", arguments.values),
            // a derivative without elements may not meet the function's error
            (Err(_), Ok(found)) if engine::has_no_elements(&found) => {}
            (wanted, found) => panic!("{entry} {:?}: {:?} and {found:?}", arguments.values, wanted.map(|known| known.value)),
        }
    }
}
