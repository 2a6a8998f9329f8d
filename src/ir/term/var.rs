//! Variables: each binder is one of its own, unique in the program.
//!
//! In: a name for people, which components may have too, and a type. Out: a variable that equals no other, with a number to tell it by.
//!
//!     build n (fun i -> i), build n (fun i -> i)     two variables, both named i

use std::cell::Cell;
use std::rc::Rc;

use super::{Name, Type, Var, VarData};

thread_local! { static NEXT: Cell<u32> = const { Cell::new(0) }; }

/// A number that no variable, unknown size or mark of this thread has yet.
pub fn fresh_id() -> u32 {
    NEXT.with(|next| {
        let id = next.get();
        next.set(id + 1);
        id
    })
}

/// Numbers from here on are those of ambient variables.
const AMBIENT: u32 = u32::MAX - 7;

/// So many numbers below are those of variables that folds in sizes bind.
const OF_SIZES: u32 = 64;

impl Var {
    /// A new binder.
    pub fn fresh(name: &str, ty: Type) -> Var {
        Var::named(name.into(), ty)
    }

    /// A variable that has no binder, but is there in every function; `number` is below 8.
    pub(in crate::ir) fn ambient(number: u32, name: &str, ty: Type) -> Var {
        Var(Rc::new(VarData { id: AMBIENT + number, name: name.into(), ty }))
    }

    /// A variable that a fold in a size binds, `height` folds around the innermost: equal folds bind equal variables.
    pub fn of_size(height: u32, name: &str, ty: Type) -> Option<Var> {
        let number = height.checked_mul(2)?.checked_add(u32::from(name == "i"))?;
        let id = AMBIENT.checked_sub(1)?.checked_sub(number).filter(|_| number < OF_SIZES)?;
        Some(Var(Rc::new(VarData { id, name: name.into(), ty })))
    }

    /// Whether a fold in a size binds it.
    pub fn is_of_size(&self) -> bool {
        (AMBIENT - OF_SIZES..AMBIENT).contains(&self.0.id)
    }

    /// Whether it is the index of a fold in a size.
    pub fn is_index_of_size(&self) -> bool {
        self.is_of_size() && *self.0.name == *"i"
    }

    /// Whether it is there in every function: see `ambient`.
    pub fn is_ambient(&self) -> bool {
        self.0.id >= AMBIENT
    }

    /// A new binder whose components may have names of their own.
    pub fn named(name: Name, ty: Type) -> Var {
        Var(Rc::new(VarData { id: fresh_id(), name, ty }))
    }

    /// A new binder of the same name with another type.
    pub fn renewed(&self, ty: Type) -> Var {
        Var::named(self.0.name.for_type(&self.0.ty, &ty), ty)
    }

    /// The same binder seen with another type: only for rebuilding a whole scope.
    pub fn retyped(&self, ty: Type) -> Var {
        Var(Rc::new(VarData { id: self.0.id, name: self.0.name.for_type(&self.0.ty, &ty), ty }))
    }

    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// Whether both are one binder with one type.
    pub fn is_same(&self, other: &Var) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self == other && self.ty() == other.ty()
    }

    pub fn name(&self) -> &Rc<str> {
        self.0.name.text()
    }

    /// The name with those of the components.
    pub fn full_name(&self) -> &Name {
        &self.0.name
    }

    pub fn ty(&self) -> &Type {
        &self.0.ty
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Var) -> bool {
        self.0.id == other.0.id
    }
}
impl Eq for Var {}
impl PartialOrd for Var {
    fn partial_cmp(&self, other: &Var) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Var {
    fn cmp(&self, other: &Var) -> std::cmp::Ordering {
        self.0.id.cmp(&other.0.id)
    }
}
impl std::hash::Hash for Var {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}
impl std::fmt::Debug for Var {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}#", self.name(), self.0.id)
    }
}
