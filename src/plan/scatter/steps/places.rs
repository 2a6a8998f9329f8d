//! Conditions that say which row is meant.
//!
//! In: a condition on a row's index, and the steps where it holds. Out: those steps at a place, and what had waited for the row
//! before them; a condition that does not say which row is meant waits for one that does.
//!
//!     if 0.0 < w[r] && r = k[i] then s + c else s   →   at r = k[i]: if 0.0 < w[r] then add c

use crate::ir::{Expr, Prim, Term, Type};

use super::{Finder, Row, Step};

impl Finder {
    /// The steps of both branches of a condition: `f` gives those of one.
    pub(super) fn chosen(&mut self, cond: &Expr, f: &mut dyn FnMut(&mut Self, bool) -> Option<Vec<Step>>) -> Option<Vec<Step>> {
        (!self.is_about_totals(cond)).then_some(())?;
        match cond.term() {
            Term::Prim(Prim::Not, args) if self.varies(cond) => {
                return self.chosen(args.first()?, &mut |this, truth| f(this, !truth));
            }
            Term::Prim(Prim::Ne, args) if self.varies(cond) => {
                return self.chosen(&Expr::prim(Prim::Eq, args.clone()), &mut |this, truth| f(this, !truth));
            }
            _ => {}
        }
        if let Some((_, truth)) = self.scope.conds.iter().find(|(known, _)| is_same_condition(known, cond)) {
            let truth = *truth;
            return f(self, truth);
        }
        if !self.varies(cond) && self.scope.conds.is_empty() {
            let mut branch = |truth| {
                self.inside(|this| {
                    this.scope.facts.assume(cond, truth);
                    f(this, truth)
                })
            };
            let (then, otherwise) = (branch(true)?, branch(false)?);
            return Some(vec![Step::If(cond.clone(), then, otherwise)]);
        }
        let otherwise = self.inside(|this| {
            this.scope.conds.push((cond.clone(), false));
            f(this, false)
        })?;
        (otherwise.is_empty() || self.is_total(cond)).then_some(())?;
        let mut conjuncts = Vec::new();
        collect_conjuncts(cond, &mut conjuncts);
        let mut steps = self.where_all(&conjuncts, f)?;
        steps.extend(otherwise);
        Some(steps)
    }

    /// The steps of `f` where conditions hold.
    fn where_all(&mut self, conds: &[Expr], f: &mut dyn FnMut(&mut Self, bool) -> Option<Vec<Step>>) -> Option<Vec<Step>> {
        let Some((cond, rest)) = conds.split_first() else { return f(self, true) };
        let is_free = self.scope.conds.is_empty();
        if is_free && !self.varies(cond) {
            let then = self.inside(|this| {
                this.scope.facts.assume(cond, true);
                this.where_all(rest, f)
            })?;
            return Some(vec![Step::If(cond.clone(), then, Vec::new())]);
        }
        match self.place(cond) {
            Some((row, at)) if is_free || self.is_total(&at) => {
                let steps = self.inside(|this| {
                    this.scope.facts.assume(cond, true);
                    this.known(&row, |this| this.where_all(rest, f))
                })?;
                Some(vec![Step::At(row, at, steps)])
            }
            _ => {
                self.is_total(cond).then_some(())?;
                self.inside(|this| {
                    this.scope.conds.push((cond.clone(), true));
                    this.where_all(rest, f)
                })
            }
        }
    }

    /// Which row a condition is about, where it can be true for one alone.
    fn place(&self, cond: &Expr) -> Option<(Row, Expr)> {
        let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        let index = |prim, a: &Expr, b: &Expr| Expr::prim(prim, vec![a.clone(), b.clone()]);
        for (side, other) in [(a, b), (b, a)] {
            if self.varies(other) || !matches!(side.ty(), Type::Index(_)) {
                continue;
            }
            if let Some(row) = self.row(side) {
                return Some((row, other.clone()));
            }
            // wraps as the row's index does
            if let Term::Prim(prim @ (Prim::Add | Prim::Sub), args) = side.term()
                && let [x, y] = args.as_slice()
            {
                match (self.row(x), self.row(y), prim) {
                    (Some(row), _, Prim::Add) if !self.varies(y) => return Some((row, index(Prim::Sub, other, y))),
                    (Some(row), _, _) if !self.varies(y) => return Some((row, index(Prim::Add, other, y))),
                    (_, Some(row), Prim::Add) if !self.varies(x) => return Some((row, index(Prim::Sub, other, x))),
                    (_, Some(row), _) if !self.varies(x) => return Some((row, index(Prim::Sub, x, other))),
                    _ => {}
                }
            }
        }
        None
    }

    fn row(&self, expr: &Expr) -> Option<Row> {
        let Term::Var(var) = expr.term() else { return None };
        self.scope.rows.iter().find(|row| row.var == *var).cloned()
    }

    /// The steps of `f` where the row is known: what waited for it comes first.
    fn known(&mut self, row: &Row, f: impl FnOnce(&mut Self) -> Option<Vec<Step>>) -> Option<Vec<Step>> {
        self.scope.rows.retain(|other| other.var != row.var);
        let mut steps = Vec::new();
        for (var, value) in std::mem::take(&mut self.scope.lets) {
            if self.varies(&value) {
                self.scope.lets.push((var, value));
            } else {
                steps.push(Step::Let(var, value));
            }
        }
        let (later, now): (Vec<_>, Vec<_>) = std::mem::take(&mut self.scope.conds).into_iter().partition(|(cond, _)| self.varies(cond));
        self.scope.conds = later;
        let inner = now.into_iter().rev().fold(f(self)?, |inner, (cond, truth)| {
            let (then, otherwise) = if truth { (inner, Vec::new()) } else { (Vec::new(), inner) };
            vec![Step::If(cond, then, otherwise)]
        });
        steps.extend(inner);
        Some(steps)
    }
}

/// Whether conditions are the same, `a = b` and `b = a` among them.
fn is_same_condition(a: &Expr, b: &Expr) -> bool {
    a.is_same(b)
        || match (a.term(), b.term()) {
            (Term::Prim(Prim::Eq, a), Term::Prim(Prim::Eq, b)) => {
                let is_same = |x: &Expr, y: &Expr| x.is_same(y) || matches!((x.term(), y.term()), (Term::Var(x), Term::Var(y)) if x == y);
                a.len() == 2
                    && b.len() == 2
                    && (is_same(&a[0], &b[0]) && is_same(&a[1], &b[1]) || is_same(&a[0], &b[1]) && is_same(&a[1], &b[0]))
            }
            _ => false,
        }
}

/// `a && b` as a and b.
fn collect_conjuncts(cond: &Expr, found: &mut Vec<Expr>) {
    match cond.term() {
        Term::Prim(Prim::And, args) => args.iter().for_each(|arg| collect_conjuncts(arg, found)),
        _ => found.push(cond.clone()),
    }
}
