//! A-normal form, which 001 Figure 9 turns the program into: every operand that is not atomic has a name.
//!
//! In: a term with operands that are always evaluated. Out: lets of these operands, in the order of their evaluation, around the
//! term with names in their places. `let-merge` then finds common subexpressions, and `hoist` moves whole lets.
//!
//!     sin x * (y + z)   →   let t = sin x in let t_1 = y + z in t * t_1

use crate::ir::subst::map_children;
use crate::ir::{Expr, Name, Var};
use crate::rewrite::atoms::is_free;
use crate::rewrite::facts::Facts;

use super::lambda::strict_operands;
use super::rules;

rules! {
    "anf" Lambda @ Any: "f e -> let t = e in f t where f is strict there, and e is not atomic" => anf;
}

fn anf(expr: &Expr, _: &Facts) -> Option<Expr> {
    let is_strict = strict_operands(expr);
    // an update of an array stays after the operands that may read it
    if expr.term().children().any(Expr::has_updates) {
        return None;
    }
    let (mut lets, mut at) = (Vec::new(), 0);
    let named = map_children(expr, &mut |operand| {
        at += 1;
        if !is_strict(at - 1) || is_free(operand) {
            return operand.clone();
        }
        let name = Var::named(Name::placeholder("t"), operand.ty().clone());
        lets.push((name.clone(), operand.clone()));
        Expr::var(&name)
    });
    (!lets.is_empty()).then(|| lets.into_iter().rev().fold(named, |body, (name, value)| Expr::let_(name, value, body)))
}
