//! Index set splitting: folds that act only in a range of their steps run over that range.
//!
//!     ifold (fun s i -> if 0 < i then s + v[i - 1] else s) z n
//!       →   ifold (fun s j -> let i = j + 1 in s + v[i - 1]) z (max 0 (n - 1))
//!
//! So the gradient of a convolution visits only the window of an element, and a sum over a triangle only the triangle. The omitted
//! steps return the accumulator unchanged; the others keep their order. Limits:
//! comparisons with a variable of the loop that has no factor, outermost in the step or in its components.

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Atom, Expr, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "fold-range" Loop Normalisation @ Fold: "ifold (fun s i -> if a <= i && i < b then e else s) z n -> ifold (fun s j -> let i = j + a in e) z (b - a)"
        if ["a and b are loop-invariant", "a, b and b - a do not wrap", "0 <= n, else the check stays"] => fold_range;
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
        let Some(size) = Size::try_of_expr(value).filter(Size::is_of_names) else { break };
        let size = written_out(&size, &lets);
        lets.push((x, value, size));
        step = inner;
    }
    let mut step = step.clone();
    let mut is_narrower = false;
    while let Some((cond, names)) = first_condition(&step) {
        let Some(truth) = [true, false].into_iter().find(|truth| hands_on(&decided(&step, &cond, !truth), acc)) else { break };
        let Some(comparison) = Comparison::of(&cond, truth) else { break };
        let Comparison { less, more, gap } = comparison;
        let comparison = Comparison { less: written_out(&less, &lets), more: written_out(&more, &lets), gap };
        let Some(bound) = Bound::of(&comparison, i) else { break };
        let is_fixed = names.iter().chain([i, acc]).all(|name| !bound.size().mentions(name));
        if !facts.grants("a and b are loop-invariant", is_fixed) {
            break;
        }
        let wraps = [&comparison.less, &comparison.more, bound.size()].iter().any(|size| !facts.never_wraps(size));
        facts.require("a, b and b - a do not wrap", !wraps, &cond)?;
        range.meet(bound, facts)?;
        is_narrower = true;
        step = decided(&step, &cond, truth);
    }
    if !is_narrower {
        return None;
    }
    let Range { low, high } = range;
    let steps = high.sub(&low);
    let wraps = [&low, &high, &steps].iter().any(|size| !facts.never_wraps(size));
    facts.require("a, b and b - a do not wrap", !wraps, expr)?;
    let steps = extreme(Prim::Max, Size::constant(0), steps, facts)?.to_expr()?;
    let j = i.renewed(Type::Index(Some(Size::of_expr(&steps))));
    let step = lets.into_iter().rev().fold(step, |step, (x, value, _)| Expr::let_(x.clone(), value.clone(), step));
    let shifted = low.add(&Size::var(&j)).to_expr()?;
    let step =
        if low.is_of_names() { worked_out(&substitute(&step, &[(i.clone(), shifted)]), &j) } else { Expr::let_(i.clone(), shifted, step) };
    let narrower = Expr::fold_with(steps, acc.clone(), j, step, init.clone());
    if facts.grants("0 <= n, else the check stays", facts.non_negative(&count)) {
        return Some(narrower);
    }
    Some(Expr::check(Expr::prim(Prim::Le, vec![Expr::index(0), freshen(n)]), Status::Negative, narrower))
}

/// The outermost condition of a step or of a component, and the lets in front of it.
fn first_condition(step: &Expr) -> Option<(Expr, Vec<Var>)> {
    let asked = |expr: &Expr| match expr.term() {
        Term::If(cond, ..) => Some(cond.clone()),
        _ => None,
    };
    let (mut names, mut step) = (Vec::new(), step);
    loop {
        let cond = match step.term() {
            Term::Let(_, value, _) => asked(value),
            Term::Tuple(parts) => parts.iter().find_map(asked),
            _ => asked(step),
        };
        match (cond, step.term()) {
            (Some(cond), _) => return Some((cond, names)),
            (None, Term::Let(x, _, body)) => {
                names.push(x.clone());
                step = body;
            }
            (None, _) => return None,
        }
    }
}

/// A step where a condition is known.
fn decided(step: &Expr, cond: &Expr, truth: bool) -> Expr {
    match step.term() {
        Term::If(c, a, b) if same(c, cond) => decided(if truth { a } else { b }, cond, truth),
        Term::Let(x, value, body) => Expr::let_(x.clone(), decided(value, cond, truth), decided(body, cond, truth)).at(step.span()),
        Term::Tuple(parts) => Expr::tuple(parts.iter().map(|part| decided(part, cond, truth)).collect()).at(step.span()),
        _ => step.clone(),
    }
}

/// Whether a step's result is the accumulator, and all that it computes is names for parts of it.
fn hands_on(step: &Expr, acc: &Var) -> bool {
    fn part(expr: &Expr, names: &mut Vec<(Var, Vec<usize>)>) -> Option<Vec<usize>> {
        match expr.term() {
            Term::Var(var) => names.iter().find(|(name, _)| name == var).map(|(_, path)| path.clone()),
            Term::Proj(tuple, k) => part(tuple, names).map(|path| path.into_iter().chain([*k]).collect()),
            Term::Tuple(parts) => {
                let whole = part(parts.first()?, names)?.split_last().map(|(_, whole)| whole.to_vec())?;
                let is_next = |(k, expr): (usize, &Expr)| {
                    part(expr, names).and_then(|path| path.split_last().map(|(last, rest)| *last == k && rest == whole)) == Some(true)
                };
                parts.iter().enumerate().all(is_next).then_some(whole)
            }
            Term::Let(x, value, body) => {
                let path = part(value, names)?;
                names.push((x.clone(), path));
                part(body, names)
            }
            _ => None,
        }
    }
    part(step, &mut vec![(acc.clone(), Vec::new())]).is_some_and(|path| path.is_empty())
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
    /// The range implied by a condition being true, or false.
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

/// A bound of a range.
pub(super) enum Bound {
    Low(Size),
    High(Size),
}

impl Bound {
    /// The bound that a comparison gives for a variable.
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
