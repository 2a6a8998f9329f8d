//! What a place wants and what it got: unification with a message, and the names of patterns.
//!
//! In: a wanted type, a found one and the place. Out: the two made equal, or a diagnostic `expected X, found
//! Y` with the next step.

use super::builtin::Api;
use super::infer::{Bound, Infer, Scope};
use super::ty::{Class, Mismatch, Ty, show};
use crate::diagnostic::Diagnostic;
use crate::ir::Size;
use crate::source::Span;
use crate::syntax::ast::{Pattern, PatternKind};

impl Infer<'_> {
    pub(super) fn no_function(&mut self, span: Span, ty: &Ty, what: &'static str) {
        self.first_order.push((span, ty.clone(), what));
    }

    pub(super) fn text(&self, ty: &Ty) -> String {
        show(&self.holes, ty, &mut Vec::new())
    }

    pub(super) fn expect(&mut self, span: Span, wanted: &Ty, found: &Ty, note: &str) {
        if let Err(mismatch) = self.holes.unify(wanted, found) {
            self.mismatch(span, wanted, found, mismatch, note, None);
        }
    }

    pub(super) fn expect_form(&mut self, api: Api, span: Span, wanted: &Ty, found: &Ty) {
        if self.holes.unify(wanted, found).is_err() {
            let (name, takes) = (api.name(), api.takes());
            let found_text = self.text(found);
            let help = super::forms::suggestion(&self.holes, api, found);
            self.diagnostics
                .push(Diagnostic::error("E0501", span, format!("`{name}` takes {takes} and its point, found {found_text}")).help(help));
        }
    }

    pub(super) fn mismatch(&mut self, span: Span, wanted: &Ty, found: &Ty, mismatch: Mismatch, note: &str, label: Option<(Span, String)>) {
        let (wanted_text, found_text) = (self.text(wanted), self.text(found));
        let diagnostic = match mismatch {
            Mismatch::Types => {
                let expected = match self.holes.head(wanted) {
                    Ty::Hole(id) if self.holes.class(id) == Class::Number => "a number".to_string(),
                    Ty::Hole(id) if self.holes.class(id) == Class::Scalar => "a number or a Bool".to_string(),
                    _ => wanted_text,
                };
                let help = match (self.holes.head(wanted), self.holes.head(found)) {
                    (Ty::Double, Ty::Index(_)) => "convert an Index with `double`".to_string(),
                    (Ty::Index(_), Ty::Double) if self.notes.literals.contains_key(&span) => {
                        "no Index is larger than 9223372036854775807: the literal can only be a Double".to_string()
                    }
                    (Ty::Index(_), Ty::Double) => "convert a Double with `index`, or write the literal without a point".to_string(),
                    (Ty::Fun(..), _) => "a function is wanted here".to_string(),
                    (_, Ty::Fun(..)) => "apply the function to all its arguments".to_string(),
                    _ => note.to_string(),
                };
                Diagnostic::error("E0301", span, format!("expected {expected}, found {found_text}")).help(help)
            }
            Mismatch::Sizes(a, b) => {
                let (a, b) = (self.holes.resolve_size(&a), self.holes.resolve_size(&b));
                if a.has_unknown() || b.has_unknown() {
                    // such a length has no name, as that of an accumulator before a step and after it
                    Diagnostic::error("E0401", span, "two lengths that must be equal never are")
                        .help("an array keeps its length here, as the accumulator of an `ifold` does from one step to the next")
                } else {
                    Diagnostic::error("E0401", span, format!("expected size {a}, found size {b}"))
                        .help(format!("{note}; the lengths {a} and {b} can never be equal"))
                }
            }
            Mismatch::Infinite => Diagnostic::error("E0302", span, format!("{found_text} would have to contain itself"))
                .help("check what the expression is applied to"),
        };
        self.diagnostics.push(match label {
            Some((place, text)) => diagnostic.label(place, text),
            None => diagnostic,
        });
    }

    /// Reports a name that patterns bind twice.
    pub(super) fn no_repeats(&mut self, patterns: &[Pattern]) {
        fn names<'a>(pattern: &'a Pattern, found: &mut Vec<(&'a str, Span)>) {
            match &pattern.kind {
                PatternKind::Var(name) => found.push((name, pattern.span)),
                PatternKind::Wildcard => {}
                PatternKind::Tuple(parts) => parts.iter().for_each(|part| names(part, found)),
                PatternKind::Typed(inner, _) => names(inner, found),
            }
        }
        let mut found = Vec::new();
        patterns.iter().for_each(|pattern| names(pattern, &mut found));
        for (at, (name, span)) in found.iter().enumerate() {
            if let Some((_, first)) = found[..at].iter().find(|(other, _)| other == name) {
                self.report(
                    Diagnostic::error("E0207", *span, format!("`{name}` is bound twice"))
                        .label(*first, "first bound here")
                        .help("rename one of them, or write `_` for the one that is not used"),
                );
            }
        }
    }

    /// Binds the names of a pattern.
    pub(super) fn bind(&mut self, pattern: &Pattern, ty: &Ty, value: Option<Size>, scope: &Scope, own: Option<&str>) -> Scope {
        match &pattern.kind {
            PatternKind::Var(name) => scope.with(name, Bound::Mono(ty.clone(), value)),
            PatternKind::Wildcard => scope.clone(),
            PatternKind::Tuple(parts) => {
                let types: Vec<Ty> = parts.iter().map(|_| self.holes.fresh(Class::Any, self.level)).collect();
                if self.holes.unify(&Ty::tuple(types.clone()), ty).is_err() {
                    let found = self.text(ty);
                    self.diagnostics.push(
                        Diagnostic::error("E0306", pattern.span, format!("expected a tuple of {} components, found {found}", parts.len()))
                            .help("a pattern must have as many components as the value"),
                    );
                }
                parts.iter().zip(&types).fold(scope.clone(), |scope, (part, ty)| self.bind(part, ty, None, &scope, own))
            }
            PatternKind::Typed(inner, annotation) => {
                let declared = self.convert(annotation, own);
                self.expect(pattern.span, &declared, ty, "the value has the type of its annotation");
                self.bind(inner, &declared, value, scope, own)
            }
        }
    }

    /// The declared type of a parameter, bounds included.
    pub(super) fn annotation(&mut self, pattern: &Pattern, own: Option<&str>) -> Option<Ty> {
        match &pattern.kind {
            PatternKind::Typed(_, annotation) => Some(self.convert(annotation, own)),
            PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Tuple(_) => None,
        }
    }
}
