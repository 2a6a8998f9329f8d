//! Branches: `if` as a value and as a statement.
//!
//! In: a condition and what its two branches are, as terms, views or statements. Out: a view, `c ? a : b` where neither branch needs a
//! statement; or an `if` statement, and the expression that both branches assign where that is all they do.
//!
//!     if c then x else y   →   c ? x : y;   if c { s = x } else { s = y }   →   s = c ? x : y

use crate::ir::{Expr, Name, Size, Type};
use crate::loops::program::*;
use crate::loops::values::negate;

use super::context::{Lowerer, Result};
use super::view::{ArrayView, Leaf, View};

impl Lowerer<'_> {
    /// `if` as a value: `c ? a : b` where the branches need no statements, also between arrays that exist.
    pub fn choice(&mut self, expr: &Expr, cond: &Expr, a: &Expr, b: &Expr, name: &Name) -> Result<View> {
        let scalar = !expr.ty().has_array() && !matches!(expr.ty(), Type::Tuple(_));
        if scalar || self.is_view(a) && self.is_view(b) {
            let (test, cond) = (cond, self.scalar(cond)?);
            if let Value::Bool(is_so) = cond {
                return self.value(if is_so { a } else { b }, name);
            }
            let (mut then, x) = self.branch(test, true, |this| this.value(a, name))?;
            let (mut otherwise, y) = self.branch(test, false, |this| this.value(b, name))?;
            if then.is_empty() && otherwise.is_empty() {
                let once = if scalar { cond.clone() } else { self.atomic(cond.clone(), "chosen") };
                if let Some(view) = self.select(&once, &x, &y, name) {
                    return Ok(view);
                }
            }
            let ty = self.type_of(expr)?;
            let dest = self.fresh_dest(&ty, name, expr.span())?;
            let (copy, ()) = self.nested(|this| this.copy(&x, &dest, a.span()))?;
            then.extend(copy);
            let (copy, ()) = self.nested(|this| this.copy(&y, &dest, b.span()))?;
            otherwise.extend(copy);
            self.either(cond, then, otherwise);
            return Ok(self.view_of(&dest));
        }
        self.stored(expr, name)
    }

    fn select(&mut self, cond: &Value, a: &View, b: &View, name: &Name) -> Option<View> {
        match (a, b) {
            (View::Scalar(a), View::Scalar(b)) if a == b => Some(View::Scalar(a.clone())),
            (View::Scalar(a), View::Scalar(b)) => Some(View::Scalar(Value::Select(Box::new([cond.clone(), a.clone(), b.clone()])))),
            (View::Tuple(a), View::Tuple(b)) => {
                let parts = a.iter().zip(b).enumerate().map(|(k, (a, b))| self.select(cond, a, b, &name.part(k)));
                Some(View::Tuple(parts.collect::<Option<_>>()?))
            }
            (View::Array(a), View::Array(b)) => {
                let rest = |leaf: &Leaf| leaf.dims.get(leaf.taken.len()..).map(<[Size]>::to_vec);
                if a.leaves.iter().zip(&b.leaves).any(|(a, b)| rest(a) != rest(b)) {
                    return None;
                }
                let leaves = a.leaves.iter().zip(&b.leaves).map(|(a, b)| {
                    let to = PointerValue::Select(cond.clone(), self.pointer(a), self.pointer(b));
                    let base = self.local(name, a.elem, Form::Source { mutable: false });
                    self.origins.insert(base, vec![a.base, b.base]);
                    self.emit(Stmt::Point { id: base, to });
                    Leaf { base, elem: a.elem, dims: rest(a).unwrap_or_default(), taken: Vec::new() }
                });
                Some(View::Array(ArrayView { ty: a.ty.clone(), leaves: leaves.collect() }))
            }
            (View::Scalar(_), _) | (View::Tuple(_), _) | (View::Array(_), _) => None,
        }
    }

    /// An `if` statement, or the expression that both branches assign, or nothing.
    pub fn either(&mut self, cond: Value, then: Block, otherwise: Block) {
        match (then.as_slice(), otherwise.as_slice()) {
            ([], []) => {}
            ([], _) => self.emit(Stmt::If { cond: negate(cond), then: otherwise, otherwise: Vec::new() }),
            ([Stmt::Assign { place: a, value: x }], [Stmt::Assign { place: b, value: y }]) if a == b => {
                let value = Value::Select(Box::new([cond, x.clone(), y.clone()]));
                self.emit(Stmt::Assign { place: a.clone(), value });
            }
            _ => self.emit(Stmt::If { cond, then, otherwise }),
        }
    }
}
