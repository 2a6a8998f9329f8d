//! The text of a law: its sides as patterns, its conditions, and what is wrong with it.
//!
//! In: one or more equations, separated by `;`. Out: [`Equation`]s, or a diagnostic with its place: E0118 for what is
//! no equation, E0119 for what has no meaning as a law, E0130 for a part or a condition that no term meets.
//!
//!     a ** 2 -> a * a if atomic a
//!     let x = a in f x -> f a if count x <= 1 in f and total a

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, nearest};
use crate::ir::{Change, Prim};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, PatternKind, UnOp};

use super::condition::{CONDITIONS, Comparison, Side as Condition, Test};
use super::pattern::{Binder, Name, Pattern};
use super::side::{SHAPE, Side};
use super::{Equation, typing};

/// Where a part of a text begins in it.
pub fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

fn unsupported(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("E0119", span, message).help(
        "laws are made of operators, primitive functions, `if`, `let`, `build`, `ifold`, `a[i]`, `length a`, `[a, b]`, `update`, \
             `accumulate`, tuples, `fst`, `snd` and literals",
    )
}

/// The number of arguments of a form that is written as a call, or of a primitive function; `None` for a metavariable.
fn arity(name: &str) -> Option<usize> {
    match name {
        "length" | "fst" | "snd" => Some(1),
        "build" => Some(2),
        "ifold" | "update" | "accumulate" => Some(3),
        _ => Prim::function(name).map(|prim| prim.row().arity),
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
        let mut names = Names::default();
        let left_pattern = names.pattern(&left_side.tree).map_err(|problem| left_side.moved(problem))?;
        let mut bound = Vec::new();
        left_pattern.each_meta(&mut |name| bound.push(name.to_string()));
        let conditions = conditions_of(conditions).into_iter().map(|text| {
            let condition = names.condition(text.trim()).map_err(|(message, help)| malformed(text, message).help(help))?;
            Ok((condition, place(text.trim())))
        });
        let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
        names.is_left = false;
        let right_pattern = names.pattern(&right_side.tree).map_err(|problem| right_side.moved(problem))?;
        typing::check(&left_side, &right_side, &conditions)?;
        let conditions = conditions.into_iter().map(|(condition, _)| condition).collect();
        let mut on_right: BTreeMap<String, usize> = BTreeMap::new();
        right_pattern.each_meta(&mut |name| *on_right.entry(name.to_string()).or_default() += 1);
        let times = |name: &str| bound.iter().filter(|other| *other == name).count();
        let copied = on_right.iter().map(|(name, count)| (name.clone(), count.saturating_sub(times(name)))).filter(|(_, more)| *more > 0);
        let nodes = right_pattern.nodes();
        Ok(Equation { left: left_pattern, copied: copied.collect(), right: right_pattern, conditions, nodes })
    }
}

/// Conditions are joined by `and`, or by `&&`.
fn conditions_of(text: &str) -> Vec<&str> {
    let joined = text.split("&&").flat_map(|text| text.split(" and "));
    joined.filter(|text| !text.trim().is_empty()).collect()
}

/// The names of a law.
struct Names {
    is_left: bool,
    /// The metavariables of the left side, each with how many variables it is applied to.
    metas: Vec<(String, usize)>,
    /// The variables that are bound where a part stands, the innermost last.
    scope: Vec<(String, Binder)>,
    /// Those that the left side binds anywhere.
    on_left: Vec<(String, Binder)>,
    binders: Binder,
}

impl Default for Names {
    fn default() -> Names {
        Names { is_left: true, metas: Vec::new(), scope: Vec::new(), on_left: Vec::new(), binders: 0 }
    }
}

impl Names {
    /// The condition that a text says, or what is wrong with it and what to do.
    fn condition(&self, text: &str) -> Result<Condition, (String, String)> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let about = |meta: &str, test: Test| match self.metas.iter().any(|(known, _)| known == meta) {
            true => Ok(Condition { test, meta: meta.to_string(), printed: words.join(" ") }),
            false => Err((format!("`{meta}` is no name of the left side that stands for a term"), SHAPE.to_string())),
        };
        let variable = |name: &str| match self.on_left.iter().find(|(known, _)| known == name) {
            Some((_, binder)) => Ok(*binder),
            None => Err((
                format!("`{name}` is no variable that the left side binds"),
                "`let`, `build` and `ifold` bind variables: `let x = a in f x -> f a if count x <= 1 in f`".to_string(),
            )),
        };
        match words.as_slice() {
            [x, "is", "not", "free", "in", meta] => about(meta, Test::NotFree(variable(x)?)),
            ["count", x, rest @ ..] => {
                let shape = || ("a condition on a count is `count x <= 1 in f`".to_string(), SHAPE.to_string());
                let (["in", meta], relation) = rest.split_last_chunk::<2>().map(|(relation, last)| (*last, relation)).ok_or_else(shape)?
                else {
                    return Err(shape());
                };
                let relation = relation.concat();
                let longest = |row: &&(&str, Comparison)| relation.starts_with(row.0);
                let (sign, comparison) = Comparison::ALL.iter().filter(longest).max_by_key(|row| row.0.len()).ok_or_else(shape)?;
                let bound = relation[sign.len()..].parse().map_err(|_| shape())?;
                about(meta, Test::Count(variable(x)?, *comparison, bound))
            }
            [name, rest @ ..] => {
                let Some((_, condition, _)) = CONDITIONS.iter().find(|row| row.0 == *name) else {
                    let known = CONDITIONS.iter().map(|row| row.0);
                    let help = match nearest(name, known.clone()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!(
                            "the conditions are `x is not free in e`, `count x <= 1 in f`, and {}, each of a name of the left side",
                            known.collect::<Vec<_>>().join(", ")
                        ),
                    };
                    return Err((format!("no condition is called `{name}`"), help));
                };
                match rest {
                    [meta] if self.metas.iter().any(|(known, _)| known == meta) => about(meta, Test::Is(*condition)),
                    _ => Err((format!("`{name}` wants a name of the left side"), SHAPE.to_string())),
                }
            }
            [] => Err(("expected a condition".into(), SHAPE.to_string())),
        }
    }

    /// A new variable, bound in what comes next; without a name that a part may use where it is empty.
    fn bind(&mut self, text: &str) -> Name {
        self.binders += 1;
        self.scope.push((text.to_string(), self.binders));
        if self.is_left {
            self.on_left.push((text.to_string(), self.binders));
        }
        Name { binder: self.binders, text: text.to_string() }
    }

    fn bound(&self, name: &str) -> Option<Pattern> {
        self.scope.iter().rev().find(|(known, _)| known == name).map(|(_, binder)| Pattern::Bound(*binder))
    }

    /// A metavariable that is applied to so many terms.
    fn meta(&mut self, name: &str, arity: usize, span: Span) -> Result<(), Diagnostic> {
        match self.metas.iter().find(|(known, _)| known == name) {
            Some((_, known)) if *known == arity => Ok(()),
            Some((_, known)) => {
                Err(unsupported(span, format!("`{name}` is applied to {arity} terms here, and to {known} elsewhere in the law")))
            }
            None if self.is_left => {
                self.metas.push((name.to_string(), arity));
                Ok(())
            }
            None => {
                let message = format!("`{name}` is on the right of the law but not on its left");
                Err(Diagnostic::error("E0118", span, message).help(SHAPE))
            }
        }
    }

    fn patterns(&mut self, trees: &[ast::Expr]) -> Result<Vec<Pattern>, Diagnostic> {
        trees.iter().map(|tree| self.pattern(tree)).collect()
    }

    fn pattern(&mut self, tree: &ast::Expr) -> Result<Pattern, Diagnostic> {
        let unsupported = || unsupported(tree.span, "this form cannot be part of a law");
        Ok(match &tree.kind {
            ExprKind::Var(name) => match self.bound(name) {
                Some(bound) => bound,
                None => {
                    self.meta(name, 0, tree.span)?;
                    Pattern::Meta(name.to_string())
                }
            },
            ExprKind::Int(_, value) => Pattern::Number(*value),
            ExprKind::Double(value) => Pattern::Double(*value),
            ExprKind::Bool(value) => Pattern::Bool(*value),
            ExprKind::Binary(op, a, b) => Pattern::Prim(Prim::from(*op), vec![self.pattern(a)?, self.pattern(b)?]),
            ExprKind::Unary(UnOp::Neg, a) if matches!(a.kind, ExprKind::Double(_)) => {
                let ExprKind::Double(value) = a.kind else { return Err(unsupported()) };
                Pattern::Double(-value)
            }
            ExprKind::Unary(op, a) => Pattern::Prim(if *op == UnOp::Neg { Prim::Neg } else { Prim::Not }, vec![self.pattern(a)?]),
            ExprKind::If(c, a, b) => Pattern::If(Box::new([self.pattern(c)?, self.pattern(a)?, self.pattern(b)?])),
            ExprKind::Index(a, i) => Pattern::Get(Box::new([self.pattern(a)?, self.pattern(i)?])),
            ExprKind::Tuple(parts) => Pattern::Tuple(self.patterns(parts)?),
            ExprKind::Array(parts) => Pattern::Array(self.patterns(parts)?),
            ExprKind::Let(name, value, body) => {
                let value = self.pattern(value)?;
                let outside = self.scope.len();
                let name = self.binder(name)?;
                let body = self.pattern(body)?;
                self.scope.truncate(outside);
                Pattern::Let(name, Box::new([value, body]))
            }
            ExprKind::App(function, args) => {
                let ExprKind::Var(name) = &function.kind else { return Err(unsupported()) };
                self.application(name, args, tree.span)?
            }
            ExprKind::Operator(_)
            | ExprKind::Fun(..)
            | ExprKind::LetFun(..)
            | ExprKind::Slice(..)
            | ExprKind::Field(..)
            | ExprKind::Record(..)
            | ExprKind::Match(..)
            | ExprKind::Deriv(..) => return Err(unsupported()),
        })
    }

    fn application(&mut self, name: &str, args: &[ast::Expr], span: Span) -> Result<Pattern, Diagnostic> {
        match (name, args) {
            ("length", [array]) => Ok(Pattern::Length(Box::new(self.pattern(array)?))),
            ("fst" | "snd", [pair]) => Ok(Pattern::Proj(Box::new(self.pattern(pair)?), usize::from(name == "snd"))),
            ("update" | "accumulate", [array, index, value]) => {
                let change = if name == "update" { Change::Replace } else { Change::Add };
                Ok(Pattern::Update(change, Box::new([self.pattern(array)?, self.pattern(index)?, self.pattern(value)?])))
            }
            ("build", [n, body]) => {
                let n = self.pattern(n)?;
                let ([i], body) = self.function(body)?;
                Ok(Pattern::Build(i, Box::new([n, body])))
            }
            ("ifold", [step, init, n]) => {
                let (init, n) = (self.pattern(init)?, self.pattern(n)?);
                let (names, step) = self.function(step)?;
                Ok(Pattern::Fold(names, Box::new([init, n, step])))
            }
            _ => match (arity(name), Prim::function(name)) {
                (Some(arity), Some(prim)) if arity == args.len() => Ok(Pattern::Prim(prim, self.patterns(args)?)),
                (Some(arity), _) => {
                    let (arguments, found) = (if arity == 1 { "argument" } else { "arguments" }, args.len());
                    Err(unsupported(span, format!("`{name}` takes {arity} {arguments}, found {found}")))
                }
                (None, _) => self.applied(name, args, span),
            },
        }
    }

    /// A metavariable that is applied: on the left to different variables that are bound there.
    fn applied(&mut self, name: &str, args: &[ast::Expr], span: Span) -> Result<Pattern, Diagnostic> {
        let outside = || unsupported(span, format!("`{name}` cannot be part of a law"));
        if !self.is_left && !self.metas.iter().any(|(known, _)| known == name) {
            return Err(outside());
        }
        let mut patterns: Vec<Pattern> = Vec::new();
        for arg in args {
            if !self.is_left {
                patterns.push(self.pattern(arg)?);
                continue;
            }
            let ExprKind::Var(x) = &arg.kind else { return Err(outside()) };
            let bound = self.bound(x).ok_or_else(outside)?;
            if patterns.iter().any(|other| is_same_variable(other, &bound)) {
                return Err(unsupported(span, format!("on the left `{name}` is applied to different variables")));
            }
            patterns.push(bound);
        }
        self.meta(name, args.len(), span)?;
        Ok(Pattern::Applied(name.to_string(), patterns))
    }

    /// The function of a loop, `fun i -> e` or a metavariable: its variables, and its body.
    fn function<const N: usize>(&mut self, tree: &ast::Expr) -> Result<([Name; N], Pattern), Diagnostic> {
        let outside = self.scope.len();
        let (names, body) = if let ExprKind::Fun(params, body) = &tree.kind
            && params.len() == N
        {
            let names = params.iter().map(|param| self.binder(param)).collect::<Result<Vec<_>, _>>()?;
            (names, self.pattern(body)?)
        } else if let ExprKind::Var(name) = &tree.kind
            && self.bound(name).is_none()
        {
            self.meta(name, N, tree.span)?;
            // no part of the law can use them
            let names: Vec<Name> = (0..N).map(|_| self.bind("")).collect();
            let args = names.iter().map(|name| Pattern::Bound(name.binder)).collect();
            (names, Pattern::Applied(name.to_string(), args))
        } else {
            return Err(unsupported(tree.span, format!("expected a name or a function of {N} variables")));
        };
        self.scope.truncate(outside);
        let names = <[Name; N]>::try_from(names).map_err(|_| unsupported(tree.span, "this form cannot be part of a law"))?;
        Ok((names, body))
    }

    fn binder(&mut self, pattern: &ast::Pattern) -> Result<Name, Diagnostic> {
        match &pattern.kind {
            PatternKind::Var(name) => Ok(self.bind(name)),
            PatternKind::Wildcard => Ok(self.bind("")),
            PatternKind::Tuple(_)
            | PatternKind::Record(_)
            | PatternKind::Typed(..)
            | PatternKind::Case(..)
            | PatternKind::Int(_)
            | PatternKind::Bool(_) => Err(unsupported(pattern.span, "a law binds one name at a time, without a type")),
        }
    }
}

fn is_same_variable(a: &Pattern, b: &Pattern) -> bool {
    matches!((a, b), (Pattern::Bound(a), Pattern::Bound(b)) if a == b)
}
