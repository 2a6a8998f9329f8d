//! Copies coalesced: a loop changes a local in the place of a copy that goes back to it after the loop, and no local is declared
//! for a value that is then given to another, or before it has a value.
//!
//! In: a function's statements. Out: sums over several indices are one local through all of their loops.
//!
//!     for i < m: t = s; for j < n: t += a[i][j]; s = t   →   for i < m: for j < n: s += a[i][j]
//!     const t = s - w; a[i] += w; s = t                  →   s = s - w; a[i] += w
//!     double s; …; s = 1.0                               →   …; double s = 1.0
//!
//! Not where the loop, or what stands between, has the original too, or the copy is read later.

use std::collections::HashMap;

use super::join_branches::is_plain;
use super::program::*;
use super::rename::rename;
use super::visit::{mentions, reads};
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
    declare_later(block);
    assign_at_once(block);
    let mut at = 0;
    while at + 3 <= block.len() {
        let (three, rest) = block[at..].split_at(3);
        if let Some((copy, original)) = copied(locals, three)
            && !rest.iter().any(|stmt| mentions(stmt, copy))
        {
            rename(&mut block[at + 1..at + 2], copy, original);
            block.remove(at + 2);
            block.remove(at);
        }
        at += 1;
    }
}

/// Assigns what a constant stands for where that is declared, if it is for nothing else and nothing in between has the assigned local.
fn assign_at_once(block: &mut Block) {
    let mut declared: HashMap<Id, usize> = HashMap::new();
    let mut at = 0;
    while at < block.len() {
        match &block[at] {
            Stmt::Declare { id, init: Some(_) } => {
                declared.insert(*id, at);
            }
            Stmt::Assign { place: Place::Local(to), value: Value::Local(copy) } => {
                if let Some(&from) = declared.get(copy)
                    && !block[from + 1..at].iter().any(|stmt| mentions(stmt, *copy) || mentions(stmt, *to))
                    && !block[at + 1..].iter().any(|stmt| mentions(stmt, *copy))
                    && let Stmt::Declare { init: Some(value), .. } = &block[from]
                {
                    block[from] = Stmt::Assign { place: Place::Local(*to), value: value.clone() };
                    block.remove(at);
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Declares locals where they are first assigned, if nothing has them before.
fn declare_later(block: &mut Block) {
    let mut at = 0;
    while at < block.len() {
        if let Stmt::Declare { id, init: None } = block[at]
            && let Some(first) = block[at + 1..].iter().position(|stmt| mentions(stmt, id)).map(|first| at + 1 + first)
            && let Stmt::Assign { place: Place::Local(to), value } = &block[first]
            && *to == id
            && !reads(value, id)
        {
            block[first] = Stmt::Declare { id, init: Some(value.clone()) };
            block.remove(at);
        } else {
            at += 1;
        }
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
    let is_alone = !reads(count, *copy) && !mentions(&three[1], *original);
    let fits = is_mutable(*copy) && is_mutable(*original) && locals[*copy].elem == locals[*original].elem;
    (goes_back && is_alone && fits && body.iter().all(is_plain)).then_some((*copy, *original))
}
