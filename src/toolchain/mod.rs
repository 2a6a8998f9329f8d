//! Finding and running the compilers of the targets, and calling what they made.
//!
//! `flat` is how values look to C, `sizes` gives the numbers behind size names, `compiler` runs the compiler
//! that `cc` finds, `shim` writes a C function of one signature for any entry, `call` loads and calls it, and
//! `status` says what a returned status means. `futhark` does the same for Futhark. Nothing here knows of files of the user or of passes.

pub mod call;
pub mod compiler;
pub mod flat;
pub mod futhark;
pub mod memory;
pub mod processor;
pub mod shim;
pub mod sizes;
pub mod status;
