//! An entry from numbers to a number is also emitted as a function that returns its value.
//!
//! In: an entry whose parameters are all scalars, whose result is one Double, and which needs no workspace. Out: beside
//! `f` a function `f_value`, NaN where `f` has an error. Its name gives way to an entry of that name.
//!
//!     f (x: Double) : Double   →   double f_value(double x);

use super::expr::c_type;
use super::names::Names;
use super::signature::Described;
use super::{FileNames, FunctionView};
use crate::loops::program::*;

/// Names the functions of all entries that have one; `names` has the entries.
pub fn name(program: &LoopProgram, file: &mut FileNames, names: &mut Names) {
    for function in program.functions.iter().filter(|function| is_value(function)) {
        let wanted = format!("{}_value", file.bodies[&function.name]);
        file.values.insert(function.name.clone(), names.public(&wanted));
    }
}

fn is_value(function: &LoopFunction) -> bool {
    let (results, params): (Vec<&Param>, Vec<&Param>) =
        function.params.iter().partition(|param| matches!(param.role, Role::OutScalar | Role::OutArray(_)));
    let is_double = |param: &Param| matches!(param.role, Role::OutScalar) && function.locals[param.id].elem == Elem::Double;
    let is_scalar = |param: &&Param| matches!(param.role, Role::Size | Role::Scalar);
    function.is_entry
        && !function.workspace.needed
        && !params.is_empty()
        && params.iter().all(is_scalar)
        && matches!(results.as_slice(), [result] if is_double(result))
}

/// The function of an entry, if it has one.
pub fn function(function: &LoopFunction, file: &FileNames, signature: &Described) -> Option<FunctionView> {
    let name = file.values.get(&function.name)?;
    let [params @ .., out] = signature.names.as_slice() else { return None };
    let typed =
        function.params.iter().zip(params).map(|(param, name)| format!("{} {name}", c_type(function.locals[param.id].elem, file.real)));
    let real = file.real.c();
    let (typed, given): (Vec<String>, String) = (typed.collect(), params.iter().map(|name| format!("{name}, ")).collect());
    let lines = vec![
        format!("    {real} {out} = ({real})NAN;"),
        format!("    return {}({given}&{out}, NULL, 0) == SMOOTH_OK ? {out} : ({real})NAN;", signature.entry.name),
    ];
    let doc = vec![format!("{} by its value: NaN where that has an error", signature.entry.name)];
    Some(FunctionView { doc, signature: format!("{}{real} {name}({})", file.linkage, typed.join(", ")), lines })
}
