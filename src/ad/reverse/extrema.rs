//! Largest and smallest values: the derivative of a maximum is that of the one value that it is.
//!
//! In: a fold whose step is the maximum, or the minimum, of its state and a value. Out: the same fold with the step that gave its
//! value, and that value as a branch. The backward pass then stores no states, and computes the share of one step alone.
//!
//!     m = ifold (fun m i -> max m e) z n
//!       →   (m, at) = ifold (fun (m, at) i -> let u = e in (max m u, if m >= u || m <> m then at else i)) (z, -1) n
//!           back: if at < 0 then z else e[i := at], with the cotangent of m
//!
//! Which operand it is where both are equal, or one is NaN, the primitive's law says, with indices in the place of tangents.

use super::adjoint::Adjoint;
use super::operations::Branches;
use crate::ad::block::Block;
use crate::ad::{Result, internal, law};
use crate::ir::free::mentions;
use crate::ir::prim::Derivative;
use crate::ir::subst::instance;
use crate::ir::{Expr, Prim, Term, Type, Var};

/// A step that keeps its state or takes a value.
pub struct Extremum {
    prim: Prim,
    is_state_first: bool,
    value: Expr,
}

impl Extremum {
    /// The step of a fold with the state `acc`; `None` where it does something else.
    pub fn of(step: &Expr, acc: &Var) -> Option<Extremum> {
        match step.term() {
            Term::Prim(prim @ (Prim::Max | Prim::Min), args) if step.ty() == &Type::Double => {
                let [a, b] = args.as_slice() else { return None };
                let is_state = |expr: &Expr| matches!(expr.term(), Term::Var(var) if var == acc);
                let is_state_first = is_state(a);
                let value = if is_state_first { b } else { a };
                let fits = (is_state_first || is_state(b)) && !mentions(value, acc);
                fits.then(|| Extremum { prim: *prim, is_state_first, value: value.clone() })
            }
            Term::Let(x, value, body) if !mentions(value, acc) => {
                let inner = Extremum::of(body, acc)?;
                Some(Extremum { value: Expr::let_(x.clone(), value.clone(), inner.value), ..inner })
            }
            _ => None,
        }
    }

    /// Binds the fold of `n` steps over `i` from `init`: its value, and the branch that this is.
    pub fn search(&self, (n, i): (&Expr, &Var), acc: &Var, init: &Expr, wires: Adjoint, out: &mut Block) -> Result<(Expr, Branches)> {
        let Derivative::Binary { both, .. } = self.prim.row().derivative else {
            return Err(internal(init.span(), "a maximum whose law has one operand"));
        };
        let law = law::parse(both)?;
        let state = acc.renewed(Type::tuple(vec![Type::Double, Type::Index(None)]));
        let part = |k| Expr::proj(Expr::var(&state), k);
        let u = Var::fresh("u", Type::Double);
        let (mut operands, mut steps) = ([part(0), Expr::var(&u)], [part(1), Expr::var(i)]);
        if !self.is_state_first {
            operands.reverse();
            steps.reverse();
        }
        let ([x, y], [dx, dy]) = (operands, steps);
        let at = law.apply(&[("x", x.clone()), ("y", y.clone()), ("dx", dx), ("dy", dy)])?;
        let step = Expr::let_(u, self.value.clone(), Expr::tuple(vec![Expr::prim(self.prim, vec![x, y]), at]));
        let none = Expr::tuple(vec![init.clone(), Expr::index(-1)]);
        let found = out.bind(acc.name(), Expr::fold_with(n.clone(), state.clone(), i.clone(), step, none));
        let at = Expr::proj(found.clone(), 1);
        let cond = Expr::prim(Prim::Lt, vec![at.clone(), Expr::index(0)]);
        let otherwise = instance(&self.value, &[(i.clone(), at)]);
        Ok((Expr::proj(found, 0), Branches { cond, then: init.clone(), otherwise, out: wires, changed: Vec::new() }))
    }
}
