//! Laws: the derivatives of primitives, written in the source language in the primitives' rows.
//!
//! In: a law's text, and terms for its operands `x`, `y`, `k`, their tangents `dx`, `dy` and the result `r`.
//! Out: the law as a core term.
//!
//!     "dx * y + x * dy"   x = a, y = b, dx = da, dy = 1.0   →   da * b + a * 1.0
//!
//! Operands are names, because a law may mention them more than once; a tangent is any term, because each
//! law mentions it once at most. Literals are Doubles but in the first argument of `polygamma`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::{Result, internal};
use crate::ir::{Expr, Prim};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, UnOp};
use crate::syntax::parse_expr;

thread_local! { static PARSED: RefCell<HashMap<&'static str, Rc<Law>>> = RefCell::default(); }

/// A parsed law.
pub struct Law {
    text: &'static str,
    expr: ast::Expr,
}

/// Parses a law, once for each text.
pub fn parse(text: &'static str) -> Result<Rc<Law>> {
    if let Some(law) = PARSED.with_borrow(|parsed| parsed.get(text).cloned()) {
        return Ok(law);
    }
    let expr = parse_expr(text, Span::NONE.file).map_err(|_| internal(Span::NONE, format!("the law `{text}` does not parse")))?;
    let law = Rc::new(Law { text, expr });
    PARSED.with_borrow_mut(|parsed| parsed.insert(text, law.clone()));
    Ok(law)
}

impl Law {
    /// How often the law mentions a name.
    pub fn count(&self, name: &str) -> usize {
        let mut count = 0;
        each_name(&self.expr, &mut |other| count += usize::from(other == name));
        count
    }

    /// The law for these terms.
    pub fn apply(&self, given: &[(&str, Expr)]) -> Result<Expr> {
        let wrong = || internal(Span::NONE, format!("the law `{}` has a form that laws do not have", self.text));
        term(&self.expr, given, false).ok_or_else(wrong)
    }
}

/// The core term of a law's subterm, whose literals are Indices where `index` says so.
fn term(expr: &ast::Expr, given: &[(&str, Expr)], index: bool) -> Option<Expr> {
    match &expr.kind {
        ExprKind::Var(name) => given.iter().find(|(known, _)| *known == &**name).map(|(_, term)| term.clone()),
        ExprKind::Int(whole, _) if index => whole.map(Expr::index),
        ExprKind::Int(_, value) | ExprKind::Double(value) => Some(Expr::double(*value)),
        ExprKind::Bool(value) => Some(Expr::bool(*value)),
        ExprKind::If(c, a, b) => Some(Expr::if_(term(c, given, false)?, term(a, given, index)?, term(b, given, index)?)),
        ExprKind::Binary(op, a, b) => Some(Expr::prim(Prim::from(*op), vec![term(a, given, index)?, term(b, given, index)?])),
        ExprKind::Unary(UnOp::Neg, a) => Some(Expr::prim(Prim::Neg, vec![term(a, given, index)?])),
        ExprKind::Unary(UnOp::Not, a) => Some(Expr::prim(Prim::Not, vec![term(a, given, false)?])),
        ExprKind::App(function, args) => {
            let ExprKind::Var(name) = &function.kind else { return None };
            let polygamma = &**name == Prim::Polygamma.row().name;
            let prim = if polygamma { Prim::Polygamma } else { Prim::function(name)? };
            let args = args.iter().enumerate().map(|(at, arg)| term(arg, given, polygamma && at == 0));
            Some(Expr::prim(prim, args.collect::<Option<_>>()?))
        }
        ExprKind::Operator(_)
        | ExprKind::Fun(..)
        | ExprKind::Let(..)
        | ExprKind::LetFun(..)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Field(..)
        | ExprKind::Record(..)
        | ExprKind::Match(..)
        | ExprKind::Deriv(..) => None,
    }
}

fn each_name(expr: &ast::Expr, f: &mut dyn FnMut(&str)) {
    match &expr.kind {
        ExprKind::Var(name) => f(name),
        ExprKind::If(c, a, b) => [c, a, b].into_iter().for_each(|part| each_name(part, f)),
        ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|part| each_name(part, f)),
        ExprKind::Unary(_, a) => each_name(a, f),
        ExprKind::App(_, args) => args.iter().for_each(|part| each_name(part, f)),
        // literals; the other forms are refused by `term`
        ExprKind::Int(..)
        | ExprKind::Double(_)
        | ExprKind::Bool(_)
        | ExprKind::Operator(_)
        | ExprKind::Fun(..)
        | ExprKind::Let(..)
        | ExprKind::LetFun(..)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Field(..)
        | ExprKind::Record(..)
        | ExprKind::Match(..)
        | ExprKind::Deriv(..) => {}
    }
}
