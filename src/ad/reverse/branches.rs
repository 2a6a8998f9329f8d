//! The backward pass of branches.
//!
//! In: an `if` with the cotangents of its value. Out: an `if` whose value is the adjoints accumulated for values from outside. Each
//! branch recomputes the original's, then does the backward pass. Where the branches change an array of a loop's state in place
//! ([`super::changed`]), it is changed back before they are entered again.
//!
//!     let b = if c then update a k x else a, cotangent w   →   let old = if c then a[k] else 0.0 in let b = … in …
//!                                                              let a = if c then update b k old else b in
//!                                                              if c then x_bar := w[k], a_bar := update w k 0.0 else a_bar := w

use super::adjoint::Wire;
use super::changed::states_in;
use super::loops::Turned;
use super::operations::Branches;
use super::sweep::Sweep;
use crate::ad::Result;
use crate::ad::block::Block;
use crate::ad::pairs::one_or_tuple;
use crate::ir::last_use::component;
use crate::ir::subst::instance;
use crate::ir::{Expr, Name};

impl Sweep<'_> {
    pub fn branches_back(&mut self, branches: &Branches, out: &mut Block) -> Result<()> {
        branches.changed.iter().for_each(|changed| changed.undo(out));
        let taken = self.taken(&branches.out, out);
        if taken.is_empty() {
            return Ok(());
        }
        let taken: Vec<(Vec<usize>, Expr)> =
            taken.into_iter().map(|(path, cotangent)| (path, out.bind(Name::placeholder("w"), cotangent))).collect();
        let mut sides = Vec::new();
        for branch in [&branches.then, &branches.otherwise] {
            let body = instance(branch, &[]);
            let states = self.states.last().map_or_else(Vec::new, |acc| states_in(&body, acc, out));
            let mut block = out.branch(states);
            let ((), frame) = self.scope(&body, true, |this| {
                let (_, result) = this.forward(&body, &mut block)?;
                for (path, cotangent) in &taken {
                    if let Some(place) = result.at(path) {
                        this.add(&place.clone(), cotangent.clone(), &mut block);
                    }
                }
                this.backward(&mut block)?;
                this.settle_all(&mut block);
                Ok(())
            })?;
            sides.push(Turned { block, frame });
        }
        let mut wires: Vec<Wire> = Vec::new();
        for (wire, _) in sides.iter().flat_map(|side| &side.frame.entered) {
            if !wires.contains(wire) {
                wires.push(*wire);
            }
        }
        if wires.is_empty() {
            return Ok(());
        }
        let restored = restored(&sides);
        // what a wire has where a branch adds nothing to it: not asked for where both do, and begin with nothing
        let mut inits: Vec<Option<Expr>> = Vec::new();
        for wire in &wires {
            let begins_anew = |side: &Turned| side.frame.entered.contains(&(*wire, None)) && side.frame.current.contains_key(wire);
            if sides.iter().all(begins_anew) {
                // the branch around this one gives it to the scope around both
                self.enter(*wire);
                inits.push(None);
            } else {
                inits.push(Some(self.collected(*wire, out)));
            }
        }
        let mut closed = sides.into_iter().map(|side| {
            let total = |(wire, init): (&Wire, &Option<Expr>)| side.frame.current.get(wire).cloned().or_else(|| init.clone());
            let result = one_or_tuple(wires.iter().zip(&inits).filter_map(total).chain(restored.iter().cloned()).collect());
            let (entered, names) = side.entered();
            let body = side.block.close(result);
            let init = |wire: Wire| wires.iter().position(|other| *other == wire).and_then(|at| inits[at].clone());
            entered.into_iter().zip(names).rev().fold(body, |body, (wire, name)| match init(wire) {
                Some(init) => Expr::let_(name, init, body),
                None => body,
            })
        });
        if let (Some(then), Some(otherwise)) = (closed.next(), closed.next()) {
            self.keep(&wires, &restored, Expr::if_(branches.cond.clone(), then, otherwise), out);
        }
        Ok(())
    }
}

/// The arrays from outside that one of the branches changed and put back.
fn restored(sides: &[Turned]) -> Vec<Expr> {
    let mut found: Vec<Expr> = Vec::new();
    let restored = sides.iter().flat_map(|side| {
        let undone = side.block.undone(one_or_tuple(side.totals()));
        side.block.restored().into_iter().chain(undone)
    });
    for name in restored {
        if found.iter().all(|other| component(other) != component(&name)) {
            found.push(name);
        }
    }
    found
}
