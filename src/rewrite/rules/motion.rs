//! Loop-invariant code motion. `hoist` is the last rule of 001 Figure 8a with a
//! loop as its f; the others are smoothc's own.
//!
//!     build n (fun i -> exp c * v[i])                →  let t = exp c in build n (fun i -> t * v[i])
//!     build n (fun k -> ifold (fun s i -> … f i …))  →  let t = build m (fun i -> f i) in … t[i] …
//!
//! Only from places that every iteration reaches, and only terms that cannot fail, or out of a loop that is known to run: no new
//! error is possible. From a branch on what no iteration changes, quotients, roots and functions leave behind its condition. An array
//! pays where it saves more than storing and loading it, assuming two iterations. `invariant` finds the terms.

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, substitute};
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::cost::{Work, is_costly, is_fill, is_worth_a_name};
use crate::rewrite::facts::Facts;

use super::invariant::{Found, Loops, Search};
use super::lambda::is_small_size;
use super::rules;

rules! {
    "hoist" ["001 Fig. 8a"]       Lambda Motion @ Loop: "build n (fun i -> f e) -> let t = e in build n (fun i -> f t); build n (fun i -> if c then f e else g) -> let t = (if c then e else 0) in build n (fun i -> if c then f t else g)"
        if ["i is not free in e", "e is worth hoisting", "n is not 0 or 1", "e total, or 0 < n, or guarded by that test"] => hoist;
    "hoist-array" Lambda Motion @ Loop: "build k (fun i -> ifold (fun s j -> f e) z n) -> let t = build n (fun j -> e) in build k (fun i -> ifold (fun s j -> f t[j]) z n)"
        if ["i and s are not free in e", "e is worth an array", "k is not 0 or 1", "e total, else guarded by 0 < k", "0 <= n, else max 0 n elements"] => hoist_array;
    "hoist-check" Lambda Motion @ Loop: "build n (fun i -> let x = a in check c else s in e) -> check n <= 0 || c else s in build n (fun i -> let x = a in e)"
        if ["i and x are not free in c", "copying n costs nothing", "0 < n, else guarded by that test"] => hoist_check;
}

/// The count, the binders and the body of a loop.
pub(super) fn parts(expr: &Expr) -> Option<(&Expr, Vec<&Var>, &Expr)> {
    match expr.term() {
        Term::Build { n, i, body } => Some((n, vec![i], body)),
        Term::Fold { n, acc, i, body, .. } => Some((n, vec![acc, i], body)),
        _ => None,
    }
}

pub(super) fn with_body(expr: &Expr, new: Expr) -> Expr {
    match expr.term() {
        Term::Build { n, i, .. } => Expr::build_with(n.clone(), i.clone(), new),
        Term::Fold { n, acc, i, init, .. } => Expr::fold_with(n.clone(), acc.clone(), i.clone(), new, init.clone()),
        _ => expr.clone(),
    }
}

/// Whether hoisting gains nothing: the loop is known to run at most once.
pub(super) fn is_short(n: &Expr) -> bool {
    matches!(n.term(), Term::Index(n) if *n < 2)
}

/// Whether the loop is known to run at least once.
pub(super) fn runs(n: &Expr, facts: &Facts) -> bool {
    Size::try_of_expr(n).is_some_and(|n| facts.positive(&n))
}

fn hoist(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (n, binders, body) = parts(expr)?;
    facts.require("n is not 0 or 1", !is_short(n), n)?;
    let runs = runs(n, facts);
    let mut search = Search::out_of(&binders, facts, facts.grants("i is not free in e", false));
    search.may_fail = runs;
    search.all = true;
    // a term with a loop is worth the test that the outer loop runs; a length behind such a test would no longer be a size
    let guarded = |term: &Expr| Size::try_of_expr(term).is_none() && is_worth_a_test(n, term, facts);
    search.strict(body, &mut |term, place| {
        if body.has_updates() && is_fill(term) {
            return false;
        }
        let is_safe = |term: &Expr| runs || !place.fails && facts.is_total(term) || guarded(term);
        facts.grants("e is worth hoisting", is_worth_moving(term, place.named))
            && facts.require("e total, or 0 < n, or guarded by that test", is_safe(term), term).is_some()
    });
    let body = if search.found.is_empty() {
        search.branches(body, &mut |term, place| {
            let is_wanted = term.ty() == &Type::Double && has_costly(term);
            facts.grants("e is worth hoisting", is_wanted) && !place.fails && facts.is_total(term)
        })
    } else {
        search.names.done_in(body)
    };
    if search.found.is_empty() {
        return None;
    }
    let inside = with_body(expr, body);
    Some(search.found.into_iter().rev().fold(inside, |inside, Found { name, value }| {
        let value = freshen(&value);
        let is_safe = runs || facts.is_total(&value);
        let value = if is_safe { value } else { behind(n, &value, facts).unwrap_or(value) };
        Expr::let_(name, value, inside)
    }))
}

/// A length, or one operation on sizes.
fn is_free_to_copy(n: &Expr) -> bool {
    is_small_size(n) || matches!(n.term(), Term::Dim(..))
}

/// Whether a loop or a function of its own makes a term worth a test of whether the loop of n steps around it runs.
fn is_worth_a_test(n: &Expr, term: &Expr, facts: &Facts) -> bool {
    let work = Work::of(term);
    is_free_to_copy(n) && (work.loops > 0 || work.functions > 0) && behind(n, term, facts).is_some()
}

/// The term where a loop of n steps runs, and something else where it does not; of an array that has its length in any case,
/// so each element. A length that loops compute stays: an array without elements has it too.
fn behind(n: &Expr, term: &Expr, facts: &Facts) -> Option<Expr> {
    if matches!(term.ty(), Type::Index(_)) && Size::try_of_expr(term).is_some_and(|size| size.has_fold()) {
        return None;
    }
    if let Some(idle) = zero(term.ty()) {
        return Some(Expr::if_(Expr::prim(Prim::Lt, vec![Expr::index(0), n.clone()]), term.clone(), idle));
    }
    let Term::Build { n: length, i, body } = term.term() else { return None };
    let has_length = facts.is_total(length) && Size::try_of_expr(length).is_some_and(|length| facts.non_negative(&length));
    has_length.then_some(Expr::build_with(length.clone(), i.clone(), behind(n, body, facts)?))
}

/// A value of a type without arrays: for what is not used.
pub(super) fn zero(ty: &Type) -> Option<Expr> {
    Some(match ty {
        Type::Double => Expr::double(0.0),
        Type::Index(_) => Expr::index(0),
        Type::Bool => Expr::bool(false),
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(zero).collect::<Option<_>>()?),
        Type::Array(..) | Type::Rec(_) => return None,
    })
}

fn hoist_array(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (n, binders, body) = parts(expr)?;
    facts.require("k is not 0 or 1", !is_short(n), n)?;
    let mut search = Search::out_of(&binders, facts, facts.grants("i and s are not free in e", false));
    let array = |value: Expr, loops: &Loops| {
        let is_safe = facts.grants("e total, else guarded by 0 < k", facts.is_total(&value));
        let value = if is_safe { value } else { behind(n, &value, facts)? };
        Some(elements(loops, value, facts))
    };
    search.array = Some(&array);
    // several at once, since each change requires a traversal of the whole loop
    search.all = true;
    search.inner_loops(body, &mut |term, place| {
        !term.ty().has_array()
            && !matches!(term.ty(), Type::Bool)
            && is_worth_an_array(term, facts)
            && (facts.grants("e total, else guarded by 0 < k", !place.fails && facts.is_total(term)) || is_worth_a_test(n, term, facts))
    });
    if search.found.is_empty() {
        return None;
    }
    let inside = with_body(expr, search.names.done_in(body));
    Some(search.found.into_iter().rev().fold(inside, |inside, Found { name, value }| Expr::let_(name, value, inside)))
}

/// The array of an element for all steps of loops, or one without elements where the count is negative: the loop itself says that.
pub(super) fn elements(loops: &[(Var, Expr)], element: Expr, facts: &Facts) -> Expr {
    let is_count = |n: &Expr| Size::try_of_expr(n).is_some_and(|n| facts.non_negative(&n));
    let array = loops.iter().rev().fold(element, |element, (i, n)| {
        let is_count = facts.grants("0 <= n, else max 0 n elements", is_count(n));
        let n = if is_count { n.clone() } else { Expr::prim(Prim::Max, vec![Expr::index(0), n.clone()]) };
        Expr::build(n, i.name(), |index| substitute(&element, &[(i.clone(), index)]))
    });
    freshen(&array)
}

/// A plain read is not refused with a message, and neither is a length: that is known without the array, and only as long as it
/// is not read from memory.
pub(super) fn is_worth_an_array(term: &Expr, facts: &Facts) -> bool {
    if !is_worth_a_name(term) || Size::try_of_expr(term).is_some() {
        return facts.grants("e is worth an array", false);
    }
    facts.require("e is worth an array", Work::of(term).is_worth_an_array(), term).is_some()
}

/// All checks in front of the body at once, also from behind names: each step of a loop is looked at again.
fn hoist_check(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let (n, mut binders, mut body) = parts(expr)?;
    let mut checks: Vec<(&Expr, Status)> = Vec::new();
    let mut lets: Vec<(&Var, &Expr)> = Vec::new();
    loop {
        match body.term() {
            Term::Check { cond, status, body: inner } => {
                if !facts.grants("i and x are not free in c", !binders.iter().any(|var| mentions(cond, var))) {
                    break;
                }
                checks.push((cond, *status));
                body = inner;
            }
            Term::Let(x, value, inner) => {
                lets.push((x, value));
                binders.push(x);
                body = inner;
            }
            _ => break,
        }
    }
    if checks.is_empty() {
        return None;
    }
    facts.require("copying n costs nothing", is_free_to_copy(n), n)?;
    let runs = facts.grants("0 < n, else guarded by that test", runs(n, facts));
    let outside = |cond: &Expr| {
        if runs {
            return cond.clone();
        }
        let idle = Expr::prim(Prim::Le, vec![n.clone(), Expr::index(0)]);
        Expr::prim(Prim::Or, vec![idle, cond.clone()])
    };
    let body = lets.into_iter().rev().fold(body.clone(), |body, (x, value)| Expr::let_(x.clone(), value.clone(), body));
    let inside = with_body(expr, body);
    Some(checks.into_iter().rev().fold(inside, |inside, (cond, status)| Expr::check(outside(cond), status, inside)))
}

/// An array that is an element of a loop's result is written there in any case: to make it once and copy it
/// pays only where its elements are work.
fn is_worth_moving(term: &Expr, named: bool) -> bool {
    let mut element = term;
    while let Term::Build { body, .. } = element.term() {
        element = body;
    }
    if element.is_same(term) { is_worth_a_name(term) } else { named || Work::of(element).is_worth_an_array() }
}

/// Whether a number takes a quotient, a root or a function.
fn has_costly(term: &Expr) -> bool {
    matches!(term.term(), Term::Prim(prim, _) if is_costly(*prim) && term.ty() == &Type::Double) || term.term().children().any(has_costly)
}
