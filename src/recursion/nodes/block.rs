//! What comes before a value, in its order: definitions and checks, and the store after them.
//!
//! In: values, one after the other. Out: names for them, and at the end one term.
//!
//!     let list_tag = … in check … in     →     around whatever the value is

use super::{Nodes, Store};
use crate::ir::{Expr, Status, Var};
use crate::source::Span;

/// What comes before a value, and the store after it.
pub struct Block {
    pub steps: Vec<Step>,
    pub store: Store,
}

pub enum Step {
    Let(Var, Expr),
    Check(Expr, Status, Span),
}

impl Block {
    pub fn of(store: &Store) -> Block {
        Block { steps: Vec::new(), store: store.clone() }
    }

    /// A name for a value, unless it is one.
    pub fn name(&mut self, name: &str, value: Expr) -> Expr {
        if value.is_atom() {
            return value;
        }
        let var = Var::fresh(name, value.ty().clone());
        let named = Expr::var(&var);
        self.steps.push(Step::Let(var, value));
        named
    }

    /// A value with these parts of the store behind it.
    pub fn with(&self, value: Expr, parts: &[usize]) -> Expr {
        if parts.is_empty() {
            return value;
        }
        Expr::tuple(std::iter::once(value).chain(parts.iter().filter_map(|part| self.store.get(part).cloned())).collect())
    }

    /// The value of a tuple, of which the parts behind it are taken.
    pub fn take(&mut self, nodes: &Nodes, both: Expr, parts: &[usize]) -> Expr {
        if parts.is_empty() {
            return both;
        }
        let both = self.name("both", both);
        for (k, part) in parts.iter().enumerate() {
            let value = self.name(&nodes.parts[*part].0, Expr::proj(both.clone(), k + 1));
            self.store.insert(*part, value);
        }
        Expr::proj(both, 0)
    }

    pub fn close(self, value: Expr) -> Expr {
        self.steps.into_iter().rev().fold(value, |body, step| match step {
            Step::Let(var, value) => Expr::let_(var, value, body),
            Step::Check(cond, status, span) => Expr::check(cond, status, body).at(span),
        })
    }
}
