//! What is known of the values of indices, and arithmetic that counts on it.
//!
//! In: the range of each local that has one. Out: the range of an expression, and primitives that are `plain` where their
//! operands' ranges leave no overflow:
//!
//!     i in 0 … 9, k anything   →   i + 1 in 1 … 10, plain; k + 1 wraps

use crate::ir::Prim;

use crate::loops::program::ranges::{ANY, Range, Ranges};
use crate::loops::program::*;
use crate::loops::values::may_wrap;

impl Ranges {
    /// Notes the range of a loop's index, from its count.
    pub fn count_to(&mut self, i: Id, count: &Value) {
        let most = self.of(count).1;
        self.insert(i, (0, (most - 1).max(0)));
    }

    /// The least and the greatest value that an Index expression can have.
    pub fn of(&self, value: &Value) -> Range {
        match value {
            Value::Index(value) => (*value as i128, *value as i128),
            Value::Local(id) => self.get(*id).unwrap_or(ANY),
            Value::Select(parts) => {
                let (a, b) = (self.of(&parts[1]), self.of(&parts[2]));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Value::InRow(parts) => {
                let [row, length, column] = [0, 1, 2].map(|k| self.of(&parts[k]));
                within(exact_range(Prim::Add, &[exact_range(Prim::Mul, &[row, length]), column]))
            }
            Value::Prim { prim, elem: Elem::Index, args, .. } => {
                let ranges: Vec<_> = args.iter().map(|arg| self.of(arg)).collect();
                within(exact_range(*prim, &ranges))
            }
            Value::Double(_)
            | Value::Bool(_)
            | Value::Prim { .. }
            | Value::Load { .. }
            | Value::Helper(..)
            | Value::SizeOf(..)
            | Value::Moved { .. }
            | Value::Call(..) => ANY,
        }
    }

    /// A primitive on values that needs no guard.
    pub fn prim(&self, prim: Prim, elem: Elem, args: Vec<Value>) -> Value {
        if let (Elem::Index | Elem::Bool, [a, b]) = (elem, args.as_slice())
            && a == b
        {
            // compilers warn of a comparison of a thing with itself
            match prim {
                Prim::Eq | Prim::Le | Prim::Ge => return Value::Bool(true),
                Prim::Ne | Prim::Lt | Prim::Gt => return Value::Bool(false),
                _ => {}
            }
        }
        if elem != Elem::Index {
            return Value::Prim { prim, elem, plain: true, args };
        }
        match (prim, args.as_slice()) {
            (Prim::Add, [Value::Index(0), x]) | (Prim::Add | Prim::Sub, [x, Value::Index(0)]) => return x.clone(),
            (Prim::Mul, [Value::Index(1), x]) | (Prim::Mul | Prim::Div, [x, Value::Index(1)]) => return x.clone(),
            _ => {}
        }
        let ranges: Vec<_> = args.iter().map(|arg| self.of(arg)).collect();
        let exact = exact_range(prim, &ranges);
        let plain = !may_wrap(prim) || exact.0 >= ANY.0 && exact.1 <= ANY.1 && exact != ANY;
        if let (true, [Value::Index(_), Value::Index(_)], Prim::Add | Prim::Sub | Prim::Mul) = (plain, args.as_slice(), prim) {
            return Value::Index(exact.0 as i64);
        }
        Value::Prim { prim, elem, plain, args }
    }
}

fn within(range: (i128, i128)) -> (i128, i128) {
    if range.0 >= ANY.0 && range.1 <= ANY.1 { range } else { ANY }
}

/// The range of an Index operation without wrapping.
fn exact_range(prim: Prim, args: &[(i128, i128)]) -> (i128, i128) {
    match (prim, args) {
        (Prim::Add, [a, b]) => (a.0 + b.0, a.1 + b.1),
        (Prim::Sub, [a, b]) => (a.0 - b.1, a.1 - b.0),
        (Prim::Neg, [a]) => (-a.1, -a.0),
        (Prim::Mul, [a, b]) => {
            let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
            (products.into_iter().min().unwrap_or(0), products.into_iter().max().unwrap_or(0))
        }
        (Prim::Min, [a, b]) => (a.0.min(b.0), a.1.min(b.1)),
        (Prim::Max, [a, b]) => (a.0.max(b.0), a.1.max(b.1)),
        (Prim::Div, [a, b]) if b.0 > 0 => (a.0.min(0), a.1.max(0)),
        (Prim::Rem, [a, b]) if b.0 > 0 => (if a.0 < 0 { -(b.1 - 1) } else { 0 }, b.1 - 1),
        (Prim::Abs, [a]) if a.0 > ANY.0 => (0, a.0.abs().max(a.1.abs())),
        // bounds that no Index has: not plain
        _ => (ANY.0 - 1, ANY.1 + 1),
    }
}
