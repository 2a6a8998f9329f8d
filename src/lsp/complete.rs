//! Names that may be meant at a position.
//!
//! In: an analysis and a position, of a text that is being written and mostly has an error right there. Out: what fits the
//! [`Place`]: in an expression local names, the declarations before it, those of opened files, cases, the library and the built-in
//! names with types and laws, types and reserved words; in a type types and sizes; in a pattern cases and records; after a point the
//! fields of the record that stands before it, of all records where its type is not known. Inside a comment, nothing.
//!
//!     let f (v: Vector) = vectorN█   →   vectorNorm (v: Vector<n>) : Double, "The Euclidean norm.", …

use std::collections::HashSet;

use lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind, Position};

use super::analysis::{Analysis, MAIN, analyse};
use super::documents::Files;
use super::hover::local_type;
use super::names::What;
use super::place::{self, Place, is_name_part};
use crate::source::Span;
use crate::syntax::ast::{TypeBody, TypeDecl, TypeExpr, TypeExprKind};
use crate::syntax::{BUILT_IN_TYPES, RESERVED, without_comments};
use crate::types::Described;

/// What may stand at a position.
pub fn complete(
    analysis: &Analysis,
    position: Position,
    library: &[Described],
    built_in: &[Described],
    files: &Files,
) -> Vec<CompletionItem> {
    let offset = analysis.offset(position);
    let (before, is_in_comment) = without_comments(analysis.text().get(..offset).unwrap_or_default());
    if is_in_comment {
        return Vec::new();
    }
    let stem = before.trim_end_matches(is_name_part);
    let mut found = Found::default();
    // two points are those of a slice
    let value = stem.strip_suffix('.').filter(|value| value.ends_with(|c| is_name_part(c) || c == ')' || c == ']'));
    if let Some(value) = value {
        let is_number = value.rsplit(|c| !is_name_part(c)).next().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        if !is_number {
            match owner(analysis, value, files) {
                Owner::Record(at) => fields(analysis, Some(at), &mut found),
                Owner::Unknown => fields(analysis, None, &mut found),
                Owner::None => {}
            }
        }
        return found.items;
    }
    match place::after(declaration(stem)) {
        Place::Expression => expressions(analysis, offset, stem, (library, built_in), &mut found),
        Place::Record => {
            fields(analysis, None, &mut found);
            expressions(analysis, offset, stem, (library, built_in), &mut found);
        }
        Place::Field => fields(analysis, None, &mut found),
        Place::Type => types(analysis, 0, &mut found),
        Place::Size => {
            sizes(analysis, offset, stem, &mut found);
            types(analysis, 1, &mut found);
        }
        Place::Pattern => {
            cases(analysis, 0, &mut found);
            record_patterns(analysis, &mut found);
            ["true", "false"].into_iter().for_each(|word| found.add(word, CompletionItemKind::KEYWORD, None, None, 2));
        }
        Place::Binding => {
            record_patterns(analysis, &mut found);
            found.add("rec", CompletionItemKind::KEYWORD, None, None, 2);
        }
        Place::Name => {}
    }
    found.items
}

/// What an expression may begin with.
fn expressions(analysis: &Analysis, offset: usize, stem: &str, (library, built_in): (&[Described], &[Described]), found: &mut Found) {
    locals(analysis, offset, stem, found);
    for global in analysis.modules.globals.iter().filter(|global| global.file != 0) {
        let name = &global.decl.name;
        if name.span.file != MAIN || (global.decl.span.end as usize) < offset {
            let text = analysis.signature(&name.text).filter(|_| name.span.file == MAIN).map(|signature| signature.text.as_str());
            found.add(&name.text, CompletionItemKind::FUNCTION, text, global.decl.doc.as_deref(), 1);
        }
    }
    cases(analysis, 1, found);
    for known in library {
        found.add(&known.name, CompletionItemKind::FUNCTION, Some(&format!("{} {}", known.name, known.signature)), Some(&known.doc), 2);
    }
    for known in built_in {
        found.add(&known.name, CompletionItemKind::FUNCTION, Some(&format!("{} : {}", known.name, known.signature)), Some(&known.doc), 2);
    }
    types(analysis, 3, found);
    for word in RESERVED {
        found.add(word, CompletionItemKind::KEYWORD, None, None, 4);
    }
}

fn types(analysis: &Analysis, rank: u8, found: &mut Found) {
    for declared in &analysis.modules.types {
        found.add(&declared.decl.name.text, CompletionItemKind::STRUCT, None, None, rank);
    }
    for name in BUILT_IN_TYPES {
        found.add(name, CompletionItemKind::TYPE_PARAMETER, None, None, rank);
    }
}

/// The sizes that the declaration mentions around the place, and its parameters that are an Index.
fn sizes(analysis: &Analysis, offset: usize, stem: &str, found: &mut Found) {
    let text = analysis.text();
    let (rest, _) = without_comments(text.get(offset..place::declaration_end(text, offset)).unwrap_or_default());
    let without = format!("{} {}", declaration(stem), rest.trim_start_matches(is_name_part));
    for name in place::sizes(&without) {
        found.add(name, CompletionItemKind::VARIABLE, Some(&format!("{name} : Index")), None, 0);
    }
}

/// The cases of all sum types.
fn cases(analysis: &Analysis, rank: u8, found: &mut Found) {
    for declared in analysis.modules.types.iter().filter(|declared| matches!(declared.decl.body, TypeBody::Sum(_))) {
        for (case, data) in declared.decl.body.members() {
            let of = data.map(|ty| format!(" of {}", written(analysis, ty.span))).unwrap_or_default();
            let detail = format!("{}{of} : {}", case.text, declared.decl.name.text);
            found.add(&case.text, CompletionItemKind::ENUM_MEMBER, Some(&detail), None, rank);
        }
    }
}

/// A pattern of each record type that names all of its fields.
fn record_patterns(analysis: &Analysis, found: &mut Found) {
    for declared in analysis.modules.types.iter().filter(|declared| matches!(declared.decl.body, TypeBody::Record(_))) {
        let fields = declared.decl.body.members().into_iter().map(|(field, _)| format!("{0} = {0}", field.text));
        let pattern = format!("{{ {} }}", fields.collect::<Vec<_>>().join("; "));
        found.add(&pattern, CompletionItemKind::STRUCT, Some(&declared.decl.name.text), None, 1);
    }
}

fn written(analysis: &Analysis, span: Span) -> &str {
    let text = analysis.sources.file(span).and_then(|file| file.text.get(span.start as usize..span.end as usize));
    text.unwrap_or("_")
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

/// The local names at a place: those of the tree, or where the declaration has an error those that the words before it bind.
fn locals(analysis: &Analysis, offset: usize, stem: &str, found: &mut Found) {
    let sees = |span: Option<crate::source::Span>| {
        span.is_some_and(|span| span.file == MAIN && (span.start as usize..=span.end as usize).contains(&offset))
    };
    for definition in analysis.names.definitions.iter().rev().filter(|known| known.what == What::Local && sees(known.seen)) {
        let ty = local_type(analysis, definition);
        let detail = ty.map(|ty| format!("{} : {ty}", definition.name));
        found.add(&definition.name, CompletionItemKind::VARIABLE, detail.as_deref(), None, 0);
    }
    for name in place::bound(declaration(stem)) {
        found.add(name, CompletionItemKind::VARIABLE, None, None, 0);
    }
}

/// The declaration that a text ends in.
fn declaration(stem: &str) -> &str {
    stem.get(place::declaration(stem, stem.len())..).unwrap_or_default()
}

/// What stands before a point.
enum Owner {
    /// A record; its number in the list of types.
    Record(usize),
    /// What has no fields.
    None,
    Unknown,
}

/// What a text ends with, behind which is a point. The point is an error where nothing follows yet, so that the text is analysed without
/// it.
fn owner(analysis: &Analysis, path: &str, files: &Files) -> Owner {
    let start = path.trim_end_matches(|c| is_name_part(c) || c == '.').len();
    let mut parts = path.get(start..).unwrap_or_default().split('.');
    let first = parts.next().unwrap_or_default();
    let Some(name) = analysis.sources.files.first().map(|file| &file.name).filter(|_| !first.is_empty()) else { return Owner::Unknown };
    let text = analysis.text();
    let rest = text.get(path.len() + 1..).unwrap_or_default().trim_start_matches(is_name_part);
    let without = format!("{}{}{rest}", text.get(..path.len()).unwrap_or_default(), " ".repeat(text.len() - rest.len() - path.len()));
    let whole = analyse(name, &without, files);
    let definition = whole.names.at(MAIN, start).and_then(|found| whole.names.definition(found.definition));
    let Some(ty) = definition.filter(|known| known.what == What::Local).and_then(|known| local_type(&whole, known)) else {
        return Owner::Unknown;
    };
    if ty.starts_with(['_', '\'']) {
        return Owner::Unknown;
    }
    let mut owner = record(analysis, ty.split('<').next().unwrap_or_default());
    for part in parts {
        let Owner::Record(at) = owner else { return owner };
        owner = field_type(&analysis.modules.types[at].decl, part).map_or(Owner::None, |ty| match &ty.kind {
            TypeExprKind::Named(name, _) => record(analysis, &name.text),
            TypeExprKind::Double
            | TypeExprKind::Bool
            | TypeExprKind::Any
            | TypeExprKind::Index(_)
            | TypeExprKind::Array(..)
            | TypeExprKind::Tuple(_)
            | TypeExprKind::Fun(..) => Owner::None,
        });
    }
    owner
}

/// The record type of a name.
fn record(analysis: &Analysis, name: &str) -> Owner {
    let is_it = |decl: &TypeDecl| *decl.name.text == *name && matches!(decl.body, TypeBody::Record(_));
    analysis.modules.types.iter().rposition(|declared| is_it(&declared.decl)).map_or(Owner::None, Owner::Record)
}

fn field_type<'a>(decl: &'a TypeDecl, name: &str) -> Option<&'a TypeExpr> {
    decl.body.members().into_iter().find(|(field, _)| *field.text == *name).and_then(|(_, ty)| ty)
}

/// The fields of the record type of this number, or of all that can be seen.
fn fields(analysis: &Analysis, only: Option<usize>, found: &mut Found) {
    let records = analysis.modules.types.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at));
    for (_, declared) in records.filter(|(_, declared)| matches!(declared.decl.body, TypeBody::Record(_))) {
        for (field, ty) in declared.decl.body.members() {
            let detail = format!("{}.{} : {}", declared.decl.name.text, field.text, ty.map_or("_", |ty| written(analysis, ty.span)));
            found.add(&field.text, CompletionItemKind::FIELD, Some(&detail), None, 0);
        }
    }
}
