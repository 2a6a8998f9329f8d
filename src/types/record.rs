//! Records: declared tuples whose components have names.
//!
//! In: `type` declarations; literals, fields, copies and patterns whose record `fields` has found. Out: the records and their types;
//! core tuples, in the order of the declaration, a record of one field as that field; the names for C, Futhark and JSON.
//!
//!     type Camera = { focal: Double; centre: Vector<2> }
//!     { c with focal = 2.0 }.focal   →   let t = (2.0, c.1) in t.0

use std::rc::Rc;

use super::canonical::Actual;
use super::elaborate::{Elaborator, Result};
use super::infer::Infer;
use super::scope::Scope as Names;
use super::ty::{Record, Ty};
use crate::diagnostic::Diagnostic;
use crate::ir::{Atom, Expr, Labels, Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{self, Name, Pattern, TypeDecl, TypeExpr};

impl Infer<'_> {
    pub(super) fn no_built_in(&mut self, name: &Name) {
        if crate::syntax::is_built_in_type(&name.text) {
            let diagnostic = Diagnostic::error("E0201", name.span, format!("`{}` is a type of the language", name.text));
            self.report(diagnostic.help("choose another name"));
        }
    }

    pub(super) fn record(&mut self, decl: &TypeDecl, declared: &[(Name, TypeExpr)], file: usize) -> Record {
        self.sizes = super::env::Env::default();
        let mut sizes: Vec<Var> = decl.sizes.iter().map(|size| Var::fresh(&size.text, Type::INDEX)).collect();
        for size in &sizes {
            self.sizes = self.sizes.with(size.name(), Size::var(size));
        }
        let mut parts = Vec::new();
        for (at, (field, ty)) in declared.iter().enumerate() {
            let part = self.convert(ty);
            self.name_sizes(&field.text, &part, &[]);
            let part = self.holes.resolve(&part);
            part.map(
                &mut |size| {
                    size.each_var(&mut |var| sizes.extend((!sizes.contains(var)).then(|| var.clone()).into_iter().collect::<Vec<_>>()));
                    size.clone()
                },
                &mut Ty::Hole,
            );
            if super::contains_function(&part) {
                let message = format!("the field `{}` is a function", field.text);
                self.report(Diagnostic::error("E0310", ty.span, message).help("functions are passed to functions, or bound with `let`"));
            }
            if let Some((first, _)) = declared[..at].iter().find(|(other, _)| other.text == field.text) {
                let diagnostic = Diagnostic::error("E0207", field.span, format!("`{}` is bound twice", field.text));
                self.report(diagnostic.label(first.span, "first bound here").help("fields of a record have different names"));
            }
            parts.push(part);
        }
        let fields = declared.iter().map(|(field, _)| field.text.clone()).collect();
        Record { name: decl.name.clone(), file, sizes, named: decl.sizes.len(), fields, parts, cases: Vec::new(), recursive: None }
    }

    /// The records that a place sees, the last declared first.
    pub(super) fn visible_records(&self, span: Span, file: usize) -> impl Iterator<Item = &Rc<Record>> {
        let declared = move |record: &&Rc<Record>| {
            let same = record.file == file && record.name.span.start < span.start;
            same || self.modules.opens_file(file, record.file)
        };
        self.records.iter().rev().filter(declared)
    }

    /// The record of a name, as a place in a file sees it.
    pub fn record_in(&self, name: &str, span: Span, file: usize) -> Option<Rc<Record>> {
        self.visible_records(span, file).find(|record| *record.name.text == *name).cloned()
    }

    /// A core type with the records that the names inside it are of.
    pub fn with_labels(&self, ty: &Type, labels: &Labels) -> Ty {
        match (ty, labels) {
            (Type::Array(element, size), Labels::Array(inner)) => Ty::array(self.with_labels(element, inner), size.clone()),
            (_, Labels::Tuple(_) | Labels::Record(..) | Labels::Sum(..)) => {
                let types: &[Type] = match (ty, labels.sole()) {
                    (Type::Tuple(types), None) => types,
                    _ => std::slice::from_ref(ty),
                };
                let parts: Vec<Ty> = types.iter().enumerate().map(|(at, ty)| self.with_labels(ty, labels.part(at))).collect();
                let named = |record: &&Rc<Record>| {
                    let fields = record.fields.iter().enumerate();
                    matches!(labels, Labels::Record(name, _) | Labels::Sum(name, ..) if *name == record.name.text)
                        && fields.into_iter().all(|(at, field)| labels.field(at) == Some(field))
                };
                match self.records.iter().find(named) {
                    Some(record) => Ty::Record(record.clone(), parts.into()),
                    None => Ty::tuple(parts),
                }
            }
            _ => Ty::of_core(ty),
        }
    }

    pub(super) fn fresh_record(&mut self, record: &Rc<Record>) -> (Ty, Vec<Ty>) {
        if let Some(of) = &record.recursive {
            return (Ty::Rec(of.clone()), Vec::new());
        }
        let sizes: Vec<Size> = record.sizes.iter().map(|_| self.holes.fresh_size()).collect();
        let parts = record.instance(&sizes);
        (Ty::Record(record.clone(), parts.clone().into()), parts)
    }
}

/// A component of a record, unrolled where it is recursive; one of a single field is that field.
pub(super) fn component(record: &Record, value: Expr, at: usize) -> Expr {
    let value = if record.recursive.is_some() { Expr::unroll(value) } else { value };
    if record.fields.len() == 1 { value } else { Expr::proj(value, at) }
}

/// The names inside a value of this type.
pub fn labels(ty: &Ty) -> Labels {
    match ty {
        Ty::Record(sum, parts) if sum.is_sum() => {
            let cases = sum.cases.iter().map(|case| (case.name.text.clone(), case.data.as_ref().map(|data| data.part)));
            let fields = sum.fields.iter().cloned().zip(parts.iter().map(labels)).collect();
            Labels::Sum(sum.name.text.clone(), cases.collect(), fields)
        }
        Ty::Record(record, parts) => {
            Labels::Record(record.name.text.clone(), record.fields.iter().cloned().zip(parts.iter().map(labels)).collect())
        }
        Ty::Tuple(parts) => Labels::tuple(parts.iter().map(labels).collect()),
        Ty::Array(element, _) => {
            let element = labels(element);
            if matches!(element, Labels::None) { element } else { Labels::Array(element.into()) }
        }
        Ty::Rec(of) => Labels::Recursive(of.clone()),
        Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Fun(..) | Ty::Hole(_) => Labels::None,
    }
}

/// A core type with the records of the type that it comes from.
pub fn relabelled(ty: &Type, of: &Ty) -> Ty {
    match (ty, of) {
        (_, Ty::Record(record, parts)) if parts.len() == 1 => {
            Ty::Record(record.clone(), parts.iter().map(|part| relabelled(ty, part)).collect())
        }
        (Type::Array(element, size), Ty::Array(inner, _)) => Ty::array(relabelled(element, inner), size.clone()),
        (Type::Tuple(types), Ty::Tuple(parts)) => Ty::tuple(types.iter().zip(parts.iter()).map(|(ty, of)| relabelled(ty, of)).collect()),
        (Type::Tuple(types), Ty::Record(record, parts)) => {
            Ty::Record(record.clone(), types.iter().zip(parts.iter()).map(|(ty, of)| relabelled(ty, of)).collect())
        }
        _ => Ty::of_core(ty),
    }
}

impl<'a> Elaborator<'a> {
    pub(super) fn record_at(&self, span: Span) -> Option<Rc<Record>> {
        self.infer.notes.records.get(&span).cloned()
    }

    /// The component that a field is.
    pub(super) fn field(&mut self, base: Expr, name: &Name, span: Span) -> Result<Expr> {
        let Some(record) = self.record_at(span) else { return self.function_as_value(span) };
        match record.place(&name.text) {
            Some(at) => Ok(component(&record, base, at).at(span)),
            None => self.function_as_value(span),
        }
    }

    /// The tuple of a literal or a copy; values are computed in the order in which they are written.
    pub(super) fn record_value(
        &mut self,
        base: Option<&'a ast::Expr>,
        fields: &'a [(Name, ast::Expr)],
        scope: &Names<'a>,
        span: Span,
    ) -> Result<Expr> {
        let Some(record) = self.record_at(span) else { return self.function_as_value(span) };
        let mut parts: Vec<Option<Expr>> = vec![None; record.fields.len()];
        if let Some(base) = base {
            let base = self.expr(base, scope)?;
            let base = self.name("r", base);
            parts = (0..parts.len()).map(|at| Some(component(&record, base.clone(), at))).collect();
        }
        let in_order = fields.iter().zip(&record.fields).all(|((name, _), field)| name.text == *field);
        for (name, value) in fields {
            let value = self.expr(value, scope)?;
            let value = if in_order { value } else { self.name(&*name.text, value) };
            if let Some(part) = record.place(&name.text).and_then(|at| parts.get_mut(at)) {
                *part = Some(value);
            }
        }
        let Some(parts) = parts.into_iter().collect::<Option<Vec<Expr>>>() else { return self.function_as_value(span) };
        let mut actual = Actual::default();
        for (template, part) in record.parts.iter().zip(&parts) {
            actual.read(template, &part.ty().map_sizes(&mut |size| self.normal(size)));
        }
        let mut values = Vec::new();
        for (template, part) in record.parts.iter().zip(parts) {
            let wanted = actual.fill(&record.stored(template));
            values.push(self.coerce(part, &wanted, span, "the record's declaration says so")?);
        }
        match (values.pop(), values.is_empty()) {
            (Some(only), true) => Ok(only),
            (last, _) => {
                values.extend(last);
                Ok(Expr::tuple(values).at(span))
            }
        }
    }

    /// Binds the fields that a pattern names.
    pub(super) fn bind_fields(
        &mut self,
        pattern: &'a Pattern,
        fields: &'a [(Name, Pattern)],
        value: Expr,
        scope: &Names<'a>,
    ) -> Result<Names<'a>> {
        let Some(record) = self.record_at(pattern.span) else { return self.function_as_value(pattern.span) };
        let whole = self.name("r", value);
        let mut scope = scope.clone();
        for (name, inner) in fields {
            let at = record.place(&name.text).unwrap_or_default();
            scope = self.bind(inner, component(&record, whole.clone(), at), &scope)?;
        }
        Ok(scope)
    }

    /// The core type of an annotation by a record; a size name that is not there yet is what the value has.
    pub(super) fn wanted_record(&self, have: &Type, name: &Name, sizes: &[ast::SizeExpr], scope: &mut Names<'a>) -> Option<Type> {
        let file = self.modules.globals.get(scope.at)?.file;
        let record = self.infer.record_in(&name.text, name.span, file)?;
        if let Some(of) = &record.recursive {
            return Some(Type::Rec(of.clone()));
        }
        let mut actual = Actual::default();
        for (at, size) in sizes.iter().enumerate() {
            if !matches!(&size.kind, ast::SizeExprKind::Name(name) if scope.sizes.get(name).is_none()) {
                actual.sizes.push((Atom::Var(record.sizes.get(at)?.clone()), super::shapes::written_size(size, scope)));
            }
        }
        let whole = Ty::Record(record.clone(), record.parts.clone().into());
        actual.read(&whole, have);
        for (at, size) in sizes.iter().enumerate() {
            if let ast::SizeExprKind::Name(name) = &size.kind
                && scope.sizes.get(name).is_none()
            {
                scope.sizes = scope.sizes.with(name, actual.size(&Size::var(record.sizes.get(at)?)));
            }
        }
        Some(actual.fill(&whole))
    }
}
