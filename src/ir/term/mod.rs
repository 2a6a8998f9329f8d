//! The data of the core language: terms with their types, sizes, variables and names.
//!
//! They are in one file because each is in the others: a [term](Term) has a [type](Type), an array type a [length](Size), a length
//! that is no polynomial a term, a [variable](Var) a type and a [name](Name), a name the [names](Labels) in a type. In: the parts that
//! `types` gives. Out: what `ad` and `rewrite` transform, `eval` means and `lower` takes. Terms are immutable trees. Every node has its
//! type; every binder is its own [`Var`], unique in the program, so that a substitution captures nothing. The files of this folder keep
//! what holds of fields that only they see; `construct` has a constructor for each form of a term.
//!
//!     build(n, i. v[i] * 2.0)   a term of type Array<Double, n>, whose length n is a size made of the variable n

mod expr;
mod fingerprint;
mod labels;
mod name;
mod polynomial;
mod recursive;
mod types;
mod var;
mod var_set;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::prim::Prim;
use crate::source::Span;

pub use expr::{Updated, Vjp};
pub use var::fresh_id;

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
    /// Between a [recursive type](Recursive) and its unrolled form: one operand, or none.
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

/// The type of a core term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Double,
    Bool,
    /// A 64-bit integer; with `Some(s)`, one known to lie in `0 … s-1`.
    Index(Option<Size>),
    /// A regular array: element type and length.
    Array(Rc<Type>, Size),
    /// Two or more components, or none: the type of `()`.
    Tuple(Rc<[Type]>),
    /// A type that contains itself, by name.
    Rec(Rc<Recursive>),
}

/// What a size polynomial is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// An immutable Index variable: a size name, an Index parameter, a let-bound or loop index.
    Var(Var),
    /// Another total Index term over variables; equal when its text (with variable numbers) is.
    Term(Rc<SizeTerm>),
    /// A size that depends on data, known only at run time.
    Unknown(u32),
}

/// A total Index term that is no polynomial.
#[derive(Clone, Debug)]
pub struct SizeTerm {
    key: String,
    pub expr: Expr,
}

/// A product of atoms, sorted; the empty product is 1. Shared: polynomials are added up far more often than products made.
pub type Monomial = Rc<[Atom]>;

/// A polynomial: its monomials in order, no zero coefficients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size {
    /// Shared: types are copied far more often than sizes are computed.
    terms: Rc<[(Monomial, i64)]>,
}

/// A variable: one binder and all its occurrences. Equal when the number is; the name is for people.
#[derive(Clone)]
pub struct Var(Rc<VarData>);

struct VarData {
    id: u32,
    name: Name,
    ty: Type,
}

/// A name for people. The parts of a value may have their own: see [`Name::part`].
#[derive(Clone, Debug)]
pub struct Name {
    text: Rc<str>,
    inside: Option<Rc<Labels>>,
    is_placeholder: bool,
}

/// The names inside one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Nothing inside has a name.
    #[default]
    None,
    /// Those of an array's elements.
    Array(Rc<Labels>),
    Tuple(Vec<Labels>),
    /// The record's name, its fields.
    Record(Rc<str>, Vec<(Rc<str>, Labels)>),
    /// The name of a sum type, its cases, each with the component that its data are, and the fields that it is a record of: the tag, then
    /// the data of each case.
    Sum(Rc<str>, Vec<(Rc<str>, Option<usize>)>, Vec<(Rc<str>, Labels)>),
    /// Those of a value of a recursive type, which are its [`Recursive::labels`].
    Recursive(Rc<Recursive>),
    /// Those of a component of a tuple or record that a pattern gives a name of its own, as C and Futhark call it.
    Named(Rc<str>, Rc<Labels>),
}

/// A recursive type by its name.
pub struct Recursive {
    name: Rc<str>,
    id: u32,
    /// Not there in definitions, and until all types are declared.
    all: OnceCell<Rc<[Definition]>>,
}

/// What a recursive type is.
struct Definition {
    id: u32,
    unrolled: Type,
    labels: Labels,
    has_double: bool,
}

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

/// The free variables of a term, or those in its types.
#[derive(Debug)]
pub(super) enum FreeVars {
    /// Sorted.
    Few(Rc<[Var]>),
    Many(VarSet),
}

/// A set of variables that shares its memory with others: see `var_set`.
#[derive(Clone, Debug)]
pub(super) struct VarSet(Option<Rc<Tree>>);

/// A tree over the bits of the variables' numbers, highest first.
#[derive(Debug)]
enum Tree {
    Leaf(Var),
    /// Variables whose numbers are those of `low` below `bit` or with it set, by side.
    Branch {
        low: u32,
        bit: u32,
        /// As [`VarSet::sum`].
        sum: u64,
        clear: Rc<Tree>,
        set: Rc<Tree>,
    },
}
