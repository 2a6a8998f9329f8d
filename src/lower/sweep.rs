//! Folds down columns, row by row: the order in which memory is read decides how fast a matrix is summed.
//!
//! In: a `build` whose elements hold a fold that walks down a column (`columns`). Out: loops that give the accumulators their
//! first values, take one row after the other into them, and finish each element. The accumulators are where the elements will
//! be, or in the workspace where they are of another type.
//!
//!     build(n, j. f(fold(m, s, i. s + A[i][j], 0)))   →   for j: out[j] = 0
//!                                                         for i: for j: out[j] += A[i][j]
//!                                                         for j: out[j] = f(out[j])
//!
//! Row-invariant factors are computed once a row (`factors`), and a row that a condition excludes is not read. Each element's
//! fold takes the same steps in the same order.

use crate::ir::free::{mentions, occurrences};
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};

use super::context::{Lowerer, Result};
use super::moves::{Plan, components};
use super::view::{ArrayView, Dest, Leaf, View, leaves};
use crate::loops::program::*;
use crate::loops::values::negate;
use crate::plan::columns::{ColumnFold, Step, is_var};
use crate::plan::known::cannot_fail;

impl Lowerer<'_> {
    /// Writes `build(n, column. …)` with its column folds row by row.
    pub fn sweep(&mut self, n: &Expr, column: &Var, count: &Value, fold: &ColumnFold, dest: &ArrayView) -> Result<()> {
        let (block, ()) = self.nested(|this| {
            let state = this.accumulators(fold, dest)?;
            this.clear_columns(n, column, count, fold, &state)?;
            let (rows, ()) = this.nested(|this| {
                let rows = this.count_behind(&fold.count, count)?;
                let size = Size::try_of_expr(&fold.count).map(|size| this.canonical(&size));
                this.enter(&fold.row, &fold.count, &rows, size, |this, at| this.add_row(n, column, count, fold, at, &state))
            })?;
            this.behind_columns(rows, count);
            this.finish_columns(n, column, count, fold, &state, dest)
        })?;
        self.place(block);
        Ok(())
    }

    /// Emits the loop over rows, where it may fail outside of the columns' loops only if there are columns: no element is computed else.
    fn behind_columns(&mut self, rows: Block, columns: &Value) {
        if self.range(columns).0 > 0 || !fails_in_row(&rows, columns) {
            return rows.into_iter().for_each(|stmt| self.emit(stmt));
        }
        self.emit(Stmt::If { cond: runs(columns), then: rows, otherwise: Vec::new() });
    }

    /// The trip count of the loop over rows, which is evaluated only where there are columns.
    fn count_behind(&mut self, n: &Expr, columns: &Value) -> Result<Value> {
        let (checks, rows) = self.nested(|this| this.count(n, None))?;
        for check in checks {
            let check = match check {
                Stmt::Fail { cond, status: Status::Negative } if self.range(columns).0 <= 0 => {
                    let args = vec![runs(columns), cond];
                    Stmt::Fail { cond: Value::Prim { prim: Prim::And, elem: Elem::Bool, plain: true, args }, status: Status::Negative }
                }
                check => check,
            };
            self.emit(check);
        }
        Ok(rows)
    }

    /// Storage of the accumulators: the destination where the types agree, otherwise the workspace.
    fn accumulators(&mut self, fold: &ColumnFold, dest: &ArrayView) -> Result<ArrayView> {
        let ty = self.type_of(&Expr::var(&fold.total))?;
        let kinds = leaves(&ty);
        let mut free = dest.leaves.clone();
        let mut taken: Vec<Option<Leaf>> = vec![None; kinds.len()];
        // the component that is the element is already in place
        let first = match (fold.finish.term(), &ty) {
            (Term::Proj(total, k), Type::Tuple(parts)) if is_var(total, &fold.total) && kinds.len() == parts.len() => *k,
            _ => 0,
        };
        for k in (first..kinds.len()).chain(0..first) {
            if let Some(at) = free.iter().position(|leaf| leaf.elem == kinds[k].0) {
                taken[k] = Some(free.remove(at));
            }
        }
        let length = [dest.length()];
        let mut places = Vec::new();
        for ((elem, _), leaf) in kinds.into_iter().zip(taken) {
            places.push(match leaf {
                Some(leaf) => leaf,
                None => {
                    let base = self.room(fold.total.name(), elem, &length, fold.init.span())?;
                    Leaf { base, elem, dims: length.to_vec(), taken: Vec::new() }
                }
            });
        }
        Ok(ArrayView { ty: Type::array(ty, dest.length()), leaves: places })
    }

    /// Gives the accumulators their first values, which may be other folds down the columns.
    pub fn clear_columns(&mut self, n: &Expr, column: &Var, count: &Value, fold: &ColumnFold, state: &ArrayView) -> Result<()> {
        if let Some(first) = ColumnFold::find(n, column, &fold.init) {
            return self.sweep(n, column, count, &first, state);
        }
        self.enter_apart(column, n, count, Some(state.length()), |this, at| {
            let place = this.element_dest(state, at, fold.init.span())?;
            this.write(&fold.init, &place)
        })
    }

    /// Makes the elements of the accumulators.
    pub fn finish_columns(
        &mut self,
        n: &Expr,
        column: &Var,
        count: &Value,
        fold: &ColumnFold,
        state: &ArrayView,
        dest: &ArrayView,
    ) -> Result<()> {
        if is_var(&fold.finish, &fold.total) {
            return Ok(());
        }
        if let Term::Proj(total, _) = fold.finish.term()
            && is_var(total, &fold.total)
            && dest.leaves.iter().all(|leaf| state.leaves.contains(leaf))
        {
            return Ok(());
        }
        self.enter_apart(column, n, count, Some(dest.length()), |this, at| {
            let place = this.element_dest(state, at, fold.init.span())?;
            let view = this.view_of(&place);
            let view = this.settle(view, fold.total.full_name());
            this.env.insert(fold.total.clone(), view);
            let place = this.element_dest(dest, at, fold.finish.span())?;
            this.write(&fold.finish, &place)
        })
    }

    /// A condition that is the same for the whole row, what it is where the row is added, and what is added then.
    fn condition_of_row(&self, sum: &ColumnFold, ours: &[Var]) -> Option<(Expr, bool, Expr)> {
        let Term::If(cond, a, b) = sum.term().term() else { return None };
        // adding 0.0 makes 0.0 of -0.0
        let nothing = |expr: &Expr| match (&sum.step, expr.term()) {
            (Step::Sum(op, _), Term::Double(zero)) => *zero == 0.0 && (self.reciprocals || zero.is_sign_negative() == (*op == Prim::Add)),
            (Step::Sum(..), _) => false,
            (Step::Next(_), _) => is_var(expr, &sum.acc),
        };
        let (truth, term) = if nothing(b) { (true, a) } else { nothing(a).then_some((false, b))? };
        let same = !ours.iter().any(|var| mentions(cond, var)) && cannot_fail(cond, &self.facts);
        same.then(|| (cond.clone(), truth, term.clone()))
    }

    /// Takes a row into the accumulators.
    pub fn add_row(&mut self, n: &Expr, column: &Var, count: &Value, fold: &ColumnFold, at: &Value, state: &ArrayView) -> Result<()> {
        // what is the same for the whole row is named before it
        let ours = fold.ours();
        let (later, sooner): (Vec<_>, Vec<_>) = fold.lets.iter().cloned().partition(|(var, _)| ours.contains(var));
        self.env.insert(fold.row.clone(), View::Scalar(at.clone()));
        for (var, value) in &sooner {
            self.bind(var, value)?;
        }
        if let Some((cond, truth, term)) = self.condition_of_row(fold, &ours) {
            let choice = self.scalar(&cond)?;
            let fold = ColumnFold { lets: later, ..fold.clone() }.with_term(term);
            let (block, ()) = self.branch(&cond, truth, |this| this.add_row(n, column, count, &fold, at, state))?;
            self.emit(Stmt::If { cond: if truth { choice } else { negate(choice) }, then: block, otherwise: Vec::new() });
            return Ok(());
        }
        let term = if self.reciprocals && fold.is_sum() { self.with_common_factors(fold.term(), &ours)? } else { fold.term().clone() };
        self.enter_apart(column, n, count, Some(state.length()), |this, at| {
            let place = this.element_dest(state, at, fold.init.span())?;
            match (this.view_of(&place), &place) {
                (View::Scalar(total), Dest::Scalar(target)) => {
                    let total = this.step_of(fold, &later, &term, total)?;
                    let place = target.place(|leaf| this.offset(leaf));
                    this.assign(place, total);
                    Ok(())
                }
                (view, _) => {
                    let ty = fold.total.ty();
                    let locals = this.declare(ty, fold.acc.full_name(), &view);
                    let parts = components(ty, &locals);
                    this.env.insert(fold.acc.clone(), this.view_of(&locals));
                    later.iter().try_for_each(|(var, value)| this.bind(var, value))?;
                    this.step(&term, &fold.acc, &parts, &Plan::ByBranch)?;
                    let view = this.view_of(&locals);
                    this.copy(&view, &place, fold.init.span())
                }
            }
        })
    }

    /// The accumulator of a scalar after a row.
    fn step_of(&mut self, fold: &ColumnFold, later: &[(Var, Expr)], term: &Expr, total: Value) -> Result<Value> {
        later.iter().try_for_each(|(var, value)| self.bind(var, value))?;
        match &fold.step {
            Step::Sum(op, _) => {
                let term = self.scalar(term)?;
                Ok(Value::Prim { prim: *op, elem: Elem::Double, plain: true, args: vec![total, term] })
            }
            Step::Next(_) => {
                let before = View::Scalar(total);
                let before = if occurrences(term, &fold.acc) > 1 { self.settle(before, fold.acc.full_name()) } else { before };
                self.env.insert(fold.acc.clone(), before);
                self.scalar(term)
            }
        }
    }
}

/// Whether there are columns.
fn runs(columns: &Value) -> Value {
    Value::Prim { prim: Prim::Lt, elem: Elem::Index, plain: true, args: vec![Value::Index(0), columns.clone()] }
}

/// Whether statements may end the function outside of loops over columns, and where there may be none.
fn fails_in_row(block: &[Stmt], columns: &Value) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::For { count, .. } if count == columns => false,
        Stmt::Fail { cond: Value::Prim { prim: Prim::And, args, .. }, .. } if args.first() == Some(&runs(columns)) => false,
        Stmt::Fail { .. } | Stmt::NoRoom { .. } => true,
        Stmt::Invoke(call) => call.fallible,
        _ => stmt.blocks().any(|block| fails_in_row(block, columns)),
    })
}
