//! `docs/table1.md`: Table 1 of paper 004, the gradients of four functions, in counts and times.
//!
//! The page's program is run as it stands there, and its counts are held. `UPDATE_DOCS=1` writes the counts, with `SMOOTHC_TIMES=1` also
//! the times, which depend on the machine and are held by nothing.

use smoothc::cli::args;
use smoothc::cli::values::from_flat;
use smoothc::driver::{Options, Session};
use smoothc::ir::eval::{self, Reverse, Value};
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;
use smoothc::types::Derive;

use crate::support::command::with_input;
use crate::support::counting::total;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/table1.md");

/// Function, what the paper calls it, its times of both implementations in microseconds, and their ratio as it is printed there.
const FUNCTIONS: [(&str, &str, [&str; 3]); 4] = [
    ("scalarMult", "scalar mult.", ["0.146 µs", "0.536 µs", "0.27"]),
    ("dot", "dot product", ["2.210 µs", "2.070 µs", "1.10"]),
    ("sumMatVec", "sum-mat-vec", ["2.050 µs", "1.320 µs", "1.50"]),
    ("rotated", "rotate_vec_by_quat", ["8.770 µs", "6.130 µs", "1.43"]),
];

fn page() -> String {
    std::fs::read_to_string(PAGE).expect("the page")
}

fn program(page: &str) -> String {
    let (_, rest) = page.split_once("```fsharp table1.smooth\n").expect("a program");
    rest.split("```").next().expect("a program").to_string()
}

fn session(source: &str, mode: Mode, stage: &str) -> Session {
    let derive = FUNCTIONS.iter().map(|row| Derive::parse(&format!("vjp:{}:*", row.0)).expect("a derivative")).collect();
    let mut session = Session::new("table1.smooth", source, Options { derive, mode, ..Options::default() });
    session.run_to(stage, &mut |_, _| Err("no files".into())).expect("a program");
    session
}

/// The arguments of a function at about n elements; with the cotangent of its result for the derivative.
fn words(function: &str, n: usize, is_derivative: bool) -> Vec<String> {
    let vector = |n: usize| format!("{:?}", (0..n).map(|i| 0.5 + i as f64 / n as f64).collect::<Vec<f64>>());
    let side = (n as f64).sqrt().round() as usize;
    let mut words = match function {
        "dot" => vec![vector(n), vector(n)],
        "sumMatVec" => vec![format!("[{}]", vec![vector(side); side].join(", ")), vector(side)],
        "rotated" => vec!["[1, 0, 0, 0]".into(), "[1, 2, 3]".into()],
        _ => vec!["2".into(), "3".into()],
    };
    if is_derivative {
        words.push(if function == "rotated" { "[1, 1, 1]".into() } else { "1".into() });
    }
    words
}

fn count(session: &Session, entry: &str, words: &[String], reverse: Reverse) -> u64 {
    let read = args::read(&session.program.functions[entry], words).expect("arguments");
    let inputs: Vec<Value> = read.values.iter().map(from_flat).collect();
    total(eval::eval_by(&session.program, entry, inputs, reverse).expect("a value").trace.counts)
}

/// Function alone, tape, reverse, forward.
fn counts(source: &str, n: usize) -> Vec<[u64; 4]> {
    with_large_stack(|| {
        let typed = session(source, Mode::Auto, "types");
        let [reverse, forward] = [Mode::Reverse, Mode::Forward].map(|mode| session(source, mode, "rewrite"));
        let row = |(function, _, _): &(&str, &str, [&str; 3])| {
            let derived = format!("{function}_vjp_all");
            let (own, words) = (words(function, n, false), words(function, n, true));
            [
                count(&reverse, function, &own, Reverse::Columns),
                count(&typed, &derived, &words, Reverse::DualNumbers),
                count(&reverse, &derived, &words, Reverse::Columns),
                count(&forward, &derived, &words, Reverse::Columns),
            ]
        };
        FUNCTIONS.iter().map(row).collect()
    })
}

/// Microseconds for one more unit of n.
fn time(source: &str, function: &str, mode: &str) -> String {
    let (derive, entry, n) = (format!("vjp:{function}:*"), format!("{function}_vjp_all"), 1000);
    let words = words(function, n, true);
    let words: Vec<&str> =
        ["bench", "--json", "--mode", mode, "--derive", &derive, "-", &entry].into_iter().chain(words.iter().map(|word| &**word)).collect();
    let output = with_input(&words, source.as_bytes());
    let json: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let units = match function {
        "dot" => n,
        "sumMatVec" => 32 * 32,
        _ => 1,
    };
    format!("{:.5} µs", json["min"].as_f64().expect("a number") * 1e6 / units as f64)
}

/// The page with other rows in the table after a heading.
fn with_rows(page: &str, heading: &str, rows: &[String]) -> String {
    let (before, table) = page.split_once(heading).expect("a heading");
    let start = table.find("| --- |").expect("a table");
    let start = start + table[start..].find('\n').expect("a line") + 1;
    let end = start + table[start..].lines().take_while(|line| line.starts_with('|')).map(|line| line.len() + 1).sum::<usize>();
    format!("{before}{heading}{}{}{}", &table[..start], rows.concat(), &table[end..])
}

#[test]
fn the_page_has_the_counts() {
    let old = page();
    let source = program(&old);
    let rows: Vec<String> = (FUNCTIONS.iter().zip(counts(&source, 1000)))
        .map(|((function, paper, _), [own, tape, reverse, forward])| {
            format!("| `{function}` ({paper}) | {own} | {tape} | {reverse} | {forward} |\n")
        })
        .collect();
    let mut new = with_rows(&old, "## Counts\n", &rows);
    let asks = |name| std::env::var_os(name).is_some();
    if asks("UPDATE_DOCS") && asks("SMOOTHC_TIMES") {
        let row = |(function, _, [th, ad, ratio]): &(&str, &str, [&str; 3])| {
            let [reverse, forward] = ["reverse", "forward"].map(|mode| time(&source, function, mode));
            format!("| `{function}` | {reverse} | {forward} | {th} | {ad} | {ratio} |\n")
        };
        new = with_rows(&new, "## Times\n", &FUNCTIONS.iter().map(row).collect::<Vec<_>>());
    }
    if asks("UPDATE_DOCS") {
        std::fs::write(PAGE, &new).expect("written");
    }
    assert!(
        asks("UPDATE_DOCS") || old == new,
        "docs/table1.md is old: UPDATE_DOCS=1 cargo test --test suite table1:: writes it\n{}",
        rows.concat()
    );
}

/// 004 Section 10: linear in the size; here in all three ways, to the operation.
#[test]
fn derivatives_grow_as_their_functions() {
    let source = program(&page());
    let [small, middle, large] = [256, 1024, 4096].map(|n| counts(&source, n));
    for (at, (function, _, _)) in FUNCTIONS.iter().enumerate() {
        for way in 0..4 {
            let [a, b, c] = [&small, &middle, &large].map(|counts| counts[at][way] as f64);
            let grows = if matches!(*function, "scalarMult" | "rotated") { a == b && b == c } else { c / b < 4.2 && b / a < 4.2 };
            assert!(grows, "{function}, way {way}: {a}, {b}, {c}");
        }
    }
}
