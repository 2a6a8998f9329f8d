//! What wires have collected: shares are added to a wire, and a wire is taken when its definition is met on the way back.
//!
//! In: shares of cotangents, each for a wire or an element of one. Out: the total of a wire. In a scope of its own, a wire from outside
//! has a name for what it had before; shares for elements wait for one for the whole, so that no array of zeros is made first.

use super::adjoint::{Adjoint, Place, Wire};
use super::sweep::Sweep;
use crate::ad::block::Block;
use crate::ir::{Change, Expr, Prim, Term, Type, Var};

impl Sweep<'_> {
    /// What the wires of a value have collected, by their paths; those with nothing are left out.
    pub fn taken(&mut self, adjoint: &Adjoint, out: &mut Block) -> Vec<(Vec<usize>, Expr)> {
        let mut found = Vec::new();
        for place in adjoint.leaves() {
            if let Some(cotangent) = self.take(place.wire, out) {
                found.push((self.wires[place.wire].path.clone(), cotangent));
            }
        }
        found
    }

    /// What a wire of this scope has collected.
    pub fn take(&mut self, wire: Wire, out: &mut Block) -> Option<Expr> {
        self.settle(wire, out);
        self.frames.last_mut()?.current.remove(&wire)
    }

    /// The end of a scope: nothing waits any more.
    pub fn settle_all(&mut self, out: &mut Block) {
        let mut waiting: Vec<Wire> = self.frames.last().map_or_else(Vec::new, |frame| frame.waiting.keys().copied().collect());
        waiting.sort_unstable();
        waiting.into_iter().for_each(|wire| self.settle(wire, out));
    }

    /// Adds what waits for a wire to what it has, or to zeros.
    fn settle(&mut self, wire: Wire, out: &mut Block) {
        let Some(waiting) = self.frames.last_mut().and_then(|frame| frame.waiting.remove(&wire)) else { return };
        let info = self.wires[wire].clone();
        let mut total = match self.frames.last().and_then(|frame| frame.current.get(&wire)) {
            Some(total) => total.clone(),
            None => out.bind(&info.name, info.zeros()),
        };
        for (indices, share) in waiting {
            total = out.bind(&info.name, Expr::update(Change::Add, total, indices, share));
        }
        self.set(wire, total);
    }

    /// What a wire has collected, zeros where that is nothing: a name.
    pub fn total(&mut self, wire: Wire, out: &mut Block) -> Expr {
        self.settle(wire, out);
        self.collected(wire, out)
    }

    /// The adjoint of a wire so far, without its pending contributions: a name, of zeros if there is none.
    pub fn collected(&mut self, wire: Wire, out: &mut Block) -> Expr {
        match self.current(wire) {
            Some(total) => total,
            None => {
                let info = self.wires[wire].clone();
                out.bind(&info.name, info.zeros())
            }
        }
    }

    pub fn set(&mut self, wire: Wire, total: Expr) {
        if let Some(frame) = self.frames.last_mut() {
            frame.current.insert(wire, total);
        }
    }

    /// Notes that a wire from outside is collected in this scope, also where it begins with nothing here: the scope around
    /// has to know of it.
    pub fn enter(&mut self, wire: Wire) {
        self.current(wire);
    }

    /// What a wire has collected; that of a wire from outside has a name in this scope.
    fn current(&mut self, wire: Wire) -> Option<Expr> {
        let ty = self.wires[wire].zeros().ty().clone();
        let name = self.wires[wire].name.clone();
        let is_blank = self.is_blank(wire);
        let frame = self.frames.last_mut()?;
        if let Some(total) = frame.current.get(&wire) {
            return Some(total.clone());
        }
        if frame.own.contains(&wire) {
            return None;
        }
        if is_blank {
            if frame.entered.iter().all(|(other, _)| *other != wire) {
                frame.entered.push((wire, None));
            }
            return None;
        }
        let before = Var::fresh(&name, ty);
        frame.entered.push((wire, Some(before.clone())));
        frame.current.insert(wire, Expr::var(&before));
        Some(Expr::var(&before))
    }

    /// Whether nothing is collected yet where the innermost scope begins.
    fn is_blank(&self, wire: Wire) -> bool {
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            if depth + 1 < self.frames.len() {
                // what waits there is added behind the branch
                if frame.current.contains_key(&wire) {
                    return false;
                }
                if frame.own.contains(&wire) {
                    return true;
                }
            }
            if !frame.is_branch {
                return false;
            }
        }
        false
    }

    /// Adds a share to what a place has collected.
    pub fn add(&mut self, place: &Place, share: Expr, out: &mut Block) {
        let name = self.wires[place.wire].name.clone();
        if matches!(share.term(), Term::Double(value) if *value == 0.0 && value.is_sign_positive()) {
            return;
        }
        let total = match self.current(place.wire) {
            None if place.indices.is_empty() => {
                let total = out.bind(&name, share);
                self.set(place.wire, total);
                return self.settle(place.wire, out);
            }
            None => {
                let share = out.bind("share", share);
                if let Some(frame) = self.frames.last_mut() {
                    frame.waiting.entry(place.wire).or_default().push((place.indices.clone(), share));
                }
                return;
            }
            Some(before) if !place.indices.is_empty() => Expr::update(Change::Add, before, place.indices.clone(), share),
            Some(before) if before.ty() == &Type::Double => Expr::prim(Prim::Add, vec![before, share]),
            // row by row, so that it can be done in place
            Some(before) => {
                let share = out.bind("share", share);
                Expr::fold(Expr::dim(before.clone(), 0), &name, "i", before, |total, i| {
                    Expr::update(Change::Add, total, vec![i.clone()], Expr::get(share, i))
                })
            }
        };
        let total = out.bind(&name, total);
        self.set(place.wire, total);
    }
}
