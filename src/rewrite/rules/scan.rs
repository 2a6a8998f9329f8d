//! Loops that begin again for each index: element i needs the state of a loop after some steps, so one loop gives all of them.
//!
//!     build n (fun i -> e (ifold f z (k i)))
//!       →   let s = all n states of ifold f z from z on in build n (fun i -> e s[k i])
//!     ifold (fun a i -> e a (ifold f z i)) x n
//!       →   fst (ifold (fun (a, s) i -> (e a s, f s i)) (x, z) n)
//!
//! Running sums written as sums, and the columns of a chain's Jacobian, which all walk along the chain up to their own joint: n
//! steps instead of n (n - 1) / 2. Limits: f and z are the same for every i, the state is a few numbers, and no step can fail, since
//! steps run that the program would not have reached (in a branch that is not taken; of n that is no literal the last one, whose
//! state nobody reads). k i is i, n - 1 - i or another Index below n.

use crate::ir::free::{any_free_var, any_var_in_types, mentions};
use crate::ir::subst::{freshen, instance};
use crate::ir::term::Change;
use crate::ir::{Expr, Name, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::replace;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "build-scan" Loop Motion @ Build: "build n (fun i -> e (ifold f z k)) -> let s = snd (ifold (fun (a, s) j -> (f a j, update s j a)) (z, build n (fun i -> z)) n) in build n (fun i -> e s[k])"
        if ["0 <= k && k < n", "f and z are the same for all i", "f and z total"] => build_scan;
    "fold-scan" Loop Motion @ Fold: "ifold (fun a i -> e a (ifold f z i)) x n -> fst (ifold (fun (a, s) i -> (e a s, f s i)) (x, z) n)"
        if ["f and z are the same for all i", "f and z total"] => fold_scan;
}

/// A state of more numbers is not stored for each step.
pub(super) const NUMBERS: usize = 64;

fn build_scan(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    let length = Size::try_of_expr(n)?;
    Prefix::all(expr, body, i).into_iter().find_map(|prefix| {
        facts.require("0 <= k && k < n", facts.in_range(&prefix.count, &length), &prefix.count)?;
        let scan = prefix.scan(n, i, facts)?;
        let states = prefix.acc.renewed(Type::array(prefix.acc.ty().clone(), expr.ty().dims().first()?.clone()));
        let state = Expr::get(Expr::var(&states), freshen(&prefix.count));
        let build = Expr::build_with(n.clone(), i.clone(), replace(body, &prefix.fold, &state));
        Some(Expr::let_(states, Expr::proj(scan, 1), build))
    })
}

fn fold_scan(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    let is_prefix = |prefix: &Prefix| matches!(prefix.count.term(), Term::Var(k) if k == i) && !mentions(&prefix.fold, acc);
    Prefix::all(expr, body, i).into_iter().filter(is_prefix).find_map(|prefix| {
        facts.require("f and z are the same for all i", prefix.same, &prefix.fold)?;
        let name = Name::of_parts(acc.name(), [acc.full_name().clone(), prefix.acc.full_name().clone()]);
        let both = Expr::fold(n.clone(), name, i.name(), Expr::tuple(vec![init.clone(), freshen(&prefix.init)]), |both, at| {
            let state = Expr::proj(both.clone(), 1);
            let outer = replace(body, &prefix.fold, &state);
            let outer = instance(&outer, &[(acc.clone(), Expr::proj(both, 0)), (i.clone(), at.clone())]);
            Expr::tuple(vec![outer, prefix.step(&state, &at)])
        });
        let (acc, j) = (prefix.acc.full_name(), prefix.j.name());
        let alone = Expr::fold(n.clone(), acc, j, prefix.init.clone(), |state, j| prefix.step(&state, &j));
        facts.require("f and z total", is_total(&alone, facts), &prefix.fold)?;
        Some(Expr::proj(both, 0))
    })
}

/// A loop of so many steps inside of a loop over i.
struct Prefix {
    fold: Expr,
    count: Expr,
    acc: Var,
    j: Var,
    body: Expr,
    init: Expr,
    /// Whether its steps depend on i and on what is bound around it in no other way than by their count.
    same: bool,
}

impl Prefix {
    /// Those in the body of a loop that are no lengths: one has to be known before the loop runs.
    fn all(expr: &Expr, body: &Expr, i: &Var) -> Vec<Prefix> {
        let mut found = Vec::new();
        find(body, i, &mut Vec::new(), &mut found);
        if found.iter().any(|prefix| Size::try_of_expr(&prefix.fold).is_some()) && (Size::try_of_expr(expr).is_some() || has_lengths(expr))
        {
            found.retain(|prefix| Size::try_of_expr(&prefix.fold).is_none());
        }
        found
    }

    fn step(&self, state: &Expr, j: &Expr) -> Expr {
        instance(&self.body, &[(self.acc.clone(), state.clone()), (self.j.clone(), j.clone())])
    }

    /// The loop that gives the last state and all n states.
    fn scan(&self, n: &Expr, i: &Var, facts: &Facts) -> Option<Expr> {
        facts.require("f and z are the same for all i", self.same, &self.fold)?;
        let fill = Expr::build(n.clone(), i.name(), |_| freshen(&self.init));
        let init = Expr::tuple(vec![freshen(&self.init), fill]);
        // a literal number of states takes one step less; of 0 states there would be -1
        let literal = if let Term::Index(count @ 1..) = n.term() { Some(*count) } else { None };
        let steps = literal.map_or(n.clone(), |count| Expr::index(count - 1));
        let scan = Expr::fold(steps, self.acc.name(), self.j.name(), init, |both, j| {
            let (state, states) = (Expr::proj(both.clone(), 0), Expr::proj(both, 1));
            let stored = |at, state| Expr::update(Change::Replace, states, vec![at], state);
            if literal.is_none() {
                return Expr::tuple(vec![self.step(&state, &j), stored(j, state)]);
            }
            Expr::bind(self.acc.name(), self.step(&state, &j), |next| {
                let at = Expr::prim(Prim::Add, vec![j, Expr::index(1)]);
                Expr::tuple(vec![next.clone(), stored(at, next)])
            })
        });
        facts.require("f and z total", is_total(&scan, facts), &self.fold)?;
        Some(scan)
    }
}

/// Whether a loop computes some length.
fn has_lengths(expr: &Expr) -> bool {
    let mut found = false;
    expr.ty().each_size(&mut |size| found |= size.has_fold());
    found || expr.term().children().any(has_lengths)
}

fn find(expr: &Expr, i: &Var, bound: &mut Vec<Var>, found: &mut Vec<Prefix>) {
    if !mentions(expr, i) {
        return;
    }
    if let Term::Fold { n, acc, i: j, body, init } = expr.term()
        && mentions(n, i)
        && numbers(acc.ty()).is_some_and(|count| count <= NUMBERS)
    {
        let is_bound = any_free_var(expr, &mut |var| bound.contains(var)) || any_var_in_types(expr, &mut |var| bound.contains(var));
        let same = !mentions(body, i) && !mentions(init, i) && !is_bound;
        let (fold, count, acc, j) = (expr.clone(), n.clone(), acc.clone(), j.clone());
        found.push(Prefix { fold, count, acc, j, body: body.clone(), init: init.clone(), same });
    }
    let before = bound.len();
    bound.extend(expr.term().binders().cloned());
    expr.term().each_child(&mut |child| find(child, i, bound, found));
    bound.truncate(before);
}

/// The numbers that a state is made of.
pub(super) fn leaves(expr: &Expr, ty: &Type, found: &mut Vec<Expr>) {
    match (ty, expr.term()) {
        (Type::Tuple(types), Term::Tuple(parts)) => parts.iter().zip(types.iter()).for_each(|(part, ty)| leaves(part, ty, found)),
        (Type::Tuple(types), _) => (types.iter().enumerate()).for_each(|(k, ty)| leaves(&Expr::proj(expr.clone(), k), ty, found)),
        _ => found.push(expr.clone()),
    }
}

/// How many numbers a state is made of; `None` where it has arrays.
pub(super) fn numbers(ty: &Type) -> Option<usize> {
    match ty {
        Type::Double | Type::Index(_) | Type::Bool => Some(1),
        Type::Tuple(parts) => parts.iter().map(numbers).sum(),
        Type::Array(..) | Type::Rec(_) => None,
    }
}

/// Whether a loop cannot fail: its first state, and each step.
pub(super) fn is_total(fold: &Expr, facts: &Facts) -> bool {
    let Term::Fold { body, init, n, .. } = fold.term() else { return false };
    let parts = if let Term::Tuple(parts) = init.term() { parts.as_slice() } else { std::slice::from_ref(init) };
    facts.is_total(n) && facts.is_total(body) && parts.iter().all(|part| facts.is_total(part))
}
