//! Polynomials of costs: the larger of two, the largest value over a loop, and how they are read.
//!
//! In: sizes, whose atoms are never negative here. Out: bounds of them, their values, and text.
//!
//!     maximum (n + 3) (2 n)  →  2 n + 3        text  →  `2 n m + n² + 3`

use std::collections::BTreeMap;

use crate::ir::term::Monomial;
use crate::ir::{Atom, Expr, Prim, Size, Term, Var, print};

/// At least as large as both: the larger coefficient of each monomial.
pub fn maximum(a: &Size, b: &Size) -> Size {
    if a == b {
        return a.clone();
    }
    let mut coefficients: BTreeMap<Monomial, (i64, i64)> = BTreeMap::new();
    for (monomial, coefficient) in a.terms() {
        coefficients.entry(monomial.clone()).or_default().0 = coefficient;
    }
    for (monomial, coefficient) in b.terms() {
        coefficients.entry(monomial.clone()).or_default().1 = coefficient;
    }
    coefficients.into_iter().fold(Size::constant(0), |sum, (monomial, (a, b))| sum.add(&product(&monomial, a.max(b))))
}

fn product(monomial: &[Atom], coefficient: i64) -> Size {
    monomial.iter().fold(Size::constant(coefficient), |product, atom| product.mul(&Size::atom(atom.clone())))
}

/// At least as large as every value of the polynomial for the variable from 0 to `last`.
pub fn largest(size: &Size, i: &Var, last: &Size) -> Size {
    let mut sum = Size::constant(0);
    for (monomial, coefficient) in size.terms() {
        let single = product(monomial, coefficient);
        if !single.mentions(i) {
            sum = sum.add(&single);
        } else if coefficient > 0 {
            sum = sum.add(&single.substitute(&mut |atom| largest_atom(atom, i, last)));
        }
    }
    sum
}

/// The same of an atom; `None` where it is no minimum or maximum. `min i (n - 1 - i)` is at most n - 1, though its operands
/// are largest at different ends.
fn largest_atom(atom: &Atom, i: &Var, last: &Size) -> Option<Size> {
    let term = match atom {
        Atom::Var(var) => return (var == i).then(|| last.clone()),
        Atom::Unknown(_) => return None,
        Atom::Term(term) => term,
    };
    let Term::Prim(prim @ (Prim::Min | Prim::Max), args) = term.expr.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    let [a, b] = [Size::try_of_expr(a)?, Size::try_of_expr(b)?].map(|size| largest(&size, i, last));
    match a.sub(&b).as_constant() {
        Some(more) => Some(if (more > 0) == (*prim == Prim::Max) { a } else { b }),
        None => Size::opaque(Expr::prim(*prim, vec![a.to_expr()?, b.to_expr()?])),
    }
}

/// The value when every atom is this number.
pub fn value(size: &Size, each: f64) -> f64 {
    size.terms().map(|(monomial, coefficient)| coefficient as f64 * each.powi(monomial.len() as i32)).sum()
}

/// The first term of the text, and whether there are more.
pub fn leading(size: &Size) -> String {
    let text = text(size);
    match text.split_once(" + ") {
        Some((first, _)) => format!("{first} + …"),
        None => text,
    }
}

/// The polynomial as a person writes it, the highest powers first.
pub fn text(size: &Size) -> String {
    let mut terms: Vec<(usize, String, i64)> = size
        .terms()
        .map(|(monomial, coefficient)| {
            let mut powers: BTreeMap<String, usize> = BTreeMap::new();
            monomial.iter().for_each(|atom| *powers.entry(name(atom)).or_default() += 1);
            let factors: Vec<String> = powers.iter().map(|(name, power)| format!("{name}{}", superscript(*power))).collect();
            (monomial.len(), factors.join(" "), coefficient)
        })
        .collect();
    terms.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut text = String::new();
    for (at, (_, factors, coefficient)) in terms.iter().enumerate() {
        let sign = match (at, *coefficient < 0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        let magnitude = coefficient.unsigned_abs();
        text += sign;
        text += &match (factors.as_str(), magnitude) {
            ("", _) => magnitude.to_string(),
            (_, 1) => factors.clone(),
            (_, _) => format!("{magnitude} {factors}"),
        };
    }
    if text.is_empty() { "0".into() } else { text }
}

fn name(atom: &Atom) -> String {
    match atom {
        Atom::Var(var) => var.name().to_string(),
        Atom::Term(_) => match Size::atom(atom.clone()).to_expr() {
            Some(expr) => format!("({})", print::size_text(&expr)),
            None => "?".into(),
        },
        Atom::Unknown(_) => "?".into(),
    }
}

fn superscript(power: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if power == 1 {
        return String::new();
    }
    power.to_string().bytes().filter_map(|digit| DIGITS.get(usize::from(digit - b'0'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Type;

    #[test]
    fn bounds_and_text() {
        let (n, i) = (Var::fresh("n", Type::INDEX), Var::fresh("i", Type::INDEX));
        let (at_n, at_i) = (Size::var(&n), Size::var(&i));
        let a = at_n.mul(&at_n).add(&Size::constant(3));
        let b = at_n.add(&at_n).sub(&Size::constant(1));
        assert_eq!(text(&maximum(&a, &b)), "n² + 2 n + 3");
        assert_eq!((text(&b).as_str(), leading(&a).as_str()), ("2 n - 1", "n² + …"));
        assert_eq!(text(&Size::constant(0)), "0");
        // n * i + n - i for i up to n - 1
        let mixed = at_n.mul(&at_i).add(&at_n).sub(&at_i);
        assert_eq!(text(&largest(&mixed, &i, &at_n.sub(&Size::constant(1)))), "n²");
        assert_eq!(value(&a, 10.0), 103.0);
        // min i (n - 1 - i)
        let rising_and_falling = Expr::prim(Prim::Min, vec![Expr::var(&i), at_n.sub(&Size::constant(1)).sub(&at_i).to_expr().unwrap()]);
        assert_eq!(text(&largest(&Size::of_expr(&rising_and_falling), &i, &at_n.sub(&Size::constant(1)))), "n - 1");
    }
}
