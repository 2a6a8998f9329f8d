//! The Python package: its own tests, generated programs, and the blocks of docs/python.md and docs/clusters.md, with the command that
//! cargo built.
//!
//! `PYTHON` names an interpreter with NumPy, `python3` where it does not; without one the tests say so and do nothing. Where mypy and
//! SciPy are installed they are used too, and Dask, matplotlib and a Futhark compiler.

use smoothc::driver::{Options, Session};

use crate::generator::{grow, words};
use crate::support::python::{run, unit_tests};

#[test]
fn examples_agree_with_the_interpreter_from_python() {
    unit_tests("tests.test_examples");
}

#[test]
fn arguments_of_every_form_are_taken_or_refused_from_python() {
    unit_tests("tests.test_calls");
}

#[test]
fn the_cache_keeps_what_is_current() {
    unit_tests("tests.test_cache");
}

#[test]
fn packages_need_no_compiler() {
    unit_tests("tests.test_package");
}

#[test]
fn the_python_pages_are_true() {
    unit_tests("tests.test_docs");
}

#[test]
fn scipy_adjusts_bundles() {
    unit_tests("tests.test_scipy");
}

#[test]
fn futhark_gives_what_c_gives_from_python() {
    unit_tests("tests.test_futhark");
}

#[test]
fn dask_sums_over_rows() {
    unit_tests("tests.test_dask");
}

#[test]
fn comparisons_with_jax_and_casadi_run() {
    unit_tests("tests.test_comparisons");
}

#[test]
fn the_pictures_of_fits_are_what_the_script_draws() {
    unit_tests("tests.test_pictures");
}

/// So many programs, this many to a file.
const PROGRAMS: u64 = 48;
const BATCH: u64 = 12;

#[test]
fn generated_programs_agree_with_the_interpreter_from_python() {
    run(&["tests.generated"], |folder| {
        let mut cases = serde_json::Map::new();
        for first in (0..PROGRAMS).step_by(BATCH as usize) {
            let (mut text, mut calls) = (String::new(), Vec::new());
            for seed in first..first + BATCH {
                let program = grow::program(seed, &format!("f{}", seed - first), false).text();
                calls.extend(
                    smoothc::stack::with_large_stack(|| cases_of(&program))
                        .inspect(|_| text += &format!("{program}\n"))
                        .unwrap_or_default(),
                );
            }
            let name = format!("p{first}.smooth");
            std::fs::write(folder.join(&name), text).expect("writes");
            cases.insert(name, calls.into());
        }
        std::fs::write(folder.join("cases.json"), serde_json::Value::from(cases).to_string()).expect("writes");
    });
}

/// The entries of a program with arguments of several lengths; nothing where C does not support it.
fn cases_of(text: &str) -> Option<Vec<serde_json::Value>> {
    let mut session = Session::new("p.smooth", text, Options::default());
    session.run_to("emit", &mut |_, _| Err(String::new())).ok()?;
    let entries = session.program.functions.values().filter(|function| function.is_entry);
    let calls = entries.flat_map(|function| [0, 1, 3].map(|n| serde_json::json!([&*function.name, words::arguments(function, n)])));
    Some(calls.collect())
}
