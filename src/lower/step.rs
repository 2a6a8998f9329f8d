//! One step of a fold whose state is in memory: new values are written where the next step finds them.
//!
//! In: the body of a step, and where the components of the state are. Out: statements: each tail of the body writes its arrays into
//! free buffers, then assigns scalars, then pointers change places as `moves` has planned. An array whose elements each read the old
//! element of their own index alone needs no free buffer: it is written element by element over the old one.
//!
//!     (a, s). (build n (fun i -> a[i] + s), 2.0 * s)   →   for i < n: b[i] = a[i] + s;  s = 2.0 * s;  a and b change places

use crate::ir::last_use::component;
use crate::ir::{Expr, Term, Type, Var};
use crate::source::Span;

use super::context::{Lowerer, Result, mismatch};
use super::moves::{Component, Holder, Plan, Source, nest, parts, path_of, reads, rotations, source_of};
use super::update::part_of;
use super::view::{ArrayView, Dest, Target, View, elem};
use crate::loops::program::*;
use crate::plan::columns::ColumnFold;

impl Lowerer<'_> {
    /// One step: the tails of the body write new values, then scalars are assigned and pointers rotated.
    pub fn step(&mut self, body: &Expr, acc: &Var, components: &[Component], plan: &Plan) -> Result<()> {
        match body.term() {
            Term::Let(var, value, rest) => {
                match next_place(rest, var, acc, components) {
                    Some(place) if !self.is_view(value) && !value.has_updates() => {
                        let place = Dest::Array(place.clone());
                        self.write_alone(value, &place)?;
                        self.env.insert(var.clone(), self.view_of(&place));
                    }
                    Some(_) => self.bind(var, value)?,
                    None => match next_part(rest, var, value, acc, components) {
                        Some((k, place)) if !self.last_uses.outlives(var, value) => {
                            let state = self.state_places_around(value, k, &Dest::Array(place.clone()))?;
                            let (block, ()) = self.nested(|this| this.write(value, &state))?;
                            self.place(block);
                            self.env.insert(var.clone(), self.view_of(&state));
                        }
                        Some(_) | None => self.bind(var, value)?,
                    },
                }
                self.step(rest, acc, components, plan)
            }
            Term::Check { cond, status, body } => {
                self.check(cond, *status)?;
                self.step(body, acc, components, plan)
            }
            Term::If(cond, a, b) => {
                let choice = self.scalar(cond)?;
                let (then, ()) = self.branch(cond, true, |this| this.step(a, acc, components, plan))?;
                let (otherwise, ()) = self.branch(cond, false, |this| this.step(b, acc, components, plan))?;
                self.either(choice, then, otherwise);
                Ok(())
            }
            _ => self.tail(body, acc, components, plan),
        }
    }

    fn tail(&mut self, body: &Expr, acc: &Var, components: &[Component], plan: &Plan) -> Result<()> {
        let parts = parts(body, acc, components);
        let mut scalars: Vec<(Id, Value)> = Vec::new();
        let mut moved: Vec<usize> = Vec::new();
        // later components may still read the old value
        let mut copies: Vec<(View, Dest, Span)> = Vec::new();
        match parts {
            // a tuple computed elsewhere: every component is new, except those updated in place; these are written last, as
            // others may read them
            None if components.iter().any(|component| matches!(component.place, Holder::Array { free: None, .. })) => {
                let view = self.value(body, &"next".into())?;
                for (k, component) in components.iter().enumerate() {
                    let part = component.path.iter().try_fold(&view, part_of).cloned().ok_or_else(|| mismatch(body.span()))?;
                    match (&component.place, part) {
                        (Holder::Scalar(id), View::Scalar(value)) => scalars.push((*id, self.atomic(value, "next"))),
                        (Holder::Array { free: Some(free), .. }, part) => {
                            self.copy(&part, &Dest::Array(free.clone()), body.span())?;
                            moved.push(k);
                        }
                        (Holder::Array { free: None, now, .. }, part) => copies.push((part, Dest::Array(now.clone()), body.span())),
                        (Holder::Scalar(_), View::Tuple(_) | View::Array(_)) => return Err(mismatch(body.span())),
                    }
                }
            }
            None => {
                let dest = self.next_places(components);
                self.write_alone(body, &nest(body.ty(), &mut dest.iter().cloned()))?;
                for (component, place) in components.iter().zip(&dest) {
                    if let (Holder::Scalar(id), View::Scalar(value)) = (&component.place, self.view_of(place)) {
                        scalars.push((*id, value));
                    }
                }
                moved.extend(0..components.len());
            }
            Some(parts) => {
                for (k, (component, part)) in components.iter().zip(&parts).enumerate() {
                    match &component.place {
                        Holder::Scalar(id) => match self.value(part, &"next".into())? {
                            View::Scalar(value) if body.has_updates() => {
                                let value = self.atomic(value, "next");
                                scalars.push((*id, value));
                            }
                            View::Scalar(value) => scalars.push((*id, value)),
                            View::Tuple(_) | View::Array(_) => return Err(mismatch(part.span())),
                        },
                        Holder::Array { free: Some(free), .. } => {
                            let source = source_of(part, acc, components);
                            if source != Source::Old(k) {
                                let free = free.clone();
                                if !self.lies_in(part, &free) {
                                    self.write_alone(part, &Dest::Array(free))?;
                                }
                                moved.push(k);
                            }
                        }
                        // each element is computed from itself alone
                        Holder::Array { free: None, now, .. } if matches!(part.term(), Term::Build { .. } | Term::Array(_)) => {
                            let (block, ()) = self.nested(|this| this.change_elements(part, &Dest::Array(now.clone())))?;
                            self.place(block);
                        }
                        // usually updated in place; copied where an alias prevented that
                        Holder::Array { free: None, now, .. } if path_of(part, acc).is_none() => {
                            let now = Dest::Array(now.clone());
                            let view = self.value(part, &"next".into())?;
                            copies.push((view, now, part.span()));
                        }
                        Holder::Array { free: None, .. } => {}
                    }
                }
            }
        }
        // scalars first: they may read arrays that the following copies overwrite
        self.assign_all(scalars);
        copies.into_iter().try_for_each(|(view, now, span)| self.copy(&view, &now, span))?;
        if let Plan::ByBranch = plan {
            for k in moved {
                if let Holder::Array { free: Some(_), .. } = &components[k].place {
                    rotations(components, &[k], true).into_iter().for_each(|ids| self.emit(Stmt::Rotate(ids)));
                }
            }
        }
        Ok(())
    }

    /// Writes an array over the old one, of which each element reads that of its own index: an element is complete before it is stored,
    /// so that no sum is accumulated there.
    fn change_elements(&mut self, expr: &Expr, dest: &Dest) -> Result<()> {
        match (expr.term(), dest) {
            (Term::Build { n, i, body }, Dest::Array(array)) => {
                let count = self.count(n, Some(&array.length()))?;
                self.enter_apart(i, n, &count, Some(array.length()), |this, index| {
                    let place = this.element_dest(array, index, expr.span())?;
                    this.change_elements(body, &place)
                })
            }
            (Term::Array(items), Dest::Array(array)) => items.iter().zip(0..).try_for_each(|(item, at)| {
                let place = self.element_dest(array, &Value::Index(at), expr.span())?;
                self.change_elements(item, &place)
            }),
            (Term::Let(var, value, body), _) => {
                self.bind(var, value)?;
                self.change_elements(body, dest)
            }
            _ if matches!(expr.ty(), Type::Tuple(_)) => {
                let view = self.value(expr, &"x".into())?;
                let view = self.settle(view, &"x".into());
                self.copy(&view, dest, expr.span())
            }
            _ => self.write(expr, dest),
        }
    }

    /// Whether an array is better written as a whole, by a sweep down columns, which takes its result for accumulators.
    pub fn is_swept(&self, expr: &Expr) -> bool {
        match expr.term() {
            Term::Let(_, _, body) => self.is_swept(body),
            Term::Build { n, i, body } => ColumnFold::find(n, i, body).is_some() || self.is_swept(body),
            _ => false,
        }
    }

    /// Whether a variable, or a component of one, was written in its destination.
    fn lies_in(&self, expr: &Expr, place: &ArrayView) -> bool {
        let Some((var, path)) = component(expr) else { return false };
        let view = self.env.get(var).and_then(|view| path.iter().try_fold(view, part_of));
        matches!(view, Some(View::Array(view)) if view.leaves == place.leaves)
    }

    /// Where the new value of each component goes.
    fn next_places(&mut self, components: &[Component]) -> Vec<Dest> {
        let mut places = Vec::new();
        for component in components {
            places.push(match &component.place {
                Holder::Scalar(_) => {
                    let id = self.local("next", elem(&component.ty), Form::Scalar { mutable: true });
                    self.emit(Stmt::Declare { id, init: None });
                    Dest::Scalar(Target::Local(id))
                }
                Holder::Array { free, now, .. } => Dest::Array(free.as_ref().unwrap_or(now).clone()),
            });
        }
        places
    }

    /// Parallel assignment: a value that uses an old one overwritten before it is computed first.
    fn assign_all(&mut self, mut scalars: Vec<(Id, Value)>) {
        for k in 1..scalars.len() {
            let clash = scalars[..k].iter().any(|(id, value)| value != &Value::Local(*id) && reads(&scalars[k].1, *id));
            if clash {
                let (id, value) = scalars[k].clone();
                let elem = self.locals[id].elem;
                let name = format!("{}_next", self.locals[id].name);
                scalars[k].1 = self.constant(&name, elem, value);
            }
        }
        scalars.into_iter().for_each(|(id, value)| self.assign(Place::Local(id), value));
    }
}

/// The spare buffer of the component in which the rest of a step stores `var` unchanged.
fn next_place<'c>(rest: &Expr, var: &Var, acc: &Var, components: &'c [Component]) -> Option<&'c ArrayView> {
    let is_var = |part: &Expr| matches!(part.term(), Term::Var(other) if other == var).then_some(());
    next_free(rest, acc, components, is_var).map(|((), free)| free)
}

/// The component of a fold's state that begins anew and that the rest of a step stores unchanged: its number, and the spare buffer in
/// which it is stored.
fn next_part<'c>(rest: &Expr, var: &Var, value: &Expr, acc: &Var, components: &'c [Component]) -> Option<(usize, &'c ArrayView)> {
    let Term::Fold { init, .. } = value.term() else { return None };
    let Term::Tuple(firsts) = init.term() else { return None };
    next_free(rest, acc, components, |part| {
        let Term::Proj(tuple, k) = part.term() else { return None };
        let is_of_var = matches!(tuple.term(), Term::Var(other) if other == var);
        (is_of_var && matches!(firsts.get(*k)?.term(), Term::Build { .. })).then_some(*k)
    })
}

/// What `stored` says of the first part of the next state of which it says something and that has a spare buffer.
fn next_free<'c, T>(
    rest: &Expr,
    acc: &Var,
    components: &'c [Component],
    stored: impl Fn(&Expr) -> Option<T>,
) -> Option<(T, &'c ArrayView)> {
    match rest.term() {
        Term::Let(_, _, rest) | Term::Check { body: rest, .. } => next_free(rest, acc, components, stored),
        Term::If(..) => None,
        _ => parts(rest, acc, components)?.iter().zip(components).find_map(|(part, component)| match &component.place {
            Holder::Array { free: Some(free), .. } => Some((stored(part)?, free)),
            Holder::Array { .. } | Holder::Scalar(_) => None,
        }),
    }
}
