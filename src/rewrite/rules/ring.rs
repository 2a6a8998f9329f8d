//! 001 Figure 8b: arithmetic that holds for every double, and folding of constants.
//!
//!     e * 1  →  e        -(-e)  →  e        2 * 3  →  6
//!
//! Group `algebra`, in `algebra.rs`, has the laws of the reals that doubles only approximate.

use crate::ir::{Expr, Prim, Size, Term, Type};
use crate::rewrite::atoms::is_number;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "mul-one" ["001 Fig. 8b"]     Ring @ Prim: "e * 1 -> e; 1 * e -> e";
    "mul-minus"   Ring @ Prim: "e * -1.0 -> -e; -1.0 * e -> -e";
    "div-one"     Ring @ Prim: "e / 1 -> e";
    "pow-one"     Ring @ Prim: "e ** 1 -> e";
    "pow-zero"    Ring @ Prim: "e ** 0 -> 1";
    "pow-two"     Ring @ Power: "e ** 2 -> let x = e in x * x" => pow_two;
    "add-zero" ["001 Fig. 8b"]    Ring @ Prim: "e + 0 -> e if loose e; 0 + e -> e if loose e; e + -0.0 -> e; -0.0 + e -> e; e - 0 -> e";
    "neg-neg"     Ring @ Prim: "-(-e) -> e";
    "add-neg-sub" Ring @ Prim: "a + -b -> a - b; a - -b -> a + b";
    "mul-neg"     Ring @ Prim: "-a * -b -> a * b; a * -b -> -(a * b) if compound b; -a * b -> -(a * b) if compound a";
    "div-neg"     Ring @ Prim: "-a / b -> -(a / b) if compound a && double a; a / -b -> -(a / b) if compound b && double b";
    "neg-literal" Ring @ Prim: "-(a * b) -> -a * b if literal a; -(a * b) -> a * -b if literal b; -(a / b) -> -a / b if literal a && double a; -(a / b) -> a / -b if literal b && double b";
    "double"      Ring @ Prim: "a + a -> 2 * a";
    "order"       Ring @ Arithmetic: "b * a -> a * b; b + a -> a + b"
        if ["a and b are variables or elements and a is bound first, or a is a literal factor"] => order;
    "const-fold"  Ring @ OverLiteral: "a literal operation -> its value" => const_fold;
    "index-collect" Ring @ Prim: "sums and products of Indexes -> the polynomial that they are, where that is shorter" => index_collect;
}

/// The operands of a binary primitive.
pub fn binary(expr: &Expr, wanted: Prim) -> Option<(&Expr, &Expr)> {
    match expr.term() {
        Term::Prim(prim, args) if *prim == wanted => match args.as_slice() {
            [a, b] => Some((a, b)),
            _ => None,
        },
        _ => None,
    }
}

/// The operand of a unary primitive.
pub fn unary(expr: &Expr, wanted: Prim) -> Option<&Expr> {
    match expr.term() {
        Term::Prim(prim, args) if *prim == wanted => args.first(),
        _ => None,
    }
}

fn pow_two(expr: &Expr, _: &Facts) -> Option<Expr> {
    let (a, b) = binary(expr, Prim::Pow)?;
    if !is_number(b, 2.0) {
        return None;
    }
    Some(Expr::bind("base", a.clone(), |a| Expr::prim(Prim::Mul, vec![a.clone(), a])))
}

/// A canonical order of the simple operands of a product or a sum, so that equal terms are syntactically equal.
fn order(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Prim(prim @ (Prim::Mul | Prim::Add), args) = expr.term() else { return None };
    let [a, b] = args.as_slice() else { return None };
    if expr.ty() != &Type::Double {
        return None;
    }
    let swapped = || Some(Expr::prim(*prim, vec![b.clone(), a.clone()]));
    match (a.term(), b.term()) {
        (Term::Double(_), _) => None,
        (_, Term::Double(_)) if *prim == Prim::Mul => swapped(),
        _ => {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            let paths = path(a, *prim, facts, &mut x) && path(b, *prim, facts, &mut y);
            // what a fold accumulates comes first
            let accumulates = |e: &Expr| facts.accumulates(e);
            if !paths || accumulates(a) || facts.level(a) < facts.level(b) && *prim == Prim::Add {
                return None;
            }
            let is_behind = accumulates(b) || y < x;
            facts.grants("a and b are variables or elements and a is bound first, or a is a literal factor", is_behind).then(swapped)?
        }
    }
}

/// The variables and components of a term that is read as it stands; whether it is one. Of an array with a value, which may yet
/// be written where it is read, a factor is one, a part of a sum is not.
fn path(expr: &Expr, prim: Prim, facts: &Facts, found: &mut Vec<(usize, u32)>) -> bool {
    match expr.term() {
        Term::Var(var) => match facts.value(var) {
            Some(value) if matches!(value.term(), Term::Get(..)) => return path(value, prim, facts, found),
            Some(_) if prim == Prim::Add || !matches!(var.ty(), Type::Array(..)) => return false,
            Some(_) | None => found.push(facts.order(var)),
        },
        Term::Proj(tuple, k) => {
            let is_path = path(tuple, prim, facts, found);
            found.push((*k, 0));
            return is_path;
        }
        Term::Get(array, index) => {
            return path(array, prim, facts, found)
                && match index.term() {
                    Term::Index(k) => {
                        found.push((*k as usize, 0));
                        true
                    }
                    _ => path(index, prim, facts, found),
                };
        }
        _ => return false,
    }
    true
}

/// Indexes wrap, so that equal polynomials have equal values.
fn index_collect(expr: &Expr, _: &Facts) -> Option<Expr> {
    fn is_polynomial(expr: &Expr) -> bool {
        match expr.term() {
            Term::Var(_) | Term::Index(_) => true,
            Term::Prim(Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg, args) => args.iter().all(is_polynomial),
            _ => false,
        }
    }
    let is_operation = matches!(expr.ty(), Type::Index(_)) && !expr.is_atom();
    if !is_operation || !is_polynomial(expr) {
        return None;
    }
    let polynomial = Size::try_of_expr(expr)?.to_expr()?;
    (polynomial.node_count() < expr.node_count()).then_some(polynomial)
}

fn const_fold(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Prim(prim, args) = expr.term() else { return None };
    match (args.first()?.term(), args.get(1).map(Expr::term)) {
        (Term::Index(a), Some(Term::Index(b))) => fold_index(*prim, *a, *b),
        (Term::Double(a), Some(Term::Double(b))) => fold_double(*prim, *a, *b),
        (Term::Bool(a), Some(Term::Bool(b))) => match prim {
            Prim::And => Some(Expr::bool(*a && *b)),
            Prim::Or => Some(Expr::bool(*a || *b)),
            Prim::Eq => Some(Expr::bool(a == b)),
            Prim::Ne => Some(Expr::bool(a != b)),
            _ => None,
        },
        (Term::Index(a), None) => match prim {
            Prim::Neg => Some(Expr::index(a.wrapping_neg())),
            Prim::Abs => Some(Expr::index(a.wrapping_abs())),
            Prim::ToDouble => Some(Expr::double(*a as f64)),
            _ => None,
        },
        (Term::Double(a), None) => match prim {
            Prim::Neg => Some(Expr::double(-a)),
            Prim::Abs => Some(Expr::double(a.abs())),
            Prim::Floor => Some(Expr::double(a.floor())),
            Prim::Ceil => Some(Expr::double(a.ceil())),
            Prim::Round => Some(Expr::double(a.round_ties_even())),
            Prim::Trunc => Some(Expr::double(a.trunc())),
            Prim::Sqrt => Some(Expr::double(a.sqrt())),
            Prim::Sign if *a == 0.0 => Some(Expr::double(0.0)),
            Prim::Sign if !a.is_nan() => Some(Expr::double(a.signum())),
            Prim::Sin | Prim::Cos | Prim::Exp | Prim::Log | Prim::Tanh if !facts.strict_fp => fold_function(*prim, *a),
            _ => None,
        },
        (Term::Bool(a), None) => (*prim == Prim::Not).then(|| Expr::bool(!a)),
        _ => None,
    }
}

/// Functions of a literal whose value is exact.
fn fold_function(prim: Prim, a: f64) -> Option<Expr> {
    let value = match prim {
        Prim::Sin | Prim::Tanh if a == 0.0 => a,
        Prim::Cos | Prim::Exp if a == 0.0 => 1.0,
        Prim::Log if a == 1.0 => 0.0,
        _ => return None,
    };
    Some(Expr::double(value))
}

fn fold_index(prim: Prim, a: i64, b: i64) -> Option<Expr> {
    Some(match prim {
        Prim::Add => Expr::index(a.wrapping_add(b)),
        Prim::Sub => Expr::index(a.wrapping_sub(b)),
        Prim::Mul => Expr::index(a.wrapping_mul(b)),
        Prim::Div if b != 0 => Expr::index(a.wrapping_div(b)),
        Prim::Rem if b != 0 => Expr::index(a.wrapping_rem(b)),
        Prim::Min => Expr::index(a.min(b)),
        Prim::Max => Expr::index(a.max(b)),
        Prim::Eq => Expr::bool(a == b),
        Prim::Ne => Expr::bool(a != b),
        Prim::Lt => Expr::bool(a < b),
        Prim::Le => Expr::bool(a <= b),
        Prim::Gt => Expr::bool(a > b),
        Prim::Ge => Expr::bool(a >= b),
        _ => return None,
    })
}

fn fold_double(prim: Prim, a: f64, b: f64) -> Option<Expr> {
    Some(match prim {
        Prim::Add => Expr::double(a + b),
        Prim::Sub => Expr::double(a - b),
        Prim::Mul => Expr::double(a * b),
        Prim::Div => Expr::double(a / b),
        Prim::Eq => Expr::bool(a == b),
        Prim::Ne => Expr::bool(a != b),
        Prim::Lt => Expr::bool(a < b),
        Prim::Le => Expr::bool(a <= b),
        Prim::Gt => Expr::bool(a > b),
        Prim::Ge => Expr::bool(a >= b),
        _ => return None,
    })
}
