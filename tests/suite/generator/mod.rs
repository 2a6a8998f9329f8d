//! A generator of well-typed F-smooth programs for the property tests.
//!
//! [`grow::program`] makes one from a seed, [`shrink::shrink`] makes it smaller while it fails, [`program`] prints it.

pub mod asked;
pub mod backwards;
pub mod construct;
pub mod derived;
pub mod engine;
pub mod extrema;
pub mod grow;
pub mod in_place;
pub mod law;
pub mod native;
pub mod program;
pub mod random;
pub mod shrink;
pub mod spelling;
pub mod witnesses;
pub mod words;
