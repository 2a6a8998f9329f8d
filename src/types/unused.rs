//! Names that nothing uses: parameters of declarations, and lets.
//!
//! In: the declarations of the main file and of those it opens. Out: a warning for each parameter and each let whose name does not
//! begin with `_` and is not mentioned where it is bound. A `fun` may leave parameters unused, as its type is wanted by
//! others, and so may a local function. An array is used where a size is that it declares.
//!
//!     let f (x: Double) (y: Double) = let z = x in x   →   `y` and `z` are not used

use std::collections::HashMap;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::syntax::ast::{Decl, Expr, ExprKind, LocalFun, Pattern, PatternKind, SizeExpr, SizeExprKind, TypeExpr, TypeExprKind};

/// The names that a declaration binds and does not use.
pub fn unused(decl: &Decl) -> Diagnostics {
    let mut names = Names::default();
    let sizes: Vec<(Rc<str>, usize)> = decl.params.iter().enumerate().flat_map(|(at, param)| declared(param, at)).collect();
    // below the values, which hide them
    for (size, param) in &sizes {
        names.bind(size, None, Kind::Size(*param));
    }
    for param in &decl.params {
        names.first.push(names.bound.len());
        names.pattern(param, Kind::Parameter);
    }
    // what other parameters and the result say of sizes
    for param in &decl.params {
        names.annotations(param);
    }
    decl.result.iter().for_each(|result| names.ty(result, false));
    names.expr(&decl.body);
    names.leave(0);
    names.found
}

#[derive(Clone, Copy)]
enum Kind {
    Parameter,
    Let,
    /// Of a `fun` or a local function.
    Free,
    /// A size that this parameter declares.
    Size(usize),
}

struct Bound {
    name: Rc<str>,
    span: Option<Span>,
    kind: Kind,
    used: bool,
}

#[derive(Default)]
struct Names {
    bound: Vec<Bound>,
    /// The bindings of each name, the innermost last.
    places: HashMap<Rc<str>, Vec<usize>>,
    /// Where the names of each parameter of the declaration begin.
    first: Vec<usize>,
    found: Diagnostics,
}

impl Names {
    fn bind(&mut self, name: &Rc<str>, span: Option<Span>, kind: Kind) {
        self.places.entry(name.clone()).or_default().push(self.bound.len());
        self.bound.push(Bound { name: name.clone(), span, kind, used: name.starts_with('_') });
    }

    /// Ends the scopes since `mark`.
    fn leave(&mut self, mark: usize) {
        for bound in self.bound.drain(mark..).rev() {
            if let Some(places) = self.places.get_mut(&bound.name) {
                places.pop();
            }
            let (Some(span), false) = (bound.span, bound.used) else { continue };
            let (what, help) = match bound.kind {
                Kind::Parameter => ("parameter ", "begin its name with `_`, or leave it out"),
                Kind::Let => ("", "begin its name with `_`, or leave it out; `_` alone takes a component that is not needed"),
                Kind::Free | Kind::Size(_) => continue,
            };
            self.found.push(Diagnostic::warning("W0209", span, format!("{what}`{}` is not used", bound.name)).help(help));
        }
    }

    /// A name stands for its innermost binding; for a size, all parameters that declare it are used.
    fn uses(&mut self, name: &str) {
        let Some(places) = self.places.get(name) else { return };
        for at in places.clone().into_iter().rev() {
            let Some(bound) = self.bound.get_mut(at) else { return };
            bound.used = true;
            let Kind::Size(param) = bound.kind else { return };
            let (from, to) = (self.first.get(param).copied().unwrap_or(at), self.first.get(param + 1).copied());
            let count = self.bound.len();
            let of_param = self.bound.get_mut(from..to.unwrap_or(count)).unwrap_or_default();
            of_param.iter_mut().filter(|bound| matches!(bound.kind, Kind::Parameter)).for_each(|bound| bound.used = true);
        }
    }

    fn pattern(&mut self, pattern: &Pattern, kind: Kind) {
        match &pattern.kind {
            PatternKind::Var(name) => self.bind(name, Some(pattern.span), kind),
            PatternKind::Wildcard => {}
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.pattern(part, kind)),
            PatternKind::Record(fields) => fields.iter().for_each(|(_, part)| self.pattern(part, kind)),
            PatternKind::Typed(inner, _) => self.pattern(inner, kind),
            PatternKind::Case(_, data) => data.iter().for_each(|data| self.pattern(data, kind)),
            PatternKind::Int(_) | PatternKind::Bool(_) => {}
        }
    }

    /// The sizes that a pattern's annotations mention, but those that they declare.
    fn annotations(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Int(_) | PatternKind::Bool(_) => {}
            PatternKind::Case(_, data) => data.iter().for_each(|data| self.annotations(data)),
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.annotations(part)),
            PatternKind::Record(fields) => fields.iter().for_each(|(_, part)| self.annotations(part)),
            PatternKind::Typed(inner, annotation) => {
                self.annotations(inner);
                self.ty(annotation, true);
            }
        }
    }

    /// The sizes that a type mentions; one that stands alone in a parameter's type is declared there, unless a parameter is its value.
    fn ty(&mut self, ty: &TypeExpr, declares: bool) {
        let size = |this: &mut Names, size: &SizeExpr| match &size.kind {
            SizeExprKind::Name(name) if declares => {
                let value = this.places.get(name).and_then(|places| places.last()).and_then(|at| this.bound.get_mut(*at));
                if let Some(value) = value.filter(|value| !matches!(value.kind, Kind::Size(_))) {
                    value.used = true;
                }
            }
            SizeExprKind::Int(_) | SizeExprKind::Name(_) | SizeExprKind::Add(..) | SizeExprKind::Sub(..) | SizeExprKind::Mul(..) => {
                this.size(size)
            }
        };
        match &ty.kind {
            TypeExprKind::Double | TypeExprKind::Bool | TypeExprKind::Any => {}
            TypeExprKind::Index(bound) => bound.iter().for_each(|bound| self.size(bound)),
            TypeExprKind::Array(element, length) => {
                length.iter().for_each(|length| size(self, length));
                self.ty(element, declares);
            }
            TypeExprKind::Tuple(parts) => parts.iter().for_each(|part| self.ty(part, declares)),
            TypeExprKind::Named(_, sizes) => sizes.iter().for_each(|length| size(self, length)),
            TypeExprKind::Fun(params, result) => params.iter().chain([&**result]).for_each(|part| self.ty(part, false)),
        }
    }

    fn size(&mut self, size: &SizeExpr) {
        match &size.kind {
            SizeExprKind::Int(_) => {}
            SizeExprKind::Name(name) => self.uses(name),
            SizeExprKind::Add(a, b) | SizeExprKind::Sub(a, b) | SizeExprKind::Mul(a, b) => {
                self.size(a);
                self.size(b);
            }
        }
    }

    /// A function's or a let's names around a body.
    fn within(&mut self, patterns: &[Pattern], kind: Kind, body: &Expr) {
        let mark = self.bound.len();
        patterns.iter().for_each(|pattern| self.pattern(pattern, kind));
        patterns.iter().for_each(|pattern| self.annotations(pattern));
        self.expr(body);
        self.leave(mark);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Var(name) => self.uses(name),
            ExprKind::Int(..) | ExprKind::Double(_) | ExprKind::Bool(_) | ExprKind::Operator(_) => {}
            ExprKind::Fun(params, body) => self.within(params, Kind::Free, body),
            ExprKind::Let(pattern, value, body) => {
                self.expr(value);
                self.within(std::slice::from_ref(pattern), Kind::Let, body);
            }
            ExprKind::LetFun(functions, body) => {
                let mark = self.bound.len();
                let function = |this: &mut Self, fun: &LocalFun| {
                    fun.result.iter().for_each(|result| this.ty(result, false));
                    this.within(&fun.params, Kind::Free, &fun.value);
                };
                if let [fun] = functions.as_slice() {
                    // what only its own body uses is unused
                    function(self, fun);
                }
                functions.iter().for_each(|fun| self.bind(&fun.name.text, Some(fun.name.span), Kind::Let));
                if functions.len() > 1 {
                    functions.iter().for_each(|fun| function(self, fun));
                }
                self.expr(body);
                self.leave(mark);
            }
            ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => [a, b].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Slice(array, low, high) => {
                [Some(array), low.as_ref(), high.as_ref()].into_iter().flatten().for_each(|part| self.expr(part))
            }
            ExprKind::Unary(_, a) => self.expr(a),
            ExprKind::App(head, args) => std::iter::once(&**head).chain(args).for_each(|part| self.expr(part)),
            ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Field(base, _) => self.expr(base),
            ExprKind::Record(base, fields) => {
                base.iter().for_each(|base| self.expr(base));
                fields.iter().for_each(|(_, value)| self.expr(value));
            }
            ExprKind::Match(value, rows) => {
                self.expr(value);
                // a pattern names what it does not need, too
                rows.iter().for_each(|row| self.within(std::slice::from_ref(&row.pattern), Kind::Free, &row.body));
            }
            ExprKind::Deriv(subject, point) => {
                self.uses(&point.text);
                self.expr(subject);
            }
        }
    }
}

/// The sizes that a parameter declares, those of the lengths that it leaves out too.
fn declared(param: &Pattern, at: usize) -> Vec<(Rc<str>, usize)> {
    let name = super::infer::pattern_name(param, at);
    super::annotation::declared_names(param, &name).into_iter().map(|size| (size, at)).collect()
}
