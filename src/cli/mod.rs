//! The command line.

pub mod args;
pub mod files;
pub mod json;
pub mod npy;
pub mod render;
