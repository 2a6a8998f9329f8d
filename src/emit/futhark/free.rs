//! The names that an expression reads and does not bind.
//!
//! In: an expression. Out: names; a word of a text that may be a name is one.
//!
//!     loop s = z for i < n do s + x   →   n, x, z

use std::collections::BTreeSet;

use super::clean::{names, words};
use super::syntax::{Binding, Fut, Pattern, Trip};

type Names = BTreeSet<String>;

/// The names that an expression reads and does not bind.
pub fn named(exp: &Fut) -> Names {
    let mut found = Names::new();
    free(exp, &mut found);
    found
}

/// Adds the names that an expression reads and does not bind.
pub fn free(exp: &Fut, found: &mut Names) {
    let mut without = |patterns: &[&Pattern], inner: Names| {
        let mut bound = Vec::new();
        patterns.iter().for_each(|pattern| names(pattern, &mut bound));
        found.extend(inner.into_iter().filter(|name| !bound.contains(name)));
    };
    match exp {
        Fut::Atom(text) => words(text, found),
        Fut::Int(_) => {}
        Fut::Apply(function, args) => {
            words(function, found);
            args.iter().for_each(|arg| free(arg, found));
        }
        Fut::Index(array, parts) => [&**array].into_iter().chain(parts).for_each(|part| free(part, found)),
        Fut::With(array, parts, value) => [&**array, value].into_iter().chain(parts).for_each(|part| free(part, found)),
        Fut::Infix(_, a, b) => [a, b].into_iter().for_each(|part| free(part, found)),
        Fut::Prefix(_, a) | Fut::Project(a, _) | Fut::Typed(a, _, _) => free(a, found),
        Fut::Tuple(parts) | Fut::Array(parts) => parts.iter().for_each(|part| free(part, found)),
        Fut::If(c, a, b) => [c, a, b].into_iter().for_each(|part| free(part, found)),
        Fut::Let(bindings, body) => {
            let mut inner = Names::new();
            free(body, &mut inner);
            for Binding { pattern, value } in bindings.iter().rev() {
                let mut bound = Vec::new();
                names(pattern, &mut bound);
                inner.retain(|name| !bound.contains(name));
                free(value, &mut inner);
            }
            found.extend(inner);
        }
        Fut::Loop(repeat) => {
            let mut inner = Names::new();
            free(&repeat.body, &mut inner);
            without(&[&repeat.pattern], inner);
            free(&repeat.init, found);
            if let Trip::For(_, count) = &repeat.trip {
                free(count, found);
            }
        }
        Fut::Lambda(params, body) => {
            let mut inner = Names::new();
            free(body, &mut inner);
            without(&params.iter().collect::<Vec<_>>(), inner);
        }
    }
}
