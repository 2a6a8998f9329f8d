//! The text of loop programs: what is printed is read back as the same program.
//!
//! Of all examples and of generated programs, before and after the passes over loops. That nothing is lost on the way is held by what
//! comes after: the passes make the same C of the program that was read back, to the last byte.

use std::path::Path;

use smoothc::driver::{Options, Schedule, Session};
use smoothc::loops::program::LoopProgram;
use smoothc::loops::{self, parse, print, verify};
use smoothc::real::Real;
use smoothc::stack::with_large_stack;

use crate::generator::{asked, grow};
use crate::support::sources;

/// How a file is compiled: schedule, whether threads share loops, and what a Double is.
const WAYS: [(&str, bool, Real); 4] =
    [("default", false, Real::F64), ("none", false, Real::F64), ("default", true, Real::F64), ("default", true, Real::F32)];

/// The loop program of a source text; `None` for one that emitted code does not support.
fn lowered(name: &str, text: &str, way: (&str, bool, Real)) -> Option<LoopProgram> {
    let (schedule, parallel, real) = way;
    let options = Options { schedule: Schedule::Named(schedule.into()), parallel, real, ..Options::default() };
    let mut session = Session::new(name, text, options);
    match session.run_to("lower", &mut sources::open) {
        Ok(()) => Some(session.loops),
        Err(problems) => {
            assert!(problems.iter().all(|problem| problem.code.starts_with("E06")), "{name}: {problems:?}");
            None
        }
    }
}

fn emitted(program: LoopProgram, options: &loops::Options) -> Option<(LoopProgram, String)> {
    let optimised = loops::optimise(program, options).ok()?;
    let files = smoothc::emit::c(&optimised, &smoothc::emit::COptions::default()).expect("is printed");
    Some((optimised, files.source))
}

/// The first line in which two texts differ.
fn difference(a: &str, b: &str) -> String {
    let at = a.lines().zip(b.lines()).position(|(a, b)| a != b).unwrap_or_else(|| a.lines().count().min(b.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("the end").to_string();
    format!("line {}:\n{}\n{}", at + 1, line(a), line(b))
}

/// The program that its text gives, which is printed as that text.
fn read_back(name: &str, program: &LoopProgram) -> LoopProgram {
    let text = print::program(program);
    let parsed = parse::program(&text).unwrap_or_else(|problem| panic!("{name}: {problem}\n{text}"));
    let again = print::program(&parsed);
    assert!(again == text, "{name}: {}", difference(&text, &again));
    for (at, function) in parsed.functions.iter().enumerate() {
        // before the passes calls do not say yet what their callees need
        if !function.workspace.body.is_empty() {
            verify::function(function, &parsed.functions[..at]).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        }
    }
    parsed
}

/// Whether there was a loop program at all.
fn check(name: &str, text: &str, way: (&str, bool, Real)) -> bool {
    let Some(program) = lowered(name, text, way) else { return false };
    let options = loops::Options { algebra: way.0 == "default", parallel: way.1, real: way.2, ..loops::Options::default() };
    let parsed = read_back(name, &program);
    let Some((optimised, source)) = emitted(program, &options) else { return false };
    let (_, other) = emitted(parsed, &options).expect("passes as the other does");
    assert!(source == other, "{name}, {way:?}: another C, {}", difference(&source, &other));
    read_back(name, &optimised);
    true
}

fn files(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = std::fs::read_dir(root.join(folder)).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let is_program = |path: &Path| path.extension().is_some_and(|extension| extension == "smooth");
    let read = |path: &Path| {
        let name = path.strip_prefix(root).expect("in the repository").display().to_string();
        (name, std::fs::read_to_string(path).expect("is text"))
    };
    files.iter().filter(|path| is_program(path)).map(|path| read(path)).collect()
}

#[test]
fn loop_programs_of_examples_are_read_back() {
    with_large_stack(|| {
        let programs = [files("examples"), files("benches")].concat();
        let mut done = 0;
        for (at, (name, text)) in programs.iter().enumerate() {
            // each as it is by itself, and one way more
            done += [WAYS[0], WAYS[1 + at % 3]].iter().filter(|way| check(name, text, **way)).count();
        }
        assert!(done > programs.len() * 3 / 2, "{done} loop programs of {} files", programs.len());
    });
}

#[test]
fn loop_programs_of_generated_programs_are_read_back() {
    with_large_stack(|| {
        let count = asked::number("SMOOTHC_CASES").unwrap_or(120);
        let mut done = 0;
        for seed in 0..count {
            let program = grow::program(seed, &format!("f{seed}"), false);
            done += u64::from(check(&format!("seed {seed}"), &program.text(), WAYS[(seed % 4) as usize]));
        }
        assert!(done * 10 > count * 9, "{done} of {count} programs");
    });
}

/// Whatever is wrong with a text is an error with its line.
#[test]
fn wrong_texts_are_refused_by_line() {
    let cases = [
        ("function f(n: size {\n}", "line 1: expected `)`"),
        ("function f(n: size) {\n  for i < m {\n  }\n}", "line 2: there is no `m`"),
        ("function f(n: size, out out: f64[n]) {\n  out[n] = 1.0 2.0\n}", "line 2: expected the end of the line"),
        ("function f(n: size, out out: f64[n]) {\n  let n: index = 1\n}", "line 2: `n` is declared twice"),
        ("function f(n: size) {\n  fail LATER if n < 0\n}", "line 2: `LATER` is no status"),
        ("function f(n: size) {\n  fail BOUNDS if wild(n)\n}", "line 2: there is no primitive `wild` of 1 operands"),
        ("function f(n: size) {\n", "expected `}`, found the end of the text"),
        ("workspace f() {\n}", "line 1: a measure before the first function"),
        ("function f(n: size) {\n  for i < n % 2 {\n  }\n}", "line 2: expected `{`"),
        ("function f(n: size) {\n  room t: f64[3]\n}", "line 2: an array of few elements is `local`"),
        ("function f(n: size) @", "line 1: `@` is no sign"),
    ];
    for (text, wanted) in cases {
        let found = parse::program(text).expect_err(text);
        assert!(found.contains(wanted), "{found}: not {wanted}");
    }
}
