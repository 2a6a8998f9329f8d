//! Finding and running the Futhark compiler, and calling what it made.
//!
//! `compiler` turns emitted Futhark into C and that into a library, `shim` writes one C function of one signature for
//! each entry, `call` loads and calls it, and `message` says which status a Futhark error is.

pub mod call;
pub mod compiler;
pub mod message;
pub mod shim;

/// What `futhark` is asked to make.
pub const BACKENDS: [&str; 5] = ["c", "multicore", "opencl", "cuda", "hip"];
