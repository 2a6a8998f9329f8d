//! What the commands on a program share: from their options to a compilation, through the stages they need.
//!
//! In: a FILE (`-` is standard input) and options. Out: the driver's state after a stage; warnings are
//! printed once it is there. `--dump STAGE` prints the program after that stage and ends the command.

use std::io::Write;
use std::path::Path;

use super::args::{self, Arguments};
use super::files::Reads;
use super::options::{Compilation, Display, Source};
use super::wanted::Wanted;
use super::{effects, options, output, warn};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::driver::{Options, Schedule, Session};
use crate::source::{SourceMap, Span, normal, with_line_feeds};
use crate::syntax::ast::OpenWhat;
use crate::toolchain::compiler;

/// The session after the wanted stage, or `None` when `--dump` printed another one instead. `sources` gets the
/// texts in every case, for drawing diagnostics, and `reads` the files that were read.
pub fn compile(
    source: &Source,
    wanted: Wanted,
    sources: &mut SourceMap,
    reads: &mut Reads,
    display: &Display,
) -> Result<Option<Session>, Diagnostics> {
    // also where nothing is optimised: a misspelt name is a mistake everywhere
    source.disable.iter().try_for_each(|name| crate::driver::check_disabled(name)).map_err(|problem| vec![problem])?;
    effects::check(source, &wanted).map_err(|problem| vec![problem])?;
    let file = match source.file.as_os_str() == options::NONE {
        true => None,
        false => Some((file_name(&source.file), reads.source(&source.file).map_err(|problem| vec![problem])?)),
    };
    let (name, text) = match wanted.expression {
        Some(expression) => (EXPRESSION_FILE.to_string(), declared(expression, file.as_ref().map(|(_, text)| text.as_str()))),
        None => file.clone().unwrap_or_default(),
    };
    let options = Options {
        entries: if wanted.expression.is_some() { vec![EXPRESSION.to_string()] } else { source.entry.clone() },
        derive: source.derive.clone(),
        sizes: source.size.clone(),
        schedule: schedule(source, reads)?,
        disabled: source.disable.clone(),
        record: wanted.record,
        keep_gradients: wanted.keep_gradients,
        mode: source.mode.into(),
        checkpoint: source.checkpoint,
        strict_fp: source.strict_fp,
        unchecked: source.unchecked,
        parallel: source.parallel,
        real: source.real.into(),
        only: wanted.only.map(str::to_string),
        prefix: wanted.emission.map(|emission| emission.prefix.clone()).unwrap_or_default(),
        header: wanted.header.unwrap_or_default().to_string(),
        header_only: wanted.header_only,
        target: wanted.emission.map(|emission| emission.target.into()).unwrap_or_default(),
    };
    let mut session = Session::new(&name, &text, options);
    let stage = source.dump.as_deref().unwrap_or(wanted.stage);
    let done = session.run_to(stage, &mut |path, from| match &file {
        Some(file) if from == EXPRESSION_FILE && path == MAIN => Ok(file.clone()),
        // the file's own `open` says what is wrong with it
        Some((name, _)) if from == EXPRESSION_FILE => Ok(open(path, name, reads).unwrap_or_default()),
        Some(_) | None => open(path, from, reads),
    });
    sources.clone_from(&session.sources);
    if source.time_passes {
        let mut stderr = std::io::stderr().lock();
        for (name, time) in &session.times {
            // a closed standard error leaves nothing to do
            let _ = writeln!(stderr, "{name:<24} {:>10.3} ms", time.as_secs_f64() * 1e3);
        }
    }
    done?;
    warn(&session.warnings, sources, display)?;
    if source.dump.is_some() {
        output::text(&session.print(stage))?;
        return Ok(None);
    }
    Ok(Some(session))
}

/// The entry that an expression becomes, and the file that declares it.
pub const EXPRESSION: &str = "it";
const EXPRESSION_FILE: &str = "<expression>";
/// What that file calls the one that is named on the command line.
const MAIN: &str = "the file";

/// A program whose entry is the expression: indented, so that no line of it is a declaration of its own. It opens the file and
/// what the file opens.
fn declared(expression: &str, file: Option<&str>) -> String {
    let opened = file.map(|text| crate::syntax::parse_recovering(text, Span::NONE.file).0.opens).unwrap_or_default();
    let paths = opened.iter().filter_map(|open| match &open.what {
        OpenWhat::File(path) => Some(&**path),
        OpenWhat::Library(_) => None,
    });
    let opens: String = paths.chain(file.map(|_| MAIN)).map(|path| format!("open \"{path}\"\n")).collect();
    let lines: String = with_line_feeds(expression).lines().map(|line| format!("  {line}\n")).collect();
    format!("{opens}let {EXPRESSION} =\n{lines}")
}

/// What diagnostics call a file.
fn file_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".to_string() } else { normal(path).display().to_string() }
}

impl compiler::Mode {
    /// How the command wants emitted code compiled.
    pub fn of(source: &Source, compilation: &Compilation) -> compiler::Mode {
        let arithmetic = compiler::Arithmetic::of(source.strict_fp);
        compiler::Mode { arithmetic, parallel: source.parallel, portable: compilation.portable, quick: false }
    }
}

/// The arguments of a call.
pub fn arguments(session: &Session, entry: &str, words: &[String], reads: &mut Reads) -> Result<Arguments, Diagnostics> {
    args::paths(words).for_each(|path| reads.note(path));
    let places = session.signatures.iter().find(|signature| signature.name == entry).map_or(&[][..], |signature| &signature.places);
    args::read_at(session.entry(entry)?, places, words)
}

/// The same program once more with other options, after a stage; its warnings are known.
pub fn again(first: &Session, change: impl FnOnce(&mut Options), stage: &str, reads: &mut Reads) -> Result<Session, Diagnostics> {
    let mut options = first.options.clone();
    change(&mut options);
    let main = first.sources.files.get(first.main as usize);
    let (name, text) = main.map(|file| (&*file.name, &*file.text)).unwrap_or_default();
    let mut session = Session::new(name, text, options);
    session.run_to(stage, &mut |path, from| open(path, from, reads))?;
    Ok(session)
}

/// A name is one of the schedules that are built in, anything with a point or a slash a strategy file.
fn schedule(source: &Source, reads: &mut Reads) -> Result<Schedule, Diagnostics> {
    match &source.schedule {
        None => Ok(Schedule::default()),
        Some(name) if !name.contains(['.', '/', '\\']) => Ok(Schedule::Named(name.clone())),
        Some(path) => {
            let text = reads.source(Path::new(path)).map_err(|problem| vec![problem])?;
            Ok(Schedule::Text { name: path.clone(), text })
        }
    }
}

/// Reads a file that `open "path"` names, relative to the file that opens it.
fn open(path: &str, from: &str, reads: &mut Reads) -> Result<(String, String), String> {
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    let path = normal(&folder.join(path));
    let text = reads.opened(&path).map_err(|problem: Diagnostic| problem.message)?;
    Ok((path.display().to_string(), text))
}
