//! The law of a primitive in text: what it gives back to an operand for an argument z, and its slope.
//!
//! In: the law in the primitive's row, the texts of operands and result. Out: text.
//!
//!     cos, operand u, result r   →   -sin u * z        slope: -sin u

use crate::ir::prim::Prim;
use crate::source::Span;
use crate::syntax::ast::{BinOp, Expr, ExprKind, UnOp};
use crate::syntax::parse_expr;

/// What the names of a law stand for.
pub struct Names<'n> {
    pub operands: &'n [String],
    pub result: &'n str,
    /// In the place of the tangent; `None` for the slope.
    pub z: Option<&'n str>,
    /// All operands have a backpropagator.
    pub of_both: bool,
}

/// How tightly a text holds together: 0 a condition, 1 a comparison, 2 a sum, 3 a product, 4 a prefix, 5 a power, 6 an application, 7 an
/// atom.
type Level = u8;

/// What goes back to an operand; the outer `None` for a law that cannot be read, the inner one where there is nothing.
pub fn share(prim: Prim, operand: usize, names: &Names) -> Option<Option<String>> {
    let Some(law) = prim.law_in(operand, names.of_both) else { return Some(None) };
    let law = parse_expr(law, Span::NONE.file).ok()?;
    term(&law, names).map(|(text, _)| Some(text))
}

fn within((text, level): (String, Level), least: Level) -> String {
    if level >= least { text } else { format!("({text})") }
}

fn is_one(expr: &Expr, names: &Names) -> bool {
    matches!(&expr.kind, ExprKind::Var(name) if matches!(&**name, "dx" | "dy")) && names.z.is_none()
}

fn term(law: &Expr, names: &Names) -> Option<(String, Level)> {
    Some(match &law.kind {
        ExprKind::Var(name) => match &**name {
            "x" => (names.operands.first()?.clone(), 7),
            "y" => (names.operands.get(1)?.clone(), 7),
            "r" => (names.result.to_string(), 7),
            "dx" | "dy" => (names.z.unwrap_or("1.0").to_string(), 7),
            _ => return None,
        },
        ExprKind::Int(_, value) | ExprKind::Double(value) => (crate::trace::number(*value), 7),
        ExprKind::If(c, a, b) => (format!("if {} then {} else {}", term(c, names)?.0, term(a, names)?.0, term(b, names)?.0), 0),
        ExprKind::Binary(BinOp::Mul, a, b) if is_one(a, names) => term(b, names)?,
        ExprKind::Binary(BinOp::Mul, a, b) if is_one(b, names) => term(a, names)?,
        ExprKind::Binary(op, a, b) => {
            let (own, left, right) = match op {
                BinOp::Add | BinOp::Sub => (2, 2, 3),
                BinOp::Mul | BinOp::Div | BinOp::EMul | BinOp::EDiv | BinOp::Rem => (3, 3, 4),
                BinOp::Pow => (5, 6, 4),
                BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => (1, 2, 2),
                BinOp::And | BinOp::Or => (0, 1, 1),
            };
            let name = Prim::from(*op).row().name;
            (format!("{} {name} {}", within(term(a, names)?, left), within(term(b, names)?, right)), own)
        }
        ExprKind::Unary(UnOp::Neg, a) => (format!("-{}", within(term(a, names)?, 5)), 4),
        ExprKind::App(function, args) => {
            let ExprKind::Var(name) = &function.kind else { return None };
            let args = args.iter().map(|arg| Some(within(term(arg, names)?, 7))).collect::<Option<Vec<_>>>()?;
            (format!("{name} {}", args.join(" ")), 6)
        }
        _ => return None,
    })
}
