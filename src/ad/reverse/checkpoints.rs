//! Checkpoints: a long loop in parts, so that the backward pass keeps the states between parts and those of one part.
//!
//! In: a fold of n steps. Out: a fold of K steps, each of which is a fold over one part of the n. Reverse mode keeps the
//! state before each step of the outer fold, and enters a part, computed again, with its own states: K and ⌈n / K⌉ states in
//! the place of n (Griewank and Walther's checkpoints, in two levels). Every step is computed once more.
//!
//!     ifold f z n   →   ifold (fun s k -> ifold (fun s r -> f s (k * n / K + r)) s ((k + 1) * n / K - k * n / K)) z K
//!
//! A loop that data ends is run once to count its steps. That fold, and each whose count data gives, has parts that are in parts
//! again, [`LEVELS`] deep, with at most [`PARTS`] of each, so that what is kept has a fixed length. Each level computes every step
//! once more. A state of which each step changes one element, as the stack of recursion, is copied for each of the smallest parts: they
//! have as many steps as it has elements, if those are more, so that a step still costs the same however long the state is.
//!
//!     while(s = z. (c s, f s))   →   let n = (while((k, s) = (0, z). (c s, (k + 1, f s)))).0 in ifold (fun s i -> f s) z n

use super::loops::Steps;
use super::states::{Leaf, leaves_of};
use super::undo::Log;
use crate::ad::block::{Block, shared};
use crate::ir::in_place::Changes;
use crate::ir::subst::instance;
use crate::ir::{Expr, Prim, Size, Status, Term, Type, Var};

/// The fold in so many parts; `None` where it has few steps as it is.
pub fn in_parts(steps: &Steps, parts: i64, out: &mut Block) -> Option<Steps> {
    if matches!(Size::of_expr(&steps.n).as_constant(), Some(n) if n <= parts) {
        return None;
    }
    let count = Expr::index(parts);
    check_count(steps, out);
    let begin = |k: Expr| Expr::prim(Prim::Div, vec![Expr::prim(Prim::Mul, vec![k, steps.n.clone()]), count.clone()]);
    let part = |k: &Var| {
        let next = begin(Expr::prim(Prim::Add, vec![Expr::var(k), Expr::index(1)]));
        (begin(Expr::var(k)), Expr::prim(Prim::Sub, vec![next, begin(Expr::var(k))]))
    };
    Some(split(steps, count.clone(), Size::constant(parts), part))
}

/// The most parts that a loop which data ends has on a level, and how often its parts have parts.
pub const PARTS: i64 = 256;
pub const LEVELS: u32 = 2;

/// A `while` as a fold over as many steps as it has; the count is one that [`is_counted`] knows.
pub fn counted(state: &Var, init: &Expr, body: &Expr) -> Expr {
    let (own, first) = (state.renewed(state.ty().clone()), state.renewed(init.ty().clone()));
    let (counting, step) = (Var::fresh("c", Type::tuple(vec![Type::INDEX, state.ty().clone()])), Var::fresh("step", body.ty().clone()));
    let count = Expr::prim(Prim::Add, vec![Expr::proj(Expr::var(&counting), 0), Expr::index(1)]);
    let of_step = |k: usize| Expr::proj(Expr::var(&step), k);
    let next = Expr::tuple(vec![of_step(0), Expr::tuple(vec![count, of_step(1)])]);
    let next = Expr::let_(step.clone(), instance(body, &[(state.clone(), Expr::var(&own))]), next);
    let next = Expr::let_(own, Expr::proj(Expr::var(&counting), 1), next);
    let n = Expr::proj(Expr::while_(counting, Expr::tuple(vec![Expr::index(0), Expr::var(&first)]), next), 0);
    let i = Var::fresh("i", Type::INDEX);
    let last = Expr::fold_with(n, state.clone(), i, Expr::proj(body.clone(), 1), Expr::var(&first));
    Expr::let_(first, init.clone(), last)
}

/// Whether it is how many steps a loop has that data ends.
pub fn is_counted(n: &Expr) -> bool {
    matches!(n.term(), Term::Proj(steps, 0) if matches!(steps.term(), Term::While { .. }))
}

/// A loop that data ends, as it is taken in parts.
#[derive(Clone)]
pub struct Open {
    pub level: Level,
    /// How many they are.
    parts: Expr,
    /// Whether the loop has been run to count its steps.
    is_counted: bool,
}

/// How a loop is in parts.
#[derive(Clone)]
pub struct Level {
    /// How often its parts have parts.
    above: u32,
    /// How many steps the smallest parts have: by a name, and as a size that is positive whatever its variables are.
    smallest: (Expr, Expr),
}

impl Level {
    /// All levels, for steps that take a state on.
    pub fn of_steps(steps: &Expr, acc: &Var, i: &Var, n: &Expr, out: &mut Block) -> Level {
        let smallest = elements_that_change(steps, acc, i, n).unwrap_or_else(|| Expr::index(PARTS));
        Level { above: LEVELS, smallest: (shared("part", smallest.clone(), out), smallest) }
    }

    fn below(&self) -> Option<Level> {
        Some(Level { above: self.above.checked_sub(1)?, smallest: self.smallest.clone() })
    }

    /// How many steps a part has.
    fn unit(&self) -> Expr {
        let (name, _) = &self.smallest;
        match (self.above.checked_sub(1), name.term()) {
            (None, _) => Expr::index(1),
            (Some(0), _) => name.clone(),
            (Some(above), Term::Index(smallest)) => Expr::index(smallest.saturating_mul(PARTS.pow(above))),
            (Some(above), _) => Expr::prim(Prim::Mul, vec![Expr::index(PARTS.pow(above)), name.clone()]),
        }
    }

    /// The most steps that the loop may have.
    fn room(&self) -> Expr {
        Level { above: self.above + 1, smallest: self.smallest.clone() }.unit()
    }

    /// How many parts n steps are; at most [`PARTS`], as the workspace has to know where the parts' size is no number.
    fn parts(&self, n: Expr) -> Expr {
        let in_parts =
            |n: Expr, unit: &Expr, divisor: Expr| Expr::prim(Prim::Div, vec![Expr::prim(Prim::Add, vec![n, one_less(unit)]), divisor]);
        let (name, size) = &self.smallest;
        match (self.unit(), name.term()) {
            (unit, Term::Index(_)) => in_parts(n, &unit, unit.clone()),
            _ => {
                let parts =
                    (1..self.above).fold(in_parts(n, name, size.clone()), |n, _| in_parts(n, &Expr::index(PARTS), Expr::index(PARTS)));
                least(Expr::index(PARTS), parts)
            }
        }
    }
}

/// How many elements the longest of the arrays in a state has of which each step changes one, at least [`PARTS`]; `None` where a step
/// changes arrays that are larger than such an element.
fn elements_that_change(body: &Expr, acc: &Var, i: &Var, n: &Expr) -> Option<Expr> {
    let changes = Changes::of(body, acc);
    let arrays: Vec<Leaf> = leaves_of(acc.ty()).into_iter().filter(|leaf| leaf.ty.has_array()).collect();
    let indices = |leaf: &Leaf| {
        let sites = changes.source(&leaf.path).and(changes.sites(&leaf.path))?;
        let logs = sites
            .into_iter()
            .map(|site| Log::of(site, &leaf.ty, acc, Some((i, n))).filter(|log| log.degree() == 0))
            .collect::<Option<Vec<_>>>()?;
        Some(logs.iter().map(Log::depth).max())
    };
    let product = |dims: &[Size]| dims.iter().fold(Size::constant(1), |product, size| product.mul(size));
    let (mut lengths, mut elements, mut others): (Vec<Size>, Vec<Size>, Vec<Size>) = Default::default();
    for leaf in &arrays {
        let dims = leaf.ty.dims();
        match indices(leaf) {
            Some(None) => {}
            Some(Some(depth)) => {
                let (changed, element) = dims.split_at(depth.min(dims.len()));
                lengths.push(product(changed));
                elements.push(product(element));
            }
            None => others.push(product(&dims)),
        }
    }
    if !others.iter().all(|size| size.as_constant().is_some() || elements.contains(size)) {
        return None;
    }
    let known = lengths.iter().filter_map(Size::as_constant).max().unwrap_or(PARTS).max(PARTS);
    lengths.retain(|length| length.as_constant().is_none());
    lengths.sort();
    lengths.dedup();
    let lengths = lengths.iter().map(Size::to_expr).collect::<Option<Vec<_>>>()?;
    Some(lengths.into_iter().fold(Expr::index(known), |most, length| Expr::prim(Prim::Max, vec![most, length])))
}

impl Open {
    /// A loop of n steps in parts. Each but the last has as many steps as there is room for, so that a short loop has one part of all.
    /// Every count is `min b e`, with a bound b that is known before the loop runs. With `keeps_most` there are as many parts as there may
    /// be, the last of which may have no steps.
    pub fn of(n: &Expr, level: Level, is_counted: bool, keeps_most: bool, out: &mut Block) -> Open {
        let is_whole = level.above == LEVELS;
        let n = if is_whole { least(n.clone(), level.room()) } else { n.clone() };
        let parts = match level.above {
            0 => n,
            _ if is_whole && keeps_most => Expr::index(PARTS),
            _ => out.bind("parts", level.parts(n)),
        };
        Open { parts, level, is_counted }
    }

    /// The fold in its parts; `None` where there are none on the last level.
    pub fn in_parts(&self, steps: &Steps, out: &mut Block) -> Option<Steps> {
        let n = &steps.n;
        let below = self.level.below()?;
        if self.level.above == LEVELS {
            if !self.is_counted {
                check_count(steps, out);
            }
            out.check(Expr::prim(Prim::Le, vec![n.clone(), self.level.room()]), Status::Range, n.span());
        }
        let unit = self.level.unit();
        let begin = |k: &Var| Expr::prim(Prim::Mul, vec![unit.clone(), Expr::var(k)]);
        // as many parts as there may be
        let has_most = matches!(self.parts.term(), Term::Index(_));
        let part = |k: &Var| {
            let steps = least(Expr::prim(Prim::Sub, vec![n.clone(), begin(k)]), unit.clone());
            (begin(k), if has_most { Expr::prim(Prim::Max, vec![Expr::index(0), steps]) } else { steps })
        };
        let open = Some(Open { level: below, ..self.clone() });
        Some(Steps { open, ..split(steps, self.parts.clone(), Size::constant(PARTS), part) })
    }
}

/// The folds over parts have steps also where the count is negative.
fn check_count(steps: &Steps, out: &mut Block) {
    out.check_before(&steps.result, Expr::prim(Prim::Le, vec![Expr::index(0), steps.n.clone()]), Status::Negative, steps.n.span());
}

fn one_less(n: &Expr) -> Expr {
    let less = Size::of_expr(n).sub(&Size::constant(1)).to_expr();
    less.unwrap_or_else(|| Expr::prim(Prim::Sub, vec![n.clone(), Expr::index(1)]))
}

fn least(n: Expr, most: Expr) -> Expr {
    Expr::prim(Prim::Min, vec![n, most])
}

/// The fold over so many parts, each of which is a fold over its steps: `part` gives the first of them and how many they are.
fn split(steps: &Steps, count: Expr, bound: Size, part: impl Fn(&Var) -> (Expr, Expr)) -> Steps {
    let k = Var::fresh("k", Type::Index(Some(bound)));
    // not by a name: the count is a length of what is kept, also where it is kept outside
    let (first, in_part) = part(&k);
    let (outer, inner) = (steps.acc.renewed(steps.acc.ty().clone()), steps.acc.renewed(steps.acc.ty().clone()));
    let (r, i) = (Var::fresh("r", Type::Index(Some(Size::of_expr(&in_part)))), steps.i.renewed(steps.i.ty().clone()));
    let step = instance(&steps.body, &[(steps.acc.clone(), Expr::var(&inner)), (steps.i.clone(), Expr::var(&i))]);
    let step = Expr::let_(i, Expr::prim(Prim::Add, vec![first, Expr::var(&r)]), step);
    let body = Expr::fold_with(in_part, inner, r, step, Expr::var(&outer));
    Steps { n: count, acc: outer, i: k, body, is_in_parts: true, ..steps.clone() }
}
