//! The differentiation API, desugared to `build`, projections and `dual`.
//!
//! In: a form of docs/language.md, Derivatives, a function and a point. Out: core with `dual` and `vjp`; how a `vjp` is
//! computed `mode` chooses. The point is bound anew inside, so everything else is a constant there.
//!
//!     jvp f v dv     →   (dual(x = v, dx = dv). f x).1
//!     gradient f v   →   (vjp(x = v, w = 1.0). f x).1
//!
//! The paper's forms keep the value beside the derivative and put the input's index first (001 Figures 5, 6);
//! `jacobian` has a row for each Double of the result.

use std::rc::Rc;

use super::builtin::Api;
use super::elaborate::{Elaborator, Result};
use super::scope::{Arg, Bind, Instance, Scope};
use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Labels, Name, Type, Var, doubles};
use crate::source::Span;
use crate::syntax::ast;

/// What `--derive KIND:FUNCTION[:PARAMETER,…]` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derive {
    pub kind: Kind,
    pub function: String,
    pub parameters: Parameters,
}

/// The parameters that a derivative is taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameters {
    /// The first that is differentiable.
    First,
    /// Those of these names, in this order; several make a tuple.
    Named(Vec<String>),
    /// All that are made of Doubles, as a tuple where they are several.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Jvp,
    Vjp,
    Gradient,
    ValueAndGradient,
    Jacobian,
    /// The rows, columns and values of a Jacobian's entries: those that the function's terms read.
    SparseJacobian,
    Hessian,
    /// The way forward of a reverse derivative: the value and what is kept.
    Revf,
    /// The way back: from what is kept and a cotangent.
    Revr,
}

impl Derive {
    /// `KIND:FUNCTION[:PARAMETER,…]`, or `KIND:FUNCTION:*`.
    pub fn parse(text: &str) -> std::result::Result<Derive, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let [name, function, parameters @ ..] = parts.as_slice() else { return Err("KIND:FUNCTION is missing its `:`".into()) };
        let kind = Kind::ALL.iter().find(|row| row.0 == *name).map(|row| row.1);
        let kind = kind.ok_or("the kinds are jvp, vjp, gradient, valueAndGradient, jacobian, sparse_jacobian, hessian, revf and revr")?;
        let parameters = match parameters {
            [] => Parameters::First,
            ["*"] => Parameters::All,
            [names] => Parameters::Named(names.split(',').map(str::to_string).collect()),
            _ => return Err("there is more than KIND:FUNCTION:PARAMETER".into()),
        };
        if let Parameters::Named(names) = &parameters
            && let Some(name) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)).map(|(_, name)| name)
        {
            return Err(format!("`{name}` is there twice"));
        }
        Ok(Derive { kind, function: function.to_string(), parameters })
    }

    /// The name of the entry that it adds.
    pub fn entry(&self) -> String {
        let name = format!("{}_{}", self.function, self.kind.name());
        match &self.parameters {
            Parameters::First => name,
            Parameters::Named(names) => names.iter().fold(name, |name, parameter| format!("{name}_{parameter}")),
            Parameters::All => format!("{name}_all"),
        }
    }
}

/// As [`Derive::parse`] reads it.
impl std::fmt::Display for Derive {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}:{}", self.kind.name(), self.function)?;
        match &self.parameters {
            Parameters::First => Ok(()),
            Parameters::Named(names) => write!(f, ":{}", names.join(",")),
            Parameters::All => write!(f, ":*"),
        }
    }
}

impl Kind {
    pub const ALL: [(&'static str, Kind); 9] = [
        ("jvp", Kind::Jvp),
        ("vjp", Kind::Vjp),
        ("gradient", Kind::Gradient),
        ("valueAndGradient", Kind::ValueAndGradient),
        ("jacobian", Kind::Jacobian),
        ("sparse_jacobian", Kind::SparseJacobian),
        ("hessian", Kind::Hessian),
        ("revf", Kind::Revf),
        ("revr", Kind::Revr),
    ];

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
                let fits = match api {
                    Api::Gradient | Api::ValueAndGradient | Api::Vjp | Api::Rd | Api::Jvp => Type::has_double,
                    Api::Jacobian | Api::Hessian => Type::is_made_of_doubles,
                    Api::Derivative | Api::Diff | Api::Vdiff | Api::Mdiff | Api::Grad | Api::Mgrad | Api::Jacob => is_differentiable,
                };
                let point = self.point((self.parameter_name(&f, 0, "x"), point), api.name(), fits, span)?;
                let mut body = |this: &mut Self, x: Expr| this.apply(&f, vec![Arg::Value(x)], span);
                match (api, tangent) {
                    (Api::Jvp, Some(Arg::Value(tangent))) => {
                        let wanted = point.ty().clone();
                        let tangent = self.coerce(tangent, &wanted, span, "the tangent has the shape of the point")?;
                        self.jvp(point, tangent, &mut body, span)
                    }
                    (Api::Diff | Api::Vdiff | Api::Mdiff | Api::Grad | Api::Mgrad | Api::Jacob, _) => self.paired(point, &mut body, span),
                    (Api::Derivative, _) => self.derivative(point, &mut body, span),
                    (Api::Gradient, _) => self.gradient(point, &mut body, span),
                    (Api::ValueAndGradient, _) => self.vjp(point, Some(Expr::double(1.0)), &mut body, span),
                    (Api::Vjp | Api::Rd, Some(Arg::Value(cotangent))) => {
                        let both = self.vjp(point, Some(cotangent), &mut body, span)?;
                        Ok(Expr::proj(both, 1).at(span.of_derivative()))
                    }
                    (Api::Jacobian, _) => self.jacobian(point, &mut body, span),
                    (Api::Hessian, _) => self.hessian(point, &mut body, span),
                    (Api::Jvp | Api::Vjp | Api::Rd, _) => self.function_as_value(span),
                }
            }
            _ => self.function_as_value(span),
        }
    }

    /// `deriv e x`: D of `fun x -> e` at x (001 Figure 5).
    pub(super) fn deriv(&mut self, subject: &'a ast::Expr, point: &'a ast::Name, scope: &Scope<'a>, span: Span) -> Result<Expr> {
        let at = match scope.values.get(&point.text) {
            Some(Bind::Value(value)) => value.clone(),
            Some(Bind::Function(_)) | None => {
                let diagnostic = Diagnostic::error("E0503", point.span, format!("`{}` is no local variable", point.text))
                    .help("the independent variable of `deriv` is a parameter or a `let` of type Double, Vector or Matrix");
                return self.fail(diagnostic);
            }
        };
        let at = self.point(("x".into(), at), "deriv", is_differentiable, point.span)?;
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

    /// A point: bound to a variable of this name, and of a type that can be the independent variable.
    fn point(&mut self, (name, point): (Name, Expr), form: &str, fits: fn(&Type) -> bool, span: Span) -> Result<Expr> {
        if fits(point.ty()) {
            return Ok(self.name(name, point));
        }
        let message = format!("`{form}` cannot differentiate with respect to this: it is not made of Doubles");
        let help = "the independent variable is a Double, an array or a tuple of such; `gradient`, `vjp` and `jvp` let an Index, a Bool or the tag of a sum type in it be";
        self.fail(Diagnostic::error("E0503", span, message).help(help))
    }

    fn dual(&mut self, point: &Expr, tangent: Expr, body: Body<'_, 'a>) -> Result<Expr> {
        let x = Var::named(variable_name(point), point.ty().clone());
        let body = self.scoped(|this| {
            this.note(&x);
            body(this, Expr::var(&x))
        })?;
        Ok(Expr::dual(x, point.clone(), tangent, body))
    }

    /// `f` of the point's unit tangent at each of its Doubles, in the Double's place.
    fn each_unit(&mut self, point: &Expr, f: &mut dyn FnMut(&mut Self, Expr) -> Result<Expr>) -> Result<Expr> {
        self.scoped(|this| doubles::try_each_double(point, point.ty(), &mut |path| f(this, doubles::unit(point, path))))
    }

    fn paired(&mut self, point: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let at = point.clone();
        Ok(self.each_unit(&point, &mut |this, unit| this.dual(&at, unit, body))?.at(span.of_derivative()))
    }

    /// One directional derivative: of a Double, or along each Double of an array.
    fn derivative(&mut self, point: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let at = point.clone();
        Ok(self.each_unit(&point, &mut |this, unit| Ok(Expr::proj(this.dual(&at, unit, body)?, 1)))?.at(span.of_derivative()))
    }

    /// One sweep for all Doubles of the point, whatever their number; a Double alone is a direction.
    fn gradient(&mut self, point: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        if point.ty() == &Type::Double && !self.keep_gradients {
            return self.derivative(point, body, span);
        }
        Ok(Expr::proj(self.vjp(point, Some(Expr::double(1.0)), body, span)?, 1).at(span.of_derivative()))
    }

    /// The value at a point and the cotangent times the Jacobian; without one, the whole Jacobian.
    fn vjp(&mut self, point: Expr, cotangent: Option<Expr>, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let x = Var::named(variable_name(&point), point.ty().clone());
        let body = self.scoped(|this| {
            this.note(&x);
            body(this, Expr::var(&x))
        })?;
        if !body.ty().has_double() {
            let message = format!("the function's result has type {}, in which there is no Double", body.ty());
            return self.fail(Diagnostic::error("E0501", span, message).help("`jvp` takes a function of any result"));
        }
        let cotangent = match cotangent {
            Some(cotangent) => self.coerce(cotangent, &body.ty().clone(), span, "the cotangent has the shape of the function's result")?,
            None => Expr::tuple(Vec::new()),
        };
        Ok(Expr::vjp(x, point, cotangent, body).at(span.of_derivative()))
    }

    /// A row for each Double of the result.
    fn jacobian(&mut self, point: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        Ok(Expr::proj(self.vjp(point, None, body, span)?, 1).at(span.of_derivative()))
    }

    /// The derivative of each component of the gradient; symmetric where the function is smooth.
    fn hessian(&mut self, point: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let at = point.clone();
        let rows = self.each_unit(&point, &mut |this, unit| {
            let mut gradient = |this: &mut Self, x: Expr| this.gradient(x, body, span);
            Ok(doubles::tangents(this.dual(&at, unit, &mut gradient)?, at.ty()))
        })?;
        Ok(rows.at(span.of_derivative()))
    }

    fn jvp(&mut self, point: Expr, tangent: Expr, body: Body<'_, 'a>, span: Span) -> Result<Expr> {
        let mut primal = Type::Double;
        let mut noted = |this: &mut Self, x: Expr| {
            let value = body(this, x)?;
            primal = value.ty().clone();
            Ok(value)
        };
        let dual = self.dual(&point, tangent, &mut noted)?.at(span);
        Ok(doubles::tangents(dual, &primal).at(span.of_derivative()))
    }

    /// The entry that `--derive` asks for: the function's parameters (for `jvp` also `d_<parameter>`), the
    /// derivative alone.
    pub(super) fn derived_entry(&mut self, index: usize, instance: &Instance, derive: &Derive) -> Result<Rc<str>> {
        let span = self.modules.globals[index].decl.name.span;
        let primal = self.entry(index, instance)?;
        let Some(function) = self.program.functions.get(&primal).map(crate::ir::subst::freshen_function) else {
            return self.function_as_value(span);
        };
        let chosen = self.chosen(&function, derive, span)?;
        let types: Vec<Type> = chosen.iter().map(|at| function.params[*at].ty().clone()).collect();
        let point_type = if let [ty] = types.as_slice() { ty.clone() } else { Type::tuple(types.clone()) };
        let scalar = function.result == Type::Double;
        let fits = match derive.kind {
            Kind::Jvp => true,
            Kind::Vjp | Kind::Revf | Kind::Revr => function.result.has_double(),
            Kind::Gradient | Kind::ValueAndGradient => scalar,
            Kind::Jacobian | Kind::SparseJacobian => function.result.is_made_of_doubles() && point_type.is_made_of_doubles(),
            Kind::Hessian => scalar && point_type.is_made_of_doubles(),
        };
        let names = chosen.iter().map(|at| format!("`{}`", function.params[*at].name())).collect::<Vec<_>>().join(", ");
        if !fits {
            let message = format!("`{}` has no {} with respect to {names}", derive.function, derive.kind.name());
            let help = "gradient, valueAndGradient, hessian: Double result; jacobian, sparse_jacobian: a result made of Doubles; vjp, revf, revr: a result \
                        with a Double inside; jacobian, sparse_jacobian, hessian: parameters made of Doubles; jvp: anything differentiable; a value of a sum type has gradient, vjp and jvp";
            return self.fail(Diagnostic::error("E0501", span, message).help(help));
        }
        let mut params = function.params.clone();
        let mut add = |name: String, ty: &Type| {
            let mut name = name;
            while params.iter().any(|other| **other.name() == *name) {
                name.push('_');
            }
            params.push(Var::fresh(&name, ty.clone()));
        };
        match derive.kind {
            Kind::Jvp => chosen.iter().for_each(|at| add(format!("d_{}", function.params[*at].name()), function.params[*at].ty())),
            Kind::Vjp | Kind::Revf | Kind::Revr => add("d_out".into(), &function.result),
            Kind::Gradient | Kind::ValueAndGradient | Kind::Jacobian | Kind::SparseJacobian | Kind::Hessian => {}
        }
        let name = derive.entry();
        if let Some(other) = self.modules.main_globals().find(|other| *self.modules.globals[*other].decl.name.text == *name) {
            let other = self.modules.globals[other].decl.name.span;
            let message = format!("`--derive` makes an entry `{name}`, which the file declares already");
            return self.fail(Diagnostic::error("E0201", other, message).label(span, "derived from this").help("rename the declaration"));
        }
        let doc = format!("The {} of `{}` with respect to {names}.", describe(derive.kind), derive.function);
        let callee = function.clone();
        let labels = derived_labels(&function, &chosen, derive.kind);
        let special = self.make((&name, true), params, None, (Some(doc), span), &mut |this, params| {
            let together = |values: Vec<Expr>| if values.len() == 1 { values.into_iter().next() } else { Some(Expr::tuple(values)) };
            let point = together(chosen.iter().map(|at| Expr::var(&params[*at])).collect()).unwrap_or(Expr::double(0.0));
            let point = this.name("x", point);
            // what follows the function's own parameters are tangents, or a cotangent
            let extra = together(params.iter().skip(callee.params.len()).map(Expr::var).collect()).unwrap_or(Expr::double(1.0));
            let mut body = |_: &mut Self, x: Expr| {
                let args = (0..callee.params.len()).map(|at| match chosen.iter().position(|own| *own == at) {
                    Some(_) if chosen.len() == 1 => x.clone(),
                    Some(k) => Expr::proj(x.clone(), k),
                    None => Expr::var(&params[at]),
                });
                Ok(Expr::call(&callee, args.collect()).at(span))
            };
            match derive.kind {
                Kind::Jvp => this.jvp(point, extra, &mut body, span),
                Kind::Vjp | Kind::Revf | Kind::Revr => {
                    let both = this.vjp(point, Some(extra), &mut body, span)?;
                    Ok(Expr::proj(both, 1).at(span.of_derivative()))
                }
                Kind::ValueAndGradient => this.vjp(point, Some(Expr::double(1.0)), &mut body, span),
                Kind::Gradient => this.gradient(point, &mut body, span),
                Kind::Jacobian => {
                    let rows = this.jacobian(point, &mut body, span)?;
                    this.blocks(rows, &callee.result, chosen.len())
                }
                // `driver::sparse` makes it of the whole
                Kind::SparseJacobian => this.jacobian(point, &mut body, span),
                Kind::Hessian if types.len() == 1 => this.hessian(point, &mut body, span),
                Kind::Hessian => {
                    let rows = this.hessian(point, &mut body, span)?;
                    let rows = this.name("rows", rows);
                    let row = |(k, ty)| this.blocks(Expr::proj(rows.clone(), k), ty, types.len());
                    Ok(Expr::tuple(types.iter().enumerate().map(row).collect::<Result<_>>()?))
                }
            }
        })?;
        if let Some(made) = self.program.functions.get_mut(&special.name) {
            made.labels = labels;
        }
        Ok(special.name.clone())
    }

    /// A derivative in several parameters at once as a tuple of those in each: `rows` has the shape of `ty`, with a tuple in
    /// the place of each Double.
    fn blocks(&mut self, rows: Expr, ty: &Type, count: usize) -> Result<Expr> {
        if count == 1 {
            return Ok(rows);
        }
        let rows = self.name("rows", rows);
        let block = |k: usize| doubles::try_each_double(&rows, ty, &mut |path| Ok(Expr::proj(doubles::read(&rows, path), k)));
        Ok(Expr::tuple((0..count).map(block).collect::<Result<_>>()?))
    }

    /// The places of the parameters that a derivative is taken in.
    fn chosen(&mut self, function: &crate::ir::Function, derive: &Derive, span: Span) -> Result<Vec<usize>> {
        let params = &function.params;
        let all = (0..params.len()).filter(|at| takes_part(params[*at].ty(), function.parameter_labels(*at)));
        // where no parameter is of Doubles alone, those with some
        let some = (0..params.len()).filter(|at| params[*at].ty().has_double());
        let all: Vec<usize> = if all.clone().next().is_some() { all.collect() } else { some.collect() };
        let chosen: Vec<Option<usize>> = match &derive.parameters {
            Parameters::First => vec![all.first().copied()],
            Parameters::All => all.into_iter().map(Some).collect(),
            Parameters::Named(names) => {
                let place =
                    |name: &String| params.iter().position(|param| **param.name() == **name).filter(|at| params[*at].ty().has_double());
                names.iter().map(place).collect()
            }
        };
        if let (Some(chosen), false) = (chosen.iter().copied().collect::<Option<Vec<usize>>>(), chosen.is_empty()) {
            return Ok(chosen);
        }
        let missing = match &derive.parameters {
            Parameters::Named(names) => {
                names.iter().zip(&chosen).find(|(_, at)| at.is_none()).map(|(name, _)| format!("no parameter `{name}`"))
            }
            Parameters::First | Parameters::All => None,
        };
        let which = missing.unwrap_or_else(|| "no parameter".to_string());
        let message = format!("`{}` has {which} that is a Double or an array of Doubles", derive.function);
        let help = "name a differentiable parameter: `--derive KIND:FUNCTION:PARAMETER`";
        self.fail(Diagnostic::error("E0504", span, message).help(help))
    }
}

/// Whether a derivative is taken in values of this type without being asked for: of Doubles, or of a sum type with some.
fn takes_part(ty: &Type, labels: &Labels) -> bool {
    ty.is_made_of_doubles() || matches!(labels, Labels::Sum(..) | Labels::Recursive(_)) && ty.has_double()
}

/// The names inside the parameters and the result of a derived entry.
fn derived_labels(function: &crate::ir::Function, chosen: &[usize], kind: Kind) -> Vec<Labels> {
    let mut labels: Vec<Labels> = (0..function.params.len()).map(|at| function.parameter_labels(at).clone()).collect();
    // the names of a pattern are those of the parameter alone
    let of = |at: &usize| function.parameter_labels(*at).renamed(&|_| None);
    let point: Vec<Labels> = chosen.iter().map(of).collect();
    let together = |mut parts: Vec<Labels>| if parts.len() == 1 { parts.swap_remove(0) } else { Labels::tuple(parts) };
    let result = function.result_labels();
    let rows = |by: &Labels| result.with_doubles(&function.result, by);
    let derivative = match kind {
        Kind::Jvp => {
            labels.extend(chosen.iter().map(|at| function.parameter_labels(*at).renamed(&|name| Some(format!("d_{name}")))));
            result.clone()
        }
        Kind::Vjp | Kind::Revf | Kind::Revr => {
            labels.push(result.clone());
            together(point)
        }
        Kind::Gradient => together(point),
        Kind::ValueAndGradient => Labels::tuple(vec![Labels::None, together(point)]),
        Kind::Jacobian => together(point.iter().map(rows).collect()),
        Kind::SparseJacobian => Labels::None,
        Kind::Hessian => {
            let block = |at: &usize| together(point.iter().map(|by| of(at).with_doubles(function.params[*at].ty(), by)).collect());
            together(chosen.iter().map(block).collect())
        }
    };
    labels.push(derivative);
    labels
}

fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Jvp => "directional derivative",
        Kind::Vjp => "transposed derivative",
        Kind::Gradient => "gradient",
        Kind::ValueAndGradient => "value and gradient",
        Kind::Jacobian => "Jacobian (row = output)",
        Kind::SparseJacobian => "rows, columns and values of the Jacobian (row = output)",
        Kind::Hessian => "Hessian",
        Kind::Revf => "way forward, with what the way back reads, for the derivative",
        Kind::Revr => "way back for the derivative",
    }
}

/// The name of the variable that a point is bound anew to.
fn variable_name(point: &Expr) -> Name {
    if let crate::ir::Term::Var(var) = point.term() { var.full_name().clone() } else { "x".into() }
}

/// Whether a parameter can be the independent variable.
fn is_differentiable(ty: &Type) -> bool {
    match ty {
        Type::Double => true,
        Type::Array(element, _) => is_differentiable(element),
        Type::Bool | Type::Index(_) | Type::Tuple(_) | Type::Rec(_) => false,
    }
}
