//! Arrays that need not be stored, because only sums over the same rows read them.
//!
//! In: lets that end in what is written to a destination. Out: the arrays among them of which every sum reads only the
//! element of its own row, those sums, and what comes before and after them. `row_loop` runs them in one loop.
//!
//!     let r = build(m, i. e) in        →   row i: e
//!     build(n, j. fold(m, s, i. s + r[i] * A[i][j], 0))   sweep: out[j] += r_i * A[i][j]
//!
//! The sums are scalar folds and sums down columns (`sweep`) that are always evaluated; a result that is built row by row may
//! read elements too. An array with another use, or read by a sum that depends on another sum, is stored.

use std::collections::HashSet;

use crate::ir::free::{any_free_var, each_free_var, mentions};
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};

use super::view::{ArrayView, Dest};
use crate::plan::columns::{ColumnFold, folds, has_few, has_loop};

/// See the module's head.
pub struct Rows {
    pub count: Expr,
    pub before: Vec<(Var, Expr)>,
    pub elements: Vec<Element>,
    pub folds: Vec<RowFold>,
    pub sweeps: Vec<RowSweep>,
    pub maps: Vec<RowMap>,
    pub after: Vec<(Var, Expr)>,
    /// Written after the loop.
    pub rest: Vec<(Expr, Dest)>,
    /// The body of the lets.
    pub tail: Expr,
}

/// From `array = build(count, index. element)`: `at` is the current row's element.
pub struct Element {
    pub array: Var,
    pub at: Var,
    pub index: Var,
    pub element: Expr,
}

/// A scalar fold over the rows; `total` stands in its place.
pub struct RowFold {
    pub acc: Var,
    pub index: Var,
    pub body: Expr,
    pub init: Expr,
    pub total: Var,
}

/// `build(n, column. …)` with a sum over the rows.
pub struct RowSweep {
    pub n: Expr,
    pub column: Var,
    pub sum: ColumnFold,
    pub dest: ArrayView,
}

/// `build(count, index. body)`.
pub struct RowMap {
    pub index: Var,
    pub body: Expr,
    pub dest: ArrayView,
}

impl Rows {
    /// Finds rows in lets whose first one is an array that need not be stored; `stored` are arrays that must be.
    pub fn find(expr: &Expr, dest: &Dest, stored: &HashSet<Var>) -> Option<Rows> {
        let Term::Let(first, value, _) = expr.term() else { return None };
        let count = row_count(tables(value).1)?.clone();
        if stored.contains(first) {
            return None;
        }
        let (mut lets, mut tail) = (Vec::new(), expr);
        while let Term::Let(var, value, rest) = tail.term() {
            let (before, value) = tables(value);
            lets.extend(before);
            lets.push((var.clone(), value.clone()));
            tail = rest;
        }
        let is_row = |(var, value): &&(Var, Expr)| {
            !stored.contains(var) && !walks_columns(value) && row_count(value).is_some_and(|n| is_same(n, &count))
        };
        let mut arrays: HashSet<Var> = lets.iter().filter(is_row).map(|(var, _)| var.clone()).collect();
        while arrays.contains(first) {
            match Finder::find(&count, &arrays, &lets, tail, dest) {
                Ok(rows) => return rows.pays().then_some(rows),
                Err(refused) => refused.iter().for_each(|array| {
                    arrays.remove(array);
                }),
            }
        }
        None
    }

    /// Elements without a loop are faster in a vectorised loop of their own than row by row, unless rows are swept anyway.
    fn pays(&self) -> bool {
        let loops = self.elements.iter().all(|row| has_loop(&row.element));
        !self.sweeps.is_empty() || loops && (!self.folds.is_empty() || !self.maps.is_empty())
    }
}

/// The arrays that must be stored.
type Refused = Vec<Var>;

struct Finder {
    rows: Rows,
    /// The arrays among its elements.
    arrays: HashSet<Var>,
    /// Variables that are available only after the loop.
    late: HashSet<Var>,
}

impl Finder {
    fn find(count: &Expr, arrays: &HashSet<Var>, lets: &[(Var, Expr)], tail: &Expr, dest: &Dest) -> Result<Rows, Refused> {
        let rows = Rows {
            count: count.clone(),
            before: Vec::new(),
            elements: Vec::new(),
            folds: Vec::new(),
            sweeps: Vec::new(),
            maps: Vec::new(),
            after: Vec::new(),
            rest: Vec::new(),
            tail: tail.clone(),
        };
        let mut finder = Finder { rows, arrays: HashSet::new(), late: HashSet::new() };
        for (var, value) in lets {
            // an element that uses a total is stored
            if let Term::Build { i, body, .. } = value.term()
                && arrays.contains(var)
                && !finder.is_late(body)
            {
                let element = finder.in_row(body, i)?;
                let at = var.renewed(Type::Double);
                finder.arrays.insert(var.clone());
                finder.rows.elements.push(Element { array: var.clone(), at, index: i.clone(), element });
                continue;
            }
            let value = finder.without_folds(value, &mut Vec::new())?;
            if finder.is_late(&value) {
                finder.late.insert(var.clone());
                finder.rows.after.push((var.clone(), value));
            } else {
                finder.rows.before.push((var.clone(), value));
            }
        }
        for (part, dest) in parts(tail, dest) {
            let part = finder.after_tables(&part);
            if let (Term::Build { n, i, body }, Dest::Array(view)) = (part.term(), &dest)
                && finder.reads(&part)
            {
                if is_same(n, count)
                    && let Ok(body) = finder.in_row(body, i)
                    && !finder.is_late(&body)
                {
                    finder.rows.maps.push(RowMap { index: i.clone(), body, dest: view.clone() });
                    continue;
                }
                let refused = finder.read(&part);
                let sum = finder.sweep(n, i, body).ok_or(refused)?;
                finder.rows.sweeps.push(RowSweep { n: n.clone(), column: i.clone(), sum, dest: view.clone() });
                continue;
            }
            let part = finder.without_folds(&part, &mut Vec::new())?;
            finder.rows.rest.push((part, dest));
        }
        Ok(finder.rows)
    }

    /// The arrays of rows that a term reads.
    fn read(&self, expr: &Expr) -> Refused {
        let mut read = Vec::new();
        each_free_var(expr, &mut |var| read.extend(self.arrays.get(var).cloned()));
        read
    }

    fn reads(&self, expr: &Expr) -> bool {
        any_free_var(expr, &mut |var| self.arrays.contains(var))
    }

    fn is_late(&self, expr: &Expr) -> bool {
        any_free_var(expr, &mut |var| self.late.contains(var))
    }

    /// The term with the current row's elements for accesses at `index`.
    fn in_row(&self, expr: &Expr, index: &Var) -> Result<Expr, Refused> {
        let expr = self.replaced(expr, index);
        let refused = self.read(&expr);
        if refused.is_empty() { Ok(expr) } else { Err(refused) }
    }

    fn replaced(&self, expr: &Expr, index: &Var) -> Expr {
        if let Term::Get(array, at) = expr.term()
            && let (Term::Var(array), Term::Var(at)) = (array.term(), at.term())
            && at == index
            && let Some(row) = self.rows.elements.iter().find(|row| row.array == *array)
        {
            return Expr::var(&row.at);
        }
        if self.reads(expr) { map_children(expr, &mut |child| self.replaced(child, index)) } else { expr.clone() }
    }

    /// A term without the tables that it begins with, which are computed before the loop.
    fn after_tables(&mut self, expr: &Expr) -> Expr {
        let (before, rest) = tables(expr);
        if before.iter().any(|(_, table)| self.reads(table) || self.is_late(table)) {
            return expr.clone();
        }
        self.rows.before.extend(before);
        rest.clone()
    }

    /// The term with totals in the place of folds over the rows; `named` are the lets around it.
    fn without_folds(&mut self, expr: &Expr, named: &mut Vec<Var>) -> Result<Expr, Refused> {
        let refused = self.read(expr);
        if refused.is_empty() {
            return Ok(expr.clone());
        }
        let expr = &self.after_tables(expr);
        match expr.term() {
            Term::Fold { n, acc, i, body, init } => {
                let free = |var: &Var| !mentions(expr, var);
                let alone = named.iter().all(free) && !self.is_late(expr);
                if !alone || !is_same(n, &self.rows.count) || expr.ty().has_array() || self.reads(init) {
                    return Err(refused);
                }
                let body = self.in_row(body, i)?;
                let total = acc.renewed(expr.ty().clone());
                let fold = RowFold { acc: acc.clone(), index: i.clone(), body, init: init.clone(), total: total.clone() };
                self.rows.folds.push(fold);
                self.late.insert(total.clone());
                Ok(Expr::var(&total))
            }
            Term::Prim(Prim::And | Prim::Or, _)
            | Term::If(..)
            | Term::Build { .. }
            | Term::Check { .. }
            | Term::Dual { .. }
            | Term::Var(_) => Err(refused),
            _ => {
                named.extend(expr.term().binders().cloned());
                let mut problem = None;
                let result = map_children(expr, &mut |child| match self.without_folds(child, named) {
                    Ok(child) => child,
                    Err(refused) => {
                        problem = Some(refused);
                        child.clone()
                    }
                });
                problem.map_or(Ok(result), Err)
            }
        }
    }

    /// The sum over the rows in the element of `build(n, column. element)`, if rows are read nowhere else in it.
    fn sweep(&self, n: &Expr, column: &Var, element: &Expr) -> Option<ColumnFold> {
        let sum = ColumnFold::find(n, column, element)?;
        let sum = sum.map_rows(&mut |expr, row| self.in_row(expr, row).ok())?;
        let over_rows = is_same(&sum.count, &self.rows.count);
        let outside = [n, &sum.init, &sum.finish].iter().all(|expr| !self.reads(expr));
        let early = !self.is_late(&sum.init) && !sum.reads(&self.late);
        (over_rows && outside && early && sum.is_in_place()).then_some(sum)
    }
}

/// The parts of the result, each with its destination: components of tuples, and of arrays of pairs where one is a sum
/// down a column.
pub fn parts(expr: &Expr, dest: &Dest) -> Vec<(Expr, Dest)> {
    match (expr.term(), dest) {
        (Term::Tuple(items), Dest::Tuple(places)) => items.iter().zip(places).flat_map(|(item, place)| parts(item, place)).collect(),
        (Term::Build { n, i, body }, Dest::Array(view)) => {
            let Term::Tuple(items) = body.term() else { return vec![(expr.clone(), dest.clone())] };
            let views = view.components();
            if views.len() != items.len() || !items.iter().any(|item| ColumnFold::find(n, i, item).is_some()) {
                return vec![(expr.clone(), dest.clone())];
            }
            let alone = items.iter().zip(views).map(|(item, view)| {
                let index = i.renewed(i.ty().clone());
                let item = substitute(item, &[(i.clone(), Expr::var(&index))]);
                (Expr::build_with(n.clone(), index, item).at(expr.span()), Dest::Array(view))
            });
            alone.collect()
        }
        _ => vec![(expr.clone(), dest.clone())],
    }
}

/// The arrays without loops in their elements that a term names first, such as stored reciprocals, and the loop that reads them.
fn tables(expr: &Expr) -> (Vec<(Var, Expr)>, &Expr) {
    let (mut before, mut rest) = (Vec::new(), expr);
    while let Term::Let(var, value, body) = rest.term()
        && matches!(value.term(), Term::Build { body, .. } if body.ty() == &Type::Double && !has_loop(body))
    {
        before.push((var.clone(), value.clone()));
        rest = body;
    }
    if matches!(rest.term(), Term::Build { .. } | Term::Fold { .. }) { (before, rest) } else { (Vec::new(), expr) }
}

/// The length of an array of numbers that is computed here.
fn row_count(value: &Expr) -> Option<&Expr> {
    let Term::Build { n, body, .. } = value.term() else { return None };
    (body.ty() == &Type::Double).then_some(n)
}

/// Whether the elements of an array are folds down columns, which a loop over rows would make one column after the other.
fn walks_columns(value: &Expr) -> bool {
    matches!(value.term(), Term::Build { n, i, body } if !has_few(n) && !folds(i, body).is_empty())
}

/// Whether two lengths are one size.
fn is_same(a: &Expr, b: &Expr) -> bool {
    Size::try_of_expr(a).is_some_and(|size| Size::try_of_expr(b) == Some(size))
}
