//! What a rule is: a name, the paper that prints it, a printed law, and a function from a term to the term
//! that may replace it.
//!
//!     mul-one (001 Fig. 8b)    e * 1 = 1 * e  →  e
//!
//! Rules are pure. `None` means "does not apply here".

use crate::ir::prim::Kind;
use crate::ir::{Expr, Prim, Term};

use super::facts::Facts;
use super::law::Law;

/// What a rule is about: the parts are those of Figure 8 of "Efficient and Sound Differentiable Programming", extended by rules
/// that no paper prints. [`Rule::source`] says which rules are printed where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Lets, calls, code motion and sharing (8a, the λ-calculus rules).
    Lambda,
    /// Arithmetic (8b, the ring-structure rules).
    Ring,
    /// Arrays that are built and read (8c, the loop fusion rules).
    Fusion,
    /// Conditions (8d).
    Conditional,
    /// Tuples (8e).
    Tuple,
    /// Loops (8f, the loop normalisation rules).
    Loop,
    /// Loops over tuples (8g, the loop fission rule).
    Fission,
    /// Declared in a strategy file.
    User,
}

/// The [source](Rule::source) of a rule that no paper prints.
pub const OWN: &str = "own";

/// A set of rules that `--disable` can name as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The rules of 8c.
    Fusion,
    /// The rules of 8f and 8g.
    Normalisation,
    /// hoist, hoist-array.
    Motion,
    /// Real-number laws that do not hold for every double.
    Algebra,
}

/// One rewrite rule.
pub struct Rule {
    pub name: &'static str,
    /// The paper and figure that print the rule, as `001 Fig. 8c` (docs/papers.md numbers the papers), or [`OWN`].
    pub source: &'static str,
    pub part: Part,
    pub group: Option<Group>,
    /// The law as a person reads it: `left -> right if condition`.
    pub law: &'static str,
    /// The side conditions that the function asks for, in the words of the law; those of a law by itself are its own.
    pub conditions: &'static [&'static str],
    /// Which terms are worth trying.
    pub head: Head,
    pub apply: Apply,
}

/// How a rule finds the new term.
pub enum Apply {
    /// By its law alone.
    Law(Law),
    Function(fn(&Expr, &Facts) -> Option<Expr>),
}

impl Rule {
    /// Whether it may fire on terms of this [form](super::form::Form). The user's own also say why they do not.
    pub fn looks_at(&self, expr: &Expr) -> bool {
        self.head.fits(expr)
            && match &self.apply {
                Apply::Law(law) => self.part == Part::User || law.looks_at(expr),
                Apply::Function(_) => true,
            }
    }

    /// The new term, or `None` where the rule does not apply.
    pub fn apply(&self, expr: &Expr, facts: &Facts) -> Option<Expr> {
        let mark = facts.refusals.count();
        #[cfg(test)]
        facts.mutation.enter((self.name, matches!(self.apply, Apply::Function(_)).then_some(self.conditions)));
        let new = match &self.apply {
            Apply::Law(law) => law.apply(expr, facts),
            Apply::Function(function) => function(expr, facts),
        };
        #[cfg(test)]
        facts.mutation.leave();
        if facts.refusals.are_kept() {
            if let (None, Apply::Law(law), Part::User) = (&new, &self.apply, self.part) {
                law.says_what_differs(expr, facts);
            }
            facts.refusals.settle(mark, self.name, expr, new.is_some());
        }
        new
    }
}

/// The outermost form of a rule's left side, as far as a term's [form](super::form::Form) says whether it has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    Any,
    Prim,
    /// `+`, `-`.
    Sum,
    /// `*`, `/`, and a sign.
    Product,
    /// A sum or a product.
    Arithmetic,
    /// `=`.
    Equation,
    /// `**`.
    Power,
    /// A conditional, or what may be a Bool.
    Condition,
    /// An operation on a conditional.
    OverIf,
    /// An operation on a literal.
    OverLiteral,
    Let,
    If,
    Build,
    Fold,
    /// A build or a fold.
    Loop,
    Get,
    Dim,
    Proj,
    Tuple,
    Call,
    Check,
}

impl Head {
    pub fn fits(self, expr: &Expr) -> bool {
        match (self, expr.term()) {
            (Head::Any, _) => true,
            (Head::Prim, Term::Prim(..)) => true,
            (Head::Sum, Term::Prim(prim, _)) => matches!(prim, Prim::Add | Prim::Sub),
            (Head::Product, Term::Prim(prim, _)) => matches!(prim, Prim::Mul | Prim::Div | Prim::Neg),
            (Head::Arithmetic, _) => Head::Sum.fits(expr) || Head::Product.fits(expr),
            (Head::Equation, Term::Prim(prim, _)) => *prim == Prim::Eq,
            (Head::Power, Term::Prim(prim, _)) => *prim == Prim::Pow,
            (Head::Condition, Term::Prim(prim, _)) => matches!(prim.row().kind, Kind::Order | Kind::Equality | Kind::Bool),
            (Head::Condition, Term::Build { .. } | Term::Dim(..) | Term::Tuple(_) | Term::Array(_)) => false,
            (Head::Condition, _) => true,
            (Head::OverIf, Term::Prim(..) | Term::Get(..) | Term::Dim(..) | Term::Proj(..)) => {
                expr.term().children().any(|operand| matches!(operand.term(), Term::If(..)))
            }
            (Head::OverLiteral, Term::Prim(..)) => {
                expr.term().children().any(|operand| matches!(operand.term(), Term::Double(_) | Term::Index(_) | Term::Bool(_)))
            }
            (Head::Loop, Term::Build { .. } | Term::Fold { .. }) => true,
            (Head::Let, Term::Let(..)) | (Head::If, Term::If(..)) | (Head::Build, Term::Build { .. }) => true,
            (Head::Fold, Term::Fold { .. }) | (Head::Get, Term::Get(..)) | (Head::Dim, Term::Dim(..)) => true,
            (Head::Proj, Term::Proj(..)) | (Head::Tuple, Term::Tuple(_)) => true,
            (Head::Call, Term::Call(..)) | (Head::Check, Term::Check { .. }) => true,
            (
                Head::Prim
                | Head::Sum
                | Head::Product
                | Head::Equation
                | Head::Power
                | Head::OverIf
                | Head::OverLiteral
                | Head::Let
                | Head::If
                | Head::Build
                | Head::Fold
                | Head::Loop
                | Head::Get
                | Head::Dim
                | Head::Proj
                | Head::Tuple
                | Head::Call
                | Head::Check,
                _,
            ) => false,
        }
    }
}

impl Group {
    pub const ALL: [Group; 4] = [Group::Fusion, Group::Normalisation, Group::Motion, Group::Algebra];

    pub fn name(self) -> &'static str {
        match self {
            Group::Fusion => "fusion",
            Group::Normalisation => "normalisation",
            Group::Motion => "motion",
            Group::Algebra => "algebra",
        }
    }

    /// The group of `--disable NAME`.
    pub fn named(name: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|group| group.name() == name)
    }
}
