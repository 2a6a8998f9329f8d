//! Types and sizes: pairs of the grammar to trees.
//!
//! In: a `type_expr` pair, one shape for types and sizes. Out: a [`TypeExpr`] or, inside `< >`, a
//! [`SizeExpr`]; the names `Vector`, `Matrix` and the dual types are expanded here.
//! Example: `Matrix<n, m> => Double` gives `Fun([Array(Array(Double, m), n)], Double)`.

use pest::iterators::Pair;

use super::ast::{SizeExpr, SizeExprKind, TypeExpr, TypeExprKind};
use super::grammar::Rule;
use super::parse::{Builder, Built};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

pub const TYPES: &str = "types are Double, Index, Index<s>, Bool, Unit, Array<T>, Array<T, s>, Vector<s>, Matrix<s, t>, DoubleD, \
                     VectorD, MatrixD, `A * B`, `A => B` and the types declared above";

impl<'a> Builder<'a> {
    /// `A => B => R`.
    pub fn type_expr(self, pair: Pair<'a, Rule>) -> Built<TypeExpr> {
        let span = self.span(&pair);
        let mut terms = Vec::new();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::type_term {
                terms.push(self.product(part)?);
            } else if matches!(part.as_str(), "+" | "-") {
                let message = format!("expected a type, found `{}`", part.as_str());
                return Err(
                    Diagnostic::error("E0113", self.span(&part), message).help("sizes stand between `<` and `>`, as in `Vector<n + 1>`")
                );
            }
        }
        let result = terms.pop().ok_or_else(|| self.internal(span))?;
        if terms.is_empty() {
            return Ok(result);
        }
        Ok(TypeExpr { kind: TypeExprKind::Fun(terms, Box::new(result)), span })
    }

    /// `A * B`.
    fn product(self, pair: Pair<'a, Rule>) -> Built<TypeExpr> {
        let span = self.span(&pair);
        let mut factors = Vec::new();
        for part in pair.into_inner().filter(|part| part.as_rule() == Rule::type_atom) {
            factors.push(self.type_atom(part)?);
        }
        let last = factors.pop().ok_or_else(|| self.internal(span))?;
        if factors.is_empty() {
            return Ok(last);
        }
        factors.push(last);
        Ok(TypeExpr { kind: TypeExprKind::Tuple(factors), span })
    }

    fn type_atom(self, pair: Pair<'a, Rule>) -> Built<TypeExpr> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let first = self.next(&mut parts)?;
        if first.as_rule() == Rule::type_expr {
            return Ok(TypeExpr { span, ..self.type_expr(first)? });
        }
        if first.as_rule() == Rule::number {
            let message = format!("expected a type, found `{}`", first.as_str());
            return Err(Diagnostic::error("E0113", span, message).help(TYPES));
        }
        let arguments: Vec<Pair<Rule>> = parts.filter(|part| part.as_rule() == Rule::type_expr).collect();
        let count = arguments.len();
        let mut arguments = arguments.into_iter();
        let mut next_size = || arguments.next().map(|argument| self.size(argument)).transpose();
        let array = |element, size| TypeExprKind::Array(Box::new(TypeExpr { kind: element, span }), size);
        let dual = || {
            let double = || TypeExpr { kind: TypeExprKind::Double, span };
            TypeExprKind::Tuple(vec![double(), double()])
        };
        let kind = match (first.as_str(), count) {
            ("Double", 0) => TypeExprKind::Double,
            ("Bool", 0) => TypeExprKind::Bool,
            ("Unit", 0) => TypeExprKind::Tuple(Vec::new()),
            ("_", 0) => TypeExprKind::Any,
            ("Index", 0 | 1) => TypeExprKind::Index(next_size()?),
            ("DoubleD", 0) => dual(),
            ("Vector", 0 | 1) => array(TypeExprKind::Double, next_size()?),
            ("VectorD", 0 | 1) => array(dual(), next_size()?),
            ("Matrix" | "MatrixD", 0 | 2) => {
                let (rows, columns) = (next_size()?, next_size()?);
                let element = if first.as_str() == "Matrix" { TypeExprKind::Double } else { dual() };
                array(array(element, columns), rows)
            }
            ("Array", 1 | 2) => {
                let element = arguments.next().ok_or_else(|| self.internal(span))?;
                let element = self.type_expr(element)?;
                let size = arguments.next().map(|argument| self.size(argument)).transpose()?;
                TypeExprKind::Array(Box::new(element), size)
            }
            (name, _) if is_built_in(name) => return Err(self.wrong_count(name, &first, count)),
            _ => {
                let sizes = arguments.map(|argument| self.size(argument)).collect::<Built<_>>()?;
                TypeExprKind::Named(self.name(&first), sizes)
            }
        };
        Ok(TypeExpr { kind, span })
    }

    fn wrong_count(self, name: &str, pair: &Pair<Rule>, count: usize) -> Diagnostic {
        let form = match name {
            "Double" | "Bool" | "Unit" | "DoubleD" => "no arguments",
            "Index" | "Vector" | "VectorD" => "at most one size",
            "Matrix" | "MatrixD" => "two sizes or none",
            _ => "an element type and at most one size",
        };
        let message = format!("expected {form} for `{name}`, found {count}");
        Diagnostic::error("E0113", self.span(pair), message).help(TYPES)
    }

    /// `n + 2 * m - 1`.
    fn size(self, pair: Pair<'a, Rule>) -> Built<SizeExpr> {
        let whole = self.span(&pair);
        let mut result: Option<SizeExpr> = None;
        let mut minus = false;
        for part in pair.into_inner() {
            if part.as_rule() == Rule::type_term {
                let term = self.size_product(part)?;
                result = Some(match result {
                    Some(left) if minus => combine(SizeExprKind::Sub, left, term),
                    Some(left) => combine(SizeExprKind::Add, left, term),
                    None => term,
                });
            } else if matches!(part.as_str(), "=>" | "->") {
                return Err(not_a_size(self.span(&part), part.as_str()));
            } else {
                minus = part.as_str() == "-";
            }
        }
        result.ok_or_else(|| self.internal(whole))
    }

    fn size_product(self, pair: Pair<'a, Rule>) -> Built<SizeExpr> {
        let whole = self.span(&pair);
        let mut result: Option<SizeExpr> = None;
        for part in pair.into_inner().filter(|part| part.as_rule() == Rule::type_atom) {
            let factor = self.size_atom(part)?;
            result = Some(match result {
                Some(left) => combine(SizeExprKind::Mul, left, factor),
                None => factor,
            });
        }
        result.ok_or_else(|| self.internal(whole))
    }

    fn size_atom(self, pair: Pair<'a, Rule>) -> Built<SizeExpr> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let first = self.next(&mut parts)?;
        if first.as_rule() == Rule::type_expr {
            return Ok(SizeExpr { span, ..self.size(first)? });
        }
        let text = first.as_str();
        if parts.next().is_some() {
            return Err(not_a_size(span, &format!("{text}<…>")));
        }
        let kind = if first.as_rule() == Rule::name {
            SizeExprKind::Name(text.into())
        } else {
            SizeExprKind::Int(text.parse().map_err(|_| not_a_size(span, text))?)
        };
        Ok(SizeExpr { kind, span })
    }
}

/// The names of types that are always there.
pub const BUILT_IN: [&str; 10] = ["Double", "Bool", "Unit", "DoubleD", "Index", "Vector", "VectorD", "Matrix", "MatrixD", "Array"];

/// Whether a name is a type without being declared.
pub fn is_built_in(name: &str) -> bool {
    name == "_" || BUILT_IN.contains(&name)
}

fn combine(kind: fn(Box<SizeExpr>, Box<SizeExpr>) -> SizeExprKind, left: SizeExpr, right: SizeExpr) -> SizeExpr {
    let span = left.span.to(right.span);
    SizeExpr { kind: kind(Box::new(left), Box::new(right)), span }
}

fn not_a_size(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0113", span, format!("expected a size, found `{found}`"))
        .help("sizes are whole numbers, names, and sums, differences and products of them")
}
