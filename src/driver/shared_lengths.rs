//! Lengths in sums that branches share, for emitted code: the data of a case that a branch never is of are as long as where it may be.
//!
//! In: the session after `types`, where a choice that data makes leaves a length open. Out: the program in which the branches share it, if
//! no check of a length tells it from the one that the interpreter runs; else the same session, which a later stage refuses.
//!
//!     if x > 0.0 then Some v else None   →   room for v, written where x > 0.0

use std::collections::HashSet;

use super::{Loader, Session, rooms};
use crate::diagnostic::Diagnostics;
use crate::ir::{Expr, Function, Program, Status, Term, print};
use crate::source::Span;

/// See the module's head.
pub fn share(session: &mut Session, load: &mut Loader) -> Result<(), Diagnostics> {
    if session.of_data.choices.is_empty() && !session.program.functions.values().any(is_open) {
        return Ok(());
    }
    match rooms::elaborated(session, load, true) {
        Ok(mut shared) if is_as_checked((&session.program, &session.of_data.compared), &shared.program) => {
            // entries that are not wanted are gone by now
            let entries = session.program.functions.values().filter(|function| function.is_entry).map(|function| function.name.clone());
            let needed = shared.program.reachable(entries.collect::<Vec<_>>());
            shared.program.functions.retain(|name, _| needed.contains(name));
            rooms::take(session, shared)
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether a length of the result is unknown.
fn is_open(function: &Function) -> bool {
    let mut is_open = false;
    function.result.each_size(&mut |size| is_open |= size.has_unknown());
    is_open
}

/// Whether no function that differs in the second program, or calls such a function, checks a length in it, or compares one in the first.
fn is_as_checked((first, compared): (&Program, &HashSet<Span>), second: &Program) -> bool {
    let differs =
        |function: &&Function| first.functions.get(&function.name).is_none_or(|other| print::function(other) != print::function(function));
    let mut others: HashSet<&str> = second.functions.values().filter(differs).map(|function| &*function.name).collect();
    // callees come before callers, but in recursion
    let mut known = 0;
    while known != others.len() {
        known = others.len();
        for (name, function) in &second.functions {
            if calls(&function.body, &others) {
                others.insert(name);
            }
        }
    }
    let checks = |program: &Program, which: &dyn Fn(Span) -> bool| {
        program.functions.iter().any(|(name, function)| others.contains(&**name) && checks_lengths(&function.body, which))
    };
    !checks(first, &|place| compared.contains(&place)) && !checks(second, &|_| true)
}

fn calls(expr: &Expr, wanted: &HashSet<&str>) -> bool {
    matches!(expr.term(), Term::Call(name, _) if wanted.contains(&**name)) || expr.term().children().any(|child| calls(child, wanted))
}

fn checks_lengths(expr: &Expr, which: &dyn Fn(Span) -> bool) -> bool {
    matches!(expr.term(), Term::Check { status: Status::Shape, .. } if which(expr.span()))
        || expr.term().children().any(|child| checks_lengths(child, which))
}
