//! Fission of loops with several state components: components that depend on the row can then be scattered, and the others are
//! computed once for all rows.
//!
//!     fold(n, s, j. (s.0 + a(j), if r = k[j] then s.1 + b(j) else s.1), (0.0, 0.0))
//!       →   fold(n, s, j. s + a(j), 0.0) and fold(n, s, j. if r = k[j] then s + b(j) else s, 0.0)
//!
//! Only where the steps of a component use no other.

use crate::ir::free::mentions;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Term, Var};

/// A component of a fold's state as a fold, where its steps use no other.
pub fn component(fold: &Expr, k: usize) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = fold.term() else { return None };
    let Term::Tuple(firsts) = init.term() else { return None };
    let first = firsts.get(k)?;
    let total = acc.renewed(first.ty().clone());
    let body = tail(body, acc, k, &total)?;
    (!mentions(&body, acc)).then(|| Expr::fold_with(n.clone(), total, i.clone(), body, first.clone()))
}

fn tail(body: &Expr, acc: &Var, k: usize, total: &Var) -> Option<Expr> {
    match body.term() {
        Term::Var(var) if var == acc => Some(Expr::var(total)),
        Term::Let(x, value, rest) => Some(Expr::let_(x.clone(), value.clone(), tail(rest, acc, k, total)?)),
        Term::Check { cond, status, body } => Some(Expr::check(cond.clone(), *status, tail(body, acc, k, total)?)),
        Term::If(cond, a, b) => Some(Expr::if_(cond.clone(), tail(a, acc, k, total)?, tail(b, acc, k, total)?)),
        Term::Tuple(parts) => Some(with_component(parts.get(k)?, acc, k, total)),
        _ => None,
    }
}

/// The term with a variable of its own in the place of a tuple's component.
fn with_component(expr: &Expr, tuple: &Var, k: usize, name: &Var) -> Expr {
    match expr.term() {
        Term::Proj(inner, at) if *at == k && matches!(inner.term(), Term::Var(var) if var == tuple) => Expr::var(name),
        _ if !mentions(expr, tuple) => expr.clone(),
        _ => map_children(expr, &mut |child| with_component(child, tuple, k, name)),
    }
}

/// The term with names in the place of a tuple's components; `None` where the tuple is used as a whole.
pub fn with_components(expr: &Expr, tuple: &Var, names: &[Var]) -> Option<Expr> {
    let named = names.iter().enumerate().fold(expr.clone(), |expr, (k, name)| with_component(&expr, tuple, k, name));
    (!mentions(&named, tuple)).then_some(named)
}

/// The conditions that each step of a loop checks first.
pub fn collect_checks(body: &Expr, found: &mut Vec<Expr>) {
    match body.term() {
        Term::Let(_, _, rest) => collect_checks(rest, found),
        Term::Check { cond, body, .. } => {
            found.push(cond.clone());
            collect_checks(body, found);
        }
        _ => {}
    }
}
