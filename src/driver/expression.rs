//! `smoothc rewrite`: a strategy applied to one expression.
//!
//! In: the texts of both, each under its name in the source map. Out: the rewritten expression on one line, or
//! `None` where the strategy does not apply. Free names have inferred types and sizes of their own; a length
//! that the result mentions is printed as `length v`, and a call of a function that the source cannot name as its
//! body, so that the result can be read as an expression again. A derivative is worked out first: no rule looks
//! into one.
//!
//!     innermost get-build,  (build (length v) (fun i -> v[i] * 2.0))[k]   →   check 0 <= k && k < length v …

use std::collections::HashSet;
use std::rc::Rc;

use super::Schedule;
use super::schedule::schedule;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::check::find_derivative;
use crate::ir::subst::{inlined, map_children, substitute};
use crate::ir::{Expr, Function, Program, Term, Type, Var, print};
use crate::mode::{self, Way};
use crate::source::{SourceMap, Span};
use crate::{ad, rewrite, syntax, types};

/// The rewritten expression, and warnings.
#[derive(Debug)]
pub struct Rewritten {
    pub text: Option<String>,
    pub warnings: Diagnostics,
}

/// Applies a strategy to an expression as written.
pub fn rewrite_expression(
    strategy: &Schedule,
    expression: &str,
    options: &rewrite::Options,
    sources: &mut SourceMap,
) -> Result<Rewritten, Diagnostics> {
    let one = |problem| vec![problem];
    let strategy = schedule(strategy, sources)?;
    let file = sources.add("<expression>", expression);
    let tree = syntax::parse_expr(expression, file)?;
    let types::Free { mut program, plain, warnings } = types::expression(sources, tree)?;
    if program.functions.values().any(|function| find_derivative(&function.body).is_some()) {
        known_calls(&program).map_err(one)?;
        program = ad::differentiate(&mode::decide(&program, &mut |_, _, _| Way::Forward.into()), ad::Options::default()).map_err(one)?;
    }
    // written out, a recursive function has no end: its calls stay as those of a function of which nothing is known
    let recursive = program.recursive();
    program.functions.retain(|name, _| !recursive.contains(name));
    let Some(function) = program.functions.get(types::EXPRESSION) else {
        return Err(one(Diagnostic::error("E0901", Span::NONE, "internal error: the expression was lost")));
    };
    let new = rewrite::apply(&strategy, &program, function, options).map_err(one)?;
    let source = |new: Expr| substitute(&written_out(&new, &program, &plain), &lengths(function));
    let text = new.map(|new| print::line(&source(new), &function.params));
    Ok(Rewritten { text, warnings })
}

/// The term with the bodies of functions that the source cannot call: they were made for a function argument, or are
/// local, or derivatives.
fn written_out(expr: &Expr, program: &Program, plain: &HashSet<Rc<str>>) -> Expr {
    let expr = map_children(expr, &mut |child| written_out(child, program, plain));
    let Term::Call(name, args) = expr.term() else { return expr };
    let Some(function) = program.functions.get(name).filter(|_| !plain.contains(name)) else { return expr };
    written_out(&inlined(function, args), program, plain)
}

/// That every function is known: another has no derivative.
fn known_calls(program: &Program) -> Result<(), Diagnostic> {
    fn find(expr: &Expr, program: &Program, found: &mut Option<Diagnostic>) {
        if let Term::Call(name, _) = expr.term()
            && !program.functions.contains_key(name)
        {
            let problem = Diagnostic::error("E0506", expr.span(), format!("nothing is known of `{name}`, and so not its derivative"));
            *found = Some(problem.help("write the function itself, as `fun x -> …` or with `let`"));
        }
        expr.term().each_child(&mut |child| find(child, program, found));
    }
    let mut found = None;
    program.functions.values().for_each(|function| find(&function.body, program, &mut found));
    found.map_or(Ok(()), Err)
}

/// For each size of the function, the term that reads it off a parameter.
fn lengths(function: &Function) -> Vec<(Var, Expr)> {
    fn visit(value: Expr, ty: &Type, found: &mut Vec<(Var, Expr)>) {
        match ty {
            Type::Array(..) => {
                for (axis, size) in ty.dims().iter().enumerate() {
                    if let Some(var) = size.as_var()
                        && !found.iter().any(|(known, _)| known == var)
                    {
                        found.push((var.clone(), Expr::dim(value.clone(), axis)));
                    }
                }
            }
            Type::Tuple(parts) => parts.iter().enumerate().for_each(|(at, part)| visit(Expr::proj(value.clone(), at), part, found)),
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {}
        }
    }
    let mut found = Vec::new();
    function.params.iter().for_each(|param| visit(Expr::var(param), param.ty(), &mut found));
    found.retain(|(var, _)| !function.params.contains(var));
    found
}
