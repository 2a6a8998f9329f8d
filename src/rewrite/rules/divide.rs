//! Factors that a value has wherever it is used, group `algebra`: they are multiplied in once. A division takes several times as
//! long as a product, so a repeated divisor is inverted once.
//!
//!     let r = 1 / z in a / z + b              →  let r = 1 / z in a * r + b
//!     let z = e in (a / z, b / z, c / z, …)   →  let z = e in let r = 1 / z in (a * r, b * r, c * r, …)
//!     build n (fun i -> v[i] / z)             →  let r = 1 / z in build n (fun i -> v[i] * r), also where z is a read with a name in the loop
//!     let x = e in (2 * (a * x), 2 * x)       →  let x = 2 * e in (a * x, x)

use crate::ir::free::{any_free_var, mentions};
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Expr, Prim, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::atoms::is_number;
use crate::rewrite::facts::Facts;

use super::motion::{parts, with_body};
use super::ring::binary;
use super::rules;

rules! {
    "div-known" Ring Algebra @ Product: "let r = 1 / z in f (x / z) -> let r = 1 / z in f (x * r)" => div_known;
    "reciprocal" Ring Algebra @ Let: "let z = e in f (x / z) -> let z = e in let r = 1 / z in f (x * r)" if ["f divides by z four times or more, or by z and 1 by z"] => reciprocal;
    "reciprocal-loop" Ring Algebra @ Loop: "build n (fun i -> f (x / z)) -> let r = 1 / z in build n (fun i -> f (x * r))"
        if ["i is not free in z", "z total", "n is no small literal", "z depends on the enclosing loop, if there is one"] => reciprocal_loop;
    "let-scale" Ring Algebra @ Let: "let x = e in f (2 * (a * x)) -> let x = 2 * e in f (a * x)"
        if ["x is not free in f, a", "f has it twice or more, or in a loop"] => let_scale;
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
    let uses = facts.uses.get(x);
    let is_rare = (uses.divisions as usize) < OFTEN && (uses.divisions < 2 || uses.reciprocals == 0);
    if is_rare && !facts.refusals.are_kept() {
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
    let counted = numbers.into_iter().map(|z| (Divisions::of(body, &z, x), z));
    let (divisions, z) =
        counted.max_by_key(|(divisions, _)| (divisions.others, divisions.of_one)).filter(|(divisions, _)| divisions.others > 0)?;
    let is_often = divisions.others >= OFTEN || divisions.of_one > 0;
    facts.require("f divides by z four times or more, or by z and 1 by z", is_often, expr)?;
    let r = Var::fresh("r", Type::Double);
    let inverted = Expr::let_(r.clone(), inverse(&z), multiplied(body, &z, &[], &r));
    Some(Expr::let_(x.clone(), value.clone(), inverted))
}

fn reciprocal_loop(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (n, _, body) = parts(expr)?;
    facts.require("n is no small literal", !matches!(n.term(), Term::Index(n) if *n < OFTEN as i64), n)?;
    let binders: Vec<Var> = expr.term().binders().cloned().collect();
    let mut search = Search { bound: binders, named: Vec::new(), facts };
    let z = search.divisor(body)?;
    facts.require("z total", facts.is_total(&z), &z)?;
    facts.require("z depends on the enclosing loop, if there is one", facts.level(&z) == facts.loops(), &z)?;
    let r = Var::fresh("r", Type::Double);
    let names: Vec<Var> = search.named.into_iter().filter(|(_, value)| same(value, &z)).map(|(name, _)| name).collect();
    let new = with_body(expr, multiplied(body, &z, &names, &r));
    // a name for z in the step keeps the element as well
    Some(Expr::let_(r, inverse(&freshen(&z)), new))
}

fn let_scale(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let uses = facts.uses.get(x);
    let is_repeated = facts.uses.knows(x) && uses.repeated;
    // the body is searched only where there is a candidate, or a refusal to record
    let is_candidate = uses.scaled >= uses.count && (uses.count > 1 || is_repeated);
    if x.ty() != &Type::Double || !is_candidate && !facts.refusals.are_kept() {
        return None;
    }
    let mut scaled = Scaled { x, by: None, count: 0, is_everywhere: true };
    let body = scaled.without_factor(body);
    let by = scaled.by?;
    facts.require("x is not free in f, a", scaled.is_everywhere, expr)?;
    facts.require("f has it twice or more, or in a loop", scaled.count > 1 || is_repeated, expr)?;
    let product = Expr::prim(Prim::Mul, vec![Expr::double(by), value.clone()]);
    Some(Expr::bind(x.name(), product, |scaled| substitute(&body, &[(x.clone(), scaled)])))
}

/// A variable in products with one literal.
struct Scaled<'x> {
    x: &'x Var,
    by: Option<f64>,
    count: usize,
    is_everywhere: bool,
}

impl Scaled<'_> {
    /// The term without the literal wherever that is a factor beside x.
    fn without_factor(&mut self, expr: &Expr) -> Expr {
        if !mentions(expr, self.x) {
            return expr.clone();
        }
        if let Some((literal, rest)) = self.factor(expr)
            && *self.by.get_or_insert(literal) == literal
        {
            self.count += 1;
            return rest;
        }
        self.is_everywhere &= !matches!(expr.term(), Term::Var(_));
        map_children(expr, &mut |child| self.without_factor(child))
    }

    /// The literal in a product that has x as a factor once, and the product without it.
    fn factor(&self, expr: &Expr) -> Option<(f64, Expr)> {
        (self.occurrences(expr) == 1).then(|| without_literal(expr))?
    }

    /// How often x is a factor; many times where it occurs elsewhere too.
    fn occurrences(&self, expr: &Expr) -> usize {
        match expr.term() {
            Term::Prim(Prim::Mul, args) => args.iter().map(|arg| self.occurrences(arg)).sum(),
            Term::Prim(Prim::Div, args) if !mentions(&args[1], self.x) => self.occurrences(&args[0]),
            Term::Var(var) => usize::from(var == self.x),
            _ if mentions(expr, self.x) => 2,
            _ => 0,
        }
    }
}

/// The first literal among the factors of a product, and what is left.
fn without_literal(product: &Expr) -> Option<(f64, Expr)> {
    if let Some((a, b)) = binary(product, Prim::Div) {
        let (literal, a) = without_literal(a)?;
        return Some((literal, Expr::prim(Prim::Div, vec![a, b.clone()]).at(product.span())));
    }
    let (a, b) = binary(product, Prim::Mul)?;
    let literal = |factor: &Expr| match factor.term() {
        Term::Double(value) if value.is_finite() && *value != 0.0 => Some(*value),
        _ => None,
    };
    let times = |a: Expr, b: Expr| Expr::prim(Prim::Mul, vec![a, b]).at(product.span());
    match (literal(a), literal(b)) {
        (Some(value), _) => Some((value, b.clone())),
        (None, Some(value)) => Some((value, a.clone())),
        (None, None) => match without_literal(a) {
            Some((value, a)) => Some((value, times(a, b.clone()))),
            None => without_literal(b).map(|(value, b)| (value, times(a.clone(), b))),
        },
    }
}

/// The search for a divisor that is the same in each step of a loop.
struct Search<'f> {
    bound: Vec<Var>,
    /// Names in the loop of elements that are the same in each step.
    named: Vec<(Var, Expr)>,
    facts: &'f Facts,
}

impl Search<'_> {
    /// The first free divisor of a term.
    fn divisor(&mut self, expr: &Expr) -> Option<Expr> {
        if let Some((x, z)) = binary(expr, Prim::Div)
            && expr.ty() == &Type::Double
            && !is_number(x, 1.0)
            && !matches!(z.term(), Term::Double(_))
        {
            let named = self.named.iter().find(|(name, _)| matches!(z.term(), Term::Var(var) if var == name));
            let z = named.map_or(z, |(_, value)| value);
            if self.facts.grants("i is not free in z", self.is_free(z)) {
                return Some(z.clone());
            }
        }
        if let Term::Let(name, value, body) = expr.term() {
            let found = self.divisor(value);
            if matches!(value.term(), Term::Get(..)) && value.ty() == &Type::Double && self.is_free(value) {
                self.named.push((name.clone(), value.clone()));
            }
            return found.or_else(|| self.inside(&[name], body));
        }
        let binders: Vec<&Var> = expr.term().binders().collect();
        expr.term().children().find_map(|child| self.inside(&binders, child))
    }

    fn inside(&mut self, binders: &[&Var], child: &Expr) -> Option<Expr> {
        let outside = self.bound.len();
        self.bound.extend(binders.iter().map(|var| (*var).clone()));
        let found = self.divisor(child);
        self.bound.truncate(outside);
        found
    }

    fn is_free(&self, z: &Expr) -> bool {
        !self.bound.iter().any(|var| mentions(z, var))
    }
}

/// The term with products by r for quotients by z, or by a name that z has in the term.
fn multiplied(expr: &Expr, z: &Expr, names: &[Var], r: &Var) -> Expr {
    if names.is_empty() && any_free_var(z, &mut |var| !mentions(expr, var)) {
        return expr.clone();
    }
    let is_z = |by: &Expr| same(by, z) || matches!(by.term(), Term::Var(var) if names.contains(var));
    match binary(expr, Prim::Div) {
        Some((x, by)) if is_z(by) && is_number(x, 1.0) => Expr::var(r),
        Some((x, by)) if is_z(by) => Expr::prim(Prim::Mul, vec![multiplied(x, z, names, r), Expr::var(r)]).at(expr.span()),
        _ => map_children(expr, &mut |child| multiplied(child, z, names, r)),
    }
}

/// A variable, or a component of one.
fn is_name(expr: &Expr) -> bool {
    match expr.term() {
        Term::Proj(tuple, _) => matches!(tuple.term(), Term::Var(_)),
        term => matches!(term, Term::Var(_)),
    }
}

/// How often a term divides by a number.
#[derive(Clone, Copy, Default)]
struct Divisions {
    of_one: usize,
    /// Where no variable is the reciprocal.
    others: usize,
}

impl Divisions {
    /// Those by z, which is x or a component of it.
    fn of(expr: &Expr, z: &Expr, x: &Var) -> Divisions {
        let mut found = Divisions::default();
        found.count(expr, z, x);
        found
    }

    fn count(&mut self, expr: &Expr, z: &Expr, x: &Var) {
        if !mentions(expr, x) {
            return;
        }
        match binary(expr, Prim::Div).filter(|(_, by)| same(by, z)) {
            Some((a, _)) if is_number(a, 1.0) => self.of_one += 1,
            Some(_) => self.others += 1,
            None => {}
        }
        match expr.term() {
            Term::Let(_, value, _) if binary(value, Prim::Div).is_some_and(|(a, by)| is_number(a, 1.0) && same(by, z)) => self.of_one += 1,
            term => term.each_child(&mut |child| self.count(child, z, x)),
        }
    }
}
