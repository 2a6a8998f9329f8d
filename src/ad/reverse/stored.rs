//! Values of a step that the forward pass stores, because computing them again costs more than they are large.
//!
//! In: the backward pass of a fold's step, which computes the step's values again. Out: the values that it reads instead from
//! tapes, with an element for each step, which the forward pass fills.
//!
//!     back:    let u = build m (fun j -> ifold (fun s k -> s + W[j][k] * h[k]) 0.0 m) in … u …
//!     →   forward: update tape i u;   back: let u = tape[i] in … u …
//!
//! A value is worth its room where it has a loop more around its operations than it has dimensions, or many operations for each
//! element. What is stored is never of a higher degree in the sizes than the states that the fold stores anyway.

use std::collections::HashSet;

use super::states::{each_leaf, mark_read};
use crate::ad::block::{Block, is_name};
use crate::ir::subst::substitute;
use crate::ir::{Expr, Size, Term, Type, Var};

/// So many operations for each element are worth storing it.
const MANY: f64 = 16.0;

/// What a function such as `exp` counts, in operations.
const FUNCTION: f64 = 16.0;

/// A value, or a component of one, on a tape of its own.
pub struct Stored {
    /// Its name in the forward pass, and in the backward pass.
    pub value: Expr,
    pub name: Var,
}

/// A number of operations, or of elements: the degree in sizes that are no literals, and the factor at that degree.
#[derive(Clone, Copy)]
struct Count {
    degree: usize,
    factor: f64,
}

impl Count {
    fn plus(self, other: Count) -> Count {
        match self.degree.cmp(&other.degree) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal => Count { factor: self.factor + other.factor, ..self },
            std::cmp::Ordering::Greater => self,
        }
    }

    fn times(self, count: &Size) -> Count {
        match count.as_constant() {
            Some(count) => Count { factor: self.factor * count.max(0) as f64, ..self },
            None => Count { degree: self.degree + 1, ..self },
        }
    }
}

/// Takes what a step over `i` computes and is worth storing out of its backward pass, the last value first; `close` gives that from
/// its block. Nothing is stored of a higher degree than `room`.
pub fn take_values(i: &Var, block: &mut Block, mut step: Expr, room: usize, close: &dyn Fn(&Block) -> Expr) -> (Vec<Stored>, Expr) {
    let mut stored = Vec::new();
    let mut needed = essence(&step, &mut Vec::new());
    let candidates: Vec<(Var, Expr)> = block.forward_bindings().map(|(var, value)| (var.clone(), value.clone())).collect();
    let own: HashSet<Var> = candidates.iter().map(|(var, _)| var).chain([i]).cloned().collect();
    for (var, value) in candidates.into_iter().rev() {
        let Some(after) = after_binding(&needed, &var) else { continue };
        let (leaves, is_read) = read_leaves(after, &var);
        let size = leaves.iter().zip(&is_read).filter(|(_, is_read)| **is_read);
        let size = size.fold(Count { degree: 0, factor: 0.0 }, |sum, ((_, ty), _)| sum.plus(elements(ty)));
        let work = operations(&value);
        let is_worth = work.degree > size.degree || work.degree == size.degree && work.factor >= MANY * size.factor;
        if size.factor == 0.0 || !is_worth || size.degree > room {
            continue;
        }
        // what is not read is no array, of which zeros would be made
        let fits = |(ty, is_read): (&Type, &bool)| match is_read {
            true => is_known_outside(ty, &own) && nothing(ty).is_some(),
            false => matches!(ty, Type::Double | Type::Index(_) | Type::Bool),
        };
        if !leaves.iter().map(|(_, ty)| ty).zip(&is_read).all(fits) {
            continue;
        }
        let mut names = Vec::new();
        for ((path, ty), is_read) in leaves.iter().zip(&is_read) {
            let leaf = path.iter().fold(Expr::var(&var), |value, k| Expr::proj(value, *k));
            match nothing(ty) {
                Some(_) if *is_read => {
                    let name = var.renewed(ty.clone());
                    names.push(Expr::var(&name));
                    stored.push(Stored { value: leaf, name });
                }
                Some(nothing) => names.push(nothing),
                None => {}
            }
        }
        block.replace(&var, vec![(var.clone(), like(var.ty(), &mut names.into_iter()))]);
        step = close(block);
        needed = essence(&step, &mut Vec::new());
    }
    (stored, step)
}

/// Straight-line code without names for other names, and without values of which only lengths are used: what they read is no use.
fn essence(code: &Expr, names: &mut Vec<(Var, Expr)>) -> Expr {
    match code.term() {
        Term::Let(var, value, body) => {
            let value = substitute(value, names);
            if is_name(&value) {
                names.push((var.clone(), value));
                return essence(body, names);
            }
            let body = essence(body, names);
            if read_leaves(&body, var).1.contains(&true) { Expr::let_(var.clone(), value, body) } else { body }
        }
        Term::Check { cond, status, body } => Expr::check(substitute(cond, names), *status, essence(body, names)),
        _ => substitute(code, names),
    }
}

/// The components of a variable that are no tuples, and which of them a term reads more than the lengths of.
fn read_leaves(expr: &Expr, var: &Var) -> (Vec<(Vec<usize>, Type)>, Vec<bool>) {
    let mut leaves = Vec::new();
    each_leaf(var.ty(), &mut Vec::new(), &mut leaves);
    let mut is_read = vec![false; leaves.len()];
    mark_read(expr, var, false, &leaves, &mut is_read);
    (leaves, is_read)
}

/// Straight-line code from a variable's binding on; `None` where that was dropped.
fn after_binding<'a>(code: &'a Expr, var: &Var) -> Option<&'a Expr> {
    match code.term() {
        Term::Let(own, _, body) if own == var => Some(body),
        Term::Let(_, _, body) | Term::Check { body, .. } => after_binding(body, var),
        _ => None,
    }
}

/// The degree of a value's size in the sizes that are no literals.
pub fn degree(ty: &Type) -> usize {
    elements(ty).degree
}

/// A tuple of these leaves.
fn like(ty: &Type, leaves: &mut dyn Iterator<Item = Expr>) -> Expr {
    match ty {
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(|ty| like(ty, leaves)).collect()),
        Type::Double | Type::Index(_) | Type::Bool | Type::Array(..) | Type::Rec(_) => leaves.next().unwrap_or(Expr::double(0.0)),
    }
}

/// Whether a type mentions none of these variables.
fn is_known_outside(ty: &Type, own: &HashSet<Var>) -> bool {
    match ty {
        Type::Double | Type::Bool | Type::Index(None) => true,
        Type::Index(Some(size)) => !own.iter().any(|var| size.mentions(var)),
        Type::Array(element, size) => !own.iter().any(|var| size.mentions(var)) && is_known_outside(element, own),
        Type::Tuple(parts) => parts.iter().all(|part| is_known_outside(part, own)),
        Type::Rec(_) => false,
    }
}

/// Zeros of a type; `None` where it does not say how many.
pub fn nothing(ty: &Type) -> Option<Expr> {
    Some(match ty {
        Type::Double => Expr::double(0.0),
        Type::Index(_) => Expr::index(0),
        Type::Bool => Expr::bool(false),
        Type::Array(element, size) => {
            let element = nothing(element)?;
            Expr::build(size.to_expr()?, "j", |_| element)
        }
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(nothing).collect::<Option<_>>()?),
        Type::Rec(_) => return None,
    })
}

fn elements(ty: &Type) -> Count {
    match ty {
        Type::Double | Type::Index(_) | Type::Bool | Type::Rec(_) => Count { degree: 0, factor: 1.0 },
        Type::Array(element, size) => elements(element).times(size),
        Type::Tuple(parts) => parts.iter().map(elements).fold(Count { degree: 0, factor: 0.0 }, Count::plus),
    }
}

fn operations(expr: &Expr) -> Count {
    let own = match expr.term() {
        Term::Build { n, body, .. } | Term::Fold { n, body, .. } => {
            let inside = operations(body).times(&Size::of_expr(n));
            let Term::Fold { init, .. } = expr.term() else { return inside.plus(operations(n)) };
            return inside.plus(operations(init)).plus(operations(n));
        }
        Term::Prim(prim, _) if super::super::cost::is_operator(*prim) => 1.0,
        Term::Prim(..) => FUNCTION,
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Let(..) | Term::If(..) | Term::Get(..) => 0.0,
        Term::Dim(..) | Term::Tuple(_) | Term::Proj(..) | Term::Array(_) | Term::Check { .. } | Term::Update(..) => 0.0,
        Term::While { .. } | Term::Call(..) | Term::Iso(..) | Term::Dual { .. } | Term::Vjp { .. } => FUNCTION,
    };
    let mut sum = Count { degree: 0, factor: own };
    expr.term().each_child(&mut |child| sum = sum.plus(operations(child)));
    sum
}
