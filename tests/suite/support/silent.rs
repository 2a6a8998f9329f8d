//! Whether emitted C compiles without a word, as C and as C++, with every warning an error, and keeps nothing of its own.
//!
//! In: a C file with its header. Out: nothing, or what a compiler said; a global variable; something called that
//! allocates.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use smoothc::emit::CFiles;

use super::tools;

pub const WARNINGS: [&str; 8] = ["-Werror", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Wvla"];

/// The compilers that are here.
static C: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let c = here(["gcc", "clang"]);
    if c.is_empty() { vec!["cc"] } else { c }
});
static CPP: LazyLock<Vec<&str>> = LazyLock::new(|| here(["g++", "clang++"]));

fn here(names: [&'static str; 2]) -> Vec<&'static str> {
    let (found, absent): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| tools::exists(name));
    if !absent.is_empty() {
        tools::skipped(&format!("there is no {} here", absent.join(", ")));
    }
    found
}

/// Compiles the C with every C compiler that is here, and reads it as C++, and the header alone, with one of each.
/// `compilers.rs` asks more of all examples at once.
pub fn files(files: &CFiles) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (source, header, object) = (folder.path().join("program.c"), folder.path().join("program.h"), folder.path().join("program.o"));
    for (path, text) in [(&source, &files.source), (&header, &files.header)] {
        std::fs::write(path, text).map_err(|error| error.to_string())?;
    }
    for compiler in C.iter() {
        let mut command = Command::new(compiler);
        let level = if *compiler == "clang" { "-O0" } else { "-O2" };
        command.args(["-std=c99", level, "-Wmissing-prototypes"]).args(WARNINGS).args(["-c", "-o"]);
        tools::succeeds(command.arg(&object).arg(&source))?;
        no_data_and_no_allocation(&object)?;
    }
    if let Some(compiler) = C.first() {
        alone(compiler, &["-x", "c", "-std=c99"], &header)?;
    }
    if let Some(compiler) = CPP.first() {
        alone(compiler, &["-x", "c++"], &source)?;
        alone(compiler, &["-x", "c++"], &header)?;
    }
    Ok(())
}

fn alone(compiler: &str, language: &[&str], file: &Path) -> Result<(), String> {
    tools::succeeds(Command::new(compiler).args(language).arg("-fsyntax-only").args(WARNINGS).arg(file)).map(drop)
}

/// No global variable, and nothing called that allocates.
pub fn no_data_and_no_allocation(object: &Path) -> Result<(), String> {
    if !tools::exists("nm") {
        return Ok(());
    }
    for line in tools::succeeds(Command::new("nm").arg(object))?.lines() {
        let mut words = line.split_whitespace().rev();
        let (name, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if matches!(kind, "b" | "B" | "d" | "D" | "C" | "s" | "S" | "g" | "G") {
            return Err(format!("`{name}` is a global variable"));
        }
        if kind == "U" && ["malloc", "calloc", "realloc", "free", "alloca", "aligned_alloc"].contains(&name.trim_start_matches('_')) {
            return Err(format!("`{name}` is called"));
        }
    }
    Ok(())
}
