//! Reciprocals, group `algebra`: a division takes several times as long as a product, so a repeated divisor is inverted
//! once.
//!
//!     let r = 1 / z in a / z + b              →  let r = 1 / z in a * r + b
//!     let z = e in (a / z, b / z, c / z, …)   →  let z = e in let r = 1 / z in (a * r, b * r, c * r, …)
//!     build n (fun i -> v[i] / z)             →  let r = 1 / z in build n (fun i -> v[i] * r)

use crate::ir::free::mentions;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::facts::Facts;

use super::motion::{parts, with_body};
use super::ring::{binary, is_number};
use super::rules;

rules! {
    "div-known" Ring Algebra @ Product: "let r = 1 / z in f (x / z) -> let r = 1 / z in f (x * r)" => div_known;
    "reciprocal" Ring Algebra @ Let: "let z = e in f (x / z) -> let z = e in let r = 1 / z in f (x * r)" if ["f divides by z four times or more"] => reciprocal;
    "reciprocal-loop" Ring Algebra @ Loop: "build n (fun i -> f (x / z)) -> let r = 1 / z in build n (fun i -> f (x * r))"
        if ["i is not free in z", "z total", "n is no small literal", "z depends on the enclosing loop, if there is one"] => reciprocal_loop;
}

/// From this number of divisions on a reciprocal pays.
const OFTEN: usize = 4;

fn inverse(z: &Expr) -> Expr {
    Expr::prim(Prim::Div, vec![Expr::double(1.0), z.clone()])
}

fn div_known(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (x, z) = binary(expr, Prim::Div)?;
    if expr.ty() != &Type::Double || !is_name(z) || is_number(x, 1.0) {
        return None;
    }
    let r = facts.bound_to(&inverse(z))?;
    Some(Expr::prim(Prim::Mul, vec![x.clone(), Expr::var(&r)]))
}

fn reciprocal(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    // the body is searched only where there is a candidate, or a refusal to record
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
        Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => Vec::new(),
    };
    let counted = numbers.into_iter().filter_map(|z| divisions(body, &z, x).map(|count| (count, z)));
    let (count, z) = counted.max_by_key(|(count, _)| *count).filter(|(count, _)| *count > 0)?;
    facts.require("f divides by z four times or more", count >= OFTEN, expr)?;
    let inverted = Expr::bind("r", inverse(&z), |_| body.clone());
    Some(Expr::let_(x.clone(), value.clone(), inverted))
}

fn reciprocal_loop(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (n, _, body) = parts(expr)?;
    facts.require("n is no small literal", !matches!(n.term(), Term::Index(n) if *n < OFTEN as i64), n)?;
    let mut binders: Vec<Var> = expr.term().binders().cloned().collect();
    let z = divisor(body, &mut binders, facts)?;
    facts.require("z total", facts.is_total(&z), &z)?;
    facts.require("z depends on the enclosing loop, if there is one", facts.level(&z) == facts.loops(), &z)?;
    let r = Var::fresh("r", Type::Double);
    let new = with_body(expr, multiplied(body, &z, &r));
    Some(Expr::let_(r, inverse(&z), new))
}

/// The free divisors of a term.
fn divisor(expr: &Expr, bound: &mut Vec<Var>, facts: &Facts) -> Option<Expr> {
    if let Some((x, z)) = binary(expr, Prim::Div)
        && expr.ty() == &Type::Double
        && !is_number(x, 1.0)
        && !matches!(z.term(), Term::Double(_))
        && facts.grants("i is not free in z", !bound.iter().any(|var| mentions(z, var)))
    {
        return Some(z.clone());
    }
    let outside = bound.len();
    bound.extend(expr.term().binders().cloned());
    let found = expr.term().children().find_map(|child| divisor(child, bound, facts));
    bound.truncate(outside);
    found
}

/// The term with products by r for quotients by z.
fn multiplied(expr: &Expr, z: &Expr, r: &Var) -> Expr {
    match binary(expr, Prim::Div) {
        Some((x, by)) if same(by, z) => Expr::prim(Prim::Mul, vec![multiplied(x, z, r), Expr::var(r)]).at(expr.span()),
        _ => map_children(expr, &mut |child| multiplied(child, z, r)),
    }
}

/// A variable, or a component of one.
fn is_name(expr: &Expr) -> bool {
    match expr.term() {
        Term::Proj(tuple, _) => matches!(tuple.term(), Term::Var(_)),
        term => matches!(term, Term::Var(_)),
    }
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
