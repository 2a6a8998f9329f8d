//! Adjoints: the storage in which derivatives are accumulated.
//!
//! Each Double of an active value, with the arrays around it, is a *wire*: an array of Doubles of some rank (a Double alone
//! has rank 0), whatever tuples are between. A component or an element of a value has no wire of its own: it is a
//! [`Place`] in one. So adjoints are always arrays of Doubles, one contiguous block each.
//!
//!     v: Array<Index * (Double * Double), n>   two wires of rank 1; v[i].1.0 is the first one at [i]

use crate::ad::activity::Activity;
use crate::ir::{Expr, Size, Type};

/// The number of a wire.
pub type Wire = usize;

/// A wire, or an element or a row of it.
#[derive(Clone, Debug)]
pub struct Place {
    pub wire: Wire,
    /// Names or small arithmetic, free to write again.
    pub indices: Vec<Expr>,
}

/// The wires of a value, by its tuples; arrays do not show.
#[derive(Clone, Debug)]
pub enum Adjoint {
    /// No Double here is active.
    None,
    Leaf(Place),
    Parts(Vec<Adjoint>),
}

/// What is known of a wire: the value that it belongs to.
#[derive(Clone, Debug)]
pub struct WireInfo {
    /// A name for people.
    pub name: String,
    /// The value, by a name that is in scope wherever the wire is used.
    pub primal: Expr,
    /// The components that lead to the Double.
    pub path: Vec<usize>,
}

/// What the cotangent of a value is called.
pub fn bar(name: &str) -> String {
    format!("{name}_bar")
}

impl Adjoint {
    pub fn is_none(&self) -> bool {
        match self {
            Adjoint::None => true,
            Adjoint::Leaf(_) => false,
            Adjoint::Parts(parts) => parts.iter().all(Adjoint::is_none),
        }
    }

    pub fn part(&self, k: usize) -> Adjoint {
        match self {
            Adjoint::None | Adjoint::Leaf(_) => Adjoint::None,
            Adjoint::Parts(parts) => parts.get(k).cloned().unwrap_or(Adjoint::None),
        }
    }

    /// The adjoint of an element.
    pub fn element(&self, index: &Expr) -> Adjoint {
        match self {
            Adjoint::None => Adjoint::None,
            Adjoint::Leaf(place) => {
                let mut place = place.clone();
                place.indices.push(index.clone());
                Adjoint::Leaf(place)
            }
            Adjoint::Parts(parts) => Adjoint::Parts(parts.iter().map(|part| part.element(index)).collect()),
        }
    }

    /// Which parts are active, for the analysis of a scope that has the value.
    pub fn activity(&self, ty: &Type) -> Activity {
        match (self, ty) {
            (Adjoint::None, _) => Activity::None,
            (adjoint, _) if adjoint.is_none() => Activity::None,
            (Adjoint::Parts(parts), Type::Tuple(types)) => {
                Activity::Tuple(parts.iter().zip(types.iter()).map(|(part, ty)| part.activity(ty)).collect())
            }
            (Adjoint::Leaf(_) | Adjoint::Parts(_), _) => Activity::Whole,
        }
    }

    /// The place of the Double at the end of a path through tuples.
    pub fn at(&self, path: &[usize]) -> Option<&Place> {
        match (self, path.split_first()) {
            (Adjoint::Leaf(place), _) => Some(place),
            (Adjoint::Parts(parts), Some((k, rest))) => parts.get(*k)?.at(rest),
            (Adjoint::Parts(_) | Adjoint::None, _) => None,
        }
    }

    /// The places, depth first.
    pub fn leaves(&self) -> Vec<&Place> {
        match self {
            Adjoint::None => Vec::new(),
            Adjoint::Leaf(place) => vec![place],
            Adjoint::Parts(parts) => parts.iter().flat_map(Adjoint::leaves).collect(),
        }
    }
}

impl WireInfo {
    /// Zeros for the whole wire.
    pub fn zeros(&self) -> Expr {
        zeros(&self.primal, &self.path)
    }
}

/// Zeros for the Double at the end of `path` in a value, in the arrays around it.
pub fn zeros(value: &Expr, path: &[usize]) -> Expr {
    each(value, &[], value.ty(), path, &mut |_| Expr::double(0.0))
}

/// The Double at the end of `path` in a value, in the arrays around it: the component itself where no tuple is in an array.
pub fn leaf(value: &Expr, path: &[usize]) -> Expr {
    let mut value = value.clone();
    let mut path = path;
    while let (Type::Tuple(_), Some((k, rest))) = (value.ty(), path.split_first()) {
        value = Expr::proj(value, *k);
        path = rest;
    }
    if path.is_empty() { value } else { each(&value.clone(), &[], value.ty(), path, &mut |double| double) }
}

/// `f` of each Double of a leaf, in arrays of the lengths of the value's.
fn each(array: &Expr, indices: &[Expr], ty: &Type, path: &[usize], f: &mut dyn FnMut(Expr) -> Expr) -> Expr {
    let read = |array: &Expr| indices.iter().fold(array.clone(), |array, index| Expr::get(array, index.clone()));
    match ty {
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => f(read(array)),
        Type::Array(element, _) => Expr::build(Expr::dim(array.clone(), indices.len()), "i", |i| {
            let indices: Vec<Expr> = indices.iter().cloned().chain([i]).collect();
            each(array, &indices, element, path, f)
        }),
        Type::Tuple(parts) => match path.split_first() {
            Some((k, rest)) if *k < parts.len() => each(&Expr::proj(read(array), *k), &[], &parts[*k], rest, f),
            Some(_) | None => Expr::double(0.0),
        },
    }
}

/// The paths to the Doubles of a type that are active, depth first, with the type of each leaf.
pub fn paths(ty: &Type, active: &Activity) -> Vec<(Vec<usize>, Type)> {
    fn go(ty: &Type, active: &Activity, path: &mut Vec<usize>, around: &mut Vec<Size>, out: &mut Vec<(Vec<usize>, Type)>) {
        if active.is_none() {
            return;
        }
        match ty {
            Type::Double => {
                let leaf = around.iter().rev().fold(Type::Double, |ty, size| Type::array(ty, size.clone()));
                out.push((path.clone(), leaf));
            }
            Type::Bool | Type::Index(_) | Type::Rec(_) => {}
            Type::Array(element, size) => {
                around.push(size.clone());
                go(element, &Activity::Whole, path, around, out);
                around.pop();
            }
            Type::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    path.push(k);
                    go(part, &active.part(k), path, around, out);
                    path.pop();
                }
            }
        }
    }
    let mut out = Vec::new();
    go(ty, active, &mut Vec::new(), &mut Vec::new(), &mut out);
    out
}

/// The adjoint of a type whose active leaves are given in order.
pub fn tree(ty: &Type, active: &Activity, leaves: &mut dyn Iterator<Item = Place>) -> Adjoint {
    match ty {
        _ if active.is_none() => Adjoint::None,
        Type::Double => leaves.next().map_or(Adjoint::None, Adjoint::Leaf),
        Type::Bool | Type::Index(_) | Type::Rec(_) => Adjoint::None,
        Type::Array(element, _) => tree(element, &Activity::Whole, leaves),
        Type::Tuple(parts) => Adjoint::Parts(parts.iter().enumerate().map(|(k, part)| tree(part, &active.part(k), leaves)).collect()),
    }
}
