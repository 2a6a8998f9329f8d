//! Hoisting of conditional terms into an array: a term under a condition is computed once for each inner step, if for each inner
//! step some iteration of the outer loop satisfies the condition.
//!
//!     build n (fun i -> ifold (fun s j -> if 0 <= i - j then if i - j < p then s + k[i - j] * e j else s else s) 0.0 m)
//!       →   let t = build m (fun j -> if 0 < p then e j else 0.0) in build n (fun i -> … s + k[i - j] * t[j] …)
//!
//! `hoist-array` takes only terms that every step evaluates, so that no failure and no work is added. Here a witness shows the
//! same: at i = j the condition is 0 < p, and that iteration computes e j itself. Wherever the condition holds the witness's
//! does too, so that every element that is read is valid. So the gradient of a convolution computes each residual once. There
//! may be several inner loops, or loops inside the condition, as in the derivative of a product with a triangle:
//!
//!     build p (fun c -> if c < r + 1 then ifold (fun s i -> s + e i * x[i][c]) 0.0 n else 0.0)
//!       →   let t = build n (fun i -> e i) in build p (fun c -> if c < r + 1 then ifold (fun s i -> s + t[i] * x[i][c]) 0.0 n else 0.0)
//!
//! Limits: conditions that compare Indexes; witnesses are the ends that they give i, or that its loop does. Without an inner loop
//! only what has one itself.

use rustc_hash::FxHashSet;

use crate::ir::free::{any_free_var, mentions};
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::replace;
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;

use super::invariant::name_for;
use super::lambda::strict_operands;
use super::motion::{elements, is_short, is_worth_an_array, parts, with_body, zero};
use super::range::{Bound, Comparison};
use super::rules;

rules! {
    "hoist-window" Lambda Motion @ Loop: "build k (fun i -> ifold (fun s j -> if c i j then f e else s) z n) -> let t = build n (fun j -> if c w j then e else 0.0) in build k (fun i -> ifold (fun s j -> if c i j then f t[j] else s) z n); build k (fun i -> if c i then ifold (fun s j -> f e) z n else a) -> let t = build n (fun j -> if c w then e else 0.0) in build k (fun i -> if c i then ifold (fun s j -> f t[j]) z n else a)"
        if ["i and s are not free in e", "e is worth an array", "wherever c i j holds, 0 <= w < k and c w j do", "0 <= n, else max 0 n elements"] => hoist_window;
}

fn hoist_window(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (k, binders, body) = parts(expr)?;
    if is_short(k) {
        return None;
    }
    let bound = binders.iter().map(|var| (*var).clone()).collect();
    let outer = ((*binders.last()?).clone(), k);
    let mut search = Search { facts, outer, inner: Vec::new(), bound, lets: Vec::new(), tests: Vec::new(), found: None };
    let body = search.within(body)?;
    let (t, array) = search.found?;
    Some(Expr::let_(t, array, with_body(expr, body)))
}

/// Search for the first term that can be hoisted into an array.
struct Search<'a> {
    facts: &'a Facts,
    /// The variable of the outer loop and its count,
    outer: (Var, &'a Expr),
    /// and those of the inner loops.
    inner: Vec<(Var, Expr)>,
    /// What is bound between the outer loop and here, but for the variables of inner loops.
    bound: FxHashSet<Var>,
    /// Names on the way, which conditions are made of.
    lets: Vec<(Var, Expr)>,
    /// The conditions around this place, over their names written out, with their values.
    tests: Vec<(Expr, bool)>,
    found: Option<(Var, Expr)>,
}

impl Search<'_> {
    /// The term with an array read where it was computed: it is looked for in what every step evaluates, with the steps of inner
    /// loops, and in the branches of the conditions that they ask.
    fn within(&mut self, expr: &Expr) -> Option<Expr> {
        match expr.term() {
            Term::If(cond, a, b) => self.branches(cond, a, b),
            Term::Build { n, i, body } => {
                self.in_strict(expr, &mut |search, child| search.within(child)).or_else(|| self.steps(expr, n, None, i, body))
            }
            Term::Fold { n, acc, i, body, .. } => {
                self.in_strict(expr, &mut |search, child| search.within(child)).or_else(|| self.steps(expr, n, Some(acc), i, body))
            }
            _ if expr.is_atom() => None,
            _ => self.in_strict(expr, &mut |search, child| search.within(child)),
        }
    }

    /// A loop with an array read in its steps.
    fn steps(&mut self, expr: &Expr, n: &Expr, acc: Option<&Var>, j: &Var, body: &Expr) -> Option<Expr> {
        let n = self.written_out(n);
        let is_fixed = !self.inner.iter().any(|(j, _)| mentions(&n, j));
        if !matches!(body.ty(), Type::Double | Type::Tuple(_)) || !is_fixed || self.is_bound(&n) || !self.facts.is_total(&n) {
            return None;
        }
        self.inner.push((j.clone(), n));
        self.bound.extend(acc.cloned());
        let body = if self.tests.is_empty() { self.within(body) } else { self.arm(body) };
        if let Some(acc) = acc {
            self.bound.remove(acc);
        }
        self.inner.pop();
        Some(with_body(expr, body?))
    }

    fn branches(&mut self, cond: &Expr, a: &Expr, b: &Expr) -> Option<Expr> {
        if let Some(cond) = self.within(cond) {
            return Some(Expr::if_(cond, a.clone(), b.clone()));
        }
        let test = self.written_out(cond);
        let is_index = |var: &Var| *var == self.outer.0 || self.inner.iter().any(|(j, _)| j == var);
        let is_over_indices =
            Comparison::of(&test, true).is_some() && !any_free_var(&test, &mut |var| self.bound.contains(var) && !is_index(var));
        if !is_over_indices {
            return None;
        }
        for (arm, truth) in [(a, true), (b, false)] {
            self.tests.push((test.clone(), truth));
            let new = self.arm(arm);
            self.tests.pop();
            if let Some(new) = new {
                let (a, b) = if truth { (new, b.clone()) } else { (a.clone(), new) };
                return Some(Expr::if_(cond.clone(), a, b));
            }
        }
        None
    }

    /// The terms evaluated where all conditions hold.
    fn arm(&mut self, arm: &Expr) -> Option<Expr> {
        if let Some(written) = self.worth_an_array(arm)
            && let Some(guards) = self.guards(&written)
        {
            let idle = zero(written.ty())?;
            let element = guards.into_iter().rev().fold(written.clone(), |element, (guard, truth)| {
                if truth { Expr::if_(guard, element, idle.clone()) } else { Expr::if_(guard, idle.clone(), element) }
            });
            let array = elements(&self.inner, element, self.facts);
            let t = Var::named(name_for(&written, |_| true), array.ty().clone());
            let read = self.inner.iter().fold(Expr::var(&t), |array, (j, _)| Expr::get(array, Expr::var(j)));
            self.found = Some((t, array));
            return Some(replace(arm, &written, &read));
        }
        self.within(arm)
    }

    /// The largest such term that is invariant in the outer loop.
    fn worth_an_array(&mut self, expr: &Expr) -> Option<Expr> {
        if expr.is_atom() || matches!(expr.term(), Term::If(..)) {
            return None;
        }
        let is_of_step = match self.inner.as_slice() {
            [] => Work::of(expr).loops > 0,
            inner => inner.iter().all(|(j, _)| mentions(expr, j)),
        };
        if is_of_step && !expr.ty().has_array() && expr.ty() != &Type::Bool && !self.is_bound(expr) && is_worth_an_array(expr, self.facts) {
            return Some(expr.clone());
        }
        if let Term::Let(x, value, body) = expr.term() {
            let found = self.worth_an_array(value);
            return found.or_else(|| self.below_let(x, value, |search| search.worth_an_array(body)));
        }
        let is_strict = strict_operands(expr);
        expr.term().children().enumerate().filter(|(at, _)| is_strict(*at)).find_map(|(_, child)| self.worth_an_array(child))
    }

    /// The conditions that an element is computed behind: those of the witness which do not hold in any case.
    fn guards(&self, written: &Expr) -> Option<Vec<(Expr, bool)>> {
        let (i, k) = &self.outer;
        let mut writer = self.facts.clone();
        let mut reader = self.facts.clone();
        reader.enter_loop(i, k);
        for (j, n) in &self.inner {
            writer.enter_loop(j, n);
            reader.enter_loop(j, n);
        }
        self.tests.iter().for_each(|(test, truth)| reader.assume(test, *truth));
        let mut witnesses: Vec<Size> = self.tests.iter().filter_map(|(test, truth)| end(&Comparison::of(test, *truth)?, i)).collect();
        witnesses.push(Size::constant(0));
        witnesses.extend(Size::try_of_expr(k).map(|k| k.sub(&Size::constant(1))));
        let guards = witnesses.iter().find_map(|witness| self.guards_of(&witness.to_expr()?, writer.clone(), &reader));
        self.facts.require("wherever c i j holds, 0 <= w < k and c w j do", guards.is_some(), written)?;
        Some(guards.unwrap_or_default())
    }

    fn guards_of(&self, witness: &Expr, mut writer: Facts, reader: &Facts) -> Option<Vec<(Expr, bool)>> {
        let (i, k) = &self.outer;
        if !writer.never_wraps(&Size::try_of_expr(witness)?) {
            return None;
        }
        let at_witness = self.tests.iter().map(|(test, truth)| (substitute(test, &[(i.clone(), witness.clone())]), *truth));
        let in_range = [(Prim::Le, Expr::index(0), witness.clone()), (Prim::Lt, witness.clone(), (*k).clone())];
        let in_range = in_range.map(|(prim, a, b)| (Expr::prim(prim, vec![a, b]), true));
        let mut guards = Vec::new();
        for (test, truth) in at_witness.chain(in_range) {
            match writer.decide(&test) {
                Some(known) if known == truth => continue,
                Some(_) => return None,
                None => {}
            }
            if reader.decide(&test) != Some(truth) {
                return None;
            }
            writer.assume(&test, truth);
            guards.push((in_sizes(&test), truth));
        }
        Some(guards)
    }

    /// A term with one of the operands that it always evaluates replaced.
    fn in_strict(&mut self, expr: &Expr, go: &mut dyn FnMut(&mut Self, &Expr) -> Option<Expr>) -> Option<Expr> {
        if let Term::Let(x, value, body) = expr.term() {
            if let Some(value) = go(self, value) {
                return Some(Expr::let_(x.clone(), value, body.clone()));
            }
            let body = self.below_let(x, value, |search| go(search, body))?;
            return Some(Expr::let_(x.clone(), value.clone(), body));
        }
        let is_strict = strict_operands(expr);
        let (mut at, mut done) = (0, false);
        let new = map_children(expr, &mut |child| {
            at += 1;
            if done || !is_strict(at - 1) {
                return child.clone();
            }
            let new = go(self, child);
            done = new.is_some();
            new.unwrap_or_else(|| child.clone())
        });
        done.then_some(new)
    }

    fn below_let<T>(&mut self, x: &Var, value: &Expr, f: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.bound.insert(x.clone());
        self.lets.push((x.clone(), value.clone()));
        let found = f(self);
        self.lets.pop();
        self.bound.remove(x);
        found
    }

    fn is_bound(&self, expr: &Expr) -> bool {
        !self.facts.grants("i and s are not free in e", !any_free_var(expr, &mut |var| self.bound.contains(var)))
    }

    /// The term with the Indexes on the way written out.
    fn written_out(&self, expr: &Expr) -> Expr {
        self.lets.iter().rev().fold(expr.clone(), |expr, (x, value)| {
            let is_index = matches!(x.ty(), Type::Index(_));
            if is_index && mentions(&expr, x) { substitute(&expr, &[(x.clone(), value.clone())]) } else { expr }
        })
    }
}

/// The first value of a variable, or the last, for which a comparison holds.
fn end(comparison: &Comparison, i: &Var) -> Option<Size> {
    let end = match Bound::of(comparison, i)? {
        Bound::Low(low) => low,
        Bound::High(high) => high.sub(&Size::constant(1)),
    };
    (!end.mentions(i)).then_some(end)
}

/// A comparison with both sides worked out.
fn in_sizes(test: &Expr) -> Expr {
    let worked_out = |side: &Expr| Size::try_of_expr(side).and_then(|size| size.to_expr()).unwrap_or_else(|| side.clone());
    match test.term() {
        Term::Prim(prim, args) => Expr::prim(*prim, args.iter().map(worked_out).collect()),
        _ => test.clone(),
    }
}
