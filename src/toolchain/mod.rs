//! Finding and running the C compiler, and calling what it made.

pub mod flat;
pub mod sizes;
