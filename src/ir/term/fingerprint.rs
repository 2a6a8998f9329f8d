//! Hashes of terms: equal terms have equal hashes, so that terms with different ones need no comparison.
//!
//! In: a term whose subterms have theirs. Out: its *shape*, in which no variable counts, worked out with each node;
//! and its *fingerprint*, in which the free variables count.
//!
//!     x * y   and   u * v              one shape, two fingerprints
//!     fun i -> v[i]   and   fun j -> v[j]   one shape, one fingerprint
//!
//! A term that binds variables has its shape and the set of its free variables in its fingerprint, so that the names of
//! what it binds do not count. Limits: different terms may have equal fingerprints; callers that need certainty compare the terms.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::{Expr, FreeVars, Term, Var};

/// What two terms that are the same have in common before their children; a variable adds nothing.
pub fn head(term: &Term) -> u64 {
    let (kind, detail) = match term {
        Term::Var(_) => (1, 0),
        Term::Double(value) => (2, value.to_bits()),
        Term::Index(value) => (3, *value as u64),
        Term::Bool(value) => (4, u64::from(*value)),
        Term::Prim(prim, _) => (5, *prim as u64),
        Term::Let(..) => (6, 0),
        Term::If(..) => (7, 0),
        Term::Build { .. } => (8, 0),
        Term::Fold { .. } => (9, 0),
        Term::Get(..) => (10, 0),
        Term::Dim(_, k) => (11, *k as u64),
        Term::Tuple(_) => (12, 0),
        Term::Proj(_, k) => (13, *k as u64),
        Term::Array(_) => (14, 0),
        Term::Call(name, _) => {
            let mut hasher = FxHasher::default();
            name.hash(&mut hasher);
            (15, hasher.finish())
        }
        Term::Check { status, .. } => (16, *status as u64),
        Term::Dual { .. } => (17, 0),
        Term::Update(change, _) => (18, *change as u64),
        Term::Vjp { .. } => (19, 0),
        Term::While { .. } => (20, 0),
        Term::Iso(iso, _) => (21, *iso as u64),
    };
    mix(kind, detail)
}

/// One number from two, in which their order counts.
pub fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd1b5_4a32_d192_ed03);
    (product as u64) ^ (product >> 64) as u64 ^ a.rotate_left(29)
}

/// The fingerprint of a term.
pub fn of(expr: &Expr) -> u64 {
    if let Term::Var(var) = expr.term() {
        return mix(expr.shape(), u64::from(var.id()) + 1);
    }
    if expr.term().binders().next().is_none() {
        return expr.term().children().fold(head(expr.term()), |hash, child| mix(hash, child.fingerprint()));
    }
    // a sum does not depend on the order, which the numbers of the variables give
    mix(expr.shape(), sum_of_free_vars(expr))
}

/// The sum of what [`variable`] gives for each free variable of a term.
fn sum_of_free_vars(expr: &Expr) -> u64 {
    match expr.free_vars() {
        FreeVars::Few(vars) => vars.iter().map(variable).fold(0, u64::wrapping_add),
        FreeVars::Many(vars) => vars.sum(),
    }
}

/// What a free variable adds to a fingerprint.
pub fn variable(var: &Var) -> u64 {
    mix(0, u64::from(var.id()) + 1)
}

#[cfg(test)]
mod tests {
    use crate::ir::{Expr, Prim, Size, Type, Var};

    fn vector(name: &str) -> Expr {
        Expr::var(&Var::fresh(name, Type::array(Type::Double, Size::constant(3))))
    }

    fn elements(v: &Expr) -> Expr {
        Expr::build(Expr::index(3), "i", |i| Expr::get(v.clone(), i))
    }

    #[test]
    fn names_of_what_is_bound_do_not_count() {
        let v = vector("v");
        assert_eq!(elements(&v).fingerprint(), elements(&v).fingerprint());
    }

    #[test]
    fn free_variables_count_in_the_fingerprint_alone() {
        let (v, w) = (vector("v"), vector("w"));
        assert_eq!(elements(&v).shape(), elements(&w).shape());
        assert_ne!(elements(&v).fingerprint(), elements(&w).fingerprint());
    }

    #[test]
    fn order_and_literals_count() {
        let x = Expr::var(&Var::fresh("x", Type::Double));
        let minus = |a: f64, b: f64| Expr::prim(Prim::Sub, vec![Expr::double(a), Expr::prim(Prim::Mul, vec![x.clone(), Expr::double(b)])]);
        assert_ne!(minus(1.0, 2.0).shape(), minus(2.0, 1.0).shape());
        assert_ne!(minus(0.0, 1.0).shape(), minus(-0.0, 1.0).shape());
    }
}
