//! Into and out of a `dual` term: seeding the independent variable, taking tangents off the result.
//!
//!     seed(0, 3.0, 1.0) = 3 + ε₀;   pair(0, [9 + 6ε₀, 2]) = [(9, 6), (2, 0)]

use super::machine::V;
use super::number::Number;
use super::value::{Shape, Value};

/// The independent variable: each double of `at` with its tangent, under the tag.
pub fn seed(tag: u32, at: &V, tangent: &V) -> V {
    match (at, tangent) {
        (Value::Double(at), Value::Double(tangent)) => Value::Double(Number::dual(tag, at.clone(), tangent.clone())),
        (Value::Array(a), Value::Array(t)) => {
            Value::from_items(a.element.clone(), a.items.iter().zip(&t.items).map(|(a, t)| seed(tag, a, t)).collect())
        }
        (at, _) => at.clone(),
    }
}

/// The dual of the body's value: each double becomes its primal and its tangent, 0 where it has none.
pub fn pair(tag: u32, value: &V) -> V {
    match value {
        Value::Double(number) => {
            let (primal, tangent) = number.split(tag);
            Value::tuple(vec![Value::Double(primal.clone()), Value::Double(tangent.cloned().unwrap_or(Number::Plain(0.0)))])
        }
        Value::Index(_) | Value::Bool(_) => value.clone(),
        Value::Tuple(parts) => Value::tuple(parts.iter().map(|part| pair(tag, part)).collect()),
        Value::Array(array) => Value::from_items(dual_shape(&array.element), array.items.iter().map(|item| pair(tag, item)).collect()),
    }
}

fn dual_shape(shape: &Shape) -> Shape {
    match shape {
        Shape::Double => Shape::Tuple([Shape::Double, Shape::Double].into()),
        Shape::Index | Shape::Bool | Shape::Unknown => shape.clone(),
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(dual_shape).collect()),
        Shape::Array(element, length) => Shape::array(dual_shape(element), *length),
    }
}
