//! `smoothc fmt [--check] FILE…`: puts source files into the house's form; `--check` says which are not, with a diff.
//!
//! In: files, `-` for standard input. Out: the files, each written anew where its text changes; of standard input the text on
//! standard output. A file that does not parse stays as it is.

use std::path::Path;

use super::files::Reads;
use super::options::FmtCommand;
use super::output::{self, Output};
use super::stale;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{SourceMap, Span};
use crate::syntax;

pub fn run(command: &FmtCommand, sources: &mut SourceMap) -> Result<(), Diagnostics> {
    let mut problems = Vec::new();
    for path in &command.files {
        problems.extend(format(path, command.check, sources).err().unwrap_or_default());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn format(path: &Path, only_check: bool, sources: &mut SourceMap) -> Result<(), Diagnostics> {
    let (text, new) = formatted(path, sources)?;
    let is_stdin = path.as_os_str() == "-";
    if only_check && text != new {
        let name = if is_stdin { "standard input".to_string() } else { format!("`{}`", path.display()) };
        stale::print_diff(path, &text, &new)?;
        let problem = Diagnostic::error("E0018", Span::NONE, format!("{name} is not formatted"));
        return Err(vec![problem.help("`smoothc fmt` without --check writes what the diff shows")]);
    }
    match is_stdin {
        _ if only_check => Ok(()),
        true => output::text(&new),
        false if text == new => Ok(()),
        // what is written over is what was read for that
        false => output::write(&[(&Output::File(path.to_path_buf()), new.as_bytes())], &Reads::default()),
    }
}

/// The text of a file, and the text that it should have.
fn formatted(path: &Path, sources: &mut SourceMap) -> Result<(String, String), Diagnostics> {
    let text = Reads::default().source(path).map_err(|problem| vec![problem])?;
    let file = sources.add(&path.display().to_string(), &text);
    let new = syntax::format(&text, file)?;
    Ok((text, new))
}
