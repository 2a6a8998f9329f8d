//! Arrays of which each element is computed from one element of another array, that at its own indices.
//!
//! In: a `build`, or an array that is written out, and a component of a variable. Out: how often its elements read that component at
//! their own indices, and the same array with something else read there. Such an array may be written over the other one.
//!
//!     build n (fun i -> build m (fun j -> s[i][j] + x[j]))   reads s once, at [i][j]

use super::last_use::component;
use super::subst::map_children;
use super::term::{Expr, Term, Var};

/// A component of a variable.
pub struct Place<'a> {
    pub var: &'a Var,
    pub path: &'a [usize],
}

impl Place<'_> {
    /// How often a term has the place, alone or within a larger one.
    pub fn uses(&self, expr: &Expr) -> usize {
        match component(expr) {
            Some((var, other)) => usize::from(var == self.var && (self.path.starts_with(&other) || other.starts_with(self.path))),
            None => expr.term().children().map(|child| self.uses(child)).sum(),
        }
    }

    /// How often the numbers that an array is made of read the place at their own indices; `None` where they take loops, or are arrays.
    pub fn own_reads(&self, array: &Expr) -> Option<usize> {
        if let Term::Array(items) = array.term() {
            let reads = |(k, item): (usize, &Expr)| self.reads(item, &[&Expr::index(k as i64)]);
            return if items.iter().any(|item| item.ty().has_array()) { None } else { items.iter().enumerate().map(reads).sum() };
        }
        let (mut element, mut indices) = (array, Vec::new());
        loop {
            element = match element.term() {
                Term::Build { i, body, .. } => {
                    indices.push(Expr::var(i));
                    body
                }
                Term::Let(_, _, body) => body,
                _ => break,
            };
        }
        let indices: Vec<&Expr> = indices.iter().collect();
        if indices.is_empty() || element.ty().has_array() { None } else { self.reads(element, &indices) }
    }

    fn reads(&self, expr: &Expr, indices: &[&Expr]) -> Option<usize> {
        if self.is_own(expr, indices) {
            return Some(1);
        }
        let is_loop = matches!(expr.term(), Term::Build { .. } | Term::Fold { .. } | Term::While { .. } | Term::Call(..));
        if is_loop { None } else { expr.term().children().map(|child| self.reads(child, indices)).sum() }
    }

    /// Whether a term is the element of the place at these indices.
    fn is_own(&self, expr: &Expr, indices: &[&Expr]) -> bool {
        match (expr.term(), indices.split_last()) {
            (Term::Get(array, index), Some((last, outer))) => is_same_atom(index, last) && self.is_own(array, outer),
            (_, None) => component(expr).is_some_and(|(var, path)| var == self.var && path == self.path),
            (_, Some(_)) => false,
        }
    }

    /// The term with another array read at these indices in the place of this one.
    pub fn replaced(&self, expr: &Expr, indices: &[&Expr], by: &Expr) -> Expr {
        if self.is_own(expr, indices) {
            return indices.iter().fold(by.clone(), |array, index| Expr::get(array, (*index).clone()));
        }
        map_children(expr, &mut |child| self.replaced(child, indices, by))
    }
}

fn is_same_atom(a: &Expr, b: &Expr) -> bool {
    match (a.term(), b.term()) {
        (Term::Var(a), Term::Var(b)) => a == b,
        (Term::Index(a), Term::Index(b)) => a == b,
        _ => false,
    }
}
