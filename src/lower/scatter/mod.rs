//! Scatters: sums whose terms are selected by an index from data are accumulated by one loop over the terms.
//!
//! In: a `build` over rows whose elements are sums over i of terms that are added where the row's index is some e(i), as in the
//! derivative of `c[k[i]]`. Out: the result at its first values, one loop over i that adds to the element of index e(i), if
//! there is one, and what is made of the sums.
//!
//!     build(n, r. fold(m, s, i. if r = k[i] then s + g(i) else s, 0.0))
//!       →   for r < n: out[r] = 0.0
//!           for i < m: at = k[i]; if (0 <= at && at < n) out[at] += g(i)
//!
//! `plan::scatter` finds them. Each element's sum adds the same numbers in the order of i. Several sums, and several terms of one i, are fused where
//! [`super::LowerOptions`] allows another order. A term for all rows is added to each of them in the same loop. Failures keep
//! their status; where that is not certain, and for few rows, nothing changes.

mod merge;

use crate::ir::{Expr, Prim, Size, Type};
use crate::source::Span;

use super::context::{Lowerer, Result, mismatch};
use super::view::{Dest, View};
use crate::loops::failures::{Failures, can_fail};
use crate::loops::program::*;
use crate::loops::values::negate;
use crate::plan::scatter::common;
use crate::plan::scatter::find::{Scatter, Shape, Side, Sum};
use crate::plan::scatter::steps::{Addition, Row, Step};

impl Lowerer<'_> {
    /// Writes a `build` whose elements are such sums; says whether it did.
    pub fn scatter(&mut self, expr: &Expr, dest: &Dest) -> Result<bool> {
        let Some(scatter) = Scatter::find(expr, &self.facts, !self.reciprocals) else { return Ok(false) };
        let (init, ()) = self.nested(|this| this.write(&scatter.init, dest))?;
        let mut inner_fails = false;
        let (sums, ()) = self.nested(|this| scatter.loops.iter().try_for_each(|sums| this.sums(sums, dest, &mut inner_fails)))?;
        let (finish, ()) = self.nested(|this| this.finish(&scatter.finish, dest))?;
        // the sums of a row are finished before the next row
        let mut failures = Failures::default();
        [&init, &sums, &finish].into_iter().for_each(|block| failures.add(block));
        let is_in_turn =
            !can_fail(&init) && !inner_fails && scatter.loops.iter().all(|sums| matches!(sums.as_slice(), [sum] if !sum.delays));
        if !is_in_turn && !failures.are_of_one_status() {
            return Ok(false);
        }
        [init, sums, finish].into_iter().for_each(|block| self.place(block));
        Ok(true)
    }

    /// Whether there is an element, unless that is known.
    fn runs(&self, rows: &[Row]) -> Option<Expr> {
        let unknown = rows.iter().filter(|row| !self.facts.positive(&self.facts.size_of(&row.n)));
        let positive = unknown.map(|row| Expr::prim(Prim::Gt, vec![row.n.clone(), Expr::index(0)]));
        positive.reduce(|a, b| Expr::prim(Prim::And, vec![a, b]))
    }

    /// One loop for sums with the same trip count; it runs only if there are rows.
    fn sums(&mut self, sums: &[Sum], dest: &Dest, inner_fails: &mut bool) -> Result<()> {
        let Some(first) = sums.first() else { return Ok(()) };
        let runs = self.runs(&first.rows);
        let mut fails = false;
        let mut block = self.loop_over(sums, None, dest, &mut fails)?;
        let Some(runs) = runs else {
            *inner_fails |= fails;
            self.place(block);
            return Ok(());
        };
        // failures, reads and sums over all rows happen only where there are rows
        if can_fail(&block) || self.unchecked || sums.iter().any(|sum| common::is_in(&sum.steps)) {
            fails = false;
            block = self.loop_over(sums, Some(&runs), dest, &mut fails)?;
            let cond = self.scalar(&runs)?;
            self.either(cond, block, Vec::new());
        } else {
            self.place(block);
        }
        *inner_fails |= fails;
        Ok(())
    }

    /// The loop, under these facts.
    fn loop_over(&mut self, sums: &[Sum], known: Option<&Expr>, dest: &Dest, inner_fails: &mut bool) -> Result<Block> {
        let Some(first) = sums.first() else { return Ok(Vec::new()) };
        let size = Size::try_of_expr(&first.count).map(|size| self.canonical(&size));
        let (mut block, ()) = self.nested(|this| {
            if let Some(known) = known {
                this.facts.assume(known, true);
            }
            let count = this.count(&first.count, None)?;
            this.enter(&first.i, &first.count, &count, size.clone(), |this, at| {
                for sum in sums {
                    this.env.insert(sum.i.clone(), View::Scalar(at.clone()));
                    if let Some(size) = &size {
                        this.bounds.insert(sum.i.clone(), size.clone());
                    }
                    this.facts.enter_loop(&sum.i, &sum.count);
                    this.scatter_steps(&sum.steps, sum, dest, inner_fails)?;
                }
                Ok(())
            })
        })?;
        if let Some(Stmt::For { body, .. }) = block.last_mut() {
            merge::merge(&mut self.locals, body);
        }
        Ok(block)
    }

    fn scatter_steps(&mut self, steps: &[Step], sum: &Sum, dest: &Dest, inner_fails: &mut bool) -> Result<()> {
        for step in steps {
            match step {
                Step::Let(var, value) => self.bind(var, value)?,
                Step::Check(cond, status) => self.check(cond, *status)?,
                Step::Known(cond) => self.facts.assume(cond, true),
                Step::If(cond, a, b) => {
                    let choice = self.scalar(cond)?;
                    let (then, ()) = self.branch(cond, true, |this| this.scatter_steps(a, sum, dest, inner_fails))?;
                    let (otherwise, ()) = self.branch(cond, false, |this| this.scatter_steps(b, sum, dest, inner_fails))?;
                    self.either(choice, then, otherwise);
                }
                Step::Loop(n, i, steps) => {
                    let count = self.count(n, None)?;
                    let size = Size::try_of_expr(n).map(|size| self.canonical(&size));
                    self.enter(i, n, &count, size, |this, _| this.scatter_steps(steps, sum, dest, inner_fails))?;
                }
                Step::At(row, at, steps) => self.at(row, at, steps, sum, dest, inner_fails)?,
                Step::Add(addition) => {
                    let addition = self.before_rows(addition)?;
                    let (block, ()) = self.nested(|this| this.addition(&addition, &addition.rows, sum, dest))?;
                    *inner_fails |= can_fail(&block);
                    self.place(block);
                }
            }
        }
        Ok(())
    }

    /// What is done to one row, if there is one of this index.
    fn at(&mut self, row: &Row, index: &Expr, steps: &[Step], sum: &Sum, dest: &Dest, inner_fails: &mut bool) -> Result<()> {
        let at = self.scalar(index)?;
        let at = self.atomic(at, "at");
        let count = self.count(&row.n, None)?;
        let is_one = self.is_row(index, &row.n);
        self.env.insert(row.var.clone(), View::Scalar(at.clone()));
        self.note_bound(&row.var);
        let (block, ()) = self.nested(|this| {
            this.facts.enter_loop(&row.var, &row.n);
            this.facts.assume(&Expr::prim(Prim::Eq, vec![Expr::var(&row.var), index.clone()]), true);
            this.scatter_steps(steps, sum, dest, inner_fails)
        })?;
        *inner_fails |= can_fail(&block);
        if is_one {
            self.place(block);
            return Ok(());
        }
        let below = self.prim(Prim::Lt, Elem::Index, vec![at.clone(), count]);
        let cond = if self.range(&at).0 >= 0 {
            below
        } else {
            let above = Value::Prim { prim: Prim::Ge, elem: Elem::Index, plain: true, args: vec![at, Value::Index(0)] };
            Value::Prim { prim: Prim::And, elem: Elem::Bool, plain: true, args: vec![above, below] }
        };
        self.either(cond, block, Vec::new());
        Ok(())
    }

    /// Whether an index is known to be one of n.
    fn is_row(&self, index: &Expr, n: &Expr) -> bool {
        let n = self.facts.size_of(n);
        let declared = match index.ty() {
            Type::Index(Some(bound)) => self.facts.equal(bound, &n) || self.facts.at_most(bound, &n),
            _ => false,
        };
        declared || self.facts.in_range(&self.facts.size_of(index), &n)
    }

    /// The addition after what its rows have in common: a sum that is the same for all of them is added up once.
    fn before_rows(&mut self, addition: &Addition) -> Result<Addition> {
        let (common, rest) = common::sums(addition);
        if common.is_empty() {
            return Ok(addition.clone());
        }
        let (block, ()) = self.nested(|this| common.iter().try_for_each(|(var, value)| this.bind(var, value)))?;
        if can_fail(&block) {
            return Ok(addition.clone());
        }
        self.place(block);
        Ok(rest)
    }

    /// Adds a term to the elements of the rows that are left.
    fn addition(&mut self, addition: &Addition, rows: &[Row], sum: &Sum, dest: &Dest) -> Result<()> {
        if let Some((row, rest)) = rows.split_first() {
            let count = self.count(&row.n, None)?;
            let size = Size::try_of_expr(&row.n).map(|size| self.canonical(&size));
            return self.enter(&row.var, &row.n, &count, size, |this, _| this.addition(addition, rest, sum, dest));
        }
        for (var, value) in &addition.lets {
            self.bind(var, value)?;
        }
        self.where_all(&addition.conds, |this| {
            let value = this.scalar(&addition.value)?;
            let place = this.element_of(sum, dest, &addition.value)?;
            let (View::Scalar(total), Dest::Scalar(target)) = (this.view_of(&place), place) else {
                return Err(mismatch(addition.value.span()));
            };
            let prim = if addition.minus != sum.minus { Prim::Sub } else { Prim::Add };
            let place = target.place(|leaf| this.offset(leaf));
            this.assign(place, Value::Prim { prim, elem: Elem::Double, plain: true, args: vec![total, value] });
            Ok(())
        })
    }

    fn where_all(&mut self, conds: &[(Expr, bool)], f: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Some(((cond, truth), rest)) = conds.split_first() else { return f(self) };
        let choice = self.scalar(cond)?;
        let (block, ()) = self.branch(cond, *truth, |this| this.where_all(rest, f))?;
        self.either(if *truth { choice } else { negate(choice) }, block, Vec::new());
        Ok(())
    }

    /// The place of the element that a sum is, for the rows that are known.
    fn element_of(&mut self, sum: &Sum, dest: &Dest, expr: &Expr) -> Result<Dest> {
        let mut dest = dest.clone();
        for side in &sum.path {
            dest = match (side, &dest) {
                (Side::Row(row), Dest::Array(array)) => {
                    let Some(View::Scalar(at)) = self.env.get(row).cloned() else { return Err(mismatch(expr.span())) };
                    self.element_dest(array, &at, expr.span())?
                }
                (Side::Item(k), Dest::Array(array)) => self.element_dest(array, &Value::Index(*k as i64), expr.span())?,
                (Side::Part(k), Dest::Tuple(parts)) if *k < parts.len() => parts[*k].clone(),
                _ => return Err(mismatch(expr.span())),
            };
        }
        Ok(dest)
    }

    /// Makes the elements of the sums, each of which stands in its place.
    fn finish(&mut self, shape: &Shape, dest: &Dest) -> Result<()> {
        match (shape, dest) {
            (Shape::Nothing, _) => Ok(()),
            (Shape::Rows(row, span, shape), Dest::Array(array)) => {
                let count = self.count(&row.n, None)?;
                self.enter_apart(&row.var, &row.n, &count, Some(array.length()), |this, at| {
                    let place = this.element_dest(array, at, *span)?;
                    this.finish(shape, &place)
                })
            }
            (Shape::Items(shapes), Dest::Array(array)) => shapes.iter().enumerate().try_for_each(|(k, shape)| {
                let place = self.element_dest(array, &Value::Index(k as i64), Span::NONE)?;
                self.finish(shape, &place)
            }),
            (Shape::Parts(shapes), Dest::Tuple(places)) => {
                shapes.iter().zip(places).try_for_each(|(shape, place)| self.finish(shape, place))
            }
            (Shape::Let(var, value, shape), _) => {
                self.bind(var, value)?;
                self.finish(shape, dest)
            }
            (Shape::Element(total, value), _) => {
                let view = self.view_of(dest);
                let view = self.settle(view, total.name());
                self.env.insert(total.clone(), view);
                self.write(value, dest)
            }
            (Shape::Rows(..) | Shape::Items(_) | Shape::Parts(_), _) => Err(mismatch(Span::NONE)),
        }
    }
}
