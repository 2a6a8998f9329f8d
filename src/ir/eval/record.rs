//! The record of a run: the operations on Doubles in their order, without branches, loops, arrays and calls.
//!
//! In: an entry's arguments. Out: a [`Record`]: inputs and operations, whose operands are places before them or constants. Where
//! the first derivative form that is evaluated is a `vjp`, the record is that of the function under it: what was done before
//! are constants, and the point's Doubles and the cotangent are noted. The interpreter stops there. Recorded numbers are
//! those of tag 0; so what `dual` does is recorded too.
//!
//!     let f (x: Double) = sin (x * 2.0)   at 3   →   [x = 3; x * 2.0 = 6; sin 1 = -0.27…], result 2

use std::rc::Rc;

use indexmap::IndexSet;

use super::number::{Number, V};
use super::value::Value;
use crate::ir::Labels;
use crate::ir::prim::Prim;

/// A trace that somebody reads has fewer entries.
pub const MOST: usize = 1 << 20;

/// What was done.
#[derive(Clone, Debug)]
pub struct Record {
    pub entries: Vec<Entry>,
    pub result: Value<Operand>,
    pub derivative: Option<Point>,
    /// Of the parameters.
    pub names: Vec<Rc<str>>,
    /// The number of Doubles of the arguments, which are the first entries.
    pub arguments: usize,
    /// How many places there are between the arguments and what is kept: operations that are forgotten, and once more the
    /// arguments.
    forgotten: usize,
    /// The arguments that are in the point. The function binds them anew, at their second places; what it captures of them is
    /// constant.
    pub bound: IndexSet<usize>,
    pub is_full: bool,
}

#[derive(Clone, Debug)]
pub enum Entry {
    /// A Double of an argument or of the point: `v[0]`, `p.1`.
    Input { name: String, value: f64 },
    /// `polygamma` has its Index before the operands.
    Operation { prim: Prim, order: Option<i64>, operands: Vec<Operand>, value: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    Constant(f64),
    /// A place among the entries.
    Place(usize),
}

/// What the function was differentiated at and with.
#[derive(Clone, Debug)]
pub struct Point {
    /// The places of the point's Doubles, in order.
    pub places: Vec<usize>,
    pub cotangent: Value<Operand>,
}

impl Entry {
    pub fn value(&self) -> f64 {
        match self {
            Entry::Input { value, .. } | Entry::Operation { value, .. } => *value,
        }
    }
}

impl Record {
    pub fn new(names: Vec<Rc<str>>) -> Record {
        let result = Value::Index(0);
        Record { entries: Vec::new(), result, derivative: None, names, arguments: 0, forgotten: 0, bound: IndexSet::new(), is_full: false }
    }

    /// What a number is in here.
    pub fn operand(&self, number: &Number) -> Operand {
        let (primal, place) = number.place(0);
        match place.map(|place| place as usize) {
            Some(place) if place < self.arguments && !self.bound.contains(&place) => Operand::Place(place),
            Some(place) if place >= self.arguments && place >= self.forgotten => Operand::Place(place - self.forgotten),
            Some(_) | None => Operand::Constant(primal.value()),
        }
    }

    pub fn push(&mut self, entry: Entry) -> Number {
        let value = Number::Plain(entry.value());
        self.is_full |= self.entries.len() + self.forgotten >= MOST;
        if self.is_full {
            return value;
        }
        self.entries.push(entry);
        Number::taped(0, (self.entries.len() - 1 + self.forgotten) as u32, value)
    }

    /// Takes note of an operation.
    pub fn operation(&mut self, prim: Prim, order: Option<i64>, operands: &[&Number], value: f64) -> Number {
        let operands = operands.iter().map(|number| self.operand(number)).collect();
        self.push(Entry::Operation { prim, order, operands, value })
    }

    /// Forgets the operations so far: they are not of the function.
    pub fn forget(&mut self) {
        self.forgotten = self.entries.len();
        self.entries.truncate(self.arguments);
    }

    /// A Double of the point: an argument that stands there once is itself, everything else a variable of its own.
    pub fn independent(&mut self, path: &str, number: &Number, places: &mut IndexSet<usize>) -> Number {
        if let (primal, Some(place)) = number.place(0)
            && (place as usize) < self.arguments
            && places.insert(place as usize)
        {
            return Number::taped(0, place + self.forgotten as u32, primal.clone());
        }
        places.insert(self.entries.len());
        self.push(Entry::Input { name: path.to_string(), value: number.value() })
    }
}

/// The value with each Double replaced, which is given with its name: `v[0]`, `p.1`, `camera.focal`; those of a recursive type are
/// `t[0]`, `t[1]`, … in their order. Those of cases that the value is not of stay as they are.
pub fn named((value, labels): (&V, &Labels), path: &mut String, f: &mut dyn FnMut(&str, &Number) -> Number) -> V {
    let length = path.len();
    if let Some((field, inside)) = labels.sole() {
        path.push_str(&format!(".{field}"));
        let value = named((value, inside), path, f);
        path.truncate(length);
        return value;
    }
    let mut part = |mark: String, item: (&V, &Labels)| {
        path.push_str(&mark);
        let part = named(item, path, f);
        path.truncate(length);
        part
    };
    match value {
        Value::Double(number) => Value::Double(f(path, number)),
        Value::Index(_) | Value::Bool(_) => value.clone(),
        // a name of each way would be as long as the value is deep
        Value::Rolled(_) => {
            let mut at = 0;
            value.map(&mut |number| {
                at += 1;
                f(&format!("{path}[{}]", at - 1), number)
            })
        }
        Value::Tuple(parts) => {
            let tag = parts.first().and_then(|tag| if let Value::Index(tag) = tag { usize::try_from(*tag).ok() } else { None });
            let parts = parts.iter().enumerate().map(|(k, item)| match labels.case_of(k) {
                Some(case) if Some(case) != tag => item.clone(),
                _ => part(labels.field(k).map_or_else(|| format!(".{k}"), |field| format!(".{field}")), (item, labels.part(k))),
            });
            Value::tuple(parts.collect())
        }
        Value::Array(array) => {
            let items = array.items.iter().enumerate().map(|(k, item)| part(format!("[{k}]"), (item, labels.element()))).collect();
            Value::from_items(array.element.clone(), items)
        }
    }
}
