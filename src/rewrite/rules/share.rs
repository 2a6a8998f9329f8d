//! Figure 8a, common subexpressions: what is computed twice gets a name, also across branches and loops.
//!
//!     sin x * (if c then sin x else y)   →   let t = sin x in t * (if c then t else y)
//!
//! One of the occurrences must be evaluated in any case: then no work and no error is new. The rule looks at a
//! whole body at once, then at the bodies of loops and branches inside; the name is bound as far out as the
//! term's variables are. Lengths and Index arithmetic are left to the target.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::ir::subst::{freshen, map_children, mentions};
use crate::ir::{Expr, Term, Type, Var};
use crate::rewrite::alike::{has_array, hash_head, same};
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;

use super::lambda::strict_operands;
use super::rules;

rules! {
    "common" Lambda @ Any: "f e e -> let t = e in f t t" if ["e is work or an element", "one of them is always evaluated"] => common;
}

/// More names than this in one body are not looked for.
const ROUNDS: usize = 64;

fn common(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let new = region(expr, facts);
    (!new.is_same(expr)).then_some(new)
}

/// A body: what is common in it, then in the bodies inside.
fn region(expr: &Expr, facts: &Facts) -> Expr {
    let mut expr = expr.clone();
    for _ in 0..ROUNDS {
        let Some(term) = Candidates::of(&expr, facts).best(facts) else { break };
        let t = Var::fresh("t", term.ty().clone());
        expr = name(&expr, &term, &t);
    }
    inner_regions(&expr, facts)
}

fn inner_regions(expr: &Expr, facts: &Facts) -> Expr {
    if expr.is_atom() {
        return expr.clone();
    }
    let strict = operands_on_spine(expr);
    let mut at = 0;
    map_children(expr, &mut |child| {
        at += 1;
        if strict(at - 1) { inner_regions(child, facts) } else { region(child, facts) }
    })
}

/// Subterms that are evaluated whenever the term is, the bodies of lets and checks included.
pub fn operands_on_spine(expr: &Expr) -> impl Fn(usize) -> bool + use<> {
    let all = matches!(expr.term(), Term::Let(..) | Term::Check { .. });
    let strict = strict_operands(expr);
    move |at| all || strict(at)
}

/// Binds `t` to the term before its first use, behind the lets that it mentions.
fn name(expr: &Expr, term: &Expr, t: &Var) -> Expr {
    if let Term::Let(x, value, body) = expr.term()
        && spine_variables(expr).iter().any(|y| mentions(term, y))
    {
        return Expr::let_(x.clone(), value.clone(), name(body, term, t)).at(expr.span());
    }
    if let Term::Check { cond, status, body } = expr.term()
        && spine_variables(body).iter().any(|y| mentions(term, y))
    {
        return Expr::check(cond.clone(), *status, name(body, term, t)).at(expr.span());
    }
    Expr::let_(t.clone(), freshen(term), replace(expr, term, &Expr::var(t)))
}

fn spine_variables(expr: &Expr) -> Vec<Var> {
    let mut variables = Vec::new();
    let mut expr = expr.clone();
    loop {
        let inner = match expr.term() {
            Term::Let(x, _, body) => {
                variables.push(x.clone());
                body.clone()
            }
            Term::Check { body, .. } => body.clone(),
            _ => return variables,
        };
        expr = inner;
    }
}

fn replace(expr: &Expr, term: &Expr, by: &Expr) -> Expr {
    if expr.ty().same_shape(term.ty()) && same(expr, term) {
        return by.clone();
    }
    map_children(expr, &mut |child| replace(child, term, by))
}

/// The terms of a body that may be named, by hash.
struct Candidates<'a> {
    facts: &'a Facts,
    /// Variables bound inside: equal terms may differ in them.
    inner: HashSet<Var>,
    /// Those that the body's own lets bind.
    spine: HashSet<Var>,
    found: HashMap<u64, Vec<Candidate>>,
    noted: usize,
}

struct Candidate {
    term: Expr,
    nodes: usize,
    count: usize,
    always: bool,
    order: usize,
}

impl Candidates<'_> {
    fn of<'a>(body: &Expr, facts: &'a Facts) -> Candidates<'a> {
        let mut inner = HashSet::new();
        collect_binders(body, &mut inner);
        let spine = spine_variables(body).into_iter().collect();
        let mut candidates = Candidates { facts, inner, spine, found: HashMap::new(), noted: 0 };
        candidates.visit(body, true);
        candidates
    }

    /// The largest term that occurs twice, once in any case.
    fn best(self, facts: &Facts) -> Option<Expr> {
        let twice = self.found.into_values().flatten().filter(|candidate| candidate.count > 1);
        let best = twice.max_by_key(|candidate| (candidate.always, candidate.nodes, std::cmp::Reverse(candidate.order)))?;
        facts.require("one of them is always evaluated", best.always, &best.term)?;
        Some(best.term)
    }

    /// Hash and node count of a term; notes it when it may be named here.
    fn visit(&mut self, expr: &Expr, always: bool) -> (u64, usize, bool) {
        let mut hasher = DefaultHasher::new();
        hash_head(expr, &mut hasher);
        let mut closed = true;
        if let Term::Var(var) = expr.term() {
            closed = !self.inner.contains(var) || self.spine.contains(var);
            if closed {
                var.hash(&mut hasher);
            }
        }
        let strict = operands_on_spine(expr);
        let (mut at, mut nodes) = (0, 1);
        let mut children = Vec::new();
        expr.term().each_child(&mut |child| children.push(child.clone()));
        for child in &children {
            let (hash, count, child_closed) = self.visit(child, always && strict(at));
            at += 1;
            hash.hash(&mut hasher);
            nodes += count;
            closed &= child_closed;
        }
        // a loop's own variables do not keep it where it is
        let closed = closed || self.is_closed(expr);
        let hash = hasher.finish();
        let named = matches!(expr.ty(), Type::Double | Type::Array(..) | Type::Tuple(_))
            && !matches!(expr.term(), Term::Let(..) | Term::Tuple(_) | Term::Check { .. });
        if closed && named && nodes > 1 && self.facts.grants("e is work or an element", is_worth_a_name(expr)) {
            self.note(hash, expr, nodes, always);
        }
        (hash, nodes, closed)
    }

    fn is_closed(&self, expr: &Expr) -> bool {
        if expr.term().binders().is_empty() {
            return false;
        }
        let mut closed = true;
        crate::ir::subst::each_free_var(expr, &mut |var| closed = closed && (!self.inner.contains(var) || self.spine.contains(var)));
        closed
    }

    fn note(&mut self, hash: u64, expr: &Expr, nodes: usize, always: bool) {
        self.noted += 1;
        let order = self.noted;
        let alike = self.found.entry(hash).or_default();
        match alike.iter_mut().find(|candidate| same(&candidate.term, expr)) {
            Some(candidate) => {
                candidate.count += 1;
                candidate.always |= always;
            }
            None => alike.push(Candidate { term: expr.clone(), nodes, count: 1, always, order }),
        }
    }
}

/// Work on Doubles, or an element that is read: when it is read once, its array may go.
fn is_worth_a_name(expr: &Expr) -> bool {
    Work::of(expr).is_worth_a_name() || matches!(expr.term(), Term::Get(..)) && !has_array(expr.ty())
}

/// Every variable that a term binds.
pub fn collect_binders(expr: &Expr, found: &mut HashSet<Var>) {
    found.extend(expr.term().binders().into_iter().cloned());
    expr.term().each_child(&mut |child| collect_binders(child, found));
}
