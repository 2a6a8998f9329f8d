//! The states of a fold: what the forward pass stores of them, and how the backward pass gets them back.
//!
//! In: a fold, and a step of its backward pass, which reads the state before the step. Out: the fold with tapes and logs as further
//! components of its state, and the backward step that reads them. A component that is read has a tape: an array whose
//! element i is the component
//! before step i. A component that each step updates at indices which do not depend on the state has a log of
//! the overwritten elements only ([`super::undo`]); the backward pass carries it from its last value to its first. Where what is read
//! is not overwritten, it is read from the last value ([`super::settled`]). Values of a step that are expensive to recompute have tapes as
//! well ([`super::stored`]).
//!
//!     ifold (fun s i -> s * x[i]) z n          →   ifold (fun (s, tape) i -> (s * x[i], update tape i s)) (z, …) n
//!     ifold (fun s i -> update s i (f s)) z n  →   ifold (fun (s, log) i -> (update s i (f s), update log i s[i])) (z, …) n
//!     back, from the last s:                       fun (.., s) i -> let s = update s i log[i] in (.., s)

use super::leaves::{Leaf, from_leaves, read_leaves};
use super::operations::Steps;
use super::stored::{Stored, essence, size_degree, take_values};
use super::undo::Log;
use crate::ad::block::{Block, prune};
use crate::ad::counts::GivenByData;
use crate::ir::free::mentions;
use crate::ir::in_place::{Changes, Site};
use crate::ir::subst::instance;
use crate::ir::{Change, Expr, Name, Prim, Type, Var};

/// What is kept of a fold's states.
pub struct Kept {
    ty: Type,
    /// The state's components that are no tuples.
    leaves: Vec<Leaf>,
    taped: Vec<Taped>,
    pub logged: Vec<Logged>,
    /// Those of which the backward pass reads the last value.
    settled: Vec<usize>,
    /// Where the forward pass stores values of a step: that step, with names for its values.
    storing: Option<Storing>,
}

/// A step of the forward pass, and which of its values are stored.
pub struct Storing {
    pub acc: Var,
    pub i: Var,
    /// What it binds.
    pub block: Block,
    /// The state after it.
    pub result: Expr,
    pub values: Vec<Stored>,
}

/// A component with a tape: its states before the steps, or all of them where the backward pass also takes the one after a step, by
/// this name, and does not compute it again.
struct Taped {
    leaf: usize,
    after: Option<Var>,
}

/// A component with a log for each update.
pub struct Logged {
    pub leaf: usize,
    /// The component after a step that it is then.
    goes_to: usize,
    logs: Vec<Log>,
    /// What the step writes last, by the name that the way back has for it where it takes it from the component after the step,
    /// and its indices.
    written: Option<(Var, Vec<Expr>)>,
}

impl Kept {
    /// What a step of the backward pass needs, which reads the state `acc`, and of the `settled` components the last value.
    pub fn of(steps: &Steps, step: &Expr, acc: &Var, settled: &[Vec<usize>], given_by_data: &mut GivenByData) -> Kept {
        let leaves = read_leaves(step, acc, true);
        let changes = Changes::of(&steps.body, &steps.acc);
        let log = |leaf: usize| {
            let Leaf { path, ty, .. } = &leaves[leaf];
            let goes_to = leaves.iter().position(|after| changes.source(&after.path).as_ref() == Some(path));
            let goes_to = goes_to.filter(|after| ty.has_array() && leaves[*after].ty == *ty)?;
            let sites = changes.sites(path)?;
            // the loop of a part may run far fewer steps than its log would have room for
            if steps.is_in_parts && sites.iter().any(|site| !site.around.is_empty()) {
                return None;
            }
            // a log has a length that is known before the loop runs
            if sites.iter().flat_map(Site::fixed_counts).any(|count| !mentions(count, &steps.i) && given_by_data.gives(count)) {
                return None;
            }
            let logs =
                sites.into_iter().map(|site| Log::of(site, ty, &steps.acc, Some((&steps.i, &steps.n)))).collect::<Option<Vec<_>>>()?;
            // two logs of all elements cost more than a tape of the states, of which nothing is put back
            (logs.iter().filter(|log| log.is_whole).count() < 2).then_some(())?;
            Some(Logged { leaf, goes_to, logs, written: None })
        };
        let mut candidates: Vec<Option<Logged>> = (0..leaves.len()).map(log).collect();
        // what no step changes is the last value too
        let is_same = |logged: &Logged| logged.goes_to == logged.leaf && logged.logs.is_empty();
        let is_settled: Vec<bool> = leaves
            .iter()
            .zip(&candidates)
            .map(|(leaf, log)| settled.contains(&leaf.path) || leaf.is_read && log.as_ref().is_some_and(is_same))
            .collect();
        let is_kept = |leaf: &usize| leaves[*leaf].is_read && !is_settled[*leaf];
        // components that change places go back together
        let mut is_logged = vec![false; leaves.len()];
        for leaf in (0..leaves.len()).filter(is_kept) {
            for other in cycle(leaf, &candidates).unwrap_or_default() {
                is_logged[other] = true;
            }
        }
        let taped = (0..leaves.len()).filter(|leaf| is_kept(leaf) && !is_logged[*leaf]).map(|leaf| Taped { leaf, after: None }).collect();
        let logged = (0..leaves.len()).filter(|leaf| is_logged[*leaf]).filter_map(|leaf| candidates[leaf].take()).collect();
        let settled = (0..leaves.len()).filter(|leaf| is_settled[*leaf]).collect();
        Kept { ty: acc.ty().clone(), leaves, taped, logged, settled, storing: None }
    }

    /// The components that have logs and stay where they are.
    pub fn logged_in_place(&self) -> Vec<Vec<usize>> {
        self.logged.iter().filter(|logged| logged.goes_to == logged.leaf).map(|logged| self.leaves[logged.leaf].path.clone()).collect()
    }

    /// Whether a component of this type has a log.
    pub fn logs(&self, ty: &Type) -> bool {
        self.logged.iter().any(|logged| self.leaves[logged.leaf].ty == *ty)
    }

    /// Whether nothing is kept of the states before the last one.
    pub fn is_nothing(&self) -> bool {
        self.taped.is_empty() && self.logged.is_empty()
    }

    /// Takes what the step computes of the state after it, `result`, from the tapes where that is work; whether there is any.
    pub fn take_states_after(&mut self, result: &Expr, block: &mut Block) -> bool {
        for at in 0..self.taped.len() {
            let leaf = self.part(result, self.taped[at].leaf);
            if let Some(var) = block.work_of(&leaf) {
                let after = var.renewed(var.ty().clone());
                block.replace(&var, vec![(var.clone(), Expr::var(&after))]);
                self.taped[at].after = Some(after);
            }
        }
        for at in 0..self.logged.len() {
            let leaf = self.part(result, self.logged[at].goes_to);
            let logged = &mut self.logged[at];
            let Some(var) = block.written_last(&leaf) else { continue };
            // the one update of the step: another one may have changed another element
            if let ([log], Type::Double) = (logged.logs.as_slice(), var.ty())
                && let Some(indices) = log.indices().cloned()
            {
                let after = var.renewed(Type::Double);
                block.replace(&var, vec![(var.clone(), Expr::var(&after))]);
                logged.written = Some((after, indices));
            }
        }
        self.taped.iter().any(|taped| taped.after.is_some()) || self.logged.iter().any(|logged| logged.written.is_some())
    }

    /// Takes values out of the backward step that are worth storing: from `block`, of which `close` makes that step.
    pub fn take_values(&mut self, mut storing: Storing, block: &mut Block, step: Expr, close: &dyn Fn(&Block) -> Expr) -> Expr {
        let taped = self.taped.iter().map(|taped| size_degree(&self.leaves[taped.leaf].ty));
        let logged = self.logged.iter().flat_map(|logged| logged.logs.iter().map(Log::degree));
        let settled = self.settled.iter().map(|leaf| size_degree(&self.leaves[*leaf].ty).saturating_sub(1));
        let Some(degree) = taped.chain(logged).chain(settled).max() else { return step };
        let computed = self.computed(&storing);
        let (values, step) = take_values(&storing.i, block, step, &computed, degree, close);
        storing.values = values;
        self.storing = (!storing.values.is_empty()).then_some(storing);
        step
    }

    /// What the forward pass computes anyway: what the states that are kept need of a step.
    fn computed(&self, storing: &Storing) -> Expr {
        let logged = self.logged.iter().map(|logged| logged.leaf);
        let kept = self.taped.iter().map(|taped| taped.leaf).chain(logged).chain(self.settled.iter().copied());
        let mut wanted: Vec<usize> = kept.collect();
        loop {
            let parts = wanted.iter().map(|leaf| storing.block.meaning(&self.part(&storing.result, *leaf))).collect();
            let computed = essence(&storing.block.close(Expr::tuple(parts)));
            let read = read_leaves(&computed, &storing.acc, false);
            let more = (0..read.len()).filter(|leaf| read[*leaf].is_read && !wanted.contains(leaf));
            let more: Vec<usize> = more.collect();
            if more.is_empty() {
                return computed;
            }
            wanted.extend(more);
        }
    }

    fn stored(&self) -> &[Stored] {
        self.storing.as_ref().map_or(&[], |storing| &storing.values)
    }

    /// A component of the state.
    pub fn part(&self, state: &Expr, leaf: usize) -> Expr {
        Expr::component(state.clone(), &self.leaves[leaf].path)
    }

    /// The state of these components.
    fn state(&self, part: impl Fn(usize) -> Expr) -> Expr {
        let mut leaves = 0..;
        from_leaves(&self.ty, &mut |_| part(leaves.next().unwrap_or_default()))
    }

    /// The components that go back with the loop.
    pub fn carried(&self, acc: &Var) -> Vec<Expr> {
        self.logged.iter().map(|logged| self.part(&Expr::var(acc), logged.leaf)).collect()
    }

    /// The state out of one that has more components behind.
    fn whole(&self, state: &Var) -> Expr {
        self.state(|leaf| Expr::proj(Expr::var(state), leaf))
    }

    /// The step with the state before it, from what the forward pass then keeps; and the components that are carried, with
    /// their last values.
    pub fn states(&self, steps: &Steps, (acc, i): (&Var, &Var), step: Expr, out: &mut Block) -> (Expr, Vec<(Var, Expr)>) {
        if self.is_nothing() && self.stored().is_empty() {
            if self.settled.is_empty() {
                return (step, Vec::new());
            }
            let last = |leaf: usize| {
                if self.settled.contains(&leaf) { self.part(&Expr::var(&steps.result), leaf) } else { self.part(&steps.init, leaf) }
            };
            return (Expr::let_(acc.clone(), self.state(last), step), Vec::new());
        }
        let all = self.forward(steps, out);
        let tape = |at: usize| Expr::proj(Expr::var(&all), self.leaves.len() + at);
        let kept_at = |at: usize| Expr::get(tape(at), Expr::var(i));
        let name = |leaf: usize| Var::named(acc.full_name().at(&self.leaves[leaf].path), self.leaves[leaf].ty.clone());
        // what each component is after the step
        let carried: Vec<(Var, Expr)> =
            self.logged.iter().map(|logged| (name(logged.leaf), Expr::proj(Expr::var(&all), logged.leaf))).collect();
        let mut at = self.taped.len();
        let mut before: Vec<(usize, Var, Expr)> = Vec::new();
        let mut written: Vec<(Var, Expr)> = Vec::new();
        for Logged { leaf, goes_to, logs, written: last } in &self.logged {
            let Some(after) = self.logged.iter().position(|other| other.leaf == *goes_to) else { continue };
            let mut value = Expr::var(&carried[after].0);
            if let Some((name, indices)) = last {
                let element = indices.iter().fold(value.clone(), |array, index| Expr::get(array, index.clone()));
                written.push((name.clone(), instance(&element, &[(steps.i.clone(), Expr::var(i))])));
            }
            for log in logs {
                value = log.put_back(value, &kept_at(at));
                at += 1;
            }
            before.push((*leaf, name(*leaf), instance(&value, &[(steps.i.clone(), Expr::var(i))])));
        }
        let read =
            |leaf: usize| match (self.taped.iter().position(|taped| taped.leaf == leaf), before.iter().find(|(own, ..)| *own == leaf)) {
                (Some(at), _) => kept_at(at),
                (None, Some((_, name, _))) => Expr::var(name),
                (None, None) if self.settled.contains(&leaf) => Expr::proj(Expr::var(&all), leaf),
                (None, None) => self.part(&steps.init, leaf),
            };
        let step = self.stored().iter().enumerate().fold(step, |step, (k, stored)| Expr::let_(stored.name.clone(), kept_at(at + k), step));
        let after = self.taped.iter().enumerate().filter_map(|(at, taped)| Some((at, taped.after.as_ref()?)));
        let step = after.fold(step, |step, (at, name)| Expr::let_(name.clone(), Expr::get(tape(at), one_more(&Expr::var(i))), step));
        let step = Expr::let_(acc.clone(), self.state(read), step);
        let step = before.into_iter().rev().fold(step, |step, (_, name, value)| Expr::let_(name, value, step));
        // what is read of the state after the step is read before that is put back
        let step = written.into_iter().fold(step, |step, (name, element)| Expr::let_(name, element, step));
        (step, carried)
    }

    /// Gives the fold what it keeps, behind its state.
    fn forward(&self, steps: &Steps, out: &mut Block) -> Var {
        let (acc, first) = (Expr::var(&steps.acc), &steps.init);
        // the first tapes, and how each step writes its row
        let more = |taped: &Taped| if taped.after.is_some() { one_more(&steps.n) } else { steps.n.clone() };
        let mut tapes: Vec<Expr> = self.taped.iter().map(|taped| Expr::build(more(taped), "i", |_| self.part(first, taped.leaf))).collect();
        for Logged { leaf, logs, .. } in &self.logged {
            tapes.extend(logs.iter().map(|log| Expr::build(steps.n.clone(), "i", |_| log.nothing(&self.part(first, *leaf)))));
        }
        tapes.extend(self.stored().iter().map(|stored| Expr::build(steps.n.clone(), "i", |_| stored.zeros.clone())));
        let state_type = Type::tuple(self.leaves.iter().map(|leaf| &leaf.ty).chain(tapes.iter().map(Expr::ty)).cloned().collect());
        // each component and each tape after what it is of
        let name_of = |leaf: usize| steps.acc.full_name().at(&self.leaves[leaf].path);
        let tape_of = |name: &str| Name::from(format!("{name}_tape"));
        let taped = self.taped.iter().map(|taped| tape_of(&name_of(taped.leaf)));
        let logged = self.logged.iter().flat_map(|logged| logged.logs.iter().map(|_| tape_of(&name_of(logged.leaf))));
        let stored = self.stored().iter().map(|stored| tape_of(stored.name.name()));
        let name = Name::of_parts(steps.acc.name(), (0..self.leaves.len()).map(name_of).chain(taped).chain(logged).chain(stored));
        let state = Var::named(name.clone(), state_type.clone());
        let next = steps.acc.renewed(steps.acc.ty().clone());
        let i = Expr::var(&steps.i);
        let mut updates: Vec<(Var, Expr)> = Vec::new();
        let mut keep = |write: &dyn Fn(Expr) -> Expr| {
            let at = self.leaves.len() + updates.len();
            let tape = Expr::proj(Expr::var(&state), at);
            updates.push((Var::named(name.part(at), tape.ty().clone()), write(tape)));
        };
        for Taped { leaf, after } in &self.taped {
            keep(&|tape| match after {
                Some(_) => Expr::update(Change::Replace, tape, vec![one_more(&i)], self.part(&Expr::var(&next), *leaf)),
                None => Expr::update(Change::Replace, tape, vec![i.clone()], self.part(&acc, *leaf)),
            });
        }
        for Logged { leaf, logs, .. } in &self.logged {
            logs.iter().for_each(|log| keep(&|tape| log.keep(&self.part(&acc, *leaf), tape, &i)));
        }
        for Stored { value, .. } in self.stored() {
            keep(&|tape| Expr::update(Change::Replace, tape, vec![i.clone()], value.clone()));
        }
        let results =
            (0..self.leaves.len()).map(|k| self.part(&Expr::var(&next), k)).chain(updates.iter().map(|(name, _)| Expr::var(name)));
        let results = Expr::tuple(results.collect());
        let values = updates.split_off(updates.len() - self.stored().len());
        let (mut after, before): (Vec<_>, Vec<_>) = updates.into_iter().partition(|(_, update)| mentions(update, &next));
        after.extend(values);
        let within =
            |updates: Vec<(Var, Expr)>, body| updates.into_iter().rev().fold(body, |body, (name, update)| Expr::let_(name, update, body));
        let end = |result: &Expr, after| Expr::let_(next.clone(), result.clone(), within(after, results));
        let body = match &self.storing {
            None => end(&steps.body, after),
            Some(storing) => {
                let body = prune(&storing.block.close(end(&storing.result, after)), &out.spares());
                instance(&body, &[(storing.acc.clone(), acc.clone()), (storing.i.clone(), i.clone())])
            }
        };
        let body = within(before, body);
        let body = Expr::let_(steps.acc.clone(), self.whole(&state), body);
        let firsts = (0..self.leaves.len()).map(|k| self.part(first, k));
        let init = Expr::tuple(firsts.chain(tapes).collect());
        let all = Var::named(name, state_type);
        let fold = Expr::fold_with(steps.n.clone(), state, steps.i.clone(), body, init);
        out.replace(&steps.result, vec![(all.clone(), fold), (steps.result.clone(), self.whole(&all))]);
        all
    }
}

fn one_more(index: &Expr) -> Expr {
    Expr::prim(Prim::Add, vec![index.clone(), Expr::index(1)])
}

/// The components that this one goes through, step by step, until it is where it was; `None` where one has no log.
fn cycle(leaf: usize, candidates: &[Option<Logged>]) -> Option<Vec<usize>> {
    let mut cycle = vec![leaf];
    loop {
        let next = candidates[*cycle.last()?].as_ref()?.goes_to;
        if next == leaf {
            return Some(cycle);
        }
        cycle.push(next);
    }
}
