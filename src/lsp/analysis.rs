//! What is known of one text: its types, its names, its errors.
//!
//! In: the name and the text of a file, and the [`Files`] it may open. Out: an [`Analysis`], also of a text with errors.
//!
//!     let f x = x * x   →   signature `let f (x: Double) : Double`; x is a Double; f and x with all their places

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lsp_types::{Position, Range};

use super::documents::Files;
use super::names::{Names, Occurrence};
use super::position::Lines;
use super::walk;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::Open;
use crate::types::modules::Modules;
use crate::types::{self, Signature, Surveyed};

/// The number of the text in its source map.
pub const MAIN: u32 = 0;

pub struct Analysis {
    pub sources: SourceMap,
    pub modules: Modules,
    pub surveyed: Surveyed,
    pub names: Names,
    /// The files that it opens, directly or not, also those that could not be read.
    pub opened: Vec<String>,
    pub lines: Lines,
    /// Of a text with errors the part that has none, once [`Analysis::sound`] was asked for it.
    pub(super) sound: OnceCell<Option<Box<Analysis>>>,
}

/// Analyses a text. A failure of the compiler itself is a diagnostic as well.
pub fn analyse(name: &str, text: &str, files: &Files) -> Analysis {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut sources = SourceMap::default();
        sources.add(name, text);
        let mut opened = Vec::new();
        let (surveyed, modules) = types::survey(
            &mut sources,
            MAIN,
            &mut |path, from| {
                let loaded = files.load(path, from);
                opened.push(loaded.as_ref().map_or_else(|_| documents_name(path, from), |(name, _)| name.clone()));
                loaded
            },
            &types::Options::default(),
        );
        let names = walk::resolve(&sources, &modules, &surveyed.records);
        Analysis { sources, modules, surveyed, names, opened, lines: Lines::new(text), sound: OnceCell::new() }
    }));
    done.unwrap_or_else(|_| failed(name, text))
}

/// What a file that cannot be read would be called.
fn documents_name(path: &str, from: &str) -> String {
    let folder = std::path::Path::new(from).parent().unwrap_or(std::path::Path::new(""));
    crate::source::normal(&folder.join(path)).display().to_string()
}

/// A text of which nothing is known, since the compiler failed on it.
fn failed(name: &str, text: &str) -> Analysis {
    let mut sources = SourceMap::default();
    sources.add(name, text);
    let problem = Diagnostic::error("E0901", Span::new(MAIN, 0, 0), "internal error: the types of this file could not be computed")
        .help("this is a bug in smoothc: please report it with the file");
    let surveyed = Surveyed {
        program: None,
        diagnostics: vec![problem],
        signatures: Vec::new(),
        names: Vec::new(),
        records: std::collections::HashMap::new(),
        of_data: crate::types::LengthsOfData::default(),
        measures: Vec::new(),
    };
    let (modules, names, lines) = (Modules::default(), Names::default(), Lines::new(text));
    Analysis { sources, modules, surveyed, names, opened: Vec::new(), lines, sound: OnceCell::new() }
}

impl Analysis {
    /// The text that was analysed.
    pub fn text(&self) -> &str {
        self.sources.files.first().map_or("", |file| &file.text)
    }

    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(self.text(), position)
    }

    /// The range of a place of the text itself.
    pub fn range(&self, span: Span) -> Range {
        self.lines.range(self.text(), span.start as usize, span.end as usize)
    }

    /// The name that is written at a position.
    pub fn name_at(&self, position: Position) -> Option<Occurrence> {
        self.names.at(MAIN, self.offset(position)).copied()
    }

    /// The `open` whose path, or library, is written at a position.
    pub fn open_at(&self, position: Position) -> Option<Open> {
        let offset = self.offset(position);
        let (module, _) = crate::syntax::parse_recovering(self.text(), MAIN);
        module.opens.into_iter().find(|open| {
            let (start, end) = (open.span.start as usize, open.span.end as usize);
            // behind the word itself
            let path = self.text().get(start + "open".len()..end).map_or(end, |rest| end - rest.trim_start().len());
            (path..=end).contains(&offset)
        })
    }

    pub fn signature(&self, name: &str) -> Option<&Signature> {
        self.surveyed.signatures.iter().find(|signature| signature.name == name)
    }

    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.surveyed.diagnostics.iter().filter(|problem| problem.severity == Severity::Error)
    }
}
