//! Linearity of sums: loop-invariant terms are summed in closed form, loop-invariant factors are multiplied afterwards.
//!
//!     ifold (fun s i -> s + c * v[i]) 0 n      →  c * ifold (fun s i -> s + v[i]) 0 n
//!     ifold (fun s i -> s + (c - v[i])) 0 n    →  double n * c - ifold (fun s i -> s + v[i]) 0 n
//!
//! A sum is split where at most one of the resulting loops depends on the enclosing loop: the others are hoisted.
//! A factor that is infinite for n = 0 is guarded against the zero of an empty sum:
//!
//!     ifold (fun s i -> s + v[i] / double n) 0 n  →  (if 0 < n then 1 / double n else 0) * ifold (fun s i -> s + v[i]) 0 n
//!
//! Limits: real-number laws of group `algebra`: a factor that is infinite for every n is not guarded.

use crate::ir::free::mentions;
use crate::ir::subst::freshen;
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::atoms::{is_free, is_number};
use crate::rewrite::facts::Facts;
use crate::rewrite::poles::Poles;
use crate::rewrite::product::Product;
use crate::rewrite::sum::{collected, is_hot, terms};

use super::fission::leaves;
use super::motion::runs;
use super::rules;

rules! {
    "sum-linear" Ring Algebra @ Fold: "ifold (fun s i -> s + (c * a + d)) z n -> z + (c * ifold (fun s i -> s + a) 0 n + double n * d)"
        if ["copying n costs nothing", "s is not free in a", "s and i are not free in c, d", "c and d total", "at most one loop stays inside the enclosing loop", "c and d have no pole at n = 0, or 0 < n, else guarded by that test", "0 <= n, else the check stays"] => sum_linear;
    "sum-swap" Ring Algebra @ Fold: "sum over i of c i * (sum over j of a i j * b j) -> sum over j of b j * (sum over i of c i * a i j)"
        if ["the counts are loop-invariant", "the counts are not negative", "b depends on the enclosing loop, and c and a can be hoisted out of it", "b total and without a pole at n = 0, or 0 < n"] => sum_swap;
}

/// Sums with more terms than this are left alone.
const TERMS: usize = 12;

fn sum_linear(expr: &Expr, facts: &Facts) -> Option<Expr> {
    if expr.ty() != &Type::Double {
        return None;
    }
    taken_out(expr, facts, false).or_else(|| if facts.loops() > 0 { taken_out(expr, facts, true) } else { None })
}

/// `multiply`: as a sum of products, where then no loop is left inside the enclosing loop.
fn taken_out(expr: &Expr, facts: &Facts, multiply: bool) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    let mut lets = Vec::new();
    let mut sum = body;
    while let Term::Let(x, value, inner) = sum.term() {
        lets.push((x, value));
        sum = inner;
    }
    let mut list = Vec::new();
    terms(sum, true, &mut list);
    let at = list.iter().position(|(term, positive)| *positive && matches!(term.term(), Term::Var(var) if var == acc))?;
    list.remove(at);
    let changes = |e: &Expr| {
        let is_fixed = !mentions(e, i) && !mentions(e, acc) && !lets.iter().any(|(x, _)| mentions(e, x));
        !facts.grants("s and i are not free in c, d", is_fixed)
    };
    if multiply {
        list = multiplied_out(&list, &changes, facts)?;
    }
    if list.is_empty() || list.len() > TERMS || list.iter().any(|(term, _)| is_hot(term)) {
        return None;
    }
    let recurs = list.iter().any(|(term, _)| mentions(term, acc)) || lets.iter().any(|(_, value)| mentions(value, acc));
    facts.require("s is not free in a", !recurs, body)?;
    let mut groups: Vec<Group> = Vec::new();
    for (term, positive) in &list {
        let mut product = Product::of(term, facts);
        if product.is_large() {
            return None;
        }
        product.numerator *= if *positive { 1.0 } else { -1.0 };
        let (varying, fixed) = product.factors.iter().cloned().partition(|(factor, _)| changes(factor));
        let fixed: Vec<(Expr, i32)> = fixed;
        let mut steps = Product { factors: varying, ..Product::ONE };
        let mut fixed = Product { factors: fixed, ..Product::ONE };
        let literal = if product.factors.iter().any(|(factor, _)| changes(factor)) && fixed.factors.is_empty() && list.len() > 1 {
            &mut steps
        } else {
            &mut fixed
        };
        (literal.numerator, literal.denominator) = (product.numerator, product.denominator);
        if let Some((factor, _)) = fixed.factors.iter().find(|(factor, _)| !facts.is_total(factor)) {
            facts.require("c and d total", false, factor)?;
        }
        // constants stay separate: `collected` adds them up
        match groups.iter_mut().find(|group| group.is_loop() && !steps.factors.is_empty() && group.is_alike(&fixed)) {
            Some(group) => {
                steps.numerator *= group.sign(&fixed);
                group.steps.push(steps);
            }
            None => groups.push(Group { fixed, steps: vec![steps] }),
        }
    }
    keep_constants(&mut groups);
    if groups.iter().all(|group| group.is_loop() && group.is_plain()) {
        return None;
    }
    facts.require("copying n costs nothing", is_free(n) || Size::try_of_expr(n).is_some_and(|n| n.is_of_names()), n)?;
    // one loop for each term, except for those that stay inside the enclosing loop
    let step = |group: &Group| {
        let (sum, negative) = collected(group.steps.clone(), facts);
        let acc_now = Expr::var(acc);
        let body = Expr::prim(if negative { Prim::Sub } else { Prim::Add }, vec![acc_now, sum]);
        let needed = needed_lets(&lets, &body);
        let body = needed.into_iter().rev().fold(body, |body, (x, value)| Expr::let_(x.clone(), value.clone(), body));
        freshen(&Expr::fold_with(n.clone(), acc.clone(), i.clone(), body, Expr::double(0.0)))
    };
    let loops: Vec<Option<Expr>> = groups.iter().map(|group| group.is_loop().then(|| step(group))).collect();
    let staying = loops.iter().flatten().filter(|e| !leaves(e, facts)).count();
    facts.require("at most one loop stays inside the enclosing loop", staying < if multiply { 1 } else { 2 }, expr)?;
    let times = Expr::prim(Prim::ToDouble, vec![n.clone()]);
    let poles = Poles::of(n, facts);
    let mut named: Vec<(Var, Expr)> = Vec::new();
    let mut products = Vec::new();
    // a remaining loop checks its own count
    let mut is_count = Size::try_of_expr(n).is_some_and(|n| facts.non_negative(&n));
    for (group, sum) in groups.into_iter().zip(loops) {
        let mut product = group.fixed;
        if sum.is_none() {
            if !named.iter().any(|(_, value)| value.is_same(&times)) {
                named.push((Var::fresh("times", Type::Double), times.clone()));
            }
            if let Some((x, _)) = named.first() {
                product.raise(&Expr::var(x), 1);
            }
        }
        let is_harmless = runs(n, facts) || !product.factors.iter().any(|factor| poles.has(factor));
        if !facts.grants("c and d have no pole at n = 0, or 0 < n, else guarded by that test", is_harmless) {
            product = guarded(product, sum, n, &poles, facts);
        } else if let Some(sum) = sum {
            product.raise(&sum, 1);
            is_count |= product.numerator != 0.0;
        }
        products.push(product);
    }
    let (whole, negative) = collected(products, facts);
    let whole = match (is_number(init, 0.0), negative) {
        (true, false) => whole,
        (true, true) => Expr::prim(Prim::Neg, vec![whole]),
        (false, _) => Expr::prim(if negative { Prim::Sub } else { Prim::Add }, vec![init.clone(), whole]),
    };
    let whole = named.into_iter().fold(whole, |whole, (x, value)| Expr::let_(x, value, whole));
    if facts.grants("0 <= n, else the check stays", is_count) {
        return Some(whole);
    }
    Some(Expr::check(Expr::prim(Prim::Le, vec![Expr::index(0), freshen(n)]), Status::Negative, whole))
}

/// The terms with each product of a sum as a sum of products, where a part of that sum has a factor that no step changes; `None`
/// where there is none such.
fn multiplied_out(list: &[(Expr, bool)], changes: &dyn Fn(&Expr) -> bool, facts: &Facts) -> Option<Vec<(Expr, bool)>> {
    let mut found = false;
    let mut whole = Vec::new();
    for (term, positive) in list {
        let product = Product::of(term, facts);
        let parts_of = |sum: &Expr| {
            let mut parts = Vec::new();
            terms(sum, true, &mut parts);
            let is_fixed = |part: &Expr| Product::of(part, facts).factors.iter().any(|(factor, _)| !changes(factor));
            (parts.len() > 1 && changes(sum) && parts.iter().any(|(part, _)| is_fixed(part))).then_some(parts)
        };
        let sum = product
            .factors
            .iter()
            .find_map(|(factor, power)| parts_of(factor).filter(|_| *power == 1).map(|parts| (factor.clone(), parts)));
        let Some((sum, parts)) = sum.filter(|_| product.factors.len() > 1) else {
            whole.push((term.clone(), *positive));
            continue;
        };
        found = true;
        let others = product.without(&[(sum, 1)]);
        for (part, sign) in parts {
            let mut each = others.copied();
            each.raise(&part, 1);
            whole.push((each.to_expr(facts), *positive == sign));
        }
    }
    found.then_some(whole)
}

/// Terms with the same factors outside of the loop.
struct Group {
    fixed: Product,
    steps: Vec<Product>,
}

impl Group {
    fn is_loop(&self) -> bool {
        self.steps.iter().any(|step| !step.factors.is_empty())
    }

    fn has_loop_inside(&self) -> bool {
        self.steps.iter().any(|step| step.factors.iter().any(|(factor, _)| has_loop(factor)))
    }

    /// Nothing can be factored out but a sign.
    fn is_plain(&self) -> bool {
        self.fixed.factors.is_empty() && self.fixed.numerator.abs() == 1.0 && self.fixed.denominator.abs() == 1.0
    }

    fn is_alike(&self, other: &Product) -> bool {
        self.fixed.same_factors(other)
            && self.fixed.numerator.abs() == other.numerator.abs()
            && self.fixed.denominator.abs() == other.denominator.abs()
    }

    fn sign(&self, other: &Product) -> f64 {
        if self.fixed.is_negative() == other.is_negative() { 1.0 } else { -1.0 }
    }
}

/// An addition is negligible beside a loop in the step: a constant stays with it, so that a sum that is used elsewhere too is not
/// split in one of its uses.
fn keep_constants(groups: &mut Vec<Group>) {
    let Some(at) = groups.iter().position(Group::has_loop_inside) else { return };
    let mut together = groups.remove(at);
    groups.retain(|group| {
        let common = &together.fixed.factors;
        let is_inside = |(factor, power): &(Expr, i32)| group.fixed.power(factor) == *power;
        if group.is_loop() || !common.iter().all(is_inside) {
            return true;
        }
        let mut rest = group.fixed.without(common);
        rest.numerator *= together.fixed.denominator;
        rest.denominator *= together.fixed.numerator;
        together.steps.push(rest);
        false
    });
    groups.insert(at.min(groups.len()), together);
}

/// The product times the sum, with 0 in place of its poles at n = 0. Where a loop of this place is among those, the sum goes
/// with it: over one range they become one loop.
fn guarded(product: Product, sum: Option<Expr>, n: &Expr, poles: &Poles, facts: &Facts) -> Product {
    let (singular, regular): (Vec<_>, Vec<_>) = product.factors.iter().cloned().partition(|factor| poles.has(factor));
    let mut inside = Product { factors: singular, ..product };
    let mut outside = Product { factors: regular, ..Product::ONE };
    if let Some(sum) = sum {
        let with_it = inside.factors.iter().any(|(factor, _)| facts.level(factor) == facts.loops() && has_loop(opened(factor, facts)));
        if with_it { &mut inside } else { &mut outside }.raise(&sum, 1);
    }
    let is_nonempty = Expr::prim(Prim::Lt, vec![Expr::index(0), n.clone()]);
    outside.raise(&Expr::if_(is_nonempty, inside.to_expr(facts), Expr::double(0.0)), 1);
    outside
}

/// The value of a let-bound variable.
fn opened<'a>(expr: &'a Expr, facts: &'a Facts) -> &'a Expr {
    match expr.term() {
        Term::Var(x) => facts.value(x).unwrap_or(expr),
        _ => expr,
    }
}

/// Whether a term has a loop.
pub fn has_loop(expr: &Expr) -> bool {
    let mut found = matches!(expr.term(), Term::Build { .. } | Term::Fold { .. });
    expr.term().each_child(&mut |child| found = found || has_loop(child));
    found
}

/// The lets that a body needs, through one another.
fn needed_lets<'a>(lets: &[(&'a Var, &'a Expr)], body: &Expr) -> Vec<(&'a Var, &'a Expr)> {
    let mut needed: Vec<(&Var, &Expr)> = Vec::new();
    for (x, value) in lets.iter().rev() {
        if mentions(body, x) || needed.iter().any(|(_, value)| mentions(value, x)) {
            needed.push((x, value));
        }
    }
    needed.reverse();
    needed
}

/// The inner sum of a product with a sum, where it can then be hoisted out of the enclosing loop.
fn sum_swap(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let outer = Sum::of(expr, facts)?;
    let (at, inner) = outer.product.factors.iter().enumerate().find_map(|(at, (factor, power))| match Sum::of(factor, facts) {
        Some(inner) if *power == 1 && is_number(inner.init, 0.0) && inner.lets.is_empty() => Some((at, inner)),
        Some(_) | None => None,
    })?;
    let here = facts.loops();
    let changes = |e: &Expr| mentions(e, outer.i) || outer.lets.iter().any(|(x, _)| mentions(e, x));
    let is_fixed = |n: &Expr| !changes(n) && facts.level(n) < here;
    let is_count = |n: &Expr| Size::try_of_expr(n).is_some_and(|n| facts.non_negative(&n));
    if here == 0 {
        return None;
    }
    if !facts.grants("the counts are loop-invariant", is_fixed(outer.n) && is_fixed(inner.n)) {
        return None;
    }
    facts.require("the counts are not negative", is_count(outer.n) && is_count(inner.n), inner.n)?;
    let (steps, around): (Vec<_>, Vec<_>) = inner.product.factors.iter().cloned().partition(|(factor, _)| changes(factor));
    let (mut steps, mut around) = (Product { factors: steps, ..Product::ONE }, Product { factors: around, ..Product::ONE });
    (around.numerator, around.denominator) =
        (outer.product.numerator * inner.product.numerator, outer.product.denominator * inner.product.denominator);
    for (k, (factor, power)) in outer.product.factors.iter().enumerate() {
        if k != at {
            steps.raise(factor, *power);
        }
    }
    if steps.factors.is_empty() {
        return None;
    }
    let parts = steps.factors.iter().map(|(factor, _)| factor).chain(outer.lets.iter().map(|(_, value)| *value));
    let leaves = parts.into_iter().all(|part| facts.level(part) < here && facts.is_total(part));
    let stays = around.factors.iter().any(|(factor, _)| facts.level(factor) == here);
    facts.require("b depends on the enclosing loop, and c and a can be hoisted out of it", leaves && stays, expr)?;
    // an empty outer sum evaluates no inner one
    let poles = Poles::of(outer.n, facts);
    let is_safe = around.factors.iter().all(|(factor, _)| facts.is_total(factor)) && !around.factors.iter().any(|factor| poles.has(factor));
    facts.require("b total and without a pole at n = 0, or 0 < n", is_safe || runs(outer.n, facts), expr)?;
    let sum = |acc: &Var, term: Expr| Expr::prim(Prim::Add, vec![Expr::var(acc), term]);
    let step = sum(outer.acc, steps.to_expr(facts));
    let step = needed_lets(&outer.lets, &step).into_iter().rev().fold(step, |step, (x, value)| Expr::let_(x.clone(), value.clone(), step));
    let column = Expr::fold_with(outer.n.clone(), outer.acc.clone(), outer.i.clone(), step, Expr::double(0.0));
    around.raise(&column, 1);
    let body = sum(inner.acc, around.to_expr(facts));
    Some(freshen(&Expr::fold_with(inner.n.clone(), inner.acc.clone(), inner.i.clone(), body, outer.init.clone())))
}

/// `ifold (fun s i -> s + product) init n`, behind lets.
struct Sum<'a> {
    lets: Vec<(&'a Var, &'a Expr)>,
    n: &'a Expr,
    acc: &'a Var,
    i: &'a Var,
    init: &'a Expr,
    product: Product,
}

impl<'a> Sum<'a> {
    fn of(expr: &'a Expr, facts: &Facts) -> Option<Sum<'a>> {
        let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
        let (mut lets, mut step) = (Vec::new(), body);
        while let Term::Let(x, value, inner) = step.term() {
            lets.push((x, value));
            step = inner;
        }
        let Term::Prim(Prim::Add, args) = step.term() else { return None };
        let [s, term] = args.as_slice() else { return None };
        let recurs = mentions(term, acc) || lets.iter().any(|(_, value)| mentions(value, acc));
        if !matches!(s.term(), Term::Var(var) if var == acc) || recurs || expr.ty() != &Type::Double {
            return None;
        }
        let product = Product::of(term, facts);
        (!product.is_large()).then_some(Sum { lets, n, acc, i, init, product })
    }
}
