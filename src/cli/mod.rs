//! The command line: one file per subcommand, and the only place that reads files, prints and exits.
//!
//! In: the words of a command line (CLI.md). Out: results on standard output, diagnostics on standard error,
//! and the exit status: 0 success, 1 the program or its arguments are at fault, 2 wrong usage, 3 a tool is
//! missing. Everything runs on a thread with a large stack; a panic becomes the internal error E0901, and a
//! reader who closes the pipe early is no error.
//!
//! `options` are the words, `files` what is read and written, `args` with `json` and `npy` turn words into
//! arguments, `values` and `output` turn results into text, `render` draws diagnostics, `pages` explains them.

pub mod args;
mod build;
mod check;
mod emit;
mod eval;
mod explain;
pub mod files;
pub mod json;
pub mod npy;
mod options;
mod output;
pub mod pages;
pub mod render;
mod rewrite;
mod run;
mod session;
pub mod values;

use std::any::Any;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::Parser;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};
use options::{Cli, Color, Command, Display, MessageFormat};

/// Runs the command of the process's command line.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = options::protect_numbers(std::env::args_os());
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(problem) => {
            // the text of --help goes to standard output, a complaint to standard error; a closed pipe is no error
            let _ = problem.print();
            return ExitCode::from(if problem.use_stderr() { 2 } else { 0 });
        }
    };
    let display = cli.display.clone();
    static PLACE: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|info| {
        if let (Some(place), Ok(mut noted)) = (info.location(), PLACE.lock()) {
            *noted = format!(" at {}:{}", place.file(), place.line());
        }
    }));
    let done = catch_unwind(AssertUnwindSafe(|| crate::stack::with_large_stack(|| dispatch(cli.command, &display))));
    let status = done.unwrap_or_else(|panic| {
        let place = PLACE.lock().map(|place| place.clone()).unwrap_or_default();
        let message = format!("internal error: {}{place}", panic_text(&*panic));
        let problem = Diagnostic::error("E0901", Span::NONE, message).help("this is a bug in smoothc: please report it with the input");
        report(&[problem], &SourceMap::default(), &display)
    });
    ExitCode::from(status)
}

fn dispatch(command: Command, display: &Display) -> u8 {
    let mut sources = SourceMap::default();
    let done = match command {
        Command::Emit(command) => emit::run(&command, &mut sources, display),
        Command::Check(command) => check::run(&command, &mut sources, display),
        Command::Eval(command) => eval::run(&command, &mut sources, display),
        Command::Run(command) => run::run(&command, &mut sources, display),
        Command::Build(command) => build::run(&command, &mut sources, display),
        Command::Explain(command) => explain::run(&command, &mut sources, display),
        Command::Rewrite(command) => rewrite::run(&command, &mut sources, display),
    };
    match done {
        Ok(()) => 0,
        Err(problems) => report(&problems, &sources, display),
    }
}

/// Prints diagnostics to standard error and gives the exit status that they mean.
fn report(problems: &[Diagnostic], sources: &SourceMap, display: &Display) -> u8 {
    let mut stderr = std::io::stderr().lock();
    let color = match display.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            stderr.is_terminal() && std::env::var_os("NO_COLOR").is_none() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    };
    for problem in problems {
        if display.quiet && problem.severity == Severity::Warning {
            continue;
        }
        let text = match display.message_format {
            MessageFormat::Human => render::human(problem, sources, color),
            MessageFormat::Json => render::json(problem, sources),
        };
        // there is nowhere left to complain to
        let _ = stderr.write_all(text.as_bytes());
    }
    if problems.iter().any(|problem| problem.code == "E0903") { 3 } else { 1 }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "unknown",
    }
}
