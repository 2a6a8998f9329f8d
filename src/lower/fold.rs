//! Folds: scalars in locals, arrays in two buffers that change places.
//!
//! A scalar accumulator is a mutable local. An array accumulator has its destination and at most one buffer
//! more: a step writes the new array into the free buffer, then pointers change places, never contents.
//! Components that only change places form a cycle without a further buffer. Where every step moves the
//! pointers alike, the first arrangement is chosen by the trip count so that the last lands in the
//! destination; where branches differ, a component that a branch gives back unchanged stays where it is, and
//! one copy at the end brings it home if need be.
//!
//!     ifold(n, (a, b). (b, f a b))   →   three buffers that rotate, n % 3 deciding who starts where

use crate::ir::distinct::distinct;
use crate::ir::ended_early::{ended_early, is_whole};
use crate::ir::in_place::stays;
use crate::ir::size_term::height;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Name, Prim, Size, Term, Type, Var};
use crate::source::Span;

use super::context::{Lowerer, Result, mismatch};
use super::moves::{Component, Holder, Plan, Source, components, current, fills, plan, rotations, tails};
use super::view::{ArrayView, Dest, Leaf, Target, View, elem};
use crate::loops::program::*;

/// How often a loop runs.
#[derive(Clone, Copy)]
enum Trip<'e> {
    /// i counts to before n.
    Counted { n: &'e Expr, i: &'e Var },
    /// As long as the state's first component says so.
    Open,
}

impl Lowerer<'_> {
    /// A fold into `dest`, or into new storage.
    pub fn fold(&mut self, expr: &Expr, dest: Option<&Dest>, name: &Name) -> Result<View> {
        let Term::Fold { n, acc, i, body, init } = expr.term() else { return Err(mismatch(expr.span())) };
        let ty = self.type_of(expr)?;
        if ty.has_array() {
            let (dest, is_new) = match dest {
                Some(dest) => (dest.clone(), false),
                None => (self.state_places(expr, (acc, body), init, &[], &ty, name)?, true),
            };
            let (block, ()) = self.nested(|this| {
                // the scalars of new places may be the state's: nothing else has them
                let state = if is_new { dest.clone() } else { this.local_scalars(&ty, acc.full_name(), &dest) };
                this.array_fold(Trip::Counted { n, i }, (acc, acc.full_name()), body, Some(init), &ty, &state, expr.span())?;
                let done = this.view_of(&state);
                if is_new { Ok(()) } else { this.copy(&done, &dest, expr.span()) }
            })?;
            self.place(block);
            return Ok(self.view_of(&dest));
        }
        // where a length was computed, only a negative count is still to be found
        if dest.is_none()
            && height(expr) == 1
            && let Some(view) = self.named_state(expr, &ty)
        {
            self.count(n, None)?;
            return Ok(view);
        }
        if let Some(steps) = ended_early(expr) {
            return match dest {
                Some(dest) => self.write(&steps, dest).map(|()| self.view_of(dest)),
                None => self.value(&steps, name),
            };
        }
        let state = self.scalar_state(&ty, acc.full_name(), init)?;
        let components = components(&ty, &state);
        self.env.insert(acc.clone(), self.view_of(&state));
        let count = self.count(n, None)?;
        let size = Size::try_of_expr(n).map(|size| self.canonical(&size));
        self.enter(i, n, &count, size, |this, _| this.step(body, acc, &components, &Plan::ByBranch))?;
        let view = self.view_of(&state);
        if let Some(dest) = dest {
            self.copy(&view, dest, expr.span())?;
        }
        Ok(view)
    }

    /// A loop over Indexes all of whose results are lengths that were computed.
    fn named_state(&self, fold: &Expr, ty: &Type) -> Option<View> {
        match ty {
            Type::Index(_) => Some(View::Scalar(self.named_size(fold)?)),
            Type::Tuple(types) => {
                let part = |k| Some(View::Scalar(self.named_size(&Expr::proj(fold.clone(), k))?));
                Some(View::Tuple((0..types.len()).map(part).collect::<Option<_>>()?))
            }
            Type::Double | Type::Bool | Type::Array(..) | Type::Rec(_) => None,
        }
    }

    /// Mutable locals with their first values.
    pub fn scalar_state(&mut self, ty: &Type, name: &Name, init: &Expr) -> Result<Dest> {
        let (block, view) = self.nested(|this| this.value(init, name))?;
        if block.iter().any(|stmt| matches!(stmt, Stmt::Room(_))) {
            let dest = self.fresh_dest(ty, name, init.span())?;
            let (copies, ()) = self.nested(|this| this.copy(&view, &dest, init.span()))?;
            self.emit(Stmt::Scope(block.into_iter().chain(copies).collect()));
            return Ok(dest);
        }
        block.into_iter().for_each(|stmt| self.emit(stmt));
        Ok(self.declare(ty, name, &view))
    }

    pub fn declare(&mut self, ty: &Type, name: &Name, view: &View) -> Dest {
        match (ty, view) {
            (Type::Tuple(parts), View::Tuple(views)) => {
                let parts = parts.iter().zip(views).enumerate();
                Dest::Tuple(parts.map(|(k, (part, view))| self.declare(part, &name.part(k), view)).collect())
            }
            _ => {
                let id = self.local(name, elem(ty), Form::Scalar { mutable: true });
                self.note_range(ty, id);
                let init = match view {
                    View::Scalar(value) => Some(value.clone()),
                    View::Tuple(_) | View::Array(_) => None,
                };
                self.emit(Stmt::Declare { id, init });
                Dest::Scalar(Target::Local(id))
            }
        }
    }

    /// A `while`: a fold whose state has in front whether it goes on. Its arrays have two buffers each, since nobody knows where the
    /// last step will leave them.
    ///
    ///     while(s = x. (c s, f s))   →   go = true; s = x; while (go) { go = c s; s = f s }
    pub fn steps(&mut self, expr: &Expr, dest: Option<&Dest>, name: &Name) -> Result<View> {
        let Term::While { state, init, body } = expr.term() else { return Err(mismatch(expr.span())) };
        let ty = self.type_of(expr)?;
        if let (Some((cond, next)), false) = (tested_first(body, state), ty.has_array()) {
            return self.tested_steps(state, init, (cond, next), dest, name);
        }
        let all = Type::tuple(vec![Type::Bool, ty.clone()]);
        let all_names = Name::of_parts(state.name(), ["go".into(), state.full_name().clone()]);
        let acc = Var::named(all_names, Type::tuple(vec![Type::Bool, state.ty().clone()]));
        let body = distinct(&goes_on(&substitute(body, &[(state.clone(), Expr::proj(Expr::var(&acc), 1))]), &acc));
        self.last_uses.add_step(expr, &body);
        if !ty.has_array() {
            let places = self.scalar_state(&ty, name, init)?;
            let go = self.declare(&Type::Bool, &"go".into(), &View::Scalar(Value::Bool(true)));
            let done = self.view_of(&places);
            self.array_fold(Trip::Open, (&acc, name), &body, None, &all, &Dest::Tuple(vec![go, places]), expr.span())?;
            dest.map_or(Ok(()), |dest| self.copy(&done, dest, expr.span()))?;
            return Ok(done);
        }
        let (dest, is_new) = match dest {
            Some(dest) => (dest.clone(), false),
            None => (self.state_places(expr, (&acc, &body), init, &[1], &ty, name)?, true),
        };
        let (block, ()) = self.nested(|this| {
            let places = if is_new { dest.clone() } else { this.local_scalars(&ty, name, &dest) };
            let done = this.view_of(&places);
            let go = this.declare(&Type::Bool, &"go".into(), &View::Scalar(Value::Bool(true)));
            this.array_fold(Trip::Open, (&acc, name), &body, Some(init), &all, &Dest::Tuple(vec![go, places]), expr.span())?;
            if is_new { Ok(()) } else { this.copy(&done, &dest, expr.span()) }
        })?;
        self.place(block);
        Ok(self.view_of(&dest))
    }

    /// A `while` over scalars whose condition is all that is computed before it ends.
    ///
    ///     while(s = x. if c s then (true, f s) else (false, s))   →   s = x; while (c s) s = f s
    fn tested_steps(&mut self, state: &Var, init: &Expr, (cond, next): (&Expr, &Expr), dest: Option<&Dest>, name: &Name) -> Result<View> {
        let ty = self.type_of(init)?;
        let places = self.scalar_state(&ty, name, init)?;
        let components = components(&ty, &places);
        let done = self.view_of(&places);
        self.env.insert(state.clone(), done.clone());
        let (before, goes_on) = self.nested(|this| this.scalar(cond))?;
        let (mut body, ()) = self.branch(cond, true, |this| this.step(next, state, &components, &Plan::ByBranch))?;
        let cond = if before.is_empty() {
            goes_on
        } else {
            // what the condition needs is computed before the first step, and after each
            let go = self.local("go", Elem::Bool, Form::Scalar { mutable: true });
            self.emit(Stmt::Declare { id: go, init: Some(Value::Bool(true)) });
            let (mut test, stops) = (before, Stmt::Assign { place: Place::Local(go), value: goes_on });
            test.push(stops);
            test.push(Stmt::If { cond: Value::Local(go), then: body, otherwise: Vec::new() });
            body = test;
            Value::Local(go)
        };
        self.emit(Stmt::While { cond, body });
        dest.map_or(Ok(()), |dest| self.copy(&done, dest, init.span()))?;
        Ok(done)
    }

    #[allow(clippy::too_many_arguments)]
    fn array_fold(
        &mut self,
        trip: Trip,
        (acc, name): (&Var, &Name),
        body: &Expr,
        init: Option<&Expr>,
        ty: &Type,
        state: &Dest,
        span: Span,
    ) -> Result<()> {
        let counted = match trip {
            Trip::Counted { n, i } => {
                let count = self.count(n, None)?;
                Some((n, i, self.atomic(count, "count"), Size::try_of_expr(n).map(|size| self.canonical(&size))))
            }
            Trip::Open => None,
        };
        let mut components = components(ty, state);
        let tails = tails(body, acc, &components, &|array| self.is_swept(array));
        let plan = if counted.is_some() { plan(&components, &tails) } else { Plan::ByBranch };
        // a spare buffer for each component that some step computes anew
        let fresh: Vec<usize> = match &plan {
            Plan::Uniform(groups) => groups.iter().filter(|(_, free)| *free).filter_map(|(group, _)| group.last().copied()).collect(),
            Plan::ByBranch => (0..components.len()).filter(|k| tails.iter().any(|tail| tail[*k] != Source::Old(*k))).collect(),
        };
        let moving: Vec<usize> = match &plan {
            Plan::Uniform(groups) => groups.iter().flat_map(|(group, _)| group.clone()).collect(),
            Plan::ByBranch => fresh.clone(),
        };
        for (k, component) in components.iter_mut().enumerate() {
            // in front of the state of a `while` is whether it goes on
            let name = name.at(&component.path[usize::from(counted.is_none())..]);
            let Holder::Array { home, now, free } = &mut component.place else { continue };
            if fresh.contains(&k) {
                *free = Some(self.spare(home, &name, span)?);
            }
            if moving.contains(&k) {
                *now = self.movable(home, &name);
                if let Some(free) = free {
                    *free = self.movable(free, &format!("{}_next", name.text()));
                }
            }
        }
        let now = current(ty, &components);
        let Some((n, i, count, size)) = counted else {
            let Dest::Tuple(places) = &now else { return Err(mismatch(span)) };
            let [go, state] = places.as_slice() else { return Err(mismatch(span)) };
            init.map_or(Ok(()), |init| self.write_alone(init, state))?;
            self.env.insert(acc.clone(), self.view_of(&now));
            let View::Scalar(cond) = self.view_of(go) else { return Err(mismatch(span)) };
            let (body, ()) = self.nested(|this| this.step(body, acc, &components, &plan))?;
            self.emit(Stmt::While { cond, body });
            return self.bring_home(&components, &plan, span);
        };
        self.arrange(&components, &plan, &count);
        init.map_or(Ok(()), |init| self.first_state(init, &now, (acc, i, body), size.as_ref()))?;
        let view = self.view_of(&now);
        self.env.insert(acc.clone(), view);
        self.enter(i, n, &count, size, |this, _| {
            this.step(body, acc, &components, &plan)?;
            if let Plan::Uniform(groups) = &plan {
                for (group, free) in groups {
                    rotations(&components, group, *free).into_iter().for_each(|ids| this.emit(Stmt::Rotate(ids)));
                }
            }
            Ok(())
        })?;
        self.bring_home(&components, &plan, span)
    }

    /// Writes the initial state. Where step i overwrites element i and no step reads one, only the elements that no step
    /// overwrites are written.
    fn first_state(&mut self, init: &Expr, now: &Dest, (acc, i, body): (&Var, &Var, &Expr), size: Option<&Size>) -> Result<()> {
        let (Term::Tuple(parts), Dest::Tuple(places)) = (init.term(), now) else { return self.write_alone(init, now) };
        for (k, (part, place)) in parts.iter().zip(places).enumerate() {
            let replaced = if stays(body, acc, &[k]) { fills(body, acc, i, k) } else { None };
            if let (Some(before), Some(size), Dest::Array(array), Term::Build { n, i, body }) = (replaced, size, place, part.term())
                && array.length() == size.add(&Size::constant(before))
            {
                if before > 0 {
                    // a count plus one may be an empty range
                    self.count(n, None)?;
                }
                for at in 0..before {
                    let first = self.element_dest(array, &Value::Index(at), part.span())?;
                    self.write_alone(&substitute(body, &[(i.clone(), Expr::index(at))]), &first)?;
                }
            } else {
                self.write_alone(part, place)?;
            }
        }
        Ok(())
    }

    /// The destination with locals in the place of its scalars.
    fn local_scalars(&mut self, ty: &Type, name: &Name, dest: &Dest) -> Dest {
        match (ty, dest) {
            (Type::Tuple(parts), Dest::Tuple(places)) => {
                let parts = parts.iter().zip(places).enumerate();
                Dest::Tuple(parts.map(|(k, (part, place))| self.local_scalars(part, &name.part(k), place)).collect())
            }
            (_, Dest::Scalar(_)) => {
                let id = self.local(name, elem(ty), Form::Scalar { mutable: true });
                self.note_range(ty, id);
                self.emit(Stmt::Declare { id, init: None });
                Dest::Scalar(Target::Local(id))
            }
            (_, Dest::Array(_) | Dest::Tuple(_)) => dest.clone(),
        }
    }

    /// A buffer of the same shape in the workspace.
    fn spare(&mut self, home: &ArrayView, name: &str, span: Span) -> Result<ArrayView> {
        let mut leaves = Vec::new();
        for leaf in &home.leaves {
            let dims = leaf.dims.get(leaf.taken.len()..).unwrap_or_default().to_vec();
            let base = self.room(&format!("{name}_spare"), leaf.elem, &dims, span)?;
            leaves.push(Leaf { base, elem: leaf.elem, dims, taken: Vec::new() });
        }
        Ok(ArrayView { ty: home.ty.clone(), leaves })
    }

    /// Separate pointers to an array; `arrange` sets their first targets.
    fn movable(&mut self, home: &ArrayView, name: &str) -> ArrayView {
        let mut leaves = Vec::new();
        for leaf in &home.leaves {
            let base = self.local(name, leaf.elem, Form::Target { mutable: true });
            let to = PointerValue::To(self.pointer(leaf));
            self.emit(Stmt::Point { id: base, to });
            let dims = leaf.dims.get(leaf.taken.len()..).unwrap_or_default().to_vec();
            leaves.push(Leaf { base, elem: leaf.elem, dims, taken: Vec::new() });
        }
        ArrayView { ty: home.ty.clone(), leaves }
    }

    /// Rotates the pointers before the first step so that after n steps the state is in the destination.
    fn arrange(&mut self, components: &[Component], plan: &Plan, count: &Value) {
        let Plan::Uniform(groups) = plan else { return };
        for (group, free) in groups {
            let rotations = rotations(components, group, *free);
            let length = (group.len() + usize::from(*free)) as i64;
            let op = |prim, a: Value, b: i64| Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, Value::Index(b)] };
            let rest = op(Prim::Rem, count.clone(), length);
            let body: Block = rotations.into_iter().map(Stmt::Rotate).collect();
            if length == 2 {
                let odd = Value::Prim { prim: Prim::Ne, elem: Elem::Index, plain: true, args: vec![rest, Value::Index(0)] };
                self.emit(Stmt::If { cond: odd, then: body, otherwise: Vec::new() });
                continue;
            }
            let back = Value::Prim { prim: Prim::Sub, elem: Elem::Index, plain: true, args: vec![Value::Index(length), rest] };
            let turns = op(Prim::Rem, back, length);
            let i = self.local("turn", Elem::Index, Form::Scalar { mutable: true });
            self.emit(Stmt::For { i, var: None, count: turns, size: None, body, lanes: Lanes::One, apart: false });
        }
    }

    /// Where branches rotate pointers differently: copies each component that did not end in its destination.
    fn bring_home(&mut self, components: &[Component], plan: &Plan, span: Span) -> Result<()> {
        if let Plan::Uniform(_) = plan {
            return Ok(());
        }
        for component in components {
            let Holder::Array { home, now, free: Some(_) } = &component.place else { continue };
            let (Some(a), Some(b)) = (now.leaves.first(), home.leaves.first()) else { continue };
            let cond = Value::Moved { now: a.base, home: Box::new(self.pointer(b)) };
            let (then, ()) = self.nested(|this| this.copy(&View::Array(now.clone()), &Dest::Array(home.clone()), span))?;
            self.emit(Stmt::If { cond, then, otherwise: Vec::new() });
        }
        Ok(())
    }
}

/// The condition of a step that is no more than a test of whether it goes on, and the next state.
fn tested_first<'e>(step: &'e Expr, state: &Var) -> Option<(&'e Expr, &'e Expr)> {
    let Term::If(cond, goes_on, ends) = step.term() else { return None };
    let (Term::Tuple(goes_on), Term::Tuple(ends)) = (goes_on.term(), ends.term()) else { return None };
    match (goes_on.as_slice(), ends.as_slice()) {
        ([go, next], [no, last]) => {
            let is_test = matches!((go.term(), no.term()), (Term::Bool(true), Term::Bool(false)));
            (is_test && is_whole(last, state)).then_some((cond, next))
        }
        _ => None,
    }
}

/// The step of a `while` whose tails leave the first component as it is where they say that it goes on: it is true already.
fn goes_on(step: &Expr, acc: &Var) -> Expr {
    step.map_tails(&|tail| {
        if let Term::Tuple(parts) = tail.term()
            && let [go, next] = parts.as_slice()
            && matches!(go.term(), Term::Bool(true))
        {
            Expr::tuple(vec![Expr::proj(Expr::var(acc), 0), next.clone()])
        } else {
            tail.clone()
        }
    })
}
