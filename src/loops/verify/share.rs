//! Loops over tiles, and loops that threads share.
//!
//! In: what such a loop says beside its body. Out: an error where that is not what the body does: a tile's columns are stored once
//! each; a part names all that it uses from outside, and its totals have a part to collect in.

use std::collections::HashSet;

use super::scope::Part;
use super::{Checked, Verifier};
use crate::loops::program::*;

impl Verifier<'_> {
    /// What a loop over tiles says, in the scope of its index.
    pub fn tiles(&mut self, tiles: &Tiles, body: &[Stmt]) -> Checked {
        self.scopes.declare(tiles.lane)?;
        self.scopes.fix(tiles.lane);
        self.memory.set(tiles.lane);
        for panel in &tiles.panels {
            self.pointer(&panel.from, panel.id)?;
            self.read(panel.from.base)?;
            let is_wide = panel.width > 0 && (panel.layout == Layout::Columns || panel.stride >= 1);
            self.ensure(is_wide, || format!("the panel `{}` has no elements", self.name(panel.id)))?;
            self.scopes.declare(panel.id)?;
            self.memory.given(panel.id);
        }
        let straight = body.iter().all(|stmt| matches!(stmt, Stmt::Declare { .. } | Stmt::Assign { .. }));
        self.ensure(straight, || "a loop over tiles is more than declarations and assignments".into())?;
        for tile in &tiles.tiles {
            self.value(&tile.row, Elem::Index)?;
            self.target(tile.base)?;
            let stored: Vec<Option<&Value>> = body.iter().filter_map(|stmt| stored(stmt, tile.base)).collect();
            let once = |column: &Value| stored.iter().filter(|offset| **offset == Some(column)).count() == 1;
            self.ensure(stored.len() == tile.columns.len() && tile.columns.iter().all(once), || {
                format!("the tile of `{}` is not stored column by column", self.name(tile.base))
            })?;
        }
        Ok(())
    }

    pub fn share(&mut self, share: &Share) -> Checked {
        self.value(&share.count, Elem::Index)?;
        self.value(&share.work, Elem::Double)?;
        if let Some(slice) = &share.slice {
            let known = slice.args.iter().all(|at| *at < self.function.measured.len());
            let measure = self.function.slices.get(slice.number);
            let fits = measure.is_some_and(|measure| measure.args == slice.args);
            self.ensure(known && fits, || format!("there is no measure of slice {} with these arguments", slice.number))?;
        }
        for total in &share.totals {
            self.total(total)?;
        }
        let captured: HashSet<Id> = share.captured.iter().map(|captured| captured.id).collect();
        captured.iter().try_for_each(|id| self.scopes.used(*id))?;
        let written = share.captured.iter().filter(|captured| captured.written).map(|captured| captured.id).collect();
        let scalars = share.totals.iter().filter(|total| total.length.is_none()).map(|total| total.id);
        let all = captured.iter().copied().chain(scalars).collect();
        let depth = self.scopes.depth();
        self.scopes.enter(Part { depth, captured: all, written, loops: share.loops.clone() })?;
        self.block(&share.body)?;
        self.scopes.leave();
        let mut found = 0;
        count_loops(&share.body, &share.loops, &mut found);
        self.ensure(found == share.loops.len(), || "a shared loop is not in the part that runs it".into())
    }

    /// A total with what a part collects, in the scope of one iteration over parts.
    fn total(&mut self, total: &Total) -> Checked {
        let (own, part) = (self.local(total.id)?, self.local(total.part)?);
        self.ensure(own.elem == part.elem, || format!("`{}` and `{}` are of two kinds", own.name, part.name))?;
        self.scopes.open();
        match &total.length {
            None => {
                self.variable(total.id)?;
            }
            Some(length) => {
                self.value(length, Elem::Index)?;
                self.target(total.id)?;
                self.scopes.declare(total.part)?;
                self.memory.made(total.part, self.scopes.depth());
            }
        }
        self.stmt(&total.start)?;
        let begun = total.length.is_some() || self.memory.is_set(total.part);
        self.ensure(begun, || format!("`{}` has no first value", part.name))?;
        self.stmt(&total.join)?;
        self.scopes.close();
        Ok(())
    }
}

fn count_loops(block: &[Stmt], loops: &[Id], found: &mut usize) {
    for stmt in block {
        if let Stmt::For { i, .. } = stmt {
            *found += usize::from(loops.contains(i));
        }
        stmt.blocks().for_each(|block| count_loops(block, loops, found));
    }
}

/// The offset that a statement stores to in an array, if it does.
fn stored(stmt: &Stmt, array: Id) -> Option<Option<&Value>> {
    let Stmt::Assign { place: Place::Element { base, offset }, .. } = stmt else { return None };
    (*base == array).then_some(offset.as_ref())
}
