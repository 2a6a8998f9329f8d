//! Arrays with a row for each iteration of a block, and nests that add to rows of a matrix.
//!
//! In: the statements of a stage. Out: the same with the elements of an iteration's row in the place of those of its array; and
//! where a stage adds to a matrix row by row, the statements that are done for each row.
//!
//!     z[j] = b[j]   →   z[row][j] = b[j]

use std::collections::HashMap;

use crate::loops::program::*;
use crate::loops::visit::each_access;

/// A loop of fewer iterations is not one over rows of a matrix.
pub const FEW: i64 = 8;

/// Puts the elements of a row in the place of those of an array, which has this length; a row for each iteration of a block.
pub fn spread(block: &mut [Stmt], lengths: &HashMap<Id, Value>, row: &Value) {
    each_access(block, &mut |base, offset| {
        if let Some(length) = lengths.get(&base) {
            let column = offset.take().unwrap_or(Value::Index(0));
            *offset = Some(if *length == Value::Index(1) { row.clone() } else { Value::in_row(row.clone(), length.clone(), column) });
        }
    });
}
