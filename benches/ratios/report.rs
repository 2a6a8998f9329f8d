//! The measured rows as text: one line each on the terminal, and the page `docs/benchmarks.md`.
//!
//! In: [`Row`]s and [`Sizes`]. Out: text. The bandwidth of a side is what the derivative must move divided by the side's time;
//! the share is that of the memory's bandwidth that the hand-written version reaches, which is what says whether it is a worthy
//! opponent. A ratio is the median over the rounds of emitted time / hand-written time in the same round.

use std::fmt::Write;
use std::time::Duration;

use crate::compiled::TOLERANCE;
use crate::machine;
use crate::timing::{PAIRS, Times, median};

/// The goal for every ratio.
pub const GOAL: f64 = 1.15;

/// Why a workload may stay above the goal, by its name: what the hand-written version does that the emitted one does not.
/// Instructions are those on vectors of eight Doubles that gcc 12 makes for AVX-512, for eight observations.
const REASONS: &[(&str, &str)] = &[(
    "bundle adjustment",
    "169 instructions for eight observations against 164 by hand, and choices beside them: the emitted version evaluates both \
         branches, with and without rotation, and chooses between them for 21 numbers, where the hand-written one has formulas \
         that hold for both.",
)];

/// One workload at one size.
pub struct Row {
    pub name: &'static str,
    pub size: String,
    /// The share of the limit that the hand-written version is expected to reach, to nine tenths.
    pub limit: f64,
    pub moved: usize,
    pub difference: f64,
    pub times: Times,
}

/// What the emitted C of a workload costs to make and to keep.
pub struct Sizes {
    pub name: &'static str,
    pub lines: usize,
    pub object: u64,
    pub smoothc: Duration,
    pub compiler: Duration,
}

impl Row {
    /// The median ratio and its interval.
    pub fn ratio(&self) -> (f64, [f64; 2]) {
        median(self.times.emitted.iter().zip(&self.times.hand).map(|(emitted, hand)| emitted / hand))
    }

    /// Of the copy loop's bandwidth, or of the fill loop's where the result is only written.
    fn share(&self) -> f64 {
        let limit = self.times.fill.as_ref().unwrap_or(&self.times.copy);
        median(limit.iter().zip(&self.times.hand).map(|(limit, hand)| limit / hand)).0
    }

    fn fill_bandwidth(&self) -> String {
        self.times.fill.as_ref().map(|fill| format!("{:.1}", self.bandwidth(fill))).unwrap_or_default()
    }

    /// Gigabytes a second that must move.
    fn bandwidth(&self, seconds: &[f64]) -> f64 {
        self.moved as f64 / median(seconds.iter().copied()).0 / 1e9
    }

    pub fn line(&self) -> String {
        let (ratio, [low, high]) = self.ratio();
        format!(
            "{:<26} {:>13}  ratio {ratio:>6.2} [{low:.2}, {high:.2}]  emitted {:>9}  hand {:>9}  {:>5.1} of {:>5.1} GB/s  share {:.2} (wanted {:.2})",
            self.name,
            self.size,
            seconds(&self.times.emitted),
            seconds(&self.times.hand),
            self.bandwidth(&self.times.hand),
            self.bandwidth(&self.times.copy),
            self.share(),
            0.9 * self.limit,
        )
    }
}

/// The page.
pub fn page(rows: &[Row], sizes: &[Sizes]) -> String {
    let mut page = String::new();
    let met = rows.iter().filter(|row| row.ratio().0 <= GOAL).count();
    let worst = rows.iter().map(|row| row.difference).fold(0.0, f64::max);
    let _ = write!(
        page,
        "# Emitted C against C written by hand\n\n\
         Made by `cargo bench --bench ratios`. For each derivative `benches/` has an F-smooth program and a C version by hand, with the\n\
         algebra and the loops of someone who cares for speed. Both are compiled with the flags of `smoothc run`, loaded into one\n\
         process and timed in turns on one core, {PAIRS} rounds each, on the same memory. The ratio is emitted time / hand-written time:\n\
         the median of the rounds, and the interval that holds it with 95 % (order statistics). The goal is {GOAL}; {met} of {} rows\n\
         meet it. The results of both versions agree: the largest |a - b| / max(1, |a|, |b|) is {worst:.0e}, and more than {TOLERANCE:.0e}\n\
         would have stopped the run. Processor: {}.\n\n\
         ![ratios](benchmarks.svg)\n\n\
         GB/s are the bytes that the derivative must move (each number that it needs once, each of its result once) over the time.\n\
         Copy is a copy loop that moves as many bytes, read and written, in the same rounds; fill is a loop that only writes them, for\n\
         results that need next to nothing read. The share is that of copy, or of fill where it stands, that the hand-written version\n\
         reaches, and beside it is what is expected of it. What is only read can go faster than the copy.\n\n\
         | workload | size | ratio | 95 % | emitted | by hand | emitted GB/s | by hand GB/s | copy GB/s | fill GB/s | share | expected |\n\
         | --- | --: | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n",
        rows.len(),
        machine::described()
    );
    for row in rows {
        let (ratio, [low, high]) = row.ratio();
        let _ = writeln!(
            page,
            "| {} | {} | {ratio:.2} | {low:.2} … {high:.2} | {} | {} | {:.1} | {:.1} | {:.1} | {} | {:.2} | {:.2} |",
            row.name,
            row.size,
            seconds(&row.times.emitted),
            seconds(&row.times.hand),
            row.bandwidth(&row.times.emitted),
            row.bandwidth(&row.times.hand),
            row.bandwidth(&row.times.copy),
            row.fill_bandwidth(),
            row.share(),
            0.9 * row.limit,
        );
    }
    let above = |name: &str| rows.iter().any(|row| row.name == name && row.ratio().0 > GOAL);
    for (name, reason) in REASONS.iter().filter(|(name, _)| above(name)) {
        let _ = writeln!(page, "\nAbove the goal, {name}: {reason}");
    }
    page.push_str(
        "\nWhat the emitted file of each workload costs: its lines, the bytes of its object, smoothc's time for it (all stages; the\n\
         benchmark's build of smoothc is not the release build) and the C compiler's.\n\n\
         | workload | lines of C | object bytes | smoothc | C compiler |\n| --- | --: | --: | --: | --: |\n",
    );
    for row in sizes {
        let [smoothc, compiler] = [row.smoothc, row.compiler].map(|time| time.as_secs_f64() * 1e3);
        let _ = writeln!(page, "| {} | {} | {} | {smoothc:.0} ms | {compiler:.0} ms |", row.name, row.lines, row.object);
    }
    page
}

/// The median, in the unit that suits it.
pub fn seconds(values: &[f64]) -> String {
    let (time, _) = median(values.iter().copied());
    match time {
        time if time < 1e-6 => format!("{:.0} ns", time * 1e9),
        time if time < 1e-3 => format!("{:.2} µs", time * 1e6),
        time => format!("{:.2} ms", time * 1e3),
    }
}
