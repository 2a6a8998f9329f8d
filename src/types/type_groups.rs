//! Which type declarations contain each other, themselves included.
//!
//! In: the type declarations of all files. Out: groups of those that are reached from each other by the names in them, and a
//! [`Recursive`] for each sum type in a group, by which others have it.
//!
//!     type Expr = | Const of Double | Let of Binding
//!     type Binding = { value: Expr; body: Expr }      both are of one group, and Expr is recursive

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::modules::Modules;
use crate::ir::Recursive;
use crate::source::Span;
use crate::syntax::ast::{TypeBody, TypeDecl, TypeExpr, TypeExprKind};

/// The declarations that contain each other.
#[derive(Default)]
pub(super) struct Groups {
    /// For each declaration of [`Modules::types`] the first of its group, where it contains itself.
    group: Vec<Option<usize>>,
    /// Those of a declaration's file that it names.
    names: Vec<Vec<usize>>,
    /// The sum types among them, by the place of their names.
    recursive: HashMap<Span, Rc<Recursive>>,
}

impl Groups {
    pub(super) fn of(modules: &Modules) -> Groups {
        let declared: HashMap<(usize, &str), usize> =
            modules.types.iter().enumerate().rev().map(|(at, global)| ((global.file, &*global.decl.name.text), at)).collect();
        let names: Vec<Vec<usize>> = (modules.types.iter())
            .map(|global| {
                let mut found = Vec::new();
                for (_, ty) in global.decl.body.members() {
                    ty.into_iter().for_each(|ty| each_name(ty, &mut |name| found.extend(declared.get(&(global.file, name)))));
                }
                found
            })
            .collect();
        let mut named_by = vec![Vec::new(); names.len()];
        names.iter().enumerate().for_each(|(at, names)| names.iter().for_each(|name| named_by[*name].push(at)));
        let mut group = vec![None; names.len()];
        for at in 0..names.len() {
            // what contains itself has a name that is not declared above
            if group[at].is_some() || !names[at].iter().any(|name| *name >= at) {
                continue;
            }
            let (below, above) = (reached(&names, at), reached(&named_by, at));
            let both: Vec<usize> = below.intersection(&above).copied().collect();
            let first = both.iter().min().copied();
            both.into_iter().for_each(|member| group[member] = first);
        }
        let sums =
            modules.types.iter().zip(&group).filter(|(global, group)| group.is_some() && matches!(global.decl.body, TypeBody::Sum(_)));
        let recursive = sums.map(|(global, _)| (global.decl.name.span, Recursive::declare(&global.decl.name.text))).collect();
        Groups { group, names, recursive }
    }

    /// The type that a declaration makes, where it is a sum type that contains itself.
    pub(super) fn recursive(&self, decl: &TypeDecl) -> Option<Rc<Recursive>> {
        self.recursive.get(&decl.name.span).cloned()
    }

    /// Whether a declaration is in a group.
    pub(super) fn contains_itself(&self, at: usize) -> bool {
        self.contain_each_other(at, at)
    }

    /// The declarations of its file that a declaration names.
    pub(super) fn names(&self, at: usize) -> Option<&[usize]> {
        self.names.get(at).map(Vec::as_slice)
    }

    /// Whether two declarations contain each other.
    pub(super) fn contain_each_other(&self, at: usize, other: usize) -> bool {
        let group = |at: usize| self.group.get(at).copied().flatten();
        group(at).is_some() && group(at) == group(other)
    }
}

/// What is at the end of one step or more.
fn reached(steps: &[Vec<usize>], from: usize) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut next = vec![from];
    while let Some(at) = next.pop() {
        next.extend(steps.get(at).into_iter().flatten().filter(|to| found.insert(**to)));
    }
    found
}

/// Calls `f` on each declared name in a type.
fn each_name<'a>(ty: &'a TypeExpr, f: &mut dyn FnMut(&'a str)) {
    match &ty.kind {
        TypeExprKind::Named(name, _) => f(&name.text),
        TypeExprKind::Array(element, _) => each_name(element, f),
        TypeExprKind::Tuple(parts) => parts.iter().for_each(|part| each_name(part, f)),
        TypeExprKind::Fun(params, result) => {
            params.iter().for_each(|param| each_name(param, f));
            each_name(result, f);
        }
        TypeExprKind::Double | TypeExprKind::Bool | TypeExprKind::Index(_) | TypeExprKind::Any => {}
    }
}
