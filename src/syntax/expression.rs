//! Expressions: pairs of the grammar to trees.
//!
//! In: a `block` or `expr` pair. Out: its [`Expr`]. `let` after `let` is read in a loop and folded from the
//! end, operators go through `operators`, so only true nesting recurses.
//! Example: `let x = 1 in f x[0]` gives `Let(x, 1, App(f, [Index(x, 0)]))`.

use std::collections::VecDeque;

use pest::iterators::Pair;

use super::ast::{Expr, ExprKind, LocalFun, Name, Pattern, PatternKind, Recursion, Row as MatchRow, TypeExpr, UnOp};
use super::errors;
use super::grammar::Rule;
use super::operators::{self, Row};
use super::parse::{Builder, Built};
use super::tokens::shortened;
use crate::budget;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// What a `let` binds, until its body is known.
enum Binding {
    Value(Pattern, Expr),
    /// Several of a `let rec`.
    Functions(Vec<LocalFun>),
}

/// A `let` without its body: the first pattern is the name of a function where others follow.
struct Bound {
    first: Pattern,
    params: Vec<Pattern>,
    result: Option<TypeExpr>,
    value: Expr,
    decreases: Option<Name>,
}

impl Bound {
    fn binding(self) -> Built<Binding> {
        if !self.params.is_empty() {
            return Ok(Binding::Functions(vec![self.function(None)?]));
        }
        let Bound { first, result, value, .. } = self;
        let pattern = match result {
            Some(result) => Pattern { span: first.span.to(result.span), kind: PatternKind::Typed(Box::new(first), result) },
            None => first,
        };
        Ok(Binding::Value(pattern, value))
    }

    fn function(self, recursion: Option<Recursion>) -> Built<LocalFun> {
        let Bound { first, params, result, value, .. } = self;
        match first.kind {
            PatternKind::Var(text) => Ok(LocalFun { name: Name { text, span: first.span }, params, result, value, recursion }),
            PatternKind::Wildcard
            | PatternKind::Tuple(_)
            | PatternKind::Record(_)
            | PatternKind::Typed(..)
            | PatternKind::Case(..)
            | PatternKind::Int(_)
            | PatternKind::Bool(_) => Err(Diagnostic::error("E0101", first.span, "expected the name of a function, found a pattern")
                .help("write `let f x y = …`, or `let (a, b) = …` for a tuple")),
        }
    }
}

impl<'a> Builder<'a> {
    /// `{ let … in … e }`, or `{ e, e }`.
    pub fn block(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let mut bindings = Vec::new();
        let mut elements = Vec::new();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::binding {
                bindings.push((self.span(&part), self.binding(part)?));
            } else if part.as_rule() == Rule::expr {
                elements.push(self.expr(part)?);
            }
        }
        let mut body = self.one_or_tuple(elements)?;
        for (start, binding) in bindings.into_iter().rev() {
            let span = start.to(body.span);
            let rest = Box::new(body);
            let kind = match binding {
                Binding::Value(pattern, value) => ExprKind::Let(pattern, Box::new(value), rest),
                Binding::Functions(functions) => ExprKind::LetFun(functions, rest),
            };
            body = Expr { kind, span };
        }
        Ok(body)
    }

    fn one_or_tuple(self, mut elements: Vec<Expr>) -> Built<Expr> {
        let Some(last) = elements.pop() else {
            return Err(self.internal(self.layout.end()));
        };
        let Some(first) = elements.first() else {
            return Ok(last);
        };
        let span = first.span.to(last.span);
        elements.push(last);
        Ok(Expr { kind: ExprKind::Tuple(elements), span })
    }

    /// The n of `decreases n`, of a function that calls itself.
    pub fn measure(self, part: Pair<'a, Rule>) -> Option<Name> {
        part.into_inner().find(|part| part.as_rule() == Rule::name).map(|part| self.name(&part))
    }

    fn binding(self, pair: Pair<'a, Rule>) -> Built<Binding> {
        let whole = self.span(&pair);
        let mut functions = Vec::new();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::value {
                return self.bound(part)?.binding();
            }
            if part.as_rule() == Rule::function_value {
                let continues = !functions.is_empty();
                let place = if continues { self.span(&part) } else { whole };
                let bound = self.bound(part)?;
                errors::written_types(&bound.params, bound.result.as_ref(), place)?;
                bound.decreases.iter().try_for_each(|measure| errors::measure(measure, &bound.params))?;
                let recursion = Recursion { continues, decreases: bound.decreases.clone() };
                functions.push(bound.function(Some(recursion))?);
            }
        }
        Ok(Binding::Functions(functions))
    }

    /// What stands between a `let` or an `and` and the end of the value.
    fn bound(self, pair: Pair<'a, Rule>) -> Built<Bound> {
        let (mut patterns, mut result, mut value, mut decreases) = (VecDeque::new(), None, None, None);
        for part in pair.into_inner() {
            if part.as_rule() == Rule::decreases {
                decreases = self.measure(part);
            } else if part.as_rule() == Rule::parameter {
                patterns.push_back(self.parameter(part)?);
            } else if part.as_rule() == Rule::annotation {
                result = Some(self.annotation(part)?);
            } else if part.as_rule() == Rule::block {
                value = Some(self.block(part)?);
            }
        }
        match (patterns.pop_front(), value) {
            (Some(first), Some(value)) => Ok(Bound { first, params: patterns.into(), result, value, decreases }),
            (_, _) => Err(self.internal(self.layout.end())),
        }
    }

    /// Operands and operators in a row.
    pub fn expr(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let whole = self.span(&pair);
        let mut row = Row::default();
        for part in pair.into_inner() {
            let span = self.span(&part);
            if part.as_rule() == Rule::infix {
                let op = operators::infix(part.as_str()).ok_or_else(|| self.internal(span))?;
                row.infix(op, span)?;
            } else if part.as_rule() == Rule::pipe {
                row.pipe()?;
            } else if part.as_rule() == Rule::plus {
                // `+x` is x
            } else if part.as_rule() == Rule::minus {
                row.prefix(UnOp::Neg, span);
            } else if part.as_rule() == Rule::kw_not {
                row.prefix(UnOp::Not, span);
            } else {
                row.operand(self.operand(part)?);
            }
        }
        row.finish()?.ok_or_else(|| self.internal(whole))
    }

    fn operand(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let rule = pair.as_rule();
        if rule == Rule::function {
            self.function(pair)
        } else if rule == Rule::condition {
            self.condition(pair)
        } else if rule == Rule::matching {
            self.matching(pair)
        } else if rule == Rule::block {
            self.block(pair)
        } else if rule == Rule::deriv {
            self.deriv(pair)
        } else if rule == Rule::bare_not {
            self.argument(pair)
        } else {
            self.application(pair)
        }
    }

    fn function(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        let (mut params, mut body) = (Vec::new(), None);
        for part in pair.into_inner() {
            if part.as_rule() == Rule::parameter {
                params.push(self.parameter(part)?);
            } else if part.as_rule() == Rule::block {
                body = Some(self.block(part)?);
            }
        }
        let body = body.ok_or_else(|| self.internal(span))?;
        Ok(Expr { kind: ExprKind::Fun(params, Box::new(body)), span })
    }

    /// `if c then a elif d then b else e`: conditions and branches take turns, the last branch is alone.
    fn condition(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let whole = self.span(&pair);
        let (mut tests, mut branches) = (Vec::new(), Vec::new());
        let mut start = whole;
        for part in pair.into_inner() {
            let rule = part.as_rule();
            if rule == Rule::kw_if || rule == Rule::kw_elif {
                start = self.span(&part);
            } else if rule == Rule::expr {
                tests.push((start, self.expr(part)?));
            } else if rule == Rule::block {
                branches.push(self.block(part)?);
            }
        }
        let mut result = branches.pop().ok_or_else(|| self.internal(whole))?;
        for ((start, test), branch) in tests.into_iter().zip(branches).rev() {
            let span = start.to(result.span);
            result = Expr { kind: ExprKind::If(Box::new(test), Box::new(branch), Box::new(result)), span };
        }
        Ok(result)
    }

    /// `match e with | p -> a | q -> b`.
    fn matching(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        let (mut scrutinee, mut rows) = (Vec::new(), Vec::new());
        for part in pair.into_inner() {
            if part.as_rule() == Rule::expr {
                scrutinee.push(self.expr(part)?);
            } else if part.as_rule() == Rule::row {
                let (mut patterns, mut body) = (Vec::new(), None);
                let before = self.layout.rows.get();
                for part in part.into_inner() {
                    if part.as_rule() == Rule::row_pattern {
                        patterns.push(self.row_pattern(part)?);
                    } else if part.as_rule() == Rule::block {
                        body = Some(self.block(part)?);
                    }
                }
                let body = body.ok_or_else(|| self.internal(span))?;
                let inside = self.layout.rows.get() - before + 1;
                self.layout.rows.set(before.saturating_add(inside.saturating_mul(patterns.len())));
                if self.layout.rows.get() > budget::ROWS {
                    let message = format!("more than {} rows, each counted for each of its patterns", budget::ROWS);
                    return Err(Diagnostic::error("E0109", span, message).help("give what several patterns share a declaration of its own"));
                }
                rows.extend(patterns.into_iter().map(|pattern| MatchRow { pattern, body: body.clone() }));
            }
        }
        Ok(Expr { kind: ExprKind::Match(Box::new(self.one_or_tuple(scrutinee)?), rows), span })
    }

    fn row_pattern(self, pair: Pair<'a, Rule>) -> Built<Pattern> {
        let span = self.span(&pair);
        let parts = pair.into_inner().filter(|part| part.as_rule() == Rule::pattern);
        let mut elements = parts.map(|part| Ok(with_cases(self.pattern(part)?))).collect::<Built<Vec<Pattern>>>()?;
        match (elements.pop(), elements.is_empty()) {
            (Some(only), true) => Ok(only),
            (last, _) => {
                elements.extend(last);
                Ok(Pattern { kind: PatternKind::Tuple(elements), span })
            }
        }
    }

    fn deriv(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        let mut arguments = Vec::new();
        for part in pair.into_inner().filter(|part| part.as_rule() != Rule::kw_deriv) {
            arguments.push(self.argument(part)?);
        }
        let count = arguments.len();
        let help = "write `deriv e x`: an expression, in parentheses unless it is a name, and a variable";
        match (arguments.pop(), arguments.pop()) {
            (Some(variable), Some(e)) if count == 2 => {
                if let ExprKind::Var(text) = variable.kind {
                    let variable = Name { text, span: variable.span };
                    Ok(Expr { kind: ExprKind::Deriv(Box::new(e), variable), span })
                } else {
                    Err(Diagnostic::error("E0112", variable.span, "expected a variable after the expression of `deriv`").help(help))
                }
            }
            _ => {
                let message = format!("expected two arguments of `deriv`, found {count}");
                Err(Diagnostic::error("E0112", span, message).help(help))
            }
        }
    }

    fn application(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let head = self.next(&mut parts)?;
        let called = head.clone().into_inner().last().is_some_and(|last| last.as_rule() == Rule::call);
        let head = self.argument(head)?;
        let mut arguments = Vec::new();
        for part in parts {
            arguments.push(self.argument(part)?);
        }
        if arguments.is_empty() {
            return Ok(head);
        }
        // `f(x) y` is `f x y`: all arguments at once.
        let (function, arguments) = match head.kind {
            ExprKind::App(function, mut before) if called => {
                before.append(&mut arguments);
                (function, before)
            }
            kind => (Box::new(Expr { kind, span: head.span }), arguments),
        };
        Ok(Expr { kind: ExprKind::App(function, arguments), span })
    }

    /// `-x` or `not` as an argument, or an atom with its indices.
    fn argument(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        if pair.as_rule() == Rule::bare_not {
            return Ok(Expr { kind: negation(span), span });
        }
        let negative = pair.as_rule() == Rule::negative;
        let mut parts = pair.into_inner();
        let first = self.next(&mut parts)?;
        if negative {
            let operand = self.next(&mut parts)?;
            let operand = Box::new(self.argument(operand)?);
            return Ok(Expr { kind: ExprKind::Unary(UnOp::Neg, operand), span });
        }
        let mut tree = self.atom(first)?;
        for part in parts {
            let span = tree.span.to(self.span(&part));
            let indexes = part.as_rule() == Rule::index;
            let kind = if indexes {
                self.index(tree, part)?
            } else if part.as_rule() == Rule::field {
                let mut inner = part.into_inner();
                let name = self.next(&mut inner)?;
                ExprKind::Field(Box::new(tree), self.name(&name))
            } else {
                let mut inner = part.into_inner();
                let inner = self.next(&mut inner)?;
                ExprKind::App(Box::new(tree), vec![self.atom(inner)?])
            };
            tree = Expr { kind, span };
        }
        Ok(tree)
    }

    /// `v[i]`, `v[a..b]`, `v[a..]`, `v[..b]`.
    fn index(self, array: Expr, pair: Pair<'a, Rule>) -> Built<ExprKind> {
        let place = self.span(&pair);
        let (mut low, mut high, mut slice) = (None, None, false);
        for part in pair.into_inner() {
            if part.as_rule() == Rule::dots {
                slice = true;
            } else if part.as_rule() == Rule::expr {
                let end = Some(Box::new(self.expr(part)?));
                *(if slice { &mut high } else { &mut low }) = end;
            }
        }
        match low {
            Some(index) if !slice => Ok(ExprKind::Index(Box::new(array), index)),
            None if !slice => Err(self.internal(place)),
            low => Ok(ExprKind::Slice(Box::new(array), low, high)),
        }
    }

    fn atom(self, pair: Pair<'a, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        let rule = pair.as_rule();
        let kind = if rule == Rule::name {
            ExprKind::Var(pair.as_str().into())
        } else if rule == Rule::number {
            number(pair.as_str(), span)?
        } else if rule == Rule::boolean {
            ExprKind::Bool(pair.as_str() == "true")
        } else if rule == Rule::round {
            self.round(pair, span)?
        } else if rule == Rule::record {
            self.record(pair)?
        } else {
            ExprKind::Array(self.elements(pair)?)
        };
        Ok(Expr { kind, span })
    }

    /// `{ focal = 1.0; centre = c }` and `{ c with focal = 1.0 }`.
    fn record(self, pair: Pair<'a, Rule>) -> Built<ExprKind> {
        let (mut base, mut fields) = (None, Vec::new());
        for part in pair.into_inner() {
            if part.as_rule() == Rule::expr {
                base = Some(Box::new(self.expr(part)?));
            } else if part.as_rule() == Rule::field_value {
                let mut parts = part.into_inner();
                let name = self.next(&mut parts)?;
                self.next(&mut parts)?;
                let value = self.next(&mut parts)?;
                fields.push((self.name(&name), self.expr(value)?));
            }
        }
        Ok(ExprKind::Record(base, fields))
    }

    /// `[a, b]` and `[a; b]` have two elements; beside a `;`, commas make tuples: `[a, b; c, d]`.
    fn elements(self, pair: Pair<'a, Rule>) -> Built<Vec<Expr>> {
        let (mut elements, mut separated) = (Vec::new(), false);
        for part in pair.into_inner() {
            separated |= part.as_rule() == Rule::semicolon;
            if part.as_rule() == Rule::element {
                let parts = part.into_inner().filter(|part| part.as_rule() == Rule::expr);
                elements.push(parts.map(|part| self.expr(part)).collect::<Built<Vec<Expr>>>()?);
            }
        }
        if separated {
            elements.into_iter().map(|parts| self.one_or_tuple(parts)).collect()
        } else {
            Ok(elements.into_iter().flatten().collect())
        }
    }

    /// `(e)`, `(a, b)`, `(+)`. The span keeps the parentheses, so that what is built around it covers them.
    fn round(self, pair: Pair<'a, Rule>, span: Span) -> Built<ExprKind> {
        let mut elements: Vec<Expr> = Vec::new();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::section {
                return match operators::infix(part.as_str().trim()) {
                    Some(op) => Ok(ExprKind::Operator(op)),
                    None => Ok(negation(span)),
                };
            } else if part.as_rule() == Rule::expr {
                elements.push(self.expr(part)?);
            }
        }
        if elements.is_empty() {
            return Ok(ExprKind::Tuple(elements));
        }
        Ok(self.one_or_tuple(elements)?.kind)
    }
}

/// In the rows of a `match` a name with a capital is a case.
fn with_cases(pattern: Pattern) -> Pattern {
    let span = pattern.span;
    let kind = match pattern.kind {
        PatternKind::Var(text) if text.starts_with(|c: char| c.is_ascii_uppercase()) => PatternKind::Case(Name { text, span }, None),
        PatternKind::Case(name, data) => PatternKind::Case(name, data.map(|data| Box::new(with_cases(*data)))),
        PatternKind::Tuple(parts) => PatternKind::Tuple(parts.into_iter().map(with_cases).collect()),
        PatternKind::Record(fields) => PatternKind::Record(fields.into_iter().map(|(name, part)| (name, with_cases(part))).collect()),
        PatternKind::Typed(inner, annotation) => PatternKind::Typed(Box::new(with_cases(*inner)), annotation),
        kind @ (PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Int(_) | PatternKind::Bool(_)) => kind,
    };
    Pattern { kind, span }
}

/// `not` as a function: `fun x -> not x`.
fn negation(span: Span) -> ExprKind {
    let x = Expr { kind: ExprKind::Var("x".into()), span };
    let body = Expr { kind: ExprKind::Unary(UnOp::Not, Box::new(x)), span };
    ExprKind::Fun(vec![Pattern { kind: PatternKind::Var("x".into()), span }], Box::new(body))
}

/// `2` may become an Index or a Double, `2.` and `2e0` are Doubles.
fn number(text: &str, span: Span) -> Built<ExprKind> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => {
            Ok(if text.contains(['.', 'e', 'E']) { ExprKind::Double(value) } else { ExprKind::Int(text.parse().ok(), value) })
        }
        Ok(_) | Err(_) => {
            let message = format!("`{}` does not fit a Double", shortened(text));
            Err(Diagnostic::error("E0106", span, message).help("the largest Double is about 1.8e308"))
        }
    }
}
