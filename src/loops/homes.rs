//! Which pointers may lead to the same array.
//!
//! In: a function's statements. Out: for each pointer one that stands for all that may lead where it does.
//!
//!     double *row = out + i * n;   →   row and out have one home

use std::collections::HashMap;

use super::program::*;

/// Which pointers may lead to one array: a local leads where those do that it was made of, or changes places with.
#[derive(Default)]
pub struct Homes {
    of: HashMap<Id, Id>,
}

impl Homes {
    pub fn of_block(body: &[Stmt]) -> Homes {
        let mut homes = Homes::default();
        homes.block(body);
        homes
    }

    /// One of the pointers that lead to the same array.
    pub fn of(&self, id: Id) -> Id {
        let mut home = id;
        while let Some(next) = self.of.get(&home) {
            home = *next;
        }
        home
    }

    fn join(&mut self, a: Id, b: Id) {
        let (a, b) = (self.of(a), self.of(b));
        if a != b {
            self.of.insert(a, b);
        }
    }

    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Point { id, to: PointerValue::To(pointer) } => self.join(*id, pointer.base),
                Stmt::Point { id, to: PointerValue::Select(_, a, b) } => {
                    self.join(*id, a.base);
                    self.join(*id, b.base);
                }
                Stmt::Rotate(ids) => ids.iter().for_each(|id| self.join(ids[0], *id)),
                _ => {}
            }
            stmt.blocks().for_each(|block| self.block(block));
        }
    }
}
