//! Counts of loops that only data gives.
//!
//! In: a program, and the bindings that differentiation goes through. Out: whether the count of a loop is computed from elements of
//! arrays, Doubles or the states of loops, so that no workspace can be sized by it before the function runs. What is the least of
//! such a count and something known is known well enough.
//!
//!     let m = k[0] % 5 in ifold f z m              data gives the count
//!     let m = n / 2 in ifold f z (min k[0] m)      there are at most n / 2 steps

use std::collections::HashSet;

use super::block::{Block, shared};
use crate::ir::in_place::Changes;
use crate::ir::{Expr, Prim, Program, Size, Term, Type, Var};

/// The Index variables, and Index components of variables, that data gives.
#[derive(Default)]
pub struct GivenByData(HashSet<(Var, Vec<usize>)>);

impl GivenByData {
    /// Those of a program, whose functions come after those that they call: a parameter is given by data where one call's argument
    /// is.
    pub fn of(program: &Program) -> GivenByData {
        let mut found = GivenByData::default();
        for function in program.functions.values().rev() {
            found.look_through(&function.body, program);
        }
        found
    }

    fn look_through(&mut self, expr: &Expr, program: &Program) {
        match expr.term() {
            Term::Let(var, value, _) => self.bind(var, value),
            Term::Vjp { x, at, .. } | Term::Dual { x, at, .. } => self.bind(x, at),
            Term::While { state, .. } => self.0.extend(paths_to_indexes(state.ty()).into_iter().map(|path| (state.clone(), path))),
            Term::Fold { n, acc, i, body, init } => self.enter_fold(n, acc, i, body, init),
            Term::Build { n, i, .. } => self.enter_loop(n, i),
            Term::Call(name, args) => {
                if let Some(function) = program.functions.get(name) {
                    function.params.iter().zip(args).for_each(|(param, arg)| self.bind(param, arg));
                }
            }
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::If(..)
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. } => {}
        }
        expr.term().each_child(&mut |child| self.look_through(child, program));
    }

    /// Notes what of a variable data gives, which is bound to this value.
    pub fn bind(&mut self, var: &Var, value: &Expr) {
        for path in paths_to_indexes(var.ty()) {
            if self.gives_component(value, &path) {
                self.0.insert((var.clone(), path));
            }
        }
    }

    /// Notes what of a fold's variables data gives.
    pub fn enter_fold(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr, init: &Expr) {
        self.enter_loop(n, i);
        let paths = paths_to_indexes(acc.ty());
        if paths.is_empty() {
            return;
        }
        let changes = Changes::of(body, acc);
        for path in paths {
            if changes.source(&path).as_ref() != Some(&path) || self.gives_component(init, &path) {
                self.0.insert((acc.clone(), path));
            }
        }
    }

    /// Notes the index of a loop that runs as far as data says.
    pub fn enter_loop(&mut self, n: &Expr, i: &Var) {
        if self.gives(n) {
            self.note(i);
        }
    }

    /// Notes that data gives an Index variable.
    pub fn note(&mut self, var: &Var) {
        self.0.insert((var.clone(), Vec::new()));
    }

    /// Whether data gives an Index, and no more than that is known of it.
    pub fn gives(&mut self, n: &Expr) -> bool {
        self.gives_component(n, &[])
    }

    /// A count whose size says what is known of it: what data gives of it has a name.
    pub fn named(&mut self, n: &Expr, out: &mut Block) -> Expr {
        match n.term() {
            _ if Size::try_of_expr(n).is_some() => shared("n", n.clone(), out),
            Term::Prim(prim, args) if is_bounded_by_operands(*prim, args) => {
                Expr::prim(*prim, args.iter().map(|arg| self.named(arg, out)).collect()).at(n.span())
            }
            _ => {
                let name = out.bind("n", n.clone());
                if let Term::Var(var) = name.term() {
                    self.bind(var, n);
                }
                name
            }
        }
    }

    fn gives_component(&mut self, value: &Expr, path: &[usize]) -> bool {
        match (value.term(), path) {
            (Term::Var(var), _) => self.0.contains(&(var.clone(), path.to_vec())),
            (Term::Proj(tuple, k), _) => self.gives_component(tuple, &[&[*k], path].concat()),
            (Term::Tuple(parts), [k, path @ ..]) => parts.get(*k).is_none_or(|part| self.gives_component(part, path)),
            (Term::Let(var, value, body), _) => {
                self.bind(var, value);
                self.gives_component(body, path)
            }
            (Term::Check { body, .. }, _) => self.gives_component(body, path),
            (Term::If(cond, then, otherwise), _) => {
                !self.is_size(cond) || self.gives_component(then, path) || self.gives_component(otherwise, path)
            }
            (Term::Prim(Prim::Min, args), []) if Size::try_of_expr(value).is_some() => args.iter().all(|arg| self.gives(arg)),
            (Term::Prim(prim, args), []) if is_bounded_by_operands(*prim, args) && Size::try_of_expr(value).is_some() => {
                args.iter().any(|arg| self.gives(arg))
            }
            (_, []) => !self.is_size(value),
            (_, [_, ..]) => true,
        }
    }

    /// Whether data has no part in an Index or Bool.
    pub fn is_size(&self, n: &Expr) -> bool {
        let Some(size) = Size::try_of_expr(n).filter(|size| !size.has_unknown()) else { return false };
        let mut found = false;
        size.each_var(&mut |var| found |= self.0.contains(&(var.clone(), Vec::new())));
        !found
    }
}

/// Whether something is known of such an Index where it is of its operands ([`crate::loops::analysis::sizes::most`]).
fn is_bounded_by_operands(prim: Prim, args: &[Expr]) -> bool {
    match (prim, args) {
        (Prim::Min | Prim::Add, [_, _]) => true,
        (Prim::Div, [_, by]) => matches!(by.term(), Term::Index(1..)),
        _ => false,
    }
}

/// The paths to the Indexes of a type that are in no array.
fn paths_to_indexes(ty: &Type) -> Vec<Vec<usize>> {
    match ty {
        Type::Index(_) => vec![Vec::new()],
        Type::Tuple(parts) => {
            let parts = parts.iter().enumerate();
            parts.flat_map(|(k, part)| paths_to_indexes(part).into_iter().map(move |path| [&[k], &path[..]].concat())).collect()
        }
        Type::Double | Type::Bool | Type::Array(..) | Type::Rec(_) => Vec::new(),
    }
}
