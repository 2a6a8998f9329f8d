//! `--manifest`: what an emitted C file offers, as JSON, for tools that make bindings.
//!
//! In: what emission gave. Out: the JSON object that `--manifest` writes. Names and types are C's; sizes and parameters stand in the order
//! of the C signature, a shape is its lengths over the sizes and Index parameters, row by row, empty for a number.
//!
//!     {"version": "0.1.0", "source": "dot.smooth", …, "entries": [{"name": "dot", "sizes": ["n"],
//!      "parameters": [{"name": "a", "type": "double", "shape": ["n"]}, …], "results": […], "workspace": "dot_workspace"}]}

use serde::Serialize;

use super::{CFiles, EntrySignature, Parameter, ParameterKind};
use crate::diagnostic::Diagnostic;
use crate::ir::Size;
use crate::source::Span;

#[derive(Serialize)]
struct Manifest<'a> {
    version: &'a str,
    source: &'a str,
    source_hash: &'a str,
    options: &'a [String],
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    doc: &'a str,
    sizes: Vec<&'a str>,
    parameters: Vec<Value<'a>>,
    results: Vec<Value<'a>>,
    /// The function that says how many bytes of workspace a call needs.
    workspace: &'a str,
}

#[derive(Serialize)]
struct Value<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
    shape: Vec<String>,
}

/// The manifest of emitted C.
pub fn manifest(files: &CFiles) -> Result<String, Diagnostic> {
    let manifest = Manifest {
        version: env!("CARGO_PKG_VERSION"),
        source: &files.provenance.source,
        source_hash: &files.provenance.hash,
        options: &files.provenance.options,
        entries: files.entries.iter().map(entry).collect(),
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
        workspace: &entry.workspace,
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

fn value<'a>(parameter: &'a Parameter, dims: &[Size]) -> Value<'a> {
    Value { name: &parameter.name, ty: parameter.c_type, shape: dims.iter().map(Size::to_string).collect() }
}
