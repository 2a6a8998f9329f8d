//! A side condition left out: rules are tested without each of theirs.
//!
//! In: the rule and the condition to leave out. Out: "it holds", whenever that rule asks for it. A condition that a rule
//! asks for and its law does not name is a mistake that any test finds.
//!
//!     fold-one-hot, "k total, or 0 < n"     every k is then taken out of its loop

use std::cell::Cell;

/// A rule's name, with the conditions that its law names; none of a law by itself, whose conditions are its own text.
pub type AtWork = (&'static str, Option<&'static [&'static str]>);

/// The condition that is left out, and the current rule.
#[derive(Clone, Debug, Default)]
pub struct Mutation {
    dropped: Option<(String, String)>,
    rule: Cell<Option<AtWork>>,
}

impl Mutation {
    pub fn without(rule: &str, condition: &str) -> Mutation {
        Mutation { dropped: Some((rule.into(), condition.into())), ..Mutation::default() }
    }

    /// Sets the current rule, until [`Mutation::leave`].
    pub fn enter(&self, rule: AtWork) {
        self.rule.set(Some(rule));
    }

    pub fn leave(&self) {
        self.rule.set(None);
    }

    /// Whether the condition is left out for the current rule.
    pub fn drops(&self, condition: &str) -> bool {
        let Some((rule, named)) = self.rule.get() else { return false };
        let is_named = named.is_none_or(|named| named.contains(&condition));
        assert!(is_named, "{rule} asks for `{condition}`, which its law does not name");
        self.dropped.as_ref().is_some_and(|(name, dropped)| name == rule && dropped == condition)
    }
}
