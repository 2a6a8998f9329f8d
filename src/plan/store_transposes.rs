//! Products with a matrix that a loop repeats: by columns of a transpose that is stored once.
//!
//! In: a function's body. Out: the same, where a loop whose state has arrays multiplies vectors by a matrix from outside, row by row:
//! the matrix is transposed before the loop, once for all loops that come after it, so that each product is a sum of rows, in lanes and
//! without a sum across them.
//!
//!     ifold (fun x t -> build m (fun i -> ifold (fun s j -> s + W[i][j] * x[j]) 0.0 k)) z n
//!     →   let W_columns = build k (fun j -> build m (fun i -> W[i][j])) in
//!         ifold (fun x t -> build m (fun i -> ifold (fun s j -> s + W_columns[j][i] * x[j]) 0.0 k)) z n
//!
//! The terms and their order stay. Few rows, few columns, branches, and sums that read something else by their row stay as they are.

use std::collections::HashSet;

use crate::ir::free::{any_free_var, mentions};
use crate::ir::last_use::component;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Function, Size, Term, Type, Var};

use super::Options;
use super::columns::ColumnFold;

/// A literal number of rows or columns up to this is not worth a transpose.
const FEW: i64 = 4;

/// The body with such products by columns.
pub fn run(function: &Function, _: &Options) -> Expr {
    let mut known = Known::default();
    let body = run_inside(&function.body, &mut known);
    if known.any { body } else { function.body.clone() }
}

/// What is stored before a term, and whether anything is.
#[derive(Default)]
struct Known {
    transposes: Vec<Transpose>,
    any: bool,
}

/// A matrix and its transpose.
#[derive(Clone)]
struct Transpose {
    /// A variable, or a component of one.
    matrix: Expr,
    columns: Var,
}

fn before(transposes: Vec<Transpose>, body: Expr) -> Expr {
    transposes.into_iter().rev().fold(body, |body, Transpose { matrix, columns }| {
        let dims = matrix.ty().dims();
        let length = |axis: usize| dims.get(axis).and_then(Size::to_expr).unwrap_or_else(|| Expr::dim(matrix.clone(), axis));
        let rows = Expr::build(length(1), "j", |j| Expr::build(length(0), "i", |i| Expr::get(Expr::get(matrix.clone(), i), j)));
        Expr::let_(columns, rows, body)
    })
}

/// A term, and the transposes that it reads and that are to come before it.
fn transposed(expr: &Expr, known: &mut Known) -> (Vec<Transpose>, Expr) {
    match expr.term() {
        Term::Fold { n, acc, i, body, init } if expr.ty().has_array() => {
            let mut search = Search { inside: HashSet::from([acc.clone(), i.clone()]), known: &known.transposes, found: Vec::new() };
            let by_columns = search.by_columns(body);
            let found = search.found;
            if by_columns.is_same(body) {
                return (Vec::new(), map_children(expr, &mut |child| run_inside(child, known)));
            }
            known.any = true;
            let fold = Term::Fold { n: n.clone(), acc: acc.clone(), i: i.clone(), body: by_columns, init: init.clone() };
            let fold = Expr::with_type(fold, expr.ty().clone(), expr.span());
            let fold = after(&found, known, |known| map_children(&fold, &mut |child| run_inside(child, known)));
            (found, fold)
        }
        Term::Let(var, value, body) => {
            let (found, value) = transposed(value, known);
            let body = after(&found, known, |known| run_inside(body, known));
            (found, Expr::with_type(Term::Let(var.clone(), value, body), expr.ty().clone(), expr.span()))
        }
        Term::Proj(tuple, k) => {
            let (found, tuple) = transposed(tuple, known);
            (found, Expr::with_type(Term::Proj(tuple, *k), expr.ty().clone(), expr.span()))
        }
        _ => (Vec::new(), map_children(expr, &mut |child| run_inside(child, known))),
    }
}

fn run_inside(expr: &Expr, known: &mut Known) -> Expr {
    let (found, expr) = transposed(expr, known);
    before(found, expr)
}

/// What `f` makes of terms that come after these transposes.
fn after(found: &[Transpose], known: &mut Known, f: impl FnOnce(&mut Known) -> Expr) -> Expr {
    let before = known.transposes.len();
    known.transposes.extend_from_slice(found);
    let result = f(known);
    known.transposes.truncate(before);
    result
}

/// The search through a step of a loop.
struct Search<'a> {
    /// What is bound in the loop so far.
    inside: HashSet<Var>,
    /// What is stored before the loop already,
    known: &'a [Transpose],
    /// and what is to be.
    found: Vec<Transpose>,
}

impl Search<'_> {
    fn by_columns(&mut self, expr: &Expr) -> Expr {
        self.inside.extend(expr.term().binders().cloned());
        match expr.term() {
            Term::If(..) | Term::Check { .. } | Term::While { .. } | Term::Prim(..) => expr.clone(),
            Term::Build { n, i, body } => {
                let before = self.found.len();
                let ours = self.element(body, n, i);
                if !ours.is_same(body) && ColumnFold::find(n, i, &ours).is_some() {
                    return Expr::with_type(Term::Build { n: n.clone(), i: i.clone(), body: ours }, expr.ty().clone(), expr.span());
                }
                self.found.truncate(before);
                map_children(expr, &mut |child| self.by_columns(child))
            }
            _ => map_children(expr, &mut |child| self.by_columns(child)),
        }
    }

    /// An element of a `build` over rows i, whose sums read columns.
    fn element(&mut self, expr: &Expr, n: &Expr, i: &Var) -> Expr {
        match expr.term() {
            Term::If(..) | Term::Check { .. } | Term::Build { .. } | Term::While { .. } => expr.clone(),
            Term::Fold { n: count, acc, i: j, body, init } if expr.ty() == &Type::Double && mentions(body, i) => {
                let step = self.term(body, (n, i), (count, j));
                if mentions(&without_elements(&step, j, i), i) {
                    return expr.clone();
                }
                let fold = Term::Fold { n: count.clone(), acc: acc.clone(), i: j.clone(), body: step, init: init.clone() };
                Expr::with_type(fold, expr.ty().clone(), expr.span())
            }
            _ => map_children(expr, &mut |child| self.element(child, n, i)),
        }
    }

    /// What a sum adds, with `columns[j][i]` for `matrix[i][j]`.
    fn term(&mut self, expr: &Expr, (n, i): (&Expr, &Var), (count, j): (&Expr, &Var)) -> Expr {
        if let Term::Get(row, at) = expr.term()
            && let Term::Get(matrix, row) = row.term()
            && is(row, i)
            && is(at, j)
            && let Some(columns) = self.columns(matrix, n, count)
        {
            return Expr::get(Expr::get(columns, Expr::var(j)), Expr::var(i)).at(expr.span());
        }
        map_children(expr, &mut |child| self.term(child, (n, i), (count, j)))
    }

    /// The transpose of a matrix from outside that has so many rows and columns.
    fn columns(&mut self, matrix: &Expr, rows: &Expr, columns: &Expr) -> Option<Expr> {
        let is_outside = component(matrix).is_some() && !any_free_var(matrix, &mut |var| self.inside.contains(var));
        let [m, k] = [rows, columns].map(Size::try_of_expr);
        let (m, k) = (m?, k?);
        let is_long = |size: &Size| size.as_constant().is_none_or(|size| size > FEW) && !size.has_unknown();
        if !is_outside || matrix.ty().dims() != [m.clone(), k.clone()] || !is_long(&m) || !is_long(&k) {
            return None;
        }
        if let Some(known) = self.known.iter().chain(&self.found).find(|known| component(&known.matrix) == component(matrix)) {
            return Some(Expr::var(&known.columns));
        }
        let name = component(matrix).map_or("matrix", |(var, _)| var.name());
        let columns = Var::fresh(&format!("{name}_columns"), Type::array(Type::array(Type::Double, m), k));
        self.found.push(Transpose { matrix: matrix.clone(), columns: columns.clone() });
        Some(Expr::var(&columns))
    }
}

/// The term without what it reads of columns.
fn without_elements(expr: &Expr, j: &Var, i: &Var) -> Expr {
    match expr.term() {
        Term::Get(column, at) if is(at, i) && matches!(column.term(), Term::Get(_, at) if is(at, j)) => Expr::double(0.0),
        _ => map_children(expr, &mut |child| without_elements(child, j, i)),
    }
}

fn is(expr: &Expr, var: &Var) -> bool {
    matches!(expr.term(), Term::Var(own) if own == var)
}
