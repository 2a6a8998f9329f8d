//! Wanted shapes: where a value's sizes must be others, prove it, refute it, or check it at run time.
//!
//! In: a term and the type it should have. Out: the term, under checks in the innermost scope for each size
//! that could not be proved equal; a diagnostic where two sizes provably differ.
//!
//! An unknown size is read off a variable in scope whose type has it; [`Elaborator::note`] remembers which.
//!
//!     coerce w : Vector<m>  to  Vector<n>   →   check dim(w, 0) = n else SHAPE in w

use std::collections::hash_map::Entry;

use super::elaborate::{Elaborator, Result};
use super::scope::Scope;
use crate::diagnostic::Diagnostic;
use crate::ir::{Atom, Expr, Prim, Size, Status, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{SizeExpr, SizeExprKind, TypeExpr, TypeExprKind};

/// Calls `f` with each array length in a value's type and the term that reads it. Lengths inside the
/// elements of an array of tuples cannot be read and are left out.
pub fn each_dimension(value: &Expr, ty: &Type, f: &mut dyn FnMut(&Size, Expr)) {
    match ty {
        Type::Array(..) => {
            for (axis, size) in ty.dims().iter().enumerate() {
                f(size, Expr::dim(value.clone(), axis));
            }
        }
        Type::Tuple(parts) => {
            for (at, part) in parts.iter().enumerate() {
                each_dimension(&Expr::proj(value.clone(), at), part, f);
            }
        }
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {}
    }
}

impl<'a> Elaborator<'a> {
    /// Remembers how to compute the unknown sizes of a variable's type.
    pub(super) fn note(&mut self, var: &Var) {
        let mut found = Vec::new();
        each_dimension(&Expr::var(var), var.ty(), &mut |size, term| {
            if let Some(Atom::Unknown(id)) = size.as_atom() {
                found.push((*id, term));
            }
        });
        for (id, term) in found {
            self.lengths.entry(id).or_insert_with(|| term.clone());
            if let Entry::Vacant(entry) = self.local.witnesses.entry(id) {
                entry.insert(term);
                self.local.noted.push(id);
            }
        }
    }

    /// Forgets what was noted in a scope that ends, in which the first `outside` were known before.
    pub(super) fn forget(&mut self, outside: usize) {
        for id in self.local.noted.split_off(outside.min(self.local.noted.len())) {
            let term = self.local.witnesses.remove(&id);
            if self.lengths.get(&id).zip(term).is_some_and(|(known, term)| known.is_same(&term)) {
                self.lengths.remove(&id);
            }
        }
    }

    /// The value with the wanted type; `why` says where the wish comes from.
    pub fn coerce(&mut self, value: Expr, wanted: &Type, span: Span, why: &str) -> Result<Expr> {
        if value.ty() == wanted {
            return Ok(value);
        }
        let have: Vec<Size> = sizes(value.ty()).iter().map(|size| self.normal(size)).collect();
        let want: Vec<Size> = sizes(wanted).iter().map(|size| self.normal(size)).collect();
        for (have, want) in have.iter().zip(&want) {
            if have.sub(want).as_constant().is_some_and(|difference| difference != 0) {
                let help = format!("{why}: the lengths {want} and {have} can never be equal");
                return self.fail(Diagnostic::error("E0401", span, format!("expected size {want}, found size {have}")).help(help));
            }
        }
        let differ = have.iter().zip(&want).any(|(have, want)| !have.is_as_long(want));
        let open = differ || self.unbounded(value.ty(), wanted);
        if !open {
            return Ok(retype(&value, wanted));
        }
        let value = self.name("value", value);
        let mut wishes = Vec::new();
        each_dimension(&value, wanted, &mut |size, term| wishes.push((size.clone(), term)));
        for (want, term) in wishes {
            let have = Size::of_expr(&term);
            if self.normal(&have).is_as_long(&self.normal(&want)) {
                continue;
            }
            self.warn_of_equal(&have, &want, span);
            if let Some(wanted_length) = self.size_term(&want) {
                // in the row of a case its data have their own length, with shared lengths too
                let mut unknown = have.unknowns().chain(want.unknowns()).peekable();
                if unknown.peek().is_none() || !unknown.all(|size| self.local.of_cases.contains(&size)) {
                    self.local.of_data.compared.insert(span);
                }
                self.check(Expr::prim(Prim::Eq, vec![term, wanted_length]), Status::Shape, span);
            }
        }
        self.check_range(&value, wanted, span);
        Ok(retype(&value, wanted))
    }

    /// Two sizes that the declaration names differently have to be equal, whatever it is called with.
    fn warn_of_equal(&mut self, a: &Size, b: &Size, span: Span) {
        let (a, b) = (self.normal(a), self.normal(b));
        let (Some(a), Some(b)) = (a.as_var(), b.as_var()) else { return };
        let declared = |var: &Var| self.local.declared.contains(var);
        if self.local.branches > 0 || a.name() == b.name() || !declared(a) || !declared(b) {
            return;
        }
        let message = format!("the sizes `{}` and `{}` have to be equal here", b.name(), a.name());
        self.report(Diagnostic::warning("W0407", span, message).help("give them one name, so that the signature says it"));
    }

    /// Whether some index bound of `wanted` is not implied by the type at hand.
    fn unbounded(&self, have: &Type, wanted: &Type) -> bool {
        match (have, wanted) {
            (_, Type::Index(None)) => false,
            (Type::Index(Some(have)), Type::Index(Some(want))) => self.normal(have) != self.normal(want),
            (Type::Index(None), Type::Index(Some(_))) => true,
            (Type::Array(have, _), Type::Array(want, _)) => self.unbounded(have, want),
            (Type::Tuple(have), Type::Tuple(want)) => have.iter().zip(want.iter()).any(|(have, want)| self.unbounded(have, want)),
            _ => false,
        }
    }

    /// Checks the indices in a value against the bounds of its wanted type.
    fn check_range(&mut self, value: &Expr, wanted: &Type, span: Span) {
        if !self.unbounded(value.ty(), wanted) {
            return;
        }
        if let Some(condition) = self.in_range(value, wanted) {
            self.check(condition, Status::Range, span);
        }
    }

    fn in_range(&self, value: &Expr, wanted: &Type) -> Option<Expr> {
        match (value.ty(), wanted) {
            (have, want) if !self.unbounded(have, want) => None,
            (Type::Index(_), Type::Index(Some(bound))) => {
                let low = Expr::prim(Prim::Le, vec![Expr::index(0), value.clone()]);
                let high = Expr::prim(Prim::Lt, vec![value.clone(), self.size_term(bound)?]);
                Some(Expr::prim(Prim::And, vec![low, high]))
            }
            (Type::Array(..), Type::Array(element, _)) => {
                let n = Expr::dim(value.clone(), 0);
                Some(Expr::fold(n, "fine", "i", Expr::bool(true), |fine, i| {
                    let item = Expr::get(value.clone(), i);
                    let inside = Expr::bind("item", item, |item| self.in_range(&item, element).unwrap_or(Expr::bool(true)));
                    Expr::prim(Prim::And, vec![fine, inside])
                }))
            }
            (Type::Tuple(_), Type::Tuple(parts)) => {
                let checks = parts.iter().enumerate().filter_map(|(at, part)| self.in_range(&Expr::proj(value.clone(), at), part));
                checks.reduce(|a, b| Expr::prim(Prim::And, vec![a, b]))
            }
            _ => None,
        }
    }

    /// The value with a written type; size names that the annotation introduces are bound to its sizes.
    pub fn annotate(&mut self, value: Expr, written: &'a TypeExpr, scope: &Scope<'a>, span: Span) -> Result<(Expr, Scope<'a>)> {
        let mut scope = scope.clone();
        let ty = value.ty().clone();
        let wanted = self.wanted(&ty, written, &mut scope);
        let value = self.coerce(value, &wanted, span, "the annotation says so")?;
        Ok((value, scope))
    }

    /// The type that is written, where one of this form is had; a length that is not written is that of the latter.
    pub(super) fn wanted(&self, have: &Type, written: &TypeExpr, scope: &mut Scope<'a>) -> Type {
        match (&written.kind, have) {
            (TypeExprKind::Index(Some(bound)), _) => Type::Index(Some(written_size(bound, scope))),
            (TypeExprKind::Index(None), _) => Type::INDEX,
            (TypeExprKind::Array(element, size), Type::Array(inner, length)) => {
                let size = match size {
                    Some(SizeExpr { kind: SizeExprKind::Name(name), .. }) if scope.sizes.get(name).is_none() => {
                        scope.sizes = scope.sizes.with(name, length.clone());
                        length.clone()
                    }
                    Some(size) => written_size(size, scope),
                    None => length.clone(),
                };
                Type::array(self.wanted(inner, element, scope), size)
            }
            (TypeExprKind::Tuple(parts), Type::Tuple(types)) => {
                Type::tuple(parts.iter().zip(types.iter()).map(|(part, ty)| self.wanted(ty, part, scope)).collect())
            }
            (TypeExprKind::Named(name, sizes), _) => self.wanted_record(have, name, sizes, scope).unwrap_or_else(|| have.clone()),
            _ => have.clone(),
        }
    }
}

pub(super) fn written_size(size: &SizeExpr, scope: &Scope) -> Size {
    match &size.kind {
        SizeExprKind::Int(value) => Size::constant(*value),
        SizeExprKind::Name(name) => scope.sizes.get(name).cloned().unwrap_or_else(Size::unknown),
        SizeExprKind::Add(a, b) => written_size(a, scope).add(&written_size(b, scope)),
        SizeExprKind::Sub(a, b) => written_size(a, scope).sub(&written_size(b, scope)),
        SizeExprKind::Mul(a, b) => written_size(a, scope).mul(&written_size(b, scope)),
    }
}

/// The array lengths of a type, without index bounds.
fn sizes(ty: &Type) -> Vec<Size> {
    match ty {
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => Vec::new(),
        Type::Array(element, size) => std::iter::once(size.clone()).chain(sizes(element)).collect(),
        Type::Tuple(parts) => parts.iter().flat_map(sizes).collect(),
    }
}

fn retype(value: &Expr, wanted: &Type) -> Expr {
    Expr::with_type(value.term().clone(), wanted.clone(), value.span())
}
