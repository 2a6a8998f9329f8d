//! Row-invariant sums of a term that is added to several rows are hoisted out of the loop over the rows.
//!
//! In: an addition with rows that are left, as the columns in the derivative of `dot A[k[i]] w`. Out: the sums in its value that do
//! not ask for those rows, which are added up once before the loop over them, and the addition with names for them.
//!
//!     for c < q: out[k[i]][c] += 2 * (sum_j A[k[i]][j] * w[j]) * w[c]   →   s = sum_j …; for c < q: out[k[i]][c] += 2 * s * w[c]

use crate::ir::free::mentions;
use crate::ir::{Expr, Term, Type, Var};

use super::steps::{Addition, Step};

/// The hoisted sums, and the remaining additions.
pub fn sums(addition: &Addition) -> (Vec<(Var, Expr)>, Addition) {
    let mut rest = addition.clone();
    let mut found = Vec::new();
    // a condition on the row may exclude the term for some rows
    if !addition.rows.is_empty() && addition.conds.is_empty() {
        let rows = addition.rows.iter().map(|row| &row.var);
        let own: Vec<&Var> = rows.chain(addition.lets.iter().map(|(var, _)| var)).collect();
        for (_, value) in &mut rest.lets {
            *value = named(value, &own, &mut found);
        }
        rest.value = named(&rest.value, &own, &mut found);
    }
    (found, rest)
}

/// Whether some addition has such sums.
pub fn is_in(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Add(addition) => !sums(addition).0.is_empty(),
        Step::If(_, a, b) => is_in(a) || is_in(b),
        Step::Loop(_, _, steps) | Step::At(_, _, steps) => is_in(steps),
        Step::Let(..) | Step::Check(..) | Step::Known(_) => false,
    })
}

/// The term with names for the sums that its operations are applied to.
fn named(expr: &Expr, own: &[&Var], found: &mut Vec<(Var, Expr)>) -> Expr {
    match expr.term() {
        Term::Fold { .. } if expr.ty() == &Type::Double && !own.iter().any(|var| mentions(expr, var)) => {
            if let Some((var, _)) = found.iter().find(|(_, known)| known.is_same(expr)) {
                return Expr::var(var);
            }
            let var = Var::fresh("sum", Type::Double);
            found.push((var.clone(), expr.clone()));
            Expr::var(&var)
        }
        Term::Prim(prim, args) => Expr::prim(*prim, args.iter().map(|arg| named(arg, own, found)).collect()),
        _ => expr.clone(),
    }
}
