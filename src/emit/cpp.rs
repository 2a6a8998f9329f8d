//! `--cpp`: a header for C++17 over the emitted one.
//!
//! In: what emission of C gave, and the names of the two headers. Out: the text of the C++ one: a function for each entry that takes views,
//! reads the sizes off them, keeps the workspace and throws what is no success. An array among the results is a new one; `f_into` writes
//! into views instead. `runtime/views.hpp` is what all such headers share.
//!
//!     size_t f_workspace(int64_t n); smooth_status f(int64_t n, const double *v, double *out, void *workspace, size_t workspace_bytes)
//!     →   inline double f(view<const double, 1> v, workspace &scratch = thread_workspace())

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::names::Names;
use super::size_text::{self, Spelling};
use super::{CFiles, EntrySignature, Parameter, ParameterKind};
use crate::diagnostic::Diagnostic;
use crate::ir::{Size, Var};
use crate::loops::program::Elem;

/// The names that `runtime/views.hpp` declares beside the namespaces of files.
const SHARED: [&str; 10] =
    ["array", "count", "detail", "eigen", "is_eigen", "shape_error", "status_error", "thread_workspace", "view", "workspace"];

/// Columns of a signature on one line.
const WIDTH: usize = 120;

#[derive(Serialize)]
struct View {
    title: String,
    header: String,
    guard: String,
    namespace: String,
    views: &'static str,
    functions: Vec<FunctionView>,
}

#[derive(Serialize)]
struct FunctionView {
    /// What is declared before: the structure of several results.
    before: Vec<String>,
    doc: Vec<String>,
    signature: String,
    lines: Vec<String>,
}

/// The header `name` over the header `c_header`.
pub fn header(files: &CFiles, name: &str, c_header: &str) -> Result<String, Diagnostic> {
    // names of the namespace; C has made those of the entries valid and unique
    let mut taken: HashSet<String> = files.entries.iter().map(|entry| entry.name.clone()).collect();
    let functions = files.entries.iter().flat_map(|entry| functions(entry, &mut taken)).collect();
    let stem = name.split('.').next().unwrap_or(name);
    let stem = if SHARED.contains(&stem) { format!("{stem}_") } else { stem.to_string() };
    let view = View {
        title: super::title(&files.provenance),
        header: c_header.to_string(),
        guard: super::guard(name),
        // a stem may be a word of C++
        namespace: Names::new().public(if stem.is_empty() { "program" } else { &stem }),
        views: include_str!("../../runtime/views.hpp"),
        functions,
    };
    super::render("cpp.tera", include_str!("../../templates/cpp.tera"), &view)
}

/// What is written of one entry.
struct Entry<'a> {
    entry: &'a EntrySignature,
    /// Where each size is read: a parameter and a direction.
    read: HashMap<&'a str, (&'a str, usize)>,
    /// The C names of sizes and Indexes.
    names: HashMap<&'a Var, &'a str>,
    scratch: String,
    bytes: String,
}

/// The function that returns the results, and the one that writes arrays into views; none where a size cannot be written in C++.
fn functions(entry: &EntrySignature, taken: &mut HashSet<String>) -> Vec<FunctionView> {
    let own: HashSet<&str> = entry.parameters.iter().map(|parameter| &*parameter.name).collect();
    let mut this = Entry {
        entry,
        read: HashMap::new(),
        names: HashMap::new(),
        scratch: free("scratch", |name| own.contains(name)),
        bytes: free("bytes", |name| own.contains(name)),
    };
    for parameter in &entry.parameters {
        match &parameter.kind {
            ParameterKind::Size(var) | ParameterKind::Scalar(Some(var)) => {
                this.names.insert(var, &parameter.name);
            }
            ParameterKind::Scalar(None) | ParameterKind::Array(_) | ParameterKind::OutScalar | ParameterKind::OutArray(_) => {}
        }
    }
    for parameter in &entry.parameters {
        let ParameterKind::Array(_) = &parameter.kind else { continue };
        for (axis, dim) in lengths(parameter).unwrap_or_default().iter().enumerate() {
            if let Some(size) = dim.as_var().and_then(|var| this.names.get(var)) {
                this.read.entry(size).or_insert((&parameter.name, axis));
            }
        }
    }
    // without its sizes a function could not hold the lengths that it is given against them
    let lengths_of = |parameter: &&Parameter| lengths(parameter).unwrap_or_default().to_vec();
    if entry.parameters.iter().flat_map(|parameter| lengths_of(&parameter)).any(|dim| this.size(&dim).is_none()) {
        return Vec::new();
    }
    let results: Vec<&Parameter> = entry.parameters.iter().filter(|parameter| is_result(parameter)).collect();
    let has_array = results.iter().any(|result| lengths(result).is_some());
    let mut made: Vec<FunctionView> = this.returning(&results, taken).into_iter().collect();
    if has_array {
        made.push(this.writing(&results, taken));
    }
    made
}

/// A signature, with a line for each parameter where one line is too long.
fn signature(head: &str, parameters: &[String]) -> String {
    let line = format!("inline {head}({})", parameters.join(", "));
    if line.len() <= WIDTH { line } else { format!("inline {head}(\n    {})", parameters.join(",\n    ")) }
}

/// The lengths of what is an array in C++ too; an array without lengths is one number.
fn lengths(parameter: &Parameter) -> Option<&[Size]> {
    match &parameter.kind {
        ParameterKind::Array(dims) | ParameterKind::OutArray(dims) if !dims.is_empty() => Some(dims),
        ParameterKind::Array(_)
        | ParameterKind::OutArray(_)
        | ParameterKind::Size(_)
        | ParameterKind::Scalar(_)
        | ParameterKind::OutScalar => None,
    }
}

/// What C is given for what it takes by address.
fn destination(parameter: &Parameter) -> String {
    if lengths(parameter).is_some() { format!("{}.data()", parameter.name) } else { format!("&{}", parameter.name) }
}

fn is_result(parameter: &Parameter) -> bool {
    match parameter.kind {
        ParameterKind::OutScalar | ParameterKind::OutArray(_) => true,
        ParameterKind::Size(_) | ParameterKind::Scalar(_) | ParameterKind::Array(_) => false,
    }
}

/// The name with `_` appended until it is free.
fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut name = name.to_string();
    while is_taken(&name) {
        name.push('_');
    }
    name
}

impl Entry<'_> {
    fn returning(&self, results: &[&Parameter], taken: &mut HashSet<String>) -> Option<FunctionView> {
        let types = results.iter().map(|result| self.result_type(result)).collect::<Option<Vec<String>>>()?;
        let mut before = Vec::new();
        let ty = match types.as_slice() {
            [only] => only.clone(),
            all => {
                let name = free(&format!("{}_result", self.entry.name), |name| taken.contains(name));
                taken.insert(name.clone());
                before.push(format!("/// The results of `{}`.", self.entry.name));
                before.push(format!("struct {name} {{"));
                before.extend(results.iter().zip(all).map(|(result, ty)| format!("    {ty} {};", result.name)));
                before.push("};".to_string());
                before.push(String::new());
                name
            }
        };
        let mut lines = self.sizes();
        for (result, ty) in results.iter().zip(&types) {
            lines.push(match lengths(result) {
                Some(dims) => {
                    let dims: Option<Vec<String>> = dims.iter().map(|dim| self.size(dim)).collect();
                    format!("{ty} {}({{{}}});", result.name, dims?.join(", "))
                }
                None => format!("{ty} {}{{}};", result.name),
            });
        }
        lines.extend(self.call());
        lines.push(match results {
            [only] => format!("return {};", only.name),
            all => {
                let moved = |result: &&Parameter| match lengths(result) {
                    Some(_) => format!("std::move({})", result.name),
                    None => result.name.clone(),
                };
                format!("return {{{}}};", all.iter().map(moved).collect::<Vec<_>>().join(", "))
            }
        });
        let signature = signature(&format!("{ty} {}", self.entry.name), &self.parameters(&[]));
        Some(FunctionView { before, doc: self.doc(), signature, lines })
    }

    fn writing(&self, results: &[&Parameter], taken: &mut HashSet<String>) -> FunctionView {
        let name = free(&format!("{}_into", self.entry.name), |name| taken.contains(name));
        taken.insert(name.clone());
        let mut lines = self.sizes();
        for result in results {
            let dims = lengths(result).unwrap_or_default();
            lines.extend(dims.iter().enumerate().filter_map(|(axis, dim)| self.expectation(result, axis, dim)));
        }
        lines.extend(self.call());
        let outs: Vec<String> = results
            .iter()
            .map(|result| match lengths(result) {
                Some(dims) => format!("const ::smoothc::view<{}, {}> &{}", cpp_type(result), dims.len(), result.name),
                None => format!("{} &{}", cpp_type(result), result.name),
            })
            .collect();
        let doc = std::iter::once(format!(" `{}`, whose results go into what is given.", self.entry.name)).collect();
        FunctionView { before: Vec::new(), doc, signature: signature(&format!("void {name}"), &self.parameters(&outs)), lines }
    }

    fn doc(&self) -> Vec<String> {
        let lines = self.entry.doc.lines().map(|line| super::signature::comment(line.trim()));
        // a backslash at the end would make the next line a comment
        lines.map(|line| format!(" {}", line.trim_end_matches('\\'))).collect()
    }

    fn result_type(&self, result: &Parameter) -> Option<String> {
        let Some(dims) = lengths(result) else { return Some(cpp_type(result).to_string()) };
        dims.iter().map(|dim| self.size(dim)).collect::<Option<Vec<_>>>()?;
        Some(format!("::smoothc::array<{}, {}>", cpp_type(result), dims.len()))
    }

    /// The parameters in C++: sizes that nothing shows, then the source's, the outputs, and the workspace.
    fn parameters(&self, outs: &[String]) -> Vec<String> {
        let written = self.entry.parameters.iter().filter_map(|parameter| match &parameter.kind {
            ParameterKind::Size(_) if self.read.contains_key(&*parameter.name) => None,
            ParameterKind::Size(_) | ParameterKind::Scalar(_) => Some(format!("{} {}", cpp_type(parameter), parameter.name)),
            ParameterKind::Array(_) => Some(match lengths(parameter) {
                Some(dims) => format!("const ::smoothc::view<const {}, {}> &{}", cpp_type(parameter), dims.len(), parameter.name),
                None => format!("const {} &{}", cpp_type(parameter), parameter.name),
            }),
            ParameterKind::OutScalar | ParameterKind::OutArray(_) => None,
        });
        let mut all: Vec<String> = written.chain(outs.iter().cloned()).collect();
        all.push(format!("::smoothc::workspace &{} = ::smoothc::thread_workspace()", self.scratch));
        all
    }

    /// Reads the sizes, and holds every other length against them.
    fn sizes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for parameter in &self.entry.parameters {
            if let Some((array, axis)) = self.read.get(&*parameter.name) {
                lines.push(format!("const std::int64_t {} = {array}.length({axis});", parameter.name));
            }
        }
        for parameter in &self.entry.parameters {
            let ParameterKind::Array(_) = &parameter.kind else { continue };
            for (axis, dim) in lengths(parameter).unwrap_or_default().iter().enumerate() {
                let is_source = dim.as_var().and_then(|var| self.names.get(var)).and_then(|size| self.read.get(size));
                if is_source != Some(&(&*parameter.name, axis)) {
                    lines.extend(self.expectation(parameter, axis, dim));
                }
            }
        }
        lines
    }

    fn expectation(&self, parameter: &Parameter, axis: usize, dim: &Size) -> Option<String> {
        let Parameter { name, .. } = parameter;
        let wanted = self.size(dim)?;
        Some(format!("::smoothc::detail::expect(\"{}\", \"{name}\", {axis}, {name}.length({axis}), {wanted});", self.entry.name))
    }

    fn call(&self) -> Vec<String> {
        let EntrySignature { name, workspace, parameters, .. } = self.entry;
        let measured = parameters.iter().filter(|parameter| match parameter.kind {
            ParameterKind::Size(_) => true,
            ParameterKind::Scalar(_) => parameter.elem != Elem::Double,
            ParameterKind::Array(_) | ParameterKind::OutScalar | ParameterKind::OutArray(_) => false,
        });
        let measured: Vec<&str> = measured.map(|parameter| &*parameter.name).collect();
        let mut args: Vec<String> = parameters
            .iter()
            .map(|parameter| match parameter.kind {
                ParameterKind::Size(_) | ParameterKind::Scalar(_) => parameter.name.clone(),
                ParameterKind::Array(_) | ParameterKind::OutScalar | ParameterKind::OutArray(_) => destination(parameter),
            })
            .collect();
        args.push(format!("{}.reserve({})", self.scratch, self.bytes));
        args.push(self.bytes.clone());
        vec![
            format!("const std::size_t {} = ::smoothc::detail::bytes(\"{name}\", ::{workspace}({}));", self.bytes, measured.join(", ")),
            format!("::smoothc::detail::check(\"{name}\", ::{name}({}));", args.join(", ")),
        ]
    }

    /// A size in C++; `None` where it is more than Index operations of what the function has.
    fn size(&self, size: &Size) -> Option<String> {
        size_text::size(size, &|var| self.names.get(var).map(|name| (*name).to_string()), &SPELLING)
    }
}

const SPELLING: Spelling = Spelling {
    path: "::smoothc::detail::",
    smallest: "INT64_MIN",
    choice: |condition, then, otherwise| format!("({condition} ? {then} : {otherwise})"),
};

fn cpp_type(parameter: &Parameter) -> &'static str {
    match parameter.c_type {
        "int64_t" => "std::int64_t",
        other => other,
    }
}
