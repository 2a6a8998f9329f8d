//! Where a loop's conditions change: how many iterations at its ends differ from those between.
//!
//! In: the body of a loop. Out: the ends, and for a condition whether it holds in all iterations of a part of the loop.
//!
//!     0 <= k with k = i - 1, for i < n     holds from i = 1 on: the first iteration is an end
//!     i < n - 1                            holds up to i = n - 2: the last one is

use std::collections::HashMap;

use crate::ir::Prim;

use super::LONGEST_END;
use crate::loops::analysis::affine::{Affine, Says, is_the_moving};
use crate::loops::program::*;

/// How many iterations the ends of a loop have, and what names in its body stand for.
pub struct Ends {
    i: Id,
    count: Affine,
    named: HashMap<Id, Value>,
    pub first: i64,
    pub last: i64,
}

/// Some iterations of a loop.
#[derive(Clone, Copy)]
pub enum Region {
    /// The first one.
    First,
    /// All but so many first and last ones.
    Between { first: i64, last: i64 },
    /// The last one, which is none of so many first ones.
    Last { first: i64 },
}

/// An index: a number, or the loop's count and a number.
#[derive(Clone, Copy)]
enum Cut {
    Low(i64),
    High(i64),
}

/// What a condition says of the loop's index.
enum Test {
    /// It is the cut or higher; or else, if `yes` is false, lower.
    From(Cut, bool),
    /// It is the cut; or else not.
    At(Cut, bool),
}

impl Ends {
    pub fn of(locals: &[Local], i: Id, count: &Value, body: &Block) -> Ends {
        let mut named = HashMap::new();
        collect_names(locals, body, &mut named);
        let count = Affine::of(count, &named);
        let mut ends = Ends { i, count, named, first: 0, last: 0 };
        ends.visit_innermost(body);
        ends
    }

    /// What is asked outside of the loops inside takes no time beside them.
    fn visit_innermost(&mut self, block: &Block) {
        let is_innermost = !block.iter().any(has_loop);
        if is_innermost {
            return self.visit(block);
        }
        for stmt in block {
            stmt.blocks().filter(|_| has_loop(stmt)).for_each(|inner| self.visit_innermost(inner));
        }
    }

    fn visit(&mut self, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Declare { init: Some(value), .. } | Stmt::Assign { value, .. } => self.choices(value),
                Stmt::If { cond, .. } => self.note(cond),
                _ => {}
            }
            stmt.blocks().for_each(|inner| self.visit(inner));
        }
    }

    /// The conditions of choices between more than numbers and names: those cost nothing.
    fn choices(&mut self, value: &Value) {
        let is_atom = |value: &Value| matches!(value, Value::Local(_) | Value::Double(_) | Value::Index(_) | Value::Bool(_));
        match value {
            Value::Select(parts) => {
                let [cond, a, b] = &parts[..] else { return };
                if !is_atom(a) || !is_atom(b) {
                    self.note(cond);
                }
                parts.iter().for_each(|part| self.choices(part));
            }
            Value::Prim { args, .. } | Value::Helper(_, args) => {
                if let Some(cond) = is_the_moving(value, self.i, &self.named) {
                    self.note(&cond);
                }
                args.iter().for_each(|arg| self.choices(arg));
            }
            Value::InRow(parts) => parts.iter().for_each(|part| self.choices(part)),
            Value::Load { offset: Some(offset), .. } => self.choices(offset),
            Value::Local(_)
            | Value::Double(_)
            | Value::Index(_)
            | Value::Bool(_)
            | Value::Load { .. }
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => {}
        }
    }

    fn note(&mut self, cond: &Value) {
        let (first, last) = match self.test(cond) {
            Some(Test::From(Cut::Low(at), _)) => (at, 0),
            Some(Test::From(Cut::High(at), _)) => (0, at.saturating_neg()),
            Some(Test::At(Cut::Low(at), _)) => (at.saturating_add(1), 0),
            Some(Test::At(Cut::High(at), _)) => (0, at.saturating_neg()),
            None => {
                if let Value::Prim { prim: Prim::And | Prim::Or | Prim::Not, args, .. } = cond {
                    args.iter().for_each(|arg| self.note(arg));
                }
                return;
            }
        };
        if first <= LONGEST_END && last <= LONGEST_END {
            self.first = self.first.max(first);
            self.last = self.last.max(last);
        }
    }

    fn test(&self, cond: &Value) -> Option<Test> {
        let cut = |at: Affine| match (at.constant_value(), at.minus(&self.count).constant_value()) {
            (Some(at), _) => Some(Cut::Low(at)),
            (None, Some(at)) => Some(Cut::High(at)),
            (None, None) => None,
        };
        Some(match Says::of(cond, self.i, &self.named)? {
            Says::From(at, yes) => Test::From(cut(at)?, yes),
            Says::At(at, yes) => Test::At(cut(at)?, yes),
        })
    }

    /// Whether a condition holds in all iterations but those at the ends, or in none.
    pub fn decide_between(&self, cond: &Value) -> Option<bool> {
        self.decide(cond, Region::Between { first: self.first, last: self.last })
    }

    /// Whether a condition holds in all iterations of a region, or in none.
    pub fn decide(&self, cond: &Value, region: Region) -> Option<bool> {
        let (is_it, yes) = match self.test(cond)? {
            Test::From(cut, yes) => (region.is_from(cut)?, yes),
            Test::At(cut, yes) => (region.is_at(cut)?, yes),
        };
        Some(is_it == yes)
    }
}

impl Region {
    fn is_from(self, cut: Cut) -> Option<bool> {
        match (self, cut) {
            (Region::First, Cut::Low(at)) => Some(at <= 0),
            (Region::Last { .. }, Cut::High(at)) => Some(at < 0),
            (Region::Between { first, .. } | Region::Last { first }, Cut::Low(at)) => (at <= first).then_some(true),
            (Region::First, Cut::High(at)) => (at >= 0).then_some(false),
            (Region::Between { last, .. }, Cut::High(at)) => (at >= -last).then_some(false),
        }
    }

    fn is_at(self, cut: Cut) -> Option<bool> {
        match (self, cut) {
            (Region::First, Cut::Low(at)) => Some(at == 0),
            (Region::Last { .. }, Cut::High(at)) => Some(at == -1),
            (Region::Between { first, .. } | Region::Last { first }, Cut::Low(at)) => (at < first).then_some(false),
            (Region::First, Cut::High(at)) => (at >= 0).then_some(false),
            (Region::Between { last, .. }, Cut::High(at)) => (at >= -last).then_some(false),
        }
    }
}

pub fn has_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::For { .. }) || stmt.blocks().flatten().any(has_loop)
}

/// The Index constants of a block, its branches and loops.
pub fn collect_names(locals: &[Local], block: &Block, named: &mut HashMap<Id, Value>) {
    for stmt in block {
        if let Stmt::Declare { id, init: Some(init @ Value::Prim { elem: Elem::Index, .. }) } = stmt
            && locals[*id].form == (Form::Scalar { mutable: false })
        {
            named.insert(*id, init.clone());
        }
        stmt.blocks().for_each(|block| collect_names(locals, block, named));
    }
}
