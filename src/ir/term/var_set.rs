//! Persistent sets of variables, which share memory.
//!
//! In: variables, or two sets. Out: a set. A union or a removal makes a new set that shares the unchanged parts. So the sets of a
//! thousand lets, each of which mentions all before it, take little more memory than the lets.
//!
//!     {a, b, c} and {b}     →  the first set itself
//!     {a, b, c} without a   →  {b, c}, which shares all but the path to a
//!
//! A set is a binary tree over the bits of the variables' numbers, highest first, in which no branch has one side alone; a
//! walk meets the variables by their numbers.

use std::rc::Rc;

use super::fingerprint;
use super::{Tree, Var, VarSet};

impl VarSet {
    pub fn of(vars: &[Var]) -> VarSet {
        VarSet(vars.iter().map(|var| Rc::new(Tree::Leaf(var.clone()))).reduce(|set, leaf| union(&set, &leaf)))
    }

    pub fn union(&self, other: &VarSet) -> VarSet {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => VarSet(Some(union(a, b))),
            (a, b) => VarSet(a.as_ref().or(b.as_ref()).cloned()),
        }
    }

    pub fn without(&self, var: &Var) -> VarSet {
        VarSet(self.0.as_ref().and_then(|tree| without(tree, var)))
    }

    pub fn contains(&self, var: &Var) -> bool {
        self.0.as_ref().is_some_and(|tree| tree.contains(var))
    }

    /// The sum of what [`fingerprint::variable`] gives for each variable, kept with the set.
    pub fn sum(&self) -> u64 {
        self.0.as_ref().map_or(0, |tree| tree.sum())
    }

    /// Whether one of the variables is as wanted; those behind it are not looked at.
    pub fn any(&self, wanted: &mut dyn FnMut(&Var) -> bool) -> bool {
        self.0.as_ref().is_some_and(|tree| tree.any(wanted))
    }
}

impl Tree {
    fn branch(low: u32, bit: u32, clear: Rc<Tree>, set: Rc<Tree>) -> Rc<Tree> {
        let sum = clear.sum().wrapping_add(set.sum());
        Rc::new(Tree::Branch { low, bit, sum, clear, set })
    }

    fn sum(&self) -> u64 {
        match self {
            Tree::Leaf(var) => fingerprint::variable(var),
            Tree::Branch { sum, .. } => *sum,
        }
    }

    /// The lowest number that may stand in the tree, and the first that is too high.
    fn range(&self) -> (u32, u64) {
        match self {
            Tree::Leaf(var) => (var.id(), u64::from(var.id()) + 1),
            Tree::Branch { low, bit, .. } => (*low, u64::from(*low) + 2 * u64::from(*bit)),
        }
    }

    fn may_hold(&self, id: u32) -> bool {
        let (low, end) = self.range();
        low <= id && u64::from(id) < end
    }

    fn contains(&self, var: &Var) -> bool {
        match self {
            Tree::Leaf(own) => own == var,
            Tree::Branch { bit, clear, set, .. } => {
                let side = if var.id() & bit == 0 { clear } else { set };
                self.may_hold(var.id()) && side.contains(var)
            }
        }
    }

    fn any(&self, wanted: &mut dyn FnMut(&Var) -> bool) -> bool {
        match self {
            Tree::Leaf(var) => wanted(var),
            Tree::Branch { clear, set, .. } => clear.any(wanted) || set.any(wanted),
        }
    }
}

fn union(a: &Rc<Tree>, b: &Rc<Tree>) -> Rc<Tree> {
    if Rc::ptr_eq(a, b) {
        return a.clone();
    }
    let ((a_low, a_end), (b_low, b_end)) = (a.range(), b.range());
    match (&**a, &**b) {
        (Tree::Leaf(x), Tree::Leaf(y)) if x == y => a.clone(),
        (Tree::Branch { low, bit, clear, set, .. }, Tree::Branch { bit: other, clear: b_clear, set: b_set, .. })
            if a_low == b_low && bit == other =>
        {
            let (new_clear, new_set) = (union(clear, b_clear), union(set, b_set));
            if Rc::ptr_eq(&new_clear, clear) && Rc::ptr_eq(&new_set, set) {
                a.clone()
            } else if Rc::ptr_eq(&new_clear, b_clear) && Rc::ptr_eq(&new_set, b_set) {
                b.clone()
            } else {
                Tree::branch(*low, *bit, new_clear, new_set)
            }
        }
        (Tree::Branch { low, bit, clear, set, .. }, _) if a.may_hold(b_low) && b_end <= a_end => {
            with_side(a, (*low, *bit, clear, set), b_low, &|side| union(side, b))
        }
        (_, Tree::Branch { low, bit, clear, set, .. }) if b.may_hold(a_low) && a_end <= b_end => {
            with_side(b, (*low, *bit, clear, set), a_low, &|side| union(a, side))
        }
        _ => join(a, a_low, b, b_low),
    }
}

/// The branch with one side, that of the number, made anew.
fn with_side(whole: &Rc<Tree>, branch: (u32, u32, &Rc<Tree>, &Rc<Tree>), id: u32, new: &dyn Fn(&Rc<Tree>) -> Rc<Tree>) -> Rc<Tree> {
    let (low, bit, clear, set) = branch;
    let side = if id & bit == 0 { clear } else { set };
    let new = new(side);
    if Rc::ptr_eq(&new, side) {
        return whole.clone();
    }
    let (clear, set) = if id & bit == 0 { (new, set.clone()) } else { (clear.clone(), new) };
    Tree::branch(low, bit, clear, set)
}

/// Two trees of which neither may hold the other's numbers.
fn join(a: &Rc<Tree>, a_low: u32, b: &Rc<Tree>, b_low: u32) -> Rc<Tree> {
    let bit = 1 << (a_low ^ b_low).ilog2();
    let low = a_low & !(bit | (bit - 1));
    let (clear, set) = if a_low & bit == 0 { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
    Tree::branch(low, bit, clear, set)
}

fn without(tree: &Rc<Tree>, var: &Var) -> Option<Rc<Tree>> {
    match &**tree {
        Tree::Leaf(own) => (own != var).then(|| tree.clone()),
        Tree::Branch { low, bit, clear, set, .. } if tree.may_hold(var.id()) => {
            let is_clear = var.id() & bit == 0;
            let (side, other) = if is_clear { (clear, set) } else { (set, clear) };
            match without(side, var) {
                None => Some(other.clone()),
                Some(new) if Rc::ptr_eq(&new, side) => Some(tree.clone()),
                Some(new) => {
                    let (clear, set) = if is_clear { (new, other.clone()) } else { (other.clone(), new) };
                    Some(Tree::branch(*low, *bit, clear, set))
                }
            }
        }
        Tree::Branch { .. } => Some(tree.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Type;

    fn ids(set: &VarSet) -> Vec<u32> {
        let mut found = Vec::new();
        set.any(&mut |var| {
            found.push(var.id());
            false
        });
        found
    }

    /// Every other of some variables, every third, and all of them.
    fn some() -> (Vec<Var>, Vec<Var>, Vec<Var>) {
        let all: Vec<Var> = (0..200).map(|_| Var::fresh("x", Type::Double)).collect();
        let every = |k: usize| all.iter().step_by(k).cloned().collect();
        (every(2), every(3), all)
    }

    #[test]
    fn a_union_has_what_either_has() {
        let (twos, threes, all) = some();
        let both = VarSet::of(&twos).union(&VarSet::of(&threes));
        let wanted: Vec<u32> = all.iter().filter(|var| twos.contains(var) || threes.contains(var)).map(Var::id).collect();
        assert_eq!(ids(&both), wanted);
        assert!(all.iter().all(|var| both.contains(var) == wanted.contains(&var.id())));
    }

    #[test]
    fn what_is_taken_out_is_gone_and_nothing_else() {
        let (twos, threes, _) = some();
        let rest = threes.iter().fold(VarSet::of(&twos), |set, var| set.without(var));
        let wanted: Vec<u32> = twos.iter().filter(|var| !threes.contains(var)).map(Var::id).collect();
        assert_eq!(ids(&rest), wanted);
        assert!(ids(&twos.iter().fold(rest, |set, var| set.without(var))).is_empty());
    }

    #[test]
    fn a_set_that_gains_nothing_is_the_same_memory() {
        let (twos, _, all) = some();
        let (small, large) = (VarSet::of(&twos), VarSet::of(&all));
        let is_large = |set: &VarSet| matches!((&set.0, &large.0), (Some(a), Some(b)) if Rc::ptr_eq(a, b));
        assert!(is_large(&large.union(&small)) && is_large(&large.union(&large)));
        assert!(is_large(&large.without(&Var::fresh("y", Type::Double))));
    }
}
