//! Terms: from core to Futhark, construct by construct.
//!
//! In: a core term whose variables have places. Out: an expression and its type as Futhark infers it. Values of
//! operands that are lets move in front of the whole, where names are unique; what may not be evaluated (a branch, the
//! right side of `&&`, the body of a loop) keeps its lets.
//!
//!     (let y = x * x in y + 1) * 2   →   let y = x * x in (y + 1) * 2

use super::context::Emitter;
use super::layout::flat;
use super::signature;
use super::syntax::{Binding, Fut, Pattern};
use super::types::Shape;
use crate::ir::ended_early::ended_early;
use crate::ir::{Change, Expr, Prim, Size, Term, Type, Updated};

/// The characters of a value that is written behind `with`.
const SHORT: usize = 40;

impl Emitter<'_> {
    /// A term where any expression fits.
    pub fn exp(&mut self, expr: &Expr) -> (Fut, Shape) {
        match expr.term() {
            Term::Var(var) => match self.place(var) {
                Some(place) => (place.exp(), place.shape()),
                // a well-formed program has none
                None => (Fut::atom(var.name().to_string()), Shape::Double),
            },
            Term::Double(value) => (Fut::atom(double_literal(*value)), Shape::Double),
            Term::Index(value) => (Fut::Int(*value), Shape::Index),
            Term::Bool(value) => (Fut::atom(value.to_string()), Shape::Bool),
            Term::Prim(prim, args) => self.prim(*prim, args),
            Term::Let(var, value, body) => {
                let mut bindings = Vec::new();
                let (value_exp, shape) = self.exp(value);
                let value_exp = typed_literals(value_exp);
                self.bind(var, value_exp, shape, &mut bindings);
                self.define(var, value);
                let (body, shape) = self.exp(body);
                (Fut::let_in(bindings, body), shape)
            }
            Term::If(cond, then, otherwise) => self.branches(expr, cond, then, otherwise),
            Term::Build { n, i, body } => self.build(expr, n, i, body),
            Term::Fold { n, acc, i, body, init } => match self.computed_length(expr) {
                Some(length) => (length, Shape::Index),
                None => match ended_early(expr) {
                    Some(steps) => self.exp(&steps),
                    None => self.fold(n, acc, i, body, init),
                },
            },
            Term::While { state, init, body } => self.open_loop(state, init, body),
            Term::Get(array, index) => {
                let mut bindings = Vec::new();
                let (array, shape) = self.operand(array, &mut bindings);
                let (index, _) = self.operand(index, &mut bindings);
                (Fut::let_in(bindings, array.index(index)), shape.element())
            }
            Term::Dim(array, axis) => self.dimension(expr, array, *axis),
            Term::Tuple(parts) => {
                let mut bindings = Vec::new();
                let (parts, shapes) = parts.iter().map(|part| self.operand(part, &mut bindings)).unzip();
                (Fut::let_in(bindings, Fut::Tuple(parts)), Shape::Tuple(shapes))
            }
            Term::Proj(tuple, at) => {
                if let Some(length) = self.computed_length(expr) {
                    return (length, Shape::Index);
                }
                let mut bindings = Vec::new();
                let (tuple, shape) = self.operand(tuple, &mut bindings);
                (Fut::let_in(bindings, tuple.project(*at)), shape.part(*at))
            }
            Term::Array(items) => self.literal(expr, items),
            Term::Call(name, args) => self.call(expr, name, args),
            Term::Check { cond, status, body } => self.check(cond, *status, body),
            // `ad` leaves none
            Term::Dual { body, .. } | Term::Vjp { body, .. } => self.exp(body),
            // no program that comes here has one: `driver` refuses it
            Term::Iso(..) => (Fut::Tuple(Vec::new()), Shape::Tuple(Vec::new())),
            Term::Update(change, parts) => self.update(expr, *change, parts),
        }
    }

    /// A term that is evaluated where it stands: the lets around its value go to `bindings`, a loop gets a name.
    pub fn operand(&mut self, expr: &Expr, bindings: &mut Vec<Binding>) -> (Fut, Shape) {
        let (exp, shape) = self.exp(expr);
        let exp = exp.without_lets(bindings);
        let Fut::Loop(repeat) = exp else { return (exp, shape) };
        let hint = if let Term::Fold { acc: state, .. } | Term::While { state, .. } = expr.term() { state.name() } else { "t" };
        let var = crate::ir::Var::fresh(hint, expr.ty().clone());
        self.bind(&var, Fut::Loop(repeat), shape, bindings);
        match self.place(&var) {
            Some(place) => (place.exp(), place.shape()),
            None => (Fut::atom(hint), Shape::Double),
        }
    }

    /// A name for a value that is used more than once.
    pub fn named(&mut self, hint: &str, exp: Fut, shape: &Shape, bindings: &mut Vec<Binding>) -> Fut {
        if matches!(exp, Fut::Atom(_)) {
            return exp;
        }
        let name = self.local_of(hint, shape);
        bindings.push(Binding { pattern: Pattern::Name(name.clone()), value: self.settle(exp, shape.clone(), shape).0 });
        Fut::atom(name)
    }

    /// A term in a scope of its own, with a type that fits the wanted one.
    pub fn inside(&mut self, expr: &Expr, wanted: &Shape) -> (Fut, Shape) {
        let (exp, shape) = self.exp(expr);
        self.settle(exp, shape, wanted)
    }

    fn branches(&mut self, expr: &Expr, cond: &Expr, then: &Expr, otherwise: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let (test, _) = self.operand(cond, &mut bindings);
        let wanted = self.shape(expr.ty());
        let mut branch = |truth: bool, branch: &Expr| {
            self.scope(|this| {
                this.facts.assume(cond, truth);
                let exp = typed_literals(this.inside(branch, &wanted).0);
                // a length that only data decides is left open in both branches
                if wanted.is_known() && !loses_lengths(&exp, &wanted) { exp } else { Fut::Typed(Box::new(exp), ":>", wanted.text()) }
            })
        };
        let (a, b) = (branch(true, then), branch(false, otherwise));
        (Fut::let_in(bindings, Fut::if_(test, a, b)), wanted)
    }

    fn dimension(&mut self, expr: &Expr, array: &Expr, axis: usize) -> (Fut, Shape) {
        if let Some(size) = Size::try_of_expr(expr)
            && let Some(term) = self.size_term(&size)
            && !matches!(term.term(), Term::Dim(..))
        {
            let (exp, _) = self.exp(&term);
            return (exp, Shape::Index);
        }
        let mut bindings = Vec::new();
        let (exp, shape) = self.operand(array, &mut bindings);
        let mut inner = shape;
        for _ in 0..axis {
            inner = inner.element();
        }
        let length = match inner {
            Shape::Array(_, Some(length)) => Fut::length(&length),
            Shape::Array(..) | Shape::Double | Shape::Index | Shape::Bool | Shape::Tuple(_) => {
                let rows = (0..axis).fold(exp, |rows, _| Fut::apply("head", vec![rows]));
                Fut::apply("length", vec![rows])
            }
        };
        (Fut::let_in(bindings, length), Shape::Index)
    }

    /// `copy a with [i] = x`; `unique` takes away copies that are not needed.
    fn update(&mut self, expr: &Expr, change: Change, parts: &[Expr]) -> (Fut, Shape) {
        let Some(Updated { array, indices, value }) = Updated::of(parts) else { return self.exp(expr) };
        let mut bindings = Vec::new();
        let (array, shape) = self.operand(array, &mut bindings);
        let array = self.named("a", array, &shape, &mut bindings);
        let places: Vec<Fut> = indices.iter().map(|index| self.operand(index, &mut bindings).0).collect();
        let wanted = indices.iter().fold(shape.clone(), |shape, _| shape.element());
        let (value, found) = self.operand(value, &mut bindings);
        let value = self.settle(value, found, &wanted).0;
        let value = match change {
            // Futhark wants nothing of the array's own memory written into it
            Change::Replace if matches!((&value, &wanted), (Fut::Index(..), Shape::Array(..))) => Fut::apply("copy", vec![value]),
            Change::Replace => value,
            Change::Add => {
                let old = places.iter().fold(array.clone(), |array, place| array.index(place.clone()));
                added(&wanted, old, value)
            }
        };
        // a long value gets a name: `with` stays on one line
        let value = match flat(&value) {
            Some(text) if text.len() <= SHORT => value,
            Some(_) | None => self.named("x", typed_literals(value), &wanted, &mut bindings),
        };
        let copy = Fut::apply("copy", vec![array]);
        (Fut::let_in(bindings, Fut::With(Box::new(copy), places, Box::new(typed_literals(value)))), shape)
    }

    fn literal(&mut self, expr: &Expr, items: &[Expr]) -> (Fut, Shape) {
        let shape = self.shape(expr.ty());
        let wanted = shape.element();
        let shape = Shape::array(wanted.clone(), Some(items.len().to_string()));
        if items.is_empty() {
            return (Fut::Typed(Box::new(Fut::Array(Vec::new())), ":", shape.text()), shape);
        }
        let mut bindings = Vec::new();
        let parts = items.iter().map(|item| {
            let (part, found) = self.operand(item, &mut bindings);
            self.settle(part, found, &wanted).0
        });
        let parts = parts.collect();
        (Fut::let_in(bindings, typed_literals(Fut::Array(parts))), shape)
    }

    fn call(&mut self, expr: &Expr, name: &str, args: &[Expr]) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let args: Vec<(Fut, Shape)> = args.iter().map(|arg| self.operand(arg, &mut bindings)).collect();
        let Some(signature) = self.signatures.get(name) else { return (Fut::atom(name), Shape::Double) };
        let lengths = signature::lengths(signature, &args);
        let mut passed = Vec::new();
        for ((exp, found), param) in args.into_iter().zip(&signature.params) {
            let wanted = signature::with_lengths(param, &lengths);
            passed.push(self.settle(exp, found, &wanted).0);
        }
        let result = signature::with_lengths(&signature.result, &lengths);
        let exp = if passed.is_empty() { Fut::atom(&signature.name) } else { Fut::apply(&signature.name, passed) };
        let known = self.shape(expr.ty());
        let (exp, shape) = if result.is_known() { (exp, result) } else { self.settle(exp, result, &known) };
        (Fut::let_in(bindings, exp), shape)
    }
}

/// The sum of two values of one shape, element by element.
fn added(shape: &Shape, a: Fut, b: Fut) -> Fut {
    match shape {
        Shape::Array(element, _) => {
            let names = vec![Pattern::Name("x".into()), Pattern::Name("y".into())];
            let sum = Fut::lambda(names, added(element, Fut::atom("x"), Fut::atom("y")));
            Fut::apply("map2", vec![sum, a, b])
        }
        Shape::Tuple(parts) => {
            let sum = |(k, part): (usize, &Shape)| added(part, a.clone().project(k), b.clone().project(k));
            Fut::Tuple(parts.iter().enumerate().map(sum).collect())
        }
        Shape::Double | Shape::Index | Shape::Bool => Fut::infix(Prim::Add.row().name, a, b),
    }
}

/// Index literals with their type, where nothing else would say it.
pub fn typed_literals(exp: Fut) -> Fut {
    match exp {
        Fut::Int(value) if value == i64::MIN => Fut::Int(value),
        Fut::Int(value) => Fut::Atom(format!("{value}i64")),
        Fut::Tuple(parts) => Fut::Tuple(parts.into_iter().map(typed_literals).collect()),
        Fut::Array(parts) => Fut::Array(parts.into_iter().map(typed_literals).collect()),
        Fut::Let(bindings, body) => Fut::Let(bindings, Box::new(typed_literals(*body))),
        other @ (Fut::Atom(_)
        | Fut::Apply(..)
        | Fut::Infix(..)
        | Fut::Prefix(..)
        | Fut::Index(..)
        | Fut::Project(..)
        | Fut::With(..)
        | Fut::If(..)
        | Fut::Loop(_)
        | Fut::Lambda(..)
        | Fut::Typed(..)) => other,
    }
}

/// Whether Futhark's compiler would fail, with an error of its own, on a call in a branch: it takes arrays of one length in
/// the call's result, where that is no name, for less than what the other branch has.
fn loses_lengths(exp: &Fut, wanted: &Shape) -> bool {
    let called = if let Fut::Let(_, body) = exp { body } else { exp };
    let Shape::Tuple(parts) = wanted else { return false };
    let is_compound = |part: &Shape| matches!(part, Shape::Array(_, Some(length)) if length.contains(' '));
    matches!(called, Fut::Apply(..)) && parts.iter().filter(|part| is_compound(part)).count() > 1
}

/// A double in shortest form that reads back exactly.
fn double_literal(value: f64) -> String {
    if value.is_nan() {
        "f64.nan".to_string()
    } else if value.is_infinite() {
        if value > 0.0 { "f64.inf".to_string() } else { "-f64.inf".to_string() }
    } else {
        format!("{value:?}")
    }
}

/// Whether evaluation can neither fail nor cost more than a few operations.
pub fn is_total(expr: &Expr) -> bool {
    match expr.term() {
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => true,
        Term::Prim(prim, args) => {
            let divides = matches!(prim, Prim::Div | Prim::Rem) && matches!(expr.ty(), Type::Index(_));
            !divides && *prim != Prim::ToIndex && args.iter().all(is_total)
        }
        Term::Proj(tuple, _) => is_total(tuple),
        Term::Tuple(parts) => parts.iter().all(is_total),
        Term::Dim(array, _) => is_total(array),
        Term::If(c, a, b) => is_total(c) && is_total(a) && is_total(b),
        Term::Let(..)
        | Term::Build { .. }
        | Term::Fold { .. }
        | Term::While { .. }
        | Term::Get(..)
        | Term::Array(_)
        | Term::Call(..)
        | Term::Iso(..)
        | Term::Check { .. }
        | Term::Update(..)
        | Term::Vjp { .. }
        | Term::Dual { .. } => false,
    }
}
