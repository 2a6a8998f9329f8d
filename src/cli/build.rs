//! `smoothc build FILE -o PATH`: a shared library, a static library or an object, by PATH's ending, with the header
//! beside it: that of the emitted C, with `--cpp` a C++ one too, or of Futhark's interface. On a device it is a shared library alone.
//! `--python` makes a package instead.

use std::path::Path;

use super::effects;
use super::files::{self, Reads};
use super::options::{BuildCommand, Display, Target};
use super::output::{self, Output};
use super::package;
use super::session;
use super::wanted::Wanted;
use crate::diagnostic::Diagnostics;
use crate::emit::cpp;
use crate::source::SourceMap;
use crate::toolchain::compiler::{self, Artifact, Mode};
use crate::toolchain::futhark;

pub fn run(command: &BuildCommand, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    match (&command.python, &command.output) {
        (Some(_), _) if command.cpp => {
            Err(vec![effects::problem("--cpp", "with --python", "leave it out: Python calls the library without a header")])
        }
        (Some(folder), _) => package::run(command, folder, sources, display),
        (None, path) => library(command, path.as_deref().unwrap_or(Path::new("-")), sources, display),
    }
}

/// A library or object at a path.
fn library(command: &BuildCommand, path: &Path, sources: &mut SourceMap, display: &Display) -> Result<(), Diagnostics> {
    let one = |problem| vec![problem];
    let output = Output::new(path, Artifact::ENDINGS).map_err(one)?;
    let artifact = output.ending().and_then(Artifact::of_ending).unwrap_or(Artifact::SharedLibrary);
    let beside = output.beside("h");
    let header = beside.as_ref().and_then(Output::name);
    let described = command.manifest.output()?;
    let over = if command.cpp { output.beside("hpp") } else { None };
    if command.cpp && command.emission.target == Target::C && over.is_none() {
        return Err(one(effects::problem("--cpp", "without a file", "name the library: `-o x.so` writes x.h and x.hpp too")));
    }
    let wanted = Wanted {
        stage: "emit",
        emission: Some(&command.emission),
        header: header.as_deref(),
        cpp: command.cpp,
        manifest: described.is_some(),
        ..Wanted::default()
    };
    let mut reads = Reads::default();
    let Some(session) = session::compile(&command.source, wanted, sources, &mut reads, display)? else {
        return Ok(());
    };
    // compiled elsewhere under its own name, which a static library keeps of its object
    let folder = tempfile::tempdir().map_err(|error| one(files::cannot_write(Path::new("a temporary folder"), &error)))?;
    let path = folder.path().join(output.name().unwrap_or_else(|| "program".into()));
    let mode = Mode::of(&command.source, &command.compilation);
    let header = match command.emission.target {
        Target::C => {
            let files = session.emitted()?;
            compiler::compile(&files.source, artifact, mode, &path).map_err(one)?;
            files.header.clone().into_bytes()
        }
        Target::Futhark => {
            let source = &session.emitted_futhark()?.source;
            futhark::compiler::build(source, command.emission.backend(), artifact, mode, &path).map_err(one)?;
            files::made(&path.with_extension("h")).map_err(one)?
        }
    };
    let built = files::made(&path).map_err(one)?;
    let mut outputs = vec![(&output, built.as_slice())];
    outputs.extend(beside.as_ref().map(|beside| (beside, header.as_slice())));
    let text_over = match (over.as_ref().and_then(Output::name), beside.as_ref().and_then(Output::name), command.emission.target) {
        (Some(own), Some(c_header), Target::C) => cpp::header(session.emitted()?, &session.program, &own, &c_header).map_err(one)?,
        _ => String::new(),
    };
    outputs.extend(over.as_ref().map(|over| (over, text_over.as_bytes())));
    let text = session.manifest()?;
    outputs.extend(described.as_ref().map(|described| (described, text.as_bytes())));
    output::write(&outputs, &reads)
}
