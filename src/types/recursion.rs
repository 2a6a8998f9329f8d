//! Type declarations that contain themselves, and the order in which declarations are read.
//!
//! In: the type declarations of all files, and which of them contain each other (`type_groups`). Out: the records, each after those that
//! it is made of; for each sum type that contains itself, directly or through others of its file, what its [`Recursive`] is when it is
//! unrolled. A record is its fields wherever it stands, so one that contains itself without a sum type between is an error.
//!
//!     type Expr = | Const of Double | Let of Binding      Expr is recursive, Binding is read first:
//!     type Binding = { value: Expr; body: Expr }          { value: Expr; body: Expr }
//!
//! Limits: only types that contain each other may be used before they are declared, and a recursive type has no sizes of its own.

use std::rc::Rc;

use super::infer::Infer;
use super::record::labels;
use super::ty::{Record, Ty};
use super::type_groups::Groups;
use crate::diagnostic::Diagnostic;
use crate::ir::Recursive;
use crate::syntax::ast::{Name, TypeBody};

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
        let first: Vec<usize> = match self.groups.names(at).filter(|_| self.groups.contains_itself(at)) {
            Some(names) => {
                names.iter().copied().filter(is_whole).filter(|name| *name < at || self.groups.contain_each_other(at, *name)).collect()
            }
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

    /// What a name means in the declaration that is read, where both contain each other.
    pub(super) fn in_group(&mut self, name: &Name) -> Option<Ty> {
        let at = self.declaring?;
        let meant = |to: &usize| self.modules.types.get(*to).is_some_and(|global| global.decl.name.text == name.text);
        let other = self.groups.names(at)?.iter().copied().find(meant).filter(|other| self.groups.contain_each_other(at, *other))?;
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
