//! Values: what a term evaluates to, and what a program takes and gives.
//!
//! A [`Value`] of plain doubles is what callers build and read; the interpreter runs on the same type over
//! [`Number`](super::number::Number)s, which may carry tangents. Arrays know the shape of their elements
//! also when they have none, so a 0×3 matrix has three columns; an empty array from outside whose inner
//! sizes nobody said has elements of [`Shape::Unknown`] and gets the sizes that the entry declares.
//!
//!     Value::matrix(2, 3, &[1., 2., 3., 4., 5., 6.])   has shape   Array(Array(Double, 3), 2)

use std::rc::Rc;

use super::rolled::{Rolled, deep};

/// A value over doubles of kind `N`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<N = f64> {
    Double(N),
    Index(i64),
    Bool(bool),
    Tuple(Rc<Vec<Value<N>>>),
    Array(Rc<Array<N>>),
    /// Of a recursive type.
    Rolled(Rolled<N>),
}

/// A regular array: all items have the shape `element`.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<N = f64> {
    pub element: Shape,
    pub items: Vec<Value<N>>,
}

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
    fn has_rolled(&self) -> bool {
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

impl<N: Clone> Value<N> {
    pub fn tuple(parts: Vec<Value<N>>) -> Value<N> {
        Value::Tuple(Rc::new(parts))
    }

    /// An array of items of one shape; `None` when their shapes differ. Without items the element's shape is
    /// not known: see [`Value::empty`].
    pub fn array(items: Vec<Value<N>>) -> Option<Value<N>> {
        let element = items.first().map_or(Shape::Unknown, Value::shape);
        items.iter().all(|item| item.has_shape(&element)).then(|| Value::from_items(element, items))
    }

    /// The array of length 0 with elements of this shape.
    pub fn empty(element: Shape) -> Value<N> {
        Value::from_items(element, Vec::new())
    }

    /// An array of items that are known to have this shape.
    pub(super) fn from_items(element: Shape, items: Vec<Value<N>>) -> Value<N> {
        Value::Array(Rc::new(Array { element, items }))
    }

    pub fn shape(&self) -> Shape {
        match self {
            Value::Double(_) => Shape::Double,
            Value::Index(_) => Shape::Index,
            Value::Bool(_) => Shape::Bool,
            Value::Tuple(parts) => Shape::Tuple(parts.iter().map(Value::shape).collect()),
            Value::Array(array) => Shape::array(array.element.clone(), array.items.len()),
            Value::Rolled(_) => Shape::Rolled,
        }
    }

    /// Whether the value's shape agrees with this one.
    pub fn has_shape(&self, shape: &Shape) -> bool {
        match (self, shape) {
            (_, Shape::Unknown) => true,
            (Value::Double(_), Shape::Double) | (Value::Index(_), Shape::Index) | (Value::Bool(_), Shape::Bool) => true,
            (Value::Rolled(_), Shape::Rolled) => true,
            (Value::Tuple(parts), Shape::Tuple(shapes)) => {
                parts.len() == shapes.len() && parts.iter().zip(shapes.iter()).all(|(part, shape)| part.has_shape(shape))
            }
            (Value::Array(array), Shape::Array(element, length)) => array.items.len() == *length && array.element.agrees(element),
            (Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_), _) => false,
        }
    }

    /// Whether both have the same shape, what is rolled in them too: a value is there in one where it is in the other.
    pub(super) fn is_shaped_as<M: Clone>(&self, other: &Value<M>) -> bool {
        match (self, other) {
            (Value::Rolled(a), Value::Rolled(b)) => match (a.unrolled(), b.unrolled()) {
                (Some(a), Some(b)) => deep(|| a.is_shaped_as(b)),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            },
            (Value::Tuple(a), Value::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.is_shaped_as(b)),
            (Value::Array(a), Value::Array(b)) => {
                let same = a.items.len() == b.items.len() && a.element.agrees(&b.element);
                same && (!a.element.has_rolled() || a.items.iter().zip(&b.items).all(|(a, b)| a.is_shaped_as(b)))
            }
            (Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_), other) => {
                other.has_shape(&self.shape())
            }
        }
    }

    /// The items of an array, the parts of a tuple, what is rolled; none for a scalar.
    pub fn items(&self) -> &[Value<N>] {
        match self {
            Value::Array(array) => &array.items,
            Value::Tuple(parts) => parts,
            Value::Rolled(rolled) => rolled.unrolled().map_or(&[], std::slice::from_ref),
            Value::Double(_) | Value::Index(_) | Value::Bool(_) => &[],
        }
    }

    /// The lengths of an array's dimensions, outermost first.
    pub fn dims(&self) -> Vec<usize> {
        self.shape().dims()
    }

    pub fn as_index(&self) -> Option<i64> {
        match self {
            Value::Index(value) => Some(*value),
            Value::Double(_) | Value::Bool(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_) => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            Value::Double(_) | Value::Index(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_) => None,
        }
    }

    /// Calls `f` on every double inside, in order.
    pub fn each_double(&self, f: &mut dyn FnMut(&N)) {
        match self {
            Value::Double(number) => f(number),
            Value::Index(_) | Value::Bool(_) => {}
            Value::Tuple(_) | Value::Array(_) => self.items().iter().for_each(|item| item.each_double(f)),
            Value::Rolled(rolled) => rolled.unrolled().into_iter().for_each(|value| deep(|| value.each_double(f))),
        }
    }

    /// The same value with every double mapped.
    pub(super) fn map<M: Clone>(&self, f: &mut dyn FnMut(&N) -> M) -> Value<M> {
        match self {
            Value::Double(number) => Value::Double(f(number)),
            Value::Index(value) => Value::Index(*value),
            Value::Bool(value) => Value::Bool(*value),
            Value::Tuple(parts) => Value::tuple(parts.iter().map(|part| part.map(f)).collect()),
            Value::Array(array) => Value::from_items(array.element.clone(), array.items.iter().map(|item| item.map(f)).collect()),
            Value::Rolled(rolled) => Value::Rolled(rolled.map(&mut |value| value.map(f))),
        }
    }
}

impl Value {
    pub fn vector(items: &[f64]) -> Value {
        Value::from_items(Shape::Double, items.iter().map(|item| Value::Double(*item)).collect())
    }

    pub fn indices(items: &[i64]) -> Value {
        Value::from_items(Shape::Index, items.iter().map(|item| Value::Index(*item)).collect())
    }

    /// A matrix from its rows one after another; missing items are 0.
    pub fn matrix(rows: usize, cols: usize, items: &[f64]) -> Value {
        let row = |r: usize| Value::vector(&(0..cols).map(|c| items.get(r * cols + c).copied().unwrap_or(0.0)).collect::<Vec<_>>());
        Value::from_items(Shape::array(Shape::Double, cols), (0..rows).map(row).collect())
    }

    pub fn as_double(&self) -> Option<f64> {
        match self {
            Value::Double(value) => Some(*value),
            Value::Index(_) | Value::Bool(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_) => None,
        }
    }

    /// Every double inside, in order.
    pub fn doubles(&self) -> Vec<f64> {
        let mut found = Vec::new();
        self.each_double(&mut |number| found.push(*number));
        found
    }
}
