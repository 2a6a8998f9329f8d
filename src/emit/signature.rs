//! What an entry looks like from outside: its prototypes, its documentation, and how a driver calls it.
//!
//!     f (v: Vector<n>) : Double   →   size_t f_workspace(int64_t n);
//!                                     smooth_status f(int64_t n, const double *v, double *out, void *workspace, size_t workspace_bytes);

use crate::ir::Size;
use crate::loops::analysis::failures::can_fail;
use crate::loops::program::*;

use super::FileNames;
use super::expr::c_type;
use super::names::Names;

/// How to call an entry: arguments in this order, then the workspace and its length.
#[derive(Clone, Debug)]
pub struct EntrySignature {
    /// The name in the source.
    pub source_name: String,
    /// The source's documentation.
    pub doc: String,
    /// The name in C.
    pub name: String,
    /// The name in C without the prefix, for languages that have namespaces.
    pub plain: String,
    /// The name of the function that gives the bytes of workspace; it takes the sizes, then the Index and Bool
    /// scalars, in the order of `parameters`.
    pub workspace: String,
    /// Whether a call ever needs workspace, or its recursion goes deeper with more.
    pub needs_workspace: bool,
    pub parameters: Vec<Parameter>,
}

/// One C parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    pub kind: ParameterKind,
    pub elem: Elem,
    /// The type in C of what is passed, or of an element.
    pub c_type: &'static str,
}

/// What a C parameter is. Lengths are over the source's size names and Index parameters, in the C order; an
/// empty array is one number, passed by pointer.
#[derive(Clone, Debug)]
pub enum ParameterKind {
    /// A size; the variable is what lengths mention.
    Size(crate::ir::Var),
    Scalar(Option<crate::ir::Var>),
    Array(Vec<Size>),
    OutScalar,
    OutArray(Vec<Size>),
}

/// All texts that name a function.
pub struct Described {
    pub entry: EntrySignature,
    /// C names of the parameters.
    pub names: Vec<String>,
    /// C names of the workspace function's parameters.
    pub measured: Vec<String>,
    /// The same as they are declared.
    pub measured_types: Vec<String>,
    /// What the measure calls the number of calls that stacks are deeper.
    pub deeper: String,
    pub taken: Vec<String>,
    pub workspace: String,
    pub workspace_bytes: String,
    /// What the measure calls the number of threads.
    pub threads: String,
    pub body: String,
    /// The measure, which takes the depth of stacks and the number of threads where they matter.
    pub measure: String,
    /// The measure as callers see it.
    pub public_measure: String,
    pub prototypes: Vec<String>,
    pub doc: Vec<String>,
    pub short_doc: Vec<String>,
}

/// Names and describes one function.
pub fn describe(function: &LoopFunction, file: &FileNames, names: &mut Names) -> Described {
    names.open();
    let mut c_names: Vec<String> = Vec::new();
    for param in &function.params {
        c_names.push(names.public(&function.locals[param.id].name));
    }
    let workspace = names.public("workspace");
    let workspace_bytes = names.public("workspace_bytes");
    let deeper = names.public("deeper");
    let threads = names.public("threads");
    names.close();
    let name = file.bodies.get(&function.name).cloned().unwrap_or_default();
    let workspace_name = file.workspaces.get(&function.name).cloned().unwrap_or_default();
    let mut parameters = Vec::new();
    let mut texts = Vec::new();
    let mut measured = Vec::new();
    let mut measure_texts = Vec::new();
    for (param, c_name) in function.params.iter().zip(&c_names) {
        let elem = function.locals[param.id].elem;
        let ty = c_type(elem, file.real);
        let (kind, text) = match &param.role {
            Role::Size => {
                let var = function.size_names.iter().find(|(_, id)| *id == param.id).map(|(var, _)| var.clone());
                let kind = var.map_or(ParameterKind::Scalar(None), ParameterKind::Size);
                (kind, format!("{ty} {c_name}"))
            }
            Role::Scalar => {
                let place = function.workspace.params.iter().zip(measured_ids(function)).find(|(_, id)| *id == param.id);
                (ParameterKind::Scalar(place.and_then(|((_, var), _)| var.clone())), format!("{ty} {c_name}"))
            }
            Role::Array(dims) => (ParameterKind::Array(dims.clone()), format!("const {ty} *SMOOTH_RESTRICT {c_name}")),
            Role::OutScalar => (ParameterKind::OutScalar, format!("{ty} *SMOOTH_RESTRICT {c_name}")),
            Role::OutArray(dims) => (ParameterKind::OutArray(dims.clone()), format!("{ty} *SMOOTH_RESTRICT {c_name}")),
        };
        let is_measured = matches!(param.role, Role::Size) || matches!(param.role, Role::Scalar) && elem != Elem::Double;
        if is_measured {
            measured.push(c_name.clone());
            measure_texts.push(text.clone());
        }
        texts.push(text);
        parameters.push(Parameter { name: c_name.clone(), kind, elem, c_type: ty });
    }
    let mut taken = c_names.clone();
    if function.is_entry {
        texts.push(format!("void *{workspace}"));
        texts.push(format!("size_t {workspace_bytes}"));
        taken.extend([workspace.clone(), workspace_bytes.clone()]);
    } else if function.workspace.needed {
        texts.push(format!("void *{workspace}"));
        taken.push(workspace.clone());
        if function.workspace.is_told() {
            texts.push(format!("size_t {workspace_bytes}"));
            taken.push(workspace_bytes.clone());
        }
    }
    let list = |texts: &[String]| if texts.is_empty() { "void".to_string() } else { texts.join(", ") };
    let fallible = function.is_entry || can_fail(&function.body);
    let result = if fallible { "smooth_status" } else { "void" };
    let linkage = if function.is_entry { file.linkage } else { "static " };
    let body = format!("{linkage}{result} {name}({})", list(&texts));
    let public_measure = format!("{linkage}size_t {workspace_name}({})", list(&measure_texts));
    let prototypes = vec![public_measure.clone(), body.clone()];
    let measure = match file.measures.get(&function.name) {
        Some(name) if function.workspace.is_told() => {
            let more = function.workspace.deeper.map(|_| &deeper).into_iter().chain(function.workspace.threads.map(|_| &threads));
            let all: Vec<String> = measure_texts.iter().cloned().chain(more.map(|name| format!("int64_t {name}"))).collect();
            format!("static size_t {name}({})", list(&all))
        }
        Some(_) | None => public_measure.clone(),
    };
    let doc = documentation(function, &parameters);
    let short_doc = function.doc.iter().flat_map(|doc| doc.lines()).map(|line| comment(line.trim())).collect();
    let entry = EntrySignature {
        source_name: function.name.to_string(),
        doc: function.doc.as_deref().unwrap_or_default().to_string(),
        plain: name.strip_prefix(&*file.prefix).unwrap_or(&name).to_string(),
        name,
        workspace: workspace_name,
        needs_workspace: function.workspace.needed || asks_how_deep(function),
        parameters,
    };
    Described {
        entry,
        names: c_names,
        measured,
        measured_types: measure_texts,
        deeper,
        taken,
        workspace,
        workspace_bytes,
        threads,
        body,
        measure,
        public_measure,
        prototypes,
        doc,
        short_doc,
    }
}

/// Whether a function finds how deep its stacks may be.
pub fn asks_how_deep(function: &LoopFunction) -> bool {
    function.body.iter().any(|stmt| matches!(stmt, Stmt::Declare { init: Some(Value::Call(Callee::Deeper(_), _)), .. }))
}

fn measured_ids(function: &LoopFunction) -> Vec<Id> {
    let is_measured = |param: &&Param| {
        matches!(param.role, Role::Size) || matches!(param.role, Role::Scalar) && function.locals[param.id].elem != Elem::Double
    };
    function.params.iter().filter(is_measured).map(|param| param.id).collect()
}

/// The doc comment: the source's, then every parameter with its shape.
fn documentation(function: &LoopFunction, parameters: &[Parameter]) -> Vec<String> {
    let mut lines: Vec<String> = function.doc.iter().flat_map(|doc| doc.lines()).map(|line| comment(line.trim())).collect();
    if lines.is_empty() {
        lines.push(comment(&function.name));
    }
    let width = parameters.iter().map(|parameter| parameter.name.len()).max().unwrap_or(0);
    for parameter in parameters {
        let what = match &parameter.kind {
            ParameterKind::Size(_) => "a size".to_string(),
            ParameterKind::Scalar(_) => scalar(parameter.elem).to_string(),
            ParameterKind::Array(dims) => shape(dims, parameter.elem),
            ParameterKind::OutScalar => format!("result: {}", scalar(parameter.elem)),
            ParameterKind::OutArray(dims) => format!("result: {}", shape(dims, parameter.elem)),
        };
        lines.push(format!("  {:width$}  {}", parameter.name, comment(&what)));
    }
    lines
}

fn scalar(elem: Elem) -> &'static str {
    match elem {
        Elem::Double => "a number",
        Elem::Index => "an integer",
        Elem::Bool => "true or false",
        Elem::Bytes => "bytes",
    }
}

fn many(elem: Elem) -> &'static str {
    match elem {
        Elem::Double => "numbers",
        Elem::Index => "integers",
        Elem::Bool => "truth values",
        Elem::Bytes => "bytes",
    }
}

fn shape(dims: &[Size], elem: Elem) -> String {
    let texts: Vec<String> = dims.iter().map(|size| size.to_string()).collect();
    let by_rows = if dims.len() > 1 { ", row by row" } else { "" };
    format!("{} {}{by_rows}", texts.join(" x "), many(elem))
}

/// A text that ends no comment.
pub fn comment(text: &str) -> String {
    // a trigraph is a warning even in a comment
    text.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
}
