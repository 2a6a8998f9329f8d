//! Values of a step that the forward pass stores, because recomputing them costs more than they take room.
//!
//! In: the backward pass of a fold's step, which recomputes the step's values. Out: the values that it reads from tapes instead, with
//! an element for each step, which the forward pass fills.
//!
//!     back:    let u = build m (fun j -> ifold (fun s k -> s + W[j][k] * h[k]) 0.0 m) in … u …
//!     →   forward: update tape i u;   back: let u = tape[i] in … u …
//!
//! A value is stored where the forward pass computes it anyway, it takes a loop more to compute than it has dimensions, or for each
//! element a function as `exp`, whose derivative needs no other, and its size is of no higher degree than that of the states that the
//! fold stores anyway. Limits: values in branches and in loops inside the step are recomputed, and arrays whose lengths differ from
//! step to step.

use std::collections::HashSet;

use super::leaves::{from_leaves, read_leaves};
use crate::ad::block::{Block, is_name};
use crate::ad::cost::takes_long;
use crate::ad::law;
use crate::ir::free::types_mention;
use crate::ir::prim::Derivative;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};

/// A value, or a component of one, with a tape of its own.
pub struct Stored {
    /// Its name in the forward pass,
    pub value: Expr,
    /// and in the backward pass.
    pub name: Var,
    /// Zeros of its type, to begin the tape with.
    pub zeros: Expr,
}

/// Takes the values that are worth storing out of the backward pass of a step over `i`, the last one first; `close` gives that pass
/// from its block, and `computed` is what the forward pass computes anyway. No size of what is stored is of a higher degree than
/// `degree`.
pub fn take_values(
    i: &Var,
    block: &mut Block,
    mut step: Expr,
    computed: &Expr,
    degree: usize,
    close: &dyn Fn(&Block) -> Expr,
) -> (Vec<Stored>, Expr) {
    let mut stored = Vec::new();
    let mut needed = essence(&step);
    let candidates: Vec<(Var, Expr)> = block.forward_bindings().map(|(var, value)| (var.clone(), value.clone())).collect();
    let own: HashSet<Var> = candidates.iter().map(|(var, _)| var).chain([i]).cloned().collect();
    for (var, value) in candidates.into_iter().rev() {
        let (Some(rest), Some(_)) = (after_binding(&needed, &var), after_binding(computed, &var)) else { continue };
        let leaves = read_leaves(rest, &var, false);
        let Some(size) = leaves.iter().filter(|leaf| leaf.is_read).map(|leaf| size_degree(&leaf.ty)).max() else { continue };
        if size > degree || work_degree(&value) <= size && !has(&value, &is_of_itself) {
            continue;
        }
        // a length that is read back from a tape is data, and the workspace must be known before the call
        let is_known = |size: Size| !own.iter().any(|var| size.mentions(var));
        if types_mention(rest, &var) && Size::try_of_expr(&value).is_some_and(is_known) {
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
            let name = Var::named(var.full_name().at(&leaf.path), leaf.ty);
            names.push(Expr::var(&name));
            let value = Expr::component(Expr::var(&var), &leaf.path);
            stored.push(Stored { value, name, zeros });
        }
        let mut names = names.into_iter();
        block.replace(&var, vec![(var.clone(), from_leaves(var.ty(), &mut |_| names.next().unwrap_or(Expr::double(0.0))))]);
        step = close(block);
        needed = essence(&step);
    }
    (stored, step)
}

/// Straight-line code that only analyses read: without names for other names, and without values of which only the lengths are used,
/// so that what only those values read counts as not read.
pub fn essence(code: &Expr) -> Expr {
    without_names(code, &mut Vec::new())
}

fn without_names(code: &Expr, names: &mut Vec<(Var, Expr)>) -> Expr {
    match code.term() {
        Term::Let(var, value, body) => {
            let value = substitute(value, names);
            if is_name(&value) {
                names.push((var.clone(), value));
                return without_names(body, names);
            }
            let body = without_names(body, names);
            if read_leaves(&body, var, false).iter().any(|leaf| leaf.is_read) { Expr::let_(var.clone(), value, body) } else { body }
        }
        Term::Check { cond, status, body } => Expr::check(substitute(cond, names), *status, without_names(body, names)),
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
pub fn size_degree(ty: &Type) -> usize {
    match ty {
        Type::Double | Type::Index(_) | Type::Bool | Type::Rec(_) => 0,
        Type::Array(element, size) => size_degree(element) + of_count(size),
        Type::Tuple(parts) => parts.iter().map(size_degree).max().unwrap_or(0),
    }
}

/// The degree of what it takes to compute a term.
fn work_degree(expr: &Expr) -> usize {
    let mut most = 0;
    match expr.term() {
        Term::Build { n, body, .. } => most = (work_degree(body) + of_count(&Size::of_expr(n))).max(work_degree(n)),
        Term::Fold { n, body, init, .. } => {
            most = (work_degree(body) + of_count(&Size::of_expr(n))).max(work_degree(n)).max(work_degree(init));
        }
        // of as many steps as data says
        Term::While { init, body, .. } => most = (work_degree(body) + 1).max(work_degree(init)),
        term => term.each_child(&mut |child| most = most.max(work_degree(child))),
    }
    most
}

fn has(value: &Expr, wanted: &dyn Fn(Prim) -> bool) -> bool {
    matches!(value.term(), Term::Prim(prim, _) if wanted(*prim)) || value.term().children().any(|child| has(child, wanted))
}

/// Whether a function takes long, and its derivative none: that of `exp` is itself, while `sin` is stored beside a `cos` of the same.
fn is_of_itself(prim: Prim) -> bool {
    let Derivative::Unary(text) = prim.row().derivative else { return false };
    let [x, dx, r] = ["x", "dx", "r"].map(|name| Expr::var(&Var::fresh(name, Type::Double)));
    let slope = law::parse(text).and_then(|law| law.apply(&[("x", x), ("dx", dx), ("r", r)]));
    takes_long(prim) && slope.is_ok_and(|slope| !has(&slope, &takes_long))
}

fn of_count(size: &Size) -> usize {
    usize::from(size.as_constant().is_none())
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

/// Zeros of a type, of the lengths that it says; `None` where one of them is not known.
pub fn zeros(ty: &Type) -> Option<Expr> {
    Some(match ty {
        Type::Double => Expr::double(0.0),
        Type::Index(_) => Expr::index(0),
        Type::Bool => Expr::bool(false),
        Type::Array(element, size) => {
            let element = zeros(element)?;
            Expr::build(size.to_expr()?, "j", |_| element)
        }
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(zeros).collect::<Option<_>>()?),
        Type::Rec(of) => Expr::absent(of),
    })
}
