//! Products as lists of factors: cancellation, common factors, and the order in which a product is cheapest.
//!
//! In: a term of `*`, `/` and `-`. Out: a [`Product`], a literal quotient times powers of other terms; and back again,
//! with the factors that depend on fewer loops first, so that code motion finds them side by side.
//!
//!     u / (u * v)            →  v to the power -1         →  1 / v
//!     x[i] * a / (2 * b)     →  1/2, a, b to -1, x[i]     →  a / (2 * b) * x[i]
//!
//! A let of a product is inlined where one of its factors then cancels and the rest is free to copy. Limits: real-number
//! laws, so only for rules of group `algebra`.

use crate::ir::{Expr, Prim, Term};

use super::alike::same;
use super::atoms::{copy, is_free};
use super::facts::Facts;

/// `numerator / denominator * f1 ** p1 * f2 ** p2 …`, no power zero, no two factors the same.
#[derive(Clone, Debug)]
pub struct Product {
    pub numerator: f64,
    pub denominator: f64,
    pub factors: Vec<(Expr, i32)>,
}

/// Products with more factors than this are left alone.
const FACTORS: usize = 24;

impl Product {
    pub const ONE: Product = Product { numerator: 1.0, denominator: 1.0, factors: Vec::new() };

    /// What is left out of a product that [is large](Product::is_large) does not matter.
    pub fn of(expr: &Expr, facts: &Facts) -> Product {
        let mut product = Product::ONE;
        product.multiply(expr, 1, facts);
        product.open(facts);
        product
    }

    /// Whether it has too many factors to be considered.
    pub fn is_large(&self) -> bool {
        self.factors.len() > FACTORS
    }

    /// Times the power of a term, unless the product is too large already.
    pub fn multiply(&mut self, expr: &Expr, power: i32, facts: &Facts) {
        if self.is_large() {
            return;
        }
        match expr.term() {
            Term::Double(value) if value.is_finite() && (*value != 0.0 || power > 0) && power.abs() == 1 => {
                if power > 0 {
                    self.numerator *= value;
                } else {
                    self.denominator *= value;
                }
            }
            Term::Prim(prim, args) => match (prim, args.as_slice()) {
                (Prim::Mul, [a, b]) => {
                    self.multiply(a, power, facts);
                    self.multiply(b, power, facts);
                }
                (Prim::Div, [a, b]) => {
                    self.multiply(a, power, facts);
                    self.multiply(b, -power, facts);
                }
                (Prim::Neg, [a]) => {
                    self.numerator *= if power % 2 == 0 { 1.0 } else { -1.0 };
                    self.multiply(a, power, facts);
                }
                _ => self.raise(expr, power),
            },
            Term::Var(var) => match facts.value(var).map(Expr::term) {
                Some(Term::Prim(Prim::Neg, args)) if args.first().is_some_and(is_cheap) => {
                    args.iter().for_each(|arg| self.multiply(arg, power, facts));
                    self.numerator *= if power % 2 == 0 { 1.0 } else { -1.0 };
                }
                Some(Term::Prim(Prim::Mul, args)) if matches!(args[0].term(), Term::Double(_)) && is_cheap(&args[1]) => {
                    args.iter().for_each(|arg| self.multiply(arg, power, facts));
                }
                Some(_) | None => self.raise(expr, power),
            },
            _ => self.raise(expr, power),
        }
    }

    /// Times the power of a factor.
    pub fn raise(&mut self, factor: &Expr, power: i32) {
        if self.is_large() {
            return self.factors.push((factor.clone(), power));
        }
        match self.factors.iter().position(|(other, _)| same(other, factor)) {
            Some(at) => {
                self.factors[at].1 += power;
                if self.factors[at].1 == 0 {
                    self.factors.remove(at);
                }
            }
            None => self.factors.push((factor.clone(), power)),
        }
    }

    /// The power of a factor, 0 for one that it does not have.
    pub fn power(&self, factor: &Expr) -> i32 {
        self.factors.iter().find(|(other, _)| same(other, factor)).map_or(0, |(_, power)| *power)
    }

    pub fn same_factors(&self, other: &Product) -> bool {
        self.factors.len() == other.factors.len() && self.factors.iter().all(|(factor, power)| other.power(factor) == *power)
    }

    /// Divided by other factors; the literals stay. The rest of a power is a copy, since both occur side by side.
    pub fn without(&self, others: &[(Expr, i32)]) -> Product {
        let mut rest = self.clone();
        for (factor, power) in others {
            rest.raise(factor, -power);
            if let Some((left, _)) = rest.factors.iter_mut().find(|(left, _)| same(left, factor)) {
                *left = copy(left);
            }
        }
        rest
    }

    /// A copy with fresh binders.
    pub fn copied(&self) -> Product {
        Product { factors: self.factors.iter().map(|(factor, power)| (copy(factor), *power)).collect(), ..*self }
    }

    /// Inlines lets of products where a factor then cancels.
    fn open(&mut self, facts: &Facts) {
        if self.is_large() {
            return;
        }
        for _ in 0..FACTORS {
            let opened = self.factors.iter().enumerate().find_map(|(at, (factor, power))| {
                let Term::Var(var) = factor.term() else { return None };
                let value = facts.value(var)?;
                if !matches!(value.term(), Term::Prim(Prim::Mul | Prim::Div, _)) {
                    return None;
                }
                let mut inner = Product::ONE;
                inner.multiply(value, power.signum(), facts);
                let cancels = inner.factors.iter().any(|(part, p)| {
                    self.factors.iter().enumerate().any(|(k, (other, q))| k != at && p.signum() != q.signum() && same(part, other))
                });
                let cheap = inner.factors.iter().all(|(part, p)| is_cheap(part) || p + self.power(part) == 0);
                (cancels && cheap && !inner.is_large()).then_some((factor.clone(), power.signum(), inner))
            });
            let Some((factor, sign, inner)) = opened else { return };
            self.raise(&factor, -sign);
            self.numerator *= inner.numerator;
            self.denominator *= inner.denominator;
            inner.factors.iter().for_each(|(part, power)| self.raise(part, *power));
        }
    }

    /// The literal quotient in lowest terms where it is a whole one.
    fn literals(&self) -> (f64, f64) {
        let (n, d) = (self.numerator, self.denominator);
        let (n, d) = if d < 0.0 { (-n, -d) } else { (n, d) };
        if d != 1.0 && n % d == 0.0 {
            (n / d, 1.0)
        } else if n != 0.0 && n.abs() != 1.0 && d % n == 0.0 {
            (n.signum(), d / n.abs())
        } else {
            (n, d)
        }
    }

    /// Whether its literal is below zero.
    pub fn is_negative(&self) -> bool {
        self.numerator * self.denominator.signum() < 0.0
    }

    /// The term without its sign, and whether it has one: outer factors first, each level's quotient by itself.
    pub fn to_signed(&self, facts: &Facts) -> (Expr, bool) {
        let (n, d) = self.literals();
        if n == 0.0 {
            return (Expr::double(0.0), false);
        }
        let mut factors: Vec<(usize, &Expr, i32)> =
            self.factors.iter().map(|(factor, power)| (facts.level(factor), factor, *power)).collect();
        factors.sort_by_key(|(level, ..)| *level);
        let (mut above, mut below): (Option<Expr>, Option<Expr>) = (None, None);
        let times = |whole: &mut Option<Expr>, factor: Expr| {
            *whole = Some(match whole.take() {
                Some(before) => Expr::prim(Prim::Mul, vec![before, factor]),
                None => factor,
            });
        };
        if n.abs() != 1.0 {
            times(&mut above, Expr::double(n.abs()));
        }
        if d != 1.0 {
            times(&mut below, Expr::double(d));
        }
        let mut last = 0;
        let mut negative = n < 0.0;
        for (level, factor, power) in factors {
            let turned = if negative && power % 2 != 0 { turned(factor) } else { None };
            negative &= turned.is_none();
            let factor = turned.as_ref().unwrap_or(factor);
            if level != last
                && let (Some(a), Some(b)) = (&above, &below)
            {
                above = Some(Expr::prim(Prim::Div, vec![a.clone(), b.clone()]));
                below = None;
            }
            last = level;
            for again in 0..power.unsigned_abs() {
                let factor = if again == 0 { factor.clone() } else { copy(factor) };
                times(if power > 0 { &mut above } else { &mut below }, factor);
            }
        }
        let above = above.unwrap_or_else(|| Expr::double(1.0));
        let whole = match below {
            Some(below) => Expr::prim(Prim::Div, vec![above, below]),
            None => above,
        };
        (whole, negative)
    }

    pub fn to_expr(&self, facts: &Facts) -> Expr {
        let (whole, negative) = self.to_signed(facts);
        if !negative {
            whole
        } else if let Term::Double(value) = whole.term() {
            Expr::double(-value)
        } else {
            with_negative_literal(&whole).unwrap_or_else(|| Expr::prim(Prim::Neg, vec![whole]))
        }
    }
}

/// `a - b` to `b - a`.
fn turned(expr: &Expr) -> Option<Expr> {
    let Term::Prim(Prim::Sub, args) = expr.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    Some(Expr::prim(Prim::Sub, vec![b.clone(), a.clone()]))
}

/// `2 * a` to `-2 * a`: the sign goes into the literal that a product begins with.
fn with_negative_literal(expr: &Expr) -> Option<Expr> {
    let Term::Prim(prim @ (Prim::Mul | Prim::Div), args) = expr.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    let a = if let Term::Double(value) = a.term() { Expr::double(-value) } else { with_negative_literal(a)? };
    Some(Expr::prim(*prim, vec![a, b.clone()]))
}

/// Free, or an element of a variable at free indices.
pub fn is_cheap(expr: &Expr) -> bool {
    match expr.term() {
        Term::Get(array, index) => is_cheap(array) && is_free(index),
        Term::Proj(tuple, _) => is_cheap(tuple),
        _ => expr.is_atom(),
    }
}
