//! What passes over loops ask of the loop program, each question in one place.
//!
//! In: expressions and statements. Out: answers; `false`, or nothing, where something is not seen.
//!
//! | question | module |
//! | --- | --- |
//! | which multiples of indices a subscript adds up, and by how much it grows with one | `affine` |
//! | between which numbers an Index is, and arithmetic that counts on it | `ranges` |
//! | what the loops and names around a place prove: `0 <= e`, `a <= b`, an access inside its array | `bounds` |
//! | whether iterations of a loop access different elements | `dependence` |
//! | what statements read, write and accumulate | `effects` |
//! | which pointers lead to one array | `homes` |
//! | whether statements can stop the function | `failures` |
//! | a length as an expression, and the most that it may be | `sizes` |

pub mod affine;
pub mod bounds;
pub mod dependence;
pub mod effects;
pub mod failures;
pub mod homes;
mod ranges;
pub mod sizes;
