//! What size a term has, and the term of a size.
//!
//! In: an Index term. Out: the [`Size`] that it is, a polynomial whose atoms are its variables and the parts that are no polynomial, or one
//! of which nothing is known; and the other way round. What of a size depends on terms is here, its arithmetic beside the data
//! (`term/polynomial.rs`), the normal form of its terms in `size_term`.
//!
//!     n + max n m + n   ↔   2 * n + (max n m)

use std::rc::Rc;

use super::prim::Prim;
use super::print::{key, size_text};
use super::size_term::{NODES, component, height, is_part, normal, normal_fold};
use super::subst::freshen;
use super::term::{Atom, Expr, Size, SizeTerm, Term, Type, Var};

impl Size {
    /// Every atom, also those inside opaque terms' variables.
    pub fn each_var(&self, f: &mut dyn FnMut(&Var)) {
        for atom in self.atoms() {
            match atom {
                Atom::Var(var) => f(var),
                Atom::Term(term) => each_free_var(&term.expr, f),
                Atom::Unknown(_) => {}
            }
        }
    }

    pub fn mentions(&self, var: &Var) -> bool {
        let mut found = false;
        self.each_var(&mut |other| found |= other == var);
        found
    }

    /// Whether some part is computed by a loop.
    pub fn has_fold(&self) -> bool {
        self.atoms().any(|atom| matches!(atom, Atom::Term(term) if height(&term.expr) > 0))
    }

    /// Replaces atoms: `f` gives the new size of one, or `None` to keep it. Opaque terms are rebuilt from
    /// their variables.
    pub fn substitute(&self, f: &mut dyn FnMut(&Atom) -> Option<Size>) -> Size {
        let mut result = Size::default();
        for (monomial, coefficient) in self.terms() {
            let mut product = Size::constant(coefficient);
            for atom in monomial.iter() {
                let value = match (f(atom), atom) {
                    (Some(size), _) => size,
                    (None, Atom::Term(term)) => substitute_term(&term.expr, f),
                    (None, Atom::Var(_) | Atom::Unknown(_)) => Size::atom(atom.clone()),
                };
                product = product.mul(&value);
            }
            result = result.add(&product);
        }
        result
    }

    /// Replaces one variable.
    pub fn replace(&self, var: &Var, value: &Size) -> Size {
        if !self.mentions(var) {
            return self.clone();
        }
        self.substitute(&mut |atom| match atom {
            Atom::Var(other) if other == var => Some(value.clone()),
            Atom::Var(_) | Atom::Term(_) | Atom::Unknown(_) => None,
        })
    }

    /// The size of an Index term: a polynomial where it is one, an opaque atom where the term is total and
    /// made of variables and Index operations only, and otherwise unknown.
    pub fn of_expr(expr: &Expr) -> Size {
        Size::try_of_expr(expr).unwrap_or_else(Size::unknown)
    }

    /// As [`Size::of_expr`], `None` where the value depends on data, may fail or is too large.
    pub fn try_of_expr(expr: &Expr) -> Option<Size> {
        if !matches!(expr.ty(), Type::Index(_) | Type::Bool) {
            return None;
        }
        match expr.term() {
            Term::Var(var) => Some(Size::var(var)),
            Term::Index(value) => Some(Size::constant(*value)),
            Term::Bool(_) => Size::opaque(expr.clone()),
            _ => expr.size(|| Size::of_term(expr)),
        }
    }

    /// As [`Size::try_of_expr`], worked out.
    fn of_term(expr: &Expr) -> Option<Size> {
        match expr.term() {
            Term::Dim(array, axis) => array.ty().dims().get(*axis).cloned(),
            Term::Prim(prim, args) => match (prim, args.as_slice()) {
                (Prim::Add, [a, b]) => Some(Size::try_of_expr(a)?.add(&Size::try_of_expr(b)?)),
                (Prim::Sub, [a, b]) => Some(Size::try_of_expr(a)?.sub(&Size::try_of_expr(b)?)),
                (Prim::Mul, [a, b]) => Some(Size::try_of_expr(a)?.mul(&Size::try_of_expr(b)?)),
                (Prim::Neg, [a]) => Some(Size::try_of_expr(a)?.neg()),
                _ => opaque_of_expr(expr),
            },
            Term::If(..) => match normal(expr)? {
                normal if matches!(normal.term(), Term::If(..)) => Size::opaque(normal),
                branch => Size::try_of_expr(&branch),
            },
            Term::Fold { .. } => Size::opaque(normal_fold(expr, 0)?),
            Term::Proj(tuple, k) => match component(tuple, *k)? {
                part if is_part(&part) => opaque_of_expr(&part),
                part => Size::try_of_expr(&part),
            },
            Term::Let(var, value, body) => {
                let body = Size::try_of_expr(body)?;
                if !body.mentions(var) {
                    return Some(body);
                }
                Some(body.replace(var, &Size::try_of_expr(value)?))
            }
            _ => None,
        }
    }

    /// `max n 0`, which is a length where n is negative, too: [`Self::is_as_long`] says that an array of n elements has it.
    pub fn or_zero(&self) -> Size {
        let larger = |n| Size::of_expr(&Expr::prim(Prim::Max, vec![n, Expr::index(0)]));
        match self.as_constant() {
            Some(value) => Size::constant(value.max(0)),
            None => self.to_expr().map_or_else(Size::unknown, larger),
        }
    }

    /// Whether an array of this length is of the other: the same, or `max n 0` for n. Not the other way round: an array of no elements
    /// has the length `max n 0` where n is -1.
    pub fn is_as_long(&self, other: &Size) -> bool {
        let Some(Atom::Term(term)) = other.as_atom().filter(|_| self != other) else { return self == other };
        let Term::Prim(Prim::Max, args) = term.expr.term() else { return false };
        matches!(args.as_slice(), [n, zero] if matches!(zero.term(), Term::Index(0)) && Size::try_of_expr(n).as_ref() == Some(self))
    }

    /// The length of an array that a condition on sizes chooses from two of these lengths: `if k > 0 then n else m`. If the condition is
    /// `n = 3` and the lengths are 3 and n, it is n.
    pub fn chosen(cond: &Expr, n: &Size, m: &Size) -> Option<Size> {
        let known = |x: &Expr, k: &Expr| match (x.term(), Size::try_of_expr(k)) {
            (Term::Var(x), Some(k)) => m.mentions(x) && m.replace(x, &k) == *n,
            _ => false,
        };
        let equal = |sides: &[Expr]| matches!(sides, [a, b] if known(a, b) || known(b, a));
        let is_equal = || matches!(cond.term(), Term::Prim(Prim::Eq, sides) if equal(sides));
        match n.is_as_long(m) || is_equal() {
            true => Some(m.clone()),
            false if m.is_as_long(n) => Some(n.clone()),
            false => Size::try_of_expr(&Expr::if_(cond.clone(), n.to_expr()?, m.to_expr()?)),
        }
    }

    /// A term as one atom; `None` for one that is too large to be compared as text.
    pub fn opaque(expr: Expr) -> Option<Size> {
        if expr.node_count() > NODES {
            return None;
        }
        let key = key(&expr);
        Some(Size::atom(Atom::Term(Rc::new(SizeTerm::new(key, expr)))))
    }

    /// The Index term that computes the size; `None` when a part is unknown.
    pub fn to_expr(&self) -> Option<Expr> {
        let expr = self.to_own_expr()?;
        Some(if height(&expr) > 0 { freshen(&expr) } else { expr })
    }

    /// As [`Size::to_expr`], where folds bind the variables of sizes.
    pub fn to_own_expr(&self) -> Option<Expr> {
        let mut sum: Option<Expr> = None;
        // positive terms first, so that `n - 1` does not become `-1 + n`
        let (plus, minus): (Vec<_>, Vec<_>) = self.terms().rev().partition(|(_, c)| *c > 0 || *c == i64::MIN);
        for (monomial, coefficient) in plus.into_iter().chain(minus) {
            let negative = coefficient < 0 && coefficient != i64::MIN && sum.is_some();
            let factor = if negative { -coefficient } else { coefficient };
            let mut product = (factor != 1 || monomial.is_empty()).then(|| Expr::index(factor));
            for atom in monomial.iter() {
                let atom = match atom {
                    Atom::Var(var) => Expr::var(var),
                    Atom::Term(term) => term.expr.clone(),
                    Atom::Unknown(_) => return None,
                };
                product = Some(match product {
                    None => atom,
                    Some(product) => Expr::prim(Prim::Mul, vec![product, atom]),
                });
            }
            let product = product?;
            sum = Some(match sum {
                None => product,
                Some(sum) => Expr::prim(if negative { Prim::Sub } else { Prim::Add }, vec![sum, product]),
            });
        }
        Some(sum.unwrap_or_else(|| Expr::index(0)))
    }
}

fn each_free_var(expr: &Expr, f: &mut dyn FnMut(&Var)) {
    match expr.term() {
        Term::Var(var) if var.is_of_size() => {}
        Term::Var(var) => f(var),
        _ => expr.term().each_child(&mut |child| each_free_var(child, f)),
    }
}

/// An opaque size from a term of total Index and Bool operations over variables.
fn opaque_of_expr(expr: &Expr) -> Option<Size> {
    Size::opaque(normal(expr)?)
}

fn substitute_term(expr: &Expr, f: &mut dyn FnMut(&Atom) -> Option<Size>) -> Size {
    fn go(expr: &Expr, f: &mut dyn FnMut(&Atom) -> Option<Size>) -> Option<Expr> {
        match expr.term() {
            Term::Var(var) if var.is_of_size() => Some(expr.clone()),
            Term::Var(var) => match f(&Atom::Var(var.clone())) {
                Some(size) => size.to_expr(),
                None => Some(expr.clone()),
            },
            Term::Prim(prim, args) => Some(Expr::prim(*prim, args.iter().map(|arg| go(arg, f)).collect::<Option<_>>()?)),
            Term::If(c, a, b) => Some(Expr::if_(go(c, f)?, go(a, f)?, go(b, f)?)),
            Term::Fold { n, acc, i, body, init } => Some(Expr::fold_with(go(n, f)?, acc.clone(), i.clone(), go(body, f)?, go(init, f)?)),
            Term::Proj(tuple, k) => Some(Expr::proj(go(tuple, f)?, *k)),
            Term::Tuple(parts) => Some(Expr::tuple(parts.iter().map(|part| go(part, f)).collect::<Option<_>>()?)),
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Let(..)
            | Term::Build { .. }
            | Term::While { .. }
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. }
            | Term::Dual { .. }
            | Term::Vjp { .. } => Some(expr.clone()),
        }
    }
    go(expr, f).map_or_else(Size::unknown, |expr| Size::of_expr(&expr))
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.to_expr() {
            Some(expr) => write!(f, "{}", size_text(&expr)),
            None => write!(f, "?"),
        }
    }
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
