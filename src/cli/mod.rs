//! The command line: one file per subcommand, and the only place that reads files, prints and exits.
//!
//! In: the words of a command line (docs/cli.md). Out: results on standard output, diagnostics on standard error,
//! and the exit status: 0 success, 1 the program or its arguments are at fault, 2 wrong usage, 3 a tool is
//! missing, 4 a derivative is wrong. Everything runs on a thread with a large stack; a panic becomes the internal error E0901, and a
//! reader who closes the pipe early is no error.
//!
//! `options` are the words, `files` what is read, `output` what is written, `args` with `json` and `npy` turn words into
//! arguments, `values` turns results into text, `render` draws diagnostics, whose names `tame` keeps on a line, `pages` explains them.

pub mod args;
mod bench;
mod build;
pub mod cases;
mod check;
mod choices;
mod depfile;
mod dual_numbers;
mod effects;
mod emit;
mod eval;
mod explain;
pub mod files;
mod fmt;
mod gradcheck;
mod input;
pub mod json;
mod lsp;
pub mod npy;
mod options;
mod output;
mod package;
pub mod pages;
pub mod print;
pub mod render;
mod rewrite;
mod run;
mod session;
mod shell;
mod stale;
mod tame;
pub mod trees;
pub mod values;
mod wanted;

use std::any::Any;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{CommandFactory, FromArgMatches};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::source::{SourceMap, Span};
use options::{Cli, Color, Command, Display, MessageFormat};

/// The definition of the command line, with what holds between the options of one command only: `eval` computes derivatives as the program
/// is written, unless it optimises it; an expression needs neither a file nor an entry.
pub fn command() -> clap::Command {
    let asks_schedule = |arg: clap::Arg| arg.requires("schedule");
    let not_for_expressions = |arg: clap::Arg| {
        let given = clap::builder::ArgPredicate::IsPresent;
        arg.required(false).required_unless_present("expression").default_value_if("expression", given, options::NONE)
    };
    Cli::command().mut_subcommand("eval", |eval| {
        eval.mut_arg("mode", asks_schedule)
            .mut_arg("checkpoint", asks_schedule)
            // what is changed goes to the end, but for its place among the words
            .mut_arg("file", |arg| not_for_expressions(arg).index(1))
            .mut_arg("entry_name", |arg| not_for_expressions(arg).conflicts_with("expression").index(2))
            .mut_arg("args", |arg| arg.index(3))
    })
}

/// The command that words ask for.
fn parsed(words: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches_from(words)?)
}

/// Runs the command of the process's command line.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = options::protect_numbers(std::env::args_os());
    let cli = match parsed(&words) {
        Ok(cli) => cli,
        Err(problem) => {
            // a complaint echoes words: the same of words that may be shown
            let words: Vec<OsString> = words.iter().map(tame::word).collect();
            let problem = parsed(&words).err().unwrap_or(problem);
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
        Command::Gradcheck(command) => gradcheck::run(&command, &mut sources, display),
        Command::Bench(command) => bench::run(&command, &mut sources, display),
        Command::Completions(command) => shell::completions(&command),
        Command::Man(command) => shell::man(&command),
        Command::Fmt(command) => fmt::run(&command, &mut sources),
        Command::Rewrite(command) => rewrite::run(&command, &mut sources, display),
        Command::Lsp(_) => return lsp::run(),
    };
    match done {
        Ok(()) => 0,
        Err(problems) => report(&problems, &sources, display),
    }
}

/// Prints warnings; an error where they are denied.
fn warn(warnings: &[Diagnostic], sources: &SourceMap, display: &Display) -> Result<(), Diagnostics> {
    report(warnings, sources, display);
    if !display.deny_warnings || warnings.is_empty() {
        return Ok(());
    }
    let count = if warnings.len() == 1 { "a warning".to_string() } else { format!("{} warnings", warnings.len()) };
    Err(vec![
        Diagnostic::error("E0020", Span::NONE, format!("{count}, which `--deny-warnings` does not allow"))
            .help("mend what they say, or leave the option out"),
    ])
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
    let quiet = |problem: &&Diagnostic| display.quiet && problem.severity == Severity::Warning;
    for problem in &limited(problems.iter().filter(|problem| !quiet(problem))) {
        let text = match display.message_format {
            MessageFormat::Human => render::human(problem, sources, color),
            MessageFormat::Json => render::json(problem, sources),
        };
        // there is nowhere left to complain to
        let _ = stderr.write_all(text.as_bytes());
    }
    let has = |codes: &[&str]| problems.iter().any(|problem| codes.contains(&problem.code));
    if has(&["E0903"]) {
        3
    } else if has(&["E0012", "E0014", "E0017", "E0019", "E0808"]) {
        2
    } else if has(&["E0820"]) {
        4
    } else {
        1
    }
}

/// At most so many errors, and as many warnings, are printed.
const MOST: usize = 100;

/// The first errors and the first warnings, then how many more of each there are.
fn limited<'a>(problems: impl Iterator<Item = &'a Diagnostic>) -> Vec<Diagnostic> {
    let (mut errors, mut warnings) = (0, 0);
    let mut shown = Vec::new();
    for problem in problems {
        let count = match problem.severity {
            Severity::Error => &mut errors,
            Severity::Warning => &mut warnings,
        };
        *count += 1;
        if *count <= MOST {
            shown.push(problem.clone());
        }
    }
    let more = |count: usize, word: &str| {
        let more = count - MOST;
        (format!("{more} more {word}{} not shown", if more == 1 { " is" } else { "s are" }), "mend the first ones; others may go with them")
    };
    if warnings > MOST {
        let (message, help) = more(warnings, "warning");
        shown.push(Diagnostic::warning("W0016", Span::NONE, message).help(help));
    }
    if errors > MOST {
        let (message, help) = more(errors, "error");
        shown.push(Diagnostic::error("E0015", Span::NONE, message).help(help));
    }
    shown
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_take_no_place_of_errors() {
        let warning = Diagnostic::warning("W0202", Span::NONE, "w");
        let mut problems = vec![warning; MOST + 5];
        problems.push(Diagnostic::error("E0201", Span::NONE, "e"));
        let shown = limited(problems.iter());
        assert_eq!(shown.len(), MOST + 2);
        assert_eq!((shown[MOST].code, shown[MOST + 1].code), ("E0201", "W0016"));
        assert_eq!(shown[MOST + 1].message, "5 more warnings are not shown");
        assert_eq!(limited(problems[6..].iter()).len(), MOST);
    }
}
