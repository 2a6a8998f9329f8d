//! What the documents say is true: README.md, `docs/`, ARCHITECTURE.md and the heads of the source files.
//!
//! A fenced block of README.md or of a page in `docs/` with a file name after its language is that file, and in a folder with these
//! files and `examples/` (a block of a file in `src/` or `tests/` is a part of it) every command of a `console` block runs, with `smoothc`
//! (or `cargo run --release --`) as the command under test; what it prints is what the README shows after it. A block `c ENTRY of FILE` is
//! the C of one entry, `futhark ENTRY of FILE` its Futhark. Blocks in `sh` are the business of `tests/suite/blocks.rs`. `UPDATE_README=1
//! cargo test --test suite readme::` writes what is true into the pages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::files::read;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const SMOOTHC: &str = env!("CARGO_BIN_EXE_smoothc");

/// A part of a document: text as it stands, or a fenced block with the words after its fence.
enum Part {
    Text(String),
    Block { info: String, body: String },
}

fn parts(document: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut block: Option<(String, String)> = None;
    for line in document.split_inclusive('\n') {
        match (&mut block, line.strip_prefix("```")) {
            (None, None) => match parts.last_mut() {
                Some(Part::Text(text)) => text.push_str(line),
                Some(Part::Block { .. }) | None => parts.push(Part::Text(line.into())),
            },
            (None, Some(info)) => block = Some((info.trim().into(), String::new())),
            (Some((_, body)), None) => body.push_str(line),
            (Some(_), Some(_)) => {
                let (info, body) = block.take().expect("open");
                parts.push(Part::Block { info, body });
            }
        }
    }
    assert!(block.is_none(), "a block is not closed");
    parts
}

/// The folder that commands run in.
fn folder(parts: &[Part]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = folder.path().join("bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    std::fs::copy(SMOOTHC, bin.join("smoothc")).expect("copies");
    std::fs::create_dir_all(folder.path().join("examples")).expect("a folder");
    for path in files("examples", "smooth") {
        let to = folder.path().join(path.strip_prefix(ROOT).expect("inside"));
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        std::fs::copy(&path, to).expect("copies");
    }
    for name in ["default.strategy", "paper.strategy"] {
        std::fs::copy(Path::new(ROOT).join("src/rewrite/schedules").join(name), folder.path().join(name)).expect("copies");
    }
    for part in parts {
        let Part::Block { info, body } = part else { continue };
        let Some((_, name)) = info.split_once(' ') else { continue };
        if name.contains(" of ") {
            continue;
        }
        if name.starts_with("examples/") {
            assert!(read(name).ends_with(body.as_str()), "{name} and the README differ");
        } else if name.starts_with("src/") || name.starts_with("tests/") {
            assert!(read(name).contains(body.as_str()), "{name} does not have what is quoted of it");
        } else {
            std::fs::write(folder.path().join(name), body).expect("writes");
        }
    }
    folder
}

/// What a command prints, errors included.
fn output(folder: &Path, command: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let script = format!("exec 2>&1; {}", command.replace("cargo run --release --", "smoothc"));
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("runs");
    String::from_utf8(output.stdout).expect("text")
}

/// The definition of one entry with its comment.
fn definition(folder: &Path, entry: &str, file: &str) -> String {
    let c = output(folder, &format!("smoothc emit {file}"));
    // prototypes come first
    let start = c.rfind(&format!("\nsmooth_status {entry}(")).unwrap_or_else(|| panic!("no {entry} in\n{c}"));
    let comment = c.get(..start).and_then(|before| before.rfind("/*")).unwrap_or(start);
    let end = c.get(start..).and_then(|rest| rest.find("\n}\n")).expect("an end");
    c.get(comment..start + end + 3).expect("a definition").into()
}

/// The Futhark of one entry with its comment.
fn futhark_definition(folder: &Path, entry: &str, file: &str) -> String {
    let text = output(folder, &format!("smoothc emit --target futhark {file}"));
    let definition = text.split("\n\n").find(|part| part.lines().any(|line| line.starts_with(&format!("entry {entry} "))));
    format!("{}\n", definition.unwrap_or_else(|| panic!("no {entry} in\n{text}")).trim_end())
}

/// The document with its blocks as they are in truth.
fn truth(document: &str) -> String {
    let parts = parts(document);
    let folder = folder(&parts);
    let mut out = String::new();
    for part in &parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Block { info, body } => {
                let body = match info.split_once(' ').and_then(|(_, what)| what.split_once(" of ")) {
                    Some((entry, file)) if info.starts_with("futhark ") => futhark_definition(folder.path(), entry, file),
                    Some((entry, file)) => definition(folder.path(), entry, file),
                    None if info == "console" => body
                        .lines()
                        .filter_map(|line| line.strip_prefix("$ "))
                        .map(|command| format!("$ {command}\n{}", output(folder.path(), command)))
                        .collect(),
                    None => body.clone(),
                };
                out.push_str(&format!("```{info}\n{body}```\n"));
            }
        }
    }
    out
}

#[test]
#[cfg(unix)]
fn the_readme_is_true() {
    is_true("README.md");
}

#[test]
#[cfg(unix)]
fn the_pages_are_true() {
    for path in files("docs", "md") {
        is_true(path.strip_prefix(ROOT).expect("inside").to_str().expect("text"));
    }
}

/// That the blocks of a document are what the commands print.
fn is_true(name: &str) {
    let document = read(name);
    let truth = truth(&document);
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(Path::new(ROOT).join(name), truth).expect("writes");
        return;
    }
    let differing = document.lines().zip(truth.lines()).position(|(a, b)| a != b);
    let line = differing.unwrap_or_else(|| document.lines().count().min(truth.lines().count()));
    assert!(
        document == truth,
        "{name}:{}: it says\n    {}\nand the truth is\n    {}\nUPDATE_README=1 cargo test --test suite readme:: writes it",
        line + 1,
        document.lines().nth(line).unwrap_or_default(),
        truth.lines().nth(line).unwrap_or_default(),
    );
}

/// The files below a folder with this ending, in order.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(ROOT).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_source_file_begins_with_what_it_is() {
    let bare: Vec<PathBuf> = ["src", "tests"]
        .iter()
        .flat_map(|folder| files(folder, "rs"))
        .filter(|path| !std::fs::read_to_string(path).expect("text").starts_with("//! "))
        .collect();
    assert!(bare.is_empty(), "without a head: {bare:#?}");
}

/// What stands in single backticks, outside of blocks.
fn quoted(document: &str) -> Vec<String> {
    let text: String = parts(document).into_iter().filter_map(|part| if let Part::Text(text) = part { Some(text) } else { None }).collect();
    text.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

#[test]
fn paths_in_the_documents_exist() {
    let pages = files("docs", "md");
    let pages = pages.iter().filter_map(|path| path.strip_prefix(ROOT).ok()?.to_str());
    for document in ["README.md", "ARCHITECTURE.md"].into_iter().chain(pages) {
        for path in quoted(&read(document)) {
            let roots = "src/ examples/ tests/ runtime/ templates/ snapshots/ scripts/ docs/ benches/ .ci/ python/";
            let is_path = roots.split(' ').any(|root| path.starts_with(root));
            assert!(!is_path || Path::new(ROOT).join(&path).exists(), "{document} names {path}");
        }
    }
}

/// The anchors of a document's headings, as its renderers make them.
fn anchors(document: &str) -> Vec<String> {
    let headings = document.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| -> String {
        let letters = heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
        letters.replace(' ', "-")
    };
    headings.map(anchor).collect()
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let docs = Path::new(ROOT).join("docs").canonicalize().expect("a folder");
    let pages = files("docs", "md").into_iter().chain(["README.md", "ARCHITECTURE.md"].map(|name| Path::new(ROOT).join(name)));
    for path in pages {
        let document = std::fs::read_to_string(&path).expect("text");
        let text: String =
            parts(&document).into_iter().filter_map(|part| if let Part::Text(text) = part { Some(text) } else { None }).collect();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.starts_with("http") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().expect("a folder").join(file) };
            assert!(target.exists(), "{} links to {link}", path.display());
            // the book has nothing else
            let is_inside = target.canonicalize().is_ok_and(|target| target.starts_with(&docs));
            assert!(
                !path.starts_with(Path::new(ROOT).join("docs")) || is_inside,
                "{} links to {link}, which is not in docs/",
                path.display()
            );
            let is_there = || anchors(&std::fs::read_to_string(&target).expect("text")).iter().any(|found| found == anchor);
            assert!(anchor.is_empty() || is_there(), "{} links to {link}, and there is no such heading", path.display());
        }
    }
}

/// mdBook makes chapters of what the summary lists, and nothing else.
#[test]
fn every_page_is_a_chapter_of_the_book() {
    let summary = read("docs/SUMMARY.md");
    let mut chapters: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link).collect();
    chapters.sort_unstable();
    let pages = files("docs", "md");
    let mut pages: Vec<String> = (pages.iter())
        .filter_map(|path| path.strip_prefix(Path::new(ROOT).join("docs")).ok()?.to_str().map(|name| name.replace('\\', "/")))
        .filter(|name| name != "SUMMARY.md")
        .collect();
    pages.sort_unstable();
    assert_eq!(chapters, pages, "docs/SUMMARY.md and the pages of docs/ differ");
    let book = read("docs/book.toml");
    assert!(book.contains("\nsrc = \".\"\n") && book.contains("\ncreate-missing = false\n"), "{book}");
}

#[test]
fn pages_in_the_comments_exist() {
    for path in ["src", "tests"].iter().flat_map(|folder| files(folder, "rs")) {
        let text = std::fs::read_to_string(&path).expect("text");
        let comments = text.lines().map(str::trim).filter(|line| line.starts_with("//"));
        let word = |c: char| !(c.is_ascii_alphanumeric() || "_-./".contains(c));
        for page in comments.flat_map(|line| line.split(word)).map(|page| page.trim_end_matches('.')).filter(|page| page.ends_with(".md")) {
            assert!(Path::new(ROOT).join(page).exists(), "{} names {page}", path.display());
        }
    }
}

#[test]
fn tests_in_the_architecture_exist() {
    let sources: String =
        ["src", "tests"].iter().flat_map(|folder| files(folder, "rs")).map(|path| std::fs::read_to_string(path).expect("text")).collect();
    for name in quoted(&read("ARCHITECTURE.md")).iter().filter_map(|name| name.strip_prefix("test ")) {
        assert!(sources.contains(&format!("fn {name}(")), "there is no test {name}");
    }
}

/// The names in the first column of the table of the architecture that begins so.
fn rows_of(head: &str) -> Vec<String> {
    let text = read("ARCHITECTURE.md");
    let table = text.split_once(head).and_then(|(_, rest)| rest.split_once("\n\n")).expect("a table").0;
    table.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_string())).collect()
}

#[test]
fn every_loop_pass_has_a_row_in_the_architecture() {
    let passes: Vec<&str> = smoothc::loops::LOOP_PASSES.iter().map(|pass| pass.name).collect();
    assert_eq!(rows_of("| pass | what it does |"), passes);
}

#[test]
fn every_pass_of_plan_has_a_row_in_the_architecture() {
    let planners: Vec<&str> = smoothc::plan::PLANNERS.iter().map(|planner| planner.name).collect();
    assert_eq!(rows_of("| planner | what it does |"), planners);
}

#[test]
fn every_room_is_in_the_library_page_and_the_architecture() {
    let (library, architecture) = (read("src/lib.rs"), read("ARCHITECTURE.md"));
    for line in library.lines() {
        let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) else { continue };
        for (document, text) in [("src/lib.rs", &library), ("ARCHITECTURE.md", &architecture)] {
            assert!(text.contains(&format!("| `{name}` |")), "{document} has no row for {name}");
        }
    }
}
