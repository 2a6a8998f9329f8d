//! Figure 8a, common subexpressions: what is computed twice gets a name, also across branches and loops.
//!
//!     sin x * (if c then sin x else y)   →   let t = sin x in t * (if c then t else y)
//!
//! One of the occurrences must be evaluated in any case: then no work and no error is new. The rule looks at a
//! whole body at once, then at the bodies of loops and branches inside; the name is bound as far out as the
//! term's variables are. Lengths and Index arithmetic are left to the target.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::free::each_free_var;
use crate::ir::subst::{freshen, map_children};
use crate::ir::{Expr, Term, Type, Var};
use crate::rewrite::alike::{has_array, same};
use crate::rewrite::facts::Facts;

use super::lambda::strict_operands;
use super::rules;
use candidates::Candidates;
use repeats::Repeats;

mod candidates;
mod repeats;

rules! {
    "common" Lambda @ Any: "f e e -> let t = e in f t t" if ["e is work or an element", "one of them is always evaluated"] => common;
}

/// A body is looked at no more often than this.
const ROUNDS: usize = 64;

fn common(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let new = region(expr, &repeats(expr, facts), facts);
    (!new.is_same(expr)).then_some(new)
}

/// A body: what is common in it, then in the bodies inside.
fn region(expr: &Expr, repeated: &Repeats, facts: &Facts) -> Expr {
    if !repeated.are_in(expr) {
        return expr.clone();
    }
    let mut terms = Candidates::of(expr, repeated).best(facts);
    if terms.is_empty() {
        return inner_regions(expr, repeated, facts);
    }
    let mut expr = name(expr, terms, repeated);
    let mut repeated = repeats(&expr, facts);
    for _ in 1..ROUNDS {
        terms = Candidates::of(&expr, &repeated).best(facts);
        if terms.is_empty() {
            break;
        }
        expr = name(&expr, terms, &repeated);
        repeated = repeats(&expr, facts);
    }
    inner_regions(&expr, &repeated, facts)
}

fn inner_regions(expr: &Expr, repeated: &Repeats, facts: &Facts) -> Expr {
    if !repeated.are_in(expr) {
        return expr.clone();
    }
    let strict = operands_on_spine(expr);
    let mut at = 0;
    map_children(expr, &mut |child| {
        at += 1;
        if strict(at - 1) { inner_regions(child, repeated, facts) } else { region(child, repeated, facts) }
    })
}

/// What repeats in a body and may be named, wherever it stands.
fn repeats(body: &Expr, facts: &Facts) -> Repeats {
    Repeats::of(body, &|term, is_work| {
        let is_value = matches!(term.ty(), Type::Double | Type::Array(..) | Type::Tuple(_)) || is_read(term);
        is_value
            && !matches!(term.term(), Term::Let(..) | Term::Tuple(_) | Term::Check { .. })
            && facts.grants("e is work or an element", is_work || is_read(term))
    })
}

/// Subterms that are evaluated whenever the term is, the bodies of lets and checks included.
pub fn operands_on_spine(expr: &Expr) -> impl Fn(usize) -> bool + use<> {
    let all = matches!(expr.term(), Term::Let(..) | Term::Check { .. });
    let strict = strict_operands(expr);
    move |at| all || strict(at)
}

/// Binds a name to each of the terms, as far out as the lets in front of the body that it mentions.
fn name(expr: &Expr, terms: Vec<Expr>, repeated: &Repeats) -> Expr {
    let spine = Spine::of(expr);
    let mut names = Names { by_fingerprint: FxHashMap::default(), repeated };
    let mut lets: Vec<Vec<(Var, Expr)>> = vec![Vec::new(); spine.nodes.len() + 1];
    for term in terms {
        let t = Var::fresh("t", term.ty().clone());
        lets[spine.behind(&term)].push((t.clone(), freshen(&term)));
        names.by_fingerprint.entry(term.fingerprint()).or_default().push((term, Expr::var(&t)));
    }
    let mut lets = lets.into_iter().rev();
    let mut bound = |inner: Expr| lets.next().into_iter().flatten().fold(inner, |inner, (t, value)| Expr::let_(t, value, inner));
    let mut inner = bound(names.replace(&spine.end));
    for node in spine.nodes.iter().rev() {
        let rebuilt = match node.term() {
            Term::Let(x, value, body) => {
                let value_now = names.replace(value);
                let is_old = value_now.is_same(value) && inner.is_same(body);
                if is_old { node.clone() } else { Expr::let_(x.clone(), value_now, inner).at(node.span()) }
            }
            Term::Check { cond, status, body } => {
                let cond_now = names.replace(cond);
                let is_old = cond_now.is_same(cond) && inner.is_same(body);
                if is_old { node.clone() } else { Expr::check(cond_now, *status, inner).at(node.span()) }
            }
            _ => inner,
        };
        inner = bound(rebuilt);
    }
    inner
}

/// The lets and checks in front of a body, and what comes behind them.
struct Spine {
    nodes: Vec<Expr>,
    variables: FxHashMap<Var, usize>,
    end: Expr,
}

impl Spine {
    fn of(expr: &Expr) -> Spine {
        let mut spine = Spine { nodes: Vec::new(), variables: FxHashMap::default(), end: expr.clone() };
        loop {
            let inner = match spine.end.term() {
                Term::Let(x, _, body) => {
                    spine.variables.insert(x.clone(), spine.nodes.len());
                    body.clone()
                }
                Term::Check { body, .. } => body.clone(),
                _ => return spine,
            };
            spine.nodes.push(std::mem::replace(&mut spine.end, inner));
        }
    }

    /// How many of them bind what a term mentions, or stand in front of one that does.
    fn behind(&self, term: &Expr) -> usize {
        let mut behind = 0;
        each_free_var(term, &mut |var| behind = behind.max(self.variables.get(var).map_or(0, |at| at + 1)));
        behind
    }
}

/// The terms that have a name now.
struct Names<'a> {
    by_fingerprint: FxHashMap<u64, Vec<(Expr, Expr)>>,
    repeated: &'a Repeats,
}

impl Names<'_> {
    fn replace(&self, expr: &Expr) -> Expr {
        if !self.repeated.are_in(expr) {
            return expr.clone();
        }
        let named = self.by_fingerprint.get(&expr.fingerprint()).into_iter().flatten().find(|(term, _)| same(term, expr));
        match named {
            Some((_, name)) => name.clone(),
            None => map_children(expr, &mut |child| self.replace(child)),
        }
    }
}

/// An element that is read: when it is read once, its array may go.
fn is_read(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Get(..)) && !has_array(expr.ty())
}

/// Every variable that a term binds.
pub fn collect_binders(expr: &Expr, found: &mut FxHashSet<Var>) {
    found.extend(expr.term().binders().cloned());
    expr.term().each_child(&mut |child| collect_binders(child, found));
}
