//! Core terms as text.

use super::prim::Spelling;
use super::term::{Expr, Term};

/// A text that is equal for equal terms: variables appear with their numbers. For terms without binders.
pub fn key(expr: &Expr) -> String {
    text(expr, &|var| format!("{}#{}", var.name(), var.id()), 0)
}

/// An Index term as a person writes it.
pub fn size_text(expr: &Expr) -> String {
    text(expr, &|var| var.name().to_string(), 0)
}

fn text(expr: &Expr, name: &dyn Fn(&super::term::Var) -> String, level: u8) -> String {
    match expr.term() {
        Term::Var(var) => name(var),
        Term::Index(value) => value.to_string(),
        Term::Bool(value) => value.to_string(),
        Term::If(c, a, b) => {
            format!("(if {} then {} else {})", text(c, name, 0), text(a, name, 0), text(b, name, 0))
        }
        Term::Prim(prim, args) => {
            let row = prim.row();
            match (args.as_slice(), row.c) {
                ([a, b], Spelling::Infix(_)) => {
                    let tight = if matches!(row.name, "*" | "/" | "%") { 2 } else { 1 };
                    let inner = format!("{} {} {}", text(a, name, tight), row.name, text(b, name, tight + 1));
                    if level > tight || level > 0 && !matches!(row.name, "+" | "-" | "*" | "/" | "%") {
                        format!("({inner})")
                    } else {
                        inner
                    }
                }
                _ => {
                    let args: Vec<String> = args.iter().map(|arg| text(arg, name, 3)).collect();
                    format!("({} {})", row.name, args.join(" "))
                }
            }
        }
        other => format!("{other:?}"),
    }
}

pub fn expr(expr: &Expr) -> String {
    size_text(expr)
}
impl std::fmt::Display for super::types::Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}
