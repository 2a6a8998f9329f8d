//! The search for a proof of an inequality: facts that are ≥ 0 are taken from the goal until ranges show that the rest is.
//!
//! In: what is known at a place, the facts that a proof may add up, a goal. Out: whether a proof was found.
//!
//!     goal j - i - 1 ≥ 0, fact j - n ≥ 0:   what remains is n - i - 1, and that is ≥ 0 by i < n
//!
//! Short proofs come first: the search goes over the same goals again and again, each time one fact further. So a goal that was
//! met is kept with the goals that it leads to, and a product with its range and the facts that take it away.
//! Limits: [`DEPTH`] facts in a proof, [`STEPS`] facts tried.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::range::{Range, TYPES, sum_of_ranges};
use super::{COEFFICIENT, Facts, small};
use crate::ir::prim::Prim;
use crate::ir::term::{Atom, Expr, Monomial, Size, Term};

/// How many facts one proof may add up, and how many sums it may try.
const DEPTH: u32 = 5;
const STEPS: u32 = 150;

pub(super) struct Search<'a> {
    facts: &'a Facts,
    parts: Vec<Part<'a>>,
    ranges: FxHashMap<Monomial, Option<Range>>,
    removals: FxHashMap<Monomial, Rc<[Removal]>>,
    goals: Vec<Goal>,
    /// Where each is among the goals.
    met: FxHashMap<Size, usize>,
    steps: u32,
}

/// A term of a fact that can take a goal's negative term away: a negative one.
struct Part<'a> {
    fact: &'a Size,
    monomial: &'a Monomial,
    weight: i64,
}

/// A fact, times what makes one of its terms have the product at hand; and the coefficient that this has there.
struct Removal {
    fact: Size,
    weight: i64,
}

/// What remains to be proved, and does not hold by ranges alone.
struct Goal {
    size: Size,
    /// The goals that the first removals lead to, each once the search has gone on from it.
    next: Vec<Option<usize>>,
}

impl<'a> Search<'a> {
    pub fn new(facts: &'a Facts, known: &'a [Size]) -> Search<'a> {
        let negative = |fact: &'a Size| fact.terms().filter(|(_, weight)| *weight < 0);
        let part = |fact: &'a Size| negative(fact).map(move |(monomial, weight)| Part { fact, monomial, weight });
        Search {
            facts,
            parts: known.iter().filter(|fact| small(fact)).flat_map(part).collect(),
            ranges: FxHashMap::default(),
            removals: FxHashMap::default(),
            goals: Vec::new(),
            met: FxHashMap::default(),
            steps: STEPS,
        }
    }

    /// Whether some proof shows that the polynomial is ≥ 0 as an integer.
    ///
    /// What is greater than -1 is. So a goal that takes a quotient `a / d` away may be proved as `d * goal + d - 1`, in which the
    /// quotient's own fact `a - d * (a / d) ≥ 0` leaves no remainder: for `k / 2 < n` that is `2 * n - 1 - k ≥ 0`.
    pub fn proves(&mut self, goal: &Size) -> bool {
        self.proves_as_written(goal)
            || divisors(goal).into_iter().any(|d| {
                let scaled = goal.mul(&Size::constant(d)).add(&Size::constant(d - 1));
                self.proves_as_written(&scaled)
            })
    }

    fn proves_as_written(&mut self, goal: &Size) -> bool {
        if self.holds(goal.terms()) {
            return true;
        }
        let goal = self.meet(goal.clone());
        // short proofs first: they are the common ones
        self.steps = STEPS;
        (1..=DEPTH).any(|depth| self.goes_on(goal, depth, &mut FxHashSet::default()))
    }

    /// Whether a sum is ≥ 0 by ranges alone.
    fn holds<'b>(&mut self, terms: impl Iterator<Item = (&'b Monomial, i64)>) -> bool {
        let (facts, ranges) = (self.facts, &mut self.ranges);
        let range = sum_of_ranges(terms, |monomial| match ranges.get(monomial) {
            Some(range) => *range,
            None => *ranges.entry(monomial.clone()).or_insert_with(|| facts.product_range(monomial, TYPES)),
        });
        range.is_some_and(|(low, _)| low >= 0)
    }

    /// `seen`: goals of this round, which the same facts in another order lead to again.
    fn goes_on(&mut self, at: usize, depth: u32, seen: &mut FxHashSet<(u32, usize)>) -> bool {
        let goal = self.goals[at].size.clone();
        if !small(&goal) || !seen.insert((depth, at)) {
            return false;
        }
        let mut tried = 0;
        for (monomial, coefficient) in goal.terms().filter(|(_, coefficient)| *coefficient < 0) {
            for removal in self.removals_of(monomial).iter() {
                if self.steps == 0 {
                    return false;
                }
                self.steps -= 1;
                // as often as takes the monomial away, and once more where there is a remainder
                let times = (coefficient + removal.weight + 1) / removal.weight;
                if self.goals[at].next.len() == tried {
                    if self.holds(goal.terms_plus(-times, &removal.fact)) {
                        return true;
                    }
                    self.goals[at].next.push(None);
                }
                if depth > 1 {
                    let next = self.goals[at].next[tried].unwrap_or_else(|| self.meet(goal.plus(-times, &removal.fact)));
                    self.goals[at].next[tried] = Some(next);
                    if self.goes_on(next, depth - 1, seen) {
                        return true;
                    }
                }
                tried += 1;
            }
        }
        false
    }

    /// Where a goal is kept.
    fn meet(&mut self, size: Size) -> usize {
        let last = self.goals.len();
        let at = *self.met.entry(size.clone()).or_insert(last);
        if at == last {
            self.goals.push(Goal { size, next: Vec::new() });
        }
        at
    }

    /// What takes a negative term away, in the order of the facts.
    fn removals_of(&mut self, monomial: &Monomial) -> Rc<[Removal]> {
        if let Some(removals) = self.removals.get(monomial) {
            return removals.clone();
        }
        let removal = |part: &Part| {
            let factor = self.nonnegative_quotient(monomial, part.monomial)?;
            Some(Removal { fact: part.fact.mul(&factor), weight: part.weight })
        };
        let removals: Rc<[Removal]> = self.parts.iter().filter_map(removal).collect();
        self.removals.insert(monomial.clone(), removals.clone());
        removals
    }

    /// monomial / part as a product of atoms that are ≥ 0.
    fn nonnegative_quotient(&self, monomial: &Monomial, part: &Monomial) -> Option<Size> {
        if !part.iter().all(|atom| monomial.contains(atom)) {
            return None;
        }
        let mut rest = monomial.to_vec();
        for atom in part.iter() {
            let at = rest.iter().position(|other| other == atom)?;
            rest.remove(at);
        }
        let nonnegative = rest.iter().all(|atom| self.facts.atom_range(atom, TYPES).0 >= 0);
        nonnegative.then(|| rest.into_iter().fold(Size::constant(1), |product, atom| product.mul(&Size::atom(atom))))
    }
}

/// The literals by which what a small goal takes away was divided, each once.
fn divisors(goal: &Size) -> Vec<i64> {
    let mut found = Vec::new();
    let largest = goal.terms().map(|(_, coefficient)| coefficient.unsigned_abs()).max().unwrap_or(0).max(1);
    for atom in goal.terms().filter(|(_, coefficient)| *coefficient < 0).flat_map(|(monomial, _)| monomial.iter()) {
        if let Atom::Term(term) = atom
            && let Term::Prim(Prim::Div, args) = term.expr.term()
            && let Some(Term::Index(d)) = args.get(1).map(Expr::term)
            && *d > 1
            && d.unsigned_abs().saturating_mul(largest) < COEFFICIENT.unsigned_abs()
            && !found.contains(d)
        {
            found.push(*d);
        }
    }
    found
}
