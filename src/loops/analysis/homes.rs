//! Which pointers may lead to the same array.
//!
//! In: a function's statements. Out: for each pointer one that stands for all that may lead where it does.
//!
//!     double *row = out + i * n;   →   row and out have one home

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::loops::program::*;

/// Which pointers may lead to one array: a local leads where those do that it was made of, or changes places with.
#[derive(Default)]
pub struct Homes {
    of: HashMap<Id, Id>,
    /// Pointers that only change places with one another, by the first of them.
    rings: HashMap<Id, Id>,
}

impl Homes {
    pub fn of_block(body: &[Stmt]) -> Homes {
        let mut homes = Homes::default();
        homes.block(body, &|_| true);
        homes.rings = rings(body);
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

    /// Whether two pointers may lead to the same array at the same time.
    pub fn may_meet(&self, a: Id, b: Id) -> bool {
        let in_one_ring = a != b && self.rings.get(&a).is_some_and(|ring| self.rings.get(&b) == Some(ring));
        !in_one_ring && self.of(a) == self.of(b)
    }

    fn join(&mut self, a: Id, b: Id) {
        let (a, b) = (self.of(a), self.of(b));
        if a != b {
            self.of.insert(a, b);
        }
    }

    /// `changes`: whether pointers count as changing places.
    fn block(&mut self, block: &[Stmt], changes: &dyn Fn(&[Id]) -> bool) {
        for stmt in block {
            match stmt {
                Stmt::Point { id, to: PointerValue::To(pointer) } => self.join(*id, pointer.base),
                Stmt::Point { id, to: PointerValue::Select(_, a, b) } => {
                    self.join(*id, a.base);
                    self.join(*id, b.base);
                }
                Stmt::Rotate(ids) if changes(ids) => ids.iter().for_each(|id| self.join(ids[0], *id)),
                Stmt::Declare { .. }
                | Stmt::Assign { .. }
                | Stmt::Update { .. }
                | Stmt::For { .. }
                | Stmt::While { .. }
                | Stmt::Share(_)
                | Stmt::If { .. }
                | Stmt::Fail { .. }
                | Stmt::NoRoom { .. }
                | Stmt::Room(_)
                | Stmt::Invoke(_)
                | Stmt::Rotate(_)
                | Stmt::Scope(_)
                | Stmt::Return(_) => {}
            }
            stmt.blocks().for_each(|block| self.block(block, changes));
        }
    }
}

/// The groups of pointers that change places, where each is set once, all in one block, to arrays that do not meet otherwise.
fn rings(body: &[Stmt]) -> HashMap<Id, Id> {
    let mut found = Homes::default();
    let (mut ids, mut set, mut blocks) = (BTreeSet::new(), HashMap::new(), 0);
    collect(body, &mut blocks, &mut found, &mut ids, &mut set);
    let mut groups: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
    ids.iter().for_each(|id| groups.entry(found.of(*id)).or_default().push(*id));
    groups.retain(|_, group| {
        let points: Option<Vec<(usize, Id)>> = group.iter().map(|id| set.get(id).copied().flatten()).collect();
        let Some(points) = points else { return false };
        let mut others = Homes::default();
        others.block(body, &|ids| !group.contains(&ids[0]));
        let bases: BTreeSet<Id> = points.iter().map(|(_, base)| others.of(*base)).collect();
        bases.len() == group.len() && points.iter().all(|(block, _)| *block == points[0].0)
    });
    groups.into_iter().flat_map(|(ring, group)| group.into_iter().map(move |id| (id, ring))).collect()
}

/// Joins pointers that are rotated, and collects the block and the array that each pointer is first set to: `None` if there are several.
fn collect(block: &[Stmt], blocks: &mut usize, joined: &mut Homes, ids: &mut BTreeSet<Id>, set: &mut HashMap<Id, Option<(usize, Id)>>) {
    *blocks += 1;
    let here = *blocks;
    for stmt in block {
        match stmt {
            Stmt::Point { id, to } => {
                let first = match to {
                    PointerValue::To(pointer) => Some((here, pointer.base)),
                    PointerValue::Select(..) => None,
                };
                let known = set.contains_key(id);
                set.insert(*id, first.filter(|_| !known));
            }
            Stmt::Rotate(rotated) => {
                rotated.iter().for_each(|id| joined.join(rotated[0], *id));
                ids.extend(rotated);
            }
            Stmt::Declare { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::For { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::If { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Scope(_)
            | Stmt::Return(_) => {}
        }
        stmt.blocks().for_each(|block| collect(block, blocks, joined, ids, set));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(id: Id, base: Id) -> Stmt {
        Stmt::Point { id, to: PointerValue::To(Pointer { base, offset: None }) }
    }

    #[test]
    fn pointers_that_change_places_do_not_meet() {
        let homes = Homes::of_block(&[point(2, 0), point(3, 1), Stmt::Rotate(vec![2, 3])]);
        assert!(!homes.may_meet(2, 3) && homes.may_meet(2, 0) && homes.may_meet(3, 0) && homes.may_meet(2, 2));
    }

    #[test]
    fn pointers_that_are_set_apart_or_to_one_array_may_meet() {
        let apart = [point(2, 0), Stmt::Scope(vec![point(3, 1), Stmt::Rotate(vec![2, 3])])];
        assert!(Homes::of_block(&apart).may_meet(2, 3));
        assert!(Homes::of_block(&[point(2, 0), point(3, 0), Stmt::Rotate(vec![2, 3])]).may_meet(2, 3));
        let again = [point(2, 0), point(3, 1), Stmt::Rotate(vec![2, 3]), point(2, 1)];
        assert!(Homes::of_block(&again).may_meet(2, 3));
        // 4 and 5 begin where 2 and 0 are, and 2 may be at 0
        let nested = [point(2, 0), point(3, 1), Stmt::Rotate(vec![2, 3]), point(4, 2), point(5, 0), Stmt::Rotate(vec![4, 5])];
        assert!(Homes::of_block(&nested).may_meet(4, 5));
    }
}
