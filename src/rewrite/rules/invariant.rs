//! The search for terms that a loop does not change: the largest ones, with the lets of its body that they need.
//!
//! In: the body of a loop, what it binds, and which terms are wanted. Out: the terms with names for them ([`Found`]), and what stands for
//! them in the body.
//!
//!     let a = sqrt s in x[i] / (2.0 * a)   →   t = 2.0 * sqrt s

use rustc_hash::FxHashSet;

use crate::ir::free::{any_free_var, each_free_var, mentions, types_mention};
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Name, Term, Type, Var};
use crate::rewrite::alike::Replacements;
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;

use super::lambda::strict_operands;

/// What a term is called that has no name in the source: an element by its array, where that is stored, and where it stands in it.
///
///     cam[2], m[i][0]   →   cam_2, m_i_0
pub(super) fn name_for(term: &Expr, is_stored: impl Fn(&Var) -> bool) -> Name {
    match term.term() {
        Term::Fold { .. } => "sum".into(),
        Term::Build { .. } => "array".into(),
        _ => name_of_element(term, &is_stored).unwrap_or_else(|| Name::placeholder("t")),
    }
}

fn name_of_element(term: &Expr, is_stored: &dyn Fn(&Var) -> bool) -> Option<Name> {
    let Term::Get(array, index) = term.term() else { return None };
    match array.term() {
        Term::Var(array) => is_stored(array).then(|| array.full_name().element(index))?,
        _ => name_of_element(array, is_stored)?.element(index),
    }
}

/// A term with the lets that it needs written out has at most about so many nodes.
const EXPANDED: usize = 4_000;

/// Loops around a term, with their counts.
pub(super) type Loops = Vec<(Var, Expr)>;

/// Search for maximal terms that can be hoisted out of the loop.
pub(super) struct Search<'a> {
    facts: &'a Facts,
    /// The variables that must not occur in it.
    bound: FxHashSet<Var>,
    /// Loops between the outer one and this place; the term may depend on their variables when an array is made.
    loops: Loops,
    /// Enclosing lets whose values can be hoisted too, together with the term.
    lets: Vec<(Var, Expr)>,
    /// Those of them that may fail outside,
    failing: FxHashSet<Var>,
    /// unless it does not matter: the loop is known to run.
    pub may_fail: bool,
    /// Whether the term may have them all the same.
    any: bool,
    /// Whether all are collected, or only the first.
    pub all: bool,
    /// The conditions of the branches around, and what they are there.
    conditions: Vec<(Expr, bool)>,
    pub found: Vec<Found>,
    /// Their names, or how an array of that name is read; terms that are found later are written over these.
    pub names: Replacements,
    /// The array of a term for all steps of the loops between, where it leaves as one.
    pub array: Option<&'a MakeArray<'a>>,
}

pub(super) type MakeArray<'a> = dyn Fn(Expr, &Loops) -> Option<Expr> + 'a;

/// A term that may leave the loop, without the lets of the loop's body, or the array of it.
pub(super) struct Found {
    pub name: Var,
    pub value: Expr,
}

/// Where a term was found.
pub(super) struct Place {
    /// It is the value of a let.
    pub named: bool,
    /// It may fail outside of the loop, or a let that is hoisted with it may.
    pub fails: bool,
}

pub(super) type Wanted<'a> = &'a mut dyn FnMut(&Expr, Place) -> bool;

impl<'a> Search<'a> {
    pub fn out_of(binders: &[&Var], facts: &'a Facts, any: bool) -> Search<'a> {
        let bound = binders.iter().map(|var| (*var).clone()).collect();
        Search {
            facts,
            bound,
            loops: Vec::new(),
            lets: Vec::new(),
            failing: FxHashSet::default(),
            may_fail: false,
            any,
            all: false,
            conditions: Vec::new(),
            found: Vec::new(),
            names: Replacements::default(),
            array: None,
        }
    }

    /// Whether a term may fail outside, as far as that is known before lets are written out; so many are, again and again,
    /// in loops that may not run.
    fn fails(&self, expr: &Expr) -> bool {
        if self.may_fail {
            return false;
        }
        let (mut failing, mut by_itself) = (false, true);
        each_free_var(expr, &mut |var| {
            failing |= self.failing.contains(var);
            // an index may be in range for its value
            by_itself &= !matches!(var.ty(), Type::Index(_)) || !self.lets.iter().any(|(x, _)| x == var);
        });
        failing || by_itself && !self.facts.is_total(expr)
    }

    /// The term with the lets that it needs written out; `None` where that is too long, as what has names for names can be.
    fn expand(&self, expr: &Expr) -> Option<Expr> {
        self.lets.iter().rev().try_fold(expr.clone(), |expr, (x, value)| match expr {
            expr if expr.node_count() > EXPANDED => None,
            expr if mentions(&expr, x) || types_mention(&expr, x) => Some(substitute(&expr, &[(x.clone(), value.clone())])),
            expr => Some(expr),
        })
    }

    fn is_done(&self) -> bool {
        !self.all && !self.found.is_empty()
    }

    /// Terms that every step of the loop evaluates.
    pub fn strict(&mut self, expr: &Expr, wanted: Wanted) {
        self.strict_at(expr, None, wanted);
    }

    /// As [`Search::strict`], of the value of a let of this variable.
    fn strict_at(&mut self, expr: &Expr, named: Option<&Var>, wanted: Wanted) {
        if self.is_done() || expr.is_atom() || self.names.has(expr) {
            return;
        }
        if self.is_free(expr) {
            let fails = !self.lets.is_empty() && self.fails(expr);
            let expanded = if fails && Work::of(expr).loops == 0 { Some(expr.clone()) } else { self.expand(expr) };
            let depends = |i: &Var| expanded.as_ref().is_some_and(|expanded| mentions(expanded, i));
            let loops: Loops = self.loops.iter().filter(|(i, _)| depends(i)).cloned().collect();
            let place = Place { named: named.is_some(), fails };
            if let Some(expanded) = expanded
                && loops.len() == self.loops.len()
                && wanted(&expanded, place)
                && let Some(value) = self.expand(&self.names.done_in(expr))
            {
                let value = self.behind_conditions(value);
                let value = if let Some(array) = self.array { array(value, &loops) } else { Some(value) };
                if let Some(value) = value {
                    let own = named.filter(|x| !x.full_name().is_placeholder()).map(|x| x.name().into());
                    let name = own.unwrap_or_else(|| name_for(expr, |array| !is_build(self.facts.value(array))));
                    let name = Var::named(name, value.ty().clone());
                    let read = loops.iter().fold(Expr::var(&name), |array, (i, _)| Expr::get(array, Expr::var(i)));
                    self.names.add(expr, &read);
                    self.found.push(Found { name, value });
                    return;
                }
            }
        }
        if let Term::Let(x, value, body) = expr.term() {
            self.strict_at(value, Some(x), wanted);
            let value = self.names.done_in(value);
            return self.below_let(x, &value, |search| search.strict(body, wanted));
        }
        let is_strict = strict_operands(expr);
        let mut at = 0;
        expr.term().each_child(&mut |child| {
            if is_strict(at) {
                self.strict(child, wanted);
            }
            at += 1;
        });
    }

    /// The term without the numbers that leave branches: a name stands for one in its branch alone.
    pub fn branches(&mut self, expr: &Expr, wanted: Wanted) -> Expr {
        match expr.term() {
            Term::If(cond, then, otherwise) if self.is_free(cond) => {
                let Some(outside) = self.expand(cond) else { return expr.clone() };
                if !self.facts.is_total(&outside) || Work::of(&outside).loops > 0 {
                    return expr.clone();
                }
                let [then, otherwise] = [(then, true), (otherwise, false)].map(|(branch, holds)| {
                    self.conditions.push((outside.clone(), holds));
                    self.strict(branch, wanted);
                    let branch = std::mem::take(&mut self.names).done_in(branch);
                    let branch = self.branches(&branch, wanted);
                    self.conditions.pop();
                    branch
                });
                Expr::with_type(Term::If(cond.clone(), then, otherwise), expr.ty().clone(), expr.span())
            }
            Term::Let(x, value, body) => {
                let value = self.branches(value, wanted);
                let mut inside = body.clone();
                self.below_let(x, &value, |search| inside = search.branches(body, wanted));
                Expr::with_type(Term::Let(x.clone(), value, inside), expr.ty().clone(), expr.span())
            }
            _ => {
                let (is_strict, mut at) = (strict_operands(expr), 0);
                map_children(expr, &mut |child| {
                    at += 1;
                    if is_strict(at - 1) { self.branches(child, wanted) } else { child.clone() }
                })
            }
        }
    }

    /// A number of a branch where the conditions around hold, else 0.
    fn behind_conditions(&self, value: Expr) -> Expr {
        self.conditions.iter().rev().fold(value, |value, (cond, holds)| {
            let (then, otherwise) = if *holds { (value, Expr::double(0.0)) } else { (Expr::double(0.0), value) };
            Expr::if_(cond.clone(), then, otherwise)
        })
    }

    /// The bodies of loops that every step runs.
    pub fn inner_loops(&mut self, expr: &Expr, wanted: Wanted) {
        // a term that is hoisted whole leaves no loops
        if self.is_done() || expr.is_atom() || self.names.has(expr) {
            return;
        }
        if let Term::Let(x, value, body) = expr.term() {
            self.inner_loops(value, wanted);
            let value = self.names.done_in(value);
            return self.below_let(x, &value, |search| search.inner_loops(body, wanted));
        }
        let is_strict = strict_operands(expr);
        let mut at = 0;
        expr.term().each_child(&mut |child| {
            if is_strict(at) {
                self.inner_loops(child, wanted);
            }
            at += 1;
        });
        let inner = match expr.term() {
            Term::Build { n, i, body } => Some((n, i, None, body)),
            Term::Fold { n, acc, i, body, .. } => Some((n, i, Some(acc), body)),
            _ => None,
        };
        let Some((n, i, acc, body)) = inner else { return };
        if !self.is_free(n) {
            return;
        }
        // the lets that the count uses are hoisted too
        let Some(n) = self.expand(n) else { return };
        if self.loops.iter().any(|(i, _)| mentions(&n, i)) || !self.facts.is_total(&n) {
            return;
        }
        self.within(acc.map_or(&[], std::slice::from_ref), |search| {
            search.loops.push((i.clone(), n));
            search.strict(body, wanted);
            search.inner_loops(body, wanted);
            search.loops.pop();
        });
    }

    fn below_let(&mut self, x: &Var, value: &Expr, f: impl FnOnce(&mut Search)) {
        if !self.is_free(value) || Work::of(value).loops > 0 && !has_cheap_elements(value) {
            return self.within(std::slice::from_ref(x), f);
        }
        let fails = self.fails(value);
        if fails {
            self.failing.insert(x.clone());
        }
        self.lets.push((x.clone(), value.clone()));
        f(self);
        self.lets.pop();
        if fails {
            self.failing.remove(x);
        }
    }

    fn within(&mut self, bound: &[Var], f: impl FnOnce(&mut Search)) {
        self.bound.extend(bound.iter().cloned());
        f(self);
        bound.iter().for_each(|var| {
            self.bound.remove(var);
        });
    }

    fn is_free(&self, expr: &Expr) -> bool {
        self.any || !any_free_var(expr, &mut |var| self.bound.contains(var))
    }
}

/// Whether a term is an array whose elements take no longer to compute than to read: it is recomputed at each use.
fn has_cheap_elements(term: &Expr) -> bool {
    let mut element = term;
    while let Term::Build { body, .. } = element.term() {
        element = body;
    }
    !element.is_same(term) && !element.ty().has_array() && !Work::of(element).is_worth_an_array()
}

fn is_build(value: Option<&Expr>) -> bool {
    value.is_some_and(|value| matches!(value.term(), Term::Build { .. }))
}
