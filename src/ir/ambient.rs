//! Ambient variables: what every function has without a binder, and only emitted code decides.
//!
//! `deeper` says how many calls deeper than is said the stacks of recursion may be: emitted code computes it from the bytes that it is
//! given. `unset` is what an element of an array is that is written before it is read, and what a result of a sum type has for the cases
//! that it is not of: emitted code leaves it as it is. Both are 0 in `ir::eval`, and constant where it is differentiated. A pass may put a
//! value in the place of `unset`; none may read an element that is unset, so what reads every state, as reverse mode does, first puts
//! zeros there.
//!
//!     build (deeper + 10000) (fun i -> unset)   →   in the interpreter 10,000 zeros; in C an array that nobody clears

use std::collections::HashMap;

use super::free::{mentions, occurrences};
use super::subst::{freshen, map_children, substitute};
use super::zero::zero;
use super::{Expr, Size, Term, Type, Var};

/// `deeper` is below this number, so that sums with it do not wrap.
pub const DEEPEST: i64 = 1 << 40;

/// The kinds of `unset`, which is a variable of its own for each.
const SCALARS: [Type; 3] = [Type::Double, Type::INDEX, Type::Bool];

/// How many calls deeper than is said the stacks may be.
pub fn deeper() -> Var {
    Var::ambient(SCALARS.len() as u32, "deeper", Type::Index(Some(Size::constant(DEEPEST))))
}

/// What is written before it is read, by kind.
pub fn unset_scalars() -> impl Iterator<Item = Var> {
    (0..).zip(SCALARS).map(|(number, ty)| Var::ambient(number, "unset", ty))
}

/// What an ambient variable is in the interpreter.
pub fn meaning(var: &Var) -> Option<Expr> {
    if var.is_ambient() { zero(var.ty()) } else { None }
}

/// The term where an array of which something is not set has no name, unless one of several branches uses it: one array for each use,
/// so that none is copied.
pub fn unset_in_place(expr: &Expr) -> Expr {
    fn copied(expr: &Expr, named: &mut HashMap<Var, Expr>) -> Expr {
        match expr.term() {
            Term::Var(var) => named.get(var).map_or_else(|| expr.clone(), freshen),
            Term::Let(var, value, body) if begins_unset(value) && !is_for_branches(var, body) => {
                let value = copied(value, named);
                named.insert(var.clone(), value);
                copied(body, named)
            }
            _ => map_children(expr, &mut |child| copied(child, named)),
        }
    }
    if unset_scalars().any(|unset| mentions(expr, &unset)) { copied(expr, &mut HashMap::new()) } else { expr.clone() }
}

/// Whether a variable has several uses, one at most on each path.
fn is_for_branches(var: &Var, body: &Expr) -> bool {
    fn on_a_path(expr: &Expr, var: &Var) -> usize {
        if !mentions(expr, var) {
            return 0;
        }
        match expr.term() {
            Term::Var(_) => 1,
            Term::If(cond, a, b) => on_a_path(cond, var) + on_a_path(a, var).max(on_a_path(b, var)),
            // what a loop uses it uses again
            Term::Build { .. } | Term::Fold { .. } | Term::While { .. } => 2,
            _ => expr.term().children().map(|child| on_a_path(child, var)).sum(),
        }
    }
    occurrences(body, var) > 1 && on_a_path(body, var) == 1
}

/// Whether nothing is set of an array, or some elements.
fn begins_unset(expr: &Expr) -> bool {
    if let Term::Update(_, parts) = expr.term() {
        parts.first().is_some_and(begins_unset) && parts.iter().skip(1).all(Expr::is_atom)
    } else {
        is_unset(expr)
    }
}

/// The term as the interpreter has it.
pub fn settled(expr: &Expr) -> Expr {
    set(expr, unset_scalars().chain([deeper()]))
}

/// The term with zeros where nothing is set.
pub fn with_all_set(expr: &Expr) -> Expr {
    set(expr, unset_scalars())
}

/// The term with stacks of the depth that they have without more bytes.
pub fn with_least_stacks(expr: &Expr) -> Expr {
    set(expr, std::iter::once(deeper()))
}

fn set(expr: &Expr, vars: impl Iterator<Item = Var>) -> Expr {
    let map: Vec<(Var, Expr)> = vars.filter_map(|var| Some((var.clone(), zero(var.ty())?))).collect();
    substitute(expr, &map)
}

/// A value of the type, of which nothing is set; `None` where a length depends on data.
pub fn unset(ty: &Type) -> Option<Expr> {
    Some(match ty {
        Type::Double | Type::Bool | Type::Index(_) => Expr::var(&unset_scalars().find(|var| *var.ty() == ty.without_bounds())?),
        Type::Array(element, size) => {
            let element = unset(element)?;
            Expr::build(size.to_expr()?, "i", |_| element)
        }
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(unset).collect::<Option<_>>()?),
        Type::Rec(of) => Expr::absent(of),
    })
}

/// Whether nothing of a value is set.
pub fn is_unset(expr: &Expr) -> bool {
    match expr.term() {
        Term::Var(var) => unset_scalars().any(|unset| unset == *var),
        Term::Build { body, .. } => is_unset(body),
        Term::Tuple(parts) | Term::Array(parts) => !parts.is_empty() && parts.iter().all(is_unset),
        _ => false,
    }
}
