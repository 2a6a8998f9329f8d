//! Lengths in sums that no type says: what branches of other cases have, and what recursive functions and loops end with.
//!
//! In: the branches of a choice that data makes, a recursive function's body, or the step of a loop. Out: branches of one length, the
//! result's type with its lengths, or a loop whose state has those of all its steps. The data of a case that a value never is of may have
//! any length.
//!
//!     if x > 0.0 then Some v else None                      →   None with as many zeros as v has elements
//!     ifold (fun o i -> if c i then Some v else o) None n   →   a state with room for v, whose first value is None

use super::canonical::{Needed, has_unknown};
use super::elaborate::{Elaborator, Result};
use super::scope::{Arg, Callable};
use super::ty::Ty;
use crate::ir::prove::Facts;
use crate::ir::zero::zero;
use crate::ir::{Expr, Size, Term, Type, Var};
use crate::source::Span;

/// What is said of a state whose lengths change outside of sums.
const KEEPS: &str = "the accumulator of an `ifold` keeps its shape";

impl<'a> Elaborator<'a> {
    /// Two branches, each as long in the data of cases that it never is as the other, which may be of that case: `None` in an option of a
    /// vector is as long as the vector that the other branch has.
    pub(super) fn with_lengths_of_each_other(&mut self, template: &Ty, then: Expr, otherwise: Expr) -> (Expr, Expr) {
        let (a, b) = (then.ty().without_bounds(), otherwise.ty().without_bounds());
        let wanted_a = self.padded_type(template, &then, &b);
        let wanted_b = self.padded_type(template, &otherwise, &wanted_a);
        if self.differs(template, &wanted_a, &wanted_b) {
            // branches in these may be of other cases
            let open = in_sums(template, &a, &b, &mut |_, _| Size::unknown());
            let values = [leaves(&then), leaves(&otherwise)].concat();
            let shared = self.ends(template, &open, &values, &|size| !size.has_unknown());
            let fits = |value: &Expr| !self.differs(template, &self.padded_type(template, value, &shared), &shared);
            if !has_unknown(&shared) && values.iter().all(fits) {
                return (self.padded_inside(template, then, &shared), self.padded_inside(template, otherwise, &shared));
            }
        }
        let mut fit = |value: Expr, have: &Type, wanted: &Type| {
            if have == wanted {
                return value;
            }
            let fitted = self.in_branch(|this| Ok(this.with_lengths(value.clone(), wanted)));
            fitted.unwrap_or(value)
        };
        (fit(then, &a, &wanted_a), fit(otherwise, &b, &wanted_b))
    }

    /// A value with other lengths in the data of cases that it is never of: these are zeros, as many as the type says.
    pub(super) fn with_lengths(&mut self, value: Expr, wanted: &Type) -> Expr {
        let have = value.ty().without_bounds();
        if have == wanted.without_bounds() {
            return value;
        }
        let span = value.span();
        // where the whole has the wanted length, each branch keeps its own
        let inside = |this: &mut Self, part: &Expr| {
            let wanted = where_they_differ(&part.ty().without_bounds(), &have, wanted);
            let fitted = this.in_branch(|this| Ok(this.with_lengths(part.clone(), &wanted)));
            fitted.unwrap_or_else(|_| part.clone())
        };
        match value.term() {
            Term::If(cond, a, b) => {
                let (a, b) = (inside(self, a), inside(self, b));
                let joined = Expr::if_(cond.clone(), a, b);
                return Expr::with_type(joined.term().clone(), wanted.with_bounds_of(joined.ty()), span);
            }
            Term::Let(x, of, body) => return Expr::let_(x.clone(), of.clone(), inside(self, body)).at(span),
            Term::Check { cond, status, body } => return Expr::check(cond.clone(), *status, inside(self, body)).at(span),
            _ => {}
        }
        match (&have, wanted) {
            (Type::Tuple(_), Type::Tuple(types)) => {
                let parts: Vec<Expr> = if let Term::Tuple(parts) = value.term() {
                    parts.clone()
                } else {
                    let whole = self.name("value", value);
                    (0..types.len()).map(|at| Expr::proj(whole.clone(), at)).collect()
                };
                Expr::tuple(parts.into_iter().zip(types.iter()).map(|(part, ty)| self.with_lengths(part, ty)).collect()).at(span)
            }
            (Type::Array(_, n), Type::Array(element, m)) if n == m => {
                let array = self.name("value", value);
                Expr::build(Expr::dim(array.clone(), 0), "i", |i| {
                    Expr::bind("item", Expr::get(array, i), |item| self.with_lengths(item, element))
                })
                .at(span)
            }
            _ => zero(wanted).unwrap_or(value),
        }
    }

    /// A value's type, with the lengths of another where the value is never of the case.
    fn padded_type(&self, template: &Ty, value: &Expr, other: &Type) -> Type {
        self.borrowed(template, (&value.ty().without_bounds(), &leaves(value)), other)
    }

    /// A value, as long as a type says in the data of cases that it is never of.
    pub(super) fn padded(&mut self, template: &Ty, value: Expr, ty: &Type) -> Expr {
        let wanted = self.padded_type(template, &value, ty);
        self.with_lengths(value, &wanted)
    }

    /// The same of each value that a choice is between, where each is as long as the type in the data of its own case.
    fn padded_inside(&mut self, template: &Ty, value: Expr, shared: &Type) -> Expr {
        let span = value.span();
        let inside = |this: &mut Self, part: &Expr| {
            let fitted = this.in_branch(|this| Ok(this.padded_inside(template, part.clone(), shared)));
            fitted.unwrap_or_else(|_| part.clone())
        };
        match value.term() {
            Term::If(cond, a, b) => {
                let joined = Expr::if_(cond.clone(), inside(self, a), inside(self, b));
                Expr::with_type(joined.term().clone(), shared.with_bounds_of(joined.ty()), span)
            }
            Term::Let(x, of, body) => Expr::let_(x.clone(), of.clone(), inside(self, body)).at(span),
            Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, inside(self, body)).at(span),
            _ => self.padded(template, value, shared),
        }
    }

    /// A type, with the lengths of another where no value of these is of the case.
    fn borrowed(&self, template: &Ty, (own, values): (&Type, &[Expr]), other: &Type) -> Type {
        match (template, own, other) {
            (Ty::Record(sum, _), Type::Tuple(xs), Type::Tuple(ys)) if sum.is_sum() && sum.fields.len() > 1 => {
                let mut parts = xs.to_vec();
                for (at, case) in sum.cases.iter().enumerate() {
                    let Some(part) = case.data.as_ref().map(|data| data.part) else { continue };
                    let is_never = values.iter().all(|value| self.case_of(value).is_some_and(|case| case != at as i64));
                    if let (true, Some(own), Some(other)) = (is_never, parts.get_mut(part), ys.get(part))
                        && !has_unknown(other)
                    {
                        *own = self.with_room(other);
                    }
                }
                Type::tuple(parts)
            }
            (Ty::Record(_, parts), _, _) if parts.len() == 1 => {
                parts.first().map_or(own.clone(), |part| self.borrowed(part, (own, values), other))
            }
            (Ty::Tuple(parts) | Ty::Record(_, parts), Type::Tuple(xs), Type::Tuple(ys)) => {
                let inside = |(k, (template, (x, y))): (usize, (&Ty, (&Type, &Type)))| {
                    let values: Vec<Expr> = values.iter().flat_map(|value| leaves(&part(value, k))).collect();
                    self.borrowed(template, (x, &values), y)
                };
                Type::tuple(parts.iter().zip(xs.iter().zip(ys.iter())).enumerate().map(inside).collect())
            }
            _ => own.clone(),
        }
    }

    /// A type with the lengths of the values that a recursive function or a loop ends with.
    pub(super) fn ends(&self, template: &Ty, open: &Type, values: &[Expr], is_known: &dyn Fn(&Size) -> bool) -> Type {
        match (template, open) {
            _ if has_sum(template) && !self.shares_lengths => open.clone(),
            (Ty::Record(sum, _), Type::Tuple(types)) if sum.is_sum() && sum.fields.len() > 1 => {
                let mut types = types.to_vec();
                for (at, case) in sum.cases.iter().enumerate() {
                    let Some(data) = case.data.as_ref().map(|data| data.part) else { continue };
                    let may_be = values.iter().filter(|value| self.case_of(value).is_none_or(|case| case == at as i64));
                    let found: Vec<Type> = may_be.map(|value| part(value, data).ty().clone()).collect();
                    if let Some(ty) = types.get_mut(data) {
                        *ty = self.agreed(ty, &found, is_known);
                    }
                }
                Type::tuple(types)
            }
            (Ty::Tuple(parts) | Ty::Record(_, parts), Type::Tuple(types)) if parts.len() == types.len() && has_sum(template) => {
                let inside = |(k, (template, ty)): (usize, (&Ty, &Type))| {
                    let values: Vec<Expr> = values.iter().flat_map(|value| leaves(&part(value, k))).collect();
                    self.ends(template, ty, &values, is_known)
                };
                Type::tuple(parts.iter().zip(types.iter()).enumerate().map(inside).collect())
            }
            _ => self.agreed(open, &values.iter().map(|value| value.ty().clone()).collect::<Vec<_>>(), is_known),
        }
    }

    /// A recursive function's result with the lengths of the values that it ends with, and those that its body has without them.
    pub(super) fn result(
        &mut self,
        template: &Ty,
        (params, open): (&[Var], &Type),
        (body, name): (&Expr, &str),
        is_known: &dyn Fn(&Size) -> bool,
    ) -> Type {
        let inside = self.with_lengths_of(params);
        let outer = std::mem::replace(&mut self.local.facts, inside);
        let is_own = |leaf: &Expr| matches!(leaf.term(), Term::Call(of, _) if **of == *name);
        let values: Vec<Expr> = leaves(body).into_iter().filter(|leaf| !is_own(leaf)).collect();
        let mut result = self.ends(template, open, &values, is_known);
        if self.shares_lengths || !has_sum(template) {
            result = self.agreed(&result, &[body.ty().clone()], is_known);
        }
        self.local.facts = outer;
        result
    }

    /// `ifold f init n`, of a state of this type where it has sums. The lengths in these that a step changes are the data's own, and in
    /// emitted code as long as where a value is of the case.
    pub(super) fn fold(&mut self, f: &Callable<'a>, (n, init): (Expr, Expr), span: Span, state: Option<&Ty>) -> Result<Expr> {
        let ty = state.map_or_else(|| init.ty().without_bounds(), |state| with_tags(state, &init.ty().without_bounds()));
        let said = (self.diagnostics.len(), self.local.of_data.clone());
        let mut is_other = false;
        let first = self.loop_of(f, (&n, &init), &ty, span, &mut |this, next| {
            if !state.is_some_and(|state| this.differs(state, next.ty(), &ty)) {
                return this.coerce(next, &ty, span, KEEPS);
            }
            is_other = true;
            Ok(next)
        });
        // with the lengths of the first value a step may be at fault that has others
        let Some(state) = state.filter(|state| is_other || first.is_err() && has_sum(state)) else { return first };
        let again = |this: &mut Self| {
            this.diagnostics.truncate(said.0);
            this.local.of_data.clone_from(&said.1);
        };
        again(self);
        let unknown = || with_lengths_of_its_own(state, &ty, &mut Size::unknown);
        let open = unknown();
        let made = self.loop_of(f, (&n, &init), &open, span, &mut |this, next| {
            let wanted = in_sums(state, &open, &next.ty().without_bounds(), &mut |_, have| have.clone());
            this.coerce(next, &wanted, span, KEEPS)
        })?;
        let Term::Fold { body, acc, .. } = made.term() else { return Ok(made) };
        let mut inside = Needed::default();
        inside.expr(&made);
        let is_outside = |size: &Size| {
            let mut is_outside = !size.has_unknown();
            size.each_var(&mut |var| is_outside &= !inside.bound.contains(var));
            is_outside
        };
        let mut values = [leaves(body), leaves(&init)].concat();
        values.retain(|value| !matches!(value.term(), Term::Var(var) if var == acc));
        let shared = self.ends(state, &open, &values, &is_outside);
        let shared = if has_unknown(&shared) { self.offered(&shared, &values, &is_outside) } else { shared };
        if self.shares_lengths && !has_unknown(&shared) {
            again(self);
            // only data of cases that a value is never of have no length of their own
            let init = self.padded(state, init, &shared);
            let mut fits = !self.differs(state, init.ty(), &shared);
            let made = self.loop_of(f, (&n, &init), &shared, span, &mut |this, next| {
                let next = this.padded(state, next, &shared);
                fits &= !this.differs(state, next.ty(), &shared);
                if fits { this.coerce(next, &shared, span, KEEPS) } else { Ok(next) }
            });
            if fits {
                return made;
            }
            again(self);
        }
        self.local.of_data.choices.push(span);
        // the lengths of the steps' state are read off a variable that is not in scope here
        Ok(Expr::with_type(made.term().clone(), unknown(), span))
    }

    /// A loop over a state of this type, and `fit` of what a step gives.
    fn loop_of(
        &mut self,
        f: &Callable<'a>,
        (n, init): (&Expr, &Expr),
        ty: &Type,
        span: Span,
        fit: &mut dyn FnMut(&mut Self, Expr) -> Result<Expr>,
    ) -> Result<Expr> {
        let acc = Var::named(self.parameter_name(f, 0, "acc"), ty.clone());
        let i = Var::named(self.parameter_name(f, 1, "i"), Type::Index(Some(self.size_of(n))));
        let body = self.scoped(|this| {
            this.note(&acc);
            let next = this.apply(f, vec![Arg::Value(Expr::var(&acc)), Arg::Value(Expr::var(&i))], span)?;
            fit(this, next)
        })?;
        Ok(Expr::fold_with(n.clone(), acc, i, body, init.clone()).at(span))
    }

    /// Whether the sums of a type have lengths that are not those of another.
    pub(super) fn differs(&self, template: &Ty, a: &Type, b: &Type) -> bool {
        let mut differs = false;
        in_sums(template, a, b, &mut |a, b| {
            differs |= !self.normal(a).is_as_long(&self.normal(b));
            a.clone()
        });
        differs
    }

    /// A type with the lengths on which all of these agree that are known, 0 where there are none, in the place of unknown ones.
    fn agreed(&self, open: &Type, types: &[Type], is_known: &dyn Fn(&Size) -> bool) -> Type {
        match open {
            Type::Array(element, length) => {
                let parts = |ty: &Type| match ty {
                    Type::Array(element, length) => Some(((**element).clone(), length.clone())),
                    Type::Double | Type::Bool | Type::Index(_) | Type::Tuple(_) | Type::Rec(_) => None,
                };
                let (elements, lengths): (Vec<Type>, Vec<Size>) =
                    types.iter().map(|ty| self.with_room(ty)).filter_map(|ty| parts(&ty)).unzip();
                let mut known = lengths.iter().filter(|size| is_known(size));
                let found = known.next().filter(|first| known.all(|other| other == *first));
                let length = match found {
                    _ if !length.has_unknown() => length.clone(),
                    None if types.is_empty() => Size::constant(0),
                    None => length.clone(),
                    Some(found) => found.clone(),
                };
                Type::array(self.agreed(element, &elements, is_known), length)
            }
            Type::Tuple(parts) => {
                let of = |k: usize| -> Vec<Type> {
                    let part = |ty: &Type| if let Type::Tuple(parts) = ty { parts.get(k).cloned() } else { None };
                    types.iter().filter_map(part).collect()
                };
                Type::tuple(parts.iter().enumerate().map(|(k, part)| self.agreed(part, &of(k), is_known)).collect())
            }
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => open.clone(),
        }
    }

    /// A type with lengths that it lacks from arrays of its shape that the functions whose results these values are take: where a state is
    /// given to `best s row`, it may be as long as the row.
    fn offered(&self, open: &Type, values: &[Expr], is_known: &dyn Fn(&Size) -> bool) -> Type {
        match open {
            Type::Tuple(parts) => Type::tuple(parts.iter().map(|part| self.offered(part, values, is_known)).collect()),
            Type::Array(..) if has_unknown(open) => {
                let mut found = Vec::new();
                for value in values {
                    if let Term::Call(_, args) = value.term() {
                        args.iter().for_each(|arg| arrays(arg.ty(), open, &mut found));
                    }
                }
                self.agreed(open, &found, is_known)
            }
            Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => open.clone(),
        }
    }

    /// What is known of lengths where these parameters are, too.
    pub(super) fn with_lengths_of(&self, params: &[Var]) -> Facts {
        let mut facts = self.local.facts.clone();
        if self.shares_lengths {
            params.iter().for_each(|param| facts.exists(param.ty()));
        }
        facts
    }

    /// A type whose lengths none is negative where there is no array, either.
    fn with_room(&self, ty: &Type) -> Type {
        if !self.shares_lengths {
            return ty.clone();
        }
        let is_length = |length: &Size| length.has_unknown() || self.local.facts.nonnegative(length);
        ty.map_sizes(&mut |length| if is_length(length) { length.clone() } else { length.or_zero() })
    }

    /// The number of the case that a value of a sum type always is.
    pub(super) fn case_of(&self, value: &Expr) -> Option<i64> {
        self.told(&part(value, 0)).size()?.as_constant()
    }
}

/// The first type, but the lengths in its sums made of those of both.
pub(super) fn in_sums(template: &Ty, a: &Type, b: &Type, of: &mut dyn FnMut(&Size, &Size) -> Size) -> Type {
    fn lengths(a: &Type, b: &Type, of: &mut dyn FnMut(&Size, &Size) -> Size) -> Type {
        match (a, b) {
            (Type::Array(x, n), Type::Array(y, m)) => Type::array(lengths(x, y, of), of(n, m)),
            (Type::Tuple(xs), Type::Tuple(ys)) => Type::tuple(xs.iter().zip(ys.iter()).map(|(x, y)| lengths(x, y, of)).collect()),
            _ => a.clone(),
        }
    }
    match (template, a, b) {
        (Ty::Record(sum, _), _, _) if sum.is_sum() => lengths(a, b, of),
        (Ty::Record(_, parts), _, _) if parts.len() == 1 => parts.first().map_or(a.clone(), |part| in_sums(part, a, b, of)),
        (Ty::Array(element, _), Type::Array(x, n), Type::Array(y, _)) => Type::array(in_sums(element, x, y, of), n.clone()),
        (Ty::Tuple(parts) | Ty::Record(_, parts), Type::Tuple(xs), Type::Tuple(ys)) => {
            Type::tuple(parts.iter().zip(xs.iter().zip(ys.iter())).map(|(part, (x, y))| in_sums(part, x, y, of)).collect())
        }
        _ => a.clone(),
    }
}

/// A type with such lengths in its sums, but where the declaration says a number, which nothing changes.
pub(super) fn with_lengths_of_its_own(template: &Ty, ty: &Type, length: &mut dyn FnMut() -> Size) -> Type {
    let declared = template.to_core().unwrap_or_else(|| ty.map_sizes(&mut |_| Size::unknown()));
    in_sums(template, ty, &declared, &mut |_, said| said.as_constant().map_or_else(&mut *length, Size::constant))
}

/// A branch's type with the wanted lengths where they are not those of the whole.
fn where_they_differ(branch: &Type, whole: &Type, wanted: &Type) -> Type {
    match (branch, whole, wanted) {
        (Type::Array(own, length), Type::Array(have, n), Type::Array(want, m)) => {
            Type::array(where_they_differ(own, have, want), if n == m { length.clone() } else { m.clone() })
        }
        (Type::Tuple(own), Type::Tuple(have), Type::Tuple(want)) => Type::tuple(
            own.iter().zip(have.iter().zip(want.iter())).map(|(own, (have, want))| where_they_differ(own, have, want)).collect(),
        ),
        _ => branch.clone(),
    }
}

/// A type whose tags say how many cases there are.
fn with_tags(template: &Ty, ty: &Type) -> Type {
    match (template, ty) {
        (Ty::Record(sum, parts), Type::Tuple(types)) if sum.is_sum() && parts.len() == types.len() => {
            let data = parts.iter().zip(types.iter()).skip(1).map(|(part, ty)| with_tags(part, ty));
            let tag = Type::Index(Some(Size::constant(sum.cases.len() as i64)));
            Type::tuple(std::iter::once(tag).chain(data).collect())
        }
        (Ty::Record(_, parts), _) if parts.len() == 1 => parts.first().map_or_else(|| ty.clone(), |part| with_tags(part, ty)),
        (Ty::Tuple(parts) | Ty::Record(_, parts), Type::Tuple(types)) => {
            Type::tuple(parts.iter().zip(types.iter()).map(|(part, ty)| with_tags(part, ty)).collect())
        }
        (Ty::Array(element, _), Type::Array(own, length)) => Type::array(with_tags(element, own), length.clone()),
        _ => ty.clone(),
    }
}

/// Whether a value's lengths are those of a type where the type has some.
pub(super) fn fits(value: &Type, ty: &Type) -> bool {
    value.lengths().iter().zip(&ty.lengths()).all(|(own, length)| own == length || length.has_unknown())
}

/// Whether some of these values have other lengths than others where a type has none: what is chosen is as long as data says.
pub(super) fn disagree(values: &[Expr], ty: &Type) -> bool {
    let own: Vec<Vec<Size>> = values.iter().map(|value| value.ty().lengths()).collect();
    ty.lengths().iter().enumerate().filter(|(_, length)| length.has_unknown()).any(|(at, _)| {
        let mut known = own.iter().filter_map(|own| own.get(at)).filter(|length| !length.has_unknown());
        known.next().is_some_and(|first| known.any(|other| other != first))
    })
}

/// The arrays in a type that have the shape of another.
fn arrays(ty: &Type, like: &Type, found: &mut Vec<Type>) {
    match ty {
        Type::Tuple(parts) => parts.iter().for_each(|part| arrays(part, like, found)),
        _ if ty.same_shape(like) => found.push(ty.clone()),
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => {}
    }
}

/// A component of a tuple, which may be written as one.
pub(super) fn part(value: &Expr, at: usize) -> Expr {
    let written = if let Term::Tuple(values) = value.term() { values.get(at).cloned() } else { None };
    written.unwrap_or_else(|| Expr::proj(value.clone(), at))
}

/// The values that a choice is between.
pub(super) fn leaves(value: &Expr) -> Vec<Expr> {
    match value.term() {
        Term::If(_, a, b) => [leaves(a), leaves(b)].concat(),
        Term::Let(_, _, body) | Term::Check { body, .. } => leaves(body),
        _ => vec![value.clone()],
    }
}

/// Whether a sum type is in a type, arrays included.
pub(super) fn has_sum(ty: &Ty) -> bool {
    match ty {
        Ty::Record(record, parts) => record.is_sum() || parts.iter().any(has_sum),
        Ty::Tuple(parts) => parts.iter().any(has_sum),
        Ty::Array(element, _) => has_sum(element),
        Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => false,
    }
}
