//! The functions that say how many bytes of workspace a function needs.
//!
//! In: a lowered function. Out: `f_workspace`, as every caller knows it; where threads share loops that need
//! room, a measure for each such loop, and one of the whole for a number of threads:
//!
//!     static size_t f_slice(int64_t m);                          a part of a loop
//!     static size_t f_bytes(int64_t n, int64_t m, int64_t threads);
//!     size_t f_workspace(int64_t n, int64_t m)                   for as many threads as there are

use std::collections::BTreeSet;

use crate::loops::program::*;

use super::names::Names;
use super::share;
use super::signature::Described;
use super::stmt::{Printer, Shape};
use super::{FileNames, FunctionView, words};

/// Names those functions that are this file's own.
pub fn name(program: &LoopProgram, file: &mut FileNames, names: &mut Names) {
    for function in &program.functions {
        let body = &file.bodies[&function.name];
        let slices = function.slices.iter().map(|_| names.public(&format!("{body}_slice"))).collect();
        let grows = function.is_entry && function.workspace.threads.is_some();
        let measure =
            if grows { names.public(&format!("{body}_bytes")) } else { file.workspaces.get(&function.name).cloned().unwrap_or_default() };
        file.slices.insert(function.name.clone(), slices);
        file.measures.insert(function.name.clone(), measure);
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
    let positions: Vec<usize> = (0..signature.measured.len()).collect();
    for (number, slice) in function.slices.iter().enumerate() {
        let name = file.slices.get(&function.name).and_then(|slices| slices.get(number)).cloned().unwrap_or_default();
        let types: Vec<String> = slice.args.iter().filter_map(|at| signature.measured_types.get(*at)).cloned().collect();
        let list = if types.is_empty() { "void".to_string() } else { types.join(", ") };
        views.push(one(function, &slice.measure, &slice.args, format!("static size_t {name}({list})"), file, shape, names, signature));
    }
    views.push(one(function, &function.workspace, &positions, signature.measure.clone(), file, shape, names, signature));
    if function.is_entry && function.workspace.threads.is_some() {
        let args: Vec<String> = signature.measured.iter().cloned().chain(["smooth_threads()".to_string()]).collect();
        let call = format!("    return {}({});", file.measures.get(&function.name).cloned().unwrap_or_default(), args.join(", "));
        views.push(FunctionView { doc: Vec::new(), signature: signature.public_measure.clone(), lines: vec![call] });
    }
    views
}

#[allow(clippy::too_many_arguments)]
fn one(
    function: &LoopFunction,
    measure: &Workspace,
    args: &[usize],
    text: String,
    file: &FileNames,
    shape: &dyn Fn(&str) -> Shape,
    names: &mut Names,
    signature: &Described,
) -> FunctionView {
    names.open();
    let mut named = vec![None; measure.locals.len()];
    let mut taken: Vec<String> = args.iter().filter_map(|at| signature.measured.get(*at)).cloned().collect();
    for ((id, _), name) in measure.params.iter().zip(&taken) {
        named[*id] = Some(name.clone());
    }
    if let Some(threads) = measure.threads {
        named[threads] = Some(signature.threads.clone());
        taken.push(signature.threads.clone());
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
    let unused = args.iter().filter_map(|at| signature.measured.get(*at)).filter(|name| !mentioned.contains(name.as_str()));
    let mut lines: Vec<String> = unused.map(|name| format!("    (void){name};")).collect();
    lines.extend(body);
    FunctionView { doc: Vec::new(), signature: text, lines }
}
