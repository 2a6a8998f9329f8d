//! The walk over declarations: scopes of values and sizes.
//!
//! In: the declarations of all files. Out: their [`Names`], a definition for each name that is bound and an occurrence for each that is
//! written. A value hides a declaration of its name, which hides a built-in, which hides a size, as in the types room.

use std::collections::HashMap;
use std::rc::Rc;

use super::names::{Names, Table, What};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{
    Decl, Expr, ExprKind, LocalFun, Name, Pattern, PatternKind, Recursion, SizeExpr, SizeExprKind, TypeExpr, TypeExprKind,
};
use crate::types::modules::{Modules, TypeGlobal};
use crate::types::{is_built_in_constant, is_built_in_function};

/// Resolves the names of all files but the library's.
pub fn resolve(sources: &SourceMap, modules: &Modules, records: &HashMap<Span, Span>) -> Names {
    let mut table = Table::new(sources, modules, records);
    for (at, global) in modules.globals.iter().enumerate() {
        let what = if global.file == 0 { What::Library(at) } else { What::Global(at) };
        table.define(&global.decl.name.text, what, Some(global.decl.name.span));
    }
    for (at, declared) in modules.types.iter().enumerate() {
        let number = table.define(&declared.decl.name.text, What::Type(at), Some(declared.decl.name.span));
        let members = declared.decl.body.members().into_iter();
        let members = members.map(|(name, _)| table.define(&name.text, What::Field, Some(name.span))).collect();
        table.types.push((number, members));
    }
    let mut walk = Walk::new(table);
    for (at, declared) in modules.types.iter().enumerate() {
        walk.type_declaration(at, declared);
    }
    for (at, global) in modules.globals.iter().enumerate().filter(|(_, global)| global.file != 0) {
        walk.declaration(at, &global.decl);
    }
    let mut names = walk.table.names;
    names.occurrences.sort_by_key(|found| (found.span.file, found.span.start, found.span.end));
    names.occurrences.dedup_by_key(|found| found.span);
    names
}

/// Names in scope: of each the definitions, the innermost last.
#[derive(Default)]
struct Scope {
    known: HashMap<Rc<str>, Vec<usize>>,
    order: Vec<Rc<str>>,
}

impl Scope {
    fn get(&self, name: &str) -> Option<usize> {
        self.known.get(name)?.last().copied()
    }

    fn bind(&mut self, name: &Rc<str>, definition: usize) {
        self.known.entry(name.clone()).or_default().push(definition);
        self.order.push(name.clone());
    }

    /// Ends the scopes since there were so many names.
    fn leave(&mut self, count: usize) {
        for name in self.order.drain(count.min(self.order.len())..) {
            if let Some(known) = self.known.get_mut(&name) {
                known.pop();
            }
        }
    }
}

/// The walk, and where it is.
pub struct Walk<'a> {
    pub table: Table<'a>,
    values: Scope,
    sizes: Scope,
    /// The number of the declaration.
    at: usize,
}

impl<'a> Walk<'a> {
    pub fn new(table: Table<'a>) -> Walk<'a> {
        Walk { table, values: Scope::default(), sizes: Scope::default(), at: 0 }
    }

    /// The type declaration of a number.
    pub fn type_declaration(&mut self, at: usize, declared: &TypeGlobal) {
        let Some((number, fields)) = self.table.types.get(at).cloned() else { return };
        self.table.occurs(&declared.decl.name.text, declared.decl.name.span, number);
        let mark = self.sizes.order.len();
        for size in &declared.decl.sizes {
            self.size_definition(&size.text, size.span);
        }
        for ((member, ty), number) in declared.decl.body.members().into_iter().zip(fields) {
            self.table.occurs(&member.text, member.span, number);
            ty.into_iter().for_each(|ty| self.ty(ty));
        }
        self.sizes.leave(mark);
    }

    /// The declaration of a number, which is the number of its definition.
    pub fn declaration(&mut self, at: usize, decl: &Decl) {
        self.at = at;
        self.table.occurs(&decl.name.text, decl.name.span, at);
        self.function(&decl.params, (decl.result.as_ref(), decl.recursion.as_ref()), &decl.body);
    }

    fn function(&mut self, params: &[Pattern], (result, recursion): (Option<&TypeExpr>, Option<&Recursion>), body: &Expr) {
        let (values, sizes) = (self.values.order.len(), self.sizes.order.len());
        for pattern in params {
            self.declared_sizes(pattern);
            self.bind(pattern, body.span);
        }
        params.iter().for_each(|pattern| self.annotations(pattern));
        result.into_iter().for_each(|result| self.ty(result));
        recursion.and_then(|recursion| recursion.decreases.as_ref()).into_iter().for_each(|measure| self.name(&measure.text, measure.span));
        self.expr(body);
        self.values.leave(values);
        self.sizes.leave(sizes);
    }

    fn local(&mut self, name: &Rc<str>, span: Span, what: What, seen: Option<Span>) -> usize {
        let place = self.table.exact(name, span);
        let number = self.table.define(name, what, place);
        if let Some(definition) = self.table.names.definitions.get_mut(number) {
            definition.seen = seen;
        }
        self.table.occurs(name, span, number);
        number
    }

    fn size_definition(&mut self, name: &Rc<str>, span: Span) {
        let number = self.local(name, span, What::Size, None);
        self.sizes.bind(name, number);
    }

    /// Binds the names of a pattern, which are seen in `seen`.
    fn bind(&mut self, pattern: &Pattern, seen: Span) {
        match &pattern.kind {
            PatternKind::Var(name) => {
                let number = self.local(name, pattern.span, What::Local, Some(seen));
                self.values.bind(name, number);
            }
            PatternKind::Wildcard | PatternKind::Int(_) | PatternKind::Bool(_) => {}
            PatternKind::Case(name, data) => {
                self.table.case(&name.text, name.span);
                data.iter().for_each(|data| self.bind(data, seen));
            }
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.bind(part, seen)),
            PatternKind::Record(fields) => {
                for (name, part) in fields {
                    self.table.field(name, pattern.span);
                    self.bind(part, seen);
                }
            }
            PatternKind::Typed(inner, _) => self.bind(inner, seen),
        }
    }

    /// The sizes that stand alone in a parameter's types, and are neither a value nor known.
    fn declared_sizes(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Int(_) | PatternKind::Bool(_) => {}
            PatternKind::Case(_, data) => data.iter().for_each(|data| self.declared_sizes(data)),
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.declared_sizes(part)),
            PatternKind::Record(fields) => fields.iter().for_each(|(_, part)| self.declared_sizes(part)),
            PatternKind::Typed(inner, annotation) => {
                self.lone_sizes(annotation);
                self.declared_sizes(inner);
            }
        }
    }

    fn lone_sizes(&mut self, ty: &TypeExpr) {
        let lone = |this: &mut Self, size: &SizeExpr| {
            if let SizeExprKind::Name(name) = &size.kind
                && this.values.get(name).is_none()
                && this.sizes.get(name).is_none()
            {
                this.size_definition(name, size.span);
            }
        };
        match &ty.kind {
            TypeExprKind::Double | TypeExprKind::Bool | TypeExprKind::Any | TypeExprKind::Index(_) => {}
            TypeExprKind::Array(element, size) => {
                size.iter().for_each(|size| lone(self, size));
                self.lone_sizes(element);
            }
            TypeExprKind::Tuple(parts) => parts.iter().for_each(|part| self.lone_sizes(part)),
            TypeExprKind::Named(_, sizes) => sizes.iter().for_each(|size| lone(self, size)),
            TypeExprKind::Fun(params, result) => params.iter().chain([&**result]).for_each(|part| self.lone_sizes(part)),
        }
    }

    /// The names in the types that a pattern is annotated with.
    fn annotations(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Int(_) | PatternKind::Bool(_) => {}
            PatternKind::Case(_, data) => data.iter().for_each(|data| self.annotations(data)),
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.annotations(part)),
            PatternKind::Record(fields) => fields.iter().for_each(|(_, part)| self.annotations(part)),
            PatternKind::Typed(inner, annotation) => {
                self.ty(annotation);
                self.annotations(inner);
            }
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeExprKind::Double | TypeExprKind::Bool | TypeExprKind::Any => {}
            TypeExprKind::Index(size) => size.iter().for_each(|size| self.size(size)),
            TypeExprKind::Array(element, size) => {
                size.iter().for_each(|size| self.size(size));
                self.ty(element);
            }
            TypeExprKind::Tuple(parts) => parts.iter().for_each(|part| self.ty(part)),
            TypeExprKind::Named(name, sizes) => {
                self.type_name(name);
                sizes.iter().for_each(|size| self.size(size));
            }
            TypeExprKind::Fun(params, result) => params.iter().chain([&**result]).for_each(|part| self.ty(part)),
        }
    }

    /// A record's name: that of the same file, or else of any that is opened.
    fn type_name(&mut self, name: &Name) {
        let types = &self.table.modules.types;
        let named = |at: &usize| types.get(*at).is_some_and(|declared| declared.decl.name.text == name.text);
        let here = |at: &usize| types.get(*at).is_some_and(|declared| declared.decl.name.span.file == name.span.file);
        let all: Vec<usize> = (0..types.len()).filter(named).collect();
        let found = all.iter().copied().find(here).or(all.last().copied());
        if let Some((number, _)) = found.and_then(|at| self.table.types.get(at)).cloned() {
            self.table.occurs(&name.text, name.span, number);
        }
    }

    fn size(&mut self, size: &SizeExpr) {
        match &size.kind {
            SizeExprKind::Int(_) => {}
            SizeExprKind::Name(name) => {
                if let Some(number) = self.values.get(name).or_else(|| self.sizes.get(name)) {
                    self.table.occurs(name, size.span, number);
                }
            }
            SizeExprKind::Add(a, b) | SizeExprKind::Sub(a, b) | SizeExprKind::Mul(a, b) => {
                self.size(a);
                self.size(b);
            }
        }
    }

    fn name(&mut self, name: &Rc<str>, span: Span) {
        let local = self.values.get(name).or_else(|| self.table.modules.lookup(name, self.at));
        let number = match local {
            Some(number) => number,
            None if is_built_in_function(name) => self.table.built_in(name),
            None => match self.sizes.get(name) {
                Some(number) => number,
                None if is_built_in_constant(name) => self.table.built_in(name),
                None => return self.table.case(name, span),
            },
        };
        self.table.occurs(name, span, number);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Var(name) => self.name(name, expr.span),
            ExprKind::Int(..) | ExprKind::Double(_) | ExprKind::Bool(_) | ExprKind::Operator(_) => {}
            ExprKind::Fun(params, body) => self.function(params, (None, None), body),
            ExprKind::Let(pattern, value, body) => {
                self.expr(value);
                self.annotations(pattern);
                let mark = self.values.order.len();
                self.bind(pattern, body.span);
                self.expr(body);
                self.values.leave(mark);
            }
            ExprKind::LetFun(functions, body) => {
                let mark = self.values.order.len();
                let function = |this: &mut Self, fun: &LocalFun| {
                    this.function(&fun.params, (fun.result.as_ref(), fun.recursion.as_ref()), &fun.value);
                };
                functions.iter().filter(|fun| fun.recursion.is_none()).for_each(|fun| function(self, fun));
                for fun in functions {
                    let number = self.local(&fun.name.text, fun.name.span, What::Local, Some(body.span));
                    self.values.bind(&fun.name.text, number);
                }
                functions.iter().filter(|fun| fun.recursion.is_some()).for_each(|fun| function(self, fun));
                self.expr(body);
                self.values.leave(mark);
            }
            ExprKind::If(condition, then, otherwise) => [condition, then, otherwise].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Match(value, rows) => {
                self.expr(value);
                for row in rows {
                    self.annotations(&row.pattern);
                    let mark = self.values.order.len();
                    self.bind(&row.pattern, row.body.span);
                    self.expr(&row.body);
                    self.values.leave(mark);
                }
            }
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::App(head, args) => {
                self.expr(head);
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Slice(array, from, to) => {
                self.expr(array);
                from.iter().chain(to).for_each(|end| self.expr(end));
            }
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Field(base, name) => {
                self.expr(base);
                self.table.field(name, expr.span);
            }
            ExprKind::Record(base, fields) => {
                base.iter().for_each(|base| self.expr(base));
                for (name, value) in fields {
                    self.table.field(name, expr.span);
                    self.expr(value);
                }
            }
            ExprKind::Deriv(subject, name) => {
                self.expr(subject);
                self.name(&name.text, name.span);
            }
        }
    }
}
