//! The backward pass over a trace (005 Figure 6).
//!
//! In: a record with the point and the cotangent. Out: the adjoint of each entry between the point and the result, the last operation
//! first: the sum of the contributions of its uses, which all come later in the trace; then those of the point's Doubles, 0.0 for
//! one without uses. The adjoint of a part of the result begins with its cotangent.
//!
//!     t1 = x * y, t2 = sin t1   →   t2' = 1.0;   t1' = cos t1 * t2';   x' = t1' * y;   y' = x * t1'

use super::law::{Laws, Operation, Term};
use super::{Adjoint, Names, broken, number};
use crate::diagnostic::Diagnostic;
use crate::ir::eval::{Entry, Operand, Point, Record, Value};
use crate::ir::prim::Derivative;

/// What was given back to an entry so far.
struct Sum {
    text: String,
    value: f64,
    is_literal: bool,
}

struct Sums {
    /// Whether the point reaches the entry; others get nothing.
    active: Vec<bool>,
    sums: Vec<Option<Sum>>,
}

impl Sums {
    fn new(record: &Record, point: &Point) -> Sums {
        let mut active = vec![false; record.entries.len()];
        for place in &point.places {
            if let Some(active) = active.get_mut(*place) {
                *active = true;
            }
        }
        for (at, entry) in record.entries.iter().enumerate() {
            if let Entry::Operation { prim, operands, .. } = entry {
                let is_reached = operands.iter().any(|operand| match operand {
                    Operand::Place(place) => active.get(*place).copied().unwrap_or(false),
                    Operand::Constant(_) => false,
                });
                if let Some(active) = active.get_mut(at) {
                    *active = is_reached && prim.row().derivative != Derivative::Zero;
                }
            }
        }
        Sums { sums: active.iter().map(|_| None).collect(), active }
    }

    fn is_active(&self, operand: &Operand) -> Option<usize> {
        match operand {
            Operand::Place(place) if self.active.get(*place).copied().unwrap_or(false) => Some(*place),
            Operand::Place(_) | Operand::Constant(_) => None,
        }
    }

    fn add(&mut self, place: usize, share: &Term) {
        let Some(sum) = self.sums.get_mut(place) else { return };
        match sum {
            None => *sum = Some(Sum { text: share.text.clone(), value: share.value, is_literal: share.is_literal() }),
            Some(sum) => {
                match share.text.strip_prefix('-') {
                    Some(rest) => sum.text.push_str(&format!(" - {rest}")),
                    None => sum.text.push_str(&format!(" + {}", share.text)),
                }
                sum.value += share.value;
                sum.is_literal = false;
            }
        }
    }

    /// Each part of the result begins with its cotangent.
    fn begin(&mut self, result: &Value<Operand>, cotangent: &Value<Operand>, weight: &dyn Fn(&Operand) -> Term) {
        match (result, cotangent) {
            (Value::Double(operand), Value::Double(own)) => {
                if let Some(place) = self.is_active(operand) {
                    self.add(place, &weight(own));
                }
            }
            (result, cotangent) => {
                for (result, cotangent) in result.items().iter().zip(cotangent.items()) {
                    self.begin(result, cotangent, weight);
                }
            }
        }
    }
}

/// The lines of the backward pass.
pub fn back(record: &Record, point: &Point, names: &Names) -> Result<Adjoint, Diagnostic> {
    let mut sums = Sums::new(record, point);
    sums.begin(&record.result, &point.cotangent, &|operand| names.term(record, operand));
    let mut laws = Laws::default();
    let mut lines = Vec::new();
    for (place, entry) in record.entries.iter().enumerate().rev() {
        let Entry::Operation { prim, order, operands, value } = entry else { continue };
        let Some(sum) = sums.sums.get_mut(place).and_then(Option::take) else { continue };
        let operation = Operation {
            prim: *prim,
            order: *order,
            operands: operands.iter().map(|operand| names.term(record, operand)).collect(),
            result: Term::name(names.name(place), *value),
            adjoint: Term::name(names.adjoint(place), sum.value),
            of_both: operands.iter().all(|operand| sums.is_active(operand).is_some()),
        };
        lines.push(line(&names.adjoint(place), &sum));
        for (at, operand) in operands.iter().enumerate() {
            let Some(operand) = sums.is_active(operand) else { continue };
            if let Some(share) = laws.share(&operation, at).ok_or_else(|| broken(*prim))? {
                sums.add(operand, &share);
            }
        }
    }
    let mut values = Vec::with_capacity(point.places.len());
    for place in &point.places {
        let sum = sums.sums.get_mut(*place).and_then(Option::take);
        let sum = sum.unwrap_or(Sum { text: number(0.0), value: 0.0, is_literal: true });
        lines.push(line(&names.adjoint(*place), &sum));
        values.push(sum.value);
    }
    Ok(Adjoint { lines, values })
}

fn line(name: &str, sum: &Sum) -> String {
    if sum.is_literal { format!("{name} = {}", sum.text) } else { format!("{name} = {} = {}", sum.text, number(sum.value)) }
}
