//! Small arrays as scalars: a `build` of a few elements is written out, an array that is only indexed by
//! literals becomes a tuple.
//!
//!     build 3 (fun i -> v[i] * s)                →  [v[0] * s, v[1] * s, v[2] * s]
//!     let p = [a, b, c] in p[0] * p[2] + p[0]    →  let p = (a, b, c) in p.0 * p.2 + p.0
//!
//! What is known of each index then simplifies its element: one-hot tangents of a camera's eleven parameters
//! become the few that are not zero. An array that a loop walks over stays one.

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, map_children, substitute};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::has_array;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "build-unroll" Loop Normalisation @ Build: "build 2 f -> [f 0, f 1]" if ["few elements and a small f"] => build_unroll;
    "array-to-tuple" Tuple @ Let: "let x = [a, b] in c -> let x = (a, b) in c[x.k/x[k]]" if ["x is only indexed by literals"] => array_to_tuple;
}

/// A build of at most this many elements is written out,
const FEW: i64 = 4;
/// or of this many, where its index simplifies an element,
const SEVERAL: i64 = 16;
/// unless all of them have more nodes than this.
const UNROLLED_NODES: usize = 12_000;
/// Nothing is written out in a function that has grown to more nodes than this.
const FUNCTION_NODES: usize = 40_000;

fn build_unroll(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    let Term::Index(count) = n.term() else { return None };
    let small = (1..=FEW).contains(count) || (1..=SEVERAL).contains(count) && looks_at(body, i, facts);
    let nodes = body.node_count().saturating_mul(usize::try_from(*count).ok()?);
    if *count < 1 {
        return None;
    }
    let is_small = small && nodes <= UNROLLED_NODES && facts.nodes + nodes <= FUNCTION_NODES;
    facts.require("few elements and a small f", is_small, n)?;
    let Type::Array(element, _) = expr.ty() else { return None };
    let items = (0..*count).map(|k| freshen(&substitute(body, &[(i.clone(), Expr::index(k))]))).collect();
    Some(Expr::array(element.as_ref().clone(), items))
}

/// Whether knowing this index simplifies the term: it is compared, or picks from an array that is written out.
fn looks_at(expr: &Expr, i: &Var, facts: &Facts) -> bool {
    let is_index = |expr: &Expr| matches!(expr.term(), Term::Var(var) if var == i);
    let written_out = |array: &Expr| match array.term() {
        Term::Var(var) => facts.value(var).is_some_and(|value| matches!(value.term(), Term::Array(_))),
        term => matches!(term, Term::Array(_)),
    };
    match expr.term() {
        Term::Prim(Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge, args) if args.iter().any(is_index) => true,
        Term::Get(array, index) if is_index(index) && written_out(array) => true,
        term => {
            let mut found = false;
            term.each_child(&mut |child| found = found || looks_at(child, i, facts));
            found
        }
    }
}

fn array_to_tuple(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    if !has_array(value.ty()) || !facts.grants("x is only indexed by literals", only_leaves(body, x)) {
        return None;
    }
    let value = as_tuples(value)?;
    let tuple = Var::fresh(x.name(), value.ty().clone());
    Some(Expr::let_(tuple.clone(), value, with_projections(body, x, &tuple)))
}

/// The length of an array type that has elements of its own to name.
fn few(size: &Size) -> Option<usize> {
    let count = size.as_constant().filter(|count| (2..=SEVERAL).contains(count))?;
    usize::try_from(count).ok()
}

/// The term with its small arrays as tuples, where it ends in ones that are written out or stored already.
fn as_tuples(expr: &Expr) -> Option<Expr> {
    if !has_array(expr.ty()) {
        return Some(expr.clone());
    }
    match expr.term() {
        Term::Array(items) if (2..=SEVERAL).contains(&(items.len() as i64)) => {
            Some(Expr::tuple(items.iter().map(as_tuples).collect::<Option<_>>()?))
        }
        Term::Tuple(parts) => Some(Expr::tuple(parts.iter().map(as_tuples).collect::<Option<_>>()?)),
        Term::Let(x, a, b) => Some(Expr::let_(x.clone(), a.clone(), as_tuples(b)?)),
        Term::Check { cond, status, body } => Some(Expr::check(cond.clone(), *status, as_tuples(body)?)),
        Term::If(c, a, b) => {
            let (a, b) = (as_tuples(a)?, as_tuples(b)?);
            a.ty().same_shape(b.ty()).then(|| Expr::if_(c.clone(), a, b))
        }
        Term::Fold { n, acc, i, body, init } => {
            if !only_leaves(body, acc) {
                return None;
            }
            let init = as_tuples(init)?;
            let state = Var::fresh(acc.name(), init.ty().clone());
            let body = as_tuples(&with_projections(body, acc, &state))?;
            body.ty().same_shape(init.ty()).then(|| Expr::fold_with(n.clone(), state, i.clone(), body, init))
        }
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Build { .. }
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Array(_)
        | Term::Proj(..)
        | Term::Call(..)
        | Term::Dual { .. } => None,
    }
}

/// The variable that a path of projections and literal indices starts from, with the components on the way.
fn path<'a>(expr: &'a Expr, steps: &mut Vec<usize>) -> Option<&'a Var> {
    let (inner, step) = match expr.term() {
        Term::Var(var) => return Some(var),
        Term::Proj(inner, k) => (inner, *k),
        Term::Get(inner, index) => match index.term() {
            Term::Index(k) => {
                let k = usize::try_from(*k).ok()?;
                (inner, inner.ty().dims().first().and_then(few).filter(|count| k < *count).map(|_| k)?)
            }
            _ => return None,
        },
        _ => return None,
    };
    let var = path(inner, steps)?;
    steps.push(step);
    Some(var)
}

/// Whether x occurs only in paths to components that hold no array.
fn only_leaves(expr: &Expr, x: &Var) -> bool {
    if !mentions(expr, x) {
        return true;
    }
    if let Term::Proj(..) | Term::Get(..) | Term::Var(_) = expr.term()
        && path(expr, &mut Vec::new()) == Some(x)
    {
        return !has_array(expr.ty());
    }
    expr.term().children().all(|child| only_leaves(child, x))
}

fn with_projections(expr: &Expr, x: &Var, tuple: &Var) -> Expr {
    if let Term::Proj(..) | Term::Get(..) = expr.term() {
        let mut steps = Vec::new();
        if path(expr, &mut steps) == Some(x) {
            return steps.into_iter().fold(Expr::var(tuple), Expr::proj);
        }
    }
    map_children(expr, &mut |child| with_projections(child, x, tuple))
}
