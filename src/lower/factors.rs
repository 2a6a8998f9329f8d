//! Row-invariant factors of the products in a row of sums: their product is hoisted out of the row.
//!
//! In: what a sum down a column adds, and the variables that change from column to column. Out: the term as a product of what
//! changes with one number that does not; a division for each column is one for the row.
//!
//!     out[j] += t * (X[i][j] * y) / (1.0 + t)   →   f = t * y / (1.0 + t); out[j] += X[i][j] * f
//!
//! Only where [`super::LowerOptions`] allows reciprocals, since products are put into another order. What can fail stays where
//! it is.

use crate::ir::free::mentions;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Prim, Term, Type, Var};

use super::context::{Lowerer, Result};
use crate::plan::known::cannot_fail;

/// A product of factors, some of them inverted.
#[derive(Default)]
struct Product {
    over: Vec<Expr>,
    under: Vec<Expr>,
    negative: bool,
}

impl Product {
    /// The factors of a term, in their order.
    fn of(expr: &Expr) -> Product {
        let mut product = Product::default();
        product.collect(expr, false);
        product
    }

    fn collect(&mut self, expr: &Expr, inverse: bool) {
        if let Term::Prim(prim @ (Prim::Mul | Prim::Div | Prim::Neg), args) = expr.term()
            && expr.ty() == &Type::Double
        {
            self.negative ^= *prim == Prim::Neg;
            for (k, arg) in args.iter().enumerate() {
                self.collect(arg, inverse ^ (*prim == Prim::Div && k == 1));
            }
        } else if inverse {
            self.under.push(expr.clone());
        } else {
            self.over.push(expr.clone());
        }
    }

    /// The factors for which a condition holds, and the others.
    fn split(self, is_ours: impl Fn(&Expr) -> bool) -> (Product, Product) {
        let (over, other_over) = self.over.into_iter().partition(&is_ours);
        let (under, other_under) = self.under.into_iter().partition(&is_ours);
        (Product { over, under, negative: false }, Product { over: other_over, under: other_under, negative: self.negative })
    }

    /// Whether computing it takes an operation.
    fn is_work(&self) -> bool {
        self.over.len() > 1 || !self.under.is_empty()
    }

    fn is_one(&self) -> bool {
        self.over.is_empty() && self.under.is_empty()
    }

    fn term(self) -> Expr {
        let times = |a, b| Expr::prim(Prim::Mul, vec![a, b]);
        let over = self.over.into_iter().reduce(times);
        let term = match (over, self.under.into_iter().reduce(times)) {
            (Some(over), None) => over,
            (over, Some(under)) => Expr::prim(Prim::Div, vec![over.unwrap_or(Expr::double(1.0)), under]),
            (None, None) => Expr::double(1.0),
        };
        if self.negative { Expr::prim(Prim::Neg, vec![term]) } else { term }
    }
}

impl Lowerer<'_> {
    /// The term with the row-invariant factors of its products bound before it; `ours` are the variables that vary with the
    /// column.
    pub fn with_common_factors(&mut self, expr: &Expr, ours: &[Var]) -> Result<Expr> {
        let is_product = matches!(expr.term(), Term::Prim(Prim::Mul | Prim::Div | Prim::Neg, _)) && expr.ty() == &Type::Double;
        if is_product {
            let same = |this: &Self, factor: &Expr| !ours.iter().any(|var| mentions(factor, var)) && cannot_fail(factor, &this.facts);
            let (row, mut column) = Product::of(expr).split(|factor| same(self, factor));
            if row.is_work() {
                for factor in column.over.iter_mut().chain(&mut column.under) {
                    *factor = self.with_common_factors(factor, ours)?;
                }
                let r = Var::fresh("r", Type::Double);
                let negative = std::mem::take(&mut column.negative);
                self.bind(&r, &Product { negative, ..row }.term())?;
                let r = Expr::var(&r);
                return Ok(if column.is_one() { r } else { Expr::prim(Prim::Mul, vec![column.term(), r]) });
            }
        }
        let mut failed = None;
        let ours = &[ours, &expr.term().binders().cloned().collect::<Vec<_>>()].concat();
        let expr = map_children(expr, &mut |child| match self.with_common_factors(child, ours) {
            Ok(child) => child,
            Err(problem) => {
                failed = Some(problem);
                child.clone()
            }
        });
        failed.map_or(Ok(expr), Err)
    }
}
