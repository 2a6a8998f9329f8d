//! Folds whose steps do something in a range of Indexes only: they run over that range.
//!
//!     ifold (fun s i -> if 0 < i then s + v[i - 1] else s) z n
//!       →   ifold (fun s j -> let i = j + 1 in s + v[i - 1]) z (max 0 (n - 1))
//!
//! So does the gradient of a convolution visit the window of an element, and a sum over a triangle no half for nothing. The
//! steps that are left out hand the accumulator on; the others are as they were, in their order. Limits: comparisons with
//! a variable of the loop that has no factor, outermost in the step.

use crate::ir::free::mentions;
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Atom, Expr, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "fold-range" Loop Normalisation @ Fold: "ifold (fun s i -> if a <= i && i < b then e else s) z n -> ifold (fun s j -> let i = j + a in e) z (b - a)"
        if ["a and b are the same in every step", "a, b and b - a do not wrap", "0 <= n, else behind that check"] => fold_range;
}

/// The steps from `low` up to `high`.
struct Range {
    low: Size,
    high: Size,
}

/// `less + gap <= more`.
pub(super) struct Comparison {
    less: Size,
    more: Size,
    gap: i64,
}

fn fold_range(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    let count = Size::try_of_expr(n)?;
    let mut range = Range { low: Size::constant(0), high: count.clone() };
    // names of Indexes, which conditions are made of
    let (mut lets, mut step) = (Vec::new(), body);
    while let Term::Let(x, value, inner) = step.term() {
        let size = written_out(&Size::try_of_expr(value).filter(Size::is_of_names)?, &lets);
        lets.push((x, value, size));
        step = inner;
    }
    let is_acc = |e: &Expr| matches!(e.term(), Term::Var(var) if var == acc);
    let mut is_narrower = false;
    while let Term::If(cond, a, b) = step.term() {
        let (truth, inner) = match (is_acc(a), is_acc(b)) {
            (false, true) => (true, a),
            (true, false) => (false, b),
            (true, true) | (false, false) => break,
        };
        let Some(comparison) = Comparison::of(cond, truth) else { break };
        let Comparison { less, more, gap } = comparison;
        let comparison = Comparison { less: written_out(&less, &lets), more: written_out(&more, &lets), gap };
        let Some(bound) = Bound::of(&comparison, i) else { break };
        let is_fixed = !bound.size().mentions(i) && !bound.size().mentions(acc);
        if !facts.grants("a and b are the same in every step", is_fixed) {
            break;
        }
        let wraps = [&comparison.less, &comparison.more, bound.size()].iter().any(|size| !facts.never_wraps(size));
        facts.require("a, b and b - a do not wrap", !wraps, cond)?;
        range.meet(bound, facts)?;
        is_narrower = true;
        step = inner;
    }
    if !is_narrower {
        return None;
    }
    let Range { low, high } = range;
    let steps = high.sub(&low);
    let wraps = [&low, &high, &steps].iter().any(|size| !facts.never_wraps(size));
    facts.require("a, b and b - a do not wrap", !wraps, expr)?;
    let steps = extreme(Prim::Max, Size::constant(0), steps, facts)?.to_expr()?;
    let j = Var::fresh(i.name(), Type::Index(Some(Size::of_expr(&steps))));
    let step = lets.into_iter().rev().fold(step.clone(), |step, (x, value, _)| Expr::let_(x.clone(), value.clone(), step));
    let shifted = low.add(&Size::var(&j)).to_expr()?;
    let step =
        if low.is_of_names() { worked_out(&substitute(&step, &[(i.clone(), shifted)]), &j) } else { Expr::let_(i.clone(), shifted, step) };
    let narrower = Expr::fold_with(steps, acc.clone(), j, step, init.clone());
    if facts.grants("0 <= n, else behind that check", facts.non_negative(&count)) {
        return Some(narrower);
    }
    Some(Expr::check(Expr::prim(Prim::Le, vec![Expr::index(0), n.clone()]), Status::Negative, narrower))
}

/// The term with what it adds to an Index as one sum.
fn worked_out(expr: &Expr, j: &Var) -> Expr {
    if !mentions(expr, j) || expr.is_atom() {
        return expr.clone();
    }
    match Size::try_of_expr(expr).filter(Size::is_of_names).and_then(|size| size.to_expr()) {
        Some(sum) => sum,
        None => map_children(expr, &mut |child| worked_out(child, j)),
    }
}

/// The size without the names of lets.
fn written_out(size: &Size, lets: &[(&Var, &Expr, Size)]) -> Size {
    size.substitute(&mut |atom| match atom {
        Atom::Var(var) => lets.iter().find(|(x, ..)| *x == var).map(|(.., value)| value.clone()),
        Atom::Term(_) | Atom::Unknown(_) => None,
    })
}

impl Comparison {
    /// What holds where a condition is true, or false.
    pub(super) fn of(cond: &Expr, truth: bool) -> Option<Comparison> {
        let Term::Prim(prim, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        let (a, b) = (Size::try_of_expr(a)?, Size::try_of_expr(b)?);
        let (less, more, gap) = match (prim, truth) {
            (Prim::Lt, true) | (Prim::Ge, false) => (a, b, 1),
            (Prim::Gt, true) | (Prim::Le, false) => (b, a, 1),
            (Prim::Le, true) | (Prim::Gt, false) => (a, b, 0),
            (Prim::Ge, true) | (Prim::Lt, false) => (b, a, 0),
            _ => return None,
        };
        Some(Comparison { less, more, gap })
    }
}

/// Where a range begins, or ends.
pub(super) enum Bound {
    Low(Size),
    High(Size),
}

impl Bound {
    /// What a comparison says of a variable.
    pub(super) fn of(Comparison { less, more, gap }: &Comparison, i: &Var) -> Option<Bound> {
        let (distance, index) = (more.sub(less).sub(&Size::constant(*gap)), Size::var(i));
        let (_, factor) = distance.terms().find(|(monomial, _)| monomial.as_ref() == [Atom::Var(i.clone())])?;
        match factor {
            1 => Some(Bound::Low(index.sub(&distance))),
            -1 => Some(Bound::High(index.add(&distance).add(&Size::constant(1)))),
            _ => None,
        }
    }

    fn size(&self) -> &Size {
        match self {
            Bound::Low(size) | Bound::High(size) => size,
        }
    }
}

impl Range {
    fn meet(&mut self, bound: Bound, facts: &Facts) -> Option<()> {
        match bound {
            Bound::Low(low) => self.low = extreme(Prim::Max, self.low.clone(), low, facts)?,
            Bound::High(high) => self.high = extreme(Prim::Min, self.high.clone(), high, facts)?,
        }
        Some(())
    }
}

/// The larger of two sizes, or the smaller: which one where that is known, else the operation on both.
fn extreme(prim: Prim, a: Size, b: Size, facts: &Facts) -> Option<Size> {
    match (facts.at_most(&a, &b), facts.at_most(&b, &a)) {
        (true, _) => Some(if prim == Prim::Max { b } else { a }),
        (false, true) => Some(if prim == Prim::Max { a } else { b }),
        (false, false) => Size::try_of_expr(&Expr::prim(prim, vec![a.to_expr()?, b.to_expr()?])),
    }
}
