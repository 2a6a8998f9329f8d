//! Expressions.
//!
//!     i < n ? v[i] : 0.0   →   the element, or 0; v is read only where i < n

use super::memory::Place as Address;
use super::{Cell, Evaluated, Frame, Machine, Slot, find};
use crate::ir::Prim;
use crate::ir::ambient::DEEPEST;
use crate::ir::eval::real;
use crate::loops::program::*;
use crate::real::Real;

impl<'p> Machine<'p> {
    pub fn index(&mut self, frame: &mut Frame<'p>, value: &'p Value) -> Evaluated<i64> {
        self.value(frame, value)?.index()
    }

    pub fn bool(&mut self, frame: &mut Frame<'p>, value: &'p Value) -> Evaluated<bool> {
        self.value(frame, value)?.bool()
    }

    pub fn value(&mut self, frame: &mut Frame<'p>, value: &'p Value) -> Evaluated<Cell> {
        match value {
            Value::Local(id) => match frame.slot(*id)? {
                Slot::Cell(cell) => Ok(cell),
                Slot::Place(_) => Err(format!("`{}` is a pointer", frame.name(*id))),
            },
            Value::Double(value) => Ok(Cell::Double(self.real().round(*value))),
            Value::Index(value) => Ok(Cell::Index(*value)),
            Value::Bool(value) => Ok(Cell::Bool(*value)),
            Value::SizeOf(elem, count) => Ok(Cell::Bytes(width(*elem, self.real()) * u64::from(*count))),
            Value::Prim { prim, elem, plain, args } => self.prim(frame, *prim, *elem, *plain, args),
            Value::Load { base, offset } => {
                let place = self.element(frame, *base, offset.as_deref())?;
                self.memory.read(place).map_err(|problem| format!("`{}`: {problem}", frame.name(*base)))
            }
            Value::Select(parts) => {
                let [cond, a, b] = &**parts;
                let chosen = if self.bool(frame, cond)? { a } else { b };
                self.value(frame, chosen)
            }
            Value::InRow(parts) => {
                let mut at = [0; 3];
                for (at, part) in at.iter_mut().zip(&**parts) {
                    *at = self.index(frame, part)?;
                }
                let [row, length, column] = at;
                let place = row.checked_mul(length).and_then(|first| first.checked_add(column));
                place.map(Cell::Index).ok_or_else(|| "an offset overflows".to_string())
            }
            Value::Helper(name, args) => self.helper(frame, name, args),
            Value::Moved { now, home } => {
                let now = frame.place(*now)?;
                Ok(Cell::Bool(now != self.pointer(frame, home)?))
            }
            Value::Call(callee, args) => self.measured(frame, callee, args),
        }
    }

    /// The place of an element.
    pub fn element(&mut self, frame: &mut Frame<'p>, base: Id, offset: Option<&'p Value>) -> Evaluated<Address> {
        let Address { array, offset: from } = frame.place(base)?;
        let by = match offset {
            None => 0,
            Some(offset) => self.index(frame, offset)?,
        };
        let offset = from.checked_add(by).ok_or_else(|| format!("`{}`: an offset overflows", frame.name(base)))?;
        Ok(Address { array, offset })
    }

    pub fn pointer(&mut self, frame: &mut Frame<'p>, pointer: &'p Pointer) -> Evaluated<Address> {
        self.element(frame, pointer.base, pointer.offset.as_ref())
    }

    fn prim(&mut self, frame: &mut Frame<'p>, prim: Prim, elem: Elem, plain: bool, args: &'p [Value]) -> Evaluated<Cell> {
        let unknown = || format!("`{}` of these operands", prim.row().name);
        let first = self.value(frame, args.first().ok_or_else(unknown)?)?;
        match (prim, first) {
            // the second operand is looked at only where the first does not decide
            (Prim::And, Cell::Bool(false)) | (Prim::Or, Cell::Bool(true)) => return Ok(first),
            (Prim::Not, Cell::Bool(value)) => return Ok(Cell::Bool(!value)),
            (Prim::ToDouble, Cell::Index(value)) => return Ok(Cell::Double(self.real().round(value as f64))),
            (Prim::ToIndex, Cell::Double(value)) => {
                return if is_index(value) { Ok(Cell::Index(value as i64)) } else { Err(format!("{value} is no index")) };
            }
            _ => {}
        }
        let second = match args.get(1) {
            Some(arg) => Some(self.value(frame, arg)?),
            None => None,
        };
        match (first, second) {
            (Cell::Bool(_), Some(Cell::Bool(b))) if matches!(prim, Prim::And | Prim::Or) => Ok(Cell::Bool(b)),
            (first @ Cell::Bool(a), Some(Cell::Bool(b))) => {
                real::compare(prim, a, b).map(Cell::Bool).ok_or_else(|| format!("{} {first:?}", unknown()))
            }
            (Cell::Double(x), None) => real::unary(prim, x).map(|value| self.rounded(value)).ok_or_else(unknown),
            (Cell::Double(x), Some(Cell::Double(y))) => match real::binary(prim, x, y) {
                Some(value) => Ok(self.rounded(value)),
                None => real::compare(prim, x, y).map(Cell::Bool).ok_or_else(unknown),
            },
            (Cell::Index(order), Some(Cell::Double(x))) if prim == Prim::Polygamma => Ok(self.rounded(real::polygamma(order, x))),
            (Cell::Index(x), y) => {
                let y = y.map_or(Ok(0), Cell::index)?;
                if let Some(value) = real::compare(prim, x, y) {
                    return Ok(Cell::Bool(value));
                }
                if plain && elem == Elem::Index && exact(prim, x, y).is_none() {
                    return Err(format!("plain arithmetic overflows: {x} {} {y}", prim.row().name));
                }
                real::index(prim, x, y).map(Cell::Index).ok_or_else(|| format!("{x} {} {y}", prim.row().name))
            }
            (first, second) => Err(format!("{}: {first:?}, {second:?}", unknown())),
        }
    }

    fn rounded(&self, value: f64) -> Cell {
        Cell::Double(self.real().round(value))
    }

    fn helper(&mut self, frame: &mut Frame<'p>, name: &str, args: &'p [Value]) -> Evaluated<Cell> {
        if let ("smooth_any_outside", [Value::Local(base), count, end]) = (name, args) {
            let Address { array, offset } = frame.place(*base)?;
            let (count, end) = (self.index(frame, count)?, self.index(frame, end)?);
            let mut outside = false;
            for k in 0..count {
                let found = self.memory.read(Address { array, offset: offset + k })?.index()?;
                outside |= !(0..end).contains(&found);
            }
            return Ok(Cell::Bool(outside));
        }
        let cells = args.iter().map(|arg| self.value(frame, arg)).collect::<Evaluated<Vec<_>>>()?;
        let bytes = |at: usize| cells.get(at).map_or_else(|| Err(format!("`{name}` lacks an operand")), |cell| cell.bytes());
        let round = |bytes: u64| if bytes > u64::MAX - 7 { u64::MAX } else { bytes.div_ceil(8) * 8 };
        Ok(match (name, cells.as_slice()) {
            ("smooth_select", [Cell::Bool(cond), a, b]) => {
                if *cond {
                    *a
                } else {
                    *b
                }
            }
            ("smooth_is_index", [Cell::Double(value)]) => Cell::Bool(is_index(*value)),
            ("smooth_is_too_large", _) => Cell::Bool(bytes(0)? > i64::MAX as u64),
            ("smooth_times", [_, count]) => Cell::Bytes(times(bytes(0)?, count.index()?)),
            ("smooth_plus", _) => Cell::Bytes(bytes(0)?.saturating_add(bytes(1)?)),
            ("smooth_most", _) => Cell::Bytes(bytes(0)?.max(bytes(1)?)),
            ("smooth_round" | "smooth_roundf", _) => Cell::Bytes(round(bytes(0)?)),
            ("smooth_slices", [_, threads]) if threads.index()? > 1 => Cell::Bytes(times(slice(bytes(0)?), threads.index()?)),
            ("smooth_slices", _) => Cell::Bytes(bytes(0)?),
            _ => return Err(format!("`{name}` of {cells:?}")),
        })
    }

    fn measured(&mut self, frame: &mut Frame<'p>, callee: &'p Callee, args: &'p [Argument]) -> Evaluated<Cell> {
        let mut cells = Vec::new();
        for arg in args {
            match arg {
                Argument::Value(value) => cells.push(self.value(frame, value)?),
                Argument::Pointer(_) | Argument::Address(_) | Argument::Workspace => return Err("a measure takes numbers".into()),
            }
        }
        let measure = match callee {
            Callee::Body(name) => return Err(format!("`{name}` gives no value")),
            Callee::Workspace(name) => &find(self.program, name)?.workspace,
            Callee::Slice(name, number) => {
                let slice = find(self.program, name)?.slices.get(*number);
                &slice.ok_or_else(|| format!("`{name}` has no slice {number}"))?.measure
            }
            Callee::Deeper(name) => return self.deeper(find(self.program, name)?, cells, frame.told),
        };
        // what a measure does not read may be given as 0, whatever its kind
        let elems = measure.all_params().map(|id| measure.locals[id].elem);
        for (cell, elem) in cells.iter_mut().zip(elems) {
            if elem == Elem::Bool && *cell == Cell::Index(0) {
                *cell = Cell::Bool(false);
            }
        }
        self.measure(measure, &cells).map(Cell::Bytes)
    }

    /// The most calls deeper that so many bytes have room for.
    fn deeper(&mut self, function: &'p LoopFunction, cells: Vec<Cell>, told: u64) -> Evaluated<Cell> {
        let measure = &function.workspace;
        let by_eights = |need: u64| Cell::Index(i64::try_from((told - need) / 8).map_or(DEEPEST - 1, |more| more.min(DEEPEST - 1)));
        if measure.deeper.is_none() {
            let need = if measure.needed { self.measure(measure, &with_threads(cells, measure, self.threads))? } else { 0 };
            return Ok(by_eights(need));
        }
        let need_of = |this: &mut Self, deeper: i64| {
            let args = [cells.clone(), vec![Cell::Index(deeper)]].concat();
            this.measure(measure, &with_threads(args, measure, this.threads))
        };
        let none = need_of(self, 0)?;
        if none == need_of(self, DEEPEST / 2)? {
            return Ok(by_eights(none));
        }
        let mut deeper = 0;
        let mut more = DEEPEST / 2;
        while more > 0 {
            let need = need_of(self, deeper + more)?;
            if need <= told && need != u64::MAX {
                deeper += more;
            }
            more /= 2;
        }
        Ok(Cell::Index(deeper))
    }
}

impl Frame<'_> {
    pub fn name(&self, id: Id) -> &str {
        &self.locals[id].name
    }

    pub fn slot(&self, id: Id) -> Evaluated<Slot> {
        self.slots[id].ok_or_else(|| format!("`{}` has no value", self.name(id)))
    }

    pub fn place(&self, id: Id) -> Evaluated<Address> {
        match self.slot(id)? {
            Slot::Place(place) => Ok(place),
            Slot::Cell(_) => Err(format!("`{}` is no pointer", self.name(id))),
        }
    }
}

fn with_threads(mut args: Vec<Cell>, measure: &Workspace, threads: i64) -> Vec<Cell> {
    args.extend(measure.threads.map(|_| Cell::Index(threads)));
    args
}

/// `smooth_times`.
pub fn times(bytes: u64, count: i64) -> u64 {
    u64::try_from(count).map_or(0, |count| bytes.saturating_mul(count))
}

/// `smooth_slice`.
pub fn slice(bytes: u64) -> u64 {
    if bytes > u64::MAX - 63 { u64::MAX } else { bytes.div_ceil(64) * 64 }
}

/// The bytes of one element.
pub fn width(elem: Elem, real: Real) -> u64 {
    match (elem, real) {
        (Elem::Double, Real::F32) => 4,
        (Elem::Double | Elem::Index | Elem::Bytes, _) => 8,
        (Elem::Bool, _) => 1,
    }
}

/// `smooth_is_index`.
fn is_index(x: f64) -> bool {
    (-9223372036854775808.0..9223372036854775808.0).contains(&x)
}

/// Index arithmetic that does not overflow.
fn exact(prim: Prim, x: i64, y: i64) -> Option<i64> {
    match prim {
        Prim::Add => x.checked_add(y),
        Prim::Sub => x.checked_sub(y),
        Prim::Mul => x.checked_mul(y),
        Prim::Neg => x.checked_neg(),
        Prim::Div => x.checked_div(y),
        Prim::Rem => x.checked_rem(y),
        _ => real::index(prim, x, y),
    }
}
