//! Alpha-equivalence of terms, replacement of equal subterms, and a predicate on types that rules share.
//!
//! In: two terms. Out: whether they are equal up to renaming. Literals are compared by their bits: 0.0 is not -0.0.
//!
//!     fun i -> v[i]   and   fun j -> v[j]   are alike

use rustc_hash::FxHashMap;

use crate::ir::subst::map_children;
use crate::ir::{Expr, Term, Var};

/// Alpha-equivalence.
pub fn same(a: &Expr, b: &Expr) -> bool {
    a.is_same(b) || a.shape() == b.shape() && a.fingerprint() == b.fingerprint() && same_with(a, b, &mut Vec::new(), &mut None)
}

/// The variable or literal that, substituted for `hole`, makes the pattern equal to the term.
pub fn instance(pattern: &Expr, hole: &Var, term: &Expr) -> Option<Expr> {
    let mut hole = Some(Hole { var: hole, by: None });
    same_with(pattern, term, &mut Vec::new(), &mut hole).then_some(hole?.by).flatten()
}

/// A variable of the left term that stands for an atom of the right one.
struct Hole<'a> {
    var: &'a Var,
    by: Option<Expr>,
}

impl Hole<'_> {
    /// Whether it may stand for this term, and for no other.
    fn takes(&mut self, term: &Expr, bound: &[(Var, Var)]) -> bool {
        let is_inner = matches!(term.term(), Term::Var(var) if bound.iter().any(|(_, inner)| inner == var));
        if !term.is_atom() || is_inner {
            return false;
        }
        match &self.by {
            Some(by) => same(by, term),
            None => {
                self.by = Some(term.clone());
                true
            }
        }
    }
}

fn same_with(a: &Expr, b: &Expr, bound: &mut Vec<(Var, Var)>, hole: &mut Option<Hole>) -> bool {
    if a.is_same(b) && bound.is_empty() && hole.is_none() {
        return true;
    }
    if hole.is_none() && a.shape() != b.shape() {
        return false;
    }
    if let (Some(hole), Term::Var(var)) = (hole.as_mut(), a.term())
        && var == hole.var
    {
        return hole.takes(b, bound);
    }
    let heads = match (a.term(), b.term()) {
        (Term::Var(x), Term::Var(y)) => match bound.iter().rev().find(|(p, q)| p == x || q == y) {
            Some((p, q)) => p == x && q == y,
            None => x == y,
        },
        _ => same_head(a, b),
    };
    if !heads {
        return false;
    }
    // the body comes last; the binders scope over it alone
    let last = a.term().children().len().saturating_sub(1);
    a.term().children().zip(b.term().children()).enumerate().all(|(at, (x, y))| {
        let mark = bound.len();
        if at == last {
            bound.extend(a.term().binders().cloned().zip(b.term().binders().cloned()));
        }
        let same = same_with(x, y, bound, hole);
        bound.truncate(mark);
        same
    })
}

/// Whether two terms are the same if their subterms are; for those that bind nothing.
pub fn same_head(a: &Expr, b: &Expr) -> bool {
    let heads = match (a.term(), b.term()) {
        (Term::Var(x), Term::Var(y)) => x == y,
        (Term::Double(x), Term::Double(y)) => x.to_bits() == y.to_bits(),
        (Term::Index(x), Term::Index(y)) => x == y,
        (Term::Bool(x), Term::Bool(y)) => x == y,
        (Term::Prim(p, _), Term::Prim(q, _)) => p == q,
        (Term::Dim(_, i), Term::Dim(_, j)) | (Term::Proj(_, i), Term::Proj(_, j)) => i == j,
        (Term::Call(f, _), Term::Call(g, _)) => f == g,
        (Term::Check { status: s, .. }, Term::Check { status: t, .. }) => s == t,
        (Term::Array(_), Term::Array(_)) => a.ty() == b.ty(),
        (x, y) => std::mem::discriminant(x) == std::mem::discriminant(y),
    };
    heads && a.term().children().len() == b.term().children().len()
}

/// Replaces every term equal to `term` by `by`, conditionally evaluated ones too.
pub fn replace(expr: &Expr, term: &Expr, by: &Expr) -> Expr {
    let mut replacements = Replacements::default();
    replacements.add(term, by);
    replacements.done_in(expr)
}

/// Several replacements, done in one walk.
#[derive(Default)]
pub struct Replacements {
    by_shape: FxHashMap<u64, Vec<(Expr, Expr)>>,
    /// The nodes of the smallest.
    least: Option<usize>,
}

impl Replacements {
    pub fn add(&mut self, term: &Expr, by: &Expr) {
        let nodes = term.node_count();
        self.least = Some(self.least.map_or(nodes, |least| least.min(nodes)));
        self.by_shape.entry(term.shape()).or_default().push((term.clone(), by.clone()));
    }

    /// Replaces every term equal to one that was added, the outermost first, conditionally evaluated ones too.
    pub fn done_in(&self, expr: &Expr) -> Expr {
        if self.least.is_none_or(|least| expr.node_count() < least) {
            return expr.clone();
        }
        match self.find(expr) {
            Some(by) => by.clone(),
            None => map_children(expr, &mut |child| self.done_in(child)),
        }
    }

    /// Whether the term is one of those.
    pub fn has(&self, expr: &Expr) -> bool {
        self.find(expr).is_some()
    }

    fn find(&self, expr: &Expr) -> Option<&Expr> {
        let alike = self.by_shape.get(&expr.shape())?;
        alike.iter().find(|(term, _)| expr.ty().same_shape(term.ty()) && same(expr, term)).map(|(_, by)| by)
    }
}
