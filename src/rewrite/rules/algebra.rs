//! Figure 8b, group `algebra`: laws of the real numbers that doubles follow only where nothing overflows,
//! underflows, or is infinite. `--strict-fp` switches them off.
//!
//!     e * 0  →  0        e - e  →  0        0 / e  →  0

use super::rules;

rules! {
    "mul-zero" Ring Algebra @ Prim: "e * 0 -> 0; 0 * e -> 0";
    "sub-self" Ring Algebra @ Prim: "e - e -> 0";
    "add-neg"  Ring Algebra @ Prim: "e + -e -> 0; -e + e -> 0";
    "zero-div" Ring Algebra @ Prim: "0 / e -> 0 if double e";
    "zero-sub" Ring Algebra @ Prim: "0 - e -> -e";
    "neg-zero" Ring Algebra @ Prim: "-0 -> 0";
    "cancel"   Ring Algebra @ Prim: "a * b / a -> b if double a; a * b / b -> a if double b; a / a -> 1 if nonzero a";
}
