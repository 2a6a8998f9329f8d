//! Jacobians: a row for each Double of the result, forward by columns or in reverse row by row.
//!
//! In: the parts of `vjp(x = at, w = ()). body`. Out: a term of the type of the body, with the point's type in the place of
//! each Double.
//!
//!     vjp(x = v, w = ()). f x
//!     forward: let columns = build n (fun i -> (dual(x = v, dx = e_i). f x).1) in build m (fun k -> build n (fun i -> columns[i][k]))
//!     reverse: build m (fun k -> (vjp(x = v, w = e_k). f x).1)
//!
//! Lengths are taken from the value of the body, which is dead code where the type gives them.

use crate::ir::Expr;
use crate::ir::doubles::{each_double, read, tangents, unit};
use crate::ir::subst::freshen;
use crate::ir::term::Vjp;

use super::{Way, forward};

/// The pair of value and Jacobian.
pub fn rows(vjp: &Vjp, way: Way) -> Expr {
    Expr::bind("y", forward::value(vjp), |y| {
        let jacobian = match way {
            Way::Forward => by_columns(vjp, &y),
            Way::Reverse => row_by_row(vjp, &y),
        };
        Expr::tuple(vec![y, jacobian])
    })
}

/// The Jacobian alone.
pub fn jacobian(vjp: &Vjp, way: Way) -> Expr {
    Expr::proj(rows(vjp, way), 1)
}

fn by_columns(vjp: &Vjp, y: &Expr) -> Expr {
    let columns = each_double(vjp.at, &mut |path| tangents(forward::dual(vjp, path), y.ty()));
    Expr::bind("columns", columns, |columns| {
        each_double(y, &mut |row| each_double(vjp.at, &mut |column| read(&read(&columns, column), row)))
    })
}

fn row_by_row(vjp: &Vjp, y: &Expr) -> Expr {
    each_double(y, &mut |row| {
        let one = Expr::vjp(vjp.x.clone(), vjp.at.clone(), unit(y, row), vjp.body.clone());
        Expr::proj(freshen(&one), 1)
    })
}
