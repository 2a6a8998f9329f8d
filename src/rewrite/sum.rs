//! Sums as lists of products: like terms, common factors, and the cost of arithmetic terms.
//!
//! In: a term of `+`, `-`, `*`, `/`. Out: its [`simplified`] form, where that does less work in the innermost loop that it
//! stands in.
//!
//!     x * y + y * x              →  2 * (x * y)
//!     a * u / d - b * u / d      →  (a - b) * u / d
//!
//! A fold's accumulator stays first, and a term that is zero unless a condition holds stays separate: other rules match this
//! form. Limits: real-number laws, so only for rules of group `algebra`.

use crate::ir::{Expr, Prim, Term, Type};

use super::alike::same;
use super::atoms::is_number;
use super::facts::Facts;
use super::product::Product;

/// Sums with more terms than this are left alone.
const TERMS: usize = 24;

/// The terms of a sum, each with its sign.
pub fn terms(expr: &Expr, positive: bool, found: &mut Vec<(Expr, bool)>) {
    match expr.term() {
        Term::Prim(prim @ (Prim::Add | Prim::Sub), args) if args.len() == 2 => {
            terms(&args[0], positive, found);
            terms(&args[1], positive == (*prim == Prim::Add), found);
        }
        Term::Prim(Prim::Neg, args) if args.len() == 1 => terms(&args[0], !positive, found),
        _ => found.push((expr.clone(), positive)),
    }
}

/// The sum of terms, and whether it is positive: it begins with the first positive one, if there is any.
pub fn sum_of(mut terms: Vec<(Expr, bool)>) -> Option<(Expr, bool)> {
    if terms.is_empty() {
        return None;
    }
    let first = terms.iter().position(|(_, positive)| *positive).unwrap_or(0);
    let (first, is_positive) = terms.remove(first);
    let signed = |positive: bool| if positive == is_positive { Prim::Add } else { Prim::Sub };
    Some((terms.into_iter().fold(first, |sum, (term, positive)| Expr::prim(signed(positive), vec![sum, term])), is_positive))
}

/// A term that is zero unless a condition holds.
pub fn is_hot(expr: &Expr) -> bool {
    match expr.term() {
        Term::If(_, a, b) => is_number(a, 0.0) || is_number(b, 0.0),
        Term::Prim(Prim::Mul | Prim::Div | Prim::Neg, args) => args.iter().any(is_hot),
        _ => false,
    }
}

/// A cheaper form of an arithmetic term, if there is one.
pub fn simplified(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let mut left = TERMS - 1;
    if expr.ty() != &Type::Double || has_more_terms(expr, &mut left) {
        return None;
    }
    let surroundings = facts.surroundings(expr);
    if facts.is_settled(expr, surroundings) {
        return None;
    }
    let new = rearranged(expr, facts);
    if new.is_none() {
        facts.settle(expr, surroundings);
    }
    new
}

/// Whether a sum has more terms than so many and one; each of its additions, which are counted on the way down, makes one
/// more.
fn has_more_terms(expr: &Expr, left: &mut usize) -> bool {
    match expr.term() {
        Term::Prim(Prim::Add | Prim::Sub, _) if *left == 0 => true,
        Term::Prim(prim @ (Prim::Add | Prim::Sub | Prim::Neg), args) => {
            *left -= usize::from(*prim != Prim::Neg);
            args.iter().any(|arg| has_more_terms(arg, left))
        }
        _ => false,
    }
}

fn rearranged(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let mut list = Vec::new();
    terms(expr, true, &mut list);
    let is_kept = |(term, _): &(Expr, bool)| is_hot(term) || facts.accumulates(term);
    let kept: Vec<_> = list.extract_if(.., |term| is_kept(term)).collect();
    if list.is_empty() || !kept.is_empty() && list.len() < 2 {
        return None;
    }
    let mut products = Vec::with_capacity(list.len());
    for (term, positive) in &list {
        let mut product = Product::of(term, facts);
        if product.is_large() {
            return None;
        }
        product.numerator *= if *positive { 1.0 } else { -1.0 };
        products.push(product);
    }
    let (sum, negative) = collected(products, facts);
    let mut whole = None;
    for (term, positive) in kept {
        append(&mut whole, term, positive);
    }
    append(&mut whole, sum, !negative);
    let whole = whole?;
    // the common case: already ordered
    let is_new = whole.shape() != expr.shape() || !same(&whole, expr);
    let is_less = is_new && work(&whole, facts) < work(expr, facts);
    facts.grants("the innermost loop then does less work", is_less).then_some(whole)
}

fn append(sum: &mut Option<Expr>, term: Expr, positive: bool) {
    *sum = Some(match sum.take() {
        _ if is_number(&term, 0.0) && sum.is_some() => return,
        None if positive => term,
        None => Expr::prim(Prim::Neg, vec![term]),
        Some(before) if is_number(&before, 0.0) && positive => term,
        Some(before) => Expr::prim(if positive { Prim::Add } else { Prim::Sub }, vec![before, term]),
    });
}

/// Like terms collected and common factors taken out; the absolute term, and whether it is negated.
pub fn collected(products: Vec<Product>, facts: &Facts) -> (Expr, bool) {
    if let [single] = products.as_slice() {
        return single.to_signed(facts);
    }
    let mut list: Vec<Product> = Vec::new();
    for product in products {
        match list.iter_mut().find(|other| other.same_factors(&product)) {
            Some(other) => {
                let (n, d) = (other.numerator, other.denominator);
                other.numerator =
                    if d == product.denominator { n + product.numerator } else { n * product.denominator + product.numerator * d };
                other.denominator = if d == product.denominator { d } else { d * product.denominator };
            }
            None => list.push(product),
        }
    }
    list.retain(|product| product.numerator != 0.0);
    match list.as_slice() {
        [] => return (Expr::double(0.0), false),
        [single] => return single.to_signed(facts),
        _ => {}
    }
    let common = common_factors(&list);
    if !common.is_empty() {
        return times(common, &list, facts);
    }
    let Some(shared) = most_shared(&list) else {
        return in_order(list.iter().map(|product| product.to_signed(facts)).collect(), facts);
    };
    let has = |product: &Product| product.power(&shared.0) * shared.1 > 0;
    let (with, without): (Vec<Product>, Vec<Product>) = list.iter().cloned().partition(has);
    let first = list.first().is_some_and(has);
    let together = times(common_factors(&with), &with, facts);
    let rest = collected(without, facts);
    let mut whole = None;
    let (a, b) = if first { (together, rest) } else { (rest, together) };
    if a.1 && !b.1 {
        append(&mut whole, b.0, true);
        append(&mut whole, a.0, false);
        return (whole.unwrap_or_else(|| Expr::double(0.0)), false);
    }
    append(&mut whole, a.0, true);
    append(&mut whole, b.0, a.1 == b.1);
    (whole.unwrap_or_else(|| Expr::double(0.0)), a.1)
}

/// The common factors times the sum of the remaining products.
fn times(common: Vec<(Expr, i32)>, list: &[Product], facts: &Facts) -> (Expr, bool) {
    let mut rest = Vec::new();
    for product in list {
        let product = product.without(&common);
        match product.factors.as_slice() {
            // a remaining factor that is a sum is merged into the sum around it
            [(factor, 1)] if matches!(factor.term(), Term::Prim(Prim::Add | Prim::Sub, _)) => {
                let mut inner = Vec::new();
                terms(factor, true, &mut inner);
                if rest.len() + inner.len() > TERMS {
                    rest.push(product);
                    continue;
                }
                for (term, positive) in inner {
                    let mut part = Product::of(&term, facts);
                    if part.is_large() {
                        part = Product { factors: vec![(term, 1)], ..Product::ONE };
                    }
                    part.numerator *= product.numerator * if positive { 1.0 } else { -1.0 };
                    part.denominator *= product.denominator;
                    rest.push(part);
                }
            }
            _ => rest.push(product),
        }
    }
    let (sum, negative) = collected(rest, facts);
    let taken = Product { factors: common, ..Product::ONE };
    let mut whole = taken.clone();
    whole.multiply(&sum, 1, facts);
    if whole.is_large() {
        whole = taken;
        whole.raise(&sum, 1);
    }
    let (whole, other) = whole.to_signed(facts);
    (whole, negative != other)
}

/// The factors that all products have, with the smallest power.
fn common_factors(list: &[Product]) -> Vec<(Expr, i32)> {
    let Some((first, others)) = list.split_first() else { return Vec::new() };
    let common = first.factors.iter().filter_map(|(factor, power)| {
        let powers = others.iter().map(|product| product.power(factor));
        let least = powers.fold(
            *power,
            |least, power| {
                if least.signum() != power.signum() { 0 } else { least.signum() * least.abs().min(power.abs()) }
            },
        );
        (least != 0).then(|| (factor.clone(), least))
    });
    common.collect()
}

/// The factor, with the sign of its power, that most products have; of more than one.
fn most_shared(list: &[Product]) -> Option<(Expr, i32)> {
    let mut best: Option<(usize, Expr, i32)> = None;
    for product in list {
        for (factor, power) in &product.factors {
            let count = list.iter().filter(|other| other.power(factor) * power > 0).count();
            if count > 1 && best.as_ref().is_none_or(|(most, ..)| count > *most) {
                best = Some((count, factor.clone(), power.signum()));
            }
        }
    }
    best.map(|(_, factor, sign)| (factor, sign))
}

/// The sum of terms, what depends on fewer loops first, and of those a positive one first if there is any.
fn in_order(mut parts: Vec<(Expr, bool)>, facts: &Facts) -> (Expr, bool) {
    parts.sort_by_cached_key(|(part, _)| facts.level(part));
    let outer = parts.first().map_or(0, |(part, _)| facts.level(part));
    let leads = |(part, negative): &(Expr, bool)| !negative && facts.level(part) == outer;
    if let Some(at) = parts.iter().position(leads).or_else(|| parts.iter().position(|(_, negative)| !negative)) {
        let first = parts.remove(at);
        parts.insert(0, first);
    }
    let negative = parts.first().is_some_and(|(_, negative)| *negative);
    let mut whole = None;
    for (part, sign) in parts {
        append(&mut whole, part, sign == negative);
    }
    (whole.unwrap_or_else(|| Expr::double(0.0)), negative)
}

/// The cost of an arithmetic term, from the innermost loop outwards; compared lexicographically. A division counts as three
/// operations, other terms not at all. A let-bound name counts at the depth to which its value can be hoisted: counted at its
/// binding, inlining it would seem to save work until it is named again.
pub fn work(expr: &Expr, facts: &Facts) -> Vec<u32> {
    let mut levels = vec![0; facts.loops() + 3];
    // finally the size of the term
    if let Some((last, levels)) = levels.split_first_mut() {
        add_work(expr, facts, levels);
        *last = leaves(expr);
    }
    levels.reverse();
    levels
}

/// The operands of an arithmetic term, without literals.
fn leaves(expr: &Expr) -> u32 {
    match expr.term() {
        Term::Double(_) => 0,
        Term::Prim(Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Neg, args) => args.iter().map(leaves).sum(),
        _ => 1,
    }
}

fn add_work(expr: &Expr, facts: &Facts, levels: &mut [u32]) -> usize {
    let cost = match expr.term() {
        Term::Prim(Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg, _) if expr.ty() == &Type::Double => 1,
        // by a number it is a product
        Term::Prim(Prim::Div, args) if expr.ty() == &Type::Double => {
            if matches!(args[1].term(), Term::Double(_)) {
                1
            } else {
                3
            }
        }
        _ => return facts.needs(expr),
    };
    let mut level = 0;
    expr.term().each_child(&mut |child| level = level.max(add_work(child, facts, levels)));
    if let Some(count) = levels.get_mut(level) {
        *count += cost;
    }
    level
}
