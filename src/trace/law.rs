//! Terms of a trace: text with its value. Operations, and the laws of primitives' derivatives at the numbers of one operation.
//!
//! In: a primitive and its operands; for a law also the result and its adjoint, which takes the place of the tangent: a
//! derivative of a Double in a Double is its own transpose. Out: the term. A trace has no branches: of a law with conditions
//! the branch that holds is left, and one without the tangent in it gives nothing back.
//!
//!     "dx * y"   x = t1, y = 2.0, dx = t3' = 0.5   →   t3' * 2.0 = 1.0
//!     "if x >= y || x <> x then dx else 0.0"   x = 1.0, y = 2.0   →   nothing

use std::collections::HashMap;

use super::number;
use crate::ir::eval::real;
use crate::ir::prim::Prim;
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, UnOp};
use crate::syntax::parse_expr;

/// How tightly a term holds together, as in docs/language.md, Expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Prefix,
    Power,
    Application,
    Atom,
}

/// Text and value.
#[derive(Clone, Debug)]
pub struct Term {
    pub text: String,
    pub value: f64,
    level: Level,
    is_literal: bool,
    /// Whether the adjoint is in it.
    has_adjoint: bool,
}

impl Term {
    pub fn constant(value: f64) -> Term {
        let text = number(value);
        let level = if text.starts_with('-') { Level::Prefix } else { Level::Atom };
        Term { text, value, level, is_literal: true, has_adjoint: false }
    }

    pub fn name(text: String, value: f64) -> Term {
        Term { text, value, level: Level::Atom, is_literal: false, has_adjoint: false }
    }

    pub fn is_literal(&self) -> bool {
        self.is_literal
    }

    fn of(text: String, value: f64, level: Level, parts: &[&Term]) -> Term {
        Term { text, value, level, is_literal: false, has_adjoint: parts.iter().any(|part| part.has_adjoint) }
    }

    /// The text where only terms of this level may stand.
    fn within(&self, level: Level) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    fn as_argument(&self) -> String {
        // `max x -2.0` is legal
        if self.is_literal { self.text.clone() } else { self.within(Level::Atom) }
    }
}

fn unary(prim: Prim, x: &Term) -> Option<Term> {
    let value = real::unary(prim, x.value)?;
    Some(match prim {
        Prim::Neg if x.is_literal => Term::of(format!("-{}", x.within(Level::Atom)), value, Level::Prefix, &[x]),
        Prim::Neg => Term::of(format!("-{}", x.within(Level::Power)), value, Level::Prefix, &[x]),
        prim => Term::of(format!("{} {}", prim.row().name, x.as_argument()), value, Level::Application, &[x]),
    })
}

fn binary(prim: Prim, x: &Term, y: &Term) -> Option<Term> {
    let value = real::binary(prim, x.value, y.value)?;
    let name = prim.row().name;
    let (own, left, right) = match prim {
        Prim::Add | Prim::Sub => (Level::Sum, Level::Sum, Level::Product),
        Prim::Mul | Prim::Div => (Level::Product, Level::Product, Level::Prefix),
        Prim::Pow => (Level::Power, Level::Application, Level::Prefix),
        _ => return Some(Term::of(format!("{name} {} {}", x.as_argument(), y.as_argument()), value, Level::Application, &[x, y])),
    };
    Some(Term::of(format!("{} {name} {}", x.within(left), y.within(right)), value, own, &[x, y]))
}

fn polygamma(order: i64, x: &Term) -> Term {
    let text = format!("{} {order} {}", Prim::Polygamma.row().name, x.as_argument());
    Term::of(text, real::polygamma(order, x.value), Level::Application, &[x])
}

/// An operation as it was done.
pub fn operation(prim: Prim, order: Option<i64>, operands: Vec<Term>) -> Option<Term> {
    match (operands.as_slice(), order) {
        ([x], Some(order)) => Some(polygamma(order, x)),
        ([x], None) => unary(prim, x),
        ([x, y], _) => binary(prim, x, y),
        _ => None,
    }
}

/// What a law is about.
pub struct Operation {
    pub prim: Prim,
    pub order: Option<i64>,
    pub operands: Vec<Term>,
    pub result: Term,
    pub adjoint: Term,
    /// All operands have a part in the derivative.
    pub of_both: bool,
}

/// The laws that were read so far.
#[derive(Default)]
pub struct Laws {
    parsed: HashMap<&'static str, Expr>,
}

impl Laws {
    /// What an operation gives back to an operand: the outer `None` for a law that cannot be read, the inner one where the
    /// operand has no part in the result.
    pub fn share(&mut self, operation: &Operation, operand: usize) -> Option<Option<Term>> {
        let Some(law) = operation.prim.law_in(operand, operation.of_both) else { return Some(None) };
        if !self.parsed.contains_key(law) {
            self.parsed.insert(law, parse_expr(law, Span::NONE.file).ok()?);
        }
        let share = term(self.parsed.get(law)?, operation)?;
        Some(Some(share).filter(|share| share.has_adjoint))
    }
}

fn term(law: &Expr, of: &Operation) -> Option<Term> {
    match &law.kind {
        ExprKind::Var(name) => match &**name {
            "x" => of.operands.first().cloned(),
            "y" => of.operands.get(1).cloned(),
            "r" => Some(of.result.clone()),
            "dx" | "dy" => Some(Term { has_adjoint: true, is_literal: false, ..of.adjoint.clone() }),
            _ => None,
        },
        ExprKind::Int(_, value) | ExprKind::Double(value) => Some(Term::constant(*value)),
        ExprKind::If(c, a, b) => term(if condition(c, of)? { a } else { b }, of),
        ExprKind::Binary(op, a, b) => binary(Prim::from(*op), &term(a, of)?, &term(b, of)?),
        ExprKind::Unary(UnOp::Neg, a) => unary(Prim::Neg, &term(a, of)?),
        ExprKind::App(function, args) => {
            let ExprKind::Var(name) = &function.kind else { return None };
            match args.as_slice() {
                [order, x] if &**name == Prim::Polygamma.row().name => Some(polygamma(index(order, of)?, &term(x, of)?)),
                [x] => unary(Prim::function(name)?, &term(x, of)?),
                [x, y] => binary(Prim::function(name)?, &term(x, of)?, &term(y, of)?),
                _ => None,
            }
        }
        _ => None,
    }
}

fn condition(law: &Expr, of: &Operation) -> Option<bool> {
    let ExprKind::Binary(op, a, b) = &law.kind else { return None };
    match Prim::from(*op) {
        Prim::And => Some(condition(a, of)? && condition(b, of)?),
        Prim::Or => Some(condition(a, of)? || condition(b, of)?),
        prim => real::compare(prim, term(a, of)?.value, term(b, of)?.value),
    }
}

/// The order of a `polygamma`.
fn index(law: &Expr, of: &Operation) -> Option<i64> {
    match &law.kind {
        ExprKind::Var(name) if &**name == "k" => of.order,
        ExprKind::Int(whole, _) => *whole,
        ExprKind::Binary(op, a, b) => real::index(Prim::from(*op), index(a, of)?, index(b, of)?),
        _ => None,
    }
}
