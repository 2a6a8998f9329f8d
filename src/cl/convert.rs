//! Conversion to CL and from it (003 Figure 10).
//!
//! In: a core function; or an arrow and a term for each value of its context. Out: 𝒞⟦e⟧Γ, where Γ are the function's sizes and parameters;
//! or t ◇ c. With pruning, a part whose context has more than it reads is preceded by 𝒫.
//!
//!     x + y in (x, y, z)   →   (P[1/3], P[2/3]); F(+)

use std::rc::Rc;

use super::{Arrow, Op};
use crate::diagnostic::Diagnostic;
use crate::ir::free::mentions;
use crate::ir::subst::freshen_function;
use crate::ir::{Expr, Function, Program, Size, Term, Type, Updated, Var};
use crate::source::Span;

type Result<T> = std::result::Result<T, Diagnostic>;

fn internal(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0901", span, format!("internal error in CL: {what}")).help("please report it with the program")
}

/// The function as an arrow from its sizes and parameters.
pub fn to_cl(function: &Function, prunes: bool) -> Result<Arrow> {
    let context: Vec<Var> = function.sizes.iter().chain(&function.params).cloned().collect();
    arrow(&function.body, &context, prunes)
}

/// 𝒞⟦e⟧Γ, pruned to what e reads.
fn arrow(expr: &Expr, context: &[Var], prunes: bool) -> Result<Arrow> {
    let read: Vec<usize> = (0..context.len()).filter(|at| mentions(expr, &context[*at])).collect();
    let is_leaf = matches!(expr.term(), Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_));
    if !prunes || is_leaf || read.is_empty() || read.len() == context.len() {
        return whole(expr, context, prunes);
    }
    let inner: Vec<Var> = read.iter().map(|at| context[*at].clone()).collect();
    Ok(then(Arrow::Prune(read, context.len()), whole(expr, &inner, prunes)?))
}

fn then(first: Arrow, second: Arrow) -> Arrow {
    Arrow::Then(Rc::new(first), Rc::new(second))
}

fn whole(expr: &Expr, context: &[Var], prunes: bool) -> Result<Arrow> {
    let part = |expr: &Expr| arrow(expr, context, prunes);
    let boxed = |expr: &Expr| part(expr).map(Rc::new);
    let under = |vars: &[&Var], expr: &Expr| {
        let context: Vec<Var> = context.iter().chain(vars.iter().copied()).cloned().collect();
        arrow(expr, &context, prunes).map(Rc::new)
    };
    let applied = |op: Op, args: &[&Expr]| -> Result<Arrow> {
        let args = args.iter().map(|arg| part(arg)).collect::<Result<Vec<_>>>()?;
        Ok(then(Arrow::Tuple(args), Arrow::Function(op)))
    };
    Ok(match expr.term() {
        Term::Var(var) => {
            let at = context.iter().position(|own| own == var).ok_or_else(|| internal(expr.span(), "a variable is not in the context"))?;
            if context.len() == 1 { Arrow::Identity } else { Arrow::Prune(vec![at], context.len()) }
        }
        Term::Double(_) | Term::Index(_) | Term::Bool(_) => Arrow::Constant(expr.clone()),
        Term::Prim(prim, args) => applied(Op::Prim(*prim), &args.iter().collect::<Vec<_>>())?,
        Term::Let(var, value, body) => Arrow::Let(var.clone(), boxed(value)?, under(&[var], body)?),
        Term::If(cond, a, b) => Arrow::If(Rc::new([part(cond)?, part(a)?, part(b)?])),
        Term::Build { n, i, body } => Arrow::Build(boxed(n)?, i.clone(), under(&[i], body)?),
        Term::Fold { n, acc, i, body, init } => {
            Arrow::Fold { init: boxed(init)?, n: boxed(n)?, acc: acc.clone(), i: i.clone(), body: under(&[acc, i], body)? }
        }
        Term::Get(array, index) => applied(Op::Get, &[array, index])?,
        Term::Dim(array, axis) => applied(Op::Dim(*axis), &[array])?,
        Term::Tuple(parts) => applied(Op::Tuple, &parts.iter().collect::<Vec<_>>())?,
        Term::Proj(tuple, k) => applied(Op::Part(*k), &[tuple])?,
        Term::Array(items) => applied(Op::Array(expr.ty().element().cloned().unwrap_or(Type::Double)), &items.iter().collect::<Vec<_>>())?,
        Term::Call(name, args) => applied(Op::Call(name.clone()), &args.iter().collect::<Vec<_>>())?,
        Term::Update(change, parts) => {
            let count = Updated::of(parts).map_or(0, |update| update.indices.len());
            applied(Op::Update(*change, count), &parts.iter().collect::<Vec<_>>())?
        }
        Term::Check { cond, status, body } => Arrow::Check { cond: boxed(cond)?, status: *status, span: expr.span(), body: boxed(body)? },
        Term::While { .. } => return Err(crate::linear::recursion(expr.span(), "arrow")),
        Term::Iso(..) => return Err(crate::linear::recursive_type(expr.span(), "arrow")),
        Term::Dual { .. } | Term::Vjp { .. } => return Err(internal(expr.span(), "a derivative has no arrow")),
    })
}

/// The function that an arrow is, in the place of the one that it was made of.
pub fn from_cl(arrow: &Arrow, function: &Function, program: &Program) -> Result<Function> {
    let context: Vec<Expr> = function.sizes.iter().chain(&function.params).map(Expr::var).collect();
    let body = term(arrow, &context, program)?;
    Ok(freshen_function(&Function { body, ..function.clone() }))
}

/// t ◇ c, where t is a context of several values.
pub fn term(arrow: &Arrow, context: &[Expr], program: &Program) -> Result<Expr> {
    let under = |values: &[&Expr]| context.iter().chain(values.iter().copied()).cloned().collect::<Vec<Expr>>();
    Ok(match arrow {
        Arrow::Identity | Arrow::Prune(..) | Arrow::Tuple(_) => one(values(arrow, context, program)?),
        Arrow::Constant(value) => value.clone(),
        Arrow::Function(op) => apply(op, context, program)?,
        Arrow::Then(first, second) => term(second, &values(first, context, program)?, program)?,
        Arrow::If(parts) => {
            let [cond, a, b] = &**parts;
            Expr::if_(term(cond, context, program)?, term(a, context, program)?, term(b, context, program)?)
        }
        Arrow::Let(var, value, body) => {
            let value = term(value, context, program)?;
            let own = var.renewed(value.ty().clone());
            let body = term(body, &under(&[&Expr::var(&own)]), program)?;
            Expr::let_(own, value, body)
        }
        Arrow::Build(n, i, body) => {
            let n = term(n, context, program)?;
            let own = i.renewed(Type::Index(Some(Size::of_expr(&n))));
            let body = term(body, &under(&[&Expr::var(&own)]), program)?;
            Expr::build_with(n, own, body)
        }
        Arrow::Fold { init, n, acc, i, body } => {
            let (init, n) = (term(init, context, program)?, term(n, context, program)?);
            let (acc, i) = (acc.renewed(init.ty().clone()), i.renewed(Type::Index(Some(Size::of_expr(&n)))));
            let body = term(body, &under(&[&Expr::var(&acc), &Expr::var(&i)]), program)?;
            Expr::fold_with(n, acc, i, body, init)
        }
        Arrow::Check { cond, status, span, body } => {
            Expr::check(term(cond, context, program)?, *status, term(body, context, program)?).at(*span)
        }
    })
}

/// The context that an arrow makes for the next one.
pub fn values(arrow: &Arrow, context: &[Expr], program: &Program) -> Result<Vec<Expr>> {
    Ok(match arrow {
        Arrow::Identity => context.to_vec(),
        Arrow::Prune(places, _) => places.iter().filter_map(|at| context.get(*at).cloned()).collect(),
        Arrow::Tuple(parts) => parts.iter().map(|part| term(part, context, program)).collect::<Result<_>>()?,
        Arrow::Then(first, second) => values(second, &values(first, context, program)?, program)?,
        Arrow::Constant(_) | Arrow::Function(_) | Arrow::If(_) | Arrow::Let(..) | Arrow::Build(..) => vec![term(arrow, context, program)?],
        Arrow::Fold { .. } | Arrow::Check { .. } => vec![term(arrow, context, program)?],
    })
}

/// A context of one value is that value.
fn one(mut values: Vec<Expr>) -> Expr {
    if values.len() == 1 { values.swap_remove(0) } else { Expr::tuple(values) }
}

fn apply(op: &Op, args: &[Expr], program: &Program) -> Result<Expr> {
    let arg = |at: usize| args.get(at).cloned().ok_or_else(|| internal(Span::NONE, "an argument is missing"));
    Ok(match op {
        Op::Prim(prim) => Expr::prim(*prim, args.to_vec()),
        Op::Call(name) => match program.functions.get(name) {
            Some(function) => Expr::call(function, args.to_vec()),
            None => return Err(internal(Span::NONE, "a function is not there")),
        },
        Op::Get => Expr::get(arg(0)?, arg(1)?),
        Op::Dim(axis) => Expr::dim(arg(0)?, *axis),
        Op::Part(k) => Expr::proj(arg(0)?, *k),
        Op::Tuple => Expr::tuple(args.to_vec()),
        Op::Array(element) => Expr::array(element.clone(), args.to_vec()),
        Op::Update(change, count) => Expr::update(*change, arg(0)?, args.get(1..1 + count).unwrap_or_default().to_vec(), arg(1 + count)?),
    })
}
