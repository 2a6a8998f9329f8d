//! Which locals may be named where.
//!
//! In: declarations, uses, and the blocks around them. Out: an error for a use outside of the block that declares the local, for a
//! second declaration, and, inside a loop that threads share, for a local from outside that its part does not take along.

use std::collections::HashSet;

use super::Checked;
use crate::loops::program::{Id, Local};

pub struct Scopes<'a> {
    locals: &'a [Local],
    /// How deep the block is that a local is declared in, while that block is open.
    depths: Vec<Option<usize>>,
    declared: Vec<bool>,
    /// Loop indices, which nothing assigns.
    fixed: Vec<bool>,
    /// What each open block declares.
    open: Vec<Vec<Id>>,
    part: Option<Part>,
}

/// What the part of a shared loop may name.
pub struct Part {
    /// The depth of the block around.
    pub depth: usize,
    pub captured: HashSet<Id>,
    pub written: HashSet<Id>,
    pub loops: Vec<Id>,
}

impl<'a> Scopes<'a> {
    pub fn new(locals: &'a [Local]) -> Scopes<'a> {
        let none = vec![false; locals.len()];
        Scopes { locals, depths: vec![None; locals.len()], declared: none.clone(), fixed: none, open: vec![Vec::new()], part: None }
    }

    pub fn open(&mut self) {
        self.open.push(Vec::new());
    }

    pub fn close(&mut self) {
        for id in self.open.pop().unwrap_or_default() {
            self.depths[id] = None;
        }
    }

    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The depth of a local's block, 0 for one that is not in scope.
    pub fn depth_of(&self, id: Id) -> usize {
        self.depths.get(id).copied().flatten().unwrap_or(0)
    }

    pub fn declare(&mut self, id: Id) -> Checked {
        let name = self.name(id)?;
        if std::mem::replace(&mut self.declared[id], true) {
            return Err(format!("`{name}` is declared twice"));
        }
        self.depths[id] = Some(self.depth());
        if let Some(block) = self.open.last_mut() {
            block.push(id);
        }
        Ok(())
    }

    /// Marks a loop's index.
    pub fn fix(&mut self, id: Id) {
        self.fixed[id] = true;
    }

    pub fn is_fixed(&self, id: Id) -> bool {
        self.fixed[id]
    }

    pub fn used(&self, id: Id) -> Checked {
        let name = self.name(id)?;
        let Some(depth) = self.depths[id] else { return Err(format!("`{name}` is not in scope")) };
        match &self.part {
            Some(part) if depth <= part.depth && !part.captured.contains(&id) => {
                Err(format!("`{name}` is not captured by the part of a shared loop"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// That a part may write an array from outside.
    pub fn written(&self, id: Id) -> Checked {
        match &self.part {
            Some(part) if self.depth_of(id) <= part.depth && !part.written.contains(&id) => {
                Err(format!("`{}` is written, and captured as if it were only read", self.name(id)?))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Enters the part of a shared loop.
    pub fn enter(&mut self, part: Part) -> Checked {
        if self.part.is_some() {
            return Err("a part of a shared loop is not shared again".into());
        }
        self.part = Some(part);
        Ok(())
    }

    pub fn leave(&mut self) {
        self.part = None;
    }

    /// Whether a loop runs over the iterations of a part, whatever its own count is.
    pub fn is_shared(&self, i: Id) -> bool {
        self.part.as_ref().is_some_and(|part| part.loops.contains(&i))
    }

    fn name(&self, id: Id) -> Result<&'a str, String> {
        self.locals.get(id).map(|local| &*local.name).ok_or_else(|| format!("there is no local {id}"))
    }
}
