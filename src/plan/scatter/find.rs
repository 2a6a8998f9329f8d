//! Which elements of a result are sums that can be scattered.
//!
//! In: a `build`. Out: the same with what the sums begin with in their place, the sums, and what is made of each.
//!
//!     build(n, r. 2.0 * (fold(m, s, i. if r = k[i] then s + g(i) else s, 0.0) + c[r]))
//!       →   build(n, r. c[r]), the fold for element r, and 2.0 * total
//!
//! Rows may be built in rows, arrays that are written out, and tuples. What is summed beside such sums is what they begin with.

use crate::ir::free::{any_free_var, occurrences};
use crate::ir::prove::Facts;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::plan::columns::replace;
use crate::source::Span;

use super::components::{component, with_components};
use super::steps::{Finder, Row, Step, put};

/// For at most so many rows comparisons are as fast as a scatter.
const FEW: i64 = 4;

/// See the module's head.
pub struct Scatter {
    pub init: Expr,
    /// The sums of each loop.
    pub loops: Vec<Vec<Sum>>,
    pub finish: Shape,
}

/// A sum, and which element it is.
pub struct Sum {
    pub path: Vec<Side>,
    pub rows: Vec<Row>,
    pub count: Expr,
    pub i: Var,
    pub steps: Vec<Step>,
    pub minus: bool,
    /// Whether a failure may move to a later point of a step.
    pub delays: bool,
}

/// The path to an element: an index of a `build`, a literal index, a component.
#[derive(Clone)]
pub enum Side {
    Row(Var),
    Item(usize),
    Part(usize),
}

/// What is computed from the finished sums.
pub enum Shape {
    Nothing,
    Rows(Row, Span, Box<Shape>),
    Items(Vec<Shape>),
    Parts(Vec<Shape>),
    Let(Var, Expr, Box<Shape>),
    /// The variable that holds the sum, and the term over it.
    Element(Var, Expr),
}

impl Scatter {
    pub fn find(expr: &Expr, facts: &Facts, exact: bool) -> Option<Scatter> {
        let Term::Build { n, .. } = expr.term() else { return None };
        if !expr.has_conditions() || matches!(n.term(), Term::Index(n) if *n <= FEW) {
            return None;
        }
        let mut search = Search { facts, exact, path: Vec::new(), rows: Vec::new(), lets: Vec::new(), loops: Vec::new() };
        let (init, finish) = search.elements(expr);
        (!search.loops.is_empty()).then_some(Scatter { init, loops: search.loops, finish })
    }
}

struct Search<'a> {
    facts: &'a Facts,
    exact: bool,
    path: Vec<Side>,
    rows: Vec<Row>,
    /// The lets between the rows and the element.
    lets: Vec<(Var, Expr)>,
    loops: Vec<Vec<Sum>>,
}

impl Search<'_> {
    /// The initial values of the elements, and what is computed from the sums.
    fn elements(&mut self, expr: &Expr) -> (Expr, Shape) {
        match expr.term() {
            _ if expr.ty() == &Type::Double => self.element(expr),
            Term::Build { n, i, body } if !self.depends(n) => {
                let row = Row { var: i.clone(), n: n.clone() };
                self.rows.push(row.clone());
                let (init, shape) = self.along(Side::Row(i.clone()), body);
                self.rows.pop();
                let shape = if let Shape::Nothing = shape { shape } else { Shape::Rows(row, expr.span(), Box::new(shape)) };
                (Expr::build_with(n.clone(), i.clone(), init).at(expr.span()), shape)
            }
            Term::Array(items) => {
                let (items, shapes) = self.several(items, Side::Item);
                let shape = if shapes.is_empty() { Shape::Nothing } else { Shape::Items(shapes) };
                (Expr::with_type(Term::Array(items), expr.ty().clone(), expr.span()), shape)
            }
            Term::Tuple(parts) => {
                let (parts, shapes) = self.several(parts, Side::Part);
                let shape = if shapes.is_empty() { Shape::Nothing } else { Shape::Parts(shapes) };
                (Expr::tuple(parts).at(expr.span()), shape)
            }
            Term::Let(x, value, body) => {
                if let Some(found) = self.apart(x, value, body) {
                    return found;
                }
                self.lets.push((x.clone(), value.clone()));
                let (init, shape) = self.elements(body);
                self.lets.pop();
                let shape = if let Shape::Nothing = shape { shape } else { Shape::Let(x.clone(), value.clone(), Box::new(shape)) };
                (Expr::let_(x.clone(), value.clone(), init).at(expr.span()), shape)
            }
            _ => (expr.clone(), Shape::Nothing),
        }
    }

    /// As `elements`, where several elements are the components of one loop, and each is a sum that can be scattered by itself.
    fn apart(&mut self, x: &Var, value: &Expr, body: &Expr) -> Option<(Expr, Shape)> {
        let (Term::Fold { .. }, Type::Tuple(parts)) = (value.term(), value.ty()) else { return None };
        if self.exact {
            return None;
        }
        let names: Vec<Var> = parts.iter().map(|part| x.renewed(part.clone())).collect();
        let mut elements = with_components(body, x, &names)?;
        for (k, name) in names.iter().enumerate() {
            if occurrences(&elements, name) != 1 {
                return None;
            }
            elements = put(&elements, name, &component(value, k)?);
        }
        let count = |loops: &[Vec<Sum>]| loops.iter().map(Vec::len).sum::<usize>();
        let (before, last) = (self.loops.len(), self.loops.last().map_or(0, Vec::len));
        let known = count(&self.loops);
        let found = self.elements(&elements);
        if count(&self.loops) < known + parts.len() {
            self.loops.truncate(before);
            self.loops.last_mut().into_iter().for_each(|sums| sums.truncate(last));
            return None;
        }
        Some(found)
    }

    fn along(&mut self, side: Side, expr: &Expr) -> (Expr, Shape) {
        self.path.push(side);
        let result = self.elements(expr);
        self.path.pop();
        result
    }

    /// As `elements`; no shapes where the sums are the result.
    fn several(&mut self, items: &[Expr], side: fn(usize) -> Side) -> (Vec<Expr>, Vec<Shape>) {
        let (items, mut shapes): (Vec<Expr>, Vec<Shape>) = items.iter().enumerate().map(|(k, item)| self.along(side(k), item)).unzip();
        if shapes.iter().all(|shape| matches!(shape, Shape::Nothing)) {
            shapes.clear();
        }
        (items, shapes)
    }

    fn depends(&self, expr: &Expr) -> bool {
        any_free_var(expr, &mut |var| self.rows.iter().any(|row| row.var == *var) || self.lets.iter().any(|(name, _)| name == var))
    }

    fn element(&mut self, expr: &Expr) -> (Expr, Shape) {
        let outside = self.lets.len();
        let Some((sum, init)) = self.sums(expr) else { return (expr.clone(), Shape::Nothing) };
        // a let keeps the place where it may fail
        let init = self.lets.split_off(outside).into_iter().rev().fold(init, |init, (x, value)| Expr::let_(x, value, init));
        let mut tail = expr;
        while let Term::Let(_, _, body) = tail.term() {
            tail = body;
        }
        if sum.is_same(tail) {
            return (init, Shape::Nothing);
        }
        let total = Var::fresh("sum", Type::Double);
        let finish = replace(expr, &sum, &Expr::var(&total));
        (init, Shape::Element(total, finish))
    }

    /// The first always-evaluated part of an element that is a sum with terms that can be scattered, with its initial value; the
    /// lets around it are added to the outer ones.
    fn sums(&mut self, expr: &Expr) -> Option<(Expr, Expr)> {
        if expr.ty() == &Type::Double
            && let Some(init) = self.scattered(expr)
        {
            return Some((expr.clone(), init));
        }
        match expr.term() {
            Term::Prim(Prim::And | Prim::Or, _)
            | Term::If(..)
            | Term::Build { .. }
            | Term::Fold { .. }
            | Term::Check { .. }
            | Term::Dual { .. } => None,
            Term::Let(x, value, body) => self.sums(value).or_else(|| {
                self.lets.push((x.clone(), value.clone()));
                let found = self.sums(body);
                if found.is_none() {
                    self.lets.pop();
                }
                found
            }),
            term => term.children().find_map(|child| self.sums(child)),
        }
    }

    /// The initial value of a sum, where some of its terms can be scattered; these are recorded.
    fn scattered(&mut self, expr: &Expr) -> Option<Expr> {
        let mut terms = Vec::new();
        if self.exact {
            terms.push((expr.clone(), false))
        } else {
            collect_terms(expr, false, &mut terms)
        }
        let mut sums = Vec::new();
        let mut rest = Vec::new();
        for (term, minus) in terms {
            match self.sum(&term, minus) {
                Some((sum, init)) => {
                    sums.push(sum);
                    if self.exact {
                        rest.push((init, minus));
                    } else {
                        collect_terms(&init, minus, &mut rest);
                    }
                }
                None => rest.push((term, minus)),
            }
        }
        if sums.is_empty() {
            return None;
        }
        sums.into_iter().for_each(|sum| self.add(sum));
        rest.retain(|(term, _)| self.exact || !matches!(term.term(), Term::Double(zero) if *zero == 0.0));
        // a positive one first
        rest.sort_by_key(|(_, minus)| !self.exact && *minus);
        let whole = rest.into_iter().fold(None, |whole: Option<Expr>, (term, minus)| {
            Some(match (whole, minus) {
                (None, false) => term,
                (None, true) => Expr::prim(Prim::Neg, vec![term]),
                (Some(whole), false) => Expr::prim(Prim::Add, vec![whole, term]),
                (Some(whole), true) => Expr::prim(Prim::Sub, vec![whole, term]),
            })
        });
        Some(whole.unwrap_or(Expr::double(0.0)))
    }

    /// A fold as a sum, with its initial value.
    fn sum(&self, expr: &Expr, minus: bool) -> Option<(Sum, Expr)> {
        let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
        let mut finder = Finder::new(&self.rows, &self.lets, self.facts, self.exact)?;
        let steps = finder.fold(n, acc, i, body)?;
        // adding 0.0 makes 0.0 of -0.0, and nothing else does
        let is_kept =
            !self.exact || !finder.drops_zero || matches!(init.term(), Term::Double(init) if init.to_bits() != (-0.0f64).to_bits());
        if !finder.scatters || !is_kept {
            return None;
        }
        let (path, rows) = (self.path.clone(), self.rows.clone());
        Some((Sum { path, rows, count: n.clone(), i: i.clone(), steps, minus, delays: finder.delays }, init.clone()))
    }

    /// Joins a sum to the last loop where that has the same trip count and the same rows.
    fn add(&mut self, sum: Sum) {
        let size = Size::try_of_expr(&sum.count);
        if let Some(last) = self.loops.last_mut()
            && last.first().is_some_and(|first| {
                let same_rows = first.rows.len() == sum.rows.len() && first.rows.iter().zip(&sum.rows).all(|(a, b)| a.var == b.var);
                same_rows && size.is_some() && Size::try_of_expr(&first.count) == size
            })
        {
            last.push(sum);
        } else {
            self.loops.push(vec![sum]);
        }
    }
}

/// The terms of a sum, each with whether it is subtracted.
fn collect_terms(expr: &Expr, minus: bool, terms: &mut Vec<(Expr, bool)>) {
    match expr.term() {
        Term::Prim(prim @ (Prim::Add | Prim::Sub | Prim::Neg), args) => {
            for (at, arg) in args.iter().enumerate() {
                let turned = *prim == Prim::Neg || *prim == Prim::Sub && at == 1;
                collect_terms(arg, minus ^ turned, terms);
            }
        }
        _ => terms.push((expr.clone(), minus)),
    }
}
