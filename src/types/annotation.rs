//! Written types and sizes: from the syntax tree to inference types.
//!
//! In: a type as a user wrote it, and the size names in scope. Out: a [`Ty`]. A size name is declared by
//! standing alone as a length in some parameter, or by a preceding parameter `(n: Index)`; a length that a
//! top-level parameter leaves out is a size named `<param>_n`, or `<param>_n0`, `<param>_n1`, which other parameters
//! may name too. Anywhere else a length that is left out is a hole.

use std::collections::VecDeque;
use std::rc::Rc;

use super::infer::{Infer, pattern_name};
use super::ty::Ty;
use crate::diagnostic::{Diagnostic, nearest};
use crate::elsewhere;
use crate::ir::{Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{Name, Pattern, PatternKind, SizeExpr, SizeExprKind, TypeExpr, TypeExprKind};
use crate::syntax::{BUILT_IN_TYPES, TYPES};

impl Infer<'_> {
    /// Puts the size names that parameters declare into scope; gives the atom of each parameter's value.
    pub(super) fn declare_sizes(&mut self, params: &[Pattern], top: bool) -> Vec<Var> {
        let mut own: Vec<Rc<str>> = Vec::new();
        let mut indices: Vec<Rc<str>> = Vec::new();
        let mut values = Vec::new();
        for (at, pattern) in params.iter().enumerate() {
            let name = pattern_name(pattern, at);
            let value = Var::fresh(&name, Type::INDEX);
            let annotations = annotations(pattern);
            for annotation in &annotations {
                if matches!(annotation.kind, TypeExprKind::Index(_)) && !own.contains(&name) {
                    self.sizes = self.sizes.with(&name, Size::var(&value));
                    own.push(name.clone());
                    indices.push(name.clone());
                } else {
                    for size in lone_sizes(annotation) {
                        self.unwritten.remove(&size);
                        self.declare_size(size, &mut own, top);
                    }
                }
            }
            if top {
                let left_out: usize = annotations.iter().map(|annotation| lengths_left_out(annotation)).sum();
                let mut names = own_names(&name, left_out).into_iter().map(|size| free_name(size, &indices));
                for annotation in annotations {
                    let mine: Vec<Rc<str>> = names.by_ref().take(lengths_left_out(annotation)).collect();
                    for size in &mine {
                        if !own.contains(size) {
                            self.unwritten.insert(size.clone());
                        }
                        self.unsized_names.insert(size.clone());
                        self.declare_size(size.clone(), &mut own, top);
                    }
                    self.left_out.insert(annotation.span, mine.iter().filter_map(|size| self.sizes.get(size).cloned()).collect());
                }
            }
            values.push(value);
        }
        values
    }

    /// A size name of these parameters; one that is there already is the same size.
    fn declare_size(&mut self, size: Rc<str>, own: &mut Vec<Rc<str>>, top: bool) {
        if !own.contains(&size) && (top || self.sizes.get(&size).is_none()) {
            let fresh = if top { Size::var(&Var::fresh(&size, Type::INDEX)) } else { self.holes.fresh_size() };
            self.sizes = self.sizes.with(&size, fresh);
            own.push(size);
        }
    }

    /// The type that an annotation says.
    pub(super) fn convert(&mut self, annotation: &TypeExpr) -> Ty {
        if let Some(known) = self.annotations.get(&annotation.span) {
            return known.clone();
        }
        let mut own = self.left_out.remove(&annotation.span).unwrap_or_default().into();
        let ty = self.written(annotation, &mut own);
        self.annotations.insert(annotation.span, ty.clone());
        ty
    }

    /// Names the lengths of a parameter's inferred type that nothing has decided; a name that parameters declare is
    /// that size, unless it is the value of one that comes `later`.
    pub(super) fn name_sizes(&mut self, param: &str, ty: &Ty, later: &[Var]) {
        let mut open: Vec<u32> = Vec::new();
        collect_open(self, &self.holes.resolve(ty), &mut open);
        // a record's lengths are beside those that the annotation leaves out
        let is_taken = |name: &Rc<str>| self.unsized_names.contains(name);
        let mut own = own_names(param, open.len());
        if own.iter().any(is_taken) {
            let free = (1..).map(|at| Rc::from(format!("{param}_n{at}"))).filter(|name| !is_taken(name));
            own = free.take(open.len()).collect();
        }
        for (id, name) in open.iter().zip(own) {
            let declared = self.sizes.get(&name).filter(|size| size.as_var().is_none_or(|var| !later.contains(var)));
            let size = declared.cloned().unwrap_or_else(|| Size::var(&Var::fresh(&name, Type::INDEX)));
            self.holes.solve_size(*id, size);
        }
    }

    /// `own` are the sizes for the lengths that are left out; beyond them such a length is a hole.
    fn written(&mut self, annotation: &TypeExpr, own: &mut VecDeque<Size>) -> Ty {
        match &annotation.kind {
            TypeExprKind::Double => Ty::Double,
            TypeExprKind::Bool => Ty::Bool,
            TypeExprKind::Index(bound) => Ty::Index(bound.as_ref().map(|bound| self.size(bound))),
            TypeExprKind::Any => self.fresh_type(),
            TypeExprKind::Array(element, size) => {
                let size = match size {
                    Some(size) => self.size(size),
                    None => own.pop_front().unwrap_or_else(|| self.holes.fresh_size()),
                };
                Ty::array(self.written(element, own), size)
            }
            TypeExprKind::Tuple(parts) => Ty::tuple(parts.iter().map(|part| self.written(part, own)).collect()),
            TypeExprKind::Named(name, sizes) => self.written_record(name, sizes, annotation.span),
            TypeExprKind::Fun(params, result) => {
                // a function parameter's own lengths may differ at each of its uses
                let mut none = VecDeque::new();
                let params = params.iter().map(|param| self.written(param, &mut none)).collect();
                Ty::fun(params, self.written(result, &mut none))
            }
        }
    }

    fn written_record(&mut self, name: &Name, sizes: &[SizeExpr], span: Span) -> Ty {
        match self.in_group(name) {
            Some(ty @ Ty::Rec(_)) => return ty,
            Some(ty) if sizes.is_empty() => return ty,
            Some(_) | None => {}
        }
        let Some(record) = self.record_in(&name.text, name.span, self.file) else {
            if let Some(problem) = self.not_declared_yet(name) {
                self.report(problem);
                return self.fresh_type();
            }
            let known: Vec<Rc<str>> = self.visible_records(span, self.file).map(|record| record.name.text.clone()).collect();
            let near = nearest(&name.text, BUILT_IN_TYPES.iter().copied().chain(known.iter().map(|name| &**name)));
            let help = match (elsewhere::type_name(&name.text), near) {
                (Some(sentence), _) => sentence.to_string(),
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => TYPES.to_string(),
            };
            self.report(Diagnostic::error("E0113", name.span, format!("unknown type `{}`", name.text)).help(help));
            return self.fresh_type();
        };
        if !sizes.is_empty() && sizes.len() != record.named {
            let message = format!(
                "expected {} size{} of `{}`, found {}",
                record.named,
                if record.named == 1 { "" } else { "s" },
                name.text,
                sizes.len()
            );
            let help = if record.is_sum() {
                format!(
                    "write `{}` alone: the lengths in a value of a sum type are its own, whatever names the declaration has for them",
                    name.text
                )
            } else if record.named == 0 {
                format!("`{}` has no size: write its name alone", name.text)
            } else {
                "give all of its sizes, or none".into()
            };
            self.report(Diagnostic::error("E0113", span, message).help(help));
            return self.fresh_type();
        }
        if let Some(of) = &record.recursive {
            return Ty::Rec(of.clone());
        }
        let mut written: Vec<Size> = sizes.iter().map(|size| self.size(size)).collect();
        written.extend((written.len()..record.sizes.len()).map(|_| self.holes.fresh_size()).collect::<Vec<_>>());
        Ty::Record(record.clone(), record.instance(&written).into())
    }

    /// What is said of a type that is declared further down.
    fn not_declared_yet(&self, name: &Name) -> Option<Diagnostic> {
        let mut types = self.modules.types.iter().map(|global| &global.decl);
        let decl = types.find(|decl| decl.name.text == name.text && decl.name.span.file == name.span.file)?;
        let diagnostic = Diagnostic::error("E0113", name.span, format!("the type `{}` is used before it is declared", name.text));
        Some(diagnostic.label(decl.name.span, "declared here").help("move the declaration up"))
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
        PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Int(_) | PatternKind::Bool(_) => Vec::new(),
        PatternKind::Case(_, data) => data.iter().flat_map(|data| annotations(data)).collect(),
        PatternKind::Tuple(parts) => parts.iter().flat_map(annotations).collect(),
        PatternKind::Record(fields) => fields.iter().flat_map(|(_, part)| annotations(part)).collect(),
        PatternKind::Typed(inner, annotation) => annotations(inner).into_iter().chain([annotation]).collect(),
    }
}

/// The size names that a top-level parameter declares: written alone as a length, or for a length that it leaves out.
pub(super) fn declared_names(param: &Pattern, name: &str) -> Vec<Rc<str>> {
    let annotations = annotations(param);
    let left_out = annotations.iter().map(|annotation| lengths_left_out(annotation)).sum();
    annotations.into_iter().flat_map(lone_sizes).chain(own_names(name, left_out)).collect()
}

/// The size names that a parameter writes.
pub(super) fn written_sizes(param: &Pattern) -> Vec<Rc<str>> {
    annotations(param).into_iter().flat_map(lone_sizes).collect()
}

/// The names of the lengths that a parameter leaves out.
fn own_names(param: &str, count: usize) -> Vec<Rc<str>> {
    if count == 1 { vec![format!("{param}_n").into()] } else { (0..count).map(|at| format!("{param}_n{at}").into()).collect() }
}

/// The name of a length that is left out, which is no Index that comes before.
fn free_name(name: Rc<str>, indices: &[Rc<str>]) -> Rc<str> {
    if !indices.contains(&name) {
        return name;
    }
    (2..).map(|at| Rc::from(format!("{name}_{at}"))).find(|name| !indices.contains(name)).unwrap_or(name)
}

/// How many lengths an annotation leaves out, function types aside.
fn lengths_left_out(annotation: &TypeExpr) -> usize {
    match &annotation.kind {
        TypeExprKind::Array(element, size) => usize::from(size.is_none()) + lengths_left_out(element),
        TypeExprKind::Tuple(parts) => parts.iter().map(lengths_left_out).sum(),
        TypeExprKind::Double | TypeExprKind::Bool | TypeExprKind::Any | TypeExprKind::Index(_) => 0,
        // those of a record are its own
        TypeExprKind::Named(..) | TypeExprKind::Fun(..) => 0,
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
        TypeExprKind::Named(_, sizes) => {
            let names = sizes.iter().filter_map(|size| match &size.kind {
                SizeExprKind::Name(name) => Some(name.clone()),
                SizeExprKind::Int(_) | SizeExprKind::Add(..) | SizeExprKind::Sub(..) | SizeExprKind::Mul(..) => None,
            });
            names.collect()
        }
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
        Ty::Tuple(parts) | Ty::Record(_, parts) => parts.iter().for_each(|part| collect_open(infer, part, open)),
        Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => {}
    }
}
