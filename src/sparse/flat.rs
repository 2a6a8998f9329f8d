//! Numbers in a row: the Doubles of a value as a list, outermost index first, and arrays of arrays as one.
//!
//! In: a type, a value, a place in the list. Out: how many there are, where a part begins, the number at a place.
//!
//!     doubles(Array<Vector<3> * Double, n>) = 4 n        at(A, t), A: Matrix<n, 3>  →  A[t / 3][t % 3]

use crate::ir::{Expr, Prim, Size, Type, Var};

/// How many Doubles a value of the type has.
pub fn doubles(ty: &Type) -> Size {
    match ty {
        Type::Double => Size::constant(1),
        Type::Bool | Type::Index(_) | Type::Rec(_) => Size::constant(0),
        Type::Array(element, size) => size.mul(&doubles(element)),
        Type::Tuple(parts) => parts.iter().fold(Size::constant(0), |sum, part| sum.add(&doubles(part))),
    }
}

/// The number at a place of a value made of Doubles; `None` where a length is not known.
pub fn at(value: &Expr, place: Expr) -> Option<Expr> {
    match value.ty() {
        Type::Array(element, _) => {
            let each = doubles(element);
            let index = quotient(place.clone(), &each)?;
            at(&Expr::get(value.clone(), index), remainder(place, &each)?)
        }
        Type::Tuple(parts) => {
            let parts: Vec<(Size, Expr)> = (0..parts.len()).map(|k| (doubles(&parts[k]), Expr::proj(value.clone(), k))).collect();
            one_after_the_other(parts.iter().map(|(size, part)| (size.clone(), |place: Expr| at(part, place))).collect(), place)
        }
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => Some(value.clone()),
    }
}

/// What is at a place of lists put together: each with its length, and what is at a place of it.
pub fn one_after_the_other(mut lists: Vec<(Size, impl Fn(Expr) -> Option<Expr>)>, place: Expr) -> Option<Expr> {
    let mut begins = Vec::new();
    let mut begin = Size::constant(0);
    for (size, _) in &lists {
        begins.push(begin.clone());
        begin = begin.add(size);
    }
    let (_, last) = lists.pop()?;
    let mut found = last(minus(place.clone(), &begins.pop()?)?)?;
    while let (Some((size, list)), Some(begin)) = (lists.pop(), begins.pop()) {
        let end = begin.add(&size).to_expr()?;
        let own = list(minus(place.clone(), &begin)?)?;
        found = match (Size::of_expr(&place).as_constant(), Size::of_expr(&end).as_constant()) {
            (Some(place), Some(end)) if place < end => own,
            (Some(_), Some(_)) => found,
            _ => Expr::if_(Expr::prim(Prim::Lt, vec![place.clone(), end]), own, found),
        };
    }
    Some(found)
}

/// An array of arrays of these lengths, as one array.
pub fn flattened(nested: Expr, dims: &[Size], name: &str) -> Option<Expr> {
    if dims.len() == 1 {
        return Some(nested);
    }
    let count = dims.iter().fold(Size::constant(1), |count, size| count.mul(size)).to_expr()?;
    let var = Var::fresh(name, nested.ty().clone());
    let t = Var::fresh("t", Type::Index(Some(Size::of_expr(&count))));
    let mut element = Expr::var(&var);
    for axis in 0..dims.len() {
        let inner = dims[axis + 1..].iter().fold(Size::constant(1), |count, size| count.mul(size));
        let index = quotient(Expr::var(&t), &inner)?;
        let index = if axis == 0 { index } else { remainder(index, &dims[axis])? };
        element = Expr::get(element, index);
    }
    Some(Expr::let_(var, nested, Expr::build_with(count, t, element)))
}

/// The sum, without zeros; a polynomial where it is one.
pub fn plus(a: Expr, b: Expr) -> Expr {
    match (Size::of_expr(&a).as_constant(), Size::of_expr(&b).as_constant()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        _ => tidy(Expr::prim(Prim::Add, vec![a, b])),
    }
}

/// So many times a size.
pub fn times(a: Expr, size: &Size) -> Option<Expr> {
    match (Size::of_expr(&a).as_constant(), size.as_constant()) {
        (Some(0), _) | (_, Some(0)) => Some(Expr::index(0)),
        (_, Some(1)) => Some(a),
        _ => Some(tidy(Expr::prim(Prim::Mul, vec![size.to_expr()?, a]))),
    }
}

fn minus(a: Expr, size: &Size) -> Option<Expr> {
    if size.as_constant() == Some(0) { Some(a) } else { Some(tidy(Expr::prim(Prim::Sub, vec![a, size.to_expr()?]))) }
}

pub fn quotient(a: Expr, by: &Size) -> Option<Expr> {
    match (Size::of_expr(&a).as_constant(), by.as_constant()) {
        (_, Some(1)) => Some(a),
        (Some(a), Some(by)) if by > 0 => Some(Expr::index(a / by)),
        _ => Some(Expr::prim(Prim::Div, vec![a, by.to_expr()?])),
    }
}

pub fn remainder(a: Expr, by: &Size) -> Option<Expr> {
    match (Size::of_expr(&a).as_constant(), by.as_constant()) {
        (_, Some(1)) => Some(Expr::index(0)),
        (Some(a), Some(by)) if by > 0 => Some(Expr::index(a % by)),
        _ => Some(Expr::prim(Prim::Rem, vec![a, by.to_expr()?])),
    }
}

/// An Index term as the polynomial that it is, where it is one.
pub fn tidy(index: Expr) -> Expr {
    match Size::try_of_expr(&index).and_then(|size| size.to_expr()) {
        Some(polynomial) if polynomial.node_count() <= index.node_count() => polynomial,
        _ => index,
    }
}
