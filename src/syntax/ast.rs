//! The syntax tree: what `syntax` gives and `types` takes. Nothing is resolved or typed here.

use std::rc::Rc;

use crate::source::Span;

/// One file: its `open` lines, then its declarations in order.
#[derive(Clone, Debug, Default)]
pub struct Module {
    pub opens: Vec<Open>,
    pub types: Vec<TypeDecl>,
    pub decls: Vec<Decl>,
    /// The names of the declarations that did not parse.
    pub broken: Vec<Name>,
    /// The texts that gave no declaration, in order.
    pub unread: Vec<Span>,
}

/// `open linalg` or `open "geometry.smooth"`.
#[derive(Clone, Debug)]
pub struct Open {
    pub what: OpenWhat,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenWhat {
    Library(Rc<str>),
    File(Rc<str>),
}

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: Rc<str>,
    pub span: Span,
}

/// A top-level `let name params : result = body`, or `let rec` with `decreases n` before the `=`.
#[derive(Clone, Debug)]
pub struct Decl {
    pub name: Name,
    /// The lines of the `///` comment before it, joined by newlines, without the slashes.
    pub doc: Option<String>,
    pub params: Vec<Pattern>,
    pub result: Option<TypeExpr>,
    pub body: Expr,
    pub span: Span,
    pub recursion: Option<Recursion>,
}

/// What makes a declaration recursive: `let rec`, or `and` after one.
#[derive(Clone, Debug, Default)]
pub struct Recursion {
    /// It is the `and` of the declarations before.
    pub continues: bool,
    /// `decreases n`: the parameter that is smaller in each call inside, and not negative.
    pub decreases: Option<Name>,
}

/// A record or a sum type.
#[derive(Clone, Debug)]
pub struct TypeDecl {
    pub name: Name,
    pub sizes: Vec<Name>,
    pub body: TypeBody,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TypeBody {
    /// `type Data<n> = { x: Vector<n>; y: Double }`.
    Record(Vec<(Name, TypeExpr)>),
    /// `type Shape = | Circle of Double | Empty`: the cases, each with the type of its data.
    Sum(Vec<(Name, Option<TypeExpr>)>),
}

impl TypeBody {
    /// The fields of a record with their types; the cases of a sum with those of their data.
    pub fn members(&self) -> Vec<(&Name, Option<&TypeExpr>)> {
        match self {
            TypeBody::Record(fields) => fields.iter().map(|(name, ty)| (name, Some(ty))).collect(),
            TypeBody::Sum(cases) => cases.iter().map(|(name, data)| (name, data.as_ref())).collect(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Pattern {
    pub kind: PatternKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PatternKind {
    Var(Rc<str>),
    Wildcard,
    Tuple(Vec<Pattern>),
    /// `{ focal = f }`: some fields of a record.
    Record(Vec<(Name, Pattern)>),
    Typed(Box<Pattern>, TypeExpr),
    /// `Circle r`, `Empty`: a case of a sum type and what its data are. In a `let` or a parameter a name alone is a variable.
    Case(Name, Option<Box<Pattern>>),
    /// `0`, `-1`.
    Int(i64),
    Bool(bool),
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Var(Rc<str>),
    /// An integer literal: Index or Double, as its use needs. `None` when it does not fit 64 bits as an Index.
    Int(Option<i64>, f64),
    Double(f64),
    Bool(bool),
    /// An operator in parentheses, as a function: `(+)`.
    Operator(BinOp),
    Fun(Vec<Pattern>, Box<Expr>),
    /// `let p = value in body`; an annotation on p is a `Typed` pattern.
    Let(Pattern, Box<Expr>, Box<Expr>),
    /// `let f p1 … pn : R = value in body`, n ≥ 1; with `let rec` several by `and`.
    LetFun(Vec<LocalFun>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    Unary(UnOp, Box<Expr>),
    /// All arguments at once; at least one.
    App(Box<Expr>, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    /// `v[a..b]`, both ends included; `None` is the first or the last element.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// None or two and more; `()` is the tuple of none.
    Tuple(Vec<Expr>),
    Array(Vec<Expr>),
    /// `c.focal`.
    Field(Box<Expr>, Name),
    /// `{ focal = 1.0; centre = c }`, or `{ c with focal = 1.0 }`.
    Record(Option<Box<Expr>>, Vec<(Name, Expr)>),
    /// `match e with | p -> e | …`; a row of several patterns is several rows.
    Match(Box<Expr>, Vec<Row>),
    /// `deriv e x`.
    Deriv(Box<Expr>, Name),
}

/// A row of a `match`.
#[derive(Clone, Debug)]
pub struct Row {
    pub pattern: Pattern,
    pub body: Expr,
}

#[derive(Clone, Debug)]
pub struct LocalFun {
    pub name: Name,
    pub params: Vec<Pattern>,
    pub result: Option<TypeExpr>,
    pub value: Expr,
    pub recursion: Option<Recursion>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    /// `.*` and `./`: element by element.
    EMul,
    EDiv,
    Rem,
    Pow,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnOp {
    Neg,
    Not,
}

#[derive(Clone, Debug)]
pub struct TypeExpr {
    pub kind: TypeExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TypeExprKind {
    Double,
    Bool,
    /// `_`: whatever fits.
    Any,
    /// `Index` or `Index<s>`.
    Index(Option<SizeExpr>),
    /// `Array<T>` or `Array<T, s>`; `Vector`, `VectorD`, `Matrix`, `MatrixD`, `DoubleD` are expanded to these by the parser.
    Array(Box<TypeExpr>, Option<SizeExpr>),
    Tuple(Vec<TypeExpr>),
    /// A declared type and its sizes.
    Named(Name, Vec<SizeExpr>),
    Fun(Vec<TypeExpr>, Box<TypeExpr>),
}

#[derive(Clone, Debug)]
pub struct SizeExpr {
    pub kind: SizeExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum SizeExprKind {
    Int(i64),
    Name(Rc<str>),
    Add(Box<SizeExpr>, Box<SizeExpr>),
    Sub(Box<SizeExpr>, Box<SizeExpr>),
    Mul(Box<SizeExpr>, Box<SizeExpr>),
}
