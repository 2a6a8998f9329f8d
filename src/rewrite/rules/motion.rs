//! Loop-invariant code motion. `hoist` is the last rule of 001 Figure 8a with a
//! loop as its f; the others are smoothc's own.
//!
//!     build n (fun i -> exp c * v[i])                →  let t = exp c in build n (fun i -> t * v[i])
//!     build n (fun k -> ifold (fun s i -> … f i …))  →  let t = build m (fun i -> f i) in … t[i] …
//!
//! Only from places that every iteration reaches, and only terms that cannot fail, or out of a loop that is known to run: no new
//! error is possible. An array pays where it saves more than storing and loading it, assuming two iterations.

use rustc_hash::FxHashSet;

use crate::ir::free::{any_free_var, each_free_var, mentions};
use crate::ir::subst::{freshen, substitute};
use crate::ir::{Expr, Name, Prim, Size, Status, Term, Type, Var};
use crate::rewrite::alike::Replacements;
use crate::rewrite::cost::{Work, is_fill, is_worth_a_name};
use crate::rewrite::facts::Facts;

use super::lambda::{is_small_size, strict_operands};
use super::rules;

rules! {
    "hoist" ["001 Fig. 8a"]       Lambda Motion @ Loop: "build n (fun i -> f e) -> let t = e in build n (fun i -> f t)"
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
    // a term with a loop is worth the test that the outer loop runs
    let guarded = |term: &Expr| is_worth_a_test(n, term, facts);
    search.strict(body, &mut |term, place| {
        if body.has_updates() && is_fill(term) {
            return false;
        }
        let is_safe = |term: &Expr| runs || !place.fails && facts.is_total(term) || guarded(term);
        facts.grants("e is worth hoisting", is_worth_moving(term, place.named))
            && facts.require("e total, or 0 < n, or guarded by that test", is_safe(term), term).is_some()
    });
    if search.found.is_empty() {
        return None;
    }
    let inside = with_body(expr, search.names.done_in(body));
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
        if is_count {
            return Expr::build_with(n.clone(), i.clone(), element);
        }
        let n = Expr::prim(Prim::Max, vec![Expr::index(0), n.clone()]);
        Expr::build(n, i.name(), |index| substitute(&element, &[(i.clone(), index)]))
    });
    freshen(&array)
}

/// Whether a term is an array whose elements take no longer to compute than to read: it is recomputed at each use.
fn has_cheap_elements(term: &Expr) -> bool {
    let mut element = term;
    while let Term::Build { body, .. } = element.term() {
        element = body;
    }
    !element.is_same(term) && !element.ty().has_array() && !Work::of(element).is_worth_an_array()
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

fn is_build(value: Option<&Expr>) -> bool {
    value.is_some_and(|value| matches!(value.term(), Term::Build { .. }))
}

/// What a term is called that has no name in the source: an element by its array, where that is stored, and where it stands in it.
///
///     cam[2], m[i][0]   →   cam_2, m_i_0
pub(super) fn name_for(term: &Expr, is_stored: impl Fn(&Var) -> bool) -> Name {
    match term.term() {
        Term::Fold { .. } => "sum".into(),
        Term::Build { .. } => "array".into(),
        _ => name_of_element(term, &is_stored).unwrap_or_else(|| Name::placeholder("t")),
    }
}

fn name_of_element(term: &Expr, is_stored: &dyn Fn(&Var) -> bool) -> Option<Name> {
    let Term::Get(array, index) = term.term() else { return None };
    match array.term() {
        Term::Var(array) => is_stored(array).then(|| array.full_name().element(index))?,
        _ => name_of_element(array, is_stored)?.element(index),
    }
}

/// Loops around a term, with their counts.
type Loops = Vec<(Var, Expr)>;

/// Search for maximal terms that can be hoisted out of the loop.
struct Search<'a> {
    facts: &'a Facts,
    /// The variables that must not occur in it.
    bound: FxHashSet<Var>,
    /// Loops between the outer one and this place; the term may depend on their variables when an array is made.
    loops: Loops,
    /// Enclosing lets whose values can be hoisted too, together with the term.
    lets: Vec<(Var, Expr)>,
    /// Those of them that may fail outside,
    failing: FxHashSet<Var>,
    /// unless it does not matter: the loop is known to run.
    may_fail: bool,
    /// Whether the term may have them all the same.
    any: bool,
    /// Whether all are collected, or only the first.
    all: bool,
    found: Vec<Found>,
    /// Their names, or how an array of that name is read; terms that are found later are written over these.
    names: Replacements,
    /// The array of a term for all steps of the loops between, where it leaves as one.
    array: Option<&'a MakeArray<'a>>,
}

type MakeArray<'a> = dyn Fn(Expr, &Loops) -> Option<Expr> + 'a;

/// A term that may leave the loop, without the lets of the loop's body, or the array of it.
struct Found {
    name: Var,
    value: Expr,
}

/// Where a term was found.
struct Place {
    /// It is the value of a let.
    named: bool,
    /// It may fail outside of the loop, or a let that is hoisted with it may.
    fails: bool,
}

type Wanted<'a> = &'a mut dyn FnMut(&Expr, Place) -> bool;

impl<'a> Search<'a> {
    fn out_of(binders: &[&Var], facts: &'a Facts, any: bool) -> Search<'a> {
        let bound = binders.iter().map(|var| (*var).clone()).collect();
        Search {
            facts,
            bound,
            loops: Vec::new(),
            lets: Vec::new(),
            failing: FxHashSet::default(),
            may_fail: false,
            any,
            all: false,
            found: Vec::new(),
            names: Replacements::default(),
            array: None,
        }
    }

    /// Whether a term may fail outside, as far as that is known before lets are written out; so many are, again and again,
    /// in loops that may not run.
    fn fails(&self, expr: &Expr) -> bool {
        if self.may_fail {
            return false;
        }
        let (mut failing, mut by_itself) = (false, true);
        each_free_var(expr, &mut |var| {
            failing |= self.failing.contains(var);
            // an index may be in range for its value
            by_itself &= !matches!(var.ty(), Type::Index(_)) || !self.lets.iter().any(|(x, _)| x == var);
        });
        failing || by_itself && !self.facts.is_total(expr)
    }

    fn expand(&self, expr: &Expr) -> Expr {
        self.lets.iter().rev().fold(
            expr.clone(),
            |expr, (x, value)| {
                if mentions(&expr, x) { substitute(&expr, &[(x.clone(), value.clone())]) } else { expr }
            },
        )
    }

    fn is_done(&self) -> bool {
        !self.all && !self.found.is_empty()
    }

    /// Terms that every step of the loop evaluates.
    fn strict(&mut self, expr: &Expr, wanted: Wanted) {
        self.strict_at(expr, None, wanted);
    }

    /// As [`Search::strict`], of the value of a let of this variable.
    fn strict_at(&mut self, expr: &Expr, named: Option<&Var>, wanted: Wanted) {
        if self.is_done() || expr.is_atom() || self.names.has(expr) {
            return;
        }
        if self.is_free(expr) {
            let fails = !self.lets.is_empty() && self.fails(expr);
            let expanded = if fails && Work::of(expr).loops == 0 { expr.clone() } else { self.expand(expr) };
            let loops: Loops = self.loops.iter().filter(|(i, _)| mentions(&expanded, i)).cloned().collect();
            let place = Place { named: named.is_some(), fails };
            if loops.len() == self.loops.len() && wanted(&expanded, place) {
                let value = self.expand(&self.names.done_in(expr));
                let (value, ty) = match self.array {
                    None => (Some(value), Some(expr.ty().clone())),
                    Some(array) => {
                        let array = array(value, &loops);
                        let ty = array.as_ref().map(|array| array.ty().clone());
                        (array, ty)
                    }
                };
                if let (Some(value), Some(ty)) = (value, ty) {
                    let own = named.filter(|x| !x.full_name().is_placeholder()).map(|x| x.name().into());
                    let name = own.unwrap_or_else(|| name_for(expr, |array| !is_build(self.facts.value(array))));
                    let name = Var::named(name, ty);
                    let read = loops.iter().fold(Expr::var(&name), |array, (i, _)| Expr::get(array, Expr::var(i)));
                    self.names.add(expr, &read);
                    self.found.push(Found { name, value });
                    return;
                }
            }
        }
        if let Term::Let(x, value, body) = expr.term() {
            self.strict_at(value, Some(x), wanted);
            let value = self.names.done_in(value);
            return self.below_let(x, &value, |search| search.strict(body, wanted));
        }
        let is_strict = strict_operands(expr);
        let mut at = 0;
        expr.term().each_child(&mut |child| {
            if is_strict(at) {
                self.strict(child, wanted);
            }
            at += 1;
        });
    }

    /// The bodies of loops that every step runs.
    fn inner_loops(&mut self, expr: &Expr, wanted: Wanted) {
        // a term that is hoisted whole leaves no loops
        if self.is_done() || expr.is_atom() || self.names.has(expr) {
            return;
        }
        if let Term::Let(x, value, body) = expr.term() {
            self.inner_loops(value, wanted);
            let value = self.names.done_in(value);
            return self.below_let(x, &value, |search| search.inner_loops(body, wanted));
        }
        let is_strict = strict_operands(expr);
        let mut at = 0;
        expr.term().each_child(&mut |child| {
            if is_strict(at) {
                self.inner_loops(child, wanted);
            }
            at += 1;
        });
        let inner = match expr.term() {
            Term::Build { n, i, body } => Some((n, i, None, body)),
            Term::Fold { n, acc, i, body, .. } => Some((n, i, Some(acc), body)),
            _ => None,
        };
        let Some((n, i, acc, body)) = inner else { return };
        if !self.is_free(n) {
            return;
        }
        // the lets that the count uses are hoisted too
        let n = self.expand(n);
        if self.loops.iter().any(|(i, _)| mentions(&n, i)) || !self.facts.is_total(&n) {
            return;
        }
        self.within(acc.map_or(&[], std::slice::from_ref), |search| {
            search.loops.push((i.clone(), n));
            search.strict(body, wanted);
            search.inner_loops(body, wanted);
            search.loops.pop();
        });
    }

    fn below_let(&mut self, x: &Var, value: &Expr, f: impl FnOnce(&mut Search)) {
        if !self.is_free(value) || Work::of(value).loops > 0 && !has_cheap_elements(value) {
            return self.within(std::slice::from_ref(x), f);
        }
        let fails = self.fails(value);
        if fails {
            self.failing.insert(x.clone());
        }
        self.lets.push((x.clone(), value.clone()));
        f(self);
        self.lets.pop();
        if fails {
            self.failing.remove(x);
        }
    }

    fn within(&mut self, bound: &[Var], f: impl FnOnce(&mut Search)) {
        self.bound.extend(bound.iter().cloned());
        f(self);
        bound.iter().for_each(|var| {
            self.bound.remove(var);
        });
    }

    fn is_free(&self, expr: &Expr) -> bool {
        self.any || !any_free_var(expr, &mut |var| self.bound.contains(var))
    }
}
