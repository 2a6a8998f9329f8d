//! Indices that a fold selects: of steps that keep a component of the state, or put an index there, what is left lies between the
//! first index and the indices of the steps.
//!
//! In: a name for a component of a fold's value, and the fold. Out: bounds of the component, where they can be said without the
//! steps' own variables.
//!
//!     at = ifold (fun at i -> if c then at else i) (-1) n          -1 ≤ at ≤ n - 1
//!     p = ifold (fun p r -> if c then j + 1 + r else p) j (n-j-1)   j ≤ p ≤ n - 1, where j < n

use super::Facts;
use crate::ir::free::any_free_var;
use crate::ir::last_use::component;
use crate::ir::term::{Expr, Size, Term, Type, Var};

impl Facts {
    /// Takes note of the components of `name`, a fold's value, that are Indices.
    pub(super) fn define_selected(&mut self, name: &Expr, value: &Expr) {
        let (fold, path) = part_of(value);
        let Term::Fold { n, acc, i, body, init } = fold.term() else { return };
        each_index(name.ty(), &mut Vec::new(), &mut |inner| {
            let path = [&path[..], inner].concat();
            if !is_kept_or_chosen(body, (acc, &path), &path, &mut vec![acc.clone()]) {
                return;
            }
            let mut steps = Steps { acc, path: &path, own: vec![acc.clone()], found: Vec::new() };
            let mut inside = self.clone();
            inside.enter_loop(i, n);
            let Some(first) = at_path(init, &path) else { return };
            if !steps.leaves(body, &path, &mut inside) {
                return;
            }
            let (first, n) = (self.size_of(&first), self.size_of(n));
            let last = n.sub(&Size::constant(1));
            let Some(ends) = steps.found.iter().map(|size| ends(size, i, &last)).collect::<Option<Vec<_>>>() else { return };
            let name = self.size_of(&Expr::component(name.clone(), inner));
            let lows = || ends.iter().map(|(low, _)| low).chain([&first]);
            let highs = || ends.iter().map(|(_, high)| high).chain([&first]);
            let least = lows().find(|low| lows().all(|other| self.at_most(low, other))).cloned();
            let most = highs().find(|high| highs().all(|other| self.at_most(other, high))).cloned();
            least.into_iter().for_each(|least| self.assume_at_most(&least, &name));
            most.into_iter().for_each(|most| self.assume_at_most(&name, &most));
        });
    }
}

/// Whether a step keeps that component of the state, or puts something there that is said without the state: what most steps do not do is
/// seen before what holds in them is worked out. `others` are the variables that are of the state.
fn is_kept_or_chosen(step: &Expr, kept: (&Var, &[usize]), path: &[usize], others: &mut Vec<Var>) -> bool {
    if component(step).is_some_and(|(var, at)| var == kept.0 && [&at[..], path].concat() == kept.1) {
        return true;
    }
    let mut inside = |step: &Expr, path: &[usize]| is_kept_or_chosen(step, kept, path, others);
    match (step.term(), path.split_first()) {
        (Term::Let(var, value, body), _) => {
            if !matches!(var.ty(), Type::Index(_)) || any_free_var(value, &mut |var| others.contains(var)) {
                others.push(var.clone());
            }
            is_kept_or_chosen(body, kept, path, others)
        }
        (Term::If(_, then, otherwise), _) => inside(then, path) && inside(otherwise, path),
        (Term::Tuple(parts), Some((k, rest))) => parts.get(*k).is_some_and(|part| inside(part, rest)),
        (_, None) => !any_free_var(step, &mut |var| others.contains(var)),
        (_, Some(_)) => false,
    }
}

/// What the steps of a fold put into a component of its state.
struct Steps<'a> {
    acc: &'a Var,
    path: &'a [usize],
    /// What a step declares.
    own: Vec<Var>,
    found: Vec<Size>,
}

impl Steps<'_> {
    /// Notes what a step may put there, over the step's index and what is from outside; `false` where that is not known.
    fn leaves(&mut self, step: &Expr, path: &[usize], inside: &mut Facts) -> bool {
        if component(step).is_some_and(|(var, at)| var == self.acc && [&at[..], path].concat() == self.path) {
            return true;
        }
        match (step.term(), path.split_first()) {
            (Term::Let(var, value, body), _) => {
                inside.define(var, value);
                self.own.push(var.clone());
                self.leaves(body, path, inside)
            }
            (Term::If(_, then, otherwise), _) => self.leaves(then, path, inside) && self.leaves(otherwise, path, inside),
            (Term::Tuple(parts), Some((k, rest))) => parts.get(*k).is_some_and(|part| self.leaves(part, rest, inside)),
            (_, None) => {
                let size = inside.reduce(&inside.size_of(step));
                let is_known = inside.is_exact(&size) && !size.has_unknown() && !self.own.iter().any(|var| size.mentions(var));
                self.found.push(size);
                is_known
            }
            (_, Some(_)) => false,
        }
    }
}

/// The least and the largest of a size over `i` below `last + 1`, where it changes by the same number from each to the next.
fn ends(size: &Size, i: &Var, last: &Size) -> Option<(Size, Size)> {
    let at = |value: &Size| size.replace(i, value);
    let (first, second) = (at(&Size::constant(0)), at(&Size::constant(1)));
    let is_rising = second.sub(&first).as_constant()? >= 0;
    let is_even = at(last).sub(&first) == last.mul(&second.sub(&first));
    is_even.then(|| if is_rising { (first, at(last)) } else { (at(last), first) })
}

/// A fold, and which component of it an expression is.
fn part_of(expr: &Expr) -> (&Expr, Vec<usize>) {
    let Term::Proj(tuple, k) = expr.term() else { return (expr, Vec::new()) };
    let (fold, mut path) = part_of(tuple);
    path.push(*k);
    (fold, path)
}

/// A component of a value: of a tuple that is written out, the part itself.
fn at_path(value: &Expr, path: &[usize]) -> Option<Expr> {
    match (value.term(), path.split_first()) {
        (_, None) => Some(value.clone()),
        (Term::Tuple(parts), Some((k, rest))) => at_path(parts.get(*k)?, rest),
        (_, Some(_)) => component(value).map(|_| Expr::component(value.clone(), path)),
    }
}

/// Calls `f` with the path of each Index in a value of this type.
fn each_index(ty: &Type, path: &mut Vec<usize>, f: &mut dyn FnMut(&[usize])) {
    match ty {
        Type::Index(_) => f(path),
        Type::Tuple(parts) => {
            for (k, part) in parts.iter().enumerate() {
                path.push(k);
                each_index(part, path, f);
                path.pop();
            }
        }
        Type::Double | Type::Bool | Type::Array(..) | Type::Rec(_) => {}
    }
}
