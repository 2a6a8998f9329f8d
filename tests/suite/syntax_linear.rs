//! The parser takes a number of steps linear in the depth of the text: counted, not timed.
//!
//! pest counts its calls against a limit that is global to the process, so the test runs again in a process of its own.

#[path = "../../src/syntax/tests/forms.rs"]
mod forms;

use std::num::NonZeroUsize;

use smoothc::stack::with_large_stack;
use smoothc::syntax::parse;

use crate::support::apart;
use crate::support::tools::succeeds;
use forms::FORMS;

/// Is set in the process that has this test alone.
const APART: &str = "SMOOTHC_STEPS_APART";

/// The smallest call limit, to 64, under which a text parses.
fn calls(text: &str) -> usize {
    let (mut low, mut high) = (0, 1 << 20);
    while high - low > 64 {
        let middle = (low + high) / 2;
        pest::set_call_limit(NonZeroUsize::new(middle));
        if parse(text, 0).is_ok() {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[test]
fn twice_the_depth_takes_twice_the_steps() {
    if std::env::var_os(APART).is_none() {
        let mut command = apart::command(module_path!(), "twice_the_depth_takes_twice_the_steps");
        let said = succeeds(command.env(APART, "1")).unwrap_or_else(|problem| panic!("{problem}"));
        assert!(said.contains("1 passed"), "{said}");
        return;
    }
    for (before, after) in FORMS {
        let [half, full] = [100, 200].map(|n| {
            let text = format!("let f =\n  {}x{}\n", before.repeat(n), after.repeat(n));
            with_large_stack(|| calls(&text))
        });
        assert!(full < 1 << 20, "{before}…{after} does not parse");
        assert!(full < 2 * half + half / 4 + 500, "{before}…{after}: {half} calls, then {full}");
    }
}
