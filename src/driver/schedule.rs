//! The schedule that the options name, or give the text of.
//!
//! In: options. Out: the schedule, or what is wrong with its text; a text that is that of a built-in schedule is that one.

use super::{Options, Schedule, Session};
use crate::diagnostic::{Diagnostic, Diagnostics, nearest};
use crate::loops;
use crate::plan;
use crate::rewrite as optimiser;
use crate::source::{SourceMap, Span};

/// The name of the built-in schedule that the options name, or give the text of.
pub fn built_in_schedule(session: &Session) -> Result<Option<String>, Diagnostics> {
    match &session.options.schedule {
        Schedule::Named(name) => Ok(Some(name.clone())),
        text @ Schedule::Text { .. } => Ok(schedule(text, &mut session.sources.clone())?.built_in_name().map(str::to_string)),
    }
}

/// The schedule that options name or give the text of.
pub fn schedule(wanted: &Schedule, sources: &mut SourceMap) -> Result<optimiser::Schedule, Diagnostics> {
    match wanted {
        Schedule::Named(name) => optimiser::Schedule::builtin(name).ok_or_else(|| {
            let problem = Diagnostic::error("E0812", Span::NONE, format!("there is no schedule `{name}`"));
            let help = match nearest(name, ["none", "paper", "default"].into_iter()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "the schedules are none, paper and default; a path names a strategy file".into(),
            };
            vec![problem.help(help)]
        }),
        Schedule::Text { name, text } => {
            let file = sources.add(name, text);
            optimiser::Schedule::parse(name, text, file).map_err(|problem| vec![problem])
        }
    }
}

/// What `--disable` names of rules and their groups.
pub fn disabled_rules(options: &Options) -> Vec<String> {
    options.disabled.iter().filter(|name| loops::named(name).is_none() && plan::named(name).is_none()).cloned().collect()
}
