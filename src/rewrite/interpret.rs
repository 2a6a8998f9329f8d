//! Application of a strategy to a term.
//!
//! In: a [`Strategy`], a term, the facts of its place. Out: the new term, or `None` where it fails.
//!
//!     try s = s <+ id        topdown s = s <+ one (topdown s)        normalize s = repeat (topdown s)
//!
//! `innermost` over a choice of rules is the engine; over anything else it is the textbook definition,
//! `bottomup (try (s ; innermost s))`.

use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Term};

use super::derivation::Log;
use super::engine::{Budget, OutOfSteps, RuleSets, innermost};
use super::facts::Facts;
use super::rule::Rule;
use super::strategy::{Combinator, Strategy};

/// `Ok(None)` when the strategy fails.
type Outcome = Result<Option<Expr>, OutOfSteps>;

/// A strategy that takes more steps than this is stopped as endless.
const LOOKS: usize = 20_000_000;

/// Everything that applying a strategy needs.
pub struct Interpreter<'a> {
    pub facts: &'a mut Facts,
    pub budget: &'a mut Budget,
    pub log: &'a mut Log,
    pub rule_sets: &'a mut RuleSets,
    /// Whether `--disable` leaves the rule in.
    pub enabled: &'a dyn Fn(&Rule) -> bool,
}

impl Interpreter<'_> {
    pub fn apply(&mut self, strategy: &Strategy, expr: &Expr) -> Outcome {
        self.look()?;
        match strategy {
            Strategy::Id => Ok(Some(expr.clone())),
            Strategy::Fail => Ok(None),
            Strategy::Rule(rule) => self.rule(rule, expr),
            Strategy::Seq(a, b) => match self.apply(a, expr)? {
                Some(middle) => self.apply(b, &middle),
                None => Ok(None),
            },
            Strategy::Choice(a, b) => match self.apply(a, expr)? {
                Some(new) => Ok(Some(new)),
                None => self.apply(b, expr),
            },
            Strategy::Named(_, inner) => self.apply(inner, expr),
            Strategy::With(combinator, inner) => self.with(*combinator, inner, expr),
        }
    }

    fn rule(&mut self, rule: &'static Rule, expr: &Expr) -> Outcome {
        if !(self.enabled)(rule) || !rule.head.fits(expr) {
            return Ok(None);
        }
        let Some(after) = rule.apply(expr, self.facts) else { return Ok(None) };
        self.budget.step(rule, self.facts)?;
        self.log.step(rule.name, expr, || after.clone());
        Ok(Some(after))
    }

    /// Counts an application or a descent.
    fn look(&mut self) -> Result<(), OutOfSteps> {
        self.budget.visited += 1;
        if self.budget.visited > LOOKS { Err(OutOfSteps) } else { Ok(()) }
    }

    /// Counts a round of a strategy that repeats until it fails.
    fn again(&mut self) -> Result<(), OutOfSteps> {
        self.budget.steps += 1;
        if self.budget.steps > self.budget.step_limit { Err(OutOfSteps) } else { Ok(()) }
    }

    fn with(&mut self, combinator: Combinator, inner: &Strategy, expr: &Expr) -> Outcome {
        match combinator {
            Combinator::Try => Ok(Some(self.apply(inner, expr)?.unwrap_or_else(|| expr.clone()))),
            Combinator::Repeat => {
                let mut expr = expr.clone();
                while let Some(new) = self.apply(inner, &expr)? {
                    expr = new;
                    self.again()?;
                }
                Ok(Some(expr))
            }
            Combinator::One => self.children(expr, Wanted::One, &mut |this, child| this.apply(inner, child)),
            Combinator::Some => self.children(expr, Wanted::Some, &mut |this, child| this.apply(inner, child)),
            Combinator::All => self.children(expr, Wanted::All, &mut |this, child| this.apply(inner, child)),
            Combinator::Topdown => self.topdown(inner, expr),
            Combinator::Bottomup => self.bottomup(inner, expr),
            Combinator::Innermost => match inner.rule_set() {
                Some(rules) => {
                    let rules: Vec<_> = rules.into_iter().filter(|rule| (self.enabled)(rule)).collect();
                    innermost(self.rule_sets.of(&rules), expr, self.facts, self.budget, self.log).map(Some)
                }
                None => self.innermost(inner, expr),
            },
            Combinator::Normalize => {
                let mut expr = expr.clone();
                while let Some(new) = self.topdown(inner, &expr)? {
                    expr = new;
                    self.again()?;
                }
                Ok(Some(expr))
            }
        }
    }

    fn topdown(&mut self, inner: &Strategy, expr: &Expr) -> Outcome {
        match self.apply(inner, expr)? {
            Some(new) => Ok(Some(new)),
            None => self.children(expr, Wanted::One, &mut |this, child| this.topdown(inner, child)),
        }
    }

    fn bottomup(&mut self, inner: &Strategy, expr: &Expr) -> Outcome {
        match self.children(expr, Wanted::All, &mut |this, child| this.bottomup(inner, child))? {
            Some(new) => self.apply(inner, &new),
            None => Ok(None),
        }
    }

    fn innermost(&mut self, inner: &Strategy, expr: &Expr) -> Outcome {
        let Some(new) = self.children(expr, Wanted::All, &mut |this, child| this.innermost(inner, child))? else { return Ok(None) };
        match self.apply(inner, &new)? {
            Some(after) => {
                self.again()?;
                self.innermost(inner, &after)
            }
            None => Ok(Some(new)),
        }
    }

    /// Applies `f` to the direct subterms, each in its scope.
    fn children(&mut self, expr: &Expr, wanted: Wanted, f: &mut dyn FnMut(&mut Self, &Expr) -> Outcome) -> Outcome {
        self.look()?;
        let (mut at, mut succeeded, mut failed, mut stopped) = (0, 0, 0, None);
        let new = map_children(expr, &mut |child| {
            at += 1;
            if stopped.is_some() || wanted == Wanted::One && succeeded > 0 || wanted == Wanted::All && failed > 0 {
                return child.clone();
            }
            let mark = self.facts.mark();
            enter(self.facts, expr, at - 1);
            let outcome = f(self, child);
            self.facts.back_to(mark);
            match outcome {
                Ok(Some(new)) => {
                    succeeded += 1;
                    new
                }
                Ok(None) => {
                    failed += 1;
                    child.clone()
                }
                Err(out) => {
                    stopped = Some(out);
                    child.clone()
                }
            }
        });
        if let Some(out) = stopped {
            return Err(out);
        }
        Ok(match wanted {
            Wanted::One | Wanted::Some => (succeeded > 0).then_some(new),
            Wanted::All => (failed == 0).then_some(new),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    One,
    Some,
    All,
}

/// Enters the scope of a subterm, counted in evaluation order.
fn enter(facts: &mut Facts, expr: &Expr, at: usize) {
    match (expr.term(), at) {
        (Term::Let(x, value, _), 1) => facts.enter_let(x, value),
        (Term::If(c, ..), 1) => facts.assume(c, true),
        (Term::If(c, ..), 2) => facts.assume(c, false),
        (Term::Check { cond, .. }, 1) => facts.assume(cond, true),
        (Term::Prim(prim @ (Prim::And | Prim::Or), args), 1) => {
            if let Some(first) = args.first() {
                facts.assume(first, *prim == Prim::And);
            }
        }
        (Term::Build { n, i, .. }, 1) => facts.enter_loop(i, n),
        (Term::Fold { n, acc, i, .. }, 2) => {
            facts.enter_accumulator(acc);
            facts.enter_loop(i, n);
        }
        (Term::Dual { x, .. }, 2) => facts.enter(x),
        _ => {}
    }
}
