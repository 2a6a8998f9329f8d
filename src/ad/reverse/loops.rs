//! The backward pass of loops.
//!
//! In: a `build` or an `ifold` with the cotangents of its value. Out: a loop whose state is the
//! adjoints accumulated for values from outside. Its body recomputes the original's, then does the backward pass.
//!
//!     build n (fun i -> f x[i]), cotangent w   →   ifold (fun xb i -> accumulate xb i (f' x[i] * w[i])) xb n
//!     ifold (fun s i -> s * x[i]) z n, cot. w  →   ifold (fun (sb, xb) t -> let i = n - 1 - t in
//!                                                     (sb * x[i], accumulate xb i (tape[i] * sb))) (w, xb) n
//!
//! An `ifold` whose backward pass reads its state stores what that needs ([`super::states`]). A fold that only sums stores
//! nothing, and its backward pass may run in any order.

use super::adjoint::{Wire, bar, paths};
use super::checkpoints;
use super::operations::{Elements, Part, Steps};
use super::settled::Component;
use super::states::{Kept, Storing};
use super::sweep::{Frame, Sweep};
use crate::ad::Result;
use crate::ad::block::{Block, prune, written_as};
use crate::ad::pairs::one_or_tuple;
use crate::ir::last_use::component;
use crate::ir::subst::instance;
use crate::ir::{Expr, Name, Prim, Term, Type, Var};

/// The backward pass through a body: a closed term without its last line, and what it leaves.
pub(super) struct Turned {
    pub block: Block,
    pub frame: Frame,
}

impl Turned {
    /// What the wires from outside have at the end.
    pub fn totals(&self) -> Vec<Expr> {
        self.frame.entered.iter().filter_map(|(wire, _)| self.frame.current.get(wire).cloned()).collect()
    }

    /// The wires from outside and the names of what they had before.
    pub fn entered(&self) -> (Vec<Wire>, Vec<Var>) {
        self.frame.entered.iter().filter_map(|(wire, before)| Some((*wire, before.clone()?))).unzip()
    }
}

impl Sweep<'_> {
    pub fn elements_back(&mut self, elements: &Elements, out: &mut Block) -> Result<()> {
        let taken = self.taken(&elements.out, out);
        if taken.is_empty() {
            return Ok(());
        }
        let taken: Vec<(Vec<usize>, Expr)> =
            taken.into_iter().map(|(path, cotangent)| (path, out.bind(Name::placeholder("w"), cotangent))).collect();
        let i = elements.i.renewed(elements.i.ty().clone());
        let body = instance(&elements.body, &[(elements.i.clone(), Expr::var(&i))]);
        self.functions.given_by_data.enter_loop(&elements.n, &i);
        let mut block = out.inner();
        let ((), frame) = self.scope(&body, false, |this| {
            let (value, result) = this.forward(&body, &mut block)?;
            block.take(&value, &Expr::get(elements.array.clone(), Expr::var(&i)));
            for (path, cotangent) in &taken {
                if let Some(place) = result.at(path) {
                    this.add(&place.clone(), Expr::get(cotangent.clone(), Expr::var(&i)), &mut block);
                }
            }
            this.backward(&mut block)
        })?;
        let turned = Turned { block, frame };
        if turned.frame.entered.is_empty() {
            return Ok(());
        }
        let (wires, names) = turned.entered();
        let restored = turned.block.restored();
        let inits: Vec<Expr> = wires.iter().map(|wire| self.total(*wire, out)).collect();
        let step = turned.block.close(one_or_tuple([turned.totals(), restored.clone()].concat()));
        let (names, step, inits) = carry(&restored, names, step, inits);
        let fold = fold_over(&elements.n, i, &names, step, inits);
        self.keep(&wires, &restored, fold, out);
        Ok(())
    }

    pub fn steps_back(&mut self, steps: &Steps, out: &mut Block) -> Result<()> {
        let taken = self.taken(&steps.out, out);
        if taken.is_empty() { Ok(()) } else { self.turn_steps(steps, &taken, out) }
    }

    fn turn_steps(&mut self, steps: &Steps, taken: &[(Vec<usize>, Expr)], out: &mut Block) -> Result<()> {
        let acc = steps.acc.renewed(steps.acc.ty().clone());
        let i = steps.i.renewed(steps.i.ty().clone());
        let body = instance(&steps.body, &[(steps.acc.clone(), Expr::var(&acc)), (steps.i.clone(), Expr::var(&i))]);
        self.functions.given_by_data.enter_fold(&steps.n, &acc, &i, &body, &steps.init);
        if steps.open.is_some() {
            self.functions.given_by_data.note(&i);
        }
        let leaves = paths(acc.ty(), &steps.active);
        let own: Vec<Var> = leaves.iter().map(|(path, ty)| Var::fresh(&bar(&acc.full_name().at(path)), ty.clone())).collect();
        let mut block = out.inner();
        let settled_before = self.settled.len();
        let ((shares, result), frame) = self.scope_of_steps(&acc, steps, &body, &leaves, &own, &mut block)?;
        let mut turned = Turned { block, frame };
        let is_fixed = |k: usize| matches!(shares[k].term(), Term::Var(var) if *var == own[k]);
        let moving: Vec<usize> = (0..own.len()).filter(|k| !is_fixed(*k)).collect();
        let mut results: Vec<Expr> = moving.iter().map(|k| shares[*k].clone()).collect();
        results.extend(turned.totals());
        // those of the state are the state's own business
        let is_state = |array: &Expr| component(array).is_some_and(|(var, _)| *var == acc);
        let restored: Vec<Expr> = turned.block.restored().into_iter().filter(|array| !is_state(array)).collect();
        results.extend(restored.iter().cloned());
        let spares = out.spares();
        let close = |block: &Block, more: Vec<Expr>| {
            let results = [results.clone(), more].concat();
            if results.is_empty() { Expr::tuple(Vec::new()) } else { prune(&block.close(one_or_tuple(results)), &spares) }
        };
        let forward = turned.block.forward();
        let mut step = close(&turned.block, Vec::new());
        let mut settled: Vec<Vec<usize>> = Vec::new();
        let mut kept = Kept::of(steps, &step, &acc, &settled, &mut self.functions.given_by_data);
        for path in kept.logged_in_place().into_iter().filter(|_| self.may_settle) {
            let component = Component { steps, acc: &acc, i: &i, path: &path };
            if let Some(block) = component.settle(&turned.block, &result, &|block| close(block, Vec::new())) {
                turned.block = block;
                settled.push(path);
            }
        }
        if !settled.is_empty() {
            step = close(&turned.block, Vec::new());
            kept = Kept::of(steps, &step, &acc, &settled, &mut self.functions.given_by_data);
        }
        if !kept.logged.is_empty() && self.settled[settled_before..].iter().any(|ty| kept.logs(ty)) {
            // a loop inside has not put back what this one goes on to put back
            self.settled.truncate(settled_before);
            let outer = std::mem::replace(&mut self.may_settle, false);
            let turned = self.turn_steps(steps, taken, out);
            self.may_settle = outer;
            return turned;
        }
        if let Some(parts) = self.functions.options.checkpoint
            && !kept.is_nothing()
            && !steps.is_part
            && !steps.is_in_parts
            && steps.open.is_none()
            && let Some(in_parts) = checkpoints::in_parts(steps, i64::from(parts.get()), out)
        {
            return self.turn_steps(&in_parts, taken, out);
        }
        if let (Some(open), false, false) = (&steps.open, kept.is_nothing(), steps.is_in_parts)
            && let Some(in_parts) = open.in_parts(steps, out)
        {
            return self.turn_steps(&in_parts, taken, out);
        }
        for path in &settled {
            let first = Expr::component(steps.init.clone(), path);
            if out.may_come_from_outside(&first) {
                self.settled.push(first.ty().clone());
            }
        }
        // what each component's cotangent is before the loop
        let firsts: Vec<Expr> = leaves
            .iter()
            .zip(steps.out.leaves())
            .map(|((path, _), place)| match taken.iter().find(|(other, _)| other == path) {
                Some((_, cotangent)) => out.bind(Name::placeholder("w"), cotangent.clone()),
                None => self.zeros(place.wire, out),
            })
            .collect();
        for k in (0..own.len()).filter(|k| is_fixed(*k)) {
            out.spare(&own[k], firsts[k].clone());
        }
        let (wires, names) = turned.entered();
        let mut finals: Vec<Expr> = own.iter().map(Expr::var).collect();
        if !moving.is_empty() || !wires.is_empty() {
            let mut inits: Vec<Expr> = moving.iter().map(|k| firsts[*k].clone()).collect();
            inits.extend(wires.iter().map(|wire| self.total(*wire, out)));
            // a component that goes back with the loop is what the step leaves of it
            let is_less = kept.take_states_after(&result, &mut turned.block);
            let carried = kept.carried(&acc);
            let close = |block: &Block| close(block, carried.clone());
            let mut step = if kept.logged.is_empty() && !is_less { step } else { close(&turned.block) };
            // a loop in parts keeps few states to save room, and of one that data ends it is not known how many there will be
            let may_store = self.functions.options.checkpoint.is_none() && steps.open.is_none();
            if may_store && !steps.is_part && !steps.is_in_parts {
                let storing = Storing { acc: acc.clone(), i: i.clone(), block: forward, result: result.clone(), values: Vec::new() };
                step = kept.take_values(storing, &mut turned.block, step, &close);
            }
            let vars = moving.iter().map(|k| own[*k].clone()).chain(names).collect();
            let (mut vars, step, mut inits) = carry(&restored, vars, step, inits);
            let (step, carried) = kept.states(steps, (&acc, &i), step, out);
            let goes_back = !moving.is_empty() || !carried.is_empty();
            for (var, last) in carried {
                vars.push(var);
                inits.push(last);
            }
            let (i, step) = if goes_back { from_last(&steps.n, i, step) } else { (i, step) };
            let state = out.bind(name_of_all(&vars), fold_over(&steps.n, i, &vars, step, inits));
            let part = |at: usize| if vars.len() == 1 { state.clone() } else { Expr::proj(state.clone(), at) };
            let behind = restored.into_iter().chain(kept.logged.iter().map(|logged| kept.part(&steps.init, logged.leaf)));
            for (at, array) in behind.enumerate() {
                out.same(&array, part(moving.len() + wires.len() + at));
            }
            for (at, k) in moving.iter().enumerate() {
                finals[*k] = part(at);
            }
            for (at, wire) in wires.iter().enumerate() {
                self.set(*wire, part(moving.len() + at));
            }
        }
        for ((path, _), total) in leaves.iter().zip(finals) {
            if let Some(place) = steps.init_adjoint.at(path) {
                self.add(&place.clone(), total, out);
            }
        }
        Ok(())
    }

    /// One step and its backward pass: the cotangents of the state before it, and the state after it.
    fn scope_of_steps(
        &mut self,
        acc: &Var,
        steps: &Steps,
        body: &Expr,
        leaves: &[(Vec<usize>, Type)],
        own: &[Var],
        block: &mut Block,
    ) -> Result<((Vec<Expr>, Expr), Frame)> {
        // the accumulator is active in the step as it is in the loop
        let placeholder = self.activate(acc, &steps.active);
        self.states.push(acc.clone());
        let scoped = self.scope(body, false, |this| {
            let adjoint = this.activate(acc, &steps.active);
            this.enters_part = steps.is_in_parts.then(|| Part { level: steps.open.as_ref().map(|open| open.level.clone()) });
            let (value, result) = this.forward(body, block)?;
            block.begin_backward();
            for ((path, _), cotangent) in leaves.iter().zip(own) {
                if let Some(place) = result.at(path) {
                    this.add(&place.clone(), Expr::var(cotangent), block);
                }
            }
            this.backward(block)?;
            let places: Vec<Wire> = adjoint.leaves().into_iter().map(|place| place.wire).collect();
            Ok((places.into_iter().map(|wire| this.total(wire, block)).collect::<Vec<_>>(), value))
        });
        drop(placeholder);
        self.states.pop();
        self.env.remove(acc);
        scoped
    }

    /// Zeros for a wire, by a name.
    fn zeros(&self, wire: Wire, out: &mut Block) -> Expr {
        let info = &self.wires[wire];
        out.bind(&info.name, info.zeros())
    }

    /// Notes the wires' new totals, which are the components of a term, and behind them arrays that were changed and back.
    pub fn keep(&mut self, wires: &[Wire], restored: &[Expr], totals: Expr, out: &mut Block) {
        let name = match (wires, totals.term()) {
            ([wire], _) if restored.is_empty() => Name::from(&*self.wires[*wire].name),
            (_, Term::Fold { acc, .. }) => acc.full_name().clone(),
            _ => "back".into(),
        };
        let totals = out.bind(name, totals);
        let count = wires.len() + restored.len();
        let part = |at: usize| if count == 1 { totals.clone() } else { Expr::proj(totals.clone(), at) };
        for (at, wire) in wires.iter().enumerate() {
            self.set(*wire, part(at));
        }
        for (at, name) in restored.iter().enumerate() {
            out.same(name, part(wires.len() + at));
        }
    }
}

/// The state of a loop with these arrays from outside behind it, each written by the name that it has in a step.
fn carry(restored: &[Expr], mut names: Vec<Var>, step: Expr, mut inits: Vec<Expr>) -> (Vec<Var>, Expr, Vec<Expr>) {
    let step = restored.iter().fold(step, |step, array| {
        let name = Var::fresh("a", array.ty().clone());
        let step = written_as(&step, array, &Expr::var(&name));
        names.push(name);
        inits.push(array.clone());
        step
    });
    (names, step, inits)
}

/// A fold whose state has these variables as its components.
fn fold_over(n: &Expr, i: Var, vars: &[Var], step: Expr, inits: Vec<Expr>) -> Expr {
    if let [var] = vars {
        return Expr::fold_with(n.clone(), var.clone(), i, step, one_or_tuple(inits));
    }
    let state = Var::named(name_of_all(vars), Type::tuple(vars.iter().map(|var| var.ty().clone()).collect()));
    let part = |at: usize| Expr::proj(Expr::var(&state), at);
    let step = vars.iter().enumerate().rev().fold(step, |step, (at, var)| Expr::let_(var.clone(), part(at), step));
    Expr::fold_with(n.clone(), state, i, step, Expr::tuple(inits))
}

/// What the state of a loop is called that has these variables as its components.
fn name_of_all(vars: &[Var]) -> Name {
    match vars {
        [var] => var.full_name().clone(),
        _ => Name::of_parts("back", vars.iter().map(Var::full_name).cloned()),
    }
}

/// The step for the index counted down from the last.
fn from_last(n: &Expr, i: Var, step: Expr) -> (Var, Expr) {
    let t = Var::fresh("t", i.ty().clone());
    let last = Expr::prim(Prim::Sub, vec![n.clone(), Expr::index(1)]);
    let index = Expr::prim(Prim::Sub, vec![last, Expr::var(&t)]);
    (t, Expr::let_(i, index, step))
}
