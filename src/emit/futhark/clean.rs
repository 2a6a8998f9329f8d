//! Names that nobody reads: their bindings go, or they become `_`, so that `futhark check` has nothing to say.
//!
//! In: an expression whose free names may be read outside. Out: the same with every binding used.
//!
//!     let k = n + 1 in loop s = 0.0 for i < n do s * x   →   loop s = 0.0 for _i < n do s * x

use std::collections::BTreeSet;

use super::syntax::{Binding, Fut, Loop, Pattern, Trip};

/// The cleaned expression; its free names are added to `read`.
pub fn clean(exp: Fut, read: &mut BTreeSet<String>) -> Fut {
    let all = |parts: Vec<Fut>, read: &mut BTreeSet<String>| parts.into_iter().map(|part| clean(part, read)).collect::<Vec<_>>();
    let one = |part: Fut, read: &mut BTreeSet<String>| Box::new(clean(part, read));
    match exp {
        Fut::Atom(text) => {
            words(&text, read);
            Fut::Atom(text)
        }
        Fut::Int(_) => exp,
        Fut::Apply(function, args) => {
            words(&function, read);
            Fut::Apply(function, all(args, read))
        }
        Fut::Infix(op, a, b) => Fut::Infix(op, one(*a, read), one(*b, read)),
        Fut::Prefix(op, a) => Fut::Prefix(op, one(*a, read)),
        Fut::Index(array, places) => Fut::Index(one(*array, read), all(places, read)),
        Fut::With(array, places, value) => Fut::With(one(*array, read), all(places, read), one(*value, read)),
        Fut::Project(tuple, at) => Fut::Project(one(*tuple, read), at),
        Fut::Tuple(parts) => Fut::Tuple(all(parts, read)),
        Fut::Array(parts) => Fut::Array(all(parts, read)),
        Fut::If(c, a, b) => Fut::If(one(*c, read), one(*a, read), one(*b, read)),
        Fut::Typed(value, sign, ty) => {
            words(&ty, read);
            Fut::Typed(one(*value, read), sign, ty)
        }
        Fut::Let(bindings, body) => {
            let mut inner = BTreeSet::new();
            let body = clean(*body, &mut inner);
            let mut kept = Vec::new();
            for Binding { pattern, value } in bindings.into_iter().rev() {
                let mut bound = Vec::new();
                names(&pattern, &mut bound);
                if !bound.iter().any(|name| inner.contains(name)) {
                    continue;
                }
                let pattern = only_read(pattern, &inner);
                bound.iter().for_each(|name| {
                    inner.remove(name);
                });
                types(&pattern, &bound, &mut inner);
                let value = clean(value, &mut inner);
                kept.push(Binding { pattern, value });
            }
            kept.reverse();
            read.extend(inner);
            Fut::let_in(kept, body)
        }
        Fut::Loop(repeat) => {
            let Loop { pattern, init, trip, body } = *repeat;
            let mut inner = BTreeSet::new();
            let body = clean(body, &mut inner);
            let mut bound = Vec::new();
            let trip = match trip {
                Trip::For(i, n) => {
                    let i = if inner.contains(&i) { i } else { format!("_{i}") };
                    bound.push(i.clone());
                    Trip::For(i, n)
                }
                Trip::While(go) => {
                    inner.insert(go.clone());
                    Trip::While(go)
                }
            };
            let shown = only_read(pattern.clone(), &inner);
            names(&pattern, &mut bound);
            bound.iter().for_each(|name| {
                inner.remove(name);
            });
            types(&shown, &bound, &mut inner);
            let init = clean(init, &mut inner);
            let trip = match trip {
                Trip::For(i, n) => Trip::For(i, clean(n, &mut inner)),
                Trip::While(go) => Trip::While(go),
            };
            read.extend(inner);
            Fut::Loop(Box::new(Loop { pattern: shown, init, trip, body }))
        }
        Fut::Lambda(params, body) => {
            let mut inner = BTreeSet::new();
            let body = clean(*body, &mut inner);
            let mut bound = Vec::new();
            params.iter().for_each(|param| names(param, &mut bound));
            let params = params.into_iter().map(|param| only_read(param, &inner)).collect();
            bound.iter().for_each(|name| {
                inner.remove(name);
            });
            read.extend(inner);
            Fut::Lambda(params, Box::new(body))
        }
    }
}

/// The words of a text that may be names; of `f64.exp` that is `f64`.
pub fn words(text: &str, read: &mut BTreeSet<String>) {
    let split = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '\'' && c != '.');
    let heads = split.map(|word| word.split('.').next().unwrap_or_default());
    read.extend(heads.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')).map(str::to_string));
}

/// The names that a pattern binds.
pub fn names(pattern: &Pattern, bound: &mut Vec<String>) {
    match pattern {
        Pattern::Name(name) => bound.push(name.clone()),
        Pattern::Tuple(parts) => parts.iter().for_each(|part| names(part, bound)),
        Pattern::Sized { sizes, name, .. } => {
            bound.extend(sizes.iter().cloned());
            bound.push(name.clone());
        }
        Pattern::Wild => {}
    }
}

/// What the types in a pattern read, beside the sizes that it binds itself.
fn types(pattern: &Pattern, bound: &[String], read: &mut BTreeSet<String>) {
    match pattern {
        Pattern::Sized { ty, .. } => {
            let mut found = BTreeSet::new();
            words(ty, &mut found);
            read.extend(found.into_iter().filter(|name| !bound.contains(name)));
        }
        Pattern::Tuple(parts) => parts.iter().for_each(|part| types(part, bound, read)),
        Pattern::Name(_) | Pattern::Wild => {}
    }
}

/// The pattern with `_` before names that are not read.
pub fn only_read(pattern: Pattern, read: &BTreeSet<String>) -> Pattern {
    match pattern {
        Pattern::Name(name) if !read.contains(&name) => Pattern::Name(format!("_{name}")),
        Pattern::Tuple(parts) => Pattern::Tuple(parts.into_iter().map(|part| only_read(part, read)).collect()),
        Pattern::Sized { sizes, name, ty } => {
            if sizes.is_empty() || sizes.iter().any(|size| read.contains(size)) {
                let name = if read.contains(&name) { name } else { format!("_{name}") };
                Pattern::Sized { sizes, name, ty }
            } else {
                Pattern::Name(name)
            }
        }
        other @ (Pattern::Name(_) | Pattern::Wild) => other,
    }
}
