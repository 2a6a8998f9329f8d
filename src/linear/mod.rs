//! Linear maps as values (003 Section 2): the derivative of a function at a point, before it is applied or transposed. `--dump linear`.
//!
//! In: a function without derivatives. Out: its derivative, a linear map from its parameters to its result ([`linearise`]), simplified by
//! the laws of linear maps ([`laws`]), transposed ([`transpose`]), applied to a tangent or a cotangent ([`apply`]).
//! Nothing of the compiler is made of it: it is a way of its own to the derivatives that `ad` gives, and is tested against them.
//!
//!     f (x: Double) = x * sin x
//!     ∂f = (S(sin x) ⋈ S(x)) ∘ (1 × S(cos x) ∘ 1)   =   S(sin x + x * cos x)

mod apply;
mod laws;
mod limits;
mod linearise;
mod map;
#[cfg(test)]
mod tests;
mod text;
mod transpose;

pub use apply::{backward, forward};
pub use laws::simplified;
pub use limits::{recursion, recursive_type};
pub use linearise::{inlined, linearise, point, slopes, updated};
pub use map::{Folding, Form, Map};
pub use transpose::transposed;

use crate::diagnostic::Diagnostic;
use crate::ir::check::find_derivative;
use crate::ir::{Function, Program};

/// An error where a function, or one that it calls, calls itself and is no loop, or where a value is of a recursive type.
fn without_recursion(function: &Function, program: &Program, what: &str) -> Result<(), Diagnostic> {
    let within = program.reachable([function.name.clone()]);
    let mut called = program.clone();
    called.functions.retain(|name, _| within.contains(name));
    if let Some((place, _)) = called.recursive_value() {
        return Err(recursive_type(place, what));
    }
    let recursive = called.recursive();
    match called.functions.values().find(|function| recursive.contains(&function.name)) {
        Some(function) => Err(recursion(function.span, what)),
        None => Ok(()),
    }
}

/// The text of each of the functions, with a line that says why where it has no form; an error where none of them has one.
pub fn sections<'a>(
    functions: impl Iterator<Item = &'a Function>,
    program: &Program,
    what: &str,
    text: impl Fn(&Function) -> Result<String, Diagnostic>,
) -> Result<Vec<String>, Diagnostic> {
    let (mut sections, mut refused) = (Vec::new(), Vec::new());
    for function in functions {
        match without_recursion(function, program, what).and_then(|()| text(function)) {
            Ok(section) => sections.push(section),
            Err(reason) if ["E0606", "E0607"].contains(&reason.code) => {
                let why = reason.message.strip_prefix("unsupported: ").unwrap_or(&reason.message);
                sections.push(format!("// {}: {why}\n", function.name));
                refused.push(reason);
            }
            Err(problem) => return Err(problem),
        }
    }
    match refused.into_iter().next() {
        Some(reason) if sections.iter().all(|section| section.starts_with("//") && section.lines().count() == 1) => Err(reason),
        _ => Ok(sections),
    }
}

/// The linear maps of all functions that have a Double among their parameters and in their result, as text: as they are
/// made, by the laws, and transposed.
pub fn print(program: &Program) -> Result<String, Diagnostic> {
    let entries = program.functions.values().filter(|function| function.is_entry);
    Ok(sections(entries, program, "linear map", |function| of_function(function, program))?.join("\n"))
}

fn of_function(function: &Function, program: &Program) -> Result<String, Diagnostic> {
    let none = |why: &str| Ok(format!("// {}: {why}\n", function.name));
    if !function.result.has_double() || !function.params.iter().any(|param| param.ty().has_double()) {
        return none("no linear map, for there is no Double among the parameters or in the result");
    }
    let whole = inlined(function, program)?;
    if find_derivative(&whole.body).is_some() {
        return none("a derivative itself; the functions that it differentiates have linear maps");
    }
    let map = linearise(&whole)?;
    let simple = simplified(&map)?;
    let back = simplified(&transposed(&simple))?;
    let (domain, result) = (point(&whole), &whole.result);
    let section = |title: &str, name: &str, from: &crate::ir::Type, to: &crate::ir::Type, map: &Map| {
        format!("// {title}\n{}", text::definition(name, &whole.params, from, to, map))
    };
    Ok([
        section("linearised", &format!("D {}", function.name), &domain, result, &map),
        section("by the laws of linear maps", &format!("D {}", function.name), &domain, result, &simple),
        section("transposed", &format!("R {}", function.name), result, &domain, &back),
    ]
    .concat())
}
