//! Type inference: a declaration's syntax tree to its polymorphic type, and notes for the elaborator.
//!
//! Hindley–Milner with levels. Functions, local ones included, are generalised over types and sizes; other
//! lets have one type. What the elaborator cannot see from the types of a function's arguments is noted by
//! place: which number a literal is, what `[]` holds, at which types a polymorphic name is used. `deriv`
//! waits until the types it depends on are known; a function's scheme keeps what still waits.

use std::collections::HashMap;
use std::rc::Rc;

use super::builtin::{self, Api, Builtin};
use super::env::Env;
use super::modules::Modules;
use super::ty::{Class, Holes, Mismatch, Ty, show};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Atom, Prim, Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, Pattern, PatternKind};

/// A function's polymorphic type.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// Empty for a constant.
    pub params: Vec<Ty>,
    pub result: Ty,
    /// For each parameter, the atom that stands for its value where it is an Index.
    pub values: Vec<Var>,
    /// The type holes it is polymorphic over.
    pub holes: Vec<u32>,
    /// The size atoms it is polymorphic over.
    pub sizes: Vec<Atom>,
    waiting: Vec<Deriv>,
    /// An error was reported inside: its uses are not looked at.
    pub broken: bool,
}

/// `deriv e x` whose type waits for those of e and x.
#[derive(Clone, Debug)]
struct Deriv {
    point: Ty,
    subject: Ty,
    result: Ty,
}

/// What the elaborator needs beyond the syntax tree, by place.
#[derive(Default)]
pub struct Notes {
    /// The type of each integer literal.
    pub literals: HashMap<Span, Ty>,
    /// The type of each `[]`.
    pub empties: HashMap<Span, Ty>,
    /// At each use of a polymorphic name: what its holes are.
    pub uses: HashMap<Span, Rc<Vec<(u32, Ty)>>>,
}

#[derive(Clone)]
enum Bound {
    /// A value or a function parameter: one type; the value as a size where it is an Index.
    Mono(Ty, Option<Size>),
    /// A local function.
    Poly(Rc<Scheme>),
}

/// An inferred expression.
struct Typed {
    ty: Ty,
    /// The value as a size, where it is a known Index.
    value: Option<Size>,
}

type Scope = Env<Bound>;

/// The state of inference over all declarations.
pub struct Infer<'a> {
    modules: &'a Modules,
    pub schemes: Vec<Rc<Scheme>>,
    pub holes: Holes,
    pub notes: Notes,
    pub diagnostics: Diagnostics,
    level: u32,
    at: usize,
    waiting: Vec<Deriv>,
    first_order: Vec<(Span, Ty, &'static str)>,
    /// Size names in scope.
    pub(super) sizes: Env<Size>,
    /// Annotations that were read already, so that each own size is made once.
    pub(super) annotations: HashMap<Span, Ty>,
}

/// Infers every declaration in order.
pub fn infer(modules: &Modules) -> Infer<'_> {
    let mut infer = Infer {
        modules,
        schemes: Vec::new(),
        holes: Holes::default(),
        notes: Notes::default(),
        diagnostics: Vec::new(),
        level: 0,
        at: 0,
        waiting: Vec::new(),
        first_order: Vec::new(),
        sizes: Env::default(),
        annotations: HashMap::new(),
    };
    for index in 0..modules.globals.len() {
        infer.at = index;
        let scheme = infer.declaration(&modules.globals[index].decl);
        infer.schemes.push(Rc::new(scheme));
    }
    infer
}

/// The parameters and body of a declaration: `let f = fun x -> e` is `let f x = e`.
pub fn parameters<'a>(params: &'a [Pattern], body: &'a ast::Expr) -> (&'a [Pattern], &'a ast::Expr) {
    match &body.kind {
        ExprKind::Fun(inner, inner_body) if params.is_empty() => (inner, inner_body),
        _ => (params, body),
    }
}

impl Infer<'_> {
    fn declaration(&mut self, decl: &ast::Decl) -> Scheme {
        let errors = self.diagnostics.len();
        self.sizes = Env::default();
        let mut scheme = self.function(&decl.params, decl.result.as_ref(), &decl.body, &Env::default(), true);
        self.settle(true);
        for (span, ty, what) in std::mem::take(&mut self.first_order) {
            let reported = self.diagnostics[errors..].iter().any(|known| known.code == "E0310" && known.span.end == span.end);
            if matches!(self.holes.head(&ty), Ty::Fun(..)) && !reported {
                self.diagnostics.push(
                    Diagnostic::error("E0310", span, format!("a function cannot be {what}"))
                        .help("pass functions to functions, or bind them with `let`"),
                );
            }
        }
        scheme.broken = self.diagnostics.len() > errors;
        if let (true, Ty::Fun(params, result)) = (scheme.params.is_empty(), self.holes.head(&scheme.result)) {
            // another name for a function
            scheme.params = params.to_vec();
            scheme.values = params.iter().map(|_| Var::fresh("i", Type::INDEX)).collect();
            scheme.result = (*result).clone();
            scheme.sizes.clear();
            for (at, param) in scheme.params.iter().enumerate() {
                self.name_sizes(&format!("arg{}", at + 1), param);
                self.holes.resolve(param).map(
                    &mut |size| {
                        scheme.sizes.extend(size.as_atom().filter(|atom| !scheme.sizes.contains(atom)).cloned());
                        size.clone()
                    },
                    &mut Ty::Hole,
                );
            }
        }
        scheme
    }

    /// Infers a function or constant and generalises it.
    fn function(&mut self, params: &[Pattern], result: Option<&ast::TypeExpr>, body: &ast::Expr, scope: &Scope, top: bool) -> Scheme {
        let (params, body) = parameters(params, body);
        let outer_sizes = self.sizes.clone();
        let waiting = self.waiting.len();
        let watermark = crate::ir::term::fresh_id();
        self.level += 1;
        let index_params = self.declare_sizes(params, top);
        let mut scope = scope.clone();
        let (mut types, mut values) = (Vec::new(), Vec::new());
        for (at, pattern) in params.iter().enumerate() {
            let name = pattern_name(pattern, at);
            let value = index_params[at].clone();
            let ty = self.holes.fresh(Class::Any, self.level);
            let own = top.then_some(&*name);
            scope = self.bind(pattern, &ty, Some(Size::var(&value)), &scope, own);
            let annotated = self.annotation(pattern, own);
            types.push(annotated.unwrap_or(ty));
            values.push(value);
        }
        let declared = result.map(|result| self.convert(result, None));
        let inferred = self.expr(body, &scope);
        if !params.is_empty() {
            self.no_function(body.span, &inferred.ty, "a result");
        }
        if let Some(declared) = &declared {
            self.expect(body.span, declared, &inferred.ty, "the body has the type that is declared for the result");
        }
        if top {
            for (at, pattern) in params.iter().enumerate() {
                self.name_sizes(&pattern_name(pattern, at), &types[at].clone());
            }
        }
        self.level -= 1;
        self.settle(false);
        self.sizes = outer_sizes;
        let result = declared.unwrap_or(inferred.ty);
        self.generalise(types, result, values, waiting, watermark)
    }

    fn generalise(&mut self, params: Vec<Ty>, result: Ty, values: Vec<Var>, waiting: usize, watermark: u32) -> Scheme {
        let level = self.level;
        let whole = Ty::fun(params.clone(), result.clone());
        let mine = |holes: &Holes, ty: &Ty| -> Vec<u32> { holes.open(ty).into_iter().filter(|id| holes.level(*id) > level).collect() };
        let mut quantified = mine(&self.holes, &whole);
        let mut kept = Vec::new();
        for deriv in self.waiting.split_off(waiting.min(self.waiting.len())) {
            let all = Ty::tuple(vec![deriv.point.clone(), deriv.subject.clone(), deriv.result.clone()]);
            let inside = mine(&self.holes, &all);
            if inside.is_empty() {
                self.waiting.push(deriv);
            } else {
                quantified.extend(inside.into_iter().filter(|id| !quantified.contains(id)).collect::<Vec<_>>());
                kept.push(deriv);
            }
        }
        let mut sizes: Vec<Atom> = Vec::new();
        self.holes.resolve(&whole).map(
            &mut |size| {
                for atom in size.terms().flat_map(|(monomial, _)| monomial) {
                    let own = match atom {
                        Atom::Var(var) => var.id() > watermark,
                        Atom::Unknown(id) => *id > watermark,
                        Atom::Term(_) => false,
                    };
                    if own && !sizes.contains(atom) {
                        sizes.push(atom.clone());
                    }
                }
                size.clone()
            },
            &mut Ty::Hole,
        );
        sizes.retain(|atom| !matches!(atom, Atom::Var(var) if values.contains(var)));
        Scheme { params, result, values, holes: quantified, sizes, waiting: kept, broken: false }
    }

    /// A scheme's type at one use: fresh holes, and per parameter the size hole of its value.
    fn instantiate(&mut self, scheme: &Scheme, span: Span) -> (Ty, Vec<Size>) {
        let level = self.level;
        let map: Vec<(u32, Ty)> = scheme.holes.iter().map(|id| (*id, self.holes.fresh(self.holes.class(*id), level))).collect();
        let values: Vec<Size> = scheme.values.iter().map(|_| self.holes.fresh_size()).collect();
        let sizes: Vec<(Atom, Size)> = scheme.sizes.iter().map(|atom| (atom.clone(), self.holes.fresh_size())).collect();
        let replace = |holes: &Holes, ty: &Ty| {
            holes.resolve(ty).map(
                &mut |size| {
                    size.substitute(&mut |atom| {
                        let value = scheme.values.iter().position(|var| *atom == Atom::Var(var.clone()));
                        value.map(|at| values[at].clone()).or_else(|| sizes.iter().find(|(from, _)| from == atom).map(|(_, to)| to.clone()))
                    })
                },
                &mut |id| map.iter().find(|(from, _)| *from == id).map_or(Ty::Hole(id), |(_, to)| to.clone()),
            )
        };
        let params: Vec<Ty> = scheme.params.iter().map(|param| replace(&self.holes, param)).collect();
        let result = replace(&self.holes, &scheme.result);
        for deriv in &scheme.waiting {
            let (point, subject) = (replace(&self.holes, &deriv.point), replace(&self.holes, &deriv.subject));
            let result = replace(&self.holes, &deriv.result);
            self.waiting.push(Deriv { point, subject, result });
        }
        self.notes.uses.insert(span, Rc::new(map));
        (if params.is_empty() { result } else { Ty::fun(params, result) }, values)
    }

    // ---- expressions ----

    fn expr(&mut self, expr: &ast::Expr, scope: &Scope) -> Typed {
        let plain = |ty: Ty| Typed { ty, value: None };
        match &expr.kind {
            ExprKind::Var(name) => self.name(name, expr.span, scope).0,
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
                let (params, result, _) = builtin::signature(Builtin::Prim(builtin::binary(*op)), &mut self.holes, self.level);
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
                let values = self.declare_sizes(params, false);
                let mut types = Vec::new();
                for (at, pattern) in params.iter().enumerate() {
                    let ty = self.holes.fresh(Class::Any, self.level);
                    scope = self.bind(pattern, &ty, Some(Size::var(&values[at])), &scope, None);
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
                        scope.with(name, Bound::Poly(Rc::new(scheme)))
                    }
                    _ => {
                        let inferred = self.expr(value, scope);
                        if !matches!(pattern.kind, PatternKind::Var(_)) {
                            self.no_function(value.span, &inferred.ty, "taken apart or annotated here");
                        }
                        self.bind(pattern, &inferred.ty, inferred.value, scope, None)
                    }
                };
                self.expr(body, &scope)
            }
            ExprKind::LetFun(fun, body) => {
                let scheme = self.function(&fun.params, fun.result.as_ref(), &fun.value, scope, false);
                let scope = scope.with(&fun.name.text, Bound::Poly(Rc::new(scheme)));
                self.expr(body, &scope)
            }
            ExprKind::If(condition, then, otherwise) => {
                let found = self.expr(condition, scope);
                self.expect(condition.span, &Ty::Bool, &found.ty, "a condition is a Bool, such as a comparison");
                let then_ty = self.expr(then, scope);
                let else_ty = self.expr(otherwise, scope);
                self.no_function(then.span, &then_ty.ty, "chosen by an `if`");
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
            ExprKind::Binary(op, a, b) => self.primitive(builtin::binary(*op), &[a, b], scope),
            ExprKind::Unary(_, literal) if smallest_index(expr) => {
                let ty = self.holes.fresh(Class::Number, self.level);
                self.notes.literals.insert(literal.span, ty.clone());
                Typed { ty, value: Some(Size::constant(i64::MIN)) }
            }
            ExprKind::Unary(op, a) => self.primitive(builtin::unary(*op), &[a], scope),
            ExprKind::App(head, args) => self.application(expr, head, args, scope),
            ExprKind::Index(array, index) => {
                let array_ty = self.expr(array, scope);
                let index_ty = self.expr(index, scope);
                let element = self.holes.fresh(Class::Any, self.level);
                let wanted = Ty::array(element.clone(), self.holes.fresh_size());
                if let Err(Mismatch::Types) = self.holes.unify(&wanted, &array_ty.ty) {
                    let found = self.text(&array_ty.ty);
                    self.diagnostics.push(
                        Diagnostic::error("E0303", array.span, format!("expected an array, found {found}"))
                            .help("only arrays are indexed; take a tuple apart with `let (a, b) = …`"),
                    );
                }
                self.expect(index.span, &Ty::INDEX, &index_ty.ty, "an array is indexed with an Index");
                plain(element)
            }
            ExprKind::Tuple(parts) => {
                let mut types = Vec::new();
                for part in parts {
                    let typed = self.expr(part, scope);
                    self.no_function(part.span, &typed.ty, "stored in a tuple");
                    types.push(typed.ty);
                }
                plain(Ty::tuple(types))
            }
            ExprKind::Array(items) => {
                let element = self.holes.fresh(Class::Any, self.level);
                for item in items {
                    let typed = self.expr(item, scope);
                    self.no_function(item.span, &typed.ty, "stored in an array");
                    self.expect(item.span, &element, &typed.ty, "every element of an array has the type of the first");
                }
                if items.is_empty() {
                    self.notes.empties.insert(expr.span, element.clone());
                }
                plain(Ty::array(element, Size::constant(items.len() as i64)))
            }
            ExprKind::Deriv(subject, point) => {
                let (at, _) = self.name(&point.text, point.span, scope);
                let inside = scope.with(&point.text, Bound::Mono(at.ty.clone(), None));
                let subject_ty = self.expr(subject, &inside);
                self.no_function(subject.span, &subject_ty.ty, "differentiated with `deriv`: apply it, or use `diff`, `grad` or `jacob`");
                self.no_function(point.span, &at.ty, "the independent variable of `deriv`");
                let result = self.holes.fresh(Class::Any, self.level);
                self.waiting.push(Deriv { point: at.ty, subject: subject_ty.ty, result: result.clone() });
                self.settle(false);
                plain(result)
            }
        }
    }

    /// A name's type, and the holes for the values of its parameters.
    fn name(&mut self, name: &Rc<str>, span: Span, scope: &Scope) -> (Typed, Vec<Size>) {
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
        self.unknown_name(name, span);
        (Typed { ty: self.holes.fresh(Class::Any, self.level), value: None }, Vec::new())
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        let diagnostic = match self.modules.declared_later(name, self.at) {
            Some(index) if index == self.at => Diagnostic::error("E0204", span, format!("`{name}` uses itself"))
                .help("recursion is not supported; use `ifold` to repeat a step"),
            Some(index) => Diagnostic::error("E0203", span, format!("`{name}` is used before it is declared"))
                .label(self.modules.globals[index].decl.name.span, "declared here")
                .help("move the declaration up"),
            None => {
                let candidates = self.modules.visible(self.at);
                let builtins = builtin::names();
                let near = candidates
                    .iter()
                    .map(|name| &**name)
                    .chain(builtins)
                    .filter(|other| distance(name, other) <= 2)
                    .min_by_key(|other| distance(name, other));
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "declare it above, or open the file that does".into(),
                };
                Diagnostic::error("E0202", span, format!("unknown name `{name}`")).help(help)
            }
        };
        self.diagnostics.push(diagnostic);
    }

    fn primitive(&mut self, prim: Prim, args: &[&ast::Expr], scope: &Scope) -> Typed {
        let (params, result, _) = builtin::signature(Builtin::Prim(prim), &mut self.holes, self.level);
        let mut values = Vec::new();
        for (at, (arg, param)) in args.iter().zip(&params).enumerate() {
            let typed = self.expr(arg, scope);
            let note = if at == 0 {
                "arithmetic is for numbers; `vectorAdd`, `vectorMap` and their like are for arrays"
            } else {
                "both operands must have one type"
            };
            self.expect(arg.span, param, &typed.ty, note);
            values.push(typed.value);
        }
        let value = match (prim, values.as_slice()) {
            (Prim::Add, [Some(a), Some(b)]) => Some(a.add(b)),
            (Prim::Sub, [Some(a), Some(b)]) => Some(a.sub(b)),
            (Prim::Mul, [Some(a), Some(b)]) => Some(a.mul(b)),
            (Prim::Neg, [Some(a)]) => Some(a.neg()),
            _ => None,
        };
        Typed { ty: result, value }
    }

    fn application(&mut self, expr: &ast::Expr, head: &ast::Expr, args: &[ast::Expr], scope: &Scope) -> Typed {
        let (head_ty, holes_of_values, name) = match &head.kind {
            ExprKind::Var(name) => {
                let (typed, values) = self.name(name, head.span, scope);
                (typed.ty, values, Some(name.clone()))
            }
            _ => (self.expr(head, scope).ty, Vec::new(), None),
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
            _ => {
                self.not_a_function(head.span, &head_ty);
                args.iter().for_each(|arg| drop(self.expr(arg, scope)));
                return Typed { ty: self.holes.fresh(Class::Any, self.level), value: None };
            }
        };
        if params.len() != args.len() {
            let what = name.as_ref().map_or("this function".to_string(), |name| format!("`{name}`"));
            let plural = |n: usize| if n == 1 { "1 argument".to_string() } else { format!("{n} arguments") };
            let help = if args.len() < params.len() {
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
        let mut value = None;
        for (at, (arg, param)) in args.iter().zip(&params).enumerate() {
            let typed = self.expr(arg, scope);
            match found {
                Some(Builtin::Api(api)) => self.expect_form(api, arg.span, param, &typed.ty),
                _ => self.expect(arg.span, param, &typed.ty, "pass what the function's parameter wants; `smoothc check` prints its type"),
            }
            if let (Some(hole), Some(known)) = (holes_of_values.get(at), &typed.value) {
                // a value that is wanted elsewhere as another size is the elaborator's to check
                let _ = self.holes.unify_size(hole, known);
            }
            if matches!(found, Some(Builtin::Length | Builtin::MatrixCols)) {
                value = self.length(&typed.ty, found == Some(Builtin::MatrixCols));
            }
        }
        Typed { ty: result, value }
    }

    fn length(&self, ty: &Ty, columns: bool) -> Option<Size> {
        match self.holes.head(ty) {
            Ty::Array(element, _) if columns => self.length(&element, false),
            Ty::Array(_, size) => Some(size),
            _ => None,
        }
    }

    fn not_a_function(&mut self, span: Span, ty: &Ty) {
        let found = self.text(ty);
        self.diagnostics.push(
            Diagnostic::error("E0305", span, format!("expected a function, found {found}"))
                .help("only functions take arguments; is an operator missing?"),
        );
    }

    // ---- deriv ----

    /// Decides every waiting `deriv` that can be; with `last`, open numbers become Double first.
    fn settle(&mut self, last: bool) {
        loop {
            let mut again = false;
            for deriv in std::mem::take(&mut self.waiting) {
                if last {
                    let all = Ty::tuple(vec![deriv.point.clone(), deriv.subject.clone()]);
                    for id in self.holes.open(&all) {
                        if self.holes.class(id) == Class::Number && self.holes.level(id) > self.level {
                            self.holes.solve(id, Ty::Double);
                        }
                    }
                }
                let subject = self.holes.resolve(&deriv.subject);
                let point = self.holes.resolve(&deriv.point);
                match (point.to_core(), subject.to_core()) {
                    (Some(point), Some(subject)) => {
                        let dual =
                            point.dims().iter().rev().fold(Ty::of_core(&subject.dual()), |inner, size| Ty::array(inner, size.clone()));
                        // a misuse of the result shows where it is used
                        let _ = self.holes.unify(&deriv.result, &dual);
                        again = true;
                    }
                    _ => self.waiting.push(deriv),
                }
            }
            if !again {
                return;
            }
        }
    }

    // ---- expectations ----

    fn no_function(&mut self, span: Span, ty: &Ty, what: &'static str) {
        self.first_order.push((span, ty.clone(), what));
    }

    fn text(&self, ty: &Ty) -> String {
        show(&self.holes, ty, &mut Vec::new())
    }

    fn expect(&mut self, span: Span, wanted: &Ty, found: &Ty, note: &str) {
        if let Err(mismatch) = self.holes.unify(wanted, found) {
            self.mismatch(span, wanted, found, mismatch, note, None);
        }
    }

    fn expect_form(&mut self, api: Api, span: Span, wanted: &Ty, found: &Ty) {
        if self.holes.unify(wanted, found).is_err() {
            let (name, takes) = (api.name(), api.takes());
            let found_text = self.text(found);
            let help = super::forms::suggestion(&self.holes, api, found);
            self.diagnostics
                .push(Diagnostic::error("E0501", span, format!("`{name}` takes {takes} and its point, found {found_text}")).help(help));
        }
    }

    fn mismatch(&mut self, span: Span, wanted: &Ty, found: &Ty, mismatch: Mismatch, note: &str, label: Option<(Span, String)>) {
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

    /// Binds the names of a pattern.
    fn bind(&mut self, pattern: &Pattern, ty: &Ty, value: Option<Size>, scope: &Scope, own: Option<&str>) -> Scope {
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
    fn annotation(&mut self, pattern: &Pattern, own: Option<&str>) -> Option<Ty> {
        match &pattern.kind {
            PatternKind::Typed(_, annotation) => Some(self.convert(annotation, own)),
            PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Tuple(_) => None,
        }
    }

    pub(super) fn fresh_type(&mut self) -> Ty {
        self.holes.fresh(Class::Any, self.level)
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.iter().any(|known| known.code == diagnostic.code && known.span == diagnostic.span) {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// The name of a parameter: the pattern's own, or `arg1`, `arg2`, … where it has none.
pub fn pattern_name(pattern: &Pattern, at: usize) -> Rc<str> {
    match &pattern.kind {
        PatternKind::Var(name) => name.clone(),
        PatternKind::Typed(inner, _) => pattern_name(inner, at),
        PatternKind::Wildcard | PatternKind::Tuple(_) => format!("arg{}", at + 1).into(),
    }
}

/// Whether this is `-9223372036854775808`, the one Index whose digits alone are none.
pub fn smallest_index(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary(ast::UnOp::Neg, literal) => matches!(literal.kind, ExprKind::Int(None, value) if value == -(i64::MIN as f64)),
        _ => false,
    }
}

/// Edit distance, for suggestions; names that differ much in length are far.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 2 || a.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
