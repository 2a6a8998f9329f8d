//! Arrays of a loop's state that branches change in place.
//!
//! In: an `if`, with the state of the loop around it. Out: what the branches overwrite of it, kept before they are entered, and the array
//! as it was before.
//!
//!     let b = if c then update a k x else a   →   let old = if c then a[k] else 0.0 in let b = … in …
//!                                                 back: let a = if c then update b k old else b

use super::leaves::leaves_of;
use super::undo::Log;
use crate::ad::block::Block;
use crate::ir::free::each_free_var;
use crate::ir::in_place::Changes;
use crate::ir::{Expr, Var};

/// An array that the branches change in place: its names before and after, and the logs of what they overwrite.
pub struct Changed {
    before: Expr,
    after: Expr,
    logs: Vec<(Log, Expr)>,
}

impl Changed {
    /// The arrays of a loop's state `acc` that an `if`, bound as `chosen`, changes in place. What it overwrites is kept.
    pub fn of(value: &Expr, chosen: &Var, acc: &Var, out: &mut Block) -> Vec<Changed> {
        let mut found = Vec::new();
        if !value.has_updates() {
            return found;
        }
        for (array, path) in states_in(value, acc, out) {
            let before = Expr::component(Expr::var(&array), &path);
            let changes = Changes::of(value, &array);
            let Some(leaf) = leaves_of(value.ty()).into_iter().find(|after| changes.source(&after.path).as_ref() == Some(&path)) else {
                continue;
            };
            let Some(sites) = changes.sites(&path).filter(|sites| !sites.is_empty() && leaf.ty == *before.ty()) else { continue };
            let logs = sites.into_iter().map(|site| Log::of(site, &leaf.ty, &array, None)).collect::<Option<Vec<_>>>();
            let Some(logs) = logs else { continue };
            let with_kept = |log: Log| {
                let kept = out.bind("kept", log.taken(&before));
                (log, kept)
            };
            let logs = logs.into_iter().map(with_kept).collect();
            let after = Expr::component(Expr::var(chosen), &leaf.path);
            out.changes(&after, &before);
            found.push(Changed { before, after, logs });
        }
        found
    }

    /// From here on the array is as it was before.
    pub fn undo(&self, out: &mut Block) {
        let undone = self.logs.iter().rev().fold(self.after.clone(), |array, (log, kept)| log.put_back(array, kept));
        if out.is_renewed(&self.after) {
            let again = out.bind("a", undone);
            out.same(&self.before, again);
        } else {
            out.undo(&self.before, &self.after, undone);
        }
    }
}

/// The arrays that a term takes from a block which are components of a loop's state, changed or not.
pub fn states_in(term: &Expr, acc: &Var, out: &Block) -> Vec<(Var, Vec<usize>)> {
    let mut found = Vec::new();
    each_free_var(term, &mut |var| {
        for leaf in leaves_of(var.ty()) {
            let name = (var.clone(), leaf.path);
            if leaf.ty.has_array() && !found.contains(&name) && out.comes_from(&Expr::component(Expr::var(var), &name.1), acc) {
                found.push(name);
            }
        }
    });
    found
}
