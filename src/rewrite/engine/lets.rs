//! What the engine does at a `let`: the let rules of Figure 8a with the substitution carried along.
//!
//! In: a `let` whose parts are not yet visited. Out: its normal form. The value comes first, because it
//! decides what becomes of the `let`; lets and checks in front of it move out, a tuple is taken apart, and what
//! may be substituted goes into the table that the rest of the pass reads, so that a chain of lets costs one walk.
//!
//!     let p = (let y = a in (y, b)) in p.0   →   let y = a in y

use super::{Pass, unchanged};
use crate::ir::subst::substitute;
use crate::ir::{Expr, Status, Term, Var};
use crate::rewrite::rules::lambda::{inlines, is_free, is_row, split_tuple};

/// What stood in front of a let's value.
enum Prefix {
    Let(Var, Expr),
    Check(Expr, Status),
}

impl Pass<'_> {
    pub(super) fn visit_let(&mut self, whole: &Expr, x: &Var, value: &Expr, body: &Expr, fresh: bool) -> Expr {
        if self.lets.dead && self.facts.uses.knows(x) && self.facts.uses.get(x).count == 0 {
            self.step("let-dead", whole, || body.clone());
            return self.visit(body, fresh);
        }
        let mut value = self.visit(value, fresh);
        let mut prefixes = Vec::new();
        let mark = self.facts.mark();
        while self.lets.flatten {
            let inner = match value.term() {
                Term::Let(y, a, b) => {
                    self.facts.enter_let(y, a);
                    prefixes.push(Prefix::Let(y.clone(), a.clone()));
                    b.clone()
                }
                Term::Check { cond, status, body: b } => {
                    self.facts.assume(cond, true);
                    prefixes.push(Prefix::Check(cond.clone(), *status));
                    b.clone()
                }
                _ => break,
            };
            self.step("let-flatten", whole, || whole.clone());
            value = inner;
        }
        if let Term::Tuple(parts) = value.term()
            && self.lets.split
            && !is_free(&value)
        {
            let (lets, tuple) = split_tuple(x, parts);
            self.step("let-split", whole, || whole.clone());
            for (var, part) in lets {
                self.facts.enter_let(&var, &part);
                prefixes.push(Prefix::Let(var, part));
            }
            value = tuple;
        }
        let uses = self.facts.uses.get(x);
        let inner = if self.lets.inline && (inlines(&value, uses, self.lets.fuse) || is_row(&value, self.facts)) {
            self.step("let-inline", whole, || substitute(body, &[(x.clone(), value.clone())]));
            match value.term() {
                Term::Var(y) => self.facts.uses.renamed(x, y),
                _ if uses.count != 1 => self.facts.uses.copied(&value),
                _ => {}
            }
            self.table.insert(x.clone(), (value, 0));
            self.visit(body, true)
        } else if let Some(same) = self.merged(x, &value) {
            self.step("let-merge", whole, || substitute(body, &[(x.clone(), Expr::var(&same))]));
            self.facts.uses.renamed(x, &same);
            self.table.insert(x.clone(), (Expr::var(&same), 0));
            self.visit(body, true)
        } else {
            let (x, fresh) = self.bound(x, value.ty(), fresh);
            let outside = self.facts.mark();
            self.facts.enter_let(&x, &value);
            let new_body = self.visit(body, fresh);
            self.facts.back_to(outside);
            let new = Expr::let_(x, value, new_body);
            let new = if unchanged(whole, &new) { whole.clone() } else { new.at(whole.span()) };
            self.try_rules(new)
        };
        self.facts.back_to(mark);
        prefixes.into_iter().rev().fold(inner, |inner, prefix| {
            let new = match prefix {
                Prefix::Let(y, a) => Expr::let_(y, a, inner),
                Prefix::Check(cond, status) => Expr::check(cond, status, inner),
            };
            self.normal.insert(new.address(), new.clone());
            new
        })
    }

    fn merged(&self, x: &Var, value: &Expr) -> Option<Var> {
        if !self.lets.merge || is_free(value) {
            return None;
        }
        self.facts.bound_to(value).filter(|same| same.ty() == x.ty())
    }
}
