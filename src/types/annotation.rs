//! Written types and sizes: from the syntax tree to inference types.
//!
//! In: a type as a user wrote it, and the size names in scope. Out: a [`Ty`]. A size name is declared by
//! standing alone as a length in some parameter, or by a preceding parameter `(n: Index)`; a length that a
//! top-level parameter leaves out is a size of its own, named `<param>_n`, or `<param>_n0`, `<param>_n1`.
//! Anywhere else a length that is left out is a hole.

use std::rc::Rc;

use super::infer::{Infer, pattern_name};
use super::ty::Ty;
use crate::diagnostic::Diagnostic;
use crate::ir::{Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{Pattern, PatternKind, SizeExpr, SizeExprKind, TypeExpr, TypeExprKind};

impl Infer<'_> {
    /// Puts the size names that parameters declare into scope; gives the atom of each parameter's value.
    pub(super) fn declare_sizes(&mut self, params: &[Pattern], top: bool) -> Vec<Var> {
        let mut own: Vec<Rc<str>> = Vec::new();
        let mut values = Vec::new();
        for (at, pattern) in params.iter().enumerate() {
            let name = pattern_name(pattern, at);
            let value = Var::fresh(&name, Type::INDEX);
            for annotation in annotations(pattern) {
                match &annotation.kind {
                    TypeExprKind::Index(_) if !own.contains(&name) => {
                        self.sizes = self.sizes.with(&name, Size::var(&value));
                        own.push(name.clone());
                    }
                    _ => {
                        for size in lone_sizes(annotation) {
                            if own.contains(&size) || (!top && self.sizes.get(&size).is_some()) {
                                continue;
                            }
                            let fresh = if top { Size::var(&Var::fresh(&size, Type::INDEX)) } else { self.holes.fresh_size() };
                            self.sizes = self.sizes.with(&size, fresh);
                            own.push(size);
                        }
                    }
                }
            }
            values.push(value);
        }
        values
    }

    /// The type that an annotation says; `own` is the top-level parameter it stands at.
    pub(super) fn convert(&mut self, annotation: &TypeExpr, own: Option<&str>) -> Ty {
        if let Some(known) = self.annotations.get(&annotation.span) {
            return known.clone();
        }
        let mut own_sizes = Vec::new();
        let ty = self.written(annotation, &mut own_sizes);
        if let Some(own) = own {
            for (at, hole) in own_sizes.iter().enumerate() {
                let name = if own_sizes.len() == 1 { format!("{own}_n") } else { format!("{own}_n{at}") };
                if let Some(id) = self.holes.open_size(hole) {
                    self.holes.solve_size(id, Size::var(&Var::fresh(&name, Type::INDEX)));
                }
            }
        }
        self.annotations.insert(annotation.span, ty.clone());
        ty
    }

    /// Names the lengths of a parameter's inferred type that nothing has decided.
    pub(super) fn name_sizes(&mut self, param: &str, ty: &Ty) {
        let mut open: Vec<u32> = Vec::new();
        collect_open(self, &self.holes.resolve(ty), &mut open);
        for (at, id) in open.iter().enumerate() {
            let name = if open.len() == 1 { format!("{param}_n") } else { format!("{param}_n{at}") };
            self.holes.solve_size(*id, Size::var(&Var::fresh(&name, Type::INDEX)));
        }
    }

    fn written(&mut self, annotation: &TypeExpr, own_sizes: &mut Vec<Size>) -> Ty {
        match &annotation.kind {
            TypeExprKind::Double => Ty::Double,
            TypeExprKind::Bool => Ty::Bool,
            TypeExprKind::Index(bound) => Ty::Index(bound.as_ref().map(|bound| self.size(bound))),
            TypeExprKind::Any => self.fresh_type(),
            TypeExprKind::Array(element, size) => {
                let size = match size {
                    Some(size) => self.size(size),
                    None => {
                        let hole = self.holes.fresh_size();
                        own_sizes.push(hole.clone());
                        hole
                    }
                };
                Ty::array(self.written(element, own_sizes), size)
            }
            TypeExprKind::Tuple(parts) => Ty::tuple(parts.iter().map(|part| self.written(part, own_sizes)).collect()),
            TypeExprKind::Fun(params, result) => {
                // a function parameter's own lengths may differ at each of its uses
                let mut ignored = Vec::new();
                let params = params.iter().map(|param| self.written(param, &mut ignored)).collect();
                Ty::fun(params, self.written(result, &mut ignored))
            }
        }
    }

    fn size(&mut self, size: &SizeExpr) -> Size {
        let value = self.size_value(size);
        if value.as_constant().is_some_and(|value| value < 0) {
            self.report(Diagnostic::error("E0404", size.span, "a size cannot be negative").help("sizes count elements: 0 or more"));
        }
        value
    }

    fn size_value(&mut self, size: &SizeExpr) -> Size {
        match &size.kind {
            SizeExprKind::Int(value) => Size::constant(*value),
            SizeExprKind::Name(name) => match self.sizes.get(name) {
                Some(size) => size.clone(),
                None => {
                    self.unknown_size(name, size.span);
                    self.holes.fresh_size()
                }
            },
            SizeExprKind::Add(a, b) => self.size_value(a).add(&self.size_value(b)),
            SizeExprKind::Sub(a, b) => self.size_value(a).sub(&self.size_value(b)),
            SizeExprKind::Mul(a, b) => self.size_value(a).mul(&self.size_value(b)),
        }
    }

    fn unknown_size(&mut self, name: &str, span: Span) {
        self.report(Diagnostic::error("E0403", span, format!("unknown size `{name}`")).help(format!(
            "a size name stands alone in some parameter, as in `Vector<{name}>`, or is a parameter `({name}: Index)` before"
        )));
    }
}

/// The outermost annotations of a pattern.
fn annotations(pattern: &Pattern) -> Vec<&TypeExpr> {
    match &pattern.kind {
        PatternKind::Var(_) | PatternKind::Wildcard => Vec::new(),
        PatternKind::Tuple(parts) => parts.iter().flat_map(annotations).collect(),
        PatternKind::Typed(inner, annotation) => annotations(inner).into_iter().chain([annotation]).collect(),
    }
}

/// The names that stand alone as a length.
fn lone_sizes(annotation: &TypeExpr) -> Vec<Rc<str>> {
    match &annotation.kind {
        TypeExprKind::Double | TypeExprKind::Bool | TypeExprKind::Any | TypeExprKind::Index(_) => Vec::new(),
        TypeExprKind::Array(element, size) => {
            let own = size.as_ref().and_then(|size| match &size.kind {
                SizeExprKind::Name(name) => Some(name.clone()),
                SizeExprKind::Int(_) | SizeExprKind::Add(..) | SizeExprKind::Sub(..) | SizeExprKind::Mul(..) => None,
            });
            own.into_iter().chain(lone_sizes(element)).collect()
        }
        TypeExprKind::Tuple(parts) => parts.iter().flat_map(lone_sizes).collect(),
        TypeExprKind::Fun(..) => Vec::new(),
    }
}

fn collect_open(infer: &Infer, ty: &Ty, open: &mut Vec<u32>) {
    match ty {
        Ty::Array(element, size) => {
            if let Some(id) = infer.holes.open_size(size)
                && !open.contains(&id)
            {
                open.push(id);
            }
            collect_open(infer, element, open);
        }
        Ty::Tuple(parts) => parts.iter().for_each(|part| collect_open(infer, part, open)),
        Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Fun(..) | Ty::Hole(_) => {}
    }
}
