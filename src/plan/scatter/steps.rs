//! What one iteration of a scatter does: which elements of the result it adds to, and what.
//!
//! In: the body of a fold over a Double, inside a `build` over rows. Out: [`Step`]s in which a condition `r = e` on a row's
//! index has become the index e that is scattered to.
//!
//!     let t = k[i] in check 0 <= t && t < n else BOUNDS in if r = t then s + c[r] else s
//!       →   let t = k[i]; check 0 <= t && t < n else BOUNDS; at r = t: add c[r]
//!
//! Row-invariant parts stay where they are. A part that depends on the row, and stands outside of the condition that selects it,
//! moves into the condition, so it must not be able to fail.

mod places;

use crate::ir::free::{any_free_var, mentions, occurrences};
use crate::ir::prove::Facts;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};

use crate::plan::columns::has_loop;

use super::components::{collect_checks, component, with_components};

/// A choice of at most so many nodes is put wherever its name stands, if that is in few places.
const SMALL: usize = 24;
const PLACES: usize = 8;

/// The index of a `build` around, and its count.
#[derive(Clone, Debug)]
pub struct Row {
    pub var: Var,
    pub n: Expr,
}

/// One thing that an iteration does; names hold in what follows.
#[derive(Clone, Debug)]
pub enum Step {
    Let(Var, Expr),
    Check(Expr, Status),
    /// What was checked before.
    Known(Expr),
    If(Expr, Vec<Step>, Vec<Step>),
    Loop(Expr, Var, Vec<Step>),
    /// What is done to the row of this index, if there is one.
    At(Row, Expr, Vec<Step>),
    Add(Addition),
}

/// A term that is added to an element, or taken from it, in each of the rows that are left and where conditions hold.
#[derive(Clone, Debug)]
pub struct Addition {
    pub rows: Vec<Row>,
    pub lets: Vec<(Var, Expr)>,
    pub conds: Vec<(Expr, bool)>,
    pub value: Expr,
    pub minus: bool,
}

/// What is known where a step stands.
#[derive(Clone)]
struct Scope {
    /// The rows of which it is not known which is meant.
    rows: Vec<Row>,
    /// What depends on them, and the conditions that do. These say nothing of what is computed before they are asked.
    lets: Vec<(Var, Expr)>,
    conds: Vec<(Expr, bool)>,
    /// What terms are multiplied by.
    scale: Option<Expr>,
    facts: Facts,
}

/// Finds the steps of a fold.
pub struct Finder {
    scope: Scope,
    /// Sums must keep their order.
    exact: bool,
    /// The accumulators around.
    totals: Vec<Var>,
    /// Whether something is added to one row of the outermost ones.
    pub scatters: bool,
    /// Whether a 0.0 that is added where conditions do not hold is left out.
    pub drops_zero: bool,
    /// Whether something that may fail comes later than it did, in the same step.
    pub delays: bool,
    outermost: Var,
    /// The conditions that a loop before has checked.
    passed: Vec<Expr>,
}

impl Finder {
    /// `lets`: what is named inside of the rows around the fold.
    pub fn new(rows: &[Row], lets: &[(Var, Expr)], facts: &Facts, exact: bool) -> Option<Finder> {
        let outermost = rows.first()?.var.clone();
        let mut facts = facts.clone();
        rows.iter().for_each(|row| facts.enter_loop(&row.var, &row.n));
        let scope = Scope { rows: rows.to_vec(), lets: Vec::new(), conds: Vec::new(), scale: None, facts };
        let (totals, passed) = (Vec::new(), Vec::new());
        let mut finder = Finder { scope, exact, totals, scatters: false, drops_zero: false, delays: false, outermost, passed };
        for (var, value) in lets {
            if cannot_fail(value, &finder.scope.facts) {
                finder.scope.lets.push((var.clone(), value.clone()));
                finder.scope.facts.define(var, value);
            } else {
                // whoever needs it has no steps
                finder.totals.push(var.clone());
            }
        }
        Some(finder)
    }

    /// The steps of `fold(n, acc. i. body, …)`.
    pub fn fold(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr) -> Option<Vec<Step>> {
        (!self.varies(n) && !self.is_about_totals(n)).then_some(())?;
        self.scope.facts.enter_loop(i, n);
        self.totals.push(acc.clone());
        self.step(body, acc)
    }

    /// Runs `f` in a scope inside.
    fn inside<T>(&mut self, f: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let scope = self.scope.clone();
        let result = f(self);
        self.scope = scope;
        result
    }

    /// Whether a term depends on which row is meant.
    fn varies(&self, expr: &Expr) -> bool {
        let Scope { rows, lets, .. } = &self.scope;
        any_free_var(expr, &mut |var| rows.iter().any(|row| row.var == *var) || lets.iter().any(|(name, _)| name == var))
    }

    fn is_about_totals(&self, expr: &Expr) -> bool {
        any_free_var(expr, &mut |var| self.totals.contains(var))
    }

    /// Whether a term has a branch by which row is meant.
    fn chooses(&self, expr: &Expr) -> bool {
        let here = matches!(expr.term(), Term::If(cond, ..) if self.varies(cond));
        here || expr.has_conditions() && {
            let mut found = false;
            expr.term().each_child(&mut |child| found = found || self.chooses(child));
            found
        }
    }

    /// What a step adds to the accumulator.
    fn step(&mut self, body: &Expr, acc: &Var) -> Option<Vec<Step>> {
        match body.term() {
            Term::Var(var) if var == acc => Some(Vec::new()),
            Term::Let(x, value, rest) if mentions(value, acc) => {
                (!mentions(rest, acc) && value.ty() == &Type::Double).then_some(())?;
                let mut steps = self.step(value, acc)?;
                self.totals.push(x.clone());
                steps.extend(self.step(rest, x)?);
                Some(steps)
            }
            Term::Let(x, value, rest) => self.named(x, value, rest, |this, rest| this.step(rest, acc)),
            Term::Check { cond, status, body } => self.checked(cond, *status, |this| this.step(body, acc)),
            Term::If(cond, a, b) => self.chosen(cond, &mut |this, truth| this.step(if truth { a } else { b }, acc)),
            Term::Fold { n, acc: total, i, body, init } => {
                let mut steps = self.step(init, acc)?;
                steps.push(self.repeated(n, total, i, body)?);
                Some(steps)
            }
            Term::Prim(prim @ (Prim::Add | Prim::Sub), args) => match args.as_slice() {
                [a, b] if mentions(a, acc) => {
                    let mut steps = self.step(a, acc)?;
                    steps.extend(self.term(b, *prim == Prim::Sub)?);
                    Some(steps)
                }
                [a, b] if *prim == Prim::Add && self.is_total(a) => {
                    let mut steps = self.step(b, acc)?;
                    steps.extend(self.term(a, false)?);
                    Some(steps)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A term that is added, or subtracted.
    fn term(&mut self, expr: &Expr, minus: bool) -> Option<Vec<Step>> {
        match expr.term() {
            Term::Double(zero) if *zero == 0.0 => {
                self.drops_zero |= zero.is_sign_negative() == minus;
                Some(Vec::new())
            }
            Term::Let(x, value, rest) => self.named(x, value, rest, |this, rest| this.term(rest, minus)),
            Term::Check { cond, status, body } => self.checked(cond, *status, |this| this.term(body, minus)),
            Term::If(cond, a, b) if self.chooses(expr) => self.chosen(cond, &mut |this, truth| this.term(if truth { a } else { b }, minus)),
            Term::Prim(prim @ (Prim::Add | Prim::Sub | Prim::Neg), args) if !self.exact && self.chooses(expr) => {
                let mut steps = Vec::new();
                for (at, arg) in args.iter().enumerate() {
                    let turned = *prim == Prim::Neg || *prim == Prim::Sub && at == 1;
                    steps.extend(self.term(arg, minus ^ turned)?);
                }
                Some(steps)
            }
            Term::Fold { n, acc, i, body, init } if !self.exact && !minus && self.chooses(expr) => {
                let mut steps = self.term(init, minus)?;
                steps.push(self.repeated(n, acc, i, body)?);
                Some(steps)
            }
            Term::Prim(prim @ (Prim::Mul | Prim::Div), args) if !self.exact && self.chooses(expr) => match args.as_slice() {
                [a, b] if !self.chooses(b) => self.scaled(*prim, b, |this| this.term(a, minus)),
                [a, b] if *prim == Prim::Mul && !self.chooses(a) => self.scaled(*prim, a, |this| this.term(b, minus)),
                _ => None,
            },
            _ => {
                (!self.is_about_totals(expr)).then_some(())?;
                let Scope { rows, lets, conds, scale, .. } = &self.scope;
                self.scatters |= rows.iter().all(|row| row.var != self.outermost);
                let value = match (scale, expr.term()) {
                    (None, _) => expr.clone(),
                    (Some(scale), Term::Double(1.0)) => scale.clone(),
                    (Some(scale), _) => Expr::prim(Prim::Mul, vec![scale.clone(), expr.clone()]),
                };
                let (rows, lets, conds) = (rows.clone(), lets.clone(), conds.clone());
                Some(vec![Step::Add(Addition { rows, lets, conds, value, minus })])
            }
        }
    }

    fn named(&mut self, x: &Var, value: &Expr, rest: &Expr, f: impl FnOnce(&mut Self, &Expr) -> Option<Vec<Step>>) -> Option<Vec<Step>> {
        (!self.is_about_totals(value)).then_some(())?;
        if self.chooses(value) {
            if let Some(rest) = self.apart(x, value, rest) {
                return f(self, &rest);
            }
            let is_total = self.is_total(value);
            let once = occurrences(rest, x) == 1 && (is_total || is_always_used(rest, x));
            // a tangent that is 1 or 0, or a difference of such, is no work wherever it stands
            let is_small = is_total && !self.exact && value.node_count() <= SMALL && occurrences(rest, x) <= PLACES;
            if value.ty() == &Type::Double && (once || is_small) {
                self.delays |= !is_total;
                return f(self, &put(rest, x, value));
            }
        }
        let mut steps = Vec::new();
        self.name(x, value, &mut steps)?;
        steps.extend(f(self, rest)?);
        Some(steps)
    }

    /// Names a value where it is, or where it is known which row is meant.
    fn name(&mut self, x: &Var, value: &Expr, steps: &mut Vec<Step>) -> Option<()> {
        if self.varies(value) || !self.scope.conds.is_empty() {
            self.is_total(value).then_some(())?;
            self.scope.lets.push((x.clone(), value.clone()));
        } else {
            steps.push(Step::Let(x.clone(), value.clone()));
        }
        self.scope.facts.define(x, value);
        Some(())
    }

    /// What follows a loop whose state has several components, with these in loops of their own, those first that are the same
    /// for all rows. What they check is known in the others.
    fn apart(&mut self, x: &Var, value: &Expr, rest: &Expr) -> Option<Expr> {
        let (Term::Fold { body, .. }, Type::Tuple(parts)) = (value.term(), value.ty()) else { return None };
        let names: Vec<Var> = parts.iter().map(|part| x.renewed(part.clone())).collect();
        let rest = with_components(rest, x, &names)?;
        let used = names.iter().enumerate().filter(|(_, name)| mentions(&rest, name));
        let slices: Vec<(&Var, Expr)> = used.map(|(k, name)| Some((name, component(value, k)?))).collect::<Option<_>>()?;
        let (varying, fixed): (Vec<_>, Vec<_>) = slices.into_iter().partition(|(_, slice)| self.varies(slice));
        self.delays |= fixed.len() + varying.len() > 1;
        if !fixed.is_empty() {
            collect_checks(body, &mut self.passed);
        }
        let lets: Vec<_> = fixed.into_iter().chain(varying).collect();
        Some(lets.into_iter().rev().fold(rest, |rest, (name, slice)| Expr::let_(name.clone(), slice, rest)))
    }

    /// The steps of `f` with what they add multiplied or divided.
    fn scaled(&mut self, prim: Prim, by: &Expr, f: impl FnOnce(&mut Self) -> Option<Vec<Step>>) -> Option<Vec<Step>> {
        (!self.is_about_totals(by)).then_some(())?;
        self.delays |= !self.is_total(by);
        let outer = self.scope.scale.clone();
        let scale = match (&outer, prim) {
            (None, Prim::Mul) => by.clone(),
            (outer, _) => Expr::prim(prim, vec![outer.clone().unwrap_or(Expr::double(1.0)), by.clone()]),
        };
        let mut steps = Vec::new();
        self.scope.scale = Some(if scale.is_atom() {
            scale
        } else {
            let name = Var::fresh("scale", Type::Double);
            self.name(&name, &scale, &mut steps)?;
            Expr::var(&name)
        });
        steps.extend(f(self)?);
        self.scope.scale = outer;
        Some(steps)
    }

    fn checked(&mut self, cond: &Expr, status: Status, f: impl FnOnce(&mut Self) -> Option<Vec<Step>>) -> Option<Vec<Step>> {
        let is_fixed = !self.varies(cond) && !self.is_about_totals(cond) && self.scope.conds.is_empty();
        is_fixed.then_some(())?;
        self.scope.facts.assume(cond, true);
        let is_known = self.passed.iter().any(|passed| passed.is_same(cond));
        let mut steps = vec![if is_known { Step::Known(cond.clone()) } else { Step::Check(cond.clone(), status) }];
        steps.extend(f(self)?);
        Some(steps)
    }

    fn repeated(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr) -> Option<Step> {
        (self.scope.conds.is_empty() && !self.varies(n) && !self.is_about_totals(n)).then_some(())?;
        let steps = self.inside(|this| {
            this.scope.facts.enter_loop(i, n);
            // what is added to the sum around cannot be part of a step of this one
            this.totals.push(acc.clone());
            this.step(body, acc)
        })?;
        Some(Step::Loop(n.clone(), i.clone(), steps))
    }

    /// Whether a term cannot fail, and takes no loop.
    fn is_total(&self, expr: &Expr) -> bool {
        !has_loop(expr) && cannot_fail(expr, &self.scope.facts)
    }
}

/// Whether a term cannot fail; it may take a loop.
fn cannot_fail(expr: &Expr, facts: &Facts) -> bool {
    let parts = match expr.term() {
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => return true,
        Term::Fold { n, i, body, init, .. } => {
            let mut inside = facts.clone();
            inside.enter_loop(i, n);
            let runs = Size::try_of_expr(n).is_some_and(|n| facts.nonnegative(&n));
            return runs && cannot_fail(init, facts) && cannot_fail(body, &inside);
        }
        Term::Get(array, index) => facts.get_is_safe(array, index),
        Term::Prim(Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg | Prim::Min | Prim::Max | Prim::ToDouble, _) => true,
        Term::Prim(Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::And | Prim::Or | Prim::Not, _) => true,
        Term::Prim(_, args) => expr.ty() == &Type::Double && args.iter().all(|arg| arg.ty() == &Type::Double),
        Term::Let(..) | Term::If(..) | Term::Tuple(_) | Term::Proj(..) | Term::Dim(..) => true,
        Term::Build { .. } | Term::Array(_) | Term::Call(..) | Term::Check { .. } | Term::Dual { .. } => false,
        Term::Update(..) | Term::Vjp { .. } | Term::While { .. } | Term::Iso(..) => false,
    };
    parts && expr.term().children().all(|child| cannot_fail(child, facts))
}

/// Whether a variable that stands in a term once is needed whenever the term is.
fn is_always_used(expr: &Expr, x: &Var) -> bool {
    match expr.term() {
        Term::Var(var) => var == x,
        Term::Prim(Prim::And | Prim::Or, _) | Term::Build { .. } | Term::Dual { .. } | Term::Vjp { .. } => false,
        Term::If(cond, ..) => is_always_used(cond, x),
        Term::Fold { n, init, .. } => is_always_used(n, x) || is_always_used(init, x),
        term => term.children().any(|child| is_always_used(child, x)),
    }
}

/// The term with a value in the places of a variable.
pub fn put(expr: &Expr, x: &Var, value: &Expr) -> Expr {
    match expr.term() {
        Term::Var(var) if var == x => value.clone(),
        _ if !mentions(expr, x) => expr.clone(),
        _ => map_children(expr, &mut |child| put(child, x, value)),
    }
}
