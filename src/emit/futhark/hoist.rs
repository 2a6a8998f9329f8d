//! What Futhark's compiler moves out of a loop, and a test that keeps it from failing where the loop has no step.
//!
//! In: a loop of the core. Out: whether its emitted form stands in `if 0 < n then … else …`. What does not depend on the
//! step leaves a `map` and is evaluated for an empty array too, also the test that an index is in range or that a divisor
//! is not zero, where just what is read or divided depends on the step; so does, in `multicore` and on GPUs, a `map` inside of a
//! `loop`. Where such a thing fails, the whole would fail without need; where its length fails, Futhark takes 0 for the
//! length and reads beyond the end. From an `if` nothing that fails is moved.
//!
//!     build n (fun i -> v[0] * w[i])   →   if 0 < n then map (\x -> v[0] * x) w else replicate n 0.0

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::context::Emitter;
use super::signature::Signature;
use super::syntax::Fut;
use crate::ir::free::any_free_var;
use crate::ir::prove::Facts;
use crate::ir::term::Updated;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};

/// What is looked for in the body of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Out of a `map`: all that fails.
    Anything,
    /// Out of a `loop`: what fails inside of another loop, for Futhark guards the rest itself.
    Loops,
}

impl Emitter<'_> {
    /// Whether a loop of n steps may have none, and something in its body would fail all the same.
    pub fn fails_without_steps(&self, n: &Expr, vars: &[&Var], body: &Expr, moved: Moved) -> bool {
        if self.facts.positive(&self.facts.size_of(n)) {
            return false;
        }
        let varying = vars.iter().map(|var| (*var).clone()).collect();
        let mut inside = self.facts.clone();
        if let Some(i) = vars.last() {
            inside.enter_loop(i, n);
        }
        let counts = moved == Moved::Anything;
        Search { facts: self.facts.clone(), inside, signatures: self.signatures, varying, counts }.fails(body)
    }
}

/// Whether a function may fail, as its callers see it.
pub fn can_fail(body: &Expr, facts: Facts, signatures: &HashMap<Rc<str>, Signature>) -> bool {
    Search { inside: facts.clone(), facts, signatures, varying: BTreeSet::new(), counts: true }.fails(body)
}

/// The value of a loop, or of no step.
pub fn unless_empty(count: Fut, some: Fut, none: Fut) -> Fut {
    if some == none { some } else { Fut::if_(Fut::infix("<", Fut::Int(0), count), some, none) }
}

struct Search<'a> {
    /// What holds where the loop is, not inside it, and where inner loops have tests inside these.
    facts: Facts,
    /// What holds inside.
    inside: Facts,
    signatures: &'a HashMap<Rc<str>, Signature>,
    /// What differs from step to step.
    varying: BTreeSet<Var>,
    /// Whether a failure at this place counts.
    counts: bool,
}

impl Search<'_> {
    fn varies(&self, expr: &Expr) -> bool {
        any_free_var(expr, &mut |var| self.varying.contains(var))
    }

    /// Whether something in the term can fail that is the same in every step.
    fn fails(&mut self, expr: &Expr) -> bool {
        match expr.term() {
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => false,
            Term::Prim(Prim::And | Prim::Or, args) => {
                let [a, b] = args.as_slice() else { return false };
                let is_and = matches!(expr.term(), Term::Prim(Prim::And, _));
                self.fails(a) || !self.varies(a) && self.given(a, is_and, b)
            }
            Term::Prim(prim, args) => {
                let divides = matches!(prim, Prim::Div | Prim::Rem) && matches!(expr.ty(), Type::Index(_));
                // what is tested is the last operand
                let fails_with = |last: &Expr| *prim == Prim::ToIndex || divides && !self.facts.is_nonzero(&self.facts.size_of(last));
                let is_partial = args.last().is_some_and(|last| fails_with(last) && !self.varies(last));
                args.iter().any(|arg| self.fails(arg)) || self.counts && is_partial
            }
            Term::Let(var, value, body) => {
                if self.fails(value) {
                    return true;
                }
                if self.varies(value) {
                    self.varying.insert(var.clone());
                }
                self.facts.define(var, value);
                self.inside.define(var, value);
                self.fails(body)
            }
            Term::If(cond, then, otherwise) => {
                // a branch is guarded by its condition, which is moved with it or keeps it where it is
                self.fails(cond) || !self.varies(cond) && (self.given(cond, true, then) || self.given(cond, false, otherwise))
            }
            Term::Build { n, i, body } => self.loop_fails(n, &[i], body, None),
            Term::Fold { n, acc, i, body, init } => self.loop_fails(n, &[acc, i], body, Some(init)),
            // what is in it may not be needed at all
            Term::While { init, state, .. } => {
                self.varying.insert(state.clone());
                self.fails(init)
            }
            Term::Get(array, index) => {
                // what is tested is the index; all elements of an array have one length
                let is_partial = self.counts && !self.varies(index) && !self.facts.get_is_safe(array, index);
                is_partial || self.fails(array) || self.fails(index)
            }
            Term::Check { cond, body, .. } => self.counts && !self.varies(cond) || self.fails(cond) || self.given(cond, true, body),
            Term::Call(name, args) => {
                self.signatures.get(name).is_some_and(|called| called.can_fail) || args.iter().any(|arg| self.fails(arg))
            }
            Term::Dim(inner, _) | Term::Proj(inner, _) | Term::Dual { body: inner, .. } | Term::Vjp { body: inner, .. } => {
                self.fails(inner)
            }
            Term::Update(_, parts) => {
                let is_partial = self.counts && Updated::of(parts).is_some_and(|updated| self.can_miss(updated));
                is_partial || parts.iter().any(|part| self.fails(part))
            }
            Term::Tuple(parts) | Term::Array(parts) | Term::Iso(_, parts) => parts.iter().any(|part| self.fails(part)),
        }
    }

    /// Whether an update is at indices that are the same in every step, which are tested together, and may be out of range.
    fn can_miss(&self, Updated { array, indices, .. }: Updated) -> bool {
        let is_safe = |(index, length): (&Expr, &Size)| self.facts.index_is_safe(index, length);
        !indices.iter().any(|index| self.varies(index)) && !indices.iter().zip(&array.ty().dims()).all(is_safe)
    }

    fn given(&mut self, cond: &Expr, truth: bool, expr: &Expr) -> bool {
        let before = (self.facts.clone(), self.inside.clone());
        self.facts.assume(cond, truth);
        self.inside.assume(cond, truth);
        let fails = self.fails(expr);
        (self.facts, self.inside) = before;
        fails
    }

    /// An inner loop that is invariant is hoisted as a whole, and its own test guards its invariant code. It has no such test where
    /// the loop around it runs only if it runs itself: code that is invariant in both loops is hoisted out of both.
    fn loop_fails(&mut self, n: &Expr, vars: &[&Var], body: &Expr, init: Option<&Expr>) -> bool {
        if self.fails(n) || init.is_some_and(|init| self.fails(init)) {
            return true;
        }
        let is_count =
            self.facts.nonnegative(&self.facts.size_of(n)) || Size::try_of_expr(n).and_then(|size| size.as_constant()) >= Some(0);
        let varies = self.varies(n) || init.is_some_and(|init| self.varies(init)) || self.varies(body);
        if !is_count && !self.varies(n) {
            return true;
        }
        let has_test = !self.inside.positive(&self.inside.size_of(n)) || self.facts.positive(&self.facts.size_of(n));
        if varies || !has_test {
            self.varying.extend(vars.iter().map(|var| (*var).clone()));
        }
        let before = (self.facts.clone(), self.inside.clone(), std::mem::replace(&mut self.counts, true));
        if let Some(i) = vars.last() {
            self.inside.enter_loop(i, n);
            if has_test {
                self.facts.enter_loop(i, n);
            }
        }
        let fails = self.fails(body);
        (self.facts, self.inside, self.counts) = before;
        fails
    }
}
