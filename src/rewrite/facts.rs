//! The context of a term: the loops, lets and conditions around it, and the facts that follow.
//!
//! In: the scopes that the engine enters. Out: answers to `0 <= i < n?`, `n > 0?`, `are these sizes equal?`,
//! `is this condition known?`, `can this fail?`, and the [`Uses`] of let-bound variables.
//!
//!     build(n, i. … v[i] …)     i < n is known inside; so is n > 0
//!
//! Questions about sizes go to `ir::prove`. Limits: what is not proved is answered "no".

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::ir::free::{any_free_var, each_free_var, mentions};
use crate::ir::{Expr, Function, Prim, Program, Term, Type, Var, prove};

use super::alike::same;
use super::refusals::Refusals;
use super::uses::Uses;
use sizes::{Asked, Known, Lesson};

mod conditions;
mod failures;
mod loops;
mod sizes;
mod total;

pub use failures::Failures;

/// A fact of the current scope.
#[derive(Clone, Debug)]
enum Fact {
    /// The condition has this value.
    Is(Expr, bool),
    /// The variable is bound to this value, whose hash is kept.
    Let(Var, Expr, u64),
    /// A loop variable.
    Loop(Var),
    /// A parameter, a size, or what a `dual` binds.
    Bound(Var),
    /// The accumulator of a fold.
    Accumulator(Var),
}

/// Where a variable is bound.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    /// Inside how many loops it is bound.
    loops: usize,
    /// The depth to which its value could be hoisted.
    needs: usize,
}

/// Terms by their fingerprints and those of their surroundings.
pub type Settled = FxHashMap<(u64, u64), Expr>;

/// A place in a scope stack, to go back to.
#[derive(Clone, Copy)]
pub struct Mark {
    facts: usize,
    sizes: usize,
}

/// The context of a term.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    facts: Vec<Fact>,
    /// Where each variable is bound among the facts, and inside how many loops.
    bound: FxHashMap<Var, Place>,
    /// Let-bound variables by the hash of their values.
    values: FxHashMap<u64, Vec<Var>>,
    /// The places of loop variables, of conditions by their fingerprints, and of disjunctions among the facts.
    loops: Vec<usize>,
    conditions: FxHashMap<u64, Vec<usize>>,
    disjunctions: Vec<usize>,
    /// What is known of sizes, from the outermost scope to this one; one entry for each scope that adds to it.
    sizes: Vec<Known>,
    /// For each variable, a fingerprint of each lesson that mentions it and of those before that do.
    lessons: FxHashMap<Var, Vec<u64>>,
    /// Questions without a proof, with what was known of their variables: they are not asked again in other scopes.
    refuted: RefCell<FxHashSet<(Asked, u64)>>,
    /// What is known of let-bound variables' occurrences.
    pub uses: Uses,
    /// The address of the current conditional, if its branches were already simplified under its condition.
    pub decided: Option<usize>,
    /// All functions, for calls.
    pub program: Program,
    /// How often the functions that one entry reaches call each function, before anything is inlined: the most of all entries.
    calls: FxHashMap<Rc<str>, usize>,
    /// The nodes of the function that is being rewritten, for the size budget.
    pub nodes: usize,
    /// Whether that function updates arrays.
    pub has_updates: bool,
    /// Leave everything that may change rounding or the sign of a zero.
    pub strict_fp: bool,
    /// Which rules almost fired.
    pub refusals: Refusals,
    /// Arithmetic terms that no rearrangement makes cheaper, each with a fingerprint of where it stood; kept from one phase
    /// to the next.
    pub settled: RefCell<Settled>,
    /// The nodes that laws have made.
    grown: Cell<usize>,
    /// The side condition that a test leaves out.
    #[cfg(test)]
    pub mutation: super::mutation::Mutation,
}

impl Facts {
    pub fn new(program: Program, strict_fp: bool) -> Facts {
        let calls = most_calls(&program);
        Facts { program, calls, strict_fp, ..Facts::default() }
    }

    /// How often an entry and what it calls name a function, the most of all entries: what is inlined into one entry does not
    /// depend on which others stand beside it.
    pub fn calls(&self, name: &str) -> usize {
        self.calls.get(name).copied().unwrap_or(0)
    }

    /// Notes that a law made so many nodes.
    pub fn grow(&self, nodes: usize) {
        self.grown.set(self.grown.get().saturating_add(nodes));
    }

    /// The nodes that laws made since the last call.
    pub fn take_grown(&self) -> usize {
        self.grown.take()
    }

    pub fn mark(&self) -> Mark {
        Mark { facts: self.facts.len(), sizes: self.sizes.len() }
    }

    pub fn back_to(&mut self, mark: Mark) {
        while self.facts.len() > mark.facts {
            let Some(fact) = self.facts.pop() else { break };
            match &fact {
                Fact::Let(x, _, hash) => {
                    if let Some(alike) = self.values.get_mut(hash) {
                        alike.pop();
                    }
                    self.bound.remove(x);
                }
                Fact::Loop(x) => {
                    self.loops.pop();
                    self.bound.remove(x);
                }
                Fact::Bound(x) | Fact::Accumulator(x) => {
                    self.bound.remove(x);
                }
                Fact::Is(cond, _) => {
                    if let Some(alike) = self.conditions.get_mut(&cond.fingerprint()) {
                        alike.pop();
                    }
                }
            }
        }
        while self.disjunctions.last().is_some_and(|at| *at >= mark.facts) {
            self.disjunctions.pop();
        }
        self.forget(mark.sizes);
    }

    fn push(&mut self, fact: Fact) {
        let inner = match &fact {
            Fact::Loop(_) => {
                self.loops.push(self.facts.len());
                0
            }
            // entered before its loop
            Fact::Accumulator(_) => 1,
            Fact::Let(x, _, hash) => {
                self.values.entry(*hash).or_default().push(x.clone());
                0
            }
            Fact::Is(cond, _) => {
                self.conditions.entry(cond.fingerprint()).or_default().push(self.facts.len());
                if fact.disjunction().is_some() {
                    self.disjunctions.push(self.facts.len());
                }
                0
            }
            Fact::Bound(_) => 0,
        };
        if let Some(var) = fact.variable() {
            let loops = self.loops.len() + inner;
            let needs = if let Fact::Let(_, value, _) = &fact { self.needs(value) } else { loops };
            self.bound.insert(var.clone(), Place { at: self.facts.len(), loops, needs });
        }
        self.facts.push(fact);
    }

    pub fn enter_function(&mut self, function: &Function) {
        self.learn(Lesson::Function(prove::Facts::for_function(function)));
        for var in function.sizes.iter().chain(&function.params) {
            self.push(Fact::Bound(var.clone()));
        }
    }

    /// Assumes that the condition holds (or does not).
    pub fn assume(&mut self, cond: &Expr, value: bool) {
        match (cond.term(), value) {
            (Term::Prim(Prim::Not, args), _) => args.iter().for_each(|arg| self.assume(arg, !value)),
            (Term::Prim(Prim::And, args), true) | (Term::Prim(Prim::Or, args), false) => {
                args.iter().for_each(|arg| self.assume(arg, value));
            }
            (Term::Prim(Prim::Or | Prim::And, args), _) => {
                if let [a, b] = args.as_slice() {
                    if self.decide(a) == Some(!value) {
                        return self.assume(b, value);
                    }
                    if self.decide(b) == Some(!value) {
                        return self.assume(a, value);
                    }
                }
                self.push(Fact::Is(cond.clone(), value));
            }
            _ => {
                self.push(Fact::Is(cond.clone(), value));
                if compares_indices(cond) {
                    self.learn(Lesson::Assume(cond.clone(), value));
                }
            }
        }
    }

    /// Whether every condition in the branches of a conditional was decided, as far as its own decides it.
    pub fn has_decided_in(&self, conditional: &Expr) -> bool {
        self.decided == Some(conditional.address())
    }

    pub fn enter_let(&mut self, var: &Var, value: &Expr) {
        self.push(Fact::Let(var.clone(), value.clone(), value.fingerprint()));
        let is_selected =
            || matches!(var.ty(), Type::Tuple(parts) if parts.contains(&Type::INDEX)) && matches!(value.term(), Term::Fold { .. });
        if matches!(var.ty(), Type::Index(_)) || is_selected() {
            self.learn(Lesson::Define(var.clone(), value.clone()));
        }
    }

    /// Inside the loop its variable is in range and the count is positive; so a disjunction may be decided.
    pub fn enter_loop(&mut self, i: &Var, n: &Expr) {
        self.push(Fact::Loop(i.clone()));
        self.learn(Lesson::Loop(i.clone(), n.clone()));
        // a disjunction that does not mention the count stays undecided
        let says = |(cond, _): &(Expr, bool)| any_free_var(n, &mut |var| mentions(cond, var));
        let pending: Vec<(Expr, bool)> =
            self.disjunctions.iter().filter_map(|at| self.facts.get(*at)?.disjunction()).filter(says).collect();
        // all are decided before anything more is assumed, so that the prover's cache is used
        let mut undecided = pending;
        while !undecided.is_empty() {
            let (mut rest, mut left, mut seen) = (Vec::new(), Vec::new(), FxHashSet::default());
            for (cond, value) in undecided {
                match self.what_is_left(&cond, value) {
                    Some(cond) if seen.insert((cond.fingerprint(), value)) => left.push((cond, value)),
                    Some(_) => {}
                    None => rest.push((cond, value)),
                }
            }
            if left.is_empty() {
                break;
            }
            left.iter().for_each(|(cond, value)| self.assume(cond, *value));
            undecided = rest;
        }
    }

    /// The other side of a disjunction of which one side is refuted.
    fn what_is_left(&self, cond: &Expr, value: bool) -> Option<Expr> {
        let ((Term::Prim(Prim::Or, args), true) | (Term::Prim(Prim::And, args), false)) = (cond.term(), value) else { return None };
        let [a, b] = args.as_slice() else { return None };
        let is_out = |side: &Expr| self.decide(side) == Some(!value);
        let left = if is_out(a) { b } else { is_out(b).then_some(a)? };
        Some(self.what_is_left(left, value).unwrap_or_else(|| left.clone()))
    }

    pub fn enter(&mut self, var: &Var) {
        self.push(Fact::Bound(var.clone()));
    }

    pub fn enter_accumulator(&mut self, var: &Var) {
        self.push(Fact::Accumulator(var.clone()));
    }

    pub fn is_accumulator(&self, var: &Var) -> bool {
        matches!(self.fact(var), Some(Fact::Accumulator(_)))
    }

    /// Whether the term is the accumulator of an enclosing fold, or a component of it.
    pub fn accumulates(&self, expr: &Expr) -> bool {
        match expr.term() {
            Term::Var(var) => self.is_accumulator(var),
            Term::Proj(tuple, _) => self.accumulates(tuple),
            _ => false,
        }
    }

    /// The binding depth of a variable, outermost first; `None` for one that is not in scope.
    fn depth(&self, var: &Var) -> Option<usize> {
        self.bound.get(var).map(|place| place.at)
    }

    fn fact(&self, var: &Var) -> Option<&Fact> {
        self.facts.get(self.bound.get(var)?.at)
    }

    /// The number of enclosing loops.
    pub fn loops(&self) -> usize {
        self.loops.len()
    }

    /// The loop depth that the term needs: that of the innermost enclosing loop in which one of its variables is bound.
    pub fn level(&self, expr: &Expr) -> usize {
        if self.loops.is_empty() {
            return 0;
        }
        let mut level = 0;
        each_free_var(expr, &mut |var| level = level.max(self.bound.get(var).map_or(0, |place| place.loops)));
        level
    }

    /// The loop depth that the term would need if every let that it mentions were hoisted as far as possible: hoisting a let
    /// does not change this.
    pub fn needs(&self, expr: &Expr) -> usize {
        let mut needs = 0;
        each_free_var(expr, &mut |var| needs = needs.max(self.bound.get(var).map_or(0, |place| place.needs)));
        needs
    }

    /// Whether [`Facts::settle`] was told of such a term in these surroundings.
    pub fn is_settled(&self, expr: &Expr, surroundings: u64) -> bool {
        self.settled.borrow().get(&(expr.fingerprint(), surroundings)).is_some_and(|known| same(known, expr))
    }

    /// Notes that the cheapest form of an arithmetic term is the one that it has.
    pub fn settle(&self, expr: &Expr, surroundings: u64) {
        self.settled.borrow_mut().insert((expr.fingerprint(), surroundings), expr.clone());
    }

    /// A fingerprint of the loops that the term's variables are bound in, and of the products that they are names of.
    pub fn surroundings(&self, expr: &Expr) -> u64 {
        let mut hasher = FxHasher::default();
        self.loops.len().hash(&mut hasher);
        each_free_var(expr, &mut |var| {
            let Some(place) = self.bound.get(var) else { return };
            (place.loops, place.needs).hash(&mut hasher);
            match self.facts.get(place.at) {
                Some(Fact::Let(_, value, fingerprint)) if matches!(value.term(), Term::Prim(Prim::Mul | Prim::Div | Prim::Neg, _)) => {
                    fingerprint.hash(&mut hasher);
                }
                Some(Fact::Accumulator(_)) => 1u64.hash(&mut hasher),
                Some(Fact::Is(..) | Fact::Let(..) | Fact::Loop(_) | Fact::Bound(_)) | None => 0u64.hash(&mut hasher),
            }
        });
        hasher.finish()
    }

    /// A sort key: the binding order; variables that are not in scope come last.
    pub fn order(&self, var: &Var) -> (usize, u32) {
        (self.depth(var).unwrap_or(usize::MAX), var.id())
    }

    /// Whether the first variable is bound outside of the second.
    pub fn is_outside(&self, x: &Var, y: &Var) -> bool {
        (self.depth(x), x.id()) < (self.depth(y), y.id())
    }

    /// The value of a let-bound variable.
    pub fn value(&self, var: &Var) -> Option<&Expr> {
        match self.fact(var) {
            Some(Fact::Let(_, value, _)) => Some(value),
            Some(Fact::Is(..) | Fact::Loop(_) | Fact::Bound(_) | Fact::Accumulator(_)) | None => None,
        }
    }

    /// In the branch of `i = k`: the inner variable and the term that equals it; for an Index equality is identity.
    pub fn equality(&self, cond: &Expr) -> Option<(Var, Expr)> {
        let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        match (a.term(), b.term()) {
            (Term::Var(x), Term::Var(y)) if x == y => None,
            (Term::Var(x), Term::Var(y)) if self.is_outside(x, y) => Some((y.clone(), a.clone())),
            (Term::Var(x), Term::Var(_) | Term::Index(_)) => Some((x.clone(), b.clone())),
            (Term::Index(_), Term::Var(y)) => Some((y.clone(), a.clone())),
            _ => None,
        }
    }

    /// The innermost variable that is bound to the same value.
    pub fn bound_to(&self, value: &Expr) -> Option<Var> {
        self.values.get(&value.fingerprint())?.iter().rev().find(|x| self.value(x).is_some_and(|known| same(known, value))).cloned()
    }
}

impl Fact {
    fn variable(&self) -> Option<&Var> {
        match self {
            Fact::Let(x, ..) | Fact::Loop(x) | Fact::Bound(x) | Fact::Accumulator(x) => Some(x),
            Fact::Is(..) => None,
        }
    }

    fn disjunction(&self) -> Option<(Expr, bool)> {
        let Fact::Is(cond, value) = self else { return None };
        match (cond.term(), value) {
            (Term::Prim(Prim::Or, _), true) | (Term::Prim(Prim::And, _), false) => Some((cond.clone(), *value)),
            _ => None,
        }
    }
}

/// For each function, how often the functions that one entry reaches call it: the most of all entries, and of all functions where
/// there is none.
fn most_calls(program: &Program) -> FxHashMap<Rc<str>, usize> {
    let functions = &program.functions;
    let called: FxHashMap<&Rc<str>, Vec<Rc<str>>> = (functions.iter())
        .map(|(name, function)| {
            let mut names = Vec::new();
            note_calls(&function.body, &mut names);
            (name, names)
        })
        .collect();
    let mut roots: Vec<Vec<&Rc<str>>> = functions.iter().filter(|(_, function)| function.is_entry).map(|(name, _)| vec![name]).collect();
    if roots.is_empty() {
        roots.push(functions.keys().collect());
    }
    let mut most: FxHashMap<Rc<str>, usize> = FxHashMap::default();
    for mut pending in roots {
        let mut seen: FxHashSet<&Rc<str>> = pending.iter().copied().collect();
        let mut calls: FxHashMap<&Rc<str>, usize> = FxHashMap::default();
        while let Some(name) = pending.pop() {
            for callee in called.get(name).into_iter().flatten() {
                *calls.entry(callee).or_default() += 1;
                if seen.insert(callee) {
                    pending.push(callee);
                }
            }
        }
        for (name, count) in calls {
            let known = most.entry(name.clone()).or_default();
            *known = count.max(*known);
        }
    }
    most
}

fn note_calls(expr: &Expr, names: &mut Vec<Rc<str>>) {
    if let Term::Call(name, _) = expr.term() {
        names.push(name.clone());
    }
    expr.term().each_child(&mut |child| note_calls(child, names));
}

fn compares_indices(cond: &Expr) -> bool {
    matches!(cond.term(), Term::Prim(_, args) if args.len() == 2 && args.iter().all(|arg| matches!(arg.ty(), Type::Index(_))))
}
