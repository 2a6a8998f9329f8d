//! One expression by itself, as `smoothc rewrite` takes it: its free names are parameters of inferred types.
//!
//! In: the tree of an expression. Out: a core program whose one entry has the free names as parameters, in
//! order of appearance, and the expression as its body: lets stay where they are written, and a type that
//! nothing decides is Double. A free name that is applied is a function of which nothing is known: its calls
//! name no function of the program. Sizes are the parameters' own.
//!
//!     let s = v[i] in s * s + g s   →   expression (v: Vector<v_n>) (i: Index) = let s = v[i] in s * s + g s

use std::collections::HashSet;
use std::rc::Rc;

use super::elaborate::{Elaborator, Result};
use super::infer::{Infer, infer};
use super::scope::{Arg, Bind, Callable, Scope};
use super::ty::Ty;
use super::{builtin, mentioned, modules, suggest};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, nearest};
use crate::ir::{Expr, Program, Term, Var};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{self, Decl, ExprKind, Name, Pattern, PatternKind};

/// The name of the entry that an expression becomes; no source name is like it.
pub const NAME: &str = "the expression";

/// An expression as a program.
#[derive(Debug)]
pub struct Free {
    pub program: Program,
    /// Functions of the program whose calls can be written as they stand.
    pub plain: HashSet<Rc<str>>,
    pub warnings: Diagnostics,
}

/// The core of an expression; `sources` gets the library beside it.
pub fn expression(sources: &mut SourceMap, tree: ast::Expr) -> std::result::Result<Free, Diagnostics> {
    let library = mentioned::names();
    let mut names = Names { library: &library, bound: Vec::new(), found: Vec::new() };
    names.expr(&tree);
    let found = names.found;
    let params = found.iter().map(|free| Pattern { kind: PatternKind::Var(free.name.clone()), span: free.span }).collect();
    let span = tree.span;
    let decl = Decl { name: Name { text: NAME.into(), span }, doc: None, params, result: None, body: tree, span, recursion: None };
    let (modules, mut diagnostics) = modules::with_library(sources, decl);
    let infer = infer(&modules);
    let mut elaborator = Elaborator::new(&infer, &modules);
    let index = modules.globals.len() - 1;
    elaborator.verbatim = Some(index);
    let mut program = None;
    if !infer.schemes[index].broken {
        let instance = opened(&infer, index);
        program = elaborator.free_entry(index, &instance).ok().and_then(|name| {
            let function = elaborator.program.functions.get_mut(&name)?;
            function.is_entry = true;
            Some(std::mem::take(&mut elaborator.program))
        });
    }
    diagnostics.extend(infer.diagnostics.iter().cloned());
    diagnostics.extend(std::mem::take(&mut elaborator.diagnostics));
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    match program {
        Some(program) if !failed => {
            diagnostics.extend(found.iter().filter(|free| free.applied).filter_map(|free| suspicious(free, &library)));
            Ok(Free { program, plain: std::mem::take(&mut elaborator.plain), warnings: diagnostics })
        }
        Some(_) | None => Err(diagnostics),
    }
}

/// A free function that is nearly one of the library.
fn suspicious(free: &FreeName, library: &[Rc<str>]) -> Option<Diagnostic> {
    let known = library.iter().map(|name| &**name).chain(builtin::names()).filter(|known| suggest::may_mean(&free.name, known));
    let near = nearest(&free.name, known).filter(|_| free.name.len() > 4)?;
    let message = format!("nothing is known of the function `{}`", free.name);
    Some(Diagnostic::warning("W0208", free.span, message).help(format!("did you mean `{near}`?")))
}

/// What the holes of the parameters are: Double where nothing decides.
fn opened(infer: &Infer, index: usize) -> super::scope::Instance {
    let params = &infer.schemes[index].params;
    Rc::new(params.iter().flat_map(|param| infer.holes.open(param)).map(|id| (id, Ty::Double)).collect())
}

/// A name that the expression does not bind.
struct FreeName {
    name: Rc<str>,
    span: Span,
    /// It stands where a function stands.
    applied: bool,
}

/// The free names of a tree, in order of appearance.
struct Names<'a> {
    library: &'a [Rc<str>],
    bound: Vec<Rc<str>>,
    found: Vec<FreeName>,
}

impl Names<'_> {
    fn name(&mut self, name: &Rc<str>, span: Span, applied: bool) {
        if self.bound.contains(name) {
            return;
        }
        match self.found.iter_mut().find(|free| free.name == *name) {
            Some(free) => free.applied |= applied,
            None if self.library.contains(name) || builtin::lookup(name).is_some() || builtin::constant(name).is_some() => {}
            None => self.found.push(FreeName { name: name.clone(), span, applied }),
        }
    }

    fn within(&mut self, patterns: &[Pattern], body: &ast::Expr) {
        let mark = self.bound.len();
        patterns.iter().for_each(|pattern| self.pattern(pattern));
        self.expr(body);
        self.bound.truncate(mark);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Var(name) => self.bound.push(name.clone()),
            PatternKind::Wildcard => {}
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.pattern(part)),
            PatternKind::Record(fields) => fields.iter().for_each(|(_, part)| self.pattern(part)),
            PatternKind::Typed(inner, _) => self.pattern(inner),
            PatternKind::Case(_, data) => data.iter().for_each(|data| self.pattern(data)),
            PatternKind::Int(_) | PatternKind::Bool(_) => {}
        }
    }

    fn expr(&mut self, expr: &ast::Expr) {
        match &expr.kind {
            ExprKind::Var(name) => self.name(name, expr.span, false),
            ExprKind::Int(..) | ExprKind::Double(_) | ExprKind::Bool(_) | ExprKind::Operator(_) => {}
            ExprKind::Fun(params, body) => self.within(params, body),
            ExprKind::Let(pattern, value, body) => {
                self.expr(value);
                self.within(std::slice::from_ref(pattern), body);
            }
            ExprKind::LetFun(functions, body) => {
                let mark = self.bound.len();
                functions.iter().filter(|fun| fun.recursion.is_none()).for_each(|fun| self.within(&fun.params, &fun.value));
                self.bound.extend(functions.iter().map(|fun| fun.name.text.clone()));
                functions.iter().filter(|fun| fun.recursion.is_some()).for_each(|fun| self.within(&fun.params, &fun.value));
                self.expr(body);
                self.bound.truncate(mark);
            }
            ExprKind::If(c, a, b) => [c, a, b].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Slice(array, low, high) => {
                self.expr(array);
                low.iter().chain(high).for_each(|end| self.expr(end));
            }
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::App(head, args) => {
                if let ExprKind::Var(name) = &head.kind {
                    self.name(name, head.span, true)
                } else {
                    self.expr(head)
                }
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Field(base, _) => self.expr(base),
            ExprKind::Record(base, fields) => {
                base.iter().for_each(|base| self.expr(base));
                fields.iter().for_each(|(_, value)| self.expr(value));
            }
            ExprKind::Match(value, rows) => {
                self.expr(value);
                rows.iter().for_each(|row| self.within(std::slice::from_ref(&row.pattern), &row.body));
            }
            ExprKind::Deriv(subject, point) => {
                self.expr(subject);
                self.name(&point.text, point.span, false);
            }
        }
    }
}

/// For `let (_, x, _) = e in x`, the place of x: so the components of long tuples are written.
fn component(pattern: &Pattern, body: &ast::Expr) -> Option<usize> {
    let (PatternKind::Tuple(parts), ExprKind::Var(name)) = (&pattern.kind, &body.kind) else { return None };
    parts.iter().position(|part| matches!(&part.kind, PatternKind::Var(other) if other == name))
}

impl<'a> Elaborator<'a> {
    /// The function that an expression with free names is.
    fn free_entry(&mut self, index: usize, instance: &super::scope::Instance) -> Result<Rc<str>> {
        let scheme = self.infer.schemes[index].clone();
        let mut scope = self.declaration_scope(index, instance);
        let (patterns, body) = self.declaration(index);
        let mut params = Vec::new();
        for (at, pattern) in patterns.iter().enumerate() {
            let name = super::infer::pattern_name(pattern, at);
            let (Some(ty), Some(value)) = (scheme.params.get(at), scheme.values.get(at)) else { continue };
            let bind = match self.concrete(ty, &scope) {
                Ty::Fun(_, result) => Bind::Function(Callable::Free { name: name.clone(), result: (*result).clone() }),
                ty @ (Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Array(..) | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) | Ty::Hole(_)) => {
                    let Some(ty) = ty.to_core() else {
                        let problem = Diagnostic::error("E0307", pattern.span, format!("the type of `{name}` is not known"));
                        return self.fail(problem.help("a free name stands for a number, a Bool, an array of these or a function"));
                    };
                    // the sizes of others may mention it
                    let var = value.retyped(ty);
                    params.push(var.clone());
                    Bind::Value(Expr::var(&var))
                }
            };
            scope.values = scope.values.with(&name, bind);
        }
        let special = self.make((NAME, true), params, None, (None, body.span), &mut |this, _| this.expr(body, &scope))?;
        Ok(special.name.clone())
    }

    /// A call of a function of which nothing but the type is known.
    pub(super) fn apply_free(&mut self, name: &Rc<str>, result: &Ty, args: Vec<Arg<'a>>, span: Span) -> Result<Expr> {
        let mut values = Vec::new();
        for arg in args {
            match arg {
                Arg::Value(value) => values.push(value),
                Arg::Function(_) => return self.function_as_value(span),
            }
        }
        match result.to_core() {
            Some(ty) => Ok(Expr::with_type(Term::Call(name.clone(), values), ty, span)),
            None => {
                let problem = Diagnostic::error("E0307", span, format!("the type of what `{name}` gives is not known"));
                self.fail(problem.help("use its result where a number or an array is wanted"))
            }
        }
    }

    /// A `let` as it is written: the variable stays, and nothing leaves the body.
    pub(super) fn written_let(
        &mut self,
        pattern: &'a Pattern,
        value: &'a ast::Expr,
        body: &'a ast::Expr,
        scope: &Scope<'a>,
        span: Span,
    ) -> Result<Expr> {
        let value = self.scoped(|this| this.expr(value, scope))?;
        let (value, pattern, annotated) = match &pattern.kind {
            PatternKind::Typed(inner, annotation) => {
                let (value, scope) = self.annotate(value, annotation, scope, pattern.span)?;
                (value, &**inner, scope)
            }
            PatternKind::Var(_)
            | PatternKind::Wildcard
            | PatternKind::Tuple(_)
            | PatternKind::Record(_)
            | PatternKind::Case(..)
            | PatternKind::Int(_)
            | PatternKind::Bool(_) => (value, pattern, scope.clone()),
        };
        if let Some(at) = component(pattern, body) {
            return Ok(Expr::proj(value, at).at(span));
        }
        let name: &str = match &pattern.kind {
            PatternKind::Var(name) => name,
            PatternKind::Wildcard => "_",
            PatternKind::Tuple(_)
            | PatternKind::Record(_)
            | PatternKind::Typed(..)
            | PatternKind::Case(..)
            | PatternKind::Int(_)
            | PatternKind::Bool(_) => "t",
        };
        let var = Var::fresh(name, value.ty().map_sizes(&mut |size| self.normal(size)));
        self.knows(&var, &value);
        let body = self.scoped(|this| {
            let scope = this.parts(pattern, Expr::var(&var), &annotated)?;
            this.expr(body, &scope)
        })?;
        Ok(Expr::let_(var, value, body).at(span))
    }

    /// The names of a pattern bound to components of a variable.
    fn parts(&mut self, pattern: &'a Pattern, value: Expr, scope: &Scope<'a>) -> Result<Scope<'a>> {
        match &pattern.kind {
            PatternKind::Var(name) => Ok(Scope { values: scope.values.with(name, Bind::Value(value)), ..scope.clone() }),
            PatternKind::Wildcard => Ok(scope.clone()),
            PatternKind::Tuple(parts) => {
                let mut scope = scope.clone();
                for (at, part) in parts.iter().enumerate() {
                    scope = self.parts(part, Expr::proj(value.clone(), at), &scope)?;
                }
                Ok(scope)
            }
            PatternKind::Record(_) | PatternKind::Typed(..) | PatternKind::Case(..) | PatternKind::Int(_) | PatternKind::Bool(_) => {
                self.bind(pattern, value, scope)
            }
        }
    }
}
