//! Emitted C against the interpreter, call by call.
//!
//! In: a program as it was typed and as C, and entries with their arguments. Out: nothing where both give the same results and
//! the same statuses, but that a derivative without elements may not meet the function's error; the first call on which they differ
//! otherwise.

use std::path::Path;

use smoothc::cli::args::Arguments;
use smoothc::driver::{Options, Session};

use super::native::{self, Call};
use super::{engine, tools};

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

/// Runs the chosen ones of calls with words of a command line, of the program that they are entries of; what differs.
pub fn hold(path: &str, text: &str, options: &Options, calls: &[(&str, &[&str])], is_wanted: fn(&str) -> bool) -> Result<(), String> {
    let mut entries: Vec<String> = calls.iter().map(|(entry, _)| entry.to_string()).filter(|entry| is_wanted(entry)).collect();
    entries.dedup();
    let options = Options { entries, header: "program.h".into(), ..options.clone() };
    let typed = engine::compile_with(path, text, options.clone(), "types")?;
    let session = engine::compile_with(path, text, options, "emit")?;
    let mut given = Vec::new();
    for (entry, words) in calls.iter().filter(|(entry, _)| is_wanted(entry)) {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        given.push((*entry, engine::arguments(&session, entry, &words)?));
    }
    agree(if tools::has_sanitizers() { &native::sanitized } else { &native::optimised }, &typed, &session, &given)
}
