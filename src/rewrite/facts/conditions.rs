//! The side conditions of rules: what does not hold is recorded for `smoothc explain`.
//!
//! In: a condition in the words of the rule's law, and whether it holds. Out: whether the rule may go on; a refusal where it may not.
//! A test may leave a condition out: it is then granted, whatever holds.
//!
//!     require "e is total", false   →   nothing, and the refusal "`e is total` does not hold"

use super::Facts;
use crate::ir::Expr;

impl Facts {
    /// Records why a rule does not fire on a term that its left side matches, and the term that its condition is about.
    pub fn refuse(&self, reason: impl FnOnce() -> (String, Option<Expr>)) {
        self.refusals.note(reason);
    }

    /// A side condition of the rule's law: where it does not hold, that is recorded, and the rule does not apply.
    pub fn require(&self, condition: &str, holds: bool, looked_at: &Expr) -> Option<()> {
        if self.grants(condition, holds) {
            return Some(());
        }
        self.refuse(|| (format!("`{condition}` does not hold"), Some(looked_at.clone())));
        None
    }

    /// Whether a condition that the rule's law names holds, for a rule that has a form for either answer, or where the
    /// condition says what the left side looks like.
    pub fn grants(&self, condition: &str, holds: bool) -> bool {
        #[cfg(test)]
        if self.mutation.drops(condition) {
            return true;
        }
        let _ = condition;
        holds
    }
}
