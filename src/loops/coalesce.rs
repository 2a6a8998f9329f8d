//! Copies coalesced: a loop changes a local in the place of a copy that goes back to it after the loop.
//!
//! In: a function's statements. Out: sums over several indices are one local through all of their loops.
//!
//!     for i < m: t = s; for j < n: t += a[i][j]; s = t   →   for i < m: for j < n: s += a[i][j]
//!
//! Not where the loop has the original too, or the copy is read later.

use super::join_branches::{assigns, is_plain, reads_in, rename};
use super::program::*;
use super::visit::reads;
use super::{Context, Result};

/// Coalesces the copies of a function.
pub fn run(function: &mut LoopFunction, _: &Context) -> Result<()> {
    within(&function.locals, &mut function.body);
    Ok(())
}

fn within(locals: &[Local], block: &mut Block) {
    for stmt in block.iter_mut() {
        stmt.blocks_mut().for_each(|inner| within(locals, inner));
    }
    let mut at = 0;
    while at + 3 <= block.len() {
        let (three, rest) = block[at..].split_at(3);
        if let Some((copy, original)) = copied(locals, three)
            && !reads_in(rest, copy)
            && !assigns(rest, copy)
        {
            rename(&mut block[at + 1..at + 2], copy, original);
            block.remove(at + 2);
            block.remove(at);
        }
        at += 1;
    }
}

/// `t` and `s` of `t = s; for …; s = t`, where the loop changes t and has nothing of s.
fn copied(locals: &[Local], three: &[Stmt]) -> Option<(Id, Id)> {
    let [Stmt::Declare { id: copy, init: Some(Value::Local(original)) }, Stmt::For { count, body, .. }, Stmt::Assign { place, value }] =
        three
    else {
        return None;
    };
    let is_mutable = |id: Id| locals[id].form == (Form::Scalar { mutable: true });
    let goes_back = *place == Place::Local(*original) && *value == Value::Local(*copy);
    let is_alone = !reads(count, *original) && !reads(count, *copy) && !reads_in(body, *original) && !assigns(body, *original);
    let fits = is_mutable(*copy) && is_mutable(*original) && locals[*copy].elem == locals[*original].elem;
    (goes_back && is_alone && fits && body.iter().all(is_plain)).then_some((*copy, *original))
}
