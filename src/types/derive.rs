//! The differentiation API, desugared to `build`, projections and `dual`.
//!
//! In: a form of Figure 6 or LANGUAGE.md's table, a function and a point. Out: core with `dual`; how that is
//! computed is `ad`'s business. The point is bound anew inside, so everything else is a constant there.
//!
//!     gradient f v   →   build(length v, i. dual(x = v, dx = e_i). f x).1)
//!
//! The paper's forms keep the value beside the derivative and put the input's index first (Figures 5, 6);
//! `jacobian` has a row per output.

use std::rc::Rc;

use super::builtin::Api;
use super::elaborate::{Arg, Bind, Elaborator, Instance, Result, Scope};
use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Prim, Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast;

/// What `--derive KIND:FUNCTION[:PARAMETER]` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derive {
    pub kind: Kind,
    pub function: String,
    /// The first differentiable parameter when left out.
    pub parameter: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Jvp,
    Vjp,
    Gradient,
    Jacobian,
    Hessian,
}

impl Derive {
    /// `KIND:FUNCTION[:PARAMETER]`.
    pub fn parse(text: &str) -> std::result::Result<Derive, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [name, function, parameter @ ..] = parts.as_slice() else { return Err("KIND:FUNCTION is missing its `:`".into()) };
        let kind = Kind::ALL.iter().find(|row| row.0 == *name).map(|row| row.1);
        let kind = kind.ok_or("the kinds are jvp, vjp, gradient, jacobian and hessian")?;
        if parameter.len() > 1 {
            return Err("there is more than KIND:FUNCTION:PARAMETER".into());
        }
        Ok(Derive { kind, function: function.to_string(), parameter: parameter.first().map(|name| name.to_string()) })
    }

    /// The name of the entry that it adds.
    pub fn entry(&self) -> String {
        let name = format!("{}_{}", self.function, self.kind.name());
        self.parameter.iter().fold(name, |name, parameter| format!("{name}_{parameter}"))
    }
}

impl Kind {
    pub const ALL: [(&'static str, Kind); 5] =
        [("jvp", Kind::Jvp), ("vjp", Kind::Vjp), ("gradient", Kind::Gradient), ("jacobian", Kind::Jacobian), ("hessian", Kind::Hessian)];

    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }
}

/// A function to differentiate: core of the argument to core of the result.
type Body<'b, 'a> = &'b mut dyn FnMut(&mut Elaborator<'a>, Expr) -> Result<Expr>;

impl<'a> Elaborator<'a> {
    /// A form applied to its arguments.
    pub(super) fn form(&mut self, api: Api, args: Vec<Arg<'a>>, span: Span) -> Result<Expr> {
        let mut args = args.into_iter();
        match (args.next(), args.next(), args.next()) {
            (Some(Arg::Function(f)), Some(Arg::Value(point)), tangent) => {
                let point = self.point(point, api.name(), span)?;
                let mut body = |this: &mut Self, x: Expr| this.apply(&f, vec![Arg::Value(x)], span);
                match (api, tangent) {
                    (Api::Jvp, Some(Arg::Value(tangent))) => {
                        let wanted = point.ty().clone();
                        let tangent = self.coerce(tangent, &wanted, span, "the tangent has the shape of the point")?;
                        self.jvp(point, tangent, &mut body, span)
                    }
                    (Api::Diff | Api::Vdiff | Api::Mdiff | Api::Grad | Api::Mgrad | Api::Jacob, _) => self.paired(point, &mut body, span),
                    (Api::Derivative | Api::Gradient, _) => self.gradient(point, &mut body, api.name(), span),
                    (Api::Jacobian, _) => self.jacobian(point, &mut body, span),
                    (Api::Hessian, _) => self.hessian(point, &mut body, span),
                    (Api::Jvp, _) => self.function_as_value(span),
                }
            }
            _ => self.function_as_value(span),
        }
    }

    /// `deriv e x`: D of `fun x -> e` at x (Figure 5).
    pub(super) fn deriv(&mut self, subject: &'a ast::Expr, point: &'a ast::Name, scope: &Scope<'a>, span: Span) -> Result<Expr> {
        let at = match scope.values.get(&point.text) {
            Some(Bind::Value(value)) => value.clone(),
            Some(Bind::Function(_)) | None => {
                let diagnostic = Diagnostic::error("E0503", point.span, format!("`{}` is no local variable", point.text))
                    .help("the independent variable of `deriv` is a parameter or a `let` of type Double, Vector or Matrix");
                return self.fail(diagnostic);
            }
        };
        let at = self.point(at, "deriv", point.span)?;
        let mut body = |this: &mut Self, x: Expr| {
            let inside = Scope { values: scope.values.with(&point.text, Bind::Value(x)), ..scope.clone() };
            this.expr(subject, &inside)
        };
        let result = self.paired(at, &mut body, span)?;
        let mut element = result.ty();
        while let Type::Array(inner, _) = element {
            element = inner;
        }
        if matches!(element, Type::Index(_) | Type::Bool) {
            let diagnostic = Diagnostic::error("E0502", subject.span, "only Double expressions have a derivative")
                .help("an Index or a Bool is constant between its jumps; convert with `double` to differentiate what uses it");
            return self.fail(diagnostic);
        }
        Ok(result)
    }

    /// A point: bound to a variable, and of a type that can be the independent variable.
    fn point(&mut self, point: Expr, form: &str, span: Span) -> Result<Expr> {
        let mut element = point.ty().clone();
        while let Type::Array(inner, _) = element {
            element = (*inner).clone();
        }
        if element != Type::Double {
            let diagnostic = Diagnostic::error(
                "E0503",
                span,
                format!("`{form}` cannot differentiate with respect to this: it is no Double and no array of Doubles"),
            )
            .help("the independent variable is a Double, a Vector or a Matrix");
            return self.fail(diagnostic);
        }
        Ok(self.name("x", point))
    }

    fn dual(&mut self, point: &Expr, tangent: Expr, body: Body<'_, 'a>) -> Result<Expr> {
        let name: Rc<str> = match point.term() {
            crate::ir::Term::Var(var) => var.name().clone(),
            _ => "x".into(),
        };
        let x = Var::fresh(&name, point.ty().clone());
        let body = self.scoped(|this| {
            this.note(&x);
            body(this, Expr::var(&x))
        })?;
        Ok(Expr::dual(x, point.clone(), tangent, body))
    }

    /// One element per component of the point: `f` of the point's unit tangent there.
    fn each_unit(&mut self, point: &Expr, f: &mut dyn FnMut(&mut Self, Expr) -> Result<Expr>) -> Result<Expr> {
        let dims = point.ty().dims();
        let vars: Vec<Var> = dims
            .iter()
            .zip(["r", "c", "k", "l"].iter().cycle())
            .map(|(size, name)| Var::fresh(if dims.len() == 1 { "i" } else { name }, Type::Index(Some(size.clone()))))
            .collect();
        let unit = unit(point, &vars);
        let mut result = self.scoped(|this| f(this, unit))?;
        for (axis, var) in vars.into_iter().enumerate().rev() {
            result = Expr::build_with(Expr::dim(point.clone(), axis), var, result);
        }
        Ok(result)
    }

    fn paired(&mut self, point: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let at = point.clone();
        Ok(self.each_unit(&point, &mut |this, unit| this.dual(&at, unit, body))?.at(span))
    }

    fn gradient(&mut self, point: Expr, body: Body<'_, 'a>, form: &str, span: Span) -> Result<Expr> {
        if form == "gradient" && !matches!(point.ty().dims().len(), 1 | 2) {
            let diagnostic = Diagnostic::error("E0501", span, "`gradient` takes a function of a Vector or a Matrix")
                .help("`derivative` is the form for a Double, `jvp` for any array");
            return self.fail(diagnostic);
        }
        let at = point.clone();
        Ok(self.each_unit(&point, &mut |this, unit| Ok(Expr::proj(this.dual(&at, unit, body)?, 1)))?.at(span))
    }

    /// Rows are outputs: the transpose of one directional derivative per input.
    fn jacobian(&mut self, point: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let at = point.clone();
        let columns = self.each_unit(&point, &mut |this, unit| {
            let dual = this.dual(&at, unit, body)?;
            let dual = this.name("d", dual);
            Ok(Expr::build(Expr::dim(dual.clone(), 0), "k", |k| Expr::proj(Expr::get(dual.clone(), k), 1)))
        })?;
        let columns = self.name("columns", columns.at(span));
        let rows = columns.ty().dims().get(1).and_then(Size::to_expr).unwrap_or_else(|| Expr::dim(columns.clone(), 1));
        let n = Expr::dim(point, 0);
        Ok(Expr::build(rows, "k", |k| Expr::build(n, "i", |i| Expr::get(Expr::get(columns.clone(), i), k.clone()))).at(span))
    }

    /// The derivative of each component of the gradient; symmetric where the function is smooth.
    fn hessian(&mut self, point: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let at = point.clone();
        let rows = self.each_unit(&point, &mut |this, unit| {
            let mut gradient = |this: &mut Self, x: Expr| this.gradient(x, body, "hessian", span);
            let dual = this.dual(&at, unit, &mut gradient)?;
            let dual = this.name("d", dual);
            Ok(Expr::build(Expr::dim(dual.clone(), 0), "j", |j| Expr::proj(Expr::get(dual.clone(), j), 1)))
        })?;
        Ok(rows.at(span))
    }

    fn jvp(&mut self, point: Expr, tangent: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let mut primal = Type::Double;
        let mut noted = |this: &mut Self, x: Expr| {
            let value = body(this, x)?;
            primal = value.ty().clone();
            Ok(value)
        };
        let dual = self.dual(&point, tangent, &mut noted)?;
        Ok(tangents(dual, &primal).at(span))
    }

    /// The entry that `--derive` asks for: the function's parameters (for `jvp` also `d_<parameter>`), the
    /// derivative alone.
    pub(super) fn derived_entry(&mut self, index: usize, instance: &Instance, derive: &Derive) -> Result<Rc<str>> {
        let span = self.modules.globals[index].decl.name.span;
        let primal = self.entry(index, instance)?;
        let Some(function) = self.program.functions.get(&primal).map(crate::ir::subst::freshen_function) else {
            return self.function_as_value(span);
        };
        let chosen = match &derive.parameter {
            Some(name) => function.params.iter().position(|param| **param.name() == **name),
            None => function.params.iter().position(|param| is_differentiable(param.ty())),
        };
        let Some(chosen) = chosen.filter(|at| is_differentiable(function.params[*at].ty())) else {
            let which = derive.parameter.as_ref().map_or("no parameter".to_string(), |name| format!("no parameter `{name}`"));
            let diagnostic =
                Diagnostic::error("E0504", span, format!("`{}` has {which} that is a Double or an array of Doubles", derive.function))
                    .help("name a differentiable parameter: `--derive KIND:FUNCTION:PARAMETER`");
            return self.fail(diagnostic);
        };
        let param = function.params[chosen].clone();
        let (rank, scalar) = (param.ty().dims().len(), function.result == Type::Double);
        let fits = match derive.kind {
            Kind::Jvp => true,
            Kind::Vjp => {
                let diagnostic = Diagnostic::error("E0603", span, "unsupported: vjp needs reverse mode")
                    .help("use jvp, gradient or jacobian, which forward mode computes");
                return self.fail(diagnostic);
            }
            Kind::Gradient => rank <= 2 && scalar,
            Kind::Jacobian => rank == 1 && function.result.dims().len() == 1 && function.result.element() == Some(&Type::Double),
            Kind::Hessian => rank == 1 && scalar,
        };
        if !fits {
            let diagnostic = Diagnostic::error("E0501", span, format!("`{}` has no {} with respect to `{}`", derive.function, derive.kind.name(), param.name()))
                .help("gradient: Double result, Vector or Matrix parameter; jacobian: Vector to Vector; hessian: Vector to Double; jvp: anything differentiable");
            return self.fail(diagnostic);
        }
        let mut params = function.params.clone();
        if derive.kind == Kind::Jvp {
            let mut tangent = format!("d_{}", param.name());
            while params.iter().any(|other| **other.name() == *tangent) {
                tangent.push('_');
            }
            params.push(Var::fresh(&tangent, param.ty().clone()));
        }
        let name = derive.entry();
        if let Some(other) = self.modules.main_globals().find(|other| *self.modules.globals[*other].decl.name.text == *name) {
            let other = self.modules.globals[other].decl.name.span;
            let message = format!("`--derive` makes an entry `{name}`, which the file declares already");
            return self.fail(Diagnostic::error("E0201", other, message).label(span, "derived from this").help("rename the declaration"));
        }
        let doc = format!("The {} of `{}` with respect to `{}`.", describe(derive.kind), derive.function, param.name());
        let callee = function.clone();
        let special = self.make((&name, true), params, Some(doc), span, |this, params| {
            let point = Expr::var(&params[chosen]);
            let mut body = |_: &mut Self, x: Expr| {
                let args = (0..callee.params.len()).map(|at| if at == chosen { x.clone() } else { Expr::var(&params[at]) }).collect();
                Ok(Expr::call(&callee, args).at(span))
            };
            match derive.kind {
                Kind::Jvp => {
                    let tangent = Expr::var(&params[callee.params.len()]);
                    this.jvp(point, tangent, &mut body, span)
                }
                Kind::Gradient | Kind::Vjp => this.gradient(point, &mut body, "derivative", span),
                Kind::Jacobian => this.jacobian(point, &mut body, span),
                Kind::Hessian => this.hessian(point, &mut body, span),
            }
        })?;
        Ok(special.name.clone())
    }
}

fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Jvp => "directional derivative",
        Kind::Vjp => "transposed derivative",
        Kind::Gradient => "gradient",
        Kind::Jacobian => "Jacobian (row = output)",
        Kind::Hessian => "Hessian",
    }
}

/// Whether a parameter can be the independent variable.
fn is_differentiable(ty: &Type) -> bool {
    match ty {
        Type::Double => true,
        Type::Array(element, _) => is_differentiable(element),
        Type::Bool | Type::Index(_) | Type::Tuple(_) => false,
    }
}

/// The tangent with a one at the position that `vars` name, zero elsewhere.
fn unit(point: &Expr, vars: &[Var]) -> Expr {
    if vars.is_empty() {
        return Expr::double(1.0);
    }
    let names = ["j", "q", "s", "t"];
    let inner: Vec<Var> = vars.iter().zip(names.iter().cycle()).map(|(var, name)| Var::fresh(name, var.ty().clone())).collect();
    let same = vars
        .iter()
        .zip(&inner)
        .map(|(a, b)| Expr::prim(Prim::Eq, vec![Expr::var(a), Expr::var(b)]))
        .reduce(|a, b| Expr::prim(Prim::And, vec![a, b]))
        .unwrap_or_else(|| Expr::bool(true));
    let element = Expr::if_(same, Expr::double(1.0), Expr::double(0.0));
    inner.into_iter().enumerate().rev().fold(element, |body, (axis, var)| Expr::build_with(Expr::dim(point.clone(), axis), var, body))
}

/// The tangents of a dual value whose primal has type `primal`; an Index or Bool stays.
fn tangents(dual: Expr, primal: &Type) -> Expr {
    match primal {
        Type::Double => Expr::proj(dual, 1),
        Type::Bool | Type::Index(_) => dual,
        Type::Array(element, _) => {
            Expr::bind("d", dual, |dual| Expr::build(Expr::dim(dual.clone(), 0), "k", |k| tangents(Expr::get(dual.clone(), k), element)))
        }
        Type::Tuple(parts) => Expr::bind("d", dual, |dual| {
            Expr::tuple(parts.iter().enumerate().map(|(at, part)| tangents(Expr::proj(dual.clone(), at), part)).collect())
        }),
    }
}
