//! A loop whose steps come in blocks: what depends on the block alone is computed once for the block.
//!
//!     build (2 * n) (fun i -> (f x[i / 2])[i % 2])
//!       →   let b = build n (fun q -> [(f x[q])[0], (f x[q])[1]]) in build (2 * n) (fun i -> b[i / 2][i % 2])
//!
//! That is how a program lays out n results of k numbers each in one array: a camera's image points, the rows of their Jacobian.
//! Written out, the k elements of a block are terms side by side, which `common` and `let-merge` share; their places in the block
//! are literals, which decide conditions and pick from small arrays. The array of blocks lies in memory as the result does, so
//! `lower` has one as a view of the other and nothing is copied. A fold takes the k steps of a block in one.
//!
//! The order of the steps stays, and so do rounding and the first failure. Limits: a literal k, a length that is a multiple of k
//! as a polynomial and never wraps, no type that depends on i, and no updates in elements.

use rustc_hash::FxHashSet;

use crate::ir::free::{any_free_var, any_var_in_types, mentions};
use crate::ir::subst::instance;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::Replacements;
use crate::rewrite::cost::Work;
use crate::rewrite::facts::Facts;

use super::rules;
use super::unroll::SEVERAL;

rules! {
    "build-blocks" Loop Motion @ Build: "build (2 * n) (fun i -> f (i / 2) (i % 2)) -> let b = build n (fun q -> [f q 0, f q 1]) in build (2 * n) (fun i -> b[i / 2][i % 2])"
        if ["f has work that depends on i / 2 alone"] => build_blocks;
    "fold-blocks" Loop Motion @ Fold: "ifold (fun s i -> f s (i / 2) (i % 2)) z (2 * n) -> ifold (fun s q -> let t = f s q 0 in f t q 1) z n"
        if ["f has work that depends on i / 2 alone, or asks for i % 2"] => fold_blocks;
}

/// The steps of a block together have at most so many nodes,
const BLOCK_NODES: usize = 6_000;
/// and nothing is written out in a function that has grown to more nodes than this.
const FUNCTION_NODES: usize = 40_000;

fn build_blocks(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    let Type::Array(element, _) = expr.ty() else { return None };
    if body.has_updates() {
        return None;
    }
    let Blocks { count, q, body, k } = Blocks::of(n, i, &[i], body, facts, ("f has work that depends on i / 2 alone", &|_, _| false))?;
    let items = (0..k).map(|r| in_block(&body, i, &q, k, r, &[])).collect();
    let block = Expr::array(element.as_ref().clone(), items);
    let blocks = Expr::build_with(count, q, block);
    let whole = |b: Expr| {
        Expr::build(n.clone(), i.name(), |i| {
            let part = |prim| Expr::prim(prim, vec![i.clone(), Expr::index(k)]);
            Expr::get(Expr::get(b, part(Prim::Div)), part(Prim::Rem))
        })
    };
    Some(Expr::bind("blocks", blocks, whole))
}

fn fold_blocks(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, .. } = expr.term() else { return None };
    let asks = |body: &Expr, k: i64| asks_for_place(body, i, k);
    let condition = "f has work that depends on i / 2 alone, or asks for i % 2";
    let Blocks { count, q, k, .. } = Blocks::of(n, i, &[acc, i], body, facts, (condition, &asks))?;
    by_blocks(expr, count, q, k)
}

/// A fold over `k * count` steps as one over blocks of k: each step of it takes the k steps of a block.
pub(super) fn by_blocks(fold: &Expr, count: Expr, q: Var, k: i64) -> Option<Expr> {
    let Term::Fold { acc, i, body, init, .. } = fold.term() else { return None };
    let first = at(body, i, &q, k, 0, &[]);
    let steps = (1..k).fold(first, |state, r| {
        let before = acc.renewed(acc.ty().clone());
        let step = at(body, i, &q, k, r, &[(acc.clone(), Expr::var(&before))]);
        Expr::let_(before, state, step)
    });
    Some(Expr::fold_with(count, acc.clone(), q, steps, init.clone()))
}

/// A step at place r of block q, of k steps each.
pub(super) fn at(body: &Expr, i: &Var, q: &Var, k: i64, r: i64, more: &[(Var, Expr)]) -> Expr {
    in_block(&with_block(body, i, q, k), i, q, k, r, more)
}

/// A body with the number of its block in the place of `i / k`.
fn with_block(body: &Expr, i: &Var, q: &Var, k: i64) -> Expr {
    let mut quotients = Replacements::default();
    quotients.add(&Expr::prim(Prim::Div, vec![Expr::var(i), Expr::index(k)]), &Expr::var(q));
    quotients.done_in(body)
}

/// Such a body at place r of the block.
fn in_block(body: &Expr, i: &Var, q: &Var, k: i64, r: i64, more: &[(Var, Expr)]) -> Expr {
    let mut rests = Replacements::default();
    rests.add(&Expr::prim(Prim::Rem, vec![Expr::var(i), Expr::index(k)]), &Expr::index(r));
    let first = Expr::prim(Prim::Mul, vec![Expr::index(k), Expr::var(q)]);
    let index = if r == 0 { first } else { Expr::prim(Prim::Add, vec![first, Expr::index(r)]) };
    let map: Vec<(Var, Expr)> = [(i.clone(), index)].iter().chain(more).cloned().collect();
    instance(&rests.done_in(body), &map)
}

/// A loop in blocks of k steps.
struct Blocks {
    /// How many there are, and the variable that counts them.
    count: Expr,
    q: Var,
    /// The loop's body, with the variable in the place of `i / k`.
    body: Expr,
    k: i64,
}

/// Whether blocks of so many steps are worth it although they share no work.
type Or<'a> = &'a dyn Fn(&Expr, i64) -> bool;

impl Blocks {
    /// The blocks of a loop over i which share work; `varying` are the variables that differ in a block. `or`: what else makes blocks
    /// of so many steps worth it; with the name of the whole condition.
    fn of(n: &Expr, i: &Var, varying: &[&Var], body: &Expr, facts: &Facts, (condition, or): (&str, Or)) -> Option<Blocks> {
        let mut divisors = Vec::new();
        find_divisors(body, i, &mut divisors);
        if divisors.is_empty() || any_var_in_types(body, &mut |var| var == i) {
            return None;
        }
        let length = Size::try_of_expr(n)?;
        divisors.into_iter().find_map(|k| {
            let count = length.divided(k).filter(|_| facts.never_wraps(&length))?;
            let nodes = body.node_count().saturating_mul(usize::try_from(k).ok()?);
            if nodes > BLOCK_NODES || facts.nodes + nodes > FUNCTION_NODES {
                facts.refuse(|| (format!("{k} steps have more than {BLOCK_NODES} nodes"), Some(n.clone())));
                return None;
            }
            let q = Var::fresh("q", Type::Index(Some(count.clone())));
            let body = with_block(body, i, &q, k);
            let varying = varying.iter().map(|var| (*var).clone()).collect();
            let mut shared = Shared { fixed: FxHashSet::from_iter([q.clone()]), varying, work: Work::default() };
            shared.add(&body);
            let is_worth = shared.work.is_worth_an_array() || or(&body, k);
            facts.require(condition, is_worth, n)?;
            Some(Blocks { count: count.to_expr()?, q, body, k })
        })
    }
}

/// The literals by which i is divided, each once, in order of appearance.
fn find_divisors(expr: &Expr, i: &Var, found: &mut Vec<i64>) {
    if !mentions(expr, i) {
        return;
    }
    if let Term::Prim(Prim::Div | Prim::Rem, args) = expr.term()
        && let [a, b] = args.as_slice()
        && let (Term::Var(var), Term::Index(k)) = (a.term(), b.term())
        && var == i
        && (2..=SEVERAL).contains(k)
        && !found.contains(k)
    {
        found.push(*k);
    }
    expr.term().each_child(&mut |child| find_divisors(child, i, found));
}

/// Whether a term has a condition that the place in a block of k decides.
fn asks_for_place(expr: &Expr, i: &Var, k: i64) -> bool {
    let is_place = |arg: &Expr| match arg.term() {
        Term::Prim(Prim::Rem, args) => {
            matches!(args.as_slice(), [a, b] if matches!(a.term(), Term::Var(var) if var == i) && matches!(b.term(), Term::Index(by) if *by == k))
        }
        _ => false,
    };
    let here = match expr.term() {
        Term::Prim(Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge, args) => {
            args.iter().any(is_place) && args.iter().any(|arg| matches!(arg.term(), Term::Index(_)))
        }
        _ => false,
    };
    here || expr.term().children().any(|child| asks_for_place(child, i, k))
}

/// The work of a step that depends on its block, and on nothing that differs in the block.
struct Shared {
    /// The block's number, and names of what depends on it alone.
    fixed: FxHashSet<Var>,
    varying: FxHashSet<Var>,
    work: Work,
}

impl Shared {
    fn add(&mut self, expr: &Expr) {
        if !any_free_var(expr, &mut |var| self.varying.contains(var)) {
            if any_free_var(expr, &mut |var| self.fixed.contains(var)) {
                self.work = self.work.and(Work::of(expr));
            }
            return;
        }
        if let Term::Let(x, value, body) = expr.term() {
            self.add(value);
            if any_free_var(value, &mut |var| self.varying.contains(var)) {
                self.varying.insert(x.clone());
            } else if any_free_var(value, &mut |var| self.fixed.contains(var)) {
                self.fixed.insert(x.clone());
            }
            return self.add(body);
        }
        self.varying.extend(expr.term().binders().cloned());
        expr.term().each_child(&mut |child| self.add(child));
    }
}
