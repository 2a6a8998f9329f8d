//! Values of the interpreter from and to flat columns, which the command line reads and prints.
//!
//!     Array(2, Tuple(Double, Double)), [1, 3], [2, 4]   ↔   [(1, 2), (3, 4)]

use crate::ir::eval::{self, Array, Rolled, Value};
use crate::toolchain::flat::{Column, Flat, Shape};

/// The interpreter's value.
pub fn from_flat(flat: &Flat) -> Value {
    build(&flat.shape, &flat.columns, 0)
}

fn build(shape: &Shape, columns: &[Column], at: usize) -> Value {
    match (shape, columns.first()) {
        (Shape::Array(length, element), _) => Value::Array(std::rc::Rc::new(Array {
            element: shape_of(element),
            items: (0..*length).map(|i| build(element, columns, at * length + i)).collect(),
        })),
        (Shape::Tuple(parts), _) => {
            let mut rest = columns;
            let mut items = Vec::new();
            for part in parts {
                items.push(build(part, rest, at));
                rest = rest.get(part.leaves()..).unwrap_or_default();
            }
            Value::tuple(items)
        }
        (_, Some(Column::Double(items))) => Value::Double(items.get(at).copied().unwrap_or_default()),
        (_, Some(Column::Index(items))) => Value::Index(items.get(at).copied().unwrap_or_default()),
        (_, Some(Column::Bool(items))) => Value::Bool(items.get(at).copied().unwrap_or_default()),
        (_, Some(Column::Rolled(items))) => items.get(at).cloned().unwrap_or(Value::Rolled(Rolled::ABSENT)),
        (Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled, None) => Value::Double(f64::NAN),
    }
}

fn shape_of(shape: &Shape) -> eval::Shape {
    match shape {
        Shape::Double => eval::Shape::Double,
        Shape::Index => eval::Shape::Index,
        Shape::Bool => eval::Shape::Bool,
        Shape::Rolled => eval::Shape::Rolled,
        Shape::Array(length, element) => eval::Shape::array(shape_of(element), *length),
        Shape::Tuple(parts) => eval::Shape::Tuple(parts.iter().map(shape_of).collect()),
    }
}

/// The columns of a value.
pub fn to_flat(value: &Value) -> Flat {
    let shape = flat_shape(&value.shape());
    let mut columns: Vec<Column> = shape.columns().unwrap_or_default().into_iter().map(|(column, _)| column).collect();
    collect(value, &shape, &mut columns);
    Flat { shape, columns }
}

fn flat_shape(shape: &eval::Shape) -> Shape {
    match shape {
        eval::Shape::Double => Shape::Double,
        eval::Shape::Index => Shape::Index,
        eval::Shape::Bool => Shape::Bool,
        eval::Shape::Rolled => Shape::Rolled,
        eval::Shape::Array(element, length) => Shape::Array(*length, Box::new(flat_shape(element))),
        eval::Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(flat_shape).collect()),
        // of the elements that an empty array does not have
        eval::Shape::Unknown => Shape::Double,
    }
}

fn collect(value: &Value, shape: &Shape, columns: &mut [Column]) {
    match (value, shape, columns) {
        (Value::Double(number), _, [Column::Double(items)]) => items.push(*number),
        (Value::Index(number), _, [Column::Index(items)]) => items.push(*number),
        (Value::Bool(value), _, [Column::Bool(items)]) => items.push(*value),
        (Value::Rolled(_), _, [Column::Rolled(items)]) => items.push(value.clone()),
        (Value::Array(array), Shape::Array(_, element), columns) => {
            array.items.iter().for_each(|item| collect(item, element, columns));
        }
        (Value::Tuple(parts), Shape::Tuple(shapes), columns) => {
            let mut rest = columns;
            for (part, shape) in parts.iter().zip(shapes) {
                let (mine, others) = rest.split_at_mut(shape.leaves().min(rest.len()));
                collect(part, shape, mine);
                rest = others;
            }
        }
        // a value has its own shape
        (Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Array(_) | Value::Tuple(_) | Value::Rolled(_), _, _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let pair = Shape::Tuple(vec![Shape::Double, Shape::Array(2, Box::new(Shape::Index)), Shape::Bool]);
        let flat = Flat {
            shape: Shape::Array(2, Box::new(pair)),
            columns: vec![Column::Double(vec![1.0, 2.0]), Column::Index(vec![1, 2, 3, 4]), Column::Bool(vec![true, false])],
        };
        assert_eq!(to_flat(&from_flat(&flat)), flat);
        let empty =
            Flat { shape: Shape::Array(0, Box::new(Shape::Array(3, Box::new(Shape::Double)))), columns: vec![Column::Double(vec![])] };
        assert_eq!(to_flat(&from_flat(&empty)), empty);
    }
}
