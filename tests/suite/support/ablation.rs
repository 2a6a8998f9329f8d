//! What each group of rules is worth: the schedule `default` without one group, two, or all of them.
//!
//! In: an example of [`EXAMPLES`]. Out: for each set of groups that is left out, the cost as a polynomial and what the
//! interpreter counts. `examples/ablation.rs` adds times and writes `docs/ablation.md`; `tests/suite/docs.rs` holds that page
//! against the program. After the ablation studies of 001 Figures 12 and 13.

use smoothc::cli::{args, values};
use smoothc::driver::{Options, Session};
use smoothc::explain::cost;
use smoothc::ir::eval::{Counts, eval};
use smoothc::mode::Mode;

/// An entry to measure.
pub struct Example {
    pub name: &'static str,
    pub path: &'static str,
    pub text: &'static str,
    pub entry: &'static str,
    /// Its arguments for a size, as JSON.
    pub arguments: fn(usize) -> Vec<String>,
    /// The sizes at which work is counted and time is taken, and how they are called.
    pub counted: usize,
    pub timed: usize,
    pub sizes: &'static str,
}

pub const EXAMPLES: [Example; 2] = [
    Example {
        name: "The gradient of non-negative matrix factorization",
        path: "examples/nnmf.smooth",
        text: include_str!("../../../examples/nnmf.smooth"),
        entry: "gradientU",
        arguments: nnmf,
        counted: 30,
        timed: 200,
        sizes: "m = n",
    },
    Example {
        name: "The Jacobian of the camera",
        path: "examples/project.smooth",
        text: include_str!("../../../examples/project.smooth"),
        entry: "jacobianAll",
        arguments: camera,
        counted: 10,
        timed: 1000,
        sizes: "n",
    },
];

/// The groups of `--disable` that the study is about.
const GROUPS: [&str; 3] = ["fusion", "normalisation", "motion"];

/// One line of the table.
pub struct Row {
    pub left_out: Vec<String>,
    pub cost: String,
    pub counted: u64,
}

/// Every set of groups, the smaller ones first.
pub fn sets() -> Vec<Vec<String>> {
    let mut sets: Vec<Vec<String>> = (0..1usize << GROUPS.len())
        .map(|set| (0..GROUPS.len()).filter(|at| set >> at & 1 == 1).map(|at| GROUPS[at].to_string()).collect())
        .collect();
    sets.sort_by_key(Vec::len);
    sets
}

/// The example after a stage, without these groups.
pub fn compiled(example: &Example, left_out: &[String], stage: &str) -> Session {
    // the study is of forward mode: what the rules make of it
    let options = Options { mode: Mode::Forward, disabled: left_out.to_vec(), only: Some(example.entry.into()), ..Options::default() };
    let mut session = Session::new(example.path, example.text, options);
    session.run_to(stage, &mut |path, _| Err(format!("{path} is not needed"))).unwrap_or_else(|problems| panic!("{problems:?}"));
    session
}

/// The cost and the count of one set.
pub fn row(example: &Example, left_out: Vec<String>) -> Row {
    let session = compiled(example, &left_out, "rewrite");
    let function = session.entry(example.entry).expect("an entry");
    let arguments = args::read(function, &(example.arguments)(example.counted)).expect("arguments");
    let inputs = arguments.values.iter().map(values::from_flat).collect();
    let outcome = eval(&session.program, example.entry, inputs).expect("a value");
    let Counts { arithmetic, comparisons, reads, writes } = outcome.trace.counts;
    let cost = cost::of_entry(&session.program, example.entry).short();
    Row { left_out, cost, counted: arithmetic + comparisons + reads + writes }
}

/// The first cells of a row, as they stand in the page.
pub fn cells(row: &Row) -> String {
    let left_out = if row.left_out.is_empty() { "nothing".into() } else { row.left_out.join(", ") };
    format!("| {left_out} | {} | {} |", row.cost, row.counted)
}

pub fn numbers(count: usize, f: impl Fn(usize) -> f64) -> String {
    format!("[{}]", (0..count).map(|i| format!("{:?}", f(i))).collect::<Vec<_>>().join(","))
}

pub fn nnmf(n: usize) -> Vec<String> {
    let rows: Vec<String> = (0..n).map(|i| numbers(n, |j| 1.0 + ((i * 7 + j * 3) % 11) as f64)).collect();
    vec![format!("[{}]", rows.join(",")), numbers(n, |i| 0.5 + (i % 5) as f64), numbers(n, |j| 1.0 + (j % 3) as f64)]
}

pub fn camera(n: usize) -> Vec<String> {
    let camera = "[0.1, 0.2, -0.3, 0.5, -0.5, 1.0, 2.0, 10.0, 20.0, 0.01, -0.002]".to_string();
    let points: Vec<String> = (0..n).map(|i| numbers(3, |j| 2.0 + ((i * 5 + j * 3) % 7) as f64)).collect();
    vec![camera, format!("[{}]", points.join(","))]
}
