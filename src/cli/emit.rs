//! `smoothc emit FILE`: C or Futhark on standard output, or in a file; `-o x.c` has the header `x.h` beside it.

use super::options::{Display, EmitCommand, Target};
use super::session::Wanted;
use super::{files, output, session};
use crate::diagnostic::Diagnostics;
use crate::source::SourceMap;

pub fn run(command: &EmitCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let wanted = Wanted { stage: "emit", emission: Some(&command.emission), output: command.output.as_deref(), ..Wanted::default() };
    let Some(session) = session::compile(&command.source, wanted, sources, display)? else {
        return Ok(());
    };
    let (text, header) = match command.emission.target {
        Target::C => {
            let files = session.emitted()?;
            (&files.source, Some(&files.header))
        }
        Target::Futhark => (&session.emitted_futhark()?.source, None),
    };
    let Some(path) = &command.output else { return output::text(text) };
    files::write(path, text.as_bytes()).map_err(|problem| vec![problem])?;
    if let Some(header) = header
        && path.extension().is_some_and(|ending| ending == "c")
    {
        files::write(&path.with_extension("h"), header.as_bytes()).map_err(|problem| vec![problem])?;
    }
    Ok(())
}
