//! What is not known yet: holes, and the unification that solves them.
//!
//! In: two types that must be one. Out: the holes in them solved, or why they are not one. A size hole is an `Atom::Unknown` that the
//! table has; it is solved when it meets another size alone. Two sizes that are both decided and not equal are no type error unless
//! they provably differ: the elaborator puts a run-time check where it cannot prove them equal.
//!
//!     'a => Vector<_>   and   Double => Vector<3>   →   'a = Double, _ = 3

use std::collections::HashMap;
use std::rc::Rc;

use super::ty::{Class, Ty};
use crate::budget;
use crate::ir::{Atom, Size};

#[derive(Clone, Debug)]
enum Hole {
    Open { class: Class, level: u32 },
    Solved(Ty),
}

/// Why two types do not unify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    Types,
    /// The two lengths that provably differ.
    Sizes(Size, Size),
    /// A hole would contain itself.
    Infinite,
    /// A hole would have more components than the budget allows.
    TooLarge,
}

/// All holes of one compilation and what is known of them.
#[derive(Default)]
pub struct Holes {
    types: Vec<Hole>,
    sizes: HashMap<u32, Option<Size>>,
}

impl Holes {
    /// A type hole made at nesting depth `level` of the functions being inferred.
    pub fn fresh(&mut self, class: Class, level: u32) -> Ty {
        self.types.push(Hole::Open { class, level });
        Ty::Hole(self.types.len() as u32 - 1)
    }

    /// A size hole.
    pub fn fresh_size(&mut self) -> Size {
        let size = Size::unknown();
        if let Some(Atom::Unknown(id)) = size.as_atom() {
            self.sizes.insert(*id, None);
        }
        size
    }

    pub fn class(&self, id: u32) -> Class {
        match self.types.get(id as usize) {
            Some(Hole::Open { class, .. }) => *class,
            Some(Hole::Solved(_)) | None => Class::Any,
        }
    }

    pub fn level(&self, id: u32) -> u32 {
        match self.types.get(id as usize) {
            Some(Hole::Open { level, .. }) => *level,
            Some(Hole::Solved(_)) | None => 0,
        }
    }

    /// The type with its outermost hole resolved.
    pub fn head(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Hole(id) = ty {
            match self.types.get(id as usize) {
                Some(Hole::Solved(solved)) => ty = solved.clone(),
                Some(Hole::Open { .. }) | None => return ty,
            }
        }
        ty
    }

    /// Whether a type has more scalar parts than this, an array's element counted once; walks no further.
    pub fn has_more_components(&self, ty: &Ty, limit: usize) -> bool {
        self.components_left(ty, limit).is_none()
    }

    fn components_left(&self, ty: &Ty, limit: usize) -> Option<usize> {
        match ty {
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Fun(..) => limit.checked_sub(1),
            Ty::Array(element, _) => self.components_left(element, limit),
            Ty::Tuple(parts) | Ty::Record(_, parts) => parts.iter().try_fold(limit, |limit, part| self.components_left(part, limit)),
            Ty::Hole(id) => match self.types.get(*id as usize) {
                Some(Hole::Solved(solved)) => self.components_left(solved, limit),
                Some(Hole::Open { .. }) | None => limit.checked_sub(1),
            },
        }
    }

    /// The type with all solved holes and sizes filled in.
    pub fn resolve(&self, ty: &Ty) -> Ty {
        ty.map(&mut |size| self.resolve_size(size), &mut |id| match self.types.get(id as usize) {
            Some(Hole::Solved(solved)) => self.resolve(&solved.clone()),
            Some(Hole::Open { .. }) | None => Ty::Hole(id),
        })
    }

    pub fn resolve_size(&self, size: &Size) -> Size {
        if !size.has_unknown() {
            return size.clone();
        }
        size.substitute(&mut |atom| match atom {
            Atom::Unknown(id) => self.sizes.get(id).and_then(|known| known.as_ref()).map(|known| self.resolve_size(known)),
            Atom::Var(_) | Atom::Term(_) => None,
        })
    }

    /// The hole, when the (resolved) size is one and nothing else.
    pub fn open_size(&self, size: &Size) -> Option<u32> {
        match size.as_atom()? {
            Atom::Unknown(id) if matches!(self.sizes.get(id), Some(None)) => Some(*id),
            Atom::Unknown(_) | Atom::Var(_) | Atom::Term(_) => None,
        }
    }

    pub fn solve_size(&mut self, id: u32, size: Size) {
        self.sizes.insert(id, Some(size));
    }

    /// Solves a hole without checks; used to default open numbers.
    pub fn solve(&mut self, id: u32, ty: Ty) {
        if let Some(hole) = self.types.get_mut(id as usize) {
            *hole = Hole::Solved(ty);
        }
    }

    /// The open holes of a type, in order of appearance.
    pub fn open(&self, ty: &Ty) -> Vec<u32> {
        let mut open = Vec::new();
        self.resolve(ty).map(&mut Size::clone, &mut |id| {
            if !open.contains(&id) {
                open.push(id);
            }
            Ty::Hole(id)
        });
        open
    }

    pub fn unify(&mut self, a: &Ty, b: &Ty) -> Result<(), Mismatch> {
        let (a, b) = (self.head(a), self.head(b));
        match (&a, &b) {
            (Ty::Hole(x), Ty::Hole(y)) if x == y => Ok(()),
            (Ty::Hole(x), Ty::Hole(y)) => {
                let Some(class) = self.class(*x).meet(self.class(*y)) else {
                    self.solve(*x, Ty::Double);
                    self.solve(*y, Ty::Double);
                    return Ok(());
                };
                let level = self.level(*x).min(self.level(*y));
                if let Some(hole) = self.types.get_mut(*y as usize) {
                    *hole = Hole::Open { class, level };
                }
                self.solve(*x, b);
                Ok(())
            }
            (Ty::Hole(x), other) | (other, Ty::Hole(x)) => self.bind(*x, other),
            (Ty::Double, Ty::Double) | (Ty::Bool, Ty::Bool) | (Ty::Index(_), Ty::Index(_)) => Ok(()),
            (Ty::Array(x, n), Ty::Array(y, m)) => {
                self.unify(x, y)?;
                self.unify_size(n, m)
            }
            (Ty::Tuple(xs), Ty::Tuple(ys)) if xs.len() == ys.len() => xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.unify(x, y)),
            (Ty::Rec(a), Ty::Rec(b)) if a == b => Ok(()),
            // the lengths inside a sum are those of the value at hand
            (Ty::Record(a, _), Ty::Record(b, _)) if Rc::ptr_eq(a, b) && a.is_sum() => Ok(()),
            (Ty::Record(a, xs), Ty::Record(b, ys)) if Rc::ptr_eq(a, b) => xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.unify(x, y)),
            (Ty::Fun(xs, x), Ty::Fun(ys, y)) if xs.len() == ys.len() => {
                xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.unify(x, y))?;
                self.unify(x, y)
            }
            _ => Err(Mismatch::Types),
        }
    }

    /// Solves size holes; an error only where the sizes provably differ.
    pub fn unify_size(&mut self, a: &Size, b: &Size) -> Result<(), Mismatch> {
        let (a, b) = (self.resolve_size(a), self.resolve_size(b));
        if a == b {
            return Ok(());
        }
        match (self.open_size(&a), self.open_size(&b)) {
            (Some(id), _) if !occurs_in_size(id, &b) => self.solve_size(id, b),
            (_, Some(id)) if !occurs_in_size(id, &a) => self.solve_size(id, a),
            _ if a.sub(&b).as_constant().is_some_and(|difference| difference != 0) => return Err(Mismatch::Sizes(a, b)),
            _ => {}
        }
        Ok(())
    }

    /// The type with lengths of their own in its sums: what a hole stands for may be a value of another case.
    pub(super) fn with_free_sums(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Record(sum, _) if sum.is_sum() => {
                let sizes: Vec<Size> = sum.sizes.iter().map(|_| self.fresh_size()).collect();
                Ty::Record(sum.clone(), sum.instance(&sizes).into())
            }
            Ty::Record(record, parts) => Ty::Record(record.clone(), parts.iter().map(|part| self.with_free_sums(part)).collect()),
            Ty::Tuple(parts) => Ty::tuple(parts.iter().map(|part| self.with_free_sums(part)).collect()),
            Ty::Array(element, size) => Ty::array(self.with_free_sums(element), size.clone()),
            Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Rec(_) | Ty::Fun(..) | Ty::Hole(_) => ty.clone(),
        }
    }

    fn bind(&mut self, id: u32, ty: &Ty) -> Result<(), Mismatch> {
        if self.has_more_components(ty, budget::COMPONENTS) {
            return Err(Mismatch::TooLarge);
        }
        let ty = self.resolve(ty).without_bounds();
        let ty = self.with_free_sums(&ty);
        let fits = match (self.class(id), &ty) {
            (Class::Any, _) => true,
            (Class::Number, Ty::Double | Ty::Index(_)) => true,
            (Class::Scalar, Ty::Double | Ty::Index(_) | Ty::Bool) => true,
            (Class::Sum, Ty::Double | Ty::Index(_)) | (Class::Tensor, Ty::Double) => true,
            (Class::Sum | Class::Tensor, Ty::Array(element, _)) => self.restrict(element),
            (Class::Number | Class::Scalar | Class::Sum | Class::Tensor, _) => false,
        };
        if !fits {
            return Err(Mismatch::Types);
        }
        let level = self.level(id);
        for inner in self.open(&ty) {
            if inner == id {
                return Err(Mismatch::Infinite);
            }
            if let Some(Hole::Open { level: other, .. }) = self.types.get_mut(inner as usize) {
                *other = (*other).min(level);
            }
        }
        self.solve(id, ty);
        Ok(())
    }

    /// Whether a type can be a Double or an array of Doubles of any rank; from now on it can be nothing else.
    fn restrict(&mut self, ty: &Ty) -> bool {
        match self.head(ty) {
            Ty::Double => true,
            Ty::Array(element, _) => self.restrict(&element),
            Ty::Hole(id) => {
                match self.class(id).meet(Class::Tensor) {
                    Some(class) => self.set_class(id, class),
                    None => self.solve(id, Ty::Double),
                }
                true
            }
            Ty::Bool | Ty::Index(_) | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) | Ty::Fun(..) => false,
        }
    }

    fn set_class(&mut self, id: u32, to: Class) {
        if let Some(Hole::Open { class, .. }) = self.types.get_mut(id as usize) {
            *class = to;
        }
    }

    /// What may be an array of Doubles is a number.
    pub fn narrow(&mut self, id: u32) {
        match self.class(id) {
            Class::Sum => self.set_class(id, Class::Number),
            Class::Tensor => self.solve(id, Ty::Double),
            Class::Any | Class::Scalar | Class::Number => {}
        }
    }

    /// The type belongs to what is around a function, too.
    pub fn lower(&mut self, ty: &Ty, to: u32) {
        for id in self.open(ty) {
            if let Some(Hole::Open { level, .. }) = self.types.get_mut(id as usize) {
                *level = (*level).min(to);
            }
        }
    }
}

fn occurs_in_size(id: u32, size: &Size) -> bool {
    size.atoms().any(|atom| *atom == Atom::Unknown(id))
}
