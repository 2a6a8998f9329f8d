//! `emit --depfile`: a rule that says which files an output is made of, for tools that make it again when one of them changes.
//!
//! In: what is written, and what was read. Out: one rule as make, ninja and CMake read it, and an empty one for each file beside the
//! source, so that make goes on where such a file is gone and the source opens it no longer.
//!
//!     emit model.smooth -o model.c --depfile model.d   →   model.c model.h: model.smooth base.smooth
//!                                                          base.smooth:

use std::path::Path;

use super::effects;
use super::files::Reads;
use super::output::Output;
use crate::diagnostic::Diagnostic;

/// Where the rule goes; the outputs must be files to be named.
pub fn output(path: &Path, made: &Output) -> Result<Output, Diagnostic> {
    if made.file().is_none() {
        return Err(effects::problem("--depfile", "without a file", "name what is made: `-o x.c`"));
    }
    let endings: Vec<&str> = path.extension().and_then(|ending| ending.to_str()).into_iter().collect();
    match endings.as_slice() {
        // nothing else writes such files, so that a slip of the hand overwrites no source
        ["d" | "dep" | "depfile"] => Output::new(path, &endings),
        _ => Output::new(path, &["d", "dep", "depfile"]),
    }
}

/// The rules; files that were read twice are named once. The source is read first.
pub fn rule(outputs: &[(&Output, &[u8])], reads: &Reads) -> String {
    let made: Vec<String> = outputs.iter().filter_map(|(output, _)| output.file()).map(escaped).collect();
    let mut read: Vec<String> = Vec::new();
    for path in reads.paths() {
        let path = escaped(path);
        if !read.contains(&path) {
            read.push(path);
        }
    }
    let beside: String = read.iter().skip(1).map(|path| format!("{path}:\n")).collect();
    format!("{}: {}\n{beside}", made.join(" "), read.join(" \\\n  "))
}

/// A path as make reads it: blanks, `#` and `$` are its own signs.
fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for c in path.to_string_lossy().chars() {
        match c {
            ' ' | '#' | '\\' if c != '\\' || !cfg!(windows) => text.extend(['\\', c]),
            '$' => text += "$$",
            '\\' => text.push('/'),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_one_word_each() {
        for (path, word) in [("a.smooth", "a.smooth"), ("my model.smooth", "my\\ model.smooth"), ("a#$.smooth", "a\\#$$.smooth")] {
            assert_eq!(escaped(Path::new(path)), word);
        }
    }
}
