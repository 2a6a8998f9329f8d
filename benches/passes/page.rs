//! The text of `docs/passes.md`.
//!
//! In: what changes, by row and column. Out: three tables, with a row for each rule of `default`, each of its phases and each pass.
//!
//!     | `hoist` | 12 worse (camera 120 → 372) | … |

use std::collections::BTreeMap;

use crate::worth::{self, LeftOut};
use crate::worth_loops::{Work, optional_passes};
use crate::worth_page::{Change, cell};

/// What is left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    Rule(String),
    Phase(usize),
    Pass(String),
}

/// All changes, by row and column.
pub type Changes = BTreeMap<(Row, usize), Vec<Change>>;

impl Row {
    pub fn of(left_out: &LeftOut) -> Row {
        match left_out {
            LeftOut::Rule(name) => Row::Rule(name.clone()),
            LeftOut::Phase(number) => Row::Phase(*number),
            LeftOut::Nothing => unreachable!("nothing is no row"),
        }
    }
}

const HEAD: &str = "\
# What gets worse without each rule, phase and pass

Each row leaves out one thing and says in how many programs a count is then higher, or worse, and in how many lower, or better; in
brackets the program in which it is higher by the largest factor, with the count as it is and without the row. `none`: without it the program
is refused, as too large. `–`: no program changes. All numbers are counts, the same on every machine; [docs/benchmarks.md](benchmarks.md) has
the time of emitted C.

";

const RULES: &str = "
## Rules

Of the schedule `default`, each as with `--disable RULE`. The columns `forward` and `reverse` are those modes: operations on Doubles,
comparisons, reads and writes of each entry of the optimised program together, as `smoothc eval --count --schedule default` prints
them, at the largest size of `tests/derivatives` and at size 7 elsewhere; entries whose parameters are not made of Doubles alone are not
counted. `cheaper` is the lower of the two counts, with and without the rule: what `--mode auto` aims at. `nodes` is the size of
the optimised program, in forward and in reverse mode. A rule may be better left out in a
program where a later pass makes up for it, or where it trades work for memory. A rule without a change may make up for another one
that is left out, as `neg-neg` for `build-blocks` and `get-select` for `get-array`. `let-inline` is measured in short programs alone: long ones
take minutes without it.

";

const PHASES: &str = "
## Phases

Of the sequence `main` of `default`, in order, each left out once; the number tells phases of one name apart. Columns as above.

";

const PASSES: &str = "
## Passes over loops

Each as with `--disable PASS`, in the loop programs of forward and reverse mode; a statement in a loop counts as often as the loop
runs, 10 times where that is no literal. `one at a time` is operations on Doubles in loops that do not run in lanes; `lines` those of
`--dump loops`. A pass that trades one column for another shows as worse and better.

";

/// The whole page.
pub fn page(changes: &Changes, programs: usize) -> String {
    let intro = format!(
        "The programs are the {programs} of `tests/derivatives` (named without a folder, their entry `automatic`), `examples`, \
         `examples/papers` and `benches`.\n\nThis page is written by `cargo bench --bench passes`; a test holds its rows against the program and measures some again.\n"
    );
    let core = ["forward", "reverse", "cheaper", "nodes"];
    let rules = worth::default_rules().into_iter().map(|rule| (rule.name.to_string(), Row::Rule(rule.name.into())));
    let phases = worth::phases().into_iter().enumerate().map(|(number, name)| (name, Row::Phase(number)));
    let passes = optional_passes().map(|pass| (pass.name.to_string(), Row::Pass(pass.name.into())));
    [
        HEAD.to_string() + &intro,
        RULES.to_string() + &table("rule", &core, rules, changes),
        PHASES.to_string() + &table("phase", &core, phases, changes),
        PASSES.to_string() + &table("pass", &Work::COLUMNS, passes, changes),
    ]
    .concat()
}

fn table(first: &str, columns: &[&str], rows: impl Iterator<Item = (String, Row)>, changes: &Changes) -> String {
    let mut text = format!("| without the {first} | {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len() + 1));
    for (name, row) in rows {
        let cells = (0..columns.len()).map(|column| changes.get(&(row.clone(), column)).map_or_else(|| cell(&[]), |changes| cell(changes)));
        text += &format!("| `{name}` | {} |\n", cells.collect::<Vec<_>>().join(" | "));
    }
    text
}
