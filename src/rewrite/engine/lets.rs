//! The engine at a `let`: the let rules of 001 Figure 8a, with substitutions kept in an environment.
//!
//! In: a `let` whose parts are not yet visited. Out: its normal form. The value comes first, because it
//! decides what becomes of the `let`; lets and checks in front of it move out, a tuple is taken apart, and what
//! may be substituted goes into the table that the rest of the pass reads, so that a chain of lets costs one walk.
//!
//!     let p = (let y = a in (y, b)) in p.0   →   let y = a in y

use super::{Fresh, Pass};
use crate::ir::free::types_mention;
use crate::ir::last_use::components_with_arrays;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Status, Term, Var};
use crate::rewrite::atoms::is_free;
use crate::rewrite::cost::is_fill;
use crate::rewrite::rules::lambda::{inlines, is_handed_on, is_row, may_wait, named_as, split_tuple, without};

/// The lets and checks that float out of a let's value.
enum Prefix {
    Let(Var, Expr),
    Check(Expr, Status),
}

impl Pass<'_> {
    pub(super) fn visit_let(&mut self, whole: &Expr, x: &Var, value: &Expr, body: &Expr, fresh: Fresh) -> Expr {
        if self.lets.dead && self.facts.uses.knows(x) && self.facts.uses.get(x).count == 0 {
            self.step("let-dead", whole, || without(x, value, body));
            if !types_mention(body, x) {
                return self.visit(body, fresh);
            }
            let value = self.visit(value, fresh);
            self.table.insert(x.clone(), (value, 0));
            return self.visit(body, fresh.with(x));
        }
        let mut value = self.visit(value, fresh);
        if self.lets.flatten
            && let Some((renamed, [own, name])) = named_as(x, &value, body)
        {
            self.facts.uses.moved(&own, &name);
            value = renamed;
        }
        let mut prefixes = Vec::new();
        let mark = self.facts.mark();
        while self.lets.flatten {
            let inner = match value.term() {
                Term::Let(y, a, b) => {
                    self.facts.enter_let(y, a);
                    prefixes.push(Prefix::Let(y.clone(), a.clone()));
                    self.step_between("let-flatten", || (let_of(x, &value, body), Expr::let_(y.clone(), a.clone(), let_of(x, b, body))));
                    b.clone()
                }
                Term::Check { cond, status, body: b } => {
                    self.facts.assume(cond, true);
                    prefixes.push(Prefix::Check(cond.clone(), *status));
                    self.step_between("let-flatten", || (let_of(x, &value, body), Expr::check(cond.clone(), *status, let_of(x, b, body))));
                    b.clone()
                }
                _ => break,
            };
            value = inner;
        }
        if let Term::Tuple(parts) = value.term()
            && self.lets.split
            && !is_free(&value)
        {
            let (lets, tuple) = split_tuple(x, parts, body);
            self.step_between("let-split", || {
                let inner = let_of(x, &tuple, body);
                let after = lets.iter().rev().fold(inner, |inner, (var, part)| let_of(var, part, &inner));
                (let_of(x, &value, body), after)
            });
            for (var, part) in lets {
                self.facts.enter_let(&var, &part);
                prefixes.push(Prefix::Let(var, part));
            }
            value = tuple;
        }
        let uses = self.facts.uses.get(x);
        let inner =
            if self.lets.inline && (inlines(&value, uses, self.lets.fuse) || is_row(&value, self.facts)) && self.may_wait(&value, body) {
                self.step_between("let-inline", || (let_of(x, &value, body), substitute(body, &[(x.clone(), value.clone())])));
                if let Term::Var(y) = value.term() {
                    self.facts.uses.renamed(x, y);
                } else if uses.count != 1 {
                    self.facts.uses.copied(&value);
                }
                self.table.insert(x.clone(), (value, 0));
                self.visit(body, fresh.with(x))
            } else if let Some(same) = self.merged(x, &value) {
                self.step_between("let-merge", || (let_of(x, &value, body), substitute(body, &[(x.clone(), Expr::var(&same))])));
                self.facts.uses.renamed(x, &same);
                self.table.insert(x.clone(), (Expr::var(&same), 0));
                self.visit(body, fresh.with(x))
            } else {
                let (x, fresh) = self.bound(x, value.ty(), fresh);
                let outside = self.facts.mark();
                if self.lets.inline && self.lets.fuse && matches!(value.term(), Term::Build { .. }) {
                    let mark = self.facts.refusals.count();
                    self.facts.refuse(|| ("its elements would be computed more than once".into(), None));
                    self.facts.refusals.settle(mark, "let-inline", &let_of(&x, &value, body), false);
                }
                self.facts.enter_let(&x, &value);
                let new_body = self.visit(body, fresh);
                self.facts.back_to(outside);
                let new = whole.rebuilt(&[&x], &[&value, &new_body], || Expr::let_(x.clone(), value.clone(), new_body.clone()));
                self.try_rules(new)
            };
        self.facts.back_to(mark);
        prefixes.into_iter().rev().fold(inner, |inner, prefix| {
            let new = match prefix {
                Prefix::Let(y, a) => Expr::let_(y, a, inner),
                Prefix::Check(cond, status) => Expr::check(cond, status, inner),
            };
            new.mark(self.normal);
            new
        })
    }

    /// [`may_wait`] in a body whose variables are not looked up yet.
    fn may_wait(&self, value: &Expr, body: &Expr) -> bool {
        if is_free(value) || !body.has_updates() {
            return true;
        }
        // only where an array has an alias: a long value reads many
        let is_read = |(var, path): &(Var, Vec<usize>)| {
            let read = components_with_arrays(value);
            read.iter().any(|(own, part)| own == var && part.iter().zip(path).all(|(a, b)| a == b))
        };
        let is_other_name = |name: &Var, known: &Expr| {
            let stands_for_arrays = name.ty().has_array() && is_free(known) && is_handed_on(body, name, &[]);
            stands_for_arrays && components_with_arrays(known).iter().any(is_read)
        };
        may_wait(value, body) && !self.table.iter().any(|(name, (known, _))| is_other_name(name, known))
    }

    /// A step whose terms are made only when steps are recorded: the value of a `let` is in normal form before the
    /// `let` itself is looked at.
    fn step_between(&mut self, rule: &'static str, terms: impl FnOnce() -> (Expr, Expr)) {
        if self.log.is_recording() {
            let (before, after) = terms();
            self.step(rule, &before, || after);
        } else {
            self.count();
        }
    }

    fn merged(&self, x: &Var, value: &Expr) -> Option<Var> {
        if !self.lets.merge || is_free(value) {
            return None;
        }
        if self.facts.has_updates && is_fill(value) {
            return None;
        }
        self.facts.bound_to(value).filter(|same| same.ty() == x.ty())
    }
}

fn let_of(x: &Var, value: &Expr, body: &Expr) -> Expr {
    Expr::let_(x.clone(), value.clone(), body.clone())
}
