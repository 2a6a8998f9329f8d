//! Indices that go up or down by one with a loop's: they are in range in all iterations if they are in the first and the last.
//!
//! In: a check of a loop's body. Out: what is to be checked before the loop in its place.
//!
//!     k - i < 0 || k - i >= n   for i < c   →   k < c - 1 || k >= n

use super::*;

impl Loop<'_> {
    /// Where an index that goes with the loop's leaves its range in some iteration: if it does in the first or the last one.
    pub(super) fn ends(&self, cond: &Value) -> Option<Value> {
        let (index, under, length) = if let Value::Prim { prim: Prim::Or, args, .. } = cond {
            let [under, over] = args.as_slice() else { return None };
            let (index, zero) = compared(under, Prim::Lt)?;
            let (other, length) = compared(over, Prim::Ge)?;
            (index == other && *zero == Value::Index(0)).then_some((index, true, Some(length)))?
        } else {
            match (compared(cond, Prim::Lt), compared(cond, Prim::Ge)) {
                (Some((index, Value::Index(0))), _) => (index, true, None),
                (_, Some((index, length))) => (index, false, Some(length)),
                _ => return None,
            }
        };
        let length = length.map(|length| self.fixed(length)).map_or(Some(None), |length| length.map(Some))?;
        if let Some(length) = &length {
            (self.known.ranges.of(length).0 >= 0).then_some(())?;
        }
        let whole = self.unfold(index, &mut NODES.clone())?;
        let moves = self.moves(&whole)?;
        // where one side is known, it is so because nothing wraps
        (moves.exact || under && length.is_some()).then_some(())?;
        let first = self.at_first(&whole);
        let mut constant = true;
        each_local(&first, &mut |id| constant &= !self.changed.contains(&id));
        constant.then_some(())?;
        let steps = if let Value::Index(count) = self.count {
            Value::Index(count.checked_sub(1)?)
        } else {
            plain(Prim::Sub, self.count.clone(), Value::Index(1))
        };
        let past = |length: Value| match (&first, moves.up) {
            (Value::Index(0), true) => compare(Prim::Gt, self.count.clone(), length),
            (_, true) => compare(Prim::Gt, first.clone(), plain(Prim::Sub, length, self.count.clone())),
            (_, false) => compare(Prim::Ge, first.clone(), length),
        };
        let below = if moves.up { compare(Prim::Lt, first.clone(), Value::Index(0)) } else { compare(Prim::Lt, first.clone(), steps) };
        let outside = match (under, length) {
            (true, Some(length)) => either(below, past(length)),
            (true, None) => below,
            (false, length) => past(length?),
        };
        Some(outside)
    }

    /// An index that was checked is one of an array's elements, so the one sum that makes it does not wrap.
    pub(super) fn note_within(&self, body: &mut Block) {
        for stmt in body {
            if let Stmt::Declare { id, init: Some(Value::Prim { prim: Prim::Add | Prim::Sub, elem: Elem::Index, plain, args }) } = stmt
                && args.contains(&Value::Local(self.i))
                && self.within.contains(id)
            {
                *plain = true;
            }
        }
    }

    /// How an index follows the loop's: by sums and differences in which the loop's stands once.
    fn moves(&self, index: &Value) -> Option<Moves> {
        match index {
            Value::Local(id) if *id == self.i => Some(Moves { up: true, exact: true }),
            Value::Prim { prim: prim @ (Prim::Add | Prim::Sub), elem: Elem::Index, plain, args } => {
                let [a, b] = args.as_slice() else { return None };
                let (part, up) = match (reads(a, self.i), reads(b, self.i)) {
                    (true, false) => (a, true),
                    (false, true) => (b, *prim == Prim::Add),
                    _ => return None,
                };
                let moves = self.moves(part)?;
                Some(Moves { up: moves.up == up, exact: moves.exact && *plain })
            }
            _ => None,
        }
    }

    /// The index in the first iteration.
    fn at_first(&self, index: &Value) -> Value {
        match index {
            Value::Local(id) if *id == self.i => Value::Index(0),
            Value::Prim { prim, elem: Elem::Index, plain, args } if reads(index, self.i) => {
                let args: Vec<Value> = args.iter().map(|arg| self.at_first(arg)).collect();
                match (prim, args.as_slice()) {
                    (Prim::Add, [Value::Index(0), x] | [x, Value::Index(0)]) | (Prim::Sub, [x, Value::Index(0)]) => x.clone(),
                    _ => Value::Prim { prim: *prim, elem: Elem::Index, plain: *plain, args },
                }
            }
            _ => index.clone(),
        }
    }
}

/// How an index changes when the loop's goes up by one, and whether no operation on the way wraps.
struct Moves {
    up: bool,
    exact: bool,
}

/// The name of the index that a comparison finds out of range.
pub(super) fn checked(cond: &Value) -> Option<Id> {
    match compared(cond, Prim::Lt).or_else(|| compared(cond, Prim::Ge))? {
        (Value::Local(id), _) => Some(*id),
        _ => None,
    }
}

fn plain(prim: Prim, a: Value, b: Value) -> Value {
    match (&a, &b) {
        (Value::Index(a), Value::Index(b)) if prim == Prim::Sub => Value::Index(a.wrapping_sub(*b)),
        _ => compare(prim, a, b),
    }
}
