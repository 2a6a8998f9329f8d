//! 001 Figure 8g: a fold over a tuple whose components do not all depend on one another.
//!
//!     (ifold (fun s i -> (s.0 + v[i], s.1 + w[i])) (0, 0) n).1   →   ifold (fun s i -> s + w[i]) 0 n
//!
//! The split and the projection are one step: a component is separated only where it is then dropped, or where its own loop then
//! simplifies, so that no loop is duplicated without gain. Components that each step changes at its own index are arrays of their own
//! (`fold-share`): what `collect-build` makes of them fuses with what reads them.

use std::collections::BTreeSet;

use crate::ir::free::mentions;
use crate::ir::subst::{freshen, substitute};
use crate::ir::{Change, Expr, Prim, Size, Term, Type, Updated, Var};
use crate::rewrite::atoms::is_number;
use crate::rewrite::facts::Facts;
use crate::rewrite::needs;
use crate::rewrite::product::is_cheap;

use super::collect::changes_own_element;
use super::rules;

rules! {
    "fold-project" Fission Normalisation @ Proj: "(ifold (fun s i -> (f s.0 i, g s.1 i)) (y, z) n).1 -> ifold (fun s i -> g s i) z n" => fold_project;
    "fold-fission" ["001 Fig. 8g"] Fission Normalisation @ Let: "let s = ifold (fun s i -> (f s.0 i, g s.1 i)) z n in e -> the loops that e needs, one of them apart"
        if ["e does not use all components, or the separated loop then simplifies"] => |expr, facts| fold_fission(expr, facts, "e does not use all components, or the separated loop then simplifies");
    "fold-apart" ["001 Fig. 8g"] Fission Normalisation @ Fold: "ifold (fun s i -> (f s.0 i, g s.1 i)) (y, z) n -> (ifold (fun s i -> f s i) y n, ifold (fun s i -> g s i) z n)"
        if ["the separated loop then simplifies"] => fold_apart;
    "fold-share" Fission Algebra @ Fold: "ifold (fun s i -> let w = e in (accumulate s.0 i w, accumulate s.1 i (f w))) (zeros n, z) n -> let a = ifold (fun a i -> accumulate a i e) (zeros n) n in (a, ifold (fun b i -> accumulate b i (f a[i])) z n), also where f does not use w"
        if ["no work is done twice"] => fold_share;
}

/// Components of a tuple accumulator, by number.
type Components = BTreeSet<usize>;

struct Fold<'a> {
    n: &'a Expr,
    acc: &'a Var,
    i: &'a Var,
    body: &'a Expr,
    init: &'a Expr,
    width: usize,
    /// Whether a loop that the step ends in is taken apart as well, which takes time.
    inner: bool,
}

fn fold(expr: &Expr) -> Option<Fold<'_>> {
    match (expr.term(), expr.ty()) {
        (Term::Fold { n, acc, i, body, init }, Type::Tuple(parts)) => {
            Some(Fold { n, acc, i, body, init, width: parts.len(), inner: false })
        }
        _ => None,
    }
}

fn fold_project(expr: &Expr, _: &Facts) -> Option<Expr> {
    let Term::Proj(tuple, k) = expr.term() else { return None };
    let fold = fold(tuple)?;
    let needed = fold.closure([*k].into())?;
    if needed.len() == fold.width {
        return None;
    }
    let position = needed.iter().position(|j| j == k)?;
    let smaller = fold.only(&needed);
    Some(if needed.len() == 1 { smaller } else { Expr::proj(smaller, position) })
}

/// One component of a tuple-valued term, with the components that it depends on; `None` where it depends on all.
pub fn component(expr: &Expr, k: usize) -> Option<Expr> {
    Some(match expr.term() {
        Term::Let(x, a, b) => {
            let b = component(b, k)?;
            match b.term() {
                Term::Var(y) if y == x => a.clone(),
                _ if !mentions(&b, x) => b,
                _ => Expr::let_(x.clone(), a.clone(), b),
            }
        }
        Term::If(c, a, b) => Expr::if_(c.clone(), component(a, k)?, component(b, k)?),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, component(body, k)?),
        Term::Tuple(parts) => parts.get(k)?.clone(),
        Term::Fold { .. } => {
            let fold = fold(expr)?;
            let needed = fold.closure([k].into())?;
            if needed.len() == fold.width {
                return None;
            }
            let position = needed.iter().position(|j| *j == k)?;
            let smaller = fold.only(&needed);
            if needed.len() == 1 { smaller } else { Expr::proj(smaller, position) }
        }
        Term::Var(_) | Term::Proj(..) => Expr::proj(expr.clone(), k),
        Term::Get(..) if is_cheap(expr) => Expr::proj(expr.clone(), k),
        Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Build { .. }
        | Term::While { .. }
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Iso(..)
        | Term::Update(..)
        | Term::Vjp { .. }
        | Term::Dual { .. } => return None,
    })
}

/// Whether the term can be hoisted out of one of the enclosing loops.
pub fn leaves(expr: &Expr, facts: &Facts) -> bool {
    facts.loops() > 0 && !facts.needs_all_loops(expr) && facts.is_total(expr)
}

/// For uses of all components at once, as in an array literal.
fn fold_apart(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Fold { acc, width, .. } = fold(expr)?;
    let s = acc.renewed(expr.ty().clone());
    let parts = (0..width).map(|k| Expr::proj(Expr::var(&s), k)).collect();
    fold_fission(&Expr::let_(s, expr.clone(), Expr::tuple(parts)), facts, "the separated loop then simplifies")
}

/// Components that each step changes at its own index become arrays of their own. Where one collects the values of a name, the
/// others have them from it.
fn fold_share(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let fold = Fold { inner: true, ..fold(expr)? };
    let Type::Tuple(parts) = expr.ty() else { return None };
    let count = Size::try_of_expr(fold.n)?;
    if !fold.body.has_updates() || !parts.iter().all(|part| part.dims().first() == Some(&count)) || !updates_only_at(fold.body, fold.i) {
        return None;
    }
    let all: Components = (0..fold.width).collect();
    let collects = |k: &usize| {
        let alone = Components::from([*k]);
        fold.closure(alone.clone()).as_ref() == Some(&alone) && changes_own_element(&fold.only(&alone))
    };
    if !all.iter().all(collects) {
        return None;
    }
    let results = results(fold.body);
    all.iter().find_map(|k| {
        let others: Components = all.iter().copied().filter(|other| other != k).collect();
        let alone = Components::from([*k]);
        let needed = without_dead_lets(&select(fold.body, &alone, true));
        let alone = fold.only(&alone);
        let a = Var::named(fold.acc.full_name().only(&[*k].into()), alone.ty().clone());
        let w = results.and_then(|results| collected(&fold, results.get(*k)?, *k));
        let body = w.map_or_else(|| fold.body.clone(), |w| given(fold.body, w, &Expr::get(Expr::var(&a), Expr::var(fold.i))));
        let twice = work(&without_dead_lets(&select(&body, &others, true)));
        let is_twice = work(&needed).iter().any(|x| twice.contains(x));
        facts.require("no work is done twice", !is_twice, fold.body)?;
        let rest = Fold { body: &body, ..fold }.only(&others);
        let whole = Expr::bind(fold.acc.full_name().only(&others), rest, |rest| {
            let part = |at: usize| if others.len() == 1 { rest.clone() } else { Expr::proj(rest.clone(), at) };
            let mut at = 0..;
            Expr::tuple(all.iter().map(|j| if j == k { Expr::var(&a) } else { part(at.next().unwrap_or_default()) }).collect())
        });
        Some(Expr::let_(a.clone(), alone, whole))
    })
}

/// Whether all updates in a step are of elements with this index.
fn updates_only_at(step: &Expr, i: &Var) -> bool {
    if let Term::Update(_, parts) = step.term() {
        let is_own = |at: &Expr| matches!(at.term(), Term::Var(var) if var == i);
        if !Updated::of(parts).and_then(|update| update.indices.first()).is_some_and(is_own) {
            return false;
        }
    }
    !step.has_updates() || step.term().children().all(|child| updates_only_at(child, i))
}

/// The name whose value each step adds to its own element of component k, which begins with zeros.
fn collected<'a>(fold: &Fold<'a>, result: &'a Expr, k: usize) -> Option<&'a Var> {
    let Term::Update(Change::Add, parts) = result.term() else { return None };
    let Updated { array, indices, value } = Updated::of(parts)?;
    let is_unchanged =
        matches!(array.term(), Term::Proj(state, own) if *own == k && matches!(state.term(), Term::Var(var) if var == fold.acc));
    let first = component_tuple(fold.init, &[k].into());
    let is_zeros = matches!(first.term(), Term::Build { body, .. } if is_number(body, 0.0));
    match value.term() {
        Term::Var(w) if indices.len() == 1 && is_unchanged && is_zeros => Some(w),
        _ => None,
    }
}

/// The components that a step gives behind its lets.
fn results(body: &Expr) -> Option<&[Expr]> {
    let mut rest = body;
    while let Term::Let(_, _, inner) = rest.term() {
        rest = inner;
    }
    if let Term::Tuple(parts) = rest.term() { Some(parts) } else { None }
}

/// A step in which a name of its lets is something else.
fn given(step: &Expr, name: &Var, value: &Expr) -> Expr {
    match step.term() {
        Term::Let(x, own, rest) => Expr::let_(x.clone(), if x == name { value.clone() } else { own.clone() }, given(rest, name, value)),
        _ => step.clone(),
    }
}

/// The names of what a step takes long to compute; `None` stands for names in a loop that it ends in, which are other ones in each copy.
fn work(step: &Expr) -> Vec<Option<Var>> {
    match step.term() {
        Term::Let(x, value, rest) => (!is_cheap(value)).then(|| Some(x.clone())).into_iter().chain(work(rest)).collect(),
        Term::Fold { body, .. } => work(body).first().map(|_| None).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// `condition`: what the rule's law calls the reason to take it apart.
fn fold_fission(expr: &Expr, facts: &Facts, condition: &str) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    let fold = fold(value)?;
    let mut used = Components::new();
    if !projections(body, x, &mut used) {
        return None;
    }
    let needed = fold.closure(used)?;
    if needed.is_empty() {
        return None;
    }
    let least = if needed.len() > 1 { needs::of_step(fold.body, fold.acc) } else { Vec::new() };
    let apart = needed.iter().find(|j| {
        let alone = Components::from([**j]);
        needed.len() > 1
            && may_be_apart(**j, &needed, &least)
            && fold.closure(alone.clone()).is_some_and(|closure| closure == alone)
            && !fold.others_need(**j, &needed)
            && {
                let alone = fold.only(&alone);
                facts.grants(condition, is_simpler(&alone) || !leaves(value, facts) && leaves(&alone, facts))
            }
    });
    let rest: Components = needed.iter().copied().filter(|j| Some(j) != apart).collect();
    let is_gain = apart.is_some() || needed.len() < fold.width;
    facts.require(condition, is_gain, value)?;
    let rest_value = fold.only(&rest);
    let rest_var = Var::named(x.full_name().only(&rest), rest_value.ty().clone());
    let mut parts: Vec<Expr> = Vec::new();
    let mut lets = vec![(rest_var.clone(), rest_value)];
    let apart_var = apart.map(|j| {
        let value = freshen(&fold.only(&[*j].into()));
        let var = Var::named(x.full_name().part(*j), value.ty().clone());
        lets.push((var.clone(), value));
        var
    });
    for j in 0..fold.width {
        let part = match (&apart_var, rest.iter().position(|other| *other == j)) {
            (Some(var), _) if Some(&j) == apart => Expr::var(var),
            (_, Some(_)) if rest.len() == 1 => Expr::var(&rest_var),
            (_, Some(position)) => Expr::proj(Expr::var(&rest_var), position),
            // not used: any term of the type will do, the projection drops it
            (_, None) => Expr::proj(fold.init.clone(), j),
        };
        parts.push(part);
    }
    let body = project(&substitute(body, &[]), x, &parts);
    Some(lets.into_iter().rev().fold(body, |body, (var, value)| Expr::let_(var, value, body)))
}

/// Whether a component needs itself alone, and no other needs it, as far as what they need at least says.
fn may_be_apart(j: usize, needed: &Components, least: &[needs::Components]) -> bool {
    let others = needed.iter().filter(|other| **other != j).fold(0, |all, other| all | needs::bit(*other));
    needs::closure(least, needs::bit(j)) == needs::bit(j) && needs::closure(least, others) & needs::bit(j) == 0
}

impl Fold<'_> {
    /// The components that these ones need, through all steps; `None` when the accumulator is used whole.
    fn closure(&self, mut wanted: Components) -> Option<Components> {
        loop {
            let mut needed = wanted.clone();
            let step = select(self.body, &wanted, self.inner);
            if !projections(&without_dead_lets(&step), self.acc, &mut needed) {
                return None;
            }
            if needed == wanted {
                return Some(wanted);
            }
            wanted = needed;
        }
    }

    fn others_need(&self, j: usize, needed: &Components) -> bool {
        let others: Components = needed.iter().copied().filter(|other| *other != j).collect();
        self.closure(others).is_none_or(|closure| closure.contains(&j))
    }

    /// The fold over these components alone.
    fn only(&self, wanted: &Components) -> Expr {
        let init = component_tuple(self.init, wanted);
        let acc = Var::named(self.acc.full_name().only(wanted), init.ty().clone());
        let mut position = 0;
        let parts: Vec<Expr> = (0..self.width)
            .map(|j| {
                if !wanted.contains(&j) {
                    return Expr::proj(self.init.clone(), j);
                }
                position += 1;
                if wanted.len() == 1 { Expr::var(&acc) } else { Expr::proj(Expr::var(&acc), position - 1) }
            })
            .collect();
        let step = without_dead_lets(&select(self.body, wanted, self.inner));
        let body = project(&step, self.acc, &parts);
        // binders of the original may stay in use beside this loop
        freshen(&Expr::fold_with(self.n.clone(), acc, self.i.clone(), body, init))
    }
}

/// Collects the k of each occurrence `x.k`; `false` where x also occurs otherwise.
fn projections(expr: &Expr, x: &Var, used: &mut Components) -> bool {
    match expr.term() {
        _ if !mentions(expr, x) => true,
        Term::Var(_) => false,
        Term::Proj(tuple, k) if matches!(tuple.term(), Term::Var(_)) => {
            used.insert(*k);
            true
        }
        term => term.children().all(|child| projections(child, x, used)),
    }
}

/// The components of x that a term uses; `None` where it uses x whole.
pub fn projections_of(expr: &Expr, x: &Var) -> Option<BTreeSet<usize>> {
    let mut used = Components::new();
    projections(expr, x, &mut used).then_some(used)
}

/// The term with `x.k` replaced by the k-th part.
pub fn project(expr: &Expr, x: &Var, parts: &[Expr]) -> Expr {
    match expr.term() {
        _ if !mentions(expr, x) => expr.clone(),
        Term::Proj(tuple, k) if matches!(tuple.term(), Term::Var(_)) => match parts.get(*k) {
            Some(part) => part.clone(),
            None => expr.clone(),
        },
        _ => crate::ir::subst::map_children(expr, &mut |child| project(child, x, parts)),
    }
}

/// A tuple-valued step with only the wanted components; a single one stands by itself. `inner`: also of a loop that it ends in.
fn select(body: &Expr, wanted: &Components, inner: bool) -> Expr {
    match body.term() {
        Term::Let(x, a, b) => match select(b, wanted, inner) {
            rest if matches!(rest.term(), Term::Var(y) if y == x) => a.clone(),
            rest => Expr::let_(x.clone(), a.clone(), rest),
        },
        Term::If(c, a, b) => Expr::if_(c.clone(), select(a, wanted, inner), select(b, wanted, inner)),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, select(body, wanted, inner)),
        Term::Fold { .. } if inner => match fold(body).map(|fold| Fold { inner, ..fold }) {
            Some(fold) if fold.closure(wanted.clone()).as_ref() == Some(wanted) => fold.only(wanted),
            Some(_) | None => component_tuple(body, wanted),
        },
        _ => component_tuple(body, wanted),
    }
}

fn component_tuple(tuple: &Expr, wanted: &Components) -> Expr {
    let part = |tuple: &Expr, j: usize| match tuple.term() {
        Term::Tuple(parts) => parts.get(j).cloned().unwrap_or_else(|| Expr::proj(tuple.clone(), j)),
        _ => Expr::proj(tuple.clone(), j),
    };
    if let (1, Some(j)) = (wanted.len(), wanted.first()) {
        return part(tuple, *j);
    }
    if matches!(tuple.term(), Term::Tuple(_) | Term::Var(_)) {
        return Expr::tuple(wanted.iter().map(|j| part(tuple, *j)).collect());
    }
    Expr::bind("t", tuple.clone(), |tuple| Expr::tuple(wanted.iter().map(|j| part(&tuple, *j)).collect()))
}

/// Drops dead lets, from the inside out; a tuple of which one component is used becomes that component.
fn without_dead_lets(expr: &Expr) -> Expr {
    match expr.term() {
        Term::Let(x, a, b) => {
            let b = without_dead_lets(b);
            if !mentions(&b, x) {
                return b;
            }
            let used = matches!(x.ty(), Type::Tuple(_)).then(|| projections_of(&b, x)).flatten();
            let used = used.filter(|used| used.len() == 1).and_then(|used| used.first().copied());
            match used.and_then(|k| Some((k, component(a, k)?))) {
                Some((k, part)) => Expr::bind(x.name(), part, |part| project(&b, x, &vec![part; k + 1])),
                None => Expr::let_(x.clone(), a.clone(), b),
            }
        }
        Term::If(c, a, b) => Expr::if_(c.clone(), without_dead_lets(a), without_dead_lets(b)),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, without_dead_lets(body)),
        _ => expr.clone(),
    }
}

/// Whether a loop by itself is one that 001 Figure 8f turns into a single statement.
fn is_simpler(expr: &Expr) -> bool {
    let Term::Fold { acc, i, body, .. } = expr.term() else { return false };
    let is_acc = |e: &Expr| matches!(e.term(), Term::Var(var) if var == acc);
    // let-sink moves lets into the branch
    let mut body = body;
    let mut local = Vec::new();
    while let Term::Let(x, value, inner) = body.term() {
        local.push((x, value));
        body = inner;
    }
    let is_local = |e: &Expr| local.iter().any(|(x, _)| mentions(e, x));
    let is_fixed = |e: &Expr| e.is_atom() && !mentions(e, i) && !mentions(e, acc) && !is_local(e);
    let is_one = |cond: &Expr| matches!(cond.term(), Term::Prim(Prim::Eq, args) if args.iter().any(|arg| matches!(arg.term(), Term::Var(var) if var == i)));
    match body.term() {
        Term::Var(var) => var == acc,
        Term::If(cond, _, cold) => {
            let is_invariant = !mentions(cond, i) && !mentions(cond, acc);
            is_acc(cold) && (is_one(cond) || is_invariant) && !is_local(cond)
        }
        Term::Prim(Prim::Add | Prim::Sub, args) => {
            let [s, term] = args.as_slice() else { return false };
            let is_hot = |cond: &Expr, cold: &Expr| is_one(cond) && is_number(cold, 0.0) && !is_local(cond);
            is_acc(s) && (is_product_with(term, &local, &is_hot) || is_fixed(term))
        }
        _ => false,
    }
}

/// Whether a factor is such a conditional. It may have a name, which several loops have used.
fn is_product_with(term: &Expr, lets: &[(&Var, &Expr)], is_hot: &dyn Fn(&Expr, &Expr) -> bool) -> bool {
    match term.term() {
        Term::If(cond, _, cold) => is_hot(cond, cold),
        Term::Var(var) => lets.iter().any(|(x, value)| *x == var && is_product_with(value, lets, is_hot)),
        Term::Prim(Prim::Mul | Prim::Div | Prim::Neg, args) => args.iter().any(|arg| is_product_with(arg, lets, is_hot)),
        _ => false,
    }
}
