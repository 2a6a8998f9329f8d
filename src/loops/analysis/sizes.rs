//! Sizes as expressions.
//!
//! In: a size over core variables, and what those, and other terms that have a name, are in the loop program. Out: an expression; none
//! where a length is of no use before the program runs.
//!
//!     (n + 1) * m   →   (n + 1) * m, over locals

use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Prim, Size, Term, Type};
use crate::source::Span;

use crate::loops::program::ranges::{ANY, Range, Ranges};
use crate::loops::program::*;

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
/// what data chooses the greatest; of sums and multiples that of their parts, where these cannot wrap.
///
///     (min (n - 256 * k) 65536 + 255) / 256   →   256, whatever n and k are
///     if v[0] > 0.0 then 3 else k % 7         →   6
///     2 * min k 7                             →   none: the product wraps where k is small enough
pub fn most(size: &Size, ranges: &Ranges, named: &dyn Fn(&Expr) -> Option<Value>) -> Option<Value> {
    bounded(&size.to_expr()?, &|expr| of_expr(expr, ranges, named), ranges).map(|(most, _)| most)
}

/// An expression for the most that a term may be, and what the term is between.
fn bounded(expr: &Expr, exact: &dyn Fn(&Expr) -> Option<Value>, ranges: &Ranges) -> Option<(Value, Range)> {
    if let Some(value) = exact(expr) {
        let range = ranges.of(&value);
        return Some((value, range));
    }
    let part = |expr: &Expr| bounded(expr, exact, ranges);
    let all = |args: &mut dyn Iterator<Item = &Expr>| Some(args.map(part).collect::<Option<Vec<_>>>()?.into_iter().unzip());
    let made = |prim, values| ranges.prim(prim, Elem::Index, values);
    let (value, range): (Value, Range) = match expr.term() {
        Term::Prim(Prim::Min, args) => {
            let parts: Vec<_> = args.iter().map(part).collect();
            let least = parts.iter().map(|part| part.as_ref().map_or(ANY.0, |(_, range)| range.0)).min()?;
            let (value, range) = parts.into_iter().flatten().next()?;
            (value, (least, range.1))
        }
        Term::Prim(Prim::Max, args) => {
            let (values, ranges): (_, Vec<Range>) = all(&mut args.iter())?;
            (made(Prim::Max, values), (ranges.iter().map(|range| range.0).max()?, ranges.iter().map(|range| range.1).max()?))
        }
        Term::If(_, a, b) => {
            let (values, ranges): (_, Vec<Range>) = all(&mut [a, b].into_iter())?;
            (made(Prim::Max, values), (ranges.iter().map(|range| range.0).min()?, ranges.iter().map(|range| range.1).max()?))
        }
        Term::Prim(Prim::Add, args) => {
            let (values, ranges): (_, Vec<Range>) = all(&mut args.iter())?;
            (made(Prim::Add, values), (ranges.iter().map(|range| range.0).sum(), ranges.iter().map(|range| range.1).sum()))
        }
        Term::Prim(prim, args) => {
            let [a, b] = args.as_slice() else { return None };
            match (prim, a.term(), b.term()) {
                (Prim::Mul, Term::Index(by @ 0..), _) | (Prim::Mul, _, Term::Index(by @ 0..)) => {
                    let (value, range) = part(if matches!(a.term(), Term::Index(_)) { b } else { a })?;
                    (made(Prim::Mul, vec![Value::Index(*by), value]), (range.0 * i128::from(*by), range.1 * i128::from(*by)))
                }
                (Prim::Div, _, Term::Index(by @ 1..)) => {
                    let (value, range) = part(a)?;
                    (made(Prim::Div, vec![value, Value::Index(*by)]), (range.0 / i128::from(*by), range.1 / i128::from(*by)))
                }
                (Prim::Rem, _, Term::Index(by @ 1..)) => (Value::Index(by - 1), (i128::from(1 - by), i128::from(by - 1))),
                _ => return None,
            }
        }
        _ => return None,
    };
    (ANY.0 <= range.0 && range.1 <= ANY.1).then_some((value, range))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Var;

    /// What wraps has none: the workspace would be too small.
    #[test]
    fn the_most_of_a_length_that_data_gives() {
        let k = Var::fresh("k", Type::INDEX);
        let index = |prim, b: Expr, c: i64| Expr::prim(prim, vec![b, Expr::index(c)]);
        let least = || index(Prim::Min, Expr::var(&k), 7);
        let positive = || index(Prim::Max, least(), 0);
        let rest = || index(Prim::Rem, Expr::var(&k), 7);
        let cases = [
            (Expr::var(&k), None),
            (least(), Some(7)),
            (positive(), Some(7)),
            (rest(), Some(6)),
            (index(Prim::Add, least(), 3), Some(10)),
            (index(Prim::Mul, least(), 2), None),
            (index(Prim::Div, index(Prim::Mul, least(), 2), 2), None),
            (index(Prim::Max, index(Prim::Mul, least(), 2), 0), None),
            (index(Prim::Mul, positive(), 2), Some(14)),
            (Expr::prim(Prim::Add, vec![least(), index(Prim::Min, Expr::var(&k), 4)]), None),
            (Expr::prim(Prim::Add, vec![least(), rest()]), None),
            (Expr::prim(Prim::Add, vec![positive(), rest()]), Some(13)),
        ];
        for (length, wanted) in cases {
            let found = most(&Size::of_expr(&length), &Ranges::default(), &|_| None).map(|most| Ranges::default().of(&most).1);
            assert_eq!(found, wanted.map(i128::from), "{}", crate::ir::print::key(&length));
        }
    }
}
