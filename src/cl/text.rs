//! Arrows in text, as 003 Figure 9 writes them.
//!
//! In: an arrow. Out: `I`, `K(k)`, `P[i, …/n]` (from 1), `F(f)`, `c; c`, `(c, …)`, `IF(c, c, c)`, `L(x, c, c)`, `B(n, i, c)`; a `Fold` and
//! a `Check` have their parts in that order. What a binder binds is on a line of its own.

use super::{Arrow, Op};
use crate::ir::{Function, print};

/// `def f : S => T = c`.
pub fn definition(function: &Function, arrow: &Arrow) -> String {
    let types: Vec<String> = function.sizes.iter().chain(&function.params).map(|var| var.ty().to_string()).collect();
    let names: Vec<&str> = function.sizes.iter().chain(&function.params).map(|var| &**var.name()).collect();
    let domain = if types.is_empty() { "()".into() } else { types.join(" * ") };
    format!("// {}\ndef {} : {domain} => {} =\n  {}\n", names.join(", "), function.name, function.result, text(arrow, "  "))
}

fn text(arrow: &Arrow, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let all = |arrows: &[Arrow]| arrows.iter().map(|arrow| text(arrow, indent)).collect::<Vec<_>>().join(", ");
    let line = |arrow: &Arrow| format!("\n{inner}{}", text(arrow, &inner));
    match arrow {
        Arrow::Identity => "I".into(),
        Arrow::Constant(value) => format!("K({})", print::line(value, &[])),
        Arrow::Prune(places, n) => {
            let places: Vec<String> = places.iter().map(|at| (at + 1).to_string()).collect();
            format!("P[{}/{n}]", places.join(","))
        }
        Arrow::Function(op) => format!("F({})", name(op)),
        Arrow::Then(first, second) => format!("{}; {}", text(first, indent), text(second, indent)),
        Arrow::Tuple(parts) => format!("({})", all(parts)),
        Arrow::If(parts) => format!("IF({},{},{})", text(&parts[0], indent), line(&parts[1]), line(&parts[2])),
        Arrow::Let(var, value, body) => {
            // lets one after the other stay in one column
            format!("L({}, {},\n{indent}{})", var.name(), text(value, indent), text(body, indent))
        }
        Arrow::Build(n, i, body) => format!("B({}, {},{})", text(n, indent), i.name(), line(body)),
        Arrow::Fold { init, n, acc, i, body } => {
            format!("Fold({}, {}, {}, {},{})", text(init, indent), text(n, indent), acc.name(), i.name(), line(body))
        }
        Arrow::Check { cond, status, body, .. } => {
            format!("Check({}, {},\n{indent}{})", text(cond, indent), print::status_name(*status), text(body, indent))
        }
    }
}

fn name(op: &Op) -> String {
    match op {
        Op::Prim(prim) => prim.row().name.into(),
        Op::Call(name) => name.to_string(),
        Op::Get => "get".into(),
        Op::Dim(0) => "length".into(),
        Op::Dim(axis) => format!("dim {axis}"),
        Op::Part(k) => format!("part {}", k + 1),
        Op::Tuple => "tuple".into(),
        Op::Array(_) => "array".into(),
        Op::Update(change, _) => change.name().into(),
    }
}
