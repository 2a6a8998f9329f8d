//! 001 Figure 8a: lets and calls.
//!
//!     let x = y in x + x                    →  y + y
//!     let x = (let y = a in b) in c         →  let y = a in let x = b in c
//!     f (let x = a in b)                    →  let x = a in f b
//!
//! `let-inline` is shared with the engine, which carries the substitution along instead of doing it at once
//! ([`inlines`] is the one place that decides). Nothing non-atomic crosses a `dual`: an occurrence there
//! counts as one in a loop.

use crate::ir::free::{mentions, types_mention};
use crate::ir::last_use::{component, components_with_arrays};
use crate::ir::program::match_sizes;
use crate::ir::subst::{freshen_function, map_children, substitute};
use crate::ir::{Expr, Name, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::alike::same;
use crate::rewrite::atoms::{is_free, is_number};
use crate::rewrite::cost::{element_is_cheap, element_is_hot, element_is_short, element_is_sparse, is_fill};
use crate::rewrite::facts::Facts;
use crate::rewrite::uses::{Use, Uses};

use super::rules;

rules! {
    "let-inline" ["001 Fig. 8a"] Lambda @ Let: "let x = a in b -> b[a/x]"
        if ["a is atomic, or used once and not repeated, or a build that fuses, or a row of a variable"] => let_inline;
    "let-dead" ["001 Fig. 8a"] Lambda @ Let: "let x = a in b -> b" if ["x is not free in b"] => let_dead;
    "let-flatten" ["001 Fig. 8a"] Lambda @ Let: "let x = (let y = a in b) in c -> let y = a in let x = b in c" => let_flatten;
    "let-split" Lambda @ Let: "let x = (a, b) in c -> let y = a in let z = b in c[(y, z)/x]" => let_split;
    "let-float" ["001 Fig. 8a"] Lambda @ Any: "f (let x = a in b) -> let x = a in f b" if ["f is strict there"] => let_float;
    "let-merge" ["001 Fig. 8a"] Lambda @ Let: "let x = a in let y = a in b -> let x = a in let y = x in b" => let_merge;
    "let-swap" ["001 Fig. 8a"] Lambda @ Let: "let x = a in let y = b in c -> let y = b in let x = a in c" if ["x is not free in b"] => let_swap;
    "beta" ["001 Fig. 8a"] Lambda @ Call: "f a b -> let x = a in let y = b in e where f x y = e" if ["f, its caller and the program are small enough"] => beta;
}

/// A function of at most this many nodes is always inlined: its arguments simplify that much.
const SMALL_NODES: usize = 60;

/// A larger one that is called more than once stays a call when its copies together have more nodes than this.
const COPIED_NODES: usize = 400;

/// Calls stay in a function that has grown to more nodes than this.
const CALLER_NODES: usize = 20_000;

/// Larger functions stay calls in a program of more nodes than this: where each of a thousand functions calls
/// the one before, every body would hold all before it.
const PROGRAM_NODES: usize = 50_000;

/// Whether `let x = value in …` is inlined, by the occurrences of x.
pub fn inlines(value: &Expr, uses: Use, fuse: bool) -> bool {
    if is_free(value) {
        return true;
    }
    // sizes that mention x need a size for it
    if matches!(value.ty(), Type::Index(_)) && Size::try_of_expr(value).is_none() {
        return false;
    }
    if uses.count == 1 && !uses.repeated && (fuse || !is_array_form(value)) {
        return true;
    }
    fuse && uses.count > 0 && fuses(value, uses)
}

/// Whether a value may be computed later, at its use in the body: not where it reads an array that the body uses as a whole
/// before, because that use would no longer be the last and an update could not be done in place.
pub fn may_wait(value: &Expr, body: &Expr) -> bool {
    if is_free(value) || !body.has_updates() {
        return true;
    }
    // a loop may change all that its state has in place
    let reads = |path: Vec<usize>| if matches!(value.term(), Term::Build { .. }) { path } else { Vec::new() };
    !components_with_arrays(value).into_iter().any(|(var, path)| is_handed_on(body, &var, &reads(path)))
}

/// Whether a component of a variable, of which this is the path, is used as a whole array, not only indexed or measured.
pub fn is_handed_on(expr: &Expr, var: &Var, path: &[usize]) -> bool {
    if !mentions(expr, var) {
        return false;
    }
    if let Some((_, own)) = component(expr) {
        return expr.ty().has_array() && own.iter().zip(path).all(|(a, b)| a == b);
    }
    match expr.term() {
        Term::Dim(array, _) => !is_part_of(array, var) && is_handed_on(array, var, path),
        Term::Get(array, index) => {
            let is_read = !expr.ty().has_array() && is_part_of(array, var);
            !is_read && is_handed_on(array, var, path) || is_handed_on(index, var, path)
        }
        term => term.children().any(|child| is_handed_on(child, var, path)),
    }
}

/// A variable, or a component, an element or a row of it.
fn is_part_of(expr: &Expr, var: &Var) -> bool {
    match expr.term() {
        Term::Var(other) => other == var,
        Term::Proj(part, _) | Term::Get(part, _) => is_part_of(part, var),
        _ => false,
    }
}

/// An array in a variable's array, known to be there: reading its elements through the variable costs nothing more.
pub fn is_row(value: &Expr, facts: &Facts) -> bool {
    let mut array = value;
    while let Term::Get(inner, index) = array.term() {
        if !is_free(index) {
            return false;
        }
        array = inner;
    }
    matches!(value.ty(), Type::Array(..)) && matches!(value.term(), Term::Get(..)) && is_free(array) && facts.is_total(value)
}

fn is_array_form(value: &Expr) -> bool {
    matches!(value.term(), Term::Build { .. } | Term::Array(_))
}

/// A size such as `3 * n`, which is no work to compute again.
pub fn is_small_size(n: &Expr) -> bool {
    is_free(n) || matches!(n.term(), Term::Prim(Prim::Add | Prim::Sub | Prim::Mul, args) if args.iter().all(is_free))
}

/// A `build` (or literal) all of whose uses index or measure it, where computing the elements in place does
/// no more work than storing them.
fn fuses(value: &Expr, uses: Use) -> bool {
    if !uses.is_virtual() {
        return false;
    }
    match value.term() {
        Term::Build { n, .. } => {
            let copies_length = uses.count == 1 || is_small_size(n);
            // one extra element is negligible beside a loop over many
            let is_one_more = uses.indexed == 2 && uses.straight == 1 && !matches!(n.term(), Term::Index(_)) && element_is_short(value);
            let is_few = uses.indexed <= 1 || is_one_more;
            let is_few = is_few || uses.indexed <= 4 && element_is_hot(value);
            let once = is_few && uses.fused == uses.indexed && uses.levels <= build_levels(value);
            // a loop around it is the sum's, which needs none for what it selects
            let in_sums = uses.summed > 0 && uses.fused + uses.summed == uses.indexed && uses.levels <= build_levels(value);
            let summed = in_sums && uses.indexed <= 4 && element_is_sparse(value);
            copies_length && (once || summed || element_is_cheap(value))
        }
        // an element read at an index that is not literal would make the array each time
        Term::Array(items) => items.iter().all(is_free) && (items.len() <= 2 || uses.count == uses.literal.saturating_add(uses.measured)),
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Let(..)
        | Term::If(..)
        | Term::Fold { .. }
        | Term::While { .. }
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Proj(..)
        | Term::Call(..)
        | Term::Iso(..)
        | Term::Check { .. }
        | Term::Update(..)
        | Term::Vjp { .. }
        | Term::Dual { .. } => false,
    }
}

/// How many builds are directly nested.
fn build_levels(expr: &Expr) -> usize {
    match expr.term() {
        Term::Build { body, .. } => 1 + build_levels(body),
        _ => 0,
    }
}

fn let_inline(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let known = if facts.uses.knows(x) { facts.uses.get(x) } else { Uses::of(expr).get(x) };
    let is_cheap = inlines(value, known, true) || is_row(value, facts);
    facts.require("a is atomic, or used once and not repeated, or a build that fuses, or a row of a variable", is_cheap, value)?;
    Some(substitute(body, &[(x.clone(), value.clone())]))
}

fn let_dead(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    facts.grants("x is not free in b", Uses::of(expr).get(x).count == 0).then(|| without(x, value, body))
}

/// The body of a `let` that no term in it reads, with the value in the sizes that mention it: `length-size` makes terms of sizes.
pub fn without(x: &Var, value: &Expr, body: &Expr) -> Expr {
    if types_mention(body, x) { substitute(body, &[(x.clone(), value.clone())]) } else { body.clone() }
}

fn let_flatten(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    match value.term() {
        Term::Let(y, a, b) => Some(Expr::let_(y.clone(), a.clone(), Expr::let_(x.clone(), b.clone(), body.clone()))),
        Term::Check { cond, status, body: b } => Some(Expr::check(cond.clone(), *status, Expr::let_(x.clone(), b.clone(), body.clone()))),
        _ => None,
    }
}

/// Whether a variable is the value and the tangent of another one, which is bound to its first component in front of a body and has
/// its name: derivatives of calls are bound so.
fn is_dual(x: &Var, body: &Expr) -> bool {
    let Term::Let(value, first, _) = body.term() else { return false };
    let is_first = matches!(first.term(), Term::Proj(pair, 0) if matches!(pair.term(), Term::Var(var) if var == x));
    is_first && value.name() == x.name()
}

/// The value of a let, where it binds what comes first in a value with its tangent: that takes the name of the let, which is what the
/// source calls it, and a variable in the place of another.
///
///     let theta = (let r = sqrt q in (r, dq / (2 * r))) in …   →   let theta = (let theta = sqrt q in (theta, dq / (2 * theta))) in …
pub fn named_as(x: &Var, value: &Expr, body: &Expr) -> Option<(Expr, [Var; 2])> {
    if !is_dual(x, body) {
        return None;
    }
    let mut end = value;
    while let Term::Let(_, _, inner) | Term::Check { body: inner, .. } = end.term() {
        end = inner;
    }
    let Term::Tuple(parts) = end.term() else { return None };
    let [first, _] = &**parts else { return None };
    let Term::Var(own) = first.term() else { return None };
    let name = x.renewed(own.ty().clone());
    fn renamed(expr: &Expr, own: &Var, name: &Var) -> Option<Expr> {
        let new = match expr.term() {
            Term::Let(y, a, b) if y == own => Expr::let_(name.clone(), a.clone(), substitute(b, &[(own.clone(), Expr::var(name))])),
            Term::Let(y, a, b) => Expr::let_(y.clone(), a.clone(), renamed(b, own, name)?),
            Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, renamed(body, own, name)?),
            _ => return None,
        };
        Some(new.at(expr.span()))
    }
    Some((renamed(value, own, &name)?, [own.clone(), name]))
}

/// The components of a tuple under names of their own, and the tuple of those, for a let with this body: a value and its tangent are
/// `w` and `dw`, other components `w_0`, `w_1`, ….
pub fn split_tuple(x: &Var, parts: &[Expr], body: &Expr) -> (Vec<(Var, Expr)>, Expr) {
    let is_dual = parts.len() == 2 && !x.full_name().has_parts() && is_dual(x, body);
    let name = |at: usize| match at {
        0 if is_dual => Name::from(x.name()),
        1 if is_dual => format!("d{}", x.name()).into(),
        at => x.full_name().part(at),
    };
    let mut lets = Vec::new();
    let parts = parts.iter().enumerate().map(|(at, part)| {
        if is_free(part) {
            return part.clone();
        }
        let var = Var::named(name(at), part.ty().clone());
        lets.push((var.clone(), part.clone()));
        Expr::var(&var)
    });
    let tuple = Expr::tuple(parts.collect());
    (lets, tuple)
}

fn let_split(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let Term::Tuple(parts) = value.term() else { return None };
    let (lets, tuple) = split_tuple(x, parts, body);
    let body = substitute(body, &[(x.clone(), tuple)]);
    Some(lets.into_iter().rev().fold(body, |body, (var, part)| Expr::let_(var, part, body)))
}

/// The lets and checks in front of a strict operand.
enum Prefix {
    Let(Var, Expr),
    Check(Expr, Status),
}

fn let_float(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let is_strict = strict_operands(expr);
    let strict = |at| facts.grants("f is strict there", is_strict(at));
    let mut at = 0;
    let mut prefixes = Vec::new();
    let inner = map_children(expr, &mut |child| {
        at += 1;
        if !strict(at - 1) { child.clone() } else { strip(child, &mut prefixes) }
    });
    (!prefixes.is_empty()).then(|| behind(prefixes, inner))
}

/// The term with all lets and checks floated out of its operands, recursively: the fixed point of the rule, in one walk.
pub fn floated(expr: &Expr) -> Expr {
    let mut prefixes = Vec::new();
    let inner = bare(expr, &mut prefixes);
    behind(prefixes, inner)
}

fn bare(expr: &Expr, prefixes: &mut Vec<Prefix>) -> Expr {
    let is_strict = strict_operands(expr);
    let mut at = 0;
    map_children(expr, &mut |child| {
        at += 1;
        if !is_strict(at - 1) {
            return child.clone();
        }
        let child = strip(child, prefixes);
        bare(&child, prefixes)
    })
}

fn behind(prefixes: Vec<Prefix>, inner: Expr) -> Expr {
    prefixes.into_iter().rev().fold(inner, |inner, prefix| match prefix {
        Prefix::Let(x, a) => Expr::let_(x, a, inner),
        Prefix::Check(cond, status) => Expr::check(cond, status, inner),
    })
}

fn strip(expr: &Expr, prefixes: &mut Vec<Prefix>) -> Expr {
    let mut expr = expr.clone();
    loop {
        let inner = match expr.term() {
            Term::Let(x, a, b) => {
                prefixes.push(Prefix::Let(x.clone(), a.clone()));
                b.clone()
            }
            Term::Check { cond, status, body } => {
                prefixes.push(Prefix::Check(cond.clone(), *status));
                body.clone()
            }
            _ => return expr,
        };
        expr = inner;
    }
}

/// Which subterms, in evaluation order, are always evaluated, outside of what the term binds.
pub fn strict_operands(expr: &Expr) -> impl Fn(usize) -> bool + use<> {
    let first = match expr.term() {
        Term::Prim(Prim::And | Prim::Or, _) | Term::If(..) | Term::Build { .. } | Term::While { .. } | Term::Check { .. } => 1,
        Term::Fold { .. } => 2,
        // let-flatten
        Term::Let(..) | Term::Dual { .. } | Term::Vjp { .. } => 0,
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Tuple(_)
        | Term::Proj(..)
        | Term::Array(_)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Call(..) => usize::MAX,
    };
    move |at| at < first
}

fn let_merge(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(y, value, body) = expr.term() else { return None };
    if is_free(value) {
        return None;
    }
    if let Term::Let(next, again, rest) = body.term()
        && next.ty() == y.ty()
        && same(value, again)
    {
        return Some(Expr::let_(y.clone(), value.clone(), substitute(rest, &[(next.clone(), Expr::var(y))])));
    }
    if facts.has_updates && is_fill(value) {
        return None;
    }
    let x = facts.bound_to(value)?;
    (x != *y && x.ty() == y.ty()).then(|| substitute(body, &[(y.clone(), Expr::var(&x))]))
}

/// In no schedule, because it would not terminate. For compound strategies.
fn let_swap(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, a, body) = expr.term() else { return None };
    let Term::Let(y, b, c) = body.term() else { return None };
    facts.require("x is not free in b", !mentions(b, x), b)?;
    Some(Expr::let_(y.clone(), b.clone(), Expr::let_(x.clone(), a.clone(), c.clone())))
}

/// A call becomes the function's body, its sizes read off the arguments' types.
fn beta(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Call(name, args) = expr.term() else { return None };
    let function = facts.program.functions.get(name)?;
    let nodes = function.body.node_count();
    let copies = if facts.calls(name) < 2 { 0 } else { nodes * facts.calls(name) };
    // most of the work of a derivative is on zeros until their places are known
    let most = if args.iter().any(|arg| is_one_hot(arg, facts)) { CALLER_NODES } else { COPIED_NODES };
    let is_copied = copies > most || facts.nodes + facts.program.node_count() > PROGRAM_NODES;
    let is_large = nodes > SMALL_NODES && is_copied || facts.nodes + nodes > CALLER_NODES;
    facts.require("f, its caller and the program are small enough", !is_large, expr)?;
    let function = freshen_function(function);
    let mut sizes: Vec<(Var, Size)> = Vec::new();
    for (param, arg) in function.params.iter().zip(args) {
        match_sizes(param.ty(), arg.ty(), &mut sizes);
    }
    let mut map = Vec::new();
    for size in &function.sizes {
        let (_, actual) = sizes.iter().find(|(name, _)| name == size)?;
        map.push((size.clone(), actual.to_expr()?));
    }
    let mut lets = Vec::new();
    for (param, arg) in function.params.iter().zip(args) {
        let var = param.renewed(arg.ty().clone());
        map.push((param.clone(), Expr::var(&var)));
        lets.push((var, arg.clone()));
    }
    let body = substitute(&function.body, &map);
    Some(lets.into_iter().rev().fold(body, |body, (var, arg)| Expr::let_(var, arg, body)))
}

/// Whether an array is zero except at indices of enclosing loops, as one-hot tangents are.
fn is_one_hot(array: &Expr, facts: &Facts) -> bool {
    match array.term() {
        Term::Var(var) => facts.value(var).is_some_and(|value| matches!(value.term(), Term::Build { .. }) && is_one_hot(value, facts)),
        Term::Build { body, .. } => is_one_hot(body, facts),
        Term::If(cond, _, zero) => matches!(cond.term(), Term::Prim(Prim::Eq, _)) && is_number(zero, 0.0),
        _ => false,
    }
}
