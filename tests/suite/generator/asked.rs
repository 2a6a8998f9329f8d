//! What the environment asks of a random test, and saying so past the test harness, which keeps what passing tests print.
//!
//!     SMOOTHC_CASES=100000 SMOOTHC_SEED=7 cargo test --test suite properties::

use std::io::Write;

/// A number in the environment; what is no number is not silently the default.
pub fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// The seeds of a test's programs: `SMOOTHC_CASES` or so many, from `SMOOTHC_SEED` or 0 on.
pub fn seeds(count: usize) -> Vec<usize> {
    let setting = |name, default| number(name).map_or(default, |number| number as usize);
    let first = setting("SMOOTHC_SEED", 0);
    (first..first + setting("SMOOTHC_CASES", count)).collect()
}

/// Prints a line to standard error, also where the test passes.
pub fn say(line: &str) {
    // nobody is there to read it: no reason to fail
    let _ = writeln!(std::io::stderr(), "{line}");
}
