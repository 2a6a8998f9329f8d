//! The types of a law: a law whose sides cannot have one type never fires, and is refused where it is written.
//!
//! In: the trees of both sides, and the conditions. Out: nothing, or a diagnostic: E0119 where the sides differ in type, E0130 at
//! a part or a condition that no term meets. A metavariable has one type in the whole law; an integer literal is a Double or an
//! Index.
//!
//!     a + true -> a          `true` is a Bool, where a Double or Index is wanted
//!     a < b -> a - b         this side is a Double or Index, and the other a Bool

use crate::diagnostic::Diagnostic;
use crate::ir::Prim;
use crate::ir::prim::Kind;
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Pattern, PatternKind, UnOp};

use super::condition::{Condition, Side as Asked, Test};
use super::side::Side;

/// What is known of a type.
#[derive(Clone, Debug)]
enum Type {
    /// Nothing.
    Any,
    /// One of these.
    Scalar(Scalars),
    Array(Id),
    Tuple(Vec<Id>),
    /// The same as another.
    Same(Id),
}

/// The number of a type in [`Types`].
type Id = usize;

/// A set of scalar types, in the order of [`NAMES`].
type Scalars = [bool; 3];

const NAMES: [&str; 3] = ["Double", "Index", "Bool"];
const DOUBLE: Scalars = [true, false, false];
const INDEX: Scalars = [false, true, false];
const BOOL: Scalars = [false, false, true];
const NUMBER: Scalars = [true, true, false];
const EXACT: Scalars = [false, true, true];
const ALL: Scalars = [true, true, true];

/// The types of a law, found by unification.
#[derive(Default)]
struct Types<'a> {
    known: Vec<Type>,
    metas: Vec<(&'a str, Id)>,
    /// Metavariables that are applied: the types of what they take, and of what they give.
    functions: Vec<(&'a str, Vec<Id>, Id)>,
    /// The variables in scope, the innermost last.
    scope: Vec<(&'a str, Id)>,
}

/// That the sides and conditions of a law can have types.
pub fn check(left: &Side, right: &Side, conditions: &[(Asked, Span)]) -> Result<(), Diagnostic> {
    let mut types = Types::default();
    let of_left = types.of(&left.tree).map_err(|problem| left.moved(problem))?;
    for (Asked { test, meta, .. }, span) in conditions {
        let Test::Is(condition) = test else { continue };
        let Some(wanted) = condition.types() else { continue };
        let of_meta = types.functions.iter().find(|(name, ..)| name == meta).map(|(.., result)| *result);
        let of_meta = of_meta.unwrap_or_else(|| types.meta(meta));
        let found = types.name(of_meta);
        let wanted_id = types.add(Type::Scalar(wanted));
        if !types.unify(of_meta, wanted_id) {
            let message = format!("`{meta}` is {found} in this law, and never {}", named(wanted));
            return Err(Diagnostic::error("E0130", *span, message).help("leave the condition out, or the rule"));
        }
    }
    let of_right = types.of(&right.tree).map_err(|problem| right.moved(problem))?;
    let (found, wanted) = (types.name(of_right), types.name(of_left));
    if types.unify(of_left, of_right) {
        return Ok(());
    }
    let message = format!("this side of the law is {found}, and the other is {wanted}");
    let problem =
        Diagnostic::error("E0119", right.place(right.tree.span), message).label(left.place(left.tree.span), format!("this is {wanted}"));
    Err(problem.help("a law says that two terms are equal: give both sides one type"))
}

fn named(scalars: Scalars) -> String {
    if scalars == ALL {
        return "a number or a Bool".into();
    }
    let names: Vec<&str> = NAMES.into_iter().zip(scalars).filter_map(|(name, is_in)| is_in.then_some(name)).collect();
    format!("{} {}", if names.first() == Some(&"Index") { "an" } else { "a" }, names.join(" or "))
}

impl Condition {
    /// What a term of another type never is.
    fn types(self) -> Option<Scalars> {
        match self {
            Condition::Double | Condition::NonZero => Some(DOUBLE),
            Condition::Exact => Some(EXACT),
            Condition::Literal => Some(NUMBER),
            Condition::Atomic | Condition::Compound | Condition::Total | Condition::Loose => None,
        }
    }
}

impl<'a> Types<'a> {
    fn add(&mut self, ty: Type) -> Id {
        self.known.push(ty);
        self.known.len() - 1
    }

    fn meta(&mut self, name: &'a str) -> Id {
        if let Some((_, id)) = self.metas.iter().find(|(other, _)| *other == name) {
            return *id;
        }
        let id = self.add(Type::Any);
        self.metas.push((name, id));
        id
    }

    fn find(&self, mut id: Id) -> Id {
        while let Type::Same(other) = self.known[id] {
            id = other;
        }
        id
    }

    /// A type in words.
    fn name(&self, id: Id) -> String {
        match &self.known[self.find(id)] {
            Type::Any | Type::Same(_) => "any value".into(),
            Type::Scalar(scalars) => named(*scalars),
            Type::Array(_) => "an array".into(),
            Type::Tuple(parts) => format!("a tuple of {}", parts.len()),
        }
    }

    /// Makes two types one; `false` where they differ.
    fn unify(&mut self, a: Id, b: Id) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return true;
        }
        match (self.known[a].clone(), self.known[b].clone()) {
            (Type::Any, _) if !self.mentions(b, a) => self.known[a] = Type::Same(b),
            (_, Type::Any) if !self.mentions(a, b) => self.known[b] = Type::Same(a),
            (Type::Scalar(one), Type::Scalar(other)) => {
                let both = std::array::from_fn(|at| one[at] && other[at]);
                if both == [false; 3] {
                    return false;
                }
                self.known[a] = Type::Scalar(both);
                self.known[b] = Type::Same(a);
            }
            (Type::Array(one), Type::Array(other)) => {
                self.known[b] = Type::Same(a);
                return self.unify(one, other);
            }
            (Type::Tuple(one), Type::Tuple(other)) if one.len() == other.len() => {
                self.known[b] = Type::Same(a);
                return one.into_iter().zip(other).all(|(one, other)| self.unify(one, other));
            }
            (Type::Any | Type::Scalar(_) | Type::Array(_) | Type::Tuple(_) | Type::Same(_), _) => return false,
        }
        true
    }

    /// Whether a type is part of another: no finite type is part of itself.
    fn mentions(&self, whole: Id, part: Id) -> bool {
        let (mut seen, mut rest) = (vec![false; self.known.len()], vec![whole]);
        while let Some(id) = rest.pop() {
            let id = self.find(id);
            if id == part {
                return true;
            }
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            match &self.known[id] {
                Type::Array(element) => rest.push(*element),
                Type::Tuple(parts) => rest.extend(parts),
                Type::Any | Type::Scalar(_) | Type::Same(_) => {}
            }
        }
        false
    }

    /// The type of a side, or of a part of one.
    fn of(&mut self, tree: &'a Expr) -> Result<Id, Diagnostic> {
        Ok(match &tree.kind {
            ExprKind::Var(name) => match self.scope.iter().rev().find(|(known, _)| **known == **name) {
                Some((_, id)) => *id,
                None => self.meta(name),
            },
            ExprKind::Int(..) => self.add(Type::Scalar(NUMBER)),
            ExprKind::Double(_) => self.add(Type::Scalar(DOUBLE)),
            ExprKind::Bool(_) => self.add(Type::Scalar(BOOL)),
            ExprKind::Binary(op, a, b) => self.prim(Prim::from(*op), &[a, b])?,
            ExprKind::Unary(op, a) => self.prim(if *op == UnOp::Neg { Prim::Neg } else { Prim::Not }, &[a])?,
            ExprKind::If(c, a, b) => {
                self.is(c, BOOL)?;
                let (then, other) = (self.of(a)?, self.of(b)?);
                self.one(then, other, b)?;
                then
            }
            ExprKind::Index(a, i) => {
                let element = self.add(Type::Any);
                let array = self.add(Type::Array(element));
                let found = self.of(a)?;
                self.one(array, found, a)?;
                self.is(i, INDEX)?;
                element
            }
            ExprKind::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.of(part)).collect::<Result<_, _>>()?;
                self.add(Type::Tuple(parts))
            }
            ExprKind::Array(parts) => {
                let element = self.add(Type::Any);
                for part in parts {
                    let found = self.of(part)?;
                    self.one(element, found, part)?;
                }
                self.add(Type::Array(element))
            }
            ExprKind::App(function, args) => {
                let prim = if let ExprKind::Var(name) = &function.kind { Prim::function(name) } else { None };
                let args: Vec<&Expr> = args.iter().collect();
                let name = if let ExprKind::Var(name) = &function.kind { &**name } else { "" };
                match (prim, name, args.as_slice()) {
                    (Some(prim), _, args) => self.prim(prim, args)?,
                    (None, "length", [array]) => {
                        let element = self.add(Type::Any);
                        let (wanted, found) = (self.add(Type::Array(element)), self.of(array)?);
                        self.one(wanted, found, array)?;
                        self.add(Type::Scalar(INDEX))
                    }
                    (None, "fst" | "snd", [pair]) => {
                        let parts = [self.add(Type::Any), self.add(Type::Any)];
                        let (wanted, found) = (self.add(Type::Tuple(parts.to_vec())), self.of(pair)?);
                        self.one(wanted, found, pair)?;
                        parts[usize::from(name == "snd")]
                    }
                    (None, "update" | "accumulate", [array, index, value]) => {
                        let element = self.add(Type::Any);
                        let (wanted, found) = (self.add(Type::Array(element)), self.of(array)?);
                        self.one(wanted, found, array)?;
                        self.is(index, INDEX)?;
                        let found = self.of(value)?;
                        self.one(element, found, value)?;
                        if name == "accumulate" && matches!(self.known[self.find(element)], Type::Scalar(_)) {
                            let double = self.add(Type::Scalar(DOUBLE));
                            self.one(double, element, value)?;
                        }
                        wanted
                    }
                    (None, "build", [n, body]) => {
                        self.is(n, INDEX)?;
                        let index = self.add(Type::Scalar(INDEX));
                        let element = self.function(body, &[index])?;
                        self.add(Type::Array(element))
                    }
                    (None, "ifold", [step, init, n]) => {
                        let state = self.of(init)?;
                        self.is(n, INDEX)?;
                        let index = self.add(Type::Scalar(INDEX));
                        let next = self.function(step, &[state, index])?;
                        self.one(state, next, step)?;
                        state
                    }
                    (None, name, args) => {
                        let (params, result) = self.applied(name, args.len());
                        for (param, arg) in params.into_iter().zip(args) {
                            let found = self.of(arg)?;
                            self.one(param, found, arg)?;
                        }
                        result
                    }
                }
            }
            ExprKind::Let(name, value, body) => {
                let value = self.of(value)?;
                self.within(std::slice::from_ref(name), &[value], body)?
            }
            // no part of a law
            ExprKind::Operator(_)
            | ExprKind::Fun(..)
            | ExprKind::LetFun(..)
            | ExprKind::Slice(..)
            | ExprKind::Field(..)
            | ExprKind::Record(..)
            | ExprKind::Match(..)
            | ExprKind::Deriv(..) => self.add(Type::Any),
        })
    }

    /// What a metavariable takes and gives that is applied to so many terms.
    fn applied(&mut self, name: &'a str, arity: usize) -> (Vec<Id>, Id) {
        if let Some((_, params, result)) = self.functions.iter().find(|(known, ..)| *known == name) {
            return (params.clone(), *result);
        }
        let params: Vec<Id> = (0..arity).map(|_| self.add(Type::Any)).collect();
        let result = self.add(Type::Any);
        self.functions.push((name, params.clone(), result));
        (params, result)
    }

    /// The type that a loop's function gives for parameters of these types.
    fn function(&mut self, tree: &'a Expr, given: &[Id]) -> Result<Id, Diagnostic> {
        if let ExprKind::Fun(params, body) = &tree.kind {
            return self.within(params, given, body);
        }
        let ExprKind::Var(name) = &tree.kind else { return Ok(self.add(Type::Any)) };
        let (params, result) = self.applied(name, given.len());
        for (param, given) in params.into_iter().zip(given) {
            self.one(*given, param, tree)?;
        }
        Ok(result)
    }

    /// The type of a part in which variables of these types are bound.
    fn within(&mut self, names: &'a [Pattern], given: &[Id], body: &'a Expr) -> Result<Id, Diagnostic> {
        let outside = self.scope.len();
        for (name, ty) in names.iter().zip(given) {
            if let PatternKind::Var(name) = &name.kind {
                self.scope.push((name, *ty));
            }
        }
        let found = self.of(body);
        self.scope.truncate(outside);
        found
    }

    /// That a part has one of these types.
    fn is(&mut self, tree: &'a Expr, wanted: Scalars) -> Result<Id, Diagnostic> {
        let (found, wanted) = (self.of(tree)?, self.add(Type::Scalar(wanted)));
        self.one(wanted, found, tree)?;
        Ok(found)
    }

    /// That a part has the type that its place wants.
    fn one(&mut self, wanted: Id, found: Id, tree: &Expr) -> Result<(), Diagnostic> {
        let names = (self.name(found), self.name(wanted));
        if self.unify(wanted, found) {
            return Ok(());
        }
        let message = format!("this is {}, where {} is wanted", names.0, names.1);
        Err(Diagnostic::error("E0130", tree.span, message).help("no term has this form, and so the rule would never fire"))
    }

    fn prim(&mut self, prim: Prim, args: &[&'a Expr]) -> Result<Id, Diagnostic> {
        let (wanted, result) = match prim.row().kind {
            Kind::Number => (NUMBER, None),
            Kind::Double => (DOUBLE, None),
            Kind::Index => (INDEX, None),
            Kind::Bool => (BOOL, None),
            Kind::Order => (NUMBER, Some(BOOL)),
            Kind::Equality => (ALL, Some(BOOL)),
            Kind::IndexToDouble => (INDEX, Some(DOUBLE)),
            // `polygamma` has no name in the source language
            Kind::DoubleToIndex | Kind::IndexDoubleToDouble => (DOUBLE, Some(INDEX)),
        };
        let operand = self.add(Type::Scalar(wanted));
        for arg in args {
            let found = self.of(arg)?;
            self.one(operand, found, arg)?;
        }
        Ok(match result {
            Some(result) => self.add(Type::Scalar(result)),
            None => operand,
        })
    }
}
