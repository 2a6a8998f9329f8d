//! Patterns: what each of their names is.
//!
//! In: a pattern and the value that it takes apart. Out: the scope with its names; an annotation in it says sizes and is checked.
//!
//!     let (a, b) = p   →   a is p.0, b is p.1

use super::elaborate::{Elaborator, Result};
use super::infer::pattern_name;
use super::record;
use super::scope::{Bind, Scope};
use crate::ir::{Expr, Labels, Name, Term};
use crate::syntax::ast::{Pattern, PatternKind, TypeExprKind};

impl<'a> Elaborator<'a> {
    /// Binds a pattern's names to the parts of a value.
    pub fn bind(&mut self, pattern: &'a Pattern, value: Expr, scope: &Scope<'a>) -> Result<Scope<'a>> {
        match &pattern.kind {
            PatternKind::Var(name) => {
                let value = self.name(self.name_in(pattern, name), value);
                Ok(Scope { values: scope.values.with(name, Bind::Value(value)), ..scope.clone() })
            }
            PatternKind::Wildcard => {
                self.name("_", value);
                Ok(scope.clone())
            }
            PatternKind::Tuple(parts) => {
                let values: Vec<Expr> = if let Term::Tuple(values) = value.term() {
                    values.clone()
                } else {
                    let whole = self.name(self.name_in(pattern, "t"), value);
                    (0..parts.len()).map(|at| Expr::proj(whole.clone(), at)).collect()
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
                    scope.sizes = scope.sizes.with(name, self.size_of(&value));
                }
                self.bind(inner, value, &scope)
            }
            PatternKind::Case(_, data) => {
                let data = data.as_deref().map(|data| self.case_data(pattern.span, &value).map(|value| (data, value)));
                match data.transpose()? {
                    Some((data, value)) => {
                        value.ty().each_length(&mut |length| self.local.of_cases.extend(length.unknowns()));
                        self.bind(data, value, scope)
                    }
                    None => Ok(scope.clone()),
                }
            }
            PatternKind::Int(_) | PatternKind::Bool(_) => Ok(scope.clone()),
        }
    }

    /// What a value is called that a pattern takes apart, and its components; `whole` where the pattern has no name for all of it.
    pub(super) fn name_in(&self, pattern: &Pattern, whole: &str) -> Name {
        match &pattern.kind {
            PatternKind::Typed(inner, _) => self.name_in(inner, whole),
            PatternKind::Var(name) => Name::with_labels(name, self.fields_in(pattern)),
            PatternKind::Tuple(_) | PatternKind::Record(_) => Name::with_labels(whole, labels(Some(pattern), self.fields_in(pattern))),
            PatternKind::Wildcard | PatternKind::Case(..) | PatternKind::Int(_) | PatternKind::Bool(_) => whole.into(),
        }
    }

    /// The same for a parameter, which is called `arg1`, `arg2`, … where its pattern has no name.
    pub(super) fn name_of_parameter(&self, pattern: &Pattern, at: usize) -> Name {
        self.name_in(pattern, &pattern_name(pattern, at))
    }

    /// The fields of the records that a pattern takes apart or gives names.
    fn fields_in(&self, pattern: &Pattern) -> Labels {
        match &pattern.kind {
            PatternKind::Typed(inner, _) => self.fields_in(inner),
            PatternKind::Var(_) => match self.infer.notes.names.get(&pattern.span) {
                Some(ty) => record::labels(&self.infer.holes.resolve(ty)),
                None => Labels::None,
            },
            PatternKind::Tuple(parts) => Labels::tuple(parts.iter().map(|part| self.fields_in(part)).collect()),
            PatternKind::Record(fields) => match self.record_at(pattern.span) {
                Some(record) if record.recursive.is_none() => {
                    let inside = |field: &str| fields.iter().find(|(name, _)| *name.text == *field).map(|(_, part)| self.fields_in(part));
                    let fields = record.fields.iter().map(|field| (field.clone(), inside(field).unwrap_or_default()));
                    Labels::Record(record.name.text.clone(), fields.collect())
                }
                Some(_) | None => Labels::None,
            },
            PatternKind::Wildcard | PatternKind::Case(..) | PatternKind::Int(_) | PatternKind::Bool(_) => Labels::None,
        }
    }
}

/// The names inside a parameter with those that its pattern gives: C calls `(low, high)` so, and not `arg1_0`, `arg1_1`.
pub fn labels(pattern: Option<&Pattern>, known: Labels) -> Labels {
    let Some(pattern) = pattern else { return known };
    match &pattern.kind {
        PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Case(..) | PatternKind::Int(_) | PatternKind::Bool(_) => known,
        PatternKind::Typed(inner, _) => labels(Some(inner), known),
        PatternKind::Tuple(parts) => {
            Labels::tuple(parts.iter().enumerate().map(|(at, part)| component(part, known.part(at).clone())).collect())
        }
        PatternKind::Record(named) => match known {
            Labels::Record(record, fields) => {
                let pattern = |field: &str| named.iter().find(|(name, _)| *name.text == *field).map(|(_, pattern)| pattern);
                let fields = fields.into_iter().map(|(name, inside)| match pattern(&name) {
                    Some(pattern) => (name, component(pattern, inside)),
                    None => (name, inside),
                });
                Labels::Record(record, fields.collect())
            }
            Labels::None | Labels::Array(_) | Labels::Tuple(_) | Labels::Sum(..) | Labels::Recursive(_) | Labels::Named(..) => known,
        },
    }
}

fn component(pattern: &Pattern, known: Labels) -> Labels {
    match &pattern.kind {
        PatternKind::Var(name) => Labels::Named(name.clone(), known.into()),
        PatternKind::Typed(inner, _) => component(inner, known),
        PatternKind::Wildcard
        | PatternKind::Tuple(_)
        | PatternKind::Record(_)
        | PatternKind::Case(..)
        | PatternKind::Int(_)
        | PatternKind::Bool(_) => labels(Some(pattern), known),
    }
}
