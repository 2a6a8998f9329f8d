//! The states of a fold: what the way forward keeps of them, and how the way back has them again.
//!
//! In: a fold, and a step of its way back, which reads the state before the step. Out: the fold with what it keeps behind its
//! state, and the step with that state. A component that is read has a tape: an array whose element i is the component
//! before step i. One of which each step changes elements at indices that are known without the state has a log of these
//! elements alone ([`super::undo`]); it is carried from its last value to its first.
//!
//!     ifold (fun s i -> s * x[i]) z n          →   ifold (fun (s, tape) i -> (s * x[i], update tape i s)) (z, …) n
//!     ifold (fun s i -> update s i (f s)) z n  →   ifold (fun (s, log) i -> (update s i (f s), update log i s[i])) (z, …) n
//!     back, from the last s:                       fun (.., s) i -> let s = update s i log[i] in (.., s)

use super::loops::Steps;
use super::undo::Log;
use crate::ad::block::Block;
use crate::ad::pairs::one_or_tuple;
use crate::ir::free::mentions;
use crate::ir::in_place::sites;
use crate::ir::subst::instance;
use crate::ir::{Change, Expr, Term, Type, Var};

/// What is kept of a fold's states.
pub struct Kept {
    types: Vec<Type>,
    is_tuple: bool,
    /// The components with a tape.
    taped: Vec<usize>,
    pub logged: Vec<Logged>,
}

/// A component with a log for each update.
pub struct Logged {
    pub component: usize,
    logs: Vec<Log>,
}

impl Kept {
    /// What a step of the way back needs, which reads the state `acc`.
    pub fn of(steps: &Steps, step: &Expr, acc: &Var) -> Kept {
        let is_tuple = matches!(acc.ty(), Type::Tuple(_));
        let types: Vec<Type> = match acc.ty() {
            Type::Tuple(parts) => parts.to_vec(),
            ty => vec![ty.clone()],
        };
        let mut is_read = vec![!is_tuple && mentions(step, acc); types.len()];
        read_components(step, acc, &mut is_read);
        let mut kept = Kept { types, is_tuple, taped: Vec::new(), logged: Vec::new() };
        for component in (0..kept.types.len()).filter(|k| is_read[*k]) {
            match kept.logs(steps, component) {
                Some(logs) => kept.logged.push(Logged { component, logs }),
                None => kept.taped.push(component),
            }
        }
        kept
    }

    pub fn is_nothing(&self) -> bool {
        self.taped.is_empty() && self.logged.is_empty()
    }

    fn logs(&self, steps: &Steps, component: usize) -> Option<Vec<Log>> {
        if !self.types[component].has_array() {
            return None;
        }
        let path: &[usize] = if self.is_tuple { &[component] } else { &[] };
        let sites = sites(&steps.body, &steps.acc, path)?;
        sites.into_iter().map(|site| Log::of(site, &steps.acc, &steps.i, &steps.n)).collect()
    }

    /// A component of the state.
    pub fn part(&self, state: &Expr, component: usize) -> Expr {
        if self.is_tuple { Expr::proj(state.clone(), component) } else { state.clone() }
    }

    /// The components that go back with the loop.
    pub fn carried(&self, acc: &Var) -> Vec<Expr> {
        self.logged.iter().map(|logged| self.part(&Expr::var(acc), logged.component)).collect()
    }

    /// The state out of one that has more components behind.
    fn whole(&self, state: &Var) -> Expr {
        one_or_tuple((0..self.types.len()).map(|k| Expr::proj(Expr::var(state), k)).collect())
    }

    /// The step with the state before it, from what the way forward then keeps; and the components that are carried, with
    /// their last values.
    pub fn states(&self, steps: &Steps, (acc, i): (&Var, &Var), step: Expr, out: &mut Block) -> (Expr, Vec<(Var, Expr)>) {
        if self.is_nothing() {
            return (step, Vec::new());
        }
        let all = self.forward(steps, out);
        let kept_at = |at: usize| Expr::get(Expr::proj(Expr::var(&all), self.types.len() + at), Expr::var(i));
        let mut at = self.taped.len();
        let mut carried = Vec::new();
        let mut before: Vec<(usize, Var, Expr)> = Vec::new();
        for Logged { component, logs } in &self.logged {
            let ty = &self.types[*component];
            let after = Var::fresh(acc.name(), ty.clone());
            let mut value = Expr::var(&after);
            for log in logs {
                value = log.put_back(value, &kept_at(at));
                at += 1;
            }
            let value = instance(&value, &[(steps.i.clone(), Expr::var(i))]);
            before.push((*component, Var::fresh(acc.name(), ty.clone()), value));
            carried.push((after, Expr::proj(Expr::var(&all), *component)));
        }
        let read = |k: usize| match (self.taped.iter().position(|own| *own == k), before.iter().find(|(own, ..)| *own == k)) {
            (Some(at), _) => kept_at(at),
            (None, Some((_, name, _))) => Expr::var(name),
            (None, None) => self.part(&steps.init, k),
        };
        let state = one_or_tuple((0..self.types.len()).map(read).collect());
        let step = Expr::let_(acc.clone(), state, step);
        let step = before.into_iter().rev().fold(step, |step, (_, name, value)| Expr::let_(name, value, step));
        (step, carried)
    }

    /// Gives the fold what it keeps, behind its state.
    fn forward(&self, steps: &Steps, out: &mut Block) -> Var {
        let (acc, first) = (Expr::var(&steps.acc), &steps.init);
        let tapes = self.taped.iter().map(|k| (self.part(&acc, *k), self.part(first, *k)));
        let logs = self.logged.iter().flat_map(|Logged { component, logs }| {
            let (before, first) = (self.part(&acc, *component), self.part(first, *component));
            logs.iter().map(move |log| (log.taken(&before), log.nothing(&first)))
        });
        let kept: Vec<(Expr, Expr)> = tapes.chain(logs).map(|(kept, blank)| (kept, Expr::build(steps.n.clone(), "i", |_| blank))).collect();
        let state_type = Type::tuple(self.types.iter().chain(kept.iter().map(|(_, blank)| blank.ty())).cloned().collect());
        let state = steps.acc.renewed(state_type.clone());
        let next = steps.acc.renewed(steps.acc.ty().clone());
        let update = |(at, (kept, _)): (usize, &(Expr, Expr))| {
            let tape = Expr::proj(Expr::var(&state), self.types.len() + at);
            let name = Var::fresh(&format!("{}_tape", steps.acc.name()), tape.ty().clone());
            (name, Expr::update(Change::Replace, tape, vec![Expr::var(&steps.i)], kept.clone()))
        };
        let updates: Vec<(Var, Expr)> = kept.iter().enumerate().map(update).collect();
        let results = (0..self.types.len()).map(|k| self.part(&Expr::var(&next), k)).chain(updates.iter().map(|(name, _)| Expr::var(name)));
        let body = Expr::let_(next.clone(), steps.body.clone(), Expr::tuple(results.collect()));
        let body = updates.into_iter().rev().fold(body, |body, (name, update)| Expr::let_(name, update, body));
        let body = Expr::let_(steps.acc.clone(), self.whole(&state), body);
        let firsts = (0..self.types.len()).map(|k| self.part(first, k));
        let init = Expr::tuple(firsts.chain(kept.into_iter().map(|(_, blank)| blank)).collect());
        let all = steps.acc.renewed(state_type);
        let fold = Expr::fold_with(steps.n.clone(), state, steps.i.clone(), body, init);
        out.replace(&steps.result, vec![(all.clone(), fold), (steps.result.clone(), self.whole(&all))]);
        all
    }
}

/// Which components of a variable are read.
fn read_components(expr: &Expr, var: &Var, read: &mut [bool]) {
    if !mentions(expr, var) {
        return;
    }
    match expr.term() {
        Term::Var(_) => read.fill(true),
        Term::Proj(tuple, k) if matches!(tuple.term(), Term::Var(_)) => {
            if let Some(read) = read.get_mut(*k) {
                *read = true;
            }
        }
        term => term.each_child(&mut |child| read_components(child, var, read)),
    }
}
