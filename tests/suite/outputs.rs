//! What commands write, and what they never touch: a file that they have read, one whose ending they do not make.
//!
//! Each refusal leaves the folder byte by byte as it was, with exit status 2.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::command::errors;

const PROGRAM: &str = "/// Twice.\nlet f (v: Vector<n>) : Vector<n> = vectorMap v (fun x -> x + x)\n";

/// A command in a folder.
fn smoothc(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
    command.args(words.split(' ')).current_dir(folder).stdin(Stdio::null()).output().expect("runs")
}

/// A folder with programs, what they open, arguments, and links to them.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("sub")).expect("makes");
    for name in ["own.smooth", "own.c", "own.h", "own.fut", "own.html", "own.so", "own.o", "own.json", "sub/library.c"] {
        std::fs::write(at(name), PROGRAM).expect("writes");
    }
    std::fs::write(at("opens.smooth"), "open \"sub/library.c\"\nlet g (v: Vector<n>) = f v\n").expect("writes");
    std::fs::write(at("arguments.json"), "[1.0, 2.0]\n").expect("writes");
    std::fs::write(at("schedule.strategy.c"), "let main = default\n").expect("writes");
    symlink("own.smooth", at("link.c")).expect("links");
    symlink("arguments.json", at("link.json")).expect("links");
    std::fs::hard_link(at("own.smooth"), at("hard.c")).expect("links");
    std::fs::hard_link(at("own.smooth"), at("beside.h")).expect("links");
    folder
}

/// Every file with its bytes.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        if path.is_dir() { files.extend(content(&path)) } else { drop(files.insert(name, std::fs::read(&path).unwrap_or_default())) }
    }
    files
}

#[test]
fn no_command_writes_over_what_it_has_read() {
    let folder = folder();
    let before = content(folder.path());
    for words in [
        "emit own.c -o own.c",
        "emit own.c -o ./own.c",
        "emit own.c -o sub/../own.c",
        "emit sub/../own.c -o own.c",
        "emit own.smooth -o link.c",
        "emit link.c -o link.c",
        "emit own.smooth -o hard.c",
        "emit own.h -o own.c",
        "emit own.smooth -o beside.c",
        "emit opens.smooth -o sub/library.c",
        "emit --schedule ./schedule.strategy.c own.smooth -o schedule.strategy.c",
        "emit --target futhark own.fut -o own.fut",
        "build own.so -o own.so",
        "build own.h -o own.o",
        "explain own.html f --html own.html",
        "run own.json f [1] -o own.json",
        "run own.smooth f @arguments.json -o arguments.json",
        "eval own.smooth f @arguments.json -o ./arguments.json",
        "eval own.smooth f @arguments.json -o link.json",
        "eval own.json f [1] -o own.json",
    ] {
        let output = smoothc(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", errors(&output));
        assert!(errors(&output).starts_with("error[E0014]: "), "{words}: {}", errors(&output));
        assert!(content(folder.path()) == before, "{words}");
    }
    // what a shell opens for the command was read too
    let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
    let input = std::fs::File::open(folder.path().join("own.c")).expect("opens");
    let output = command.args(["emit", "-", "-o", "own.c"]).current_dir(folder.path()).stdin(input).output().expect("runs");
    assert_eq!((output.status.code(), content(folder.path()) == before), (Some(2), true), "{}", errors(&output));
}

#[test]
fn no_command_writes_what_it_does_not_make() {
    let folder = folder();
    let before = content(folder.path());
    for (words, code) in [
        ("emit own.smooth -o own.smooth", "E0012"),
        ("emit own.smooth -o x.h", "E0012"),
        ("emit own.smooth -o x", "E0012"),
        ("emit own.smooth -o x.fut", "E0012"),
        ("emit own.smooth -o sub", "E0012"),
        ("emit --target futhark own.smooth -o x.c", "E0012"),
        ("explain own.smooth f --html own.smooth", "E0012"),
        ("build own.smooth -o x.c", "E0012"),
        ("build own.smooth -o x.exe", "E0012"),
        ("run own.smooth f [1] -o x.txt", "E0808"),
        ("eval own.smooth f [1] -o own.smooth", "E0808"),
        // before the program is looked at
        ("emit nowhere.smooth -o x.h", "E0012"),
    ] {
        let output = smoothc(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words}: {}", errors(&output));
        assert!(errors(&output).starts_with(&format!("error[{code}]: ")), "{words}: {}", errors(&output));
        assert!(content(folder.path()) == before, "{words}");
    }
    if cfg!(target_os = "linux") {
        for ending in ["dll", "dylib"] {
            let output = smoothc(folder.path(), &format!("build own.smooth -o x.{ending}"));
            assert_eq!((output.status.code(), content(folder.path()) == before), (Some(2), true), "{}", errors(&output));
        }
    }
}

#[test]
fn files_are_written_whole_and_keep_what_they_are() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let done = |words: &str| {
        let output = smoothc(folder.path(), words);
        assert_eq!((output.status.code(), errors(&output).as_str()), (Some(0), ""), "{words}");
        output.stdout
    };
    // a hard link is the old file: the new one is another, and nobody sees half of it
    std::fs::write(at("out.c"), "old").expect("writes");
    std::fs::set_permissions(at("out.c"), PermissionsExt::from_mode(0o640)).expect("sets");
    std::fs::hard_link(at("out.c"), at("old.c")).expect("links");
    done("emit own.smooth -o out.c");
    assert_eq!(std::fs::read(at("old.c")).expect("reads"), b"old");
    assert_eq!(std::fs::metadata(at("out.c")).expect("is there").mode() & 0o777, 0o640);
    // a symbolic link stays one, also to what is not there yet
    symlink("sub/real.c", at("to.c")).expect("links");
    done("emit own.smooth -o to.c");
    assert!(at("to.c").is_symlink() && at("sub/real.c").is_file() && at("to.h").is_file());
    assert_eq!(std::fs::read(at("sub/real.c")).expect("reads"), std::fs::read(at("out.c")).expect("reads"));
    // two outputs, one file
    symlink("twice.c", at("twice.h")).expect("links");
    assert_eq!(smoothc(folder.path(), "emit own.smooth -o twice.c").status.code(), Some(2));
    assert!(!at("twice.c").exists());
    // where one of two cannot be written, neither is
    std::fs::create_dir(at("half.h")).expect("makes");
    let half = smoothc(folder.path(), "emit own.smooth -o half.c");
    assert_eq!((half.status.code(), at("half.c").exists()), (Some(1), false), "{}", errors(&half));
    let missing = smoothc(folder.path(), "emit own.smooth -o nowhere/x.c");
    assert!(errors(&missing).starts_with("error[E0011]: cannot write `nowhere/x.c`: there is no folder `nowhere`"), "{}", errors(&missing));
    done("emit --target futhark own.smooth -o out.fut");
    done("explain own.smooth f --html page.html");
    done("run own.smooth f @arguments.json -o saved.json");
    assert_eq!(std::fs::read(at("saved.json")).expect("reads"), b"[2.0, 4.0]\n");
    let left: Vec<String> = content(folder.path()).into_keys().filter(|name| name.contains(".smoothc-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn libraries_have_their_header_beside_them() {
    let folder = folder();
    for words in ["build own.smooth -o f.so", "build own.smooth -o f.a", "build own.smooth -o f.o"] {
        let output = smoothc(folder.path(), words);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", errors(&output));
        let header = std::fs::read_to_string(folder.path().join("f.h")).expect("a header");
        assert!(header.contains("F_H") && header.contains("smooth_status f(int64_t n, "), "{header}");
        std::fs::remove_file(folder.path().join("f.h")).expect("is there");
    }
}

#[test]
fn standard_output_and_devices_are_legal() {
    let folder = folder();
    let before = content(folder.path());
    let text = smoothc(folder.path(), "emit own.smooth").stdout;
    assert!(!text.is_empty());
    for place in ["-", "/dev/stdout", "/dev/fd/1"] {
        let output = smoothc(folder.path(), &format!("emit own.smooth -o {place}"));
        assert!(output.status.success() && output.stdout == text, "{place}: {}", errors(&output));
    }
    for (words, printed) in [
        ("eval own.smooth f [1] -o -", "[2.0]\n"),
        ("run own.smooth f [1] -o -", "[2.0]\n"),
        ("run own.smooth f [1] -o /dev/stdout", "[2.0]\n"),
        ("emit own.smooth -o /dev/null", ""),
        ("emit --target futhark own.smooth -o /dev/null", ""),
        ("run own.smooth f [1] -o /dev/null", ""),
        ("build own.smooth -o /dev/null", ""),
        ("explain own.smooth f --html /dev/null", ""),
    ] {
        let output = smoothc(folder.path(), words);
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()),
            (Some(0), printed),
            "{words}: {}",
            errors(&output)
        );
    }
    let page = smoothc(folder.path(), "explain own.smooth f --html -");
    assert!(String::from_utf8_lossy(&page.stdout).contains("</html>"), "{}", errors(&page));
    assert!(content(folder.path()) == before);
    // a file behind a descriptor keeps what it has
    std::fs::write(folder.path().join("log"), "before\n").expect("writes");
    let log = std::fs::OpenOptions::new().append(true).open(folder.path().join("log")).expect("opens");
    let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
    let done = command.args(["emit", "own.smooth", "-o", "/dev/stderr"]).current_dir(folder.path()).stderr(log).status().expect("runs");
    let log = std::fs::read(folder.path().join("log")).expect("reads");
    assert!(done.success() && log.starts_with(b"before\n") && log.ends_with(&text));
}
