//! `smoothc emit FILE`: C or Futhark on standard output, or in a file; `-o x.c` has the header `x.h` beside it, `--header-only`
//! is one header with all in it, `--cpp` writes a C++ header `x.hpp` too. `--manifest` says in JSON what the text offers, and `--check`
//! only compares.

use std::path::Path;

use super::files::Reads;
use super::options::{Display, EmitCommand, Target};
use super::output::Output;
use super::session;
use super::stale;
use super::wanted::Wanted;
use super::{depfile, effects};
use crate::diagnostic::Diagnostics;
use crate::emit::cpp;
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
    let depfile = command.depfile.as_deref().map(|path| depfile::output(path, &output)).transpose().map_err(one)?;
    let cpp = if command.cpp { output.beside("hpp") } else { None };
    if command.cpp && target == Target::C && cpp.is_none() {
        return Err(one(effects::problem("--cpp", "without a file", "name the C file: `-o x.c` writes x.h and x.hpp too")));
    }
    let name = if command.header_only { output.name() } else { beside.as_ref().and_then(Output::name) };
    let wanted = Wanted {
        stage: "emit",
        emission: Some(&command.emission),
        header: name.as_deref(),
        header_only: command.header_only,
        cpp: command.cpp,
        manifest: described.is_some(),
        ..Wanted::default()
    };
    let mut reads = Reads::default();
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    let mut outputs: Vec<(&Output, &[u8])> = Vec::new();
    let over = match (cpp.as_ref().and_then(Output::name), &name, target) {
        (Some(own), Some(header), Target::C) => cpp::header(session.emitted()?, &session.program, &own, header).map_err(one)?,
        _ => String::new(),
    };
    match target {
        Target::C => {
            let files = session.emitted()?;
            outputs.push((&output, files.source.as_bytes()));
            outputs.extend(beside.as_ref().map(|header| (header, files.header.as_bytes())));
            outputs.extend(cpp.as_ref().map(|cpp| (cpp, over.as_bytes())));
        }
        Target::Futhark => {
            let file = session.emitted_futhark()?;
            outputs.push((&output, file.source.as_bytes()));
        }
    };
    let text = session.manifest()?;
    outputs.extend(described.as_ref().map(|path| (path, text.as_bytes())));
    let rule = depfile::rule(&outputs, &reads);
    outputs.extend(depfile.as_ref().map(|path| (path, rule.as_bytes())));
    stale::write_or_check(&outputs, command.check, &reads)
}
