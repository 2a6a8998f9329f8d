//! Slices of arrays of any element: their type, and the `build` that they are.
//!
//! In: an array and the ends of the part, both included; an end that is left out is the array's own. Out: its type, with the length
//! where the ends are sizes; a core `build`. A slice that ends before it begins is empty and reads nothing; one that ends
//! earlier still has a negative count.
//!
//!     v[2..4]   →   build(3, i. v[i + 2])
//!     v[a..]    →   build(length v - a, i. v[i + a])

use super::elaborate::{Elaborator, Result};
use super::infer::{Infer, Scope, Typed};
use super::scope::Scope as Names;
use super::ty::Ty;
use crate::ir::{Expr, Prim, Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast;

impl Infer<'_> {
    /// `v[a..b]`: its length is known where those of its ends are.
    pub(super) fn slice(&mut self, array: &ast::Expr, low: Option<&ast::Expr>, high: Option<&ast::Expr>, scope: &Scope) -> Typed {
        let (element, length) = self.indexed(array, scope);
        let mut end = |end: Option<&ast::Expr>, default: Size| {
            let Some(end) = end else { return Some(default) };
            let typed = self.expr(end, scope);
            self.expect(end.span, &Ty::INDEX, &typed.ty, "the ends of a slice are Indexes");
            typed.value
        };
        let first = end(low, Size::constant(0));
        let last = end(high, length.sub(&Size::constant(1)));
        if let (Some(first), Some(last)) = (&first, &last)
            && let (Some(from), Some(to)) = (first.as_constant(), last.as_constant())
            && from <= to
        {
            self.reads.extend([(low, from), (high, to)].into_iter().filter_map(|(end, at)| Some((end?.span, length.clone(), at))));
        }
        let size = match (first, last) {
            (Some(first), Some(last)) => last.sub(&first).add(&Size::constant(1)),
            _ => self.holes.fresh_size(),
        };
        Typed { ty: Ty::array(element, size), value: None }
    }
}

impl<'a> Elaborator<'a> {
    /// The part of an array between two ends, each computed once.
    pub(super) fn slice(
        &mut self,
        array: &'a ast::Expr,
        low: Option<&'a ast::Expr>,
        high: Option<&'a ast::Expr>,
        scope: &Names<'a>,
        span: Span,
    ) -> Result<Expr> {
        let array = self.expr(array, scope)?;
        let array = self.name("v", array);
        let mut end = |end: Option<&'a ast::Expr>, name: &str| -> Result<Option<Expr>> {
            let Some(end) = end else { return Ok(None) };
            let value = self.expr(end, scope)?;
            Ok(Some(self.name(name, value)))
        };
        let (low, high) = (end(low, "low")?, end(high, "high")?);
        let count = match high {
            Some(high) => plus(minus(high, low.as_ref()), &Expr::index(1)),
            None => minus(Expr::dim(array.clone(), 0), low.as_ref()),
        };
        let count = Size::of_expr(&count).as_constant().map_or(count, Expr::index);
        let i = Var::fresh("i", Type::Index(Some(self.size_of(&count))));
        let index = low.as_ref().filter(|low| !is_zero(low)).map_or(Expr::var(&i), |low| plus(Expr::var(&i), low));
        Ok(Expr::build_with(count, i, Expr::get(array, index).at(span)).at(span))
    }
}

fn plus(a: Expr, b: &Expr) -> Expr {
    Expr::prim(Prim::Add, vec![a, b.clone()])
}

fn minus(a: Expr, b: Option<&Expr>) -> Expr {
    match b {
        Some(b) if !is_zero(b) => Expr::prim(Prim::Sub, vec![a, b.clone()]),
        Some(_) | None => a,
    }
}

fn is_zero(e: &Expr) -> bool {
    Size::of_expr(e).as_constant() == Some(0)
}
