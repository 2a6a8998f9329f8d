//! The three arrays of a sparse Jacobian: rows, columns, values.
//!
//! In: a plan, and the point. Out: a tuple of flat arrays. Each is written as arrays in arrays, a loop of the plan an array, and then
//! read as one (`flat::flattened`), which costs no copy where it is stored.
//!
//!     loop i of n: block of 1 row that reads x[i - 1], x[i]
//!     →   columns  build n (fun i -> [i - 1, i])
//!         values   build n (fun i -> (vjp(x = (x[i - 1], x[i]), w = ()). …).1), the parts of the pair as an array

use crate::ir::prim::Prim;
use crate::ir::subst::instance;
use crate::ir::term::Vjp;
use crate::ir::total::{total, within};
use crate::ir::zero::zero;
use crate::ir::{Expr, Size, Type, Var};

use super::flat::{at, doubles, flattened, one_after_the_other, plus, quotient, remainder, tidy, times};
use super::plan::Plan;
use super::reads::{Block, Slot, Step};

/// So many numbers are written one by one.
const FEW: i64 = 8;
/// So many numbers of different parts are.
const FEW_IN_PARTS: i64 = 64;

/// Arrays in arrays, of these lengths; a number alone where there are none.
struct Nest {
    value: Expr,
    dims: Vec<Size>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Rows,
    Columns,
    Values,
}

/// The tuple of all three; `None` where a length is not known before.
pub fn entries(plan: &Plan, vjp: &Vjp) -> Option<Expr> {
    let total = plan.entries();
    let array = |what: What, name: &str| {
        let element = if what == What::Values { Type::Double } else { Type::INDEX };
        if total.as_constant() == Some(0) {
            return Some(Expr::array(element, Vec::new()));
        }
        if let (What::Rows, Some(columns)) = (what, columns_of_each_row(plan)) {
            return Some(Expr::build(total.to_expr()?, "t", |t| match columns {
                1 => t,
                _ => Expr::prim(Prim::Div, vec![t, Expr::index(columns)]),
            }));
        }
        let nest = Writer { vjp, what }.nest(plan, Expr::index(0))?;
        if nest.dims.is_empty() { Some(Expr::array(element, vec![nest.value])) } else { flattened(nest.value, &nest.dims, name) }
    };
    Some(Expr::tuple(vec![array(What::Rows, "rows")?, array(What::Columns, "columns")?, array(What::Values, "values")?]))
}

/// How many numbers each row has, where all have as many.
fn columns_of_each_row(plan: &Plan) -> Option<i64> {
    match plan {
        Plan::Nothing(_) => None,
        Plan::Loop { inner, .. } | Plan::Let(_, _, inner) | Plan::Check(_, _, inner) => columns_of_each_row(inner),
        Plan::Parts(parts) => {
            let first = columns_of_each_row(parts.first()?)?;
            parts.iter().all(|part| columns_of_each_row(part) == Some(first)).then_some(first)
        }
        Plan::Block(block) => block.columns().as_constant().filter(|columns| *columns > 0),
    }
}

struct Writer<'a> {
    vjp: &'a Vjp<'a>,
    what: What,
}

impl Writer<'_> {
    /// A part of the result whose first row is `row`.
    fn nest(&self, plan: &Plan, row: Expr) -> Option<Nest> {
        match plan {
            Plan::Nothing(_) => None,
            Plan::Loop { n, i, inner } => {
                let row = plus(row, times(Expr::var(i), &inner.rows())?);
                let inside = self.nest(inner, row)?;
                let dims = std::iter::once(Size::of_expr(n)).chain(inside.dims).collect();
                Some(Nest { value: Expr::build_with(n.clone(), i.clone(), inside.value), dims })
            }
            Plan::Parts(parts) => self.parts(parts, row),
            Plan::Let(var, value, inner) => {
                let inside = self.nest(inner, row)?;
                let known = Size::of_expr(value);
                let dims = inside.dims.iter().map(|size| size.replace(var, &known)).collect();
                Some(Nest { value: Expr::let_(var.clone(), value.clone(), inside.value), dims })
            }
            Plan::Check(cond, status, inner) => {
                let inside = self.nest(inner, row)?;
                Some(Nest { value: Expr::check(cond.clone(), *status, inside.value), dims: inside.dims })
            }
            Plan::Block(block) => match self.what {
                What::Rows => self.block(block, &|r, _| Some(plus(row.clone(), r))),
                What::Columns => self.block(block, &|_, column| self.column(block, column)),
                What::Values => {
                    let slots: Vec<Expr> = block.slots.iter().map(|slot| self.slot(slot)).collect::<Option<_>>()?;
                    let point = if let [one] = slots.as_slice() { one.clone() } else { Expr::tuple(slots) };
                    // a point has a name: whoever computes the derivative may read it often
                    let at = block.point.renewed(block.point.ty().clone());
                    let both = Expr::vjp(block.point.clone(), Expr::var(&at), Expr::tuple(Vec::new()), block.body.clone());
                    let jacobian = Expr::let_(at, point, Expr::proj(both, 1));
                    let name = Var::fresh("jacobian", jacobian.ty().clone());
                    let inside = self.block(block, &|r, column| {
                        let row = row_of(&Expr::var(&name), block.body.ty(), r)?;
                        self.value(block, &row, column)
                    })?;
                    Some(Nest { value: Expr::let_(name, jacobian, inside.value), dims: inside.dims })
                }
            },
        }
    }

    /// Parts, one after the other.
    fn parts(&self, parts: &[Plan], row: Expr) -> Option<Nest> {
        let mut begin = row;
        let mut lists: Vec<(Size, Expr, Vec<Size>)> = Vec::new();
        for part in parts {
            if part.entries().as_constant() != Some(0) {
                let nest = self.nest(part, begin.clone())?;
                lists.push((part.entries(), nest.value, nest.dims));
            }
            begin = plus(begin, part.rows().to_expr()?);
        }
        let count = lists.iter().fold(Size::constant(0), |sum, (size, ..)| sum.add(size));
        let names: Vec<Var> = lists.iter().map(|(_, value, _)| Var::fresh("part", value.ty().clone())).collect();
        let in_row = |at: usize, place: Expr| -> Option<Expr> {
            let (_, _, dims) = &lists[at];
            let mut element = Expr::var(&names[at]);
            for axis in 0..dims.len() {
                let inner = dims[axis + 1..].iter().fold(Size::constant(1), |count, size| count.mul(size));
                let index = quotient(place.clone(), &inner)?;
                let index = if axis == 0 { index } else { remainder(index, &dims[axis])? };
                element = Expr::get(element, index);
            }
            Some(element)
        };
        let value = match count.as_constant() {
            Some(all) if all <= FEW_IN_PARTS => {
                let mut items = Vec::new();
                for (at, (size, ..)) in lists.iter().enumerate() {
                    for place in 0..size.as_constant()? {
                        items.push(in_row(at, Expr::index(place))?);
                    }
                }
                Expr::array(self.element(), items)
            }
            _ => {
                let t = Var::fresh("t", Type::Index(Some(count.clone())));
                let places = lists.iter().enumerate().map(|(at, (size, ..))| (size.clone(), move |place: Expr| (at, place)));
                let places: Vec<_> = places.collect();
                let readers = places.into_iter().map(|(size, to)| {
                    let in_row = &in_row;
                    (size, move |place: Expr| {
                        let (at, place) = to(place);
                        in_row(at, place)
                    })
                });
                let body = one_after_the_other(readers.collect(), Expr::var(&t))?;
                Expr::build_with(count.to_expr()?, t, body)
            }
        };
        let value = names.into_iter().zip(&lists).rev().fold(value, |inner, (name, (_, part, _))| Expr::let_(name, part.clone(), inner));
        Some(Nest { value, dims: vec![count] })
    }

    fn element(&self) -> Type {
        if self.what == What::Values { Type::Double } else { Type::INDEX }
    }

    /// For each row of a block, by its number in it, what is in each column, by its number among those that are there.
    fn block(&self, block: &Block, f: &dyn Fn(Expr, Expr) -> Option<Expr>) -> Option<Nest> {
        let rows = doubles(block.body.ty());
        if rows.as_constant() == Some(1) && !matches!(block.body.ty(), Type::Array(..)) {
            return self.columns(block, &|column| f(Expr::index(0), column));
        }
        let r = Var::fresh("r", Type::Index(Some(rows.clone())));
        let inside = self.columns(block, &|column| f(Expr::var(&r), column))?;
        let dims = std::iter::once(rows.clone()).chain(inside.dims).collect();
        Some(Nest { value: Expr::build_with(rows.to_expr()?, r, inside.value), dims })
    }

    fn columns(&self, block: &Block, f: &dyn Fn(Expr) -> Option<Expr>) -> Option<Nest> {
        let columns = block.columns();
        match columns.as_constant() {
            Some(1) => Some(Nest { value: f(Expr::index(0))?, dims: Vec::new() }),
            Some(few) if few <= FEW => {
                let items = (0..few).map(|column| f(Expr::index(column))).collect::<Option<Vec<_>>>()?;
                Some(Nest { value: Expr::array(self.element(), items), dims: vec![columns] })
            }
            Some(_) | None => {
                let c = Var::fresh("c", Type::Index(Some(columns.clone())));
                Some(Nest { value: Expr::build_with(columns.to_expr()?, c.clone(), f(Expr::var(&c))?), dims: vec![columns] })
            }
        }
    }

    /// The place in the point of a column of a block.
    fn column(&self, block: &Block, column: Expr) -> Option<Expr> {
        let lists = block.slots.iter().map(|slot| (slot.columns(), move |place: Expr| place_in(slot, self.vjp.x.ty(), place)));
        one_after_the_other(lists.collect(), column)
    }

    /// The derivative in a column, from those in all slots.
    fn value(&self, block: &Block, row: &Expr, column: Expr) -> Option<Expr> {
        let parts = block.slots.iter().enumerate().map(|(k, slot)| {
            let part = if block.slots.len() == 1 { row.clone() } else { Expr::proj(row.clone(), k) };
            (slot.columns(), move |place: Expr| at(&part, place))
        });
        one_after_the_other(parts.collect(), column)
    }

    /// What a slot reads of the point.
    fn slot(&self, slot: &Slot) -> Option<Expr> {
        let (mut value, mut inside) = (self.vjp.at.clone(), None);
        for step in &slot.steps {
            value = match step {
                Step::Part(k) => Expr::proj(value, *k),
                Step::Index(index, size, proved) => {
                    let index = if slot.guarded { total(index)? } else { index.clone() };
                    if slot.guarded && !proved {
                        inside = and(inside, within(&index, &size.to_expr()?));
                    }
                    Expr::get(value, index)
                }
            };
        }
        if let Some(inside) = inside {
            let zeros = zero(value.ty())?;
            value = Expr::if_(inside, value, zeros);
        }
        Some(slot.loops.iter().rev().fold(value, |value, (i, n)| Expr::build_with(n.clone(), i.clone(), value)))
    }
}

/// The place in the point of a number of a slot.
fn place_in(slot: &Slot, x: &Type, place: Expr) -> Option<Expr> {
    let each = doubles(&slot.ty);
    let mut turns = Vec::new();
    let mut left = each.clone();
    for (k, (i, n)) in slot.loops.iter().enumerate().rev() {
        let turn = quotient(place.clone(), &left)?;
        let length = Size::of_expr(n);
        turns.push((i.clone(), if k == 0 { turn } else { remainder(turn, &length)? }));
        left = left.mul(&length);
    }
    let own = if slot.loops.is_empty() { place } else { remainder(place, &each)? };
    let (mut begin, mut inside, mut ty) = (Expr::index(0), None, x.clone());
    for step in &slot.steps {
        let next = match (step, &ty) {
            (Step::Part(k), Type::Tuple(parts)) => {
                let before = parts.iter().take(*k).fold(Size::constant(0), |sum, part| sum.add(&doubles(part)));
                begin = plus(begin, before.to_expr()?);
                parts.get(*k)?.clone()
            }
            (Step::Index(index, size, proved), Type::Array(element, _)) => {
                let index = if slot.guarded { total(index)? } else { index.clone() };
                let index = tidy(instance(&index, &turns));
                if slot.guarded && !proved {
                    inside = and(inside, within(&index, &size.to_expr()?));
                }
                begin = plus(begin, times(index, &doubles(element))?);
                (**element).clone()
            }
            (Step::Part(_) | Step::Index(..), _) => return None,
        };
        ty = next;
    }
    let place = plus(begin, own);
    Some(match inside {
        Some(inside) => Expr::if_(inside, place, Expr::index(0)),
        None => place,
    })
}

/// The derivatives of one row of a block whose rows have the type `ty`: its number is that of a Double.
fn row_of(jacobian: &Expr, ty: &Type, row: Expr) -> Option<Expr> {
    match ty {
        Type::Array(element, _) => {
            let each = doubles(element);
            let index = quotient(row.clone(), &each)?;
            row_of(&Expr::get(jacobian.clone(), index), element, remainder(row, &each)?)
        }
        Type::Tuple(parts) => {
            let rows = parts.iter().enumerate().map(|(k, part)| {
                let own = Expr::proj(jacobian.clone(), k);
                (doubles(part), move |row: Expr| row_of(&own, part, row))
            });
            one_after_the_other(rows.collect(), row)
        }
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => Some(jacobian.clone()),
    }
}

fn and(a: Option<Expr>, b: Expr) -> Option<Expr> {
    Some(match a {
        Some(a) => Expr::prim(Prim::And, vec![a, b]),
        None => b,
    })
}
