//! Sizes as expressions.
//!
//! In: a size over core variables, and what those, and other terms that have a name, are in the loop program. Out: an expression; none
//! where a length is of no use before the program runs.
//!
//!     (n + 1) * m   →   (n + 1) * m, over locals

use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Prim, Size, Term, Type};
use crate::source::Span;

use super::program::*;
use super::ranges::Ranges;

/// An expression for a size.
pub fn value(size: &Size, ranges: &Ranges, named: &dyn Fn(&Expr) -> Option<Value>) -> Option<Value> {
    of_expr(&size.to_expr()?, ranges, named)
}

fn of_expr(expr: &Expr, ranges: &Ranges, named: &dyn Fn(&Expr) -> Option<Value>) -> Option<Value> {
    let part = |expr: &Expr| of_expr(expr, ranges, named);
    if let Some(value) = named(expr) {
        return Some(value);
    }
    match expr.term() {
        Term::Index(value) => Some(Value::Index(*value)),
        Term::Bool(value) => Some(Value::Bool(*value)),
        Term::If(c, a, b) => Some(Value::Select(Box::new([part(c)?, part(a)?, part(b)?]))),
        Term::Prim(prim, args) => {
            let values = args.iter().map(part).collect::<Option<Vec<_>>>()?;
            Some(ranges.prim(*prim, args.first().map_or(Elem::Index, |arg| elem(arg.ty())), values))
        }
        _ => None,
    }
}

/// The most that a length may be which only data gives: of the least of two what is known, of a remainder one less than the divisor, of
/// what data chooses the greatest.
///
///     (min (n - 256 * k) 65536 + 255) / 256   →   256, whatever n and k are
///     if v[0] > 0.0 then 3 else k % 7         →   6
pub fn most(size: &Size, ranges: &Ranges, named: &dyn Fn(&Expr) -> Option<Value>) -> Option<Value> {
    fn of(expr: &Expr, exact: &dyn Fn(&Expr) -> Option<Value>, ranges: &Ranges) -> Option<Value> {
        let part = |expr: &Expr| of(expr, exact, ranges);
        let greatest = |values: Vec<Value>| Some(ranges.prim(Prim::Max, Elem::Index, values));
        match (expr.term(), exact(expr)) {
            (_, Some(value)) => Some(value),
            (Term::Prim(Prim::Min, args), None) => args.iter().find_map(part),
            (Term::Prim(Prim::Max, args), None) => greatest(args.iter().map(part).collect::<Option<_>>()?),
            (Term::If(_, a, b), None) => greatest(vec![part(a)?, part(b)?]),
            (Term::Prim(Prim::Mul, args), None) => match args.as_slice() {
                [a, b] | [b, a] if matches!(a.term(), Term::Index(0..)) => {
                    Some(ranges.prim(Prim::Mul, Elem::Index, vec![exact(a)?, part(b)?]))
                }
                _ => None,
            },
            (Term::Prim(Prim::Rem, args), None) => match args.get(1).map(Expr::term) {
                Some(Term::Index(by @ 1..)) => Some(Value::Index(by - 1)),
                _ => None,
            },
            (Term::Prim(Prim::Add, args), None) => Some(ranges.prim(Prim::Add, Elem::Index, args.iter().map(part).collect::<Option<_>>()?)),
            (Term::Prim(Prim::Div, args), None) => match args.as_slice() {
                [a, b] if matches!(b.term(), Term::Index(1..)) => Some(ranges.prim(Prim::Div, Elem::Index, vec![part(a)?, exact(b)?])),
                _ => None,
            },
            _ => None,
        }
    }
    of(&size.to_expr()?, &|expr| of_expr(expr, ranges, named), ranges)
}

/// The kind of a scalar type.
pub fn elem(ty: &Type) -> Elem {
    match ty {
        Type::Bool => Elem::Bool,
        Type::Index(_) => Elem::Index,
        Type::Double | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => Elem::Double,
    }
}

/// The diagnostic for a length that only data decides.
pub fn depends_on_data(span: Span) -> Diagnostic {
    Diagnostic::error("E0601", span, "unsupported: size depends on data")
        .help("emitted code stores only arrays whose lengths follow from sizes and Index and Bool parameters, or are at most a number, as `min k 100` and `k % 10`; `smoothc eval` runs it")
}
