//! Laws as data: an equation in the source language's own syntax, read by our own grammar, matched against
//! core terms.
//!
//! In: text such as `e * 1 -> e; 1 * e -> e` or `a ** 2 -> a * a if atomic a`. Out: a [`Law`] that rewrites.
//! Names on the left are metavariables: each stands for any term, a repeated one for equal terms. A literal
//! matches the number in either number type. On the right a literal has the type that its place needs, and a
//! metavariable used again is copied.
//!
//! Limits: operators, primitive functions, `if`, `a[i]`, `length a`, tuples and literals; laws that bind
//! variables are functions in `rules/`.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, nearest};
use crate::ir::subst::freshen;
use crate::ir::{Expr, Prim, Term, Type};
use crate::source::Span;
use crate::syntax::ast::{self, BinOp, ExprKind, UnOp};
use crate::syntax::parse_expr;

use super::alike::same;
use super::facts::Facts;
use super::rules::lambda::is_free;

#[cfg(test)]
mod instances;

/// One or more equations, tried in order.
#[derive(Clone, Debug)]
pub struct Law {
    equations: Vec<Equation>,
}

#[derive(Clone, Debug)]
struct Equation {
    left: Pattern,
    right: Pattern,
    /// Each with the metavariable that it is about, and as it is printed.
    conditions: Vec<(Condition, String, String)>,
    /// Names that the right side uses more often, with how much more often.
    copied: Vec<(String, usize)>,
    /// The nodes that the right side itself has.
    nodes: usize,
}

/// A side of an equation.
#[derive(Clone, Debug)]
enum Pattern {
    Meta(String),
    /// An integer literal: of either number type.
    Number(f64),
    Double(f64),
    Bool(bool),
    Prim(Prim, Vec<Pattern>),
    If(Box<[Pattern; 3]>),
    Get(Box<[Pattern; 2]>),
    Length(Box<Pattern>),
    Tuple(Vec<Pattern>),
}

/// A named side condition on a metavariable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// A variable, a literal or a component of a variable: copying it costs nothing.
    Atomic,
    /// A literal number.
    Literal,
    /// No literal.
    Compound,
    /// Evaluating it cannot fail.
    Total,
    /// A Double.
    Double,
    /// An Index or a Bool: equality is identity.
    Exact,
    /// A literal that is not zero.
    NonZero,
    /// Not a Double under `--strict-fp`.
    Loose,
}

/// The conditions by name, each with what it asks of a term.
const CONDITIONS: [(&str, Condition, &str); 8] = [
    ("atomic", Condition::Atomic, "is a variable, a literal, or a component of a variable: copying it costs nothing"),
    ("literal", Condition::Literal, "is a literal number"),
    ("compound", Condition::Compound, "is no literal"),
    ("total", Condition::Total, "cannot fail where it stands"),
    ("double", Condition::Double, "is a Double"),
    ("exact", Condition::Exact, "is an Index or a Bool, where equality is identity"),
    ("nonzero", Condition::NonZero, "is a literal that is not zero"),
    ("loose", Condition::Loose, "is no Double under `--strict-fp`"),
];

/// The conditions of laws and what they mean.
pub fn conditions() -> impl Iterator<Item = (&'static str, &'static str)> {
    CONDITIONS.iter().map(|(name, _, meaning)| (*name, *meaning))
}

impl Condition {
    fn holds(self, term: &Expr, facts: &Facts) -> bool {
        match self {
            Condition::Atomic => is_free(term),
            Condition::Literal => matches!(term.term(), Term::Double(_) | Term::Index(_)),
            Condition::Compound => !matches!(term.term(), Term::Double(_) | Term::Index(_) | Term::Bool(_)),
            Condition::Total => facts.is_total(term),
            Condition::Double => term.ty() == &Type::Double,
            Condition::Exact => matches!(term.ty(), Type::Index(_) | Type::Bool),
            Condition::Loose => !facts.strict_fp || term.ty() != &Type::Double,
            Condition::NonZero => matches!(term.term(), Term::Double(x) if *x != 0.0),
        }
    }
}

/// How a law is written.
const SHAPE: &str = "write `left -> right if condition`, for example `a + a -> 2 * a if atomic a`";

/// Where a part of a text begins in it.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// What the metavariables stand for.
type Binding<'a> = Vec<(&'a str, Expr)>;

impl Law {
    /// Reads a law that stands at this place of a file.
    pub fn parse(text: &str, file: u32, at: usize) -> Result<Law, Diagnostic> {
        let place = |part: &str| at + offset(text, part);
        let equations = text.split(';').map(|equation| Equation::parse(equation, file, place(equation))).collect::<Result<Vec<_>, _>>()?;
        Ok(Law { equations })
    }

    /// A law of the tables, whose texts a test parses: text that is no law has no equations.
    pub fn builtin(text: &str) -> Law {
        Law::parse(text, Span::NONE.file, 0).unwrap_or(Law { equations: Vec::new() })
    }

    /// Whether a left side is a metavariable or of this head, and of this primitive if the term is one.
    pub fn looks_at(&self, expr: &Expr) -> bool {
        self.equations.iter().any(|equation| match (&equation.left, expr.term()) {
            (Pattern::Prim(wanted, _), Term::Prim(prim, _)) => wanted == prim,
            (Pattern::Prim(..), _) => false,
            _ => true,
        })
    }

    /// The side conditions of all equations, in order.
    pub fn conditions(&self) -> impl Iterator<Item = String> {
        let all = self.equations.iter().flat_map(|equation| &equation.conditions);
        all.map(|(.., printed)| printed.clone())
    }

    /// The right side for a term that one of the left sides matches.
    pub fn apply(&self, expr: &Expr, facts: &Facts) -> Option<Expr> {
        self.equations.iter().find_map(|equation| equation.apply(expr, facts))
    }
}

impl Equation {
    fn parse(text: &str, file: u32, at: usize) -> Result<Equation, Diagnostic> {
        let place = |part: &str| {
            let start = at + offset(text, part);
            Span::new(file, start, start + part.len())
        };
        let malformed = |part: &str, message: String| Diagnostic::error("E0118", place(part.trim()), message).help(SHAPE);
        let (left, rest) = text.split_once("->").ok_or_else(|| malformed(text, format!("expected `->` in the law `{}`", text.trim())))?;
        let (right, conditions) = match rest.rsplit_once(" if ") {
            Some((right, conditions)) if !conditions.contains(" then ") => (right, conditions),
            _ => (rest, ""),
        };
        let side = |part: &str| {
            let trimmed = part.trim();
            let moved = |span: Span| Span { start: span.start + place(trimmed).start, end: span.end + place(trimmed).start, ..span };
            let error = match parse_expr(trimmed, file) {
                Ok(tree) => match pattern(&tree) {
                    Ok(pattern) => return Ok(pattern),
                    Err(error) => error,
                },
                Err(errors) => errors.into_iter().next().unwrap_or_else(|| malformed(trimmed, "expected an expression".into())),
            };
            Err(Diagnostic { span: moved(error.span), ..error })
        };
        let (left_pattern, right_pattern) = (side(left)?, side(right)?);
        let mut bound = Vec::new();
        left_pattern.each_meta(&mut |name| bound.push(name.to_string()));
        let mut unbound = None;
        right_pattern.each_meta(&mut |name| {
            if !bound.iter().any(|other| other == name) {
                unbound = Some(name.to_string());
            }
        });
        if let Some(name) = unbound {
            return Err(malformed(right, format!("`{name}` is on the right of the law but not on its left")));
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
            let meta = meta.trim().to_string();
            let printed = format!("{name} {meta}");
            Ok((*condition, meta, printed))
        });
        let conditions = conditions.collect::<Result<_, _>>()?;
        let mut on_right: BTreeMap<String, usize> = BTreeMap::new();
        right_pattern.each_meta(&mut |name| *on_right.entry(name.to_string()).or_default() += 1);
        let times = |name: &str| bound.iter().filter(|other| *other == name).count();
        let copied = on_right.iter().map(|(name, count)| (name.clone(), count.saturating_sub(times(name)))).filter(|(_, more)| *more > 0);
        let nodes = right_pattern.nodes();
        Ok(Equation { left: left_pattern, copied: copied.collect(), right: right_pattern, conditions, nodes })
    }

    fn apply(&self, expr: &Expr, facts: &Facts) -> Option<Expr> {
        if !self.left.has_shape_of(expr) {
            return None;
        }
        let mut binding = Vec::new();
        if !self.left.binds(expr, &mut binding) {
            return None;
        }
        for (condition, meta, printed) in &self.conditions {
            let (_, term) = binding.iter().find(|(name, _)| name == meta)?;
            let holds = condition.holds(term, facts);
            // the form of a literal belongs to the left side
            if matches!(condition, Condition::Literal | Condition::Compound) {
                if !facts.grants(printed, holds) {
                    return None;
                }
            } else {
                facts.require(printed, holds, term)?;
            }
        }
        let mut used = Vec::new();
        let new = self.right.build(&binding, expr.ty(), &mut used)?;
        let size = |name: &str| binding.iter().find(|(other, _)| *other == name).map_or(0, |(_, term)| term.node_count());
        facts.grow(self.nodes + self.copied.iter().map(|(name, times)| size(name) * times).sum::<usize>());
        // a law of the user's own may not be one
        new.ty().same_shape(expr.ty()).then_some(new)
    }
}

impl Pattern {
    /// Nodes beside those that metavariables stand for.
    fn nodes(&self) -> usize {
        let all = |patterns: &[Pattern]| 1 + patterns.iter().map(Pattern::nodes).sum::<usize>();
        match self {
            Pattern::Meta(_) => 0,
            Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) => 1,
            Pattern::Prim(_, items) | Pattern::Tuple(items) => all(items),
            Pattern::If(items) => all(&items[..]),
            Pattern::Get(items) => all(&items[..]),
            Pattern::Length(array) => 1 + array.nodes(),
        }
    }

    fn each_meta(&self, f: &mut dyn FnMut(&str)) {
        match self {
            Pattern::Meta(name) => f(name),
            Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) => {}
            Pattern::Prim(_, items) | Pattern::Tuple(items) => items.iter().for_each(|item| item.each_meta(f)),
            Pattern::If(items) => items.iter().for_each(|item| item.each_meta(f)),
            Pattern::Get(items) => items.iter().for_each(|item| item.each_meta(f)),
            Pattern::Length(array) => array.each_meta(f),
        }
    }

    /// Whether it matches but for repeated metavariables: what most laws fail by, and the cheaper question.
    fn has_shape_of(&self, expr: &Expr) -> bool {
        let all = |patterns: &[Pattern]| patterns.iter().zip(expr.term().children()).all(|(pattern, term)| pattern.has_shape_of(term));
        match (self, expr.term()) {
            (Pattern::Meta(_), _) => true,
            (Pattern::Number(value) | Pattern::Double(value), Term::Double(x)) => x.to_bits() == value.to_bits(),
            // a written -0.0
            (Pattern::Number(value) | Pattern::Double(value), Term::Prim(Prim::Neg, args)) => {
                matches!(args.as_slice(), [x] if matches!(x.term(), Term::Double(x) if (-x).to_bits() == value.to_bits()))
            }
            (Pattern::Number(value), Term::Index(i)) => *i as f64 == *value,
            (Pattern::Bool(value), Term::Bool(b)) => value == b,
            (Pattern::Prim(wanted, patterns), Term::Prim(prim, args)) => wanted == prim && patterns.len() == args.len() && all(patterns),
            (Pattern::If(patterns), Term::If(..)) => all(&patterns[..]),
            (Pattern::Get(patterns), Term::Get(..)) => all(&patterns[..]),
            (Pattern::Length(pattern), Term::Dim(array, 0)) => pattern.has_shape_of(array),
            (Pattern::Tuple(patterns), Term::Tuple(parts)) => patterns.len() == parts.len() && all(patterns),
            (
                Pattern::Number(_)
                | Pattern::Double(_)
                | Pattern::Bool(_)
                | Pattern::Prim(..)
                | Pattern::If(_)
                | Pattern::Get(_)
                | Pattern::Length(_)
                | Pattern::Tuple(_),
                _,
            ) => false,
        }
    }

    /// Binds the metavariables of a pattern that [has the shape](Pattern::has_shape_of) of the term; `false` where one
    /// would stand for two terms.
    fn binds<'a>(&'a self, expr: &Expr, binding: &mut Binding<'a>) -> bool {
        let all = |patterns: &'a [Pattern], binding: &mut Binding<'a>| {
            patterns.iter().zip(expr.term().children()).all(|(pattern, term)| pattern.binds(term, binding))
        };
        match self {
            Pattern::Meta(name) => match binding.iter().find(|(other, _)| other == name) {
                Some((_, term)) => same(term, expr),
                None => {
                    binding.push((name, expr.clone()));
                    true
                }
            },
            Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) => true,
            Pattern::Prim(_, patterns) | Pattern::Tuple(patterns) => all(patterns, binding),
            Pattern::If(patterns) => all(&patterns[..], binding),
            Pattern::Get(patterns) => all(&patterns[..], binding),
            Pattern::Length(array) => all(std::slice::from_ref(array), binding),
        }
    }

    /// The term; `None` where a literal fits neither number type. `used`: metavariables that were put already.
    fn build(&self, binding: &Binding, ty: &Type, used: &mut Vec<String>) -> Option<Expr> {
        Some(match self {
            Pattern::Meta(name) => {
                let (_, term) = binding.iter().find(|(other, _)| other == name)?;
                if used.contains(name) {
                    return Some(freshen(term));
                }
                used.push(name.clone());
                term.clone()
            }
            Pattern::Number(value) => match ty {
                Type::Double => Expr::double(*value),
                Type::Index(_) => Expr::index(*value as i64),
                Type::Bool | Type::Array(..) | Type::Tuple(_) => return None,
            },
            Pattern::Double(value) => Expr::double(*value),
            Pattern::Bool(value) => Expr::bool(*value),
            Pattern::Prim(prim, patterns) => {
                let operand = operand_type(patterns, binding).unwrap_or_else(|| ty.clone());
                let args = patterns.iter().map(|pattern| pattern.build(binding, &operand, used)).collect::<Option<Vec<_>>>()?;
                prim.result(args.iter().map(Expr::ty))?;
                Expr::prim(*prim, args)
            }
            Pattern::If(patterns) => {
                let [c, a, b] = &**patterns;
                let c = c.build(binding, &Type::Bool, used)?;
                let a = a.build(binding, ty, used)?;
                let b = b.build(binding, ty, used)?;
                if c.ty() != &Type::Bool || !a.ty().same_shape(b.ty()) {
                    return None;
                }
                Expr::if_(c, a, b)
            }
            Pattern::Get(patterns) => {
                let [array, index] = &**patterns;
                let array = array.build(binding, ty, used)?;
                let index = index.build(binding, &Type::INDEX, used)?;
                if array.ty().element().is_none() || !matches!(index.ty(), Type::Index(_)) {
                    return None;
                }
                Expr::get(array, index)
            }
            Pattern::Length(array) => {
                let array = array.build(binding, ty, used)?;
                array.ty().element()?;
                Expr::dim(array, 0)
            }
            Pattern::Tuple(patterns) => {
                let Type::Tuple(types) = ty else { return None };
                Expr::tuple(patterns.iter().zip(types.iter()).map(|(pattern, ty)| pattern.build(binding, ty, used)).collect::<Option<_>>()?)
            }
        })
    }
}

/// The type of the first metavariable among the operands: the literals beside it have it too.
fn operand_type(patterns: &[Pattern], binding: &Binding) -> Option<Type> {
    let mut found = None;
    for pattern in patterns {
        pattern.each_meta(&mut |name| {
            if found.is_none() {
                found = binding.iter().find(|(other, _)| *other == name).map(|(_, term)| term.ty().clone());
            }
        });
    }
    found.filter(|ty| matches!(ty, Type::Double | Type::Index(_) | Type::Bool))
}

fn pattern(tree: &ast::Expr) -> Result<Pattern, Diagnostic> {
    let patterns = |trees: &[ast::Expr]| trees.iter().map(pattern).collect::<Result<Vec<_>, _>>();
    let unsupported = || {
        Diagnostic::error("E0119", tree.span, "this form cannot be part of a law")
            .help("laws are made of operators, primitive functions, `if`, `a[i]`, `length a` and literals")
    };
    Ok(match &tree.kind {
        ExprKind::Var(name) => Pattern::Meta(name.to_string()),
        ExprKind::Int(_, value) => Pattern::Number(*value),
        ExprKind::Double(value) => Pattern::Double(*value),
        ExprKind::Bool(value) => Pattern::Bool(*value),
        ExprKind::Binary(op, a, b) => Pattern::Prim(binary(*op), vec![pattern(a)?, pattern(b)?]),
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
                _ => return Err(unsupported()),
            }
        }
        ExprKind::Operator(_) | ExprKind::Fun(..) | ExprKind::Let(..) | ExprKind::LetFun(..) | ExprKind::Array(_) | ExprKind::Deriv(..) => {
            return Err(unsupported());
        }
    })
}

fn binary(op: BinOp) -> Prim {
    match op {
        BinOp::Add => Prim::Add,
        BinOp::Sub => Prim::Sub,
        BinOp::Mul => Prim::Mul,
        BinOp::Div => Prim::Div,
        BinOp::Rem => Prim::Rem,
        BinOp::Pow => Prim::Pow,
        BinOp::Eq => Prim::Eq,
        BinOp::Ne => Prim::Ne,
        BinOp::Lt => Prim::Lt,
        BinOp::Le => Prim::Le,
        BinOp::Gt => Prim::Gt,
        BinOp::Ge => Prim::Ge,
        BinOp::And => Prim::And,
        BinOp::Or => Prim::Or,
    }
}
