//! Linearisation (003 Figure 6): ∇⟦e⟧, the derivative of a term in the Doubles of a function's parameters.
//!
//! In: a function without derivatives, its calls written out. Out: a linear map from the parameters with Doubles in them, as a tuple where
//! they are several, to the result. The map of a variable is written where the variable is used; its value stays a `let`.
//!
//!     let y = x * x in x + y   →   let y = x * x in (1 ⋈ 1) ∘ (1 × (S(x) ⋈ S(x)) ∘ (1 × 1))

use std::collections::HashMap;

use super::limits::{LARGEST, recursion, recursive_type, too_large};
use super::map::{Folding, Map};
use crate::ad::law;
use crate::diagnostic::Diagnostic;
use crate::ir::free::{any_free_var, mentions};
use crate::ir::prim::Derivative;
use crate::ir::subst::{inlined as call_inlined, try_map_children};
use crate::ir::{Change, Expr, Function, Prim, Program, Term, Type, Updated, Var};

type Result<T> = std::result::Result<T, Diagnostic>;

/// The function with the bodies of all that it calls.
pub fn inlined(function: &Function, program: &Program) -> Result<Function> {
    fn go(expr: &Expr, program: &Program, nodes: &mut usize) -> Result<Expr> {
        *nodes += 1;
        if *nodes > LARGEST {
            return Err(too_large(expr.span()));
        }
        let inner = try_map_children(expr, &mut |child| go(child, program, nodes))?;
        if let Term::Call(name, args) = inner.term()
            && let Some(function) = program.functions.get(name)
        {
            go(&call_inlined(function, args), program, nodes)
        } else {
            Ok(inner)
        }
    }
    Ok(Function { body: go(&function.body, program, &mut 0)?, ..function.clone() })
}

/// What the derivative goes from: the parameters that have a Double in them.
pub fn point(function: &Function) -> Type {
    let mut types: Vec<Type> = function.params.iter().map(|param| param.ty().clone()).filter(Type::has_double).collect();
    if types.len() == 1 { types.swap_remove(0) } else { Type::tuple(types) }
}

/// The linear map of a function at its parameters.
pub fn linearise(function: &Function) -> Result<Map> {
    let domain = point(function);
    let active: Vec<&Var> = function.params.iter().filter(|param| param.ty().has_double()).collect();
    let types: Vec<Type> = active.iter().map(|param| param.ty().clone()).collect();
    let of = |(k, param): (usize, &&Var)| ((*param).clone(), if types.len() == 1 { Map::one(&domain) } else { Map::part(&types, k) });
    let env = active.iter().enumerate().map(of).collect();
    let map = Scope { domain, env }.map(&function.body)?;
    if map.size() > LARGEST { Err(too_large(function.span)) } else { Ok(map) }
}

/// The slopes of a primitive in its operands; `None` for one without. `of_both`: all operands have a tangent.
pub fn slopes(prim: Prim, args: &[Expr], of_both: bool) -> Result<Vec<Option<Expr>>> {
    let result = Expr::prim(prim, args.to_vec());
    let read = |operand: usize, names: &[(&str, &str)]| -> Result<Option<Expr>> {
        let Some(text) = prim.law_in(operand, of_both) else { return Ok(None) };
        let mut given = vec![("r", result.clone())];
        for ((x, dx), arg) in names.iter().zip(args) {
            given.push((x, arg.clone()));
            given.push((dx, Expr::double(1.0)));
        }
        let names = given.into_iter().filter(|(name, _)| !name.is_empty()).collect::<Vec<_>>();
        law::parse(text)?.apply(&names).map(|slope| Some(without_ones(&slope)))
    };
    match (prim.row().derivative, args.len()) {
        (Derivative::Zero, count) => Ok(vec![None; count]),
        (Derivative::Unary(_), 2) => Ok(vec![None, read(1, &[("k", ""), ("x", "dx")])?]),
        (Derivative::Unary(_), _) => Ok(vec![read(0, &[("x", "dx")])?]),
        (Derivative::Binary { .. }, _) => Ok(vec![read(0, &[("x", "dx"), ("y", "")])?, read(1, &[("x", ""), ("y", "dy")])?]),
    }
}

/// The term without factors of 1.0.
fn without_ones(expr: &Expr) -> Expr {
    let new = crate::ir::subst::map_children(expr, &mut without_ones);
    let is_one = |expr: &Expr| matches!(expr.term(), Term::Double(1.0));
    match new.term() {
        Term::Prim(Prim::Mul, args) if is_one(&args[0]) => args[1].clone(),
        Term::Prim(Prim::Mul, args) if is_one(&args[1]) => args[0].clone(),
        _ => new,
    }
}

/// The linear maps of the variables in scope.
#[derive(Clone)]
struct Scope {
    domain: Type,
    env: HashMap<Var, Map>,
}

impl Scope {
    fn is_active(&self, expr: &Expr) -> bool {
        any_free_var(expr, &mut |var| self.env.get(var).is_some_and(|map| !map.is_zero()))
    }

    fn all(&mut self, exprs: &[Expr]) -> Result<Vec<Map>> {
        exprs.iter().map(|expr| self.map(expr)).collect()
    }

    fn map(&mut self, expr: &Expr) -> Result<Map> {
        if !expr.ty().has_double() || !self.is_active(expr) {
            return Ok(Map::zero(&self.domain, expr.ty()));
        }
        let map = match expr.term() {
            Term::Var(var) => self.env.get(var).cloned().unwrap_or_else(|| Map::zero(&self.domain, expr.ty())),
            Term::Prim(prim, args) => self.prim(*prim, args)?,
            Term::Let(var, value, body) => {
                let own = self.map(value)?;
                self.env.insert(var.clone(), own);
                Map::let_(var.clone(), value.clone(), self.map(body)?)
            }
            Term::If(cond, then, otherwise) => Map::if_(cond.clone(), self.map(then)?, self.map(otherwise)?),
            Term::Check { cond, status, body } => Map::check(cond.clone(), *status, expr.span(), self.map(body)?),
            Term::Tuple(parts) => {
                let maps = self.all(parts)?;
                Map::vcat(&self.domain, maps)
            }
            Term::Proj(tuple, k) => match tuple.ty() {
                Type::Tuple(types) => Map::compose(Map::part(types, *k), self.map(tuple)?),
                Type::Double | Type::Index(_) | Type::Bool | Type::Array(..) | Type::Rec(_) => Map::zero(&self.domain, expr.ty()),
            },
            Term::Get(array, index) => Map::compose(Map::at(array.ty(), index.clone()), self.map(array)?),
            Term::Build { n, i, body } => Map::vbuild(n.clone(), i.clone(), self.map(body)?, expr.ty()),
            Term::Array(items) => {
                let maps = self.all(items)?;
                Map::vlist(&self.domain, expr.ty(), maps)
            }
            Term::Update(change, parts) => match Updated::of(parts) {
                Some(Updated { array, indices, value }) => {
                    let (own, new) = (self.map(array)?, self.map(value)?);
                    updated(*change, array.ty(), own, indices, new)
                }
                None => Map::zero(&self.domain, expr.ty()),
            },
            Term::Fold { n, acc, i, body, init } => self.fold((n, acc, i), body, init)?,
            Term::While { .. } => return Err(recursion(expr.span(), "linear map")),
            Term::Iso(..) => return Err(recursive_type(expr.span(), "linear map")),
            // no derivative is in a function that is linearised, and calls are written out
            Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Dim(..) | Term::Call(..) | Term::Dual { .. } | Term::Vjp { .. } => {
                let message = "internal error: a linear map of a term that has none";
                return Err(Diagnostic::error("E0901", expr.span(), message).help("please report it with the program"));
            }
        };
        if map.size() > LARGEST { Err(too_large(expr.span())) } else { Ok(map) }
    }

    fn prim(&mut self, prim: Prim, args: &[Expr]) -> Result<Map> {
        let mut scales = Vec::new();
        let mut operands = Vec::new();
        let maps = self.all(args)?;
        let of_both = maps.iter().all(|map| !map.is_zero());
        for (slope, own) in slopes(prim, args, of_both)?.into_iter().zip(maps) {
            if let (Some(slope), false) = (slope, own.is_zero()) {
                scales.push(if matches!(slope.term(), Term::Double(1.0)) { Map::one(&Type::Double) } else { Map::scale(slope) });
                operands.push(own);
            }
        }
        Ok(match (scales.len(), operands.pop()) {
            (0, _) | (_, None) => Map::zero(&self.domain, &Type::Double),
            (1, Some(operand)) => Map::compose(scales.swap_remove(0), operand),
            (_, Some(operand)) => {
                operands.push(operand);
                Map::compose(Map::hcat(&Type::Double, scales), Map::vcat(&self.domain, operands))
            }
        })
    }

    fn fold(&mut self, (n, acc, i): (&Expr, &Var, &Var), body: &Expr, init: &Expr) -> Result<Map> {
        let start = self.map(init)?;
        if let Some(term) = added(body, acc) {
            let sum = Map::sum_build(n.clone(), i.clone(), self.map(term)?);
            let domain = self.domain.clone();
            return Ok(Map::sum(&domain, acc.ty(), vec![start, sum]));
        }
        let pair = [self.domain.clone(), acc.ty().clone()];
        let mut inside = Scope { domain: Type::tuple(pair.to_vec()), env: HashMap::new() };
        let used = self.env.iter().filter(|(var, map)| !map.is_zero() && mentions(body, var));
        inside.env.extend(used.map(|(var, map)| (var.clone(), Map::compose(map.clone(), Map::part(&pair, 0)))));
        inside.env.insert(acc.clone(), Map::part(&pair, 1));
        let step = inside.map(body)?;
        let (n, acc, i, body, init) = (n.clone(), acc.clone(), i.clone(), body.clone(), init.clone());
        Ok(Map::fold(Folding { n, acc, i, body, init, step, start }))
    }
}

/// What a step adds to a Double.
fn added<'e>(body: &'e Expr, acc: &Var) -> Option<&'e Expr> {
    let Term::Prim(Prim::Add, args) = body.term() else { return None };
    let is_acc = |expr: &Expr| matches!(expr.term(), Term::Var(var) if var == acc);
    match args.as_slice() {
        [a, b] if is_acc(a) && !mentions(b, acc) => Some(b),
        [a, b] if is_acc(b) && !mentions(a, acc) => Some(a),
        _ => None,
    }
}

/// An array with an element replaced or added to: each element by itself.
pub fn updated(change: Change, ty: &Type, array: Map, indices: &[Expr], value: Map) -> Map {
    let Some((index, rest)) = indices.split_first() else {
        return match change {
            Change::Replace => value,
            Change::Add => Map::sum(&value.from().clone(), ty, vec![array, value]),
        };
    };
    let n = ty.dims().first().and_then(|size| size.to_expr()).unwrap_or(Expr::index(0));
    let j = Var::fresh("j", Type::INDEX);
    let at = |index: Expr| Map::compose(Map::at(ty, index), array.clone());
    let element = ty.element().cloned().unwrap_or(Type::Double);
    let is_here = Expr::prim(Prim::Eq, vec![Expr::var(&j), index.clone()]);
    let new = updated(change, &element, at(index.clone()), rest, value);
    let body = Map::if_(is_here, new, at(Expr::var(&j)));
    Map::vbuild(n, j, body, ty)
}
