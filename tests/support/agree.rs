//! Emitted C against the interpreter, call by call.
//!
//! In: a program as it was typed and as C, and entries with their arguments. Out: nothing where both give the same results and
//! the same statuses, but that a derivative without elements may not meet the function's error; the first call on which they differ otherwise.

use std::path::Path;

use smoothc::cli::args::Arguments;
use smoothc::driver::Session;

use super::engine;
use super::native::{self, Call};

/// How emitted C is run.
pub type Run<'a> = &'a dyn Fn(&str, &Session, &[Call], &Path) -> Result<Vec<native::Outcome>, String>;

/// Runs all calls; what differs.
pub fn agree(run: Run, known: &Session, session: &Session, calls: &[(&str, Arguments)]) -> Result<(), String> {
    let given: Vec<Call> = calls.iter().map(|(entry, arguments)| Call { entry, arguments }).collect();
    let c = native::program(session, &given)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let outcomes = run(&c, session, &given, folder.path())?;
    for ((entry, arguments), outcome) in calls.iter().zip(outcomes) {
        let at = || format!("{entry} {:?}", arguments.values);
        match (engine::interpret(known, entry, &arguments.values), outcome) {
            (Ok(wanted), Ok(found)) => {
                if let Some(difference) = engine::difference(&wanted, &found) {
                    return Err(format!("{}: {difference}", at()));
                }
            }
            (Err(wanted), Err(status)) if wanted == engine::status_name(status) => {}
            // along no direction forward mode does not ask what is wrong with the function
            (Err(_), Ok(found)) if engine::has_no_elements(&found) => {}
            (wanted, found) => return Err(format!("{}: {:?} and {found:?}", at(), wanted.map(|known| known.value))),
        }
    }
    Ok(())
}
