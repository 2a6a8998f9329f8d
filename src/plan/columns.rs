//! Folds down columns, found in the elements of a `build`: sums, maxima, the index of a maximum, polynomials.
//!
//! In: `build(n, column. element)`. Out: the fold in the element that walks down a column, as what `sweep` writes row by row,
//! and what is made of its result:
//!
//!     build(n, j. log(fold(m, s, i. max(s, A[i][j]), w[j])))   →   init w[j], step max(s, A[i][j]), finish log(total)
//!
//! The accumulator is a scalar or a tuple of scalars, and may begin with another fold down the column. Excluded are folds with loops in
//! their steps, folds that are evaluated conditionally, and folds that read more along rows than down columns. A small literal number of
//! columns is left alone.

use std::collections::HashSet;

use crate::ir::free::{any_free_var, mentions};
use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Term, Type, Var};

/// A fold down a column, taken out of the element that it is part of.
#[derive(Clone)]
pub struct ColumnFold {
    pub count: Expr,
    pub row: Var,
    pub column: Var,
    pub acc: Var,
    /// The lets of the fold's body before the accumulator is used.
    pub lets: Vec<(Var, Expr)>,
    pub step: Step,
    pub init: Expr,
    /// The element, with `total` for the fold.
    pub finish: Expr,
    pub total: Var,
}

/// What a row does to the accumulator.
#[derive(Clone)]
pub enum Step {
    /// Adds or subtracts a term.
    Sum(Prim, Expr),
    /// Replaces it by a term over the accumulator.
    Next(Expr),
}

/// For a literal number of columns up to this, sweeping costs more than it saves.
const FEW_COLUMNS: i64 = 4;

impl ColumnFold {
    /// Finds one in the element of `build(n, column. element)`.
    pub fn find(n: &Expr, column: &Var, element: &Expr) -> Option<ColumnFold> {
        // tuples are split into components first
        if element.ty().has_array() || has_few(n) || matches!(element.term(), Term::Tuple(_)) {
            return None;
        }
        let fold = folds(column, element).into_iter().find(|found| found.alone)?.fold;
        let Term::Fold { n: count, acc, i: row, body, init } = fold.term() else { return None };
        let (lets, step) = step_of(body, acc);
        let total = acc.renewed(fold.ty().clone());
        let finish = replace(element, &fold, &Expr::var(&total));
        Some(ColumnFold {
            count: count.clone(),
            row: row.clone(),
            column: column.clone(),
            acc: acc.clone(),
            lets,
            step,
            init: init.clone(),
            finish,
            total,
        })
    }

    /// Whether the fold's value has the element's type, so that it can be where the element will be.
    pub fn is_in_place(&self) -> bool {
        self.total.ty() == self.finish.ty()
    }

    pub fn is_sum(&self) -> bool {
        matches!(self.step, Step::Sum(..))
    }

    pub fn term(&self) -> &Expr {
        match &self.step {
            Step::Sum(_, term) | Step::Next(term) => term,
        }
    }

    pub fn with_term(self, term: Expr) -> ColumnFold {
        let step = match self.step {
            Step::Sum(op, _) => Step::Sum(op, term),
            Step::Next(_) => Step::Next(term),
        };
        ColumnFold { step, ..self }
    }

    /// The fold with other terms for what it does with a row.
    pub fn map_rows(mut self, f: &mut dyn FnMut(&Expr, &Var) -> Option<Expr>) -> Option<ColumnFold> {
        for (_, value) in &mut self.lets {
            *value = f(value, &self.row)?;
        }
        let term = f(self.term(), &self.row)?;
        Some(self.with_term(term))
    }

    /// Whether what it does with a row reads some variable.
    pub fn reads(&self, vars: &HashSet<Var>) -> bool {
        let mut terms = self.lets.iter().map(|(_, value)| value).chain([self.term()]);
        terms.any(|term| any_free_var(term, &mut |var| vars.contains(var)))
    }

    /// What varies with the column, besides the accumulator.
    pub fn ours(&self) -> Vec<Var> {
        let mut ours = vec![self.column.clone()];
        for (var, value) in &self.lets {
            if ours.iter().any(|var| mentions(value, var)) {
                ours.push(var.clone());
            }
        }
        ours
    }
}

/// What a fold's body names before it uses the accumulator, and what it does with that.
fn step_of(mut body: &Expr, acc: &Var) -> (Vec<(Var, Expr)>, Step) {
    let mut lets = Vec::new();
    while let Term::Let(var, value, rest) = body.term()
        && !mentions(value, acc)
    {
        lets.push((var.clone(), value.clone()));
        body = rest;
    }
    (lets, added(body, acc).map_or_else(|| Step::Next(body.clone()), |(op, term)| Step::Sum(op, term)))
}

/// Whether there are few columns, of literal number.
pub fn has_few(n: &Expr) -> bool {
    matches!(n.term(), Term::Index(n) if *n <= FEW_COLUMNS)
}

/// A fold down a column, and whether it uses no let of the element around it.
pub struct Found {
    pub fold: Expr,
    pub alone: bool,
}

/// The folds down a column in an element that are always evaluated, in the order of their evaluation.
pub fn folds(column: &Var, element: &Expr) -> Vec<Found> {
    let mut found = Vec::new();
    collect(element, column, &mut Vec::new(), &mut found);
    found
}

/// `named` are the lets around.
fn collect(expr: &Expr, column: &Var, named: &mut Vec<Var>, found: &mut Vec<Found>) {
    match expr.term() {
        Term::Fold { .. } if is_down(column, expr) => {
            let alone = !named.iter().any(|var| mentions(expr, var));
            found.push(Found { fold: expr.clone(), alone });
        }
        Term::Fold { .. } => {}
        Term::Prim(Prim::And | Prim::Or, _) | Term::If(..) | Term::Build { .. } | Term::Check { .. } | Term::Dual { .. } => {}
        Term::Let(var, value, body) => {
            collect(value, column, named, found);
            named.push(var.clone());
            collect(body, column, named, found);
        }
        // what each step evaluates
        Term::While { init, .. } => collect(init, column, named, found),
        term => term.each_child(&mut |child| collect(child, column, named, found)),
    }
}

/// Whether a fold walks down the column, which may begin with another that does.
fn is_down(column: &Var, expr: &Expr) -> bool {
    let Term::Fold { n, i: row, body, init, .. } = expr.term() else { return false };
    let scalar = !expr.ty().has_array() && !has_loop(body) && (!has_loop(init) || is_down(column, init));
    scalar && !mentions(n, column) && walks_columns(body, row, column)
}

/// Whether a sum walks down the column.
pub fn is_sum_down(column: &Var, expr: &Expr) -> bool {
    matches!(expr.term(), Term::Fold { acc, body, .. } if matches!(step_of(body, acc).1, Step::Sum(..))) && is_down(column, expr)
}

/// `acc + e`, `e + acc`, `acc - e`, or one of them unless a condition leaves the sum as it is: adding -0.0, or
/// subtracting 0.0, does too.
fn added(body: &Expr, acc: &Var) -> Option<(Prim, Expr)> {
    if acc.ty() != &Type::Double {
        return None;
    }
    let is_acc = |expr: &Expr| is_var(expr, acc);
    let (op, term) = match body.term() {
        Term::Prim(op @ (Prim::Add | Prim::Sub), args) => match args.as_slice() {
            [a, b] if is_acc(a) => (*op, b.clone()),
            [a, b] if is_acc(b) && *op == Prim::Add => (*op, a.clone()),
            _ => return None,
        },
        Term::If(c, a, b) if is_acc(a) || is_acc(b) => {
            let (op, term) = added(if is_acc(a) { b } else { a }, acc)?;
            let nothing = Expr::double(if op == Prim::Sub { 0.0 } else { -0.0 });
            let (a, b) = if is_acc(a) { (nothing, term) } else { (term, nothing) };
            (op, Expr::if_(c.clone(), a, b))
        }
        _ => return None,
    };
    (!mentions(&term, acc)).then_some((op, term))
}

pub fn is_var(expr: &Expr, var: &Var) -> bool {
    matches!(expr.term(), Term::Var(other) if other == var)
}

/// Whether a term has loops, calls, or arrays of its own.
pub fn has_loop(expr: &Expr) -> bool {
    match expr.term() {
        Term::Build { .. } | Term::Fold { .. } | Term::While { .. } | Term::Call(..) | Term::Array(_) => true,
        term => {
            let mut found = false;
            term.each_child(&mut |child| found = found || has_loop(child));
            found
        }
    }
}

/// Whether more accesses have the outer loop's index last (along rows) than the inner one's.
fn walks_columns(body: &Expr, row: &Var, column: &Var) -> bool {
    let (mut down, mut along) = (0, 0);
    each_get(body, &mut |outer, last| {
        if mentions(outer, row) && mentions(last, column) && !mentions(last, row) {
            down += 1;
        }
        if mentions(outer, column) && mentions(last, row) && !mentions(last, column) {
            along += 1;
        }
    });
    down > along
}

/// Calls `f` on the array and the index of every access.
pub fn each_get(expr: &Expr, f: &mut dyn FnMut(&Expr, &Expr)) {
    if let Term::Get(array, index) = expr.term() {
        f(array, index);
    }
    expr.term().each_child(&mut |child| each_get(child, f));
}

pub fn replace(expr: &Expr, from: &Expr, to: &Expr) -> Expr {
    if expr.is_same(from) { to.clone() } else { map_children(expr, &mut |child| replace(child, from, to)) }
}

/// An element in bounds, a number or a variable.
pub fn is_plain(expr: &Expr) -> bool {
    if let Term::Get(array, index) = expr.term() { !has_loop(array) && index.is_atom() } else { expr.is_atom() }
}
