//! A reverse derivative by forward mode: one directional derivative for each Double of the point.
//!
//! In: the parts of `vjp(x = at, w = cotangent). body`. Out: a term without that `vjp` and of its value: the pair of the
//! body's value and, in the place of each Double of the point, the sum of the cotangent times the tangents that the
//! unit there gives.
//!
//!     vjp(x = v, w = 1.0). f x   →   (f v, build(length v, i. dual(x = v, dx = e_i). f x).1)
//!
//! Where the point has several parts the body is copied for each; a cotangent of 1.0 costs nothing.

use crate::ir::doubles::{Step, each_double, unit};
use crate::ir::subst::freshen;
use crate::ir::term::Vjp;
use crate::ir::{Expr, Prim, Term, Type};

/// The pair of value and derivative.
pub fn columns(vjp: &Vjp) -> Expr {
    Expr::bind("w", vjp.cotangent.clone(), |w| Expr::tuple(vec![value(vjp), derivative(vjp, &w)]))
}

/// The derivative alone.
pub fn derivative(vjp: &Vjp, cotangent: &Expr) -> Expr {
    each_double(vjp.at, &mut |path| directional(vjp, cotangent, path))
}

/// The body's value at the point.
pub fn value(vjp: &Vjp) -> Expr {
    freshen(&Expr::let_(vjp.x.clone(), vjp.at.clone(), vjp.body.clone()))
}

/// The dual in the direction of one Double of the point.
pub fn dual(vjp: &Vjp, path: &[Step]) -> Expr {
    freshen(&Expr::dual(vjp.x.clone(), vjp.at.clone(), unit(vjp.at, path), vjp.body.clone()))
}

/// The cotangent times the tangent in the direction of one Double of the point.
fn directional(vjp: &Vjp, cotangent: &Expr, path: &[Step]) -> Expr {
    let (dual, ty) = (dual(vjp, path), vjp.body.ty());
    if let (Type::Double, Term::Double(1.0)) = (ty, cotangent.term()) {
        return Expr::proj(dual, 1);
    }
    Expr::bind("d", dual, |dual| dot(&dual, cotangent, ty).unwrap_or(Expr::double(0.0)))
}

/// The sum of the cotangent's Doubles times the tangents of a dual; `None` where there are none.
fn dot(dual: &Expr, cotangent: &Expr, ty: &Type) -> Option<Expr> {
    match ty {
        Type::Double => Some(Expr::prim(Prim::Mul, vec![cotangent.clone(), Expr::proj(dual.clone(), 1)])),
        Type::Bool | Type::Index(_) | Type::Rec(_) => None,
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
