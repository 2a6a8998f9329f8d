//! Functions, in the shortest way to write them: without a parameter that is only handed on, an operator as a section.
//!
//! In: patterns and a body. Out: an expression that is a function.
//!
//!     \x -> f y x   →   f y        \x y -> x + y   →   (+)        \x -> x.0   →   (.0)

use std::collections::BTreeSet;

use super::clean::clean;
use super::syntax::{Fut, Pattern};

impl Fut {
    /// A function, in the shortest way to write it.
    pub fn lambda(params: Vec<Pattern>, body: Fut) -> Fut {
        let names: Vec<&str> = params.iter().map(|param| if let Pattern::Name(name) = param { name } else { "" }).collect();
        let is = |arg: &Fut, name: &str| matches!(arg, Fut::Atom(text) if text == name);
        let is_last_alone = |args: &[Fut], name: &str| {
            args.split_last().is_some_and(|(last, others)| is(last, name) && !others.iter().any(|arg| arg.mentions(name)))
        };
        match (&body, names.as_slice()) {
            (Fut::Apply(function, args), [..]) if args.len() == names.len() && args.iter().zip(&names).all(|(arg, name)| is(arg, name)) => {
                Fut::Atom(function.clone())
            }
            (Fut::Infix(op, a, b), [x, y]) if is(a, x) && is(b, y) => Fut::Atom(format!("({op})")),
            (Fut::Apply(function, args), [x]) if is_last_alone(args, x) => Fut::Apply(function.clone(), args[..args.len() - 1].to_vec()),
            (Fut::Project(..), [x]) => match body.path_from(x) {
                Some(path) => Fut::Atom(format!("({path})")),
                None => Fut::Lambda(params, Box::new(body)),
            },
            // `(- a)` would be a negation
            (Fut::Infix(op, a, b), [x]) if is(a, x) && b.is_simple_without(x) && *op != "-" => Fut::Atom(format!("({op} {})", b.simple())),
            (Fut::Infix(op, a, b), [x]) if is(b, x) && a.is_simple_without(x) => Fut::Atom(format!("({} {op})", a.simple())),
            _ => Fut::Lambda(params, Box::new(body)),
        }
    }

    /// `.1.0` for `x.1.0`.
    fn path_from(&self, name: &str) -> Option<String> {
        let Fut::Project(inner, at) = self else { return None };
        let before = if matches!(&**inner, Fut::Atom(text) if text == name) { String::new() } else { inner.path_from(name)? };
        Some(format!("{before}.{at}"))
    }

    /// Whether a name occurs; what binds it inside counts too.
    fn mentions(&self, name: &str) -> bool {
        let mut read = BTreeSet::new();
        clean(self.clone(), &mut read);
        read.contains(name)
    }

    fn is_simple_without(&self, name: &str) -> bool {
        match self {
            Fut::Atom(text) => text != name && !text.starts_with('-'),
            Fut::Int(value) => *value >= 0,
            _ => false,
        }
    }

    fn simple(&self) -> String {
        match self {
            Fut::Atom(text) => text.clone(),
            Fut::Int(value) => value.to_string(),
            _ => String::new(),
        }
    }
}
