//! Values: what a term evaluates to, and what a program takes and gives.
//!
//! A [`Value`] of plain doubles is what callers build and read; the interpreter runs on the same type over
//! [`Number`](super::number::Number)s, which may carry tangents. One of a recursive type is [rolled](Rolled): the tuple of a tag and data
//! behind a pointer, shared as arrays are, or none where the data of another case stand. A list of a million elements is as deep as it is
//! long, so whoever goes into a rolled value does it by [`deep`], which makes room on the stack, and what is dropped last is taken apart
//! in a loop.
//!
//!     Node (Leaf 1.0, Leaf 2.0)   →   Rolled (1, 0.0, (Rolled (0, 1.0, (absent, absent)), Rolled (0, 2.0, (absent, absent))))

use std::fmt;
use std::rc::Rc;

use super::shape::Shape;

/// The stack that one level may need, and by how much it grows, in bytes.
const STACK_LEFT: usize = 1 << 17;
const STACK_STEP: usize = 1 << 25;

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

/// A value of a recursive type.
#[derive(Clone)]
pub struct Rolled<N = f64>(Option<Rc<Value<N>>>);

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

/// Does something one level deeper, where the stack has room for it.
pub fn deep<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK_LEFT, STACK_STEP, f)
}

impl<N> Rolled<N> {
    /// What stands in the data of another case.
    pub const ABSENT: Rolled<N> = Rolled(None);

    pub fn new(value: Value<N>) -> Rolled<N> {
        Rolled(Some(Rc::new(value)))
    }

    /// The unrolled value; none where another case's data stand.
    pub fn unrolled(&self) -> Option<&Value<N>> {
        self.0.as_deref()
    }

    /// The same with what is in it mapped.
    pub fn map<M>(&self, f: &mut dyn FnMut(&Value<N>) -> Value<M>) -> Rolled<M> {
        self.unrolled().map_or(Rolled(None), |value| Rolled::new(deep(|| f(value))))
    }
}

impl<N: PartialEq> PartialEq for Rolled<N> {
    fn eq(&self, other: &Rolled<N>) -> bool {
        match (self.unrolled(), other.unrolled()) {
            (Some(a), Some(b)) => deep(|| a == b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl<N: fmt::Debug> fmt::Debug for Rolled<N> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.unrolled() {
            Some(value) => deep(|| write!(f, "Rolled({value:?})")),
            None => write!(f, "Absent"),
        }
    }
}

/// Without going deeper: what is in there is first taken out of its parents, level by level.
impl<N> Drop for Rolled<N> {
    fn drop(&mut self) {
        let mut left: Vec<Value<N>> = self.0.take().and_then(Rc::into_inner).into_iter().collect();
        while let Some(mut value) = left.pop() {
            take_apart(&mut value, &mut left);
        }
    }
}

/// Takes the rolled values out of one that is dropped, where nobody else has them.
fn take_apart<N>(value: &mut Value<N>, found: &mut Vec<Value<N>>) {
    match value {
        Value::Double(_) | Value::Index(_) | Value::Bool(_) => {}
        Value::Tuple(parts) => Rc::get_mut(parts).into_iter().flatten().for_each(|part| take_apart(part, found)),
        Value::Array(array) => {
            let items = Rc::get_mut(array).map(|array| &mut array.items);
            items.into_iter().flatten().for_each(|item| take_apart(item, found));
        }
        Value::Rolled(rolled) => found.extend(rolled.0.take().and_then(Rc::into_inner)),
    }
}
