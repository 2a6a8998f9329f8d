//! What some stages after `types` do not take: values of recursive types, recursion in Futhark, lengths that only data says.
//!
//! In: a program or the session. Out: nothing, or E0601, E0606, E0607 at each place.

use std::collections::BTreeSet;

use super::Session;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Program;
use crate::source::Span;

/// Refuses values of recursive types, which Futhark, halves of a `vjp` and sparse Jacobians do not have.
pub fn no_recursive_types(program: &Program) -> Result<(), Diagnostics> {
    let Some((place, of)) = program.recursive_value() else { return Ok(()) };
    let problem = Diagnostic::error("E0607", place, format!("unsupported: a value of the recursive type `{}` is here", of.name()));
    Err(vec![problem.help(
        "C has such values inside of entries, and `smoothc eval` without `--schedule` everywhere; `--entry` chooses entries without them",
    )])
}

/// Refuses recursion that is no loop, which Futhark has no stack for.
pub fn no_recursion(session: &Session) -> Result<(), Diagnostics> {
    let recursive = session.program.recursive();
    let problems = session.program.functions.values().filter(|function| recursive.contains(&function.name)).map(|function| {
        let message = format!("unsupported in Futhark: the recursion of `{}` is no loop", function.name);
        Diagnostic::error("E0606", function.span, message)
            .help("make each call the last that a function does, or emit C, where other recursion has a stack")
    });
    let problems: Diagnostics = problems.collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// A choice between values of sum types is of no length that is known before.
pub fn no_lengths_of_data(session: &Session) -> Result<(), Diagnostics> {
    let choices = session.of_data.values().flat_map(|of_data| &of_data.choices);
    // a `match` is a choice for each of its rows, and a function has a copy for each of its uses
    let places: BTreeSet<Span> = choices.map(|place| Span { is_derivative: false, ..*place }).collect();
    let problems: Diagnostics = places.into_iter().map(crate::loops::analysis::sizes::depends_on_data).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
