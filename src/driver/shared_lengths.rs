//! Lengths in sums that branches share, for emitted code: the data of a case that a branch never is of are as long as where it may be.
//!
//! In: the session after `types`, where a choice that data makes leaves a length open. Out: the program in which the branches of the
//! entries that need it share it, if no check of a length tells it from the one that the interpreter runs; else the same session, which a
//! later stage refuses.
//!
//!     if x > 0.0 then Some v else None   →   room for v, written where x > 0.0

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{Loader, Session, typed};
use crate::diagnostic::Diagnostics;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Function, Program, Status, Term, print};
use crate::source::Span;
use crate::types::{Elaborated, LengthsOfData};

/// See the module's head.
pub fn share(session: &mut Session, load: &mut Loader) -> Result<(), Diagnostics> {
    let Session { program, of_data, .. } = session;
    // what is not wanted is gone by now
    of_data.retain(|name, _| program.functions.contains_key(name));
    if !program.functions.keys().any(|name| is_open(program, of_data, name)) {
        return Ok(());
    }
    let entries = program.functions.values().filter(|function| function.is_entry);
    let entries: Vec<Rc<str>> = entries.map(|function| function.name.clone()).collect();
    // halves of derivatives are whole here
    let own = typed::elaborated(session, load, false)?;
    let needs = |entry: &&Rc<str>| own.program.reachable([(*entry).clone()]).iter().any(|name| is_open(&own.program, &own.of_data, name));
    let sharing: HashSet<Rc<str>> = entries.iter().filter(needs).cloned().collect();
    if let Ok(shared) = typed::elaborated(session, load, true)
        && is_as_checked((&own.program, &own.of_data), &shared.program, &sharing)
    {
        let mut made = if sharing.len() == entries.len() { shared } else { joined(own, shared, &sharing) };
        let needed = made.program.reachable(entries);
        made.program.functions.retain(|name, _| needed.contains(name));
        made.of_data.retain(|name, _| needed.contains(name));
        typed::take(session, made)?;
    }
    Ok(())
}

/// Whether a length in a function's result, or in a choice in it, is unknown.
fn is_open(program: &Program, of_data: &LengthsOfData, name: &str) -> bool {
    let mut is_open = of_data.get(name).is_some_and(|of_data| !of_data.choices.is_empty());
    if let Some(function) = program.functions.get(name) {
        function.result.each_size(&mut |size| is_open |= size.has_unknown());
    }
    is_open
}

/// Whether in these entries no function that differs in the second program, or calls such a function, checks a length in it, or compares
/// one in the first.
fn is_as_checked((first, of_data): (&Program, &LengthsOfData), second: &Program, entries: &HashSet<Rc<str>>) -> bool {
    let others = different(first, second);
    let checks = |program: &Program, which: &dyn Fn(&str, Span) -> bool| {
        let reached = program.reachable(entries.iter().cloned());
        let found = |name: &str, function: &Function| checks_lengths(&function.body, &|place| which(name, place));
        program.functions.iter().any(|(name, function)| reached.contains(name) && others.contains(&**name) && found(name, function))
    };
    let compares = |name: &str, place| of_data.get(name).is_some_and(|of_data| of_data.compared.contains(&place));
    !checks(first, &compares) && !checks(second, &|_, _| true)
}

/// The functions that differ in the second program, and those that call such a function.
fn different<'p>(first: &Program, second: &'p Program) -> HashSet<&'p str> {
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
    others
}

fn calls(expr: &Expr, wanted: &HashSet<&str>) -> bool {
    matches!(expr.term(), Term::Call(name, _) if wanted.contains(&**name)) || expr.term().children().any(|child| calls(child, wanted))
}

fn checks_lengths(expr: &Expr, which: &dyn Fn(Span) -> bool) -> bool {
    matches!(expr.term(), Term::Check { status: Status::Shape, .. } if which(expr.span()))
        || expr.term().children().any(|child| checks_lengths(child, which))
}

/// One program of some entries as they share lengths and of the others as they are; what both call in two forms has two names.
fn joined(own: Elaborated, shared: Elaborated, sharing: &HashSet<Rc<str>>) -> Elaborated {
    let as_they_are = own.program.functions.values().filter(|function| function.is_entry && !sharing.contains(&function.name));
    let kept = own.program.reachable(as_they_are.map(|function| function.name.clone()));
    let taken = shared.program.reachable(sharing.iter().cloned());
    let others = different(&own.program, &shared.program);
    let mut names: HashMap<Rc<str>, Rc<str>> = HashMap::new();
    for name in shared.program.functions.keys() {
        if taken.contains(name) && kept.contains(name) && others.contains(&**name) {
            let is_free = |new: &String| ![&own, &shared].iter().any(|made| made.program.functions.contains_key(new.as_str()));
            let new = (2..).map(|k| format!("{name}_{k}")).find(|new| is_free(new) && !names.values().any(|taken| **taken == **new));
            names.extend(new.map(|new| (name.clone(), new.into())));
        }
    }
    let mut made = Elaborated { program: Program::default(), of_data: LengthsOfData::default(), ..own };
    for (name, function) in &own.program.functions {
        if sharing.contains(name) {
            let needed = shared.program.reachable([name.clone()]);
            for (name, function) in shared.program.functions.iter().filter(|(name, _)| needed.contains(*name)) {
                let new = names.get(name).unwrap_or(name);
                made.of_data.extend(shared.of_data.get(name).map(|of_data| (new.clone(), of_data.clone())));
                let is_entry = function.is_entry && new == name;
                let body = with_names(&function.body, &names);
                made.program.functions.entry(new.clone()).or_insert(Function { name: new.clone(), body, is_entry, ..function.clone() });
            }
        } else if kept.contains(name) {
            made.of_data.extend(own.of_data.get(name).map(|of_data| (name.clone(), of_data.clone())));
            made.program.functions.entry(name.clone()).or_insert(function.clone());
        }
    }
    made.measures.extend(shared.measures);
    for signature in made.signatures.iter_mut().filter(|signature| sharing.contains(&*signature.name)) {
        if let Some(known) = shared.signatures.iter().find(|known| known.name == signature.name) {
            signature.clone_from(known);
        }
    }
    made
}

/// A term whose calls are of functions with these names.
fn with_names(expr: &Expr, names: &HashMap<Rc<str>, Rc<str>>) -> Expr {
    let expr = map_children(expr, &mut |child| with_names(child, names));
    if let Term::Call(name, args) = expr.term()
        && let Some(new) = names.get(name)
    {
        Expr::with_type(Term::Call(new.clone(), args.clone()), expr.ty().clone(), expr.span())
    } else {
        expr
    }
}
