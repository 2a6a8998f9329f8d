//! Into and out of a `dual` term: seeding the independent variable, taking tangents off the result.
//!
//!     seed(0, 3.0, 1.0) = 3 + ε₀;   pair(0, [9 + 6ε₀, 2]) = [(9, 6), (2, 0)]

use std::rc::Rc;

use super::arithmetic::Arithmetic;
use super::number::{Number, V};
use super::shape::Shape;
use super::value::Value;
use crate::ir::prim::Prim;

/// The independent variable: each double of `at` with its tangent, under the tag.
pub fn seed(tag: u32, at: &V, tangent: &V) -> V {
    match (at, tangent) {
        (Value::Double(at), Value::Double(tangent)) => Value::Double(Number::dual(tag, at.clone(), tangent.clone())),
        (Value::Array(a), Value::Array(t)) => {
            Value::from_items(a.element.clone(), a.items.iter().zip(&t.items).map(|(a, t)| seed(tag, a, t)).collect())
        }
        (Value::Tuple(a), Value::Tuple(t)) => Value::tuple(a.iter().zip(t.iter()).map(|(a, t)| seed(tag, a, t)).collect()),
        (Value::Rolled(a), Value::Rolled(t)) => match t.unrolled() {
            Some(t) => Value::Rolled(a.map(&mut |a| seed(tag, a, t))),
            None => at.clone(),
        },
        (at, _) => at.clone(),
    }
}

fn tangent(tag: u32, number: &Number) -> Number {
    number.split(tag).1.cloned().unwrap_or(Number::Plain(0.0))
}

/// The dual of the body's value: each double becomes its primal and its tangent, 0 where it has none, and so a value of a recursive type
/// as a whole.
pub fn pair(tag: u32, value: &V) -> V {
    match value {
        Value::Double(number) => Value::tuple(vec![Value::Double(number.split(tag).0.clone()), Value::Double(tangent(tag, number))]),
        Value::Index(_) | Value::Bool(_) => value.clone(),
        Value::Tuple(parts) => Value::tuple(parts.iter().map(|part| pair(tag, part)).collect()),
        Value::Array(array) => Value::from_items(array.element.dual(), array.items.iter().map(|item| pair(tag, item)).collect()),
        Value::Rolled(_) => Value::tuple(vec![primal(tag, value), value.map(&mut |number| tangent(tag, number))]),
    }
}

/// The value without what the tag gives it.
pub fn primal(tag: u32, value: &V) -> V {
    value.map(&mut |number| number.split(tag).0.clone())
}

/// What is said of two values, each with what it is, whose shapes should be one.
pub fn misfit((what, value): (&str, &V), (other, wanted): (&str, &V)) -> String {
    match value.has_shape(&wanted.shape()) {
        true => format!("the {what} has other cases, or arrays of other lengths, than the {other}"),
        false => format!("the {what} has shape {}, the {other} {}", value.shape(), wanted.shape()),
    }
}

/// The number of Doubles in a value.
pub fn count_doubles(value: &V) -> usize {
    let mut count = 0;
    value.each_double(&mut |_| count += 1);
    count
}

/// The tangent of a value's shape with a 1 at its k-th Double and 0 elsewhere.
pub fn unit_of(value: &V, k: usize) -> V {
    let mut at = 0;
    value.map(&mut |_| {
        at += 1;
        Number::Plain(if at == k + 1 { 1.0 } else { 0.0 })
    })
}

/// The tangents of a dual value, depth first; `value` says where it has Doubles.
pub fn tangents(dual: &V, value: &V, found: &mut Vec<Number>) {
    match (value, dual) {
        (Value::Double(_), Value::Tuple(pair)) => {
            if let Some(Value::Double(tangent)) = pair.get(1) {
                found.push(tangent.clone());
            }
        }
        (Value::Double(_) | Value::Index(_) | Value::Bool(_), _) => {}
        (Value::Tuple(_) | Value::Array(_), dual) => {
            value.items().iter().zip(dual.items()).for_each(|(value, dual)| tangents(dual, value, found));
        }
        (Value::Rolled(_), dual) => {
            dual.items().iter().skip(1).for_each(|tangents| tangents.each_double(&mut |number| found.push(number.clone())))
        }
    }
}

/// The value with a row, which has the shape of the point, in the place of each Double.
pub fn rows(value: &V, point: &Shape, next: &mut dyn Iterator<Item = V>) -> V {
    match value {
        Value::Double(_) => next.next().unwrap_or_else(|| value.clone()),
        Value::Index(_) | Value::Bool(_) => value.clone(),
        Value::Tuple(parts) => Value::tuple(parts.iter().map(|part| rows(part, point, next)).collect()),
        Value::Array(array) => {
            let items = array.items.iter().map(|item| rows(item, point, next)).collect();
            Value::from_items(array.element.with_doubles(point), items)
        }
        Value::Rolled(rolled) => Value::Rolled(rolled.map(&mut |value| rows(value, point, next))),
    }
}

/// What a `vjp` and an `accumulate` compute on whole values.
impl Arithmetic {
    /// Adds to `sum` the products of each Double of the cotangent with the tangent that `dual` has for it.
    pub fn dot(&mut self, dual: &V, cotangent: &V, primal: &V, sum: &mut Option<Number>) {
        match (primal, dual, cotangent) {
            (Value::Double(_), Value::Tuple(pair), Value::Double(weight)) => {
                let Some(Value::Double(tangent)) = pair.get(1) else { return };
                self.add_product(weight, tangent, sum);
            }
            (Value::Index(_) | Value::Bool(_) | Value::Double(_), ..) => {}
            (Value::Tuple(_) | Value::Array(_), dual, cotangent) => {
                for ((primal, dual), weight) in primal.items().iter().zip(dual.items()).zip(cotangent.items()) {
                    self.dot(dual, weight, primal, sum);
                }
            }
            (Value::Rolled(_), dual, cotangent) => {
                let (mut weights, mut slopes) = (Vec::new(), Vec::new());
                cotangent.each_double(&mut |weight| weights.push(weight.clone()));
                dual.items().iter().skip(1).for_each(|tangents| tangents.each_double(&mut |tangent| slopes.push(tangent.clone())));
                weights.iter().zip(&slopes).for_each(|(weight, tangent)| self.add_product(weight, tangent, sum));
            }
        }
    }

    fn add_product(&mut self, weight: &Number, tangent: &Number, sum: &mut Option<Number>) {
        let product = self.binary(Prim::Mul, weight, tangent).unwrap_or(Number::Plain(f64::NAN));
        *sum = Some(match sum.take() {
            None => product,
            Some(before) => self.binary(Prim::Add, &before, &product).unwrap_or(Number::Plain(f64::NAN)),
        });
    }

    /// Adds a value to one of the same shape, Double by Double.
    pub fn accumulate(&mut self, place: &mut V, value: &V) {
        match (place, value) {
            (Value::Double(place), Value::Double(value)) => {
                self.trace.counts.reads += 1;
                self.trace.counts.writes += 1;
                *place = self.binary(Prim::Add, place, value).unwrap_or(Number::Plain(f64::NAN));
            }
            (Value::Tuple(place), Value::Tuple(value)) => {
                Rc::make_mut(place).iter_mut().zip(value.iter()).for_each(|(place, value)| self.accumulate(place, value));
            }
            (Value::Array(place), Value::Array(value)) => {
                Rc::make_mut(place).items.iter_mut().zip(&value.items).for_each(|(place, value)| self.accumulate(place, value));
            }
            (Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_), _) => {}
        }
    }
}

/// Whether a cotangent asks for all rows of the Jacobian.
pub fn wants_rows(cotangent: &V) -> bool {
    matches!(cotangent, Value::Tuple(parts) if parts.is_empty())
}
