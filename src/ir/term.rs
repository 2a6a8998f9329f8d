//! Core terms: what `types` gives, `ad` and `rewrite` transform, `eval` means and `lower` takes.
//!
//! Terms are immutable trees. Every node has its type; every binder is its own [`Var`], unique in the
//! program, so that a substitution captures nothing. The constructors here compute the type of a node from
//! its parts and are the only way to make one.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::fingerprint;
use super::free::FreeVars;
use super::prim::Prim;
use super::program::Function;
use super::recursive::Recursive;
use super::size::Size;
use super::types::Type;
use super::var::Var;
use crate::source::Span;

/// Why a check fails; the run-time errors of docs/language.md, Meaning, and emitted C's `smooth_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    Bounds = 1,
    Shape = 2,
    Negative = 3,
    DivZero = 4,
    Range = 5,
    /// Recursion is deeper than its stack has room for.
    Workspace = 6,
}

/// What `update` does to the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// `update a i x`: the element becomes x.
    Replace,
    /// `accumulate a i x`: x, made of Doubles, is added to the element.
    Add,
}

impl Change {
    /// The name in the source language.
    pub fn name(self) -> &'static str {
        match self {
            Change::Replace => "update",
            Change::Add => "accumulate",
        }
    }
}

/// What a term does with a value of a recursive type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Iso {
    /// Makes one of its unrolled form.
    Roll,
    /// Gives its unrolled form. That of an absent value nobody asks for: tests of tags are around the term.
    Unroll,
    /// Stands where the data of another case would be; of nothing.
    Absent,
}

/// One node's form. Scopes: `let`, `build`, `fold`, `while`, `dual` and `vjp` bind their variables in `body` only.
#[derive(Clone, Debug)]
pub enum Term {
    Var(Var),
    Double(f64),
    Index(i64),
    Bool(bool),
    /// `&&` and `||` do not evaluate a second operand that is not needed.
    Prim(Prim, Vec<Expr>),
    Let(Var, Expr, Expr),
    If(Expr, Expr, Expr),
    /// `build(n, i. body)`; `i` has type `Index<n>`.
    Build {
        n: Expr,
        i: Var,
        body: Expr,
    },
    /// `ifold(n, acc. i. body, init)`, evaluated init, n, then the steps.
    Fold {
        n: Expr,
        acc: Var,
        i: Var,
        body: Expr,
        init: Expr,
    },
    /// `while(state = init. body)`: the body is a pair, whether it goes on and the next state; the state where it does not go on is
    /// the value. What a tail call is: data says how many steps there are.
    While {
        state: Var,
        init: Expr,
        body: Expr,
    },
    /// `array[index]`, an error out of bounds.
    Get(Expr, Expr),
    /// The length of the array's dimension `axis` (0 is `length`), known from the shape also when it is empty.
    Dim(Expr, usize),
    Tuple(Vec<Expr>),
    Proj(Expr, usize),
    /// An array literal; the node's type has the element type also when it is empty.
    Array(Vec<Expr>),
    Call(Rc<str>, Vec<Expr>),
    /// The array with one element changed, an error out of bounds: the array, the element's indices, outermost
    /// first, and what is put there or added. A value like every other; where the array is not used
    /// afterwards ([`last_use`](super::last_use)) one write in memory.
    Update(Change, Vec<Expr>),
    /// Between a [recursive type](super::recursive) and its unrolled form: one operand, or none.
    Iso(Iso, Vec<Expr>),
    /// `check cond else status in body`.
    Check {
        cond: Expr,
        status: Status,
        body: Expr,
    },
    /// `dual(x = at, dx = tangent). body`: the dual of `body` where x is bound anew to `at` with tangent
    /// `tangent` (of the type of `at`, a Double or an array of Doubles) and everything else is constant.
    /// Its type is `body`'s type dualised.
    Dual {
        x: Var,
        at: Expr,
        tangent: Expr,
        body: Expr,
    },
    /// `vjp(x = at, w = cotangent). body`: the pair of `body`'s value where x is bound anew to `at`, and wᵀ times
    /// its Jacobian, of the type of `at`; an Index or Bool in there stays as it is. `at` and the cotangent, which has
    /// the type of `body`, are made of Doubles, tuples and arrays. A cotangent of `()` asks for all rows: the Jacobian has
    /// the type of `body`, with that of `at` in the place of each Double.
    Vjp {
        x: Var,
        at: Expr,
        cotangent: Expr,
        body: Expr,
    },
}

/// The parts of a `vjp`.
#[derive(Clone, Copy, Debug)]
pub struct Vjp<'a> {
    pub x: &'a Var,
    pub at: &'a Expr,
    pub cotangent: &'a Expr,
    pub body: &'a Expr,
}

impl<'a> Vjp<'a> {
    pub fn of(expr: &'a Expr) -> Option<Vjp<'a>> {
        match expr.term() {
            Term::Vjp { x, at, cotangent, body } => Some(Vjp { x, at, cotangent, body }),
            _ => None,
        }
    }

    /// Whether it is a Jacobian.
    pub fn wants_rows(&self) -> bool {
        matches!(self.cotangent.ty(), Type::Tuple(parts) if parts.is_empty())
    }

    /// The type of value and derivative.
    pub fn ty(&self) -> Type {
        let (value, point) = (self.body.ty(), self.at.ty());
        Type::tuple(vec![value.clone(), if self.wants_rows() { value.with_doubles(point) } else { point.clone() }])
    }
}

/// The parts of an `update`.
#[derive(Clone, Copy, Debug)]
pub struct Updated<'a> {
    pub array: &'a Expr,
    /// One at least; outermost first.
    pub indices: &'a [Expr],
    pub value: &'a Expr,
}

/// A typed term with the place it came from, and what is asked of it again and again.
#[derive(Debug)]
pub struct Node {
    term: Term,
    ty: Type,
    span: Span,
    nodes: usize,
    shape: u64,
    conditions: bool,
    updates: bool,
    mark: Cell<u32>,
    free: OnceCell<FreeVars>,
    in_types: OnceCell<FreeVars>,
    fingerprint: OnceCell<u64>,
}

/// A shared, immutable term.
#[derive(Clone, Debug)]
pub struct Expr(Rc<Node>);

impl Expr {
    /// A node from all its parts: for places where a constructor below would lose the declared type.
    pub fn with_type(term: Term, ty: Type, span: Span) -> Expr {
        let mut nodes: usize = 1;
        let mut shape = fingerprint::head(&term);
        let mut conditions = ty == Type::Bool;
        let mut updates = matches!(term, Term::Update(..));
        term.children().for_each(|child| {
            updates |= child.has_updates();
            nodes = nodes.saturating_add(child.node_count());
            shape = fingerprint::mix(shape, child.shape());
            conditions |= child.has_conditions();
        });
        let (mark, free, in_types, fingerprint) = (Cell::new(u32::MAX), OnceCell::new(), OnceCell::new(), OnceCell::new());
        Expr(Rc::new(Node { term, ty, span, nodes, shape, conditions, updates, mark, free, in_types, fingerprint }))
    }

    fn new(term: Term, ty: Type) -> Expr {
        Expr::with_type(term, ty, Span::NONE)
    }

    pub fn term(&self) -> &Term {
        &self.0.term
    }

    pub fn ty(&self) -> &Type {
        &self.0.ty
    }

    pub fn span(&self) -> Span {
        self.0.span
    }

    /// Whether both are one node in memory.
    pub fn is_same(&self, other: &Expr) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The node itself where a new one would have the very same parts, else the new one at its place.
    pub fn rebuilt(&self, binders: &[&Var], children: &[&Expr], new: impl FnOnce() -> Expr) -> Expr {
        let same_children = self.term().children().map(Expr::address).eq(children.iter().map(|child| child.address()));
        let same_binders = || self.term().binders().zip(binders).all(|(old, new)| old.is_same(new));
        if same_children && same_binders() { self.clone() } else { new().at(self.span()) }
    }

    /// Marks the node for a walk, by a [number of its own](fresh_id); a mark of a walk before is gone.
    pub fn mark(&self, walk: u32) {
        self.0.mark.set(walk);
    }

    pub fn is_marked(&self, walk: u32) -> bool {
        self.0.mark.get() == walk
    }

    /// The node's address: a key for tables that hold the node alive.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    /// The same node at another place.
    pub fn at(mut self, span: Span) -> Expr {
        if span.is_none() || self.0.span == span {
            return self;
        }
        match Rc::get_mut(&mut self.0) {
            Some(node) => {
                node.span = span;
                self
            }
            None => Expr::with_type(self.0.term.clone(), self.0.ty.clone(), span),
        }
    }

    pub fn var(var: &Var) -> Expr {
        Expr::new(Term::Var(var.clone()), var.ty().clone())
    }

    pub fn double(value: f64) -> Expr {
        Expr::new(Term::Double(value), Type::Double)
    }

    pub fn index(value: i64) -> Expr {
        Expr::new(Term::Index(value), Type::INDEX)
    }

    pub fn bool(value: bool) -> Expr {
        Expr::new(Term::Bool(value), Type::Bool)
    }

    /// Arguments must fit (`ir::check` says so otherwise; the node then has the first argument's type).
    pub fn prim(prim: Prim, args: Vec<Expr>) -> Expr {
        let ty = prim.result(args.iter().map(Expr::ty));
        let ty = ty.unwrap_or_else(|| args.first().map_or(Type::Double, |arg| arg.ty().clone()));
        Expr::new(Term::Prim(prim, args), ty)
    }

    /// The body's type with the variable replaced by its value, where a length mentions it.
    pub fn let_(var: Var, value: Expr, body: Expr) -> Expr {
        let ty = leave_scope(body.ty(), &var, &mut || Size::of_expr(&value));
        Expr::new(Term::Let(var, value, body), ty)
    }

    /// Binds `value` to a fresh variable unless it is atomic already.
    pub fn bind(name: &str, value: Expr, body: impl FnOnce(Expr) -> Expr) -> Expr {
        if value.is_atom() {
            return body(value);
        }
        let var = Var::fresh(name, value.ty().clone());
        let body = body(Expr::var(&var));
        Expr::let_(var, value, body)
    }

    /// The type is the first branch's, with the sizes that both agree on and unknown ones elsewhere.
    pub fn if_(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
        let ty = join(then.ty(), otherwise.ty());
        Expr::new(Term::If(cond, then, otherwise), ty)
    }

    /// `build(n, i. body(i))`.
    pub fn build(n: Expr, name: &str, body: impl FnOnce(Expr) -> Expr) -> Expr {
        let i = Var::fresh(name, Type::Index(Some(Size::of_expr(&n))));
        let body = body(Expr::var(&i));
        Expr::build_with(n, i, body)
    }

    pub fn build_with(n: Expr, i: Var, body: Expr) -> Expr {
        let size = match i.ty() {
            Type::Index(Some(size)) => size.clone(),
            _ => Size::of_expr(&n),
        };
        let element = leave_scope(body.ty(), &i, &mut Size::unknown);
        Expr::new(Term::Build { n, i, body }, Type::array(element, size))
    }

    /// The fold has the accumulator's type.
    pub fn fold_with(n: Expr, acc: Var, i: Var, body: Expr, init: Expr) -> Expr {
        let ty = acc.ty().clone();
        Expr::new(Term::Fold { n, acc, i, body, init }, ty)
    }

    /// The loop has the state's type.
    pub fn while_(state: Var, init: Expr, body: Expr) -> Expr {
        let ty = state.ty().clone();
        Expr::new(Term::While { state, init, body }, ty)
    }

    /// `ifold(n, acc. i. body(acc, i), init)`.
    pub fn fold(n: Expr, acc: &str, i: &str, init: Expr, body: impl FnOnce(Expr, Expr) -> Expr) -> Expr {
        let acc = Var::fresh(acc, init.ty().clone());
        let i = Var::fresh(i, Type::Index(Some(Size::of_expr(&n))));
        let body = body(Expr::var(&acc), Expr::var(&i));
        Expr::fold_with(n, acc, i, body, init)
    }

    pub fn get(array: Expr, index: Expr) -> Expr {
        let ty = array.ty().element().cloned().unwrap_or(Type::Double);
        Expr::new(Term::Get(array, index), ty)
    }

    pub fn dim(array: Expr, axis: usize) -> Expr {
        Expr::new(Term::Dim(array, axis), Type::INDEX)
    }

    pub fn tuple(parts: Vec<Expr>) -> Expr {
        let ty = Type::tuple(parts.iter().map(|part| part.ty().clone()).collect());
        Expr::new(Term::Tuple(parts), ty)
    }

    pub fn proj(tuple: Expr, index: usize) -> Expr {
        let ty = match tuple.ty() {
            Type::Tuple(parts) => parts.get(index).cloned(),
            Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => None,
        };
        Expr::new(Term::Proj(tuple, index), ty.unwrap_or(Type::Double))
    }

    /// A value of a recursive type from its unrolled form.
    pub fn roll(of: &Rc<Recursive>, value: Expr) -> Expr {
        Expr::new(Term::Iso(Iso::Roll, vec![value]), Type::Rec(of.clone()))
    }

    /// The unrolled form, whose lengths are the value's own; the value itself where it has none.
    pub fn unroll(value: Expr) -> Expr {
        let ty = match value.ty() {
            Type::Rec(of) => of.unrolled(),
            Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) => return value,
        };
        Expr::new(Term::Iso(Iso::Unroll, vec![value]), ty)
    }

    /// What stands in the data of another case.
    pub fn absent(of: &Rc<Recursive>) -> Expr {
        Expr::new(Term::Iso(Iso::Absent, Vec::new()), Type::Rec(of.clone()))
    }

    pub fn array(element: Type, items: Vec<Expr>) -> Expr {
        let size = Size::constant(items.len() as i64);
        Expr::new(Term::Array(items), Type::array(element, size))
    }

    /// A call with the type that the function's result has for these arguments.
    pub fn call(function: &Function, args: Vec<Expr>) -> Expr {
        let ty = function.result_for(&args);
        Expr::new(Term::Call(function.name.clone(), args), ty)
    }

    pub fn check(cond: Expr, status: Status, body: Expr) -> Expr {
        let ty = body.ty().clone();
        Expr::new(Term::Check { cond, status, body }, ty)
    }

    pub fn dual(x: Var, at: Expr, tangent: Expr, body: Expr) -> Expr {
        let ty = body.ty().dual();
        Expr::new(Term::Dual { x, at, tangent, body }, ty)
    }

    /// `array` with the element at `indices`, one at least, changed by `value`. A row that is itself with an element changed
    /// is that element changed: `update a i (update a[i] j x)` has both indices.
    pub fn update(change: Change, array: Expr, mut indices: Vec<Expr>, value: Expr) -> Expr {
        let ty = array.ty().clone();
        if let (Change::Replace, Term::Update(inner, parts)) = (change, value.term())
            && let Some(row) = Updated::of(parts)
            && is_element(row.array, &array, &indices)
        {
            indices.extend(row.indices.iter().cloned());
            return Expr::update(*inner, array, indices, row.value.clone());
        }
        let parts = std::iter::once(array).chain(indices).chain([value]).collect();
        Expr::new(Term::Update(change, parts), ty)
    }

    pub fn vjp(x: Var, at: Expr, cotangent: Expr, body: Expr) -> Expr {
        let ty = Vjp { x: &x, at: &at, cotangent: &cotangent, body: &body }.ty();
        Expr::new(Term::Vjp { x, at, cotangent, body }, ty)
    }

    /// A variable or a literal: free to duplicate.
    pub fn is_atom(&self) -> bool {
        matches!(self.term(), Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_))
    }

    /// The number of nodes of the tree.
    pub fn node_count(&self) -> usize {
        self.0.nodes
    }

    /// Whether it is a Bool, or some term in it is one.
    pub fn has_conditions(&self) -> bool {
        self.0.conditions
    }

    /// Whether some array is updated in it: then the order of reads decides what has to be copied.
    pub fn has_updates(&self) -> bool {
        self.0.updates
    }

    /// Equal for terms that are the same but for their variables.
    pub fn shape(&self) -> u64 {
        self.0.shape
    }

    /// Equal for terms that are the same but for the names of what they bind; worked out when it is first asked for.
    pub fn fingerprint(&self) -> u64 {
        *self.0.fingerprint.get_or_init(|| fingerprint::of(self))
    }

    /// Its free variables, worked out when they are first asked for.
    pub(super) fn free_vars(&self) -> &FreeVars {
        self.0.free.get_or_init(|| FreeVars::of(self))
    }

    /// The variables in sizes of types in it, worked out when they are first asked for.
    pub(super) fn vars_in_types(&self) -> &FreeVars {
        self.0.in_types.get_or_init(|| FreeVars::in_types(self))
    }
}

impl Term {
    /// The variables that the term itself binds.
    pub fn binders(&self) -> impl Iterator<Item = &Var> + use<'_> {
        let (first, second) = match self {
            Term::Let(x, ..) | Term::Build { i: x, .. } | Term::While { state: x, .. } => (Some(x), None),
            Term::Dual { x, .. } | Term::Vjp { x, .. } => (Some(x), None),
            Term::Fold { acc, i, .. } => (Some(acc), Some(i)),
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::If(..)
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Whether a term is what an array has at these indices.
fn is_element(expr: &Expr, array: &Expr, indices: &[Expr]) -> bool {
    match (indices.split_last(), expr.term()) {
        (Some((last, outer)), Term::Get(inner, index)) => is_equal(index, last) && is_element(inner, array, outer),
        (Some(_), _) => false,
        (None, _) => is_equal(expr, array),
    }
}

/// Whether two terms of names, numbers and operations are written alike.
fn is_equal(a: &Expr, b: &Expr) -> bool {
    match (a.term(), b.term()) {
        (Term::Var(a), Term::Var(b)) => a == b,
        (Term::Index(a), Term::Index(b)) => a == b,
        (Term::Proj(a, j), Term::Proj(b, k)) => j == k && is_equal(a, b),
        (Term::Prim(a, xs), Term::Prim(b, ys)) => a == b && xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| is_equal(x, y)),
        _ => false,
    }
}

impl Updated<'_> {
    /// The parts of [`Term::Update`].
    pub fn of(parts: &[Expr]) -> Option<Updated<'_>> {
        let [array, indices @ .., value] = parts else { return None };
        Some(Updated { array, indices, value })
    }
}

/// A type outside the scope of `var`: its lengths with `var` replaced, index bounds that mention it dropped.
fn leave_scope(ty: &Type, var: &Var, value: &mut dyn FnMut() -> Size) -> Type {
    if !matches!(var.ty(), Type::Index(_) | Type::Bool) {
        return ty.clone();
    }
    let mut known: Option<Size> = None;
    ty.map_sizes(&mut |size| {
        if !size.mentions(var) {
            return size.clone();
        }
        size.replace(var, known.get_or_insert_with(&mut *value))
    })
}

/// The sizes on which two types of one shape agree.
fn join(a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::Array(x, n), Type::Array(y, m)) => Type::array(join(x, y), if n == m { n.clone() } else { Size::unknown() }),
        (Type::Tuple(xs), Type::Tuple(ys)) => Type::tuple(xs.iter().zip(ys.iter()).map(|(x, y)| join(x, y)).collect()),
        (Type::Index(x), Type::Index(y)) => Type::Index(if x == y { x.clone() } else { None }),
        _ => a.clone(),
    }
}
