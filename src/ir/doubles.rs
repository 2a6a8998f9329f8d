//! The Doubles of a value, each by the way that leads to it.
//!
//! In: a value, by a name, and what to put in the place of each of its Doubles. Out: terms of the value's shape. What is
//! no Double stays as it is.
//!
//!     v: Array<Double * Index, n>, f   →   build n (fun i -> (f [i, .0], v[i].1))
//!     unit of v at [i, .0]             →   build n (fun j -> (if i == j then 1.0 else 0.0, v[j].1))

use std::convert::Infallible;

use super::{Expr, Prim, Type, Var};

/// One step from a value to a part of it.
#[derive(Clone, Debug)]
pub enum Step {
    Element(Var),
    Component(usize),
}

/// A term of the shape of `value` with `f` of the way to each Double in its place.
pub fn each_double(value: &Expr, f: &mut dyn FnMut(&[Step]) -> Expr) -> Expr {
    let Ok(each) = try_each_double::<Infallible>(value, value.ty(), &mut |path| Ok(f(path)));
    each
}

/// The same with the shape of `ty`, which that of `value` begins with; or the first failure of `f`.
pub fn try_each_double<E>(value: &Expr, ty: &Type, f: &mut dyn FnMut(&[Step]) -> Result<Expr, E>) -> Result<Expr, E> {
    part(value, ty, &mut Vec::new(), f)
}

fn part<E>(value: &Expr, ty: &Type, path: &mut Vec<Step>, f: &mut dyn FnMut(&[Step]) -> Result<Expr, E>) -> Result<Expr, E> {
    match ty {
        Type::Double => f(path),
        Type::Bool | Type::Index(_) | Type::Rec(_) => Ok(read(value, path)),
        Type::Array(element, size) => {
            let depth = path.iter().filter(|step| matches!(step, Step::Element(_))).count();
            let name = if depth + ty.dims().len() == 1 { "i" } else { ["r", "c", "k", "l"][depth % 4] };
            let n = dimension(value, path);
            let i = Var::fresh(name, Type::Index(Some(size.clone())));
            path.push(Step::Element(i.clone()));
            let body = part(value, element, path, f);
            path.pop();
            Ok(Expr::build_with(n, i, body?))
        }
        Type::Tuple(types) => {
            let parts = types.iter().enumerate().map(|(k, ty)| {
                path.push(Step::Component(k));
                let part = part(value, ty, path, f);
                path.pop();
                part
            });
            Ok(Expr::tuple(parts.collect::<Result<_, E>>()?))
        }
    }
}

/// The part of a value that `path` leads to.
pub fn read(value: &Expr, path: &[Step]) -> Expr {
    path.iter().fold(value.clone(), |value, step| match step {
        Step::Element(i) => Expr::get(value, Expr::var(i)),
        Step::Component(k) => Expr::proj(value, *k),
    })
}

/// The length of the array that `path` leads to, measured from as far outside as can be.
fn dimension(value: &Expr, path: &[Step]) -> Expr {
    let elements = path.iter().rev().take_while(|step| matches!(step, Step::Element(_))).count();
    Expr::dim(read(value, &path[..path.len() - elements]), elements)
}

/// The tangent of a value's shape with a one where `path` leads and zeros elsewhere.
pub fn unit(value: &Expr, path: &[Step]) -> Expr {
    unit_of(value, value.ty(), path, &mut Vec::new(), &mut Vec::new())
}

/// Of the part of the value at `here`, whose indices, and those that the path has in their places, are `pairs`.
fn unit_of(value: &Expr, ty: &Type, path: &[Step], here: &mut Vec<Step>, pairs: &mut Vec<(Var, Var)>) -> Expr {
    match (ty, path.split_first()) {
        (Type::Double, _) => {
            let same = pairs.iter().map(|(a, b)| Expr::prim(Prim::Eq, vec![Expr::var(a), Expr::var(b)]));
            match same.reduce(|a, b| Expr::prim(Prim::And, vec![a, b])) {
                Some(same) => Expr::if_(same, Expr::double(1.0), Expr::double(0.0)),
                None => Expr::double(1.0),
            }
        }
        (Type::Bool | Type::Index(_) | Type::Rec(_), _) => read(value, here),
        (Type::Array(element, _), Some((Step::Element(i), rest))) => {
            let name = ["j", "q", "s", "t"][pairs.len() % 4];
            let j = Var::fresh(name, i.ty().clone());
            let n = dimension(value, here);
            here.push(Step::Element(j.clone()));
            pairs.push((i.clone(), j.clone()));
            let body = unit_of(value, element, rest, here, pairs);
            pairs.pop();
            here.pop();
            Expr::build_with(n, j, body)
        }
        (Type::Tuple(parts), Some((Step::Component(k), rest))) => {
            let parts = parts.iter().enumerate().map(|(at, ty)| {
                here.push(Step::Component(at));
                let part = if at == *k { unit_of(value, ty, rest, here, pairs) } else { zeros(value, ty, here) };
                here.pop();
                part
            });
            Expr::tuple(parts.collect())
        }
        (Type::Array(..) | Type::Tuple(_), _) => zeros(value, ty, here),
    }
}

fn zeros(value: &Expr, ty: &Type, here: &mut Vec<Step>) -> Expr {
    let Ok(zeros) = part::<Infallible>(value, ty, here, &mut |_| Ok(Expr::double(0.0)));
    zeros
}

/// The tangents of a dual value whose primal has type `primal`; an Index or Bool stays.
pub fn tangents(dual: Expr, primal: &Type) -> Expr {
    match primal {
        Type::Double | Type::Rec(_) => Expr::proj(dual, 1),
        Type::Bool | Type::Index(_) => dual,
        Type::Array(element, _) => {
            Expr::bind("d", dual, |dual| Expr::build(Expr::dim(dual.clone(), 0), "k", |k| tangents(Expr::get(dual.clone(), k), element)))
        }
        Type::Tuple(parts) => Expr::bind("d", dual, |dual| {
            Expr::tuple(parts.iter().enumerate().map(|(at, part)| tangents(Expr::proj(dual.clone(), at), part)).collect())
        }),
    }
}
