//! Which parameters take a value from data in some call: the size of the workspace cannot depend on them.
//!
//! In: the program. Out: the parameters, and with them the variables of bodies, that are read from an array, computed from a Double, the
//! result of a call or the state of a loop. Lengths and indices of loops are no data. A call of a function by its own group counts as
//! none: there the count only gets smaller. What its calls of itself change is data to the functions outside that it calls.
//!
//!     let rec power (x: Double) (n: Index) … decreases n = … power x (n - 1)
//!     let f (k: Array<Index, m>) = power 2.0 k[0]   →   n

use std::collections::HashSet;
use std::rc::Rc;

use super::fixed::fixed;
use crate::ir::free::any_free_var;
use crate::ir::{Expr, Function, Prim, Program, Term, Var};

/// The variables whose value may come from data; grows to a fixed point. `changing`: the stores that functions give back.
pub fn from_data(program: &Program, changing: &HashSet<Var>) -> HashSet<Var> {
    let recursive = program.recursive();
    let callers: Vec<Caller> = program.functions.values().map(|caller| Caller::of(caller, program, &recursive, changing)).collect();
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for caller in &callers {
            note(&caller.function.body, program, caller, &mut found);
        }
        if found.len() == before {
            return found;
        }
    }
}

/// A function, with those that call each other with it.
struct Caller<'a> {
    function: &'a Function,
    group: Vec<Rc<str>>,
    /// The parameters that calls within the group change.
    varying: HashSet<Var>,
}

impl Caller<'_> {
    fn of<'a>(function: &'a Function, program: &Program, recursive: &HashSet<Rc<str>>, changing: &HashSet<Var>) -> Caller<'a> {
        let group = program.group(&function.name);
        let names = group.iter().map(|member| member.name.clone()).collect();
        let mut varying: HashSet<Var> = HashSet::new();
        if recursive.contains(&function.name) {
            let fixed = fixed(function, &group, changing);
            varying.extend(function.params.iter().filter(|param| !fixed.contains_key(param)).cloned());
        }
        Caller { function, group: names, varying }
    }
}

/// Notes what a term binds to data, and the parameters that it gives data.
fn note(expr: &Expr, program: &Program, caller: &Caller, found: &mut HashSet<Var>) {
    let is_given = |term: &Expr, found: &HashSet<Var>| {
        is_data(term, found, &mut Vec::new()) || any_free_var(term, &mut |var| caller.varying.contains(var))
    };
    match expr.term() {
        Term::Let(var, value, _) if is_given(value, found) => drop(found.insert(var.clone())),
        Term::Fold { acc: state, .. } | Term::While { state, .. } => drop(found.insert(state.clone())),
        Term::Call(name, args) if !caller.group.contains(name) => {
            let params = program.functions.get(name).map(|callee| callee.params.clone()).unwrap_or_default();
            let given = params.into_iter().zip(args).filter(|(_, arg)| is_given(arg, found));
            let given: Vec<Var> = given.map(|(param, _)| param).collect();
            found.extend(given);
        }
        _ => {}
    }
    expr.term().each_child(&mut |child| note(child, program, caller, found));
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
