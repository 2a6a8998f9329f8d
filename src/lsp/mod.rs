//! The language server: what an editor shows of a program while it is written.
//!
//! In: the messages of an editor, on a stream of bytes, and a [`Host`] that reads files. Out: its answers. `transport` reads and writes
//! messages, `server` keeps the order of things, `workspace` the open texts and what is known between messages: `documents` is a text,
//! `analysis` what is known of it; `names` with `walk` says which declaration a name means. Each question has a file: `report`
//! (diagnostics), `hover`, `complete` with `place`, `rename`, `lens`, `outline`; `requests` asks them, of entries of what is `sound`. What
//! may take long, the cost of an entry and its derivative, a `worker` computes.
//!
//!     textDocument/didOpen `let f (v: Vector<n>) = vectorSum w`   →   textDocument/publishDiagnostics E0202 at 0:33, unknown name `w`
//!
//! Places are counted in UTF-16 units, as the protocol does by default. Files are named by their paths; a text that is in no file by its
//! address.

mod analysis;
mod complete;
mod documents;
mod hover;
mod lens;
mod names;
mod outline;
mod place;
mod position;
mod rename;
mod report;
mod requests;
mod server;
mod sound;
mod transport;
mod walk;
mod worker;
mod workspace;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use server::serve;

/// Reads a file, or says why not.
pub type Read = dyn Fn(&Path) -> Result<String, String> + Send + Sync;
/// Writes a text into a file of this name for the editor to open, and says where it is.
pub type Keep = dyn Fn(&str, &str) -> Result<PathBuf, String> + Send + Sync;

/// What the server asks of the machine it runs on.
#[derive(Clone)]
pub struct Host {
    pub read: Arc<Read>,
    pub keep: Arc<Keep>,
}
