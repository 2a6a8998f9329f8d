//! Sizes as expressions of the languages that call emitted C.
//!
//! In: a size, and what its variables are called. Out: its text, calls of helpers that every such file brings along and that wrap as
//! Index arithmetic does; `None` where the size is more than Index operations of what the function has.
//!
//!     2 * n + m / 2   →   add(mul(2, n), div(m, 2))

use crate::ir::ended_early::end;
use crate::ir::size_term::height;
use crate::ir::{Expr, Prim, Size, Term, Var};

/// How a language spells what differs.
pub struct Spelling {
    /// What comes before a helper's name.
    pub path: &'static str,
    /// The smallest Index.
    pub smallest: &'static str,
    /// The condition and the two values of an `if`.
    pub choice: fn(&str, &str, &str) -> String,
    /// The parameters and the value of the step of a fold: what its state, of one Index or several, and its index are called.
    pub function: fn(&[String; 2], &str) -> String,
    /// Several Indexes, of which `[k]` takes one.
    pub states: fn(&[String]) -> String,
}

/// The helper of each operation.
const HELPERS: [(Prim, &str); 18] = [
    (Prim::Add, "add"),
    (Prim::Sub, "sub"),
    (Prim::Mul, "mul"),
    (Prim::Neg, "neg"),
    (Prim::Div, "div"),
    (Prim::Rem, "rem"),
    (Prim::Min, "least"),
    (Prim::Max, "largest"),
    (Prim::Abs, "magnitude"),
    (Prim::Eq, "eq"),
    (Prim::Ne, "ne"),
    (Prim::Lt, "lt"),
    (Prim::Le, "le"),
    (Prim::Gt, "gt"),
    (Prim::Ge, "ge"),
    (Prim::And, "both"),
    (Prim::Or, "either"),
    (Prim::Not, "negated"),
];

/// What the step of a fold in a size calls its state and its index: names that no parameter has.
pub fn binders(fold: &Expr) -> [String; 2] {
    ["s", "i"].map(|name| format!("smooth_{name}{}", height(fold)))
}

/// A size in a language.
pub fn size(size: &Size, name: &dyn Fn(&Var) -> Option<String>, spelling: &Spelling) -> Option<String> {
    term(&size.to_expr()?, name, spelling)
}

fn term(expr: &Expr, name: &dyn Fn(&Var) -> Option<String>, spelling: &Spelling) -> Option<String> {
    let part = |part: &Expr| term(part, name, spelling);
    let form = expr.term();
    if let Term::Index(number) = form {
        return Some(if *number == i64::MIN { spelling.smallest.to_string() } else { number.to_string() });
    }
    if let Term::Var(var) = form {
        return name(var);
    }
    if let Term::Bool(value) = form {
        return Some(value.to_string());
    }
    if let Term::If(condition, then, otherwise) = form {
        return Some((spelling.choice)(&part(condition)?, &part(then)?, &part(otherwise)?));
    }
    if let Term::Fold { n, acc, i, body, init } = form {
        let own = binders(expr);
        let name = |var: &Var| [acc, i].iter().position(|bound| *bound == var).map(|at| own[at].clone()).or_else(|| name(var));
        let step = (spelling.function)(&own, &term(body, &name, spelling)?);
        let helper = if end(expr).is_some() { "settle" } else { "repeat" };
        return Some(format!("{}{helper}({}, {}, {step})", spelling.path, part(n)?, part(init)?));
    }
    if let Term::Proj(states, k) = form {
        return Some(format!("{}[{k}]", part(states)?));
    }
    if let Term::Tuple(parts) = form {
        return Some((spelling.states)(&parts.iter().map(part).collect::<Option<Vec<_>>>()?));
    }
    let Term::Prim(prim, args) = form else { return None };
    let helper = HELPERS.iter().find(|(known, _)| known == prim).map(|(_, helper)| *helper)?;
    let args: Option<Vec<String>> = args.iter().map(part).collect();
    Some(format!("{}{helper}({})", spelling.path, args?.join(", ")))
}
