//! The free variables of a term, kept with its node.
//!
//! In: a term. Out: its free variables, each once, by their numbers; those in sizes of types are not among them.
//! A node's list is merged from its subterms' when somebody first asks for it, and then stays: rules ask the same of
//! large terms again and again.
//!
//!     build(n, i. a * v[i])   →   a, n, v
//!
//! A long list becomes a set that shares its memory with those of the subterms, so that a thousand lets that are all used at
//! the end take no quadratic room.

use std::cmp::Ordering;
use std::rc::Rc;

use super::term::{Expr, FreeVars, Term, Type, Var, VarSet};

/// Longer lists than this become sets.
const FEW: usize = 32;

/// Calls `f` on every free variable of a term, those in sizes of types not included, once, by their numbers.
pub fn each_free_var(expr: &Expr, f: &mut dyn FnMut(&Var)) {
    any_free_var(expr, &mut |var| {
        f(var);
        false
    });
}

/// Whether a free variable of the term is as wanted; those behind it are not looked at.
pub fn any_free_var(expr: &Expr, wanted: &mut dyn FnMut(&Var) -> bool) -> bool {
    if let Term::Var(var) = expr.term() {
        return wanted(var);
    }
    match expr.free_vars() {
        FreeVars::Few(vars) => vars.iter().any(wanted),
        FreeVars::Many(vars) => vars.any(wanted),
    }
}

/// Whether a variable in a size of some type in the term, of a binder too, is as wanted.
pub fn any_var_in_types(expr: &Expr, wanted: &mut dyn FnMut(&Var) -> bool) -> bool {
    match expr.vars_in_types() {
        FreeVars::Few(vars) => vars.iter().any(wanted),
        FreeVars::Many(vars) => vars.any(wanted),
    }
}

/// Whether a size of some type in the term mentions `var`.
pub fn types_mention(expr: &Expr, var: &Var) -> bool {
    matches!(var.ty(), Type::Index(_)) && any_var_in_types(expr, &mut |other| other == var)
}

/// Whether `var` occurs free in the term, sizes of types not included.
pub fn mentions(expr: &Expr, var: &Var) -> bool {
    if let Term::Var(own) = expr.term() {
        return own == var;
    }
    match expr.free_vars() {
        FreeVars::Few(vars) => vars.binary_search(var).is_ok(),
        FreeVars::Many(vars) => vars.contains(var),
    }
}

/// How often a variable stands in a term, as written.
pub fn occurrences(expr: &Expr, var: &Var) -> usize {
    if !mentions(expr, var) {
        return 0;
    }
    let own = usize::from(matches!(expr.term(), Term::Var(other) if other == var));
    own + expr.term().children().map(|child| occurrences(child, var)).sum::<usize>()
}

impl FreeVars {
    pub(super) fn of(expr: &Expr) -> FreeVars {
        if let Term::Var(var) = expr.term() {
            return FreeVars::Few([var.clone()].into());
        }
        let (mut few, mut many) = (None, None);
        expr.term().each_child(&mut |child| match child.term() {
            Term::Var(var) => few = Some(with(few.as_ref(), var)),
            Term::Double(_) | Term::Index(_) | Term::Bool(_) => {}
            _ => child.free_vars().join(&mut few, &mut many),
        });
        FreeVars::without_binders(few, many, expr)
    }

    /// The variables in the sizes of the types of a term, of what it binds and of its subterms.
    pub(super) fn in_types(expr: &Expr) -> FreeVars {
        let (mut few, mut many) = (with_sizes(None, expr.ty()), None);
        expr.term().binders().for_each(|var| few = with_sizes(few.take(), var.ty()));
        expr.term().children().for_each(|child| child.vars_in_types().join(&mut few, &mut many));
        FreeVars::from(few, many)
    }

    /// Adds them to others.
    fn join(&self, few: &mut Option<Rc<[Var]>>, many: &mut Option<VarSet>) {
        match self {
            FreeVars::Few(vars) => *few = Some(few.as_ref().map_or_else(|| vars.clone(), |before| union(before, vars))),
            FreeVars::Many(vars) => *many = Some(many.as_ref().map_or_else(|| vars.clone(), |before| before.union(vars))),
        }
    }

    fn from(few: Option<Rc<[Var]>>, mut many: Option<VarSet>) -> FreeVars {
        let few = few.unwrap_or_default();
        if many.is_none() && few.len() > FEW {
            many = Some(VarSet::of(&[]));
        }
        match many {
            Some(many) => FreeVars::Many(many.union(&VarSet::of(&few))),
            None => FreeVars::Few(few),
        }
    }

    fn without_binders(few: Option<Rc<[Var]>>, many: Option<VarSet>, expr: &Expr) -> FreeVars {
        expr.term().binders().fold(FreeVars::from(few, many), |vars, var| match vars {
            FreeVars::Few(vars) => FreeVars::Few(without(vars, var)),
            FreeVars::Many(vars) => FreeVars::Many(vars.without(var)),
        })
    }
}

/// The variables in the sizes of a type, added to a list.
fn with_sizes(mut vars: Option<Rc<[Var]>>, ty: &Type) -> Option<Rc<[Var]>> {
    ty.each_size(&mut |size| size.each_var(&mut |var| vars = Some(with(vars.as_ref(), var))));
    vars
}

/// The list with one more, where it is not there yet.
fn with(vars: Option<&Rc<[Var]>>, var: &Var) -> Rc<[Var]> {
    let Some(vars) = vars else { return [var.clone()].into() };
    match vars.binary_search(var) {
        Ok(_) => vars.clone(),
        Err(at) => {
            let (before, after) = vars.split_at(at);
            before.iter().chain(std::iter::once(var)).chain(after).cloned().collect()
        }
    }
}

/// The list without one.
fn without(vars: Rc<[Var]>, var: &Var) -> Rc<[Var]> {
    match vars.binary_search(var) {
        Ok(at) => vars[..at].iter().chain(&vars[at + 1..]).cloned().collect(),
        Err(_) => vars,
    }
}

fn union(a: &Rc<[Var]>, b: &Rc<[Var]>) -> Rc<[Var]> {
    if Rc::ptr_eq(a, b) || b.is_empty() {
        return a.clone();
    }
    let in_both = Merge { a, b }.filter(|(x, y)| x.is_some() && y.is_some()).count();
    if in_both == b.len() {
        return a.clone();
    }
    if in_both == a.len() {
        return b.clone();
    }
    let mut both = Vec::with_capacity(a.len() + b.len() - in_both);
    both.extend(Merge { a, b }.filter_map(|(x, y)| x.or(y).cloned()));
    both.into()
}

/// The items of two sorted lists, equal ones together.
struct Merge<'a> {
    a: &'a [Var],
    b: &'a [Var],
}

impl<'a> Iterator for Merge<'a> {
    type Item = (Option<&'a Var>, Option<&'a Var>);

    fn next(&mut self) -> Option<Self::Item> {
        let (x, y) = (self.a.first(), self.b.first());
        let order = match (x, y) {
            (None, None) => return None,
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
        };
        if order.is_le() {
            self.a = self.a.get(1..).unwrap_or_default();
        }
        if order.is_ge() {
            self.b = self.b.get(1..).unwrap_or_default();
        }
        Some((x.filter(|_| order.is_le()), y.filter(|_| order.is_ge())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Prim, Type};

    fn free(expr: &Expr) -> Vec<Var> {
        let mut found = Vec::new();
        each_free_var(expr, &mut |var| found.push(var.clone()));
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn a_binder_is_free_outside_its_scope_only() {
        let (x, y) = (Var::fresh("x", Type::Double), Var::fresh("y", Type::Double));
        let sum = Expr::prim(Prim::Add, vec![Expr::var(&x), Expr::var(&y)]);
        assert_eq!(free(&sum), [x.clone(), y.clone()]);
        let bound = Expr::let_(x.clone(), Expr::double(1.0), sum);
        assert_eq!(free(&bound), std::slice::from_ref(&y));
        assert!(mentions(&bound, &y) && !mentions(&bound, &x));
    }

    #[test]
    fn long_lists_say_the_same() {
        let vars: Vec<Var> = (0..3 * FEW).map(|_| Var::fresh("x", Type::Double)).collect();
        let sum = vars.iter().fold(Expr::double(0.0), |sum, var| Expr::prim(Prim::Add, vec![sum, Expr::var(var)]));
        let expr = vars[1..].iter().fold(sum, |body, var| Expr::let_(var.clone(), Expr::var(&vars[0]), body));
        assert_eq!(free(&expr), vars[..1]);
        assert!(mentions(&expr, &vars[0]));
        assert!(vars[1..].iter().all(|var| !mentions(&expr, var)));
    }
}
