//! Emission of C: loop program → view data → templates → text.
//!
//! In: a loop program and how its files are called. Out: one C file that stands alone, its header, and for
//! each entry what a driver needs to call it. Everything is decided here; `templates/` only lay it out.
//!
//!     for i < n: out[i] = v[i]   →   for (int64_t i = 0; i < n; ++i) {
//!                                        out[i] = v[i];
//!                                    }

mod calls;
pub mod cpp;
mod expr;
pub mod futhark;
pub mod manifest;
mod measures;
mod names;
mod narrow;
mod printer;
pub mod python;
mod range;
mod reserved;
mod runtime;
pub mod rust;
mod share;
mod signature;
mod size_text;
mod stmt;
mod tile;
mod value;
mod wrap;

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::loops::analysis::failures::can_fail;
use crate::loops::program::*;
use crate::real::Real;
use crate::source::Span;

use names::Names;
use printer::{Ground, Printer, Shape};
pub use signature::{EntrySignature, Parameter, ParameterKind};

/// How the files are called.
#[derive(Clone, Debug, Default)]
pub struct COptions {
    /// Goes before public names.
    pub prefix: String,
    /// The header's file name, for its include guard and the how-to-call: `x.h`.
    pub header_name: String,
    /// All in the header: every function is `static inline`, and there is no C file.
    pub header_only: bool,
    /// What the first line says of where the text comes from.
    pub provenance: Provenance,
}

/// What made a file: for its first line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The program's file, without its folder.
    pub source: String,
    /// Of every file that was read: the first 16 hexadecimal digits of SHA-256.
    pub hash: String,
    /// The schedule, then the options that are not as they are by themselves.
    pub options: Vec<String>,
    /// The files that the program opens, from its own folder.
    pub opened: Vec<String>,
}

/// What emission gives.
#[derive(Clone, Debug)]
pub struct CFiles {
    pub source: String,
    pub header: String,
    pub entries: Vec<EntrySignature>,
    pub provenance: Provenance,
}

/// The C names of functions.
#[derive(Debug, Default)]
pub struct FileNames {
    /// What a Double is in this file.
    pub real: Real,
    /// What comes before an entry's functions: `static inline ` in a header.
    pub linkage: &'static str,
    /// What comes before the names of entries.
    pub prefix: String,
    pub bodies: BTreeMap<Rc<str>, String>,
    pub workspaces: BTreeMap<Rc<str>, String>,
    /// What gives the value of an entry, where that is a number from numbers.
    pub values: BTreeMap<Rc<str>, String>,
    /// What says how much a depth of stacks and a number of threads need; the same where neither matters.
    pub measures: BTreeMap<Rc<str>, String>,
    /// What says how deep stacks may be.
    pub deepers: BTreeMap<Rc<str>, String>,
    /// What says how much a part of a shared loop needs.
    pub slices: BTreeMap<Rc<str>, Vec<String>>,
    /// What runs a part of a shared loop.
    pub parts: BTreeMap<Rc<str>, Vec<String>>,
}

#[derive(Serialize)]
struct FunctionView {
    doc: Vec<String>,
    signature: String,
    lines: Vec<String>,
}

#[derive(Serialize)]
struct EntryView {
    doc: Vec<String>,
    prototypes: Vec<String>,
}

#[derive(Serialize)]
struct SourceView {
    /// The include guard of a header.
    guard: Option<String>,
    title: String,
    notes: Vec<String>,
    parts: Vec<String>,
    /// Whether `memcpy` or `memset` is called.
    copies: bool,
    /// Whether loops are marked, which clang may decline to run in lanes.
    lanes: bool,
    helpers: Vec<runtime::Helper>,
    prototypes: Vec<String>,
    functions: Vec<FunctionView>,
}

#[derive(Serialize)]
struct HeaderView {
    title: String,
    notes: Vec<String>,
    guard: String,
    parts: Vec<String>,
    entries: Vec<EntryView>,
}

/// Prints a loop program as C.
pub fn c(program: &LoopProgram, options: &COptions) -> Result<CFiles, Diagnostic> {
    let mut names = Names::new();
    let file = file_names(program, options, &mut names);
    let shape = |name: &str| {
        let function = program.functions.iter().find(|function| &*function.name == name);
        function.map_or(Shape { is_entry: false, needs_room: false, fallible: false, is_told: false }, |function| Shape {
            is_entry: function.is_entry,
            needs_room: function.workspace.needed,
            fallible: function.is_entry || can_fail(&function.body),
            is_told: function.workspace.is_told(),
        })
    };
    let mut functions = Vec::new();
    let mut prototypes = Vec::new();
    let mut entry_views = Vec::new();
    let mut entries = Vec::new();
    for function in &program.functions {
        let signature = signature::describe(function, &file, &mut names);
        functions.extend(measures::all(function, &file, &shape, &mut names, &signature));
        functions.extend(body_function(function, &file, &shape, &mut names, &signature));
        let value = value::function(function, &file, &signature);
        if function.is_entry {
            let own: Vec<String> = signature.prototypes.iter().chain(value.as_ref().map(|value| &value.signature)).cloned().collect();
            prototypes.extend(own.iter().cloned());
            entry_views.push(EntryView { doc: signature.doc.clone(), prototypes: own });
            entries.push(signature.entry);
        }
        functions.extend(value);
    }
    // prototypes stay lines of their own, for those who search a header
    for function in &mut functions {
        function.signature = function.signature.lines().flat_map(|line| wrap::wrap(line, 0)).collect::<Vec<_>>().join("\n");
    }
    let text: String =
        functions.iter().flat_map(|function| function.lines.iter().chain([&function.signature])).cloned().collect::<Vec<_>>().join("\n");
    let title = title(&options.provenance);
    let notes = match program.real {
        Real::F64 => NOTES.to_string(),
        Real::F32 => format!("{NOTES}\nNumbers are floats."),
    };
    let notes: Vec<String> = notes.lines().map(|line| format!(" * {line}").trim_end().to_string()).collect();
    let parts = vec![runtime::STATUS.to_string(), runtime::RESTRICT.to_string()];
    let helpers = runtime::helpers(&text);
    let source_parts = parts.iter().cloned().chain(runtime::loop_parts(&text)).collect();
    let copies = helpers.iter().map(|helper| &helper.text).chain([&text]).any(|text| text.contains("memcpy(") || text.contains("memset("));
    let source = SourceView {
        guard: options.header_only.then(|| guard(&options.header_name, &entries)),
        title: title.clone(),
        notes: notes.clone(),
        parts: source_parts,
        copies,
        lanes: text.contains("SMOOTH_LANES"),
        helpers,
        prototypes,
        functions,
    };
    let header = HeaderView { title, notes, guard: guard(&options.header_name, &entries), parts, entries: entry_views };
    Ok(CFiles {
        source: render("c.tera", include_str!("../../templates/c.tera"), &source)?,
        header: render("header.tera", include_str!("../../templates/header.tera"), &header)?,
        entries,
        provenance: options.provenance.clone(),
    })
}

/// The first line: whoever has the file can tell what made it, and whether that has changed.
fn title(provenance: &Provenance) -> String {
    let Provenance { source, hash, options, opened: _ } = provenance;
    let version = env!("CARGO_PKG_VERSION");
    match source.as_str() {
        "" => format!("Generated by smoothc {version}."),
        name => signature::comment(&format!("Generated by smoothc {version} from {name}, sha256 {hash}, with {}.", options.join(" "))),
    }
}

const NOTES: &str = "
Sizes come first, then the parameters, the results, and the workspace: f_workspace says how many bytes
of it f needs, 0 allows NULL, any alignment of 16 will do. Arrays are row-major and contiguous; an array
of tuples is one array for each component. Results overlap nothing else. A status other than SMOOTH_OK
leaves them unspecified.";

fn render(name: &str, template: &str, view: &impl Serialize) -> Result<String, Diagnostic> {
    let problem = |error: tera::Error| Diagnostic::error("E0901", Span::NONE, format!("internal: the template {name} failed: {error}"));
    let mut tera = tera::Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_template(name, template).map_err(problem)?;
    let context = tera::Context::from_serialize(view).map_err(problem)?;
    tera.render(name, &context).map_err(problem)
}

/// An include guard: no two headers of one name that are of use in one program have one first entry.
fn guard(header: &str, entries: &[EntrySignature]) -> String {
    let name = if header.is_empty() { "smooth.h" } else { header };
    let first = entries.first().map(|entry| format!("_{}", entry.name)).unwrap_or_default();
    let name = format!("{name}{first}");
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    format!("SMOOTH_INCLUDED_{name}")
}

/// Entries keep their names, so they choose first.
fn file_names(program: &LoopProgram, options: &COptions, names: &mut Names) -> FileNames {
    let mut file = FileNames {
        real: program.real,
        linkage: if options.header_only { "static inline " } else { "" },
        prefix: options.prefix.clone(),
        ..FileNames::default()
    };
    let entries = || program.functions.iter().filter(|function| function.is_entry);
    for function in entries() {
        let name = names.prefixed(&options.prefix, &function.name);
        file.bodies.insert(function.name.clone(), name);
    }
    for function in entries() {
        let wanted = format!("{}_workspace", file.bodies[&function.name]);
        let name = names.public(&wanted);
        file.workspaces.insert(function.name.clone(), name);
    }
    value::name(program, &mut file, names);
    // two emitted files may go into one translation unit: what is static there needs a name of this file's own
    let first = entries().next().map(|function| file.bodies[&function.name].clone()).unwrap_or_default();
    for function in program.functions.iter().filter(|function| !function.is_entry) {
        let name = names.public(&format!("{first}_{}", function.name));
        let workspace = names.public(&format!("{name}_workspace"));
        file.bodies.insert(function.name.clone(), name);
        file.workspaces.insert(function.name.clone(), workspace);
    }
    measures::name(program, &mut file, names);
    file
}

/// A function, after those that run the parts of its shared loops.
fn body_function(
    function: &LoopFunction,
    file: &FileNames,
    shape: &dyn Fn(&str) -> Shape,
    names: &mut Names,
    signature: &signature::Described,
) -> Vec<FunctionView> {
    names.open();
    signature.taken.iter().for_each(|name| names.take(name));
    let mut named = vec![None; function.locals.len()];
    for (param, name) in function.params.iter().zip(&signature.names) {
        named[param.id] = Some(name.clone());
    }
    let fallible = function.is_entry || can_fail(&function.body);
    let room = function.is_entry || function.workspace.needed;
    let mut printer = Printer {
        file,
        real: file.real,
        locals: &function.locals,
        entries: shape,
        named,
        names,
        function: function.name.clone(),
        measured: &signature.measured,
        deeper: function.deeper(),
        room: room.then(|| signature.workspace.clone()),
        ground: room.then(|| Ground { start: signature.workspace.clone(), bytes: signature.workspace_bytes.clone(), is_void: true }),
        part: None,
        parts: Vec::new(),
        in_lanes: false,
        lines: Vec::new(),
        depth: 0,
    };
    printer.block(&function.body);
    let body = std::mem::take(&mut printer.lines);
    let mut views = std::mem::take(&mut printer.parts);
    let mut lines = Vec::new();
    let text = body.join("\n");
    let mentioned = words(&text);
    for name in signature.taken.iter().filter(|name| !mentioned.contains(name.as_str())) {
        lines.push(format!("    (void){name};"));
    }
    lines.extend(body);
    if fallible {
        lines.push("    return SMOOTH_OK;".to_string());
    }
    names.close();
    let doc = if function.is_entry { signature.doc.clone() } else { signature.short_doc.clone() };
    let is_narrow = file.real == Real::F64 && narrow::writes_narrow_rows(&function.body);
    let signature = if is_narrow { format!("SMOOTH_NARROW\n{}", signature.body) } else { signature.body.clone() };
    views.push(FunctionView { doc, signature, lines });
    views
}

/// The words of a text outside of comments.
fn words(text: &str) -> HashSet<&str> {
    let code = text.split("/*").enumerate().map(|(at, part)| {
        // all but the first part begin inside a comment
        if at == 0 { part } else { part.split_once("*/").map_or("", |(_, code)| code) }
    });
    code.flat_map(|code| code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')).collect()
}

#[cfg(test)]
mod loops_tests;
#[cfg(test)]
mod tests;
