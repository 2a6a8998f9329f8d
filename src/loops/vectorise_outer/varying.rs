//! What differs from one iteration of a loop to another, and what is the same for all of them.
//!
//! In: the body of a loop whose iterations do not depend on each other. Out: [`Varying`], the scalars and arrays of the body
//! that hold one value for each iteration; `None` where the iterations do not go the same way, or may stop the function each on
//! its own.
//!
//!     for i < n: e = exp(q[0]); s = e * x[i]; for c < d: t[c] = s    →   s and t vary, e and c do not
//!
//! A branch or a loop over what varies is taken by each iteration in turn: what it assigns varies.

use std::collections::HashSet;

use crate::loops::analysis::effects::inside;
use crate::loops::analysis::homes::Homes;
use crate::loops::program::*;
use crate::loops::visit::each_local;

/// See the module's head.
pub struct Varying<'a> {
    /// The scalars, and the arrays by one pointer that stands for all that lead there.
    ids: HashSet<Id>,
    homes: &'a Homes,
    /// What the body declares.
    inside: HashSet<Id>,
    /// The arrays that are there before, by one pointer for each.
    outside: HashSet<Id>,
    /// Whether the last walk found more.
    grew: bool,
}

impl Varying<'_> {
    /// What varies in the body of the loop over `i`.
    pub fn of<'a>(i: Id, body: &[Stmt], locals: &[Local], homes: &'a Homes) -> Option<Varying<'a>> {
        let inside = inside(body);
        let outside = (0..locals.len()).filter(|id| !inside.contains(id)).map(|id| homes.of(id)).collect();
        let mut varying = Varying { ids: HashSet::from([i]), homes, inside, outside, grew: true };
        while varying.grew {
            varying.grew = false;
            varying.block(body, false)?;
        }
        Some(varying)
    }

    /// Which pointers lead to the same array.
    pub fn homes(&self) -> &Homes {
        self.homes
    }

    /// Whether a scalar varies.
    pub fn has(&self, id: Id) -> bool {
        self.ids.contains(&id)
    }

    /// Whether a pointer leads to an array of the body that holds one element for each iteration.
    pub fn has_array(&self, id: Id) -> bool {
        self.ids.contains(&self.homes.of(id))
    }

    /// Whether an array is there outside of the loop.
    pub fn is_outside(&self, id: Id) -> bool {
        self.outside.contains(&self.homes.of(id))
    }

    /// Whether a local is one of the loop's body.
    pub fn declares(&self, id: Id) -> bool {
        self.inside.contains(&id)
    }

    /// Whether an expression may have another value in each iteration.
    pub fn is_in(&self, value: &Value) -> bool {
        let mut found = false;
        each_local(value, &mut |id| found |= self.has(id) || self.has_array(id));
        found
    }

    /// Whether a branch or a loop is over what varies.
    pub fn steers(&self, stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::For { count: value, .. } | Stmt::If { cond: value, .. } if self.is_in(value))
    }

    fn block(&mut self, block: &[Stmt], apart: bool) -> Option<()> {
        block.iter().try_for_each(|stmt| self.stmt(stmt, apart))
    }

    /// Notes what a statement makes vary; `apart` where iterations reach it each on its own.
    fn stmt(&mut self, stmt: &Stmt, apart: bool) -> Option<()> {
        match stmt {
            Stmt::Declare { id, init } => self.note(*id, init.iter().any(|init| self.is_in(init))),
            Stmt::Assign { place: Place::Local(id), value } => {
                // a sum outside of the loop is no value of an iteration
                self.note(*id, self.inside.contains(id) && (apart || self.is_in(value)));
            }
            Stmt::Assign { place: Place::Element { base, offset }, value } => {
                let varies = apart || self.is_in(value) || offset.iter().any(|offset| self.is_in(offset));
                self.note(self.homes.of(*base), varies && !self.is_outside(*base));
            }
            Stmt::Update { base, offset, value } => {
                let varies = apart || self.is_in(value) || self.is_in(offset);
                self.note(self.homes.of(*base), varies && !self.is_outside(*base));
            }
            Stmt::For { body, .. } => self.block(body, apart || self.steers(stmt))?,
            Stmt::If { then, otherwise, .. } => {
                let apart = apart || self.steers(stmt);
                self.block(then, apart)?;
                self.block(otherwise, apart)?;
            }
            Stmt::Scope(body) => self.block(body, apart)?,
            Stmt::Fail { cond, .. } => (!apart && !self.is_in(cond)).then_some(())?,
            Stmt::Room(room) => {
                let varies = apart || self.is_outside(room.id) || room.counts.iter().any(|count| self.is_in(count));
                (!varies).then_some(())?;
            }
            Stmt::Point { to: PointerValue::To(Pointer { offset, .. }), .. } => {
                (!apart && !offset.iter().any(|offset| self.is_in(offset))).then_some(())?;
            }
            Stmt::Rotate(_) => (!apart).then_some(())?,
            Stmt::Point { .. } | Stmt::Invoke(_) | Stmt::Share(_) | Stmt::NoRoom { .. } | Stmt::Return(_) => return None,
            Stmt::While { .. } => return None,
        }
        Some(())
    }

    fn note(&mut self, id: Id, varies: bool) {
        self.grew |= varies && self.ids.insert(id);
    }
}
