//! Reading source files and writing outputs: the only place that touches the file system for the compiler.
//!
//! In: a path, `-` for standard input. Out: its text, or a diagnostic E00xx that says what is wrong with it.

use std::io::{self, Read};
use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The text of a source file; `-` is standard input.
pub fn read_source(path: &Path) -> Result<String, Diagnostic> {
    let name = path.display();
    let bytes = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|error| {
        let problem = Diagnostic::error("E0001", Span::NONE, format!("cannot read `{name}`: {}", reason(&error)));
        match error.kind() {
            io::ErrorKind::NotFound => problem.help("check the path; `-` reads from standard input"),
            io::ErrorKind::IsADirectory => problem.help("name a file in it"),
            _ => problem.help("check that it is a file that you may read"),
        }
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Diagnostic::error("E0002", Span::NONE, format!("`{name}` is not UTF-8: byte {at} begins no character"))
            .help("save the file as UTF-8")
    })
}

/// Writes an output file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    std::fs::write(path, bytes).map_err(|error| cannot_write(path, &error))
}

pub fn cannot_write(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error("E0011", Span::NONE, format!("cannot write `{}`: {}", path.display(), reason(error)))
        .help("check that the folder is there and that you may write to it")
}

/// An error of the operating system in a few words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a directory".into(),
        _ => error.to_string(),
    }
}
