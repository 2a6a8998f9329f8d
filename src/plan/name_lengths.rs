//! Lengths that only data gives but that have a greatest value: names for what is needed to see that value.
//!
//! In: a function as `rewrite` leaves it. Out: where the length of an array is the least of two, a remainder or chosen by data, its own
//! name before the statement that builds the array, and names for what data gives in it. What measures the workspace then sees how long
//! the array is at most.
//!
//!     ifold … (build (min (s.0 - k) 256) …)     →   let d = s.0 in let n = min (d - k) 256 in ifold … (build n …)
//!     let n = if v[0] > 0.0 then 3 else 5 in …   →   let d = v[0] > 0.0 in let n = if d then 3 else 5 in …
//!
//! Limits: lengths that cannot fail.

use std::collections::HashMap;

use crate::ir::print;
use crate::ir::size_term::has_most;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Function, Prim, Size, Term, Type, Var};

use super::Options;

/// The body with names for lengths.
pub fn run(function: &Function, _: &Options) -> Expr {
    in_scope(&function.body)
}

/// A name and what it is for.
type Named = (Var, Expr);

/// The names that a scope gets before its term.
#[derive(Default)]
struct Names {
    all: Vec<Named>,
    /// The lengths that have one, as text.
    lengths: HashMap<String, Var>,
}

impl Names {
    /// The name of a length, `bounded` with `data` in it.
    fn name_of(&mut self, length: &Expr, (data, bounded): (Vec<Named>, Expr)) -> Var {
        let all = &mut self.all;
        let named = self.lengths.entry(print::key(length)).or_insert_with(|| {
            let name = Var::fresh("n", Type::INDEX);
            all.extend(data);
            all.push((name.clone(), bounded));
            name
        });
        named.clone()
    }
}

/// A term that is evaluated in a scope of its own, behind the names that it needs.
fn in_scope(expr: &Expr) -> Expr {
    let mut names = Names::default();
    let expr = at_once(expr, &mut names);
    behind(names.all, expr)
}

fn behind(names: Vec<Named>, expr: Expr) -> Expr {
    names.into_iter().rev().fold(expr, |expr, (name, value)| Expr::let_(name, value, expr))
}

/// A term whose operands are evaluated in the scope around, which gets names.
fn at_once(expr: &Expr, names: &mut Names) -> Expr {
    match expr.term() {
        Term::Let(var, value, body) => {
            let named = bounded(value).filter(|_| matches!(var.ty(), Type::Index(_)) && Size::try_of_expr(value).is_none());
            match named {
                Some((data, value)) => behind(data, Expr::let_(var.clone(), value, in_scope(body))),
                None => map_children(expr, &mut in_scope),
            }
        }
        Term::If(cond, then, otherwise) => in_turn(expr, &[cond], &[then, otherwise], names),
        Term::Check { cond, body, .. } => in_turn(expr, &[cond], &[body], names),
        Term::Fold { n, body, init, .. } => in_turn(expr, &[n, init], &[body], names),
        Term::While { body, init, .. } => in_turn(expr, &[init], &[body], names),
        Term::Build { n, i, body } => {
            let length = match expr.ty() {
                Type::Array(_, length) if length.has_unknown() && !n.is_atom() => bounded(n).filter(|_| cannot_fail(n)),
                Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => None,
            };
            match length {
                Some(length) => {
                    let name = names.name_of(n, length);
                    Expr::build_with(Expr::var(&name), i.clone(), in_scope(body)).at(expr.span())
                }
                None => in_turn(expr, &[n], &[body], names),
            }
        }
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Tuple(_)
        | Term::Proj(..)
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..) => map_children(expr, &mut |child| at_once(child, names)),
        Term::Vjp { .. } | Term::Dual { .. } => map_children(expr, &mut in_scope),
    }
}

/// A term with operands that are evaluated in the scope around, and bodies with scopes of their own.
fn in_turn(expr: &Expr, operands: &[&Expr], bodies: &[&Expr], names: &mut Names) -> Expr {
    map_children(expr, &mut |child| {
        if bodies.iter().any(|body| body.is_same(child)) && !operands.iter().any(|operand| operand.is_same(child)) {
            in_scope(child)
        } else {
            at_once(child, names)
        }
    })
}

/// A length that may have a greatest value, with names for what data gives in it; none where it has no such part.
fn bounded(length: &Expr) -> Option<(Vec<Named>, Expr)> {
    if !has_most(length) {
        return None;
    }
    let mut data = Vec::new();
    let named = of_names(length, &mut data);
    Size::try_of_expr(&named).is_some().then_some((data, named))
}

/// The length over names: what data gives in it has one each, where it is evaluated in any case.
fn of_names(expr: &Expr, data: &mut Vec<Named>) -> Expr {
    let mut name = |expr: &Expr, ty: Type| {
        let name = Var::fresh("d", ty);
        data.push((name.clone(), expr.clone()));
        Expr::var(&name)
    };
    match (expr.term(), expr.ty()) {
        (_, Type::Index(_) | Type::Bool) if Size::try_of_expr(expr).is_some() => expr.clone(),
        (Term::Prim(..), Type::Index(_)) => map_children(expr, &mut |arg| of_names(arg, data)),
        (Term::Proj(..) | Term::Get(..), Type::Index(_)) => name(expr, Type::INDEX),
        // what a branch reads may be read only there
        (Term::If(cond, a, b), Type::Index(_)) if cannot_fail(a) && cannot_fail(b) => {
            let cond = if Size::try_of_expr(cond).is_some() { cond.clone() } else { name(cond, Type::Bool) };
            Expr::if_(cond, of_names(a, data), of_names(b, data))
        }
        _ => expr.clone(),
    }
}

/// Whether a scalar term has a value wherever it stands.
fn cannot_fail(expr: &Expr) -> bool {
    match expr.term() {
        Term::Var(_) | Term::Index(_) | Term::Double(_) | Term::Bool(_) => true,
        Term::If(cond, a, b) => [cond, a, b].into_iter().all(cannot_fail),
        Term::Proj(tuple, _) => cannot_fail(tuple),
        Term::Prim(
            Prim::Add
            | Prim::Sub
            | Prim::Mul
            | Prim::Neg
            | Prim::Min
            | Prim::Max
            | Prim::Lt
            | Prim::Le
            | Prim::Gt
            | Prim::Ge
            | Prim::Eq
            | Prim::Ne,
            args,
        ) => args.iter().all(cannot_fail),
        Term::Prim(Prim::Div | Prim::Rem, args) => {
            matches!(args.as_slice(), [a, by] if cannot_fail(a) && matches!(by.term(), Term::Index(1..)))
        }
        Term::Prim(..)
        | Term::Let(..)
        | Term::Build { .. }
        | Term::Fold { .. }
        | Term::While { .. }
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Check { .. }
        | Term::Dual { .. }
        | Term::Vjp { .. } => false,
    }
}
