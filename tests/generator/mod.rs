//! A generator of well-typed F-smooth programs for the property tests.
//!
//! [`grow::program`] makes one from a seed, [`shrink::shrink`] makes it smaller while it fails, [`program`] prints it.

pub mod construct;
pub mod grow;
pub mod program;
pub mod random;
pub mod shrink;
pub mod engine;
pub mod native;
