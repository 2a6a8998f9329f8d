//! Functions and programs: terms with names, parameters and sizes.
//!
//! In: the terms of bodies. Out: a [`Program`], all functions by name, callees before callers; what a call's result is for its
//! arguments, whose shapes give the function's sizes.
//!
//!     f (A: Matrix<n, m>) : Vector<m>   for an argument of type Matrix<3, k>   →   n = 3, m = k: Vector<k>

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::term::{Atom, Expr, Labels, Recursive, Size, Type, Var};
use crate::source::Span;

/// One monomorphic first-order function. Its sizes are Index variables that calls take from the arguments'
/// shapes: each stands alone as a length in the type of some parameter, or is a parameter itself.
#[derive(Clone, Debug)]
pub struct Function {
    /// Unique in the program; an entry's is its source name.
    pub name: Rc<str>,
    pub doc: Option<String>,
    /// Size names in order of first appearance in the parameters' types, without those that are parameters.
    pub sizes: Vec<Var>,
    pub params: Vec<Var>,
    /// Lengths are over `sizes` and Index parameters.
    pub result: Type,
    pub body: Expr,
    pub is_entry: bool,
    pub span: Span,
    /// The names of what is inside the parameters, then inside the result, where something has one.
    pub labels: Vec<Labels>,
}

impl Function {
    /// An entry with the body's type, at no place.
    pub fn entry(name: &str, sizes: Vec<Var>, params: Vec<Var>, body: Expr) -> Function {
        let result = body.ty().clone();
        Function { name: name.into(), doc: None, sizes, params, result, body, is_entry: true, span: Span::NONE, labels: Vec::new() }
    }
}

/// All functions, callees before callers.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub functions: indexmap::IndexMap<Rc<str>, Function>,
}

impl Program {
    /// The named functions and those that they call, directly or not.
    pub fn reachable(&self, from: impl IntoIterator<Item = Rc<str>>) -> HashSet<Rc<str>> {
        let mut found = HashSet::new();
        let mut next: Vec<Rc<str>> = from.into_iter().collect();
        while let Some(name) = next.pop() {
            if let (Some(function), true) = (self.functions.get(&name), found.insert(name)) {
                function.body.each_call(&mut |callee| next.push(callee.clone()));
            }
        }
        found
    }

    /// The entries and the functions that they call, directly or not.
    pub fn without_unreachable(mut self) -> Program {
        let entries = self.functions.values().filter(|function| function.is_entry).map(|function| function.name.clone());
        let needed = self.reachable(entries);
        self.functions.retain(|name, _| needed.contains(name));
        self
    }

    /// The functions that call themselves, directly or not: recursion that is no loop.
    pub fn recursive(&self) -> HashSet<Rc<str>> {
        let calls = |function: &Function| {
            let mut callees = HashSet::new();
            function.body.each_call(&mut |callee| _ = callees.insert(callee.clone()));
            (function.name.clone(), callees)
        };
        let calls: HashMap<Rc<str>, HashSet<Rc<str>>> = self.functions.values().map(calls).collect();
        let calls_itself = |name: &&Rc<str>| {
            let (mut seen, mut next) = (HashSet::new(), vec![*name]);
            while let Some(caller) = next.pop() {
                next.extend(calls.get(caller).into_iter().flatten().filter(|callee| seen.insert(*callee)));
            }
            seen.contains(*name)
        };
        calls.keys().filter(calls_itself).cloned().collect()
    }

    /// Sorts functions topologically, callees first; members of a recursive group keep their order.
    pub fn put_callees_first(&mut self) {
        fn visit<'p>(program: &'p Program, name: &'p Rc<str>, seen: &mut HashSet<&'p Rc<str>>, order: &mut Vec<Rc<str>>) {
            let Some((name, function)) = program.functions.get_key_value(name) else { return };
            if !seen.insert(name) {
                return;
            }
            let mut callees = Vec::new();
            function.body.each_call(&mut |callee| callees.push(callee.clone()));
            for callee in callees {
                if let Some((callee, _)) = program.functions.get_key_value(&callee) {
                    visit(program, callee, seen, order);
                }
            }
            order.push(name.clone());
        }
        let (mut seen, mut order) = (HashSet::new(), Vec::with_capacity(self.functions.len()));
        self.functions.keys().for_each(|name| visit(self, name, &mut seen, &mut order));
        let place: HashMap<Rc<str>, usize> = order.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
        self.functions.sort_by_key(|name, _| place.get(name).copied());
    }

    /// A function, then those that it calls and that call it, directly or not.
    pub fn group(&self, name: &Rc<str>) -> Vec<Function> {
        let within = self.reachable([name.clone()]);
        let calls_back = |other: &&Rc<str>| within.contains(*other) && self.reachable([(*other).clone()]).contains(name);
        let others = self.functions.keys().filter(|other| *other != name).filter(calls_back);
        [name].into_iter().chain(others).filter_map(|name| self.functions.get(name).cloned()).collect()
    }

    /// A place whose value has a recursive type in it, and that type.
    pub fn recursive_value(&self) -> Option<(Span, Rc<Recursive>)> {
        self.functions.values().find_map(|function| {
            let in_signature = function.params.iter().map(Var::ty).chain([&function.result]).find_map(Type::recursive);
            in_signature.map(|of| (function.span, of)).or_else(|| recursive_value_in(&function.body, function.span))
        })
    }

    /// The nodes of all bodies, each as often as it is written.
    pub fn node_count(&self) -> usize {
        self.functions.values().fold(0, |nodes, function| nodes.saturating_add(function.body.node_count()))
    }
}

impl Function {
    /// The names inside a parameter.
    pub fn parameter_labels(&self, at: usize) -> &Labels {
        self.labels.get(at).filter(|_| at < self.params.len()).unwrap_or(&Labels::None)
    }

    /// The names inside the result.
    pub fn result_labels(&self) -> &Labels {
        self.labels.get(self.params.len()).unwrap_or(&Labels::None)
    }

    /// The result type for arguments of these types.
    pub fn result_for(&self, args: &[Expr]) -> Type {
        self.type_for(&self.result, args)
    }

    /// A type of the function's own, as its result's, for arguments of these types: sizes are read off the arguments' shapes.
    pub fn type_for(&self, ty: &Type, args: &[Expr]) -> Type {
        let mut sizes: Vec<(Var, Size)> = Vec::new();
        for (param, arg) in self.params.iter().zip(args) {
            if matches!(param.ty(), Type::Index(_) | Type::Bool) {
                sizes.push((param.clone(), Size::of_expr(arg)));
            }
            match_sizes(param.ty(), arg.ty(), &mut sizes);
        }
        ty.map_sizes(&mut |size| {
            size.substitute(&mut |atom| match atom {
                Atom::Var(var) => sizes.iter().find(|(name, _)| name == var).map(|(_, size)| size.clone()),
                Atom::Unknown(_) => Some(Size::unknown()),
                Atom::Term(_) => None,
            })
        })
    }
}

/// Notes what each lone size variable of `param` is in `arg`; the first occurrence decides.
pub fn match_sizes(param: &Type, arg: &Type, sizes: &mut Vec<(Var, Size)>) {
    match (param, arg) {
        (Type::Array(p, size), Type::Array(a, actual)) => {
            if let Some(var) = size.as_var()
                && !sizes.iter().any(|(name, _)| name == var)
            {
                sizes.push((var.clone(), actual.clone()));
            }
            match_sizes(p, a, sizes);
        }
        (Type::Tuple(p), Type::Tuple(a)) => p.iter().zip(a.iter()).for_each(|(p, a)| match_sizes(p, a, sizes)),
        _ => {}
    }
}

/// The first value of a recursive type in a term, whose place is this one where it has none.
fn recursive_value_in(expr: &Expr, around: Span) -> Option<(Span, Rc<Recursive>)> {
    let span = if expr.span().is_none() { around } else { expr.span() };
    match expr.ty().recursive() {
        Some(of) => Some((span, of)),
        None => expr.term().children().find_map(|child| recursive_value_in(child, span)),
    }
}
