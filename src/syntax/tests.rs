//! Tests of the room: programs of the paper, layout, precedence, messages, depth and spans.

mod figures;
mod forms;
mod limits;
mod messages;
mod programs;
mod sexp;
