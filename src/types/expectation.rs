//! What a place wants and what it got: unification with a message, and the names of patterns.
//!
//! In: a wanted type, a found one and the place. Out: the two made equal, or a diagnostic `expected X, found
//! Y` with the next step.

use super::builtin::Api;
use super::holes::Mismatch;
use super::infer::{Bound, Infer, Scope};
use super::show::show;
use super::ty::{Class, Ty};
use crate::budget;
use crate::diagnostic::Diagnostic;
use crate::ir::Size;
use crate::source::Span;
use crate::syntax::ast::{Pattern, PatternKind};

impl Infer<'_> {
    pub(super) fn no_function(&mut self, span: Span, ty: &Ty, what: &'static str) {
        self.first_order.push((span, ty.clone(), what));
    }

    pub(super) fn text(&self, ty: &Ty) -> String {
        if self.holes.has_more_components(ty, budget::COMPONENTS) {
            return format!("a value of more than {} components", budget::COMPONENTS);
        }
        show(&self.holes, ty, &mut Vec::new())
    }

    pub(super) fn expect(&mut self, span: Span, wanted: &Ty, found: &Ty, note: &str) {
        if let Err(mismatch) = self.holes.unify(wanted, found) {
            self.mismatch(span, wanted, found, mismatch, note, None);
        }
    }

    /// The arguments of a differentiation form: the point is one of the function's, and both are what the form takes.
    pub(super) fn expect_form(&mut self, api: Api, args: &[(Span, Ty)], params: &[Ty]) {
        let ([(place, function), (point_place, point), rest @ ..], [wanted, ..]) = (args, params) else { return };
        if let Ty::Fun(takes, _) = self.holes.head(function)
            && let [takes] = &takes[..]
        {
            // so that what is wrong is said of the point, not of what the function would do with it
            let of_open = matches!(self.holes.head(takes), Ty::Hole(_));
            let takes = params.get(1).filter(|wanted| of_open && matches!(wanted, Ty::Double)).unwrap_or(takes);
            match self.holes.unify(takes, point) {
                Ok(()) => {}
                Err(Mismatch::Types | Mismatch::Infinite) => {
                    let message = format!("`{}` takes {} and its point, found {}", api.name(), api.takes(), self.text(point));
                    let is_open = matches!(self.holes.head(takes), Ty::Hole(_));
                    let wanted = if is_open { "a number".to_string() } else { self.text(takes) };
                    let help = format!("the function takes {wanted}, and the point is what it takes");
                    return self.report(Diagnostic::error("E0501", *point_place, message).help(help));
                }
                Err(sizes) => return self.mismatch(*point_place, takes, point, sizes, "the point is what the function takes", None),
            }
        }
        if self.holes.unify(wanted, function).is_err() {
            for id in self.holes.open(function) {
                if !matches!(self.holes.class(id), Class::Any | Class::Scalar) {
                    self.holes.solve(id, Ty::Double);
                }
            }
            let (name, takes, found) = (api.name(), api.takes(), self.text(function));
            let help = super::forms::suggestion(&self.holes, api, function);
            self.report(Diagnostic::error("E0501", *place, format!("`{name}` takes {takes} and its point, found {found}")).help(help));
            return;
        }
        for ((place, found), wanted) in
            [(*point_place, point)].into_iter().chain(rest.iter().map(|(place, ty)| (*place, ty))).zip(&params[1..])
        {
            self.expect(place, wanted, found, "the point and its tangent have the type of the function's parameter");
        }
    }

    /// The type without holes where Doubles belong: what is not known is a Vector, a Double inside something.
    pub(super) fn made_of_doubles(&mut self, ty: &Ty) -> Ty {
        if let Ty::Hole(id) = self.holes.head(ty)
            && self.holes.class(id) == Class::Any
        {
            let size = self.holes.fresh_size();
            self.holes.solve(id, Ty::array(Ty::Double, size));
        }
        self.holes.open(ty).into_iter().for_each(|id| self.holes.solve(id, Ty::Double));
        self.holes.resolve(ty)
    }

    fn types_differ(&mut self, span: Span, wanted: &Ty, found: &Ty, note: &str) -> Diagnostic {
        let (wanted_text, found_text) = (self.text(wanted), self.text(found));
        if !matches!(self.holes.head(wanted), Ty::Fun(..))
            && let Some(problem) = self.case_without_data(span)
        {
            return problem;
        }
        let class = if let Ty::Hole(id) = self.holes.head(wanted) { Some(self.holes.class(id)) } else { None };
        let expected = match class {
            Some(Class::Number) => "a number".to_string(),
            Some(Class::Sum) => "a number or an array of Doubles".to_string(),
            Some(Class::Tensor) => "a Double or an array of Doubles".to_string(),
            Some(Class::Scalar) => "a number or a Bool".to_string(),
            Some(Class::Any) | None => wanted_text,
        };
        let help = match (self.holes.head(wanted), self.holes.head(found)) {
            (Ty::Double, Ty::Index(_)) => "convert an Index with `double`".to_string(),
            (Ty::Index(_), Ty::Double) if self.notes.literals.contains_key(&span) => {
                "no Index is larger than 9223372036854775807: the literal can only be a Double".to_string()
            }
            (Ty::Index(_), Ty::Double) => "convert a Double with `index`, or write the literal without a point".to_string(),
            (Ty::Hole(id), Ty::Record(sum, _)) if sum.is_sum() && self.holes.class(id) == Class::Scalar => {
                "cases are told apart by `match e with | … -> … | … -> …`".to_string()
            }
            (Ty::Hole(id), Ty::Rec(_)) if self.holes.class(id) == Class::Scalar => {
                "cases are told apart by `match e with | … -> … | … -> …`".to_string()
            }
            (Ty::Fun(..), _) => "a function is wanted here".to_string(),
            (_, Ty::Fun(..)) => "apply the function to all its arguments".to_string(),
            _ => note.to_string(),
        };
        Diagnostic::error("E0301", span, format!("expected {expected}, found {found_text}")).help(help)
    }

    pub(super) fn mismatch(&mut self, span: Span, wanted: &Ty, found: &Ty, mismatch: Mismatch, note: &str, label: Option<(Span, String)>) {
        let diagnostic = match mismatch {
            Mismatch::Types => self.types_differ(span, wanted, found, note),
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
            Mismatch::Infinite => Diagnostic::error("E0302", span, format!("{} would have to contain itself", self.text(found)))
                .help("check what the expression is applied to"),
            Mismatch::TooLarge => return self.report(budget::too_many_components(span)),
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
                PatternKind::Record(fields) => fields.iter().for_each(|(_, part)| names(part, found)),
                PatternKind::Typed(inner, _) => names(inner, found),
                PatternKind::Case(_, data) => data.iter().for_each(|data| names(data, found)),
                PatternKind::Int(_) | PatternKind::Bool(_) => {}
            }
        }
        let mut found = Vec::new();
        patterns.iter().for_each(|pattern| names(pattern, &mut found));
        self.no_name_twice(&found);
    }

    pub(super) fn no_name_twice(&mut self, found: &[(&str, Span)]) {
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
    pub(super) fn bind(&mut self, pattern: &Pattern, ty: &Ty, value: Option<Size>, scope: &Scope) -> Scope {
        match &pattern.kind {
            PatternKind::Var(name) => {
                self.notes.names.insert(pattern.span, ty.clone());
                scope.with(name, Bound::Mono(ty.clone(), value))
            }
            PatternKind::Wildcard => scope.clone(),
            PatternKind::Tuple(parts) => {
                let types: Vec<Ty> = parts.iter().map(|_| self.holes.fresh(Class::Any, self.level)).collect();
                if parts.is_empty() {
                    self.expect(pattern.span, &Ty::unit(), ty, "`()` is the only value of type Unit");
                } else if self.holes.unify(&Ty::tuple(types.clone()), ty).is_err() {
                    let found = self.text(ty);
                    self.diagnostics.push(
                        Diagnostic::error("E0306", pattern.span, format!("expected a tuple of {} components, found {found}", parts.len()))
                            .help("a pattern must have as many components as the value"),
                    );
                }
                parts.iter().zip(&types).fold(scope.clone(), |scope, (part, ty)| self.bind(part, ty, None, &scope))
            }
            PatternKind::Record(fields) => {
                let types = self.record_pattern(fields, ty, pattern.span);
                fields.iter().zip(&types).fold(scope.clone(), |scope, ((_, part), ty)| self.bind(part, ty, None, &scope))
            }
            PatternKind::Typed(inner, annotation) => {
                let declared = self.convert(annotation);
                self.expect(pattern.span, &declared, ty, "the value has the type of its annotation");
                self.bind(inner, &declared, value, scope)
            }
            PatternKind::Case(name, data) => self.case_pattern(name, data.as_deref(), pattern.span, ty, scope),
            PatternKind::Int(_) | PatternKind::Bool(_) => {
                let literal = if matches!(pattern.kind, PatternKind::Int(_)) { Ty::INDEX } else { Ty::Bool };
                if self.holes.unify(ty, &literal).is_err() {
                    let message = format!("expected a pattern of type {}, found one of type {}", self.text(ty), self.text(&literal));
                    let help = "literals in patterns are Indexes and Bools: compare Doubles with `if`";
                    self.report(Diagnostic::error("E0301", pattern.span, message).help(help));
                }
                self.matches_all(false, pattern.span);
                scope.clone()
            }
        }
    }

    /// The declared type of a parameter, bounds included.
    pub(super) fn annotation(&mut self, pattern: &Pattern) -> Option<Ty> {
        match &pattern.kind {
            PatternKind::Typed(_, annotation) => Some(self.convert(annotation)),
            PatternKind::Var(_)
            | PatternKind::Wildcard
            | PatternKind::Tuple(_)
            | PatternKind::Record(_)
            | PatternKind::Case(..)
            | PatternKind::Int(_)
            | PatternKind::Bool(_) => None,
        }
    }
}
