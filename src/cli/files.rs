//! Reading source files, and what was read: `output` never writes over it.
//!
//! In: a path, `-` for standard input. Out: its text, or a diagnostic E00xx that says what is wrong with it. A file is
//! known by more than its path: another spelling and a link, also a hard one, are the same file.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::budget;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The text of a file that a program opens: a regular one, since a device or a pipe may never end.
fn read_opened(path: &Path) -> Result<String, Diagnostic> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            let message = format!("cannot read `{}`: it is no regular file", path.display());
            Err(Diagnostic::error("E0001", Span::NONE, message).help("name a file with the text of a program"))
        }
        Ok(_) | Err(_) => read_source(path),
    }
}

/// The text of a source file, of the size that the budget allows; `-` is standard input.
fn read_source(path: &Path) -> Result<String, Diagnostic> {
    let name = path.display();
    let bytes = match path.as_os_str() == "-" {
        true => read_within(&mut io::stdin().lock()),
        false => std::fs::File::open(path).and_then(|mut file| read_within(&mut file)),
    };
    if bytes.as_ref().is_ok_and(|bytes| bytes.len() > budget::SOURCE_BYTES) {
        let message = format!("cannot read `{name}`: {}", budget::file_too_large());
        return Err(Diagnostic::error("E0001", Span::NONE, message).help("split it into files that open each other"));
    }
    let bytes = bytes.map_err(|error| {
        let problem = Diagnostic::error("E0001", Span::NONE, format!("cannot read `{name}`: {}", reason_at(path, &error)));
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

/// The files that a command has read.
#[derive(Debug, Default)]
pub struct Reads {
    files: Vec<Identity>,
    paths: Vec<PathBuf>,
}

impl Reads {
    /// The text of a source file; `-` is standard input.
    pub fn source(&mut self, path: &Path) -> Result<String, Diagnostic> {
        self.note(path);
        read_source(path)
    }

    /// The text of a file that a program opens: a regular one.
    pub fn opened(&mut self, path: &Path) -> Result<String, Diagnostic> {
        self.note(path);
        read_opened(path)
    }

    /// Keeps in mind that this file is read; a device is none.
    pub fn note(&mut self, path: &Path) {
        let path = if path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path };
        if let Some(file) = Identity::of(path) {
            self.files.push(file);
            self.paths.push(path.to_path_buf());
        }
    }

    /// The files, in the order in which they were read.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Whether this is one of the files.
    pub fn contain(&self, path: &Path) -> bool {
        Identity::of(path).is_some_and(|file| self.files.contains(&file))
    }
}

/// What two paths of one file have in common.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and number of the file on it.
    #[cfg(unix)]
    Inode(u64, u64),
    #[cfg(not(unix))]
    Path(std::path::PathBuf),
}

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        Some(Identity::Inode(found.dev(), found.ino()))
    }

    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<Identity> {
        path.canonicalize().ok().map(Identity::Path)
    }
}

/// What a file holds, up to one byte more than the budget allows.
fn read_within(file: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(budget::SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub fn cannot_write(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error("E0011", Span::NONE, format!("cannot write `{}`: {}", path.display(), reason_at(path, error)))
        .help("check that the folder is there and that you may write to it")
}

/// What is wrong with a path in a few words: where a folder of it is missing, which.
pub fn reason_at(path: &Path, error: &io::Error) -> String {
    let missing = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()).last();
    match missing.filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(folder) => format!("there is no folder `{}`", folder.display()),
        None => reason(error),
    }
}

/// An error of the operating system in a few words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a directory".into(),
        io::ErrorKind::NotADirectory => "a part of the path is no directory".into(),
        _ => error.to_string(),
    }
}

/// What a compiler has made.
pub fn made(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    std::fs::read(path).map_err(|error| {
        let message = format!("cannot read `{}`: {}", path.display(), reason(&error));
        Diagnostic::error("E0902", Span::NONE, message).help("check what CC is and does")
    })
}
