//! The derivative of an arrow at a context, as a linear map (003 Sections 2 and 6).
//!
//! In: an arrow S ⇒ T and a term for each value of S. Out: the map S ⊸ T, made arrow by arrow: that of c₁; c₂ is the second one's after
//! the first one's, that of a tuple the tuple of the maps, and a binder extends the identity on its context by the map of what it binds.
//!
//!     F(*) at (x, y)   →   S(y) ⋈ S(x)          L(z, c, c′)   →   let z = … in ∂c′ ∘ (1 × ∂c)

use super::convert::{term, values};
use super::{Arrow, Op};
use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Function, Program, Type};
use crate::linear::{Folding, Map, slopes, updated};

type Result<T> = std::result::Result<T, Diagnostic>;

/// The map from all sizes and parameters of a function.
pub fn derivative(arrow: &Arrow, function: &Function, program: &Program) -> Result<Map> {
    let context: Vec<Expr> = function.sizes.iter().chain(&function.params).map(Expr::var).collect();
    of(arrow, &context, program)
}

fn types(context: &[Expr]) -> Vec<Type> {
    context.iter().map(|value| value.ty().clone()).collect()
}

/// A context as a type: one value is itself.
fn domain(types: &[Type]) -> Type {
    if let [one] = types { one.clone() } else { Type::tuple(types.to_vec()) }
}

/// The values of a context, each by its map.
fn parts(types: &[Type]) -> Vec<Map> {
    if let [one] = types { vec![Map::one(one)] } else { (0..types.len()).map(|k| Map::part(types, k)).collect() }
}

/// The maps of several values as that of the context that they are.
fn together(from: &Type, mut maps: Vec<Map>) -> Map {
    if maps.len() == 1 { maps.swap_remove(0) } else { Map::vcat(from, maps) }
}

fn of(arrow: &Arrow, context: &[Expr], program: &Program) -> Result<Map> {
    let types = types(context);
    let from = domain(&types);
    let under = |values: &[Expr]| [context, values].concat();
    Ok(match arrow {
        Arrow::Identity => Map::one(&from),
        Arrow::Constant(value) => Map::zero(&from, value.ty()),
        Arrow::Prune(places, _) => {
            let all = parts(&types);
            together(&from, places.iter().filter_map(|at| all.get(*at).cloned()).collect())
        }
        Arrow::Function(op) => function(op, context, program)?,
        Arrow::Then(first, second) => {
            let middle = values(first, context, program)?;
            Map::compose(of(second, &middle, program)?, of(first, context, program)?)
        }
        Arrow::Tuple(arrows) => together(&from, arrows.iter().map(|arrow| of(arrow, context, program)).collect::<Result<_>>()?),
        Arrow::If(arrows) => {
            let [cond, a, b] = &**arrows;
            Map::if_(term(cond, context, program)?, of(a, context, program)?, of(b, context, program)?)
        }
        Arrow::Let(var, value, body) => {
            let (own, bound) = (of(value, context, program)?, term(value, context, program)?);
            let var = var.renewed(bound.ty().clone());
            let extended = Map::vcat(&from, [parts(&types), vec![own]].concat());
            let body = of(body, &under(&[Expr::var(&var)]), program)?;
            Map::let_(var, bound, Map::compose(body, extended))
        }
        Arrow::Build(n, i, body) => {
            let n = term(n, context, program)?;
            let i = i.renewed(Type::INDEX);
            let extended = Map::vcat(&from, [parts(&types), vec![Map::zero(&from, i.ty())]].concat());
            let inside = of(body, &under(&[Expr::var(&i)]), program)?;
            let to = term(arrow, context, program)?.ty().clone();
            Map::vbuild(n, i, Map::compose(inside, extended), &to)
        }
        Arrow::Fold { init, n, acc, i, body } => {
            let (start, first, n) = (of(init, context, program)?, term(init, context, program)?, term(n, context, program)?);
            let (acc, i) = (acc.renewed(first.ty().clone()), i.renewed(Type::INDEX));
            let inner = under(&[Expr::var(&acc), Expr::var(&i)]);
            // from the context and the state
            let pair = [from.clone(), acc.ty().clone()];
            let outside = parts(&types).into_iter().map(|part| Map::compose(part, Map::part(&pair, 0)));
            let both = Type::tuple(pair.to_vec());
            let own = [Map::part(&pair, 1), Map::zero(&both, i.ty())];
            let step = Map::compose(of(body, &inner, program)?, Map::vcat(&both, outside.chain(own).collect()));
            Map::fold(Folding { n, body: term(body, &inner, program)?, acc, i, init: first, step, start })
        }
        Arrow::Check { cond, status, span, body } => Map::check(term(cond, context, program)?, *status, *span, of(body, context, program)?),
    })
}

/// The derivative of what is applied to a tuple of arguments.
fn function(op: &Op, args: &[Expr], program: &Program) -> Result<Map> {
    let types = types(args);
    let from = domain(&types);
    Ok(match op {
        Op::Prim(prim) => {
            let result = Expr::prim(*prim, args.to_vec());
            if result.ty() != &Type::Double {
                return Ok(Map::zero(&from, result.ty()));
            }
            let row = |(slope, ty): (Option<Expr>, &Type)| match (slope, ty) {
                (Some(slope), Type::Double) => Map::scale(slope),
                (Some(_) | None, ty) => Map::zero(ty, &Type::Double),
            };
            // an operand may be a constant here
            let mut rows: Vec<Map> = slopes(*prim, args, false)?.into_iter().zip(&types).map(row).collect();
            if rows.len() == 1 { rows.swap_remove(0) } else { Map::hcat(&Type::Double, rows) }
        }
        Op::Call(name) => match program.functions.get(name) {
            Some(function) => {
                let message = format!("internal error in CL: `{}` is called where calls are written out", function.name);
                return Err(Diagnostic::error("E0901", function.span, message).help("please report it with the program"));
            }
            None => Map::zero(&from, &Type::Double),
        },
        Op::Get => match (types.as_slice(), args) {
            ([array, index], [_, at]) => {
                let map = Map::at(array, at.clone());
                let none = Map::zero(index, map.to());
                Map::hcat(&map.to().clone(), vec![map, none])
            }
            _ => Map::zero(&from, &Type::Double),
        },
        Op::Dim(_) => Map::zero(&from, &Type::INDEX),
        Op::Part(k) => match &from {
            Type::Tuple(parts) => Map::part(parts, *k),
            Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => Map::one(&from),
        },
        // a tuple of one argument is that argument in a context, and a tuple as a value
        Op::Tuple => Map::vcat(&from, parts(&types)),
        Op::Array(element) => {
            let to = Expr::array(element.clone(), args.to_vec()).ty().clone();
            Map::vlist(&from, &to, parts(&types))
        }
        Op::Update(change, count) => {
            let all = parts(&types);
            match (all.first(), all.last(), types.first()) {
                (Some(array), Some(value), Some(ty)) => {
                    updated(*change, ty, array.clone(), args.get(1..1 + count).unwrap_or_default(), value.clone())
                }
                _ => Map::zero(&from, &Type::Double),
            }
        }
    })
}
