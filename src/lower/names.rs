//! Names of what the program does not name.
//!
//! In: a value, and what it is called so far. Out: an element of an array in memory is called after the array, and the state of a loop in
//! new storage as the loop's value is, or as in its step.
//!
//!     cam[2], m[i][0]   →   cam_2, m_i_0

use crate::ir::last_use::component;
use crate::ir::{Expr, Name, Term, Var};

use super::context::Lowerer;
use super::view::{Leaf, View};

/// What a value is called that the program does not name.
pub fn unnamed() -> Name {
    Name::placeholder("t")
}

/// What a loop's state in new storage is called: as the value is, where that or a part of it has a name.
pub fn state_name<'n>(state: &'n Var, value: &'n Name) -> &'n Name {
    let has_own = value.has_parts() || !value.is_placeholder() && !state.full_name().has_parts();
    if has_own { value } else { state.full_name() }
}

impl Lowerer<'_> {
    /// What a variable is called: after the element that it is where its own name says nothing.
    pub fn name_of(&self, var: &Var, value: &Expr) -> Name {
        let element = if var.full_name().is_placeholder() { self.element_name(value) } else { None };
        element.unwrap_or_else(|| var.full_name().clone())
    }

    fn element_name(&self, value: &Expr) -> Option<Name> {
        let Term::Get(array, index) = value.term() else { return None };
        if matches!(array.term(), Term::Get(..)) {
            return self.element_name(array)?.element(index);
        }
        let (var, path) = component(array)?;
        let View::Array(view) = path.iter().try_fold(self.env.get(var)?, |view, k| view.part(*k))? else { return None };
        let [Leaf { base, taken, .. }] = view.leaves.as_slice() else { return None };
        let (name, place) = (var.full_name().at(&path), &self.locals[*base].name);
        let is_its_own = taken.is_empty() && (name.text() == place || name.is_placeholder());
        is_its_own.then(|| Name::from(place).element(index))?
    }
}
