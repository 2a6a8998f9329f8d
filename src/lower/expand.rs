//! Scalar expansion: elements that need one fold down their column before another are computed one fold after the other.
//!
//! In: `build(n, j. element)` with several folds down column j (`columns`), or one that needs what the element names. Out:
//! arrays of what is needed later, each with one fold, and the elements made of them:
//!
//!     build(n, j. let top = fold(m, s, i. max(s, A[i][j]), w) in     →   let tops = build(n, j. fold(m, s, i. max(s, A[i][j]), w)) in
//!                 top + fold(m, s, i. s + exp(A[i][j] - top), 0))        build(n, j. tops[j] + fold(m, s, i. s + exp(A[i][j] - tops[j]), 0))
//!
//! so that `sweep` writes each row by row. A pair becomes a pair of arrays, and the array of one that is a component is that
//! one's destination. Not where a name is an array: that would be a matrix.

use crate::ir::free::mentions;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Size, Term, Type, Var};

use super::columns::{self, ColumnFold, folds};
use super::context::{Lowerer, Result};
use super::view::{ArrayView, Dest};

/// A let of an element or an Index of at most so many nodes is substituted.
const SHORT: usize = 8;

impl Lowerer<'_> {
    /// Writes `build(n, column. element)` as several of them; says whether it did.
    pub fn in_arrays(&mut self, n: &Expr, column: &Var, element: &Expr, dest: &ArrayView) -> Result<bool> {
        let Some(built) = self.expanded(n, column, element) else { return Ok(false) };
        let place = match built_tail(&built).term() {
            Term::Tuple(_) => Dest::Tuple(dest.components().into_iter().map(Dest::Array).collect()),
            _ => Dest::Array(dest.clone()),
        };
        self.write_alone(&built, &place)?;
        Ok(true)
    }

    /// The lets that make the arrays, around `build`s or a choice between them.
    fn expanded(&mut self, n: &Expr, column: &Var, element: &Expr) -> Option<Expr> {
        if columns::has_few(n) || n.node_count() > SHORT || Size::try_of_expr(n).is_none() || element.ty().has_array() {
            return None;
        }
        // a condition that is invariant in the column is tested once
        if let Term::If(cond, a, b) = element.term()
            && !mentions(cond, column)
            && self.cannot_fail(cond)
            && [a, b].into_iter().any(|branch| walks(column, branch))
        {
            return Some(Expr::if_(cond.clone(), built(n, column, a), built(n, column, b)));
        }
        let mut arrays: Vec<(Var, Expr)> = Vec::new();
        let mut rest = element.clone();
        let mut changed = false;
        // until at most one sweep is left
        while let Some(next) = self.after_one(n, column, &rest, &mut arrays)? {
            (rest, changed) = (next, true);
        }
        if !changed {
            return None;
        }
        let tail = match rest.term() {
            Term::Tuple(parts) => {
                Expr::tuple(parts.iter().map(|part| whole(column, part, &arrays).unwrap_or_else(|| built(n, column, part))).collect())
            }
            _ => built(n, column, &rest),
        };
        Some(arrays.into_iter().rev().fold(tail, |tail, (var, value)| Expr::let_(var, value, tail)))
    }

    /// The element with its first let or fold expanded to an array, or substituted: `Some(None)` where that is not needed,
    /// `None` where it is not possible.
    #[allow(clippy::option_option)]
    fn after_one(&mut self, n: &Expr, column: &Var, element: &Expr, arrays: &mut Vec<(Var, Expr)>) -> Option<Option<Expr>> {
        let found = folds(column, element);
        let mut stored = |this: &mut Self, name: &Var, value: &Expr| {
            let value = built(n, column, value);
            let array = Var::fresh(name.name(), value.ty().clone());
            arrays.push((array.clone(), value));
            // a loop over rows computes it where it is read
            this.stored.insert(array.clone());
            Expr::get(Expr::var(&array), Expr::var(column))
        };
        match element.term() {
            Term::Let(var, value, body) if !found.is_empty() && (found.len() > 1 || !found[0].alone) => {
                let short = value.node_count() <= SHORT && (columns::is_plain(value) || is_index(value));
                let replaced = match var.ty() {
                    _ if short => value.clone(),
                    Type::Double | Type::Bool => stored(self, var, value),
                    Type::Index(_) | Type::Tuple(_) | Type::Array(..) | Type::Rec(_) => return None,
                };
                Some(Some(substitute(body, &[(var.clone(), replaced)])))
            }
            // each component of a tuple becomes an array
            Term::Tuple(_) => Some(None),
            _ if found.len() > 1 => {
                let sum = ColumnFold::find(n, column, element)?;
                let fold = &found.iter().find(|found| found.alone)?.fold;
                let replaced = stored(self, &sum.total, fold);
                Some(Some(substitute(&sum.finish, &[(sum.total.clone(), replaced)])))
            }
            _ => Some(None),
        }
    }
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

/// The array that an element is read from.
fn whole(column: &Var, element: &Expr, arrays: &[(Var, Expr)]) -> Option<Expr> {
    let Term::Get(array, index) = element.term() else { return None };
    let same = columns::is_var(index, column) && arrays.iter().any(|(var, _)| columns::is_var(array, var));
    same.then(|| array.clone())
}

/// The body of a chain of lets.
fn built_tail(expr: &Expr) -> &Expr {
    match expr.term() {
        Term::Let(_, _, body) => built_tail(body),
        _ => expr,
    }
}
