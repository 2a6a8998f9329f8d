//! Inference of expressions: one case for each form of the syntax tree.
//!
//! In: an expression and the names in scope. Out: its type, and its value as a size where it is a known
//! Index; errors are reported and inference goes on with an open type, so that one error does not hide
//! others. The literal `0` in `0 + x` has the type of `x`.

use std::rc::Rc;

use super::builtin::{self, Builtin};
use super::deferred::Deriv;
use super::holes::Mismatch;
use super::infer::{Bound, Infer, Scope, Typed, smallest_index};
use super::suggest::{self, Candidate};
use super::ty::{Class, Ty};
use crate::diagnostic::Diagnostic;
use crate::ir::{Prim, Size};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, PatternKind};

impl Infer<'_> {
    pub(super) fn expr(&mut self, expr: &ast::Expr, scope: &Scope) -> Typed {
        let plain = |ty: Ty| Typed { ty, value: None };
        match &expr.kind {
            ExprKind::Var(name) => match self.case_of(expr, scope) {
                Some((sum, case)) => {
                    self.notes.cases.insert(expr.span, (sum.clone(), case));
                    plain(self.constructor(&sum, case, None, expr.span, scope))
                }
                None => self.name(name, expr.span, scope).0,
            },
            ExprKind::Int(value, _) => {
                let ty = match value {
                    Some(_) => self.holes.fresh(Class::Number, self.level),
                    None => Ty::Double,
                };
                self.notes.literals.insert(expr.span, ty.clone());
                Typed { ty, value: value.map(Size::constant) }
            }
            ExprKind::Double(_) => plain(Ty::Double),
            ExprKind::Bool(_) => plain(Ty::Bool),
            ExprKind::Operator(op) => {
                if let ast::BinOp::Mul | ast::BinOp::Div = op {
                    return plain(self.section(*op, expr.span));
                }
                let (params, result, _) = builtin::signature(Builtin::Operator(*op), &mut self.holes, self.level);
                plain(Ty::fun(params, result))
            }
            ExprKind::Fun(params, body) => {
                if let ExprKind::Fun(..) = body.kind {
                    self.diagnostics.push(
                        Diagnostic::error("E0310", body.span, "a function cannot be a result")
                            .help("write one function of all parameters: `fun x y -> …`"),
                    );
                }
                let mut scope = scope.clone();
                let outer = self.sizes.clone();
                self.no_repeats(params);
                let values = self.declare_sizes(params, false);
                let mut types = Vec::new();
                for (at, pattern) in params.iter().enumerate() {
                    let ty = self.holes.fresh(Class::Any, self.level);
                    scope = self.bind(pattern, &ty, Some(Size::var(&values[at])), &scope);
                    types.push(ty);
                }
                let result = self.expr(body, &scope);
                self.no_function(body.span, &result.ty, "a result");
                self.sizes = outer;
                plain(Ty::fun(types, result.ty))
            }
            ExprKind::Let(pattern, value, body) => {
                let scope = match (&pattern.kind, &value.kind) {
                    (PatternKind::Var(name), ExprKind::Fun(..)) => {
                        let scheme = self.function(&[], None, value, scope, false);
                        self.notes.names.insert(pattern.span, Ty::fun(scheme.params.clone(), scheme.result.clone()));
                        scope.with(name, Bound::Poly(Rc::new(scheme)))
                    }
                    _ => {
                        let inferred = self.expr(value, scope);
                        if !matches!(pattern.kind, PatternKind::Var(_)) {
                            self.no_function(value.span, &inferred.ty, "taken apart or annotated here");
                        }
                        self.no_repeats(std::slice::from_ref(pattern));
                        self.bind(pattern, &inferred.ty, inferred.value, scope)
                    }
                };
                self.expr(body, &scope)
            }
            ExprKind::LetFun(functions, body) => {
                let mut inner = scope.clone();
                self.no_name_twice(&functions.iter().map(|fun| (&*fun.name.text, fun.name.span)).collect::<Vec<_>>());
                for fun in functions.iter().filter(|fun| fun.recursion.is_some()) {
                    let announced = self.announced(&fun.params, fun.result.as_ref(), false);
                    inner = inner.with(&fun.name.text, Bound::Poly(Rc::new(announced)));
                }
                let mut outer = scope.clone();
                for fun in functions {
                    let scheme = self.function(&fun.params, fun.result.as_ref(), &fun.value, &inner, false);
                    self.notes.names.insert(fun.name.span, Ty::fun(scheme.params.clone(), scheme.result.clone()));
                    outer = outer.with(&fun.name.text, Bound::Poly(Rc::new(scheme)));
                }
                self.expr(body, &outer)
            }
            ExprKind::If(condition, then, otherwise) => {
                let found = self.expr(condition, scope);
                self.expect(condition.span, &Ty::Bool, &found.ty, "a condition is a Bool, such as a comparison");
                let then_ty = self.expr(then, scope);
                let else_ty = self.expr(otherwise, scope);
                self.no_function(then.span, &then_ty.ty, "chosen by an `if`");
                self.chooses(expr.span, &then_ty.ty);
                match self.holes.unify(&then_ty.ty, &else_ty.ty) {
                    Ok(()) => {}
                    Err(mismatch) => {
                        let label = (then.span, format!("this branch is {}", self.text(&then_ty.ty)));
                        self.mismatch(otherwise.span, &then_ty.ty, &else_ty.ty, mismatch, "both branches must have one type", Some(label));
                    }
                }
                let value = match (then_ty.value, else_ty.value) {
                    (Some(a), Some(b)) if self.holes.resolve_size(&a) == self.holes.resolve_size(&b) => Some(a),
                    _ => None,
                };
                Typed { ty: then_ty.ty, value }
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, [a, b], expr.span, scope),
            ExprKind::Unary(_, literal) if smallest_index(expr) => {
                let ty = self.holes.fresh(Class::Number, self.level);
                self.notes.literals.insert(literal.span, ty.clone());
                Typed { ty, value: Some(Size::constant(i64::MIN)) }
            }
            ExprKind::Unary(op, a) => self.primitive(Builtin::Prim(builtin::unary(*op)), &[a], scope),
            ExprKind::App(head, args) => match self.case_of(head, scope) {
                Some((sum, case)) => {
                    self.notes.cases.insert(head.span, (sum.clone(), case));
                    plain(self.constructor(&sum, case, Some(args), expr.span, scope))
                }
                None => {
                    let typed = self.application(expr, head, args, scope);
                    Typed { ty: self.bounded(typed.ty, expr.span), value: typed.value }
                }
            },
            ExprKind::Index(array, index) => {
                let (element, length) = self.indexed(array, scope);
                let index_ty = self.expr(index, scope);
                self.reads.extend(index_ty.value.as_ref().and_then(Size::as_constant).map(|at| (index.span, length, at)));
                self.expect(index.span, &Ty::INDEX, &index_ty.ty, "an array is indexed with an Index");
                plain(element)
            }
            ExprKind::Slice(array, low, high) => self.slice(array, low.as_deref(), high.as_deref(), scope),
            ExprKind::Tuple(parts) => {
                let mut types = Vec::new();
                for part in parts {
                    let typed = self.expr(part, scope);
                    self.no_function(part.span, &typed.ty, "stored in a tuple");
                    types.push(typed.ty);
                }
                plain(self.bounded(Ty::tuple(types), expr.span))
            }
            ExprKind::Array(items) => {
                let mut element = None;
                for item in items {
                    let typed = self.expr(item, scope);
                    self.no_function(item.span, &typed.ty, "stored in an array");
                    match &element {
                        // no hole for it: literals nest deep, and what a hole becomes is looked through
                        None => element = Some(self.holes.head(&typed.ty).without_bounds()),
                        Some(element) => self.expect(item.span, element, &typed.ty, "every element of an array has the type of the first"),
                    }
                }
                let element = element.unwrap_or_else(|| self.holes.fresh(Class::Any, self.level));
                if items.is_empty() {
                    self.notes.empties.insert(expr.span, element.clone());
                }
                plain(Ty::array(element, Size::constant(items.len() as i64)))
            }
            ExprKind::Field(base, name) => self.field(base, name, expr.span, scope),
            ExprKind::Record(base, fields) => self.record_value(base.as_deref(), fields, expr.span, scope),
            ExprKind::Match(value, rows) => plain(self.matching(value, rows, expr.span, scope)),
            ExprKind::Deriv(subject, point) => {
                let (at, _) = self.name(&point.text, point.span, scope);
                let inside = scope.with(&point.text, Bound::Mono(at.ty.clone(), None));
                let subject_ty = self.expr(subject, &inside);
                self.no_function(subject.span, &subject_ty.ty, "differentiated with `deriv`: apply it, or use `diff`, `grad` or `jacob`");
                self.no_function(point.span, &at.ty, "the independent variable of `deriv`");
                let result = self.holes.fresh(Class::Any, self.level);
                self.waiting.push(Deriv { span: expr.span, point: at.ty, subject: subject_ty.ty, result: result.clone() });
                self.settle(false);
                plain(result)
            }
        }
    }

    /// The element type and the length of what stands before a `[`.
    pub(super) fn indexed(&mut self, array: &ast::Expr, scope: &Scope) -> (Ty, Size) {
        let array_ty = self.expr(array, scope);
        let (element, length) = (self.holes.fresh(Class::Any, self.level), self.holes.fresh_size());
        let wanted = Ty::array(element.clone(), length.clone());
        if let Err(Mismatch::Types) = self.holes.unify(&wanted, &array_ty.ty) {
            let found = self.text(&array_ty.ty);
            self.diagnostics.push(
                Diagnostic::error("E0303", array.span, format!("expected an array, found {found}"))
                    .help("only arrays are indexed; take a tuple apart with `let (a, b) = …`"),
            );
        }
        (element, length)
    }

    /// Whether anything has this name.
    pub(super) fn is_known(&self, name: &Rc<str>, scope: &Scope) -> bool {
        let is_size = self.sizes.get(name).is_some() && !self.unwritten.contains(name);
        let is_global = scope.get(name).is_some() || self.modules.lookup(name, self.at).is_some();
        is_global || is_size || builtin::lookup(name).is_some() || builtin::constant(name).is_some()
    }

    /// A name's type, and the holes for the values of its parameters.
    pub(super) fn name(&mut self, name: &Rc<str>, span: Span, scope: &Scope) -> (Typed, Vec<Size>) {
        if let Some(bound) = scope.get(name) {
            return match bound.clone() {
                Bound::Mono(ty, value) => (Typed { ty, value }, Vec::new()),
                Bound::Poly(scheme) => {
                    let (ty, values) = self.instantiate(&scheme, span);
                    (Typed { ty, value: None }, values)
                }
            };
        }
        if let Some(index) = self.modules.lookup(name, self.at) {
            let scheme = self.schemes[index].clone();
            if scheme.broken {
                return (Typed { ty: self.holes.fresh(Class::Any, self.level), value: None }, Vec::new());
            }
            let (ty, values) = self.instantiate(&scheme, span);
            return (Typed { ty, value: None }, values);
        }
        if let Some(found) = builtin::lookup(name) {
            let (params, result, value) = builtin::signature(found, &mut self.holes, self.level);
            return (Typed { ty: Ty::fun(params, result), value: None }, value.into_iter().collect());
        }
        if let Some(size) = self.sizes.get(name).filter(|_| !self.unwritten.contains(name)) {
            return (Typed { ty: Ty::INDEX, value: Some(size.clone()) }, Vec::new());
        }
        if builtin::constant(name).is_some() {
            return (Typed { ty: Ty::Double, value: None }, Vec::new());
        }
        self.unknown_name(name, span, scope, None);
        (Typed { ty: self.holes.fresh(Class::Any, self.level), value: None }, Vec::new())
    }

    /// The names in scope beside local ones, and what they take.
    fn candidates(&mut self) -> Vec<Candidate> {
        let visible = self.modules.visible(self.at);
        let declared = visible.iter().enumerate().map(|(at, name)| {
            let params = self.schemes.get(at).filter(|scheme| !scheme.broken).map(|scheme| scheme.params.clone());
            Candidate { name: name.to_string(), params }
        });
        let mut candidates: Vec<Candidate> = declared.collect();
        for name in builtin::names() {
            let found = builtin::lookup(name);
            let params = found.map(|found| builtin::signature(found, &mut self.holes, self.level).0);
            candidates.push(Candidate { name: name.to_string(), params });
        }
        candidates
    }

    fn unknown_name(&mut self, name: &str, span: Span, scope: &Scope, arguments: Option<&[Ty]>) {
        let diagnostic = match self.modules.declared_later(name, self.at) {
            Some(index) if index == self.at => Diagnostic::error("E0204", span, format!("`{name}` uses itself"))
                .help(format!("a recursive function is declared by `let rec {name} …`; `ifold` repeats a step")),
            Some(index) => Diagnostic::error("E0203", span, format!("`{name}` is used before it is declared"))
                .label(self.modules.globals[index].decl.name.span, "declared here")
                .help("move the declaration up"),
            None => {
                let stem = name.trim_end_matches('\'');
                let help = if stem != name && self.is_known(&stem.into(), scope) {
                    format!("the transpose is `matrixTranspose {stem}`; a quote is a part of a name")
                } else if self.record_in(name, span, self.file).is_some() {
                    format!(
                        "`{name}` is a type: a record is written by its fields alone, `{{ a = …; b = … }}`, a value of a sum by its case"
                    )
                } else {
                    suggest::help(name, self.candidates(), arguments, &self.holes)
                };
                Diagnostic::error("E0202", span, format!("unknown name `{name}`")).help(help)
            }
        };
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn primitive(&mut self, called: Builtin, args: &[&ast::Expr], scope: &Scope) -> Typed {
        let (params, result, _) = builtin::signature(called, &mut self.holes, self.level);
        let typed: Vec<Typed> = args.iter().map(|arg| self.expr(arg, scope)).collect();
        // `%` is for Indexes, `**` for Doubles
        let is_open = params.first().is_some_and(|param| matches!(self.holes.head(param), Ty::Hole(_)));
        if let ([left, right], [a, b], true) = (&typed[..], args, is_open)
            && self.mixes_numbers(&(a.span, left.ty.clone()), &(b.span, right.ty.clone()))
        {
            let result = if self.holes.unify(&params[0], &Ty::Double).is_ok() { result } else { self.fresh_type() };
            return Typed { ty: result, value: None };
        }
        let mut values = Vec::new();
        for (at, ((arg, typed), param)) in args.iter().zip(typed).zip(&params).enumerate() {
            let note = if at == 0 {
                "`+`, `-`, `*` and `/` are for numbers and arrays of Doubles; for others there is `vectorMap`"
            } else if matches!(called, Builtin::Operator(ast::BinOp::Add | ast::BinOp::Sub)) {
                "both operands must have one type; `vectorMap v (fun x -> x + a)` adds a number to each element"
            } else {
                "both operands must have one type"
            };
            self.expect(arg.span, param, &typed.ty, note);
            values.push(typed.value);
        }
        let value = match (called, values.as_slice()) {
            (Builtin::Operator(ast::BinOp::Add), [Some(a), Some(b)]) => Some(a.add(b)),
            (Builtin::Operator(ast::BinOp::Sub), [Some(a), Some(b)]) => Some(a.sub(b)),
            (Builtin::Prim(Prim::Neg), [Some(a)]) => Some(a.neg()),
            _ => None,
        };
        Typed { ty: result, value }
    }

    pub(super) fn application(&mut self, expr: &ast::Expr, head: &ast::Expr, args: &[ast::Expr], scope: &Scope) -> Typed {
        let (head_ty, holes_of_values, name) = if let ExprKind::Var(name) = &head.kind {
            if !self.is_known(name, scope) {
                // what it is applied to says what may be meant
                let arguments: Vec<Ty> = args.iter().map(|arg| self.expr(arg, scope).ty).collect();
                self.unknown_name(name, head.span, scope, Some(&arguments));
                return Typed { ty: self.holes.fresh(Class::Any, self.level), value: None };
            }
            let (typed, values) = self.name(name, head.span, scope);
            (typed.ty, values, Some(name.clone()))
        } else {
            (self.expr(head, scope).ty, Vec::new(), None)
        };
        let found = name
            .as_ref()
            .filter(|name| scope.get(name).is_none() && self.modules.lookup(name, self.at).is_none())
            .and_then(|name| builtin::lookup(name));
        let (params, result) = match self.holes.head(&head_ty) {
            Ty::Fun(params, result) => (params.to_vec(), (*result).clone()),
            Ty::Hole(_) => {
                let params: Vec<Ty> = args.iter().map(|_| self.holes.fresh(Class::Any, self.level)).collect();
                let result = self.holes.fresh(Class::Any, self.level);
                let wanted = Ty::fun(params.clone(), result.clone());
                if self.holes.unify(&head_ty, &wanted).is_err() {
                    self.not_a_function(head.span, &head_ty);
                }
                (params, result)
            }
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Array(..) | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) => {
                self.not_a_function(head.span, &head_ty);
                args.iter().for_each(|arg| drop(self.expr(arg, scope)));
                return Typed { ty: self.holes.fresh(Class::Any, self.level), value: None };
            }
        };
        if params.len() != args.len() {
            let what = name.as_ref().map_or("this function".to_string(), |name| format!("`{name}`"));
            let plural = |n: usize| if n == 1 { "1 argument".to_string() } else { format!("{n} arguments") };
            let is_tuple = |arg: &ast::Expr| matches!(&arg.kind, ExprKind::Tuple(parts) if parts.len() == params.len());
            let help = if matches!(args, [only] if is_tuple(only)) {
                "arguments stand side by side, without a comma: `f a b`"
            } else if args.len() < params.len() {
                "functions take all their arguments at once; write `fun x -> …` for the rest"
            } else {
                "put an argument that is an application in parentheses"
            };
            self.diagnostics.push(
                Diagnostic::error("E0304", expr.span, format!("{what} takes {}, found {}", plural(params.len()), args.len())).help(help),
            );
            args.iter().for_each(|arg| drop(self.expr(arg, scope)));
            return Typed { ty: result, value: None };
        }
        if let Some(Builtin::Api(api)) = found {
            let args: Vec<(Span, Ty)> = args.iter().map(|arg| (arg.span, self.expr(arg, scope).ty)).collect();
            let Some((params, point, value)) = builtin::shaped(api, &mut self.holes, self.level) else {
                self.expect_form(api, &args, &params);
                return Typed { ty: result, value: None };
            };
            self.expect_form(api, &args, &params);
            self.settle_fields(false);
            self.settle_products();
            let (point, value) = (self.made_of_doubles(&point), self.made_of_doubles(&value));
            let rows = if api == builtin::Api::Hessian { &point } else { &value };
            return Typed { ty: rows.with_doubles(&point), value: None };
        }
        if self.swaps_arguments(name.as_deref(), args, &params, scope) {
            return Typed { ty: result, value: None };
        }
        let (mut value, mut read) = (None, None);
        for (at, (arg, param)) in args.iter().zip(&params).enumerate() {
            let typed = self.expr(arg, scope);
            if self.converts_count(arg, param, &typed.ty) {
                continue;
            }
            self.expect(arg.span, param, &typed.ty, "pass what the function's parameter wants; `smoothc check` prints its type");
            if let (Some(hole), Some(known)) = (holes_of_values.get(at), &typed.value) {
                // a value that is wanted elsewhere as another size is the elaborator's to check
                let _ = self.holes.unify_size(hole, known);
            }
            if let (Some(Builtin::Get), Some(length), Some(at)) = (found, read.clone(), typed.value.as_ref().and_then(Size::as_constant)) {
                self.reads.push((arg.span, length, at));
            }
            read = self.length(&typed.ty, false);
            if matches!(found, Some(Builtin::Length | Builtin::MatrixCols)) {
                value = self.length(&typed.ty, found == Some(Builtin::MatrixCols));
            }
        }
        if found == Some(Builtin::Ifold) && self.records.iter().any(|record| record.is_sum()) {
            self.notes.choices.insert(expr.span, result.clone());
        }
        Typed { ty: result, value }
    }

    pub(super) fn length(&self, ty: &Ty, columns: bool) -> Option<Size> {
        match self.holes.head(ty) {
            Ty::Array(element, _) if columns => self.length(&element, false),
            Ty::Array(_, size) => Some(size),
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => None,
        }
    }

    pub(super) fn not_a_function(&mut self, span: Span, ty: &Ty) {
        let found = self.text(ty);
        let help = if matches!(self.holes.head(ty), Ty::Array(..)) {
            "an element of an array is `v[i]`, without a blank before the bracket"
        } else {
            "only functions take arguments; is an operator missing?"
        };
        self.diagnostics.push(Diagnostic::error("E0305", span, format!("expected a function, found {found}")).help(help));
    }
}
