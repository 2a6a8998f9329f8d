//! The Doubles of arguments and results as one list: points, directions, names.
//!
//! In: flat values. Out: their Doubles in order, the same values with other Doubles, and what each is called.
//!
//!     (a: Double) (m: Matrix<2, 2>)   →   a, m[0][0], m[0][1], m[1][0], m[1][1]

use crate::toolchain::flat::{Column, Flat, Shape};

/// All Doubles of the values, in order.
pub fn doubles(values: &[Flat]) -> Vec<f64> {
    let columns = values.iter().flat_map(|value| &value.columns);
    columns.filter_map(|column| if let Column::Double(items) = column { Some(items) } else { None }).flatten().copied().collect()
}

/// The values with these Doubles in order; Indexes and Bools stay.
pub fn with_doubles(values: &[Flat], doubles: &[f64]) -> Vec<Flat> {
    let mut values = values.to_vec();
    let mut rest = doubles.iter();
    for column in values.iter_mut().flat_map(|value| &mut value.columns) {
        if let Column::Double(items) = column {
            items.iter_mut().zip(&mut rest).for_each(|(item, double)| *item = *double);
        }
    }
    values
}

/// The name of each Double of a value, in the order of [`doubles`].
pub fn names(name: &str, value: &Flat) -> Vec<String> {
    let mut columns = vec![Vec::new(); value.columns.len()];
    collect(&value.shape, name.to_string(), &mut columns);
    let named = columns.into_iter().zip(&value.columns);
    named.filter(|(_, column)| matches!(column, Column::Double(_))).flat_map(|(names, _)| names).collect()
}

fn collect(shape: &Shape, name: String, columns: &mut [Vec<String>]) {
    match shape {
        Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled => {
            columns.iter_mut().take(1).for_each(|column| column.push(name.clone()))
        }
        Shape::Array(length, element) => (0..*length).for_each(|at| collect(element, format!("{name}[{at}]"), columns)),
        Shape::Tuple(parts) => {
            let mut rest = columns;
            for (at, part) in parts.iter().enumerate() {
                let (mine, others) = rest.split_at_mut(part.leaves().min(rest.len()));
                collect(part, format!("{name}.{at}"), mine);
                rest = others;
            }
        }
    }
}

/// Numbers that are the same in every run.
pub struct Sequence(u64);

impl Sequence {
    pub fn new() -> Sequence {
        Sequence(0x9e37_79b9_7f4a_7c15)
    }

    /// Between 0.5 and 1.5, with either sign: nothing that it multiplies is lost.
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let size = 0.5 + (self.0 >> 11) as f64 / (1u64 << 53) as f64;
        if self.0 & 1 == 0 { size } else { -size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_named_replaced_and_listed_in_one_order() {
        let pair = Shape::Tuple(vec![Shape::Double, Shape::Index, Shape::Array(2, Box::new(Shape::Double))]);
        let columns = vec![Column::Double(vec![1.0, 2.0]), Column::Index(vec![7, 8]), Column::Double(vec![3.0, 4.0, 5.0, 6.0])];
        let value = Flat { shape: Shape::Array(2, Box::new(pair)), columns };
        assert_eq!(names("p", &value), ["p[0].0", "p[1].0", "p[0].2[0]", "p[0].2[1]", "p[1].2[0]", "p[1].2[1]"]);
        let values = [value];
        assert_eq!(doubles(&values), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let others = with_doubles(&values, &[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        assert_eq!(doubles(&others), [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        assert_eq!(others[0].columns[1], values[0].columns[1]);
    }
}
