//! Long functions in parts: Futhark's type checker takes quadratic time and memory in the lets of one function.
//!
//! In: a program. Out: the same with every chain of more than 25 lets cut: what comes after the first 25 is a function
//! of its own, of the variables that it reads, called where it was.
//!
//!     let x1 = … in … let x25 = … in rest   →   let x1 = … in … let x25 = … in f_part x24 x25

use std::collections::BTreeSet;

use crate::ir::free::each_free_var;
use crate::ir::subst::{freshen_function, map_children};
use crate::ir::{Expr, Function, Program, Term, Type, Var};

/// The lets that a function may have, nested ones included.
const LETS: usize = 25;

/// The program with no function of more lets than Futhark can take.
pub fn split(program: &Program) -> Program {
    let mut parted = Program::default();
    for function in program.functions.values() {
        let mut parts = Parts { of: function, made: Vec::new(), taken: program };
        let mut count = 0;
        let body = parts.shorten(&function.body, &mut count);
        for part in parts.made {
            parted.functions.insert(part.name.clone(), part);
        }
        parted.functions.insert(function.name.clone(), Function { body, ..function.clone() });
    }
    parted
}

struct Parts<'a> {
    of: &'a Function,
    /// Callees before callers.
    made: Vec<Function>,
    taken: &'a Program,
}

impl Parts<'_> {
    /// The term with at most [`LETS`] lets beyond `count`; inner terms first, which may become parts themselves.
    fn shorten(&mut self, expr: &Expr, count: &mut usize) -> Expr {
        match expr.term() {
            Term::Let(x, value, body) => {
                let value = self.shorten(value, count);
                *count += 1;
                if *count < LETS || !matches!(body.term(), Term::Let(..)) {
                    let body = self.shorten(body, count);
                    return Expr::let_(x.clone(), value, body).at(expr.span());
                }
                let mut inner = 0;
                let rest = self.shorten(body, &mut inner);
                let body = self.outline(rest);
                Expr::let_(x.clone(), value, body).at(expr.span())
            }
            _ => map_children(expr, &mut |child| self.shorten(child, count)),
        }
    }

    /// A call of a new function that is the term; the term itself where its type cannot be written.
    fn outline(&mut self, expr: Expr) -> Expr {
        let mut free = BTreeSet::new();
        each_free_var(&expr, &mut |var| {
            free.insert(var.clone());
        });
        // sizes that no parameter shows are parameters themselves
        let mut known = true;
        let mut mentioned = BTreeSet::new();
        let mut collect = |ty: &Type| {
            ty.each_size(&mut |size| {
                known &= !size.has_unknown() && !size.has_fold();
                size.each_var(&mut |var| {
                    mentioned.insert(var.clone());
                })
            })
        };
        free.iter().for_each(|var| collect(var.ty()));
        each_type(&expr, &mut collect);
        let bound = binders(&expr);
        mentioned.retain(|var| !bound.contains(var) && !free.contains(var));
        if !known || free.iter().any(|var| matches!(var.ty(), Type::Tuple(_)) && self.of.params.contains(var)) {
            return expr;
        }
        let shown = |size: &Var| free.iter().any(|var| var.ty().dims().iter().any(|dim| dim.as_var() == Some(size)));
        let (sizes, passed): (Vec<Var>, Vec<Var>) = mentioned.into_iter().partition(|var| shown(var));
        // a parameter whose type mentions an Index comes after it
        let (indices, others): (Vec<Var>, Vec<Var>) = passed.into_iter().chain(free).partition(|var| matches!(var.ty(), Type::Index(_)));
        let params: Vec<Var> = indices.into_iter().chain(others).collect();
        let mut number = self.made.len() + 1;
        let name = loop {
            let name = format!("{}_part_{number}", self.of.name);
            if !self.taken.functions.contains_key(name.as_str()) {
                break name;
            }
            number += 1;
        };
        let args: Vec<Expr> = params.iter().map(Expr::var).collect();
        let function = Function {
            name: name.into(),
            doc: Some(format!("The end of {}.", self.of.name)),
            sizes,
            params,
            result: expr.ty().clone(),
            body: expr.clone(),
            is_entry: false,
            span: self.of.span,
            labels: Vec::new(),
        };
        let function = freshen_function(&function);
        let call = Expr::with_type(Term::Call(function.name.clone(), args), expr.ty().clone(), expr.span());
        self.made.push(function);
        call
    }
}

fn each_type(expr: &Expr, f: &mut dyn FnMut(&Type)) {
    f(expr.ty());
    expr.term().binders().for_each(|var| f(var.ty()));
    expr.term().each_child(&mut |child| each_type(child, f));
}

fn binders(expr: &Expr) -> BTreeSet<Var> {
    let mut found: BTreeSet<Var> = expr.term().binders().cloned().collect();
    expr.term().each_child(&mut |child| found.extend(binders(child)));
    found
}
