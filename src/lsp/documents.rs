//! The files that the editor has open, and those that it has not.
//!
//! In: what the editor says of its texts, whole or the part that changes. Out: the text of a document; the text of a file that a
//! program opens, the editor's where it is open there and else the disk's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{TextDocumentContentChangeEvent, Url};

use super::Host;
use super::position::Lines;
use crate::source::normal;

/// One open text.
#[derive(Clone, Debug)]
pub struct Document {
    pub version: i32,
    pub text: Arc<str>,
    pub lines: Lines,
}

impl Document {
    pub fn new(version: i32, text: &str) -> Document {
        Document { version, text: text.into(), lines: Lines::new(text) }
    }

    /// Takes changes in their order, each to the text after those before it.
    pub fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        for change in changes {
            let text = match change.range {
                None => change.text,
                Some(range) => {
                    let ends = [range.start, range.end].map(|end| self.lines.offset(&self.text, end));
                    let mut text = self.text.to_string();
                    text.replace_range(ends[0].min(ends[1])..ends[0].max(ends[1]), &change.text);
                    text
                }
            };
            self.lines = Lines::new(&text);
            self.text = text.into();
        }
        self.version = version;
    }
}

/// What a file is called: its path, or the whole address of a text that is in no file.
pub fn name(uri: &Url) -> String {
    path(uri).map_or_else(|| uri.to_string(), |path| path.display().to_string())
}

pub fn path(uri: &Url) -> Option<PathBuf> {
    if uri.scheme() != "file" {
        return None;
    }
    uri.to_file_path().ok().map(|path| normal(&path))
}

/// The address of a file of this name, the inverse of [`name`].
pub fn uri(name: &str) -> Option<Url> {
    Url::from_file_path(name).ok().or_else(|| Url::parse(name).ok())
}

/// The texts as they are at one time, for a computation of any thread.
#[derive(Clone)]
pub struct Files {
    pub open: HashMap<String, Arc<str>>,
    pub host: Host,
}

impl Files {
    /// What `open "path"` in a file of this name means: the name of the file and its text.
    pub fn load(&self, path: &str, from: &str) -> Result<(String, String), String> {
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        let path = normal(&folder.join(path));
        let name = path.display().to_string();
        match self.open.get(&name) {
            Some(text) => Ok((name, text.to_string())),
            None => (self.host.read)(&path).map(|text| (name, text)),
        }
    }
}
