//! Where values are: views of what exists, and destinations for what is to be written.
//!
//! An array is one contiguous row-major block for each scalar leaf of its element type (struct of arrays).
//! A leaf remembers its block's lengths and the indices taken so far, so that `a[i][j]` is one access with two
//! subscripts, and `a[i]` handed to a callee is a pointer to where the row begins.

use crate::ir::{Size, Type};

pub use crate::loops::analysis::sizes::elem;
use crate::loops::program::{Elem, Id, Place, Value};

/// One block with some of its indices taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    pub base: Id,
    pub elem: Elem,
    pub dims: Vec<Size>,
    pub taken: Vec<Value>,
}

/// An array that is in memory: its type, with sizes over parameters and loop indices, and its leaves.
#[derive(Clone, Debug)]
pub struct ArrayView {
    pub ty: Type,
    pub leaves: Vec<Leaf>,
}

/// A value that can be read.
#[derive(Clone, Debug)]
pub enum View {
    Scalar(Value),
    Tuple(Vec<View>),
    Array(ArrayView),
}

impl View {
    /// A component of a tuple.
    pub fn part(&self, k: usize) -> Option<&View> {
        match self {
            View::Tuple(parts) => parts.get(k),
            View::Scalar(_) | View::Array(_) => None,
        }
    }
}

/// A destination of some type, to be written once.
#[derive(Clone, Debug)]
pub enum Dest {
    Scalar(Target),
    Tuple(Vec<Dest>),
    Array(ArrayView),
}

/// A scalar destination.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    Local(Id),
    Leaf(Leaf),
}

/// The scalar leaves of a type, depth first: element kind and lengths.
pub fn leaves(ty: &Type) -> Vec<(Elem, Vec<Size>)> {
    fn go(ty: &Type, dims: &mut Vec<Size>, out: &mut Vec<(Elem, Vec<Size>)>) {
        match ty {
            Type::Array(element, size) => {
                dims.push(size.clone());
                go(element, dims, out);
                dims.pop();
            }
            Type::Tuple(parts) => parts.iter().for_each(|part| go(part, dims, out)),
            Type::Double => out.push((Elem::Double, dims.clone())),
            Type::Bool => out.push((Elem::Bool, dims.clone())),
            // no program that comes here has one: `driver` refuses it
            Type::Rec(_) => {}
            Type::Index(_) => out.push((Elem::Index, dims.clone())),
        }
    }
    let mut out = Vec::new();
    go(ty, &mut Vec::new(), &mut out);
    out
}

impl Leaf {
    /// The block with other lengths in the place of so many, those of the next indices.
    fn with_dims(&self, count: usize, dims: &[Size]) -> Option<Leaf> {
        let (from, to) = (self.taken.len(), self.taken.len() + count);
        let mut leaf = self.clone();
        if to > leaf.dims.len() {
            return None;
        }
        leaf.dims.splice(from..to, dims.iter().cloned());
        Some(leaf)
    }
}

impl ArrayView {
    /// The element at an index, as leaves: the caller turns scalar leaves into loads or places.
    pub fn element(&self, index: &Value) -> Option<(Type, Vec<Leaf>)> {
        let element = self.ty.element()?.clone();
        let leaves = self.leaves.iter().map(|leaf| {
            let mut leaf = leaf.clone();
            leaf.taken.push(index.clone());
            leaf
        });
        Some((element, leaves.collect()))
    }

    /// The arrays of an array of tuples, one for each component.
    pub fn components(&self) -> Vec<ArrayView> {
        let Type::Array(element, size) = &self.ty else { return Vec::new() };
        let Type::Tuple(parts) = &**element else { return Vec::new() };
        let mut blocks = self.leaves.iter();
        let view = |part: &Type| {
            let leaves = blocks.by_ref().take(leaves(part).len()).cloned().collect();
            ArrayView { ty: Type::array(part.clone(), size.clone()), leaves }
        };
        parts.iter().map(view).collect()
    }

    /// The elements of so many levels of arrays in arrays, as one array: the same memory.
    pub fn flattened(&self, levels: usize) -> Option<ArrayView> {
        let (mut element, mut length) = (&self.ty, Size::constant(1));
        for _ in 0..levels {
            let Type::Array(inner, size) = element else { return None };
            (element, length) = (inner, length.mul(size));
        }
        let leaves = self.leaves.iter().map(|leaf| leaf.with_dims(levels, std::slice::from_ref(&length))).collect::<Option<_>>()?;
        Some(ArrayView { ty: Type::array(element.clone(), length), leaves })
    }

    /// The array as arrays in arrays of these lengths: the opposite of `flattened`.
    pub fn nested(&self, dims: &[Size]) -> Option<ArrayView> {
        let Type::Array(element, length) = &self.ty else { return None };
        if *length != dims.iter().fold(Size::constant(1), |product, size| product.mul(size)) {
            return None;
        }
        let leaves = self.leaves.iter().map(|leaf| leaf.with_dims(1, dims)).collect::<Option<_>>()?;
        let ty = dims.iter().rev().fold(element.as_ref().clone(), |element, size| Type::array(element, size.clone()));
        Some(ArrayView { ty, leaves })
    }

    pub fn length(&self) -> Size {
        match &self.ty {
            Type::Array(_, size) => size.clone(),
            Type::Double | Type::Bool | Type::Index(_) | Type::Tuple(_) | Type::Rec(_) => Size::constant(0),
        }
    }
}

impl Dest {
    /// The destination of a type over leaves in depth-first order.
    pub fn over(ty: &Type, leaves: &mut dyn Iterator<Item = Leaf>) -> Dest {
        match ty {
            Type::Array(..) => {
                let count = self::leaves(ty).len();
                Dest::Array(ArrayView { ty: ty.clone(), leaves: leaves.take(count).collect() })
            }
            Type::Tuple(parts) => Dest::Tuple(parts.iter().map(|part| Dest::over(part, leaves)).collect()),
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => match leaves.next() {
                Some(leaf) => Dest::Scalar(Target::Leaf(leaf)),
                None => Dest::Tuple(Vec::new()),
            },
        }
    }
}

impl Target {
    pub fn place(&self, offset: impl FnOnce(&Leaf) -> Option<Value>) -> Place {
        match self {
            Target::Local(id) => Place::Local(*id),
            Target::Leaf(leaf) => Place::Element { base: leaf.base, offset: offset(leaf) },
        }
    }
}
