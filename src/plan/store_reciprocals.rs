//! Division once a row instead of once an element: a multiplication is far cheaper than a division.
//!
//! In: a function's body. Out: the same, where quotients in a loop whose divisor depends on an inner loop's index alone are products
//! with reciprocals, which are an array before the outer loop.
//!
//!     build(m, i. fold(n, s, j. s + A[i][j] / v[j], 0))   →   let inverse = build(n, j. 1.0 / v[j]) in
//!                                                             build(m, i. fold(n, s, j. s + A[i][j] * inverse[j], 0))
//!
//! A law of the real numbers: only where [`Options`] allows these, where the divisor cannot fail, and where the inner loop is as long
//! as an array that it reads, so that the room follows from sizes. Few rows, few columns, branches, and column
//! sums, which divide once a row anyhow, stay as they are.

use crate::ir::free::mentions;
use crate::ir::prove::Facts;
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Function, Prim, Size, Term, Type, Var};

use super::Options;
use super::columns::{ColumnFold, each_get};
use super::expand_scalars::needs_arrays;
use super::known::map_known;

/// A literal number of rows or columns up to this is not worth an array.
const FEW: i64 = 4;

/// A divisor of more nodes than this is not followed through its names.
const SHORT: usize = 64;

/// The body with such quotients as products.
pub fn run(function: &Function, options: &Options) -> Expr {
    if !options.algebra || !has_division(&function.body) {
        return function.body.clone();
    }
    inverted(&function.body, &Facts::for_function(function))
}

fn inverted(expr: &Expr, facts: &Facts) -> Expr {
    let (rows, expr) = match expr.term() {
        Term::Build { body, .. } | Term::Fold { body, .. } if !has_division(body) => (Vec::new(), expr.clone()),
        Term::Build { n, i, body } if !expr.has_updates() && !takes_rows(n, i, body, facts) => {
            let (rows, body) = with_reciprocals(n, i, body, facts);
            if rows.is_empty() {
                (Vec::new(), expr.clone())
            } else {
                (rows, Expr::with_type(Term::Build { n: n.clone(), i: i.clone(), body }, expr.ty().clone(), expr.span()))
            }
        }
        Term::Fold { n, acc, i, body, init } if !expr.ty().has_array() && !body.has_updates() => {
            let (rows, body) = with_reciprocals(n, i, body, facts);
            let fold = Term::Fold { n: n.clone(), acc: acc.clone(), i: i.clone(), body, init: init.clone() };
            if rows.is_empty() { (rows, expr.clone()) } else { (rows, Expr::with_type(fold, expr.ty().clone(), expr.span())) }
        }
        _ => (Vec::new(), expr.clone()),
    };
    let inside = map_known(&expr, facts, &mut |child, facts| inverted(child, facts));
    rows.into_iter().rev().fold(inside, |inside, row| {
        let reciprocals = row.array();
        Expr::let_(row.r, reciprocals, inside)
    })
}

/// Whether a `build` is computed row by row of what its elements read, or in several arrays.
fn takes_rows(n: &Expr, column: &Var, element: &Expr, facts: &Facts) -> bool {
    let is_sum = |element: &Expr| ColumnFold::find(n, column, element).is_some();
    let in_components = matches!(element.term(), Term::Tuple(parts) if parts.iter().any(is_sum));
    in_components || is_sum(element) || needs_arrays(n, column, element, facts)
}

/// The context of the search.
struct Search<'a> {
    /// What is known before the outer loop.
    facts: &'a Facts,
    /// What is bound inside the outer loop, its own index first.
    bound: Vec<Var>,
    /// Inner loops whose trip count is invariant in the outer loop.
    loops: Vec<(Var, Expr)>,
    /// Lets whose values are functions of an inner index.
    named: Vec<(Var, Expr)>,
    rows: Vec<Row>,
}

/// `r = build(count, index. 1.0 / divisor)`.
struct Row {
    r: Var,
    count: Expr,
    index: Var,
    divisor: Expr,
}

impl Row {
    /// The array, with an index of its own.
    fn array(&self) -> Expr {
        let index = self.index.renewed(self.index.ty().clone());
        let divisor = substitute(&self.divisor, &[(self.index.clone(), Expr::var(&index))]);
        Expr::build_with(self.count.clone(), index, Expr::prim(Prim::Div, vec![Expr::double(1.0), divisor]))
    }
}

/// The body of a loop over `var`, and the rows of reciprocals that it reads.
fn with_reciprocals(n: &Expr, var: &Var, body: &Expr, facts: &Facts) -> (Vec<Row>, Expr) {
    if is_few(n) {
        return (Vec::new(), body.clone());
    }
    let mut search = Search { facts, bound: vec![var.clone()], loops: Vec::new(), named: Vec::new(), rows: Vec::new() };
    let body = search.inverted(body);
    (search.rows, body)
}

impl Search<'_> {
    /// Remembers a let that is a short function of one inner index: a chain of lets that each use the one
    /// before twice would double with every name.
    fn name(&mut self, var: &Var, value: &Expr) {
        let value = substitute(value, &self.named);
        if value.node_count() <= SHORT && self.index_of(&value).is_some() {
            self.named.push((var.clone(), value));
        }
    }

    /// The inner loop whose index is all that an expression uses of what is bound inside the outer loop.
    fn index_of(&self, expr: &Expr) -> Option<(Var, Expr)> {
        let mut used = self.bound.iter().filter(|var| mentions(expr, var));
        let index = used.next()?;
        if used.next().is_some() { None } else { self.loops.iter().find(|(var, _)| var == index).cloned() }
    }

    fn inverted(&mut self, expr: &Expr) -> Expr {
        match expr.term() {
            Term::If(..) | Term::Check { .. } | Term::Dual { .. } | Term::Prim(Prim::And | Prim::Or, _) => expr.clone(),
            Term::Build { n, i, body } if ColumnFold::find(n, i, body).is_some() => expr.clone(),
            Term::Build { n, i, .. } | Term::Fold { n, i, .. } => {
                let loops = self.loops.len();
                if !is_few(n) && !self.bound.iter().any(|var| mentions(n, var)) {
                    self.loops.push((i.clone(), n.clone()));
                }
                self.bound.extend(expr.term().binders().cloned());
                let result = map_children(expr, &mut |child| self.inverted(child));
                self.loops.truncate(loops);
                result
            }
            Term::Let(var, value, body) => {
                let ours = self.inverted(value);
                self.bound.push(var.clone());
                if var.ty() == &Type::Double && is_total(value) {
                    self.name(var, value);
                }
                let body = self.inverted(body);
                Expr::with_type(Term::Let(var.clone(), ours, body), expr.ty().clone(), expr.span())
            }
            Term::Prim(Prim::Div, args) if expr.ty() == &Type::Double => match args.as_slice() {
                [x, z] => match self.row(z) {
                    Some(reciprocal) => Expr::prim(Prim::Mul, vec![self.inverted(x), reciprocal]).at(expr.span()),
                    None => map_children(expr, &mut |child| self.inverted(child)),
                },
                _ => expr.clone(),
            },
            term => {
                self.bound.extend(term.binders().cloned());
                map_children(expr, &mut |child| self.inverted(child))
            }
        }
    }

    /// The stored reciprocal of a divisor that depends on one inner index alone.
    fn row(&mut self, divisor: &Expr) -> Option<Expr> {
        let divisor = substitute(divisor, &self.named);
        let (index, count) = self.index_of(&divisor)?;
        if !is_total(&divisor) || !self.reads_row(&divisor, &index, &count) {
            return None;
        }
        let at = |r: &Var| Some(Expr::get(Expr::var(r), Expr::var(&index)));
        let here = Expr::var(&index);
        let is_it =
            |row: &&Row| is_same(&row.count, &count) && is_same(&substitute(&row.divisor, &[(row.index.clone(), here.clone())]), &divisor);
        if let Some(row) = self.rows.iter().find(is_it) {
            return at(&row.r);
        }
        let size = Size::try_of_expr(&count)?;
        let r = Var::fresh("inverse", Type::array(Type::Double, size));
        let reciprocal = at(&r);
        self.rows.push(Row { r, count, index, divisor });
        reciprocal
    }

    /// Whether every access is in bounds, and one is to an array as long as the loop, which has its length from sizes.
    fn reads_row(&self, divisor: &Expr, index: &Var, count: &Expr) -> bool {
        let Some(length) = Size::try_of_expr(count).filter(|length| !length.has_unknown()) else { return false };
        let mut safe = true;
        let mut long = false;
        each_get(divisor, &mut |array, at| {
            safe &= self.facts.get_is_safe(array, at);
            if let (Term::Var(_), Term::Var(at), Type::Array(_, size)) = (array.term(), at.term(), array.ty()) {
                long |= at == index && self.facts.equal(size, &length);
            }
        });
        safe && long && self.facts.nonnegative(&length)
    }
}

fn is_few(n: &Expr) -> bool {
    matches!(n.term(), Term::Index(n) if *n <= FEW)
}

fn has_division(expr: &Expr) -> bool {
    let mut found = matches!(expr.term(), Term::Prim(Prim::Div, _)) && expr.ty() == &Type::Double;
    expr.term().each_child(&mut |child| found = found || has_division(child));
    found
}

/// Arithmetic on doubles, variables and elements: it needs no statements, and fails at most by an index.
fn is_total(expr: &Expr) -> bool {
    match expr.term() {
        Term::Var(_) | Term::Double(_) => true,
        Term::Prim(_, args) => expr.ty() == &Type::Double && args.iter().all(|arg| arg.ty() == &Type::Double && is_total(arg)),
        Term::Get(array, index) => index.is_atom() && is_total(array),
        _ => false,
    }
}

/// Equality of terms without binders.
fn is_same(a: &Expr, b: &Expr) -> bool {
    let heads = match (a.term(), b.term()) {
        (Term::Var(x), Term::Var(y)) => return x == y,
        (Term::Double(x), Term::Double(y)) => return x.to_bits() == y.to_bits(),
        (Term::Index(x), Term::Index(y)) => return x == y,
        (Term::Prim(p, _), Term::Prim(q, _)) => p == q,
        (Term::Get(..), Term::Get(..)) => true,
        _ => false,
    };
    let (a, b): (Vec<_>, Vec<_>) = (a.term().children().collect(), b.term().children().collect());
    heads && a.len() == b.len() && a.into_iter().zip(b).all(|(a, b)| is_same(a, b))
}
