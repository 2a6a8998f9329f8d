//! The text of a law: its sides as patterns, its conditions, and what is wrong with it.
//!
//! In: one or more equations, separated by `;`. Out: [`Equation`]s, or a diagnostic with its place: E0118 for what is
//! no equation, E0119 for forms that no law has, E0130 for types that disagree.
//!
//!     a ** 2 -> a * a if atomic a

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, nearest};
use crate::ir::Prim;
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, UnOp};
use crate::syntax::parse_expr;

use super::{CONDITIONS, Equation, Pattern, typing};

/// How a law is written.
const SHAPE: &str = "write `left -> right if condition`, for example `a + a -> 2 * a if atomic a`";

/// Where a part of a text begins in it.
pub fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// The tree of a side, whose places count from where the side begins in the file.
pub struct Side {
    pub tree: ast::Expr,
    start: u32,
}

impl Side {
    fn parse(text: &str, file: u32, start: u32) -> Result<Side, Diagnostic> {
        let tree = parse_expr(text, file).map_err(|errors| {
            let error = errors.into_iter().next();
            error.unwrap_or_else(|| Diagnostic::error("E0118", Span::new(file, 0, text.len()), "expected an expression").help(SHAPE))
        });
        // a place of its own, for the parser's messages
        let here = |span: Span| Span { start: span.start + start, end: span.end + start, ..span };
        tree.map(|tree| Side { tree, start }).map_err(|error| Diagnostic { span: here(error.span), ..error })
    }

    pub fn place(&self, span: Span) -> Span {
        Span { start: span.start + self.start, end: span.end + self.start, ..span }
    }

    pub fn moved(&self, problem: Diagnostic) -> Diagnostic {
        Diagnostic { span: self.place(problem.span), ..problem }
    }

    fn pattern(&self) -> Result<Pattern, Diagnostic> {
        pattern(&self.tree).map_err(|problem| self.moved(problem))
    }
}

/// What binds variables, beside the functions that take one.
const BINDERS: [&str; 3] = ["fun", "let", "deriv"];

/// Where a text has a word.
fn word<'a>(text: &'a str, wanted: &str) -> Option<&'a str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '\''))).find(|word| *word == wanted)
}

fn unsupported(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E0119", span, message)
        .help("laws are made of operators, primitive functions, `if`, `a[i]`, `length a`, tuples and literals")
}

/// The first name of a right side that the left side does not bind, and its place.
fn unbound<'a>(tree: &'a ast::Expr, bound: &[String]) -> Option<(&'a str, Span)> {
    let first = |trees: &[&'a ast::Expr]| trees.iter().find_map(|tree| unbound(tree, bound));
    match &tree.kind {
        ExprKind::Var(name) => (!bound.iter().any(|other| **other == **name)).then_some((&**name, tree.span)),
        ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => first(&[a, b]),
        ExprKind::Unary(_, a) => unbound(a, bound),
        ExprKind::If(c, a, b) => first(&[c, a, b]),
        ExprKind::Tuple(parts) | ExprKind::Array(parts) | ExprKind::App(_, parts) => parts.iter().find_map(|part| unbound(part, bound)),
        ExprKind::Int(..) | ExprKind::Double(_) | ExprKind::Bool(_) | ExprKind::Operator(_) => None,
        // no part of a law
        ExprKind::Fun(..) | ExprKind::Let(..) | ExprKind::LetFun(..) | ExprKind::Slice(..) => None,
        ExprKind::Field(..) | ExprKind::Record(..) | ExprKind::Deriv(..) => None,
    }
}

/// The parts of a text between separators that stand in no bracket.
pub fn split<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= start && text[at..].starts_with(separator) => {
                parts.push(&text[start..at]);
                start = at + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

impl Equation {
    pub fn parse(text: &str, file: u32, at: usize) -> Result<Equation, Diagnostic> {
        let place = |part: &str| {
            let start = at + offset(text, part);
            Span::new(file, start, start + part.len())
        };
        let malformed = |part: &str, message: String| Diagnostic::error("E0118", place(part.trim()), message).help(SHAPE);
        if let Some(word) = BINDERS.iter().find_map(|binder| word(text, binder)) {
            return Err(unsupported(place(word), format!("`{word}` binds variables, which no law does")));
        }
        let sides = split(text, "->");
        let (left, rest) = match sides.as_slice() {
            [left, ..] if sides.len() > 1 => (*left, &text[left.len() + 2..]),
            _ => return Err(malformed(text, format!("expected `->` in the law `{}`", text.trim()))),
        };
        let (right, conditions) = match rest.rsplit_once(" if ") {
            Some((right, conditions)) if !conditions.contains(" then ") => (right, conditions),
            _ => (rest, ""),
        };
        let (left_side, right_side) =
            (Side::parse(left.trim(), file, place(left.trim()).start)?, Side::parse(right.trim(), file, place(right.trim()).start)?);
        let (left_pattern, right_pattern) = (left_side.pattern()?, right_side.pattern()?);
        let mut bound = Vec::new();
        left_pattern.each_meta(&mut |name| bound.push(name.to_string()));
        if let Some((name, span)) = unbound(&right_side.tree, &bound) {
            let message = format!("`{name}` is on the right of the law but not on its left");
            return Err(Diagnostic::error("E0118", right_side.place(span), message).help(SHAPE));
        }
        let conditions = conditions.split("&&").filter(|text| !text.trim().is_empty()).map(|text| {
            let (name, meta) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            let Some((_, condition, _)) = CONDITIONS.iter().find(|row| row.0 == name) else {
                let known = CONDITIONS.iter().map(|row| row.0);
                let help = match nearest(name, known.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the conditions are {}", known.collect::<Vec<_>>().join(", ")),
                };
                return Err(malformed(text, format!("no condition is called `{name}`")).help(help));
            };
            if !bound.iter().any(|other| other == meta.trim()) {
                return Err(malformed(text, format!("`{name}` wants a name of the left side")).help(SHAPE));
            }
            Ok((*condition, meta.trim().to_string(), place(text.trim())))
        });
        let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
        typing::check(&left_side, &right_side, &conditions)?;
        let conditions = conditions.into_iter().map(|(condition, meta, _)| {
            let printed = format!("{} {meta}", condition.name());
            (condition, meta, printed)
        });
        let conditions = conditions.collect();
        let mut on_right: BTreeMap<String, usize> = BTreeMap::new();
        right_pattern.each_meta(&mut |name| *on_right.entry(name.to_string()).or_default() += 1);
        let times = |name: &str| bound.iter().filter(|other| *other == name).count();
        let copied = on_right.iter().map(|(name, count)| (name.clone(), count.saturating_sub(times(name)))).filter(|(_, more)| *more > 0);
        let nodes = right_pattern.nodes();
        Ok(Equation { left: left_pattern, copied: copied.collect(), right: right_pattern, conditions, nodes })
    }
}

fn pattern(tree: &ast::Expr) -> Result<Pattern, Diagnostic> {
    let patterns = |trees: &[ast::Expr]| trees.iter().map(pattern).collect::<Result<Vec<_>, _>>();
    let unsupported = || unsupported(tree.span, "this form cannot be part of a law");
    Ok(match &tree.kind {
        ExprKind::Var(name) => Pattern::Meta(name.to_string()),
        ExprKind::Int(_, value) => Pattern::Number(*value),
        ExprKind::Double(value) => Pattern::Double(*value),
        ExprKind::Bool(value) => Pattern::Bool(*value),
        ExprKind::Binary(op, a, b) => Pattern::Prim(Prim::from(*op), vec![pattern(a)?, pattern(b)?]),
        ExprKind::Unary(UnOp::Neg, a) if matches!(a.kind, ExprKind::Double(_)) => match a.kind {
            ExprKind::Double(value) => Pattern::Double(-value),
            _ => return Err(unsupported()),
        },
        ExprKind::Unary(op, a) => Pattern::Prim(if *op == UnOp::Neg { Prim::Neg } else { Prim::Not }, vec![pattern(a)?]),
        ExprKind::If(c, a, b) => Pattern::If(Box::new([pattern(c)?, pattern(a)?, pattern(b)?])),
        ExprKind::Index(a, i) => Pattern::Get(Box::new([pattern(a)?, pattern(i)?])),
        ExprKind::Tuple(parts) => Pattern::Tuple(patterns(parts)?),
        ExprKind::App(function, args) => {
            let ExprKind::Var(name) = &function.kind else { return Err(unsupported()) };
            match (Prim::function(name), args.as_slice()) {
                (Some(prim), _) if prim.row().arity == args.len() => Pattern::Prim(prim, patterns(args)?),
                (None, [array]) if &**name == "length" => Pattern::Length(Box::new(pattern(array)?)),
                (Some(prim), _) => {
                    let (arity, found) = (prim.row().arity, args.len());
                    let arguments = if arity == 1 { "argument" } else { "arguments" };
                    return Err(self::unsupported(tree.span, format!("`{name}` takes {arity} {arguments}, found {found}")));
                }
                (None, _) => return Err(self::unsupported(tree.span, format!("`{name}` cannot be part of a law"))),
            }
        }
        ExprKind::Operator(_)
        | ExprKind::Fun(..)
        | ExprKind::Let(..)
        | ExprKind::LetFun(..)
        | ExprKind::Slice(..)
        | ExprKind::Array(_)
        | ExprKind::Field(..)
        | ExprKind::Record(..)
        | ExprKind::Deriv(..) => return Err(unsupported()),
    })
}
