//! The blocks in `sh` of the pages: each is run, here or by the test that is named, or it is said why not.
//!
//! What prints the same each time is a `console` block, which `tests/suite/readme.rs` runs.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::blocks;
use crate::support::tools::{exists, skipped, succeeds};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

enum How {
    /// In a folder with the examples, where these are there.
    Here(&'static [Need]),
    /// By this file.
    By(&'static str),
    /// It is not run, and this is why.
    Not(&'static str),
}
use How::{By, Here, Not};

#[derive(Clone, Copy)]
enum Need {
    OpenMp,
    Futhark,
}

const CARGO: &str = "cargo inside of cargo";

/// A page, how the block begins, and how it is run.
const BLOCKS: [(&str, &str, How); 17] = [
    ("README.md", "cargo test --locked", Not(CARGO)),
    ("README.md", "cargo install --locked --path .", Not("installs on the machine")),
    ("docs/adding-a-pass.md", "UPDATE_LOOPS=1 cargo test --test suite loop_files::", Not(CARGO)),
    ("docs/adding-a-pass.md", "cargo test --test suite loop_meaning::", Not(CARGO)),
    ("docs/builds.md", "tar xzf smoothc-", By("tests/suite/cmake.rs")),
    ("docs/builds.md", "cmake -S examples/ceres", By("tests/suite/ceres.rs")),
    ("docs/c.md", "smoothc build --parallel", Here(&[Need::OpenMp])),
    ("docs/cli.md", "smoothc gradcheck", Here(&[])),
    ("docs/cli.md", "smoothc completions bash", Not("writes into /etc, and ends in a pager")),
    ("docs/editors.md", "cd editors/vscode", Not("loads packages, and needs VS Code")),
    ("docs/editors.md", blocks::NEOVIM, By("tests/suite/editors.rs")),
    ("docs/editors.md", blocks::HELIX, By("tests/suite/editors.rs")),
    ("docs/futhark.md", "smoothc run --target futhark", Here(&[Need::Futhark])),
    ("docs/pictures.md", "python python/examples/plots.py", By("python/tests/test_pictures.py")),
    ("docs/python.md", "pip install .", Not("installs on the machine")),
    (
        "docs/python.md",
        "smoothc build circle.smooth --derive gradient:misfit --python circle --target futhark",
        By("python/tests/test_docs.py"),
    ),
    ("docs/reviewing.md", "cargo install cargo-insta", Not(CARGO)),
];

#[test]
fn every_block_is_run_or_says_why_not() {
    let mut pages = vec![PathBuf::from("README.md"), PathBuf::from("ARCHITECTURE.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).expect("a folder") {
            let path = folder.join(entry.expect("an entry").file_name());
            match path.extension() {
                Some(ending) if ending == "md" => pages.push(path),
                _ if Path::new(ROOT).join(&path).is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    let mut known = 0;
    for page in pages.iter().map(|page| page.to_str().expect("text")) {
        for block in blocks::shell(page) {
            let is_known = BLOCKS.iter().any(|(of, start, _)| *of == page && block.starts_with(start));
            assert!(is_known, "{page}: is this block run, and where?\n{block}");
            known += 1;
        }
    }
    assert_eq!(known, BLOCKS.len(), "a block went");
    for (page, start, how) in &BLOCKS {
        match how {
            Here(needs) => run(page, start, needs),
            By(file) => assert!(Path::new(ROOT).join(file).exists(), "{page}: no {file}"),
            Not(why) => println!("not run: {page}, `{start}`: {why}"),
        }
    }
}

fn is_there(need: Need, folder: &Path) -> bool {
    match need {
        Need::OpenMp => {
            fs::write(folder.join("omp.c"), "#include <omp.h>\nint main(void) { return omp_get_max_threads() == 0; }\n").expect("writes");
            succeeds(Command::new("cc").current_dir(folder).args(["-fopenmp", "-o", "omp", "omp.c"])).is_ok()
        }
        Need::Futhark => exists(&std::env::var("FUTHARK").unwrap_or_else(|_| "futhark".into())),
    }
}

fn run(page: &str, start: &str, needs: &[Need]) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    if !needs.iter().all(|need| is_there(*need, folder)) {
        skipped(&format!("{page}, `{start}`: a compiler is not here"));
        return;
    }
    fs::create_dir(folder.join("examples")).expect("a folder");
    for name in ["circle.smooth", "bundle_adjustment.smooth"] {
        fs::copy(format!("{ROOT}/examples/{name}"), folder.join("examples").join(name)).expect("copies");
        fs::copy(format!("{ROOT}/examples/{name}"), folder.join(name)).expect("copies");
    }
    // what the reader has: points, and C to hold against
    let own = "smoothc emit circle.smooth -o mine.c && smoothc eval -e '[[2.0, 0.0], [0.0, 3.0]]' -o points.npy";
    for block in [own, &blocks::beginning(page, start)] {
        succeeds(&mut blocks::command(block, folder)).unwrap_or_else(|why| panic!("{page}: {why}"));
    }
}
