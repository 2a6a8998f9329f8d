//! Values of a step that the forward pass stores, because recomputing them costs more than they take room.
//!
//! In: the backward pass of a fold's step, which recomputes the step's values. Out: the values that it reads from tapes instead, with
//! an element for each step, which the forward pass fills.
//!
//!     back:    let u = build m (fun j -> ifold (fun s k -> s + W[j][k] * h[k]) 0.0 m) in … u …
//!     →   forward: update tape i u;   back: let u = tape[i] in … u …
//!
//! A value is stored where it takes one loop more to compute than it has dimensions, or many operations for each element, and where
//! its size is of no higher degree than that of the states that the fold stores anyway. Limits: values in branches and in loops
//! inside the step are recomputed, and arrays whose lengths differ from step to step.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::states::read_leaves;
use crate::ad::block::{Block, is_name};
use crate::ad::cost::is_operator;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Size, Term, Type, Var};

/// A value of so many operations for each element is stored.
const MANY: f64 = 16.0;

/// The operations that a function such as `exp` stands for.
const FUNCTION: f64 = 16.0;

/// A value, or a component of one, with a tape of its own.
pub struct Stored {
    /// Its name in the forward pass,
    pub value: Expr,
    /// and in the backward pass.
    pub name: Var,
    /// Zeros of its type, to begin the tape with.
    pub zeros: Expr,
}

/// A number of operations, or of elements: the degree in sizes that are no literals, and the factor at that degree.
#[derive(Clone, Copy)]
struct Count {
    degree: usize,
    factor: f64,
}

impl Count {
    const NONE: Count = Count { degree: 0, factor: 0.0 };

    /// Whether so many operations are worth storing so many elements.
    fn is_many_for(self, elements: Count) -> bool {
        match self.degree.cmp(&elements.degree) {
            Ordering::Less => false,
            Ordering::Equal => self.factor >= MANY * elements.factor,
            Ordering::Greater => true,
        }
    }

    fn plus(self, other: Count) -> Count {
        match self.degree.cmp(&other.degree) {
            Ordering::Less => other,
            Ordering::Equal => Count { factor: self.factor + other.factor, ..self },
            Ordering::Greater => self,
        }
    }

    fn times(self, count: &Size) -> Count {
        match count.as_constant() {
            Some(count) => Count { factor: self.factor * count.max(0) as f64, ..self },
            None => Count { degree: self.degree + 1, ..self },
        }
    }
}

/// Takes the values that are worth storing out of the backward pass of a step over `i`, the last one first; `close` gives that pass
/// from its block. Nothing is stored of a higher degree than `degree`.
pub fn take_values(i: &Var, block: &mut Block, mut step: Expr, degree: usize, close: &dyn Fn(&Block) -> Expr) -> (Vec<Stored>, Expr) {
    let mut stored = Vec::new();
    let mut needed = essence(&step, &mut Vec::new());
    let candidates: Vec<(Var, Expr)> = block.forward_bindings().map(|(var, value)| (var.clone(), value.clone())).collect();
    let own: HashSet<Var> = candidates.iter().map(|(var, _)| var).chain([i]).cloned().collect();
    for (var, value) in candidates.into_iter().rev() {
        let Some(rest) = after_binding(&needed, &var) else { continue };
        let leaves = read_leaves(rest, &var, false);
        let sizes = leaves.iter().filter(|leaf| leaf.is_read).map(|leaf| elements(&leaf.ty));
        let size = sizes.fold(Count::NONE, Count::plus);
        if size.factor == 0.0 || size.degree > degree || !operations(&value).is_many_for(size) {
            continue;
        }
        // a component that is not read is left as a zero, which no array may be
        let zeros = leaves.iter().map(|leaf| match leaf.is_read {
            true if is_known_outside(&leaf.ty, &own) => zeros(&leaf.ty),
            false if !leaf.ty.has_array() => zeros(&leaf.ty),
            true | false => None,
        });
        let Some(zeros) = zeros.collect::<Option<Vec<Expr>>>() else { continue };
        let mut names = Vec::new();
        for (leaf, zeros) in leaves.into_iter().zip(zeros) {
            if !leaf.is_read {
                names.push(zeros);
                continue;
            }
            let name = var.renewed(leaf.ty);
            names.push(Expr::var(&name));
            let value = leaf.path.iter().fold(Expr::var(&var), |value, k| Expr::proj(value, *k));
            stored.push(Stored { value, name, zeros });
        }
        block.replace(&var, vec![(var.clone(), tuple_of(var.ty(), &mut names.into_iter()))]);
        step = close(block);
        needed = essence(&step, &mut Vec::new());
    }
    (stored, step)
}

/// Straight-line code for the analysis alone: without names for other names, and without values of which only the lengths are used,
/// so that what only these read counts as not read.
fn essence(code: &Expr, names: &mut Vec<(Var, Expr)>) -> Expr {
    match code.term() {
        Term::Let(var, value, body) => {
            let value = substitute(value, names);
            if is_name(&value) {
                names.push((var.clone(), value));
                return essence(body, names);
            }
            let body = essence(body, names);
            if read_leaves(&body, var, false).iter().any(|leaf| leaf.is_read) { Expr::let_(var.clone(), value, body) } else { body }
        }
        Term::Check { cond, status, body } => Expr::check(substitute(cond, names), *status, essence(body, names)),
        _ => substitute(code, names),
    }
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

/// The value of type `ty` with these leaves.
fn tuple_of(ty: &Type, leaves: &mut dyn Iterator<Item = Expr>) -> Expr {
    match ty {
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(|ty| tuple_of(ty, leaves)).collect()),
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

/// Zeros of a type; `None` where a length is not known, or the type contains itself.
fn zeros(ty: &Type) -> Option<Expr> {
    Some(match ty {
        Type::Double => Expr::double(0.0),
        Type::Index(_) => Expr::index(0),
        Type::Bool => Expr::bool(false),
        Type::Array(element, size) => {
            let element = zeros(element)?;
            Expr::build(size.to_expr()?, "j", |_| element)
        }
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(zeros).collect::<Option<_>>()?),
        Type::Rec(_) => return None,
    })
}

fn elements(ty: &Type) -> Count {
    match ty {
        Type::Double | Type::Index(_) | Type::Bool | Type::Rec(_) => Count { degree: 0, factor: 1.0 },
        Type::Array(element, size) => elements(element).times(size),
        Type::Tuple(parts) => parts.iter().map(elements).fold(Count::NONE, Count::plus),
    }
}

/// The operations of a term; a branch counts as both of its sides.
fn operations(expr: &Expr) -> Count {
    match expr.term() {
        Term::Build { n, body, .. } => operations(body).times(&Size::of_expr(n)).plus(operations(n)),
        Term::Fold { n, body, init, .. } => operations(body).times(&Size::of_expr(n)).plus(operations(init)).plus(operations(n)),
        Term::Prim(prim, _) if is_operator(*prim) => inside(expr, 1.0),
        Term::Prim(..) | Term::While { .. } | Term::Call(..) | Term::Iso(..) | Term::Dual { .. } | Term::Vjp { .. } => {
            inside(expr, FUNCTION)
        }
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Let(..) | Term::If(..) | Term::Get(..) => inside(expr, 0.0),
        Term::Dim(..) | Term::Tuple(_) | Term::Proj(..) | Term::Array(_) | Term::Check { .. } | Term::Update(..) => inside(expr, 0.0),
    }
}

/// So many operations and those of the terms directly inside.
fn inside(expr: &Expr, own: f64) -> Count {
    let mut sum = Count { degree: 0, factor: own };
    expr.term().each_child(&mut |child| sum = sum.plus(operations(child)));
    sum
}
