//! The record of a derivation: every applied step, in order, phase by phase, and the rules that almost fired.
//!
//! In: the steps as they happen. Out: [`Derivation`], what `smoothc explain` shows: the program after each
//! phase and the rules that led there. Nothing is kept when nobody asked.

use std::rc::Rc;

use super::alike::same;
use super::refusals::Refusal;
use crate::ir::{Expr, Program};

/// One applied rule.
#[derive(Clone, Debug)]
pub struct Step {
    pub rule: Rc<str>,
    /// The function that it happened in.
    pub function: Rc<str>,
    pub before: Expr,
    pub after: Expr,
}

/// A named part of the schedule, with the program that it left.
#[derive(Clone, Debug)]
pub struct Phase {
    pub name: Rc<str>,
    pub steps: Vec<Step>,
    /// The rules that almost fired on what is left, with the function that it is in; each once.
    pub refusals: Vec<(Rc<str>, Refusal)>,
    pub program: Program,
}

/// All phases of a schedule.
#[derive(Clone, Debug, Default)]
pub struct Derivation {
    pub phases: Vec<Phase>,
    /// The rules that the strategy file declares, each with its law.
    pub own: Vec<(&'static str, &'static str)>,
}

impl Derivation {
    /// Those of the strategy file that never fired.
    pub fn idle(&self) -> Vec<(&'static str, &'static str)> {
        let has_fired = |name: &str| self.phases.iter().any(|phase| phase.steps.iter().any(|step| *step.rule == *name));
        self.own.iter().filter(|(name, _)| !has_fired(name)).copied().collect()
    }
}

/// Where steps are noted.
#[derive(Clone, Debug, Default)]
pub struct Log {
    recording: bool,
    function: Rc<str>,
    steps: Vec<Step>,
    refusals: Vec<(Rc<str>, Refusal)>,
}

impl Log {
    pub fn new(recording: bool) -> Log {
        Log { recording, ..Log::default() }
    }

    /// The steps that follow happen in this function.
    pub fn enter(&mut self, function: &Rc<str>) {
        self.function = function.clone();
    }

    pub fn step(&mut self, rule: &str, before: &Expr, after: impl FnOnce() -> Expr) {
        if self.recording {
            let step = Step { rule: rule.into(), function: self.function.clone(), before: before.clone(), after: after() };
            self.steps.push(step);
        }
    }

    /// Rules that almost fired in the present function.
    pub fn refused(&mut self, refusals: Vec<Refusal>) {
        for refusal in refusals {
            let is_known = |(function, known): &(Rc<str>, Refusal)| {
                *function == self.function && known.rule == refusal.rule && known.why == refusal.why && same(&known.term, &refusal.term)
            };
            if !self.refusals.iter().any(is_known) {
                self.refusals.push((self.function.clone(), refusal));
            }
        }
    }

    /// The steps and refusals since the last call, as those of a phase.
    pub fn phase(&mut self, name: Rc<str>, program: &Program) -> Phase {
        let (steps, refusals) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.refusals));
        Phase { name, steps, refusals, program: program.clone() }
    }

    pub fn is_recording(&self) -> bool {
        self.recording
    }
}

impl Phase {
    /// The rules that were applied, each with how often, in the order in which they first were.
    pub fn rules(&self) -> Vec<(Rc<str>, usize)> {
        let mut counts: indexmap::IndexMap<Rc<str>, usize> = indexmap::IndexMap::new();
        for step in &self.steps {
            *counts.entry(step.rule.clone()).or_default() += 1;
        }
        counts.into_iter().collect()
    }
}
