//! `smoothc lsp`: the language server on standard input and output.
//!
//! In: an editor's messages. Out: its answers; the exit status is the protocol's. Texts that the editor is asked to open are written into
//! a folder that the first of them makes, and that is removed at the end.

use std::io::{BufReader, stdin, stdout};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;

use super::files::{Reads, reason};
use crate::lsp::{Host, serve};

pub fn run() -> u8 {
    let folder = Arc::new(Mutex::new(None));
    let shared = folder.clone();
    let keep = move |name: &str, text: &str| {
        let mut folder = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let folder: &mut TempDir = match &mut *folder {
            Some(made) => made,
            none => none.insert(tempfile::Builder::new().prefix("smoothc-").tempdir().map_err(|error| reason(&error))?),
        };
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(|error| reason(&error))?;
        Ok(path)
    };
    let read = |path: &Path| Reads::default().opened(path).map_err(|problem| problem.message);
    // the lock of standard input belongs to a thread, which reads it alone
    let status = serve(BufReader::new(stdin()), stdout(), Host { read: Arc::new(read), keep: Arc::new(keep) });
    // threads that still work share it
    folder.lock().unwrap_or_else(PoisonError::into_inner).take();
    status
}
