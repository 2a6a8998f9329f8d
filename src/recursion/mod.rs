//! Recursion that is no loop gets a stack: what `types` leaves of recursion becomes loops over the states of a machine.
//!
//! In: the program after `types`, where tail calls are loops, and the parameters that `decreases` names. Out: the same functions
//! without recursion, and without values of recursive types, which become [`nodes`] first. A function and those that it calls and that
//! call it become one `while`, whose state is the number of a block, the depth, registers for parameters and results, and the stack:
//! an array for each value that a caller needs again. `blocks` cuts the bodies after their calls, `fixed` finds what every call passes
//! on, which stays outside, and `machine` makes the loop.
//!
//!     fact n = if n = 0 then 1.0 else double n * fact (n - 1)   →
//!       while (block, depth, n, r, stack):   0: if n = 0 then return 1.0 else push n, go to 0 with n - 1
//!                                            1: pop n, return double n * r
//!
//! The stack has room for 10,000 calls, one in another, in the first, and for as many more as the ambient variable `deeper` says, which is
//! what more bytes of workspace are for. Where the function says `decreases n` there is room for n + 1, and where `counts` finds that data
//! gives n, for no more than without `decreases`. A call beyond fails with `Status::Workspace`. The stack begins `unset` (`ir::ambient`),
//! for a frame is written before it is read, and is else an array like every other, so that derivatives, rules and targets know nothing
//! of it. Not here: lengths that change from call to call, and a function that differentiates itself.

mod blocks;
mod counts;
mod fixed;
mod machine;
mod nodes;

use std::collections::HashSet;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::subst::{inlined, map_children};
use crate::ir::{Expr, Function, Program, Term, Var};
use crate::source::Span;

/// How many calls may be one in another where nothing says how many there are: ten thousand in the first.
const CALLS: i64 = 10_001;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// What is known of parameters.
struct Parameters<'a> {
    /// Those that `decreases` names.
    measures: &'a [Var],
    /// What data gives in some call.
    from_data: HashSet<Var>,
    /// The store that a function gives back.
    changing: &'a HashSet<Var>,
}

/// The program without recursive types and recursion. `measures` are the parameters that `decreases` names.
pub fn give_stacks(program: &Program, measures: &[Var]) -> std::result::Result<Program, Diagnostics> {
    let (program, changing) = &nodes::store_nodes(program)?;
    let recursive = program.recursive();
    if recursive.is_empty() {
        return Ok(written_out(program.clone(), changing));
    }
    let known = Parameters { measures, from_data: counts::from_data(program, changing), changing };
    let mut made = program.clone();
    let mut problems = Vec::new();
    for function in program.functions.values().filter(|function| recursive.contains(&function.name)) {
        match machine::machine(function, &program.group(&function.name), &known) {
            Ok(body) => made.functions[&function.name].body = body,
            Err(problem) => problems.push(*problem),
        }
    }
    if !problems.is_empty() {
        // a group has its problem once for each of its functions
        problems.dedup_by(|a, b| a.span == b.span && a.message == b.message);
        return Err(problems);
    }
    Ok(written_out(ordered(made.without_unreachable()), changing))
}

/// The program, callees before callers, without calls of the functions that give a store back: a call would copy it.
fn written_out(mut program: Program, changing: &HashSet<Var>) -> Program {
    fn inside(expr: &Expr, program: &Program, changing: &HashSet<Var>) -> Expr {
        let made = map_children(expr, &mut |child| inside(child, program, changing));
        let Term::Call(name, args) = made.term() else { return made };
        match program.functions.get(name).filter(|callee| callee.params.iter().any(|param| changing.contains(param))) {
            Some(callee) => inlined(callee, args).at(expr.span()),
            None => made,
        }
    }
    if changing.is_empty() {
        return program;
    }
    for at in 0..program.functions.len() {
        let body = inside(&program.functions[at].body, &program, changing);
        program.functions[at].body = body;
    }
    program.without_unreachable()
}

/// The program with callees before callers.
fn ordered(program: Program) -> Program {
    fn add(program: &Program, name: &Rc<str>, done: &mut Program) {
        let Some(function) = program.functions.get(name).filter(|_| !done.functions.contains_key(name)) else { return };
        function.body.each_call(&mut |callee| add(program, callee, done));
        done.functions.insert(name.clone(), function.clone());
    }
    let mut done = Program::default();
    program.functions.keys().for_each(|name| add(&program, name, &mut done));
    done
}

fn unsupported(function: &Function, span: Span, what: &str, help: &str) -> Box<Diagnostic> {
    let span = if span.is_none() { function.span } else { span };
    let message = format!("unsupported: the recursion of `{}` {what}", function.name);
    Box::new(Diagnostic::error("E0606", span, message).help(format!("{help}; `smoothc eval` without `--schedule` runs any recursion")))
}
