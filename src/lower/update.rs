//! Updates: one write where the array is dead afterwards, a copy with one element changed elsewhere.
//!
//! In: `update a i x`, `accumulate a i x`. Out: statements and a view of the changed array. The array is changed in
//! place where its name is not used again ([`LastUses`](crate::ir::last_use::LastUses)), it lies in memory that this
//! function may write, and nothing that is used later lies in the same block of memory.
//!
//!     ifold (fun s i -> update s k[i] v[i]) z n   →   s = z; for i < n: s[k[i]] = v[i]
//!
//! The new element is computed before the write, also where it reads the array. Such writes are statements of their own
//! ([`Stmt::Update`]), so that no loop transformation takes an element for one that is written once.

use crate::ir::in_place::stays;
use crate::ir::last_use::{component, components_with_arrays};
use crate::ir::{Change, Expr, Name, Prim, Size, Term, Type, Updated, Var};
use crate::source::Span;

use super::array::is_simple;
use super::context::{Lowerer, Result, lacks_size, mismatch};
use super::view::{ArrayView, Dest, Target, View};
use crate::loops::program::*;

impl Lowerer<'_> {
    /// The array with an element changed: itself, or a copy.
    pub fn updated(&mut self, expr: &Expr, change: Change, parts: &[Expr], name: &Name) -> Result<View> {
        let Some(update) = Updated::of(parts) else { return Err(mismatch(expr.span())) };
        if let Some(array) = self.reusable(update.array, expr, name)? {
            self.change(&array, change, update, expr.span())?;
            return Ok(View::Array(array));
        }
        let ty = self.type_of(expr)?;
        let dest = self.fresh_dest(&ty, name, expr.span())?;
        self.write_updated(expr, change, parts, &dest)?;
        Ok(self.view_of(&dest))
    }

    /// The array with an element changed, in a destination.
    pub fn write_updated(&mut self, expr: &Expr, change: Change, parts: &[Expr], dest: &Dest) -> Result<()> {
        let (Some(update), Dest::Array(place)) = (Updated::of(parts), dest) else { return Err(mismatch(expr.span())) };
        self.write(update.array, dest)?;
        self.change(place, change, update, expr.span())
    }

    /// The memory of an array whose last use is `user`: it may be overwritten.
    fn reusable(&mut self, array: &Expr, user: &Expr, name: &Name) -> Result<Option<ArrayView>> {
        let is_new = matches!(array.term(), Term::Build { .. } | Term::Array(_) | Term::Call(..) | Term::Fold { .. } | Term::Update(..));
        let is_dead = component(array).is_some() && self.last_uses.is_last(array);
        if !is_new && !is_dead {
            return Ok(None);
        }
        let name = match component(array) {
            Some((var, path)) => var.full_name().at(&path),
            None => name.clone(),
        };
        let View::Array(view) = self.value(array, &name)? else { return Err(mismatch(array.span())) };
        let is_free = self.is_free(&view, user);
        if is_new && !is_free {
            // copied into new storage, which has no alias
            let ty = self.type_of(array)?;
            let dest = self.fresh_dest(&ty, &name, array.span())?;
            self.copy(&View::Array(view), &dest, array.span())?;
            return match self.view_of(&dest) {
                View::Array(view) => Ok(Some(view)),
                View::Scalar(_) | View::Tuple(_) => Err(mismatch(array.span())),
            };
        }
        Ok(is_free.then_some(view))
    }

    /// Whether this function owns an array's memory, and nothing live after `user` is in it.
    fn is_free(&self, array: &ArrayView, user: &Expr) -> bool {
        self.is_owned(&View::Array(array.clone()))
            && !self.last_uses.live_after(user).iter().any(|(var, path)| self.shares(var, path, array))
    }

    /// Whether a value is an array in memory that this function may write.
    pub fn is_owned(&self, view: &View) -> bool {
        match view {
            View::Array(array) => array.leaves.iter().all(|leaf| matches!(self.locals[leaf.base].form, Form::Target { .. })),
            View::Scalar(_) | View::Tuple(_) => false,
        }
    }

    /// Storage for the state of a loop, which is this component of what a step takes: an array that is updated in place, and whose
    /// initial value dies here, keeps its memory.
    pub fn state_places(&mut self, fold: &Expr, step: (&Var, &Expr), init: &Expr, path: &[usize], ty: &Type, name: &Name) -> Result<Dest> {
        let whole = self.whole_state(init, name)?;
        self.places_of(fold, step, (Some(init), whole.as_ref()), ty, &mut path.to_vec(), name)
    }

    /// The same for the state of a fold of which one component has a place.
    pub fn state_places_around(&mut self, fold: &Expr, k: usize, dest: &Dest) -> Result<Dest> {
        let (Term::Fold { acc, body, init, .. }, Type::Tuple(types)) = (fold.term(), self.type_of(fold)?) else {
            return Err(mismatch(fold.span()));
        };
        let name = acc.full_name();
        let whole = self.whole_state(init, name)?;
        let mut places = Vec::new();
        for (at, ty) in types.iter().enumerate() {
            places.push(if at == k {
                dest.clone()
            } else {
                let first = first_part(Some(init), whole.as_ref(), at);
                self.places_of(fold, (acc, body), first, ty, &mut vec![at], &name.part(at))?
            });
        }
        Ok(Dest::Tuple(places))
    }

    /// The initial state where that is one variable, which dies here.
    fn whole_state(&mut self, init: &Expr, name: &Name) -> Result<Option<View>> {
        let dies = component(init).is_some() && self.last_uses.is_last(init) && matches!(init.ty(), Type::Tuple(_));
        if dies { self.value(init, name).map(Some) } else { Ok(None) }
    }

    fn places_of(
        &mut self,
        fold: &Expr,
        step: (&Var, &Expr),
        (init, whole): (Option<&Expr>, Option<&View>),
        ty: &Type,
        path: &mut Vec<usize>,
        name: &Name,
    ) -> Result<Dest> {
        if let Type::Tuple(types) = ty {
            let mut places = Vec::new();
            for (k, ty) in types.iter().enumerate() {
                path.push(k);
                places.push(self.places_of(fold, step, first_part(init, whole, k), ty, path, &name.part(k))?);
                path.pop();
            }
            return Ok(Dest::Tuple(places));
        }
        if let Some(View::Array(view)) = whole
            && stays(step.1, step.0, path)
            && self.is_free(view, fold)
        {
            return Ok(Dest::Array(view.clone()));
        }
        if let Some(init) = init.filter(|init| component(init).is_some() && ty.has_array() && stays(step.1, step.0, path))
            && let Some(view) = self.reusable(init, fold, name)?
        {
            return Ok(Dest::Array(view));
        }
        self.fresh_dest(ty, name, fold.span())
    }

    /// Whether a component of a variable aliases the memory of an array.
    fn shares(&self, var: &Var, path: &[usize], array: &ArrayView) -> bool {
        let mut bases = Vec::new();
        if let Some(view) = self.env.get(var).and_then(|view| path.iter().try_fold(view, part_of)) {
            each_base(view, &mut |id| bases.push(id));
        }
        let mut at = 0;
        while let Some(base) = bases.get(at).copied() {
            bases.extend(self.origins.get(&base).into_iter().flatten());
            at += 1;
        }
        array.leaves.iter().any(|leaf| bases.contains(&leaf.base))
    }

    /// Changes an element of an array in memory.
    fn change(&mut self, array: &ArrayView, change: Change, update: Updated, span: Span) -> Result<()> {
        let mut dest = Dest::Array(array.clone());
        let mut source = update.array.clone();
        for index in update.indices {
            let Dest::Array(row) = &dest else { return Err(mismatch(span)) };
            let row = row.clone();
            let position = self.scalar(index)?;
            let position = self.in_bounds(&source, index, position, &row.length(), span)?;
            let position = match position {
                position if is_simple(&position) && !update.value.has_updates() => position,
                position => self.atomic(position, "at"),
            };
            dest = self.element_dest(&row, &position, span)?;
            source = Expr::get(source, index.clone());
        }
        let reads_array = components_with_arrays(update.value).iter().any(|(var, path)| self.shares(var, path, array));
        self.put(change, update.value, &dest, reads_array, span)
    }

    /// Puts a value into an element, or adds it there; `reads_array`: its computation may read the array.
    fn put(&mut self, change: Change, value: &Expr, dest: &Dest, reads_array: bool, span: Span) -> Result<()> {
        let whole = !value.ty().has_array();
        match (change, value.term(), dest) {
            _ if whole => {
                let view = self.value(value, &"x".into())?;
                let view = if matches!(view, View::Tuple(_)) { self.settle(view, &"x".into()) } else { view };
                self.store(change, &view, dest, span)
            }
            (Change::Replace, _, _) if !reads_array && !value.has_updates() => self.write_alone(value, dest),
            (_, Term::Get(..), Dest::Array(place)) if !value.has_updates() && self.is_view(value) => {
                let view = self.value(value, &"x".into())?;
                match &view {
                    View::Array(row) if is_apart_or_same(row, place) => self.store(change, &view, dest, span),
                    View::Scalar(_) | View::Tuple(_) | View::Array(_) => self.put_aside(change, value, dest, span),
                }
            }
            (Change::Add, Term::Build { n, i, body }, Dest::Array(array)) if !reads_array && !value.has_updates() => {
                let count = self.count(n, Some(&array.length()))?;
                let array = array.clone();
                self.enter(i, n, &count, Some(array.length()), |this, index| {
                    let place = this.element_dest(&array, index, span)?;
                    this.put(change, body, &place, false, span)
                })
            }
            (Change::Add, Term::Let(var, bound, body), _) if !reads_array => {
                let (block, ()) = self.nested(|this| {
                    this.bind(var, bound)?;
                    this.put(change, body, dest, false, span)
                })?;
                self.place(block);
                Ok(())
            }
            _ => self.put_aside(change, value, dest, span),
        }
    }

    /// Computes a value into a temporary first.
    fn put_aside(&mut self, change: Change, value: &Expr, dest: &Dest, span: Span) -> Result<()> {
        let (block, ()) = self.nested(|this| {
            let ty = this.type_of(value)?;
            let held = this.fresh_dest(&ty, &"x".into(), span)?;
            this.write_alone(value, &held)?;
            let view = this.view_of(&held);
            this.store(change, &view, dest, span)
        })?;
        self.place(block);
        Ok(())
    }

    /// Stores a value that exists, or adds it.
    fn store(&mut self, change: Change, value: &View, dest: &Dest, span: Span) -> Result<()> {
        match (value, dest) {
            (View::Scalar(value), Dest::Scalar(Target::Leaf(leaf))) => {
                let offset = self.offset(leaf).ok_or_else(|| mismatch(span))?;
                let value = match change {
                    Change::Replace => value.clone(),
                    Change::Add => {
                        let (prim, added) = if let Value::Prim { prim: Prim::Neg, args, .. } = value
                            && let [negated] = args.as_slice()
                        {
                            (Prim::Sub, negated)
                        } else {
                            (Prim::Add, value)
                        };
                        Value::Prim { prim, elem: Elem::Double, plain: true, args: vec![self.load(leaf), added.clone()] }
                    }
                };
                self.emit(Stmt::Update { base: leaf.base, offset, value });
                Ok(())
            }
            (View::Tuple(values), Dest::Tuple(places)) => {
                values.iter().zip(places).try_for_each(|(value, place)| self.store(change, value, place, span))
            }
            (View::Array(source), Dest::Array(target)) => {
                self.same_length(&source.length(), &target.length(), span)?;
                let (source, target) = (source.clone(), target.clone());
                let length: Size = target.length();
                self.each(&length, "j", span, &mut |this, i| {
                    let value = this.element(&source, i, span)?;
                    let place = this.element_dest(&target, i, span)?;
                    this.store(change, &value, &place, span)
                })
            }
            (View::Scalar(_) | View::Tuple(_) | View::Array(_), _) => Err(mismatch(span)),
        }
    }

    /// Two branches, at least one of which updates arrays in place: a value that both leave in the same memory is not copied.
    pub fn changed_in_branches(&mut self, expr: &Expr, cond: &Expr, a: &Expr, b: &Expr, name: &Name) -> Result<View> {
        let test = self.scalar(cond)?;
        let (mut then, x) = self.branch(cond, true, |this| this.value(a, name))?;
        let (mut otherwise, y) = self.branch(cond, false, |this| this.value(b, name))?;
        let view = self.joined(cond, (&mut then, &x), (&mut otherwise, &y), expr, name)?;
        self.either(test, then, otherwise);
        Ok(view)
    }

    fn joined(
        &mut self,
        cond: &Expr,
        (then, x): (&mut Block, &View),
        (otherwise, y): (&mut Block, &View),
        like: &Expr,
        name: &Name,
    ) -> Result<View> {
        match (x, y) {
            (View::Tuple(xs), View::Tuple(ys)) => {
                let mut parts = Vec::new();
                for (k, (x, y)) in xs.iter().zip(ys).enumerate() {
                    let like = Expr::proj(like.clone(), k);
                    parts.push(self.joined(cond, (&mut *then, x), (&mut *otherwise, y), &like, &name.part(k))?);
                }
                Ok(View::Tuple(parts))
            }
            (View::Array(a), View::Array(b)) if a.leaves == b.leaves => Ok(x.clone()),
            _ => {
                let ty = match (x, y) {
                    (View::Array(x), View::Array(y)) if lacks_size(like.ty()) => self.chosen(cond, &x.ty, &y.ty),
                    _ => self.type_of(like)?,
                };
                let dest = self.fresh_dest(&ty, name, like.span())?;
                for (block, view) in [(then, x), (otherwise, y)] {
                    let (copy, ()) = self.nested(|this| this.copy(view, &dest, like.span()))?;
                    block.extend(copy);
                }
                Ok(self.view_of(&dest))
            }
        }
    }
}

/// A component of a value; a value that is no tuple is its only component.
pub fn part_of<'v>(view: &'v View, k: &usize) -> Option<&'v View> {
    match view {
        View::Tuple(parts) => parts.get(*k),
        View::Scalar(_) | View::Array(_) => Some(view),
    }
}

/// Whether two views are identical or disjoint: rows of one block at the same depth.
fn is_apart_or_same(a: &ArrayView, b: &ArrayView) -> bool {
    let mut leaves = a.leaves.iter().zip(&b.leaves);
    leaves.all(|(a, b)| a.base == b.base && a.dims == b.dims && a.taken.len() == b.taken.len())
}

fn each_base(view: &View, f: &mut dyn FnMut(Id)) {
    match view {
        View::Scalar(_) => {}
        View::Tuple(parts) => parts.iter().for_each(|part| each_base(part, f)),
        View::Array(array) => array.leaves.iter().for_each(|leaf| f(leaf.base)),
    }
}

/// A component of an initial state, by its term and by its place, as far as they are known.
fn first_part<'a>(init: Option<&'a Expr>, whole: Option<&'a View>, k: usize) -> (Option<&'a Expr>, Option<&'a View>) {
    let part = match init.map(Expr::term) {
        Some(Term::Tuple(parts)) => parts.get(k),
        _ => None,
    };
    let place = match whole {
        Some(View::Tuple(parts)) => parts.get(k),
        Some(View::Scalar(_) | View::Array(_)) | None => None,
    };
    (part, place)
}
