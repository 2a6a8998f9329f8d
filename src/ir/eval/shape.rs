//! The kind and the lengths of a value, without its numbers.
//!
//! In: a value, or the type of one with the lengths that it has. Out: a [`Shape`]. An array knows the shape of its elements also when it
//! has none, so a 0×3 matrix has three columns; an empty array from outside whose inner sizes nobody said has elements of
//! [`Shape::Unknown`] and gets the sizes that the entry declares.
//!
//!     Value::matrix(2, 3, &[1., 2., 3., 4., 5., 6.])   has shape   Array(Array(Double, 3), 2)

use std::rc::Rc;

/// The kind and the lengths of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Double,
    Index,
    Bool,
    Tuple(Rc<[Shape]>),
    /// Element and length.
    Array(Rc<Shape>, usize),
    /// Of a value of a recursive type, whatever is in it.
    Rolled,
    /// Of the elements of an empty array that came without: agrees with every shape.
    Unknown,
}

impl Shape {
    pub fn array(element: Shape, length: usize) -> Shape {
        Shape::Array(Rc::new(element), length)
    }

    /// The shape with another one in the place of each Double.
    pub fn with_doubles(&self, by: &Shape) -> Shape {
        match self {
            Shape::Double => by.clone(),
            Shape::Index | Shape::Bool | Shape::Rolled | Shape::Unknown => self.clone(),
            Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| part.with_doubles(by)).collect()),
            Shape::Array(element, length) => Shape::array(element.with_doubles(by), *length),
        }
    }

    /// The shape of the dual of such a value: see [`Type::dual`](crate::ir::Type::dual).
    pub fn dual(&self) -> Shape {
        match self {
            Shape::Double | Shape::Rolled => Shape::Tuple([self.clone(), self.clone()].into()),
            Shape::Index | Shape::Bool | Shape::Unknown => self.clone(),
            Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(Shape::dual).collect()),
            Shape::Array(element, length) => Shape::array(element.dual(), *length),
        }
    }

    /// Whether a value of a recursive type is in such a value.
    pub(super) fn has_rolled(&self) -> bool {
        match self {
            Shape::Rolled => true,
            Shape::Double | Shape::Index | Shape::Bool | Shape::Unknown => false,
            Shape::Tuple(parts) => parts.iter().any(Shape::has_rolled),
            Shape::Array(element, _) => element.has_rolled(),
        }
    }

    /// The lengths, outermost first; those that are not known are left out.
    pub fn dims(&self) -> Vec<usize> {
        match self {
            Shape::Array(element, length) => std::iter::once(*length).chain(element.dims()).collect(),
            Shape::Double | Shape::Index | Shape::Bool | Shape::Tuple(_) | Shape::Rolled | Shape::Unknown => Vec::new(),
        }
    }

    /// Equal, where both are known.
    pub fn agrees(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Unknown, _) | (_, Shape::Unknown) => true,
            (Shape::Double, Shape::Double) | (Shape::Index, Shape::Index) | (Shape::Bool, Shape::Bool) => true,
            (Shape::Rolled, Shape::Rolled) => true,
            (Shape::Tuple(a), Shape::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.agrees(b)),
            (Shape::Array(a, n), Shape::Array(b, m)) => n == m && (Rc::ptr_eq(a, b) || a.agrees(b)),
            (Shape::Double | Shape::Index | Shape::Bool | Shape::Tuple(_) | Shape::Array(..) | Shape::Rolled, _) => false,
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Double => write!(f, "Double"),
            Shape::Index => write!(f, "Index"),
            Shape::Bool => write!(f, "Bool"),
            Shape::Rolled => write!(f, "a recursive type"),
            Shape::Unknown => write!(f, "?"),
            Shape::Array(element, length) => write!(f, "Array<{element}, {length}>"),
            Shape::Tuple(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if k == 0 { "(" } else { " * " })?;
                }
                write!(f, ")")
            }
        }
    }
}
