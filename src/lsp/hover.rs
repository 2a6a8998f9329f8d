//! What is shown of a name under the pointer: its type with sizes, its documentation, and of an entry its cost.
//!
//! In: an analysis and a name in it. Out: text in Markdown.
//!
//!     norm   →   let norm (v: Vector<n>) : Double      The length of v.      cost: 2 n + 1: operations on Doubles 2 n + 1, …

use super::analysis::{Analysis, MAIN};
use super::documents::Files;
use super::names::{Definition, Occurrence, What};
use super::place::is_name_part;
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

/// A type declaration as it is written, also where it begins with `and`.
fn type_declaration(analysis: &Analysis, decl: &TypeDecl) -> String {
    let text = analysis.sources.file(decl.span).and_then(|file| file.text.get(decl.name.span.start as usize..decl.span.end as usize));
    format!("type {}", text.unwrap_or(&decl.name.text))
}

/// What the built-in type is whose name is written at a place, and where it is written.
pub fn built_in_type(analysis: &Analysis, offset: usize) -> Option<(Span, String)> {
    let text = analysis.text();
    let (before, after) = text.split_at_checked(offset)?;
    let start = before.trim_end_matches(is_name_part).len();
    let end = offset + after.find(|c| !is_name_part(c)).unwrap_or(after.len());
    let word = text.get(start..end)?;
    let is = match word {
        "Double" => "A number: IEEE's doubles of 64 bits, or what `--real` says.",
        "Bool" => "`true` or `false`.",
        "Unit" => "The type of `()` alone.",
        "Index" => "A whole number of 64 bits. `Index<s>` is one in 0 … s - 1.",
        "Array" => "`Array<T, s>`: an array of s elements of type T. `Array<T>` has any length.",
        "Vector" => "`Vector<s>` is `Array<Double, s>`. `Vector` has any length.",
        "Matrix" => "`Matrix<r, c>`: r rows of c Doubles, `Array<Array<Double, c>, r>`. `Matrix` has any size.",
        "DoubleD" => "`Double * Double`: a number with a derivative.",
        "VectorD" => "`VectorD<s>` is `Array<DoubleD, s>`: an array of numbers with derivatives.",
        "MatrixD" => "`MatrixD<r, c>` is `Array<Array<DoubleD, c>, r>`: rows of numbers with derivatives.",
        _ => return None,
    };
    // in a comment it is a word like others
    let is_written = crate::syntax::without_comments(text).0.get(start..end) == Some(word);
    is_written.then(|| (Span::new(MAIN, start, end), format!("{}{is}", code(&format!("type {word}")))))
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
