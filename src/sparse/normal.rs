//! A function's body in the form in which its reads of the point can be seen.
//!
//! In: the body of a `vjp` and its variable x. Out: a term of the same value, with what depends on x.
//!
//!     let row = x[k] in let f (v) = v[0] in f row + (build n (fun i -> x[i] * 2.0))[j]   →   x[k][0] + x[j] * 2.0
//!
//! Calls that take something of x are inlined, names of parts of x and of tuples replaced, elements of arrays that are built taken,
//! lengths read off types. Errors may disappear with elements that nobody needs; none is added. Recursion stays as it is.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::ir::free::any_free_var;
use crate::ir::subst::{freshen, inlined, map_children, substitute};
use crate::ir::term::Vjp;
use crate::ir::total::within;
use crate::ir::{Change, Expr, Prim, Program, Size, Status, Term, Type, Updated, Var};

/// A term that grew beyond this is left as it is from there on.
const LARGEST: usize = 20_000;
/// An array whose elements are computed by so few operations is computed wherever it is read.
const CHEAP: usize = 16;

/// The body, and what depends on x.
pub struct Normal {
    pub body: Expr,
    pub active: Active,
}

/// The variables that depend on x, x among them, and the terms of those that are bound by a `let`.
#[derive(Default)]
pub struct Active {
    vars: HashSet<Var>,
    pub values: HashMap<Var, Expr>,
}

impl Active {
    pub fn has(&self, var: &Var) -> bool {
        self.vars.contains(var)
    }

    /// Whether a term depends on x.
    pub fn reaches(&self, expr: &Expr) -> bool {
        any_free_var(expr, &mut |var| self.has(var))
    }
}

/// The body of a `vjp` in normal form.
pub fn normal(program: &Program, vjp: &Vjp) -> Normal {
    let mut active = Active::default();
    active.vars.insert(vjp.x.clone());
    let mut pass = Pass { program, recursive: program.recursive(), x: vjp.x, active, views: HashMap::new(), nodes: 0 };
    let body = pass.term(vjp.body);
    Normal { body, active: pass.active }
}

struct Pass<'a> {
    program: &'a Program,
    recursive: HashSet<Rc<str>>,
    x: &'a Var,
    active: Active,
    /// What stands in the place of a name.
    views: HashMap<Var, Expr>,
    /// The nodes of what was inlined.
    nodes: usize,
}

impl Pass<'_> {
    fn term(&mut self, expr: &Expr) -> Expr {
        let new = match expr.term() {
            Term::Var(var) => match self.views.get(var) {
                // a component of a tuple may have a view of its own
                Some(view) => self.term(&freshen(view)),
                None => return expr.clone(),
            },
            Term::Let(var, value, body) => {
                let value = self.term(value);
                self.bind(var, value, body)
            }
            Term::Proj(tuple, k) => component(self.term(tuple), *k),
            Term::Get(array, index) => {
                let (array, index) = (self.term(array), self.term(index));
                if self.active.reaches(&array) { element(array, index) } else { Expr::get(array, index) }
            }
            Term::Dim(array, axis) => match array.ty().dims().get(*axis).and_then(Size::to_expr) {
                Some(length) if self.active.reaches(array) => length,
                _ => Expr::dim(self.term(array), *axis),
            },
            Term::Call(name, args) => {
                let args: Vec<Expr> = args.iter().map(|arg| self.term(arg)).collect();
                let callee = self.program.functions.get(name).filter(|callee| {
                    self.nodes += callee.body.node_count();
                    !self.recursive.contains(name) && self.nodes <= LARGEST && args.iter().any(|arg| self.active.reaches(arg))
                });
                match callee {
                    Some(callee) => self.term(&inlined(callee, &args)),
                    None => Expr::with_type(Term::Call(name.clone(), args), expr.ty().clone(), expr.span()),
                }
            }
            Term::Fold { n, acc, i, body, init } => {
                let (init, n) = (self.term(init), self.term(n));
                self.reach(acc, &[&init, body]);
                Expr::fold_with(n, acc.clone(), i.clone(), self.term(body), init)
            }
            Term::While { state, init, body } => {
                let init = self.term(init);
                self.reach(state, &[&init, body]);
                Expr::while_(state.clone(), init, self.term(body))
            }
            Term::Dual { x, at, tangent, body } => {
                let (at, tangent) = (self.term(at), self.term(tangent));
                self.reach(x, &[&at, &tangent]);
                Expr::dual(x.clone(), at, tangent, self.term(body))
            }
            Term::Vjp { x, at, cotangent, body } => {
                let (at, cotangent) = (self.term(at), self.term(cotangent));
                self.reach(x, &[&at]);
                Expr::vjp(x.clone(), at, cotangent, self.term(body))
            }
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::If(..)
            | Term::Build { .. }
            | Term::Tuple(_)
            | Term::Array(_)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. } => map_children(expr, &mut |child| self.term(child)),
        };
        new.at(expr.span())
    }

    /// Notes a variable that depends on x where one of the terms does.
    fn reach(&mut self, var: &Var, terms: &[&Expr]) {
        if terms.iter().any(|term| self.active.reaches(term)) {
            self.active.vars.insert(var.clone());
        }
    }

    /// `let var = value in body`, where the value is in normal form and the body is not.
    fn bind(&mut self, var: &Var, value: Expr, body: &Expr) -> Expr {
        if !self.active.reaches(&value) {
            return Expr::let_(var.clone(), value, self.term(body));
        }
        match value.term() {
            Term::Let(outer, first, rest) => Expr::let_(outer.clone(), first.clone(), self.bind(var, rest.clone(), body)),
            Term::Check { cond, status, body: rest } => Expr::check(cond.clone(), *status, self.bind(var, rest.clone(), body)),
            Term::Tuple(parts) => {
                let names: Vec<Var> = parts.iter().map(|part| var.renewed(part.ty().clone())).collect();
                self.active.vars.insert(var.clone());
                self.views.insert(var.clone(), Expr::tuple(names.iter().map(Expr::var).collect()));
                // each part is bound as if it were written so
                let last = names.iter().zip(parts).rev().fold(None, |inner: Option<Expr>, (name, part)| {
                    Some(Expr::let_(name.clone(), part.clone(), inner.unwrap_or_else(|| body.clone())))
                });
                self.term(&last.unwrap_or_else(|| body.clone()))
            }
            _ if self.is_view(&value) => {
                self.active.vars.insert(var.clone());
                self.views.insert(var.clone(), value);
                self.term(body)
            }
            _ => {
                self.active.vars.insert(var.clone());
                self.active.values.insert(var.clone(), value.clone());
                Expr::let_(var.clone(), value, self.term(body))
            }
        }
    }

    /// Whether a term is a part of x, found by what does not depend on x, or an array of elements that are next to nothing.
    fn is_view(&self, value: &Expr) -> bool {
        match value.term() {
            // a number of another array may be long to compute
            Term::Var(var) => var == self.x || matches!(var.ty(), Type::Array(..)),
            Term::Proj(part, _) => self.is_view(part),
            Term::Get(part, index) => {
                (is_part_of(part, self.x) || value.ty().has_array())
                    && self.is_view(part)
                    && !self.active.reaches(index)
                    && index.node_count() <= CHEAP
            }
            Term::Build { n, body, .. } => !self.active.reaches(n) && body.node_count() <= CHEAP && !has_loops(body),
            Term::Tuple(parts) => parts.iter().all(|part| self.is_view(part) || part.is_atom()),
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Let(..)
            | Term::If(..)
            | Term::Fold { .. }
            | Term::While { .. }
            | Term::Dim(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. }
            | Term::Dual { .. }
            | Term::Vjp { .. } => false,
        }
    }
}

fn is_part_of(part: &Expr, x: &Var) -> bool {
    if let Term::Get(inner, _) | Term::Proj(inner, _) = part.term() {
        is_part_of(inner, x)
    } else {
        matches!(part.term(), Term::Var(var) if var == x)
    }
}

fn has_loops(expr: &Expr) -> bool {
    let is_loop = matches!(
        expr.term(),
        Term::Build { .. } | Term::Fold { .. } | Term::While { .. } | Term::Call(..) | Term::Dual { .. } | Term::Vjp { .. }
    );
    is_loop || expr.term().children().any(has_loops)
}

/// `tuple.k`, taken where the tuple is written.
pub fn component(tuple: Expr, k: usize) -> Expr {
    match tuple.term() {
        Term::Tuple(parts) if k < parts.len() => parts[k].clone(),
        Term::Let(var, value, body) => Expr::let_(var.clone(), value.clone(), component(body.clone(), k)),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, component(body.clone(), k)),
        _ => Expr::proj(tuple, k),
    }
}

/// Whether [`element`] finds what an element of the array is computed by.
pub fn is_by_elements(array: &Expr) -> bool {
    match array.term() {
        Term::Build { .. } => true,
        Term::Let(_, _, body) | Term::Check { body, .. } => is_by_elements(body),
        Term::If(_, a, b) => is_by_elements(a) && is_by_elements(b),
        Term::Update(Change::Replace, parts) => parts.len() == 3 && is_by_elements(&parts[0]),
        Term::Var(_) | Term::Get(..) | Term::Proj(..) => true,
        Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Fold { .. }
        | Term::While { .. }
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Dual { .. }
        | Term::Vjp { .. } => false,
    }
}

/// `array[index]`, computed alone where the array is built; the array's terms go into the element's.
pub fn element(array: Expr, index: Expr) -> Expr {
    match array.term() {
        Term::Let(var, value, body) => Expr::let_(var.clone(), value.clone(), element(body.clone(), index)),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, element(body.clone(), index)),
        Term::If(cond, a, b) if is_by_elements(a) || is_by_elements(b) => {
            Expr::bind("i", index, |index| Expr::if_(cond.clone(), element(a.clone(), index.clone()), element(b.clone(), index)))
        }
        Term::Build { n, i, body } => {
            let size = Size::of_expr(n);
            Expr::bind("i", super::flat::tidy(index), |index| {
                let own = substitute(body, &[(i.clone(), index.clone())]);
                match outside(&index, &size) {
                    None => own,
                    Some(_) => Expr::check(within(&index, n), Status::Bounds, own),
                }
            })
        }
        Term::Array(items) => match Size::of_expr(&index).as_constant().and_then(|at| usize::try_from(at).ok()) {
            Some(at) if at < items.len() => items[at].clone(),
            _ => Expr::get(array, index),
        },
        Term::Update(Change::Replace, parts) if is_by_elements(&array) => match Updated::of(parts) {
            Some(Updated { array: before, indices: [own], value }) => Expr::bind("i", index, |index| {
                let is_own = Expr::prim(Prim::Eq, vec![index.clone(), own.clone()]);
                let chosen = Expr::if_(is_own, value.clone(), element(before.clone(), index));
                let size = array.ty().dims().first().cloned().unwrap_or_default();
                match (outside(own, &size), size.to_expr()) {
                    (Some(_), Some(n)) => Expr::check(within(own, &n), Status::Bounds, chosen),
                    (None, _) | (_, None) => chosen,
                }
            }),
            _ => Expr::get(array, index),
        },
        _ => Expr::get(array, index),
    }
}

/// The index, unless it is below the length and not negative by what is written.
pub fn outside<'e>(index: &'e Expr, size: &Size) -> Option<&'e Expr> {
    let by_type = matches!(index.ty(), Type::Index(Some(bound)) if bound == size);
    let by_value = match (Size::of_expr(index).as_constant(), size.as_constant()) {
        (Some(index), Some(size)) => (0..size).contains(&index),
        _ => false,
    };
    (!by_type && !by_value).then_some(index)
}
