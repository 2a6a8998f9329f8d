//! `--cpp`: a header for C++17 over the emitted one.
//!
//! In: what emission of C gave, and the names of the two headers. Out: the text of the C++ one: a function for each entry that takes views,
//! reads the sizes off them, keeps the workspace and throws what is no success. An array among the results is a new one; `f_into` writes
//! into views instead, and so does `try_f`, which returns the status and is there without exceptions too. `runtime/views.hpp` is what all
//! such headers share.
//!
//!     size_t f_workspace(int64_t n); smooth_status f(int64_t n, const double *v, double *out, void *workspace, size_t workspace_bytes)
//!     →   inline double f(view<const double, 1> v, workspace &scratch = thread_workspace())
//!         inline smooth_status try_f(view<const double, 1> v, double &out, workspace &scratch = thread_workspace()) noexcept

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::calls::{self, Call, Guards};
use super::names::Names;
use super::size_text::{self, Spelling};
use super::{CFiles, EntrySignature, Parameter, ParameterKind};
use crate::diagnostic::Diagnostic;
use crate::ir::{Program, Size, Var};
use crate::loops::program::Elem;

/// The names that `runtime/views.hpp` declares beside the namespaces of files.
const SHARED: [&str; 11] = [
    "array",
    "count",
    "detail",
    "eigen",
    "is_eigen",
    "shape_error",
    "status_error",
    "status_text",
    "thread_workspace",
    "view",
    "workspace",
];

/// Columns of a signature on one line.
const WIDTH: usize = 120;

#[derive(Serialize)]
struct View {
    title: String,
    header: String,
    guard: String,
    namespace: String,
    views: &'static str,
    groups: [GroupView; 2],
}

/// Those that are there without exceptions, or those that are not.
#[derive(Serialize)]
struct GroupView {
    throws: bool,
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

/// The header `name` over the header `c_header`; `program` is what C was emitted from.
pub fn header(files: &CFiles, program: &Program, name: &str, c_header: &str) -> Result<String, Diagnostic> {
    let calls = calls::all(files, program, &[]);
    // names of the namespace; C has made those of the entries valid and unique, also without a prefix, whose place the namespace takes
    let mut taken: HashSet<String> = files.entries.iter().map(|entry| entry.plain.clone()).collect();
    let (mut throwing, mut returning_status) = (Vec::new(), Vec::new());
    for entry in &files.entries {
        let guards = calls.iter().find(|call| call.source_name == entry.source_name).map(Call::guards).unwrap_or_default();
        let (throws, returns_status) = functions(entry, &guards, &mut taken);
        throwing.extend(throws);
        returning_status.extend(returns_status);
    }
    let stem = name.split('.').next().unwrap_or(name);
    let stem = if SHARED.contains(&stem) { format!("{stem}_") } else { stem.to_string() };
    let view = View {
        title: super::title(&files.provenance),
        header: c_header.to_string(),
        guard: super::guard(name, &files.entries),
        // a stem may be a word of C++
        namespace: Names::new().public(if stem.is_empty() { "program" } else { &stem }),
        views: include_str!("../../runtime/views.hpp"),
        groups: [GroupView { throws: true, functions: throwing }, GroupView { throws: false, functions: returning_status }],
    };
    super::render("cpp.tera", include_str!("../../templates/cpp.tera"), &view)
}

/// What is written of one entry.
struct Entry<'a> {
    entry: &'a EntrySignature,
    guards: &'a Guards<'a>,
    /// Where each size is read: a parameter and a direction.
    read: HashMap<&'a str, (&'a str, usize)>,
    /// The C names of sizes and Indexes.
    names: HashMap<&'a Var, &'a str>,
    scratch: String,
    bytes: String,
}

/// Those that throw: the function that returns the results, and the one that writes arrays into views; then the one that returns a
/// status. None where a size cannot be written in C++.
fn functions(entry: &EntrySignature, guards: &Guards, taken: &mut HashSet<String>) -> (Vec<FunctionView>, Option<FunctionView>) {
    let own: HashSet<&str> = entry.parameters.iter().map(|parameter| &*parameter.name).collect();
    let mut this = Entry {
        entry,
        guards,
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
        return (Vec::new(), None);
    }
    let results: Vec<&Parameter> = entry.parameters.iter().filter(|parameter| is_result(parameter)).collect();
    let has_array = results.iter().any(|result| lengths(result).is_some());
    let mut made: Vec<FunctionView> = this.returning(&results, taken).into_iter().collect();
    if has_array {
        made.push(this.writing(&results, taken));
    }
    (made, Some(this.returning_status(&results, taken)))
}

/// A length that another one decides.
struct Expectation<'a> {
    parameter: &'a str,
    axis: usize,
    wanted: String,
    /// Whether no argument shows that it is a length at all.
    may_be_negative: bool,
}

/// A signature, with a line for each parameter where one line is too long.
fn signature(head: &str, parameters: &[String], tail: &str) -> String {
    let line = format!("{head}({}){tail}", parameters.join(", "));
    if line.len() <= WIDTH { line } else { format!("{head}(\n    {}){tail}", parameters.join(",\n    ")) }
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

/// An `if` that returns, with a line for each condition where one line is too long.
fn return_where(conditions: &[String], status: &str) -> Vec<String> {
    let line = format!("if ({}) {{", conditions.join(" || "));
    let head = if line.len() + 4 <= WIDTH { line } else { format!("if ({}) {{", conditions.join("\n        || ")) };
    vec![head, format!("    return {status};"), "}".to_string()]
}

/// The name with `_` appended until it is free.
fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut name = name.to_string();
    while is_taken(&name) {
        name.push('_');
    }
    name
}

/// The results as parameters.
fn outs(results: &[&Parameter]) -> Vec<String> {
    let out = |result: &&Parameter| match lengths(result) {
        Some(dims) => format!("const ::smoothc::view<{}, {}> &{}", cpp_type(result), dims.len(), result.name),
        None => format!("{} &{}", cpp_type(result), result.name),
    };
    results.iter().map(out).collect()
}

impl Entry<'_> {
    fn returning(&self, results: &[&Parameter], taken: &mut HashSet<String>) -> Option<FunctionView> {
        let types = results.iter().map(|result| self.result_type(result)).collect::<Option<Vec<String>>>()?;
        let mut before = Vec::new();
        let ty = match types.as_slice() {
            [only] => only.clone(),
            all => {
                let name = free(&format!("{}_result", self.entry.plain), |name| taken.contains(name));
                taken.insert(name.clone());
                before.push(format!("/// The results of `{}`.", self.entry.plain));
                before.push(format!("struct {name} {{"));
                before.extend(results.iter().zip(all).map(|(result, ty)| format!("    {ty} {};", result.name)));
                before.push("};".to_string());
                before.push(String::new());
                name
            }
        };
        let mut lines = self.sizes();
        lines.extend(self.without_gaps(&[]));
        lines.extend(self.expected(&self.of_arguments()));
        for (result, ty) in results.iter().zip(&types) {
            lines.push(match lengths(result) {
                Some(dims) => {
                    let wanted = dims.iter().map(|dim| self.size(dim)).collect::<Option<Vec<String>>>()?.join(", ");
                    let (entry, name, elem) = (&self.entry.plain, &result.name, cpp_type(result));
                    format!("{ty} {name} = ::smoothc::detail::result<{elem}, {}>(\"{entry}\", \"{name}\", {{{wanted}}});", dims.len())
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
        let signature = signature(&format!("inline {ty} {}", self.entry.plain), &self.parameters(&[]), "");
        Some(FunctionView { before, doc: self.doc(), signature, lines })
    }

    fn writing(&self, results: &[&Parameter], taken: &mut HashSet<String>) -> FunctionView {
        let name = free(&format!("{}_into", self.entry.plain), |name| taken.contains(name));
        taken.insert(name.clone());
        let mut lines = self.sizes();
        lines.extend(self.without_gaps(results));
        lines.extend(self.expected(&self.of_arguments()));
        lines.extend(self.expected(&self.of_results(results)));
        let own = &self.entry.plain;
        let apart = self.others_of(results).into_iter();
        lines.extend(apart.map(|(name, others)| format!("::smoothc::detail::expect_apart(\"{own}\", \"{name}\", {name}, {others});")));
        lines.extend(self.call());
        let doc = std::iter::once(format!(" `{}`, whose results go into what is given.", self.entry.plain)).collect();
        let signature = signature(&format!("inline void {name}"), &self.parameters(&outs(results)), "");
        FunctionView { before: Vec::new(), doc, signature, lines }
    }

    fn returning_status(&self, results: &[&Parameter], taken: &mut HashSet<String>) -> FunctionView {
        let name = free(&format!("try_{}", self.entry.plain), |name| taken.contains(name));
        taken.insert(name.clone());
        let differs = |of: &Expectation| format!("{} != {}", self.found(of), of.wanted);
        let (arguments, given) = (self.of_arguments(), self.of_results(results));
        let gaps = self.of_eigen(results).map(|name| format!("!{name}.is_contiguous()"));
        let (unknown, known): (Vec<_>, Vec<_>) = arguments.iter().chain(&given).partition(|of| of.may_be_negative);
        let shared = self.others_of(results).into_iter().map(|(name, others)| format!("::smoothc::detail::overlaps({name}, {others})"));
        let wrong: Vec<String> = gaps.chain(known.into_iter().map(differs)).chain(shared).collect();
        let mut lines = self.sizes();
        if !wrong.is_empty() {
            lines.extend(return_where(&wrong, "SMOOTH_SHAPE"));
        }
        for of in unknown {
            lines.extend(return_where(&[differs(of)], &format!("::smoothc::detail::refused({})", of.wanted)));
        }
        // where there is no memory C is given no bytes, and says so
        lines.push(format!("const std::size_t {} = {}.try_reserve({});", self.bytes, self.scratch, self.measure()));
        lines.push(format!("return {};", self.c_call()));
        let mut doc = self.doc();
        doc.push(" Returns the status and throws nothing; the results go into what is given.".to_string());
        let head = format!("[[nodiscard]] inline smooth_status {name}");
        FunctionView { before: Vec::new(), doc, signature: signature(&head, &self.parameters(&outs(results)), " noexcept"), lines }
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

    /// Each array among the results, and the other arrays, which it must share no memory with; two results are there once.
    fn others_of<'b>(&self, results: &[&'b Parameter]) -> Vec<(&'b str, String)> {
        let mut others = Vec::from_iter(self.entry.parameters.iter().filter(|parameter| matches!(parameter.kind, ParameterKind::Array(_))));
        others.retain(|parameter| lengths(parameter).is_some());
        let mut found = Vec::new();
        for result in results.iter().filter(|result| lengths(result).is_some()) {
            if !others.is_empty() {
                found.push((&*result.name, others.iter().map(|other| &*other.name).collect::<Vec<_>>().join(", ")));
            }
            others.push(result);
        }
        found
    }

    /// Reads the sizes.
    fn sizes(&self) -> Vec<String> {
        let read = self.entry.parameters.iter().filter_map(|parameter| Some((&parameter.name, self.read.get(&*parameter.name)?)));
        read.map(|(size, (array, axis))| format!("const std::int64_t {size} = {array}.length({axis});")).collect()
    }

    /// Every length of an argument that no size is read off.
    fn of_arguments(&self) -> Vec<Expectation<'_>> {
        let arrays = self.entry.parameters.iter().filter(|parameter| matches!(parameter.kind, ParameterKind::Array(_)));
        arrays.flat_map(|parameter| self.expectations(parameter)).collect()
    }

    fn of_results<'a>(&'a self, results: &[&'a Parameter]) -> Vec<Expectation<'a>> {
        results.iter().flat_map(|result| self.expectations(result)).collect()
    }

    fn expectations<'a>(&'a self, parameter: &'a Parameter) -> impl Iterator<Item = Expectation<'a>> {
        lengths(parameter).unwrap_or_default().iter().enumerate().filter_map(|(axis, dim)| {
            let source = dim.as_var().and_then(|var| self.names.get(var)).and_then(|size| self.read.get(size));
            if source == Some(&(&*parameter.name, axis)) {
                return None;
            }
            let may_be_negative = source.is_none() && dim.as_constant().is_none();
            Some(Expectation { parameter: &parameter.name, axis, wanted: self.size(dim)?, may_be_negative })
        })
    }

    /// The length that a parameter has.
    fn found(&self, of: &Expectation) -> String {
        let Expectation { parameter, axis, wanted, .. } = of;
        let Some(guards) = self.guards.get(parameter) else { return format!("{parameter}.length({axis})") };
        let is_read: Vec<String> = guards.iter().map(|(tag, case)| format!("{tag} == {case}")).collect();
        format!("::smoothc::detail::length_of_case({parameter}, {axis}, {}, {wanted})", is_read.join(" && "))
    }

    /// The arrays that may be Eigen's, which has vectors and matrices: there may be gaps between their numbers.
    fn of_eigen<'a>(&'a self, results: &'a [&Parameter]) -> impl Iterator<Item = &'a str> {
        let arguments = self.entry.parameters.iter().filter(|parameter| !is_result(parameter));
        let arrays = arguments.chain(results.iter().copied()).filter(|parameter| lengths(parameter).is_some_and(|dims| dims.len() <= 2));
        arrays.map(|parameter| parameter.name.as_str())
    }

    /// Throws where there are gaps.
    fn without_gaps(&self, results: &[&Parameter]) -> Vec<String> {
        let entry = &self.entry.plain;
        let line = |name: &str| format!("::smoothc::detail::expect_contiguous(\"{entry}\", \"{name}\", {name}.is_contiguous());");
        self.of_eigen(results).map(line).collect()
    }

    /// Throws where a length is another one.
    fn expected(&self, all: &[Expectation]) -> Vec<String> {
        let entry = &self.entry.plain;
        let line = |of: &Expectation| {
            let Expectation { parameter, axis, wanted, .. } = of;
            format!("::smoothc::detail::expect(\"{entry}\", \"{parameter}\", {axis}, {}, {wanted});", self.found(of))
        };
        all.iter().map(line).collect()
    }

    /// The call that says how much workspace there must be.
    fn measure(&self) -> String {
        let EntrySignature { workspace, parameters, .. } = self.entry;
        let measured = parameters.iter().filter(|parameter| match parameter.kind {
            ParameterKind::Size(_) => true,
            ParameterKind::Scalar(_) => parameter.elem != Elem::Double,
            ParameterKind::Array(_) | ParameterKind::OutScalar | ParameterKind::OutArray(_) => false,
        });
        let measured: Vec<&str> = measured.map(|parameter| &*parameter.name).collect();
        format!("::{workspace}({})", measured.join(", "))
    }

    /// The call in C, with this workspace.
    fn c_call(&self) -> String {
        let EntrySignature { name, parameters, .. } = self.entry;
        let mut args: Vec<String> = parameters
            .iter()
            .map(|parameter| match parameter.kind {
                ParameterKind::Size(_) | ParameterKind::Scalar(_) => parameter.name.clone(),
                ParameterKind::Array(_) | ParameterKind::OutScalar | ParameterKind::OutArray(_) => destination(parameter),
            })
            .collect();
        args.push(format!("{}.data()", self.scratch));
        args.push(self.bytes.clone());
        format!("::{name}({})", args.join(", "))
    }

    /// The call of a function that throws.
    fn call(&self) -> Vec<String> {
        let name = &self.entry.plain;
        let needed = format!("::smoothc::detail::bytes(\"{name}\", {})", self.measure());
        vec![
            format!("const std::size_t {} = {}.reserve({needed});", self.bytes, self.scratch),
            format!("::smoothc::detail::check(\"{name}\", {});", self.c_call()),
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
    function: |binders, value| {
        let named = |ty: &str, name: &String| if value.contains(name) { format!("{ty} {name}") } else { ty.to_string() };
        let [state, index] = binders;
        format!("[&]({}, {}) {{ return {value}; }}", named("auto", state), named("std::int64_t", index))
    },
    states: |states| format!("std::array<std::int64_t, {}>{{{{{}}}}}", states.len(), states.join(", ")),
};

fn cpp_type(parameter: &Parameter) -> &'static str {
    match parameter.c_type {
        "int64_t" => "std::int64_t",
        other => other,
    }
}
