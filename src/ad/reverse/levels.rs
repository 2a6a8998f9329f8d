//! How a loop that data ends is in parts: how many they are, and how many steps each has.
//!
//! In: the count of a fold, which data gives, and its step. Out: the number of its parts; the parts are in parts again, [`LEVELS`] deep,
//! with at most [`PARTS`] of each, so that what is kept has a fixed length. A state of which each step changes one element, as the stack
//! of recursion, is copied for each of the smallest parts: they have as many steps as it has elements, if those are more, so that a step
//! still costs the same however long the state is.
//!
//!     1000 steps, smallest parts of 256   →   one part of 65536, which has 4 parts of 256

use super::leaves::{Leaf, leaves_of};
use super::undo::Log;
use crate::ad::block::{Block, shared};
use crate::ir::in_place::Changes;
use crate::ir::{Expr, Prim, Size, Term, Var};

/// The most parts that a loop which data ends has on a level, and how often its parts have parts.
pub const PARTS: i64 = 256;
pub const LEVELS: u32 = 2;

/// A loop that data ends, as it is taken in parts.
#[derive(Clone)]
pub struct Open {
    pub level: Level,
    /// How many they are.
    pub(super) parts: Expr,
    /// Whether the loop has been run to count its steps.
    pub(super) is_counted: bool,
}

/// How a loop is in parts.
#[derive(Clone)]
pub struct Level {
    /// How often its parts have parts.
    pub(super) above: u32,
    /// How many steps the smallest parts have: by a name, and as a size that is positive whatever its variables are.
    smallest: (Expr, Expr),
}

impl Level {
    /// All levels, for steps that take a state on.
    pub fn of_steps(steps: &Expr, acc: &Var, i: &Var, n: &Expr, out: &mut Block) -> Level {
        let smallest = elements_that_change(steps, acc, i, n).unwrap_or_else(|| Expr::index(PARTS));
        Level { above: LEVELS, smallest: (shared("part", smallest.clone(), out), smallest) }
    }

    pub(super) fn below(&self) -> Option<Level> {
        Some(Level { above: self.above.checked_sub(1)?, smallest: self.smallest.clone() })
    }

    /// How many steps a part has.
    pub(super) fn unit(&self) -> Expr {
        let (name, _) = &self.smallest;
        match (self.above.checked_sub(1), name.term()) {
            (None, _) => Expr::index(1),
            (Some(0), _) => name.clone(),
            (Some(above), Term::Index(smallest)) => Expr::index(smallest.saturating_mul(PARTS.pow(above))),
            (Some(above), _) => Expr::prim(Prim::Mul, vec![Expr::index(PARTS.pow(above)), name.clone()]),
        }
    }

    /// The most steps that the loop may have.
    pub(super) fn room(&self) -> Expr {
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
}

fn one_less(n: &Expr) -> Expr {
    let less = Size::of_expr(n).sub(&Size::constant(1)).to_expr();
    less.unwrap_or_else(|| Expr::prim(Prim::Sub, vec![n.clone(), Expr::index(1)]))
}

pub fn least(n: Expr, most: Expr) -> Expr {
    Expr::prim(Prim::Min, vec![n, most])
}
