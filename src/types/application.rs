//! Application: what is a function, at which types, and what applying it gives.
//!
//! In: a head and its arguments. Out: core: `build` and `ifold` with their function expanded, a primitive, a
//! differentiation form, a call of a specialised function, or the body of a `fun` in place.

use std::rc::Rc;

use super::builtin::{self, Builtin};
use super::elaborate::{Elaborator, INLINE_DEPTH, Result, type_mentions};
use super::infer::pattern_name;
use super::scope::{Arg, Bind, Callable, Closure, Instance, Scope, hole_name};
use super::ty::{Class, Ty};
use crate::diagnostic::Diagnostic;
use crate::ir::size_term::has_most;
use crate::ir::{Change, Expr, Name, Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, Pattern, PatternKind, TypeExpr};

impl<'a> Elaborator<'a> {
    /// What an expression is as a function, if it is one.
    pub(super) fn callable(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> Option<Callable<'a>> {
        match &expr.kind {
            ExprKind::Var(name) => match scope.values.get(name) {
                Some(Bind::Value(_)) => None,
                Some(Bind::Function(Callable::Closure(closure))) => Some(Callable::Closure(self.at_use(closure, expr.span, scope))),
                Some(Bind::Function(function)) => Some(function.clone()),
                None => match (self.case_at(expr.span), self.modules.lookup(name, scope.at)) {
                    (Some((sum, case)), _) => (!self.is_plain_case(expr.span)).then_some(Callable::Case { sum, case }),
                    (None, Some(index)) => Some(Callable::Global { index, instance: self.instance(expr.span, scope) }),
                    (None, None) => builtin::lookup(name).map(Callable::Builtin),
                },
            },
            ExprKind::Operator(op) => Some(Callable::Builtin(Builtin::Operator(*op))),
            ExprKind::Fun(params, body) => match passed_on(params, body, scope) {
                Some(function) => self.callable(function, scope),
                None => Some(Callable::Closure(Rc::new(Closure {
                    id: crate::ir::fresh_id(),
                    name: None,
                    params,
                    result: None,
                    body,
                    scope: scope.clone(),
                    instance: Instance::default(),
                    recursion: None,
                }))),
            },
            _ => None,
        }
    }

    pub(super) fn is_constant(&self, callable: &Callable) -> bool {
        match callable {
            Callable::Global { index, .. } => self.infer.schemes[*index].params.is_empty(),
            Callable::Builtin(_) | Callable::Closure(_) | Callable::Case { .. } | Callable::Free { .. } => false,
        }
    }

    pub(super) fn is_function(&mut self, expr: &'a ast::Expr, scope: &Scope<'a>) -> bool {
        self.callable(expr, scope).is_some_and(|callable| !self.is_constant(&callable))
    }

    /// A function bound by `let`: a `fun` gets the name.
    pub(super) fn named_function(&mut self, name: &Rc<str>, value: &'a ast::Expr, scope: &Scope<'a>, span: Span) -> Result<Callable<'a>> {
        match self.callable(value, scope) {
            Some(Callable::Closure(closure)) if closure.name.is_none() => Ok(Callable::Closure(Rc::new(Closure {
                id: closure.id,
                name: Some(name.clone()),
                params: closure.params,
                result: None,
                body: closure.body,
                scope: closure.scope.clone(),
                instance: closure.instance.clone(),
                recursion: None,
            }))),
            Some(callable) => Ok(callable),
            None => self.function_as_value(span),
        }
    }

    /// A local function with the holes of this use filled in.
    pub(super) fn at_use(&self, closure: &Rc<Closure<'a>>, span: Span, scope: &Scope<'a>) -> Rc<Closure<'a>> {
        let instance = self.instance(span, scope);
        if instance.is_empty() {
            return closure.clone();
        }
        let types = instance.iter().fold(closure.scope.types.clone(), |types, (id, ty)| types.with(&hole_name(*id), ty.clone()));
        Rc::new(Closure {
            id: closure.id,
            name: closure.name.clone(),
            params: closure.params,
            result: closure.result,
            body: closure.body,
            scope: Scope { types, ..closure.scope.clone() },
            instance,
            recursion: closure.recursion.clone(),
        })
    }

    /// What the holes of a polymorphic name are at this use.
    pub(super) fn instance(&self, span: Span, scope: &Scope<'a>) -> Instance {
        match self.infer.notes.uses.get(&span) {
            Some(uses) => Rc::new(uses.iter().map(|(id, ty)| (*id, self.concrete(ty, scope))).collect()),
            None => Rc::new(Vec::new()),
        }
    }

    /// A type with the holes of the scope filled in; numbers that nothing decides are Double.
    pub(super) fn concrete(&self, ty: &Ty, scope: &Scope<'a>) -> Ty {
        let holes = &self.infer.holes;
        holes.resolve(ty).map(&mut Size::clone, &mut |id| match scope.types.get(&hole_name(id)) {
            Some(known) => known.clone(),
            None if holes.class(id) == Class::Any => Ty::Hole(id),
            None => Ty::Double,
        })
    }

    /// Applies a function to arguments.
    pub fn apply(&mut self, callable: &Callable<'a>, args: Vec<Arg<'a>>, span: Span) -> Result<Expr> {
        match callable {
            Callable::Builtin(builtin) => self.apply_builtin(*builtin, args, span),
            Callable::Global { index, instance } => self.apply_global(*index, instance, args, span),
            Callable::Closure(closure) if closure.name.is_none() && self.inlining < INLINE_DEPTH => {
                self.inlining += 1;
                let result = self.expand(closure, args, closure.scope.clone());
                self.inlining -= 1;
                result
            }
            Callable::Closure(closure) => self.apply_closure(closure, args, span),
            Callable::Case { sum, case } => match args.into_iter().next() {
                Some(Arg::Value(data)) => self.case_value(sum, *case, Some(data), span),
                Some(Arg::Function(_)) | None => self.function_as_value(span),
            },
            Callable::Free { name, result } => self.apply_free(name, result, args, span),
        }
    }

    /// The body of a closure with its parameters bound to arguments, in place.
    pub(super) fn expand(&mut self, closure: &Closure<'a>, args: Vec<Arg<'a>>, scope: Scope<'a>) -> Result<Expr> {
        let scope = self.bind_arguments(closure.params, args, scope)?;
        let value = self.expr(closure.body, &scope)?;
        self.declared_result(value, closure.result, &scope, closure.body.span)
    }

    pub(super) fn bind_arguments(&mut self, params: &'a [Pattern], args: Vec<Arg<'a>>, mut scope: Scope<'a>) -> Result<Scope<'a>> {
        for (pattern, arg) in params.iter().zip(args) {
            scope = match arg {
                Arg::Value(value) => self.bind(pattern, value, &scope)?,
                Arg::Function(function) => {
                    let name = pattern_name(pattern, 0);
                    Scope { values: scope.values.with(&name, Bind::Function(function)), ..scope }
                }
            };
        }
        Ok(scope)
    }

    pub(super) fn declared_result(&mut self, value: Expr, declared: Option<&'a TypeExpr>, scope: &Scope<'a>, span: Span) -> Result<Expr> {
        match declared {
            Some(declared) => Ok(self.annotate(value, declared, scope, span)?.0),
            None => Ok(value),
        }
    }

    pub(super) fn apply_builtin(&mut self, builtin: Builtin, args: Vec<Arg<'a>>, span: Span) -> Result<Expr> {
        let mut args = args.into_iter();
        let mut next = || args.next();
        match builtin {
            Builtin::Prim(_) | Builtin::Operator(_) => {
                let args = std::iter::from_fn(next)
                    .map(|arg| match arg {
                        Arg::Value(value) => Ok(value),
                        Arg::Function(_) => self.function_as_value(span),
                    })
                    .collect::<Result<Vec<_>>>()?;
                match builtin {
                    Builtin::Operator(op) => self.operator(op, args, span),
                    Builtin::Prim(prim) => Ok(Expr::prim(prim, args).at(span)),
                    _ => self.function_as_value(span),
                }
            }
            Builtin::Build => match (next(), next()) {
                (Some(Arg::Value(n)), Some(Arg::Function(f))) => {
                    // the types of other arrays can have the name, and the workspace its greatest value
                    let n = if has_most(&n) && Size::try_of_expr(&n).is_none() { self.name("count", n) } else { n };
                    let i = Var::named(self.parameter_name(&f, 0, "i"), Type::Index(Some(self.size_of(&n))));
                    let body = self.scoped(|this| this.apply(&f, vec![Arg::Value(Expr::var(&i))], span))?;
                    if type_mentions(body.ty(), &i) {
                        return self.fail(
                            Diagnostic::error("E0405", span, format!("the shape of an element depends on its index `{}`", i.name()))
                                .help("arrays are regular: give every element one shape, for example the largest"),
                        );
                    }
                    Ok(Expr::build_with(n, i, body).at(span))
                }
                _ => self.function_as_value(span),
            },
            Builtin::Ifold => match (next(), next(), next()) {
                (Some(Arg::Function(f)), Some(Arg::Value(init)), Some(Arg::Value(n))) => self.fold(&f, (n, init), span, None),
                _ => self.function_as_value(span),
            },
            Builtin::Get => match (next(), next()) {
                (Some(Arg::Value(array)), Some(Arg::Value(index))) => Ok(Expr::get(array, index).at(span)),
                _ => self.function_as_value(span),
            },
            Builtin::Update | Builtin::Accumulate => match (next(), next(), next()) {
                (Some(Arg::Value(array)), Some(Arg::Value(index)), Some(Arg::Value(value))) => {
                    let change = if builtin == Builtin::Update { Change::Replace } else { Change::Add };
                    self.update(change, array, index, value, span)
                }
                _ => self.function_as_value(span),
            },
            Builtin::Pair => match (next(), next()) {
                (Some(Arg::Value(a)), Some(Arg::Value(b))) => Ok(Expr::tuple(vec![a, b]).at(span)),
                _ => self.function_as_value(span),
            },
            Builtin::Length | Builtin::MatrixCols | Builtin::Fst | Builtin::Snd => match next() {
                Some(Arg::Value(value)) => Ok(match builtin {
                    Builtin::Fst => Expr::proj(value, 0),
                    Builtin::Snd => Expr::proj(value, 1),
                    Builtin::MatrixCols => Expr::dim(value, 1),
                    _ => Expr::dim(value, 0),
                }
                .at(span)),
                _ => self.function_as_value(span),
            },
            Builtin::Api(api) => self.form(api, args.collect(), span),
        }
    }

    /// `update a i x` and `accumulate a i x`; the new element has the shape of the array's.
    fn update(&mut self, change: Change, array: Expr, index: Expr, value: Expr, span: Span) -> Result<Expr> {
        let array_type = array.ty().without_bounds();
        let array = self.coerce(array, &array_type, span, "the array of an update")?;
        let element = array_type.element().cloned().unwrap_or(Type::Double);
        if change == Change::Add && !element.is_made_of_doubles() {
            let message = format!("`accumulate` adds Doubles, and the array has elements of type {element}");
            return self.fail(Diagnostic::error("E0301", span, message).help("`update` replaces an element of any type"));
        }
        let value = self.coerce(value, &element, span, "the new element has the shape of the array's elements")?;
        Ok(Expr::update(change, array, vec![index], value).at(span))
    }

    pub(super) fn parameter_name(&self, callable: &Callable<'a>, at: usize, otherwise: &str) -> Name {
        let pattern = match callable {
            Callable::Closure(closure) => closure.params.get(at),
            Callable::Global { index, .. } => self.declaration(*index).0.get(at),
            Callable::Builtin(_) | Callable::Case { .. } | Callable::Free { .. } => None,
        };
        pattern.map_or_else(|| otherwise.into(), |pattern| self.name_in(pattern, otherwise))
    }
}

/// The parameter or local function g that `fun y -> g y` is.
fn passed_on<'a>(params: &[Pattern], body: &'a ast::Expr, scope: &Scope) -> Option<&'a ast::Expr> {
    let ExprKind::App(head, args) = &body.kind else { return None };
    let ExprKind::Var(function) = &head.kind else { return None };
    let is = |pattern: &Pattern, arg: &ast::Expr| match (&pattern.kind, &arg.kind) {
        (PatternKind::Var(name), ExprKind::Var(arg)) => name == arg && name != function,
        _ => false,
    };
    let same = params.len() == args.len() && params.iter().zip(args).all(|(pattern, arg)| is(pattern, arg));
    (same && matches!(scope.values.get(function), Some(Bind::Function(_)))).then_some(&**head)
}
