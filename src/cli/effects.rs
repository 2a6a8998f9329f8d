//! Options that would change nothing are refused: whoever writes `--unchecked` believes that checks are gone.
//!
//! In: the options of a command, and what it wants of a compilation. Out: E0017 for the first option that neither
//! reaches that stage nor concerns that target. What every command reads or looks at (`--schedule`, `--disable`),
//! and what `eval` does anyway (`--strict-fp`), is no such option.
//!
//!     emit --target futhark --unchecked f.smooth   →   error[E0017]: `--unchecked` has no effect with --target futhark

use super::options::{ModeName, Source, Target};
use super::wanted::Wanted;
use crate::diagnostic::Diagnostic;
use crate::driver::PASSES;
use crate::source::Span;

/// One option that a command was given or not, and where it makes a difference.
struct Effect {
    option: &'static str,
    given: bool,
    /// The first stage that looks at it.
    from: &'static str,
    /// The only target that it concerns.
    target: Option<Target>,
    help: &'static str,
}

/// An error for an option without effect on a command that wants this.
pub fn check(source: &Source, wanted: &Wanted) -> Result<(), Diagnostic> {
    let emission = wanted.emission;
    const NO_CODE: &str = "leave it out: `emit`, `run` and `build` take it";
    const AS_WRITTEN: &str = "leave it out: the program is taken as it is written; `eval` optimises with --schedule";
    let effect = |option, given, from, target, help| Effect { option, given, from, target, help };
    let effects = [
        effect("--mode", source.mode != ModeName::Auto, "mode", None, AS_WRITTEN),
        effect("--checkpoint", source.checkpoint.is_some(), "mode", None, AS_WRITTEN),
        effect("--unchecked", source.unchecked, "lower", Some(Target::C), NO_CODE),
        effect("--parallel", source.parallel, "lower", Some(Target::C), NO_CODE),
        effect("--header-only", wanted.header_only, "emit", Some(Target::C), NO_CODE),
        effect("--python", wanted.python, "emit", None, NO_CODE),
        effect("--cpp", wanted.cpp, "emit", Some(Target::C), NO_CODE),
        effect("--manifest", wanted.manifest, "emit", None, NO_CODE),
        effect(
            "--futhark-backend",
            emission.is_some_and(|emission| emission.futhark_backend.is_some()),
            "emit",
            Some(Target::Futhark),
            "add --target futhark, or leave it out",
        ),
    ];
    let stage = |name: &str| PASSES.iter().position(|pass| pass.name == name.split('.').next().unwrap_or(name));
    let last = stage(if wanted.checks_derivatives { "emit" } else { wanted.stage }).max(source.dump.as_deref().and_then(stage));
    let chosen = emission.map(|emission| emission.target);
    for Effect { option, given, from, target, help } in effects {
        if !given {
            continue;
        }
        if let (Some(chosen), Some(target)) = (chosen, target)
            && chosen != target
        {
            let name = if chosen == Target::C { "c" } else { "futhark" };
            let help = if chosen == Target::C { help } else { "leave it out: it is for --target c" };
            return Err(problem(option, &format!("with --target {name}"), help));
        }
        if last < stage(from) {
            return Err(problem(option, "on this command", help));
        }
    }
    Ok(())
}

/// What is said of an option, with the reason and the way out.
pub fn problem(option: &str, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error("E0017", Span::NONE, format!("`{option}` has no effect {why}")).help(help)
}
