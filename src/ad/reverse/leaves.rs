//! The components of values that are no tuples.
//!
//! In: a type, or a variable and a term that may read it. Out: the components with their paths and types, and which of them the term
//! reads; or a value out of one for each.
//!
//!     s : Double * (Vector<n> * Index), in s.1.0[k]   →   0 : Double; 1.0 : Vector<n>, read; 1.1 : Index

use crate::ir::free::mentions;
use crate::ir::last_use::component;
use crate::ir::{Expr, Term, Type, Var};

/// A component of a variable that is no tuple.
pub struct Leaf {
    pub path: Vec<usize>,
    pub ty: Type,
    /// Whether a term reads it.
    pub is_read: bool,
}

/// The components of a variable that are no tuples, and which of them a term reads; `lengths`: also where it reads only a length.
pub fn read_leaves(expr: &Expr, var: &Var, lengths: bool) -> Vec<Leaf> {
    let mut leaves = leaves_of(var.ty());
    mark_read(expr, var, lengths, &mut leaves);
    leaves
}

/// The components of a type that are no tuples.
pub fn leaves_of(ty: &Type) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    each_leaf(ty, &mut Vec::new(), &mut leaves);
    leaves
}

/// The value of a type with these leaves, by their paths.
pub fn from_leaves(ty: &Type, leaf: &mut dyn FnMut(&[usize]) -> Expr) -> Expr {
    fn go(ty: &Type, path: &mut Vec<usize>, leaf: &mut dyn FnMut(&[usize]) -> Expr) -> Expr {
        let Type::Tuple(parts) = ty else { return leaf(path) };
        let mut values = Vec::new();
        for (k, part) in parts.iter().enumerate() {
            path.push(k);
            values.push(go(part, path, leaf));
            path.pop();
        }
        Expr::tuple(values)
    }
    go(ty, &mut Vec::new(), leaf)
}

fn each_leaf(ty: &Type, path: &mut Vec<usize>, leaves: &mut Vec<Leaf>) {
    let Type::Tuple(parts) = ty else { return leaves.push(Leaf { path: path.clone(), ty: ty.clone(), is_read: false }) };
    for (k, part) in parts.iter().enumerate() {
        path.push(k);
        each_leaf(part, path, leaves);
        path.pop();
    }
}

fn mark_read(expr: &Expr, var: &Var, lengths: bool, leaves: &mut [Leaf]) {
    if !mentions(expr, var) {
        return;
    }
    match component(expr) {
        Some((_, path)) => leaves.iter_mut().for_each(|leaf| leaf.is_read |= leaf.path.starts_with(&path)),
        None if !lengths && matches!(expr.term(), Term::Dim(array, _) if component(array).is_some()) => {}
        None => expr.term().each_child(&mut |child| mark_read(child, var, lengths, leaves)),
    }
}
