//! The functions that say how many bytes of workspace a function needs.
//!
//! In: a lowered function. Out: `f_workspace`, as every caller knows it; where threads share loops that need
//! room, a measure for each such loop; where threads share, or stacks are deeper with more bytes, a measure of the whole for that
//! many threads and calls; and what finds how deep stacks may be, by that measure:
//!
//!     static size_t f_slice(int64_t m);                          a part of a loop
//!     static size_t f_bytes(int64_t n, int64_t m, int64_t deeper, int64_t threads);
//!     static int64_t f_deeper(int64_t n, int64_t m, size_t workspace_bytes);
//!     size_t f_workspace(int64_t n, int64_t m)                   for as many threads as there are, and stacks as deep as is said

use std::collections::BTreeSet;

use crate::ir::ambient::DEEPEST;
use crate::loops::program::*;

use super::names::Names;
use super::printer::{Printer, Shape};
use super::share;
use super::signature::{Described, asks_how_deep};
use super::{FileNames, FunctionView, words};

/// Names those functions that are this file's own.
pub fn name(program: &LoopProgram, file: &mut FileNames, names: &mut Names) {
    for function in &program.functions {
        let body = &file.bodies[&function.name];
        let slices = function.slices.iter().map(|_| names.public(&format!("{body}_slice"))).collect();
        let is_own = function.is_entry && function.workspace.is_told();
        let measure =
            if is_own { names.public(&format!("{body}_bytes")) } else { file.workspaces.get(&function.name).cloned().unwrap_or_default() };
        file.slices.insert(function.name.clone(), slices);
        file.measures.insert(function.name.clone(), measure);
        if asks_how_deep(function) {
            file.deepers.insert(function.name.clone(), names.public(&format!("{body}_deeper")));
        }
        let parts = (0..share::count(&function.body)).map(|_| names.local(&format!("{body}_part"))).collect();
        file.parts.insert(function.name.clone(), parts);
    }
}

/// All measures of a function, those that are called first.
pub fn all(
    function: &LoopFunction,
    file: &FileNames,
    shape: &dyn Fn(&str) -> Shape,
    names: &mut Names,
    signature: &Described,
) -> Vec<FunctionView> {
    let mut views = Vec::new();
    if !function.is_entry && !function.workspace.needed {
        return views;
    }
    let all: Vec<(&str, String)> = signature.measured.iter().map(String::as_str).zip(signature.measured_types.iter().cloned()).collect();
    // a part may be measured by the depth too, which comes after the rest
    let with_depth: Vec<(&str, String)> =
        all.iter().cloned().chain([(signature.deeper.as_str(), format!("int64_t {}", signature.deeper))]).collect();
    for (number, slice) in function.slices.iter().enumerate() {
        let name = file.slices.get(&function.name).and_then(|slices| slices.get(number)).cloned().unwrap_or_default();
        let params: Vec<(&str, String)> = slice.args.iter().filter_map(|at| with_depth.get(*at)).cloned().collect();
        let types: Vec<String> = params.iter().map(|(_, text)| text.clone()).collect();
        let list = if types.is_empty() { "void".to_string() } else { types.join(", ") };
        let params: Vec<&str> = params.iter().map(|(name, _)| *name).collect();
        views.push(one(function, &slice.measure, &params, format!("static size_t {name}({list})"), file, shape, names, signature));
    }
    let params: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    views.push(one(function, &function.workspace, &params, signature.measure.clone(), file, shape, names, signature));
    if function.is_entry && function.workspace.is_told() {
        let call = format!("    return {};", measured(function, file, signature, "0"));
        views.push(FunctionView { doc: Vec::new(), signature: signature.public_measure.clone(), lines: vec![call] });
    }
    if asks_how_deep(function) {
        views.push(deeper(function, file, names, signature));
    }
    views
}

/// A call of the measure for stacks of this depth, and as many threads as there are.
fn measured(function: &LoopFunction, file: &FileNames, signature: &Described, deeper: &str) -> String {
    let deeper = function.workspace.deeper.map(|_| deeper.to_string());
    let threads = function.workspace.threads.map(|_| "smooth_threads()".to_string());
    let args: Vec<String> = signature.measured.iter().cloned().chain(deeper).chain(threads).collect();
    format!("{}({})", file.measures.get(&function.name).cloned().unwrap_or_default(), args.join(", "))
}

/// What finds how much deeper than is said stacks may be. Where they take no room, eight bytes stand for a call.
fn deeper(function: &LoopFunction, file: &FileNames, names: &mut Names, signature: &Described) -> FunctionView {
    let name = file.deepers.get(&function.name).cloned().unwrap_or_default();
    let (bytes, deeper) = (&signature.workspace_bytes, &signature.deeper);
    names.open();
    [bytes, deeper].into_iter().chain(&signature.measured).for_each(|name| names.take(name));
    let more = names.local("more");
    names.close();
    let by_eights = |left: &str, indent: &str| {
        let most = DEEPEST - 1;
        format!("{indent}const uint64_t {more} = {left} / 8;\n{indent}return {more} < {DEEPEST} ? (int64_t){more} : {most};")
    };
    let lines = if function.workspace.deeper.is_some() {
        let need = |depth: &str| measured(function, file, signature, depth);
        let fits = format!("!smooth_is_too_small({bytes}, {})", need(&format!("{deeper} + {more}")));
        let (none, most) = (need("0"), need(&(DEEPEST / 2).to_string()));
        let by_eights = by_eights(&format!("({bytes} - {none})"), "        ");
        format!(
            "    if ({none} == {most}) {{
{by_eights}
    }}
    int64_t {deeper} = 0;
    int64_t {more} = 1;
    while ({more} < {} && {fits}) {{
        {deeper} += {more};
        {more} *= 2;
    }}
    while ({more} > 1) {{
        {more} /= 2;
        if ({fits}) {{
            {deeper} += {more};
        }}
    }}
    return {deeper};",
            DEEPEST / 2
        )
    } else {
        let left =
            if function.workspace.needed { format!("({bytes} - {})", measured(function, file, signature, "")) } else { bytes.clone() };
        let unused = if function.workspace.needed { &[][..] } else { &signature.measured };
        let unused: String = unused.iter().map(|name| format!("    (void){name};\n")).collect();
        format!("{unused}{}", by_eights(&left, "    "))
    };
    let params = signature.measured_types.iter().cloned().chain([format!("size_t {bytes}")]).collect::<Vec<_>>().join(", ");
    let doc = vec![format!("how many calls deeper stacks may be in {} with so many bytes", signature.entry.name)];
    FunctionView { doc, signature: format!("static int64_t {name}({params})"), lines: lines.lines().map(String::from).collect() }
}

#[allow(clippy::too_many_arguments)]
fn one(
    function: &LoopFunction,
    measure: &Workspace,
    params: &[&str],
    text: String,
    file: &FileNames,
    shape: &dyn Fn(&str) -> Shape,
    names: &mut Names,
    signature: &Described,
) -> FunctionView {
    names.open();
    let mut named = vec![None; measure.locals.len()];
    let mut taken: Vec<String> = params.iter().map(|name| name.to_string()).collect();
    for ((id, _), name) in measure.params.iter().zip(&taken) {
        named[*id] = Some(name.clone());
    }
    for (id, name) in measure.deeper.map(|id| (id, &signature.deeper)).into_iter().chain(measure.threads.map(|id| (id, &signature.threads)))
    {
        named[id] = Some(name.clone());
        taken.push(name.clone());
    }
    let taken: BTreeSet<String> = taken.into_iter().collect();
    taken.iter().for_each(|name| names.take(name));
    let mut printer = Printer {
        file,
        real: file.real,
        locals: &measure.locals,
        entries: shape,
        named,
        names,
        function: function.name.clone(),
        measured: &signature.measured,
        deeper: None,
        room: None,
        ground: None,
        part: None,
        parts: Vec::new(),
        in_lanes: false,
        lines: Vec::new(),
        depth: 0,
    };
    printer.block(&measure.body);
    let body = std::mem::take(&mut printer.lines);
    names.close();
    let code = body.join("\n");
    let mentioned = words(&code);
    let unused = params.iter().filter(|name| !mentioned.contains(**name));
    let mut lines: Vec<String> = unused.map(|name| format!("    (void){name};")).collect();
    lines.extend(body);
    FunctionView { doc: Vec::new(), signature: text, lines }
}
