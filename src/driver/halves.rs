//! `--derive revf:f` and `revr:f`: the two halves of a reverse derivative, made when types are known, so that every stage and the
//! interpreter have them as any other function.
//!
//! In: the session after `types`, where such an entry is the whole derivative, a `vjp`. Out: the entries as their halves, with their
//! signatures. Derivatives inside the function are decided as `mode` would do it; the one that is cut is for reverse mode.

use std::rc::Rc;

use super::{Session, choice, limits};
use crate::ad;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Expr, Program, Term, Type, ambient};
use crate::recursion;
use crate::source::Span;
use crate::types::{Derive, Kind};

/// Puts the halves in the place of the derivatives.
pub fn split(session: &mut Session) -> Result<(), Diagnostics> {
    let is_half = |derive: &&Derive| matches!(derive.kind, Kind::Revf | Kind::Revr);
    let wanted: Vec<Derive> = session.options.derive.iter().filter(is_half).cloned().collect();
    for (at, derive) in wanted.iter().enumerate() {
        let name = derive.entry();
        // an entry that is asked for twice is one
        if wanted[..at].contains(derive) || !session.program.functions.contains_key(&*name) {
            continue;
        }
        limits::no_recursive_types(&reached(&session.program, &name))?;
        states_are_regular(session, &name)?;
        let mut loops = recursion::give_stacks(&reached(&session.program, &name), &session.measures)?;
        // what one half keeps has one type, which the other half takes
        loops.functions.values_mut().for_each(|function| function.body = ambient::with_least_stacks(&function.body));
        let decided = choice::decided(session, &loops, &name)?;
        let halves = ad::split(&decided, &name, session.options.differentiation()).map_err(|problem| vec![problem])?;
        let signature = session.signatures.iter_mut().find(|signature| signature.name == name);
        let half = match derive.kind {
            Kind::Revf => {
                let kept = match &halves.forward.result {
                    Type::Tuple(parts) if parts.len() == 2 => parts[1].clone(),
                    other @ (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_)) => other.clone(),
                };
                signature.into_iter().for_each(|signature| signature.make_forward(&kept));
                halves.forward
            }
            Kind::Revr => {
                if let (Some(signature), Some(kept)) = (signature, halves.backward.params.first()) {
                    signature.make_backward(kept.name(), kept.ty());
                }
                halves.backward
            }
            Kind::Jvp | Kind::Vjp | Kind::Gradient | Kind::ValueAndGradient | Kind::Jacobian | Kind::SparseJacobian | Kind::Hessian => {
                let message = format!("internal error: `{name}` has no halves");
                return Err(vec![Diagnostic::error("E0901", Span::NONE, message).help("please report it with the program")]);
            }
        };
        session.program.functions.insert(name.into(), half);
    }
    Ok(())
}

/// What a loop keeps is an array of its states, which sums of other lengths in each step do not fit in.
fn states_are_regular(session: &Session, name: &str) -> Result<(), Diagnostics> {
    let program = reached(&session.program, name);
    let chooses = |name: &Rc<str>| session.of_data.get(name).is_some_and(|of_data| !of_data.choices.is_empty());
    let open = program.functions.values().find_map(|function| open_state(&function.body));
    match open.filter(|_| program.functions.keys().any(chooses)) {
        Some(place) => {
            let message = format!("unsupported: only data says the lengths in the states that `{name}` keeps of this loop");
            Err(vec![Diagnostic::error("E0601", place, message).help("take the whole derivative, `vjp`")])
        }
        None => Ok(()),
    }
}

/// The place of a loop whose state has a length that only data says.
fn open_state(expr: &Expr) -> Option<Span> {
    let mut is_open = false;
    if let Term::Fold { acc, .. } | Term::While { state: acc, .. } = expr.term() {
        acc.ty().each_size(&mut |size| is_open |= size.has_unknown());
    }
    if is_open { Some(expr.span()) } else { expr.term().children().find_map(open_state) }
}

/// A function and what it calls.
fn reached(program: &Program, name: &str) -> Program {
    let needed = program.reachable([name.into()]);
    let functions = program.functions.iter().filter(|(name, _)| needed.contains(*name));
    Program { functions: functions.map(|(name, function)| (name.clone(), function.clone())).collect() }
}
