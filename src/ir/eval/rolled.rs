//! Values of recursive types: an unrolled one behind a pointer, or none where the data of another case stand.
//!
//! In: the tuple of a tag and data. Out: a value that is shared as arrays are. A list of a million elements is as deep as it is long, so
//! whoever goes into a rolled value does it by [`deep`], which makes room on the stack, and what is dropped last is taken apart in a loop.
//!
//!     Node (Leaf 1.0, Leaf 2.0)   →   Rolled (1, 0.0, (Rolled (0, 1.0, (absent, absent)), Rolled (0, 2.0, (absent, absent))))

use std::fmt;
use std::rc::Rc;

use super::value::Value;

/// The stack that one level may need, and by how much it grows, in bytes.
const STACK_LEFT: usize = 1 << 17;
const STACK_STEP: usize = 1 << 25;

/// A value of a recursive type.
#[derive(Clone)]
pub struct Rolled<N = f64>(Option<Rc<Value<N>>>);

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
