//! `smoothc explain CODE`: the page of a diagnostic code.

use super::options::ExplainCommand;
use super::{output, pages};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Span;

pub fn run(command: &ExplainCommand) -> Result<(), Diagnostics> {
    let code = command.code.to_ascii_uppercase();
    match pages::find(&code) {
        Some(page) => output::text(&format!("{}: {}\n\n{}\n", page.code, page.title, page.text.trim())),
        None => {
            let problem = Diagnostic::error("E0013", Span::NONE, format!("there is no diagnostic `{}`", command.code));
            Err(vec![problem.help("codes look like E0101; every diagnostic begins with its own")])
        }
    }
}
