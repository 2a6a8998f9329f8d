//! The two translations of destination-passing style.
//!
//! [`Lowerer::value`] has the value of a term: an expression, or a view of what is in memory already.
//! [`Lowerer::write`] writes it into a destination. Each calls the other: an array that is no view of an
//! existing one gets room in the workspace and is written there; a destination is given a view by copying.
//! After Shaikhha et al., "Destination-Passing Style for Efficient Memory Management".
//!
//!     write(build(n, i. e), out)   →   for i < n: write(e, out[i])

use crate::diagnostic::Diagnostic;
use crate::ir::ambient::is_unset;
use crate::ir::free::mentions;
use crate::ir::size_term::is_state;
use crate::ir::{Expr, Name, Size, Status, Term, Type, Var};

use super::context::{Lowerer, Result, mismatch};
use super::diagonal::Diagonal;
use super::names::{state_name, unnamed};
use super::view::{Dest, Target, View};
use crate::loops::FEW_TO_SHARE;
use crate::loops::program::*;
use crate::loops::values::negate;
use crate::plan::columns::ColumnFold;

impl Lowerer<'_> {
    /// The value of a term; `name` is for what has to be stored.
    pub fn value(&mut self, expr: &Expr, name: &Name) -> Result<View> {
        match expr.term() {
            Term::Var(var) => self.env.get(var).cloned().ok_or_else(|| mismatch(expr.span())),
            Term::Double(value) => Ok(View::Scalar(Value::Double(*value))),
            Term::Index(value) => Ok(View::Scalar(Value::Index(*value))),
            Term::Bool(value) => Ok(View::Scalar(Value::Bool(*value))),
            Term::Prim(prim, args) => Ok(View::Scalar(self.prim_term(*prim, args, expr.span())?)),
            // frees the room of intermediate arrays
            Term::Let(..)
                if matches!(expr.ty(), Type::Array(..)) && !expr.has_updates() && !self.is_view(expr) && self.type_of(expr).is_ok() =>
            {
                self.stored(expr, name)
            }
            Term::Let(var, value, body) => {
                self.bind(var, value)?;
                self.value(body, name)
            }
            Term::If(cond, a, b) if expr.ty().has_array() && (a.has_updates() || b.has_updates()) => {
                self.changed_in_branches(expr, cond, a, b, name)
            }
            Term::If(cond, a, b) => self.choice(expr, cond, a, b, name),
            Term::Fold { acc, .. } => self.fold(expr, None, state_name(acc, name)),
            Term::While { state, .. } => self.steps(expr, None, state_name(state, name)),
            Term::Build { .. } if !self.has_updates => match self.flat_view(expr, name)? {
                Some(array) => Ok(View::Array(array)),
                None => self.stored(expr, name),
            },
            Term::Build { .. } | Term::Array(_) | Term::Call(..) => self.stored(expr, name),
            Term::Get(source, index) => {
                let array = match self.value(source, name)? {
                    View::Array(array) => array,
                    View::Scalar(_) | View::Tuple(_) => return Err(mismatch(expr.span())),
                };
                let position = self.scalar(index)?;
                let position = self.in_bounds(source, index, position, &array.length(), expr.span())?;
                let position = if is_simple(&position) { position } else { self.atomic(position, "at") };
                self.element(&array, &position, expr.span())
            }
            Term::Dim(array, axis) => {
                let ty = self.type_of(array)?;
                let size = ty.dims().get(*axis).cloned().ok_or_else(|| mismatch(expr.span()))?;
                let length = self.size_value(&size, expr.span())?;
                // an array of which only the length is used is not built: its negative count has to be found here
                if *axis == 0 && !exists(array) {
                    self.not_negative(&length, Some(&size));
                }
                Ok(View::Scalar(length))
            }
            Term::Tuple(parts) => {
                let mut views = Vec::new();
                for (k, part) in parts.iter().enumerate() {
                    let name = name.part(k);
                    let view = self.value(part, &name)?;
                    let is_read_later = parts[k + 1..].iter().any(Expr::has_updates);
                    views.push(if is_read_later { self.settle(view, &name) } else { view });
                }
                Ok(View::Tuple(views))
            }
            Term::Proj(tuple, k) => {
                if let Term::Tuple(parts) = tuple.term()
                    && let Some(part) = parts.get(*k)
                {
                    return self.value(part, name);
                }
                match self.value(tuple, name)? {
                    View::Tuple(mut parts) if *k < parts.len() => Ok(parts.swap_remove(*k)),
                    View::Tuple(_) | View::Scalar(_) | View::Array(_) => Err(mismatch(expr.span())),
                }
            }
            Term::Check { cond, status, body } => {
                self.check(cond, *status)?;
                self.value(body, name)
            }
            Term::Update(change, parts) => self.updated(expr, *change, parts, name),
            Term::Dual { .. } | Term::Vjp { .. } | Term::Iso(..) => {
                Err(Diagnostic::error("E0901", expr.span(), "internal: a derivative was left for lowering")
                    .help("please report this program"))
            }
        }
    }

    /// Writes the value of a term into a destination that nothing else refers to.
    pub fn write(&mut self, expr: &Expr, dest: &Dest) -> Result<()> {
        match (expr.term(), dest) {
            (Term::Let(var, value, body), _) => {
                if !expr.has_updates() && self.in_row_loop(expr, dest)? {
                    return Ok(());
                }
                self.bind_in(var, value, body, dest)?;
                self.write(body, dest)
            }
            (Term::If(cond, a, b), _) => {
                let choice = self.scalar(cond)?;
                let (then, ()) = self.branch(cond, true, |this| this.write(a, dest))?;
                let (otherwise, ()) = self.branch(cond, false, |this| this.write(b, dest))?;
                self.either(choice, then, otherwise);
                Ok(())
            }
            (Term::Check { cond, status, body }, _) => {
                self.check(cond, *status)?;
                self.write(body, dest)
            }
            (Term::Tuple(parts), Dest::Tuple(places)) => {
                parts.iter().zip(places).try_for_each(|(part, place)| self.write_alone(part, place))
            }
            // only in results: an array in the workspace may be copied as a whole
            (Term::Var(_), Dest::Scalar(Target::Leaf(leaf))) if is_unset(expr) && self.results.contains(&leaf.base) => Ok(()),
            (Term::Build { n, body, .. }, Dest::Array(array)) if is_unset(body) => {
                self.count(n, Some(&array.length()))?;
                Ok(())
            }
            (Term::Build { n, i, body }, Dest::Array(array)) => {
                if expr.has_updates() {
                    let count = self.count(n, Some(&array.length()))?;
                    return self.enter_apart(i, n, &count, Some(array.length()), |this, index| {
                        let place = this.element_dest(array, index, expr.span())?;
                        this.write(body, &place)
                    });
                }
                if let Some(flat) = self.flat_view(expr, &unnamed())? {
                    return self.copy(&View::Array(flat), dest, expr.span());
                }
                let count = self.count(n, Some(&array.length()))?;
                if self.lies_in_components(expr, array) || self.in_components(expr, dest)? {
                    return Ok(());
                }
                // with threads, columns of a fold that is no plain sum are shared; the rows of a sweep cannot be
                if let Some(fold) = ColumnFold::find(n, i, body) {
                    return self.sweep(n, i, &count, &fold, array);
                }
                if let Some(diagonal) = Diagonal::find(n, i, body)
                    && self.diagonal(n, i, &count, &diagonal, array)?
                {
                    return Ok(());
                }
                self.enter_apart(i, n, &count, Some(array.length()), |this, index| {
                    let place = this.element_dest(array, index, expr.span())?;
                    this.write(body, &place)
                })
            }
            (Term::Array(items), Dest::Array(array)) => {
                self.same_length(&Size::constant(items.len() as i64), &array.length(), expr.span())?;
                for (k, item) in items.iter().enumerate() {
                    let place = self.element_dest(array, &Value::Index(k as i64), expr.span())?;
                    self.write_alone(item, &place)?;
                }
                Ok(())
            }
            (Term::Fold { acc, .. }, _) => self.fold(expr, Some(dest), acc.full_name()).map(|_| ()),
            (Term::While { state, .. }, _) => self.steps(expr, Some(dest), state.full_name()).map(|_| ()),
            (Term::Call(callee, args), _) => self.call(callee, args, dest, expr.span()),
            (Term::Proj(tuple, k), _) if matches!(tuple.term(), Term::Fold { .. }) => {
                let whole = self.state_places_around(tuple, *k, dest)?;
                let (block, ()) = self.nested(|this| this.write(tuple, &whole))?;
                self.place(block);
                Ok(())
            }
            (Term::Update(change, parts), Dest::Array(_)) => self.write_updated(expr, *change, parts, dest),
            _ => {
                let view = self.value(expr, &unnamed())?;
                self.copy(&view, dest, expr.span())
            }
        }
    }

    /// As `write`; frees the room of intermediate arrays at once.
    pub fn write_alone(&mut self, expr: &Expr, dest: &Dest) -> Result<()> {
        let (block, ()) = self.nested(|this| this.write(expr, dest))?;
        self.place(block);
        Ok(())
    }

    /// As `enter`, for a loop whose iterations write disjoint elements and nothing else. A loop inside a shared loop is not
    /// shared again.
    pub fn enter_apart(
        &mut self,
        var: &Var,
        n: &Expr,
        count: &Value,
        size: Option<Size>,
        f: impl FnOnce(&mut Self, &Value) -> Result<()>,
    ) -> Result<()> {
        let outer = self.parallel;
        self.parallel = outer && self.range(count).1 < i128::from(FEW_TO_SHARE);
        self.enter(var, n, count, size, f)?;
        self.parallel = outer;
        self.set_apart();
        Ok(())
    }

    /// Marks the loop just written as one whose iterations write disjoint elements and nothing else.
    fn set_apart(&mut self) {
        if let Some(Stmt::For { apart, .. }) = self.blocks.last_mut().and_then(|block| block.last_mut()) {
            *apart = true;
        }
    }

    /// A loop over `var` in `0 … count-1`.
    pub fn enter(
        &mut self,
        var: &Var,
        n: &Expr,
        count: &Value,
        size: Option<Size>,
        f: impl FnOnce(&mut Self, &Value) -> Result<()>,
    ) -> Result<()> {
        let i = self.counter(var.name(), count);
        self.env.insert(var.clone(), View::Scalar(Value::Local(i)));
        match &size {
            Some(size) => {
                self.bounds.insert(var.clone(), size.clone());
            }
            None => self.note_bound(var),
        }
        let (body, ()) = self.nested(|this| {
            this.facts.enter_loop(var, n);
            f(this, &Value::Local(i))
        })?;
        self.emit(Stmt::For { i, var: Some(var.clone()), count: count.clone(), size, body, lanes: Lanes::One, apart: false });
        Ok(())
    }

    /// A trip count: not negative, and the length that is wanted.
    pub fn count(&mut self, n: &Expr, wanted: Option<&Size>) -> Result<Value> {
        let size = self.size_of(n).map(|size| self.canonical(&size));
        let count = match &size {
            // what counts the steps of a loop may be negative
            Some(size) if size.has_fold() => self.scalar(n)?,
            Some(size) => match self.size_value(size, n.span()) {
                Ok(count) => count,
                Err(_) => self.scalar(n)?,
            },
            None => self.scalar(n)?,
        };
        let count = if is_simple(&count) { count } else { self.atomic(count, "count") };
        self.not_negative(&count, size.as_ref());
        if let Some(wanted) = wanted
            && size.as_ref().is_none_or(|size| !size.is_as_long(wanted))
        {
            let length = self.size_value(wanted, n.span())?;
            if length != count {
                let cond = Value::Prim { prim: crate::ir::Prim::Ne, elem: Elem::Index, plain: true, args: vec![count.clone(), length] };
                self.fail(cond, Status::Shape);
            }
        }
        Ok(count)
    }

    /// Fails with SMOOTH_NEGATIVE at run time unless the count is known not to be negative.
    fn not_negative(&mut self, count: &Value, size: Option<&Size>) {
        if self.range(count).0 >= 0 || size.is_some_and(|size| self.facts.nonnegative(size)) {
            return;
        }
        let cond = if matches!(count, Value::Index(_)) {
            Value::Bool(true)
        } else {
            Value::Prim { prim: crate::ir::Prim::Lt, elem: Elem::Index, plain: true, args: vec![count.clone(), Value::Index(0)] }
        };
        self.fail(cond, Status::Negative);
    }

    pub fn check(&mut self, cond: &Expr, status: Status) -> Result<()> {
        let holds = self.scalar(cond)?;
        self.fail(negate(holds), status);
        self.facts.assume(cond, true);
        Ok(())
    }

    /// What a `let` binds: a name for a view, a constant, or an array in the workspace.
    pub fn bind(&mut self, var: &Var, value: &Expr) -> Result<()> {
        if matches!(var.ty(), Type::Index(_) | Type::Bool) {
            if let Some(size) = self.size_of(value) {
                let size = self.canonical(&size);
                self.sizes.insert(var.clone(), size);
            }
            self.note_bound(var);
        }
        let name = &self.name_of(var, value);
        let (block, view) = self.nested(|this| this.value(value, name))?;
        self.facts.define(var, value);
        let holds_room = block.iter().any(|stmt| matches!(stmt, Stmt::Room(_)));
        let view = if holds_room && !value.ty().has_array() {
            let ty = self.type_of(value)?;
            let dest = self.fresh_dest(&ty, name, value.span())?;
            let (copies, ()) = self.nested(|this| this.copy(&view, &dest, value.span()))?;
            self.emit(Stmt::Scope(block.into_iter().chain(copies).collect()));
            self.view_of(&dest)
        } else {
            block.into_iter().for_each(|stmt| self.emit(stmt));
            self.settle(view, name)
        };
        let view = if self.is_owned(&view) && self.last_uses.outlives(var, value) {
            let ty = self.type_of(value)?;
            let dest = self.fresh_dest(&ty, name, value.span())?;
            self.copy(&view, &dest, value.span())?;
            self.view_of(&dest)
        } else {
            view
        };
        if let (Some(size), View::Scalar(value @ Value::Local(_))) = (self.sizes.get(var), &view)
            && !size.is_of_names()
        {
            self.named.push((size.clone(), value.clone()));
        }
        if is_state(var, value) || self.is_part_of_state(var, value) {
            self.name_sizes(value, &view);
            self.note_state(var, value);
        }
        self.env.insert(var.clone(), view);
        Ok(())
    }

    /// As `bind`; the value is computed in the destination where the body stores the variable there unchanged.
    pub fn bind_in(&mut self, var: &Var, value: &Expr, body: &Expr, dest: &Dest) -> Result<()> {
        if !value.ty().has_array() {
            return self.bind(var, value);
        }
        match self.tail_place(body, var, dest, true) {
            Some(place) if !self.is_view(value) => {
                self.write(value, &place)?;
                let view = self.view_of(&place);
                self.env.insert(var.clone(), view);
                Ok(())
            }
            None if matches!(value.term(), Term::Fold { .. }) => {
                let Type::Tuple(types) = self.type_of(value)? else { return self.bind(var, value) };
                let mut places = Vec::new();
                for (k, ty) in types.iter().enumerate() {
                    places.push(match tail_part(body, var, k, dest) {
                        Some(place) if ty.has_array() => place.clone(),
                        _ => self.fresh_dest(ty, &var.full_name().part(k), value.span())?,
                    });
                }
                if !types.iter().enumerate().any(|(k, ty)| ty.has_array() && tail_part(body, var, k, dest).is_some()) {
                    return self.bind(var, value);
                }
                let places = Dest::Tuple(places);
                self.write(value, &places)?;
                let view = self.view_of(&places);
                self.env.insert(var.clone(), view);
                Ok(())
            }
            _ => self.bind(var, value),
        }
    }

    /// The part of the destination in which the term stores `var` unchanged, its arrays as one, or, where nothing else reads it
    /// (`alone`), changed there.
    fn tail_place(&self, expr: &Expr, var: &Var, dest: &Dest, alone: bool) -> Option<Dest> {
        let is_var = |expr: &Expr| matches!(expr.term(), Term::Var(other) if other == var);
        match (expr.term(), dest) {
            (Term::Var(_), _) => is_var(expr).then(|| dest.clone()),
            (Term::Build { .. }, _) => match self.flat_of(expr, var) {
                Some(flat) => flat.place(dest),
                None => self.component_place(expr, var, dest),
            },
            (Term::Update(_, parts), Dest::Array(_)) if alone => {
                let (array, rest) = parts.split_first()?;
                if rest.iter().any(|part| mentions(part, var)) { None } else { self.tail_place(array, var, dest, true) }
            }
            (Term::If(cond, a, b), Dest::Array(whole)) if alone && !mentions(cond, var) => {
                let is_whole = |branch: &Expr| match self.tail_place(branch, var, dest, true) {
                    Some(Dest::Array(place)) => place.leaves == whole.leaves,
                    Some(Dest::Scalar(_) | Dest::Tuple(_)) | None => false,
                };
                (is_whole(a) && is_whole(b)).then(|| dest.clone())
            }
            (Term::Let(x, value, body), _) => {
                // another name of it may be read later
                let has_alias = value.ty().has_array() && mentions(value, var);
                self.tail_place(body, var, dest, alone && !has_alias).or_else(|| {
                    let flat = self.flat_of(value, var).filter(|_| !self.has_updates);
                    match flat {
                        Some(flat) => flat.place(&self.tail_place(body, x, dest, alone)?),
                        None if alone && mentions(value, var) && !mentions(body, var) => {
                            let place = self.tail_place(body, x, dest, true)?;
                            self.tail_place(value, var, &place, true)
                        }
                        None => None,
                    }
                })
            }
            (Term::Check { body, .. }, _) => self.tail_place(body, var, dest, alone),
            (Term::Tuple(parts), Dest::Tuple(places)) => parts.iter().zip(places).enumerate().find_map(|(k, (part, place))| {
                let is_read = parts.iter().enumerate().any(|(other, part)| other != k && mentions(part, var));
                self.tail_place(part, var, place, alone && !is_read)
            }),
            _ => None,
        }
    }

    /// A value in new storage.
    pub fn stored(&mut self, expr: &Expr, name: &Name) -> Result<View> {
        let ty = self.type_of(expr)?;
        let dest = self.fresh_dest(&ty, name, expr.span())?;
        self.write_alone(expr, &dest)?;
        Ok(self.view_of(&dest))
    }

    /// Whether a term is a view of arrays that exist.
    pub fn is_view(&self, expr: &Expr) -> bool {
        match expr.term() {
            Term::Var(_) => true,
            Term::Proj(part, _) | Term::Get(part, _) => self.is_view(part),
            // an array that is named and then given is computed here
            Term::Let(var, value, body) => self.is_view(body) && (self.is_view(value) || !is_last(body, var)),
            Term::Check { body, .. } => self.is_view(body),
            Term::Build { .. } => self.is_flat_view(expr),
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::If(..)
            | Term::Fold { .. }
            | Term::While { .. }
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Iso(..)
            | Term::Update(..)
            | Term::Vjp { .. }
            | Term::Dual { .. } => false,
        }
    }
}

/// Whether a chain of lets ends in this variable.
fn is_last(expr: &Expr, var: &Var) -> bool {
    match expr.term() {
        Term::Var(other) => other == var,
        Term::Let(_, _, body) | Term::Check { body, .. } => is_last(body, var),
        _ => false,
    }
}

/// Whether the array already exists: a variable, or a component or an element of one.
fn exists(mut array: &Expr) -> bool {
    while let Term::Proj(inner, _) | Term::Get(inner, _) = array.term() {
        array = inner;
    }
    matches!(array.term(), Term::Var(_))
}

/// The part of the destination in which the term stores a component of `var` unchanged.
fn tail_part<'d>(expr: &Expr, var: &Var, k: usize, dest: &'d Dest) -> Option<&'d Dest> {
    match (expr.term(), dest) {
        (Term::Proj(tuple, at), _) if *at == k && matches!(tuple.term(), Term::Var(other) if other == var) => Some(dest),
        (Term::Let(_, _, body) | Term::Check { body, .. }, _) => tail_part(body, var, k, dest),
        (Term::Tuple(parts), Dest::Tuple(places)) => parts.iter().zip(places).find_map(|(part, place)| tail_part(part, var, k, place)),
        _ => None,
    }
}

/// An index expression that is cheap to write where it is used.
pub fn is_simple(value: &Value) -> bool {
    match value {
        Value::Local(_) | Value::Index(_) => true,
        Value::Prim { plain: true, elem: Elem::Index, args, .. } => args.iter().all(is_simple),
        _ => false,
    }
}
