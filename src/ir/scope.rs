//! Sizes of types in scope: rules move and drop terms, and a variable that only types mention may be left behind.
//!
//! In: a function. Out: the same, where a binder whose type mentions a variable that is not in scope has the type of its value, of
//! its first value, or of its count.
//!
//!     let n = t + 1 in let v = build (t + 1) (fun i -> x) in …   →   without n, v: Vector<n> is a Vector<t + 1>

use std::collections::HashMap;

use super::free::any_var_in_types;
use super::subst::map_children;
use super::{Expr, Function, Size, Term, Type, Var};

/// The body with sizes that are in scope; `None` where all are.
pub fn with_sizes_in_scope(function: &Function) -> Option<Expr> {
    let params = || function.sizes.iter().chain(&function.params);
    let is_param = |var: &Var| params().any(|param| param == var);
    any_var_in_types(&function.body, &mut |var| !is_param(var)).then_some(())?;
    let mut scope = Scope { bound: params().map(|var| (var.clone(), var.clone())).collect(), has_changed: false };
    let body = scope.expr(&function.body);
    scope.has_changed.then_some(body)
}

/// The variables in scope, each as what it is bound with a type of its own.
struct Scope {
    bound: HashMap<Var, Var>,
    has_changed: bool,
}

impl Scope {
    fn expr(&mut self, expr: &Expr) -> Expr {
        let new = match expr.term() {
            Term::Var(var) => match self.bound.get(var) {
                Some(own) if !own.is_same(var) => Expr::var(own),
                _ => return expr.clone(),
            },
            Term::Let(x, value, body) => {
                let value = self.expr(value);
                let x = self.binder(x, value.ty());
                let body = self.under(&[&x], body);
                Expr::let_(x, value, body)
            }
            Term::Build { n, i, body } => {
                let n = self.expr(n);
                let i = self.binder(i, &index_below(&n));
                let body = self.under(&[&i], body);
                Expr::build_with(n, i, body)
            }
            Term::Fold { n, acc, i, body, init } => {
                let (n, init) = (self.expr(n), self.expr(init));
                let (acc, i) = (self.binder(acc, init.ty()), self.binder(i, &index_below(&n)));
                let body = self.under(&[&acc, &i], body);
                Expr::fold_with(n, acc, i, body, init)
            }
            Term::While { state, init, body } => {
                let init = self.expr(init);
                let state = self.binder(state, init.ty());
                let body = self.under(&[&state], body);
                Expr::while_(state, init, body)
            }
            _ => return map_children(expr, &mut |child| self.expr(child)),
        };
        new.at(expr.span())
    }

    /// The body under its binders.
    fn under(&mut self, vars: &[&Var], body: &Expr) -> Expr {
        for var in vars {
            self.bound.insert((*var).clone(), (*var).clone());
        }
        let body = self.expr(body);
        for var in vars {
            self.bound.remove(*var);
        }
        body
    }

    /// The variable, with this type where its own mentions what is not in scope; a length that is not in that either is unknown.
    fn binder(&mut self, var: &Var, ty: &Type) -> Var {
        if self.is_in_scope(var.ty()) {
            return var.clone();
        }
        self.has_changed = true;
        let known = |size: &Size| self.has(size);
        var.retyped(ty.map_sizes(&mut |size| if known(size) { size.clone() } else { Size::unknown() }))
    }

    fn is_in_scope(&self, ty: &Type) -> bool {
        let mut is_in_scope = true;
        ty.each_size(&mut |size| is_in_scope &= self.has(size));
        is_in_scope
    }

    fn has(&self, size: &Size) -> bool {
        let mut has = true;
        size.each_var(&mut |var| has &= self.bound.contains_key(var) || var.is_ambient());
        has
    }
}

/// The type of an index of a loop of so many steps.
fn index_below(n: &Expr) -> Type {
    Type::Index(Size::try_of_expr(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Prim;
    use crate::ir::check::check;
    use crate::ir::program::Program;

    #[test]
    fn a_length_that_is_left_behind_is_that_of_the_value() {
        let (t, n) = (Var::fresh("t", Type::INDEX), Var::fresh("n", Type::INDEX));
        let v = Var::fresh("v", Type::array(Type::Double, Size::var(&n)));
        let length = Expr::prim(Prim::Add, vec![Expr::var(&t), Expr::index(1)]);
        let zeros = Expr::build(length, "i", |_| Expr::double(0.0));
        let step = |v: Expr, i: Expr| Expr::update(crate::ir::Change::Replace, v, vec![i], Expr::double(1.0));
        let fold = Expr::fold(Expr::var(&t), "s", "i", Expr::var(&v), step);
        let body = Expr::let_(v.clone(), zeros, Expr::get(fold, Expr::index(0)));
        let function = Function::entry("f", vec![], vec![t], body);
        let checked =
            |function: &Function| check(&Program { functions: [(function.name.clone(), function.clone())].into_iter().collect() });
        assert!(checked(&function).unwrap_err().ends_with("mentions `n`, which is not in scope"));
        let body = with_sizes_in_scope(&function).expect("n is not in scope");
        let function = Function { body, ..function };
        assert_eq!(checked(&function), Ok(()));
        assert!(with_sizes_in_scope(&function).is_none());
        assert!(crate::ir::print::expr(&function.body).contains("build (t + 1)"));
    }
}
