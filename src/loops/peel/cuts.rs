//! Loops split where what they do changes at an index that sizes or arguments give.
//!
//! In: a loop that asks in each iteration on which side of such an index it is, by a condition or by the larger or smaller of two
//! indices. Out: a loop for each side, which does not ask:
//!
//!     for (i = 0; i < n; ++i) out[i] = i < k ? v[i] : w[i - k];
//!       →   const int64_t first = min(max(0, k), n);
//!           for (i = 0; i < first; ++i) out[i] = v[i];
//!           for (i = first; i < n; ++i) out[i] = w[i - k];
//!
//! Sums over windows that are cut off at both ends change at two; between these all windows are of one length, so that many go
//! together:
//!
//!     for (i = 0; i < n; ++i) for (j = max(0, i + 1 - p); j < min(m, i + 1); ++j) s += t[j] * k[i - j];
//!       →   …; for (i = first; i < last; ++i) for (j = i + 1 - p; j < i + 1; ++j) …; …

use std::collections::{HashMap, HashSet};

use crate::ir::Prim;

use super::copy::Copy;
use super::ends::{collect_names, has_loop};
use super::{Scope, asks_nothing, fresh, index, range, repeat};
use crate::loops::analysis::affine::{Affine, Says, is_the_moving};
use crate::loops::program::*;
use crate::loops::visit::each_change;
use crate::loops::visit::{each_local, reads};

/// A body of more nodes is not copied.
const NODES: usize = 120;

/// Where a loop changes, in order: its parts lie before, between and after.
pub struct Cuts<'a> {
    i: Id,
    count: &'a Value,
    body: &'a Block,
    apart: bool,
    named: HashMap<Id, Value>,
    at: Vec<Affine>,
    /// Most is done in the part between, and the others may go on asking.
    is_middle: bool,
}

/// What holds in the part of a loop where most is done, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The index is the cut or higher.
    From,
    /// It is lower.
    Before,
    Either,
}

impl<'a> Cuts<'a> {
    /// The one or two places where it does; `None` where there are none or more, or they change while it runs.
    pub fn of(scope: &Scope, stmt: &'a Stmt) -> Option<Cuts<'a>> {
        let Stmt::For { i, count, body, lanes: Lanes::One, apart, .. } = stmt else { return None };
        if matches!(count, Value::Index(_)) || !super::is_plain(body) || super::nodes(body) > NODES {
            return None;
        }
        let mut named = HashMap::new();
        collect_names(scope.locals, body, &mut named);
        let mut cuts = Cuts { i: *i, count, body, apart: *apart, named, at: Vec::new(), is_middle: false };
        let mut found = Found { cuts: &cuts, length: Affine::of(count, &cuts.named), sides: Vec::new() };
        found.visit(body, !body.iter().any(has_loop));
        let sides = found.sides;
        let mut changed = HashSet::from([*i]);
        each_change(body, &mut |id| {
            changed.insert(id);
        });
        let fixed = |cut: &Affine| {
            cut.terms().all(|term| {
                let mut fixed = !matches!(term, Value::Load { .. });
                each_local(term, &mut |id| fixed &= !changed.contains(&id) && matches!(scope.locals[id].form, Form::Scalar { .. }));
                fixed
            })
        };
        if sides.is_empty() || !sides.iter().all(|(cut, _)| fixed(cut) && cut.value().is_some_and(|cut| is_exact(scope, &cut))) {
            return None;
        }
        cuts.at = places(&sides)?;
        cuts.is_middle = cuts.at.len() == 2 && sides.iter().all(|(_, side)| *side != Side::Either);
        Some(cuts)
    }

    /// Whether a condition holds in all iterations of a part, or in none.
    fn decide(&self, cond: &Value, part: usize) -> Option<bool> {
        let less = |a: &Affine, b: &Affine| b.minus(a).constant_value();
        let (before, end) = (&self.at[..part], self.at.get(part));
        match Says::of(cond, self.i, &self.named)? {
            Says::From(at, yes) if before.iter().any(|cut| less(&at, cut) >= Some(0)) => Some(yes),
            Says::From(at, yes) if end.is_some_and(|end| less(end, &at) >= Some(0)) => Some(!yes),
            Says::At(at, yes) if before.iter().any(|cut| less(&at, cut) > Some(0)) => Some(!yes),
            Says::At(at, yes) if end.is_some_and(|end| less(end, &at) >= Some(0)) => Some(!yes),
            Says::From(..) | Says::At(..) => None,
        }
    }

    /// The loops; `None` where a part still asks, or the windows between have lengths of their own.
    pub fn parts(&self, scope: &mut Scope) -> Option<Block> {
        let mut out = Vec::new();
        let mut from = Value::Index(0);
        for part in 0..=self.at.len() {
            let end = match self.at.get(part) {
                None => self.count.clone(),
                Some(cut) => {
                    let is_within =
                        Affine::of(self.count, &self.named).minus(cut).value().is_some_and(|left| scope.ranges.of(&left).0 >= 0);
                    let cut = cut.value()?;
                    let is_index = scope.ranges.of(&cut).0 >= 0;
                    if part == 0 && is_index && is_within {
                        cut
                    } else {
                        let cut = if is_index { cut } else { index(Prim::Max, Value::Index(0), cut) };
                        let within = if is_within { cut } else { index(Prim::Min, cut, self.count.clone()) };
                        let end = if part == 0 { within } else { index(Prim::Max, from.clone(), within) };
                        let id = fresh(&mut *scope.locals, self.i);
                        scope.locals[id].name = if part == 0 { "first".into() } else { "last".into() };
                        out.push(Stmt::Declare { id, init: Some(end) });
                        Value::Local(id)
                    }
                }
            };
            let copy = |locals: &mut Vec<Local>, i: Value| Copy::new(locals, &|cond| self.decide(cond, part), self.i, i).body(self.body);
            let (i, count, mut body) = range(&mut *scope.locals, self.i, from, end.clone(), copy);
            let is_main = part == 1 || !self.is_middle;
            let own = if let [Stmt::Declare { id, .. }, ..] = body.as_slice() { *id } else { i };
            if is_main {
                if !asks_nothing(scope.locals, &body, &[]) || self.is_middle && body.iter().any(|stmt| counts_by(stmt, own)) {
                    return None;
                }
                super::peel(scope, &mut body);
            }
            out.push(repeat(i, count, body, self.apart));
            from = end;
        }
        Some(out)
    }
}

/// What is found in a loop's body.
struct Found<'a> {
    cuts: &'a Cuts<'a>,
    length: Affine,
    sides: Vec<(Affine, Side)>,
}

impl Found<'_> {
    /// Conditions and choices in innermost loops, and the lengths of loops.
    fn visit(&mut self, block: &Block, innermost: bool) {
        for stmt in block {
            match stmt {
                Stmt::Declare { init: Some(value), .. } if innermost => self.value(value),
                Stmt::Assign { place, value } if innermost => {
                    self.value(value);
                    if let Place::Element { offset: Some(offset), .. } = place {
                        self.value(offset);
                    }
                }
                Stmt::If { cond, then, otherwise } if innermost => self.note(cond, works(is_idle(then), is_idle(otherwise))),
                Stmt::For { count, .. } => self.value(count.iterations()),
                _ => {}
            }
            for inner in stmt.blocks() {
                self.visit(inner, innermost || matches!(stmt, Stmt::For { .. }) && !inner.iter().any(has_loop));
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Select(parts) => {
                let is_idle = |value: &Value| matches!(value, Value::Double(_) | Value::Local(_));
                self.note(&parts[0], works(is_idle(&parts[1]), is_idle(&parts[2])));
                parts.iter().for_each(|part| self.value(part));
            }
            Value::Prim { args, .. } => {
                if let Some(cond) = is_the_moving(value, self.cuts.i, &self.cuts.named) {
                    self.note(&cond, Some(true));
                }
                args.iter().for_each(|arg| self.value(arg));
            }
            Value::Helper(_, args) => args.iter().for_each(|arg| self.value(arg)),
            Value::InRow(parts) => parts.iter().for_each(|part| self.value(part)),
            Value::Load { offset: Some(offset), .. } => self.value(offset),
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

    /// `works`: the outcome where most is done.
    fn note(&mut self, cond: &Value, works: Option<bool>) {
        if let Value::Prim { prim: prim @ (Prim::And | Prim::Or | Prim::Not), args, .. } = cond {
            let works = match (prim, works) {
                (Prim::And, Some(true)) | (Prim::Or, Some(false)) => works,
                (Prim::Not, works) => works.map(|works| !works),
                _ => None,
            };
            return args.iter().for_each(|arg| self.note(arg, works));
        }
        // near the ends of the loop is `ends`
        if let Some(Says::From(cut, yes)) = Says::of(cond, self.cuts.i, &self.cuts.named)
            && cut.constant_value().is_none()
            && cut.minus(&self.length).constant_value().is_none()
        {
            let side = works.map_or(Side::Either, |works| if works == yes { Side::From } else { Side::Before });
            self.sides.push((cut, side));
        }
    }
}

/// Which outcome of a condition has work, if one does nothing.
fn works(then_is_idle: bool, otherwise_is_idle: bool) -> Option<bool> {
    (then_is_idle != otherwise_is_idle).then_some(otherwise_is_idle)
}

fn is_idle(block: &Block) -> bool {
    block.iter().all(|stmt| matches!(stmt, Stmt::Assign { value: Value::Double(_) | Value::Local(_), .. }))
}

/// Where to split: one place, or two.
fn places(sides: &[(Affine, Side)]) -> Option<Vec<Affine>> {
    let mut at: [Option<Affine>; 2] = [None, None];
    let of = |wanted: Side| sides.iter().filter(move |(_, side)| *side == wanted).map(|(cut, _)| cut);
    for (k, cut) in of(Side::From).map(|cut| (0, cut)).chain(of(Side::Before).map(|cut| (1, cut))) {
        let distance = at[k].as_ref().map(|known| cut.minus(known).constant_value());
        match distance {
            None => at[k] = Some(cut.clone()),
            Some(None) => return None,
            // in the part between all of them hold
            Some(Some(more)) if (more > 0) == (k == 0) => at[k] = Some(cut.clone()),
            Some(Some(_)) => {}
        }
    }
    for cut in of(Side::Either) {
        let is_known = |known: &Affine| cut.minus(known).constant_value() == Some(0);
        if at.iter().flatten().any(is_known) {
            continue;
        }
        *at.iter_mut().find(|place| place.is_none())? = Some(cut.clone());
    }
    Some(at.into_iter().flatten().collect())
}

/// Whether nothing in a sum overflows.
fn is_exact(scope: &Scope, sum: &Value) -> bool {
    let Value::Prim { prim: prim @ (Prim::Add | Prim::Sub), elem, args, .. } = sum else { return true };
    args.iter().all(|arg| is_exact(scope, arg)) && matches!(scope.ranges.prim(*prim, *elem, args.clone()), Value::Prim { plain: true, .. })
}

/// Whether a loop, or one in it, has as many iterations as an index says.
fn counts_by(stmt: &Stmt, id: Id) -> bool {
    let own = matches!(stmt, Stmt::For { count, .. } if reads(count, id));
    own || stmt.blocks().flatten().any(|stmt| counts_by(stmt, id))
}
