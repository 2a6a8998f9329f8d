//! Lengths in sums that the calls of a recursive function pass on.
//!
//! In: a call of a recursive function, and how the function is made for such arguments. Out: the function and the call. Where calls inside
//! pass sums of other lengths than the call from outside, lengths in sums are the function's own: each call may have others. In emitted
//! code they are those on which all calls agree that pass a value of the case, and the other values have room for it.
//!
//!     let rec go (s: Fit) (i: Index) : Double = … go (Some (2.0 * v)) (i + 1) … in go None 0   →   `None` is as long as v

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::OfData;
use super::arguments::{apart, function_key, values};
use super::canonical::has_unknown;
use super::elaborate::{Elaborator, Failed, Result};
use super::lengths::{has_sum, in_sums, leaves, part, with_lengths_of_its_own};
use super::making::{InSums, Recursive, Special};
use super::scope::Arg;
use super::ty::Ty;
use crate::ir::program::match_sizes;
use crate::ir::{Atom, Expr, Size, Type, Var, fresh_id};
use crate::source::Span;

/// What makes a function for arguments, and the call of it.
type Make<'m, 'a, T> = &'m mut dyn FnMut(&mut Elaborator<'a>, Vec<Arg<'a>>, InSums) -> Result<(T, Rc<Special>)>;

impl<'a> Elaborator<'a> {
    /// A call of a function, recursive or not, whose parameters have these types.
    pub(super) fn settled<T>(
        &mut self,
        of: Option<Recursive>,
        (templates, args): (&[Ty], Vec<Arg<'a>>),
        span: Span,
        make: Make<'_, 'a, T>,
    ) -> Result<T> {
        let Some(of) = of.filter(|_| templates.iter().any(has_lengths)) else { return Ok(make(self, args, InSums::Given)?.0) };
        let templates: Vec<&Ty> = templates.iter().zip(&args).filter(|(_, arg)| matches!(arg, Arg::Value(_))).map(|(ty, _)| ty).collect();
        let functions = function_key(&apart(args.clone()).1);
        if let Some(at) = self.making.iter().rposition(|around| around.is(of, &functions)) {
            let args = self.pass_on(at, &templates, args)?;
            return Ok(make(self, args, InSums::Given)?.0);
        }
        let (before, mark) = (self.state(), fresh_id());
        let (made, is_other) = self.attempt(&args, InSums::Given, make);
        if !is_other {
            return Ok(made?.0);
        }
        self.go_back(&before);
        let (mut call, special) = self.attempt(&args, InSums::Own, make).0?;
        if let Some(types) = self.agreed_by_calls(&templates, &args, &special, mark) {
            self.go_back(&before);
            let fitted = self.with_lengths_in_sums(&templates, args.clone(), &types);
            if let (Ok((call, _)), false) = self.attempt(&fitted, InSums::Shared, make) {
                return Ok(call);
            }
            self.go_back(&before);
            call = self.attempt(&args, InSums::Own, make).0?.0;
        }
        self.local.of_data.choices.push(span);
        Ok(call)
    }

    /// The call, and whether calls inside of the function pass other lengths in sums than it has.
    fn attempt<T>(&mut self, args: &[Arg<'a>], lengths: InSums, make: Make<'_, 'a, T>) -> (Result<(T, Rc<Special>)>, bool) {
        self.passed = Rc::default();
        let made = make(self, args.to_vec(), lengths);
        let is_other = match &made {
            Ok((_, special)) => special.passed.is_other,
            Err(_) => self.passed.is_other,
        };
        (made, is_other)
    }

    /// The arguments of a call inside of the function that is being made. Where the function has the lengths of its arguments and this call
    /// has others, it is made again, and nothing is lost by ending here.
    fn pass_on(&mut self, at: usize, templates: &[&Ty], args: Vec<Arg<'a>>) -> Result<Vec<Arg<'a>>> {
        let Some(making) = self.making.get(at) else { return Ok(args) };
        let Some(special) = self.memo.get(making.key()).cloned() else { return Ok(args) };
        let lengths = making.lengths;
        // the sizes of a declaration are no sizes of another one
        let is_in_scope = making.is_local() || at + 1 == self.making.len();
        let types: Vec<Type> = special.params.iter().map(|param| param.ty().clone()).collect();
        let args = if lengths == InSums::Shared && is_in_scope { self.with_lengths_in_sums(templates, args, &types) } else { args };
        let mut passed = std::mem::take(&mut self.making[at].passed);
        passed.values.resize(types.len(), Vec::new());
        for (((template, value), param), known) in templates.iter().zip(values(&args)).zip(&special.params).zip(&mut passed.values) {
            if has_lengths(template) {
                passed.is_other |= self.differs(template, value.ty(), param.ty());
                known.extend(leaves(value).iter().map(|value| self.decided(template, value, value.ty())));
            }
        }
        let is_in_vain = passed.is_other && lengths != InSums::Own;
        self.making[at].passed = passed;
        if is_in_vain { Err(Failed) } else { Ok(args) }
    }

    /// The arguments, with these lengths in sums where a value is never of the case.
    fn with_lengths_in_sums(&mut self, templates: &[&Ty], args: Vec<Arg<'a>>, types: &[Type]) -> Vec<Arg<'a>> {
        let mut known = templates.iter().zip(types);
        let fit = |arg| match arg {
            Arg::Value(value) => Arg::Value(match known.next() {
                Some((template, ty)) if has_lengths(template) => self.padded(template, value, ty),
                Some(_) | None => value,
            }),
            Arg::Function(_) => arg,
        };
        args.into_iter().map(fit).collect()
    }

    /// The types of the parameters outside with the lengths on which the calls agree; `None` where they do not.
    fn agreed_by_calls(&mut self, templates: &[&Ty], args: &[Arg<'a>], special: &Special, mark: u32) -> Option<Vec<Type>> {
        if !self.shares_lengths {
            return None;
        }
        let mut outside: Vec<(Var, Size)> = Vec::new();
        special.params.iter().zip(values(args)).for_each(|(param, arg)| match_sizes(param.ty(), arg.ty(), &mut outside));
        let inside = self.with_lengths_of(&special.params);
        let outer = std::mem::replace(&mut self.local.facts, inside);
        let own = special.params.iter().zip(templates).map(|(param, template)| {
            let mut own = Vec::new();
            in_sums(template, param.ty(), param.ty(), &mut |size, _| {
                size.each_var(&mut |var| own.push(var.clone()));
                size.clone()
            });
            own
        });
        let own: Vec<Var> = own.flatten().collect();
        let is_known = |size: &Size| {
            let mut is_known = !size.has_unknown();
            let is_of_caller = |var: &Var| outside.iter().any(|(known, _)| known == var) || var.id() < mark;
            size.each_var(&mut |var| is_known &= is_of_caller(var) && !own.contains(var));
            is_known
        };
        let mut types = Vec::new();
        for (((template, arg), param), passed) in templates.iter().zip(values(args)).zip(&special.params).zip(&special.passed.values) {
            let open = with_lengths_of_its_own(template, param.ty(), &mut Size::unknown);
            let given = leaves(arg).iter().map(|value| self.decided(template, value, param.ty())).collect();
            let ty = self.ends(template, &open, &[passed.clone(), given].concat(), &is_known);
            let ty = ty.map_sizes(&mut |size| {
                size.substitute(&mut |atom| match atom {
                    Atom::Var(var) => outside.iter().find(|(own, _)| own == var).map(|(_, size)| size.clone()),
                    Atom::Term(_) | Atom::Unknown(_) => None,
                })
            });
            types.push(in_sums(template, &ty, arg.ty(), &mut |size, given| if size.has_unknown() { given } else { size }.clone()));
        }
        self.local.facts = outer;
        let fits = types.iter().zip(templates).all(|(ty, template)| !has_lengths(template) || !has_unknown(ty));
        fits.then_some(types)
    }

    /// A value of a type of which nothing is known but the cases that this one always is of.
    fn decided(&self, template: &Ty, value: &Expr, ty: &Type) -> Expr {
        let any = |ty: &Type| Expr::var(&Var::fresh("value", ty.clone()));
        match (template, ty) {
            (Ty::Record(sum, _), Type::Tuple(types)) if sum.is_sum() && sum.fields.len() > 1 => match self.case_of(value) {
                Some(case) => Expr::tuple(std::iter::once(Expr::index(case)).chain(types.iter().skip(1).map(any)).collect()),
                None => any(ty),
            },
            (Ty::Record(_, parts), _) if parts.len() == 1 => parts.first().map_or_else(|| any(ty), |part| self.decided(part, value, ty)),
            (Ty::Tuple(parts) | Ty::Record(_, parts), Type::Tuple(types)) => {
                let inside = |(k, (template, ty)): (usize, (&Ty, &Type))| self.decided(template, &part(value, k), ty);
                Expr::tuple(parts.iter().zip(types.iter()).enumerate().map(inside).collect())
            }
            _ => any(ty),
        }
    }

    /// The functions that are made.
    pub(super) fn functions(&self) -> Functions {
        Functions { memo: self.memo.clone(), taken: self.taken.clone(), count: self.program.functions.len() }
    }

    /// Keeps these functions, and drops those that were made since.
    pub(super) fn keep(&mut self, functions: &Functions) {
        (self.memo, self.taken) = (functions.memo.clone(), functions.taken.clone());
        self.program.functions.truncate(functions.count);
    }

    fn state(&self) -> State {
        State {
            functions: self.functions(),
            diagnostics: self.diagnostics.len(),
            of_data: self.local.of_data.clone(),
            pending: self.local.pending.last().map_or(0, Vec::len),
        }
    }

    fn go_back(&mut self, state: &State) {
        self.keep(&state.functions);
        self.local.of_data.clone_from(&state.of_data);
        self.diagnostics.truncate(state.diagnostics);
        if let Some(pending) = self.local.pending.last_mut() {
            pending.truncate(state.pending);
        }
    }
}

/// The functions that were made until some moment.
pub(super) struct Functions {
    memo: HashMap<String, Rc<Special>>,
    taken: HashSet<Rc<str>>,
    count: usize,
}

/// What elaboration has made so far.
struct State {
    functions: Functions,
    diagnostics: usize,
    of_data: OfData,
    /// The lets and checks of the innermost scope.
    pending: usize,
}

/// Whether a type has arrays in sums.
fn has_lengths(ty: &Ty) -> bool {
    has_sum(ty) && ty.to_core().is_none_or(|core| !core.lengths().is_empty())
}
