//! What a rule is: a name, the figure it comes from, a printed law, and a function from a term to the term
//! that may replace it.
//!
//!     mul-one (8b)    e * 1 = 1 * e  →  e
//!
//! Rules are pure. `None` means "does not apply here".

use crate::ir::{Expr, Term};

use super::facts::Facts;
use super::law::Law;

/// The part of the paper's Figure 8 that a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// 8a, the λ-calculus rules.
    Lambda,
    /// 8b, the ring-structure rules.
    Ring,
    /// 8c, the loop fusion rules.
    Fusion,
    /// 8d, the conditional rules.
    Conditional,
    /// 8e, the tuple normalisation rules.
    Tuple,
    /// 8f, the loop normalisation rules.
    Loop,
    /// 8g, the loop fission rule.
    Fission,
    /// None: declared in a strategy file.
    Own,
}

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
    pub figure: Figure,
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
    /// Whether it may fire on terms of this [form](Form). The user's own also say why they do not.
    pub fn looks_at(&self, expr: &Expr) -> bool {
        self.head.fits(expr)
            && match &self.apply {
                Apply::Law(law) => self.figure == Figure::Own || law.looks_at(expr),
                Apply::Function(_) => true,
            }
    }

    /// The new term, or `None` where the rule does not apply.
    pub fn apply(&self, expr: &Expr, facts: &Facts) -> Option<Expr> {
        let mark = facts.refusals.count();
        #[cfg(test)]
        facts.mutation.enter(self);
        let new = match &self.apply {
            Apply::Law(law) => law.apply(expr, facts),
            Apply::Function(function) => function(expr, facts),
        };
        #[cfg(test)]
        facts.mutation.leave();
        if facts.refusals.are_kept() {
            if let (None, Apply::Law(law), Figure::Own) = (&new, &self.apply, self.figure) {
                law.says_what_differs(expr, facts);
            }
            facts.refusals.settle(mark, self.name, expr, new.is_some());
        }
        new
    }
}

/// The outermost form of a rule's left side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    Any,
    Prim,
    Let,
    If,
    Build,
    Fold,
    Get,
    Dim,
    Proj,
    Call,
    Check,
    /// Forms that no rule looks at by themselves.
    Other,
}

impl Head {
    pub fn of(expr: &Expr) -> Head {
        match expr.term() {
            Term::Prim(..) => Head::Prim,
            Term::Let(..) => Head::Let,
            Term::If(..) => Head::If,
            Term::Build { .. } => Head::Build,
            Term::Fold { .. } => Head::Fold,
            Term::Get(..) => Head::Get,
            Term::Dim(..) => Head::Dim,
            Term::Proj(..) => Head::Proj,
            Term::Call(..) => Head::Call,
            Term::Check { .. } => Head::Check,
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => Head::Other,
            Term::Tuple(_) | Term::Array(_) | Term::Dual { .. } => Head::Other,
        }
    }

    pub fn fits(self, expr: &Expr) -> bool {
        self == Head::Any || self == Head::of(expr)
    }
}

/// The outermost form of a term and of its first subterms: what says which rules are worth a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form(u64);

impl Form {
    /// So many subterms count, as many as a law's primitive or conditional has.
    pub const CHILDREN: usize = 3;

    pub fn of(expr: &Expr) -> Form {
        Form(expr.term().children().take(Form::CHILDREN).fold(own_form(expr), |form, child| form << 16 | own_form(child)))
    }
}

/// A number of sixteen bits for the outermost form alone, with its primitive, its axis or how many components it has.
fn own_form(expr: &Expr) -> u64 {
    match expr.term() {
        Term::Var(_) => 1,
        Term::Double(_) => 2,
        Term::Index(_) => 3,
        Term::Bool(_) => 4,
        Term::Let(..) => 5,
        Term::If(..) => 6,
        Term::Build { .. } => 7,
        Term::Fold { .. } => 8,
        Term::Get(..) => 9,
        Term::Proj(..) => 10,
        Term::Array(_) => 11,
        Term::Call(..) => 12,
        Term::Check { .. } => 13,
        Term::Dual { .. } => 14,
        Term::Dim(_, axis) => 15 + u64::from(*axis > 0),
        Term::Prim(prim, _) => 0x100 + *prim as u64,
        Term::Tuple(parts) => 0x200 + (parts.len() as u64).min(0xff),
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

impl Figure {
    pub fn label(self) -> &'static str {
        match self {
            Figure::Lambda => "8a",
            Figure::Ring => "8b",
            Figure::Fusion => "8c",
            Figure::Conditional => "8d",
            Figure::Tuple => "8e",
            Figure::Loop => "8f",
            Figure::Fission => "8g",
            Figure::Own => "own",
        }
    }
}
