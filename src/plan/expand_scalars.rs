//! Scalar expansion: elements that need one fold down their column before another are computed one fold after the other.
//!
//! In: `build(n, j. element)` with several folds down column j (`columns`), or one that needs what the element names. Out:
//! arrays of what is needed later, each with one fold, and the elements made of them:
//!
//!     build(n, j. let top = fold(m, s, i. max(s, A[i][j]), w) in     →   let tops = build(n, j. fold(m, s, i. max(s, A[i][j]), w)) in
//!                 top + fold(m, s, i. s + exp(A[i][j] - top), 0))        build(n, j. tops[j] + fold(m, s, i. s + exp(A[i][j] - tops[j]), 0))
//!
//! so that each array can be computed row by row. The components of pairs become arrays too, from which the pairs are put together. Not
//! where a name is an array: that would be a matrix; not where arrays are updated.

use crate::ir::free::mentions;
use crate::ir::prove::Facts;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Function, Size, Term, Type, Var};

use super::Options;
use super::columns::{self, ColumnFold, folds};
use super::known::{cannot_fail, map_known};

/// A let of an element or an Index of at most so many nodes is substituted.
const SHORT: usize = 8;

/// The body with such elements computed one fold after the other.
pub fn run(function: &Function, _: &Options) -> Expr {
    if may_expand(&function.body) { expanded_inside(&function.body, &Facts::for_function(function)) } else { function.body.clone() }
}

/// Whether there is an element that may need a fold before another: what is known at each place is worked out only then.
fn may_expand(expr: &Expr) -> bool {
    let here = matches!(expr.term(), Term::Build { i, body, .. } if !body.ty().has_array() && walks(i, body));
    here || expr.term().children().any(may_expand)
}

fn expanded_inside(expr: &Expr, facts: &Facts) -> Expr {
    let found = if let Term::Build { n, i, body } = expr.term()
        && !expr.has_updates()
    {
        expanded(n, i, body, facts)
    } else {
        None
    };
    map_known(found.as_ref().unwrap_or(expr), facts, &mut expanded_inside)
}

/// Whether the elements of a `build` are computed one fold after the other.
pub fn needs_arrays(n: &Expr, column: &Var, element: &Expr, facts: &Facts) -> bool {
    walks(column, element) && expanded(n, column, element, facts).is_some()
}

/// The lets that make the arrays, around `build`s or a choice between them.
fn expanded(n: &Expr, column: &Var, element: &Expr, facts: &Facts) -> Option<Expr> {
    if columns::has_few(n) || n.node_count() > SHORT || Size::try_of_expr(n).is_none() || element.ty().has_array() {
        return None;
    }
    // a condition that is invariant in the column is tested once
    if let Term::If(cond, a, b) = element.term()
        && !mentions(cond, column)
        && cannot_fail(cond, facts)
        && [a, b].into_iter().any(|branch| walks(column, branch))
    {
        return Some(Expr::if_(cond.clone(), built(n, column, a), built(n, column, b)));
    }
    let mut arrays: Vec<(Var, Expr)> = Vec::new();
    let mut rest = element.clone();
    let mut changed = false;
    // until at most one fold is left
    while let Some(next) = after_one(n, column, &rest, &mut arrays)? {
        (rest, changed) = (next, true);
    }
    if !changed {
        return None;
    }
    if let Term::Tuple(parts) = rest.term() {
        let parts = parts
            .iter()
            .map(|part| if is_stored(column, part, &arrays) { part.clone() } else { stored(n, column, "part", part, &mut arrays) });
        rest = Expr::tuple(parts.collect());
    }
    let tail = built(n, column, &rest);
    // what is summed next reads the arrays from memory: as the value of a name it is no sum of rows that are computed on the way
    let is_pair = matches!(rest.term(), Term::Tuple(_));
    let result = Var::fresh("expanded", tail.ty().clone());
    let tail = if is_pair { tail } else { Expr::let_(result.clone(), tail, Expr::var(&result)) };
    Some(arrays.into_iter().rev().fold(tail, |tail, (var, value)| Expr::let_(var, value, tail)))
}

/// The element with its first let or fold expanded to an array, or substituted: `Some(None)` where that is not needed,
/// `None` where it is not possible.
#[allow(clippy::option_option)]
fn after_one(n: &Expr, column: &Var, element: &Expr, arrays: &mut Vec<(Var, Expr)>) -> Option<Option<Expr>> {
    let found = folds(column, element);
    match element.term() {
        Term::Let(var, value, body) if !found.is_empty() && (found.len() > 1 || !found[0].alone) => {
            let short = value.node_count() <= SHORT && (columns::is_plain(value) || is_index(value));
            let replaced = match var.ty() {
                _ if short => value.clone(),
                Type::Double | Type::Bool => stored(n, column, var.name(), value, arrays),
                Type::Index(_) | Type::Tuple(_) | Type::Array(..) | Type::Rec(_) => return None,
            };
            Some(Some(substitute(body, &[(var.clone(), replaced)])))
        }
        // each component of a tuple becomes an array
        Term::Tuple(_) => Some(None),
        _ if found.len() > 1 => {
            let sum = ColumnFold::find(n, column, element)?;
            let fold = &found.iter().find(|found| found.alone)?.fold;
            let replaced = stored(n, column, sum.total.name(), fold, arrays);
            Some(Some(substitute(&sum.finish, &[(sum.total.clone(), replaced)])))
        }
        _ => Some(None),
    }
}

/// An element of a new array of these values.
fn stored(n: &Expr, column: &Var, name: &str, value: &Expr, arrays: &mut Vec<(Var, Expr)>) -> Expr {
    let value = built(n, column, value);
    let array = Var::fresh(name, value.ty().clone());
    arrays.push((array.clone(), value));
    Expr::get(Expr::var(&array), Expr::var(column))
}

fn is_index(value: &Expr) -> bool {
    matches!(value.ty(), Type::Index(_)) && !columns::has_loop(value)
}

/// Whether an element, or a branch of it, has a fold down its column.
fn walks(column: &Var, element: &Expr) -> bool {
    match element.term() {
        Term::Let(_, value, body) => walks(column, value) || walks(column, body),
        Term::If(_, a, b) => walks(column, a) || walks(column, b),
        _ => !folds(column, element).is_empty(),
    }
}

/// `build(n, column. element)` with an index of its own.
fn built(n: &Expr, column: &Var, element: &Expr) -> Expr {
    let index = column.renewed(column.ty().clone());
    let element = substitute(element, &[(column.clone(), Expr::var(&index))]);
    let span = element.span();
    Expr::build_with(n.clone(), index, element).at(span)
}

/// Whether an element is read from one of the arrays.
fn is_stored(column: &Var, element: &Expr, arrays: &[(Var, Expr)]) -> bool {
    let Term::Get(array, index) = element.term() else { return false };
    columns::is_var(index, column) && arrays.iter().any(|(var, _)| columns::is_var(array, var))
}
