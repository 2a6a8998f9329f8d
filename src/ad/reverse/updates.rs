//! The backward pass of updates.
//!
//! In: an update with the cotangent of its result. Out: the contributions to the cotangents of the old array and of the element. Where
//! a later loop updated the array in place and has restored it, this update is undone as well.
//!
//!     let b = update a i x, cotangent w   →   x_bar := w[i], a_bar := update w i 0.0

use super::adjoint::zeros;
use super::operations::Updating;
use super::sweep::Sweep;
use crate::ad::block::Block;
use crate::ir::{Change, Expr, Name};

impl Sweep<'_> {
    pub fn update_back(
        &mut self,
        Updating { change, before, after, indices, old, new, array, value, out: whole }: &Updating,
        out: &mut Block,
    ) {
        for (path, cotangent) in self.taken(whole, out) {
            let cotangent = out.bind(Name::placeholder("w"), cotangent);
            let element = indices.iter().fold(cotangent.clone(), |row, index| Expr::get(row, index.clone()));
            let element = out.bind(Name::placeholder("w"), element);
            // the array's share first: it is what the element's is then added to, where that comes from the same array
            if let Some(place) = array.at(&path) {
                let rest = match change {
                    Change::Add => cotangent,
                    Change::Replace => {
                        let none = zeros(new, &path);
                        out.bind(Name::placeholder("w"), Expr::update(Change::Replace, cotangent, indices.clone(), none))
                    }
                };
                self.add(&place.clone(), rest, out);
            }
            if let Some(place) = value.at(&path) {
                self.add(&place.clone(), element, out);
            }
        }
        let undone = Expr::update(Change::Replace, after.clone(), indices.clone(), old.clone());
        if out.is_renewed(after) {
            // a loop changed the array further, and back again: so does this, and nobody needs the array as it was
            let again = out.bind("a", undone);
            out.same(before, again);
        } else if self.states.last().is_some_and(|acc| out.comes_from(before, acc)) {
            out.undo(before, after, undone);
        }
    }
}
