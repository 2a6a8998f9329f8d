//! smoothc: a compiler for F-smooth, a small functional array language, that differentiates programs
//! and emits C in destination-passing style.

pub mod diagnostic;
pub mod emit;
pub mod ir;
pub mod lower;
pub mod source;
pub mod syntax;
