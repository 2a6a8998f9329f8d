//! 001 Figure 8b, group `algebra`: laws of the real numbers that doubles follow only where nothing overflows,
//! underflows, or is infinite. `--strict-fp` switches them off.
//!
//!     e * 0  →  0        e - e  →  0        a * x + x * b  →  (a + b) * x        u / (u * v)  →  1 / v
//!
//! `cancel` and `factor` ask `sum` for a form with less work in the innermost enclosing loop; `distribute` expands a product
//! where the loop over one of its terms then becomes a single step.

use crate::ir::free::mentions;
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::added::without_common;
use crate::rewrite::alike::same;
use crate::rewrite::atoms::{copy, is_number};
use crate::rewrite::facts::Facts;
use crate::rewrite::product::{Product, is_cheap};
use crate::rewrite::sum::{is_hot, simplified, sum_of, terms};

use super::ring::binary;
use super::rules;

rules! {
    "mul-zero" ["001 Fig. 8b"] Ring Algebra @ Prim: "e * 0 -> 0; 0 * e -> 0";
    "sub-self" ["001 Fig. 8b"] Ring Algebra @ Prim: "e - e -> 0";
    "add-neg" ["001 Fig. 8b"]  Ring Algebra @ Prim: "e + -e -> 0; -e + e -> 0";
    "zero-div" Ring Algebra @ Prim: "0 / e -> 0 if double e";
    "zero-sub" Ring Algebra @ Prim: "0 - e -> -e";
    "neg-zero" Ring Algebra @ Prim: "-0 -> 0";
    "div-sum"  Ring Algebra @ Product: "(a + b * c) / c -> a / c + b; (a - b * c) / c -> a / c - b; (-(b * c) + a) / c -> -b + a / c" if ["double c"] => div_sum;
    "cancel"   Ring Algebra @ Product: "(a * b) / (a * c) -> b / c" if ["the innermost loop then does less work"] => cancel;
    "factor" ["001 Fig. 8b"]   Ring Algebra @ Sum: "a * b + a * c -> a * (b + c)" if ["the innermost loop then does less work"] => factor;
    "distribute" Ring Algebra @ Product: "((if c then a else 0) + b) * d -> (if c then a * d else 0) + b * d, and so for (if c then a + b else b) * d where d is an element or a name" if ["c holds in one iteration of the enclosing loop, or is invariant in it"] => distribute;
    "if-collect" Conditional Algebra @ Sum: "(if c then a else b) + d + (if c then e else f) -> (if c then a + e else b + f) + d" => if_collect;
    "if-factor" Conditional Algebra @ If: "if c then a * b else a * d -> a * (if c then b else d)" => if_factor;
}

/// Longer sums are left alone.
const COLLECTED: usize = 24;

/// A term of a sum that has the divisor as a factor needs no division, and may then cancel.
fn div_sum(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Prim(Prim::Div, args) = expr.term() else { return None };
    let [sum, c] = args.as_slice() else { return None };
    let Term::Prim(prim @ (Prim::Add | Prim::Sub), parts) = sum.term() else { return None };
    let [x, y] = parts.as_slice() else { return None };
    let divided = |part: &Expr| Expr::prim(Prim::Div, vec![part.clone(), c.clone()]);
    let (x, y) = match (without(x, c), without(y, c)) {
        (_, Some(b)) => (divided(x), b),
        (Some(b), None) => (b, divided(y)),
        (None, None) => return None,
    };
    facts.require("double c", expr.ty() == &Type::Double, c)?;
    Some(Expr::prim(*prim, vec![x, y]))
}

/// The cofactor of c, with its sign; `None` where c is no factor.
fn without(product: &Expr, c: &Expr) -> Option<Expr> {
    match (product.term(), product.term().children().collect::<Vec<_>>().as_slice()) {
        (Term::Prim(Prim::Mul, _), [b, last]) if same(last, c) => Some((*b).clone()),
        (Term::Prim(Prim::Mul, _), [first, b]) if same(first, c) => Some((*b).clone()),
        (Term::Prim(Prim::Neg, _), [product]) => Some(Expr::prim(Prim::Neg, vec![without(product, c)?])),
        _ => None,
    }
}

fn cancel(expr: &Expr, facts: &Facts) -> Option<Expr> {
    matches!(expr.term(), Term::Prim(Prim::Mul | Prim::Div | Prim::Neg, _)).then(|| simplified(expr, facts))?
}

fn factor(expr: &Expr, facts: &Facts) -> Option<Expr> {
    matches!(expr.term(), Term::Prim(Prim::Add | Prim::Sub, _)).then(|| simplified(expr, facts))?
}

fn distribute(expr: &Expr, facts: &Facts) -> Option<Expr> {
    if expr.ty() != &Type::Double {
        return None;
    }
    let i = facts.innermost_fold()?;
    let is_conditional = |term: &Expr| matches!(term.term(), Term::If(..)) && is_hot(term);
    let collapses = |term: &Expr| match term.term() {
        Term::If(cond, ..) => {
            is_hot(term) && facts.grants("c holds in one iteration of the enclosing loop, or is invariant in it", decides_steps(cond, i))
        }
        _ => false,
    };
    let split = |sum: &Expr, factor: &Expr, f: &dyn Fn(Expr) -> Expr| {
        let mut list = Vec::new();
        match sum.term() {
            Term::Prim(Prim::Add | Prim::Sub, _) => terms(sum, true, &mut list),
            // `if c then a + b else b`, where the factor is not better taken out of a loop
            Term::If(cond, ..) if mentions(cond, i) && is_cheap(factor) => {
                let (common, choice) = without_common(sum)?;
                list = common;
                list.push((choice, true));
            }
            _ => return None,
        }
        if !list.iter().any(|(term, _)| collapses(term)) {
            let (almost, _) = list.iter().find(|(term, _)| is_conditional(term))?;
            facts.require("c holds in one iteration of the enclosing loop, or is invariant in it", false, almost)?;
        }
        let mut whole: Option<Expr> = None;
        for (term, positive) in list {
            let term = match term.term() {
                Term::If(c, a, b) if collapses(&term) => {
                    let part = |e: &Expr| if is_number(e, 0.0) { e.clone() } else { f(e.clone()) };
                    Expr::if_(c.clone(), part(a), part(b))
                }
                _ => f(term.clone()),
            };
            whole = Some(match whole {
                None if positive => term,
                None => Expr::prim(Prim::Neg, vec![term]),
                Some(before) => Expr::prim(if positive { Prim::Add } else { Prim::Sub }, vec![before, term]),
            });
        }
        whole
    };
    if let Some((a, b)) = binary(expr, Prim::Mul) {
        let right = |e: Expr| Expr::prim(Prim::Mul, vec![e, copy(b)]);
        return split(a, b, &right).or_else(|| split(b, a, &|e: Expr| Expr::prim(Prim::Mul, vec![copy(a), e])));
    }
    let (a, b) = binary(expr, Prim::Div)?;
    split(a, b, &|e: Expr| Expr::prim(Prim::Div, vec![e, copy(b)]))
}

/// Whether a condition holds in one iteration of the loop over i only, or is invariant in it.
pub fn decides_steps(cond: &Expr, i: &Var) -> bool {
    let is_i = |e: &Expr| matches!(e.term(), Term::Var(var) if var == i);
    match cond.term() {
        Term::Prim(Prim::Eq, args) if args.iter().any(is_i) => args.iter().filter(|arg| mentions(arg, i)).count() == 1,
        _ => !mentions(cond, i),
    }
}

/// Two terms of a sum that one condition decides are one term.
fn if_collect(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Prim(prim @ (Prim::Add | Prim::Sub), args) = expr.term() else { return None };
    let [x, y] = args.as_slice() else { return None };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    terms(y, *prim == Prim::Add, &mut right);
    if expr.ty() != &Type::Double || right.len() > COLLECTED || !right.iter().any(|(term, _)| matches!(term.term(), Term::If(..))) {
        return None;
    }
    terms(x, true, &mut left);
    if left.len() > COLLECTED {
        return None;
    }
    let branches = |(term, positive): &(Expr, bool)| match term.term() {
        Term::If(c, a, b) => Some((c.clone(), a.clone(), b.clone(), *positive)),
        _ => None,
    };
    let (at, with, joined) = left.iter().enumerate().find_map(|(at, term)| {
        let (c, a, b, positive) = branches(term)?;
        right.iter().enumerate().find_map(|(with, term)| {
            let (other, d, e, sign) = branches(term)?;
            let join = |x: &Expr, y: Expr| Expr::prim(if sign == positive { Prim::Add } else { Prim::Sub }, vec![x.clone(), y]);
            same(&c, &other).then(|| (at, with, Expr::if_(c.clone(), join(&a, d), join(&b, e))))
        })
    })?;
    left[at].0 = joined;
    right.remove(with);
    left.append(&mut right);
    let (sum, is_positive) = sum_of(left)?;
    Some(if is_positive { sum } else { Expr::prim(Prim::Neg, vec![sum]) })
}

/// Factors common to both branches are evaluated unconditionally. They mention nothing that one branch binds.
fn if_factor(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::If(cond, then, otherwise) = expr.term() else { return None };
    if expr.ty() != &Type::Double || is_hot(expr) || then.is_atom() || otherwise.is_atom() {
        return None;
    }
    let (a, b) = (Branch::of(then, facts), Branch::of(otherwise, facts));
    if a.product.is_large() || b.product.is_large() {
        return None;
    }
    let common: Vec<(Expr, i32)> = a
        .product
        .factors
        .iter()
        .filter_map(|(factor, power)| {
            let other = b.product.power(factor);
            let least = if power.signum() == other.signum() { power.signum() * power.abs().min(other.abs()) } else { 0 };
            (least != 0).then(|| (factor.clone(), least))
        })
        .collect();
    let both_negative = a.product.is_negative() && b.product.is_negative();
    if common.is_empty() && !both_negative {
        return None;
    }
    let rest = |branch: &Branch| {
        let mut product = branch.product.without(&common);
        product.numerator *= if both_negative { -1.0 } else { 1.0 };
        branch.with(product.to_expr(facts))
    };
    let (x, y) = (rest(&a), rest(&b));
    // a product moves back into a branch that is a literal
    if x.is_atom() && !matches!(x.term(), Term::Var(_)) || y.is_atom() && !matches!(y.term(), Term::Var(_)) {
        return None;
    }
    let chosen = Expr::if_(cond.clone(), x, y);
    let mut whole = Product { factors: common, ..Product::ONE };
    whole.numerator = if both_negative { -1.0 } else { 1.0 };
    whole.raise(&chosen, 1);
    Some(whole.to_expr(facts))
}

/// A branch as a product, below its lets.
struct Branch {
    lets: Vec<(Var, Expr)>,
    product: Product,
}

impl Branch {
    fn of(expr: &Expr, facts: &Facts) -> Branch {
        let (mut lets, mut body) = (Vec::new(), expr);
        while let Term::Let(x, value, inner) = body.term() {
            lets.push((x.clone(), value.clone()));
            body = inner;
        }
        Branch { lets, product: Product::of(body, facts) }
    }

    fn with(&self, body: Expr) -> Expr {
        self.lets.iter().rev().fold(body, |body, (x, value)| Expr::let_(x.clone(), value.clone(), body))
    }
}
