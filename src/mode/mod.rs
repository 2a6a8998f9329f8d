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

/// What is chosen for a form: the way, and a form of the same value to which it applies, where that is another one.
pub struct Choice {
    pub way: Way,
    pub instead: Option<Expr>,
}

impl From<Way> for Choice {
    fn from(way: Way) -> Choice {
        Choice { way, instead: None }
    }
}

/// Who chooses: for a form, the function that has it, and the functions before, which are decided.
pub type Choose<'a> = dyn FnMut(&Expr, &Rc<str>, &Program) -> Choice + 'a;

/// The program with each form computed in the way that `choose` gives for it.
pub fn decide(program: &Program, choose: &mut Choose) -> Program {
    let mut decided = Program::default();
    for (name, function) in &program.functions {
        let body = in_term(&function.body, &mut |form| choose(form, name, &decided));
        decided.functions.insert(name.clone(), Function { body, ..function.clone() });
    }
    decided
}

/// The derivative of a form in a way, without the value.
pub fn derivative(form: &Expr, way: Way) -> Expr {
    match (Vjp::of(form), way) {
        (Some(vjp), way) if vjp.wants_rows() => rows::jacobian(&vjp, way),
        (Some(vjp), Way::Forward) => Expr::bind("w", vjp.cotangent.clone(), |w| forward::derivative(&vjp, &w)),
        _ => Expr::proj(form.clone(), 1),
    }
}

/// The pair of value and derivative of a form in a way.
fn pair(form: &Expr, way: Way) -> Expr {
    match (Vjp::of(form), way) {
        (Some(vjp), way) if vjp.wants_rows() => rows::rows(&vjp, way),
        (Some(vjp), Way::Forward) => forward::columns(&vjp),
        _ => form.clone(),
    }
}

fn in_term(expr: &Expr, choose: &mut dyn FnMut(&Expr) -> Choice) -> Expr {
    let mut decided = |form: &Expr, made: fn(&Expr, Way) -> Expr| {
        let form = map_children(form, &mut |child| in_term(child, choose));
        let Choice { way, instead } = choose(&form);
        made(instead.as_ref().unwrap_or(&form), way).at(expr.span())
    };
    match expr.term() {
        Term::Vjp { .. } => decided(expr, pair),
        Term::Proj(form, 1) if Vjp::of(form).is_some() => decided(form, derivative),
        _ => map_children(expr, &mut |child| in_term(child, choose)),
    }
}
