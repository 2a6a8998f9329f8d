//! The cells of `docs/passes.md`, written and read.
//!
//! In: what changes where something is left out, a [`Change`] for each program. Out: a cell that says how many programs are worse
//! and better, and which is the worst; and the way back from a cell to its worst program.
//!
//!     dot 120 to 372, norm 90 to 95, max 80 to 70   ↔   2 worse (dot 120 → 372), 1 better

/// A cell without a change.
pub const NOTHING: &str = "–";

/// What is written in the place of a count where there is no program.
const FAILS: &str = "none";

/// A count that changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// What the page calls the program or entry.
    pub label: String,
    pub with: u64,
    /// None where the program is refused.
    pub without: Option<u64>,
}

impl Change {
    /// By how much it is worse; a count of nothing is taken for one.
    fn ratio(&self) -> f64 {
        self.without.map_or(f64::INFINITY, |without| without.max(1) as f64 / self.with.max(1) as f64)
    }

    fn is_worse(&self) -> bool {
        self.without.is_none_or(|without| without > self.with)
    }
}

/// What a cell says.
pub fn cell(changes: &[Change]) -> String {
    let (mut worse, better): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.is_worse());
    worse.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()).then_with(|| a.cmp(b)));
    let mut parts = Vec::new();
    if let Some(Change { label, with, without }) = worse.first() {
        let without = without.map_or(FAILS.to_string(), |without| without.to_string());
        parts.push(format!("{} worse ({label} {with} → {without})", worse.len()));
    }
    if !better.is_empty() {
        parts.push(format!("{} better", better.len()));
    }
    if parts.is_empty() { NOTHING.into() } else { parts.join(", ") }
}

/// The worst program that a cell names.
pub fn worst(cell: &str) -> Option<Change> {
    let (_, rest) = cell.split_once(" worse (")?;
    let (inside, _) = rest.rsplit_once(')')?;
    let (before, without) = inside.rsplit_once(" → ")?;
    let (label, with) = before.rsplit_once(' ')?;
    Some(Change { label: label.into(), with: with.parse().ok()?, without: without.parse().ok() })
}

/// The rows of a page: the name in the first cell, and the other cells.
pub fn rows(page: &str) -> Vec<(String, Vec<String>)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    rows.map(|(name, cells)| (name.to_string(), cells.split(" | ").map(str::to_string).collect())).collect()
}

/// The path of a program that the page names.
pub fn path_of(label: &str) -> String {
    let program = label.split([':', ' ']).next().unwrap_or(label);
    if program.contains('/') { format!("{program}.smooth") } else { format!("tests/derivatives/{program}.smooth") }
}
