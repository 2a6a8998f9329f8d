//! Outer loops in lanes: where the innermost loops of an iteration must run in turn, several iterations run at once.
//!
//! In: a function's statements. Out: a loop whose iterations do not depend on each other, but whose innermost loops have steps
//! that do, takes thirty-two iterations at a time, each in a lane: what is the same for all of them is computed once, and what is
//! not has an element for each lane. The iterations that are left run as before.
//!
//!     for i < n:                                 →  for i < n / 32:
//!       s = 1.0                                       for l < 32: s[l] = 1.0
//!       for c < d: s = s * x[i][c] + exp(q[c])        for c < d: e = exp(q[c]); for l < 32: s[l] = s[l] * x[32 i + l][c] + e
//!       total = total + s                             for l < 32: total = total + s[l]
//!                                                   for i < n % 32: …
//!
//! Limits: no iteration may stop the function on its own; sums change their order, which strict arithmetic forbids.

use crate::ir::Prim;

use super::analysis::effects::Effects;
use super::analysis::homes::Homes;
use super::program::ranges::Ranges;
use super::program::*;
use super::strips::replace_outermost;
use super::vectorise::may_run_in_lanes;
use super::visit::{each_value, reads};
use super::{Context, Options, Result};
use varying::Varying;
use write::Writer;

mod parts;
mod varying;
mod write;

/// So many iterations run at once: enough that what they have in common costs little beside them, and few enough that a short
/// loop loses little.
const WIDTH: i64 = 32;

/// The same where loops of few iterations are to be tried too.
const EAGER_WIDTH: i64 = 2;

/// Takes the iterations of outer loops of a function in lanes.
pub fn run(function: &mut LoopFunction, context: &Context) -> Result<()> {
    let homes = Homes::of_block(&function.body);
    let mut pass = Pass { locals: &mut function.locals, ranges: &mut function.ranges, homes: &homes, options: context.options };
    replace_outermost(&mut function.body, &mut |stmt| pass.in_lanes(stmt));
    Ok(())
}

/// See the module's head.
struct Pass<'a> {
    locals: &'a mut Vec<Local>,
    ranges: &'a mut Ranges,
    homes: &'a Homes,
    options: &'a Options,
}

impl Pass<'_> {
    /// A loop with its iterations in lanes, where that pays and may be.
    fn in_lanes(&mut self, stmt: &Stmt) -> Option<Block> {
        let Stmt::For { i, count, body, apart, .. } = stmt else { return None };
        let depth = depth(body);
        let eager = self.options.eager;
        let width = if eager { EAGER_WIDTH } else { WIDTH };
        if !eager && depth == 0 || matches!(count, Value::Index(count) if *count < width) {
            return None;
        }
        let effects = Effects::of(self.locals, self.homes, *apart, *i, body)?;
        let sums = effects.collected()?;
        let adds = sums.iter().all(|(id, op)| *op == Prim::Add && self.locals[*id].elem == Elem::Double);
        if !adds || self.options.strict_fp && !(sums.is_empty() && effects.added.is_empty()) {
            return None;
        }
        let varying = Varying::of(*i, body, self.locals, self.homes)?;
        let mut work = Work::default();
        work.add(body, depth, &varying, self.ranges);
        (eager || work.pays()).then_some(())?;
        let parts = parts::of(body, self.locals, &varying, work.has_few_turns())?;
        Writer::new(self.locals, self.ranges, &varying, *i, width).write(stmt, parts)
    }
}

/// How many loops stand in each other.
fn depth(block: &[Stmt]) -> usize {
    let own = |stmt: &Stmt| usize::from(matches!(stmt, Stmt::For { .. })) + stmt.blocks().map(|block| depth(block)).max().unwrap_or(0);
    block.iter().map(own).max().unwrap_or(0)
}

/// What the innermost loops do whose steps must run in turn.
#[derive(Default)]
struct Work {
    /// Operations on Doubles,
    operations: usize,
    /// and elements outside that lie apart for lanes.
    gathers: usize,
    /// The elements outside that innermost loops write, each lane at a place of its own.
    turns: usize,
}

/// So many operations are worth it to gather an element for each lane.
const GATHER: usize = 4;

/// So many operations are worth it that lanes write an element in turn.
const TURN: usize = 16;

impl Work {
    /// `depth`: how many loops stand in each other here, where most do.
    fn add(&mut self, block: &[Stmt], depth: usize, varying: &Varying, ranges: &Ranges) {
        for stmt in block {
            match stmt {
                Stmt::For { i, count, body, .. } if depth == 1 => {
                    if !may_run_in_lanes(*i, count, body, ranges, varying.homes()) {
                        self.add_steps(*i, body, varying);
                    }
                    self.add_turns(body, varying);
                }
                Stmt::For { body, .. } => self.add(body, depth - 1, varying, ranges),
                _ => stmt.blocks().for_each(|block| self.add(block, depth, varying, ranges)),
            }
        }
    }

    fn add_steps(&mut self, i: Id, body: &[Stmt], varying: &Varying) {
        let is_gathered = |base: Id, offset: &Value| varying.is_outside(base) && varying.is_in(offset) && reads(offset, i);
        each_value(body, &mut |value| match value {
            Value::Prim { elem: Elem::Double, .. } => self.operations += 1,
            Value::Load { base, offset: Some(offset) } => self.gathers += usize::from(is_gathered(*base, offset)),
            _ => {}
        });
    }

    fn add_turns(&mut self, body: &[Stmt], varying: &Varying) {
        for stmt in body {
            if let Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, .. } | Stmt::Update { base, offset, .. } = stmt {
                self.turns += usize::from(varying.is_outside(*base) && varying.is_in(offset));
            }
            stmt.blocks().for_each(|block| self.add_turns(block, varying));
        }
    }

    /// Whether little of the work is to write elements in turn.
    fn has_few_turns(&self) -> bool {
        self.operations >= TURN * self.turns
    }

    fn pays(&self) -> bool {
        self.operations > 0 && self.operations >= GATHER * self.gathers
    }
}
