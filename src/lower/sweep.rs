//! Sums over columns, row by row: the order in which memory is read decides how fast a matrix is summed.
//!
//! In: a `build` whose elements hold a sum that walks down a column. Out: loops that clear the destination,
//! add one row after the other to it, and finish each element.
//!
//!     build(n, j. f(fold(m, s, i. s + A[i][j], 0)))   →   for j: out[j] = 0
//!                                                         for i: for j: out[j] += A[i][j]
//!                                                         for j: out[j] = f(out[j])
//!
//! What is the same for a whole row is computed once for it (`factors`), and a row that a condition leaves out is not read.
//! Where that is cheap, four rows are added at a time. Each element's sum adds the same numbers in the same order. Few columns of literal number stay as they are.

use std::collections::HashSet;

use crate::ir::free::{any_free_var, mentions};
use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};

use super::context::{Lowerer, Result};
use super::factors::Product;
use super::program::{Elem, Lanes, Place, Stmt, Value};
use super::scalar::negate;
use super::view::{ArrayView, Dest, View};

/// A sum down a column, taken out of the element that it is part of.
#[derive(Clone)]
pub struct ColumnSum {
    pub count: Expr,
    pub row: Var,
    column: Var,
    /// What the sum's body names before it adds.
    lets: Vec<(Var, Expr)>,
    op: Prim,
    term: Expr,
    pub init: Expr,
    /// The element, over `total` in the place of the sum.
    pub finish: Expr,
    total: Var,
}

/// A literal number of columns up to this is no sweep.
const FEW_COLUMNS: i64 = 4;

impl ColumnSum {
    /// Finds one in the element of `build(n, column. element)`.
    pub fn find(n: &Expr, column: &Var, element: &Expr) -> Option<ColumnSum> {
        if element.ty() != &Type::Double || matches!(n.term(), Term::Index(n) if *n <= FEW_COLUMNS) {
            return None;
        }
        let mut named = Vec::new();
        let fold = find_fold(element, column, &mut named)?;
        let Term::Fold { n: count, acc, i: row, body, init } = fold.term() else { return None };
        let mut lets = Vec::new();
        let mut body = body;
        while let Term::Let(var, value, rest) = body.term() {
            lets.push((var.clone(), value.clone()));
            body = rest;
        }
        let (op, term) = added(body, acc)?;
        let total = Var::fresh(acc.name(), Type::Double);
        let finish = replace(element, &fold, &Expr::var(&total));
        Some(ColumnSum {
            count: count.clone(),
            row: row.clone(),
            column: column.clone(),
            lets,
            op,
            term,
            init: init.clone(),
            finish,
            total,
        })
    }

    /// The sum with other terms for what it does with a row.
    pub fn map_rows(self, f: &mut dyn FnMut(&Expr, &Var) -> Option<Expr>) -> Option<ColumnSum> {
        let lets = self.lets.into_iter().map(|(var, value)| Some((var, f(&value, &self.row)?)));
        Some(ColumnSum { lets: lets.collect::<Option<_>>()?, term: f(&self.term, &self.row)?, ..self })
    }

    /// Whether what it does with a row reads some variable.
    pub fn reads(&self, vars: &HashSet<Var>) -> bool {
        let mut terms = self.lets.iter().map(|(_, value)| value).chain([&self.term]);
        terms.any(|term| any_free_var(term, &mut |var| vars.contains(var)))
    }

    /// Whether reading and writing the sums takes as long as what it does with an element of a row; `common` says that what a
    /// row's products have in common is computed once for it.
    pub fn is_light(&self, common: bool) -> bool {
        if !common {
            return self.lets.is_empty() && is_light(&self.term);
        }
        let ours = self.ours();
        let own = Product::of(&self.term);
        let own = own.mentioning(&ours);
        ours.len() == 1 && own.len() == 1 && own.iter().all(|factor| is_light(factor))
    }

    /// What changes from column to column.
    fn ours(&self) -> Vec<Var> {
        let mut ours = vec![self.column.clone()];
        for (var, value) in &self.lets {
            if ours.iter().any(|var| mentions(value, var)) {
                ours.push(var.clone());
            }
        }
        ours
    }
}

/// The first sum down a column that is always evaluated; `named` are the lets around it.
fn find_fold(expr: &Expr, column: &Var, named: &mut Vec<Var>) -> Option<Expr> {
    match expr.term() {
        Term::Fold { n, acc, body, i: row, init } => {
            let alone = !mentions(n, column) && !named.iter().any(|var| mentions(expr, var));
            let sums = expr.ty() == &Type::Double && !has_loop(init) && is_sum(body, acc);
            (alone && sums && walks_columns(body, row, column)).then(|| expr.clone())
        }
        Term::Prim(Prim::And | Prim::Or, _) | Term::If(..) | Term::Build { .. } | Term::Check { .. } | Term::Dual { .. } => None,
        Term::Let(var, value, body) => find_fold(value, column, named).or_else(|| {
            named.push(var.clone());
            find_fold(body, column, named)
        }),
        term => {
            let mut found = None;
            term.each_child(&mut |child| found = found.take().or_else(|| find_fold(child, column, named)));
            found
        }
    }
}

fn is_sum(body: &Expr, acc: &Var) -> bool {
    match body.term() {
        Term::Let(_, value, rest) => !mentions(value, acc) && !has_loop(value) && is_sum(rest, acc),
        _ => added(body, acc).is_some_and(|(_, term)| !has_loop(&term)),
    }
}

/// `acc + e`, `e + acc`, `acc - e`, or one of them unless a condition leaves the sum as it is: adding -0.0, or
/// subtracting 0.0, does too.
fn added(body: &Expr, acc: &Var) -> Option<(Prim, Expr)> {
    let is_acc = |expr: &Expr| matches!(expr.term(), Term::Var(var) if var == acc);
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

/// Whether a term has loops, calls, or arrays of its own.
pub fn has_loop(expr: &Expr) -> bool {
    match expr.term() {
        Term::Build { .. } | Term::Fold { .. } | Term::Call(..) | Term::Array(_) => true,
        term => {
            let mut found = false;
            term.each_child(&mut |child| found = found || has_loop(child));
            found
        }
    }
}

/// Whether more is read along rows by the outer loop's index than by the inner one's.
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

fn replace(expr: &Expr, from: &Expr, to: &Expr) -> Expr {
    if expr.is_same(from) { to.clone() } else { map_children(expr, &mut |child| replace(child, from, to)) }
}

impl Lowerer<'_> {
    /// Writes `build(n, column. …)` with its column sums row by row.
    pub fn sweep(&mut self, n: &Expr, column: &Var, count: &Value, sum: &ColumnSum, dest: &ArrayView) -> Result<()> {
        self.clear_columns(n, column, count, sum, dest)?;
        let rows = self.count(&sum.count, None)?;
        if !self.sweep_by_four(n, column, count, sum, &rows, dest)? {
            let size = Size::try_of_expr(&sum.count).map(|size| self.canonical(&size));
            self.enter(&sum.row, &sum.count, &rows, size, |this, at| {
                let row = vec![(sum.row.clone(), View::Scalar(at.clone()))];
                this.add_rows(n, column, count, sum, &[row], dest)
            })?;
        }
        self.finish_columns(n, column, count, sum, dest)
    }

    /// Gives the sums their first values.
    pub fn clear_columns(&mut self, n: &Expr, column: &Var, count: &Value, sum: &ColumnSum, dest: &ArrayView) -> Result<()> {
        self.enter(column, n, count, Some(dest.length()), |this, at| {
            let place = this.element_dest(dest, at, sum.term.span())?;
            this.write(&sum.init, &place)
        })
    }

    /// Makes the elements of the sums.
    pub fn finish_columns(&mut self, n: &Expr, column: &Var, count: &Value, sum: &ColumnSum, dest: &ArrayView) -> Result<()> {
        if matches!(sum.finish.term(), Term::Var(var) if *var == sum.total) {
            return Ok(());
        }
        self.enter(column, n, count, Some(dest.length()), |this, at| {
            let place = this.element_dest(dest, at, sum.term.span())?;
            let view = this.view_of(&place);
            let view = this.settle(view, sum.total.name());
            this.env.insert(sum.total.clone(), view);
            this.write(&sum.finish, &place)
        })
    }

    /// Adds four rows at a time, which loads and stores each sum once for them, then the rows that are left; says
    /// whether it did: not for few rows, where adding one takes longer than that, or can fail.
    fn sweep_by_four(&mut self, n: &Expr, column: &Var, count: &Value, sum: &ColumnSum, rows: &Value, dest: &ArrayView) -> Result<bool> {
        let most = self.range(rows).1;
        if most < FEW_ROWS || most > i128::from(i64::MAX / 8) || !sum.is_light(self.reciprocals) {
            return Ok(false);
        }
        if let Some(size) = Size::try_of_expr(&sum.count).map(|size| self.canonical(&size)) {
            self.bounds.insert(sum.row.clone(), size);
        }
        let (block, ()) = self.nested(|this| {
            this.by_four(sum.row.name(), rows, |this, at| {
                this.facts.enter_loop(&sum.row, &sum.count);
                let rows: Vec<_> = at.iter().map(|at| vec![(sum.row.clone(), View::Scalar(at.clone()))]).collect();
                this.add_rows(n, column, count, sum, &rows, dest)
            })
        })?;
        if super::can_fail(&block) {
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
            self.locals[id].note = "four rows at a time: each sum is read and written once for all four";
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
    fn condition_of_row(&self, sum: &ColumnSum, ours: &[Var]) -> Option<(Expr, bool, Expr)> {
        let Term::If(cond, a, b) = sum.term.term() else { return None };
        // adding 0.0 makes 0.0 of -0.0
        let nothing = |expr: &Expr| match expr.term() {
            Term::Double(zero) => *zero == 0.0 && (self.reciprocals || zero.is_sign_negative() == (sum.op == Prim::Add)),
            _ => false,
        };
        let (truth, term) = if nothing(b) { (true, a) } else { nothing(a).then_some((false, b))? };
        let same = !ours.iter().any(|var| mentions(cond, var)) && self.cannot_fail(cond);
        same.then(|| (cond.clone(), truth, term.clone()))
    }

    /// Adds rows to the sums, in this order; each row is what it binds.
    pub fn add_rows(
        &mut self,
        n: &Expr,
        column: &Var,
        count: &Value,
        sum: &ColumnSum,
        rows: &[Vec<(Var, View)>],
        dest: &ArrayView,
    ) -> Result<()> {
        // what is the same for the whole row is named before it
        let ours = sum.ours();
        let (later, sooner): (Vec<_>, Vec<_>) = sum.lets.iter().partition(|(var, _)| ours.contains(var));
        let mut terms = Vec::new();
        for row in rows {
            self.env.extend(row.iter().cloned());
            for (var, value) in &sooner {
                self.bind(var, value)?;
            }
            if let ([_], Some((cond, truth, term))) = (rows, self.condition_of_row(sum, &ours)) {
                let choice = self.scalar(&cond)?;
                let sum = ColumnSum { term, lets: later.into_iter().cloned().collect(), ..sum.clone() };
                let (block, ()) = self.branch(&cond, truth, |this| this.add_rows(n, column, count, &sum, rows, dest))?;
                self.emit(Stmt::If { cond: if truth { choice } else { negate(choice) }, then: block, otherwise: Vec::new() });
                return Ok(());
            }
            terms.push(if self.reciprocals { self.with_common_factors(&sum.term, &ours)? } else { sum.term.clone() });
        }
        self.enter(column, n, count, Some(dest.length()), |this, at| {
            let place = this.element_dest(dest, at, sum.term.span())?;
            let (View::Scalar(mut total), Dest::Scalar(target)) = (this.view_of(&place), place) else { return Ok(()) };
            for (row, term) in rows.iter().zip(&terms) {
                this.env.extend(row.iter().cloned());
                for (var, value) in &later {
                    this.bind(var, value)?;
                }
                let value = this.scalar(term)?;
                total = Value::Prim { prim: sum.op, elem: Elem::Double, plain: true, args: vec![total, value] };
            }
            let place: Place = target.place(|leaf| this.offset(leaf));
            this.assign(place, total);
            Ok(())
        })
    }
}

/// Fewer rows than this are not worth a loop of their own.
pub const FEW_ROWS: i128 = 8;

/// Whether reading and writing the sum takes as long as the term: a product at most, of elements and numbers.
fn is_light(term: &Expr) -> bool {
    let plain = |expr: &Expr| match expr.term() {
        Term::Get(array, index) => !has_loop(array) && index.is_atom(),
        _ => expr.is_atom(),
    };
    match term.term() {
        Term::Prim(Prim::Mul | Prim::Div, args) => term.ty() == &Type::Double && args.iter().all(plain),
        _ => plain(term),
    }
}
