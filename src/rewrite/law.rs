//! Laws as data: an equation in the source language's own syntax, read by our own grammar, matched against
//! core terms.
//!
//! In: text such as `e * 1 -> e; 1 * e -> e` or `a ** 2 -> a * a if atomic a`. Out: a [`Law`] that rewrites.
//! Names on the left are metavariables: each stands for any term, a repeated one for equal terms. A literal
//! matches the number in either number type. On the right a literal has the type that its place needs, and a
//! metavariable used again is copied. Where a law binds variables, a metavariable applied to some of them stands for a term
//! that may mention just these: `let x = a in f x -> f a if count x <= 1 in f`.
//!
//! Limits: operators, primitive functions, `if`, `let`, `build`, `ifold`, `a[i]`, `length a`, tuples and literals.

use std::sync::OnceLock;

use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Type};
use crate::source::Span;

use super::facts::Facts;
use build::Building;
use condition::{CONDITIONS, Side};
use parse::{offset, split};
use pattern::{Binding, Pattern};

mod build;
mod condition;
#[cfg(test)]
mod instances;
mod parse;
mod pattern;
mod side;
mod typing;

/// One or more equations, tried in order.
#[derive(Clone, Debug)]
pub struct Law {
    /// Of a law of the tables, which is read when a term first asks for it: most programs ask for few.
    text: &'static str,
    equations: OnceLock<Vec<Equation>>,
}

#[derive(Clone, Debug)]
struct Equation {
    left: Pattern,
    right: Pattern,
    conditions: Vec<Side>,
    /// Names that the right side uses more often, with how much more often.
    copied: Vec<(String, usize)>,
    /// The nodes that the right side itself has.
    nodes: usize,
}

/// The conditions of laws by name and what they mean.
pub fn conditions() -> impl Iterator<Item = (&'static str, &'static str)> {
    CONDITIONS.iter().map(|(name, _, meaning)| (*name, *meaning)).chain(condition::OF_VARIABLES)
}

impl Law {
    /// Reads a law that stands at this place of a file.
    pub fn parse(text: &str, file: u32, at: usize) -> Result<Law, Diagnostic> {
        Ok(Law { text: "", equations: OnceLock::from(Equation::parse_all(text, file, at)?) })
    }

    /// A law of the tables, whose texts a test parses: text that is no law has no equations.
    pub fn builtin(text: &'static str) -> Law {
        Law { text, equations: OnceLock::new() }
    }

    fn equations(&self) -> &[Equation] {
        self.equations.get_or_init(|| Equation::parse_all(self.text, Span::NONE.file, 0).unwrap_or_default())
    }

    /// Whether a left side may match a term of this [form](super::form::Form).
    pub fn looks_at(&self, expr: &Expr) -> bool {
        self.equations().iter().any(|equation| equation.left.may_match(expr))
    }

    /// The side conditions of all equations, in order.
    pub fn conditions(&self) -> impl Iterator<Item = String> {
        let all = self.equations().iter().flat_map(|equation| &equation.conditions);
        all.map(|side| side.printed.clone())
    }

    /// For each left side with the term's outermost form that does not match, records where the two first differ.
    pub fn says_what_differs(&self, expr: &Expr, facts: &Facts) {
        for equation in self.equations() {
            if equation.left.begins_like(expr)
                && let Some((wanted, found)) = equation.left.differs(expr, &mut Binding::default())
            {
                facts.refuse(|| (wanted, Some(found)));
            }
        }
    }

    /// The right side for a term that one of the left sides matches.
    pub fn apply(&self, expr: &Expr, facts: &Facts) -> Option<Expr> {
        self.equations().iter().find_map(|equation| equation.apply(expr, facts))
    }
}

impl Equation {
    /// The equations between the semicolons of a text that stands at this place of a file.
    fn parse_all(text: &str, file: u32, at: usize) -> Result<Vec<Equation>, Diagnostic> {
        split(text, ";").into_iter().map(|equation| Equation::parse(equation, file, at + offset(text, equation))).collect()
    }

    fn apply(&self, expr: &Expr, facts: &Facts) -> Option<Expr> {
        if !self.left.has_shape_of(expr) {
            return None;
        }
        let mut binding = Binding::default();
        if !self.left.binds(expr, &mut binding) {
            return None;
        }
        self.conditions.iter().try_for_each(|side| side.require(&binding, facts))?;
        let new = Building::new(&binding).term(&self.right, expr.ty())?;
        let stands = |name: &str| binding.get(name).map_or(0, |stands| stands.term.node_count());
        let made = self.nodes + self.copied.iter().map(|(name, times)| stands(name) * times).sum::<usize>();
        // what a function is applied to is copied too
        facts.grow(made.max(new.node_count().saturating_sub(expr.node_count())));
        // a law of the user's own may not be one
        if !keeps(new.ty(), expr.ty()) {
            facts.refuse(|| (format!("the law gives a term of type {}, which is not {}", new.ty(), expr.ty()), None));
            return None;
        }
        Some(new)
    }
}

/// Whether all that the type says holds for a term of the new type too: what stands around the term was checked by it.
fn keeps(new: &Type, ty: &Type) -> bool {
    match (new, ty) {
        (Type::Index(found), Type::Index(bound)) => bound.is_none() || found == bound,
        (Type::Array(new, found), Type::Array(element, length)) => found == length && keeps(new, element),
        (Type::Tuple(new), Type::Tuple(parts)) => {
            new.len() == parts.len() && new.iter().zip(parts.iter()).all(|(new, part)| keeps(new, part))
        }
        (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => new.same_shape(ty),
    }
}
