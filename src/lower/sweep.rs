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
//! What is the same for a whole row is computed once for it (`factors`), and a row that a condition leaves out is not read.
//! Where that is cheap, four rows are taken at a time. Each element's fold takes the same steps in the same order.

use crate::ir::free::{mentions, occurrences};
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};

use super::columns::{ColumnFold, Step, is_var};
use super::context::{Lowerer, Result};
use super::moves::{Plan, components};
use super::view::{ArrayView, Dest, Leaf, View, leaves};
use crate::loops::failures::can_fail;
use crate::loops::program::*;
use crate::loops::values::negate;

impl Lowerer<'_> {
    /// Writes `build(n, column. …)` with its column folds row by row.
    pub fn sweep(&mut self, n: &Expr, column: &Var, count: &Value, fold: &ColumnFold, dest: &ArrayView) -> Result<()> {
        let (block, ()) = self.nested(|this| {
            let state = this.accumulators(fold, dest)?;
            this.clear_columns(n, column, count, fold, &state)?;
            let rows = this.count_behind(&fold.count, count)?;
            if !this.sweep_by_four(n, column, count, fold, &rows, &state)? {
                let size = Size::try_of_expr(&fold.count).map(|size| this.canonical(&size));
                this.enter(&fold.row, &fold.count, &rows, size, |this, at| {
                    let row = vec![(fold.row.clone(), View::Scalar(at.clone()))];
                    this.add_rows(n, column, count, fold, &[row], &state)
                })?;
            }
            this.finish_columns(n, column, count, fold, &state, dest)
        })?;
        self.place(block);
        Ok(())
    }

    /// The trip count of the loops of all columns, which is looked at only where there are columns.
    fn count_behind(&mut self, n: &Expr, columns: &Value) -> Result<Value> {
        let (checks, rows) = self.nested(|this| this.count(n, None))?;
        let zero = || Value::Index(0);
        let compare = |prim, elem, args| Value::Prim { prim, elem, plain: true, args };
        for check in checks {
            let check = match check {
                Stmt::Fail { cond, status: Status::Negative } if self.range(columns).0 <= 0 => {
                    let runs = compare(Prim::Lt, Elem::Index, vec![zero(), columns.clone()]);
                    Stmt::Fail { cond: compare(Prim::And, Elem::Bool, vec![runs, cond]), status: Status::Negative }
                }
                check => check,
            };
            self.emit(check);
        }
        Ok(rows)
    }

    /// Places for the accumulators: the destination's, as far as these are of their kinds, and the workspace.
    fn accumulators(&mut self, fold: &ColumnFold, dest: &ArrayView) -> Result<ArrayView> {
        let ty = self.type_of(&Expr::var(&fold.total))?;
        let kinds = leaves(&ty);
        let mut free = dest.leaves.clone();
        let mut taken: Vec<Option<Leaf>> = vec![None; kinds.len()];
        // the component that is the element stays where it is
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

    /// Gives the accumulators their first values.
    pub fn clear_columns(&mut self, n: &Expr, column: &Var, count: &Value, fold: &ColumnFold, state: &ArrayView) -> Result<()> {
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
            let view = this.settle(view, fold.total.name());
            this.env.insert(fold.total.clone(), view);
            let place = this.element_dest(dest, at, fold.finish.span())?;
            this.write(&fold.finish, &place)
        })
    }

    /// Adds four rows at a time, which loads and stores each sum once for them, then the rows that are left; says
    /// whether it did: not for few rows, where adding one takes longer than that, or can fail.
    fn sweep_by_four(&mut self, n: &Expr, column: &Var, count: &Value, fold: &ColumnFold, rows: &Value, state: &ArrayView) -> Result<bool> {
        let most = self.range(rows).1;
        if most < FEW_ROWS || most > i128::from(i64::MAX / 8) || !fold.is_light(self.reciprocals) {
            return Ok(false);
        }
        if let Some(size) = Size::try_of_expr(&fold.count).map(|size| self.canonical(&size)) {
            self.bounds.insert(fold.row.clone(), size);
        }
        let (block, ()) = self.nested(|this| {
            this.by_four(fold.row.name(), rows, |this, at| {
                this.facts.enter_loop(&fold.row, &fold.count);
                let rows: Vec<_> = at.iter().map(|at| vec![(fold.row.clone(), View::Scalar(at.clone()))]).collect();
                this.add_rows(n, column, count, fold, &rows, state)
            })
        })?;
        if can_fail(&block) {
            return Ok(false);
        }
        block.into_iter().for_each(|stmt| self.emit(stmt));
        Ok(true)
    }

    /// A loop over four rows at a time, and one over the rows that are left.
    pub fn by_four(&mut self, name: &str, rows: &Value, mut f: impl FnMut(&mut Self, &[Value]) -> Result<()>) -> Result<()> {
        let index = |this: &Self, prim, a: &Value, b: i64| this.prim(prim, Elem::Index, vec![a.clone(), Value::Index(b)]);
        let (fours, left) = match rows {
            Value::Index(rows) => (Value::Index(rows / 4), Value::Index(rows % 4)),
            rows => (index(self, Prim::Div, rows, 4), index(self, Prim::Rem, rows, 4)),
        };
        let fours = self.atomic(fours, "fours");
        if let Value::Local(id) = fours {
            self.locals[id].note = Some("four rows at a time: each total is read and written once for all four".into());
        }
        let i = self.counter(name, &fours);
        let (body, ()) = self.nested(|this| {
            let first = index(this, Prim::Mul, &Value::Local(i), 4);
            let four: Vec<Value> = (0..4).map(|k| index(this, Prim::Add, &first, k)).collect();
            f(this, &four)
        })?;
        self.emit(Stmt::For { i, var: None, count: fours.clone(), size: None, body, lanes: Lanes::One, apart: false });
        let (done, left) = match (fours, left) {
            (_, Value::Index(0)) => return Ok(()),
            (Value::Index(fours), Value::Index(1)) => {
                let (last, ()) = self.nested(|this| f(this, &[Value::Index(fours * 4)]))?;
                self.place(last);
                return Ok(());
            }
            (Value::Index(fours), left) => (Value::Index(fours * 4), left),
            (fours, left) => (index(self, Prim::Mul, &fours, 4), left),
        };
        let i = self.counter(name, &left);
        let (body, ()) = self.nested(|this| {
            let row = this.prim(Prim::Add, Elem::Index, vec![done, Value::Local(i)]);
            f(this, &[row])
        })?;
        self.emit(Stmt::For { i, var: None, count: left, size: None, body, lanes: Lanes::One, apart: false });
        Ok(())
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
        let same = !ours.iter().any(|var| mentions(cond, var)) && self.cannot_fail(cond);
        same.then(|| (cond.clone(), truth, term.clone()))
    }

    /// Takes rows into the accumulators, in this order; each row is what it binds.
    pub fn add_rows(
        &mut self,
        n: &Expr,
        column: &Var,
        count: &Value,
        fold: &ColumnFold,
        rows: &[Vec<(Var, View)>],
        state: &ArrayView,
    ) -> Result<()> {
        // what is the same for the whole row is named before it
        let ours = fold.ours();
        let (later, sooner): (Vec<_>, Vec<_>) = fold.lets.iter().cloned().partition(|(var, _)| ours.contains(var));
        let mut steps = Vec::new();
        for row in rows {
            self.env.extend(row.iter().cloned());
            let mut known = row.clone();
            for (var, value) in &sooner {
                self.bind(var, value)?;
                // of this row, also where others bind it after it
                known.extend(self.env.get(var).map(|view| (var.clone(), view.clone())));
            }
            if let ([_], Some((cond, truth, term))) = (rows, self.condition_of_row(fold, &ours)) {
                let choice = self.scalar(&cond)?;
                let fold = ColumnFold { lets: later, ..fold.clone() }.with_term(term);
                let (block, ()) = self.branch(&cond, truth, |this| this.add_rows(n, column, count, &fold, rows, state))?;
                self.emit(Stmt::If { cond: if truth { choice } else { negate(choice) }, then: block, otherwise: Vec::new() });
                return Ok(());
            }
            let term = if self.reciprocals && fold.is_sum() { self.with_common_factors(fold.term(), &ours)? } else { fold.term().clone() };
            steps.push((known, term));
        }
        self.enter_apart(column, n, count, Some(state.length()), |this, at| {
            let place = this.element_dest(state, at, fold.init.span())?;
            match (this.view_of(&place), &place) {
                (View::Scalar(total), Dest::Scalar(target)) => {
                    let total = this.steps(fold, &later, &steps, total)?;
                    let place = target.place(|leaf| this.offset(leaf));
                    this.assign(place, total);
                    Ok(())
                }
                (view, _) => {
                    let ty = fold.total.ty();
                    let locals = this.declare(ty, fold.acc.name(), &view);
                    let parts = components(ty, &locals);
                    this.env.insert(fold.acc.clone(), this.view_of(&locals));
                    for (row, term) in &steps {
                        this.in_row(row, &later)?;
                        this.step(term, &fold.acc, &parts, &Plan::ByBranch)?;
                    }
                    let view = this.view_of(&locals);
                    this.copy(&view, &place, fold.init.span())
                }
            }
        })
    }

    /// The accumulator of a scalar after some rows.
    fn steps(&mut self, fold: &ColumnFold, later: &[(Var, Expr)], rows: &[(Vec<(Var, View)>, Expr)], mut total: Value) -> Result<Value> {
        for (row, term) in rows {
            self.in_row(row, later)?;
            total = match &fold.step {
                Step::Sum(op, _) => {
                    let term = self.scalar(term)?;
                    Value::Prim { prim: *op, elem: Elem::Double, plain: true, args: vec![total, term] }
                }
                Step::Next(_) => {
                    let before = View::Scalar(total);
                    let before = if occurrences(term, &fold.acc) > 1 { self.settle(before, fold.acc.name()) } else { before };
                    self.env.insert(fold.acc.clone(), before);
                    self.scalar(term)?
                }
            };
        }
        Ok(total)
    }

    fn in_row(&mut self, row: &[(Var, View)], later: &[(Var, Expr)]) -> Result<()> {
        self.env.extend(row.iter().cloned());
        later.iter().try_for_each(|(var, value)| self.bind(var, value))
    }
}

/// Fewer rows than this are not worth a loop of their own.
pub const FEW_ROWS: i128 = 8;
