//! What the loops around a term are, and which of them it depends on.
//!
//! In: a term, the scopes around it. Out: whether it depends on all loops, the innermost fold, the steps of short loops.
//!
//!     build n (fun i -> let t = v[i] in ifold (fun s j -> s + t * w[j]) …)   t * w[j] needs both loops, t only the outer one

use rustc_hash::FxHashSet;

use super::{Fact, Facts};
use crate::ir::free::each_free_var;
use crate::ir::{Expr, Type, Var};

impl Facts {
    /// Whether the term depends on every enclosing loop, through the values of lets too.
    pub fn needs_all_loops(&self, expr: &Expr) -> bool {
        let (mut loops, mut seen) = (FxHashSet::default(), FxHashSet::default());
        self.loops_of(expr, &mut loops, &mut seen);
        loops.len() == self.loops.len()
    }

    fn loops_of(&self, expr: &Expr, loops: &mut FxHashSet<usize>, seen: &mut FxHashSet<Var>) {
        let mut free = Vec::new();
        each_free_var(expr, &mut |var| free.push(var.clone()));
        for var in free {
            if loops.len() == self.loops.len() {
                return;
            }
            if !seen.insert(var.clone()) {
                continue;
            }
            let Some(place) = self.bound.get(&var) else { continue };
            match self.facts.get(place.at) {
                Some(Fact::Loop(_) | Fact::Accumulator(_)) => {
                    loops.insert(place.loops);
                }
                Some(Fact::Let(_, value, _)) => self.loops_of(value, loops, seen),
                Some(Fact::Is(..) | Fact::Bound(_)) | None => {}
            }
        }
    }

    /// The variable of the innermost enclosing loop, if that is a fold.
    pub fn innermost_fold(&self) -> Option<&Var> {
        let at = *self.loops.last()?;
        match (self.facts.get(at.checked_sub(1)?)?, self.facts.get(at)?) {
            (Fact::Accumulator(_), Fact::Loop(i)) => Some(i),
            _ => None,
        }
    }

    /// The product of the counts of the innermost enclosing `build`s that are literals up to `longest`.
    pub fn nest(&self, longest: i64) -> i64 {
        let count = |at: &usize| match (at.checked_sub(1).and_then(|before| self.facts.get(before)), self.facts.get(*at)?) {
            (Some(Fact::Accumulator(_)), _) => None,
            (_, Fact::Loop(i)) => match i.ty() {
                Type::Index(Some(size)) => size.as_constant().filter(|count| *count <= longest),
                Type::Double | Type::Bool | Type::Index(None) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => None,
            },
            (_, Fact::Is(..) | Fact::Let(..) | Fact::Bound(_) | Fact::Accumulator(_)) => None,
        };
        self.loops.iter().rev().map_while(count).fold(1, i64::saturating_mul)
    }
}
