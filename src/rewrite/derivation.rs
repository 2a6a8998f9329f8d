//! The record of a derivation: every applied step, in order, phase by phase.
//!
//! In: the steps as they happen. Out: [`Derivation`], what `smoothc explain` prints: the program after each
//! phase and the rules that led there. Nothing is kept when nobody asked.

use std::rc::Rc;

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
    pub program: Program,
}

/// All phases of a schedule.
#[derive(Clone, Debug, Default)]
pub struct Derivation {
    pub phases: Vec<Phase>,
}

/// Where steps are noted.
#[derive(Clone, Debug, Default)]
pub struct Log {
    recording: bool,
    function: Rc<str>,
    steps: Vec<Step>,
}

impl Log {
    pub fn new(recording: bool) -> Log {
        Log { recording, function: "".into(), steps: Vec::new() }
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

    /// The steps since the last call.
    pub fn take(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.steps)
    }

    pub fn is_recording(&self) -> bool {
        self.recording
    }
}

impl Phase {
    /// The rules that were applied, each with how often, most used first.
    pub fn rules(&self) -> Vec<(Rc<str>, usize)> {
        let mut counts: indexmap::IndexMap<Rc<str>, usize> = indexmap::IndexMap::new();
        for step in &self.steps {
            *counts.entry(step.rule.clone()).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}
