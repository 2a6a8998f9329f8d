//! A reverse derivative by forward mode: one directional derivative for each Double of the point.
//!
//! In: the parts of `vjp(x = at, w = cotangent). body`. Out: a term without that `vjp` and of its value: the pair of the
//! body's value and, in the place of each Double of the point, the sum of the cotangent times the tangents that the
//! unit there gives.
//!
//!     vjp(x = v, w = 1.0). f x   →   (f v, build(length v, i. dual(x = v, dx = e_i). f x).1)
//!
//! Where the point has several parts the body is copied for each; a cotangent of 1.0 costs nothing.

use crate::ir::subst::{freshen, substitute};
use crate::ir::term::Vjp;
use crate::ir::{Expr, Prim, Term, Type, Var};

/// One step from a value to a part of it.
#[derive(Clone)]
enum Step {
    Element(Var),
    Component(usize),
}

/// The pair of value and derivative.
pub fn columns(vjp: &Vjp) -> Expr {
    let fresh = vjp.x.renewed(vjp.x.ty().clone());
    let body = freshen(&substitute(vjp.body, &[(vjp.x.clone(), Expr::var(&fresh))]));
    let value = Expr::let_(fresh, vjp.at.clone(), body);
    Expr::bind("w", vjp.cotangent.clone(), |w| Expr::tuple(vec![value, derivative(vjp, &w)]))
}

/// The derivative alone.
pub fn derivative(vjp: &Vjp, cotangent: &Expr) -> Expr {
    part(vjp, cotangent, vjp.at.ty(), &mut Vec::new())
}

/// The derivative in the part of the point that `path` leads to, of type `ty`.
fn part(vjp: &Vjp, cotangent: &Expr, ty: &Type, path: &mut Vec<Step>) -> Expr {
    match ty {
        Type::Double => directional(vjp, cotangent, path),
        Type::Bool | Type::Index(_) => read(vjp.at, path),
        Type::Array(element, size) => {
            let depth = path.iter().filter(|step| matches!(step, Step::Element(_))).count();
            let rank = depth + ty.dims().len();
            let name = if rank == 1 { "i" } else { ["r", "c", "k", "l"][depth % 4] };
            let n = dimension(vjp.at, path);
            let i = Var::fresh(name, Type::Index(Some(size.clone())));
            path.push(Step::Element(i.clone()));
            let body = part(vjp, cotangent, element, path);
            path.pop();
            Expr::build_with(n, i, body)
        }
        Type::Tuple(parts) => {
            let parts = parts.iter().enumerate().map(|(k, ty)| {
                path.push(Step::Component(k));
                let part = part(vjp, cotangent, ty, path);
                path.pop();
                part
            });
            Expr::tuple(parts.collect())
        }
    }
}

fn read(at: &Expr, path: &[Step]) -> Expr {
    path.iter().fold(at.clone(), |value, step| match step {
        Step::Element(i) => Expr::get(value, Expr::var(i)),
        Step::Component(k) => Expr::proj(value, *k),
    })
}

/// The length of the array that `path` leads to.
fn dimension(at: &Expr, path: &[Step]) -> Expr {
    let elements = path.iter().rev().take_while(|step| matches!(step, Step::Element(_))).count();
    Expr::dim(read(at, &path[..path.len() - elements]), elements)
}

/// The cotangent times the tangent in the direction of one Double of the point.
fn directional(vjp: &Vjp, cotangent: &Expr, path: &[Step]) -> Expr {
    let x = vjp.x.renewed(vjp.x.ty().clone());
    let body = freshen(&substitute(vjp.body, &[(vjp.x.clone(), Expr::var(&x))]));
    let tangent = unit(vjp.at, vjp.at.ty(), path, &mut Vec::new(), &mut Vec::new());
    let ty = body.ty().clone();
    let dual = Expr::dual(x, vjp.at.clone(), tangent, body);
    if let (Type::Double, Term::Double(1.0)) = (&ty, cotangent.term()) {
        return Expr::proj(dual, 1);
    }
    Expr::bind("d", dual, |dual| dot(&dual, cotangent, &ty).unwrap_or(Expr::double(0.0)))
}

/// The tangent with a one where `path` leads and zeros elsewhere: of the part of the point at `here`, whose indices, and
/// those that the path has in their places, are `pairs`.
fn unit(at: &Expr, ty: &Type, path: &[Step], here: &mut Vec<Step>, pairs: &mut Vec<(Var, Var)>) -> Expr {
    match (ty, path.split_first()) {
        (Type::Double, _) => {
            let same = pairs.iter().map(|(a, b)| Expr::prim(Prim::Eq, vec![Expr::var(a), Expr::var(b)]));
            match same.reduce(|a, b| Expr::prim(Prim::And, vec![a, b])) {
                Some(same) => Expr::if_(same, Expr::double(1.0), Expr::double(0.0)),
                None => Expr::double(1.0),
            }
        }
        (Type::Bool | Type::Index(_), _) => read(at, here),
        (Type::Array(element, _), Some((Step::Element(i), rest))) => {
            let name = ["j", "q", "s", "t"][pairs.len() % 4];
            let j = Var::fresh(name, i.ty().clone());
            let n = dimension(at, here);
            here.push(Step::Element(j.clone()));
            pairs.push((i.clone(), j.clone()));
            let body = unit(at, element, rest, here, pairs);
            pairs.pop();
            here.pop();
            Expr::build_with(n, j, body)
        }
        (Type::Tuple(parts), Some((Step::Component(k), rest))) => {
            let parts = parts.iter().enumerate().map(|(at_part, ty)| {
                here.push(Step::Component(at_part));
                let part = if at_part == *k { unit(at, ty, rest, here, pairs) } else { zeros(at, ty, here) };
                here.pop();
                part
            });
            Expr::tuple(parts.collect())
        }
        (Type::Array(..) | Type::Tuple(_), _) => zeros(at, ty, here),
    }
}

fn zeros(at: &Expr, ty: &Type, here: &mut Vec<Step>) -> Expr {
    match ty {
        Type::Double => Expr::double(0.0),
        Type::Bool | Type::Index(_) => read(at, here),
        Type::Array(element, size) => {
            let j = Var::fresh("j", Type::Index(Some(size.clone())));
            let n = dimension(at, here);
            here.push(Step::Element(j.clone()));
            let body = zeros(at, element, here);
            here.pop();
            Expr::build_with(n, j, body)
        }
        Type::Tuple(parts) => {
            let parts = parts.iter().enumerate().map(|(k, ty)| {
                here.push(Step::Component(k));
                let part = zeros(at, ty, here);
                here.pop();
                part
            });
            Expr::tuple(parts.collect())
        }
    }
}

/// The sum of the cotangent's Doubles times the tangents of a dual; `None` where there are none.
fn dot(dual: &Expr, cotangent: &Expr, ty: &Type) -> Option<Expr> {
    match ty {
        Type::Double => Some(Expr::prim(Prim::Mul, vec![cotangent.clone(), Expr::proj(dual.clone(), 1)])),
        Type::Bool | Type::Index(_) => None,
        Type::Array(element, _) => {
            if !element.has_double() {
                return None;
            }
            let n = Expr::dim(dual.clone(), 0);
            Some(Expr::fold(n, "s", "k", Expr::double(0.0), |s, k| {
                let (dual, cotangent) = (Expr::get(dual.clone(), k.clone()), Expr::get(cotangent.clone(), k));
                match dot(&dual, &cotangent, element) {
                    Some(term) => Expr::prim(Prim::Add, vec![s, term]),
                    None => s,
                }
            }))
        }
        Type::Tuple(parts) => {
            let terms = parts.iter().enumerate();
            let terms = terms.filter_map(|(k, ty)| dot(&Expr::proj(dual.clone(), k), &Expr::proj(cotangent.clone(), k), ty));
            terms.reduce(|a, b| Expr::prim(Prim::Add, vec![a, b]))
        }
    }
}
