//! Functions that call themselves, while they are made; and calls of local functions.
//!
//! In: a call inside the body of a recursive function that is being made. Out: the function that it calls: the one that is being
//! made, where its function arguments are the same, or another one. Where each call passes a function that its body makes anew,
//! there would be no end of functions, which is an error.
//!
//!     let rec f (k: Index) (g: Double => Double) : Double = … f (k - 1) g …                  one function for each g
//!     let rec f (k: Index) (g: Double => Double) : Double = … f (k - 1) (fun y -> g (g y)) …  E0316

use std::rc::Rc;

use super::arguments::{apart, arguments, function_key};
use super::elaborate::{Elaborator, Result};
use super::lengths::{in_sums, with_lengths_of_its_own};
use super::making::{Ahead, InSums, Making, Recursive, Special};
use super::scope::{Arg, Closure, Instance, Scope, Siblings};
use super::special::Slot;
use super::ty::Ty;
use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Size, Type, Var};
use crate::source::Span;
use crate::syntax::ast::{LocalFun, Pattern, PatternKind, Recursion, TypeExpr};

/// How often one text may make the function that a call inside passes on: what is passed to a function and back to the first one is
/// made twice.
const TIMES: usize = 2;

/// A recursive function may be made for so many choices of its functions inside each other: all orders of four.
const CHOICES: usize = 24;

impl<'a> Elaborator<'a> {
    /// The scope of the body of a `let` of functions.
    pub(super) fn with_functions(&self, functions: &'a [LocalFun], scope: &Scope<'a>) -> Scope<'a> {
        let siblings = Siblings { functions, ids: functions.iter().map(|_| crate::ir::fresh_id()).collect() };
        Scope { values: siblings.bound(scope, &Instance::default()), ..scope.clone() }
    }

    /// Begins to make a recursive function, unless this goes on without end.
    pub(super) fn begin(&mut self, making: Making, name: &str, span: Span) -> Result<()> {
        let around = match self.making.iter().position(|around| around.of == making.of) {
            Some(first) => &self.making[first..],
            None => &[],
        };
        let endless = making.closures.iter().find(|closure| {
            let times = around.iter().filter(|around| around.of == making.of && around.is_given_anew(**closure)).count();
            times >= TIMES && around.iter().any(|around| around.text.contains(closure.1))
        });
        if let Some((_, text)) = endless {
            let message = format!("each call of `{name}` inside itself is given another function");
            let help = "pass on a parameter as it is, or a declared function; what the function needs can be a parameter of its own";
            return self.fail(Diagnostic::error("E0316", span, message).label(*text, "made anew in each call").help(help));
        }
        if around.iter().filter(|around| around.of == making.of).count() >= CHOICES {
            let message = format!("`{name}` calls itself with more than {CHOICES} choices of its functions");
            let help = "pass the functions on in the same order, or choose among them by a parameter that is an Index";
            return self.fail(Diagnostic::error("E0316", span, message).help(help));
        }
        self.making.push(making);
        Ok(())
    }

    /// Ends what `begin` began: what the function's calls of itself pass on is known.
    pub(super) fn end(&mut self, special: Result<Rc<Special>>) -> Result<Rc<Special>> {
        self.passed = self.making.pop().map(|making| Rc::new(making.passed)).unwrap_or_default();
        Ok(Rc::new(special?.passing(self.passed.clone())))
    }

    /// What a recursive function's callers need to know before its body is there.
    pub(super) fn ahead(
        &self,
        key: &str,
        (result, written): (&Ty, &TypeExpr),
        recursion: Option<&Recursion>,
        scope: &Scope<'a>,
    ) -> Option<Ahead> {
        let template = self.concrete(result, scope);
        let open = template.to_core()?.map_sizes(&mut |_| Size::unknown());
        let measure = recursion.and_then(|recursion| recursion.decreases.as_ref()).map(|measure| measure.text.to_string());
        Some(Ahead { key: key.to_string(), template, result: self.wanted(&open, written, &mut scope.clone()), measure })
    }

    /// Remembers the parameter that `decreases` names.
    pub(super) fn measure(&mut self, special: &Special, recursion: Option<&Recursion>) {
        let measure = recursion.and_then(|recursion| recursion.decreases.as_ref());
        let named = |param: &&Var| measure.is_some_and(|measure| measure.text == *param.name());
        let made = self.program.functions.get(&special.name);
        self.measures.extend(made.and_then(|made| made.params.iter().find(named)).cloned());
    }

    /// A call of a local function, or of a `fun` that is expanded no further.
    pub(super) fn apply_closure(&mut self, closure: &Rc<Closure<'a>>, args: Vec<Arg<'a>>, span: Span) -> Result<Expr> {
        let of = closure.recursion.as_ref().map(|_| Recursive::Local(closure.id));
        let templates: Vec<Ty> = closure.params.iter().map(|param| self.template(param, &closure.scope)).collect();
        let (special, slots) = self.settled(of, (&templates, args), span, &mut |this, args, lengths| {
            let (special, slots) = this.local(closure, (args, lengths), &templates, span)?;
            Ok(((special.clone(), slots), special))
        })?;
        Ok(self.call(&special, slots, &[], span))
    }

    /// The type that a parameter is declared with.
    fn template(&self, param: &Pattern, scope: &Scope<'a>) -> Ty {
        match &param.kind {
            PatternKind::Typed(_, ty) => self.infer.annotations.get(&ty.span).map_or(Ty::Double, |ty| self.concrete(ty, scope)),
            PatternKind::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| self.template(part, scope)).collect()),
            PatternKind::Var(_)
            | PatternKind::Wildcard
            | PatternKind::Record(_)
            | PatternKind::Case(..)
            | PatternKind::Int(_)
            | PatternKind::Bool(_) => Ty::Double,
        }
    }

    /// The function for these arguments with such lengths in sums, and the arguments with their types inside.
    fn local(
        &mut self,
        closure: &Rc<Closure<'a>>,
        (args, lengths): (Vec<Arg<'a>>, InSums),
        templates: &[Ty],
        span: Span,
    ) -> Result<(Rc<Special>, Vec<Slot>)> {
        let (values, functions) = apart(args);
        let used: Vec<usize> = values.iter().map(|(at, _)| *at).collect();
        let slot = |(at, value): (usize, Expr)| {
            let ty = value.ty().map_sizes(&mut |size| self.normal(size));
            let name = self.name_of_parameter(&closure.params[at], at);
            let mut own = || Size::var(&Var::fresh(&format!("{}_n", &*name), Type::INDEX));
            let ty = if lengths == InSums::Own { with_lengths_of_its_own(&templates[at], &ty, &mut own) } else { ty };
            Slot { name, arg: value, ty }
        };
        let mut slots: Vec<Slot> = values.into_iter().map(slot).collect();
        let of = Recursive::Local(closure.id);
        let types: Vec<&Type> = slots.iter().map(|slot| &slot.ty).collect();
        let function_keys = function_key(&functions);
        let mut key = format!("c{} {:?} {types:?} {function_keys}", closure.id, closure.instance);
        if closure.recursion.is_some() {
            // inside, it has the sizes that it is called with from outside, but in sums
            let around = self.making.iter().rev().find(|around| around.is(of, &function_keys));
            let around = around.map(|making| making.key().to_string());
            if let Some(special) = around.as_ref().and_then(|key| self.memo.get(key)).cloned() {
                for ((slot, param), at) in slots.iter_mut().zip(&special.params).zip(&used) {
                    let place = if slot.arg.span().is_none() { span } else { slot.arg.span() };
                    let value = std::mem::replace(&mut slot.arg, Expr::index(0));
                    let wanted = in_sums(&templates[*at], param.ty(), value.ty(), &mut |_, own| own.clone());
                    slot.arg = self.coerce(value, &wanted, place, "a local recursive function keeps the sizes of its parameters")?;
                    slot.ty = param.ty().clone();
                }
            }
            key = around.unwrap_or(key);
        }
        let special = match self.memo.get(&key) {
            Some(special) => special.clone(),
            None => {
                let vars = slots.iter().map(|slot| Var::named(slot.name.clone(), slot.ty.clone())).collect();
                let base = closure.name.clone().unwrap_or_else(|| "fun".into());
                let mut scope = closure.scope.clone();
                if let Some(siblings) = &closure.recursion {
                    scope.values = siblings.bound(&closure.scope, &closure.instance);
                    self.begin(Making::new((of, &key), &functions, closure.body.span, lengths), &base, span)?;
                }
                let ahead = match closure.result {
                    Some(result) if closure.recursion.is_some() => {
                        let ty = self.infer.annotations.get(&result.span).cloned();
                        ty.and_then(|ty| self.ahead(&key, (&ty, result), closure.written(), &closure.scope))
                    }
                    Some(_) | None => None,
                };
                let special = self.make((&base, false), vars, ahead, (None, closure.body.span), &mut |this, vars| {
                    let values = vars.iter().map(Expr::var).collect();
                    this.expand(closure, arguments(closure.params.len(), values, &used, &functions), scope.clone())
                });
                let special = if closure.recursion.is_some() { self.end(special) } else { special }?;
                self.measure(&special, closure.written());
                self.memo.insert(key, special.clone());
                special
            }
        };
        Ok((special, slots))
    }
}
