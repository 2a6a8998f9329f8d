//! Why rules do not fire: a record for each rule whose left side matched and whose condition failed.
//!
//! In: the condition that failed, or the cost that was too high. Out: [`Refusal`]s, for `smoothc explain`. Without `explain`
//! nothing is recorded and no message is built.
//!
//!     check-true did not fire on check 0 <= k && k < n else BOUNDS in …: not provable, of 0 <= k && k < n
//!
//! The records of a term are dropped before it is visited again, so that those that are left are about terms of the result.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ir::Expr;

/// A rule whose left side matched and that did not fire.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub rule: Rc<str>,
    /// What its left side matched.
    pub term: Expr,
    /// The condition that does not hold, in a few words.
    pub why: String,
    /// What the condition looked at.
    pub looked_at: Option<Expr>,
}

/// The list of refusals, if one is wanted.
#[derive(Clone, Debug, Default)]
pub struct Refusals(Option<RefCell<Vec<Refusal>>>);

impl Refusals {
    /// A list that keeps them.
    pub fn kept() -> Refusals {
        Refusals(Some(RefCell::default()))
    }

    /// Whether they are kept.
    #[inline]
    pub fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// The number of refusals so far.
    #[inline]
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |noted| noted.borrow().len())
    }

    /// Attributes the refusals since `mark` to this rule and term; drops them if the rule fired after all.
    pub fn settle(&self, mark: usize, rule: &str, term: &Expr, fired: bool) {
        let Some(noted) = &self.0 else { return };
        let mut noted = noted.borrow_mut();
        if fired {
            return noted.truncate(mark);
        }
        for refusal in noted.iter_mut().skip(mark) {
            refusal.rule = rule.into();
            refusal.term = term.clone();
        }
    }

    /// Drops the refusals since `mark`: the terms are visited again.
    pub fn forget(&self, mark: usize) {
        if let Some(noted) = &self.0 {
            noted.borrow_mut().truncate(mark);
        }
    }

    /// All refusals, in order.
    pub fn take(&self) -> Vec<Refusal> {
        self.0.as_ref().map(|noted| std::mem::take(&mut *noted.borrow_mut())).unwrap_or_default()
    }

    /// Records why a rule does not fire on a term that its left side matches, and the term that its condition is about.
    pub fn note(&self, reason: impl FnOnce() -> (String, Option<Expr>)) {
        if let Some(noted) = &self.0 {
            let (why, looked_at) = reason();
            // the rule and the term are those that `settle` gives
            noted.borrow_mut().push(Refusal { rule: "".into(), term: Expr::bool(false), why, looked_at });
        }
    }
}
