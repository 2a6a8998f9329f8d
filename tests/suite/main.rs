//! The integration tests. They are one crate, since each crate of tests is linked by itself.
//!
//! A file of this folder has the tests of one subject and begins with what they hold. The list below names each file: a test
//! holds that it does. The name of a file, or of a test in it, says what runs:
//!
//!     cargo test --test suite work::
//!     cargo test --test suite work::the_table_of_costs_is_true
//!
//! A test runs if its name has these words anywhere: `work::` is in the names of `lsp_work` too.
//!
//! `support` has what several files use, `generator` makes random programs. What tests read, such as programs, loops and snapshots, is in
//! the other folders of `tests/`.
//!
//! All tests run in one process, two or more at a time. A test must not change what belongs to the whole process, such as its environment
//! or its working folder. A test that cannot do without is run again in a process of its own (`support/apart.rs`).

mod generator;
mod support;

mod bench;
mod blocks;
mod budget;
mod build_script;
mod bundle_adjustment;
mod ceres;
mod chains;
mod checks;
mod choices;
mod cli;
mod cli_page;
mod cmake;
mod compilers;
mod conventions;
mod counted;
mod cpp;
mod derivations;
mod docs;
mod dual_numbers;
mod editors;
mod elsewhere;
mod emitted;
mod errors;
mod examples;
mod explain;
mod extremes;
mod fmt;
mod fold_sizes;
mod futhark;
mod gradcheck;
mod halves;
mod hostile;
mod indices;
mod law;
mod linear;
mod loop_files;
mod loop_meaning;
mod loop_passes;
mod loop_text;
mod lsp;
mod lsp_places;
mod lsp_work;
mod messages;
mod normal_equations;
mod operators;
mod outputs;
mod pages;
mod parallel;
mod partial;
mod peel;
mod plan;
mod properties;
mod python;
mod readme;
mod real;
mod recursion;
mod regressions;
mod release;
mod reverse;
mod rewrite;
mod rooms;
mod rows;
mod scatter;
mod size;
mod solvers;
mod sparse;
mod sums;
mod syntax_linear;
mod table1;
mod trees;
mod types;
mod vectors;
mod wheel;
mod window;
mod witnesses;
mod work;
mod workspace;

#[test]
fn the_list_names_each_file() {
    let listed: Vec<&str> = include_str!("main.rs").lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite")).expect("the folder of this file") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(name == "main" || listed.contains(&name), "tests/suite/main.rs lists no `mod {name};`");
    }
}
