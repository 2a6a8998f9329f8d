//! Type declarations that contain themselves, and the order in which declarations are read.
//!
//! In: the type declarations of all files. Out: for each sum type that contains itself, directly or through others of its file, a
//! [`Recursive`], by which others have it; the records, each after those that it is made of. A record is its fields wherever it stands,
//! so one that contains itself without a sum type between is an error.
//!
//!     type Expr = | Const of Double | Let of Binding      Expr is recursive, Binding is read first:
//!     type Binding = { value: Expr; body: Expr }          { value: Expr; body: Expr }
//!
//! Limits: only types that contain each other may be used before they are declared, and a recursive type has no sizes of its own.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::infer::Infer;
use super::modules::Modules;
use super::record::labels;
use super::ty::{Record, Ty};
use crate::diagnostic::Diagnostic;
use crate::ir::Recursive;
use crate::source::Span;
use crate::syntax::ast::{Name, TypeBody, TypeDecl, TypeExpr, TypeExprKind};

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

impl Infer<'_> {
    /// The records and sum types of all files.
    pub(super) fn declare_types(&mut self) {
        self.groups = Groups::of(self.modules);
        let count = self.modules.types.len();
        let (mut begun, mut places) = (vec![false; count], Vec::new());
        (0..count).for_each(|at| self.declare_type(at, &mut begun, &mut places));
        self.declaring = None;
        // the last declared comes first where several are meant
        let mut in_order: Vec<(usize, Rc<Record>)> = places.into_iter().zip(std::mem::take(&mut self.records)).collect();
        in_order.sort_by_key(|(at, _)| *at);
        self.records = in_order.into_iter().map(|(_, record)| record).collect();
        let recursive = self.records.iter().filter_map(|record| {
            let whole = Ty::Record(record.clone(), record.parts.clone().into());
            Some((record.recursive.clone()?, whole.to_core()?, labels(&whole)))
        });
        Recursive::define(recursive.collect());
    }

    /// Reads a declaration after those of its group that it is made of.
    fn declare_type(&mut self, at: usize, begun: &mut [bool], places: &mut Vec<usize>) {
        let modules = self.modules;
        let Some(global) = modules.types.get(at) else { return };
        if begun.get_mut(at).is_none_or(|begun| std::mem::replace(begun, true)) {
            return;
        }
        let is_whole = |name: &usize| modules.types.get(*name).is_some_and(|global| self.groups.recursive(&global.decl).is_none());
        let is_in_group = self.groups.group.get(at).is_some_and(Option::is_some);
        let first: Vec<usize> = match self.groups.names.get(at).filter(|_| is_in_group) {
            Some(names) => names.iter().copied().filter(is_whole).filter(|name| *name < at || self.is_beside(at, *name)).collect(),
            None => Vec::new(),
        };
        first.into_iter().for_each(|name| self.declare_type(name, begun, places));
        (self.file, self.declaring) = (global.file, Some(at));
        self.no_built_in(&global.decl.name);
        if let (Some(of), [size, ..]) = (self.groups.recursive(&global.decl), global.decl.sizes.as_slice()) {
            let message = format!("unsupported: the recursive type `{}` has sizes of its own", of.name());
            self.report(
                Diagnostic::error("E0113", size.span, message).help("leave them out: each value's arrays have lengths of their own"),
            );
        }
        let record = match &global.decl.body {
            TypeBody::Record(fields) => self.record(&global.decl, fields, global.file),
            TypeBody::Sum(cases) => self.sum(&global.decl, cases, global.file),
        };
        self.records.push(Rc::new(record));
        places.push(at);
    }

    /// Whether two declarations contain each other.
    fn is_beside(&self, at: usize, other: usize) -> bool {
        let group = |at: usize| self.groups.group.get(at).copied().flatten();
        group(at).is_some() && group(at) == group(other)
    }

    /// What a name means in the declaration that is read, where both contain each other.
    pub(super) fn in_group(&mut self, name: &Name) -> Option<Ty> {
        let at = self.declaring?;
        let meant = |to: &usize| self.modules.types.get(*to).is_some_and(|global| global.decl.name.text == name.text);
        let other = self.groups.names.get(at)?.iter().copied().find(meant).filter(|other| self.is_beside(at, *other))?;
        let decl = &self.modules.types.get(other)?.decl;
        if let Some(of) = self.groups.recursive(decl) {
            return Some(Ty::Rec(of));
        }
        let record = self.records.iter().find(|record| record.name.span == decl.name.span).cloned();
        if let Some(record) = record {
            return Some(self.fresh_record(&record).0);
        }
        let message = format!("the record `{}` contains itself", name.text);
        let help = format!("a sum type between ends it: `type Next = | End | More of {}`", name.text);
        self.report(Diagnostic::error("E0113", name.span, message).label(decl.name.span, "declared here").help(help));
        Some(self.fresh_type())
    }

    /// The declaration of a recursive type.
    pub(super) fn record_of(&self, of: &Recursive) -> Option<Rc<Record>> {
        self.records.iter().find(|record| record.recursive.as_deref() == Some(of)).cloned()
    }
}
