//! Functions of Rust over emitted C, for build scripts.
//!
//! In: what emission of C gave. Out: the text of a Rust file to include in a module: a safe function for each entry, which holds the
//! lengths of its slices against the sizes. `runtime/calls.rs` is what all such files begin with.
//!
//!     smooth_status f(int64_t n, const double *v, double *out, void *workspace, size_t workspace_bytes)
//!     →   pub fn f(n: i64, v: &[f64], workspace: &mut Workspace) -> Result<f64, Error>

use std::collections::{HashMap, HashSet};

use super::size_text::{self, Spelling};
use super::{CFiles, EntrySignature, Parameter, ParameterKind};
use crate::ir::{Size, Var};
use crate::loops::program::Elem;

const SPELLING: Spelling = Spelling {
    path: "size::",
    smallest: "i64::MIN",
    choice: |condition, then, otherwise| format!("(if {condition} {{ {then} }} else {{ {otherwise} }})"),
    function: |binders, value| {
        let [state, index] = binders.each_ref().map(|name| if value.contains(name) { name } else { "_" });
        format!("|{state}, {index}| {value}")
    },
    states: |states| format!("[{}]", states.join(", ")),
};

/// Words of Rust that C leaves to names.
const WORDS: &str = "abstract as async await become box crate dyn final fn gen impl in let loop macro match mod move mut override priv pub ref \
                     self Self super trait true type unsafe unsized use virtual where yield";

/// What the file begins with declares; functions have names of their own.
const SHARED: [&str; 4] = ["Error", "Workspace", "Line", "size"];

/// The text of the file.
pub fn module(files: &CFiles) -> String {
    let mut taken: HashSet<String> = SHARED.iter().map(|name| (*name).to_string()).collect();
    let mut text = format!("// {}\n\n{}", super::title(&files.provenance), include_str!("../../runtime/calls.rs"));
    for entry in &files.entries {
        let name = free(&entry.plain, |name| taken.contains(name));
        taken.insert(name.clone());
        text += &function(entry, &name).unwrap_or_default();
    }
    text
}

/// The name with `_` appended until it is a name of Rust and free.
fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut name = name.to_string();
    while WORDS.split_whitespace().any(|word| word == name) || is_taken(&name) {
        name.push('_');
    }
    name
}

fn rust_type(parameter: &Parameter) -> &'static str {
    match (parameter.elem, parameter.c_type) {
        (Elem::Double, "float") => "f32",
        (Elem::Double, _) => "f64",
        (Elem::Index, _) => "i64",
        (Elem::Bool, _) => "bool",
        // only in what measures the workspace, never a parameter of an entry
        (Elem::Bytes, _) => "usize",
    }
}

/// One function; `None` where a length cannot be written.
fn function(entry: &EntrySignature, name: &str) -> Option<String> {
    let mut names: HashMap<String, String> = HashMap::new();
    for parameter in &entry.parameters {
        let own = free(&parameter.name, |name| names.values().any(|known| known == name));
        names.insert(parameter.name.clone(), own);
    }
    let workspace = free("workspace", |name| names.values().any(|known| known == name));
    let bytes = free("bytes", |name| name == workspace || names.values().any(|known| known == name));
    let vars: HashMap<&Var, &str> = entry
        .parameters
        .iter()
        .filter_map(|parameter| match &parameter.kind {
            ParameterKind::Size(var) | ParameterKind::Scalar(Some(var)) => Some((var, &*names[&parameter.name])),
            ParameterKind::Scalar(None) | ParameterKind::Array(_) | ParameterKind::OutScalar | ParameterKind::OutArray(_) => None,
        })
        .collect();
    let size = |size: &Size| size_text::size(size, &|var| vars.get(var).map(|name| (*name).to_string()), &SPELLING);
    let results = entry.parameters.iter().filter(|parameter| match parameter.kind {
        ParameterKind::OutScalar | ParameterKind::OutArray(_) => true,
        ParameterKind::Size(_) | ParameterKind::Scalar(_) | ParameterKind::Array(_) => false,
    });
    let only = match results.collect::<Vec<_>>().as_slice() {
        [only] if matches!(only.kind, ParameterKind::OutScalar) => Some(*only),
        _ => None,
    };
    let (mut params, mut checks, mut declared, mut passed, mut measured) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for parameter in &entry.parameters {
        let (own, ty) = (&names[&parameter.name], rust_type(parameter));
        let mut check = |dims: &[Size]| -> Option<()> {
            let lengths = dims.iter().map(&size).collect::<Option<Vec<String>>>()?;
            checks.push(format!("    size::expect(\"{}\", {own}.len(), &[{}])?;\n", parameter.name, lengths.join(", ")));
            Some(())
        };
        let pointer = match &parameter.kind {
            ParameterKind::Size(_) | ParameterKind::Scalar(_) => {
                if !matches!((&parameter.kind, parameter.elem), (ParameterKind::Scalar(_), Elem::Double)) {
                    measured.push((own.clone(), ty));
                }
                params.push(format!("{own}: {ty}"));
                passed.push(own.clone());
                ty.to_string()
            }
            ParameterKind::Array(dims) => {
                check(dims)?;
                params.push(format!("{own}: &[{ty}]"));
                passed.push(format!("{own}.as_ptr()"));
                format!("*const {ty}")
            }
            ParameterKind::OutArray(dims) => {
                check(dims)?;
                params.push(format!("{own}: &mut [{ty}]"));
                passed.push(format!("{own}.as_mut_ptr()"));
                format!("*mut {ty}")
            }
            ParameterKind::OutScalar if only.is_some() => {
                passed.push(format!("&mut {own}"));
                format!("*mut {ty}")
            }
            ParameterKind::OutScalar => {
                params.push(format!("{own}: &mut {ty}"));
                passed.push(own.clone());
                format!("*mut {ty}")
            }
        };
        declared.push(format!("{own}: {pointer}"));
    }
    let doc: String = entry.doc.lines().map(|line| format!("/// {}\n", line.trim())).collect();
    let list = |of: &[String]| of.join(", ");
    let measures: Vec<String> = measured.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let given: Vec<String> = measured.into_iter().map(|(name, _)| name).collect();
    params.push(format!("{workspace}: &mut Workspace"));
    declared.extend([format!("{workspace}: *mut std::ffi::c_void"), format!("{bytes}: usize")]);
    passed.extend([format!("{workspace}.reserve({bytes})?"), format!("{workspace}.bytes()")]);
    let (result, start, end) = match only {
        Some(only) => {
            let (own, ty) = (&names[&only.name], rust_type(only));
            (ty, format!("    let mut {own} = <{ty}>::default();\n"), format!("    Ok({own})\n"))
        }
        None => ("()", String::new(), "    Ok(())\n".to_string()),
    };
    let mut text = format!("\n{doc}#[allow(dead_code, non_snake_case, clippy::too_many_arguments)]\n");
    text += &format!("pub fn {name}({}) -> Result<{result}, Error> {{\n    unsafe extern \"C\" {{\n", list(&params));
    text += &format!("        #[link_name = \"{}\"]\n        fn smooth_c_measure({}) -> usize;\n", entry.workspace, list(&measures));
    text += &format!("        #[link_name = \"{}\"]\n        fn smooth_c_call({}) -> i32;\n    }}\n", entry.name, list(&declared));
    text += &checks.concat();
    text += &start;
    text += "    // SAFETY: the lengths are those that the sizes say, and C writes nothing beyond them\n";
    text += &format!("    let {bytes} = unsafe {{ smooth_c_measure({}) }};\n", list(&given));
    text += &format!("    size::status(unsafe {{ smooth_c_call({}) }})?;\n{end}}}\n", list(&passed));
    Some(text)
}
