//! smoothc: a compiler for F-smooth, a small functional array language, that differentiates programs
//! and emits C in destination-passing style.

pub mod ad;
pub mod cli;
pub mod diagnostic;
pub mod driver;
pub mod emit;
pub mod ir;
pub mod lower;
pub mod rewrite;
pub mod source;
pub mod stack;
pub mod syntax;
pub mod toolchain;
pub mod types;
