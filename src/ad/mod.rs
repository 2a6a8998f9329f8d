//! Forward-mode differentiation: core → core, without `dual` terms.
//!
//! In: a program, functions after those they call. Out: the same entries and what they reach, where every
//! `dual(x = at, dx = tangent). body` has become code for the dual of `body`, the innermost first.
//!
//!     dual(x = 2.0, dx = 1.0). x * sin x
//!     →   let x = 2.0 in let u = sin x in (x * u, 1.0 * u + x * (cos x * 1.0))
//!
//! `split` cuts a reverse derivative in two functions. `activity` finds what the independent variable reaches, `rules` has a rule for each
//! form of term (001 Figure 7), `law` runs the primitives' derivatives, `derived` derives a function once for each activity pattern,
//! `functions` keeps those of the program meanwhile, `value`, `pairs` and `block` hold primals, tangents and the names they share, `cost`
//! says what may be computed twice, `counts` which loops data ends. Nothing is optimised here.

mod activity;
mod block;
mod cost;
mod counts;
mod derived;
mod functions;
pub mod law;
mod pairs;
mod reverse;
mod rules;
mod split;
mod value;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::rc::Rc;

use indexmap::IndexMap;

use crate::diagnostic::Diagnostic;
use crate::ir::subst::try_map_children;
use crate::ir::term::Vjp;
use crate::ir::{Expr, Function, Program, Term};
use crate::source::Span;
use functions::Functions;
pub use split::{Halves, split};

type Result<T> = std::result::Result<T, Diagnostic>;

/// How differentiation is done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// `--checkpoint`: reverse mode keeps so many states of a loop whose states it needs, and those of one part in between.
    pub checkpoint: Option<NonZeroU32>,
    pub keeps: Keeps,
}

/// What reverse mode keeps of a loop that data ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeps {
    /// The states at the beginnings of as many parts as its steps fill.
    #[default]
    Parts,
    /// Those of as many parts as there may be: a half of a `vjp` gives them to the other half, and their number has to be known before.
    MostParts,
    /// All states, for which no room can be had: to see what it costs.
    All,
}

/// The program without `dual` terms: its entries and what they reach, functions after those they call.
pub fn differentiate(program: &Program, options: Options) -> Result<Program> {
    let mut functions = Functions::new(program, options);
    for function in program.functions.values() {
        let body = without_duals(&function.body, &mut functions)?;
        if functions.has_derivative(&function.body) {
            functions.with_derivatives.insert(function.name.clone());
        }
        functions.add(Function { body, ..function.clone() })?;
    }
    let mut reached = Reached { all: &functions.done, seen: HashSet::new(), ordered: IndexMap::new() };
    let has_entries = program.functions.values().any(|function| function.is_entry);
    for (name, function) in &program.functions {
        if function.is_entry || !has_entries {
            reached.visit(name);
        }
    }
    Ok(Program { functions: reached.ordered })
}

/// Replaces every `dual` term, the innermost first.
fn without_duals(expr: &Expr, functions: &mut Functions) -> Result<Expr> {
    let inner = try_map_children(expr, &mut |child| without_duals(child, functions))?;
    let spares = functions.spares.clone();
    if let Term::Vjp { x, at, cotangent, body } = inner.term() {
        // loops of a derivative are in parts as they are
        let options = functions.options;
        if Vjp::of(expr).is_some_and(|vjp| functions.has_derivative(vjp.body)) {
            functions.options.checkpoint = None;
        }
        let both = reverse::vjp(functions, &Vjp { x, at, cotangent, body }, &spares);
        functions.options = options;
        let both = both?;
        return Ok(block::prune(&both, &spares).at(expr.span().of_derivative()));
    }
    let Term::Dual { x, at, tangent, body } = inner.term() else { return Ok(inner) };
    let pairs = rules::dual(functions, x, at.clone(), tangent.clone(), body, &spares)?;
    let pairs = block::prune(&pairs, &spares).at(expr.span().of_derivative());
    functions.within_budget(pairs.node_count(), expr.span())?;
    Ok(pairs)
}

/// An error of the compiler itself.
fn internal(span: Span, what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error("E0901", span, format!("internal error in differentiation: {what}")).help("please report it with the program")
}

/// Collects functions after those they call.
struct Reached<'a> {
    all: &'a IndexMap<Rc<str>, Function>,
    seen: HashSet<Rc<str>>,
    ordered: IndexMap<Rc<str>, Function>,
}

impl Reached<'_> {
    fn visit(&mut self, name: &Rc<str>) {
        let Some(function) = self.all.get(name) else { return };
        if self.seen.insert(name.clone()) {
            self.calls(&function.body);
            self.ordered.insert(name.clone(), function.clone());
        }
    }

    fn calls(&mut self, expr: &Expr) {
        if let Term::Call(name, _) = expr.term() {
            self.visit(name);
        }
        expr.term().each_child(&mut |child| self.calls(child));
    }
}
