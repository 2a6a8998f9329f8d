//! Division by multiplication, group `algebra`: a division takes several times as long as a product, so what
//! is divided by often is inverted once.
//!
//!     let r = 1 / z in a / z + b              →  let r = 1 / z in a * r + b
//!     let z = e in (a / z, b / z, c / z, …)   →  let z = e in let r = 1 / z in (a * r, b * r, c * r, …)

use crate::ir::free::mentions;
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::facts::Facts;

use super::ring::{binary, is_number};
use super::rules;

rules! {
    "div-known" Ring Algebra @ Product: "let r = 1 / z in f (x / z) -> let r = 1 / z in f (x * r)" => div_known;
    "reciprocal" Ring Algebra @ Let: "let z = e in f (x / z) -> let z = e in let r = 1 / z in f (x * r)" if ["f divides by z four times or more"] => reciprocal;
}

/// Divisions by one number that are worth its reciprocal.
const OFTEN: usize = 4;

fn inverse(z: &Expr) -> Expr {
    Expr::prim(Prim::Div, vec![Expr::double(1.0), z.clone()])
}

fn div_known(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (x, z) = binary(expr, Prim::Div)?;
    let named = match z.term() {
        Term::Proj(tuple, _) => matches!(tuple.term(), Term::Var(_)),
        term => matches!(term, Term::Var(_)),
    };
    if expr.ty() != &Type::Double || !named || is_number(x, 1.0) {
        return None;
    }
    let r = facts.bound_to(&inverse(z))?;
    Some(Expr::prim(Prim::Mul, vec![x.clone(), Expr::var(&r)]))
}

fn reciprocal(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    // the body is only looked at where there may be something to find, or to say
    let is_rare = facts.uses.knows(x) && (facts.uses.get(x).count as usize) < OFTEN && !facts.refusals.are_kept();
    if is_rare {
        return None;
    }
    let whole = Expr::var(x);
    let numbers = match x.ty() {
        Type::Double => vec![whole],
        Type::Tuple(parts) => {
            let doubles = (0..parts.len()).filter(|k| parts[*k] == Type::Double);
            doubles.map(|k| Expr::proj(whole.clone(), k)).collect()
        }
        Type::Bool | Type::Index(_) | Type::Array(..) => Vec::new(),
    };
    let counted = numbers.into_iter().filter_map(|z| divisions(body, &z, x).map(|count| (count, z)));
    let (count, z) = counted.max_by_key(|(count, _)| *count).filter(|(count, _)| *count > 0)?;
    facts.require("f divides by z four times or more", count >= OFTEN, expr)?;
    let inverted = Expr::bind("r", inverse(&z), |_| body.clone());
    Some(Expr::let_(x.clone(), value.clone(), inverted))
}

/// How often the term divides by z, which is x or a component of it; `None` where it has the reciprocal already.
fn divisions(expr: &Expr, z: &Expr, x: &Var) -> Option<usize> {
    if !mentions(expr, x) {
        return Some(0);
    }
    let by_z = |expr: &Expr| binary(expr, Prim::Div).filter(|(_, by)| same(by, z)).map(|(x, _)| x.clone());
    let own = match by_z(expr) {
        Some(x) if is_number(&x, 1.0) => return None,
        Some(_) => 1,
        None => 0,
    };
    let mut total = Some(own);
    expr.term().each_child(&mut |child| total = total.and_then(|total| Some(total + divisions(child, z, x)?)));
    total
}
