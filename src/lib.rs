//! smoothc: a compiler for F-smooth, a small functional array language, that differentiates programs
//! and emits C in destination-passing style.

pub mod ad;
pub mod diagnostic;
pub mod ir;
pub mod rewrite;
pub mod source;
pub mod stack;
pub mod syntax;
