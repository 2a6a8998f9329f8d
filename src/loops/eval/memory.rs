//! Arrays of cells, and places in them.
//!
//!     an array of two cells of which the first is written   →   [Some(1.0), None]

use super::Evaluated;
use crate::loops::program::Elem;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    Double(f64),
    Index(i64),
    Bool(bool),
    Bytes(u64),
}

impl Cell {
    pub fn double(self) -> Evaluated<f64> {
        match self {
            Cell::Double(value) => Ok(value),
            Cell::Index(_) | Cell::Bool(_) | Cell::Bytes(_) => Err(format!("{self:?} is no double")),
        }
    }

    pub fn index(self) -> Evaluated<i64> {
        match self {
            Cell::Index(value) => Ok(value),
            Cell::Double(_) | Cell::Bool(_) | Cell::Bytes(_) => Err(format!("{self:?} is no index")),
        }
    }

    pub fn bool(self) -> Evaluated<bool> {
        match self {
            Cell::Bool(value) => Ok(value),
            Cell::Double(_) | Cell::Index(_) | Cell::Bytes(_) => Err(format!("{self:?} is no bool")),
        }
    }

    /// A number of bytes, which an Index that is not negative is too.
    pub fn bytes(self) -> Evaluated<u64> {
        match self {
            Cell::Bytes(value) => Ok(value),
            Cell::Index(value) => u64::try_from(value).map_err(|_| format!("{value} is no number of bytes")),
            Cell::Double(_) | Cell::Bool(_) => Err(format!("{self:?} is no number of bytes")),
        }
    }

    /// As a local or an element of this kind holds it.
    pub fn of(self, elem: Elem) -> Evaluated<Cell> {
        match elem {
            Elem::Double => self.double().map(Cell::Double),
            Elem::Index => self.index().map(Cell::Index),
            Elem::Bool => self.bool().map(Cell::Bool),
            Elem::Bytes => self.bytes().map(Cell::Bytes),
        }
    }
}

/// A pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub array: usize,
    pub offset: i64,
}

/// All arrays; one whose block has ended is gone.
#[derive(Default)]
pub struct Memory {
    arrays: Vec<Option<Vec<Option<Cell>>>>,
}

impl Memory {
    /// A new array.
    pub fn array(&mut self, cells: Vec<Option<Cell>>) -> Place {
        self.arrays.push(Some(cells));
        Place { array: self.arrays.len() - 1, offset: 0 }
    }

    /// Ends an array.
    pub fn end(&mut self, place: Place) {
        self.arrays[place.array] = None;
    }

    /// All cells of an array.
    pub fn cells(&self, place: Place) -> Vec<Option<Cell>> {
        self.arrays[place.array].clone().unwrap_or_default()
    }

    fn cell(&mut self, place: Place) -> Evaluated<&mut Option<Cell>> {
        let array = self.arrays[place.array].as_mut().ok_or("an array is used after its block has ended")?;
        let length = array.len();
        let at = usize::try_from(place.offset).ok().filter(|at| *at < length);
        at.map(|at| &mut array[at]).ok_or_else(|| format!("element {} of an array of {length} elements", place.offset))
    }

    pub fn read(&mut self, place: Place) -> Evaluated<Cell> {
        self.cell(place)?.ok_or_else(|| format!("element {} is read and was not written", place.offset))
    }

    pub fn write(&mut self, place: Place, cell: Cell) -> Evaluated<()> {
        *self.cell(place)? = Some(cell);
        Ok(())
    }
}
