//! What is shown of a name under the pointer: its type with sizes, its documentation, and of an entry its cost.
//!
//! In: an analysis and a name in it. Out: text in Markdown.
//!
//!     norm   →   let norm (v: Vector<n>) : Double      The length of v.      cost: 2 n + 1: operations on Doubles 2 n + 1, …

use super::analysis::{Analysis, MAIN};
use super::documents::Files;
use super::names::{Definition, Occurrence, What};
use crate::source::Span;
use crate::syntax::ast::{TypeBody, TypeDecl};
use crate::types::Described;

/// What a name is.
pub struct Hover {
    pub text: String,
    /// The entry whose cost is to be added.
    pub entry: Option<String>,
}

/// Describes the name at a place; `library` and `built_in` are the functions that need no declaration.
pub fn hover(analysis: &Analysis, found: Occurrence, library: &[Described], built_in: &[Described], files: &Files) -> Option<Hover> {
    let definition = analysis.names.definition(found.definition)?;
    let name = &*definition.name;
    let described = |all: &[Described], separator: &str| {
        let known = all.iter().find(|known| known.name == name)?;
        Some(format!("{}{}", code(&format!("{name}{separator}{}", known.signature)), known.doc))
    };
    let mut entry = None;
    let text = match definition.what {
        What::Local => code(&format!("{name} : {}", local_type(analysis, definition).unwrap_or("_"))),
        What::Size => format!("{}A size.", code(&format!("{name} : Index"))),
        What::Global(at) => {
            entry = (definition.place.is_some_and(|place| place.file == MAIN) && analysis.is_entry(name, files)).then(|| name.to_string());
            global(analysis, name, at)?
        }
        What::Library(_) => format!("{}\n\n`linalg`", described(library, " ")?),
        What::BuiltIn => described(built_in, " : ")?,
        What::Type(at) => code(&type_declaration(analysis, &analysis.modules.types.get(at)?.decl)),
        What::Field => code(&field(analysis, definition)?),
    };
    Some(Hover { text, entry })
}

/// The type of a local name.
pub fn local_type<'a>(analysis: &'a Analysis, definition: &Definition) -> Option<&'a str> {
    let place = definition.place?;
    // the place of a pattern may include brackets around the name
    let covers = |span: &Span| span.file == place.file && span.start <= place.start && place.end <= span.end;
    let names = &analysis.surveyed.names;
    let after = names.partition_point(|(span, _)| (span.file, span.start) <= (place.file, place.start));
    names.get(..after)?.iter().rev().take(4).find(|(span, _)| covers(span)).map(|(_, ty)| ty.as_str())
}

/// A declaration: its signature, or where it is in another file the line that it begins with; then its documentation.
fn global(analysis: &Analysis, name: &str, at: usize) -> Option<String> {
    let decl = &analysis.modules.globals.get(at)?.decl;
    let is_here = decl.name.span.file == MAIN;
    let head = match analysis.signature(name).filter(|_| is_here) {
        Some(signature) => signature.text.clone(),
        None => written_head(analysis, decl.span, decl.body.span)?,
    };
    Some(format!("{}{}", code(&head), decl.doc.as_deref().unwrap_or_default()))
}

/// A declaration as it is written, up to its body.
fn written_head(analysis: &Analysis, decl: Span, body: Span) -> Option<String> {
    let text = analysis.sources.file(decl)?.text.get(decl.start as usize..body.start as usize)?;
    Some(text.trim_end().trim_end_matches('=').trim_end().to_string())
}

/// A type declaration as it is written.
fn type_declaration(analysis: &Analysis, decl: &TypeDecl) -> String {
    let text = analysis.sources.file(decl.name.span).map_or("", |file| &file.text);
    let end = text.get(decl.name.span.end as usize..).and_then(|rest| rest.find('}')).map_or(0, |at| decl.name.span.end as usize + at + 1);
    format!("type {}", text.get(decl.name.span.start as usize..end).unwrap_or(&decl.name.text))
}

/// A field with its type as it is declared.
fn field(analysis: &Analysis, definition: &Definition) -> Option<String> {
    let place = definition.place?;
    let members = analysis.modules.types.iter().flat_map(|declared| {
        let between = if matches!(declared.decl.body, TypeBody::Record(_)) { ": " } else { " of " };
        declared.decl.body.members().into_iter().map(move |(name, ty)| (name, between, ty))
    });
    let (name, between, ty) = members.into_iter().find(|(name, ..)| name.span == place)?;
    let Some(ty) = ty else { return Some(name.text.to_string()) };
    let text = analysis.sources.file(place)?.text.get(ty.span.start as usize..ty.span.end as usize)?;
    Some(format!("{}{between}{text}", name.text))
}

fn code(text: &str) -> String {
    format!("```smooth\n{text}\n```\n")
}
