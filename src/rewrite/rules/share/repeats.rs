//! Candidates for common subexpressions: which terms of a body occur more than once.
//!
//! In: a body, and which terms may be named. Out: for each node, whether an equal one occurs elsewhere, whether it may be named,
//! and whether some subterm may.
//!
//!     sin x * (if c then sin x else y)     sin x repeats; the whole has repeats, c has none
//!
//! Terms are compared by their fingerprints. Limits: two different terms may seem equal; callers compare the terms.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::Expr;
use crate::rewrite::cost::is_work;

#[derive(Default)]
pub struct Repeats {
    /// How often each fingerprint of a term that is no atom is met.
    counts: FxHashMap<u64, u32>,
    /// Addresses of the nodes that repeat and may be named,
    nameable: FxHashSet<usize>,
    /// and of those that have such a node inside, or are one.
    around: FxHashSet<usize>,
}

impl Repeats {
    /// `may_be_named`: asked of terms that repeat, with whether there is work in them.
    pub fn of(body: &Expr, may_be_named: &dyn Fn(&Expr, bool) -> bool) -> Repeats {
        let mut repeats = Repeats::default();
        repeats.count(body);
        if repeats.counts.values().any(|count| *count > 1) {
            repeats.mark(body, may_be_named);
        }
        repeats
    }

    fn count(&mut self, expr: &Expr) {
        if !expr.is_atom() {
            *self.counts.entry(expr.fingerprint()).or_default() += 1;
            expr.term().children().for_each(|child| self.count(child));
        }
    }

    /// Whether the term repeats or has a repeat inside that may be named, and whether there is work in it.
    fn mark(&mut self, expr: &Expr, may_be_named: &dyn Fn(&Expr, bool) -> bool) -> (bool, bool) {
        if expr.is_atom() {
            return (false, false);
        }
        let (mut around, mut work) = (false, is_work(expr));
        for child in expr.term().children() {
            let (has_some, has_work) = self.mark(child, may_be_named);
            around |= has_some;
            work |= has_work;
        }
        if self.repeats(expr) && may_be_named(expr, work) {
            self.nameable.insert(expr.address());
            around = true;
        }
        if around {
            self.around.insert(expr.address());
        }
        (around, work)
    }

    /// Whether the like of a term stands elsewhere.
    pub fn repeats(&self, expr: &Expr) -> bool {
        !expr.is_atom() && self.counts.get(&expr.fingerprint()).is_some_and(|count| *count > 1)
    }

    pub fn may_be_named(&self, expr: &Expr) -> bool {
        self.nameable.contains(&expr.address())
    }

    /// Whether the node, or one inside, repeats and may be named.
    pub fn are_in(&self, expr: &Expr) -> bool {
        self.around.contains(&expr.address())
    }
}
