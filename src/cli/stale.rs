//! `emit --check`: whether files on disk are what the command would write.
//!
//! In: outputs and their texts. Out: nothing where all are the same; otherwise a unified diff on standard output and E0018 for
//! each file that is not (exit status 1). Nothing is written.

use std::path::Path;
use std::time::Duration;

use similar::TextDiff;

use super::files::{self, Reads};
use super::output::{self, Output};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;

/// Where two texts have nothing in common, a diff that is not the shortest will do.
const PATIENCE: Duration = Duration::from_secs(2);

/// Holds each text against its file.
pub fn check(outputs: &[(&Output, &[u8])]) -> Result<(), Diagnostics> {
    let mut problems = Vec::new();
    for (output, text) in outputs {
        let Some(path) = output.file() else {
            let problem = Diagnostic::error("E0012", Span::NONE, "`--check` holds a file against what would be written, and there is none");
            return Err(vec![problem.help("name the file with -o")]);
        };
        let old = match std::fs::read(path) {
            Ok(old) if old == **text => continue,
            Ok(old) => old,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                let message = format!("cannot read `{}`: {}", path.display(), files::reason_at(path, &error));
                problems.push(Diagnostic::error("E0001", Span::NONE, message).help("check that it is a file that you may read"));
                continue;
            }
        };
        let what = if path.exists() { "is not what the program gives now" } else { "is not there" };
        let problem = Diagnostic::error("E0018", Span::NONE, format!("`{}` {what}", path.display()));
        problems.push(problem.help("the same command without --check writes it"));
        let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(text));
        print_diff(path, &old, &new)?;
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Prints what would change in a file.
pub fn print_diff(path: &Path, old: &str, new: &str) -> Result<(), Diagnostics> {
    let mut diff = TextDiff::configure();
    let name = path.display().to_string();
    output::text(&diff.timeout(PATIENCE).diff_lines(old, new).unified_diff().header(&name, &name).to_string())
}

/// Writes the outputs, or only checks them.
pub fn write_or_check(outputs: &[(&Output, &[u8])], only_check: bool, reads: &Reads) -> Result<(), Diagnostics> {
    if only_check { check(outputs) } else { output::write(outputs, reads) }
}
