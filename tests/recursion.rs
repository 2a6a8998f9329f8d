//! Recursion that is no loop, in emitted C: values, derivatives in both modes, statuses and the room that it has.
//!
//! The programs are those of tests/stack/recursion.smooth; the interpreter, which runs recursion as it is written, says what
//! they mean. C runs under sanitizers where there are some, with exactly the workspace that it asks for and with a byte less.

#[allow(dead_code)]
mod support {
    pub mod agree;
    pub mod command;
    pub mod engine;
    pub mod native;
    pub mod sources;
    pub mod tools;
}

use smoothc::driver::{Options, Schedule};
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;
use support::command::with_input;
use support::{agree, engine, native, tools};

const PROGRAMS: &str = include_str!("stack/recursion.smooth");

const CALLS: &[(&str, &[&str])] = &[
    ("factorial", &["0"]),
    ("factorial", &["10"]),
    ("fibonacci", &["15"]),
    ("ackermann", &["2", "3"]),
    ("determinant", &["[]", "0", "[]"]),
    ("determinant", &["[[3]]", "1", "[true]"]),
    ("determinant", &["[[1, 2, 3], [4, 5, 6], [7, 8, 10]]", "3", "[true, true, true]"]),
    ("determinant", &["[[1, 2], [4, 5]]", "3", "[true, true]"]),
    ("minors", &["[[1, 2, 3], [4, 5, 6], [7, 8, 10]]", "3", "[true, true, true]"]),
    ("power", &["1.1", "0"]),
    ("power", &["1.1", "13"]),
    ("horner", &["[1, 2, 3]", "2", "3"]),
    ("horner", &["[]", "2", "0"]),
    ("horner", &["[1]", "2", "2"]),
    ("product", &["[0.1, 0.2, 0.3, 0.4, 0.5]", "0", "5"]),
    ("pair", &["0.5", "0"]),
    ("pair", &["0.5", "4"]),
    ("alternates", &["12"]),
    ("branches", &["0", "0.25"]),
    ("branches", &["5", "0.25"]),
    ("halves", &["[]", "2"]),
    ("halves", &["[0.1, 0.2]", "4"]),
    ("middle", &["0.3", "5"]),
    ("nested", &["0.4", "3"]),
    ("male", &["0.7", "8"]),
    ("female", &["0.7", "5"]),
    ("walk", &["[1, 2, 0]", "[0.5, 1.5, 2.5]", "1", "5"]),
    ("walk", &["[1, 2, 0]", "[0.5, 1.5]", "1", "5"]),
    ("local", &["[0.5, 0.25, 2]", "4"]),
    ("local", &["[]", "1"]),
    ("deep", &["0.5", "9999"]),
    ("exact", &["0.5", "7", "0"]),
    ("powerSlope", &["1.1", "13"]),
    ("powerCurve", &["1.1", "6"]),
    ("hornerSlope", &["[1, 2, 3]", "2"]),
    ("productSlope", &["[0.1, 0.2, 0.3, 0.4, 0.5]"]),
    ("pairSlope", &["0.5", "4"]),
    ("determinantSlope", &["[[1, 2, 3], [4, 5, 6], [7, 8, 10]]"]),
    ("halvesSlope", &["[0.1, 0.2]", "3"]),
    ("maleSlope", &["0.7", "6"]),
    ("middleSlope", &["0.3", "5"]),
    ("nestedSlope", &["0.4", "3"]),
    ("branchesSlope", &["0.3", "4"]),
    ("walkSlope", &["[1, 2, 0]", "[0.5, 1.5, 2.5]", "1", "5"]),
    ("localCurve", &["[0.5, 0.25, 2]", "2"]),
];

const DERIVATIVES: &[&str] = &["hornerSlope", "productSlope", "determinantSlope", "halvesSlope", "walkSlope"];

fn hold(schedule: &str, mode: Mode, is_wanted: fn(&str) -> bool) {
    let entries: Vec<String> = CALLS.iter().map(|(entry, _)| entry.to_string()).filter(|entry| is_wanted(entry)).collect();
    let options = Options { schedule: Schedule::Named(schedule.into()), mode, entries, header: "program.h".into(), ..Options::default() };
    let typed = engine::compile_with("recursion.smooth", PROGRAMS, options.clone(), "types").expect("a program");
    let session = engine::compile_with("recursion.smooth", PROGRAMS, options, "emit").expect("a program");
    let arguments = |(entry, words): &(&'static str, &[&str])| {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        (*entry, engine::arguments(&session, entry, &words).expect("arguments"))
    };
    let calls: Vec<_> = CALLS.iter().filter(|(entry, _)| is_wanted(entry)).map(arguments).collect();
    let run: agree::Run = if tools::has_sanitizers() { &native::sanitized } else { &native::optimised };
    if let Err(difference) = agree::agree(run, &typed, &session, &calls) {
        panic!("{schedule}, {mode:?}: {difference}");
    }
}

#[test]
fn recursion_in_c_gives_what_the_interpreter_gives() {
    with_large_stack(|| hold("default", Mode::Auto, |_| true));
}

#[test]
fn recursion_as_it_is_cut_gives_what_the_interpreter_gives() {
    with_large_stack(|| hold("none", Mode::Forward, |entry| !entry.ends_with("Slope") && !entry.ends_with("Curve")));
}

#[test]
fn derivatives_of_recursion_in_reverse_are_those_of_the_interpreter() {
    with_large_stack(|| hold("default", Mode::Reverse, |entry| DERIVATIVES.contains(&entry)));
}

/// What a command says.
fn said(words: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("programs.smooth");
    std::fs::write(&path, PROGRAMS).expect("a file");
    let path = path.to_string_lossy().into_owned();
    let words: Vec<&str> = words.iter().map(|word| if *word == "FILE" { path.as_str() } else { word }).collect();
    let output = with_input(&words, b"");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)).trim_end().to_string()
}

#[test]
fn a_call_beyond_the_room_is_a_status() {
    // ten thousand calls, one in another
    assert_eq!(said(&["run", "-q", "FILE", "deep", "0.5", "9999"]), "2.0");
    assert!(said(&["run", "-q", "FILE", "deep", "0.5", "10000"]).contains("E0708"));
    // n + 1 calls, exactly
    assert_eq!(said(&["run", "-q", "FILE", "exact", "0.5", "7", "0"]), "1.98828125");
    assert!(said(&["run", "-q", "FILE", "exact", "0.5", "7", "1"]).contains("E0708"));
    assert_eq!(said(&["eval", "-q", "FILE", "exact", "0.5", "7", "1"]), "1.994140625");
}

#[test]
fn a_million_frames_fit_where_the_program_says_so() {
    assert_eq!(said(&["run", "-q", "FILE", "exact", "0.5", "1000000", "0"]), "2.0");
}

#[test]
fn halves_of_recursion_together_are_the_derivative() {
    let forward = said(&["eval", "-q", "--derive", "revf:horner", "FILE", "horner_revf", "[1, 2, 3]", "2", "3"]);
    let kept = forward.strip_prefix("[17.0, ").and_then(|rest| rest.strip_suffix(']')).unwrap_or_else(|| panic!("{forward}"));
    let back = said(&["eval", "-q", "--derive", "revr:horner", "FILE", "horner_revr", kept, "1"]);
    assert_eq!(back, said(&["eval", "-q", "--derive", "vjp:horner", "FILE", "horner_vjp", "[1, 2, 3]", "2", "3", "1"]));
}

#[test]
fn futhark_has_no_stack() {
    let text = said(&["emit", "--target", "futhark", "--entry", "factorial", "FILE"]);
    assert!(text.contains("error[E0606]: unsupported in Futhark: the recursion of `factorial` is no loop"), "{text}");
}

/// What a program that has no stack is told.
fn refused(program: &str) -> String {
    let options = Options { schedule: Schedule::Named("default".into()), ..Options::default() };
    engine::compile_with("program.smooth", program, options, "emit").err().unwrap_or_default()
}

#[test]
fn what_changes_its_length_is_refused_with_a_next_step() {
    let shorter = "let rec total (v: Vector<n>) : Double = if n = 0 then 0.0 else v[0] + total (build (n - 1) (fun i -> v[i + 1]))\n";
    let text = refused(shorter);
    assert!(
        text.contains("E0606") && text.contains("changes the length n from call to call") && text.contains("pass the whole array"),
        "{text}"
    );
    let kept = "\
let rec f (x: Double) (n: Index) : Double =
  let v = build n (fun i -> x + double i)
  if n = 0 then x else f (vectorSum v) (n - 1) + v[0]
";
    let text = refused(kept);
    assert!(text.contains("E0606") && text.contains("keeps `v`, whose length changes from call to call"), "{text}");
    let own = "let rec f (x: Double) (n: Index) : Double = if n = 0 then x * x else x * rd (fun y -> f y (n - 1)) x 1.0\n";
    let text = refused(own);
    assert!(text.contains("E0606") && text.contains("is inside of a derivative of its own"), "{text}");
}
