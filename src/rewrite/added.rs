//! What a step of a sum adds to its accumulator.
//!
//! In: the body of a fold over a Double. Out: the terms that it adds, behind the lets and checks that they need.
//!
//!     if i = 0 then s else s + v[i]                                    if i = 0 then 0 else v[i]
//!     let t = s + v[i] in if i = k then t - w else t                   v[i], and if i = k then -w else 0
//!     s + (if i = k then v[i] - w else v[i])                           v[i], and if i = k then -w else 0
//!     ifold (fun t j -> t + m[i][j]) (s + v[i]) n                      v[i], and ifold (fun t j -> t + m[i][j]) 0 n
//!
//! Limits: real-number laws, so only for rules of group `algebra`.

use crate::ir::free::mentions;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Prim, Status, Term, Type, Var};

use super::alike::same;
use super::atoms::is_number;
use super::sum;

/// The terms of a step, each with its sign, in their order.
pub struct Added {
    /// The enclosing lets and checks, the outermost first.
    pub around: Vec<Around>,
    pub terms: Vec<(Expr, bool)>,
}

/// A let or check around the terms.
pub enum Around {
    Let(Var, Expr),
    Check(Expr, Status),
}

impl Added {
    /// `None` where the step is no sum of the accumulator and terms. The terms may mention it all the same.
    pub fn of(step: &Expr, acc: &Var) -> Option<Added> {
        let mut added = Added { around: Vec::new(), terms: Vec::new() };
        added.take(step, acc)?;
        Some(added)
    }

    fn take(&mut self, step: &Expr, acc: &Var) -> Option<()> {
        match step.term() {
            Term::Let(x, value, body) if mentions(value, acc) && !mentions(body, acc) && value.ty() == &Type::Double => {
                self.take(value, acc)?;
                let added = Added::of(body, x)?;
                if added.mentions(x) {
                    return None;
                }
                self.around.extend(added.around);
                self.terms.extend(added.terms);
                Some(())
            }
            Term::Let(x, value, body) => {
                self.around.push(Around::Let(x.clone(), value.clone()));
                self.take(body, acc)
            }
            Term::Check { cond, status, body } => {
                self.around.push(Around::Check(cond.clone(), *status));
                self.take(body, acc)
            }
            Term::If(c, a, b) => {
                let choice = Expr::if_(c.clone(), Added::of(a, acc)?.whole(), Added::of(b, acc)?.whole());
                self.terms.push((choice, true));
                Some(())
            }
            Term::Fold { n, acc: t, i, body, init } if step.ty() == &Type::Double => {
                self.take(init, acc)?;
                let inner = Added::of(body, t)?;
                if inner.mentions(t) {
                    return None;
                }
                self.terms.push((Expr::fold_with(n.clone(), t.clone(), i.clone(), body.clone(), Expr::double(0.0)), true));
                Some(())
            }
            _ => {
                let mut terms = Vec::new();
                sum::terms(step, true, &mut terms);
                let is_acc = |term: &Expr| matches!(term.term(), Term::Var(var) if var == acc);
                let at = terms.iter().position(|(term, positive)| *positive && is_acc(term));
                let at = at.or_else(|| terms.iter().position(|(term, positive)| *positive && mentions(term, acc)))?;
                let (first, _) = terms.remove(at);
                match first.term() {
                    Term::Let(..) | Term::If(..) | Term::Fold { .. } => self.take(&first, acc)?,
                    _ if is_acc(&first) => {}
                    _ => return None,
                }
                terms.iter().for_each(|(term, positive)| self.push(term, *positive));
                Some(())
            }
        }
    }

    /// A term, without the part that all its branches add.
    fn push(&mut self, term: &Expr, positive: bool) {
        if let Term::Let(x, value, body) = term.term() {
            self.around.push(Around::Let(x.clone(), value.clone()));
            let mut terms = Vec::new();
            sum::terms(body, positive, &mut terms);
            terms.iter().for_each(|(term, positive)| self.push(term, *positive));
        } else if let Some((common, choice)) = without_common(term) {
            self.terms.extend(common.into_iter().map(|(term, sign)| (term, sign == positive)));
            self.terms.push((choice, positive));
        } else {
            self.terms.push((term.clone(), positive));
        }
    }

    /// Whether a variable is free in a term, or in a let that terms use.
    pub fn mentions(&self, x: &Var) -> bool {
        self.terms.iter().any(|(term, _)| mentions(term, x))
            || self.around.iter().any(|around| match around {
                Around::Let(_, value) => mentions(value, x),
                Around::Check(cond, _) => mentions(cond, x),
            })
    }

    /// Whether a term needs one of the lets.
    pub fn has_let_in(&self, term: &Expr) -> bool {
        self.around.iter().any(|around| matches!(around, Around::Let(x, _) if mentions(term, x)))
    }

    /// A term inside the enclosing lets and checks.
    pub fn behind(&self, body: Expr) -> Expr {
        self.around.iter().rev().fold(body, |body, around| match around {
            Around::Let(x, value) => Expr::let_(x.clone(), value.clone(), body),
            Around::Check(cond, status) => Expr::check(cond.clone(), *status, body),
        })
    }

    /// The sum of all terms.
    pub fn whole(self) -> Expr {
        let sum = total(self.terms.clone());
        self.behind(sum)
    }
}

/// The terms that both branches of a choice have, each with its sign, and the choice without them.
pub fn without_common(expr: &Expr) -> Option<(Vec<(Expr, bool)>, Expr)> {
    let Term::If(c, a, b) = expr.term() else { return None };
    let (mut then, mut otherwise) = (from_zero(a), from_zero(b));
    let equal = equalities(c);
    let mut common = Vec::new();
    then.retain(|term| take(term, &mut otherwise, &equal).map(|term| common.push(term)).is_none());
    (!common.is_empty()).then(|| (common, Expr::if_(c.clone(), total(then), total(otherwise))))
}

/// The terms of a sum; each loop starts at 0, and its former initial value is a term.
fn from_zero(sum: &Expr) -> Vec<(Expr, bool)> {
    let mut terms = Vec::new();
    sum::terms(sum, true, &mut terms);
    let begin = |(term, positive): (Expr, bool)| {
        if let Term::Fold { n, acc, i, body, init } = term.term()
            && !is_number(init, 0.0)
            && Added::of(body, acc).is_some_and(|added| !added.mentions(acc))
        {
            let sum = Expr::fold_with(n.clone(), acc.clone(), i.clone(), body.clone(), Expr::double(0.0));
            vec![(init.clone(), positive), (sum, positive)]
        } else {
            vec![(term, positive)]
        }
    };
    terms.into_iter().flat_map(begin).collect()
}

/// The term that equals a variable where a condition holds.
fn equalities(cond: &Expr) -> Vec<(Var, Expr)> {
    let Term::Prim(Prim::Eq, args) = cond.term() else { return Vec::new() };
    let [a, b] = args.as_slice() else { return Vec::new() };
    let named = |x: &Expr, value: &Expr| {
        let Term::Var(x) = x.term() else { return None };
        matches!(x.ty(), Type::Index(_)).then(|| (x.clone(), value.clone()))
    };
    named(a, b).into_iter().chain(named(b, a)).collect()
}

/// Subtracts a term from others that equal it under the given equalities. A 0 remains.
fn take(term: &(Expr, bool), others: &mut Vec<(Expr, bool)>, equal: &[(Var, Expr)]) -> Option<(Expr, bool)> {
    let is_it = |other: &Expr| {
        let there = |(x, value): &(Var, Expr)| mentions(other, x) && same(&substitute(other, &[(x.clone(), value.clone())]), &term.0);
        same(other, &term.0) || equal.iter().any(there)
    };
    let is_equal = |(other, positive): &(Expr, bool)| {
        if *positive == term.1 { is_it(other) } else { negated(other).is_some_and(|other| is_it(&other)) }
    };
    let at = others.iter().position(|other| !is_number(&other.0, 0.0) && is_equal(other))?;
    Some(others.remove(at))
}

/// A negated difference, or a product with one.
fn negated(expr: &Expr) -> Option<Expr> {
    let Term::Prim(prim, args) = expr.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    Some(match prim {
        Prim::Sub => Expr::prim(Prim::Sub, vec![b.clone(), a.clone()]),
        Prim::Mul | Prim::Div => match negated(a) {
            Some(a) => Expr::prim(*prim, vec![a, b.clone()]),
            None => Expr::prim(*prim, vec![a.clone(), negated(b)?]),
        },
        _ => return None,
    })
}

/// The sum of terms.
pub fn total(terms: Vec<(Expr, bool)>) -> Expr {
    match sum::sum_of(terms) {
        None => Expr::double(0.0),
        Some((sum, true)) => sum,
        Some((sum, false)) => Expr::prim(Prim::Neg, vec![sum]),
    }
}

/// The accumulator and the sum of terms, separately, so that the accumulator is not moved into a term's condition.
pub fn accumulated(acc: &Var, terms: Vec<(Expr, bool)>) -> Option<Expr> {
    let (sum, is_positive) = sum::sum_of(terms)?;
    Some(Expr::prim(if is_positive { Prim::Add } else { Prim::Sub }, vec![Expr::var(acc), sum]))
}
