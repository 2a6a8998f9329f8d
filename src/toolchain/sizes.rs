//! The numbers behind sizes: from `n = 3` to the shape of `Array<Double * Double, 2 * n>`.
//!
//! In: types over size names and the numbers that these have in one call. Out: [`Shape`]s. Opaque sizes
//! (`n / 2`, `max n m`) are evaluated as docs/language.md says: Index arithmetic wraps. A size that depends on
//! data has no number.

use super::flat::{Column, Flat, Shape};
use crate::ir::eval::real;
use crate::ir::free::mentions;
use crate::ir::prim::Prim;
use crate::ir::{Atom, Expr, Size, Term, Type, Var};

/// The values of size names and of Index and Bool parameters (0 and 1) in one call; the states of the folds in sizes that are being run.
#[derive(Clone, Debug, Default)]
pub struct Bindings(Vec<(Var, i64)>, Vec<(Var, Vec<i64>)>);

impl Bindings {
    /// Gives a variable its value; the first one stays.
    pub fn bind(&mut self, var: &Var, value: i64) {
        if self.get(var).is_none() {
            self.0.push((var.clone(), value));
        }
    }

    /// Gives the sizes of a parameter the values that an argument has.
    pub fn observe(&mut self, param: &Var, argument: &Flat) {
        match (param.ty(), argument.columns.first()) {
            (Type::Index(_), Some(Column::Index(items))) => items.iter().for_each(|value| self.bind(param, *value)),
            (Type::Bool, Some(Column::Bool(items))) => items.iter().for_each(|value| self.bind(param, i64::from(*value))),
            (ty, _) => self.observe_shape(ty, &argument.shape),
        }
    }

    fn observe_shape(&mut self, ty: &Type, shape: &Shape) {
        match (ty, shape) {
            (Type::Array(element, size), Shape::Array(length, inner)) => {
                if let Some(var) = size.as_var() {
                    self.bind(var, *length as i64);
                }
                self.observe_shape(element, inner);
            }
            (Type::Tuple(parts), Shape::Tuple(shapes)) => {
                parts.iter().zip(shapes).for_each(|(part, shape)| self.observe_shape(part, shape));
            }
            (Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) | Type::Rec(_), _) => {}
        }
    }

    pub fn get(&self, var: &Var) -> Option<i64> {
        self.0.iter().find(|(name, _)| name == var).map(|(_, value)| *value)
    }

    /// The value of a size; `None` where a variable has none or the size depends on data.
    pub fn size(&self, size: &Size) -> Option<i64> {
        let mut sum = 0i64;
        for (monomial, coefficient) in size.terms() {
            let mut product = coefficient;
            for atom in monomial.iter() {
                product = product.wrapping_mul(match atom {
                    Atom::Var(var) => self.get(var)?,
                    Atom::Term(term) => self.term(&term.expr)?,
                    Atom::Unknown(_) => return None,
                });
            }
            sum = sum.wrapping_add(product);
        }
        Some(sum)
    }

    /// The shape of a type; negative lengths count as 0. `None` as for [`Bindings::size`].
    pub fn shape(&self, ty: &Type) -> Option<Shape> {
        Some(match ty {
            Type::Double => Shape::Double,
            Type::Bool => Shape::Bool,
            Type::Index(_) => Shape::Index,
            Type::Rec(_) => Shape::Rolled,
            Type::Array(element, size) => {
                let length = usize::try_from(self.size(size)?.max(0)).ok()?;
                Shape::Array(length, Box::new(self.shape(element)?))
            }
            Type::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| self.shape(part)).collect::<Option<_>>()?),
        })
    }

    /// The value of an Index or Bool term over size names.
    fn term(&self, expr: &Expr) -> Option<i64> {
        match expr.term() {
            Term::Var(var) => self.get(var),
            Term::Index(value) => Some(*value),
            Term::Bool(value) => Some(i64::from(*value)),
            Term::If(cond, then, otherwise) => self.term(if self.term(cond)? != 0 { then } else { otherwise }),
            Term::Prim(prim, args) => {
                let args: Vec<i64> = args.iter().map(|arg| self.term(arg)).collect::<Option<_>>()?;
                operation(*prim, &args)
            }
            Term::Fold { .. } => self.fold(expr)?.first().copied(),
            Term::Proj(tuple, k) => {
                if let Term::Var(var) = tuple.term() {
                    self.1.iter().find(|(state, _)| state == var)?.1.get(*k).copied()
                } else {
                    self.fold(tuple)?.get(*k).copied()
                }
            }
            Term::Double(_)
            | Term::Let(..)
            | Term::Build { .. }
            | Term::While { .. }
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. }
            | Term::Dual { .. }
            | Term::Vjp { .. } => None,
        }
    }

    /// The state of a fold in a size after its last step; of one Index, or of several.
    fn fold(&self, expr: &Expr) -> Option<Vec<i64>> {
        let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
        let states = |own: &Bindings, expr: &Expr| {
            if let Term::Tuple(parts) = expr.term() {
                parts.iter().map(|part| own.term(part)).collect()
            } else {
                Some(vec![own.term(expr)?])
            }
        };
        let mut state = states(self, init)?;
        // total recursion is over long before the last step that its measure allows
        let settles = !mentions(body, i);
        for step in 0..self.term(n)? {
            let mut inside = Bindings(vec![(i.clone(), step)], self.1.clone());
            if matches!(acc.ty(), Type::Tuple(_)) {
                inside.1.insert(0, (acc.clone(), state.clone()));
            } else {
                inside.0.push((acc.clone(), *state.first()?));
            }
            inside.0.extend(self.0.iter().filter(|(var, _)| var != acc && var != i).cloned());
            let next = states(&inside, body)?;
            if settles && next == state {
                break;
            }
            state = next;
        }
        Some(state)
    }
}

fn operation(prim: Prim, args: &[i64]) -> Option<i64> {
    match (prim, args) {
        (Prim::Not, [a]) => Some(i64::from(*a == 0)),
        (Prim::And, [a, b]) => Some(i64::from(*a != 0 && *b != 0)),
        (Prim::Or, [a, b]) => Some(i64::from(*a != 0 || *b != 0)),
        (prim, [a]) => real::index(prim, *a, 0),
        (prim, [a, b]) => real::index(prim, *a, *b).or_else(|| real::compare(prim, *a, *b).map(i64::from)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_once_their_names_are() {
        let n = Var::fresh("n", Type::INDEX);
        let mut bindings = Bindings::default();
        bindings.bind(&n, 5);
        bindings.bind(&n, 6);
        let half = Size::of_expr(&Expr::prim(Prim::Div, vec![Expr::var(&n), Expr::index(2)]));
        assert_eq!(bindings.size(&half), Some(2));
        assert_eq!(bindings.size(&Size::var(&n).mul(&Size::var(&n)).sub(&Size::constant(1))), Some(24));
        assert_eq!(bindings.size(&Size::unknown()), None);
        let pairs = Type::array(Type::Double.dual(), Size::var(&n).sub(&Size::constant(9)));
        assert_eq!(bindings.shape(&pairs), Some(Shape::Array(0, Box::new(Shape::Tuple(vec![Shape::Double, Shape::Double])))));
    }
}
