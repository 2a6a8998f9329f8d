//! Python in tests: an interpreter with NumPy, and the modules of `python/tests` with the command that cargo built.

use std::path::Path;
use std::process::Command;

use super::tools::skipped;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Runs a module of Python in a folder that is its cache and its working place; nothing where there is no NumPy.
pub fn run(module: &[&str], prepare: impl FnOnce(&Path)) {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        skipped(&format!("`{python}` has no NumPy; PYTHON may name one that has"));
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    prepare(folder.path());
    let output = Command::new(&python)
        .arg("-m")
        .args(module)
        .arg(folder.path())
        .current_dir(Path::new(ROOT).join("python"))
        .env("SMOOTHC", env!("CARGO_BIN_EXE_smoothc"))
        .env("SMOOTHC_CACHE", folder.path().join("cache"))
        .env("MYPY_CACHE_DIR", folder.path().join("mypy"))
        .env("PYTHONPATH", Path::new(ROOT).join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("runs");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{python} -m {}:\n{said}", module.join(" "));
    said.lines().filter_map(|line| line.strip_prefix("skipped: ")).for_each(skipped);
    println!("{said}");
}

/// A module of python/tests.
pub fn unit_tests(module: &str) {
    run(&["tests", module], |_| {});
}
