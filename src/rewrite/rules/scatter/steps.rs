//! The steps of a sum that is scattered: what they add to which row.
//!
//! In: a step over the accumulator of one row, and the sums of all rows before it. Out: the sums after it.
//!
//!     let t = k[i] in if 0.0 < c[r] && r = t then s + c[r] else s
//!       →   let t = k[i] in let at = t in if 0 <= at && at < n then (if 0.0 < c[at] then accumulate sums at c[at] else sums) else sums

use crate::ir::free::mentions;
use crate::ir::subst::substitute;
use crate::ir::{Change, Expr, Prim, Size, Term, Type, Var};

use super::{Finder, Row, Scope};

impl Finder<'_> {
    /// The sums after one iteration of a loop over terms.
    pub(super) fn repeated(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr, state: Expr) -> Option<Expr> {
        (!self.varies(n)).then_some(())?;
        self.moves(n)?;
        Size::try_of_expr(n).filter(|n| self.facts.non_negative(n))?;
        self.inside(|this| {
            this.facts.enter_loop(i, n);
            this.scope.kept.push(acc.clone());
            this.scope.loops.push(i.clone());
            this.step(body, acc, state)
        })
    }

    /// The sums after a step, whose accumulator stands for those in `state`.
    pub(super) fn step(&mut self, expr: &Expr, acc: &Var, state: Expr) -> Option<Expr> {
        match expr.term() {
            Term::Var(var) => (var == acc).then_some(state),
            Term::Let(x, value, rest) if mentions(value, acc) => {
                (!mentions(rest, acc) && value.ty() == &Type::Double).then_some(())?;
                let before = self.step(value, acc, state)?;
                self.scope.kept.push(x.clone());
                self.after(before, |this, state| this.step(rest, x, state))
            }
            Term::Let(x, value, rest) => {
                self.moves(value)?;
                if self.varies(value) {
                    self.waits(value)?;
                    self.facts.enter_let(x, value);
                    self.put_off(x, value.clone());
                    return self.step(rest, acc, state);
                }
                self.is_asked_for(value)?;
                self.facts.enter_let(x, value);
                Some(Expr::let_(x.clone(), value.clone(), self.step(rest, acc, state)?))
            }
            Term::Check { cond, status, body } if !self.varies(cond) && self.scope.conds.is_empty() => {
                self.moves(cond)?;
                self.failures.insert(*status);
                self.facts.assume(cond, true);
                Some(Expr::check(cond.clone(), *status, self.step(body, acc, state)?))
            }
            Term::If(cond, then, otherwise) => self.chosen(cond, then, otherwise, acc, state),
            Term::Fold { n, acc: total, i, body, init } if self.scope.conds.is_empty() => {
                let before = self.step(init, acc, state)?;
                let sums = Var::fresh("sums", before.ty().clone());
                let body = self.repeated(n, total, i, body, Expr::var(&sums))?;
                Some(Expr::fold_with(n.clone(), sums, i.clone(), body, before))
            }
            Term::Prim(prim @ (Prim::Add | Prim::Sub), args) => {
                let [a, b] = args.as_slice() else { return None };
                let (before, term) = if *prim == Prim::Add && mentions(b, acc) { (b, a) } else { (a, b) };
                let before = self.step(before, acc, state)?;
                self.moves(term)?;
                let term = if *prim == Prim::Sub { Expr::prim(Prim::Neg, vec![term.clone()]) } else { term.clone() };
                self.after(before, |this, state| this.added(&term, state))
            }
            _ => None,
        }
    }

    /// What follows from sums that have a name.
    fn after(&mut self, sums: Expr, f: impl FnOnce(&mut Self, Expr) -> Option<Expr>) -> Option<Expr> {
        if sums.is_atom() {
            return f(self, sums);
        }
        let name = Var::fresh("sums", sums.ty().clone());
        let rest = f(self, Expr::var(&name))?;
        Some(Expr::let_(name, sums, rest))
    }

    /// The sums with a term added in each of the rows that are left; the outermost one is known.
    fn added(&self, term: &Expr, state: Expr) -> Option<Expr> {
        let Scope { rows, lets, conds, .. } = &self.scope;
        let is_known = self.rows().next().is_some_and(|outermost| rows.iter().all(|row| row.var != outermost.var));
        is_known.then_some(())?;
        let states: Vec<Var> = rows.iter().map(|_| Var::fresh("sums", state.ty().clone())).collect();
        let last = states.last().map_or(state.clone(), Expr::var);
        let indices = self.rows().map(|row| Expr::var(&row.var)).collect();
        let added = where_known(lets, conds, Expr::update(Change::Add, last.clone(), indices, term.clone()), &last);
        let before = std::iter::once(state).chain(states.iter().map(Expr::var));
        let loops: Vec<_> = rows.iter().zip(&states).zip(before).collect();
        let repeated =
            |body, ((row, sums), before): ((&Row, &Var), Expr)| Expr::fold_with(row.n.clone(), sums.clone(), row.var.clone(), body, before);
        Some(loops.into_iter().rev().fold(added, repeated))
    }

    /// The sums after a choice.
    fn chosen(&mut self, cond: &Expr, then: &Expr, otherwise: &Expr, acc: &Var, state: Expr) -> Option<Expr> {
        self.moves(cond)?;
        let waits = self.varies(cond);
        let place = self.place(cond);
        if waits && (place.is_none() || !self.scope.conds.is_empty()) {
            self.waits(cond)?;
        }
        if !waits {
            self.is_asked_for(cond)?;
        }
        let mut branch = |expr: &Expr, truth: bool, state: Expr| {
            self.inside(|this| {
                if waits {
                    this.scope.conds.push((cond.clone(), truth));
                } else {
                    this.facts.assume(cond, truth);
                }
                this.step(expr, acc, state)
            })
        };
        if !waits {
            let (then, otherwise) = (branch(then, true, state.clone())?, branch(otherwise, false, state)?);
            return Some(Expr::if_(cond.clone(), then, otherwise));
        }
        let before = branch(otherwise, false, state)?;
        match place {
            Some((row, at)) => self.after(before, |this, state| this.at(&row, at, cond, state, |this, state| this.step(then, acc, state))),
            None => self.after(before, |this, state| {
                this.inside(|this| {
                    this.scope.conds.push((cond.clone(), true));
                    this.step(then, acc, state)
                })
            }),
        }
    }

    /// Which row a condition is about, where it can be true for one alone.
    fn place(&self, cond: &Expr) -> Option<(Row, Expr)> {
        let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        let index = |prim, a: &Expr, b: &Expr| Expr::prim(prim, vec![a.clone(), b.clone()]);
        for (side, other) in [(a, b), (b, a)] {
            if self.varies(other) {
                continue;
            }
            if let Some(row) = self.row(side) {
                return Some((row, other.clone()));
            }
            // wraps as the row's index does
            let Term::Prim(prim @ (Prim::Add | Prim::Sub), args) = side.term() else { continue };
            let [x, y] = args.as_slice() else { continue };
            match (self.row(x), self.row(y), prim) {
                (Some(row), _, Prim::Add) if !self.varies(y) => return Some((row, index(Prim::Sub, other, y))),
                (Some(row), _, _) if !self.varies(y) => return Some((row, index(Prim::Add, other, y))),
                (_, Some(row), Prim::Add) if !self.varies(x) => return Some((row, index(Prim::Sub, other, x))),
                (_, Some(row), _) if !self.varies(x) => return Some((row, index(Prim::Sub, x, other))),
                _ => {}
            }
        }
        None
    }

    /// Whether an index is linear in those of loops: other rules solve for these, and need no memory.
    fn is_counted(&self, index: &Expr) -> bool {
        let is_fixed = |part: &Expr| match part.term() {
            Term::Var(var) => !self.scope.loops.contains(var) && self.facts.value(var).is_none(),
            _ => part.is_atom(),
        };
        match index.term() {
            Term::Var(var) => self.scope.loops.contains(var) || self.facts.value(var).is_some_and(|value| self.is_counted(value)),
            Term::Prim(Prim::Mul, args) => {
                args.iter().any(|part| matches!(part.term(), Term::Index(_))) && args.iter().any(|part| self.is_counted(part))
            }
            Term::Prim(Prim::Add | Prim::Sub | Prim::Neg, args) => {
                args.iter().any(|part| self.is_counted(part)) && args.iter().all(|part| self.is_counted(part) || is_fixed(part))
            }
            _ => false,
        }
    }

    /// The row, not yet known, of which a term is the index.
    fn row(&self, expr: &Expr) -> Option<Row> {
        let Term::Var(var) = expr.term() else { return None };
        self.scope.rows.iter().find(|row| row.var == *var).cloned()
    }

    /// As `f`, for one row where a condition that waited says which.
    fn placed(&mut self, state: Expr, f: impl FnOnce(&mut Self, Expr) -> Option<Expr>) -> Option<Expr> {
        let waiting = self.scope.conds.iter().enumerate().filter(|(_, (_, truth))| *truth);
        let found = waiting.filter_map(|(k, (cond, _))| Some((k, self.place(cond)?))).next();
        let Some((k, (row, at))) = found else { return f(self, state) };
        let (cond, _) = self.scope.conds.remove(k);
        self.at(&row, at, &cond, state, f)
    }

    /// The sums after what is done to one row, if there is one of this index: what waited for it comes first.
    fn at(&mut self, row: &Row, index: Expr, cond: &Expr, state: Expr, f: impl FnOnce(&mut Self, Expr) -> Option<Expr>) -> Option<Expr> {
        let Type::Index(Some(length)) = row.var.ty() else { return None };
        if self.is_counted(&index) {
            return None;
        }
        let is_there = self.facts.in_range(&index, length);
        let inner = self.inside(|this| {
            this.facts.enter_loop(&row.var, &row.n);
            this.facts.assume(cond, true);
            this.scope.rows.retain(|other| other.var != row.var);
            let mut lets = Vec::new();
            for (x, value) in std::mem::take(&mut this.scope.lets) {
                if this.varies(&value) { this.scope.lets.push((x, value)) } else { lets.push((x, value)) }
            }
            let (later, now): (Vec<_>, Vec<_>) = std::mem::take(&mut this.scope.conds).into_iter().partition(|(cond, _)| this.varies(cond));
            this.scope.conds = later;
            Some(where_known(&lets, &now, this.placed(state.clone(), f)?, &state))
        })?;
        Some(Expr::bind("at", index, |at| {
            let inner = substitute(&inner, &[(row.var.clone(), at.clone())]);
            if is_there {
                return inner;
            }
            let within = [Expr::prim(Prim::Le, vec![Expr::index(0), at.clone()]), Expr::prim(Prim::Lt, vec![at, row.n.clone()])];
            Expr::if_(Expr::prim(Prim::And, within.to_vec()), inner, state)
        }))
    }
}

/// The sums after something that needs these names, and happens where these conditions hold.
fn where_known(lets: &[(Var, Expr)], conds: &[(Expr, bool)], after: Expr, state: &Expr) -> Expr {
    let chosen = conds.iter().rev().fold(after, |after, (cond, truth)| {
        let (then, otherwise) = if *truth { (after, state.clone()) } else { (state.clone(), after) };
        Expr::if_(cond.clone(), then, otherwise)
    });
    lets.iter().rev().fold(chosen, |rest, (x, value)| Expr::let_(x.clone(), value.clone(), rest))
}
