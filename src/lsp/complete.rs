//! Names that may be meant at a position.
//!
//! In: an analysis and a position, of a text that is being written and mostly has an error right there. Out: local names, the
//! declarations before it, those of opened files, the library and the built-in names with types and laws, types and reserved words;
//! after a point the fields of records. Inside a comment, nothing.
//!
//!     let f (v: Vector) = vectorN█   →   vectorNorm (v: Vector<n>) : Double, "The Euclidean norm.", …

use std::collections::HashSet;

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind, Position};

use super::analysis::{Analysis, MAIN};
use super::hover::local_type;
use super::names::What;
use crate::syntax::{BUILT_IN_TYPES, RESERVED};
use crate::types::Described;

/// What may stand at a position.
pub fn complete(analysis: &Analysis, position: Position, library: &[Described], built_in: &[Described]) -> Vec<CompletionItem> {
    let offset = analysis.offset(position);
    let before = analysis.text().get(..offset).unwrap_or_default();
    let stem = before.trim_end_matches(is_name_part);
    if is_in_comment_or_text(before) {
        return Vec::new();
    }
    if stem.ends_with('.') && stem.trim_end_matches('.').ends_with(|c| is_name_part(c) || c == ')' || c == ']') {
        let is_number = stem
            .trim_end_matches('.')
            .rsplit(|c| !is_name_part(c))
            .next()
            .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        return if is_number { Vec::new() } else { fields(analysis) };
    }
    let mut found = Found::default();
    locals(analysis, offset, stem, &mut found);
    for global in analysis.modules.globals.iter().filter(|global| global.file != 0) {
        let name = &global.decl.name;
        if name.span.file != MAIN || (global.decl.span.end as usize) < offset {
            let text = analysis.signature(&name.text).filter(|_| name.span.file == MAIN).map(|signature| signature.text.as_str());
            found.add(&name.text, CompletionItemKind::FUNCTION, text, global.decl.doc.as_deref(), 1);
        }
    }
    for known in library {
        found.add(&known.name, CompletionItemKind::FUNCTION, Some(&format!("{} {}", known.name, known.signature)), Some(&known.doc), 2);
    }
    for known in built_in {
        found.add(&known.name, CompletionItemKind::FUNCTION, Some(&format!("{} : {}", known.name, known.signature)), Some(&known.doc), 2);
    }
    for declared in &analysis.modules.types {
        found.add(&declared.decl.name.text, CompletionItemKind::STRUCT, None, None, 3);
    }
    for name in BUILT_IN_TYPES {
        found.add(name, CompletionItemKind::TYPE_PARAMETER, None, None, 3);
    }
    for word in RESERVED {
        found.add(word, CompletionItemKind::KEYWORD, None, None, 4);
    }
    found.items
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '\''
}

/// Whether what comes next is in a comment or in the name of a file.
fn is_in_comment_or_text(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_text = line.trim_start().starts_with("open") && line.matches('"').count() % 2 == 1;
    is_text || line.contains("//") || before.matches("(*").count() > before.matches("*)").count()
}

#[derive(Default)]
struct Found {
    items: Vec<CompletionItem>,
    names: HashSet<String>,
}

impl Found {
    /// Adds a name; what hides others comes first.
    fn add(&mut self, name: &str, kind: CompletionItemKind, detail: Option<&str>, doc: Option<&str>, rank: u8) {
        if name.starts_with("_") && rank == 2 || !self.names.insert(name.to_string()) {
            return;
        }
        let value = doc.map(|doc| MarkupContent { kind: MarkupKind::Markdown, value: doc.to_string() });
        self.items.push(CompletionItem {
            label: name.to_string(),
            kind: Some(kind),
            detail: detail.map(str::to_string),
            documentation: value.map(Documentation::MarkupContent),
            sort_text: Some(format!("{rank}{name}")),
            ..CompletionItem::default()
        });
    }
}

/// The local names at a place: those of the tree, or where the declaration has an error the words before it that are bound.
fn locals(analysis: &Analysis, offset: usize, stem: &str, found: &mut Found) {
    let sees = |span: Option<crate::source::Span>| {
        span.is_some_and(|span| span.file == MAIN && (span.start as usize..=span.end as usize).contains(&offset))
    };
    for definition in analysis.names.definitions.iter().rev().filter(|known| known.what == What::Local && sees(known.seen)) {
        let ty = local_type(analysis, definition);
        let detail = ty.map(|ty| format!("{} : {ty}", definition.name));
        found.add(&definition.name, CompletionItemKind::VARIABLE, detail.as_deref(), None, 0);
    }
    let start = stem.rfind("\nlet ").map_or(0, |at| at + 1);
    // the declaration itself is no name in its own body
    for name in bound_words(stem.get(start..).unwrap_or_default()).into_iter().skip(1) {
        found.add(name, CompletionItemKind::VARIABLE, None, None, 0);
    }
}

/// The names between `let` or `fun` and the `=` or `->` after it, but those that a type mentions.
fn bound_words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    let mut binds = false;
    let mut in_type = false;
    while let Some(first) = rest.chars().next() {
        let width = match is_name_part(first) {
            true => rest.find(|c| !is_name_part(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, tail) = rest.split_at(width);
        rest = tail;
        match word {
            "let" | "fun" => (binds, in_type) = (true, false),
            "=" | "in" => binds = false,
            "-" if rest.starts_with('>') => binds = false,
            ":" => in_type = true,
            ")" | "," => in_type = false,
            _ if binds && !in_type && first.is_ascii_alphabetic() && !RESERVED.contains(&word) => words.push(word),
            _ => {}
        }
    }
    words
}

/// The fields of all records that can be seen.
fn fields(analysis: &Analysis) -> Vec<CompletionItem> {
    let mut found = Found::default();
    for declared in &analysis.modules.types {
        for (field, ty) in declared.decl.body.members() {
            let text = ty.and_then(|ty| analysis.sources.file(ty.span)?.text.get(ty.span.start as usize..ty.span.end as usize));
            let detail = format!("{}.{} : {}", declared.decl.name.text, field.text, text.unwrap_or("_"));
            found.add(&field.text, CompletionItemKind::FIELD, Some(&detail), None, 0);
        }
    }
    found.items
}
