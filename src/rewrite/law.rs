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

use crate::diagnostic::Diagnostic;
use crate::ir::prim::Kind;
use crate::ir::subst::freshen;
use crate::ir::{Expr, Prim, Term, Type};
use crate::source::Span;

use super::alike::same;
use super::facts::Facts;
use super::rule::Form;
use super::rules::lambda::is_free;
use parse::{offset, split};

#[cfg(test)]
mod instances;
mod parse;
mod typing;

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
    fn name(self) -> &'static str {
        CONDITIONS.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }

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

/// What the metavariables stand for.
type Binding<'a> = Vec<(&'a str, Expr)>;

impl Law {
    /// Reads a law that stands at this place of a file.
    pub fn parse(text: &str, file: u32, at: usize) -> Result<Law, Diagnostic> {
        let place = |part: &str| at + offset(text, part);
        let equations =
            split(text, ";").into_iter().map(|equation| Equation::parse(equation, file, place(equation))).collect::<Result<Vec<_>, _>>()?;
        Ok(Law { equations })
    }

    /// A law of the tables, whose texts a test parses: text that is no law has no equations.
    pub fn builtin(text: &str) -> Law {
        Law::parse(text, Span::NONE.file, 0).unwrap_or(Law { equations: Vec::new() })
    }

    /// Whether a left side may match a term of this [form](Form).
    pub fn looks_at(&self, expr: &Expr) -> bool {
        self.equations.iter().any(|equation| equation.left.may_match(expr))
    }

    /// The side conditions of all equations, in order.
    pub fn conditions(&self) -> impl Iterator<Item = String> {
        let all = self.equations.iter().flat_map(|equation| &equation.conditions);
        all.map(|(.., printed)| printed.clone())
    }

    /// For each left side with the term's outermost form that does not match, records where the two first differ.
    pub fn says_what_differs(&self, expr: &Expr, facts: &Facts) {
        for equation in &self.equations {
            let begins_alike = matches!((&equation.left, expr.term()), (Pattern::Prim(wanted, _), Term::Prim(prim, _)) if wanted == prim)
                || matches!((&equation.left, expr.term()), (Pattern::If(_), Term::If(..)) | (Pattern::Get(_), Term::Get(..)));
            if begins_alike && let Some((wanted, found)) = equation.left.differs(expr, &mut Vec::new()) {
                facts.refuse(|| (wanted, Some(found)));
            }
        }
    }

    /// The right side for a term that one of the left sides matches.
    pub fn apply(&self, expr: &Expr, facts: &Facts) -> Option<Expr> {
        self.equations.iter().find_map(|equation| equation.apply(expr, facts))
    }
}

impl Equation {
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
    /// What the pattern is made of, in the order of a term's children.
    fn parts(&self) -> &[Pattern] {
        match self {
            Pattern::Meta(_) | Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) => &[],
            Pattern::Prim(_, parts) | Pattern::Tuple(parts) => parts,
            Pattern::If(parts) => &parts[..],
            Pattern::Get(parts) => &parts[..],
            Pattern::Length(array) => std::slice::from_ref(array),
        }
    }

    /// Nodes beside those that metavariables stand for.
    fn nodes(&self) -> usize {
        usize::from(!matches!(self, Pattern::Meta(_))) + self.parts().iter().map(Pattern::nodes).sum::<usize>()
    }

    fn each_meta(&self, f: &mut dyn FnMut(&str)) {
        if let Pattern::Meta(name) = self {
            f(name);
        }
        self.parts().iter().for_each(|part| part.each_meta(f));
    }

    /// Whether the outermost form is that of the term, whatever number a literal is.
    fn has_form_of(&self, expr: &Expr) -> bool {
        match (self, expr.term()) {
            (Pattern::Meta(_), _) => true,
            // a written -0.0
            (Pattern::Number(_) | Pattern::Double(_), Term::Double(_) | Term::Prim(Prim::Neg, _)) => true,
            (Pattern::Number(_), Term::Index(_)) | (Pattern::Bool(_), Term::Bool(_)) => true,
            (Pattern::Prim(wanted, parts), Term::Prim(prim, args)) => wanted == prim && parts.len() == args.len(),
            (Pattern::If(_), Term::If(..)) | (Pattern::Get(_), Term::Get(..)) | (Pattern::Length(_), Term::Dim(_, 0)) => true,
            (Pattern::Tuple(parts), Term::Tuple(terms)) => parts.len() == terms.len(),
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

    /// Whether it may match a term of this [form](Form).
    fn may_match(&self, expr: &Expr) -> bool {
        let mut known = self.parts().iter().zip(expr.term().children()).take(Form::CHILDREN);
        self.has_form_of(expr) && known.all(|(part, child)| part.has_form_of(child))
    }

    /// Whether it matches but for repeated metavariables: what most laws fail by, and the cheaper question.
    fn has_shape_of(&self, expr: &Expr) -> bool {
        let is_literal = match (self, expr.term()) {
            (Pattern::Number(value) | Pattern::Double(value), Term::Double(x)) => x.to_bits() == value.to_bits(),
            (Pattern::Number(value) | Pattern::Double(value), Term::Prim(Prim::Neg, args)) => {
                matches!(args.as_slice(), [x] if matches!(x.term(), Term::Double(x) if (-x).to_bits() == value.to_bits()))
            }
            (Pattern::Number(value), Term::Index(i)) => *i as f64 == *value,
            (Pattern::Bool(value), Term::Bool(b)) => value == b,
            _ => true,
        };
        let mut parts = self.parts().iter().zip(expr.term().children());
        is_literal && self.has_form_of(expr) && parts.all(|(part, child)| part.has_shape_of(child))
    }

    /// The first place where the term is none of these: what the law has there, and what the term has.
    fn differs<'a>(&'a self, expr: &Expr, binding: &mut Binding<'a>) -> Option<(String, Expr)> {
        if let Pattern::Meta(name) = self {
            let is_another = !self.binds(expr, binding);
            return is_another.then(|| (format!("elsewhere `{name}` of the law is another term than here"), expr.clone()));
        }
        if !self.has_form_of(expr) || (self.parts().is_empty() && !self.has_shape_of(expr)) {
            return Some((format!("the law has {} where this stands", self.form()), expr.clone()));
        }
        self.parts().iter().zip(expr.term().children()).find_map(|(part, child)| part.differs(child, binding))
    }

    /// The outermost form in words.
    fn form(&self) -> String {
        match self {
            Pattern::Meta(name) => format!("`{name}`"),
            Pattern::Number(value) => format!("`{value}`"),
            Pattern::Double(value) => format!("`{value:?}`"),
            Pattern::Bool(value) => format!("`{value}`"),
            Pattern::Prim(prim, _) => format!("`{}`", prim.row().name),
            Pattern::If(_) => "`if`".into(),
            Pattern::Get(_) => "an element".into(),
            Pattern::Length(_) => "`length`".into(),
            Pattern::Tuple(_) => "a tuple".into(),
        }
    }

    /// Binds the metavariables of a pattern that [has the shape](Pattern::has_shape_of) of the term; `false` where a repeated one
    /// would have two values.
    fn binds<'a>(&'a self, expr: &Expr, binding: &mut Binding<'a>) -> bool {
        if let Pattern::Meta(name) = self {
            return match binding.iter().find(|(other, _)| other == name) {
                Some((_, term)) => same(term, expr),
                None => {
                    binding.push((name, expr.clone()));
                    true
                }
            };
        }
        self.parts().iter().zip(expr.term().children()).all(|(part, child)| part.binds(child, binding))
    }

    /// The type of what is built; `None` where only its place says it, as of an integer literal.
    fn ty(&self, binding: &Binding) -> Option<Type> {
        match self {
            Pattern::Meta(name) => binding.iter().find(|(other, _)| other == name).map(|(_, term)| term.ty().clone()),
            Pattern::Number(_) | Pattern::Tuple(_) => None,
            Pattern::Double(_) => Some(Type::Double),
            Pattern::Bool(_) => Some(Type::Bool),
            Pattern::Length(_) => Some(Type::INDEX),
            Pattern::Prim(prim, patterns) => match prim.row().kind {
                Kind::Number => patterns.iter().find_map(|pattern| pattern.ty(binding)),
                Kind::Double | Kind::IndexToDouble | Kind::IndexDoubleToDouble => Some(Type::Double),
                Kind::Index | Kind::DoubleToIndex => Some(Type::INDEX),
                Kind::Order | Kind::Equality | Kind::Bool => Some(Type::Bool),
            },
            Pattern::If(patterns) => patterns[1..].iter().find_map(|pattern| pattern.ty(binding)),
            Pattern::Get(patterns) => patterns[0].ty(binding)?.element().cloned(),
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
                let operand = match prim.row().kind {
                    Kind::Double | Kind::DoubleToIndex | Kind::IndexDoubleToDouble => Type::Double,
                    Kind::Index | Kind::IndexToDouble => Type::INDEX,
                    Kind::Bool => Type::Bool,
                    Kind::Number => patterns.iter().find_map(|pattern| pattern.ty(binding)).unwrap_or_else(|| ty.clone()),
                    Kind::Order | Kind::Equality => patterns.iter().find_map(|pattern| pattern.ty(binding)).unwrap_or(Type::Double),
                };
                let args = patterns.iter().map(|pattern| pattern.build(binding, &operand, used)).collect::<Option<Vec<_>>>()?;
                prim.result(args.iter().map(Expr::ty))?;
                Expr::prim(*prim, args)
            }
            Pattern::If(patterns) => {
                let [c, a, b] = &**patterns;
                let c = c.build(binding, &Type::Bool, used)?;
                let (a, b) = (a.build(binding, ty, used)?, b.build(binding, ty, used)?);
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
