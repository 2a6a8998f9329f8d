//! The functions of `runtime/` that loop programs call: one row each, with what it takes and gives.
//!
//! In: a name. Out: its row. The verifier, the parser and the evaluator of loop programs read the rows, so that a helper is added
//! here once.
//!
//!     smooth_times   →   takes bytes and an index, gives bytes

use super::program::Elem;

/// What a helper takes or gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Scalar(Elem),
    /// A scalar of the kind that the other operands of this sort, and the result, have.
    Same,
    /// A pointer to elements, which are read.
    Array(Elem),
}

/// One helper.
#[derive(Debug)]
pub struct Helper {
    pub name: &'static str,
    pub takes: &'static [Operand],
    pub gives: Operand,
}

use Operand::{Array, Same, Scalar};

const BOOL: Operand = Scalar(Elem::Bool);
const BYTES: Operand = Scalar(Elem::Bytes);
const INDEX: Operand = Scalar(Elem::Index);

/// All helpers.
pub const HELPERS: &[Helper] = &[
    Helper { name: "smooth_select", takes: &[BOOL, Same, Same], gives: Same },
    Helper { name: "smooth_is_index", takes: &[Scalar(Elem::Double)], gives: BOOL },
    Helper { name: "smooth_any_outside", takes: &[Array(Elem::Index), INDEX, INDEX], gives: BOOL },
    Helper { name: "smooth_is_too_large", takes: &[BYTES], gives: BOOL },
    Helper { name: "smooth_times", takes: &[BYTES, INDEX], gives: BYTES },
    Helper { name: "smooth_plus", takes: &[BYTES, BYTES], gives: BYTES },
    Helper { name: "smooth_most", takes: &[BYTES, BYTES], gives: BYTES },
    Helper { name: "smooth_round", takes: &[BYTES], gives: BYTES },
    Helper { name: "smooth_roundf", takes: &[BYTES], gives: BYTES },
    Helper { name: "smooth_slices", takes: &[BYTES, INDEX], gives: BYTES },
];

/// The helper of this name.
pub fn named(name: &str) -> Option<&'static Helper> {
    HELPERS.iter().find(|helper| helper.name == name)
}
