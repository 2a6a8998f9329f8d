//! The parser takes a number of steps linear in the depth of the text: counted, not timed.
//!
//! pest counts its calls against a limit that is global to the process, so this file has one test only.

#[path = "../src/syntax/tests/forms.rs"]
mod forms;

use std::num::NonZeroUsize;

use forms::FORMS;
use smoothc::stack::with_large_stack;
use smoothc::syntax::parse;

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
    for (before, after) in FORMS {
        let [half, full] = [100, 200].map(|n| {
            let text = format!("let f =\n  {}x{}\n", before.repeat(n), after.repeat(n));
            with_large_stack(|| calls(&text))
        });
        assert!(full < 1 << 20, "{before}…{after} does not parse");
        assert!(full < 2 * half + half / 4 + 500, "{before}…{after}: {half} calls, then {full}");
    }
}
