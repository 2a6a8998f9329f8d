//! `smoothc completions SHELL` and `smoothc man [COMMAND]`: what a shell and `man` want to know of the command line.
//!
//! In: a shell, or the name of a subcommand. Out: on standard output a script that completes words, or a page in roff; both from
//! the same description of the options that `--help` prints.

use super::options::{CompletionsCommand, ManCommand};
use super::output;
use crate::diagnostic::{Diagnostic, Diagnostics, nearest};
use crate::source::Span;

/// The name of the program in scripts and pages.
const NAME: &str = "smoothc";

pub fn completions(words: &CompletionsCommand) -> Result<(), Diagnostics> {
    let mut script = Vec::new();
    clap_complete::generate(words.shell, &mut super::command(), NAME, &mut script);
    output::bytes(&script)
}

pub fn man(words: &ManCommand) -> Result<(), Diagnostics> {
    let mut all = super::command();
    all.build();
    let page = match words.subcommand.as_deref() {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                let near = nearest(name, all.get_subcommands().map(clap::Command::get_name));
                let help = near.map_or("`smoothc --help` lists the commands".to_string(), |near| format!("did you mean `{near}`?"));
                return Err(vec![Diagnostic::error("E0019", Span::NONE, format!("there is no command `{name}`")).help(help)]);
            }
        },
    };
    let mut text = Vec::new();
    // writing to memory does not fail
    let _ = clap_mangen::Man::new(page).render(&mut text);
    output::bytes(&text)
}
