//! Application of a strategy to a term.
//!
//! In: a [`Strategy`], a term, the facts of its place. Out: the new term, or `None` where it fails.
//!
//!     try s = s <+ id        topdown s = s <+ one (topdown s)        normalize s = repeat (topdown s)
//!
//! A definition of `let rec` is called: its arguments are strategies together with the call that they were written in.
//! `innermost` over a choice of rules is the engine; over anything else it is the textbook definition,
//! `bottomup (try (s ; innermost s))`.

use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Term};

use std::rc::Rc;

use super::derivation::Log;
use super::engine::{Budget, OutOfSteps, RuleSets, innermost};
use super::facts::Facts;
use super::rule::Rule;
use super::strategy::{Combinator, Recursive, Strategy};

/// `Ok(None)` when the strategy fails.
type Outcome = Result<Option<Expr>, OutOfSteps>;

/// A strategy that takes more steps than this is stopped as endless.
const LOOKS: usize = 20_000_000;

/// So many strategies one inside the other only a recursion without end carries out.
const DEPTH: usize = 60_000;

/// The call of a recursive definition that is carried out.
#[derive(Clone, Default)]
struct Scope(Option<Rc<Call>>);

struct Call {
    recursive: Rc<Recursive>,
    /// The strategies that the parameters stand for, each in the scope that it was written in.
    arguments: Vec<(Strategy, Scope)>,
}

impl Scope {
    /// A strategy and its scope, where that is a parameter what it stands for.
    fn looked_up(&self, strategy: &Strategy) -> (Strategy, Scope) {
        match (strategy, &self.0) {
            (Strategy::Parameter(k), Some(call)) => call.arguments.get(*k).cloned().unwrap_or((Strategy::Fail, Scope(None))),
            (other, _) => (other.clone(), self.clone()),
        }
    }

    /// The scope of a call's body.
    fn call(&self, recursive: &Rc<Recursive>, arguments: &[Strategy]) -> Scope {
        let arguments = arguments.iter().map(|argument| self.looked_up(argument)).collect();
        Scope(Some(Rc::new(Call { recursive: recursive.clone(), arguments })))
    }

    /// The rules of a choice between rules; `None` for any other strategy.
    fn rule_set(&self, strategy: &Strategy) -> Option<Vec<&'static Rule>> {
        match strategy {
            Strategy::Fail => Some(Vec::new()),
            Strategy::Rule(rule) => Some(vec![*rule]),
            Strategy::Choice(a, b) => {
                let mut rules = self.rule_set(a)?;
                rules.extend(self.rule_set(b)?);
                Some(rules)
            }
            Strategy::Named(_, inner) => self.rule_set(inner),
            Strategy::Parameter(_) => {
                let (strategy, scope) = self.looked_up(strategy);
                scope.rule_set(&strategy)
            }
            Strategy::Id | Strategy::Seq(..) | Strategy::With(..) | Strategy::In(..) | Strategy::Call(..) | Strategy::Again(_) => None,
        }
    }
}

/// The argument of a combinator, and its scope.
type Scoped<'s> = (&'s Strategy, &'s Scope);

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
    /// Applies the strategy of a schedule.
    pub fn apply(&mut self, strategy: &Strategy, expr: &Expr) -> Outcome {
        self.scoped(strategy, &Scope::default(), expr)
    }

    fn scoped(&mut self, strategy: &Strategy, scope: &Scope, expr: &Expr) -> Outcome {
        self.look()?;
        self.budget.depth += 1;
        if self.budget.depth > DEPTH {
            return Err(OutOfSteps);
        }
        let outcome = match strategy {
            Strategy::Id => Ok(Some(expr.clone())),
            Strategy::Fail => Ok(None),
            Strategy::Rule(rule) => self.rule(rule, expr),
            Strategy::Seq(a, b) => match self.scoped(a, scope, expr) {
                Ok(Some(middle)) => self.scoped(b, scope, &middle),
                failed => failed,
            },
            Strategy::Choice(a, b) => match self.scoped(a, scope, expr) {
                Ok(None) => self.scoped(b, scope, expr),
                done => done,
            },
            Strategy::Named(_, inner) => self.scoped(inner, scope, expr),
            Strategy::With(combinator, inner) => self.with(*combinator, (inner, scope), expr),
            Strategy::In(child, inner) => {
                let places = child.places(expr);
                self.children(expr, Wanted::One, &mut |this, at, child| {
                    if places.contains(&at) { this.scoped(inner, scope, child) } else { Ok(None) }
                })
            }
            Strategy::Call(recursive, arguments) => self.scoped(&recursive.body, &scope.call(recursive, arguments), expr),
            Strategy::Again(arguments) => match &scope.0 {
                Some(call) => self.scoped(&call.recursive.body, &scope.call(&call.recursive, arguments), expr),
                None => Ok(None),
            },
            Strategy::Parameter(_) => {
                let (strategy, scope) = scope.looked_up(strategy);
                self.scoped(&strategy, &scope, expr)
            }
        };
        self.budget.depth -= 1;
        outcome
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

    fn with(&mut self, combinator: Combinator, inner: Scoped, expr: &Expr) -> Outcome {
        match combinator {
            Combinator::Try => Ok(Some(self.inner(inner, expr)?.unwrap_or_else(|| expr.clone()))),
            Combinator::Repeat => {
                let mut expr = expr.clone();
                while let Some(new) = self.inner(inner, &expr)? {
                    expr = new;
                    self.again()?;
                }
                Ok(Some(expr))
            }
            Combinator::One => self.children(expr, Wanted::One, &mut |this, _, child| this.inner(inner, child)),
            Combinator::Some => self.children(expr, Wanted::Some, &mut |this, _, child| this.inner(inner, child)),
            Combinator::All => self.children(expr, Wanted::All, &mut |this, _, child| this.inner(inner, child)),
            Combinator::Topdown => self.topdown(inner, expr),
            Combinator::Bottomup => self.bottomup(inner, expr),
            Combinator::Innermost => match inner.1.rule_set(inner.0) {
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
            Combinator::Differentiated => self.differentiated(inner, expr),
        }
    }

    /// A combinator's argument.
    fn inner(&mut self, (strategy, scope): Scoped, expr: &Expr) -> Outcome {
        self.scoped(strategy, scope, expr)
    }

    fn topdown(&mut self, inner: Scoped, expr: &Expr) -> Outcome {
        match self.inner(inner, expr)? {
            Some(new) => Ok(Some(new)),
            None => self.children(expr, Wanted::One, &mut |this, _, child| this.topdown(inner, child)),
        }
    }

    fn bottomup(&mut self, inner: Scoped, expr: &Expr) -> Outcome {
        match self.children(expr, Wanted::All, &mut |this, _, child| this.bottomup(inner, child))? {
            Some(new) => self.inner(inner, &new),
            None => Ok(None),
        }
    }

    fn innermost(&mut self, inner: Scoped, expr: &Expr) -> Outcome {
        let Some(new) = self.children(expr, Wanted::All, &mut |this, _, child| this.innermost(inner, child))? else { return Ok(None) };
        match self.inner(inner, &new)? {
            Some(after) => {
                self.again()?;
                self.innermost(inner, &after)
            }
            None => Ok(Some(new)),
        }
    }

    /// On each of the outermost parts that came from a derivative form, which stay such parts.
    fn differentiated(&mut self, inner: Scoped, expr: &Expr) -> Outcome {
        if expr.span().is_derivative {
            return Ok(self.inner(inner, expr)?.map(|new| new.at(expr.span())));
        }
        self.children(expr, Wanted::Some, &mut |this, _, child| this.differentiated(inner, child))
    }

    /// Applies `f` to the direct subterms, each in its scope.
    fn children(&mut self, expr: &Expr, wanted: Wanted, f: &mut dyn FnMut(&mut Self, usize, &Expr) -> Outcome) -> Outcome {
        self.look()?;
        let (mut at, mut succeeded, mut failed, mut stopped) = (0, 0, 0, None);
        let new = map_children(expr, &mut |child| {
            at += 1;
            if stopped.is_some() || wanted == Wanted::One && succeeded > 0 || wanted == Wanted::All && failed > 0 {
                return child.clone();
            }
            let mark = self.facts.mark();
            enter(self.facts, expr, at - 1);
            let outcome = f(self, at - 1, child);
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
