//! Any text through the whole compiler: diagnostics, or a program with its C and its Futhark.
//!
//! In: bytes. Wrong are a panic, an internal error, a user error after `types`, a diagnostic whose place is not in the
//! text or that cannot be drawn, and, in builds with debug assertions, a pass that gives a wrong program.
//! Limits: `open` finds no file.

use smoothc::cli::render;
use smoothc::diagnostic::Diagnostic;
use smoothc::driver::{Options, Session, Target};
use smoothc::stack::with_large_stack;

/// What is wrong with the compiler on this text.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    with_large_stack(|| {
        if !compiles(&text, "types", Target::C)? {
            return Ok(());
        }
        compiles(&text, "emit", Target::C)?;
        compiles(&text, "emit", Target::Futhark)?;
        Ok(())
    })
}

/// Whether the stage is reached; an error where that is for a reason which no text may give.
fn compiles(text: &str, stage: &str, target: Target) -> Result<bool, String> {
    let mut session = Session::new("fuzz.smooth", text, Options { target, ..Options::default() });
    let done = session.run_to(stage, &mut |_, _| Err("there is no such file".into()));
    for warning in &session.warnings {
        can_be_drawn(warning, &session)?;
    }
    let Err(problems) = done else { return Ok(true) };
    if problems.is_empty() {
        return Err(format!("`{stage}` fails and says nothing"));
    }
    for problem in &problems {
        can_be_drawn(problem, &session)?;
        let is_allowed = match (stage, problem.code) {
            ("types", code) => !code.starts_with("E09"),
            // a file without an entry is checked, but there is nothing to emit
            (_, "E0811") => true,
            // what is unsupported, but the default schedule comes to an end
            (_, code) => code.starts_with("E06") && code != "E0602",
        };
        if !is_allowed {
            return Err(format!("{target:?} up to `{stage}`: {}", render::human(problem, &session.sources, false)));
        }
    }
    Ok(false)
}

fn can_be_drawn(problem: &Diagnostic, session: &Session) -> Result<(), String> {
    for span in std::iter::once(problem.span).chain(problem.labels.iter().map(|(span, _)| *span)) {
        let Some(file) = session.sources.file(span) else { continue };
        if file.text.get(span.start as usize..span.end as usize).is_none() {
            return Err(format!("{} `{}` is at no place of {}: {span:?}", problem.code, problem.message, file.name));
        }
    }
    let drawn = render::human(problem, &session.sources, false);
    let json = render::json(problem, &session.sources);
    if !drawn.contains(problem.code) || !json.contains(problem.code) {
        return Err(format!("{} is drawn without its code: {drawn}{json}", problem.code));
    }
    Ok(())
}
