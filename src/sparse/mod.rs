//! Sparse Jacobians: of each number of a result the derivative in those numbers of the point that it reads, and where they stand.
//!
//! In: a `vjp` for all rows, as `types` makes it of a function, before anything is optimised. Out: a tuple of the rows, the columns and
//! the values, flat arrays of one length that sizes give; a row and a column are the places of a Double in the result and in the
//! point, both read row by row.
//!
//!     build n (fun i -> x[i] * x[k[i]])
//!     →   rows     build (2 n) (fun t -> t / 2)
//!         columns  [i, k[i]] for each i, one after the other
//!         values   gradient (fun (a, b) -> a * b) (x[i], x[k[i]]) for each i, one after the other
//!
//! `normal` makes reads of the point explicit: calls are inlined, names of parts of the point replaced, elements of what is built taken.
//! `plan` takes the result apart into loops, parts and blocks, `open` the arrays on the way into elements, and `reads` finds the parts of
//! the point that a block reads, and by what indices (`scope`). `entries` writes the three arrays, with what `flat` knows of numbers in a
//! row.
//!
//! A block whose reads have no such indices (they depend on the point, or on how often a loop ran) reads the whole of what the index
//! is for: its rows are as long as those of `jacobian`. An element that two formulas read is there twice: the values at one place
//! are to be added. What a branch that is not taken would read has the value 0 and, where there is no such element, the column 0.

mod entries;
mod flat;
mod normal;
mod open;
mod plan;
mod reads;
mod scope;

use crate::diagnostic::Diagnostic;
use crate::ir::subst::freshen;
use crate::ir::term::Vjp;
use crate::ir::{Expr, Function, Program, Term};
use crate::source::Span;

/// The function with the sparse Jacobian in the place of the Jacobian that its body ends in.
pub fn of_function(program: &Program, function: &Function) -> Result<Function, Diagnostic> {
    let Some(found) = jacobian_at_tail(&function.body) else {
        let message = format!("internal error: `{}` is no Jacobian", function.name);
        return Err(Diagnostic::error("E0901", function.span, message).help("please report it with the program"));
    };
    let entries = of_vjp(program, function, &found)?;
    let body = function.body.map_tails(&|_| freshen(&entries).at(function.span.of_derivative()));
    Ok(Function { result: body.ty().without_bounds(), body, ..function.clone() })
}

/// The `vjp` of the term's only tail.
fn jacobian_at_tail(expr: &Expr) -> Option<Expr> {
    match expr.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => jacobian_at_tail(body),
        Term::Proj(tuple, 1) => Vjp::of(tuple).filter(|vjp| vjp.wants_rows()).map(|_| tuple.clone()),
        _ => None,
    }
}

fn of_vjp(program: &Program, function: &Function, form: &Expr) -> Result<Expr, Diagnostic> {
    let Some(vjp) = Vjp::of(form) else { return Err(irregular(function.span)) };
    let normal = normal::normal(program, &vjp);
    let plan = plan::plan(&normal, &vjp, function);
    let mut is_known = true;
    plan.entries().each_var(&mut |var| is_known &= function.sizes.contains(var) || function.params.contains(var));
    if !is_known {
        return Err(irregular(function.span));
    }
    entries::entries(&plan, &vjp).ok_or_else(|| irregular(function.span))
}

/// A result whose length only data gives.
fn irregular(span: Span) -> Diagnostic {
    let message = "unsupported: how many numbers the result has is not known before it is computed";
    Diagnostic::error("E0601", span, message)
        .help("`sparse_jacobian` takes a function whose result has lengths that follow from sizes and Index parameters")
}
