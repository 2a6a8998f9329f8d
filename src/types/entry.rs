//! Entries: the core functions that callers outside see.
//!
//! In: a declaration of the main file. Out: the name of its function; its parameters have the declared or inferred types.
//!
//! A recursive function that takes a sum type with an array of a length that is a number has an entry around it, so that what a
//! caller gives (NULL for the array of another case) is looked at once and not in each call:
//!
//!     let rec f (k: Index) (x: V) = …   →   let f (k: Index) (x: V) = f_2 k (x.tag, build 2 (fun i -> if x.tag = 0 then x.a[i] else 0.0), x.b)

use std::rc::Rc;

use super::elaborate::{Elaborator, Result};
use super::scope::{Arg, Instance};
use super::sum::is_guarded;
use super::ty::Ty;
use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Var};

impl Elaborator<'_> {
    /// The function that an entry is: its parameters have the declared or inferred types.
    pub(super) fn entry(&mut self, index: usize, instance: &Instance) -> Result<Rc<str>> {
        let scheme = self.infer.schemes[index].clone();
        let scope = self.declaration_scope(index, instance);
        let mut params = Vec::new();
        for (param, value) in scheme.params.iter().zip(&scheme.values) {
            let ty = self.concrete(param, &scope);
            let Some(ty) = ty.to_core() else {
                let span = self.modules.globals[index].decl.name.span;
                return self.fail(Diagnostic::error("E0307", span, "the type of a parameter is not known").help("annotate the parameter"));
            };
            params.push(value.retyped(ty));
        }
        if self.declaration(index).0.len() != scheme.params.len() {
            return self.alias_entry(index, instance);
        }
        let span = self.modules.globals[index].decl.name.span;
        let outer = std::mem::take(&mut self.local);
        let name = if self.has_entry_of_its_own(index) {
            self.guarded_entry(index, instance, params)
        } else {
            let args = params.iter().map(|param| Arg::Value(Expr::var(param))).collect();
            self.special(index, instance, args, span).map(|(special, ..)| special.name.clone())
        };
        self.local = outer;
        name
    }

    /// Whether a declaration is recursive, and a parameter of it is read only where its case says so.
    pub(super) fn has_entry_of_its_own(&self, index: usize) -> bool {
        let mut params = self.infer.schemes[index].params.iter();
        self.modules.globals[index].decl.recursion.is_some() && params.any(|param| is_guarded(&self.infer.holes.resolve(param)))
    }

    /// A call of a recursive function whose arguments are guarded.
    fn guarded_entry(&mut self, index: usize, instance: &Instance, params: Vec<Var>) -> Result<Rc<str>> {
        let key = format!("entry {index} {instance:?}");
        if let Some(special) = self.memo.get(&key) {
            return Ok(special.name.clone());
        }
        let decl = &self.modules.globals[index].decl;
        let types: Vec<Ty> = self.infer.schemes[index].params.iter().map(|param| self.infer.holes.resolve(param)).collect();
        let special = self.make((&decl.name.text, true), params, None, (decl.doc.clone(), decl.span), &mut |this, vars| {
            let args = vars.iter().zip(&types).map(|(var, ty)| Arg::Value(this.guarded_parameter(Expr::var(var), ty))).collect();
            this.apply_global(index, instance, args, decl.name.span)
        })?;
        self.memo.insert(key, special.clone());
        Ok(special.name.clone())
    }

    /// A function of its own for a declaration that is another name for a built-in or library function.
    fn alias_entry(&mut self, index: usize, instance: &Instance) -> Result<Rc<str>> {
        let scheme = self.infer.schemes[index].clone();
        let scope = self.declaration_scope(index, instance);
        let vars: Vec<Var> = scheme
            .params
            .iter()
            .enumerate()
            .filter_map(|(at, param)| Some(Var::fresh(&format!("arg{}", at + 1), self.concrete(param, &scope).to_core()?)))
            .collect();
        let decl = &self.modules.globals[index].decl;
        let special = self.make((&decl.name.text, true), vars, None, (decl.doc.clone(), decl.span), &mut |this, vars| {
            let args = vars.iter().map(|var| Arg::Value(Expr::var(var))).collect();
            match this.callable(&decl.body, &scope) {
                Some(callable) => this.apply(&callable, args, decl.body.span),
                None => this.function_as_value(decl.body.span),
            }
        })?;
        Ok(special.name.clone())
    }
}
