//! Division once a row instead of once an element: a multiplication is far cheaper than a division.
//!
//! In: the body of a loop. Out: the same, where quotients whose divisor depends on an inner loop's index alone are products
//! with stored reciprocals, which are computed before the outer loop, into the workspace.
//!
//!     build(m, i. fold(n, s, j. s + A[i][j] / v[j], 0))   →   for j: inverse[j] = 1.0 / v[j]
//!                                                             for i: s = 0; for j: s += A[i][j] * inverse[j]
//!
//! Only where [`super::LowerOptions`] allows reciprocals, where the divisor cannot fail, and where the inner
//! loop is as long as an array that it reads, so that the room follows from sizes. Few rows, few columns,
//! branches, and column sums, which divide once a row anyhow, stay as they are.

use crate::ir::free::mentions;
use crate::ir::subst::{map_children, substitute};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};

use super::columns::{ColumnFold, each_get};
use super::context::{Lowerer, Result};
use super::view::View;

/// A literal number of rows or columns up to this is not worth an array.
const FEW: i64 = 4;

/// A divisor of more nodes than this is not followed through its names.
const SHORT: usize = 64;

/// The context of the search.
#[derive(Default)]
struct Search {
    /// What is bound inside the outer loop, its own index first.
    bound: Vec<Var>,
    /// Inner loops whose trip count is invariant in the outer loop.
    loops: Vec<(Var, Expr)>,
    /// Lets whose values are functions of an inner index.
    named: Vec<(Var, Expr)>,
    rows: Vec<Row>,
}

impl Search {
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
}

/// `r = build(count, index. 1.0 / divisor)`.
struct Row {
    r: Var,
    count: Expr,
    index: Var,
    divisor: Expr,
}

impl Lowerer<'_> {
    /// The body of a loop over `var`, with rows of reciprocals bound before it.
    pub fn with_reciprocals(&mut self, n: &Expr, var: &Var, body: &Expr) -> Result<Expr> {
        if !self.reciprocals || is_few(n) || !has_division(body) {
            return Ok(body.clone());
        }
        let mut search = Search { bound: vec![var.clone()], ..Search::default() };
        let body = self.inverted_inside(body, &mut search);
        for row in search.rows {
            let index = row.index.renewed(row.index.ty().clone());
            let divisor = substitute(&row.divisor, &[(row.index, Expr::var(&index))]);
            let reciprocal = Expr::prim(Prim::Div, vec![Expr::double(1.0), divisor]);
            self.bind(&row.r, &Expr::build_with(row.count, index, reciprocal))?;
        }
        Ok(body)
    }

    fn inverted_inside(&self, expr: &Expr, search: &mut Search) -> Expr {
        match expr.term() {
            Term::If(..) | Term::Check { .. } | Term::Dual { .. } | Term::Prim(Prim::And | Prim::Or, _) => expr.clone(),
            Term::Build { n, i, body } if ColumnFold::find(n, i, body).is_some() => expr.clone(),
            Term::Build { n, i, .. } | Term::Fold { n, i, .. } => {
                let loops = search.loops.len();
                if !is_few(n) && !search.bound.iter().any(|var| mentions(n, var)) {
                    search.loops.push((i.clone(), n.clone()));
                }
                search.bound.extend(expr.term().binders().cloned());
                let result = map_children(expr, &mut |child| self.inverted_inside(child, search));
                search.loops.truncate(loops);
                result
            }
            Term::Let(var, value, body) => {
                let ours = self.inverted_inside(value, search);
                search.bound.push(var.clone());
                if var.ty() == &Type::Double && is_total(value) {
                    search.name(var, value);
                }
                let body = self.inverted_inside(body, search);
                Expr::with_type(Term::Let(var.clone(), ours, body), expr.ty().clone(), expr.span())
            }
            Term::Prim(Prim::Div, args) if expr.ty() == &Type::Double => match args.as_slice() {
                [x, z] => match self.row(z, search) {
                    Some(reciprocal) => Expr::prim(Prim::Mul, vec![self.inverted_inside(x, search), reciprocal]).at(expr.span()),
                    None => map_children(expr, &mut |child| self.inverted_inside(child, search)),
                },
                _ => expr.clone(),
            },
            _ => map_children(expr, &mut |child| self.inverted_inside(child, search)),
        }
    }

    /// The stored reciprocal of a divisor that depends on one inner index alone.
    fn row(&self, divisor: &Expr, search: &mut Search) -> Option<Expr> {
        let divisor = substitute(divisor, &search.named);
        let (index, count) = search.index_of(&divisor)?;
        if !is_total(&divisor) || !self.reads_row(&divisor, &index, &count) {
            return None;
        }
        let at = |r: &Var| Some(Expr::get(Expr::var(r), Expr::var(&index)));
        let here = Expr::var(&index);
        let is_it =
            |row: &&Row| is_same(&row.count, &count) && is_same(&substitute(&row.divisor, &[(row.index.clone(), here.clone())]), &divisor);
        if let Some(row) = search.rows.iter().find(is_it) {
            return at(&row.r);
        }
        let size = match index.ty() {
            Type::Index(Some(size)) => size.clone(),
            _ => return None,
        };
        let r = Var::fresh("inverse", Type::array(Type::Double, size));
        let reciprocal = at(&r);
        search.rows.push(Row { r, count, index, divisor });
        reciprocal
    }

    /// Whether every access is in bounds, and one is to an array as long as the loop, which has its length from sizes.
    fn reads_row(&self, divisor: &Expr, index: &Var, count: &Expr) -> bool {
        let length = Size::try_of_expr(count).map(|size| self.canonical(&size));
        let mut safe = true;
        let mut long = false;
        each_get(divisor, &mut |array, at| {
            safe &= self.facts.get_is_safe(array, at);
            if let (Term::Var(var), Term::Var(at)) = (array.term(), at.term())
                && let Some(View::Array(view)) = self.env.get(var)
            {
                long |= at == index && Some(view.length()) == length;
            }
        });
        safe && long && length.is_some_and(|length| self.facts.nonnegative(&length))
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
