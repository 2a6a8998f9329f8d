//! What every call of a group of recursive functions passes on as it is.
//!
//! In: the functions of the group, the one that is called from outside first. Out: for each parameter and size that has one value in
//! all calls this value, a term over the first function's parameters and sizes. Found as constants are propagated: all are thought
//! to be fixed until a call shows another value.
//!
//!     det A left mask = … det A (left - 1) (update mask j false) …   →   A is A, n is n; left and mask vary

use std::collections::{HashMap, HashSet};

use crate::ir::program::match_sizes;
use crate::ir::{Atom, Expr, Function, Size, Term, Type, Var};

/// What is known of a parameter or size: nothing yet, its value in all calls, or `None` that it varies.
type Known = HashMap<Var, Option<Expr>>;

/// The values of what is fixed. What functions give back changed is not: `changing`.
pub fn fixed(first: &Function, group: &[Function], changing: &HashSet<Var>) -> HashMap<Var, Expr> {
    let mut known: Known = first.sizes.iter().chain(&first.params).map(|var| (var.clone(), Some(Expr::var(var)))).collect();
    known.extend(
        group.iter().flat_map(|function| &function.params).filter(|param| changing.contains(param)).map(|param| (param.clone(), None)),
    );
    let own: HashSet<Var> = group.iter().flat_map(|function| function.sizes.iter().chain(&function.params).cloned()).collect();
    loop {
        let before = known.clone();
        for caller in group {
            each_call(&caller.body, &mut |name, args| {
                if let Some(callee) = group.iter().find(|function| *function.name == *name) {
                    meet_call(callee, args, &own, &mut known);
                }
            });
        }
        let same = |(var, value): (&Var, &Option<Expr>)| before.get(var).is_some_and(|old| is_equal(old.as_ref(), value.as_ref()));
        if before.len() == known.len() && known.iter().all(same) {
            return known.into_iter().filter_map(|(var, value)| Some((var, value?))).collect();
        }
    }
}

fn each_call(expr: &Expr, f: &mut dyn FnMut(&str, &[Expr])) {
    if let Term::Call(name, args) = expr.term() {
        f(name, args);
    }
    expr.term().each_child(&mut |child| each_call(child, f));
}

fn meet_call(callee: &Function, args: &[Expr], own: &HashSet<Var>, known: &mut Known) {
    let mut sizes = Vec::new();
    callee.params.iter().zip(args).for_each(|(param, arg)| match_sizes(param.ty(), arg.ty(), &mut sizes));
    let sizes = sizes.into_iter().filter(|(var, _)| callee.sizes.contains(var)).map(|(var, size)| (var, size.to_expr()));
    let args = callee.params.iter().cloned().zip(args.iter().cloned().map(Some));
    for (var, arg) in sizes.chain(args).collect::<Vec<_>>() {
        // a value of which nothing is known yet does not tell
        let Some(value) = arg.map_or(Some(None), |arg| value(&arg, own, known)) else { continue };
        match known.get(&var) {
            None => drop(known.insert(var, value)),
            Some(old) if is_equal(old.as_ref(), value.as_ref()) => {}
            Some(_) => drop(known.insert(var, None)),
        }
    }
}

/// The value of an argument in terms of the first function's parameters: `Some(None)` where it varies, `None` where that is open.
fn value(arg: &Expr, own: &HashSet<Var>, known: &Known) -> Option<Option<Expr>> {
    if let Term::Var(var) = arg.term() {
        return if own.contains(var) { known.get(var).cloned() } else { Some(None) };
    }
    let Some(size) = matches!(arg.ty(), Type::Index(_)).then(|| Size::try_of_expr(arg)).flatten() else { return Some(None) };
    let (mut open, mut varies) = (false, false);
    let size = size.substitute(&mut |atom| {
        if let Atom::Var(var) = atom {
            match known.get(var) {
                Some(Some(value)) => return Some(Size::of_expr(value)),
                Some(None) => varies = true,
                None if own.contains(var) => open = true,
                None => varies = true,
            }
        } else {
            varies = true;
        }
        None
    });
    if varies {
        Some(None)
    } else if open {
        None
    } else {
        Some(size.to_expr())
    }
}

fn is_equal(a: Option<&Expr>, b: Option<&Expr>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => match (a.term(), b.term()) {
            (Term::Var(a), Term::Var(b)) => a == b,
            _ => matches!(a.ty(), Type::Index(_)) && Size::try_of_expr(a).is_some_and(|size| Some(size) == Size::try_of_expr(b)),
        },
        (Some(_), None) | (None, Some(_)) => false,
    }
}
