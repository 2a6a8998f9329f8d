//! Which components of a fold's state each component of its step needs at least.
//!
//! In: a fold's accumulator and the body of its step. Out: for each component of the step a set of components of the
//! accumulator that its value is made of, in one walk over the body.
//!
//!     (s.0 + s.1 * x, 2 * s.1)   →   {0, 1}, {1}
//!
//! The sets are lower bounds: what is built of the whole accumulator may need more, and a fold in the body is looked at once.
//! They say cheaply that components cannot be separated; that they can is to be found out from the terms.

use rustc_hash::FxHashMap;

use crate::ir::{Expr, Term, Type, Var};

/// A set of components, by number; those after the last bit are left out.
pub type Components = u128;

/// What a value is made of, as one or by its own components.
#[derive(Clone)]
enum Needs {
    One(Components),
    Parts(Vec<Needs>),
}

/// See the module's head.
pub fn of_step(body: &Expr, acc: &Var) -> Vec<Components> {
    let Type::Tuple(types) = acc.ty() else { return Vec::new() };
    let mut walk = Walk { acc, known: FxHashMap::default() };
    match walk.expr(body) {
        Needs::Parts(parts) => parts.iter().map(Needs::all).collect(),
        Needs::One(all) => vec![all; types.len()],
    }
}

/// The set with what its members need, through all steps.
pub fn closure(needs: &[Components], wanted: Components) -> Components {
    let mut closed = wanted;
    loop {
        let more = needs.iter().enumerate().filter(|(j, _)| closed & bit(*j) != 0).fold(closed, |all, (_, needs)| all | needs);
        if more == closed {
            return closed;
        }
        closed = more;
    }
}

pub fn bit(j: usize) -> Components {
    u32::try_from(j).ok().and_then(|j| Components::checked_shl(1, j)).unwrap_or(0)
}

struct Walk<'a> {
    acc: &'a Var,
    known: FxHashMap<Var, Needs>,
}

impl Walk<'_> {
    fn expr(&mut self, expr: &Expr) -> Needs {
        match expr.term() {
            Term::Var(var) if var == self.acc => match var.ty() {
                Type::Tuple(types) => Needs::Parts((0..types.len()).map(|j| Needs::One(bit(j))).collect()),
                Type::Double | Type::Index(_) | Type::Bool | Type::Array(..) | Type::Rec(_) => Needs::One(0),
            },
            Term::Var(var) => self.known.get(var).cloned().unwrap_or(Needs::One(0)),
            Term::Proj(tuple, k) if matches!(tuple.term(), Term::Var(var) if var == self.acc) => Needs::One(bit(*k)),
            Term::Proj(tuple, k) => self.expr(tuple).part(*k),
            Term::Let(x, value, body) => {
                let value = self.expr(value);
                self.known.insert(x.clone(), value);
                self.expr(body)
            }
            Term::If(cond, a, b) => {
                let cond = self.expr(cond).all();
                self.expr(a).or(self.expr(b)).with(cond)
            }
            Term::Check { cond, body, .. } => {
                let cond = self.expr(cond).all();
                self.expr(body).with(cond)
            }
            Term::Tuple(parts) => Needs::Parts(parts.iter().map(|part| self.expr(part)).collect()),
            Term::Fold { n, acc, body, init, .. } => {
                let count = self.expr(n).all();
                let init = self.expr(init);
                self.known.insert(acc.clone(), init.clone());
                self.expr(body).or(init).with(count)
            }
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Build { .. }
            | Term::While { .. }
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Iso(..)
            | Term::Update(..)
            | Term::Vjp { .. }
            | Term::Dual { .. } => Needs::One(expr.term().children().fold(0, |all, child| all | self.expr(child).all())),
        }
    }
}

impl Needs {
    fn all(&self) -> Components {
        match self {
            Needs::One(all) => *all,
            Needs::Parts(parts) => parts.iter().fold(0, |all, part| all | part.all()),
        }
    }

    fn part(self, k: usize) -> Needs {
        match self {
            Needs::One(all) => Needs::One(all),
            Needs::Parts(parts) => parts.into_iter().nth(k).unwrap_or(Needs::One(0)),
        }
    }

    /// With more for every component.
    fn with(self, more: Components) -> Needs {
        match self {
            Needs::One(all) => Needs::One(all | more),
            Needs::Parts(parts) => Needs::Parts(parts.into_iter().map(|part| part.with(more)).collect()),
        }
    }

    /// What either of two is made of.
    fn or(self, other: Needs) -> Needs {
        match (self, other) {
            (Needs::Parts(a), Needs::Parts(b)) => Needs::Parts(a.into_iter().zip(b).map(|(a, b)| a.or(b)).collect()),
            (Needs::One(more), other) | (other, Needs::One(more)) => other.with(more),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Prim;

    fn expr_of(build: impl FnOnce(&Expr) -> Expr) -> Vec<Components> {
        let acc = Var::fresh("s", Type::Tuple([Type::Double, Type::Double, Type::Double].into()));
        of_step(&build(&Expr::var(&acc)), &acc)
    }

    #[test]
    fn components_through_lets_and_branches() {
        let s = |acc: &Expr, k| Expr::proj(acc.clone(), k);
        let needs = expr_of(|acc| {
            Expr::bind("p", Expr::tuple(vec![s(acc, 1), s(acc, 2)]), |p| {
                Expr::tuple(vec![Expr::prim(Prim::Add, vec![s(acc, 0), s(&p, 0)]), Expr::double(1.0), s(&p, 1)])
            })
        });
        assert_eq!(needs, [0b011, 0, 0b100]);
        assert_eq!(closure(&needs, 0b001), 0b011);
        assert_eq!(closure(&needs, 0b100), 0b100);
    }
}
