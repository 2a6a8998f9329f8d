//! Well-typed programs, as `tests/suite/generator` grows them from choices: every engine says what the interpreter says.
//!
//! In: bytes; the first says whether the program may leave domains, the others are the choices. [`check`] compares the
//! interpreter on the program as written with the interpreter on what `ad` and `rewrite` made of it, and derivatives with
//! differences; [`check_compiled`] compares with C too, all programs in one file, since compiling costs a tenth of a second.

use smoothc::stack::with_large_stack;

use super::generator::engine::{Counts, With, check_all};
use super::generator::grow;
use super::generator::program::Program;
use super::generator::random::Random;

/// The program of these bytes; `name` is that of its entry.
pub fn program(bytes: &[u8], name: &str) -> Program {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    grow::program_of(Random::of_bytes(rest), name, is_wild(*first))
}

/// Wild programs are compared without group `algebra`, so they go into a file of their own.
pub fn is_wild(first: u8) -> bool {
    first % 3 == 2
}

/// What is wrong with the interpreter's values after some stage.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    compare(&[bytes], With::Interpreter)
}

/// What is wrong with the C of some of these programs, of which either none or all are wild.
pub fn check_compiled(inputs: &[&[u8]]) -> Result<(), String> {
    compare(inputs, With::C)
}

fn compare(inputs: &[&[u8]], with: With) -> Result<(), String> {
    let wrong = with_large_stack(|| {
        let programs: Vec<Program> = inputs.iter().enumerate().map(|(at, bytes)| program(bytes, &format!("f{at}"))).collect();
        let failures = check_all(&programs, with, &mut Counts::default());
        let said = failures.into_iter().map(|(at, failure)| {
            format!("── {} in program {at} of {}\n{}\n{}\n", failure.kind, programs.len(), programs[at].text(), failure.detail)
        });
        said.collect::<String>()
    });
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}
