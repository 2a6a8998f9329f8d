//! Derivatives of functions, one for each function and activity pattern.
//!
//! In: functions without `dual` terms. Out: for a call with active arguments, the function that computes the
//! result and its tangents together. Its parameters are the function's own, then the tangents of the active
//! ones; its result is the flat tuple of primals, then tangents. A pattern is derived once, so that the
//! derivative of a program is linear in its size.
//!
//!     f (x: Double) (n: Index) = …      x active     f_d (x: Double) (n: Index) (dx: Double) : Double * Double
//!
//! `f_d` has all of f's differentiable parameters active; otherwise the active ones follow the name.
//! [`Rules`] asks for the derivative of a callee while the caller's is made, so it and this call each other.

use std::collections::HashMap;
use std::rc::Rc;

use super::activity::{Activities, Activity};
use super::block::{Block, prune};
use super::functions::Functions;
use super::pairs::leaf_types;
use super::rules::Rules;
use super::value::Value;
use super::{Result, internal};
use crate::budget;
use crate::ir::{Expr, Function, Type, Var};
use crate::source::Span;

impl Functions {
    /// The function that computes `name` and its tangents for this pattern.
    pub fn derived(&mut self, name: &Rc<str>, pattern: &[Activity], span: Span) -> Result<Rc<Function>> {
        self.result_activity(name, pattern)?;
        let key = (name.clone(), pattern.to_vec());
        let missing = || internal(span, "a function without an activity pattern");
        let entry = self.patterns.get_mut(&key).ok_or_else(missing)?;
        if let Some(derived) = &entry.derived {
            return Ok(derived.clone());
        }
        let (function, result) = (entry.function.clone(), entry.result.clone());
        let activities = std::mem::take(&mut entry.activities);
        let derived = Rc::new(self.derive(&function, pattern, activities, &result)?);
        self.add((*derived).clone())?;
        self.patterns.get_mut(&key).ok_or_else(missing)?.derived = Some(derived.clone());
        Ok(derived)
    }

    fn derive(&mut self, function: &Function, pattern: &[Activity], activities: Activities, result: &Activity) -> Result<Function> {
        let mut out = Block::new(&self.spares);
        let mut values = HashMap::new();
        let mut tangents = Vec::new();
        for (param, active) in function.params.iter().zip(pattern).filter(|(_, active)| !active.is_none()) {
            let mut types = (Vec::new(), Vec::new());
            leaf_types(param.ty(), active, &mut types.0, &mut types.1);
            let new: Vec<Var> = types.1.into_iter().map(|ty| Var::fresh(&format!("d{}", param.name()), ty)).collect();
            let mut primals = Vec::new();
            components(&Expr::var(param), &mut primals);
            let value = Value::of_leaves(param.ty(), active, &mut primals.into_iter(), &mut new.iter().map(Expr::var));
            values.insert(param.clone(), value.ok_or_else(|| internal(function.span, "too few tangents"))?);
            tangents.extend(new);
        }
        let name = self.name(function, pattern);
        let spares = self.spares.clone();
        let body = Rules::new(self, activities, values).leaves(&function.body, result, &mut out)?;
        let body = prune(&out.close(body), &spares).at(function.span.of_derivative());
        let mut types = (Vec::new(), Vec::new());
        leaf_types(&function.result, result, &mut types.0, &mut types.1);
        let result = Type::tuple([types.0, types.1].concat());
        if result.has_more_components(budget::COMPONENTS) {
            return Err(budget::too_many_derivatives(function.span));
        }
        let params = function.params.iter().cloned().chain(tangents).collect();
        Ok(Function { name, doc: None, params, result, body, is_entry: false, ..function.clone() })
    }

    /// `f_d`, followed by the active parameters where not all are, and by a number where that is taken.
    fn name(&mut self, function: &Function, pattern: &[Activity]) -> Rc<str> {
        let params = || function.params.iter().zip(pattern);
        let mut name = format!("{}_d", function.name);
        if params().any(|(param, active)| *active != Activity::full(param.ty())) {
            for (param, _) in params().filter(|(_, active)| !active.is_none()) {
                name = format!("{name}_{}", param.name());
            }
        }
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered).map(Rc::from);
        let free: Rc<str> = candidates.find(|name| !self.names.contains(name)).unwrap_or_else(|| name.into());
        self.names.insert(free.clone());
        free
    }
}

/// The leaves of a term by projections.
fn components(expr: &Expr, leaves: &mut Vec<Expr>) {
    match expr.ty() {
        Type::Tuple(parts) => (0..parts.len()).for_each(|k| components(&Expr::proj(expr.clone(), k), leaves)),
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => leaves.push(expr.clone()),
    }
}
