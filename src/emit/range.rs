//! Loops over a range that does not start at 0.
//!
//! In: a loop whose body first adds an offset to its variable. Out: the loop over the shifted range.
//!
//!     for (i = 0; i < max(0, high - low); ++i) { const int64_t k = low + i; … k … }
//!       →   for (k = low; k < high; ++k) { … k … }

use crate::ir::Prim;
use crate::loops::program::{Block, Id, Place, Stmt, Value};
use crate::loops::visit::each_local;

/// What a `for` says, and the statements left inside.
pub struct Range<'a> {
    pub i: Id,
    pub low: &'a Value,
    pub high: &'a Value,
    pub body: &'a [Stmt],
}

impl<'a> Range<'a> {
    /// `None` where the variable itself is needed, or what the range begins with changes.
    pub fn of(i: Id, count: &'a Value, body: &'a Block) -> Option<Range<'a>> {
        let [Stmt::Declare { id, init: Some(Value::Prim { prim: Prim::Add, args, .. }) }, body @ ..] = body.as_slice() else { return None };
        let low = match args.as_slice() {
            [low, Value::Local(j)] | [Value::Local(j), low] if *j == i => low,
            _ => return None,
        };
        let Value::Prim { prim: Prim::Sub, args, .. } = count.iterations() else { return None };
        let [high, from] = args.as_slice() else { return None };
        let mut fixed = vec![i];
        each_local(low, &mut |id| fixed.push(id));
        (from == low && is_apart(body, &fixed, i)).then_some(Range { i: *id, low, high, body })
    }
}

/// Whether statements, of the plain kinds, change none of these locals and do not read that one.
fn is_apart(block: &[Stmt], fixed: &[Id], unread: Id) -> bool {
    let reads = |value: &Value| {
        let mut found = false;
        each_local(value, &mut |id| found |= id == unread);
        found
    };
    block.iter().all(|stmt| {
        let here = match stmt {
            Stmt::Declare { init, .. } => !init.as_ref().is_some_and(reads),
            Stmt::Assign { place: Place::Local(id), value } => !fixed.contains(id) && !reads(value),
            Stmt::Assign { place: Place::Element { offset, .. }, value } => !offset.as_ref().is_some_and(reads) && !reads(value),
            Stmt::Update { offset, value, .. } => !reads(offset) && !reads(value),
            Stmt::For { count: value, .. } | Stmt::If { cond: value, .. } | Stmt::Fail { cond: value, .. } => !reads(value),
            Stmt::Scope(_) => true,
            Stmt::Point { .. }
            | Stmt::While { .. }
            | Stmt::Share(_)
            | Stmt::NoRoom { .. }
            | Stmt::Room(_)
            | Stmt::Invoke(_)
            | Stmt::Rotate(_)
            | Stmt::Return(_) => false,
        };
        here && stmt.blocks().all(|block| is_apart(block, fixed, unread))
    })
}
