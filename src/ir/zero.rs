//! The zero of a type: for places that are filled later, and for data that nobody reads.
//!
//! In: a type whose lengths are terms. Out: a term of the type; `None` where a length depends on data. What a recursive type has
//! there is absent.
//!
//!     Double * Array<Index, n>   →   (0.0, build n (fun i -> 0))

use super::{Expr, Type};

/// Zeros of a type.
pub fn zero(ty: &Type) -> Option<Expr> {
    Some(match ty {
        Type::Double => Expr::double(0.0),
        Type::Bool => Expr::bool(false),
        Type::Index(_) => Expr::index(0),
        Type::Array(element, size) => {
            let element = zero(element)?;
            Expr::build(size.to_expr()?, "i", |_| element)
        }
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(zero).collect::<Option<_>>()?),
        Type::Rec(of) => Expr::absent(of),
    })
}
