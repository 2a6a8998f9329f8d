//! Printing: results and texts on standard output, results in files.
//!
//! In: text, or a value with `-o out.npy` or `-o out.json`. Out: nothing but errors; a reader who closes the
//! pipe has seen enough, which is no error.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

use super::{files, json, npy};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::real::Real;
use crate::source::Span;
use crate::toolchain::flat::Flat;

/// Prints text on standard output.
pub fn text(text: &str) -> Result<(), Diagnostics> {
    finish(io::stdout().lock().write_all(text.as_bytes()))
}

/// Prints a value on one line, or saves it; its numbers are of this type.
pub fn value(value: &Flat, real: Real, path: Option<&Path>) -> Result<(), Diagnostics> {
    let Some(path) = path else {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        return finish(json::write(value, real, &mut out).and_then(|()| out.flush()));
    };
    let bytes = match format_of(path)? {
        Format::Json => {
            let mut bytes = Vec::new();
            json::write(value, real, &mut bytes).map_err(|error| vec![files::cannot_write(path, &error)])?;
            bytes
        }
        Format::Npy => npy::write(value, real).ok_or_else(|| {
            let message = "a .npy file holds one number or one regular array, and the result is neither";
            vec![Diagnostic::error("E0809", Span::NONE, message).help("save it as .json")]
        })?,
    };
    files::write(path, &bytes).map_err(|problem| vec![problem])
}

/// How a value is saved, by the path's ending.
enum Format {
    Json,
    Npy,
}

fn format_of(path: &Path) -> Result<Format, Diagnostics> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => Ok(Format::Json),
        Some("npy") => Ok(Format::Npy),
        _ => {
            let message = format!("`{}` is neither a .json nor a .npy file", path.display());
            Err(vec![Diagnostic::error("E0808", Span::NONE, message).help("end the path of -o in .json or .npy")])
        }
    }
}

/// Whether a result can go there, before any work is done for it.
pub fn check_path(path: Option<&Path>) -> Result<(), Diagnostics> {
    path.map_or(Ok(()), |path| format_of(path).map(|_| ()))
}

fn finish(done: io::Result<()>) -> Result<(), Diagnostics> {
    match done.and_then(|()| io::stdout().lock().flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(vec![files::cannot_write(Path::new("standard output"), &error)]),
    }
}
