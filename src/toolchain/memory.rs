//! Columns as a compiled entry has them in memory: as they are, or as floats with `--real f32`.
//!
//! In: columns of arguments, and the lengths of results. Out: pointers for the callee, and after the call the columns
//! of the result. Doubles are copied and rounded on the way in, and widened on the way out, only where the entry has
//! floats; everything else is used in place.

use std::ffi::c_void;

use super::flat::Column;
use crate::real::Real;

/// One column.
#[derive(Debug)]
pub enum Cells<'a> {
    Given(&'a Column),
    Own(Column),
    Single(Vec<f32>),
}

impl<'a> Cells<'a> {
    /// An argument's column.
    pub fn given(column: &'a Column, real: Real) -> Cells<'a> {
        match (column, real) {
            (Column::Double(items), Real::F32) => Cells::Single(items.iter().map(|item| *item as f32).collect()),
            (Column::Double(_), Real::F64) | (Column::Index(_) | Column::Bool(_) | Column::Rolled(_), _) => Cells::Given(column),
        }
    }

    /// Room for a result's column of this kind; `None` when there is no memory for it.
    pub fn zeros(like: &Column, length: usize, real: Real) -> Option<Cells<'a>> {
        match (like, real) {
            (Column::Double(_), Real::F32) => {
                let mut items = Vec::new();
                items.try_reserve_exact(length).ok()?;
                items.resize(length, 0.0);
                Some(Cells::Single(items))
            }
            (Column::Double(_), Real::F64) | (Column::Index(_) | Column::Bool(_) | Column::Rolled(_), _) => {
                like.zeros(length).map(Cells::Own)
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Cells::Given(column) => column.is_empty(),
            Cells::Own(column) => column.is_empty(),
            Cells::Single(items) => items.is_empty(),
        }
    }

    /// Where the elements are.
    pub fn source(&self) -> *const c_void {
        match self {
            Cells::Given(Column::Double(items)) | Cells::Own(Column::Double(items)) => items.as_ptr().cast(),
            Cells::Given(Column::Index(items)) | Cells::Own(Column::Index(items)) => items.as_ptr().cast(),
            Cells::Given(Column::Bool(items)) | Cells::Own(Column::Bool(items)) => items.as_ptr().cast(),
            // not what C can read
            Cells::Given(Column::Rolled(_)) | Cells::Own(Column::Rolled(_)) => std::ptr::null(),
            Cells::Single(items) => items.as_ptr().cast(),
        }
    }

    /// Where elements go; NULL for what was given, which nobody writes.
    pub fn target(&mut self) -> *mut c_void {
        match self {
            Cells::Given(_) | Cells::Own(Column::Rolled(_)) => std::ptr::null_mut(),
            Cells::Own(Column::Double(items)) => items.as_mut_ptr().cast(),
            Cells::Own(Column::Index(items)) => items.as_mut_ptr().cast(),
            Cells::Own(Column::Bool(items)) => items.as_mut_ptr().cast(),
            Cells::Single(items) => items.as_mut_ptr().cast(),
        }
    }

    /// The column that it holds.
    pub fn column(self) -> Column {
        match self {
            Cells::Given(column) => column.clone(),
            Cells::Own(column) => column,
            Cells::Single(items) => Column::Double(items.into_iter().map(f64::from).collect()),
        }
    }
}
