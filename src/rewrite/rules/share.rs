//! Common subexpression elimination, also across branches and loops. The phase is 001 Figure 9's, the rule
//! is smoothc's own.
//!
//!     sin x * (if c then sin x else y)   →   let t = sin x in t * (if c then t else y)
//!
//! One of the occurrences must be always evaluated: then no work and no error is added. The rule looks at a
//! whole body at once, then at the bodies of loops and branches inside; the name is bound as far out as the
//! term's variables are. Lengths and Index arithmetic are left to the target.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::free::each_free_var;
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Expr, Term, Type, Var};
use crate::rewrite::cost::is_fill;
use crate::rewrite::facts::Facts;

use super::lambda::strict_operands;
use super::rules;
use repeats::Repeats;
use survey::Survey;

mod repeats;
mod survey;

rules! {
    "common" Lambda @ Any: "f e e -> let t = e in f t t" if ["e is worth sharing", "one of them is always evaluated"] => common;
}

/// A body is looked at no more often than this.
const ROUNDS: usize = 64;

fn common(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let mut body = expr.clone();
    for _ in 0..ROUNDS {
        let repeated = repeats(&body, facts);
        if !repeated.are_in(&body) {
            break;
        }
        let survey = Survey::of(&body, &repeated, facts);
        if survey.is_done() {
            break;
        }
        body = Naming { survey: &survey, repeated: &repeated, names: FxHashMap::default() }.region(&body, 0);
    }
    (!body.is_same(expr)).then_some(body)
}

/// The repeated terms of a body that may be named.
fn repeats(body: &Expr, facts: &Facts) -> Repeats {
    Repeats::of(body, &|term, is_work| {
        let is_value = matches!(term.ty(), Type::Double | Type::Array(..) | Type::Tuple(_)) || is_read(term);
        is_value
            && !matches!(term.term(), Term::Let(..) | Term::Tuple(_) | Term::Check { .. })
            && !(body.has_updates() && is_fill(term))
            && facts.grants("e is worth sharing", is_work || is_read(term))
    })
}

/// Subterms that are evaluated whenever the term is, the bodies of lets and checks included.
pub fn operands_on_spine(expr: &Expr) -> impl Fn(usize) -> bool + use<> {
    let all = matches!(expr.term(), Term::Let(..) | Term::Check { .. });
    let strict = strict_operands(expr);
    move |at| all || strict(at)
}

/// Names the terms that a survey found.
struct Naming<'a> {
    survey: &'a Survey<'a>,
    repeated: &'a Repeats,
    /// The names around this place, by class.
    names: FxHashMap<usize, Expr>,
}

impl Naming<'_> {
    /// Binds what is named in a region as far out as the lets in front of its body that it mentions.
    fn region(&mut self, expr: &Expr, region: usize) -> Expr {
        let spine = Spine::of(expr);
        let mut lets: Vec<Vec<(Var, Expr)>> = vec![Vec::new(); spine.nodes.len() + 1];
        let mut named = Vec::new();
        for (class, term) in self.survey.named(region) {
            let t = self.survey.variable(class);
            let value = map_children(term, &mut |child| self.replaced(child, None));
            lets[spine.behind(term)].push((t.clone(), freshen(&value)));
            named.push((class, Expr::var(&t)));
        }
        let classes: Vec<usize> = named.iter().map(|(class, _)| *class).collect();
        self.names.extend(named);
        let mut lets = lets.into_iter().rev();
        let mut bound = |inner: Expr| lets.next().into_iter().flatten().fold(inner, |inner, (t, value)| Expr::let_(t, value, inner));
        let mut inner = bound(self.replaced(&spine.end, Some(region)));
        for node in spine.nodes.iter().rev() {
            let rebuilt = match node.term() {
                Term::Let(x, value, body) => {
                    let value_now = self.replaced(value, Some(region));
                    let is_old = value_now.is_same(value) && inner.is_same(body);
                    // a term that has a name gets no second one: terms over either name would no longer be equal
                    let is_named = !value_now.is_same(value) && matches!(value_now.term(), Term::Var(_));
                    match (is_old, is_named) {
                        (true, _) => node.clone(),
                        (_, true) => substitute(&inner, &[(x.clone(), value_now)]),
                        _ => Expr::let_(x.clone(), value_now, inner).at(node.span()),
                    }
                }
                Term::Check { cond, status, body } => {
                    let cond_now = self.replaced(cond, Some(region));
                    let is_old = cond_now.is_same(cond) && inner.is_same(body);
                    if is_old { node.clone() } else { Expr::check(cond_now, *status, inner).at(node.span()) }
                }
                _ => inner,
            };
            inner = bound(rebuilt);
        }
        classes.iter().for_each(|class| {
            self.names.remove(class);
        });
        inner
    }

    /// The term with names in the place of what they stand for; in a region, what the regions inside name is named too.
    fn replaced(&mut self, expr: &Expr, region: Option<usize>) -> Expr {
        if !self.repeated.are_in(expr) {
            return expr.clone();
        }
        if let Some(name) = self.survey.class(expr).and_then(|class| self.names.get(&class)) {
            return name.clone();
        }
        let strict = operands_on_spine(expr);
        let mut at = 0;
        map_children(expr, &mut |child| {
            at += 1;
            let inner = region.filter(|_| !strict(at - 1)).and_then(|region| self.survey.inner(region, child));
            match inner.filter(|_| self.survey.class(child).is_none_or(|class| !self.names.contains_key(&class))) {
                Some(inner) => self.region(child, inner),
                None => self.replaced(child, region.filter(|_| strict(at - 1))),
            }
        })
    }
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

/// An element that is read: when it is read once, its array may go.
fn is_read(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Get(..)) && !expr.ty().has_array()
}

/// Every variable that a term binds.
pub fn collect_binders(expr: &Expr, found: &mut FxHashSet<Var>) {
    found.extend(expr.term().binders().cloned());
    expr.term().each_child(&mut |child| collect_binders(child, found));
}
