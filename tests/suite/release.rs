//! What leaves the repository: the crate, the archive of `scripts/release`, and what both are made of.
//!
//! The crate has every file that it includes and none that only the repository needs; its keywords are those that a registry takes;
//! dependencies have licences that deny.toml allows and are built by the Rust that Cargo.toml asks for; the archive has a command that
//! runs, and says how it is called.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::files::read;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn printed(command: &mut Command) -> String {
    let output = command.current_dir(ROOT).output().expect("runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn cargo() -> Command {
    Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
}

#[test]
fn the_crate_has_what_it_needs_and_no_more() {
    let listed = printed(cargo().args(["package", "--list", "--allow-dirty", "--offline"]));
    let files: Vec<&str> = listed.lines().collect();
    let made = ["Cargo.lock", "Cargo.toml", "Cargo.toml.orig", ".cargo_vcs_info.json"];
    let documents = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
    for file in documents.into_iter().chain(["cmake/smoothcConfig.cmake", "editors/vscode/package.json"]) {
        assert!(files.contains(&file), "no {file}");
    }
    for file in &files {
        let folders = ["src/", "templates/", "runtime/", "cmake/", "editors/", "python/smoothc/_runtime/"];
        let kept = folders.iter().any(|folder| file.starts_with(folder));
        assert!(kept && !file.contains("tests") || made.contains(file) || documents.contains(file), "{file} is no part of the crate");
        let path = Path::new(file);
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        for included in read(file).split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let included = plain(&path.parent().expect("a folder").join(included));
            assert!(files.contains(&included.as_str()), "{file} includes {included}, which is not in the crate");
        }
    }
}

/// `src/emit/../../runtime/size.h` is `runtime/size.h`.
fn plain(path: &Path) -> String {
    let mut found = PathBuf::new();
    for part in path.components() {
        if part.as_os_str() == ".." {
            found.pop();
        } else {
            found.push(part);
        }
    }
    found.to_string_lossy().replace('\\', "/")
}

/// The packages that a build on this machine uses, smoothc among them.
fn packages() -> Vec<Value> {
    let version = printed(Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into())).arg("-vV"));
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let words = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let metadata: Value = serde_json::from_str(&printed(cargo().args(words))).expect("JSON");
    let Some(Value::Array(packages)) = metadata.get("packages").cloned() else { panic!("no packages") };
    packages
}

#[test]
fn dependencies_may_be_used_and_built() {
    let deny = read("deny.toml");
    let (_, list) = deny.split_once("\nallow = [").expect("a list");
    let allowed: Vec<&str> = list.split_once(']').expect("its end").0.split('"').skip(1).step_by(2).collect();
    let packages = packages();
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_string();
    let own = packages.iter().find(|package| package["name"] == "smoothc").expect("smoothc");
    let rust = numbers(&text(own, "rust_version"));
    assert!(packages.len() > 20);
    for package in &packages {
        let (name, licence) = (text(package, "name"), text(package, "license"));
        assert!(permits(&licence, &allowed), "{name} has the licence `{licence}`, which deny.toml does not allow");
        let needs = numbers(&text(package, "rust_version"));
        assert!(needs <= rust, "{name} needs Rust {needs:?}, and Cargo.toml says {rust:?}");
    }
}

fn numbers(version: &str) -> Vec<u64> {
    version.split('.').filter_map(|part| part.parse().ok()).collect()
}

/// Whether an expression of SPDX holds where these licences are allowed; a stroke is an old `OR`.
fn permits(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let holds = any(&mut words, allowed);
    holds && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any(words: &mut Words, allowed: &[&str]) -> bool {
    let mut holds = all(words, allowed);
    while words.next_if(|word| *word == "OR").is_some() {
        holds |= all(words, allowed);
    }
    holds
}

fn all(words: &mut Words, allowed: &[&str]) -> bool {
    let mut holds = one(words, allowed);
    while words.next_if(|word| *word == "AND").is_some() {
        holds &= one(words, allowed);
    }
    holds
}

fn one(words: &mut Words, allowed: &[&str]) -> bool {
    let Some(word) = words.next() else { return false };
    if word == "(" {
        let holds = any(words, allowed);
        return words.next() == Some(")") && holds;
    }
    match words.next_if(|word| *word == "WITH") {
        Some(_) => words.next().is_some_and(|exception| allowed.contains(&format!("{word} WITH {exception}").as_str())),
        None => allowed.contains(&word),
    }
}

#[test]
fn licences_are_read_as_spdx_has_them() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"];
    for (expression, holds) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 OR MIT AND ISC", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("(MIT OR ISC) AND GPL-3.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("MIT WITH other", false),
        ("(MIT", false),
        ("MIT ISC", false),
    ] {
        assert_eq!(permits(expression, &allowed), holds, "{expression}");
    }
}

#[test]
fn a_registry_takes_the_keywords_and_the_changelog_has_the_version() {
    let packages = packages();
    let own = packages.iter().find(|package| package["name"] == "smoothc").expect("smoothc");
    let keywords: Vec<&str> = own["keywords"].as_array().expect("keywords").iter().filter_map(Value::as_str).collect();
    let fits = |word: &&str| {
        word.len() <= 20
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-+".contains(c))
    };
    assert!((1..=5).contains(&keywords.len()) && keywords.iter().all(fits), "{keywords:?}");
    let version = own["version"].as_str().expect("a version");
    let newest = read("CHANGELOG.md").lines().find(|line| line.starts_with("## ")).map(str::to_string).expect("a version");
    assert!(
        newest == format!("## {version}") || newest.starts_with(&format!("## {version},")),
        "the changelog begins with `{newest}`, not with {version}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn the_archive_has_a_command_that_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    // from where the caller stands, also where that is another folder
    let script = "cd \"$1\" && ln -s \"$2\" smoothc && SMOOTHC=./smoothc \"$3/scripts/release\" made";
    let made = printed(Command::new("sh").args(["-c", script, "sh"]).arg(path).args([env!("CARGO_BIN_EXE_smoothc"), ROOT]));
    let path = &path.join("made");
    let archive = Path::new(made.trim()).to_path_buf();
    assert_eq!(archive.parent().map(std::fs::canonicalize).and_then(Result::ok), std::fs::canonicalize(path).ok(), "{made}");
    let name = archive.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".tar.gz")).expect("a name");
    assert!(name.starts_with(&format!("smoothc-{}-", env!("CARGO_PKG_VERSION"))), "{name}");
    let run = |script: &str| printed(Command::new("sh").args(["-c", script, "sh"]).arg(path).arg(name));
    assert_eq!(run("cd \"$1\" && sha256sum -c \"$2.tar.gz.sha256\""), format!("{name}.tar.gz: OK\n"));
    let listed = run("tar tzf \"$1/$2.tar.gz\"");
    for file in [
        "share/doc/smoothc/README.md",
        "share/doc/smoothc/CHANGELOG.md",
        "share/doc/smoothc/LICENSE-MIT",
        "share/doc/smoothc/LICENSE-APACHE",
        "share/doc/smoothc/THIRD-PARTY-NOTICES",
        "share/doc/smoothc/docs/builds.md",
        "share/bash-completion/completions/smoothc",
        "share/zsh/site-functions/_smoothc",
        "share/fish/vendor_completions.d/smoothc.fish",
        "share/man/man1/smoothc.1",
        "share/man/man1/smoothc-emit.1",
        "share/smoothc/editors/vscode/package.json",
        "lib/cmake/smoothc/smoothcConfig.cmake",
        "lib/cmake/smoothc/smoothcConfigVersion.cmake",
    ] {
        assert!(listed.lines().any(|line| line == format!("{name}/{file}")), "no {file} in\n{listed}");
    }
    let said = run("cd \"$1\" && tar xzf \"$2.tar.gz\" && \"$2/bin/smoothc\" --version");
    assert_eq!(said, format!("smoothc {}\n", env!("CARGO_PKG_VERSION")));
    // licences permit linking with their notice: each crate that is linked has it
    let notices = run("cat \"$1/$2/share/doc/smoothc/THIRD-PARTY-NOTICES\"");
    let named: BTreeSet<String> = notices
        .lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| Some(line.trim().split_once("  ")?.0.to_string()))
        .collect();
    let tree = printed(cargo().args(["tree", "--locked", "--offline", "--edges", "normal,no-proc-macro", "--prefix", "none"]));
    let linked: BTreeSet<String> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
        })
        .filter(|name| !name.starts_with("smoothc "))
        .collect();
    let unnamed: Vec<&String> = linked.difference(&named).collect();
    assert!(linked.len() > 40 && unnamed.is_empty(), "{unnamed:?}");
    assert!(notices.contains("Permission is hereby granted, free of charge"), "texts of licences");
}

/// The lines where the guard of a match arm has an `if let`, which Rust takes since 1.95.
fn guards(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_guard = |at: &usize| {
        let Some((before, _)) = lines[*at].split_once("if let ").filter(|_| !lines[*at].starts_with("//")) else { return false };
        match before.trim_end() {
            // a guard that has a line of its own ends with an arrow, a statement with a brace
            "" => {
                lines[*at..].iter().find(|line| line.ends_with("=>") || line.ends_with(['{', ';'])).is_some_and(|end| end.ends_with("=>"))
            }
            before => {
                before.ends_with(|c: char| ")]}_".contains(c) || c.is_ascii_alphanumeric()) && before.split(' ').next_back() != Some("else")
            }
        }
    };
    (0..lines.len()).filter(is_guard).map(|at| at + 1).collect()
}

#[test]
fn the_sources_are_of_the_rust_that_cargo_asks_for() {
    // in two parts, since this file is read too
    let wrong = "match a {\n    None IF Some(b) = c => b,\n    A(x)\n        IF B = x\n            && y =>\n    {\n    }\n}\n"
        .replace("IF", "if let");
    assert_eq!(guards(&wrong), [2, 4]);
    let wanted = read("Cargo.toml")
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = ").map(|version| version.trim_matches('"').to_string()));
    let wanted = wanted.expect("a version");
    assert!(read("README.md").contains(&format!("[Rust](https://rustup.rs) {wanted} or later")), "README.md asks for another Rust");
    assert!(read("Dockerfile").contains(&format!("FROM rust:{wanted}-slim")), "Dockerfile has another Rust");
    if wanted.split('.').nth(1).and_then(|minor| minor.parse().ok()).is_some_and(|minor: u32| minor >= 95) {
        return;
    }
    let mut folders: Vec<PathBuf> = ["src", "tests", "benches"].iter().map(|folder| Path::new(ROOT).join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let found = guards(&std::fs::read_to_string(&path).expect("text"));
                assert!(
                    found.is_empty(),
                    "{} has `if let` in guards, in lines {found:?}: Rust {wanted} does not take them",
                    path.display()
                );
            }
        }
    }
}
