//! What holds for every input, whoever makes it up: the checks behind the fuzz targets.
//!
//! In: bytes. Out: nothing, or what is wrong; a panic is wrong too. `fuzz_targets/` gives them the bytes that libFuzzer
//! makes, `tests/suite/regressions.rs` those of `regressions/`, so that what was found once holds without cargo-fuzz.
//!
//!     text::check(b"let f (x: Double) = x +")?;

pub mod arguments;
#[path = "../../tests/suite/generator/mod.rs"]
pub mod generator;
pub mod programs;
pub mod text;
