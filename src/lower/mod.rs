//! Lowering: core program → loop program, in destination-passing style (001 Section 5.3).
//!
//! In: a program without `dual`, and the names of its entries. Out: loops, assignments and guards over
//! scalars and pointers, as they follow from the core; what makes them fast is `loops`. `lower` knows nothing of C's
//! spelling, `emit` nothing of terms.
//!
//!     f (v: Vector<n>) = build n (fun i -> v[i] * 2)   →   for i < n: out[i] = v[i] * 2
//!
//! Limits: an array that is stored must have lengths that follow from sizes and Index and Bool parameters, parts of tuples
//! included, but for results (E0601 otherwise).

mod array;
mod call;
mod choice;
mod components;
mod context;
mod diagonal;
mod factors;
#[cfg(test)]
mod factors_tests;
mod flatten;
mod fold;
mod function;
mod moves;
mod names;
mod row_loop;
mod rows;
mod scalar;
mod step;
mod sweep;
mod update;
mod view;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::ir::Program;
use crate::real::Real;
use crate::source::Span;

use crate::loops::program::LoopProgram;

/// How to lower.
#[derive(Clone, Debug, Default)]
pub struct LowerOptions {
    /// Replace several divisions by one reciprocal and multiplications, as group `algebra` does.
    pub reciprocals: bool,
    /// No run-time checks but those at entry, and of the room that recursion has.
    pub unchecked: bool,
    /// Loops are shared among threads.
    pub parallel: bool,
    /// What a Double is.
    pub real: Real,
}

/// Lowers the entries and what they call.
pub fn lower(program: &Program, entries: &[Rc<str>], options: &LowerOptions) -> Result<LoopProgram, Vec<Diagnostic>> {
    let wanted = program.reachable(entries.iter().cloned());
    let mut functions = Vec::new();
    let mut problems = Vec::new();
    let mut failed: BTreeSet<Rc<str>> = BTreeSet::new();
    for function in program.functions.values().filter(|function| wanted.contains(&function.name)) {
        let mut blocked = false;
        function.body.each_call(&mut |name| blocked |= failed.contains(name));
        if blocked {
            failed.insert(function.name.clone());
            continue;
        }
        let is_entry = entries.contains(&function.name);
        match function::lower_function(program, &functions, function, is_entry, options) {
            Ok(lowered) => functions.push(lowered),
            Err(mut problem) => {
                failed.insert(function.name.clone());
                // a term that a rule made has no place in the source
                if problem.span == Span::NONE {
                    problem.span = function.span;
                }
                problems.push(problem);
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(LoopProgram { real: options.real, functions })
}
