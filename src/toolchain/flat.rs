//! Values as emitted C holds them: a concrete shape and one flat column per scalar leaf (struct of arrays).
//!
//! The command line reads arguments into this form and prints results from it; `call` passes the columns
//! as they are. An array of pairs `[[1, 2], [3, 4]]` has the shape `Array(2, Tuple(Double, Double))` and the
//! columns `[1, 3]` and `[2, 4]`. Columns are row-major over all dimensions around the leaf, so that an
//! array of 10^6 elements is one allocation.

use crate::ir::eval::{Rolled, Value};

/// The shape of one value: its type with every length a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Double,
    Index,
    Bool,
    Array(usize, Box<Shape>),
    Tuple(Vec<Shape>),
    /// Of a value of a recursive type, which only the interpreter takes.
    Rolled,
}

/// All scalars at one leaf of a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    Double(Vec<f64>),
    Index(Vec<i64>),
    Bool(Vec<bool>),
    /// Values of a recursive type as the interpreter has them.
    Rolled(Vec<Value>),
}

/// A value: one column per leaf, depth first.
#[derive(Clone, Debug, PartialEq)]
pub struct Flat {
    pub shape: Shape,
    pub columns: Vec<Column>,
}

/// What [`Flat::walk`] meets, in the order a person reads a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step<'a> {
    Open,
    Close,
    Double(f64),
    Index(i64),
    Bool(bool),
    Rolled(&'a Value),
}

impl Shape {
    /// How many columns a value has.
    pub fn leaves(&self) -> usize {
        match self {
            Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled => 1,
            Shape::Array(_, element) => element.leaves(),
            Shape::Tuple(parts) => parts.iter().map(Shape::leaves).sum(),
        }
    }

    /// One empty column per leaf, and how many elements each will hold; `None` when that overflows.
    pub fn columns(&self) -> Option<Vec<(Column, usize)>> {
        let mut columns = Vec::new();
        self.add_columns(1, &mut columns)?;
        Some(columns)
    }

    fn add_columns(&self, count: usize, columns: &mut Vec<(Column, usize)>) -> Option<()> {
        match self {
            Shape::Double => columns.push((Column::Double(Vec::new()), count)),
            Shape::Index => columns.push((Column::Index(Vec::new()), count)),
            Shape::Bool => columns.push((Column::Bool(Vec::new()), count)),
            Shape::Rolled => columns.push((Column::Rolled(Vec::new()), count)),
            Shape::Array(length, element) => element.add_columns(count.checked_mul(*length)?, columns)?,
            Shape::Tuple(parts) => parts.iter().try_for_each(|part| part.add_columns(count, columns))?,
        }
        Some(())
    }

    /// The lengths of a regular array's dimensions; the components of a tuple inside an array count as one
    /// dimension where they have one shape. `None` for anything else.
    pub fn dims(&self) -> Option<Vec<usize>> {
        match self {
            Shape::Double | Shape::Index | Shape::Bool => Some(Vec::new()),
            Shape::Rolled => None,
            Shape::Array(length, element) => Some(std::iter::once(*length).chain(element.dims()?).collect()),
            Shape::Tuple(parts) => {
                let first = parts.first()?;
                let same = parts.iter().all(|part| part == first);
                same.then(|| Some(std::iter::once(parts.len()).chain(first.dims()?).collect()))?
            }
        }
    }
}

impl Flat {
    /// Visits the value's scalars and brackets in reading order; stops at the first error.
    pub fn walk<'a, E>(&'a self, visit: &mut impl FnMut(Step<'a>) -> Result<(), E>) -> Result<(), E> {
        walk(&self.shape, &self.columns, 0, visit)
    }
}

fn walk<'a, E>(shape: &Shape, columns: &'a [Column], at: usize, visit: &mut impl FnMut(Step<'a>) -> Result<(), E>) -> Result<(), E> {
    match shape {
        Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled => match columns.first().and_then(|column| column.get(at)) {
            Some(step) => visit(step),
            None => Ok(()),
        },
        Shape::Array(length, element) => {
            visit(Step::Open)?;
            for i in 0..*length {
                walk(element, columns, at * length + i, visit)?;
            }
            visit(Step::Close)
        }
        Shape::Tuple(parts) => {
            visit(Step::Open)?;
            let mut rest = columns;
            for part in parts {
                walk(part, rest, at, visit)?;
                rest = rest.get(part.leaves()..).unwrap_or_default();
            }
            visit(Step::Close)
        }
    }
}

impl Column {
    fn get(&self, at: usize) -> Option<Step<'_>> {
        match self {
            Column::Double(items) => items.get(at).copied().map(Step::Double),
            Column::Index(items) => items.get(at).copied().map(Step::Index),
            Column::Bool(items) => items.get(at).copied().map(Step::Bool),
            Column::Rolled(items) => items.get(at).map(Step::Rolled),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Column::Double(items) => items.len(),
            Column::Index(items) => items.len(),
            Column::Bool(items) => items.len(),
            Column::Rolled(items) => items.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column of the same kind with this many zeros; `None` when there is no memory for them.
    pub fn zeros(&self, length: usize) -> Option<Column> {
        fn zeros<T: Clone>(zero: T, length: usize) -> Option<Vec<T>> {
            let mut items = Vec::new();
            items.try_reserve_exact(length).ok()?;
            items.resize(length, zero);
            Some(items)
        }
        Some(match self {
            Column::Double(_) => Column::Double(zeros(0.0, length)?),
            Column::Index(_) => Column::Index(zeros(0, length)?),
            Column::Bool(_) => Column::Bool(zeros(false, length)?),
            Column::Rolled(_) => Column::Rolled(zeros(Value::Rolled(Rolled::ABSENT), length)?),
        })
    }

    /// Bytes of one element in C.
    pub fn element_bytes(&self) -> usize {
        match self {
            Column::Double(_) | Column::Index(_) | Column::Rolled(_) => 8,
            Column::Bool(_) => 1,
        }
    }
}
