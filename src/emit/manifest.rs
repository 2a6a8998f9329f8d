//! `--manifest`: what an emitted file offers, as JSON, for tools that make bindings.
//!
//! In: what emission gave. Out: the JSON object that `--manifest` writes. Names and types are C's or Futhark's; sizes and parameters stand
//! in the order of the signature, a shape is its lengths over the sizes and Index parameters, row by row, empty for a number. In Futhark
//! sizes are implicit, and there is no workspace: null. Of C, `calls` says how the values of the source become these parameters.
//!
//!     {"version": "0.1.0", "source": "dot.smooth", …, "entries": [{"name": "dot", "sizes": ["n"],
//!      "parameters": [{"name": "a", "type": "double", "shape": ["n"]}, …], "results": […], "workspace": "dot_workspace"}],
//!      "opened": [], "calls": [{"entry": "dot", "source_name": "dot", "parameters": […], "result": …}]}

use serde::Serialize;

use super::calls::{self, Call};
use super::futhark::FutharkFile;
use super::futhark::interface::{Component, EntryInterface};
use super::{CFiles, EntrySignature, Parameter, ParameterKind, Provenance};
use crate::diagnostic::Diagnostic;
use crate::ir::{Program, Size};
use crate::source::Span;

#[derive(Serialize)]
struct Manifest<'a> {
    version: &'a str,
    source: &'a str,
    source_hash: &'a str,
    options: &'a [String],
    entries: Vec<Entry<'a>>,
    opened: &'a [String],
    /// How each entry of C is called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    doc: &'a str,
    sizes: Vec<&'a str>,
    parameters: Vec<Value<'a>>,
    results: Vec<Value<'a>>,
    /// The function that says how many bytes of workspace a call needs.
    workspace: Option<&'a str>,
}

#[derive(Serialize)]
struct Value<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
    shape: Vec<String>,
}

/// The manifest of emitted C; of the core program it names what is inside parameters, `signatures` are the types of entries as text.
pub fn manifest<'a>(files: &'a CFiles, program: &Program, signatures: &[(&'a str, &'a str)]) -> Result<String, Diagnostic> {
    print(&files.provenance, files.entries.iter().map(entry).collect(), calls::all(files, program, signatures))
}

/// The manifest of emitted Futhark.
pub fn of_futhark(file: &FutharkFile, provenance: &Provenance) -> Result<String, Diagnostic> {
    print(provenance, file.interfaces.iter().map(futhark_entry).collect(), Vec::new())
}

fn print(provenance: &Provenance, entries: Vec<Entry>, calls: Vec<Call>) -> Result<String, Diagnostic> {
    let manifest = Manifest {
        version: env!("CARGO_PKG_VERSION"),
        source: &provenance.source,
        source_hash: &provenance.hash,
        options: &provenance.options,
        entries,
        opened: &provenance.opened,
        calls,
    };
    let text = serde_json::to_string_pretty(&manifest);
    text.map(|text| text + "\n").map_err(|error| Diagnostic::error("E0901", Span::NONE, format!("internal error: no manifest: {error}")))
}

fn entry(entry: &EntrySignature) -> Entry<'_> {
    let mut found = Entry {
        name: &entry.name,
        doc: &entry.doc,
        sizes: Vec::new(),
        parameters: Vec::new(),
        results: Vec::new(),
        workspace: Some(&entry.workspace),
    };
    for parameter in &entry.parameters {
        match &parameter.kind {
            ParameterKind::Size(_) => found.sizes.push(&parameter.name),
            ParameterKind::Scalar(_) => found.parameters.push(value(parameter, &[])),
            ParameterKind::Array(dims) => found.parameters.push(value(parameter, dims)),
            ParameterKind::OutScalar => found.results.push(value(parameter, &[])),
            ParameterKind::OutArray(dims) => found.results.push(value(parameter, dims)),
        }
    }
    found
}

fn futhark_entry(entry: &EntryInterface) -> Entry<'_> {
    fn values(components: &[Component]) -> Vec<Value<'_>> {
        components.iter().map(|component| Value { name: &component.name, ty: component.ty, shape: component.shape.clone() }).collect()
    }
    Entry {
        name: &entry.name,
        doc: &entry.doc,
        sizes: entry.sizes.iter().map(String::as_str).collect(),
        parameters: values(&entry.parameters),
        results: values(&entry.results),
        workspace: None,
    }
}

fn value<'a>(parameter: &'a Parameter, dims: &[Size]) -> Value<'a> {
    Value { name: &parameter.name, ty: parameter.c_type, shape: dims.iter().map(Size::to_string).collect() }
}
