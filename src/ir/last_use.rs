//! Liveness: last uses of variables, and the variables that are live after an update.
//!
//! In: a term whose free variables are its own to use up (a function's body). Out: [`LastUses`]: the occurrences after
//! which nothing reads the variable, component by component, and for each `update` and `ifold` the variables with
//! arrays that are live behind it.
//!
//!     let b = update a 0 x in let c = update b 1 y in b[0] + c[0]
//!     →   a is used for the last time in its update: one write; b is not: c is a copy
//!
//! Evaluation order is that of docs/language.md, Meaning; what an update puts into an array is computed before the
//! write. An array that is an operand is held while the operands after it are evaluated. A variable from outside of a
//! loop is live as long as the loop runs; an accumulator dies in its step. At a last use the interpreter moves the value, and
//! lowering writes in place.

use std::collections::{HashMap, HashSet};

use super::free::mentions;
use super::term::{Expr, Term, Type, Updated, Var};

/// What is known of one [`distinct`](super::distinct::distinct) term. Nodes are told apart by their addresses: the term outlives this.
#[derive(Debug, Default)]
pub struct LastUses {
    last: HashSet<usize>,
    live: HashMap<usize, Vec<(Var, Vec<usize>)>>,
    /// Names that are used after a write to what another one was: the first of each pair.
    outlive: HashSet<(Var, Var)>,
    /// Steps that were added, which have to outlive this too.
    steps: Vec<Expr>,
}

impl LastUses {
    /// Nothing is known of a term without updates: there nothing asks.
    pub fn of(body: &Expr) -> LastUses {
        let mut found = LastUses::default();
        if body.has_updates() {
            found.visit(body, &mut Live::default());
        }
        found
    }

    /// What is known of the step of a loop that is written anew, a [`distinct`](super::distinct::distinct) term.
    pub fn add_step(&mut self, of: &Expr, step: &Expr) {
        if step.has_updates() {
            let mut live = Live::default();
            self.live_after(of).iter().for_each(|(var, path)| live.add(var, path.clone()));
            self.visit(step, &mut live);
            self.steps.push(step.clone());
        }
    }

    /// Whether nothing reads the variable, or the component of it, after this occurrence.
    pub fn is_last(&self, occurrence: &Expr) -> bool {
        self.last.contains(&occurrence.address())
    }

    /// The variables with arrays, and components of such, that are read after the write of an `update`, or during and after
    /// an `ifold`.
    pub fn live_after(&self, expr: &Expr) -> &[(Var, Vec<usize>)] {
        self.live.get(&expr.address()).map_or(&[], Vec::as_slice)
    }

    /// Whether a name for a part of a variable's array is used after that array was changed in place: its part is copied then,
    /// so that the whole is not.
    pub fn outlives(&self, name: &Var, value: &Expr) -> bool {
        let mut array = value;
        while let Term::Get(inner, _) = array.term() {
            array = inner;
        }
        component(array).is_some_and(|(var, _)| self.outlive.contains(&(name.clone(), var.clone())))
    }

    /// An occurrence that is written to, or not again used at the least.
    fn take(&mut self, occurrence: &Expr, live: &Live) {
        let Some((var, path)) = component(occurrence) else { return };
        if !live.has(var, &path) {
            self.last.insert(occurrence.address());
            self.outlive.extend(live.arrays().into_iter().map(|(name, _)| (name, var.clone())));
        }
    }

    /// Goes through the term backwards: `live` is what is used after it, then what is used from it on.
    fn visit(&mut self, expr: &Expr, live: &mut Live) {
        if let Some((var, path)) = component(expr) {
            if !live.has(var, &path) {
                self.last.insert(expr.address());
            }
            return live.add(var, path);
        }
        match expr.term() {
            Term::Let(var, value, body) => {
                self.visit(body, live);
                live.remove(var);
                self.visit(value, live);
            }
            Term::If(cond, then, otherwise) => {
                let mut other = live.clone();
                self.visit(then, live);
                self.visit(otherwise, &mut other);
                live.join(other);
                self.visit(cond, live);
            }
            Term::Build { n, body, .. } => {
                self.visit_loop(expr, body, live);
                self.visit(n, live);
            }
            Term::Fold { n, body, init, .. } => {
                self.visit_loop(expr, body, live);
                self.live.insert(expr.address(), live.arrays());
                if n.has_updates() {
                    return self.visit_in_turn(&[init, n], live);
                }
                self.visit(n, live);
                if body.has_updates() {
                    self.take(init, live);
                }
                self.visit(init, live);
            }
            Term::While { body, init, .. } => {
                self.visit_loop(expr, body, live);
                self.live.insert(expr.address(), live.arrays());
                if body.has_updates() {
                    self.take(init, live);
                }
                self.visit(init, live);
            }
            Term::Dual { at, tangent, body, .. } | Term::Vjp { at, cotangent: tangent, body, .. } => {
                self.visit_loop(expr, body, live);
                self.visit_in_turn(&[at, tangent], live);
            }
            Term::Update(_, parts) => {
                self.live.insert(expr.address(), live.arrays());
                let Some(Updated { array, indices, value }) = Updated::of(parts) else { return };
                // its own occurrence is the last, although the value is computed after it: that does not write
                let operand = component(array);
                self.take(array, live);
                if let Some((var, path)) = &operand {
                    live.add(var, path.clone());
                }
                self.visit(value, live);
                indices.iter().rev().for_each(|index| self.visit(index, live));
                if operand.is_none() {
                    self.visit(array, live);
                }
            }
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Prim(..) | Term::Dim(..) => {
                expr.term().children().rev().for_each(|child| self.visit(child, live));
            }
            Term::Proj(..) | Term::Check { .. } => expr.term().children().rev().for_each(|child| self.visit(child, live)),
            // the array is read after the index is known
            Term::Get(array, index) if component(array).is_some_and(|(var, _)| mentions(index, var)) => {
                let mut during = live.clone();
                held(array).into_iter().for_each(|(var, path)| during.add(&var, path));
                self.visit(index, &mut during);
                uses(index, live);
                self.visit(array, live);
            }
            Term::Get(..) | Term::Tuple(_) | Term::Array(_) | Term::Call(..) | Term::Iso(..) => {
                self.visit_in_turn(&expr.term().children().collect::<Vec<_>>(), live);
            }
        }
    }

    /// Operands from first to last: while one is evaluated, the arrays that those before it gave are held.
    fn visit_in_turn(&mut self, operands: &[&Expr], live: &mut Live) {
        for (k, operand) in operands.iter().enumerate().rev() {
            if !operand.has_updates() {
                self.visit(operand, live);
                continue;
            }
            let mut during = live.clone();
            for before in &operands[..k] {
                held(before).into_iter().for_each(|(var, path)| during.add(&var, path));
            }
            self.visit(operand, &mut during);
            uses(operand, live);
        }
    }

    /// A body that runs any number of times: what it has from outside is used in it and after it.
    fn visit_loop(&mut self, expr: &Expr, body: &Expr, live: &mut Live) {
        let mut inside = Live::default();
        uses(body, &mut inside);
        expr.term().binders().for_each(|var| inside.remove(var));
        live.join(inside);
        if body.has_updates() {
            self.visit(body, &mut live.clone());
        }
    }
}

/// The variables that are used later, with the components that are.
#[derive(Clone, Default)]
pub(super) struct Live(HashMap<Var, Vec<Vec<usize>>>);

impl Live {
    pub fn has(&self, var: &Var, path: &[usize]) -> bool {
        self.0.get(var).is_some_and(|used| used.iter().any(|other| other.starts_with(path) || path.starts_with(other)))
    }

    pub fn add(&mut self, var: &Var, path: Vec<usize>) {
        let used = self.0.entry(var.clone()).or_default();
        if !used.iter().any(|other| path.starts_with(other)) {
            used.push(path);
        }
    }

    pub fn remove(&mut self, var: &Var) {
        self.0.remove(var);
    }

    fn join(&mut self, other: Live) {
        for (var, paths) in other.0 {
            paths.into_iter().for_each(|path| self.add(&var, path));
        }
    }

    pub fn arrays(&self) -> Vec<(Var, Vec<usize>)> {
        let all = self.0.iter().flat_map(|(var, paths)| paths.iter().map(move |path| (var, path)));
        let arrays = all.filter(|(var, path)| part(var.ty(), path).is_none_or(Type::has_array));
        let mut found: Vec<_> = arrays.map(|(var, path)| (var.clone(), path.clone())).collect();
        found.sort();
        found
    }
}

/// The type of a component.
fn part<'a>(ty: &'a Type, path: &[usize]) -> Option<&'a Type> {
    match (path.split_first(), ty) {
        (None, _) => Some(ty),
        (Some((k, rest)), Type::Tuple(parts)) => part(parts.get(*k)?, rest),
        (Some(_), _) => None,
    }
}

/// Every occurrence in a term of a variable that it does not bind.
pub(super) fn uses(expr: &Expr, live: &mut Live) {
    match component(expr) {
        Some((var, path)) => live.add(var, path),
        None => {
            expr.term().each_child(&mut |child| uses(child, live));
            expr.term().binders().for_each(|var| live.remove(var));
        }
    }
}

/// The variables, and components of such, in whose memory the value of a term may lie.
pub(super) fn held(expr: &Expr) -> Vec<(Var, Vec<usize>)> {
    if !expr.ty().has_array() {
        return Vec::new();
    }
    if let Some((var, path)) = component(expr) {
        return vec![(var.clone(), path)];
    }
    match expr.term() {
        Term::Let(var, value, body) => {
            let mut found = held(body);
            let before = found.len();
            found.retain(|(other, _)| other != var);
            if found.len() < before {
                found.extend(held(value));
            }
            found
        }
        Term::If(_, a, b) => [held(a), held(b)].concat(),
        Term::Get(array, _) | Term::Proj(array, _) => held(array),
        Term::Tuple(parts) => parts.iter().flat_map(held).collect(),
        Term::Check { body, .. } => held(body),
        Term::Update(_, parts) => parts.first().map(held).unwrap_or_default(),
        Term::Fold { acc, body, init, .. } | Term::While { state: acc, body, init } => {
            let mut found = held(body);
            found.retain(|(var, _)| var != acc);
            found.extend(held(init));
            found
        }
        // what these give is new
        // what is unrolled is still the rolled value's
        Term::Iso(_, operands) => operands.iter().flat_map(held).collect(),
        Term::Build { .. } | Term::Array(_) | Term::Call(..) | Term::Dual { .. } | Term::Vjp { .. } => Vec::new(),
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Prim(..) | Term::Dim(..) => Vec::new(),
    }
}

/// The variables with arrays, and components of such, that a term has from outside.
pub fn components_with_arrays(expr: &Expr) -> Vec<(Var, Vec<usize>)> {
    let mut live = Live::default();
    uses(expr, &mut live);
    live.arrays()
}

/// A variable, or a component of one.
pub fn component(expr: &Expr) -> Option<(&Var, Vec<usize>)> {
    match expr.term() {
        Term::Var(var) => Some((var, Vec::new())),
        Term::Proj(tuple, k) => {
            let (var, mut path) = component(tuple)?;
            path.push(*k);
            Some((var, path))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::term::Change;
    use crate::ir::{Prim, Size, Type};

    fn vector(name: &str) -> Var {
        Var::fresh(name, Type::array(Type::Double, Size::constant(3)))
    }

    fn put(array: Expr, at: i64) -> Expr {
        Expr::update(Change::Replace, array, vec![Expr::index(at)], Expr::double(1.0))
    }

    fn operand(update: &Expr) -> Expr {
        let Term::Update(_, parts) = update.term() else { panic!("no update") };
        parts[0].clone()
    }

    #[test]
    fn what_is_read_after_the_update_is_live() {
        let (a, b) = (vector("a"), vector("b"));
        let first = put(Expr::var(&a), 0);
        let second = put(Expr::var(&b), 1);
        let c = vector("c");
        let read = |var: &Var| Expr::get(Expr::var(var), Expr::index(0));
        let body = Expr::let_(c.clone(), second.clone(), Expr::prim(Prim::Add, vec![read(&b), read(&c)]));
        let found = LastUses::of(&Expr::let_(b.clone(), first.clone(), body));
        assert!(found.is_last(&operand(&first)));
        assert!(!found.is_last(&operand(&second)));
        assert_eq!(found.live_after(&second), [(b, Vec::new())]);
    }

    #[test]
    fn an_accumulator_is_dead_after_its_step_and_an_array_from_outside_is_not() {
        let (a, acc, i) = (vector("a"), vector("acc"), Var::fresh("i", Type::INDEX));
        let own = put(Expr::var(&acc), 0);
        let fold = |body: Expr| Expr::fold_with(Expr::index(3), acc.clone(), i.clone(), body, Expr::var(&a));
        assert!(LastUses::of(&fold(own.clone())).is_last(&operand(&own)));
        let outside = put(Expr::var(&a), 0);
        assert!(!LastUses::of(&fold(outside.clone())).is_last(&operand(&outside)));
    }

    #[test]
    fn an_operand_that_is_an_array_is_held_while_those_after_it_are_evaluated() {
        let (a, b) = (vector("a"), vector("b"));
        let update = put(Expr::var(&a), 0);
        let is_last = |first: Expr| LastUses::of(&Expr::tuple(vec![first, update.clone()])).is_last(&operand(&update));
        assert!(!is_last(Expr::var(&a)));
        assert!(!is_last(Expr::let_(b.clone(), Expr::var(&a), Expr::tuple(vec![Expr::var(&b)]))));
        assert!(is_last(Expr::get(Expr::var(&a), Expr::index(0))));
        assert!(is_last(Expr::var(&b)));
    }

    #[test]
    fn components_are_told_apart() {
        let pair = Var::fresh("p", Type::tuple(vec![vector("a").ty().clone(), vector("b").ty().clone()]));
        let part = |k| Expr::proj(Expr::var(&pair), k);
        let update = put(part(0), 0);
        assert!(LastUses::of(&Expr::tuple(vec![update.clone(), part(1)])).is_last(&operand(&update)));
        assert!(!LastUses::of(&Expr::tuple(vec![update.clone(), part(0)])).is_last(&operand(&update)));
    }

    #[test]
    fn a_row_that_is_used_after_its_matrix_changes_outlives_it() {
        let row = vector("row");
        let m = Var::fresh("m", Type::array(row.ty().clone(), Size::constant(3)));
        let first = || Expr::get(Expr::var(&m), Expr::index(0));
        let change = Expr::update(Change::Replace, Expr::var(&m), vec![Expr::index(1)], first());
        let used = |after: Expr| Expr::let_(row.clone(), first(), Expr::tuple(vec![change.clone(), after]));
        let outlives = |term: Expr| LastUses::of(&term).outlives(&row, &first());
        assert!(outlives(used(Expr::var(&row))));
        assert!(!outlives(used(Expr::double(0.0))));
    }

    #[test]
    fn an_element_of_a_row_is_changed_where_it_is() {
        let m = Var::fresh("m", Type::array(vector("row").ty().clone(), Size::constant(3)));
        let row = |at| Expr::get(Expr::var(&m), Expr::index(at));
        let nested = |at| Expr::update(Change::Replace, Expr::var(&m), vec![Expr::index(1)], put(row(at), 2));
        let indices = |update: Expr| match update.term() {
            Term::Update(_, parts) => parts.len() - 2,
            _ => 0,
        };
        assert_eq!((indices(nested(1)), indices(nested(0))), (2, 1));
    }
}
