//! Which terms cannot fail.
//!
//! In: a term, and what is known of sizes at its place. Out: whether its evaluation gives a value for certain: every read and
//! write in range, every count known not to be negative, every divisor of an Index a literal that is not 0. A call, a check or
//! a derivative that is left may always fail.
//!
//!     build(n, i. … v[i] …)     v[i] is total inside, where v has n elements; v[i + 1] is not

use crate::ir::{Expr, Prim, Size, Term, Type, Updated};

use super::Facts;

impl Facts {
    /// Whether every index of an update is in range, and the new element has the shape of the old one.
    fn is_safe_update(&self, update: Updated) -> bool {
        let dims = update.array.ty().dims();
        let in_range = update.indices.iter().zip(&dims).all(|(index, n)| self.in_range(index, n));
        in_range && !update.value.ty().has_array()
    }

    /// Whether evaluating the term cannot fail here.
    pub fn is_total(&self, expr: &Expr) -> bool {
        let own = match expr.term() {
            Term::Get(array, index) => array.ty().dims().first().is_some_and(|n| self.in_range(index, n)),
            Term::Prim(Prim::Div | Prim::Rem, args) if matches!(expr.ty(), Type::Index(_)) => {
                matches!(args.get(1).map(Expr::term), Some(Term::Index(value)) if *value != 0)
            }
            Term::Prim(Prim::ToIndex, _) | Term::Call(..) | Term::Check { .. } | Term::Dual { .. } | Term::Vjp { .. } => false,
            Term::Update(_, parts) => Updated::of(parts).is_some_and(|update| self.is_safe_update(update)),
            // elements of one shape are so in any order
            Term::Build { n, body, .. } => !body.ty().has_array() && Size::try_of_expr(n).is_some_and(|n| self.non_negative(&n)),
            Term::Fold { n, acc, .. } => !acc.ty().has_array() && Size::try_of_expr(n).is_some_and(|n| self.non_negative(&n)),
            // it may not end
            Term::While { .. } | Term::Iso(..) => false,
            Term::Array(items) => items.len() < 2 || !items.iter().any(|item| item.ty().has_array()),
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Let(..)
            | Term::If(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..) => true,
        };
        let mut total = own;
        expr.term().each_child(&mut |child| total = total && self.is_total(child));
        total
    }
}
