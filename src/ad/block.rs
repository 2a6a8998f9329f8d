//! Straight-line code: bindings and checks in order, closed around a result.
//!
//! In: terms to be named. Out: the `let`s and `check`s of one scope, which [`Block::close`] wraps around the
//! scope's result. A branch or a loop body is a block of its own ([`Block::inner`]), so that nothing leaves
//! a branch that may not be taken.
//!
//!     bind "u" (x * x), bind "du" (dx * x + x * dx), close (u, du)
//!     →   let u = x * x in let du = dx * x + x * dx in (u, du)
//!
//! Tangents and views are bound before it is known whether anyone wants them: they are spare, and
//! [`prune`] drops those that nothing mentions.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Result;
use super::cost::is_cheap;
use crate::budget;
use crate::ir::free::mentions;
use crate::ir::last_use::component;
use crate::ir::subst::map_children;
use crate::ir::{Change, Expr, Name, Status, Term, Type, Var};
use crate::source::Span;

/// The variables whose bindings may be dropped where they are not mentioned.
pub type Spares = Rc<RefCell<HashSet<Var>>>;

/// One scope's bindings and checks.
#[derive(Clone)]
pub struct Block {
    items: Vec<Item>,
    /// Those of all values bound.
    nodes: usize,
    /// How many items belong to the forward pass.
    forward: usize,
    spares: Spares,
    /// In a branch, the arrays from outside that are a loop's state, changed or not.
    states: Vec<(Var, Vec<usize>)>,
    /// Arrays that a branch changed in place, and what they were before.
    changed: Vec<(Expr, Expr)>,
}

#[derive(Clone)]
enum Item {
    Let(Var, Expr),
    Check(Expr, Status, Span),
    /// From here on a name is written as another term.
    Same(Expr, Expr),
    /// As `Same`, where the array is needed as it was changed.
    Undo(Undo),
}

/// An array that was changed under another name, and what it is again when that is changed back.
#[derive(Clone)]
struct Undo {
    before: Expr,
    after: Expr,
    again: Var,
    value: Expr,
}

impl Block {
    pub fn new(spares: &Spares) -> Block {
        Block { items: Vec::new(), nodes: 0, forward: 0, spares: spares.clone(), states: Vec::new(), changed: Vec::new() }
    }

    /// An empty block for a scope inside.
    pub fn inner(&self) -> Block {
        Block::new(&self.spares)
    }

    /// An empty block for a branch, which takes these components of a loop's state from here.
    pub fn branch(&self, states: Vec<(Var, Vec<usize>)>) -> Block {
        Block { states, ..self.inner() }
    }

    /// Binds a variable that the source program has.
    pub fn let_(&mut self, var: &Var, value: Expr) {
        self.nodes = self.nodes.saturating_add(value.node_count());
        self.items.push(Item::Let(var.clone(), value));
    }

    /// Whether what is bound so far is within the budget.
    pub fn within_budget(&self, span: Span) -> Result<()> {
        budget::unfinished(self.nodes, span)
    }

    /// Binds a variable that may be dropped again.
    pub fn spare(&mut self, var: &Var, value: Expr) {
        self.may_drop(var);
        self.let_(var, value);
    }

    /// Allows to drop a variable's binding. An Index or Bool stays, because types may mention it.
    pub fn may_drop(&self, var: &Var) {
        if !matches!(var.ty(), Type::Index(_) | Type::Bool) {
            self.spares.borrow_mut().insert(var.clone());
        }
    }

    pub fn spares(&self) -> Spares {
        self.spares.clone()
    }

    /// Puts other bindings in the place of a variable's.
    pub fn replace(&mut self, var: &Var, by: Vec<(Var, Expr)>) {
        let Some(at) = self.items.iter().position(|item| matches!(item, Item::Let(own, _) if own == var)) else { return };
        by.iter().for_each(|(var, _)| self.may_drop(var));
        if at < self.forward {
            self.forward = self.forward + by.len() - 1;
        }
        self.items.splice(at..=at, by.into_iter().map(|(var, value)| Item::Let(var, value)));
    }

    /// What is bound so far belongs to the forward pass.
    pub fn begin_backward(&mut self) {
        self.forward = self.items.len();
    }

    /// The forward pass alone.
    pub fn forward(&self) -> Block {
        Block { items: self.items[..self.forward].to_vec(), ..self.clone() }
    }

    /// What a name stands for in the end.
    pub fn meaning(&self, name: &Expr) -> Expr {
        root(name, &self.names())
    }

    /// What the forward pass binds, in order.
    pub fn forward_bindings(&self) -> impl Iterator<Item = (&Var, &Expr)> {
        self.items[..self.forward].iter().filter_map(|item| match item {
            Item::Let(var, value) => Some((var, value)),
            Item::Check(..) | Item::Same(..) | Item::Undo(_) => None,
        })
    }

    /// Takes what is computed here for `value`, and for the components of a tuple, from `from` where that is work.
    pub fn take(&mut self, value: &Expr, from: &Expr) {
        if let Term::Tuple(parts) = value.term() {
            parts.iter().enumerate().for_each(|(k, part)| self.take(part, &Expr::proj(from.clone(), k)));
        } else if let Some(var) = self.work_of(value) {
            self.replace(&var, vec![(var.clone(), from.clone())]);
        }
    }

    /// The variable that a name stands for, where it is bound here to what is not cheap to compute.
    pub fn work_of(&self, name: &Expr) -> Option<Var> {
        let root = root(name, &self.names());
        let Term::Var(var) = root.term() else { return None };
        self.value_of(var).is_some_and(|value| !is_cheap(value)).then(|| var.clone())
    }

    /// The variable that is written into an array at last, where a name stands for an array with a replaced element and the
    /// variable is bound here too.
    pub fn written_last(&self, name: &Expr) -> Option<Var> {
        let names = self.names();
        let array = root(name, &names);
        let Term::Var(array) = array.term() else { return None };
        let Term::Update(Change::Replace, parts) = self.value_of(array)?.term() else { return None };
        let put = root(parts.last()?, &names);
        let Term::Var(var) = put.term() else { return None };
        self.value_of(var).map(|_| var.clone())
    }

    /// What a variable is bound to in this scope.
    fn value_of(&self, var: &Var) -> Option<&Expr> {
        self.items.iter().find_map(|item| match item {
            Item::Let(own, value) if own == var => Some(value),
            Item::Let(..) | Item::Check(..) | Item::Same(..) | Item::Undo(_) => None,
        })
    }

    pub fn check(&mut self, cond: Expr, status: Status, span: Span) {
        self.items.push(Item::Check(cond, status, span));
    }

    /// A check that comes before a variable's binding.
    pub fn check_before(&mut self, var: &Var, cond: Expr, status: Status, span: Span) {
        let at = self.items.iter().position(|item| matches!(item, Item::Let(own, _) if own == var)).unwrap_or(self.items.len());
        self.forward += usize::from(at < self.forward);
        self.items.insert(at, Item::Check(cond, status, span));
    }

    /// A term for `value` that is free to use any number of times.
    pub fn bind(&mut self, name: impl Into<Name>, value: Expr) -> Expr {
        if is_name(&value) {
            return value;
        }
        let var = Var::named(name.into(), value.ty().clone());
        let name = Expr::var(&var);
        self.spare(&var, value);
        name
    }

    /// From here on `name`, and what else is a name for the same, is written as `by`, which has the same value: an array that
    /// was changed in place and back again.
    pub fn same(&mut self, name: &Expr, by: Expr) {
        self.items.push(Item::Same(name.clone(), by));
    }

    /// `value`, which is `after` changed back, has the value that `before` has: where `after` is needed, it can take the array's
    /// place, and `value` takes it back from here on.
    pub fn undo(&mut self, before: &Expr, after: &Expr, value: Expr) {
        let again = Var::fresh("a", value.ty().clone());
        self.may_drop(&again);
        self.items.push(Item::Undo(Undo { before: before.clone(), after: after.clone(), again, value }));
    }

    /// Forgets how an array is changed back.
    pub fn forget_undo(&mut self, after: &Var) {
        self.items.retain(|item| !matches!(item, Item::Undo(undo) if component(&undo.after).is_some_and(|(var, _)| var == after)));
    }

    /// Whether an array may be one from outside this scope, changed or not.
    pub fn may_come_from_outside(&self, array: &Expr) -> bool {
        let names = self.names();
        let mut array = root(array, &names);
        loop {
            let Some((own, path)) = component(&array) else { return true };
            array = match self.value_of(own).map(Expr::term) {
                Some(Term::Update(_, parts)) if !parts.is_empty() => root(&parts[0], &names),
                Some(Term::Fold { init, .. }) => root(&Expr::component(init.clone(), &path), &names),
                Some(Term::Build { .. } | Term::Array(_)) => return false,
                Some(_) | None => return true,
            };
        }
    }

    /// Notes that an array is another one which a branch changed in place.
    pub fn changes(&mut self, after: &Expr, before: &Expr) {
        self.changed.push((after.clone(), before.clone()));
    }

    /// Whether an array is a component of a loop's state, changed or not.
    pub fn comes_from(&self, array: &Expr, acc: &Var) -> bool {
        component(&self.origin(array))
            .is_some_and(|name| name.0 == acc || self.states.iter().any(|(var, path)| (var, path) == (name.0, &name.1)))
    }

    /// What an array was before it was changed here.
    fn origin(&self, array: &Expr) -> Expr {
        let names = self.names();
        let mut array = root(array, &names);
        while let Some((own, path)) = component(&array) {
            let before = match self.value_of(own).map(Expr::term) {
                Some(Term::Update(_, parts)) if path.is_empty() => parts.first(),
                Some(Term::If(..)) => {
                    self.changed.iter().find(|(after, _)| component(after) == Some((own, path.clone()))).map(|(_, before)| before)
                }
                Some(_) | None => None,
            };
            let Some(before) = before else { break };
            array = root(before, &names);
        }
        array
    }

    /// Whether a name is written otherwise by now.
    pub fn is_renewed(&self, name: &Expr) -> bool {
        let names = self.names();
        let wanted = root(name, &names);
        let is_same = |other: &Expr| component(&root(other, &names)) == component(&wanted);
        self.items.iter().any(|item| matches!(item, Item::Same(other, _) if is_same(other)))
    }

    /// What arrays from outside this scope are called that were changed in it and back again.
    pub fn restored(&self) -> Vec<Expr> {
        let names = self.names();
        let is_own = |name: &Expr| component(name).is_none_or(|(var, _)| self.value_of(var).is_some());
        let mut found: Vec<Expr> = Vec::new();
        for item in &self.items {
            let Item::Same(name, _) = item else { continue };
            let name = root(name, &names);
            if !is_own(&name) && found.iter().all(|other| component(other) != component(&name)) {
                found.push(name);
            }
        }
        found
    }

    /// What arrays from outside this scope are called that code around this result needs as they are changed, and changes back.
    pub fn undone(&self, result: Expr) -> Vec<Expr> {
        if !self.items.iter().any(|item| matches!(item, Item::Undo(_))) {
            return Vec::new();
        }
        let plain = prune(&self.close_with(result, &|_| false), &self.spares);
        let undone = self.items.iter().filter_map(|item| match item {
            Item::Undo(undo) if undo.is_in(&plain) => Some(self.origin(&undo.before)),
            Item::Let(..) | Item::Check(..) | Item::Same(..) | Item::Undo(_) => None,
        });
        undone.collect()
    }

    /// The bindings that are names for something else.
    fn names(&self) -> HashMap<&Var, &Expr> {
        let items = self.items.iter().filter_map(|item| match item {
            Item::Let(var, value) => Some((var, value)),
            Item::Check(..) | Item::Same(..) | Item::Undo(_) => None,
        });
        items.filter(|(_, value)| is_name(value) || matches!(value.term(), Term::Tuple(_))).collect()
    }

    /// The whole: every binding and check around `result`.
    pub fn close(&self, result: Expr) -> Expr {
        if !self.items.iter().any(|item| matches!(item, Item::Undo(_))) {
            return self.close_with(result, &|_| false);
        }
        let plain = prune(&self.close_with(result.clone(), &|_| false), &self.spares);
        self.close_with(result, &|undo| undo.is_in(&plain))
    }

    fn close_with(&self, result: Expr, is_undone: &dyn Fn(&Undo) -> bool) -> Expr {
        let renames = self.items.iter().any(|item| matches!(item, Item::Same(..) | Item::Undo(_)));
        let names = if renames { self.names() } else { HashMap::new() };
        self.items.iter().rev().fold(result, |body, item| match item {
            Item::Let(var, value) => Expr::let_(var.clone(), value.clone(), body),
            Item::Check(cond, status, span) => Expr::check(cond.clone(), *status, body).at(*span),
            Item::Same(name, by) => renamed(&body, &root(name, &names), by, &names),
            Item::Undo(undo) if is_undone(undo) => {
                let body = renamed(&body, &root(&undo.before, &names), &Expr::var(&undo.again), &names);
                Expr::let_(undo.again.clone(), undo.value.clone(), body)
            }
            Item::Undo(_) => body,
        })
    }
}

impl Undo {
    /// Whether straight-line code uses the array as it was changed.
    fn is_in(&self, plain: &Expr) -> bool {
        component(&self.after).is_some_and(|(after, _)| is_used(plain, after))
    }
}

/// Whether straight-line code uses a variable that it binds.
fn is_used(code: &Expr, var: &Var) -> bool {
    match code.term() {
        Term::Let(own, _, body) if own == var => mentions(body, var),
        Term::Let(_, _, body) | Term::Check { body, .. } => is_used(body, var),
        _ => mentions(code, var),
    }
}

/// What a name stands for in the end.
fn root(name: &Expr, names: &HashMap<&Var, &Expr>) -> Expr {
    match name.term() {
        Term::Var(var) => match names.get(var) {
            Some(value) if is_name(value) => root(value, names),
            Some(_) | None => name.clone(),
        },
        Term::Proj(tuple, k) => {
            let tuple = root(tuple, names);
            match tuple.term() {
                Term::Var(var) => match names.get(var).map(|value| value.term()) {
                    Some(Term::Tuple(parts)) if parts.get(*k).is_some_and(is_name) => root(&parts[*k], names),
                    _ => Expr::proj(tuple, *k),
                },
                Term::Tuple(parts) if parts.get(*k).is_some_and(is_name) => root(&parts[*k], names),
                _ => Expr::proj(tuple, *k),
            }
        }
        _ => name.clone(),
    }
}

/// The term with another in the place of a variable, or of a component of one.
pub fn written_as(expr: &Expr, name: &Expr, by: &Expr) -> Expr {
    renamed(expr, name, by, &HashMap::new())
}

/// The term with `by` in the place of all names that stand for `wanted`.
fn renamed(expr: &Expr, wanted: &Expr, by: &Expr, names: &HashMap<&Var, &Expr>) -> Expr {
    match component(expr) {
        Some(_) if component(&root(expr, names)) == component(wanted) => by.clone(),
        Some(_) => expr.clone(),
        None => map_children(expr, &mut |child| renamed(child, wanted, by, names)),
    }
}

/// A variable, a literal, or a component of one.
pub fn is_name(expr: &Expr) -> bool {
    if let Term::Proj(tuple, _) = expr.term() { is_name(tuple) } else { expr.is_atom() }
}

/// Drops the bindings of spare variables that nothing mentions.
pub fn prune(expr: &Expr, spares: &Spares) -> Expr {
    fn go(expr: &Expr, spares: &HashSet<Var>, used: &mut HashSet<Var>) -> Expr {
        match expr.term() {
            Term::Var(var) => {
                used.insert(var.clone());
                expr.clone()
            }
            // the body first: then it is known whether the value is wanted
            Term::Let(var, value, body) => {
                let new_body = go(body, spares, used);
                if spares.contains(var) && !used.contains(var) {
                    return new_body;
                }
                let new_value = go(value, spares, used);
                if new_body.is_same(body) && new_value.is_same(value) {
                    return expr.clone();
                }
                Expr::let_(var.clone(), new_value, new_body).at(expr.span())
            }
            _ => map_children(expr, &mut |child| go(child, spares, used)),
        }
    }
    go(expr, &spares.borrow(), &mut HashSet::new())
}

/// The number of nodes up to which Index arithmetic is repeated rather than named.
const SMALL: usize = 12;

/// An Index term to use more than once: small arithmetic stays in sight, so that what is known of it does too.
pub fn shared(name: impl Into<Name>, index: Expr, out: &mut Block) -> Expr {
    fn is_arithmetic(expr: &Expr) -> bool {
        match expr.term() {
            Term::Prim(_, args) => args.iter().all(is_arithmetic),
            Term::Dim(array, _) => is_name(array),
            _ => is_name(expr),
        }
    }
    if is_arithmetic(&index) && index.node_count() <= SMALL { index } else { out.bind(name, index) }
}
