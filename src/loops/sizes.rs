//! Sizes as expressions.
//!
//! In: a size over core variables, and what each of them is in the loop program. Out: an expression; none where a length is of
//! no use before the program runs.
//!
//!     (n + 1) * m   →   (n + 1) * m, over locals

use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Size, Term, Type, Var};
use crate::source::Span;

use super::program::*;
use super::ranges::Ranges;

/// An expression for a size.
pub fn value(size: &Size, ranges: &Ranges, var: &dyn Fn(&Var) -> Option<Value>) -> Option<Value> {
    of_expr(&size.to_expr()?, ranges, var)
}

fn of_expr(expr: &Expr, ranges: &Ranges, var: &dyn Fn(&Var) -> Option<Value>) -> Option<Value> {
    let part = |expr: &Expr| of_expr(expr, ranges, var);
    match expr.term() {
        Term::Index(value) => Some(Value::Index(*value)),
        Term::Bool(value) => Some(Value::Bool(*value)),
        Term::Var(name) => var(name),
        Term::If(c, a, b) => Some(Value::Select(Box::new([part(c)?, part(a)?, part(b)?]))),
        Term::Prim(prim, args) => {
            let values = args.iter().map(part).collect::<Option<Vec<_>>>()?;
            Some(ranges.prim(*prim, args.first().map_or(Elem::Index, |arg| elem(arg.ty())), values))
        }
        _ => None,
    }
}

/// The kind of a scalar type.
pub fn elem(ty: &Type) -> Elem {
    match ty {
        Type::Bool => Elem::Bool,
        Type::Index(_) => Elem::Index,
        Type::Double | Type::Array(..) | Type::Tuple(_) => Elem::Double,
    }
}

/// The diagnostic for a length that only data decides.
pub fn depends_on_data(span: Span) -> Diagnostic {
    Diagnostic::error("E0601", span, "unsupported: size depends on data")
        .help("emitted code stores only arrays whose lengths follow from sizes and Index and Bool parameters; `smoothc eval` runs it")
}
