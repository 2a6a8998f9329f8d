//! The nodes of terms: what each knows of itself, and the parts of its form by name.
//!
//! In: a form with its type and place. Out: a node that counts its nodes and has its shape from those of its subterms, and keeps what is
//! asked of it again and again: its free variables, its fingerprint, the size that it is.
//!
//!     x * y + 1.0   has 5 nodes

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::fingerprint;
use super::{Expr, FreeVars, Node, Size, Term, Type, Var};
use crate::source::Span;

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

    /// Marks the node for a walk, by a [number of its own](super::fresh_id); a mark of a walk before is gone.
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
    pub(in crate::ir) fn size(&self, of: impl FnOnce() -> Option<Size>) -> Option<Size> {
        self.0.size.get_or_init(of).clone()
    }

    /// Its free variables, worked out when they are first asked for.
    pub(in crate::ir) fn free_vars(&self) -> &FreeVars {
        self.0.free.get_or_init(|| FreeVars::of(self))
    }

    /// The variables in sizes of types in it, worked out when they are first asked for.
    pub(in crate::ir) fn vars_in_types(&self) -> &FreeVars {
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
