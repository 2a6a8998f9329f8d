//! The mode of each derivative: forward by columns, or reverse.
//!
//! In: a program in which a `gradient`, `valueAndGradient`, `vjp` or `jacobian` is one term, `vjp`. Out: the same, where `vjp`s
//! that are left are for reverse mode, and the others are columns of `dual`s. Each form is decided by itself, the innermost
//! first.
//!
//!     vjp(x = v, w = 1.0). f x   forward: build(length v, i. (dual(x = v, dx = e_i). f x).1)   reverse: as it is
//!
//! Nothing here optimises or compares: a callback decides for each form.

mod forward;
mod rows;

use std::rc::Rc;

use crate::ir::subst::map_children;
use crate::ir::term::Vjp;
use crate::ir::{Expr, Function, Program, Term};

/// `--mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Whichever costs less.
    #[default]
    Auto,
    Forward,
    Reverse,
}

/// One way to compute a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Forward,
    Reverse,
}

/// Who chooses: for a form, the function that has it, and the functions before, which are decided.
pub type Choose<'a> = dyn FnMut(&Expr, &Rc<str>, &Program) -> Way + 'a;

/// The program with each form computed in the way that `choose` gives for it.
pub fn decide(program: &Program, choose: &mut Choose) -> Program {
    let mut decided = Program::default();
    for (name, function) in &program.functions {
        let body = in_term(&function.body, &mut |form| choose(form, name, &decided));
        decided.functions.insert(name.clone(), Function { body, ..function.clone() });
    }
    decided
}

fn in_term(expr: &Expr, choose: &mut dyn FnMut(&Expr) -> Way) -> Expr {
    if let Term::Proj(tuple, 1) = expr.term()
        && let Term::Vjp { .. } = tuple.term()
    {
        // the derivative alone: its value is not computed for nothing
        let tuple = map_children(tuple, &mut |child| in_term(child, choose));
        return match (Vjp::of(&tuple), choose(&tuple)) {
            (Some(vjp), way) if vjp.wants_rows() => rows::jacobian(&vjp, way).at(expr.span()),
            (Some(vjp), Way::Forward) => Expr::bind("w", vjp.cotangent.clone(), |w| forward::derivative(&vjp, &w)).at(expr.span()),
            _ => Expr::proj(tuple, 1).at(expr.span()),
        };
    }
    let new = map_children(expr, &mut |child| in_term(child, choose));
    let Some(vjp) = Vjp::of(&new) else { return new };
    match choose(&new) {
        way if vjp.wants_rows() => rows::rows(&vjp, way).at(new.span()),
        Way::Forward => forward::columns(&vjp).at(new.span()),
        Way::Reverse => new,
    }
}
