//! `smoothc emit FILE`: C or Futhark on standard output, or in a file; `-o x.c` has the header `x.h` beside it, `--header-only`
//! is one header with all in it. `--manifest` says in JSON what the text offers, and `--check` only compares.

use std::path::Path;

use super::files::Reads;
use super::options::{Display, EmitCommand, Target};
use super::output::Output;
use super::session::{self, Wanted};
use super::stale;
use crate::diagnostic::Diagnostics;
use crate::emit::manifest;
use crate::source::SourceMap;

pub fn run(command: &EmitCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let one = |problem| vec![problem];
    let target = command.emission.target;
    let ending = match target {
        Target::C if command.header_only => "h",
        Target::C => "c",
        Target::Futhark => "fut",
    };
    let path = command.output.as_deref().unwrap_or(Path::new("-"));
    let output = Output::new(path, &[ending]).map_err(one)?;
    let beside = if target == Target::C && !command.header_only { output.beside("h") } else { None };
    let described = command.manifest.output()?;
    let name = if command.header_only { output.name() } else { beside.as_ref().and_then(Output::name) };
    let wanted = Wanted {
        stage: "emit",
        emission: Some(&command.emission),
        header: name.as_deref(),
        header_only: command.header_only,
        manifest: described.is_some(),
        ..Wanted::default()
    };
    let mut reads = Reads::default();
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let mut outputs: Vec<(&Output, &[u8])> = Vec::new();
    let text = match target {
        Target::C => {
            let files = session.emitted()?;
            outputs.push((&output, files.source.as_bytes()));
            outputs.extend(beside.as_ref().map(|header| (header, files.header.as_bytes())));
            manifest::manifest(files).map_err(one)?
        }
        Target::Futhark => {
            let file = session.emitted_futhark()?;
            outputs.push((&output, file.source.as_bytes()));
            manifest::of_futhark(file, &session.provenance()?).map_err(one)?
        }
    };
    outputs.extend(described.as_ref().map(|path| (path, text.as_bytes())));
    stale::write_or_check(&outputs, command.check, &reads)
}
