//! Patterns: what each of their names is.
//!
//! In: a pattern and the value that it takes apart. Out: the scope with its names; an annotation in it says sizes and is checked.
//!
//!     let (a, b) = p   →   a is p.0, b is p.1

use super::elaborate::{Bind, Elaborator, Result, Scope};
use crate::ir::{Expr, Size, Term};
use crate::syntax::ast::{Pattern, PatternKind, TypeExprKind};

impl<'a> Elaborator<'a> {
    /// Binds a pattern's names to the parts of a value.
    pub fn bind(&mut self, pattern: &'a Pattern, value: Expr, scope: &Scope<'a>) -> Result<Scope<'a>> {
        match &pattern.kind {
            PatternKind::Var(name) => {
                let value = self.name(name, value);
                Ok(Scope { values: scope.values.with(name, Bind::Value(value)), ..scope.clone() })
            }
            PatternKind::Wildcard => {
                self.name("_", value);
                Ok(scope.clone())
            }
            PatternKind::Tuple(parts) => {
                let values: Vec<Expr> = match value.term() {
                    Term::Tuple(values) => values.clone(),
                    _ => {
                        let whole = self.name("t", value);
                        (0..parts.len()).map(|at| Expr::proj(whole.clone(), at)).collect()
                    }
                };
                let mut scope = scope.clone();
                for (part, value) in parts.iter().zip(values) {
                    scope = self.bind(part, value, &scope)?;
                }
                Ok(scope)
            }
            PatternKind::Record(fields) => self.bind_fields(pattern, fields, value, scope),
            PatternKind::Typed(inner, annotation) => {
                let (value, mut scope) = self.annotate(value, annotation, scope, pattern.span)?;
                if let (TypeExprKind::Index(_), PatternKind::Var(name)) = (&annotation.kind, &inner.kind)
                    && scope.sizes.get(name).is_none()
                {
                    scope.sizes = scope.sizes.with(name, self.normal(&Size::of_expr(&value)));
                }
                self.bind(inner, value, &scope)
            }
        }
    }
}
