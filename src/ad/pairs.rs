//! Tangents and pairs by type: how one is laid out, made of zeros, put beside its primal and taken out again.
//!
//! In: a type, and terms for the values. Out: terms. A tangent has a Double for each Double of its primal and
//! nothing for an Index or Bool: the tangent of an array of tuples is an array of tuples of the components
//! that have Doubles, and a tuple of one component is that component. Pairs are `Type::dual`.
//!
//!     Array<Index * Double, n>   tangent   Array<Double, n>        pairs   Array<Index * (Double * Double), n>
//!     zero of v                            build(dim(v, 0), i. 0.0)
//!     zip of v and dv                      build(dim(v, 0), i. (v[i].0, (v[i].1, dv[i])))
//!
//! Lengths are the `dim`s of the primal, so that they need not be known and the primal is not computed again.

use super::activity::Activity;
use super::block::{Block, is_name};
use crate::ir::{Expr, Name, Type, Var};

/// The type of the tangent of a value; `None` when it has no Double.
pub fn tangent_type(ty: &Type) -> Option<Type> {
    match ty {
        Type::Double => Some(Type::Double),
        Type::Bool | Type::Index(_) | Type::Rec(_) => None,
        Type::Array(element, size) => Some(Type::array(tangent_type(element)?, size.clone())),
        Type::Tuple(parts) => {
            let mut parts: Vec<Type> = parts.iter().filter_map(tangent_type).collect();
            if parts.len() > 1 { Some(Type::tuple(parts)) } else { parts.pop() }
        }
    }
}

/// The types of the leaves of a value of this type and activity, primals and tangents.
pub fn leaf_types(ty: &Type, active: &Activity, primals: &mut Vec<Type>, tangents: &mut Vec<Type>) {
    if let Type::Tuple(parts) = ty {
        parts.iter().enumerate().for_each(|(k, part)| leaf_types(part, &active.part(k), primals, tangents));
        return;
    }
    primals.push(ty.clone());
    if !active.is_none() {
        tangents.extend(tangent_type(ty));
    }
}

/// What a tuple of the leaves of a variable is called that has this activity, and they: primals, then tangents.
pub fn leaf_names(var: &Var, active: &Activity) -> Name {
    fn each(name: &Name, ty: &Type, active: &Activity, primals: &mut Vec<Name>, tangents: &mut Vec<Name>) {
        if let Type::Tuple(parts) = ty {
            parts.iter().enumerate().for_each(|(k, part)| each(&name.part(k), part, &active.part(k), primals, tangents));
            return;
        }
        primals.push(name.clone());
        if !active.is_none() && ty.has_double() {
            tangents.push(format!("d{}", name.text()).into());
        }
    }
    let (mut primals, mut tangents) = (Vec::new(), Vec::new());
    each(var.full_name(), var.ty(), active, &mut primals, &mut tangents);
    Name::of_parts(var.name(), primals.into_iter().chain(tangents))
}

/// A tangent of zeros for a value, with the value's own lengths.
pub fn zero(primal: &Expr, out: &mut Block) -> Expr {
    let ty = primal.ty().clone();
    let primal = if ty == Type::Double || is_name(primal) { primal.clone() } else { out.bind("primal", primal.clone()) };
    zero_at(&primal, &[], &ty)
}

/// Zeros for the part of type `ty` that `indices` select from `array`, whose inner lengths are its `dim`s.
fn zero_at(array: &Expr, indices: &[Expr], ty: &Type) -> Expr {
    match ty {
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => Expr::double(0.0),
        Type::Array(element, _) => Expr::build(Expr::dim(array.clone(), indices.len()), "i", |i| {
            let indices: Vec<Expr> = indices.iter().cloned().chain([i]).collect();
            zero_at(array, &indices, element)
        }),
        Type::Tuple(parts) => {
            let tuple = indices.iter().fold(array.clone(), |array, i| Expr::get(array, i.clone()));
            let zeros = parts.iter().enumerate().filter(|(_, part)| part.has_double());
            one_or_tuple(zeros.map(|(k, part)| zero_at(&Expr::proj(tuple.clone(), k), &[], part)).collect())
        }
    }
}

/// One side of every pair.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    Primal,
    Tangent,
}

/// All primals, or all tangents, of the pairs of a value of type `ty`.
pub fn unzip(pairs: &Expr, ty: &Type, part: Part) -> Expr {
    match ty {
        Type::Double => Expr::proj(pairs.clone(), if part == Part::Primal { 0 } else { 1 }),
        Type::Bool | Type::Index(_) | Type::Rec(_) => pairs.clone(),
        Type::Array(element, _) if ty.has_double() => {
            Expr::build(Expr::dim(pairs.clone(), 0), "i", |i| unzip(&Expr::get(pairs.clone(), i), element, part))
        }
        Type::Array(..) => pairs.clone(),
        Type::Tuple(parts) => {
            let parts = parts.iter().enumerate().filter(|(_, ty)| part == Part::Primal || ty.has_double());
            one_or_tuple(parts.map(|(k, ty)| unzip(&Expr::proj(pairs.clone(), k), ty, part)).collect())
        }
    }
}

/// The pairs of a value of type `ty` from its primal and its tangent.
pub fn zip(primal: &Expr, tangent: Option<Expr>, ty: &Type) -> Expr {
    match ty {
        Type::Double => Expr::tuple(vec![primal.clone(), tangent.unwrap_or_else(|| Expr::double(0.0))]),
        Type::Bool | Type::Index(_) | Type::Rec(_) => primal.clone(),
        Type::Array(element, _) if ty.has_double() => Expr::build(Expr::dim(primal.clone(), 0), "i", |i| {
            let tangent = tangent.map(|tangent| Expr::get(tangent, i.clone()));
            zip(&Expr::get(primal.clone(), i), tangent, element)
        }),
        Type::Array(..) => primal.clone(),
        Type::Tuple(parts) => {
            let tangents = tangent.map_or_else(|| vec![None; parts.len()], |tangent| tangent_parts(parts, &tangent));
            let parts = parts.iter().zip(tangents).enumerate();
            Expr::tuple(parts.map(|(k, (ty, tangent))| zip(&Expr::proj(primal.clone(), k), tangent, ty)).collect())
        }
    }
}

/// The tangents of a tuple's components, from the tangent of the tuple.
pub fn tangent_parts(parts: &[Type], tangent: &Expr) -> Vec<Option<Expr>> {
    let alone = parts.iter().filter(|part| part.has_double()).count() == 1;
    let mut next = 0;
    let part = |part: &Type| {
        if !part.has_double() {
            return None;
        }
        next += 1;
        Some(if alone { tangent.clone() } else { Expr::proj(tangent.clone(), next - 1) })
    };
    parts.iter().map(part).collect()
}

/// A tuple, but of one component the component itself.
pub fn one_or_tuple(mut parts: Vec<Expr>) -> Expr {
    match (parts.len(), parts.pop()) {
        (1, Some(part)) => part,
        (_, last) => {
            parts.extend(last);
            Expr::tuple(parts)
        }
    }
}
