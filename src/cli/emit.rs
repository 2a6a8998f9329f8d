//! `smoothc emit FILE`: C or Futhark on standard output, or in a file; `-o x.c` has the header `x.h` beside it.

use std::path::Path;

use super::files::Reads;
use super::options::{Display, EmitCommand, Target};
use super::output::{self, Output};
use super::session::{self, Wanted};
use crate::diagnostic::Diagnostics;
use crate::source::SourceMap;

pub fn run(command: &EmitCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let ending = match command.emission.target {
        Target::C => "c",
        Target::Futhark => "fut",
    };
    let path = command.output.as_deref().unwrap_or(Path::new("-"));
    let output = Output::new(path, &[ending]).map_err(|problem| vec![problem])?;
    let beside = output.beside("h");
    let name = beside.as_ref().and_then(Output::name);
    let wanted = Wanted { stage: "emit", emission: Some(&command.emission), header: name.as_deref(), ..Wanted::default() };
    let mut reads = Reads::default();
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    match command.emission.target {
        Target::C => {
            let files = session.emitted()?;
            let header = beside.iter().map(|header| (header, files.header.as_bytes()));
            output::write(&[(&output, files.source.as_bytes())].into_iter().chain(header).collect::<Vec<_>>(), &reads)
        }
        Target::Futhark => output::write(&[(&output, session.emitted_futhark()?.source.as_bytes())], &reads),
    }
}
