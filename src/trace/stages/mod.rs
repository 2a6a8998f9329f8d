//! `explain FILE ENTRY --dual-numbers`: the chain of 004 from dual numbers with backpropagators to a tape, on one function.
//!
//! In: a function, and the interpreter's record of a run of it. Out: for each stage what a Double is, the function with its
//! Doubles replaced, and what going back costs, counted as `eval --count` counts. [`text`] writes the functions, [`run`] goes back over the
//! record in each stage's way.
//!
//!     let f (x: Double) = sin (x * x)
//!     1. let (t1, t1') = (x * x, fun z -> x' (x * z) + x' (x * z)) …     at 2.0, back: {"arithmetic": 9, …}
//!     6. let (t1, t1') = (x * x, tape [(x', x), (x', x)]) …              at 2.0, back: {"arithmetic": 6, …}

mod run;
mod slopes;
mod text;

pub use run::Straight;

use crate::diagnostic::Diagnostic;
use crate::ir::Function;
use crate::ir::eval::{Counts, Record};

/// One of the paper's optimisations, each on top of those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Dual numbers with backpropagators.
    Backpropagators,
    /// Calls of backpropagators are delayed, and resolved from the last to the first.
    Staging,
    /// Delayed calls of one backpropagator are one call with the sum of their arguments.
    Factoring,
    /// What collects is passed through functions instead of being added up; scalars are in a map.
    Cayley,
    /// The maps are arrays that are changed in place.
    Arrays,
    /// A backpropagator is the list of its contributions.
    Tape,
}

/// What is said of a stage.
struct Row {
    stage: Stage,
    title: &'static str,
    /// The place in 004.
    source: &'static str,
    /// What a Double becomes.
    double: &'static str,
    notes: &'static str,
    /// The time to go back, T operations and I Doubles of input.
    time: &'static str,
}

const ROWS: [Row; 6] = [
    Row {
        stage: Stage::Backpropagators,
        title: "dual numbers with backpropagators",
        source: "004 Fig. 6, D1",
        double: "Double * (Double -o c)",
        notes: "c is a cotangent of the whole input: zero and + go over all of it; a number that is used twice is called twice",
        time: "exponential in the depth of sharing",
    },
    Row {
        stage: Stage::Staging,
        title: "staged calls",
        source: "004 Sec. 4",
        double: "Double * (Id * (Double -o Staged c))    Staged c = c * Map Id (list of Double)",
        notes: "SCall d a is (zero, {d: [a]}); the largest id is called first, once for each of its arguments",
        time: "exponential in the depth of sharing",
    },
    Row {
        stage: Stage::Factoring,
        title: "linear factoring",
        source: "004 Fig. 8, D2",
        double: "Double * (Id * (Double -o Staged c))    Staged c = c * Map Id Double",
        notes: "d a + d b = d (a + b): + adds the arguments of one id, and each is called at most once",
        time: "O((T + I) I): zero and + on c",
    },
    Row {
        stage: Stage::Cayley,
        title: "Cayley transformation",
        source: "004 Fig. 9 and Sec. 6, D3",
        double: "Double * (Id * (Double -o (Staged -> Staged)))    Staged = Map Id Double * Map Id Double",
        notes: "+ is composition and zero is id; the input's cotangents are in a map too",
        time: "O((T + I) log (T + I)): the maps",
    },
    Row {
        stage: Stage::Arrays,
        title: "one mutable array of contributions",
        source: "004 Fig. 12 and Sec. 8.1, D4",
        double: "Double * (Id * (Double -o (Array -> Array)))",
        notes: "ids count from 0, so both maps are one array, changed in place; all ids are resolved, 0 too",
        time: "O(T + I)",
    },
    Row {
        stage: Stage::Tape,
        title: "a tape",
        source: "004 Sec. 8.2, 8.3",
        double: "Double * Id    the tape has for each id the ids of the operands with the slopes",
        notes: "backpropagators are data; `eval --reverse dual-numbers` is this stage",
        time: "O(T + I)",
    },
];

impl Stage {
    pub const ALL: [Stage; 6] = [Stage::Backpropagators, Stage::Staging, Stage::Factoring, Stage::Cayley, Stage::Arrays, Stage::Tape];
}

/// A run, to say what each stage costs.
pub struct Run<'r> {
    pub record: &'r Record,
    /// Of the function alone, where the record is not of a derivative.
    pub forward: Option<Counts>,
}

/// All stages of a function, with what they cost where there is a run.
pub fn explain(functions: &[&Function], run: Option<&Run>) -> Result<String, Diagnostic> {
    let straight = run.map(|run| Straight::of(run.record)).transpose()?;
    let mut page = String::new();
    for (at, row) in ROWS.iter().enumerate() {
        page += &format!("{}. {} ({})\n", at + 1, row.title, row.source);
        page += &format!("   Double becomes {}\n   {}\n   time to go back: {}\n\n", row.double, row.notes, row.time);
        for function in functions {
            page += &text::function(row.stage, function)?;
            page += "\n";
        }
        if let Some(straight) = &straight {
            page += &match straight.back(row.stage) {
                Some((_, counts)) => format!("   back: {}\n\n", json(&counts)),
                None => format!("   back: more than {} operations\n\n", run::MOST),
            };
        }
    }
    if let Some(forward) = run.and_then(|run| run.forward.as_ref()) {
        page += &format!("the function itself: {}\n", json(forward));
    }
    Ok(page)
}

/// As `eval --count` prints it.
pub fn json(counts: &Counts) -> String {
    format!(
        "{{\"arithmetic\": {}, \"comparisons\": {}, \"reads\": {}, \"writes\": {}}}",
        counts.arithmetic, counts.comparisons, counts.reads, counts.writes
    )
}
