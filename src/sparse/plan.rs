//! A result taken apart: loops over rows, parts that stand one after the other, and blocks, whose rows read the same.
//!
//! In: a body in normal form. Out: a tree whose leaves are blocks.
//!
//!     build n (fun i -> [x[i], x[i + 1] * x[i]])
//!     →   loop i of n: parts: block of 1 row that reads x[i], block of 1 row that reads x[i + 1] and x[i]
//!
//! What is read decides: elements stand in a block together where each alone would have no fewer numbers, since what they share is
//! computed once then. Names that do not depend on the point are bound around, the others in each block that needs them.

use crate::ir::free::{any_free_var, mentions};
use crate::ir::prove::Facts;
use crate::ir::term::Vjp;
use crate::ir::{Expr, Function, Size, Status, Term, Type, Var};

use super::flat::doubles;
use super::normal::{Active, Normal, component, element, is_by_elements};
use super::reads::{Block, Surroundings, block};

pub enum Plan {
    /// So many rows in which nothing of the point is read.
    Nothing(Size),
    Loop {
        n: Expr,
        i: Var,
        inner: Box<Plan>,
    },
    Parts(Vec<Plan>),
    Let(Var, Expr, Box<Plan>),
    Check(Expr, Status, Box<Plan>),
    Block(Block),
}

impl Plan {
    /// How many rows it has.
    pub fn rows(&self) -> Size {
        self.sum(&|block| doubles(block.body.ty()), &Size::clone)
    }

    /// How many numbers it has.
    pub fn entries(&self) -> Size {
        self.sum(&|block| doubles(block.body.ty()).mul(&block.columns()), &|_| Size::constant(0))
    }

    fn sum(&self, of_block: &dyn Fn(&Block) -> Size, of_nothing: &dyn Fn(&Size) -> Size) -> Size {
        match self {
            Plan::Nothing(rows) => of_nothing(rows),
            Plan::Loop { n, inner, .. } => Size::of_expr(n).mul(&inner.sum(of_block, of_nothing)),
            Plan::Parts(parts) => parts.iter().fold(Size::constant(0), |sum, part| sum.add(&part.sum(of_block, of_nothing))),
            Plan::Let(var, value, inner) => {
                let inner = inner.sum(of_block, of_nothing);
                if inner.mentions(var) { inner.replace(var, &Size::of_expr(value)) } else { inner }
            }
            Plan::Check(_, _, inner) => inner.sum(of_block, of_nothing),
            Plan::Block(block) => of_block(block),
        }
    }
}

/// What depends on the point and is around a part of the result.
#[derive(Clone)]
enum Around {
    Let(Var, Expr),
    Check(Expr, Status),
}

pub fn plan(normal: &Normal, vjp: &Vjp, function: &Function) -> Plan {
    let facts = Facts::for_function(function);
    Planner { active: &normal.active, x: vjp.x, around: Vec::new(), facts, varying: Vec::new() }.plan(&normal.body)
}

#[derive(Clone)]
struct Planner<'a> {
    active: &'a Active,
    x: &'a Var,
    around: Vec<Around>,
    facts: Facts,
    varying: Vec<Var>,
}

impl Planner<'_> {
    fn plan(&self, expr: &Expr) -> Plan {
        if !self.active.reaches(expr) {
            return Plan::Nothing(doubles(expr.ty()));
        }
        match expr.term() {
            Term::Let(var, value, body) if self.active.reaches(value) => self.inside(Around::Let(var.clone(), value.clone())).plan(body),
            Term::Let(var, value, body) => {
                let mut inner = self.clone();
                inner.facts.define(var, value);
                if any_free_var(value, &mut |other| self.varying.contains(other)) {
                    inner.varying.push(var.clone());
                }
                Plan::Let(var.clone(), value.clone(), Box::new(inner.plan(body)))
            }
            Term::Check { cond, status, body } if self.active.reaches(cond) => self.inside(Around::Check(cond.clone(), *status)).plan(body),
            Term::Check { cond, status, body } => {
                let mut inner = self.clone();
                inner.facts.assume(cond, true);
                Plan::Check(cond.clone(), *status, Box::new(inner.plan(body)))
            }
            Term::Build { n, i, body } if !self.active.reaches(n) => self.each(expr, n, i, body),
            Term::Array(items) => self.unless_a_block_is_as_good(Plan::Parts(items.iter().map(|item| self.plan(item)).collect()), expr),
            _ => match expr.ty() {
                Type::Tuple(parts) => {
                    let plans = (0..parts.len()).map(|k| self.plan(&component(expr.clone(), k))).collect();
                    let apart = Plan::Parts(plans);
                    let scalars = parts.iter().all(|part| part == &Type::Double);
                    if scalars { self.unless_a_block_is_as_good(apart, expr) } else { apart }
                }
                Type::Array(_, size) if is_by_elements(expr) => match size.to_expr().filter(|n| !self.active.reaches(n)) {
                    Some(n) => {
                        let i = Var::fresh("i", Type::Index(Some(size.clone())));
                        let body = element(self.opened(expr), Expr::var(&i));
                        self.each(expr, &n, &i, &body)
                    }
                    None => self.block(expr),
                },
                Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) | Type::Array(..) => self.block(expr),
            },
        }
    }

    fn inside(&self, around: Around) -> Self {
        let mut inner = self.clone();
        inner.around.push(around);
        inner
    }

    /// The term of an array that has a name.
    fn opened(&self, expr: &Expr) -> Expr {
        if let Term::Var(var) = expr.term()
            && let Some(value) = self.active.values.get(var)
            && is_by_elements(value)
        {
            crate::ir::subst::freshen(value)
        } else {
            expr.clone()
        }
    }

    /// The elements of an array, each by itself.
    fn each(&self, array: &Expr, n: &Expr, i: &Var, body: &Expr) -> Plan {
        let mut inside = self.clone();
        inside.facts.enter_loop(i, n);
        inside.varying.push(i.clone());
        let inner = inside.plan(body);
        // rows of different lengths have no place that a formula gives
        if inner.entries().mentions(i) || inner.rows().mentions(i) {
            return self.block(array);
        }
        self.unless_a_block_is_as_good(Plan::Loop { n: n.clone(), i: i.clone(), inner: Box::new(inner) }, array)
    }

    fn unless_a_block_is_as_good(&self, apart: Plan, whole: &Expr) -> Plan {
        let block = self.block(whole);
        let (fewer, more) = (apart.entries(), block.entries());
        if fewer.as_constant() == Some(0) || fewer.has_unknown() {
            return if more.has_unknown() { apart } else { block };
        }
        // what a block has more, where all lengths are positive
        let gain = more.sub(&fewer);
        let is_none = gain.terms().all(|(_, coefficient)| coefficient < 0);
        if is_none && !more.has_unknown() { block } else { apart }
    }

    /// The rows of a term together.
    fn block(&self, expr: &Expr) -> Plan {
        let wrap = |inner: Expr| {
            self.around.iter().rev().fold(inner, |inner, around| match around {
                Around::Let(var, _) if !mentions(&inner, var) => inner,
                Around::Let(var, value) => Expr::let_(var.clone(), value.clone(), inner),
                Around::Check(cond, status) => Expr::check(cond.clone(), *status, inner),
            })
        };
        block(expr, &wrap, &Surroundings { active: self.active, x: self.x, facts: &self.facts, varying: &self.varying })
            .map_or_else(|| Plan::Nothing(doubles(expr.ty())), Plan::Block)
    }
}
