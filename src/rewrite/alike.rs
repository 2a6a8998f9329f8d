//! Equality of terms up to the names of what they bind, and a question about types that rules share.
//!
//! In: two terms. Out: whether they are one. Literals are compared by their bits: 0.0 is not -0.0.
//!
//!     fun i -> v[i]   and   fun j -> v[j]   are alike

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::ir::subst::map_children;
use crate::ir::{Expr, Term, Type, Var};

/// Whether some value of the type holds an array.
pub fn has_array(ty: &Type) -> bool {
    match ty {
        Type::Array(..) => true,
        Type::Tuple(parts) => parts.iter().any(has_array),
        Type::Double | Type::Bool | Type::Index(_) => false,
    }
}

/// Equality of terms up to the names of what they bind.
pub fn same(a: &Expr, b: &Expr) -> bool {
    same_with(a, b, &mut Vec::new(), &mut None)
}

/// The variable or literal that, put for `hole`, makes the pattern the same as the term.
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
    if !heads || a.node_count() != b.node_count() || a.term().children().count() != b.term().children().count() {
        return false;
    }
    // the body comes last; the binders scope over it alone
    let last = a.term().children().count().saturating_sub(1);
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

/// Puts `by` for every term that is the same as `term`, also where it is reached only sometimes.
pub fn replace(expr: &Expr, term: &Expr, by: &Expr) -> Expr {
    if expr.node_count() < term.node_count() {
        return expr.clone();
    }
    if expr.ty().same_shape(term.ty()) && same(expr, term) {
        return by.clone();
    }
    map_children(expr, &mut |child| replace(child, term, by))
}

/// Equal for terms that are the same. It looks at the upper part of a term only, so that asking for it at every
/// node of a program takes linear time.
pub fn hash(expr: &Expr) -> u64 {
    let mut hasher = FxHasher::default();
    hash_to(expr, &mut Vec::new(), HASHED_LEVELS, &mut hasher);
    hasher.finish()
}

/// Terms that differ only further down have one hash.
const HASHED_LEVELS: usize = 6;

/// What two terms that are the same have in common before their children; a variable adds nothing.
pub fn hash_head(expr: &Expr, hasher: &mut FxHasher) {
    std::mem::discriminant(expr.term()).hash(hasher);
    match expr.term() {
        Term::Double(value) => value.to_bits().hash(hasher),
        Term::Index(value) => value.hash(hasher),
        Term::Bool(value) => value.hash(hasher),
        Term::Prim(prim, _) => prim.hash(hasher),
        Term::Dim(_, k) | Term::Proj(_, k) => k.hash(hasher),
        Term::Call(name, _) => name.hash(hasher),
        Term::Var(_)
        | Term::Let(..)
        | Term::If(..)
        | Term::Build { .. }
        | Term::Fold { .. }
        | Term::Get(..)
        | Term::Tuple(_)
        | Term::Array(_)
        | Term::Check { .. }
        | Term::Dual { .. } => {}
    }
}

fn hash_to(expr: &Expr, bound: &mut Vec<Var>, levels: usize, hasher: &mut FxHasher) {
    hash_head(expr, hasher);
    if let Term::Var(var) = expr.term() {
        match bound.iter().rev().position(|other| other == var) {
            Some(at) => at.hash(hasher),
            None => var.hash(hasher),
        }
    }
    if levels == 0 {
        return;
    }
    let last = expr.term().children().count().saturating_sub(1);
    for (at, child) in expr.term().children().enumerate() {
        let mark = bound.len();
        if at == last {
            bound.extend(expr.term().binders().cloned());
        }
        hash_to(child, bound, levels - 1, hasher);
        bound.truncate(mark);
    }
}
