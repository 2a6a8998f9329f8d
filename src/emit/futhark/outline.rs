//! Terms as functions of their own.
//!
//! In: a term of a function's body. Out: a call of a new function of the variables and the lengths that the term reads.
//!
//!     let y = f x in y * z   →   f_part_1 x z

use std::collections::BTreeSet;

use crate::ir::free::each_free_var;
use crate::ir::subst::freshen_function;
use crate::ir::{Expr, Function, Program, Term, Type, Var};

/// The program with each body rewritten, and the functions that this makes before those that call them.
pub fn rewritten(program: &Program, rewrite: impl Fn(&mut Parts, &Expr) -> Expr) -> Program {
    let mut result = Program::default();
    for function in program.functions.values() {
        let mut parts = Parts { of: function, made: Vec::new(), taken: program };
        let body = rewrite(&mut parts, &function.body);
        result.functions.extend(parts.made.into_iter().map(|part| (part.name.clone(), part)));
        result.functions.insert(function.name.clone(), Function { body, ..function.clone() });
    }
    result
}

/// Functions that are made of another one's terms.
pub struct Parts<'a> {
    pub of: &'a Function,
    /// Callees before callers.
    made: Vec<Function>,
    taken: &'a Program,
}

impl Parts<'_> {
    /// A call of a new function that is the term; the term itself where its type cannot be written.
    pub fn outline(&mut self, what: &str, doc: &str, expr: Expr) -> Expr {
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
            let name = format!("{}_{what}_{number}", self.of.name);
            if !self.taken.functions.contains_key(name.as_str()) {
                break name;
            }
            number += 1;
        };
        let args: Vec<Expr> = params.iter().map(Expr::var).collect();
        let function = Function {
            name: name.into(),
            doc: Some(doc.to_string()),
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
