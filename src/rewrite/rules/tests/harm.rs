//! What a row of [`super::witnesses`] is: a rule, a condition that is left out, and what then goes wrong.
//!
//!     row("let-dead", "x is not free in b", Scope, "let x = sin y in x * x")

/// What comes of a rule without its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Another value, or an error where there was none.
    Wrong,
    /// A value where there was an error that the rule keeps.
    Lost,
    /// An error of another kind.
    Status,
    /// A term that is none: a variable is free, or a type does not fit.
    Scope,
    /// More work, by the interpreter's counts.
    Work,
    /// No less work: what the rule does is for nothing.
    Idle,
    /// A term half as large again, or larger.
    Size,
    /// Rules that undo each other.
    Endless,
    /// Other bits under `--strict-fp`.
    Strict,
}

pub struct Row {
    pub rule: &'static str,
    pub condition: &'static str,
    pub harm: Harm,
    pub strategy: &'static str,
    pub witness: &'static str,
}

/// Shown by random terms.
pub const fn random(rule: &'static str, condition: &'static str, harm: Harm) -> Row {
    Row { rule, condition, harm, strategy: "", witness: "" }
}

/// Shown by the rule on an expression.
pub const fn row(rule: &'static str, condition: &'static str, harm: Harm, witness: &'static str) -> Row {
    Row { rule, condition, harm, strategy: "", witness }
}

/// Shown by a strategy on an expression.
pub const fn by(rule: &'static str, condition: &'static str, harm: Harm, strategy: &'static str, witness: &'static str) -> Row {
    Row { rule, condition, harm, strategy, witness }
}
