//! What the machine does with arrays: they are made, changed, read and asked for their lengths.
//!
//! In: the code of an array. Out: a value whose elements all have one shape, or the run-time error. An array is copied where it is
//! changed while another value has it too; what is written and read is counted.

use std::rc::Rc;

use super::code::{Build, Code, ShapeCode, UpdateCode};
use super::machine::{Machine, Run, defect, fail};
use super::number::V;
use super::shape::Shape;
use super::value::Value;
use super::{ErrorKind, RuntimeError};
use crate::ir::term::{Change, Status};
use crate::source::Span;

impl Machine<'_> {
    pub fn build(&mut self, build: &Build) -> Run<V> {
        let n = self.count(&build.n, build.what, build.span)?;
        if n == 0 {
            return Ok(Value::empty(self.shape(&build.element)?));
        }
        let mut items = Vec::new();
        if items.try_reserve(usize::try_from(n).unwrap_or(usize::MAX)).is_err() {
            return Err(RuntimeError::new(ErrorKind::TooLarge, build.span, format!("an array of {n} elements does not fit into memory")));
        }
        let mut element = Shape::Unknown;
        for i in 0..n {
            self.set(build.i, Value::Index(i));
            let item = self.run(&build.body)?;
            if i == 0 {
                element = item.shape();
            } else if !item.has_shape(&element) {
                let message = format!("element {i} of the array has shape {}, element 0 has {element}", item.shape());
                return fail(Status::Shape, build.span, message);
            }
            self.arithmetic.trace.counts.writes += written(&item, build.copies);
            items.push(item);
        }
        Ok(Value::from_items(element, items))
    }

    pub fn array(&mut self, items: &[Code], element: &ShapeCode, span: Span) -> Run<V> {
        if items.is_empty() {
            return Ok(Value::empty(self.shape(element)?));
        }
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let value = self.run(item)?;
            self.arithmetic.trace.counts.writes += written(&value, matches!(item, Code::Slot(_) | Code::Get(..) | Code::Proj(..)));
            values.push(value);
        }
        let shapes = (values.iter().map(Value::shape).enumerate()).find(|(_, shape)| !values.iter().all(|value| value.has_shape(shape)));
        match (shapes, values.first().map(Value::shape)) {
            (None, Some(element)) => Ok(Value::from_items(element, values)),
            (_, first) => {
                let first = first.unwrap_or(Shape::Unknown);
                let other = values.iter().map(Value::shape).enumerate().find(|(_, shape)| !shape.agrees(&first));
                let (k, shape) = other.unwrap_or((0, Shape::Unknown));
                fail(Status::Shape, span, format!("element {k} of the array has shape {shape}, element 0 has {first}"))
            }
        }
    }

    pub fn update(&mut self, change: Change, update: &UpdateCode) -> Run<V> {
        // what is put there may read the array
        let held = if is_taken(&update.array) { None } else { Some(self.run(&update.array)?) };
        let indices = update.indices.iter().map(|index| self.index(index)).collect::<Run<Vec<_>>>()?;
        let value = self.run(&update.value)?;
        let mut array = match held {
            Some(array) => array,
            None => self.run(&update.array)?,
        };
        let Value::Array(whole) = &mut array else { return defect(update.span) };
        if Rc::get_mut(whole).is_none() {
            self.arithmetic.trace.counts.writes += whole.items.iter().map(|item| written(item, true)).sum::<u64>();
        }
        let mut place = &mut array;
        for index in indices {
            let Value::Array(array) = place else { return defect(update.span) };
            let length = array.items.len();
            let at = usize::try_from(index).ok().filter(|at| *at < length);
            place = match at.and_then(|at| Rc::make_mut(array).items.get_mut(at)) {
                Some(item) => item,
                None => return fail(Status::Bounds, update.span, format!("index {index} is out of bounds of an array of length {length}")),
            };
        }
        if !value.has_shape(&place.shape()) {
            let message = format!("the new element has shape {}, the array's have {}", value.shape(), place.shape());
            return fail(Status::Shape, update.span, message);
        }
        match change {
            Change::Replace => {
                self.arithmetic.trace.counts.writes += written(&value, update.copies);
                *place = value;
            }
            Change::Add => self.arithmetic.accumulate(place, &value),
        }
        Ok(array)
    }

    pub fn get(&mut self, array: &Code, index: &Code, span: Span) -> Run<V> {
        // a variable's array is read in place: cloning it would cost as much as the read
        let held = if matches!(array, Code::Slot(_)) { None } else { Some(self.run(array)?) };
        let index = self.index(index)?;
        let array = match (array, &held) {
            (Code::Slot(slot), _) => self.slot(*slot),
            (_, held) => held.as_ref(),
        };
        let Some(Value::Array(array)) = array else { return defect(span) };
        match usize::try_from(index).ok().and_then(|at| array.items.get(at)) {
            Some(item) => {
                let item = item.clone();
                self.arithmetic.trace.counts.reads += u64::from(!matches!(item, Value::Array(_)));
                Ok(item)
            }
            None => fail(Status::Bounds, span, format!("index {index} is out of bounds of an array of length {}", array.items.len())),
        }
    }

    /// The shape that a type's lengths make; a negative length is 0.
    pub fn shape(&mut self, code: &ShapeCode) -> Run<Shape> {
        Ok(match code {
            ShapeCode::Double => Shape::Double,
            ShapeCode::Index(_) => Shape::Index,
            ShapeCode::Bool => Shape::Bool,
            ShapeCode::Rolled => Shape::Rolled,
            ShapeCode::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| self.shape(part)).collect::<Run<Vec<_>>>()?.into()),
            ShapeCode::Array(element, length) => {
                let length = usize::try_from(self.index(length)?).unwrap_or(0);
                Shape::array(self.shape(element)?, length)
            }
        })
    }

    pub fn shape_of(&mut self, array: &Code) -> Run<Shape> {
        if let Code::Slot(slot) = array {
            self.slot(*slot).map_or_else(|| defect(Span::NONE), |value| Ok(value.shape()))
        } else {
            Ok(self.run(array)?.shape())
        }
    }
}

/// Whether a value is moved out of a variable, with dual numbers in it or without.
fn is_taken(code: &Code) -> bool {
    match code {
        Code::Take(..) => true,
        Code::Lift(code, _) => is_taken(code),
        _ => false,
    }
}

/// The elements that storing an item writes: one, or all that are copied where it is an existing array.
fn written(item: &V, copied: bool) -> u64 {
    match item {
        Value::Array(array) if copied => array.items.iter().map(|item| written(item, true)).sum(),
        Value::Array(_) => 0,
        Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Tuple(_) | Value::Rolled(_) => 1,
    }
}
