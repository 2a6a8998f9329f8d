//! Where results go: standard output, devices and files. Every command writes through here.
//!
//! In: what was asked for with `-o` or `--html`, the endings that the command makes, and what it has read. Out: nothing
//! but errors. A file is written whole or not at all: beside its place first, under another name, then renamed. `-` is
//! standard output; devices and pipes (`/dev/null`) are written as they are. An ending that the command does not make is
//! refused before any work, a file that was read before anything is written; both are wrong usage (status 2). A reader
//! who closes the pipe has seen enough, which is no error.
//!
//!     emit own.smooth -o own.smooth   →   error[E0012]: `own.smooth` does not end in .c

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::files::{self, Reads};
use super::{npy, print};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Labels;
use crate::real::Real;
use crate::source::Span;
use crate::toolchain::flat::Flat;

/// Symbolic links that lead to one another end here.
const MAX_LINKS: usize = 40;

/// A place that may be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    Stdout,
    /// Neither a file nor a folder: a device, a pipe.
    Device(PathBuf),
    File(PathBuf),
}

impl Output {
    /// The place of this path, for a command that makes files of these endings.
    pub fn new(path: &Path, endings: &[&str]) -> Result<Output, Diagnostic> {
        if ["-", "/dev/stdout"].iter().any(|name| path.as_os_str() == *name) {
            return Ok(Output::Stdout);
        }
        if is_device(path) {
            return Ok(Output::Device(path.to_path_buf()));
        }
        if path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending)) {
            return Ok(Output::File(path.to_path_buf()));
        }
        let mut known = String::new();
        for (at, ending) in endings.iter().enumerate() {
            known += if at == 0 {
                "."
            } else if at + 1 == endings.len() {
                " or ."
            } else {
                ", ."
            };
            known += ending;
        }
        let message = format!("`{}` does not end in {known}", path.display());
        Err(Diagnostic::error("E0012", Span::NONE, message).help("a file's ending says what is made; `-o -` is standard output"))
    }

    /// The ending, of a file.
    pub fn ending(&self) -> Option<&str> {
        self.file()?.extension()?.to_str()
    }

    /// The file of another ending beside this one; standard output and devices have none.
    pub fn beside(&self, ending: &str) -> Option<Output> {
        self.file().map(|path| Output::File(path.with_extension(ending)))
    }

    /// The name of a file, without its folder.
    pub fn name(&self) -> Option<String> {
        self.file()?.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    /// The path, of a file.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Output::File(path) => Some(path),
            Output::Stdout | Output::Device(_) => None,
        }
    }
}

/// Whether something is there that is neither a file nor a folder. What a shell names by its number is never replaced.
fn is_device(path: &Path) -> bool {
    let is_open = ["/dev/fd", "/proc", "/dev/stderr", "/dev/stdin"].iter().any(|start| path.starts_with(start));
    is_open || std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Writes all of these or none: nothing is renamed before the last of them is on the disk.
pub fn write(outputs: &[(&Output, &[u8])], reads: &Reads) -> Result<(), Diagnostics> {
    let one = |problem| vec![problem];
    let mut staged: Vec<(tempfile::NamedTempFile, PathBuf, &Path)> = Vec::new();
    for (output, bytes) in outputs {
        let (Output::Device(path) | Output::File(path)) = output else { continue };
        if reads.contain(path) {
            return Err(one(was_read(path)));
        }
        if let Output::File(path) = output {
            let target = followed(path);
            if staged.iter().any(|(_, other, _)| *other == target) {
                return Err(one(Diagnostic::error("E0014", Span::NONE, format!("`{}` would be written twice", path.display()))
                    .help("it is a link to another output: name another file")));
            }
            let file = stage(&target, bytes).map_err(|error| one(files::cannot_write(path, &error)))?;
            staged.push((file, target, path));
        }
    }
    for (file, target, path) in staged {
        file.persist(&target).map_err(|error| one(files::cannot_write(path, &error.error)))?;
    }
    for (output, bytes) in outputs {
        match output {
            Output::Stdout => self::bytes(bytes)?,
            Output::Device(path) => {
                // a file behind a descriptor keeps what it has
                let file = std::fs::OpenOptions::new().append(true).open(path);
                match file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.flush())) {
                    Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(one(files::cannot_write(path, &error))),
                    Ok(()) | Err(_) => {}
                }
            }
            Output::File(_) => {}
        }
    }
    Ok(())
}

fn was_read(path: &Path) -> Diagnostic {
    let message = format!("`{}` is not written: the command has read it", path.display());
    Diagnostic::error("E0014", Span::NONE, message).help("name another file")
}

/// The file's new content beside it, with the permissions of the file that is there or those of a new one.
fn stage(target: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let old = match std::fs::metadata(target) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        // what may not be written is not replaced either
        Ok(found) => std::fs::OpenOptions::new().append(true).open(target).map(|_| Some(found.permissions()))?,
        Err(_) => None,
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".smoothc-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
    if let Some(old) = old {
        file.as_file().set_permissions(old)?;
    }
    file.write_all(bytes)?;
    file.flush()?;
    Ok(file)
}

/// The path behind symbolic links, so that a link stays one.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(next) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    // one spelling for one file, also where it is not there yet
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            folder.canonicalize().map(|folder| folder.join(name)).unwrap_or(path)
        }
        _ => path,
    }
}

/// Prints text on standard output.
pub fn text(text: &str) -> Result<(), Diagnostics> {
    bytes(text.as_bytes())
}

/// Prints bytes on standard output.
pub fn bytes(bytes: &[u8]) -> Result<(), Diagnostics> {
    finish(io::stdout().lock().write_all(bytes))
}

impl super::options::ManifestWord {
    /// Where the manifest goes, if one is wanted.
    pub fn output(&self) -> Result<Option<Output>, Diagnostics> {
        self.manifest.as_deref().map(|path| Output::new(path, &["json"])).transpose().map_err(|problem| vec![problem])
    }
}

/// The endings of a result.
const RESULTS: &[&str] = &["json", "npy"];

/// Where a result goes, before any work is done for it.
pub fn of_result(path: Option<&Path>) -> Result<Output, Diagnostics> {
    let output = path.map_or(Ok(Output::Stdout), |path| Output::new(path, RESULTS));
    output.map_err(|problem| vec![Diagnostic { code: "E0808", ..problem }])
}

/// Prints a value on one line, or saves it; its numbers are of this type.
pub fn value(value: &Flat, labels: &Labels, real: Real, output: &Output, reads: &Reads) -> Result<(), Diagnostics> {
    if *output == Output::Stdout {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        return finish(print::write(value, labels, real, &mut out).and_then(|()| out.flush()));
    }
    let bytes = if output.ending() == Some("npy") {
        npy::write(value, real).ok_or_else(|| {
            let message = "a .npy file holds one number or one regular array, and the result is neither";
            vec![Diagnostic::error("E0809", Span::NONE, message).help("save it as .json")]
        })?
    } else {
        let mut bytes = Vec::new();
        // writing to memory does not fail
        let _ = print::write(value, labels, real, &mut bytes);
        bytes
    };
    write(&[(output, &bytes)], reads)
}

fn finish(done: io::Result<()>) -> Result<(), Diagnostics> {
    match done.and_then(|()| io::stdout().lock().flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(vec![files::cannot_write(Path::new("standard output"), &error)]),
    }
}
