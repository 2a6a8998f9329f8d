//! Linear maps: a tree of the operations of 003 Figure 3, and what `ifold`, `if` and `let` need beside them.
//!
//! In: the parts of a map. Out: a [`Map`], which knows where it goes from and to, and how large it is. What a map is applied to is in
//! [`super::apply`].
//!
//!     (S(y) ⋈ S(x)) : Double * Double ⊸ Double

use std::rc::Rc;

use crate::ir::{Expr, Size, Status, Type, Var};
use crate::source::Span;

/// A shared, immutable linear map.
#[derive(Clone, Debug)]
pub struct Map(Rc<Node>);

#[derive(Debug)]
struct Node {
    form: Form,
    from: Type,
    to: Type,
    size: usize,
}

/// The operations on linear maps.
#[derive(Clone, Debug)]
pub enum Form {
    Zero,
    One,
    /// S(k), on Doubles.
    Scale(Expr),
    /// The first after the second.
    Compose(Map, Map),
    Sum(Vec<Map>),
    /// m₁ × … × mₙ: one domain, a tuple of results.
    VCat(Vec<Map>),
    /// m₁ ⋈ … ⋈ mₙ: a tuple of arguments, the sum of the results.
    HCat(Vec<Map>),
    /// 𝒱(build n (fun i -> m)).
    VBuild(Expr, Var, Map),
    /// ℋ(build n (fun i -> m)): element i goes through m, and the results are added.
    HBuild(Expr, Var, Map),
    /// The sum of m for all i.
    SumBuild(Expr, Var, Map),
    /// 𝒱 and ℋ of an array that is written out.
    VList(Vec<Map>),
    HList(Vec<Map>),
    /// Element i: ℋ(build n (fun j -> if i = j then 1 else 0)).
    At(Expr),
    /// Its transpose, 𝒱(…).
    Hot(Expr),
    If(Expr, Map, Map),
    Let(Var, Expr, Map),
    Check(Expr, Status, Span, Map),
    /// The derivative of a fold (003 Section 8), and its transpose.
    Fold(Rc<Folding>),
    FoldBack(Rc<Folding>),
}

/// `ifold (fun acc i -> body) init n`, with the linear maps of a step and of the start.
#[derive(Clone, Debug)]
pub struct Folding {
    pub n: Expr,
    pub acc: Var,
    pub i: Var,
    pub body: Expr,
    pub init: Expr,
    /// From the pair of domain and state.
    pub step: Map,
    pub start: Map,
}

impl Map {
    fn new(form: Form, from: Type, to: Type) -> Map {
        let parts = |maps: &[Map]| maps.iter().fold(1usize, |size, map| size.saturating_add(map.size()));
        let size = match &form {
            Form::Zero | Form::One => 1,
            Form::Scale(k) | Form::At(k) | Form::Hot(k) => 1 + k.node_count(),
            Form::Compose(a, b) => parts(&[a.clone(), b.clone()]),
            Form::Sum(maps) | Form::VCat(maps) | Form::HCat(maps) | Form::VList(maps) | Form::HList(maps) => parts(maps),
            Form::VBuild(n, _, map)
            | Form::HBuild(n, _, map)
            | Form::SumBuild(n, _, map)
            | Form::Let(_, n, map)
            | Form::Check(n, _, _, map) => n.node_count().saturating_add(map.size()),
            Form::If(cond, a, b) => cond.node_count().saturating_add(parts(&[a.clone(), b.clone()])),
            Form::Fold(fold) | Form::FoldBack(fold) => {
                let terms = fold.n.node_count() + fold.body.node_count() + fold.init.node_count();
                terms.saturating_add(parts(&[fold.step.clone(), fold.start.clone()]))
            }
        };
        Map(Rc::new(Node { form, from, to, size }))
    }

    pub fn form(&self) -> &Form {
        &self.0.form
    }

    pub fn from(&self) -> &Type {
        &self.0.from
    }

    pub fn to(&self) -> &Type {
        &self.0.to
    }

    /// The number of its parts, with the nodes of terms in them.
    pub fn size(&self) -> usize {
        self.0.size
    }

    pub fn is_zero(&self) -> bool {
        matches!(self.form(), Form::Zero)
    }

    pub fn zero(from: &Type, to: &Type) -> Map {
        Map::new(Form::Zero, from.clone(), to.clone())
    }

    pub fn one(ty: &Type) -> Map {
        Map::new(Form::One, ty.clone(), ty.clone())
    }

    pub fn scale(k: Expr) -> Map {
        Map::new(Form::Scale(k), Type::Double, Type::Double)
    }

    pub fn compose(after: Map, before: Map) -> Map {
        let (from, to) = (before.from().clone(), after.to().clone());
        Map::new(Form::Compose(after, before), from, to)
    }

    /// Of at least one map.
    pub fn sum(from: &Type, to: &Type, maps: Vec<Map>) -> Map {
        Map::new(Form::Sum(maps), from.clone(), to.clone())
    }

    pub fn vcat(from: &Type, maps: Vec<Map>) -> Map {
        let to = Type::tuple(maps.iter().map(|map| map.to().clone()).collect());
        Map::new(Form::VCat(maps), from.clone(), to)
    }

    pub fn hcat(to: &Type, maps: Vec<Map>) -> Map {
        let from = Type::tuple(maps.iter().map(|map| map.from().clone()).collect());
        Map::new(Form::HCat(maps), from, to.clone())
    }

    /// A component of a tuple: 0 ⋈ … ⋈ 1 ⋈ … ⋈ 0.
    pub fn part(tuple: &[Type], k: usize) -> Map {
        let to = tuple.get(k).cloned().unwrap_or(Type::Double);
        let parts = tuple.iter().enumerate().map(|(at, ty)| if at == k { Map::one(ty) } else { Map::zero(ty, &to) });
        Map::hcat(&to, parts.collect())
    }

    pub fn vbuild(n: Expr, i: Var, map: Map, to: &Type) -> Map {
        let from = map.from().clone();
        Map::new(Form::VBuild(n, i, map), from, to.clone())
    }

    pub fn hbuild(n: Expr, i: Var, map: Map, from: &Type) -> Map {
        let to = map.to().clone();
        Map::new(Form::HBuild(n, i, map), from.clone(), to)
    }

    pub fn sum_build(n: Expr, i: Var, map: Map) -> Map {
        let (from, to) = (map.from().clone(), map.to().clone());
        Map::new(Form::SumBuild(n, i, map), from, to)
    }

    pub fn vlist(from: &Type, to: &Type, maps: Vec<Map>) -> Map {
        Map::new(Form::VList(maps), from.clone(), to.clone())
    }

    pub fn hlist(from: &Type, to: &Type, maps: Vec<Map>) -> Map {
        Map::new(Form::HList(maps), from.clone(), to.clone())
    }

    /// An element of an array of this type.
    pub fn at(array: &Type, index: Expr) -> Map {
        let element = array.element().cloned().unwrap_or(Type::Double);
        Map::new(Form::At(index), array.clone(), element)
    }

    pub fn hot(array: &Type, index: Expr) -> Map {
        let element = array.element().cloned().unwrap_or(Type::Double);
        Map::new(Form::Hot(index), element, array.clone())
    }

    pub fn if_(cond: Expr, then: Map, otherwise: Map) -> Map {
        let (from, to) = (then.from().clone(), then.to().clone());
        Map::new(Form::If(cond, then, otherwise), from, to)
    }

    /// The types have the value in the place of the variable, where a length mentions it.
    pub fn let_(var: Var, value: Expr, map: Map) -> Map {
        let outside = |ty: &Type| match var.ty() {
            Type::Index(_) => {
                ty.map_sizes(&mut |size| if size.mentions(&var) { size.replace(&var, &Size::of_expr(&value)) } else { size.clone() })
            }
            Type::Double | Type::Bool | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => ty.clone(),
        };
        let (from, to) = (outside(map.from()), outside(map.to()));
        Map::new(Form::Let(var, value, map), from, to)
    }

    pub fn check(cond: Expr, status: Status, span: Span, map: Map) -> Map {
        let (from, to) = (map.from().clone(), map.to().clone());
        Map::new(Form::Check(cond, status, span, map), from, to)
    }

    pub fn fold(fold: Folding) -> Map {
        let (from, to) = (fold.start.from().clone(), fold.start.to().clone());
        Map::new(Form::Fold(Rc::new(fold)), from, to)
    }

    pub fn fold_back(fold: Rc<Folding>) -> Map {
        let (from, to) = (fold.start.to().clone(), fold.start.from().clone());
        Map::new(Form::FoldBack(fold), from, to)
    }

    /// A fold turned round again.
    pub fn fold_of(fold: Rc<Folding>) -> Map {
        let (from, to) = (fold.start.from().clone(), fold.start.to().clone());
        Map::new(Form::Fold(fold), from, to)
    }
}
