//! `smoothc lsp`: the language server on standard input and output.
//!
//! In: an editor's messages. Out: its answers; the exit status is the protocol's. Texts that the editor is asked to open are written into
//! a folder that is removed at the end.

use std::io::{BufReader, stdin, stdout};
use std::path::Path;
use std::sync::Arc;

use super::files::{Reads, reason};
use crate::lsp::{Host, serve};

pub fn run() -> u8 {
    let folder = tempfile::Builder::new().prefix("smoothc-").tempdir();
    let path = folder.as_ref().map(|folder| folder.path().to_path_buf()).map_err(reason);
    let keep = move |name: &str, text: &str| {
        let path = path.as_ref().map_err(Clone::clone)?.join(name);
        std::fs::write(&path, text).map_err(|error| reason(&error))?;
        Ok(path)
    };
    let read = |path: &Path| Reads::default().opened(path).map_err(|problem| problem.message);
    // the lock of standard input belongs to a thread, which reads it alone
    serve(BufReader::new(stdin()), stdout(), Host { read: Arc::new(read), keep: Arc::new(keep) })
}
