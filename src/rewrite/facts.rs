//! What a rule may know of the place it is applied at: the loops, lets and conditions around it.
//!
//! In: the scopes that the engine enters. Out: answers to `0 <= i < n?`, `n > 0?`, `are these sizes equal?`,
//! `is this condition known?`, and the [`Uses`] of let-bound variables.
//!
//!     build(n, i. … v[i] …)     i < n is known inside; so is n > 0
//!
//! Everything about sizes is asked of `ir::prove`. Limits: an unknown answer is "no".

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::ir::{Expr, Function, Prim, Program, Size, Term, Type, Var, prove};

use super::alike::{has_array, same};
use super::refusals::Refusals;
use super::uses::Uses;

/// One thing that holds in the current scope.
#[derive(Clone, Debug)]
enum Fact {
    /// The condition has this value.
    Is(Expr, bool),
    /// The variable is bound to this value.
    Let(Var, Expr),
    /// A loop variable.
    Loop(Var),
    /// A parameter, a size, or what a `dual` binds.
    Bound(Var),
    /// The accumulator of a fold.
    Accumulator(Var),
}

/// What is known of sizes in one scope, with the questions that were asked there.
#[derive(Clone, Debug, Default)]
struct Known {
    facts: prove::Facts,
    answers: RefCell<HashMap<(Question, Size, Size), bool>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Question {
    Equal,
    Less,
    AtMost,
}

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
    /// What is known of sizes, from the outermost scope to this one; one entry for each scope that adds to it.
    sizes: Vec<Known>,
    /// What is known of let-bound variables' occurrences.
    pub uses: Uses,
    /// All functions, for calls.
    pub program: Program,
    /// The nodes of the function that is being rewritten, for the size budget.
    pub nodes: usize,
    /// Leave everything that may change rounding or the sign of a zero.
    pub strict_fp: bool,
    /// Which rules almost fired.
    pub refusals: Refusals,
    /// The nodes that laws have made.
    grown: Cell<usize>,
}

impl Facts {
    pub fn new(program: Program, strict_fp: bool) -> Facts {
        Facts { program, strict_fp, ..Facts::default() }
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
        self.facts.truncate(mark.facts);
        self.sizes.truncate(mark.sizes);
    }

    fn learn(&mut self, f: impl FnOnce(&mut prove::Facts)) {
        let mut facts = self.sizes.last().map(|known| known.facts.clone()).unwrap_or_default();
        f(&mut facts);
        self.sizes.push(Known { facts, ..Known::default() });
    }

    pub fn enter_function(&mut self, function: &Function) {
        self.sizes.push(Known { facts: prove::Facts::for_function(function), ..Known::default() });
        let bound = function.sizes.iter().chain(&function.params).cloned().map(Fact::Bound);
        self.facts.extend(bound);
    }

    /// The condition holds (or does not) from here on.
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
                self.facts.push(Fact::Is(cond.clone(), value));
            }
            _ => {
                self.facts.push(Fact::Is(cond.clone(), value));
                if compares_indices(cond) {
                    self.learn(|sizes| sizes.assume(cond, value));
                }
            }
        }
    }

    pub fn enter_let(&mut self, var: &Var, value: &Expr) {
        self.facts.push(Fact::Let(var.clone(), value.clone()));
        if matches!(var.ty(), Type::Index(_)) {
            self.learn(|sizes| sizes.define(var, value));
        }
    }

    /// Inside the loop its variable is in range and the count is positive; so a disjunction may be decided.
    pub fn enter_loop(&mut self, i: &Var, n: &Expr) {
        self.facts.push(Fact::Loop(i.clone()));
        self.learn(|sizes| sizes.enter_loop(i, n));
        let pending: Vec<(Expr, bool)> = self.facts.iter().filter_map(Fact::disjunction).collect();
        for (cond, value) in pending {
            if let Term::Prim(_, args) = cond.term()
                && args.iter().any(|arg| self.decide(arg) == Some(!value))
            {
                self.assume(&cond, value);
            }
        }
    }

    pub fn enter(&mut self, var: &Var) {
        self.facts.push(Fact::Bound(var.clone()));
    }

    pub fn enter_accumulator(&mut self, var: &Var) {
        self.facts.push(Fact::Accumulator(var.clone()));
    }

    pub fn is_accumulator(&self, var: &Var) -> bool {
        self.facts.iter().any(|fact| matches!(fact, Fact::Accumulator(acc) if acc == var))
    }

    /// How deep a variable is bound, outermost first; `None` for one that is not bound around here.
    fn depth(&self, var: &Var) -> Option<usize> {
        self.facts.iter().position(|fact| fact.binds(var))
    }

    /// Whether the first variable is bound further out than the second.
    pub fn is_outside(&self, x: &Var, y: &Var) -> bool {
        (self.depth(x), x.id()) < (self.depth(y), y.id())
    }

    /// The value of a let-bound variable.
    pub fn value(&self, var: &Var) -> Option<&Expr> {
        self.facts.iter().rev().find_map(|fact| match fact {
            Fact::Let(x, value) if x == var => Some(value),
            Fact::Let(..) | Fact::Is(..) | Fact::Loop(_) | Fact::Bound(_) | Fact::Accumulator(_) => None,
        })
    }

    /// In the branch of `i = k`: the variable bound further in, and the atom to put for it.
    pub fn equality(&self, cond: &Expr) -> Option<(Var, Expr)> {
        let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        if !matches!(a.ty(), Type::Index(_)) {
            return None;
        }
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
        self.facts.iter().rev().find_map(|fact| match fact {
            Fact::Let(x, known) if known.ty().same_shape(value.ty()) && same(known, value) => Some(x.clone()),
            Fact::Let(..) | Fact::Is(..) | Fact::Loop(_) | Fact::Bound(_) | Fact::Accumulator(_) => None,
        })
    }

    fn prove(&self, question: Question, a: &Size, b: &Size) -> bool {
        let ask = |facts: &prove::Facts| match question {
            Question::Equal => facts.equal(a, b),
            Question::Less => facts.less(a, b),
            Question::AtMost => facts.at_most(a, b),
        };
        let Some(known) = self.sizes.last() else { return ask(&prove::Facts::default()) };
        let key = (question, a.clone(), b.clone());
        if let Some(answer) = known.answers.borrow().get(&key) {
            return *answer;
        }
        let answer = ask(&known.facts);
        known.answers.borrow_mut().insert(key, answer);
        answer
    }

    pub fn same_size(&self, a: &Size, b: &Size) -> bool {
        a == b || self.prove(Question::Equal, a, b)
    }

    /// Whether `0 <= index < n`.
    pub fn in_range(&self, index: &Expr, n: &Size) -> bool {
        if let Type::Index(Some(bound)) = index.ty()
            && self.same_size(bound, n)
        {
            return true;
        }
        Size::try_of_expr(index).is_some_and(|index| self.prove(Question::Less, &index, n) && self.non_negative(&index))
    }

    /// Whether the size is at least 0 whenever this place is reached.
    pub fn non_negative(&self, n: &Size) -> bool {
        self.prove(Question::AtMost, &Size::constant(0), n)
    }

    /// Whether the size is at least 1 whenever this place is reached.
    pub fn positive(&self, n: &Size) -> bool {
        self.prove(Question::Less, &Size::constant(0), n)
    }

    /// The value of a condition, where the surroundings fix it.
    pub fn decide(&self, cond: &Expr) -> Option<bool> {
        if let Term::Bool(value) = cond.term() {
            return Some(*value);
        }
        let known = self.facts.iter().find_map(|fact| match fact {
            Fact::Is(known, value) if same(known, cond) => Some(*value),
            Fact::Is(..) | Fact::Let(..) | Fact::Loop(_) | Fact::Bound(_) | Fact::Accumulator(_) => None,
        });
        if known.is_some() {
            return known;
        }
        let Term::Prim(prim, args) = cond.term() else { return None };
        match (prim, args.as_slice()) {
            (Prim::Not, [a]) => self.decide(a).map(|value| !value),
            (Prim::And, [a, b]) => match (self.decide(a), self.decide(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                (None | Some(true), None) | (None, Some(true)) => None,
            },
            (Prim::Or, [a, b]) => match (self.decide(a), self.decide(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                (None | Some(false), None) | (None, Some(false)) => None,
            },
            (_, [a, b]) if compares_indices(cond) => self.compare(*prim, &Size::try_of_expr(a)?, &Size::try_of_expr(b)?),
            _ => None,
        }
    }

    fn compare(&self, prim: Prim, a: &Size, b: &Size) -> Option<bool> {
        let same = || self.same_size(a, b);
        let less = |a: &Size, b: &Size| self.prove(Question::Less, a, b);
        let at_most = |a: &Size, b: &Size| self.prove(Question::AtMost, a, b);
        // different constants apart: different also modulo 2^64
        let apart = || a.sub(b).as_constant().is_some_and(|gap| gap != 0) || less(a, b) || less(b, a);
        let decided = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
        match prim {
            Prim::Eq => decided(same(), apart()),
            Prim::Ne => decided(apart(), same()),
            Prim::Lt => decided(less(a, b), same() || at_most(b, a)),
            Prim::Le => decided(same() || at_most(a, b), less(b, a)),
            Prim::Gt => decided(less(b, a), same() || at_most(a, b)),
            Prim::Ge => decided(same() || at_most(b, a), less(a, b)),
            _ => None,
        }
    }

    /// Whether evaluating the term cannot fail here.
    pub fn is_total(&self, expr: &Expr) -> bool {
        let own = match expr.term() {
            Term::Get(array, index) => array.ty().dims().first().is_some_and(|n| self.in_range(index, n)),
            Term::Prim(Prim::Div | Prim::Rem, args) if matches!(expr.ty(), Type::Index(_)) => {
                matches!(args.get(1).map(Expr::term), Some(Term::Index(value)) if *value != 0)
            }
            Term::Prim(Prim::ToIndex, _) | Term::Call(..) | Term::Check { .. } | Term::Dual { .. } => false,
            // elements of one shape are so in any order
            Term::Build { n, body, .. } => !has_array(body.ty()) && Size::try_of_expr(n).is_some_and(|n| self.non_negative(&n)),
            Term::Fold { n, acc, .. } => !has_array(acc.ty()) && Size::try_of_expr(n).is_some_and(|n| self.non_negative(&n)),
            Term::Array(items) => items.len() < 2 || !items.iter().any(|item| has_array(item.ty())),
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Let(..)
            | Term::If(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..) => true,
        };
        let mut total = own;
        expr.term().each_child(&mut |child| total = total && self.is_total(child));
        total
    }
}

impl Fact {
    fn binds(&self, var: &Var) -> bool {
        match self {
            Fact::Let(x, _) | Fact::Loop(x) | Fact::Bound(x) | Fact::Accumulator(x) => x == var,
            Fact::Is(..) => false,
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

fn compares_indices(cond: &Expr) -> bool {
    matches!(cond.term(), Term::Prim(_, args) if args.len() == 2 && args.iter().all(|arg| matches!(arg.ty(), Type::Index(_))))
}
