//! What is known between messages: the open texts, what their analyses say, and what was shown of them.
//!
//! In: texts that are opened, changed and closed. Out: to whoever answers a question, the texts with their analyses, the files that they
//! may open, the functions of the library, and costs that were computed before.
//!
//!     a is open and opens b; b changes   →   both are to be analysed again

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use lsp_types::{TextDocumentContentChangeEvent, Url};

use super::Host;
use super::analysis::Analysis;
use super::documents::{self, Document, Files};
use crate::types::{self, Described};

/// The open texts, and what is known of them.
pub struct Workspace {
    pub host: Host,
    pub documents: HashMap<Url, Document>,
    pub analyses: HashMap<Url, Analysis>,
    /// The texts that changed since they were analysed.
    changed: BTreeSet<Url>,
    library: OnceCell<Vec<Described>>,
    built_in: OnceCell<Vec<Described>>,
    /// The costs of entries of the texts as they are, by file and entry.
    pub costs: Arc<Mutex<HashMap<(String, String), String>>>,
    /// Whether the editor opens a file when it is asked to.
    pub shows_documents: bool,
    /// What was shown, by the name that its file would have alone: an entry of several texts has a file for each.
    shown: HashMap<String, Vec<(Url, String)>>,
}

impl Workspace {
    /// Without a text.
    pub fn new(host: Host) -> Workspace {
        Workspace {
            host,
            documents: HashMap::new(),
            analyses: HashMap::new(),
            changed: BTreeSet::new(),
            library: OnceCell::new(),
            built_in: OnceCell::new(),
            costs: Arc::default(),
            shows_documents: false,
            shown: HashMap::new(),
        }
    }

    /// A text that is shown now.
    pub fn open(&mut self, uri: Url, document: Document) {
        self.documents.insert(uri.clone(), document);
        self.change(uri);
    }

    /// Changes of an open text.
    pub fn edit(&mut self, uri: Url, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        if let Some(document) = self.documents.get_mut(&uri) {
            document.change(version, changes);
            self.change(uri);
        }
    }

    /// Forgets a text; whether it was open.
    pub fn close(&mut self, uri: &Url) -> bool {
        let was_open = self.documents.remove(uri).is_some();
        if was_open {
            self.change(uri.clone());
            self.changed.remove(uri);
            self.analyses.remove(uri);
        }
        was_open
    }

    /// Notes that files changed that any of the texts may open.
    pub fn change_all(&mut self) {
        self.changed.extend(self.documents.keys().cloned());
    }

    /// The texts that are to be analysed again; with them go the costs that are known.
    pub fn take_changed(&mut self) -> BTreeSet<Url> {
        let changed = std::mem::take(&mut self.changed);
        if !changed.is_empty() {
            // a job that is under way has the costs of the texts before, and adds to those
            self.costs = Arc::default();
        }
        changed
    }

    /// Notes that a text is another one now, for itself and for the texts that open it.
    fn change(&mut self, uri: Url) {
        let name = documents::name(&uri);
        let opens = self.analyses.iter().filter(|(_, analysis)| analysis.opened.contains(&name)).map(|(uri, _)| uri.clone());
        self.changed.extend(opens.collect::<Vec<_>>());
        self.changed.insert(uri);
    }

    /// The texts as they are now.
    pub fn files(&self) -> Files {
        let open = self.documents.iter().map(|(uri, document)| (documents::name(uri), document.text.clone())).collect();
        Files { open, host: self.host.clone() }
    }

    /// What the file is called that shows something of an entry.
    pub fn shown_as(&mut self, uri: &Url, entry: &str, suffix: &str) -> String {
        let name = format!("{}_{suffix}", entry.replace('\'', "_prime"));
        // there are disks to which capitals are the same
        let known = self.shown.entry(name.to_lowercase()).or_default();
        let at = known.iter().position(|(of, shown)| of == uri && shown == entry).unwrap_or_else(|| {
            known.push((uri.clone(), entry.to_string()));
            known.len() - 1
        });
        if at == 0 { format!("{name}.smoothcore") } else { format!("{name}_{}.smoothcore", at + 1) }
    }

    /// The functions of the library.
    pub fn library(&self) -> &[Described] {
        self.library.get_or_init(|| types::library().unwrap_or_default())
    }

    pub fn built_in(&self) -> &[Described] {
        self.built_in.get_or_init(types::built_in)
    }
}
