//! Rows that are added to an array: four at a time, so that it is read and written once for all of them, or all of a literal number.
//!
//! In: a loop over rows with inner loops that add something of each row to the same elements, beside loops of sums. Out: what a
//! loop of [`Rows`] is made of.
//!
//!     for i < m: w = x[i]                     →   for i < m / 4: w0 = x[4 i]; …; w3 = x[4 i + 3]
//!                for j < n: s[j] += A[i][j] * w               for j < n: s[j] += A[4 i][j] * w0 + … + A[4 i + 3][j] * w3
//!                                                 for i < m % 4: as before
//!
//! Each element is changed by the same numbers in the same order; where algebra is allowed, their sum is added, so that no row waits
//! for the one before, and an array that gets all of its rows at once needs no zeros ([`absorb_zeros`](crate::loops::absorb_zeros)).
//! What else the inner loop writes is apart in each row. A change is cheap: else it does not matter how often the array is read.

use crate::ir::Prim;

use super::order::{Row, Site, has};
use super::{FEW_STATEMENTS, MANY_LOOPS, MANY_ROWS, Part, ROWS, Rows, parts, plus};
use crate::loops::analysis::dependence::Iterations;
use crate::loops::analysis::effects::inside;
use crate::loops::program::*;
use crate::loops::visit::{each_local, each_part, reads, replace_local, replace_value};

/// All of so many rows go together: each element is then written once.
const FEW_ROWS: i64 = 16;

/// So many operations at most make a change of an element.
const CHEAP: usize = 3;

/// A loop that adds something of a row to the elements of arrays.
pub(super) struct Adds<'a> {
    pub stmt: &'a Stmt,
    pub body: &'a [Stmt],
    /// Which statements of the body add to the same element in each row.
    shared: Vec<bool>,
}

impl Rows<'_> {
    /// A loop over rows that are added to an array.
    pub(super) fn added<'a>(site: &Site, stmt: &'a Stmt, parallel: bool) -> Option<Rows<'a>> {
        let Stmt::For { i, count, body, lanes: Lanes::One, .. } = stmt else { return None };
        let least = if parallel { MANY_ROWS * MANY_ROWS } else { ROWS };
        if matches!(count, Value::Index(count) if *count < least) {
            return None;
        }
        let group = if let Value::Index(few @ ..=FEW_ROWS) = count { *few } else { ROWS };
        let row = Row::of(site, *i, count, body);
        let parts = parts(body, &|stmt| row.adds(stmt, group))?;
        let loops = parts.iter().filter(|part| !matches!(part, Part::Plain(_))).count();
        let is_short = parts.iter().all(|part| part.statements().len() <= FEW_STATEMENTS);
        let is_shared = parts.iter().any(|part| matches!(part, Part::Adds(adds) if adds.shared.contains(&true)));
        let fits = is_short && is_shared && loops <= MANY_LOOPS && row.goes_beside(&parts, group);
        fits.then_some(Rows { i: *i, group, count, parts, lanes: false, apart: false, algebra: false })
    }
}

/// The constants of a body.
fn names(locals: &[Local], body: &[Stmt]) -> Vec<(Id, Value)> {
    let name = |stmt: &Stmt| {
        let Stmt::Declare { id, init: Some(init) } = stmt else { return None };
        (locals[*id].form == (Form::Scalar { mutable: false })).then(|| (*id, init.clone()))
    };
    body.iter().filter_map(name).collect()
}

impl Row<'_> {
    /// A loop that adds something of the row to elements, for so many rows at a time.
    fn adds<'a>(&self, stmt: &'a Stmt, group: i64) -> Option<Adds<'a>> {
        let Stmt::For { i: j, count, body, lanes: Lanes::Any | Lanes::One, .. } = stmt else { return None };
        let own = inside(body);
        let iterations = Iterations { i: *j, count, own: &own, around: self.site.around, ranges: self.site.ranges };
        let named = names(self.site.locals, self.body);
        let mut shared = Vec::new();
        for stmt in body {
            let (base, offset, value) = match stmt {
                Stmt::Declare { init: Some(init), .. } if is_cheap(init) => {
                    shared.push(false);
                    continue;
                }
                Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, value } | Stmt::Update { base, offset, value } => {
                    (*base, offset, value)
                }
                _ => return None,
            };
            let own = Value::Load { base, offset: Some(Box::new(offset.clone())) };
            (has(value, &own) && is_cheap(value)).then_some(())?;
            let mut in_row = offset.clone();
            named.iter().rev().for_each(|(id, init)| replace_local(&mut in_row, *id, init));
            // a local of the row's that is no constant has another value in each row
            let mut is_known = true;
            each_local(&in_row, &mut |id| is_known &= id == self.i || id == *j || !self.changed.contains(&id));
            is_known.then_some(())?;
            let is_same = !reads(&in_row, self.i);
            // what the rows add is added up first
            (!is_same || times(value, &own) == 1).then_some(())?;
            let at = |k: i64| {
                let mut offset = in_row.clone();
                replace_local(&mut offset, self.i, &plus(Value::Local(self.i), Value::Index(k)));
                offset
            };
            (0..group).all(|k| iterations.are_apart(&at(0), &at(k)) && iterations.are_apart(&at(k), &at(0))).then_some(())?;
            shared.push(is_same);
        }
        Some(Adds { stmt, body, shared })
    }
}

impl Adds<'_> {
    /// The statements of several rows, which `copied` gives of one; `algebra`: sums may be added up before they are added.
    pub(super) fn together(&self, algebra: bool, copied: &mut dyn FnMut(&Stmt) -> Block) -> Block {
        let mut together = Vec::new();
        for (stmt, is_shared) in self.body.iter().zip(&self.shared) {
            let mut all = copied(stmt).into_iter();
            if *is_shared && let Some(mut sum) = all.next() {
                for mut stmt in all {
                    if !(algebra && join(&mut sum, &mut stmt)) {
                        chain(&mut sum, stmt);
                    }
                }
                together.push(sum);
            } else {
                together.extend(all);
            }
        }
        together
    }
}

/// How often an expression has another in it.
fn times(value: &Value, part: &Value) -> usize {
    let mut count = 0;
    each_part(value, &mut |inner| count += usize::from(inner == part));
    count
}

fn is_cheap(value: &Value) -> bool {
    fn operations(value: &Value) -> Option<usize> {
        match value {
            Value::Prim { prim: Prim::Add | Prim::Sub | Prim::Mul | Prim::Div | Prim::Neg, elem: Elem::Double, args, .. } => {
                args.iter().try_fold(1, |sum, arg| Some(sum + operations(arg)?))
            }
            Value::Local(_) | Value::Load { .. } | Value::Double(_) => Some(0),
            Value::Index(_)
            | Value::Bool(_)
            | Value::Prim { .. }
            | Value::InRow(_)
            | Value::Select(_)
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => None,
        }
    }
    operations(value).is_some_and(|count| count <= CHEAP)
}

/// The element that a statement changes, as it is before.
fn changed(stmt: &Stmt) -> Option<Value> {
    let (Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, .. } | Stmt::Update { base, offset, .. }) = stmt else {
        return None;
    };
    Some(Value::Load { base: *base, offset: Some(Box::new(offset.clone())) })
}

fn new_value(stmt: &mut Stmt) -> Option<&mut Value> {
    if let Stmt::Assign { value, .. } | Stmt::Update { value, .. } = stmt { Some(value) } else { None }
}

/// Merges two accumulations into one element: `a += x; a += y` is `a += x + y`. `false` where a statement is no accumulation, or one adds
/// and the other subtracts.
fn join(first: &mut Stmt, next: &mut Stmt) -> bool {
    let Some(own) = changed(next) else { return false };
    let (Some(before), Some(after)) = (new_value(first), new_value(next)) else { return false };
    match (before, after) {
        (
            Value::Prim { prim, elem: Elem::Double, args, .. },
            Value::Prim { prim: other @ (Prim::Add | Prim::Sub), elem: Elem::Double, args: others, .. },
        ) if prim == other && args[0] == own && others[0] == own => {
            let sum = std::mem::replace(&mut args[1], own);
            args[1] = Value::Prim { prim: Prim::Add, elem: Elem::Double, plain: true, args: vec![sum, others.swap_remove(1)] };
            true
        }
        _ => false,
    }
}

/// Puts the element as one statement leaves it where another, which changes the same element, reads it.
fn chain(first: &mut Stmt, mut next: Stmt) {
    let Some(own) = changed(&next) else { return };
    if let (Some(before), Some(value)) = (new_value(first), new_value(&mut next)) {
        replace_value(value, &own, before);
        std::mem::swap(before, value);
    }
}
