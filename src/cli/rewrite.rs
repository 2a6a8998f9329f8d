//! `smoothc rewrite STRATEGY EXPR`: a strategy, as text or a `.strategy` file, applied to one expression.
//!
//!     smoothc rewrite add-zero 'x + 0.0'   →   x

use std::path::Path;

use super::files::Reads;
use super::options::{Display, RewriteCommand};
use super::{output, warn};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::driver::{self, Schedule};
use crate::source::{SourceMap, Span};

pub fn run(command: &RewriteCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let is_path = command.strategy.trim_end().ends_with(".strategy");
    let strategy = if is_path {
        let path = command.strategy.trim();
        Schedule::Text { name: path.to_string(), text: Reads::default().source(Path::new(path)).map_err(|problem| vec![problem])? }
    } else {
        Schedule::Text { name: "<strategy>".into(), text: command.strategy.clone() }
    };
    let options = crate::rewrite::Options { disabled: command.disable.clone(), ..Default::default() };
    let rewritten = driver::rewrite_expression(&strategy, &command.expression, &options, sources)?;
    warn(&rewritten.warnings, sources, display)?;
    match rewritten.text {
        Some(text) => output::text(&format!("{text}\n")),
        None => {
            let problem = Diagnostic::error("E0815", Span::NONE, "the strategy does not apply to the expression");
            Err(vec![problem.help("`try s` leaves the expression as it is where s fails; `topdown s` looks for a place inside")])
        }
    }
}
