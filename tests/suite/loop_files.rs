//! One pass over loops at a time, text in, text out: the files of `tests/loops/PASS/`.
//!
//! A file has comments that say what it shows, a loop program, a line `===`, and the program that the pass makes of it. A comment
//! `// options: parallel, eager, strict-fp, f32, no-algebra` tells the pass what it may do. A file without the second part, or with
//! another one, gets what the pass makes with `UPDATE_LOOPS=1 cargo test --test suite loop_files::`, to be read in the diff.

use std::fs;
use std::path::{Path, PathBuf};

use smoothc::loops::{self, LOOP_PASSES, LoopPass, parse, print, verify};
use smoothc::real::Real;

const LINE: &str = "\n===\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loops")
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// What a file's comments tell the pass.
fn options(text: &str) -> loops::Options {
    let mut options = loops::Options { algebra: true, ..loops::Options::default() };
    let words = text.lines().filter_map(|line| line.strip_prefix("// options: "));
    for word in words.flat_map(|line| line.split(", ")) {
        match word {
            "parallel" => options.parallel = true,
            "eager" => options.eager = true,
            "strict-fp" => options.strict_fp = true,
            "no-algebra" => options.algebra = false,
            "f32" => options.real = Real::F32,
            other => panic!("there is no option `{other}`"),
        }
    }
    options
}

/// The text of a program without comments, as it is printed.
fn check(pass: &LoopPass, path: &Path, failures: &mut Vec<String>) {
    let name = path.strip_prefix(root()).expect("in the folder").display();
    let text = fs::read_to_string(path).expect("is text");
    let (given, wanted) = text.split_once(LINE).unwrap_or((&text, ""));
    let comments: Vec<&str> = given.lines().take_while(|line| line.starts_with("//") && !line.starts_with("///")).collect();
    assert!(!comments.is_empty(), "{name} does not say what it shows");
    let program = parse::program(given).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    for (at, function) in program.functions.iter().enumerate() {
        verify::function(function, &program.functions[..at]).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
    let before = print::program(&program);
    let made = pass.run_alone(program, &options(given)).unwrap_or_else(|problem| panic!("{name}: {}", problem.message));
    let found = print::program(&made);
    let whole = format!("{}\n\n{before}===\n\n{found}", comments.join("\n"));
    if whole == text {
        return;
    }
    if std::env::var_os("UPDATE_LOOPS").is_some() {
        fs::write(path, whole).expect("is written");
        return;
    }
    failures.push(format!("{name}, wanted:\n{wanted}\nfound:\n\n{found}"));
}

#[test]
fn passes_make_what_their_files_say() {
    let mut failures = Vec::new();
    for pass in LOOP_PASSES {
        let files = listed(&root().join(pass.name));
        assert!(files.len() >= 2, "{}: {} files", pass.name, files.len());
        files.iter().for_each(|path| check(pass, path, &mut failures));
    }
    assert!(failures.is_empty(), "{}\nUPDATE_LOOPS=1 writes what is found", failures.join("\n"));
}

/// A folder is named after a pass.
#[test]
fn folders_are_passes() {
    for folder in listed(&root()) {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("is text");
        assert!(loops::named(name).is_some(), "tests/loops/{name}: there is no such pass");
    }
}
