//! Loop fusion: loops over the same range are one loop, and an array that only that loop has is a local (`contract`).
//!
//! In: a function's statements. Out: the same, where two innermost loops are one, if its iterations may still run at once:
//!
//!     for i < n: t[i] = exp(v[i])
//!     for i < n: out[i] = t[i] * w[i]
//!       →   for i < n: t = exp(v[i]); out[i] = t * w[i]
//!
//! What stands between them goes before both, where it needs nothing of the first. Where the two have elements in common, other loops may
//! stand between them: the second then moves before these, if neither has what the other changes. An iteration of the second comes before
//! later ones of the first: so no element that one of them writes is one that the other has in another iteration. A loop that can stop
//! the function stays as it is. Loops that only copy or fill, for which compilers call `memcpy` and `memset`, are fused where both have
//! the same elements; loops that both call functions of `math.h` are not, since a call leaves no vector in its register; and an iteration
//! has a dozen elements at most.

mod contract;

use std::collections::HashSet;

use super::analysis::bounds::Around;
use super::analysis::dependence::Iterations;
use super::analysis::homes::Homes;
use super::program::ranges::Ranges;
use super::program::*;
use super::rename::rename;
use super::simplify::simplify;
use super::vectorise::{Body, from_later};
use super::visit::{each_change, each_mention, each_part, each_use, each_written, mentions};
use super::{Context, Result};

/// So many different elements an iteration of a fused loop has at most: rows of a power of two of numbers fall on the same lines of a
/// cache, which holds eight or twelve of them.
const MOST_ELEMENTS: usize = 12;

/// A loop is fused with a later one behind at most so many statements.
const FARTHEST: usize = 8;

/// Fuses the loops of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    let homes = Homes::of_block(&function.body);
    let fuser = Fuser { homes: &homes, ranges: &function.ranges };
    if fuser.block(&mut function.body) | contract::run(function) {
        simplify(function);
    }
    Ok(())
}

struct Fuser<'f> {
    homes: &'f Homes,
    ranges: &'f Ranges,
}

/// A loop as one with a later one.
struct Fused {
    /// So many statements behind it go before it.
    before: usize,
    /// Where the later one is.
    next: usize,
    fused: Stmt,
}

/// Whether a statement may be done earlier or later, as far as its locals allow: it cannot end the function, calls none that may write, and
/// is for no threads or tiles.
fn may_move(stmt: &Stmt) -> bool {
    let stays = matches!(stmt, Stmt::Fail { .. } | Stmt::NoRoom { .. } | Stmt::Return(_) | Stmt::Invoke(_) | Stmt::Share(_));
    let is_tile = matches!(stmt, Stmt::For { lanes: Lanes::Tile(_), .. });
    !stays && !is_tile && stmt.blocks().flatten().all(may_move)
}

/// A loop that no pass has marked.
struct Loop<'s> {
    i: Id,
    count: &'s Value,
    apart: bool,
    body: &'s Block,
}

impl Loop<'_> {
    fn of(stmt: &Stmt) -> Option<Loop<'_>> {
        let Stmt::For { i, count, body, lanes: Lanes::One, apart, .. } = stmt else { return None };
        Some(Loop { i: *i, count, apart: *apart, body })
    }
}

impl Fuser<'_> {
    /// Fuses the loops of a block, and of those inside; whether there were any.
    fn block(&self, block: &mut Block) -> bool {
        let mut found = false;
        block.iter_mut().for_each(|stmt| stmt.blocks_mut().for_each(|inner| found |= self.block(inner)));
        let mut at = 0;
        while at < block.len() {
            let Some(Fused { before, next, fused }) = self.fused_with_later(block, at) else {
                at += 1;
                continue;
            };
            found = true;
            block.remove(next);
            block[at] = fused;
            block[at..=at + before].rotate_left(1);
            at += before;
        }
        found
    }

    /// The loop at this place as one with a later one: the next, or one that has elements in common and may go before all between.
    fn fused_with_later(&self, block: &[Stmt], at: usize) -> Option<Fused> {
        let first = Loop::of(&block[at])?;
        let effects = Body::of(from_later(first.i, first.body).map_or(first.body, |(_, rest)| rest))?;
        let mut before = 0;
        let mut between: Vec<&Stmt> = Vec::new();
        for (next, stmt) in block.iter().enumerate().skip(at + 1) {
            if let Some(second) = Loop::of(stmt)
                && let Some(fused) = self.fused(&block[at], &first, &effects, &second, between.is_empty())
                && between.iter().all(|earlier| self.may_change_places(earlier, stmt))
            {
                return Some(Fused { before, next, fused });
            }
            if between.is_empty() && self.may_go_before(stmt, &block[at], &effects) {
                before += 1;
            } else if between.len() < FARTHEST {
                between.push(stmt);
            } else {
                return None;
            }
        }
        None
    }

    /// Whether two statements have the same effect in either order: neither ends the function, or changes what the other has.
    fn may_change_places(&self, a: &Stmt, b: &Stmt) -> bool {
        let leaves = |stmt: &Stmt, other: &Stmt| {
            let mut used = HashSet::new();
            each_use(other, &mut |id| {
                used.insert(id);
            });
            let mut leaves = true;
            each_written(stmt, &mut |base| leaves &= !used.iter().any(|id| self.homes.may_meet(base, *id)));
            each_change(std::slice::from_ref(stmt), &mut |id| leaves &= !used.contains(&id));
            leaves
        };
        may_move(a) && may_move(b) && leaves(a, b) && leaves(b, a)
    }

    /// Whether a statement behind a loop has the same effect before it.
    fn may_go_before(&self, stmt: &Stmt, before: &Stmt, effects: &Body) -> bool {
        let (declared, values): (Id, Vec<&Value>) = match stmt {
            Stmt::Declare { id, init } => (*id, init.iter().collect()),
            Stmt::Point { id, to: PointerValue::To(pointer) } => (*id, pointer.offset.iter().collect()),
            Stmt::Room(room) => (room.id, room.counts.iter().collect()),
            _ => return false,
        };
        let mut changed = HashSet::new();
        each_change(std::slice::from_ref(before), &mut |id| {
            changed.insert(id);
        });
        let mut is_free = !mentions(before, declared);
        each_mention(stmt, &mut |id| is_free &= !changed.contains(&id));
        let is_written = |base: Id| effects.stores.iter().any(|(store, _)| *store == base || self.homes.may_meet(*store, base));
        for value in values {
            each_part(value, &mut |part| match part {
                Value::Load { base, .. } => is_free &= !is_written(*base),
                Value::Call(..) | Value::Moved { .. } => is_free = false,
                Value::Local(_)
                | Value::Double(_)
                | Value::Index(_)
                | Value::Bool(_)
                | Value::Prim { .. }
                | Value::InRow(_)
                | Value::Select(_)
                | Value::Helper(..)
                | Value::SizeOf(..) => {}
            });
        }
        is_free
    }

    /// Both loops as one, where that is right, but for what stands between them, and of use.
    fn fused(&self, stmt: &Stmt, first: &Loop, effects: &Body, second: &Loop, is_next: bool) -> Option<Stmt> {
        (first.count == second.count).then_some(())?;
        let mut body = second.body.clone();
        rename(&mut body, second.i, first.i);
        // both may begin at a later index, which the first then declares
        let mut i = first.i;
        if let Some((from, _)) = from_later(first.i, first.body) {
            let (own, _) = from_later(first.i, &body)?;
            let start = |block: &Block| if let [Stmt::Declare { init, .. }, ..] = block.as_slice() { init.clone() } else { None };
            (start(first.body) == start(&body)).then_some(())?;
            body.remove(0);
            rename(&mut body, own, from);
            i = from;
        }
        let others = Body::of(&body)?;
        Self::is_of_use(first.body, effects, &body, &others, is_next).then_some(())?;
        let all = [first.body.as_slice(), &body].concat();
        let whole = Body::of(from_later(first.i, &all).map_or(all.as_slice(), |(_, rest)| rest))?;
        let iterations = Iterations { i, count: first.count, own: &whole.declared, around: &Around::default(), ranges: self.ranges };
        let is_legal = self.are_apart(effects, &others, &iterations) && whole.lanes(&iterations, self.homes) != Lanes::One;
        if !is_legal {
            return None;
        }
        let mut fused = stmt.clone();
        if let Stmt::For { body, apart, .. } = &mut fused {
            *body = all;
            *apart = first.apart && second.apart;
        }
        Some(fused)
    }

    /// Whether no element that one body writes is one that the other has in another iteration.
    fn are_apart(&self, first: &Body, second: &Body, iterations: &Iterations) -> bool {
        let meet = |a: &(Id, Option<Value>), b: &(Id, Option<Value>)| match (a, b) {
            ((a, at), (b, there)) if a == b => match (at, there) {
                (Some(at), Some(there)) => !iterations.are_apart(at, there),
                _ => true,
            },
            ((a, _), (b, _)) => self.homes.may_meet(*a, *b),
        };
        let written = |stores: &[(Id, Option<Value>)], body: &Body| {
            stores.iter().any(|store| body.stores.iter().chain(&body.loads).any(|access| meet(store, access)))
        };
        !written(&first.stores, second) && !written(&second.stores, first)
    }

    /// Whether the loops are neighbours and do more than copy, or have elements in common, and the loop does not become too large.
    fn is_of_use(first: &[Stmt], a: &Body, second: &[Stmt], b: &Body, is_next: bool) -> bool {
        let of = |body: &Body| -> Vec<(Id, Option<Value>)> { body.stores.iter().chain(&body.loads).cloned().collect() };
        let (a_all, b_all) = (of(a), of(b));
        let is_plain = |block: &[Stmt], body: &Body| block.len() == 1 && !body.calls;
        let shares = is_next && !is_plain(first, a) && !is_plain(second, b) || a_all.iter().any(|access| b_all.contains(access));
        let mut elements: Vec<(Id, Option<Value>)> = Vec::new();
        for access in a_all.into_iter().chain(b_all) {
            if !elements.contains(&access) {
                elements.push(access);
            }
        }
        shares && elements.len() <= MOST_ELEMENTS && !(a.calls && b.calls)
    }
}
