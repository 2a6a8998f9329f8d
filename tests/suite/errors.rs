//! Every `examples/errors/*.smooth` is a test: what the compiler says about the file is kept in `snapshots/errors`.
//!
//! A file is named after the code that it shows, `E0202_unknown_name.smooth`; its head needs no comment. Every code that a
//! program can cause has a file, or a reason why not in `ELSEWHERE`. After a change that is meant to change what is said:
//!
//!     INSTA_UPDATE=always cargo test --test suite errors::

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use smoothc::cli::pages;
use smoothc::driver::{Options, Session};

use crate::support::{snapshot, sources};

/// Codes 00 to 06 that no program by itself causes, and where they are tested.
const ELSEWHERE: &[(&str, &str)] = &[
    ("E0001", "a file that cannot be read: tests/suite/cli.rs"),
    ("E0002", "a file that is not UTF-8: tests/suite/cli.rs"),
    ("E0011", "an output that cannot be written: tests/suite/cli.rs"),
    ("E0012", "the ending of an output: tests/suite/outputs.rs"),
    ("E0014", "an output that was read: tests/suite/outputs.rs"),
    ("E0015", "more than a hundred errors: tests/suite/messages.rs"),
    ("W0016", "more than a hundred warnings: src/cli/mod.rs"),
    ("E0020", "`--deny-warnings`: tests/suite/messages.rs"),
    ("E0017", "an option without effect: tests/suite/cli.rs"),
    ("E0018", "`emit --check`: tests/suite/emitted.rs"),
    ("E0019", "`man` of an unknown command: tests/suite/bench.rs"),
    ("E0013", "`explain` of an unknown code: tests/suite/cli.rs"),
    ("E0109", "tens of thousands of brackets: src/syntax"),
    ("E0118", "laws of strategy files: src/rewrite"),
    ("E0119", "laws of strategy files: src/rewrite"),
    ("E0120", "strategy files: src/rewrite"),
    ("E0121", "strategy files: src/rewrite"),
    ("E0122", "strategy files: src/rewrite"),
    ("E0123", "strategy files: src/rewrite"),
    ("E0124", "strategy files: src/rewrite"),
    ("E0125", "strategy files: src/rewrite"),
    ("E0126", "strategy files: src/rewrite"),
    ("E0127", "strategy files: tests/suite/rewrite.rs"),
    ("E0128", "strategy files: tests/suite/rewrite.rs"),
    ("E0129", "strategy files: tests/suite/rewrite.rs"),
    ("E0130", "laws of strategy files: tests/suite/rewrite.rs"),
    ("W0208", "`rewrite` of an expression: tests/suite/rewrite.rs"),
    ("E0205", "`--entry` of an unknown name: src/types"),
    ("E0206", "`--entry` of what is none: src/types"),
    ("E0311", "a safety net behind E0301 and E0310"),
    ("E0504", "`--derive`: src/types"),
    ("E0506", "`rewrite` of an expression: tests/suite/rewrite.rs"),
    ("E0602", "a schedule without end: src/rewrite"),
    ("E0606", "recursion without a stack, in emission: tests/suite/recursion.rs"),
    ("E0708", "recursion deeper than its stack, in emitted C: tests/suite/recursion.rs"),
    ("E0607", "a value of a recursive type that an entry takes or gives, in emission: tests/suite/trees.rs"),
    ("W0605", "a schedule that fails: tests/suite/explain.rs"),
];

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/errors");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "smooth"));
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn every_error_is_drawn_as_in_the_snapshots() {
    smoothc::stack::with_large_stack(|| {
        for path in files() {
            let (name, text) = (name(&path), std::fs::read_to_string(&path).expect("UTF-8"));
            let code = name.split('_').next().unwrap_or_default();
            let mut session = Session::new(&format!("examples/errors/{name}.smooth"), &text, Options::default());
            let problems = match session.run_to("emit", &mut sources::open) {
                Ok(()) => session.warnings.clone(),
                Err(problems) => problems,
            };
            assert!(problems.iter().any(|problem| problem.code == code), "{name}: {code} is not among {problems:?}");
            let drawn = sources::drawn(&problems, &session);
            snapshot::holds("errors", &name, &drawn);
        }
    });
}

#[test]
fn every_error_of_a_program_says_where_and_what_to_do() {
    smoothc::stack::with_large_stack(|| {
        for path in files() {
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            let mut session = Session::new("errors.smooth", &text, Options::default());
            let problems = match session.run_to("emit", &mut sources::open) {
                Ok(()) => session.warnings,
                Err(problems) => problems,
            };
            for problem in problems {
                assert!(problem.help.is_some(), "{}: `{}` has no help", name(&path), problem.message);
                assert!(problem.message.starts_with(|first: char| !first.is_uppercase()) || problem.code == "E0302", "{}", problem.message);
            }
        }
    });
}

#[test]
fn every_code_that_a_program_can_cause_has_a_file() {
    let shown: BTreeSet<String> = files().iter().map(|path| name(path).split('_').next().unwrap_or_default().to_string()).collect();
    for page in pages::all() {
        let of_a_program = page.code[1..3].parse::<u32>().is_ok_and(|group| group <= 6);
        let elsewhere = ELSEWHERE.iter().any(|(code, _)| *code == page.code);
        if of_a_program {
            assert_ne!(shown.contains(page.code), elsewhere, "{}: wants a file in examples/errors, or a reason, not both", page.code);
        }
    }
}
