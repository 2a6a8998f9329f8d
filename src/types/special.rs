//! Specialisation: the core function for one use of a declaration or of a local function.
//!
//! In: what is applied, and arguments with concrete types. Out: a call. Two uses share one function when
//! their argument types are the same up to the names of sizes and their function arguments are the same.
//! What a body mentions and did not get (captured variables, sizes that no argument's shape tells) become
//! further parameters.

use std::rc::Rc;

use super::OfData;
use super::arguments::{apart, arguments, function_key};
use super::bounded;
use super::canonical::{Actual, Canonical, Needed, has_unknown, lone, ty_mentions};
use super::elaborate::{Elaborator, Result};
use super::infer::Scheme;
use super::lengths::{fits, has_sum};
use super::making::{Ahead, InSums, Making, Recursive, Special};
use super::scope::{Arg, Instance};
use super::told::Told;
use super::ty::Ty;
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Atom, Expr, Function, Name, Size, Term, Type, Var};
use crate::source::Span;

/// What a body needs beside the parameters: further values, and sizes that shapes tell; and what only data says of its lengths.
struct Beside {
    extra: Vec<Var>,
    sizes: Vec<Var>,
    of_data: OfData,
}

/// One parameter of a function to be made: its name, the argument, and the type inside.
pub(super) struct Slot {
    pub name: Name,
    pub arg: Expr,
    pub ty: Type,
}

impl<'a> Elaborator<'a> {
    /// A call of a top-level declaration.
    pub(super) fn apply_global(&mut self, index: usize, instance: &Instance, args: Vec<Arg<'a>>, span: Span) -> Result<Expr> {
        let scheme = self.infer.schemes[index].clone();
        if scheme.broken {
            return Err(super::elaborate::Failed);
        }
        let (patterns, body) = self.declaration(index);
        if patterns.len() != scheme.params.len() {
            // another name for a function
            let scope = self.declaration_scope(index, instance);
            return match self.callable(body, &scope) {
                Some(callable) => self.apply(&callable, args, span),
                None => self.function_as_value(span),
            };
        }
        let (special, slots, canonical) = self.special(index, instance, args, span)?;
        Ok(self.call(&special, slots, &canonical.known, span))
    }

    /// The function for these arguments, the arguments with their types inside, and the sizes.
    pub(super) fn special(
        &mut self,
        index: usize,
        instance: &Instance,
        args: Vec<Arg<'a>>,
        span: Span,
    ) -> Result<(Rc<Special>, Vec<Slot>, Canonical)> {
        let templates: Vec<Ty> = self.infer.schemes[index].params.iter().map(|param| self.infer.holes.resolve(param)).collect();
        let of = self.modules.globals[index].decl.recursion.is_some().then_some(Recursive::Declaration(index));
        self.settled(of, (&templates, args), span, &mut |this, args, lengths| {
            let called = this.declared(index, instance, (args, lengths), span)?;
            let special = called.0.clone();
            Ok((called, special))
        })
    }

    /// As [`Elaborator::special`], with such lengths in the sums among the parameters.
    fn declared(
        &mut self,
        index: usize,
        instance: &Instance,
        (args, lengths): (Vec<Arg<'a>>, InSums),
        span: Span,
    ) -> Result<(Rc<Special>, Vec<Slot>, Canonical)> {
        let scheme = self.infer.schemes[index].clone();
        let scope = self.declaration_scope(index, instance);
        let (patterns, body) = self.declaration(index);
        let params: Vec<Ty> = scheme.params.iter().map(|param| self.infer.holes.resolve(param)).collect();
        let mut actual = Actual::default();
        let args: Vec<Arg<'a>> = args
            .into_iter()
            .map(|arg| match arg {
                // so that other arguments can be compared with its sizes
                Arg::Value(value) if has_unknown(value.ty()) => Arg::Value(self.name("a", value)),
                Arg::Value(_) | Arg::Function(_) => arg,
            })
            .collect();
        for ((param, arg), value) in params.iter().zip(&args).zip(&scheme.values) {
            if let Arg::Value(arg) = arg {
                let ty = arg.ty().map_sizes(&mut |size| self.normal(size));
                actual.read(param, &ty);
                if matches!(param, Ty::Index(_)) || matches!(ty, Type::Index(_)) {
                    actual.sizes.push((Atom::Var(value.clone()), self.size_of(arg)));
                }
            }
        }
        let (values, functions) = apart(args);
        let used: Vec<usize> = values.iter().map(|(at, _)| *at).collect();
        let mut slots = Vec::new();
        for (at, value) in values {
            let wanted = actual.fill(&params[at]);
            let place = if value.span().is_none() { span } else { value.span() };
            let value = self.coerce(value, &wanted, place, "the parameter's type says so")?;
            slots.push(Slot { name: self.name_of_parameter(&patterns[at], at), arg: value, ty: wanted });
        }
        let (of, function_keys) = (Recursive::Declaration(index), function_key(&functions));
        // one that has room in sums, and calls of it inside, is another function
        let around = self.making.iter().rev().find(|around| around.is(of, &function_keys)).map(|around| around.lengths);
        let with_room = if [Some(lengths), around].contains(&Some(InSums::Shared)) { "with room" } else { "" };
        let base_key = format!("g{index} {instance:?} {function_keys}{with_room}");
        // what a function captured knows sizes by their names outside
        let exact = !functions.is_empty();
        let (mut canonical, mut vars) =
            (Canonical::default(), slots.iter().map(|slot| Var::named(slot.name.clone(), slot.ty.clone())).collect());
        let exact_key = format!("{base_key} {:?}", slots.iter().map(|slot| &slot.ty).collect::<Vec<_>>());
        let key = if exact { exact_key } else { self.general(&mut canonical, &mut vars, &base_key, (&params, &scheme), (&slots, &used)) };
        // a call inside that has other sizes is made for any
        let is_nested = !self.memo.contains_key(&key) && around.is_some();
        let lengths = if is_nested { InSums::Own } else { lengths };
        let (key, exact) = if lengths == InSums::Own {
            canonical = Canonical { any: true, ..Canonical::default() };
            (self.general(&mut canonical, &mut vars, &base_key, (&params, &scheme), (&slots, &used)), false)
        } else {
            (key, exact)
        };
        slots.iter_mut().zip(&vars).for_each(|(slot, var)| slot.ty = var.ty().clone());
        let sizes = |atom: &Atom| -> Option<Size> {
            let position = scheme.values.iter().position(|value| *atom == Atom::Var(value.clone()));
            if let Some(at) = position.and_then(|at| used.iter().position(|used| *used == at)) {
                return Some(Size::var(&vars[at]));
            }
            let size = actual.sizes.iter().find(|(known, _)| known == atom).map(|(_, size)| size.clone())?;
            Some(if exact { size } else { canonical.size(&size) })
        };
        let decl = &self.modules.globals[index].decl;
        let base = decl.name.text.clone();
        let behind_entry = self.has_entry_of_its_own(index);
        let of_main = self.modules.globals[index].file == self.modules.main && !behind_entry;
        let special = match self.memo.get(&key) {
            Some(special) => special.clone(),
            None => {
                if decl.recursion.is_some() {
                    self.begin(Making::new((of, &key), &functions, decl.span, lengths), &base, span)?;
                }
                let mut scope = scope;
                for atom in &scheme.sizes {
                    if let (Atom::Var(var), Some(size)) = (atom, sizes(atom)) {
                        scope.sizes = scope.sizes.with(var.name(), size);
                    }
                }
                for (at, value) in scheme.values.iter().enumerate() {
                    if used.contains(&at)
                        && let Some(size) = sizes(&Atom::Var(value.clone()))
                        && scope.sizes.get(value.name()).is_none()
                    {
                        scope.sizes = scope.sizes.with(value.name(), size);
                    }
                }
                let written: Vec<Rc<str>> = patterns.iter().flat_map(super::annotation::written_sizes).collect();
                let declared: Vec<Var> = written.iter().filter_map(|size| scope.sizes.get(size)?.as_var().cloned()).collect();
                let ahead = decl
                    .recursion
                    .as_ref()
                    .and_then(|recursion| self.ahead(&key, (&scheme.result, decl.result.as_ref()?), Some(recursion), &scope));
                let special = self.make((&base, of_main), vars, ahead, (decl.doc.clone(), decl.span), &mut |this, vars| {
                    this.local.declared.clone_from(&declared);
                    let guard = |(var, at): (&Var, &usize)| {
                        let value = Expr::var(var);
                        if behind_entry { value } else { this.guarded_parameter(value, &params[*at]) }
                    };
                    let values = vars.iter().zip(&used).map(guard).collect();
                    let args = arguments(patterns.len(), values, &used, &functions);
                    let scope = this.bind_arguments(patterns, args, scope.clone())?;
                    let value = this.expr(body, &scope)?;
                    this.declared_result(value, decl.result.as_ref(), &scope, body.span)
                });
                let special = if decl.recursion.is_some() { self.end(special) } else { special }?;
                self.measure(&special, decl.recursion.as_ref());
                if used.len() == patterns.len() && special.extra.is_empty() && special.name == base {
                    self.plain.insert(base);
                }
                self.memo.insert(key, special.clone());
                special
            }
        };
        Ok((special, slots, canonical))
    }

    /// The parameters of a function for any sizes, those of the arguments as far as they say the same; and its key.
    fn general(
        &self,
        canonical: &mut Canonical,
        vars: &mut Vec<Var>,
        key: &str,
        (params, scheme): (&[Ty], &Scheme),
        (slots, used): (&[Slot], &[usize]),
    ) -> String {
        vars.clear();
        for (slot, at) in slots.iter().zip(used) {
            let var = Var::named(slot.name.clone(), slot.ty.clone());
            if let (Type::Index(_), value) = (&slot.ty, &scheme.values[*at])
                && params.iter().chain([&scheme.result]).any(|ty| ty_mentions(&self.infer.holes.resolve(ty), value))
            {
                canonical.known.push((self.size_of(&slot.arg), var.clone()));
                canonical.key += &format!("{at}={};", canonical.known.len());
            }
            vars.push(var);
        }
        for (slot, at) in slots.iter().zip(used) {
            canonical.declare(&slot.ty, &params[*at]);
        }
        let types: Vec<Type> = slots.iter().zip(used).map(|(slot, at)| canonical.lengths(&slot.ty, &params[*at], &slot.name)).collect();
        let types: Vec<Type> = types.iter().map(|ty| canonical.bounds(ty)).collect();
        let key = format!("{key} {types:?} {}", canonical.key);
        for (var, ty) in vars.iter_mut().zip(types) {
            *var = var.retyped(ty);
        }
        canonical.anonymous(&key, vars)
    }

    /// Makes a core function: its body, then what the body needs beside the parameters. The body of a recursive one is made until
    /// its calls of itself pass all that it needs: twice at most; and once more where the values that it ends with have lengths that
    /// its declaration does not say.
    pub(super) fn make(
        &mut self,
        (base, of_main): (&str, bool),
        params: Vec<Var>,
        ahead: Option<Ahead>,
        (doc, span): (Option<String>, Span),
        body: &mut dyn FnMut(&mut Self, &[Var]) -> Result<Expr>,
    ) -> Result<Rc<Special>> {
        let Some(Ahead { key, template, result: open, measure }) = ahead else {
            let mut told = Told::Nothing;
            let made = self.made(&params, &mut |this, params| {
                let body = body(this, params)?;
                told = this.told(&body);
                Ok(body)
            });
            let (body, Beside { extra, sizes, of_data }) = made?;
            let name = self.unique(base, of_main);
            let result = body.ty().clone();
            let given = [params.as_slice(), &extra, &sizes];
            let told = told.map(&mut |size| if is_of(size, &given) { size.clone() } else { Size::unknown() });
            let special = Special { name, params, extra, result, value: told, is_checked: false, passed: Rc::default() };
            let function = special.function(sizes, body, doc, span);
            return Ok(self.add(special, function, of_data));
        };
        let before = self.functions();
        let said = self.diagnostics.len();
        // inside of another attempt one attempt is enough
        let is_tried = self.is_trying;
        // whether the lengths of the values that it ends with change from call to call
        let mut changes = false;
        let (mut extra, mut result, mut is_settled) = (Vec::new(), open.clone(), !has_unknown(&open));
        loop {
            let name = self.unique(base, of_main);
            let special = Special {
                name,
                params: params.clone(),
                extra: extra.clone(),
                result: result.clone(),
                value: Told::Nothing,
                is_checked: false,
                passed: Rc::default(),
            };
            self.memo.insert(key.clone(), Rc::new(special));
            self.is_trying = is_tried || !is_settled;
            let made = self.made(&params, &mut |this, params| {
                this.local.is_recursive = true;
                body(this, params)
            });
            self.is_trying = is_tried;
            if let (Ok((body, beside)), Some(special)) = (&made, self.memo.get(&key).cloned())
                && beside.extra == extra
            {
                let found = match is_settled {
                    true if fits(body.ty(), &result) => result.clone(),
                    true => {
                        changes = has_sum(&template);
                        open.clone()
                    }
                    false => {
                        let given = [params.as_slice(), &extra, &beside.sizes];
                        self.result(&template, (&params, &open), (body, &special.name), &|size| is_of(size, &given))
                    }
                };
                if is_tried || is_settled && found == result {
                    let mut of_data = beside.of_data.clone();
                    of_data.choices.extend(changes.then_some(body.span()));
                    let body = Expr::with_type(body.term().clone(), found.clone(), body.span());
                    let special = Special { result: found, ..(*special).clone() };
                    let mut function = special.function(beside.sizes.clone(), body, doc, span);
                    let (value, is_checked) = bounded::lengths(&mut function, measure.as_deref(), &|body| self.with_told_calls(body));
                    return Ok(self.add(Special { value, is_checked, ..special }, function, of_data));
                }
                result = found;
                is_settled = true;
            }
            // such lengths need not be those of its calls
            let made = match made {
                Err(_) if result != open || !is_settled => {
                    self.diagnostics.truncate(said);
                    (result, is_settled) = (open.clone(), true);
                    None
                }
                made => Some(made?),
            };
            self.keep(&before);
            extra = made.map_or(extra, |(_, beside)| beside.extra);
        }
    }

    /// A function's body, and what it needs beside the parameters.
    fn made(&mut self, params: &[Var], body: &mut dyn FnMut(&mut Self, &[Var]) -> Result<Expr>) -> Result<(Expr, Beside)> {
        let facts = self.with_lengths_of(params);
        let outer = std::mem::take(&mut self.local);
        self.local.facts = facts;
        params.iter().for_each(|param| self.note(param));
        let body = self.scoped(|this| body(this, params));
        let of_data = std::mem::replace(&mut self.local, outer).of_data;
        let body = body?;
        let mut needed = Needed::default();
        needed.expr(&body);
        needed.ty(body.ty());
        let mut extra: Vec<Var> = needed.free.iter().filter(|var| !params.contains(var) && !needed.bound.contains(var)).cloned().collect();
        let mut of_params = Needed::default();
        params.iter().for_each(|param| of_params.ty(param.ty()));
        extra.extend(of_params.free.into_iter().filter(|var| !extra.contains(var) && !params.contains(var)).collect::<Vec<_>>());
        // the types of captured variables may need more sizes
        let mut at = 0;
        while let Some(var) = extra.get(at).cloned() {
            let mut types = Needed::default();
            types.ty(var.ty());
            extra.extend(types.free.into_iter().filter(|var| !extra.contains(var) && !params.contains(var)).collect::<Vec<_>>());
            at += 1;
        }
        // what stands alone as a length of some parameter is read off its shape
        let mut sizes: Vec<Var> = Vec::new();
        for ty in params.iter().chain(&extra).map(|var| var.ty()) {
            lone(ty, &mut |var| {
                if !params.contains(var) && !sizes.contains(var) && extra.contains(var) {
                    sizes.push(var.clone());
                }
            });
        }
        extra.retain(|var| !sizes.contains(var));
        Ok((body, Beside { extra, sizes, of_data }))
    }

    /// A term with what calls give as sizes in their place.
    fn with_told_calls(&self, expr: &Expr) -> Expr {
        let expr = map_children(expr, &mut |child| self.with_told_calls(child));
        let Term::Call(name, args) = expr.term() else { return expr };
        let special = self.memo.values().find(|special| special.name == *name);
        let told = special.and_then(|special| {
            let value = special.value.size().filter(|size| is_of(size, &[&special.params]))?.to_expr()?;
            let values: Vec<(Var, Expr)> = special.params.iter().cloned().zip(args.iter().cloned()).collect();
            Some(substitute(&value, &values).at(expr.span()))
        });
        told.filter(|told| told.ty() == expr.ty()).unwrap_or(expr)
    }

    fn add(&mut self, special: Special, function: Function, of_data: OfData) -> Rc<Special> {
        self.of_data.insert(special.name.clone(), of_data);
        self.program.functions.insert(special.name.clone(), crate::ir::subst::freshen_function(&function));
        Rc::new(special)
    }

    pub(super) fn call(&mut self, special: &Special, slots: Vec<Slot>, canonical: &[(Size, Var)], span: Span) -> Expr {
        let values: Vec<(Var, Size)> = special
            .params
            .iter()
            .zip(&slots)
            .filter(|(_, slot)| matches!(slot.ty, Type::Index(_) | Type::Bool))
            .map(|(param, slot)| (param.clone(), self.size_of(&slot.arg)))
            .collect();
        let mut args: Vec<Expr> = slots.into_iter().map(|slot| slot.arg).collect();
        args.extend(special.extra.iter().map(Expr::var));
        // sizes of a memoised function have the names of its first use: read them off the arguments
        let mut lengths: Vec<(Var, Size)> = Vec::new();
        for (param, arg) in special.params.iter().zip(&args) {
            crate::ir::program::match_sizes(param.ty(), arg.ty(), &mut lengths);
        }
        let mut unknown: Vec<(u32, Size)> = Vec::new();
        let mut outside = |size: &Size| {
            size.substitute(&mut |atom| match atom {
                Atom::Var(var) => {
                    let known = values.iter().chain(&lengths).find(|(name, _)| name == var).map(|(_, size)| size.clone());
                    known.or_else(|| canonical.iter().find(|(_, name)| name == var).map(|(size, _)| size.clone()))
                }
                Atom::Unknown(id) => Some(match unknown.iter().find(|(known, _)| known == id) {
                    Some((_, size)) => size.clone(),
                    None => {
                        let size = Size::unknown();
                        unknown.push((*id, size.clone()));
                        size
                    }
                }),
                Atom::Term(_) => None,
            })
        };
        let result = special.result.map_sizes(&mut outside);
        let told = special.value.map(&mut outside).map(&mut |size| self.normal(size));
        if let Some(value) = told.size().filter(|_| !special.is_checked).and_then(Size::to_expr) {
            // the arguments are still evaluated: they may fail
            for (param, arg) in special.params.iter().zip(args) {
                self.name(param.full_name().clone(), arg);
            }
            return value.at(span);
        }
        let result = result.map_sizes(&mut |size| self.normal(size));
        let call = Expr::with_type(Term::Call(special.name.clone(), args), result, span);
        if told.is_nothing() {
            return call;
        }
        let named = self.name("t", call);
        if let Term::Var(var) = named.term() {
            self.tell(var, told);
        }
        named
    }

    /// A function name that is not taken: `base`, `base_2`, … The main file's names are kept for its own
    /// declarations.
    pub(super) fn unique(&mut self, base: &str, of_main: bool) -> Rc<str> {
        let mut name: Rc<str> = base.into();
        let mut count = 1;
        let reserved = |name: &str| {
            let mut main = self.modules.main_globals();
            main.any(|index| *self.modules.globals[index].decl.name.text == *name) || self.promised.iter().any(|promised| promised == name)
        };
        while self.taken.contains(&name) || ((count > 1 || !of_main) && reserved(&name)) {
            count += 1;
            name = format!("{base}_{count}").into();
        }
        self.taken.insert(name.clone());
        name
    }
}

/// Whether a size is known and of nothing but these variables.
fn is_of(size: &Size, given: &[&[Var]]) -> bool {
    let mut is_of = !size.has_unknown();
    size.each_var(&mut |var| is_of &= given.iter().any(|vars| vars.contains(var)));
    is_of
}
