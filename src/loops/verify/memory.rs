//! What has a value: scalars on every path, arrays as far as that can be said, and how long arrays live.
//!
//! In: reads, writes, branches and loops in the order of the program. Out: whether a scalar has a value wherever a path leads
//! here, whether anything was written to an array that is read (before the read, or in a loop around it), and the depth of the
//! innermost block whose end takes away what a pointer may lead to.
//!
//!     var x; if c { x = 1.0 }; out[0] = x   →   x has a value on one path only

use crate::loops::analysis::homes::Homes;
use crate::loops::program::{Id, Stmt};

pub struct Memory {
    set: Vec<bool>,
    /// The scalars that got their value, in order, since the start; branches and loops take back what they added.
    trail: Vec<Id>,
    branches: Vec<Branch>,
    /// Where no path leads on.
    ended: bool,
    homes: Homes,
    /// By the home of an array.
    arrays: Vec<Array>,
    /// By pointer: the depth of the block whose end takes away what it leads to.
    lives: Vec<usize>,
    loops: Vec<Loop>,
}

#[derive(Clone, Copy, Default)]
struct Array {
    written: bool,
    /// The number of loops around where it is made.
    around: usize,
}

struct Branch {
    /// The length of the trail before the branch.
    start: usize,
    ended: bool,
    then: Option<(Vec<Id>, bool)>,
}

struct Loop {
    start: usize,
    ended: bool,
    /// It runs at least once.
    runs: bool,
    /// The arrays that are read before anything is written to them, unless a turn before wrote it.
    pending: Vec<Id>,
}

impl Memory {
    pub fn new(count: usize, body: &[Stmt]) -> Memory {
        Memory {
            set: vec![false; count],
            trail: Vec::new(),
            branches: Vec::new(),
            ended: false,
            homes: Homes::of_block(body),
            arrays: vec![Array::default(); count],
            lives: vec![0; count],
            loops: Vec::new(),
        }
    }

    /// A scalar gets a value.
    pub fn set(&mut self, id: Id) {
        if !std::mem::replace(&mut self.set[id], true) {
            self.trail.push(id);
        }
    }

    /// Whether a scalar has a value.
    pub fn is_set(&self, id: Id) -> bool {
        self.ended || self.set[id]
    }

    /// The path ends here, if a failure is certain.
    pub fn fail(&mut self, certain: bool) {
        self.ended |= certain;
    }

    fn undo(&mut self, start: usize) -> Vec<Id> {
        let undone = self.trail.split_off(start);
        undone.iter().for_each(|id| self.set[*id] = false);
        undone
    }

    /// Enters the first branch.
    pub fn branch(&mut self) {
        self.branches.push(Branch { start: self.trail.len(), ended: self.ended, then: None });
    }

    /// From the first branch to the second.
    pub fn other_branch(&mut self) {
        let Some(mut branch) = self.branches.pop() else { return };
        let ended = std::mem::replace(&mut self.ended, branch.ended);
        branch.then = Some((self.undo(branch.start), ended));
        self.branches.push(branch);
    }

    /// After both branches a scalar has a value where each that goes on gave it one.
    pub fn join(&mut self) {
        let Some(Branch { start, ended: before, then: Some((then, then_ended)) }) = self.branches.pop() else { return };
        let (other_ended, other) = (self.ended, self.undo(start));
        match (then_ended && !before, other_ended && !before) {
            (true, _) => other.into_iter().for_each(|id| self.set(id)),
            (false, true) => then.into_iter().for_each(|id| self.set(id)),
            (false, false) => {
                let mut ids = then;
                ids.sort_unstable();
                other.into_iter().filter(|id| ids.binary_search(id).is_ok()).for_each(|id| self.set(id));
            }
        }
        self.ended = before || then_ended && other_ended;
    }

    /// Enters a loop.
    pub fn enter(&mut self, runs: bool) {
        self.loops.push(Loop { start: self.trail.len(), ended: self.ended, runs, pending: Vec::new() });
    }

    /// Leaves a loop; fails with an array that is read in it although nothing is ever written to it.
    pub fn leave(&mut self) -> Result<(), Id> {
        let Some(left) = self.loops.pop() else { return Ok(()) };
        if !left.runs {
            self.undo(left.start);
            self.ended = left.ended;
        }
        match left.pending.into_iter().find(|id| !self.arrays[self.homes.of(*id)].written) {
            Some(id) => Err(id),
            None => Ok(()),
        }
    }

    /// An array that has its elements already.
    pub fn given(&mut self, id: Id) {
        self.arrays[self.homes.of(id)].written = true;
    }

    /// An array without elements, made in a block of this depth.
    pub fn made(&mut self, id: Id, depth: usize) {
        self.lives[id] = depth;
        self.arrays[self.homes.of(id)].around = self.loops.len();
    }

    /// An element is written.
    pub fn write(&mut self, id: Id) {
        self.arrays[self.homes.of(id)].written = true;
    }

    /// An element is read: whether something may have been written.
    pub fn read(&mut self, id: Id) -> bool {
        let array = self.arrays[self.homes.of(id)];
        if array.written || self.ended {
            return true;
        }
        match self.loops.get_mut(array.around) {
            Some(outermost) => {
                outermost.pending.push(id);
                true
            }
            None => false,
        }
    }

    /// A pointer leads where another does.
    pub fn aims(&mut self, id: Id, to: Id) {
        self.lives[id] = self.lives[id].max(self.lives[to]);
    }

    pub fn life(&self, id: Id) -> usize {
        self.lives[id]
    }
}
