//! The side conditions of laws.
//!
//! In: what the metavariables of a left side stand for. Out: whether the law may be used there.
//!
//!     if atomic a and count x <= 1 in f and x is not free in e

use super::pattern::{Binder, Binding};
use crate::ir::free::{mentions, occurrences, types_mention};
use crate::ir::{Expr, Term, Type};
use crate::rewrite::atoms::is_free;
use crate::rewrite::facts::Facts;

/// A side condition of a law.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub test: Test,
    /// The metavariable whose term is asked.
    pub meta: String,
    /// As it is printed.
    pub printed: String,
}

/// What is asked of a metavariable's term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Is(Condition),
    /// `x is not free in e`.
    NotFree(Binder),
    /// `count x <= 1 in e`: how often x stands in it.
    Count(Binder, Comparison, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    AtMost,
    Below,
    Exactly,
    AtLeast,
    Above,
}

impl Comparison {
    pub const ALL: [(&'static str, Comparison); 6] = [
        ("<=", Comparison::AtMost),
        ("<", Comparison::Below),
        ("=", Comparison::Exactly),
        ("==", Comparison::Exactly),
        (">=", Comparison::AtLeast),
        (">", Comparison::Above),
    ];

    fn holds(self, found: usize, bound: usize) -> bool {
        match self {
            Comparison::AtMost => found <= bound,
            Comparison::Below => found < bound,
            Comparison::Exactly => found == bound,
            Comparison::AtLeast => found >= bound,
            Comparison::Above => found > bound,
        }
    }
}

impl Side {
    /// `Some` where it holds; where it does not, why is recorded.
    pub fn require(&self, binding: &Binding, facts: &Facts) -> Option<()> {
        let term = &binding.get(&self.meta)?.term;
        match self.test {
            // the form of a literal belongs to the left side
            Test::Is(condition @ (Condition::Literal | Condition::Compound)) => {
                facts.grants(&self.printed, condition.holds(term, facts)).then_some(())
            }
            Test::Is(condition) => facts.require(&self.printed, condition.holds(term, facts), term),
            Test::NotFree(binder) => {
                let var = binding.var(binder)?;
                let is_free = mentions(term, var) || types_mention(term, var);
                facts.require(&self.printed, !is_free, term)
            }
            Test::Count(binder, comparison, bound) => {
                let found = occurrences(term, binding.var(binder)?);
                facts.require(&self.printed, comparison.holds(found, bound), term)
            }
        }
    }
}

/// A named side condition on a metavariable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A variable, a literal or a component of a variable: copying it costs nothing.
    Atomic,
    /// A literal number.
    Literal,
    /// No literal.
    Compound,
    /// Evaluating it cannot fail.
    Total,
    /// A Double.
    Double,
    /// An Index or a Bool: equality is identity.
    Exact,
    /// A literal that is not zero.
    NonZero,
    /// Not a Double under `--strict-fp`.
    Loose,
}

/// The conditions by name, each with what it asks of a term.
pub(super) const CONDITIONS: [(&str, Condition, &str); 8] = [
    ("atomic", Condition::Atomic, "is a variable, a literal, or a component of a variable: copying it costs nothing"),
    ("literal", Condition::Literal, "is a literal number"),
    ("compound", Condition::Compound, "is no literal"),
    ("total", Condition::Total, "cannot fail where it stands"),
    ("double", Condition::Double, "is a Double"),
    ("exact", Condition::Exact, "is an Index or a Bool, where equality is identity"),
    ("nonzero", Condition::NonZero, "is a literal that is not zero"),
    ("loose", Condition::Loose, "is no Double under `--strict-fp`"),
];

/// The conditions on variables that the left side binds, as they are written, each with what it asks.
pub(super) const OF_VARIABLES: [(&str, &str); 2] = [
    ("x is not free in e", "the term that `e` stands for does not mention the variable `x` of the left side"),
    ("count x <= 1 in e", "the term that `e` stands for mentions `x` at most once, as written; also `<`, `=`, `>=`, `>`"),
];

impl Condition {
    pub(super) fn holds(self, term: &Expr, facts: &Facts) -> bool {
        match self {
            Condition::Atomic => is_free(term),
            Condition::Literal => matches!(term.term(), Term::Double(_) | Term::Index(_)),
            Condition::Compound => !matches!(term.term(), Term::Double(_) | Term::Index(_) | Term::Bool(_)),
            Condition::Total => facts.is_total(term),
            Condition::Double => term.ty() == &Type::Double,
            Condition::Exact => matches!(term.ty(), Type::Index(_) | Type::Bool),
            Condition::Loose => !facts.strict_fp || term.ty() != &Type::Double,
            Condition::NonZero => matches!(term.term(), Term::Double(x) if *x != 0.0),
        }
    }
}
