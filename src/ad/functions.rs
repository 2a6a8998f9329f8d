//! The functions of a program while its derivatives are made, and what is active in each.
//!
//! In: functions without `dual` terms. Out: for a function and the activity of its parameters, the activity of its parts and of its
//! result, analysed once, and its derivative where `derived` has made that; and whether all functions together are within the budget.
//!
//!     f (x: Double) (n: Index) = x * x      x active, n not   →   the result is active

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexMap;

use super::activity::{Activities, Activity};
use super::block::Spares;
use super::counts::GivenByData;
use super::{Options, Result, internal};
use crate::budget;
use crate::ir::subst::freshen_function;
use crate::ir::{Expr, Function, Program, Term, Var};
use crate::source::Span;

/// The functions of a program while its derivatives are made.
#[derive(Default)]
pub struct Functions {
    pub options: Options,
    /// The functions of the program in which there were derivatives.
    pub with_derivatives: HashSet<Rc<str>>,
    /// Without `dual` terms, derived ones included.
    pub done: IndexMap<Rc<str>, Function>,
    pub spares: Spares,
    pub given_by_data: GivenByData,
    /// The names of the whole program, so that a derived function takes none of them.
    pub(super) names: HashSet<Rc<str>>,
    /// The functions that were analysed, each for a pattern.
    pub(super) patterns: HashMap<Pattern, Entry>,
    /// Those of all functions that are done.
    nodes: usize,
}

/// A function and the activity of its parameters.
pub(super) type Pattern = (Rc<str>, Vec<Activity>);

/// What is known of a function for a pattern.
pub(super) struct Entry {
    /// A copy of the function with binders of its own.
    pub function: Function,
    pub activities: Activities,
    pub result: Activity,
    pub derived: Option<Rc<Function>>,
}

impl Functions {
    /// For the functions of a program.
    pub fn new(program: &Program, options: Options) -> Functions {
        let names = program.functions.keys().cloned().collect();
        Functions { names, options, given_by_data: GivenByData::of(program), ..Functions::default() }
    }

    /// Whether a term has a derivative in it, or calls a function that has.
    pub fn has_derivative(&self, expr: &Expr) -> bool {
        match expr.term() {
            Term::Dual { .. } | Term::Vjp { .. } => true,
            Term::Call(name, _) if self.with_derivatives.contains(name) => true,
            term => term.children().any(|child| self.has_derivative(child)),
        }
    }

    /// Adds a function that has no `dual` any more.
    pub fn add(&mut self, function: Function) -> Result<()> {
        self.within_budget(function.body.node_count(), function.span)?;
        self.nodes = self.nodes.saturating_add(function.body.node_count());
        self.done.insert(function.name.clone(), function);
        Ok(())
    }

    /// Whether so many nodes beside those of all functions are within the budget: some of these no entry may need.
    pub fn within_budget(&self, nodes: usize, span: Span) -> Result<()> {
        budget::unfinished(self.nodes.saturating_add(nodes), span)
    }

    /// Analyses a dual-free body, where `free` are the active free variables.
    pub fn analyse(&mut self, body: &Expr, free: Vec<(Var, Activity)>) -> Result<Activities> {
        Activities::of_body(body, free, &mut |name, pattern| self.result_activity(name, pattern))
    }

    /// The activity of a function's result for this pattern.
    pub(super) fn result_activity(&mut self, name: &Rc<str>, pattern: &[Activity]) -> Result<Activity> {
        let key = (name.clone(), pattern.to_vec());
        if let Some(entry) = self.patterns.get(&key) {
            return Ok(entry.result.clone());
        }
        let Some(function) = self.done.get(name) else {
            return Err(internal(Span::NONE, format!("a call of `{name}` before its definition")));
        };
        let function = freshen_function(function);
        let free = function.params.iter().cloned().zip(pattern.iter().cloned()).collect();
        let activities = self.analyse(&function.body, free)?;
        let result = activities.of(&function.body);
        self.patterns.insert(key, Entry { function, activities, result: result.clone(), derived: None });
        Ok(result)
    }
}
