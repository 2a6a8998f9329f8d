//! Which parameters take a value from data in some call: the size of the workspace cannot depend on them.
//!
//! In: the program. Out: the parameters, and with them the variables of bodies, that are read from an array, computed from a Double, the
//! result of a call or the state of a loop. Lengths and indices of loops are no data. A call of a function by its own group counts as
//! none: there the count only gets smaller.
//!
//!     let rec power (x: Double) (n: Index) … decreases n = … power x (n - 1)
//!     let f (k: Array<Index, m>) = power 2.0 k[0]   →   n

use std::collections::HashSet;
use std::rc::Rc;

use crate::ir::{Expr, Prim, Program, Term, Var};

/// The variables whose value may come from data; grows to a fixed point.
pub fn from_data(program: &Program) -> HashSet<Var> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for caller in program.functions.values() {
            let group: Vec<Rc<str>> = program.group(&caller.name).into_iter().map(|function| function.name).collect();
            note(&caller.body, program, &group, &mut found);
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Notes what a term binds to data, and the parameters that it gives data.
fn note(expr: &Expr, program: &Program, group: &[Rc<str>], found: &mut HashSet<Var>) {
    match expr.term() {
        Term::Let(var, value, _) if is_data(value, found, &mut Vec::new()) => drop(found.insert(var.clone())),
        Term::Fold { acc: state, .. } | Term::While { state, .. } => drop(found.insert(state.clone())),
        Term::Call(name, args) if !group.contains(name) => {
            let params = program.functions.get(name).map(|callee| callee.params.clone()).unwrap_or_default();
            let given = params.into_iter().zip(args).filter(|(_, arg)| is_data(arg, found, &mut Vec::new()));
            let given: Vec<Var> = given.map(|(param, _)| param).collect();
            found.extend(given);
        }
        _ => {}
    }
    expr.term().each_child(&mut |child| note(child, program, group, found));
}

/// Whether something in a term is data; `own` are the states of its loops.
fn is_data(expr: &Expr, found: &HashSet<Var>, own: &mut Vec<Var>) -> bool {
    match expr.term() {
        Term::Var(var) => found.contains(var) && !own.contains(var),
        Term::Get(..) | Term::Call(..) | Term::While { .. } | Term::Prim(Prim::ToIndex, _) => true,
        Term::Dim(..) => false,
        term => {
            let states = own.len();
            own.extend(term.binders().cloned());
            let mut any = false;
            term.each_child(&mut |child| any |= is_data(child, found, own));
            own.truncate(states);
            any
        }
    }
}
