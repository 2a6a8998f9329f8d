//! `smoothc emit FILE`: C on standard output, or `-o x.c` with the header `x.h` beside it.

use super::options::{Display, EmitCommand, Target};
use super::session::Wanted;
use super::{files, output, session};
use crate::diagnostic::Diagnostics;
use crate::source::SourceMap;

pub fn run(command: &EmitCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let stage = match command.emission.target {
        Target::C => "emit",
    };
    let wanted = Wanted { stage, emission: Some(&command.emission), output: command.output.as_deref(), ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, display)? else {
        return Ok(());
    };
    let files = session.emitted()?;
    let Some(path) = &command.output else { return output::text(&files.source) };
    files::write(path, files.source.as_bytes()).map_err(|problem| vec![problem])?;
    if path.extension().is_some_and(|ending| ending == "c") {
        files::write(&path.with_extension("h"), files.header.as_bytes()).map_err(|problem| vec![problem])?;
    }
    Ok(())
}
