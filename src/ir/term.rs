//! Core terms: what `types` gives, `ad` and `rewrite` transform, `eval` means and `lower` takes.
//!
//! Terms are immutable trees. Every node has its type; every binder is its own [`Var`], unique in the
//! program, so that a substitution captures nothing. `construct` has a constructor for each form.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::fingerprint;
use super::free::FreeVars;
use super::prim::Prim;
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
        let Term::Vjp { x, at, cotangent, body } = expr.term() else { return None };
        Some(Vjp { x, at, cotangent, body })
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

impl Updated<'_> {
    /// The parts of [`Term::Update`].
    pub fn of(parts: &[Expr]) -> Option<Updated<'_>> {
        let [array, indices @ .., value] = parts else { return None };
        Some(Updated { array, indices, value })
    }

    /// The type of the changed array: the bounds of its Indexes hold where they hold for the new element too.
    pub fn ty(&self) -> Type {
        let element = self.indices.iter().try_fold(self.array.ty(), |ty, _| ty.element());
        if element == Some(self.value.ty()) { self.array.ty().clone() } else { self.array.ty().without_bounds() }
    }
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
    /// What it is as a size, where it can be one.
    size: OnceCell<Option<Size>>,
}

/// A shared, immutable term.
#[derive(Clone, Debug)]
pub struct Expr(Rc<Node>);

impl Expr {
    /// A node from all its parts: for places where a constructor would lose the declared type.
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
        let size = OnceCell::new();
        Expr(Rc::new(Node { term, ty, span, nodes, shape, conditions, updates, mark, free, in_types, fingerprint, size }))
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

    /// A variable or a literal: free to duplicate.
    pub fn is_atom(&self) -> bool {
        matches!(self.term(), Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_))
    }

    /// Whether the value, if it is an array, exists already under some name: then to store it is to copy it.
    pub fn is_named(&self) -> bool {
        match self.term() {
            Term::Var(_) | Term::Get(..) | Term::Proj(..) => true,
            Term::Let(_, _, body) | Term::Check { body, .. } => body.is_named(),
            Term::If(_, a, b) => a.is_named() || b.is_named(),
            Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Prim(..) | Term::Build { .. } | Term::Fold { .. } => false,
            Term::Dim(..) | Term::Tuple(_) | Term::Array(_) | Term::Call(..) | Term::Dual { .. } => false,
            Term::Update(..) | Term::Vjp { .. } | Term::While { .. } | Term::Iso(..) => false,
        }
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

    /// The size that it is, worked out when it is first asked for.
    pub(super) fn size(&self, of: impl FnOnce() -> Option<Size>) -> Option<Size> {
        self.0.size.get_or_init(of).clone()
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
