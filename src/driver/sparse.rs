//! `--derive sparse_jacobian:f`, made when types are known, so that every stage and the interpreter have it as any other function.
//!
//! In: the session after `types`, where such an entry is the whole Jacobian, a `vjp` for all rows. Out: the entries as rows, columns and
//! values (`sparse`), with their signatures.

use super::Session;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::sparse;
use crate::types::Kind;

/// Puts the sparse Jacobians in the place of the Jacobians.
pub fn make(session: &mut Session) -> Result<(), Diagnostics> {
    let mut names: Vec<String> =
        session.options.derive.iter().filter(|derive| derive.kind == Kind::SparseJacobian).map(|derive| derive.entry()).collect();
    names.sort();
    // an entry that is asked for twice is one
    names.dedup();
    if !names.is_empty() {
        super::limits::no_recursive_types(&session.program)?;
    }
    let mut problems: Vec<Diagnostic> = Vec::new();
    for name in names {
        let Some(function) = session.program.functions.get(&*name) else { continue };
        match sparse::of_function(&session.program, function) {
            Ok(made) => {
                if let Some(signature) = session.signatures.iter_mut().find(|signature| signature.name == name) {
                    signature.set_result(&made.result);
                }
                session.program.functions.insert(name.into(), made);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
