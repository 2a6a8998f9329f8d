//! The terms of a body that may be named, and those that are named next.
//!
//! In: a body and its [`Repeats`]. Out: the largest terms that occur twice in it, once in any case, as far as naming
//! one leaves the next as it is.
//!
//! Each term that repeats gets the number of its class, from those of its subterms: so that of long terms with long
//! terms in common each node is compared once.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::free::each_free_var;
use crate::ir::{Expr, Term, Var};
use crate::rewrite::alike::{same, same_head};
use crate::rewrite::facts::Facts;

use super::operands_on_spine;
use super::repeats::Repeats;

pub struct Candidates<'a> {
    repeats: &'a Repeats,
    /// Variables bound around this place, but for those that the body's own lets bind: equal terms may differ in them.
    inside: FxHashSet<Var>,
    classes: Vec<Class>,
    by_fingerprint: FxHashMap<u64, Vec<usize>>,
    /// By address.
    class_of: FxHashMap<usize, usize>,
}

/// Terms that are the same.
struct Class {
    term: Expr,
    parts: Vec<Option<usize>>,
    /// How often it may be named, where its variables are known outside.
    count: usize,
    always: bool,
}

/// What is known of a term: its class if it repeats, and whether its variables are known outside.
struct Seen {
    class: Option<usize>,
    closed: bool,
}

impl Candidates<'_> {
    pub fn of<'a>(body: &Expr, repeats: &'a Repeats) -> Candidates<'a> {
        let mut candidates = Candidates {
            repeats,
            inside: FxHashSet::default(),
            classes: Vec::new(),
            by_fingerprint: FxHashMap::default(),
            class_of: FxHashMap::default(),
        };
        candidates.visit(body, true, true, false);
        candidates
    }

    pub fn best(self, facts: &Facts) -> Vec<Expr> {
        let mut candidates: Vec<&Class> = self.classes.iter().filter(|class| class.count > 1).collect();
        // of the same size, what is met first: the order of the classes
        candidates.sort_by_key(|class| std::cmp::Reverse((class.always, class.term.node_count())));
        let (mut best, mut inside) = (Vec::new(), FxHashSet::default());
        for class in candidates {
            let is_part = self.class_of.get(&class.term.address()).is_some_and(|class| inside.contains(class));
            if is_part || facts.require("one of them is always evaluated", class.always, &class.term).is_none() {
                break;
            }
            self.collect_classes(&class.term, &mut inside);
            best.push(class.term.clone());
        }
        best
    }

    fn collect_classes(&self, expr: &Expr, found: &mut FxHashSet<usize>) {
        if self.repeats.are_in(expr) {
            found.extend(self.class_of.get(&expr.address()));
            expr.term().children().for_each(|child| self.collect_classes(child, found));
        }
    }

    /// `spine`: the term is the body, or what is left of it behind lets and checks. `wanted`: what is returned matters.
    fn visit(&mut self, expr: &Expr, always: bool, spine: bool, wanted: bool) -> Seen {
        let repeats = self.repeats.repeats(expr);
        if !self.repeats.are_in(expr) {
            let closed = !wanted || self.is_closed(expr);
            return Seen { class: (wanted && (repeats || expr.is_atom())).then(|| self.class(expr, Vec::new())), closed };
        }
        let strict = operands_on_spine(expr);
        let on_spine = spine && matches!(expr.term(), Term::Let(..) | Term::Check { .. });
        let binds = expr.term().binders().next().is_some();
        let last = expr.term().children().len().saturating_sub(1);
        let (mut closed, mut parts) = (true, Vec::new());
        for (at, child) in expr.term().children().enumerate() {
            let is_scope = binds && at == last && !on_spine;
            if is_scope {
                self.inside.extend(expr.term().binders().cloned());
            }
            let seen = self.visit(child, always && strict(at), on_spine && at == last, repeats && !binds);
            if is_scope {
                for var in expr.term().binders() {
                    self.inside.remove(var);
                }
            }
            closed &= seen.closed;
            parts.push(seen.class);
        }
        if !repeats {
            return Seen { class: None, closed };
        }
        if binds {
            // a loop's own variables do not keep it where it is
            closed = self.is_closed(expr);
            parts.clear();
        }
        let at = self.class(expr, parts);
        if closed && self.repeats.may_be_named(expr) {
            let class = &mut self.classes[at];
            class.count += 1;
            class.always |= always;
        }
        Seen { class: Some(at), closed }
    }

    fn is_closed(&self, expr: &Expr) -> bool {
        let mut closed = true;
        each_free_var(expr, &mut |var| closed = closed && !self.inside.contains(var));
        closed
    }

    /// The class of a term whose parts have these; of one without parts, by comparison.
    fn class(&mut self, expr: &Expr, parts: Vec<Option<usize>>) -> usize {
        let is_known = !parts.is_empty() && parts.iter().all(Option::is_some);
        let alike = self.by_fingerprint.entry(expr.fingerprint()).or_default();
        let found = alike.iter().copied().find(|at| {
            let class = &self.classes[*at];
            if is_known { same_head(&class.term, expr) && class.parts == parts } else { same(&class.term, expr) }
        });
        let at = found.unwrap_or_else(|| {
            self.classes.push(Class { term: expr.clone(), parts, count: 0, always: false });
            alike.push(self.classes.len() - 1);
            self.classes.len() - 1
        });
        self.class_of.insert(expr.address(), at);
        at
    }
}
