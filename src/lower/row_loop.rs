//! Loop fusion over the rows of a matrix: one loop computes the values of a row and sums them.
//!
//! In: [`Rows`]. Out: totals at their first values, a loop that computes the elements of a row, adds them to the totals
//! and the row to the sums down its columns, and what is made of the sums.
//!
//!     r = A w - y; out = Aᵀ r   →   for j: out[j] = 0
//!                                   for i: r = dot(A[i], w) - y[i]
//!                                          for j: out[j] += r * A[i][j]
//!
//! The values of a row are not stored, and each row is read from memory once. Not where something can fail, because the order of
//! failures would change. Not with threads, which share the separate loops and could not share the fused one.

use crate::ir::{Expr, Size, Var};

use super::context::{Lowerer, Result};
use super::moves::{Component, Plan, components};
use super::rows::{Rows, parts};
use super::view::{Dest, View};
use crate::loops::analysis::failures::can_fail;
use crate::loops::program::*;

impl Lowerer<'_> {
    /// Writes lets and what they end in with a loop over rows; says whether it did.
    pub fn in_row_loop(&mut self, expr: &Expr, dest: &Dest) -> Result<bool> {
        let Some(rows) = Rows::find(expr, dest, &self.stored) else { return Ok(false) };
        // threads share the loop that sums rows or the one that computes them, but no fused one
        if self.parallel && !rows.maps.is_empty() {
            return Ok(false);
        }
        let arrays: Vec<Var> = rows.elements.iter().map(|row| row.array.clone()).collect();
        let done = self.tried(|this| this.row_loop(rows, dest))?;
        if !done {
            self.stored.extend(arrays);
        }
        Ok(done)
    }

    /// Writes the components of an array separately where some are sums down columns; returns whether it did.
    pub fn in_components(&mut self, expr: &Expr, dest: &Dest) -> Result<bool> {
        let parts = parts(expr, dest);
        if parts.len() < 2 {
            return Ok(false);
        }
        self.tried(|this| parts.iter().try_for_each(|(part, place)| this.write_alone(part, place)))
    }

    /// Keeps the statements that `f` emits unless they can fail.
    fn tried(&mut self, f: impl FnOnce(&mut Self) -> Result<()>) -> Result<bool> {
        let (block, ()) = self.nested(f)?;
        if can_fail(&block) {
            return Ok(false);
        }
        block.into_iter().for_each(|stmt| self.emit(stmt));
        Ok(true)
    }

    fn row_loop(&mut self, rows: Rows, dest: &Dest) -> Result<()> {
        for (var, value) in &rows.before {
            self.bind_in(var, value, &rows.tail, dest)?;
        }
        let count = self.count(&rows.count, None)?;
        let mut totals = Vec::new();
        for fold in &rows.folds {
            let state = self.scalar_state(fold.total.ty(), fold.acc.full_name(), &fold.init)?;
            self.env.insert(fold.acc.clone(), self.view_of(&state));
            self.env.insert(fold.total.clone(), self.view_of(&state));
            totals.push(components(fold.total.ty(), &state));
        }
        let mut columns = Vec::new();
        for sweep in &rows.sweeps {
            let columns_count = self.count(&sweep.n, Some(&sweep.dest.length()))?;
            self.clear_columns(&sweep.n, &sweep.column, &columns_count, &sweep.sum, &sweep.dest)?;
            columns.push(columns_count);
        }
        for map in &rows.maps {
            self.count(&rows.count, Some(&map.dest.length()))?;
        }
        let index = rows.elements[0].index.clone();
        let size = Size::try_of_expr(&rows.count).map(|size| self.canonical(&size));
        self.enter(&index, &rows.count, &count, size, |this, at| this.one_row(&rows, at, &totals, &columns))?;
        for (var, value) in &rows.after {
            self.bind_in(var, value, &rows.tail, dest)?;
        }
        for (sweep, count) in rows.sweeps.iter().zip(&columns) {
            self.finish_columns(&sweep.n, &sweep.column, count, &sweep.sum, &sweep.dest, &sweep.dest)?;
        }
        rows.rest.iter().try_for_each(|(part, place)| self.write_alone(part, place))
    }

    fn one_row(&mut self, rows: &Rows, at: &Value, totals: &[Vec<Component>], columns: &[Value]) -> Result<()> {
        self.elements(rows, at)?;
        self.add_up(rows, at, totals)?;
        for (sweep, count) in rows.sweeps.iter().zip(columns) {
            self.know_row(&sweep.sum.row, rows);
            self.add_row(&sweep.n, &sweep.column, count, &sweep.sum, at, &sweep.dest)?;
        }
        for map in &rows.maps {
            self.env.insert(map.index.clone(), View::Scalar(at.clone()));
            self.know_row(&map.index, rows);
            let place = self.element_dest(&map.dest, at, map.body.span())?;
            self.write_alone(&map.body, &place)?;
        }
        Ok(())
    }

    /// Binds the elements of a row.
    fn elements(&mut self, rows: &Rows, at: &Value) -> Result<()> {
        for row in &rows.elements {
            self.env.insert(row.index.clone(), View::Scalar(at.clone()));
            self.know_row(&row.index, rows);
            self.bind(&row.at, &row.element)?;
        }
        Ok(())
    }

    /// Takes one step of the folds.
    fn add_up(&mut self, rows: &Rows, at: &Value, totals: &[Vec<Component>]) -> Result<()> {
        for (fold, total) in rows.folds.iter().zip(totals) {
            self.env.insert(fold.index.clone(), View::Scalar(at.clone()));
            self.know_row(&fold.index, rows);
            self.step(&fold.body, &fold.acc, total, &Plan::ByBranch)?;
        }
        Ok(())
    }

    /// An index that is known to be a row's.
    fn know_row(&mut self, index: &Var, rows: &Rows) {
        if let Some(size) = Size::try_of_expr(&rows.count).map(|size| self.canonical(&size)) {
            self.bounds.insert(index.clone(), size);
        }
        self.facts.enter_loop(index, &rows.count);
    }
}
