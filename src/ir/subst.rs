//! Substitution and renaming.
//!
//! In: a term and what to put for some of its free variables. Out: the term with every occurrence replaced,
//! also in the sizes of types. Nothing is captured, because every binder is unique; what keeps it so is
//! [`freshen`]: whoever copies a term that binds variables renames the copy's binders.
//!
//!     substitute(x, n + 1)   build(x, i. v[i])   →   build(n + 1, i. v[i])

use rustc_hash::FxHashMap;

use super::free::{any_free_var, mentions};
use super::program::{Function, match_sizes};
use super::term::{Atom, Expr, Size, Term, Type, Updated, Var};

/// So many variables are looked for one by one.
const FEW: usize = 4;

/// Replaces free variables by terms. A value that binds variables is renamed at each place it goes to.
pub fn substitute(expr: &Expr, map: &[(Var, Expr)]) -> Expr {
    // what is no length is in no type
    let only_values = map.iter().all(|(var, _)| !matches!(var.ty(), Type::Index(_) | Type::Bool));
    Renaming { terms: map.iter().cloned().collect(), fresh: false, only_values }.expr(expr)
}

/// A copy of the term with binders of its own, in which free variables are replaced by terms.
pub fn instance(expr: &Expr, map: &[(Var, Expr)]) -> Expr {
    Renaming { terms: map.iter().cloned().collect(), fresh: true, only_values: false }.expr(expr)
}

/// A copy of the term with binders of its own.
pub fn freshen(expr: &Expr) -> Expr {
    instance(expr, &[])
}

/// A copy of the function with binders of its own, sizes and parameters included.
pub fn freshen_function(function: &Function) -> Function {
    Renaming { fresh: true, ..Renaming::default() }.function(function)
}

/// A copy of the function with binders of its own, in which these sizes are literals and no parameters.
pub fn fix_sizes(function: &Function, fixed: &[(Var, i64)]) -> Function {
    let mut renaming = Renaming { fresh: true, ..Renaming::default() };
    for (var, value) in fixed {
        renaming.terms.insert(var.clone(), Expr::index(*value));
    }
    let is_left = |var: &&Var| fixed.iter().all(|(known, _)| known != *var);
    let sizes = function.sizes.iter().filter(is_left).cloned().collect();
    let params = function.params.iter().filter(is_left).cloned().collect();
    // those of the parameters, then that of the result
    let is_gone = |at: usize| function.params.get(at).is_some_and(|param| !is_left(&param));
    let labels = function.labels.iter().enumerate().filter(|(at, _)| !is_gone(*at)).map(|(_, labels)| labels.clone()).collect();
    renaming.function(&Function { sizes, params, labels, ..function.clone() })
}

/// The body of a call, its parameters bound by lets; its sizes are read off the arguments.
pub fn inlined(function: &Function, args: &[Expr]) -> Expr {
    let function = freshen_function(function);
    let mut sizes = Vec::new();
    function.params.iter().zip(args).for_each(|(param, arg)| match_sizes(param.ty(), arg.ty(), &mut sizes));
    let mut map = Vec::new();
    let mut lets = Vec::new();
    for (param, arg) in function.params.iter().zip(args) {
        let var = param.renewed(arg.ty().clone());
        map.push((param.clone(), if arg.is_atom() { arg.clone() } else { Expr::var(&var) }));
        if !arg.is_atom() {
            lets.push((var, arg.clone()));
        }
    }
    for size in &function.sizes {
        let known = sizes.iter().find(|(name, _)| name == size).and_then(|(_, actual)| actual.to_expr());
        let read = || map.iter().find_map(|(param, arg)| read_size(arg.clone(), param.ty(), size));
        if let Some(value) = known.or_else(read) {
            map.push((size.clone(), value));
        }
    }
    let body = substitute(&function.body, &map);
    lets.into_iter().rev().fold(body, |body, (var, arg)| Expr::let_(var, arg, body))
}

/// The term that reads a size off a value of a type that has it alone as a length.
fn read_size(value: Expr, ty: &Type, size: &Var) -> Option<Expr> {
    match ty {
        Type::Array(..) => {
            let axis = ty.dims().iter().position(|length| length.as_var() == Some(size))?;
            Some(Expr::dim(value, axis))
        }
        Type::Tuple(parts) => parts.iter().enumerate().find_map(|(k, part)| read_size(Expr::proj(value.clone(), k), part, size)),
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => None,
    }
}

/// The first parameter left whose type mentions no parameter that is left; the first of all in a circle.
fn next_binder(params: &[Var], renamed: &[Option<Var>]) -> Option<usize> {
    let left: Vec<usize> = (0..params.len()).filter(|at| renamed[*at].is_none()).collect();
    let depends = |at: usize| {
        let mut found = false;
        params[at].ty().each_size(&mut |size| found |= left.iter().any(|other| *other != at && size.mentions(&params[*other])));
        found
    };
    left.iter().copied().find(|at| !depends(*at)).or(left.first().copied())
}

/// Applies `f` to each direct subterm and rebuilds the node around the results; the node itself when
/// nothing changed. Binders stay.
pub fn map_children(expr: &Expr, f: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    // those before the first that changes are not written down
    let mut new = Vec::new();
    for (at, child) in expr.term().children().enumerate() {
        let mapped = f(child);
        if new.is_empty() && !mapped.is_same(child) {
            new.reserve_exact(expr.term().children().len());
            new.extend(expr.term().children().take(at).cloned());
            new.push(mapped);
        } else if !new.is_empty() {
            new.push(mapped);
        }
    }
    if new.is_empty() {
        return expr.clone();
    }
    let mut new = new.into_iter();
    let mut go = |child: &Expr| new.next().unwrap_or_else(|| child.clone());
    let items = |items: &[Expr], go: &mut dyn FnMut(&Expr) -> Expr| items.iter().map(go).collect::<Vec<_>>();
    let rebuilt = match expr.term() {
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => return expr.clone(),
        Term::Prim(prim, args) => Expr::prim(*prim, items(args, &mut go)),
        Term::Let(var, value, body) => {
            let value = go(value);
            Expr::let_(var.clone(), value, go(body))
        }
        Term::If(c, a, b) => {
            let (c, a, b) = (go(c), go(a), go(b));
            Expr::if_(c, a, b)
        }
        Term::Build { n, i, body } => {
            let n = go(n);
            Expr::build_with(n, i.clone(), go(body))
        }
        Term::Fold { n, acc, i, body, init } => {
            let init = go(init);
            let n = go(n);
            Expr::fold_with(n, acc.clone(), i.clone(), go(body), init)
        }
        Term::While { state, init, body } => {
            let init = go(init);
            Expr::while_(state.clone(), init, go(body))
        }
        Term::Get(array, index) => {
            let array = go(array);
            Expr::get(array, go(index))
        }
        Term::Dim(array, axis) => Expr::dim(go(array), *axis),
        Term::Tuple(parts) => Expr::tuple(items(parts, &mut go)),
        Term::Proj(tuple, index) => Expr::proj(go(tuple), *index),
        Term::Array(elements) => {
            let element = expr.ty().element().cloned().unwrap_or(Type::Double);
            Expr::array(element, items(elements, &mut go))
        }
        Term::Call(name, args) => Expr::with_type(Term::Call(name.clone(), items(args, &mut go)), expr.ty().clone(), expr.span()),
        Term::Check { cond, status, body } => {
            let cond = go(cond);
            Expr::check(cond, *status, go(body))
        }
        Term::Dual { x, at, tangent, body } => {
            let (at, tangent) = (go(at), go(tangent));
            Expr::dual(x.clone(), at, tangent, go(body))
        }
        Term::Update(change, parts) => {
            let parts = items(parts, &mut go);
            let ty = Updated::of(&parts).map_or(Type::Double, |updated| updated.ty());
            Expr::with_type(Term::Update(*change, parts), ty, expr.span())
        }
        Term::Iso(iso, operands) => Expr::with_type(Term::Iso(*iso, items(operands, &mut go)), expr.ty().clone(), expr.span()),
        Term::Vjp { x, at, cotangent, body } => {
            let (at, cotangent) = (go(at), go(cotangent));
            Expr::vjp(x.clone(), at, cotangent, go(body))
        }
    };
    rebuilt.at(expr.span())
}

/// As [`map_children`], where `f` may fail: the first failure, after which no subterm is asked.
pub fn try_map_children<E>(expr: &Expr, f: &mut dyn FnMut(&Expr) -> Result<Expr, E>) -> Result<Expr, E> {
    let mut failure = None;
    let mapped = map_children(expr, &mut |child| {
        if failure.is_some() {
            return child.clone();
        }
        f(child).unwrap_or_else(|problem| {
            failure = Some(problem);
            child.clone()
        })
    });
    failure.map_or(Ok(mapped), Err)
}

#[derive(Default)]
struct Renaming {
    terms: FxHashMap<Var, Expr>,
    fresh: bool,
    /// No type changes, and no binder: what does not mention one of the variables stays.
    only_values: bool,
}

impl Renaming {
    fn function(&mut self, function: &Function) -> Function {
        let sizes = function.sizes.iter().map(|size| self.binder(size)).collect();
        let params = function.params.clone();
        let mut renamed: Vec<Option<Var>> = vec![None; params.len()];
        // a parameter's type may mention an Index parameter that comes after it
        while let Some(at) = next_binder(&params, &renamed) {
            renamed[at] = Some(self.binder(&params[at]));
        }
        let params = renamed.into_iter().flatten().collect();
        let result = self.ty(&function.result);
        let body = self.expr(&function.body);
        Function { sizes, params, result, body, ..function.clone() }
    }

    fn ty(&self, ty: &Type) -> Type {
        ty.map_sizes(&mut |size| {
            size.substitute(&mut |atom| match atom {
                Atom::Var(var) => self.terms.get(var).map(Size::of_expr),
                Atom::Term(_) | Atom::Unknown(_) => None,
            })
        })
    }

    /// The binder for the new term: another one when all are renamed or its type changed.
    fn binder(&mut self, var: &Var) -> Var {
        let ty = self.ty(var.ty());
        if !self.fresh && &ty == var.ty() {
            return var.clone();
        }
        let new = if self.fresh { var.renewed(ty) } else { var.retyped(ty) };
        self.terms.insert(var.clone(), Expr::var(&new));
        new
    }

    /// The new term; the very node where nothing in it is replaced or renamed.
    fn expr(&mut self, expr: &Expr) -> Expr {
        if self.only_values && !self.is_mentioned(expr) {
            return expr.clone();
        }
        match expr.term() {
            Term::Var(var) => match self.terms.get(var) {
                Some(value) if value.is_atom() => value.clone().at(expr.span()),
                Some(value) => freshen(value),
                None => expr.clone(),
            },
            Term::Let(var, value, body) => {
                let value = self.expr(value);
                let var = self.binder(var);
                let body = self.expr(body);
                expr.rebuilt(&[&var], &[&value, &body], || Expr::let_(var.clone(), value.clone(), body.clone()))
            }
            Term::Build { n, i, body } => {
                let n = self.expr(n);
                let i = self.binder(i);
                let body = self.expr(body);
                expr.rebuilt(&[&i], &[&n, &body], || Expr::build_with(n.clone(), i.clone(), body.clone()))
            }
            Term::Fold { n, acc, i, body, init } => {
                let (init, n) = (self.expr(init), self.expr(n));
                let (acc, i) = (self.binder(acc), self.binder(i));
                let body = self.expr(body);
                let new = || Expr::fold_with(n.clone(), acc.clone(), i.clone(), body.clone(), init.clone());
                expr.rebuilt(&[&acc, &i], &[&init, &n, &body], new)
            }
            Term::While { state, init, body } => {
                let init = self.expr(init);
                let state = self.binder(state);
                let body = self.expr(body);
                expr.rebuilt(&[&state], &[&init, &body], || Expr::while_(state.clone(), init.clone(), body.clone()))
            }
            Term::Dual { x, at, tangent, body } => {
                let (at, tangent) = (self.expr(at), self.expr(tangent));
                let x = self.binder(x);
                let body = self.expr(body);
                let new = || Expr::dual(x.clone(), at.clone(), tangent.clone(), body.clone());
                expr.rebuilt(&[&x], &[&at, &tangent, &body], new)
            }
            Term::Vjp { x, at, cotangent, body } => {
                let (at, cotangent) = (self.expr(at), self.expr(cotangent));
                let x = self.binder(x);
                let body = self.expr(body);
                let new = || Expr::vjp(x.clone(), at.clone(), cotangent.clone(), body.clone());
                expr.rebuilt(&[&x], &[&at, &cotangent, &body], new)
            }
            // sizes in the types of these are not those of their parts
            Term::Array(items) if self.changes(expr.ty()) => {
                let element = self.ty(expr.ty().element().unwrap_or(&Type::Double));
                Expr::array(element, items.iter().map(|item| self.expr(item)).collect()).at(expr.span())
            }
            Term::Call(name, args) if self.changes(expr.ty()) => {
                let args = args.iter().map(|arg| self.expr(arg)).collect();
                Expr::with_type(Term::Call(name.clone(), args), self.ty(expr.ty()), expr.span())
            }
            Term::Double(_) | Term::Index(_) | Term::Bool(_) => expr.clone(),
            Term::Prim(..) | Term::If(..) | Term::Get(..) | Term::Dim(..) | Term::Check { .. } => self.children(expr),
            Term::Tuple(_) | Term::Proj(..) | Term::Array(_) | Term::Call(..) | Term::Update(..) | Term::Iso(..) => self.children(expr),
        }
    }

    fn is_mentioned(&self, expr: &Expr) -> bool {
        match self.terms.len() {
            0..=FEW => self.terms.keys().any(|var| mentions(expr, var)),
            _ => any_free_var(expr, &mut |var| self.terms.contains_key(var)),
        }
    }

    fn children(&mut self, expr: &Expr) -> Expr {
        map_children(expr, &mut |child| self.expr(child))
    }

    fn changes(&self, ty: &Type) -> bool {
        &self.ty(ty) != ty
    }
}
