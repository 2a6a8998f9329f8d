//! Terms that have a value where they are not needed.
//!
//! In: a term of a branch, which may not be reached. Out: a term of the same value wherever the first has one, which fails nowhere;
//! `None` where this form of term has none.
//!
//!     k[i] % m   →   let e = if 0 <= i && i < length k then k[i] else 0 in if m = 0 then 0 else e % m

use super::zero::zero;
use super::{Expr, Prim, Term, Type, Var};

/// The least Double above all of Index: 2^63.
const LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// A term that is the same where this one has a value, and never fails.
pub fn total(expr: &Expr) -> Option<Expr> {
    match expr.term() {
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Dim(..) => Some(expr.clone()),
        Term::Get(..) => read(expr, &|element| element),
        Term::Prim(prim @ (Prim::Div | Prim::Rem), args) if matches!(expr.ty(), Type::Index(_)) => {
            let args = args.iter().map(total).collect::<Option<_>>()?;
            Some(named(args, |args| {
                let quotient = Expr::prim(*prim, args.to_vec());
                match args.last() {
                    Some(by) if !matches!(by.term(), Term::Index(by) if *by != 0) => {
                        Expr::if_(Expr::prim(Prim::Eq, vec![by.clone(), Expr::index(0)]), Expr::index(0), quotient)
                    }
                    Some(_) | None => quotient,
                }
            }))
        }
        Term::Prim(Prim::ToIndex, args) => {
            let args = args.iter().map(total).collect::<Option<_>>()?;
            Some(named(args, |args| {
                let bound = |prim, limit| args.iter().map(move |x| Expr::prim(prim, vec![x.clone(), Expr::double(limit)]));
                let fits = bound(Prim::Ge, -LIMIT).chain(bound(Prim::Lt, LIMIT)).reduce(|a, b| Expr::prim(Prim::And, vec![a, b]));
                let index = Expr::prim(Prim::ToIndex, args.to_vec());
                fits.map_or(index.clone(), |fits| Expr::if_(fits, index, Expr::index(0)))
            }))
        }
        Term::Prim(prim, args) => Some(Expr::prim(*prim, args.iter().map(total).collect::<Option<_>>()?)),
        Term::Let(var, value, body) => Some(Expr::let_(var.clone(), total(value)?, total(body)?)),
        Term::If(cond, a, b) => Some(Expr::if_(total(cond)?, total(a)?, total(b)?)),
        // a component of an element is read where the element is there
        Term::Proj(tuple, k) if matches!(tuple.term(), Term::Get(..)) => read(tuple, &|element| Expr::proj(element, *k)),
        Term::Proj(tuple, k) => Some(Expr::proj(total(tuple)?, *k)),
        Term::Tuple(parts) => Some(Expr::tuple(parts.iter().map(total).collect::<Option<_>>()?)),
        Term::Fold { n, acc, i, body, init } => {
            let steps = Expr::prim(Prim::Max, vec![total(n)?, Expr::index(0)]);
            Some(Expr::fold_with(steps, acc.clone(), i.clone(), total(body)?, total(init)?))
        }
        Term::Build { .. }
        | Term::While { .. }
        | Term::Array(_)
        | Term::Call(..)
        | Term::Update(..)
        | Term::Iso(..)
        | Term::Check { .. }
        | Term::Dual { .. }
        | Term::Vjp { .. } => None,
    }
}

/// What `part` takes of an element of an array where that is there, and zero where it is not.
fn read(element: &Expr, part: &dyn Fn(Expr) -> Expr) -> Option<Expr> {
    let mut indices = Vec::new();
    let mut array = element;
    while let Term::Get(inner, index) = array.term() {
        indices.push(total(index)?);
        array = inner;
    }
    let is_there = matches!(array.term(), Term::Var(_) | Term::Proj(..)) && total(array).is_some();
    let default = zero(part(element.clone()).ty()).filter(|_| is_there)?;
    indices.reverse();
    Some(named(indices, |indices| {
        let element = indices.iter().fold(array.clone(), |row, index| Expr::get(row, index.clone()));
        Expr::if_(all_within(indices, array), part(element), default)
    }))
}

/// What is made of these terms, each of which is computed once.
pub fn named(terms: Vec<Expr>, make: impl FnOnce(&[Expr]) -> Expr) -> Expr {
    let is_short = |term: &Expr| matches!(term.term(), Term::Prim(_, args) if args.iter().all(Expr::is_atom));
    let mut lets: Vec<(Var, Expr)> = Vec::new();
    let mut name = |term: Expr| {
        if term.is_atom() || is_short(&term) {
            return term;
        }
        let name = Var::fresh("e", term.ty().clone());
        lets.push((name.clone(), term));
        Expr::var(&name)
    };
    let names: Vec<Expr> = terms.into_iter().map(&mut name).collect();
    lets.into_iter().rev().fold(make(&names), |made, (name, term)| Expr::let_(name, term, made))
}

/// Whether indices are those of an element of an array, or of a row.
pub fn all_within(indices: &[Expr], array: &Expr) -> Expr {
    let own = |(axis, index): (usize, &Expr)| within(index, &Expr::dim(array.clone(), axis));
    let all = indices.iter().enumerate().map(own).reduce(|outer, own| Expr::prim(Prim::And, vec![outer, own]));
    all.unwrap_or_else(|| Expr::bool(true))
}

/// `0 <= index && index < n`.
pub fn within(index: &Expr, n: &Expr) -> Expr {
    let from = Expr::prim(Prim::Le, vec![Expr::index(0), index.clone()]);
    Expr::prim(Prim::And, vec![from, Expr::prim(Prim::Lt, vec![index.clone(), n.clone()])])
}
