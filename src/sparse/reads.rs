//! What a block reads of the point, by which indices, and the block as a function of that alone.
//!
//! In: a term in normal form, with what is around it. Out: the slots, parts of the point that are found without it, and the term with
//! reads of the slots in the place of reads of the point.
//!
//!     x[k] * x[k + 1] + ifold (fun s j -> s + w[j] * x[k + 2 * j]) 0.0 m
//!     →   slots x[k], x[k + 1] and, for j below m, x[k + 2 * j]:   a * b + ifold (fun s j -> s + w[j] * c[j]) 0.0 m
//!
//! A slot that is part of another is left out, and so are slots that together have as many numbers as what they are parts of. A slot
//! that is read in a branch only has zeros where there is no such part of the point; the read in the branch checks.

use crate::ir::free::mentions;
use crate::ir::prove::Facts;
use crate::ir::subst::{freshen, map_children};
use crate::ir::total::{total, within};
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::alike;

use super::flat::doubles;
use super::normal::{Active, outside};
use super::open::Opening;
use super::scope::Scope;

/// What is known where a block is.
pub struct Surroundings<'a> {
    pub active: &'a Active,
    pub x: &'a Var,
    pub facts: &'a Facts,
    /// The variables of the loops around, and what depends on them.
    pub varying: &'a [Var],
}

/// Rows that read the same.
pub struct Block {
    /// The rows, over `point`.
    pub body: Expr,
    /// The slots, as a tuple where they are several.
    pub point: Var,
    pub slots: Vec<Slot>,
}

/// A part of the point, or one for each turn of some loops.
#[derive(Clone)]
pub struct Slot {
    pub steps: Vec<Step>,
    pub loops: Vec<(Var, Expr)>,
    pub ty: Type,
    /// It is read in branches only, so that it may not be there.
    pub guarded: bool,
}

#[derive(Clone)]
pub enum Step {
    /// An index below a length; whether that is proved.
    Index(Expr, Size, bool),
    Part(usize),
}

impl Block {
    pub fn columns(&self) -> Size {
        self.slots.iter().fold(Size::constant(0), |sum, slot| sum.add(&slot.columns()))
    }
}

impl Slot {
    pub fn columns(&self) -> Size {
        self.loops.iter().fold(doubles(&self.ty), |size, (_, n)| size.mul(&Size::of_expr(n)))
    }

    /// The type of all its parts.
    pub fn whole(&self) -> Type {
        self.loops.iter().rev().fold(self.ty.clone(), |ty, (_, n)| Type::array(ty, Size::of_expr(n)))
    }

    /// Whether what the other reads is in what this reads.
    fn has(&self, other: &Slot) -> bool {
        let as_key = |slot: &Slot, count: usize| {
            let steps = slot.steps[..count].iter().map(|step| match step {
                Step::Index(index, _, _) => index.clone(),
                Step::Part(k) => Expr::index(*k as i64),
            });
            let steps = Expr::tuple(steps.collect());
            slot.loops.iter().rev().fold(steps, |inner, (i, n)| Expr::build_with(n.clone(), i.clone(), inner))
        };
        let count = self.steps.len();
        let all = count == other.steps.len();
        count <= other.steps.len() && (all || self.loops.is_empty()) && {
            let prefix = if all { other.clone() } else { Slot { loops: Vec::new(), ..other.clone() } };
            alike::same(&as_key(self, count), &as_key(&prefix, count))
        }
    }

    /// The part of the point that it is in, by leaving out its last index, where no loop is left.
    fn around(&self, x: &Type) -> Option<(Slot, Size)> {
        let last = self.steps.iter().rposition(|step| matches!(step, Step::Index(..)))?;
        let steps = self.steps[..last].to_vec();
        let is_bound = |step: &Step| matches!(step, Step::Index(index, ..) if self.loops.iter().any(|(i, _)| mentions(index, i)));
        if steps.iter().any(is_bound) {
            return None;
        }
        let ty = steps.iter().try_fold(x.clone(), |ty, step| part(&ty, step))?;
        let size = doubles(&ty);
        Some((Slot { steps, loops: Vec::new(), ty, guarded: self.guarded }, size))
    }
}

fn part(ty: &Type, step: &Step) -> Option<Type> {
    match (ty, step) {
        (Type::Array(element, _), Step::Index(..)) => Some((**element).clone()),
        (Type::Tuple(parts), Step::Part(k)) => parts.get(*k).cloned(),
        (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => None,
    }
}

/// The block of a term; `None` where it reads nothing of the point.
pub fn block(expr: &Expr, wrap: &dyn Fn(Expr) -> Expr, around: &Surroundings) -> Option<Block> {
    let Surroundings { active, x, facts, varying } = *around;
    let scope = || Scope { active, varying, binders: Vec::new() };
    let mut opening = Opening::new(scope());
    let body = wrap(opening.term(expr));
    let body = opening.term(&body);
    let mut reads = Reads { scope: scope(), x, facts: facts.clone(), slots: Vec::new(), point: None, conditions: Vec::new() };
    reads.term(&body);
    let slots = merged(reads.slots, x.ty());
    let wholes: Vec<Type> = slots.iter().map(Slot::whole).collect();
    let ty = match wholes.as_slice() {
        [] => return None,
        [one] => one.clone(),
        _ => Type::tuple(wholes),
    };
    let point = x.renewed(ty);
    let mut reads = Reads { scope: scope(), x, facts: facts.clone(), slots, point: Some(point.clone()), conditions: Vec::new() };
    let body = reads.term(&body);
    Some(Block { body, point, slots: reads.slots })
}

/// The slots without those that are in others.
fn merged(mut slots: Vec<Slot>, x: &Type) -> Vec<Slot> {
    loop {
        let as_good = slots.iter().find_map(|slot| {
            let (around, size) = slot.around(x)?;
            let inside = slots.iter().filter(|other| around.has(other) && other.steps.len() > around.steps.len());
            let guarded = inside.clone().all(|other| other.guarded);
            let sum = inside.fold(Size::constant(0), |sum, other| sum.add(&other.columns()));
            let gain = size.sub(&sum);
            gain.terms().all(|(_, coefficient)| coefficient < 0).then_some(Slot { guarded, ..around })
        });
        let Some(around) = as_good else { break };
        let at = slots.iter().position(|slot| around.has(slot)).unwrap_or(0);
        slots.insert(at, around.clone());
        let mut place = 0;
        slots.retain(|slot| {
            place += 1;
            place == at + 1 || !around.has(slot)
        });
    }
    let all = slots.clone();
    let is_in_another = |(at, slot): (usize, &Slot)| {
        all.iter().enumerate().any(|(other_at, other)| other_at != at && other.has(slot) && (other_at < at || !slot.has(other)))
    };
    let kept: Vec<bool> = slots.iter().enumerate().map(|own| !is_in_another(own)).collect();
    for (slot, _) in slots.iter_mut().zip(&kept).filter(|(_, kept)| **kept) {
        slot.guarded = all.iter().filter(|other| slot.has(other)).all(|other| other.guarded);
    }
    let mut kept = kept.into_iter();
    slots.retain(|_| kept.next().unwrap_or(true));
    slots
}

/// Finds the slots, and then puts them in the place of the reads.
struct Reads<'a> {
    scope: Scope<'a>,
    x: &'a Var,
    facts: Facts,
    slots: Vec<Slot>,
    /// The variable that is made of the slots.
    point: Option<Var>,
    /// The branches around, and the loops that may make no turn.
    conditions: Vec<Condition>,
}

#[derive(PartialEq)]
enum Condition {
    Branch,
    Turn(Var),
}

impl Reads<'_> {
    fn term(&mut self, expr: &Expr) -> Expr {
        if !self.scope.active.reaches(expr) {
            return expr.clone();
        }
        if let Some(steps) = steps_of(expr, self.x) {
            return self.read(expr, &steps).at(expr.span());
        }
        let (binders, conditions) = (self.scope.binders.len(), self.conditions.len());
        let count = expr.term().children().len();
        let mut at = 0;
        map_children(expr, &mut |child| {
            self.conditions.extend(condition(expr, at));
            at += 1;
            if at == count {
                self.scope.enter(expr);
            }
            let child = self.term(child);
            self.scope.binders.truncate(binders);
            self.conditions.truncate(conditions);
            child
        })
    }

    /// A read by these steps: of the slot that has it.
    fn read(&mut self, expr: &Expr, steps: &[Expr]) -> Expr {
        let found = self.slot(steps);
        let Some(point) = self.point.clone() else {
            match self.slots.iter_mut().find(|slot| slot.has(&found) && found.has(slot)) {
                Some(slot) => slot.guarded &= found.guarded,
                None => self.slots.push(found),
            }
            return expr.clone();
        };
        let Some(at) = self.slots.iter().position(|slot| slot.has(&found)) else { return expr.clone() };
        let slot = self.slots[at].clone();
        let mut value = if self.slots.len() == 1 { Expr::var(&point) } else { Expr::proj(Expr::var(&point), at) };
        if !slot.loops.is_empty() {
            value = found.loops.iter().fold(value, |value, (i, _)| Expr::get(value, Expr::var(i)));
        }
        let (own, rest) = steps.split_at(slot.steps.len());
        let mut checks: Vec<(Expr, Size)> = Vec::new();
        for (step, raw) in slot.steps.iter().zip(own) {
            if let (Step::Index(_, size, false), Term::Get(_, index), true) = (step, raw.term(), slot.guarded) {
                checks.push((index.clone(), size.clone()));
            }
        }
        for step in rest {
            value = match step.term() {
                Term::Get(_, index) => Expr::get(value, self.term(index)),
                Term::Proj(_, k) => Expr::proj(value, *k),
                _ => value,
            };
        }
        checks.into_iter().rev().fold(value, |value, (index, size)| match size.to_expr() {
            Some(n) => Expr::bind("k", freshen(&index), |index| Expr::check(within(&index, &n), Status::Bounds, value)),
            None => value,
        })
    }

    /// What steps read that are known outside the block.
    fn slot(&self, steps: &[Expr]) -> Slot {
        let mut kept: Vec<(Step, Vec<(Var, Expr)>)> = Vec::new();
        let mut ty = self.x.ty().clone();
        for step in steps {
            let own = match (step.term(), &ty) {
                (Term::Proj(_, k), _) => Some((Step::Part(*k), Vec::new())),
                (Term::Get(_, index), Type::Array(_, size)) => self.scope.closed(index).map(|closed| {
                    let mut facts = self.facts.clone();
                    closed.loops.iter().for_each(|(i, n)| facts.enter_loop(i, n));
                    let proved = outside(&closed.expr, size).is_none()
                        || outside(index, size).is_none()
                        || Size::try_of_expr(&closed.expr).is_some_and(|index| facts.in_range(&index, size));
                    (Step::Index(closed.expr, size.clone(), proved), closed.loops)
                }),
                _ => None,
            };
            let Some((next, around)) = own.and_then(|own| Some((part(&ty, &own.0)?, own))) else { break };
            ty = next;
            kept.push(around);
        }
        // all elements are the array
        while let Some(((Step::Index(index, size, _), around), before)) = kept.split_last()
            && let (Term::Var(j), [(own, n)]) = (index.term(), around.as_slice())
            && j == own
            && Size::of_expr(n) == *size
            && !before.iter().any(|(_, loops)| loops.iter().any(|(other, _)| other == own))
        {
            kept.pop();
        }
        let mut loops = loops_of(&kept);
        let mut guarded = self.is_conditional(&loops);
        // what may not be there is looked for by an index that has a value in any case
        if let (true, Some(end)) =
            (guarded, kept.iter().position(|(step, _)| matches!(step, Step::Index(index, ..) if total(index).is_none())))
        {
            kept.truncate(end);
            loops = loops_of(&kept);
            guarded = self.is_conditional(&loops);
        }
        let steps: Vec<Step> = kept.into_iter().map(|(step, _)| step).collect();
        let ty = steps.iter().try_fold(self.x.ty().clone(), |ty, step| part(&ty, step)).unwrap_or(Type::Double);
        let guarded = guarded && steps.iter().any(|step| matches!(step, Step::Index(..)));
        Slot { steps, loops, ty, guarded }
    }

    /// Whether what is read here in each turn of these loops may not be read at all.
    fn is_conditional(&self, loops: &[(Var, Expr)]) -> bool {
        self.conditions.iter().any(|condition| match condition {
            Condition::Branch => true,
            Condition::Turn(i) => !loops.iter().any(|(own, _)| own == i),
        })
    }
}

fn loops_of(steps: &[(Step, Vec<(Var, Expr)>)]) -> Vec<(Var, Expr)> {
    let mut loops: Vec<(Var, Expr)> = Vec::new();
    for (i, n) in steps.iter().flat_map(|(_, loops)| loops) {
        if !loops.iter().any(|(other, _)| other == i) {
            loops.push((i.clone(), n.clone()));
        }
    }
    loops
}

/// The steps from x to a part of it, each as the term that takes it.
fn steps_of(expr: &Expr, x: &Var) -> Option<Vec<Expr>> {
    let mut steps = Vec::new();
    let mut part = expr;
    loop {
        match part.term() {
            Term::Var(var) if var == x => break,
            Term::Get(array, _) => {
                steps.push(part.clone());
                part = array;
            }
            Term::Proj(tuple, _) => {
                steps.push(part.clone());
                part = tuple;
            }
            _ => return None,
        }
    }
    steps.reverse();
    Some(steps)
}

/// Why a child of a term may not be evaluated when the term is.
fn condition(expr: &Expr, child: usize) -> Option<Condition> {
    let may_make_none = |n: &Expr| Size::of_expr(n).as_constant().is_none_or(|n| n < 1);
    match expr.term() {
        Term::If(..) | Term::Prim(Prim::And | Prim::Or, _) => (child > 0).then_some(Condition::Branch),
        Term::Fold { n, i, .. } => (child == 2 && may_make_none(n)).then(|| Condition::Turn(i.clone())),
        Term::Build { n, i, .. } => (child == 1 && may_make_none(n)).then(|| Condition::Turn(i.clone())),
        Term::While { .. } => (child == 1).then_some(Condition::Branch),
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Let(..)
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Proj(..)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Check { .. }
        | Term::Dual { .. }
        | Term::Vjp { .. } => None,
    }
}
